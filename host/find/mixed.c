/* mixed.c - dumps of MindSpore that mix graphs and single calls: a folder `graph` or `pynative`
 * around the steps (docs/msprobe.md#mixed-dumps). */
#include <dirent.h>
#include <stdlib.h>

#include "host/find/folders.h"
#include "io/base/error.h"

/* The sub-folders of both, in name order. */
static int common_folders(const char *npu, const char *bench, struct dirent ***entries)
{
    int count = scandir(npu, entries, NULL, alphasort), kept = 0;
    for (int i = 0; i < count; i++) {
        struct dirent *entry = (*entries)[i];
        char *ours = tdc_path_join(npu, entry->d_name),
             *theirs = tdc_path_join(bench, entry->d_name);
        bool both = entry->d_name[0] != '.' && ours != NULL && theirs != NULL &&
                    tdc_is_folder(ours) && tdc_is_folder(theirs);
        free(ours);
        free(theirs);
        if (both)
            (*entries)[kept++] = entry;
        else
            free(entry);
    }
    return kept;
}

/* Every common step below npu/name and bench/name. */
static tdc_status visit_steps(const char *npu, const char *bench, const char *name,
                              tdc_step_visit visit, void *context, struct tdc_error *error)
{
    char *ours = tdc_path_join(npu, name), *theirs = tdc_path_join(bench, name);
    struct dirent **steps = NULL;
    tdc_status status = TDC_OK;
    int count = ours != NULL && theirs != NULL ? common_folders(ours, theirs, &steps) : 0;
    for (int i = 0; i < count; i++) {
        char *npu_step = tdc_path_join(ours, steps[i]->d_name);
        char *bench_step = tdc_path_join(theirs, steps[i]->d_name);
        char *folder = tdc_path_join(name, steps[i]->d_name);
        if (status == TDC_OK && (npu_step == NULL || bench_step == NULL || folder == NULL))
            status = tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
        if (status == TDC_OK)
            status = visit(context, npu_step, bench_step, folder, error);
        free(npu_step);
        free(bench_step);
        free(folder);
        free(steps[i]);
    }
    free(steps);
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
