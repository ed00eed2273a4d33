/* inspect_command.c - `tdcmp inspect DUMP`: is it sane before a night is spent on it. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/cli/analysis/json_report.h"
#include "host/cli/shared/command.h"
#include "host/terminal/next_option.h"
#include "host/terminal/parse.h"
#include "host/terminal/progress.h"

static const char usage[] =
    "tdcmp inspect - is a dump sane before time is spent on it\n"
    "\n"
    "usage: tdcmp inspect [OPTIONS] DUMP\n"
    "\n"
    "DUMP is a dump.json or debug.json, a rank or process folder, a step folder (all its ranks) "
    "or\n"
    "a dump root. Every tensor file is read once: missing and broken files, files of another "
    "dtype,\n"
    "shape or content than the json says, calls without outputs, NaN, Inf, constant and zero\n"
    "tensors, and where the bytes are.\n"
    "\n"
    "      --json               all findings as json on stdout\n"
    "      --top N              findings of a kind and modules shown (default 5)\n"
    "  -t, --threads N          number of threads (default: all processors)\n"
    "  -q, --quiet              no progress\n"
    "  -h, --help               this text\n"
    "\n"
    "exit code: 0 sane (NaN, zeros and the like are told, and no reason), 1 something of it is\n"
    "missing, broken or contradicts itself, 2 it could not be inspected\n"
    "\n"
    "example: tdcmp inspect test/step0\n";

enum {
    OPTION_JSON = 256,
    OPTION_TOP
};

static const struct option long_options[] = {
    {"json", no_argument, NULL, OPTION_JSON},  {"top", required_argument, NULL, OPTION_TOP},
    {"threads", required_argument, NULL, 't'}, {"quiet", no_argument, NULL, 'q'},
    {"help", no_argument, NULL, 'h'},          {NULL, 0, NULL, 0},
};

struct settings {
    struct tdc_options options;
    int top;
    bool json, quiet, help;
};

static bool take_option(struct settings *settings, int option)
{
    switch (option) {
    case OPTION_JSON:
        settings->json = true;
        return true;
    case OPTION_TOP:
        if (tdc_parse_number(optarg, 0, &settings->top))
            return true;
        return tdc_wrong_value("--top", optarg, "a number");
    case 't':
        if (tdc_parse_number(optarg, 1, &settings->options.threads))
            return true;
        return tdc_wrong_value("--threads", optarg, "a number of threads");
    case 'q':
        settings->quiet = true;
        return true;
    case 'h':
        settings->help = true;
        return true;
    default:
        return false;
    }
}

/* ---- text ------------------------------------------------------------------------------------ */

static void print_bytes(uint64_t bytes)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
    double amount = (double)bytes;
    size_t unit = 0;
    while (amount >= 1000 && unit < sizeof units / sizeof *units - 1) {
        amount /= 1000;
        unit++;
    }
    printf(unit == 0 ? "%.0f %s" : "%.3g %s", amount, units[unit]);
}

static const char *or_unknown(const char *text)
{
    return text != NULL ? tdc_shown(text) : "not said";
}

static void print_head(const char *path, const tdc_inspection *inspection,
                       const struct tdc_inspection_counts *counts)
{
    printf("%s\n  task %s, level %s, framework %s\n", tdc_shown(path),
           or_unknown(tdc_inspection_task(inspection)),
           or_unknown(tdc_inspection_level(inspection)),
           or_unknown(tdc_inspection_framework(inspection)));
    printf("  %llu calls (%llu forward, %llu backward), %llu records, %llu tensors, %llu files, ",
           (unsigned long long)counts->calls, (unsigned long long)counts->forward,
           (unsigned long long)counts->backward, (unsigned long long)counts->records,
           (unsigned long long)counts->tensors, (unsigned long long)counts->files);
    print_bytes(counts->bytes);
    printf("\n");
}

static void print_kind(const tdc_inspection *inspection, tdc_finding_kind kind, uint64_t count,
                       int top)
{
    printf("  %s%s (%llu)\n", tdc_finding_breaks(kind) ? "WRONG: " : "", tdc_finding_title(kind),
           (unsigned long long)count);
    int shown = 0;
    for (size_t i = 0; i < tdc_inspection_findings(inspection) && shown < top; i++) {
        const struct tdc_finding *finding = tdc_inspection_finding(inspection, i);
        if (finding->kind != kind)
            continue;
        printf("    %s: %s\n", tdc_shown(finding->name), tdc_shown(finding->text));
        shown++;
    }
    if (count > (uint64_t)shown)
        printf("    and %llu more\n", (unsigned long long)count - (unsigned long long)shown);
}

