/* command_words.c - the command line as it was given, for the head of result files. */
#include <stdlib.h>
#include <string.h>

#include "host/cli/shared/command.h"

const char **tdc_command_words(int argc, char **argv)
{
    const char **words = calloc((size_t)argc + 1, sizeof *words);
    if (words == NULL) {
        tdc_complain("out of memory");
        return NULL;
    }
    words[0] = "tdcmp";
    for (int i = 0; i < argc; i++)
        words[i + 1] = argv[i];
    return words;
}
