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
        /* inputs that differ a thousandth as much say nothing against the call being the first */
        return !(origin->input_distance > origin->distance / 1000)
                   ? "its inputs agree and its output does not"
                   : "its output differs more than its inputs explain";
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

/* Lines of libraries tell little: the innermost, and the first of the model's own. */
static void tell_stack(struct tdc_text *out, const struct trace_origin *origin)
{
    if (origin->stack_count == 0)
        return;
    tdc_text_addf(out, "    %s\n", origin->stack[0]);
    for (size_t i = 0; i < origin->stack_count; i++) {
        const char *line = origin->stack[i];
        if (strstr(line, "/site-packages/") != NULL || strstr(line, "/dist-packages/") != NULL)
            continue;
        if (i != 0)
            tdc_text_addf(out, "    called from %s\n", line);
        return;
    }
}

static void tell_origin(struct tdc_text *out, const struct tdc_trace *trace,
                        const struct trace_origin *origin)
{
    add_place(out, trace, origin->task);
    tdc_text_addf(out, "%s\n    %s: %s\n", origin->row, tdc_origin_text(origin->kind),
                  what_to_do(origin));
    if (origin->alike != 0)
        tdc_text_addf(out, "    the same on %zu other rank%s\n", origin->alike,
                      origin->alike != 1 ? "s" : "");
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
    if (origin->truth_is != TRACE_NO_TRUTH) {
        tdc_text_adds(out, "    ");
        trace_add_nearer(out, origin);
        tdc_text_addc(out, '\n');
    }
    if (origin->explains > 1) {
        tdc_text_addf(out, "    explains %llu different rows",
                      (unsigned long long)origin->explains);
        if (origin->ranks != 0)
            tdc_text_addf(out, ", on %zu other rank%s too", origin->ranks,
                          origin->ranks != 1 ? "s" : "");
        tdc_text_addc(out, '\n');
    }
    if (origin->module_count != 0)
        tdc_text_addf(out, "    in %s\n", origin->modules[0]);
    tell_stack(out, origin);
}

/* The first of a side, over all ranks: where it was made, or else where it was met. */
static void tell_abnormal_side(struct tdc_text *out, const struct tdc_trace *trace, int side)
{
    static const char *const sides[] = {"test", "ref"};
    size_t first = SIZE_MAX, ranks = 0;
    for (size_t i = 0; i < trace->task_count; i++) {
        const struct trace_abnormal *abnormal = &trace->tasks[i].abnormal[side];
        if (abnormal->call == NULL)
            continue;
        ranks++;
        const struct trace_abnormal *best =
            first != SIZE_MAX ? &trace->tasks[first].abnormal[side] : NULL;
        if (best == NULL || abnormal->made > best->made ||
            (abnormal->made == best->made && trace_earlier(&abnormal->time, &best->time)))
            first = i;
    }
    if (first == SIZE_MAX)
        return;
    const struct trace_abnormal *abnormal = &trace->tasks[first].abnormal[side];
    tdc_text_adds(out, "first NaN or infinity: ");
    add_place(out, trace, first);
    tdc_text_addf(out, "%s, %s %s", sides[side],
                  abnormal->made ? "made by" : "comes in with the inputs of", abnormal->call);
    if (ranks > 1)
        tdc_text_addf(out, " (%zu of %zu dumps have some)", ranks, trace->task_count);
    tdc_text_addc(out, '\n');
}

/* ---- growth ---------------------------------------------------------------------------------- */

static char shade_of(double distance)
{
    if (!(distance > 0))
        return shades[0];
    /* a shade for each decade: 1e-8 and below, ..., 1 and above */
    double decade = floor(log10(distance)) + 9;
    return shades[decade < 1 ? 1 : decade > 9 ? 9 : (int)decade];
}

/* Distances of some neighbours. */
struct strip {
    const struct trace_task *task;
    bool layers, backward; /* layers of one direction; else all calls */
    size_t first, count;
};

static double strip_distance(const struct strip *strip, size_t place)
{
    return strip->layers ? strip->task->layers[strip->first + place].distance
                         : strip->task->growth[strip->first + place].distance;
}

static bool strip_differs(const struct strip *strip)
{
    for (size_t i = 0; i < strip->count; i++)
        if (strip_distance(strip, i) > 0)
            return true;
    return false;
}

static void add_strip(struct tdc_text *out, const struct strip *strip)
{
    size_t width = strip->count < STRIP_WIDTH ? strip->count : STRIP_WIDTH;
    tdc_text_addc(out, '[');
    for (size_t i = 0; i < width; i++) {
        size_t from = i * strip->count / width, to = (i + 1) * strip->count / width;
        double largest = 0;
        for (size_t k = from; k < to; k++)
            largest = fmax(largest, strip_distance(strip, k));
        tdc_text_addc(out, shade_of(largest));
    }
    tdc_text_addc(out, ']');
}

/* Where the distance grows most from one layer to the next, seen as a factor. */
static size_t largest_step(const struct strip *strip)
{
    /* what is below has no meaning as a factor */
    const double least = 1e-9;
    size_t found = 0;
    double most = 0;
    for (size_t i = 0; i < strip->count; i++) {
        double before = i != 0 ? fmax(strip_distance(strip, i - 1), least) : least;
        double factor = strip_distance(strip, i) / before;
        if (factor > most) {
            most = factor;
            found = i;
        }
    }
    return found;
}

static void tell_layers(struct tdc_text *out, const struct strip *strip)
{
    const struct trace_layer *layers = strip->task->layers + strip->first;
    size_t step = largest_step(strip);
    tdc_text_addf(out, "%s ", strip->backward ? "backward" : "forward ");
    add_strip(out, strip);
    tdc_text_addf(out, " %zu layers, %s to %s; ", strip->count, layers[0].name,
                  layers[strip->count - 1].name);
    tdc_text_addf(out, "grows most in %s, from %.2g to %.2g\n", layers[step].name,
                  step != 0 ? layers[step - 1].distance : 0.0, layers[step].distance);
}

