/* probe.c - see probe.h. */
#include "host/engine/ascend/probe.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define TILES 128

static const struct {
    const char *name;
    unsigned at;      /* in the record */
    unsigned allowed; /* units */
    bool may_flush;
} operations[TDC_PROBED_OPERATIONS] = {
    [TDC_PROBED_ADD] = {"Add", TDC_PROBE_ADD, 0, false},
    [TDC_PROBED_SUB] = {"Sub", TDC_PROBE_SUB, 0, false},
    [TDC_PROBED_MUL] = {"Mul", TDC_PROBE_MUL, 0, false},
    [TDC_PROBED_SCALED] = {"Muls", TDC_PROBE_SCALED, 0, false},
    [TDC_PROBED_DIV] = {"Div", TDC_PROBE_DIV, 1, true},
    [TDC_PROBED_HALF] = {"Cast to half", TDC_PROBE_HALF, 0, false},
    [TDC_PROBED_BFLOAT] = {"Cast to bfloat16", TDC_PROBE_BFLOAT, 0, false},
};

const char *tdc_probe_name(enum tdc_probe_operation operation)
{
    return operations[operation].name;
}

/* ---- numbers --------------------------------------------------------------------------------- */

static float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static uint32_t step(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (uint32_t)(*state >> 16);
}

/* A finite number whose exponent is within [low, high] of 127. */
static float number(uint64_t *state, uint32_t low, uint32_t high)
{
    uint32_t exponent = low + step(state) % (high - low + 1);
    return float_of((step(state) & 0x807fffffu) | exponent << 23);
}

/* Pairs of like size, of any size, with subnormal results, ties of sums and of conversions. */
static void make_pair(size_t i, uint64_t *state, float *x, float *y)
{
    switch (i % 8) {
    case 0:
    case 1:
        *x = number(state, 120, 134);
        *y = number(state, 120, 134);
        break;
    case 2:
        *x = number(state, 100, 150);
        *y = number(state, 100, 150);
        break;
    case 3: /* the smaller is at the last bits of the larger: sums round up, down and in ties */
        *x = number(state, 120, 130);
        *y = ldexpf(number(state, 127, 127), (int)(bits_of(*x) >> 23 & 255) - 127 - 24);
        if (i % 16 == 3)
            *y = ldexpf(1.0f, (int)(bits_of(*x) >> 23 & 255) - 127 - 24);
        break;
    case 4: /* sums and differences are subnormal */
        *x = number(state, 0, 2);
        *y = number(state, 0, 2);
        break;
    case 5: /* products are subnormal, quotients large */
        *x = number(state, 60, 70);
        *y = number(state, 56, 66);
        break;
    case 6: /* quotients are subnormal */
        *x = number(state, 20, 40);
        *y = number(state, 150, 166);
        break;
    default: /* conversions: ties and subnormals of f16 and bf16 */
        *x =
            float_of((bits_of(number(state, 100, 140)) & 0xffff8000u) | (i % 16 == 7 ? 0x1000 : 0));
        if (i % 32 == 15)
            *x = number(state, 0, 1);
        *y = number(state, 120, 134);
        break;
    }
}

/* Rounded to nearest even with `digits` of them, the last of which is at least `least`. */
static float rounded(float x, int digits, float least, float largest)
{
    int exponent;
    frexpf(x, &exponent);
    double unit = fmax(ldexp(1.0, exponent - digits), (double)least);
    double value = nearbyint((double)x / unit) * unit;
    return fabs(value) > (double)largest ? copysignf(INFINITY, x) : (float)value;
}

static float expected(enum tdc_probe_operation operation, float x, float y)
{
    switch (operation) {
    case TDC_PROBED_ADD:
        return x + y;
    case TDC_PROBED_SUB:
        return x - y;
    case TDC_PROBED_MUL:
        return x * y;
    case TDC_PROBED_SCALED:
        return x * 4097.0f;
    case TDC_PROBED_HALF:
        return rounded(x, 11, 0x1p-24f, 65504.0f);
    case TDC_PROBED_BFLOAT:
        return rounded(x, 8, 0x1p-133f, 0x1.fep127f);
    default:
        return x / y;
    }
}

