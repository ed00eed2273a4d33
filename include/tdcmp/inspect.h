/* inspect.h - one dump on its own: is it sane. */
#ifndef TDCMP_INSPECT_H
#define TDCMP_INSPECT_H

#include "tdcmp/options.h"

TDC_INTERFACE_BEGIN

/*
 * Is a dump sane before time is spent on it: what its json says against its files, and values that
 * a healthy run does not have.
 */
typedef enum {
    TDC_FINDING_NONE = 0,
    /* a comparison would miss it, or compare something else */
    TDC_FINDING_FILE_MISSING,    /* the json names a file that is not there */
    TDC_FINDING_FILE_UNREADABLE, /* truncated, malformed, no tensor */
    TDC_FINDING_DTYPE,           /* the file is of another dtype than the json says */
    TDC_FINDING_SHAPE,
    TDC_FINDING_STATISTICS, /* the extremes of the file are not those of the json */
    TDC_FINDING_REPEATED,   /* a name was given twice: the last one counts */
    TDC_FINDING_NO_RECORDS, /* the dump holds no record at all */
    /* worth knowing */
    TDC_FINDING_NO_FILE,   /* a tensor without data in a dump of tensors */
    TDC_FINDING_NO_OUTPUT, /* a call without a recorded output */
    TDC_FINDING_NAN,
    TDC_FINDING_INF,
    TDC_FINDING_ZERO,     /* every element is 0 */
    TDC_FINDING_CONSTANT, /* every element is the same */
    TDC_FINDING_KINDS
} tdc_finding_kind;

/* True for what makes a comparison incomplete or wrong. */
bool tdc_finding_breaks(tdc_finding_kind kind);
/* "file missing", "NaN", ... */
const char *tdc_finding_title(tdc_finding_kind kind);
/* The same as a code: "file_missing", "nan", ... */
const char *tdc_finding_code(tdc_finding_kind kind);

struct tdc_finding {
    tdc_finding_kind kind;
    const char *name; /* of the record, or of the call */
    const char *text; /* "torch.float32 in the json, float16 in the file" */
};

struct tdc_module_size {
    const char *name; /* "Module.layers.0", or an API without its number: "Functional.linear" */
    uint64_t tensors, bytes;
};

struct tdc_inspection_counts {
    uint64_t calls, records, tensors, files;
    uint64_t bytes; /* of tensors, by the shapes in the json */
    uint64_t forward, backward;
};

typedef struct tdc_inspection tdc_inspection;

/* Reads the json. */
tdc_status tdc_inspection_new(const char *path, tdc_inspection **inspection,
                              struct tdc_error *error);
void tdc_inspection_free(tdc_inspection *inspection);
/* Files and bytes that tdc_inspection_run will read, for a progress display. */
void tdc_inspection_work(const tdc_inspection *inspection, uint64_t *files, uint64_t *bytes);
/* Reads every tensor file once; a file that cannot be read is a finding. Of the options threads,
 * io, progress and cancel count. */
tdc_status tdc_inspection_run(tdc_inspection *inspection, const struct tdc_options *options,
                              struct tdc_error *error);

/* size: sizeof(struct tdc_inspection_counts), as the caller knows it. */
void tdc_inspection_counts(const tdc_inspection *inspection, struct tdc_inspection_counts *counts,
                           size_t size);
/* How many findings of one kind there are. */
uint64_t tdc_inspection_count(const tdc_inspection *inspection, tdc_finding_kind kind);
/* In the order of the records. */
size_t tdc_inspection_findings(const tdc_inspection *inspection);
const struct tdc_finding *tdc_inspection_finding(const tdc_inspection *inspection, size_t index);
/* Largest first. */
size_t tdc_inspection_modules(const tdc_inspection *inspection);
const struct tdc_module_size *tdc_inspection_module(const tdc_inspection *inspection, size_t index);
/* What the dump says of itself; NULL when it does not. */
const char *tdc_inspection_task(const tdc_inspection *inspection);
const char *tdc_inspection_level(const tdc_inspection *inspection);
const char *tdc_inspection_framework(const tdc_inspection *inspection);

TDC_INTERFACE_END
#endif
