/*
 * xlsx_package.h - looking into a finished xlsx file: its zip directory, and whether a sheet holds
 * exactly the rows that were written.
 *
 * The second is needed because libxlsxwriter collects each sheet in temporary files without looking
 * whether the disk took the bytes; a full disk would end in a damaged table and no error.
 */
#ifndef TDC_IO_XLSX_PACKAGE_H
#define TDC_IO_XLSX_PACKAGE_H

#include "tdcmp.h"

struct tdc_xlsx_package {
    int fd;            /* the caller's */
    const char *label; /* the caller's: name for messages */
    unsigned char *directory;
    size_t directory_length;
    uint64_t directory_offset;
    size_t member_count;
    bool zip64; /* the end record or a member needs 64-bit fields */
};

struct tdc_xlsx_member {
    uint64_t offset; /* of its local header */
    uint64_t compressed;
    uint64_t size;
    uint32_t crc;
    uint16_t flags;
    uint16_t method;
    size_t record; /* where in the directory its record begins */
    size_t record_length;
    const char *name; /* name_length bytes, in the directory */
    size_t name_length;
};

/* Reads the directory and looks at the head of every member. The file must end with the end record
 * (no comment). */
tdc_status tdc_xlsx_package_open(int fd, const char *label, struct tdc_xlsx_package *package,
                                 struct tdc_error *error);
void tdc_xlsx_package_free(struct tdc_xlsx_package *package);

/* Goes through the members: *position is 0 at first. False at the end or at a damaged record. */
bool tdc_xlsx_package_next(const struct tdc_xlsx_package *package, size_t *position,
                           struct tdc_xlsx_member *member);
bool tdc_xlsx_package_find(const struct tdc_xlsx_package *package, const char *name,
                           struct tdc_xlsx_member *member);
/* Where the (compressed) content begins. */
tdc_status tdc_xlsx_content_offset(const struct tdc_xlsx_package *package,
                                   const struct tdc_xlsx_member *member, uint64_t *offset,
                                   struct tdc_error *error);

/* Reads exactly length bytes at an offset. */
tdc_status tdc_xlsx_read(const struct tdc_xlsx_package *package, uint64_t offset, void *data,
                         size_t length, struct tdc_error *error);

/* Decompresses the sheet (1, 2, ...) and checks that its <sheetData> holds `length` bytes with that
 * CRC-32 and that the XML is complete. Costs one decompression, little beside the compression. */
tdc_status tdc_xlsx_check_sheet(const struct tdc_xlsx_package *package, size_t sheet,
                                uint64_t length, uint32_t crc, struct tdc_error *error);

#endif
