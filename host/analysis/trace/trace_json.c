/* trace_json.c - a trace for programs: docs/schema/tdcmp.trace-1.json. */
#include <math.h>
#include <string.h>

#include "host/analysis/trace/trace_origins.h"
#include "host/table/table_json.h"
#include "io/table/json_object.h"

#define TRACE_SCHEMA "tdcmp.trace/1"

static const char *direction(bool backward)
{
    return backward ? "backward" : "forward";
}

static void put_texts(struct tdc_json_object *object, const char *name, const char *const *texts,
                      size_t count)
{
    tdc_object_key(object, name);
    tdc_text_addc(object->out, '[');
    for (size_t i = 0; i < count; i++) {
        tdc_text_adds(object->out, i != 0 ? ", " : "");
        tdc_json_add_string(object->out, texts[i], strlen(texts[i]));
    }
    tdc_text_addc(object->out, ']');
}

/* An element of a list of objects, which has a line of its own. */
static void begin_item(struct tdc_json_object *item, struct tdc_text *out, size_t index)
{
    tdc_text_adds(out, index != 0 ? ",\n" : "\n");
    tdc_object_begin(item, out);
}

/* ---- origins --------------------------------------------------------------------------------- */

static void put_ulp(struct tdc_json_object *object, const char *name, double ulp)
{
    if (ulp >= 0 || isnan(ulp))
        tdc_object_number(object, name, ulp);
    else
        tdc_object_null(object, name);
}

static void put_judge(struct tdc_json_object *object, const struct trace_origin *origin)
{
    static const char *const verdicts[] = {
        [TRACE_NOT_JUDGED] = "not judged", [TRACE_NO_REFERENCE] = "no reference",
        [TRACE_NPU_OFF] = "test is off",   [TRACE_BENCH_OFF] = "ref is off",
        [TRACE_BOTH_OFF] = "both are off", [TRACE_ROUNDING] = "rounding"};
    tdc_object_text(object, "judge", verdicts[origin->verdict]);
    tdc_object_text(object, "judge_reason", origin->reason);
    put_ulp(object, "test_ulp", origin->npu_ulp);
    put_ulp(object, "ref_ulp", origin->bench_ulp);
}

/* The columns of a truth by their names, which begin with that of the row. */
static void put_truth(struct tdc_json_object *object, const struct trace_origin *origin)
{
    static const char *const sources[] = {
        [TRACE_TRUTH_REFERENCE] = "reference", [TRACE_TRUTH_RUN] = "run"};
    struct tdc_cell cells[TDC_TRUTH_COLUMNS];
    bool known = origin->truth_is != TRACE_NO_TRUTH;
    tdc_object_text(object, "truth", known ? sources[origin->truth_is] : NULL);
    tdc_truth_cells(origin->row, &origin->truth, cells);
    for (size_t i = 1; i < TDC_TRUTH_COLUMNS; i++) {
        const char *name = tdc_truth_columns[i];
        if (!known)
            tdc_object_null(object, name);
        else if (cells[i].kind == TDC_CELL_NUMBER)
            tdc_object_number(object, name, cells[i].number);
        else
            tdc_object_text(object, name, cells[i].text);
    }
}

static void put_origin(struct tdc_text *out, const struct tdc_trace *trace, size_t index)
{
    const struct trace_origin *origin = &trace->origins[index];
    const struct tdc_task *task = trace->tasks[origin->task].task;
    struct tdc_json_object object;
    begin_item(&object, out, index);
    tdc_object_text(&object, "name", origin->row);
    tdc_object_text(&object, "call", origin->call);
    tdc_object_text(&object, "kind", tdc_origin_text(origin->kind));
    tdc_object_text(&object, "direction", direction(origin->backward));
    tdc_object_text(&object, "step", task->step);
    tdc_object_text(&object, "rank", task->rank);
    tdc_object_whole(&object, "dump", origin->task);
    tdc_object_whole(&object, "time", origin->time.event / 2);
    tdc_object_truth(&object, "may_be_consequence", origin->consequence);
    tdc_object_truth(&object, "from_another_rank", origin->arrived);
    tdc_object_truth(&object, "repeats_another_rank", origin->repeated);
    if (origin->cause != TRACE_NO_ORIGIN)
        tdc_object_whole(&object, "cause", origin->cause);
    else
        tdc_object_null(&object, "cause");
    tdc_object_whole(&object, "explains", origin->explains);
    tdc_object_whole(&object, "reaches_ranks", origin->ranks);
    tdc_object_whole(&object, "alike_ranks", origin->alike);
    tdc_object_number(&object, "relative_distance", origin->distance);
    tdc_object_number(&object, "worst_to_largest", origin->element);
    tdc_object_number(&object, "input_relative_distance", origin->input_distance);
    tdc_object_text(&object, "worst_element", origin->worst);
    put_texts(&object, "modules", origin->modules, origin->module_count);
    put_texts(&object, "stack", origin->stack, origin->stack_count);
    put_judge(&object, origin);
    put_truth(&object, origin);
    tdc_object_end(&object);
}

