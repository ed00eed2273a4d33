/* rank_files.h - the compare results of several ranks in a folder. */
#ifndef TDC_ANALYSIS_RANK_FILES_H
#define TDC_ANALYSIS_RANK_FILES_H

#include "tdcmp.h"

struct tdc_rank_file {
    long rank;
    char *path;
};

struct tdc_rank_files {
    struct tdc_rank_file *files; /* by rank, one each; a workbook comes before a csv file */
    size_t count;
};

/* `compare_result_rank<N>_<14 digits>.xlsx` or .csv. A workbook of another name is an error, or
 * passed over with a warning (lenient). To be freed in any case. */
tdc_status tdc_rank_files_find(const char *folder, bool lenient, const struct tdc_options *options,
                               struct tdc_rank_files *files, struct tdc_error *error);
void tdc_rank_files_free(struct tdc_rank_files *files);

#endif
