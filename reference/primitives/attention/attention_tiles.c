/*
 * Attention in float64 by blocks of queries and keys that stay in the cache.
 *
 * Scores are made transposed, a line for each key, in the panels of queries that the product with
 * the values takes as they are. The softmax goes from one block of keys to the next with the
 * largest score and the sum so far, so that memory does not grow with the keys. Blocks that a band
 * hides altogether are passed over.
 */
#include <math.h>
#include <omp.h>
#include <string.h>

#include "reference/primitives/attention/attention_plan.h"
#include "reference/primitives/matrix/panels.h"
#include "reference/primitives/vector/panel_softmax.h"

#define QUERIES      240 /* a block's; a multiple of every tile's columns */
#define KEYS         256
#define PULL_QUERIES 120
#define PULL_KEYS    128
#define WIDEST       24 /* columns of a tile */

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t blocks_of(int64_t count, int64_t block)
{
    return (count + block - 1) / block;
}

/* Queries [from, from + count) of one head, as right operands packed side by side. */
struct queries {
    int64_t unit, from, count;
};

struct panel {
    int64_t first, count, width; /* queries of the block; columns with those that fill it up */
};

static struct panel panel_at(const struct tdc_tile *t, const struct queries *q, int64_t first)
{
    int64_t count = least(t->columns, q->count - first);
    return (struct panel){first, count, tdc_strip_columns(t, count)};
}

/* ---- what is added to scores ----------------------------------------------------------------- */

static bool outside(const struct tdc_attention *a, int64_t row, int64_t column)
{
    return (double)column > (double)row + a->next || (double)column < (double)row - a->pre;
}

/* Whether the band hides every key of the block from every query, whose products are calm. */
static bool is_hidden(const struct tdc_attention_plan *p, int64_t row, int64_t rows, int64_t key,
                      int64_t keys)
{
    const struct tdc_attention *a = &p->a;
    return p->calm && ((double)key > (double)(row + rows - 1) + a->next ||
                       (double)(key + keys - 1) < (double)row - a->pre);
}

static bool is_cut(const struct tdc_attention_plan *p, int64_t row, int64_t rows, int64_t key,
                   int64_t keys)
{
    const struct tdc_attention *a = &p->a;
    return a->banded && ((double)(key + keys - 1) > (double)row + a->next ||
                         (double)key < (double)(row + rows - 1) - a->pre);
}

/* Shift, scale, bias and what is hidden, of one panel. Gives the scale that is left to apply. */
static double add_terms(const struct tdc_attention_plan *p, const struct queries *q,
                        const struct panel *n, int64_t key, int64_t keys, double *scores)
{
    const struct tdc_attention *a = &p->a;
    int64_t row = q->from + n->first;
    bool cut = is_cut(p, row, n->count, key, keys);
    if (a->shift == NULL && a->bias == NULL && a->hidden == NULL && !cut)
        return a->scale;
    struct tdc_attention_plane shift = tdc_attention_plane_of(p, a->shift, q->unit);
    struct tdc_attention_plane bias = tdc_attention_plane_of(p, a->bias, q->unit);
    struct tdc_attention_plane hidden = tdc_attention_plane_of(p, a->hidden, q->unit);
    for (int64_t c = 0; c < n->count; c++, row++)
        for (int64_t j = 0; j < keys; j++) {
            double *s = scores + j * n->width + c;
            int64_t column = key + j;
            if (shift.x != NULL)
                *s += shift.x->real[shift.at + row * shift.row + column * shift.column];
            *s *= a->scale;
            if (bias.x != NULL)
                *s += bias.x->real[bias.at + row * bias.row + column * bias.column];
            if (hidden.x != NULL &&
                hidden.x->whole[hidden.at + row * hidden.row + column * hidden.column] != 0)
                *s += a->hidden_term;
            if (cut && outside(a, row, column))
                *s += a->hidden_term;
        }
    return 1;
}

static void drop(const struct tdc_attention_plan *p, const struct queries *q, const struct panel *n,
                 int64_t key, int64_t keys, double *x)
{
    struct tdc_attention_plane kept = tdc_attention_plane_of(p, p->a.kept, q->unit);
    if (kept.x == NULL)
        return;
    for (int64_t c = 0; c < n->count; c++)
        for (int64_t j = 0; j < keys; j++) {
            int64_t at = kept.at + (q->from + n->first + c) * kept.row + (key + j) * kept.column;
            x[j * n->width + c] *= kept.x->whole[at] != 0 ? p->kept_factor : 0;
        }
}

