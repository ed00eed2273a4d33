/* The error of SLEEF's functions as this build calls them, in ULP, against the C library's long
 * double ones; `test_vector_math --table` prints what docs/reference.md shows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "kernels/pair.h"
#include "reference/primitives/elementwise/special.h"
#include "reference/primitives/elementwise/unary.h"
#include "reference/primitives/matrix/gemm.h"
#include "reference/primitives/vector/vector_math.h"

#define POINTS 20001
#define PI_L   3.14159265358979323846264338327950288L

static long double sinpi_l(long double x)
{
    return sinl(PI_L * fmodl(x, 2));
}

static long double cospi_l(long double x)
{
    return cosl(PI_L * fmodl(x, 2));
}

static const struct function {
    const char *name;
    void (*vector)(double *y, const double *x, size_t n);
    long double (*exact)(long double x);
    double low, high;
    double bound; /* ULP */
} functions[] = {
    {"exp", tdc_vexp, expl, -700, 700, 1},
    {"expm1", tdc_vexpm1, expm1l, -30, 700, 1},
    {"exp2", tdc_vexp2, exp2l, -1000, 1000, 1},
    {"log", tdc_vlog, logl, 1e-6, 1e6, 1},
    {"log1p", tdc_vlog1p, log1pl, -0.999, 1e6, 1},
    {"log2", tdc_vlog2, log2l, 1e-6, 1e6, 1},
    {"log10", tdc_vlog10, log10l, 1e-6, 1e6, 1},
    {"sin", tdc_vsin, sinl, -1000, 1000, 1},
    {"cos", tdc_vcos, cosl, -1000, 1000, 1},
    {"tan", tdc_vtan, tanl, -1000, 1000, 1},
    {"asin", tdc_vasin, asinl, -1, 1, 1},
    {"acos", tdc_vacos, acosl, -1, 1, 1},
    {"atan", tdc_vatan, atanl, -1e4, 1e4, 1},
    {"sinh", tdc_vsinh, sinhl, -700, 700, 1},
    {"cosh", tdc_vcosh, coshl, -700, 700, 1},
    {"tanh", tdc_vtanh, tanhl, -25, 25, 1.001},
    {"asinh", tdc_vasinh, asinhl, -1e6, 1e6, 1},
    {"acosh", tdc_vacosh, acoshl, 1, 1e6, 1},
    {"atanh", tdc_vatanh, atanhl, -0.9999, 0.9999, 1},
    {"erf", tdc_verf, erfl, -6, 6, 1},
    {"erfc", tdc_verfc, erfcl, -6, 26, 1.5},
    {"sinpi", tdc_vsinpi, sinpi_l, -1000, 1000, 0.52},
    {"cospi", tdc_vcospi, cospi_l, -1000, 1000, 0.52},
    {"lgamma", tdc_vlgamma, lgammal, 2.5, 1e5, 1},
};
#define FUNCTIONS (sizeof functions / sizeof *functions)

/* Functions of two operands, on a grid of GRID x GRID points. */
#define GRID 201
static const struct function_2 {
    const char *name;
    void (*vector)(double *y, const double *a, const double *b, size_t n);
    long double (*exact)(long double a, long double b);
    double low[2], high[2];
    double bound;
} functions_2[] = {
    {"pow", tdc_vpow, powl, {0.001, -60}, {100, 60}, 1},
    {"pow", tdc_vpow, powl, {0.9, -3000}, {1.1, 3000}, 1},
    {"atan2", tdc_vatan2, atan2l, {-100, -100}, {100, 100}, 1},
    {"atan2", tdc_vatan2, atan2l, {-1e-3, -1e6}, {1e-3, 1e6}, 1},
    {"hypot", tdc_vhypot, hypotl, {-1000, -1000}, {1000, 1000}, 0.505},
    {"hypot", tdc_vhypot, hypotl, {1e-200, 1e150}, {1e-190, 1e160}, 0.505},
};
#define FUNCTIONS_2 (sizeof functions_2 / sizeof *functions_2)

