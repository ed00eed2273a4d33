/*
 * zip_directory.h - the central directory of a zip archive, zip64 included, entry by entry.
 *
 * Everything is checked against the bytes before it is used; nothing is allocated.
 */
#ifndef TDC_IO_ZIP_DIRECTORY_H
#define TDC_IO_ZIP_DIRECTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TDC_ZIP_STORED   0u
#define TDC_ZIP_DEFLATED 8u

#define TDC_ZIP_ENCRYPTED  1u /* flags of an entry */
#define TDC_ZIP_DESCRIPTOR 8u /* sizes may be missing from the local header */

#define TDC_ZIP_LOCAL ((size_t)30) /* local header without its texts */
#define TDC_ZIP_ENTRY ((size_t)46) /* entry of the directory without its texts */

struct tdc_zip_directory {
    const unsigned char *bytes;
    size_t start; /* offset of the first entry; members lie before it */
    size_t size;
    uint64_t members; /* as stated: entries may end before */
};

struct tdc_zip_entry {
    unsigned flags, method;
    uint32_t crc;
    uint64_t stored_size; /* as it lies in the file */
    uint64_t size;        /* unpacked */
    uint64_t header;      /* offset of the local header */
    const unsigned char *name;
    size_t name_length;
    size_t whole_length; /* of the entry in the directory */
};

/* Finds it; NULL, or what is wrong with it. */
const char *tdc_zip_directory_find(struct tdc_zip_directory *directory, const unsigned char *bytes,
                                   size_t size);
/* The entry at an offset of the file, whose member fits before the directory. The next one is
 * whole_length further. */
bool tdc_zip_entry_read(const struct tdc_zip_directory *directory, size_t position,
                        struct tdc_zip_entry *entry);

#endif
