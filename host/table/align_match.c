/* align_match.c - an alignment as a match: what tables are made of. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "host/api/options.h"
#include "host/table/aligned.h"
#include "io/base/error.h"
#include "io/base/sized.h"

#define TEXT_LIMIT ((size_t)1 << 20)

void tdc_align_options_init(struct tdc_align_options *options, size_t size)
{
    const struct tdc_align_options defaults = {.size = size, .step = -1};
    tdc_sized_init(options, size, &defaults, sizeof defaults);
}

static tdc_status make_match(struct tdc_alignment *alignment, struct tdc_match **match,
                             struct tdc_error *error)
{
    struct tdc_match *made = calloc(1, sizeof *made);
    if (made == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory while matching");
    made->pairs = calloc(alignment->count + 1, sizeof *made->pairs);
    if (made->pairs == NULL) {
        free(made);
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory while matching");
    }
    made->npu = &alignment->dumps[0];
    made->bench = &alignment->dumps[1];
    made->mode = alignment->from_statistics ? TDC_MODE_STATISTICS : TDC_MODE_TENSOR;
    made->method = "rules";
    made->rules = &tdc_rules_sound.match;
    tdc_arena_init(&made->arena, TEXT_LIMIT);
    tdc_text_init(&made->reason, TEXT_LIMIT);
    tdc_text_init(&made->suggestion, TEXT_LIMIT);
    tdc_names_init(&made->bench_names);
    uint32_t next[2] = {0, 0};
    for (size_t i = 0; i < alignment->count; i++) {
        const struct tdc_aligned_row *row = &alignment->rows[i];
        made->pairs[i].npu = row->first[0] != NULL ? next[0]++ : TDC_UNPAIRED;
        made->pairs[i].bench = row->first[1] != NULL ? next[1]++ : TDC_UNPAIRED;
    }
    made->count = made->capacity = alignment->count;
    made->alignment = alignment;
    made->alignment_free = tdc_alignment_free;
    *match = made;
    return TDC_OK;
}

tdc_status tdc_align_match(const char *test, const char *ref, const struct tdc_align_options *align,
                           const struct tdc_options *options, tdc_match **match,
                           struct tdc_error *error)
{
    struct tdc_align_options given = {0};
    struct tdc_options whole;
    *match = NULL;
    tdc_status status = tdc_options_read(options, &whole, error);
    if (status == TDC_OK)
        status = tdc_sized_read(align, offsetof(struct tdc_align_options, key), &given,
                                sizeof given, "tdc_align_options_init", error);
    if (status == TDC_OK && whole.rules != TDC_RULES_SOUND)
        status = tdc_fail(error, TDC_ERR_ARGUMENT, "logical tensors are judged by the rules sound");
    if (status != TDC_OK)
        return status;
    struct tdc_align_request request = {
        .paths = {test, ref, given.truth},
        .file = given.rules,
        .series = given.series,
        .series_count = given.series_count,
        .step = given.step,
        .key = given.key,
        .options = &whole,
    };
    struct tdc_alignment *alignment;
    status = tdc_alignment_new(&request, &alignment, error);
    if (status != TDC_OK)
        return status;
    status = make_match(alignment, match, error);
    if (status != TDC_OK)
        tdc_alignment_free(alignment);
    return status;
}

bool tdc_match_aligned(const tdc_match *match, size_t pair, struct tdc_aligned *aligned,
                       size_t size)
{
    const struct tdc_alignment *alignment = match->alignment;
    if (alignment == NULL || pair >= alignment->count)
        return false;
    const struct tdc_aligned_row *row = &alignment->rows[pair];
    struct tdc_aligned whole = {
        .name = row->name,
        .axes = row->axes,
        .test_shape = row->shapes[0],
        .ref_shape = row->shapes[1],
        .test_parts = row->parts[0],
        .ref_parts = row->parts[1],
        .text = row->text,
        .settled = row->settled != 0,
    };
    tdc_sized_give(aligned, size, &whole, sizeof whole);
    return true;
}

void tdc_match_rest(const tdc_match *match, size_t *test, size_t *ref)
{
    *test = match->alignment != NULL ? match->alignment->rest[0] : 0;
    *ref = match->alignment != NULL ? match->alignment->rest[1] : 0;
}

const char *tdc_align_preset(size_t index)
{
    return tdc_preset_name(index);
}

const char *tdc_align_preset_text(const char *name)
{
    return tdc_preset_text(name);
}
