/* test_ascend.c - the parts of the ascend backend. Those that need a device run on the stand-in for
 * AscendCL, when the environment names it (the ctest entries device.parts_*). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <elf.h>
#include <math.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/engine/ascend/acl_error.h"
#include "host/engine/ascend/ascend_device.h"
#include "host/engine/ascend/kernel_file.h"
#include "host/engine/ascend/self_test.h"
#include "host/engine/device.h"
#include "io/file/mapping_guard.h"
#include "tests/support/temporary_folder.h"

/* ---- without a device ------------------------------------------------------------------------ */

static void devices_are_named(void **state)
{
    (void)state;
    struct tdc_device_request request;
    assert_true(tdc_device_parse(NULL, &request) && request.kind == TDC_DEVICE_AUTO);
    assert_true(tdc_device_parse("auto", &request) && request.kind == TDC_DEVICE_AUTO);
    assert_true(tdc_device_parse("cpu", &request) && request.kind == TDC_DEVICE_CPU);
    assert_true(tdc_device_parse("ascend", &request) && request.family == &tdc_family_ascend);
    assert_int_equal(request.count, 1);
    assert_int_equal(request.ids[0], 0);
    assert_true(tdc_device_parse("ascend:7,0,12", &request));
    assert_int_equal(request.count, 3);
    assert_int_equal(request.ids[2], 12);
    assert_true(tdc_device_parse("ascend:all", &request) && request.all);
    static const char *const wrong[] = {
        "",          "ascend:",    "ascend:,",  "ascend:1,",
        "ascend:-1", "ascend:1,1", "ascend: 1", "ascend:99999999999",
        "Ascend",    "cpu ",       "ascendall", "ascend:0;1"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(tdc_device_parse(wrong[i], &request));
    char many[1024] = "ascend:0";
    for (int i = 1; i < 100; i++)
        snprintf(many + strlen(many), sizeof many - strlen(many), ",%d", i);
    assert_false(tdc_device_parse(many, &request));
}

static void errors_have_remedies(void **state)
{
    (void)state;
    assert_string_equal(tdc_acl_error_name(507046), "STREAM_SYNC_TIMEOUT");
    assert_string_equal(tdc_acl_error_name(1), "error");
    assert_int_equal(tdc_acl_remedy_of(207004), TDC_REMEDY_NO_DEVICE);
    assert_int_equal(tdc_acl_remedy_of(207018), TDC_REMEDY_LESS_MEMORY);
    assert_int_equal(tdc_acl_remedy_of(507008), TDC_REMEDY_WRONG_KERNEL);
    assert_int_equal(tdc_acl_remedy_of(507054), TDC_REMEDY_GIVE_UP);
    assert_int_equal(tdc_acl_remedy_of(107999), TDC_REMEDY_CHUNK_ON_CPU);
    assert_int_equal(tdc_acl_remedy_of(299999), TDC_REMEDY_CHUNK_ON_CPU);
    assert_int_equal(tdc_acl_remedy_of(599999), TDC_REMEDY_GIVE_UP);
    assert_int_equal(tdc_acl_remedy_of(-1), TDC_REMEDY_GIVE_UP);
}

static void socs_have_families(void **state)
{
    (void)state;
    static const char *const names[][2] = {
        {"Ascend910B3", "Ascend910B"},      {"Ascend910B4-1", "Ascend910B"},
        {"Ascend910_9391", "Ascend910_93"}, {"Ascend950PR_9589", "Ascend950"},
        {"Ascend310P3", "Ascend310P"},      {"Something", "Something"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char family[64];
        tdc_soc_family(names[i][0], family, sizeof family);
        assert_string_equal(family, names[i][1]);
    }
    char path[256];
    assert_false(tdc_kernel_file("../..", "tdc_pair_f32", path, sizeof path));
}

/* An ELF file with three sections: nothing, one that is loaded, and relocations for it. */
static void write_elf(const char *path, unsigned type, uint64_t size, uint64_t flags)
{
    Elf64_Ehdr header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB},
                         .e_shoff = sizeof header,
                         .e_shentsize = sizeof(Elf64_Shdr),
                         .e_shnum = 3};
    Elf64_Shdr sections[3] = {
        {0},
        {.sh_type = SHT_PROGBITS, .sh_flags = flags},
        {.sh_type = type, .sh_size = size, .sh_info = 1},
    };
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(&header, sizeof header, 1, file), 1);
    assert_int_equal(fwrite(sections, sizeof sections, 1, file), 1);
    assert_int_equal(fclose(file), 0);
}

