/* kernel_file.c - see kernel_file.h. */
#include "host/engine/ascend/kernel_file.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
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
    /* relative to the library in lib or lib64, to the program in bin, and in the build tree
     * (cmake/AscendKernels.cmake) */
    static const char *const below[] = {"/tdcmp/ascend", "/../lib/tdcmp/ascend",
                                        "/../lib64/tdcmp/ascend", "/../ascend/lib/tdcmp/ascend"};
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

/* ---- what is in it --------------------------------------------------------------------------- */

/* Kernels have a few dozen. */
#define MOST_SECTIONS 4096

static bool read_at(int file, uint64_t at, void *to, size_t size)
{
    return at <= INT64_MAX - size && pread(file, to, size, (off_t)at) == (ssize_t)size;
}

static bool section_at(int file, const Elf64_Ehdr *header, unsigned number, Elf64_Shdr *section)
{
    return number < header->e_shnum &&
           read_at(file, header->e_shoff + (uint64_t)number * sizeof *section, section,
                   sizeof *section);
}

static bool has_relocations(int file, const Elf64_Ehdr *header)
{
    for (unsigned i = 0; i < header->e_shnum && i < MOST_SECTIONS; i++) {
        Elf64_Shdr section, target;
        if (!section_at(file, header, i, &section))
            return false;
        if ((section.sh_type == SHT_RELA || section.sh_type == SHT_REL) && section.sh_size != 0 &&
            section_at(file, header, section.sh_info, &target) &&
            (target.sh_flags & SHF_ALLOC) != 0)
            return true;
    }
    return false;
}

bool tdc_kernel_is_unlinked(const char *path)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    Elf64_Ehdr header;
    bool elf = read_at(file, 0, &header, sizeof header) &&
               memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
               header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_shentsize == sizeof(Elf64_Shdr);
    bool unlinked = elf && has_relocations(file, &header);
    close(file);
    return unlinked;
}
