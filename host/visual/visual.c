/* visual.c - the database of all ranks and steps of a comparison, or of one side. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/visual/vis_compare.h"
#include "host/visual/vis_legend.h"
#include "host/visual/vis_mapping.h"
#include "host/visual/vis_write.h"
#include "io/base/error.h"
#include "io/base/sized.h"
#include "io/file/out_file.h"

/* One rank of one step. */
struct pair {
    const struct tdc_task *task;
    int64_t step, rank;
    struct tdc_vis_graph npu, bench;
    bool loaded[2]; /* to be freed */
    enum tdc_vis_mode mode;
    int64_t micro_steps;
    bool good;
};

struct work {
    const struct tdc_options *options;
    unsigned flags;
    const char *output;
    struct pair *pairs;
    size_t count;
    struct tdc_visual done;
    struct tdc_error first; /* what was wrong with the first that could not be used */
};

static void say(const struct work *work, tdc_message_level level, const char *text)
{
    if (work->options->message != NULL)
        work->options->message(work->options->context, level, text);
}

/* ---- one rank -------------------------------------------------------------------------------- */

static bool is_mindspore(const struct tdc_vis_graph *graph)
{
    if (graph->framework != NULL &&
        (strcmp(graph->framework, "pytorch") == 0 || strcmp(graph->framework, "mindspore") == 0))
        return graph->framework[0] == 'm';
    return graph->types_mindspore;
}

static tdc_status compare_pair(const struct work *work, struct pair *pair, struct tdc_error *error)
{
    tdc_status status = tdc_vis_find_mode(&pair->npu, &pair->bench, &pair->mode, error);
    if (status != TDC_OK)
        return status;
    struct tdc_options options = *work->options;
    bool across = is_mindspore(&pair->npu) != is_mindspore(&pair->bench);
    if (across && !options.layer_mapping.use && (work->flags & TDC_VISUAL_MSPROBE) != 0)
        return tdc_fail(error, TDC_ERR_MISMATCH,
                        "The cross_frame graph comparison failed. Please specify -lm or "
                        "--layer_mapping when performing cross_frame graph comparison.");
    options.layer_mapping.use |= across;
    uint32_t *mapping = NULL;
    if (options.layer_mapping.use) {
        mapping = calloc(pair->npu.count, sizeof *mapping);
        if (mapping == NULL)
            return tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", pair->npu.path);
        options.framework = is_mindspore(&pair->npu) ? TDC_FRAMEWORK_MINDSPORE : options.framework;
        struct tdc_error mapped;
        if (tdc_vis_map_layers(&pair->npu, &pair->bench, &options, mapping, &mapped) != TDC_OK) {
            char text[1200];
            snprintf(text, sizeof text, "the layer mapping is not used: %s", mapped.message);
            say(work, TDC_MESSAGE_WARNING, text);
        }
    }
    struct tdc_vis_comparison comparison = {.npu = &pair->npu,
                                            .bench = &pair->bench,
                                            .mode = pair->mode,
                                            .fuzzy = (work->options->flags & TDC_OPTION_FUZZY) != 0,
                                            .whole = (work->flags & TDC_VISUAL_MSPROBE) == 0,
                                            .mapping = mapping,
                                            .options = work->options};
    status = tdc_vis_compare(&comparison, error);
    free(mapping);
    return status;
}

static tdc_status load_pair(const struct work *work, struct pair *pair, struct tdc_error *error)
{
    bool whole = (work->flags & TDC_VISUAL_MSPROBE) == 0;
    bool one_side = (work->flags & TDC_VISUAL_ONE_SIDE) != 0;
    if (pair->task->debug)
        return tdc_fail(error, TDC_ERR_MISMATCH, "%s: a graph cannot be made of it",
                        pair->task->npu);
    pair->loaded[0] = true;
    tdc_status status =
        tdc_vis_graph_load(pair->task->npu, whole, work->options, &pair->npu, error);
    if (status != TDC_OK)
        return status;
    if (!one_side) {
        pair->loaded[1] = true;
        status = tdc_vis_graph_load(pair->task->bench, whole, work->options, &pair->bench, error);
        if (status == TDC_OK)
            status = compare_pair(work, pair, error);
    }
    if (status == TDC_OK)
        pair->micro_steps = tdc_vis_micro_steps(&pair->npu, one_side ? NULL : &pair->bench);
    return status;
}

