/*
 * zip_writer.h - a zip archive written as its content comes.
 *
 * Members are deflated into the file one after the other; memory is taken at the start and does
 * not grow, and there is no other file. The sizes of a member, known when it ends, are written into
 * its head then, so the file must be seekable. Nothing in the archive depends on the clock: equal
 * members give equal files.
 */
#ifndef TDC_IO_ZIP_WRITER_H
#define TDC_IO_ZIP_WRITER_H

#include <zlib.h>

#include "io/file/byte_writer.h"

#define TDC_ZIP_NAME    64u     /* room for the name of a member, its end included */
#define TDC_ZIP_MEMBERS 0xfff0u /* that an archive can hold here */

struct tdc_zip_written {
    char name[TDC_ZIP_NAME];
    uint64_t offset; /* of its head */
    uint64_t compressed, size;
    uint32_t crc;
};

struct tdc_zip_writer {
    struct tdc_byte_writer out;
    z_stream deflater;
    bool deflating; /* deflater holds memory */
    unsigned char *room;
    struct tdc_zip_written *members;
    size_t count;
};

/* Writes at the beginning of the file. At most `members`, which is at most TDC_ZIP_MEMBERS. False
 * when out of memory; to be freed in any case. The descriptor stays the caller's. */
bool tdc_zip_start(struct tdc_zip_writer *zip, int fd, size_t members);
void tdc_zip_free(struct tdc_zip_writer *zip);

/* The name has less than TDC_ZIP_NAME bytes. */
void tdc_zip_begin(struct tdc_zip_writer *zip, const char *name);
/* More content of the member; a tdc_drain. */
int tdc_zip_put(void *zip, const char *data, size_t length);
/* 0 or the errno of the first failure, as for the next. */
int tdc_zip_end(struct tdc_zip_writer *zip);
/* The directory; the archive is complete after it. */
int tdc_zip_finish(struct tdc_zip_writer *zip);

#endif
