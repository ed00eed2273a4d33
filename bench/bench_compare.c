/* bench_compare.c - `tdcmp bench compare`: the cases, one synthetic dump after the other. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <omp.h>

#include "bench/bench_command.h"
#include "bench/compare_case.h"
#include "bench/report.h"
#include "bench/scratch.h"
#include "bench/synthetic.h"
#include "host/cli/command.h"
#include "host/cli/parse.h"

static const char usage[] =
    "tdcmp bench compare - how fast comparisons are, beside a bare read of the same bytes\n"
    "\n"
    "usage: tdcmp bench compare [OPTIONS]\n"
    "\n"
    "Makes synthetic dumps in a temporary folder, compares them as `tdcmp compare` does and\n"
    "removes them. The files are in the page cache (warm) when they are read.\n"
    "\n"
    "  -c, --case LIST     large, small, statistics or several (default: all)\n"
    "  -d, --dtype LIST    of large: f32, f16, bf16, f64, i32, i64 (default f32,bf16,f16)\n"
    "  -s, --size BYTES    of large: tensor data of one side; K, M, G allowed (default 512M)\n"
    "  -n, --tensors N     of large: tensors that share it (default 8)\n"
    "  -t, --threads N     number of threads (default: all processors)\n"
    "  -r, --repeat N      runs of which the fastest counts (default 5; slow cases do fewer)\n"
    "      --rules NAME    sound (default) or compat: judge as msprobe does\n"
    "      --dir DIR       where to put the temporary folder (default $TMPDIR or /tmp)\n"
    "  -h, --help          this text\n"
    "\n"
    "large: few large tensors. small: 6,000 tensors of 1,024 f32. statistics: a dump of 60,000\n"
    "tensors without their data, once with csv and once with xlsx.\n"
    "\n"
    "example: tdcmp bench compare --case large --dtype f32,bf16 --size 256M --threads 2\n";

enum {
    OPTION_RULES = 256,
    OPTION_DIR
};

static const struct option long_options[] = {
    {"case", required_argument, NULL, 'c'},
    {"dtype", required_argument, NULL, 'd'},
    {"size", required_argument, NULL, 's'},
    {"tensors", required_argument, NULL, 'n'},
    {"threads", required_argument, NULL, 't'},
    {"repeat", required_argument, NULL, 'r'},
    {"rules", required_argument, NULL, OPTION_RULES},
    {"dir", required_argument, NULL, OPTION_DIR},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

enum {
    CASE_LARGE = 1,
    CASE_SMALL = 2,
    CASE_STATISTICS = 4
};

#define MOST_DTYPES 16
/* A case whose rounds take longer than this in all stops repeating. */
#define BUDGET_SECONDS 6.0

struct settings {
    unsigned cases;
    tdc_dtype dtypes[MOST_DTYPES];
    size_t dtype_count;
    uint64_t size, tensors;
    int repeat;
    const char *folder;
    struct tdc_options options;
    bool help;
};

static bool take_cases(struct settings *settings, const char *list)
{
    static const char *const names[] = {"large", "small", "statistics"};
    settings->cases = 0;
    while (*list != '\0') {
        size_t length = strcspn(list, ","), i = 0;
        while (i < 3 && (strlen(names[i]) != length || strncmp(names[i], list, length) != 0))
            i++;
        if (i == 3)
            break;
        settings->cases |= 1U << i;
        list += length + (list[length] == ',');
    }
    return (*list == '\0' && settings->cases != 0) ||
           tdc_wrong_value("--case", list, "large, small, statistics or several with commas");
}

static bool take_dtypes(struct settings *settings, const char *list)
{
    settings->dtype_count = 0;
    while (*list != '\0' && settings->dtype_count < MOST_DTYPES) {
        size_t length = strcspn(list, ",");
        if (!tdc_parse_dtype(list, length, &settings->dtypes[settings->dtype_count]))
            break;
        settings->dtype_count++;
        list += length + (list[length] == ',');
    }
    return (*list == '\0' && settings->dtype_count != 0) ||
           tdc_wrong_value("--dtype", list, "f32, f16, bf16, f64, i32, i64 with commas");
}

