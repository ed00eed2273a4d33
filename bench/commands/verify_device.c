/* verify_device.c - `tdcmp bench device --verify`: what a card computes, as one text to report. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/commands/verify_device.h"
#include "host/engine/ascend/probe.h"
#include "host/terminal/message.h"

static unsigned wrong;

static void judge(bool good, const char *what)
{
    printf("    %-52s %s\n", what, good ? "yes" : "NO");
    wrong += !good;
}

/* ---- numbers --------------------------------------------------------------------------------- */

static void print_probe(struct tdc_ascend_slot *slot, void *function)
{
    struct tdc_probe_figures figures;
    struct tdc_call_failure failure = tdc_probe_run(slot, function, &figures);
    if (failure.code != 0) {
        printf("  tdc_probe: %s returned %d\n", failure.function, failure.code);
        wrong++;
        return;
    }
    printf("  %u numbers; results by units off the right one, and subnormal ones that became 0\n",
           figures.samples);
    printf("    %-18s %8s %8s %8s %8s %8s   %s\n", "", "0", "1", "2", "3-4", "more", "flushed");
    for (int k = 0; k < TDC_PROBED_OPERATIONS; k++) {
        printf("    %-18s", tdc_probe_name((enum tdc_probe_operation)k));
        for (int bin = 0; bin < TDC_PROBE_BINS; bin++)
            printf(" %8u", figures.off[k][bin]);
        printf("   %u of %u\n", figures.flushed[k], figures.subnormal[k]);
    }
    printf("    %-18s %s\n", "multiply-add", figures.fused != 0 ? "rounds once" : "rounds twice");
    char text[200];
    judge(tdc_probe_sound(&figures, text, sizeof text), "arithmetic is as the kernels need it");
}

/* ---- kernels --------------------------------------------------------------------------------- */

/* Ordinary numbers of both signs with some that are equal, zero, large, small and not finite. */
static void fill_side(tdc_dtype dtype, unsigned char *side, size_t count, uint64_t *state,
                      const unsigned char *like)
{
    size_t size = tdc_dtype_size(dtype);
    for (size_t i = 0; i < count; i++) {
        *state = *state * 6364136223846793005u + 1442695040888963407u;
        uint32_t random = (uint32_t)(*state >> 32);
        uint32_t bits = dtype == TDC_F16 ? (random & 0x8000) | 0x3000 | (random & 0x0fff)
                        : dtype == TDC_BF16
                            ? (random & 0x8000) | 0x3f00 | (random & 0xff)
                            : (random & 0x80000000u) | 0x3f000000u | (random & 0xffffff);
        if (random % 4099 == 0)
            bits = dtype == TDC_F16 ? 0x7c00 : dtype == TDC_BF16 ? 0x7fc0 : 0x7f800000u;
        if (random % 97 == 0)
            bits = 0;
        memcpy(side + i * size, &bits, size); /* little endian, like the cards' hosts */
        if (like != NULL && random % 3 == 0)
            memcpy(side + i * size, like + i * size, size);
    }
}

struct rescue {
    const struct tdc_pair_plan *plan;
    const unsigned char *n, *b;
};

static bool rescue_tile(void *context, size_t tile, struct tdc_pair_sums *sums)
{
    const struct rescue *rescue = context;
    size_t at = tile * TDC_TILE_PAIRS;
    tdc_pair_run(rescue->plan, rescue->n + at * tdc_dtype_size(rescue->plan->n_dtype),
                 rescue->b + at * tdc_dtype_size(rescue->plan->b_dtype), TDC_TILE_PAIRS, sums);
    return true;
}

static bool near(double value, double right, double magnitude)
{
    return fabs(value - right) <= TDC_TILE_SUM_ERROR * magnitude || value == right ||
           (isnan(value) && isnan(right));
}

bool tdc_sums_agree(const struct tdc_pair_sums *sums, const struct tdc_pair_sums *right)
{
    return sums->count == right->count && sums->finite == right->finite &&
           memcmp(sums->below, right->below, sizeof right->below) == 0 &&
           sums->abs_max == right->abs_max && sums->abs_at == right->abs_at &&
           sums->rel_max == right->rel_max && sums->rel_at == right->rel_at &&
           near(sums->nb, right->nb, sqrt(right->nn * right->bb)) &&
           near(sums->nn, right->nn, right->nn) && near(sums->bb, right->bb, right->bb) &&
           near(sums->dd, right->dd, right->dd) && near(sums->abs, right->abs, right->abs);
}

