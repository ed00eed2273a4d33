/* self_test.c - see self_test.h. */
#include "host/engine/ascend/self_test.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "host/engine/ascend/ascend_slot.h"
#include "host/engine/ascend/probe.h"
#include "io/base/error.h"

/* The promise of the records (kernels/ascend/tile_fold.h). */
#define SUM_ERROR TDC_TILE_SUM_ERROR

enum {
    TILE_ORDINARY,
    TILE_SUBNORMAL,
    TILE_LIMITS
};

/* ---- the tiles ------------------------------------------------------------------------------- */

static void store(tdc_dtype dtype, void *side, size_t at, float value)
{
    if (dtype == TDC_F32) {
        memcpy((char *)side + 4 * at, &value, 4);
        return;
    }
    uint32_t bits;
    memcpy(&bits, &value, 4);
    uint16_t half;
    if (dtype == TDC_BF16) {
        half = (uint16_t)(bits >> 16);
    } else {
        float magnitude = fabsf(value);
        uint16_t sign = (uint16_t)(bits >> 16 & 0x8000);
        if (isnan(value))
            half = 0x7e00;
        else if (magnitude >= 65520.0f)
            half = (uint16_t)(sign | 0x7c00);
        else if (magnitude < 0x1p-14f)
            half = (uint16_t)(sign | (uint16_t)(magnitude * 0x1p24f));
        else
            half = (uint16_t)(sign | (((bits >> 13) - (112u << 10)) & 0x7fff));
    }
    memcpy((char *)side + 2 * at, &half, 2);
}

