/* Errors of attention, block by block as attention.c computes it. */
#include <math.h>
#include <omp.h>
#include <string.h>

#include "reference/bounds.h"
#include "reference/primitives/attention/attention_plan.h"
#include "reference/primitives/matrix/gemm.h"

#define BLOCK TDC_ATTENTION_BLOCK

/* Magnitudes and errors of the operands, as attention.c has their values. */
struct operands {
    const struct tdc_attention_plan *p;
    const double *q, *k, *v, *g;     /* magnitudes; g of the gradient */
    const double *eq, *ek, *ev, *eg; /* errors, NULL where there are none */
    double *room;                    /* BLOCK * (2 * columns + width) per thread */
    double keys_weight, depth_weight, width_weight, rows_weight;
    double round;  /* of weights and scores' gradients to the tested dtype */
    double scores; /* of scores, which the weights feel by the scores' size */
    double steps;  /* of everything on the way, where each operation is one of its own */
    double least;  /* a float16 weight that vanishes */
};

static const double *magnitudes(tdc_evaluation *e, const tdc_array *x)
{
    return x == NULL ? NULL : tdc_absolute(e, x)->real;
}

static struct operands prepare(tdc_evaluation *e, const struct tdc_attention_plan *p,
                               const tdc_array *gradient)
{
    struct operands o = {.p = p, .eq = p->a.q->error, .ek = p->a.k->error, .ev = p->a.v->error};
    o.q = magnitudes(e, p->a.q);
    o.k = magnitudes(e, p->a.k);
    o.v = magnitudes(e, p->a.v);
    o.g = magnitudes(e, gradient);
    o.eg = gradient == NULL ? NULL : gradient->error;
    o.keys_weight = tdc_sum_weight((double)p->columns);
    o.depth_weight = tdc_sum_weight((double)p->depth) + 2 * TDC_BASIC;
    o.width_weight = tdc_sum_weight((double)p->width);
    o.rows_weight = tdc_sum_weight((double)p->rows * (double)p->shared);
    /* Kernels round the weights for the product with the values, some the scores before. Backward
     * the weights' gradients are rounded as well, which are made of rounded ones. */
    o.scores = e->bounds.narrow > 1 ? e->bounds.narrow : 0;
    o.steps = e->bounds.inner;
    o.round = (gradient == NULL ? 1 : 2) * o.scores + 2 * o.steps;
    o.width_weight += o.steps;
    o.least = e->bounds.tested == TDC_F16 ? 1 : 0;
    o.room = tdc_take(e, BLOCK * (2 * p->columns + p->width) * p->teams, sizeof *o.room);
    return o;
}

/* c += a b; a NULL is nothing. */
static void add_product(int64_t m, int64_t n, int64_t k, const double *a, bool ta, const double *b,
                        bool tb, double *c)
{
    if (a != NULL && b != NULL)
        tdc_gemm(m, n, k, (struct tdc_matrix){a, ta ? m : k, ta},
                 (struct tdc_matrix){b, tb ? k : n, tb}, c, n, true);
}

/* to = of the weights b->scores, whose scores are off by scale |q| |k| and more. */
static void weight_errors(const struct operands *o, const struct tdc_attention_block *b,
                          const double *most, double *to)
{
    const struct tdc_attention_plan *p = o->p;
    int64_t n = p->columns, row = b->unit * p->rows + b->from;
    const double *k = o->k + b->key * n * p->depth;
    memset(to, 0, (size_t)(b->rows * n) * sizeof *to);
    add_product(b->rows, n, p->depth, o->q + row * p->depth, false, k, true, to);
    for (int64_t i = 0; i < b->rows * n; i++)
        to[i] *= o->depth_weight;
    if (o->eq != NULL)
        add_product(b->rows, n, p->depth, o->eq + row * p->depth, false, k, true, to);
    if (o->ek != NULL)
        add_product(b->rows, n, p->depth, o->q + row * p->depth, false,
                    o->ek + b->key * n * p->depth, true, to);
    for (int64_t r = 0; r < b->rows; r++) {
        const double *w = b->scores + r * n;
        double *own = to + r * n, top = 0, mean = 0;
        for (int64_t j = 0; j < n; j++)
            top = w[j] > top ? w[j] : top;
        for (int64_t j = 0; j < n; j++) {
            double away = w[j] > 0 ? log(top / w[j]) : 0, score = fabs(most[r] - away);
            own[j] = TDC_ELEMENTARY * (1 + away) + fabs(p->a.scale) * own[j] + o->scores * score +
                     o->steps * (1 + away + 2 * score);
            mean += tdc_error_times(w[j], own[j]);
        }
        for (int64_t j = 0; j < n; j++)
            own[j] = tdc_error_times(w[j], own[j] + mean + o->keys_weight + TDC_BASIC + o->round) +
                     (w[j] != 0 ? o->least : 0);
    }
}

