#include "host/offline/pairwise.h"

#include <string.h>

/* Elements of the first half: a multiple of eight. */
static uint64_t first_half(uint64_t count)
{
    uint64_t half = count / 2;
    return half - half % 8;
}

/* Goes down to the first block of a range. */
static void go_down(struct tdc_pairwise *sum, uint64_t count)
{
    while (count > TDC_PAIRWISE_BLOCK) {
        sum->halves[sum->depth].count = count;
        sum->halves[sum->depth++].done = 0;
        count = first_half(count);
    }
    sum->filled = 0;
    sum->wanted = (size_t)count;
}

/* A sum is there: of a first half, whose second begins, or of a second, which ends its range. */
static void go_up(struct tdc_pairwise *sum, float value)
{
    while (sum->depth > 0) {
        unsigned top = sum->depth - 1;
        if (sum->halves[top].done == 0) {
            sum->halves[top].left = value;
            sum->halves[top].done = 1;
            go_down(sum, sum->halves[top].count - first_half(sum->halves[top].count));
            return;
        }
        value = sum->halves[top].left + value;
        sum->depth = top;
    }
    sum->sum = value;
    sum->wanted = 0;
}

/* Eight sums side by side. */
static float block_sum(const float *values, size_t count)
{
    float sums[8], sum = 0;
    size_t i = 0;
    if (count >= 8) {
        memcpy(sums, values, sizeof sums);
        for (i = 8; i < count - count % 8; i += 8)
            for (size_t lane = 0; lane < 8; lane++)
                sums[lane] += values[i + lane];
        sum = ((sums[0] + sums[1]) + (sums[2] + sums[3])) +
              ((sums[4] + sums[5]) + (sums[6] + sums[7]));
    }
    for (; i < count; i++)
        sum += values[i];
    return sum;
}

void tdc_pairwise_start(struct tdc_pairwise *sum, uint64_t count)
{
    sum->depth = 0;
    sum->sum = 0;
    go_down(sum, count);
}

void tdc_pairwise_add(struct tdc_pairwise *sum, const float *values, size_t count)
{
    while (count != 0 && sum->wanted != 0) {
        size_t take = sum->wanted - sum->filled;
        take = take < count ? take : count;
        memcpy(sum->block + sum->filled, values, take * sizeof *values);
        sum->filled += take;
        values += take;
        count -= take;
        if (sum->filled == sum->wanted)
            go_up(sum, block_sum(sum->block, sum->filled));
    }
}

float tdc_pairwise_get(const struct tdc_pairwise *sum)
{
    return sum->sum;
}
