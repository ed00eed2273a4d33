#include "host/cli/msprobe/msprobe_log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "host/cli/shared/command.h"

/* 0 debug, 1 info, 2 warning, 3 error, 4 silent */
static int lowest_level(void)
{
    const char *wanted = getenv("MSPROBE_LOG_LEVEL");
    if (wanted == NULL || wanted[0] < '0' || wanted[0] > '4' || wanted[1] != '\0')
        return 1;
    return wanted[0] - '0';
}

/* Length of what is replaced at `at`: a control character, raw or as %0a; 0 for anything else. */
static size_t unsafe_length(const char *at)
{
    static const char *const escapes[] = {"%08", "%0a", "%0b", "%0c", "%0d", "%7f"};
    if (*at != '\0' && strchr("\n\r\t\b\f\v\x7f", *at) != NULL)
        return 1;
    for (size_t i = 0; i < sizeof escapes / sizeof *escapes; i++)
        if (strncasecmp(at, escapes[i], 3) == 0)
            return 3;
    return 0;
}

void tdc_msprobe_log(void *context, tdc_message_level level, const char *text)
{
    (void)context;
    static const char *const labels[] = {[TDC_MESSAGE_INFO] = "INFO",
                                         [TDC_MESSAGE_WARNING] = "WARNING",
                                         [TDC_MESSAGE_ERROR] = "ERROR"};
    if ((int)level + 1 < lowest_level())
        return;
    char stamp[32];
    time_t now = time(NULL);
    struct tm local;
    localtime_r(&now, &local);
    strftime(stamp, sizeof stamp, "%Y-%m-%d %H:%M:%S", &local);
    printf("%s (%d) [%s] ", stamp, (int)getpid(), labels[level]);
    char *line = strdup(text), *to = line;
    for (size_t unsafe; to != NULL && *text != '\0'; text += unsafe != 0 ? unsafe : 1) {
        unsafe = unsafe_length(text);
        *to++ = unsafe != 0 ? '_' : *text;
    }
    if (to != NULL)
        *to = '\0';
    /* what msprobe lets pass and a terminal would obey */
    tdc_show(stdout, line != NULL ? line : "(out of memory)");
    putchar('\n');
    free(line);
}
