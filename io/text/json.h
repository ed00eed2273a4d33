/*
 * json.h - JSON as Python's json module reads it, from bytes in memory.
 *
 * Besides strict JSON: the bare tokens NaN, Infinity and -Infinity, integers of any size, lone
 * surrogate escapes (kept as 3-byte UTF-8), a leading UTF-8 byte order mark. \u0000 becomes the two
 * bytes TDC_UTF8_NUL (io/base/utf8_step.h), which raw text cannot hold: texts are never cut by it.
 * Objects keep the order of their members; a repeated key keeps the first position and the last
 * value.
 *
 * Two layers: a cursor that walks over an object member by member without building anything, and a
 * tree for one value. A dump of a GB is walked with the cursor, one small tree at a time.
 */
#ifndef TDC_IO_JSON_H
#define TDC_IO_JSON_H

#include "io/base/arena.h"
#include "tdcmp.h"

enum tdc_json_kind {
    TDC_JSON_NULL,
    TDC_JSON_FALSE,
    TDC_JSON_TRUE,
    TDC_JSON_INTEGER, /* text: digits as Python prints them ("-0" is "0"); number: nearest double */
    TDC_JSON_FLOAT,   /* number; NaN and infinities included. text: the digits as written */
    TDC_JSON_STRING,  /* text: UTF-8 after escapes, without NUL */
    TDC_JSON_LIST,
    TDC_JSON_OBJECT
};

struct tdc_json {
    enum tdc_json_kind kind;
    const char *text; /* terminated; STRING, INTEGER, FLOAT */
    size_t length;
    double number;   /* INTEGER, FLOAT */
    const char *key; /* terminated; inside an object */
    size_t key_length;
    struct tdc_json *child; /* first element or member */
    struct tdc_json *next;  /* next sibling */
    size_t children;
};

#define TDC_JSON_MAX_DEPTH 1000

/* How objects are written (json_layout.h); all texts are pieces of the input. */
#define TDC_LAYOUT_MEMBERS 16
#define TDC_LAYOUTS        4

struct tdc_layout_member {
    const char *before; /* from the end of the value before it, or the brace, to its own */
    size_t before_length;
    const char *key;
    size_t key_length;
};

struct tdc_json_layout {
    struct tdc_layout_member members[TDC_LAYOUT_MEMBERS];
    unsigned count;
    const char *last; /* from the last value on, closing brace included */
    size_t last_length;
    /* for whoever takes the objects: what it makes of all of them (0: not looked at yet), and of
     * each member */
    unsigned char form, roles[TDC_LAYOUT_MEMBERS];
};

struct tdc_json_layouts {
    struct tdc_json_layout known[TDC_LAYOUTS], learning;
    unsigned count, latest, next; /* of known: how many, which fitted last, which is learnt next */
    unsigned in_vain;             /* objects that were learnt from since one fitted */
};

struct tdc_json_cursor {
    const char *start, *at, *end;
    const char *name; /* of the file, for messages */
    size_t depth;
    bool ended;      /* the failure is that the text stops where more had to come */
    size_t repeated; /* keys that came again in trees read so far: an earlier value was dropped */
    struct tdc_json_layouts layouts; /* of objects read so far */
};

void tdc_json_start(struct tdc_json_cursor *cursor, const char *name, const char *bytes,
                    size_t size);

/* Kind of the value the cursor stands on, without moving (white space is skipped). Malformed or
 * ended input is reported by whichever function consumes the value next. */
enum tdc_json_kind tdc_json_peek(struct tdc_json_cursor *cursor);

/*
 * Walking over an object: tdc_json_enter consumes the brace; then each tdc_json_member gives the
 * next key (text owned by the arena) and leaves the cursor on its value, or sets *key to NULL after
 * the closing brace. The value must be consumed before the next call: enter, read or skip. *first
 * is true before the first call of an object. Repeated keys are given as often as they occur.
 *
 * Malformed text is TDC_ERR_FORMAT, with line and column (invalid UTF-8: with the byte offset) in
 * the message; nesting beyond TDC_JSON_MAX_DEPTH, entered objects included, TDC_ERR_UNSUPPORTED; a
 * full arena TDC_ERR_MEMORY. After a failure the cursor is of no use.
 */
tdc_status tdc_json_enter(struct tdc_json_cursor *cursor, struct tdc_error *error);
tdc_status tdc_json_member(struct tdc_json_cursor *cursor, bool *first, struct tdc_arena *arena,
                           const char **key, size_t *key_length, struct tdc_error *error);

/* Builds the value under the cursor as a tree in the arena. */
tdc_status tdc_json_read(struct tdc_json_cursor *cursor, struct tdc_arena *arena,
                         struct tdc_json **value, struct tdc_error *error);
/* Checks and passes over the value under the cursor. */
tdc_status tdc_json_skip(struct tdc_json_cursor *cursor, struct tdc_error *error);
/* Only white space may remain. */
tdc_status tdc_json_finish(struct tdc_json_cursor *cursor, struct tdc_error *error);

/* A whole file as a tree in the arena, with nothing behind it; the file is mapped while it is read,
 * and one that shrinks meanwhile is TDC_ERR_CHANGED. */
tdc_status tdc_json_read_file(const char *path, struct tdc_arena *arena, struct tdc_json **value,
                              struct tdc_error *error);

/* Member of an object by key, NULL if absent or if value is not an object. */
const struct tdc_json *tdc_json_get(const struct tdc_json *object, const char *key);
/* A string with exactly this text; value may be NULL. */
bool tdc_json_is_text(const struct tdc_json *value, const char *text);

#endif
