#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "host/engine/device.h"
#include "kernels/ascend/tile_layout.h"
#include "host/engine/engine.h"
#include "io/file/mapping_guard.h"
#include "tests/support/tensor_folder.h"
#include "tests/unit/io/made_pt.h"

#define ROWS     700u
#define COLUMNS  900u
#define ELEMENTS ((size_t)ROWS * COLUMNS) /* two chunks and a bit */

/* The CPU, or a device when TDC_TEST_DEVICE says so: the same tests for both. */
static const struct tdc_backend *backend = &tdc_backend_cpu;

static uint64_t random_state = 88172645463325252u;

static uint64_t random_bits(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

/* ---- pairs stored in many ways, with the dense elements they stand for ----------------------- */

struct stored {
    char file[32];
    tdc_dtype dtype;
    unsigned char *dense; /* in C order and native byte order */
};

struct stored_pair {
    struct stored n, b;
};

enum {
    PLAIN,
    SWAPPED,
    FORTRAN,
    EXPANDED, /* a .pt view of one row with stride 0 */
    LAYOUTS
};

static void fill(struct stored *stored)
{
    size_t size = tdc_dtype_size(stored->dtype);
    stored->dense = malloc(ELEMENTS * size);
    assert_non_null(stored->dense);
    for (size_t i = 0; i < ELEMENTS * size; i++)
        stored->dense[i] = (unsigned char)random_bits();
    if (stored->dtype != TDC_F32 && stored->dtype != TDC_C64)
        return;
    /* floats of moderate size, so that sums show the order in which they were taken */
    for (size_t i = 0; i < ELEMENTS * size / 4; i++) {
        float value = (float)(int32_t)random_bits() * 0x1p-20f;
        memcpy(stored->dense + 4 * i, &value, 4);
    }
}

static void reverse_bytes(unsigned char *bytes, size_t size)
{
    for (size_t i = 0; i < size / 2; i++) {
        unsigned char kept = bytes[i];
        bytes[i] = bytes[size - 1 - i];
        bytes[size - 1 - i] = kept;
    }
}

static const char *descr_of(tdc_dtype dtype, bool swapped)
{
    switch (dtype) {
    case TDC_F16:
        return swapped ? ">f2" : "<f2";
    case TDC_F32:
        return swapped ? ">f4" : "<f4";
    case TDC_I64:
        return swapped ? ">i8" : "<i8";
    case TDC_C64:
        return swapped ? ">c8" : "<c8";
    case TDC_U8:
        return "|u1";
    default:
        fail_msg("no such type in these tests");
        return "";
    }
}

/* The expanded tensor is ROWS times the first row; its dense form is made so. */
static void write_expanded(const struct tensor_folder *folder, struct stored *stored)
{
    static const char pickle[] = TENSOR(STORAGE(FLOATS, "M\x84\3"), "K\0(M\xbc\2M\x84\3t(K\0K\1t");
    static struct made_zip zip;
    memset(&zip, 0, sizeof zip);
    const struct made_member members[] = {{"a/data.pkl", pickle, sizeof pickle - 1},
                                          {"a/data/0", stored->dense, (size_t)COLUMNS * 4}};
    make_zip(&zip, members, 2, false);
    for (size_t row = 1; row < ROWS; row++)
        memcpy(stored->dense + row * COLUMNS * 4, stored->dense, (size_t)COLUMNS * 4);
    file_write(folder_file(&folder->data, stored->file), zip.bytes, zip.size);
}

static void write_side(const struct tensor_folder *folder, struct stored *stored, int layout,
                       int number, char side)
{
    snprintf(stored->file, sizeof stored->file, "%c%d.%s", side, number,
             layout == EXPANDED ? "pt" : "npy");
    fill(stored);
    if (layout == EXPANDED) {
        write_expanded(folder, stored);
        return;
    }
    size_t size = tdc_dtype_size(stored->dtype);
    unsigned char *bytes = malloc(ELEMENTS * size);
    assert_non_null(bytes);
    memcpy(bytes, stored->dense, ELEMENTS * size);
    size_t unit = stored->dtype == TDC_C64 ? 4 : size;
    for (size_t i = 0; layout == SWAPPED && i < ELEMENTS * size; i += unit)
        reverse_bytes(bytes + i, unit);
    for (size_t i = 0; layout == FORTRAN && i < ELEMENTS; i++)
        memcpy(bytes + (i % COLUMNS * ROWS + i / COLUMNS) * size, stored->dense + i * size, size);
    npy_write(folder, stored->file, descr_of(stored->dtype, layout == SWAPPED), layout == FORTRAN,
              "700, 900", bytes, ELEMENTS * size);
    free(bytes);
}

/* What the kernels say of the dense elements, chunk after chunk. */
static void sum_directly(const struct stored_pair *pair, enum tdc_relative_rule rule,
                         enum tdc_cpu_variant variant, struct tdc_pair_sums *sums)
{
    struct tdc_pair_plan plan;
    assert_true(tdc_pair_plan_make(pair->n.dtype, pair->b.dtype, rule, variant, &plan));
    tdc_pair_clear(sums);
    for (size_t first = 0; first < ELEMENTS; first += TDC_PAIR_CHUNK) {
        size_t count = ELEMENTS - first < TDC_PAIR_CHUNK ? ELEMENTS - first : TDC_PAIR_CHUNK;
        struct tdc_pair_sums part;
        tdc_pair_run(&plan, pair->n.dense + first * tdc_dtype_size(pair->n.dtype),
                     pair->b.dense + first * tdc_dtype_size(pair->b.dtype), count, &part);
        tdc_pair_merge(sums, &part);
    }
}

/* ---- runs ------------------------------------------------------------------------------------ */

#define PAIRS 7

static const struct {
    tdc_dtype n, b;
    int n_layout, b_layout;
} kinds[PAIRS] = {
    {TDC_F32, TDC_F32, PLAIN, PLAIN},   {TDC_F32, TDC_F32, SWAPPED, PLAIN},
    {TDC_F32, TDC_F32, PLAIN, FORTRAN}, {TDC_F32, TDC_F32, EXPANDED, SWAPPED},
    {TDC_F16, TDC_F32, FORTRAN, PLAIN}, {TDC_I64, TDC_U8, SWAPPED, PLAIN},
    {TDC_C64, TDC_C64, PLAIN, SWAPPED},
};

static void keep_outcome(void *context, const struct tdc_job *job,
                         const struct tdc_outcome *outcome)
{
    (void)context;
    *(struct tdc_outcome *)job->row = *outcome;
}

static void list_jobs(const struct tensor_folder *folder, const struct stored_pair *pairs,
                      struct tdc_outcome *outcomes, struct tdc_job *jobs)
{
    for (size_t i = 0; i < PAIRS; i++) {
        memset(&outcomes[i], 0xee, sizeof outcomes[i]);
        jobs[i] = (struct tdc_job){.n_folder = folder->data.path,
                                   .n_file = pairs[i].n.file,
                                   .b_folder = folder->data.path,
                                   .b_file = pairs[i].b.file,
                                   .bytes = random_bits() % 100, /* any order of work */
                                   .row = &outcomes[i]};
    }
}

static void check_near(double *value, double expected, double magnitude)
{
    if (!(fabs(*value - expected) <= TDC_TILE_SUM_ERROR * magnitude))
        fail_msg("a sum of the device is %.17g, of the CPU %.17g", *value, expected);
    *value = expected;
}

/* Equal to the bit, but for the seven sums of a device. */
static void check_sums(struct tdc_pair_sums *sums, const struct tdc_pair_sums *direct)
{
    if (backend != &tdc_backend_cpu && isfinite(direct->dd)) {
        double count = (double)direct->count;
        check_near(&sums->nb, direct->nb, sqrt(direct->nn * direct->bb));
        check_near(&sums->nn, direct->nn, direct->nn);
        check_near(&sums->bb, direct->bb, direct->bb);
        check_near(&sums->dd, direct->dd, direct->dd);
        check_near(&sums->n, direct->n, sqrt(direct->nn * count));
        check_near(&sums->b, direct->b, sqrt(direct->bb * count));
        check_near(&sums->abs, direct->abs, direct->abs);
    }
    assert_memory_equal(sums, direct, sizeof *direct);
}

/* Floats of the other byte order take part as float64 when errors are taken as msprobe does. */
static void widen(struct stored *stored, int layout)
{
    if (layout != SWAPPED || stored->dtype != TDC_F32)
        return;
    double *wide = malloc(ELEMENTS * sizeof *wide);
    assert_non_null(wide);
    for (size_t i = 0; i < ELEMENTS; i++) {
        float value;
        memcpy(&value, stored->dense + i * sizeof value, sizeof value);
        wide[i] = (double)value;
    }
    free(stored->dense);
    stored->dense = (unsigned char *)wide;
    stored->dtype = TDC_F64;
}

static void results_depend_on_the_data_alone(void **state)
{
    (void)state;
    struct tensor_folder folder;
    tensor_folder_make(&folder);
    static struct stored_pair pairs[PAIRS];
    static struct tdc_outcome outcomes[PAIRS];
    for (int i = 0; i < PAIRS; i++) {
        pairs[i].n.dtype = kinds[i].n;
        pairs[i].b.dtype = kinds[i].b;
        write_side(&folder, &pairs[i].n, kinds[i].n_layout, i, 'n');
        write_side(&folder, &pairs[i].b, kinds[i].b_layout, i, 'b');
    }
    struct tdc_options options;
    tdc_options_init(&options, sizeof options, TDC_RULES_SOUND);
    const enum tdc_relative_rule rules[] = {TDC_RELATIVE_F64, TDC_RELATIVE_NATIVE};
    for (size_t r = 0; r < 2; r++) {
        struct tdc_pair_sums direct[PAIRS];
        for (size_t i = 0; i < PAIRS && rules[r] == TDC_RELATIVE_NATIVE; i++) {
            widen(&pairs[i].n, kinds[i].n_layout);
            widen(&pairs[i].b, kinds[i].b_layout);
        }
        for (size_t i = 0; i < PAIRS; i++)
            sum_directly(&pairs[i], rules[r], TDC_CPU_BASELINE, &direct[i]);
        /* the twin of a device takes its time */
        bool quick = backend != &tdc_backend_cpu;
        for (int threads = quick ? 3 : 1; threads <= 4; threads += quick ? 2 : 1) {
            struct tdc_job jobs[PAIRS];
            list_jobs(&folder, pairs, outcomes, jobs);
            struct tdc_engine engine = {.backend = backend,
                                        .rule = rules[r],
                                        .threads = threads,
                                        .options = &options,
                                        .done = keep_outcome};
            assert_int_equal(tdc_engine_run(&engine, jobs, PAIRS, NULL), TDC_OK);
            for (size_t i = 0; i < PAIRS; i++) {
                assert_int_equal(outcomes[i].code, TDC_OUTCOME_COMPARED);
                assert_int_equal(outcomes[i].count, ELEMENTS);
                check_sums(&outcomes[i].sums, &direct[i]);
                size_t size = tdc_dtype_size(pairs[i].n.dtype);
                assert_memory_equal(outcomes[i].abs_n.bytes,
                                    pairs[i].n.dense + direct[i].abs_at * size, size);
                size = tdc_dtype_size(pairs[i].b.dtype);
                assert_memory_equal(outcomes[i].rel_b.bytes,
                                    pairs[i].b.dense + direct[i].rel_at * size, size);
            }
        }
    }
    for (size_t i = 0; i < PAIRS; i++) {
        free(pairs[i].n.dense);
        free(pairs[i].b.dense);
    }
    tensor_folder_remove(&folder);
}

/* The worker that opened a small file opens the next one while others read the pair. */
static void shared_pairs_own_their_bytes(void **state)
{
    (void)state;
    struct tensor_folder folder;
    tensor_folder_make(&folder);
    static int64_t zeros[ELEMENTS];
    npy_write(&folder, "n.npy", "<i8", false, "700, 900", zeros, sizeof zeros);
    npy_write(&folder, "b.npy", "|u1", false, "700, 900", zeros, ELEMENTS);
    struct tdc_outcome outcome;
    struct tdc_open_pair pair;
    struct tdc_job job = {.n_folder = folder.data.path,
                          .n_file = "n.npy",
                          .b_folder = folder.data.path,
                          .b_file = "b.npy",
                          .row = &outcome};
    struct tdc_worker worker;
    assert_int_equal(tdc_worker_init(&worker, backend, NULL), TDC_OK);
    assert_true(tdc_pair_open(&worker, &job, TDC_RELATIVE_F64, TDC_IO_AUTO, &pair, &outcome));
    assert_true(pair.spans > 1);
    assert_true(pair.n.map != NULL && pair.b.map != NULL);
    tdc_pair_close(&pair);
    tdc_worker_free(&worker);
    tensor_folder_remove(&folder);
}

/* ---- jobs that lie --------------------------------------------------------------------------- */

#define MOST_LIES 100u

/* A batch and more; the stand-in for a card computes slowly, and there a few show the same. */
static size_t lie_count(void)
{
    return backend == &tdc_backend_cpu ? MOST_LIES : 4;
}

struct lying_run {
    struct tdc_outcome outcomes[MOST_LIES];
    size_t descriptors; /* most that were open at once */
};

static void count_descriptors(void *context, uint64_t rows, uint64_t bytes)
{
    (void)rows;
    (void)bytes;
    struct lying_run *lying = context;
    const struct temporary_folder own = {"/proc/self/fd"};
    size_t open = folder_entries(&own);
    if (open > lying->descriptors)
        lying->descriptors = open; /* of one thread alone */
}

static void run_lies(const struct tensor_folder *folder, struct lying_run *lying, int threads)
{
    static struct tdc_job jobs[MOST_LIES];
    for (size_t i = 0; i < lie_count(); i++)
        jobs[i] = (struct tdc_job){.n_folder = folder->data.path,
                                   .n_file = "large.npy",
                                   .b_folder = folder->data.path,
                                   .b_file = "large.npy",
                                   .bytes = 8,
                                   .order = i,
                                   .row = &lying->outcomes[i]};
    struct tdc_options options;
    tdc_options_init(&options, sizeof options, TDC_RULES_SOUND);
    options.context = lying;
    if (threads == 1)
        options.progress = count_descriptors;
    struct tdc_engine engine = {.backend = backend,
                                .rule = TDC_RELATIVE_F64,
                                .threads = threads,
                                .options = &options,
                                .done = keep_outcome};
    assert_int_equal(tdc_engine_run(&engine, jobs, lie_count(), NULL), TDC_OK);
}

/* A batch of jobs that a dump.json calls tiny, each with files of more than a span. */
static void small_jobs_may_be_large(void **state)
{
    (void)state;
    struct tensor_folder folder;
    tensor_folder_make(&folder);
    static float values[(1 << 20) + 1];
    for (size_t i = 0; i < (1 << 20) + 1; i++)
        values[i] = (float)(int32_t)random_bits() * 0x1p-20f;
    npy_write(&folder, "large.npy", "<f4", false, "1048577,", values, sizeof values);
    struct lying_run *lying = calloc(1, sizeof *lying);
    assert_non_null(lying);
    const struct temporary_folder own = {"/proc/self/fd"};
    size_t before = folder_entries(&own);
    run_lies(&folder, lying, 1);
    /* two files of one pair, and of the next while the last span of the one before is at work; and
     * the folders of both sides */
    assert_true(lying->descriptors <= before + 6);
    struct tdc_pair_sums honest = lying->outcomes[0].sums;
    for (int threads = 1; threads <= 4; threads += 3) {
        memset(lying->outcomes, 0xee, sizeof lying->outcomes);
        run_lies(&folder, lying, threads);
        for (size_t i = 0; i < lie_count(); i++) {
            assert_int_equal(lying->outcomes[i].code, TDC_OUTCOME_COMPARED);
            assert_int_equal(lying->outcomes[i].sums.count, (1 << 20) + 1);
            assert_memory_equal(&lying->outcomes[i].sums, &honest, sizeof honest);
        }
    }
    free(lying);
    tensor_folder_remove(&folder);
}

/* ---- files that change ----------------------------------------------------------------------- */

static void write_plain_pair(const struct tensor_folder *folder)
{
    /* three spans */
    static float values[3 << 20];
    npy_write(folder, "n.npy", "<f4", false, "3, 1048576", values, sizeof values);
    npy_write(folder, "b.npy", "<f4", false, "3, 1048576", values, sizeof values);
}

static struct tdc_job plain_job(const struct tensor_folder *folder, struct tdc_outcome *outcome)
{
    return (struct tdc_job){.n_folder = folder->data.path,
                            .n_file = "n.npy",
                            .b_folder = folder->data.path,
                            .b_file = "b.npy",
                            .bytes = 1,
                            .row = outcome};
}

static void shrink_under(tdc_io io)
{
    struct tensor_folder folder;
    tensor_folder_make(&folder);
    write_plain_pair(&folder);
    struct tdc_outcome outcome;
    struct tdc_open_pair pair;
    struct tdc_job job = plain_job(&folder, &outcome);
    struct tdc_worker worker;
    assert_int_equal(tdc_worker_init(&worker, backend, NULL), TDC_OK);
    assert_true(tdc_pair_open(&worker, &job, TDC_RELATIVE_F64, io, &pair, &outcome));
    assert_int_equal(pair.chunks, 12);
    assert_int_equal(pair.spans, 3);
    assert_true(tdc_guard_begin());
    struct tdc_pair_sums sums[4];
    unsigned how = 0;
    assert_int_equal(tdc_pair_span(&pair, 1, &worker, sums, &how), TDC_CHUNK_DONE);
    assert_int_equal(truncate(folder_file(&folder.data, "b.npy"), 4096), 0);
    assert_int_equal(tdc_pair_span(&pair, 1, &worker, sums, &how), TDC_CHUNK_VANISHED);
    assert_int_equal(tdc_pair_span(&pair, 0, &worker, sums, &how), TDC_CHUNK_VANISHED);
    tdc_guard_end();
    tdc_pair_close(&pair);
    tdc_worker_free(&worker);
    tensor_folder_remove(&folder);
}

static void a_file_that_shrinks_ends_its_chunk(void **state)
{
    (void)state;
    shrink_under(TDC_IO_MMAP);
    shrink_under(TDC_IO_PREAD);
    shrink_under(TDC_IO_DIRECT);
}

/* Called after each chunk: the file shrinks while two chunks are still to come. */
static void shrink(void *context, uint64_t rows, uint64_t bytes)
{
    (void)rows;
    (void)bytes;
    const struct tensor_folder *folder = context;
    assert_int_equal(truncate(folder_file(&folder->data, "n.npy"), 4096), 0);
}

static void a_file_that_shrinks_is_one_row(void **state)
{
    (void)state;
    struct tensor_folder folder;
    tensor_folder_make(&folder);
    write_plain_pair(&folder);
    float values[5] = {1, 2, 3, 4, 5};
    npy_write(&folder, "small.npy", "<f4", false, "5,", values, sizeof values);
    struct tdc_outcome outcomes[2];
    struct tdc_job jobs[2] = {plain_job(&folder, &outcomes[0]), plain_job(&folder, &outcomes[1])};
    jobs[1].n_file = jobs[1].b_file = "small.npy";
    jobs[1].bytes = 0; /* comes last */
    struct tdc_options options;
    tdc_options_init(&options, sizeof options, TDC_RULES_SOUND);
    options.progress = shrink;
    options.context = &folder;
    struct tdc_engine engine = {.backend = backend,
                                .rule = TDC_RELATIVE_F64,
                                .threads = 1,
                                .options = &options,
                                .done = keep_outcome};
    assert_int_equal(tdc_engine_run(&engine, jobs, 2, NULL), TDC_OK);
    assert_int_equal(outcomes[0].code, TDC_OUTCOME_UNREADABLE);
    assert_int_equal(outcomes[0].error.status, TDC_ERR_CHANGED);
    assert_non_null(strstr(outcomes[0].error.message, "n.npy"));
    assert_non_null(strstr(outcomes[0].error.message, "changed while being read"));
    assert_int_equal(outcomes[1].code, TDC_OUTCOME_COMPARED);
    assert_int_equal(outcomes[1].sums.count, 5);
    tensor_folder_remove(&folder);
}

/* ---- what needs no arithmetic ---------------------------------------------------------------- */

static void outcomes_without_arithmetic(void **state)
{
    (void)state;
    struct tensor_folder folder;
    tensor_folder_make(&folder);
    float values[6] = {1, 2, 3, 4, 5, 6};
    npy_write(&folder, "plain.npy", "<f4", false, "6,", values, sizeof values);
    npy_write(&folder, "matrix.npy", "<f4", false, "2, 3", values, sizeof values);
    npy_write(&folder, "empty.npy", "<f4", false, "0, 3", values, 0);
    npy_write(&folder, "words.npy", "|S4", false, "6,", "abcdefghijklmnopqrstuvwx", 24);
    npy_write(&folder, "numbers.npy", "|S4", false, "6,", "1   2.0 3e0 4   5   6.00", 24);
    static const struct {
        const char *n, *b;
        enum tdc_outcome_code code;
        const char *message;
    } cases[] = {
        {"plain.npy", "plain.npy", TDC_OUTCOME_COMPARED, ""},
        {"plain.npy", "numbers.npy", TDC_OUTCOME_COMPARED, ""},
        {"plain.npy", "matrix.npy", TDC_OUTCOME_SHAPES_DIFFER, ""},
        {"empty.npy", "plain.npy", TDC_OUTCOME_EMPTY, ""},
        {"plain.npy", "empty.npy", TDC_OUTCOME_SHAPES_DIFFER, ""},
        {"plain.npy", "words.npy", TDC_OUTCOME_NOT_NUMBERS, ""},
        {"plain.npy", "none.npy", TDC_OUTCOME_UNREADABLE, "none.npy: No such file or directory"},
        {"none.npy", "plain.npy", TDC_OUTCOME_UNREADABLE, "none.npy: No such file or directory"},
        {"plain.npy", "plain.txt", TDC_OUTCOME_UNREADABLE, "plain.txt"},
        {"../plain.npy", "plain.npy", TDC_OUTCOME_UNREADABLE, "must not leave its folder"},
    };
    file_write(folder_file(&folder.data, "plain.txt"), "text", 4);
    struct tdc_options options;
    tdc_options_init(&options, sizeof options, TDC_RULES_SOUND);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tdc_outcome outcome;
        struct tdc_job job = plain_job(&folder, &outcome);
        job.n_file = cases[i].n;
        job.b_file = cases[i].b;
        struct tdc_engine engine = {.backend = backend,
                                    .rule = TDC_RELATIVE_F64,
                                    .threads = 1,
                                    .options = &options,
                                    .done = keep_outcome};
        assert_int_equal(tdc_engine_run(&engine, &job, 1, NULL), TDC_OK);
        if (outcome.code != cases[i].code)
            fail_msg("%s against %s: outcome %d", cases[i].n, cases[i].b, (int)outcome.code);
        assert_non_null(strstr(outcome.error.message, cases[i].message));
        if (outcome.code == TDC_OUTCOME_COMPARED)
            assert_true(outcome.sums.dd == 0 && outcome.sums.count == 6);
    }
    tensor_folder_remove(&folder);
}

