/* torchair_compare.c - TorchAir's dumps compared as the old tools do: folders, ranks, graphs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "host/graph/files/graph_layout.h"
#include "host/graph/files/say.h"
#include "host/torchair/report.h"
#include "io/base/error.h"
#include "io/base/text.h"
#include "io/storage/looking.h"

#define ARENA_LIMIT ((size_t)16 << 30)
#define PATH_LIMIT  ((size_t)1 << 16)

static const struct tool {
    const char *stem;
    struct tdc_report_style style;
} tools[] = {
    [TDC_TORCHAIR_MSIT] = {"msit_cmp_report", {"torch.float64", "torch.float64"}},
    [TDC_TORCHAIR_MSPROBE] = {"msprobe_cmp_report", {"torch.int32", "torch.int64"}},
};

struct session {
    const struct tool *tool;
    const char *output;
    const struct tdc_options *options;
    struct tdc_error *error;
    char moment[16]; /* of the names of all files, UTC */
    size_t tables;   /* written */
};

/* The data of one rank. */
struct rank_data {
    struct tdc_arena arena;
    const struct tdc_graph_rank *rank;
    bool fx;
    struct tdc_ge_tree mine, golden_ge;
    struct tdc_fx_tree golden_fx;
    uint64_t next_id;
};

/* ---- a table --------------------------------------------------------------------------------- */

/* The moment of the stamp, which is local, in UTC. */
static void take_moment(const char *stamp, char moment[16])
{
    int year, month, day, hour, minute, second;
    snprintf(moment, 16, "%s", stamp);
    if (sscanf(stamp, "%4d%2d%2d%2d%2d%2d", &year, &month, &day, &hour, &minute, &second) != 6)
        return;
    struct tm local = {.tm_year = year - 1900,
                       .tm_mon = month - 1,
                       .tm_mday = day,
                       .tm_hour = hour,
                       .tm_min = minute,
                       .tm_sec = second,
                       .tm_isdst = -1};
    time_t seconds = mktime(&local);
    struct tm utc;
    if (seconds != (time_t)-1 && gmtime_r(&seconds, &utc) != NULL)
        strftime(moment, 16, "%Y%m%d%H%M%S", &utc);
}

static tdc_status write_table(struct session *session, struct rank_data *data, size_t graph,
                              struct tdc_report_row *rows, size_t count)
{
    struct tdc_text path;
    size_t dropped = 0;
    tdc_text_init(&path, PATH_LIMIT);
    tdc_text_addf(&path, "%s/%s_", session->output, session->tool->stem);
    if (data->rank->rank >= 0)
        tdc_text_addf(&path, "rank%ld_", data->rank->rank);
    if (data->rank->text_count > 1)
        tdc_text_addf(&path, "graph%zu_", graph);
    tdc_text_addf(&path, "%s.csv", session->moment);
    tdc_status status =
        path.failed ? tdc_fail(session->error, TDC_ERR_MEMORY, "%s: out of memory", session->output)
                    : tdc_report_write(rows, count, tdc_text_get(&path), &data->next_id, &dropped,
                                       session->error);
    if (status == TDC_OK && dropped != 0)
        tdc_say(session->options, TDC_MESSAGE_INFO,
                "%zu of %zu rows are left out: sizes that differ, or int8 against another type",
                dropped, count);
    if (status == TDC_OK) {
        session->tables++;
        tdc_say(session->options, TDC_MESSAGE_INFO, "Saved comparing results: %s",
                tdc_text_get(&path));
    }
    tdc_text_free(&path);
    return status;
}

static void start_row(const struct tdc_graph_pair *pair, size_t created, struct tdc_report_row *row)
{
    *row = (struct tdc_report_row){.token = pair->token,
                                   .time = pair->file != NULL ? pair->file->name.time : 0,
                                   .output = pair->output,
                                   .index = pair->index,
                                   .created = created};
    row->golden.name = pair->golden;
    row->mine.name = pair->mine;
}

/* A file that cannot be read at all has no tensors to open: the row says why. */
static bool take_error(const struct tdc_graph_pair *pair, struct tdc_report_row *row)
{
    if (pair->error == NULL)
        return true;
    row->reason = strdup(pair->error);
    return row->reason != NULL;
}

/* Rows with names are reduced; those of unreadable files have paths of files, which are no tensors,
 * and keep their own reason. */
