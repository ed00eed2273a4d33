/*
 * dump.h - one side of a comparison: the records of one dump.json or debug.json.
 *
 * A record is a tensor, a scalar or any other leaf of a call, with the texts and statistics that
 * the tables show. All memory belongs to the dump.
 */
#ifndef TDC_HOST_DUMP_H
#define TDC_HOST_DUMP_H

#include "host/dump/dtensor.h"
#include "io/base/name_table.h"
#include "io/base/arena.h"
#include "io/file/file_map.h"
#include "tdcmp.h"

struct tdc_tensor;

enum tdc_state {
    TDC_STATE_INPUT,
    TDC_STATE_DEBUG,
    TDC_STATE_PARAMETERS,
    TDC_STATE_OUTPUT,
    TDC_STATE_PARAMETERS_GRAD
};

enum tdc_statistic {
    TDC_MAX,
    TDC_MIN,
    TDC_MEAN,
    TDC_NORM,
    TDC_STATISTICS
};

/* What a statistic is. NaN is always the text "Nan". */
enum tdc_stat_kind {
    TDC_STAT_FLOAT,
    TDC_STAT_INTEGER,     /* exact in a double */
    TDC_STAT_BIG_INTEGER, /* text: its digits */
    TDC_STAT_TEXT,
    TDC_STAT_FALSE,
    TDC_STAT_TRUE
};

union tdc_stat {
    double number;
    const char *text;
};

struct tdc_record {
    const char *name;                  /* row name */
    const char *dtype;                 /* as the dump writes it: "torch.float32", "<class 'int'>" */
    const char *shape;                 /* "[2, 3]" */
    const char *requires_grad;         /* "True", "False" or "N/A" */
    const char *data_name;             /* file in the data folder, "-1" when there is none */
    const char *digest;                /* md5 column; "N/A" for null items */
    const char *keyword;               /* of an argument that is this very item; NULL: none */
    const struct tdc_dtensor *dtensor; /* how it is spread over ranks; NULL: not said */
    union tdc_stat stats[TDC_STATISTICS];
    uint8_t stat_kinds[TDC_STATISTICS];
    uint8_t state;       /* enum tdc_state */
    bool first_of_entry; /* the row that carries the call stack */
    bool scalar;         /* not a tensor: compared by value */
    bool sound_only;     /* msprobe of 2025 makes no row of it */
    bool since_26;       /* but msprobe 26 does */
    bool undirected;     /* of a call that msprobe 26 takes for none: no direction in its name */
    bool no_dtype;       /* a null item: the text of its dtype stands for nothing */
    bool no_shape;       /* likewise */
    bool digest_given;   /* the dump has a checksum for it */
    bool digest_number;  /* which is a number: the value of a 0-d tensor */
    bool flat;           /* may face a tensor of another shape with as many elements */
    uint32_t entry;      /* index into entries */
    const char *found;   /* how it found its partner, or why it has none; of graphs alone */
    /* of tensors that lie in files of many: where, instead of data_name; NULL: there */
    const struct tdc_tensor *tensor;
    const char *refusal; /* why there is nothing to compare: file and reason; NULL: there is */
};

/* Elements of a tensor and their bytes, as the texts of its record say; 0 for what is no tensor,
 * for a size that no tensor has, and bytes of a type that is not known. */
uint64_t tdc_record_elements(const struct tdc_record *record);
uint64_t tdc_record_bytes(const struct tdc_record *record);
/* Whether a tensor file is named. */
bool tdc_record_has_file(const struct tdc_record *record);

struct tdc_dump_entry {
    const char *name;
    size_t first, count; /* records */
};

/* Which kind of dump the file holds, from its name. */
enum tdc_dump_kind {
    TDC_DUMP_JSON,
    TDC_DEBUG_JSON,
    TDC_TENSOR_FILE,     /* .npy, .pt or .bin: one record */
    TDC_ATB_LIST,        /* statistic.csv of an execution round of ATB */
    TDC_TENSORS_BY_NAME, /* no json: a checkpoint, or files of tensors */
    TDC_GRAPH_DUMP       /* a token of a graph */
};

