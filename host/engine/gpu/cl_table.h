/* cl_table.h - OpenCL, loaded at run time: its functions in one table. */
#ifndef TDC_GPU_CL_TABLE_H
#define TDC_GPU_CL_TABLE_H

#include <stdint.h>

#include "host/engine/device/remedy.h"
#include "host/engine/device/runtime_library.h"
#include "tdcmp.h"

#define CL_FN(result, name, arguments) result(*name) arguments;
#define CL_CONST(name, value)
struct tdc_cl {
#include "host/engine/gpu/cl_functions.h"
};
#undef CL_FN
#undef CL_CONST

#define CL_FN(result, name, arguments)
#define CL_CONST(name, value) static const int64_t TDC_##name __attribute__((unused)) = value;
#include "host/engine/gpu/cl_functions.h"
#undef CL_FN
#undef CL_CONST

/* Loads it on the first call; NULL with *error set when it cannot be had. From any thread. */
const struct tdc_cl *tdc_cl_start(struct tdc_error *error);
/* What was loaded. */
const struct tdc_runtime_library *tdc_cl_library(void);

enum tdc_remedy tdc_cl_remedy_of(int code);
/* "OUT_OF_RESOURCES"; "error" for codes without a name here. */
const char *tdc_cl_error_name(int code);

#endif
