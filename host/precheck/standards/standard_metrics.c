#include "host/precheck/standards/standard_metrics.h"

#include <float.h>
#include <math.h>

/* What the standards say of a device dtype. */
struct limits {
    double small;           /* |bench| up to this counts as small */
    double small_absolute;  /* tolerance of small values, absolute threshold */
    double small_benchmark; /* and benchmark */
    double relative;        /* tolerance of the others */
    double largest;         /* finite value */
    int lowest_exponent, mantissa;
    double ulp_threshold;
};

static const struct limits *limits_of(tdc_dtype dtype)
{
    static const struct limits half = {0x1p-10, 0x1p-16, 1e-16, 0x1p-10, 65504, -14, 10, 1};
    static const struct limits brain = {0x1p-10, 1e-16, 1e-16, 0x1p-8, 0x1.fep127, -126, 7, 1};
    static const struct limits single = {0x1p-20, 0x1p-30, 0x1p-30, 0x1p-20, FLT_MAX, -126, 23, 32};
    return dtype == TDC_F16 ? &half : dtype == TDC_BF16 ? &brain : &single;
}

void tdc_set_metric(struct tdc_standard_row *row, enum tdc_standard_metric metric, double value,
                    enum tdc_metric_form form)
{
    row->form[metric] = form;
    row->values[metric] = value;
}

enum tdc_metric_form tdc_form_of(const struct tdc_sides *sides)
{
    return sides->arithmetic == TDC_F64   ? TDC_FORM_FIXED
           : sides->arithmetic == TDC_F32 ? TDC_FORM_SINGLE
                                          : TDC_FORM_HALF;
}

double tdc_absolute_error(const struct tdc_sides *sides, uint64_t i)
{
    return tdc_reference_round(fabs(sides->device[i] - sides->bench[i]), sides->arithmetic);
}

double tdc_relative_error(const struct tdc_sides *sides, uint64_t i)
{
    double magnitude =
        tdc_reference_round(fabs(sides->bench[i]) + sides->epsilon, sides->bench_type);
    return tdc_reference_round(tdc_absolute_error(sides, i) / magnitude, sides->arithmetic);
}

double tdc_share_below(const struct tdc_sides *sides, double limit)
{
    uint64_t below = 0;
    for (uint64_t i = 0; i < sides->count; i++)
        below += tdc_relative_error(sides, i) < limit;
    return (double)below / (double)sides->count;
}

static bool both_finite(const struct tdc_sides *sides, uint64_t i)
{
    return isfinite(sides->cast[i]) && isfinite(sides->device[i]);
}

/* A share of nothing is the number 0, every other one a float. */
static void set_share(struct tdc_standard_row *row, enum tdc_standard_metric metric, uint64_t part,
                      uint64_t whole)
{
    tdc_set_metric(row, metric, whole != 0 ? (double)part / (double)whole : 0,
                   whole != 0 ? TDC_FORM_FIXED : TDC_FORM_ZERO);
}

static void by_error_rate(const struct tdc_sides *sides, struct tdc_standard_row *row)
{
    uint64_t different = 0;
    for (uint64_t i = 0; i < sides->count; i++)
        different += !(sides->bench[i] == sides->device[i]);
    set_share(row, TDC_METRIC_ERROR_RATE, different, sides->count);
}

static double clipped(double value, double largest)
{
    return value > largest ? largest : value < -largest ? -largest : value;
}

static bool odd_agrees(const struct tdc_sides *sides, uint64_t i, const struct limits *limits)
{
    if (isnan(sides->cast[i]) && isnan(sides->device[i]))
        return true;
    double apart =
        fabs(clipped(sides->device[i], limits->largest) - clipped(sides->cast[i], limits->largest));
    return apart / (fabs(sides->bench[i]) + sides->epsilon) <= limits->relative;
}

static void by_absolute(const struct tdc_sides *sides, struct tdc_standard_row *row)
{
    const struct limits *limits = limits_of(sides->dtype);
    uint64_t odd = 0, odd_wrong = 0, small = 0, small_wrong = 0, normal = 0, normal_wrong = 0;
    for (uint64_t i = 0; i < sides->count; i++) {
        if (!both_finite(sides, i)) {
            odd++;
            odd_wrong += !odd_agrees(sides, i, limits);
        } else if (fabs(sides->bench[i]) <= limits->small) {
            small++;
            small_wrong += tdc_absolute_error(sides, i) > limits->small_absolute;
        } else {
            normal++;
            normal_wrong += tdc_relative_error(sides, i) > limits->relative;
        }
    }
    set_share(row, TDC_METRIC_INF_NAN, odd_wrong, odd);
    set_share(row, TDC_METRIC_RELATIVE, normal_wrong, normal);
    set_share(row, TDC_METRIC_ABSOLUTE, small_wrong, small);
}

