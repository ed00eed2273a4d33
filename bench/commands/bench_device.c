/* bench_device.c - `tdcmp bench device`: the hops of a comparison on a card, one by one. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/commands/bench_command.h"
#include "bench/commands/verify_device.h"
#include "bench/tools/option_values.h"
#include "bench/tools/measure.h"
#include "host/terminal/message.h"
#include "host/terminal/next_option.h"
#include "host/terminal/parse.h"
#include "host/engine/ascend/ascend_device.h"
#include "host/engine/device.h"
#include "io/file/mapping_guard.h"

static const char usage[] =
    "tdcmp bench device - how fast an Ascend card compares, hop by hop\n"
    "\n"
    "usage: tdcmp bench device [OPTIONS]\n"
    "\n"
    "Tests every kernel of the card, then compares pairs of f32 tensors that are in memory and "
    "says\n"
    "how many GB of input per second each hop takes: into pinned memory (read), over the link "
    "(H2D),\n"
    "through the kernel, and the records back (D2H); all of it together; and the CPU beside it.\n"
    "\n"
    "      --device NAME   ascend (default), gpu, cuda, opencl, ascend:1, cuda:1 or opencl:1\n"
    "      --size N        bytes to send through; K, M, G allowed (default 1G; of --verify at "
    "most\n"
    "                      a slot of the card for each kernel)\n"
    "      --dtype NAME    f32 (default), f16 or bf16\n"
    "      --rules NAME    sound (default), msprobe or msprobe26: which kernels\n"
    "      --verify        check what all Ascend cards compute instead: arithmetic, every kernel\n"
    "                      against the CPU and on 1, 7 and all cores, tensors on the card\n"
    "  -h, --help          this text\n"
    "\n"
    "exit code: 0 measured and right, 1 something is computed wrongly, 2 there is no usable card\n"
    "\n"
    "example: tdcmp bench device --device ascend:0 --size 4G\n";

enum {
    OPTION_DEVICE = 256,
    OPTION_SIZE,
    OPTION_DTYPE,
    OPTION_RULES,
    OPTION_VERIFY
};

static const struct option long_options[] = {
    {"device", required_argument, NULL, OPTION_DEVICE},
    {"size", required_argument, NULL, OPTION_SIZE},
    {"dtype", required_argument, NULL, OPTION_DTYPE},
    {"rules", required_argument, NULL, OPTION_RULES},
    {"verify", no_argument, NULL, OPTION_VERIFY},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

struct settings {
    struct tdc_device_request device;
    uint64_t size;
    tdc_dtype dtype;
    enum tdc_relative_rule rule;
    bool help, verify;
};

static bool take_option(struct settings *settings, int option)
{
    tdc_rules_id rules;
    switch (option) {
    case OPTION_DEVICE:
        return (tdc_device_parse(optarg, &settings->device) &&
                settings->device.kind >= TDC_DEVICE_GPU && settings->device.count == 1) ||
               tdc_wrong_value("--device", optarg, "gpu, ascend, cuda, opencl or ascend:N");
    case OPTION_SIZE:
        return tdc_parse_size(optarg, &settings->size) ||
               tdc_wrong_value("--size", optarg, "a number of bytes");
    case OPTION_DTYPE:
        return (tdc_parse_dtype(optarg, strlen(optarg), &settings->dtype) &&
                tdc_ascend_kernel_for(settings->dtype, settings->dtype, TDC_RELATIVE_F64) >= 0) ||
               tdc_wrong_value("--dtype", optarg, "f32, f16 or bf16");
    case OPTION_RULES:
        if (!tdc_parse_rules(optarg, &rules))
            return tdc_wrong_value("--rules", optarg, TDC_RULES_NAMES);
        settings->rule = rules == TDC_RULES_SOUND ? TDC_RELATIVE_F64 : TDC_RELATIVE_NATIVE;
        return true;
    case OPTION_VERIFY:
        settings->verify = true;
        return true;
    case 'h':
        settings->help = true;
        return true;
    default:
        return false;
    }
}

static bool take_options(int argc, char **argv, struct settings *settings)
{
    optind = 1;
    static const struct tdc_words words = {"bench device", "h", long_options};
    for (int option; (option = tdc_next_option(&words, argc, argv)) != TDC_NO_MORE_OPTIONS;)
        if (!take_option(settings, option))
            return false;
    if (optind != argc) {
        tdc_complain("bench device takes options only (tdcmp bench device --help)");
        return false;
    }
    return true;
}

/* ---- the data -------------------------------------------------------------------------------- */

