#include <math.h>
#include <string.h>

#include "reference/arguments.h"
#include "reference/operators.h"
#include "reference/primitives/elementwise/promote.h"
#include "reference/primitives/move.h"

#define RANK TDC_REFERENCE_RANK

static tdc_array *filled(tdc_evaluation *e, tdc_dtype dtype, unsigned rank, const int64_t *shape,
                         const tdc_array *fill)
{
    tdc_array *y = tdc_new(e, dtype, rank, shape);
    tdc_array *one =
        tdc_convert(e, tdc_reshape(e, tdc_constant(e, (tdc_array *)fill), 0, NULL), dtype);
    for (int64_t i = 0; i < y->count; i++)
        y->whole[i] = one->whole[0];
    return y;
}

static void constant(tdc_evaluation *e)
{
    int64_t shape[RANK];
    size_t rank = tdc_ints_argument(e, "shape", shape, RANK);
    tdc_give(e, filled(e, tdc_dtype_argument(e, "dtype", TDC_F64), (unsigned)rank, shape,
                       tdc_number(e, e->definition->variant)));
}

static void full(tdc_evaluation *e)
{
    int64_t shape[RANK];
    size_t rank = tdc_ints_argument(e, "shape", shape, RANK);
    tdc_array *fill = tdc_array_argument(e, "fill_value");
    tdc_give(e,
             filled(e, tdc_dtype_argument(e, "dtype", fill->dtype), (unsigned)rank, shape, fill));
}

static void constant_like(tdc_evaluation *e)
{
    tdc_array *x = tdc_array_argument(e, "input");
    tdc_give(e, filled(e, tdc_dtype_argument(e, "dtype", x->dtype), x->rank, x->shape,
                       tdc_number(e, e->definition->variant)));
}

static void full_like(tdc_evaluation *e)
{
    tdc_array *x = tdc_array_argument(e, "input");
    tdc_give(e, filled(e, tdc_dtype_argument(e, "dtype", x->dtype), x->rank, x->shape,
                       tdc_array_argument(e, "fill_value")));
}

static void eye(tdc_evaluation *e)
{
    int64_t n = tdc_int_argument(e, "n");
    int64_t m = tdc_given(e, "m") ? tdc_int_argument(e, "m") : n;
    tdc_dtype dtype = tdc_dtype_argument(e, "dtype", TDC_F64);
    tdc_array *y = tdc_zeros(e, dtype, 2, (const int64_t[]){n, m});
    for (int64_t i = 0; i < n && i < m; i++) {
        if (tdc_dtype_is_floating(dtype))
            y->real[i * m + i] = 1;
        else
            y->whole[i * m + i] = 1;
    }
    tdc_give(e, y);
}

static void arange(tdc_evaluation *e)
{
    const char *first = tdc_given(e, "end") ? "start" : NULL;
    const char *last = tdc_given(e, "end") ? "end" : "start";
    bool whole = tdc_argument(e, last)->kind == TDC_VALUE_INT &&
                 tdc_argument(e, "step")->kind == TDC_VALUE_INT &&
                 (first == NULL || tdc_argument(e, first)->kind == TDC_VALUE_INT);
    double start = first == NULL ? 0 : tdc_real_argument(e, first);
    double end = tdc_real_argument(e, last), step = tdc_real_argument(e, "step");
    double length = ceil((end - start) / step);
    if (!(step != 0) || !(length < 0x1p40) || length < 0)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "step must be nonzero and lead to the end");
    tdc_dtype dtype = tdc_dtype_argument(e, "dtype", whole ? TDC_I64 : TDC_F64);
    int64_t n = (int64_t)length;
    int64_t first_whole = whole && first != NULL ? tdc_int_argument(e, first) : 0;
    int64_t step_whole = whole ? tdc_int_argument(e, "step") : 0;
    tdc_array *y = tdc_new(e, whole ? TDC_I64 : TDC_F64, 1, &n);
    for (int64_t i = 0; i < n; i++) {
        if (whole)
            y->whole[i] = first_whole + i * step_whole;
        else
            y->real[i] = start + (double)i * step;
    }
    tdc_give(e, tdc_convert(e, y, dtype));
}

/* The second half is counted from the end, so that both ends are exact. */
static void linspace(tdc_evaluation *e)
{
    double start = tdc_real_argument(e, "start"), end = tdc_real_argument(e, "end");
    int64_t n = tdc_int_argument(e, "steps");
    tdc_array *y = tdc_new(e, TDC_F64, 1, &n);
    double step = n > 1 ? (end - start) / (double)(n - 1) : 0;
    for (int64_t i = 0; i < n; i++)
        y->real[i] = n == 1      ? start
                     : i < n / 2 ? start + step * (double)i
                                 : end - step * (double)(n - 1 - i);
    tdc_give(e, tdc_convert(e, y, tdc_dtype_argument(e, "dtype", TDC_F64)));
}

