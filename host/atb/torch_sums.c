#include "host/atb/torch_sums.h"

#include <math.h>
#include <string.h>

#include "kernels/pair.h"

enum {
    LANES = 8,
    ROWS = 4,  /* registers that are summed side by side */
    LEVELS = 4 /* of partial sums, so that small numbers do not vanish in large ones */
};

/* The vector of a step: a register, or one number for tensors shorter than a register. */
struct loader {
    const float *values;
    size_t width;  /* lanes in use */
    size_t stride; /* elements of a step: width, or 2 * width where two registers are added */
};

static void add_vector(const struct loader *loader, size_t index, float *sum)
{
    const float *at = loader->values + index * loader->stride;
    for (size_t lane = 0; lane < loader->width; lane++)
        sum[lane] +=
            loader->stride > loader->width ? at[lane] + at[loader->width + lane] : at[lane];
}

static void add_sums(float *to, const float *from, size_t count)
{
    for (size_t i = 0; i < count; i++)
        to[i] += from[i];
}

static unsigned ceil_log2(size_t value)
{
    unsigned power = 0;
    while (((size_t)1 << power) < value)
        power++;
    return power;
}

/* `size` steps of ROWS vectors. A level hands over to the next when it has added 2^power sums. */
static void sum_rows(const struct loader *loader, size_t size, float sums[ROWS * LANES])
{
    float levels[LEVELS][ROWS * LANES];
    unsigned power = ceil_log2(size) / LEVELS > 4 ? ceil_log2(size) / LEVELS : 4;
    size_t step = (size_t)1 << power;
    memset(levels, 0, sizeof levels);
    for (size_t i = 0; i < size; i++) {
        for (size_t row = 0; row < ROWS; row++)
            add_vector(loader, i * ROWS + row, levels[0] + row * LANES);
        if ((i + 1) % step != 0)
            continue;
        for (unsigned level = 1; level < LEVELS; level++) {
            add_sums(levels[level], levels[level - 1], (size_t)ROWS * LANES);
            memset(levels[level - 1], 0, sizeof levels[level - 1]);
            if (((i + 1) & (step - 1) << (level * power)) != 0)
                break;
        }
    }
    for (unsigned level = 1; level < LEVELS; level++)
        add_sums(levels[0], levels[level], (size_t)ROWS * LANES);
    memcpy(sums, levels[0], sizeof levels[0]);
}

static void sum_vectors(const struct loader *loader, size_t size, float sum[LANES])
{
    float sums[ROWS * LANES];
    sum_rows(loader, size / ROWS, sums);
    for (size_t i = size / ROWS * ROWS; i < size; i++)
        add_vector(loader, i, sums);
    for (size_t row = 1; row < ROWS; row++)
        add_sums(sums, sums + row * LANES, loader->width);
    memcpy(sum, sums, LANES * sizeof *sum);
}

static size_t register_elements(tdc_dtype dtype)
{
    return dtype == TDC_F16 || dtype == TDC_BF16 ? (size_t)2 * LANES : LANES;
}

float tdc_torch_sum(const float *values, size_t count, tdc_dtype dtype)
{
    size_t stride = register_elements(dtype);
    float lanes[LANES], sum = 0;
    if (count < stride) {
        struct loader single = {values, 1, 1};
        sum_vectors(&single, count, lanes);
        return lanes[0];
    }
    struct loader loader = {values, LANES, stride};
    sum_vectors(&loader, count / stride, lanes);
    for (size_t i = count / stride * stride; i < count; i++)
        sum += values[i];
    for (size_t lane = 0; lane < LANES; lane++)
        sum += lanes[lane];
    return sum;
}

/* float16 has no loop of its own: one after the other, each operation rounded. */
static float half_norm(const float *values, size_t count)
{
    float sum = 0;
    for (size_t i = 0; i < count; i++)
        sum = tdc_round_to_f16(sum + tdc_round_to_f16(values[i] * values[i]));
    return sqrtf(sum);
}

float tdc_torch_norm(const float *values, size_t count, tdc_dtype dtype)
{
    if (dtype == TDC_F16)
        return half_norm(values, count);
    size_t stride = register_elements(dtype), done = count / stride * stride;
    float lanes[LANES] = {0};
    for (size_t i = 0; i < done; i += LANES)
        for (size_t lane = 0; lane < LANES; lane++)
            lanes[lane] += values[i + lane] * values[i + lane];
    for (size_t lane = 1; lane < LANES; lane++)
        lanes[0] += lanes[lane];
    for (size_t i = done; i < count; i++)
        lanes[0] += values[i] * values[i];
    return sqrtf(lanes[0]);
}