static void free_pair(struct pair *pair)
{
    if (pair->loaded[0])
        tdc_vis_graph_free(&pair->npu);
    if (pair->loaded[1])
        tdc_vis_graph_free(&pair->bench);
    pair->loaded[0] = pair->loaded[1] = false;
}

/* What ends everything, and not one rank alone. */
static bool is_fatal(tdc_status status)
{
    return status == TDC_ERR_MEMORY || status == TDC_ERR_INTERRUPTED || status == TDC_ERR_WRITE ||
           status == TDC_ERR_SYSTEM;
}

/* ---- one step -------------------------------------------------------------------------------- */

static tdc_status link_ranks(const struct work *work, struct pair *pairs, size_t count, bool bench,
                             struct tdc_error *error)
{
    struct tdc_vis_graph **graphs = calloc(count, sizeof *graphs);
    int64_t *ranks = calloc(count, sizeof *ranks);
    size_t good = 0;
    bool linked = graphs != NULL && ranks != NULL;
    for (size_t i = 0; i < count && linked; i++) {
        if (!pairs[i].good)
            continue;
        graphs[good] = bench ? &pairs[i].bench : &pairs[i].npu;
        ranks[good++] = pairs[i].rank;
    }
    if (linked && good > 1)
        linked = tdc_vis_link_ranks(graphs, ranks, good, (work->flags & TDC_VISUAL_OVERFLOW) != 0);
    free(graphs);
    free(ranks);
    return linked ? TDC_OK : tdc_fail(error, TDC_ERR_MEMORY, "out of memory for links of ranks");
}

static uint64_t count_unmatched(const struct tdc_vis_graph *graph)
{
    uint64_t unmatched = 0;
    for (uint32_t i = 0; i < graph->in_tree; i++)
        unmatched += graph->nodes[graph->order[i]].partner == TDC_VIS_NONE;
    return unmatched;
}

static tdc_status write_pair(struct work *work, struct tdc_vis_db *db, struct pair *pair,
                             struct tdc_error *error)
{
    bool one_side = (work->flags & TDC_VISUAL_ONE_SIDE) != 0;
    bool digests = !one_side && pair->mode == TDC_VIS_DIGESTS;
    struct tdc_vis_writing writing = {.db = db,
                                      .graph = &pair->npu,
                                      .other = one_side ? NULL : &pair->bench,
                                      .source = "NPU",
                                      .step = pair->step,
                                      .rank = pair->rank,
                                      .digests = digests,
                                      .overflow = (work->flags & TDC_VISUAL_OVERFLOW) != 0};
    tdc_status status = tdc_vis_write_graph(&writing, error);
    work->done.nodes += pair->npu.in_tree;
    if (status != TDC_OK || one_side)
        return status;
    /* msprobe of 2025 forgets the checksums of the bench side */
    writing.digests = digests && (work->flags & TDC_VISUAL_MSPROBE) == 0;
    writing.graph = &pair->bench;
    writing.other = &pair->npu;
    writing.source = "Bench";
    work->done.nodes += pair->bench.in_tree;
    work->done.unmatched += count_unmatched(&pair->npu);
    return tdc_vis_write_graph(&writing, error);
}

/* All ranks of a step are there at once, as they are linked with each other. */
static tdc_status do_step(struct work *work, struct tdc_vis_db *db, struct pair *pairs,
                          size_t count, struct tdc_error *error)
{
    tdc_status status = TDC_OK;
    for (size_t i = 0; i < count && status == TDC_OK; i++) {
        struct tdc_error own = {0};
        tdc_status loaded = load_pair(work, &pairs[i], &own);
        pairs[i].good = loaded == TDC_OK;
        if (loaded == TDC_OK)
            continue;
        free_pair(&pairs[i]);
        if (work->done.failed++ == 0)
            work->first = own;
        if (is_fatal(loaded)) {
            *error = own;
            status = loaded;
        } else if (work->count > 1) {
            say(work, TDC_MESSAGE_ERROR, own.message);
        }
    }
    if (status == TDC_OK)
        status = link_ranks(work, pairs, count, false, error);
    if (status == TDC_OK && (work->flags & TDC_VISUAL_ONE_SIDE) == 0)
        status = link_ranks(work, pairs, count, true, error);
    for (size_t i = 0; i < count && status == TDC_OK; i++) {
        if (!pairs[i].good)
            continue;
        status = write_pair(work, db, &pairs[i], error);
        work->done.ranks++;
    }
    for (size_t i = 0; i < count; i++)
        free_pair(&pairs[i]);
    return status;
}

