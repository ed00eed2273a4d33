/*
 * runtime_library.h - the runtime of a family of devices, loaded when it is wanted: nothing of it
 * is needed to build or to start. It is loaded once per process and never unloaded, as its threads
 * may outlive it otherwise.
 */
#ifndef TDC_DEVICE_RUNTIME_LIBRARY_H
#define TDC_DEVICE_RUNTIME_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

enum tdc_runtime_state {
    TDC_RUNTIME_USABLE,
    TDC_RUNTIME_NOT_FOUND, /* no file of that name anywhere */
    TDC_RUNTIME_BROKEN,    /* found, but it does not load: typically the driver is missing */
    TDC_RUNTIME_TOO_OLD,   /* loads, but functions are missing */
    TDC_RUNTIME_NO_LOADER  /* this program can load nothing */
};

struct tdc_runtime_library {
    enum tdc_runtime_state state;
    void *handle;
    char path[512];    /* what was loaded */
    char reason[1024]; /* one line: why it is not usable */
};

/*
 * Loads the first of `places` that can be loaded, or what the environment variable names and
 * nothing else. `places` ends with NULL. True when it is loaded; its functions are still to be
 * resolved.
 */
bool tdc_runtime_open(struct tdc_runtime_library *library, const char *variable,
                      const char *const *places);

/* The address of a function into *slot, a pointer to a function. A missing one that is required
 * makes the library too old. */
void tdc_runtime_resolve(struct tdc_runtime_library *library, bool required, const char *name,
                         void *slot);

#endif
