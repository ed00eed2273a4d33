/* dialect_opencl.h - the names that kernels/gpu is written in, for OpenCL C 1.2 with float64. */
#ifndef TDC_GPU_DIALECT_H
#define TDC_GPU_DIALECT_H

#pragma OPENCL EXTENSION cl_khr_fp64 : enable
/* Fused multiply-adds would round differently. */
#pragma OPENCL FP_CONTRACT OFF

typedef uchar gpu_u8;
typedef ushort gpu_u16;
typedef uint gpu_u32;
typedef ulong gpu_u64;

#define GPU_GLOBAL          __global
#define GPU_KERNEL          __kernel
#define GPU_INLINE          inline
#define GPU_WORK_ITEM()     ((gpu_u64)get_global_id(0))
#define GPU_AS_DOUBLE(bits) as_double(bits)
#define GPU_AS_BITS(value)  as_ulong(value)
#define GPU_MULTIPLY(x, y)  ((x) * (y))
#define GPU_ADD(x, y)       ((x) + (y))

#endif
