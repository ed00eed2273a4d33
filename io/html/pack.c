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

/* Memory of a thread that serves one block after the other: fresh pages for each cost as much as
 * the work. */
struct room {
    unsigned char *bytes;
    size_t size;
};

struct packer {
    struct room words, planes, packed;
    struct tdc_text json;
    z_stream stream;
    bool ready; /* the stream */
};

/* So many bytes of any content; NULL when out of memory. */
static unsigned char *take_room(struct room *room, size_t size)
{
    if (size > room->size) {
        free(room->bytes);
        room->bytes = malloc(size);
        room->size = room->bytes != NULL ? size : 0;
    }
    return room->bytes;
}

/* What is packed of a block: a head, then planes of the same size. */
struct laid_out {
    unsigned char *data; /* the packer's or the block's; NULL: out of memory */
    size_t head, plane, size;
};

static bool begin(struct laid_out *out, struct packer *packer, size_t head, size_t planes)
{
    out->head = head;
    out->data = take_room(&packer->planes, head + planes);
    if (out->data != NULL)
        memset(out->data, 0, head);
    return out->data != NULL;
}

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

static void lay_out_words(struct packer *packer, const struct tdc_html_block *block,
                          struct laid_out *out)
{
    size_t rows = block->sheet->rows, size = rows * sizeof(uint32_t);
    void *steps = take_room(&packer->words, size + 1);
    if (steps == NULL || !begin(out, packer, 1 + sizeof(uint32_t), size))
        return;
    out->plane = rows;
    take_steps(block, steps);
    lay_out_planes(out, steps, sizeof(uint32_t));
}

static void lay_out_numbers(struct packer *packer, const struct tdc_html_block *block,
                            struct laid_out *out)
{
    size_t rows = block->sheet->rows, size = rows * sizeof(uint64_t), start = 1 + sizeof(double);
    uint64_t usual, *words = (void *)take_room(&packer->words, size + sizeof usual);
    if (words == NULL)
        return;
    take_numbers(block, words);
    bool some = usual_word(words, rows, &usual) != 0;
    if (!begin(out, packer, start + 1 + (some ? sizeof usual + (rows + 7) / 8 : 0), size))
        return;
    out->plane = rows;
    if (some) {
        out->data[start] = 1;
        for (size_t byte = 0; byte < sizeof usual; byte++)
            out->data[start + 1 + byte] = (unsigned char)(usual >> 8 * byte);
        out->plane = take_unusual(words, rows, usual, out->data + start + 1 + sizeof usual);
    }
    lay_out_planes(out, (const unsigned char *)words, sizeof usual);
}

/* Letters that a text has in common with the one before. */
static size_t shared_letters(const struct tdc_name_key *key, const struct tdc_name_key *before)
{
    size_t most = key->length < before->length ? key->length : before->length, count = 0;
    /* of ASCII alone: a letter is a byte here and a unit of UTF-16 there */
    while (count < most && key->text[count] == before->text[count] &&
           (unsigned char)key->text[count] < 0x80)
        count++;
    return count;
}

