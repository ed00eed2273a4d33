#include "host/torchair/soft_sums.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EPSILON   1.1920928955078125e-07f /* of float32 */
#define NEAR_ZERO 1e-8                    /* norms below count as so large */
#define VANISHES  (-103.97)               /* exp of less is 0 in float32 */
enum {
    LANES = 8 /* sums side by side, whatever the processor has: part of the result */
};

/* ---- one tensor ------------------------------------------------------------------------------ */

void tdc_lone_clear(struct tdc_lone_sums *sums)
{
    *sums = (struct tdc_lone_sums){.least = (float)INFINITY, .largest = -(float)INFINITY};
}

void tdc_lone_add(struct tdc_lone_sums *sums, const float *values, size_t count)
{
    double lanes[LANES] = {0}, sum = 0;
    uint64_t nan = 0, inf = 0;
    float least = sums->least, largest = sums->largest;
    for (size_t i = 0; i < count; i++) {
        least = values[i] < least ? values[i] : least;
        largest = values[i] > largest ? values[i] : largest;
    }
    for (size_t i = 0; i < count; i++) {
        nan += isnan(values[i]) != 0;
        inf += isinf(values[i]) != 0;
    }
    for (size_t i = 0; i + LANES <= count; i += LANES)
        for (size_t lane = 0; lane < LANES; lane++)
            lanes[lane] += (double)values[i + lane];
    for (size_t i = count / LANES * LANES; i < count; i++)
        sum += (double)values[i];
    for (size_t lane = 0; lane < LANES; lane++)
        sum += lanes[lane];
    sums->count += count;
    sums->nan += nan;
    sums->inf += inf;
    sums->least = least;
    sums->largest = largest;
    sums->sum += sum;
}

void tdc_lone_merge(struct tdc_lone_sums *left, const struct tdc_lone_sums *right)
{
    left->count += right->count;
    left->nan += right->nan;
    left->inf += right->inf;
    left->least = right->least < left->least ? right->least : left->least;
    left->largest = right->largest > left->largest ? right->largest : left->largest;
    left->sum += right->sum;
}

/* ---- errors ---------------------------------------------------------------------------------- */

struct lanes {
    double mg[LANES], mm[LANES], gg[LANES], dd[LANES], narrow_gg[LANES], relative[LANES],
        absolute[LANES];
    float most_relative[LANES], most_absolute[LANES];
};

static inline void add_element(struct lanes *lanes, size_t lane, float g, float m)
{
    float d = m - g;
    float magnitude = fabsf(g);
    float e = fabsf(m / g - 1.0F), a = fabsf(d);
    e = magnitude > EPSILON ? e : 0.0F;
    a = magnitude > EPSILON ? a : 0.0F;
    lanes->mg[lane] += (double)m * (double)g;
    lanes->mm[lane] += (double)m * (double)m;
    lanes->gg[lane] += (double)g * (double)g;
    lanes->dd[lane] += (double)(d * d);
    lanes->narrow_gg[lane] += (double)(g * g);
    lanes->relative[lane] += (double)e;
    lanes->absolute[lane] += (double)a;
    lanes->most_relative[lane] = e > lanes->most_relative[lane] ? e : lanes->most_relative[lane];
    lanes->most_absolute[lane] = a > lanes->most_absolute[lane] ? a : lanes->most_absolute[lane];
}

static void add_errors(struct tdc_soft_sums *sums, const float *g, const float *m, size_t count)
{
    struct lanes lanes;
    memset(&lanes, 0, sizeof lanes);
    for (size_t i = 0; i + LANES <= count; i += LANES)
        for (size_t lane = 0; lane < LANES; lane++)
            add_element(&lanes, lane, g[i + lane], m[i + lane]);
    for (size_t i = count / LANES * LANES; i < count; i++)
        add_element(&lanes, i % LANES, g[i], m[i]);
    for (size_t lane = 0; lane < LANES; lane++) {
        sums->mg += lanes.mg[lane];
        sums->mm += lanes.mm[lane];
        sums->gg += lanes.gg[lane];
        sums->dd += lanes.dd[lane];
        sums->narrow_gg += lanes.narrow_gg[lane];
        sums->relative += lanes.relative[lane];
        sums->absolute += lanes.absolute[lane];
        sums->most_relative = fmaxf(sums->most_relative, lanes.most_relative[lane]);
        sums->most_absolute = fmaxf(sums->most_absolute, lanes.most_absolute[lane]);
    }
}

/* ---- softmax --------------------------------------------------------------------------------- */

/*
 * exp(x) for x <= 0, without a branch and the same on every machine, unlike that of the C library;
 * the error is below 2^-50. Adding 1.5 * 2^52 leaves the nearest whole number in the last bits.
 */
static inline double soft_exp(double x)
{
    double shifted = x * 0x1.71547652b82fep0 + 0x1.8p52, power = shifted - 0x1.8p52;
    double r = x - power * 0x1.62e42fefa39efp-1 - power * 0x1.abc9e3b39803fp-56;
    double sum = 1.0 / 39916800;
    sum = sum * r + 1.0 / 3628800;
    sum = sum * r + 1.0 / 362880;
    sum = sum * r + 1.0 / 40320;
    sum = sum * r + 1.0 / 5040;
    sum = sum * r + 1.0 / 720;
    sum = sum * r + 1.0 / 120;
    sum = sum * r + 1.0 / 24;
    sum = sum * r + 1.0 / 6;
    sum = sum * r + 0.5;
    sum = sum * r + 1.0;
    sum = sum * r + 1.0;
    uint64_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    bits = (bits + 1023) << 52;
    double scale;
    memcpy(&scale, &bits, sizeof scale);
    return x > VANISHES ? sum * scale : 0.0;
}

