/* result.c - which file is which, and what was read of it. */
#include "host/result/result.h"

#include <stdlib.h>
#include <string.h>

#include "io/base/error.h"
#include "io/base/text.h"

/* Texts of a result that are kept: names, numbers and stacks of some million rows. */
#define RESULT_LIMIT ((size_t)8 << 30)

static const struct {
    tdc_result_field field;
    const char *heading;
} headings[] = {
    {TDC_RESULT_TEST_NAME, "NPU Name"},
    {TDC_RESULT_TEST_NAME, "Name"},
    {TDC_RESULT_TEST_NAME, "test.name"},
    {TDC_RESULT_TEST_NAME, "name"},
    {TDC_RESULT_REF_NAME, "Bench Name"},
    {TDC_RESULT_REF_NAME, "Ref Name"},
    {TDC_RESULT_REF_NAME, "ref.name"},
    {TDC_RESULT_VERDICT, "Accuracy Reached or Not"},
    {TDC_RESULT_VERDICT, "Result"},
    {TDC_RESULT_VERDICT, "Verdict"},
    {TDC_RESULT_VERDICT, "verdict"},
    {TDC_RESULT_REASON, "Err_message"},
    {TDC_RESULT_REASON, "Reason"},
    {TDC_RESULT_REASON, "message"},
    {TDC_RESULT_STACK, "NPU_Stack_Info"},
    {TDC_RESULT_TEST_DTYPE, "NPU Dtype"},
    {TDC_RESULT_TEST_DTYPE, "test.dtype"},
    {TDC_RESULT_REF_DTYPE, "Bench Dtype"},
    {TDC_RESULT_REF_DTYPE, "ref.dtype"},
    {TDC_RESULT_TEST_SHAPE, "NPU Tensor Shape"},
    {TDC_RESULT_TEST_SHAPE, "Shape"},
    {TDC_RESULT_TEST_SHAPE, "test.shape"},
    {TDC_RESULT_REF_SHAPE, "Bench Tensor Shape"},
    {TDC_RESULT_REF_SHAPE, "ref.shape"},
    {TDC_RESULT_TEST_MAX, "NPU max"},
    {TDC_RESULT_TEST_MAX, "NPU Value"}, /* of an argument */
    {TDC_RESULT_TEST_MAX, "test.max"},
    {TDC_RESULT_TEST_MAX, "test.value"},
    {TDC_RESULT_REF_MAX, "Bench max"},
    {TDC_RESULT_REF_MAX, "Bench Value"},
    {TDC_RESULT_REF_MAX, "ref.max"},
    {TDC_RESULT_REF_MAX, "ref.value"},
    {TDC_RESULT_TEST_MIN, "NPU min"},
    {TDC_RESULT_TEST_MIN, "test.min"},
    {TDC_RESULT_REF_MIN, "Bench min"},
    {TDC_RESULT_REF_MIN, "ref.min"},
    {TDC_RESULT_TEST_MEAN, "NPU mean"},
    {TDC_RESULT_TEST_MEAN, "test.mean"},
    {TDC_RESULT_REF_MEAN, "Bench mean"},
    {TDC_RESULT_REF_MEAN, "ref.mean"},
    {TDC_RESULT_TEST_NORM, "NPU l2norm"},
    {TDC_RESULT_TEST_NORM, "test.norm"},
    {TDC_RESULT_REF_NORM, "Bench l2norm"},
    {TDC_RESULT_REF_NORM, "ref.norm"},
    {TDC_RESULT_TEST_DIGEST, "NPU MD5"},
    {TDC_RESULT_TEST_DIGEST, "test.md5"},
    {TDC_RESULT_REF_DIGEST, "BENCH MD5"},
    {TDC_RESULT_REF_DIGEST, "ref.md5"},
    {TDC_RESULT_COSINE, "Cosine"},
    {TDC_RESULT_COSINE, "metrics.cosine"},
    {TDC_RESULT_EUCLIDEAN, "EucDist"},
    {TDC_RESULT_EUCLIDEAN, "metrics.euclidean"},
    {TDC_RESULT_MAX_ABS, "MaxAbsErr"},
    {TDC_RESULT_MAX_ABS, "metrics.max_abs"},
    {TDC_RESULT_MAX_REL, "MaxRelativeErr"},
    {TDC_RESULT_MAX_REL, "metrics.max_rel"},
    {TDC_RESULT_MEAN_ABS, "Mean Abs Err"},
    {TDC_RESULT_MEAN_ABS, "metrics.mean_abs"},
    {TDC_RESULT_RMSE, "RMSE"},
    {TDC_RESULT_RMSE, "metrics.rmse"},
    {TDC_RESULT_DISTANCE, "Relative Distance"},
    {TDC_RESULT_DISTANCE, "metrics.relative_distance"},
    {TDC_RESULT_WORST, "Worst To Largest"},
    {TDC_RESULT_WORST, "metrics.worst_to_largest"},
    {TDC_RESULT_MAX_ABS_AT, "Worst Abs At"},
    {TDC_RESULT_MAX_ABS_AT, "worst_abs.index"},
    {TDC_RESULT_MAX_ABS_TEST, "Worst Abs NPU"},
    {TDC_RESULT_MAX_ABS_TEST, "worst_abs.test"},
    {TDC_RESULT_MAX_ABS_REF, "Worst Abs Bench"},
    {TDC_RESULT_MAX_ABS_REF, "worst_abs.ref"},
};