/* Every chunk of the tiles against the CPU. */
static bool chunks_agree(struct tdc_ascend_slot *slot, const struct tdc_pair_plan *plan,
                         size_t tiles)
{
    size_t n_size = tdc_dtype_size(plan->n_dtype), b_size = tdc_dtype_size(plan->b_dtype);
    for (size_t i = 0; i < tiles / TDC_TILES_PER_CHUNK; i++) {
        struct tdc_pair_sums sums, right;
        struct rescue rescue = {plan, slot->base.n + i * TDC_PAIR_CHUNK * n_size,
                                slot->base.b + i * TDC_PAIR_CHUNK * b_size};
        size_t rescued = 0;
        tdc_tiles_merge(
            plan, tdc_ascend_slot_records(slot) + i * TDC_TILES_PER_CHUNK * TDC_TILE_RECORD_FLOATS,
            TDC_TILES_PER_CHUNK, rescue_tile, &rescue, &sums, &rescued);
        tdc_pair_run(plan, rescue.n, rescue.b, TDC_PAIR_CHUNK, &right);
        if (!tdc_sums_agree(&sums, &right))
            return false;
    }
    return true;
}

static bool run_on(struct tdc_ascend_slot *slot, unsigned kernel, void *function, size_t tiles,
                   uint32_t blocks)
{
    struct tdc_call_failure failure = tdc_ascend_slot_launch(slot, kernel, function, tiles, blocks);
    struct tdc_call_failure waited = tdc_slot_wait(&slot->base);
    if (failure.code == 0)
        failure = waited;
    if (failure.code != 0)
        printf("    %s returned %d\n", failure.function, failure.code);
    return failure.code == 0;
}

static void verify_kernel(struct tdc_ascend_slot *slot, unsigned kernel, size_t tiles)
{
    const struct tdc_ascend_kernel_spec *spec = &tdc_ascend_kernels[kernel];
    struct tdc_error error = {0};
    struct tdc_pair_plan plan;
    printf("  %s\n", spec->name);
    void *function = tdc_ascend_kernel(tdc_ascend_slot_device(slot), kernel, slot, &error);
    if (function == NULL)
        printf("    %s\n", error.message);
    judge(function != NULL, "loaded, and the self-test passed");
    if (function == NULL || !tdc_pair_plan_make(spec->n_dtype, spec->b_dtype, spec->rule,
                                                tdc_cpu_variant_chosen(), &plan))
        return;
    plan.extremes = true;
    uint64_t state = 2026;
    size_t count = tiles * TDC_TILE_PAIRS;
    unsigned char *n = slot->base.n, *b = slot->base.b;
    size_t bytes = tiles * TDC_TILE_RECORD_BYTES;
    float *first = malloc(bytes);
    fill_side(spec->b_dtype, b, count, &state, NULL);
    fill_side(spec->n_dtype, n, count, &state, spec->n_dtype == spec->b_dtype ? b : NULL);
    if (first != NULL && run_on(slot, kernel, function, tiles, 0)) {
        judge(chunks_agree(slot, &plan, tiles), "every chunk agrees with the CPU");
        memcpy(first, tdc_ascend_slot_records(slot), bytes);
        bool same = run_on(slot, kernel, function, tiles, 1) &&
                    memcmp(first, tdc_ascend_slot_records(slot), bytes) == 0 &&
                    run_on(slot, kernel, function, tiles, 7) &&
                    memcmp(first, tdc_ascend_slot_records(slot), bytes) == 0;
        judge(same, "records of 1, 7 and all cores are equal to the bit");
    } else {
        wrong++;
    }
    free(first);
}

/* ---- tensors on the card --------------------------------------------------------------------- */