static tdc_status fill_rows(struct session *session, const struct tdc_graph_pairs *pairs,
                            struct tdc_report_row *rows, size_t *count)
{
    size_t readable = 0, bad = 0;
    *count = 0;
    for (int errors = 0; errors < 2; errors++)
        for (size_t i = 0; i < pairs->count; i++) {
            const struct tdc_graph_pair *pair = &pairs->pairs[i];
            if ((pair->error != NULL) != (errors == 1) || pair->blank)
                continue;
            start_row(pair, i, &rows[*count]);
            if (!take_error(pair, &rows[(*count)++]))
                return tdc_fail(session->error, TDC_ERR_MEMORY, "out of memory");
            readable += errors == 0;
            bad += errors == 1;
        }
    if (bad != 0)
        tdc_say(session->options, TDC_MESSAGE_WARNING,
                "%zu dump files cannot be read, see their "
                "rows",
                bad);
    return tdc_report_rows_fill(rows, readable, &session->tool->style, session->options,
                                session->error);
}

static tdc_status compare_pairs(struct session *session, struct rank_data *data, size_t graph,
                                const struct tdc_graph_pairs *pairs)
{
    struct tdc_report_row *rows = calloc(pairs->count + 1, sizeof *rows);
    size_t count = 0;
    if (rows == NULL)
        return tdc_fail(session->error, TDC_ERR_MEMORY, "out of memory for %zu rows", pairs->count);
    tdc_status status = fill_rows(session, pairs, rows, &count);
    if (status == TDC_OK)
        status = write_table(session, data, graph, rows, count);
    for (size_t i = 0; i < count; i++)
        tdc_report_row_free(&rows[i]);
    free(rows);
    return status;
}

/* ---- a graph --------------------------------------------------------------------------------- */

static void add_key(struct tdc_text *text, uint64_t token)
{
    tdc_text_addf(text, "%s%llu", text->length != 0 ? ", " : "", (unsigned long long)token);
}

static void say_tokens(const struct session *session, const struct rank_data *data, size_t index)
{
    struct tdc_text mine, golden;
    tdc_text_init(&mine, PATH_LIMIT);
    tdc_text_init(&golden, PATH_LIMIT);
    const struct tdc_ge_model *model = &data->mine.models[index];
    for (size_t i = 0; i < model->count; i++)
        add_key(&mine, model->tokens[i].token);
    if (data->fx)
        for (size_t i = 0; i < data->golden_fx.graphs[index].count; i++)
            add_key(&golden, data->golden_fx.graphs[index].tokens[i].token);
    else
        for (size_t i = 0; i < data->golden_ge.models[index].count; i++)
            add_key(&golden, data->golden_ge.models[index].tokens[i].token);
    tdc_say(session->options, TDC_MESSAGE_INFO, "All token ids in my_dump_data: dict_keys([%s])",
            tdc_text_get(&mine));
    tdc_say(session->options, TDC_MESSAGE_INFO,
            "All token ids in golden_dump_data: dict_keys([%s])", tdc_text_get(&golden));
    tdc_text_free(&mine);
    tdc_text_free(&golden);
}

static tdc_status match_tokens(struct session *session, struct rank_data *data, size_t index,
                               const struct tdc_graph *graph, struct tdc_graph_pairs *pairs)
{
    const struct tdc_ge_model *model = &data->mine.models[index];
    tdc_status status = TDC_OK;
    for (size_t i = 0; i < model->count && status == TDC_OK; i++) {
        uint64_t token = model->tokens[i].token;
        struct tdc_graph_sides sides = {.graph = graph, .mine = &model->tokens[i]};
        if (data->fx)
            sides.fx = tdc_fx_graph_find(&data->golden_fx.graphs[index], token);
        else
            sides.golden = tdc_ge_model_find(&data->golden_ge.models[index], token);
        if (sides.fx == NULL && sides.golden == NULL) {
            tdc_say(session->options, TDC_MESSAGE_WARNING,
                    "My token_id %llu not found in golden dump data", (unsigned long long)token);
            continue;
        }
        tdc_say(session->options, TDC_MESSAGE_INFO, "Comparing token_id: %llu",
                (unsigned long long)token);
        status = tdc_graph_match(&data->arena, &sides, session->options, pairs, session->error);
    }
    return status;
}

static tdc_status compare_graph(struct session *session, struct rank_data *data, size_t index)
{
    struct tdc_graph graph;
    struct tdc_graph_pairs pairs = {0};
    const char *text = data->rank->texts[index];
    tdc_status status = tdc_graph_load(&data->arena, text, &graph, session->error);
    if (status != TDC_OK && status != TDC_ERR_MEMORY) { /* one bad text does not end the others */
        tdc_say(session->options, TDC_MESSAGE_ERROR, "%s; the graph is left out",
                session->error->message);
        tdc_graph_free(&graph);
        return TDC_OK;
    }
    if (status == TDC_OK) {
        tdc_say(session->options, TDC_MESSAGE_INFO, "Comparing GE with %s", data->fx ? "FX" : "GE");
        say_tokens(session, data, index);
        status = match_tokens(session, data, index, &graph, &pairs);
    }
    if (status == TDC_OK)
        status = compare_pairs(session, data, index, &pairs);
    tdc_graph_free(&graph);
    return status;
}

