/* kernel_batch.c - the tensors of single kernels, file by file: the table of msprobe's parse shell.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "host/analysis/analysis.h"
#include "host/analysis/kernel_batch/kernel_tree.h"
#include "host/engine/engine.h"
#include "host/find/folders.h"
#include "io/base/error.h"
#include "io/file/mapping_guard.h"
#include "io/file/out_file.h"
#include "io/table/sink.h"

static const char *const columns[] = {"NPU File Name",     "Bench File Name", "Mean",
                                      "Bench Mean",        "Md5 Consistency", "Max Abs Error",
                                      "Max Relative Error"};

enum {
    COLUMNS = sizeof columns / sizeof *columns
};

struct result {
    const struct tdc_kernel_pair *pair;
    bool compared, equal;
    double means[2], max_abs, max_rel;
    char reason[512]; /* of one that was not compared */
};

struct batch {
    const char *roots[2];
    const struct tdc_options *options;
    struct tdc_kernel_tree tree;
    struct result *results;
};

/* ---- a pair ---------------------------------------------------------------------------------- */

struct bytes {
    const unsigned char *n, *b;
    size_t length;
    bool equal;
};

static void compare_bytes(void *context)
{
    struct bytes *bytes = context;
    bytes->equal = memcmp(bytes->n, bytes->b, bytes->length) == 0;
}

/* Whether two files that hold the same numbers hold the same bytes too, signs of zeros and all. */
static bool same_bytes(const struct batch *batch, const struct tdc_kernel_pair *pair)
{
    struct tdc_tensor tensors[2];
    struct tdc_error error = {0};
    const char *files[] = {pair->npu, pair->bench};
    int open = 0;
    for (; open < 2; open++) {
        char *path = tdc_path_join(batch->roots[open], files[open]);
        tdc_status status = path != NULL
                                ? tdc_tensor_open(path, TDC_TENSOR_NPY, &tensors[open], &error)
                                : TDC_ERR_MEMORY;
        free(path);
        if (status != TDC_OK)
            break;
    }
    bool same = false;
    if (open == 2 && tensors[0].dense && tensors[1].dense && tensors[0].count == tensors[1].count &&
        tensors[0].dtype == tensors[1].dtype && tensors[0].swapped == tensors[1].swapped) {
        struct bytes bytes = {.n = tensors[0].data,
                              .b = tensors[1].data,
                              .length = tensors[0].count * tdc_dtype_size(tensors[0].dtype)};
        same = tdc_guarded_read(compare_bytes, &bytes) && bytes.equal;
    }
    while (open-- > 0)
        tdc_tensor_close(&tensors[open]);
    return same;
}

/* As numpy: what is not finite makes the mean so. */
static double mean_of(double sum, uint64_t count, uint64_t nan, uint64_t inf)
{
    if (nan != 0)
        return NAN;
    return inf != 0 ? HUGE_VAL : sum / (double)count;
}

static void take_sums(const struct batch *batch, const struct tdc_outcome *outcome,
                      struct result *result)
{
    const struct tdc_pair_sums *sums = &outcome->sums;
    bool finite = sums->finite == sums->count;
    result->compared = true;
    result->means[0] = mean_of(sums->n, sums->count, sums->n_nan, sums->n_inf);
    result->means[1] = mean_of(sums->b, sums->count, sums->b_nan, sums->b_inf);
    result->max_abs = finite ? sums->abs_max : NAN;
    result->max_rel = finite ? sums->rel_max : NAN;
    bool alike = sums->dd == 0 && sums->n_nan == sums->b_nan && sums->n_inf == sums->b_inf;
    result->equal = alike && same_bytes(batch, result->pair);
}

static void pair_done(void *context, const struct tdc_job *job, const struct tdc_outcome *outcome)
{
    const struct batch *batch = context;
    struct result *result = job->row;
    bool unlike = outcome->code == TDC_OUTCOME_SHAPES_DIFFER ||
                  (outcome->code == TDC_OUTCOME_COMPARED && outcome->n_dtype != outcome->b_dtype);
    if (unlike)
        snprintf(result->reason, sizeof result->reason,
                 "Shape or dtype between two npy files is inconsistent. Please check the two "
                 "files.File 1: %.150s, file 2: %.150s",
                 job->n_file, job->b_file);
    else if (outcome->code == TDC_OUTCOME_COMPARED)
        take_sums(batch, outcome, result);
    else if (outcome->code == TDC_OUTCOME_UNREADABLE)
        snprintf(result->reason, sizeof result->reason, "%.500s", outcome->error.message);
    else
        snprintf(result->reason, sizeof result->reason, "%.400s: %s", job->n_file,
                 outcome->code == TDC_OUTCOME_EMPTY ? "no elements" : "no numbers");
}

