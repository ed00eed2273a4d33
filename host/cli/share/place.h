/* place.h - which process of how many this one is. */
#ifndef TDC_CLI_PLACE_H
#define TDC_CLI_PLACE_H

#include <stdbool.h>

/* "I/N", I counted from 0. */
bool tdc_parse_place(const char *text, unsigned *index, unsigned *count);

/*
 * What started this process says: TDC_SHARD, or Slurm's array and, within it or alone, Open MPI, a
 * process manager with PMI (MPICH), or a step of Slurm. False: complained about.
 */
bool tdc_find_place(unsigned *index, unsigned *count);

#endif
