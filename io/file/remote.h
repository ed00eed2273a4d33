/* remote.h - files that come over a network. */
#ifndef TDC_IO_REMOTE_H
#define TDC_IO_REMOTE_H

#include <stdbool.h>

/* Whether what lies at a path comes over a network, or from a program (FUSE). */
bool tdc_is_remote(const char *path);
/* The same of a file system's number (tdc_file_system_type). */
bool tdc_is_remote_type(unsigned long type);

#endif
