/*
 * zip_reader.h - finding the members of a zip archive: a torch file or a workbook.
 *
 * Only the central directory and the local headers of the members asked for are read, zip64
 * included. Members are used where they lie in the file; what is compressed is the reader's of the
 * member to inflate.
 */
#ifndef TDC_IO_ZIP_READER_H
#define TDC_IO_ZIP_READER_H

#include "io/base/arena.h"
#include "io/file/zip_directory.h"
#include "tdcmp.h"

/* What an archive is, and may do. */
struct tdc_zip_kind {
    const char *what; /* "torch file", for messages */
    bool in_folder;   /* all names begin with that of one folder, which is not asked for */
    bool deflated;    /* members may be */
};

struct tdc_zip {
    struct tdc_zip_kind kind;
    const unsigned char *bytes;
    const char *name; /* begins messages */
    struct tdc_zip_directory directory;
    const unsigned char *prefix; /* in_folder: of the first member's name up to its first '/' */
    size_t prefix_length;        /* with that */
};

struct tdc_zip_member {
    const unsigned char *data;
    size_t stored_size; /* of the data */
    size_t size;        /* the same unless it is deflated */
    uint32_t crc;       /* that the directory states; nothing looks whether it is true */
    bool deflated;
    bool found;
};

/* Checks the directory as a whole. The bytes must outlive the zip. Allocates nothing. */
tdc_status tdc_zip_open(struct tdc_zip *zip, struct tdc_zip_kind kind, const unsigned char *bytes,
                        size_t size, const char *name, struct tdc_error *error);

/*
 * The member called prefix + folder + key. Absent members give TDC_OK and found = false. A member
 * that is encrypted, or compressed where it may not be, is TDC_ERR_UNSUPPORTED; one that appears
 * twice, overlaps another or whose local header says otherwise is TDC_ERR_FORMAT.
 */
tdc_status tdc_zip_find(const struct tdc_zip *zip, const char *folder, const unsigned char *key,
                        size_t key_length, struct tdc_zip_member *member, struct tdc_error *error);

/* All members at once, for archives of many: looking for one after the other would take the square
 * of their number. */
struct tdc_zip_item {
    const unsigned char *name; /* in the arena, without the folder of all; may hold NUL */
    size_t name_length;
    struct tdc_zip_member member;
};

struct tdc_zip_list {
    struct tdc_zip_item *items; /* in the order of the directory */
    const struct tdc_zip_item **by_name;
    size_t count;
};

/* Lists every member, with the checks of tdc_zip_find for each; names of folders are left out. The
 * arena must outlive the list. */
tdc_status tdc_zip_list_make(const struct tdc_zip *zip, struct tdc_arena *arena,
                             struct tdc_zip_list *list, struct tdc_error *error);
/* The member called folder + key, NULL if there is none. */
const struct tdc_zip_item *tdc_zip_list_find(const struct tdc_zip_list *list, const char *folder,
                                             const unsigned char *key, size_t key_length);

#endif
