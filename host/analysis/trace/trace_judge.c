/* trace_judge.c - which side is off: the call computed again from each side's own inputs. */
#include <stdio.h>
#include <string.h>

#include "host/analysis/trace/trace_origins.h"
#include "host/precheck/run/measure.h"

/* One side is farther from the truth only when it is that many times as far. */
#define CLEARLY 4.0
/* ULP from which on a result within its bound is worth a word. */
#define FAR 2.0

static const char *keep(struct tdc_trace *trace, const char *text)
{
    const char *kept = tdc_arena_text(&trace->arena, text, strlen(text));
    return kept != NULL ? kept : "";
}

static void measure(const char *dump, const char *row, struct tdc_measure *measure,
                    const struct tdc_options *options)
{
    struct tdc_precheck_options how;
    tdc_precheck_options_init(&how, sizeof how, TDC_PROFILE_EXTENDED);
    how.tested = TDC_TESTED_RECORDED;
    how.threads = options->threads;
    tdc_precheck *precheck = NULL;
    struct tdc_error error = {0};
    *measure = (struct tdc_measure){.status = TDC_CHECK_SKIP, .ulp = -1};
    if (tdc_precheck_open(dump, &how, &precheck, &error) == TDC_OK)
        tdc_precheck_measure(precheck, row, measure);
    else
        snprintf(measure->reason, sizeof measure->reason, "%.200s", error.message);
    tdc_precheck_free(precheck);
}

/* `same`: the inputs of the sides are equal, so that nothing but the call makes the difference. */
static enum trace_verdict compare(const struct tdc_measure *npu, const struct tdc_measure *bench,
                                  bool same)
{
    bool npu_wrong = npu->status == TDC_CHECK_ERROR, bench_wrong = bench->status == TDC_CHECK_ERROR;
    if (npu_wrong != bench_wrong)
        return npu_wrong ? TRACE_NPU_OFF : TRACE_BENCH_OFF;
    if (!npu_wrong) {
        if (same && npu->ulp > FAR && npu->ulp > CLEARLY * bench->ulp)
            return TRACE_NPU_FARTHER;
        return same && bench->ulp > FAR && bench->ulp > CLEARLY * npu->ulp ? TRACE_BENCH_FARTHER
                                                                           : TRACE_ROUNDING;
    }
    if (npu->ulp > CLEARLY * bench->ulp)
        return TRACE_NPU_OFF;
    return bench->ulp > CLEARLY * npu->ulp ? TRACE_BENCH_OFF : TRACE_BOTH_OFF;
}

static void judge(struct tdc_trace *trace, struct trace_origin *origin,
                  const struct tdc_options *options)
{
    const struct trace_task *task = &trace->tasks[origin->task];
    struct tdc_measure npu, bench;
    if (task->mode != TDC_MODE_TENSOR) {
        origin->verdict = TRACE_NO_REFERENCE;
        origin->reason = "the dumps hold no tensors to compute it from";
        return;
    }
    measure(task->task->npu, origin->row, &npu, options);
    measure(task->task->bench, origin->row, &bench, options);
    origin->npu_ulp = npu.ulp;
    origin->bench_ulp = bench.ulp;
    if (npu.status == TDC_CHECK_SKIP || bench.status == TDC_CHECK_SKIP) {
        origin->verdict = TRACE_NO_REFERENCE;
        origin->reason = keep(trace, npu.status == TDC_CHECK_SKIP ? npu.reason : bench.reason);
        return;
    }
    origin->verdict = compare(&npu, &bench, origin->input_distance == 0);
}

void trace_judge(struct tdc_trace *trace, size_t top, const struct tdc_options *options)
{
    for (size_t i = 0; i < trace->origin_count && i < top; i++)
        if (trace->origins[i].kind == TDC_ORIGIN_OPERATOR && !trace->origins[i].arrived)
            judge(trace, &trace->origins[i], options);
}

void trace_add_verdict(struct tdc_text *out, const struct trace_origin *origin)
{
    bool npu = origin->verdict == TRACE_NPU_OFF || origin->verdict == TRACE_NPU_FARTHER;
    const char *side = npu ? "test" : "ref", *other = npu ? "ref" : "test";
    double off = npu ? origin->npu_ulp : origin->bench_ulp;
    double near = npu ? origin->bench_ulp : origin->npu_ulp;
    switch (origin->verdict) {
    case TRACE_NOT_JUDGED:
        break;
    case TRACE_NO_REFERENCE:
        tdc_text_addf(out, "no reference: %s", origin->reason);
        break;
    case TRACE_NPU_OFF:
    case TRACE_BENCH_OFF:
        tdc_text_addf(out, "%s is off", side);
        if (off >= 0)
            tdc_text_addf(out, ": %.3g ULP from the float64 result, %s %.3g ULP", off, other,
                          near > 0 ? near : 0.0);
        break;
    case TRACE_NPU_FARTHER:
    case TRACE_BENCH_FARTHER:
        tdc_text_addf(out,
                      "%s is farther, though within what rounding explains: %.3g ULP from the "
                      "float64 result, %s %.3g ULP, of equal inputs",
                      side, off, other, near > 0 ? near : 0.0);
        break;
    case TRACE_BOTH_OFF:
        tdc_text_addf(out, "both are off: test %.3g ULP, ref %.3g ULP from the float64 result",
                      origin->npu_ulp, origin->bench_ulp);
        break;
    case TRACE_ROUNDING:
        tdc_text_addf(out,
                      "both within what rounding explains (test %.3g ULP, ref %.3g ULP): "
                      "amplified by the condition of the inputs",
                      origin->npu_ulp > 0 ? origin->npu_ulp : 0.0,
                      origin->bench_ulp > 0 ? origin->bench_ulp : 0.0);
        break;
    }
}
