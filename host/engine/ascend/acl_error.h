/* acl_error.h - AscendCL's error codes: their names, and what one does about them. */
#ifndef TDC_ASCEND_ACL_ERROR_H
#define TDC_ASCEND_ACL_ERROR_H

#include "host/engine/ascend/acl_table.h"

enum tdc_acl_remedy {
    TDC_ACL_NO_DEVICE,    /* there is none of that number, or only a stub library */
    TDC_ACL_LESS_MEMORY,  /* try with fewer slots, then do without */
    TDC_ACL_CHUNK_ON_CPU, /* this piece of work is done by the CPU, the device goes on */
    TDC_ACL_WRONG_KERNEL, /* the binary was built for another product */
    TDC_ACL_GIVE_UP       /* the device is not used again in this run */
};

/* "STREAM_SYNC_TIMEOUT"; "error" for codes without a name here. */
const char *tdc_acl_error_name(int code);
enum tdc_acl_remedy tdc_acl_remedy_of(int code);
/* A wait ended before the work did: it may still be under way. */
bool tdc_acl_is_timeout(int code);

/* "aclrtMalloc: 207001 MEMORY_ALLOCATION (the library's own words)"; one line. */
void tdc_acl_describe(const struct tdc_acl *acl, const char *function, int code, char *text,
                      size_t size);

#endif
