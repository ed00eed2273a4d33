/* synthetic_file.c - zip, pickle and npy, as far as one dense tensor needs them. */
#include "bench/synthetic/synthetic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "io/base/error.h"
#include "kernels/dtype.h"

#define HEAD_LIMIT ((size_t)1 << 16)
#define ALIGNMENT  64

/* ---- little endian numbers ------------------------------------------------------------------- */

/* bytes <= 8 */
static void add_number(struct tdc_text *text, uint64_t number, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        tdc_text_addc(text, (char)(unsigned char)(number >> 8 * i));
}

/* ---- pickle protocol 2 ----------------------------------------------------------------------- */

#define ADD_LITERAL(text, literal) tdc_text_add((text), (literal), sizeof(literal) - 1)

static void pickle_integer(struct tdc_text *text, uint64_t number)
{
    if (number <= 0xff) {
        tdc_text_addc(text, 'K');
        add_number(text, number, 1);
    } else if (number <= 0xffff) {
        tdc_text_addc(text, 'M');
        add_number(text, number, 2);
    } else if (number <= 0x7fffffff) {
        tdc_text_addc(text, 'J');
        add_number(text, number, 4);
    } else {
        unsigned bytes = 5; /* LONG1 is signed: the highest bit stays clear */
        while (bytes < 8 && number >> (8 * bytes - 1) != 0)
            bytes++;
        add_number(text, 0x8a, 1);
        add_number(text, bytes, 1);
        add_number(text, number, bytes);
    }
}

static void pickle_string(struct tdc_text *text, const char *string)
{
    tdc_text_addc(text, 'X');
    add_number(text, strlen(string), 4);
    tdc_text_adds(text, string);
}

static void pickle_remember(struct tdc_text *text, unsigned *memo)
{
    tdc_text_addc(text, 'q');
    add_number(text, (*memo)++, 1);
}

static void pickle_tuple(struct tdc_text *text, unsigned dimensions, const uint64_t *numbers,
                         unsigned *memo)
{
    for (unsigned i = 0; i < dimensions; i++)
        pickle_integer(text, numbers[i]);
    add_number(text, 0x84 + dimensions, 1); /* TUPLE1, TUPLE2 */
    pickle_remember(text, memo);
}

static uint64_t shape_count(const struct tdc_synthetic_shape *shape)
{
    return shape->dimensions == 2 ? shape->sizes[0] * shape->sizes[1] : shape->sizes[0];
}

static void pickle_tensor(struct tdc_text *text, const struct tdc_synthetic_shape *shape)
{
    unsigned memo = 0;
    uint64_t strides[2] = {shape->dimensions == 2 ? shape->sizes[1] : 1, 1};
    ADD_LITERAL(text, "\x80\x02"
                      "ctorch._utils\n_rebuild_tensor_v2\n");
    pickle_remember(text, &memo);
    ADD_LITERAL(text, "((");
    pickle_string(text, "storage");
    pickle_remember(text, &memo);
    tdc_text_addf(text, "ctorch\n%s\n", tdc_dtype_entry(shape->dtype)->storage);
    pickle_remember(text, &memo);
    pickle_string(text, "0");
    pickle_remember(text, &memo);
    pickle_string(text, "cpu");
    pickle_remember(text, &memo);
    pickle_integer(text, shape_count(shape));
    tdc_text_addc(text, 't');
    pickle_remember(text, &memo);
    tdc_text_addc(text, 'Q'); /* persistent id: the storage */
    pickle_integer(text, 0);  /* offset */
    pickle_tuple(text, shape->dimensions, shape->sizes, &memo);
    pickle_tuple(text, shape->dimensions, strides, &memo);
    ADD_LITERAL(text, "\x89"
                      "ccollections\nOrderedDict\n"); /* no gradient, no hooks */
    pickle_remember(text, &memo);
    ADD_LITERAL(text, ")R");
    pickle_remember(text, &memo);
    tdc_text_addc(text, 't');
    pickle_remember(text, &memo);
    tdc_text_addc(text, 'R');
    pickle_remember(text, &memo);
    tdc_text_addc(text, '.');
}

/* ---- zip ------------------------------------------------------------------------------------- */

enum {
    MEMBER_PICKLE,
    MEMBER_DATA,
    MEMBER_VERSION,
    MEMBERS
};

static const char *const member_names[MEMBERS] = {"data.pkl", "data/0", "version"};

struct member {
    uint64_t offset, size;
    uint32_t crc;
};

