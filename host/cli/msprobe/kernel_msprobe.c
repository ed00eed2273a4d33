#include "host/cli/msprobe/kernel_msprobe.h"

#include <stdlib.h>
#include <string.h>

#include "host/cli/msprobe/msprobe_log.h"

/* Ranks or steps that a person writes down. */
#define MOST_NUMBERS 4096

struct numbers {
    long list[MOST_NUMBERS];
    size_t count;
};

static bool add_number(struct numbers *numbers, const char *text, size_t length)
{
    size_t digits = strspn(text, "0123456789");
    if (digits == 0 || digits != length || digits > 9 || numbers->count == MOST_NUMBERS)
        return false;
    numbers->list[numbers->count++] = strtol(text, NULL, 10);
    return true;
}

/* "0,1,2" */
static bool read_list(const char *list, struct numbers *numbers)
{
    while (list != NULL && *list != '\0') {
        size_t length = strcspn(list, ",");
        if (!add_number(numbers, list, length))
            return false;
        list += length + (list[length] == ',');
    }
    return true;
}

/* Numbers, or texts of them, of a member of compare.json; none of a missing one. */
static bool read_member(const struct tdc_json *config, const char *name, struct numbers *numbers)
{
    const struct tdc_json *member = tdc_json_get(config, name);
    if (member == NULL)
        return true;
    if (member->kind != TDC_JSON_LIST)
        return false;
    for (const struct tdc_json *at = member->child; at != NULL; at = at->next)
        if ((at->kind != TDC_JSON_INTEGER && at->kind != TDC_JSON_STRING) ||
            !add_number(numbers, at->text, at->length))
            return false;
    return true;
}

static int say_failure(const char *text)
{
    tdc_msprobe_log(NULL, TDC_MESSAGE_ERROR, text);
    return 1;
}

static int compare_kernels(const char *npu, const char *bench, const char *output,
                           const struct numbers *ranks, const struct numbers *steps, bool brackets,
                           tdc_format format, const struct tdc_options *options)
{
    const struct tdc_kernel_choice choice = {.ranks = ranks->list,
                                             .steps = steps->list,
                                             .rank_count = ranks->count,
                                             .step_count = steps->count,
                                             .brackets = brackets};
    size_t tables;
    struct tdc_error error = {0};
    return tdc_kernel_dumps_compare(npu, bench, output, &choice, format, options, &tables,
                                    &error) == TDC_OK
               ? 0
               : say_failure(error.message);
}

static int compare_folders(const struct tdc_json *config, const char *npu, const char *bench,
                           const char *output, const struct tdc_options *options)
{
    const struct tdc_json *map = tdc_json_get(config, "map_dict");
    if (map != NULL && map->kind != TDC_JSON_OBJECT)
        return say_failure("'map_dict' should be a dict, please check!");
    size_t count = 0, tables;
    struct tdc_error error = {0};
    struct tdc_kernel_name *names = calloc(map != NULL ? map->children + 1 : 1, sizeof *names);
    if (names == NULL)
        return say_failure("out of memory");
    for (const struct tdc_json *at = map != NULL ? map->child : NULL; at != NULL; at = at->next)
        if (at->kind == TDC_JSON_STRING)
            names[count++] = (struct tdc_kernel_name){at->key, at->text};
    tdc_status status =
        tdc_npy_folders_compare(npu, bench, output, names, count, options, &tables, &error);
    free(names);
    return status == TDC_OK ? 0 : say_failure(error.message);
}

bool tdc_msprobe_kernel_dumps(const struct tdc_json *config, const char *npu, const char *bench,
                              const char *output, const struct tdc_options *options, int *code)
{
    const struct tdc_json *rank_id = tdc_json_get(config, "rank_id");
    const struct tdc_json *common = tdc_json_get(config, "common");
    struct tdc_options told = *options;
    told.message = tdc_msprobe_log;
    told.context = NULL;
    if (rank_id != NULL && rank_id->kind != TDC_JSON_NULL) {
        static struct numbers ranks, steps;
        ranks.count = steps.count = 0;
        *code =
            read_member(config, "rank_id", &ranks) && read_member(config, "step_id", &steps)
                ? compare_kernels(npu, bench, output, &ranks, &steps, false, TDC_FORMAT_XLSX, &told)
                : say_failure("'rank_id' and 'step_id' should both be lists, please check!");
        return true;
    }
    if (common == NULL || common->kind != TDC_JSON_TRUE)
        return false;
    *code = compare_folders(config, npu, bench, output, &told);
    return true;
}

int tdc_msprobe_kernel_ranks(const char *npu, const char *bench, const char *output,
                             const char *ranks, const char *steps, tdc_format format,
                             const struct tdc_options *options)
{
    static struct numbers rank_list, step_list;
    rank_list.count = step_list.count = 0;
    if (!read_list(ranks, &rank_list) || !read_list(steps, &step_list))
        return say_failure("--rank and --step take numbers with commas: 0,1");
    return compare_kernels(npu, bench, output, &rank_list, &step_list, true, format, options);
}
