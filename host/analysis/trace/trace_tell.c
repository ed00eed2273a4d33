/* trace_tell.c - a trace for a person to read. */
#include <math.h>
#include <string.h>

#include "host/analysis/trace/trace_origins.h"

/* Characters of a strip, and what they stand for: a relative distance of 1e-8 and below, ... */
#define STRIP_WIDTH 64
#define MOST_STRIPS 8 /* the JSON has all */
static const char shades[] = " .:-=+*#%@";

static void add_place(struct tdc_text *out, const struct tdc_trace *trace, size_t number)
{
    const struct tdc_task *task = trace->tasks[number].task;
    if (trace->task_count < 2)
        return;
    if (task->step[0] != '\0')
        tdc_text_addf(out, "%s ", task->step);
    tdc_text_addf(out, "%s ", task->rank[0] != '\0' ? task->rank : task->npu);
}

static const char *what_to_do(const struct trace_origin *origin)
{
    switch (origin->kind) {
    case TDC_ORIGIN_OPERATOR:
        return "its inputs agree and its output does not";
    case TDC_ORIGIN_ENTRY:
        return "no recorded call has produced it: compare weights, data and what is not recorded";
    case TDC_ORIGIN_ARGUMENT:
        return "an argument that is no tensor differs";
    case TDC_ORIGIN_RANDOM:
        return "a random operator, not an error: fix the seed on both sides; what follows is not "
               "comparable";
    case TDC_ORIGIN_NONE:
        break;
    }
    return "";
}

static void tell_origin(struct tdc_text *out, const struct tdc_trace *trace,
                        const struct trace_origin *origin)
{
    add_place(out, trace, origin->task);
    tdc_text_addf(out, "%s\n    %s: %s\n", origin->row, tdc_origin_text(origin->kind),
                  what_to_do(origin));
    /* checksums have no distance, and neither has NaN */
    bool measured = origin->kind != TDC_ORIGIN_ARGUMENT && isfinite(origin->distance);
    if (measured)
        tdc_text_addf(out, "    relative distance %.3g, worst element %.3g of the largest",
                      origin->distance, origin->element);
    if (measured && origin->kind == TDC_ORIGIN_OPERATOR)
        tdc_text_addf(out, " (inputs %.3g)", origin->input_distance);
    if (measured)
        tdc_text_addc(out, '\n');
    if (origin->worst[0] != '\0')
        tdc_text_addf(out, "    %s\n", origin->worst);
    if (origin->verdict != TRACE_NOT_JUDGED) {
        tdc_text_adds(out, "    judge: ");
        trace_add_verdict(out, origin);
        tdc_text_addc(out, '\n');
    }
    if (origin->module != NULL)
        tdc_text_addf(out, "    in %s\n", origin->module);
    if (origin->stack != NULL)
        tdc_text_addf(out, "    %s\n", origin->stack);
}

static void tell_abnormal(struct tdc_text *out, const struct tdc_trace *trace)
{
    static const char *const sides[] = {"test", "ref"};
    for (size_t i = 0; i < trace->task_count; i++)
        for (int side = 0; side < 2; side++) {
            const struct trace_abnormal *abnormal = &trace->tasks[i].abnormal[side];
            if (abnormal->call == NULL)
                continue;
            tdc_text_adds(out, "first NaN or infinity: ");
            add_place(out, trace, i);
            tdc_text_addf(out, "%s, %s %s\n", sides[side],
                          abnormal->made ? "made by" : "comes in with the inputs of",
                          abnormal->call);
        }
}

static char shade_of(double distance)
{
    if (!(distance > 0))
        return shades[0];
    /* a shade for each decade: 1e-8 and below, ..., 1 and above */
    double decade = floor(log10(distance)) + 9;
    return shades[decade < 1 ? 1 : decade > 9 ? 9 : (int)decade];
}

static bool tell_growth(struct tdc_text *out, const struct tdc_trace *trace, size_t number)
{
    const struct trace_task *task = &trace->tasks[number];
    char strip[STRIP_WIDTH + 1];
    size_t width = task->growth_count < STRIP_WIDTH ? task->growth_count : STRIP_WIDTH;
    bool any = false;
    for (size_t i = 0; i < width; i++) {
        size_t from = i * task->growth_count / width, to = (i + 1) * task->growth_count / width;
        double largest = 0;
        for (size_t k = from; k < to; k++)
            largest = fmax(largest, task->growth[k].distance);
        strip[i] = shade_of(largest);
        any |= largest > 0;
    }
    strip[width] = '\0';
    if (!any)
        return false;
    tdc_text_adds(out, "growth ");
    add_place(out, trace, number);
    tdc_text_addf(out, "[%s] %zu calls in order\n", strip, task->growth_count);
    return true;
}

void trace_tell(struct tdc_trace *trace, size_t top)
{
    struct tdc_text *out = &trace->text;
    size_t own = trace->origin_count - trace->arrived, sure = 0;
    while (sure < own && !trace->origins[sure].consequence)
        sure++;
    if (own == 0)
        tdc_text_adds(out, "no origin: no call differs more than its inputs explain\n");
    else
        tdc_text_adds(out, "first origin: ");
    for (size_t i = 0; i < sure && i < top; i++)
        tell_origin(out, trace, &trace->origins[i]);
    if (sure == 0 && own != 0)
        tell_origin(out, trace, &trace->origins[0]);
    if (sure > top)
        tdc_text_addf(out, "%zu more origins (--top %zu shows them)\n", sure - top, sure);
    if (own > sure)
        tdc_text_addf(out, "%zu further calls may be consequences, which statistics cannot tell\n",
                      own - sure);
    if (trace->arrived != 0)
        tdc_text_addf(
            out, "%zu communication calls brought differences from other ranks (consequences)\n",
            trace->arrived);
    tell_abnormal(out, trace);
    uint64_t different = 0, rows = 0;
    bool strips = false;
    for (size_t i = 0; i < trace->task_count; i++) {
        different += trace->tasks[i].different;
        rows += trace->tasks[i].rows;
        if (i < MOST_STRIPS && tell_growth(out, trace, i))
            strips = true;
    }
    if (strips)
        tdc_text_adds(out,
                      "       a character for the largest relative distance: '.' below 1e-7, then "
                      "a decade each up to '@' from 1\n");
    tdc_text_addf(out, "%llu of %llu rows are different\n", (unsigned long long)different,
                  (unsigned long long)rows);
    if (trace->tasks[0].mode != TDC_MODE_TENSOR)
        tdc_text_addf(out, "the dumps hold %s: %s\n",
                      trace->tasks[0].mode == TDC_MODE_DIGEST ? "checksums" : "statistics",
                      trace->tasks[0].mode == TDC_MODE_DIGEST
                          ? "equal or not is all they tell; no judge, no distances"
                          : "distances are lower bounds; no judge, no worst element");
}
