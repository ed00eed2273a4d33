/* pair_gpu.c - see pair_gpu.h. */
#include "kernels/gpu/pair_gpu.h"

#include <math.h>

#include "kernels/cpu/pair_kernel.h"

extern const char tdc_gpu_lane_layout[], tdc_gpu_decode_bits[], tdc_gpu_pair_lanes[],
    tdc_gpu_join_lanes[];
const char *const tdc_gpu_texts[TDC_GPU_TEXTS] = {tdc_gpu_lane_layout, tdc_gpu_decode_bits,
                                                  tdc_gpu_pair_lanes, tdc_gpu_join_lanes};

/* ---- which kernel ---------------------------------------------------------------------------- */

static const struct {
    gpu_u32 n_code, b_code, mode;
} known[TDC_GPU_KERNELS] = {
    [1] = {GPU_CODE_F32, GPU_CODE_F32, GPU_EXACT_REAL},
    [2] = {GPU_CODE_BF16, GPU_CODE_BF16, GPU_EXACT_REAL},
    [3] = {GPU_CODE_F16, GPU_CODE_F16, GPU_EXACT_REAL},
    [4] = {GPU_CODE_BF16, GPU_CODE_F32, GPU_EXACT_REAL},
    [5] = {GPU_CODE_F32, GPU_CODE_BF16, GPU_EXACT_REAL},
    [6] = {GPU_CODE_F32, GPU_CODE_F32, GPU_NATIVE_F32},
    [7] = {GPU_CODE_BF16, GPU_CODE_BF16, GPU_NATIVE_F32},
    [8] = {GPU_CODE_F16, GPU_CODE_F16, GPU_NATIVE_F16},
    [9] = {GPU_CODE_BF16, GPU_CODE_F32, GPU_NATIVE_F32},
    [10] = {GPU_CODE_F32, GPU_CODE_BF16, GPU_NATIVE_F32},
};

const char *const tdc_gpu_kernel_names[TDC_GPU_KERNELS] = {
    "tdc_pair_any",
    "tdc_pair_f32_exact",
    "tdc_pair_bf16_exact",
    "tdc_pair_f16_exact",
    "tdc_pair_bf16_f32_exact",
    "tdc_pair_f32_bf16_exact",
    "tdc_pair_f32_native",
    "tdc_pair_bf16_native",
    "tdc_pair_f16_native",
    "tdc_pair_bf16_f32_native",
    "tdc_pair_f32_bf16_native",
    "tdc_join_lanes",
};

/* ---- what a kernel is told ------------------------------------------------------------------- */

static gpu_u32 code_of(tdc_dtype dtype)
{
    const struct tdc_dtype_entry *entry = tdc_dtype_entry(dtype);
    gpu_u32 size = entry->size;
    switch (dtype) {
    case TDC_BOOL:
        return GPU_CODE(GPU_KIND_TRUTH, size, 0, 0);
    case TDC_I8:
    case TDC_I16:
    case TDC_I32:
    case TDC_I64:
        return GPU_CODE(GPU_KIND_SIGNED, size, 0, 0);
    case TDC_U8:
    case TDC_U16:
    case TDC_U32:
    case TDC_U64:
        return GPU_CODE(GPU_KIND_UNSIGNED, size, 0, 0);
    case TDC_F8_E4M3:
        return GPU_CODE(GPU_KIND_FLOAT_FN, size, 3, 4);
    case TDC_F8_E5M2:
        return GPU_CODE(GPU_KIND_FLOAT, size, 2, 5);
    case TDC_F16:
        return GPU_CODE_F16;
    case TDC_BF16:
        return GPU_CODE_BF16;
    case TDC_F64:
        return GPU_CODE_F64;
    case TDC_F80:
        return GPU_CODE(GPU_KIND_F80, size, 63, 15);
    case TDC_C64:
        return GPU_CODE(GPU_KIND_COMPLEX, size, 23, 8);
    case TDC_C128:
        return GPU_CODE(GPU_KIND_COMPLEX, size, 52, 11);
    default:
        return GPU_CODE_F32;
    }
}

