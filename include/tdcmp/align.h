/* align.h - comparing runs that are laid out differently: logical tensors made of many records. */
#ifndef TDCMP_ALIGN_H
#define TDCMP_ALIGN_H

#include "tdcmp/table.h"

TDC_INTERFACE_BEGIN

/* What is compared and how; texts must live until the call returns. */
struct tdc_align_options {
    size_t size;               /* of this struct: set by tdc_align_options_init */
    const char *rules;         /* align.yaml, or the name of a preset; NULL: equal names */
    const char *const *series; /* axes to report index by index, for every tensor that has them */
    size_t series_count;
    int step;          /* of dump roots: this step alone; < 0: all */
    const char *truth; /* a third run, which the table of truths is made of; NULL: none */
    const char *key;   /* of torch files: where the tensors begin; NULL: found */
};

void tdc_align_options_init(struct tdc_align_options *options, size_t size);

/*
 * The rows of two runs by rules. A match of its own dumps, for tdc_table_new and all that takes a
 * match. TDC_ERR_ARGUMENT with the message `FILE:LINE: text` for a mistake in the rules; what is
 * wrong with one tensor is the text of its row. Lengths, masks and ids of tokens are read, no
 * tensor that is compared.
 */
tdc_status tdc_align_match(const char *test, const char *ref, const struct tdc_align_options *align,
                           const struct tdc_options *options, tdc_match **match,
                           struct tdc_error *error);

/* How a row was put together; texts are NULL where there is none. */
struct tdc_aligned {
    const char *name;
    const char *axes; /* "b s head d" */
    const char *test_shape, *ref_shape;
    const char *test_parts, *ref_parts;
    const char *text; /* why it cannot be compared, or a note */
    bool settled;     /* it cannot be compared */
};

/* False for a match that tdc_align_match did not make. */
bool tdc_match_aligned(const tdc_match *match, size_t pair, struct tdc_aligned *aligned,
                       size_t size);
/* Records of both sides that are in no rule and are to be told. */
void tdc_match_rest(const tdc_match *match, size_t *test, size_t *ref);

/* Writes the series of a table that was compared: an index of an axis in each row. Nothing is
 * written and *rows is 0 when there is none. */
tdc_status tdc_series_write(const tdc_table *table, tdc_format format, const char *path,
                            size_t *rows, struct tdc_error *error);

/* The index of a series where a row is furthest off. */
struct tdc_series_worst {
    const char *axis;
    uint64_t index;
    double rmse, median;
    bool stands_out;        /* an index is above ten times the median: */
    uint64_t first_outlier; /* the first of them */
};

/* Of the axis with the largest error for an index; false for a row without series. */
bool tdc_table_series_worst(const tdc_table *table, size_t row, struct tdc_series_worst *worst,
                            size_t size);

/* Presets: rule files the library carries. The name of one; NULL beyond the last. */
const char *tdc_align_preset(size_t index);
/* Its text; NULL for an unknown name. */
const char *tdc_align_preset_text(const char *name);

TDC_INTERFACE_END
#endif
