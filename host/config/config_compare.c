/* config_compare.c - the conductor: packs in, one sheet per item, a workbook out. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/config/config_check.h"
#include "host/config/extract.h"
#include "host/dump/dump.h"
#include "io/base/error.h"
#include "io/base/sized.h"
#include "io/file/out_file.h"
#include "io/storage/looking.h"
#include "io/table/workbook.h"
#include "io/text/pytext.h"

#define WORK_LIMIT ((size_t)16 << 30) /* or what the process may use */

static const char *const env_columns[] = {"bench_env_name", "cmp_env_name", "bench_value",
                                          "cmp_value", "level"};
static const char *const pip_columns[] = {"package", "bench version", "cmp version", "level"};
static const char *const dataset_columns[] = {"step",
                                              "rank",
                                              "tag",
                                              "equal",
                                              "max_relative_diff",
                                              "min_relative_diff",
                                              "mean_relative_diff",
                                              "norm_relative_diff"};
static const char *const weights_columns[] = {"step",
                                              "rank",
                                              "weight_name",
                                              "equal",
                                              "max_relative_diff",
                                              "min_relative_diff",
                                              "mean_relative_diff",
                                              "norm_relative_diff"};
static const char *const hyperparameter_columns[] = {
    "file_name", "bench_para", "cmp_para", "bench_value", "cmp_value", "matched_with", "level"};
static const char *const random_columns[] = {"op",          "rank",      "bench_stack", "cmp_stack",
                                             "bench_count", "cmp_count", "check_result"};
static const char *const summary_columns[] = {"filename", "pass_check"};

#define COLUMNS(names) names, sizeof(names) / sizeof *(names)

static const struct item {
    const char *name; /* of the member or folder in the pack, and of the sheet */
    const char *const *columns;
    size_t column_count;
    tdc_status (*check)(struct tdc_config_work *work, struct tdc_config_sheet *sheet);
} items[] = {
    {"env", COLUMNS(env_columns), tdc_config_check_env},
    {"pip", COLUMNS(pip_columns), tdc_config_check_pip},
    {"dataset", COLUMNS(dataset_columns), tdc_config_check_dataset},
    {"weights", COLUMNS(weights_columns), tdc_config_check_weights},
    {"hyperparameters", COLUMNS(hyperparameter_columns), tdc_config_check_hyperparameters},
    {"random", COLUMNS(random_columns), tdc_config_check_random},
};

enum {
    ITEMS = sizeof items / sizeof *items
};

static const char *level_text(tdc_config_level level)
{
    static const char *const texts[] = {
        [TDC_CONFIG_PASS] = "pass", [TDC_CONFIG_WARNING] = "warning", [TDC_CONFIG_ERROR] = "error"};
    return texts[level != TDC_CONFIG_NONE ? level : TDC_CONFIG_PASS];
}

/* A file of the name, or a folder with something in it. */
static bool has_item(const struct tdc_unzip *zip, const char *name)
{
    size_t length = strlen(name);
    for (size_t i = 0; i < zip->count; i++)
        if (strncmp(zip->members[i].name, name, length) == 0 &&
            (zip->members[i].name[length] == '\0' || zip->members[i].name[length] == '/'))
            return true;
    return false;
}

static void sheet_row(void *context, size_t row, struct tdc_cell *cells)
{
    const struct tdc_config_sheet *sheet = context;
    memcpy(cells, &sheet->cells[row * sheet->column_count], sheet->column_count * sizeof *cells);
}

/* What msprobe does not write: texts that a spreadsheet would run. */
static tdc_status check_texts(struct tdc_config_work *work, const struct tdc_config_sheet *sheet)
{
    for (size_t i = 0; i < sheet->rows * sheet->column_count; i++) {
        const struct tdc_cell *cell = &sheet->cells[i];
        double number;
        if (cell->kind != TDC_CELL_TEXT || !tdc_runs_as_formula(cell->text, cell->length) ||
            tdc_python_float(cell->text, cell->length, &number))
            continue;
        return tdc_fail(work->error, TDC_ERR_REFUSED, "Save excel file \"result.xlsx\" failed.");
    }
    return TDC_OK;
}

