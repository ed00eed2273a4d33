/* The discrete Fourier transform of any length. */
#include "reference/primitives/matrix/fourier.h"

#include <math.h>
#include <string.h>

#include "reference/primitives/complex_parts.h"
#include "reference/primitives/matrix/factor_bounds.h"
#include "reference/tape.h"

#define PI 3.14159265358979323846

/* exp(sign 2 pi i k / n) with the angle reduced to an eighth of a turn, so that the roots of the
 * common lengths are exact where they can be. */
static void root(int64_t k, int64_t n, int sign, double *re, double *im)
{
    k = (k % n + n) % n;
    int64_t eighths = 8 * k / n;
    int64_t rest = 8 * k - eighths * n; /* of 8 n, from the start of this eighth */
    bool odd = eighths % 2 != 0;
    double angle = 2 * PI / 8 * ((double)(odd ? n - rest : rest) / (double)n);
    double c = cos(angle), s = sin(angle);
    if (odd) {
        double t = c;
        c = s;
        s = t;
    }
    for (int64_t quarter = eighths / 2; quarter > 0; quarter--) {
        double t = c;
        c = -s;
        s = t;
    }
    *re = c;
    *im = sign < 0 ? -s : s;
}

/* In place for a power of two; roots[k] = exp(2 pi i k / n) for k < n / 2, conjugated for -1. */
static void power_of_two(double *z, int64_t n, const double *roots, int sign)
{
    for (int64_t i = 1, j = 0; i < n; i++) {
        int64_t bit = n >> 1;
        for (; j & bit; bit >>= 1)
            j ^= bit;
        j ^= bit;
        if (i < j)
            for (int p = 0; p < 2; p++) {
                double t = z[2 * i + p];
                z[2 * i + p] = z[2 * j + p];
                z[2 * j + p] = t;
            }
    }
    for (int64_t half = 1; half < n; half *= 2)
        for (int64_t start = 0; start < n; start += 2 * half)
            for (int64_t k = 0; k < half; k++) {
                const double *w = roots + 2 * (k * (n / (2 * half)));
                double *a = z + 2 * (start + k), *b = a + 2 * half;
                double wi = sign < 0 ? -w[1] : w[1];
                double re = b[0] * w[0] - b[1] * wi, im = b[0] * wi + b[1] * w[0];
                b[0] = a[0] - re;
                b[1] = a[1] - im;
                a[0] += re;
                a[1] += im;
            }
}

/* What the transforms of one length share. Another length than a power of two is a convolution with
 * a chirp, exp(pi i j^2 / n), done in the next power of two that holds it. */
struct plan {
    int64_t n, size; /* size: the power of two */
    double *roots, *chirp, *filter;
};

static double *roots_of(tdc_evaluation *e, int64_t n)
{
    double *roots = tdc_take(e, n + 2, sizeof *roots);
    for (int64_t k = 0; k < n / 2; k++)
        root(k, n, 1, &roots[2 * k], &roots[2 * k + 1]);
    return roots;
}

static struct plan plan_for(tdc_evaluation *e, int64_t n, int sign)
{
    struct plan plan = {.n = n, .size = 1};
    if (n > ((int64_t)1 << 28))
        tdc_refuse(e, TDC_ERR_UNSUPPORTED, "a transform of that length");
    bool plain = (n & (n - 1)) == 0;
    while (plan.size < (plain ? n : 2 * n - 1))
        plan.size *= 2;
    plan.roots = roots_of(e, plan.size);
    if (plain)
        return plan;
    plan.chirp = tdc_take(e, 2 * n, sizeof *plan.chirp);
    plan.filter = tdc_take(e, 2 * plan.size, sizeof *plan.filter);
    memset(plan.filter, 0, (size_t)(2 * plan.size) * sizeof *plan.filter);
    for (int64_t j = 0; j < n; j++) {
        root(j * j % (2 * n), 2 * n, sign, &plan.chirp[2 * j], &plan.chirp[2 * j + 1]);
        for (int side = 0; side < 2; side++) {
            int64_t at = side == 0 ? j : (plan.size - j) % plan.size;
            plan.filter[2 * at] = plan.chirp[2 * j];
            plan.filter[2 * at + 1] = -plan.chirp[2 * j + 1];
        }
    }
    power_of_two(plan.filter, plan.size, plan.roots, 1);
    return plan;
}

/* to = from * factor, element by element */
static void times(double *to, const double *from, const double *factor, int64_t n)
{
    for (int64_t j = 0; j < n; j++) {
        double re = from[2 * j] * factor[2 * j] - from[2 * j + 1] * factor[2 * j + 1];
        double im = from[2 * j] * factor[2 * j + 1] + from[2 * j + 1] * factor[2 * j];
        to[2 * j] = re;
        to[2 * j + 1] = im;
    }
}

static void transform_line(const struct plan *plan, double *line, double *work, int sign)
{
    if (plan->chirp == NULL) {
        power_of_two(line, plan->n, plan->roots, sign);
        return;
    }
    memset(work, 0, (size_t)(2 * plan->size) * sizeof *work);
    times(work, line, plan->chirp, plan->n);
    power_of_two(work, plan->size, plan->roots, 1);
    times(work, work, plan->filter, plan->size);
    power_of_two(work, plan->size, plan->roots, -1);
    times(line, work, plan->chirp, plan->n);
    for (int64_t j = 0; j < 2 * plan->n; j++)
        line[j] /= (double)plan->size;
}

/* The adjoint turns the other way. */
static void pull_transform(tdc_evaluation *e, struct tdc_tape_node *node, tdc_array *gradient)
{
    tdc_array *g = tdc_constant(e, gradient);
    g->complex = true;
    tdc_collect(e, node->inputs[0], tdc_transform(e, g, -*(const int *)node->detail));
}

tdc_array *tdc_transform(tdc_evaluation *e, tdc_array *x, int sign)
{
    if (!x->complex)
        x = tdc_join(e, (struct tdc_parts){x, NULL});
    if (x->rank < 2 || x->shape[x->rank - 2] < 1)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "a transform needs at least one element");
    int64_t n = x->shape[x->rank - 2], lines = x->count / (2 * n);
    struct plan plan = plan_for(e, n, sign);
    tdc_array *y = tdc_new_like(e, TDC_F64, x);
    memcpy(y->real, x->real, (size_t)y->count * sizeof *y->real);
    double *work = tdc_take(e, 2 * plan.size, sizeof *work);
    for (int64_t i = 0; i < lines; i++)
        transform_line(&plan, y->real + i * 2 * n, work, sign);
    int *detail = tdc_take(e, 1, sizeof *detail);
    *detail = sign;
    y->complex = true;
    tdc_bound_transform(e, x, y);
    tdc_note(e, y, pull_transform, detail, 1, &x);
    return y;
}
