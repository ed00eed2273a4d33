/* bench_command.c - `tdcmp bench`: which subcommand, and the option values they share. */
#include "bench/bench_command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/cli/command.h"

static const char usage[] =
    "tdcmp bench - how fast tdcmp is on this machine\n"
    "\n"
    "usage: tdcmp bench SUBCOMMAND ...\n"
    "\n"
    "  compare     comparisons of synthetic dumps beside a bare read of the same bytes\n"
    "  device      the hops of a comparison on an Ascend card, and its self-tests\n"
    "  make DIR    write a pair of synthetic dumps to DIR/npu and DIR/bench\n"
    "\n"
    "SUBCOMMAND --help lists its options.\n"
    "\n"
    "example: tdcmp bench compare --dtype f32,bf16 --size 256M\n";

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
} subcommands[] = {
    {"compare", tdc_bench_compare},
    {"make", tdc_bench_make},
    {"device", tdc_bench_device},
};

int tdc_command_bench(int argc, char **argv)
{
    if (argc < 2 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        fputs(usage, argc < 2 ? stderr : stdout);
        return argc < 2 ? TDC_EXIT_TROUBLE : TDC_EXIT_SAME;
    }
    for (size_t i = 0; i < sizeof subcommands / sizeof *subcommands; i++)
        if (strcmp(argv[1], subcommands[i].name) == 0)
            return subcommands[i].run(argc - 1, argv + 1);
    tdc_complain("bench has no subcommand '%s' (tdcmp bench --help lists them)", argv[1]);
    return TDC_EXIT_TROUBLE;
}

bool tdc_parse_size(const char *text, uint64_t *size)
{
    char *end;
    if (text[0] < '0' || text[0] > '9')
        return false;
    unsigned long long number = strtoull(text, &end, 10);
    static const char units[] = "KMG";
    unsigned shift = 0;
    if (*end != '\0') {
        const char *unit = strchr(units, *end);
        if (unit == NULL || end[1] != '\0')
            return false;
        shift = 10 * (unsigned)(unit - units + 1);
    }
    *size = (uint64_t)number << shift;
    return number != 0 && number <= UINT64_MAX >> shift;
}

static const struct {
    const char *name;
    tdc_dtype dtype;
} dtypes[] = {
    {"f32", TDC_F32}, {"f16", TDC_F16}, {"bf16", TDC_BF16},
    {"f64", TDC_F64}, {"i32", TDC_I32}, {"i64", TDC_I64},
};

bool tdc_parse_dtype(const char *text, size_t length, tdc_dtype *dtype)
{
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
        if (strlen(dtypes[i].name) != length || strncmp(dtypes[i].name, text, length) != 0)
            continue;
        *dtype = dtypes[i].dtype;
        return true;
    }
    return false;
}

const char *tdc_short_dtype(tdc_dtype dtype)
{
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
        if (dtypes[i].dtype == dtype)
            return dtypes[i].name;
    return tdc_dtype_name(dtype);
}

bool tdc_wrong_value(const char *option, const char *value, const char *expected)
{
    tdc_complain("%s '%s': expected %s", option, value, expected);
    return false;
}
