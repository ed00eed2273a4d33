#include "host/offline/offline_sums.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/engine/source.h"
#include "host/offline/pairwise.h"
#include "host/torchair/float_table.h"
#include "io/file/mapping_guard.h"
#include "kernels/dtype.h"

#define AT_ONCE    ((size_t)4096) /* elements that are float32 at a time */
#define NEAR_ZERO  0x1p-52        /* float64's epsilon */
#define LEAST_PART 0x1p-23F       /* float32's: what a share of the divergence has at least */
#define MINIMUM    0.001          /* deviations and means below it are written as 0 */

const char *const tdc_offline_metrics[TDC_OFFLINE_METRICS] = {
    "CosineSimilarity",          "MaxAbsoluteError",          "AccumulatedRelativeError",
    "RelativeEuclideanDistance", "KullbackLeiblerDivergence", "StandardDeviation",
    "MeanAbsoluteError",         "RootMeanSquareError",       "MaxRelativeError",
    "MeanRelativeError"};

/* ---- sums ------------------------------------------------------------------------------------ */

/* A maximum that a NaN stays in. */
struct largest {
    float value;
    bool nan;
};

static void take_largest(struct largest *largest, float value)
{
    largest->nan |= isnan(value) != 0;
    largest->value = value > largest->value ? value : largest->value;
}

static double largest_of(const struct largest *largest)
{
    return largest->nan ? (double)NAN : (double)largest->value;
}

struct side_sums {
    struct tdc_pairwise squares, parts; /* of the first and second pass */
    double sum, mean, deviation;        /* in float64 there, too */
    float least, most;
    float norm, whole; /* of the passes before: the root of the squares, the sum of the parts */
    bool finite;
};

struct sums {
    struct side_sums mine, golden;
    struct tdc_pairwise distance, absolute, relative; /* first pass */
    struct tdc_pairwise cosine;                       /* second */
    struct tdc_pairwise divergence;                   /* third */
    struct largest most_absolute, most_relative;
};

/* Numbers of some elements on their way into a sum. */
struct terms {
    float a[AT_ONCE], b[AT_ONCE], c[AT_ONCE];
};

static void add_side(struct side_sums *side, const float *values, size_t count, float *squares)
{
    for (size_t i = 0; i < count; i++) {
        squares[i] = values[i] * values[i];
        side->sum += (double)values[i];
        side->least = values[i] < side->least ? values[i] : side->least;
        side->most = values[i] > side->most ? values[i] : side->most;
        side->finite &= isfinite(values[i]) != 0;
    }
    tdc_pairwise_add(&side->squares, squares, count);
}

static void add_first(struct sums *sums, const float *m, const float *g, size_t count,
                      struct terms *terms)
{
    add_side(&sums->mine, m, count, terms->a);
    add_side(&sums->golden, g, count, terms->a);
    for (size_t i = 0; i < count; i++) {
        float d = m[i] - g[i];
        float e = fabsf(g[i]) > (float)NEAR_ZERO ? fabsf(m[i] / g[i] - 1.0F) : 0.0F;
        terms->a[i] = d * d;
        terms->b[i] = fabsf(d);
        terms->c[i] = e;
        take_largest(&sums->most_absolute, fabsf(d));
        take_largest(&sums->most_relative, e);
    }
    tdc_pairwise_add(&sums->distance, terms->a, count);
    tdc_pairwise_add(&sums->absolute, terms->b, count);
    tdc_pairwise_add(&sums->relative, terms->c, count);
}

/* A value between the extremes of its tensor as a share of 0 to 1; never nothing. */
static float part_of(const struct side_sums *side, float value)
{
    float range = side->most - side->least;
    float part = range != 0 ? (value - side->least) / range : value;
    return part > LEAST_PART ? part : LEAST_PART;
}

static void add_second(struct sums *sums, const float *m, const float *g, size_t count,
                       struct terms *terms)
{
    for (size_t i = 0; i < count; i++) {
        double dm = (double)m[i] - sums->mine.mean, dg = (double)g[i] - sums->golden.mean;
        sums->mine.deviation += dm * dm;
        sums->golden.deviation += dg * dg;
        terms->a[i] = m[i] / sums->mine.norm * (g[i] / sums->golden.norm);
        terms->b[i] = part_of(&sums->mine, m[i]);
        terms->c[i] = part_of(&sums->golden, g[i]);
    }
    tdc_pairwise_add(&sums->cosine, terms->a, count);
    tdc_pairwise_add(&sums->mine.parts, terms->b, count);
    tdc_pairwise_add(&sums->golden.parts, terms->c, count);
}

