#include "host/cli/shared/run_options.h"

#include <getopt.h>
#include <string.h>

#include "host/terminal/colour.h"
#include "host/terminal/next_option.h"
#include "host/terminal/parse.h"
#include "io/storage/looking.h"

void tdc_run_settings_init(struct tdc_run_settings *settings)
{
    *settings = (struct tdc_run_settings){.request = {.output = "./output"}};
    tdc_options_init(&settings->request.options, sizeof settings->request.options, TDC_RULES_SOUND);
    tdc_align_options_init(&settings->align, sizeof settings->align);
    settings->request.answer_anyway = true;
}

/* ---- one option ------------------------------------------------------------------------------ */

/* What is shown on the terminal, and how much of it. */
static bool take_shown(struct tdc_run_settings *settings, int option)
{
    struct tdc_run_request *request = &settings->request;
    switch (option) {
    case TDC_RUN_TOP:
        return tdc_parse_number(optarg, 1, &request->top) ||
               tdc_wrong_value("--top", optarg, "a number of rows");
    case TDC_RUN_COLOR:
        return tdc_choose_colour(optarg) ||
               tdc_wrong_value("--color", optarg, "auto, always or never");
    case 'v':
        request->verbose = true;
        return true;
    case 'q':
        request->quiet = true;
        return true;
    case 'h':
        settings->help = true;
        return true;
    default:
        return false;
    }
}

/* How the work is done. */
static bool take_work(struct tdc_run_settings *settings, int option)
{
    struct tdc_run_request *request = &settings->request;
    switch (option) {
    case 't':
        return tdc_parse_number(optarg, 1, &request->options.threads) ||
               tdc_wrong_value("--threads", optarg, "a number of threads");
    case TDC_RUN_IO_TIMEOUT:
        return tdc_take_io_timeout(optarg);
    case TDC_RUN_IO:
        return tdc_parse_io(optarg, &request->options.io) ||
               tdc_wrong_value("--io", optarg, "auto, mmap, pread or direct");
    case TDC_RUN_DEVICE:
        request->options.device = optarg;
        return tdc_device_valid(optarg) ||
               tdc_wrong_value("--device", optarg,
                               "auto, cpu, gpu, ascend, cuda, opencl, cuda:0,1 or cuda:all");
    case TDC_RUN_NO_FALLBACK:
        request->options.flags |= TDC_OPTION_NO_FALLBACK;
        return true;
    default:
        return take_shown(settings, option);
    }
}

static bool take_limit(const char *option, double *limit, bool *used)
{
    *used = true;
    return (tdc_parse_real(optarg, limit) && *limit >= 0) ||
           tdc_wrong_value(option, optarg, "a number that is not negative");
}

/* Limits in place of those of the rules. */
static bool take_tolerance(struct tdc_run_settings *settings, int option)
{
    struct tdc_tolerance *tolerance = &settings->request.options.tolerance;
    switch (option) {
    case TDC_RUN_ATOL:
        return take_limit("--atol", &tolerance->atol, &tolerance->elements);
    case TDC_RUN_RTOL:
        return take_limit("--rtol", &tolerance->rtol, &tolerance->elements);
    case TDC_RUN_COS:
        tolerance->use_cosine = true;
        return (tdc_parse_real(optarg, &tolerance->cosine) && tolerance->cosine >= -1 &&
                tolerance->cosine <= 1) ||
               tdc_wrong_value("--cos", optarg, "a number from -1 to 1");
    default:
        return take_work(settings, option);
    }
}

static bool take_series(struct tdc_run_settings *settings)
{
    size_t most = sizeof settings->series / sizeof *settings->series;
    if (settings->align.series_count == most)
        return tdc_wrong_value("--series", optarg, "one of up to 16 axes");
    settings->series[settings->align.series_count++] = optarg;
    return true;
}

bool tdc_take_run_option(struct tdc_run_settings *settings, int option)
{
    struct tdc_run_request *request = &settings->request;
    switch (option) {
    case 'o':
        settings->output = optarg;
        return true;
    case TDC_RUN_JSON:
        settings->json = true;
        return true;
    case TDC_RUN_ONLY:
        return tdc_parse_levels(optarg, &request->only) ||
               tdc_wrong_value("--only", optarg,
                               "different, close, rounding, identical, unmatched, error, no-data, "
                               "not-judged or several with commas");
    case TDC_RUN_ALLOW_UNMATCHED:
        request->allow_unmatched = true;
        return true;
    case TDC_RUN_ALIGN:
        settings->align.rules = optarg;
        return true;
    case TDC_RUN_SERIES:
        return take_series(settings);
    case TDC_RUN_TOLERANCE:
        request->options.tolerance_file = optarg;
        return true;
    case TDC_RUN_TRUTH:
        request->truth = optarg;
        return true;
    case TDC_RUN_NOISE:
        request->noise = optarg;
        return true;
    default:
        return take_tolerance(settings, option);
    }
}

/* ---- all of them ----------------------------------------------------------------------------- */

static bool settle_align(struct tdc_run_settings *settings)
{
    struct tdc_run_request *request = &settings->request;
    if (settings->align.rules == NULL && settings->align.series_count != 0) {
        tdc_complain("--series needs --align");
        return false;
    }
    settings->align.series = settings->series;
    settings->align.truth = request->truth != NULL ? request->truth : request->noise;
    if (settings->align.rules != NULL)
        request->align = &settings->align;
    return true;
}

static bool one_format(unsigned formats)
{
    return (formats & (formats - 1)) == 0;
}

static bool settle_stream(struct tdc_run_settings *settings)
{
    struct tdc_run_request *request = &settings->request;
    unsigned formats = request->formats; /* 0: not said */
    if (settings->json || !one_format(formats) || formats == TDC_FORMATS_PAGE) {
        tdc_complain("-o - takes one format (--format %s)",
                     settings->json ? "or --json, not both" : "csv, say");
        return false;
    }
    request->stream = formats != 0 ? (tdc_format)formats : TDC_FORMAT_CSV;
    request->formats = 0;
    return true;
}

bool tdc_settle_run(struct tdc_run_settings *settings)
{
    struct tdc_run_request *request = &settings->request;
    const char *output = settings->output;
    unsigned formats = request->formats;
    if (!settle_align(settings))
        return false;
    if (request->allow_unmatched)
        request->options.flags |= TDC_OPTION_ALLOW_UNMATCHED;
    if (settings->json)
        request->stream = TDC_FORMAT_JSON;
    if (settings->vis && output != NULL &&
        (strcmp(output, "-") == 0 || tdc_format_of_file(output) != 0)) {
        tdc_complain("--format vis writes to a folder, and -o %s is none", output);
        return false;
    }
    if (output != NULL && strcmp(output, "-") == 0)
        return settle_stream(settings);
    unsigned ending = output != NULL ? tdc_format_of_file(output) : 0;
    if (ending != 0 && !tdc_is_folder(output)) {
        if (formats != 0 && formats != ending) {
            tdc_complain("-o %s is one file of its format; --format asks for another", output);
            return false;
        }
        request->file = output;
        request->formats = ending;
        return true;
    }
    request->output = output != NULL ? output : "./output";
    if (formats == 0 && !settings->vis && (output != NULL || !settings->json))
        request->formats = TDC_FORMAT_XLSX;
    return true;
}
