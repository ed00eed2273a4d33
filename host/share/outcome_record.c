#include "host/share/outcome_record.h"

#include "io/base/error.h"
#include "io/base/little_endian.h"

/* A plain struct of numbers of eight bytes each, and of bytes. */
#define WORDS(type) (sizeof(type) / sizeof(uint64_t))
_Static_assert(sizeof(struct tdc_pair_sums) % sizeof(uint64_t) == 0, "sums are words");
_Static_assert(sizeof(struct tdc_pair_norms) % sizeof(uint64_t) == 0, "norms are words");
_Static_assert(sizeof(struct tdc_series_sums) % sizeof(uint64_t) == 0, "series are words");

enum {
    ELEMENT_WORDS = 2,
    PLAIN_WORDS = 12,
    OUTCOME_WORDS = PLAIN_WORDS + (int)WORDS(struct tdc_pair_sums) +
                    (int)WORDS(struct tdc_pair_norms) + 8 * ELEMENT_WORDS,
    BITMAP_WORDS = (OUTCOME_WORDS + 63) / 64,
    FLAG_N_SWAPPED = 1,
    FLAG_B_SWAPPED = 2,
    FLAG_TEXTS_DIFFER = 4,
    FLAG_APART = 8,
    MOST_DIMENSIONS = 64
};

/* ---- writing --------------------------------------------------------------------------------- */

static void put64(struct tdc_text *bytes, uint64_t value)
{
    unsigned char room[8];
    tdc_set_le32(room, (uint32_t)value);
    tdc_set_le32(room + 4, (uint32_t)(value >> 32));
    tdc_text_add(bytes, (const char *)room, sizeof room);
}

static uint64_t *add_words(uint64_t *words, const void *from, size_t size)
{
    memcpy(words, from, size);
    return words + size / sizeof *words;
}

static void put_twins(struct tdc_text *bytes, const struct tdc_logical *logical,
                      const struct tdc_twin_finding *twins)
{
    bool apart = logical != NULL && twins->apart;
    put64(bytes, apart);
    if (!apart)
        return;
    size_t where = SIZE_MAX, twin = SIZE_MAX;
    for (size_t i = 0; i < logical->part_count; i++) {
        if (where == SIZE_MAX && logical->parts[i].where == twins->where)
            where = i;
        if (twin == SIZE_MAX && logical->parts[i].where == twins->twin)
            twin = i;
    }
    put64(bytes, where);
    put64(bytes, twin);
    uint64_t worst;
    memcpy(&worst, &twins->worst, sizeof worst);
    put64(bytes, worst);
    for (size_t i = 0; i < TDC_LOGICAL_AXES; i++)
        put64(bytes, twins->at[i]);
}

static void put_series(struct tdc_text *bytes, const struct tdc_series *series)
{
    for (; series != NULL; series = series->next) {
        put64(bytes, series->length);
        for (uint64_t i = 0; i < series->length; i++) {
            uint64_t words[WORDS(struct tdc_series_sums)];
            memcpy(words, &series->sums[i], sizeof words);
            for (size_t k = 0; k < WORDS(struct tdc_series_sums); k++)
                put64(bytes, words[k]);
        }
    }
}

static uint64_t *add_element(uint64_t *words, const void *element)
{
    return add_words(words, element, 16);
}

static void list_words(const struct tdc_outcome *outcome, uint64_t words[OUTCOME_WORDS])
{
    uint64_t *at = words;
    *at++ = (uint64_t)outcome->code;
    *at++ = (uint64_t)outcome->n_dtype;
    *at++ = (uint64_t)outcome->b_dtype;
    *at++ =
        (outcome->n_swapped ? FLAG_N_SWAPPED : 0u) | (outcome->b_swapped ? FLAG_B_SWAPPED : 0u) |
        (outcome->text_types_differ ? FLAG_TEXTS_DIFFER : 0u) | (outcome->apart ? FLAG_APART : 0u);
    *at++ = outcome->n_dimensions;
    *at++ = outcome->b_dimensions;
    *at++ = outcome->count;
    *at++ = outcome->b_count;
    *at++ = outcome->bytes;
    *at++ = outcome->beyond;
    *at++ = outcome->apart_at;
    *at++ = outcome->links;
    at = add_words(at, &outcome->sums, sizeof outcome->sums);
    at = add_words(at, &outcome->norms, sizeof outcome->norms);
    at = add_element(at, outcome->abs_n.bytes);
    at = add_element(at, outcome->abs_b.bytes);
    at = add_element(at, outcome->rel_n.bytes);
    at = add_element(at, outcome->rel_b.bytes);
    at = add_element(at, outcome->apart_n.bytes);
    at = add_element(at, outcome->apart_b.bytes);
    at = add_element(at, outcome->n_element);
    add_element(at, outcome->b_element);
}

