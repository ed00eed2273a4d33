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

/* dlopen tells "no such file" and "a dependency is missing" apart in its text alone: the text
 * names the file that could not be opened. */
static bool names_the_file_itself(const char *text, const char *place)
{
    return text != NULL && strncmp(text, place, strlen(place)) == 0 &&
           strstr(text, "No such file") != NULL;
}

static void keep_reason(enum tdc_acl_state state, const char *text)
{
    library.state = state;
    snprintf(library.reason, sizeof library.reason, "%s", text != NULL ? text : "unknown reason");
}

/* The first place that loads. A library that is there but does not load is remembered as the
 * reason, and the search goes on. */
static void *open_library(void)
{
    char place[sizeof library.path];
    if (tdc_loader_absent() != NULL) {
        keep_reason(TDC_ACL_NO_LOADER, tdc_loader_absent());
        return NULL;
    }
    keep_reason(TDC_ACL_NOT_FOUND, "neither libacl_rt.so nor libascendcl.so was found");
    for (unsigned i = 0; tdc_acl_place(i, place, sizeof place) != NULL; i++) {
        void *handle = tdc_loader_open(place);
        if (handle != NULL) {
            memcpy(library.path, place, sizeof place);
            return handle;
        }
        const char *text = tdc_loader_error();
        if (library.state == TDC_ACL_NOT_FOUND && !names_the_file_itself(text, place))
            keep_reason(TDC_ACL_BROKEN, text);
    }
    const char *given = variable_value("TDC_ACL_LIBRARY");
    if (given != NULL && library.state == TDC_ACL_NOT_FOUND)
        snprintf(library.reason, sizeof library.reason, "TDC_ACL_LIBRARY: no such file: %.500s",
                 given);
    return NULL;
}

/* A function pointer as an object pointer: POSIX allows it for dlsym, C does not know it. */
static bool resolve(void *handle, bool required, const char *name, void *slot)
{
    void *symbol = tdc_loader_symbol(handle, name);
    memcpy(slot, &symbol, sizeof symbol);
    if (symbol == NULL && required && library.state == TDC_ACL_USABLE) {
        library.state = TDC_ACL_TOO_OLD;
        snprintf(library.reason, sizeof library.reason, "%.500s has no function %s", library.path,
                 name);
    }
    return symbol != NULL;
}

static void load(void)
{
    void *handle = open_library();
    if (handle == NULL)
        return;
    library.handle = handle;
    library.state = TDC_ACL_USABLE;
#define ACL_FN(required, result, name, arguments)                                                  \
    resolve(handle, required, #name, &library.table.name);
#define ACL_CONST(name, value)
#include "host/engine/ascend/acl_functions.h"
#undef ACL_FN
#undef ACL_CONST
    const struct tdc_acl *acl = &library.table;
    if (library.state == TDC_ACL_USABLE &&
        (acl->aclrtBinaryLoadFromFile == NULL || acl->aclrtBinaryUnLoad == NULL ||
         acl->aclrtBinaryGetFunction == NULL || acl->aclrtLaunchKernelWithHostArgs == NULL)) {
        library.state = TDC_ACL_TOO_OLD;
        snprintf(library.reason, sizeof library.reason,
                 "%.500s cannot launch kernels from files: tdcmp needs CANN 8.5 or newer",
                 library.path);
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
    return acl->handle != NULL ? tdc_loader_symbol(acl->handle, name) : NULL;
}
