#include "host/graph/graph_set.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/graph/files/arena_list.h"
#include "host/graph/files/graph_layout.h"
#include "host/graph/graph_match.h"
#include "host/graph/files/say.h"
#include "io/base/error.h"
#include "io/storage/looking.h"

#define ARENA_LIMIT ((size_t)16 << 30)

/* The data of one rank. */
struct source {
    const struct tdc_graph_rank *rank;
    struct tdc_ge_tree mine, golden_ge;
    struct tdc_fx_tree golden_fx;
    struct tdc_graph *graphs; /* by graph; without operators when the text is bad */
    size_t graph_count;
};

struct tdc_graph_set {
    struct tdc_arena arena;
    struct tdc_options options;
    struct tdc_graph_layout layout;
    struct source *sources;
    size_t source_count;
    struct tdc_graph_item **items;
    size_t count, room;
    size_t left_out;
    char *mine, *golden; /* real paths */
};

static tdc_status out_of_memory(struct tdc_error *error)
{
    return tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
}

/* ---- loading ------------------------------------------------------------------------------------
 */

static tdc_status load(const struct tdc_graph_item *item, struct tdc_dump **npu,
                       struct tdc_dump **bench, struct tdc_error *error)
{
    const struct tdc_graph_set *set = item->set;
    const struct source *source = &set->sources[item->source];
    struct tdc_arena arena; /* the pairs of one token at a time */
    struct tdc_graph_pairs pairs = {0};
    struct tdc_graph_sides sides = {.graph = &source->graphs[item->graph], .complete = true};
    *npu = *bench = NULL;
    sides.mine = tdc_ge_model_find(&source->mine.models[item->graph], item->token);
    if (set->layout.fx)
        sides.fx = tdc_fx_graph_find(&source->golden_fx.graphs[item->graph], item->token);
    else
        sides.golden = tdc_ge_model_find(&source->golden_ge.models[item->graph], item->token);
    tdc_arena_init(&arena, ARENA_LIMIT);
    tdc_status status = tdc_graph_match(&arena, &sides, &set->options, &pairs, error);
    if (status == TDC_OK)
        status = tdc_graph_dumps(item, &pairs, npu, bench, error);
    tdc_arena_free(&arena);
    return status;
}

/* ---- comparisons ----------------------------------------------------------------------------- */

static tdc_status add_item(struct tdc_graph_set *set, size_t source, size_t graph, uint64_t token,
                           struct tdc_error *error)
{
    const struct source *from = &set->sources[source];
    struct tdc_graph_item *item = tdc_arena_zeroed(&set->arena, 1, sizeof *item);
    if (item == NULL || !tdc_arena_grow(&set->arena, (void **)&set->items, set->count,
                                        sizeof(struct tdc_graph_item *), &set->room))
        return out_of_memory(error);
    char rank[26] = "", number[32] = "";
    if (set->layout.ranked)
        snprintf(rank, sizeof rank, "rank%ld", from->rank->rank);
    if (from->rank->text_count > 1)
        snprintf(number, sizeof number, "%sgraph%zu", rank[0] != '\0' ? "_" : "", graph);
    *item = (struct tdc_graph_item){.load = load,
                                    .set = set,
                                    .mine = from->rank->mine,
                                    .golden = from->rank->golden,
                                    .token = token,
                                    .source = source,
                                    .graph = graph};
    snprintf(item->rank, sizeof item->rank, "%s%s", rank, number);
    set->items[set->count++] = item;
    return TDC_OK;
}

static void leave_out(struct tdc_graph_set *set, const char *folder, size_t graph, uint64_t token)
{
    set->left_out++;
    tdc_say(&set->options, TDC_MESSAGE_WARNING,
            "%s: token %llu of graph %zu has no counterpart and is left out", folder,
            (unsigned long long)token, graph);
}

static bool golden_has(const struct tdc_graph_set *set, const struct source *source, size_t graph,
                       uint64_t token)
{
    return set->layout.fx ? tdc_fx_graph_find(&source->golden_fx.graphs[graph], token) != NULL
                          : tdc_ge_model_find(&source->golden_ge.models[graph], token) != NULL;
}

/* Tokens of the reference that the test does not have. */
static void leave_golden(struct tdc_graph_set *set, const struct source *source, size_t graph,
                         int wanted)
{
    size_t count = set->layout.fx ? source->golden_fx.graphs[graph].count
                                  : source->golden_ge.models[graph].count;
    for (size_t i = 0; i < count; i++) {
        uint64_t token = set->layout.fx ? source->golden_fx.graphs[graph].tokens[i].token
                                        : source->golden_ge.models[graph].tokens[i].token;
        if ((wanted < 0 || token == (uint64_t)wanted) &&
            tdc_ge_model_find(&source->mine.models[graph], token) == NULL)
            leave_out(set, source->rank->golden, graph, token);
    }
}

