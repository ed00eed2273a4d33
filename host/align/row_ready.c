/* row_ready.c - what a row needs to be compared: boxes in the axes of the result, and series. */
#include <string.h>

#include "host/align/row_made.h"
#include "kernels/dtype.h"

/* ---- logical tensors ------------------------------------------------------------------------- */

/* Narrowness of a type: bf16, f16, f32, f64; -1 for others. */
static int width_of(const char *dtype)
{
    static const char *const brief[] = {"BF16", "F16", "F32", "F64"};
    static const tdc_dtype types[] = {TDC_BF16, TDC_F16, TDC_F32, TDC_F64};
    tdc_dtype type = tdc_dtype_at_end(dtype);
    for (int i = 0; i < 4; i++)
        if (type == types[i] || strcmp(dtype, brief[i]) == 0)
            return i;
    return -1;
}

static enum tdc_rounding rounding_of(const struct tdc_row_made *making, int index)
{
    static const enum tdc_rounding by_width[] = {TDC_ROUND_BF16, TDC_ROUND_F16, TDC_ROUND_F32,
                                                 TDC_ROUND_NONE};
    static const enum tdc_rounding by_cast[] = {[TDC_CAST_NONE] = TDC_ROUND_NONE,
                                                [TDC_CAST_F32] = TDC_ROUND_F32,
                                                [TDC_CAST_F16] = TDC_ROUND_F16,
                                                [TDC_CAST_BF16] = TDC_ROUND_BF16,
                                                [TDC_CAST_NARROW] = TDC_ROUND_NONE};
    const struct tdc_placed *a = &making->halves[0].placed[0], *b = &making->halves[1].placed[0];
    if (index > 1)
        return TDC_ROUND_NONE;
    if (a->cast != TDC_CAST_NARROW && b->cast != TDC_CAST_NARROW)
        return by_cast[index == 0 ? a->cast : b->cast];
    int of_a = width_of(a->dtype), of_b = width_of(b->dtype);
    return of_a < 0 || of_b < 0 ? TDC_ROUND_NONE : by_width[of_a < of_b ? of_a : of_b];
}

tdc_status tdc_row_finish(struct tdc_row_made *making, int index)
{
    const struct tdc_row_half *half = &making->halves[index];
    const struct tdc_row_making *row = making->making;
    const struct tdc_token_axis *tokens = tdc_row_tokens(half);
    struct tdc_finish finish = {
        .placed = half->placed,
        .count = half->found,
        .cat = half->found > 1 ? row->tensor->cat : NULL,
        .axes = half->axes,
        .order = half->order,
        .sizes = making->sizes,
        .tokens = making->paired && tokens != NULL ? &making->pairs.maps[index != 0] : NULL,
        .token_axis = tokens != NULL ? tokens->axis : 0,
        .rounding = rounding_of(making, index),
        .agree = half->side->sided->rule->agree,
        .letter = half->side->sided->letter,
    };
    making->row->sides[index] = tdc_logical_finish(&finish, &row->alignment->arena);
    return making->row->sides[index] != NULL ? TDC_OK : tdc_row_no_memory(making);
}

/* The truth takes part where it has the same axes of the same sizes. */
tdc_status tdc_row_finish_truth(struct tdc_row_made *making)
{
    struct tdc_row_half *truth = &making->halves[2], *b = &making->halves[1];
    if (truth->found == 0)
        return TDC_OK;
    tdc_status status = tdc_row_place_with_hints(making, truth, b);
    if (status == TDC_ERR_ARGUMENT || status == TDC_ERR_MEMORY)
        return status;
    if (status != TDC_OK || !tdc_row_same_axes(truth, b))
        return TDC_OK;
    const struct tdc_token_axis *tokens = tdc_row_tokens(truth), *of_b = tdc_row_tokens(b);
    if (making->paired && (tokens == NULL || of_b == NULL ||
                           truth->placed[0].sizes[tokens->axis] != b->placed[0].sizes[of_b->axis]))
        return TDC_OK;
    if (making->paired)
        truth->sizes[tokens->axis] = making->pairs.tokens;
    for (unsigned d = 0; d < b->axes; d++) {
        const char *name = b->names[b->order[d]];
        truth->order[d] = tdc_row_axis(truth, name, strlen(name));
        if (truth->sizes[truth->order[d]] != making->sizes[d])
            return TDC_OK;
    }
    return tdc_row_describe(making, 2) ? tdc_row_finish(making, 2) : tdc_row_no_memory(making);
}

