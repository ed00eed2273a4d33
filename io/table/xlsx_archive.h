/*
 * xlsx_archive.h - the members of a workbook: a zip archive whose members are stored or deflated.
 *
 * Bounded: a member is inflated to at most TDC_XLSX_MEMBER bytes, whatever the archive promises.
 */
#ifndef TDC_IO_XLSX_ARCHIVE_H
#define TDC_IO_XLSX_ARCHIVE_H

#include "tdcmp.h"

#define TDC_XLSX_MEMBER ((size_t)1 << 30)

struct tdc_xlsx_archive {
    const unsigned char *bytes;
    size_t size;
    const char *name; /* begins messages */
    size_t directory, directory_size;
};

struct tdc_xlsx_text {
    char *data; /* terminated; NULL: the member is not there */
    size_t length;
};

/* Finds the directory. The bytes must outlive the archive. */
tdc_status tdc_xlsx_archive_open(struct tdc_xlsx_archive *archive, const unsigned char *bytes,
                                 size_t size, const char *name, struct tdc_error *error);
/* The content of a member, to be freed; a member that is not there is no failure. */
tdc_status tdc_xlsx_archive_read(const struct tdc_xlsx_archive *archive, const char *member,
                                 struct tdc_xlsx_text *text, struct tdc_error *error);

#endif
