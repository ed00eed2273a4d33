/*
 * offline_sums.h - the ten metrics of CANN's comparison of dump files, for two tensors.
 *
 * Elements and sums are float32 and added up as numpy does it (pairwise.h), so that cells agree to
 * the last digit; the logarithms of the divergence are our own. Three passes: means, norms and
 * extremes come first. Memory is some buffers a thread.
 */
#ifndef TDC_HOST_OFFLINE_SUMS_H
#define TDC_HOST_OFFLINE_SUMS_H

#include "io/tensor/tensor_file.h"

/* In the order of the table's columns. */
enum tdc_offline_metric {
    TDC_OFFLINE_COSINE,
    TDC_OFFLINE_MAX_ABSOLUTE,
    TDC_OFFLINE_ACCUMULATED,
    TDC_OFFLINE_EUCLIDEAN,
    TDC_OFFLINE_DIVERGENCE,
    TDC_OFFLINE_DEVIATION,
    TDC_OFFLINE_MEAN_ABSOLUTE,
    TDC_OFFLINE_ROOT_MEAN_SQUARE,
    TDC_OFFLINE_MAX_RELATIVE,
    TDC_OFFLINE_MEAN_RELATIVE,
    TDC_OFFLINE_METRICS
};
extern const char *const tdc_offline_metrics[TDC_OFFLINE_METRICS]; /* their names */

#define TDC_OFFLINE_CELL 256

struct tdc_offline_result {
    char cells[TDC_OFFLINE_METRICS][TDC_OFFLINE_CELL]; /* "0.999999" */
    bool scalar;                                       /* the cosine was not looked at */
    bool flat[2]; /* mine, golden: all zero, so that there is no cosine */
    bool truth;   /* both are bool: most metrics are not for them */
};

/* What a thread keeps. */
struct tdc_offline_worker;
struct tdc_offline_worker *tdc_offline_worker_new(void); /* NULL when out of memory */
void tdc_offline_worker_free(struct tdc_offline_worker *worker);

/* Two tensors with as many elements, at least one; `scalar`: there is no cosine of
 * them; `counted`: truth values are 0 and 1 as any number, and not only for two of the metrics.
 * TDC_ERR_CHANGED when a mapped file shrank,
 * TDC_ERR_UNSUPPORTED for texts that are no numbers, TDC_ERR_MEMORY; without messages. */
tdc_status tdc_offline_measure(struct tdc_offline_worker *worker, const struct tdc_tensor *mine,
                               const struct tdc_tensor *golden, bool scalar, bool counted,
                               struct tdc_offline_result *result);

/* All sizes are 1, as CANN's tools ask it: by their sum. */
bool tdc_offline_is_scalar(const uint64_t *shape, unsigned dimensions);

#endif
