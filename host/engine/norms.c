/* norms.c - lengths and angle of a pair, also where squares leave the range of float64. */
#include "host/engine/engine.h"
#include "io/file/mapping_guard.h"

/* Elements gathered at a time. */
#define GATHERED ((size_t)2048)

/* One pass over a pair; the elements come to these buffers, whatever the layout of the files. */
struct norm_pass {
    const struct tdc_open_pair *pair;
    struct tdc_pair_peaks *peaks;
    struct tdc_pair_squares *squares; /* NULL: the pass for the peaks */
    bool numbers;                     /* all texts were numbers; the first reading saw to it */
    unsigned char n[GATHERED * 16], b[GATHERED * 16];
};

static void make_pass(void *argument)
{
    struct norm_pass *pass = argument;
    const struct tdc_open_pair *pair = pass->pair;
    pass->numbers = true;
    for (uint64_t first = 0; first < pair->n.count && pass->numbers; first += GATHERED) {
        uint64_t left = pair->n.count - first;
        size_t count = left < GATHERED ? (size_t)left : GATHERED;
        pass->numbers = tdc_gather_elements(&pair->n, first, count, pass->n) &&
                        tdc_gather_elements(&pair->b, first, count, pass->b);
        if (pass->squares == NULL)
            tdc_pair_peaks(&pair->plan, pass->n, pass->b, count, pass->peaks);
        else
            tdc_pair_squares(&pair->plan, pass->peaks, pass->n, pass->b, count, pass->squares);
    }
}

bool tdc_pair_fill_norms(const struct tdc_open_pair *pair, struct tdc_outcome *outcome)
{
    const struct tdc_pair_sums *sums = &outcome->sums;
    tdc_pair_plain_norms(sums, &outcome->norms);
    if (pair->plan.rule != TDC_RELATIVE_F64 || tdc_pair_squares_hold(&pair->plan, sums))
        return true;
    struct tdc_pair_peaks peaks;
    struct tdc_pair_squares squares = {0};
    struct norm_pass pass = {.pair = pair, .peaks = &peaks};
    tdc_pair_peaks_clear(&peaks);
    if (!tdc_guarded_read(make_pass, &pass) || !pass.numbers)
        return false;
    pass.squares = &squares;
    if (!tdc_guarded_read(make_pass, &pass) || !pass.numbers)
        return false;
    tdc_pair_scaled_norms(&squares, &peaks, sums->finite, &outcome->norms);
    return true;
}