/* A fixed sequence: the test is the same on every device. */
static uint32_t step(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static void ordinary(size_t i, uint32_t *state, float *n, float *b)
{
    static const float ratios[] = {1.0f,     1.001f,     0.999f,     1.005f,     0.995f,
                                   1.00101f, 1.0009999f, 1.0049999f, 1.0050001f, 1.25f};
    *b = (float)((int32_t)step(state) - (1 << 23)) * 0x1p-20f;
    *n = *b * ratios[i % 10];
    if (i % 64 == 5)
        *n = *b = 0.0f;
    if (i % 64 == 6)
        *n = -0.0f, *b = 0.0f;
    /* ties of the rounding of a difference and of a product */
    if (i % 64 == 7)
        *n = 1.0f + 0x1p-23f, *b = 0x1p-24f;
    if (i % 64 == 8)
        *n = 1.0f, *b = -0x1p-24f;
}

static void subnormal(tdc_dtype dtype, size_t i, uint32_t *state, float *n, float *b)
{
    float least = dtype == TDC_F16 ? 0x1p-24f : dtype == TDC_BF16 ? 0x1p-133f : 0x1p-149f;
    *n = least * (float)(step(state) % 100 + 1);
    *b = -least * (float)(i % 100);
}

static void limits(size_t i, uint32_t *state, float *n, float *b)
{
    static const float special[] = {INFINITY, -INFINITY, NAN, FLT_MAX, -FLT_MAX};
    ordinary(i, state, n, b);
    if (i % 16 < 5)
        *n = special[i % 16];
    if (i % 24 < 5)
        *b = special[4 - i % 24];
}

void tdc_self_test_fill(unsigned kernel, void *n, void *b)
{
    const struct tdc_ascend_kernel_spec *spec = &tdc_ascend_kernels[kernel];
    uint32_t state = 2026;
    for (size_t i = 0; i < (size_t)TDC_SELF_TEST_TILES * TDC_TILE_PAIRS; i++) {
        float left = 0, right = 0;
        if (i / TDC_TILE_PAIRS == TILE_ORDINARY)
            ordinary(i, &state, &left, &right);
        else if (i / TDC_TILE_PAIRS == TILE_SUBNORMAL)
            subnormal(spec->n_dtype == TDC_F32 ? spec->b_dtype : spec->n_dtype, i, &state, &left,
                      &right);
        else
            limits(i, &state, &left, &right);
        store(spec->n_dtype, n, i, left);
        store(spec->b_dtype, b, i, right);
    }
}

/* ---- the answer ------------------------------------------------------------------------------ */

struct magnitudes {
    double nb, nn, bb, dd, n, b, abs;
};

static bool near(double value, double expected, double magnitude)
{
    return fabs(value - expected) <= SUM_ERROR * magnitude;
}

static bool sums_right(const struct tdc_pair_sums *sums, const struct tdc_pair_sums *right,
                       const struct magnitudes *size)
{
    return near(sums->nb, right->nb, size->nb) && near(sums->nn, right->nn, size->nn) &&
           near(sums->bb, right->bb, size->bb) && near(sums->dd, right->dd, size->dd) &&
           near(sums->n, right->n, size->n) && near(sums->b, right->b, size->b) &&
           near(sums->abs, right->abs, size->abs);
}

static bool counts_right(const struct tdc_pair_sums *sums, const struct tdc_pair_sums *right)
{
    return sums->count == right->count && sums->finite == right->finite &&
           sums->rel_nan == right->rel_nan &&
           memcmp(sums->below, right->below, sizeof right->below) == 0;
}

static bool extremes_right(const struct tdc_pair_sums *sums, const struct tdc_pair_sums *right)
{
    return sums->n_min == right->n_min && sums->n_max == right->n_max &&
           sums->b_min == right->b_min && sums->b_max == right->b_max;
}

static bool within(const struct tdc_tile_maximum *maximum, double right)
{
    return maximum->low <= right && right <= maximum->high;
}

static struct magnitudes measure(const struct tdc_ascend_kernel_spec *spec, const char *n,
                                 const char *b)
{
    struct magnitudes size = {0};
    for (size_t i = 0; i < TDC_TILE_PAIRS; i++) {
        double none;
        double left =
            tdc_element_value(spec->n_dtype, n + i * tdc_dtype_size(spec->n_dtype), &none);
        double right =
            tdc_element_value(spec->b_dtype, b + i * tdc_dtype_size(spec->b_dtype), &none);
        size.nb += fabs(left * right);
        size.n += fabs(left);
        size.b += fabs(right);
    }
    return size;
}

static const char *check_ordinary(const struct tdc_ascend_kernel_spec *spec,
                                  const struct tdc_pair_plan *plan, const char *n, const char *b,
                                  const float *record)
{
    struct tdc_pair_sums right;
    tdc_pair_run(plan, n, b, TDC_TILE_PAIRS, &right);
    struct magnitudes size = measure(spec, n, b);
    size.nn = right.nn;
    size.bb = right.bb;
    size.dd = right.dd;
    size.abs = right.abs;
    struct tdc_tile tile;
    if (tdc_tile_read(plan, record, &tile) != TDC_TILE_USE)
        return "an ordinary tile was not computed";
    if (!counts_right(&tile.sums, &right))
        return "a count is wrong";
    if (!extremes_right(&tile.sums, &right))
        return "an extreme value is wrong";
    if (!within(&tile.abs, right.abs_max) || !within(&tile.rel, right.rel_max))
        return "a maximum is wrong";
    return sums_right(&tile.sums, &right, &size) ? NULL : "a sum is not exact enough";
}

static const char *check_subnormal(const struct tdc_pair_plan *plan, const char *n, const char *b,
                                   const float *record)
{
    struct tdc_pair_sums right;
    tdc_pair_run(plan, n, b, TDC_TILE_PAIRS, &right);
    if (record[TDC_TILE_FINITE] != (float)TDC_TILE_PAIRS)
        return "subnormal numbers are not counted as finite";
    if ((double)record[TDC_TILE_N_MAX] != right.n_max ||
        (double)record[TDC_TILE_N_MIN] != right.n_min ||
        (double)record[TDC_TILE_B_MAX] != right.b_max ||
        (double)record[TDC_TILE_B_MIN] != right.b_min)
        return "subnormal numbers are flushed";
    /* differences of such numbers are exact */
    if ((double)record[TDC_TILE_ABS_MAX] != right.abs_max)
        return "differences of subnormal numbers are flushed";
    return NULL;
}

static const char *check_limits(const struct tdc_pair_plan *plan, const char *n, const char *b,
                                const float *record)
{
    struct tdc_pair_sums right;
    tdc_pair_run(plan, n, b, TDC_TILE_PAIRS, &right);
    struct tdc_tile tile;
    if (record[TDC_TILE_FINITE] != (float)right.finite)
        return "finite pairs are not counted right";
    return tdc_tile_read(plan, record, &tile) == TDC_TILE_RESCUE ? NULL
                                                                 : "NaN and infinity go unnoticed";
}

const char *tdc_self_test_check(unsigned kernel, const void *n, const void *b, const float *records)
{
    const struct tdc_ascend_kernel_spec *spec = &tdc_ascend_kernels[kernel];
    size_t n_tile = TDC_TILE_PAIRS * tdc_dtype_size(spec->n_dtype);
    size_t b_tile = TDC_TILE_PAIRS * tdc_dtype_size(spec->b_dtype);
    const char *left = n, *right = b;
    struct tdc_pair_plan plan;
    if (!tdc_pair_plan_make(spec->n_dtype, spec->b_dtype, spec->rule, tdc_cpu_variant_chosen(),
                            &plan))
        return "there is no CPU kernel to compare with";
    plan.extremes = true;
    const char *wrong = check_ordinary(spec, &plan, left, right, records);
    if (wrong == NULL)
        wrong =
            check_subnormal(&plan, left + n_tile, right + b_tile, records + TDC_TILE_RECORD_FLOATS);
    if (wrong == NULL)
        wrong = check_limits(&plan, left + 2 * n_tile, right + 2 * b_tile,
                             records + 2 * (size_t)TDC_TILE_RECORD_FLOATS);
    return wrong;
}

/* ---- on the card ----------------------------------------------------------------------------- */

/* The tiles of `kernel` at the start of the slot, in turns up to `tiles`. */
static void repeat_tiles(struct tdc_ascend_slot *slot, unsigned kernel, size_t tiles)
{
    const struct tdc_ascend_kernel_spec *spec = &tdc_ascend_kernels[kernel];
    size_t n_tile = TDC_TILE_PAIRS * tdc_dtype_size(spec->n_dtype);
    size_t b_tile = TDC_TILE_PAIRS * tdc_dtype_size(spec->b_dtype);
    unsigned char *n = slot->base.n, *b = slot->base.b;
    tdc_self_test_fill(kernel, n, b);
    for (size_t i = TDC_SELF_TEST_TILES; i < tiles; i++) {
        memcpy(n + i * n_tile, n + i % TDC_SELF_TEST_TILES * n_tile, n_tile);
        memcpy(b + i * b_tile, b + i % TDC_SELF_TEST_TILES * b_tile, b_tile);
    }
}

/* To the bit: a record that is equal as numbers may still be another. */
static bool records_repeat(const void *records, size_t tiles, const void *first)
{
    const unsigned char *record = records, *expected = first;
    for (size_t i = 0; i < tiles; i++)
        if (memcmp(record + i * TDC_TILE_RECORD_BYTES,
                   expected + i % TDC_SELF_TEST_TILES * TDC_TILE_RECORD_BYTES,
                   TDC_TILE_RECORD_BYTES) != 0)
            return false;
    return true;
}

/* What had begun on the slot has ended when it returns. */
static struct tdc_call_failure launch(struct tdc_ascend_slot *slot, unsigned kernel, void *function,
                                      size_t tiles, uint32_t blocks)
{
    struct tdc_call_failure failure = tdc_ascend_slot_launch(slot, kernel, function, tiles, blocks);
    struct tdc_call_failure waited = tdc_slot_wait(&slot->base);
    return failure.code != 0 ? failure : waited;
}

/* Two launches; NULL or what is wrong, or *failure. */
static const char *try_kernel(struct tdc_ascend_slot *slot, unsigned kernel, void *function,
                              struct tdc_call_failure *failure)
{
    float first[TDC_SELF_TEST_TILES * TDC_TILE_RECORD_FLOATS];
    size_t on_one = 2 * (size_t)TDC_SELF_TEST_TILES;
    size_t on_all = (size_t)TDC_SELF_TEST_TILES * tdc_ascend_slot_device(slot)->cores;
    if (on_all > TDC_SLOT_TILES)
        on_all = TDC_SLOT_TILES;
    repeat_tiles(slot, kernel, on_all > on_one ? on_all : on_one);
    *failure = launch(slot, kernel, function, on_one, 1);
    if (failure->code != 0)
        return NULL;
    const float *records = tdc_ascend_slot_records(slot);
    const char *wrong = tdc_self_test_check(kernel, slot->base.n, slot->base.b, records);
    if (wrong != NULL)
        return wrong;
    memcpy(first, records, sizeof first);
    if (!records_repeat(records, on_one, first))
        return "a tile has another record when it comes again on the same core";
    *failure = launch(slot, kernel, function, on_all, 0);
    if (failure->code != 0)
        return NULL;
    return records_repeat(records, on_all, first)
               ? NULL
               : "a tile has another record on another core or later";
}

bool tdc_self_test(struct tdc_ascend_device *device, unsigned kernel, void *function,
                   struct tdc_ascend_slot *slot, struct tdc_error *error)
{
    struct tdc_ascend_slot own = {.base = {.card = NULL}};
    struct tdc_call_failure failure = {NULL, 0};
    const char *wrong = NULL;
    char probed[256];
    if (slot == NULL) {
        failure = tdc_slot_open(&own.base, &device->base, false);
        slot = &own;
    }
    if (failure.code == 0 && kernel == TDC_ASCEND_PROBE) {
        struct tdc_probe_figures figures;
        failure = tdc_probe_run(slot, function, &figures);
        if (failure.code == 0 && !tdc_probe_sound(&figures, probed, sizeof probed))
            wrong = probed;
    } else if (failure.code == 0) {
        wrong = try_kernel(slot, kernel, function, &failure);
    }
    /* a slot that cannot be waited for is not fit for anything else either */
    if (slot->base.pending)
        atomic_store(&device->base.lost, true);
    if (failure.code != 0) {
        char text[400];
        tdc_acl_describe(device->acl, failure.function, failure.code, text, sizeof text);
        tdc_fail(error, TDC_ERR_DEVICE, "self-test of %s on device %d: %s",
                 tdc_ascend_kernels[kernel].name, (int)device->base.id, text);
    } else if (wrong != NULL) {
        tdc_fail(error, TDC_ERR_DEVICE, "self-test of %s on device %d (%s): %s",
                 tdc_ascend_kernels[kernel].name, (int)device->base.id, device->base.name, wrong);
    }
    tdc_slot_close(&own.base);
    return failure.code == 0 && wrong == NULL;
}
