/*
 * spread.h - loops that threads share where that pays, and that are plain loops where it does not.
 *
 * A region of OpenMP with one thread still makes a team, ends it at a barrier and asks the system
 * to wake nobody: a third of a microsecond, which calls of some hundred elements would pay ten
 * times. So the question is asked before the region.
 */
#ifndef TDC_REFERENCE_SPREAD_H
#define TDC_REFERENCE_SPREAD_H

#include <stdint.h>

#define TDC_PARALLEL_FROM 32768 /* elements; below, starting threads costs more than the work */

#define TDC_BLOCK 512 /* elements handled at once by elementwise functions */

#define TDC_SPREAD_LOOP(shared, ...)                                                               \
    do {                                                                                           \
        if (shared) {                                                                              \
            _Pragma("omp parallel for schedule(static)") __VA_ARGS__                               \
        } else {                                                                                   \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    } while (0)

/* for (int64_t i = 0; i < count; i++) {body}, by all threads when so many elements are worth it. */
#define TDC_SPREAD(elements, i, count, ...)                                                        \
    TDC_SPREAD_LOOP((elements) >= TDC_PARALLEL_FROM,                                               \
                    for (int64_t i = 0; i < (count); i++) __VA_ARGS__)

/* The same for `start` of each block of TDC_BLOCK elements of `count`. */
#define TDC_SPREAD_BLOCKS(count, start, ...)                                                       \
    TDC_SPREAD_LOOP((count) >= TDC_PARALLEL_FROM,                                                  \
                    for (int64_t start = 0; start < (count); start += TDC_BLOCK) __VA_ARGS__)

#endif
