/*
 * sound_absent.c - rows whose data is missing, on one side or on both.
 *
 * What neither side has is not compared; what one side alone has is never "the same".
 */
#include <stdio.h>
#include <string.h>

#include "host/judge/sound/sound.h"

void tdc_sound_no_file(const struct tdc_case *row_case, struct tdc_row *row,
                       struct tdc_text *message)
{
    bool npu = strcmp(row_case->n_file, "-1") == 0, bench = strcmp(row_case->b_file, "-1") == 0;
    if (npu && bench) {
        tdc_sound_say(row, message, TDC_REASON_NO_TEST_FILE);
        tdc_sound_say(row, message, TDC_REASON_NO_REF_FILE);
    } else {
        tdc_sound_say(row, message, npu ? TDC_REASON_NO_TEST_FILE : TDC_REASON_NO_REF_FILE);
        row->row_class = TDC_ROW_ERROR;
    }
}

void tdc_sound_empty(const struct tdc_case *row_case, const struct tdc_outcome *outcome,
                     struct tdc_row *row, struct tdc_text *message)
{
    char text[256];
    if (outcome->b_count != 0) {
        snprintf(text, sizeof text, "The test file has no elements, the ref file %llu.",
                 (unsigned long long)outcome->b_count);
        tdc_sound_say_text(row, message, TDC_REASON_EMPTY_FILE, text);
        row->row_class = TDC_ROW_ERROR;
    } else if (!tdc_shape_is_empty(row_case->npu->shape)) {
        snprintf(text, sizeof text, "The files have no elements, the dump says %.200s.",
                 row_case->npu->shape);
        tdc_sound_say_text(row, message, TDC_REASON_EMPTY_FILE, text);
        row->row_class = TDC_ROW_ERROR;
    } else {
        tdc_sound_say(row, message, TDC_REASON_EMPTY);
    }
}

/* The collector could not tell the statistic. */
static bool is_none(const struct tdc_record *record, int which)
{
    return record->stat_kinds[which] == TDC_STAT_TEXT &&
           strcmp(record->stats[which].text, "None") == 0;
}

bool tdc_sound_left_out(const struct tdc_record *record, int which)
{
    return (which == TDC_MEAN || which == TDC_NORM) && is_none(record, TDC_MEAN) &&
           is_none(record, TDC_NORM);
}

bool tdc_sound_no_statistics(const struct tdc_case *row_case, struct tdc_row *row,
                             struct tdc_text *message)
{
    const struct tdc_record *npu = row_case->npu, *bench = row_case->bench;
    int npu_none = 0, bench_none = 0, apart = 0;
    for (int i = 0; i < TDC_STATISTICS; i++) {
        double number;
        bool x = tdc_stat_number(npu, (enum tdc_statistic)i, &number);
        bool y = tdc_stat_number(bench, (enum tdc_statistic)i, &number);
        npu_none += is_none(npu, i);
        bench_none += is_none(bench, i);
        /* a number against a text that is not "Nan" */
        const struct tdc_record *other = x ? bench : npu;
        apart +=
            x != y && !tdc_sound_left_out(other, i) &&
            !(other->stat_kinds[i] == TDC_STAT_TEXT && strcmp(other->stats[i].text, "Nan") == 0);
    }
    if (npu->scalar)
        return false;
    if (npu_none == TDC_STATISTICS && bench_none == TDC_STATISTICS) {
        tdc_sound_say(row, message,
                      tdc_shape_is_empty(npu->shape) ? TDC_REASON_EMPTY : TDC_REASON_NO_STATISTICS);
        row->row_class = TDC_ROW_NONE;
        return true;
    }
    bool one_side = (npu_none == TDC_STATISTICS) != (bench_none == TDC_STATISTICS);
    if (apart == 0 && !one_side)
        return false;
    tdc_sound_say(row, message, TDC_REASON_ONE_SIDED_STATISTICS);
    row->row_class = TDC_ROW_DIFFERENT;
    return true;
}

bool tdc_sound_no_digest(const struct tdc_case *row_case, struct tdc_row *row,
                         struct tdc_text *message)
{
    if (row_case->npu->scalar || row_case->npu->digest_given || row_case->bench->digest_given)
        return false;
    tdc_sound_say(row, message, TDC_REASON_NO_DIGEST);
    row->row_class = TDC_ROW_NONE;
    return true;
}