static void verify_tensors(struct tdc_ascend_slot *slot)
{
    enum {
        COUNT = 300000
    };
    struct tdc_error error = {0};
    tdc_device *device;
    uint64_t state = 7;
    struct tdc_pair_plan plan;
    if (tdc_device_new(&device, &error) != TDC_OK ||
        !tdc_pair_plan_make(TDC_F32, TDC_F32, TDC_RELATIVE_F64, tdc_cpu_variant_chosen(), &plan)) {
        printf("  tensors on the card: %s\n", error.message);
        wrong++;
        return;
    }
    float *n = (float *)(void *)slot->base.n, *b = (float *)(void *)slot->base.b;
    fill_side(TDC_F32, (unsigned char *)b, COUNT, &state, NULL);
    fill_side(TDC_F32, (unsigned char *)n, COUNT, &state, (unsigned char *)b);
    struct tdc_call_failure failure =
        tdc_ascend_slot_launch(slot, 0, tdc_ascend_slot_device(slot)->kernels[0].loaded,
                               (COUNT + TDC_TILE_PAIRS - 1) / TDC_TILE_PAIRS, 0);
    bool there = tdc_slot_wait(&slot->base).code == 0 && failure.code == 0;
    static const size_t offsets[] = {0, 8, 1};
    for (size_t i = 0; i < 3; i++) {
        size_t offset = offsets[i];
        struct tdc_device_sums sums = {0};
        struct tdc_pair_sums right, part;
        tdc_pair_clear(&right);
        for (size_t at = offset; at < COUNT; at += TDC_PAIR_CHUNK) {
            size_t left = COUNT - at;
            tdc_pair_run(&plan, n + at, b + at, left < TDC_PAIR_CHUNK ? left : TDC_PAIR_CHUNK,
                         &part);
            tdc_pair_merge(&right, &part);
        }
        bool good = there &&
                    tdc_compare_device(device, (const char *)slot->memory + 4 * offset, TDC_F32,
                                       (const char *)slot->memory + TDC_ASCEND_SIDE + 4 * offset,
                                       TDC_F32, COUNT - offset, TDC_RULES_SOUND, slot->stream,
                                       &sums, sizeof sums, &error) == TDC_OK &&
                    sums.count == COUNT - offset && sums.abs_max == right.abs_max &&
                    sums.abs_at == right.abs_at && sums.rel_max == right.rel_max &&
                    near(sums.dd, right.dd, right.dd);
        char what[100];
        snprintf(what, sizeof what, "tdc_compare_device, %zu bytes off: %llu tiles, %llu rescued",
                 4 * offset, (unsigned long long)sums.tiles, (unsigned long long)sums.rescued);
        judge(good, what);
    }
    tdc_device_free(device);
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* The first line with a version; the driver leaves it there. */
static void print_driver(void)
{
    FILE *file = fopen("/usr/local/Ascend/driver/version.info", "r");
    char line[200] = "unknown";
    while (file != NULL && fgets(line, sizeof line, file) != NULL &&
           strncmp(line, "Version", 7) != 0)
        continue;
    if (file != NULL)
        fclose(file);
    line[strcspn(line, "\r\n")] = '\0';
    printf("driver: %s\n", line);
}

static void verify_card(const struct tdc_acl *acl, uint32_t id, size_t tiles)
{
    struct tdc_ascend_device device;
    struct tdc_ascend_slot slot = {.base = {.card = NULL}};
    struct tdc_error error = {0};
    if (tdc_ascend_device_open(acl, (int32_t)id, &device, &error) != TDC_OK) {
        printf("\nascend:%u %s\n", (unsigned)id, error.message);
        wrong++;
        return;
    }
    printf("\nascend:%u %s, %u vector cores, %.1f GiB free\n", (unsigned)id, device.base.name,
           (unsigned)device.cores, (double)device.memory * 0x1p-30);
    struct tdc_call_failure failure = tdc_slot_open(&slot.base, &device.base, false);
    if (failure.code != 0) {
        printf("  %s returned %d\n", failure.function, failure.code);
        wrong++;
    } else {
        /* loads and tests the probe, too */
        void *function = tdc_ascend_kernel(&device, 0, &slot, &error);
        if (device.kernels[TDC_ASCEND_PROBE].loaded != NULL)
            print_probe(&slot, device.kernels[TDC_ASCEND_PROBE].loaded);
        if (function == NULL)
            printf("  %s\n", error.message);
        for (unsigned i = 0; i < TDC_ASCEND_KERNELS; i++)
            verify_kernel(&slot, i, tiles);
        if (function != NULL)
            verify_tensors(&slot);
    }
    tdc_slot_close(&slot.base);
    tdc_ascend_device_close(&device);
}

/* Whole chunks of float32 numbers: at least one, and at most a slot. */
static size_t tiles_of(uint64_t size)
{
    size_t chunk = TDC_TILES_PER_CHUNK * (size_t)TDC_TILE_PAIRS * 2 * sizeof(float);
    size_t most = TDC_SLOT_TILES / TDC_TILES_PER_CHUNK;
    uint64_t chunks = size / chunk;
    return (chunks < 1 ? 1 : chunks < most ? (size_t)chunks : most) * TDC_TILES_PER_CHUNK;
}

int tdc_verify_device(uint64_t size)
{
    size_t tiles = tiles_of(size);
    struct tdc_error error = {0};
    const struct tdc_acl *acl = tdc_acl_runtime_start(&error);
    uint32_t count = acl != NULL ? tdc_ascend_count(acl, &error) : 0;
    if (count == 0) {
        fprintf(stderr, "tdcmp: %s\n", error.message);
        return TDC_EXIT_TROUBLE;
    }
    wrong = 0;
    printf("tdcmp %s, CPU kernels %s\nAscendCL: %s\n", tdc_version(), tdc_cpu_name(),
           tdc_acl_load()->base.path);
    const char *home = getenv("ASCEND_HOME_PATH");
    printf("CANN: %s\n", home != NULL ? home : "ASCEND_HOME_PATH is not set");
    print_driver();
    for (uint32_t i = 0; i < count; i++)
        verify_card(acl, i, tiles);
    printf("\n%u %s wrong\n", wrong, wrong == 1 ? "answer is" : "answers are");
    return wrong == 0 ? TDC_EXIT_SAME : TDC_EXIT_DIFFERENT;
}
