#include "io/vis/vis_db.h"

#include <stdlib.h>
#include <string.h>

#include <sqlite3.h>

#include "io/base/error.h"
#include "io/file/out_file.h"

/* Layout and order are the plugin's. */
static const char schema[] = "CREATE TABLE tb_nodes (\n"
                             "    id TEXT PRIMARY KEY,\n"
                             "    graph_id TEXT NOT NULL,\n"
                             "    node_order INTEGER NOT NULL,\n"
                             "    node_name TEXT NOT NULL,\n"
                             "    node_type TEXT NOT NULL,\n"
                             "    up_node TEXT,\n"
                             "    sub_nodes TEXT,\n"
                             "    precision_index INTEGER,\n"
                             "    overflow_level TEXT,\n"
                             "    micro_step_id INTEGER NOT NULL,\n"
                             "    matched_node_link TEXT,\n"
                             "    stack_id TEXT,\n"
                             "    parallel_merge_info TEXT,\n"
                             "    matched_distributed TEXT,\n"
                             "    modified INTEGER NOT NULL,\n"
                             "    input_data TEXT,\n"
                             "    output_data TEXT,\n"
                             "    data_source TEXT,\n"
                             "    dump_data_dir TEXT,\n"
                             "    step INTEGER NOT NULL,\n"
                             "    rank INTEGER NOT NULL\n"
                             ");"
                             "CREATE TABLE tb_stack (\n"
                             "    id TEXT PRIMARY KEY,\n"
                             "    stack_info TEXT\n"
                             ");"
                             "CREATE TABLE tb_config (\n"
                             "    id TEXT PRIMARY KEY,\n"
                             "    graph_type TEXT NOT NULL,\n"
                             "    task TEXT,\n"
                             "    tool_tip TEXT,\n"
                             "    micro_steps INTEGER,\n"
                             "    overflow_check INTEGER,\n"
                             "    node_colors TEXT NOT NULL,\n"
                             "    rank_list TEXT NOT NULL,\n"
                             "    step_list TEXT NOT NULL\n"
                             ");";

static const char indexes[] =
    "CREATE INDEX index1 ON tb_nodes (step, rank, data_source, up_node, node_order);"
    "CREATE INDEX index2 ON tb_nodes (step, rank, data_source, node_name);"
    "CREATE INDEX index3 ON tb_nodes (step, rank, data_source, node_order);"
    "CREATE INDEX index4 ON tb_nodes (step, rank, node_order);"
    "CREATE INDEX index5 ON tb_nodes (step, rank, micro_step_id, node_order);"
    "CREATE INDEX index6 ON tb_nodes (step, rank, modified, matched_node_link);";

struct tdc_vis_db {
    struct tdc_out_file file;
    sqlite3 *handle;
    sqlite3_stmt *node, *stack;
};

static tdc_status fail(const struct tdc_vis_db *db, struct tdc_error *error)
{
    bool memory = sqlite3_errcode(db->handle) == SQLITE_NOMEM || db->handle == NULL;
    return tdc_fail(error, memory ? TDC_ERR_MEMORY : TDC_ERR_WRITE, "%s: cannot be written: %s",
                    db->file.path, memory ? "out of memory" : sqlite3_errmsg(db->handle));
}

static tdc_status run(struct tdc_vis_db *db, const char *sql, struct tdc_error *error)
{
    return sqlite3_exec(db->handle, sql, NULL, NULL, NULL) == SQLITE_OK ? TDC_OK : fail(db, error);
}

static tdc_status prepare(struct tdc_vis_db *db, const char *sql, sqlite3_stmt **statement,
                          struct tdc_error *error)
{
    return sqlite3_prepare_v2(db->handle, sql, -1, statement, NULL) == SQLITE_OK ? TDC_OK
                                                                                 : fail(db, error);
}

static tdc_status begin(struct tdc_vis_db *db, struct tdc_error *error)
{
    /* Without locks: the temporary has a lock of its own, and on some file systems the two would
     * be in each other's way. */
    if (sqlite3_open_v2(tdc_listed_path(&db->file.temporary), &db->handle, SQLITE_OPEN_READWRITE,
                        "unix-none") != SQLITE_OK)
        return fail(db, error);
    tdc_status status =
        run(db, "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA temp_store=MEMORY; BEGIN;",
            error);
    if (status == TDC_OK)
        status = run(db, schema, error);
    if (status == TDC_OK)
        status = prepare(db,
                         "INSERT INTO tb_nodes VALUES "
                         "(?,?,?,?,?,?,?,?,?,?,?,?,'',?,0,?,?,?,?,?,?)",
                         &db->node, error);
    if (status == TDC_OK)
        status = prepare(db, "INSERT INTO tb_stack VALUES (?,?)", &db->stack, error);
    return status;
}

