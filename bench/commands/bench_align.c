/* bench_align.c - `tdcmp bench align`: tensors put together from parts beside whole ones. */
#include <stdio.h>
#include <string.h>

#include "bench/cases/cut_tensors.h"
#include "bench/commands/bench_command.h"
#include "bench/tools/anon_memory.h"
#include "bench/tools/bench_options.h"
#include "bench/tools/measure.h"
#include "bench/tools/option_values.h"
#include "bench/tools/report.h"
#include "bench/tools/scratch.h"
#include "bench/yardsticks/file_state.h"
#include "bench/yardsticks/stream_read.h"
#include "host/terminal/message.h"
#include "host/terminal/next_option.h"
#include "io/base/error.h"
#include "kernels/dtype.h"

static const char usage[] =
    "tdcmp bench align - how fast tensors are compared that are cut up over ranks\n"
    "\n"
    "usage: tdcmp bench align [OPTIONS]\n"
    "\n"
    "Makes a matrix in a temporary folder, whole and cut in several ways, and compares it by rules "
    "for\n"
    "logical tensors, beside the plain comparison of the same bytes. Then a folder of safetensors\n"
    "files that are not in the page cache, beside a direct read of the same files.\n"
    "\n"
    "  -d, --dtype LIST    f32, bf16 or both (default f32,bf16)\n"
    "  -s, --size BYTES    of a side; K, M, G allowed (default 256M)\n"
    "  -t, --threads N     number of threads (default: all processors)\n"
    "  -r, --repeat N      runs of which the fastest counts (default 5; slow ones do fewer)\n"
    "      --io HOW        how files are read: auto (default), mmap, pread or direct\n"
    "      --dir DIR       where to put the temporary folder (default $TMPDIR or /tmp)\n"
    "      --json          one json object for machines\n"
    "  -h, --help          this text\n"
    "\n"
    "example: tdcmp bench align --dtype bf16 --size 1G\n";

static const struct option long_options[] = {
    {"dtype", required_argument, NULL, 'd'},
    {"size", required_argument, NULL, 's'},
    {"io", required_argument, NULL, TDC_BENCH_OPTION_IO},
    TDC_BENCH_LONG_OPTIONS TDC_BENCH_DIR_LONG_OPTION{NULL, 0, NULL, 0},
};

static const struct tdc_report_column columns[] = {
    {"case", "case", 10, TDC_COLUMN_TEXT},
    {"dtype", "dtype", 5, TDC_COLUMN_TEXT},
    {"run_bytes", "run", 9, 0},
    {"gigabytes", "GB", 6, 3},
    {"seconds", "seconds", 8, 4},
    {"processor_seconds", "cpu s", 8, 4},
    {"gigabytes_per_second", "GB/s", 7, 2},
    {"megabytes_taken", "MB", 6, 1},
    {"beside", "beside", 11, TDC_COLUMN_TEXT},
    {"beside_seconds", "seconds", 8, 4},
    {"beside_processor_seconds", "cpu s", 8, 4},
    {"ratio", "ratio", 6, 2},
    {"target", "target", 6, TDC_COLUMN_TEXT},
};

#define BUDGET_SECONDS 10.0
#define RANKS          4u
#define LEAST_SIZE     ((uint64_t)1 << 20)
/* Runs from here on are to be as fast as told. */
#define TARGET_RUN 256

/* How a side is stored, and what the rules say of it. */
struct layout {
    const char *name;
    enum tdc_cut cut, b_cut;
    unsigned run; /* bytes that follow each other in a part; 0: one element */
    const char *dims, *b_dims, *cast;
    bool long_runs; /* the run is that of the rows of a rank */
};

