/*
 * calls.h - a dump.json as API calls: which records are checked, forward and backward paired.
 *
 * The file stays mapped and only the place of each record is kept; a call's records are parsed when
 * the call is run, so that a dump of a GB needs little memory.
 */
#ifndef TDC_PRECHECK_CALLS_H
#define TDC_PRECHECK_CALLS_H

#include "io/base/arena.h"
#include "io/file/file_map.h"
#include "io/text/json.h"
#include "tdcmp.h"

/* Who recorded the dump: decides which records are checked and how they are read. */
enum tdc_recorder {
    TDC_RECORDER_MINDSPORE,
    TDC_RECORDER_MINDTORCH,
    TDC_RECORDER_PYTORCH
};

enum tdc_direction {
    TDC_FORWARD,
    TDC_BACKWARD,
    TDC_DIRECTIONS
};

/* "forward", "backward" */
extern const char *const tdc_direction_name[TDC_DIRECTIONS];

/* Bytes of a record's value in the mapped file; size 0: no such record. */
struct tdc_record_place {
    const char *bytes;
    size_t size;
};

struct tdc_call {
    const char *name; /* "Mint.add.0" */
    struct tdc_record_place records[TDC_DIRECTIONS];
    size_t position; /* among the selected calls of the dump */
};

/* Records of a kind that are not API calls to check. */
struct tdc_left_out {
    char name[32];     /* what their names begin with: "Primitive" */
    const char *first; /* name of the first one */
    uint64_t records[TDC_DIRECTIONS];
};

#define TDC_LEFT_OUT_KINDS 32 /* the last one takes in all further kinds */

struct tdc_calls {
    struct tdc_file_map map;
    struct tdc_arena arena; /* names */
    char *path;             /* of dump.json */
    char *data_folder;      /* where the tensors are */
    bool statistics;        /* task: inputs are drawn, nothing was recorded */
    enum tdc_recorder recorder;
    struct tdc_call *calls;
    size_t count;
    struct tdc_left_out left_out[TDC_LEFT_OUT_KINDS];
    size_t left_out_count;
};

struct tdc_calls_rules {
    /* Accept pytorch dumps too, and look at dump_data_dir only if it exists. */
    bool any_framework;
    void (*message)(void *context, tdc_message_level level, const char *text);
    void *context;
};

/* TDC_ERR_REFUSED with msprobe's text for what it aborts on. The calls are to be freed in any case.
 */
tdc_status tdc_calls_load(const char *path, const struct tdc_calls_rules *rules,
                          struct tdc_calls *calls, struct tdc_error *error);
void tdc_calls_free(struct tdc_calls *calls);

/* Parses one record of a call into the arena; *value is NULL when there is none. */
tdc_status tdc_call_record(const struct tdc_calls *calls, const struct tdc_call *call,
                           enum tdc_direction direction, struct tdc_arena *arena,
                           struct tdc_json **value, struct tdc_error *error);

/* ---- names (selection.c) --------------------------------------------------------------------- */

/* names end with NULL */
bool tdc_name_is_among(const char *name, const char *const *names);
/* True when the record of this key is to be checked (its last part aside). */
bool tdc_key_checkable(enum tdc_recorder recorder, const char *key, size_t length);

#endif
