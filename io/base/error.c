#define TDC_DEFINES_ERRORS
#include "io/base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "io/storage/fetched_map.h"
#include "io/storage/patience.h"

/* A message is one line whatever a hostile file name holds. */
static void flatten(char *message)
{
    for (; *message != '\0'; message++)
        if ((unsigned char)*message < 0x20 || *message == 0x7f)
            *message = ' ';
}

static void add_reason(struct tdc_error *error, int number)
{
    size_t length = strlen(error->message);
    char reason[128] = "";
    const char *text = tdc_patience_text(number, reason, sizeof reason);
    if (text != NULL)
        error->status = TDC_ERR_NO_ANSWER;
    else
    /* POSIX allows strerror_r to fail for unknown numbers; the number itself then serves. */
#ifdef _GNU_SOURCE
        text = strerror_r(number, reason, sizeof reason);
#else
        text = strerror_r(number, reason, sizeof reason) == 0 ? reason : "unknown error";
#endif
    snprintf(error->message + length, sizeof error->message - length, ": %s", text);
}

/* A guarded read that ended because storage failed looks to its maker like a file that shrank: what
 * was the matter takes the place of those words, behind the name of the file. */
static void correct_reason(struct tdc_error *error)
{
    int number = tdc_fetch_failure();
    if (error->status != TDC_ERR_CHANGED || number == 0)
        return;
    char *colon = strrchr(error->message, ':');
    if (colon != NULL)
        *colon = '\0';
    error->status = TDC_ERR_READ;
    add_reason(error, number);
    tdc_fetch_failure_set(0);
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
    correct_reason(error);
    flatten(error->message);
    return error->status;
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
    add_reason(error, number);
    flatten(error->message);
    return error->status;
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
    case TDC_ERR_NO_ANSWER:
        return "no answer from storage";
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