enum {
    CHUNKS = 16 /* that are gone through again and again: more than caches hold */
};

struct data {
    unsigned char *n, *b;
    struct tdc_pair_plan plan;
    size_t chunk_bytes; /* of one side */
};

/* Numbers between 1 and 2 whose last bits differ now and then: the high half of a float is a bf16,
 * and these bits are ordinary f16 numbers too. The first pair of a chunk differs most: only the
 * tile that may hold a maximum is computed again. */
static void fill(struct data *data, size_t bytes)
{
    uint32_t state = 1;
    size_t words = data->chunk_bytes / 2, size = data->chunk_bytes / TDC_PAIR_CHUNK;
    for (size_t i = 0; i < bytes / 2; i++) {
        state = state * 1664525u + 1013904223u;
        uint16_t word = (uint16_t)(0x3f80 | (state >> 25));
        uint16_t other = (uint16_t)(word ^ (i % 16 == 0 ? 1 : 0));
        if (i % words == size / 2 - 1) { /* the high half of the first number */
            word = 0x3f80;
            other = 0x3ff0;
        }
        memcpy(data->b + 2 * i, &word, 2);
        memcpy(data->n + 2 * i, &other, 2);
    }
}

static bool make_data(const struct settings *settings, struct data *data)
{
    data->chunk_bytes = TDC_PAIR_CHUNK * tdc_dtype_size(settings->dtype);
    size_t bytes = CHUNKS * data->chunk_bytes;
    data->n = malloc(bytes);
    data->b = malloc(bytes);
    if (data->n == NULL || data->b == NULL ||
        !tdc_pair_plan_make(settings->dtype, settings->dtype, settings->rule,
                            tdc_cpu_variant_chosen(), &data->plan))
        return false;
    fill(data, bytes);
    return true;
}

/* Chunks under way, and the chunk that comes back when so many are. */
enum {
    RING = 512
};

struct ring {
    struct tdc_backend_chunk chunks[RING];
    struct tdc_pair_sums sums[RING];
};

/* Seconds that `count` chunks of `pairs` take one thread; the sums of the last RING stay. Negative
 * when it cannot be done. */
static double go_through(const struct tdc_backend *backend, const struct data *data, size_t pairs,
                         uint64_t count, struct ring *ring)
{
    void *state;
    struct tdc_error error = {0};
    if (backend->open(backend->context, &state, &error) != TDC_OK)
        return -1;
    size_t size = data->chunk_bytes / TDC_PAIR_CHUNK, pieces = CHUNKS * TDC_PAIR_CHUNK / pairs;
    uint64_t under_way = 0;
    double start = tdc_seconds();
    for (uint64_t i = 0; i < count; i++) {
        size_t at = (size_t)(i % pieces) * pairs * size;
        while (under_way == RING)
            under_way -= backend->take(state, true) != NULL;
        struct tdc_backend_chunk *chunk = &ring->chunks[i % RING];
        *chunk = (struct tdc_backend_chunk){.plan = &data->plan,
                                            .n = data->n + at,
                                            .b = data->b + at,
                                            .count = pairs,
                                            .sums = &ring->sums[i % RING]};
        enum tdc_submit_result result;
        while ((result = backend->submit(state, chunk)) == TDC_SUBMIT_NO_ROOM)
            under_way -= backend->take(state, true) != NULL;
        under_way += result == TDC_SUBMIT_TAKEN;
    }
    while (under_way != 0)
        under_way -= backend->take(state, true) != NULL;
    double seconds = tdc_seconds() - start;
    backend->close(state);
    return seconds;
}

