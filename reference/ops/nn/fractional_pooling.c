/* Pooling over windows whose places are drawn: computed when the draws are given. */
#include <math.h>
#include <string.h>

#include "reference/arguments.h"
#include "reference/operators.h"
#include "reference/ops/nn/window_arguments.h"
#include "reference/primitives/gather.h"
#include "reference/primitives/move.h"
#include "reference/primitives/reduce.h"

/* Where window i of `count` starts along a dimension, from a draw in [0, 1). */
static int64_t start_of(int64_t i, int64_t count, int64_t size, int64_t kernel, double draw)
{
    if (i + 1 == count || count == 1)
        return size - kernel;
    double step = (double)(size - kernel) / (double)(count - 1);
    return (int64_t)(((double)i + draw) * step) - (int64_t)(draw * step);
}

static void fractional_max_pool(tdc_evaluation *e)
{
    unsigned n = (unsigned)e->definition->variant;
    bool single;
    tdc_array *x = tdc_batched(e, tdc_real_array_argument(e, "input"), n, &single);
    int64_t kernel[3], count[3], windows = 1, volume = 1, image = 1, strides[3];
    if (!tdc_given(e, "_random_samples"))
        tdc_refuse(e, TDC_ERR_UNSUPPORTED, "random api, output is not reproducible");
    tdc_array *draws = tdc_real_array_argument(e, "_random_samples");
    tdc_read_sizes(e, "kernel_size", n, kernel, 1);
    if (!tdc_given(e, "output_size"))
        tdc_refuse(e, TDC_ERR_UNSUPPORTED, "output_ratio");
    tdc_read_sizes(e, "output_size", n, count, 1);
    if (draws->rank != 3 || draws->count != x->shape[0] * x->shape[1] * n)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "draws for each sample and channel expected");
    for (unsigned d = n; d-- > 0;) {
        int64_t size = x->shape[2 + d];
        if (kernel[d] < 1 || count[d] < 1 || count[d] + kernel[d] - 1 > size)
            tdc_refuse(e, TDC_ERR_ARGUMENT, "the windows do not fit the input");
        strides[d] = image;
        image *= size;
        windows *= count[d];
        volume *= kernel[d];
    }
    int64_t planes = x->shape[0] * x->shape[1];
    tdc_array *map = tdc_new(e, TDC_I64, 3, (const int64_t[]){planes, windows, volume});
    for (int64_t at = 0; at < map->count; at++) {
        int64_t plane = at / (windows * volume), window = at / volume % windows;
        int64_t inside = at % volume, place = 0;
        for (unsigned d = n; d-- > 0;) {
            /* of two draws the first is for the last dimension */
            double draw = draws->real[plane * n + (n == 2 ? 1 - d : d)];
            place += strides[d] *
                     (start_of(window % count[d], count[d], x->shape[2 + d], kernel[d], draw) +
                      inside % kernel[d]);
            window /= count[d];
            inside /= kernel[d];
        }
        map->whole[at] = plane * image + place;
    }
    tdc_array *rows = tdc_mapped(e, x, map->whole, 3, map->shape, 0);
    tdc_array *best = tdc_extreme_index(e, tdc_constant(e, rows), true);
    tdc_array *y = tdc_pick(e, rows, best), *places = tdc_new_like(e, TDC_I64, best);
    for (int64_t i = 0; i < best->count; i++)
        places->whole[i] = map->whole[i * volume + best->whole[i]] % image;
    int64_t shape[5] = {x->shape[0], x->shape[1]};
    memcpy(shape + 2, count, n * sizeof *count);
    tdc_give_batched(e, tdc_reshape(e, y, 2 + n, shape), single);
    tdc_give_batched(e, tdc_reshape(e, places, 2 + n, shape), single);
}

#define FRACTIONAL                                                                                 \
    "input, kernel_size, output_size=None, output_ratio=None, return_indices=False, "              \
    "_random_samples=None"
static const struct tdc_operator rows[] = {
    {"fractional_max_pool2d fractional_max_pool2d_with_indices", TDC_IN_TORCH_FUNCTIONAL,
     FRACTIONAL, fractional_max_pool, 2, 0},
    {"fractional_max_pool3d fractional_max_pool3d_with_indices", TDC_IN_TORCH_FUNCTIONAL,
     FRACTIONAL, fractional_max_pool, 3, 0},
};
const struct tdc_operator_family tdc_fractional_family = TDC_FAMILY("fractional pooling", rows);