void tdc_outcome_put(struct tdc_text *bytes, const struct tdc_job *job,
                     const struct tdc_outcome *outcome)
{
    uint64_t words[OUTCOME_WORDS], bitmap[BITMAP_WORDS] = {0};
    list_words(outcome, words);
    for (size_t i = 0; i < OUTCOME_WORDS; i++)
        bitmap[i / 64] |= (uint64_t)(words[i] != 0) << i % 64;
    for (size_t i = 0; i < BITMAP_WORDS; i++)
        put64(bytes, bitmap[i]);
    for (size_t i = 0; i < OUTCOME_WORDS; i++)
        if (words[i] != 0)
            put64(bytes, words[i]);
    size_t length = strlen(outcome->error.message);
    put64(bytes, (uint64_t)outcome->error.status);
    put64(bytes, length);
    tdc_text_add(bytes, outcome->error.message, length);
    put_twins(bytes, job->n_logical, &outcome->n_twins);
    put_twins(bytes, job->b_logical, &outcome->b_twins);
    put_series(bytes, job->series);
}

void tdc_piece_put(struct tdc_text *bytes, const struct tdc_piece_sums *piece)
{
    put64(bytes, piece->chunks);
    put64(bytes, piece->first);
    put64(bytes, piece->count);
    for (uint64_t i = 0; i < piece->count; i++) {
        uint64_t words[WORDS(struct tdc_pair_sums)];
        memcpy(words, &piece->sums[i], sizeof words);
        for (size_t k = 0; k < WORDS(struct tdc_pair_sums); k++)
            put64(bytes, words[k]);
    }
}

/* ---- reading --------------------------------------------------------------------------------- */

struct rest {
    const unsigned char *at;
    size_t size;
    bool failed;
};

static uint64_t take64(struct rest *rest)
{
    if (rest->size < 8) {
        rest->failed = true;
        return 0;
    }
    uint64_t value = tdc_le64(rest->at);
    rest->at += 8;
    rest->size -= 8;
    return value;
}

/* A number of which anything but [0, limit) makes the record a wrong one. */
static uint64_t take_below(struct rest *rest, uint64_t value, uint64_t limit)
{
    if (value < limit)
        return value;
    rest->failed = true;
    return 0;
}

static void take_words(struct rest *rest, size_t size, void *to)
{
    for (size_t i = 0; i < size / sizeof(uint64_t); i++) {
        uint64_t word = take64(rest);
        memcpy((char *)to + i * sizeof word, &word, sizeof word);
    }
}

static const uint64_t *move_words(const uint64_t *words, size_t size, void *to)
{
    memcpy(to, words, size);
    return words + size / sizeof *words;
}

static void set_outcome(struct rest *rest, const uint64_t words[OUTCOME_WORDS],
                        struct tdc_outcome *outcome)
{
    const uint64_t *at = words;
    outcome->code =
        (enum tdc_outcome_code)take_below(rest, *at++, (uint64_t)TDC_OUTCOME_NOT_NUMBERS + 1);
    outcome->n_dtype = (tdc_dtype)take_below(rest, *at++, TDC_DTYPE_COUNT);
    outcome->b_dtype = (tdc_dtype)take_below(rest, *at++, TDC_DTYPE_COUNT);
    uint64_t flags = *at++;
    outcome->n_swapped = (flags & FLAG_N_SWAPPED) != 0;
    outcome->b_swapped = (flags & FLAG_B_SWAPPED) != 0;
    outcome->text_types_differ = (flags & FLAG_TEXTS_DIFFER) != 0;
    outcome->apart = (flags & FLAG_APART) != 0;
    outcome->n_dimensions = (unsigned)take_below(rest, *at++, MOST_DIMENSIONS + 1);
    outcome->b_dimensions = (unsigned)take_below(rest, *at++, MOST_DIMENSIONS + 1);
    outcome->count = *at++;
    outcome->b_count = *at++;
    outcome->bytes = *at++;
    outcome->beyond = *at++;
    outcome->apart_at = *at++;
    outcome->links = (unsigned)take_below(rest, *at++, 3);
    at = move_words(at, sizeof outcome->sums, &outcome->sums);
    at = move_words(at, sizeof outcome->norms, &outcome->norms);
    at = move_words(at, 16, outcome->abs_n.bytes);
    at = move_words(at, 16, outcome->abs_b.bytes);
    at = move_words(at, 16, outcome->rel_n.bytes);
    at = move_words(at, 16, outcome->rel_b.bytes);
    at = move_words(at, 16, outcome->apart_n.bytes);
    at = move_words(at, 16, outcome->apart_b.bytes);
    at = move_words(at, 16, outcome->n_element);
    move_words(at, 16, outcome->b_element);
    /* positions lie in the tensor: tables make indices of its shape from them */
    if (outcome->code == TDC_OUTCOME_COMPARED &&
        (outcome->count == 0 || outcome->sums.abs_at >= outcome->count ||
         outcome->sums.rel_at >= outcome->count ||
         (outcome->apart && outcome->apart_at >= outcome->count)))
        rest->failed = true;
}

