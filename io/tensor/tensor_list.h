/*
 * tensor_list.h - files that hold many tensors by name: safetensors, GGUF, npz, state dicts of
 * torch.
 *
 * The file is mapped and stays so until the list is closed; each tensor is described as
 * tensor_file.h does and its data lies in the map, or, where an npz was compressed, in the arena.
 * Everything a header claims has been checked against the size of the file. The file may still
 * shrink: read data only inside tdc_guarded_read.
 *
 * A tensor that the format describes and tdcmp cannot compare is listed with a reason; a file whose
 * structure is wrong is refused as a whole.
 */
#ifndef TDC_IO_TENSOR_LIST_H
#define TDC_IO_TENSOR_LIST_H

#include "io/base/arena.h"
#include "io/base/name_table.h"
#include "io/file/file_map.h"
#include "io/tensor/tensor_file.h"

struct tdc_saved;

#define TDC_LISTED_TENSORS ((size_t)1 << 20) /* of one file */

struct tdc_listed_tensor {
    const char *name;         /* "" for the only tensor of a file that gives it none */
    const char *refusal;      /* "dtype F4 is not supported"; NULL: it can be compared */
    struct tdc_tensor tensor; /* borrowed: its map and descriptor are the list's */
};

struct tdc_tensor_list {
    const char *path; /* begins messages; must outlive the list */
    struct tdc_arena arena, scratch;
    struct tdc_file_map map;
    int descriptor; /* of the open file, else -1 */
    bool linked, guarded;
    /* By number; each stays where it is. */
    struct tdc_listed_tensor **items;
    size_t count, room;
    struct tdc_name_table names;
    const char *key; /* of state dicts: where tensors are looked for; NULL: see below */
    const struct tdc_saved *state; /* all that a state dict holds; NULL: another format */
};

enum tdc_list_kind {
    TDC_LIST_BY_SUFFIX,
    TDC_LIST_SAFETENSORS,
    TDC_LIST_GGUF,
    TDC_LIST_NPZ,
    TDC_LIST_STATE, /* .pt, .pth, .bin, .ckpt: what torch.save makes of dicts and lists */
    TDC_LIST_ONE    /* one tensor without a name, of a format of tensor_file.h */
};

/* What the name of a file says; TDC_LIST_BY_SUFFIX: nothing that is known. */
enum tdc_list_kind tdc_list_kind_of(const char *path);

/*
 * Lists the tensors of a file. `key` chooses a part of a state dict by keys with dots between them;
 * NULL: "model" (also "model0", "model1", ...) or "state_dict" where there are tensors in it, else
 * all. Names begin below it. To be closed in any case.
 */
tdc_status tdc_tensor_list_open(const char *path, enum tdc_list_kind kind, const char *key,
                                struct tdc_tensor_list *list, struct tdc_error *error);
void tdc_tensor_list_close(struct tdc_tensor_list *list);

/* The file's descriptor is closed: tensors are read through the map alone from now on. For who has
 * more files open than a process may. */
void tdc_tensor_list_drop_descriptor(struct tdc_tensor_list *list);

/* tdc_tensor_list_open on bytes that outlive the list (for fuzzing and tests). */
tdc_status tdc_tensor_list_parse(const void *bytes, size_t size, enum tdc_list_kind kind,
                                 const char *name, const char *key, struct tdc_tensor_list *list,
                                 struct tdc_error *error);

/* ---- for the readers ------------------------------------------------------------------------- */

/* A new tensor of that name, with nothing filled in but the map's size; NULL with *error set: the
 * name is there already, there are too many, or memory is out. The name is copied. */
struct tdc_listed_tensor *tdc_tensor_list_add(struct tdc_tensor_list *list, const char *name,
                                              size_t length, struct tdc_error *error);

#endif