/* By layer and direction where layers are known, else by call. False: nothing differs. */
static bool tell_growth(struct tdc_text *out, const struct tdc_trace *trace, size_t number)
{
    const struct trace_task *task = &trace->tasks[number];
    size_t forward = 0;
    while (forward < task->layer_count && !task->layers[forward].backward)
        forward++;
    const struct strip directions[] = {{.task = task, .layers = true, .count = forward},
                                       {task, true, true, forward, task->layer_count - forward}};
    const struct strip calls = {.task = task, .count = task->growth_count};
    if (!strip_differs(&calls))
        return false;
    if (task->layer_count < 2) {
        tdc_text_adds(out, "growth ");
        add_place(out, trace, number);
        add_strip(out, &calls);
        tdc_text_addf(out, " %zu calls in order\n", task->growth_count);
        return true;
    }
    for (int i = 0; i < 2; i++) {
        if (!strip_differs(&directions[i]))
            continue;
        tdc_text_adds(out, "growth ");
        add_place(out, trace, number);
        tell_layers(out, &directions[i]);
    }
    return true;
}

static void tell_all_growth(struct tdc_text *out, const struct tdc_trace *trace)
{
    size_t told = 0, more = 0;
    for (size_t i = 0; i < trace->task_count; i++) {
        const struct strip calls = {.task = &trace->tasks[i],
                                    .count = trace->tasks[i].growth_count};
        if (told == MOST_STRIPS)
            more += strip_differs(&calls);
        else
            told += tell_growth(out, trace, i);
    }
    if (told != 0)
        tdc_text_adds(out,
                      "       a character for the largest relative distance: '.' below 1e-7, then "
                      "a decade each up to '@' from 1\n");
    if (more != 0)
        tdc_text_addf(out, "       %zu more dumps differ; --json has them all\n", more);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void tell_origins(struct tdc_text *out, const struct tdc_trace *trace)
{
    size_t own = tdc_trace_origins(trace), sure = 0, top = trace->top;
    while (sure < own && !trace->origins[sure].consequence)
        sure++;
    tdc_text_adds(out, own == 0 ? "no origin: no call differs more than its inputs explain\n"
                                : "first origin: ");
    for (size_t i = 0; i < sure && i < top; i++)
        tell_origin(out, trace, &trace->origins[i]);
    if (sure == 0 && own != 0)
        tell_origin(out, trace, &trace->origins[0]);
    if (sure > top)
        tdc_text_addf(out, "%zu more origins (--top %zu shows them)\n", sure - top, sure);
    size_t unsure = own - sure - (sure == 0 && own != 0);
    if (unsure != 0)
        tdc_text_addf(out, "%zu further calls may be consequences, which statistics cannot tell\n",
                      unsure);
    if (trace->arrived != 0)
        tdc_text_addf(out, "%zu call%s by what other ranks sent (consequences)\n", trace->arrived,
                      trace->arrived != 1 ? "s differ" : " differs");
}

/* Of the origins whose truth is known, when it settles more than the one that is told above. */
static void tell_nearer(struct tdc_text *out, const struct tdc_trace *trace)
{
    uint64_t counts[TDC_NEARER_NEITHER + 1] = {0};
    size_t known = 0;
    char line[200];
    for (size_t i = 0; i < trace->origin_count; i++)
        if (trace->origins[i].truth_is != TRACE_NO_TRUTH) {
            counts[trace->origins[i].truth.nearer]++;
            known++;
        }
    tdc_nearer_summary(counts, line, sizeof line);
    if (known > 1)
        tdc_text_addf(out, "%s of %zu origins\n", line, known);
}

static void tell_counts(struct tdc_text *out, const struct tdc_trace *trace)
{
    uint64_t different = 0, rows = 0, unread = 0, unmatched = 0;
    for (size_t i = 0; i < trace->task_count; i++) {
        different += trace->tasks[i].different;
        rows += trace->tasks[i].rows;
        unread += trace->tasks[i].unread;
        unmatched += trace->tasks[i].unmatched;
    }
    tdc_text_addf(out, "%llu of %llu rows are different", (unsigned long long)different,
                  (unsigned long long)rows);
    if (unmatched != 0)
        tdc_text_addf(out, ", %llu have no partner", (unsigned long long)unmatched);
    if (unread != 0)
        tdc_text_addf(out, ", %llu could not be read", (unsigned long long)unread);
    if (trace->left_out != 0)
        tdc_text_addf(out, "; %zu dump%s left out", trace->left_out,
                      trace->left_out != 1 ? "s" : "");
    tdc_text_addc(out, '\n');
    if (unread != 0 || trace->left_out != 0)
        tdc_text_adds(out, "incomplete: differences may begin in what could not be compared\n");
}

void trace_tell(struct tdc_trace *trace)
{
    struct tdc_text *out = &trace->text;
    tell_origins(out, trace);
    tell_nearer(out, trace);
    tell_abnormal_side(out, trace, 0);
    tell_abnormal_side(out, trace, 1);
    tell_all_growth(out, trace);
    tell_counts(out, trace);
    tdc_mode mode = trace->tasks[0].mode;
    if (mode != TDC_MODE_TENSOR)
        tdc_text_addf(
            out, "the dumps hold %s: %s\n", mode == TDC_MODE_DIGEST ? "checksums" : "statistics",
            mode == TDC_MODE_DIGEST ? "equal or not is all they tell; no judge, no distances"
                                    : "distances are lower bounds; no judge, no worst element");
}
