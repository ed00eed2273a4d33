#include "host/precheck/slot_standard.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "host/precheck/row_text.h"

const char tdc_standard_header[] =
    "API Name,Bench Dtype,DEVICE Dtype,Shape,余弦相似度,最大绝对误差,双百指标,双千指标,双万指标,"
    "二进制一致错误率,误差均衡性,均方根误差,小值域错误占比,相对误差最大值,相对误差平均值,"
    "inf/nan错误率,相对误差错误率,绝对误差错误率,ULP误差最大值,ULP误差平均值,ULP误差大于阈值占比,"
    "Status,Message\r\n";

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

/* The two sides of a floating slot. */
struct sides {
    const double *bench, *device;
    const double *cast; /* bench in the device dtype */
    uint64_t count;
    tdc_dtype dtype;
    double epsilon; /* of the bench dtype */
};

static void set(struct tdc_standard_row *row, enum tdc_standard_metric metric, double value)
{
    row->known[metric] = true;
    row->values[metric] = value;
}

static double relative_error(const struct sides *sides, uint64_t i)
{
    return fabs(sides->device[i] - sides->bench[i]) / (fabs(sides->bench[i]) + sides->epsilon);
}

static bool both_finite(const struct sides *sides, uint64_t i)
{
    return isfinite(sides->cast[i]) && isfinite(sides->device[i]);
}

/* ---- standards ------------------------------------------------------------------------------- */

static void by_error_rate(const struct sides *sides, struct tdc_standard_row *row)
{
    uint64_t different = 0;
    for (uint64_t i = 0; i < sides->count; i++)
        different += !(sides->cast[i] == sides->device[i]);
    set(row, TDC_METRIC_ERROR_RATE, (double)different / (double)sides->count);
}

static double clipped(double value, double largest)
{
    return value > largest ? largest : value < -largest ? -largest : value;
}

static void by_absolute(const struct sides *sides, struct tdc_standard_row *row)
{
    const struct limits *limits = limits_of(sides->dtype);
    uint64_t odd = 0, odd_wrong = 0, small = 0, small_wrong = 0, normal = 0, normal_wrong = 0;
    for (uint64_t i = 0; i < sides->count; i++) {
        double b = sides->bench[i], t = sides->device[i];
        if (!both_finite(sides, i)) {
            double bound = clipped(sides->cast[i], limits->largest);
            double apart = fabs(clipped(t, limits->largest) - bound) / (fabs(bound) + 2.3e-16);
            odd++;
            odd_wrong += !(isnan(b) && isnan(t)) && !(apart <= limits->relative);
        } else if (fabs(b) <= limits->small) {
            small++;
            small_wrong += fabs(t - b) > limits->small_absolute;
        } else {
            normal++;
            normal_wrong += relative_error(sides, i) > limits->relative;
        }
    }
    set(row, TDC_METRIC_INF_NAN, odd != 0 ? (double)odd_wrong / (double)odd : 0);
    set(row, TDC_METRIC_RELATIVE, normal != 0 ? (double)normal_wrong / (double)normal : 0);
    set(row, TDC_METRIC_ABSOLUTE, small != 0 ? (double)small_wrong / (double)small : 0);
}

static void by_ulp(const struct sides *sides, struct tdc_standard_row *row)
{
    const struct limits *limits = limits_of(sides->dtype);
    double largest = 0, sum = 0;
    uint64_t above = 0;
    bool undefined = false;
    for (uint64_t i = 0; i < sides->count; i++) {
        double b = sides->bench[i];
        int exponent = b == 0 || !isfinite(b) ? 0 : ilogb(b);
        if (exponent < limits->lowest_exponent)
            exponent = limits->lowest_exponent;
        double units = ldexp(fabs(sides->device[i] - b), limits->mantissa - exponent);
        undefined |= isnan(units);
        largest = units > largest ? units : largest;
        sum += units;
        above += units > limits->ulp_threshold;
    }
    set(row, TDC_METRIC_MAX_ULP, undefined ? (double)NAN : largest);
    set(row, TDC_METRIC_MEAN_ULP, undefined ? (double)NAN : sum / (double)sides->count);
    set(row, TDC_METRIC_ULP_SHARE, (double)above / (double)sides->count);
}