static const struct layout layouts[] = {
    {"rows", TDC_CUT_ROWS, TDC_CUT_WHOLE, 4096, "r[tp] c", "r c", "", true},
    {"zigzag", TDC_CUT_ZIGZAG, TDC_CUT_WHOLE, 4096, "r[tp:zigzag] c", "r c", "", true},
    {"columns", TDC_CUT_COLUMNS, TDC_CUT_WHOLE, 4096, "r c[tp]", "r c", "", false},
    {"columns", TDC_CUT_COLUMNS, TDC_CUT_WHOLE, 1024, "r c[tp]", "r c", "", false},
    {"columns", TDC_CUT_COLUMNS, TDC_CUT_WHOLE, 256, "r c[tp]", "r c", "", false},
    {"both sides", TDC_CUT_COLUMNS, TDC_CUT_COLUMNS, 256, "r c[tp]", "r c[tp]", "", false},
    {"columns", TDC_CUT_COLUMNS, TDC_CUT_WHOLE, 64, "r c[tp]", "r c", "", false},
    {"columns", TDC_CUT_COLUMNS, TDC_CUT_WHOLE, 16, "r c[tp]", "r c", "", false},
    {"columns", TDC_CUT_COLUMNS, TDC_CUT_WHOLE, 0, "r c[tp]", "r c", "", false},
    {"turned", TDC_CUT_TURNED, TDC_CUT_WHOLE, 0, "c r", "r c", "", false},
    {"sum", TDC_CUT_ROWS, TDC_CUT_ROWS, 4096, "r c ; tp=sum", "r c ; tp=first", "", true},
    {"cast", TDC_CUT_WHOLE, TDC_CUT_WHOLE, 4096, "r c", "r c", ", cast: bf16", true},
};

struct settings {
    struct tdc_bench_options bench;
    struct tdc_dtype_pair dtypes[TDC_MOST_PAIRS];
    size_t dtype_count;
    uint64_t size;
};

enum {
    LAP_SECONDS,
    LAP_PROCESSOR
};

/* Two sides on the disk; rules NULL: equal names. */
struct pair {
    char a[4224], b[4224];
    const char *rules;
    const struct tdc_options *options;
    uint64_t bytes;
};

static tdc_status match_plain(const struct pair *pair, tdc_dump **a, tdc_dump **b,
                              tdc_match **match, struct tdc_error *error)
{
    tdc_status status = tdc_tensors_load(pair->a, NULL, a, error);
    if (status == TDC_OK)
        status = tdc_tensors_load(pair->b, NULL, b, error);
    if (status == TDC_OK)
        status = tdc_match_new(*a, *b, pair->options, match, error);
    return status;
}

static tdc_status compare(struct pair *pair, struct tdc_error *error)
{
    tdc_dump *a = NULL, *b = NULL;
    tdc_match *match = NULL;
    tdc_table *table = NULL;
    tdc_status status;
    if (pair->rules == NULL) {
        status = match_plain(pair, &a, &b, &match, error);
    } else {
        struct tdc_align_options align;
        tdc_align_options_init(&align, sizeof align);
        align.rules = pair->rules;
        status = tdc_align_match(pair->a, pair->b, &align, pair->options, &match, error);
    }
    if (status == TDC_OK)
        status = tdc_table_new(match, pair->options, NULL, &table, error);
    if (status == TDC_OK)
        status = tdc_compare(&table, 1, pair->options, error);
    struct tdc_summary summary = {0};
    if (status == TDC_OK)
        tdc_table_summary(table, &summary, sizeof summary);
    if (status == TDC_OK &&
        (summary.classes[TDC_ROW_ERROR] != 0 || summary.classes[TDC_ROW_UNMATCHED] != 0))
        status = tdc_fail(error, TDC_ERR_MISMATCH, "%s: %s", pair->a, tdc_table_remark(table, 0));
    pair->bytes = summary.bytes;
    tdc_table_free(table);
    tdc_match_free(match);
    tdc_dump_free(a);
    tdc_dump_free(b);
    return status;
}

static tdc_status run_pair(void *context, double laps[TDC_LAPS], struct tdc_error *error)
{
    double seconds = tdc_seconds(), processor = tdc_processor_seconds();
    tdc_status status = compare(context, error);
    laps[LAP_SECONDS] = tdc_seconds() - seconds;
    laps[LAP_PROCESSOR] = tdc_processor_seconds() - processor;
    return status;
}

/* ---- layouts --------------------------------------------------------------------------------- */

struct row {
    const char *name, *dtype, *beside, *target;
    double run, megabytes, ratio;
    uint64_t bytes;
    const double *laps, *beside_laps;
};

static void report_row(struct tdc_report *report, const struct row *row)
{
    double gigabytes = (double)row->bytes * 1e-9;
    const struct tdc_report_value values[] = {
        tdc_text_value(row->name),
        tdc_text_value(row->dtype),
        tdc_number_value(row->run),
        tdc_number_value(gigabytes),
        tdc_number_value(row->laps[LAP_SECONDS]),
        tdc_number_value(row->laps[LAP_PROCESSOR]),
        tdc_quotient_value(gigabytes, row->laps[LAP_SECONDS]),
        tdc_number_value(row->megabytes),
        tdc_text_value(row->beside),
        tdc_number_value(row->beside_laps[LAP_SECONDS]),
        tdc_number_value(row->beside_laps[LAP_PROCESSOR]),
        tdc_number_value(row->ratio),
        tdc_text_value(row->target),
    };
    tdc_report_row(report, values);
}

