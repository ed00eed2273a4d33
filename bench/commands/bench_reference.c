/* bench_reference.c - `tdcmp bench reference`: the float64 reference and precheck. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/commands/bench_command.h"
#include "bench/tools/option_values.h"
#include "bench/tools/bench_options.h"
#include "bench/yardsticks/fma_peak.h"
#include "bench/cases/activations.h"
#include "bench/cases/reference_case.h"
#include "bench/tools/report.h"
#include "bench/tools/scratch.h"
#include "bench/cases/small_calls.h"
#include "host/terminal/message.h"
#include "host/terminal/parse.h"
#include "host/terminal/next_option.h"
#include "io/base/error.h"
#include "reference/primitives/matrix/gemm.h"
#include "reference/primitives/vector/vector_math.h"

static const char usage[] =
    "tdcmp bench reference - the float64 reference of precheck: products, functions, moves, calls\n"
    "\n"
    "usage: tdcmp bench reference [OPTIONS]\n"
    "\n"
    "Measures this machine's float64 multiply-adds in registers, then matrix products, attention\n"
    "and convolution beside them, elementwise functions beside a bare loop over SLEEF's, moves "
    "and\n"
    "reductions in GB/s, and precheck over a dump of many small calls and over one of large\n"
    "bfloat16 activations, with what each part of its work reaches.\n"
    "\n"
    "  -n, --size N        rows and columns of the matrices (default 1024)\n"
    "  -e, --elements N    elements of other tensors, as in 4M (default 4M)\n"
    "  -c, --calls N       calls of the dump (default 5000; 0: none)\n"
    "  -a, --activations N bytes of a dump of bfloat16 activations (default 256M; 0: none)\n"
    "  -t, --threads N     number of threads (default: all)\n"
    "  -r, --repeat N      runs of which the fastest counts (default 5; slow ones do fewer)\n"
    "      --dir DIR       where the dump is written (default $TMPDIR or /tmp)\n"
    "      --json          one json object for machines\n"
    "  -h, --help          this text\n"
    "\n"
    "example: tdcmp bench reference --threads 8 --calls 0\n";

static const struct option long_options[] = {
    {"size", required_argument, NULL, 'n'},
    {"elements", required_argument, NULL, 'e'},
    {"calls", required_argument, NULL, 'c'},
    {"activations", required_argument, NULL, 'a'},
    TDC_BENCH_DIR_LONG_OPTION TDC_BENCH_LONG_OPTIONS{NULL, 0, NULL, 0},
};

static const struct tdc_report_column columns[] = {
    {"work", "work", 34, TDC_COLUMN_TEXT}, {"threads", "thr", 4, 0},
    {"milliseconds", "ms", 10, 3},         {"rate", "rate", 10, 2},
    {"unit", "unit", 12, TDC_COLUMN_TEXT}, {"share", "share", 6, 2},
    {"of", "of", 12, TDC_COLUMN_TEXT},     {"target", "target", 8, TDC_COLUMN_TEXT},
};

#define BUDGET_SECONDS 2.0

struct settings {
    struct tdc_bench_options bench;
    int size, calls;
    uint64_t elements, activations;
};

struct run {
    const struct settings *settings;
    struct tdc_report *report;
    struct tdc_error *error;
    int threads;
    double peak[2]; /* operations a second with one thread and with all */
};

struct row {
    const char *work;
    int threads;
    double seconds, rate;
    const char *unit;
    double share;
    const char *of, *target;
};

static void add_row(struct run *r, const struct row *row)
{
    struct tdc_report_value values[] = {
        tdc_text_value(row->work),
        tdc_number_value(row->threads),
        tdc_number_value(1e3 * row->seconds),
        tdc_number_value(row->rate),
        tdc_text_value(row->unit),
        tdc_number_value(row->of == NULL ? (double)NAN : row->share),
        tdc_text_value(row->of),
        tdc_text_value(row->target),
    };
    tdc_report_row(r->report, values);
}

static tdc_status time_case(struct run *r, const struct tdc_reference_case *wanted, int threads,
                            double *seconds)
{
    omp_set_num_threads(threads);
    tdc_status status =
        tdc_reference_time(wanted, (unsigned)r->settings->bench.repeat, BUDGET_SECONDS,
                           r->settings->bench.options.cancel, seconds, r->error);
    omp_set_num_threads(r->threads);
    return status;
}

/* ---- products ----------------------------------------------------------------------------------
 */