static tdc_status fill_sheets(struct tdc_config_work *work, struct tdc_config_sheet *sheets,
                              size_t *count)
{
    struct tdc_config_sheet *summary = &sheets[0];
    *summary =
        (struct tdc_config_sheet){.name = "summary", .columns = summary_columns, .column_count = 2};
    *count = 1;
    for (size_t i = 0; i < ITEMS; i++) {
        if (!has_item(&work->bench, items[i].name) || !has_item(&work->cmp, items[i].name)) {
            if (has_item(&work->bench, items[i].name) != has_item(&work->cmp, items[i].name))
                tdc_config_say(work, "only one of the packs has %s: not compared", items[i].name);
            continue;
        }
        struct tdc_config_sheet *sheet = &sheets[(*count)++];
        *sheet = (struct tdc_config_sheet){.name = items[i].name,
                                           .columns = items[i].columns,
                                           .column_count = items[i].column_count};
        tdc_status status = items[i].check(work, sheet);
        if (status != TDC_OK)
            return status;
        struct tdc_cell *row = tdc_config_row(work, summary, sheet->level);
        if (row == NULL)
            return TDC_ERR_MEMORY;
        row[0] = tdc_config_text(sheet->name);
        row[1] = tdc_config_text(level_text(sheet->level));
    }
    return TDC_OK;
}

static tdc_status write_sheets(struct tdc_config_work *work, struct tdc_config_sheet *sheets,
                               size_t count, const char *folder)
{
    struct tdc_workbook_sheet book[ITEMS + 1];
    for (size_t i = 0; i < count; i++) {
        book[i] = (struct tdc_workbook_sheet){.name = sheets[i].name,
                                              .columns = sheets[i].columns,
                                              .column_count = sheets[i].column_count,
                                              .rows = sheets[i].rows,
                                              .row = sheet_row,
                                              .context = &sheets[i]};
        tdc_status status = (work->options->flags & TDC_CONFIG_NO_FORMULAS) != 0
                                ? check_texts(work, &sheets[i])
                                : TDC_OK;
        if (status != TDC_OK)
            return status;
    }
    char *path;
    if (asprintf(&path, "%s/result.xlsx", folder) < 0)
        return tdc_config_memory(work);
    tdc_status status = tdc_workbook_write(path, false, book, count, work->error);
    free(path);
    return status;
}

static tdc_status open_packs(struct tdc_config_work *work, const char *bench_zip,
                             const char *cmp_zip, const char *folder)
{
    tdc_status status = tdc_unzip_open(bench_zip, &work->arena, &work->bench, work->error);
    if (status == TDC_OK)
        status = tdc_unzip_open(cmp_zip, &work->arena, &work->cmp, work->error);
    if (status == TDC_OK)
        status = tdc_make_folders(folder, work->error);
    if (status != TDC_OK || (work->options->flags & TDC_CONFIG_EXTRACT) == 0)
        return status;
    status = tdc_config_extract(work, &work->bench, folder, "bench");
    return status == TDC_OK ? tdc_config_extract(work, &work->cmp, folder, "cmp") : status;
}

void tdc_config_options_init(struct tdc_config_options *options, size_t size)
{
    struct tdc_config_options defaults = {.size = size};
    tdc_sized_init(options, size, &defaults, sizeof defaults);
}

tdc_status tdc_config_compare(const char *bench_zip, const char *cmp_zip, const char *folder,
                              const struct tdc_config_options *options, tdc_config_level *worst,
                              size_t *compared, struct tdc_error *error)
{
    struct tdc_config_options whole;
    tdc_config_options_init(&whole, sizeof whole);
    tdc_status status = tdc_sized_read(options, offsetof(struct tdc_config_options, context),
                                       &whole, sizeof whole, "tdc_config_options_init", error);
    if (status != TDC_OK)
        return status;
    struct tdc_config_work work = {.options = &whole, .error = error};
    struct tdc_config_sheet sheets[ITEMS + 1];
    size_t count = 0;
    tdc_arena_init(&work.arena, WORK_LIMIT);
    status = open_packs(&work, bench_zip, cmp_zip, folder);
    if (status == TDC_OK)
        status = fill_sheets(&work, sheets, &count);
    if (status == TDC_OK)
        status = write_sheets(&work, sheets, count, folder);
    if (status == TDC_OK) {
        char *real = tdc_real_path(folder);
        tdc_config_say(&work, "config checking result save to %s", real != NULL ? real : folder);
        free(real);
        *worst = sheets[0].level != TDC_CONFIG_NONE ? sheets[0].level : TDC_CONFIG_PASS;
        *compared = count - 1;
    }
    for (size_t i = 0; i < count; i++)
        free(sheets[i].cells);
    tdc_arena_free(&work.arena);
    return status;
}
