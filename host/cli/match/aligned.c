#include "host/cli/match/aligned.h"

#include <stdio.h>
#include <string.h>

#include "host/terminal/message.h"

static void print_row(const struct tdc_aligned *row)
{
    const char *shape = row->ref_shape != NULL ? row->ref_shape : row->test_shape;
    tdc_show(stdout, row->name);
    putchar('\t');
    tdc_show(stdout, shape != NULL ? shape : "-");
    putchar('\t');
    if (row->settled) {
        tdc_show(stdout, row->text);
    } else {
        tdc_show(stdout, row->test_parts);
        putchar('\t');
        tdc_show(stdout, row->ref_parts);
    }
    putchar('\n');
}

static int show_rows(const tdc_match *match, bool lonely)
{
    size_t rows = tdc_match_pairs(match), settled = 0, test, ref;
    struct tdc_aligned row;
    for (size_t i = 0; i < rows; i++) {
        if (!tdc_match_aligned(match, i, &row, sizeof row))
            continue;
        settled += row.settled;
        if (row.settled || !lonely)
            print_row(&row);
    }
    tdc_match_rest(match, &test, &ref);
    if (test != 0)
        tdc_complain("%zu records of A are in no rule", test);
    if (ref != 0)
        tdc_complain("%zu records of B are in no rule", ref);
    tdc_complain("matched by rules: %zu logical tensors, %zu cannot be compared", rows, settled);
    if (rows == 0)
        return TDC_EXIT_TROUBLE;
    return settled == 0 ? TDC_EXIT_SAME : TDC_EXIT_DIFFERENT;
}

int tdc_show_aligned(const struct tdc_options *options, const char *rules, int step, bool lonely,
                     const char *test, const char *ref)
{
    struct tdc_align_options align;
    struct tdc_error error = {0};
    tdc_match *match = NULL;
    tdc_align_options_init(&align, sizeof align);
    align.rules = rules;
    align.step = step;
    tdc_status status = tdc_align_match(test, ref, &align, options, &match, &error);
    int code = TDC_EXIT_TROUBLE;
    if (status == TDC_OK) {
        code = show_rows(match, lonely);
    } else if (status == TDC_ERR_ARGUMENT) {
        tdc_show(stderr, error.message);
        fputc('\n', stderr);
    } else {
        tdc_complain("%s", error.message);
    }
    tdc_match_free(match);
    return code;
}