static void measure_peak(struct run *r)
{
    char work[64];
    long rounds = r->settings->size >= 512 ? 4000000 : 100000;
    for (int all = 0; all < 2; all++) {
        int threads = all ? r->threads : 1;
        double best = 0, took = 0;
        for (int i = 0; i < r->settings->bench.repeat; i++) {
            double start = tdc_seconds(), work_done = tdc_fma_run(threads, rounds);
            double seconds = tdc_seconds() - start;
            if (work_done / seconds > best) {
                best = work_done / seconds;
                took = seconds;
            }
        }
        r->peak[all] = best;
        snprintf(work, sizeof work, "multiply-adds in registers, %s", tdc_fma_variant());
        add_row(r, &(struct row){work, threads, took, best / 1e9, "GFLOP/s", 0, NULL, NULL});
        if (r->threads == 1)
            r->peak[1] = best;
        if (r->threads == 1)
            return;
    }
}

static tdc_status add_product(struct run *r, const char *work, const struct tdc_reference_case *c,
                              int threads, double operations, const char *target)
{
    double seconds;
    tdc_status status = time_case(r, c, threads, &seconds);
    double rate = operations / seconds;
    if (status == TDC_OK)
        add_row(r, &(struct row){work, threads, seconds, rate / 1e9, "GFLOP/s",
                                 rate / r->peak[threads > 1], "peak", target});
    return status;
}

#define REALS(...)                                                                                 \
    TDC_CASE_REALS, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t),                            \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

static tdc_status measure_products(struct run *r)
{
    int64_t n = r->settings->size, heads = 8, depth = 64, image = n / 16 + 8, channels = n / 16 + 1;
    double cube = 2.0 * (double)n * (double)n * (double)n;
    char work[4][80];
    struct tdc_reference_case product = {
        "Torch.matmul", {{REALS(n, n), 0}, {REALS(n, n), 0}}, false};
    struct tdc_reference_case attention = {"Functional.scaled_dot_product_attention",
                                           {{REALS(1, heads, n, depth), 0},
                                            {REALS(1, heads, n, depth), 0},
                                            {REALS(1, heads, n, depth), 0}},
                                           false};
    struct tdc_reference_case convolution = {
        "Functional.conv2d",
        {{REALS(4, channels, image, image), 0}, {REALS(channels, channels, 3, 3), 0}},
        false};
    double looks = 4.0 * (double)(heads * depth) * (double)n * (double)n;
    double taps =
        2.0 * 4 * 9 * (double)(channels * channels) * (double)(image - 2) * (double)(image - 2);
    snprintf(work[0], sizeof work[0], "matmul %lld^3, %s", (long long)n, tdc_gemm_variant());
    snprintf(work[1], sizeof work[1], "matmul backward");
    snprintf(work[2], sizeof work[2], "attention, 8 heads, %lld x 64", (long long)n);
    snprintf(work[3], sizeof work[3], "conv2d 3x3, %lld channels", (long long)channels);
    tdc_status status = TDC_OK;
    if (r->threads > 1)
        status = add_product(r, work[0], &product, 1, cube, NULL);
    if (status == TDC_OK)
        status = add_product(r, work[0], &product, r->threads, cube, ">= 0.5");
    /* forward, and two products for the gradients */
    product.backward = true;
    if (status == TDC_OK)
        status = add_product(r, work[1], &product, r->threads, 3 * cube, NULL);
    if (status == TDC_OK)
        status = add_product(r, work[2], &attention, r->threads, looks, NULL);
    attention.backward = true;
    /* four products for the gradients, scores computed three times in all */
    if (status == TDC_OK)
        status = add_product(r, "attention backward", &attention, r->threads, 3.5 * looks, NULL);
    if (status == TDC_OK)
        status = add_product(r, work[3], &convolution, r->threads, taps, NULL);
    convolution.backward = true;
    if (status == TDC_OK)
        status = add_product(r, "conv2d backward", &convolution, r->threads, 3 * taps, NULL);
    return status;
}

/* ---- functions ---------------------------------------------------------------------------------
 */

typedef void vector_function(double *y, const double *x, size_t n);

/* Seconds of the function over all elements by all threads, nothing else. */
static double bare_seconds(const struct run *r, vector_function *function, double *y,
                           const double *x, int64_t n)
{
    double best = 0;
    for (int i = 0; i < r->settings->bench.repeat; i++) {
        double start = tdc_seconds();
#pragma omp parallel for schedule(static)
        for (int64_t at = 0; at < n; at += 4096)
            function(y + at, x + at, (size_t)(n - at < 4096 ? n - at : 4096));
        double seconds = tdc_seconds() - start;
        best = i == 0 || seconds < best ? seconds : best;
    }
    return best;
}

