#include "io/tensor/pickle/pt_writer.h"

#include <string.h>
#include <zlib.h>

#include "io/tensor/tensor_file.h"
#include "kernels/dtype.h"

#define ALIGNMENT                  64
#define ADD_LITERAL(text, literal) tdc_text_add((text), (literal), sizeof(literal) - 1)

/* bytes <= 8, little endian */
static void add_number(struct tdc_text *text, uint64_t number, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        tdc_text_addc(text, (char)(unsigned char)(number >> 8 * i));
}

/* ---- pickle protocol 2 ----------------------------------------------------------------------- */

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

static void pickle_tuple(struct tdc_text *text, unsigned rank, const uint64_t *numbers,
                         unsigned *memo)
{
    if (rank == 0) {
        tdc_text_addc(text, ')');
        return;
    }
    if (rank > 3)
        tdc_text_addc(text, '(');
    for (unsigned i = 0; i < rank; i++)
        pickle_integer(text, numbers[i]);
    add_number(text, rank > 3 ? 't' : 0x84 + rank, 1); /* TUPLE, TUPLE1, TUPLE2, TUPLE3 */
    pickle_remember(text, memo);
}

/* _rebuild_tensor_v2((storage), 0, shape, strides, False, OrderedDict()) */
static void pickle_tensor(struct tdc_text *text, const char *storage, uint64_t count, unsigned rank,
                          const uint64_t *shape, const uint64_t *strides)
{
    unsigned memo = 0;
    ADD_LITERAL(text, "\x80\x02"
                      "ctorch._utils\n_rebuild_tensor_v2\n");
    pickle_remember(text, &memo);
    ADD_LITERAL(text, "((");
    pickle_string(text, "storage");
    pickle_remember(text, &memo);
    tdc_text_addf(text, "ctorch\n%s\n", storage);
    pickle_remember(text, &memo);
    pickle_string(text, "0");
    pickle_remember(text, &memo);
    pickle_string(text, "cpu");
    pickle_remember(text, &memo);
    pickle_integer(text, count);
    tdc_text_addc(text, 't');
    pickle_remember(text, &memo);
    tdc_text_addc(text, 'Q'); /* persistent id: the storage */
    pickle_integer(text, 0);  /* offset */
    pickle_tuple(text, rank, shape, &memo);
    pickle_tuple(text, rank, strides, &memo);
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
    MEMBER_ORDER,
    MEMBER_DATA,
    MEMBER_VERSION
};

static const char *const member_names[TDC_PT_MEMBERS] = {"data.pkl", "byteorder", "data/0",
                                                         "version"};

/* Local header padded so that the content starts at a multiple of 64. `at` is where the text
 * begins. */
static void begin_member(struct tdc_pt_writer *writer, struct tdc_text *text, uint64_t at,
                         int member)
{
    size_t name = strlen(writer->stem) + 1 + strlen(member_names[member]);
    writer->members[member].offset = at + text->length;
    uint64_t start = at + text->length + 30 + name + 4;
    size_t padding = (size_t)((ALIGNMENT - start % ALIGNMENT) % ALIGNMENT);
    ADD_LITERAL(text, "PK\x03\x04\0\0\x08\x08\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0");
    add_number(text, name, 2);
    add_number(text, padding + 4, 2);
    tdc_text_addf(text, "%s/%s", writer->stem, member_names[member]);
    ADD_LITERAL(text, "FB");
    add_number(text, padding, 2);
    for (size_t i = 0; i < padding; i++)
        tdc_text_addc(text, 'Z');
}

/* The descriptor behind the content. */
static void end_member(struct tdc_pt_writer *writer, struct tdc_text *text, int member,
                       uint64_t size, uint32_t crc)
{
    writer->members[member].size = size;
    writer->members[member].crc = crc;
    ADD_LITERAL(text, "PK\x07\x08");
    add_number(text, crc, 4);
    add_number(text, size, 4);
    add_number(text, size, 4);
}

/* The content of a small member lies in the text from `start` on. */
static void end_small(struct tdc_pt_writer *writer, struct tdc_text *text, int member, size_t start)
{
    size_t size = text->length - start;
    uLong crc = text->failed ? 0 : crc32(0, (const Bytef *)text->data + start, (uInt)size);
    end_member(writer, text, member, size, (uint32_t)crc);
}

