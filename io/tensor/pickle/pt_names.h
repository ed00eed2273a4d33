/*
 * pt_names.h - the names a tensor pickle may mention, and what each means to the reader.
 *
 * This is the whole list: a name that is not here ends the reading. None of them is ever called.
 */
#ifndef TDC_IO_PT_NAMES_H
#define TDC_IO_PT_NAMES_H

#include "io/tensor/tensor_file.h"

enum tdc_pt_role {
    TDC_PT_STORAGE_CLASS,     /* dtype; TDC_DTYPE_NONE for a storage of bytes */
    TDC_PT_DTYPE,             /* dtype; TDC_DTYPE_NONE for one that tdcmp has not */
    TDC_PT_REBUILD_TENSOR,    /* storage, offset, size, stride, ... */
    TDC_PT_REBUILD_TYPED,     /* the same with a dtype as seventh argument */
    TDC_PT_REBUILD_QUANTISED, /* storage, offset, size, stride, quantiser, ... */
    TDC_PT_WRAP_TENSOR,       /* the first argument is the tensor */
    TDC_PT_REBUILD_SUBTYPE,   /* function, class, arguments, state */
    TDC_PT_TENSOR_CLASS,      /* a class that TDC_PT_REBUILD_SUBTYPE may name */
    TDC_PT_DICT,
    TDC_PT_SIZE,
    TDC_PT_OPAQUE, /* yields or is something that is not a tensor and does not matter */
    TDC_PT_REFUSED /* yields something of which only `reason` is known */
};

struct tdc_pt_name {
    const char *module;
    const char *name;
    enum tdc_pt_role role;
    tdc_dtype dtype;
    unsigned least_arguments; /* TDC_PT_REBUILD_* and TDC_PT_WRAP_TENSOR */
    const char *reason;       /* TDC_PT_REFUSED */
    enum tdc_coding coding;   /* of the dtype */
};

/* NULL if the name is not on the list. The texts need not be terminated. */
const struct tdc_pt_name *tdc_pt_name_find(const unsigned char *module, size_t module_length,
                                           const unsigned char *name, size_t name_length);

#endif
