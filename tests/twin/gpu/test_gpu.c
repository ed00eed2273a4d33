/* test_gpu.c - the backend for GPUs on a device (gpu_library.h). */
#include "tests/twin/gpu/gpu_library.h"

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

/* Tensors of any length and several types, many in a launch. */
static void random_shapes_share_launches(void **state)
{
    (void)state;
    enum {
        SHAPES = 300,
        LONGEST = 9000
    };
    static const tdc_dtype dtypes[][2] = {
        {TDC_F32, TDC_F32}, {TDC_F16, TDC_F16}, {TDC_I64, TDC_F64}, {TDC_C64, TDC_F32}};
    static struct tdc_backend_chunk chunks[SHAPES];
    static struct tdc_pair_plan plans[SHAPES];
    static struct tdc_pair_sums sums[SHAPES], expected[SHAPES];
    unsigned char *n = malloc(8 * LONGEST), *b = malloc(8 * LONGEST);
    assert_true(n != NULL && b != NULL);
    struct tdc_device_run *run = open_run(true, false);
    void *worker;
    assert_int_equal(run->backend.open(run->backend.context, &worker, NULL), TDC_OK);
    unsigned under_way = 0;
    for (size_t i = 0; i < SHAPES; i++) {
        const tdc_dtype *pair = dtypes[random_below(4)];
        size_t count = 1 + random_below(LONGEST);
        assert_true(tdc_pair_plan_make(pair[0], pair[1], TDC_RELATIVE_F64, tdc_cpu_variant_chosen(),
                                       &plans[i]));
        plans[i].extremes = random_below(2) == 0;
        fill_pair((enum flavour)random_below(FLAVOURS), pair[0], n, pair[1], b, count);
        tdc_pair_run(&plans[i], n, b, count, &expected[i]);
        chunks[i] = (struct tdc_backend_chunk){
            .plan = &plans[i], .n = n, .b = b, .count = count, .sums = &sums[i], .name = "pair"};
        enum tdc_submit_result result;
        while ((result = run->backend.submit(worker, &chunks[i])) == TDC_SUBMIT_NO_ROOM)
            under_way -= run->backend.take(worker, true) != NULL;
        under_way += result == TDC_SUBMIT_TAKEN;
        if (random_below(16) == 0)
            under_way -= run->backend.take(worker, false) != NULL;
    }
    while (under_way != 0)
        under_way -= run->backend.take(worker, true) != NULL;
    run->backend.close(worker);
    assert_memory_equal(sums, expected, sizeof sums);
    assert_int_equal(tdc_device_run_figures(run).device_chunks, SHAPES);
    tdc_device_run_close(run);
    assert_int_equal(library.live(), 0);
    free(n);
    free(b);
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

/* The last test: what a hung device has is never given back. */
static void devices_that_hang_are_given_up(void **state)
{
    (void)state;
    struct load load;
    make_load(&load);
    struct tdc_device_run *run = open_run(false, false);
    let_hang(true);
    go_through(run, &load, CHUNKS);
    assert_non_null(strstr(tdc_device_run_trouble(run), "waiting for the device: no answer"));
    assert_true(tdc_device_run_figures(run).fallbacks == CHUNKS);
    tdc_device_run_close(run);
    let_hang(false);
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
        cmocka_unit_test(random_shapes_share_launches),
        cmocka_unit_test(every_call_may_fail),
        cmocka_unit_test(wrong_results_are_found_out),
        cmocka_unit_test(old_drivers_get_what_they_understand),
        cmocka_unit_test(devices_that_hang_are_given_up),
    };
    return cmocka_run_group_tests(tests, find_library, forget_library);
}
