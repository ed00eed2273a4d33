/*
 * pair_lanes.h - the first kernel: one lane of one block of a pair of tensors.
 *
 * kernels/pair.h is the contract. A lane takes every eighth pair of its block, in order, so its
 * sums have the bits of the CPU's. A pair that is not both finite counts as 0 against 0. What is
 * rounded to f16 or f32 is computed in float64 and rounded then: its 53 digits are more than twice
 * the others' and two, so that rounding twice does no harm for a sum, a difference or a quotient.
 */
#ifndef TDC_GPU_PAIR_LANES_H
#define TDC_GPU_PAIR_LANES_H

/* ---- one pair -------------------------------------------------------------------------------- */

/*
 * A magnitude (or NaN) to the nearest number of 53 - spare digits, ties to even, of which `least`
 * is the exponent of the smallest normal one and those from 2^beyond on are infinite.
 */
GPU_INLINE double gpu_round_magnitude(double magnitude, int spare, int least, int beyond)
{
    int exponent = (int)(GPU_AS_BITS(magnitude) >> 52) - 1023;
    exponent = exponent < least ? least : exponent > beyond ? beyond : exponent;
    double shift = gpu_power(exponent + spare);
    double rounded = GPU_ADD(GPU_ADD(magnitude, shift), -shift);
    return rounded >= gpu_power(beyond) ? GPU_AS_DOUBLE(GPU_INFINITY_BITS) : rounded;
}

GPU_INLINE double gpu_round_to_f16(double magnitude)
{
    return gpu_round_magnitude(magnitude, 42, -14, 16);
}

GPU_INLINE double gpu_round_to_f32(double value)
{
    double magnitude = gpu_round_magnitude(fabs(value), 29, -126, 128);
    return value < 0.0 ? -magnitude : magnitude;
}

/* sqrt(re^2 + im^2), as kernels/cpu/block_distance.h has it. */
GPU_INLINE double gpu_modulus(double re, double im)
{
    double x = fabs(re), y = fabs(im), larger = x > y ? x : y, scale = 1.0, back = 1.0;
    double largest = GPU_AS_DOUBLE(GPU_INFINITY_BITS - 1ul);
    if (larger > gpu_power(500)) {
        scale = gpu_power(-600);
        back = gpu_power(600);
    }
    if (larger < gpu_power(-400)) {
        scale = gpu_power(600);
        back = gpu_power(-600);
    }
    x = x * scale;
    y = y * scale;
    double modulus = sqrt(GPU_ADD(GPU_MULTIPLY(x, x), GPU_MULTIPLY(y, y))) * back;
    double limit = larger <= largest ? largest : larger;
    return modulus > limit ? limit : modulus;
}

/* |n - b| of integers in two's complement (or U64, where the bits of a sign mean none), rounded
 * once. */
GPU_INLINE double gpu_integer_distance(gpu_u64 n, gpu_u32 n_signed, gpu_u64 b, gpu_u32 b_signed)
{
    gpu_u64 n_below = n_signed != 0u ? n >> 63 : 0ul, b_below = b_signed != 0u ? b >> 63 : 0ul;
    if (n_below == b_below) /* two's complement keeps the order within one sign */
        return gpu_from_unsigned(n > b ? n - b : b - n);
    gpu_u64 upper = n_below != 0ul ? b : n, lower = n_below != 0ul ? n : b;
    gpu_u64 sum = upper - lower;
    if (sum >= upper) /* all 65 bits of the sum are these 64 */
        return gpu_from_unsigned(sum);
    /* one bit too many: drop the last but remember it, which is all that rounding asks for */
    return 2.0 * gpu_from_unsigned((sum >> 1) | (sum & 1ul) | GPU_SIGN_BIT);
}

/* |d / b|, but 1 where b is 0, and 0 where d is. */
GPU_INLINE double gpu_exact_relative(double d, double b)
{
    return d == 0.0 ? 0.0 : fabs(d / (b == 0.0 ? d : b));
}

/* |(n - b) / b|, each step rounded to the type of the rule. */
GPU_INLINE double gpu_native_relative(const struct gpu_pair *pair, gpu_u32 mode, double n, double b)
{
    if (mode == GPU_NATIVE_F16)
        return gpu_round_to_f16(gpu_round_to_f16(fabs(n - b)) / fabs(b));
    double x = n + (b == 0.0 ? pair->n_epsilon : 0.0);
    double y = b + (b == 0.0 ? pair->b_epsilon : 0.0);
    if (mode == GPU_NATIVE_F32) {
        x = gpu_round_to_f32(x);
        return gpu_round_to_f32(fabs(gpu_round_to_f32(x - y) / y));
    }
    x = pair->n_single != 0u ? gpu_round_to_f32(x) : x;
    return fabs((x - y) / y);
}

