/* mode.c - tensor, statistics or md5: what the two dumps can be compared by
 * (docs/msprobe.md#mode). */
#include <string.h>

#include "host/match/match.h"
#include "io/base/error.h"

/* Under the sound rules: a file that is no dump, or not yet, by name. */
static tdc_status check_content(const struct tdc_dump *dump, struct tdc_error *error)
{
    if (dump->data_wrong_type)
        return tdc_fail(error, TDC_ERR_MISMATCH, "%s: its data is not an object of entries",
                        dump->path);
    if (dump->data_missing)
        return tdc_fail(error, TDC_ERR_NOTHING,
                        "%s: no data in it: nothing was dumped, or it is still being written",
                        dump->path);
    if (dump->task == NULL)
        return tdc_fail(error, TDC_ERR_MISMATCH, "%s: it does not say its task", dump->path);
    return TDC_OK;
}

/* The same in msprobe's words, which takes empty data for data. */
static tdc_status check_side(const struct tdc_dump *dump, const char *side, struct tdc_error *error)
{
    if (dump->task == NULL)
        return tdc_fail(error, TDC_ERR_MISMATCH, "Task for %s is empty, please check.", side);
    if (dump->data_missing)
        return tdc_fail(error, TDC_ERR_MISMATCH,
                        "Missing 'data' in dump.json, please check dump.json of %s.", side);
    if (dump->data_wrong_type)
        return tdc_fail(error, TDC_ERR_MISMATCH,
                        "Invalid type for 'data': expected a dict. Please check dump.json of %s.",
                        side);
    return TDC_OK;
}

tdc_status tdc_match_find_mode(const struct tdc_dump *npu, const struct tdc_dump *bench,
                               const struct tdc_match_rules *rules, tdc_mode *mode,
                               struct tdc_error *error)
{
    bool msprobe = rules->msprobe_records;
    tdc_status status = msprobe ? check_side(npu, "npu", error) : check_content(npu, error);
    if (status == TDC_OK)
        status = msprobe ? check_side(bench, "bench", error) : check_content(bench, error);
    if (status != TDC_OK)
        return status;
    if (strcmp(npu->task, bench->task) != 0 && msprobe)
        return tdc_fail(error, TDC_ERR_MISMATCH, "Please check the dump task is consistent.");
    if (strcmp(npu->task, bench->task) != 0)
        return tdc_fail(error, TDC_ERR_MISMATCH,
                        "test was dumped with task %.40s, ref with task %.40s: dump both with the "
                        "same task",
                        npu->task, bench->task);
    if (strcmp(npu->task, "tensor") == 0) {
        *mode = TDC_MODE_TENSOR;
        return TDC_OK;
    }
    if (strcmp(npu->task, "statistics") != 0)
        return tdc_fail(error, TDC_ERR_MISMATCH,
                        "Compare applies only to task is tensor or statistics");
    bool npu_digests = msprobe ? npu->digests : npu->digest_records;
    bool bench_digests = msprobe ? bench->digests : bench->digest_records;
    if (npu_digests != bench_digests && !msprobe)
        return tdc_fail(error, TDC_ERR_MISMATCH,
                        "%s was dumped with md5, %s without: dump both with the same summary_mode",
                        npu_digests ? "test" : "ref", npu_digests ? "ref" : "test");
    if (npu_digests != bench_digests)
        return tdc_fail(error, TDC_ERR_MISMATCH,
                        "Please check the dump task is consistent, dump mode of npu and bench "
                        "should both be statistics or md5.");
    *mode = npu_digests ? TDC_MODE_DIGEST : TDC_MODE_STATISTICS;
    return TDC_OK;
}
