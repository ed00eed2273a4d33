#include "reference/primitives/matrix/decompose.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "reference/primitives/reduce.h"

#define SWEEPS 60

static void rotate(double *x, double *y, int64_t n, double c, double s)
{
    for (int64_t i = 0; i < n; i++) {
        double t = c * x[i] - s * y[i];
        y[i] = s * x[i] + c * y[i];
        x[i] = t;
    }
}

/* Angle that makes the off-diagonal element of [[a, b], [b, d]] vanish. */
static void angle_of(double a, double b, double d, double *c, double *s)
{
    double zeta = (d - a) / (2 * b);
    double t = copysign(1, zeta) / (fabs(zeta) + sqrt(1 + zeta * zeta));
    *c = 1 / sqrt(1 + t * t);
    *s = *c * t;
}

/* ---- singular values ------------------------------------------------------------------------- */

/* Rows of w[n, m] are made orthogonal to each other; v[n, n] turns along. */
static void orthogonalise(double *w, double *v, int64_t n, int64_t m)
{
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        bool turned = false;
        for (int64_t p = 0; p + 1 < n; p++)
            for (int64_t q = p + 1; q < n; q++) {
                double *x = w + p * m, *y = w + q * m;
                double a = tdc_pairwise_dot(x, x, m), d = tdc_pairwise_dot(y, y, m);
                double b = tdc_pairwise_dot(x, y, m), c, s;
                if (b == 0 || !(fabs(b) > DBL_EPSILON * sqrt(a) * sqrt(d)))
                    continue;
                angle_of(a, b, d, &c, &s);
                rotate(x, y, m, c, s);
                rotate(v + p * n, v + q * n, n, c, s);
                turned = true;
            }
        if (!turned)
            return;
    }
}

static void exchange(double *x, double *y, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        double t = x[i];
        x[i] = y[i];
        y[i] = t;
    }
}

/* Rows from `known` on become orthonormal to those before. */
static void complete(double *rows, int64_t known, int64_t count, int64_t width)
{
    int64_t axis = 0;
    for (int64_t r = known; r < count;) {
        double *x = rows + r * width;
        for (int64_t i = 0; i < width; i++)
            x[i] = i == axis % width;
        axis++;
        for (int twice = 0; twice < 2; twice++)
            for (int64_t k = 0; k < r; k++) {
                double along = tdc_pairwise_dot(x, rows + k * width, width);
                for (int64_t i = 0; i < width; i++)
                    x[i] -= along * rows[k * width + i];
            }
        double norm = sqrt(tdc_pairwise_dot(x, x, width));
        if (norm < 0.5 / sqrt((double)width))
            continue; /* this axis lies in what is there */
        for (int64_t i = 0; i < width; i++)
            x[i] /= norm;
        r++;
    }
}

static void transpose(const double *a, int64_t m, int64_t n, double *t)
{
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++)
            t[j * m + i] = a[i * n + j];
}

/* m >= n: w[m, m] has a's columns as its first rows. The results' rows are the vectors. */
static void tall(double *w, double *s, double *v, int64_t m, int64_t n)
{
    memset(v, 0, (size_t)(n * n) * sizeof *v);
    for (int64_t i = 0; i < n; i++)
        v[i * n + i] = 1;
    orthogonalise(w, v, n, m);
    for (int64_t i = 0; i < n; i++)
        s[i] = sqrt(tdc_pairwise_dot(w + i * m, w + i * m, m));
    for (int64_t i = 0; i < n; i++) {
        int64_t best = i;
        for (int64_t j = i + 1; j < n; j++)
            best = s[j] > s[best] ? j : best;
        if (best != i) {
            exchange(&s[i], &s[best], 1);
            exchange(w + i * m, w + best * m, m);
            exchange(v + i * n, v + best * n, n);
        }
    }
    int64_t rank = 0;
    while (rank < n && s[rank] > DBL_EPSILON * s[0] * 1e-3)
        rank++;
    for (int64_t i = 0; i < rank; i++)
        for (int64_t j = 0; j < m; j++)
            w[i * m + j] /= s[i];
    complete(w, rank, m, m);
}

void tdc_singular_values(tdc_evaluation *e, const double *a, int64_t m, int64_t n, double *u,
                         double *s, double *v)
{
    bool wide = n > m;
    int64_t rows = wide ? n : m, columns = wide ? m : n;
    double *w = tdc_take(e, rows * rows, sizeof *w), *x = tdc_take(e, columns * columns, sizeof *x);
    for (int64_t i = 0; i < m * n; i++)
        if (!isfinite(a[i]))
            tdc_refuse(e, TDC_ERR_ARGUMENT, "a matrix that is not finite");
    if (wide)
        memcpy(w, a, (size_t)(m * n) * sizeof *w); /* rows of a are columns of its transpose */
    else
        transpose(a, m, n, w);
    tall(w, s, x, rows, columns);
    transpose(w, rows, rows, wide ? v : u);
    transpose(x, columns, columns, wide ? u : v);
}

