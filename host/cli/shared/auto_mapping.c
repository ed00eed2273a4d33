/* auto_mapping.c - `--layer-mapping=auto`: the pairs that --suggest would propose, applied. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/cli/shared/command.h"

bool tdc_mapping_is_auto(const struct tdc_options *options)
{
    const struct tdc_mapping *mapping = &options->layer_mapping;
    return mapping->use && mapping->file != NULL && strcmp(mapping->file, "auto") == 0;
}

static size_t count_lines(const char *yaml)
{
    size_t lines = 0; /* of names: those that are indented */
    for (const char *at = yaml; at != NULL && *at != '\0'; at = strchr(at, '\n')) {
        at += *at == '\n';
        lines += *at == ' ';
    }
    return lines;
}

/* Mappings are read from files. The name is to be freed; NULL with *error set. */
static char *write_yaml(const char *yaml, struct tdc_error *error)
{
    const char *folder = getenv("TMPDIR");
    char *path = NULL;
    if (asprintf(&path, "%s/tdcmp-XXXXXX", folder != NULL && folder[0] != '\0' ? folder : "/tmp") <
        0)
        path = NULL;
    int fd = path != NULL ? mkstemp(path) : -1;
    FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
    bool written = file != NULL && fputs(yaml, file) >= 0;
    int number = errno;
    if (file != NULL)
        written &= fclose(file) == 0;
    else if (fd >= 0)
        close(fd);
    if (written)
        return path;
    if (fd >= 0)
        unlink(path);
    snprintf(error->message, sizeof error->message, "a layer mapping cannot be written: %s",
             strerror(number));
    error->status = TDC_ERR_WRITE;
    free(path);
    return NULL;
}

/* What was found is said: a mapping that was guessed is to be looked at. */
static void say(const struct tdc_options *options, size_t names, size_t lonely)
{
    char text[160];
    if (options->message == NULL)
        return;
    if (names == 0)
        snprintf(text, sizeof text,
                 "--layer-mapping=auto: no name could be suggested; %zu rows have no partner",
                 lonely);
    else
        snprintf(text, sizeof text,
                 "--layer-mapping=auto: %zu name%s paired by shape and place (tdcmp match "
                 "--suggest lists them)",
                 names, names == 1 ? "" : "s");
    options->message(options->context, TDC_MESSAGE_INFO, text);
}

static size_t count_lonely(const tdc_match *match)
{
    size_t lonely = 0;
    for (size_t i = 0; i < tdc_match_pairs(match); i++) {
        size_t npu, bench;
        tdc_match_pair(match, i, &npu, &bench);
        lonely += npu == TDC_NO_RECORD || bench == TDC_NO_RECORD;
    }
    return lonely;
}

tdc_status tdc_match_dumps(const tdc_dump *npu, const tdc_dump *bench,
                           const struct tdc_options *options, tdc_match **match,
                           struct tdc_error *error)
{
    struct tdc_options whole = *options;
    if (!tdc_mapping_is_auto(options))
        return tdc_match_new(npu, bench, options, match, error);
    whole.layer_mapping.file = NULL;
    tdc_status status = tdc_match_new(npu, bench, &whole, match, error);
    if (status != TDC_OK)
        return status;
    const char *yaml = tdc_match_suggest(*match, error);
    if (yaml == NULL)
        return error->status;
    size_t names = count_lines(yaml);
    say(options, names, count_lonely(*match));
    if (names == 0)
        return TDC_OK;
    char *path = write_yaml(yaml, error);
    if (path == NULL)
        return error->status;
    tdc_match_free(*match);
    *match = NULL;
    whole.layer_mapping.file = path;
    status = tdc_match_new(npu, bench, &whole, match, error);
    unlink(path);
    free(path);
    return status;
}
