/*
 * tensor_file.h - a tensor in a file, mapped and described, nothing copied.
 *
 * `.pt` files of torch.save, `.npy` files of numpy, `.bin` files of ATB and dump files of the graph
 * engine. The file is mapped read-only; `data` points into the map at the first byte of the storage
 * the tensor views.
 * Everything that the header claims has been checked against the size of the file, so that each
 * element reachable by shape, strides and offset lies inside the map. The file may still shrink
 * later: read `data` only inside tdc_guarded_read (mapping_guard.h).
 */
#ifndef TDC_IO_TENSOR_FILE_H
#define TDC_IO_TENSOR_FILE_H

#include "tdcmp.h"

#define TDC_MAX_DIMENSIONS 64

/* How the stored elements stand for numbers. All but plain ones are gathered as float64. */
enum tdc_coding {
    TDC_CODING_PLAIN,
    TDC_CODING_E8M0,   /* uint8: 2^(bits - 127), 255 is NaN */
    TDC_CODING_E2M1,   /* uint8: two numbers, the lower half first; the last dimension is theirs */
    TDC_CODING_AFFINE, /* uint8, int8, int32: (stored - zero) * scale */
    TDC_CODING_HIF8,   /* uint8: HiFloat8, whose exponents are of several lengths */
    /* uint8: HiFloat8 as the old tools of CANN read it (docs/torchair.md#hifloat8) */
    TDC_CODING_HIF8_LOOSE,
    TDC_CODING_INT4,  /* uint8: two of -8 to 7, the lower half first; strides are in halves */
    TDC_CODING_UINT1, /* uint8: eight of 0 and 1, the highest bit first; strides are in bits */
};

/* The scale and zero point of quantised tensors: one of each, or one for each place of an axis. */
struct tdc_affine {
    double scale;
    int64_t zero;
    const unsigned char *scales, *zeros; /* float64 and int64 in the file; NULL: one for all */
    int64_t scale_stride, zero_stride;   /* in elements */
    unsigned axis;
};

struct tdc_assembled;

struct tdc_tensor {
    tdc_dtype dtype; /* as stored */
    enum tdc_coding coding;
    struct tdc_affine affine; /* TDC_CODING_AFFINE */
    bool swapped;             /* stored in the other byte order than this machine's */
    bool as_f64;              /* short floats that take part as float64; set by who compares them */
    bool dense;               /* elements lie in C order without gaps from data + offset */
    unsigned dimensions;
    size_t text_width; /* TDC_TEXT: bytes of one element, else 0 */
    bool text_wide;    /* TDC_TEXT: UTF-32 ('U'), else bytes ('S') */
    bool opaque;       /* TDC_TEXT: raw bytes ('V') that stand for no number */
    uint64_t shape[TDC_MAX_DIMENSIONS];
    int64_t strides[TDC_MAX_DIMENSIONS]; /* in elements */
    /* One axis may lie in blocks: its element i is found i / block * block_way + i % block *
     * strides[block_axis] from its first. 0: none does. */
    uint64_t block;
    int64_t block_way;
    unsigned block_axis;
    uint64_t count;            /* product of shape */
    const unsigned char *data; /* element 0,0,...: the storage offset is already added */
    /* elements that lie in many tensors (host/engine/logical/logical.h): there is no data then */
    const struct tdc_assembled *assembled;

    /* owned by the reader */
    void *map;       /* the whole file; NULL when it was read into a scratch */
    size_t map_size; /* bytes of the file, mapped or not */
    int descriptor;  /* of a mapped file, else -1 */
    bool linked;     /* the file is a symbolic link, which was followed */
    bool borrowed;   /* map and descriptor belong to someone else (tensor_list.h) */
};

enum tdc_tensor_kind {
    TDC_TENSOR_BY_SUFFIX, /* .npy, .pt, .bin, or a tensor of a GE dump: "FILE,inputs,0" */
    TDC_TENSOR_NPY,
    TDC_TENSOR_PT,
    TDC_TENSOR_ATB,
    TDC_TENSOR_GE
};

/*
 * Opens and checks one tensor file. TDC_ERR_NOT_FOUND, TDC_ERR_READ (permission, not a regular
 * file), TDC_ERR_FORMAT (truncated, wrong magic, lying header), TDC_ERR_UNSUPPORTED (not a tensor,
 * sparse, object array, unknown pickle content), TDC_ERR_CHANGED (shrank while the header was
 * read). Symbolic links are followed.
 */
tdc_status tdc_tensor_open(const char *path, enum tdc_tensor_kind kind, struct tdc_tensor *tensor,
                           struct tdc_error *error);
void tdc_tensor_close(struct tdc_tensor *tensor);

/*
 * Working memory of a thread that opens many files. Files of up to TDC_SMALL_FILE bytes are read
 * into it instead of being mapped: for them a map costs several times the read. Such a tensor is
 * valid until the scratch is used for the next file.
 */
#define TDC_SMALL_FILE ((size_t)1 << 20)
struct tdc_tensor_scratch;
struct tdc_tensor_scratch *tdc_tensor_scratch_new(void);
void tdc_tensor_scratch_free(struct tdc_tensor_scratch *scratch);

/* What is known of a file beforehand: opening it costs fewer system calls then. */
struct tdc_tensor_place {
    int folder;       /* open, or AT_FDCWD: the name is a path */
    const char *name; /* below the folder */
    size_t expected;  /* bytes it has more or less; SIZE_MAX: not known */
};

/* tdc_tensor_open, kind by suffix, with such memory. The path is for messages if there is a place.
 * *cold is set when a small file had to come from the disk and is left alone otherwise; may be
 * NULL. */
tdc_status tdc_tensor_open_with(struct tdc_tensor_scratch *scratch, const char *path,
                                const struct tdc_tensor_place *place, bool *cold,
                                struct tdc_tensor *tensor, struct tdc_error *error);

/* The file of a tensor, opened; see tdc_file_open. */
struct tdc_file;
tdc_status tdc_tensor_file_open(const char *path, struct tdc_file *file, struct tdc_error *error);

/* tdc_tensor_open on bytes already in memory (for fuzzing and tests); the bytes must outlive the
 * tensor.
 */
tdc_status tdc_tensor_parse(const void *bytes, size_t size, enum tdc_tensor_kind kind,
                            const char *name, struct tdc_tensor *tensor, struct tdc_error *error);

#endif
