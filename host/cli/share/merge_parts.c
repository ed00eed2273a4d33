/* merge_parts.c - `tdcmp merge OUT`: the command that its parts are of, with nothing left to do. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/cli/share/sharing.h"
#include "io/base/error.h"
#include "io/storage/storage_calls.h"

static int run_command(char **words, int count, const char *folder)
{
    if (strcmp(words[1], "compare") == 0)
        return tdc_compare_merged(count - 1, words + 1, folder);
    if (strcmp(words[1], "precheck") == 0)
        return tdc_precheck_merged(count - 1, words + 1, folder);
    if (strcmp(words[1], "trace") == 0)
        return tdc_trace_merged(count - 1, words + 1, folder);
    tdc_complain("%s: parts of '%s', which is no command that has any", folder,
                 tdc_shown(words[1]));
    return TDC_EXIT_TROUBLE;
}

/* The words of the command, the caller's to change, as options are parsed in place. */
static char **copy_words(const tdc_parts *parts, int *count)
{
    size_t number = tdc_parts_words(parts);
    char **copies = calloc(number + 1, sizeof *copies);
    *count = (int)number;
    for (size_t i = 0; copies != NULL && i < number; i++)
        copies[i] = (char *)(uintptr_t)tdc_parts_word(parts, i);
    return copies;
}

int tdc_merge_parts(const char *folder)
{
    struct tdc_error error = {0};
    tdc_parts *parts = NULL;
    char *place;
    int number = tdc_storage_realpath(folder, &place);
    int code = TDC_EXIT_TROUBLE, count;
    if (number != 0) {
        tdc_fail_errno(&error, TDC_ERR_READ, number, "%s", tdc_shown(folder));
        tdc_complain("%s", error.message);
    } else if (tdc_parts_find(folder, &parts, &error) != TDC_OK) {
        tdc_complain("%s", error.message);
    } else if (chdir(tdc_parts_folder(parts)) != 0) {
        tdc_complain("the shards ran in %s, which cannot be entered: %s",
                     tdc_shown(tdc_parts_folder(parts)), strerror(errno));
    } else {
        char **words = copy_words(parts, &count);
        if (words != NULL && count > 1)
            code = run_command(words, count, place);
        else
            tdc_complain(words == NULL ? "out of memory" : "a part without a command");
        free(words);
    }
    tdc_parts_free(parts);
    free(place);
    return code;
}
