/* trace_judge.c - which side is off: the call computed again from each side's own inputs. */
#include <stdio.h>
#include <string.h>

#include "host/analysis/trace/trace_origins.h"
#include "host/precheck/run/measure.h"

/* One side is farther from the truth only when it is that many times as far. */
#define CLEARLY 4.0
/* Elements that are added at a time. */
#define BLOCK ((size_t)4096)

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

static enum trace_verdict compare(const struct tdc_measure *npu, const struct tdc_measure *bench)
{
    bool npu_wrong = npu->status == TDC_CHECK_ERROR, bench_wrong = bench->status == TDC_CHECK_ERROR;
    if (npu_wrong != bench_wrong)
        return npu_wrong ? TRACE_NPU_OFF : TRACE_BENCH_OFF;
    if (!npu_wrong)
        return TRACE_ROUNDING;
    if (npu->ulp > CLEARLY * bench->ulp)
        return TRACE_NPU_OFF;
    return bench->ulp > CLEARLY * npu->ulp ? TRACE_BENCH_OFF : TRACE_BOTH_OFF;
}

/* Which side is nearer to what the call makes of its own inputs. */
static void find_nearer(struct trace_origin *origin, const struct tdc_measured_output *npu,
                        const struct tdc_measured_output *bench)
{
    struct tdc_third_sums total = {0};
    if (npu->values == NULL || npu->truth == NULL || bench->values == NULL ||
        bench->truth == NULL || npu->count != bench->count || npu->count == 0)
        return;
    for (size_t at = 0; at < npu->count; at += BLOCK) {
        struct tdc_third_sums block = {0};
        const struct tdc_third_side a = {npu->values + at, npu->truth + at,
                                         tdc_grain_of(npu->dtype)};
        const struct tdc_third_side b = {bench->values + at, bench->truth + at,
                                         tdc_grain_of(bench->dtype)};
        tdc_third_add(&block, &a, &b, npu->count - at < BLOCK ? npu->count - at : BLOCK);
        tdc_third_merge(&total, &block);
    }
    tdc_third_settle(&total, &origin->truth);
    origin->truth_is = TRACE_TRUTH_REFERENCE;
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
    if (origin->truth_is == TRACE_NO_TRUTH)
        find_nearer(origin, &npu.output, &bench.output);
    if (npu.status == TDC_CHECK_SKIP || bench.status == TDC_CHECK_SKIP) {
        origin->verdict = TRACE_NO_REFERENCE;
        const char *kept =
            trace_keep(trace, npu.status == TDC_CHECK_SKIP ? npu.reason : bench.reason);
        origin->reason = kept != NULL ? kept : "";
    } else {
        origin->verdict = compare(&npu, &bench);
    }
    tdc_measure_free(&npu);
    tdc_measure_free(&bench);
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
    bool npu = origin->verdict == TRACE_NPU_OFF;
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
    case TRACE_BOTH_OFF:
        tdc_text_addf(out, "both are off: test %.3g ULP, ref %.3g ULP from the float64 result",
                      origin->npu_ulp, origin->bench_ulp);
        break;
    case TRACE_ROUNDING:
        tdc_text_addf(out, "both within what rounding explains (test %.3g ULP, ref %.3g ULP): %s",
                      origin->npu_ulp > 0 ? origin->npu_ulp : 0.0,
                      origin->bench_ulp > 0 ? origin->bench_ulp : 0.0,
                      origin->input_distance == 0 ? "of equal inputs"
                                                  : "amplified by the condition of the inputs");
        break;
    }
}

void trace_add_nearer(struct tdc_text *out, const struct trace_origin *origin)
{
    const struct tdc_third_row *row = &origin->truth;
    if (origin->truth_is == TRACE_NO_TRUTH)
        return;
    tdc_text_addf(
        out, "nearer the truth, %s: %s; rmse_a %.3g (noise %.3g), rmse_b %.3g (noise %.3g); ",
        origin->truth_is == TRACE_TRUTH_RUN ? "the third run" : "the call in float64",
        tdc_nearer_text(row->nearer), row->rmse_a, row->noise_a, row->rmse_b, row->noise_b);
    tdc_text_addf(out, "of %llu elements A is nearer in %llu, B in %llu",
                  (unsigned long long)row->elements, (unsigned long long)row->a_nearer,
                  (unsigned long long)row->b_nearer);
}
