#include "io/tensor/npy.h"

#include <string.h>

#include "io/base/error.h"
#include "io/base/little_endian.h"
#include "io/tensor/tensor_layout.h"
#include "kernels/dtype.h"

#define HEADER_LIMIT ((size_t)1 << 16) /* numpy itself stops at 10 000 bytes by default */
#define DESCR_LIMIT  ((size_t)32)

enum key {
    KEY_DESCR = 1,
    KEY_FORTRAN_ORDER = 2,
    KEY_SHAPE = 4,
    ALL_KEYS = 7
};

struct header {
    const unsigned char *at; /* next byte to read */
    const unsigned char *end;
    bool allow_long_suffix; /* Python 2 wrote (3L, 4L) */
    bool fortran_order;
    bool big_endian;
    const char *name;
    struct tdc_tensor *tensor;
    struct tdc_error *error;
};

static tdc_status malformed(const struct header *header, const char *reason)
{
    return tdc_fail(header->error, TDC_ERR_FORMAT, "%s: malformed npy header: %s", header->name,
                    reason);
}

static tdc_status unsupported(const struct header *header, const char *reason)
{
    return tdc_fail(header->error, TDC_ERR_UNSUPPORTED, "%s: %s", header->name, reason);
}

static void skip_blanks(struct header *header)
{
    while (header->at < header->end && (*header->at == ' ' || *header->at == '\n' ||
                                        *header->at == '\t' || *header->at == '\r'))
        header->at++;
}

/* Skips blanks and takes the character if it comes next. */
static bool take(struct header *header, char wanted)
{
    skip_blanks(header);
    if (header->at == header->end || *header->at != (unsigned char)wanted)
        return false;
    header->at++;
    return true;
}

/* A quoted text without escapes; numpy writes no others for the keys and dtypes we know. */
static bool take_text(struct header *header, const unsigned char **text, size_t *length)
{
    skip_blanks(header);
    if (header->at == header->end || (*header->at != '\'' && *header->at != '"'))
        return false;
    unsigned char quote = *header->at++;
    *text = header->at;
    while (header->at < header->end && *header->at != quote) {
        if (*header->at == '\\' || *header->at < 0x20)
            return false;
        header->at++;
    }
    if (header->at == header->end)
        return false;
    *length = (size_t)(header->at - *text);
    header->at++;
    return true;
}

static bool take_word(struct header *header, const char *word)
{
    size_t length = strlen(word);
    skip_blanks(header);
    if ((size_t)(header->end - header->at) < length || memcmp(header->at, word, length) != 0)
        return false;
    header->at += length;
    return true;
}

static bool is_digit(unsigned char c)
{
    return c >= '0' && c <= '9';
}

static bool take_size(struct header *header, uint64_t *size)
{
    skip_blanks(header);
    const unsigned char *start = header->at;
    int64_t value = 0;
    while (header->at < header->end && is_digit(*header->at)) {
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, *header->at - '0', &value))
            return false;
        header->at++;
    }
    size_t digits = (size_t)(header->at - start);
    if (digits == 0 || (digits > 1 && *start == '0'))
        return false;
    if (header->allow_long_suffix && header->at < header->end && *header->at == 'L')
        header->at++;
    *size = (uint64_t)value;
    return true;
}

static tdc_status parse_shape(struct header *header)
{
    struct tdc_tensor *tensor = header->tensor;
    if (!take(header, '('))
        return malformed(header, "shape is not a tuple");
    bool comma = true;
    while (!take(header, ')')) {
        uint64_t size;
        if (!comma || !take_size(header, &size))
            return malformed(header, "shape is not a tuple of sizes");
        if (tensor->dimensions == TDC_MAX_DIMENSIONS)
            return unsupported(header, "more than 64 dimensions");
        tensor->shape[tensor->dimensions++] = size;
        comma = take(header, ',');
    }
    if (tensor->dimensions == 1 && !comma)
        return malformed(header, "shape is not a tuple");
    return TDC_OK;
}

/* The part after the byte order: a letter and a size. */
static tdc_status parse_type(struct header *header, const char *type, const char *descr)
{
    struct tdc_tensor *tensor = header->tensor;
    if (type[0] == 'O')
        return unsupported(header, "array of objects");
    uint64_t size = 0;
    for (const char *digit = type + (type[0] != '\0'); *digit != '\0'; digit++) {
        if (!is_digit((unsigned char)*digit) || size > (uint64_t)INT32_MAX / 10)
            return tdc_fail(header->error, TDC_ERR_UNSUPPORTED, "%s: unknown dtype '%s'",
                            header->name, descr);
        size = size * 10 + (uint64_t)(*digit - '0');
    }
    if (type[0] != '\0' && strchr("USaV", type[0]) != NULL) {
        tensor->dtype = TDC_TEXT;
        tensor->opaque = type[0] == 'V';
        tensor->text_wide = type[0] == 'U';
        tensor->text_width = tensor->text_wide ? size * 4 : size;
        return TDC_OK;
    }
    tensor->dtype = tdc_dtype_in_numpy(type[0], size);
    if (tensor->dtype == TDC_DTYPE_NONE)
        return tdc_fail(header->error, TDC_ERR_UNSUPPORTED, "%s: unknown dtype '%s'", header->name,
                        descr);
    return TDC_OK;
}

