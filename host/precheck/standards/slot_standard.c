#include "host/precheck/standards/slot_standard.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/precheck/standards/standard_metrics.h"
#include "io/text/pytext.h"
#include "io/text/csv_field.h"
#include "kernels/dtype.h"

const char tdc_standard_header[] =
    "API Name,Bench Dtype,DEVICE Dtype,Shape,余弦相似度,最大绝对误差,双百指标,双千指标,双万指标,"
    "二进制一致错误率,误差均衡性,均方根误差,小值域错误占比,相对误差最大值,相对误差平均值,"
    "inf/nan错误率,相对误差错误率,绝对误差错误率,ULP误差最大值,ULP误差平均值,ULP误差大于阈值占比,"
    "Status,Message\r\n";

/* ---- the basic verdict ----------------------------------------------------------------------- */

static double largest_magnitude(const double *values, uint64_t count)
{
    double largest = 0;
    for (uint64_t i = 0; i < count; i++) {
        if (isnan(values[i]))
            return values[i];
        largest = fmax(largest, fabs(values[i]));
    }
    return largest;
}

/* True when the cosine passes; *text says why it was not taken. */
static bool cosine_passes(const struct tdc_sides *sides, struct tdc_standard_row *row,
                          const char **text)
{
    *text = "";
    if (sides->count == 1) {
        *text = "All the data in device dump data is scalar. Please refer to other compare "
                "algorithms.";
        return true;
    }
    double b_max = largest_magnitude(sides->bench, sides->count);
    double t_max = largest_magnitude(sides->device, sides->count);
    const double zero = 0x1p-52;
    if (b_max <= zero || t_max <= zero) {
        bool both = b_max <= zero && t_max <= zero;
        *text = both            ? "All the data in device and bench outputs are zero."
                : t_max <= zero ? "All the data is zero in device dump data."
                                : "All the data is zero in bench dump data.";
        return both;
    }
    double bt = 0, bb = 0, tt = 0;
    for (uint64_t i = 0; i < sides->count; i++) {
        double b = sides->bench[i] / b_max, t = sides->device[i] / t_max;
        bt += b * t;
        bb += b * b;
        tt += t * t;
    }
    double cosine = bt / (sqrt(bb) * sqrt(tt));
    if (isnan(cosine))
        *text = "Dump data has NaN when comparing with Cosine Similarity.";
    else
        cosine = fmax(-1, fmin(1, cosine));
    tdc_set_metric(row, TDC_METRIC_COSINE, cosine, TDC_FORM_FIXED);
    return cosine > 0.99;
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

static double largest_error(const struct tdc_sides *sides)
{
    double largest = 0;
    for (uint64_t i = 0; i < sides->count; i++) {
        double error = tdc_absolute_error(sides, i);
        if (isnan(error))
            return error;
        largest = fmax(largest, error);
    }
    return largest;
}

/* `before` opens the message: float64 results have no standard of their own. */
static void basic_verdict(const struct tdc_sides *sides, const char *before,
                          struct tdc_standard_row *row)
{
    char start[256];
    const char *text;
    bool passes = cosine_passes(sides, row, &text);
    snprintf(start, sizeof start, "%s%s", before, text);
    if (!passes) {
        conclude(row, TDC_CHECK_ERROR, start, "Cosine similarity is less than 0.99");
        return;
    }
    double largest = largest_error(sides);
    tdc_set_metric(row, TDC_METRIC_MAX_ABS, largest, tdc_form_of(sides));
    if (largest < 0.001) {
        conclude(row, TDC_CHECK_PASS, start, "Max abs error is less than 0.001");
        return;
    }
    bool brief = sides->dtype == TDC_F16 || sides->dtype == TDC_BF16;
    double hundredth = tdc_share_below(sides, 0.01), thousandth = tdc_share_below(sides, 0.001);
    if (brief)
        tdc_set_metric(row, TDC_METRIC_HUNDREDTH, hundredth, TDC_FORM_FIXED);
    if (brief && !(hundredth > 0.99)) {
        conclude(row, TDC_CHECK_ERROR, start, "Relative error is greater than 0.01");
        return;
    }
    tdc_set_metric(row, TDC_METRIC_THOUSANDTH, thousandth, TDC_FORM_FIXED);
    if (brief) {
        conclude(row, thousandth > 0.999 ? TDC_CHECK_PASS : TDC_CHECK_WARNING, start,
                 thousandth > 0.999 ? "Relative error is less than 0.001"
                                    : "Relative error is greater than 0.001");
        return;
    }
    double ten_thousandth = tdc_share_below(sides, 0.0001);
    tdc_set_metric(row, TDC_METRIC_TEN_THOUSANDTH, ten_thousandth, TDC_FORM_FIXED);
    if (!(thousandth > 0.999)) {
        conclude(row, TDC_CHECK_ERROR, start, "Relative error is greater than 0.001");
    } else if (!(ten_thousandth > 0.9999)) {
        conclude(row, TDC_CHECK_WARNING, start, "Relative error is greater than 0.0001");
    } else {
        row->status = TDC_CHECK_PASS;
        snprintf(row->message, sizeof row->message,
                 "%s\nRelative error is less than 0.0001, consider as pass.\n", start);
    }
}

/* ---- slots ----------------------------------------------------------------------------------- */

static const char *torch_name(tdc_dtype dtype)
{
    const struct tdc_dtype_entry *entry = tdc_dtype_entry(dtype);
    return entry->storage != NULL ? entry->torch : " ";
}

static bool judge_floats(struct tdc_arena *arena, enum tdc_api_standard standard,
                         const struct tdc_reference_tensor *bench,
                         const struct tdc_reference_tensor *device, struct tdc_standard_row *row)
{
    bool brief = device->dtype == TDC_F16 || device->dtype == TDC_BF16;
    /* numpy has no bfloat16: there it is float32 */
    tdc_dtype device_type = device->dtype == TDC_BF16 ? TDC_F32 : device->dtype;
    tdc_dtype bench_type = bench->dtype == TDC_BF16 || device->dtype == TDC_BF16 ? TDC_F32
                           : brief && bench->dtype == TDC_F64                    ? TDC_F32
                                                                                 : bench->dtype;
    struct tdc_sides sides = {.device = device->real,
                              .count = (uint64_t)bench->count,
                              .dtype = device->dtype,
                              .bench_type = bench_type,
                              .arithmetic = bench_type > device_type ? bench_type : device_type};
    sides.epsilon = device->dtype == TDC_BF16 ? 0x1p-8
                    : bench_type == TDC_F16   ? 0x1p-10
                    : bench_type == TDC_F32   ? 0x1p-23
                                              : 0x1p-52;
    sides.bench = tdc_rounded_copy(arena, bench->real, sides.count, bench_type);
    sides.cast = tdc_rounded_copy(arena, bench->real, sides.count, device_type);
    if (sides.bench == NULL || sides.cast == NULL)
        return false;
    if (brief && bench->dtype == TDC_F64)
        row->bench_dtype = torch_name(bench_type);
    if (device->dtype != TDC_F64)
        tdc_metrics_of_standard(standard, &sides, row);
    basic_verdict(&sides,
                  device->dtype == TDC_F64
                      ? "The data type torch.float64 is not supported for new precision standard."
                      : "",
                  row);
    return true;
}

/* "int64" of "torch.int64" */
static const char *numpy_name(tdc_dtype dtype)
{
    const char *name = torch_name(dtype), *dot = strchr(name, '.');
    return dtype == TDC_BF16 ? "float32" : dot != NULL ? dot + 1 : name;
}

/* What makes integers of floats may round the other way. */
static bool quantises(const char *api_name)
{
    return strcmp(api_name, "npu_rms_norm_dynamic_quant") == 0 ||
           strcmp(api_name, "npu_dynamic_quant") == 0 ||
           strcmp(api_name, "npu_quant_lightning_indexer") == 0;
}

static void judge_quantised(const struct tdc_reference_tensor *bench,
                            const struct tdc_reference_tensor *device, struct tdc_standard_row *row)
{
    double largest = 0;
    for (int64_t i = 0; i < bench->count; i++)
        largest = fmax(largest, fabs((double)device->whole[i] - (double)bench->whole[i]));
    tdc_set_metric(row, TDC_METRIC_MAX_ABS, largest, TDC_FORM_WHOLE);
    row->status = largest <= 1 ? TDC_CHECK_PASS : TDC_CHECK_ERROR;
    snprintf(row->message, sizeof row->message,
             "Quantization type: Max abs error is %.2f, %s 1, consider as %s.\n", largest,
             largest <= 1 ? "less than or equal to" : "greater than",
             largest <= 1 ? "pass" : "error");
}

static void judge_whole(const struct tdc_reference_tensor *bench,
                        const struct tdc_reference_tensor *device, bool newest,
                        struct tdc_standard_row *row)
{
    uint64_t different = 0;
    for (int64_t i = 0; i < bench->count; i++)
        different += bench->whole[i] != device->whole[i];
    tdc_set_metric(row, TDC_METRIC_ERROR_RATE, (double)different / (double)bench->count,
                   TDC_FORM_FIXED);
    row->status = different == 0 ? TDC_CHECK_PASS : TDC_CHECK_ERROR;
    if (newest)
        snprintf(row->message, sizeof row->message,
                 "Current %s data, only perform binary comparison.", numpy_name(bench->dtype));
    else
        snprintf(row->message, sizeof row->message,
                 "Compare algorithm is not supported for %s data. Only judged by Error Rate.\n",
                 numpy_name(bench->dtype));
}

static void fail(struct tdc_standard_row *row, const char *message)
{
    row->status = TDC_CHECK_ERROR;
    snprintf(row->message, sizeof row->message, "%s", message);
}

/* What msprobe compares with each other: uint8 with bool; 0 is what it does not know. */
static int class_of(tdc_dtype dtype, bool newest)
{
    return tdc_dtype_is_floating(dtype)           ? 1
           : dtype == TDC_BOOL || dtype == TDC_U8 ? 2
           : dtype == TDC_I32 || dtype == TDC_I64 ? 3
           : dtype == TDC_I8 && newest            ? 3
                                                  : 0;
}

/* "torch.Size([3, 4])" */
static void size_text(const struct tdc_reference_tensor *tensor, char text[TDC_SHAPE_TEXT])
{
    size_t used = (size_t)snprintf(text, TDC_SHAPE_TEXT, "torch.Size([");
    for (unsigned d = 0; d < tensor->rank; d++)
        used += (size_t)snprintf(text + used, TDC_SHAPE_TEXT - used, "%s%lld", d != 0 ? ", " : "",
                                 (long long)tensor->shape[d]);
    snprintf(text + used, TDC_SHAPE_TEXT - used, "])");
}

static const char *class_name(enum tdc_reference_kind kind)
{
    return kind == TDC_VALUE_BOOL    ? "<class 'bool'>"
           : kind == TDC_VALUE_INT   ? "<class 'int'>"
           : kind == TDC_VALUE_FLOAT ? "<class 'float'>"
           : kind == TDC_VALUE_TEXT  ? "<class 'str'>"
                                     : " ";
}

static void judge_values(struct tdc_arena *arena, const struct tdc_slot *slot,
                         struct tdc_standard_row *row)
{
    struct tdc_precheck_options options = {.profile = TDC_PROFILE_EXTENDED};
    struct tdc_slot_row plain;
    struct tdc_reason ignored;
    if (slot->reference.kind != slot->tested.kind) {
        fail(row, "bench and npu output type is different.");
    } else if (slot->reference.kind == TDC_VALUE_NULL) {
        row->status = TDC_CHECK_SKIP;
        snprintf(row->message, sizeof row->message, "Bench output is None, skip this test.");
    } else if (tdc_judge_slot(&options, arena, slot, &plain, &ignored)) {
        row->bench_dtype = class_name(slot->reference.kind);
        row->device_dtype = class_name(slot->tested.kind);
        row->status = plain.status;
        if (plain.status == TDC_CHECK_PASS)
            tdc_set_metric(row, TDC_METRIC_ERROR_RATE, 0, TDC_FORM_ZERO);
    }
}

bool tdc_judge_by_standard(struct tdc_arena *arena, const char *api_name, bool newest,
                           const struct tdc_slot *slot, struct tdc_standard_row *row)
{
    *row = (struct tdc_standard_row){.bench_dtype = " ", .device_dtype = " ", .shape = " "};
    if (slot->reference.kind != TDC_VALUE_TENSOR || slot->tested.kind != TDC_VALUE_TENSOR) {
        judge_values(arena, slot, row);
        return true;
    }
    const struct tdc_reference_tensor *bench = slot->reference.tensor,
                                      *device = slot->tested.tensor;
    row->bench_dtype = torch_name(bench->dtype);
    row->device_dtype = torch_name(device->dtype);
    tdc_shape_text(device, row->shape);
    bool floating = tdc_dtype_is_floating(device->dtype);
    if (bench->rank != device->rank ||
        memcmp(bench->shape, device->shape, bench->rank * sizeof *bench->shape) != 0) {
        char sizes[2][TDC_SHAPE_TEXT];
        size_text(bench, sizes[0]);
        size_text(device, sizes[1]);
        row->status = TDC_CHECK_ERROR;
        snprintf(row->message, sizeof row->message,
                 "The shape of bench%.200s and npu%.200s not equal.", sizes[0], sizes[1]);
    } else if (class_of(bench->dtype, newest) != class_of(device->dtype, newest) ||
               class_of(bench->dtype, newest) == 0) {
        row->status = TDC_CHECK_ERROR;
        snprintf(row->message, sizeof row->message,
                 "Bench out dtype is %s but npu output dtype is %s, cannot compare.",
                 numpy_name(bench->dtype), numpy_name(device->dtype));
    } else if (bench->count == 0) {
        fail(row, "There is not bench calculation result.");
        if (newest)
            row->status = TDC_CHECK_SKIP;
    } else if (floating) {
        return judge_floats(arena,
                            newest ? TDC_BY_BENCHMARK : tdc_api_standard(api_name, device->dtype),
                            bench, device, row);
    } else if (newest && quantises(api_name) && device->dtype != TDC_BOOL) {
        judge_quantised(bench, device, row);
    } else {
        judge_whole(bench, device, newest, row);
    }
    return true;
}

/* ---- text ------------------------------------------------------------------------------------ */

/* The fewest digits that give the same number of the dtype back, as numpy writes its scalars. */
static void brief_number(struct tdc_text *text, double number, tdc_dtype dtype)
{
    char digits[64];
    double parsed = number;
    for (int count = 0; count < 9; count++) {
        snprintf(digits, sizeof digits, "%.*e", count, number);
        parsed = strtod(digits, NULL);
        if (tdc_reference_round(parsed, dtype) == number)
            break;
    }
    char shown[TDC_FLOAT_TEXT];
    tdc_text_add(text, shown, tdc_float_repr(parsed, shown));
}

static void add_metric(struct tdc_text *text, double number, enum tdc_metric_form form)
{
    if (form == TDC_FORM_BLANK)
        tdc_text_addc(text, ' ');
    else if (form == TDC_FORM_ZERO)
        tdc_text_addc(text, '0');
    else if (!isfinite(number))
        tdc_text_adds(text, isnan(number) ? "nan" : number > 0 ? "inf" : "-inf");
    else if (form == TDC_FORM_WHOLE)
        tdc_text_addf(text, "%.0f", number);
    else if (form == TDC_FORM_FIXED)
        tdc_text_addf(text, "%.14f", number);
    else
        brief_number(text, number, form == TDC_FORM_SINGLE ? TDC_F32 : TDC_F16);
}

void tdc_standard_text(struct tdc_text *text, const char *name, const struct tdc_standard_row *row)
{
    tdc_csv_field(text, name);
    tdc_text_addf(text, ",%s,%s,", row->bench_dtype, row->device_dtype);
    tdc_csv_field(text, row->shape);
    for (int i = 0; i < TDC_STANDARD_METRICS; i++) {
        tdc_text_addc(text, ',');
        add_metric(text, row->values[i], row->form[i]);
    }
    tdc_text_addf(text, ",%s,", tdc_check_text(row->status));
    tdc_csv_field(text, row->message);
    tdc_text_adds(text, "\r\n");
}
