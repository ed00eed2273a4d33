/* The kernels for one instruction set; the flags are in kernels/CMakeLists.txt. */
#define KERNEL(name) name##_baseline
#include "kernels/cpu/pair_impl.h"
