/*
 * pt_value.h - what is on the stack of the pickle reader, and the fixed pools it lies in.
 *
 * All memory is inside struct tdc_pickle, so a reading may be cut off at any moment
 * (mapping_guard.h). Values are small and copied freely; texts stay where they are in the file.
 */
#ifndef TDC_IO_PT_VALUE_H
#define TDC_IO_PT_VALUE_H

#include "io/tensor/pickle/pickle_opcodes.h"
#include "io/tensor/pickle/pt_names.h"

#define TDC_PICKLE_STACK      512
#define TDC_PICKLE_MEMO       1024
#define TDC_PICKLE_ITEMS      4096
#define TDC_PICKLE_CONTAINERS 256

enum tdc_pickle_kind {
    TDC_PICKLE_UNSET,
    TDC_PICKLE_MARK,
    TDC_PICKLE_NONE,
    TDC_PICKLE_BOOL,    /* integer */
    TDC_PICKLE_INTEGER, /* integer */
    TDC_PICKLE_FLOAT,   /* bytes: 8 of a float64, big-endian */
    TDC_PICKLE_LONG,    /* bytes, count: more than 64 bits, little-endian two's complement */
    TDC_PICKLE_TEXT,    /* bytes, count: inside the file */
    TDC_PICKLE_NAME,    /* name */
    TDC_PICKLE_TUPLE,   /* items[first .. first + count) */
    TDC_PICKLE_LIST,    /* containers[first] */
    TDC_PICKLE_DICT,    /* containers[first], a key and a value in turn */
    TDC_PICKLE_STORAGE, /* items[first .. first + 4): see enum tdc_pickle_storage */
    TDC_PICKLE_TENSOR,  /* items[first .. first + 6): see enum tdc_pickle_tensor */
    TDC_PICKLE_OPAQUE,  /* a value that does not matter */
    TDC_PICKLE_REFUSED  /* name: what it is says name->reason */
};

enum tdc_pickle_storage {
    TDC_STORAGE_CLASS, /* NAME of role TDC_PT_STORAGE_CLASS */
    TDC_STORAGE_KEY,   /* TEXT */
    TDC_STORAGE_COUNT, /* INTEGER, elements of the class */
    TDC_STORAGE_VIEW,  /* NONE, or TUPLE (key, offset, count) */
    TDC_STORAGE_FIELDS
};

enum tdc_pickle_tensor {
    TDC_TENSOR_STORAGE,
    TDC_TENSOR_OFFSET,    /* INTEGER */
    TDC_TENSOR_SIZE,      /* TUPLE */
    TDC_TENSOR_STRIDE,    /* TUPLE */
    TDC_TENSOR_DTYPE,     /* NAME of role TDC_PT_DTYPE, or NONE: the one of the storage */
    TDC_TENSOR_QUANTISER, /* TUPLE, or NONE */
    TDC_TENSOR_FIELDS
};

struct tdc_pickle_value {
    uint32_t kind;
    uint32_t count;
    union {
        int64_t integer;
        const unsigned char *bytes;
        const struct tdc_pt_name *name;
        size_t first;
    };
};

struct tdc_pickle_container {
    size_t first; /* in items */
    size_t count;
};

struct tdc_pickle {
    const char *file; /* begins messages */
    struct tdc_error *error;
    struct tdc_pickle_opcode opcode;
    bool stopped;
    size_t depth;
    size_t memo_used; /* entries from here on are unset */
    size_t items_used;
    size_t containers_used;
    struct tdc_pickle_value stack[TDC_PICKLE_STACK];
    struct tdc_pickle_value memo[TDC_PICKLE_MEMO];
    struct tdc_pickle_value items[TDC_PICKLE_ITEMS];
    struct tdc_pickle_container containers[TDC_PICKLE_CONTAINERS];
};

/* Must come first. About 95 KiB: allocate it. */
void tdc_pickle_init(struct tdc_pickle *pickle, const char *file, struct tdc_error *error);

/* TDC_ERR_FORMAT and TDC_ERR_UNSUPPORTED with the file and a reason. */
tdc_status tdc_pickle_malformed(struct tdc_pickle *pickle, const char *reason);
tdc_status tdc_pickle_unsupported(struct tdc_pickle *pickle, const char *reason);
/* A pool is used up: whatever this is, it is more than a tensor. */
tdc_status tdc_pickle_too_many(struct tdc_pickle *pickle);

/* A run of `count` new items; false when the pool is used up. */
bool tdc_pickle_take_items(struct tdc_pickle *pickle, size_t count, size_t *first);
/* An empty list or dict. */
tdc_status tdc_pickle_new_container(struct tdc_pickle *pickle, enum tdc_pickle_kind kind,
                                    struct tdc_pickle_value *value);
/* Copies values to the end of a container; false when the pool is used up. */
bool tdc_pickle_extend(struct tdc_pickle *pickle, struct tdc_pickle_container *container,
                       const struct tdc_pickle_value *values, size_t count);

bool tdc_pickle_is_text(const struct tdc_pickle_value *value, const char *text);

#endif
