/* Elements taken from, or added to, places that a map names; tensors joined. */
#include "reference/primitives/gather.h"

#include <omp.h>
#include <string.h>

#include "reference/arithmetic.h"
#include "reference/bounds.h"
#include "reference/primitives/elementwise/promote.h"
#include "reference/primitives/move.h"
#include "reference/tape.h"

#define RANK TDC_REFERENCE_RANK
/* Places a thread is responsible for are cut into at most so many parts: each part's thread reads
 * the whole map. */
#define MOST_PARTS 8

/* to[map[i]] += from[i] where map[i] >= 0. Several i may name one place: they are added in their
 * order, whatever the number of threads, since a place belongs to one thread. */
static void add_at(const tdc_evaluation *e, double *to, int64_t places, const double *from,
                   const int64_t *map, int64_t count)
{
    int64_t parts = count < TDC_PARALLEL_FROM || omp_in_parallel() ? 1 : omp_get_max_threads();
    parts = parts > MOST_PARTS ? MOST_PARTS : parts;
    int64_t size = places / parts + 1;
#pragma omp parallel for schedule(static, 1) if (parts > 1)
    for (int64_t part = 0; part < parts; part++) {
        int64_t low = part * size, high = low + size < places ? low + size : places;
        for (int64_t i = 0; i < count; i++)
            if (map[i] >= low && map[i] < high)
                to[map[i]] = tdc_step(e, to[map[i]] + from[i]);
    }
}

/* y's elements are those of x that the map names. */
static void bound_picked(tdc_evaluation *e, tdc_array *y, const tdc_array *x, const int64_t *map)
{
    double *errors = x->error != NULL ? tdc_new_errors(e, y) : NULL;
    for (int64_t i = 0; errors != NULL && i < y->count; i++)
        errors[i] = map[i] >= 0 ? x->error[map[i]] : 0;
    tdc_bound_exactly(y);
}

static void pull_gather(tdc_evaluation *e, struct tdc_tape_node *node, tdc_array *gradient)
{
    tdc_array *x = node->inputs[0];
    if (tdc_is_bounded(e))
        tdc_bound_scattered(e, tdc_gradient_of(e, x), gradient, node->detail);
    add_at(e, tdc_gradient_of(e, x)->real, x->count, gradient->real, node->detail, gradient->count);
}

tdc_array *tdc_mapped(tdc_evaluation *e, tdc_array *x, const int64_t *map, unsigned rank,
                      const int64_t *shape, double fill)
{
    tdc_array *y = tdc_new(e, x->dtype, rank, shape);
    union {
        double real;
        int64_t whole;
    } other = {.real = fill};
    if (!tdc_dtype_is_floating(x->dtype))
        other.whole = (int64_t)fill;
    TDC_SPREAD(y->count, i, y->count,
               { y->whole[i] = map[i] >= 0 ? x->whole[map[i]] : other.whole; });
    bound_picked(e, y, x, map);
    y->bounded = x->bounded;
    tdc_note(e, y, pull_gather, map, 1, &x);
    return y;
}

static void pull_scatter(tdc_evaluation *e, struct tdc_tape_node *node, tdc_array *gradient)
{
    tdc_array *x = node->inputs[0];
    tdc_array *g = tdc_new_like(e, TDC_F64, x);
    const int64_t *map = node->detail;
    TDC_SPREAD(g->count, i, g->count, { g->real[i] = map[i] >= 0 ? gradient->real[map[i]] : 0; });
    bound_picked(e, g, gradient, map);
    tdc_collect(e, x, g);
}

tdc_array *tdc_scatter_add(tdc_evaluation *e, tdc_array *x, const int64_t *map, unsigned rank,
                           const int64_t *shape)
{
    tdc_array *y = tdc_zeros(e, x->dtype, rank, shape);
    if (tdc_dtype_is_floating(x->dtype)) {
        if (tdc_is_bounded(e))
            tdc_bound_scattered(e, y, x, map);
        add_at(e, y->real, y->count, x->real, map, x->count);
        tdc_note(e, y, pull_scatter, map, 1, &x);
        return y;
    }
    for (int64_t i = 0; i < x->count; i++)
        if (map[i] >= 0)
            y->whole[map[i]] =
                tdc_wrap((int64_t)((uint64_t)y->whole[map[i]] + (uint64_t)x->whole[i]), x->dtype);
    return y;
}

