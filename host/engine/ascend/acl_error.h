/* acl_error.h - AscendCL's error codes: their names, and what one does about them. */
#ifndef TDC_ASCEND_ACL_ERROR_H
#define TDC_ASCEND_ACL_ERROR_H

#include "host/engine/ascend/acl_table.h"
#include "host/engine/device/remedy.h"

/* "STREAM_SYNC_TIMEOUT"; "error" for codes without a name here. */
const char *tdc_acl_error_name(int code);
enum tdc_remedy tdc_acl_remedy_of(int code);
/* A wait ended before the work did: it may still be under way. */
bool tdc_acl_is_timeout(int code);

/* "aclrtMalloc: 207001 MEMORY_ALLOCATION (the library's own words)"; one line. */
void tdc_acl_describe(const struct tdc_acl *acl, const char *function, int code, char *text,
                      size_t size);

#endif
