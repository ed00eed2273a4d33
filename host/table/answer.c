/* answer.c - the counts of a table, and what they say on the whole. */
#include "host/judge/user_rules/user_rules.h"
#include "host/table/table.h"
#include "io/base/sized.h"

size_t tdc_table_tolerances(const tdc_table *table)
{
    return table->user_rules != NULL ? tdc_user_rules_count(table->user_rules) : 0;
}

void tdc_table_tolerance(const tdc_table *table, size_t index, struct tdc_tolerance_use *use)
{
    *use = (struct tdc_tolerance_use){.what = "", .text = ""};
    if (index < tdc_table_tolerances(table))
        tdc_user_rules_tell(table->user_rules, index, &use->what, &use->text, &use->rows,
                            &use->failed);
}

size_t tdc_table_origins(const tdc_table *table)
{
    return tdc_origins_count(table->origins);
}

const struct tdc_origin *tdc_table_origin(const tdc_table *table, size_t index)
{
    return tdc_origins_get(table->origins, index);
}

static bool judged(tdc_row_class class)
{
    return (class >= TDC_ROW_SAME && class <= TDC_ROW_DIFFERENT) || class == TDC_ROW_ALLOWED;
}

/* The entry of a row; sides tell entries of equal number apart. */
static uint64_t entry_of(const struct tdc_table *table, const struct tdc_row *row)
{
    const struct tdc_record *npu = tdc_row_npu(table, row);
    return npu != NULL ? npu->entry : (UINT64_C(1) << 32) + tdc_row_bench(table, row)->entry;
}

static void count_row(const struct tdc_table *table, const struct tdc_row *row,
                      struct tdc_summary *summary)
{
    const struct tdc_record *npu = tdc_row_npu(table, row);
    const struct tdc_record *record = npu != NULL ? npu : tdc_row_bench(table, row);
    summary->classes[row->row_class]++;
    summary->coloured[row->colour]++;
    summary->tensors += !record->scalar && judged((tdc_row_class)row->row_class);
    summary->no_data +=
        !record->scalar && row->row_class == TDC_ROW_NONE && !tdc_shape_is_empty(record->shape);
    summary->entering += row->enters;
    summary->different_arguments += record->scalar && row->row_class == TDC_ROW_DIFFERENT;
}

void tdc_table_count(const tdc_table *table, struct tdc_summary *summary)
{
    *summary = (struct tdc_summary){.rows = table->row_count};
    uint64_t entry = UINT64_MAX;
    bool counted = false; /* the call, as one that differs */
    for (size_t i = 0; i < table->row_count; i++) {
        const struct tdc_row *row = &table->rows[i];
        count_row(table, row, summary);
        if (entry_of(table, row) != entry) {
            entry = entry_of(table, row);
            summary->calls++;
            counted = false;
        }
        if (!counted && (row->row_class == TDC_ROW_DIFFERENT || row->origin != TDC_ORIGIN_NONE)) {
            summary->different_calls++;
            counted = true;
        }
    }
    summary->origins = tdc_table_origins(table);
}

void tdc_table_summary(const tdc_table *table, struct tdc_summary *summary, size_t size)
{
    struct tdc_summary whole;
    tdc_table_count(table, &whole);
    whole.bytes = table->bytes;
    whole.seconds = table->seconds;
    tdc_sized_give(summary, size, &whole, sizeof whole);
}

static uint64_t judged_rows(const struct tdc_summary *summary)
{
    uint64_t rows = 0;
    for (int i = 0; i < TDC_ROW_CLASSES; i++)
        rows += judged((tdc_row_class)i) ? summary->classes[i] : 0;
    return rows;
}

static bool compared(const struct tdc_summary *summary)
{
    return judged_rows(summary) != 0 && (summary->tensors != 0 || summary->no_data == 0);
}

bool tdc_table_compared(const tdc_table *table)
{
    struct tdc_summary summary;
    tdc_table_count(table, &summary);
    return compared(&summary);
}

tdc_answer tdc_summary_answer(const struct tdc_summary *summary, bool allow_unmatched)
{
    if (summary->classes[TDC_ROW_DIFFERENT] != 0 || summary->origins != 0)
        return TDC_ANSWER_DIFFERENT;
    if (summary->classes[TDC_ROW_UNMATCHED] != 0 && !allow_unmatched)
        return TDC_ANSWER_UNMATCHED;
    if (!compared(summary))
        return TDC_ANSWER_NONE;
    if (summary->classes[TDC_ROW_CLOSE] != 0)
        return TDC_ANSWER_CLOSE;
    bool moved = summary->classes[TDC_ROW_ROUNDING] != 0 || summary->classes[TDC_ROW_SAME] != 0 ||
                 summary->classes[TDC_ROW_ALLOWED] != 0;
    return moved ? TDC_ANSWER_SAME : TDC_ANSWER_IDENTICAL;
}

const char *tdc_answer_text(tdc_answer answer)
{
    static const char *const texts[] = {
        [TDC_ANSWER_NONE] = "NOTHING COMPARED",
        [TDC_ANSWER_IDENTICAL] = "IDENTICAL",
        [TDC_ANSWER_SAME] = "SAME",
        [TDC_ANSWER_CLOSE] = "CLOSE",
        [TDC_ANSWER_UNMATCHED] = "UNMATCHED",
        [TDC_ANSWER_DIFFERENT] = "DIFFERENT",
    };
    return texts[answer];
}
