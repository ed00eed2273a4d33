/* run_options.h - the options that `tdcmp compare` and `tdcmp diff` share: one list. */
#ifndef TDC_CLI_RUN_OPTIONS_H
#define TDC_CLI_RUN_OPTIONS_H

#include "host/cli/shared/command.h"
#include "host/terminal/match_options.h"

struct tdc_run_settings {
    struct tdc_run_request request;
    const char *output; /* -o as it was given; NULL: not */
    bool json;          /* on the standard output */
    bool vis;           /* the graph database, too: whoever takes --format says so */
    bool help;
    struct tdc_align_options align;
    const char *series[16]; /* of align */
};

enum {
    TDC_RUN_JSON = TDC_WORD_FIRST_FREE,
    TDC_RUN_ONLY,
    TDC_RUN_ATOL,
    TDC_RUN_RTOL,
    TDC_RUN_COS,
    TDC_RUN_TOP,
    TDC_RUN_COLOR,
    TDC_RUN_ALLOW_UNMATCHED,
    TDC_RUN_ALIGN,
    TDC_RUN_SERIES,
    TDC_RUN_TOLERANCE,
    TDC_RUN_TRUTH,
    TDC_RUN_NOISE,
    TDC_RUN_IO,
    TDC_RUN_IO_TIMEOUT,
    TDC_RUN_DEVICE,
    TDC_RUN_NO_FALLBACK,
    TDC_RUN_FIRST_FREE
};

#define TDC_RUN_SHORT_OPTIONS "o:F:t:vqh"

/* clang-format off */
#define TDC_RUN_LONG_OPTIONS                                                  \
    {"output", required_argument, NULL, 'o'},                                 \
    {"format", required_argument, NULL, 'F'},                                 \
    {"json", no_argument, NULL, TDC_RUN_JSON},                                \
    {"only", required_argument, NULL, TDC_RUN_ONLY},                          \
    {"atol", required_argument, NULL, TDC_RUN_ATOL},                          \
    {"rtol", required_argument, NULL, TDC_RUN_RTOL},                          \
    {"cos", required_argument, NULL, TDC_RUN_COS},                            \
    {"top", required_argument, NULL, TDC_RUN_TOP},                            \
    {"verbose", no_argument, NULL, 'v'},                                      \
    {"quiet", no_argument, NULL, 'q'},                                        \
    {"color", required_argument, NULL, TDC_RUN_COLOR},                        \
    {"help", no_argument, NULL, 'h'},                                         \
    {"allow-unmatched", no_argument, NULL, TDC_RUN_ALLOW_UNMATCHED},          \
    {"align", required_argument, NULL, TDC_RUN_ALIGN},                        \
    {"series", required_argument, NULL, TDC_RUN_SERIES},                      \
    {"tolerance", required_argument, NULL, TDC_RUN_TOLERANCE},                \
    {"truth", required_argument, NULL, TDC_RUN_TRUTH},                        \
    {"noise", required_argument, NULL, TDC_RUN_NOISE},                        \
    {"threads", required_argument, NULL, 't'},                                \
    {"io", required_argument, NULL, TDC_RUN_IO},                              \
    {"io-timeout", required_argument, NULL, TDC_RUN_IO_TIMEOUT},              \
    {"device", required_argument, NULL, TDC_RUN_DEVICE},                      \
    {"no-fallback", no_argument, NULL, TDC_RUN_NO_FALLBACK},

#define TDC_RUN_PLACE_HELP                                                                         \
    "  -o, --output PLACE       folder for the results (default ./output); one file of a format\n" \
    "                           by its ending (result.csv); - for the standard output (csv)\n"

#define TDC_RUN_ROWS_HELP                                                                          \
    "      --json               the result as json on the standard output, and no page\n"          \
    "      --only LEVELS        write these rows only: different, or several: different,unmatched\n" \
    "      --atol A             an element is within when |test - ref| <= A + R * |ref|; a row "   \
    "with\n"                                                                                       \
    "      --rtol R             one beyond is different, and no other (what is not given is 0)\n"  \
    "      --cos C              and a row whose cosine is below C\n"

#define TDC_RUN_SHOWN_HELP                                                                         \
    "  -v, --verbose            speed and kernels too\n"                                           \
    "  -q, --quiet              no progress, no page: the paths of the results and nothing else\n" \
    "      --color WHEN         auto (default: on a terminal, unless NO_COLOR is set), always, "   \
    "never\n"

#define TDC_RUN_RULES_HELP                                                                         \
    "      --align FILE         compare logical tensors by rules: runs that are laid out "         \
    "differently\n"                                                                                \
    "                           (yaml, or a preset: tdcmp align --list)\n"                         \
    "      --series AXIS        with --align: errors along this axis too, token by token...\n"     \
    "      --tolerance FILE     yaml rules that judge rows in place of the usual limits\n"         \
    "      --truth DUMP         a third, more exact run: which side is nearer to it\n"             \
    "      --noise DUMP         the reference once more: differences up to its own are none\n"     \
    "      --allow-unmatched    rows and ranks without a partner do not make the exit code 1\n"

#define TDC_RUN_WORK_HELP                                                                          \
    "  -t, --threads N          number of threads (default: all processors)\n"                     \
    "      --io HOW             how tensor files are read: auto (default: mapped when in the page\n" \
    "                           cache, past it when not), mmap, pread (network file systems), "    \
    "direct\n"                                                                                     \
    "      --io-timeout SECONDS how long a network file system is waited for (default 300, 0: for\n" \
    "                           ever); what it does not answer is a row's error\n"                 \
    "      --device NAME        auto (default: a card if there is one and it is faster), cpu,\n"   \
    "                           gpu, ascend, cuda, opencl, cuda:0,1 or cuda:all (tdcmp devices\n"  \
    "                           lists them)\n"                                                     \
    "      --no-fallback        what the device fails to do is an error, not work for the CPU\n"
/* clang-format on */

/* What holds where no option says otherwise: the rules sound. */
void tdc_run_settings_init(struct tdc_run_settings *settings);

/* Takes one of these options; --format is the caller's. False: complained about. */
bool tdc_take_run_option(struct tdc_run_settings *settings, int option);

/* Once all are taken: where the results go and in which format, -o being a folder, a file or "-";
 * which third run rules for logical tensors know. False: complained about. */
bool tdc_settle_run(struct tdc_run_settings *settings);

#endif
