#include "host/terminal/colour.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static enum {
    COLOUR_AUTO,
    COLOUR_ALWAYS,
    COLOUR_NEVER
} chosen;

bool tdc_choose_colour(const char *name)
{
    if (strcmp(name, "auto") == 0)
        chosen = COLOUR_AUTO;
    else if (strcmp(name, "always") == 0)
        chosen = COLOUR_ALWAYS;
    else if (strcmp(name, "never") == 0)
        chosen = COLOUR_NEVER;
    else
        return false;
    return true;
}

bool tdc_coloured(int descriptor)
{
    if (chosen != COLOUR_AUTO)
        return chosen == COLOUR_ALWAYS;
    const char *refused = getenv("NO_COLOR"), *kind = getenv("TERM");
    return isatty(descriptor) && (refused == NULL || refused[0] == '\0') &&
           (kind == NULL || strcmp(kind, "dumb") != 0);
}
