#include "io/html/pack.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#define ZLIB_CONST /* the input of a stream is const */
#include <zlib.h>

#include "io/base/team.h"
#include "io/base/text.h"
#include "io/table/json_object.h"

/* Texts of one block, roughly: enough to deflate well, and many blocks to share among threads. */
#define TEXTS_OF_BLOCK ((size_t)1 << 20)
#define JSON_LIMIT     ((size_t)1 << 32)

uint32_t tdc_html_texts_end(const struct tdc_html_sheet *sheet, uint32_t first)
{
    size_t sum = 0;
    uint32_t end = first;
    while (end < sheet->texts.count && sum < TEXTS_OF_BLOCK)
        sum += sheet->texts.keys[end++].length + 3;
    return end;
}

/* ---- layout ---------------------------------------------------------------------------------- */

static void lay_out_texts(const uint32_t *places, size_t rows, unsigned char *out)
{
    uint32_t above = 0;
    for (size_t row = 0; row < rows; row++) {
        uint32_t step = places[row] - above;
        above = places[row];
        for (size_t byte = 0; byte < sizeof step; byte++)
            out[byte * rows + row] = (unsigned char)(step >> (8 * byte));
    }
}

static void lay_out_numbers(const double *numbers, size_t rows, unsigned char *out)
{
    for (size_t row = 0; row < rows; row++) {
        uint64_t bits;
        memcpy(&bits, &numbers[row], sizeof bits);
        for (size_t byte = 0; byte < sizeof bits; byte++)
            out[byte * rows + row] = (unsigned char)(bits >> (8 * byte));
    }
}

static unsigned char *lay_out_column(const struct tdc_html_block *block, size_t *size)
{
    const struct tdc_html_column *column = block->column;
    size_t rows = block->sheet->rows;
    *size = rows * (column->numbers != NULL ? sizeof(double) : sizeof(uint32_t));
    unsigned char *out = malloc(*size + 1);
    if (out != NULL && column->numbers != NULL)
        lay_out_numbers(column->numbers, rows, out);
    else if (out != NULL)
        lay_out_texts(column->texts, rows, out);
    return out;
}

static unsigned char *lay_out_dictionary(const struct tdc_html_block *block, size_t *size)
{
    struct tdc_text json;
    tdc_text_init(&json, JSON_LIMIT);
    for (uint32_t i = block->first; i < block->end; i++) {
        const struct tdc_name_key *key = &block->sheet->texts.keys[i];
        tdc_text_addc(&json, i == block->first ? '[' : ',');
        tdc_json_add_string(&json, key->text, key->length);
    }
    tdc_text_addc(&json, ']');
    if (json.failed) {
        tdc_text_free(&json);
        return NULL;
    }
    *size = json.length;
    return (unsigned char *)json.data;
}

/* ---- deflating ------------------------------------------------------------------------------- */

#define SAMPLES 4096u

/* Whether bytes look as if drawn by chance, as the last digits of numbers do: deflating them takes
 * most of the time of a page and gains nothing. By how often two of a sample are alike. */
static bool looks_random(const unsigned char *data, size_t size)
{
    if (size < SAMPLES)
        return false;
    uint32_t counts[256] = {0};
    for (size_t i = 0; i < SAMPLES; i++)
        counts[data[(uint64_t)size * i / SAMPLES]]++;
    uint64_t alike = 0;
    for (size_t i = 0; i < 256; i++)
        alike += (uint64_t)counts[i] * counts[i];
    /* of even odds: SAMPLES + SAMPLES^2 / 256 */
    return alike < (SAMPLES + (uint64_t)SAMPLES * SAMPLES / 256) * 11 / 10;
}

/* The planes of a column one by one, each of `plane` bytes: bytes of numbers hardly repeat but in
 * runs, and looking for those alone is several times as fast as for all that repeats. */
