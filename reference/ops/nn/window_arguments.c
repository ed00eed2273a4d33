#include "reference/ops/nn/window_arguments.h"

#include <string.h>

#include "reference/arguments.h"
#include "reference/primitives/window/windows.h"
#include "reference/primitives/move.h"

void tdc_read_sizes(tdc_evaluation *e, const char *name, unsigned n, int64_t *to, int64_t least)
{
    int64_t v[3];
    size_t given = tdc_ints_argument(e, name, v, 3);
    if (given != 1 && given != n)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "%s has a wrong length", name);
    for (unsigned i = 0; i < n; i++) {
        to[i] = v[given == 1 ? 0 : i];
        if (to[i] < least || to[i] > INT32_MAX)
            tdc_refuse(e, TDC_ERR_ARGUMENT, "%s is out of range", name);
    }
}

void tdc_count_windows(tdc_evaluation *e, struct tdc_windows *w, bool ceil_mode)
{
    for (unsigned i = 0; i < w->n; i++) {
        int64_t extent = w->dilation[i] * (w->kernel[i] - 1) + 1;
        int64_t room = w->size[i] + w->before[i] + w->after[i] - extent;
        if (room < 0)
            tdc_refuse(e, TDC_ERR_ARGUMENT, "kernel is larger than the padded input");
        w->count[i] = room / w->stride[i] + 1;
        /* with ceil_mode the last window must start inside the input or its left padding */
        if (ceil_mode && room % w->stride[i] != 0 &&
            w->count[i] * w->stride[i] < w->size[i] + w->before[i])
            w->count[i]++;
    }
}

tdc_array *tdc_batched(tdc_evaluation *e, tdc_array *x, unsigned n, bool *single)
{
    *single = x->rank == n + 1;
    if (*single)
        x = tdc_unsqueeze(e, x, 0);
    if (x->rank != n + 2)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "input must have %u or %u dimensions", n + 1, n + 2);
    for (unsigned d = 0; d < x->rank; d++)
        if (x->shape[d] > INT32_MAX)
            tdc_refuse(e, TDC_ERR_ARGUMENT, "a dimension is too large");
    return x;
}

void tdc_give_batched(tdc_evaluation *e, tdc_array *y, bool single)
{
    tdc_give(e, single ? tdc_squeeze(e, y, 0) : y);
}

void tdc_read_window(tdc_evaluation *e, struct tdc_windows *w, const int64_t *size, bool ceil_mode)
{
    memcpy(w->size, size, w->n * sizeof *size);
    tdc_read_sizes(e, "kernel_size", w->n, w->kernel, 1);
    tdc_read_sizes(e, "dilation", w->n, w->dilation, 1);
    if (tdc_given(e, "stride") && !(tdc_argument(e, "stride")->kind == TDC_VALUE_LIST &&
                                    tdc_argument(e, "stride")->list.count == 0))
        tdc_read_sizes(e, "stride", w->n, w->stride, 1);
    else
        memcpy(w->stride, w->kernel, sizeof w->stride);
    tdc_read_sizes(e, "padding", w->n, w->before, 0);
    memcpy(w->after, w->before, sizeof w->after);
    tdc_count_windows(e, w, ceil_mode);
}
