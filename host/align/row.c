/* row.c - one logical tensor of two sides, or three: placed, turned to the same axes, held ready.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/align/align.h"
#include "io/base/error.h"
#include "io/base/text.h"
#include "kernels/dtype.h"

#define TEXT_LIMIT ((size_t)1 << 16)

/* What one side has for the row. */
struct half {
    const struct tdc_row_side *side;
    struct tdc_placed *placed; /* by entry that was found */
    const struct tdc_part_group **groups;
    size_t found;
    bool done;
    /* of all entries together */
    unsigned axes;
    const char *const *names;
    uint64_t sizes[TDC_LOGICAL_AXES];
    unsigned order[TDC_LOGICAL_AXES]; /* by axis of the result */
};

struct making {
    struct tdc_row_making *making;
    struct tdc_aligned_row *row;
    struct half halves[TDC_ALIGN_SIDES];
    struct tdc_token_pairs pairs;
    bool paired;
    uint64_t sizes[TDC_LOGICAL_AXES]; /* of the result */
};

static tdc_status no_memory(const struct making *making)
{
    return tdc_fail(making->making->error, TDC_ERR_MEMORY, "out of memory for '%.300s'",
                    making->row->name);
}

static const char *keep(const struct making *making, const struct tdc_text *text)
{
    return text->failed ? NULL
                        : tdc_arena_text(&making->making->alignment->arena, tdc_text_get(text),
                                         text->length);
}

/* ---- entries of a side ----------------------------------------------------------------------- */

static bool find_groups(struct making *making, struct half *half)
{
    const struct tdc_row_side *side = half->side;
    struct tdc_arena *scratch = &making->making->scratch;
    half->groups =
        tdc_arena_zeroed(scratch, side->count + 1, sizeof(const struct tdc_part_group *));
    half->placed = tdc_arena_zeroed(scratch, side->count + 1, sizeof *half->placed);
    if (half->groups == NULL || half->placed == NULL)
        return false;
    for (size_t i = 0; i < side->count; i++) {
        uint32_t number =
            tdc_names_find(&side->groups[i].names, making->row->name, strlen(making->row->name));
        if (number != TDC_NAME_NONE) {
            half->groups[i] = &side->groups[i].groups[number];
            half->found++;
        }
    }
    return true;
}

static void add_names(struct tdc_text *text, unsigned count, const char *const *names)
{
    for (unsigned i = 0; i < count; i++)
        tdc_text_addf(text, "%s%s", i != 0 ? " " : "", names[i]);
}

static tdc_status fail_axes(const struct making *making, const char *format, char letter,
                            const char *cat, const struct tdc_placed *one,
                            const struct tdc_placed *other)
{
    struct tdc_text first, second;
    tdc_text_init(&first, TEXT_LIMIT);
    tdc_text_init(&second, TEXT_LIMIT);
    add_names(&first, one->axes, one->names);
    add_names(&second, other->axes, other->names);
    tdc_status status = tdc_fail(making->making->error, TDC_ERR_MISMATCH, format, letter, cat,
                                 tdc_text_get(&first), tdc_text_get(&second));
    tdc_text_free(&first);
    tdc_text_free(&second);
    return status;
}

static bool same_names(const struct tdc_placed *one, const struct tdc_placed *other)
{
    if (one->axes != other->axes)
        return false;
    for (unsigned i = 0; i < one->axes; i++)
        if (strcmp(one->names[i], other->names[i]) != 0)
            return false;
    return true;
}

static void add_shape(struct tdc_text *text, unsigned axes, const uint64_t *sizes)
{
    tdc_text_addc(text, '[');
    for (unsigned i = 0; i < axes; i++)
        tdc_text_addf(text, "%s%llu", i != 0 ? ", " : "", (unsigned long long)sizes[i]);
    tdc_text_addc(text, ']');
}

static tdc_status fail_shapes(const struct making *making, char letter,
                              const struct tdc_placed *one, const struct tdc_placed *other)
{
    struct tdc_text first, second;
    tdc_text_init(&first, TEXT_LIMIT);
    tdc_text_init(&second, TEXT_LIMIT);
    add_shape(&first, one->axes, one->sizes);
    add_shape(&second, other->axes, other->sizes);
    tdc_status status = tdc_fail(making->making->error, TDC_ERR_MISMATCH,
                                 "%c: entries to add have shapes %s and %s", letter,
                                 tdc_text_get(&first), tdc_text_get(&second));
    tdc_text_free(&first);
    tdc_text_free(&second);
    return status;
}

