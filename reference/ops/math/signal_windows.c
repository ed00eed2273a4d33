/* Windows of signals. */
#include <math.h>
#include <string.h>

#include "reference/arguments.h"
#include "reference/operators.h"
#include "reference/primitives/elementwise/special.h"

#define PI 3.14159265358979323846

enum window {
    HANN,
    HAMMING,
    BLACKMAN,
    BARTLETT,
    KAISER
};

/* At x in [0, 1] of the window. */
static double weight(enum window kind, double x, double a, double b)
{
    switch (kind) {
    case HANN:
        return 0.5 - 0.5 * cos(2 * PI * x);
    case HAMMING:
        return a - b * cos(2 * PI * x);
    case BLACKMAN:
        return 0.42 - 0.5 * cos(2 * PI * x) + 0.08 * cos(4 * PI * x);
    case BARTLETT:
        return 1 - fabs(2 * x - 1);
    default:
        return tdc_bessel_i0(a * sqrt(fmax(0, 1 - (2 * x - 1) * (2 * x - 1)))) / tdc_bessel_i0(a);
    }
}

/* A periodic window is the first part of one that is longer by one. */
static void window(tdc_evaluation *e)
{
    enum window kind = (enum window)e->definition->variant;
    int64_t n = tdc_int_argument(e, "window_length");
    if (n < 0)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "window_length is negative");
    double a = kind == KAISER ? tdc_real_argument(e, "beta") : 0, b = 0;
    if (kind == HAMMING) {
        a = tdc_real_argument(e, "alpha");
        b = tdc_real_argument(e, "beta");
    }
    tdc_array *y = tdc_new(e, TDC_F64, 1, &n);
    double last = (double)(tdc_bool_argument(e, "periodic") ? n : n - 1);
    for (int64_t i = 0; i < n; i++)
        y->real[i] = n == 1 ? 1 : weight(kind, (double)i / last, a, b);
    tdc_give(e, y);
}

#define OTHERS (TDC_IN_TORCH | TDC_IN_MINT)
#define PLAIN  "window_length, periodic=True, *, dtype=None"
static const struct tdc_operator rows[] = {
    {"hann_window", OTHERS, PLAIN, window, HANN, TDC_NO_GRADIENT},
    {"hamming_window", OTHERS, "window_length, periodic=True, alpha=0.54, beta=0.46, *, dtype=None",
     window, HAMMING, TDC_NO_GRADIENT},
    {"blackman_window", OTHERS, PLAIN, window, BLACKMAN, TDC_NO_GRADIENT},
    {"bartlett_window", OTHERS, PLAIN, window, BARTLETT, TDC_NO_GRADIENT},
    {"kaiser_window", OTHERS, "window_length, periodic=True, beta=12.0, *, dtype=None", window,
     KAISER, TDC_NO_GRADIENT},
};
const struct tdc_operator_family tdc_window_family = TDC_FAMILY("windows of signals", rows);