static void print_modules(const tdc_inspection *inspection, uint64_t bytes, int top)
{
    size_t count = tdc_inspection_modules(inspection);
    if (count == 0 || bytes == 0 || top == 0)
        return;
    printf("  where the bytes are\n");
    for (size_t i = 0; i < count && i < (size_t)top; i++) {
        const struct tdc_module_size *module = tdc_inspection_module(inspection, i);
        printf("    %4.1f %%  ", 100.0 * (double)module->bytes / (double)bytes);
        print_bytes(module->bytes);
        printf("  %s (%llu tensors)\n", tdc_shown(module->name),
               (unsigned long long)module->tensors);
    }
}

static void print_text(const char *path, const tdc_inspection *inspection, int top)
{
    struct tdc_inspection_counts counts;
    tdc_inspection_counts(inspection, &counts, sizeof counts);
    print_head(path, inspection, &counts);
    for (int kind = TDC_FINDING_NONE + 1; kind < TDC_FINDING_KINDS; kind++)
        if (tdc_inspection_count(inspection, (tdc_finding_kind)kind) != 0)
            print_kind(inspection, (tdc_finding_kind)kind,
                       tdc_inspection_count(inspection, (tdc_finding_kind)kind), top);
    if (tdc_inspection_findings(inspection) == 0)
        printf("  nothing to remark\n");
    print_modules(inspection, counts.bytes, top);
}

/* ---- json ------------------------------------------------------------------------------------ */

static void add_counts(struct tdc_json_report *json, const tdc_inspection *inspection,
                       const struct tdc_inspection_counts *counts)
{
    tdc_json_report_number(json, "calls", counts->calls);
    tdc_json_report_number(json, "forward", counts->forward);
    tdc_json_report_number(json, "backward", counts->backward);
    tdc_json_report_number(json, "records", counts->records);
    tdc_json_report_number(json, "tensors", counts->tensors);
    tdc_json_report_number(json, "files", counts->files);
    tdc_json_report_number(json, "bytes", counts->bytes);
    tdc_json_report_open(json, "counts", '{');
    for (int kind = TDC_FINDING_NONE + 1; kind < TDC_FINDING_KINDS; kind++)
        tdc_json_report_number(json, tdc_finding_code((tdc_finding_kind)kind),
                               tdc_inspection_count(inspection, (tdc_finding_kind)kind));
    tdc_json_report_close(json, '}');
}

static void add_findings(struct tdc_json_report *json, const tdc_inspection *inspection)
{
    tdc_json_report_open(json, "findings", '[');
    for (size_t i = 0; i < tdc_inspection_findings(inspection); i++) {
        const struct tdc_finding *finding = tdc_inspection_finding(inspection, i);
        tdc_json_report_open(json, NULL, '{');
        tdc_json_report_text(json, "kind", tdc_finding_code(finding->kind));
        tdc_json_report_bool(json, "wrong", tdc_finding_breaks(finding->kind));
        tdc_json_report_text(json, "name", finding->name);
        tdc_json_report_text(json, "text", finding->text);
        tdc_json_report_close(json, '}');
    }
    tdc_json_report_close(json, ']');
}

static void add_modules(struct tdc_json_report *json, const tdc_inspection *inspection)
{
    tdc_json_report_open(json, "modules", '[');
    for (size_t i = 0; i < tdc_inspection_modules(inspection); i++) {
        const struct tdc_module_size *module = tdc_inspection_module(inspection, i);
        tdc_json_report_open(json, NULL, '{');
        tdc_json_report_text(json, "name", module->name);
        tdc_json_report_number(json, "tensors", module->tensors);
        tdc_json_report_number(json, "bytes", module->bytes);
        tdc_json_report_close(json, '}');
    }
    tdc_json_report_close(json, ']');
}

