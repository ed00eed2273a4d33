/* cl_shim.h - what a test tells the library that lets calls of OpenCL fail. */
#ifndef TDC_TESTS_CL_SHIM_H
#define TDC_TESTS_CL_SHIM_H

#define SHIM_EXPORT __attribute__((visibility("default")))

/* The n-th call from now on fails with a code; 0: none does. */
SHIM_EXPORT void cl_shim_arm(long call, int code);
/* Since then. */
SHIM_EXPORT long cl_shim_calls(void);
/* The function that was made to fail, or NULL. */
SHIM_EXPORT const char *cl_shim_failed(void);
/* 1: what is enqueued from now on never ends; 2: but for markers in queues that do not hang; 0. */
SHIM_EXPORT void cl_shim_hang(int on);
/* Objects (but events) that are made and not released. */
SHIM_EXPORT long cl_shim_live(void);

#endif
