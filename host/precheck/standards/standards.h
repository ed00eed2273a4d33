/* standards.h - by which standard msprobe judges an API of a PyTorch dump. */
#ifndef TDC_PRECHECK_STANDARDS_H
#define TDC_PRECHECK_STANDARDS_H

#include "tdcmp.h"

enum tdc_api_standard {
    TDC_BY_BENCHMARK,
    TDC_BY_BINARY,   /* equal to the bit */
    TDC_BY_ABSOLUTE, /* absolute threshold */
    TDC_BY_ULP,
    TDC_BY_THOUSANDTH, /* share of elements with a relative error below 0.001 */
    TDC_BY_ACCUMULATIVE
};

/* name: "add_" of Tensor.add_.0. Anything but float16, bfloat16, float32 is binary. */
enum tdc_api_standard tdc_api_standard(const char *name, tdc_dtype device);
/*
 * The choice of msprobe 26.2: by the dtype's name alone, Float8 by ULP; a row that states a share
 * of relative errors is one with Float8 inputs and goes by absolute thresholds.
 */
enum tdc_api_standard tdc_api_standard26(const char *device_dtype, bool float8_input);
bool tdc_is_float8(const char *dtype);
/* What 26.2 allows a device over a GPU, by the level of the API; L0 is what 2025 allows all. */
struct tdc_benchmark_limits {
    double max_relative, mean_relative, rmse;
};
struct tdc_benchmark_limits tdc_benchmark_limits26(const char *name);
/* "绝对阈值法", ... */
const char *tdc_api_standard_title(enum tdc_api_standard standard);
/* No denominator of a ratio is below this. */
double tdc_ratio_floor(tdc_dtype device);

#endif
