/* settings_compare.c - settings of two trainings side by side, from what they have printed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/config/config_check.h"
#include "host/config/training_log.h"
#include "host/config/yaml_settings.h"
#include "host/dump/dump.h"
#include "io/base/error.h"
#include "io/base/name_table.h"
#include "io/file/byte_writer.h"
#include "io/file/file_map.h"
#include "io/storage/patient_read.h"
#include "io/file/out_file.h"
#include "io/text/csv_field.h"
#include "io/text/json_write.h"
#include "io/text/pytext.h"

#define ARENA_LIMIT ((size_t)8 << 30) /* or what the process may use */
#define LOG_LIMIT   ((size_t)10 << 30)
#define TEXT_LIMIT  ((size_t)1 << 30)
#define DEPTH_LIMIT 200

/* Settings by their paths: "actor/optim/lr". An empty object is a value. */
struct flat {
    struct tdc_name_table names;
    const struct tdc_json **values;
    size_t room;
};

struct work {
    struct tdc_arena arena;
    struct flat sides[2];
    tdc_message_function message;
    void *context;
    struct tdc_error *error;
};

static void say(const struct work *work, tdc_message_level level, const char *text,
                const char *path)
{
    char line[4352];
    snprintf(line, sizeof line, "%s%s", text, path);
    if (work->message != NULL)
        work->message(work->context, level, line);
}

static tdc_status no_memory(struct work *work)
{
    return tdc_fail(work->error, TDC_ERR_MEMORY, "out of memory");
}

/* ---- flat settings --------------------------------------------------------------------------- */

static tdc_status add_value(struct work *work, struct flat *flat, const char *path,
                            const struct tdc_json *value)
{
    bool fresh;
    uint32_t number = tdc_names_put(&flat->names, path, strlen(path), &fresh);
    if (number == TDC_NAME_NONE)
        return no_memory(work);
    if (number >= flat->room) {
        size_t room = flat->room == 0 ? 512 : flat->room * 2;
        const struct tdc_json **grown = reallocarray(flat->values, room, sizeof *grown);
        if (grown == NULL)
            return no_memory(work);
        flat->values = grown;
        flat->room = room;
    }
    flat->values[number] = value;
    return TDC_OK;
}

static tdc_status flatten(struct work *work, struct flat *flat, const struct tdc_json *value,
                          const char *path, int depth)
{
    if (value->kind != TDC_JSON_OBJECT || value->child == NULL || depth > DEPTH_LIMIT)
        return add_value(work, flat, path, value);
    tdc_status status = TDC_OK;
    for (const struct tdc_json *member = value->child; member != NULL && status == TDC_OK;
         member = member->next) {
        size_t before = strlen(path), length = strlen(member->key);
        char *whole = tdc_arena_take(&work->arena, before + length + 2);
        if (whole == NULL)
            return no_memory(work);
        snprintf(whole, before + length + 2, "%s%s%s", path, before != 0 ? "/" : "", member->key);
        status = flatten(work, flat, member, whole, depth + 1);
    }
    return status;
}

