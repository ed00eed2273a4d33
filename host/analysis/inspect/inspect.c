/* inspect.c - one dump on its own: its files read once, and what is to be said of them. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/analysis/inspect/inspection.h"
#include "host/api/options.h"
#include "host/engine/job_path.h"
#include "io/base/error.h"
#include "io/base/sized.h"

/* Texts of findings; a record has five at most. */
#define ARENA_LIMIT ((size_t)16 << 30)

static const struct {
    const char *code, *title;
} kinds[TDC_FINDING_KINDS] = {
    [TDC_FINDING_NONE] = {"none", "nothing"},
    [TDC_FINDING_FILE_MISSING] = {"file_missing", "file missing"},
    [TDC_FINDING_FILE_UNREADABLE] = {"file_unreadable", "file cannot be read"},
    [TDC_FINDING_DTYPE] = {"dtype", "file of another dtype"},
    [TDC_FINDING_SHAPE] = {"shape", "file of another shape"},
    [TDC_FINDING_STATISTICS] = {"statistics", "file with other values than its statistics"},
    [TDC_FINDING_REPEATED] = {"repeated", "name given twice"},
    [TDC_FINDING_NO_RECORDS] = {"no_records", "empty dump"},
    [TDC_FINDING_NO_FILE] = {"no_file", "tensor without a file"},
    [TDC_FINDING_NO_OUTPUT] = {"no_output", "call without an output"},
    [TDC_FINDING_NAN] = {"nan", "NaN"},
    [TDC_FINDING_INF] = {"inf", "Inf"},
    [TDC_FINDING_ZERO] = {"zero", "all zero"},
    [TDC_FINDING_CONSTANT] = {"constant", "constant"},
};

bool tdc_finding_breaks(tdc_finding_kind kind)
{
    return kind >= TDC_FINDING_FILE_MISSING && kind <= TDC_FINDING_NO_RECORDS;
}

const char *tdc_finding_title(tdc_finding_kind kind)
{
    return (unsigned)kind < TDC_FINDING_KINDS ? kinds[kind].title : kinds[0].title;
}

const char *tdc_finding_code(tdc_finding_kind kind)
{
    return (unsigned)kind < TDC_FINDING_KINDS ? kinds[kind].code : kinds[0].code;
}

