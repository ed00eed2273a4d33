/*
 * logical.h - one tensor whose elements lie in many: parts of ranks, steps and files.
 *
 * A logical tensor is a list of boxes: a part, where the box begins in it, a stride for each
 * logical axis, first index and extent on each. Nothing is assembled: chunks in row-major order of
 * the logical axes are gathered from the boxes that meet them, so that the engine sees what it
 * would see of a file with the whole tensor, to the bit.
 */
#ifndef TDC_HOST_LOGICAL_H
#define TDC_HOST_LOGICAL_H

#include "io/tensor/tensor_file.h"

/* Axes of a logical tensor. */
#define TDC_LOGICAL_AXES 32

struct tdc_logical_part {
    /* Opens what is stored, from any thread; closed by tdc_tensor_close. */
    tdc_status (*open)(const struct tdc_logical_part *part, struct tdc_tensor *tensor,
                       struct tdc_error *error);
    const void *context, *record;
    size_t piece;
    const char *where; /* for messages */
    /* By logical axis: the stored axis along which it runs, -1 for none, and in which steps. */
    int8_t stored[TDC_LOGICAL_AXES];
    uint64_t steps[TDC_LOGICAL_AXES];
};

struct tdc_logical_box {
    uint32_t part;
    uint32_t term; /* boxes of one term do not overlap; terms are added in their order */
    const uint64_t *first, *extent; /* by logical axis */
    const uint64_t *base;           /* by stored axis: index of its first element */
};

/* Two parts that must hold the same, over the boxes of the first. */
struct tdc_logical_twin {
    uint32_t part, twin;
};

/* Rounding before the comparison. */
enum tdc_rounding {
    TDC_ROUND_NONE,
    TDC_ROUND_F32,
    TDC_ROUND_F16,
    TDC_ROUND_BF16
};

struct tdc_logical {
    unsigned dimensions;
    uint64_t shape[TDC_LOGICAL_AXES];
    uint64_t count;
    struct tdc_logical_part *parts;
    size_t part_count;
    struct tdc_logical_box *boxes; /* by term, then by their first index on `index_axis` */
    size_t box_count;
    uint32_t *term_starts; /* boxes: term i has [i], up to [i + 1] */
    uint32_t
        *group_starts; /* terms that are added before groups are: group i has [i], up to [i + 1] */
    uint32_t term_count, group_count;
    bool sparse; /* some terms have no boxes in some places: nothing is added there */
    unsigned index_axis;
    uint64_t longest; /* extent of any box on that axis */
    enum tdc_rounding rounding;
    struct tdc_logical_twin *twins;
    size_t twin_count;
    double agree; /* how far twins may be apart */
    char letter;  /* of the side, for messages */
};

/* Sorts the boxes and fills in what is derived from them. terms and groups are given: boxes have
 * their term, group_starts lists the terms. False when out of memory. */
struct tdc_arena;
bool tdc_logical_settle(struct tdc_logical *logical, struct tdc_arena *arena);

/* The open parts of a logical tensor. */
struct tdc_assembled {
    const struct tdc_logical *logical;
    struct tdc_tensor *parts;
    bool *open;       /* by part */
    tdc_dtype stored; /* of the elements of all parts, of the first if they are mixed */
    bool mixed;       /* parts are of several types */
    bool convert;     /* elements come out as float64: sums, rounding, several types */
};

/*
 * Opens the parts and describes the logical tensor as an engine takes it: a view of its only part
 * where one box is all, else gathered (tensor->assembled). The tensor is closed by
 * tdc_tensor_close, then *assembled by tdc_assembled_close; it is NULL for a view.
 */
tdc_status tdc_logical_open(const struct tdc_logical *logical, struct tdc_tensor *tensor,
                            struct tdc_assembled **assembled, struct tdc_error *error);
void tdc_assembled_close(struct tdc_assembled *assembled);

/* Elements [first, first + count) in C order. False if a text is no number. Touches mapped memory:
 * call it inside tdc_guarded_read. */
bool tdc_assembled_gather(const struct tdc_assembled *assembled, uint64_t first, size_t count,
                          void *buffer);
/* Where these elements follow each other in one part as they are wanted; NULL: gather them. */
const void *tdc_assembled_in_place(const struct tdc_assembled *assembled, uint64_t first,
                                   size_t count);
/* The boxes of these elements one by one, to be copied from `from` to byte `to` of what is
 * gathered. False where one is not taken, or elements cannot be copied as they are stored. */
struct tdc_copy_box;
typedef bool tdc_box_listed(void *context, struct tdc_copy_box *copy, const unsigned char *from,
                            uint64_t to, size_t element);
bool tdc_assembled_list(const struct tdc_assembled *assembled, uint64_t first, uint64_t count,
                        tdc_box_listed *take, void *context);
/* Asks for the mapped pages of elements that will be gathered; gives up those that have been. */
void tdc_assembled_want(const struct tdc_assembled *assembled, uint64_t first, uint64_t count);
void tdc_assembled_release(const struct tdc_assembled *assembled, uint64_t first, uint64_t count);

/* ---- between the files of this folder -------------------------------------------------------- */

/* The element of a part at a place of the logical tensor, in elements from its data on. */
int64_t tdc_part_offset(const struct tdc_tensor *tensor, const uint64_t *base);
/* Whether elements can be copied as they are stored. */
bool tdc_part_is_plain(const struct tdc_tensor *tensor);
/* The elements of a sub-box [lo, lo + extent) of a box, at `to` by the ways given in bytes for each
 * logical axis, as float64 with widen. False if a text is no number. */
bool tdc_box_copy(const struct tdc_logical *logical, const struct tdc_logical_box *box,
                  const struct tdc_logical_part *part, const struct tdc_tensor *tensor,
                  const uint64_t *lo, const uint64_t *extent, const int64_t *ways, bool widen,
                  unsigned char *to);
/* Elements [first, first + count) of one term as they are stored, or as float64 where parts are of
 * several types; `element` bytes each. What no box has stays as it is. False if a text is no
 * number. */
bool tdc_assembled_term(const struct tdc_assembled *assembled, uint32_t term, uint64_t first,
                        uint64_t count, size_t element, unsigned char *to);
/* Numbers as float64; complex ones by their real part. */
void tdc_widen(tdc_dtype dtype, const unsigned char *elements, size_t count, double *values);

/* ---- replicas -------------------------------------------------------------------------------- */

struct tdc_twin_finding {
    bool apart;
    const char *where, *twin; /* the first pair that fails */
    double worst;
    uint64_t at[TDC_LOGICAL_AXES]; /* in the logical axes */
};

/* Compares all twins up to the first pair that fails; TDC_OK with finding->apart then. */
tdc_status tdc_logical_check_twins(const struct tdc_logical *logical,
                                   struct tdc_twin_finding *finding, struct tdc_error *error);

#endif