static tdc_status measure_functions(struct run *r)
{
    static const struct {
        const char *api;
        vector_function *function;
    } functions[] = {{"Torch.exp", tdc_vexp},   {"Torch.log", tdc_vlog},
                     {"Torch.sin", tdc_vsin},   {"Torch.tanh", tdc_vtanh},
                     {"Torch.erf", tdc_verf},   {"Torch.log1p", tdc_vlog1p},
                     {"Torch.atan", tdc_vatan}, {"Torch.cosh", tdc_vcosh}};
    int64_t n = (int64_t)r->settings->elements;
    double *x = malloc((size_t)n * sizeof *x), *y = malloc((size_t)n * sizeof *y);
    if (x == NULL || y == NULL) {
        free(x);
        free(y);
        return tdc_fail(r->error, TDC_ERR_MEMORY, "out of memory for elements");
    }
    tdc_status status = TDC_OK;
    for (int64_t i = 0; i < n; i++) {
        x[i] = 1 + (double)i / (double)n;
        y[i] = 0;
    }
    for (size_t i = 0; status == TDC_OK && i < sizeof functions / sizeof *functions; i++) {
        struct tdc_reference_case c = {functions[i].api, {{TDC_CASE_POSITIVE, 1, {n}, 0}}, false};
        double seconds, bare = bare_seconds(r, functions[i].function, y, x, n);
        status = time_case(r, &c, r->threads, &seconds);
        if (status == TDC_OK)
            add_row(r,
                    &(struct row){functions[i].api, r->threads, seconds, (double)n / seconds / 1e6,
                                  "M/s", bare / seconds, "SLEEF", NULL});
    }
    free(x);
    free(y);
    return status;
}

/* ---- moves and reductions ----------------------------------------------------------------------
 */

static tdc_status measure_moves(struct run *r)
{
    int64_t n = (int64_t)r->settings->elements, width = 256, lines = n / width;
    const struct {
        struct tdc_reference_case c;
        double bytes; /* read and written, per element of the input */
    } moves[] = {
        {{"Torch.add", {{REALS(lines, width), 0}, {REALS(lines, width), 0}}, false}, 24},
        {{"Torch.add", {{REALS(lines, width), 0}, {REALS(1, width), 0}}, false}, 16},
        {{"Torch.t", {{REALS(lines, width), 0}}, false}, 16},
        {{"Torch.sum", {{REALS(lines, width), 0}}, false}, 8},
        {{"Torch.sum", {{REALS(lines, width), 0}, {TDC_CASE_INT, 0, {0}, 0}}, false}, 8},
        {{"Torch.max", {{REALS(lines, width), 0}}, false}, 8},
        {{"Torch.softmax", {{REALS(lines, width), 0}, {TDC_CASE_INT, 0, {0}, 1}}, false}, 16},
        {{"Torch.cumsum", {{REALS(lines, width), 0}, {TDC_CASE_INT, 0, {0}, 1}}, false}, 16},
        {{"Torch.gather",
          {{REALS(lines, width), 0},
           {TDC_CASE_INT, 0, {0}, 1},
           {TDC_CASE_PLACES, 2, {lines, width}, width}},
          false},
         24},
        {{"Torch.gather",
          {{REALS(lines, width), 0},
           {TDC_CASE_INT, 0, {0}, 1},
           {TDC_CASE_PLACES, 2, {lines, width}, width}},
          true},
         24},
        {{"Torch.index_select",
          {{REALS(lines, width), 0},
           {TDC_CASE_INT, 0, {0}, 0},
           {TDC_CASE_PLACES, 1, {lines}, lines}},
          false},
         16},
        {{"Torch.scatter_add",
          {{REALS(lines, width), 0},
           {TDC_CASE_INT, 0, {0}, 0},
           {TDC_CASE_PLACES, 2, {lines, width}, lines},
           {REALS(lines, width), 0}},
          false},
         32},
        {{"Torch.sort", {{REALS(lines, width), 0}}, false}, 24},
        {{"Torch.sort", {{REALS(n), 0}}, false}, 24},
    };
    for (size_t i = 0; i < sizeof moves / sizeof *moves; i++) {
        double seconds;
        char work[64];
        const struct tdc_case_argument *second = &moves[i].c.arguments[1];
        const char *how = moves[i].c.backward                                       ? " backward"
                          : moves[i].c.arguments[0].rank == 1                       ? ", one row"
                          : second->fill == TDC_CASE_REALS && second->shape[0] == 1 ? ", broadcast"
                          : second->fill == TDC_CASE_INT
                              ? (second->number == 0 ? ", dim 0" : ", dim 1")
                              : "";
        tdc_status status = time_case(r, &moves[i].c, r->threads, &seconds);
        if (status != TDC_OK)
            return status;
        snprintf(work, sizeof work, "%s%s", moves[i].c.api, how);
        add_row(r, &(struct row){work, r->threads, seconds,
                                 moves[i].bytes * (double)(lines * width) / seconds / 1e9, "GB/s",
                                 0, NULL, NULL});
    }
    return TDC_OK;
}