static bool deflate_planes(z_stream *stream, const unsigned char *data, size_t size, size_t plane)
{
    for (size_t at = 0; at < size; at += plane) {
        int level = looks_random(data + at, plane) ? 0 : 1;
        if (deflateParams(stream, level, Z_RLE) != Z_OK)
            return false;
        stream->next_in = data + at;
        stream->avail_in = (uInt)plane;
        if (deflate(stream, Z_NO_FLUSH) != Z_OK || stream->avail_in != 0)
            return false;
    }
    return deflate(stream, Z_FINISH) == Z_STREAM_END;
}

/* plane: of the planes that the data consists of; 0: it is no column. */
static bool deflate_whole(struct tdc_html_block *block, const unsigned char *data, size_t size,
                          size_t plane)
{
    z_stream stream = {0};
    if (size > UINT32_MAX / 2 ||
        deflateInit2(&stream, 1, Z_DEFLATED, 15, 9, Z_DEFAULT_STRATEGY) != Z_OK)
        return false;
    size_t room = deflateBound(&stream, size) + 256; /* a change of level ends a block */
    block->bytes = malloc(room);
    bool done = false;
    if (block->bytes != NULL) {
        stream.next_out = block->bytes;
        stream.avail_out = (uInt)room;
        if (plane != 0) {
            done = deflate_planes(&stream, data, size, plane);
        } else {
            stream.next_in = data;
            stream.avail_in = (uInt)size;
            done = deflate(&stream, Z_FINISH) == Z_STREAM_END;
        }
        block->size = room - stream.avail_out;
    }
    deflateEnd(&stream);
    return done;
}

static void pack_block(struct tdc_html_block *block)
{
    if (block->text != NULL) {
        block->failed = !deflate_whole(block, (const unsigned char *)block->text, block->length, 0);
        return;
    }
    size_t size = 0;
    unsigned char *data =
        block->column != NULL ? lay_out_column(block, &size) : lay_out_dictionary(block, &size);
    size_t plane = block->column != NULL ? block->sheet->rows : 0;
    block->failed = data == NULL || !deflate_whole(block, data, size, plane);
    free(data);
}

struct packing {
    struct tdc_html_block *blocks;
    size_t count;
    atomic_size_t next;
};

static void pack_some(void *argument, int member)
{
    (void)member;
    struct packing *packing = argument;
    for (size_t i; (i = atomic_fetch_add(&packing->next, 1)) < packing->count;)
        pack_block(&packing->blocks[i]);
}

bool tdc_html_pack(struct tdc_html_block *blocks, size_t count, int threads)
{
    struct packing packing = {.blocks = blocks, .count = count};
    tdc_team_run(threads, pack_some, &packing);
    for (size_t i = 0; i < count; i++)
        if (blocks[i].failed)
            return false;
    return true;
}

void tdc_html_blocks_free(struct tdc_html_block *blocks, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(blocks[i].bytes);
}

/* ---- base64 ---------------------------------------------------------------------------------- */

static void encode(const unsigned char three[3], char four[4])
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    four[0] = letters[three[0] >> 2];
    four[1] = letters[(three[0] & 3) << 4 | three[1] >> 4];
    four[2] = letters[(three[1] & 15) << 2 | three[2] >> 6];
    four[3] = letters[three[2] & 63];
}

void tdc_html_put_base64(struct tdc_byte_writer *writer, const unsigned char *bytes, size_t size)
{
    char line[4096];
    size_t used = 0, at = 0;
    for (; at + 3 <= size; at += 3) {
        encode(bytes + at, line + used);
        used += 4;
        if (used == sizeof line) {
            tdc_put(writer, line, used);
            used = 0;
        }
    }
    if (at < size) {
        unsigned char rest[3] = {bytes[at], size - at == 2 ? bytes[at + 1] : 0, 0};
        encode(rest, line + used);
        line[used + 3] = '=';
        if (size - at == 1)
            line[used + 2] = '=';
        used += 4;
    }
    tdc_put(writer, line, used);
}
