#include <float.h>
#include <string.h>

#include "kernels/dtype.h"
#include "reference/arguments.h"
#include "reference/operators.h"
#include "reference/primitives/elementwise/promote.h"
#include "reference/primitives/elementwise/unary.h"

/* ---- one operand ------------------------------------------------------------------------------
 */

static void unary(tdc_evaluation *e)
{
    tdc_give(e,
             tdc_apply(e, (enum tdc_unary)e->definition->variant, tdc_array_argument(e, "input")));
}

static tdc_array *round_decimals(tdc_evaluation *e, tdc_array *x, int64_t decimals)
{
    if (decimals < -308 || decimals > 308)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "decimals is out of range");
    double unit = 1;
    for (int64_t i = 0; i < decimals || i < -decimals; i++)
        unit *= 10;
    tdc_array *units = tdc_number(e, unit);
    enum tdc_binary before = decimals > 0 ? TDC_MUL : TDC_DIV;
    tdc_array *y = tdc_apply(e, TDC_ROUND, tdc_combine(e, before, x, units));
    return tdc_combine(e, decimals > 0 ? TDC_DIV : TDC_MUL, y, units);
}

/* Integers stay what they are. */
static void rounding(tdc_evaluation *e)
{
    tdc_array *x = tdc_array_argument(e, "input");
    if (!tdc_dtype_is_floating(x->dtype))
        tdc_give(e, x);
    else if (e->definition->variant == TDC_ROUND && tdc_int_argument(e, "decimals") != 0)
        tdc_give(e, round_decimals(e, x, tdc_int_argument(e, "decimals")));
    else
        tdc_give(e, tdc_apply(e, (enum tdc_unary)e->definition->variant, x));
}

static void signed_unary(tdc_evaluation *e)
{
    tdc_array *x = tdc_array_argument(e, "input");
    if (tdc_dtype_is_floating(x->dtype)) {
        tdc_give(e, tdc_apply_with(e, (enum tdc_unary)e->definition->variant, x, -1, 0, 0));
        return;
    }
    if (x->dtype == TDC_BOOL && e->definition->variant == TDC_SQUARE)
        x = tdc_convert(e, x, TDC_I64);
    tdc_array *y = tdc_new_like(e, x->dtype, x);
    for (int64_t i = 0; i < x->count; i++) {
        int64_t v = x->whole[i];
        int64_t negated = (int64_t)(0 - (uint64_t)v);
        int64_t r = e->definition->variant == TDC_SCALE    ? negated
                    : e->definition->variant == TDC_ABS    ? (v < 0 ? negated : v)
                    : e->definition->variant == TDC_SQUARE ? (int64_t)((uint64_t)v * (uint64_t)v)
                                                           : (v > 0) - (v < 0);
        y->whole[i] = tdc_wrap(r, x->dtype);
    }
    tdc_give(e, y);
}

static void relu(tdc_evaluation *e)
{
    tdc_array *x = tdc_array_argument(e, "input");
    if (tdc_dtype_is_floating(x->dtype))
        tdc_give(e, tdc_apply(e, TDC_RELU, x));
    else
        tdc_give(e,
                 tdc_combine_whole(e, TDC_MAXIMUM, x, tdc_zeros(e, x->dtype, 0, NULL), x->dtype));
}

static void identity(tdc_evaluation *e)
{
    tdc_give(e, tdc_array_argument(e, "input"));
}

static void degrees(tdc_evaluation *e)
{
    tdc_array *x = tdc_array_argument(e, "input");
    double factor = e->definition->variant != 0 ? 57.29577951308232087680 : 0.01745329251994329577;
    tdc_give(e, tdc_scale(e, x, factor));
}

static void nan_to_num(tdc_evaluation *e)
{
    tdc_array *x = tdc_array_argument(e, "input");
    if (!tdc_dtype_is_floating(x->dtype)) {
        tdc_give(e, x);
        return;
    }
    double top = tdc_dtype_largest(x->recorded);
    tdc_give(e, tdc_apply_with(e, TDC_NAN_TO_NUM, x,
                               tdc_given(e, "nan") ? tdc_real_argument(e, "nan") : 0,
                               tdc_given(e, "posinf") ? tdc_real_argument(e, "posinf") : top,
                               tdc_given(e, "neginf") ? tdc_real_argument(e, "neginf") : -top));
}

