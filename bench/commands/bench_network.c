/* bench_network.c - `tdcmp bench network`: dumps of a training step that was computed. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/commands/bench_command.h"
#include "bench/network/network.h"
#include "bench/tools/measure.h"
#include "bench/tools/option_values.h"
#include "host/terminal/message.h"
#include "host/terminal/next_option.h"
#include "host/terminal/parse.h"

static const char usage[] =
    "tdcmp bench network - compute a training step and write it as a pair of dumps\n"
    "\n"
    "usage: tdcmp bench network [OPTIONS] DIR\n"
    "\n"
    "Writes DIR/test and DIR/ref: dumps of a small transformer as PyTorch's collector writes\n"
    "them. Every call is computed, forward and backward, from the outputs of those before it.\n"
    "Both sides are right and round differently; --fault makes one call of one side wrong, and\n"
    "the error travels.\n"
    "\n"
    "      --network NAME    gpt: layer norms, attention spelled out, GELU (default);\n"
    "                        llama: RMS norms and rotary positions spelled out, fused attention\n"
    "  -d, --dtype NAME      f32, bf16 or f16 (default f32)\n"
    "      --fault CALL[:KIND]  for example Functional.layer_norm.3 or\n"
    "                        Functional.linear.5.backward:nan; KIND is one of\n"
    "                          scale       its output times 1.05 (default)\n"
    "                          element     one element off\n"
    "                          row         one row zero\n"
    "                          nan, inf    one element not finite\n"
    "                          argument    its last number, as an epsilon, times 100\n"
    "                          inputs      computed from inputs of fewer bits\n"
    "                          accumulate  computed with 16-bit operations\n"
    "                          swap        two of its inputs exchanged\n"
    "      --fault-side NAME test or ref (default test)\n"
    "  -t, --task NAME       tensor, statistics or md5 (default tensor)\n"
    "  -l, --level NAME      mix: modules and calls, L1: calls, L0: modules (default mix)\n"
    "      --npy             tensors as .npy instead of .pt (not bf16)\n"
    "      --layers N        default 4\n"
    "      --width N         default 64\n"
    "      --heads N         default 4\n"
    "      --batch N         sequences (default 2)\n"
    "      --tokens N        of a sequence (default 16)\n"
    "      --vocabulary N    default 128\n"
    "      --exact           both sides round the same way\n"
    "      --seed N          other weights and data (default 1)\n"
    "  -h, --help            this text\n"
    "\n"
    "example: tdcmp bench network demo --fault Functional.layer_norm.3:argument\n"
    "         tdcmp trace demo/test demo/ref\n";

enum {
    OPTION_NETWORK = 256,
    OPTION_FAULT,
    OPTION_FAULT_SIDE,
    OPTION_NPY,
    OPTION_LAYERS,
    OPTION_WIDTH,
    OPTION_HEADS,
    OPTION_BATCH,
    OPTION_TOKENS,
    OPTION_VOCABULARY,
    OPTION_EXACT,
    OPTION_SEED
};

static const struct option long_options[] = {
    {"network", required_argument, NULL, OPTION_NETWORK},
    {"dtype", required_argument, NULL, 'd'},
    {"fault", required_argument, NULL, OPTION_FAULT},
    {"fault-side", required_argument, NULL, OPTION_FAULT_SIDE},
    {"task", required_argument, NULL, 't'},
    {"level", required_argument, NULL, 'l'},
    {"npy", no_argument, NULL, OPTION_NPY},
    {"layers", required_argument, NULL, OPTION_LAYERS},
    {"width", required_argument, NULL, OPTION_WIDTH},
    {"heads", required_argument, NULL, OPTION_HEADS},
    {"batch", required_argument, NULL, OPTION_BATCH},
    {"tokens", required_argument, NULL, OPTION_TOKENS},
    {"vocabulary", required_argument, NULL, OPTION_VOCABULARY},
    {"exact", no_argument, NULL, OPTION_EXACT},
    {"seed", required_argument, NULL, OPTION_SEED},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

struct choice {
    const char *name;
    int value;
};

static bool take_choice(const char *option, const char *name, const struct choice *choices,
                        size_t count, const char *wanted, int *value)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(choices[i].name, name) == 0) {
            *value = choices[i].value;
            return true;
        }
    return tdc_wrong_value(option, name, wanted);
}

static bool take_size(const char *option, int64_t *size)
{
    int number;
    if (!tdc_parse_number(optarg, 1, &number))
        return tdc_wrong_value(option, optarg, "a whole number from 1 on");
    *size = number;
    return true;
}

static bool take_seed(uint64_t *seed)
{
    char *end;
    *seed = strtoull(optarg, &end, 10);
    return (optarg[0] >= '0' && optarg[0] <= '9' && *end == '\0') ||
           tdc_wrong_value("--seed", optarg, "a whole number");
}

/* Those with one value out of several. */
static bool take_name(struct tdc_network_settings *settings, int option)
{
    static const struct choice networks[] = {{"gpt", 0}, {"llama", 1}};
    static const struct choice sides[] = {{"test", 0}, {"ref", 1}};
    static const struct choice tasks[] = {
        {"tensor", TDC_MODE_TENSOR}, {"statistics", TDC_MODE_STATISTICS}, {"md5", TDC_MODE_DIGEST}};
    static const struct choice levels[] = {
        {"mix", TDC_STEP_MIX}, {"L1", TDC_STEP_L1}, {"L0", TDC_STEP_L0}};
    int value = 0;
    bool taken = false;
    switch (option) {
    case OPTION_NETWORK:
        taken = take_choice("--network", optarg, networks, 2, "gpt or llama", &value);
        settings->network = value == 0 ? tdc_network_gpt : tdc_network_llama;
        break;
    case OPTION_FAULT_SIDE:
        taken = take_choice("--fault-side", optarg, sides, 2, "test or ref", &value);
        settings->fault_in_ref = value == 1;
        break;
    case 't':
        taken = take_choice("--task", optarg, tasks, 3, "tensor, statistics or md5", &value);
        settings->files.task = (tdc_mode)value;
        break;
    default:
        taken = take_choice("--level", optarg, levels, 3, "mix, L1 or L0", &value);
        settings->files.level = (enum tdc_step_level)value;
        break;
    }
    return taken;
}

