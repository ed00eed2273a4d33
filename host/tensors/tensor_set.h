/*
 * tensor_set.h - the tensors of a path by name, whatever holds them: one file, an index of shards,
 * a checkpoint of Megatron, a folder of files, folders of ranks.
 *
 * Files stay mapped as long as the set lives; nothing is copied. A file of many that cannot be read
 * is a record with the reason, so that it becomes a row.
 */
#ifndef TDC_HOST_TENSOR_SET_H
#define TDC_HOST_TENSOR_SET_H

#include "io/base/arena.h"
#include "io/base/name_table.h"
#include "io/tensor/tensor_list.h"

/* Axes of a mesh that a checkpoint's folders tell. */
enum tdc_set_axis {
    TDC_SET_TP,
    TDC_SET_PP,
    TDC_SET_EP,
    TDC_SET_AXES
};

/* Where a record stands along an axis of a mesh that its own file names. */
struct tdc_set_coordinate {
    const char *axis;
    uint64_t index, size;
};

/* A part of a tensor that a checkpoint keeps in pieces: where its first element stands. */
struct tdc_set_chunk {
    const struct tdc_tensor *tensor;
    const uint64_t *first; /* by dimension */
};

struct tdc_set_record {
    const char *name;
    const char *dtype;   /* "float32" */
    const char *shape;   /* "[2, 3]" */
    const char *file;    /* below the set's folder */
    const char *where;   /* the part of a message that names it: "rank0", "model.safetensors" */
    const char *refusal; /* file and reason; NULL: it can be compared */
    const struct tdc_tensor *tensor; /* NULL: the file is that tensor, or it is refused */
    uint32_t rank;
    int64_t step;
    uint32_t coordinates[TDC_SET_AXES];
    const char *dims; /* how its axes are called and split, if its file says; NULL: not */
    const struct tdc_set_coordinate *own; /* NULL: its file names no mesh */
    size_t own_count;
    /* a tensor in pieces: all of them, of one dtype; tensor is NULL then */
    const struct tdc_set_chunk *chunks;
    size_t chunk_count;
    unsigned dimensions;
    const uint64_t *size; /* of the whole */
};

struct tdc_open_file {
    struct tdc_tensor_list list;
    struct tdc_open_file *next;
};

struct tdc_tensor_set {
    struct tdc_arena arena;
    const char *path, *folder; /* what was asked for, and the folder its files are in */
    const char *key;           /* see tdc_tensor_list_open */
    struct tdc_open_file *files;
    size_t file_count;
    struct tdc_set_record *records;
    size_t count, room;
    size_t skipped;              /* files that hold something else */
    struct tdc_name_table names; /* of one rank while it is read; with the files they come from */
    uint32_t ranks;              /* folders of ranks; 1 without any */
    bool meshed;                 /* the coordinates mean something */
    bool dumped;                 /* what an engine dumped while it ran, and no checkpoint */
    bool several_steps;
    uint32_t sizes[TDC_SET_AXES];
};

/* To be freed in any case. TDC_ERR_NOTHING: there is no tensor in it. */
tdc_status tdc_tensor_set_load(const char *path, const char *key, struct tdc_tensor_set *set,
                               struct tdc_error *error);
void tdc_tensor_set_free(struct tdc_tensor_set *set);

/* ---- between the files of this room ---------------------------------------------------------- */

/* What the records of a file have in common. */
struct tdc_set_place {
    const char *folder; /* below the set's folder, "" or with a slash at its end */
    const char *where;  /* NULL: the name of the file */
    uint32_t rank;
    uint32_t coordinates[TDC_SET_AXES];
};

tdc_status tdc_set_no_memory(const struct tdc_tensor_set *set, struct tdc_error *error);
/* folder + name in the set's arena; NULL when out of memory. */
const char *tdc_set_text(struct tdc_tensor_set *set, const char *folder, const char *name);
/* The path of a file below the set's folder, in the arena; NULL when out of memory. */
const char *tdc_set_path(struct tdc_tensor_set *set, const char *below);

/* An empty record at the end; NULL when out of memory. */
struct tdc_set_record *tdc_set_add(struct tdc_tensor_set *set, const char *name,
                                   const struct tdc_set_place *place, const char *file);
void tdc_set_describe(struct tdc_tensor_set *set, struct tdc_set_record *record,
                      const struct tdc_tensor *tensor);
/* Notes the name; TDC_ERR_FORMAT when another file of the rank has it. */
tdc_status tdc_set_claim(struct tdc_tensor_set *set, const struct tdc_set_record *record,
                         struct tdc_error *error);

/* Opens a file and keeps it; *file is NULL when it cannot be read, with *error set. */
tdc_status tdc_set_open(struct tdc_tensor_set *set, const char *below, struct tdc_open_file **file,
                        struct tdc_error *error);
/* A record of a tensor of an open file, under a name; *added is it. It is not claimed. */
tdc_status tdc_set_add_listed(struct tdc_tensor_set *set, const struct tdc_set_place *place,
                              const char *below, const char *name,
                              const struct tdc_listed_tensor *item, struct tdc_set_record **added,
                              struct tdc_error *error);
/* A record of a file that cannot be read, under a name; not claimed. */
tdc_status tdc_set_add_refused(struct tdc_tensor_set *set, const struct tdc_set_place *place,
                               const char *below, const char *name, const struct tdc_error *why,
                               struct tdc_set_record **added, struct tdc_error *error);
/* All tensors of a file. One that cannot be read becomes a record, unless `strict`. `wanted`, if
 * not NULL, says which names are taken. */
struct tdc_set_wanted {
    bool (*takes)(void *context, const char *name);
    void *context;
};
tdc_status tdc_set_take_file(struct tdc_tensor_set *set, const struct tdc_set_place *place,
                             const char *name, bool strict, const struct tdc_set_wanted *wanted,
                             struct tdc_error *error);

tdc_status tdc_set_index(struct tdc_tensor_set *set, const struct tdc_set_place *place,
                         const char *index, struct tdc_error *error);
tdc_status tdc_set_megatron(struct tdc_tensor_set *set, struct tdc_error *error);
tdc_status tdc_set_distributed(struct tdc_tensor_set *set, const struct tdc_set_place *place,
                               struct tdc_error *error);
/* The files of SGLang's dumper in the set's folder; tdc_is_sglang says whether there are any. */
tdc_status tdc_set_sglang(struct tdc_tensor_set *set, struct tdc_error *error);
bool tdc_is_sglang(const char *folder);
/* Is the folder one of Megatron? */
bool tdc_is_megatron(const char *folder);

#endif
