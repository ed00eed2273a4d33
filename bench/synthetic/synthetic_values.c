/* synthetic_values.c - lanes of xorshift128+ and the element types made of them. */
#include "bench/synthetic/synthetic_values.h"

#include <math.h>
#include <string.h>

/* Lanes run side by side so that any vector unit of up to 64 bytes is used; their number is part of
 * the data. */
#define LANES 8
/* A step of all lanes yields 16 words of 32 bits; an element takes two, from two steps. */
#define GROUP 16

#define VOCABULARY    50257
#define FLOAT_SPIKE   16.0F
#define INTEGER_SPIKE 262144
#define SHORT_SPIKE   20000
#define BYTE_SPIKE    100
/* What the bell curve of deviation 1, which ends at 3.5, is multiplied by. */
#define SHORT_SCALE 9000.0F
#define BYTE_SCALE  36.0F

struct lanes {
    uint64_t a[LANES], b[LANES];
};

uint64_t tdc_values_mix(uint64_t number)
{
    number += 0x9e3779b97f4a7c15U;
    number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9U;
    number = (number ^ (number >> 27)) * 0x94d049bb133111ebU;
    return number ^ (number >> 31);
}

static void lanes_start(struct lanes *lanes, uint64_t seed, uint64_t block)
{
    uint64_t state = tdc_values_mix(seed ^ tdc_values_mix(block));
    for (int i = 0; i < LANES; i++) {
        lanes->a[i] = tdc_values_mix(state++);
        lanes->b[i] = tdc_values_mix(state++) | 1; /* never both zero: the generator would stick */
    }
}

static inline void lanes_step(struct lanes *lanes, uint32_t words[GROUP])
{
    uint64_t sums[LANES];
    for (int i = 0; i < LANES; i++) {
        uint64_t x = lanes->a[i], y = lanes->b[i];
        sums[i] = x + y;
        lanes->a[i] = y;
        x ^= x << 23;
        lanes->b[i] = x ^ y ^ (x >> 18) ^ (y >> 5);
    }
    for (int i = 0; i < LANES; i++) {
        words[i] = (uint32_t)sums[i];
        words[i + LANES] = (uint32_t)(sums[i] >> 32);
    }
}

static inline void bell_group(struct lanes *lanes, float scale, float out[GROUP])
{
    uint32_t x[GROUP], y[GROUP];
    lanes_step(lanes, x);
    lanes_step(lanes, y);
    for (int i = 0; i < GROUP; i++) {
        uint32_t sum = (x[i] & 0xffff) + (x[i] >> 16) + (y[i] & 0xffff) + (y[i] >> 16);
        out[i] = (float)((int32_t)sum - 2 * 0xffff) * scale;
    }
}

/* The sum of four uniform 16-bit numbers deviates by 2^16 / sqrt(3). */
#define BELL_UNIT ((float)(1.7320508075688772 / 65536))

static float bell_scale(const struct tdc_values *values)
{
    return values->deviation * BELL_UNIT;
}

/* ---- conversions ----------------------------------------------------------------------------- */

