#include <string.h>

#include "io/base/error.h"
#include "io/base/little_endian.h"
#include "io/tensor/pickle/pt.h"
#include "io/tensor/pickle/pt_pickle.h"
#include "io/tensor/pickle/pt_quantised.h"

#define PROTOCOL_VERSION 1001

/* 0x1950a86a20f9469cfc6c as a pickled number */
static const unsigned char magic_number[10] = {0x6c, 0xfc, 0x9c, 0x46, 0xf9,
                                               0x20, 0x6a, 0xa8, 0x50, 0x19};

struct reader {
    const unsigned char *at; /* what follows the pickles read so far */
    size_t rest;
    struct tdc_pickle *pickle;
};

static tdc_status next(struct reader *reader, struct tdc_pickle_value *value)
{
    size_t length;
    tdc_status status = tdc_pickle_run(reader->pickle, reader->at, reader->rest, value, &length);
    if (status == TDC_OK) {
        reader->at += length;
        reader->rest -= length;
    }
    return status;
}

static tdc_status read_preamble(struct reader *reader)
{
    struct tdc_pickle_value value;
    struct tdc_pickle *pickle = reader->pickle;
    if (reader->rest == 0 || reader->at[0] != 0x80 || next(reader, &value) != TDC_OK ||
        value.kind != TDC_PICKLE_LONG || value.count != sizeof magic_number ||
        memcmp(value.bytes, magic_number, sizeof magic_number) != 0)
        return tdc_fail(pickle->error, TDC_ERR_FORMAT, "%s: not a torch file", pickle->file);
    tdc_status status = next(reader, &value);
    if (status != TDC_OK)
        return status;
    if (value.kind != TDC_PICKLE_INTEGER || value.integer != PROTOCOL_VERSION)
        return tdc_pickle_unsupported(pickle, "torch file of an unknown protocol");
    /* The system's description: torch itself ignores it, storages are little-endian always. */
    return next(reader, &value);
}

static bool same_text(const struct tdc_pickle_value *a, const struct tdc_pickle_value *b)
{
    return a->kind == TDC_PICKLE_TEXT && b->kind == TDC_PICKLE_TEXT && a->count == b->count &&
           memcmp(a->bytes, b->bytes, a->count) == 0;
}

/* The storage of this key that the object pickle mentioned; NULL if it did not. */
static const struct tdc_pickle_value *storage_called(const struct tdc_pickle *pickle,
                                                     const struct tdc_pickle_value *key)
{
    for (size_t i = 0; i < pickle->items_used; i++) {
        if (pickle->items[i].kind != TDC_PICKLE_STORAGE)
            continue;
        const struct tdc_pickle_value *storage = &pickle->items[pickle->items[i].first];
        if (same_text(&storage[TDC_STORAGE_KEY], key))
            return storage;
    }
    return NULL;
}

/* Takes one storage: its number of elements and the elements. */
static tdc_status next_storage(struct reader *reader, const struct tdc_pickle_value *key,
                               const unsigned char **data, size_t *size)
{
    struct tdc_pickle *pickle = reader->pickle;
    const struct tdc_pickle_value *storage = storage_called(pickle, key);
    if (storage == NULL)
        return tdc_pickle_malformed(pickle, "unknown storage");
    if (reader->rest < 8)
        return tdc_fail(pickle->error, TDC_ERR_FORMAT, "%s: storage is cut off", pickle->file);
    uint64_t count = tdc_le64(reader->at), bytes;
    if (count != (uint64_t)storage[TDC_STORAGE_COUNT].integer)
        return tdc_pickle_malformed(pickle, "storage of another size than announced");
    if (__builtin_mul_overflow(count, tdc_pt_storage_unit(storage), &bytes) ||
        bytes > reader->rest - 8)
        return tdc_fail(pickle->error, TDC_ERR_FORMAT, "%s: storage is cut off", pickle->file);
    *data = reader->at + 8;
    *size = (size_t)bytes;
    reader->at += 8 + bytes;
    reader->rest -= 8 + (size_t)bytes;
    return TDC_OK;
}

tdc_status tdc_pt_legacy_parse(const unsigned char *bytes, size_t size, struct tdc_pickle *pickle,
                               struct tdc_tensor *tensor)
{
    struct reader reader = {bytes, size, pickle};
    struct tdc_pickle_value value, keys;
    tdc_status status = read_preamble(&reader);
    if (status == TDC_OK)
        status = next(&reader, &value);
    if (status == TDC_OK)
        status = tdc_pt_require_tensor(pickle, &value);
    if (status == TDC_OK)
        status = next(&reader, &keys);
    if (status != TDC_OK)
        return status;
    if (keys.kind != TDC_PICKLE_LIST)
        return tdc_pickle_malformed(pickle, "no list of storages");
    const struct tdc_pickle_value *wanted = tdc_pt_storage_of(pickle, &value) + TDC_STORAGE_KEY;
    struct tdc_pickle_container list = pickle->containers[keys.first];
    for (size_t i = 0; i < list.count; i++) {
        const struct tdc_pickle_value *key = &pickle->items[list.first + i];
        const unsigned char *data = NULL;
        size_t data_size = 0;
        status = next_storage(&reader, key, &data, &data_size);
        if (status != TDC_OK)
            return status;
        if (!same_text(key, wanted))
            continue;
        status = tdc_pt_describe(pickle, &value, data, data_size, false, tensor);
        return status == TDC_OK ? tdc_pt_quantiser(pickle, &value, NULL, tensor) : status;
    }
    return tdc_pickle_malformed(pickle, "the storage of the tensor is missing");
}
