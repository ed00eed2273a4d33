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
/* "绝对阈值法", ... */
const char *tdc_api_standard_title(enum tdc_api_standard standard);
/* No denominator of a ratio is below this. */
double tdc_ratio_floor(tdc_dtype device);

#endif
