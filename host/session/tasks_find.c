/* tasks_find.c - finding the dumps below whatever path a person gives. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "host/session/folders.h"
#include "io/error.h"

/* A folder with a dump.json or debug.json, or one json file. */
struct place {
    char *path;
    char *step, *rank; /* "" when the path did not say */
    long step_number, rank_number;
    bool file;
};

struct places {
    struct place *places;
    size_t count;
};

static void free_places(struct places *places)
{
    for (size_t i = 0; i < places->count; i++) {
        free(places->places[i].path);
        free(places->places[i].step);
        free(places->places[i].rank);
    }
    free(places->places);
}

static tdc_status add_place(struct places *places, const char *path,
                            const struct tdc_numbered *step, const struct tdc_numbered *rank,
                            struct tdc_error *error)
{
    struct place *grown = realloc(places->places, (places->count + 1) * sizeof *grown);
    if (grown == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
    places->places = grown;
    struct place place = {
        .path = strdup(path),
        .step = strdup(step != NULL ? step->name : ""),
        .rank = strdup(rank != NULL ? rank->name : ""),
        .step_number = step != NULL ? step->number : -1,
        .rank_number = rank != NULL ? rank->number : -1,
        .file = tdc_is_file(path),
    };
    places->places[places->count++] = place;
    if (place.path == NULL || place.step == NULL || place.rank == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
    return TDC_OK;
}

static bool holds_dump(const char *folder)
{
    char *dump = tdc_path_join(folder, "dump.json"), *debug = tdc_path_join(folder, "debug.json");
    bool found = (dump != NULL && tdc_is_file(dump)) || (debug != NULL && tdc_is_file(debug));
    free(dump);
    free(debug);
    return found;
}

/* Rank folders of a step folder; none is no error. */
static tdc_status add_ranks(struct places *places, const char *folder,
                            const struct tdc_numbered *step, struct tdc_error *error)
{
    struct tdc_names ranks;
    tdc_status status = tdc_folder_names(folder, "rank", &ranks, error);
    for (size_t i = 0; i < ranks.count && status == TDC_OK; i++) {
        char *path = tdc_path_join(folder, ranks.names[i].name);
        if (path == NULL)
            status = tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
        else if (holds_dump(path))
            status = add_place(places, path, step, &ranks.names[i], error);
        free(path);
    }
    tdc_folder_names_free(&ranks);
    return status;
}

static tdc_status add_steps(struct places *places, const char *root, int step,
                            struct tdc_error *error)
{
    struct tdc_names steps;
    tdc_status status = tdc_folder_names(root, "step", &steps, error);
    for (size_t i = 0; i < steps.count && status == TDC_OK; i++) {
        if (step >= 0 && steps.names[i].number != step)
            continue;
        char *path = tdc_path_join(root, steps.names[i].name);
        if (path == NULL)
            status = tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
        else if (tdc_is_folder(path))
            status = add_ranks(places, path, &steps.names[i], error);
        free(path);
    }
    tdc_folder_names_free(&steps);
    return status;
}

static tdc_status find_places(const char *path, int step, struct places *places,
                              struct tdc_error *error)
{
    struct stat info;
    if (stat(path, &info) != 0)
        return tdc_fail_errno(error, TDC_ERR_NOT_FOUND, errno, "%s", path);
    if (!S_ISDIR(info.st_mode))
        return add_place(places, path, NULL, NULL, error);
    if (holds_dump(path))
        return add_place(places, path, NULL, NULL, error);
    tdc_status status = add_ranks(places, path, NULL, error);
    if (status == TDC_OK && places->count == 0)
        status = add_steps(places, path, step, error);
    if (status == TDC_OK && places->count == 0) {
        if (step >= 0)
            return tdc_fail(error, TDC_ERR_NOT_FOUND, "%s: no dump of step %d below it", path,
                            step);
        return tdc_fail(error, TDC_ERR_NOT_FOUND,
                        "%s: no dump.json in it, nor in rank* or step*/rank* below it", path);
    }
    return status;
}

/* ---- pairing --------------------------------------------------------------------------------- */

static void warn(const struct tdc_options *options, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void warn(const struct tdc_options *options, const char *format, ...)
{
    if (options->message == NULL)
        return;
    char text[4096];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    options->message(options->context, TDC_MESSAGE_WARNING, text);
}

static tdc_status add_json(const struct place *npu, const struct place *bench, const char *name,
                           const struct tdc_options *options, struct tdc_task_list *list,
                           struct tdc_error *error)
{
    char *npu_json = tdc_path_join(npu->path, name);
    char *bench_json = tdc_path_join(bench->path, name);
    tdc_status status = TDC_OK;
    if (npu_json == NULL || bench_json == NULL) {
        status = tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
    } else {
        bool npu_has = tdc_is_file(npu_json), bench_has = tdc_is_file(bench_json);
        if (npu_has && bench_has)
            status = tdc_tasks_add(list, npu_json, bench_json, npu->rank, npu->step, "", error);
        else if (npu_has != bench_has)
            warn(options, "%s has no counterpart %s, it is left out",
                 npu_has ? npu_json : bench_json, npu_has ? bench_json : npu_json);
    }
    free(npu_json);
    free(bench_json);
    return status;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

static tdc_status add_pair(const struct place *npu, const struct place *bench,
                           const struct tdc_options *options, struct tdc_task_list *list,
                           struct tdc_error *error)
{
    if (!npu->file && !bench->file) {
        tdc_status status = add_json(npu, bench, "dump.json", options, list, error);
        return status == TDC_OK ? add_json(npu, bench, "debug.json", options, list, error) : status;
    }
    /* a file decides which json of a folder it faces */
    const struct place *file = npu->file ? npu : bench, *folder = npu->file ? bench : npu;
    char *json =
        folder->file ? strdup(folder->path) : tdc_path_join(folder->path, base_name(file->path));
    if (json == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
    tdc_status status;
    if (!tdc_is_file(json))
        status = tdc_fail(error, TDC_ERR_NOT_FOUND, "%s: no such file", json);
    else
        status = tdc_tasks_add(list, npu->file ? npu->path : json, npu->file ? json : bench->path,
                               npu->rank, npu->step, "", error);
    free(json);
    return status;
}

static size_t distinct_steps(const struct places *places)
{
    size_t count = 0;
    for (size_t i = 0; i < places->count; i++)
        count += i == 0 || places->places[i].step_number != places->places[i - 1].step_number;
    return count;
}

/* The counterpart of a place: same step (or each side has only one) and same rank. */
static const struct place *counterpart(const struct places *places, const struct place *place,
                                       bool any_step)
{
    for (size_t i = 0; i < places->count; i++) {
        const struct place *other = &places->places[i];
        if ((any_step || other->step_number == place->step_number) &&
            other->rank_number == place->rank_number)
            return other;
    }
    return NULL;
}

static tdc_status pair_by_number(const struct places *npu, const struct places *bench,
                                 const struct tdc_options *options, struct tdc_task_list *list,
                                 struct tdc_error *error)
{
    bool any_step = distinct_steps(npu) == 1 && distinct_steps(bench) == 1;
    if (any_step && npu->places[0].step_number != bench->places[0].step_number)
        warn(options, "the steps differ: %s against %s", npu->places[0].path,
             bench->places[0].path);
    tdc_status status = TDC_OK;
    for (size_t i = 0; i < npu->count && status == TDC_OK; i++) {
        const struct place *other = counterpart(bench, &npu->places[i], any_step);
        if (other == NULL)
            warn(options, "%s has no counterpart and is left out", npu->places[i].path);
        else
            status = add_pair(&npu->places[i], other, options, list, error);
    }
    for (size_t i = 0; i < bench->count; i++)
        if (counterpart(npu, &bench->places[i], any_step) == NULL)
            warn(options, "%s has no counterpart and is left out", bench->places[i].path);
    return status;
}

static tdc_status pair_places(const struct places *npu, const struct places *bench,
                              const struct tdc_options *options, struct tdc_task_list *list,
                              struct tdc_error *error)
{
    if (npu->count == 1 && bench->count == 1)
        return add_pair(&npu->places[0], &bench->places[0], options, list, error);
    tdc_status status = pair_by_number(npu, bench, options, list, error);
    if (status != TDC_OK || list->count != 0 || npu->count != bench->count)
        return status;
    /* no rank number in common: pair by position, as msprobe does */
    for (size_t i = 0; i < npu->count && status == TDC_OK; i++) {
        warn(options, "ranks are paired by position: %s against %s", npu->places[i].path,
             bench->places[i].path);
        status = add_pair(&npu->places[i], &bench->places[i], options, list, error);
    }
    return status;
}

tdc_status tdc_tasks_find(const char *npu, const char *bench, int step,
                          const struct tdc_options *options, struct tdc_task_list *list,
                          struct tdc_error *error)
{
    *list = (struct tdc_task_list){0};
    struct places npu_places = {0}, bench_places = {0};
    tdc_status status = find_places(npu, step, &npu_places, error);
    if (status == TDC_OK)
        status = find_places(bench, step, &bench_places, error);
    if (status == TDC_OK)
        status = pair_places(&npu_places, &bench_places, options, list, error);
    if (status == TDC_OK && list->count == 0)
        status = tdc_fail(error, TDC_ERR_NOTHING, "%s and %s have no rank or step in common", npu,
                          bench);
    free_places(&npu_places);
    free_places(&bench_places);
    if (status != TDC_OK)
        tdc_tasks_free(list);
    return status;
}
