/*
 * test_gpu.c - the backend for GPUs on a device: TDC_TEST_GPU says which family. Of the CUDA
 * stand-in and of OpenCL with failing calls the environment names the libraries (TDC_CUDA_LIBRARY,
 * TDC_OPENCL_LIBRARY); either can be told to let a call fail.
 */
#include <dlfcn.h>
#include <stdlib.h>

#include "host/engine/device.h"
#include "io/file/mapping_guard.h"
#include "tests/twin/gpu/cuda_twin.h"
#include "tests/unit/kernels/pair_data.h"

/* ---- the library under the test -------------------------------------------------------------- */

static struct {
    void (*arm)(long call, int code);
    long (*calls)(void);
    const char *(*failed)(void);
    long (*live)(void);
    void (*behave)(int how); /* NULL: a real device */
} library;
static struct tdc_device_request device;

static void find(void *handle, const char *stem, const char *name, void *slot)
{
    char symbol[64];
    snprintf(symbol, sizeof symbol, "%s_%s", stem, name);
    void *address = dlsym(handle, symbol);
    memcpy(slot, &address, sizeof address);
}

static int find_library(void **state)
{
    (void)state;
    const char *name = getenv("TDC_TEST_GPU");
    assert_true(tdc_device_parse(name, &device) && device.family != NULL);
    bool cuda = device.family == &tdc_family_cuda;
    const char *place = getenv(cuda ? "TDC_CUDA_LIBRARY" : "TDC_OPENCL_LIBRARY");
    const char *stem = cuda ? "cuda_twin" : "cl_shim";
    void *handle = dlopen(place, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL)
        fail_msg("%s", dlerror());
    find(handle, stem, "arm", &library.arm);
    find(handle, stem, "calls", &library.calls);
    find(handle, stem, "failed", &library.failed);
    find(handle, stem, "live", &library.live);
    find(handle, stem, "behave", &library.behave);
    assert_true(library.arm != NULL && library.live != NULL);
    return tdc_guard_begin() ? 0 : -1;
}

static int forget_library(void **state)
{
    (void)state;
    tdc_guard_end();
    return 0;
}

/* ---- every pair ------------------------------------------------------------------------------ */

#define MOST 3000

static struct tdc_device_run *open_run(bool no_fallback, bool timed)
{
    struct tdc_device_run *run = NULL;
    struct tdc_error error = {0};
    struct tdc_device_request request = device;
    if (tdc_device_open(&request, TDC_RELATIVE_F64, no_fallback, timed, &run, &error) != TDC_OK)
        fail_msg("%s", error.message);
    return run;
}

static void require_chunk(struct tdc_device_run *run, void *worker, tdc_dtype n_dtype,
                          tdc_dtype b_dtype, unsigned rule, bool extremes, const void *n,
                          const void *b, size_t count)
{
    struct tdc_pair_plan plan;
    struct tdc_pair_sums sums, expected;
    char description[160];
    snprintf(description, sizeof description, "%s against %s, rule %u, %zu elements",
             tdc_dtype_name(n_dtype), tdc_dtype_name(b_dtype), rule, count);
    REQUIRE(tdc_pair_plan_make(n_dtype, b_dtype, rule, tdc_cpu_variant_chosen(), &plan), "no plan");
    plan.extremes = extremes;
    tdc_pair_run(&plan, n, b, count, &expected);
    memset(&sums, 0xee, sizeof sums);
    struct tdc_backend_chunk chunk = {
        .plan = &plan, .n = n, .b = b, .count = count, .sums = &sums, .name = "pair"};
    REQUIRE(tdc_chunks_run(&run->backend, worker, &chunk, 1), "vanished");
    require_rest(description, &sums, &expected);
    REQUIRE(memcmp(&sums, &expected, sizeof sums) == 0, "a sum differs");
}

