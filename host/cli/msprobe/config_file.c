#include "host/cli/msprobe/config_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "host/cli/shared/command.h"

#define CONFIG_LIMIT ((size_t)16 << 20)
#define TREE_LIMIT   ((size_t)1 << 30)

/* The whole of a small file; NULL after a complaint. */
static char *read_text(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    struct stat info;
    if (file == NULL || fstat(fileno(file), &info) != 0) {
        tdc_complain("%s: %s", path, strerror(errno));
        if (file != NULL)
            fclose(file);
        return NULL;
    }
    char *text = NULL;
    if (!S_ISREG(info.st_mode) || (size_t)info.st_size > CONFIG_LIMIT) {
        tdc_complain("%s: not a small file", path);
    } else {
        *size = (size_t)info.st_size;
        text = malloc(*size + 1);
        if (text == NULL || fread(text, 1, *size, file) != *size) {
            tdc_complain("%s: cannot be read", path);
            free(text);
            text = NULL;
        }
    }
    fclose(file);
    return text;
}

bool tdc_config_file_read(const char *path, struct tdc_config_file *config)
{
    size_t size = 0;
    char *text = read_text(path, &size);
    if (text == NULL)
        return false;
    struct tdc_json_cursor cursor;
    struct tdc_json *root = NULL;
    struct tdc_error error = {0};
    tdc_arena_init(&config->arena, TREE_LIMIT);
    tdc_json_start(&cursor, path, text, size);
    tdc_status status = tdc_json_read(&cursor, &config->arena, &root, &error);
    if (status == TDC_OK)
        status = tdc_json_finish(&cursor, &error);
    if (status != TDC_OK) {
        tdc_complain("not a JSON file: %s", error.message);
        tdc_arena_free(&config->arena);
    }
    free(text);
    config->root = root;
    return status == TDC_OK;
}

void tdc_config_file_free(struct tdc_config_file *config)
{
    tdc_arena_free(&config->arena);
}
