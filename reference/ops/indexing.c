#include <math.h>
#include <string.h>

#include "reference/primitives/primitives.h"

#define RANK TDC_REFERENCE_RANK

/* ---- pieces
 * -------------------------------------------------------------------------------------- */

static void give_pieces(evaluation *e, array *x, unsigned dim, int64_t size)
{
    int64_t n = x->shape[dim], start = 0;
    do {
        int64_t length = n - start < size ? n - start : size;
        tdc_give(e, tdc_slice(e, x, dim, start, length, 1));
        start += size;
    } while (start < n);
}

static array *with_dimensions(evaluation *e, array *x)
{
    if (x->rank == 0)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "at least one dimension expected");
    return x;
}

static void chunk(evaluation *e)
{
    array *x = with_dimensions(e, tdc_array_argument(e, "input"));
    unsigned dim = tdc_dim_argument(e, "dim", x->rank);
    int64_t chunks = tdc_int_argument(e, "chunks"), n = x->shape[dim];
    if (chunks < 1)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "chunks must be positive");
    int64_t size = n / chunks + (n % chunks != 0);
    give_pieces(e, x, dim, size > 0 ? size : 1);
}

static void split(evaluation *e)
{
    array *x = with_dimensions(e, tdc_array_argument(e, "input"));
    unsigned dim = tdc_dim_argument(e, "dim", x->rank);
    const value *sizes = tdc_argument(e, "split_size");
    if (sizes->kind != TDC_VALUE_LIST) {
        int64_t size = tdc_int_argument(e, "split_size");
        if (size < 1)
            tdc_refuse(e, TDC_ERR_ARGUMENT, "split_size must be positive");
        give_pieces(e, x, dim, size);
        return;
    }
    int64_t start = 0;
    for (size_t i = 0; i < sizes->items.count; i++) {
        if (sizes->items.values[i].kind != TDC_VALUE_INT)
            tdc_refuse(e, TDC_ERR_ARGUMENT, "split sizes must be ints");
        int64_t length = sizes->items.values[i].whole;
        tdc_give(e, tdc_slice(e, x, dim, start, length, 1));
        start += length;
    }
    if (start != x->shape[dim])
        tdc_refuse(e, TDC_ERR_ARGUMENT, "split sizes must sum to the dimension");
}

