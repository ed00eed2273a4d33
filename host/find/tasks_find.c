/* tasks_find.c - which dump below one path faces which below the other. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/dump/atb_dump.h"
#include "host/find/folders.h"
#include "host/find/places.h"
#include "host/graph/files/graph_layout.h"
#include "host/graph/graph_set.h"
#include "host/kernel_dump/kernel_set.h"
#include "host/api/options.h"
#include "io/base/error.h"
#include "io/storage/looking.h"

/* What became of a place. */
enum fate {
    OPEN,
    EMPTY, /* holds no dump */
    PAIRED_BY_RANK,
    PAIRED_BY_POSITION
};

/* What a pairing works on. */
struct pairing {
    const struct tdc_places *npu, *bench;
    enum fate *npu_fates, *bench_fates; /* by place */
    bool any_family, any_step; /* each side has one, so they face each other whatever their name */
    const struct tdc_search *search;
    const struct tdc_options *options;
    struct tdc_tasks *list;
    struct tdc_error *error;
};

static tdc_status out_of_memory(const struct pairing *pairing)
{
    return tdc_fail(pairing->error, TDC_ERR_MEMORY, "out of memory");
}

/* ---- two places ------------------------------------------------------------------------------ */

static tdc_status add_json(const struct pairing *pairing, const struct tdc_place *npu,
                           const struct tdc_place *bench, const char *name)
{
    char *npu_json = tdc_path_join(npu->path, name);
    char *bench_json = tdc_path_join(bench->path, name);
    tdc_status status = TDC_OK;
    if (npu_json == NULL || bench_json == NULL) {
        status = out_of_memory(pairing);
    } else {
        bool npu_has = tdc_may_be(npu_json, S_IFREG), bench_has = tdc_may_be(bench_json, S_IFREG);
        if (npu_has && bench_has) {
            status = tdc_tasks_add(pairing->list, npu_json, bench_json, npu->rank, npu->step,
                                   npu->family, pairing->error);
        } else if (npu_has != bench_has) {
            pairing->list->left_out++;
            tdc_find_say(pairing->options, TDC_MESSAGE_WARNING,
                         "%s has no counterpart %s, it is left out",
                         npu_has ? npu_json : bench_json, npu_has ? bench_json : npu_json);
        }
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

static tdc_status add_files(const struct pairing *pairing, const struct tdc_place *npu,
                            const struct tdc_place *bench)
{
    /* a file decides which json of a folder it faces */
    const struct tdc_place *file = npu->file ? npu : bench, *folder = npu->file ? bench : npu;
    char *json =
        folder->file ? strdup(folder->path) : tdc_path_join(folder->path, base_name(file->path));
    if (json == NULL)
        return out_of_memory(pairing);
    tdc_status status;
    if (!tdc_may_be(json, S_IFREG))
        status = tdc_fail(pairing->error, TDC_ERR_NOT_FOUND, "%s: no such file", json);
    else
        status = tdc_tasks_add(pairing->list, npu->file ? npu->path : json,
                               npu->file ? json : bench->path, npu->rank, npu->step, npu->family,
                               pairing->error);
    free(json);
    return status;
}

static tdc_status add_pair(const struct pairing *pairing, const struct tdc_place *npu,
                           const struct tdc_place *bench)
{
    if (npu->file || bench->file)
        return add_files(pairing, npu, bench);
    tdc_status status = add_json(pairing, npu, bench, "dump.json");
    if (status == TDC_OK)
        status = add_json(pairing, npu, bench, "debug.json");
    return status == TDC_OK ? add_json(pairing, npu, bench, TDC_ATB_LIST_FILE) : status;
}

/* ---- many places ----------------------------------------------------------------------------- */

static bool one_family(const struct tdc_places *places)
{
    for (size_t i = 1; i < places->count; i++)
        if (strcmp(places->places[i].family, places->places[0].family) != 0)
            return false;
    return true;
}

static bool one_step(const struct tdc_places *places)
{
    for (size_t i = 1; i < places->count; i++)
        if (places->places[i].step_number != places->places[0].step_number)
            return false;
    return true;
}

/* Same family and step: places that may face each other. */
static bool same_group(const struct pairing *pairing, const struct tdc_place *a,
                       const struct tdc_place *b)
{
    return (pairing->any_family || strcmp(a->family, b->family) == 0) &&
           (pairing->any_step || a->step_number == b->step_number);
}

/* The numbers of processes mean nothing to another run. */
static bool same_rank(const struct tdc_place *a, const struct tdc_place *b)
{
    return !a->process && !b->process && a->rank_number == b->rank_number;
}

/* Folders without a dump take no further part. */
static void pass_over_empty(const struct tdc_places *places, enum fate *fates)
{
    for (size_t i = 0; i < places->count; i++)
        if (places->places[i].empty)
            fates[i] = EMPTY;
}

static tdc_status pair_by_rank(const struct pairing *pairing)
{
    tdc_status status = TDC_OK;
    for (size_t i = 0; i < pairing->npu->count && status == TDC_OK; i++) {
        const struct tdc_place *npu = &pairing->npu->places[i];
        for (size_t k = 0; k < pairing->bench->count && pairing->npu_fates[i] == OPEN; k++) {
            const struct tdc_place *bench = &pairing->bench->places[k];
            if (pairing->bench_fates[k] != OPEN || !same_group(pairing, npu, bench) ||
                !same_rank(npu, bench))
                continue;
            pairing->npu_fates[i] = pairing->bench_fates[k] = PAIRED_BY_RANK;
            status = add_pair(pairing, npu, bench);
        }
    }
    return status;
}

/* How many places of the group of `of` have which fate. */
static void count_fates(const struct pairing *pairing, const struct tdc_places *places,
                        const enum fate *fates, const struct tdc_place *of, size_t counts[4])
{
    memset(counts, 0, 4 * sizeof *counts);
    for (size_t i = 0; i < places->count; i++)
        counts[fates[i]] += same_group(pairing, &places->places[i], of);
}

static size_t first_open(const struct pairing *pairing, const struct tdc_place *npu)
{
    size_t k = 0;
    while (pairing->bench_fates[k] != OPEN || !same_group(pairing, npu, &pairing->bench->places[k]))
        k++;
    return k;
}

/*
 * Groups in which no rank found its like: processes, whose numbers differ between runs, and ranks
 * without a number in common. As many on both sides face each other in order.
 */
static tdc_status pair_by_position(const struct pairing *pairing)
{
    tdc_status status = TDC_OK;
    for (size_t i = 0; i < pairing->npu->count && status == TDC_OK; i++) {
        const struct tdc_place *npu = &pairing->npu->places[i];
        size_t ours[4], theirs[4];
        if (pairing->npu_fates[i] != OPEN)
            continue;
        count_fates(pairing, pairing->npu, pairing->npu_fates, npu, ours);
        count_fates(pairing, pairing->bench, pairing->bench_fates, npu, theirs);
        if (ours[OPEN] != theirs[OPEN] || ours[PAIRED_BY_RANK] != 0)
            continue;
        size_t k = first_open(pairing, npu);
        const struct tdc_place *bench = &pairing->bench->places[k];
        bool alone = ours[OPEN] == 1 && ours[PAIRED_BY_POSITION] == 0;
        pairing->npu_fates[i] = pairing->bench_fates[k] = PAIRED_BY_POSITION;
        if (alone)
            tdc_find_say(pairing->options, TDC_MESSAGE_INFO, "%s is compared with %s", npu->path,
                         bench->path);
        else
            tdc_find_say(pairing->options, TDC_MESSAGE_WARNING, "paired by position: %s against %s",
                         npu->path, bench->path);
        status = add_pair(pairing, npu, bench);
    }
    return status;
}

static void name_lonely(const struct pairing *pairing, const struct tdc_places *places,
                        const enum fate *fates)
{
    for (size_t i = 0; i < places->count; i++) {
        if (fates[i] != OPEN)
            continue;
        pairing->list->left_out++;
        tdc_find_say(pairing->options, TDC_MESSAGE_WARNING, "%s has no counterpart and is left out",
                     places->places[i].path);
    }
}

static tdc_status pair_places(struct pairing *pairing)
{
    const struct tdc_place *npu = pairing->npu->places, *bench = pairing->bench->places;
    pairing->any_family = one_family(pairing->npu) && one_family(pairing->bench);
    pairing->any_step = one_step(pairing->npu) && one_step(pairing->bench);
    if (pairing->any_step && npu->step_number >= 0 && bench->step_number >= 0 &&
        npu->step_number != bench->step_number)
        tdc_find_say(pairing->options, TDC_MESSAGE_WARNING, "the steps differ: %s against %s",
                     npu->path, bench->path);
    pairing->list->empty = tdc_places_name_empty(pairing->npu, pairing->search, pairing->options) +
                           tdc_places_name_empty(pairing->bench, pairing->search, pairing->options);
    pass_over_empty(pairing->npu, pairing->npu_fates);
    pass_over_empty(pairing->bench, pairing->bench_fates);
    tdc_status status = pair_by_rank(pairing);
    if (status == TDC_OK)
        status = pair_by_position(pairing);
    if (status == TDC_OK) {
        name_lonely(pairing, pairing->npu, pairing->npu_fates);
        name_lonely(pairing, pairing->bench, pairing->bench_fates);
    }
    return status;
}

static tdc_status pair_found(const struct tdc_places *npu, const struct tdc_places *bench,
                             const struct tdc_search *search, const struct tdc_options *options,
                             struct tdc_tasks *list, struct tdc_error *error)
{
    struct pairing pairing = {.npu = npu,
                              .bench = bench,
                              .search = search,
                              .options = options,
                              .list = list,
                              .error = error};
    pairing.npu_fates = calloc(npu->count, sizeof(enum fate));
    pairing.bench_fates = calloc(bench->count, sizeof(enum fate));
    tdc_status status;
    if (pairing.npu_fates == NULL || pairing.bench_fates == NULL)
        status = out_of_memory(&pairing);
    else
        status = pair_places(&pairing);
    free(pairing.npu_fates);
    free(pairing.bench_fates);
    return status;
}

static tdc_status find(const char *npu, const char *bench, int step,
                       const struct tdc_options *options, struct tdc_tasks *list,
                       struct tdc_error *error)
{
    struct tdc_search search = {.step = step, .debug = true};
    struct tdc_places npu_places = {0}, bench_places = {0};
    tdc_status status = tdc_places_find(npu, &search, &npu_places, error);
    if (status == TDC_OK)
        status = tdc_places_find(bench, &search, &bench_places, error);
    if (status == TDC_OK)
        status = pair_found(&npu_places, &bench_places, &search, options, list, error);
    if (status == TDC_OK && list->count == 0)
        status = tdc_fail(error, TDC_ERR_NOTHING, "%s and %s have no rank or step in common", npu,
                          bench);
    tdc_places_free(&npu_places);
    tdc_places_free(&bench_places);
    return status;
}

/* ---- graphs ---------------------------------------------------------------------------------- */

static tdc_status add_graph_task(struct tdc_tasks *list, const struct tdc_graph_item *item,
                                 const char *step, struct tdc_error *error)
{
    tdc_status status = tdc_tasks_add(list, item->mine, item->golden, item->rank, step, "", error);
    if (status == TDC_OK)
        list->tasks[list->count - 1].graph = item;
    return status;
}

static tdc_status find_graphs(const char *npu, const char *bench, int token,
                              const struct tdc_options *options, struct tdc_tasks *list,
                              struct tdc_error *error)
{
    tdc_status status = tdc_graph_set_find(npu, bench, token, options, &list->graphs, error);
    size_t count = status == TDC_OK ? tdc_graph_set_count(list->graphs) : 0;
    for (size_t i = 0; i < count && status == TDC_OK; i++) {
        const struct tdc_graph_item *item = tdc_graph_set_get(list->graphs, i);
        char step[32];
        snprintf(step, sizeof step, "token%llu", (unsigned long long)item->token);
        status = add_graph_task(list, item, step, error);
    }
    if (status == TDC_OK)
        list->left_out = tdc_graph_set_left_out(list->graphs);
    return status;
}

/* Kernel dumps, or folders of npy files; whatever else two folders hold stays the error it was. */
static tdc_status find_kernels(const char *npu, const char *bench, int step,
                               const struct tdc_options *options, struct tdc_tasks *list,
                               struct tdc_error *error)
{
    struct tdc_error own = {0};
    tdc_status status = tdc_kernel_set_find(npu, bench, step, options, &list->kernels, &own);
    if (status == TDC_ERR_NOT_FOUND)
        return status;
    size_t count = status == TDC_OK ? tdc_kernel_set_count(list->kernels) : 0;
    for (size_t i = 0; i < count && status == TDC_OK; i++) {
        const struct tdc_graph_item *item = tdc_kernel_set_get(list->kernels, i);
        char name[32] = "";
        if (item->rank[0] != '\0')
            snprintf(name, sizeof name, "step%llu", (unsigned long long)item->token);
        status = add_graph_task(list, item, name, &own);
    }
    if (status == TDC_OK)
        list->left_out = tdc_kernel_set_left_out(list->kernels);
    else
        *error = own;
    return status;
}

/* Folders of other dumps are not searched for graphs: they may hold millions of files. */
static bool may_be_graphs(const char *npu, tdc_status status)
{
    return status == TDC_ERR_NOT_FOUND && tdc_is_folder(npu) && tdc_has_graph_text(npu);
}

tdc_status tdc_tasks_find(const char *npu, const char *bench, int step,
                          const struct tdc_options *options, tdc_tasks **tasks,
                          struct tdc_error *error)
{
    *tasks = NULL;
    struct tdc_options whole;
    tdc_status status = tdc_options_read(options, &whole, error);
    if (status != TDC_OK)
        return status;
    struct tdc_tasks *list = calloc(1, sizeof *list);
    if (list == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
    status = find(npu, bench, step, &whole, list, error);
    if (may_be_graphs(npu, status))
        status = find_graphs(npu, bench, step, &whole, list, error);
    else if (may_be_graphs(bench, status))
        status = tdc_fail(error, TDC_ERR_MISMATCH,
                          "%s: no graph of GE in it, %s has one: the dump of GE is the test, that "
                          "of FX the reference",
                          npu, bench);
    else if (status == TDC_ERR_NOT_FOUND && tdc_is_folder(npu) && tdc_is_folder(bench))
        status = find_kernels(npu, bench, step, &whole, list, error);
    if (status == TDC_OK)
        *tasks = list;
    else
        tdc_tasks_free(list);
    return status;
}
