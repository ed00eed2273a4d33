/*
 * vis_db.h - the graph database of msprobe's TensorBoard plugin, a SQLite file.
 *
 * SQLite writes to the temporary of a result (io/file/out_file.h): without a journal, without locks
 * and without files of its own beside it, as nobody else opens that file and a failure removes it.
 * The database gets its name when it is complete.
 */
#ifndef TDC_IO_VIS_DB_H
#define TDC_IO_VIS_DB_H

#include "tdcmp.h"

struct tdc_vis_db;

/* A row of tb_nodes. Texts are terminated UTF-8; NULL is NULL in the table. */
struct tdc_vis_node_row {
    const char *id, *graph_id;
    int64_t order;
    const char *name, *type;
    const char *up_node, *sub_nodes; /* "" where there is none */
    bool has_precision;
    double precision;
    const char *overflow_level;
    int64_t micro_step;
    const char *matched_link, *stack_id, *distributed;
    const char *input, *output;
    const char *source, *data_folder;
    int64_t step, rank;
};

/* The one row of tb_config. */
struct tdc_vis_config {
    const char *graph_type, *task, *tool_tip;
    int64_t micro_steps;
    bool overflow_check;
    const char *colours, *ranks, *steps;
};

/* The folder must exist. */
tdc_status tdc_vis_db_open(const char *path, struct tdc_vis_db **db, struct tdc_error *error);
/* After a failure only discard is left. */
tdc_status tdc_vis_db_node(struct tdc_vis_db *db, const struct tdc_vis_node_row *row,
                           struct tdc_error *error);
tdc_status tdc_vis_db_stack(struct tdc_vis_db *db, const char *id, const char *lines,
                            struct tdc_error *error);
tdc_status tdc_vis_db_config(struct tdc_vis_db *db, const struct tdc_vis_config *config,
                             struct tdc_error *error);
/* Adds the indexes, completes the file and gives it its name, which nobody may have yet. Frees db
 * in any case; on failure there is no file. */
tdc_status tdc_vis_db_close(struct tdc_vis_db *db, struct tdc_error *error);
/* Nothing is left behind. NULL is fine. */
void tdc_vis_db_discard(struct tdc_vis_db *db);

#endif
