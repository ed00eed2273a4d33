/* error.h - filling a struct tdc_error. */
#ifndef TDC_IO_ERROR_H
#define TDC_IO_ERROR_H

#include "tdcmp.h"

/* Stores status and the formatted one-line message (control characters become blanks); returns
 * status. */
tdc_status tdc_fail(struct tdc_error *error, tdc_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same for a failed system call: appends ": " and the text of errno. */
tdc_status tdc_fail_errno(struct tdc_error *error, tdc_status status, int number,
                          const char *format, ...) __attribute__((format(printf, 4, 5)));

/* An analyzer sees one file at a time: this tells it that the status given is the one returned. */
#if defined(__clang_analyzer__) && !defined(TDC_DEFINES_ERRORS)
#define tdc_fail(error, status, ...) ((void)tdc_fail(error, status, __VA_ARGS__), (status))
#define tdc_fail_errno(error, status, ...)                                                         \
    ((void)tdc_fail_errno(error, status, __VA_ARGS__), (status))
#endif

#endif
