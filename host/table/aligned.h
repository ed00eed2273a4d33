/* aligned.h - rows of logical tensors in a table. */
#ifndef TDC_HOST_ALIGNED_H
#define TDC_HOST_ALIGNED_H

#include "host/align/align.h"
#include "host/table/table.h"
#include "io/table/json_object.h"

/* The row of an alignment; NULL for an ordinary one. */
static inline const struct tdc_aligned_row *tdc_table_aligned(const struct tdc_table *table,
                                                              size_t row)
{
    const struct tdc_alignment *alignment = table->match->alignment;
    return alignment != NULL ? &alignment->rows[row] : NULL;
}

/* Before the rules judge: statistics of the pass become those of the records. True: the row was
 * settled before any data was read, and is judged now. */
bool tdc_aligned_judge(struct tdc_table *table, size_t row, const struct tdc_outcome *outcome,
                       struct tdc_text *message);
/* Behind what the rules have said: replicas that differ, sequences left out, lines of their own. */
void tdc_aligned_finish(struct tdc_table *table, size_t row, const struct tdc_outcome *outcome,
                        struct tdc_text *message);

/* How the row was put together, and its series, as members of its object in json; nothing for an
 * ordinary row. */
void tdc_aligned_json(const struct tdc_table *table, size_t row, struct tdc_json_object *object);

#endif
