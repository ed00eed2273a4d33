/* offline_compare.c - two folders of dump files as CANN's tools compare them: their table. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/graph/files/say.h"
#include "host/offline/offline_rows.h"
#include "io/base/error.h"
#include "io/base/text.h"
#include "io/file/mapping_guard.h"
#include "io/storage/looking.h"
#include "io/table/sink.h"

#define ARENA_LIMIT ((size_t)8 << 30)
#define PATH_LIMIT  ((size_t)1 << 16)

enum {
    HEAD = 10,
    GOLDEN_ADDRESS = 7, /* a column that arrays have not */
    COLUMNS = HEAD + TDC_OFFLINE_METRICS + 1
};

static const char *const head[HEAD] = {"Index",       "OpType",      "NPUDump",  "DataType",
                                       "Address",     "GroundTruth", "DataType", "Address",
                                       "TensorIndex", "Shape"};

/* ---- the table
 * ----------------------------------------------------------------------------------- */

static struct tdc_cell text_cell(const char *text)
{
    const char *shown = text != NULL ? text : "NaN";
    return (struct tdc_cell){.kind = TDC_CELL_TEXT, .text = shown, .length = strlen(shown)};
}

/* Room for the numbers of a row. */
struct numbers {
    char index[24], addresses[2][24];
};

static const char *address_text(const struct tdc_offline_row *row, int side, struct numbers *room)
{
    if (row->addresses[side] == 0)
        return NULL;
    snprintf(room->addresses[side], sizeof room->addresses[side], "%llu",
             (unsigned long long)row->addresses[side]);
    return room->addresses[side];
}

static void fill_cells(const struct tdc_offline_row *row, struct numbers *room,
                       struct tdc_cell cells[COLUMNS])
{
    snprintf(room->index, sizeof room->index, "%zu", row->index);
    const char *texts[HEAD] = {room->index,
                               row->type,
                               row->mine,
                               row->dtypes[0],
                               address_text(row, 0, room),
                               row->golden,
                               row->dtypes[1],
                               address_text(row, 1, room),
                               row->tensor,
                               row->shape};
    for (size_t i = 0; i < HEAD; i++)
        cells[i] = text_cell(texts[i]);
    for (size_t i = 0; i < TDC_OFFLINE_METRICS; i++)
        cells[HEAD + i] = text_cell(row->result != NULL ? row->result->cells[i] : NULL);
    cells[COLUMNS - 1] = text_cell(row->remark != NULL ? row->remark : "");
}

/* Arrays have no address: their column is left out. */
static size_t leave_out(const void *from, size_t size, bool arrays, void *to)
{
    const char *bytes = from;
    size_t before = arrays ? GOLDEN_ADDRESS : COLUMNS, rest = COLUMNS - before;
    memcpy(to, bytes, before * size);
    if (rest > 1)
        memcpy((char *)to + before * size, bytes + (before + 1) * size, (rest - 1) * size);
    return arrays ? COLUMNS - 1 : COLUMNS;
}

static tdc_status write_rows(const struct tdc_offline_rows *rows, bool arrays, const char *path,
                             struct tdc_error *error)
{
    const char *all[COLUMNS], *columns[COLUMNS];
    memcpy(all, head, sizeof head);
    memcpy(all + HEAD, tdc_offline_metrics, sizeof tdc_offline_metrics);
    all[COLUMNS - 1] = "CompareFailReason";
    struct tdc_sink_spec spec = {.path = path,
                                 .exclusive = true,
                                 .columns = columns,
                                 .rows = rows->count,
                                 .sheet = "Sheet1"};
    spec.column_count = leave_out(all, sizeof *all, arrays, columns);
    struct tdc_sink *sink;
    tdc_status status = tdc_sink_open(TDC_FORMAT_CSV, &spec, &sink, error);
    if (status != TDC_OK)
        return status;
    for (size_t i = 0; i < rows->count && status == TDC_OK; i++) {
        struct tdc_cell cells[COLUMNS], shown[COLUMNS];
        struct numbers room;
        fill_cells(&rows->rows[i], &room, cells);
        leave_out(cells, sizeof *cells, arrays, shown);
        status = tdc_sink_row(sink, shown, TDC_COLOUR_NONE, error);
    }
    if (status == TDC_OK)
        return tdc_sink_close(sink, error);
    tdc_sink_discard(sink);
    return status;
}

