/* sound.c - the rule set for careful engineers, and what its three modes share. */
#include "host/judge/sound/sound.h"

#include <math.h>
#include <string.h>

#include "host/judge/sound/level.h"

/* A conversion that converts nothing has no backward call of its own: the collector writes another
 * one under its name, and the two sides need not fit. */
static void without_partner(const struct tdc_case *row_case, struct tdc_row *row,
                            struct tdc_text *message)
{
    row->row_class = row_case->scene.unjudged ? TDC_ROW_SHOWN : TDC_ROW_UNMATCHED;
    if (row_case->scene.unjudged)
        tdc_sound_say(row, message, TDC_REASON_NOT_JUDGED);
}

/* Tensors without a dump.json are told in the words of logical tensors (host/align/row.c), which
 * name the sides as the columns do: a checkpoint in parts and one in a file have one text. */
static void say_structure(const struct tdc_case *row_case, struct tdc_row *row,
                          struct tdc_text *message, enum tdc_reason reason)
{
    const struct tdc_dump *dump = row_case->match->npu; /* NULL: tensors in memory */
    if (dump == NULL || dump->kind != TDC_TENSORS_BY_NAME)
        tdc_sound_say(row, message, reason);
    else
        tdc_sound_say_text(row, message, reason,
                           reason == TDC_REASON_NO_TEST  ? "No NPU data matched."
                           : reason == TDC_REASON_NO_REF ? "No bench data matched."
                                                         : "Shape of NPU and bench Tensor do not "
                                                           "match. Skipped.");
}

bool tdc_sound_structure(const struct tdc_case *row_case, struct tdc_row *row,
                         struct tdc_text *message)
{
    const struct tdc_record *npu = row_case->npu, *bench = row_case->bench;
    if (npu == NULL || bench == NULL) {
        say_structure(row_case, row, message, npu == NULL ? TDC_REASON_NO_TEST : TDC_REASON_NO_REF);
        without_partner(row_case, row, message);
        return true;
    }
    if (strcmp(npu->requires_grad, bench->requires_grad) != 0)
        tdc_sound_say(row, message, TDC_REASON_REQUIRES_GRAD);
    if (npu->scalar != bench->scalar || !tdc_shapes_agree(npu, bench)) {
        say_structure(row_case, row, message, TDC_REASON_SHAPE);
        without_partner(row_case, row, message);
        return true;
    }
    if (strcmp(npu->dtype, bench->dtype) != 0)
        tdc_sound_say(row, message, TDC_REASON_DTYPE);
    if (row_case->match->fuzzy && strcmp(npu->name, bench->name) != 0)
        tdc_sound_say(row, message, TDC_REASON_FUZZY);
    return false;
}

bool tdc_stat_same(const struct tdc_record *npu, const struct tdc_record *bench,
                   enum tdc_statistic which)
{
    double difference;
    if (tdc_stat_difference(npu, bench, which, &difference))
        return difference == 0;
    if (npu->stat_kinds[which] != bench->stat_kinds[which])
        return false;
    return npu->stat_kinds[which] != TDC_STAT_TEXT ||
           strcmp(npu->stats[which].text, bench->stats[which].text) == 0;
}

/* Constants that stand for "masked": of one sign, large, and one of them the largest of its type.
 */
static bool both_fill(double x, double y)
{
    const double large = 32768, huge = 1e38;
    return (x > 0) == (y > 0) && fabs(x) > large && fabs(y) > large &&
           (fabs(x) > huge || fabs(y) > huge);
}

/* Numbers that are not integers on both sides: results are judged as tensors of one element,
 * arguments must agree but for their own rounding. */
static void judge_number(const struct tdc_case *row_case, double x, double y, struct tdc_row *row,
                         struct tdc_text *message)
{
    double u = tdc_unit_roundoff(row_case->scene.precision);
    row->r = row->s = isnan(x) || isnan(y) ? HUGE_VAL : tdc_ratio(fabs(x - y), fabs(y));
    if (tdc_state_is_output(row_case->npu->state)) {
        struct tdc_measure measure = {.r = row->r,
                                      .s = row->s,
                                      .n_rms = fabs(x),
                                      .b_rms = fabs(y),
                                      .d_rms = (double)NAN,
                                      .b_max = y,
                                      .b_min = y,
                                      .n_min = x};
        tdc_level_judge(&row_case->scene, &measure, row, message);
    } else if (both_fill(x, y) || fabs(x - y) <= 2 * u * fabs(y)) {
        row->row_class = TDC_ROW_ROUNDING;
    } else {
        tdc_sound_say(row, message, TDC_REASON_ARGUMENT);
    }
}

