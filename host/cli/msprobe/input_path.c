#include "host/cli/msprobe/input_path.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "host/cli/msprobe/msprobe_log.h"
#include "io/storage/looking.h"
#include "io/storage/storage_calls.h"
#include "tdcmp.h"

static bool refuse(const char *format, const char *path, const char *what)
{
    char text[4352];
    snprintf(text, sizeof text, format, path, what);
    tdc_msprobe_log(NULL, TDC_MESSAGE_ERROR, text);
    return false;
}

bool tdc_msprobe_input(const char *path, bool folder, const char *suffix)
{
    struct stat info;
    if (tdc_storage_stat(path, &info) != 0)
        return refuse("The file path %s does not exist.%s", path, "");
    if (folder ? !S_ISDIR(info.st_mode) : !S_ISREG(info.st_mode))
        return refuse("The %s should be a %s!", path, folder ? "dictionary" : "file");
    size_t length = strlen(path), tail = suffix != NULL ? strlen(suffix) : 0;
    if (length < tail || (tail != 0 && strcmp(path + length - tail, suffix) != 0))
        return refuse("%s should be one of the following types of files: ['%s']!", path, suffix);
    return true;
}

bool tdc_msprobe_absent(const char *path)
{
    return !tdc_is_there(path) || refuse("The file path %s already exist.%s", path, "");
}
