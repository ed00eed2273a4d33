/*
 * ties.c - positions of equal elements: any of them is right.
 *
 * sort, topk, max and the like give the positions of the elements they choose. Which of several
 * equal elements is chosen is left to the implementation, so that a position is judged by the
 * element it points at, and a gradient goes where the recorded positions say.
 */
#include <math.h>
#include <string.h>

#include "host/precheck/check/backward.h"

struct chooser {
    const char *name;
    size_t dim_at;    /* position of the argument dim */
    size_t index_at;  /* which output has the positions */
    bool last_dim;    /* dim is the last one when it is not given; else all elements are one line */
    bool permutation; /* no element may be chosen twice */
    bool values;      /* output 0 has the elements: the gradient goes to their positions */
};

static const struct chooser choosers[] = {
    {"sort", 1, 1, true, true, true},      {"topk", 2, 1, true, true, true},
    {"kthvalue", 2, 1, true, false, true}, {"mode", 1, 1, true, false, true},
    {"median", 1, 1, true, false, true},   {"nanmedian", 1, 1, true, false, true},
    {"max", 1, 1, true, false, true},      {"min", 1, 1, true, false, true},
    {"cummax", 1, 1, true, false, false},  {"cummin", 1, 1, true, false, false},
    {"argsort", 1, 0, true, true, false},  {"argmax", 1, 0, false, false, false},
    {"argmin", 1, 0, false, false, false},
};

/* A tensor cut into lines along one dimension, and positions within them. */
struct lines {
    const struct chooser *chooser;
    const struct tdc_reference_tensor *input;
    int64_t outer, length, inner;
};

static const struct chooser *chooser_named(const char *name)
{
    for (size_t i = 0; i < sizeof choosers / sizeof *choosers; i++)
        if (strcmp(choosers[i].name, name) == 0)
            return &choosers[i];
    return NULL;
}

static bool is_true(const struct tdc_reference_value *value)
{
    return value != NULL && value->kind == TDC_VALUE_BOOL && value->whole != 0;
}

/* False when the call chooses nothing, or promises which of equal elements it takes. */
static bool lines_of(const struct tdc_call_check *check, struct lines *lines)
{
    lines->chooser = chooser_named(check->name);
    const struct tdc_reference_value *input = tdc_call_argument(check, 0, "input");
    if (lines->chooser == NULL || input == NULL || input->kind != TDC_VALUE_TENSOR ||
        is_true(tdc_call_argument(check, SIZE_MAX, "stable")))
        return false;
    const struct tdc_reference_value *dim = tdc_call_argument(check, lines->chooser->dim_at, "dim");
    lines->input = input->tensor;
    int64_t rank = input->tensor->rank, at = rank - 1;
    lines->outer = lines->inner = 1;
    lines->length = input->tensor->count;
    bool given = dim != NULL && dim->kind == TDC_VALUE_INT;
    if (rank == 0 || (!given && !lines->chooser->last_dim))
        return true;
    if (given)
        at = dim->whole < 0 ? dim->whole + rank : dim->whole;
    if (at < 0 || at >= rank)
        return false;
    for (int64_t d = 0; d < at; d++)
        lines->outer *= input->tensor->shape[d];
    for (int64_t d = at + 1; d < rank; d++)
        lines->inner *= input->tensor->shape[d];
    lines->length = input->tensor->shape[at];
    return lines->length != 0;
}

/* Positions per line; 0 when they do not cover the lines evenly. */
static int64_t chosen_per_line(const struct lines *lines, const struct tdc_reference_tensor *index)
{
    int64_t count = lines->outer * lines->inner;
    return count != 0 && index->count % count == 0 ? index->count / count : 0;
}

static bool equal_elements(const struct tdc_reference_tensor *input, int64_t a, int64_t b)
{
    if (!tdc_dtype_is_floating(input->dtype))
        return input->whole[a] == input->whole[b];
    return input->real[a] == input->real[b] || (isnan(input->real[a]) && isnan(input->real[b]));
}

/* Where the k-th position of a line stands in the tensor of positions. */
static int64_t place(const struct lines *lines, int64_t per_line, int64_t line, int64_t k)
{
    return (line / lines->inner * per_line + k) * lines->inner + line % lines->inner;
}

/* Where element `position` of a line stands in the input. */
static int64_t element(const struct lines *lines, int64_t line, int64_t position)
{
    return (line / lines->inner * lines->length + position) * lines->inner + line % lines->inner;
}

