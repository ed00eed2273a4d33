/*
 * unzip.h - reading the members of a zip archive, stored or deflated.
 *
 * Torch files and workbooks are read where they lie, by the names of their members
 * (io/file/zip_reader.h); this one is for archives of small texts: the whole file and what is
 * inflated are held in an arena, whose limit bounds both. Archives in several parts and encrypted
 * members are refused, checksums are looked at.
 */
#ifndef TDC_IO_UNZIP_H
#define TDC_IO_UNZIP_H

#include <stdint.h>

#include "io/base/arena.h"
#include "tdcmp.h"

struct tdc_unzip_member {
    const char *name; /* terminated; as the archive has it, "weights/step0/rank0/weight.json" */
    uint64_t size;    /* inflated, as stated */
    uint64_t packed;
    uint64_t header; /* offset of the local header */
    uint32_t crc;
    unsigned method, flags;
};

struct tdc_unzip {
    const char *path; /* begins messages */
    const unsigned char *bytes;
    size_t size;
    struct tdc_unzip_member *members; /* in the order of the directory */
    size_t count;
    const struct tdc_unzip_member **by_name; /* sorted; of equal names the last one comes last */
};

/* Reads the file and its directory into the arena, which must outlive the archive, as the path. */
tdc_status tdc_unzip_open(const char *path, struct tdc_arena *arena, struct tdc_unzip *zip,
                          struct tdc_error *error);
/* The same for bytes in memory, which are not copied. */
tdc_status tdc_unzip_start(const char *path, const void *bytes, size_t size,
                           struct tdc_arena *arena, struct tdc_unzip *zip, struct tdc_error *error);

/* The last member of that name, which is what counts where names repeat; NULL if there is none. */
const struct tdc_unzip_member *tdc_unzip_find(const struct tdc_unzip *zip, const char *name);

/* The content, terminated by a zero that is not counted, in the arena. */
tdc_status tdc_unzip_read(const struct tdc_unzip *zip, const struct tdc_unzip_member *member,
                          struct tdc_arena *arena, const char **content, size_t *size,
                          struct tdc_error *error);

#endif
