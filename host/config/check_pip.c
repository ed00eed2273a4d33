/* check_pip.c - versions of the packages that decide about results. */
#include <stdio.h>
#include <string.h>

#include "host/config/config_check.h"
#include "io/base/error.h"

static const char *const packages[] = {"transformers", "deepspeed", "megatron",
                                       "numpy",        "datasets",  "peft"};

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* The version of a package in lines `name=version`, the last one if it has several: "" where a line
 * has no or more than one =, NULL where there is no line. */
static const char *version_of(struct tdc_arena *arena, const char *lines, const char *package)
{
    const char *version = NULL;
    size_t name_length = strlen(package);
    for (const char *line = lines; *line != '\0';) {
        size_t length = strcspn(line, "\n");
        const char *from = line, *to = line + length;
        while (from < to && is_blank(*from))
            from++;
        while (to > from && is_blank(to[-1]))
            to--;
        const char *equals = memchr(from, '=', (size_t)(to - from));
        size_t name = (size_t)((equals != NULL ? equals : to) - from);
        if (name == name_length && memcmp(from, package, name) == 0) {
            bool two_parts =
                equals != NULL && memchr(equals + 1, '=', (size_t)(to - equals - 1)) == NULL;
            version = two_parts ? tdc_arena_text(arena, equals + 1, (size_t)(to - equals - 1)) : "";
        }
        line += length + (line[length] != '\0');
    }
    return version;
}

static tdc_status read_lines(struct tdc_config_work *work, const struct tdc_unzip *zip,
                             const char **lines)
{
    const struct tdc_unzip_member *member = tdc_unzip_find(zip, "pip");
    size_t size;
    if (member == NULL)
        return tdc_fail(work->error, TDC_ERR_READ, "%s: no member pip", zip->path);
    return tdc_unzip_read(zip, member, &work->arena, lines, &size, work->error);
}

static tdc_status check_package(struct tdc_config_work *work, struct tdc_config_sheet *sheet,
                                const char *const lines[2], const char *package)
{
    const char *bench = version_of(&work->arena, lines[0], package);
    const char *cmp = version_of(&work->arena, lines[1], package);
    if (bench == NULL ? cmp == NULL : cmp != NULL && strcmp(bench, cmp) == 0)
        return TDC_OK;
    struct tdc_cell *row = tdc_config_row(work, sheet, TDC_CONFIG_ERROR);
    if (row == NULL)
        return TDC_ERR_MEMORY;
    row[0] = tdc_config_text(package);
    row[1] = tdc_config_text(bench != NULL && bench[0] != '\0' ? bench : "None");
    row[2] = tdc_config_text(cmp != NULL && cmp[0] != '\0' ? cmp : "None");
    row[3] = tdc_config_text("error");
    return TDC_OK;
}

tdc_status tdc_config_check_pip(struct tdc_config_work *work, struct tdc_config_sheet *sheet)
{
    const char *lines[2];
    tdc_status status = read_lines(work, &work->bench, &lines[0]);
    if (status == TDC_OK)
        status = read_lines(work, &work->cmp, &lines[1]);
    for (size_t i = 0; i < sizeof packages / sizeof *packages && status == TDC_OK; i++)
        status = check_package(work, sheet, lines, packages[i]);
    /* 2025 looks for the framework it was told, 26.2 for both under the names of their packages */
    if (status == TDC_OK && work->options->framework != NULL)
        return check_package(work, sheet, lines, work->options->framework);
    if (status == TDC_OK)
        status = check_package(work, sheet, lines, "mindspore");
    return status == TDC_OK ? check_package(work, sheet, lines, "torch") : status;
}