void tdc_sound_scalar(const struct tdc_case *row_case, struct tdc_row *row,
                      struct tdc_text *message)
{
    const struct tdc_record *npu = row_case->npu, *bench = row_case->bench;
    row->row_class = TDC_ROW_IDENTICAL;
    if (tdc_stat_same(npu, bench, TDC_MAX))
        return;
    row->r = row->s = HUGE_VAL;
    row->row_class = TDC_ROW_DIFFERENT;
    double x, y;
    bool numbers = tdc_stat_number(npu, TDC_MAX, &x) && tdc_stat_number(bench, TDC_MAX, &y);
    bool floats = numbers && npu->stat_kinds[TDC_MAX] == TDC_STAT_FLOAT &&
                  bench->stat_kinds[TDC_MAX] == TDC_STAT_FLOAT;
    bool texts =
        npu->stat_kinds[TDC_MAX] == TDC_STAT_TEXT && bench->stat_kinds[TDC_MAX] == TDC_STAT_TEXT;
    if (floats) {
        judge_number(row_case, x, y, row, message);
    } else if (texts) {
        /* they differ for good reasons (device names, paths, types): worth a word, no verdict */
        tdc_sound_say(row, message, TDC_REASON_ARGUMENT_TEXT);
        row->row_class = TDC_ROW_SHOWN;
        row->r = row->s = 0;
    } else {
        tdc_sound_say(row, message, TDC_REASON_ARGUMENT);
    }
}

void tdc_sound_finish(const struct tdc_case *row_case, struct tdc_row *row,
                      struct tdc_text *message)
{
    if (row->row_class != TDC_ROW_ROUNDING && row->row_class != TDC_ROW_CLOSE &&
        row->row_class != TDC_ROW_DIFFERENT)
        return;
    /* what enters a run should be the same to the bit; a conversion explains itself */
    bool same_type = strcmp(row_case->npu->dtype, row_case->bench->dtype) == 0;
    if (row_case->scene.enters && same_type && !row->excused) {
        row->enters = true;
        tdc_sound_say(row, message,
                      row_case->npu->state == TDC_STATE_PARAMETERS ? TDC_REASON_PARAMETER
                                                                   : TDC_REASON_RUN_INPUT);
    }
}

const char *tdc_level_text(tdc_row_class level)
{
    switch (level) {
    case TDC_ROW_SHOWN:
        return "not judged";
    case TDC_ROW_SAME:
        return "same";
    case TDC_ROW_IDENTICAL:
        return "identical";
    case TDC_ROW_ROUNDING:
        return "rounding";
    case TDC_ROW_CLOSE:
        return "close";
    case TDC_ROW_DIFFERENT:
        return "different";
    case TDC_ROW_UNMATCHED:
        return "unmatched";
    case TDC_ROW_ERROR:
        return "error";
    case TDC_ROW_IGNORED:
        return "ignored";
    case TDC_ROW_ALLOWED:
        return "allowed";
    case TDC_ROW_NONE:
    case TDC_ROW_CLASSES:
        break;
    }
    return "no data";
}

static const char *verdict_text(const struct tdc_row *row)
{
    return tdc_level_text((tdc_row_class)row->row_class);
}

const struct tdc_rules tdc_rules_sound = {
    .name = "sound",
    .match = {.list_bench_only = true},
    .relative = TDC_RELATIVE_F64,
    .files = TDC_FILES_OF_ITS_OWN,
    .extended = true,
    .judge_tensor = tdc_sound_tensor,
    .judge_statistics = tdc_sound_statistics,
    .judge_digest = tdc_sound_digest,
    .highlight = &tdc_highlight_sound,
    .verdict_text = verdict_text,
};
