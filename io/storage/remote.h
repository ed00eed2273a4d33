/* remote.h - kinds of file systems that come over a network, or from a program (FUSE). */
#ifndef TDC_IO_REMOTE_H
#define TDC_IO_REMOTE_H

#include <stdbool.h>

/* By the number that statfs gives (tdc_file_system_type). */
bool tdc_is_remote_type(unsigned long type);
/* By the name in the table of mounts; also of those that are mounted when they are looked at. */
bool tdc_is_remote_name(const char *name);

#endif
