/*
 * ge_dump.h - dump files of the graph engine (GE): all inputs and outputs of one operator.
 *
 * 8 bytes with the length of the header, the header (a protobuf message), then the bytes of all
 * inputs, outputs, buffers and workspaces in this order, each as many as its `size` says. The
 * header is read in place each time one of its items is asked for, so nothing of it is kept; it
 * allocates nothing and touches the bytes by plain reads, as a guarded read wants it.
 */
#ifndef TDC_IO_GE_DUMP_H
#define TDC_IO_GE_DUMP_H

#include "io/tensor/tensor_file.h"

/* In the order of their bytes. */
enum tdc_ge_list {
    TDC_GE_INPUT,
    TDC_GE_OUTPUT,
    TDC_GE_BUFFER,
    TDC_GE_SPACE,
    TDC_GE_LISTS
};

/* Numbers of the header; those that nothing here asks for by name have none. */
enum tdc_ge_type {
    TDC_GE_UNDEFINED = 0,
    TDC_GE_RESOURCE = 23,
    TDC_GE_BF16 = 27,
    TDC_GE_INT4 = 28,
    TDC_GE_UINT1 = 29,
    TDC_GE_HIFLOAT8 = 33,
    TDC_GE_F8_E8M0 = 36
};

enum tdc_ge_format {
    TDC_GE_NCHW = 0,
    TDC_GE_NHWC = 1,
    TDC_GE_ND = 2,
    TDC_GE_NC1HWC0 = 3,
    TDC_GE_FRACTAL_Z = 4,
    TDC_GE_HWCN = 16,
    TDC_GE_FRACTAL_NZ = 29,
    TDC_GE_NDC1HWC0 = 32
};

struct tdc_ge_shape {
    unsigned dimensions;
    uint64_t dims[TDC_MAX_DIMENSIONS];
};

struct tdc_ge_item {
    uint64_t type, format;               /* enum tdc_ge_type and others, enum tdc_ge_format */
    struct tdc_ge_shape shape, original; /* as stored, and before it was rearranged */
    uint64_t offset, size;               /* of its bytes in the file */
    uint64_t address;                    /* in the device's memory; 0: not told */
};

/* More items of one list than this are refused: each one is found by reading the header. */
#define TDC_GE_MOST_ITEMS ((uint64_t)1 << 14)

/* How many items each list has. TDC_ERR_FORMAT for a header or sizes that the file does not hold. A
 * file of 8 bytes and less has none, as the header of length 0. `name` begins messages. */
tdc_status tdc_ge_count(const unsigned char *bytes, size_t size, const char *name,
                        uint64_t counts[TDC_GE_LISTS], struct tdc_error *error);

/* TDC_ERR_NOT_FOUND when the list is shorter. */
tdc_status tdc_ge_item(const unsigned char *bytes, size_t size, const char *name,
                       enum tdc_ge_list list, uint64_t index, struct tdc_ge_item *item,
                       struct tdc_error *error);

/*
 * The tensor of an input or output: rearranged formats become views that read in the order of the
 * original shape, or, with `stored`, everything stays in the shape of the file.
 * TDC_ERR_UNSUPPORTED for types nobody can read, TDC_ERR_FORMAT when shape and size do not agree.
 */
tdc_status tdc_ge_tensor(const unsigned char *bytes, const char *name,
                         const struct tdc_ge_item *item, bool stored, struct tdc_tensor *tensor,
                         struct tdc_error *error);

/* "float16", "FRACTAL_NZ"; NULL for a number without a name. */
const char *tdc_ge_format_name(uint64_t format);

/*
 * A tensor of a dump file is called "FILE,inputs,0" or "FILE,outputs,2". False when the text has no
 * such ending; the first `length` characters are the file otherwise.
 */
bool tdc_ge_name(const char *text, size_t *length, enum tdc_ge_list *list, uint64_t *index);

/* The tensor of such a name in the bytes of its file. */
tdc_status tdc_ge_parse(const unsigned char *bytes, size_t size, const char *name,
                        struct tdc_tensor *tensor, struct tdc_error *error);

#endif
