/* table_json_head.c - what stands around the rows of a JSON result. */
#include "host/judge/precision.h"
#include "host/table/table_json.h"

void tdc_object_schema(struct tdc_json_object *object, const char *schema)
{
    tdc_object_text(object, "schema", schema);
    tdc_object_text(object, "version", tdc_version());
}

void tdc_object_side(struct tdc_json_object *object, const char *name, const struct tdc_dump *dump)
{
    struct tdc_json_object side;
    tdc_object_key(object, name);
    tdc_object_begin(&side, object->out);
    tdc_object_text(&side, "dump", dump->path);
    tdc_object_text(&side, "data", dump->data_folder);
    tdc_object_text(&side, "framework", tdc_dump_detected_framework(dump));
    tdc_object_text(&side, "task", dump->task);
    tdc_object_text(&side, "level", dump->level);
    tdc_object_whole(&side, "calls", dump->entry_count);
    tdc_object_whole(&side, "records", dump->record_count);
    tdc_object_end(&side);
}

static void add_given(struct tdc_json_object *tolerance, const struct tdc_tolerance *given)
{
    tdc_object_text(tolerance, "by", "given");
    if (given->elements) {
        tdc_object_number(tolerance, "atol", given->atol);
        tdc_object_number(tolerance, "rtol", given->rtol);
    }
    if (given->use_cosine)
        tdc_object_number(tolerance, "cosine", given->cosine);
}

void tdc_object_tolerance(struct tdc_json_object *object, const struct tdc_tolerance *given)
{
    struct tdc_json_object tolerance;
    tdc_object_key(object, "tolerance");
    tdc_object_begin(&tolerance, object->out);
    if (given != NULL && (given->elements || given->use_cosine)) {
        add_given(&tolerance, given);
        tdc_object_end(&tolerance);
        return;
    }
    tdc_object_text(&tolerance, "by", "precision");
    tdc_object_key(&tolerance, "limits");
    for (int i = 0; i < TDC_PRECISIONS; i++) {
        for (int gradient = 0; gradient < 2; gradient++) {
            struct tdc_json_object limit;
            struct tdc_level_limits limits = tdc_level_limits((enum tdc_precision)i, gradient != 0);
            tdc_text_adds(object->out, i == 0 && gradient == 0 ? "[" : ", ");
            tdc_object_begin(&limit, object->out);
            tdc_object_text(&limit, "precision", tdc_precision_name((enum tdc_precision)i));
            tdc_object_truth(&limit, "gradient", gradient != 0);
            tdc_object_number(&limit, "rounding", limits.rounding);
            tdc_object_number(&limit, "close", limits.close);
            tdc_object_number(&limit, "worst_element_times", TDC_WORST_TIMES);
            tdc_object_end(&limit);
        }
    }
    tdc_text_addc(object->out, ']');
    tdc_object_end(&tolerance);
}

static const char *mode_name(tdc_mode mode)
{
    return mode == TDC_MODE_TENSOR       ? "tensor"
           : mode == TDC_MODE_STATISTICS ? "statistics"
           : mode == TDC_MODE_DIGEST     ? "md5"
                                         : NULL;
}

void tdc_table_json_head(const struct tdc_table *table, struct tdc_json_object *object)
{
    tdc_object_schema(object, TDC_COMPARE_SCHEMA);
    tdc_object_key(object, "command");
    tdc_text_adds(object->out, table->command);
    tdc_object_text(object, "folder", table->folder);
    tdc_object_text(object, "rules", table->rules->name);
    tdc_object_text(object, "mode", mode_name(table->mode));
    tdc_object_text(object, "matched_by", tdc_match_method(table->match));
    tdc_object_side(object, "test", table->match->npu);
    tdc_object_side(object, "ref", table->match->bench);
    tdc_object_text(object, "stack", table->stack_path);
    tdc_object_tolerance(object, &table->tolerance);
}

