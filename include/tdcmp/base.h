/*
 * base.h - what every part of the interface uses: status, errors, element types, messages, cancel.
 *
 * Structs come in three kinds, so that a program keeps working with a newer library:
 *   - what the caller fills in has its size in front, set by an init function that is told it
 *     (sizeof). The library reads no more than that; members the caller does not know have their
 *     defaults. What a newer caller has set and this library does not know is TDC_ERR_ARGUMENT.
 *   - what the library fills in is passed with its size; no more than that is written.
 *   - what the library owns is returned by pointer. Such structs grow at their end only.
 * All others (tdc_error, tdc_cancel, tdc_cell, tdc_mapping, tdc_tolerance) never change. Numbers of
 * enums are never reused; 0 always means "none", "not yet" or "as the library sees fit".
 */
#ifndef TDCMP_BASE_H
#define TDCMP_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Everything declared between these two is exported from the shared library, and nothing else. */
#ifdef __cplusplus
#define TDC_INTERFACE_BEGIN                                                                        \
    extern "C" {                                                                                   \
    _Pragma("GCC visibility push(default)")
#define TDC_INTERFACE_END                                                                          \
    _Pragma("GCC visibility pop")                                                                  \
    }
#else
#define TDC_INTERFACE_BEGIN _Pragma("GCC visibility push(default)")
#define TDC_INTERFACE_END   _Pragma("GCC visibility pop")
#endif

TDC_INTERFACE_BEGIN

/* The version of the library that is running: "1.0.0". TDC_VERSION_* is that of the header. */
const char *tdc_version(void);
/* Which CPU variant the kernels use: "x86-64-v3". */
const char *tdc_cpu_name(void);

/* ---- status and errors ----------------------------------------------------------------------- */

/* Numbers are stable: a code is never reused or renumbered. */
typedef enum {
    TDC_OK = 0,
    TDC_ERR_MEMORY = 1,       /* out of memory, or a size limit of the library reached */
    TDC_ERR_ARGUMENT = 2,     /* a wrong option or combination of options */
    TDC_ERR_NOT_FOUND = 10,   /* no such file or directory */
    TDC_ERR_READ = 11,        /* exists but cannot be opened, read or mapped */
    TDC_ERR_CHANGED = 12,     /* a file shrank or vanished while it was being read */
    TDC_ERR_WRITE = 13,       /* a result could not be written */
    TDC_ERR_NO_ANSWER = 14,   /* storage did not answer in time (tdc_io_timeout) */
    TDC_ERR_FORMAT = 20,      /* content is malformed, truncated or lies about its size */
    TDC_ERR_UNSUPPORTED = 21, /* well formed, but something this library does not handle */
    TDC_ERR_REFUSED = 22,     /* content that the comparison rules refuse */
    TDC_ERR_MISMATCH = 30,    /* the two dumps cannot be compared with each other */
    TDC_ERR_NOTHING = 31,     /* nothing to compare */
    TDC_ERR_INTERRUPTED = 40, /* the run was cancelled */
    TDC_ERR_SYSTEM = 50,      /* threads, signals, clocks */
    TDC_ERR_DEVICE = 51       /* an NPU that was asked for cannot be used */
} tdc_status;

struct tdc_error {
    tdc_status status;
    char message[1024]; /* one line, names the file and the reason; always terminated */
};

/* A short constant text for a status, for programs that print their own messages. */
const char *tdc_status_text(tdc_status status);

/* ---- messages -------------------------------------------------------------------------------- */

typedef enum {
    TDC_MESSAGE_NONE = 0,
    TDC_MESSAGE_INFO,
    TDC_MESSAGE_WARNING,
    TDC_MESSAGE_ERROR
} tdc_message_level;

/* One line, without newline. */
typedef void (*tdc_message_function)(void *context, tdc_message_level level, const char *text);

/*
 * Names come from files, and a terminal obeys what some of them hold: escapes, controls of one
 * byte or two, signs that turn the direction of reading. Copies the text with everything a reader
 * could not see as \xNN, \uNNNN or \UNNNNNNNN, bytes that are no UTF-8 included, and terminates it;
 * what does not fit is left out, whole characters at a time. Returns the length all of it takes, as
 * snprintf does; room may be NULL when size is 0.
 */
size_t tdc_printable(const char *text, char *room, size_t size);

/* ---- ending a run early ---------------------------------------------------------------------- */

/* ---- storage --------------------------------------------------------------------------------- */

/* Files on network file systems, or behind FUSE, are opened and read by threads that do nothing
 * else: what is not answered in so many seconds (300; 0: for ever) is TDC_ERR_NO_ANSWER, and after
 * a few such calls the rest of that file system fails without being tried. For the whole process.
 */
void tdc_io_timeout(double seconds);
/* Whether this machine has any such file system. */
bool tdc_io_remote(void);
/* TDC_ERR_NO_ANSWER when what lies at a path does not answer in time. Whether there is anything,
 * and what, does not matter. */
tdc_status tdc_io_probe(const char *path, struct tdc_error *error);
/* Calls that storage holds still, though nobody waits for them any more. Each keeps a thread, and
 * where the system cannot end that the process stays after its end, until storage answers. */
unsigned tdc_io_held(void);

/* An atomic flag: to be touched through these functions alone, which any thread and any signal
 * handler may call. All zero is "not cancelled"; static ones need no more. */
struct tdc_cancel {
    uint32_t state;
};

void tdc_cancel_set(struct tdc_cancel *cancel);
void tdc_cancel_clear(struct tdc_cancel *cancel);
/* False for NULL. */
bool tdc_cancel_is_set(const struct tdc_cancel *cancel);

/* ---- elements -------------------------------------------------------------------------------- */

typedef enum {
    TDC_DTYPE_NONE = 0,
    TDC_BOOL,
    TDC_I8,
    TDC_I16,
    TDC_I32,
    TDC_I64,
    TDC_U8,
    TDC_U16,
    TDC_U32,
    TDC_U64,
    TDC_F8_E4M3, /* float8_e4m3fn: no infinity, 0x7f and 0xff are NaN */
    TDC_F8_E5M2,
    TDC_F16,
    TDC_BF16,
    TDC_F32,
    TDC_F64,
    TDC_F80,  /* x87 extended in 16 bytes, as numpy's longdouble on x86-64 */
    TDC_C64,  /* two f32 */
    TDC_C128, /* two f64 */
    TDC_TEXT, /* fixed-width numpy text ('U' or 'S'); only the npy reader produces it */
    TDC_DTYPE_COUNT
} tdc_dtype;

/* Bytes of one element; 0 for TDC_DTYPE_NONE and TDC_TEXT. */
size_t tdc_dtype_size(tdc_dtype dtype);
/* "float32", "bfloat16", ... */
const char *tdc_dtype_name(tdc_dtype dtype);

TDC_INTERFACE_END
#endif