static struct tdc_attention_block softened(const struct operands *o, int64_t unit, int64_t index,
                                           double **first, double **second)
{
    struct tdc_attention_block b = tdc_attention_block_at(o->p, unit, index);
    double most[BLOCK], total[BLOCK];
    *first = o->room + omp_get_thread_num() * BLOCK * (2 * o->p->columns + o->p->width);
    *second = *first + BLOCK * o->p->columns;
    tdc_attention_soften(o->p, &b, most, total);
    weight_errors(o, &b, most, *first);
    return b;
}

void tdc_bound_attention(tdc_evaluation *e, const struct tdc_attention_plan *p, tdc_array *y)
{
    struct operands o = prepare(e, p, NULL);
    double *errors = tdc_new_errors(e, y);
    memset(errors, 0, (size_t)y->count * sizeof *errors);
    int64_t units = p->columns == 0 ? 0 : p->units * p->blocks, n = p->columns;
#pragma omp parallel for schedule(dynamic) num_threads(p->teams) if (units > 1)
    for (int64_t u = 0; u < units; u++) {
        double *off, *second;
        struct tdc_attention_block b = softened(&o, u / p->blocks, u % p->blocks, &off, &second);
        double *to = errors + (b.unit * p->rows + b.from) * p->width;
        for (int64_t i = 0; i < b.rows * n; i++)
            off[i] += o.keys_weight * b.scores[i];
        tdc_attention_drop(p, &b, off);
        add_product(b.rows, p->width, n, off, false, o.v + b.key * n * p->width, false, to);
        tdc_attention_drop(p, &b, b.scores);
        if (o.ev != NULL)
            add_product(b.rows, p->width, n, b.scores, false, o.ev + b.key * n * p->width, false,
                        to);
    }
    for (int64_t i = 0; i < y->count; i++)
        errors[i] += tdc_own_error(e, TDC_BASIC, y->real[i]);
}

/* ---- backward -------------------------------------------------------------------------------- */

/* second: gradient of the weights and off_second its errors; both become those of the scores. */
static void pull_row(const struct operands *o, const double *w, const double *off, double *d,
                     double *off_d, int64_t n, double off_sum)
{
    double sum = 0;
    for (int64_t j = 0; j < n; j++) {
        sum += w[j] * d[j];
        off_sum += tdc_error_times(w[j], off_d[j] + o->keys_weight * fabs(d[j])) +
                   tdc_error_times(d[j], off[j]);
    }
    for (int64_t j = 0; j < n; j++) {
        double apart = d[j] - sum;
        off_d[j] = tdc_error_times(w[j], off_d[j] + off_sum + TDC_BASIC * fabs(apart)) +
                   tdc_error_times(apart, off[j]);
        d[j] = w[j] == 0 ? 0 : w[j] * apart;
        off_d[j] += (TDC_BASIC + o->round) * fabs(d[j]) + (d[j] != 0 ? o->least : 0);
    }
}

struct gradients {
    double *q, *k, *v, *scores; /* errors to add to, NULL where none are asked for */
};

