/* retry.h - system calls that a signal may interrupt. */
#ifndef TDC_IO_RETRY_H
#define TDC_IO_RETRY_H

#include <errno.h>

/* The value of a call that fails with -1, made again as long as it was only interrupted. */
#define TDC_RETRY(call)                                                                            \
    ({                                                                                             \
        __typeof__(call) tdc_retried;                                                              \
        do                                                                                         \
            tdc_retried = (call);                                                                  \
        while (tdc_retried == -1 && errno == EINTR);                                               \
        tdc_retried;                                                                               \
    })

#endif
