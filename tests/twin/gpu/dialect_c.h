/* dialect_c.h - the names that kernels/gpu is written in, for C: the kernels as functions of a
 * host, one work item after the other. */
#ifndef TDC_GPU_DIALECT_H
#define TDC_GPU_DIALECT_H

#include <math.h>

#include "kernels/gpu/pair_gpu.h"

typedef uint8_t gpu_u8;
typedef uint16_t gpu_u16;

#define GPU_GLOBAL
#define GPU_KERNEL          static
#define GPU_INLINE          static inline
#define GPU_WORK_ITEM()     gpu_work_item
#define GPU_AS_DOUBLE(bits) gpu_as_double(bits)
#define GPU_AS_BITS(value)  gpu_as_bits(value)
#define GPU_MULTIPLY(x, y)  ((x) * (y))
#define GPU_ADD(x, y)       ((x) + (y))

static _Thread_local gpu_u64 gpu_work_item;

static inline double gpu_as_double(gpu_u64 bits)
{
    double value;
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
}

static inline gpu_u64 gpu_as_bits(double value)
{
    gpu_u64 bits;
    __builtin_memcpy(&bits, &value, sizeof bits);
    return bits;
}

#endif
