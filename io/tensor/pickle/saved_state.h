/*
 * saved_state.h - everything one torch.save of a training put into a file: nested dicts, lists,
 * tensors, settings.
 *
 * Dumped tensors are read by pt.h, which refuses whatever a tensor's pickle does not hold. A
 * checkpoint holds objects of any class besides: here a class that is not known becomes an object
 * of which only the attributes are kept. Nothing is executed either way. Zip archives only, as
 * torch writes them since 1.6.
 */
#ifndef TDC_IO_SAVED_STATE_H
#define TDC_IO_SAVED_STATE_H

#include "io/base/arena.h"
#include "io/file/file_map.h"
#include "io/tensor/pickle/pt_names.h"
#include "io/file/zip_reader.h"
#include "io/tensor/tensor_file.h"

enum tdc_saved_kind {
    TDC_SAVED_NONE,
    TDC_SAVED_BOOL,    /* integer */
    TDC_SAVED_INTEGER, /* integer */
    TDC_SAVED_FLOAT,
    TDC_SAVED_TEXT,    /* text, length: in the arena, not terminated */
    TDC_SAVED_LIST,    /* items: lists, tuples, sets */
    TDC_SAVED_DICT,    /* items: a key and a value in turn */
    TDC_SAVED_NAME,    /* name: a class or function that is known */
    TDC_SAVED_STORAGE, /* items: class, key, count */
    TDC_SAVED_TENSOR,  /* items: storage, offset, size, stride, dtype or NULL */
    TDC_SAVED_OBJECT,  /* anything else; state: its attributes, or NULL */
    TDC_SAVED_MARK     /* while reading */
};

struct tdc_saved {
    enum tdc_saved_kind kind;
    int64_t integer;
    const char *text;
    size_t length;
    const struct tdc_pt_name *name;
    struct tdc_saved **items;
    size_t count, room;
    struct tdc_saved *state;
};

struct tdc_saved_state {
    const char *path;
    struct tdc_arena arena;
    struct tdc_file_map map;
    struct tdc_zip_list members;
    bool big_endian, guarded;
    struct tdc_saved *root;
    struct tdc_saved_state *next; /* for whoever holds several */
};

/* The state is to be closed in any case; the path must outlive it. */
tdc_status tdc_saved_state_open(const char *path, struct tdc_saved_state *state,
                                struct tdc_error *error);
void tdc_saved_state_close(struct tdc_saved_state *state);

/* The same of bytes that outlive the state, whose path is set; everything it makes lies in the
 * arena, and it needs not be closed. May run in a guarded read. */
tdc_status tdc_saved_state_parse(struct tdc_saved_state *state, struct tdc_arena *arena,
                                 const unsigned char *bytes, size_t size, struct tdc_error *error);

/* The value of a text key in a dict, or among the attributes of an object; NULL if there is none.
 */
const struct tdc_saved *tdc_saved_get(const struct tdc_saved *value, const char *key);

/* Describes a TDC_SAVED_TENSOR as tensor_file.h does; its data is in the map of the state, to be
 * read inside tdc_guarded_read. */
tdc_status tdc_saved_tensor(const struct tdc_saved_state *state, const struct tdc_saved *value,
                            struct tdc_tensor *tensor, struct tdc_error *error);

#endif