/* Local header padded so that the content starts at a multiple of 64. `at` is where it stands. */
static void zip_local(struct tdc_text *text, uint64_t at, const char *stem, int member)
{
    size_t name = strlen(stem) + 1 + strlen(member_names[member]);
    uint64_t start = at + 30 + name + 4;
    size_t padding = (size_t)((ALIGNMENT - start % ALIGNMENT) % ALIGNMENT);
    ADD_LITERAL(text, "PK\x03\x04\0\0\x08\x08\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0");
    add_number(text, name, 2);
    add_number(text, padding + 4, 2);
    tdc_text_addf(text, "%s/%s", stem, member_names[member]);
    ADD_LITERAL(text, "FB");
    add_number(text, padding, 2);
    for (size_t i = 0; i < padding; i++)
        tdc_text_addc(text, 'Z');
}

static void zip_descriptor(struct tdc_text *text, const struct member *member)
{
    ADD_LITERAL(text, "PK\x07\x08");
    add_number(text, member->crc, 4);
    add_number(text, member->size, 4);
    add_number(text, member->size, 4);
}

static void zip_central(struct tdc_text *text, const char *stem, int number,
                        const struct member *member)
{
    ADD_LITERAL(text, "PK\x01\x02\0\0\0\0\x08\x08\0\0\0\0\0\0");
    add_number(text, member->crc, 4);
    add_number(text, member->size, 4);
    add_number(text, member->size, 4);
    add_number(text, strlen(stem) + 1 + strlen(member_names[number]), 2);
    add_number(text, 0, 8); /* no extra field, no comment, first disk, internal attributes */
    add_number(text, 0, 4); /* external attributes */
    add_number(text, member->offset, 4);
    tdc_text_addf(text, "%s/%s", stem, member_names[number]);
}

/* torch always writes the 64-bit end records too. */
static void zip_end(struct tdc_text *text, uint64_t directory, uint64_t size)
{
    ADD_LITERAL(text, "PK\x06\x06");
    add_number(text, 44, 8);
    add_number(text, 0x031e, 2);
    add_number(text, 45, 2);
    add_number(text, 0, 8);
    add_number(text, MEMBERS, 8);
    add_number(text, MEMBERS, 8);
    add_number(text, size, 8);
    add_number(text, directory, 8);
    ADD_LITERAL(text, "PK\x06\x07\0\0\0\0");
    add_number(text, directory + size, 8);
    add_number(text, 1, 4);
    ADD_LITERAL(text, "PK\x05\x06\0\0\0\0");
    add_number(text, MEMBERS, 2);
    add_number(text, MEMBERS, 2);
    add_number(text, size, 4);
    add_number(text, directory, 4);
    add_number(text, 0, 2);
}

static uint32_t crc_of(const char *bytes, size_t size)
{
    return (uint32_t)crc32(0, (const Bytef *)bytes, (uInt)size);
}

static void pt_head(struct tdc_synthetic_file *file, const struct tdc_synthetic_shape *shape)
{
    struct tdc_text *head = &file->head;
    zip_local(head, 0, file->stem, MEMBER_PICKLE);
    size_t start = head->length;
    pickle_tensor(head, shape);
    struct member pickle = {.size = head->length - start};
    if (!head->failed)
        pickle.crc = crc_of(head->data + start, pickle.size);
    file->pickle_crc = pickle.crc;
    file->pickle_size = pickle.size;
    zip_descriptor(head, &pickle);
    file->data_offset = head->length;
    zip_local(head, file->data_offset, file->stem, MEMBER_DATA);
}

static void pt_tail(struct tdc_synthetic_file *file, struct tdc_text *tail)
{
    static const char version[] = "3\n";
    struct member members[MEMBERS] = {
        [MEMBER_PICKLE] = {0, file->pickle_size, file->pickle_crc},
        [MEMBER_DATA] = {file->data_offset, file->written, file->crc},
        [MEMBER_VERSION] = {0, sizeof version - 1, crc_of(version, sizeof version - 1)},
    };
    uint64_t base = file->head.length + file->written;
    zip_descriptor(tail, &members[MEMBER_DATA]);
    members[MEMBER_VERSION].offset = base + tail->length;
    zip_local(tail, members[MEMBER_VERSION].offset, file->stem, MEMBER_VERSION);
    tdc_text_adds(tail, version);
    zip_descriptor(tail, &members[MEMBER_VERSION]);
    size_t directory = tail->length;
    for (int i = 0; i < MEMBERS; i++)
        zip_central(tail, file->stem, i, &members[i]);
    zip_end(tail, base + directory, tail->length - directory);
}

