#include "reference/primitives/attention/attention.h"

#include <float.h>
#include <math.h>
#include <omp.h>
#include <string.h>

#include "reference/bounds.h"
#include "reference/primitives/elementwise/unary.h"
#include "reference/primitives/attention/attention_plan.h"
#include "reference/primitives/matrix/narrow_gemm.h"
#include "reference/primitives/move.h"
#include "reference/primitives/reduce.h"
#include "reference/primitives/scan.h"
#include "reference/tape.h"

#define RANK  TDC_REFERENCE_RANK
#define BLOCK TDC_ATTENTION_BLOCK

/* Strides of a broadcast operand against [outer..., rows, columns]; 0 along its missing ones. */
static void plane_strides(const struct tdc_attention_plan *p, const tdc_array *x,
                          int64_t strides[RANK])
{
    int64_t own[RANK];
    unsigned rank = p->outer_rank + 2;
    tdc_strides(x, own);
    for (unsigned d = 0; d < rank; d++) {
        unsigned missing = rank - x->rank;
        strides[d] = d < missing || x->shape[d - missing] == 1 ? 0 : own[d - missing];
    }
}

struct tdc_attention_plane tdc_attention_plane_of(const struct tdc_attention_plan *p,
                                                  const tdc_array *x, int64_t unit)
{
    struct tdc_attention_plane plane = {.x = x};
    int64_t strides[RANK];
    if (x == NULL)
        return plane;
    plane_strides(p, x, strides);
    for (unsigned d = p->outer_rank; d-- > 0;) {
        plane.at += unit % p->outer[d] * strides[d];
        unit /= p->outer[d];
    }
    plane.row = strides[p->outer_rank];
    plane.column = strides[p->outer_rank + 1];
    return plane;
}

struct tdc_attention_block tdc_attention_block_at(const struct tdc_attention_plan *p, int64_t unit,
                                                  int64_t index)
{
    struct tdc_attention_block b = {.unit = unit, .key = unit / p->shared, .from = index * BLOCK};
    b.rows = p->rows - b.from < BLOCK ? p->rows - b.from : BLOCK;
    b.q = p->a.q->real + (unit * p->rows + b.from) * p->depth;
    b.k = p->a.k->real + b.key * p->columns * p->depth;
    b.v = p->a.v->real + b.key * p->columns * p->width;
    b.scores = p->room + omp_get_thread_num() * 2 * BLOCK * p->columns;
    b.second = b.scores + BLOCK * p->columns;
    return b;
}

static void add_terms(const struct tdc_attention_plan *p, const struct tdc_attention_block *b,
                      int64_t r)
{
    const struct tdc_attention *a = &p->a;
    struct tdc_attention_plane shift = tdc_attention_plane_of(p, a->shift, b->unit),
                               bias = tdc_attention_plane_of(p, a->bias, b->unit);
    struct tdc_attention_plane hidden = tdc_attention_plane_of(p, a->hidden, b->unit);
    int64_t row = b->from + r;
    double *s = b->scores + r * p->columns;
    for (int64_t j = 0; shift.x != NULL && j < p->columns; j++)
        s[j] += shift.x->real[shift.at + row * shift.row + j * shift.column];
    tdc_steps(p->e, s, p->columns);
    for (int64_t j = 0; j < p->columns; j++)
        s[j] *= a->scale;
    tdc_steps(p->e, s, p->columns);
    for (int64_t j = 0; bias.x != NULL && j < p->columns; j++)
        s[j] += bias.x->real[bias.at + row * bias.row + j * bias.column];
    tdc_steps(p->e, s, p->columns);
    for (int64_t j = 0; hidden.x != NULL && j < p->columns; j++)
        if (hidden.x->whole[hidden.at + row * hidden.row + j * hidden.column] != 0)
            s[j] += a->hidden_term;
    tdc_steps(p->e, s, p->columns);
    for (int64_t j = 0; a->banded && j < p->columns; j++)
        if ((double)j > (double)row + a->next || (double)j < (double)row - a->pre)
            s[j] += a->hidden_term;
    tdc_steps(p->e, s, p->columns);
}

