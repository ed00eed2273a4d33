/* trace_judge.c - which side is off: the call computed again from each side's own inputs. */
#include <stdio.h>
#include <string.h>

#include "host/analysis/trace/trace_origins.h"
#include "host/precheck/run/measure.h"

/* One side is farther from the truth only when it is that many times as far. */
#define CLEARLY 4.0
/* ULP from which on a result within its bound is worth a word. */
#define FAR 2.0

/* The two dumps of a task, read once for all origins in it. */
struct court {
    const struct tdc_options *options;
    size_t task;
    tdc_precheck *sides[2]; /* NULL: could not be read */
    struct tdc_error errors[2];
};

static void close_court(struct court *court)
{
    tdc_precheck_free(court->sides[0]);
    tdc_precheck_free(court->sides[1]);
    court->sides[0] = court->sides[1] = NULL;
}

static void open_court(struct court *court, const struct tdc_trace *trace, size_t task)
{
    const struct tdc_task *dumps = trace->tasks[task].task;
    const char *paths[] = {dumps->npu, dumps->bench};
    if (court->task == task)
        return;
    close_court(court);
    court->task = task;
    for (int side = 0; side < 2; side++) {
        struct tdc_precheck_options how;
        tdc_precheck_options_init(&how, sizeof how, TDC_PROFILE_EXTENDED);
        how.tested = TDC_TESTED_RECORDED;
        how.threads = court->options->threads;
        if (tdc_precheck_open(paths[side], &how, &court->sides[side], &court->errors[side]) !=
            TDC_OK)
            court->sides[side] = NULL;
    }
}

static void measure(struct court *court, int side, const char *row, struct tdc_measure *measure)
{
    *measure = (struct tdc_measure){.status = TDC_CHECK_SKIP, .ulp = -1};
    if (court->sides[side] != NULL)
        tdc_precheck_measure(court->sides[side], row, measure);
    else
        snprintf(measure->reason, sizeof measure->reason, "%.200s", court->errors[side].message);
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

static void judge(struct tdc_trace *trace, struct trace_origin *origin, struct court *court)
{
    const struct trace_task *task = &trace->tasks[origin->task];
    struct tdc_measure npu, bench;
    if (task->mode != TDC_MODE_TENSOR) {
        origin->verdict = TRACE_NO_REFERENCE;
        origin->reason = "the dumps hold no tensors to compute it from";
        return;
    }
    open_court(court, trace, origin->task);
    measure(court, 0, origin->row, &npu);
    measure(court, 1, origin->row, &bench);
    origin->npu_ulp = npu.ulp;
    origin->bench_ulp = bench.ulp;
    if (npu.status == TDC_CHECK_SKIP || bench.status == TDC_CHECK_SKIP) {
        origin->verdict = TRACE_NO_REFERENCE;
        const char *kept =
            trace_keep(trace, npu.status == TDC_CHECK_SKIP ? npu.reason : bench.reason);
        origin->reason = kept != NULL ? kept : "";
        return;
    }
    origin->verdict = compare(&npu, &bench, origin->input_distance == 0);
}

void trace_judge(struct tdc_trace *trace, const struct tdc_options *options)
{
    struct court court = {.options = options, .task = SIZE_MAX};
    for (size_t i = 0; i < trace->origin_count && i < trace->top; i++)
        if (trace->origins[i].kind == TDC_ORIGIN_OPERATOR && !trace->origins[i].arrived &&
            !trace->origins[i].repeated)
            judge(trace, &trace->origins[i], &court);
    close_court(&court);
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