static void every_dtype_pair_has_the_bits_of_the_cpu(void **state)
{
    (void)state;
    struct tdc_device_run *run = open_run(true, true);
    void *worker;
    assert_int_equal(run->backend.open(run->backend.context, &worker, NULL), TDC_OK);
    unsigned char *n = aligned_alloc(64, 16 * MOST), *b = aligned_alloc(64, 16 * MOST);
    assert_true(n != NULL && b != NULL);
    unsigned turn = 0;
    for (tdc_dtype n_dtype = TDC_BOOL; n_dtype < TDC_TEXT; n_dtype++)
        for (tdc_dtype b_dtype = TDC_BOOL; b_dtype < TDC_TEXT; b_dtype++)
            for (unsigned rule = TDC_RELATIVE_NATIVE; rule <= TDC_RELATIVE_PROMOTED; rule++) {
                size_t count = 1 + random_below(MOST);
                fill_pair(turn++ % FLAVOURS, n_dtype, n, b_dtype, b, count);
                require_chunk(run, worker, n_dtype, b_dtype, rule, turn % 2 == 0, n, b, count);
            }
    run->backend.close(worker);
    struct tdc_device_figures figures = tdc_device_run_figures(run);
    assert_int_equal(figures.device_chunks, turn);
    assert_int_equal(figures.fallbacks, 0);
    assert_true(figures.h2d > 0 && figures.kernel > 0 && figures.staging > 0);
    assert_string_equal(tdc_device_run_trouble(run), "");
    tdc_device_run_close(run);
    assert_int_equal(library.live(), 0);
    free(n);
    free(b);
}

/* ---- several chunks under way ---------------------------------------------------------------- */

enum {
    CHUNKS = 12,
    SHORT = 5000 /* pairs of a chunk: what is under way matters here, not how much */
};

struct load {
    float *n, *b;
    struct tdc_pair_plan plan;
    struct tdc_pair_sums sums[CHUNKS], expected[CHUNKS];
};

static void make_load(struct load *load)
{
    size_t bytes = CHUNKS * SHORT * sizeof(float);
    load->n = malloc(bytes);
    load->b = malloc(bytes);
    assert_true(load->n != NULL && load->b != NULL);
    fill_pair(FLAVOUR_NONFINITE, TDC_F32, load->n, TDC_F32, load->b, CHUNKS * SHORT);
    assert_true(tdc_pair_plan_make(TDC_F32, TDC_F32, TDC_RELATIVE_F64, tdc_cpu_variant_chosen(),
                                   &load->plan));
    for (size_t i = 0; i < CHUNKS; i++)
        tdc_pair_run(&load->plan, load->n + i * SHORT, load->b + i * SHORT, SHORT,
                     &load->expected[i]);
}

static void free_load(struct load *load)
{
    free(load->n);
    free(load->b);
}

/* All chunks through a run; they must be right whatever happens. */
static void go_through(struct tdc_device_run *run, struct load *load, size_t count)
{
    struct tdc_backend_chunk chunks[CHUNKS];
    void *worker;
    assert_int_equal(run->backend.open(run->backend.context, &worker, NULL), TDC_OK);
    memset(load->sums, 0xee, sizeof load->sums);
    for (size_t i = 0; i < count; i++)
        chunks[i] = (struct tdc_backend_chunk){.plan = &load->plan,
                                               .n = load->n + i * SHORT,
                                               .b = load->b + i * SHORT,
                                               .count = SHORT,
                                               .sums = &load->sums[i],
                                               .name = "pair"};
    assert_true(tdc_chunks_run(&run->backend, worker, chunks, count));
    run->backend.close(worker);
    assert_memory_equal(load->sums, load->expected, count * sizeof load->sums[0]);
}

static void chunks_are_under_way_together(void **state)
{
    (void)state;
    struct load load;
    make_load(&load);
    struct tdc_device_run *run = open_run(true, false);
    go_through(run, &load, CHUNKS);
    struct tdc_device_figures figures = tdc_device_run_figures(run);
    assert_int_equal(figures.device_chunks, CHUNKS);
    tdc_device_run_close(run);
    assert_int_equal(library.live(), 0);
    free_load(&load);
}

/* ---- failures -------------------------------------------------------------------------------- */