/* Functions of the reference that are made of SLEEF's. */
static long double logistic_l(long double x)
{
    return 1 / (1 + expl(-x));
}
static long double silu_l(long double x)
{
    return x / (1 + expl(-x));
}
static long double gelu_l(long double x)
{
    return 0.5L * x * erfcl(-x * 0.707106781186547524400844362104849L);
}
static long double gelu_tanh_l(long double x)
{
    long double t = 0.797884560802865355879892119868764L * (x + 0.044715L * x * x * x);
    return x / (1 + expl(-2 * t));
}
static long double softplus_l(long double x)
{
    return log1pl(expl(x));
}
static long double logsigmoid_l(long double x)
{
    return -log1pl(expl(-x));
}
static long double mish_l(long double x)
{
    return x * tanhl(log1pl(expl(x)));
}
static long double elu_l(long double x)
{
    return x > 0 ? x : expm1l(x);
}
static long double sinc_l(long double x)
{
    return x == 0 ? 1 : sinpi_l(x) / (PI_L * x);
}
static long double logit_l(long double x)
{
    return logl(x / (1 - x));
}
static const struct composed {
    const char *name;
    enum tdc_unary function;
    double parameters[3];
    long double (*exact)(long double x);
    double low, high;
    double bound; /* ULP; what was measured, rounded up */
} composed[] = {
    {"sigmoid", TDC_SIGMOID, {0}, logistic_l, -700, 40, 2.5},
    {"silu", TDC_SILU, {0}, silu_l, -700, 700, 3},
    {"gelu", TDC_GELU, {0}, gelu_l, -5, 30, 60},
    {"gelu, tanh", TDC_GELU_TANH, {0}, gelu_tanh_l, -1, 30, 20},
    {"softplus", TDC_SOFTPLUS, {1, 20, 0}, softplus_l, -700, 20, 3},
    {"logsigmoid", TDC_LOGSIGMOID, {0}, logsigmoid_l, -700, 700, 3},
    {"mish", TDC_MISH, {0}, mish_l, -700, 30, 5},
    {"elu", TDC_ELU, {1, 1, 1}, elu_l, -40, 40, 1},
    {"sinc", TDC_SINC, {0}, sinc_l, -50.03, 50.03, 2.5},
    {"logit", TDC_LOGIT, {0}, logit_l, 1e-6, 0.4, 4},
};
#define COMPOSED (sizeof composed / sizeof *composed)

static double ulp_of(long double exact)
{
    double d = fabs((double)exact);
    if (d < DBL_MIN)
        return 0x1p-1074;
    return ldexp(1.0, ilogb(d) - 52);
}

static double worst_error(const struct function *f)
{
    static double x[POINTS], y[POINTS];
    double worst = 0;
    for (int i = 0; i < POINTS; i++)
        x[i] = f->low + (f->high - f->low) * ((double)i / (POINTS - 1));
    f->vector(y, x, POINTS);
    for (int i = 0; i < POINTS; i++) {
        long double exact = f->exact((long double)x[i]);
        if (!isfinite((double)exact) || fabs((double)exact) < DBL_MIN)
            continue;
        if (f->exact == sinpi_l || f->exact == cospi_l) /* pi * x itself is rounded near zeros */
            if (fabsl(exact) < 1e-3L)
                continue;
        double error = (double)(fabsl((long double)y[i] - exact) / ulp_of(exact));
        worst = error > worst ? error : worst;
    }
    return worst;
}

static double worst_error_2(const struct function_2 *f)
{
    static double a[GRID * GRID], b[GRID * GRID], y[GRID * GRID];
    double worst = 0;
    for (int i = 0; i < GRID * GRID; i++) {
        a[i] = f->low[0] + (f->high[0] - f->low[0]) * ((double)(i / GRID) / (GRID - 1));
        b[i] = f->low[1] + (f->high[1] - f->low[1]) * ((double)(i % GRID) / (GRID - 1));
    }
    f->vector(y, a, b, GRID * GRID);
    for (int i = 0; i < GRID * GRID; i++) {
        long double exact = f->exact((long double)a[i], (long double)b[i]);
        if (!isfinite((double)exact) || fabs((double)exact) < DBL_MIN)
            continue;
        double error = (double)(fabsl((long double)y[i] - exact) / ulp_of(exact));
        worst = error > worst ? error : worst;
    }
    return worst;
}

static double worst_composed(const struct composed *f)
{
    double x[TDC_BLOCK], y[TDC_BLOCK], worst = 0;
    for (int start = 0; start < POINTS; start += TDC_BLOCK) {
        int n = POINTS - start < TDC_BLOCK ? POINTS - start : TDC_BLOCK;
        for (int i = 0; i < n; i++)
            x[i] = f->low + (f->high - f->low) * ((double)(start + i) / (POINTS - 1));
        tdc_unary_functions[f->function].apply(y, x, (size_t)n, f->parameters);
        for (int i = 0; i < n; i++) {
            long double exact = f->exact((long double)x[i]);
            if (!isfinite((double)exact) || fabs((double)exact) < DBL_MIN ||
                (f->exact == sinc_l && fabsl(exact) < 1e-4L)) /* pi * x is rounded near zeros */
                continue;
            double error = (double)(fabsl((long double)y[i] - exact) / ulp_of(exact));
            worst = error > worst ? error : worst;
        }
    }
    return worst;
}

static void functions_of_two_keep_their_bound(void **state)
{
    (void)state;
    for (size_t i = 0; i < FUNCTIONS_2; i++) {
        double worst = worst_error_2(&functions_2[i]);
        if (worst > functions_2[i].bound)
            fail_msg("%s: %.3f ULP, allowed %.3f", functions_2[i].name, worst,
                     functions_2[i].bound);
    }
}

static void composed_functions_keep_their_bound(void **state)
{
    (void)state;
    for (size_t i = 0; i < COMPOSED; i++) {
        double worst = worst_composed(&composed[i]);
        if (worst > composed[i].bound)
            fail_msg("%s: %.3f ULP, allowed %.2f", composed[i].name, worst, composed[i].bound);
    }
}