struct tdc_dump {
    struct tdc_arena arena;
    char *path;        /* of the json */
    char *folder;      /* that holds it */
    char *data_folder; /* that holds the tensor files; NULL: there are none */
    bool in_memory;    /* came from bytes: no file lies beside it, but for these copies */
    struct tdc_file_map stack, construct; /* of stack.json and construct.json; NULL data: none */
    enum tdc_dump_kind kind;
    const char *task, *framework, *level; /* NULL when missing or not a text */
    bool data_missing, data_wrong_type;
    bool digests;        /* md5 values were found where msprobe looks for them */
    bool digest_records; /* some record has one */
    size_t bytes;        /* size of the json */
    /* the framework of the first tensor or argument type met; NULL when there was none */
    const char *seen_framework;

    struct tdc_record *records;
    size_t record_count;
    struct tdc_dump_entry *entries;
    size_t entry_count;
    struct tdc_name_table entry_names;

    /* First content that msprobe refuses (docs/msprobe.md#refused-content), or NULL. */
    const char *refusal;

    /* Names that were given twice: the last value counts, the others are in no record. */
    size_t repeated;
    const char *first_repeated; /* the entry it happened in, or the name itself */
    /* Lines of a list that name no tensor. */
    size_t unusable;
    bool explained; /* records say how they found their partner */

    bool in_parts; /* of TDC_TENSORS_BY_NAME: some tensors lie in several places */
    /* What the records' tensors lie in; let_go frees it with the dump. NULL: nothing. */
    void *held;
    void (*let_go)(void *held);
};

/* A dump without records, to be filled; NULL when out of memory. */
struct tdc_dump *tdc_dump_new(const char *path);

/* The shape of a tensor whose file could not be read, which agrees with all. */
#define TDC_UNKNOWN_SHAPE "unknown"
/* May the tensors of two records be compared? Their shapes are equal, or they are flat. */
bool tdc_shapes_agree(const struct tdc_record *a, const struct tdc_record *b);

/* The text of a member of a dump.json: "task", "framework", "level"; "" if it cannot be told. Reads
 * no further than needed. */
void tdc_dump_peek(const char *path, const char *member, char *text, size_t size);

/* Call stacks of a side, by entry name. */
struct tdc_stack {
    const char *list; /* Python text of the list of lines; NULL for a null entry */
    bool special;     /* a line that msprobe refuses (docs/msprobe.md#refused-content) */
    bool not_a_list;
};

struct tdc_stacks {
    struct tdc_arena arena;
    struct tdc_name_table names;
    struct tdc_stack *stacks; /* by number of the name */
    size_t capacity;
};

/* "pytorch" or "mindspore": what the file says, or else what its types look like; NULL if unknown.
 */
const char *tdc_dump_detected_framework(const struct tdc_dump *dump);

/*
 * Walks over stack.json: visit is called for each entry name with the tree of its lines, which
 * lives until visit returns. Members of a group (the newer layout) share their lines: position
 * counts them from 0; it is -1 in the older layout.
 */
struct tdc_json;
typedef tdc_status (*tdc_stack_visit)(void *context, const char *entry, size_t length,
                                      const struct tdc_json *lines, long position);
tdc_status tdc_stacks_walk(const char *path, tdc_stack_visit visit, void *context,
                           struct tdc_error *error);
tdc_status tdc_stacks_load(const char *path, struct tdc_stacks **stacks, struct tdc_error *error);
/* The same of bytes in memory, for which the path is a name; NULL: of the file. */
tdc_status tdc_stacks_walk_bytes(const char *path, const struct tdc_file_map *bytes,
                                 tdc_stack_visit visit, void *context, struct tdc_error *error);
tdc_status tdc_stacks_load_bytes(const char *path, const struct tdc_file_map *bytes,
                                 struct tdc_stacks **stacks, struct tdc_error *error);
void tdc_stacks_free(struct tdc_stacks *stacks);
/* NULL when there is no entry of that name. */
const struct tdc_stack *tdc_stacks_find(const struct tdc_stacks *stacks, const char *entry);

/* Texts that a spreadsheet would run (docs/msprobe.md#refused-content). */
bool tdc_runs_as_formula(const char *text, size_t length);

#endif
