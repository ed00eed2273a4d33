#include <string.h>

#include "reference/arithmetic.h"

#define RANK TDC_REFERENCE_RANK

bool tdc_same_shape(const array *a, const array *b)
{
    return a->rank == b->rank && memcmp(a->shape, b->shape, a->rank * sizeof *a->shape) == 0;
}

void tdc_strides(const array *x, int64_t strides[RANK])
{
    int64_t step = 1;
    for (unsigned d = x->rank; d-- > 0;) {
        strides[d] = step;
        step *= x->shape[d] > 0 ? x->shape[d] : 1;
    }
}

/* An array on x's elements; its gradient has x's elements in the same order. */
static void pull_reshape(evaluation *e, struct tdc_tape_node *node, array *gradient)
{
    array *x = node->inputs[0];
    array *g = tdc_constant(e, gradient);
    g->rank = x->rank;
    memcpy(g->shape, x->shape, sizeof x->shape);
    tdc_collect(e, x, g);
}

array *tdc_reshape(evaluation *e, array *x, unsigned rank, const int64_t *shape)
{
    if (rank > RANK)
        tdc_refuse(e, TDC_ERR_UNSUPPORTED, "more than %d dimensions", RANK);
    int64_t count = 1;
    bool overflows = false, empty = false;
    for (unsigned d = 0; d < rank; d++) {
        empty |= shape[d] == 0;
        overflows |=
            shape[d] < 0 || (shape[d] != 0 && __builtin_mul_overflow(count, shape[d], &count));
    }
    if (overflows || (empty ? 0 : count) != x->count)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "shape is invalid for input of size %lld",
                   (long long)x->count);
    array *y = tdc_constant(e, x);
    y->rank = rank;
    if (rank > 0)
        memcpy(y->shape, shape, rank * sizeof *shape);
    tdc_note(e, y, pull_reshape, NULL, 1, &x);
    return y;
}

struct view_detail {
    int64_t strides[RANK];
    int64_t offset;
};

/* Calls of step(place in the view, its first element in x) for every run of the last dimension. */
struct walk {
    unsigned rank;
    const int64_t *shape, *strides;
    int64_t index[RANK];
    int64_t at; /* element of x */
};

static bool next_run(struct walk *w)
{
    for (unsigned d = w->rank - 1; d-- > 0;) {
        w->at += w->strides[d];
        if (++w->index[d] < w->shape[d])
            return true;
        w->at -= w->strides[d] * w->shape[d];
        w->index[d] = 0;
    }
    return false;
}

static void copy_view(const array *view, const struct view_detail *detail, const int64_t *from,
                      int64_t *to)
{
    if (view->count == 0)
        return;
    if (view->rank == 0) {
        to[0] = from[detail->offset];
        return;
    }
    struct walk w = {view->rank, view->shape, detail->strides, {0}, detail->offset};
    int64_t length = view->shape[view->rank - 1], step = detail->strides[view->rank - 1];
    do {
        const int64_t *source = from + w.at;
        if (step == 1)
            memcpy(to, source, (size_t)length * sizeof *to);
        else
            for (int64_t i = 0; i < length; i++)
                to[i] = source[i * step];
        to += length;
    } while (next_run(&w));
}

static void pull_view(evaluation *e, struct tdc_tape_node *node, array *gradient)
{
    const struct view_detail *detail = node->detail;
    array *x = node->inputs[0], *view = node->output;
    array *g = tdc_zeros(e, TDC_F64, x->rank, x->shape);
    if (view->count > 0 && view->rank == 0) {
        g->real[detail->offset] = gradient->real[0];
    } else if (view->count > 0) {
        struct walk w = {view->rank, view->shape, detail->strides, {0}, detail->offset};
        int64_t length = view->shape[view->rank - 1], step = detail->strides[view->rank - 1];
        const double *from = gradient->real;
        do {
            double *to = g->real + w.at;
            if (step == 0)
                *to += tdc_pairwise_sum(from, length, 1);
            else
                for (int64_t i = 0; i < length; i++)
                    to[i * step] += from[i];
            from += length;
        } while (next_run(&w));
    }
    tdc_collect(e, x, g);
}

static array *viewed(evaluation *e, array *x, unsigned rank, const int64_t *shape,
                     const int64_t *strides, int64_t offset, tdc_pull *pull)
{
    struct view_detail *detail = tdc_take(e, 1, sizeof *detail);
    memset(detail, 0, sizeof *detail);
    if (rank > 0 && rank <= RANK)
        memcpy(detail->strides, strides, rank * sizeof *strides);
    detail->offset = offset;
    array *y = tdc_new(e, x->dtype, rank, shape);
    copy_view(y, detail, x->whole, y->whole);
    tdc_note(e, y, pull, detail, 1, &x);
    return y;
}

array *tdc_view(evaluation *e, array *x, unsigned rank, const int64_t *shape,
                const int64_t *strides, int64_t offset)
{
    return viewed(e, x, rank, shape, strides, offset, pull_view);
}

