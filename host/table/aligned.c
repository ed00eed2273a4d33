#include "host/table/aligned.h"

#include <math.h>

#include "host/judge/reason.h"

/* ---- judging --------------------------------------------------------------------------------- */

static void set_statistic(struct tdc_record *record, enum tdc_statistic which, double number)
{
    if (!isfinite(number))
        return;
    record->stat_kinds[which] = TDC_STAT_FLOAT;
    record->stats[which].number = number;
}

/* What a dump of the whole tensor would say of it, as far as the pass has seen it. */
static void set_statistics(struct tdc_table *table, const struct tdc_row *row,
                           const struct tdc_outcome *outcome)
{
    struct tdc_alignment *alignment = table->match->alignment;
    const struct tdc_pair_sums *sums = &outcome->sums;
    struct tdc_record *n = &alignment->dumps[0].records[row->npu];
    struct tdc_record *b = &alignment->dumps[1].records[row->bench];
    double finite = (double)sums->finite;
    set_statistic(n, TDC_MAX, sums->n_max);
    set_statistic(n, TDC_MIN, sums->n_min);
    set_statistic(n, TDC_MEAN, sums->n / finite);
    set_statistic(n, TDC_NORM, outcome->norms.n);
    set_statistic(b, TDC_MAX, sums->b_max);
    set_statistic(b, TDC_MIN, sums->b_min);
    set_statistic(b, TDC_MEAN, sums->b / finite);
    set_statistic(b, TDC_NORM, outcome->norms.b);
}

bool tdc_aligned_judge(struct tdc_table *table, size_t row, const struct tdc_outcome *outcome,
                       struct tdc_text *message)
{
    const struct tdc_aligned_row *aligned = tdc_table_aligned(table, row);
    struct tdc_row *judged = &table->rows[row];
    if (aligned == NULL)
        return false;
    if (aligned->settled == 0) {
        if (outcome != NULL && outcome->code == TDC_OUTCOME_COMPARED && outcome->sums.finite != 0)
            set_statistics(table, judged, outcome);
        return false;
    }
    bool apart = aligned->settled == TDC_ROW_UNMATCHED && judged->npu != TDC_UNPAIRED &&
                 judged->bench != TDC_UNPAIRED;
    for (int i = 0; i < TDC_ROW_VALUES; i++)
        judged->values[i] = tdc_value_of(apart ? TDC_HOLDS_SHAPE : TDC_HOLDS_UNSUPPORTED);
    judged->row_class = aligned->settled;
    if (aligned->settled == TDC_ROW_UNMATCHED)
        judged->reasons |= UINT64_C(1) << (judged->npu == TDC_UNPAIRED     ? TDC_REASON_NO_TEST
                                           : judged->bench == TDC_UNPAIRED ? TDC_REASON_NO_REF
                                                                           : TDC_REASON_SHAPE);
    tdc_text_adds(message, aligned->text);
    return true;
}

static void add_line(struct tdc_text *message, const char *text)
{
    if (message->length != 0)
        tdc_text_addc(message, '\n');
    tdc_text_adds(message, text);
}

/* Both sides share a line. */
static bool add_finding(const struct tdc_logical *logical, const struct tdc_twin_finding *finding,
                        bool second, struct tdc_text *message)
{
    if (!finding->apart)
        return false;
    if (second)
        tdc_text_adds(message, "; ");
    else
        add_line(message, "");
    tdc_text_addf(message, "%c: replicas %s and %s differ, max abs err %.6g at [", logical->letter,
                  finding->where, finding->twin, finding->worst);
    for (unsigned d = 0; d < logical->dimensions; d++)
        tdc_text_addf(message, "%s%llu", d != 0 ? ", " : "", (unsigned long long)finding->at[d]);
    tdc_text_addc(message, ']');
    return true;
}

void tdc_aligned_finish(struct tdc_table *table, size_t row, const struct tdc_outcome *outcome,
                        struct tdc_text *message)
{
    const struct tdc_aligned_row *aligned = tdc_table_aligned(table, row);
    if (aligned == NULL || aligned->settled != 0)
        return;
    bool differ = outcome != NULL && outcome->code != TDC_OUTCOME_UNREADABLE &&
                  add_finding(aligned->sides[0], &outcome->n_twins, false, message);
    differ |= outcome != NULL && outcome->code != TDC_OUTCOME_UNREADABLE &&
              add_finding(aligned->sides[1], &outcome->b_twins, differ, message);
    if (differ)
        table->rows[row].row_class = TDC_ROW_ERROR;
    if (aligned->text != NULL)
        add_line(message, aligned->text);
}
