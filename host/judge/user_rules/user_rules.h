/*
 * user_rules.h - verdicts by rules of the user: tolerance.yaml (docs/tolerance.md).
 *
 * A file of rules is read once and asked for each row after the rules of the table have judged it.
 * Nothing of the metrics is changed, only class and message.
 */
#ifndef TDC_HOST_USER_RULES_H
#define TDC_HOST_USER_RULES_H

#include <stdatomic.h>

#include "host/judge/rules.h"
#include "host/judge/user_rules/predicate.h"

struct tdc_user_rules;

/* TDC_ERR_ARGUMENT: a mistake, "FILE:LINE: text". */
tdc_status tdc_user_rules_load(const char *path, struct tdc_user_rules **tolerance,
                               struct tdc_error *error);
/* The same of bytes in memory. */
tdc_status tdc_user_rules_parse(const char *bytes, size_t size, const char *name,
                                struct tdc_user_rules **tolerance, struct tdc_error *error);
void tdc_user_rules_free(struct tdc_user_rules *tolerance);

/* What is to be judged. */
struct tdc_user_row {
    const char *name;                  /* by which patterns find it */
    const char *kind_name;             /* from which its kind is told, if it has another */
    bool parameter;                    /* of a checkpoint: whatever it is called */
    const char *dtypes[2];             /* texts of both sides; NULL: none */
    const struct tdc_outcome *outcome; /* NULL, or not compared: no metrics */
};

/* Judges a row: changes class and message of the row. From many threads. */
void tdc_user_rules_judge(struct tdc_user_rules *tolerance, const struct tdc_user_row *judged,
                          struct tdc_row *row, struct tdc_text *message);

/* The metrics that predicates see. */
void tdc_user_rules_metrics(const struct tdc_outcome *outcome, double metrics[TDC_METRICS]);

/* How often each rule, and each pattern of the lists, has decided. */
size_t tdc_user_rules_count(const struct tdc_user_rules *tolerance);
void tdc_user_rules_tell(const struct tdc_user_rules *tolerance, size_t index, const char **title,
                         const char **text, uint64_t *rows, uint64_t *failed);

#endif