static struct tdc_cancel cancel_now;

static void cancel_run(void *context, const struct tdc_job *job, const struct tdc_outcome *outcome)
{
    (void)job;
    (void)outcome;
    ++*(int *)context;
    tdc_cancel_set(&cancel_now);
}

static void a_cancelled_run_stops(void **state)
{
    (void)state;
    struct tensor_folder folder;
    tensor_folder_make(&folder);
    float values[5] = {1, 2, 3, 4, 5};
    npy_write(&folder, "n.npy", "<f4", false, "5,", values, sizeof values);
    npy_write(&folder, "b.npy", "<f4", false, "5,", values, sizeof values);
    struct tdc_job jobs[100];
    for (size_t i = 0; i < 100; i++)
        jobs[i] = plain_job(&folder, NULL);
    struct tdc_options options;
    tdc_options_init(&options, sizeof options, TDC_RULES_SOUND);
    options.cancel = &cancel_now;
    int done = 0;
    struct tdc_engine engine = {.backend = backend,
                                .rule = TDC_RELATIVE_F64,
                                .threads = 1,
                                .options = &options,
                                .done = cancel_run,
                                .context = &done};
    struct tdc_error error = {0};
    assert_int_equal(tdc_engine_run(&engine, jobs, 100, &error), TDC_ERR_INTERRUPTED);
    assert_int_equal(error.status, TDC_ERR_INTERRUPTED);
    /* what a device has when it is cancelled is delivered all the same */
    assert_in_range(done, 1, backend == &tdc_backend_cpu ? 1 : 99);
    tensor_folder_remove(&folder);
}

