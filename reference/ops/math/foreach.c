/* The operators of optimisers on lists of tensors, element by element of the list. */

#include <string.h>

#include "reference/arguments.h"
#include "reference/operators.h"
#include "reference/primitives/elementwise/promote.h"
#include "reference/primitives/elementwise/unary.h"
#include "reference/primitives/move.h"
#include "reference/primitives/reduce.h"

/* A second operand: one for all, or one for each. */
struct operand {
    tdc_array **each;
    tdc_array *all;
};

static struct operand operand_argument(tdc_evaluation *e, const char *name, size_t count)
{
    const tdc_call_value *v = tdc_argument(e, name);
    struct operand operand = {NULL, NULL};
    if (v->kind == TDC_VALUE_NULL)
        return operand;
    if (v->kind != TDC_VALUE_LIST) {
        operand.all = tdc_array_of(e, v, name);
        return operand;
    }
    if (v->list.count != count)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "lists of different lengths");
    operand.each = tdc_take(e, (int64_t)count, sizeof *operand.each);
    for (size_t i = 0; i < count; i++)
        operand.each[i] = tdc_array_of(e, &v->list.values[i], name);
    return operand;
}

/* scalars= as a tensor holds one number for each; NULL when the operand is not given. */
static tdc_array *operand_at(tdc_evaluation *e, const struct operand *operand, size_t i,
                             size_t count)
{
    if (operand->each != NULL)
        return operand->each[i];
    tdc_array *all = operand->all;
    if (all == NULL || all->rank != 1 || count == 1 || (size_t)all->count != count)
        return all;
    int64_t one = 1;
    return tdc_reshape(e, tdc_slice(e, all, 0, (int64_t)i, one, 1), 0, &one);
}

static void each_unary(tdc_evaluation *e)
{
    tdc_array **list;
    size_t count = tdc_arrays_argument(e, "input", &list);
    for (size_t i = 0; i < count; i++)
        tdc_give(e, tdc_apply(e, (enum tdc_unary)e->definition->variant, tdc_to_real(e, list[i])));
}

static void each_scaled(tdc_evaluation *e)
{
    tdc_array **list;
    size_t count = tdc_arrays_argument(e, "input", &list);
    for (size_t i = 0; i < count; i++)
        tdc_give(e, tdc_combine_any(
                        e, TDC_MUL, list[i],
                        tdc_array_of(e, &(tdc_call_value){.kind = TDC_VALUE_INT, .whole = -1},
                                     "factor")));
}

static void each_zero(tdc_evaluation *e)
{
    tdc_array **list;
    size_t count = tdc_arrays_argument(e, "input", &list);
    for (size_t i = 0; i < count; i++)
        tdc_give(e, tdc_zeros(e, list[i]->dtype, list[i]->rank, list[i]->shape));
}

static void each_largest(tdc_evaluation *e)
{
    tdc_array **list;
    size_t count = tdc_arrays_argument(e, "input", &list);
    bool all[TDC_REFERENCE_RANK];
    memset(all, 1, sizeof all);
    for (size_t i = 0; i < count; i++)
        tdc_give(e, tdc_extreme_shared(e, tdc_rows(e, list[i], all), true));
}

/* number ** tensor, the one function whose list comes second */
static void powers_of_number(tdc_evaluation *e)
{
    tdc_array **list, *base = tdc_real_array_argument(e, "input");
    size_t count = tdc_arrays_argument(e, "other", &list);
    for (size_t i = 0; i < count; i++)
        tdc_give(e, tdc_combine(e, TDC_POW, base, tdc_to_real(e, list[i])));
}

static void each_binary(tdc_evaluation *e)
{
    tdc_array **list;
    if (e->definition->variant == TDC_POW && tdc_argument(e, "input")->kind != TDC_VALUE_LIST) {
        powers_of_number(e);
        return;
    }
    size_t count = tdc_arrays_argument(e, "input", &list);
    struct operand other = operand_argument(e, "other", count);
    tdc_array *alpha = tdc_given(e, "alpha") ? tdc_array_argument(e, "alpha") : NULL;
    enum tdc_binary function = (enum tdc_binary)e->definition->variant;
    for (size_t i = 0; i < count; i++) {
        tdc_array *b = operand_at(e, &other, i, count);
        if (b == NULL)
            tdc_refuse(e, TDC_ERR_ARGUMENT, "missing argument 'other'");
        if (alpha != NULL)
            b = tdc_combine_any(e, TDC_MUL, b, alpha);
        bool whole = !tdc_dtype_is_floating(list[i]->dtype) && !tdc_dtype_is_floating(b->dtype);
        bool real = function == TDC_DIV || function == TDC_POW || !whole;
        tdc_give(e, real ? tdc_combine(e, function, tdc_to_real(e, list[i]), tdc_to_real(e, b))
                         : tdc_combine_any(e, function, list[i], b));
    }
}

