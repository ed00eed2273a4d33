/* acl_twin_api.h - AscendCL's functions as the twin exports them. */
#ifndef TDC_TESTS_ACL_TWIN_API_H
#define TDC_TESTS_ACL_TWIN_API_H

#include "tests/twin/acl/acl_twin.h"

#pragma GCC visibility push(default)
#define ACL_FN(required, result, name, arguments) result name arguments;
#define ACL_CONST(name, value)
#include "host/engine/ascend/acl_functions.h"
#include "tests/twin/acl/acl_more_functions.h"
#undef ACL_FN
#undef ACL_CONST
size_t acl_twin_describe(char *text, size_t size);
/* Of the time from the first to the last copy to a card since it was asked before, the part in
 * which one was under way. */
double acl_twin_link(void);
#pragma GCC visibility pop

/* A stream of the calling thread's card; else a code. */
int twin_stream_of(void *handle, struct twin_stream **stream);

#define TWIN_EVENT_SYNC 1u
#define TWIN_EVENT_TIME 8u
/* In the current context; a code when there is none. */
int twin_event_new(uint32_t flags, void **made);
struct twin_event *twin_event_of(const void *handle);

/* Arguments on the device are looked at when the kernel runs. */
int twin_queue_kernel(struct twin_stream *stream, void *function, uint32_t blocks,
                      const void *arguments, size_t size, int deferred, bool on_device);
/* Every pointer must lie in one live allocation of the card, with room for all tiles. */
int twin_check_arguments(const char *kernel, const uint64_t *words, int device);

#endif
