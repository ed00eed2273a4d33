/* trace_json.c - a trace for programs: docs/schema/trace.json. */
#include <math.h>
#include <string.h>

#include "host/analysis/trace/trace_origins.h"
#include "io/text/json_write.h"

#define INDENT 1

static void put_name(struct tdc_text *out, int depth, bool first, const char *name)
{
    tdc_text_adds(out, first ? "" : ",");
    tdc_json_put_line(out, INDENT, depth);
    tdc_text_addf(out, "\"%s\": ", name);
}

static void put_text_value(struct tdc_text *out, const char *text)
{
    if (text != NULL)
        tdc_json_put_text(out, text, strlen(text));
    else
        tdc_text_adds(out, "null");
}

static void put_text(struct tdc_text *out, int depth, bool first, const char *name,
                     const char *text)
{
    put_name(out, depth, first, name);
    put_text_value(out, text);
}

/* JSON has no word for what is not finite: null. */
static void put_number_value(struct tdc_text *out, double number)
{
    if (isfinite(number))
        tdc_json_put_float(out, number);
    else
        tdc_text_adds(out, "null");
}

static void put_number(struct tdc_text *out, int depth, const char *name, double number)
{
    put_name(out, depth, false, name);
    put_number_value(out, number);
}

static void put_count(struct tdc_text *out, int depth, const char *name, uint64_t count)
{
    put_name(out, depth, false, name);
    tdc_text_addf(out, "%llu", (unsigned long long)count);
}

static void put_truth(struct tdc_text *out, int depth, const char *name, bool truth)
{
    put_name(out, depth, false, name);
    tdc_text_adds(out, truth ? "true" : "false");
}

static void put_texts(struct tdc_text *out, int depth, const char *name, const char *const *texts,
                      size_t count)
{
    put_name(out, depth, false, name);
    tdc_text_addc(out, '[');
    for (size_t i = 0; i < count; i++) {
        tdc_text_adds(out, i != 0 ? ", " : "");
        put_text_value(out, texts[i]);
    }
    tdc_text_addc(out, ']');
}

/* ---- origins --------------------------------------------------------------------------------- */

static const char *direction(bool backward)
{
    return backward ? "backward" : "forward";
}

static void put_judge(struct tdc_text *out, const struct trace_origin *origin)
{
    static const char *const verdicts[] = {
        [TRACE_NOT_JUDGED] = "not judged",        [TRACE_NO_REFERENCE] = "no reference",
        [TRACE_NPU_OFF] = "test is off",          [TRACE_BENCH_OFF] = "ref is off",
        [TRACE_BOTH_OFF] = "both are off",        [TRACE_NPU_FARTHER] = "test is farther",
        [TRACE_BENCH_FARTHER] = "ref is farther", [TRACE_ROUNDING] = "rounding"};
    put_text(out, 3, false, "judge", verdicts[origin->verdict]);
    put_text(out, 3, false, "judge_reason", origin->reason);
    put_number(out, 3, "test_ulp", origin->npu_ulp >= 0 ? origin->npu_ulp : NAN);
    put_number(out, 3, "ref_ulp", origin->bench_ulp >= 0 ? origin->bench_ulp : NAN);
}

static void put_distances(struct tdc_text *out, const struct trace_origin *origin)
{
    const struct {
        const char *name;
        double value;
    } distances[] = {{"relative_distance", origin->distance},
                     {"worst_to_largest", origin->element},
                     {"input_relative_distance", origin->input_distance}};
    bool all = true;
    for (size_t i = 0; i < 3; i++) {
        put_number(out, 3, distances[i].name, distances[i].value);
        all &= isfinite(distances[i].value) != 0;
    }
    if (all)
        return;
    put_name(out, 3, false, "not_finite");
    bool first = true;
    for (size_t i = 0; i < 3; i++) {
        if (isfinite(distances[i].value))
            continue;
        tdc_text_addf(out, "%s\"%s\": \"%s\"", first ? "{" : ", ", distances[i].name,
                      isnan(distances[i].value) ? "NaN" : "Infinity");
        first = false;
    }
    tdc_text_addc(out, '}');
}

static void put_origin(struct tdc_text *out, const struct tdc_trace *trace,
                       const struct trace_origin *origin)
{
    const struct tdc_task *task = trace->tasks[origin->task].task;
    tdc_text_addc(out, '{');
    put_text(out, 3, true, "name", origin->row);
    put_text(out, 3, false, "call", origin->call);
    put_text(out, 3, false, "kind", tdc_origin_text(origin->kind));
    put_text(out, 3, false, "step", task->step);
    put_text(out, 3, false, "rank", task->rank);
    put_count(out, 3, "dump", origin->task);
    put_count(out, 3, "time", origin->time.event / 2);
    put_text(out, 3, false, "direction", direction(origin->backward));
    put_truth(out, 3, "may_be_consequence", origin->consequence);
    put_truth(out, 3, "from_another_rank", origin->arrived);
    put_name(out, 3, false, "cause");
    if (origin->cause != TRACE_NO_ORIGIN)
        tdc_text_addf(out, "%zu", origin->cause);
    else
        tdc_text_adds(out, "null");
    put_truth(out, 3, "repeats_another_rank", origin->repeated);
    put_count(out, 3, "explains", origin->explains);
    put_count(out, 3, "reaches_ranks", origin->ranks);
    put_count(out, 3, "alike_ranks", origin->alike);
    put_distances(out, origin);
    put_text(out, 3, false, "worst_element", origin->worst);
    put_texts(out, 3, "modules", origin->modules, origin->module_count);
    put_texts(out, 3, "stack", origin->stack, origin->stack_count);
    put_judge(out, origin);
    tdc_json_put_line(out, INDENT, 2);
    tdc_text_addc(out, '}');
}

