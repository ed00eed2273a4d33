/* saved_pt.c - writing torch's zip archives: data.pkl, the elements, and two marks. */
#include <stdlib.h>
#include <string.h>

#include "host/precheck/files/saved_tensor.h"
#include "io/base/little_endian.h"
#include "io/base/text.h"
#include "kernels/dtype.h"

#define LARGEST ((int64_t)2 << 30) /* elements in bytes: sizes of a zip archive have 32 bits */
#define MEMBERS 4

static uint32_t crc_step(uint32_t crc, const unsigned char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ ((crc & 1) != 0 ? 0xedb88320u : 0);
    }
    return crc;
}

/* ---- the pickle ------------------------------------------------------------------------------ */

static const char *storage_class(tdc_dtype dtype)
{
    return tdc_dtype_is_complex(dtype) ? NULL : tdc_dtype_entry(dtype)->storage;
}

static void add_number(struct tdc_text *pickle, int64_t number)
{
    unsigned char bytes[8];
    tdc_set_le32(bytes, (uint32_t)((uint64_t)number & 0xffffffffu));
    tdc_set_le32(bytes + 4, (uint32_t)((uint64_t)number >> 32));
    tdc_text_add(pickle, "\x8a\x08", 2);
    tdc_text_add(pickle, (const char *)bytes, sizeof bytes);
}

static void add_string(struct tdc_text *pickle, const char *text)
{
    unsigned char length[4];
    tdc_set_le32(length, (uint32_t)strlen(text));
    tdc_text_addc(pickle, 'X');
    tdc_text_add(pickle, (const char *)length, sizeof length);
    tdc_text_adds(pickle, text);
}

static void add_tuple(struct tdc_text *pickle, const int64_t *numbers, unsigned count)
{
    tdc_text_addc(pickle, '(');
    for (unsigned i = 0; i < count; i++)
        add_number(pickle, numbers[i]);
    tdc_text_addc(pickle, 't');
}

/* _rebuild_tensor_v2((storage), 0, sizes, strides, False, OrderedDict()) */
static void add_pickle(struct tdc_text *pickle, const struct tdc_reference_tensor *tensor)
{
    int64_t strides[TDC_REFERENCE_RANK], step = 1;
    for (unsigned d = tensor->rank; d-- > 0;) {
        strides[d] = step;
        step *= tensor->shape[d] > 0 ? tensor->shape[d] : 1;
    }
    tdc_text_adds(pickle, "\x80\x02"
                          "ctorch._utils\n_rebuild_tensor_v2\n((");
    add_string(pickle, "storage");
    tdc_text_addf(pickle, "ctorch\n%s\n", storage_class(tensor->dtype));
    add_string(pickle, "0");
    add_string(pickle, "cpu");
    add_number(pickle, tensor->count);
    tdc_text_adds(pickle, "tQ");
    add_number(pickle, 0);
    add_tuple(pickle, tensor->shape, tensor->rank);
    add_tuple(pickle, strides, tensor->rank);
    tdc_text_adds(pickle, "\x89"
                          "ccollections\nOrderedDict\n)RtR.");
}

/* ---- the archive ----------------------------------------------------------------------------- */

struct member {
    char path[320];
    const char *data; /* NULL: the elements of the tensor */
    uint32_t size, crc, offset;
};

struct archive {
    FILE *file;
    const struct tdc_reference_tensor *tensor;
    struct member members[MEMBERS];
    uint32_t at;
    bool failed;
};

static void put(struct archive *archive, const void *bytes, size_t size)
{
    archive->failed |= fwrite(bytes, 1, size, archive->file) != size;
    archive->at += (uint32_t)size;
}

/* Version to sizes: what local header and directory have in common. */
static void describe(const struct member *member, unsigned char fields[26])
{
    memset(fields, 0, 26);
    tdc_set_le16(fields, 10);         /* version */
    tdc_set_le16(fields + 8, 0x0021); /* 1 January 1980 */
    tdc_set_le32(fields + 10, member->crc);
    tdc_set_le32(fields + 14, member->size);
    tdc_set_le32(fields + 18, member->size);
    tdc_set_le16(fields + 22, (uint16_t)strlen(member->path));
}

