/*
 * patient_read.h - bytes of remote files, read into memory that goes with the read.
 *
 * A read that is not answered keeps its memory. The memory is a block of fresh pages whose last
 * TDC_READ_EXTRA bytes serve the read itself, so that beginning one takes no other memory.
 */
#ifndef TDC_IO_PATIENT_READ_H
#define TDC_IO_PATIENT_READ_H

#include <stddef.h>
#include <sys/types.h>

#define TDC_READ_EXTRA ((size_t)4096)

/* Begins to read `want` bytes into a block of room + TDC_READ_EXTRA bytes from mmap. Several may be
 * under way, each with a block of its own. */
void tdc_read_begin(int descriptor, off_t offset, size_t want, void *block, size_t room);
/* Waits. 0 with the bytes read, fewer at the end of the file; or a number of errno or patience.h.
 * *kept is false when the block is not the caller's any more. */
int tdc_read_end(void *block, size_t room, size_t *got, _Bool *kept);

/* pread, all of it, fewer bytes at the end of the file: for a thread that serves nothing else. */
int tdc_read_plainly(int descriptor, char *to, size_t size, off_t offset, size_t *got);

/* A whole range into memory of the caller, a call after the other; fewer bytes at the end of the
 * file. On local storage it is pread. */
int tdc_storage_read(int descriptor, void *to, size_t size, off_t offset, size_t *got);

#endif
