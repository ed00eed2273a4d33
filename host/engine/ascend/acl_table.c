/* acl_table.c - finding and loading AscendCL. */
#include "host/engine/ascend/acl_table.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/engine/device/loader.h"

static struct tdc_acl_library library;
static pthread_once_t loaded = PTHREAD_ONCE_INIT;

/* ---- places ---------------------------------------------------------------------------------- */

/* libacl_rt.so since CANN 8.5; libascendcl.so before, and as an optional wrapper later. */
static const char *const names[] = {"libacl_rt.so", "libascendcl.so"};

static const struct {
    const char *variable; /* or NULL */
    const char *folder;   /* below the variable's value, or absolute */
} folders[] = {
    {NULL, ""}, /* the bare name: LD_LIBRARY_PATH of set_env.sh */
    {"ASCEND_HOME_PATH", "/lib64/"},
    {"ASCEND_TOOLKIT_HOME", "/lib64/"},
    {NULL, "/usr/local/Ascend/cann/lib64/"},
    {NULL, "/usr/local/Ascend/ascend-toolkit/latest/lib64/"},
};

enum {
    NAMES = sizeof names / sizeof *names,
    FOLDERS = sizeof folders / sizeof *folders
};

static const char *variable_value(const char *name)
{
    const char *value = getenv(name);
    return value != NULL && value[0] != '\0' ? value : NULL;
}

const char *tdc_acl_place(unsigned index, char *buffer, size_t size)
{
    const char *given = variable_value("TDC_ACL_LIBRARY");
    if (given != NULL) {
        snprintf(buffer, size, "%s", given);
        return index == 0 ? buffer : NULL;
    }
    for (unsigned i = 0; i < NAMES * FOLDERS; i++) {
        const char *variable = folders[i % FOLDERS].variable, *base = "";
        if (variable != NULL && (base = variable_value(variable)) == NULL)
            continue;
        if (index-- != 0)
            continue;
        snprintf(buffer, size, "%s%s%s", base, folders[i % FOLDERS].folder, names[i / FOLDERS]);
        return buffer;
    }
    return NULL;
}

/* ---- loading --------------------------------------------------------------------------------- */

static void load(void)
{
    static char texts[NAMES * FOLDERS][sizeof library.base.path];
    const char *places[NAMES * FOLDERS + 1] = {NULL};
    struct tdc_runtime_library *base = &library.base;
    for (unsigned i = 0; i < NAMES * FOLDERS; i++)
        places[i] = tdc_acl_place(i, texts[i], sizeof texts[i]);
    bool opened = tdc_runtime_open(base, "TDC_ACL_LIBRARY", places);
    if (base->state == TDC_RUNTIME_NOT_FOUND && variable_value("TDC_ACL_LIBRARY") == NULL)
        snprintf(base->reason, sizeof base->reason,
                 "neither libacl_rt.so nor libascendcl.so was found");
    if (!opened)
        return;
#define ACL_FN(required, result, name, arguments)                                                  \
    tdc_runtime_resolve(base, required, #name, &library.table.name);
#define ACL_CONST(name, value)
#include "host/engine/ascend/acl_functions.h"
#undef ACL_FN
#undef ACL_CONST
    const struct tdc_acl *acl = &library.table;
    if (base->state == TDC_RUNTIME_USABLE &&
        (acl->aclrtBinaryLoadFromFile == NULL || acl->aclrtBinaryUnLoad == NULL ||
         acl->aclrtBinaryGetFunction == NULL || acl->aclrtLaunchKernelWithHostArgs == NULL)) {
        base->state = TDC_RUNTIME_TOO_OLD;
        snprintf(base->reason, sizeof base->reason,
                 "%.500s cannot launch kernels from files: tdcmp needs CANN 8.5 or newer",
                 base->path);
    }
}

const struct tdc_acl_library *tdc_acl_load(void)
{
    pthread_once(&loaded, load);
    return &library;
}

void *tdc_acl_symbol(const char *name)
{
    const struct tdc_acl_library *acl = tdc_acl_load();
    return acl->base.handle != NULL ? tdc_loader_symbol(acl->base.handle, name) : NULL;
}
