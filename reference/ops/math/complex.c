/* Complex numbers: making them, taking them apart, and what names of real functions mean for them.
 */
#include <math.h>
#include <string.h>

#include "reference/arguments.h"
#include "reference/operators.h"
#include "reference/primitives/complex_parts.h"
#include "reference/primitives/elementwise/promote.h"
#include "reference/primitives/elementwise/unary.h"
#include "reference/primitives/gather.h"
#include "reference/primitives/matrix/product.h"
#include "reference/primitives/move.h"
#include "reference/primitives/reduce.h"

typedef struct tdc_parts parts;

/* ---- making and taking apart ----------------------------------------------------------------- */

static void polar(tdc_evaluation *e)
{
    tdc_array *r = tdc_real_array_argument(e, "abs"), *angle = tdc_real_array_argument(e, "angle");
    tdc_give_parts(e, (parts){tdc_mul(e, r, tdc_apply(e, TDC_COS, angle)),
                              tdc_mul(e, r, tdc_apply(e, TDC_SIN, angle))});
}

static void of_parts(tdc_evaluation *e)
{
    tdc_give_parts(e,
                   (parts){tdc_real_array_argument(e, "real"), tdc_real_array_argument(e, "imag")});
}

static void view_as_complex(tdc_evaluation *e)
{
    tdc_array *x = tdc_real_array_argument(e, "input");
    if (x->rank == 0 || x->shape[x->rank - 1] != 2)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "a last dimension of two expected");
    tdc_give_parts(e, (parts){tdc_part(e, x, 0), tdc_part(e, x, 1)});
}

static void view_as_real(tdc_evaluation *e)
{
    tdc_array *x = tdc_array_argument(e, "input");
    if (!x->complex)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "a complex tensor expected");
    tdc_give(e, tdc_reshape(e, x, x->rank, x->shape));
    e->outputs[e->output_count - 1].tensor->complex = false;
}

static void one_part(tdc_evaluation *e)
{
    parts z = tdc_parts_argument(e, "input");
    if (e->definition->variant != 0 && z.im == NULL)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "a complex tensor expected");
    tdc_give(e, e->definition->variant == 0 ? z.re : z.im);
}

static void is_complex(tdc_evaluation *e)
{
    tdc_array *x = tdc_array_argument(e, "input");
    tdc_give_value(e, (tdc_call_value){.kind = TDC_VALUE_BOOL, .whole = x->complex});
}

/* True where the imaginary part is zero. */
static void is_real(tdc_evaluation *e)
{
    parts z = tdc_parts_argument(e, "input");
    tdc_array *im = z.im != NULL ? z.im : tdc_zeros(e, TDC_F64, z.re->rank, z.re->shape);
    tdc_give(e, tdc_relate(e, TDC_EQ, im, tdc_number(e, 0)));
}

/* ---- arithmetic ------------------------------------------------------------------------------ */

static tdc_array *sum_of(tdc_evaluation *e, tdc_array *a, tdc_array *b)
{
    return a == NULL ? b : b == NULL ? a : tdc_add(e, a, b);
}

static tdc_array *negative(tdc_evaluation *e, tdc_array *x)
{
    return x == NULL ? NULL : tdc_scale(e, x, -1);
}

static tdc_array *product_of(tdc_evaluation *e, tdc_array *a, tdc_array *b)
{
    return a == NULL || b == NULL ? NULL : tdc_mul(e, a, b);
}

static parts conjugate(tdc_evaluation *e, parts z)
{
    return (parts){z.re, negative(e, z.im)};
}

static parts multiply(tdc_evaluation *e, parts a, parts b)
{
    return (parts){sum_of(e, product_of(e, a.re, b.re), negative(e, product_of(e, a.im, b.im))),
                   sum_of(e, product_of(e, a.re, b.im), product_of(e, a.im, b.re))};
}

static parts scaled(tdc_evaluation *e, parts z, tdc_array *factor)
{
    return (parts){tdc_mul(e, z.re, factor), product_of(e, z.im, factor)};
}

static parts divide(tdc_evaluation *e, parts a, parts b)
{
    if (b.im == NULL)
        return (parts){tdc_div(e, a.re, b.re), a.im == NULL ? NULL : tdc_div(e, a.im, b.re)};
    tdc_array *square = tdc_add(e, tdc_mul(e, b.re, b.re), tdc_mul(e, b.im, b.im));
    parts top = multiply(e, a, conjugate(e, b));
    return (parts){tdc_div(e, top.re, square), tdc_div(e, top.im, square)};
}

