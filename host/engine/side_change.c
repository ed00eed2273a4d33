#include "host/engine/side_change.h"

#include <stdlib.h>
#include <string.h>

#include "host/engine/job_path.h"
#include "host/engine/matrix_product.h"
#include "host/engine/source.h"
#include "io/base/error.h"
#include "io/file/mapping_guard.h"
#include "kernels/pair.h"

void tdc_tensor_squeeze(struct tdc_tensor *tensor)
{
    unsigned kept = 0;
    for (unsigned d = 0; d < tensor->dimensions; d++) {
        if (tensor->shape[d] == 1)
            continue;
        if (d == tensor->block_axis) /* an axis in blocks is longer than 1 */
            tensor->block_axis = kept;
        tensor->shape[kept] = tensor->shape[d];
        tensor->strides[kept++] = tensor->strides[d];
    }
    tensor->dimensions = kept;
}

/* ---- loading --------------------------------------------------------------------------------- */

/* bf16 and f8 become f32, as numpy knows neither. */
static tdc_dtype loaded_dtype(const struct tdc_tensor *tensor)
{
    tdc_dtype dtype = tdc_source_dtype(tensor);
    return dtype == TDC_BF16 || dtype == TDC_F8_E4M3 || dtype == TDC_F8_E5M2 ? TDC_F32 : dtype;
}

struct gathering {
    const struct tdc_tensor *tensor;
    void *elements;
    bool ok;
};

static void gather(void *argument)
{
    struct gathering *gathering = argument;
    gathering->ok = tdc_gather_elements(gathering->tensor, 0, (size_t)gathering->tensor->count,
                                        gathering->elements);
}

/* From the last to the first: the wider elements lie in the place of the narrow ones. */
static void widen_to_f32(tdc_dtype from, void *elements, size_t count)
{
    size_t size = tdc_dtype_size(from);
    for (size_t i = count; i-- > 0;) {
        double imaginary;
        float value = (float)tdc_element_value(from, (const char *)elements + i * size, &imaginary);
        memcpy((char *)elements + i * sizeof value, &value, sizeof value);
    }
}

/* Makes `made` a dense tensor in memory of its own. */
static void describe(struct tdc_tensor *made, tdc_dtype dtype, void *elements)
{
    made->dtype = dtype;
    made->coding = TDC_CODING_PLAIN;
    made->block = 0;
    made->swapped = made->as_f64 = made->text_wide = made->opaque = false;
    made->dense = true;
    made->text_width = 0;
    made->data = elements;
    made->map = NULL;
    made->descriptor = -1;
    int64_t stride = 1;
    for (unsigned d = made->dimensions; d-- > 0;) {
        made->strides[d] = stride;
        stride *= (int64_t)made->shape[d];
    }
}

tdc_status tdc_tensor_to_memory(const char *path, bool squeezed, struct tdc_tensor *tensor,
                                void **memory, struct tdc_error *error)
{
    struct tdc_tensor file;
    *memory = NULL;
    tdc_status status = tdc_tensor_open(path, TDC_TENSOR_BY_SUFFIX, &file, error);
    if (status != TDC_OK)
        return status;
    tdc_dtype stored = tdc_source_dtype(&file), dtype = loaded_dtype(&file);
    size_t bytes;
    if (file.coding != TDC_CODING_PLAIN || tdc_dtype_size(dtype) == 0)
        status = tdc_fail(error, TDC_ERR_UNSUPPORTED, "%s: elements without arithmetic", path);
    else if (file.count > SIZE_MAX ||
             __builtin_mul_overflow((size_t)file.count, tdc_dtype_size(dtype), &bytes) ||
             bytes / 64 > file.map_size || (*memory = malloc(bytes + 16)) == NULL)
        status = tdc_fail(error, TDC_ERR_MEMORY, "%s: too large to be held in memory", path);
    struct gathering gathering = {&file, *memory, false};
    if (status == TDC_OK && (!tdc_guarded_read(gather, &gathering) || !gathering.ok))
        status = tdc_fail(error, TDC_ERR_CHANGED, "%s: changed while it was read", path);
    if (status == TDC_OK) {
        if (stored != dtype)
            widen_to_f32(stored, *memory, (size_t)file.count);
        *tensor = file;
        if (squeezed)
            tdc_tensor_squeeze(tensor);
        describe(tensor, dtype, *memory);
    } else {
        free(*memory);
        *memory = NULL;
    }
    tdc_tensor_close(&file);
    return status;
}

/* ---- joining --------------------------------------------------------------------------------- */

