#include "io/html/pack.h"

#include <math.h>
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

/* A number as a word of 32 bits, when it is one. */
static bool as_word(double number, uint32_t *word)
{
    if (!(number >= 0 && number <= UINT32_MAX))
        return false;
    *word = (uint32_t)number;
    return *word == number && !signbit(number);
}

bool tdc_html_all_whole(const struct tdc_html_column *column, size_t rows)
{
    uint32_t word;
    for (size_t row = 0; column->numbers != NULL && row < rows; row++)
        if (!as_word(column->numbers[row], &word))
            return false;
    return column->numbers != NULL;
}

bool tdc_html_same_column(const struct tdc_html_column *a, const struct tdc_html_column *b,
                          size_t rows)
{
    if (a->numbers != NULL && b->numbers != NULL)
        return memcmp(a->numbers, b->numbers, rows * sizeof *a->numbers) == 0;
    return a->texts != NULL && b->texts != NULL &&
           memcmp(a->texts, b->texts, rows * sizeof *a->texts) == 0;
}

bool tdc_html_alike(const struct tdc_html_column *a, const struct tdc_html_column *b, size_t rows)
{
    size_t samples = rows < 256 ? rows : 256, equal = 0;
    for (size_t i = 0; i < samples; i++) {
        size_t row = (size_t)((uint64_t)rows * i / samples);
        uint64_t one, other;
        memcpy(&one, &a->numbers[row], sizeof one);
        memcpy(&other, &b->numbers[row], sizeof other);
        equal += (one ^ other) >> 48 == 0; /* sign, exponent, the first bits of the rest */
    }
    return equal > samples / 2;
}

/* What is packed of a block: a head, then planes of the same size. */
struct laid_out {
    unsigned char *data; /* NULL: out of memory */
    size_t head, plane, size;
};

/* The differences of words from the row above. */
static void take_steps(const struct tdc_html_block *block, uint32_t *steps)
{
    const struct tdc_html_column *column = block->column;
    uint32_t above = 0, word = 0;
    for (size_t row = 0; row < block->sheet->rows; row++) {
        if (column->texts != NULL)
            word = column->texts[row];
        else
            as_word(column->numbers[row], &word);
        uint32_t step = word - above;
        steps[row] = step << 1 ^ -(step >> 31);
        above = word;
    }
}

static void take_numbers(const struct tdc_html_block *block, uint64_t *words)
{
    size_t rows = block->sheet->rows;
    memcpy(words, block->column->numbers, rows * sizeof *words);
    for (size_t row = 0; block->base != NULL && row < rows; row++) {
        uint64_t other;
        memcpy(&other, &block->base->numbers[row], sizeof other);
        words[row] ^= other;
    }
}

/* Nothing or zero, whichever more cells of a column of numbers have; how many. */
static size_t usual_word(const uint64_t *words, size_t rows, uint64_t *usual)
{
    const uint64_t nothing = tdc_html_box(0);
    size_t nothings = 0, zeros = 0;
    for (size_t row = 0; row < rows; row++) {
        nothings += words[row] == nothing;
        zeros += words[row] == 0;
    }
    *usual = nothings >= zeros ? nothing : 0;
    return nothings >= zeros ? nothings : zeros;
}

/* Leaves the words but for the usual ones, of which bits tell; how many there are. */
static size_t take_unusual(uint64_t *words, size_t rows, uint64_t usual, unsigned char *bits)
{
    size_t kept = 0;
    for (size_t row = 0; row < rows; row++) {
        uint64_t word = words[row];
        bits[row / 8] |= (unsigned char)((word == usual) << row % 8);
        words[kept] = word;
        kept += word != usual;
    }
    return kept;
}

/* The planes of words of `width` bytes in which they differ; which those are and what the others
 * hold is told at the start of the head. */
static void lay_out_planes(struct laid_out *out, const unsigned char *words, size_t width)
{
    out->size = out->head;
    for (size_t byte = 0; byte < width && out->plane != 0; byte++) {
        size_t place = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? width - 1 - byte : byte;
        unsigned char first = words[place], differ = 0, *plane = out->data + out->size;
        for (size_t row = 0; row < out->plane; row++) {
            plane[row] = words[row * width + place];
            differ |= plane[row] ^ first;
        }
        if (differ == 0) {
            out->data[1 + byte] = first;
        } else {
            out->data[0] |= (unsigned char)(1u << byte);
            out->size += out->plane;
        }
    }
}