enum arithmetic {
    ADD,
    SUB,
    MUL,
    DIV,
    REVERSE = 8 /* operands exchanged */
};

static void arithmetic(tdc_evaluation *e)
{
    parts a = tdc_parts_argument(e, "input"), b = tdc_parts_argument(e, "other");
    if ((e->definition->variant & REVERSE) != 0) {
        parts t = a;
        a = b;
        b = t;
    }
    enum arithmetic how = (enum arithmetic)(e->definition->variant & ~REVERSE);
    if (how <= SUB && tdc_real_argument(e, "alpha") != 1)
        b = scaled(e, b, tdc_number(e, tdc_real_argument(e, "alpha")));
    if (how == SUB)
        b = (parts){negative(e, b.re), negative(e, b.im)};
    if (how <= SUB) {
        /* a missing part of the other operand's shape must not keep this one from broadcasting */
        tdc_array *re = tdc_add(e, a.re, b.re), *im = sum_of(e, a.im, b.im);
        tdc_give_parts(e, (parts){re, im});
        return;
    }
    tdc_give_parts(e, how == MUL ? multiply(e, a, b) : divide(e, a, b));
}

static void conjugates(tdc_evaluation *e)
{
    tdc_give_parts(e, conjugate(e, tdc_parts_argument(e, "input")));
}

/* The gradient is zero at zero, as the frameworks have it. */
static tdc_array *magnitude(tdc_evaluation *e, tdc_array *z)
{
    return tdc_norm_rows(e, z, 2);
}

static void absolute(tdc_evaluation *e)
{
    tdc_give(e, magnitude(e, tdc_array_argument(e, "input")));
}

static void angle(tdc_evaluation *e)
{
    parts z = tdc_parts_argument(e, "input");
    tdc_give(e, tdc_combine(e, TDC_ATAN2, z.im, z.re));
}

/* z / |z|, 0 at 0 */
static void sign(tdc_evaluation *e)
{
    tdc_array *x = tdc_array_argument(e, "input"), *size = magnitude(e, x);
    tdc_array *zero = tdc_relate(e, TDC_EQ, size, tdc_number(e, 0));
    tdc_array *bottom = tdc_select(e, zero, tdc_number(e, 1), size);
    parts z = tdc_split(e, x);
    tdc_give_parts(e, (parts){tdc_div(e, z.re, bottom), tdc_div(e, z.im, bottom)});
}

enum function {
    EXP,
    LOG,
    SQUARE,
    RECIPROCAL,
    NEGATIVE
};

static void function(tdc_evaluation *e)
{
    tdc_array *x = tdc_array_argument(e, "input"), *size;
    parts z = tdc_split(e, x);
    switch ((enum function)e->definition->variant) {
    case EXP:
        size = tdc_apply(e, TDC_EXP, z.re);
        tdc_give_parts(e, (parts){tdc_mul(e, size, tdc_apply(e, TDC_COS, z.im)),
                                  tdc_mul(e, size, tdc_apply(e, TDC_SIN, z.im))});
        return;
    case LOG:
        tdc_give_parts(e, (parts){tdc_apply(e, TDC_LOG, magnitude(e, x)),
                                  tdc_combine(e, TDC_ATAN2, z.im, z.re)});
        return;
    case SQUARE:
        tdc_give_parts(e, multiply(e, z, z));
        return;
    case RECIPROCAL:
        tdc_give_parts(e, divide(e, (parts){tdc_number(e, 1), NULL}, z));
        return;
    case NEGATIVE:
        tdc_give_parts(e, (parts){negative(e, z.re), negative(e, z.im)});
        return;
    }
}

/* A small whole power, by squaring; any other has branches the frameworks choose differently. */
static void power(tdc_evaluation *e)
{
    parts z = tdc_parts_argument(e, "input"), y = {tdc_number(e, 1), NULL};
    double n = tdc_real_argument(e, "other");
    if (n != floor(n) || fabs(n) > 64)
        tdc_refuse(e, TDC_ERR_UNSUPPORTED, "a power of complex numbers that is not whole");
    for (int left = (int)fabs(n); left > 0; left >>= 1) {
        if (left & 1)
            y = multiply(e, y, z);
        if (left > 1)
            z = multiply(e, z, z);
    }
    if (y.im == NULL) /* z to the 0 */
        y = (parts){tdc_add(e, y.re, tdc_scale(e, z.re, 0)), tdc_scale(e, z.re, 0)};
    tdc_give_parts(e, n < 0 ? divide(e, (parts){tdc_number(e, 1), NULL}, y) : y);
}