/* Bit 0: NaN, bit 1: infinite, of the larger magnitude of two parts. */
GPU_INLINE gpu_u32 gpu_class(double re, double im)
{
    gpu_u64 x = GPU_AS_BITS(re) & ~GPU_SIGN_BIT, y = GPU_AS_BITS(im) & ~GPU_SIGN_BIT;
    gpu_u64 larger = x > y ? x : y;
    return larger > GPU_INFINITY_BITS ? 1u : larger == GPU_INFINITY_BITS ? 2u : 0u;
}

/* ---- a lane ---------------------------------------------------------------------------------- */

struct gpu_lane {
    double nb, nn, bb, dd, abs;
    double abs_max, rel_max;
    gpu_u64 abs_at, rel_at, relations, oddities;
    double n, b, n_min, n_max, b_min, b_max;
};

GPU_INLINE void gpu_start_lane(struct gpu_lane *lane)
{
    lane->nb = lane->nn = lane->bb = lane->dd = lane->abs = lane->n = lane->b = 0.0;
    lane->abs_max = lane->rel_max = -1.0;
    lane->abs_at = lane->rel_at = lane->relations = lane->oddities = 0ul;
    lane->n_min = lane->b_min = GPU_AS_DOUBLE(GPU_INFINITY_BITS);
    lane->n_max = lane->b_max = -GPU_AS_DOUBLE(GPU_INFINITY_BITS);
}

GPU_INLINE gpu_u64 gpu_one_in_byte(gpu_u32 condition, int byte)
{
    return (gpu_u64)condition << (8 * byte);
}

GPU_INLINE void gpu_count_oddities(struct gpu_lane *lane, gpu_u32 n_class, gpu_u32 b_class,
                                   gpu_u32 same)
{
    gpu_u32 apart = n_class ^ b_class;
    lane->oddities +=
        gpu_one_in_byte(n_class & 1u, GPU_BYTE_N_NAN) +
        gpu_one_in_byte(b_class & 1u, GPU_BYTE_B_NAN) +
        gpu_one_in_byte(n_class >> 1, GPU_BYTE_N_INF) +
        gpu_one_in_byte(b_class >> 1, GPU_BYTE_B_INF) +
        gpu_one_in_byte(apart & 1u, GPU_BYTE_NAN_APART) +
        gpu_one_in_byte(apart >> 1, GPU_BYTE_INF_APART) +
        gpu_one_in_byte((n_class & b_class & 1u) | ((n_class >> 1) & same), GPU_BYTE_EQUAL);
}

/* The sums, |n-b| and e of a pair that is finite or 0 against 0. */
GPU_INLINE void gpu_add_pair(struct gpu_lane *lane, const struct gpu_pair *pair, gpu_u32 mode,
                             const struct gpu_value *n, const struct gpu_value *b, gpu_u32 n_code,
                             gpu_u32 b_code, double *distance, double *relative)
{
    double x = n->re, y = b->re, d = x - y;
    double nb = GPU_MULTIPLY(x, y), nn = GPU_MULTIPLY(x, x), bb = GPU_MULTIPLY(y, y), dd;
    if (mode == GPU_EXACT_INTEGER)
        d = gpu_integer_distance(n->whole, GPU_CODE_KIND(n_code) == GPU_KIND_SIGNED ? 1u : 0u,
                                 b->whole, GPU_CODE_KIND(b_code) == GPU_KIND_SIGNED ? 1u : 0u);
    dd = GPU_MULTIPLY(d, d);
    if (mode == GPU_EXACT_COMPLEX) {
        double d_imaginary = n->im - b->im, modulus = gpu_modulus(y, b->im);
        nb = GPU_ADD(nb, GPU_MULTIPLY(n->im, b->im));
        nn = GPU_ADD(nn, GPU_MULTIPLY(n->im, n->im));
        bb = GPU_ADD(bb, GPU_MULTIPLY(b->im, b->im));
        dd = GPU_ADD(dd, GPU_MULTIPLY(d_imaginary, d_imaginary));
        d = gpu_modulus(d, d_imaginary);
        *relative = gpu_exact_relative(d, modulus);
    } else if (mode < GPU_NATIVE_F16) {
        *relative = gpu_exact_relative(d, y);
    } else {
        *relative = gpu_native_relative(pair, mode, x, y);
    }
    *distance = fabs(d);
    lane->nb = GPU_ADD(lane->nb, nb);
    lane->nn = GPU_ADD(lane->nn, nn);
    lane->bb = GPU_ADD(lane->bb, bb);
    lane->dd = GPU_ADD(lane->dd, dd);
    lane->abs = GPU_ADD(lane->abs, *distance);
}

