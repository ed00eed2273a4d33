/*
 * dtensor.h - how torch has spread a tensor over ranks, as its dump says.
 *
 * A distributed tensor has a mesh of ranks and, for each axis of the mesh, what the ranks along it
 * hold: a shard, a copy, or a summand.
 */
#ifndef TDC_HOST_DTENSOR_H
#define TDC_HOST_DTENSOR_H

#include "io/base/arena.h"
#include "io/text/json.h"

#define TDC_MESH_AXES 8

enum tdc_placement_kind {
    TDC_PLACED_SHARD,
    TDC_PLACED_REPLICA,
    TDC_PLACED_PARTIAL
};

struct tdc_placement {
    enum tdc_placement_kind kind;
    int64_t axis;          /* of the tensor that is cut; may count from the end */
    const char *reduction; /* of partial values: "sum", "max", ... */
};

struct tdc_dtensor {
    unsigned axes; /* of the mesh */
    uint64_t sizes[TDC_MESH_AXES];
    const int64_t *ranks; /* row by row, as many as the product of the sizes */
    /* The dumper leaves out what it does not know: there may be fewer than axes. */
    unsigned placement_count;
    struct tdc_placement placements[TDC_MESH_AXES];
};

/* From a leaf with `device_mesh` and `placements`, in the arena. NULL for one without them, of
 * another form, and when out of memory, which *failed tells. */
const struct tdc_dtensor *tdc_dtensor_read(struct tdc_arena *arena, const struct tdc_json *leaf,
                                           bool *failed);

/* The place of a rank along each axis of the mesh; false when it is not in it, or twice. */
bool tdc_dtensor_place(const struct tdc_dtensor *dtensor, int64_t rank, uint64_t *place);

#endif