void tdc_nearest_orthogonal(tdc_evaluation *e, double *a, int64_t n)
{
    double *u = tdc_take(e, 2 * n * n + n, sizeof *u), *v = u + n * n, *s = v + n * n;
    tdc_singular_values(e, a, n, n, u, s, v);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            a[i * n + j] = tdc_pairwise_dot(u + i * n, v + j * n, n);
}

/* ---- eigenvalues of symmetric matrices --------------------------------------------------------
 */

void tdc_symmetric_values(tdc_evaluation *e, const double *a, int64_t n, bool upper, double *w,
                          double *v)
{
    double *x = tdc_take(e, n * n, sizeof *x), *rows = tdc_take(e, n * n, sizeof *rows);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            bool own = upper ? i <= j : i >= j;
            x[i * n + j] = own ? a[i * n + j] : a[j * n + i];
            rows[i * n + j] = i == j;
            if (!isfinite(x[i * n + j]))
                tdc_refuse(e, TDC_ERR_ARGUMENT, "a matrix that is not finite");
        }
    bool turned = true;
    for (int sweep = 0; turned && sweep < SWEEPS; sweep++) {
        turned = false;
        for (int64_t p = 0; p + 1 < n; p++)
            for (int64_t q = p + 1; q < n; q++) {
                double b = x[p * n + q], c, s;
                double scale = fabs(x[p * n + p]) + fabs(x[q * n + q]);
                if (b == 0 || fabs(b) <= DBL_MIN || fabs(b) < 1e-18 * scale)
                    continue;
                angle_of(x[p * n + p], b, x[q * n + q], &c, &s);
                rotate(x + p * n, x + q * n, n, c, s);
                for (int64_t i = 0; i < n; i++)
                    rotate(x + i * n + p, x + i * n + q, 1, c, s);
                rotate(rows + p * n, rows + q * n, n, c, s);
                turned = true;
            }
    }
    for (int64_t i = 0; i < n; i++)
        w[i] = x[i * n + i];
    for (int64_t i = 0; i < n; i++) {
        int64_t best = i;
        for (int64_t j = i + 1; j < n; j++)
            best = w[j] < w[best] ? j : best;
        if (best != i) {
            exchange(&w[i], &w[best], 1);
            exchange(rows + i * n, rows + best * n, n);
        }
    }
    transpose(rows, n, n, v);
}

/* ---- reflections ----------------------------------------------------------------------------- */

void tdc_reflect(double *a, int64_t m, int64_t n, double *tau)
{
    for (int64_t k = 0; k < m && k < n; k++) {
        double rest = 0, alpha = a[k * n + k];
        for (int64_t i = k + 1; i < m; i++)
            rest += a[i * n + k] * a[i * n + k];
        tau[k] = 0;
        if (rest == 0)
            continue;
        double beta = -copysign(sqrt(alpha * alpha + rest), alpha);
        tau[k] = (beta - alpha) / beta;
        for (int64_t i = k + 1; i < m; i++)
            a[i * n + k] /= alpha - beta;
        a[k * n + k] = beta;
        for (int64_t j = k + 1; j < n; j++) {
            double sum = a[k * n + j];
            for (int64_t i = k + 1; i < m; i++)
                sum += a[i * n + k] * a[i * n + j];
            sum *= tau[k];
            a[k * n + j] -= sum;
            for (int64_t i = k + 1; i < m; i++)
                a[i * n + j] -= sum * a[i * n + k];
        }
    }
}

void tdc_reflected(const double *packed, int64_t m, int64_t n, const double *tau, int64_t columns,
                   double *q)
{
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < columns; j++)
            q[i * columns + j] = i == j;
    for (int64_t k = (m < n ? m : n) - 1; k >= 0; k--)
        for (int64_t j = 0; j < columns; j++) {
            double sum = q[k * columns + j];
            for (int64_t i = k + 1; i < m; i++)
                sum += packed[i * n + k] * q[i * columns + j];
            sum *= tau[k];
            q[k * columns + j] -= sum;
            for (int64_t i = k + 1; i < m; i++)
                q[i * columns + j] -= sum * packed[i * n + k];
        }
}

/* ---- triangles ------------------------------------------------------------------------------- */

void tdc_eliminate(double *a, int64_t m, int64_t n, int64_t *pivots)
{
    for (int64_t k = 0; k < m && k < n; k++) {
        int64_t best = k;
        for (int64_t i = k + 1; i < m; i++)
            best = fabs(a[i * n + k]) > fabs(a[best * n + k]) ? i : best;
        pivots[k] = best;
        if (best != k)
            exchange(a + k * n, a + best * n, n);
        for (int64_t i = k + 1; i < m && a[k * n + k] != 0; i++) {
            double factor = a[i * n + k] /= a[k * n + k];
            for (int64_t j = k + 1; j < n; j++)
                a[i * n + j] -= factor * a[k * n + j];
        }
    }
}

int64_t tdc_cholesky(const double *a, int64_t n, double *l)
{
    memset(l, 0, (size_t)(n * n) * sizeof *l);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++) {
            double left = a[i * n + j] - tdc_pairwise_dot(l + i * n, l + j * n, j);
            if (i == j && !(left > 0))
                return i + 1;
            l[i * n + j] = i == j ? sqrt(left) : left / l[j * n + j];
        }
    return 0;
}
