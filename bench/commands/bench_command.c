/* bench_command.c - `tdcmp bench`: which subcommand. */
#include "bench/commands/bench_command.h"

#include <string.h>

#include "host/terminal/message.h"

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
} subcommands[] = {
    {"matrix", tdc_bench_plain},        {"compare", tdc_bench_compare},
    {"kernels", tdc_bench_kernels},     {"io", tdc_bench_io},
    {"match", tdc_bench_match},         {"make", tdc_bench_make},
    {"network", tdc_bench_network},     {"device", tdc_bench_device},
    {"reference", tdc_bench_reference}, {"trace", tdc_bench_trace},
    {"align", tdc_bench_align},         {"cluster", tdc_bench_cluster},
};

int tdc_command_bench(int argc, char **argv)
{
    if (argc < 2) {
        tdc_bench_print_help();
        return TDC_EXIT_SAME;
    }
    for (size_t i = 0; argc > 1 && i < sizeof subcommands / sizeof *subcommands; i++)
        if (strcmp(argv[1], subcommands[i].name) == 0)
            return subcommands[i].run(argc - 1, argv + 1);
    return tdc_bench_plain(argc, argv);
}
