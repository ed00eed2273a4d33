/*
 * out_file.h - results that appear whole or not at all.
 *
 * The content goes to a temporary file in the folder of the result (mode 0640) and is renamed when
 * complete. The temporaries of a process are listed in a small table, so that a signal handler can
 * remove them: tdc_out_files_remove is async-signal-safe.
 */
#ifndef TDC_IO_OUT_FILE_H
#define TDC_IO_OUT_FILE_H

#include "tdcmp.h"

struct tdc_out_file {
    char *path;      /* final name */
    char *temporary; /* name while it is being written */
    int fd;          /* of the temporary, open for reading and writing; -1 when done */
    int slot;        /* in the table of temporaries */
};

/* Creates the temporary. The folder must exist. A file that has the final name stays until the
 * commit. At most 64 at a time in a process. */
tdc_status tdc_out_file_open(const char *path, struct tdc_out_file *file, struct tdc_error *error);
/* Flushes to the disk and renames. On failure the temporary is removed. */
tdc_status tdc_out_file_commit(struct tdc_out_file *file, struct tdc_error *error);
/* Removes the temporary. Harmless after a commit. */
void tdc_out_file_discard(struct tdc_out_file *file);

/* tdc_out_files_remove and tdc_make_folders are public: tdcmp.h. After the former a commit fails.
 */

#endif
