/* graph_statistics.h - records of dumps of which one side, or both, holds statistics alone. */
#ifndef TDC_HOST_GRAPH_STATISTICS_H
#define TDC_HOST_GRAPH_STATISTICS_H

#include "host/dump/dump.h"

/*
 * Type, shape and statistics of a tensor by its name: as GE has written them, or computed from a
 * file. `other` is what it faces: of a computed side only what the other one tells is kept. What
 * cannot be read is left as it is. False when out of memory; texts live in the arena.
 */
bool tdc_graph_statistics(struct tdc_arena *arena, const char *name, const char *other,
                          struct tdc_record *record);

#endif