/* Whether what is in the ring is what the CPU computes. */
static uint64_t wrong_sums(const struct data *data, const struct ring *ring, uint64_t count)
{
    uint64_t wrong = 0;
    for (uint64_t i = 0; i < count && i < CHUNKS; i++) {
        const struct tdc_backend_chunk *chunk = &ring->chunks[i];
        struct tdc_pair_sums right;
        size_t at = (size_t)i * data->chunk_bytes / TDC_PAIR_CHUNK * chunk->count;
        tdc_pair_run(&data->plan, data->n + at, data->b + at, chunk->count, &right);
        wrong += !tdc_sums_agree(chunk->sums, &right);
    }
    return wrong;
}

/* ---- the report ------------------------------------------------------------------------------ */

static void print_line(void *context, const char *text)
{
    (void)context;
    puts(text);
}

static void print_rate(const char *hop, double bytes, double seconds)
{
    if (seconds > 0)
        printf("  %-24s %8.2f GB/s\n", hop, bytes / seconds * 1e-9);
    else
        printf("  %-24s        -\n", hop);
}

static void print_figures(struct tdc_device_run *run, double seconds, double cpu_rate)
{
    struct tdc_device_figures figures = tdc_device_run_figures(run);
    double bytes = (double)figures.bytes;
    print_rate("read (memory to pinned)", bytes, figures.staging);
    print_rate("H2D", bytes, figures.h2d);
    print_rate("kernel", bytes, figures.kernel);
    print_rate("D2H (records)", (double)figures.returned, figures.d2h);
    print_rate("all, one thread", bytes, seconds);
    print_rate("CPU, one thread", cpu_rate, 1);
    double hops = figures.staging + figures.h2d + figures.kernel + figures.d2h;
    printf("  overlap                  %8.2f hops at a time\n", seconds > 0 ? hops / seconds : 0);
    printf("  tiles %llu, rescued %llu, fallbacks %llu\n", (unsigned long long)figures.tiles,
           (unsigned long long)figures.rescued, (unsigned long long)figures.fallbacks);
    const char *trouble = tdc_device_run_trouble(run);
    if (trouble[0] != '\0')
        printf("  trouble: %s\n", trouble);
}

/* A stand-in for a device tells what its kernels cost. */
static void print_counts(void)
{
    void *symbol = tdc_acl_symbol("acl_twin_describe");
    size_t (*describe)(char *, size_t);
    if (symbol == NULL)
        return;
    memcpy(&describe, &symbol, sizeof describe);
    static char text[8192];
    describe(text, sizeof text);
    printf(
        "\nThis is not a card but a stand-in: its times mean nothing. Of one tile:\n\n"
        "| kernel | instructions | barriers | lane operations a pair | bytes in | bytes out | UB "
        "bytes |\n|---|---|---|---|---|---|---|\n%s",
        text);
}

/* By the clock of a stand-in, since it was asked before; `otherwise` where there is none. */
static double twin_link(const struct tdc_device_family *family, double otherwise)
{
    void *symbol = family == &tdc_family_ascend ? tdc_acl_symbol("acl_twin_link") : NULL;
    double (*link)(void);
    if (symbol == NULL)
        return otherwise;
    memcpy(&link, &symbol, sizeof link);
    return link();
}

/* Of the time the part in which the link was in use, and the part in which a kernel ran: by the
 * clock of a stand-in, or by the events of a card. */
