#include "tests/twin/kernel_check.h"

#include <stdlib.h>

#include "kernels/ascend/tile_record.h"
#include "tests/twin/tile_data.h"

const tdc_dtype tdc_kernel_types[TDC_KERNEL_TYPES][2] = {{TDC_F32, TDC_F32},
                                                         {TDC_F16, TDC_F16},
                                                         {TDC_BF16, TDC_BF16},
                                                         {TDC_BF16, TDC_F32},
                                                         {TDC_F32, TDC_BF16}};

/* Of the data of these tests; the promise is TDC_TILE_SUM_ERROR. */
#define SUM_ERROR 0x1p-46

struct check {
    const struct tdc_kernel_case *c;
    struct tdc_kernel_outcome *outcome;
    struct tdc_pair_plan plan;
    unsigned char *n, *b;
    float *records;
    size_t first_tile; /* of the chunk that is being merged */
    size_t refused;    /* records the host does not use */
};

static bool wrong(struct check *k, const char *what, size_t tile)
{
    snprintf(k->outcome->why, sizeof k->outcome->why,
             "%s against %s, rule %u, %s, tile %zu of %zu: %s", tdc_dtype_name(k->c->n_dtype),
             tdc_dtype_name(k->c->b_dtype), (unsigned)k->c->rule,
             tile_flavour_name((enum tile_flavour)k->c->flavour), tile, k->c->tiles, what);
    return false;
}

static void run_cpu(const struct check *k, size_t tile, size_t tiles, struct tdc_pair_sums *sums)
{
    size_t at = tile * TDC_TILE_PAIRS;
    tdc_pair_run(&k->plan, k->n + at * tdc_dtype_size(k->c->n_dtype),
                 k->b + at * tdc_dtype_size(k->c->b_dtype), tiles * TDC_TILE_PAIRS, sums);
}

static bool rescue(void *context, size_t tile, struct tdc_pair_sums *sums)
{
    struct check *k = context;
    run_cpu(k, k->first_tile + tile, 1, sums);
    return true;
}

/* Everything but maxima and sums, as text of the first difference, or NULL. */
static const char *rest_differs(const struct tdc_pair_sums *s, const struct tdc_pair_sums *r)
{
    if (s->count != r->count || s->finite != r->finite)
        return "number of pairs";
    if (s->n_min != r->n_min || s->n_max != r->n_max || s->b_min != r->b_min ||
        s->b_max != r->b_max)
        return "extremes";
    if (signbit(s->n_min) != signbit(r->n_min) || signbit(s->n_max) != signbit(r->n_max) ||
        signbit(s->b_min) != signbit(r->b_min) || signbit(s->b_max) != signbit(r->b_max))
        return "signs of extremes";
    if (memcmp(s->below, r->below, sizeof s->below) != 0)
        return "pairs below a limit";
    if (s->rel_nan != r->rel_nan)
        return "relative errors that are NaN";
    if (s->n_nan != r->n_nan || s->b_nan != r->b_nan || s->n_inf != r->n_inf ||
        s->b_inf != r->b_inf || s->nan_apart != r->nan_apart || s->inf_apart != r->inf_apart ||
        s->nonfinite_equal != r->nonfinite_equal)
        return "NaN and infinity";
    return NULL;
}

static const char *maxima_differ(const struct tdc_pair_sums *s, const struct tdc_pair_sums *r)
{
    if (s->abs_max != r->abs_max)
        return "largest difference";
    if (s->abs_at != r->abs_at)
        return "position of the largest difference";
    if (s->rel_max != r->rel_max)
        return "largest relative error";
    return s->rel_at != r->rel_at ? "position of the largest relative error" : NULL;
}

static bool lies_in(const struct tdc_tile_maximum *bounds, double value)
{
    return bounds->low <= value && value <= bounds->high;
}

static bool sum_is_right(struct check *k, double sum, double right, double magnitude)
{
    /* a sum near the end of float64 may overflow underway; the smallest numbers add up to nothing
     */
    if (!(magnitude < 0x1p1000) || sum == right)
        return true;
    double error = fabs(sum - right) / magnitude;
    if (error > k->outcome->worst_sum)
        k->outcome->worst_sum = error;
    return error <= SUM_ERROR || fabs(sum - right) <= 0x1p-1040;
}

static bool sums_are_right(struct check *k, const struct tdc_pair_sums *s,
                           const struct tdc_pair_sums *r, const struct tdc_pair_magnitudes *m)
{
    return sum_is_right(k, s->nb, r->nb, m->nb) && sum_is_right(k, s->nn, r->nn, m->nn) &&
           sum_is_right(k, s->bb, r->bb, m->bb) && sum_is_right(k, s->dd, r->dd, m->dd) &&
           sum_is_right(k, s->n, r->n, m->n) && sum_is_right(k, s->b, r->b, m->b) &&
           sum_is_right(k, s->abs, r->abs, m->abs);
}

/* The device must cope with such data by itself, but for rare quotients (see round_wavering). */
static bool is_ordinary(const struct tdc_kernel_case *c)
{
    return c->flavour == TILE_NEAR || c->flavour == TILE_ZEROS || c->flavour == TILE_EQUAL ||
           c->flavour == TILE_INTEGERS || c->flavour == TILE_SMALL;
}

