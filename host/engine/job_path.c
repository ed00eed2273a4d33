#include "host/engine/job_path.h"

#include <stdbool.h>
#include <string.h>

#include "io/base/error.h"
#include "io/base/utf8_step.h"

/* By an absolute path, or a part that goes up. */
static bool leaves_folder(const char *name)
{
    for (const char *part = name; part != NULL;) {
        const char *end = strchr(part, '/');
        size_t length = end != NULL ? (size_t)(end - part) : strlen(part);
        if ((length == 0 && end != NULL) || (length == 2 && memcmp(part, "..", 2) == 0))
            return true;
        part = end != NULL ? end + 1 : NULL;
    }
    return false;
}

const char *tdc_job_path(struct tdc_text *path, const char *folder, const char *name,
                         struct tdc_error *error)
{
    if (leaves_folder(name)) {
        tdc_fail(error, TDC_ERR_REFUSED, "%s: a data_name must not leave its folder", name);
        return NULL;
    }
    if (strstr(name, TDC_UTF8_NUL) != NULL) {
        tdc_fail(error, TDC_ERR_REFUSED, "%s: no file name holds a NUL", name);
        return NULL;
    }
    if (folder == NULL) {
        tdc_fail(error, TDC_ERR_NOT_FOUND,
                 "%.200s: the dump is in memory and has no folder of tensors", name);
        return NULL;
    }
    tdc_text_clear(path);
    if (strlen(folder) + strlen(name) > path->limit / 2) {
        tdc_fail(error, TDC_ERR_NOT_FOUND, "%.200s: a name that long no file has", name);
        return NULL;
    }
    tdc_text_adds(path, folder);
    tdc_text_addc(path, '/');
    tdc_text_adds(path, name);
    if (path->failed) {
        tdc_fail(error, TDC_ERR_MEMORY, "%.200s: out of memory", name);
        return NULL;
    }
    return tdc_text_get(path);
}
