#include <string.h>

#include "reference/arguments.h"
#include "reference/operators.h"
#include "reference/primitives/gather.h"
#include "reference/primitives/move.h"

enum mode {
    CONSTANT,
    REFLECT,
    REPLICATE,
    CIRCULAR
};

/* Source of place i of a dimension of n elements, -1 for the constant. */
static int64_t source(int64_t i, int64_t n, enum mode mode)
{
    if (i >= 0 && i < n)
        return i;
    switch (mode) {
    case REFLECT:
        return i < 0 ? -i : 2 * (n - 1) - i;
    case REPLICATE:
        return i < 0 ? 0 : n - 1;
    case CIRCULAR:
        return i < 0 ? i + n : i - n;
    default:
        return -1;
    }
}

static enum mode mode_argument(tdc_evaluation *e)
{
    static const char *const names[] = {"constant", "reflect", "replicate", "circular"};
    const char *text = tdc_text_argument(e, "mode");
    for (int i = 0; i < 4; i++)
        if (strcmp(text, names[i]) == 0)
            return (enum mode)i;
    tdc_refuse(e, TDC_ERR_ARGUMENT, "unknown mode");
}

static void pad(tdc_evaluation *e)
{
    tdc_array *x = tdc_array_argument(e, "input");
    int64_t pads[2 * TDC_REFERENCE_RANK], shape[TDC_REFERENCE_RANK], strides[TDC_REFERENCE_RANK];
    int64_t before[TDC_REFERENCE_RANK] = {0};
    size_t count = tdc_ints_argument(e, "pad", pads, 2 * TDC_REFERENCE_RANK);
    enum mode mode = mode_argument(e);
    if (count % 2 != 0 || count / 2 > x->rank)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "pad has a wrong length");
    memcpy(shape, x->shape, sizeof shape);
    for (size_t i = 0; i < count; i += 2) {
        unsigned d = x->rank - 1 - (unsigned)(i / 2);
        int64_t limit = mode == REFLECT ? x->shape[d] - 1 : x->shape[d];
        bool bounded = mode == CONSTANT || mode == REPLICATE;
        if (!bounded && (pads[i] > limit || pads[i + 1] > limit))
            tdc_refuse(e, TDC_ERR_ARGUMENT, "padding is larger than the dimension");
        if (pads[i] < -INT32_MAX || pads[i] > INT32_MAX || pads[i + 1] < -INT32_MAX ||
            pads[i + 1] > INT32_MAX)
            tdc_refuse(e, TDC_ERR_ARGUMENT, "padding out of range");
        before[d] = pads[i];
        shape[d] += pads[i] + pads[i + 1];
    }
    tdc_array *room = tdc_new(e, TDC_BOOL, x->rank, shape); /* checks the sizes */
    int64_t *map = tdc_take(e, room->count, sizeof *map);
    tdc_strides(x, strides);
    for (int64_t i = 0; i < room->count; i++) {
        int64_t rest = i, from = 0;
        for (unsigned d = x->rank; d-- > 0 && from >= 0;) {
            int64_t s = source(rest % shape[d] - before[d], x->shape[d], mode);
            rest /= shape[d];
            from = s < 0 ? -1 : from + s * strides[d];
        }
        map[i] = from;
    }
    double fill = tdc_given(e, "value") ? tdc_real_argument(e, "value") : 0;
    tdc_give(e, tdc_mapped(e, x, map, x->rank, shape, fill));
}

static const struct tdc_operator rows[] = {
    {"pad", TDC_IN_FUNCTIONALS, "input, pad, mode='constant', value=0.0", pad, 0, 0},
    {"constant_pad_nd", TDC_IN_TORCH, "input, pad, value=0, *, mode='constant'", pad, 0, 0},
    {"npu_pad", TDC_IN_NPU, "input, pad, mode='constant', value=0.0", pad, 0, 0},
};
const struct tdc_operator_family tdc_padding_family = TDC_FAMILY("padding", rows);