/* Units of the device dtype at bench's magnitude, with the exponent as the logarithm gives it. */
static double units(const struct tdc_sides *sides, uint64_t i, const struct limits *limits)
{
    double bench = fabs(sides->bench[i]);
    double exponent = bench == 0                     ? 0
                      : sides->bench_type == TDC_F64 ? floor(log2(bench))
                                                     : (double)floorf(log2f((float)bench));
    if (exponent < limits->lowest_exponent)
        exponent = limits->lowest_exponent;
    tdc_dtype type = sides->dtype == TDC_F32 ? TDC_F64 : TDC_F32;
    double difference = tdc_reference_round(sides->device[i] - sides->bench[i], type);
    return fabs(tdc_reference_round(difference * exp2(limits->mantissa - exponent), type));
}

static void by_ulp(const struct tdc_sides *sides, struct tdc_standard_row *row)
{
    const struct limits *limits = limits_of(sides->dtype);
    double largest = 0, sum = 0;
    uint64_t above = 0;
    for (uint64_t i = 0; i < sides->count; i++) {
        double found = units(sides, i, limits);
        largest = found > largest || isnan(found) ? found : largest;
        sum += found;
        above += found > limits->ulp_threshold;
    }
    bool wide = sides->dtype == TDC_F32;
    enum tdc_metric_form form = wide ? TDC_FORM_FIXED : TDC_FORM_SINGLE;
    double mean = sum / (double)sides->count;
    tdc_set_metric(row, TDC_METRIC_MAX_ULP, isnan(sum) ? sum : largest, form);
    tdc_set_metric(row, TDC_METRIC_MEAN_ULP, wide ? mean : (double)(float)mean, form);
    set_share(row, TDC_METRIC_ULP_SHARE, above, sides->count);
}

static void by_balance(const struct tdc_sides *sides, struct tdc_standard_row *row)
{
    int64_t balance = 0;
    for (uint64_t i = 0; i < sides->count; i++)
        balance += (sides->device[i] > sides->cast[i]) - (sides->device[i] < sides->cast[i]);
    set_share(row, TDC_METRIC_BALANCE, (uint64_t)(balance < 0 ? -balance : balance), sides->count);
}

static void by_benchmark(const struct tdc_sides *sides, struct tdc_standard_row *row)
{
    const struct limits *limits = limits_of(sides->dtype);
    double squares = 0, largest = 0, sum = 0, n = (double)sides->count;
    uint64_t small = 0, small_wrong = 0, normal = 0;
    for (uint64_t i = 0; i < sides->count; i++) {
        if (!both_finite(sides, i))
            continue;
        double error = tdc_absolute_error(sides, i);
        if (fabs(sides->bench[i]) <= limits->small) {
            small++;
            small_wrong += error > limits->small_benchmark;
            continue;
        }
        double relative = tdc_relative_error(sides, i);
        normal++;
        squares += tdc_reference_round(error * error, sides->arithmetic);
        sum += relative;
        largest = relative > largest ? relative : largest;
    }
    enum tdc_metric_form form = normal != 0 ? tdc_form_of(sides) : TDC_FORM_ZERO;
    double mean = normal != 0 ? tdc_reference_round(sum / (double)normal, sides->arithmetic) : 0;
    double square = tdc_reference_round(squares / n, sides->arithmetic);
    by_balance(sides, row);
    tdc_set_metric(row, TDC_METRIC_RMSE, sqrt(square * (n / ((double)normal + 0.0001) + 0.0001)),
                   TDC_FORM_FIXED);
    set_share(row, TDC_METRIC_SMALL, small_wrong, small);
    tdc_set_metric(row, TDC_METRIC_MAX_RELATIVE, largest, form);
    tdc_set_metric(row, TDC_METRIC_MEAN_RELATIVE, mean, form);
}

void tdc_metrics_of_standard(enum tdc_api_standard standard, const struct tdc_sides *sides,
                             struct tdc_standard_row *row)
{
    switch (standard) {
    case TDC_BY_BINARY:
        by_error_rate(sides, row);
        break;
    case TDC_BY_ACCUMULATIVE:
        by_balance(sides, row);
        by_absolute(sides, row);
        break;
    case TDC_BY_ABSOLUTE:
        by_absolute(sides, row);
        break;
    case TDC_BY_ULP:
        by_ulp(sides, row);
        break;
    case TDC_BY_THOUSANDTH:
        tdc_set_metric(row, TDC_METRIC_THOUSANDTH, tdc_share_below(sides, 0.001), TDC_FORM_FIXED);
        break;
    case TDC_BY_BENCHMARK:
        by_benchmark(sides, row);
        break;
    }
}
