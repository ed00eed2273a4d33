/* Cutting tensors up and joining them. */

#include "reference/arguments.h"
#include "reference/operators.h"
#include "reference/primitives/elementwise/promote.h"
#include "reference/primitives/gather.h"
#include "reference/primitives/move.h"

/* ---- pieces
 * -------------------------------------------------------------------------------------- */

static void give_pieces(tdc_evaluation *e, tdc_array *x, unsigned dim, int64_t size)
{
    int64_t n = x->shape[dim], start = 0;
    do {
        int64_t length = n - start < size ? n - start : size;
        tdc_give(e, tdc_slice(e, x, dim, start, length, 1));
        start += size;
    } while (start < n);
}

static tdc_array *with_dimensions(tdc_evaluation *e, tdc_array *x)
{
    if (x->rank == 0)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "at least one dimension expected");
    return x;
}

static void chunk(tdc_evaluation *e)
{
    tdc_array *x = with_dimensions(e, tdc_array_argument(e, "input"));
    unsigned dim = tdc_dim_argument(e, "dim", x->rank);
    int64_t chunks = tdc_int_argument(e, "chunks"), n = x->shape[dim];
    if (chunks < 1)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "chunks must be positive");
    int64_t size = n / chunks + (n % chunks != 0);
    give_pieces(e, x, dim, size > 0 ? size : 1);
}

static void split(tdc_evaluation *e)
{
    tdc_array *x = with_dimensions(e, tdc_array_argument(e, "input"));
    unsigned dim = tdc_dim_argument(e, "dim", x->rank);
    const tdc_call_value *sizes = tdc_argument(e, "split_size");
    if (sizes->kind != TDC_VALUE_LIST) {
        int64_t size = tdc_int_argument(e, "split_size");
        if (size < 1)
            tdc_refuse(e, TDC_ERR_ARGUMENT, "split_size must be positive");
        give_pieces(e, x, dim, size);
        return;
    }
    int64_t start = 0;
    for (size_t i = 0; i < sizes->list.count; i++) {
        if (sizes->list.values[i].kind != TDC_VALUE_INT)
            tdc_refuse(e, TDC_ERR_ARGUMENT, "split sizes must be ints");
        int64_t length = sizes->list.values[i].whole;
        tdc_give(e, tdc_slice(e, x, dim, start, length, 1));
        start += length;
    }
    if (start != x->shape[dim])
        tdc_refuse(e, TDC_ERR_ARGUMENT, "split sizes must sum to the dimension");
}

static void tensor_split(tdc_evaluation *e)
{
    tdc_array *x = with_dimensions(e, tdc_array_argument(e, "input"));
    unsigned dim = tdc_dim_argument(e, "dim", x->rank);
    int64_t n = x->shape[dim], start = 0;
    if (tdc_argument(e, "sections")->kind != TDC_VALUE_LIST) {
        int64_t sections = tdc_int_argument(e, "sections");
        if (sections < 1 || sections > (int64_t)TDC_MAX_OUTPUTS)
            tdc_refuse(e, TDC_ERR_ARGUMENT, "number of sections must be positive");
        for (int64_t i = 0; i < sections; i++) {
            int64_t length = n / sections + (i < n % sections);
            tdc_give(e, tdc_slice(e, x, dim, start, length, 1));
            start += length;
        }
        return;
    }
    int64_t at[256];
    size_t count = tdc_ints_argument(e, "sections", at, 256);
    for (size_t i = 0; i <= count; i++) {
        int64_t end = i == count ? n : at[i] < 0 ? at[i] + n : at[i];
        end = end > n ? n : end < 0 ? 0 : end;
        tdc_give(e,
                 tdc_slice(e, x, dim, start < end ? start : end, end > start ? end - start : 0, 1));
        start = end;
    }
}

static void unbind(tdc_evaluation *e)
{
    tdc_array *x = with_dimensions(e, tdc_array_argument(e, "input"));
    unsigned dim = tdc_dim_argument(e, "dim", x->rank);
    for (int64_t i = 0; i < x->shape[dim]; i++)
        tdc_give(e, tdc_squeeze(e, tdc_slice(e, x, dim, i, 1, 1), dim));
}

static void narrow(tdc_evaluation *e)
{
    tdc_array *x = with_dimensions(e, tdc_array_argument(e, "input"));
    unsigned dim = tdc_dim_argument(e, "dim", x->rank);
    int64_t start = tdc_int_argument(e, "start");
    start += start < 0 ? x->shape[dim] : 0;
    tdc_give(e, tdc_slice(e, x, dim, start, tdc_int_argument(e, "length"), 1));
}

