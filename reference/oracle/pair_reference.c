#include "reference/oracle/pair_reference.h"

#include <math.h>
#include <string.h>

typedef tdc_wide wide;

__extension__ typedef __int128 integer128;

struct number {
    double re, im;
};

struct wide_sums {
    wide nb, nn, bb, dd, n, b, abs;
};

struct reference {
    tdc_dtype n_dtype, b_dtype;
    enum tdc_relative_rule rule;
    struct tdc_pair_sums *out;
    struct wide_sums sums, magnitudes;
};

static wide magnitude(wide value)
{
    return value < 0 ? -value : value;
}

static void add(wide *sum, wide *magnitudes, wide term)
{
    *sum += term;
    *magnitudes += magnitude(term);
}

/* The f16, f32 or f64 arithmetic of a side under TDC_RELATIVE_NATIVE; under TDC_RELATIVE_PROMOTED
 * no narrower than f32. */
static int native_bits(const struct reference *r, tdc_dtype dtype)
{
    bool promoted = r->rule == TDC_RELATIVE_PROMOTED;
    if (dtype == TDC_F16)
        return promoted ? 32 : 16;
    if (promoted && (dtype == TDC_F8_E4M3 || dtype == TDC_F8_E5M2))
        return 32;
    return dtype == TDC_F32 || dtype == TDC_BF16 ? 32 : 64;
}

static double round_to_bits(wide value, int bits)
{
    if (bits == 16)
        /* 53 bits on the way do no harm: 53 > 2 * 11 + 1. */
        return tdc_reference_round_to_f16((double)value);
    return bits == 32 ? (double)(float)value : (double)value;
}

static double native_error(const struct reference *r, double n, double b, int *bits)
{
    int n_bits = native_bits(r, r->n_dtype), b_bits = native_bits(r, r->b_dtype);
    double epsilon = 0x1p-52;
    *bits = n_bits > b_bits ? n_bits : b_bits;
    if (r->rule == TDC_RELATIVE_PROMOTED) {
        n_bits = b_bits = *bits;
        epsilon = *bits == 32 ? 0x1p-23 : 0x1p-52;
    }
    if (b == 0) {
        n = round_to_bits((wide)n + epsilon, n_bits);
        b = round_to_bits((wide)b + epsilon, b_bits);
    }
    double difference = round_to_bits((wide)n - b, *bits);
    if (b == 0)
        return difference == 0 ? (double)NAN : (double)INFINITY;
    if (isinf(difference))
        return INFINITY;
    return fabs(round_to_bits((wide)difference / b, *bits));
}

static bool is_integer(tdc_dtype dtype)
{
    return dtype >= TDC_BOOL && dtype <= TDC_U64;
}

static integer128 integer_value(tdc_dtype dtype, const void *element)
{
    if (dtype == TDC_U64) {
        uint64_t value;
        memcpy(&value, element, sizeof value);
        return value;
    }
    if (dtype == TDC_I64) {
        int64_t value;
        memcpy(&value, element, sizeof value);
        return value;
    }
    double imaginary;
    return (integer128)tdc_reference_value(dtype, element, &imaginary);
}

/* By the definition in kernels/pair.h. */
static double modulus(double re, double im)
{
    re = fabs(re);
    im = fabs(im);
    double larger = fmax(re, im), result;
    if (larger > ldexp(1, 500)) {
        re = ldexp(re, -600);
        im = ldexp(im, -600);
        result = ldexp(sqrt(re * re + im * im), 600);
        return isinf(result) && !isinf(larger) ? 0x1.fffffffffffffp1023 : result;
    }
    if (larger < ldexp(1, -400)) {
        re = ldexp(re, 600);
        im = ldexp(im, 600);
        return ldexp(sqrt(re * re + im * im), -600);
    }
    return sqrt(re * re + im * im);
}

/* |n-b| in float64 under TDC_RELATIVE_F64. */
static double exact_distance(const struct reference *r, const void *n_element,
                             const void *b_element, struct number n, struct number b)
{
    if (is_integer(r->n_dtype) && is_integer(r->b_dtype)) {
        integer128 difference =
            integer_value(r->n_dtype, n_element) - integer_value(r->b_dtype, b_element);
        return fabs((double)difference);
    }
    if (r->n_dtype >= TDC_C64 || r->b_dtype >= TDC_C64)
        return modulus(n.re - b.re, n.im - b.im);
    return fabs(n.re - b.re);
}