static void by_balance(const struct sides *sides, struct tdc_standard_row *row)
{
    int64_t balance = 0;
    for (uint64_t i = 0; i < sides->count; i++)
        balance += (sides->device[i] > sides->cast[i]) - (sides->device[i] < sides->cast[i]);
    set(row, TDC_METRIC_BALANCE, fabs((double)balance) / (double)sides->count);
}

static void by_benchmark(const struct sides *sides, struct tdc_standard_row *row)
{
    const struct limits *limits = limits_of(sides->dtype);
    double squares = 0, largest = 0, sum = 0, n = (double)sides->count;
    uint64_t left_out = 0, small = 0, small_wrong = 0, normal = 0;
    for (uint64_t i = 0; i < sides->count; i++) {
        double b = sides->bench[i], t = sides->device[i];
        bool finite = both_finite(sides, i), is_small = finite && fabs(b) <= limits->small;
        left_out += !finite || is_small;
        small += is_small;
        small_wrong += is_small && fabs(t - b) > limits->small_benchmark;
        if (!finite || is_small)
            continue;
        double relative = relative_error(sides, i);
        normal++;
        squares += (t - b) * (t - b);
        sum += relative;
        largest = relative > largest ? relative : largest;
    }
    by_balance(sides, row);
    set(row, TDC_METRIC_RMSE, sqrt(squares / n * (n / (n - (double)left_out + 0.0001) + 0.0001)));
    set(row, TDC_METRIC_SMALL, small != 0 ? (double)small_wrong / (double)small : 0);
    set(row, TDC_METRIC_MAX_RELATIVE, largest);
    set(row, TDC_METRIC_MEAN_RELATIVE, normal != 0 ? sum / (double)normal : 0);
}

/* ---- the basic verdict ----------------------------------------------------------------------- */

/* True when the cosine passes; *text says why it was not taken. */
static bool cosine_passes(const struct sides *sides, struct tdc_standard_row *row,
                          const char **text)
{
    double bt = 0, bb = 0, tt = 0, b_max = 0, t_max = 0;
    bool undefined = false;
    *text = "";
    if (sides->count == 1) {
        *text = "All the data in device dump data is scalar. Please refer to other compare "
                "algorithms.";
        return true;
    }
    for (uint64_t i = 0; i < sides->count; i++) {
        undefined |= isnan(sides->bench[i]) || isnan(sides->device[i]);
        b_max = fmax(b_max, fabs(sides->bench[i]));
        t_max = fmax(t_max, fabs(sides->device[i]));
    }
    if (!undefined && b_max == 0 && t_max == 0)
        return true;
    if (!undefined && (b_max == 0 || t_max == 0)) {
        *text = t_max == 0 ? "All the data is zero in device dump data."
                           : "All the data is zero in bench dump data.";
        return false;
    }
    for (uint64_t i = 0; i < sides->count; i++) {
        double b = sides->bench[i] / b_max, t = sides->device[i] / t_max;
        bt += b * t;
        bb += b * b;
        tt += t * t;
    }
    double cosine = bt / (sqrt(bb) * sqrt(tt));
    set(row, TDC_METRIC_COSINE, cosine);
    if (isnan(cosine))
        *text = "Dump data has NaN when comparing with Cosine Similarity.";
    return cosine > 0.99;
}

static double share_below(const struct sides *sides, double limit)
{
    uint64_t below = 0;
    for (uint64_t i = 0; i < sides->count; i++)
        below += relative_error(sides, i) < limit;
    return (double)below / (double)sides->count;
}

static void conclude(struct tdc_standard_row *row, tdc_check status, const char *before,
                     const char *text)
{
    static const char *const words[TDC_CHECKS] = {
        [TDC_CHECK_PASS] = "pass", [TDC_CHECK_WARNING] = "warning", [TDC_CHECK_ERROR] = "error"};
    row->status = status;
    snprintf(row->message, sizeof row->message,
             "%s\n%s, consider as %s, skip other check and set to SPACE.\n", before, text,
             words[status]);
}

