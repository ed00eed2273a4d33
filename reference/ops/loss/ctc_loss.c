/* Connectionist temporal classification: the probability of a sequence of labels, summed over all
 * ways to stretch it and to put blanks between. */
#include <math.h>
#include <string.h>

#include "reference/arguments.h"
#include "reference/arithmetic.h"
#include "reference/operators.h"
#include "reference/ops/loss/loss_reduction.h"
#include "reference/primitives/elementwise/binary.h"
#include "reference/primitives/move.h"
#include "reference/tape.h"

/* One sample: log-probabilities with `step` elements between frames, and the labels with blanks. */
struct sample {
    const double *logs;
    int64_t step, frames, states;
    const int64_t *labels; /* of the states: blank, first, blank, second, ... */
};

static const double nothing = -(double)INFINITY;

static double log_add(const tdc_evaluation *e, double a, double b)
{
    double top = a > b ? a : b;
    return top == nothing ? nothing : tdc_partial(e, top + log(exp(a - top) + exp(b - top)));
}

/* A label may follow its predecessor without a blank unless it repeats it. */
static bool skips(const struct sample *s, int64_t state)
{
    return state >= 2 && s->labels[state] != s->labels[0] &&
           s->labels[state] != s->labels[state - 2];
}

/* alpha[t][s]: log-probability of all beginnings that are in state s at frame t. Gives that of the
 * whole. */
static double run_forward(const tdc_evaluation *e, const struct sample *s, double *alpha)
{
    int64_t n = s->states;
    for (int64_t t = 0; t < s->frames; t++)
        for (int64_t k = 0; k < n; k++) {
            double sum = nothing;
            if (t == 0) {
                sum = k < 2 ? 0 : nothing;
            } else {
                const double *last = alpha + (t - 1) * n;
                sum = last[k];
                sum = k >= 1 ? log_add(e, sum, last[k - 1]) : sum;
                sum = skips(s, k) ? log_add(e, sum, last[k - 2]) : sum;
            }
            alpha[t * n + k] = tdc_partial(e, sum + s->logs[t * s->step + s->labels[k]]);
        }
    if (s->frames == 0)
        return n == 1 ? 0 : nothing;
    const double *end = alpha + (s->frames - 1) * n;
    return n == 1 ? end[0] : log_add(e, end[n - 1], end[n - 2]);
}

/* Adds to slopes what the loss -log p gains per log-probability: exp(log_prob) - share, share being
 * the probability that a way is at that label then. As the frameworks, the gradient is that of a
 * softmax before: for log-probabilities that sum to one it is the same. */
static void run_backward(const tdc_evaluation *e, const struct sample *s, const double *alpha,
                         double total, double factor, double *beta, int64_t classes, double *slopes)
{
    int64_t n = s->states;
    for (int64_t t = s->frames; t-- > 0;) {
        double *own = beta + (t % 2) * n, *next = beta + ((t + 1) % 2) * n;
        double *out = slopes + t * s->step;
        for (int64_t c = 0; c < classes; c++)
            out[c] = tdc_partial(e, out[c] + factor * exp(s->logs[t * s->step + c]));
        for (int64_t k = n; k-- > 0;) {
            double sum = nothing;
            if (t == s->frames - 1) {
                sum = k >= n - 2 ? 0 : nothing;
            } else {
                sum = next[k];
                sum = k + 1 < n ? log_add(e, sum, next[k + 1]) : sum;
                sum = k + 2 < n && skips(s, k + 2) ? log_add(e, sum, next[k + 2]) : sum;
            }
            double log_prob = s->logs[t * s->step + s->labels[k]];
            own[k] = tdc_partial(e, sum + log_prob);
            double way = alpha[t * n + k] + sum; /* the frame's own probability counts once */
            if (way != nothing)
                out[s->labels[k]] = tdc_partial(e, out[s->labels[k]] - factor * exp(way - total));
        }
    }
}

struct ctc {
    struct sample *samples;
    double **alpha, *totals;
    int64_t count, classes, most_states;
    bool zero_infinity;
};

static void pull_ctc(tdc_evaluation *e, struct tdc_tape_node *node, tdc_array *gradient)
{
    const struct ctc *c = node->detail;
    tdc_array *x = node->inputs[0];
    tdc_array *g = tdc_zeros(e, TDC_F64, x->rank, x->shape);
    double *beta = tdc_take(e, 2 * c->most_states, sizeof *beta);
    for (int64_t b = 0; b < c->count; b++) {
        const struct sample *s = &c->samples[b];
        double total = c->totals[b];
        if (c->zero_infinity && total == nothing)
            continue;
        run_backward(e, s, c->alpha[b], total, gradient->real[b], beta, c->classes,
                     g->real + (s->logs - x->real));
    }
    tdc_collect(e, x, g);
}