/* ---- packed operands ------------------------------------------------------------------------- */

/* Chain by chain, each behind the one before it. */
static void pack_left_chains(const struct tdc_tile *t, struct tdc_matrix a, int64_t row,
                             int64_t rows, int64_t depth, double *to)
{
    for (int64_t start = 0; start < depth; start += TDC_CHAIN)
        tdc_pack_left(t, a, row, rows, start, least(TDC_CHAIN, depth - start), to + rows * start);
}

static void pack_right_chains(const struct tdc_tile *t, struct tdc_matrix b, int64_t column,
                              const struct panel *n, int64_t depth, double *to)
{
    for (int64_t start = 0; start < depth; start += TDC_CHAIN)
        tdc_pack_right(t, b, column, n->count, start, least(TDC_CHAIN, depth - start),
                       to + n->width * start);
}

/* A panel of `rows` lines, left and right packed chain by chain. */
static void multiply_chains(const struct tdc_tile *t, int64_t rows, int64_t width, int64_t depth,
                            const double *left, const double *right, double *to)
{
    for (int64_t start = 0; start < depth; start += TDC_CHAIN)
        tdc_multiply_panels(t, rows, width, least(TDC_CHAIN, depth - start), left + rows * start,
                            right + width * start, to, width, start > 0);
    if (depth == 0)
        memset(to, 0, (size_t)(rows * width) * sizeof *to);
}

/* Panels of all queries of the block, one after the other: that of query f at f * depth. */
static void pack_queries(const struct tdc_tile *t, const struct queries *q, const double *x,
                         int64_t depth, double *to)
{
    for (int64_t f = 0; f < q->count; f += t->columns) {
        struct panel n = panel_at(t, q, f);
        pack_right_chains(t, (struct tdc_matrix){x, depth, true}, f, &n, depth, to + f * depth);
    }
}

/* ---- forward --------------------------------------------------------------------------------- */

/* A thread's memory. */
struct forward_room {
    double *q, *k, *v, *scores, *out; /* packed operands, a panel, and the block's results */
    double *most, *sum, *factor;
};

static int64_t forward_size(const struct tdc_attention_plan *p)
{
    return (QUERIES + WIDEST) * (p->depth + p->width + 3) + KEYS * (p->depth + p->width + WIDEST);
}

static struct forward_room forward_room_of(const struct tdc_attention_plan *p)
{
    struct forward_room r = {.q = p->tiles + omp_get_thread_num() * p->tiles_size};
    r.k = r.q + (QUERIES + WIDEST) * p->depth;
    r.v = r.k + KEYS * p->depth;
    r.scores = r.v + KEYS * p->width;
    r.out = r.scores + KEYS * WIDEST;
    r.most = r.out + (QUERIES + WIDEST) * p->width;
    r.sum = r.most + QUERIES + WIDEST;
    r.factor = r.sum + QUERIES + WIDEST;
    return r;
}

static void attend_panel(const struct tdc_attention_plan *p, const struct queries *q,
                         const struct panel *n, int64_t key, int64_t keys,
                         const struct forward_room *r)
{
    const struct tdc_tile *t = p->tile;
    struct tdc_softmax_state state = {r->most + n->first, r->sum + n->first, r->factor};
    double *out = r->out + n->first * p->width;
    multiply_chains(t, keys, n->width, p->depth, r->k, r->q + n->first * p->depth, r->scores);
    double scale = add_terms(p, q, n, key, keys, r->scores);
    tdc_soften_panel(keys, n->width, scale, r->scores, &state);
    drop(p, q, n, key, keys, r->scores);
    for (int64_t d = 0; d < p->width; d++)
        for (int64_t c = 0; c < n->width; c++)
            out[d * n->width + c] *= r->factor[c];
    tdc_multiply_panels(t, p->width, n->width, keys, r->v, r->scores, out, n->width, true);
}