static inline uint32_t float_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float bits_float(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint16_t to_bf16(float value)
{
    uint32_t bits = float_bits(value);
    return (uint16_t)((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

static inline float from_bf16(uint16_t half)
{
    return bits_float((uint32_t)half << 16);
}

/* Of values far from overflow, to nearest even; without branches, so that it vectorises. */
static inline uint16_t to_f16(float value)
{
    uint32_t bits = float_bits(value), magnitude = bits & 0x7fffffff;
    uint32_t normal = (magnitude + 0xfff + ((magnitude >> 13) & 1) - (112U << 23)) >> 13;
    /* 0.5 has the ulp of the smallest half: adding it rounds a subnormal half in place */
    uint32_t small = float_bits(bits_float(magnitude) + 0.5F) - float_bits(0.5F);
    uint32_t half = magnitude < (113U << 23) ? small : normal;
    return (uint16_t)(half | (bits >> 16 & 0x8000));
}

static inline float from_f16(uint16_t half)
{
    float value = bits_float((uint32_t)(half & 0x7fff) << 13) * 0x1p112F;
    return bits_float(float_bits(value) | (uint32_t)(half & 0x8000) << 16);
}

/* ---- filling --------------------------------------------------------------------------------- */

/* Writes whole groups to a buffer of a block: what lies behind count is scratch. */
static void fill_f32(struct lanes *lanes, float scale, size_t count, float *out)
{
    for (size_t i = 0; i < count; i += GROUP)
        bell_group(lanes, scale, out + i);
}

/* In two loops each: plain ones, which every compiler turns into vector code. */
static void fill_bf16(struct lanes *lanes, float scale, size_t count, uint16_t *restrict out)
{
    float floats[TDC_VALUES_BLOCK];
    fill_f32(lanes, scale, count, floats);
    for (size_t i = 0; i < count; i++)
        out[i] = to_bf16(floats[i]);
}

static void fill_f16(struct lanes *lanes, float scale, size_t count, uint16_t *restrict out)
{
    float floats[TDC_VALUES_BLOCK];
    fill_f32(lanes, scale, count, floats);
    for (size_t i = 0; i < count; i++)
        out[i] = to_f16(floats[i]);
}

static void fill_f64(struct lanes *lanes, float scale, size_t count, double *out)
{
    float group[GROUP];
    for (size_t i = 0; i < count; i += GROUP) {
        bell_group(lanes, scale, group);
        /* a factor of full precision, or the lower half of each number would be zero */
        for (int k = 0; k < GROUP; k++)
            out[i + (size_t)k] = (double)group[k] * 0.99999999371;
    }
}

static inline uint32_t token(uint32_t word)
{
    return (uint32_t)((uint64_t)word * VOCABULARY >> 32);
}

static void fill_i32(struct lanes *lanes, size_t count, int32_t *out)
{
    uint32_t words[GROUP];
    for (size_t i = 0; i < count; i += GROUP) {
        lanes_step(lanes, words);
        for (int k = 0; k < GROUP; k++)
            out[i + (size_t)k] = (int32_t)token(words[k]);
    }
}

static void fill_i64(struct lanes *lanes, size_t count, int64_t *out)
{
    uint32_t words[GROUP];
    for (size_t i = 0; i < count; i += GROUP) {
        lanes_step(lanes, words);
        for (int k = 0; k < GROUP; k++)
            out[i + (size_t)k] = (int64_t)token(words[k]);
    }
}

static void fill_i16(struct lanes *lanes, size_t count, int16_t *out)
{
    float group[GROUP];
    for (size_t i = 0; i < count; i += GROUP) {
        bell_group(lanes, BELL_UNIT * SHORT_SCALE, group);
        for (int k = 0; k < GROUP; k++)
            out[i + (size_t)k] = (int16_t)group[k];
    }
}

static void fill_i8(struct lanes *lanes, size_t count, int8_t *out)
{
    float group[GROUP];
    for (size_t i = 0; i < count; i += GROUP) {
        bell_group(lanes, BELL_UNIT * BYTE_SCALE, group);
        for (int k = 0; k < GROUP; k++)
            out[i + (size_t)k] = (int8_t)group[k];
    }
}

static void fill_bool(struct lanes *lanes, size_t count, uint8_t *out)
{
    uint32_t words[GROUP];
    for (size_t i = 0; i < count; i += GROUP) {
        lanes_step(lanes, words);
        for (int k = 0; k < GROUP; k++)
            out[i + (size_t)k] = (uint8_t)(words[k] >> 31);
    }
}

bool tdc_values_supported(tdc_dtype dtype)
{
    return tdc_values_rounds(dtype) || dtype == TDC_I64 || dtype == TDC_I32 || dtype == TDC_I16 ||
           dtype == TDC_I8 || dtype == TDC_BOOL;
}

bool tdc_values_rounds(tdc_dtype dtype)
{
    return dtype == TDC_F32 || dtype == TDC_F16 || dtype == TDC_BF16 || dtype == TDC_F64;
}

static void fill_whole(const struct tdc_values *values, struct lanes *lanes, size_t count,
                       void *out)
{
    float scale = bell_scale(values);
    if (values->dtype == TDC_F32)
        fill_f32(lanes, scale, count, out);
    else if (values->dtype == TDC_BF16)
        fill_bf16(lanes, scale, count, out);
    else if (values->dtype == TDC_F16)
        fill_f16(lanes, scale, count, out);
    else if (values->dtype == TDC_F64)
        fill_f64(lanes, scale, count, out);
    else if (values->dtype == TDC_I32)
        fill_i32(lanes, count, out);
    else if (values->dtype == TDC_I64)
        fill_i64(lanes, count, out);
    else if (values->dtype == TDC_I16)
        fill_i16(lanes, count, out);
    else if (values->dtype == TDC_I8)
        fill_i8(lanes, count, out);
    else if (values->dtype == TDC_BOOL)
        fill_bool(lanes, count, out);
}

void tdc_values_fill(const struct tdc_values *values, uint64_t block, size_t count, void *elements)
{
    struct lanes lanes;
    lanes_start(&lanes, values->seed, block);
    size_t whole = count / GROUP * GROUP, rest = count - whole;
    fill_whole(values, &lanes, whole, elements);
    if (rest == 0)
        return;
    union {
        float f32[GROUP];
        double f64[GROUP];
        uint16_t half[GROUP];
        int8_t i8[GROUP];
        int16_t i16[GROUP];
        int32_t i32[GROUP];
        int64_t i64[GROUP];
    } last;
    size_t width = tdc_dtype_size(values->dtype);
    fill_whole(values, &lanes, GROUP, &last);
    memcpy((char *)elements + whole * width, &last, rest * width);
}

/* ---- differences ----------------------------------------------------------------------------- */

static void spike_one(tdc_dtype dtype, unsigned char *element)
{
    union {
        float f32;
        double f64;
        uint16_t half;
        uint8_t truth;
        int8_t i8;
        int16_t i16;
        int32_t i32;
        int64_t i64;
    } value;
    size_t width = tdc_dtype_size(dtype);
    memcpy(&value, element, width);
    if (dtype == TDC_BOOL)
        value.truth ^= 1;
    else if (dtype == TDC_I8)
        value.i8 = (int8_t)(value.i8 + (value.i8 < 0 ? BYTE_SPIKE : -BYTE_SPIKE));
    else if (dtype == TDC_I16)
        value.i16 = (int16_t)(value.i16 + (value.i16 < 0 ? SHORT_SPIKE : -SHORT_SPIKE));
    else if (dtype == TDC_F32)
        value.f32 += FLOAT_SPIKE;
    else if (dtype == TDC_F64)
        value.f64 += (double)FLOAT_SPIKE;
    else if (dtype == TDC_BF16)
        value.half = to_bf16(from_bf16(value.half) + FLOAT_SPIKE);
    else if (dtype == TDC_F16)
        value.half = to_f16(from_f16(value.half) + FLOAT_SPIKE);
    else if (dtype == TDC_I32)
        value.i32 += INTEGER_SPIKE;
    else
        value.i64 += INTEGER_SPIKE;
    memcpy(element, &value, width);
}

void tdc_values_spike(tdc_dtype dtype, void *elements, size_t count)
{
    size_t width = tdc_dtype_size(dtype);
    for (size_t i = 0; i < count; i += TDC_VALUES_SPIKE_EVERY)
        spike_one(dtype, (unsigned char *)elements + i * width);
}

void tdc_values_round(tdc_dtype dtype, void *elements, size_t count)
{
    if (!tdc_values_rounds(dtype))
        return;
    /* dumps are little endian: the lowest bit is in the first byte */
    size_t width = tdc_dtype_size(dtype);
    for (size_t i = 0; i < count; i += TDC_VALUES_ROUNDING_EVERY)
        ((unsigned char *)elements)[i * width] ^= 1;
}

/* ---- noise ----------------------------------------------------------------------------------- */

#define NOISE_SEED 0x6e6f697365ULL /* added to that of the tensor */

/* Twice the rounding of a type, or a few of those of f32 and f64 sums. */
static float noise_of(tdc_dtype dtype)
{
    return dtype == TDC_BF16  ? 0x1p-8F
           : dtype == TDC_F16 ? 0x1p-11F
           : dtype == TDC_F32 ? 0x1p-21F
                              : 0x1p-50F;
}

static void disturb_one(tdc_dtype dtype, float relative, float absolute, float bell,
                        unsigned char *element)
{
    union {
        float f32;
        double f64;
        uint16_t half;
        uint8_t truth;
        int8_t i8;
        int16_t i16;
        int32_t i32;
        int64_t i64;
    } value;
    size_t width = tdc_dtype_size(dtype);
    int step = (int)(2 * bell);
    memcpy(&value, element, width);
    if (dtype == TDC_F32)
        value.f32 += value.f32 * relative + absolute;
    else if (dtype == TDC_F64)
        value.f64 += value.f64 * (double)relative + (double)absolute;
    else if (dtype == TDC_BF16)
        value.half = to_bf16(from_bf16(value.half) * (1 + relative) + absolute);
    else if (dtype == TDC_F16)
        value.half = to_f16(from_f16(value.half) * (1 + relative) + absolute);
    else if (dtype == TDC_I64)
        value.i64 += step;
    else if (dtype == TDC_I32)
        value.i32 += step;
    else if (dtype == TDC_I16)
        value.i16 = (int16_t)(value.i16 + step);
    else if (dtype == TDC_I8)
        value.i8 = (int8_t)(value.i8 + (step > 3 ? 3 : step < -3 ? -3 : step));
    else
        value.truth ^= step > 3 ? 1 : 0;
    memcpy(element, &value, width);
}

void tdc_values_disturb(const struct tdc_values *values, uint64_t block, size_t count,
                        void *elements)
{
    float relative[TDC_VALUES_BLOCK], absolute[TDC_VALUES_BLOCK];
    size_t width = tdc_dtype_size(values->dtype);
    float unit = noise_of(values->dtype);
    struct lanes lanes;
    lanes_start(&lanes, values->seed + NOISE_SEED, block);
    fill_f32(&lanes, BELL_UNIT, TDC_VALUES_BLOCK, relative);
    fill_f32(&lanes, BELL_UNIT, TDC_VALUES_BLOCK, absolute);
    for (size_t i = 0; i < count; i++)
        if (i % TDC_VALUES_KEPT_EVERY != 0)
            disturb_one(values->dtype, 2 * unit * relative[i],
                        unit * values->deviation * absolute[i] / 4, relative[i],
                        (unsigned char *)elements + i * width);
}

/* ---- statistics ------------------------------------------------------------------------------ */

void tdc_values_statistics_clear(struct tdc_values_statistics *statistics)
{
    *statistics = (struct tdc_values_statistics){.max = -HUGE_VAL, .min = HUGE_VAL};
}

/* So many floats are summed in float, 16 to a lane, before they enter the double: the error stays
 * below that of a collector, which sums in float throughout, at a third of the cost of doubles. */
#define SUM_RUN   256
#define SUM_LANES 16

static void add_run(struct tdc_values_statistics *statistics, const float floats[SUM_RUN])
{
    float max[SUM_LANES], min[SUM_LANES], sum[SUM_LANES] = {0}, squares[SUM_LANES] = {0};
    for (int k = 0; k < SUM_LANES; k++)
        max[k] = min[k] = floats[k];
    for (int i = 0; i < SUM_RUN; i += SUM_LANES) {
        for (int k = 0; k < SUM_LANES; k++) {
            float value = floats[i + k];
            max[k] = value > max[k] ? value : max[k];
            min[k] = value < min[k] ? value : min[k];
            sum[k] += value;
            squares[k] += value * value;
        }
    }
    for (int k = 0; k < SUM_LANES; k++) {
        statistics->max = (double)max[k] > statistics->max ? (double)max[k] : statistics->max;
        statistics->min = (double)min[k] < statistics->min ? (double)min[k] : statistics->min;
        statistics->sum += (double)sum[k];
        statistics->squares += (double)squares[k];
    }
}

static void add_value(struct tdc_values_statistics *statistics, double value)
{
    statistics->max = value > statistics->max ? value : statistics->max;
    statistics->min = value < statistics->min ? value : statistics->min;
    statistics->sum += value;
    statistics->squares += value * value;
}

static double value_at(tdc_dtype dtype, const void *elements, size_t i)
{
    if (dtype == TDC_F32)
        return (double)((const float *)elements)[i];
    if (dtype == TDC_F64)
        return ((const double *)elements)[i];
    if (dtype == TDC_BF16)
        return (double)from_bf16(((const uint16_t *)elements)[i]);
    if (dtype == TDC_F16)
        return (double)from_f16(((const uint16_t *)elements)[i]);
    if (dtype == TDC_I32)
        return (double)((const int32_t *)elements)[i];
    if (dtype == TDC_I16)
        return (double)((const int16_t *)elements)[i];
    if (dtype == TDC_I8)
        return (double)((const int8_t *)elements)[i];
    if (dtype == TDC_BOOL)
        return (double)((const uint8_t *)elements)[i];
    return (double)((const int64_t *)elements)[i];
}

static void decode(tdc_dtype dtype, const void *elements, size_t count, float *restrict floats)
{
    const uint16_t *restrict halves = elements;
    const int32_t *restrict words = elements;
    if (dtype == TDC_BF16)
        for (size_t i = 0; i < count; i++)
            floats[i] = from_bf16(halves[i]);
    else if (dtype == TDC_F16)
        for (size_t i = 0; i < count; i++)
            floats[i] = from_f16(halves[i]);
    else if (dtype == TDC_I32)
        for (size_t i = 0; i < count; i++)
            floats[i] = (float)words[i]; /* exact: below 2^24 */
}

void tdc_values_statistics_add(struct tdc_values_statistics *statistics, tdc_dtype dtype,
                               const void *elements, size_t count)
{
    size_t done = 0;
    float floats[TDC_VALUES_BLOCK];
    const float *source = dtype == TDC_F32 ? elements : floats;
    if (tdc_dtype_size(dtype) == 4 || dtype == TDC_BF16 || dtype == TDC_F16) {
        decode(dtype, elements, count, floats);
        for (; count - done >= SUM_RUN; done += SUM_RUN)
            add_run(statistics, source + done);
    }
    for (; done < count; done++)
        add_value(statistics, value_at(dtype, elements, done));
    statistics->count += count;
}