static tdc_status write_rules(const char *path, const struct layout *layout,
                              struct tdc_error *error)
{
    FILE *file = fopen(path, "w");
    if (file == NULL)
        return tdc_fail(error, TDC_ERR_WRITE, "%s: cannot be written", path);
    bool b_cut = layout->b_cut != TDC_CUT_WHOLE;
    fprintf(file,
            "version: 1\na: {mesh: \"tp=%u\"}\nb: {mesh: \"tp=%u\"}\ntensors:\n  - name: x\n"
            "    a: {match: x, dims: \"%s\"%s}\n    b: {match: x, dims: \"%s\"}\n",
            layout->cut == TDC_CUT_WHOLE || layout->cut == TDC_CUT_TURNED ? 1 : RANKS,
            b_cut ? RANKS : 1, layout->dims, layout->cast, layout->b_dims);
    return fclose(file) == 0 ? TDC_OK
                             : tdc_fail(error, TDC_ERR_WRITE, "%s: cannot be written", path);
}

static tdc_status make_side(const struct settings *settings, const struct tdc_cut_side *whole,
                            enum tdc_cut cut, bool other, const char *folder,
                            struct tdc_error *error)
{
    struct tdc_cut_side side = *whole;
    side.cut = cut;
    side.other = other;
    side.ranks = cut == TDC_CUT_WHOLE || cut == TDC_CUT_TURNED ? 1 : RANKS;
    return tdc_cut_make(&side, folder, settings->bench.options.cancel, error);
}

/* What a comparison takes beside what is mapped, in a run of its own. */
static tdc_status watch_memory(struct pair *pair, double *megabytes, struct tdc_error *error)
{
    struct tdc_anon_watch watch;
    tdc_anon_watch_start(&watch);
    tdc_status status = compare(pair, error);
    *megabytes = (double)tdc_anon_watch_stop(&watch) * 1e-6;
    return status;
}

static tdc_status make_layout(const struct settings *settings, const struct tdc_scratch *scratch,
                              const struct layout *layout, const struct tdc_cut_side *whole,
                              struct pair *cut, struct pair *plain, struct tdc_error *error)
{
    cut->options = plain->options = &settings->bench.options;
    snprintf(plain->a, sizeof plain->a, "%s/case/plain", scratch->path);
    snprintf(plain->b, sizeof plain->b, "%s/case/ref", scratch->path);
    snprintf(cut->a, sizeof cut->a, "%s/case/cut", scratch->path);
    snprintf(cut->b, sizeof cut->b, "%s/case/%s", scratch->path,
             layout->b_cut == TDC_CUT_WHOLE ? "ref" : "cut_ref");
    tdc_status status = make_side(settings, whole, TDC_CUT_WHOLE, false, plain->a, error);
    if (status == TDC_OK)
        status = make_side(settings, whole, TDC_CUT_WHOLE, true, plain->b, error);
    if (status == TDC_OK)
        status = make_side(settings, whole, layout->cut, false, cut->a, error);
    if (status == TDC_OK && layout->b_cut != TDC_CUT_WHOLE)
        status = make_side(settings, whole, layout->b_cut, true, cut->b, error);
    /* a folder of ranks is put together by rules, and a file is not */
    snprintf(plain->a, sizeof plain->a, "%s/case/plain/rank0/part.safetensors", scratch->path);
    snprintf(plain->b, sizeof plain->b, "%s/case/ref/rank0/part.safetensors", scratch->path);
    return status;
}