static void matmul(tdc_evaluation *e)
{
    parts a = tdc_parts_argument(e, "input"), b = tdc_parts_argument(e, "other");
    tdc_array *re = tdc_matmul(e, a.re, b.re), *im = NULL;
    if (a.im != NULL && b.im != NULL)
        re = tdc_sub(e, re, tdc_matmul(e, a.im, b.im));
    if (a.im != NULL)
        im = tdc_matmul(e, a.im, b.re);
    if (b.im != NULL)
        im = sum_of(e, im, tdc_matmul(e, a.re, b.im));
    tdc_give_parts(e, (parts){re, im});
}

static void equal(tdc_evaluation *e)
{
    parts a = tdc_parts_argument(e, "input"), b = tdc_parts_argument(e, "other");
    parts d = {tdc_sub(e, a.re, b.re), sum_of(e, a.im, negative(e, b.im))};
    tdc_array *zero = tdc_number(e, 0);
    tdc_array *same = tdc_combine_whole(e, TDC_AND, tdc_relate(e, TDC_EQ, d.re, zero),
                                        tdc_relate(e, TDC_EQ, d.im, zero), TDC_BOOL);
    tdc_give(e, e->definition->variant == 0
                    ? same
                    : tdc_relate(e, TDC_EQ, same, tdc_zeros(e, TDC_BOOL, 0, NULL)));
}

/* ---- conversions: the recorded dtypes, part by part -------------------------------------------
 */

/* The dtype asked for by a dtype, another tensor, or lost and taken from the output. */
static bool asked_dtype(tdc_evaluation *e, const tdc_call_value *v, tdc_dtype *dtype,
                        bool *is_complex)
{
    tdc_dtype found = TDC_DTYPE_NONE;
    *is_complex = false;
    if (v->kind == TDC_VALUE_TENSOR) {
        found = v->tensor->dtype;
        *is_complex = v->tensor->complex;
    } else if (v->kind == TDC_VALUE_DTYPE) {
        found = v->dtype;
    } else if (v->kind == TDC_VALUE_UNKNOWN) {
        found = e->recorded_output;
    }
    if (tdc_dtype_is_complex(found)) {
        *is_complex = true;
        found = tdc_dtype_part(found);
    }
    *dtype = found;
    return found != TDC_DTYPE_NONE;
}

static void give_converted(tdc_evaluation *e, tdc_array *x, tdc_dtype dtype, bool is_complex)
{
    if (!is_complex) {
        tdc_give(e, tdc_convert(e, x->complex ? tdc_part(e, x, 0) : x, dtype));
        return;
    }
    if (!x->complex) {
        tdc_array *zeros = tdc_zeros(e, dtype, x->rank, x->shape);
        x = tdc_convert(e, x, dtype);
        tdc_array *both[2] = {tdc_unsqueeze(e, x, x->rank), tdc_unsqueeze(e, zeros, x->rank)};
        x = tdc_concatenate(e, both, 2, both[0]->rank - 1);
    }
    tdc_array *y = tdc_reshape(e, tdc_convert(e, x, dtype), x->rank, x->shape);
    y->complex = true;
    tdc_give(e, y);
}

static void to(tdc_evaluation *e)
{
    tdc_array *x = tdc_array_argument(e, "input");
    tdc_dtype dtype;
    bool is_complex;
    if (asked_dtype(e, tdc_argument(e, "to"), &dtype, &is_complex) ||
        asked_dtype(e, tdc_argument(e, "second"), &dtype, &is_complex))
        give_converted(e, x, dtype, is_complex);
    else
        tdc_give(e, x);
}

static void fixed(tdc_evaluation *e)
{
    tdc_array *x = tdc_array_argument(e, "input");
    tdc_dtype dtype = (tdc_dtype)e->definition->variant;
    bool is_complex = tdc_dtype_is_complex(dtype);
    dtype = tdc_dtype_part(dtype);
    give_converted(e, x, dtype, is_complex);
}

