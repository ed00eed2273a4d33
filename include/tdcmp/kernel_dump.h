/* kernel_dump.h - kernel dumps of MindSpore and flat folders of npy files, as msprobe compares
 * them (docs/msprobe.md#kernel-dumps). */
#ifndef TDCMP_KERNEL_DUMP_H
#define TDCMP_KERNEL_DUMP_H

#include "tdcmp/table.h"

TDC_INTERFACE_BEGIN

/* Which ranks and steps; none of either: all. */
struct tdc_kernel_choice {
    const long *ranks, *steps;
    size_t rank_count, step_count;
    bool brackets; /* shapes as msprobe 26 writes them: [2, 3] */
};

/*
 * Compares the kernel dumps below two folders: compare_result_RANK_STEP_STAMP in the folder
 * `output` for each rank and step that both have. The format is xlsx or csv. *tables counts them;
 * TDC_ERR_NOTHING when there is none. Of the options context, message, progress, cancel, threads
 * and io count.
 */
tdc_status tdc_kernel_dumps_compare(const char *npu, const char *bench, const char *output,
                                    const struct tdc_kernel_choice *choice, tdc_format format,
                                    const struct tdc_options *options, size_t *tables,
                                    struct tdc_error *error);

/* Names of npy files that are called differently on the bench side. */
struct tdc_kernel_name {
    const char *npu, *bench;
};

/* Compares folders of files NAME_DTYPE_INDEX.npy, and all folders below that both have: a
 * result.csv for each, in folders of the same names below `output`. */
tdc_status tdc_npy_folders_compare(const char *npu, const char *bench, const char *output,
                                   const struct tdc_kernel_name *names, size_t name_count,
                                   const struct tdc_options *options, size_t *tables,
                                   struct tdc_error *error);

TDC_INTERFACE_END
#endif