static void tensor_split(evaluation *e)
{
    array *x = with_dimensions(e, tdc_array_argument(e, "input"));
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

static void unbind(evaluation *e)
{
    array *x = with_dimensions(e, tdc_array_argument(e, "input"));
    unsigned dim = tdc_dim_argument(e, "dim", x->rank);
    for (int64_t i = 0; i < x->shape[dim]; i++)
        tdc_give(e, tdc_squeeze(e, tdc_slice(e, x, dim, i, 1, 1), dim));
}

static void narrow(evaluation *e)
{
    array *x = with_dimensions(e, tdc_array_argument(e, "input"));
    unsigned dim = tdc_dim_argument(e, "dim", x->rank);
    int64_t start = tdc_int_argument(e, "start");
    start += start < 0 ? x->shape[dim] : 0;
    tdc_give(e, tdc_slice(e, x, dim, start, tdc_int_argument(e, "length"), 1));
}

static void select(evaluation *e)
{
    array *x = with_dimensions(e, tdc_array_argument(e, "input"));
    unsigned dim = tdc_dim_argument(e, "dim", x->rank);
    int64_t index = tdc_int_argument(e, "index");
    index += index < 0 ? x->shape[dim] : 0;
    tdc_give(e, tdc_squeeze(e, tdc_slice(e, x, dim, index, 1, 1), dim));
}

/* ---- joining
 * ------------------------------------------------------------------------------------- */

static size_t promoted_list(evaluation *e, array ***pieces)
{
    size_t count = tdc_arrays_argument(e, "input", pieces), kept = 0;
    array widest = *(*pieces)[0];
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

static void cat(evaluation *e)
{
    array **pieces;
    size_t count = promoted_list(e, &pieces);
    unsigned dim = tdc_dim_argument(e, "dim", with_dimensions(e, pieces[0])->rank);
    tdc_give(e, tdc_concatenate(e, pieces, count, dim));
}

static void stack(evaluation *e)
{
    array **pieces;
    size_t count = promoted_list(e, &pieces);
    unsigned dim = tdc_dim_argument(e, "dim", pieces[0]->rank + 1);
    for (size_t i = 0; i < count; i++)
        pieces[i] = tdc_unsqueeze(e, pieces[i], dim);
    tdc_give(e, tdc_concatenate(e, pieces, count, dim));
}

/* hstack 1, vstack 0, dstack 2: pieces get at least that many dimensions */
static void stack_along(evaluation *e)
{
    array **pieces;
    size_t count = promoted_list(e, &pieces);
    unsigned dim = (unsigned)e->operator->variant;
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

/* ---- by index tensors
 * ---------------------------------------------------------------------------- */

static array *index_argument(evaluation *e)
{
    array *index = tdc_array_argument(e, "index");
    if (tdc_dtype_is_floating(index->dtype))
        tdc_refuse(e, TDC_ERR_ARGUMENT, "index must be integers");
    return index;
}

static int64_t checked(evaluation *e, int64_t index, int64_t n)
{
    if (index < 0)
        index += n;
    if (index < 0 || index >= n)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "index out of range");
    return index;
}

/* For every element of index the place in x that differs from its own only along dim. */
static int64_t *places(evaluation *e, const array *x, unsigned dim, const array *index)
{
    int64_t strides[RANK], own[RANK];
    if (index->rank != x->rank && index->count > 0 && !(x->rank == 0 && index->rank == 1) &&
        !(x->rank == 1 && index->rank == 0))
        tdc_refuse(e, TDC_ERR_ARGUMENT, "index must have the rank of the input");
    for (unsigned d = 0; d < x->rank && d < index->rank; d++)
        if (d != dim && index->shape[d] > x->shape[d])
            tdc_refuse(e, TDC_ERR_ARGUMENT, "index is larger than the input");
    tdc_strides(x, strides);
    tdc_strides(index, own);
    int64_t *map = tdc_take(e, index->count, sizeof *map);
    for (int64_t i = 0; i < index->count; i++) {
        int64_t at = 0;
        for (unsigned d = 0; d < x->rank; d++) {
            int64_t p = d < index->rank ? i / own[d] % index->shape[d] : 0;
            at += strides[d] * (d == dim ? checked(e, index->whole[i], x->shape[d]) : p);
        }
        map[i] = at;
    }
    return map;
}

static void gather(evaluation *e)
{
    array *x = tdc_array_argument(e, "input"), *index = index_argument(e);
    unsigned dim = tdc_dim_argument(e, "dim", x->rank);
    tdc_give(e, tdc_gather(e, x, places(e, x, dim, index), index->rank, index->shape, 0));
}

/* src cut to the shape of index */
static array *source_for(evaluation *e, const array *index, tdc_dtype dtype)
{
    array *src = tdc_array_argument(e, tdc_given(e, "src") ? "src" : "value");
    src = tdc_convert(e, src, dtype);
    if (src->number)
        return tdc_expand(e, src, index->rank, index->shape);
    if (src->rank != index->rank)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "index and src differ in rank");
    for (unsigned d = 0; d < index->rank; d++)
        src = tdc_slice(e, src, d, 0, index->shape[d], 1);
    return src;
}

static void scatter(evaluation *e)
{
    array *x = tdc_array_argument(e, "input"), *index = index_argument(e);
    unsigned dim = tdc_dim_argument(e, "dim", x->rank);
    int64_t *map = places(e, x, dim, index);
    array *src = source_for(e, index, x->dtype);
    bool add = e->operator->variant != 0;
    if (!add && tdc_given(e, "reduce")) {
        const char *reduce = tdc_text_argument(e, "reduce");
        if (strcmp(reduce, "add") != 0)
            tdc_refuse(e, TDC_ERR_UNSUPPORTED, "scatter with reduce");
        add = true;
    }
    if (add) {
        array *put = tdc_scatter_add(e, src, map, x->rank, x->shape);
        tdc_give(e, tdc_combine_any(e, TDC_ADD, x, put));
        return;
    }
    /* the last write wins: earlier ones to the same place are left out */
    int64_t *writer = tdc_take(e, x->count, sizeof *writer);
    for (int64_t i = 0; i < x->count; i++)
        writer[i] = -1;
    for (int64_t i = 0; i < index->count; i++)
        writer[map[i]] = i;
    array *written = tdc_new_like(e, TDC_BOOL, x);
    for (int64_t i = 0; i < x->count; i++)
        written->whole[i] = writer[i] >= 0;
    array *put = tdc_gather(e, src, writer, x->rank, x->shape, 0);
    tdc_give(e, tdc_select(e, written, put, x));
}

/* Places of whole slices: out position -> x with dim replaced by index[position]. */
static int64_t *slice_places(evaluation *e, const array *x, unsigned dim, const array *index,
                             int64_t shape[RANK])
{
    int64_t n = x->rank == 0 ? 1 : x->shape[dim], inner = 1, outer = 1;
    memcpy(shape, x->shape, sizeof(int64_t[RANK]));
    for (unsigned d = 0; d < x->rank; d++) {
        outer *= d < dim ? x->shape[d] : 1;
        inner *= d > dim ? x->shape[d] : 1;
    }
    if (x->rank > 0)
        shape[dim] = index->count;
    int64_t total;
    if (__builtin_mul_overflow(outer * inner, index->count, &total))
        tdc_refuse(e, TDC_ERR_MEMORY, "a size overflows");
    int64_t *map = tdc_take(e, total, sizeof *map), *to = map;
    for (int64_t o = 0; o < outer; o++)
        for (int64_t i = 0; i < index->count; i++) {
            int64_t base = (o * n + checked(e, index->whole[i], n)) * inner;
            for (int64_t k = 0; k < inner; k++)
                *to++ = base + k;
        }
    return map;
}

static void index_select(evaluation *e)
{
    array *x = tdc_array_argument(e, "input"), *index = index_argument(e);
    unsigned dim = tdc_dim_argument(e, "dim", x->rank);
    int64_t shape[RANK];
    int64_t *map = slice_places(e, x, dim, index, shape);
    tdc_give(e, tdc_gather(e, x, map, x->rank, shape, 0));
}

enum index_write {
    INDEX_ADD,
    INDEX_COPY,
    INDEX_FILL
};

static void index_write(evaluation *e)
{
    array *x = tdc_array_argument(e, "input"), *index = index_argument(e);
    unsigned dim = tdc_dim_argument(e, "dim", x->rank);
    int64_t shape[RANK];
    int64_t *map = slice_places(e, x, dim, index, shape);
    array *src = tdc_convert(e, tdc_array_argument(e, "source"), x->dtype);
    src = tdc_expand(e, src, x->rank, shape);
    if (e->operator->variant == INDEX_ADD) {
        array *put = tdc_scatter_add(e, src, map, x->rank, x->shape);
        if (tdc_real_argument(e, "alpha") != 1)
            put = tdc_combine_any(e, TDC_MUL, put, tdc_array_argument(e, "alpha"));
        tdc_give(e, tdc_combine_any(e, TDC_ADD, x, put));
        return;
    }
    int64_t *writer = tdc_take(e, x->count, sizeof *writer);
    array *written = tdc_new_like(e, TDC_BOOL, x);
    for (int64_t i = 0; i < x->count; i++)
        writer[i] = -1;
    for (int64_t i = 0; i < src->count; i++)
        writer[map[i]] = i;
    for (int64_t i = 0; i < x->count; i++)
        written->whole[i] = writer[i] >= 0;
    tdc_give(e, tdc_select(e, written, tdc_gather(e, src, writer, x->rank, x->shape, 0), x));
}

static void take(evaluation *e)
{
    array *x = tdc_array_argument(e, "input"), *index = index_argument(e);
    int64_t *map = tdc_take(e, index->count, sizeof *map);
    for (int64_t i = 0; i < index->count; i++)
        map[i] = checked(e, index->whole[i], x->count);
    tdc_give(e, tdc_gather(e, x, map, index->rank, index->shape, 0));
}

/* ---- by masks
 * ------------------------------------------------------------------------------------ */

static void masked_select(evaluation *e)
{
    array *x = tdc_array_argument(e, "input");
    array *mask = tdc_truth(e, tdc_array_argument(e, "mask"));
    unsigned rank;
    int64_t shape[RANK], found = 0;
    tdc_broadcast_shape(e, x, mask, &rank, shape);
    x = tdc_expand(e, x, rank, shape);
    mask = tdc_expand(e, mask, rank, shape);
    int64_t *map = tdc_take(e, x->count, sizeof *map);
    for (int64_t i = 0; i < x->count; i++)
        if (mask->whole[i])
            map[found++] = i;
    tdc_give(e, tdc_gather(e, x, map, 1, &found, 0));
}

static void masked_fill(evaluation *e)
{
    array *x = tdc_array_argument(e, "input"), *fill = tdc_array_argument(e, "value");
    if (fill->count != 1)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "value must have one element");
    fill = tdc_convert(e, tdc_reshape(e, fill, 0, NULL), x->dtype);
    tdc_give(e, tdc_select(e, tdc_array_argument(e, "mask"), fill, x));
}