/* The natural logarithm of a normal number, the same on every machine; the error is below 2^-50. */
static double plain_log(double x)
{
    int power;
    double m = frexp(x, &power);
    if (m < 0.70710678118654752) {
        m *= 2;
        power--;
    }
    double s = (m - 1) / (m + 1), square = s * s, sum = 0;
    for (int i = 23; i > 0; i -= 2)
        sum = sum * square + 1.0 / i;
    return 2 * s * sum + power * 0x1.62e42fefa39efp-1;
}

static void add_third(struct sums *sums, const float *m, const float *g, size_t count,
                      struct terms *terms)
{
    for (size_t i = 0; i < count; i++) {
        float p = part_of(&sums->mine, m[i]) / sums->mine.whole;
        float q = part_of(&sums->golden, g[i]) / sums->golden.whole;
        terms->a[i] = p * (float)plain_log((double)(p / q));
    }
    tdc_pairwise_add(&sums->divergence, terms->a, count);
}

/* ---- passes ---------------------------------------------------------------------------------- */

struct tdc_offline_worker {
    struct tdc_float_tables tables;
    unsigned char elements[AT_ONCE * 16];
    float m[AT_ONCE], g[AT_ONCE];
    struct terms terms;
    struct sums sums;
};

typedef void add_function(struct sums *sums, const float *m, const float *g, size_t count,
                          struct terms *terms);

struct pass {
    struct tdc_offline_worker *worker;
    const struct tdc_tensor *mine, *golden;
    add_function *add;
    bool numbers;
};

static bool get_floats(struct tdc_offline_worker *worker, const struct tdc_tensor *tensor,
                       uint64_t first, size_t count, float *to)
{
    if (!tdc_gather_elements(tensor, first, count, worker->elements))
        return false;
    tdc_floats_of(&worker->tables, tdc_source_dtype(tensor), worker->elements, count, to);
    return true;
}

/* Touches mapped files, takes neither memory nor locks. */
static void make_pass(void *argument)
{
    struct pass *pass = argument;
    struct tdc_offline_worker *worker = pass->worker;
    for (uint64_t first = 0; first < pass->mine->count; first += AT_ONCE) {
        uint64_t left = pass->mine->count - first;
        size_t count = left < AT_ONCE ? (size_t)left : AT_ONCE;
        if (!get_floats(worker, pass->mine, first, count, worker->m) ||
            !get_floats(worker, pass->golden, first, count, worker->g))
            return;
        pass->add(&worker->sums, worker->m, worker->g, count, &worker->terms);
    }
    pass->numbers = true;
}

static void start(struct sums *sums, uint64_t count)
{
    const float infinity = (float)INFINITY;
    struct side_sums *sides[] = {&sums->mine, &sums->golden};
    struct tdc_pairwise *all[] = {&sums->distance, &sums->absolute, &sums->relative, &sums->cosine,
                                  &sums->divergence};
    for (size_t i = 0; i < 2; i++) {
        *sides[i] = (struct side_sums){.least = infinity, .most = -infinity, .finite = true};
        tdc_pairwise_start(&sides[i]->squares, count);
        tdc_pairwise_start(&sides[i]->parts, count);
    }
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        tdc_pairwise_start(all[i], count);
    sums->most_absolute = sums->most_relative = (struct largest){0};
}

/* What the next pass wants to know. */
static void settle(struct sums *sums, double count)
{
    struct side_sums *sides[] = {&sums->mine, &sums->golden};
    for (size_t i = 0; i < 2; i++) {
        sides[i]->mean = sides[i]->sum / count;
        sides[i]->norm = sqrtf(tdc_pairwise_get(&sides[i]->squares));
        sides[i]->whole = tdc_pairwise_get(&sides[i]->parts);
    }
}

/* ---- cells ----------------------------------------------------------------------------------- */

static void put(struct tdc_offline_result *result, enum tdc_offline_metric metric, double value)
{
    char *cell = result->cells[metric];
    if (isnan(value))
        snprintf(cell, TDC_OFFLINE_CELL, "nan"); /* C adds the sign */
    else
        snprintf(cell, TDC_OFFLINE_CELL, "%.6f", value);
}

static void put_cosine(const struct sums *sums, bool scalar, struct tdc_offline_result *result)
{
    char *cell = result->cells[TDC_OFFLINE_COSINE];
    double mine = (double)sums->mine.norm, golden = (double)sums->golden.norm;
    result->scalar = scalar;
    if (scalar) {
        put(result, TDC_OFFLINE_COSINE, 1);
    } else if (mine <= NEAR_ZERO && golden < NEAR_ZERO) {
        snprintf(cell, TDC_OFFLINE_CELL, "1.0");
    } else if (sqrt(mine) <= NEAR_ZERO || sqrt(golden) <= NEAR_ZERO) {
        result->flat[0] = sqrt(mine) <= NEAR_ZERO;
        result->flat[1] = !result->flat[0];
        snprintf(cell, TDC_OFFLINE_CELL, "NaN");
    } else {
        double cosine = (double)tdc_pairwise_get(&sums->cosine);
        put(result, TDC_OFFLINE_COSINE, cosine > 1 ? 1 : cosine);
    }
}