static tdc_status measure_layout(const struct settings *settings, const struct tdc_scratch *scratch,
                                 const struct layout *layout, tdc_dtype dtype,
                                 struct tdc_report *report, struct tdc_error *error)
{
    size_t element = tdc_dtype_size(dtype);
    uint64_t run = layout->run != 0 ? layout->run : element;
    struct tdc_cut_side whole = {.dtype = dtype, .columns = run / element * RANKS};
    uint64_t row = (uint64_t)RANKS * run;
    whole.rows = settings->size / row / (2 * RANKS) * (2 * RANKS);
    struct pair cut = {.rules = NULL}, plain = {.rules = NULL};
    char rules[4224];
    snprintf(rules, sizeof rules, "%s/case/align.yaml", scratch->path);
    double megabytes = 0;
    tdc_status status = make_layout(settings, scratch, layout, &whole, &cut, &plain, error);
    if (status == TDC_OK)
        status = write_rules(rules, layout, error);
    cut.rules = rules;
    struct tdc_work works[] = {{.run = run_pair, .context = &cut},
                               {.run = run_pair, .context = &plain}};
    if (status == TDC_OK)
        status = tdc_measure(works, 2, (unsigned)settings->bench.repeat, BUDGET_SECONDS,
                             settings->bench.options.cancel, error);
    if (status == TDC_OK)
        status = watch_memory(&cut, &megabytes, error);
    if (status == TDC_OK) {
        /* the same speed, though a sum reads more or a narrower cut less */
        double share = (double)cut.bytes / (double)plain.bytes;
        bool stated = run < TARGET_RUN || strchr(layout->dims, ';') || layout->cast[0] != '\0';
        const struct row figures = {
            .name = layout->name,
            .dtype = tdc_short_dtype(dtype),
            .beside = "plain",
            .target = stated ? NULL : ">= 0.8",
            .run = (double)(layout->long_runs ? whole.rows / (2 * RANKS) * row : run),
            .megabytes = megabytes,
            .ratio = works[1].best[LAP_PROCESSOR] * share / works[0].best[LAP_PROCESSOR],
            .bytes = cut.bytes,
            .laps = works[0].best,
            .beside_laps = works[1].best};
        report_row(report, &figures);
    }
    tdc_scratch_remove(scratch, "case");
    return status;
}

/* ---- shards ---------------------------------------------------------------------------------- */

struct cold_files {
    struct pair pair;
    struct tdc_bare_files files;
    struct tdc_drop drop;
    bool direct; /* the file system has direct reads */
};

static tdc_status run_shards(void *context, double laps[TDC_LAPS], struct tdc_error *error)
{
    struct cold_files *cold = context;
    tdc_status status = tdc_files_drop(&cold->files, &cold->drop, error);
    return status == TDC_OK ? run_pair(&cold->pair, laps, error) : status;
}

static tdc_status run_read(void *context, double laps[TDC_LAPS], struct tdc_error *error)
{
    struct cold_files *cold = context;
    struct tdc_bare_sum sum = {0};
    tdc_status status = tdc_files_drop(&cold->files, &cold->drop, error);
    double seconds = tdc_seconds(), processor = tdc_processor_seconds();
    if (status == TDC_OK && cold->direct) {
        status = tdc_stream_read(&cold->files, TDC_STREAM_DIRECT, cold->pair.options->threads, &sum,
                                 error);
        cold->direct = status != TDC_ERR_UNSUPPORTED;
    }
    if (!cold->direct)
        status = tdc_stream_read(&cold->files, TDC_STREAM_BUFFERED, cold->pair.options->threads,
                                 &sum, error);
    laps[LAP_SECONDS] = tdc_seconds() - seconds;
    laps[LAP_PROCESSOR] = tdc_processor_seconds() - processor;
    return status;
}

/* A folder of shards against another, neither in the page cache. */
static tdc_status measure_shards(const struct settings *settings, const struct tdc_scratch *scratch,
                                 tdc_dtype dtype, struct tdc_report *report,
                                 struct tdc_error *error)
{
    struct cold_files cold = {.pair = {.options = &settings->bench.options}, .direct = true};
    struct tdc_cut_side whole = {.dtype = dtype, .columns = 1024};
    double megabytes = 0;
    whole.rows = settings->size / (whole.columns * tdc_dtype_size(dtype)) / (2 * RANKS) * 2 * RANKS;
    snprintf(cold.pair.a, sizeof cold.pair.a, "%s/case/shards", scratch->path);
    snprintf(cold.pair.b, sizeof cold.pair.b, "%s/case/other", scratch->path);
    tdc_status status = make_side(settings, &whole, TDC_CUT_SHARDS, false, cold.pair.a, error);
    if (status == TDC_OK)
        status = make_side(settings, &whole, TDC_CUT_SHARDS, true, cold.pair.b, error);
    if (status == TDC_OK)
        status = tdc_bare_files_add(&cold.files, cold.pair.a, error);
    if (status == TDC_OK)
        status = tdc_bare_files_add(&cold.files, cold.pair.b, error);
    struct tdc_work works[] = {{.run = run_shards, .context = &cold},
                               {.run = run_read, .context = &cold}};
    if (status == TDC_OK)
        status = tdc_measure(works, 2, (unsigned)settings->bench.repeat, BUDGET_SECONDS,
                             settings->bench.options.cancel, error);
    if (status == TDC_OK)
        status = watch_memory(&cold.pair, &megabytes, error);
    if (status == TDC_OK) {
        const struct row figures = {.name = "shards",
                                    .dtype = tdc_short_dtype(dtype),
                                    .beside = cold.direct ? "direct read" : "read",
                                    .target = ">= 0.9",
                                    .run = (double)NAN,
                                    .megabytes = megabytes,
                                    .ratio =
                                        works[1].best[LAP_SECONDS] / works[0].best[LAP_SECONDS],
                                    .bytes = cold.pair.bytes,
                                    .laps = works[0].best,
                                    .beside_laps = works[1].best};
        report_row(report, &figures);
        if (strcmp(tdc_drop_name(&cold.drop), "cold") != 0)
            tdc_report_note(report,
                            "shards, %s: the page cache kept files that it was asked to "
                            "forget.",
                            figures.dtype);
    }
    tdc_bare_files_free(&cold.files);
    tdc_scratch_remove(scratch, "case");
    return status;
}