/* x + value * a * b, x + value * a / b */
static void each_combined(tdc_evaluation *e)
{
    tdc_array **list, **first, **second;
    size_t count = tdc_arrays_argument(e, "input", &list);
    if (tdc_arrays_argument(e, "tensor1", &first) != count ||
        tdc_arrays_argument(e, "tensor2", &second) != count)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "lists of different lengths");
    struct operand scalars = operand_argument(e, "source", count);
    for (size_t i = 0; i < count; i++) {
        tdc_array *t = tdc_combine(e, (enum tdc_binary)e->definition->variant,
                                   tdc_to_real(e, first[i]), tdc_to_real(e, second[i]));
        tdc_array *factor = operand_at(e, &scalars, i, count);
        if (factor != NULL)
            t = tdc_mul(e, tdc_to_real(e, factor), t);
        tdc_give(e, tdc_add(e, tdc_to_real(e, list[i]), t));
    }
}

static void each_lerp(tdc_evaluation *e)
{
    tdc_array **list, **ends;
    size_t count = tdc_arrays_argument(e, "input", &list);
    if (tdc_arrays_argument(e, "end", &ends) != count)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "lists of different lengths");
    struct operand weight = operand_argument(e, "weight", count);
    for (size_t i = 0; i < count; i++) {
        tdc_array *w = operand_at(e, &weight, i, count);
        if (w == NULL)
            tdc_refuse(e, TDC_ERR_ARGUMENT, "missing argument 'weight'");
        tdc_array *step = tdc_mul(e, tdc_to_real(e, w), tdc_sub(e, ends[i], list[i]));
        tdc_give(e, tdc_add(e, list[i], step));
    }
}

static void each_copy(tdc_evaluation *e)
{
    tdc_array **list, **from;
    size_t count = tdc_arrays_argument(e, "input", &list);
    if (tdc_arrays_argument(e, "source", &from) != count)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "lists of different lengths");
    for (size_t i = 0; i < count; i++)
        tdc_give(e, tdc_expand(e, tdc_convert(e, from[i], list[i]->dtype), list[i]->rank,
                               list[i]->shape));
}

#define EACH(name, function)                                                                       \
    {                                                                                              \
        name, TDC_IN_TORCH, "input", each_unary, function, 0                                       \
    }
#define EACH_TWO(name, function)                                                                   \
    {                                                                                              \
        name, TDC_IN_TORCH, "input, other=None, *, alpha=None", each_binary, function, 0           \
    }
static const struct tdc_operator rows[] = {
    EACH("_foreach_abs", TDC_ABS),
    EACH("_foreach_acos", TDC_ACOS),
    EACH("_foreach_asin", TDC_ASIN),
    EACH("_foreach_atan", TDC_ATAN),
    EACH("_foreach_ceil", TDC_CEIL),
    EACH("_foreach_cos", TDC_COS),
    EACH("_foreach_cosh", TDC_COSH),
    EACH("_foreach_erf", TDC_ERF),
    EACH("_foreach_erfc", TDC_ERFC),
    EACH("_foreach_exp", TDC_EXP),
    EACH("_foreach_expm1", TDC_EXPM1),
    EACH("_foreach_floor", TDC_FLOOR),
    EACH("_foreach_frac", TDC_FRAC),
    EACH("_foreach_lgamma", TDC_LGAMMA),
    EACH("_foreach_log", TDC_LOG),
    EACH("_foreach_log10", TDC_LOG10),
    EACH("_foreach_log1p", TDC_LOG1P),
    EACH("_foreach_log2", TDC_LOG2),
    EACH("_foreach_reciprocal", TDC_RECIPROCAL),
    EACH("_foreach_round", TDC_ROUND),
    EACH("_foreach_rsqrt", TDC_RSQRT),
    EACH("_foreach_sigmoid", TDC_SIGMOID),
    EACH("_foreach_sign", TDC_SIGN),
    EACH("_foreach_sin", TDC_SIN),
    EACH("_foreach_sinh", TDC_SINH),
    EACH("_foreach_sqrt", TDC_SQRT),
    EACH("_foreach_tan", TDC_TAN),
    EACH("_foreach_tanh", TDC_TANH),
    EACH("_foreach_trunc", TDC_TRUNC),
    {"_foreach_neg", TDC_IN_TORCH, "input", each_scaled, 0, 0},
    {"_foreach_zero_", TDC_IN_TORCH, "input", each_zero, 0, TDC_NO_GRADIENT},
    {"_foreach_max", TDC_IN_TORCH, "input", each_largest, 0, 0},
    EACH_TWO("_foreach_add", TDC_ADD),
    EACH_TWO("_foreach_sub", TDC_SUB),
    EACH_TWO("_foreach_mul", TDC_MUL),
    EACH_TWO("_foreach_div", TDC_DIV),
    EACH_TWO("_foreach_maximum _foreach_clamp_min", TDC_MAXIMUM),
    EACH_TWO("_foreach_minimum _foreach_clamp_max", TDC_MINIMUM),
    EACH_TWO("_foreach_pow", TDC_POW),
    {"_foreach_addcmul", TDC_IN_TORCH, "input, tensor1, tensor2, source=None", each_combined,
     TDC_MUL, 0},
    {"_foreach_addcdiv", TDC_IN_TORCH, "input, tensor1, tensor2, source=None", each_combined,
     TDC_DIV, 0},
    {"_foreach_lerp", TDC_IN_TORCH, "input, end, weight", each_lerp, 0, 0},
    {"_foreach_copy", TDC_IN_TORCH, "input, source, non_blocking=False", each_copy, 0, 0},
};
const struct tdc_operator_family tdc_foreach_family = TDC_FAMILY("lists of tensors", rows);
