/*
 * atb_statistics.c - the four statistics of a tensor.
 *
 * Integers count as float32. Short tensors are added in torch's own order (torch_sums.h); long
 * ones, where that order depends on torch's threads, in float64, which is rounded then: the last
 * digit of a mean or norm may differ from torch's.
 */
#include "host/atb/atb_statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/atb/torch_sums.h"
#include "host/engine/source.h"
#include "io/file/mapping_guard.h"
#include "io/text/pytext.h"

#define GATHERED ((size_t)2048)

/* What is known of all elements; sum and norm are still to be rounded to the type. */
struct gathered {
    uint64_t count, nan;
    double sum, norm, least, largest;
};

void tdc_atb_no_statistics(struct tdc_atb_statistics *statistics)
{
    for (int i = 0; i < TDC_STATISTICS; i++)
        strcpy(statistics->texts[i], "N/A");
}

/* Ties to even, as the conversion of torch. */
static float round_to_bf16(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    if (!isnan(value))
        bits += 0x7fff + (bits >> 16 & 1);
    bits &= 0xffff0000u;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static double rounded_to(tdc_dtype dtype, double value)
{
    float single = (float)value;
    if (dtype == TDC_F16)
        return (double)tdc_round_to_f16(single);
    return (double)(dtype == TDC_BF16 ? round_to_bf16(single) : single);
}

static void write_number(double value, char *text)
{
    if (isnan(value))
        strcpy(text, "N/A");
    else
        tdc_float_repr(value, text);
}

static void write_all(const struct gathered *all, tdc_dtype dtype,
                      struct tdc_atb_statistics *statistics)
{
    if (dtype == TDC_BOOL) {
        tdc_atb_no_statistics(statistics);
        strcpy(statistics->texts[TDC_MAX], all->largest != 0 ? "tensor(True)" : "tensor(False)");
        strcpy(statistics->texts[TDC_MIN], all->least != 0 ? "tensor(True)" : "tensor(False)");
        return;
    }
    double nothing = all->nan != 0 ? (double)NAN : 0;
    float mean = (float)rounded_to(dtype, all->sum) / (float)all->count;
    write_number(rounded_to(dtype, all->largest + nothing), statistics->texts[TDC_MAX]);
    write_number(rounded_to(dtype, all->least + nothing), statistics->texts[TDC_MIN]);
    write_number(rounded_to(dtype, (double)mean + nothing), statistics->texts[TDC_MEAN]);
    write_number(rounded_to(dtype, all->norm + nothing), statistics->texts[TDC_NORM]);
}

bool tdc_atb_statistics_of_sums(const struct tdc_pair_sums *sums, bool bench, tdc_dtype dtype,
                                struct tdc_atb_statistics *statistics)
{
    if (sums->count <= TDC_TORCH_ONE_THREAD ||
        sums->n_nan + sums->b_nan + sums->n_inf + sums->b_inf != 0)
        return false;
    struct gathered all = {.count = sums->count,
                           .sum = bench ? sums->b : sums->n,
                           .norm = sqrt(bench ? sums->bb : sums->nn),
                           .least = bench ? sums->b_min : sums->n_min,
                           .largest = bench ? sums->b_max : sums->n_max};
    write_all(&all, dtype, statistics);
    return true;
}

/* ---- one pass -------------------------------------------------------------------------------- */

struct pass {
    const struct tdc_tensor *tensor;
    struct gathered all;
    double squares;
    float *values; /* short tensors: all of them */
    unsigned char elements[GATHERED * 16];
};

static void add_element(struct pass *pass, double value)
{
    struct gathered *all = &pass->all;
    if (isnan(value))
        all->nan++;
    all->sum += value;
    pass->squares += value * value;
    if (value < all->least)
        all->least = value;
    if (value > all->largest)
        all->largest = value;
}

static void make_pass(void *argument)
{
    struct pass *pass = argument;
    const struct tdc_tensor *tensor = pass->tensor;
    tdc_dtype dtype = tdc_source_dtype(tensor);
    size_t size = tdc_dtype_size(dtype);
    for (uint64_t first = 0; first < tensor->count; first += GATHERED) {
        uint64_t left = tensor->count - first;
        size_t count = left < GATHERED ? (size_t)left : GATHERED;
        double imaginary;
        tdc_gather_elements(tensor, first, count, pass->elements);
        for (size_t i = 0; i < count; i++) {
            double value = tdc_element_value(dtype, pass->elements + i * size, &imaginary);
            add_element(pass, value);
            if (pass->values != NULL)
                pass->values[first + i] = (float)value;
        }
    }
}

static void settle_sums(struct pass *pass)
{
    size_t count = (size_t)pass->tensor->count;
    pass->all.norm = sqrt(pass->squares);
    if (pass->values == NULL)
        return;
    pass->all.sum = (double)tdc_torch_sum(pass->values, count, pass->tensor->dtype);
    pass->all.norm = (double)tdc_torch_norm(pass->values, count, pass->tensor->dtype);
}

bool tdc_atb_statistics_of_tensor(const struct tdc_tensor *tensor,
                                  struct tdc_atb_statistics *statistics)
{
    tdc_atb_no_statistics(statistics);
    if (tensor->count == 0 || tensor->dimensions == 0)
        return true;
    bool brief = tensor->count <= TDC_TORCH_ONE_THREAD;
    struct pass pass = {
        .tensor = tensor,
        .all = {.count = tensor->count, .least = (double)INFINITY, .largest = -(double)INFINITY},
        .values = brief ? calloc(tensor->count, sizeof *pass.values) : NULL};
    bool complete = (!brief || pass.values != NULL) && tdc_guarded_read(make_pass, &pass);
    if (complete) {
        settle_sums(&pass);
        write_all(&pass.all, tensor->dtype, statistics);
    }
    free(pass.values);
    return complete;
}
