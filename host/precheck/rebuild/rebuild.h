/*
 * rebuild.h - elements of a record as values the reference takes.
 *
 * Tensors are read from their files, or drawn when the dump holds statistics alone.
 */
#ifndef TDC_PRECHECK_REBUILD_H
#define TDC_PRECHECK_REBUILD_H

#include "host/precheck/calls/calls.h"
#include "io/file/open_folder.h"
#include "io/tensor/tensor_file.h"
#include "reference/reference.h"

/* Why a direction of a call cannot be checked: one line, msprobe's words where it has some. */
struct tdc_reason {
    char text[512];
};

bool tdc_give_reason(struct tdc_reason *reason, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

struct tdc_rebuild {
    const struct tdc_calls *calls;
    struct tdc_arena *arena; /* everything made lies here */
    struct tdc_tensor_scratch *scratch;
    struct tdc_open_folder *folder; /* of the tensors */
    bool check_files; /* msprobe's conditions on files: no links, owner, characters, size */
    /* element of class numbers, drawn from 0 on though the recorded Min is a mark like -100 */
    const struct tdc_json *classes;
    bool leaves; /* mark tensors recorded with requires_grad (PyTorch) */
    struct tdc_reason *reason;
    bool *unreadable; /* set when a file exists and cannot be read */
    uint64_t *bytes;  /* of tensor data that was read; added to */
    double *work;     /* seconds by tdc_precheck_work; added to */
};

/* False with the reason set when the element cannot be rebuilt. */
bool tdc_rebuild_value(struct tdc_rebuild *rebuild, const struct tdc_json *element,
                       struct tdc_reference_value *value);
/* A list of elements; a missing or wrong member is refused as `what`. */
bool tdc_rebuild_list(struct tdc_rebuild *rebuild, const struct tdc_json *list, const char *what,
                      struct tdc_reference_value **values, size_t *count);
bool tdc_rebuild_keywords(struct tdc_rebuild *rebuild, const struct tdc_json *object,
                          struct tdc_reference_keyword **keywords, size_t *count);

/* ---- tensors (tensor_data.c, draw.c) --------------------------------------------------------- */

/* The content of a tensor file as the recorded dtype; `expected` are the bytes that it has more or
 * less, SIZE_MAX when not known. */
bool tdc_read_tensor(struct tdc_rebuild *rebuild, const char *file_name, size_t expected,
                     tdc_dtype dtype, struct tdc_reference_tensor **tensor);
/* A tensor of random numbers between the recorded Min and Max, the same for every run; as msprobe
 * draws for MindSpore, and for PyTorch. */
bool tdc_draw_tensor(struct tdc_rebuild *rebuild, const struct tdc_json *element, tdc_dtype dtype,
                     struct tdc_reference_tensor **tensor);
bool tdc_draw_torch_tensor(struct tdc_rebuild *rebuild, const struct tdc_json *element,
                           tdc_dtype dtype, struct tdc_reference_tensor **tensor);
/* False when there is no shape of at most TDC_REFERENCE_RANK sizes. */
bool tdc_drawn_shape(const struct tdc_json *element, int64_t *shape, unsigned *rank);

#define TDC_JSON_PARSE_FAILED                                                                      \
    "[msprobe] Api Accuracy Checker parse json failed: check_and_get_from_json_dict failed: "

#endif
