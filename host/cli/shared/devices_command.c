/* devices_command.c - `tdcmp devices`: what there is to compare on. */
#include <stdio.h>
#include <string.h>

#include "host/cli/shared/command.h"

static const char usage[] =
    "tdcmp devices - list what tensors can be compared on\n"
    "\n"
    "usage: tdcmp devices\n"
    "\n"
    "Lists the CPU kernels and every Ascend card, CUDA and OpenCL device, each after self-tests "
    "of\n"
    "its kernels; if there is none, says why: where a library was looked for, a missing driver, a\n"
    "stub library, a CANN that is too old.\n"
    "\n"
    "exit code: 0 there is a usable card, 1 there is none\n";

static void print_line(void *context, const char *text)
{
    (void)context;
    tdc_show(stdout, text);
    putchar('\n');
}

int tdc_command_devices(int argc, char **argv)
{
    if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        fputs(usage, stdout);
        return TDC_EXIT_SAME;
    }
    if (argc != 1) {
        tdc_complain("devices takes no arguments (tdcmp devices --help)");
        return TDC_EXIT_TROUBLE;
    }
    return tdc_devices(print_line, NULL) == TDC_OK ? TDC_EXIT_SAME : TDC_EXIT_DIFFERENT;
}