static int64_t length_at(tdc_evaluation *e, const char *name, int64_t i, int64_t count)
{
    const tdc_call_value *v = tdc_argument(e, name);
    if (v->kind == TDC_VALUE_TENSOR && v->tensor->count == count &&
        !tdc_dtype_is_floating(v->tensor->dtype))
        return v->tensor->whole[i];
    if (v->kind == TDC_VALUE_LIST && (int64_t)v->list.count == count &&
        v->list.values[i].kind == TDC_VALUE_INT)
        return v->list.values[i].whole;
    tdc_refuse(e, TDC_ERR_ARGUMENT, "%s must have one length per sample", name);
}

/* The labels of a sample with blanks around. Targets are [count, longest] or one after the other.
 */
static const int64_t *spaced(tdc_evaluation *e, const tdc_array *targets, int64_t start,
                             int64_t length, int64_t blank, int64_t classes)
{
    int64_t *labels = tdc_take(e, 2 * length + 1, sizeof *labels);
    if (start < 0 || length > targets->count - start)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "target_lengths exceed the targets");
    for (int64_t i = 0; i < 2 * length + 1; i++) {
        labels[i] = i % 2 == 0 ? blank : targets->whole[start + i / 2];
        if (labels[i] < 0 || labels[i] >= classes)
            tdc_refuse(e, TDC_ERR_ARGUMENT, "a label is out of range");
    }
    return labels;
}

static struct ctc *read_samples(tdc_evaluation *e, const tdc_array *x, const tdc_array *targets)
{
    int64_t frames = x->shape[0], count = x->shape[1], classes = x->shape[2], start = 0;
    int64_t blank = tdc_int_argument(e, "blank");
    struct ctc *c = tdc_take(e, 1, sizeof *c);
    *c = (struct ctc){.count = count, .classes = classes};
    c->samples = tdc_take(e, count, sizeof *c->samples);
    c->alpha = tdc_take(e, count, sizeof *c->alpha);
    c->totals = tdc_take(e, count, sizeof *c->totals);
    c->zero_infinity = tdc_bool_argument(e, "zero_infinity");
    for (int64_t b = 0; b < count; b++) {
        int64_t length = length_at(e, "target_lengths", b, count), size;
        struct sample s = {.step = count * classes, .logs = x->real + b * classes};
        s.frames = length_at(e, "input_lengths", b, count);
        if (s.frames < 0 || s.frames > frames || length < 0 || length > targets->count)
            tdc_refuse(e, TDC_ERR_ARGUMENT, "a length is out of range");
        if (targets->rank == 2)
            start = b * targets->shape[1];
        s.labels = spaced(e, targets, start, length, blank, classes);
        start += length;
        s.states = 2 * length + 1;
        if (__builtin_mul_overflow(s.states, s.frames, &size))
            tdc_refuse(e, TDC_ERR_MEMORY, "a size overflows");
        c->most_states = s.states > c->most_states ? s.states : c->most_states;
        c->alpha[b] = tdc_take(e, size, sizeof **c->alpha);
        c->samples[b] = s;
    }
    return c;
}

static void ctc_loss(tdc_evaluation *e)
{
    tdc_array *x = tdc_real_array_argument(e, "log_probs"),
              *targets = tdc_array_argument(e, "targets");
    bool single = x->rank == 2;
    if (single)
        x = tdc_unsqueeze(e, x, 1);
    if (x->rank != 3 || targets->rank > 2 || tdc_dtype_is_floating(targets->dtype) ||
        (targets->rank == 2 && targets->shape[0] != x->shape[1]))
        tdc_refuse(e, TDC_ERR_ARGUMENT, "log_probs or targets have a wrong shape");
    struct ctc *c = read_samples(e, x, targets);
    tdc_array *y = tdc_new(e, TDC_F64, 1, &c->count);
#pragma omp parallel for schedule(dynamic) if (x->count >= TDC_PARALLEL_FROM)
    for (int64_t b = 0; b < c->count; b++) {
        c->totals[b] = run_forward(e, &c->samples[b], c->alpha[b]);
        y->real[b] = c->zero_infinity && c->totals[b] == nothing ? 0 : -c->totals[b];
    }
    tdc_note(e, y, pull_ctc, c, 1, &x);
    if (tdc_loss_reduction(e) != TDC_LOSS_MEAN) {
        tdc_give_loss(e, single ? tdc_squeeze(e, y, 0) : y);
        return;
    }
    /* the mean is of losses per label */
    tdc_array *lengths = tdc_new(e, TDC_F64, 1, &c->count);
    for (int64_t b = 0; b < c->count; b++) {
        int64_t labels = c->samples[b].states / 2;
        lengths->real[b] = labels > 1 ? (double)labels : 1;
    }
    tdc_give(e, tdc_mean_all(e, tdc_div(e, y, lengths)));
}

static const struct tdc_operator rows[] = {
    {"ctc_loss", TDC_IN_FUNCTIONALS,
     "log_probs, targets, input_lengths, target_lengths, blank=0, reduction='mean', "
     "zero_infinity=False",
     ctc_loss, 0, 0},
    {"ctc_loss", TDC_IN_TORCH,
     "log_probs, targets, input_lengths, target_lengths, blank=0, reduction=1, "
     "zero_infinity=False",
     ctc_loss, 0, 0},
};
const struct tdc_operator_family tdc_ctc_family = TDC_FAMILY("sequence losses", rows);
