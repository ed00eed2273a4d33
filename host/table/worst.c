/* worst.c - the number that condemns a row, in one short text for the terminal. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "host/judge/element_text.h"
#include "host/table/table.h"

static void add_element(struct tdc_text *out, uint8_t dtype, const struct tdc_element *element)
{
    double number;
    if (tdc_element_number((tdc_dtype)dtype, element, &number, out))
        tdc_text_addf(out, "%.6g", number);
}

/* An argument that is not a tensor: its two values. */
static void add_scalar(const struct tdc_record *record, struct tdc_text *out)
{
    double number;
    if (tdc_stat_number(record, TDC_MAX, &number))
        tdc_text_addf(out, "%.6g", number);
    else if (record->stat_kinds[TDC_MAX] == TDC_STAT_TEXT)
        tdc_text_addf(out, "%.60s", record->stats[TDC_MAX].text);
    else
        tdc_text_adds(out, record->stat_kinds[TDC_MAX] == TDC_STAT_TRUE ? "True" : "False");
}

/* "1 NaN", "2 NaN and 1 Inf"; "" for none. */
static void add_nonfinite(struct tdc_text *out, uint64_t nan, uint64_t inf)
{
    if (nan != 0)
        tdc_text_addf(out, "%" PRIu64 " NaN", nan);
    if (inf != 0)
        tdc_text_addf(out, "%s%" PRIu64 " Inf", nan != 0 ? " and " : "", inf);
}

/* "1 NaN of 64, first at [0, 1]: nan against 0.5" */
static void add_apart(const struct tdc_table *table, const struct tdc_row *row,
                      const struct tdc_extra *extra, struct tdc_text *out)
{
    bool in_test = extra->n_nan + extra->n_inf != 0, in_ref = extra->b_nan + extra->b_inf != 0;
    if (in_test)
        add_nonfinite(out, extra->n_nan, extra->n_inf);
    else
        tdc_text_adds(out, "ref has ");
    if (in_test && in_ref)
        tdc_text_adds(out, " (ref ");
    if (in_ref)
        add_nonfinite(out, extra->b_nan, extra->b_inf);
    if (in_test && in_ref)
        tdc_text_addc(out, ')');
    tdc_text_addf(out, " of %" PRIu64 ", first%s at ", extra->elements,
                  in_test && in_ref ? " apart" : "");
    tdc_index_text(out, tdc_row_npu(table, row)->shape, extra->apart_at);
    tdc_text_adds(out, ": ");
    add_element(out, extra->n_dtype, &extra->apart_n);
    tdc_text_adds(out, " against ");
    add_element(out, extra->b_dtype, &extra->apart_b);
}

static void add_tensor(struct tdc_table *table, size_t index, struct tdc_text *out)
{
    const struct tdc_row *row = &table->rows[index];
    const struct tdc_extra *extra = table->extras != NULL ? &table->extras[index] : NULL;
    if (row->values[TDC_MAX_ABS].form != TDC_HOLDS_NUMBER) {
        tdc_text_adds(out, row->message);
        return;
    }
    if (extra != NULL && extra->apart) {
        add_apart(table, row, extra, out);
        return;
    }
    if (row->values[TDC_COSINE].form == TDC_HOLDS_NUMBER)
        tdc_text_addf(out, "cosine %.6g, ", row->values[TDC_COSINE].number);
    tdc_text_addf(out, "max abs err %.4g", row->values[TDC_MAX_ABS].number);
    if (extra != NULL && extra->located) {
        tdc_text_adds(out, " at ");
        tdc_index_text(out, tdc_row_npu(table, row)->shape, extra->abs_at);
        tdc_text_adds(out, ": ");
        add_element(out, extra->n_dtype, &extra->abs_n);
        tdc_text_adds(out, " against ");
        add_element(out, extra->b_dtype, &extra->abs_b);
    }
}

static void add_statistics(struct tdc_table *table, const struct tdc_row *row, struct tdc_text *out)
{
    static const char *const names[] = {"max", "min", "mean", "l2norm"};
    int worst = -1;
    for (int i = 0; i < TDC_STATISTICS; i++) {
        struct tdc_value value = row->values[TDC_RELATIVE + i];
        if (value.form == TDC_HOLDS_PERCENT &&
            (worst < 0 || value.number > row->values[TDC_RELATIVE + worst].number))
            worst = i;
    }
    const struct tdc_record *npu = tdc_row_npu(table, row), *bench = tdc_row_bench(table, row);
    double x, y;
    if (worst < 0 || !tdc_stat_number(npu, (enum tdc_statistic)worst, &x) ||
        !tdc_stat_number(bench, (enum tdc_statistic)worst, &y))
        tdc_text_adds(out, row->message);
    else
        tdc_text_addf(out, "%s off by %.4g%%: %.6g against %.6g", names[worst],
                      row->values[TDC_RELATIVE + worst].number, x, y);
}

const char *tdc_table_worst(tdc_table *table, size_t row)
{
    struct tdc_text *out = &table->worst;
    const struct tdc_row *held = &table->rows[row];
    const struct tdc_record *npu = tdc_row_npu(table, held), *bench = tdc_row_bench(table, held);
    tdc_text_clear(out);
    if (npu == NULL || bench == NULL || held->row_class == TDC_ROW_ERROR ||
        held->row_class == TDC_ROW_UNMATCHED) {
        return held->message;
    } else if (npu->scalar) {
        tdc_text_adds(out, "argument ");
        add_scalar(npu, out);
        tdc_text_adds(out, " against ");
        add_scalar(bench, out);
    } else if (table->mode == TDC_MODE_TENSOR) {
        add_tensor(table, row, out);
    } else if (table->mode == TDC_MODE_STATISTICS) {
        add_statistics(table, held, out);
    } else {
        tdc_text_addf(out, "%s against %s", npu->digest, bench->digest);
    }
    return tdc_text_get(out);
}
