/* loader_none.c - loader.h without libraries: a static program would need the very C library that
 * it was linked with beside it, and AscendCL another one of its own. */
#include <stddef.h>

#include "host/engine/device/loader.h"

static const char reason[] =
    "this is the static program, which can load no AscendCL: cards need the "
    "one that `cmake --install` or the .deb installs";

/* What OpenMP's runtime, which would look for accelerators of its own, calls for dlopen: the linker
 * is told so. */
/* NOLINTNEXTLINE(bugprone-reserved-identifier): the linker makes the name */
void *__wrap_dlopen(const char *place, int flags);
/* NOLINTNEXTLINE(bugprone-reserved-identifier) */
void *__wrap_dlopen(const char *place, int flags)
{
    (void)place;
    (void)flags;
    return NULL;
}

const char *tdc_loader_absent(void)
{
    return reason;
}

void *tdc_loader_open(const char *place)
{
    (void)place;
    return NULL;
}

const char *tdc_loader_error(void)
{
    return reason;
}

void *tdc_loader_symbol(void *handle, const char *name)
{
    (void)handle;
    (void)name;
    return NULL;
}

const char *tdc_loader_own_file(void)
{
    return NULL;
}