static void select(tdc_evaluation *e)
{
    tdc_array *x = with_dimensions(e, tdc_array_argument(e, "input"));
    unsigned dim = tdc_dim_argument(e, "dim", x->rank);
    int64_t index = tdc_int_argument(e, "index");
    index += index < 0 ? x->shape[dim] : 0;
    tdc_give(e, tdc_squeeze(e, tdc_slice(e, x, dim, index, 1, 1), dim));
}

static void npu_slice(tdc_evaluation *e)
{
    tdc_array *x = with_dimensions(e, tdc_array_argument(e, "input"));
    int64_t from[TDC_REFERENCE_RANK], length[TDC_REFERENCE_RANK];
    size_t count = tdc_ints_argument(e, "offsets", from, TDC_REFERENCE_RANK);
    if (count != tdc_ints_argument(e, "shape", length, TDC_REFERENCE_RANK) || count != x->rank)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "offsets and size must name all dimensions");
    for (unsigned d = 0; d < x->rank; d++)
        x = tdc_slice(e, x, d, from[d], length[d], 1);
    tdc_give(e, x);
}

/* ---- joining
 * ------------------------------------------------------------------------------------- */

static size_t promoted_list(tdc_evaluation *e, tdc_array ***pieces)
{
    size_t count = tdc_arrays_argument(e, "input", pieces), kept = 0;
    tdc_array widest = *(*pieces)[0];
    for (size_t i = 1; i < count; i++)
        widest.dtype = tdc_promoted(&widest, (*pieces)[i]);
    for (size_t i = 0; i < count; i++)
        (*pieces)[i] = tdc_convert(e, (*pieces)[i], widest.dtype);
    /* torch ignores pieces of shape (0,) */
    for (size_t i = 0; i < count; i++)
        if (!((*pieces)[i]->rank == 1 && (*pieces)[i]->count == 0 && count > 1))
            (*pieces)[kept++] = (*pieces)[i];
    return kept > 0 ? kept : 1;
}

static void cat(tdc_evaluation *e)
{
    tdc_array **pieces;
    size_t count = promoted_list(e, &pieces);
    unsigned dim = tdc_dim_argument(e, "dim", with_dimensions(e, pieces[0])->rank);
    tdc_give(e, tdc_concatenate(e, pieces, count, dim));
}

static void stack(tdc_evaluation *e)
{
    tdc_array **pieces;
    size_t count = promoted_list(e, &pieces);
    unsigned dim = tdc_dim_argument(e, "dim", pieces[0]->rank + 1);
    for (size_t i = 0; i < count; i++)
        pieces[i] = tdc_unsqueeze(e, pieces[i], dim);
    tdc_give(e, tdc_concatenate(e, pieces, count, dim));
}

/* hstack 1, vstack 0, dstack 2: pieces get at least that many dimensions */
static void stack_along(tdc_evaluation *e)
{
    tdc_array **pieces;
    size_t count = promoted_list(e, &pieces);
    unsigned dim = (unsigned)e->definition->variant;
    for (size_t i = 0; i < count; i++) {
        if (pieces[i]->rank == 0)
            pieces[i] = tdc_unsqueeze(e, pieces[i], 0);
        if (dim != 1 && pieces[i]->rank == 1)
            pieces[i] = tdc_unsqueeze(e, pieces[i], 0);
        if (dim == 2 && pieces[i]->rank == 2)
            pieces[i] = tdc_unsqueeze(e, pieces[i], 2);
    }
    tdc_give(e, tdc_concatenate(e, pieces, count, dim == 1 && pieces[0]->rank == 1 ? 0 : dim));
}

#define METHODS TDC_IN_METHODS
static const struct tdc_operator rows[] = {
    {"chunk unsafe_chunk", METHODS, "input, chunks, dim=0", chunk, 0, 0},
    {"split split_with_sizes unsafe_split unsafe_split_with_sizes", METHODS,
     "input, split_size, dim=0", split, 0, 0},
    {"tensor_split", METHODS, "input, sections, dim=0", tensor_split, 0, 0},
    {"unbind", METHODS, "input, dim=0", unbind, 0, 0},
    {"narrow narrow_copy", METHODS, "input, dim, start, length", narrow, 0, 0},
    {"select", METHODS, "input, dim, index", select, 0, 0},
    {"cat concat concatenate", METHODS, "input, dim=0", cat, 0, 0},
    {"stack", METHODS, "input, dim=0", stack, 0, 0},
    {"vstack row_stack", METHODS, "input", stack_along, 0, 0},
    {"hstack", METHODS, "input", stack_along, 1, 0},
    {"dstack", METHODS, "input", stack_along, 2, 0},
    {"npu_slice", TDC_IN_NPU, "input, offsets, shape", npu_slice, 0, 0},
};
const struct tdc_operator_family tdc_pieces_family = TDC_FAMILY("pieces", rows);
