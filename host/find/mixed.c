/* mixed.c - dumps of MindSpore that mix graphs and single calls: a folder `graph` or `pynative`
 * around the steps (docs/msprobe.md#mixed-dumps). */
#include <stdlib.h>

#include "host/find/folders.h"
#include "io/base/error.h"
#include "io/storage/looking.h"
#include "io/storage/storage_calls.h"

/* The sub-folders of both, in name order. */
static tdc_status common_folders(const char *npu, const char *bench, struct tdc_listing *common,
                                 struct tdc_error *error)
{
    int number = tdc_storage_list(npu, common);
    if (number != 0)
        return tdc_fail_errno(error, TDC_ERR_READ, number, "%s", npu);
    size_t kept = 0;
    for (size_t i = 0; i < common->count; i++) {
        char *name = common->names[i];
        char *ours = tdc_path_join(npu, name), *theirs = tdc_path_join(bench, name);
        bool both = name[0] != '.' && ours != NULL && theirs != NULL && tdc_is_folder(ours) &&
                    tdc_is_folder(theirs);
        free(ours);
        free(theirs);
        if (both)
            common->names[kept++] = name;
        else
            free(name);
    }
    common->count = kept;
    tdc_listing_sort(common);
    return TDC_OK;
}

/* Every common step below npu/name and bench/name. */
static tdc_status visit_steps(const char *npu, const char *bench, const char *name,
                              tdc_step_visit visit, void *context, struct tdc_error *error)
{
    char *ours = tdc_path_join(npu, name), *theirs = tdc_path_join(bench, name);
    struct tdc_listing steps = {0};
    tdc_status status = ours != NULL && theirs != NULL
                            ? common_folders(ours, theirs, &steps, error)
                            : tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
    for (size_t i = 0; i < steps.count && status == TDC_OK; i++) {
        char *npu_step = tdc_path_join(ours, steps.names[i]);
        char *bench_step = tdc_path_join(theirs, steps.names[i]);
        char *folder = tdc_path_join(name, steps.names[i]);
        if (npu_step == NULL || bench_step == NULL || folder == NULL)
            status = tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
        if (status == TDC_OK)
            status = visit(context, npu_step, bench_step, folder, error);
        free(npu_step);
        free(bench_step);
        free(folder);
    }
    tdc_listing_free(&steps);
    free(ours);
    free(theirs);
    return status;
}

tdc_status tdc_mixed_steps(const char *npu, const char *bench, tdc_step_visit visit, void *context,
                           bool *mixed, struct tdc_error *error)
{
    static const char *const names[] = {"graph", "pynative"};
    tdc_status status = TDC_OK;
    *mixed = false;
    for (size_t i = 0; i < 2 && status == TDC_OK; i++) {
        char *ours = tdc_path_join(npu, names[i]), *theirs = tdc_path_join(bench, names[i]);
        bool both = ours != NULL && theirs != NULL && tdc_is_folder(ours) && tdc_is_folder(theirs);
        free(ours);
        free(theirs);
        if (both) {
            *mixed = true;
            status = visit_steps(npu, bench, names[i], visit, context, error);
        }
    }
    return status;
}
