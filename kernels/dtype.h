/* dtype.h - the element types: what they are, and what every format calls them. */
#ifndef TDC_DTYPE_H
#define TDC_DTYPE_H

#include "tdcmp.h"

enum tdc_dtype_kind {
    TDC_KIND_NONE,
    TDC_KIND_TRUTH,
    TDC_KIND_WHOLE,
    TDC_KIND_FLOATING,
    TDC_KIND_COMPLEX, /* the numbers below are of its parts */
    TDC_KIND_TEXT
};

/* A name is NULL where the format has no such type. */
struct tdc_dtype_entry {
    const char *name;     /* "float32" */
    unsigned char length; /* of the name */
    unsigned char size;
    unsigned char kind;
    unsigned char digits;  /* bits stored behind the point: 2^-digits is the distance from 1 on */
    short least;           /* exponent of the smallest normal number */
    double largest;        /* finite number */
    const char *torch;     /* "torch.float32" */
    const char *mindspore; /* "Float32": msprobe's own lists of types have exactly these */
    const char *storage;   /* "FloatStorage" of the module torch */
    const char *tensor;    /* "torch.FloatTensor" */
    const char *numpy;     /* "<f4", as npy files have it */
    const char *brief;     /* "f32" */
};

extern const struct tdc_dtype_entry tdc_dtype_entries[TDC_DTYPE_COUNT];

/* Never NULL: that of TDC_DTYPE_NONE for what is no dtype. */
static inline const struct tdc_dtype_entry *tdc_dtype_entry(tdc_dtype dtype)
{
    return &tdc_dtype_entries[(unsigned)dtype < TDC_DTYPE_COUNT ? dtype : TDC_DTYPE_NONE];
}

/* Its largest finite number; that of a double for what has no fraction. */
double tdc_dtype_largest(tdc_dtype dtype);

/* The dtype that torch or mindspore calls so, "torch.float32" or "Float32"; TDC_DTYPE_NONE for
 * anything else, and for what the other of the two has no name for. */
tdc_dtype tdc_dtype_shared(const char *text);
/* "float32", "f32"; the texts need not be terminated. TDC_DTYPE_NONE when there is none. */
tdc_dtype tdc_dtype_called(const char *text, size_t length);
tdc_dtype tdc_dtype_in_brief(const char *text, size_t length);
/* By letter and size of numpy's type: 'f', 4. */
tdc_dtype tdc_dtype_in_numpy(char letter, uint64_t size);
/* By the ending of any text that names a dtype: "torch.float32", "mindspore.float32", "Float32",
 * "torch.half"; upper and lower case are the same. */
tdc_dtype tdc_dtype_at_end(const char *text);

/* One of those that networks compute in: no float8, no longdouble. */
static inline bool tdc_dtype_is_floating(tdc_dtype dtype)
{
    return dtype == TDC_F16 || dtype == TDC_BF16 || dtype == TDC_F32 || dtype == TDC_F64;
}

static inline bool tdc_dtype_is_complex(tdc_dtype dtype)
{
    return dtype == TDC_C64 || dtype == TDC_C128;
}

/* The dtype of its parts. */
static inline tdc_dtype tdc_dtype_part(tdc_dtype dtype)
{
    return dtype == TDC_C64 ? TDC_F32 : dtype == TDC_C128 ? TDC_F64 : dtype;
}

#endif
