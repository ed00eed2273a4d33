#include "host/analysis/merge/merge_config.h"

#include <string.h>

#include "io/base/error.h"
#include "io/text/yaml_map.h"

#define CONFIG_LIMIT ((size_t)256 << 20)

static const struct tdc_yaml *member(const struct tdc_yaml *root, const char *name)
{
    const struct tdc_yaml *child = root->kind == TDC_YAML_MAP ? root->child : NULL;
    while (child != NULL && strcmp(child->key, name) != 0)
        child = child->next;
    return child;
}

static bool take_list(struct tdc_arena *arena, const struct tdc_yaml *list, const char ***texts,
                      size_t *count)
{
    *texts = tdc_arena_zeroed(arena, list->children + 1, sizeof **texts);
    for (const struct tdc_yaml *entry = list->child; entry != NULL && *texts != NULL;
         entry = entry->next)
        if (entry->kind == TDC_YAML_SCALAR && !entry->is_null)
            (*texts)[(*count)++] = entry->text;
    return *texts != NULL;
}

static bool is_empty(const struct tdc_yaml *value)
{
    return value == NULL ||
           (value->kind == TDC_YAML_SCALAR ? value->is_null || value->text[0] == '\0'
                                           : value->children == 0);
}

tdc_status tdc_merge_config_load(const char *path, struct tdc_merge_config *config,
                                 struct tdc_error *error)
{
    *config = (struct tdc_merge_config){0};
    tdc_arena_init(&config->arena, CONFIG_LIMIT);
    struct tdc_yaml *root;
    tdc_status status = tdc_yaml_load(path, &config->arena, &root, error);
    if (status != TDC_OK)
        return status;
    if (is_empty(root))
        return tdc_fail(error, TDC_ERR_ARGUMENT, "config.yaml is empty, please check.");
    const struct tdc_yaml *apis = member(root, "api"), *metrics = member(root, "compare_index");
    if (is_empty(apis))
        return tdc_fail(error, TDC_ERR_ARGUMENT, "The APIs required to merge data were not found.");
    if (apis->kind != TDC_YAML_LIST)
        return tdc_fail(error, TDC_ERR_ARGUMENT,
                        "The config format of 'api' is incorrect, please check.");
    bool null = metrics == NULL || (metrics->kind == TDC_YAML_SCALAR && metrics->is_null);
    if (!null && metrics->kind != TDC_YAML_LIST)
        return tdc_fail(error, TDC_ERR_ARGUMENT,
                        "The config format of 'compare_index' is incorrect, please check.");
    if (!take_list(&config->arena, apis, &config->apis, &config->api_count) ||
        (!null && !take_list(&config->arena, metrics, &config->metrics, &config->metric_count)))
        return tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", path);
    return TDC_OK;
}

void tdc_merge_config_free(struct tdc_merge_config *config)
{
    tdc_arena_free(&config->arena);
}