static struct tdc_device_run *run;

static int open_device(void **state)
{
    (void)state;
    struct tdc_device_request request;
    struct tdc_error error = {0};
    if (getenv("TDC_TEST_DEVICE") == NULL)
        return 0;
    assert_true(tdc_device_parse(getenv("TDC_TEST_DEVICE"), &request));
    if (tdc_device_open(&request, TDC_RELATIVE_F64, false, false, &run, &error) != TDC_OK)
        fail_msg("%s", error.message);
    backend = &run->backend;
    return 0;
}

static int close_device(void **state)
{
    (void)state;
    if (run == NULL)
        return 0;
    assert_string_equal(tdc_device_run_trouble(run), "");
    struct tdc_device_figures figures = tdc_device_run_figures(run);
    assert_true(figures.device_chunks > 0 && figures.rescued <= figures.tiles / 2);
    assert_int_equal(figures.fallbacks, 0);
    tdc_device_run_close(run);
    tdc_devices_end();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_depend_on_the_data_alone),
        cmocka_unit_test(shared_pairs_own_their_bytes),
        cmocka_unit_test(small_jobs_may_be_large),
        cmocka_unit_test(a_file_that_shrinks_ends_its_chunk),
        cmocka_unit_test(a_file_that_shrinks_is_one_row),
        cmocka_unit_test(outcomes_without_arithmetic),
        cmocka_unit_test(a_cancelled_run_stops),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
