/*
 * pair.h - the contract of every kernel: what one pass over a pair of tensors yields.
 *
 * A kernel reads `count` elements of the side under test (n) and of the reference (b), both dense
 * and in native byte order, and fills one `struct tdc_pair_sums`. It neither allocates nor locks,
 * touches no file and no global. Chunks of one pair are joined with tdc_pair_merge in chunk order;
 * with chunks of TDC_PAIR_CHUNK elements the result is the same to the bit for every CPU variant,
 * every number of threads and every order in which chunks finish:
 *   - a chunk is reduced over blocks of 1024 elements and a fixed number of lanes, whatever the
 *     width of the registers;
 *   - blocks, lanes and chunks are joined in index order, in float64;
 *   - no expression may be contracted to a fused multiply-add unless its product is exact.
 * A sum of one chunk is within 2^-44 of the sum of the magnitudes of its terms; docs/kernels.md has
 * the errors that are seen.
 */
#ifndef TDC_KERNELS_PAIR_H
#define TDC_KERNELS_PAIR_H

#include "tdcmp.h"

/* Elements a chunk has (all but the last of a pair). Part of the result: never change it lightly.
 */
#define TDC_PAIR_CHUNK ((size_t)1 << 18)

/* How the relative error e of an element pair is computed. */
enum tdc_relative_rule {
    /*
     * In the precision of the files. bf16 counts as f32. A side that is not f16, f32 or f64 counts
     * as f64 (integers rounded, complex: the real part alone, everywhere). Where b is 0, 2^-52 is
     * added to n and to b, each in its own type (in f16 that changes nothing). Then e = |(n - b) /
     * b| in the wider type of the two, each operation rounded to that type; 0/0 is NaN, x/0
     * infinite. A pair with a NaN or infinity on both sides enters as 0 against 0, one with it on a
     * single side too (the caller discards the sums then, see nan_apart and inf_apart).
     */
    TDC_RELATIVE_NATIVE,
    /*
     * e = |n - b| / |b| in float64, 0 where n = b, 1 where b is 0 and n is not. Differences of
     * 64-bit integers are exact (rounded once, to float64). Where a real side is TDC_F80, or a
     * 64-bit integer faces a number that is none, a pair that float64 cannot hold has n - b and e
     * computed in IEEE's 128 bits and rounded then: what is finite in the file stays finite, what
     * is not 0 does not become 0. Complex numbers use the modulus: sqrt(re^2 + im^2), the parts
     * scaled by 2^-600 if the larger one is above 2^500 and by 2^600 if it is below 2^-400; no
     * modulus of a finite number is above the largest float64. Pairs that are not both finite enter
     * no sum, no maximum and no count but those of NaN and infinity.
     */
    TDC_RELATIVE_F64,
    /*
     * As TDC_RELATIVE_NATIVE, but no narrower than f32: f16 counts as f32 as well, both sides take
     * part in the wider type of the two, and where b is 0 the distance of 1 to the next number of
     * that type (2^-23 or 2^-52) is added to n and to b. No e of finite numbers is NaN.
     */
    TDC_RELATIVE_PROMOTED
};

/* Limits of below[]: 1/1000 and 5/1000 by all rules, the other two only by TDC_RELATIVE_F64. */
#define TDC_PAIR_LIMITS 4
extern const double tdc_pair_limits[TDC_PAIR_LIMITS]; /* 0.001, 0.005, 0.01, 0.1 */

struct tdc_pair_sums {
    uint64_t count;  /* elements seen */
    uint64_t finite; /* pairs with both values finite */

    /* float64 sums over finite pairs */
    double nb, nn, bb; /* n*b, n*n, b*b (complex: real part of n times conjugate of b, ...) */
    double dd;         /* (n-b)^2 */
    double abs;        /* |n-b| */

    /* What dumps know themselves, left as tdc_pair_clear leaves it unless plan->extremes is set. */
    double n, b; /* sums over finite pairs (complex: real parts) */

    /* extremes over finite pairs (complex: real parts), never -0; +inf/-inf when there is none */
    double n_min, n_max, b_min, b_max;

    /* maxima with the index of their first occurrence; -1 and 0 when no pair took part */
    double abs_max, rel_max;
    uint64_t abs_at, rel_at;
    uint64_t rel_nan;                /* pairs whose e is NaN (native rule only: 0/0 in f16) */
    uint64_t below[TDC_PAIR_LIMITS]; /* pairs with e < limit, the limit rounded to the type of e */

    uint64_t n_nan, b_nan, n_inf, b_inf;
    uint64_t nan_apart;       /* NaN on exactly one side */
    uint64_t inf_apart;       /* infinite (of any sign) on exactly one side */
    uint64_t nonfinite_equal; /* both NaN, or both infinite with the same sign */
};

/* CPU variants, worst first. Which ones exist depends on the architecture of the build. */
enum tdc_cpu_variant {
    TDC_CPU_BASELINE,  /* x86-64: SSE2; aarch64: NEON */
    TDC_CPU_X86_64_V3, /* AVX2, F16C, FMA */
    TDC_CPU_X86_64_V4, /* AVX-512 F, BW, CD, DQ, VL */
    TDC_CPU_VARIANTS
};

/* "baseline", "x86-64-v3", "x86-64-v4" */
const char *tdc_cpu_variant_name(enum tdc_cpu_variant variant);
/* True when it is built in and this machine can run it. */
bool tdc_cpu_variant_usable(enum tdc_cpu_variant variant);
/* The best usable variant, or the one named by the environment variable TDC_CPU if it is usable;
 * that is looked at once. */
enum tdc_cpu_variant tdc_cpu_variant_chosen(void);
/* For tests that change the variable. */
void tdc_cpu_variant_look_again(void);