static void add_whole(struct tdc_text *json, size_t number)
{
    char digits[24];
    size_t at = sizeof digits;
    do {
        digits[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number != 0);
    tdc_text_add(json, digits + at, sizeof digits - at);
}

static void lay_out_dictionary(struct packer *packer, const struct tdc_html_block *block,
                               struct laid_out *out)
{
    struct tdc_text *json = &packer->json;
    const struct tdc_name_key *keys = block->sheet->texts.keys;
    tdc_text_clear(json);
    for (uint32_t i = block->first; i < block->end; i++) {
        size_t shared = i == block->first ? 0 : shared_letters(&keys[i], &keys[i - 1]);
        tdc_text_addc(json, i == block->first ? '[' : ',');
        add_whole(json, shared);
        tdc_text_addc(json, ',');
        tdc_json_add_string(json, keys[i].text + shared, keys[i].length - shared);
    }
    tdc_text_addc(json, ']');
    if (!json->failed)
        *out = (struct laid_out){(unsigned char *)json->data, json->length, 0, json->length};
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

size_t tdc_html_base64(const unsigned char *bytes, size_t size, char *letters)
{
    char *out = letters;
    size_t at = 0;
    for (; at + 3 <= size; at += 3, out += 4)
        encode(bytes + at, out);
    if (at < size) {
        unsigned char rest[3] = {bytes[at], size - at == 2 ? bytes[at + 1] : 0, 0};
        encode(rest, out);
        out[3] = '=';
        if (size - at == 1)
            out[2] = '=';
        out += 4;
    }
    return (size_t)(out - letters);
}

/* ---- deflating ------------------------------------------------------------------------------- */

#define SAMPLES 4096u
/* Bits of information a byte of a sample has beyond which less than a tenth could be gained. */
#define NEARLY_ALL 7.25

/* Whether bytes look as if drawn by chance, as the last digits of numbers do: deflating them takes
 * most of the time of a page and gains next to nothing. */
static bool looks_random(const unsigned char *data, size_t size)
{
    if (size < SAMPLES)
        return false;
    uint32_t counts[256] = {0};
    for (size_t i = 0; i < SAMPLES; i++)
        counts[data[(uint64_t)size * i / SAMPLES]]++;
    double bits = 0;
    for (size_t i = 0; i < 256; i++)
        if (counts[i] != 0)
            bits -= counts[i] / (double)SAMPLES * log2(counts[i] / (double)SAMPLES);
    return bits > NEARLY_ALL;
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

/* As a new stream of level 1, whatever the one before left. */
static bool start_stream(struct packer *packer)
{
    z_stream *stream = &packer->stream;
    if (!packer->ready)
        packer->ready = deflateInit2(stream, 1, Z_DEFLATED, 15, 9, Z_DEFAULT_STRATEGY) == Z_OK;
    return packer->ready && deflateReset(stream) == Z_OK &&
           deflateParams(stream, 1, Z_DEFAULT_STRATEGY) == Z_OK;
}

static bool deflate_whole(struct packer *packer, struct tdc_html_block *block,
                          const struct laid_out *data)
{
    z_stream *stream = &packer->stream;
    if (data->size > UINT32_MAX / 2 || !start_stream(packer))
        return false;
    size_t room = deflateBound(stream, data->size) + 256; /* a change of level ends a block */
    stream->next_out = take_room(&packer->packed, room);
    stream->avail_out = (uInt)room;
    if (stream->next_out == NULL || !deflate_parts(stream, data))
        return false;
    size_t packed = room - stream->avail_out;
    block->letters = malloc(TDC_HTML_BASE64(packed));
    if (block->letters == NULL)
        return false;
    block->size = tdc_html_base64(packer->packed.bytes, packed, block->letters);
    return true;
}

static void pack_block(struct packer *packer, struct tdc_html_block *block)
{
    struct laid_out data = {0};
    if (block->text != NULL)
        data = (struct laid_out){(unsigned char *)block->text, block->length, 0, block->length};
    else if (block->column == NULL)
        lay_out_dictionary(packer, block, &data);
    else if (block->column->texts != NULL || block->whole)
        lay_out_words(packer, block, &data);
    else
        lay_out_numbers(packer, block, &data);
    block->failed = data.data == NULL || !deflate_whole(packer, block, &data);
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
    struct packer packer = {0};
    tdc_text_init(&packer.json, JSON_LIMIT);
    for (size_t i; (i = atomic_fetch_add(&packing->next, 1)) < packing->count;)
        pack_block(&packer, &packing->blocks[i]);
    if (packer.ready)
        deflateEnd(&packer.stream);
    tdc_text_free(&packer.json);
    free(packer.words.bytes);
    free(packer.planes.bytes);
    free(packer.packed.bytes);
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
        free(blocks[i].letters);
}
