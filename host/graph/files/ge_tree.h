/*
 * ge_tree.h - the dump files of operators below a folder, by model and token.
 *
 * TIME/DEVICE/MODEL NAME/MODEL/TOKEN/ holds the files of one iteration. Any folder above them will
 * do. Statistics as csv files count where there are no dumps. What is neither is passed over; names
 * that cannot be one, and files that are there twice, are told.
 */
#ifndef TDC_HOST_GE_TREE_H
#define TDC_HOST_GE_TREE_H

#include "host/graph/files/dump_name.h"

struct tdc_op_file {
    struct tdc_dump_name name;
    const char *path;
    uint64_t size;
    bool statistics; /* a csv file in place of the dump (ge_statistics.h) */
};

struct tdc_ge_token {
    uint64_t token;
    struct tdc_op_file *files; /* in the order of their names, each operator once */
    size_t count, room;
    struct tdc_name_table ops; /* numbers are positions of files */
    /* Statistics in place of dumps: they are the files of a token that has nothing else, and told
     * otherwise. */
    struct tdc_op_file *csv;
    size_t csv_count, csv_room;
};

struct tdc_ge_model {
    uint64_t id;
    struct tdc_ge_token *tokens; /* in the order of their numbers */
    size_t count, room;
};

struct tdc_ge_tree {
    struct tdc_ge_model *models; /* in the order of their ids */
    size_t count, room;
};

/* All memory but that of the tables of names is in the arena. To be freed in any case. The tree may
 * be empty. Of the options message and context count. */
tdc_status tdc_ge_tree_find(struct tdc_arena *arena, const char *root,
                            const struct tdc_options *options, struct tdc_ge_tree *tree,
                            struct tdc_error *error);
void tdc_ge_tree_free(struct tdc_ge_tree *tree);

/* How many inputs and outputs an operator has, by its dump or its statistics. */
tdc_status tdc_op_file_count(const struct tdc_op_file *file, uint64_t counts[2],
                             struct tdc_error *error);

/* NULL when there is none. */
const struct tdc_op_file *tdc_ge_token_find(const struct tdc_ge_token *token, const char *op,
                                            size_t length);
const struct tdc_ge_token *tdc_ge_model_find(const struct tdc_ge_model *model, uint64_t token);

#endif
