/* The kernels for one instruction set; the flags are in kernels/CMakeLists.txt. */
#if defined(__x86_64__)
#define KERNEL(name) name##_x86_64_v3
#include "kernels/cpu/pair_impl.h"
#endif