/* Entries that follow each other along an axis, or are added: everything else is equal. */
static tdc_status join_entries(const struct making *making, struct half *half, const char *cat)
{
    const struct tdc_placed *first = &half->placed[0];
    char letter = half->side->sided->letter;
    bool adds = strcmp(cat, "+") == 0, known = adds;
    for (unsigned d = 0; d < first->axes; d++)
        known |= strcmp(first->names[d], cat) == 0;
    for (size_t i = 1; i < half->found; i++) {
        const struct tdc_placed *other = &half->placed[i];
        if (!same_names(first, other) || !known)
            return fail_axes(making,
                             "%c: entries to join along '%.100s' have axes %.300s and %.300s",
                             letter, cat, first, other);
        for (unsigned d = 0; d < first->axes; d++) {
            if (!adds && strcmp(first->names[d], cat) == 0) {
                half->sizes[d] += other->sizes[d];
            } else if (first->sizes[d] != other->sizes[d]) {
                if (adds)
                    return fail_shapes(making, letter, first, other);
                return tdc_fail(making->making->error, TDC_ERR_MISMATCH,
                                "%c: axis '%.100s' is %llu and %llu in entries to join along "
                                "'%.100s'",
                                letter, first->names[d], (unsigned long long)first->sizes[d],
                                (unsigned long long)other->sizes[d], cat);
            }
        }
    }
    return TDC_OK;
}

static tdc_status place_half(struct making *making, struct half *half,
                             const struct tdc_size_hints *hints)
{
    struct tdc_row_making *row = making->making;
    const struct tdc_row_side *side = half->side;
    size_t placed = 0;
    tdc_status status = TDC_OK;
    for (size_t i = 0; i < side->count && status == TDC_OK; i++)
        if (half->groups[i] != NULL)
            status = tdc_place(side->sided, &side->used[i], half->groups[i], hints, &row->scratch,
                               &half->placed[placed++], row->error);
    if (status != TDC_OK)
        return status;
    const char *cat = row->tensor != NULL ? row->tensor->cat : NULL;
    if (half->found < side->count)
        return tdc_fail(row->error, TDC_ERR_MISMATCH,
                        "%c: %zu of %zu entries to join along '%.100s' found", side->sided->letter,
                        half->found, side->count, cat != NULL ? cat : "");
    half->axes = half->placed[0].axes;
    half->names = half->placed[0].names;
    memcpy(half->sizes, half->placed[0].sizes, sizeof half->sizes);
    half->done = true;
    return half->found > 1 ? join_entries(making, half, cat) : TDC_OK;
}

/* ---- sides ----------------------------------------------------------------------------------- */

/* Whether an entry leaves a product open that the other side does not leave open as well. */
static bool is_open(const struct half *half, const struct half *other)
{
    const struct tdc_dims *dims = half->side->count == 1 ? half->groups[0]->dims : NULL;
    const struct tdc_dims *other_dims = other->side->count == 1 ? other->groups[0]->dims : NULL;
    for (size_t i = 0; dims != NULL && i < dims->axis_count; i++)
        if (tdc_dims_open_leaves(&dims->axes[i]) > 1 &&
            !tdc_place_is_fused(&dims->axes[i], other_dims))
            return true;
    return false;
}

static tdc_status place_with_hints(struct making *making, struct half *half,
                                   const struct half *other)
{
    struct tdc_size_hints hints = {0};
    if (other->side->count == 1)
        hints.other = other->groups[0]->dims;
    for (unsigned i = 0; other->done && i < other->axes; i++) {
        hints.names[hints.count] = other->names[i];
        hints.sizes[hints.count++] = other->sizes[i];
    }
    return place_half(making, half, half->side->count == 1 ? &hints : NULL);
}

/* Lists of entries first, then the side without open products, then the other. */
static tdc_status place_both(struct making *making)
{
    struct half *a = &making->halves[0], *b = &making->halves[1];
    tdc_status status = TDC_OK;
    for (int i = 0; i < 2 && status == TDC_OK; i++)
        if (making->halves[i].side->count > 1)
            status = place_half(making, &making->halves[i], NULL);
    bool b_first = is_open(a, b) && !is_open(b, a);
    struct half *first = b_first ? b : a, *second = b_first ? a : b;
    if (status == TDC_OK && !first->done)
        status = place_with_hints(making, first, second);
    if (status == TDC_OK && !second->done)
        status = place_with_hints(making, second, first);
    return status;
}