void tdc_inspection_note(struct tdc_inspection *inspection, tdc_finding_kind kind, const char *name,
                         const char *format, ...)
{
    char line[1200];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    size_t kept = length < 0 ? 0 : (size_t)length < sizeof line ? (size_t)length : sizeof line - 1;
    if (inspection->finding_count == inspection->finding_capacity) {
        size_t capacity = inspection->finding_capacity != 0 ? 2 * inspection->finding_capacity : 64;
        struct tdc_finding *larger = realloc(inspection->findings, capacity * sizeof *larger);
        if (larger == NULL) {
            inspection->failed = true;
            return;
        }
        inspection->findings = larger;
        inspection->finding_capacity = capacity;
    }
    const char *text = tdc_arena_text(&inspection->arena, line, kept);
    if (text == NULL) {
        inspection->failed = true;
        return;
    }
    inspection->findings[inspection->finding_count++] = (struct tdc_finding){kind, name, text};
    inspection->kinds[kind]++;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* "[2, 3]" of an open tensor. */
static void describe_shape(const struct tdc_tensor *tensor, struct tdc_text *text)
{
    tdc_text_addc(text, '[');
    for (unsigned i = 0; i < tensor->dimensions; i++)
        tdc_text_addf(text, "%s%llu", i != 0 ? ", " : "", (unsigned long long)tensor->shape[i]);
    tdc_text_addc(text, ']');
}

static const char *keep(struct tdc_inspection *inspection, const char *text)
{
    pthread_mutex_lock(&inspection->lock);
    const char *copy = tdc_arena_text(&inspection->arena, text, strlen(text));
    inspection->failed |= copy == NULL;
    pthread_mutex_unlock(&inspection->lock);
    return copy;
}

/* The engine tells of dtype and values; the shape is in the head of the file, which is near. */
static void read_shape(struct tdc_inspection *inspection, const struct tdc_job *job,
                       struct tdc_inspected *file)
{
    struct tdc_text text;
    struct tdc_tensor tensor;
    struct tdc_error error = {0};
    tdc_text_init(&text, (size_t)1 << 20);
    const char *path = tdc_job_path(&text, job->n_folder, job->n_file, &error);
    if (path != NULL && tdc_tensor_open(path, TDC_TENSOR_BY_SUFFIX, &tensor, &error) == TDC_OK) {
        tdc_text_clear(&text);
        describe_shape(&tensor, &text);
        file->coded = tensor.coding != TDC_CODING_PLAIN;
        file->shape = text.failed ? NULL : keep(inspection, tdc_text_get(&text));
        tdc_tensor_close(&tensor);
    }
    tdc_text_free(&text);
}

static void file_done(void *context, const struct tdc_job *job, const struct tdc_outcome *outcome)
{
    struct tdc_inspection *inspection = context;
    struct tdc_inspected *file = job->row;
    file->dtype = outcome->n_dtype;
    file->count = outcome->count;
    if (outcome->code == TDC_OUTCOME_UNREADABLE) {
        file->status = outcome->error.status != TDC_OK ? outcome->error.status : TDC_ERR_READ;
        file->reason = keep(inspection, outcome->error.message);
        if (file->status == TDC_ERR_MEMORY)
            inspection->failed = true;
        return;
    }
    if (outcome->code == TDC_OUTCOME_COMPARED) {
        const struct tdc_pair_sums *sums = &outcome->sums;
        file->numbers = true;
        file->has_values = sums->finite != 0;
        file->nan = sums->n_nan;
        file->inf = sums->n_inf;
        file->min = sums->n_min;
        file->max = sums->n_max;
    }
    read_shape(inspection, job, file);
}

/* Each file faces itself: its second reading comes from the cache, and the sums are its own. */
static tdc_status read_files(struct tdc_inspection *inspection, const struct tdc_options *options,
                             struct tdc_error *error)
{
    const struct tdc_dump *dump = inspection->dump;
    struct tdc_job *jobs = calloc(inspection->file_count + 1, sizeof *jobs);
    if (jobs == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory for %zu files",
                        inspection->file_count);
    for (size_t i = 0; i < inspection->file_count; i++) {
        struct tdc_inspected *file = &inspection->files[i];
        const struct tdc_record *record = &dump->records[file->record];
        jobs[i] = (struct tdc_job){
            .n_folder = dump->data_folder,
            .n_file = record->data_name,
            .b_folder = dump->data_folder,
            .b_file = record->data_name,
            .bytes = 2 * file->bytes,
            .order = i,
            .row = file,
        };
    }
    struct tdc_engine engine = {
        .rule = TDC_RELATIVE_F64,
        .threads = options->threads,
        .io = options->io,
        .extremes = true,
        .backend = &tdc_backend_cpu,
        .options = options,
        .done = file_done,
        .context = inspection,
    };
    tdc_status status = tdc_engine_run(&engine, jobs, inspection->file_count, error);
    free(jobs);
    return status;
}

/* ---- the inspection -------------------------------------------------------------------------- */

static bool list_files(struct tdc_inspection *inspection)
{
    const struct tdc_dump *dump = inspection->dump;
    inspection->files = calloc(dump->record_count + 1, sizeof *inspection->files);
    if (inspection->files == NULL)
        return false;
    for (size_t i = 0; i < dump->record_count; i++) {
        inspection->counts.records++;
        inspection->counts.tensors += !dump->records[i].scalar;
        if (!dump->records[i].scalar && tdc_record_has_file(&dump->records[i]))
            inspection->files[inspection->file_count++] = (struct tdc_inspected){
                .record = (uint32_t)i, .bytes = tdc_record_bytes(&dump->records[i])};
    }
    inspection->counts.files = inspection->file_count;
    return true;
}

tdc_status tdc_inspection_new(const char *path, tdc_inspection **result, struct tdc_error *error)
{
    *result = NULL;
    struct tdc_inspection *inspection = calloc(1, sizeof *inspection);
    if (inspection == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
    tdc_arena_init(&inspection->arena, ARENA_LIMIT);
    pthread_mutex_init(&inspection->lock, NULL);
    tdc_status status = tdc_dump_load(path, &inspection->dump, error);
    if (status == TDC_OK && (!list_files(inspection) || !tdc_inspect_modules(inspection)))
        status = tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", path);
    if (status != TDC_OK) {
        tdc_inspection_free(inspection);
        return status;
    }
    *result = inspection;
    return TDC_OK;
}

void tdc_inspection_free(tdc_inspection *inspection)
{
    if (inspection == NULL)
        return;
    tdc_dump_free(inspection->dump);
    tdc_arena_free(&inspection->arena);
    pthread_mutex_destroy(&inspection->lock);
    free(inspection->files);
    free(inspection->findings);
    free(inspection->modules);
    free(inspection);
}

void tdc_inspection_work(const tdc_inspection *inspection, uint64_t *files, uint64_t *bytes)
{
    *files = inspection->file_count;
    *bytes = 0;
    for (size_t i = 0; i < inspection->file_count; i++)
        *bytes += 2 * inspection->files[i].bytes;
}

tdc_status tdc_inspection_run(tdc_inspection *inspection, const struct tdc_options *options,
                              struct tdc_error *error)
{
    struct tdc_options whole;
    tdc_status status = tdc_options_read(options, &whole, error);
    if (status == TDC_OK)
        status = read_files(inspection, &whole, error);
    if (status != TDC_OK)
        return status;
    size_t file = 0;
    tdc_inspect_calls(inspection);
    for (size_t i = 0; i < inspection->dump->record_count && !inspection->failed; i++) {
        bool read = file < inspection->file_count && inspection->files[file].record == i;
        tdc_inspect_record(inspection, i, read ? &inspection->files[file++] : NULL);
    }
    if (inspection->failed)
        return tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", inspection->dump->path);
    return TDC_OK;
}

/* ---- what it found --------------------------------------------------------------------------- */

void tdc_inspection_counts(const tdc_inspection *inspection, struct tdc_inspection_counts *counts,
                           size_t size)
{
    tdc_sized_give(counts, size, &inspection->counts, sizeof inspection->counts);
}

uint64_t tdc_inspection_count(const tdc_inspection *inspection, tdc_finding_kind kind)
{
    return (unsigned)kind < TDC_FINDING_KINDS ? inspection->kinds[kind] : 0;
}

size_t tdc_inspection_findings(const tdc_inspection *inspection)
{
    return inspection->finding_count;
}

const struct tdc_finding *tdc_inspection_finding(const tdc_inspection *inspection, size_t index)
{
    return &inspection->findings[index];
}

size_t tdc_inspection_modules(const tdc_inspection *inspection)
{
    return inspection->module_count;
}

const struct tdc_module_size *tdc_inspection_module(const tdc_inspection *inspection, size_t index)
{
    return &inspection->modules[index];
}

const char *tdc_inspection_task(const tdc_inspection *inspection)
{
    return inspection->dump->task;
}

const char *tdc_inspection_level(const tdc_inspection *inspection)
{
    return inspection->dump->level;
}

const char *tdc_inspection_framework(const tdc_inspection *inspection)
{
    return tdc_dump_detected_framework(inspection->dump);
}
