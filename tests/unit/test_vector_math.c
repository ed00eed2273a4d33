/* The error of SLEEF's functions as this build calls them, in ULP, against the C library's long
 * double ones; `test_vector_math --table` prints what docs/reference.md shows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "reference/primitives/special.h"
#include "reference/primitives/vector_math.h"

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
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_function_keeps_its_bound),
        cmocka_unit_test(a_value_does_not_depend_on_its_place),
        cmocka_unit_test(own_functions_are_accurate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