static gpu_u32 exact_mode(tdc_dtype n, tdc_dtype b)
{
    if (tdc_dtype_is_complex(n) || tdc_dtype_is_complex(b))
        return GPU_EXACT_COMPLEX;
    if (tdc_pair_wide(n, b) != NULL)
        return GPU_EXACT_WIDE;
    bool whole = dtype_is_integer(n) && dtype_is_integer(b);
    return whole && (tdc_dtype_size(n) == 8 || tdc_dtype_size(b) == 8) ? GPU_EXACT_INTEGER
                                                                       : GPU_EXACT_REAL;
}

static gpu_u32 native_mode(const struct tdc_pair_plan *plan)
{
    tdc_dtype n = plan->n_dtype, b = plan->b_dtype;
    if (plan->rule == TDC_RELATIVE_PROMOTED)
        return dtype_is_short_float(n) && dtype_is_short_float(b) ? GPU_NATIVE_F32 : GPU_NATIVE_F64;
    if (n == TDC_F16 && b == TDC_F16)
        return GPU_NATIVE_F16;
    return (n == TDC_F16 || dtype_is_single(n)) && (b == TDC_F16 || dtype_is_single(b))
               ? GPU_NATIVE_F32
               : GPU_NATIVE_F64;
}

/* What is added where b is 0, see enum tdc_relative_rule. */
static void set_epsilons(const struct tdc_pair_plan *plan, struct gpu_pair *pair)
{
    bool promoted = plan->rule == TDC_RELATIVE_PROMOTED;
    double promoted_epsilon = pair->mode == GPU_NATIVE_F32 ? 0x1p-23 : 0x1p-52;
    pair->n_epsilon = promoted ? promoted_epsilon : plan->n_dtype == TDC_F16 ? 0 : 0x1p-52;
    pair->b_epsilon = promoted ? promoted_epsilon : plan->b_dtype == TDC_F16 ? 0 : 0x1p-52;
    pair->n_single = !promoted && dtype_is_single(plan->n_dtype);
}

/* In the type of e. */
static double limit_of(gpu_u32 mode, double limit)
{
    if (mode == GPU_NATIVE_F16)
        return (double)tdc_round_to_f16((float)limit);
    return mode == GPU_NATIVE_F32 ? (double)(float)limit : limit;
}

unsigned tdc_gpu_pair_make(const struct tdc_pair_plan *plan, struct gpu_pair *pair)
{
    *pair = (struct gpu_pair){
        .n_code = code_of(plan->n_dtype),
        .b_code = code_of(plan->b_dtype),
        .mode = plan->rule == TDC_RELATIVE_F64 ? exact_mode(plan->n_dtype, plan->b_dtype)
                                               : native_mode(plan),
        .words = plan->extremes ? GPU_LANE_WORDS : GPU_SHORT_WORDS,
    };
    if (plan->rule != TDC_RELATIVE_F64)
        set_epsilons(plan, pair);
    for (int k = 0; k < TDC_PAIR_LIMITS; k++)
        pair->limits[k] = limit_of(pair->mode, tdc_pair_limits[k]);
    for (unsigned i = 1; i < TDC_GPU_JOIN; i++)
        if (known[i].n_code == pair->n_code && known[i].b_code == pair->b_code &&
            known[i].mode == pair->mode)
            return i;
    return TDC_GPU_ANY;
}

void tdc_gpu_table_add(gpu_u32 *table, struct gpu_pair *pair, size_t count)
{
    gpu_u32 *entry = table + (size_t)2 * pair->chunks++;
    entry[0] = (gpu_u32)pair->blocks;
    entry[1] = (gpu_u32)count;
    pair->blocks += (count + GPU_BLOCK - 1) / GPU_BLOCK;
}

/* ---- work items ------------------------------------------------------------------------------ */

static uint64_t in_groups(uint64_t items)
{
    return (items + TDC_GPU_GROUP - 1) / TDC_GPU_GROUP * TDC_GPU_GROUP;
}

uint64_t tdc_gpu_pair_items(const struct gpu_pair *pair)
{
    return in_groups(pair->blocks * GPU_LANES);
}

uint64_t tdc_gpu_join_items(const struct gpu_pair *pair)
{
    return in_groups((uint64_t)pair->chunks * pair->words * GPU_LANES);
}

/* ---- what comes back ------------------------------------------------------------------------- */

static double as_double(gpu_u64 bits)
{
    union {
        gpu_u64 bits;
        double value;
    } both = {bits};
    return both.value;
}

