#define TDC_DEFINES_ERRORS
#include "io/base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A message is one line whatever a hostile file name holds. */
static void flatten(char *message)
{
    for (; *message != '\0'; message++)
        if ((unsigned char)*message < 0x20 || *message == 0x7f)
            *message = ' ';
}

tdc_status tdc_fail(struct tdc_error *error, tdc_status status, const char *format, ...)
{
    if (error == NULL)
        return status;
    error->status = status;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    flatten(error->message);
    return status;
}

tdc_status tdc_fail_errno(struct tdc_error *error, tdc_status status, int number,
                          const char *format, ...)
{
    if (error == NULL)
        return status;
    error->status = status;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    size_t length = strlen(error->message);
    char reason[128] = "";
    /* POSIX allows strerror_r to fail for unknown numbers; the number itself then serves. */
#ifdef _GNU_SOURCE
    const char *text = strerror_r(number, reason, sizeof reason);
#else
    const char *text = strerror_r(number, reason, sizeof reason) == 0 ? reason : "unknown error";
#endif
    snprintf(error->message + length, sizeof error->message - length, ": %s", text);
    flatten(error->message);
    return status;
}

const char *tdc_status_text(tdc_status status)
{
    switch (status) {
    case TDC_OK:
        return "success";
    case TDC_ERR_MEMORY:
        return "out of memory";
    case TDC_ERR_ARGUMENT:
        return "wrong argument";
    case TDC_ERR_NOT_FOUND:
        return "not found";
    case TDC_ERR_READ:
        return "cannot be read";
    case TDC_ERR_CHANGED:
        return "changed while being read";
    case TDC_ERR_WRITE:
        return "cannot be written";
    case TDC_ERR_FORMAT:
        return "malformed content";
    case TDC_ERR_UNSUPPORTED:
        return "unsupported content";
    case TDC_ERR_REFUSED:
        return "refused content";
    case TDC_ERR_MISMATCH:
        return "dumps do not fit each other";
    case TDC_ERR_NOTHING:
        return "nothing to compare";
    case TDC_ERR_INTERRUPTED:
        return "interrupted";
    case TDC_ERR_SYSTEM:
        return "system error";
    case TDC_ERR_DEVICE:
        return "the device cannot be used";
    }
    return "unknown status";
}
