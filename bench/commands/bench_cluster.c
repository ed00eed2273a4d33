/* bench_cluster.c - `tdcmp bench cluster`: how long a comparison takes with many processes, by the
 * very division of work that they would use, on storage that is made up. */
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/commands/bench_command.h"
#include "bench/tools/option_values.h"
#include "host/share/pieces.h"
#include "host/terminal/message.h"
#include "host/terminal/next_option.h"
#include "host/terminal/parse.h"

static const char usage[] =
    "tdcmp bench cluster - time and balance of a comparison by 1 to 1024 processes, simulated\n"
    "\n"
    "usage: tdcmp bench cluster [OPTIONS]\n"
    "\n"
    "Divides a made-up comparison as --shard (static) and tdcmp-mpi (dynamic) do and adds up how\n"
    "long the processes would read. Nothing is read.\n"
    "\n"
    "  -r, --ranks N       pairs of dumps (default 256)\n"
    "  -n, --tensors N     tensors of a dump (default 2000)\n"
    "  -s, --size BYTES    mean size of a tensor; K, M, G allowed (default 16M)\n"
    "      --rate BYTES    that a node reads in a second (default 2G)\n"
    "      --storage BYTES that the storage gives to all nodes together (default 0: no limit)\n"
    "      --per-node N    processes that share a node (default 1)\n"
    "      --open MS       milliseconds to open a pair of files (default 0.5)\n"
    "      --json MS       milliseconds to read one dump.json (default 20)\n"
    "      --slow PERCENT  one node in sixteen is slower by so much (default 0)\n"
    "  -h, --help          this text\n"
    "\n"
    "balance: the mean time of a process over the longest. merge: reading all dump.json once more\n"
    "and writing, by one process; a part of both times.\n"
    "\n"
    "example: tdcmp bench cluster --ranks 1024 --tensors 5000 --storage 100G\n";

enum {
    OPTION_RATE = 256,
    OPTION_STORAGE,
    OPTION_PER_NODE,
    OPTION_OPEN,
    OPTION_JSON,
    OPTION_SLOW,
    MOST_PROCESSES = 1024
};