static tdc_status parse_descr(struct header *header)
{
    const unsigned char *text;
    size_t length;
    skip_blanks(header);
    if (header->at < header->end && (*header->at == '[' || *header->at == '('))
        return unsupported(header, "array with a structured dtype");
    if (!take_text(header, &text, &length))
        return malformed(header, "descr is not a text");
    char descr[DESCR_LIMIT + 1];
    if (length > DESCR_LIMIT)
        return unsupported(header, "unknown dtype (long name)");
    memcpy(descr, text, length);
    descr[length] = '\0';
    if (strcmp(descr, "bfloat16") == 0) {
        header->tensor->dtype = TDC_BF16;
        header->big_endian = false;
        return TDC_OK;
    }
    bool ordered = descr[0] != '\0' && strchr("<>|=", descr[0]) != NULL;
    /* '|' and '=' mean the byte order of the reading machine, as in numpy. */
    header->big_endian =
        descr[0] == '>' || (descr[0] != '<' && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
    return parse_type(header, descr + ordered, descr);
}

static tdc_status parse_fortran_order(struct header *header)
{
    if (take_word(header, "True"))
        header->fortran_order = true;
    else if (take_word(header, "False"))
        header->fortran_order = false;
    else
        return malformed(header, "fortran_order is neither True nor False");
    return TDC_OK;
}

static unsigned key_of(const unsigned char *text, size_t length)
{
    if (length == 5 && memcmp(text, "descr", 5) == 0)
        return KEY_DESCR;
    if (length == 13 && memcmp(text, "fortran_order", 13) == 0)
        return KEY_FORTRAN_ORDER;
    if (length == 5 && memcmp(text, "shape", 5) == 0)
        return KEY_SHAPE;
    return 0;
}

static tdc_status parse_dict(struct header *header)
{
    unsigned seen = 0;
    bool comma = true;
    if (!take(header, '{'))
        return malformed(header, "no dict");
    while (!take(header, '}')) {
        const unsigned char *text;
        size_t length;
        if (!comma || !take_text(header, &text, &length) || !take(header, ':'))
            return malformed(header, "no list of keys and values");
        unsigned key = key_of(text, length);
        if (key == 0 || (seen & key) != 0)
            return malformed(header, "unknown or repeated key");
        seen |= key;
        tdc_status status = key == KEY_DESCR           ? parse_descr(header)
                            : key == KEY_FORTRAN_ORDER ? parse_fortran_order(header)
                                                       : parse_shape(header);
        if (status != TDC_OK)
            return status;
        comma = take(header, ',');
    }
    skip_blanks(header);
    if (header->at != header->end)
        return malformed(header, "text after the dict");
    return seen == ALL_KEYS ? TDC_OK : malformed(header, "a key is missing");
}

/* Finds the header text; `data` is the offset of the first element. */
static tdc_status locate_header(const unsigned char *bytes, size_t size, struct header *header,
                                size_t *data)
{
    if (size < 8 || memcmp(bytes, "\x93NUMPY", 6) != 0)
        return tdc_fail(header->error, TDC_ERR_FORMAT, "%s: not an npy file", header->name);
    unsigned major = bytes[6];
    if (major < 1 || major > 3 || bytes[7] != 0)
        return tdc_fail(header->error, TDC_ERR_UNSUPPORTED, "%s: npy version %u.%u", header->name,
                        major, (unsigned)bytes[7]);
    size_t start = major == 1 ? 10 : 12;
    if (size < start)
        return malformed(header, "it is cut off");
    size_t length = major == 1 ? tdc_le16(bytes + 8) : tdc_le32(bytes + 8);
    if (length > HEADER_LIMIT)
        return malformed(header, "it is too long");
    if (length > size - start)
        return malformed(header, "it is cut off");
    header->allow_long_suffix = major < 3;
    header->at = bytes + start;
    header->end = header->at + length;
    *data = start + length;
    return TDC_OK;
}

tdc_status tdc_npy_parse(const unsigned char *bytes, size_t size, const char *name,
                         struct tdc_tensor *tensor, struct tdc_error *error)
{
    struct header header = {.name = name, .tensor = tensor, .error = error};
    size_t data = 0;
    tdc_status status = locate_header(bytes, size, &header, &data);
    if (status == TDC_OK)
        status = parse_dict(&header);
    if (status != TDC_OK)
        return status;
    uint64_t needed;
    if (!tdc_layout_count(tensor) ||
        __builtin_mul_overflow(tensor->count, tdc_layout_element_size(tensor), &needed))
        return malformed(&header, "the shape is too large");
    /* A few bytes of header must not stand for an endless array. */
    if (tensor->count != 0 && needed == 0)
        return unsupported(&header, "array of texts of width 0");
    if (needed > size - data)
        return tdc_fail(error, TDC_ERR_FORMAT, "%s: data ends after %zu of %llu bytes", name,
                        size - data, (unsigned long long)needed);
    tdc_layout_contiguous(tensor, header.fortran_order);
    tdc_layout_dense(tensor);
    tensor->swapped = tdc_layout_swapped(tensor, header.big_endian);
    tensor->data = bytes + data;
    return TDC_OK;
}