/* In place: what was there gets a gradient of zero. */
static void fill(tdc_evaluation *e)
{
    tdc_array *x = tdc_array_argument(e, "input");
    tdc_array *v = tdc_array_argument(e, "value");
    tdc_array *all = tdc_new_like(e, TDC_BOOL, x);
    for (int64_t i = 0; i < all->count; i++)
        all->whole[i] = 1;
    tdc_give(e, tdc_select(e, all, tdc_convert(e, tdc_reshape(e, v, 0, NULL), x->dtype), x));
}

static void one(tdc_evaluation *e)
{
    tdc_array *x = tdc_array_argument(e, "input");
    tdc_array *none = tdc_zeros(e, TDC_BOOL, x->rank, x->shape);
    tdc_give(e, tdc_select(e, none, x, tdc_convert(e, tdc_number(e, 1), x->dtype)));
}

static void zero(tdc_evaluation *e)
{
    tdc_array *x = tdc_array_argument(e, "input");
    tdc_array *none = tdc_zeros(e, TDC_BOOL, x->rank, x->shape);
    tdc_array *zeros = tdc_zeros(e, x->dtype, 0, NULL);
    tdc_give(e, tdc_select(e, none, x, zeros));
}

static void copy(tdc_evaluation *e)
{
    tdc_array *x = tdc_array_argument(e, "input");
    tdc_array *src = tdc_convert(e, tdc_array_argument(e, "src"), x->dtype);
    src = tdc_expand(e, src, x->rank, x->shape);
    tdc_array *none = tdc_zeros(e, TDC_BOOL, x->rank, x->shape);
    tdc_give(e, tdc_select(e, none, x, src));
}

static void one_hot(tdc_evaluation *e)
{
    tdc_array *x = tdc_array_argument(e, "input");
    int64_t classes = tdc_int_argument(e, "num_classes"), most = -1, shape[RANK];
    if (tdc_dtype_is_floating(x->dtype) || x->rank + 1 > RANK)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "one_hot needs integers");
    for (int64_t i = 0; i < x->count; i++) {
        if (x->whole[i] < 0 || x->whole[i] > INT32_MAX)
            tdc_refuse(e, TDC_ERR_ARGUMENT, "class values must be non-negative");
        most = x->whole[i] > most ? x->whole[i] : most;
    }
    if (classes < 0)
        classes = most + 1;
    if (most >= classes)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "class values must be smaller than num_classes");
    memcpy(shape, x->shape, sizeof shape);
    shape[x->rank] = classes;
    tdc_array *y = tdc_zeros(e, TDC_I64, x->rank + 1, shape);
    for (int64_t i = 0; i < x->count; i++)
        y->whole[i * classes + x->whole[i]] = 1;
    tdc_give(e, y);
}

/* base to the power of equally spaced exponents */
static void logspace(tdc_evaluation *e)
{
    double start = tdc_real_argument(e, "start"), end = tdc_real_argument(e, "end");
    double base = tdc_real_argument(e, "base");
    int64_t n = tdc_int_argument(e, "steps");
    tdc_array *y = tdc_new(e, TDC_F64, 1, &n);
    double step = n > 1 ? (end - start) / (double)(n - 1) : 0;
    for (int64_t i = 0; i < n; i++)
        y->real[i] = pow(base, i < n / 2 || n == 1 ? start + step * (double)i
                                                   : end - step * (double)(n - 1 - i));
    tdc_give(e, tdc_convert(e, y, tdc_dtype_argument(e, "dtype", TDC_F64)));
}

/* Its end included: torch's older arange. */
static void range(tdc_evaluation *e)
{
    double start = tdc_real_argument(e, "start"), step = tdc_real_argument(e, "step");
    double length = floor((tdc_real_argument(e, "end") - start) / step) + 1;
    if (!(step != 0) || !(length < 0x1p40) || length < 0)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "step must be nonzero and lead to the end");
    int64_t n = (int64_t)length;
    tdc_array *y = tdc_new(e, TDC_F64, 1, &n);
    for (int64_t i = 0; i < n; i++)
        y->real[i] = start + (double)i * step;
    tdc_give(e, tdc_convert(e, y, tdc_dtype_argument(e, "dtype", TDC_F64)));
}