static const struct tdc_json *find(const struct flat *flat, const char *path)
{
    uint32_t number = tdc_names_find(&flat->names, path, strlen(path));
    return number != TDC_NAME_NONE ? flat->values[number] : NULL;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* All paths of the first, and unless `first_alone` of both, sorted. */
static const char **all_paths(struct work *work, bool first_alone, size_t *count)
{
    const struct flat *a = &work->sides[0], *b = &work->sides[1];
    const char **paths =
        tdc_arena_zeroed(&work->arena, (size_t)a->names.count + b->names.count + 1, sizeof *paths);
    *count = 0;
    if (paths == NULL)
        return NULL;
    for (uint32_t i = 0; i < a->names.count; i++)
        paths[(*count)++] = a->names.keys[i].text;
    for (uint32_t i = 0; i < b->names.count && !first_alone; i++)
        if (find(a, b->names.keys[i].text) == NULL)
            paths[(*count)++] = b->names.keys[i].text;
    qsort(paths, *count, sizeof *paths, by_text);
    return paths;
}

/* ---- files ----------------------------------------------------------------------------------- */

static tdc_status write_text(struct work *work, const char *folder, const char *name,
                             const struct tdc_text *text, char **path)
{
    struct tdc_out_file file;
    if (text->failed || asprintf(path, "%s/%s", folder, name) < 0) {
        *path = NULL;
        return no_memory(work);
    }
    tdc_status status = tdc_out_file_open(*path, &file, work->error);
    if (status != TDC_OK)
        return status;
    int failure = tdc_write_fully(file.fd, tdc_text_get(text), text->length);
    if (failure == 0)
        return tdc_out_file_commit(&file, work->error);
    tdc_out_file_discard(&file);
    return tdc_fail_errno(work->error, TDC_ERR_WRITE, failure, "%s", *path);
}

static tdc_status write_settings(struct work *work, const char *folder, const char *name,
                                 const struct tdc_json *settings)
{
    struct tdc_text text;
    char *path = NULL;
    tdc_text_init(&text, TEXT_LIMIT);
    tdc_json_put_tree(&text, settings, 2, 0);
    tdc_status status = write_text(work, folder, name, &text, &path);
    if (status == TDC_OK)
        say(work, TDC_MESSAGE_INFO, "Saving json file to disk: ", path);
    tdc_text_free(&text);
    free(path);
    return status;
}

/* repr of a value, NA where there is none. */
static void put_value(struct tdc_text *text, const struct tdc_json *value)
{
    if (value == NULL)
        tdc_text_adds(text, "NA");
    else if (value->kind == TDC_JSON_STRING)
        tdc_pytext_repr_string(text, value->text, value->length);
    else
        tdc_pytext_str(text, value);
}

static tdc_status add_row(struct work *work, struct tdc_text *rows, const char *path,
                          uint64_t *different)
{
    struct tdc_text cells[2];
    const struct tdc_json *values[2];
    tdc_csv_field(rows, path);
    tdc_status status = TDC_OK;
    for (int side = 0; side < 2; side++) {
        values[side] = find(&work->sides[side], path);
        tdc_text_init(&cells[side], TEXT_LIMIT);
        put_value(&cells[side], values[side]);
        const char *cell = tdc_text_get(&cells[side]);
        double number;
        if (tdc_runs_as_formula(cell, strlen(cell)) &&
            !tdc_python_float(cell, strlen(cell), &number))
            status =
                tdc_fail(work->error, TDC_ERR_REFUSED,
                         "Malicious value [%.300s] not allowed to be written into the csv.", cell);
        tdc_text_addc(rows, ',');
        tdc_csv_field(rows, cell);
        rows->failed |= cells[side].failed;
        tdc_text_free(&cells[side]);
    }
    bool same = values[0] != NULL && values[1] != NULL && tdc_config_equal(values[0], values[1]);
    *different += !same;
    tdc_text_adds(rows, same ? ",是\n" : ",否\n");
    return status;
}

struct table {
    const char *name, *header;
    const char *const *left_out; /* paths with one of these texts are */
    bool first_alone;
    const char *saved; /* begins the line about the file */
};

static tdc_status write_table(struct work *work, const struct table *table, const char *folder,
                              uint64_t *different)
{
    struct tdc_text rows;
    size_t count;
    const char **paths = all_paths(work, table->first_alone, &count);
    tdc_text_init(&rows, TEXT_LIMIT);
    tdc_text_adds(&rows, table->header);
    tdc_status status = paths != NULL ? TDC_OK : no_memory(work);
    *different = 0;
    for (size_t i = 0; i < count && status == TDC_OK; i++) {
        bool wanted = true;
        for (const char *const *word = table->left_out; *word != NULL && wanted; word++)
            wanted = strstr(paths[i], *word) == NULL;
        if (wanted)
            status = add_row(work, &rows, paths[i], different);
    }
    char *path = NULL;
    if (status == TDC_OK)
        status = write_text(work, folder, table->name, &rows, &path);
    if (status == TDC_OK)
        say(work, TDC_MESSAGE_INFO, table->saved, path);
    tdc_text_free(&rows);
    free(path);
    return status;
}

/* ---- logs ------------------------------------------------------------------------------------ */

/* A copy of the file: nothing that is found in it may vanish. */
static tdc_status read_log(struct work *work, const char *path, const char **log, size_t *size)
{
    struct tdc_file opened;
    tdc_status status = tdc_file_open(path, &opened, work->error);
    if (status != TDC_OK)
        return status;
    char *bytes = opened.size <= LOG_LIMIT ? tdc_arena_take(&work->arena, opened.size + 1) : NULL;
    if (bytes == NULL)
        status = tdc_fail(work->error, TDC_ERR_MEMORY, "%s: too large", path);
    else if (tdc_storage_read(opened.descriptor, bytes, opened.size, 0, size) != 0 ||
             *size != opened.size)
        status = tdc_fail(work->error, TDC_ERR_READ, "%s: cannot be read", path);
    else if (memchr(bytes, '\0', *size) != NULL)
        status = tdc_fail(work->error, TDC_ERR_FORMAT, "%s: not a text", path);
    else
        bytes[*size] = '\0';
    *log = bytes;
    tdc_file_close(opened.descriptor);
    return status;
}

/* Reads a log, keeps what it says as a file, and flattens it. */
static tdc_status take_log(struct work *work, tdc_training_log kind, const char *path,
                           const char *folder, const char *name, struct flat *flat)
{
    const char *log;
    size_t size = 0, found = 1;
    struct tdc_json *settings;
    tdc_status status = read_log(work, path, &log, &size);
    if (status == TDC_OK && kind == TDC_LOG_VERL)
        status = tdc_verl_settings(path, log, size, &work->arena, &settings, &found, work->error);
    else if (status == TDC_OK)
        status = tdc_slime_settings(path, log, size, &work->arena, &settings, work->error);
    if (status != TDC_OK)
        return status;
    char text[256];
    snprintf(text, sizeof text,
             "This log contains %zu pieces of verl's config information, only the last config "
             "configuration will be collected!",
             found);
    if (found > 1)
        say(work, TDC_MESSAGE_WARNING, text, "");
    status = write_settings(work, folder, name, settings);
    return status == TDC_OK ? flatten(work, flat, settings, "", 0) : status;
}

static tdc_status begin(struct work *work, const char *folder)
{
    tdc_arena_init(&work->arena, ARENA_LIMIT);
    tdc_names_init(&work->sides[0].names);
    tdc_names_init(&work->sides[1].names);
    return tdc_make_folders(folder, work->error);
}

static tdc_status end(struct work *work, tdc_status status)
{
    for (int side = 0; side < 2; side++) {
        tdc_names_free(&work->sides[side].names);
        free(work->sides[side].values);
    }
    tdc_arena_free(&work->arena);
    return status;
}

#define MARK "\xef\xbb\xbf" /* of UTF-8, for spreadsheets */

tdc_status tdc_settings_compare(tdc_training_log kind, const char *npu_log, const char *bench_log,
                                const char *folder, tdc_message_function message, void *context,
                                uint64_t *different, struct tdc_error *error)
{
    static const char *const verl[] = {"profiler/", "ray_", NULL}, *const slime[] = {"profile",
                                                                                     NULL};
    const struct table table = {"hyper_params_compare.csv",
                                MARK "超参名称,NPU生效值,bench生效值,是否一致\n",
                                kind == TDC_LOG_VERL ? verl : slime, false,
                                kind == TDC_LOG_VERL ? "Saving verl compare file to disk: "
                                                     : "Saving slime compare file to disk: "};
    struct work work = {.message = message, .context = context, .error = error};
    if (kind != TDC_LOG_VERL && kind != TDC_LOG_SLIME)
        return tdc_fail(error, TDC_ERR_ARGUMENT, "no kind of log");
    tdc_status status = begin(&work, folder);
    if (status == TDC_OK)
        status = take_log(&work, kind, npu_log, folder, "NPU_config.json", &work.sides[0]);
    if (status == TDC_OK)
        status = take_log(&work, kind, bench_log, folder, "bench_config.json", &work.sides[1]);
    if (status == TDC_OK)
        status = write_table(&work, &table, folder, different);
    return end(&work, status);
}

tdc_status tdc_settings_verify(const char *yaml, const char *log, const char *folder,
                               tdc_message_function message, void *context, uint64_t *different,
                               struct tdc_error *error)
{
    static const char *const none[] = {NULL};
    const struct table table = {"hyper_params_verify.csv",
                                MARK "关键参数名称,bench生效值,target生效值,是否一致\n", none, true,
                                "Saving verl verify file to disk: "};
    struct work work = {.message = message, .context = context, .error = error};
    struct tdc_json *wanted;
    tdc_status status = begin(&work, folder);
    if (status == TDC_OK)
        status = take_log(&work, TDC_LOG_VERL, log, folder, "tgt_config.json", &work.sides[1]);
    if (status == TDC_OK)
        status = tdc_yaml_settings(yaml, &work.arena, &wanted, error);
    if (status == TDC_OK)
        status = flatten(&work, &work.sides[0], wanted, "", 0);
    if (status == TDC_OK)
        status = write_table(&work, &table, folder, different);
    return end(&work, status);
}