/* ---- npy ------------------------------------------------------------------------------------- */

static void npy_head(struct tdc_text *head, const struct tdc_synthetic_shape *shape)
{
    char dictionary[256];
    int length = snprintf(dictionary, sizeof dictionary,
                          "{'descr': '%s', 'fortran_order': False, 'shape': (%" PRIu64 ",",
                          tdc_dtype_entry(shape->dtype)->numpy, shape->sizes[0]);
    if (shape->dimensions == 2)
        length += snprintf(dictionary + length, sizeof dictionary - (size_t)length, " %" PRIu64,
                           shape->sizes[1]);
    length += snprintf(dictionary + length, sizeof dictionary - (size_t)length, "), }");
    size_t padding = (ALIGNMENT - (10 + (size_t)length + 1) % ALIGNMENT) % ALIGNMENT;
    ADD_LITERAL(head, "\x93NUMPY\x01\0");
    add_number(head, (size_t)length + padding + 1, 2);
    tdc_text_adds(head, dictionary);
    for (size_t i = 0; i < padding; i++)
        tdc_text_addc(head, ' ');
    tdc_text_addc(head, '\n');
}

/* ---- the file -------------------------------------------------------------------------------- */

static tdc_status write_all(struct tdc_synthetic_file *file, const char *bytes, size_t size,
                            struct tdc_error *error)
{
    while (size > 0) {
        ssize_t done = write(file->fd, bytes, size);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return tdc_fail_errno(error, TDC_ERR_WRITE, errno, "%s", file->path);
        bytes += done;
        size -= (size_t)done;
    }
    return TDC_OK;
}

tdc_status tdc_synthetic_file_open(struct tdc_synthetic_file *file, const char *folder,
                                   const char *stem, enum tdc_synthetic_layout layout,
                                   const struct tdc_synthetic_shape *shape, struct tdc_error *error)
{
    *file = (struct tdc_synthetic_file){.fd = -1, .layout = layout, .stem = stem};
    tdc_text_init(&file->head, HEAD_LIMIT);
    int length = snprintf(file->path, sizeof file->path, "%s/%s.%s", folder, stem,
                          layout == TDC_LAYOUT_PT ? "pt" : "npy");
    if (length < 0 || (size_t)length >= sizeof file->path)
        return tdc_fail(error, TDC_ERR_ARGUMENT, "%s: path too long", folder);
    if (layout == TDC_LAYOUT_PT)
        pt_head(file, shape);
    else
        npy_head(&file->head, shape);
    if (file->head.failed) {
        tdc_text_free(&file->head);
        return tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", file->path);
    }
    file->fd = open(file->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
    tdc_status status = file->fd < 0 ? tdc_fail_errno(error, TDC_ERR_WRITE, errno, "%s", file->path)
                                     : write_all(file, file->head.data, file->head.length, error);
    if (status != TDC_OK)
        tdc_synthetic_file_drop(file);
    return status;
}

tdc_status tdc_synthetic_file_add(struct tdc_synthetic_file *file, const void *bytes, size_t size,
                                  uint32_t crc, struct tdc_error *error)
{
    file->crc = (uint32_t)crc32_combine(file->crc, crc, (z_off_t)size);
    file->written += size;
    return write_all(file, bytes, size, error);
}

tdc_status tdc_synthetic_file_close(struct tdc_synthetic_file *file, struct tdc_error *error)
{
    tdc_status status = TDC_OK;
    if (file->layout == TDC_LAYOUT_PT) {
        struct tdc_text tail;
        tdc_text_init(&tail, HEAD_LIMIT);
        pt_tail(file, &tail);
        status = tail.failed ? tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", file->path)
                             : write_all(file, tail.data, tail.length, error);
        tdc_text_free(&tail);
    }
    int fd = file->fd;
    file->fd = -1;
    if (close(fd) != 0 && status == TDC_OK)
        status = tdc_fail_errno(error, TDC_ERR_WRITE, errno, "%s", file->path);
    tdc_synthetic_file_drop(file);
    return status;
}

void tdc_synthetic_file_drop(struct tdc_synthetic_file *file)
{
    if (file->fd >= 0)
        close(file->fd);
    file->fd = -1;
    tdc_text_free(&file->head);
}