/* ---- dumps ----------------------------------------------------------------------------------- */

static void put_abnormal(struct tdc_json_object *object, const char *name,
                         const struct trace_abnormal *abnormal)
{
    struct tdc_json_object value;
    if (abnormal->call == NULL) {
        tdc_object_null(object, name);
        return;
    }
    tdc_object_key(object, name);
    tdc_object_begin(&value, object->out);
    tdc_object_text(&value, "call", abnormal->call);
    tdc_object_truth(&value, "made", abnormal->made);
    tdc_object_end(&value);
}

static void put_growth(struct tdc_json_object *object, const struct trace_task *task)
{
    struct tdc_json_object item;
    tdc_object_key(object, "layers");
    tdc_text_addc(object->out, '[');
    for (size_t i = 0; i < task->layer_count; i++) {
        const struct trace_layer *layer = &task->layers[i];
        begin_item(&item, object->out, i);
        tdc_object_text(&item, "layer", layer->name);
        tdc_object_text(&item, "direction", direction(layer->backward));
        tdc_object_whole(&item, "calls", layer->calls);
        tdc_object_number(&item, "relative_distance", layer->distance);
        tdc_object_end(&item);
    }
    tdc_text_addc(object->out, ']');
    tdc_object_key(object, "calls");
    tdc_text_addc(object->out, '[');
    for (size_t i = 0; i < task->growth_count; i++) {
        const struct trace_growth *growth = &task->growth[i];
        begin_item(&item, object->out, i);
        tdc_object_text(&item, "call", growth->call);
        tdc_object_text(&item, "layer", growth->layer);
        tdc_object_text(&item, "direction", direction(growth->backward));
        tdc_object_number(&item, "relative_distance", growth->distance);
        tdc_object_end(&item);
    }
    tdc_text_addc(object->out, ']');
}

static void put_task(struct tdc_text *out, const struct trace_task *task, size_t index)
{
    static const char *const modes[] = {[TDC_MODE_TENSOR] = "tensor",
                                        [TDC_MODE_STATISTICS] = "statistics",
                                        [TDC_MODE_DIGEST] = "md5"};
    struct tdc_json_object object;
    begin_item(&object, out, index);
    tdc_text_addf(out, "%s, %s", task->sides[0], task->sides[1]);
    object.begun = true;
    tdc_object_text(&object, "step", task->task->step);
    tdc_object_text(&object, "rank", task->task->rank);
    tdc_object_text(&object, "mode", modes[task->mode]);
    tdc_object_whole(&object, "rows", task->rows);
    tdc_object_whole(&object, "different", task->different);
    tdc_object_whole(&object, "unmatched", task->unmatched);
    tdc_object_whole(&object, "unread", task->unread);
    tdc_object_whole(&object, "communications", task->exchange_count);
    put_abnormal(&object, "test_first_nan", &task->abnormal[0]);
    put_abnormal(&object, "ref_first_nan", &task->abnormal[1]);
    put_growth(&object, task);
    tdc_object_end(&object);
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* The folder that the dumps of a side have in common, or the one dump itself. */
static void put_side(struct tdc_json_object *object, const struct tdc_trace *trace,
                     const char *name, bool bench)
{
    const char *first = bench ? trace->tasks[0].task->bench : trace->tasks[0].task->npu;
    size_t length = strlen(first);
    for (size_t i = 1; i < trace->task_count; i++) {
        const char *path = bench ? trace->tasks[i].task->bench : trace->tasks[i].task->npu;
        size_t same = 0;
        while (same < length && path[same] == first[same])
            same++;
        length = same;
    }
    while (trace->task_count > 1 && length > 1 && first[length - 1] != '/')
        length--;
    tdc_object_key(object, name);
    tdc_text_adds(object->out, "{\"dump\": ");
    tdc_json_add_string(object->out, first, length);
    tdc_text_addc(object->out, '}');
}

void trace_put_json(struct tdc_trace *trace)
{
    struct tdc_text *out = &trace->json;
    struct tdc_json_object object;
    tdc_object_begin(&object, out);
    tdc_object_schema(&object, TRACE_SCHEMA);
    tdc_object_key(&object, "command");
    tdc_text_adds(out, trace->command);
    tdc_object_text(&object, "folder", trace->folder);
    tdc_object_text(&object, "rules", "sound");
    put_side(&object, trace, "test", false);
    put_side(&object, trace, "ref", true);
    tdc_object_whole(&object, "left_out", trace->left_out);
    tdc_object_key(&object, "origins");
    tdc_text_addc(out, '[');
    for (size_t i = 0; i < trace->origin_count; i++)
        put_origin(out, trace, i);
    tdc_text_adds(out, "]");
    tdc_object_key(&object, "dumps");
    tdc_text_addc(out, '[');
    for (size_t i = 0; i < trace->task_count; i++)
        put_task(out, &trace->tasks[i], i);
    tdc_text_adds(out, "]");
    tdc_object_end(&object);
    tdc_text_addc(out, '\n');
}
