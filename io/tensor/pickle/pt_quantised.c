/* pt_quantised.c - scale and zero point of a quantised tensor, with every claim checked. */
#include "io/tensor/pickle/pt_quantised.h"

#include <math.h>
#include <string.h>

#include "io/base/error.h"

static tdc_status unknown(struct tdc_pickle *pickle)
{
    return tdc_pickle_unsupported(pickle, "quantised tensor of an unknown kind");
}

static bool is_scheme(const struct tdc_pickle_value *value, const char *name)
{
    return value->kind == TDC_PICKLE_NAME && strcmp(value->name->name, name) == 0;
}

/* Pickles have floats in the order of the network. */
static double float_of(const struct tdc_pickle_value *value)
{
    uint64_t bits = 0;
    double number;
    for (int i = 0; i < 8; i++)
        bits = bits << 8 | value->bytes[i];
    memcpy(&number, &bits, sizeof number);
    return number;
}

/* A row of numbers for the places of an axis. */
static tdc_status find_row(struct tdc_pickle *pickle, const struct tdc_pt_storages *storages,
                           const struct tdc_pickle_value *value, tdc_dtype dtype, uint64_t count,
                           const unsigned char **data, int64_t *stride)
{
    struct tdc_tensor row = {0};
    const unsigned char *storage = NULL;
    size_t size = 0;
    if (value->kind != TDC_PICKLE_TENSOR)
        return unknown(pickle);
    const struct tdc_pickle_value *key = tdc_pt_storage_of(pickle, value) + TDC_STORAGE_KEY;
    tdc_status status = storages->find(storages->context, key, &storage, &size, pickle);
    if (status == TDC_OK)
        status = tdc_pt_describe(pickle, value, storage, size, storages->big_endian, &row);
    if (status != TDC_OK)
        return status;
    if (row.dtype != dtype || row.coding != TDC_CODING_PLAIN || row.swapped || row.dimensions != 1)
        return unknown(pickle);
    if (row.count != count)
        return tdc_pickle_malformed(pickle, "not one scale and zero point for each channel");
    *data = row.data;
    *stride = row.strides[0];
    return TDC_OK;
}

static tdc_status per_channel(struct tdc_pickle *pickle, const struct tdc_pt_storages *storages,
                              const struct tdc_pickle_value *part, struct tdc_tensor *tensor)
{
    struct tdc_affine *affine = &tensor->affine;
    if (part[3].kind != TDC_PICKLE_INTEGER || part[3].integer < 0 ||
        part[3].integer >= (int64_t)tensor->dimensions)
        return tdc_pickle_malformed(pickle, "wrong axis of a quantised tensor");
    if (storages == NULL)
        return tdc_pickle_unsupported(pickle, "tensor quantised by channels in the old layout");
    affine->axis = (unsigned)part[3].integer;
    uint64_t count = tensor->shape[affine->axis];
    tdc_status status = find_row(pickle, storages, &part[1], TDC_F64, count, &affine->scales,
                                 &affine->scale_stride);
    return status != TDC_OK ? status
                            : find_row(pickle, storages, &part[2], TDC_I64, count, &affine->zeros,
                                       &affine->zero_stride);
}

tdc_status tdc_pt_quantiser(struct tdc_pickle *pickle, const struct tdc_pickle_value *value,
                            const struct tdc_pt_storages *storages, struct tdc_tensor *tensor)
{
    const struct tdc_pickle_value *quantiser = &pickle->items[value->first + TDC_TENSOR_QUANTISER];
    if (tensor->coding != TDC_CODING_AFFINE)
        return TDC_OK;
    const struct tdc_pickle_value *part = &pickle->items[quantiser->first];
    if (quantiser->count == 4 && is_scheme(&part[0], "per_channel_affine"))
        return per_channel(pickle, storages, part, tensor);
    if (quantiser->count != 3 || !is_scheme(&part[0], "per_tensor_affine") ||
        part[1].kind != TDC_PICKLE_FLOAT || part[2].kind != TDC_PICKLE_INTEGER)
        return unknown(pickle);
    tensor->affine.scale = float_of(&part[1]);
    tensor->affine.zero = part[2].integer;
    return TDC_OK;
}