/* new_zeros, new_ones, new_full: shape given, dtype the tensor's */
static void constant_new(tdc_evaluation *e)
{
    tdc_array *x = tdc_array_argument(e, "input");
    int64_t shape[RANK];
    size_t rank = tdc_ints_argument(e, "shape", shape, RANK);
    tdc_array *fill = e->definition->variant < 0 ? tdc_array_argument(e, "fill_value")
                                                 : tdc_number(e, e->definition->variant);
    tdc_give(e, filled(e, tdc_dtype_argument(e, "dtype", x->dtype), (unsigned)rank, shape, fill));
}

/* Rows and columns of the elements of a triangle: tril -1, triu 1. */
static void triangle_indices(tdc_evaluation *e)
{
    int64_t lines = tdc_int_argument(e, "row"), columns = tdc_int_argument(e, "col");
    int64_t offset = tdc_int_argument(e, "offset"), found = 0;
    if (lines < 0 || columns < 0 || lines > INT32_MAX || columns > INT32_MAX)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "sizes are out of range");
    bool lower = e->definition->variant < 0;
    int64_t *at = tdc_take(e, lines * columns, sizeof *at);
    for (int64_t i = 0; i < lines * columns; i++) {
        int64_t away = i % columns - i / columns;
        if (lower ? away <= offset : away >= offset)
            at[found++] = i;
    }
    tdc_array *y =
        tdc_new(e, tdc_dtype_argument(e, "dtype", TDC_I64), 2, (const int64_t[]){2, found});
    for (int64_t i = 0; i < found; i++) {
        y->whole[i] = at[i] / columns;
        y->whole[found + i] = at[i] % columns;
    }
    tdc_give(e, y);
}

static void scalar_tensor(tdc_evaluation *e)
{
    tdc_array *v = tdc_array_argument(e, "value");
    tdc_give(e, filled(e, tdc_dtype_argument(e, "dtype", TDC_F64), 0, NULL, v));
}

static void nothing(tdc_evaluation *e)
{
    tdc_refuse(e, TDC_ERR_UNSUPPORTED, "random api, output is not reproducible");
}

/* ---- results that are no tensors
 * ----------------------------------------------------------------- */

static void size(tdc_evaluation *e)
{
    tdc_array *x = tdc_array_argument(e, "input");
    if (tdc_given(e, "dim")) {
        unsigned dim = tdc_dim_argument(e, "dim", x->rank);
        tdc_give_value(
            e, (tdc_call_value){.kind = TDC_VALUE_INT, .whole = x->rank ? x->shape[dim] : 0});
        return;
    }
    for (unsigned d = 0; d < x->rank; d++)
        tdc_give_value(e, (tdc_call_value){.kind = TDC_VALUE_INT, .whole = x->shape[d]});
}

static void numel(tdc_evaluation *e)
{
    tdc_give_value(
        e, (tdc_call_value){.kind = TDC_VALUE_INT, .whole = tdc_array_argument(e, "input")->count});
}

static void rank_of(tdc_evaluation *e)
{
    tdc_give_value(
        e, (tdc_call_value){.kind = TDC_VALUE_INT, .whole = tdc_array_argument(e, "input")->rank});
}

static void is_floating_point(tdc_evaluation *e)
{
    bool floating = tdc_dtype_is_floating(tdc_array_argument(e, "input")->dtype);
    tdc_give_value(e, (tdc_call_value){.kind = TDC_VALUE_BOOL, .whole = floating});
}

static tdc_call_value element_value(const tdc_array *x, int64_t i)
{
    if (tdc_dtype_is_floating(x->dtype))
        return (tdc_call_value){.kind = TDC_VALUE_FLOAT, .real = x->real[i]};
    return (tdc_call_value){.kind = x->dtype == TDC_BOOL ? TDC_VALUE_BOOL : TDC_VALUE_INT,
                            .whole = x->whole[i]};
}

static void item(tdc_evaluation *e)
{
    tdc_array *x = tdc_array_argument(e, "input");
    if (x->count != 1)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "only one element tensors can be converted to scalars");
    tdc_give_value(e, element_value(x, 0));
}

static void truth_value(tdc_evaluation *e)
{
    tdc_array *x = tdc_array_argument(e, "input");
    if (x->count != 1)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "truth of several elements is ambiguous");
    tdc_give_value(e, (tdc_call_value){.kind = TDC_VALUE_BOOL, .whole = tdc_truth(e, x)->whole[0]});
}

static void tolist(tdc_evaluation *e)
{
    tdc_array *x = tdc_array_argument(e, "input");
    if (x->rank > 1)
        tdc_refuse(e, TDC_ERR_UNSUPPORTED, "nested lists");
    for (int64_t i = 0; i < x->count; i++)
        tdc_give_value(e, element_value(x, i));
}

static void is_contiguous(tdc_evaluation *e)
{
    (void)tdc_array_argument(e, "input");
    tdc_give_value(
        e, (tdc_call_value){.kind = TDC_VALUE_BOOL, .whole = 1}); /* strides are not recorded */
}

