/* analysis.h - what stands behind dumps and tables: where a fault began, over all ranks. */
#ifndef TDCMP_ANALYSIS_H
#define TDCMP_ANALYSIS_H

#include "tdcmp/dump.h"
#include "tdcmp/options.h"

TDC_INTERFACE_BEGIN

/* docs/analysis.md has the rules of the searches. */

/* Where something began: calls that are all as early. */
typedef struct tdc_beginning tdc_beginning;
void tdc_beginning_free(tdc_beginning *beginning);
/* 0: nowhere. */
size_t tdc_beginning_count(const tdc_beginning *beginning);
/* Of the first of them; NULL and -1 when there is none. */
const char *tdc_beginning_call(const tdc_beginning *beginning);
long tdc_beginning_rank(const tdc_beginning *beginning);
/* The report that was written, NULL when there was nothing to report. */
const char *tdc_beginning_file(const tdc_beginning *beginning);

/* The call that made the first NaN or infinity: looks through the ranks of one step by the
 * statistics of dump.json and writes anomaly_analyze_*.json to the folder. Of the options context,
 * message and cancel count. */
tdc_status tdc_overflow_find(const char *step, const char *output,
                             const struct tdc_options *options, tdc_beginning **beginning,
                             struct tdc_error *error);

/* Bits for tdc_difference_find. */
enum {
    /* msprobe 26: only outputs make a call differ, and all members of a communication are asked
     * for what they held */
    TDC_DIFFERENCE_OUTPUTS_ONLY = 1,
    /* a statistic that is NaN on one side alone is a difference; else it is told in a message */
    TDC_DIFFERENCE_NAN = 2
};

/* The call with which two runs begin to differ: compares the statistics, or checksums, of the
 * ranks of one step by the rules of the options, writes compare_result_RANK_STAMP.json for each and
 * diff_analyze_*.json. */
tdc_status tdc_difference_find(const tdc_tasks *tasks, const char *output, unsigned flags,
                               const struct tdc_options *options, tdc_beginning **beginning,
                               struct tdc_error *error);

/* Bits for tdc_results_merge. */
enum {
    TDC_MERGE_LENIENT = 1 /* files that are no compare results are passed over */
};

/* Chosen rows of the compare results of several ranks side by side, from a folder of
 * compare_result_rank<N>_<time>.xlsx or .csv: multi_ranks_compare_merge_<time>.xlsx, with a sheet
 * for each metric and a column for each rank. A rank whose table cannot be used is told and left
 * out; TDC_ERR_NOTHING when none is left. config is a yaml file. */
tdc_status tdc_results_merge(const char *input, const char *output, const char *config,
                             unsigned flags, const struct tdc_options *options,
                             struct tdc_error *error);

/* How far two runs agree about the signs of their gradients, from the files of msprobe's gradient
 * probe: for each rank of both similarities.csv, similarities.json and a plot for each parameter in
 * similarities_picture. *suspicious counts parameters with a step that is unlike: below 0.97 at the
 * first one, or 0.03 below the one before; messages name the first of each rank. */
tdc_status tdc_gradients_compare(const char *npu, const char *bench, const char *output,
                                 const struct tdc_options *options, size_t *suspicious,
                                 struct tdc_error *error);

/* What became of two trees of kernels. */
struct tdc_kernel_batch {
    uint64_t operators, pairs;
    uint64_t equal;    /* pairs of the same bytes */
    uint64_t failed;   /* pairs that could not be compared; messages say why */
    uint64_t unpaired; /* times and files of one side alone; likewise */
    char file[4096];   /* that was written */
};

/* The tensors of single kernels: two trees OPERATOR/TIME/x.npy, with the same operators; times and
 * files face each other by their places in the order of their names. Writes batch_compare_<seconds
 * since the epoch>.csv to the folder `output`, a row for each pair. Of the options context,
 * message, cancel, threads and io count. size: sizeof(struct tdc_kernel_batch). */
tdc_status tdc_kernel_batch_compare(const char *npu, const char *bench, const char *output,
                                    const struct tdc_options *options,
                                    struct tdc_kernel_batch *summary, size_t size,
                                    struct tdc_error *error);

/* Two execution rounds of a model in ATB, folders with a statistic.csv: atb_stats_compare_result_*
 * or atb_tensor_compare_result_*.xlsx in the folder `output`, a row for each tensor that both name.
 * TDC_ERR_MISMATCH when one side has files and the other has not, TDC_ERR_NOTHING when no name is
 * on both sides. Of the options context, message, progress, cancel, threads and io count. */
tdc_status tdc_atb_compare(const char *target, const char *golden, const char *output,
                           const struct tdc_options *options, struct tdc_error *error);

TDC_INTERFACE_END
#endif