static void kernels_must_be_linked(void **state)
{
    (void)state;
    struct temporary_folder folder;
    folder_make(&folder);
    char path[512];
    snprintf(path, sizeof path, "%s", folder_file(&folder, "kernel.o"));
    assert_false(tdc_kernel_is_unlinked(path));
    static const struct {
        unsigned type;
        uint64_t size, flags;
        bool unlinked;
    } tried[] = {{SHT_RELA, 24, SHF_ALLOC, true},
                 {SHT_REL, 16, SHF_ALLOC, true},
                 {SHT_RELA, 0, SHF_ALLOC, false},
                 {SHT_RELA, 24, 0, false}, /* of what is for debugging */
                 {SHT_PROGBITS, 24, SHF_ALLOC, false}};
    for (size_t i = 0; i < sizeof tried / sizeof *tried; i++) {
        write_elf(path, tried[i].type, tried[i].size, tried[i].flags);
        assert_int_equal(tdc_kernel_is_unlinked(path), tried[i].unlinked);
    }
    assert_int_equal(truncate(path, 100), 0);
    assert_false(tdc_kernel_is_unlinked(path));
    folder_remove(&folder);
}

static void every_kernel_is_the_one_of_its_pair(void **state)
{
    (void)state;
    for (int i = 0; i < TDC_ASCEND_KERNELS; i++) {
        const struct tdc_ascend_kernel_spec *spec = &tdc_ascend_kernels[i];
        assert_int_equal(tdc_ascend_kernel_for(spec->n_dtype, spec->b_dtype, spec->rule), i);
        assert_string_equal(tdc_tile_kernel_name(spec->n_dtype, spec->b_dtype, spec->rule),
                            spec->name);
    }
    assert_int_equal(tdc_ascend_kernel_for(TDC_F16, TDC_F32, TDC_RELATIVE_NATIVE), -1);
}

/* ---- functions of the stand-in --------------------------------------------------------------- */

#define ACL_FN(required, result, name, arguments) result(*name) arguments;
static struct {
#include "tests/twin/acl/acl_more_functions.h"
} more;
#undef ACL_FN

