/* runtime_library.c - see runtime_library.h. */
#include "host/engine/device/runtime_library.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/engine/device/loader.h"

/* dlopen tells "no such file" and "a dependency is missing" apart in its text alone: the text
 * names the file that could not be opened. */
static bool names_the_file_itself(const char *text, const char *place)
{
    return text != NULL && strncmp(text, place, strlen(place)) == 0 &&
           strstr(text, "No such file") != NULL;
}

static void keep_reason(struct tdc_runtime_library *library, enum tdc_runtime_state state,
                        const char *text)
{
    library->state = state;
    snprintf(library->reason, sizeof library->reason, "%s", text != NULL ? text : "unknown reason");
}

/* A library that is there but does not load is remembered as the reason, and the search goes on. */
static bool try_place(struct tdc_runtime_library *library, const char *place)
{
    library->handle = tdc_loader_open(place);
    if (library->handle != NULL) {
        library->state = TDC_RUNTIME_USABLE;
        snprintf(library->path, sizeof library->path, "%s", place);
        return true;
    }
    const char *text = tdc_loader_error();
    if (library->state == TDC_RUNTIME_NOT_FOUND && !names_the_file_itself(text, place))
        keep_reason(library, TDC_RUNTIME_BROKEN, text);
    return false;
}

bool tdc_runtime_open(struct tdc_runtime_library *library, const char *variable,
                      const char *const *places)
{
    const char *given = getenv(variable);
    *library = (struct tdc_runtime_library){0};
    if (tdc_loader_absent() != NULL) {
        keep_reason(library, TDC_RUNTIME_NO_LOADER, tdc_loader_absent());
        return false;
    }
    library->state = TDC_RUNTIME_NOT_FOUND;
    if (given != NULL && given[0] != '\0') {
        snprintf(library->reason, sizeof library->reason, "%s: no such file: %.500s", variable,
                 given);
        return try_place(library, given);
    }
    snprintf(library->reason, sizeof library->reason, "%s was not found", places[0]);
    for (; *places != NULL; places++)
        if (try_place(library, *places))
            return true;
    return false;
}

void tdc_runtime_resolve(struct tdc_runtime_library *library, bool required, const char *name,
                         void *slot)
{
    /* a function pointer as an object pointer: POSIX allows it for dlsym, C does not know it */
    void *symbol = tdc_loader_symbol(library->handle, name);
    memcpy(slot, &symbol, sizeof symbol);
    if (symbol == NULL && required && library->state == TDC_RUNTIME_USABLE) {
        library->state = TDC_RUNTIME_TOO_OLD;
        snprintf(library->reason, sizeof library->reason, "%.500s has no function %s",
                 library->path, name);
    }
}