/* ---- a rank ---------------------------------------------------------------------------------- */

static tdc_status find_data(struct session *session, struct rank_data *data, bool ranked)
{
    const struct tdc_graph_rank *rank = data->rank;
    tdc_status status =
        tdc_ge_tree_find(&data->arena, rank->mine, session->options, &data->mine, session->error);
    if (status == TDC_OK && data->fx)
        status = tdc_fx_tree_find(&data->arena, rank->golden, ranked, session->options,
                                  &data->golden_fx, session->error);
    else if (status == TDC_OK)
        status = tdc_ge_tree_find(&data->arena, rank->golden, session->options, &data->golden_ge,
                                  session->error);
    size_t golden = data->fx ? data->golden_fx.count : data->golden_ge.count;
    if (status == TDC_OK && (data->mine.count == 0 || golden == 0))
        status = tdc_fail(session->error, TDC_ERR_NOTHING,
                          "Cannot get %s dump data, because the gathered_files_list is empty.",
                          data->mine.count == 0 || !data->fx ? "ge" : "fx");
    return status;
}

static void say_rank(const struct session *session, const struct tdc_graph_rank *rank)
{
    struct tdc_text list;
    tdc_text_init(&list, PATH_LIMIT);
    for (size_t i = 0; i < rank->text_count; i++)
        tdc_text_addf(&list, "%s'%s'", i != 0 ? ", " : "", rank->texts[i]);
    tdc_say(session->options, TDC_MESSAGE_INFO,
            "[compare_torchair], golden_path: %s, my_path: %s, ge_graph_path: [%s]", rank->golden,
            rank->mine, tdc_text_get(&list));
    tdc_text_free(&list);
}

static tdc_status compare_rank(struct session *session, const struct tdc_graph_layout *layout,
                               const struct tdc_graph_rank *rank)
{
    struct rank_data data = {.rank = rank, .fx = layout->fx};
    tdc_arena_init(&data.arena, ARENA_LIMIT);
    say_rank(session, rank);
    tdc_status status = find_data(session, &data, layout->ranked);
    size_t golden = data.fx ? data.golden_fx.count : data.golden_ge.count;
    for (size_t i = 0; i < rank->text_count && status == TDC_OK; i++) {
        if (i < data.mine.count && i < golden)
            status = compare_graph(session, &data, i);
        else
            tdc_say(session->options, TDC_MESSAGE_WARNING,
                    "%s: no data of this graph on %s side, it is left out", rank->texts[i],
                    i < data.mine.count ? "the golden" : "my");
    }
    tdc_ge_tree_free(&data.mine);
    tdc_ge_tree_free(&data.golden_ge);
    tdc_fx_tree_free(&data.golden_fx);
    tdc_arena_free(&data.arena);
    return status;
}

/* ---- all ------------------------------------------------------------------------------------- */

static tdc_status compare_ranks(struct session *session, const struct tdc_graph_layout *layout)
{
    tdc_stamp *stamp;
    tdc_status status = tdc_stamp_new(session->output, &stamp, session->error);
    if (status != TDC_OK)
        return status;
    take_moment(tdc_stamp_text(stamp), session->moment);
    for (size_t i = 0; i < layout->count && status == TDC_OK; i++)
        status = compare_rank(session, layout, &layout->ranks[i]);
    if (status == TDC_OK && session->tables == 0)
        status = tdc_fail(session->error, TDC_ERR_NOTHING, "nothing was compared");
    tdc_stamp_free(stamp);
    return status;
}

bool tdc_is_torchair_dump(const char *path)
{
    return tdc_has_graph_text(path);
}

tdc_status tdc_torchair_compare(const char *mine, const char *golden, const char *output,
                                tdc_torchair_tool tool, long rank,
                                const struct tdc_options *options, struct tdc_error *error)
{
    struct session session = {
        .tool = &tools[tool == TDC_TORCHAIR_MSPROBE ? TDC_TORCHAIR_MSPROBE : TDC_TORCHAIR_MSIT],
        .output = output,
        .options = options,
        .error = error};
    struct tdc_arena arena;
    struct tdc_graph_layout layout;
    char *my_root = tdc_real_path(mine), *golden_root = tdc_real_path(golden);
    tdc_arena_init(&arena, ARENA_LIMIT);
    tdc_status status =
        my_root == NULL || golden_root == NULL
            ? tdc_fail(error, TDC_ERR_NOT_FOUND, "%s: no such folder",
                       my_root == NULL ? mine : golden)
            : tdc_graph_layout_find(&arena, my_root, golden_root, rank, options, &layout, error);
    if (status == TDC_OK)
        status = compare_ranks(&session, &layout);
    tdc_arena_free(&arena);
    free(my_root);
    free(golden_root);
    return status;
}
