#include <string.h>

#include "reference/arguments.h"
#include "reference/operators.h"
#include "reference/primitives/elementwise/promote.h"
#include "reference/primitives/elementwise/unary.h"
#include "reference/primitives/gather.h"
#include "reference/primitives/matrix/product.h"
#include "reference/primitives/move.h"
#include "reference/primitives/reduce.h"

static void matmul(tdc_evaluation *e)
{
    tdc_give(e, tdc_matmul(e, tdc_array_argument(e, "input"), tdc_array_argument(e, "other")));
}

static void bmm(tdc_evaluation *e)
{
    tdc_give(e, tdc_batch_product(e, tdc_array_argument(e, "input"), tdc_array_argument(e, "other"),
                                  false, false));
}

/* beta * c + alpha * (a @ b); variant 1: summed over the batch */
static void added_product(tdc_evaluation *e)
{
    tdc_array *c = tdc_real_array_argument(e, "input");
    tdc_array *a = tdc_real_array_argument(e, "first"), *b = tdc_real_array_argument(e, "second");
    double beta = tdc_real_argument(e, "beta");
    tdc_array *y = tdc_matmul(e, a, b);
    if (e->definition->variant == 1)
        y = tdc_sum_dim(e, y, 0, false);
    y = tdc_scale(e, y, tdc_real_argument(e, "alpha"));
    /* as the frameworks: what beta 0 multiplies is not looked at */
    tdc_give(e, beta == 0 && !e->recording ? y : tdc_add(e, tdc_scale(e, c, beta), y));
}

static tdc_array *outer_of(tdc_evaluation *e, tdc_array *a, tdc_array *b)
{
    if (a->rank != 1 || b->rank != 1)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "vectors expected");
    return tdc_combine_any(e, TDC_MUL, tdc_unsqueeze(e, a, 1), b);
}

static void outer(tdc_evaluation *e)
{
    tdc_give(e, outer_of(e, tdc_array_argument(e, "input"), tdc_array_argument(e, "other")));
}

static void addr(tdc_evaluation *e)
{
    tdc_array *y =
        outer_of(e, tdc_real_array_argument(e, "first"), tdc_real_array_argument(e, "second"));
    y = tdc_scale(e, y, tdc_real_argument(e, "alpha"));
    tdc_array *c = tdc_real_array_argument(e, "input");
    tdc_give(e, tdc_add(e, tdc_scale(e, c, tdc_real_argument(e, "beta")), y));
}

static void linear(tdc_evaluation *e)
{
    tdc_give(e,
             tdc_linear(e, tdc_real_array_argument(e, "input"),
                        tdc_real_array_argument(e, "weight"), tdc_optional_real_array(e, "bias")));
}

static void cross(tdc_evaluation *e)
{
    tdc_array *a = tdc_real_array_argument(e, "input"), *b = tdc_real_array_argument(e, "other");
    unsigned rank;
    int64_t shape[TDC_REFERENCE_RANK];
    tdc_broadcast_shape(e, a, b, &rank, shape);
    a = tdc_expand(e, a, rank, shape);
    b = tdc_expand(e, b, rank, shape);
    unsigned dim = 0;
    if (tdc_given(e, "dim"))
        dim = tdc_dim_argument(e, "dim", rank);
    else
        while (dim < rank && shape[dim] != 3)
            dim++;
    if (dim >= rank || shape[dim] != 3)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "no dimension of size 3");
    tdc_array *p[3], *q[3], *r[3];
    for (int i = 0; i < 3; i++) {
        p[i] = tdc_slice(e, a, dim, i, 1, 1);
        q[i] = tdc_slice(e, b, dim, i, 1, 1);
    }
    for (int i = 0; i < 3; i++)
        r[i] = tdc_sub(e, tdc_mul(e, p[(i + 1) % 3], q[(i + 2) % 3]),
                       tdc_mul(e, p[(i + 2) % 3], q[(i + 1) % 3]));
    tdc_give(e, tdc_concatenate(e, r, 3, dim));
}

static void inverse(tdc_evaluation *e)
{
    tdc_give(e, tdc_inverse(e, tdc_real_array_argument(e, "input")));
}

