/*
 * gradient_tree.h - what msprobe's gradient probe has written: for each rank a table of statistics
 * and, by step and parameter, which elements of the gradient were positive.
 */
#ifndef TDC_ANALYSIS_GRADIENT_TREE_H
#define TDC_ANALYSIS_GRADIENT_TREE_H

#include "tdcmp.h"

/* Numbers that follow a prefix ("rank", "step") in the names of folders of both sides. */
struct tdc_common_numbers {
    long *numbers; /* ascending */
    size_t count;
};
tdc_status tdc_common_numbers_find(const char *npu, const char *bench, const char *prefix,
                                   struct tdc_common_numbers *common, struct tdc_error *error);
void tdc_common_numbers_free(struct tdc_common_numbers *common);

/* The parameters of the table of the lowest step that both sides have, in its order. */
struct tdc_parameter_names {
    char **names;
    size_t count;
};
tdc_status tdc_parameter_names_read(const char *npu, const char *bench,
                                    struct tdc_parameter_names *names, struct tdc_error *error);
void tdc_parameter_names_free(struct tdc_parameter_names *names);

/* How many elements of a parameter have the same sign, and how many there are. */
struct tdc_similarity {
    uint64_t equal, elements;
};
tdc_status tdc_similarity_of(const char *npu_step, const char *bench_step, const char *parameter,
                             struct tdc_similarity *similarity, struct tdc_error *error);

#endif