/* A run from beginning to end; whether it was told of trouble. */
static bool attempt(struct load *load, bool *opened)
{
    struct tdc_device_run *run = NULL;
    struct tdc_error error = {0};
    struct tdc_device_request request = device;
    tdc_status status = tdc_device_open(&request, TDC_RELATIVE_F64, false, false, &run, &error);
    *opened = status == TDC_OK;
    if (status != TDC_OK) {
        assert_true(status == TDC_ERR_DEVICE || status == TDC_ERR_NOT_FOUND);
        assert_true(error.message[0] != '\0');
        return true;
    }
    go_through(run, load, 3);
    bool trouble = tdc_device_run_trouble(run)[0] != '\0';
    tdc_device_run_close(run);
    return trouble;
}

/* What may fail without anybody being told: nothing depends on it. */
static bool is_harmless(const char *function)
{
    static const char *const harmless[] = {"Release",
                                           "Destroy",
                                           "Free",
                                           "Unload",
                                           "Unmap",
                                           "clFinish",
                                           "GetDeviceInfo",
                                           "GetName",
                                           "TotalMem",
                                           "GetAttribute",
                                           "SetCurrent",
                                           "GetCurrent",
                                           "Alloc",
                                           "CreateBuffer",
                                           "cuModuleLoadData",
                                           "cuStreamCreate",
                                           "clCreateCommandQueue",
                                           "clEnqueueMapBuffer"};
    for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++)
        if (strstr(function, harmless[i]) != NULL)
            return true;
    return false;
}

static void every_call_may_fail(void **state)
{
    (void)state;
    struct load load;
    bool opened;
    make_load(&load);
    library.arm(0, 0);
    assert_false(attempt(&load, &opened));
    long total = library.calls();
    bool cuda = device.family == &tdc_family_cuda;
    const int codes[2][2] = {{-5, -36}, {2, 700}};
    assert_true(total > 40);
    for (long call = 1; call <= total; call++) {
        int code = codes[cuda][call % 2];
        long before = library.live();
        library.arm(call, code);
        bool told = attempt(&load, &opened);
        const char *failed = library.failed();
        if (failed == NULL)
            continue; /* fewer questions were asked this time */
        if (!told && !is_harmless(failed))
            fail_msg("call %ld, %s: nobody was told", call, failed);
        /* of a context that cannot be entered nothing can be given back */
        if (library.live() != before && strcmp(failed, "cuCtxSetCurrent") != 0)
            fail_msg("call %ld, %s: %ld objects are left", call, failed, library.live() - before);
    }
    library.arm(0, 0);
    assert_false(attempt(&load, &opened));
    free_load(&load);
}

/* A device that computes wrongly is not used, whatever else it does. */
static void wrong_results_are_found_out(void **state)
{
    (void)state;
    struct load load;
    bool opened;
    if (library.behave == NULL)
        skip();
    make_load(&load);
    long before = library.live();
    library.behave(CUDA_TWIN_WRONG);
    assert_true(attempt(&load, &opened));
    assert_false(opened);
    library.behave(CUDA_TWIN_RIGHT);
    assert_false(attempt(&load, &opened));
    assert_int_equal(library.live(), before);
    free_load(&load);
}

/* A driver older than the build's compiler: NVRTC makes what it understands. */
static void old_drivers_get_what_they_understand(void **state)
{
    (void)state;
    struct load load;
    bool opened;
    if (library.behave == NULL)
        skip();
    make_load(&load);
    long before = library.live();
    library.behave(CUDA_TWIN_OLD);
    assert_false(attempt(&load, &opened));
    assert_true(opened);
    library.behave(CUDA_TWIN_RIGHT);
    assert_int_equal(library.live(), before);
    free_load(&load);
}

/* ---- tensors that are there ------------------------------------------------------------------ */

