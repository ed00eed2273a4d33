/* open_folder.h - a folder kept open, so that of many files in it names alone are looked up. */
#ifndef TDC_IO_OPEN_FOLDER_H
#define TDC_IO_OPEN_FOLDER_H

#include <stdbool.h>

/* Starts as zeros. */
struct tdc_open_folder {
    const char *path; /* as it was given; NULL: none yet */
    int descriptor;   /* -1: it could not be opened, and whole paths serve */
};

/* Whether `path`, which must outlive the folder, is open there now. Files of storage that may not
 * answer are opened with patience, by their paths: such a folder is never open. */
bool tdc_open_folder(struct tdc_open_folder *folder, const char *path);
void tdc_open_folder_close(struct tdc_open_folder *folder);

#endif