/* Appends `next` to `tensor` along an axis; both are dense. */
static tdc_status append(struct tdc_tensor *tensor, void **memory, const struct tdc_tensor *next,
                         unsigned axis, struct tdc_error *error)
{
    bool fits = tensor->dtype == next->dtype && tensor->dimensions == next->dimensions &&
                axis < tensor->dimensions;
    for (unsigned d = 0; d < tensor->dimensions && fits; d++)
        fits = d == axis || tensor->shape[d] == next->shape[d];
    if (!fits)
        return tdc_fail(error, TDC_ERR_UNSUPPORTED, "the tensors to be joined do not fit");
    size_t size = tdc_dtype_size(tensor->dtype), inner = size;
    for (unsigned d = axis + 1; d < tensor->dimensions; d++)
        inner *= (size_t)tensor->shape[d];
    size_t ours = (size_t)tensor->shape[axis] * inner, theirs = (size_t)next->shape[axis] * inner;
    size_t outer = ours + theirs != 0 && ours != 0 ? (size_t)tensor->count * size / ours : 0;
    char *joined = malloc((size_t)(tensor->count + next->count) * size + 16);
    if (joined == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory for joined tensors");
    for (size_t i = 0; i < outer; i++) {
        memcpy(joined + i * (ours + theirs), tensor->data + i * ours, ours);
        memcpy(joined + i * (ours + theirs) + ours, next->data + i * theirs, theirs);
    }
    free(*memory);
    *memory = joined;
    tensor->shape[axis] += next->shape[axis];
    tensor->count += next->count;
    describe(tensor, tensor->dtype, joined);
    return TDC_OK;
}

/* One file of the list; *list moves behind it, to NULL at the end. */
static tdc_status load_next(struct tdc_text *path, const char *folder, const char **list,
                            struct tdc_tensor *tensor, void **memory, struct tdc_error *error)
{
    const char *semicolon = strchr(*list, ';');
    size_t length = semicolon != NULL ? (size_t)(semicolon - *list) : strlen(*list);
    char name[4096];
    if (length >= sizeof name)
        return tdc_fail(error, TDC_ERR_NOT_FOUND, "%s: the name is too long", *list);
    memcpy(name, *list, length);
    name[length] = '\0';
    *list = semicolon != NULL ? semicolon + 1 : NULL;
    const char *whole = tdc_job_path(path, folder, name, error);
    if (whole == NULL)
        return error->status;
    return tdc_tensor_to_memory(whole, true, tensor, memory, error);
}

static tdc_status load_list(struct tdc_text *path, const char *folder, const char *list,
                            enum tdc_join join, struct tdc_tensor *tensor, void **memory,
                            struct tdc_error *error)
{
    tdc_status status = load_next(path, folder, &list, tensor, memory, error);
    while (status == TDC_OK && list != NULL && join != TDC_JOIN_FIRST) {
        struct tdc_tensor next;
        void *next_memory = NULL;
        status = load_next(path, folder, &list, &next, &next_memory, error);
        if (status == TDC_OK)
            status = append(tensor, memory, &next, join == TDC_JOIN_AXIS_0 ? 0 : 1, error);
        free(next_memory);
    }
    return status;
}

/* ---- padding and products -------------------------------------------------------------------- */

static void clear_rows(struct tdc_tensor *tensor, void *memory, uint64_t valid)
{
    if (tensor->dimensions == 0 || tensor->count == 0 || valid >= tensor->shape[0])
        return;
    size_t bytes = (size_t)tensor->count * tdc_dtype_size(tensor->dtype);
    size_t row = bytes / (size_t)tensor->shape[0];
    memset((char *)memory + (size_t)valid * row, 0, bytes - (size_t)valid * row);
}

static void multiply(struct tdc_tensor *tensor, void **memory, const struct tdc_product *product)
{
    struct tdc_tensor matrix, result;
    void *matrix_memory = NULL, *result_memory = NULL;
    if (tdc_tensor_to_memory(product->matrix, false, &matrix, &matrix_memory, NULL) == TDC_OK &&
        tdc_matrix_product(product->left ? &matrix : tensor, product->left ? tensor : &matrix,
                           &result, &result_memory)) {
        free(*memory);
        *memory = result_memory;
        describe(&result, result.dtype, result_memory);
        *tensor = result;
    }
    free(matrix_memory);
}

tdc_status tdc_side_prepare(struct tdc_text *path, const char *folder, const char *name,
                            const struct tdc_side_change *change, struct tdc_tensor *tensor,
                            void **memory, struct tdc_error *error)
{
    tdc_status status;
    *memory = NULL;
    if (change->join != TDC_JOIN_NONE) {
        status = load_list(path, folder, name, change->join, tensor, memory, error);
    } else {
        const char *whole = tdc_job_path(path, folder, name, error);
        status = whole == NULL ? error->status
                               : tdc_tensor_to_memory(whole, true, tensor, memory, error);
    }
    if (status != TDC_OK) {
        free(*memory);
        *memory = NULL;
        return status;
    }
    if (change->clear_padding)
        clear_rows(tensor, *memory, change->valid_rows);
    for (const struct tdc_product *at = change->products; at != NULL; at = at->next)
        multiply(tensor, memory, at);
    return TDC_OK;
}

bool tdc_sum_integers(const char *path, int64_t *sum)
{
    struct tdc_tensor tensor;
    void *memory = NULL;
    *sum = 0;
    if (!tdc_guard_begin())
        return false;
    bool ok = tdc_tensor_to_memory(path, false, &tensor, &memory, NULL) == TDC_OK;
    tdc_guard_end();
    ok = ok && ((tensor.dtype >= TDC_BOOL && tensor.dtype <= TDC_I64) || tensor.dtype == TDC_U8);
    for (uint64_t i = 0; i < (ok ? tensor.count : 0); i++) {
        double imaginary;
        const char *element = (const char *)memory + i * tdc_dtype_size(tensor.dtype);
        int64_t value;
        if (tensor.dtype == TDC_I64)
            memcpy(&value, element, sizeof value);
        else
            value = (int64_t)tdc_element_value(tensor.dtype, element, &imaginary);
        *sum = (int64_t)((uint64_t)*sum + (uint64_t)value);
    }
    free(memory);
    return ok;
}