static void take_error(struct rest *rest, struct tdc_error *error)
{
    error->status = (tdc_status)take_below(rest, take64(rest), (uint64_t)TDC_ERR_DEVICE + 1);
    uint64_t length = take_below(rest, take64(rest), sizeof error->message);
    if (rest->failed || length > rest->size || memchr(rest->at, '\0', (size_t)length) != NULL) {
        rest->failed = true;
        length = 0;
    }
    memcpy(error->message, rest->at, (size_t)length);
    error->message[length] = '\0';
    rest->at += length;
    rest->size -= (size_t)length;
}

static void take_twins(struct rest *rest, const struct tdc_logical *logical,
                       struct tdc_twin_finding *twins)
{
    *twins = (struct tdc_twin_finding){0};
    if (take_below(rest, take64(rest), 2) == 0)
        return;
    if (logical == NULL) {
        rest->failed = true;
        return;
    }
    size_t parts = logical->part_count;
    size_t where = (size_t)take_below(rest, take64(rest), parts);
    size_t twin = (size_t)take_below(rest, take64(rest), parts);
    take_words(rest, sizeof twins->worst, &twins->worst);
    take_words(rest, sizeof twins->at, twins->at);
    for (unsigned i = 0; !rest->failed && i < logical->dimensions; i++)
        take_below(rest, twins->at[i], logical->shape[i]);
    if (rest->failed)
        return;
    twins->apart = true;
    twins->where = logical->parts[where].where;
    twins->twin = logical->parts[twin].where;
}

/* Into the job's own, which are zeros before and stay so when the record is a wrong one. */
static void take_series(const struct rest *from, const struct tdc_series *first, struct rest *end)
{
    for (int pass = 0; pass < 2; pass++) {
        *end = *from;
        for (const struct tdc_series *series = first; series != NULL; series = series->next) {
            const size_t size = sizeof *series->sums;
            if (take64(end) != series->length || series->length > end->size / size)
                end->failed = true;
            for (uint64_t i = 0; !end->failed && i < series->length; i++) {
                struct tdc_series_sums sums;
                take_words(end, size, &sums);
                if (pass == 1)
                    series->sums[i] = sums;
            }
        }
        if (end->failed || end->size != 0) {
            end->failed = true;
            return;
        }
    }
}

bool tdc_outcome_take(const unsigned char *bytes, size_t size, const struct tdc_job *job,
                      struct tdc_outcome *outcome)
{
    struct rest rest = {bytes, size, false};
    uint64_t words[OUTCOME_WORDS] = {0}, bitmap[BITMAP_WORDS];
    for (size_t i = 0; i < BITMAP_WORDS; i++)
        bitmap[i] = take64(&rest);
    for (size_t i = 0; i < OUTCOME_WORDS; i++)
        if ((bitmap[i / 64] >> i % 64 & 1) != 0)
            words[i] = take64(&rest);
    set_outcome(&rest, words, outcome);
    take_error(&rest, &outcome->error);
    take_twins(&rest, job->n_logical, &outcome->n_twins);
    take_twins(&rest, job->b_logical, &outcome->b_twins);
    struct rest end = rest;
    if (!rest.failed)
        take_series(&rest, job->series, &end);
    return !rest.failed && !end.failed;
}

bool tdc_piece_take(const unsigned char *bytes, size_t size, struct tdc_piece_sums *piece,
                    struct tdc_pair_sums *sums, uint64_t room)
{
    struct rest rest = {bytes, size, false};
    *piece = (struct tdc_piece_sums){0};
    piece->chunks = take64(&rest);
    piece->first = take64(&rest);
    piece->count = take64(&rest);
    if (rest.failed || rest.size % sizeof *sums != 0 || piece->count != rest.size / sizeof *sums ||
        piece->first > piece->chunks || piece->count > piece->chunks - piece->first)
        return false;
    if (room == 0)
        return true;
    if (piece->count > room)
        return false;
    for (uint64_t i = 0; i < piece->count; i++)
        take_words(&rest, sizeof *sums, &sums[i]);
    piece->sums = sums;
    return true;
}
