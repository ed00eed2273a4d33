/* layer_rules.h - the lines of a layer mapping file, found by layer type and name. Internal to
 * host/match. */
#ifndef TDC_HOST_LAYER_RULES_H
#define TDC_HOST_LAYER_RULES_H

#include "host/match/layer/layer.h"
#include "io/text/yaml_map.h"

/* `attention: self_attention` below the section of a layer type. */
struct tdc_layer_rule {
    const char *key, *value;
    size_t value_length; /* up to a parenthesis */
    const struct tdc_yaml *source;
    bool used;
};

struct tdc_layer_rules {
    const char *path;
    struct tdc_name_table names;    /* section and key -> rule */
    struct tdc_name_table prefixes; /* section and first component of the key -> levels */
    size_t *levels;                 /* most components of a key that begins so */
    struct tdc_layer_rule *rules;
    size_t most_levels;
    const struct tdc_yaml *root;
    struct tdc_text scratch;
};

/* No file (NULL) is an empty set of rules. Free the rules in any case. */
tdc_status tdc_layer_rules_load(struct tdc_layer_rules *rules, const char *path,
                                struct tdc_arena *arena, struct tdc_error *error);
void tdc_layer_rules_free(struct tdc_layer_rules *rules);

/* The rule for the next components (`scope`) below a layer of that type, the one with most
 * components if several fit; NULL: names stay. */
struct tdc_layer_rule *tdc_layer_rule_find(struct tdc_layer_rules *rules, const char *type,
                                           const char *scope);

/* Reports sections and lines that had no effect, and names used twice. False when out of memory. */
bool tdc_layer_rules_report(const struct tdc_layer_rules *rules, const struct tdc_layer_side *npu,
                            const struct tdc_options *options);

#endif
