/*
 * acl_runtime.h - AscendCL started once per process.
 *
 * aclInit is counted, and aclFinalize ends it for all: it is started by the first that needs it and
 * stays until tdc_acl_runtime_stop, which takes back our count. Where the runtime cannot do that
 * and somebody else in the process had started it (a training program), it is theirs to end. The
 * child of a fork cannot use what its parent started.
 */
#ifndef TDC_ASCEND_ACL_RUNTIME_H
#define TDC_ASCEND_ACL_RUNTIME_H

#include "host/engine/ascend/acl_error.h"
#include "tdcmp.h"

/* Loads and starts it. NULL when it cannot be used; error says why: TDC_ERR_NOT_FOUND when there is
 * no device or no driver, TDC_ERR_DEVICE when there is but it fails. */
const struct tdc_acl *tdc_acl_runtime_start(struct tdc_error *error);
/* True when it was not started by somebody else before: settings of the process are ours to make.
 */
bool tdc_acl_runtime_ours(void);
/* From now on tdc_acl_runtime_stop does nothing: work that cannot be ended is left to the end of
 * the process. From any thread. */
void tdc_acl_runtime_leave(void);
/* Ends what tdc_acl_runtime_start began; it cannot be started again after that. */
void tdc_acl_runtime_stop(void);

#endif
