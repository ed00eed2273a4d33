#include "io/tensor/atb_file.h"

#include <string.h>

#include "io/base/error.h"
#include "io/tensor/tensor_layout.h"

#define HEADER_LIMIT ((size_t)1 << 16)

struct header {
    const char *name;
    struct tdc_tensor *tensor;
    struct tdc_error *error;
    bool ended;
};

/* A piece of a line. */
struct piece {
    const unsigned char *at;
    size_t length;
};

static tdc_status malformed(const struct header *header, const char *reason)
{
    return tdc_fail(header->error, TDC_ERR_FORMAT, "%s: wrong ATB header: %s", header->name,
                    reason);
}

static bool is(struct piece piece, const char *text)
{
    return piece.length == strlen(text) && memcmp(piece.at, text, piece.length) == 0;
}

/* Digits, with blanks around them. */
static bool number_of(struct piece piece, uint64_t *number)
{
    while (piece.length != 0 && piece.at[0] == ' ')
        piece = (struct piece){piece.at + 1, piece.length - 1};
    while (piece.length != 0 && piece.at[piece.length - 1] == ' ')
        piece.length--;
    if (piece.length == 0 || piece.length > 18)
        return false;
    *number = 0;
    for (size_t i = 0; i < piece.length; i++) {
        if (piece.at[i] < '0' || piece.at[i] > '9')
            return false;
        *number = *number * 10 + (uint64_t)(piece.at[i] - '0');
    }
    return true;
}

static tdc_status take_dtype(struct header *header, struct piece value)
{
    static const struct {
        uint64_t number;
        tdc_dtype dtype;
    } known[] = {{0, TDC_F32}, {1, TDC_F16},   {2, TDC_I8},   {3, TDC_I32},
                 {9, TDC_I64}, {12, TDC_BOOL}, {27, TDC_BF16}};
    uint64_t number;
    if (!number_of(value, &number))
        return malformed(header, "dtype is not a number");
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (known[i].number == number) {
            header->tensor->dtype = known[i].dtype;
            return TDC_OK;
        }
    }
    return tdc_fail(header->error, TDC_ERR_UNSUPPORTED, "%s: ATB dtype %llu", header->name,
                    (unsigned long long)number);
}

static tdc_status take_dims(struct header *header, struct piece value)
{
    struct tdc_tensor *tensor = header->tensor;
    tensor->dimensions = 0;
    for (size_t at = 0; at <= value.length;) {
        const unsigned char *comma = memchr(value.at + at, ',', value.length - at);
        size_t length = (comma != NULL ? (size_t)(comma - value.at) : value.length) - at;
        if (tensor->dimensions == TDC_MAX_DIMENSIONS)
            return malformed(header, "too many dims");
        if (!number_of((struct piece){value.at + at, length}, &tensor->shape[tensor->dimensions++]))
            return malformed(header, "dims are not numbers");
        at += length + 1;
    }
    return TDC_OK;
}

static tdc_status take_line(struct header *header, struct piece line)
{
    const unsigned char *equals = memchr(line.at, '=', line.length);
    size_t key_length = equals != NULL ? (size_t)(equals - line.at) : line.length;
    if (equals == NULL || memchr(equals + 1, '=', line.length - key_length - 1) != NULL)
        return malformed(header, "a line that is not key=value");
    struct piece key = {line.at, key_length}, value = {equals + 1, line.length - key_length - 1};
    uint64_t format;
    if (is(key, "$End"))
        header->ended = true;
    else if (is(key, "dtype"))
        return take_dtype(header, value);
    else if (is(key, "dims"))
        return take_dims(header, value);
    else if (is(key, "format") && !number_of(value, &format))
        return malformed(header, "format is not a number");
    else if (is(key, "data"))
        return tdc_fail(header->error, TDC_ERR_UNSUPPORTED, "%s: its data is in another file",
                        header->name);
    return TDC_OK;
}

tdc_status tdc_atb_parse(const unsigned char *bytes, size_t size, const char *name,
                         struct tdc_tensor *tensor, struct tdc_error *error)
{
    struct header header = {.name = name, .tensor = tensor, .error = error};
    size_t limit = size < HEADER_LIMIT ? size : HEADER_LIMIT, at = 0;
    tensor->dtype = TDC_F32;
    while (!header.ended) {
        const unsigned char *end = memchr(bytes + at, '\n', limit - at);
        if (end == NULL)
            return malformed(&header, "no line $End=1");
        struct piece line = {bytes + at, (size_t)(end - bytes) - at};
        tdc_status status = take_line(&header, line);
        if (status != TDC_OK)
            return status;
        at += line.length + 1;
    }
    uint64_t needed;
    if (!tdc_layout_count(tensor) ||
        __builtin_mul_overflow(tensor->count, tdc_layout_element_size(tensor), &needed))
        return malformed(&header, "the shape is too large");
    if (needed != size - at)
        return tdc_fail(error, TDC_ERR_FORMAT, "%s: has %zu bytes of data, not %llu", name,
                        size - at, (unsigned long long)needed);
    tdc_layout_contiguous(tensor, false);
    tdc_layout_dense(tensor);
    tensor->swapped = tdc_layout_swapped(tensor, false);
    tensor->data = bytes + at;
    return TDC_OK;
}
