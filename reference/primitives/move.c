/* Other shapes, views and orders of the same elements. */
#include "reference/primitives/move.h"

#include <string.h>

#include "reference/bounds.h"
#include "reference/primitives/copy_view.h"
#include "reference/primitives/reduce.h"
#include "reference/tape.h"

#define RANK TDC_REFERENCE_RANK

void tdc_strides(const tdc_array *x, int64_t strides[RANK])
{
    int64_t step = 1;
    for (unsigned d = x->rank; d-- > 0;) {
        strides[d] = step;
        step *= x->shape[d] > 0 ? x->shape[d] : 1;
    }
}

/* An array on x's elements; its gradient has x's elements in the same order. */
static void pull_reshape(tdc_evaluation *e, struct tdc_tape_node *node, tdc_array *gradient)
{
    tdc_array *x = node->inputs[0];
    tdc_array *g = tdc_constant(e, gradient);
    g->rank = x->rank;
    memcpy(g->shape, x->shape, sizeof x->shape);
    tdc_collect(e, x, g);
}

tdc_array *tdc_reshape(tdc_evaluation *e, tdc_array *x, unsigned rank, const int64_t *shape)
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
    tdc_array *y = tdc_constant(e, x);
    y->rank = rank;
    if (rank > 0)
        memcpy(y->shape, shape, rank * sizeof *shape);
    tdc_note(e, y, pull_reshape, NULL, 1, &x);
    return y;
}

/* Errors of what is about to be added to a view's places: nothing is lost at a place without
 * anything. */
static void bound_added(tdc_evaluation *e, const tdc_array *view,
                        const struct tdc_view_place *place, const tdc_array *gradient,
                        tdc_array *to)
{
    tdc_array *before = tdc_new_like(e, TDC_F64, view), *brought = tdc_new_like(e, TDC_F64, view);
    tdc_copy_view(view, place, to->whole, before->whole);
    for (int64_t i = 0; i < brought->count; i++) {
        double a = before->real[i], b = gradient->real[i];
        brought->real[i] =
            tdc_error_at(gradient, i) + (a != 0 && b != 0 ? tdc_own_error(e, TDC_BASIC, a + b) : 0);
    }
    tdc_array *errors = tdc_zeros(e, TDC_F64, to->rank, to->shape);
    if (to->error != NULL)
        memcpy(errors->real, to->error, (size_t)to->count * sizeof *errors->real);
    tdc_add_view(e, view, place, brought->real, errors->real);
    tdc_bound_by(to, errors);
}

static void pull_view(tdc_evaluation *e, struct tdc_tape_node *node, tdc_array *gradient)
{
    tdc_array *x = node->inputs[0];
    if (tdc_is_bounded(e))
        bound_added(e, node->output, node->detail, gradient, tdc_gradient_of(e, x));
    tdc_add_view(e, node->output, node->detail, gradient->real, tdc_gradient_of(e, x)->real);
}

static void bound_view(tdc_evaluation *e, tdc_array *y, const struct tdc_view_place *place,
                       const tdc_array *x)
{
    const tdc_array *errors = tdc_error_array(e, x);
    y->bounded = x->bounded;
    if (errors == NULL)
        return;
    tdc_array *own = tdc_new_like(e, TDC_F64, y);
    tdc_copy_view(own, place, errors->whole, own->whole);
    tdc_bound_by(y, own);
}

static tdc_array *viewed(tdc_evaluation *e, tdc_array *x, unsigned rank, const int64_t *shape,
                         const int64_t *strides, int64_t offset, tdc_pull *pull)
{
    struct tdc_view_place *detail = tdc_take(e, 1, sizeof *detail);
    memset(detail, 0, sizeof *detail);
    if (rank > 0 && rank <= RANK)
        memcpy(detail->strides, strides, rank * sizeof *strides);
    detail->offset = offset;
    tdc_array *y = tdc_new(e, x->dtype, rank, shape);
    tdc_copy_view(y, detail, x->whole, y->whole);
    bound_view(e, y, detail, x);
    tdc_note(e, y, pull, detail, 1, &x);
    return y;
}

tdc_array *tdc_view(tdc_evaluation *e, tdc_array *x, unsigned rank, const int64_t *shape,
                    const int64_t *strides, int64_t offset)
{
    return viewed(e, x, rank, shape, strides, offset, pull_view);
}