#define METHODS TDC_IN_METHODS
static const struct tdc_operator rows[] = {
    {"polar", TDC_IN_TORCH | TDC_IN_MINT, "abs, angle", polar, 0, 0},
    {"complex", TDC_IN_TORCH | TDC_IN_MINT, "real, imag", of_parts, 0, 0},
    {"view_as_complex", METHODS, "input", view_as_complex, 0, 0},
    {"view_as_real", METHODS, "input", view_as_real, 0, TDC_TAKES_COMPLEX},
    {"imag", METHODS, "input", one_part, 1, TDC_TAKES_COMPLEX},
    {"is_complex", METHODS, "input", is_complex, 0, TDC_TAKES_COMPLEX | TDC_NO_GRADIENT},
    {"isreal", METHODS, "input", is_real, 0, TDC_TAKES_COMPLEX | TDC_NO_GRADIENT},
    {"cfloat", TDC_IN_TENSOR, "input, memory_format=None", fixed, TDC_C64,
     TDC_TAKES_COMPLEX | TDC_IS_CONVERSION},
    {"cdouble", TDC_IN_TENSOR, "input, memory_format=None", fixed, TDC_C128,
     TDC_TAKES_COMPLEX | TDC_IS_CONVERSION},
};
const struct tdc_operator_family tdc_complex_family = TDC_FAMILY("complex numbers", rows);

#define TWO "input, other, *, alpha=1, rounding_mode=None"
#define TO  "input, to=None, second=None, non_blocking=False, copy=False"
static const struct tdc_operator variants[] = {
    {"real", 0, "input", one_part, 0, 0},
    {"conj_physical resolve_conj conj", 0, "input", conjugates, 0, 0},
    {"add __add__ __radd__", 0, TWO, arithmetic, ADD, 0},
    {"sub subtract __sub__", 0, TWO, arithmetic, SUB, 0},
    {"__rsub__ rsub", 0, TWO, arithmetic, SUB | REVERSE, 0},
    {"mul multiply __mul__ __rmul__", 0, TWO, arithmetic, MUL, 0},
    {"div divide true_divide __truediv__ __div__", 0, TWO, arithmetic, DIV, 0},
    {"__rdiv__ __rtruediv__", 0, TWO, arithmetic, DIV | REVERSE, 0},
    {"abs absolute", 0, "input", absolute, 0, 0},
    {"angle", 0, "input", angle, 0, 0},
    {"sgn", 0, "input", sign, 0, 0},
    {"exp", 0, "input", function, EXP, 0},
    {"log", 0, "input", function, LOG, 0},
    {"square", 0, "input", function, SQUARE, 0},
    {"reciprocal", 0, "input", function, RECIPROCAL, 0},
    {"neg negative __neg__", 0, "input", function, NEGATIVE, 0},
    {"pow __pow__", 0, "input, other", power, 0, 0},
    {"matmul mm mv __matmul__ bmm", 0, "input, other", matmul, 0, 0},
    {"eq __eq__", 0, "input, other", equal, 0, TDC_NO_GRADIENT},
    {"ne not_equal __ne__", 0, "input, other", equal, 1, TDC_NO_GRADIENT},
    {"to astype cast", 0, TO, to, 0, TDC_IS_CONVERSION},
    {"type_as", 0, "input, to, *, second=None", to, 0, TDC_IS_CONVERSION},
    {"type", 0, TO, to, 0, TDC_IS_CONVERSION},
    {"float", 0, "input, memory_format=None", fixed, TDC_F32, TDC_IS_CONVERSION},
    {"double", 0, "input, memory_format=None", fixed, TDC_F64, TDC_IS_CONVERSION},
    /* elements moved or added, part by part */
    {"reshape view view_as reshape_as flatten unflatten ravel squeeze unsqueeze transpose swapaxes "
     "swapdims t permute movedim moveaxis expand expand_as broadcast_to contiguous clone detach "
     "resolve_neg cat concat concatenate stack hstack vstack row_stack dstack column_stack chunk "
     "split "
     "split_with_sizes tensor_split unbind narrow narrow_copy select index_select gather "
     "masked_select take take_along_dim __getitem__ repeat tile repeat_interleave roll flip "
     "fliplr flipud rot90 unfold diagonal diag diag_embed tril triu sum mean cumsum where",
     0, "", NULL, 0, 0},
};

static bool share_a_name(const char *words, const char *others)
{
    for (const char *at = words; *at != 0;) {
        size_t length = strcspn(at, " ");
        for (const char *other = others; *other != 0;) {
            size_t size = strcspn(other, " ");
            if (size == length && memcmp(at, other, size) == 0)
                return true;
            other += size;
            other += strspn(other, " ");
        }
        at += length;
        at += strspn(at, " ");
    }
    return false;
}

const struct tdc_operator *tdc_complex_variant(const struct tdc_operator *definition)
{
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++)
        if (share_a_name(definition->names, variants[i].names))
            return &variants[i];
    return NULL;
}