#define FIND(name)                                                                                 \
    do {                                                                                           \
        void *address_ = dlsym(handle, #name);                                                     \
        memcpy(&calls.name, &address_, sizeof address_);                                           \
    } while (0)

static struct {
    int (*cuInit)(unsigned);
    int (*cuCtxSetCurrent)(void *);
    int (*cuDevicePrimaryCtxRetain)(void **, int);
    int (*cuDevicePrimaryCtxRelease_v2)(int);
    int (*cuMemAlloc_v2)(uint64_t *, size_t);
    int (*cuMemFree_v2)(uint64_t);
    int (*cuMemcpyHtoDAsync_v2)(uint64_t, const void *, size_t, void *);
    int (*cuStreamSynchronize)(void *);
} calls;

static uint64_t upload(const void *from, size_t bytes, size_t offset)
{
    uint64_t to;
    assert_int_equal(calls.cuMemAlloc_v2(&to, bytes + offset), 0);
    assert_int_equal(calls.cuMemcpyHtoDAsync_v2(to + offset, from, bytes, NULL), 0);
    assert_int_equal(calls.cuStreamSynchronize(NULL), 0);
    return to;
}

static void require_tensors(tdc_device *tensors, tdc_dtype n_dtype, tdc_dtype b_dtype, size_t count,
                            size_t offset, enum flavour flavour)
{
    size_t n_bytes = count * tdc_dtype_size(n_dtype), b_bytes = count * tdc_dtype_size(b_dtype);
    unsigned char *n = malloc(n_bytes), *b = malloc(b_bytes);
    assert_true(n != NULL && b != NULL);
    fill_pair(flavour, n_dtype, n, b_dtype, b, count);
    uint64_t n_there = upload(n, n_bytes, offset), b_there = upload(b, b_bytes, offset);
    struct tdc_pair_plan plan;
    struct tdc_pair_sums expected, part;
    struct tdc_device_sums sums;
    struct tdc_error error = {0};
    assert_true(
        tdc_pair_plan_make(n_dtype, b_dtype, TDC_RELATIVE_F64, tdc_cpu_variant_chosen(), &plan));
    plan.extremes = true;
    tdc_pair_clear(&expected);
    for (size_t at = 0; at < count; at += TDC_PAIR_CHUNK) {
        size_t here = count - at < TDC_PAIR_CHUNK ? count - at : TDC_PAIR_CHUNK;
        tdc_pair_run(&plan, n + at * tdc_dtype_size(n_dtype), b + at * tdc_dtype_size(b_dtype),
                     here, &part);
        tdc_pair_merge(&expected, &part);
    }
    if (tdc_compare_device(tensors, (const void *)(uintptr_t)(n_there + offset), n_dtype,
                           (const void *)(uintptr_t)(b_there + offset), b_dtype, count,
                           TDC_RULES_SOUND, NULL, &sums, sizeof sums, &error) != TDC_OK)
        fail_msg("%s", error.message);
    assert_int_equal(sums.count, count);
    assert_int_equal(sums.finite, expected.finite);
    assert_memory_equal(&sums.nb, &expected.nb, sizeof sums.nb);
    assert_memory_equal(&sums.dd, &expected.dd, sizeof sums.dd);
    assert_memory_equal(&sums.n, &expected.n, sizeof sums.n);
    assert_true(sums.abs_max == expected.abs_max && sums.abs_at == expected.abs_at);
    assert_true(sums.rel_max == expected.rel_max && sums.rel_at == expected.rel_at);
    assert_true(sums.n_min == expected.n_min && sums.b_max == expected.b_max);
    assert_int_equal(sums.below_thousandth, expected.below[0]);
    assert_int_equal(sums.tiles, offset == 0 ? (count + TDC_PAIR_CHUNK - 1) / TDC_PAIR_CHUNK : 0);
    assert_int_equal(calls.cuMemFree_v2(n_there), 0);
    assert_int_equal(calls.cuMemFree_v2(b_there), 0);
    free(n);
    free(b);
}

static void tensors_on_the_device_are_compared_there(void **state)
{
    (void)state;
    if (library.behave == NULL)
        skip();
    void *handle = dlopen(getenv("TDC_CUDA_LIBRARY"), RTLD_NOW | RTLD_LOCAL), *context;
    FIND(cuInit);
    FIND(cuCtxSetCurrent);
    FIND(cuDevicePrimaryCtxRetain);
    FIND(cuDevicePrimaryCtxRelease_v2);
    FIND(cuMemAlloc_v2);
    FIND(cuMemFree_v2);
    FIND(cuMemcpyHtoDAsync_v2);
    FIND(cuStreamSynchronize);
    long before = library.live();
    tdc_device *tensors;
    struct tdc_error error = {0};
    assert_int_equal(tdc_device_of("tpu", &tensors, &error), TDC_ERR_ARGUMENT);
    assert_int_equal(calls.cuCtxSetCurrent(NULL), 0);
    assert_int_equal(tdc_device_of("cuda", &tensors, &error), TDC_ERR_DEVICE);
    assert_non_null(strstr(error.message, "no current context"));
    assert_int_equal(calls.cuDevicePrimaryCtxRetain(&context, 1), 0);
    assert_int_equal(calls.cuCtxSetCurrent(context), 0);
    if (tdc_device_of("cuda", &tensors, &error) != TDC_OK)
        fail_msg("%s", error.message);
    require_tensors(tensors, TDC_F32, TDC_F32, TDC_PAIR_CHUNK + 12345, 0, FLAVOUR_NONFINITE);
    require_tensors(tensors, TDC_BF16, TDC_F64, 5000, 0, FLAVOUR_NEAR);
    require_tensors(tensors, TDC_I64, TDC_F32, 3000, 0, FLAVOUR_BITS);
    require_tensors(tensors, TDC_F32, TDC_F16, 3000, 1, FLAVOUR_NEAR); /* not aligned */
    /* every call of a comparison */
    float *n = calloc(8192, sizeof *n);
    assert_non_null(n);
    uint64_t there = upload(n, 8192 * sizeof *n, 0);
    const void *address = (const void *)(uintptr_t)there;
    struct tdc_device_sums sums;
    for (long call = 1; call <= 4; call++) {
        library.arm(call, 700);
        assert_int_equal(tdc_compare_device(tensors, address, TDC_F32, address, TDC_F32, 8192,
                                            TDC_RULES_SOUND, NULL, &sums, sizeof sums, &error),
                         TDC_ERR_DEVICE);
        assert_int_equal(sums.count, 0);
        library.arm(0, 0);
        assert_int_equal(calls.cuStreamSynchronize(NULL), 0);
    }
    assert_int_equal(calls.cuMemFree_v2(there), 0);
    tdc_device_free(tensors);
    tdc_device_free(NULL);
    for (long call = 1; call <= 30; call++) { /* and of its beginning */
        library.arm(call, 2);
        if (tdc_device_of("cuda", &tensors, &error) == TDC_OK)
            tdc_device_free(tensors);
    }
    library.arm(0, 0);
    assert_int_equal(calls.cuCtxSetCurrent(NULL), 0);
    assert_int_equal(calls.cuDevicePrimaryCtxRelease_v2(1), 0);
    assert_int_equal(library.live(), before);
    free(n);
}

/* The last test: what a hung device has is never given back. */
static void devices_that_hang_are_given_up(void **state)
{
    (void)state;
    struct load load;
    if (library.behave == NULL)
        skip();
    make_load(&load);
    struct tdc_device_run *run = open_run(false, false);
    library.behave(CUDA_TWIN_HANG);
    go_through(run, &load, CHUNKS);
    assert_non_null(strstr(tdc_device_run_trouble(run), "waiting for the device"));
    assert_true(tdc_device_run_figures(run).fallbacks == CHUNKS);
    tdc_device_run_close(run);
    library.behave(CUDA_TWIN_RIGHT);
    free_load(&load);
}

/* Whether OpenCL has a device at all. */
static int probe(void)
{
    struct tdc_error error = {0};
    if (tdc_family_opencl.count(&error) != 0)
        return 0;
    fprintf(stderr, "skipped: %s\n", error.message);
    return 77;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--probe") == 0)
        return probe();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_dtype_pair_has_the_bits_of_the_cpu),
        cmocka_unit_test(chunks_are_under_way_together),
        cmocka_unit_test(every_call_may_fail),
        cmocka_unit_test(wrong_results_are_found_out),
        cmocka_unit_test(old_drivers_get_what_they_understand),
        cmocka_unit_test(tensors_on_the_device_are_compared_there),
        cmocka_unit_test(devices_that_hang_are_given_up),
    };
    return cmocka_run_group_tests(tests, find_library, forget_library);
}