static void bound_pulled_block(const struct operands *o, const double *gradient, int64_t unit,
                               int64_t index, const struct gradients *to)
{
    const struct tdc_attention_plan *p = o->p;
    double *off, *off_d;
    struct tdc_attention_block b = softened(o, unit, index, &off, &off_d);
    int64_t n = p->columns, row = b.unit * p->rows + b.from, key = b.key * n;
    const double *g = o->g + row * p->width, *v = o->v + key * p->width;
    double *w = b.scores, *d = b.second;
    if (to->v != NULL) {
        for (int64_t i = 0; i < b.rows * n; i++)
            off_d[i] = off[i] + o->rows_weight * w[i];
        tdc_attention_drop(p, &b, off_d);
        add_product(n, p->width, b.rows, off_d, true, g, false, to->v + key * p->width);
        if (o->eg != NULL) {
            memcpy(off_d, w, (size_t)(b.rows * n) * sizeof *off_d);
            tdc_attention_drop(p, &b, off_d);
            add_product(n, p->width, b.rows, off_d, true, o->eg + row * p->width, false,
                        to->v + key * p->width);
        }
    }
    /* the sum of a row's weights times their gradients is the result's with its own, and the
     * result was stored in the tested dtype */
    double *out = off_d + BLOCK * n;
    memset(out, 0, (size_t)(b.rows * p->width) * sizeof *out);
    memcpy(d, w, (size_t)(b.rows * n) * sizeof *d);
    tdc_attention_drop(p, &b, d);
    add_product(b.rows, p->width, n, d, false, b.v, false, out);
    memset(d, 0, (size_t)(b.rows * n) * sizeof *d);
    add_product(b.rows, n, p->width, gradient + row * p->width, false, b.v, true, d);
    memset(off_d, 0, (size_t)(b.rows * n) * sizeof *off_d);
    add_product(b.rows, n, p->width, g, false, v, true, off_d);
    for (int64_t i = 0; i < b.rows * n; i++)
        off_d[i] *= o->width_weight;
    if (o->eg != NULL)
        add_product(b.rows, n, p->width, o->eg + row * p->width, false, v, true, off_d);
    if (o->ev != NULL)
        add_product(b.rows, n, p->width, g, false, o->ev + key * p->width, true, off_d);
    tdc_attention_drop(p, &b, d);
    tdc_attention_drop(p, &b, off_d);
    for (int64_t r = 0; r < b.rows; r++) {
        double stored = 0;
        for (int64_t i = r * p->width; i < (r + 1) * p->width; i++)
            stored += fabs(out[i]) * g[i];
        pull_row(o, w + r * n, off + r * n, d + r * n, off_d + r * n, n, o->round * stored);
    }
    if (to->scores != NULL)
        memcpy(to->scores + row * n, off_d, (size_t)(b.rows * n) * sizeof *off_d);
    double scale = fabs(p->a.scale);
    for (int64_t i = 0; i < b.rows * n; i++) {
        d[i] = scale * fabs(d[i]);
        off[i] = scale * off_d[i] + (o->rows_weight + TDC_BASIC) * d[i];
        off_d[i] = scale * off_d[i] + (o->keys_weight + TDC_BASIC) * d[i];
    }
    if (to->q != NULL)
        add_product(b.rows, p->depth, n, off_d, false, o->k + key * p->depth, false,
                    to->q + row * p->depth);
    if (to->q != NULL && o->ek != NULL)
        add_product(b.rows, p->depth, n, d, false, o->ek + key * p->depth, false,
                    to->q + row * p->depth);
    if (to->k != NULL)
        add_product(n, p->depth, b.rows, off, true, o->q + row * p->depth, false,
                    to->k + key * p->depth);
    if (to->k != NULL && o->eq != NULL)
        add_product(n, p->depth, b.rows, d, true, o->eq + row * p->depth, false,
                    to->k + key * p->depth);
}

static double *zero_errors(tdc_evaluation *e, tdc_array *x)
{
    if (x == NULL)
        return NULL;
    double *errors = tdc_new_errors(e, x);
    memset(errors, 0, (size_t)x->count * sizeof *errors);
    return errors;
}

void tdc_bound_attention_pull(tdc_evaluation *e, const struct tdc_attention_plan *p,
                              const tdc_array *gradient, tdc_array *dq, tdc_array *dk,
                              tdc_array *dv)
{
    struct operands o = prepare(e, p, gradient);
    struct gradients to = {zero_errors(e, dq), zero_errors(e, dk), zero_errors(e, dv),
                           zero_errors(e, p->scores_pulled)};
    int64_t keys = p->units / p->shared;
#pragma omp parallel for schedule(dynamic) num_threads(p->teams) if (keys >= p->teams)
    for (int64_t key = 0; key < keys; key++)
        for (int64_t i = 0; i < p->shared * p->blocks; i++)
            bound_pulled_block(&o, gradient->real, key * p->shared + i / p->blocks, i % p->blocks,
                               &to);
    /* heads that share keys and values are stored before they are added */
    double stored = p->shared > 1 ? o.least * (double)p->shared : 0;
    for (int64_t i = 0; stored != 0 && dk != NULL && i < dk->count; i++)
        to.k[i] += stored;
    for (int64_t i = 0; stored != 0 && dv != NULL && i < dv->count; i++)
        to.v[i] += stored;
}