static void masked_scatter(evaluation *e)
{
    array *x = tdc_array_argument(e, "input"), *source = tdc_array_argument(e, "source");
    array *mask = tdc_expand(e, tdc_truth(e, tdc_array_argument(e, "mask")), x->rank, x->shape);
    int64_t next = 0, *map = tdc_take(e, x->count, sizeof *map);
    for (int64_t i = 0; i < x->count; i++)
        map[i] = mask->whole[i] ? next++ : -1;
    if (next > source->count)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "source has too few elements");
    source = tdc_convert(e, source, x->dtype);
    tdc_give(e, tdc_select(e, mask, tdc_gather(e, source, map, x->rank, x->shape, 0), x));
}

/* tril -1, triu 1 */
static void triangle(evaluation *e)
{
    array *x = tdc_array_argument(e, "input");
    int64_t diagonal = tdc_int_argument(e, "diagonal");
    if (x->rank < 2)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "input must have at least 2 dimensions");
    int64_t columns = x->shape[x->rank - 1], lines = x->shape[x->rank - 2];
    int64_t *map = tdc_take(e, x->count, sizeof *map);
    for (int64_t i = 0; i < x->count; i++) {
        int64_t offset = i % columns - i / columns % lines;
        map[i] = (e->operator->variant<0 ? offset <= diagonal : offset >= diagonal) ? i : -1;
    }
    tdc_give(e, tdc_gather(e, x, map, x->rank, x->shape, 0));
}

