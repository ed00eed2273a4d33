/*
 * acl_more_functions.h - functions of AscendCL which the twin has and the backend does without.
 *
 * Read like host/engine/ascend/acl_functions.h.
 */
/* clang-format off */
ACL_FN(1, int, aclrtSynchronizeStream, (void *))
ACL_FN(1, int, aclrtSynchronizeEvent, (void *))
ACL_FN(0, int, aclrtHostRegister, (void *, uint64_t, int, void **))
ACL_FN(0, int, aclrtHostRegisterV2, (void *, uint64_t, uint32_t))
ACL_FN(0, int, aclrtHostUnregister, (void *))
ACL_FN(1, int, aclrtMemcpy, (void *, size_t, const void *, size_t, int))
ACL_FN(1, int, aclrtMemsetAsync, (void *, size_t, int32_t, size_t, void *))
ACL_FN(1, int, aclrtStreamWaitEvent, (void *, void *))
ACL_FN(0, int, aclrtCreateEventExWithFlag, (void **, uint32_t))
ACL_FN(0, int, aclrtLaunchKernel, (void *, uint32_t, const void *, size_t, void *))
/* clang-format on */
