/* row.c - one logical tensor of two sides, or three: placed, turned to the same axes, held ready.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/align/row_made.h"
#include "io/base/error.h"
#include "io/base/text.h"

#define TEXT_LIMIT ((size_t)1 << 16)

tdc_status tdc_row_no_memory(const struct tdc_row_made *making)
{
    return tdc_fail(making->making->error, TDC_ERR_MEMORY, "out of memory for '%.300s'",
                    making->row->name);
}

static const char *keep(const struct tdc_row_made *making, const struct tdc_text *text)
{
    return text->failed ? NULL
                        : tdc_arena_text(&making->making->alignment->arena, tdc_text_get(text),
                                         text->length);
}

/* ---- entries of a side ----------------------------------------------------------------------- */

static bool find_groups(struct tdc_row_made *making, struct tdc_row_half *half)
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

static tdc_status fail_axes(const struct tdc_row_made *making, const char *format, char letter,
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

static tdc_status fail_shapes(const struct tdc_row_made *making, char letter,
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
static tdc_status join_entries(const struct tdc_row_made *making, struct tdc_row_half *half,
                               const char *cat)
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

static tdc_status place_half(struct tdc_row_made *making, struct tdc_row_half *half,
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
static bool is_open(const struct tdc_row_half *half, const struct tdc_row_half *other)
{
    const struct tdc_dims *dims = half->side->count == 1 ? half->groups[0]->dims : NULL;
    const struct tdc_dims *other_dims = other->side->count == 1 ? other->groups[0]->dims : NULL;
    for (size_t i = 0; dims != NULL && i < dims->axis_count; i++)
        if (tdc_dims_open_leaves(&dims->axes[i]) > 1 &&
            !tdc_place_is_fused(&dims->axes[i], other_dims))
            return true;
    return false;
}

tdc_status tdc_row_place_with_hints(struct tdc_row_made *making, struct tdc_row_half *half,
                                    const struct tdc_row_half *other)
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
static tdc_status place_both(struct tdc_row_made *making)
{
    struct tdc_row_half *a = &making->halves[0], *b = &making->halves[1];
    tdc_status status = TDC_OK;
    for (int i = 0; i < 2 && status == TDC_OK; i++)
        if (making->halves[i].side->count > 1)
            status = place_half(making, &making->halves[i], NULL);
    bool b_first = is_open(a, b) && !is_open(b, a);
    struct tdc_row_half *first = b_first ? b : a, *second = b_first ? a : b;
    if (status == TDC_OK && !first->done)
        status = tdc_row_place_with_hints(making, first, second);
    if (status == TDC_OK && !second->done)
        status = tdc_row_place_with_hints(making, second, first);
    return status;
}

/* ---- the axes of the result ------------------------------------------------------------------ */

unsigned tdc_row_axis(const struct tdc_row_half *half, const char *name, size_t length)
{
    unsigned d = 0;
    while (d < half->axes &&
           (strlen(half->names[d]) != length || memcmp(half->names[d], name, length) != 0))
        d++;
    return d;
}

bool tdc_row_same_axes(const struct tdc_row_half *a, const struct tdc_row_half *b)
{
    bool same = a->axes == b->axes;
    for (unsigned d = 0; d < a->axes && same; d++)
        same = tdc_row_axis(b, a->names[d], strlen(a->names[d])) < b->axes;
    return same;
}

/* The order of `axes`, which must name all axes once. */
static tdc_status take_order(const struct tdc_row_made *making, struct tdc_row_half *b)
{
    const struct tdc_rule_tensor *tensor = making->making->tensor;
    unsigned count = 0;
    bool taken[TDC_LOGICAL_AXES] = {false}, ok = true;
    for (const char *at = tensor->axes; *at != '\0' && ok;) {
        size_t length = strcspn(at, " \t");
        if (length != 0) {
            unsigned d = tdc_row_axis(b, at, length);
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

static bool both_plain(const struct tdc_row_made *making)
{
    return making->halves[0].found == 1 && making->halves[1].found == 1 &&
           making->halves[0].placed[0].plain && making->halves[1].placed[0].plain;
}

static tdc_status order_axes(struct tdc_row_made *making)
{
    struct tdc_row_half *a = &making->halves[0], *b = &making->halves[1];
    const struct tdc_rule_tensor *tensor = making->making->tensor;
    if (!tdc_row_same_axes(a, b)) {
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
        a->order[d] = tdc_row_axis(a, name, strlen(name));
    }
    return TDC_OK;
}

/* ---- tokens ---------------------------------------------------------------------------------- */

const struct tdc_token_axis *tdc_row_tokens(const struct tdc_row_half *half)
{
    return half->placed[0].has_tokens ? &half->placed[0].tokens : NULL;
}

/* Sequences are paired where both sides know the ids of their tokens. */
static tdc_status pair_tokens(struct tdc_row_made *making)
{
    struct tdc_row_half *a = &making->halves[0], *b = &making->halves[1];
    const struct tdc_token_axis *of_a = tdc_row_tokens(a), *of_b = tdc_row_tokens(b);
    if (of_a == NULL || of_b == NULL || of_a->ids == NULL || of_b->ids == NULL)
        return TDC_OK;
    if (!tdc_tokens_pair(of_a, of_b, &making->making->scratch, &making->pairs))
        return tdc_row_no_memory(making);
    making->paired = true;
    a->sizes[of_a->axis] = b->sizes[of_b->axis] = making->pairs.tokens;
    if (making->pairs.pairs == of_a->count && making->pairs.pairs == of_b->count)
        return TDC_OK;
    char text[128];
    snprintf(text, sizeof text, "%zu of %zu and %zu sequences paired", making->pairs.pairs,
             of_a->count, of_b->count);
    making->row->text = tdc_arena_text(&making->making->alignment->arena, text, strlen(text));
    return making->row->text != NULL ? TDC_OK : tdc_row_no_memory(making);
}

static tdc_status compare_sizes(struct tdc_row_made *making)
{
    const struct tdc_row_half *a = &making->halves[0], *b = &making->halves[1];
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
            return tdc_row_no_memory(making);
    }
    return TDC_OK;
}

/* ---- texts of the row ------------------------------------------------------------------------ */

bool tdc_row_describe(struct tdc_row_made *making, int index)
{
    const struct tdc_row_half *half = &making->halves[index];
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

static bool describe_axes(struct tdc_row_made *making)
{
    const struct tdc_row_half *b = &making->halves[1];
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

/* ---- a row ----------------------------------------------------------------------------------- */

/* Statistics in place of data: of those parts that can be put together from them. */
static tdc_status take_statistics(struct tdc_row_made *making)
{
    struct tdc_aligned_row *row = making->row;
    for (int i = 0; i < 2; i++) {
        const struct tdc_row_half *half = &making->halves[i];
        bool joined = half->found <= 1 || strcmp(making->making->tensor->cat, "+") != 0;
        if (tdc_row_statistics(half->placed, half->found, joined, row->statistics[i]))
            continue;
        char text[128];
        snprintf(text, sizeof text,
                 "%c: what ranges, tokens or sums leave cannot be told from statistics",
                 half->side->sided->letter);
        row->settled = TDC_ROW_SHOWN;
        row->text = tdc_arena_text(&making->making->alignment->arena, text, strlen(text));
        return row->text != NULL ? TDC_OK : tdc_row_no_memory(making);
    }
    return TDC_OK;
}

static tdc_status make_row(struct tdc_row_made *making)
{
    struct tdc_aligned_row *row = making->row;
    tdc_status status = place_both(making);
    if (status == TDC_OK)
        status = order_axes(making);
    if (status != TDC_OK || row->settled != 0)
        return status;
    if (!describe_axes(making))
        return tdc_row_no_memory(making);
    status = pair_tokens(making);
    if (status == TDC_OK)
        status = compare_sizes(making);
    if (status != TDC_OK || row->settled != 0)
        return status;
    if (making->making->alignment->from_statistics)
        return take_statistics(making);
    for (int i = 0; i < 2 && status == TDC_OK; i++)
        status = tdc_row_finish(making, i);
    if (status == TDC_OK)
        status = tdc_row_finish_truth(making);
    if (status == TDC_OK && !tdc_row_list_series(making))
        status = tdc_row_no_memory(making);
    return status;
}

/* A tensor that one side has: its logical shape and its parts, as far as that side alone says. */
static tdc_status describe_alone(struct tdc_row_made *making)
{
    int index = making->halves[0].found == 0 ? 1 : 0;
    struct tdc_row_half *half = &making->halves[index];
    making->row->settled = TDC_ROW_UNMATCHED;
    making->row->text = index == 1 ? "No NPU data matched." : "No bench data matched.";
    tdc_status status = place_half(making, half, NULL);
    if (status == TDC_ERR_MEMORY)
        return status;
    half->done &= status == TDC_OK;
    *making->making->error = (struct tdc_error){0};
    return tdc_row_describe(making, index) ? TDC_OK : tdc_row_no_memory(making);
}

tdc_status tdc_row_make(struct tdc_row_making *making, const char *name,
                        struct tdc_aligned_row *row)
{
    struct tdc_row_made made = {.making = making, .row = row};
    *row = (struct tdc_aligned_row){.name = name};
    tdc_arena_reset(&making->scratch);
    for (int i = 0; i < TDC_ALIGN_SIDES; i++) {
        struct tdc_row_half *half = &made.halves[i];
        half->side = &making->sides[i];
        if (!find_groups(&made, half))
            return tdc_row_no_memory(&made);
        for (size_t k = 0; k < half->side->count && row->first[i] == NULL; k++)
            if (half->groups[k] != NULL)
                row->first[i] = &half->side->sided->side->records[half->groups[k]->parts[0].record];
    }
    if (made.halves[0].found == 0 || made.halves[1].found == 0)
        return describe_alone(&made);
    tdc_status status = make_row(&made);
    if (status == TDC_ERR_ARGUMENT || status == TDC_ERR_MEMORY)
        return status;
    if (status != TDC_OK) {
        row->settled = TDC_ROW_ERROR;
        row->text = tdc_arena_text(&making->alignment->arena, making->error->message,
                                   strlen(making->error->message));
        row->series = NULL;
        if (row->text == NULL)
            return tdc_row_no_memory(&made);
    }
    return tdc_row_describe(&made, 0) && tdc_row_describe(&made, 1) ? TDC_OK
                                                                    : tdc_row_no_memory(&made);
}
