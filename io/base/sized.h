/*
 * sized.h - structs of the interface that begin with their size, as their caller knows it.
 *
 * A program may have been built with an older or newer header: members are added at the end.
 */
#ifndef TDC_IO_SIZED_H
#define TDC_IO_SIZED_H

#include "tdcmp.h"

/* The defaults into a caller's struct of `size` bytes; what this library does not know is 0. */
void tdc_sized_init(void *target, size_t size, const void *defaults, size_t known);

/*
 * A caller's struct over the defaults in `whole`, of which `known` bytes exist here; the size in
 * front becomes that. TDC_ERR_ARGUMENT when it has less than `least` bytes, as one has that `init`
 * was not called for, or when a member that is not known here is set.
 */
tdc_status tdc_sized_read(const void *given, size_t least, void *whole, size_t known,
                          const char *init, struct tdc_error *error);

/* A result into a caller's struct of `size` bytes, the same way as tdc_sized_init. */
static inline void tdc_sized_give(void *target, size_t size, const void *result, size_t known)
{
    tdc_sized_init(target, size, result, known);
}

#endif
