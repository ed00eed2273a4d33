/* Dtypes: promotion, conversion, and arithmetic of integers and comparisons. */
#include "reference/primitives/elementwise/promote.h"

#include <math.h>

#include "reference/bounds.h"
#include "reference/primitives/move.h"
#include "reference/tape.h"

static int category(tdc_dtype dtype)
{
    return dtype == TDC_BOOL ? 0 : tdc_dtype_is_floating(dtype) ? 2 : 1;
}

/* Python numbers weigh least, then tensors without dimensions, then all others. */
static int weight(const tdc_array *a)
{
    return a->number ? 0 : a->rank == 0 ? 1 : 2;
}

static tdc_dtype promote_equals(tdc_dtype a, tdc_dtype b)
{
    if (a == b)
        return a;
    if (category(a) != category(b))
        return category(a) > category(b) ? a : b;
    if (category(a) == 2)
        return TDC_F64;
    bool sa = a >= TDC_I8 && a <= TDC_I64, sb = b >= TDC_I8 && b <= TDC_I64;
    if (sa == sb)
        return a > b ? a : b;
    tdc_dtype is = sa ? a : b, us = sa ? b : a;
    size_t need = 2 * tdc_dtype_size(us);
    tdc_dtype wide = need <= 2 ? TDC_I16 : need <= 4 ? TDC_I32 : TDC_I64;
    return is > wide ? is : wide;
}

tdc_dtype tdc_promoted(const tdc_array *a, const tdc_array *b)
{
    const tdc_array *heavy = weight(a) >= weight(b) ? a : b;
    const tdc_array *light = heavy == a ? b : a;
    if (weight(a) == weight(b))
        return promote_equals(a->dtype, b->dtype);
    return category(light->dtype) > category(heavy->dtype) ? light->dtype : heavy->dtype;
}

int64_t tdc_wrap(int64_t v, tdc_dtype dtype)
{
    switch (dtype) {
    case TDC_BOOL:
        return v != 0;
    case TDC_I8:
        return (int8_t)(uint8_t)v;
    case TDC_I16:
        return (int16_t)(uint16_t)v;
    case TDC_I32:
        return (int32_t)(uint32_t)v;
    case TDC_U8:
        return (uint8_t)v;
    case TDC_U16:
        return (uint16_t)v;
    case TDC_U32:
        return (uint32_t)v;
    default:
        return v;
    }
}

/* As frameworks convert on x86: to 32 bits and by way of them to fewer, or to 64. What does not
 * fit, infinities and NaN among it, becomes the smallest number. */
static int64_t truncated(double v, tdc_dtype dtype)
{
    if (tdc_dtype_size(dtype) <= 4 && dtype != TDC_U32)
        return v > -0x1p31 - 1 && v < 0x1p31 ? (int64_t)v : INT32_MIN;
    return v > -0x1p63 && v < 0x1p63 ? (int64_t)v : INT64_MIN;
}

static void pull_convert(tdc_evaluation *e, struct tdc_tape_node *node, tdc_array *gradient)
{
    tdc_array *x = node->inputs[0];
    tdc_array *g = tdc_new_like(e, x->dtype, x);
    TDC_SPREAD(g->count, i, g->count,
               { g->real[i] = tdc_reference_cast(gradient->real[i], x->dtype); });
    tdc_bound_as(g, gradient);
    tdc_collect(e, x, g);
}

tdc_array *tdc_convert(tdc_evaluation *e, tdc_array *x, tdc_dtype dtype)
{
    if (x->dtype == dtype)
        return x;
    tdc_array *y = tdc_new_like(e, dtype, x);
    y->number = x->number;
    bool from = tdc_dtype_is_floating(x->dtype), to = tdc_dtype_is_floating(dtype);
    TDC_SPREAD(x->count, i, x->count, {
        if (to)
            y->real[i] = tdc_reference_cast(tdc_element(x, i), dtype);
        else if (dtype == TDC_BOOL)
            y->whole[i] = from ? x->real[i] != 0 : x->whole[i] != 0;
        else
            y->whole[i] = tdc_wrap(from ? truncated(x->real[i], dtype) : x->whole[i], dtype);
    });
    if (from && to)
        tdc_bound_as(y, x);
    else if (to && tdc_is_bounded(e))
        tdc_bound_given(e, y);
    if (from && to)
        tdc_note(e, y, pull_convert, NULL, 1, &x);
    return y;
}

static int64_t floor_div(int64_t a, int64_t b, bool floors)
{
    if (b == -1)
        return (int64_t)(0 - (uint64_t)a);
    int64_t q = a / b;
    return floors && a % b != 0 && (a % b < 0) != (b < 0) ? q - 1 : q;
}