static void every_function_keeps_its_bound(void **state)
{
    (void)state;
    for (size_t i = 0; i < FUNCTIONS; i++) {
        double worst = worst_error(&functions[i]);
        if (worst > functions[i].bound)
            fail_msg("%s: %.3f ULP, allowed %.2f", functions[i].name, worst, functions[i].bound);
    }
}

static void a_value_does_not_depend_on_its_place(void **state)
{
    (void)state;
    double x[11], whole[11], alone;
    for (int i = 0; i < 11; i++)
        x[i] = 0.1 * i + 0.05;
    tdc_vexp(whole, x, 11);
    for (int i = 0; i < 11; i++) {
        tdc_vexp(&alone, &x[i], 1);
        assert_memory_equal(&alone, &whole[i], sizeof alone);
    }
}

/* Widths, neighbours and instruction sets must not show. */
static void every_variant_gives_the_same_bits(void **state)
{
    (void)state;
    static double x[POINTS], first[POINTS], y[POINTS];
    for (size_t f = 0; f < sizeof functions / sizeof *functions; f++) {
        const struct function *function = &functions[f];
        for (size_t i = 0; i < POINTS; i++)
            x[i] = function->low + (function->high - function->low) *
                                       ((double)i * 0.618 - floor((double)i * 0.618));
        for (int v = 0; v < TDC_CPU_VARIANTS; v++) {
            if (!tdc_cpu_variant_usable((enum tdc_cpu_variant)v))
                continue;
            setenv("TDC_CPU", tdc_cpu_variant_name((enum tdc_cpu_variant)v), 1);
            tdc_cpu_variant_look_again();
            function->vector(v == 0 ? first : y, x, POINTS);
            if (v > 0)
                assert_memory_equal(y, first, sizeof y);
        }
        unsetenv("TDC_CPU");
        tdc_cpu_variant_look_again();
    }
}

static void matrix_products_give_the_same_bits(void **state)
{
    (void)state;
    enum {
        M = 37,
        N = 53,
        K = 300
    };
    static double a[M * K], b[K * N], first[M * N], y[M * N];
    for (size_t i = 0; i < M * K; i++)
        a[i] = sin((double)i);
    for (size_t i = 0; i < K * N; i++)
        b[i] = cos(3.7 * (double)i);
    for (int v = 0; v < TDC_CPU_VARIANTS; v++) {
        if (!tdc_cpu_variant_usable((enum tdc_cpu_variant)v))
            continue;
        setenv("TDC_CPU", tdc_cpu_variant_name((enum tdc_cpu_variant)v), 1);
        tdc_cpu_variant_look_again();
        tdc_gemm_batch(1, M, N, K, a, false, b, false, v == 0 ? first : y);
        if (v > 0)
            assert_memory_equal(y, first, sizeof y);
    }
    unsetenv("TDC_CPU");
    tdc_cpu_variant_look_again();
}

static void own_functions_are_accurate(void **state)
{
    (void)state;
    for (double v = -5.8; v < 5.8; v += 0.037) {
        double x = (double)erfl((long double)v);
        /* what the rounding of x costs: dy = dx * sqrt(pi) / 2 * exp(y * y) */
        double slack = ulp_of((long double)x) * 0.9 * exp(v * v) + 8 * ulp_of((long double)v);
        assert_true(fabs(tdc_erfinv(x) - v) <= slack);
    }
    assert_true(isinf(tdc_erfinv(1)) && isnan(tdc_erfinv(1.5)));
    assert_true(fabs(tdc_digamma(1) + 0.57721566490153286061) < 1e-15);
    assert_true(fabs(tdc_digamma(-0.5) - 0.03648997397857652056) < 1e-14);
    assert_true(fabs(tdc_trigamma(1) - 1.64493406684822643647) < 1e-14);
    assert_true(fabs(tdc_bessel_i0(1) - 1.26606587775200833560) < 1e-15);
    assert_true(fabs(tdc_bessel_i1(1) - 0.56515910399248502721) < 1e-15);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--table") == 0) {
        for (size_t i = 0; i < FUNCTIONS; i++)
            printf("| %s | %g .. %g | %.3f |\n", functions[i].name, functions[i].low,
                   functions[i].high, worst_error(&functions[i]));
        for (size_t i = 0; i < FUNCTIONS_2; i++) {
            const struct function_2 *f = &functions_2[i];
            printf("| %s | %g .. %g, %g .. %g | %.3f |\n", f->name, f->low[0], f->high[0],
                   f->low[1], f->high[1], worst_error_2(f));
        }
        for (size_t i = 0; i < COMPOSED; i++)
            printf("| %s | %g .. %g | %.3f |\n", composed[i].name, composed[i].low,
                   composed[i].high, worst_composed(&composed[i]));
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_function_keeps_its_bound),
        cmocka_unit_test(functions_of_two_keep_their_bound),
        cmocka_unit_test(composed_functions_keep_their_bound),
        cmocka_unit_test(a_value_does_not_depend_on_its_place),
        cmocka_unit_test(every_variant_gives_the_same_bits),
        cmocka_unit_test(matrix_products_give_the_same_bits),
        cmocka_unit_test(own_functions_are_accurate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