static void basic_verdict(const struct sides *sides, struct tdc_standard_row *row)
{
    const char *before;
    if (!cosine_passes(sides, row, &before)) {
        conclude(row, TDC_CHECK_ERROR, before, "Cosine similarity is less than 0.99");
        return;
    }
    double largest = 0;
    for (uint64_t i = 0; i < sides->count; i++)
        largest = fmax(largest, fabs(sides->device[i] - sides->bench[i]));
    set(row, TDC_METRIC_MAX_ABS, largest);
    if (largest < 0.001) {
        conclude(row, TDC_CHECK_PASS, before, "Max abs error is less than 0.001");
        return;
    }
    bool brief = sides->dtype == TDC_F16 || sides->dtype == TDC_BF16;
    double hundredth = share_below(sides, 0.01), thousandth = share_below(sides, 0.001);
    if (brief) {
        set(row, TDC_METRIC_HUNDREDTH, hundredth);
        if (!(hundredth > 0.99)) {
            conclude(row, TDC_CHECK_ERROR, before, "Relative error is greater than 0.01");
            return;
        }
        set(row, TDC_METRIC_THOUSANDTH, thousandth);
        conclude(row, thousandth > 0.999 ? TDC_CHECK_PASS : TDC_CHECK_WARNING, before,
                 thousandth > 0.999 ? "Relative error is less than 0.001"
                                    : "Relative error is greater than 0.001");
        return;
    }
    double ten_thousandth = share_below(sides, 0.0001);
    set(row, TDC_METRIC_THOUSANDTH, thousandth);
    set(row, TDC_METRIC_TEN_THOUSANDTH, ten_thousandth);
    if (!(thousandth > 0.999))
        conclude(row, TDC_CHECK_ERROR, before, "Relative error is greater than 0.001");
    else
        conclude(row, ten_thousandth > 0.9999 ? TDC_CHECK_PASS : TDC_CHECK_WARNING, before,
                 ten_thousandth > 0.9999 ? "Relative error is less than 0.0001"
                                         : "Relative error is greater than 0.0001");
}

/* ---- slots ----------------------------------------------------------------------------------- */

static const char *torch_name(tdc_dtype dtype)
{
    static const char *const names[TDC_DTYPE_COUNT] = {
        [TDC_BOOL] = "torch.bool",   [TDC_I8] = "torch.int8",       [TDC_I16] = "torch.int16",
        [TDC_I32] = "torch.int32",   [TDC_I64] = "torch.int64",     [TDC_U8] = "torch.uint8",
        [TDC_F16] = "torch.float16", [TDC_BF16] = "torch.bfloat16", [TDC_F32] = "torch.float32",
        [TDC_F64] = "torch.float64"};
    return dtype < TDC_DTYPE_COUNT && names[dtype] != NULL ? names[dtype] : " ";
}

static const double *as_dtype(struct tdc_arena *arena, const double *values, uint64_t count,
                              tdc_dtype dtype)
{
    double *copy = tdc_arena_zeroed(arena, count, sizeof *copy);
    for (uint64_t i = 0; copy != NULL && i < count; i++)
        copy[i] = tdc_reference_cast(values[i], dtype);
    return copy;
}

static bool judge_floats(struct tdc_arena *arena, const char *api_name,
                         const struct tdc_reference_tensor *bench,
                         const struct tdc_reference_tensor *device, struct tdc_standard_row *row)
{
    bool brief = device->dtype == TDC_F16 || device->dtype == TDC_BF16;
    struct sides sides = {.bench = bench->real,
                          .device = device->real,
                          .count = (uint64_t)bench->count,
                          .dtype = device->dtype,
                          .epsilon = device->dtype == TDC_BF16 ? 0x1p-8
                                     : brief                   ? 0x1p-23
                                                               : 0x1p-52};
    if (brief)
        sides.bench = as_dtype(arena, bench->real, sides.count, TDC_F32);
    /* numpy has no bfloat16: there the bench stays float32 */
    sides.cast = device->dtype == TDC_BF16
                     ? sides.bench
                     : as_dtype(arena, bench->real, sides.count, device->dtype);
    if (sides.bench == NULL || sides.cast == NULL)
        return false;
    row->bench_dtype = brief ? "torch.float32" : "torch.float64";
    switch (tdc_api_standard(api_name, device->dtype)) {
    case TDC_BY_BINARY:
        by_error_rate(&sides, row);
        break;
    case TDC_BY_ACCUMULATIVE:
        by_balance(&sides, row);
        by_absolute(&sides, row);
        break;
    case TDC_BY_ABSOLUTE:
        by_absolute(&sides, row);
        break;
    case TDC_BY_ULP:
        by_ulp(&sides, row);
        break;
    case TDC_BY_THOUSANDTH:
        set(row, TDC_METRIC_THOUSANDTH, share_below(&sides, 0.001));
        break;
    case TDC_BY_BENCHMARK:
        by_benchmark(&sides, row);
        break;
    }
    basic_verdict(&sides, row);
    return true;
}

