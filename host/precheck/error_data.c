#include "host/precheck/error_data.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* bfloat16 goes as float32, in which it is exact. */
static const char *npy_type(tdc_dtype dtype, size_t *size)
{
    static const struct {
        tdc_dtype dtype;
        const char *type;
        size_t size;
    } types[] = {
        {TDC_BOOL, "|b1", 1}, {TDC_I8, "|i1", 1},  {TDC_U8, "|u1", 1},   {TDC_I16, "<i2", 2},
        {TDC_U16, "<u2", 2},  {TDC_I32, "<i4", 4}, {TDC_U32, "<u4", 4},  {TDC_I64, "<i8", 8},
        {TDC_U64, "<u8", 8},  {TDC_F16, "<f2", 2}, {TDC_BF16, "<f4", 4}, {TDC_F32, "<f4", 4},
        {TDC_F64, "<f8", 8},
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (types[i].dtype == dtype) {
            *size = types[i].size;
            return types[i].type;
        }
    }
    return NULL;
}

/* Bits of a value that is exact in float16. */
static uint16_t half_bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint16_t sign = (uint16_t)(bits >> 48 & 0x8000);
    int exponent = (int)(bits >> 52 & 0x7ff) - 1023;
    uint64_t fraction = bits & 0xfffffffffffffu;
    if (exponent == 1024)
        return (uint16_t)(sign | 0x7c00 | (fraction != 0 ? 0x200 : 0));
    if (exponent >= -14)
        return (uint16_t)(sign | ((exponent + 15) << 10) | (int)(fraction >> 42));
    if (exponent < -24)
        return sign;
    return (uint16_t)(sign | ((fraction | 0x10000000000000u) >> (28 - exponent)));
}

/* On a little-endian machine the low bytes of a whole number are its shorter form. */
static void encode(const struct tdc_reference_tensor *tensor, int64_t at, size_t size,
                   unsigned char *bytes)
{
    uint64_t whole = 0;
    if (!tdc_dtype_is_floating(tensor->dtype)) {
        whole = (uint64_t)tensor->whole[at];
    } else if (tensor->dtype == TDC_F16) {
        whole = half_bits(tensor->real[at]);
    } else if (size == 4) {
        float narrow = (float)tensor->real[at];
        uint32_t bits;
        memcpy(&bits, &narrow, sizeof bits);
        whole = bits;
    } else {
        memcpy(&whole, &tensor->real[at], sizeof whole);
    }
    for (size_t i = 0; i < size; i++)
        bytes[i] = (unsigned char)(whole >> (8 * i));
}

static bool write_header(FILE *file, const struct tdc_reference_tensor *tensor, const char *type)
{
    char shape[TDC_SHAPE_TEXT], header[TDC_SHAPE_TEXT + 128];
    tdc_shape_text(tensor, shape);
    int length = snprintf(header, sizeof header,
                          "{'descr': '%s', 'fortran_order': False, 'shape': %s, }", type, shape);
    /* magic, version and length before it, a line end after it: a multiple of 64 in all */
    int padded = (10 + length + 1 + 63) / 64 * 64 - 10;
    unsigned char start[10] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0};
    start[8] = (unsigned char)(padded & 0xff);
    start[9] = (unsigned char)(padded >> 8);
    return fwrite(start, 1, sizeof start, file) == sizeof start &&
           fprintf(file, "%-*s\n", padded - 1, header) == padded;
}

static bool write_npy(FILE *file, const struct tdc_reference_tensor *tensor)
{
    size_t size;
    const char *type = npy_type(tensor->dtype, &size);
    if (type == NULL || !write_header(file, tensor, type))
        return false;
    for (int64_t i = 0; i < tensor->count; i++) {
        unsigned char bytes[8];
        encode(tensor, i, size, bytes);
        if (fwrite(bytes, 1, size, file) != size)
            return false;
    }
    return true;
}

struct saving {
    struct tdc_call_check *check;
    const char *folder;
    enum tdc_direction direction;
};

/* CALL.forward.input.0.npy; lists add their index: CALL.forward.input.0.1.npy */
static void save_value(const struct saving *saving, const char *place,
                       const struct tdc_reference_value *value, int depth)
{
    if (value->kind == TDC_VALUE_LIST && depth < TDC_REFERENCE_DEPTH) {
        for (size_t i = 0; i < value->items.count; i++) {
            char inner[256];
            snprintf(inner, sizeof inner, "%.200s.%zu", place, i);
            save_value(saving, inner, &value->items.values[i], depth + 1);
        }
        return;
    }
    if (value->kind != TDC_VALUE_TENSOR || strchr(place, '/') != NULL ||
        strchr(saving->check->call->name, '/') != NULL)
        return;
    char *path;
    if (asprintf(&path, "%s/%s.%s.%s.npy", saving->folder, saving->check->call->name,
                 tdc_direction_name[saving->direction], place) < 0)
        return;
    FILE *file = fopen(path, "wb");
    bool written = file != NULL && write_npy(file, value->tensor);
    if (file != NULL && fclose(file) != 0)
        written = false;
    if (!written)
        tdc_text_addf(&saving->check->log, "%s: could not be written: %s\n", path, strerror(errno));
    free(path);
}

static void save_list(const struct saving *saving, const char *kind,
                      const struct tdc_values *values)
{
    for (size_t i = 0; i < values->count; i++) {
        char place[64];
        snprintf(place, sizeof place, "%s.%zu", kind, i);
        save_value(saving, place, &values->list[i], 0);
    }
}

static void save_direction(const struct saving *saving)
{
    const struct tdc_call_check *check = saving->check;
    const struct tdc_direction_check *found = &check->directions[saving->direction];
    if (saving->direction == TDC_FORWARD) {
        save_list(saving, "input", &check->arguments);
        for (size_t i = 0; i < check->keyword_count; i++) {
            char place[160];
            snprintf(place, sizeof place, "kwargs.%.140s", check->keywords[i].name);
            save_value(saving, place, &check->keywords[i].value, 0);
        }
    } else {
        save_list(saving, "input", &check->gradients);
    }
    for (size_t i = 0; i < found->count; i++) {
        char place[64];
        snprintf(place, sizeof place, "output.%zu", found->slots[i].number);
        save_value(saving, place, &found->slots[i].tested, 0);
        snprintf(place, sizeof place, "output.bench.%zu", found->slots[i].number);
        save_value(saving, place, &found->slots[i].reference, 0);
    }
}

void tdc_save_error_data(struct tdc_call_check *check, const char *folder)
{
    struct tdc_error error = {0};
    for (int d = 0; d < TDC_DIRECTIONS; d++) {
        if (check->directions[d].status != TDC_CHECK_ERROR)
            continue;
        if (tdc_make_folders(folder, &error) != TDC_OK) {
            tdc_text_addf(&check->log, "%s\n", error.message);
            return;
        }
        struct saving saving = {check, folder, (enum tdc_direction)d};
        save_direction(&saving);
    }
}