struct tdc_pair_kernel; /* private to kernels/cpu */

/* Elements that are reduced together: of a chunk all but its last ones. */
#define TDC_PAIR_BLOCK ((size_t)1024)

#define TDC_PAIR_GROUP ((size_t)64)
#define TDC_PAIR_AHEAD 256
/*
 * A side whose elements do not follow each other in memory: they are handed out piece by piece
 * while the chunk is reduced, so that what had to be copied is still in the nearest cache.
 */
struct tdc_pair_feed {
    /* Dense elements in native order from index `start` of the chunk on, and how many: whole
     * blocks, or all that are left of the chunk. They are valid up to the next call, which asks for
     * what follows them. NULL where `groups` has them, which a kernel must have asked for. */
    const void *(*next)(struct tdc_pair_feed *feed, size_t start, size_t *count);
    /* Whole blocks of which each group of TDC_PAIR_GROUP elements is dense, wherever it lies. */
    bool takes_groups; /* set by the kernel */
    const void *groups[TDC_PAIR_AHEAD];
    /* Of a piece that is a copy: what will be copied next, as large as TDC_PAIR_GROUP elements
     * each. The kernel asks for it on its way, in place of what follows the piece. It may lie
     * beyond what there is: nothing is read. */
    bool copied;
    unsigned ahead_count;
    uintptr_t ahead[TDC_PAIR_AHEAD];
};

/* Everything a kernel needs to know of a pair besides its bytes. Plain data, copy at will. */
struct tdc_pair_plan {
    tdc_dtype n_dtype, b_dtype;
    enum tdc_relative_rule rule;
    enum tdc_cpu_variant variant;
    bool extremes;    /* whether n, b, n_min, n_max, b_min and b_max are wanted */
    bool takes_feeds; /* whether `run` knows them */
    /* in place of a side's pointer; NULL: none */
    struct tdc_pair_feed *n_feed, *b_feed;
    void (*run)(const struct tdc_pair_plan *plan, const void *n, const void *b, size_t count,
                struct tdc_pair_sums *sums);
};

/*
 * False when there is no arithmetic for these types (TDC_TEXT, TDC_DTYPE_NONE). The plan leaves
 * the extremes out; the caller may set plan->extremes.
 */
bool tdc_pair_plan_make(tdc_dtype n_dtype, tdc_dtype b_dtype, enum tdc_relative_rule rule,
                        enum tdc_cpu_variant variant, struct tdc_pair_plan *plan);

/* Reduces one chunk; count <= TDC_PAIR_CHUNK. The pointers need only the alignment of a byte. */
static inline void tdc_pair_run(const struct tdc_pair_plan *plan, const void *n, const void *b,
                                size_t count, struct tdc_pair_sums *sums)
{
    plan->run(plan, n, b, count, sums);
}

/*
 * ---- where squares leave float64 ----------------------------------------------------------------
 *
 * Numbers of 1e-170 or 1e200 have squares of 0 or infinity. Such a pair is read twice more: first
 * for the largest exponents, then for the squares of its numbers over these powers of two.
 */
struct tdc_pair_peaks {
    int n, b, d; /* of the largest |n|, |b|, |n-b| among finite pairs, as frexp has them */
};

/* Sums over finite pairs of numbers divided by 2^peak; nb by that of n and that of b. Start at 0,
 * chunks go on in their order. */
struct tdc_pair_squares {
    double nb, nn, bb, dd, abs;
};

/* What the sums of squares are for, in the range of float64 (0 only for 0, never infinite). */
struct tdc_pair_norms {
    double n, b, d;             /* ||n||, ||b||, ||n-b|| over finite pairs */
    double n_rms, b_rms, d_rms; /* the same over the root of their number */
    double mean_abs;            /* of |n-b| */
    double cosine;              /* not a number where a side is all zero */
};

/* Whether the sums are good enough for tdc_pair_plain_norms. Pairs without a difference need no
 * better ones. */
bool tdc_pair_squares_hold(const struct tdc_pair_plan *plan, const struct tdc_pair_sums *sums);
void tdc_pair_plain_norms(const struct tdc_pair_sums *sums, struct tdc_pair_norms *norms);

void tdc_pair_peaks_clear(struct tdc_pair_peaks *peaks);
void tdc_pair_peaks(const struct tdc_pair_plan *plan, const void *n, const void *b, size_t count,
                    struct tdc_pair_peaks *peaks);
void tdc_pair_squares(const struct tdc_pair_plan *plan, const struct tdc_pair_peaks *peaks,
                      const void *n, const void *b, size_t count, struct tdc_pair_squares *squares);
void tdc_pair_scaled_norms(const struct tdc_pair_squares *squares,
                           const struct tdc_pair_peaks *peaks, uint64_t finite,
                           struct tdc_pair_norms *norms);

/* The sums of no element at all: the neutral element of tdc_pair_merge. */
void tdc_pair_clear(struct tdc_pair_sums *sums);

/* left becomes the sums of left followed by right; positions of right move by left->count. */
void tdc_pair_merge(struct tdc_pair_sums *left, const struct tdc_pair_sums *right);

/*
 * Value of one element as float64, and its imaginary part (0 for real types). 64-bit integers
 * and TDC_F80 round, the latter to infinity beyond float64. Not for TDC_TEXT. Any alignment.
 */
double tdc_element_value(tdc_dtype dtype, const void *element, double *imaginary);

/* A finite TDC_F80 element with all its digits, where long double has room for it; false for NaN
 * and infinity. */
bool tdc_element_extended(const void *element, long double *value);

/* One float rounded to the nearest half and back, ties to even: the arithmetic of f16 files. */
float tdc_round_to_f16(float value);

#endif
