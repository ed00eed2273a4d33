/* side_messages.c - what is said of dumps that cannot be found, by side, with the path that may
 * have been meant. */
#include <stdlib.h>
#include <string.h>

#include "host/cli/shared/command.h"
#include "host/terminal/nearest_path.h"

/* The message is about this path, not about one that begins like it. */
static bool is_about(const char *message, const char *path)
{
    size_t length = strlen(path);
    return strncmp(message, path, length) == 0 && message[length] == ':';
}

static void complain(const char *side, const char *message, char *meant)
{
    if (meant != NULL)
        tdc_complain("%s%s%s; did you mean %s?", side, side[0] != '\0' ? ": " : "", message, meant);
    else
        tdc_complain("%s%s%s", side, side[0] != '\0' ? ": " : "", message);
    free(meant);
}

static char *meant_by(const char *path)
{
    char *meant = tdc_nearest_path(path);
    return meant != NULL ? meant : tdc_dump_below(path);
}

void tdc_complain_of_dump(const char *path, const struct tdc_error *error)
{
    bool absent = error->status == TDC_ERR_NOT_FOUND && is_about(error->message, path);
    complain("", error->message, absent ? meant_by(path) : NULL);
}

void tdc_complain_of_sides(const char *test, const char *ref, const struct tdc_error *error)
{
    if (error->status == TDC_ERR_NOT_FOUND && is_about(error->message, test)) {
        complain("test", error->message, meant_by(test));
    } else if (error->status == TDC_ERR_NOT_FOUND && is_about(error->message, ref)) {
        complain("ref", error->message, meant_by(ref));
    } else if (error->status == TDC_ERR_NOTHING) {
        char *meant = tdc_counterpart(test, ref);
        complain("", error->message, meant != NULL ? meant : tdc_counterpart(ref, test));
    } else {
        complain("", error->message, NULL);
    }
}
