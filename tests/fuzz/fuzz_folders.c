/*
 * Whole folders: two dumps with their jsons, tensors and mappings, through the same calls as the
 * program makes. Whatever they hold, each call ends with a status and a reason, tables are readable
 * to the last cell, and nothing but finished results is left in the output folder.
 *
 * An input is a line of letters (below: `ask`) and files, each after a line "=== NAME": "npu/..."
 * and "bench/..." are the dumps, "api.yaml", "cell.yaml", "data.yaml" and "layer.yaml" mappings.
 */
#include <ftw.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tdcmp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MOST_FILES 64
#define MOST_TASKS 3
#define MOST_PAIRS 1500 /* larger tables would only be slow */
#define MOST_CALLS 6

#define require(fact) require_at(fact, __LINE__)

static void require_at(bool fact, int line)
{
    if (fact)
        return;
    fprintf(stderr, "line %d\n", line);
    abort();
}

static void require_reason(tdc_status status, const struct tdc_error *error)
{
    require(status == TDC_OK || (error->status == status && error->message[0] != '\0'));
}

/* ---- the folder ------------------------------------------------------------------------------ */

static char root[64]; /* of one input */

static const char *below(char path[256], const char *name)
{
    snprintf(path, 256, "%s/%s", root, name);
    return path;
}

/* Letters, digits and a few signs; no part begins with a dot. */
static bool harmless(const char *name, size_t length)
{
    static const char signs[] = "._-/";
    if (length == 0 || length > 96)
        return false;
    for (size_t i = 0; i < length; i++) {
        char c = name[i], before = i == 0 ? '/' : name[i - 1];
        bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!plain && (c == '\0' || strchr(signs, c) == NULL))
            return false;
        if (before == '/' && (c == '.' || c == '/'))
            return false;
    }
    return name[length - 1] != '/';
}

static void write_file(const char *name, size_t length, const uint8_t *bytes, size_t size)
{
    char path[256], copy[128];
    if (!harmless(name, length))
        return;
    snprintf(copy, sizeof copy, "%.*s", (int)length, name);
    below(path, copy);
    for (char *at = path + strlen(root) + 1; (at = strchr(at, '/')) != NULL; at++) {
        *at = '\0';
        mkdir(path, 0700);
        *at = '/';
    }
    FILE *file = fopen(path, "wb"); /* fails where a folder has the name already */
    if (file == NULL)
        return;
    require(fwrite(bytes, 1, size, file) == size);
    fclose(file);
}

static void write_files(const uint8_t *at, const uint8_t *end)
{
    static const char mark[] = "=== ";
    for (int i = 0; at < end && i < MOST_FILES; i++) {
        const uint8_t *line = memchr(at, '\n', (size_t)(end - at));
        if (line == NULL || (size_t)(line - at) < sizeof mark || memcmp(at, mark, 4) != 0)
            return;
        const uint8_t *next = memmem(line, (size_t)(end - line), "\n=== ", 5);
        if (next == line)
            next = memmem(line + 1, (size_t)(end - line - 1), "\n=== ", 5);
        const uint8_t *stop = next != NULL ? next : end;
        write_file((const char *)at + 4, (size_t)(line - at) - 4, line + 1,
                   stop > line ? (size_t)(stop - line) - 1 : 0);
        at = next != NULL ? next + 1 : end;
    }
}

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *place)
{
    (void)info;
    (void)kind;
    (void)place;
    return remove(path);
}