/* Tensor bounds: gradient to x inside (bounds included), to a bound where it is taken. */
static tdc_array *clamp_by_tensors(tdc_evaluation *e, tdc_array *x)
{
    tdc_array *low = tdc_given(e, "min") ? tdc_array_argument(e, "min") : NULL;
    tdc_array *high = tdc_given(e, "max") ? tdc_array_argument(e, "max") : NULL;
    tdc_array *y = x;
    if (low != NULL)
        y = tdc_select(e, tdc_relate(e, TDC_LT, x, low), low, y);
    if (high == NULL)
        return y;
    tdc_array *above = tdc_relate(e, TDC_GT, x, high);
    if (low != NULL)
        above = tdc_combine_whole(e, TDC_OR, above, tdc_relate(e, TDC_LT, high, low), TDC_BOOL);
    return tdc_select(e, above, high, y);
}

static void clamp(tdc_evaluation *e)
{
    tdc_array *x = tdc_array_argument(e, "input");
    bool low = tdc_given(e, "min"), high = tdc_given(e, "max");
    if (!low && !high)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "at least one of min and max must not be None");
    bool tensors = tdc_argument(e, "min")->kind == TDC_VALUE_TENSOR ||
                   tdc_argument(e, "max")->kind == TDC_VALUE_TENSOR;
    if (tensors || !tdc_dtype_is_floating(x->dtype)) {
        tdc_give(e, clamp_by_tensors(e, x));
        return;
    }
    tdc_give(e, tdc_apply_with(e, TDC_CLAMP, x,
                               low ? tdc_real_argument(e, "min") : -(double)__builtin_inf(),
                               high ? tdc_real_argument(e, "max") : (double)__builtin_inf(), 0));
}

static void logit(tdc_evaluation *e)
{
    tdc_array *x = tdc_array_argument(e, "input");
    if (tdc_given(e, "eps")) {
        double eps = tdc_real_argument(e, "eps");
        x = tdc_apply_with(e, TDC_CLAMP, x, eps, 1 - eps, 0);
    }
    tdc_give(e, tdc_apply(e, TDC_LOGIT, x));
}

/* ---- two operands -----------------------------------------------------------------------------
 */

static void binary(tdc_evaluation *e)
{
    tdc_give(e, tdc_combine_any(e, (enum tdc_binary)e->definition->variant,
                                tdc_array_argument(e, "input"), tdc_array_argument(e, "other")));
}

static void binary_reversed(tdc_evaluation *e)
{
    tdc_give(e, tdc_combine_any(e, (enum tdc_binary)e->definition->variant,
                                tdc_array_argument(e, "other"), tdc_array_argument(e, "input")));
}

/* a + alpha * b, a - alpha * b */
static tdc_array *added(tdc_evaluation *e, tdc_array *a, tdc_array *b, enum tdc_binary function)
{
    const tdc_call_value *alpha = tdc_argument(e, "alpha");
    bool one = alpha->kind == TDC_VALUE_INT && alpha->whole == 1;
    if (!one)
        b = tdc_combine_any(e, TDC_MUL, b, tdc_array_of(e, alpha, "alpha"));
    if (function == TDC_SUB && a->dtype == TDC_BOOL && b->dtype == TDC_BOOL)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "subtraction of bool tensors is not supported");
    return tdc_combine_any(e, function, a, b);
}

static void add(tdc_evaluation *e)
{
    tdc_give(e, added(e, tdc_array_argument(e, "input"), tdc_array_argument(e, "other"),
                      (enum tdc_binary)e->definition->variant));
}

static void rsub(tdc_evaluation *e)
{
    tdc_give(e, added(e, tdc_array_argument(e, "other"), tdc_array_argument(e, "input"), TDC_SUB));
}

static void divide(tdc_evaluation *e)
{
    tdc_array *a = tdc_array_argument(e, "input"), *b = tdc_array_argument(e, "other");
    enum tdc_binary function = TDC_DIV;
    if (tdc_given(e, "rounding_mode")) {
        const char *mode = tdc_text_argument(e, "rounding_mode");
        if (strcmp(mode, "floor") == 0)
            function = TDC_FLOOR_DIV;
        else if (strcmp(mode, "trunc") == 0)
            function = TDC_TRUNC_DIV;
        else
            tdc_refuse(e, TDC_ERR_ARGUMENT, "rounding_mode must be None, 'trunc' or 'floor'");
    }
    tdc_give(e, tdc_combine_any(e, function, a, b));
}

