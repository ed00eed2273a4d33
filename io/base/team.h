/*
 * team.h - one function run by several threads at once.
 *
 * A thread that cannot be started is left out: the work must be such that any number of threads,
 * even the caller's alone, does all of it. (OpenMP's runtime would end the process.)
 */
#ifndef TDC_IO_TEAM_H
#define TDC_IO_TEAM_H

#include "tdcmp.h"

/* However many are asked for. */
#define TDC_MOST_THREADS 1024

/*
 * How many threads a run takes that was asked for `wanted`; 0: one per processor it may run on. At
 * most TDC_MOST_THREADS, and not more than memory (memory_limit.h) and the limit of open files have
 * room for.
 */
int tdc_team_size(int wanted);

/*
 * Runs work(argument, member) on up to `size` threads with members 0, 1, ...; 0 is the caller.
 * Returns when all have returned, with the number of threads that took part.
 */
int tdc_team_run(int size, void (*work)(void *argument, int member), void *argument);

/* How many of `size` threads, the caller's included, can run at the same time: for runtimes that
 * cannot do with less than they want. */
int tdc_team_probe(int size);

/* A warning when fewer threads serve than were asked for. asked 0, or message NULL: silent. */
void tdc_team_say(void (*message)(void *context, tdc_message_level level, const char *text),
                  void *context, int asked, int used);

#endif