static void attend_block(const struct tdc_attention_plan *p, const struct queries *q,
                         const struct tdc_attended *to)
{
    const struct tdc_tile *t = p->tile;
    struct forward_room r = forward_room_of(p);
    int64_t unit_key = q->unit / p->shared;
    const double *k = p->a.k->real + unit_key * p->columns * p->depth;
    const double *v = p->a.v->real + unit_key * p->columns * p->width;
    int64_t row = q->unit * p->rows + q->from;
    pack_queries(t, q, p->a.q->real + row * p->depth, p->depth, r.q);
    for (int64_t i = 0; i < QUERIES + WIDEST; i++) {
        r.most[i] = -(double)INFINITY;
        r.sum[i] = 0;
    }
    memset(r.out, 0, (size_t)((QUERIES + WIDEST) * p->width) * sizeof *r.out);
    for (int64_t key = 0; key < p->columns; key += KEYS) {
        int64_t keys = least(KEYS, p->columns - key);
        if (is_hidden(p, q->from, q->count, key, keys))
            continue;
        pack_left_chains(t, (struct tdc_matrix){k, p->depth, false}, key, keys, p->depth, r.k);
        tdc_pack_left(t, (struct tdc_matrix){v + key * p->width, p->width, true}, 0, p->width, 0,
                      keys, r.v);
        for (int64_t f = 0; f < q->count; f += t->columns) {
            struct panel n = panel_at(t, q, f);
            if (!is_hidden(p, q->from + f, n.count, key, keys))
                attend_panel(p, q, &n, key, keys, &r);
        }
    }
    for (int64_t f = 0; f < q->count; f += t->columns) {
        struct panel n = panel_at(t, q, f);
        for (int64_t c = 0; c < n.count; c++) {
            double most = r.most[f + c], sum = r.sum[f + c];
            bool blind = isinf(most) && most < 0;
            if (isnan(sum) && !isinf(most))
                most = sum;
            for (int64_t d = 0; d < p->width; d++)
                to->y[(row + f + c) * p->width + d] =
                    !blind      ? r.out[f * p->width + d * n.width + c] / sum
                    : p->a.safe ? 0
                                : (double)NAN;
            to->most[row + f + c] = most;
            to->sum[row + f + c] = blind ? (double)NAN : sum;
        }
    }
}

void tdc_attend_tiles(const struct tdc_attention_plan *p, const struct tdc_attended *to)
{
    int64_t blocks = blocks_of(p->rows, QUERIES), units = p->columns == 0 ? 0 : p->units * blocks;
#pragma omp parallel for schedule(dynamic) num_threads(p->teams) if (units > 1)
    for (int64_t u = 0; u < units; u++) {
        struct queries q = {.unit = u / blocks, .from = u % blocks * QUERIES};
        q.count = least(QUERIES, p->rows - q.from);
        attend_block(p, &q, to);
    }
}

/* ---- backward -------------------------------------------------------------------------------- */

struct backward_room {
    double *q, *g;          /* panels of queries and of their gradients */
    double *all_q, *all_g;  /* both as right operands over the queries */
    double *k, *v, *turned; /* keys, values, and keys transposed */
    double *weights, *slopes;
    double *packed_weights, *packed_slopes;
    double *dq;
    double *most, *inverse, *mean;
};

static int64_t backward_size(const struct tdc_attention_plan *p)
{
    int64_t both = p->depth + p->width;
    return (PULL_QUERIES + WIDEST) * (2 * both + p->depth + 3) + 2 * WIDEST * PULL_QUERIES +
           PULL_KEYS * (both + p->depth) + 2 * PULL_KEYS * (WIDEST + PULL_QUERIES);
}

int64_t tdc_attention_tiles_size(const struct tdc_attention_plan *p)
{
    int64_t forward = forward_size(p), backward = backward_size(p);
    return forward > backward ? forward : backward;
}

static struct backward_room backward_room_of(const struct tdc_attention_plan *p)
{
    int64_t queries = PULL_QUERIES + WIDEST;
    struct backward_room r = {.q = p->tiles + omp_get_thread_num() * p->tiles_size};
    r.g = r.q + queries * p->depth;
    r.all_q = r.g + queries * p->width;
    r.all_g = r.all_q + PULL_QUERIES * (p->depth + WIDEST);
    r.k = r.all_g + PULL_QUERIES * (p->width + WIDEST);
    r.v = r.k + PULL_KEYS * p->depth;
    r.turned = r.v + PULL_KEYS * p->width;
    r.weights = r.turned + PULL_KEYS * p->depth;
    r.slopes = r.weights + PULL_KEYS * WIDEST;
    r.packed_weights = r.slopes + PULL_KEYS * WIDEST;
    r.packed_slopes = r.packed_weights + PULL_KEYS * PULL_QUERIES;
    r.dq = r.packed_slopes + PULL_KEYS * PULL_QUERIES;
    r.most = r.dq + queries * p->depth;
    r.inverse = r.most + queries;
    r.mean = r.inverse + queries;
    return r;
}

