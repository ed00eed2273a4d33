/* check_env.c - environment variables that change results, by their names on either device. */
#include <string.h>

#include "host/config/config_check.h"

enum fallback {
    WORD_NONE, /* the text None */
    FALSE_VALUE,
    ZERO,
    ONE
};

/* NULL: the device has no such variable. */
static const struct {
    const char *npu, *gpu;
    enum fallback fallback;
} variables[] = {
    {"HCCL_DETERMINISTIC", "NCCL_DETERMINISTIC", FALSE_VALUE},
    {"HCCL_ALGO", "NCCL_ALGO", WORD_NONE},
    {"HCCL_INTRA_ROCE_ENABLE", NULL, ZERO},
    {"HCCL_INTRA_ROCE_ENABLE", NULL, ONE}, /* msprobe's table means HCCL_INTRA_PCIE_ENABLE */
    {"ASCEND_LAUNCH_BLOCKING", "CUDA_LAUNCH_BLOCKING", ZERO},
    {"ASCEND_RT_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES", WORD_NONE},
};

static bool is_npu(const struct tdc_json *environment)
{
    for (const struct tdc_json *one = environment->child; one != NULL; one = one->next)
        if (strstr(one->key, "ASCEND") != NULL)
            return true;
    return false;
}

static const struct tdc_json *fallback_value(enum fallback fallback)
{
    static const struct tdc_json values[] = {
        [WORD_NONE] = {.kind = TDC_JSON_STRING, .text = "None", .length = 4},
        [FALSE_VALUE] = {.kind = TDC_JSON_FALSE},
        [ZERO] = {.kind = TDC_JSON_INTEGER, .text = "0", .length = 1},
        [ONE] = {.kind = TDC_JSON_INTEGER, .text = "1", .length = 1, .number = 1}};
    return &values[fallback];
}

struct side {
    const struct tdc_json *environment;
    bool npu;
};

static const char *name_on(const struct side *side, size_t variable)
{
    return side->npu ? variables[variable].npu : variables[variable].gpu;
}

static const struct tdc_json *value_on(const struct side *side, size_t variable)
{
    const struct tdc_json *value = tdc_json_get(side->environment, name_on(side, variable));
    return value != NULL ? value : fallback_value(variables[variable].fallback);
}

/* One variable of which only one side's device knows. */
static tdc_status add_lonely(struct tdc_config_work *work, struct tdc_config_sheet *sheet,
                             const struct side *bench, const struct side *cmp, size_t variable)
{
    const char *cmp_name = name_on(cmp, variable);
    const struct side *side = cmp_name != NULL ? cmp : bench;
    struct tdc_cell *row = tdc_config_row(work, sheet, TDC_CONFIG_WARNING);
    if (row == NULL)
        return TDC_ERR_MEMORY;
    row[0] = tdc_config_text(cmp_name != NULL ? "only cmp has this env" : name_on(bench, variable));
    row[1] = tdc_config_text(cmp_name != NULL ? cmp_name : "only bench has this env");
    row[cmp_name != NULL ? 3 : 2] = tdc_config_value(work, value_on(side, variable));
    row[4] = tdc_config_text("warning");
    return TDC_OK;
}

tdc_status tdc_config_check_env(struct tdc_config_work *work, struct tdc_config_sheet *sheet)
{
    struct tdc_json *one, *two;
    tdc_status status = tdc_config_json(work, &work->bench, "env", &one);
    if (status == TDC_OK)
        status = tdc_config_json(work, &work->cmp, "env", &two);
    if (status != TDC_OK)
        return status;
    bool swapped = (work->options->flags & TDC_CONFIG_ENV_SWAPPED) != 0;
    struct side bench = {swapped ? two : one, is_npu(swapped ? two : one)};
    struct side cmp = {swapped ? one : two, is_npu(swapped ? one : two)};
    for (size_t i = 0; i < sizeof variables / sizeof *variables && status == TDC_OK; i++) {
        const char *bench_name = name_on(&bench, i), *cmp_name = name_on(&cmp, i);
        if (bench_name == NULL && cmp_name == NULL)
            continue;
        if (bench_name == NULL || cmp_name == NULL) {
            status = add_lonely(work, sheet, &bench, &cmp, i);
            continue;
        }
        const struct tdc_json *bench_value = value_on(&bench, i), *cmp_value = value_on(&cmp, i);
        if (tdc_config_equal(bench_value, cmp_value))
            continue;
        struct tdc_cell *row = tdc_config_row(work, sheet, TDC_CONFIG_ERROR);
        if (row == NULL)
            return TDC_ERR_MEMORY;
        row[0] = tdc_config_text(bench_name);
        row[1] = tdc_config_text(cmp_name);
        row[2] = tdc_config_value(work, bench_value);
        row[3] = tdc_config_value(work, cmp_value);
        row[4] = tdc_config_text("error");
    }
    return status;
}
