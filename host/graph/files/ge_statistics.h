/*
 * ge_statistics.h - statistics that GE has written in place of tensors: a csv file per operator.
 *
 * TYPE.NAME.TASK.STREAM.TIME.csv with a line for each tensor: Input/Output, Index, Data Size, Data
 * Type, Format, Shape, Max Value, Min Value, Avg Value, Count, Nan Count, Negative Inf Count,
 * Positive Inf Count, l2norm; in any order and not all of them. Values that were not computed are
 * NA. They are of the stored tensor: what a format has padded takes part.
 */
#ifndef TDC_HOST_GE_STATISTICS_H
#define TDC_HOST_GE_STATISTICS_H

#include "io/base/arena.h"
#include "tdcmp.h"

struct tdc_ge_statistic {
    bool output;
    uint64_t index;
    const char *type;                        /* "DT_FLOAT16"; "" when not told */
    const char *shape;                       /* as written: "[8,20]" or "8 20" */
    double most, least, mean, norm;          /* NaN: not told */
    uint64_t count, nan, negative, positive; /* elements, and those of them that are not finite */
    bool counted;                            /* the count is told */
};

struct tdc_ge_statistics {
    struct tdc_ge_statistic *tensors;
    size_t count, room;
    uint64_t counts[2]; /* inputs and outputs: the largest number of each, plus one */
};

/* Whether a file of this name holds such statistics. */
bool tdc_ge_statistics_name(const char *file);

/* TDC_ERR_FORMAT without a line of names that has Input/Output and Index, or for a line whose
 * numbers are none; TDC_ERR_MEMORY. Texts live in the arena. */
tdc_status tdc_ge_statistics_read(struct tdc_arena *arena, const char *path,
                                  struct tdc_ge_statistics *statistics, struct tdc_error *error);

/* A tensor of such a file is called "FILE.csv,inputs,0" (tdc_ge_name). TDC_ERR_NOT_FOUND when the
 * file does not speak of it. */
tdc_status tdc_ge_statistic_read(struct tdc_arena *arena, const char *name,
                                 const struct tdc_ge_statistic **statistic,
                                 struct tdc_error *error);
bool tdc_is_ge_statistic(const char *name);

/* NULL: there is none. */
const struct tdc_ge_statistic *tdc_ge_statistics_find(const struct tdc_ge_statistics *statistics,
                                                      bool output, uint64_t index);

/* torch's name of a type, "torch.float16"; the text itself if it is none of GE's. */
const char *tdc_ge_statistic_dtype(const struct tdc_ge_statistic *statistic);

/* The numbers of a shape text, at most `most` of them; false for another text. */
bool tdc_ge_statistic_shape(const struct tdc_ge_statistic *statistic, uint64_t *sizes, size_t most,
                            size_t *count);

#endif
