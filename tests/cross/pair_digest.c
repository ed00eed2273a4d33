/*
 * pair_digest.c - a fingerprint of everything the kernels compute, for comparison across machines.
 *
 * Runs all dtype pairs, rules and kinds of data through every variant the machine has, once with
 * the extremes, which leads every pair along the usual way, and once with data for each of the
 * short ways and without them. Checks the sums against the reference, and prints one hash of all
 * sums. Exits with 1 if a result is wrong, two variants differ or the hash is not the one given.
 */
#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/kernels/pair_check.h"
#include "tests/unit/kernels/pair_ways.h"

/* The last block is not whole. */
#define LARGEST (3 * WAY_BLOCK + 29)

struct digest {
    uint64_t hash[TDC_CPU_VARIANTS];
    int failures;
};

/* FNV-1a */
static void add_to_hash(uint64_t *hash, const void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        *hash = (*hash ^ ((const unsigned char *)bytes)[i]) * 0x100000001b3u;
}

static void check(struct digest *digest, const struct tdc_pair_plan *plan,
                  const struct tdc_pair_sums *sums, const struct tdc_pair_sums *reference,
                  const struct tdc_pair_magnitudes *magnitudes)
{
    const char *wrong = wrong_field(sums, reference);
    if (!wrong)
        wrong = wrong_sum(sums, reference, magnitudes);
    if (!wrong)
        return;
    fprintf(stderr, "%s against %s, rule %d, %s, %llu elements: %s\n",
            tdc_dtype_name(plan->n_dtype), tdc_dtype_name(plan->b_dtype), (int)plan->rule,
            tdc_cpu_variant_name(plan->variant), (unsigned long long)sums->count, wrong);
    digest->failures++;
}

/* What a plan without extremes leaves alone. */
static void forget_extremes(struct tdc_pair_sums *sums, struct tdc_pair_magnitudes *magnitudes)
{
    struct tdc_pair_sums nothing;
    tdc_pair_clear(&nothing);
    sums->n = sums->b = magnitudes->n = magnitudes->b = 0;
    sums->n_min = nothing.n_min;
    sums->n_max = nothing.n_max;
    sums->b_min = nothing.b_min;
    sums->b_max = nothing.b_max;
}

static void run_pair(struct digest *digest, tdc_dtype n_dtype, const void *n, tdc_dtype b_dtype,
                     const void *b, size_t count, bool extremes)
{
    for (unsigned rule = TDC_RELATIVE_NATIVE; rule <= TDC_RELATIVE_PROMOTED; rule++) {
        struct tdc_pair_sums reference, sums;
        struct tdc_pair_magnitudes magnitudes;
        tdc_pair_reference(n_dtype, b_dtype, rule, n, b, count, &reference, &magnitudes);
        if (!extremes)
            forget_extremes(&reference, &magnitudes);
        for (unsigned variant = 0; variant < TDC_CPU_VARIANTS; variant++) {
            struct tdc_pair_plan plan;
            if (!tdc_pair_plan_make(n_dtype, b_dtype, rule, variant, &plan))
                continue;
            plan.extremes = extremes;
            tdc_pair_run(&plan, n, b, count, &sums);
            add_to_hash(&digest->hash[variant], &sums, sizeof sums);
            check(digest, &plan, &sums, &reference, &magnitudes);
            tdc_pair_merge(&sums, &sums);
            add_to_hash(&digest->hash[variant], &sums, sizeof sums);
        }
    }
}

static void run_all(struct digest *digest, unsigned char *n, unsigned char *b)
{
    /* Mixed pairs share the code of the others but for loading: one length will do. */
    static const size_t counts[] = {45, 1, 2080};
    for (tdc_dtype n_dtype = TDC_BOOL; n_dtype < TDC_TEXT; n_dtype++)
        for (tdc_dtype b_dtype = TDC_BOOL; b_dtype < TDC_TEXT; b_dtype++)
            for (unsigned flavour = 0; flavour < FLAVOURS; flavour++) {
                size_t sizes = n_dtype == b_dtype ? sizeof counts / sizeof *counts : 1;
                for (size_t k = 0; k < sizes; k++) {
                    fill_pair(flavour, n_dtype, n, b_dtype, b, counts[k]);
                    run_pair(digest, n_dtype, n, b_dtype, b, counts[k], true);
                }
            }
}

/* Types against themselves, and the floats that f32 holds against each other. */
static void run_ways(struct digest *digest, unsigned char *n, unsigned char *b)
{
    for (tdc_dtype n_dtype = TDC_BOOL; n_dtype < TDC_TEXT; n_dtype++)
        for (tdc_dtype b_dtype = TDC_BOOL; b_dtype < TDC_TEXT; b_dtype++) {
            bool floats = n_dtype >= TDC_F16 && n_dtype <= TDC_F32 && b_dtype >= TDC_F16 &&
                          b_dtype <= TDC_F32;
            for (unsigned way = 0; way < WAYS && (n_dtype == b_dtype || floats); way++) {
                fill_way(way, n_dtype, n, b_dtype, b, LARGEST);
                run_pair(digest, n_dtype, n, b_dtype, b, LARGEST, false);
            }
        }
}

int main(int count, char **words)
{
    struct digest digest = {{0}, 0};
    static unsigned char n[16 * LARGEST], b[16 * LARGEST];
    run_all(&digest, n, b);
    run_ways(&digest, n, b);
    for (unsigned variant = 0; variant < TDC_CPU_VARIANTS; variant++)
        if (tdc_cpu_variant_usable(variant) && digest.hash[variant] != digest.hash[0]) {
            fprintf(stderr, "%s differs from the baseline\n", tdc_cpu_variant_name(variant));
            digest.failures++;
        }
    printf("%016llx\n", (unsigned long long)digest.hash[0]);
    if (count > 1 && strtoull(words[1], NULL, 16) != digest.hash[0]) {
        fprintf(stderr, "it should be %s, as on every other machine\n", words[1]);
        digest.failures++;
    }
    return digest.failures ? 1 : 0;
}
