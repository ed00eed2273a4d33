/*
 * acl_functions.h - the part of AscendCL that is used, one line a function, so that it can be
 * compared mechanically with the vendor's header.
 *
 * No include guard: the reader defines ACL_FN(required, result, name, arguments) and
 * ACL_CONST(name, value) and includes it. Handles are void *, aclError is int, enumerations int.
 */
/* clang-format off */
ACL_FN(1, int, aclInit, (const char *))
ACL_FN(1, int, aclFinalize, (void))
ACL_FN(0, int, aclFinalizeReference, (uint64_t *))
ACL_FN(1, int, aclrtGetDeviceCount, (uint32_t *))
ACL_FN(1, int, aclrtSetDevice, (int32_t))
ACL_FN(1, int, aclrtResetDevice, (int32_t))
ACL_FN(0, int, aclrtGetDevice, (int32_t *))
ACL_FN(0, int, aclrtGetDeviceInfo, (uint32_t, int, int64_t *))
ACL_FN(1, const char *, aclrtGetSocName, (void))
ACL_FN(0, const char *, aclGetRecentErrMsg, (void))
ACL_FN(1, int, aclrtGetMemInfo, (int, size_t *, size_t *))
ACL_FN(1, int, aclrtMalloc, (void **, size_t, int))
ACL_FN(1, int, aclrtFree, (void *))
ACL_FN(1, int, aclrtMallocHost, (void **, size_t))
ACL_FN(1, int, aclrtFreeHost, (void *))
ACL_FN(1, int, aclrtMemcpyAsync, (void *, size_t, const void *, size_t, int, void *))
ACL_FN(1, int, aclrtCreateStream, (void **))
ACL_FN(1, int, aclrtDestroyStream, (void *))
ACL_FN(1, int, aclrtSynchronizeStreamWithTimeout, (void *, int32_t))
ACL_FN(0, int, aclrtDestroyStreamForce, (void *))
ACL_FN(0, int, aclrtSetOpExecuteTimeOut, (uint32_t))
ACL_FN(0, int, aclrtSetOpExecuteTimeOutV2, (uint64_t, uint64_t *))
ACL_FN(1, int, aclrtCreateEvent, (void **))
ACL_FN(1, int, aclrtDestroyEvent, (void *))
ACL_FN(1, int, aclrtRecordEvent, (void *, void *))
ACL_FN(0, int, aclrtQueryEventStatus, (void *, int *))
ACL_FN(1, int, aclrtEventElapsedTime, (float *, void *, void *))
ACL_FN(0, int, aclrtBinaryLoadFromFile, (const char *, void *, void **))
ACL_FN(0, int, aclrtBinaryUnLoad, (void *))
ACL_FN(0, int, aclrtBinaryGetFunction, (const void *, const char *, void **))
ACL_FN(0, int, aclrtLaunchKernelWithHostArgs, (void *, uint32_t, void *, void *, void *, size_t, void *, size_t))

ACL_CONST(ACL_MEMCPY_HOST_TO_DEVICE, 1)
ACL_CONST(ACL_MEMCPY_DEVICE_TO_HOST, 2)
ACL_CONST(ACL_MEM_MALLOC_HUGE_FIRST, 0)
ACL_CONST(ACL_HBM_MEM, 1)
ACL_CONST(ACL_DEV_ATTR_VECTOR_CORE_NUM, 201)
ACL_CONST(ACL_EVENT_RECORDED_STATUS_COMPLETE, 1)
ACL_CONST(ACL_ERROR_REPEAT_INITIALIZE, 100002)
ACL_CONST(ACL_ERROR_COMPILING_STUB_MODE, 100039)
/* clang-format on */