static void measure(struct archive *archive, struct member *member)
{
    uint32_t crc = 0xffffffffu;
    if (member->data != NULL) {
        crc = crc_step(crc, (const unsigned char *)member->data, member->size);
    } else {
        for (int64_t i = 0; i < archive->tensor->count; i++) {
            unsigned char bytes[8];
            crc = crc_step(crc, bytes, tdc_element_bytes(archive->tensor, i, bytes));
        }
    }
    member->crc = ~crc;
}

/* The content begins at a multiple of 64, as torch's readers that map the file like it. */
static void put_member(struct archive *archive, struct member *member)
{
    static const unsigned char zeros[64];
    unsigned char fields[26], padding[4] = {'F', 'B'};
    measure(archive, member);
    member->offset = archive->at;
    describe(member, fields);
    size_t start = archive->at + 30 + strlen(member->path) + sizeof padding;
    size_t filled = (64 - start % 64) % 64;
    tdc_set_le16(fields + 24, (uint16_t)(sizeof padding + filled));
    tdc_set_le16(padding + 2, (uint16_t)filled);
    put(archive, "PK\3\4", 4);
    put(archive, fields, sizeof fields);
    put(archive, member->path, strlen(member->path));
    put(archive, padding, sizeof padding);
    put(archive, zeros, filled);
    if (member->data != NULL) {
        put(archive, member->data, member->size);
        return;
    }
    for (int64_t i = 0; i < archive->tensor->count; i++) {
        unsigned char bytes[8];
        put(archive, bytes, tdc_element_bytes(archive->tensor, i, bytes));
    }
}

static void put_directory(struct archive *archive)
{
    uint32_t start = archive->at;
    for (size_t i = 0; i < MEMBERS; i++) {
        const struct member *member = &archive->members[i];
        unsigned char made[2] = {10, 0}, fields[26], rest[14] = {0};
        describe(member, fields);
        tdc_set_le32(rest + 10, member->offset);
        put(archive, "PK\1\2", 4);
        put(archive, made, sizeof made);
        put(archive, fields, sizeof fields);
        put(archive, rest, sizeof rest);
        put(archive, member->path, strlen(member->path));
    }
    unsigned char end[18] = {0};
    tdc_set_le16(end + 4, MEMBERS);
    tdc_set_le16(end + 6, MEMBERS);
    tdc_set_le32(end + 8, archive->at - start);
    tdc_set_le32(end + 12, start);
    put(archive, "PK\5\6", 4);
    put(archive, end, sizeof end);
}

bool tdc_write_pt(FILE *file, const struct tdc_reference_tensor *tensor, const char *name)
{
    int64_t size = (int64_t)tdc_dtype_size(tensor->dtype);
    if (storage_class(tensor->dtype) == NULL || tensor->count > LARGEST / size)
        return false;
    struct tdc_text pickle;
    tdc_text_init(&pickle, 1 << 16);
    add_pickle(&pickle, tensor);
    struct archive archive = {.file = file, .tensor = tensor, .failed = pickle.failed};
    struct member *members = archive.members;
    members[0] = (struct member){.data = tdc_text_get(&pickle), .size = (uint32_t)pickle.length};
    members[1] = (struct member){.data = "little", .size = 6};
    members[2] = (struct member){.size = (uint32_t)(tensor->count * size)};
    members[3] = (struct member){.data = "3\n", .size = 2};
    static const char *const paths[MEMBERS] = {"data.pkl", "byteorder", "data/0", "version"};
    for (size_t i = 0; i < MEMBERS; i++) {
        snprintf(members[i].path, sizeof members[i].path, "%.256s/%s", name, paths[i]);
        put_member(&archive, &members[i]);
    }
    put_directory(&archive);
    tdc_text_free(&pickle);
    return !archive.failed;
}