/* ---- behind the rows ------------------------------------------------------------------------- */

static void add_counts(const struct tdc_summary *summary, struct tdc_json_object *object)
{
    static const struct {
        tdc_row_class row_class;
        const char *name;
    } levels[] = {
        {TDC_ROW_IDENTICAL, "identical"}, {TDC_ROW_ROUNDING, "rounding"},
        {TDC_ROW_CLOSE, "close"},         {TDC_ROW_DIFFERENT, "different"},
        {TDC_ROW_UNMATCHED, "unmatched"}, {TDC_ROW_ERROR, "error"},
        {TDC_ROW_NONE, "no_data"},        {TDC_ROW_SHOWN, "not_judged"},
    };
    struct tdc_json_object counts;
    tdc_object_key(object, "counts");
    tdc_object_begin(&counts, object->out);
    tdc_object_whole(&counts, "rows", summary->rows);
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
        tdc_object_whole(&counts, levels[i].name, summary->classes[levels[i].row_class]);
    tdc_object_whole(&counts, "tensors", summary->tensors);
    tdc_object_whole(&counts, "calls", summary->calls);
    tdc_object_whole(&counts, "different_calls", summary->different_calls);
    tdc_object_whole(&counts, "origins", summary->origins);
    tdc_object_whole(&counts, "entering_not_identical", summary->entering);
    tdc_object_end(&counts);
}

static void add_origin(const struct tdc_table *table, size_t index, struct tdc_text *out)
{
    const struct tdc_origin *origin = tdc_table_origin(table, index);
    const struct tdc_row *row = &table->rows[origin->row];
    const struct tdc_record *npu = tdc_row_npu(table, row);
    struct tdc_json_object object;
    if (index != 0)
        tdc_text_adds(out, ", ");
    tdc_object_begin(&object, out);
    tdc_object_whole(&object, "row", origin->row);
    tdc_object_whole(&object, "sheet_row", tdc_sheet_row(origin->row));
    tdc_object_text(&object, "call", tdc_table_call(table, origin->row));
    tdc_object_text(&object, "name", npu != NULL ? npu->name : tdc_row_bench(table, row)->name);
    tdc_object_text(&object, "kind", tdc_origin_text(origin->kind));
    tdc_object_text(&object, "direction", origin->backward ? "backward" : "forward");
    tdc_object_text(&object, "verdict", table->rules->verdict_text(row));
    tdc_object_truth(&object, "may_be_consequence", origin->consequence);
    tdc_object_number(&object, "relative_distance", origin->distance);
    tdc_object_number(&object, "worst_to_largest", origin->worst);
    tdc_object_number(&object, "input_relative_distance", origin->input_distance);
    tdc_object_number(&object, "input_worst_to_largest", origin->input_worst);
    tdc_object_whole(&object, "explains", origin->explains);
    tdc_object_end(&object);
}

static const char *answer_word(tdc_answer answer)
{
    static const char *const words[] = {
        [TDC_ANSWER_NONE] = "nothing compared",
        [TDC_ANSWER_IDENTICAL] = "identical",
        [TDC_ANSWER_SAME] = "same",
        [TDC_ANSWER_CLOSE] = "close",
        [TDC_ANSWER_UNMATCHED] = "unmatched",
        [TDC_ANSWER_DIFFERENT] = "different",
    };
    return words[answer];
}

void tdc_table_json_tail(const struct tdc_table *table, struct tdc_json_object *object)
{
    struct tdc_summary summary;
    tdc_table_count(table, &summary);
    tdc_object_text(object, "answer",
                    answer_word(tdc_summary_answer(&summary, table->allow_unmatched)));
    add_counts(&summary, object);
    tdc_object_key(object, "origins");
    tdc_text_addc(object->out, '[');
    for (size_t i = 0; i < tdc_table_origins(table); i++)
        add_origin(table, i, object->out);
    tdc_text_addc(object->out, ']');
}