static int64_t modulo(int64_t a, int64_t b, bool floors)
{
    if (b == -1)
        return 0;
    int64_t r = a % b;
    return floors && r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

static int64_t power(int64_t base, int64_t exponent)
{
    if (exponent < 0)
        return base == 1 ? 1 : base == -1 ? (exponent & 1 ? -1 : 1) : 0;
    uint64_t result = 1, square = (uint64_t)base;
    for (; exponent > 0; exponent >>= 1) {
        if (exponent & 1)
            result *= square;
        square *= square;
    }
    return (int64_t)result;
}

static int64_t compute_whole(enum tdc_binary function, int64_t a, int64_t b)
{
    uint64_t x = (uint64_t)a, y = (uint64_t)b;
    switch ((int)function) {
    case TDC_ADD:
        return (int64_t)(x + y);
    case TDC_SUB:
        return (int64_t)(x - y);
    case TDC_MUL:
        return (int64_t)(x * y);
    case TDC_MAXIMUM:
        return a > b ? a : b;
    case TDC_MINIMUM:
        return a < b ? a : b;
    case TDC_FLOOR_DIV:
    case TDC_TRUNC_DIV:
        return floor_div(a, b, function == TDC_FLOOR_DIV);
    case TDC_REMAINDER:
    case TDC_FMOD:
        return modulo(a, b, function == TDC_REMAINDER);
    case TDC_POW:
        return power(a, b);
    case TDC_AND:
        return a & b;
    case TDC_OR:
        return a | b;
    case TDC_XOR:
        return a ^ b;
    case TDC_SHIFT_LEFT:
        return b < 0 || b > 63 ? 0 : (int64_t)(x << b);
    default:
        return b < 0 || b > 63 ? (a < 0 ? -1 : 0) : a >> b;
    }
}

static bool divides(enum tdc_binary function)
{
    return function == TDC_FLOOR_DIV || function == TDC_TRUNC_DIV || function == TDC_REMAINDER ||
           function == TDC_FMOD;
}

tdc_array *tdc_combine_whole(tdc_evaluation *e, enum tdc_binary function, tdc_array *a,
                             tdc_array *b, tdc_dtype dtype)
{
    unsigned rank;
    int64_t shape[TDC_REFERENCE_RANK];
    tdc_broadcast_shape(e, a, b, &rank, shape);
    a = tdc_expand(e, tdc_convert(e, a, dtype), rank, shape);
    b = tdc_expand(e, tdc_convert(e, b, dtype), rank, shape);
    tdc_array *y = tdc_new(e, dtype, rank, shape);
    for (int64_t i = 0; divides(function) && i < y->count; i++)
        if (b->whole[i] == 0)
            tdc_refuse(e, TDC_ERR_ARGUMENT, "integer division by zero");
    TDC_SPREAD(y->count, i, y->count, {
        y->whole[i] = tdc_wrap(compute_whole(function, a->whole[i], b->whole[i]), dtype);
    });
    return y;
}

tdc_array *tdc_combine_any(tdc_evaluation *e, enum tdc_binary function, tdc_array *a, tdc_array *b)
{
    tdc_dtype dtype = tdc_promoted(a, b);
    if (!tdc_dtype_is_floating(dtype) && function != TDC_DIV && function != TDC_ATAN2 &&
        function != TDC_LOGADDEXP && function != TDC_XLOGY && function != TDC_HYPOT &&
        function != TDC_COPYSIGN)
        return tdc_combine_whole(e, function, a, b, dtype);
    if (function >= TDC_BINARY_COUNT)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "not defined for floating tensors");
    return tdc_combine(e, function, a, b);
}

static bool holds(enum tdc_comparison how, int order, bool unordered)
{
    switch (how) {
    case TDC_EQ:
        return !unordered && order == 0;
    case TDC_NE:
        return unordered || order != 0;
    case TDC_LT:
        return !unordered && order < 0;
    case TDC_LE:
        return !unordered && order <= 0;
    case TDC_GT:
        return !unordered && order > 0;
    default:
        return !unordered && order >= 0;
    }
}

tdc_array *tdc_relate(tdc_evaluation *e, enum tdc_comparison how, tdc_array *a, tdc_array *b)
{
    unsigned rank;
    int64_t shape[TDC_REFERENCE_RANK];
    bool floating = tdc_dtype_is_floating(a->dtype) || tdc_dtype_is_floating(b->dtype);
    if (floating) {
        a = tdc_to_real(e, a);
        b = tdc_to_real(e, b);
    }
    tdc_broadcast_shape(e, a, b, &rank, shape);
    a = tdc_expand(e, a, rank, shape);
    b = tdc_expand(e, b, rank, shape);
    tdc_array *y = tdc_new(e, TDC_BOOL, rank, shape);
    TDC_SPREAD(y->count, i, y->count, {
        if (floating) {
            double p = a->real[i], q = b->real[i];
            y->whole[i] = holds(how, (p > q) - (p < q), isnan(p) || isnan(q));
        } else {
            int64_t p = a->whole[i], q = b->whole[i];
            y->whole[i] = holds(how, (p > q) - (p < q), false);
        }
    });
    return y;
}

tdc_array *tdc_truth(tdc_evaluation *e, tdc_array *x)
{
    return tdc_convert(e, x, TDC_BOOL);
}