static double exact_error(double distance, double b_modulus)
{
    if (distance == 0)
        return 0;
    return b_modulus == 0 ? 1 : distance / b_modulus;
}

static void count_not_finite(struct tdc_pair_sums *out, struct number n, struct number b)
{
    bool n_nan = isnan(n.re) || isnan(n.im), b_nan = isnan(b.re) || isnan(b.im);
    bool n_inf = !n_nan && (isinf(n.re) || isinf(n.im));
    bool b_inf = !b_nan && (isinf(b.re) || isinf(b.im));
    if (n_nan)
        out->n_nan++;
    if (b_nan)
        out->b_nan++;
    if (n_inf)
        out->n_inf++;
    if (b_inf)
        out->b_inf++;
    if (n_nan != b_nan)
        out->nan_apart++;
    if (n_inf != b_inf)
        out->inf_apart++;
    if (n_nan && b_nan)
        out->nonfinite_equal++;
    if (n_inf && b_inf && n.re == b.re && n.im == b.im)
        out->nonfinite_equal++;
}

static void enter_sums(struct reference *r, struct number n, struct number b, double distance)
{
    struct wide_sums *s = &r->sums, *m = &r->magnitudes;
    wide real_part = (wide)n.re * b.re, imaginary_part = (wide)n.im * b.im;
    s->nb += real_part + imaginary_part;
    m->nb += magnitude(real_part) + magnitude(imaginary_part);
    add(&s->nn, &m->nn, (wide)n.re * n.re + (wide)n.im * n.im);
    add(&s->bb, &m->bb, (wide)b.re * b.re + (wide)b.im * b.im);
    add(&s->dd, &m->dd, (wide)distance * distance);
    add(&s->n, &m->n, n.re);
    add(&s->b, &m->b, b.re);
    add(&s->abs, &m->abs, distance);
    struct tdc_pair_sums *out = r->out;
    out->finite++;
    out->n_min = fmin(out->n_min, n.re);
    out->n_max = fmax(out->n_max, n.re);
    out->b_min = fmin(out->b_min, b.re);
    out->b_max = fmax(out->b_max, b.re);
}

static void enter_errors(struct tdc_pair_sums *out, size_t at, double distance, double e,
                         int limits, int bits)
{
    if (distance > out->abs_max) {
        out->abs_max = distance;
        out->abs_at = at;
    }
    if (isnan(e)) {
        out->rel_nan++;
        return;
    }
    if (e > out->rel_max) {
        out->rel_max = e;
        out->rel_at = at;
    }
    for (int k = 0; k < limits; k++)
        if (e < round_to_bits(tdc_pair_limits[k], bits))
            out->below[k]++;
}

/* Sides of which float64 would lose digits or range. */
static bool is_wide(const struct reference *r)
{
    if (r->rule != TDC_RELATIVE_F64 || r->n_dtype >= TDC_C64 || r->b_dtype >= TDC_C64)
        return false;
    bool n_long = r->n_dtype == TDC_I64 || r->n_dtype == TDC_U64;
    bool b_long = r->b_dtype == TDC_I64 || r->b_dtype == TDC_U64;
    return r->n_dtype == TDC_F80 || r->b_dtype == TDC_F80 || (n_long && !is_integer(r->b_dtype)) ||
           (b_long && !is_integer(r->n_dtype));
}

/* float64 with neither overflow nor underflow of what is a number. */
static double held(wide value)
{
    const double largest = 0x1.fffffffffffffp1023;
    wide size = magnitude(value);
    double result = (double)size;
    if (size > largest && size - size == 0)
        result = largest;
    else if (size != 0 && result == 0)
        result = 0x1p-1074;
    return value < 0 ? -result : result;
}

static bool float64_holds(wide value)
{
    return (wide)(double)value == value;
}

