/* test_gpu_tensors.c - tensors that lie on a GPU (gpu_library.h). */
#include "tests/twin/gpu/gpu_library.h"

/* ---- the caller's side of the bargain -------------------------------------------------------- */

#define FIND(name)                                                                                 \
    do {                                                                                           \
        void *address_ = dlsym(library.handle, #name);                                             \
        assert_non_null(address_);                                                                 \
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
    int32_t (*clGetPlatformIDs)(uint32_t, void **, uint32_t *);
    int32_t (*clGetDeviceIDs)(void *, uint64_t, uint32_t, void **, uint32_t *);
    void *(*clCreateContext)(const intptr_t *, uint32_t, void *const *,
                             void (*)(const char *, const void *, size_t, void *), void *,
                             int32_t *);
    void *(*clCreateCommandQueue)(void *, void *, uint64_t, int32_t *);
    void *(*clCreateBuffer)(void *, uint64_t, size_t, void *, int32_t *);
    int32_t (*clEnqueueWriteBuffer)(void *, void *, uint32_t, size_t, size_t, const void *,
                                    uint32_t, void *const *, void **);
    int32_t (*clReleaseMemObject)(void *);
    int32_t (*clReleaseCommandQueue)(void *);
    int32_t (*clReleaseContext)(void *);
} calls;

static bool cuda;
static void *context, *queue;

static void enter_cuda(void)
{
    FIND(cuInit);
    FIND(cuCtxSetCurrent);
    FIND(cuDevicePrimaryCtxRetain);
    FIND(cuDevicePrimaryCtxRelease_v2);
    FIND(cuMemAlloc_v2);
    FIND(cuMemFree_v2);
    FIND(cuMemcpyHtoDAsync_v2);
    FIND(cuStreamSynchronize);
    assert_int_equal(calls.cuDevicePrimaryCtxRetain(&context, 1), 0);
    assert_int_equal(calls.cuCtxSetCurrent(context), 0);
}

static void enter_opencl(void)
{
    void *platforms[4], *devices[4];
    uint32_t count = 0;
    int32_t code = 0;
    FIND(clGetPlatformIDs);
    FIND(clGetDeviceIDs);
    FIND(clCreateContext);
    FIND(clCreateCommandQueue);
    FIND(clCreateBuffer);
    FIND(clEnqueueWriteBuffer);
    FIND(clReleaseMemObject);
    FIND(clReleaseCommandQueue);
    FIND(clReleaseContext);
    assert_int_equal(calls.clGetPlatformIDs(4, platforms, &count), 0);
    assert_int_equal(calls.clGetDeviceIDs(platforms[0], 0xffffffff, 4, devices, &count), 0);
    context = calls.clCreateContext(NULL, 1, devices, NULL, NULL, &code);
    assert_int_equal(code, 0);
    queue = calls.clCreateCommandQueue(context, devices[0], 0, &code);
    assert_int_equal(code, 0);
}

static int enter(void **state)
{
    int code = find_library(state);
    cuda = library.behave != NULL;
    if (cuda)
        enter_cuda();
    else
        enter_opencl();
    return code;
}

static int leave(void **state)
{
    if (cuda) {
        calls.cuCtxSetCurrent(NULL);
        calls.cuDevicePrimaryCtxRelease_v2(1);
    }
    /* of OpenCL the process has queues that hang: they end with it */
    return forget_library(state);
}

/* At `offset` bytes, which buffers of OpenCL do not have. */
static const void *upload(const void *from, size_t bytes, size_t offset)
{
    int32_t code = 0;
    if (cuda) {
        uint64_t to;
        assert_int_equal(calls.cuMemAlloc_v2(&to, bytes + offset), 0);
        assert_int_equal(calls.cuMemcpyHtoDAsync_v2(to + offset, from, bytes, NULL), 0);
        return (const void *)(uintptr_t)(to + offset);
    }
    void *buffer = calls.clCreateBuffer(context, 1, bytes, NULL, &code);
    assert_int_equal(code, 0);
    /* not waited for: the comparison follows it. The memory stays until then. */
    assert_int_equal(calls.clEnqueueWriteBuffer(queue, buffer, 0, 0, bytes, from, 0, NULL, NULL),
                     0);
    return buffer;
}

static void give_back(const void *there, size_t offset)
{
    if (cuda)
        assert_int_equal(calls.cuMemFree_v2((uint64_t)(uintptr_t)there - offset), 0);
    else
        assert_int_equal(calls.clReleaseMemObject((void *)(uintptr_t)there), 0);
}

static tdc_device *open_tensors(void)
{
    tdc_device *tensors;
    struct tdc_error error = {0};
    if (tdc_device_of(cuda ? "cuda" : "opencl", &tensors, &error) != TDC_OK)
        fail_msg("%s", error.message);
    return tensors;
}

/* ---- comparing ------------------------------------------------------------------------------- */

static void expect(const struct tdc_pair_plan *plan, const unsigned char *n, const unsigned char *b,
                   size_t count, struct tdc_pair_sums *expected)
{
    size_t n_size = tdc_dtype_size(plan->n_dtype), b_size = tdc_dtype_size(plan->b_dtype);
    tdc_pair_clear(expected);
    for (size_t at = 0; at < count; at += TDC_PAIR_CHUNK) {
        size_t here = count - at < TDC_PAIR_CHUNK ? count - at : TDC_PAIR_CHUNK;
        struct tdc_pair_sums part;
        tdc_pair_run(plan, n + at * n_size, b + at * b_size, here, &part);
        tdc_pair_merge(expected, &part);
    }
}

static void require_tensors(tdc_device *tensors, tdc_dtype n_dtype, tdc_dtype b_dtype, size_t count,
                            size_t offset, enum flavour flavour)
{
    size_t n_bytes = count * tdc_dtype_size(n_dtype), b_bytes = count * tdc_dtype_size(b_dtype);
    unsigned char *n = malloc(n_bytes), *b = malloc(b_bytes);
    assert_true(n != NULL && b != NULL);
    fill_pair(flavour, n_dtype, n, b_dtype, b, count);
    const void *n_there = upload(n, n_bytes, offset), *b_there = upload(b, b_bytes, offset);
    struct tdc_pair_plan plan;
    struct tdc_pair_sums expected;
    struct tdc_device_sums sums;
    struct tdc_error error = {0};
    assert_true(
        tdc_pair_plan_make(n_dtype, b_dtype, TDC_RELATIVE_F64, tdc_cpu_variant_chosen(), &plan));
    plan.extremes = true;
    expect(&plan, n, b, count, &expected);
    if (tdc_compare_device(tensors, n_there, n_dtype, b_there, b_dtype, count, TDC_RULES_SOUND,
                           queue, &sums, sizeof sums, &error) != TDC_OK)
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
    size_t chunks = (count + TDC_PAIR_CHUNK - 1) / TDC_PAIR_CHUNK;
    assert_int_equal(sums.tiles, offset == 0 ? chunks : 0);
    /* what was copied out, and why */
    assert_true(offset == 0 ? sums.why == NULL : strstr(sums.why, "multiple of the size") != NULL);
    assert_int_equal(sums.copied, offset != 0                        ? n_bytes + b_bytes
                                  : sums.rescued == 1 && chunks == 1 ? n_bytes + b_bytes
                                                                     : 0);
    give_back(n_there, offset);
    give_back(b_there, offset);
    free(n);
    free(b);
}

static void tensors_are_compared_where_they_are(void **state)
{
    (void)state;
    tdc_device *tensors;
    struct tdc_error error = {0};
    assert_int_equal(tdc_device_of("tpu", &tensors, &error), TDC_ERR_ARGUMENT);
    long before = library.live();
    tensors = open_tensors();
    require_tensors(tensors, TDC_F32, TDC_F32, TDC_PAIR_CHUNK + 12345, 0, FLAVOUR_NONFINITE);
    require_tensors(tensors, TDC_BF16, TDC_F64, 5000, 0, FLAVOUR_NEAR);
    require_tensors(tensors, TDC_I64, TDC_F32, 3000, 0, FLAVOUR_BITS);
    require_tensors(tensors, TDC_F16, TDC_F16, 1, 0, FLAVOUR_NEAR);
    if (cuda) /* not aligned */
        require_tensors(tensors, TDC_F32, TDC_F16, 3000, 1, FLAVOUR_NEAR);
    tdc_device_free(tensors);
    tdc_device_free(NULL);
    assert_int_equal(library.live(), before);
}

/* What a table would say of them is what it says of copies; what it cannot know without them is
 * refused. */
static void tensors_are_judged(void **state)
{
    (void)state;
    enum {
        COUNT = 6000
    };
    static const tdc_rules_id rules[] = {TDC_RULES_SOUND, TDC_RULES_COMPAT};
    static float n[COUNT], b[COUNT];
    const int64_t shape[] = {60, 100}, turned[] = {1, 60};
    tdc_device *tensors = open_tensors();
    fill_pair(FLAVOUR_NEAR, TDC_F32, (unsigned char *)n, TDC_F32, (unsigned char *)b, COUNT);
    for (int round = 0; round < 3; round++) {
        if (round == 2)
            n[77] = NAN;
        const void *n_there = upload(n, sizeof n, 0), *b_there = upload(b, sizeof b, 0);
        struct tdc_buffer n_here, b_here, n_card, b_card;
        struct tdc_options options;
        struct tdc_difference here, there;
        struct tdc_error error = {0};
        tdc_options_init(&options, sizeof options, rules[round % 2]);
        tdc_buffer_init(&n_here, sizeof n_here, n, TDC_F32, 2, shape, NULL);
        tdc_buffer_init(&b_here, sizeof b_here, b, TDC_F32, 2, shape, NULL);
        tdc_buffer_init(&n_card, sizeof n_card, n_there, TDC_F32, 2, shape, NULL);
        tdc_buffer_init(&b_card, sizeof b_card, b_there, TDC_F32, 2, shape, NULL);
        tdc_status status = tdc_compare_device_buffers(tensors, &n_card, &b_card, &options, queue,
                                                       &there, sizeof there, &error);
        assert_int_equal(tdc_compare_buffers(&n_here, &b_here, &options, &here, sizeof here, NULL),
                         TDC_OK);
        if (round == 2) {
            assert_int_equal(status, TDC_ERR_UNSUPPORTED);
            assert_non_null(strstr(error.message, "NaN"));
        } else {
            assert_int_equal(status, TDC_OK);
            const size_t first = offsetof(struct tdc_difference, elements),
                         behind = offsetof(struct tdc_difference, message);
            assert_int_equal(there.row_class, here.row_class);
            assert_true(there.computed && there.located && here.located);
            assert_memory_equal((const char *)&there + first, (const char *)&here + first,
                                behind - first);
            assert_string_equal(there.message, here.message);
        }
        tdc_buffer_init(&n_card, sizeof n_card, n_there, TDC_F32, 2, shape, turned);
        assert_int_equal(tdc_compare_device_buffers(tensors, &n_card, &b_card, &options, queue,
                                                    &there, sizeof there, &error),
                         TDC_ERR_UNSUPPORTED);
        give_back(n_there, 0);
        give_back(b_there, 0);
    }
    tdc_device_free(tensors);
}

/* Three batches, of which two are under way at a time. */
static void long_tensors_go_in_batches(void **state)
{
    (void)state;
    long before = library.live();
    tdc_device *tensors = open_tensors();
    /* 2 * 64 chunks and a bit, of one byte */
    require_tensors(tensors, TDC_U8, TDC_BOOL, (size_t)130 * TDC_PAIR_CHUNK + 77, 0, FLAVOUR_BITS);
    tdc_device_free(tensors);
    assert_int_equal(library.live(), before);
}

static void wrong_use_is_refused(void **state)
{
    (void)state;
    struct tdc_device_sums sums;
    struct tdc_error error = {0};
    tdc_device *tensors;
    if (cuda) {
        assert_int_equal(calls.cuCtxSetCurrent(NULL), 0);
        assert_int_equal(tdc_device_of("cuda", &tensors, &error), TDC_ERR_DEVICE);
        assert_non_null(strstr(error.message, "no current context"));
        assert_int_equal(calls.cuCtxSetCurrent(context), 0);
        return;
    }
    float four[4] = {1, 2, 3, 4};
    const void *there = upload(four, sizeof four, 0);
    tensors = open_tensors();
    assert_int_equal(tdc_compare_device(tensors, there, TDC_F32, there, TDC_F32, 4, TDC_RULES_SOUND,
                                        NULL, &sums, sizeof sums, &error),
                     TDC_ERR_DEVICE);
    assert_non_null(strstr(error.message, "INVALID_COMMAND_QUEUE"));
    assert_int_equal(tdc_compare_device(tensors, there, TDC_F32, there, TDC_F32, 5, TDC_RULES_SOUND,
                                        queue, &sums, sizeof sums, &error),
                     TDC_ERR_DEVICE);
    assert_non_null(strstr(error.message, "INVALID_BUFFER_SIZE"));
    assert_int_equal(tdc_compare_device(tensors, there, TDC_F32, there, TDC_F32, 4, TDC_RULES_SOUND,
                                        queue, &sums, sizeof sums, &error),
                     TDC_OK);
    assert_int_equal(sums.count, 4);
    tdc_device_free(tensors);
    give_back(there, 0);
}

/* Every call of a comparison, and of the beginning. */
static void every_call_may_fail(void **state)
{
    (void)state;
    enum {
        COUNT = 8192
    };
    float *n = calloc(COUNT, sizeof *n);
    assert_non_null(n);
    const void *there = upload(n, COUNT * sizeof *n, 0);
    struct tdc_device_sums sums;
    struct tdc_error error = {0};
    long before = library.live(), last = 0;
    for (long call = 1; call == 1 || library.failed() != NULL; call++, last++) {
        tdc_device *tensors;
        library.arm(call, cuda ? 2 : -5);
        tdc_status status = tdc_device_of(cuda ? "cuda" : "opencl", &tensors, &error);
        if (status == TDC_OK) {
            status = tdc_compare_device(tensors, there, TDC_F32, there, TDC_F32, COUNT,
                                        TDC_RULES_SOUND, queue, &sums, sizeof sums, &error);
            assert_true(status == TDC_OK ? sums.count == COUNT : sums.count == 0);
            tdc_device_free(tensors);
        }
        if (library.live() != before)
            fail_msg("call %ld, %s: %ld objects are left", call, library.failed(),
                     library.live() - before);
    }
    assert_true(last > 15);
    library.arm(0, 0);
    give_back(there, 0);
    free(n);
}

/* The last test: what a hung device has is never given back. */
static void devices_that_hang_are_given_up(void **state)
{
    (void)state;
    float *n = calloc(8192, sizeof *n);
    assert_non_null(n);
    const void *there = upload(n, 8192 * sizeof *n, 0);
    struct tdc_device_sums sums;
    struct tdc_error error = {0};
    tdc_device *tensors = open_tensors();
    /* the kernel is tested, and the caller's own work is over */
    assert_int_equal(tdc_compare_device(tensors, there, TDC_F32, there, TDC_F32, 8192,
                                        TDC_RULES_SOUND, queue, &sums, sizeof sums, &error),
                     TDC_OK);
    let_hang(true);
    if (!cuda)
        library.hang(2); /* the marker of the caller's queue is none of ours */
    assert_int_equal(tdc_compare_device(tensors, there, TDC_F32, there, TDC_F32, 8192,
                                        TDC_RULES_SOUND, queue, &sums, sizeof sums, &error),
                     TDC_ERR_DEVICE);
    assert_non_null(strstr(error.message, "waiting for the device: no answer"));
    assert_int_equal(sums.count, 0);
    assert_int_equal(tdc_compare_device(tensors, there, TDC_F32, there, TDC_F32, 8192,
                                        TDC_RULES_SOUND, queue, &sums, sizeof sums, &error),
                     TDC_ERR_DEVICE);
    assert_non_null(strstr(error.message, "given up"));
    tdc_device_free(tensors);
    let_hang(false);
    free(n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tensors_are_compared_where_they_are),
        cmocka_unit_test(tensors_are_judged),
        cmocka_unit_test(long_tensors_go_in_batches),
        cmocka_unit_test(wrong_use_is_refused),
        cmocka_unit_test(every_call_may_fail),
        cmocka_unit_test(devices_that_hang_are_given_up),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