static tdc_status measure_all(const struct settings *settings, const struct tdc_scratch *scratch,
                              struct tdc_report *report, struct tdc_error *error)
{
    tdc_status status = TDC_OK;
    for (size_t i = 0; i < settings->dtype_count; i++) {
        tdc_dtype dtype = settings->dtypes[i].npu;
        for (size_t k = 0; k < sizeof layouts / sizeof *layouts && status == TDC_OK; k++)
            status = measure_layout(settings, scratch, &layouts[k], dtype, report, error);
        if (status == TDC_OK)
            status = measure_shards(settings, scratch, dtype, report, error);
    }
    return status;
}

static tdc_status run(void *context, struct tdc_error *error)
{
    const struct settings *settings = context;
    struct tdc_scratch scratch;
    tdc_status status = tdc_scratch_open(settings->bench.folder, &scratch, error);
    if (status != TDC_OK)
        return status;
    const struct tdc_report_head head = {
        .command = "bench align",
        .threads = settings->bench.options.threads,
        .rules = tdc_rules_name(settings->bench.options.rules),
        .io = tdc_io_name(settings->bench.options.io),
        .repeat = (unsigned)settings->bench.repeat,
        .folder = scratch.path,
        .file_state = "warm, shards cold",
        .json = settings->bench.json,
        .columns = columns,
        .column_count = sizeof columns / sizeof *columns,
    };
    struct tdc_report report;
    tdc_report_start(&report, &head);
    status = measure_all(settings, &scratch, &report, error);
    tdc_scratch_close(&scratch);
    if (status != TDC_OK) {
        tdc_report_drop(&report);
        return status;
    }
    tdc_report_note(&report, "run: bytes that follow each other in a part and in the tensor; MB: "
                             "memory at the peak, without maps.");
    tdc_report_note(&report, "ratio: speed beside that of the plain comparison, by processor time; "
                             "of shards beside the reading, by the clock.");
    return tdc_report_end(&report, error);
}

/* ---- options --------------------------------------------------------------------------------- */

static bool take_dtypes(struct settings *settings)
{
    bool taken = tdc_parse_pairs(optarg, settings->dtypes, &settings->dtype_count);
    for (size_t i = 0; taken && i < settings->dtype_count; i++) {
        const struct tdc_dtype_pair *pair = &settings->dtypes[i];
        taken = pair->npu == pair->bench && (pair->npu == TDC_F32 || pair->npu == TDC_BF16);
    }
    return taken;
}

static bool take_option(void *context, int option)
{
    struct settings *settings = context;
    if (option == 'd')
        return take_dtypes(settings) || tdc_wrong_value("--dtype", optarg, "f32, bf16 or both");
    if (option == 's')
        return (tdc_parse_size(optarg, &settings->size) && settings->size >= LEAST_SIZE) ||
               tdc_wrong_value("--size", optarg, "bytes from 1M on, as in 256M");
    return tdc_take_common_option(option, &settings->bench);
}

int tdc_bench_align(int argc, char **argv)
{
    struct settings settings = {.dtypes = {{TDC_F32, TDC_F32}, {TDC_BF16, TDC_BF16}},
                                .dtype_count = 2,
                                .size = (uint64_t)256 << 20};
    tdc_bench_options_init(&settings.bench);
    static const struct tdc_bench_subcommand subcommand = {
        "align", usage, "d:s:" TDC_BENCH_SHORT_OPTIONS, long_options, take_option, run};
    return tdc_bench_subcommand_run(&subcommand, argc, argv, &settings.bench, &settings);
}
