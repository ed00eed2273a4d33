/*
 * pt_zip.h - finding the members of a torch file, a zip archive in which nothing is compressed.
 *
 * Only the central directory and the local headers of the members asked for are read, zip64
 * included. Members are used where they lie in the file; nothing is inflated, so no small file can
 * become a large one.
 */
#ifndef TDC_IO_PT_ZIP_H
#define TDC_IO_PT_ZIP_H

#include "tdcmp.h"

struct tdc_zip {
    const unsigned char *bytes;
    size_t size;
    const char *name;   /* begins messages */
    size_t directory;   /* offset of the first entry of the central directory */
    size_t members_end; /* members lie before this offset */
    size_t directory_size;
    size_t members;
    const unsigned char *prefix; /* of the first member's name, up to and with the first '/' */
    size_t prefix_length;
};

struct tdc_zip_member {
    const unsigned char *data;
    size_t size;
    bool found;
};

/* Checks the directory as a whole. The bytes must outlive the zip. Allocates nothing. */
tdc_status tdc_zip_open(struct tdc_zip *zip, const unsigned char *bytes, size_t size,
                        const char *name, struct tdc_error *error);

/*
 * The member called prefix + folder + key. Absent members give TDC_OK and found = false. A member
 * that is compressed or encrypted is TDC_ERR_UNSUPPORTED; one that appears twice, overlaps another
 * or whose local header says otherwise is TDC_ERR_FORMAT.
 */
tdc_status tdc_zip_find(const struct tdc_zip *zip, const char *folder, const unsigned char *key,
                        size_t key_length, struct tdc_zip_member *member, struct tdc_error *error);

#endif