static bool take_option(struct settings *settings, int option)
{
    switch (option) {
    case 'c':
        return take_cases(settings, optarg);
    case 'd':
        return take_dtypes(settings, optarg);
    case 's':
        return tdc_parse_size(optarg, &settings->size) ||
               tdc_wrong_value("--size", optarg, "bytes, as in 256M");
    case 'n':
        return tdc_parse_size(optarg, &settings->tensors) ||
               tdc_wrong_value("--tensors", optarg, "a number of tensors");
    case 't':
        return tdc_parse_number(optarg, 1, &settings->options.threads) ||
               tdc_wrong_value("--threads", optarg, "a number of threads");
    case 'r':
        return tdc_parse_number(optarg, 1, &settings->repeat) ||
               tdc_wrong_value("--repeat", optarg, "a number of runs");
    case OPTION_RULES:
        return tdc_parse_rules(optarg, &settings->options.rules) ||
               tdc_wrong_value("--rules", optarg, "sound or compat");
    case OPTION_DIR:
        settings->folder = optarg;
        return true;
    case 'h':
        settings->help = true;
        return true;
    default:
        fputs("try: tdcmp bench compare --help\n", stderr);
        return false;
    }
}

/* ---- one case -------------------------------------------------------------------------------- */

struct place {
    const struct settings *settings;
    struct tdc_scratch scratch;
    char npu[4200], bench[4200], result[4200];
};

/* A pair of dumps and the tensor files they consist of. */
struct material {
    struct tdc_task_list tasks;
    struct tdc_bare_files files;
};

static tdc_status make_material(const struct place *place, struct tdc_synthetic *synthetic,
                                struct material *material, struct tdc_error *error)
{
    const struct tdc_options *options = &place->settings->options;
    synthetic->threads = options->threads;
    synthetic->cancel = options->cancel;
    synthetic->stacks = false;
    *material = (struct material){0};
    tdc_status status = tdc_synthetic_make(synthetic, place->scratch.path, NULL, error);
    if (status == TDC_OK)
        status = tdc_tasks_find(place->npu, place->bench, -1, options, &material->tasks, error);
    if (status == TDC_OK)
        status = tdc_bare_files_add(&material->files, place->npu, error);
    if (status == TDC_OK)
        status = tdc_bare_files_add(&material->files, place->bench, error);
    return status;
}

static void drop_material(const struct place *place, struct material *material)
{
    tdc_tasks_free(&material->tasks);
    tdc_bare_files_free(&material->files);
    tdc_scratch_remove(&place->scratch, "npu");
    tdc_scratch_remove(&place->scratch, "bench");
}

static tdc_status run_format(const struct place *place, const char *name,
                             const struct material *material, tdc_format format,
                             struct tdc_error *error)
{
    struct tdc_compare_setup setup = {
        .options = place->settings->options,
        .tasks = material->tasks.tasks,
        .task_count = material->tasks.count,
        .result = place->result,
        .format = format,
        .repeat = (unsigned)place->settings->repeat,
        .budget = BUDGET_SECONDS,
    };
    struct tdc_compare_figures figures;
    tdc_status status = tdc_compare_measure(&setup, &material->files, &figures, error);
    if (status == TDC_OK)
        tdc_report_compare(name, &figures, format == TDC_FORMAT_XLSX ? "xlsx" : "csv");
    return status;
}

/* formats: of tdc_format, one row of the report each. */
static tdc_status run_case(const struct place *place, const char *name,
                           struct tdc_synthetic *synthetic, unsigned formats,
                           struct tdc_error *error)
{
    struct material material;
    tdc_status status = make_material(place, synthetic, &material, error);
    if (status == TDC_OK && (formats & TDC_FORMAT_CSV) != 0)
        status = run_format(place, name, &material, TDC_FORMAT_CSV, error);
    if (status == TDC_OK && (formats & TDC_FORMAT_XLSX) != 0)
        status = run_format(place, name, &material, TDC_FORMAT_XLSX, error);
    drop_material(place, &material);
    return status;
}

static tdc_status run_large(const struct place *place, tdc_dtype dtype, struct tdc_error *error)
{
    const struct settings *settings = place->settings;
    struct tdc_synthetic synthetic;
    tdc_synthetic_init(&synthetic);
    synthetic.dtype = dtype;
    synthetic.tensors = settings->tensors;
    synthetic.elements = settings->size / settings->tensors / tdc_dtype_size(dtype);
    char name[96];
    snprintf(name, sizeof name, "%s, %llu x %.4g MiB a side", tdc_short_dtype(dtype),
             (unsigned long long)settings->tensors,
             (double)(synthetic.elements * tdc_dtype_size(dtype)) / (1024 * 1024));
    return run_case(place, name, &synthetic, TDC_FORMAT_CSV, error);
}

