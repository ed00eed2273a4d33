/*
 * sided.h - a side with the rules for it: names, meshes, coordinates, records by pattern.
 */
#ifndef TDC_ALIGN_SIDED_H
#define TDC_ALIGN_SIDED_H

#include "host/align/rules/rules.h"
#include "host/side/side.h"
#include "io/base/name_table.h"

struct tdc_sided {
    char letter; /* 'A', 'B', 'C' */
    const struct tdc_align_rules *rules;
    const struct tdc_rule_side *rule;
    const struct tdc_side *side;
    const char **names;      /* by record: without what is stripped */
    bool *excluded;          /* by record: of a rank that is not read */
    bool *used;              /* by record: some rule has it */
    uint64_t *place_in_mesh; /* by record */
    /* Axes that the source itself names. */
    struct tdc_mesh_axis *given;
    size_t given_count;
    struct tdc_arena arena;
};

/* Strips names and finds the places of ranks. What does not fit is TDC_ERR_ARGUMENT with file and
 * line. The sided is to be freed in any case; rules and side must outlive it. */
tdc_status tdc_sided_init(struct tdc_sided *sided, char letter, const struct tdc_align_rules *rules,
                          const struct tdc_side *side, struct tdc_error *error);
void tdc_sided_free(struct tdc_sided *sided);

/* ---- meshes ---------------------------------------------------------------------------------- */

/* Whether a name is an axis: declared, given by the source, or one of those that need no
 * declaration (`rank` and `step` among them); *size is 1 for the latter. dtensor: also m0, m1... */
bool tdc_sided_axis(const struct tdc_sided *sided, const char *name, size_t length, uint64_t *size);
/* The coordinate of a record on an axis; 0 on one that need not be declared and is not. */
int64_t tdc_sided_coordinate(const struct tdc_sided *sided, size_t record, const char *name,
                             size_t length);
/* `tp` and its other name `sp` are one axis. */
const char *tdc_sided_axis_of(const struct tdc_sided *sided, const char *name);

/* ---- names in expressions of dims ------------------------------------------------------------ */

/* let, and sizes of meshes (`tp.size`). */
struct tdc_scope tdc_sided_scope(const struct tdc_sided *sided);

/* ---- integers in records --------------------------------------------------------------------- */

/* All numbers of the records that match, of the lowest rank of each step, one step after the other;
 * cumulative: differences of each record. In the arena. TDC_ERR_MISMATCH when there is none. */
tdc_status tdc_sided_integers(const struct tdc_sided *sided, const struct tdc_lengths *lengths,
                              bool cumulative, struct tdc_arena *arena, const int64_t **numbers,
                              size_t *count, struct tdc_error *error);
/* The first record that one of the patterns fits; SIZE_MAX: none. */
size_t tdc_sided_find(const struct tdc_sided *sided, const struct tdc_patterns *patterns);
/* All elements of a record as whole numbers, in the arena. */
tdc_status tdc_sided_read(const struct tdc_sided *sided, size_t record, struct tdc_arena *arena,
                          int64_t **numbers, size_t *count, struct tdc_error *error);
/* Lengths of a name are those of the side. TDC_ERR_ARGUMENT: they are not known. */
tdc_status tdc_sided_lengths(const struct tdc_sided *sided, const struct tdc_lengths *written,
                             const struct tdc_lengths **lengths, struct tdc_error *error);

#endif
