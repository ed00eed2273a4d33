/* dialect_cuda.h - the names that kernels/gpu is written in, for CUDA C. */
#ifndef TDC_GPU_DIALECT_H
#define TDC_GPU_DIALECT_H

typedef unsigned char gpu_u8;
typedef unsigned short gpu_u16;
typedef unsigned int gpu_u32;
typedef unsigned long long gpu_u64;

#define GPU_GLOBAL
#define GPU_KERNEL          extern "C" __global__
#define GPU_INLINE          static __device__ __forceinline__
#define GPU_WORK_ITEM()     ((gpu_u64)blockIdx.x * blockDim.x + threadIdx.x)
#define GPU_AS_DOUBLE(bits) __longlong_as_double((long long)(bits))
#define GPU_AS_BITS(value)  ((gpu_u64)__double_as_longlong(value))
/* These are never fused, whatever the compiler's options say. */
#define GPU_MULTIPLY(x, y) __dmul_rn(x, y)
#define GPU_ADD(x, y)      __dadd_rn(x, y)

#endif
