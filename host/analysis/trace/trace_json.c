/* trace_json.c - a trace for programs. */
#include <string.h>

#include "host/analysis/trace/trace_origins.h"
#include "io/text/json_write.h"

static void put_name(struct tdc_text *out, int depth, bool first, const char *name)
{
    tdc_text_adds(out, first ? "" : ",");
    tdc_json_put_line(out, 2, depth);
    tdc_text_addf(out, "\"%s\": ", name);
}

static void put_text(struct tdc_text *out, int depth, bool first, const char *name,
                     const char *text)
{
    put_name(out, depth, first, name);
    if (text != NULL)
        tdc_json_put_text(out, text, strlen(text));
    else
        tdc_text_adds(out, "null");
}

static void put_number(struct tdc_text *out, int depth, const char *name, double number)
{
    put_name(out, depth, false, name);
    tdc_json_put_float(out, number);
}

static void put_truth(struct tdc_text *out, int depth, const char *name, bool truth)
{
    put_name(out, depth, false, name);
    tdc_text_adds(out, truth ? "true" : "false");
}

static void put_origin(struct tdc_text *out, const struct tdc_trace *trace,
                       const struct trace_origin *origin)
{
    static const char *const verdicts[] = {
        [TRACE_NOT_JUDGED] = "not judged",        [TRACE_NO_REFERENCE] = "no reference",
        [TRACE_NPU_OFF] = "test is off",          [TRACE_BENCH_OFF] = "ref is off",
        [TRACE_BOTH_OFF] = "both are off",        [TRACE_NPU_FARTHER] = "test is farther",
        [TRACE_BENCH_FARTHER] = "ref is farther", [TRACE_ROUNDING] = "rounding"};
    const struct tdc_task *task = trace->tasks[origin->task].task;
    tdc_text_addc(out, '{');
    put_text(out, 3, true, "row", origin->row);
    put_text(out, 3, false, "call", origin->call);
    put_text(out, 3, false, "kind", tdc_origin_text(origin->kind));
    put_text(out, 3, false, "step", task->step);
    put_text(out, 3, false, "rank", task->rank);
    put_truth(out, 3, "backward", origin->backward);
    put_truth(out, 3, "may_be_consequence", origin->consequence);
    put_truth(out, 3, "from_another_rank", origin->arrived);
    put_number(out, 3, "distance", origin->distance);
    put_number(out, 3, "worst", origin->element);
    put_number(out, 3, "input_distance", origin->input_distance);
    put_text(out, 3, false, "worst_element", origin->worst);
    put_text(out, 3, false, "module", origin->module);
    put_text(out, 3, false, "stack", origin->stack);
    put_text(out, 3, false, "judge", verdicts[origin->verdict]);
    put_text(out, 3, false, "judge_reason", origin->reason);
    put_name(out, 3, false, "npu_ulp");
    if (origin->npu_ulp >= 0)
        tdc_json_put_float(out, origin->npu_ulp);
    else
        tdc_text_adds(out, "null");
    put_name(out, 3, false, "bench_ulp");
    if (origin->bench_ulp >= 0)
        tdc_json_put_float(out, origin->bench_ulp);
    else
        tdc_text_adds(out, "null");
    tdc_json_put_line(out, 2, 2);
    tdc_text_addc(out, '}');
}

static void put_abnormal(struct tdc_text *out, const char *name,
                         const struct trace_abnormal *abnormal)
{
    put_name(out, 3, false, name);
    if (abnormal->call == NULL) {
        tdc_text_adds(out, "null");
        return;
    }
    tdc_text_addc(out, '{');
    put_text(out, 4, true, "call", abnormal->call);
    put_truth(out, 4, "made", abnormal->made);
    tdc_json_put_line(out, 2, 3);
    tdc_text_addc(out, '}');
}

static void put_task(struct tdc_text *out, const struct trace_task *task)
{
    static const char *const modes[] = {[TDC_MODE_TENSOR] = "tensor",
                                        [TDC_MODE_STATISTICS] = "statistics",
                                        [TDC_MODE_DIGEST] = "md5"};
    tdc_text_addc(out, '{');
    put_text(out, 3, true, "npu", task->task->npu);
    put_text(out, 3, false, "bench", task->task->bench);
    put_text(out, 3, false, "step", task->task->step);
    put_text(out, 3, false, "rank", task->task->rank);
    put_text(out, 3, false, "mode", modes[task->mode]);
    put_name(out, 3, false, "rows");
    tdc_text_addf(out, "%llu", (unsigned long long)task->rows);
    put_name(out, 3, false, "different");
    tdc_text_addf(out, "%llu", (unsigned long long)task->different);
    put_abnormal(out, "npu_first_nan", &task->abnormal[0]);
    put_abnormal(out, "bench_first_nan", &task->abnormal[1]);
    put_name(out, 3, false, "growth");
    tdc_text_addc(out, '[');
    for (size_t i = 0; i < task->growth_count; i++) {
        const struct trace_growth *growth = &task->growth[i];
        tdc_text_adds(out, i != 0 ? "," : "");
        tdc_json_put_line(out, 2, 4);
        tdc_text_addc(out, '[');
        tdc_json_put_text(out, growth->call, strlen(growth->call));
        tdc_text_adds(out, ", ");
        tdc_json_put_float(out, growth->distance);
        tdc_text_addc(out, ']');
    }
    if (task->growth_count != 0)
        tdc_json_put_line(out, 2, 3);
    tdc_text_addc(out, ']');
    tdc_json_put_line(out, 2, 2);
    tdc_text_addc(out, '}');
}

void trace_put_json(struct tdc_trace *trace)
{
    struct tdc_text *out = &trace->json;
    tdc_text_addc(out, '{');
    put_name(out, 1, true, "origins");
    tdc_text_addc(out, '[');
    for (size_t i = 0; i < trace->origin_count; i++) {
        tdc_text_adds(out, i != 0 ? "," : "");
        tdc_json_put_line(out, 2, 2);
        put_origin(out, trace, &trace->origins[i]);
    }
    if (trace->origin_count != 0)
        tdc_json_put_line(out, 2, 1);
    tdc_text_addc(out, ']');
    put_name(out, 1, false, "dumps");
    tdc_text_addc(out, '[');
    for (size_t i = 0; i < trace->task_count; i++) {
        tdc_text_adds(out, i != 0 ? "," : "");
        tdc_json_put_line(out, 2, 2);
        put_task(out, &trace->tasks[i]);
    }
    tdc_json_put_line(out, 2, 1);
    tdc_text_adds(out, "]\n}\n");
}