static tdc_status compare(struct batch *batch, struct tdc_error *error)
{
    size_t count = batch->tree.count;
    struct tdc_job *jobs = calloc(count, sizeof *jobs);
    batch->results = calloc(count, sizeof *batch->results);
    if (jobs == NULL || batch->results == NULL) {
        free(jobs);
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory for %zu pairs", count);
    }
    for (size_t i = 0; i < count; i++) {
        batch->results[i].pair = &batch->tree.pairs[i];
        jobs[i] = (struct tdc_job){.n_folder = batch->roots[0],
                                   .n_file = batch->tree.pairs[i].npu,
                                   .b_folder = batch->roots[1],
                                   .b_file = batch->tree.pairs[i].bench,
                                   .order = i,
                                   .row = &batch->results[i]};
    }
    /* zeros of the bench are replaced by a tiny number, as the original does */
    const struct tdc_engine engine = {.rule = TDC_RELATIVE_NATIVE,
                                      .threads = batch->options->threads,
                                      .io = batch->options->io,
                                      .extremes = true,
                                      .backend = &tdc_backend_cpu,
                                      .options = batch->options,
                                      .done = pair_done,
                                      .context = batch};
    tdc_status status = tdc_engine_run(&engine, jobs, count, error);
    free(jobs);
    return status;
}

/* ---- the table ------------------------------------------------------------------------------- */

static struct tdc_cell text_cell(const char *text)
{
    return (struct tdc_cell){.kind = TDC_CELL_TEXT, .text = text, .length = strlen(text)};
}

static struct tdc_cell number_cell(const struct result *result, double number)
{
    if (!result->compared)
        return text_cell("N/A");
    return (struct tdc_cell){.kind = TDC_CELL_NUMBER, .number = number};
}

static tdc_status write_rows(const struct batch *batch, struct tdc_sink *sink,
                             struct tdc_error *error)
{
    tdc_status status = TDC_OK;
    for (size_t i = 0; i < batch->tree.count && status == TDC_OK; i++) {
        const struct result *result = &batch->results[i];
        const struct tdc_cell cells[COLUMNS] = {text_cell(result->pair->npu),
                                                text_cell(result->pair->bench),
                                                number_cell(result, result->means[0]),
                                                number_cell(result, result->means[1]),
                                                text_cell(!result->compared ? "N/A"
                                                          : result->equal   ? "True"
                                                                            : "False"),
                                                number_cell(result, result->max_abs),
                                                number_cell(result, result->max_rel)};
        status = tdc_sink_row(sink, cells, TDC_COLOUR_NONE, error);
    }
    return status;
}

static tdc_status write_table(const struct batch *batch, const char *output,
                              struct tdc_kernel_batch *summary, struct tdc_error *error)
{
    tdc_status status = tdc_make_folders(output, error);
    if (status != TDC_OK)
        return status;
    snprintf(summary->file, sizeof summary->file, "%s/batch_compare_%lld.csv", output,
             (long long)time(NULL));
    const struct tdc_sink_spec spec = {.path = summary->file,
                                       .columns = columns,
                                       .column_count = COLUMNS,
                                       .rows = batch->tree.count,
                                       .escape_formulas = true};
    struct tdc_sink *sink = NULL;
    status = tdc_sink_open(TDC_FORMAT_CSV, &spec, &sink, error);
    if (status != TDC_OK)
        return status;
    status = write_rows(batch, sink, error);
    if (status == TDC_OK)
        return tdc_sink_close(sink, error);
    tdc_sink_discard(sink);
    return status;
}

static void sum_up(const struct batch *batch, struct tdc_kernel_batch *summary)
{
    summary->operators = batch->tree.operators;
    summary->pairs = batch->tree.count;
    summary->unpaired = batch->tree.unpaired;
    for (size_t i = 0; i < batch->tree.count; i++) {
        const struct result *result = &batch->results[i];
        summary->equal += result->equal;
        summary->failed += !result->compared;
        if (!result->compared)
            tdc_analysis_say(batch->options, TDC_MESSAGE_ERROR, "%s", result->reason);
    }
}

tdc_status tdc_kernel_batch_compare(const char *npu, const char *bench, const char *output,
                                    const struct tdc_options *options,
                                    struct tdc_kernel_batch *summary, size_t size,
                                    struct tdc_error *error)
{
    struct batch batch = {.roots = {npu, bench}, .options = options};
    struct tdc_kernel_batch found = {0};
    tdc_status status = tdc_kernel_tree_walk(npu, bench, options, &batch.tree, error);
    if (status == TDC_OK)
        status = compare(&batch, error);
    if (status == TDC_OK)
        status = write_table(&batch, output, &found, error);
    if (status == TDC_OK)
        sum_up(&batch, &found);
    memcpy(summary, &found, size < sizeof found ? size : sizeof found);
    free(batch.results);
    tdc_kernel_tree_free(&batch.tree);
    return status;
}