/* Pairwise sums over the repeated dimensions. */
static void pull_expand(evaluation *e, struct tdc_tape_node *node, array *gradient)
{
    const struct view_detail *detail = node->detail;
    array *x = node->inputs[0];
    bool repeated[RANK] = {false};
    for (unsigned d = 0; d < node->output->rank; d++)
        repeated[d] = detail->strides[d] == 0;
    array *g = tdc_sum(e, gradient, repeated, false);
    tdc_collect(e, x, tdc_reshape(e, g, x->rank, x->shape));
}

array *tdc_permute(evaluation *e, array *x, const unsigned *order)
{
    int64_t strides[RANK], shape[RANK], moved[RANK];
    bool same = true;
    tdc_strides(x, strides);
    for (unsigned d = 0; d < x->rank; d++) {
        shape[d] = x->shape[order[d]];
        moved[d] = strides[order[d]];
        same &= order[d] == d;
    }
    return same ? x : tdc_view(e, x, x->rank, shape, moved, 0);
}

array *tdc_swap(evaluation *e, array *x, unsigned a, unsigned b)
{
    unsigned order[RANK];
    for (unsigned d = 0; d < x->rank; d++)
        order[d] = d == a ? b : d == b ? a : d;
    return tdc_permute(e, x, order);
}

array *tdc_dim_last(evaluation *e, array *x, unsigned dim)
{
    unsigned order[RANK], n = 0;
    if (x->rank == 0)
        return tdc_reshape(e, x, 1, (const int64_t[]){1});
    for (unsigned d = 0; d < x->rank; d++)
        if (d != dim)
            order[n++] = d;
    order[n] = dim;
    return tdc_permute(e, x, order);
}

array *tdc_dim_back(evaluation *e, array *x, unsigned dim)
{
    unsigned order[RANK];
    for (unsigned d = 0; d < x->rank; d++)
        order[d] = d < dim ? d : d == dim ? x->rank - 1 : d - 1;
    return tdc_permute(e, x, order);
}

void tdc_broadcast_shape(evaluation *e, const array *a, const array *b, unsigned *rank,
                         int64_t shape[RANK])
{
    *rank = a->rank > b->rank ? a->rank : b->rank;
    for (unsigned d = 0; d < *rank; d++) {
        int64_t p = d < *rank - a->rank ? 1 : a->shape[d - (*rank - a->rank)];
        int64_t q = d < *rank - b->rank ? 1 : b->shape[d - (*rank - b->rank)];
        if (p != q && p != 1 && q != 1)
            tdc_refuse(e, TDC_ERR_ARGUMENT, "sizes %lld and %lld do not broadcast", (long long)p,
                       (long long)q);
        shape[d] = p == 1 ? q : p;
    }
}

array *tdc_expand(evaluation *e, array *x, unsigned rank, const int64_t *shape)
{
    int64_t strides[RANK], wide[RANK] = {0};
    if (rank == x->rank && memcmp(shape, x->shape, rank * sizeof *shape) == 0)
        return x;
    if (rank < x->rank || rank > RANK)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "cannot expand to fewer dimensions");
    tdc_strides(x, strides);
    for (unsigned d = 0; d < x->rank; d++) {
        unsigned to = d + rank - x->rank;
        if (x->shape[d] != shape[to] && x->shape[d] != 1)
            tdc_refuse(e, TDC_ERR_ARGUMENT, "size %lld does not expand to %lld",
                       (long long)x->shape[d], (long long)shape[to]);
        wide[to] = x->shape[d] == 1 ? 0 : strides[d];
    }
    return viewed(e, x, rank, shape, wide, 0, pull_expand);
}

array *tdc_slice(evaluation *e, array *x, unsigned dim, int64_t start, int64_t length, int64_t step)
{
    int64_t strides[RANK], shape[RANK];
    if (dim >= x->rank || length < 0 || start < 0 || step < 1 ||
        (length > 0 && (length - 1) > (x->shape[dim] - 1 - start) / step) || start > x->shape[dim])
        tdc_refuse(e, TDC_ERR_ARGUMENT, "a slice leaves its tensor");
    tdc_strides(x, strides);
    memcpy(shape, x->shape, sizeof shape);
    int64_t offset = length > 0 ? start * strides[dim] : 0;
    shape[dim] = length;
    strides[dim] *= length > 1 ? step : 1; /* a longer step may overflow */
    return tdc_view(e, x, x->rank, shape, strides, offset);
}

array *tdc_flip(evaluation *e, array *x, unsigned dim)
{
    int64_t strides[RANK];
    if (x->rank == 0 || x->shape[dim] == 0)
        return x;
    tdc_strides(x, strides);
    int64_t offset = (x->shape[dim] - 1) * strides[dim];
    strides[dim] = -strides[dim];
    return tdc_view(e, x, x->rank, x->shape, strides, offset);
}

array *tdc_unsqueeze(evaluation *e, array *x, unsigned dim)
{
    int64_t shape[RANK + 1];
    for (unsigned d = 0; d <= x->rank; d++)
        shape[d] = d < dim ? x->shape[d] : d == dim ? 1 : x->shape[d - 1];
    return tdc_reshape(e, x, x->rank + 1, shape);
}