static void enter_wide_pair(struct reference *r, const void *n_element, const void *b_element,
                            size_t at)
{
    wide x = tdc_reference_wide_value(r->n_dtype, n_element);
    wide y = tdc_reference_wide_value(r->b_dtype, b_element);
    if (x - x != 0 || y - y != 0) {
        count_not_finite(r->out, (struct number){x - x == 0 ? 0 : (double)x, 0},
                         (struct number){y - y == 0 ? 0 : (double)y, 0});
        return;
    }
    wide difference = magnitude(x - y), size = magnitude(y);
    double distance = held(difference);
    double narrow = fabs((double)x - (double)y);
    bool plain = float64_holds(x) && float64_holds(y) && isfinite(narrow);
    if (plain)
        distance = narrow;
    else if (difference - difference != 0)
        distance = 0x1.fffffffffffffp1023;
    double e = plain             ? exact_error(distance, (double)size)
               : difference == 0 ? 0
               : size == 0       ? 1
                                 : held(difference / size);
    enter_sums(r, (struct number){held(x), 0}, (struct number){held(y), 0}, distance);
    enter_errors(r->out, at, distance, e, TDC_PAIR_LIMITS, 64);
}

static void enter_pair(struct reference *r, const void *n_element, const void *b_element, size_t at)
{
    bool native = r->rule != TDC_RELATIVE_F64;
    struct number n, b;
    n.re = tdc_reference_value(r->n_dtype, n_element, &n.im);
    b.re = tdc_reference_value(r->b_dtype, b_element, &b.im);
    if (native)
        n.im = b.im = 0;
    bool finite = isfinite(n.re) && isfinite(n.im) && isfinite(b.re) && isfinite(b.im);
    int bits = 64;
    if (!finite) {
        count_not_finite(r->out, n, b);
        if (native)
            enter_errors(r->out, at, 0, native_error(r, 0, 0, &bits), 2, bits);
        return;
    }
    if (native) {
        double distance = fabs(n.re - b.re);
        double e = native_error(r, n.re, b.re, &bits);
        enter_sums(r, n, b, distance);
        enter_errors(r->out, at, distance, e, 2, bits);
    } else {
        double distance = exact_distance(r, n_element, b_element, n, b);
        bool complex = r->n_dtype >= TDC_C64 || r->b_dtype >= TDC_C64;
        double b_modulus = complex ? modulus(b.re, b.im) : fabs(b.re);
        enter_sums(r, n, b, distance);
        enter_errors(r->out, at, distance, exact_error(distance, b_modulus), TDC_PAIR_LIMITS, 64);
    }
}

void tdc_pair_reference(tdc_dtype n_dtype, tdc_dtype b_dtype, enum tdc_relative_rule rule,
                        const void *n, const void *b, size_t count, struct tdc_pair_sums *sums,
                        struct tdc_pair_magnitudes *magnitudes)
{
    struct reference r = {.n_dtype = n_dtype, .b_dtype = b_dtype, .rule = rule, .out = sums};
    *sums = (struct tdc_pair_sums){
        .count = count,
        .n_min = INFINITY,
        .n_max = -INFINITY,
        .b_min = INFINITY,
        .b_max = -INFINITY,
        .abs_max = -1,
        .rel_max = -1,
    };
    bool wide_sides = is_wide(&r);
    for (size_t i = 0; i < count; i++)
        (wide_sides ? enter_wide_pair
                    : enter_pair)(&r, (const char *)n + i * tdc_dtype_size(n_dtype),
                                  (const char *)b + i * tdc_dtype_size(b_dtype), i);
    sums->nb = (double)r.sums.nb;
    sums->nn = (double)r.sums.nn;
    sums->bb = (double)r.sums.bb;
    sums->dd = (double)r.sums.dd;
    sums->n = (double)r.sums.n;
    sums->b = (double)r.sums.b;
    sums->abs = (double)r.sums.abs;
    *magnitudes = (struct tdc_pair_magnitudes){
        .nb = (double)r.magnitudes.nb,
        .nn = (double)r.magnitudes.nn,
        .bb = (double)r.magnitudes.bb,
        .dd = (double)r.magnitudes.dd,
        .n = (double)r.magnitudes.n,
        .b = (double)r.magnitudes.b,
        .abs = (double)r.magnitudes.abs,
    };
}