static array *diagonal_of(evaluation *e, array *x, int64_t offset, unsigned d1, unsigned d2)
{
    int64_t strides[RANK], shape[RANK], kept[RANK];
    unsigned rank = 0;
    if (d1 == d2)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "diagonal dimensions cannot be identical");
    tdc_strides(x, strides);
    for (unsigned d = 0; d < x->rank; d++)
        if (d != d1 && d != d2) {
            shape[rank] = x->shape[d];
            kept[rank++] = strides[d];
        }
    int64_t r = x->shape[d1] - (offset < 0 ? -offset : 0);
    int64_t c = x->shape[d2] - (offset > 0 ? offset : 0);
    int64_t n = r < c ? r : c;
    shape[rank] = n > 0 ? n : 0;
    kept[rank++] = strides[d1] + strides[d2];
    int64_t start = n <= 0 ? 0 : offset >= 0 ? offset * strides[d2] : -offset * strides[d1];
    return tdc_view(e, x, rank, shape, kept, start);
}

static void diagonal(evaluation *e)
{
    array *x = tdc_array_argument(e, "input");
    if (x->rank < 2)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "two dimensions expected");
    tdc_give(e,
             diagonal_of(e, x, tdc_int_argument(e, "offset"), tdc_dim_argument(e, "dim1", x->rank),
                         tdc_dim_argument(e, "dim2", x->rank)));
}

