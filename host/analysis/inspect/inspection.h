/*
 * inspection.h - one dump looked at on its own. Internal to host/analysis/inspect.
 *
 * What the json says of a tensor is held against its file, and the values against what a healthy
 * run has. Memory is in proportion to the records of the dump.
 */
#ifndef TDC_ANALYSIS_INSPECTION_H
#define TDC_ANALYSIS_INSPECTION_H

#include <pthread.h>

#include "host/dump/dump.h"
#include "host/engine/engine.h"

/* What became of the file of a record, kept until all are read: findings come in record order. */
struct tdc_inspected {
    uint32_t record;
    tdc_status status; /* of opening it */
    bool numbers;      /* min, max, nan and inf are known */
    bool has_values;   /* some element is finite: min <= max */
    tdc_dtype dtype;   /* of the file */
    bool coded;        /* quantised or packed: the dtype is not the one stored */
    uint64_t count;    /* elements */
    uint64_t bytes;
    uint64_t nan, inf;
    double min, max;    /* over finite elements */
    const char *shape;  /* of the file, as the json would write it; NULL: not read */
    const char *reason; /* why it cannot be read, else NULL */
};

struct tdc_inspection {
    struct tdc_dump *dump;
    struct tdc_arena arena;
    struct tdc_inspected *files; /* one for each record with a file */
    size_t file_count;
    struct tdc_finding *findings;
    size_t finding_count, finding_capacity;
    struct tdc_module_size *modules;
    size_t module_count;
    struct tdc_inspection_counts counts;
    uint64_t kinds[TDC_FINDING_KINDS];
    pthread_mutex_t lock; /* of the arena while files are read */
    bool failed;          /* out of memory */
};

/* Appends a finding under a name that outlives the inspection; its text is made from the format. */
void tdc_inspection_note(struct tdc_inspection *inspection, tdc_finding_kind kind, const char *name,
                         const char *format, ...) __attribute__((format(printf, 4, 5)));

/* What is to be said of one record; file is NULL when it has none. */
void tdc_inspect_record(struct tdc_inspection *inspection, size_t record,
                        const struct tdc_inspected *file);
/* Calls without outputs, and names that were given twice. */
void tdc_inspect_calls(struct tdc_inspection *inspection);

/* Fills modules: bytes and tensors by module or API, largest first. */
bool tdc_inspect_modules(struct tdc_inspection *inspection);

#endif