/* Floats between two numbers. */
static uint64_t units_between(float x, float y)
{
    int64_t left = bits_of(x) & 0x7fffffffu, right = bits_of(y) & 0x7fffffffu;
    left = signbit(x) ? -left : left;
    right = signbit(y) ? -right : right;
    return (uint64_t)(left > right ? left - right : right - left);
}

/* ---- the probe ------------------------------------------------------------------------------- */

static void weigh(struct tdc_probe_figures *figures, enum tdc_probe_operation operation, float got,
                  float right)
{
    bool small = operation == TDC_PROBED_HALF ? fabsf(right) < 0x1p-14f : fabsf(right) < FLT_MIN;
    if (right != 0 && small) {
        figures->subnormal[operation]++;
        figures->flushed[operation] += got == 0;
        if (got == 0 && operations[operation].may_flush)
            return;
    }
    uint64_t units = isnan(got) || isnan(right) ? (isnan(got) != isnan(right)) * UINT32_MAX
                                                : units_between(got, right);
    figures->off[operation][units <= 2 ? units : units <= 4 ? 3 : 4]++;
}

static void read_records(const float *n, const float *b, const float *records,
                         struct tdc_probe_figures *figures)
{
    for (size_t i = 0; i < (size_t)TILES * TDC_PROBE_PAIRS; i++) {
        const float *record = records + i / TDC_PROBE_PAIRS * TDC_TILE_RECORD_FLOATS;
        size_t lane = i % TDC_PROBE_PAIRS;
        figures->samples++;
        /* a Div that flushes subnormals does so with what it is given, too */
        bool tiny = fabsf(n[i]) < FLT_MIN || fabsf(b[i]) < FLT_MIN;
        for (int k = 0; k < TDC_PROBED_OPERATIONS; k++)
            if (!tiny || k != TDC_PROBED_DIV)
                weigh(figures, (enum tdc_probe_operation)k, record[operations[k].at + lane],
                      expected((enum tdc_probe_operation)k, n[i], b[i]));
        float product = n[i] * b[i];
        if (i % 8 < 2) /* far from both ends of the range */
            figures->fused += record[TDC_PROBE_FUSED + lane] != 0 &&
                              record[TDC_PROBE_FUSED + lane] ==
                                  (float)((double)n[i] * (double)b[i] - (double)product);
    }
}

struct tdc_call_failure tdc_probe_run(struct tdc_ascend_slot *slot, void *function,
                                      struct tdc_probe_figures *figures)
{
    uint64_t state = 88172645463325252u;
    *figures = (struct tdc_probe_figures){0};
    float *n = (float *)(void *)slot->base.n, *b = (float *)(void *)slot->base.b;
    for (size_t i = 0; i < (size_t)TILES * TDC_PROBE_PAIRS; i++)
        make_pair(i, &state, &n[i], &b[i]);
    struct tdc_call_failure failure =
        tdc_ascend_slot_launch(slot, TDC_ASCEND_PROBE, function, TILES, 0);
    struct tdc_call_failure waited = tdc_slot_wait(&slot->base);
    if (failure.code == 0)
        failure = waited;
    if (failure.code == 0)
        read_records(n, b, tdc_ascend_slot_records(slot), figures);
    return failure;
}

bool tdc_probe_sound(const struct tdc_probe_figures *figures, char *text, size_t size)
{
    for (int k = 0; k < TDC_PROBED_OPERATIONS; k++) {
        unsigned wrong = 0;
        for (unsigned bin = operations[k].allowed + 1; bin < TDC_PROBE_BINS; bin++)
            wrong += figures->off[k][bin];
        if (wrong == 0)
            continue;
        snprintf(text, size, "%s is off in %u of %u results%s", operations[k].name, wrong,
                 figures->samples,
                 figures->flushed[k] != 0 && !operations[k].may_flush
                     ? ": subnormal numbers are flushed"
                     : "");
        return false;
    }
    return true;
}
