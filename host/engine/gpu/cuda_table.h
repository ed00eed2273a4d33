/* cuda_table.h - the CUDA driver and NVRTC, loaded at run time: their functions in one table each.
 */
#ifndef TDC_GPU_CUDA_TABLE_H
#define TDC_GPU_CUDA_TABLE_H

#include <stdint.h>

#include "host/engine/device/remedy.h"
#include "host/engine/device/runtime_library.h"
#include "tdcmp.h"

#define CUDA_FN(result, name, symbol, arguments) result(*name) arguments;
#define NVRTC_FN(name, arguments)
#define CUDA_CONST(name, value)
struct tdc_cuda {
#include "host/engine/gpu/cuda_functions.h"
};
#undef CUDA_FN
#undef NVRTC_FN
#undef CUDA_CONST

#define CUDA_FN(result, name, symbol, arguments)
#define NVRTC_FN(name, arguments) int(*name) arguments;
#define CUDA_CONST(name, value)
struct tdc_nvrtc {
#include "host/engine/gpu/cuda_functions.h"
};
#undef NVRTC_FN
#undef CUDA_CONST

#define NVRTC_FN(name, arguments)
#define CUDA_CONST(name, value) TDC_##name = value,
enum {
#include "host/engine/gpu/cuda_functions.h"
};
#undef CUDA_FN
#undef NVRTC_FN
#undef CUDA_CONST

/* Loads the driver and starts it, on the first call; NULL with *error set when it cannot be had.
 * From any thread. */
const struct tdc_cuda *tdc_cuda_start(struct tdc_error *error);
const struct tdc_runtime_library *tdc_cuda_library(void);

enum tdc_remedy tdc_cuda_remedy_of(int code);
const char *tdc_cuda_error_name(int code);

/*
 * The kernels compiled by NVRTC for an architecture (75 for 7.5): a text to be freed, or NULL with
 * *error set.
 */
char *tdc_cuda_compile(int architecture, struct tdc_error *error);

#endif
