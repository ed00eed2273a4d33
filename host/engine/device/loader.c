#include "host/engine/device/loader.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

const char *tdc_loader_absent(void)
{
    return NULL;
}

void *tdc_loader_open(const char *place)
{
    return dlopen(place, RTLD_NOW | RTLD_LOCAL);
}

const char *tdc_loader_error(void)
{
    return dlerror();
}

void *tdc_loader_symbol(void *handle, const char *name)
{
    return dlsym(handle, name);
}

const char *tdc_loader_own_file(void)
{
    Dl_info info;
    const char *(*here)(void) = tdc_loader_own_file;
    void *address;
    memcpy(&address, &here, sizeof address);
    return dladdr(address, &info) != 0 ? info.dli_fname : NULL;
}