array *tdc_squeeze(evaluation *e, array *x, unsigned dim)
{
    int64_t shape[RANK];
    if (x->rank == 0 || x->shape[dim] != 1)
        return x;
    for (unsigned d = 0; d + 1 < x->rank; d++)
        shape[d] = x->shape[d < dim ? d : d + 1];
    return tdc_reshape(e, x, x->rank - 1, shape);
}

static void pull_gather(evaluation *e, struct tdc_tape_node *node, array *gradient)
{
    array *x = node->inputs[0];
    array *g = tdc_zeros(e, TDC_F64, x->rank, x->shape);
    const int64_t *map = node->detail;
    for (int64_t i = 0; i < gradient->count; i++)
        if (map[i] >= 0)
            g->real[map[i]] = tdc_step(e, g->real[map[i]] + gradient->real[i]);
    tdc_collect(e, x, g);
}

array *tdc_mapped(evaluation *e, array *x, const int64_t *map, unsigned rank, const int64_t *shape,
                  double fill)
{
    array *y = tdc_new(e, x->dtype, rank, shape);
    bool floating = tdc_dtype_is_floating(x->dtype);
    for (int64_t i = 0; i < y->count; i++) {
        if (map[i] >= 0)
            y->whole[i] = x->whole[map[i]];
        else if (floating)
            y->real[i] = fill;
        else
            y->whole[i] = (int64_t)fill;
    }
    tdc_note(e, y, pull_gather, map, 1, &x);
    return y;
}

static void pull_scatter(evaluation *e, struct tdc_tape_node *node, array *gradient)
{
    array *x = node->inputs[0];
    array *g = tdc_new_like(e, TDC_F64, x);
    const int64_t *map = node->detail;
    for (int64_t i = 0; i < g->count; i++)
        g->real[i] = map[i] >= 0 ? gradient->real[map[i]] : 0;
    tdc_collect(e, x, g);
}

array *tdc_scatter_add(evaluation *e, array *x, const int64_t *map, unsigned rank,
                       const int64_t *shape)
{
    array *y = tdc_zeros(e, x->dtype, rank, shape);
    bool floating = tdc_dtype_is_floating(x->dtype);
    for (int64_t i = 0; i < x->count; i++) {
        if (map[i] < 0)
            continue;
        if (floating)
            y->real[map[i]] = tdc_step(e, y->real[map[i]] + x->real[i]);
        else
            y->whole[map[i]] =
                tdc_wrap((int64_t)((uint64_t)y->whole[map[i]] + (uint64_t)x->whole[i]), x->dtype);
    }
    tdc_note(e, y, pull_scatter, map, 1, &x);
    return y;
}

static void pull_concatenate(evaluation *e, struct tdc_tape_node *node, array *gradient)
{
    unsigned dim = *(const unsigned *)node->detail;
    int64_t start = 0;
    for (size_t i = 0; i < node->input_count; i++) {
        array *x = node->inputs[i];
        if (tdc_tracked(x))
            tdc_collect(e, x, tdc_slice(e, gradient, dim, start, x->shape[dim], 1));
        start += x->shape[dim];
    }
}

array *tdc_concatenate(evaluation *e, array *const *pieces, size_t count, unsigned dim)
{
    int64_t shape[RANK], outer = 1, inner = 1;
    memcpy(shape, pieces[0]->shape, sizeof shape);
    shape[dim] = 0;
    for (size_t i = 0; i < count; i++) {
        if (pieces[i]->rank != pieces[0]->rank || pieces[i]->dtype != pieces[0]->dtype)
            tdc_refuse(e, TDC_ERR_ARGUMENT, "tensors to join differ in rank or dtype");
        for (unsigned d = 0; d < pieces[0]->rank; d++)
            if (d != dim && pieces[i]->shape[d] != shape[d])
                tdc_refuse(e, TDC_ERR_ARGUMENT, "sizes of tensors to join differ");
        if (__builtin_add_overflow(shape[dim], pieces[i]->shape[dim], &shape[dim]))
            tdc_refuse(e, TDC_ERR_MEMORY, "a size overflows");
    }
    array *y = tdc_new(e, pieces[0]->dtype, pieces[0]->rank, shape);
    for (unsigned d = 0; y->count > 0 && d < y->rank; d++) {
        outer *= d < dim ? shape[d] : 1;
        inner *= d > dim ? shape[d] : 1;
    }
    int64_t *to = y->whole;
    for (int64_t o = 0; y->count > 0 && o < outer; o++)
        for (size_t i = 0; i < count; i++) {
            size_t run = (size_t)(pieces[i]->shape[dim] * inner);
            memcpy(to, pieces[i]->whole + o * (int64_t)run, run * sizeof *to);
            to += run;
        }
    unsigned *detail = tdc_take(e, 1, sizeof *detail);
    *detail = dim;
    tdc_note(e, y, pull_concatenate, detail, count, pieces);
    return y;
}
