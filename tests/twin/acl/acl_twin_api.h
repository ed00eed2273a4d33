/* acl_twin_api.h - AscendCL's functions as the twin exports them. */
#ifndef TDC_TESTS_ACL_TWIN_API_H
#define TDC_TESTS_ACL_TWIN_API_H

#include "tests/twin/acl/acl_twin.h"

#pragma GCC visibility push(default)
#define ACL_FN(required, result, name, arguments) result name arguments;
#define ACL_CONST(name, value)
#include "host/engine/ascend/acl_functions.h"
#undef ACL_FN
#undef ACL_CONST
size_t acl_twin_describe(char *text, size_t size);
#pragma GCC visibility pop

/* A stream of the calling thread's card; else a code. */
int twin_stream_of(void *handle, struct twin_stream **stream);

#endif
