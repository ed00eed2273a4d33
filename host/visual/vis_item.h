/*
 * vis_item.h - the inputs and outputs of a call as the graph database shows them: what the dump
 * says of each, and what the comparison adds.
 */
#ifndef TDC_HOST_VIS_ITEM_H
#define TDC_HOST_VIS_ITEM_H

#include "host/dump/dump.h"
#include "io/base/text.h"
#include "io/text/json.h"

struct tdc_vis_item {
    const char *name;
    struct tdc_json fields; /* an object: members of the dump, then what was added, in this order */
    enum tdc_state state;
};

struct tdc_vis_items {
    struct tdc_vis_item *items;
    size_t count;
};

/* One call of dump.json. Everything is in the arena of its graph. */
struct tdc_vis_call {
    struct tdc_vis_items inputs;  /* parameters, gradients of parameters and debug data, too */
    struct tdc_vis_items outputs; /* whose names have ".output." and no ".input." */
    const struct tdc_json
        *operations;      /* of batch_isend_irecv: its first list of outputs; or NULL */
    const char *overflow; /* "medium", "high", "critical"; NULL: none */
};

/* Makes the items of one entry (docs/msprobe.md#rows-of-a-dump); of equal names the last one stays,
 * in the place of the first. False when out of memory. */
bool tdc_vis_items_make(struct tdc_arena *arena, const char *entry, const struct tdc_json *value,
                        struct tdc_vis_call *call);

/* A member of an item that is set or added at the end; NULL when out of memory. */
struct tdc_json *tdc_vis_field(struct tdc_arena *arena, struct tdc_vis_item *item, const char *key);
/* The same with a value. */
bool tdc_vis_set_text(struct tdc_arena *arena, struct tdc_vis_item *item, const char *key,
                      const char *text);
bool tdc_vis_set_float(struct tdc_arena *arena, struct tdc_vis_item *item, const char *key,
                       double number);
bool tdc_vis_set_integer(struct tdc_arena *arena, struct tdc_vis_item *item, const char *key,
                         const char *digits);

/* Whether Python finds two values equal; a missing one is null. */
bool tdc_vis_equal(const struct tdc_json *one, const struct tdc_json *other);

/* The items as one JSON object, every value a text of at most six decimals
 * (docs/msprobe.md#graph-database). operation: without what says with whom a batch was exchanged.
 */
void tdc_vis_items_text(struct tdc_text *out, const struct tdc_vis_items *items, bool digests,
                        bool operation);

/* What the outcome of `-oc` calls a call (docs/msprobe.md#graph-database); NULL: nothing. */
const char *tdc_vis_overflow_level(const char *entry, const struct tdc_json *value);

#endif
