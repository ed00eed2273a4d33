/*
 * acl_table.h - AscendCL, loaded at run time. No CANN is needed to build or to start.
 *
 * Everything of AscendCL is reached through one table of function pointers. The library is loaded
 * once per process and never unloaded: its threads outlive it otherwise.
 */
#ifndef TDC_ASCEND_ACL_TABLE_H
#define TDC_ASCEND_ACL_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/engine/device/runtime_library.h"

#define ACL_FN(required, result, name, arguments) result(*name) arguments;
#define ACL_CONST(name, value)
struct tdc_acl {
#include "host/engine/ascend/acl_functions.h"
};
#undef ACL_FN
#undef ACL_CONST

#define ACL_FN(required, result, name, arguments)
#define ACL_CONST(name, value) TDC_##name = value,
enum {
#include "host/engine/ascend/acl_functions.h"
};
#undef ACL_FN
#undef ACL_CONST

struct tdc_acl_library {
    struct tdc_runtime_library base;
    struct tdc_acl table;
};

/* Loads it on the first call; the same object ever after. From any thread. */
const struct tdc_acl_library *tdc_acl_load(void);

/* A symbol of the loaded library outside the table, for what a stand-in tells about itself; NULL
 * when there is none. */
void *tdc_acl_symbol(const char *name);

/* Where the library is looked for, one place after the other; NULL after the last. The text is
 * valid until the next call with the same buffer. */
const char *tdc_acl_place(unsigned index, char *buffer, size_t size);

#endif