/* ---- the axes of the result ------------------------------------------------------------------ */

static unsigned axis_named(const struct half *half, const char *name, size_t length)
{
    unsigned d = 0;
    while (d < half->axes &&
           (strlen(half->names[d]) != length || memcmp(half->names[d], name, length) != 0))
        d++;
    return d;
}

static bool same_sets(const struct half *a, const struct half *b)
{
    bool same = a->axes == b->axes;
    for (unsigned d = 0; d < a->axes && same; d++)
        same = axis_named(b, a->names[d], strlen(a->names[d])) < b->axes;
    return same;
}

/* The order of `axes`, which must name all axes once. */
static tdc_status take_order(const struct making *making, struct half *b)
{
    const struct tdc_rule_tensor *tensor = making->making->tensor;
    unsigned count = 0;
    bool taken[TDC_LOGICAL_AXES] = {false}, ok = true;
    for (const char *at = tensor->axes; *at != '\0' && ok;) {
        size_t length = strcspn(at, " \t");
        if (length != 0) {
            unsigned d = axis_named(b, at, length);
            ok = d < b->axes && !taken[d];
            if (ok) {
                taken[d] = true;
                b->order[count++] = d;
            }
        }
        at += length + (at[length] != '\0');
    }
    if (ok && count == b->axes)
        return TDC_OK;
    struct tdc_text text;
    tdc_text_init(&text, TEXT_LIMIT);
    add_names(&text, b->axes, b->names);
    tdc_status status = tdc_rule_fail(making->making->error, tensor->axes_place,
                                      "axes '%.200s' are not those of '%.200s': %.300s",
                                      tensor->axes, making->row->name, tdc_text_get(&text));
    tdc_text_free(&text);
    return status;
}

static bool both_plain(const struct making *making)
{
    return making->halves[0].found == 1 && making->halves[1].found == 1 &&
           making->halves[0].placed[0].plain && making->halves[1].placed[0].plain;
}

static tdc_status order_axes(struct making *making)
{
    struct half *a = &making->halves[0], *b = &making->halves[1];
    const struct tdc_rule_tensor *tensor = making->making->tensor;
    if (!same_sets(a, b)) {
        if (both_plain(making)) {
            making->row->settled = TDC_ROW_UNMATCHED;
            making->row->text = "Shape of NPU and bench Tensor do not match. Skipped.";
            return TDC_OK;
        }
        struct tdc_text first, second;
        tdc_text_init(&first, TEXT_LIMIT);
        tdc_text_init(&second, TEXT_LIMIT);
        add_names(&first, a->axes, a->names);
        add_names(&second, b->axes, b->names);
        tdc_status status = tdc_fail(making->making->error, TDC_ERR_MISMATCH,
                                     "axes differ: A has %.400s, B has %.400s",
                                     tdc_text_get(&first), tdc_text_get(&second));
        tdc_text_free(&first);
        tdc_text_free(&second);
        return status;
    }
    for (unsigned d = 0; d < b->axes; d++)
        b->order[d] = d;
    if (tensor != NULL && tensor->axes != NULL) {
        tdc_status status = take_order(making, b);
        if (status != TDC_OK)
            return status;
    }
    for (unsigned d = 0; d < b->axes; d++) {
        const char *name = b->names[b->order[d]];
        a->order[d] = axis_named(a, name, strlen(name));
    }
    return TDC_OK;
}

/* ---- tokens ---------------------------------------------------------------------------------- */

static const struct tdc_token_axis *tokens_of(const struct half *half)
{
    return half->placed[0].has_tokens ? &half->placed[0].tokens : NULL;
}

/* Sequences are paired where both sides know the ids of their tokens. */
static tdc_status pair_tokens(struct making *making)
{
    struct half *a = &making->halves[0], *b = &making->halves[1];
    const struct tdc_token_axis *of_a = tokens_of(a), *of_b = tokens_of(b);
    if (of_a == NULL || of_b == NULL || of_a->ids == NULL || of_b->ids == NULL)
        return TDC_OK;
    if (!tdc_tokens_pair(of_a, of_b, &making->making->scratch, &making->pairs))
        return no_memory(making);
    making->paired = true;
    a->sizes[of_a->axis] = b->sizes[of_b->axis] = making->pairs.tokens;
    if (making->pairs.pairs == of_a->count && making->pairs.pairs == of_b->count)
        return TDC_OK;
    char text[128];
    snprintf(text, sizeof text, "%zu of %zu and %zu sequences paired", making->pairs.pairs,
             of_a->count, of_b->count);
    making->row->text = tdc_arena_text(&making->making->alignment->arena, text, strlen(text));
    return making->row->text != NULL ? TDC_OK : no_memory(making);
}