/* ---- one database ---------------------------------------------------------------------------- */

static int compare_numbers(const void *left, const void *right)
{
    int64_t one = *(const int64_t *)left, other = *(const int64_t *)right;
    return (one > other) - (one < other);
}

/* The numbers of all that were written, each once. */
static bool put_numbers(struct tdc_text *out, const struct pair *pairs, size_t count, bool steps)
{
    int64_t *numbers = calloc(count, sizeof *numbers);
    size_t good = 0;
    if (numbers == NULL)
        return false;
    for (size_t i = 0; i < count; i++)
        if (pairs[i].good)
            numbers[good++] = steps ? pairs[i].step : pairs[i].rank;
    qsort(numbers, good, sizeof *numbers, compare_numbers);
    tdc_text_addc(out, '[');
    for (size_t i = 0; i < good; i++)
        if (i == 0 || numbers[i] != numbers[i - 1])
            tdc_text_addf(out, i == 0 ? "%lld" : ", %lld", (long long)numbers[i]);
    tdc_text_addc(out, ']');
    free(numbers);
    return !out->failed;
}

static tdc_status write_config(const struct work *work, struct tdc_vis_db *db,
                               const struct pair *pairs, size_t count, struct tdc_error *error)
{
    const struct pair *first = pairs;
    while (!first->good)
        first++;
    bool one_side = (work->flags & TDC_VISUAL_ONE_SIDE) != 0;
    struct tdc_text tip, colours, ranks, steps;
    struct tdc_text *const texts[] = {&tip, &colours, &ranks, &steps};
    for (size_t i = 0; i < 4; i++)
        tdc_text_init(texts[i], (size_t)1 << 24);
    if (one_side) {
        tdc_text_adds(&colours, "null");
    } else {
        tdc_vis_tool_tip(&tip, first->mode);
        tdc_vis_colours(&colours, first->mode);
    }
    bool good = put_numbers(&ranks, pairs, count, false) && put_numbers(&steps, pairs, count, true);
    const struct tdc_vis_config config = {.graph_type = one_side ? "build" : "compare",
                                          .task = one_side ? "" : tdc_vis_task_name(first->mode),
                                          .tool_tip = one_side ? NULL : tdc_text_get(&tip),
                                          .micro_steps = first->micro_steps,
                                          .overflow_check =
                                              (work->flags & TDC_VISUAL_OVERFLOW) != 0,
                                          .colours = tdc_text_get(&colours),
                                          .ranks = tdc_text_get(&ranks),
                                          .steps = tdc_text_get(&steps)};
    tdc_status status = !good || tip.failed || colours.failed
                            ? tdc_fail(error, TDC_ERR_MEMORY, "out of memory")
                            : tdc_vis_db_config(db, &config, error);
    for (size_t i = 0; i < 4; i++)
        tdc_text_free(texts[i]);
    return status;
}

static tdc_status fill_database(struct work *work, struct tdc_vis_db *db, struct pair *pairs,
                                size_t count, struct tdc_error *error)
{
    uint64_t before = work->done.ranks;
    tdc_status status = TDC_OK;
    for (size_t start = 0, end; start < count && status == TDC_OK; start = end) {
        for (end = start; end < count && pairs[end].step == pairs[start].step;)
            end++;
        status = do_step(work, db, pairs + start, end - start, error);
    }
    if (status == TDC_OK && work->done.ranks == before) {
        *error = work->first;
        status = error->status;
    }
    return status == TDC_OK ? write_config(work, db, pairs, count, error) : status;
}

