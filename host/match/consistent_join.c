/* consistent_join.c - records of one side that face one of the other, as one record. */
#include <string.h>

#include "host/match/consistent.h"
#include "io/text/pytext.h"

#define TEXT_LIMIT ((size_t)1 << 24)

static const char *put(struct tdc_arena *arena, const struct tdc_text *text)
{
    return text->failed ? NULL : tdc_arena_text(arena, tdc_text_get(text), text->length);
}

/* A statistic as it is read back from the text of the list: numbers are floats. */
static void read_back(struct tdc_record *record, int which)
{
    double number;
    if (record->stat_kinds[which] == TDC_STAT_TRUE || record->stat_kinds[which] == TDC_STAT_FALSE) {
        record->stats[which].text = record->stat_kinds[which] == TDC_STAT_TRUE ? "True" : "False";
        record->stat_kinds[which] = TDC_STAT_TEXT;
    } else if (record->stat_kinds[which] == TDC_STAT_BIG_INTEGER &&
               tdc_float_parse(record->stats[which].text, strlen(record->stats[which].text),
                               &number)) {
        record->stats[which].number = number;
        record->stat_kinds[which] = TDC_STAT_FLOAT;
    } else if (record->stat_kinds[which] == TDC_STAT_INTEGER) {
        record->stat_kinds[which] = TDC_STAT_FLOAT;
    }
}

static void add_stat(struct tdc_text *text, const struct tdc_record *record, int which)
{
    char digits[TDC_FLOAT_TEXT];
    if (record->stat_kinds[which] == TDC_STAT_FLOAT)
        tdc_text_add(text, digits, tdc_float_repr(record->stats[which].number, digits));
    else
        tdc_text_adds(text, strcmp(record->stats[which].text, "Nan") == 0
                                ? "nan"
                                : record->stats[which].text);
}

/* The larger maximum or the smaller minimum; what is no number counts only without one. */
static void merge_extreme(struct tdc_record *into, const struct tdc_record *next, int which)
{
    bool ours = into->stat_kinds[which] == TDC_STAT_FLOAT;
    bool theirs = next->stat_kinds[which] == TDC_STAT_FLOAT;
    double x = ours ? into->stats[which].number : 0, y = theirs ? next->stats[which].number : 0;
    if (theirs && (!ours || (which == TDC_MAX ? y > x : y < x))) {
        into->stat_kinds[which] = TDC_STAT_FLOAT;
        into->stats[which].number = y;
    } else if (!ours && !theirs) {
        into->stat_kinds[which] = TDC_STAT_TEXT;
        into->stats[which].text = "None";
    }
}

bool tdc_consistent_join(struct tdc_arena *arena, const char *separator,
                         const struct tdc_dump *dump, const uint32_t *numbers, size_t count,
                         struct tdc_record *joined)
{
    struct tdc_text texts[6]; /* name, dtype, shape, data name, mean, norm */
    *joined = dump->records[numbers[0]];
    for (int i = 0; i < TDC_STATISTICS; i++)
        read_back(joined, i);
    if (count == 1)
        return true;
    for (int i = 0; i < 6; i++)
        tdc_text_init(&texts[i], TEXT_LIMIT);
    for (size_t k = 0; k < count; k++) {
        struct tdc_record next = dump->records[numbers[k]];
        for (int i = 0; i < TDC_STATISTICS; i++)
            read_back(&next, i);
        const char *parts[4] = {next.name, next.no_dtype ? "N/A" : next.dtype,
                                next.no_shape ? "N/A" : next.shape, next.data_name};
        for (int i = 0; i < 4; i++) {
            tdc_text_adds(&texts[i], k == 0 ? "" : i == 0 ? separator : ";");
            tdc_text_adds(&texts[i], parts[i]);
        }
        for (int i = 0; i < 2; i++) {
            tdc_text_adds(&texts[4 + i], k == 0 ? "" : ";");
            add_stat(&texts[4 + i], &next, TDC_MEAN + i);
        }
        merge_extreme(joined, &next, TDC_MAX);
        merge_extreme(joined, &next, TDC_MIN);
    }
    const char *made[6];
    bool ok = true;
    for (int i = 0; i < 6; i++) {
        made[i] = put(arena, &texts[i]);
        ok &= made[i] != NULL;
        tdc_text_free(&texts[i]);
    }
    joined->name = made[0];
    joined->dtype = made[1];
    joined->shape = made[2];
    joined->data_name = made[3];
    joined->no_dtype = joined->no_shape = false;
    for (int i = 0; i < 2 && ok; i++) {
        joined->stat_kinds[TDC_MEAN + i] = TDC_STAT_TEXT;
        joined->stats[TDC_MEAN + i].text = made[4 + i];
    }
    return ok;
}