static tdc_status write_table(const struct tdc_offline_rows *rows, bool arrays, const char *output,
                              const struct tdc_options *options, struct tdc_error *error)
{
    tdc_stamp *stamp;
    struct tdc_text path;
    tdc_status status = tdc_stamp_new(output, &stamp, error);
    if (status != TDC_OK)
        return status;
    tdc_text_init(&path, PATH_LIMIT);
    tdc_text_addf(&path, "%s/result_%s.csv", output, tdc_stamp_text(stamp));
    status = path.failed ? tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", output)
                         : write_rows(rows, arrays, tdc_text_get(&path), error);
    if (status == TDC_OK)
        tdc_say(options, TDC_MESSAGE_INFO, "The comparison result have been written to \"%s\".",
                tdc_text_get(&path));
    tdc_text_free(&path);
    tdc_stamp_free(stamp);
    return status;
}

/* ---- two folders
 * ---------------------------------------------------------------------------------- */

struct session {
    struct tdc_arena arena;
    const struct tdc_offline_rules *rules;
    const struct tdc_options *options;
    struct tdc_offline_side mine, golden;
    struct tdc_fusion_rule rule, second;
    bool ruled;
    struct tdc_offline_rows rows;
    struct tdc_error *error;
};

/* Which rules the two sides want, in words of the command line. */
static tdc_status check_rules(const struct session *session)
{
    const struct tdc_offline_rules *rules = session->rules;
    const char *what = NULL;
    if (session->mine.arrays && (session->golden.arrays ? rules->quantised == NULL : true))
        what = session->golden.arrays
                   ? "arrays against arrays need the rule of the quantised model (-qfr)"
                   : "arrays cannot be compared with a dump of GE: change the sides";
    else if (session->golden.arrays && rules->fusion == NULL && !session->mine.arrays)
        what = "arrays of the original model need the fusion rule (-fr)";
    else if (session->golden.arrays && rules->unfused != NULL)
        what = "a rule without fusion (-cfr) is for two dumps of GE";
    else if (!session->golden.arrays && (rules->fusion == NULL) != (rules->unfused == NULL))
        what = "two dumps of GE need the rules of both (-fr and -cfr), or none";
    else if (!session->golden.arrays && rules->quantised != NULL)
        what = "the rule of a quantised model (-qfr) is for arrays of the original model";
    return what == NULL ? TDC_OK : tdc_fail(session->error, TDC_ERR_MISMATCH, "%s", what);
}

static tdc_status read_rules(struct session *session)
{
    const struct tdc_offline_rules *rules = session->rules;
    const char *first = rules->fusion != NULL ? rules->fusion : rules->quantised;
    const char *second = rules->unfused != NULL ? rules->unfused : rules->quantised;
    if (first == NULL)
        return TDC_OK;
    session->ruled = true;
    tdc_status status =
        tdc_fusion_rule_read(&session->arena, first, &session->rule, session->error);
    if (status != TDC_OK || second == NULL || second == first)
        return status;
    status = tdc_fusion_rule_read(&session->arena, second, &session->second, session->error);
    if (status != TDC_OK)
        return status;
    bool joined = rules->unfused != NULL
                      ? tdc_fusion_rule_against(&session->arena, &session->rule, &session->second)
                      : tdc_fusion_rule_through(&session->arena, &session->rule, &session->second);
    return joined ? TDC_OK
                  : tdc_fail(session->error, TDC_ERR_MEMORY, "out of memory for the fusion rules");
}

static tdc_status compare(struct session *session, const char *mine, const char *golden,
                          const char *output)
{
    struct tdc_error *error = session->error;
    tdc_status status =
        tdc_offline_side_read(&session->arena, mine, session->options, &session->mine, error);
    if (status == TDC_OK)
        status = tdc_offline_side_read(&session->arena, golden, session->options, &session->golden,
                                       error);
    if (status == TDC_OK)
        status = check_rules(session);
    if (status == TDC_OK)
        status = read_rules(session);
    if (status == TDC_OK)
        status = session->ruled
                     ? tdc_offline_match_by_rule(&session->arena, &session->rule, &session->mine,
                                                 &session->golden, session->options, &session->rows,
                                                 error)
                     : tdc_offline_match(&session->arena, &session->mine, &session->golden,
                                         session->options, &session->rows, error);
    if (status == TDC_OK && session->rows.matched == 0)
        status = tdc_fail(error, TDC_ERR_NOTHING,
                          "The model does not match the dump data, please check the model and the "
                          "dump data again.");
    if (status == TDC_OK)
        status = tdc_offline_fill(&session->rows, session->options, error);
    if (status == TDC_OK)
        status =
            write_table(&session->rows, session->golden.arrays, output, session->options, error);
    return status;
}

