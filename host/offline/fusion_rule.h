/*
 * fusion_rule.h - which operators of the original model the operators of a compiled one are made
 * of.
 *
 * ATC and the quantiser write the graph as JSON: graph[].op[] with name, type, input ("NAME:0") and
 * attributes. _datadump_original_op_names are an operator's original ones; each output_desc has
 * _datadump_origin_name, _datadump_origin_output_index and _datadump_origin_format: which output of
 * which original operator it is.
 */
#ifndef TDC_HOST_FUSION_RULE_H
#define TDC_HOST_FUSION_RULE_H

#include "io/base/arena.h"
#include "io/base/name_table.h"
#include "tdcmp.h"

/* What an output is in the original model. */
struct tdc_rule_output {
    const char *name;   /* "": nothing of it */
    int64_t index;      /* -1: the same as here */
    const char *format; /* "NHWC"; "": not told */
};

struct tdc_rule_op {
    const char *name, *type;
    const char **inputs; /* "NAME:0", without those of control */
    size_t input_count;
    struct tdc_rule_output *outputs;
    size_t output_count;
    const char **originals; /* names; one "": put in by the compiler */
    size_t original_count;
    const char *sub_graph; /* _L1_fusion_sub_graph_no: operators that ran together; "": none */
    bool multiple;         /* one of several operators that several original ones became */
    size_t group;
    const struct tdc_rule_op *next; /* of its group; NULL: the last */
};

struct tdc_fusion_rule {
    struct tdc_rule_op *ops; /* as they stand in the file */
    size_t count, room;
    struct tdc_name_table names;  /* numbers are positions of operators */
    struct tdc_rule_op **groups;  /* first operators: what became of the same original ones */
    struct tdc_rule_op **last_of; /* and last ones */
    size_t group_count, group_room;
};

/* Memory is in the arena, but for the table of names: to be freed in any case. TDC_ERR_FORMAT for a
 * file that is no such graph. */
tdc_status tdc_fusion_rule_read(struct tdc_arena *arena, const char *path,
                                struct tdc_fusion_rule *rule, struct tdc_error *error);
void tdc_fusion_rule_free(struct tdc_fusion_rule *rule);

const struct tdc_rule_op *tdc_fusion_rule_find(const struct tdc_fusion_rule *rule, const char *name,
                                               size_t length);

/* The model was quantised before it was compiled: what the quantised one was made of takes the
 * place of its operators. False when out of memory. */
bool tdc_fusion_rule_through(struct tdc_arena *arena, struct tdc_fusion_rule *rule,
                             const struct tdc_fusion_rule *quantised);

/* The other side is compiled, too, without fusion: its operators take the place of the original
 * ones. False when out of memory. */
bool tdc_fusion_rule_against(struct tdc_arena *arena, struct tdc_fusion_rule *rule,
                             const struct tdc_fusion_rule *unfused);

#endif
