#include "host/precheck/run/call_record.h"

#include "io/base/little_endian.h"

static void put64(struct tdc_text *bytes, uint64_t value)
{
    unsigned char room[8];
    tdc_set_le32(room, (uint32_t)value);
    tdc_set_le32(room + 4, (uint32_t)(value >> 32));
    tdc_text_add(bytes, (const char *)room, sizeof room);
}

static void put_number(struct tdc_text *bytes, double value)
{
    uint64_t word;
    memcpy(&word, &value, sizeof word);
    put64(bytes, word);
}

static void put_bytes(struct tdc_text *bytes, const char *text, size_t length)
{
    put64(bytes, length);
    tdc_text_add(bytes, text, length);
}

static void put_text(struct tdc_text *bytes, const char *text)
{
    put_bytes(bytes, text != NULL ? text : "", text != NULL ? strlen(text) : 0);
}

void tdc_call_put(struct tdc_text *bytes, const struct tdc_call_outcome *outcome)
{
    const struct tdc_text *const texts[] = {&outcome->details, &outcome->result, &outcome->json,
                                            &outcome->log, &outcome->rows};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        put_bytes(bytes, tdc_text_get(texts[i]), texts[i]->length);
    put_text(bytes, outcome->api);
    for (int d = 0; d < TDC_DIRECTIONS; d++) {
        put64(bytes, (uint64_t)outcome->statuses[d]);
        put64(bytes, outcome->recorded[d]);
        put_text(bytes, outcome->reasons[d].text);
    }
    put64(bytes, outcome->unsupported);
    put64(bytes, outcome->unreadable);
    put64(bytes, outcome->slots);
    put64(bytes, outcome->failed_slots);
    put64(bytes, outcome->bytes);
    put_number(bytes, outcome->worst_ulp);
    put_number(bytes, outcome->worst_abs);
    put_number(bytes, outcome->error);
    put_number(bytes, outcome->limit);
}

void tdc_call_row_put(struct tdc_text *rows, const struct tdc_precheck_row *row)
{
    put64(rows, row->backward);
    put64(rows, row->measured);
    put64(rows, row->slot);
    put64(rows, (uint64_t)row->verdict);
    put_text(rows, row->bench_dtype);
    put_text(rows, row->tested_dtype);
    put_text(rows, row->shape);
    put_text(rows, row->message);
    put_number(rows, row->cosine);
    put_number(rows, row->max_abs);
    put_number(rows, row->max_relative);
    put_number(rows, row->max_ulp);
    put64(rows, row->max_abs_at);
}

/* ---- reading --------------------------------------------------------------------------------- */

struct rest {
    const unsigned char *at;
    size_t size;
    bool failed;
};

static uint64_t take64(struct rest *rest)
{
    if (rest->failed || rest->size < 8) {
        rest->failed = true;
        return 0;
    }
    uint64_t value = tdc_le64(rest->at);
    rest->at += 8;
    rest->size -= 8;
    return value;
}

static uint64_t take_below(struct rest *rest, uint64_t limit)
{
    uint64_t value = take64(rest);
    rest->failed |= value >= limit;
    return rest->failed ? 0 : value;
}

static double take_number(struct rest *rest)
{
    uint64_t word = take64(rest);
    double value;
    memcpy(&value, &word, sizeof value);
    return value;
}

/* Bytes that stand in what is read. */
static const char *take_bytes(struct rest *rest, size_t *length)
{
    uint64_t size = take64(rest);
    if (rest->failed || size > rest->size) {
        rest->failed = true;
        *length = 0;
        return "";
    }
    const char *bytes = (const char *)rest->at;
    rest->at += size;
    rest->size -= (size_t)size;
    *length = (size_t)size;
    return bytes;
}

/* A text into a room that has an end. */
static void take_text(struct rest *rest, char *room, size_t size)
{
    size_t length;
    const char *bytes = take_bytes(rest, &length);
    if (length >= size || memchr(bytes, '\0', length) != NULL) {
        rest->failed = true;
        length = 0;
    }
    memcpy(room, bytes, length);
    room[length] = '\0';
}

bool tdc_call_take(const unsigned char *bytes, size_t size, struct tdc_call_outcome *outcome)
{
    struct rest rest = {bytes, size, false};
    struct tdc_text *const texts[] = {&outcome->details, &outcome->result, &outcome->json,
                                      &outcome->log, &outcome->rows};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        size_t length;
        const char *text = take_bytes(&rest, &length);
        bool rows = texts[i] == &outcome->rows;
        if (!rows && memchr(text, '\0', length) != NULL)
            rest.failed = true;
        if (!rest.failed && length != 0 && !tdc_text_add(texts[i], text, length))
            rest.failed = true;
    }
    take_text(&rest, outcome->api, sizeof outcome->api);
    for (int d = 0; d < TDC_DIRECTIONS; d++) {
        outcome->statuses[d] = (tdc_check)take_below(&rest, TDC_CHECKS);
        outcome->recorded[d] = take_below(&rest, 2) != 0;
        take_text(&rest, outcome->reasons[d].text, sizeof outcome->reasons[d].text);
    }
    outcome->unsupported = take_below(&rest, 2) != 0;
    outcome->unreadable = take_below(&rest, 2) != 0;
    outcome->slots = take64(&rest);
    outcome->failed_slots = take64(&rest);
    outcome->bytes = take64(&rest);
    outcome->worst_ulp = take_number(&rest);
    outcome->worst_abs = take_number(&rest);
    outcome->error = take_number(&rest);
    outcome->limit = take_number(&rest);
    return !rest.failed && rest.size == 0;
}

bool tdc_call_rows_tell(const struct tdc_text *rows, const char *call, const char *api,
                        const struct tdc_precheck_options *options)
{
    struct rest rest = {(const unsigned char *)tdc_text_get(rows), rows->length, false};
    char texts[4][4096];
    while (rest.size != 0 && !rest.failed) {
        struct tdc_precheck_row row = {.call = call, .api = api};
        row.backward = take_below(&rest, 2) != 0;
        row.measured = take_below(&rest, 2) != 0;
        row.slot = (size_t)take64(&rest);
        row.verdict = (tdc_check)take_below(&rest, TDC_CHECKS);
        for (int i = 0; i < 4; i++)
            take_text(&rest, texts[i], sizeof texts[i]);
        row.bench_dtype = texts[0];
        row.tested_dtype = texts[1];
        row.shape = texts[2];
        row.message = texts[3];
        row.cosine = take_number(&rest);
        row.max_abs = take_number(&rest);
        row.max_relative = take_number(&rest);
        row.max_ulp = take_number(&rest);
        row.max_abs_at = take64(&rest);
        if (!rest.failed && options->row != NULL)
            options->row(options->context, &row);
    }
    return !rest.failed;
}