static void diag(evaluation *e)
{
    array *x = tdc_array_argument(e, "input");
    int64_t offset = tdc_int_argument(e, "diagonal");
    if (x->rank == 2) {
        tdc_give(e, diagonal_of(e, x, offset, 0, 1));
        return;
    }
    int64_t size = x->count + (offset < 0 ? -offset : offset);
    if (x->rank != 1 || size > INT32_MAX)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "vector or matrix expected");
    int64_t *map = tdc_take(e, x->count, sizeof *map);
    for (int64_t i = 0; i < x->count; i++)
        map[i] = (i + (offset < 0 ? -offset : 0)) * size + i + (offset > 0 ? offset : 0);
    tdc_give(e, tdc_scatter_add(e, x, map, 2, (const int64_t[]){size, size}));
}

#define METHODS TDC_IN_METHODS
static const struct tdc_operator rows[] = {
    {"chunk", METHODS, "input, chunks, dim=0", chunk, 0, 0},
    {"split split_with_sizes", METHODS, "input, split_size, dim=0", split, 0, 0},
    {"tensor_split", METHODS, "input, sections, dim=0", tensor_split, 0, 0},
    {"unbind", METHODS, "input, dim=0", unbind, 0, 0},
    {"narrow", METHODS, "input, dim, start, length", narrow, 0, 0},
    {"select", METHODS, "input, dim, index", select, 0, 0},
    {"cat concat concatenate", METHODS, "input, dim=0", cat, 0, 0},
    {"stack", METHODS, "input, dim=0", stack, 0, 0},
    {"vstack row_stack", METHODS, "input", stack_along, 0, 0},
    {"hstack", METHODS, "input", stack_along, 1, 0},
    {"dstack", METHODS, "input", stack_along, 2, 0},
    {"gather take_along_dim", METHODS, "input, dim, index, *, sparse_grad=False", gather, 0, 0},
    {"scatter", METHODS, "input, dim, index, src=None, *, value=None, reduce=None", scatter, 0, 0},
    {"scatter_add", METHODS, "input, dim, index, src, *, value=None", scatter, 1, 0},
    {"index_select", METHODS, "input, dim, index", index_select, 0, 0},
    {"index_add", METHODS, "input, dim, index, source, *, alpha=1", index_write, INDEX_ADD, 0},
    {"index_copy", METHODS, "input, dim, index, source", index_write, INDEX_COPY, 0},
    {"index_fill", METHODS, "input, dim, index, source", index_write, INDEX_FILL, 0},
    {"take", METHODS, "input, index", take, 0, 0},
    {"masked_select", METHODS, "input, mask", masked_select, 0, 0},
    {"masked_fill", METHODS, "input, mask, value", masked_fill, 0, 0},
    {"masked_scatter", METHODS, "input, mask, source", masked_scatter, 0, 0},
    {"tril", METHODS, "input, diagonal=0", triangle, -1, 0},
    {"triu", METHODS, "input, diagonal=0", triangle, 1, 0},
    {"diag", METHODS, "input, diagonal=0", diag, 0, 0},
    {"diagonal", METHODS, "input, offset=0, dim1=0, dim2=1", diagonal, 0, 0},
};
const struct tdc_operator_family tdc_indexing_family = TDC_FAMILY("indexing", rows);
