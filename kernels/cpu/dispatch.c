#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "kernels/cpu/pair_kernel.h"

static const struct {
    const char *name;
    const struct tdc_pair_kernel *kernel;
} variants[TDC_CPU_VARIANTS] = {
    [TDC_CPU_BASELINE] = {"baseline", &tdc_pair_kernel_baseline},
#if defined(__x86_64__)
    [TDC_CPU_X86_64_V3] = {"x86-64-v3", &tdc_pair_kernel_x86_64_v3},
    [TDC_CPU_X86_64_V4] = {"x86-64-v4", &tdc_pair_kernel_x86_64_v4},
#else
    [TDC_CPU_X86_64_V3] = {"x86-64-v3", NULL},
    [TDC_CPU_X86_64_V4] = {"x86-64-v4", NULL},
#endif
};

const char *tdc_cpu_variant_name(enum tdc_cpu_variant variant)
{
    return (unsigned)variant < TDC_CPU_VARIANTS ? variants[variant].name : "unknown";
}

#if defined(__x86_64__)
/* F16C, LZCNT and MOVBE, which not every compiler's __builtin_cpu_supports knows. */
static bool cpuid_has_rest_of_v3(void)
{
    unsigned a, b, c, d, extended;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !__get_cpuid(0x80000001u, &a, &b, &extended, &d))
        return false;
    return (c & (1u << 29)) && (c & (1u << 22)) && (extended & (1u << 5));
}

/* What -march=x86-64-v3 and -v4 may use; the registers are the operating system's affair, too. */
static bool machine_runs(enum tdc_cpu_variant variant)
{
    bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
              __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
              __builtin_cpu_supports("popcnt") && cpuid_has_rest_of_v3();
    switch (variant) {
    case TDC_CPU_BASELINE:
        return true;
    case TDC_CPU_X86_64_V3:
        return v3;
    case TDC_CPU_X86_64_V4:
        return v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512vl");
    default:
        return false;
    }
}
#else
static bool machine_runs(enum tdc_cpu_variant variant)
{
    return variant == TDC_CPU_BASELINE;
}
#endif

/* Asked for every pair, and cpuid traps in a virtual machine: the answer is kept. */
bool tdc_cpu_variant_usable(enum tdc_cpu_variant variant)
{
    enum {
        UNKNOWN,
        NO,
        YES
    };
    static atomic_int answers[TDC_CPU_VARIANTS];
    if ((unsigned)variant >= TDC_CPU_VARIANTS)
        return false;
    int answer = atomic_load_explicit(&answers[variant], memory_order_relaxed);
    if (answer == UNKNOWN) {
        answer = variants[variant].kernel != NULL && machine_runs(variant) ? YES : NO;
        atomic_store_explicit(&answers[variant], answer, memory_order_relaxed);
    }
    return answer == YES;
}

/* What was chosen, and 1; 0: nothing yet. Asked for every few hundred elements. */
static atomic_int kept_choice;

void tdc_cpu_variant_look_again(void)
{
    atomic_store_explicit(&kept_choice, 0, memory_order_relaxed);
}

static enum tdc_cpu_variant choose(void)
{
    enum tdc_cpu_variant best = TDC_CPU_BASELINE;
    const char *wish = getenv("TDC_CPU");
    for (unsigned i = 0; i < TDC_CPU_VARIANTS; i++) {
        enum tdc_cpu_variant variant = (enum tdc_cpu_variant)i;
        if (!tdc_cpu_variant_usable(variant))
            continue;
        if (wish && strcmp(wish, variants[variant].name) == 0)
            return variant;
        best = variant;
    }
    return best;
}

enum tdc_cpu_variant tdc_cpu_variant_chosen(void)
{
    int kept = atomic_load_explicit(&kept_choice, memory_order_relaxed);
    if (kept == 0) {
        kept = (int)choose() + 1;
        atomic_store_explicit(&kept_choice, kept, memory_order_relaxed);
    }
    return (enum tdc_cpu_variant)(kept - 1);
}

/* Types whose every value is an f32 number. */
static bool dtype_fits_f32(tdc_dtype dtype)
{
    switch (dtype) {
    case TDC_BOOL:
    case TDC_I8:
    case TDC_I16:
    case TDC_U8:
    case TDC_U16:
    case TDC_F8_E4M3:
    case TDC_F8_E5M2:
    case TDC_F16:
    case TDC_BF16:
    case TDC_F32:
        return true;
    default:
        return false;
    }
}

static enum pair_arithmetic native_arithmetic(tdc_dtype n, tdc_dtype b)
{
    if (n == TDC_F16 && b == TDC_F16)
        return NATIVE_F16;
    if ((n == TDC_F16 || dtype_is_single(n)) && (b == TDC_F16 || dtype_is_single(b)))
        return NATIVE_F32;
    return dtype_is_integer(n) && dtype_is_integer(b) ? NATIVE_INTEGER : NATIVE_F64;
}

static enum pair_arithmetic promoted_arithmetic(tdc_dtype n, tdc_dtype b)
{
    return dtype_is_short_float(n) && dtype_is_short_float(b) ? NATIVE_F32
                                                              : native_arithmetic(n, b);
}

static enum pair_arithmetic exact_arithmetic(tdc_dtype n, tdc_dtype b)
{
    if (tdc_dtype_is_complex(n) || tdc_dtype_is_complex(b))
        return EXACT_COMPLEX;
    if (dtype_is_integer(n) && dtype_is_integer(b))
        return EXACT_INTEGER;
    return dtype_fits_f32(n) && dtype_fits_f32(b) ? EXACT_F32 : EXACT_F64;
}

bool tdc_pair_plan_make(tdc_dtype n_dtype, tdc_dtype b_dtype, enum tdc_relative_rule rule,
                        enum tdc_cpu_variant variant, struct tdc_pair_plan *plan)
{
    if (tdc_dtype_size(n_dtype) == 0 || tdc_dtype_size(b_dtype) == 0 ||
        !tdc_cpu_variant_usable(variant))
        return false;
    enum pair_arithmetic arithmetic =
        rule == TDC_RELATIVE_NATIVE     ? native_arithmetic(n_dtype, b_dtype)
        : rule == TDC_RELATIVE_PROMOTED ? promoted_arithmetic(n_dtype, b_dtype)
                                        : exact_arithmetic(n_dtype, b_dtype);
    pair_run *wide = rule == TDC_RELATIVE_F64 ? tdc_pair_wide(n_dtype, b_dtype) : NULL;
    *plan = (struct tdc_pair_plan){
        .n_dtype = n_dtype,
        .b_dtype = b_dtype,
        .rule = rule,
        .variant = variant,
        .takes_feeds = wide == NULL,
        .run = wide != NULL ? wide : variants[variant].kernel->run[arithmetic],
    };
    return true;
}
