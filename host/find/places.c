#include "host/find/places.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "host/dump/atb_dump.h"
#include "host/find/folders.h"
#include "io/base/error.h"
#include "io/storage/looking.h"
#include "io/storage/storage_calls.h"

/* The folders on the way to a place. */
struct way {
    const char *family;
    const struct tdc_numbered *step, *rank;
    bool process;
};

struct finding {
    struct tdc_places *places;
    const struct tdc_search *search;
    struct tdc_error *error;
};

void tdc_places_free(struct tdc_places *places)
{
    for (size_t i = 0; i < places->count; i++) {
        free(places->places[i].path);
        free(places->places[i].family);
        free(places->places[i].step);
        free(places->places[i].rank);
    }
    free(places->places);
    *places = (struct tdc_places){0};
}

static tdc_status out_of_memory(const struct finding *finding)
{
    return tdc_fail(finding->error, TDC_ERR_MEMORY, "out of memory");
}

static tdc_status add_place(struct finding *finding, const char *path, const struct way *way,
                            bool empty)
{
    struct tdc_places *places = finding->places;
    struct tdc_place *grown = realloc(places->places, (places->count + 1) * sizeof *grown);
    if (grown == NULL)
        return out_of_memory(finding);
    places->places = grown;
    struct tdc_place place = {
        .path = strdup(path),
        .family = strdup(way->family),
        .step = strdup(way->step != NULL ? way->step->name : ""),
        .rank = strdup(way->rank != NULL ? way->rank->name : ""),
        .step_number = way->step != NULL ? way->step->number : -1,
        .rank_number = way->rank != NULL && !way->process ? way->rank->number : -1,
        .process = way->process,
        .file = tdc_is_file(path),
        .empty = empty,
    };
    places->places[places->count++] = place;
    if (place.path == NULL || place.family == NULL || place.step == NULL || place.rank == NULL)
        return out_of_memory(finding);
    return TDC_OK;
}

static bool holds_file(const char *folder, const char *name)
{
    char *path = tdc_path_join(folder, name);
    bool held = path != NULL && tdc_may_be(path, S_IFREG);
    free(path);
    return held;
}

/* Of an execution round of ATB. */
static bool holds_list(const char *folder)
{
    char *path = tdc_path_join(folder, TDC_ATB_LIST_FILE);
    bool held = path != NULL && tdc_is_file(path) && tdc_is_atb_dump(path);
    free(path);
    return held;
}

static bool holds_dump(const struct finding *finding, const char *folder)
{
    return holds_file(folder, "dump.json") ||
           (finding->search->debug && (holds_file(folder, "debug.json") || holds_list(folder)));
}

static tdc_status add_below(struct finding *finding, const char *folder, const struct way *way);

static tdc_status add_inside(struct finding *finding, const char *folder, const char *name,
                             const struct way *way)
{
    char *path = tdc_path_join(folder, name);
    tdc_status status = TDC_OK;
    if (path == NULL)
        status = out_of_memory(finding);
    else if (tdc_may_be(path, S_IFDIR))
        status = add_below(finding, path, way);
    free(path);
    return status;
}

static tdc_status add_ranks(struct finding *finding, const char *folder, struct way way,
                            const char *prefix)
{
    struct tdc_names ranks;
    tdc_status status = tdc_folder_names(folder, prefix, &ranks, finding->error);
    way.process = strcmp(prefix, "proc") == 0;
    for (size_t i = 0; i < ranks.count && status == TDC_OK; i++) {
        way.rank = &ranks.names[i];
        /* proc alone is no process of ours */
        if (!way.process || ranks.names[i].number >= 0)
            status = add_inside(finding, folder, ranks.names[i].name, &way);
    }
    tdc_folder_names_free(&ranks);
    return status;
}

static tdc_status add_steps(struct finding *finding, const char *folder, struct way way)
{
    struct tdc_names steps;
    int wanted = finding->search->step;
    tdc_status status = tdc_folder_names(folder, "step", &steps, finding->error);
    for (size_t i = 0; i < steps.count && status == TDC_OK; i++) {
        way.step = &steps.names[i];
        if (wanted < 0 || steps.names[i].number == wanted)
            status = add_inside(finding, folder, steps.names[i].name, &way);
    }
    tdc_folder_names_free(&steps);
    return status;
}

