#include "reference/primitives/copy_view.h"

#include <string.h>

#include "reference/arithmetic.h"
#include "reference/primitives/move.h"

#define TILE 16 /* two tiles of elements fit any first-level cache */

/* Where run `index` of the last dimension starts in the tensor that is viewed. */
static int64_t run_start(const tdc_array *view, const struct tdc_view_place *place, int64_t index)
{
    int64_t at = place->offset;
    for (unsigned d = view->rank - 1; d-- > 0;) {
        at += index % view->shape[d] * place->strides[d];
        index /= view->shape[d];
    }
    return at;
}

/* Runs are handed out in stretches of about this many elements. */
#define STRETCH 8192

struct runs {
    int64_t length, step, count, per_stretch, stretches;
};

static struct runs runs_of(const tdc_array *view, const struct tdc_view_place *place)
{
    struct runs r = {.length = 1, .step = 1};
    if (view->rank > 0) {
        r.length = view->shape[view->rank - 1];
        r.step = place->strides[view->rank - 1];
    }
    r.count = view->count / r.length;
    r.per_stretch = STRETCH / r.length + 1;
    r.stretches = (r.count + r.per_stretch - 1) / r.per_stretch;
    return r;
}

/* One run after the other; the next start by counting up, which is cheaper than dividing. */
struct walk {
    const tdc_array *view;
    const struct tdc_view_place *place;
    int64_t index[TDC_REFERENCE_RANK];
    int64_t at;
};

static void walk_from(struct walk *w, int64_t run)
{
    w->at = run_start(w->view, w->place, run);
    for (unsigned d = w->view->rank > 0 ? w->view->rank - 1 : 0; d-- > 0;) {
        w->index[d] = run % w->view->shape[d];
        run /= w->view->shape[d];
    }
}

static void walk_on(struct walk *w)
{
    for (unsigned d = w->view->rank > 0 ? w->view->rank - 1 : 0; d-- > 0;) {
        w->at += w->place->strides[d];
        if (++w->index[d] < w->view->shape[d])
            return;
        w->at -= w->place->strides[d] * w->view->shape[d];
        w->index[d] = 0;
    }
}

static void copy_run(int64_t *to, const int64_t *from, int64_t length, int64_t step)
{
    if (step == 1)
        memcpy(to, from, (size_t)length * sizeof *to);
    else if (step == 0)
        for (int64_t i = 0; i < length; i++)
            to[i] = from[0];
    else
        for (int64_t i = 0; i < length; i++)
            to[i] = from[i * step];
}

/* A dimension, not the last, whose elements are neighbours in memory while the last one's are far
 * apart: copied run by run, each element would cost a cache line. */
static bool find_neighbours(const tdc_array *view, const struct tdc_view_place *place,
                            unsigned *found)
{
    if (view->rank < 2 || view->shape[view->rank - 1] < 4)
        return false;
    int64_t step = place->strides[view->rank - 1];
    for (unsigned d = 0; d + 1 < view->rank; d++)
        if (place->strides[d] == 1 && view->shape[d] >= 4 && (step >= 4 || step <= -4)) {
            *found = d;
            return true;
        }
    return false;
}

/* In tiles over dimension `dim` and the last one. */
static void copy_tiles(const tdc_array *view, const struct tdc_view_place *place,
                       const int64_t *from, int64_t *to, unsigned dim)
{
    unsigned last = view->rank - 1;
    int64_t rows = view->shape[dim], columns = view->shape[last], own[TDC_REFERENCE_RANK];
    int64_t bands = (rows + TILE - 1) / TILE, planes = view->count / rows / columns;
    tdc_strides(view, own);
    TDC_SPREAD(view->count, work, planes * bands, {
        int64_t rest = work / bands, first = work % bands * TILE;
        int64_t source = place->offset + first, target = first * own[dim];
        int64_t high = rows - first < TILE ? rows - first : TILE;
        for (unsigned d = last; d-- > 0;)
            if (d != dim) {
                source += rest % view->shape[d] * place->strides[d];
                target += rest % view->shape[d] * own[d];
                rest /= view->shape[d];
            }
        for (int64_t column = 0; column < columns; column += TILE) {
            int64_t wide = columns - column < TILE ? columns - column : TILE;
            for (int64_t i = 0; i < high; i++)
                for (int64_t j = column; j < column + wide; j++)
                    to[target + i * own[dim] + j] = from[source + i + j * place->strides[last]];
        }
    });
}

void tdc_copy_view(const tdc_array *view, const struct tdc_view_place *place, const int64_t *from,
                   int64_t *to)
{
    unsigned neighbours;
    if (view->count == 0)
        return;
    if (find_neighbours(view, place, &neighbours)) {
        copy_tiles(view, place, from, to, neighbours);
        return;
    }
    struct runs r = runs_of(view, place);
    TDC_SPREAD(r.stretches > 1 ? view->count : 0, s, r.stretches, {
        struct walk w = {.view = view, .place = place};
        int64_t run = s * r.per_stretch;
        int64_t end = run + r.per_stretch < r.count ? run + r.per_stretch : r.count;
        for (walk_from(&w, run); run < end; run++, walk_on(&w))
            copy_run(to + run * r.length, from + w.at, r.length, r.step);
    });
}

static void add_run(const tdc_evaluation *e, double *to, const double *from, int64_t length,
                    int64_t step)
{
    if (tdc_is_narrow(e))
        for (int64_t i = 0; i < length; i++)
            to[i * step] = tdc_step(e, to[i * step] + from[i]);
    else
        for (int64_t i = 0; i < length; i++)
            to[i * step] += from[i];
}

void tdc_add_view(const tdc_evaluation *e, const tdc_array *view,
                  const struct tdc_view_place *place, const double *from, double *to)
{
    if (view->count == 0)
        return;
    struct runs r = runs_of(view, place);
    TDC_SPREAD(r.stretches > 1 ? view->count : 0, s, r.stretches, {
        struct walk w = {.view = view, .place = place};
        int64_t run = s * r.per_stretch;
        int64_t end = run + r.per_stretch < r.count ? run + r.per_stretch : r.count;
        for (walk_from(&w, run); run < end; run++, walk_on(&w))
            add_run(e, to + w.at, from + run * r.length, r.length, r.step);
    });
}