static void lay_out_words(const struct tdc_html_block *block, struct laid_out *out)
{
    out->head = 1 + sizeof(uint32_t);
    out->plane = block->sheet->rows;
    out->data = calloc(1, out->head + out->plane * sizeof(uint32_t));
    uint32_t *steps = malloc(out->plane * sizeof *steps + 1);
    if (out->data != NULL && steps != NULL) {
        take_steps(block, steps);
        lay_out_planes(out, (const unsigned char *)steps, sizeof *steps);
    } else {
        free(out->data);
        out->data = NULL;
    }
    free(steps);
}

static void lay_out_numbers(const struct tdc_html_block *block, struct laid_out *out)
{
    size_t rows = block->sheet->rows, start = 1 + sizeof(double);
    uint64_t usual, *words = malloc((rows + 1) * sizeof *words);
    if (words == NULL)
        return;
    take_numbers(block, words);
    bool some = usual_word(words, rows, &usual) != 0;
    out->head = start + 1 + (some ? sizeof usual + (rows + 7) / 8 : 0);
    out->plane = rows;
    out->data = calloc(1, out->head + rows * sizeof usual);
    if (out->data != NULL && some) {
        out->data[start] = 1;
        for (size_t byte = 0; byte < sizeof usual; byte++)
            out->data[start + 1 + byte] = (unsigned char)(usual >> 8 * byte);
        out->plane = take_unusual(words, rows, usual, out->data + start + 1 + sizeof usual);
    }
    if (out->data != NULL)
        lay_out_planes(out, (const unsigned char *)words, sizeof *words);
    free(words);
}

static void lay_out_dictionary(const struct tdc_html_block *block, struct laid_out *out)
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
        return;
    }
    out->size = out->head = json.length;
    out->data = (unsigned char *)json.data;
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
    return alike < (SAMPLES + (uint64_t)SAMPLES * SAMPLES / 256) * 3 / 2;
}

static bool deflate_part(z_stream *stream, const unsigned char *data, size_t size)
{
    stream->next_in = data;
    stream->avail_in = (uInt)size;
    return deflate(stream, Z_NO_FLUSH) == Z_OK && stream->avail_in == 0;
}

/* The planes one by one: bytes of numbers hardly repeat but in runs, and looking for those alone is
 * several times as fast as for all that repeats. */
static bool deflate_parts(z_stream *stream, const struct laid_out *data)
{
    bool done = deflate_part(stream, data->data, data->head);
    for (size_t at = data->head; done && at < data->size; at += data->plane) {
        int level = looks_random(data->data + at, data->plane) ? 0 : 1;
        done = deflateParams(stream, level, Z_RLE) == Z_OK &&
               deflate_part(stream, data->data + at, data->plane);
    }
    return done && deflate(stream, Z_FINISH) == Z_STREAM_END;
}

static bool deflate_whole(struct tdc_html_block *block, const struct laid_out *data)
{
    z_stream stream = {0};
    if (data->size > UINT32_MAX / 2 ||
        deflateInit2(&stream, 1, Z_DEFLATED, 15, 9, Z_DEFAULT_STRATEGY) != Z_OK)
        return false;
    size_t room = deflateBound(&stream, data->size) + 256; /* a change of level ends a block */
    block->bytes = malloc(room);
    bool done = false;
    if (block->bytes != NULL) {
        stream.next_out = block->bytes;
        stream.avail_out = (uInt)room;
        done = deflate_parts(&stream, data);
        block->size = room - stream.avail_out;
    }
    deflateEnd(&stream);
    return done;
}

static void pack_block(struct tdc_html_block *block)
{
    struct laid_out data = {0};
    if (block->text != NULL)
        data = (struct laid_out){(unsigned char *)block->text, block->length, 0, block->length};
    else if (block->column == NULL)
        lay_out_dictionary(block, &data);
    else if (block->column->texts != NULL || block->whole)
        lay_out_words(block, &data);
    else
        lay_out_numbers(block, &data);
    block->failed = data.data == NULL || !deflate_whole(block, &data);
    if (block->text == NULL)
        free(data.data);
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
