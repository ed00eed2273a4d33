/*
 * cuda_twin.h - a stand-in for the CUDA driver and NVRTC that runs kernels/gpu on this processor.
 *
 * Streams do nothing until they have been asked for twice, so that whoever touches a staging too
 * early is found out; CUDA_TWIN_FAIL=n:code lets the n-th call fail, CUDA_TWIN_WRONG=1 all kernels
 * compute wrongly; device addresses are none of the host's; every call wants a context. What a
 * driver would not forgive ends the process with a line.
 */
#ifndef TDC_TESTS_CUDA_TWIN_H
#define TDC_TESTS_CUDA_TWIN_H

#define TWIN_EXPORT __attribute__((visibility("default")))

/* The n-th call from now on fails with a code; 0: none does. */
TWIN_EXPORT void cuda_twin_arm(long call, int code);
TWIN_EXPORT long cuda_twin_calls(void);
TWIN_EXPORT const char *cuda_twin_failed(void);
/* Contexts, modules, memory, streams, events, programs that are made and not given back. */
TWIN_EXPORT long cuda_twin_live(void);

/* What kernels do wrong. */
enum {
    CUDA_TWIN_RIGHT,
    CUDA_TWIN_WRONG, /* a digit of one lane of one sum is off */
    CUDA_TWIN_HANG,  /* streams never end */
    CUDA_TWIN_OLD    /* PTX of the build is refused, as by an old driver; NVRTC's is not */
};
TWIN_EXPORT void cuda_twin_behave(int how);

#endif