void tdc_attention_soften(const struct tdc_attention_plan *p, const struct tdc_attention_block *b,
                          double *top, double *total)
{
    p->multiply(b->rows, p->columns, p->depth, (struct tdc_matrix){b->q, p->depth, false},
                (struct tdc_matrix){b->k, p->depth, true}, b->scores, p->columns, false);
    for (int64_t r = 0; r < b->rows; r++) {
        double *s = b->scores + r * p->columns, most;
        tdc_steps(p->e, s, p->columns);
        add_terms(p, b, r);
        double sum = tdc_exponentials(p->e, s, s, p->columns, &most);
        bool blind = p->a.safe && isinf(most) && most < 0;
        for (int64_t j = 0; j < p->columns; j++)
            s[j] = blind ? 0 : s[j] / sum;
        tdc_steps(p->e, s, p->columns);
        if (top != NULL) {
            top[r] = most;
            total[r] = sum;
        }
    }
}

void tdc_attention_drop(const struct tdc_attention_plan *p, const struct tdc_attention_block *b,
                        double *x)
{
    struct tdc_attention_plane kept = tdc_attention_plane_of(p, p->a.kept, b->unit);
    for (int64_t r = 0; kept.x != NULL && r < b->rows; r++)
        for (int64_t j = 0; j < p->columns; j++) {
            int64_t at = kept.at + (b->from + r) * kept.row + j * kept.column;
            x[r * p->columns + j] *= kept.x->whole[at] != 0 ? p->kept_factor : 0;
        }
    if (kept.x != NULL)
        tdc_steps(p->e, x, b->rows * p->columns);
}

/* ---- backward ----------------------------------------------------------------------------------
 */

struct slopes {
    double *q, *k, *v; /* NULL where none is asked for */
    const double *out; /* gradient of the result */
};

/* d = w (d - sum d w), 0 where the weight is 0 */
static void pull_softmax(const tdc_evaluation *e, const double *w, double *d, int64_t n)
{
    double sum = tdc_step(e, tdc_narrow_dot(w, d, n, e->arithmetic));
    for (int64_t j = 0; j < n; j++)
        d[j] = w[j] == 0 ? 0 : tdc_step(e, w[j] * tdc_step(e, d[j] - sum));
}

/* dV += P^T g; dP = g V^T; dS = P (dP - sum dP P) scale; dQ = dS K; dK += dS^T Q */
static void pull_block(const struct tdc_attention_plan *p, const struct slopes *s,
                       const struct tdc_attention_block *b)
{
    int64_t n = p->columns;
    const double *g = s->out + (b->unit * p->rows + b->from) * p->width;
    struct tdc_matrix out = {g, p->width, false};
    tdc_attention_soften(p, b, NULL, NULL);
    if (s->v != NULL) {
        memcpy(b->second, b->scores, (size_t)(b->rows * n) * sizeof *b->second);
        tdc_attention_drop(p, b, b->second);
        p->multiply(n, p->width, b->rows, (struct tdc_matrix){b->second, n, true}, out,
                    s->v + b->key * n * p->width, p->width, true);
    }
    p->multiply(b->rows, n, p->width, out, (struct tdc_matrix){b->v, p->width, true}, b->second, n,
                false);
    tdc_steps(p->e, b->second, b->rows * n);
    tdc_attention_drop(p, b, b->second);
    for (int64_t r = 0; r < b->rows; r++)
        pull_softmax(p->e, b->scores + r * n, b->second + r * n, n);
    if (p->scores_pulled != NULL)
        memcpy(p->scores_pulled->real + (b->unit * p->rows + b->from) * n, b->second,
               (size_t)(b->rows * n) * sizeof *b->second);
    for (int64_t i = 0; i < b->rows * n; i++)
        b->second[i] *= p->a.scale;
    tdc_steps(p->e, b->second, b->rows * n);
    if (s->q != NULL)
        p->multiply(b->rows, p->depth, n, (struct tdc_matrix){b->second, n, false},
                    (struct tdc_matrix){b->k, p->depth, false},
                    s->q + (b->unit * p->rows + b->from) * p->depth, p->depth, false);
    if (s->k != NULL)
        p->multiply(n, p->depth, b->rows, (struct tdc_matrix){b->second, n, true},
                    (struct tdc_matrix){b->q, p->depth, false}, s->k + b->key * n * p->depth,
                    p->depth, true);
}

static void pull_rows(const struct tdc_attention_plan *p, const struct slopes *s)
{
    int64_t keys = p->units / p->shared;
    /* heads that share keys, and a head's blocks, are taken in turn: they add to the same sums */
#pragma omp parallel for schedule(dynamic) num_threads(p->teams) if (keys >= p->teams)
    for (int64_t key = 0; key < keys; key++)
        for (int64_t i = 0; i < p->shared * p->blocks; i++) {
            struct tdc_attention_block b =
                tdc_attention_block_at(p, key * p->shared + i / p->blocks, i % p->blocks);
            pull_block(p, s, &b);
        }
}