static tdc_status add_graph(struct tdc_graph_set *set, size_t number, size_t graph, int wanted,
                            struct tdc_error *error)
{
    struct source *source = &set->sources[number];
    const struct tdc_ge_model *model = &source->mine.models[graph];
    tdc_status status =
        tdc_graph_load(&set->arena, source->rank->texts[graph], &source->graphs[graph], error);
    if (status != TDC_OK && status != TDC_ERR_MEMORY) {
        set->left_out++;
        tdc_say(&set->options, TDC_MESSAGE_ERROR, "%s; the graph is left out", error->message);
        return TDC_OK;
    }
    for (size_t i = 0; i < model->count && status == TDC_OK; i++) {
        uint64_t token = model->tokens[i].token;
        if (wanted >= 0 && token != (uint64_t)wanted)
            continue;
        if (golden_has(set, source, graph, token)) {
            status = add_item(set, number, graph, token, error);
        } else {
            leave_out(set, source->rank->mine, graph, token);
        }
    }
    leave_golden(set, source, graph, wanted);
    return status;
}

static tdc_status add_source(struct tdc_graph_set *set, size_t number, int wanted,
                             struct tdc_error *error)
{
    struct source *source = &set->sources[number];
    source->rank = &set->layout.ranks[number];
    tdc_status status =
        tdc_ge_tree_find(&set->arena, source->rank->mine, &set->options, &source->mine, error);
    if (status == TDC_OK && set->layout.fx)
        status = tdc_fx_tree_find(&set->arena, source->rank->golden, set->layout.ranked,
                                  &set->options, &source->golden_fx, error);
    else if (status == TDC_OK)
        status = tdc_ge_tree_find(&set->arena, source->rank->golden, &set->options,
                                  &source->golden_ge, error);
    size_t golden = set->layout.fx ? source->golden_fx.count : source->golden_ge.count;
    source->graphs =
        tdc_arena_zeroed(&set->arena, source->rank->text_count, sizeof *source->graphs);
    if (status == TDC_OK && source->graphs == NULL)
        status = out_of_memory(error);
    source->graph_count = source->graphs != NULL ? source->rank->text_count : 0;
    for (size_t i = 0; i < source->graph_count && status == TDC_OK; i++) {
        if (i < source->mine.count && i < golden) {
            status = add_graph(set, number, i, wanted, error);
        } else {
            set->left_out++;
            tdc_say(&set->options, TDC_MESSAGE_WARNING, "%s: %s has no data of this graph",
                    source->rank->texts[i], i < source->mine.count ? "ref" : "test");
        }
    }
    return status;
}

/* ---- the set --------------------------------------------------------------------------------- */

static tdc_status find_all(struct tdc_graph_set *set, const char *mine, const char *golden,
                           int token, struct tdc_error *error)
{
    set->mine = tdc_real_path(mine);
    set->golden = tdc_real_path(golden);
    if (set->mine == NULL || set->golden == NULL)
        return tdc_fail(error, TDC_ERR_NOT_FOUND, "%s: no such folder",
                        set->mine == NULL ? mine : golden);
    tdc_status status = tdc_graph_layout_find(&set->arena, set->mine, set->golden, -1,
                                              &set->options, &set->layout, error);
    if (status == TDC_OK)
        set->sources = tdc_arena_zeroed(&set->arena, set->layout.count, sizeof *set->sources);
    if (status == TDC_OK && set->sources == NULL)
        return out_of_memory(error);
    for (size_t i = 0; i < set->layout.count && status == TDC_OK; i++) {
        set->source_count = i + 1;
        status = add_source(set, i, token, error);
    }
    if (status == TDC_OK && set->count == 0)
        status =
            tdc_fail(error, TDC_ERR_NOTHING, "%s and %s have no token in common", mine, golden);
    return status;
}

tdc_status tdc_graph_set_find(const char *mine, const char *golden, int token,
                              const struct tdc_options *options, struct tdc_graph_set **set,
                              struct tdc_error *error)
{
    *set = NULL;
    struct tdc_graph_set *made = calloc(1, sizeof *made);
    if (made == NULL)
        return out_of_memory(error);
    tdc_arena_init(&made->arena, ARENA_LIMIT);
    made->options = *options;
    tdc_status status = find_all(made, mine, golden, token, error);
    if (status == TDC_OK)
        *set = made;
    else
        tdc_graph_set_free(made);
    return status;
}

void tdc_graph_set_free(struct tdc_graph_set *set)
{
    if (set == NULL)
        return;
    for (size_t i = 0; i < set->source_count; i++) {
        struct source *source = &set->sources[i];
        for (size_t k = 0; k < source->graph_count; k++)
            tdc_graph_free(&source->graphs[k]);
        tdc_ge_tree_free(&source->mine);
        tdc_ge_tree_free(&source->golden_ge);
        tdc_fx_tree_free(&source->golden_fx);
    }
    tdc_arena_free(&set->arena);
    free(set->mine);
    free(set->golden);
    free(set);
}

size_t tdc_graph_set_count(const struct tdc_graph_set *set)
{
    return set->count;
}

const struct tdc_graph_item *tdc_graph_set_get(const struct tdc_graph_set *set, size_t index)
{
    return set->items[index];
}

size_t tdc_graph_set_left_out(const struct tdc_graph_set *set)
{
    return set->left_out;
}
