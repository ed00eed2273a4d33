/*
 * loader.h - shared libraries at run time, as dlopen has them. A program that is linked statically
 * brings other definitions along (host/standalone): it can load none.
 */
#ifndef TDC_DEVICE_LOADER_H
#define TDC_DEVICE_LOADER_H

/* Why this program can load no library at all; NULL where it can. */
const char *tdc_loader_absent(void);
/* NULL with the reason in tdc_loader_error. */
void *tdc_loader_open(const char *place);
const char *tdc_loader_error(void);
void *tdc_loader_symbol(void *handle, const char *name);
/* The file this code is in: the shared library or the program, as it was called; NULL if unknown.
 */
const char *tdc_loader_own_file(void);

#endif