static const struct option long_options[] = {
    {"ranks", required_argument, NULL, 'r'},
    {"tensors", required_argument, NULL, 'n'},
    {"size", required_argument, NULL, 's'},
    {"rate", required_argument, NULL, OPTION_RATE},
    {"storage", required_argument, NULL, OPTION_STORAGE},
    {"per-node", required_argument, NULL, OPTION_PER_NODE},
    {"open", required_argument, NULL, OPTION_OPEN},
    {"json", required_argument, NULL, OPTION_JSON},
    {"slow", required_argument, NULL, OPTION_SLOW},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

struct settings {
    int ranks, tensors, per_node;
    uint64_t size, rate, storage;
    double open, json, slow;
    bool help;
};

/* What one row of a table costs to judge and to write, in seconds: measured, docs/bench.md. */
#define ROW_SECONDS 6e-6

static bool take_size(const char *option, uint64_t *size)
{
    return tdc_parse_size(optarg, size) || tdc_wrong_value(option, optarg, "a size as 4M or 2G");
}

static bool take_real(const char *option, double *number)
{
    return (tdc_parse_real(optarg, number) && *number >= 0) ||
           tdc_wrong_value(option, optarg, "a number that is not negative");
}

static bool take_option(struct settings *settings, int option)
{
    switch (option) {
    case 'r':
        return tdc_parse_number(optarg, 1, &settings->ranks) ||
               tdc_wrong_value("--ranks", optarg, "a number of ranks");
    case 'n':
        return tdc_parse_number(optarg, 1, &settings->tensors) ||
               tdc_wrong_value("--tensors", optarg, "a number of tensors");
    case OPTION_PER_NODE:
        return tdc_parse_number(optarg, 1, &settings->per_node) ||
               tdc_wrong_value("--per-node", optarg, "a number of processes");
    case 's':
        return take_size("--size", &settings->size);
    case OPTION_RATE:
        return take_size("--rate", &settings->rate);
    case OPTION_STORAGE:
        return take_size("--storage", &settings->storage);
    case OPTION_OPEN:
        return take_real("--open", &settings->open);
    case OPTION_JSON:
        return take_real("--json", &settings->json);
    case OPTION_SLOW:
        return take_real("--slow", &settings->slow);
    case 'h':
        return settings->help = true;
    default:
        return false;
    }
}

/* ---- the comparison -------------------------------------------------------------------------- */

/* Sizes between a sixteenth and four times the mean, and one of a hundred is twenty times as large:
 * biases, weights, embeddings. */
static uint64_t size_of(uint64_t number, uint64_t mean)
{
    uint64_t mixed = number * 0x9e3779b97f4a7c15u;
    mixed ^= mixed >> 29;
    if (mixed % 100 == 0)
        return mean * 20;
    static const uint64_t sixteenths[] = {1, 1, 2, 4, 8, 8, 16, 32, 64};
    return mean / 16 * sixteenths[mixed / 100 % (sizeof sixteenths / sizeof *sixteenths)] * 83 /
           100;
}

static struct tdc_share_item *make_items(const struct settings *settings, size_t *count)
{
    size_t tensors = (size_t)settings->tensors;
    *count = (size_t)settings->ranks * tensors;
    struct tdc_share_item *items = calloc(*count, sizeof *items);
    for (size_t i = 0; items != NULL && i < *count; i++)
        items[i] = (struct tdc_share_item){.bytes = 2 * size_of(i % tensors, settings->size),
                                           .unit = (uint32_t)(i / tensors),
                                           .may_start = i % 3 == 0,
                                           .may_cut = true};
    return items;
}

/* ---- its time -------------------------------------------------------------------------------- */

/* Bytes a second of one process: its share of a node, and of the storage. */
static double rate_of(const struct settings *settings, unsigned process, unsigned processes)
{
    unsigned per_node = (unsigned)settings->per_node;
    unsigned nodes = (processes + per_node - 1) / per_node, node = process / per_node;
    unsigned here = processes < per_node ? processes : per_node;
    double rate = (double)settings->rate;
    if (settings->storage != 0 && (double)settings->storage / nodes < rate)
        rate = (double)settings->storage / nodes;
    if (node % 16 == 15)
        rate /= 1 + settings->slow / 100;
    return rate / here;
}

static double piece_seconds(const struct settings *settings, const struct tdc_share_item *items,
                            const struct tdc_piece *piece, double rate)
{
    double bytes = 0;
    for (size_t i = piece->first; i < piece->first + piece->count; i++)
        bytes += (double)items[i].bytes;
    return bytes / piece->of / rate + (double)piece->count * settings->open / 1000;
}

struct times {
    double longest, mean;
};

/* With dynamic, each piece goes to whoever is done first; else to its owner. */
static struct times simulate(const struct settings *settings, const struct tdc_share_item *items,
                             const struct tdc_pieces *pieces, unsigned processes, bool dynamic)
{
    static double busy[MOST_PROCESSES], rates[MOST_PROCESSES];
    for (unsigned i = 0; i < processes; i++) {
        busy[i] =
            2.0 * settings->ranks * settings->json / 1000; /* all processes read all of them */
        rates[i] = rate_of(settings, i, processes);
    }
    for (size_t i = 0; i < pieces->count; i++) {
        unsigned who = pieces->owners[i];
        for (unsigned k = 0; dynamic && k < processes; k++)
            if (k == 0 || busy[k] < busy[who])
                who = k;
        busy[who] += piece_seconds(settings, items, &pieces->pieces[i], rates[who]);
    }
    struct times times = {0};
    for (unsigned i = 0; i < processes; i++) {
        times.longest = fmax(times.longest, busy[i]);
        times.mean += busy[i] / processes;
    }
    return times;
}

static bool print_row(const struct settings *settings, const struct tdc_share_item *items,
                      size_t count, unsigned processes, double *alone)
{
    struct tdc_pieces pieces;
    if (!tdc_pieces_make(items, count, processes, &pieces))
        return false;
    double json = 2.0 * settings->ranks * settings->json / 1000;
    double merge = (processes > 1 ? json : 0) + (double)count * ROW_SECONDS;
    struct times fixed = simulate(settings, items, &pieces, processes, false);
    struct times dynamic = simulate(settings, items, &pieces, processes, true);
    double total = fixed.longest + merge, team = dynamic.longest + (double)count * ROW_SECONDS;
    if (processes == 1)
        *alone = total;
    printf("%9u  %7zu  %10.1f  %6.1f%%  %6.1fx  %10.1f  %6.1f%%  %6.1fx  %8.1f\n", processes,
           pieces.count, total, 100 * fixed.mean / fixed.longest, *alone / total, team,
           100 * dynamic.mean / dynamic.longest, *alone / team, merge);
    tdc_pieces_free(&pieces);
    return true;
}

int tdc_bench_cluster(int argc, char **argv)
{
    static const struct tdc_words words = {"bench cluster", "r:n:s:h", long_options};
    struct settings settings = {.ranks = 256,
                                .tensors = 2000,
                                .per_node = 1,
                                .size = (uint64_t)16 << 20,
                                .rate = (uint64_t)2 << 30,
                                .open = 0.5,
                                .json = 20};
    optind = 1;
    for (int option; (option = tdc_next_option(&words, argc, argv)) != TDC_NO_MORE_OPTIONS;)
        if (!take_option(&settings, option))
            return TDC_EXIT_TROUBLE;
    if (settings.help) {
        fputs(usage, stdout);
        return TDC_EXIT_SAME;
    }
    if (argc != optind || (uint64_t)settings.ranks * (uint64_t)settings.tensors > 100000000) {
        tdc_complain("bench cluster takes options alone, and up to 100 million tensors");
        return TDC_EXIT_TROUBLE;
    }
    size_t count;
    struct tdc_share_item *items = make_items(&settings, &count);
    double alone = 0, bytes = 0;
    bool made = items != NULL;
    for (size_t i = 0; made && i < count; i++)
        bytes += (double)items[i].bytes;
    printf("%d ranks x %d tensors, %.2f TB of both sides; simulated, nothing was read\n",
           settings.ranks, settings.tensors, bytes / 1e12);
    puts(
        "                     --shard and merge            tdcmp-mpi\n"
        "processes   pieces     seconds  balance     gain     seconds  balance     gain     merge");
    for (unsigned processes = 1; processes <= MOST_PROCESSES && made; processes *= 2)
        made = print_row(&settings, items, count, processes, &alone);
    free(items);
    if (!made)
        tdc_complain("out of memory");
    return made ? TDC_EXIT_SAME : TDC_EXIT_TROUBLE;
}
