#include "host/cli/msprobe/config_file.h"

#include <stdlib.h>

#include "host/cli/shared/command.h"
#include "io/file/file_map.h"

#define CONFIG_LIMIT ((size_t)16 << 20)
#define TREE_LIMIT   ((size_t)1 << 30)

bool tdc_config_file_read(const char *path, struct tdc_config_file *config)
{
    size_t size;
    char *text;
    struct tdc_json_cursor cursor;
    struct tdc_json *root = NULL;
    struct tdc_error error = {0};
    if (tdc_file_load(path, CONFIG_LIMIT, &text, &size, &error) != TDC_OK) {
        tdc_complain("%s", error.message);
        return false;
    }
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