/* ---- series ---------------------------------------------------------------------------------- */

/* Which sequence and which place in it each token is. */
static bool number_tokens(const struct tdc_row_made *making, struct tdc_series *series,
                          uint64_t tokens)
{
    struct tdc_arena *arena = &making->making->alignment->arena;
    uint32_t *sequence = tdc_arena_zeroed(arena, tokens + 1, sizeof *sequence);
    uint32_t *position = tdc_arena_zeroed(arena, tokens + 1, sizeof *position);
    const struct tdc_token_axis *axis = tdc_row_tokens(&making->halves[1]);
    if (axis == NULL)
        axis = tdc_row_tokens(&making->halves[0]);
    if (sequence == NULL || position == NULL)
        return false;
    if (making->paired) {
        memcpy(sequence, making->pairs.sequence, tokens * sizeof *sequence);
        memcpy(position, making->pairs.position, tokens * sizeof *position);
    } else {
        uint64_t at = 0;
        for (size_t i = 0; i < axis->count; i++)
            for (uint64_t t = 0; t < axis->lengths[i] && at < tokens; t++, at++) {
                sequence[at] = (uint32_t)i;
                position[at] = (uint32_t)t;
            }
    }
    series->sequence = sequence;
    series->position = position;
    return true;
}

static bool add_series(struct tdc_row_made *making, const char *name, struct tdc_series ***end)
{
    const struct tdc_row_half *b = &making->halves[1];
    struct tdc_arena *arena = &making->making->alignment->arena;
    unsigned d = 0;
    for (const struct tdc_series *one = making->row->series; one != NULL; one = one->next)
        if (strcmp(one->axis, name) == 0)
            return true;
    while (d < b->axes && strcmp(b->names[b->order[d]], name) != 0)
        d++;
    if (d == b->axes)
        return true;
    struct tdc_series *series = tdc_arena_zeroed(arena, 1, sizeof *series);
    if (series == NULL)
        return false;
    series->axis = tdc_arena_text(arena, name, strlen(name));
    series->length = making->sizes[d];
    series->inner = 1;
    for (unsigned k = d + 1; k < b->axes; k++)
        series->inner *= making->sizes[k];
    series->sums = tdc_arena_zeroed(arena, series->length + 1, sizeof *series->sums);
    const struct tdc_token_axis *tokens = tdc_row_tokens(b);
    const struct tdc_row_half *of = b;
    if (tokens == NULL) {
        of = &making->halves[0];
        tokens = tdc_row_tokens(of);
    }
    bool is_token = tokens != NULL && strcmp(of->names[tokens->axis], name) == 0;
    if (series->axis == NULL || series->sums == NULL ||
        (is_token && !number_tokens(making, series, series->length)))
        return false;
    **end = series;
    *end = (struct tdc_series **)&series->next;
    return true;
}

bool tdc_row_list_series(struct tdc_row_made *making)
{
    const struct tdc_rule_tensor *tensor = making->making->tensor;
    const struct tdc_align_request *request = making->making->request;
    struct tdc_series **end = &making->row->series;
    uint64_t count = 1;
    for (unsigned d = 0; d < making->halves[1].axes; d++)
        count *= making->sizes[d];
    if (count == 0)
        return true;
    for (size_t i = 0; tensor != NULL && i < tensor->series_count; i++)
        if (!add_series(making, tensor->series[i], &end))
            return false;
    for (size_t i = 0; i < request->series_count; i++)
        if (!add_series(making, request->series[i], &end))
            return false;
    return true;
}