static void find_more(void)
{
    void *symbol;
#define ACL_FN(required, result, name, arguments)                                                  \
    symbol = tdc_acl_symbol(#name);                                                                \
    assert_non_null(symbol);                                                                       \
    memcpy(&more.name, &symbol, sizeof symbol);
#include "tests/twin/acl/acl_more_functions.h"
#undef ACL_FN
}

/* ---- with one -------------------------------------------------------------------------------- */

static const struct tdc_acl *acl;
static uint64_t random_state = 88172645463325252u;

static uint64_t random_bits(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static int start(void **state)
{
    (void)state;
    struct tdc_error error = {0};
    acl = tdc_acl_runtime_start(&error);
    if (acl == NULL)
        fail_msg("%s", error.message);
    return 0;
}

static int end(void **state)
{
    (void)state;
    tdc_devices_end();
    return 0;
}

static void check_near(double value, double expected, double magnitude)
{
    if (!(fabs(value - expected) <= TDC_TILE_SUM_ERROR * magnitude))
        fail_msg("a sum of the device is %.17g, of the CPU %.17g", value, expected);
}

/* A chunk and a half with everything: ordinary numbers, a NaN, zeros, equal tiles. */
enum {
    COUNT = (1 << 18) + 17 * TDC_TILE_PAIRS + 123
};

static void fill(float *n, float *b)
{
    for (size_t i = 0; i < COUNT; i++) {
        b[i] = (float)(int32_t)random_bits() * 0x1p-28f;
        n[i] = i % 3 == 0 ? b[i] : b[i] * (1.0f + (float)(random_bits() % 1000) * 1e-5f);
    }
    n[10000] = NAN;
    b[20000] = INFINITY;
    memset(b + 30000, 0, 40);
    n[(1 << 18) + 777] += 100.0f;
}

static void expect_sums(const float *n, const float *b, size_t count, enum tdc_relative_rule rule,
                        struct tdc_pair_sums *sums)
{
    struct tdc_pair_plan plan;
    assert_true(tdc_pair_plan_make(TDC_F32, TDC_F32, rule, tdc_cpu_variant_chosen(), &plan));
    plan.extremes = true;
    tdc_pair_clear(sums);
    for (size_t at = 0; at < count; at += TDC_PAIR_CHUNK) {
        struct tdc_pair_sums part;
        tdc_pair_run(&plan, n + at, b + at,
                     count - at < TDC_PAIR_CHUNK ? count - at : TDC_PAIR_CHUNK, &part);
        tdc_pair_merge(sums, &part);
    }
}

static void check_device_sums(const struct tdc_device_sums *sums, const struct tdc_pair_sums *right)
{
    assert_int_equal(sums->count, right->count);
    assert_int_equal(sums->finite, right->finite);
    assert_true(sums->n_min == right->n_min && sums->n_max == right->n_max);
    assert_true(sums->b_min == right->b_min && sums->b_max == right->b_max);
    assert_true(sums->abs_max == right->abs_max && sums->rel_max == right->rel_max);
    assert_int_equal(sums->abs_at, right->abs_at);
    assert_int_equal(sums->rel_at, right->rel_at);
    assert_int_equal(sums->below_thousandth, right->below[0]);
    assert_int_equal(sums->below_five_thousandths, right->below[1]);
    assert_int_equal(sums->n_nan, right->n_nan);
    assert_int_equal(sums->b_inf, right->b_inf);
    check_near(sums->nb, right->nb, sqrt(right->nn * right->bb));
    check_near(sums->nn, right->nn, right->nn);
    check_near(sums->dd, right->dd, right->dd);
    check_near(sums->abs, right->abs, right->abs);
}

/* The caller's side of the bargain: context, stream, tensors on the device. */
struct caller {
    void *stream;
    unsigned char *n, *b; /* on the device */
};

static unsigned char *upload(void *stream, const void *from, size_t bytes)
{
    void *to, *pinned;
    assert_int_equal(acl->aclrtMalloc(&to, bytes + 512, TDC_ACL_MEM_MALLOC_HUGE_FIRST), 0);
    assert_int_equal(acl->aclrtMallocHost(&pinned, bytes), 0);
    memcpy(pinned, from, bytes);
    assert_int_equal(
        acl->aclrtMemcpyAsync(to, bytes, pinned, bytes, TDC_ACL_MEMCPY_HOST_TO_DEVICE, stream), 0);
    assert_int_equal(more.aclrtSynchronizeStream(stream), 0);
    assert_int_equal(acl->aclrtFreeHost(pinned), 0);
    return to;
}

static void tensors_on_the_device_are_compared_there(void **state)
{
    (void)state;
    static float n[COUNT], b[COUNT];
    fill(n, b);
    find_more();
    assert_int_equal(acl->aclrtSetDevice(0), 0);
    struct caller caller;
    assert_int_equal(acl->aclrtCreateStream(&caller.stream), 0);
    caller.n = upload(caller.stream, n, sizeof n);
    caller.b = upload(caller.stream, b, sizeof b);
    tdc_device *device;
    struct tdc_error error = {0};
    assert_int_equal(tdc_device_new(&device, &error), TDC_OK);
    struct tdc_device_sums sums;
    struct tdc_pair_sums right;
    const tdc_rules_id rules[] = {TDC_RULES_COMPAT, TDC_RULES_SOUND};
    for (size_t i = 0; i < 2; i++) {
        expect_sums(n, b, COUNT, i == 0 ? TDC_RELATIVE_NATIVE : TDC_RELATIVE_F64, &right);
        assert_int_equal(tdc_compare_device(device, caller.n, TDC_F32, caller.b, TDC_F32, COUNT,
                                            rules[i], caller.stream, &sums, sizeof sums, &error),
                         TDC_OK);
        check_device_sums(&sums, &right);
        assert_int_equal(sums.tiles, COUNT / TDC_TILE_PAIRS);
        assert_in_range(sums.rescued, 2, 12);
    }
    /* not at 512 bytes, but at 32 */
    expect_sums(n + 8, b + 8, 9000, TDC_RELATIVE_F64, &right);
    assert_int_equal(tdc_compare_device(device, caller.n + 32, TDC_F32, caller.b + 32, TDC_F32,
                                        9000, TDC_RULES_SOUND, caller.stream, &sums, sizeof sums,
                                        &error),
                     TDC_OK);
    check_device_sums(&sums, &right);
    assert_int_equal(sums.tiles, 2);
    /* an address the kernels cannot use, and a type they do not know: copied out */
    expect_sums(n + 1, b + 1, 9000, TDC_RELATIVE_F64, &right);
    assert_int_equal(tdc_compare_device(device, caller.n + 4, TDC_F32, caller.b + 4, TDC_F32, 9000,
                                        TDC_RULES_SOUND, caller.stream, &sums, sizeof sums, &error),
                     TDC_OK);
    check_device_sums(&sums, &right);
    assert_int_equal(sums.tiles, 0);
    assert_non_null(strstr(sums.why, "32 bytes"));
    assert_int_equal(sums.copied, 9000 * 2 * sizeof(float));
    assert_int_equal(tdc_compare_device(device, caller.n, TDC_I32, caller.b, TDC_I32, 5000,
                                        TDC_RULES_SOUND, caller.stream, &sums, sizeof sums, &error),
                     TDC_OK);
    assert_int_equal(sums.count, 5000);
    assert_non_null(strstr(sums.why, "no kernel"));
    assert_int_equal(tdc_compare_device(device, caller.n, TDC_TEXT, caller.b, TDC_F32, 1,
                                        TDC_RULES_SOUND, caller.stream, &sums, sizeof sums, &error),
                     TDC_ERR_UNSUPPORTED);
    assert_int_equal(tdc_compare_device(device, caller.n, TDC_F32, caller.b, TDC_F32, 0,
                                        TDC_RULES_SOUND, caller.stream, &sums, sizeof sums, &error),
                     TDC_OK);
    assert_int_equal(sums.count, 0);
    tdc_device_free(device);
    assert_int_equal(acl->aclrtFree(caller.n), 0);
    assert_int_equal(acl->aclrtFree(caller.b), 0);
    assert_int_equal(acl->aclrtDestroyStream(caller.stream), 0);
    assert_int_equal(acl->aclrtResetDevice(0), 0);
}

/* Five chunks whose differences are all alike, but for one: where a card cannot say which of them
 * is the largest, the CPU looks at them, together; where it can, at one tile of the whole tensor.
 */
static void maxima_are_looked_for_in_the_whole_tensor(void **state)
{
    (void)state;
    enum {
        LONG = 5 << 18,
        LARGEST = (2 << 18) + 9 * TDC_TILE_PAIRS + 5
    };
    float *n = malloc(LONG * sizeof *n), *b = malloc(LONG * sizeof *b);
    struct tdc_error error = {0};
    struct tdc_device_sums sums;
    struct tdc_pair_sums right;
    tdc_device *device;
    void *stream;
    assert_true(n != NULL && b != NULL);
    find_more();
    assert_int_equal(acl->aclrtSetDevice(0), 0);
    assert_int_equal(acl->aclrtCreateStream(&stream), 0);
    assert_int_equal(tdc_device_new(&device, &error), TDC_OK);
    for (int exact = 0; exact < 2; exact++) {
        for (size_t i = 0; i < LONG; i++) {
            b[i] = 1.0f + (float)(i % TDC_TILE_PAIRS) * 0x1p-12f;
            n[i] = exact ? b[i] : b[i] + 0x1p-9f;
        }
        n[LARGEST] = exact ? 4 * b[LARGEST] : n[LARGEST];
        /* differences that a float32 does not hold */
        for (size_t i = 7; i < LONG && !exact; i += TDC_TILE_PAIRS)
            n[i] = -0x1.000002p-24f;
        unsigned char *n_there = upload(stream, n, LONG * sizeof *n);
        unsigned char *b_there = upload(stream, b, LONG * sizeof *b);
        expect_sums(n, b, LONG, TDC_RELATIVE_F64, &right);
        assert_int_equal(tdc_compare_device(device, n_there, TDC_F32, b_there, TDC_F32, LONG,
                                            TDC_RULES_SOUND, stream, &sums, sizeof sums, &error),
                         TDC_OK);
        check_device_sums(&sums, &right);
        assert_int_equal(sums.tiles, LONG / TDC_TILE_PAIRS);
        if (exact)
            assert_int_equal(sums.rescued, 1);
        else
            assert_int_equal(sums.rescued, LONG / TDC_TILE_PAIRS);
        assert_int_equal(sums.copied, sums.rescued * TDC_TILE_PAIRS * 2 * sizeof(float));
        assert_null(sums.why);
        assert_int_equal(acl->aclrtFree(n_there), 0);
        assert_int_equal(acl->aclrtFree(b_there), 0);
    }
    tdc_device_free(device);
    assert_int_equal(acl->aclrtDestroyStream(stream), 0);
    assert_int_equal(acl->aclrtResetDevice(0), 0);
    free(n);
    free(b);
}

/* With a stand-in whose fourth kernel never ends: behind the probe and the self-test. */
static void tensors_on_a_hung_device_are_given_up(void **state)
{
    (void)state;
    static float n[COUNT];
    struct tdc_device_sums sums;
    struct tdc_error error = {0};
    tdc_device *device;
    void *stream;
    find_more();
    assert_int_equal(acl->aclrtSetDevice(0), 0);
    assert_int_equal(acl->aclrtCreateStream(&stream), 0);
    unsigned char *there = upload(stream, n, sizeof n);
    assert_int_equal(tdc_device_new(&device, &error), TDC_OK);
    assert_int_equal(tdc_compare_device(device, there, TDC_F32, there, TDC_F32, COUNT,
                                        TDC_RULES_SOUND, stream, &sums, sizeof sums, &error),
                     TDC_ERR_DEVICE);
    assert_non_null(strstr(error.message, "STREAM_SYNC_TIMEOUT"));
    assert_int_equal(sums.count, 0);
    assert_int_equal(tdc_compare_device(device, there, TDC_F32, there, TDC_F32, COUNT,
                                        TDC_RULES_SOUND, stream, &sums, sizeof sums, &error),
                     TDC_ERR_DEVICE);
    assert_non_null(strstr(error.message, "given up"));
    /* neither this nor the end of the process waits for the kernel: the stand-in would say so */
    tdc_device_free(device);
    assert_int_equal(acl->aclrtDestroyStream(stream), 0);
    /* that of a card whose kernel is still there would wait */
    if (acl->aclrtDestroyStreamForce != NULL)
        assert_int_equal(acl->aclrtResetDevice(0), 0);
}

static void backend_agrees_with_the_cpu(void **state)
{
    (void)state;
    static float n[COUNT], b[COUNT];
    fill(n, b);
    struct tdc_device_run *run;
    struct tdc_error error = {0};
    const int32_t id = 0;
    assert_int_equal(tdc_device_run_open(&tdc_family_ascend, &id, 1, TDC_RELATIVE_NATIVE, true,
                                         true, &run, &error),
                     TDC_OK);
    const struct tdc_backend *backend = &run->backend;
    void *worker;
    assert_int_equal(backend->open(backend->context, &worker, &error), TDC_OK);
    struct tdc_pair_plan plan;
    assert_true(
        tdc_pair_plan_make(TDC_F32, TDC_F32, TDC_RELATIVE_NATIVE, tdc_cpu_variant_chosen(), &plan));
    plan.extremes = true;
    struct tdc_pair_sums parts[2], right[2];
    struct tdc_backend_chunk chunks[2] = {
        {.plan = &plan, .n = n, .b = b, .count = TDC_PAIR_CHUNK, .sums = &parts[0]},
        {.plan = &plan,
         .n = n + TDC_PAIR_CHUNK,
         .b = b + TDC_PAIR_CHUNK,
         .count = COUNT - TDC_PAIR_CHUNK,
         .sums = &parts[1]}};
    assert_true(tdc_guard_begin());
    assert_null(backend->take(worker, false));
    assert_int_equal(backend->submit(worker, &chunks[0]), TDC_SUBMIT_TAKEN);
    assert_int_equal(backend->submit(worker, &chunks[1]), TDC_SUBMIT_TAKEN);
    for (int i = 0; i < 2; i++) {
        assert_ptr_equal(backend->take(worker, true), &chunks[i]);
        assert_int_equal(chunks[i].how, TDC_CHUNK_BY_DEVICE);
        tdc_pair_run(&plan, chunks[i].n, chunks[i].b, chunks[i].count, &right[i]);
        assert_int_equal(parts[i].count, right[i].count);
        assert_int_equal(parts[i].nan_apart, right[i].nan_apart);
        assert_true(parts[i].abs_max == right[i].abs_max && parts[i].abs_at == right[i].abs_at);
        assert_true(parts[i].rel_max == right[i].rel_max && parts[i].rel_at == right[i].rel_at);
        assert_memory_equal(parts[i].below, right[i].below, sizeof right[i].below);
        check_near(parts[i].dd, right[i].dd, right[i].dd);
    }
    tdc_guard_end();
    backend->close(worker);
    struct tdc_device_figures figures = tdc_device_run_figures(run);
    assert_int_equal(figures.tiles, COUNT / TDC_TILE_PAIRS);
    assert_int_equal(figures.device_chunks, 2);
    assert_true(figures.h2d > 0 && figures.kernel > 0 && figures.d2h > 0);
    assert_false(tdc_device_run_failed(run));
    tdc_device_run_close(run);
}

/* One stream fills, the other waits for it and copies out into registered memory. */
static void streams_wait_for_each_other(void **state)
{
    (void)state;
    enum {
        BYTES = 4096
    };
    find_more();
    assert_int_equal(acl->aclrtSetDevice(0), 0);
    void *streams[2], *event, *timed, *memory, *mapped;
    unsigned char *host = aligned_alloc(4096, BYTES);
    assert_non_null(host);
    memset(host, 1, BYTES);
    assert_int_equal(more.aclrtHostRegister(host, BYTES, 0, &mapped), 207000);
    assert_int_equal(more.aclrtHostRegisterV2(host + 8, BYTES - 8, 0x10000000u), 107000);
    assert_int_equal(more.aclrtHostRegisterV2(host, BYTES, 0x10000000u), 0);
    assert_int_equal(acl->aclrtMalloc(&memory, BYTES, TDC_ACL_MEM_MALLOC_HUGE_FIRST), 0);
    for (int i = 0; i < 2; i++)
        assert_int_equal(acl->aclrtCreateStream(&streams[i]), 0);
    assert_int_equal(more.aclrtCreateEventExWithFlag(&event, 1), 0);
    assert_int_equal(more.aclrtCreateEventExWithFlag(&timed, 8), 0);
    assert_int_equal(more.aclrtMemcpy(memory, BYTES, host, BYTES, TDC_ACL_MEMCPY_HOST_TO_DEVICE),
                     0);
    assert_int_equal(more.aclrtMemsetAsync(memory, BYTES, 7, BYTES / 2, streams[0]), 0);
    assert_int_equal(acl->aclrtRecordEvent(event, streams[0]), 0);
    assert_int_equal(more.aclrtStreamWaitEvent(streams[1], timed), 207000);
    assert_int_equal(more.aclrtStreamWaitEvent(streams[1], event), 0);
    assert_int_equal(acl->aclrtMemcpyAsync(host, BYTES, memory, BYTES,
                                           TDC_ACL_MEMCPY_DEVICE_TO_HOST, streams[1]),
                     0);
    assert_int_equal(more.aclrtSynchronizeStream(streams[1]), 0);
    assert_int_equal(host[0], 7);
    assert_int_equal(host[BYTES / 2 - 1], 7);
    assert_int_equal(host[BYTES / 2], 1);
    /* arguments on the host are for the other call */
    assert_int_equal(more.aclrtLaunchKernel(host, 1, host, 32, streams[0]), 107000);
    assert_int_equal(more.aclrtSynchronizeStream(streams[0]), 0);
    for (int i = 0; i < 2; i++)
        assert_int_equal(acl->aclrtDestroyStream(streams[i]), 0);
    assert_int_equal(acl->aclrtDestroyEvent(event), 0);
    assert_int_equal(acl->aclrtDestroyEvent(timed), 0);
    assert_int_equal(acl->aclrtFree(memory), 0);
    assert_int_equal(more.aclrtHostUnregister(host), 0);
    free(host);
    assert_int_equal(acl->aclrtResetDevice(0), 0);
}

/* What another part of the process has started stays when ours ends, and a child of a fork keeps
 * away from it. */
static void the_runtime_is_shared(void **state)
{
    (void)state;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct tdc_error error = {0};
        bool refused = tdc_acl_runtime_start(&error) == NULL && error.status == TDC_ERR_DEVICE &&
                       strstr(error.message, "forked") != NULL;
        tdc_acl_runtime_stop();
        _exit(refused ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    uint32_t count = 0;
    assert_int_equal(acl->aclInit(NULL), 100002);
    tdc_acl_runtime_stop();
    assert_int_equal(acl->aclrtGetDeviceCount(&count), 0);
    assert_int_equal(acl->aclFinalizeReference(NULL), 0);
}

int main(void)
{
    const struct CMUnitTest parts[] = {
        cmocka_unit_test(devices_are_named),
        cmocka_unit_test(errors_have_remedies),
        cmocka_unit_test(socs_have_families),
        cmocka_unit_test(kernels_must_be_linked),
        cmocka_unit_test(every_kernel_is_the_one_of_its_pair),
    };
    const struct CMUnitTest on_a_device[] = {
        cmocka_unit_test(tensors_on_the_device_are_compared_there),
        cmocka_unit_test(maxima_are_looked_for_in_the_whole_tensor),
        cmocka_unit_test(backend_agrees_with_the_cpu),
        cmocka_unit_test(streams_wait_for_each_other),
        cmocka_unit_test(the_runtime_is_shared), /* the last: it ends it */
    };
    const struct CMUnitTest on_a_hung_device[] = {
        cmocka_unit_test(tensors_on_a_hung_device_are_given_up),
    };
    if (getenv("ACL_TWIN_HANG") != NULL)
        return cmocka_run_group_tests(on_a_hung_device, start, end);
    if (getenv("TDC_TEST_DEVICE") == NULL)
        return cmocka_run_group_tests(parts, NULL, NULL);
    return cmocka_run_group_tests(on_a_device, start, end);
}