/* ---- precheck ----------------------------------------------------------------------------------
 */

static tdc_status check_dump(struct run *r, const char *dump, const char *out, int calls,
                             struct tdc_precheck_summary *summary)
{
    struct tdc_precheck_options options;
    tdc_precheck *precheck = NULL;
    tdc_precheck_options_init(&options, sizeof options, TDC_PROFILE_EXTENDED);
    options.threads = r->threads;
    options.output = out;
    options.cancel = r->settings->bench.options.cancel;
    double start = tdc_seconds();
    tdc_status status = tdc_precheck_open(dump, &options, &precheck, r->error);
    if (status == TDC_OK)
        status = tdc_precheck_run(precheck, r->error);
    if (status == TDC_OK)
        tdc_precheck_summary(precheck, summary, sizeof *summary);
    summary->seconds = tdc_seconds() - start;
    tdc_precheck_free(precheck);
    if (status == TDC_OK && summary->verdicts[TDC_CHECK_PASS] != (uint64_t)calls)
        return tdc_fail(r->error, TDC_ERR_FORMAT, "%llu of %d made-up calls pass",
                        (unsigned long long)summary->verdicts[TDC_CHECK_PASS], calls);
    return status;
}

/* The fastest of three runs over the dump in the folder. */
static tdc_status check_dumps(struct run *r, const char *folder, int calls,
                              struct tdc_precheck_summary *best)
{
    char dump[4096 + 16];
    tdc_status status = TDC_OK;
    snprintf(dump, sizeof dump, "%s/dump.json", folder);
    for (int i = 0; status == TDC_OK && i < (r->settings->bench.repeat < 3 ? 1 : 3); i++) {
        struct tdc_precheck_summary summary = {0};
        status = check_dump(r, dump, folder, calls, &summary);
        if (i == 0 || summary.seconds < best->seconds)
            *best = summary;
    }
    return status;
}

static tdc_status measure_calls(struct run *r)
{
    struct tdc_scratch scratch;
    struct tdc_precheck_summary best = {0};
    char work[64];
    int calls = r->settings->calls;
    if (calls == 0)
        return TDC_OK;
    tdc_status status = tdc_scratch_open(r->settings->bench.folder, &scratch, r->error);
    if (status != TDC_OK)
        return status;
    status = tdc_small_calls_make(scratch.path, calls, r->error);
    if (status == TDC_OK)
        status = check_dumps(r, scratch.path, calls, &best);
    tdc_scratch_close(&scratch);
    if (status != TDC_OK)
        return status;
    snprintf(work, sizeof work, "precheck, %d small calls", calls);
    add_row(r, &(struct row){work, r->threads, best.seconds, 60 * calls / best.seconds, "calls/min",
                             0, NULL, "> 5000000"});
    return TDC_OK;
}

/* What each part of the work would reach if the threads did nothing else. */
static void add_parts(struct run *r, const struct tdc_precheck_summary *summary)
{
    static const char *const names[TDC_WORKS] = {
        [TDC_WORK_READING] = "reading",     [TDC_WORK_WIDENING] = "widening",
        [TDC_WORK_COMPUTING] = "computing", [TDC_WORK_JUDGING] = "judging",
        [TDC_WORK_WRITING] = "writing",
    };
    double all = 0;
    int slowest = 0;
    for (int i = 0; i < TDC_WORKS; i++) {
        all += summary->work[i];
        slowest = summary->work[i] > summary->work[slowest] ? i : slowest;
    }
    for (int i = 0; i < TDC_WORKS; i++) {
        double seconds = summary->work[i] / r->threads;
        char work[64];
        snprintf(work, sizeof work, "precheck, %s%s", names[i], i == slowest ? ": slowest" : "");
        add_row(r, &(struct row){work, r->threads, seconds,
                                 (double)summary->bytes / (seconds > 0 ? seconds : 1e-9) / 1e9,
                                 "GB/s", summary->work[i] / all, "all parts", NULL});
    }
}