static tdc_array *raise_to(tdc_evaluation *e, tdc_array *base, tdc_array *exponent)
{
    if (!tdc_dtype_is_floating(tdc_promoted(base, exponent))) {
        if (exponent->number && exponent->whole[0] < 0)
            tdc_refuse(e, TDC_ERR_ARGUMENT, "integers to negative integer powers");
        return tdc_combine_whole(e, TDC_POW, base, exponent, tdc_promoted(base, exponent));
    }
    if (exponent->number)
        return tdc_apply_with(e, TDC_POWER, base, tdc_element(exponent, 0), 0, 0);
    return tdc_combine(e, TDC_POW, base, exponent);
}

static void power(tdc_evaluation *e)
{
    tdc_array *a = tdc_array_argument(e, "input"), *b = tdc_array_argument(e, "other");
    tdc_give(e, e->definition->variant == 1 ? raise_to(e, b, a) : raise_to(e, a, b));
}

static void float_power(tdc_evaluation *e)
{
    tdc_give(e, raise_to(e, tdc_to_real(e, tdc_array_argument(e, "input")),
                         tdc_to_real(e, tdc_array_argument(e, "other"))));
}

static void lerp(tdc_evaluation *e)
{
    tdc_array *a = tdc_array_argument(e, "input"), *b = tdc_array_argument(e, "end");
    tdc_array *step = tdc_mul(e, tdc_array_argument(e, "weight"), tdc_sub(e, b, a));
    tdc_give(e, tdc_add(e, a, step));
}

/* x + value * a * b, x + value * a / b */
static void add_combined(tdc_evaluation *e)
{
    tdc_array *t =
        tdc_combine_any(e, (enum tdc_binary)e->definition->variant,
                        tdc_array_argument(e, "tensor1"), tdc_array_argument(e, "tensor2"));
    t = tdc_combine_any(e, TDC_MUL, t, tdc_array_argument(e, "value"));
    tdc_give(e, tdc_combine_any(e, TDC_ADD, tdc_array_argument(e, "input"), t));
}

#define METHODS TDC_IN_METHODS
#define BOTH    TDC_IN_BOTH
#define ONE(names, function)                                                                       \
    {                                                                                              \
        names, METHODS, "input", unary, function, 0                                                \
    }
#define TWO(names, function, flags)                                                                \
    {                                                                                              \
        names, METHODS, "input, other", binary, function, flags                                    \
    }

