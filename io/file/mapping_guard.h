/*
 * mapping_guard.h - reading mapped files that may shrink under our feet.
 *
 * A mapped page beyond the end of a file that was truncated raises SIGBUS. Inside tdc_guarded_read
 * that signal ends the read with `false` and not the process. Files on remote storage are not
 * mapped but fetched when they are touched (io/storage/fetched_map.h), by SIGSEGV: what is not
 * answered ends the read as well, and the TDC_ERR_CHANGED that is made of it tells why. Signals
 * raised elsewhere go to the handler that was there before.
 */
#ifndef TDC_IO_MAPPING_GUARD_H
#define TDC_IO_MAPPING_GUARD_H

#include <stdbool.h>

/* Nested begin/end pairs are counted; the old handler returns with the last end. */
bool tdc_guard_begin(void);
void tdc_guard_end(void);

/*
 * Runs read(argument) and returns true, or returns false if a mapped page had vanished. `read` must
 * hold no lock and own no memory while it touches the map, because it may not return. May be called
 * from any number of threads at once; does not nest.
 */
bool tdc_guarded_read(void (*read)(void *), void *argument);

#endif