static void add_dump(struct tdc_json_report *json, const char *path,
                     const tdc_inspection *inspection)
{
    struct tdc_inspection_counts counts;
    tdc_inspection_counts(inspection, &counts, sizeof counts);
    tdc_json_report_open(json, NULL, '{');
    tdc_json_report_text(json, "path", path);
    tdc_json_report_text(json, "task", tdc_inspection_task(inspection));
    tdc_json_report_text(json, "level", tdc_inspection_level(inspection));
    tdc_json_report_text(json, "framework", tdc_inspection_framework(inspection));
    add_counts(json, inspection, &counts);
    add_findings(json, inspection);
    add_modules(json, inspection);
    tdc_json_report_close(json, '}');
}

/* ---- the command ----------------------------------------------------------------------------- */

static void advance(void *context, uint64_t rows, uint64_t bytes)
{
    tdc_progress_add(context, rows, bytes);
}

static bool broken(const tdc_inspection *inspection)
{
    for (int kind = 0; kind < TDC_FINDING_KINDS; kind++)
        if (tdc_finding_breaks((tdc_finding_kind)kind) &&
            tdc_inspection_count(inspection, (tdc_finding_kind)kind) != 0)
            return true;
    return false;
}

static tdc_status read_one(struct settings *settings, const char *path, tdc_inspection **inspection,
                           struct tdc_error *error)
{
    tdc_status status = tdc_inspection_new(path, inspection, error);
    if (status != TDC_OK)
        return status;
    uint64_t files, bytes;
    tdc_inspection_work(*inspection, &files, &bytes);
    struct tdc_progress *progress = tdc_progress_start("inspect", files, bytes, settings->quiet);
    settings->options.context = progress;
    settings->options.progress = advance;
    status = tdc_inspection_run(*inspection, &settings->options, error);
    tdc_progress_stop(progress);
    return status;
}

static int inspect(struct settings *settings, const tdc_dump_files *dumps,
                   struct tdc_json_report *json)
{
    int code = tdc_dump_files_empty(dumps) != 0 ? TDC_EXIT_DIFFERENT : TDC_EXIT_SAME;
    for (size_t i = 0; i < tdc_dump_files_count(dumps); i++) {
        const char *path = tdc_dump_files_get(dumps, i)->path;
        struct tdc_error error = {0};
        tdc_inspection *inspection = NULL;
        tdc_status status = read_one(settings, path, &inspection, &error);
        int one = TDC_EXIT_TROUBLE;
        if (status != TDC_OK) {
            tdc_complain("%s", error.message);
        } else {
            if (settings->json)
                add_dump(json, path, inspection);
            else
                print_text(path, inspection, settings->top);
            one = broken(inspection) ? TDC_EXIT_DIFFERENT : TDC_EXIT_SAME;
        }
        tdc_inspection_free(inspection);
        code = one > code ? one : code;
    }
    return code;
}

int tdc_command_inspect(int argc, char **argv)
{
    struct settings settings = {.top = 5};
    struct tdc_error error = {0};
    tdc_dump_files *dumps;
    tdc_options_init(&settings.options, sizeof settings.options, TDC_RULES_SOUND);
    settings.options.message = tdc_print_message;
    optind = 1;
    static const struct tdc_words words = {"inspect", "t:qh", long_options};
    for (int option; (option = tdc_next_option(&words, argc, argv)) != TDC_NO_MORE_OPTIONS;)
        if (!take_option(&settings, option))
            return TDC_EXIT_TROUBLE;
    if (settings.help) {
        fputs(usage, stdout);
        return TDC_EXIT_SAME;
    }
    if (argc - optind != 1) {
        tdc_complain("inspect takes one dump; %d given (tdcmp inspect --help)", argc - optind);
        return TDC_EXIT_TROUBLE;
    }
    if (tdc_dump_files_find(argv[optind], &settings.options, &dumps, &error) != TDC_OK) {
        tdc_complain("%s", error.message);
        return TDC_EXIT_TROUBLE;
    }
    struct tdc_json_report json;
    if (settings.json) {
        tdc_json_report_start(&json, "tdcmp.inspect/1");
        tdc_json_report_open(&json, "dumps", '[');
    }
    int code = inspect(&settings, dumps, &json);
    if (settings.json) {
        tdc_json_report_close(&json, ']');
        if (!tdc_json_report_print(&json)) {
            tdc_complain("out of memory");
            code = TDC_EXIT_TROUBLE;
        }
    }
    tdc_dump_files_free(dumps);
    return code;
}
