/* merge_config.h - which rows and metrics of several ranks' tables are merged: a yaml file. */
#ifndef TDC_ANALYSIS_MERGE_CONFIG_H
#define TDC_ANALYSIS_MERGE_CONFIG_H

#include "io/base/arena.h"
#include "tdcmp.h"

struct tdc_merge_config {
    struct tdc_arena arena;
    const char **apis;
    size_t api_count;
    const char **metrics; /* none: all of the tables */
    size_t metric_count;
};

/* To be freed in any case. */
tdc_status tdc_merge_config_load(const char *path, struct tdc_merge_config *config,
                                 struct tdc_error *error);
void tdc_merge_config_free(struct tdc_merge_config *config);

#endif