static tdc_status measure_activations(struct run *r)
{
    struct tdc_scratch scratch;
    struct tdc_precheck_summary best = {0};
    char work[64];
    int calls;
    if (r->settings->activations == 0)
        return TDC_OK;
    tdc_status status = tdc_scratch_open(r->settings->bench.folder, &scratch, r->error);
    if (status != TDC_OK)
        return status;
    status = tdc_activations_make(scratch.path, r->settings->activations, &calls, r->error);
    if (status == TDC_OK)
        status = check_dumps(r, scratch.path, calls, &best);
    tdc_scratch_close(&scratch);
    if (status != TDC_OK)
        return status;
    snprintf(work, sizeof work, "precheck, %.3g GB of bf16", (double)best.bytes / 1e9);
    add_row(r, &(struct row){work, r->threads, best.seconds,
                             (double)best.bytes / best.seconds / 1e9, "GB/s", 0, NULL, NULL});
    add_parts(r, &best);
    return TDC_OK;
}

static tdc_status run(void *context, struct tdc_error *error)
{
    const struct settings *settings = context;
    struct tdc_report_head head = {
        .command = "bench reference",
        .threads = settings->bench.options.threads,
        .repeat = (unsigned)settings->bench.repeat,
        .json = settings->bench.json,
        .columns = columns,
        .column_count = sizeof columns / sizeof *columns,
    };
    struct tdc_report report;
    struct run r = {settings, &report, error, settings->bench.options.threads, {0, 0}};
    int before = omp_get_max_threads();
    omp_set_num_threads(r.threads);
    tdc_report_start(&report, &head);
    measure_peak(&r);
    tdc_status status = measure_products(&r);
    if (status == TDC_OK)
        status = measure_functions(&r);
    if (status == TDC_OK)
        status = measure_moves(&r);
    if (status == TDC_OK)
        status = measure_calls(&r);
    if (status == TDC_OK)
        status = measure_activations(&r);
    omp_set_num_threads(before);
    if (status != TDC_OK) {
        tdc_report_drop(&report);
        return status;
    }
    tdc_report_note(&report,
                    "peak: independent float64 multiply-adds of the same number of threads. "
                    "SLEEF: its vector functions in a bare loop, same threads.");
    tdc_report_note(&report,
                    "parts of a precheck: GB/s of its tensor data by the time that the threads "
                    "spent on each; the slowest decides how fast a large dump runs.");
    tdc_report_note(&report, "GB/s count what must be read and written once, indices included.");
    return tdc_report_end(&report, error);
}

static bool take_option(void *context, int option)
{
    struct settings *settings = context;
    switch (option) {
    case 'n':
        return (tdc_parse_number(optarg, 32, &settings->size) && settings->size <= 16384) ||
               tdc_wrong_value("--size", optarg, "a number from 32 to 16384");
    case 'e':
        return (tdc_parse_size(optarg, &settings->elements) && settings->elements >= 4096 &&
                settings->elements <= (uint64_t)1 << 28) ||
               tdc_wrong_value("--elements", optarg, "a number from 4096 to 256M");
    case 'c':
        return (tdc_parse_number(optarg, 0, &settings->calls) && settings->calls <= 1000000) ||
               tdc_wrong_value("--calls", optarg, "a number up to 1000000");
    case 'a':
        return (tdc_parse_size(optarg, &settings->activations) &&
                settings->activations <= (uint64_t)1 << 40) ||
               tdc_wrong_value("--activations", optarg, "a size up to 1T");
    default:
        return tdc_take_common_option(option, &settings->bench);
    }
}

int tdc_bench_reference(int argc, char **argv)
{
    struct settings settings = {.size = 1024,
                                .calls = 5000,
                                .elements = (uint64_t)4 << 20,
                                .activations = (uint64_t)256 << 20};
    tdc_bench_options_init(&settings.bench);
    static const struct tdc_bench_subcommand subcommand = {
        "reference", usage, "n:e:c:a:" TDC_BENCH_SHORT_OPTIONS, long_options, take_option, run};
    return tdc_bench_subcommand_run(&subcommand, argc, argv, &settings.bench, &settings);
}
