/* saved_pickle.h - the pickle of a saved state as a tree. */
#ifndef TDC_IO_SAVED_PICKLE_H
#define TDC_IO_SAVED_PICKLE_H

#include "io/tensor/pickle/saved_state.h"

/* Reads one pickle; texts stay where they are in bytes. Everything else is in the arena. The root
 * may refer to itself: whoever walks it bounds the depth. */
tdc_status tdc_saved_pickle(const unsigned char *bytes, size_t size, const char *file,
                            struct tdc_arena *arena, struct tdc_saved **root,
                            struct tdc_error *error);

#endif
