#include <math.h>

#include "reference/arguments.h"
#include "reference/operators.h"
#include "reference/primitives/elementwise/promote.h"
#include "reference/primitives/move.h"

static void compare(tdc_evaluation *e)
{
    tdc_give(e, tdc_relate(e, (enum tdc_comparison)e->definition->variant,
                           tdc_array_argument(e, "input"), tdc_array_argument(e, "other")));
}

/* on x != 0 */
static void logical(tdc_evaluation *e)
{
    tdc_array *a = tdc_truth(e, tdc_array_argument(e, "input"));
    tdc_array *b = tdc_truth(e, tdc_array_argument(e, "other"));
    tdc_give(e, tdc_combine_whole(e, (enum tdc_binary)e->definition->variant, a, b, TDC_BOOL));
}

static void logical_not(tdc_evaluation *e)
{
    tdc_array *x = tdc_truth(e, tdc_array_argument(e, "input"));
    tdc_array *y = tdc_new_like(e, TDC_BOOL, x);
    for (int64_t i = 0; i < x->count; i++)
        y->whole[i] = !x->whole[i];
    tdc_give(e, y);
}

static void bitwise_not(tdc_evaluation *e)
{
    tdc_array *x = tdc_array_argument(e, "input");
    if (tdc_dtype_is_floating(x->dtype))
        tdc_refuse(e, TDC_ERR_ARGUMENT, "not defined for floating tensors");
    tdc_array *y = tdc_new_like(e, x->dtype, x);
    for (int64_t i = 0; i < x->count; i++)
        y->whole[i] = x->dtype == TDC_BOOL ? !x->whole[i] : tdc_wrap(~x->whole[i], x->dtype);
    tdc_give(e, y);
}

enum kind {
    FINITE,
    NOT_A_NUMBER,
    INFINITE,
    POSITIVE_INFINITE,
    NEGATIVE_INFINITE,
    SIGN_BIT
};

static void classify(tdc_evaluation *e)
{
    tdc_array *x = tdc_to_real(e, tdc_array_argument(e, "input"));
    tdc_array *y = tdc_new_like(e, TDC_BOOL, x);
    for (int64_t i = 0; i < x->count; i++) {
        double v = x->real[i];
        bool is[] = {isfinite(v) != 0,       isnan(v) != 0,          isinf(v) != 0,
                     isinf(v) != 0 && v > 0, isinf(v) != 0 && v < 0, signbit(v) != 0};
        y->whole[i] = is[e->definition->variant];
    }
    tdc_give(e, y);
}

static tdc_array *close(tdc_evaluation *e)
{
    tdc_array *a = tdc_real_array_argument(e, "input"), *b = tdc_real_array_argument(e, "other");
    double rtol = tdc_real_argument(e, "rtol"), atol = tdc_real_argument(e, "atol");
    bool equal_nan = tdc_bool_argument(e, "equal_nan");
    tdc_array *difference = tdc_sub(e, a, b);
    a = tdc_expand(e, a, difference->rank, difference->shape);
    b = tdc_expand(e, b, difference->rank, difference->shape);
    tdc_array *y = tdc_new_like(e, TDC_BOOL, a);
    for (int64_t i = 0; i < a->count; i++) {
        double p = a->real[i], q = b->real[i];
        bool near = isfinite(p) && isfinite(q) && fabs(p - q) <= atol + fabs(rtol * q);
        y->whole[i] = p == q || near || (equal_nan && isnan(p) && isnan(q));
    }
    return y;
}

static void isclose(tdc_evaluation *e)
{
    tdc_give(e, close(e));
}

static bool all_of(const tdc_array *x)
{
    for (int64_t i = 0; i < x->count; i++)
        if (x->whole[i] == 0)
            return false;
    return true;
}

static void allclose(tdc_evaluation *e)
{
    tdc_give_value(e, (tdc_call_value){.kind = TDC_VALUE_BOOL, .whole = all_of(close(e))});
}

static void equal(tdc_evaluation *e)
{
    tdc_array *a = tdc_array_argument(e, "input"), *b = tdc_array_argument(e, "other");
    bool same = tdc_same_shape(a, b) && all_of(tdc_relate(e, TDC_EQ, a, b));
    tdc_give_value(e, (tdc_call_value){.kind = TDC_VALUE_BOOL, .whole = same});
}

#define ROW(names, function, variant)                                                              \
    {                                                                                              \
        names, TDC_IN_METHODS, "input, other", function, variant, TDC_NO_GRADIENT                  \
    }
#define TEST(names, variant)                                                                       \
    {                                                                                              \
        names, TDC_IN_METHODS, "input", classify, variant, TDC_NO_GRADIENT                         \
    }
static const struct tdc_operator rows[] = {
    ROW("eq __eq__", compare, TDC_EQ),
    ROW("ne not_equal __ne__", compare, TDC_NE),
    ROW("lt less __lt__", compare, TDC_LT),
    ROW("le less_equal __le__", compare, TDC_LE),
    ROW("gt greater __gt__", compare, TDC_GT),
    ROW("ge greater_equal __ge__", compare, TDC_GE),
    ROW("logical_and", logical, TDC_AND),
    ROW("logical_or", logical, TDC_OR),
    ROW("logical_xor", logical, TDC_XOR),
    ROW("equal", equal, 0),
    {"logical_not", TDC_IN_METHODS, "input", logical_not, 0, TDC_NO_GRADIENT},
    {"bitwise_not __invert__", TDC_IN_METHODS, "input", bitwise_not, 0, TDC_NO_GRADIENT},
    TEST("isfinite", FINITE),
    TEST("isnan", NOT_A_NUMBER),
    TEST("isinf", INFINITE),
    TEST("isposinf", POSITIVE_INFINITE),
    TEST("isneginf", NEGATIVE_INFINITE),
    TEST("signbit", SIGN_BIT),
    {"isclose", TDC_IN_METHODS, "input, other, rtol=1e-05, atol=1e-08, equal_nan=False", isclose, 0,
     TDC_NO_GRADIENT},
    {"allclose", TDC_IN_METHODS, "input, other, rtol=1e-05, atol=1e-08, equal_nan=False", allclose,
     0, TDC_NO_GRADIENT},
};
const struct tdc_operator_family tdc_comparison_family = TDC_FAMILY("comparisons", rows);