/* Every position of the line is inside it, and none is there twice where that is asked for. */
static bool line_is_valid(const struct lines *lines, const struct tdc_reference_tensor *tested,
                          int64_t per_line, int64_t line, unsigned char *seen)
{
    memset(seen, 0, (size_t)lines->length);
    for (int64_t k = 0; k < per_line; k++) {
        int64_t position = tested->whole[place(lines, per_line, line, k)];
        if (position < 0 || position >= lines->length ||
            (lines->chooser->permutation && seen[position] != 0))
            return false;
        seen[position] = 1;
    }
    return true;
}

bool tdc_forgive_ties(struct tdc_call_check *check, struct tdc_values *bench,
                      const struct tdc_values *tested, struct tdc_reason *reason)
{
    struct lines lines;
    if (check->checker->options->profile != TDC_PROFILE_EXTENDED || !lines_of(check, &lines) ||
        lines.chooser->index_at >= bench->count || lines.chooser->index_at >= tested->count)
        return true;
    struct tdc_reference_value *wanted = &bench->list[lines.chooser->index_at];
    const struct tdc_reference_value *found = &tested->list[lines.chooser->index_at];
    if (wanted->kind != TDC_VALUE_TENSOR || found->kind != TDC_VALUE_TENSOR ||
        tdc_value_is_floating(wanted) || tdc_value_is_floating(found) ||
        !tdc_same_shape(wanted->tensor, found->tensor))
        return true;
    int64_t per_line = chosen_per_line(&lines, found->tensor);
    struct tdc_arena *arena = &check->checker->arena;
    unsigned char *seen = tdc_arena_zeroed(arena, (size_t)lines.length + 1, 1);
    struct tdc_reference_tensor *mended = tdc_reference_tensor_new(
        arena, wanted->tensor->dtype, wanted->tensor->rank, wanted->tensor->shape);
    if (seen == NULL || mended == NULL)
        return tdc_give_reason(reason, "out of memory");
    if (mended->count != 0)
        memcpy(mended->whole, wanted->tensor->whole, (size_t)mended->count * sizeof *mended->whole);
    for (int64_t line = 0; per_line != 0 && line < lines.outer * lines.inner; line++) {
        if (!line_is_valid(&lines, found->tensor, per_line, line, seen))
            continue;
        for (int64_t k = 0; k < per_line; k++) {
            int64_t at = place(&lines, per_line, line, k);
            if (equal_elements(lines.input, element(&lines, line, mended->whole[at]),
                               element(&lines, line, found->tensor->whole[at])))
                mended->whole[at] = found->tensor->whole[at];
        }
    }
    wanted->tensor = mended;
    return true;
}

bool tdc_gradient_of_chosen(struct tdc_call_check *check, struct tdc_reference_value *gradient)
{
    struct lines lines;
    struct tdc_values outputs;
    struct tdc_reason unread;
    if (!lines_of(check, &lines) || !lines.chooser->values ||
        !tdc_dtype_is_floating(lines.input->dtype) || check->gradients.count == 0 ||
        !tdc_value_is_floating(&check->gradients.list[0]) ||
        !tdc_recorded_outputs(check, TDC_FORWARD, &outputs, &unread) || outputs.count < 2 ||
        outputs.list[1].kind != TDC_VALUE_TENSOR || tdc_value_is_floating(&outputs.list[1]))
        return false;
    const struct tdc_reference_tensor *index = outputs.list[1].tensor;
    const struct tdc_reference_tensor *given = check->gradients.list[0].tensor;
    int64_t per_line = chosen_per_line(&lines, index);
    struct tdc_arena *arena = &check->checker->arena;
    unsigned char *seen = tdc_arena_zeroed(arena, (size_t)lines.length + 1, 1);
    struct tdc_reference_tensor *made =
        tdc_reference_tensor_new(arena, TDC_F64, lines.input->rank, lines.input->shape);
    if (seen == NULL || made == NULL || per_line == 0 || given->count != index->count)
        return false;
    memset(made->real, 0, (size_t)made->count * sizeof *made->real);
    for (int64_t line = 0; line < lines.outer * lines.inner; line++) {
        if (!line_is_valid(&lines, index, per_line, line, seen))
            return false;
        for (int64_t k = 0; k < per_line; k++) {
            int64_t at = place(&lines, per_line, line, k);
            made->real[element(&lines, line, index->whole[at])] += given->real[at];
        }
    }
    *gradient = (struct tdc_reference_value){.kind = TDC_VALUE_TENSOR, .tensor = made};
    return true;
}
