#include "host/analysis/call_partners.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/base/text.h"
#include "io/text/pytext.h"

static void add(struct tdc_call_partners *partners, long rank)
{
    if (partners->count == partners->capacity) {
        size_t more = partners->capacity != 0 ? 2 * partners->capacity : 64;
        long *grown = realloc(partners->ranks, more * sizeof *grown);
        if (grown == NULL) {
            partners->failed = true;
            return;
        }
        partners->ranks = grown;
        partners->capacity = more;
    }
    partners->ranks[partners->count++] = rank;
}

/* The value of an argument that is no tensor as a text; NULL: it is a number, or there is none. */
static const char *text_of(const struct tdc_record *record)
{
    uint8_t kind = record->stat_kinds[TDC_MAX];
    return kind == TDC_STAT_TEXT || kind == TDC_STAT_BIG_INTEGER ? record->stats[TDC_MAX].text
                                                                 : NULL;
}

/* A rank's number: a number, or a text that is one. */
static bool rank_in(const struct tdc_record *record, long *rank)
{
    const char *text = text_of(record);
    uint8_t kind = record->stat_kinds[TDC_MAX];
    double number = -1;
    if (!record->scalar)
        return false;
    if (text != NULL && !tdc_python_float(text, strlen(text), &number))
        return false;
    if (kind == TDC_STAT_INTEGER || kind == TDC_STAT_FLOAT)
        number = record->stats[TDC_MAX].number;
    if (!(number >= 0 && number <= 1e9) || number != floor(number))
        return false;
    *rank = (long)number;
    return true;
}

/* "[0, 1]" */
static void add_group(struct tdc_call_partners *partners, const struct tdc_record *record)
{
    const char *text = text_of(record);
    size_t length = text != NULL ? strlen(text) : 0;
    if (length < 2 || text[0] != '[' || text[length - 1] != ']')
        return;
    long number = -1;
    for (size_t i = 1; i < length; i++) {
        if (text[i] >= '0' && text[i] <= '9' && number < 100000000) {
            number = (number < 0 ? 0 : number * 10) + (text[i] - '0');
        } else if (number >= 0) {
            add(partners, number);
            number = -1;
        }
    }
}

struct reading {
    struct tdc_call_partners *partners;
    long rank;
    bool src, dst, own_src, own_dst; /* given by name; naming this rank */
    bool by_place;                   /* the first integer among the arguments */
    long place;
};

static void read_named(struct reading *reading, const struct tdc_record *record, bool src, bool dst)
{
    long rank;
    bool known = rank_in(record, &rank);
    if (known)
        add(reading->partners, rank);
    if (src && !reading->src) {
        reading->src = true;
        reading->own_src = known && rank == reading->rank;
    }
    if (dst && !reading->dst) {
        reading->dst = true;
        reading->own_dst = known && rank == reading->rank;
    }
}

static bool is_integer_argument(const struct tdc_record *record)
{
    return record->scalar && !record->sound_only && strstr(record->dtype, "int") != NULL;
}

static void read_input(struct reading *reading, const struct tdc_record *record, bool groups)
{
    const char *last = strrchr(record->name, '.');
    long rank;
    if (record->sound_only) {
        /* a member of a point-to-point operation */
        if (last != NULL && strcmp(last, ".peer") == 0 && rank_in(record, &rank))
            add(reading->partners, rank);
        return;
    }
    bool src = strstr(record->name, "src") != NULL, dst = strstr(record->name, "dst") != NULL;
    if (src || dst) {
        read_named(reading, record, src, dst);
    } else if (tdc_ends_in(record->name, ".group")) {
        if (groups)
            add_group(reading->partners, record);
    } else if (!reading->by_place && is_integer_argument(record) && rank_in(record, &rank)) {
        reading->by_place = true;
        reading->place = rank;
    }
}

static bool between_two(struct tdc_comm_api api)
{
    struct tdc_comm_api partner = tdc_comm_partner_api(api);
    return partner.length != api.length || memcmp(partner.text, api.text, api.length) != 0;
}

void tdc_call_partners_read(struct tdc_call_partners *partners, const struct tdc_dump *dump,
                            size_t entry, long rank, bool closer)
{
    const struct tdc_dump_entry *call = &dump->entries[entry];
    struct tdc_comm_api api = tdc_comm_api_of(call->name);
    struct reading reading = {.partners = partners, .rank = rank};
    partners->count = 0;
    for (size_t i = call->first; i < call->first + call->count; i++)
        if (dump->records[i].state == TDC_STATE_INPUT)
            read_input(&reading, &dump->records[i], !closer || !between_two(api));
    enum tdc_comm_end named = tdc_comm_named_end(api);
    partners->end = TDC_COMM_LINK;
    if (reading.src) {
        partners->end = reading.own_src ? TDC_COMM_SRC : TDC_COMM_DST;
    } else if (reading.dst) {
        partners->end = reading.own_dst ? TDC_COMM_DST : TDC_COMM_SRC;
    } else if (closer && reading.by_place && named != TDC_COMM_LINK) {
        add(partners, reading.place);
        partners->end = reading.place == rank ? named : tdc_comm_opposite(named);
    }
}

void tdc_call_partners_free(struct tdc_call_partners *partners)
{
    free(partners->ranks);
    *partners = (struct tdc_call_partners){0};
}