tdc_result_field tdc_result_field_of(const char *heading)
{
    for (size_t i = 0; i < sizeof headings / sizeof *headings; i++)
        if (strcmp(headings[i].heading, heading) == 0)
            return headings[i].field;
    return TDC_RESULT_NONE;
}

struct tdc_result_row *tdc_result_add(struct tdc_result *result)
{
    if (result->count == result->capacity) {
        size_t capacity = result->capacity == 0 ? 256 : result->capacity * 2;
        struct tdc_result_row *rows = realloc(result->rows, capacity * sizeof *rows);
        if (rows == NULL)
            return NULL;
        result->rows = rows;
        result->capacity = capacity;
    }
    struct tdc_result_row *row = &result->rows[result->count++];
    *row = (struct tdc_result_row){{NULL}};
    return row;
}

bool tdc_result_set(struct tdc_result *result, struct tdc_result_row *row, tdc_result_field field,
                    const char *text, size_t length)
{
    if (field == TDC_RESULT_NONE || row->texts[field] != NULL || length == 0)
        return true;
    /* names and types repeat from row to row */
    const char *before = row > result->rows ? row[-1].texts[field] : NULL;
    if (before != NULL && strlen(before) == length && memcmp(before, text, length) == 0)
        row->texts[field] = before;
    else
        row->texts[field] = tdc_arena_text(&result->arena, text, length);
    return row->texts[field] != NULL;
}

static tdc_status read_file(const char *path, struct tdc_result *result, struct tdc_error *error)
{
    if (tdc_ends_in(path, ".xlsx"))
        return tdc_result_read_xlsx(path, result, error);
    if (tdc_ends_in(path, ".csv"))
        return tdc_result_read_csv(path, result, error);
    if (tdc_ends_in(path, ".json") || tdc_ends_in(path, ".jsonl"))
        return tdc_result_read_json(path, result, error);
    return tdc_fail(error, TDC_ERR_UNSUPPORTED, "%s: a result ends in .xlsx, .csv, .json or .jsonl",
                    path);
}

/* A name on either side in every row, or it is something else. */
static tdc_status check(const char *path, const struct tdc_result *result, struct tdc_error *error)
{
    for (size_t i = 0; i < result->count; i++)
        if (result->rows[i].texts[TDC_RESULT_TEST_NAME] == NULL &&
            result->rows[i].texts[TDC_RESULT_REF_NAME] == NULL)
            return tdc_fail(error, TDC_ERR_UNSUPPORTED,
                            "%s: row %zu has no name: this is no result of a comparison", path,
                            tdc_sheet_row(i));
    if (result->count != 0 && result->rows[0].texts[TDC_RESULT_VERDICT] == NULL)
        return tdc_fail(error, TDC_ERR_UNSUPPORTED,
                        "%s: it has no verdicts: this is no result of a comparison", path);
    return TDC_OK;
}

tdc_status tdc_result_open(const char *path, tdc_result **result, struct tdc_error *error)
{
    *result = NULL;
    struct tdc_result *made = calloc(1, sizeof *made);
    if (made == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", path);
    tdc_arena_init(&made->arena, RESULT_LIMIT);
    tdc_status status = read_file(path, made, error);
    if (status == TDC_OK)
        status = check(path, made, error);
    if (status == TDC_OK)
        *result = made;
    else
        tdc_result_free(made);
    return status;
}

void tdc_result_free(tdc_result *result)
{
    if (result == NULL)
        return;
    tdc_arena_free(&result->arena);
    free(result->rows);
    free(result);
}

size_t tdc_result_rows(const tdc_result *result)
{
    return result->count;
}

const char *tdc_result_text(const tdc_result *result, size_t row, tdc_result_field field)
{
    if (row >= result->count || field <= TDC_RESULT_NONE || field >= TDC_RESULT_FIELDS)
        return "";
    const char *text = result->rows[row].texts[field];
    if (text == NULL && field == TDC_RESULT_REF_NAME)
        text = result->rows[row].texts[TDC_RESULT_TEST_NAME];
    return text != NULL ? text : "";
}

const char *tdc_result_side(const tdc_result *result, bool test)
{
    return result->sides[test];
}

const char *tdc_result_folder(const tdc_result *result)
{
    return result->folder;
}
