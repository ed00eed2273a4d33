/*
 * module_path.h - where a call stands in the network, from construct.json.
 *
 * The file names each call's parent: a text, null, or a list of the parent and the micro step.
 */
#ifndef TDC_ANALYSIS_MODULE_PATH_H
#define TDC_ANALYSIS_MODULE_PATH_H

#include "tdcmp.h"

/* No network is nested deeper. */
#define TDC_MODULE_DEPTH 1024

struct tdc_module_paths;

tdc_status tdc_module_paths_load(const char *path, struct tdc_module_paths **paths,
                                 struct tdc_error *error);
void tdc_module_paths_free(struct tdc_module_paths *paths);

/* Parent, its parent and so on; ends before a parent that came already (*cycle) and at the depth
 * above. The texts belong to the paths. */
size_t tdc_module_path(const struct tdc_module_paths *paths, const char *name,
                       const char *parents[TDC_MODULE_DEPTH], bool *cycle);

#endif