/* Largest scores, reciprocal sums and mean slopes of the block's queries; those that fill a panel
 * up have weights of 0. */
static void know_queries(const struct tdc_attention_plan *p, const struct queries *q,
                         const struct tdc_attention_pull *s, const struct backward_room *r)
{
    for (int64_t i = 0; i < PULL_QUERIES + WIDEST; i++) {
        r->most[i] = r->inverse[i] = r->mean[i] = 0;
        if (i >= q->count)
            continue;
        int64_t row = q->unit * p->rows + q->from + i;
        double most = s->forward.most[row];
        bool blind = isinf(most) && most < 0;
        r->most[i] = blind ? 0 : most;
        r->inverse[i] = !blind ? 1 / s->forward.sum[row] : p->a.safe ? 0 : (double)NAN;
        double mean = 0;
        for (int64_t d = 0; d < p->width; d++)
            mean += s->out[row * p->width + d] * s->forward.y[row * p->width + d];
        r->mean[i] = mean;
    }
}

/* Lines of a panel as part of a left operand over all queries of the block. */
static void pack_panel(const struct tdc_tile *t, const struct queries *q, const struct panel *n,
                       int64_t keys, const double *panel, double *to)
{
    for (int64_t i = 0, row = 0; row < keys; i++) {
        int64_t end = tdc_band_start(t, keys, i + 1), tall = end - row;
        t->transpose(panel + row * n->width, n->width, tall, n->count, tall,
                     to + row * q->count + n->first * tall);
        row = end;
    }
}

static void keep_slopes(const struct tdc_attention_plan *p, const struct queries *q,
                        const struct panel *n, int64_t key, int64_t keys, const double *slopes)
{
    double *to = p->scores_pulled->real + (q->unit * p->rows + q->from + n->first) * p->columns;
    for (int64_t c = 0; c < n->count; c++)
        for (int64_t j = 0; j < keys; j++)
            to[c * p->columns + key + j] = slopes[j * n->width + c];
}

/* Weights and slopes of the scores of one panel, and what they add to the queries' gradient. */
static void pull_panel(const struct tdc_attention_plan *p, const struct queries *q,
                       const struct panel *n, int64_t key, int64_t keys,
                       const struct tdc_attention_pull *s, const struct backward_room *r)
{
    const struct tdc_tile *t = p->tile;
    struct tdc_softmax_known known = {r->most + n->first, r->inverse + n->first,
                                      r->mean + n->first};
    multiply_chains(t, keys, n->width, p->depth, r->k, r->q + n->first * p->depth, r->weights);
    double scale = add_terms(p, q, n, key, keys, r->weights);
    tdc_weigh_panel(keys, n->width, scale, r->weights, &known);
    multiply_chains(t, keys, n->width, p->width, r->v, r->g + n->first * p->width, r->slopes);
    drop(p, q, n, key, keys, r->slopes);
    tdc_pull_panel(keys, n->width, r->weights, r->slopes, &known);
    if (s->dq_pass && p->scores_pulled != NULL)
        keep_slopes(p, q, n, key, keys, r->slopes);
    for (int64_t i = 0; i < keys * n->width; i++)
        r->slopes[i] *= p->a.scale;
    if (s->dq_pass && s->q != NULL)
        tdc_multiply_panels(t, p->depth, n->width, keys, r->turned, r->slopes,
                            r->dq + n->first * p->depth, n->width, true);
    if (s->dk_pass && s->v != NULL) {
        drop(p, q, n, key, keys, r->weights);
        pack_panel(t, q, n, keys, r->weights, r->packed_weights);
    }
    if (s->dk_pass && s->k != NULL)
        pack_panel(t, q, n, keys, r->slopes, r->packed_slopes);
}

/* A block of queries and one of keys. */
static void pull_keys(const struct tdc_attention_plan *p, const struct queries *q, int64_t key,
                      const struct tdc_attention_pull *s, const struct backward_room *r)
{
    const struct tdc_tile *t = p->tile;
    int64_t keys = least(PULL_KEYS, p->columns - key);
    int64_t first = q->unit / p->shared * p->columns + key;
    struct tdc_matrix k = {p->a.k->real + first * p->depth, p->depth, false};
    struct tdc_matrix v = {p->a.v->real + first * p->width, p->width, false};
    bool hidden = is_hidden(p, q->from, q->count, key, keys);
    if (hidden && !(s->dq_pass && p->scores_pulled != NULL))
        return;
    pack_left_chains(t, k, 0, keys, p->depth, r->k);
    pack_left_chains(t, v, 0, keys, p->width, r->v);
    k.transposed = true;
    tdc_pack_left(t, k, 0, p->depth, 0, keys, r->turned);
    for (int64_t f = 0; f < q->count; f += t->columns) {
        struct panel n = panel_at(t, q, f);
        pull_panel(p, q, &n, key, keys, s, r);
    }
    if (s->dk_pass && s->v != NULL)
        tdc_multiply_panels(t, keys, p->width, q->count, r->packed_weights, r->all_g,
                            s->v + first * p->width, p->width, true);
    if (s->dk_pass && s->k != NULL)
        tdc_multiply_panels(t, keys, p->depth, q->count, r->packed_slopes, r->all_q,
                            s->k + first * p->depth, p->depth, true);
}

