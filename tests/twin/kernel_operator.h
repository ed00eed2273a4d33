/*
 * kernel_operator.h - the twin of Ascend C: takes the place of the vendor's header of that name.
 *
 * Names and signatures are the vendor's, for what a kernel like those of kernels/ascend may need
 * and the types architecture 2201 has for it, with __NPU_ARCH__ 3510 its registers, too. Anything
 * else does not compile, so that a kernel which compiles here calls nothing the device lacks.
 * core.h says what is checked when it runs.
 */
#ifndef TDC_TESTS_TWIN_KERNEL_OPERATOR_H
#define TDC_TESTS_TWIN_KERNEL_OPERATOR_H

#include "tests/twin/device_types.h"
#include "tests/twin/device_memory.h"
#include "tests/twin/move_calls.h"
#include "tests/twin/vector_calls.h"
#include "tests/twin/compare_calls.h"
#include "tests/twin/reduce_calls.h"
#if defined(__NPU_ARCH__) && __NPU_ARCH__ == 3510
#include "tests/twin/register_calls.h"
#endif

#endif
