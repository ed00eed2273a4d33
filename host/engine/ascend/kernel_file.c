/* kernel_file.c - see kernel_file.h. */
#include "host/engine/ascend/kernel_file.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/engine/device/loader.h"
#include "io/platform/platform.h"

void tdc_soc_family(const char *soc, char *family, size_t size)
{
    static const char *const families[] = {"Ascend910B", "Ascend910_93", "Ascend950", "Ascend310P"};
    snprintf(family, size, "%s", soc);
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (strncmp(soc, families[i], strlen(families[i])) == 0)
            snprintf(family, size, "%s", families[i]);
}

/* The folder of the shared library or the program. */
static bool own_folder(char *folder, size_t size)
{
    char resolved[PATH_MAX];
    const char *name = tdc_loader_own_file();
    if (name == NULL)
        return false;
    /* a program may be known by the name it was called by alone */
    if (strchr(name, '/') == NULL)
        name = tdc_program_link();
    if (name == NULL || realpath(name, resolved) == NULL)
        return false;
    char *slash = strrchr(resolved, '/');
    *slash = '\0';
    int length = snprintf(folder, size, "%s", resolved);
    return length > 0 && (size_t)length < size;
}

static bool try_place(const char *base, const char *below, const char *soc, const char *name,
                      char *path, size_t size)
{
    int length = snprintf(path, size, "%s%s/%s/%s.o", base, below, soc, name);
    return length > 0 && (size_t)length < size && access(path, R_OK) == 0;
}

static bool try_socs(const char *base, const char *below, const char *soc, const char *name,
                     char *path, size_t size)
{
    char family[64];
    tdc_soc_family(soc, family, sizeof family);
    return try_place(base, below, soc, name, path, size) ||
           try_place(base, below, family, name, path, size);
}

bool tdc_kernel_file(const char *soc, const char *name, char *path, size_t size)
{
    /* relative to the library in lib or lib64, and to the program in bin */
    static const char *const below[] = {"/tdcmp/ascend", "/../lib/tdcmp/ascend",
                                        "/../lib64/tdcmp/ascend"};
    /* the name comes from the driver, but it becomes part of a path */
    if (strchr(soc, '/') != NULL)
        return false;
    const char *given = getenv("TDC_KERNELS");
    if (given != NULL && given[0] != '\0') {
        if (try_socs(given, "", soc, name, path, size))
            return true;
        try_place(given, "", soc, name, path, size);
        return false;
    }
    char folder[PATH_MAX];
    if (!own_folder(folder, sizeof folder))
        return false;
    for (size_t i = 0; i < sizeof below / sizeof *below; i++)
        if (try_socs(folder, below[i], soc, name, path, size))
            return true;
    try_place(folder, below[1], soc, name, path, size);
    return false;
}