static bool take_option(struct tdc_network_settings *settings, int option)
{
    switch (option) {
    case OPTION_NETWORK:
    case OPTION_FAULT_SIDE:
    case 't':
    case 'l':
        return take_name(settings, option);
    case 'd':
        return tdc_parse_dtype(optarg, strlen(optarg), &settings->dtype) ||
               tdc_wrong_value("--dtype", optarg, "f32, bf16 or f16");
    case OPTION_FAULT:
        return tdc_fault_parse(optarg, &settings->fault) ||
               tdc_wrong_value("--fault", optarg, "CALL or CALL:KIND (tdcmp bench network --help)");
    case OPTION_NPY:
        settings->files.layout = TDC_LAYOUT_NPY;
        return true;
    case OPTION_LAYERS:
        return take_size("--layers", &settings->size.layers);
    case OPTION_WIDTH:
        return take_size("--width", &settings->size.width);
    case OPTION_HEADS:
        return take_size("--heads", &settings->size.heads);
    case OPTION_BATCH:
        return take_size("--batch", &settings->size.batch);
    case OPTION_TOKENS:
        return take_size("--tokens", &settings->size.tokens);
    case OPTION_VOCABULARY:
        return take_size("--vocabulary", &settings->size.vocabulary);
    case OPTION_EXACT:
        settings->exact = true;
        return true;
    case OPTION_SEED:
        return take_seed(&settings->seed);
    default:
        return false;
    }
}

int tdc_bench_network(int argc, char **argv)
{
    struct tdc_network_settings settings;
    tdc_network_settings_init(&settings);
    optind = 1;
    static const struct tdc_words words = {"bench network", "d:t:l:h", long_options};
    for (int option; (option = tdc_next_option(&words, argc, argv)) != TDC_NO_MORE_OPTIONS;) {
        if (option == 'h') {
            fputs(usage, stdout);
            return TDC_EXIT_SAME;
        }
        if (!take_option(&settings, option))
            return TDC_EXIT_TROUBLE;
    }
    if (argc - optind != 1) {
        tdc_complain("bench network takes one folder; %d given (tdcmp bench network --help)",
                     argc - optind);
        return TDC_EXIT_TROUBLE;
    }
    struct tdc_network_totals totals;
    struct tdc_error error = {0};
    double start = tdc_seconds();
    if (tdc_network_make(&settings, argv[optind], &totals, &error) != TDC_OK) {
        tdc_complain("%s", error.message);
        return TDC_EXIT_TROUBLE;
    }
    printf("%s/test and %s/ref: %" PRIu64 " calls in %" PRIu64 " modules, forward and backward",
           argv[optind], argv[optind], totals.calls, totals.modules);
    if (settings.fault.call[0] != '\0')
        printf("; fault `%s` in %s of %s", tdc_fault_kind_name((int)settings.fault.kind),
               settings.fault.call, settings.fault_in_ref ? "ref" : "test");
    printf("; %.2f s\n", tdc_seconds() - start);
    return TDC_EXIT_SAME;
}
