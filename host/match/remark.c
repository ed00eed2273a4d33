/* remark.c - what a dump holds and the table does not: counted and named, never passed over. */
#include <stdio.h>
#include <stdlib.h>

#include "host/match/match.h"

static void say(const struct tdc_options *options, const char *text)
{
    options->message(options->context, TDC_MESSAGE_WARNING, text);
}

/* Marks the records of both sides that are in a row. */
static void mark_rows(const struct tdc_match *match, bool *npu, bool *bench)
{
    for (size_t i = 0; i < match->count; i++) {
        if (match->pairs[i].npu != TDC_UNPAIRED)
            npu[match->pairs[i].npu] = true;
        if (match->pairs[i].bench != TDC_UNPAIRED)
            bench[match->pairs[i].bench] = true;
    }
}

/* First those msprobe does not know, then those that lost their place in the table. */
static void remark_left_out(const struct tdc_dump *dump, const bool *in_row,
                            const struct tdc_options *options)
{
    size_t unknown = 0, lonely = 0;
    const char *first_unknown = NULL, *first_lonely = NULL;
    for (size_t i = 0; i < dump->record_count; i++) {
        const struct tdc_record *record = &dump->records[i];
        if (in_row[i])
            continue;
        if (record->sound_only && unknown++ == 0)
            first_unknown = record->name;
        if (!record->sound_only && lonely++ == 0)
            first_lonely = record->name;
    }
    char text[4096];
    if (unknown != 0) {
        snprintf(text, sizeof text,
                 "%s: %zu of %zu records are of a kind that msprobe makes no row of (first: '%s')",
                 dump->path, unknown, dump->record_count, first_unknown);
        say(options, text);
    }
    if (lonely != 0) {
        snprintf(text, sizeof text,
                 "%s: %zu of %zu records without a partner are in no row, as with msprobe "
                 "(first: '%s')",
                 dump->path, lonely, dump->record_count, first_lonely);
        say(options, text);
    }
}

static void remark_repeated(const struct tdc_dump *dump, const struct tdc_options *options)
{
    char text[4096];
    if (dump->repeated == 0)
        return;
    snprintf(text, sizeof text,
             "%s: %zu names are given twice, the last value counts (first: '%s')", dump->path,
             dump->repeated, dump->first_repeated);
    say(options, text);
}

static void remark_unusable(const struct tdc_dump *dump, const struct tdc_options *options)
{
    char text[4096];
    if (dump->unusable == 0)
        return;
    snprintf(text, sizeof text, "%s: %zu lines name no tensor", dump->path, dump->unusable);
    say(options, text);
}

bool tdc_match_remark(const struct tdc_match *match, const struct tdc_options *options)
{
    if (options->message == NULL)
        return true;
    bool *npu = calloc(match->npu->record_count + 1, sizeof *npu);
    bool *bench = calloc(match->bench->record_count + 1, sizeof *bench);
    bool ok = npu != NULL && bench != NULL;
    if (ok) {
        mark_rows(match, npu, bench);
        remark_left_out(match->npu, npu, options);
        remark_left_out(match->bench, bench, options);
        remark_repeated(match->npu, options);
        remark_repeated(match->bench, options);
        remark_unusable(match->npu, options);
        remark_unusable(match->bench, options);
    }
    free(npu);
    free(bench);
    return ok;
}