static tdc_status run_small(const struct place *place, struct tdc_error *error)
{
    struct tdc_synthetic synthetic;
    tdc_synthetic_init(&synthetic);
    synthetic.tensors = 6000;
    synthetic.elements = 1024;
    return run_case(place, "f32, 6000 x 4 KiB a side", &synthetic, TDC_FORMAT_CSV, error);
}

static tdc_status run_statistics(const struct place *place, struct tdc_error *error)
{
    struct tdc_synthetic synthetic;
    tdc_synthetic_init(&synthetic);
    synthetic.task = TDC_MODE_STATISTICS;
    synthetic.tensors = 60000;
    synthetic.elements = 1024;
    return run_case(place, "statistics, 60000 tensors", &synthetic,
                    TDC_FORMAT_CSV | TDC_FORMAT_XLSX, error);
}

static tdc_status run_cases(const struct place *place, struct tdc_error *error)
{
    const struct settings *settings = place->settings;
    tdc_status status = TDC_OK;
    if ((settings->cases & CASE_LARGE) != 0)
        for (size_t i = 0; i < settings->dtype_count && status == TDC_OK; i++)
            status = run_large(place, settings->dtypes[i], error);
    if ((settings->cases & CASE_SMALL) != 0 && status == TDC_OK)
        status = run_small(place, error);
    if ((settings->cases & CASE_STATISTICS) != 0 && status == TDC_OK)
        status = run_statistics(place, error);
    return status;
}

/* ---- all ------------------------------------------------------------------------------------- */

static tdc_status run_all(const struct settings *settings, struct tdc_error *error)
{
    struct place place = {.settings = settings};
    tdc_status status = tdc_scratch_open(settings->folder, &place.scratch, error);
    if (status != TDC_OK)
        return status;
    snprintf(place.npu, sizeof place.npu, "%s/npu", place.scratch.path);
    snprintf(place.bench, sizeof place.bench, "%s/bench", place.scratch.path);
    snprintf(place.result, sizeof place.result, "%s/result", place.scratch.path);
    struct tdc_report_head head = {
        .title = "bench compare",
        .threads = settings->options.threads,
        .rules = settings->options.rules,
        .repeat = (unsigned)settings->repeat,
        .folder = place.scratch.path,
        .file_state = "warm",
    };
    tdc_report_start(&head);
    status = run_cases(&place, error);
    if (status == TDC_OK)
        tdc_report_end();
    tdc_scratch_close(&place.scratch);
    return status;
}

int tdc_bench_compare(int argc, char **argv)
{
    struct settings settings = {
        .cases = CASE_LARGE | CASE_SMALL | CASE_STATISTICS,
        .dtypes = {TDC_F32, TDC_BF16, TDC_F16},
        .dtype_count = 3,
        .size = (uint64_t)512 << 20,
        .tensors = 8,
        .repeat = 5,
    };
    tdc_options_init(&settings.options, TDC_RULES_SOUND);
    optind = 1;
    int option;
    while ((option = getopt_long(argc, argv, "c:d:s:n:t:r:h", long_options, NULL)) != -1)
        if (!take_option(&settings, option))
            return TDC_EXIT_TROUBLE;
    if (settings.help) {
        fputs(usage, stdout);
        return TDC_EXIT_SAME;
    }
    if (optind != argc) {
        tdc_complain("bench compare takes no '%s' (tdcmp bench compare --help)", argv[optind]);
        return TDC_EXIT_TROUBLE;
    }
    settings.options.highlight = true;
    if (settings.options.threads == 0)
        settings.options.threads = omp_get_num_procs();
    settings.options.cancel = tdc_interrupt_watch();
    struct tdc_error error = {0};
    tdc_status status = run_all(&settings, &error);
    tdc_interrupt_obey();
    if (status != TDC_OK)
        tdc_complain("%s", error.message);
    return status == TDC_OK ? TDC_EXIT_SAME : TDC_EXIT_TROUBLE;
}