static tdc_status add_families(struct finding *finding, const char *folder, struct way way)
{
    static const char *const families[] = {"graph", "pynative"};
    tdc_status status = TDC_OK;
    for (size_t i = 0; i < 2 && status == TDC_OK; i++) {
        way.family = families[i];
        status = add_inside(finding, folder, families[i], &way);
    }
    return status;
}

/* Each kind of folder that is not yet on the way: so the depth is bounded. */
static tdc_status add_all_kinds(struct finding *finding, const char *folder, const struct way *way)
{
    tdc_status status = TDC_OK;
    if (way->rank == NULL)
        status = add_ranks(finding, folder, *way, "rank");
    if (status == TDC_OK && way->rank == NULL)
        status = add_ranks(finding, folder, *way, "proc");
    if (status == TDC_OK && way->step == NULL)
        status = add_steps(finding, folder, *way);
    if (status == TDC_OK && way->family[0] == '\0')
        status = add_families(finding, folder, *way);
    return status;
}

/* The dump of a folder itself, or those of the folders in it. */
static tdc_status add_below(struct finding *finding, const char *folder, const struct way *way)
{
    if (holds_dump(finding, folder))
        return add_place(finding, folder, way, false);
    size_t before = finding->places->count;
    tdc_status status = add_all_kinds(finding, folder, way);
    bool inner = way->rank != NULL || way->step != NULL;
    /* one that does not answer is a dump that cannot be read */
    if (inner && status == TDC_ERR_NO_ANSWER && finding->places->count == before)
        return add_place(finding, folder, way, false);
    /* a rank that cannot be looked into does not keep the others from being found */
    bool passed_over = status == TDC_OK || (inner && status == TDC_ERR_READ);
    /* one that is there and holds nothing is worth a word */
    if (inner && passed_over && finding->places->count == before)
        return add_place(finding, folder, way, true);
    return status;
}

/* A step can be chosen where there are several; a path that leads into one has chosen. */
static tdc_status refuse_step(const char *path, const struct tdc_search *search,
                              const struct tdc_places *places, struct tdc_error *error)
{
    if (search->step < 0)
        return TDC_OK;
    for (size_t i = 0; i < places->count; i++)
        if (places->places[i].step_number < 0)
            return tdc_fail(error, TDC_ERR_ARGUMENT,
                            "%s: step %d cannot be chosen: the path is not a dump root, it is one "
                            "step's already",
                            path, search->step);
    return TDC_OK;
}

tdc_status tdc_places_find(const char *path, const struct tdc_search *search,
                           struct tdc_places *places, struct tdc_error *error)
{
    struct finding finding = {.places = places, .search = search, .error = error};
    struct way here = {.family = ""};
    struct stat info;
    *places = (struct tdc_places){0};
    int number = tdc_storage_stat(path, &info);
    if (number != 0)
        return tdc_fail_errno(error, TDC_ERR_NOT_FOUND, number, "%s", path);
    tdc_status status = S_ISDIR(info.st_mode) ? add_below(&finding, path, &here)
                                              : add_place(&finding, path, &here, false);
    if (status == TDC_OK)
        status = refuse_step(path, search, places, error);
    for (size_t i = 0; i < places->count; i++)
        if (status != TDC_OK || !places->places[i].empty)
            return status;
    if (status != TDC_OK)
        return status;
    if (search->step >= 0)
        return tdc_fail(error, TDC_ERR_NOT_FOUND, "%s: no dump of step %d below it", path,
                        search->step);
    return tdc_fail(
        error, TDC_ERR_NOT_FOUND,
        "%s: no dump.json in it, nor in rank*, proc*, step*, graph or pynative below it", path);
}

size_t tdc_places_name_empty(const struct tdc_places *places, const struct tdc_search *search,
                             const struct tdc_options *options)
{
    size_t count = 0;
    for (size_t i = 0; i < places->count; i++) {
        if (!places->places[i].empty)
            continue;
        count++;
        tdc_find_say(options, TDC_MESSAGE_WARNING, "%s: %s in it: nothing was dumped, or not yet",
                     places->places[i].path,
                     search->debug ? "neither dump.json nor debug.json" : "no dump.json");
    }
    return count;
}