static void inner(tdc_evaluation *e)
{
    tdc_array *a = tdc_real_array_argument(e, "input"), *b = tdc_real_array_argument(e, "other");
    if (a->rank == 0 || b->rank == 0) {
        tdc_give(e, tdc_mul(e, a, b));
        return;
    }
    int64_t shape[2 * TDC_REFERENCE_RANK], depth = b->shape[b->rank - 1];
    unsigned rank = a->rank - 1;
    memcpy(shape, a->shape, rank * sizeof *shape);
    memcpy(shape + rank, b->shape, (b->rank - 1) * sizeof *shape);
    tdc_array *lines =
        tdc_reshape(e, b, 2, (const int64_t[]){depth == 0 ? 0 : b->count / depth, depth});
    tdc_give(e, tdc_reshape(e, tdc_linear(e, a, lines, NULL), rank + b->rank - 1, shape));
}

static void kron(tdc_evaluation *e)
{
    tdc_array *a = tdc_real_array_argument(e, "input"), *b = tdc_real_array_argument(e, "other");
    unsigned rank = a->rank > b->rank ? a->rank : b->rank;
    int64_t pa[TDC_REFERENCE_RANK], pb[TDC_REFERENCE_RANK], whole[TDC_REFERENCE_RANK];
    if (2 * rank > TDC_REFERENCE_RANK)
        tdc_refuse(e, TDC_ERR_UNSUPPORTED, "too many dimensions");
    for (size_t d = 0; d < rank; d++) {
        int64_t x = d < rank - a->rank ? 1 : a->shape[d - (rank - a->rank)];
        int64_t y = d < rank - b->rank ? 1 : b->shape[d - (rank - b->rank)];
        pa[2 * d] = x;
        pa[2 * d + 1] = 1;
        pb[2 * d] = 1;
        pb[2 * d + 1] = y;
        if (__builtin_mul_overflow(x, y, &whole[d]))
            tdc_refuse(e, TDC_ERR_MEMORY, "a size overflows");
    }
    tdc_array *y = tdc_mul(e, tdc_reshape(e, a, 2 * rank, pa), tdc_reshape(e, b, 2 * rank, pb));
    tdc_give(e, tdc_reshape(e, y, rank, whole));
}

static void chain_matmul(tdc_evaluation *e)
{
    tdc_array **matrices;
    size_t count = tdc_arrays_argument(e, "matrices", &matrices);
    tdc_array *y = matrices[0];
    for (size_t i = 1; i < count; i++)
        y = tdc_matmul(e, y, matrices[i]);
    tdc_give(e, y);
}

#define METHODS TDC_IN_METHODS
static const struct tdc_operator rows[] = {
    {"matmul mm mv dot vdot __matmul__ linalg.matmul", METHODS, "input, other", matmul, 0, 0},
    {"bmm", METHODS, "input, other", bmm, 0, 0},
    {"npu_bmmV2", TDC_IN_NPU, "input, other, output_sizes=None", bmm, 0, 0},
    {"baddbmm addmm addmv", METHODS, "input, first, second, *, beta=1, alpha=1", added_product, 0,
     0},
    {"addbmm", METHODS, "input, first, second, *, beta=1, alpha=1", added_product, 1, 0},
    {"addr", METHODS, "input, first, second, *, beta=1, alpha=1", addr, 0, 0},
    {"linear dense", TDC_IN_FUNCTIONALS, "input, weight, bias=None", linear, 0, 0},
    {"npu_linear", TDC_IN_NPU, "input, weight, bias=None", linear, 0, 0},
    {"outer ger", METHODS, "input, other", outer, 0, 0},
    {"inner", METHODS, "input, other", inner, 0, 0},
    {"kron", METHODS, "input, other", kron, 0, 0},
    {"chain_matmul", TDC_IN_TORCH, "*matrices", chain_matmul, 0, 0},
    {"cross", METHODS, "input, other, dim=None", cross, 0, 0},
    {"linalg.cross", METHODS, "input, other, *, dim=-1", cross, 0, 0},
    {"inverse linalg.inv", METHODS, "input", inverse, 0, 0},
};
const struct tdc_operator_family tdc_product_family = TDC_FAMILY("matrix products", rows);