static void numpy(tdc_evaluation *e)
{
    tdc_give(e, tdc_array_argument(e, "input"));
}

#define CREATION (TDC_IN_MINT | TDC_IN_TORCH)
#define METHODS  TDC_IN_METHODS
#define NOT      TDC_NO_GRADIENT
/* How a tensor lies in memory was not recorded: nothing to compare. */
static void memory_layout(tdc_evaluation *e)
{
    tdc_give_value(e, (tdc_call_value){.kind = TDC_VALUE_NULL});
}

static const struct tdc_operator rows[] = {
    {"ones", CREATION, "*shape, dtype=None", constant, 1, NOT},
    {"zeros", CREATION, "*shape, dtype=None", constant, 0, NOT},
    {"full", CREATION, "shape, fill_value, *, dtype=None", full, 0, NOT},
    {"ones_like", METHODS, "input, *, dtype=None", constant_like, 1, NOT},
    {"zeros_like", METHODS, "input, *, dtype=None", constant_like, 0, NOT},
    {"full_like", METHODS, "input, fill_value, *, dtype=None", full_like, 0, NOT},
    {"eye", CREATION, "n, m=None, dtype=None", eye, 0, NOT},
    {"arange", CREATION, "start, end=None, step=1, *, dtype=None", arange, 0, NOT},
    {"linspace", CREATION, "start, end, steps, *, dtype=None", linspace, 0, NOT},
    {"logspace", CREATION, "start, end, steps, base=10.0, *, dtype=None", logspace, 0, NOT},
    {"range", CREATION, "start=0, end=None, step=1, *, dtype=None", range, 0, NOT},
    {"new_zeros", TDC_IN_TENSOR, "input, *shape, dtype=None", constant_new, 0, NOT},
    {"new_ones", TDC_IN_TENSOR, "input, *shape, dtype=None", constant_new, 1, NOT},
    {"new_full", TDC_IN_TENSOR, "input, shape, fill_value, *, dtype=None", constant_new, -1, NOT},
    {"tril_indices", CREATION, "row, col, offset=0, *, dtype=None", triangle_indices, -1, NOT},
    {"triu_indices", CREATION, "row, col, offset=0, *, dtype=None", triangle_indices, 1, NOT},
    {"scalar_tensor", CREATION, "value, *, dtype=None", scalar_tensor, 0, NOT},
    {"one_", TDC_IN_NPU, "input", one, 0, 0},
    {"fill_ fill", TDC_IN_TENSOR | TDC_IN_TORCH, "input, value", fill, 0, 0},
    {"zero_", TDC_IN_TENSOR | TDC_IN_TORCH, "input", zero, 0, 0},
    {"copy_", TDC_IN_TENSOR, "input, src, non_blocking=False", copy, 0, 0},
    {"one_hot one_hot_ext", TDC_IN_FUNCTIONALS, "input, num_classes=-1", one_hot, 0, NOT},
    {"npu_one_hot", TDC_IN_NPU, "input, num_classes=-1", one_hot, 0, NOT},
    {"rand rand_like randn randn_like randint randint_like randperm normal bernoulli multinomial "
     "normal_ uniform_ random_ exponential_ poisson empty empty_like cauchy_ geometric_ "
     "log_normal_ binomial",
     METHODS, "*anything", nothing, 0, TDC_IS_RANDOM},
    {"normal gumbel_softmax", TDC_IN_MINT_FUNCTIONAL | TDC_IN_TORCH_FUNCTIONAL, "*anything",
     nothing, 0, TDC_IS_RANDOM},
    {"size", TDC_IN_TENSOR, "input, dim=None", size, 0, NOT},
    {"stride", TDC_IN_TENSOR, "input, dim=None", memory_layout, 0, NOT},
    {"numel nelement", METHODS, "input", numel, 0, NOT},
    {"dim ndimension", TDC_IN_TENSOR, "input", rank_of, 0, NOT},
    {"is_floating_point", METHODS, "input", is_floating_point, 0, NOT},
    {"is_nonzero __nonzero__", METHODS, "input", truth_value, 0, NOT},
    {"item", METHODS, "input", item, 0, NOT},
    {"__bool__", TDC_IN_TENSOR, "input", truth_value, 0, NOT},
    {"tolist", TDC_IN_TENSOR, "input", tolist, 0, NOT},
    {"numpy", TDC_IN_TENSOR, "input", numpy, 0, NOT},
    {"is_contiguous", TDC_IN_TENSOR, "input, memory_format=None", is_contiguous, 0, NOT},
};
const struct tdc_operator_family tdc_creation_family = TDC_FAMILY("creation", rows);