/* ---- dumps ----------------------------------------------------------------------------------- */

static void put_abnormal(struct tdc_text *out, const char *name,
                         const struct trace_abnormal *abnormal)
{
    put_name(out, 3, false, name);
    if (abnormal->call == NULL) {
        tdc_text_adds(out, "null");
        return;
    }
    tdc_text_adds(out, "{\"call\": ");
    put_text_value(out, abnormal->call);
    tdc_text_addf(out, ", \"made\": %s}", abnormal->made ? "true" : "false");
}

static void put_layers(struct tdc_text *out, const struct trace_task *task)
{
    put_name(out, 3, false, "layers");
    tdc_text_addc(out, '[');
    for (size_t i = 0; i < task->layer_count; i++) {
        const struct trace_layer *layer = &task->layers[i];
        tdc_text_adds(out, i != 0 ? "," : "");
        tdc_json_put_line(out, INDENT, 4);
        tdc_text_adds(out, "{\"layer\": ");
        put_text_value(out, layer->name);
        tdc_text_addf(out, ", \"direction\": \"%s\", \"calls\": %zu, \"relative_distance\": ",
                      direction(layer->backward), layer->calls);
        put_number_value(out, layer->distance);
        tdc_text_addc(out, '}');
    }
    if (task->layer_count != 0)
        tdc_json_put_line(out, INDENT, 3);
    tdc_text_addc(out, ']');
}

static void put_calls(struct tdc_text *out, const struct trace_task *task)
{
    put_name(out, 3, false, "calls");
    tdc_text_addc(out, '[');
    for (size_t i = 0; i < task->growth_count; i++) {
        const struct trace_growth *growth = &task->growth[i];
        tdc_text_adds(out, i != 0 ? "," : "");
        tdc_json_put_line(out, INDENT, 4);
        tdc_text_adds(out, "{\"call\": ");
        put_text_value(out, growth->call);
        tdc_text_adds(out, ", \"layer\": ");
        put_text_value(out, growth->layer);
        tdc_text_addf(
            out, ", \"direction\": \"%s\", \"relative_distance\": ", direction(growth->backward));
        put_number_value(out, growth->distance);
        tdc_text_addc(out, '}');
    }
    if (task->growth_count != 0)
        tdc_json_put_line(out, INDENT, 3);
    tdc_text_addc(out, ']');
}

static void put_task(struct tdc_text *out, const struct trace_task *task)
{
    static const char *const modes[] = {[TDC_MODE_TENSOR] = "tensor",
                                        [TDC_MODE_STATISTICS] = "statistics",
                                        [TDC_MODE_DIGEST] = "md5"};
    tdc_text_addc(out, '{');
    put_text(out, 3, true, "test", task->task->npu);
    put_text(out, 3, false, "ref", task->task->bench);
    put_text(out, 3, false, "step", task->task->step);
    put_text(out, 3, false, "rank", task->task->rank);
    put_text(out, 3, false, "mode", modes[task->mode]);
    put_count(out, 3, "rows", task->rows);
    put_count(out, 3, "different", task->different);
    put_count(out, 3, "unmatched", task->unmatched);
    put_count(out, 3, "unread", task->unread);
    put_count(out, 3, "communications", task->exchange_count);
    put_abnormal(out, "test_first_nan", &task->abnormal[0]);
    put_abnormal(out, "ref_first_nan", &task->abnormal[1]);
    put_layers(out, task);
    put_calls(out, task);
    tdc_json_put_line(out, INDENT, 2);
    tdc_text_addc(out, '}');
}

/* The folder that the dumps of a side have in common, or the one dump itself. */
static void put_side(struct tdc_text *out, const struct tdc_trace *trace, const char *name,
                     bool bench)
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
    put_name(out, 1, false, name);
    tdc_text_adds(out, "{\"dump\": ");
    tdc_json_put_text(out, first, length);
    tdc_text_addc(out, '}');
}

void trace_put_json(struct tdc_trace *trace)
{
    struct tdc_text *out = &trace->json;
    tdc_text_addc(out, '{');
    put_text(out, 1, true, "schema", "tdcmp.trace/1");
    put_text(out, 1, false, "version", tdc_version());
    put_side(out, trace, "test", false);
    put_side(out, trace, "ref", true);
    put_text(out, 1, false, "rules", "sound");
    put_count(out, 1, "left_out", trace->left_out);
    put_name(out, 1, false, "origins");
    tdc_text_addc(out, '[');
    for (size_t i = 0; i < trace->origin_count; i++) {
        tdc_text_adds(out, i != 0 ? "," : "");
        tdc_json_put_line(out, INDENT, 2);
        put_origin(out, trace, &trace->origins[i]);
    }
    if (trace->origin_count != 0)
        tdc_json_put_line(out, INDENT, 1);
    tdc_text_addc(out, ']');
    put_name(out, 1, false, "dumps");
    tdc_text_addc(out, '[');
    for (size_t i = 0; i < trace->task_count; i++) {
        tdc_text_adds(out, i != 0 ? "," : "");
        tdc_json_put_line(out, INDENT, 2);
        put_task(out, &trace->tasks[i]);
    }
    tdc_json_put_line(out, INDENT, 1);
    tdc_text_adds(out, "]\n}\n");
}
