/* kernel_file.h - where the kernels of a SoC are installed, and whether one is fit to be loaded. */
#ifndef TDC_ASCEND_KERNEL_FILE_H
#define TDC_ASCEND_KERNEL_FILE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The file NAME.o for a SoC: below $TDC_KERNELS, or else beside the library or program, as
 * installed (../lib/tdcmp/ascend) or built. The exact SoC name is tried first (Ascend910B3), then
 * its family (Ascend910B). False: `path` holds the first place that was tried.
 */
bool tdc_kernel_file(const char *soc, const char *name, char *path, size_t size);

/*
 * True for an ELF file with relocations of what is loaded: the compiler's output, which the
 * vendor's builds link before it is a kernel; the runtime loads it, and it runs into nowhere. False
 * for everything else, also for files that are none: the runtime is to judge these.
 */
bool tdc_kernel_is_unlinked(const char *path);

/* The family of a SoC name: Ascend910B3 -> Ascend910B, Ascend910_9391 -> Ascend910_93,
 * Ascend950PR_9589 -> Ascend950. The name itself when it has none. */
void tdc_soc_family(const char *soc, char *family, size_t size);

#endif
