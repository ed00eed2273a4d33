/*
 * fetched_map.h - a remote file in the address space, read piece by piece when it is touched.
 *
 * A page of a mapped file that does not come is no error but a thread that hangs, and each fault is
 * a trip to the server. So a remote file is not mapped: its place in memory is empty at first, and
 * the signal of the first touch (io/file/mapping_guard.h) has the piece read with patience, larger
 * ones the longer a file is read in order.
 */
#ifndef TDC_IO_FETCHED_MAP_H
#define TDC_IO_FETCHED_MAP_H

#include <stdbool.h>
#include <stddef.h>

/* Needs a descriptor of its own for as long as it lives. NULL with errno. */
void *tdc_fetched_map_make(int descriptor, size_t size);
/* False when there is no such map at the place. */
bool tdc_fetched_map_close(const void *start);

/* Gives up whole pieces within the range; false when there is no such map. */
bool tdc_fetched_map_forget(const void *start, size_t size);

enum tdc_fetch_result {
    TDC_FETCHED,        /* touch it again */
    TDC_FETCH_FAILED,   /* tdc_fetch_failure says why */
    TDC_FETCH_ELSEWHERE /* no such map */
};

/* For the handler of a signal that a touch raised, in the thread that touched; it must hold no
 * lock.
 */
enum tdc_fetch_result tdc_fetched_map_touch(const void *at);

/* Why the last guarded read of this thread ended before its time: a number of errno or patience.h;
 * 0 when the file shrank, or none did. Cleared by the next one. */
int tdc_fetch_failure(void);
void tdc_fetch_failure_set(int number);

#endif