static const struct tdc_operator rows[] = {
    {"abs absolute __abs__", METHODS, "input", signed_unary, TDC_ABS, 0},
    {"neg negative __neg__", METHODS, "input", signed_unary, TDC_SCALE, 0},
    {"sign sgn", METHODS, "input", signed_unary, TDC_SIGN, 0},
    {"square", METHODS, "input", signed_unary, TDC_SQUARE, 0},
    ONE("sin", TDC_SIN),
    ONE("cos", TDC_COS),
    ONE("tan", TDC_TAN),
    ONE("asin arcsin", TDC_ASIN),
    ONE("acos arccos", TDC_ACOS),
    ONE("atan arctan", TDC_ATAN),
    ONE("sinh", TDC_SINH),
    ONE("cosh", TDC_COSH),
    {"tanh", BOTH, "input", unary, TDC_TANH, 0},
    ONE("asinh arcsinh", TDC_ASINH),
    ONE("acosh arccosh", TDC_ACOSH),
    ONE("atanh arctanh", TDC_ATANH),
    ONE("exp", TDC_EXP),
    ONE("expm1", TDC_EXPM1),
    ONE("exp2", TDC_EXP2),
    ONE("log", TDC_LOG),
    ONE("log1p", TDC_LOG1P),
    ONE("log2", TDC_LOG2),
    ONE("log10", TDC_LOG10),
    ONE("sqrt", TDC_SQRT),
    ONE("rsqrt", TDC_RSQRT),
    ONE("reciprocal", TDC_RECIPROCAL),
    ONE("erf", TDC_ERF),
    ONE("erfc", TDC_ERFC),
    ONE("erfinv", TDC_ERFINV),
    ONE("sinc", TDC_SINC),
    ONE("frac", TDC_FRAC),
    ONE("lgamma", TDC_LGAMMA),
    ONE("digamma", TDC_DIGAMMA),
    ONE("i0", TDC_I0),
    {"logit", METHODS, "input, eps=None", logit, 0, 0},
    {"sigmoid", BOTH, "input", unary, TDC_SIGMOID, 0},
    {"relu", BOTH, "input, inplace=False", relu, 0, 0},
    {"ceil", METHODS, "input", rounding, TDC_CEIL, 0},
    {"floor", METHODS, "input", rounding, TDC_FLOOR, 0},
    {"round", METHODS, "input, *, decimals=0", rounding, TDC_ROUND, 0},
    {"trunc fix", METHODS, "input", rounding, TDC_TRUNC, 0},
    {"nan_to_num", METHODS, "input, nan=None, posinf=None, neginf=None", nan_to_num, 0, 0},
    {"clamp clip", METHODS, "input, min=None, max=None", clamp, 0, 0},
    {"clamp_min", METHODS, "input, min, *, max=None", clamp, 0, 0},
    {"clamp_max", METHODS, "input, max, *, min=None", clamp, 0, 0},
    {"conj_physical resolve_conj conj", METHODS, "input", identity, 0, 0},
    {"real", METHODS, "input", identity, 0, 0},
    {"resolve_neg", METHODS, "input", identity, 0, 0},
    {"clone contiguous positive", METHODS, "input, memory_format=None", identity, 0, 0},
    {"rad2deg", METHODS, "input", degrees, 1, 0},
    {"deg2rad", METHODS, "input", degrees, 0, 0},
    {"add __add__ __radd__ __iadd__", METHODS, "input, other, *, alpha=1", add, TDC_ADD, 0},
    {"sub subtract __sub__ __isub__", METHODS, "input, other, *, alpha=1", add, TDC_SUB, 0},
    {"rsub __rsub__", METHODS, "input, other, *, alpha=1", rsub, 0, 0},
    TWO("mul multiply __mul__ __rmul__ __imul__", TDC_MUL, 0),
    {"div divide true_divide __truediv__ __div__ __idiv__ __itruediv__", METHODS,
     "input, other, *, rounding_mode=None", divide, 0, 0},
    {"__rdiv__ __rtruediv__", TDC_IN_TENSOR, "input, other", binary_reversed, TDC_DIV, 0},
    TWO("floor_divide __floordiv__ __ifloordiv__", TDC_FLOOR_DIV, TDC_NO_GRADIENT),
    {"__rfloordiv__", TDC_IN_TENSOR, "input, other", binary_reversed, TDC_FLOOR_DIV,
     TDC_NO_GRADIENT},
    TWO("remainder __mod__ __imod__", TDC_REMAINDER, 0),
    {"__rmod__", TDC_IN_TENSOR, "input, other", binary_reversed, TDC_REMAINDER, 0},
    TWO("fmod", TDC_FMOD, 0),
    {"pow __pow__ __ipow__", METHODS, "input, other", power, 0, 0},
    {"__rpow__", TDC_IN_TENSOR, "input, other", power, 1, 0},
    {"float_power", METHODS, "input, other", float_power, 0, 0},
    TWO("maximum", TDC_MAXIMUM, 0),
    TWO("minimum", TDC_MINIMUM, 0),
    TWO("atan2 arctan2", TDC_ATAN2, 0),
    TWO("logaddexp", TDC_LOGADDEXP, 0),
    TWO("xlogy", TDC_XLOGY, 0),
    TWO("hypot", TDC_HYPOT, 0),
    TWO("copysign", TDC_COPYSIGN, 0),
    TWO("bitwise_and __and__ __iand__ __rand__", TDC_AND, TDC_NO_GRADIENT),
    TWO("bitwise_or __or__ __ior__ __ror__", TDC_OR, TDC_NO_GRADIENT),
    TWO("bitwise_xor __xor__ __ixor__ __rxor__", TDC_XOR, TDC_NO_GRADIENT),
    TWO("bitwise_left_shift __lshift__ __ilshift__", TDC_SHIFT_LEFT, TDC_NO_GRADIENT),
    TWO("bitwise_right_shift __rshift__ __irshift__", TDC_SHIFT_RIGHT, TDC_NO_GRADIENT),
    {"lerp", METHODS, "input, end, weight", lerp, 0, 0},
    {"addcmul", METHODS, "input, tensor1, tensor2, *, value=1", add_combined, TDC_MUL, 0},
    {"addcdiv", METHODS, "input, tensor1, tensor2, *, value=1", add_combined, TDC_DIV, 0},
};
const struct tdc_operator_family tdc_elementwise_family = TDC_FAMILY("elementwise", rows);