/* Blocks [from, to) of keys against one block of queries, in this order. */
static void pull_queries(const struct tdc_attention_plan *p, const struct queries *q, int64_t from,
                         int64_t to, const struct tdc_attention_pull *s)
{
    const struct tdc_tile *t = p->tile;
    struct backward_room r = backward_room_of(p);
    int64_t row = q->unit * p->rows + q->from;
    const double *x = p->a.q->real + row * p->depth, *g = s->out + row * p->width;
    know_queries(p, q, s, &r);
    pack_queries(t, q, x, p->depth, r.q);
    pack_queries(t, q, g, p->width, r.g);
    if (s->dk_pass) {
        tdc_pack_right(t, (struct tdc_matrix){x, p->depth, false}, 0, p->depth, 0, q->count,
                       r.all_q);
        tdc_pack_right(t, (struct tdc_matrix){g, p->width, false}, 0, p->width, 0, q->count,
                       r.all_g);
    }
    memset(r.dq, 0, (size_t)((PULL_QUERIES + WIDEST) * p->depth) * sizeof *r.dq);
    for (int64_t block = from; block < to; block++)
        pull_keys(p, q, block * PULL_KEYS, s, &r);
    for (int64_t f = 0; s->dq_pass && s->q != NULL && f < q->count; f += t->columns) {
        struct panel n = panel_at(t, q, f);
        for (int64_t c = 0; c < n.count; c++)
            for (int64_t d = 0; d < p->depth; d++)
                s->q[(row + f + c) * p->depth + d] = r.dq[f * p->depth + d * n.width + c];
    }
}

/* The blocks of queries of head `unit` from `first` on, `count` of them. */
static void pull_unit(const struct tdc_attention_plan *p, int64_t unit, int64_t first,
                      int64_t count, int64_t from, int64_t to, const struct tdc_attention_pull *s)
{
    for (int64_t i = first; i < first + count; i++) {
        struct queries q = {.unit = unit, .from = i * PULL_QUERIES};
        q.count = least(PULL_QUERIES, p->rows - q.from);
        pull_queries(p, &q, from, to, s);
    }
}

void tdc_pull_attention_tiles(const struct tdc_attention_plan *p,
                              const struct tdc_attention_pull *slopes)
{
    int64_t heads = p->units / p->shared, blocks = blocks_of(p->rows, PULL_QUERIES);
    int64_t key_blocks = blocks_of(p->columns, PULL_KEYS);
    struct tdc_attention_pull s = *slopes;
    if (heads >= p->teams) {
        /* heads that share keys, and a head's blocks, are taken in turn: they add to the same */
        s.dq_pass = s.dk_pass = true;
#pragma omp parallel for schedule(dynamic) num_threads(p->teams)
        for (int64_t head = 0; head < heads; head++)
            for (int64_t i = 0; i < p->shared; i++)
                pull_unit(p, head * p->shared + i, 0, blocks, 0, key_blocks, &s);
        return;
    }
    /* too few of them: once by queries and once by keys, each sum in the same order as above */
    s.dq_pass = true;
    s.dk_pass = false;
#pragma omp parallel for schedule(dynamic) num_threads(p->teams)
    for (int64_t u = 0; u < p->units * blocks; u++)
        pull_unit(p, u / blocks, u % blocks, 1, 0, key_blocks, &s);
    s.dq_pass = false;
    s.dk_pass = true;
#pragma omp parallel for schedule(dynamic) num_threads(p->teams)
    for (int64_t u = 0; u < heads * key_blocks; u++)
        for (int64_t i = 0; i < p->shared; i++)
            pull_unit(p, u / key_blocks * p->shared + i, 0, blocks, u % key_blocks,
                      u % key_blocks + 1, &s);
}