static void put_deviation(const struct sums *sums, double count, struct tdc_offline_result *result)
{
    double numbers[4] = {sums->mine.mean, sqrt(sums->mine.deviation / count), sums->golden.mean,
                         sqrt(sums->golden.deviation / count)};
    char texts[4][56];
    for (size_t i = 0; i < 4; i++) {
        if (fabs(numbers[i]) < MINIMUM)
            numbers[i] = 0;
        if (isnan(numbers[i]))
            strcpy(texts[i], "nan");
        else
            snprintf(texts[i], sizeof texts[i], "%.3f", numbers[i]);
    }
    snprintf(result->cells[TDC_OFFLINE_DEVIATION], TDC_OFFLINE_CELL, "(%s;%s),(%s;%s)", texts[0],
             texts[1], texts[2], texts[3]);
}

/* Of parts that add up to 1: those of mine times the logarithm of what they are to golden's. */
static double divergence_of(const struct sums *sums)
{
    double divergence = (double)tdc_pairwise_get(&sums->divergence);
    if (!sums->mine.finite || !sums->golden.finite)
        return (double)NAN;
    return divergence > NEAR_ZERO ? divergence : 0;
}

static void put_cells(const struct sums *sums, float count, bool scalar,
                      struct tdc_offline_result *result)
{
    float golden = tdc_pairwise_get(&sums->golden.squares);
    float distance = tdc_pairwise_get(&sums->distance);
    float relative = tdc_pairwise_get(&sums->relative);
    put_cosine(sums, scalar, result);
    put(result, TDC_OFFLINE_EUCLIDEAN,
        sqrt((double)golden) <= NEAR_ZERO ? 0 : (double)sqrtf(distance / golden));
    put(result, TDC_OFFLINE_MAX_ABSOLUTE, largest_of(&sums->most_absolute));
    put(result, TDC_OFFLINE_ACCUMULATED, (double)relative);
    put(result, TDC_OFFLINE_DIVERGENCE, divergence_of(sums));
    put_deviation(sums, (double)count, result);
    put(result, TDC_OFFLINE_MEAN_ABSOLUTE, (double)(tdc_pairwise_get(&sums->absolute) / count));
    put(result, TDC_OFFLINE_ROOT_MEAN_SQUARE, (double)sqrtf(distance / count));
    put(result, TDC_OFFLINE_MAX_RELATIVE, largest_of(&sums->most_relative));
    put(result, TDC_OFFLINE_MEAN_RELATIVE, (double)(relative / count));
    for (int i = 0; i < TDC_OFFLINE_METRICS && result->truth; i++)
        if (i != TDC_OFFLINE_COSINE && i != TDC_OFFLINE_EUCLIDEAN)
            strcpy(result->cells[i], "NaN");
}

static bool holds_truth(const struct tdc_tensor *tensor)
{
    return tensor->dtype == TDC_BOOL && tensor->coding == TDC_CODING_PLAIN;
}

bool tdc_offline_is_scalar(const uint64_t *shape, unsigned dimensions)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < dimensions; i++)
        sum += shape[i];
    return sum == dimensions;
}

/* ---- a pair ---------------------------------------------------------------------------------- */

struct tdc_offline_worker *tdc_offline_worker_new(void)
{
    return calloc(1, sizeof(struct tdc_offline_worker));
}

void tdc_offline_worker_free(struct tdc_offline_worker *worker)
{
    if (worker != NULL)
        tdc_float_tables_free(&worker->tables);
    free(worker);
}

tdc_status tdc_offline_measure(struct tdc_offline_worker *worker, const struct tdc_tensor *mine,
                               const struct tdc_tensor *golden, bool scalar, bool counted,
                               struct tdc_offline_result *result)
{
    static add_function *const passes[] = {add_first, add_second, add_third};
    double count = (double)mine->count;
    *result =
        (struct tdc_offline_result){.truth = !counted && holds_truth(mine) && holds_truth(golden)};
    if (!tdc_float_tables_prepare(&worker->tables, tdc_source_dtype(mine)) ||
        !tdc_float_tables_prepare(&worker->tables, tdc_source_dtype(golden)))
        return TDC_ERR_MEMORY;
    start(&worker->sums, mine->count);
    for (size_t i = 0; i < sizeof passes / sizeof *passes; i++) {
        struct pass pass = {.worker = worker, .mine = mine, .golden = golden, .add = passes[i]};
        if (!tdc_guarded_read(make_pass, &pass))
            return TDC_ERR_CHANGED;
        if (!pass.numbers)
            return TDC_ERR_UNSUPPORTED;
        settle(&worker->sums, count);
    }
    put_cells(&worker->sums, (float)count, scalar, result);
    return TDC_OK;
}
