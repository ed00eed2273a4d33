#include "host/share/part_file.h"

#include <stdlib.h>
#include <zlib.h>

#include "io/base/error.h"
#include "io/base/little_endian.h"

/* Of a body: a piece of a pair has some kilobytes, the rows of a call at most 256 MB. */
#define BODY_LIMIT ((size_t)1 << 30)
#define FRAME_HEAD ((size_t)8)
/* Kind, key, two marks. */
#define RECORD_HEAD ((size_t)(4 + 16 + 32))
/* Words and inputs of a head: each takes at least four bytes of it as well. */
#define LIST_LIMIT ((uint32_t)1 << 22)
/* Numbers are little endian, elements of tensors as the machine has them. */
#define ORDER_MARK ((uint32_t)0x01020304)

/* ---- keys ------------------------------------------------------------------------------------ */

const struct tdc_share_key tdc_share_key_start = {{0x9e3779b97f4a7c15u, 0xc2b2ae3d27d4eb4fu}};

static uint64_t fold(uint64_t left, uint64_t right)
{
    __uint128_t product = (__uint128_t)left * right;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

void tdc_share_key_number(struct tdc_share_key *key, uint64_t number)
{
    key->halves[0] = fold(key->halves[0] ^ number, 0xd6e8feb86659fd93u) + 0x2545f4914f6cdd1du;
    key->halves[1] = fold(key->halves[1] + number, 0xa0761d6478bd642fu) ^ key->halves[0];
}

void tdc_share_key_add(struct tdc_share_key *key, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    tdc_share_key_number(key, size);
    for (; size >= 8; at += 8, size -= 8)
        tdc_share_key_number(key, tdc_le64(at));
    uint64_t rest = 0;
    for (size_t i = 0; i < size; i++)
        rest |= (uint64_t)at[i] << 8 * i;
    tdc_share_key_number(key, rest);
}

void tdc_share_key_text(struct tdc_share_key *key, const char *text)
{
    if (text != NULL)
        tdc_share_key_add(key, text, strlen(text));
    else
        tdc_share_key_number(key, UINT64_MAX);
}

/* ---- writing --------------------------------------------------------------------------------- */

static void put32(struct tdc_text *bytes, uint32_t value)
{
    unsigned char room[4];
    tdc_set_le32(room, value);
    tdc_text_add(bytes, (const char *)room, sizeof room);
}

static void put64(struct tdc_text *bytes, uint64_t value)
{
    put32(bytes, (uint32_t)value);
    put32(bytes, (uint32_t)(value >> 32));
}

static void put_text(struct tdc_text *bytes, const char *text)
{
    put32(bytes, (uint32_t)strlen(text));
    tdc_text_adds(bytes, text);
}

static void put_mark(struct tdc_text *bytes, const struct tdc_file_mark *mark)
{
    put64(bytes, mark->size);
    put64(bytes, mark->changed);
}

/* Fills in the length and the checksum in front of what was appended since `start`. */
static void close_frame(struct tdc_text *bytes, size_t start)
{
    if (bytes->failed)
        return;
    unsigned char *frame = (unsigned char *)bytes->data + start;
    size_t size = bytes->length - start - FRAME_HEAD;
    if (size > BODY_LIMIT) {
        bytes->failed = true;
        return;
    }
    tdc_set_le32(frame, (uint32_t)size);
    tdc_set_le32(frame + 4, (uint32_t)crc32_z(crc32_z(0, NULL, 0), frame + FRAME_HEAD, size));
}

void tdc_part_put_head(struct tdc_text *bytes, const struct tdc_part_head *head)
{
    tdc_text_add(bytes, TDC_PART_MAGIC, TDC_PART_MAGIC_SIZE);
    size_t start = bytes->length;
    put64(bytes, 0);
    uint32_t order = ORDER_MARK;
    tdc_text_add(bytes, (const char *)&order, sizeof order);
    put32(bytes, head->index);
    put32(bytes, head->count);
    put32(bytes, (uint32_t)head->word_count);
    put32(bytes, (uint32_t)head->input_count);
    put_text(bytes, head->version);
    put_text(bytes, head->settings);
    put_text(bytes, head->folder);
    for (size_t i = 0; i < head->word_count; i++)
        put_text(bytes, head->words[i]);
    for (size_t i = 0; i < head->input_count; i++) {
        put_mark(bytes, &head->inputs[i].mark);
        put_text(bytes, head->inputs[i].path);
    }
    close_frame(bytes, start);
}

void tdc_part_put(struct tdc_text *bytes, const struct tdc_part_record *record)
{
    size_t start = bytes->length;
    put64(bytes, 0);
    put32(bytes, (uint32_t)record->kind);
    put64(bytes, record->key.halves[0]);
    put64(bytes, record->key.halves[1]);
    put_mark(bytes, &record->marks[0]);
    put_mark(bytes, &record->marks[1]);
    tdc_text_add(bytes, (const char *)record->content, record->size);
    close_frame(bytes, start);
}

/* ---- reading --------------------------------------------------------------------------------- */

/* The body of the frame at `at`; false when it is not whole. */
static bool take_frame(const unsigned char *bytes, size_t size, size_t at,
                       const unsigned char **body, size_t *body_size)
{
    if (at > size || size - at < FRAME_HEAD)
        return false;
    size_t length = tdc_le32(bytes + at);
    if (length > BODY_LIMIT || length > size - at - FRAME_HEAD)
        return false;
    *body = bytes + at + FRAME_HEAD;
    *body_size = length;
    return crc32_z(crc32_z(0, NULL, 0), *body, length) == tdc_le32(bytes + at + 4);
}

/* What is left of a body. */
struct rest {
    const unsigned char *at;
    size_t size;
    bool failed;
};

static const unsigned char *take(struct rest *rest, size_t size)
{
    static const unsigned char zeros[16];
    if (rest->failed || rest->size < size) {
        rest->failed = true;
        return zeros;
    }
    const unsigned char *taken = rest->at;
    rest->at += size;
    rest->size -= size;
    return taken;
}

static struct tdc_file_mark take_mark(struct rest *rest)
{
    const unsigned char *at = take(rest, 16);
    return (struct tdc_file_mark){tdc_le64(at), tdc_le64(at + 8)};
}

/* Copies a text behind the others, which have room for all of the body. */
static const char *take_text(struct rest *rest, char **room)
{
    size_t length = tdc_le32(take(rest, 4));
    if (rest->failed || length > rest->size || memchr(rest->at, '\0', length) != NULL) {
        rest->failed = true;
        return "";
    }
    char *text = *room;
    memcpy(text, rest->at, length);
    text[length] = '\0';
    *room += length + 1;
    take(rest, length);
    return text;
}

static void take_head(struct rest *rest, struct tdc_part *part)
{
    struct tdc_part_head *head = &part->head;
    char *room = part->texts;
    head->version = take_text(rest, &room);
    head->settings = take_text(rest, &room);
    head->folder = take_text(rest, &room);
    for (size_t i = 0; i < head->word_count; i++)
        part->words[i] = take_text(rest, &room);
    for (size_t i = 0; i < head->input_count; i++) {
        part->inputs[i].mark = take_mark(rest);
        part->inputs[i].path = take_text(rest, &room);
    }
    head->words = part->words;
    head->inputs = part->inputs;
}

void tdc_part_free(struct tdc_part *part)
{
    free(part->words);
    free(part->inputs);
    free(part->texts);
    *part = (struct tdc_part){0};
}

static tdc_status no_part(struct tdc_part *part, struct tdc_error *error)
{
    tdc_part_free(part);
    return tdc_fail(error, TDC_ERR_FORMAT, "not a part of a comparison, or its beginning is lost");
}

tdc_status tdc_part_read_head(const unsigned char *bytes, size_t size, struct tdc_part *part,
                              struct tdc_error *error)
{
    *part = (struct tdc_part){0};
    const unsigned char *body;
    size_t body_size;
    if (size < TDC_PART_MAGIC_SIZE || memcmp(bytes, TDC_PART_MAGIC, TDC_PART_MAGIC_SIZE) != 0 ||
        !take_frame(bytes, size, TDC_PART_MAGIC_SIZE, &body, &body_size))
        return no_part(part, error);
    struct rest rest = {body, body_size, false};
    uint32_t order;
    memcpy(&order, take(&rest, sizeof order), sizeof order);
    part->head.index = tdc_le32(take(&rest, 4));
    part->head.count = tdc_le32(take(&rest, 4));
    uint32_t words = tdc_le32(take(&rest, 4)), inputs = tdc_le32(take(&rest, 4));
    if (rest.failed || order != ORDER_MARK || part->head.count == 0 ||
        part->head.index >= part->head.count || words > LIST_LIMIT || inputs > LIST_LIMIT ||
        words > body_size / 4 || inputs > body_size / 20)
        return no_part(part, error);
    part->head.word_count = words;
    part->head.input_count = inputs;
    part->words = calloc((size_t)words + 1, sizeof *part->words);
    part->inputs = calloc((size_t)inputs + 1, sizeof *part->inputs);
    part->texts = malloc(body_size + words + inputs + 3);
    if (part->words == NULL || part->inputs == NULL || part->texts == NULL) {
        tdc_part_free(part);
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory for the head of a part");
    }
    take_head(&rest, part);
    if (rest.failed || rest.size != 0)
        return no_part(part, error);
    part->first = part->whole = TDC_PART_MAGIC_SIZE + FRAME_HEAD + body_size;
    struct tdc_part_record record;
    for (size_t at = part->first; tdc_part_next(bytes, size, &at, &record); part->whole = at)
        part->complete = record.kind == TDC_PART_END;
    return TDC_OK;
}

bool tdc_part_next(const unsigned char *bytes, size_t size, size_t *at,
                   struct tdc_part_record *record)
{
    const unsigned char *body;
    size_t body_size;
    if (!take_frame(bytes, size, *at, &body, &body_size) || body_size < RECORD_HEAD ||
        tdc_le32(body) >= TDC_PART_KINDS)
        return false;
    struct rest rest = {body, body_size, false};
    record->kind = (enum tdc_part_kind)tdc_le32(take(&rest, 4));
    record->key.halves[0] = tdc_le64(take(&rest, 8));
    record->key.halves[1] = tdc_le64(take(&rest, 8));
    record->marks[0] = take_mark(&rest);
    record->marks[1] = take_mark(&rest);
    record->content = rest.at;
    record->size = rest.size;
    *at += FRAME_HEAD + body_size;
    return true;
}
