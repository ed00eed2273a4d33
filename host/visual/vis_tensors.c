/* vis_tensors.c - the tensor files of all pairs, compared as msprobe's tables have them. */
#include <stdlib.h>
#include <string.h>

#include "host/judge/compat/compat.h"
#include "host/visual/vis_compare.h"
#include "io/base/error.h"

static const char *const columns[TDC_TENSOR_VALUES] = {
    [TDC_COSINE] = "Cosine",
    [TDC_EUC_DIST] = "EucDist",
    [TDC_MAX_ABS] = "MaxAbsErr",
    [TDC_MAX_REL] = "MaxRelativeErr",
    [TDC_ONE_THOUSANDTH] = "One Thousandth Err Ratio",
    [TDC_FIVE_THOUSANDTHS] = "Five Thousandths Err Ratio",
};

/* The file of an item, "-1" when there is none. */
static const char *file_of(const struct tdc_vis_item *item)
{
    const struct tdc_json *name = item != NULL ? tdc_json_get(&item->fields, "data_name") : NULL;
    return name != NULL && name->kind == TDC_JSON_STRING && name->length != 0 ? name->text : "-1";
}

static void judge(struct tdc_vis_row *row, const struct tdc_outcome *outcome)
{
    static const struct tdc_match any_file = {0};
    const struct tdc_case row_case = {
        .match = &any_file, .n_file = file_of(row->npu), .b_file = file_of(row->bench)};
    struct tdc_row judged = {0};
    struct tdc_text message;
    tdc_text_init(&message, (size_t)1 << 12);
    tdc_rules_compat.judge_tensor(&row_case, outcome, &judged, NULL, &message);
    tdc_text_free(&message);
    memcpy(row->values, judged.values, sizeof row->values);
}

static void pair_done(void *context, const struct tdc_job *job, const struct tdc_outcome *outcome)
{
    (void)context;
    judge(job->row, outcome);
}

static const char *word_of(struct tdc_value value)
{
    switch (value.form) {
    case TDC_HOLDS_NAN:
        return "Nan";
    case TDC_HOLDS_NA:
        return "N/A";
    case TDC_HOLDS_UNSUPPORTED:
        return "unsupported";
    case TDC_HOLDS_SHAPE:
        return "shape unmatched";
    default:
        return "";
    }
}

/* Null items show nothing. */
static bool add_fields(struct tdc_arena *arena, const struct tdc_vis_row *row)
{
    const struct tdc_json *most = tdc_json_get(&row->npu->fields, "Max");
    if (most == NULL || most->kind == TDC_JSON_NULL)
        return true;
    for (int i = 0; i < TDC_TENSOR_VALUES; i++) {
        struct tdc_value value = row->values[i];
        if (!(value.form == TDC_HOLDS_NUMBER
                  ? tdc_vis_set_float(arena, row->npu, columns[i], value.number)
                  : tdc_vis_set_text(arena, row->npu, columns[i], word_of(value))))
            return false;
    }
    bool consistent =
        row->bench != NULL && tdc_vis_equal(tdc_json_get(&row->npu->fields, "requires_grad"),
                                            tdc_json_get(&row->bench->fields, "requires_grad"));
    return tdc_vis_set_text(arena, row->npu, "Requires_grad Consistent",
                            consistent ? "True" : "False");
}

/* Jobs of all rows with two files; the others are judged here. */
static size_t fill_jobs(const struct tdc_vis_comparison *comparison, struct tdc_job *jobs)
{
    size_t count = 0;
    for (size_t i = 0; i < comparison->count; i++) {
        struct tdc_vis_row *row = &comparison->rows[i];
        const char *npu = file_of(row->npu), *bench = file_of(row->bench);
        if (strcmp(npu, "-1") == 0 || strcmp(bench, "-1") == 0)
            judge(row, NULL);
        else
            jobs[count++] = (struct tdc_job){.n_folder = comparison->npu->tensors,
                                             .n_file = npu,
                                             .b_folder = comparison->bench->tensors,
                                             .b_file = bench,
                                             .order = i,
                                             .row = row};
    }
    return count;
}

tdc_status tdc_vis_compare_tensors(struct tdc_vis_comparison *comparison, struct tdc_error *error)
{
    struct tdc_job *jobs = calloc(comparison->count + 1, sizeof *jobs);
    if (jobs == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", comparison->npu->path);
    size_t count = fill_jobs(comparison, jobs);
    struct tdc_engine engine = {.rule = tdc_rules_compat.relative,
                                .threads = comparison->options->threads,
                                .io = comparison->options->io,
                                .backend = &tdc_backend_cpu,
                                .options = comparison->options,
                                .done = pair_done};
    tdc_status status = count != 0 ? tdc_engine_run(&engine, jobs, count, error) : TDC_OK;
    free(jobs);
    for (size_t i = 0; i < comparison->count && status == TDC_OK; i++)
        if (!add_fields(&comparison->npu->arena, &comparison->rows[i]))
            status = tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", comparison->npu->path);
    return status;
}