/* Pairwise sums over the repeated dimensions. */
static void pull_expand(tdc_evaluation *e, struct tdc_tape_node *node, tdc_array *gradient)
{
    const struct tdc_view_place *detail = node->detail;
    tdc_array *x = node->inputs[0];
    bool repeated[RANK] = {false};
    for (unsigned d = 0; d < node->output->rank; d++)
        repeated[d] = detail->strides[d] == 0;
    e->bounds.sums = e->bounds.spread;
    tdc_array *g = tdc_sum(e, gradient, repeated, false);
    e->bounds.sums = 0;
    tdc_collect(e, x, tdc_reshape(e, g, x->rank, x->shape));
}

/* The other way round. */
static void pull_permute(tdc_evaluation *e, struct tdc_tape_node *node, tdc_array *gradient)
{
    tdc_array *x = node->inputs[0];
    const unsigned *order = node->detail;
    unsigned back[RANK] = {0};
    for (unsigned d = 0; d < x->rank; d++)
        back[order[d]] = d;
    tdc_collect(e, x, tdc_permute(e, tdc_constant(e, gradient), back));
}

tdc_array *tdc_permute(tdc_evaluation *e, tdc_array *x, const unsigned *order)
{
    struct tdc_view_place place = {.offset = 0};
    int64_t strides[RANK], shape[RANK];
    bool same = true;
    tdc_strides(x, strides);
    for (unsigned d = 0; d < x->rank; d++) {
        shape[d] = x->shape[order[d]];
        place.strides[d] = strides[order[d]];
        same &= order[d] == d;
    }
    if (same)
        return x;
    tdc_array *y = tdc_new(e, x->dtype, x->rank, shape);
    unsigned *detail = tdc_take(e, RANK, sizeof *detail);
    memcpy(detail, order, x->rank * sizeof *order);
    tdc_copy_view(y, &place, x->whole, y->whole);
    bound_view(e, y, &place, x);
    tdc_note(e, y, pull_permute, detail, 1, &x);
    return y;
}

tdc_array *tdc_swap(tdc_evaluation *e, tdc_array *x, unsigned a, unsigned b)
{
    unsigned order[RANK];
    for (unsigned d = 0; d < x->rank; d++)
        order[d] = d == a ? b : d == b ? a : d;
    return tdc_permute(e, x, order);
}

tdc_array *tdc_dim_last(tdc_evaluation *e, tdc_array *x, unsigned dim)
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

tdc_array *tdc_dim_back(tdc_evaluation *e, tdc_array *x, unsigned dim)
{
    unsigned order[RANK];
    for (unsigned d = 0; d < x->rank; d++)
        order[d] = d < dim ? d : d == dim ? x->rank - 1 : d - 1;
    return tdc_permute(e, x, order);
}

void tdc_broadcast_shape(tdc_evaluation *e, const tdc_array *a, const tdc_array *b, unsigned *rank,
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

tdc_array *tdc_expand(tdc_evaluation *e, tdc_array *x, unsigned rank, const int64_t *shape)
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

tdc_array *tdc_slice(tdc_evaluation *e, tdc_array *x, unsigned dim, int64_t start, int64_t length,
                     int64_t step)
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

tdc_array *tdc_flip(tdc_evaluation *e, tdc_array *x, unsigned dim)
{
    int64_t strides[RANK];
    if (x->rank == 0 || x->shape[dim] == 0)
        return x;
    tdc_strides(x, strides);
    int64_t offset = (x->shape[dim] - 1) * strides[dim];
    strides[dim] = -strides[dim];
    return tdc_view(e, x, x->rank, x->shape, strides, offset);
}

tdc_array *tdc_unsqueeze(tdc_evaluation *e, tdc_array *x, unsigned dim)
{
    int64_t shape[RANK + 1];
    for (unsigned d = 0; d <= x->rank; d++)
        shape[d] = d < dim ? x->shape[d] : d == dim ? 1 : x->shape[d - 1];
    return tdc_reshape(e, x, x->rank + 1, shape);
}

tdc_array *tdc_squeeze(tdc_evaluation *e, tdc_array *x, unsigned dim)
{
    int64_t shape[RANK];
    if (x->rank == 0 || x->shape[dim] != 1)
        return x;
    for (unsigned d = 0; d + 1 < x->rank; d++)
        shape[d] = x->shape[d < dim ? d : d + 1];
    return tdc_reshape(e, x, x->rank - 1, shape);
}
