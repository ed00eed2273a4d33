/* visual.h - the graph database of msprobe's TensorBoard plugin (docs/visual.md). */
#ifndef TDCMP_VISUAL_H
#define TDCMP_VISUAL_H

#include "tdcmp/dump.h"
#include "tdcmp/options.h"

TDC_INTERFACE_BEGIN

/* Bits for tdc_visual_write. */
enum {
    TDC_VISUAL_OVERFLOW = 1, /* levels of NaN, infinities and leaps of the norm */
    TDC_VISUAL_MSPROBE =
        2, /* to the letter: calls that construct.json does not place are left out */
    TDC_VISUAL_ONE_SIDE = 4 /* the npu of each task alone */
};

struct tdc_visual {
    uint64_t nodes;     /* rows of both sides */
    uint64_t unmatched; /* nodes of the npu without a partner; 0 of one side */
    uint64_t ranks;     /* dumps or pairs of them that were written */
    uint64_t failed;    /* that could not be used: each was told in a message */
};

/*
 * Writes compare_STAMP.vis.db, or build_STAMP.vis.db of one side, to the folder `output`, which is
 * made if missing; mixed dumps have one for each of their folders. Each dump needs a construct.json
 * that is not empty beside it: level L0 or mix. Of the options flags (TDC_OPTION_FUZZY),
 * layer_mapping, threads, io, context, message, progress and cancel count; a message names each
 * file. TDC_ERR_NOTHING, or what was wrong with the only dump, when there is nothing to write.
 */
tdc_status tdc_visual_write(const tdc_tasks *tasks, const char *output, unsigned flags,
                            const struct tdc_options *options, struct tdc_visual *visual,
                            size_t size, struct tdc_error *error);

TDC_INTERFACE_END
#endif