static bool check_refused(struct check *k, size_t at)
{
    k->refused++;
    if (!(k->records[at * TDC_TILE_RECORD_FLOATS + TDC_TILE_MARK] >= TDC_TILE_MARK_NATIVE))
        return wrong(k, "the record was not written", at);
    if (is_ordinary(k->c) && k->refused > 1 + k->c->tiles / 16)
        return wrong(k, "ordinary data is refused", at);
    return true;
}

/* A record as the device left it, nothing rescued. */
static bool check_tile(struct check *k, size_t at)
{
    struct tdc_tile tile;
    struct tdc_pair_sums cpu, right;
    struct tdc_pair_magnitudes magnitudes;
    if (tdc_tile_read(&k->plan, k->records + at * TDC_TILE_RECORD_FLOATS, &tile) == TDC_TILE_RESCUE)
        return check_refused(k, at);
    run_cpu(k, at, 1, &cpu);
    const char *what = rest_differs(&tile.sums, &cpu);
    if (what != NULL)
        return wrong(k, what, at);
    if (!lies_in(&tile.abs, cpu.abs_max) || !lies_in(&tile.rel, cpu.rel_max))
        return wrong(k, "a maximum outside of its bounds", at);
    if (tile.abs.known && (tile.sums.abs_max != cpu.abs_max || cpu.abs_at != 0))
        return wrong(k, "a known difference is another", at);
    if (tile.rel.known && (tile.sums.rel_max != cpu.rel_max || cpu.rel_at != 0))
        return wrong(k, "a known relative error is another", at);
    tdc_pair_reference(k->c->n_dtype, k->c->b_dtype, k->c->rule,
                       k->n + at * TDC_TILE_PAIRS * tdc_dtype_size(k->c->n_dtype),
                       k->b + at * TDC_TILE_PAIRS * tdc_dtype_size(k->c->b_dtype), TDC_TILE_PAIRS,
                       &right, &magnitudes);
    return sums_are_right(k, &tile.sums, &right, &magnitudes) || wrong(k, "a sum", at);
}

static bool check_merged(struct check *k)
{
    struct tdc_pair_sums all, cpu;
    tdc_pair_clear(&all);
    tdc_pair_clear(&cpu);
    for (size_t t = 0; t < k->c->tiles; t += TDC_TILES_PER_CHUNK) {
        size_t left = k->c->tiles - t;
        size_t tiles = left < TDC_TILES_PER_CHUNK ? left : TDC_TILES_PER_CHUNK;
        struct tdc_pair_sums chunk, cpu_chunk;
        k->first_tile = t;
        if (!tdc_tiles_merge(&k->plan, k->records + t * TDC_TILE_RECORD_FLOATS, tiles, rescue, k,
                             &chunk, &k->outcome->rescued))
            return wrong(k, "cannot be merged", t);
        run_cpu(k, t, tiles, &cpu_chunk);
        tdc_pair_merge(&all, &chunk);
        tdc_pair_merge(&cpu, &cpu_chunk);
    }
    const char *what = rest_differs(&all, &cpu);
    if (what == NULL)
        what = maxima_differ(&all, &cpu);
    return what == NULL || wrong(k, what, 0);
}

static bool run_and_check(struct check *k)
{
    const struct tdc_kernel_case *c = k->c;
    const char *usual = tdc_tile_kernel_name(c->n_dtype, c->b_dtype, c->rule);
    char name[64];
    if (usual == NULL)
        return wrong(k, "has no kernel", 0);
    snprintf(name, sizeof name, "%s%s", usual, c->registers ? TDC_TWIN_3510 : "");
    if (tdc_twin_run_kernel_as(&c->settings, name, c->blocks, k->n, k->b, k->records, c->tiles,
                               &k->outcome->report) != 0) {
        snprintf(k->outcome->why, sizeof k->outcome->why, "%s", k->outcome->report.complaint);
        return false;
    }
    for (size_t t = 0; t < c->tiles; t++)
        if (!check_tile(k, t))
            return false;
    return check_merged(k);
}

bool tdc_kernel_check(const struct tdc_kernel_case *c, struct tdc_kernel_outcome *outcome,
                      float *records)
{
    size_t n_tile = TDC_TILE_PAIRS * tdc_dtype_size(c->n_dtype);
    size_t b_tile = TDC_TILE_PAIRS * tdc_dtype_size(c->b_dtype);
    size_t record_bytes = c->tiles * TDC_TILE_RECORD_BYTES;
    struct check k = {.c = c, .outcome = outcome};
    *outcome = (struct tdc_kernel_outcome){0};
    bool good =
        tdc_pair_plan_make(c->n_dtype, c->b_dtype, c->rule, tdc_cpu_variant_chosen(), &k.plan);
    k.plan.extremes = true;
    k.n = aligned_alloc(512, c->tiles * n_tile);
    k.b = aligned_alloc(512, c->tiles * b_tile);
    k.records = aligned_alloc(512, record_bytes);
    if (!good || k.n == NULL || k.b == NULL || k.records == NULL) {
        good = wrong(&k, "out of memory", 0);
    } else {
        random_state = c->data_seed * 0x9e3779b97f4a7c15u | 1;
        for (size_t t = 0; t < c->tiles; t++)
            fill_tile((enum tile_flavour)c->flavour, t, c->n_dtype, k.n + t * n_tile, c->b_dtype,
                      k.b + t * b_tile);
        memset(k.records, 0xa5, record_bytes);
        good = run_and_check(&k);
        if (records != NULL)
            memcpy(records, k.records, record_bytes);
    }
    free(k.n);
    free(k.b);
    free(k.records);
    return good;
}