/* The smaller sum of exponentials in terms of a larger largest value. */
static void raise(struct tdc_soft_sums *sums, double g_largest, double m_largest)
{
    double g_step = sums->g_largest - g_largest, m_step = sums->m_largest - m_largest;
    double g_factor = soft_exp(g_step), m_factor = soft_exp(m_step);
    if (sums->g_scale == 0) { /* nothing yet */
        sums->g_largest = g_largest;
        sums->m_largest = m_largest;
        return;
    }
    sums->weighted = g_factor * (sums->weighted + sums->g_scale * (g_step - m_step));
    sums->g_scale *= g_factor;
    sums->m_scale *= m_factor;
    sums->g_largest = g_largest;
    sums->m_largest = m_largest;
}

static void add_softmax(struct tdc_soft_sums *sums, const float *g, const float *m, size_t count)
{
    double g_scale[LANES] = {0}, m_scale[LANES] = {0}, weighted[LANES] = {0};
    float g_most = -(float)INFINITY, m_most = -(float)INFINITY;
    for (size_t i = 0; i < count; i++) {
        g_most = g[i] > g_most ? g[i] : g_most;
        m_most = m[i] > m_most ? m[i] : m_most;
    }
    double g_largest = fmax(sums->g_largest, (double)g_most);
    double m_largest = fmax(sums->m_largest, (double)m_most);
    raise(sums, g_largest, m_largest);
    for (size_t start = 0; start < count; start += LANES)
        for (size_t lane = 0; lane < LANES && start + lane < count; lane++) {
            double a = (double)g[start + lane] - g_largest, b = (double)m[start + lane] - m_largest;
            double p = soft_exp(a);
            g_scale[lane] += p;
            m_scale[lane] += soft_exp(b);
            weighted[lane] += p * (a - b);
        }
    for (size_t lane = 0; lane < LANES; lane++) {
        sums->g_scale += g_scale[lane];
        sums->m_scale += m_scale[lane];
        sums->weighted += weighted[lane];
    }
}

/* ---- two tensors ----------------------------------------------------------------------------- */

void tdc_soft_clear(struct tdc_soft_sums *sums)
{
    *sums = (struct tdc_soft_sums){.g_largest = -(double)INFINITY, .m_largest = -(double)INFINITY};
}

void tdc_soft_add(struct tdc_soft_sums *sums, const float *g, const float *m, size_t count)
{
    add_errors(sums, g, m, count);
    add_softmax(sums, g, m, count);
}

void tdc_soft_merge(struct tdc_soft_sums *left, const struct tdc_soft_sums *right)
{
    struct tdc_soft_sums other = *right;
    double g_largest = fmax(left->g_largest, other.g_largest);
    double m_largest = fmax(left->m_largest, other.m_largest);
    if (other.g_scale == 0)
        return;
    raise(left, g_largest, m_largest);
    raise(&other, g_largest, m_largest);
    left->g_scale += other.g_scale;
    left->m_scale += other.m_scale;
    left->weighted += other.weighted;
    left->mg += other.mg;
    left->mm += other.mm;
    left->gg += other.gg;
    left->dd += other.dd;
    left->narrow_gg += other.narrow_gg;
    left->relative += other.relative;
    left->absolute += other.absolute;
    left->most_relative = fmaxf(left->most_relative, other.most_relative);
    left->most_absolute = fmaxf(left->most_absolute, other.most_absolute);
}

/* To ten digits behind the point, as Python rounds: by the decimal digits. */
static double rounded(double value)
{
    char text[64];
    snprintf(text, sizeof text, "%.10f", value);
    return strtod(text, NULL);
}

void tdc_soft_metrics(const struct tdc_soft_sums *sums, uint64_t count,
                      double metrics[TDC_SOFT_METRICS])
{
    double g_norm = sqrt(sums->gg), m_norm = sqrt(sums->mm);
    double kl = sums->weighted / sums->g_scale + log(sums->m_scale) - log(sums->g_scale);
    metrics[TDC_SOFT_COSINE] =
        g_norm == 0 && m_norm == 0
            ? 1.0
            : rounded(sums->mg / (fmax(g_norm, NEAR_ZERO) * fmax(m_norm, NEAR_ZERO)));
    metrics[TDC_SOFT_MAX_RELATIVE] = (double)sums->most_relative;
    metrics[TDC_SOFT_MEAN_RELATIVE] = (double)(float)(sums->relative / (double)count);
    metrics[TDC_SOFT_MAX_ABSOLUTE] = (double)sums->most_absolute;
    metrics[TDC_SOFT_MEAN_ABSOLUTE] = (double)(float)(sums->absolute / (double)count);
    metrics[TDC_SOFT_KL] = kl > 0 ? (double)(float)kl : 0.0;
    metrics[TDC_SOFT_EUCLIDEAN] =
        g_norm <= (double)EPSILON ? 0.0 : (double)sqrtf((float)sums->dd / (float)sums->narrow_gg);
}