GPU_INLINE void gpu_add_extremes(struct gpu_lane *lane, double n, double b)
{
    lane->n = GPU_ADD(lane->n, n);
    lane->b = GPU_ADD(lane->b, b);
    lane->n_min = n < lane->n_min ? n : lane->n_min;
    lane->n_max = n > lane->n_max ? n : lane->n_max;
    lane->b_min = b < lane->b_min ? b : lane->b_min;
    lane->b_max = b > lane->b_max ? b : lane->b_max;
}

GPU_INLINE void gpu_enter_maxima(struct gpu_lane *lane, double distance, double relative,
                                 gpu_u64 at)
{
    if (distance > lane->abs_max) {
        lane->abs_max = distance;
        lane->abs_at = at;
    }
    if (relative > lane->rel_max) { /* never by NaN */
        lane->rel_max = relative;
        lane->rel_at = at;
    }
}

/* One pair, at a place of its chunk. */
GPU_INLINE void gpu_take_pair(struct gpu_lane *lane, const struct gpu_pair *pair, gpu_u32 mode,
                              struct gpu_value n, struct gpu_value b, gpu_u32 n_code,
                              gpu_u32 b_code, gpu_u64 at)
{
    gpu_u32 native = mode >= GPU_NATIVE_F16 ? 1u : 0u;
    if (mode != GPU_EXACT_COMPLEX) /* the real part alone, everywhere */
        n.im = b.im = 0.0;
    gpu_u32 n_class = gpu_class(n.re, n.im), b_class = gpu_class(b.re, b.im);
    gpu_u32 finite = (n_class | b_class) == 0u ? 1u : 0u;
    if (mode == GPU_EXACT_WIDE &&
        ((n.beyond | b.beyond) != 0u || (finite != 0u && gpu_class(n.re - b.re, 0.0) != 0u)))
        lane->relations += gpu_one_in_byte(1u, GPU_BYTE_BEYOND);
    if (finite == 0u) {
        gpu_count_oddities(lane, n_class, b_class, n.re == b.re && n.im == b.im ? 1u : 0u);
        n.re = n.im = b.re = b.im = 0.0;
    }
    double distance, relative;
    gpu_add_pair(lane, pair, mode, &n, &b, n_code, b_code, &distance, &relative);
    lane->relations += gpu_one_in_byte(finite, GPU_BYTE_FINITE);
    if (finite != 0u && pair->words == GPU_LANE_WORDS)
        gpu_add_extremes(lane, n.re, b.re);
    if ((native | finite) == 0u)
        return;
    gpu_enter_maxima(lane, distance, relative, at);
    lane->relations += gpu_one_in_byte(relative != relative ? 1u : 0u, GPU_BYTE_REL_NAN);
    for (int k = 0; k < 4; k++)
        if (k < 2 || native == 0u)
            lane->relations += gpu_one_in_byte(relative < pair->limits[k] ? 1u : 0u, k);
}

GPU_INLINE void gpu_store_lane(const struct gpu_lane *lane, gpu_u32 words, GPU_GLOBAL gpu_u64 *to)
{
    to[GPU_SUM_NB * GPU_LANES] = GPU_AS_BITS(lane->nb);
    to[GPU_SUM_NN * GPU_LANES] = GPU_AS_BITS(lane->nn);
    to[GPU_SUM_BB * GPU_LANES] = GPU_AS_BITS(lane->bb);
    to[GPU_SUM_DD * GPU_LANES] = GPU_AS_BITS(lane->dd);
    to[GPU_SUM_ABS * GPU_LANES] = GPU_AS_BITS(lane->abs);
    to[GPU_ABS_MAX * GPU_LANES] = GPU_AS_BITS(lane->abs_max);
    to[GPU_REL_MAX * GPU_LANES] = GPU_AS_BITS(lane->rel_max);
    to[GPU_RELATIONS * GPU_LANES] = lane->relations;
    to[GPU_ODDITIES * GPU_LANES] = lane->oddities;
    to[GPU_AT * GPU_LANES] = lane->abs_at << 32 | lane->rel_at;
    if (words != GPU_LANE_WORDS)
        return;
    to[GPU_SUM_N * GPU_LANES] = GPU_AS_BITS(lane->n);
    to[GPU_SUM_B * GPU_LANES] = GPU_AS_BITS(lane->b);
    to[GPU_N_MIN * GPU_LANES] = GPU_AS_BITS(lane->n_min);
    to[GPU_N_MAX * GPU_LANES] = GPU_AS_BITS(lane->n_max);
    to[GPU_B_MIN * GPU_LANES] = GPU_AS_BITS(lane->b_min);
    to[GPU_B_MAX * GPU_LANES] = GPU_AS_BITS(lane->b_max);
}

