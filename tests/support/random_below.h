/* random_below.h - the same random numbers in every run of a test. */
#ifndef TDC_TESTS_RANDOM_BELOW_H
#define TDC_TESTS_RANDOM_BELOW_H

#include <stdint.h>

static uint64_t random_state = 88172645463325252u;

static uint64_t random_below(uint64_t limit)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % limit;
}

#endif