static tdc_array *zeros_if_tracked(tdc_evaluation *e, const tdc_array *x)
{
    return tdc_tracked(x) ? tdc_zeros(e, TDC_F64, x->rank, x->shape) : NULL;
}

/* Sums the gradient of the scores over what x was broadcast along. */
static void collect_plane(tdc_evaluation *e, const struct tdc_attention_plan *p, tdc_array *x,
                          double factor)
{
    if (x == NULL || !tdc_tracked(x))
        return;
    bool reduced[RANK] = {false};
    int64_t strides[RANK];
    plane_strides(p, x, strides);
    for (unsigned d = 0; d < p->scores_pulled->rank; d++)
        reduced[d] = strides[d] == 0;
    tdc_array *g = tdc_sum(e, p->scores_pulled, reduced, false);
    tdc_collect(e, x, tdc_scale(e, tdc_reshape(e, g, x->rank, x->shape), factor));
}

static void pull_attention(tdc_evaluation *e, struct tdc_tape_node *node, tdc_array *gradient)
{
    struct tdc_attention_plan p = *(const struct tdc_attention_plan *)node->detail;
    tdc_array *dq = zeros_if_tracked(e, p.a.q), *dk = zeros_if_tracked(e, p.a.k);
    tdc_array *dv = zeros_if_tracked(e, p.a.v);
    struct slopes s = {dq == NULL ? NULL : dq->real, dk == NULL ? NULL : dk->real,
                       dv == NULL ? NULL : dv->real, gradient->real};
    if ((p.a.shift != NULL && tdc_tracked(p.a.shift)) ||
        (p.a.bias != NULL && tdc_tracked(p.a.bias))) {
        int64_t shape[RANK];
        memcpy(shape, p.outer, sizeof shape);
        shape[p.outer_rank] = p.rows;
        shape[p.outer_rank + 1] = p.columns;
        p.scores_pulled = tdc_new(e, TDC_F64, p.outer_rank + 2, shape);
    }
    if (tdc_is_bounded(e))
        tdc_bound_attention_pull(e, &p, gradient, dq, dk, dv);
    if (tdc_is_narrow(e)) {
        pull_rows(&p, &s);
    } else if (p.columns > 0) {
        const struct tdc_attended forward = {node->output->real, p.most->real, p.sum->real};
        tdc_pull_attention_tiles(
            &p, &(struct tdc_attention_pull){s.q, s.k, s.v, s.out, forward, false, false});
    }
    if (dq != NULL)
        tdc_collect(e, p.a.q, dq);
    if (dk != NULL)
        tdc_collect(e, p.a.k, dk);
    if (dv != NULL)
        tdc_collect(e, p.a.v, dv);
    collect_plane(e, &p, p.a.shift, p.a.scale);
    collect_plane(e, &p, p.a.bias, 1);
}

/* ---- forward -----------------------------------------------------------------------------------
 */

static void check_plane(tdc_evaluation *e, const struct tdc_attention_plan *p, const tdc_array *x)
{
    unsigned rank = p->outer_rank + 2;
    bool fits = x == NULL || x->rank <= rank;
    for (unsigned d = 0; x != NULL && fits && d < x->rank; d++) {
        unsigned to = d + rank - x->rank;
        int64_t size = to < p->outer_rank    ? p->outer[to]
                       : to == p->outer_rank ? p->rows
                                             : p->columns;
        fits = x->shape[d] == size || x->shape[d] == 1;
    }
    if (!fits)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "a mask or bias does not fit the scores");
}

static double largest(const tdc_array *x)
{
    double most = 0;
    for (int64_t i = 0; i < x->count; i++)
        most = fabs(x->real[i]) <= most ? most : fabs(x->real[i]); /* a NaN stays */
    return most;
}

/* Whether a score that the band hides is -infinity and its weight 0, whatever the operands: then it
 * need not be computed. */
static bool is_calm(const struct tdc_attention_plan *p)
{
    const struct tdc_attention *a = &p->a;
    if (!a->banded || a->shift != NULL || a->bias != NULL || a->hidden_term > -DBL_MAX)
        return false;
    double q = largest(a->q), k = largest(a->k), v = largest(a->v);
    double score = q * k * (double)p->depth;
    return score < 1e300 && score * fabs(a->scale) < 1e300 && v < 1e300;
}