struct overwriting {
    const int64_t *map;
    tdc_array *written;
};

/* Every element written gets the gradient of its place, overwritten ones too, as in torch. */
static void pull_overwritten(tdc_evaluation *e, struct tdc_tape_node *node, tdc_array *gradient)
{
    const struct overwriting *detail = node->detail;
    tdc_array *x = node->inputs[0], *src = node->inputs[1];
    if (tdc_tracked(x))
        tdc_collect(e, x, tdc_select(e, detail->written, tdc_number(e, 0), gradient));
    if (tdc_tracked(src))
        tdc_collect(e, src, tdc_mapped(e, gradient, detail->map, src->rank, src->shape, 0));
}

tdc_array *tdc_overwritten(tdc_evaluation *e, tdc_array *x, tdc_array *src, const int64_t *map)
{
    int64_t *writer = tdc_take(e, x->count, sizeof *writer);
    tdc_array *written = tdc_new_like(e, TDC_BOOL, x);
    for (int64_t i = 0; i < x->count; i++)
        writer[i] = -1;
    for (int64_t i = 0; i < src->count; i++)
        writer[map[i]] = i;
    for (int64_t i = 0; i < x->count; i++)
        written->whole[i] = writer[i] >= 0;
    tdc_array *put = tdc_mapped(e, tdc_constant(e, src), writer, x->rank, x->shape, 0);
    tdc_array *y = tdc_constant(e, tdc_select(e, written, put, tdc_constant(e, x)));
    struct overwriting *detail = tdc_take(e, 1, sizeof *detail);
    *detail = (struct overwriting){map, written};
    tdc_note(e, y, pull_overwritten, detail, 2, (tdc_array *[]){x, src});
    return y;
}

static void pull_concatenate(tdc_evaluation *e, struct tdc_tape_node *node, tdc_array *gradient)
{
    unsigned dim = *(const unsigned *)node->detail;
    int64_t start = 0;
    for (size_t i = 0; i < node->input_count; i++) {
        tdc_array *x = node->inputs[i];
        if (tdc_tracked(x))
            tdc_collect(e, x, tdc_slice(e, gradient, dim, start, x->shape[dim], 1));
        start += x->shape[dim];
    }
}

static void bound_joined(tdc_evaluation *e, tdc_array *y, tdc_array *const *pieces, size_t count,
                         unsigned dim)
{
    bool any = false;
    y->bounded = true;
    for (size_t i = 0; i < count; i++) {
        any |= pieces[i]->error != NULL;
        y->bounded &= pieces[i]->bounded;
    }
    if (!any)
        return;
    tdc_array **errors = tdc_take(e, (int64_t)count, sizeof *errors);
    for (size_t i = 0; i < count; i++) {
        errors[i] = tdc_error_array(e, pieces[i]);
        if (errors[i] == NULL)
            errors[i] = tdc_zeros(e, TDC_F64, pieces[i]->rank, pieces[i]->shape);
    }
    struct tdc_quiet before = tdc_quietly(e);
    tdc_bound_by(y, tdc_concatenate(e, errors, count, dim));
    tdc_as_before(e, before);
}

tdc_array *tdc_concatenate(tdc_evaluation *e, tdc_array *const *pieces, size_t count, unsigned dim)
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
    tdc_array *y = tdc_new(e, pieces[0]->dtype, pieces[0]->rank, shape);
    for (unsigned d = 0; y->count > 0 && d < y->rank; d++) {
        outer *= d < dim ? shape[d] : 1;
        inner *= d > dim ? shape[d] : 1;
    }
    int64_t done = 0;
    for (size_t i = 0; y->count > 0 && i < count; i++) {
        int64_t run = pieces[i]->shape[dim] * inner, step = shape[dim] * inner;
        TDC_SPREAD(outer > 1 ? pieces[i]->count : 0, o, outer, {
            memcpy(y->whole + o * step + done, pieces[i]->whole + o * run,
                   (size_t)run * sizeof(int64_t));
        });
        done += run;
    }
    bound_joined(e, y, pieces, count, dim);
    unsigned *detail = tdc_take(e, 1, sizeof *detail);
    *detail = dim;
    tdc_note(e, y, pull_concatenate, detail, count, pieces);
    return y;
}
