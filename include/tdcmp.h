/*
 * tdcmp.h - compare two dumps of a neural network.
 *
 * The one public header of libtdcmp. The program `tdcmp` uses nothing else.
 *
 * Ownership: every `tdc_*_open`, `tdc_*_load` or `tdc_*_new` has a matching `_free` or `_close`,
 * which accepts NULL. Text returned by an accessor belongs to the object and lives as long as it
 * does. Threads: different objects may be used from different threads; one object from one thread
 * at a time. Failure: functions that can fail return a `tdc_status`, 0 on success, and describe the
 * failure in the `struct tdc_error` passed in (may be NULL).
 */
#ifndef TDCMP_H
#define TDCMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TDC_VERSION_MAJOR 0
#define TDC_VERSION_MINOR 1
#define TDC_VERSION_PATCH 0

/* "0.1.0" */
const char *tdc_version(void);

/* ---- status and errors ------------------------------------------------------------------- */

/* Numbers are stable: a code is never reused or renumbered. */
typedef enum {
    TDC_OK = 0,
    TDC_ERR_MEMORY = 1,       /* out of memory, or a size limit of the library reached */
    TDC_ERR_ARGUMENT = 2,     /* a wrong option or combination of options */
    TDC_ERR_NOT_FOUND = 10,   /* no such file or directory */
    TDC_ERR_READ = 11,        /* exists but cannot be opened, read or mapped */
    TDC_ERR_CHANGED = 12,     /* a file shrank or vanished while it was being read */
    TDC_ERR_WRITE = 13,       /* a result could not be written */
    TDC_ERR_FORMAT = 20,      /* content is malformed, truncated or lies about its size */
    TDC_ERR_UNSUPPORTED = 21, /* well formed, but something this library does not handle */
    TDC_ERR_REFUSED = 22,     /* content that the comparison rules refuse */
    TDC_ERR_MISMATCH = 30,    /* the two dumps cannot be compared with each other */
    TDC_ERR_NOTHING = 31,     /* nothing to compare */
    TDC_ERR_INTERRUPTED = 40, /* the run was cancelled */
    TDC_ERR_SYSTEM = 50       /* threads, signals, clocks */
} tdc_status;

struct tdc_error {
    tdc_status status;
    char message[1024]; /* one line, names the file and the reason; always terminated */
};

/* A short constant text for a status, for programs that print their own messages. */
const char *tdc_status_text(tdc_status status);

/* ---- elements ---------------------------------------------------------------------------- */

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

/* ---- cells of a result table --------------------------------------------------------------- */

typedef enum {
    TDC_CELL_TEXT,
    TDC_CELL_NUMBER,
    TDC_CELL_BOOL
} tdc_cell_kind;

struct tdc_cell {
    tdc_cell_kind kind;
    bool truth;       /* TDC_CELL_BOOL */
    double number;    /* TDC_CELL_NUMBER; may be NaN or infinite */
    const char *text; /* TDC_CELL_TEXT: UTF-8, `length` bytes, not necessarily terminated */
    size_t length;
};

typedef enum {
    TDC_COLOUR_NONE,
    TDC_COLOUR_YELLOW,
    TDC_COLOUR_RED
} tdc_colour;

typedef enum {
    TDC_FORMAT_XLSX = 1,
    TDC_FORMAT_CSV = 2,
    TDC_FORMAT_JSON = 4
} tdc_format;

#ifdef __cplusplus
}
#endif
#endif
