/* made_zip.h - torch files made byte by byte, so that tests can make them wrong. */
#ifndef TDC_TESTS_MADE_ZIP_H
#define TDC_TESTS_MADE_ZIP_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define MADE_LIMIT 8

struct made_member {
    const char *name;
    const void *data;
    size_t size;
};

struct made_zip {
    unsigned char bytes[1 << 16];
    size_t size;
    size_t local[MADE_LIMIT];     /* offset of each local header */
    size_t data[MADE_LIMIT];      /* offset of each member's data */
    size_t entry[MADE_LIMIT];     /* offset of each entry of the directory */
    size_t directory, end, end64; /* offsets; end64 is 0 without zip64 */
};

static inline void made_put(unsigned char *at, uint64_t value, unsigned width)
{
    for (unsigned i = 0; i < width; i++)
        at[i] = (unsigned char)(value >> 8 * i);
}

static inline void made_add(struct made_zip *zip, const void *data, size_t size)
{
    memcpy(zip->bytes + zip->size, data, size);
    zip->size += size;
}

static inline void made_number(struct made_zip *zip, uint64_t value, unsigned width)
{
    made_put(zip->bytes + zip->size, value, width);
    zip->size += width;
}

static inline void made_local(struct made_zip *zip, size_t i, const struct made_member *member)
{
    zip->local[i] = zip->size;
    made_add(zip, "PK\3\4\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 18);
    made_number(zip, member->size, 4);
    made_number(zip, member->size, 4);
    made_number(zip, strlen(member->name), 2);
    made_number(zip, 4, 2); /* an extra field, as torch pads with */
    made_add(zip, member->name, strlen(member->name));
    made_add(zip, "FB\0\0", 4);
    zip->data[i] = zip->size;
    made_add(zip, member->data, member->size);
}

static inline void made_entry(struct made_zip *zip, size_t i, const struct made_member *member,
                              bool wide)
{
    zip->entry[i] = zip->size;
    made_add(zip, "PK\1\2\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 20);
    made_number(zip, wide ? UINT32_MAX : member->size, 4);
    made_number(zip, wide ? UINT32_MAX : member->size, 4);
    made_number(zip, strlen(member->name), 2);
    made_number(zip, wide ? 33 : 0, 2);
    made_add(zip, "\0\0\0\0\0\0\0\0\0", 10); /* comment, disk, attributes */
    made_number(zip, wide ? UINT32_MAX : zip->local[i], 4);
    made_add(zip, member->name, strlen(member->name));
    if (!wide)
        return;
    made_add(zip, "FB\1\0x", 5); /* another field first */
    made_add(zip, "\1\0\x18\0", 4);
    made_number(zip, member->size, 8);
    made_number(zip, member->size, 8);
    made_number(zip, zip->local[i], 8);
}

static inline void make_zip(struct made_zip *zip, const struct made_member *members, size_t count,
                            bool wide)
{
    memset(zip, 0, sizeof *zip);
    for (size_t i = 0; i < count; i++)
        made_local(zip, i, &members[i]);
    zip->directory = zip->size;
    for (size_t i = 0; i < count; i++)
        made_entry(zip, i, &members[i], wide);
    size_t directory_size = zip->size - zip->directory;
    if (wide) {
        zip->end64 = zip->size;
        made_add(zip, "PK\6\6\x2c\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 24);
        made_number(zip, count, 8);
        made_number(zip, count, 8);
        made_number(zip, directory_size, 8);
        made_number(zip, zip->directory, 8);
        made_add(zip, "PK\6\7\0\0\0\0", 8);
        made_number(zip, zip->end64, 8);
        made_number(zip, 1, 4);
    }
    zip->end = zip->size;
    made_add(zip, "PK\5\6\0\0\0\0", 8);
    made_number(zip, wide ? UINT16_MAX : count, 2);
    made_number(zip, wide ? UINT16_MAX : count, 2);
    made_number(zip, wide ? UINT32_MAX : directory_size, 4);
    made_number(zip, wide ? UINT32_MAX : zip->directory, 4);
    made_number(zip, 0, 2);
}

#endif
