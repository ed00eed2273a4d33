/*
 * side.h - one side of a comparison as a list of named records, wherever they are stored.
 *
 * A dump with all its steps and ranks, a checkpoint in one or many files: what puts logical tensors
 * together sees records with a name, a rank and a shape, and opens their tensors when it reads
 * them. All memory belongs to the side.
 */
#ifndef TDC_HOST_SIDE_H
#define TDC_HOST_SIDE_H

#include "host/dump/dump.h"
#include "io/base/arena.h"
#include "io/tensor/tensor_file.h"

/* Where a record stands along an axis of a mesh that its source itself names: tp of mp_rank_01. */
struct tdc_axis_place {
    const char *axis;
    uint64_t index, size;
};

/* A stored piece of a record: a box of it. */
struct tdc_side_piece {
    const uint64_t *first, *shape; /* as many as the record has dimensions */
};

struct tdc_side_record {
    const char *name;  /* row name of a dump, key of a checkpoint */
    const char *where; /* for people: "rank0", "step2/rank0", or the file */
    const char *dtype; /* as the source writes it: "torch.float32", "BF16" */
    const uint64_t *shape;
    unsigned dimensions;
    uint8_t state; /* enum tdc_state; parameters in a checkpoint */
    int64_t rank, step;
    const struct tdc_axis_place *places; /* NULL without any */
    size_t place_count;
    const struct tdc_dtensor *dtensor; /* NULL: not said */
    const char *dims;                  /* that the source itself says; NULL: none */
    const struct tdc_record *dumped;   /* statistics and other texts of a dump; NULL: none */
    /* A tensor that is stored in one place has no pieces listed; others are covered by them. */
    const struct tdc_side_piece *pieces;
    size_t piece_count;
    size_t source; /* for the side's own use: which file, which place in it */
};

struct tdc_side {
    struct tdc_arena arena;          /* texts, shapes, records */
    const char *path;                /* as given */
    struct tdc_side_record *records; /* by step, rank, then place in the file */
    size_t count;
    bool checkpoint; /* its tensors are parameters, whatever they are called */
    bool has_data;   /* tensors can be opened; otherwise there are statistics at best */
    bool several_steps;
    size_t empty; /* folders without a dump, each named in a message */

    /* Opens a piece of a record, 0 where it has none listed, from any thread; closed by
     * tdc_tensor_close before the side is released. */
    tdc_status (*open)(const struct tdc_side *side, const struct tdc_side_record *record,
                       size_t piece, struct tdc_tensor *tensor, struct tdc_error *error);
    void (*release)(struct tdc_side *side); /* what `own` holds; may be NULL */
    void *own;
};

struct tdc_side_request {
    const char *path;
    int step;                          /* < 0: all */
    const char *key;                   /* of torch files: where the tensors begin; NULL: found */
    const struct tdc_options *options; /* message */
};

/* A dump: json file, rank, step or root folder, with all its steps and ranks. */
tdc_status tdc_side_from_dump(const struct tdc_side_request *request, struct tdc_side **side,
                              struct tdc_error *error);
/* A checkpoint, a file of tensors or a folder of them; folders of ranks with one each. */
tdc_status tdc_side_from_tensors(const struct tdc_side_request *request, struct tdc_side **side,
                                 struct tdc_error *error);
/* Whatever the path is. */
tdc_status tdc_side_open(const struct tdc_side_request *request, struct tdc_side **side,
                         struct tdc_error *error);
void tdc_side_free(struct tdc_side *side);

/* ---- for those who make sides ---------------------------------------------------------------- */

/* An empty side with its arena; NULL when out of memory. */
struct tdc_side *tdc_side_new(const char *path);
/* "[2, 3]" as numbers in the arena; false for a text that is none, or out of memory (*failed). */
bool tdc_side_shape(struct tdc_side *side, const char *text, struct tdc_side_record *record,
                    bool *failed);

#endif