static void add_mark(struct tdc_pt_writer *writer, struct tdc_text *text, uint64_t at, int member,
                     const char *content)
{
    begin_member(writer, text, at, member);
    size_t start = text->length;
    tdc_text_adds(text, content);
    end_small(writer, text, member, start);
}

static void add_entry(const struct tdc_pt_writer *writer, struct tdc_text *text, int member)
{
    ADD_LITERAL(text, "PK\x01\x02\0\0\0\0\x08\x08\0\0\0\0\0\0");
    add_number(text, writer->members[member].crc, 4);
    add_number(text, writer->members[member].size, 4);
    add_number(text, writer->members[member].size, 4);
    add_number(text, strlen(writer->stem) + 1 + strlen(member_names[member]), 2);
    add_number(text, 0, 8); /* no extra field, no comment, first disk, internal attributes */
    add_number(text, 0, 4); /* external attributes */
    add_number(text, writer->members[member].offset, 4);
    tdc_text_addf(text, "%s/%s", writer->stem, member_names[member]);
}

/* torch always writes the 64-bit end records too. */
static void add_end(struct tdc_text *text, uint64_t directory, uint64_t size)
{
    ADD_LITERAL(text, "PK\x06\x06");
    add_number(text, 44, 8);
    add_number(text, 0x031e, 2);
    add_number(text, 45, 2);
    add_number(text, 0, 8);
    add_number(text, TDC_PT_MEMBERS, 8);
    add_number(text, TDC_PT_MEMBERS, 8);
    add_number(text, size, 8);
    add_number(text, directory, 8);
    ADD_LITERAL(text, "PK\x06\x07\0\0\0\0");
    add_number(text, directory + size, 8);
    add_number(text, 1, 4);
    ADD_LITERAL(text, "PK\x05\x06\0\0\0\0");
    add_number(text, TDC_PT_MEMBERS, 2);
    add_number(text, TDC_PT_MEMBERS, 2);
    add_number(text, size, 4);
    add_number(text, directory, 4);
    add_number(text, 0, 2);
}

/* ---- the file -------------------------------------------------------------------------------- */

/* Strides in elements, and their number; false when that overflows. Sizes of 0 step as 1, as in
 * torch. */
static bool measure(unsigned rank, const uint64_t *shape, uint64_t *strides, uint64_t *count)
{
    uint64_t step = 1;
    *count = 1;
    for (unsigned d = rank; d-- > 0;) {
        strides[d] = step;
        if (step > INT64_MAX || __builtin_mul_overflow(*count, shape[d], count) ||
            __builtin_mul_overflow(step, shape[d] > 0 ? shape[d] : 1, &step))
            return false;
    }
    return true;
}

bool tdc_pt_head(struct tdc_pt_writer *writer, struct tdc_text *head, const char *stem,
                 tdc_dtype dtype, unsigned rank, const uint64_t *shape)
{
    const char *storage = tdc_dtype_entry(dtype)->storage;
    uint64_t strides[TDC_MAX_DIMENSIONS], count;
    if (storage == NULL || rank > TDC_MAX_DIMENSIONS || !measure(rank, shape, strides, &count) ||
        count > TDC_PT_LARGEST / tdc_dtype_size(dtype))
        return false;
    *writer = (struct tdc_pt_writer){.stem = stem, .bytes = count * tdc_dtype_size(dtype)};
    begin_member(writer, head, 0, MEMBER_PICKLE);
    size_t start = head->length;
    pickle_tensor(head, storage, count, rank, shape, strides);
    end_small(writer, head, MEMBER_PICKLE, start);
    add_mark(writer, head, 0, MEMBER_ORDER, "little");
    begin_member(writer, head, 0, MEMBER_DATA);
    writer->head = head->length;
    return !head->failed;
}

bool tdc_pt_tail(struct tdc_pt_writer *writer, struct tdc_text *tail, uint32_t crc)
{
    uint64_t base = writer->head + writer->bytes;
    end_member(writer, tail, MEMBER_DATA, writer->bytes, crc);
    add_mark(writer, tail, base, MEMBER_VERSION, "3\n");
    size_t directory = tail->length;
    for (int i = 0; i < TDC_PT_MEMBERS; i++)
        add_entry(writer, tail, i);
    add_end(tail, base + directory, tail->length - directory);
    return !tail->failed;
}
