/*
 * ge_tree.h - the dump files of operators below a folder, by model and token.
 *
 * TIME/DEVICE/MODEL NAME/MODEL/TOKEN/ holds the files of one iteration. Any folder above them will
 * do. What is no dump of an operator is passed over; names that cannot be one, and files that are
 * there twice, are told.
 */
#ifndef TDC_HOST_GE_TREE_H
#define TDC_HOST_GE_TREE_H

#include "host/graph/dump_name.h"

struct tdc_op_file {
    struct tdc_dump_name name;
    const char *path;
    uint64_t size;
};

struct tdc_ge_token {
    uint64_t token;
    struct tdc_op_file *files; /* in the order of their names, each operator once */
    size_t count, room;
    struct tdc_name_table ops; /* numbers are positions of files */
    size_t statistics;         /* csv files in place of dumps */
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

/* NULL when there is none. */
const struct tdc_op_file *tdc_ge_token_find(const struct tdc_ge_token *token, const char *op,
                                            size_t length);
const struct tdc_ge_token *tdc_ge_model_find(const struct tdc_ge_model *model, uint64_t token);

#endif