static void print_utilisation(const struct tdc_device_family *family, const char *what,
                              const struct tdc_device_figures *before,
                              const struct tdc_device_figures *after, double seconds)
{
    double link = after->link_busy - before->link_busy;
    double kernel = after->kernel_busy - before->kernel_busy;
    double part = twin_link(family, seconds > 0 ? link / seconds : 0);
    printf("  link utilisation, %-14s %.2f\n", what, part);
    /* the clock of a stand-in is not that of the seconds: what it says of the two is right */
    printf("  kernel utilisation, %-12s %.2f\n", what, link > 0 ? part * kernel / link : 0);
}

/* Tensors of 64 KiB a side, which share launches. */
static void measure_small(const struct settings *settings, const struct data *data,
                          struct tdc_device_run *run, struct ring *ring)
{
    size_t pairs = 65536 / tdc_dtype_size(settings->dtype);
    struct tdc_device_figures before = tdc_device_run_figures(run);
    uint64_t count = settings->size / 131072 / 2 + 1;
    double seconds = go_through(&run->backend, data, pairs, count, ring);
    struct tdc_device_figures after = tdc_device_run_figures(run);
    print_utilisation(settings->device.family, "64 KiB tensors", &before, &after, seconds);
}

static int measure(const struct settings *settings)
{
    struct tdc_error error = {0};
    struct tdc_device_run *run;
    struct data data = {0};
    struct tdc_device_request request = settings->device;
    if (tdc_device_open(&request, settings->rule, false, true, &run, &error) != TDC_OK) {
        tdc_complain("%s", error.message);
        return TDC_EXIT_TROUBLE;
    }
    int code = TDC_EXIT_TROUBLE;
    struct ring *ring = calloc(1, sizeof *ring);
    if (ring != NULL && make_data(settings, &data) && tdc_guard_begin()) {
        uint64_t count = settings->size / (2 * data.chunk_bytes) + 1;
        printf("\n%s, %s pairs in chunks of %zu, %.2f GB:\n", run->name,
               tdc_short_dtype(settings->dtype), (size_t)TDC_PAIR_CHUNK,
               (double)(count * 2 * data.chunk_bytes) * 1e-9);
        twin_link(request.family, 0); /* forget the tests */
        struct tdc_device_figures before = tdc_device_run_figures(run);
        double seconds = go_through(&run->backend, &data, TDC_PAIR_CHUNK, count, ring);
        uint64_t wrong = wrong_sums(&data, ring, count);
        double cpu = go_through(&tdc_backend_cpu, &data, TDC_PAIR_CHUNK, count, ring);
        double cpu_rate = cpu > 0 ? (double)(count * 2 * data.chunk_bytes) / cpu : 0;
        print_figures(run, seconds, cpu_rate);
        struct tdc_device_figures after = tdc_device_run_figures(run);
        print_utilisation(request.family, "large tensors", &before, &after, seconds);
        measure_small(settings, &data, run, ring);
        printf("  sums: %s\n", wrong == 0 ? "those of the CPU" : "NOT those of the CPU");
        code = wrong == 0 ? TDC_EXIT_SAME : TDC_EXIT_DIFFERENT;
        tdc_guard_end();
        print_counts();
    } else {
        tdc_complain("out of memory");
    }
    free(ring);
    free(data.n);
    free(data.b);
    tdc_device_run_close(run);
    return code;
}

int tdc_bench_device(int argc, char **argv)
{
    struct settings settings = {
        .size = (uint64_t)1 << 30, .dtype = TDC_F32, .rule = TDC_RELATIVE_F64};
    tdc_device_parse("ascend", &settings.device);
    if (!take_options(argc, argv, &settings))
        return TDC_EXIT_TROUBLE;
    if (settings.help) {
        fputs(usage, stdout);
        return TDC_EXIT_SAME;
    }
    if (settings.verify)
        return tdc_verify_device(settings.size);
    tdc_devices(print_line, NULL); /* what cannot be used is told again below */
    return measure(&settings);
}