static struct tdc_attention_plan *make_plan(tdc_evaluation *e, const struct tdc_attention *a)
{
    struct tdc_attention_plan *p = tdc_take(e, 1, sizeof *p);
    const tdc_array *q = a->q, *k = a->k, *v = a->v;
    if (q->rank < 2 || k->rank != q->rank || v->rank != q->rank)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "query, key and value differ in rank");
    unsigned last = q->rank - 1;
    *p = (struct tdc_attention_plan){.a = *a, .units = 1, .shared = 1, .outer_rank = q->rank - 2};
    p->rows = q->shape[last - 1];
    p->columns = k->shape[last - 1];
    p->depth = q->shape[last];
    p->width = v->shape[last];
    for (unsigned d = 0; d < p->outer_rank; d++) {
        int64_t own = q->shape[d], other = k->shape[d];
        bool heads = d + 1 == p->outer_rank && other > 0 && own % other == 0;
        if (other != v->shape[d] || (own != other && !heads))
            tdc_refuse(e, TDC_ERR_ARGUMENT, "outer sizes of query, key and value do not fit");
        if (own != other)
            p->shared = own / other;
        p->outer[d] = own;
        p->units *= own;
    }
    if (k->shape[last] != p->depth || v->shape[last - 1] != p->columns)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "shapes of a matrix product do not fit");
    check_plane(e, p, a->shift);
    check_plane(e, p, a->bias);
    check_plane(e, p, a->hidden);
    check_plane(e, p, a->kept);
    p->blocks = (p->rows + BLOCK - 1) / BLOCK;
    p->e = e;
    p->multiply = tdc_multiplication(e);
    p->a.scale = tdc_partial(e, a->scale);
    p->kept_factor = tdc_step(e, 1 / a->keep);
    p->teams = omp_in_parallel() ? 1 : omp_get_max_threads();
    int64_t room;
    if (__builtin_mul_overflow(p->columns, 2 * BLOCK * p->teams, &room))
        tdc_refuse(e, TDC_ERR_MEMORY, "a size overflows");
    if (tdc_is_narrow(e) || tdc_is_bounded(e))
        p->room = tdc_take(e, room, sizeof *p->room);
    if (!tdc_is_narrow(e) && p->units * p->rows > 0 && p->columns > 0) {
        p->tile = tdc_tile_chosen();
        p->tiles_size = tdc_attention_tiles_size(p);
        p->tiles = tdc_take(e, p->tiles_size * p->teams, sizeof *p->tiles);
        p->calm = is_calm(p);
    }
    return p;
}

static void attend_rows(const struct tdc_attention_plan *p, double *most, double *sums, double *y)
{
    int64_t units = p->columns == 0 ? 0 : p->units * p->blocks;
#pragma omp parallel for schedule(dynamic) num_threads(p->teams) if (units > 1)
    for (int64_t u = 0; u < units; u++) {
        struct tdc_attention_block b = tdc_attention_block_at(p, u / p->blocks, u % p->blocks);
        int64_t row = b.unit * p->rows + b.from;
        tdc_attention_soften(p, &b, most + row, sums + row);
        tdc_attention_drop(p, &b, b.scores);
        p->multiply(b.rows, p->width, p->columns, (struct tdc_matrix){b.scores, p->columns, false},
                    (struct tdc_matrix){b.v, p->width, false}, y + row * p->width, p->width, false);
    }
}

tdc_array *tdc_attend(tdc_evaluation *e, const struct tdc_attention *a, tdc_array **top,
                      tdc_array **total)
{
    struct tdc_attention_plan *p = make_plan(e, a);
    int64_t shape[RANK];
    memcpy(shape, a->q->shape, sizeof shape);
    tdc_array *most = tdc_new(e, TDC_F64, p->outer_rank + 1, shape);
    tdc_array *sums = tdc_new(e, TDC_F64, p->outer_rank + 1, shape);
    shape[p->outer_rank + 1] = p->width;
    tdc_array *y = tdc_zeros(e, TDC_F64, p->outer_rank + 2, shape);
    p->most = most;
    p->sum = sums;
    if (tdc_is_narrow(e))
        attend_rows(p, most->real, sums->real, y->real);
    else
        tdc_attend_tiles(p, &(struct tdc_attended){y->real, most->real, sums->real});
    if (top != NULL)
        *top = most;
    if (total != NULL)
        *total = sums;
    if (tdc_is_bounded(e))
        tdc_bound_attention(e, p, y);
    tdc_array *inputs[5] = {a->q, a->k, a->v};
    size_t count = 3;
    if (a->shift != NULL)
        inputs[count++] = a->shift;
    if (a->bias != NULL)
        inputs[count++] = a->bias;
    tdc_note(e, y, pull_attention, p, count, inputs);
    return y;
}
