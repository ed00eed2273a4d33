/* How often a test repeats what it draws at random: all rounds where gcc builds for this machine, a
 * quarter of them where the same is computed again, slowly, for the sake of something else
 * (TDC_TEST_LEAN; tests/CMakeLists.txt). */
#ifndef TDC_TESTS_SUPPORT_ROUNDS_H
#define TDC_TESTS_SUPPORT_ROUNDS_H

#include <stdlib.h>

static inline int rounds_of(int all)
{
    return getenv("TDC_TEST_LEAN") == NULL ? all : (all + 3) / 4;
}

#endif