tdc_status tdc_vis_db_open(const char *path, struct tdc_vis_db **db, struct tdc_error *error)
{
    *db = NULL;
    struct tdc_vis_db *made = calloc(1, sizeof *made);
    if (made == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", path);
    tdc_status status = tdc_out_file_open(path, &made->file, error);
    if (status == TDC_OK)
        status = begin(made, error);
    if (status == TDC_OK)
        *db = made;
    else
        tdc_vis_db_discard(made);
    return status;
}

/* Parameters of a statement in their order. What a row is given lives until it is stepped. */
struct binding {
    sqlite3_stmt *statement;
    int at;
    bool failed;
};

static void bind_text(struct binding *binding, const char *text)
{
    binding->failed |= sqlite3_bind_text64(binding->statement, ++binding->at, text,
                                           text != NULL ? strlen(text) : 0, SQLITE_STATIC,
                                           SQLITE_UTF8) != SQLITE_OK;
}

static void bind_integer(struct binding *binding, int64_t number)
{
    binding->failed |= sqlite3_bind_int64(binding->statement, ++binding->at, number) != SQLITE_OK;
}

/* NaN becomes NULL. */
static void bind_number(struct binding *binding, bool has, double number)
{
    binding->at++;
    if (has)
        binding->failed |=
            sqlite3_bind_double(binding->statement, binding->at, number) != SQLITE_OK;
    else
        binding->failed |= sqlite3_bind_null(binding->statement, binding->at) != SQLITE_OK;
}

static tdc_status step(struct tdc_vis_db *db, const struct binding *binding,
                       struct tdc_error *error)
{
    if (binding->failed || sqlite3_step(binding->statement) != SQLITE_DONE)
        return fail(db, error);
    return sqlite3_reset(binding->statement) == SQLITE_OK ? TDC_OK : fail(db, error);
}

tdc_status tdc_vis_db_node(struct tdc_vis_db *db, const struct tdc_vis_node_row *row,
                           struct tdc_error *error)
{
    struct binding binding = {.statement = db->node};
    bind_text(&binding, row->id);
    bind_text(&binding, row->graph_id);
    bind_integer(&binding, row->order);
    bind_text(&binding, row->name);
    bind_text(&binding, row->type);
    bind_text(&binding, row->up_node);
    bind_text(&binding, row->sub_nodes);
    bind_number(&binding, row->has_precision, row->precision);
    bind_text(&binding, row->overflow_level);
    bind_integer(&binding, row->micro_step);
    bind_text(&binding, row->matched_link);
    bind_text(&binding, row->stack_id);
    bind_text(&binding, row->distributed);
    bind_text(&binding, row->input);
    bind_text(&binding, row->output);
    bind_text(&binding, row->source);
    bind_text(&binding, row->data_folder);
    bind_integer(&binding, row->step);
    bind_integer(&binding, row->rank);
    return step(db, &binding, error);
}

tdc_status tdc_vis_db_stack(struct tdc_vis_db *db, const char *id, const char *lines,
                            struct tdc_error *error)
{
    struct binding binding = {.statement = db->stack};
    bind_text(&binding, id);
    bind_text(&binding, lines);
    return step(db, &binding, error);
}

tdc_status tdc_vis_db_config(struct tdc_vis_db *db, const struct tdc_vis_config *config,
                             struct tdc_error *error)
{
    sqlite3_stmt *statement = NULL;
    tdc_status status =
        prepare(db, "INSERT INTO tb_config VALUES ('1',?,?,?,?,?,?,?,?)", &statement, error);
    if (status != TDC_OK)
        return status;
    struct binding binding = {.statement = statement};
    bind_text(&binding, config->graph_type);
    bind_text(&binding, config->task);
    bind_text(&binding, config->tool_tip);
    bind_integer(&binding, config->micro_steps);
    bind_integer(&binding, config->overflow_check);
    bind_text(&binding, config->colours);
    bind_text(&binding, config->ranks);
    bind_text(&binding, config->steps);
    status = step(db, &binding, error);
    sqlite3_finalize(statement);
    return status;
}

/* Ends SQLite's part. Without a journal nothing can be left to do but to close the file. */
static bool end_handle(struct tdc_vis_db *db)
{
    sqlite3_finalize(db->node);
    sqlite3_finalize(db->stack);
    db->node = db->stack = NULL;
    bool closed = sqlite3_close(db->handle) == SQLITE_OK;
    db->handle = NULL;
    return closed;
}

tdc_status tdc_vis_db_close(struct tdc_vis_db *db, struct tdc_error *error)
{
    tdc_status status = run(db, indexes, error);
    if (status == TDC_OK)
        status = run(db, "COMMIT", error);
    if (status == TDC_OK && !end_handle(db))
        status = tdc_fail(error, TDC_ERR_WRITE, "%s: cannot be closed", db->file.path);
    if (status == TDC_OK)
        status = tdc_out_file_commit_new(&db->file, error);
    tdc_vis_db_discard(db);
    return status;
}

void tdc_vis_db_discard(struct tdc_vis_db *db)
{
    if (db == NULL)
        return;
    end_handle(db);
    tdc_out_file_discard(&db->file);
    free(db);
}