static tdc_status compare_sizes(struct making *making)
{
    const struct half *a = &making->halves[0], *b = &making->halves[1];
    struct tdc_aligned_row *row = making->row;
    for (unsigned d = 0; d < b->axes && row->settled == 0; d++) {
        making->sizes[d] = b->sizes[b->order[d]];
        uint64_t of_a = a->sizes[a->order[d]];
        if (of_a == making->sizes[d])
            continue;
        char text[256];
        snprintf(text, sizeof text, "axis '%.100s' is %llu in A and %llu in B",
                 b->names[b->order[d]], (unsigned long long)of_a,
                 (unsigned long long)making->sizes[d]);
        row->settled = TDC_ROW_UNMATCHED;
        row->text = both_plain(making)
                        ? "Shape of NPU and bench Tensor do not match. Skipped."
                        : tdc_arena_text(&making->making->alignment->arena, text, strlen(text));
        if (row->text == NULL)
            return no_memory(making);
    }
    return TDC_OK;
}

/* ---- texts of the row ------------------------------------------------------------------------ */

static bool describe_half(struct making *making, int index)
{
    const struct half *half = &making->halves[index];
    struct tdc_aligned_row *row = making->row;
    struct tdc_text text;
    if (!half->done)
        return true;
    tdc_text_init(&text, TEXT_LIMIT);
    for (size_t i = 0; i < half->found; i++)
        tdc_text_addf(&text, "%s%s", i != 0 ? " + " : "", half->placed[i].text);
    row->parts[index] = keep(making, &text);
    tdc_text_clear(&text);
    uint64_t sizes[TDC_LOGICAL_AXES];
    bool ordered = row->axes != NULL;
    for (unsigned d = 0; d < half->axes; d++)
        sizes[d] = half->sizes[ordered ? half->order[d] : d];
    add_shape(&text, half->axes, sizes);
    row->shapes[index] = keep(making, &text);
    row->dtypes[index] = half->placed[0].dtype;
    tdc_text_free(&text);
    return row->parts[index] != NULL && row->shapes[index] != NULL;
}

static bool describe_axes(struct making *making)
{
    const struct half *b = &making->halves[1];
    const char *names[TDC_LOGICAL_AXES];
    struct tdc_text text;
    for (unsigned d = 0; d < b->axes; d++)
        names[d] = b->names[b->order[d]];
    tdc_text_init(&text, TEXT_LIMIT);
    add_names(&text, b->axes, names);
    making->row->axes = keep(making, &text);
    tdc_text_free(&text);
    return making->row->axes != NULL;
}

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

static enum tdc_rounding rounding_of(const struct making *making, int index)
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

static tdc_status finish_half(struct making *making, int index)
{
    const struct half *half = &making->halves[index];
    const struct tdc_row_making *row = making->making;
    const struct tdc_token_axis *tokens = tokens_of(half);
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
    return making->row->sides[index] != NULL ? TDC_OK : no_memory(making);
}

/* The truth takes part where it has the same axes of the same sizes. */
static tdc_status finish_truth(struct making *making)
{
    struct half *truth = &making->halves[2], *b = &making->halves[1];
    if (truth->found == 0)
        return TDC_OK;
    tdc_status status = place_with_hints(making, truth, b);
    if (status == TDC_ERR_ARGUMENT || status == TDC_ERR_MEMORY)
        return status;
    if (status != TDC_OK || !same_sets(truth, b))
        return TDC_OK;
    const struct tdc_token_axis *tokens = tokens_of(truth), *of_b = tokens_of(b);
    if (making->paired && (tokens == NULL || of_b == NULL ||
                           truth->placed[0].sizes[tokens->axis] != b->placed[0].sizes[of_b->axis]))
        return TDC_OK;
    if (making->paired)
        truth->sizes[tokens->axis] = making->pairs.tokens;
    for (unsigned d = 0; d < b->axes; d++) {
        const char *name = b->names[b->order[d]];
        truth->order[d] = axis_named(truth, name, strlen(name));
        if (truth->sizes[truth->order[d]] != making->sizes[d])
            return TDC_OK;
    }
    return describe_half(making, 2) ? finish_half(making, 2) : no_memory(making);
}

/* ---- series ---------------------------------------------------------------------------------- */