tdc_status tdc_offline_compare(const char *mine, const char *golden, const char *output,
                               const struct tdc_offline_rules *rules,
                               const struct tdc_options *options, size_t *lonely,
                               struct tdc_error *error)
{
    struct session session = {.rules = rules, .options = options, .error = error};
    char *my_root = tdc_real_path(mine), *golden_root = tdc_real_path(golden);
    tdc_arena_init(&session.arena, ARENA_LIMIT);
    tdc_names_init(&session.mine.ops);
    tdc_names_init(&session.golden.ops);
    tdc_names_init(&session.rule.names);
    tdc_names_init(&session.second.names);
    tdc_status status = my_root != NULL && golden_root != NULL
                            ? compare(&session, my_root, golden_root, output)
                            : tdc_fail(error, TDC_ERR_NOT_FOUND, "%s: no such folder",
                                       my_root == NULL ? mine : golden);
    *lonely = session.rows.lonely;
    tdc_offline_rows_free(&session.rows);
    tdc_fusion_rule_free(&session.rule);
    tdc_fusion_rule_free(&session.second);
    tdc_offline_side_free(&session.mine);
    tdc_offline_side_free(&session.golden);
    tdc_arena_free(&session.arena);
    free(my_root);
    free(golden_root);
    return status;
}

/* ---- two files
 * ------------------------------------------------------------------------------------- */

/* Names and values below each other, as wide as the wider of the two. */
static void write_lines(const struct tdc_offline_result *result, char *names, char *values,
                        size_t size)
{
    size_t at = 0;
    for (size_t i = 0; i < TDC_OFFLINE_METRICS; i++) {
        int name = (int)strlen(tdc_offline_metrics[i]), value = (int)strlen(result->cells[i]);
        int width = name > value ? name : value;
        if (at + (size_t)width + 2 > size)
            break;
        snprintf(names + at, size - at, "%-*s ", width, tdc_offline_metrics[i]);
        at += (size_t)snprintf(values + at, size - at, "%-*s ", width, result->cells[i]);
    }
}

static tdc_status compare_tensors(const char *mine, const char *golden,
                                  const struct tdc_tensor tensors[2],
                                  struct tdc_offline_result *result, struct tdc_error *error)
{
    bool same = tensors[0].dimensions == tensors[1].dimensions &&
                memcmp(tensors[0].shape, tensors[1].shape,
                       tensors[0].dimensions * sizeof *tensors[0].shape) == 0;
    if (!same || tensors[0].count == 0)
        return tdc_fail(error, TDC_ERR_MISMATCH,
                        same ? "%s and %s hold nothing" : "%s and %s differ in their shapes", mine,
                        golden);
    struct tdc_offline_worker *worker = tdc_offline_worker_new();
    tdc_status status =
        worker != NULL
            ? tdc_offline_measure(worker, &tensors[0], &tensors[1],
                                  tdc_offline_is_scalar(tensors[0].shape, tensors[0].dimensions),
                                  false, result)
            : TDC_ERR_MEMORY;
    tdc_offline_worker_free(worker);
    return status == TDC_OK ? TDC_OK : tdc_fail(error, status, "%s cannot be compared", mine);
}

tdc_status tdc_offline_compare_files(const char *mine, const char *golden,
                                     const struct tdc_options *options, struct tdc_error *error)
{
    const char *paths[] = {mine, golden};
    struct tdc_tensor tensors[2];
    struct tdc_offline_result result;
    size_t open = 0;
    if (!tdc_guard_begin())
        return tdc_fail(error, TDC_ERR_SYSTEM, "cannot install a signal handler");
    tdc_status status = TDC_OK;
    while (open < 2 && status == TDC_OK) {
        status = tdc_tensor_open(paths[open], TDC_TENSOR_NPY, &tensors[open], error);
        open += status == TDC_OK;
    }
    if (status == TDC_OK)
        status = compare_tensors(mine, golden, tensors, &result, error);
    if (status == TDC_OK) {
        char names[2048] = "", values[2048] = "";
        write_lines(&result, names, values, sizeof names);
        tdc_say(options, TDC_MESSAGE_INFO, "%s", names);
        tdc_say(options, TDC_MESSAGE_INFO, "%s", values);
    }
    while (open > 0)
        tdc_tensor_close(&tensors[--open]);
    tdc_guard_end();
    return status;
}
