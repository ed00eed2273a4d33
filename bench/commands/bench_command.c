/* bench_command.c - `tdcmp bench`: which subcommand, and the option values they share. */
#include "bench/commands/bench_command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/terminal/message.h"

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
} subcommands[] = {
    {"compare", tdc_bench_compare},
    {"kernels", tdc_bench_kernels},
    {"io", tdc_bench_io},
    {"match", tdc_bench_match},
    {"make", tdc_bench_make},
    {"device", tdc_bench_device},
    {"reference", tdc_bench_reference},
};

int tdc_command_bench(int argc, char **argv)
{
    for (size_t i = 0; argc > 1 && i < sizeof subcommands / sizeof *subcommands; i++)
        if (strcmp(argv[1], subcommands[i].name) == 0)
            return subcommands[i].run(argc - 1, argv + 1);
    return tdc_bench_plain(argc, argv);
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

static bool parse_pair(const char *text, size_t length, struct tdc_dtype_pair *pair)
{
    const char *slash = memchr(text, '/', length);
    size_t first = slash == NULL ? length : (size_t)(slash - text);
    if (!tdc_parse_dtype(text, first, &pair->npu))
        return false;
    pair->bench = pair->npu;
    return slash == NULL || tdc_parse_dtype(slash + 1, length - first - 1, &pair->bench);
}

bool tdc_parse_pairs(const char *list, struct tdc_dtype_pair *pairs, size_t *count)
{
    *count = 0;
    do {
        size_t length = strcspn(list, ",");
        if (*count == TDC_MOST_PAIRS || !parse_pair(list, length, &pairs[*count]))
            return false;
        (*count)++;
        list += length;
    } while (*list++ == ',');
    return true;
}

void tdc_pair_text(const struct tdc_dtype_pair *pair, char text[16])
{
    if (pair->npu == pair->bench)
        snprintf(text, 16, "%s", tdc_short_dtype(pair->npu));
    else
        snprintf(text, 16, "%s/%s", tdc_short_dtype(pair->npu), tdc_short_dtype(pair->bench));
}

bool tdc_wrong_value(const char *option, const char *value, const char *expected)
{
    tdc_complain("%s '%s': expected %s", option, value, expected);
    return false;
}