static bool judge_whole(struct tdc_arena *arena, const struct tdc_reference_tensor *bench,
                        const struct tdc_reference_tensor *device, struct tdc_standard_row *row)
{
    (void)arena;
    uint64_t different = 0;
    for (int64_t i = 0; i < bench->count; i++)
        different += bench->whole[i] != device->whole[i];
    set(row, TDC_METRIC_ERROR_RATE, (double)different / (double)bench->count);
    row->status = different == 0 ? TDC_CHECK_PASS : TDC_CHECK_ERROR;
    snprintf(row->message, sizeof row->message,
             "Compare algorithm is not supported for %s data. Only judged by Error Rate.\n",
             strchr(row->device_dtype, '.') != NULL ? strchr(row->device_dtype, '.') + 1 : "");
    return true;
}

static void fail(struct tdc_standard_row *row, const char *message)
{
    row->status = TDC_CHECK_ERROR;
    snprintf(row->message, sizeof row->message, "%s", message);
}

bool tdc_judge_by_standard(struct tdc_arena *arena, const char *api_name,
                           const struct tdc_slot *slot, struct tdc_standard_row *row)
{
    *row = (struct tdc_standard_row){.bench_dtype = " ", .device_dtype = " ", .shape = " "};
    if (slot->reference.kind != TDC_VALUE_TENSOR || slot->tested.kind != TDC_VALUE_TENSOR) {
        struct tdc_precheck_options options = {.profile = TDC_PROFILE_EXTENDED};
        struct tdc_slot_row plain;
        struct tdc_reason ignored;
        if (slot->reference.kind != slot->tested.kind)
            fail(row, "bench and npu output type is different.");
        else if (tdc_judge_slot(&options, arena, slot, &plain, &ignored))
            row->status = plain.status;
        return true;
    }
    const struct tdc_reference_tensor *bench = slot->reference.tensor,
                                      *device = slot->tested.tensor;
    row->bench_dtype = torch_name(bench->dtype);
    row->device_dtype = torch_name(device->dtype);
    tdc_shape_text(bench, row->shape);
    bool floating = tdc_dtype_is_floating(device->dtype);
    if (bench->rank != device->rank ||
        memcmp(bench->shape, device->shape, bench->rank * sizeof *bench->shape) != 0) {
        char shape[TDC_SHAPE_TEXT];
        tdc_shape_text(device, shape);
        row->status = TDC_CHECK_ERROR;
        snprintf(row->message, sizeof row->message,
                 "The shape of bench%.200s and npu%.200s not equal.", row->shape, shape);
    } else if (floating != tdc_dtype_is_floating(bench->dtype) ||
               (device->dtype == TDC_BOOL) != (bench->dtype == TDC_BOOL)) {
        fail(row, "Bench out dtype and npu output dtype are of different kinds, cannot compare.");
    } else if (bench->count == 0) {
        fail(row, "There is not bench calculation result.");
    } else {
        return floating ? judge_floats(arena, api_name, bench, device, row)
                        : judge_whole(arena, bench, device, row);
    }
    return true;
}

/* ---- text ------------------------------------------------------------------------------------ */

void tdc_standard_text(struct tdc_text *text, const char *name, const struct tdc_standard_row *row)
{
    tdc_csv_field(text, name);
    tdc_text_addf(text, ",%s,%s,", row->bench_dtype, row->device_dtype);
    tdc_csv_field(text, row->shape);
    for (int i = 0; i < TDC_STANDARD_METRICS; i++) {
        if (!row->known[i])
            tdc_text_adds(text, ", ");
        else if (isfinite(row->values[i]))
            tdc_text_addf(text, ",%.14f", row->values[i]);
        else
            tdc_text_adds(text, isnan(row->values[i]) ? ",nan"
                                : row->values[i] > 0  ? ",inf"
                                                      : ",-inf");
    }
    tdc_text_addf(text, ",%s,", tdc_check_text(row->status));
    tdc_csv_field(text, row->message);
    tdc_text_adds(text, "\r\n");
}
