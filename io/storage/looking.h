/*
 * looking.h - what a path is, with patience.
 *
 * What does not answer is not there: whoever opens it is told why.
 */
#ifndef TDC_IO_LOOKING_H
#define TDC_IO_LOOKING_H

#include <stdbool.h>
#include <stddef.h>

/* Links are followed. */
bool tdc_is_file(const char *path);
bool tdc_is_folder(const char *path);
bool tdc_is_there(const char *path);
/* Of the path itself: a link that leads nowhere is taken, too. */
bool tdc_is_taken(const char *path);
bool tdc_is_link(const char *path);
bool tdc_is_readable(const char *path);

/* Without links, to be freed; NULL where it is not there, and for want of memory. */
char *tdc_real_path(const char *path);

/* Up to `size` bytes of a file's beginning; false where it cannot be read. */
bool tdc_first_bytes(const char *path, char *bytes, size_t size, size_t *got);

#endif