static void make_root(void)
{
    snprintf(root, sizeof root, "%s/fuzz-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    require(mkdtemp(root) != NULL);
}

static void remove_root(void)
{
    require(nftw(root, remove_entry, 8, FTW_DEPTH | FTW_PHYS) == 0);
}

static int refuse_temporaries(const char *path, const struct stat *info, int kind,
                              struct FTW *place)
{
    (void)info;
    (void)kind;
    require(path[place->base] != '.');
    return 0;
}

/* ---- comparing ------------------------------------------------------------------------------- */

struct ask {
    bool compat, fuzzy, mindspore, pytorch, strict, suggest, precheck, execute, standard, distinct;
    bool api, cell, data, layer;
    int threads;
};

static struct ask understand(const uint8_t *letters, size_t count)
{
    struct ask ask = {.threads = 1};
    for (size_t i = 0; i < count; i++) {
        switch (letters[i]) {
        case 'c':
            ask.compat = true;
            break;
        case 'f':
            ask.fuzzy = true;
            break;
        case 'm':
            ask.mindspore = true;
            break;
        case 't':
            ask.pytorch = true;
            break;
        case 's':
            ask.strict = true;
            break;
        case 'g':
            ask.suggest = true;
            break;
        case 'p':
            ask.precheck = true;
            break;
        case 'e':
            ask.execute = true;
            break;
        case 'b':
            ask.standard = true;
            break;
        case 'u':
            ask.distinct = true;
            break;
        case 'A':
            ask.api = true;
            break;
        case 'C':
            ask.cell = true;
            break;
        case 'D':
            ask.data = true;
            break;
        case 'L':
            ask.layer = true;
            break;
        case '2':
            ask.threads = 2;
            break;
        default:
            break;
        }
    }
    return ask;
}

static void check_cells(tdc_table *table)
{
    struct tdc_cell cells[64];
    struct tdc_error error = {0};
    struct tdc_summary summary;
    uint64_t rows = 0;
    volatile char seen = 0;
    require(tdc_table_columns(table) <= 64);
    for (size_t row = 0; row < tdc_table_rows(table); row++) {
        require(tdc_table_row(table, row, cells, &error) == TDC_OK);
        for (size_t i = 0; i < tdc_table_columns(table); i++)
            for (size_t k = 0; cells[i].kind == TDC_CELL_TEXT && k < cells[i].length; k++)
                seen = cells[i].text[k]; /* readable to its end */
        require(tdc_table_worst(table, row) != NULL);
        require(tdc_table_class(table, row) < TDC_ROW_CLASSES);
    }
    tdc_table_summary(table, &summary, sizeof summary);
    for (int i = 0; i < TDC_ROW_CLASSES; i++)
        rows += summary.classes[i];
    require(rows == tdc_table_rows(table) && summary.rows == rows);
    require(tdc_advice_text(table) != NULL);
    (void)seen;
}

static void check_pairs(tdc_match *match, const tdc_dump *npu, const tdc_dump *bench, bool suggest)
{
    struct tdc_error error = {0};
    char path[256];
    for (size_t i = 0; i < tdc_match_pairs(match); i++) {
        size_t n, b;
        tdc_match_pair(match, i, &n, &b);
        require(n != TDC_NO_RECORD || b != TDC_NO_RECORD);
        require(n == TDC_NO_RECORD || n < tdc_dump_records(npu));
        require(b == TDC_NO_RECORD || b < tdc_dump_records(bench));
        require(tdc_match_reason(match, i) != NULL);
    }
    require(tdc_match_method(match) != NULL);
    if (suggest)
        require(tdc_match_suggest(match, &error) != NULL || error.message[0] != '\0');
    tdc_match_write_mapping(match, below(path, "out/mapping.yaml"), &error);
}

static tdc_status compare_pairs(tdc_match *match, const struct tdc_task *task,
                                const struct tdc_options *options, struct tdc_error *error)
{
    tdc_table *table = NULL;
    char csv[256], json[256], advice[256];
    tdc_status status = tdc_table_new(match, options, task->stack, &table, error);
    if (status == TDC_OK) {
        struct tdc_output outputs[2];
        tdc_output_init(&outputs[0], sizeof *outputs, table, TDC_FORMAT_CSV,
                        below(csv, "out/a.csv"));
        tdc_output_init(&outputs[1], sizeof *outputs, table, TDC_FORMAT_JSON,
                        below(json, "out/a.json"));
        status = tdc_compare_to(&table, 1, outputs, 2, options, error);
        require((access(csv, F_OK) == 0) == (status == TDC_OK));
    }
    if (status == TDC_OK) {
        check_cells(table);
        status = tdc_advice_write(table, below(advice, "out/a.txt"), error);
        unlink(csv);
    }
    tdc_table_free(table);
    return status;
}

static void compare_task(const struct tdc_task *task, const struct tdc_options *options,
                         const struct ask *ask)
{
    struct tdc_error error = {0};
    tdc_dump *npu = NULL, *bench = NULL;
    tdc_match *match = NULL;
    tdc_status status = tdc_dump_load(task->npu, &npu, &error);
    if (status == TDC_OK)
        status = tdc_dump_load(task->bench, &bench, &error);
    if (status == TDC_OK)
        status = tdc_match_new(npu, bench, options, &match, &error);
    if (status == TDC_OK && tdc_match_pairs(match) <= MOST_PAIRS) {
        check_pairs(match, npu, bench, ask->suggest);
        status = compare_pairs(match, task, options, &error);
    }
    require_reason(status, &error);
    tdc_match_free(match);
    tdc_dump_free(npu);
    tdc_dump_free(bench);
}

static const char *mapping_file(char path[256], const char *name)
{
    return access(below(path, name), F_OK) == 0 ? path : NULL;
}

static void compare_folders(const struct ask *ask)
{
    char npu[256], bench[256], api[256], cell[256], layer[256], data[256];
    struct tdc_options options;
    struct tdc_error error = {0};
    tdc_tasks *list = NULL;
    tdc_options_init(&options, sizeof options, ask->compat ? TDC_RULES_COMPAT : TDC_RULES_SOUND);
    if (ask->fuzzy)
        options.flags |= TDC_OPTION_FUZZY;
    options.framework = ask->mindspore ? TDC_FRAMEWORK_MINDSPORE
                        : ask->pytorch ? TDC_FRAMEWORK_PYTORCH
                                       : TDC_FRAMEWORK_NONE;
    options.threads = ask->threads;
    options.device = "cpu";
    options.api_mapping = (struct tdc_mapping){ask->api, mapping_file(api, "api.yaml")};
    options.cell_mapping = (struct tdc_mapping){ask->cell, mapping_file(cell, "cell.yaml")};
    options.layer_mapping = (struct tdc_mapping){ask->layer, mapping_file(layer, "layer.yaml")};
    options.data_mapping = ask->data ? mapping_file(data, "data.yaml") : NULL;
    below(npu, ask->strict ? "npu/dump.json" : "npu");
    below(bench, ask->strict ? "bench/dump.json" : "bench");
    tdc_status status = ask->strict ? tdc_tasks_strict(npu, bench, &list, &error)
                                    : tdc_tasks_find(npu, bench, -1, &options, &list, &error);
    require_reason(status, &error);
    for (size_t i = 0; status == TDC_OK && i < tdc_tasks_count(list) && i < MOST_TASKS; i++)
        compare_task(tdc_tasks_get(list, i), &options, ask);
    tdc_tasks_free(list);
}

/* ---- checking -------------------------------------------------------------------------------- */

static void precheck_folder(const struct ask *ask)
{
    char path[256], out[256];
    struct tdc_precheck_options options;
    struct tdc_error error = {0};
    tdc_precheck *precheck = NULL;
    tdc_precheck_options_init(&options, sizeof options,
                              ask->compat ? TDC_PROFILE_COMPAT : TDC_PROFILE_EXTENDED);
    options.threads = ask->threads;
    if (ask->distinct)
        options.flags |= TDC_PRECHECK_DISTINCT;
    options.output = below(out, "out");
    options.flags |= TDC_PRECHECK_ANY_FRAMEWORK;
    options.flags &= ~(unsigned)TDC_PRECHECK_CHECK_FILES; /* of another owner, perhaps */
    if (ask->execute)
        options.tested = TDC_TESTED_EXECUTED;
    if (ask->standard)
        options.standard = TDC_STANDARD_PYTORCH;
    tdc_status status =
        tdc_precheck_open(below(path, "npu/dump.json"), &options, &precheck, &error);
    if (status == TDC_OK && tdc_precheck_calls(precheck) <= MOST_CALLS) {
        status = tdc_precheck_run(precheck, &error);
        struct tdc_precheck_summary summary;
        uint64_t calls = 0;
        tdc_precheck_summary(precheck, &summary, sizeof summary);
        for (int i = 0; i < TDC_CHECKS; i++)
            calls += summary.verdicts[i];
        require(status != TDC_OK || calls == summary.calls);
    }
    require_reason(status, &error);
    tdc_precheck_free(precheck);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *line = memchr(data, '\n', size);
    if (line == NULL || line - data > 32)
        return 0;
    /* a call's memory bounds the time it takes; read when the library first asks */
    require(setenv("TDC_MEMORY", "16M", 1) == 0);
    struct ask ask = understand(data, (size_t)(line - data));
    char out[256];
    make_root();
    write_files(line + 1, data + size);
    mkdir(below(out, "out"), 0700);
    if (ask.precheck)
        precheck_folder(&ask);
    else
        compare_folders(&ask);
    require(nftw(out, refuse_temporaries, 8, FTW_PHYS) == 0);
    remove_root();
    return 0;
}
