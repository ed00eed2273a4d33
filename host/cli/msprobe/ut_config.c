#include "host/cli/msprobe/ut_config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/cli/msprobe/config_file.h"
#include "host/cli/msprobe/msprobe_log.h"
#include "io/storage/looking.h"

static bool refuse(const char *format, const char *what)
{
    char text[4352];
    snprintf(text, sizeof text, format, what);
    tdc_msprobe_log(NULL, TDC_MESSAGE_ERROR, text);
    return false;
}

/* A list of texts, none when the member is missing. */
static bool take_list(const struct tdc_json *section, const char *name, char ***list, size_t *count)
{
    const struct tdc_json *member = tdc_json_get(section, name);
    if (member == NULL)
        return true;
    if (member->kind != TDC_JSON_LIST)
        return refuse("%s must be a list type", name);
    *list = calloc(member->children + 1, sizeof **list);
    if (*list == NULL)
        return refuse("%s: out of memory", name);
    for (const struct tdc_json *item = member->child; item != NULL; item = item->next) {
        if (item->kind != TDC_JSON_STRING)
            return refuse("All elements in %s must be string type", name);
        (*list)[*count] = strdup(item->text);
        if ((*list)[(*count)] == NULL)
            return refuse("%s: out of memory", name);
        ++*count;
    }
    return true;
}

static bool take_section(const struct tdc_json *section, struct tdc_ut_config *config)
{
    if (!take_list(section, "white_list", &config->white_list, &config->white_count) ||
        !take_list(section, "black_list", &config->black_list, &config->black_count))
        return false;
    const struct tdc_json *folder = tdc_json_get(section, "error_data_path");
    if (folder == NULL)
        return true;
    bool text = folder->kind == TDC_JSON_STRING;
    if (!text || !tdc_is_there(folder->text))
        return refuse("error_data_path: %s does not exist", text ? folder->text : "None");
    config->error_data_path = strdup(folder->text);
    return config->error_data_path != NULL || refuse("%s: out of memory", "error_data_path");
}

bool tdc_ut_config_read(const char *path, const char *name, struct tdc_ut_config *config)
{
    size_t length = strlen(path);
    if (length < 5 || strcmp(path + length - 5, ".json") != 0)
        return refuse("The %s should be a .json file!", path);
    struct tdc_config_file file;
    if (!tdc_config_file_read(path, &file))
        return false;
    const struct tdc_json *section = tdc_json_get(file.root, name);
    bool taken = section == NULL || take_section(section, config);
    tdc_config_file_free(&file);
    return taken;
}

static void free_list(char **list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(list[i]);
    free(list);
}

void tdc_ut_config_free(struct tdc_ut_config *config)
{
    free_list(config->white_list, config->white_count);
    free_list(config->black_list, config->black_count);
    free(config->error_data_path);
}