/* The chunk a block is of: the last one that does not begin behind it. */
GPU_INLINE gpu_u32 gpu_chunk_of(GPU_GLOBAL const gpu_u32 *table, gpu_u32 chunks, gpu_u64 block)
{
    gpu_u32 low = 0u, high = chunks;
    while (high - low > 1u) {
        gpu_u32 middle = (low + high) / 2u;
        if (table[2u * middle] <= block)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The lane of a work item; those behind the last element do nothing. */
GPU_INLINE void gpu_pair_lane(GPU_GLOBAL const gpu_u8 *n, GPU_GLOBAL const gpu_u8 *b,
                              const struct gpu_pair *pair, gpu_u32 n_code, gpu_u32 b_code,
                              gpu_u32 mode, GPU_GLOBAL const gpu_u32 *table,
                              GPU_GLOBAL gpu_u64 *lanes, gpu_u64 item)
{
    gpu_u64 block = item / GPU_LANES;
    if (block >= pair->blocks)
        return;
    gpu_u32 chunk = gpu_chunk_of(table, pair->chunks, block);
    gpu_u64 first = (gpu_u64)table[2u * chunk] * GPU_BLOCK, start = block * GPU_BLOCK;
    gpu_u64 all = first + table[2u * chunk + 1u];
    gpu_u64 end = start + GPU_BLOCK < all ? start + GPU_BLOCK : all;
    struct gpu_lane lane;
    gpu_start_lane(&lane);
    for (gpu_u64 i = start + item % GPU_LANES; i < end; i += GPU_LANES)
        gpu_take_pair(&lane, pair, mode, gpu_element(n + pair->n_at, i, n_code),
                      gpu_element(b + pair->b_at, i, b_code), n_code, b_code, i - first);
    gpu_store_lane(&lane, pair->words,
                   lanes + block * GPU_LANE_WORDS * GPU_LANES + item % GPU_LANES);
}

/* ---- kernels ------------------------------------------------------------------------------- */

/* Any two types. */
GPU_KERNEL void tdc_pair_any(GPU_GLOBAL const gpu_u8 *n, GPU_GLOBAL const gpu_u8 *b,
                             GPU_GLOBAL const gpu_u32 *table, GPU_GLOBAL gpu_u64 *lanes,
                             struct gpu_pair pair)
{
    gpu_pair_lane(n, b, &pair, pair.n_code, pair.b_code, pair.mode, table, lanes, GPU_WORK_ITEM());
}

/* Those that matter, of which the compiler knows all: by TDC_RELATIVE_F64, and by the other rules.
 */
#define GPU_PAIR_OF(name, n_type, b_type, native)                                                  \
    GPU_KERNEL void tdc_pair_##name(GPU_GLOBAL const gpu_u8 *n, GPU_GLOBAL const gpu_u8 *b,        \
                                    GPU_GLOBAL const gpu_u32 *table, GPU_GLOBAL gpu_u64 *lanes,    \
                                    struct gpu_pair pair)                                          \
    {                                                                                              \
        gpu_pair_lane(n, b, &pair, n_type, b_type, native, table, lanes, GPU_WORK_ITEM());         \
    }

GPU_PAIR_OF(f32_exact, GPU_CODE_F32, GPU_CODE_F32, GPU_EXACT_REAL)
GPU_PAIR_OF(bf16_exact, GPU_CODE_BF16, GPU_CODE_BF16, GPU_EXACT_REAL)
GPU_PAIR_OF(f16_exact, GPU_CODE_F16, GPU_CODE_F16, GPU_EXACT_REAL)
GPU_PAIR_OF(bf16_f32_exact, GPU_CODE_BF16, GPU_CODE_F32, GPU_EXACT_REAL)
GPU_PAIR_OF(f32_bf16_exact, GPU_CODE_F32, GPU_CODE_BF16, GPU_EXACT_REAL)
GPU_PAIR_OF(f32_native, GPU_CODE_F32, GPU_CODE_F32, GPU_NATIVE_F32)
GPU_PAIR_OF(bf16_native, GPU_CODE_BF16, GPU_CODE_BF16, GPU_NATIVE_F32)
GPU_PAIR_OF(f16_native, GPU_CODE_F16, GPU_CODE_F16, GPU_NATIVE_F16)
GPU_PAIR_OF(bf16_f32_native, GPU_CODE_BF16, GPU_CODE_F32, GPU_NATIVE_F32)
GPU_PAIR_OF(f32_bf16_native, GPU_CODE_F32, GPU_CODE_BF16, GPU_NATIVE_F32)

#endif