/* The pairs of one folder of a mixed dump; all of them of any other. */
static tdc_status write_database(struct work *work, struct pair *pairs, size_t count,
                                 struct tdc_error *error)
{
    const char *folder = pairs[0].task->folder;
    struct tdc_text path;
    tdc_text_init(&path, (size_t)1 << 16);
    tdc_text_adds(&path, work->output);
    tdc_text_addf(&path, folder[0] != '\0' ? "/%s" : "%s", folder);
    tdc_stamp *stamp = NULL;
    tdc_status status = path.failed ? tdc_fail(error, TDC_ERR_MEMORY, "out of memory")
                                    : tdc_make_folders(tdc_text_get(&path), error);
    if (status == TDC_OK)
        status = tdc_stamp_new(tdc_text_get(&path), &stamp, error);
    if (status == TDC_OK) {
        tdc_text_addf(&path, "/%s_%s.vis.db",
                      (work->flags & TDC_VISUAL_ONE_SIDE) != 0 ? "build" : "compare",
                      tdc_stamp_text(stamp));
        struct tdc_vis_db *db = NULL;
        status = path.failed ? tdc_fail(error, TDC_ERR_MEMORY, "out of memory")
                             : tdc_vis_db_open(tdc_text_get(&path), &db, error);
        if (status == TDC_OK)
            status = fill_database(work, db, pairs, count, error);
        if (status == TDC_OK)
            status = tdc_vis_db_close(db, error);
        else
            tdc_vis_db_discard(db);
        if (status == TDC_OK)
            say(work, TDC_MESSAGE_INFO, tdc_text_get(&path));
        tdc_stamp_free(stamp);
    }
    tdc_text_free(&path);
    return status;
}

/* ---- all ------------------------------------------------------------------------------------- */

/* "rank12" -> 12, "rank" and what has no number -> 0. */
static int64_t number_in(const char *name, const char *word)
{
    size_t length = strlen(word), digits = 0;
    if (strncmp(name, word, length) == 0)
        digits = strspn(name + length, "0123456789");
    return digits != 0 && digits < 10 && name[length + digits] == '\0'
               ? strtoll(name + length, NULL, 10)
               : 0;
}

/* Processes that have no rank are numbered in their order: a node's id tells step and rank. */
static void number_pairs(struct pair *pairs, size_t count)
{
    bool distinct = true;
    for (size_t i = 1; i < count; i++)
        if (pairs[i].step == pairs[i - 1].step && pairs[i].rank <= pairs[i - 1].rank &&
            strcmp(pairs[i].task->folder, pairs[i - 1].task->folder) == 0)
            distinct = false;
    if (distinct)
        return;
    for (size_t i = 0; i < count; i++)
        pairs[i].rank = i != 0 && pairs[i].step == pairs[i - 1].step &&
                                strcmp(pairs[i].task->folder, pairs[i - 1].task->folder) == 0
                            ? pairs[i - 1].rank + 1
                            : 0;
}

tdc_status tdc_visual_write(const tdc_tasks *tasks, const char *output, unsigned flags,
                            const struct tdc_options *options, struct tdc_visual *visual,
                            size_t size, struct tdc_error *error)
{
    struct work work = {
        .options = options, .flags = flags, .output = output, .count = tdc_tasks_count(tasks)};
    tdc_sized_give(visual, size, &work.done, sizeof work.done);
    if (work.count == 0)
        return tdc_fail(error, TDC_ERR_NOTHING, "there is no dump.json to make a graph of");
    work.pairs = calloc(work.count, sizeof *work.pairs);
    if (work.pairs == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory for %zu dumps", work.count);
    for (size_t i = 0; i < work.count; i++) {
        const struct tdc_task *task = tdc_tasks_get(tasks, i);
        work.pairs[i] = (struct pair){.task = task,
                                      .step = number_in(task->step, "step"),
                                      .rank = number_in(task->rank, "rank")};
    }
    number_pairs(work.pairs, work.count);
    tdc_status status = TDC_OK;
    for (size_t start = 0, end; start < work.count && status == TDC_OK; start = end) {
        const char *folder = work.pairs[start].task->folder;
        for (end = start; end < work.count && strcmp(work.pairs[end].task->folder, folder) == 0;)
            end++;
        status = write_database(&work, work.pairs + start, end - start, error);
    }
    tdc_sized_give(visual, size, &work.done, sizeof work.done);
    free(work.pairs);
    return status;
}