static double joined_sum(const gpu_u64 *words, unsigned word)
{
    const gpu_u64 *lanes = words + (size_t)word * GPU_LANES;
    double sum = as_double(lanes[0]);
    for (unsigned lane = 1; lane < GPU_LANES; lane++)
        sum += as_double(lanes[lane]);
    return sum == sum ? sum : (double)NAN;
}

static double joined_extreme(const gpu_u64 *words, unsigned word, double sign)
{
    const gpu_u64 *lanes = words + (size_t)word * GPU_LANES;
    double extreme = sign * as_double(lanes[0]);
    for (unsigned lane = 1; lane < GPU_LANES; lane++)
        extreme = fmax(extreme, sign * as_double(lanes[lane]));
    return sign * extreme + 0.0;
}

/* Lanes are interleaved: of equal maxima the one with the lower place is the first. */
static void join_maximum(const gpu_u64 *words, unsigned word, unsigned place_word, double *maximum,
                         uint64_t *at)
{
    for (unsigned lane = 0; lane < GPU_LANES; lane++) {
        double value = as_double(words[(size_t)word * GPU_LANES + lane]);
        uint64_t place = words[(size_t)place_word * GPU_LANES + lane];
        if (value > *maximum || (value == *maximum && value >= 0 && place < *at)) {
            *maximum = value;
            *at = place;
        }
    }
}

static uint64_t joined_count(const gpu_u64 *words, unsigned even, unsigned odd, unsigned byte)
{
    uint64_t total = 0;
    const gpu_u64 *lanes = words + (size_t)(byte % 2 == 0 ? even : odd) * GPU_LANES;
    for (unsigned lane = 0; lane < GPU_LANES; lane++)
        total += lanes[lane] >> (16 * (byte / 2)) & 0xffff;
    return total;
}

static uint64_t relations(const gpu_u64 *words, unsigned byte)
{
    return joined_count(words, GPU_RELATIONS, GPU_RELATIONS_ODD, byte);
}

static uint64_t oddities(const gpu_u64 *words, unsigned byte)
{
    return joined_count(words, GPU_ODDITIES, GPU_ODDITIES_ODD, byte);
}

static void join_extremes(const gpu_u64 *words, struct tdc_pair_sums *sums)
{
    sums->n = joined_sum(words, GPU_SUM_N);
    sums->b = joined_sum(words, GPU_SUM_B);
    sums->n_min = joined_extreme(words, GPU_N_MIN, -1);
    sums->n_max = joined_extreme(words, GPU_N_MAX, 1);
    sums->b_min = joined_extreme(words, GPU_B_MIN, -1);
    sums->b_max = joined_extreme(words, GPU_B_MAX, 1);
}

bool tdc_gpu_chunk_join(const struct gpu_pair *pair, const gpu_u64 *words, size_t count,
                        struct tdc_pair_sums *sums)
{
    tdc_pair_clear(sums);
    if (relations(words, GPU_BYTE_BEYOND) != 0)
        return false;
    sums->count = count;
    sums->finite = relations(words, GPU_BYTE_FINITE);
    sums->nb = joined_sum(words, GPU_SUM_NB);
    sums->nn = joined_sum(words, GPU_SUM_NN);
    sums->bb = joined_sum(words, GPU_SUM_BB);
    sums->dd = joined_sum(words, GPU_SUM_DD);
    sums->abs = joined_sum(words, GPU_SUM_ABS);
    if (pair->words == GPU_LANE_WORDS)
        join_extremes(words, sums);
    join_maximum(words, GPU_ABS_MAX, GPU_AT, &sums->abs_max, &sums->abs_at);
    join_maximum(words, GPU_REL_MAX, GPU_REL_AT, &sums->rel_max, &sums->rel_at);
    sums->rel_nan = relations(words, GPU_BYTE_REL_NAN);
    for (unsigned k = 0; k < TDC_PAIR_LIMITS; k++)
        sums->below[k] = relations(words, k);
    sums->n_nan = oddities(words, GPU_BYTE_N_NAN);
    sums->b_nan = oddities(words, GPU_BYTE_B_NAN);
    sums->n_inf = oddities(words, GPU_BYTE_N_INF);
    sums->b_inf = oddities(words, GPU_BYTE_B_INF);
    sums->nan_apart = oddities(words, GPU_BYTE_NAN_APART);
    sums->inf_apart = oddities(words, GPU_BYTE_INF_APART);
    sums->nonfinite_equal = oddities(words, GPU_BYTE_EQUAL);
    return true;
}
