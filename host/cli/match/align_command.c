/* align_command.c - `tdcmp align`: the presets the program carries. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "host/cli/shared/command.h"
#include "host/terminal/next_option.h"

static const char usage[] =
    "tdcmp align - the rule files that the program carries\n"
    "\n"
    "usage: tdcmp align --list\n"
    "       tdcmp align --show NAME\n"
    "\n"
    "Rules tell how records of many ranks, steps or files make one logical tensor; docs/align.md\n"
    "teaches them. `tdcmp compare TEST REF --align FILE` compares by them, `tdcmp match TEST REF\n"
    "--align FILE` shows what they make of two runs.\n"
    "\n"
    "      --list               names of the presets\n"
    "      --show NAME          the text of one, to read or to start from\n"
    "  -h, --help               this text\n"
    "\n"
    "exit code: 0, or 2 when there is no such preset\n"
    "\n"
    "example: tdcmp align --show llama > align.yaml\n";

enum {
    OPTION_LIST = 256,
    OPTION_SHOW
};

static const struct option long_options[] = {
    {"list", no_argument, NULL, OPTION_LIST},
    {"show", required_argument, NULL, OPTION_SHOW},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static int list(void)
{
    for (size_t i = 0; tdc_align_preset(i) != NULL; i++)
        puts(tdc_align_preset(i));
    return TDC_EXIT_SAME;
}

static int show(const char *name)
{
    const char *text = tdc_align_preset_text(name);
    if (text == NULL) {
        tdc_complain("there is no preset '%s' (tdcmp align --list)", tdc_shown(name));
        return TDC_EXIT_TROUBLE;
    }
    fputs(text, stdout);
    return TDC_EXIT_SAME;
}

int tdc_command_align(int argc, char **argv)
{
    static const struct tdc_words words = {"align", "h", long_options};
    const char *name = NULL;
    bool lists = false;
    optind = 1;
    for (int option; (option = tdc_next_option(&words, argc, argv)) != TDC_NO_MORE_OPTIONS;) {
        if (option == 'h') {
            fputs(usage, stdout);
            return TDC_EXIT_SAME;
        }
        if (option == OPTION_LIST)
            lists = true;
        else if (option == OPTION_SHOW)
            name = optarg;
        else
            return TDC_EXIT_TROUBLE;
    }
    if (optind != argc || lists == (name != NULL)) {
        tdc_complain("align takes --list or --show NAME (tdcmp align --help)");
        return TDC_EXIT_TROUBLE;
    }
    return lists ? list() : show(name);
}