/* Which sequence and which place in it each token is. */
static bool number_tokens(const struct making *making, struct tdc_series *series, uint64_t tokens)
{
    struct tdc_arena *arena = &making->making->alignment->arena;
    uint32_t *sequence = tdc_arena_zeroed(arena, tokens + 1, sizeof *sequence);
    uint32_t *position = tdc_arena_zeroed(arena, tokens + 1, sizeof *position);
    const struct tdc_token_axis *axis = tokens_of(&making->halves[1]);
    if (axis == NULL)
        axis = tokens_of(&making->halves[0]);
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

static bool add_series(struct making *making, const char *name, struct tdc_series ***end)
{
    const struct half *b = &making->halves[1];
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
    const struct tdc_token_axis *tokens = tokens_of(b);
    const struct half *of = b;
    if (tokens == NULL) {
        of = &making->halves[0];
        tokens = tokens_of(of);
    }
    bool is_token = tokens != NULL && strcmp(of->names[tokens->axis], name) == 0;
    if (series->axis == NULL || series->sums == NULL ||
        (is_token && !number_tokens(making, series, series->length)))
        return false;
    **end = series;
    *end = (struct tdc_series **)&series->next;
    return true;
}

static bool list_series(struct making *making)
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

/* ---- a row ----------------------------------------------------------------------------------- */

/* Statistics in place of data: of those parts that can be put together from them. */
static tdc_status take_statistics(struct making *making)
{
    struct tdc_aligned_row *row = making->row;
    for (int i = 0; i < 2; i++) {
        const struct half *half = &making->halves[i];
        bool joined = half->found <= 1 || strcmp(making->making->tensor->cat, "+") != 0;
        if (tdc_row_statistics(half->placed, half->found, joined, row->statistics[i]))
            continue;
        char text[128];
        snprintf(text, sizeof text,
                 "%c: what ranges, tokens or sums leave cannot be told from statistics",
                 half->side->sided->letter);
        row->settled = TDC_ROW_SHOWN;
        row->text = tdc_arena_text(&making->making->alignment->arena, text, strlen(text));
        return row->text != NULL ? TDC_OK : no_memory(making);
    }
    return TDC_OK;
}

static tdc_status make_row(struct making *making)
{
    struct tdc_aligned_row *row = making->row;
    tdc_status status = place_both(making);
    if (status == TDC_OK)
        status = order_axes(making);
    if (status != TDC_OK || row->settled != 0)
        return status;
    if (!describe_axes(making))
        return no_memory(making);
    status = pair_tokens(making);
    if (status == TDC_OK)
        status = compare_sizes(making);
    if (status != TDC_OK || row->settled != 0)
        return status;
    if (making->making->alignment->from_statistics)
        return take_statistics(making);
    for (int i = 0; i < 2 && status == TDC_OK; i++)
        status = finish_half(making, i);
    if (status == TDC_OK)
        status = finish_truth(making);
    if (status == TDC_OK && !list_series(making))
        status = no_memory(making);
    return status;
}

tdc_status tdc_row_make(struct tdc_row_making *making, const char *name,
                        struct tdc_aligned_row *row)
{
    struct making made = {.making = making, .row = row};
    *row = (struct tdc_aligned_row){.name = name};
    tdc_arena_reset(&making->scratch);
    for (int i = 0; i < TDC_ALIGN_SIDES; i++) {
        struct half *half = &made.halves[i];
        half->side = &making->sides[i];
        if (!find_groups(&made, half))
            return no_memory(&made);
        for (size_t k = 0; k < half->side->count && row->first[i] == NULL; k++)
            if (half->groups[k] != NULL)
                row->first[i] = &half->side->sided->side->records[half->groups[k]->parts[0].record];
    }
    if (made.halves[0].found == 0 || made.halves[1].found == 0) {
        row->settled = TDC_ROW_UNMATCHED;
        row->text = made.halves[0].found == 0 ? "No NPU data matched." : "No bench data matched.";
        return TDC_OK;
    }
    tdc_status status = make_row(&made);
    if (status == TDC_ERR_ARGUMENT || status == TDC_ERR_MEMORY)
        return status;
    if (status != TDC_OK) {
        row->settled = TDC_ROW_ERROR;
        row->text = tdc_arena_text(&making->alignment->arena, making->error->message,
                                   strlen(making->error->message));
        row->series = NULL;
        if (row->text == NULL)
            return no_memory(&made);
    }
    return describe_half(&made, 0) && describe_half(&made, 1) ? TDC_OK : no_memory(&made);
}
