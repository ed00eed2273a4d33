#include "host/cli/msprobe26/compare26.h"

#include <stdio.h>
#include <string.h>

#include "host/cli/msprobe/msprobe_log.h"

static const char program[] = "tdcmp compare";

/* clang-format off */
#define OPTION(brief, full, arity, metavar, help) {brief, full, arity, metavar, help, false, NULL, NULL, 0}
/* clang-format on */

static const struct tdc_argument arguments_template[ARG26_COUNT] = {
    [ARG26_MODE] = OPTION("-m", "--mode", TDC_VALUE, "MODE",
                          "auto (default), offline_data, torchair, offline_model or atb"),
    [ARG26_TARGET] = OPTION("-tp", "--target_path", TDC_VALUE, "PATH",
                            "<Required> the run under test: dump.json, debug.json or a folder"),
    [ARG26_GOLDEN] =
        OPTION("-gp", "--golden_path", TDC_VALUE, "PATH", "<Required> the reference, likewise"),
    [ARG26_OUTPUT] = OPTION("-o", "--output_path", TDC_OPTIONAL_VALUE, "DIR",
                            "folder for the results, default ./output"),
    [ARG26_XLSX] = OPTION("--xlsx", "--xlsx", TDC_FLAG, "", "xlsx instead of csv"),
    [ARG26_FUZZY] = OPTION("-fm", "--fuzzy_match", TDC_FLAG, "", "match shifted call numbers"),
    [ARG26_CELL_MAPPING] =
        OPTION("-cm", "--cell_mapping", TDC_OPTIONAL_VALUE, "FILE", "yaml of cell or module names"),
    [ARG26_API_MAPPING] =
        OPTION("-am", "--api_mapping", TDC_OPTIONAL_VALUE, "FILE", "API mapping (MindSpore)"),
    [ARG26_DATA_MAPPING] = OPTION("-dm", "--data_mapping", TDC_VALUE, "FILE",
                                  "yaml of `target row name: golden row name`"),
    [ARG26_LAYER_MAPPING] =
        OPTION("-lm", "--layer_mapping", TDC_OPTIONAL_VALUE, "FILE", "layer mapping (MindSpore)"),
    [ARG26_DIFF_ANALYZE] =
        OPTION("-da", "--diff_analyze", TDC_FLAG, "", "first-difference search in step folders"),
    [ARG26_TENSOR_LOG] = OPTION("-tensor_log", "--is_print_compare_log", TDC_FLAG, "",
                                "a log line before and after each pair of tensors"),
    [ARG26_RANK] = OPTION("--rank", "--rank", TDC_VALUE, "LIST",
                          "ranks of MindSpore kernel dumps; one rank of TorchAir's"),
    [ARG26_STEP] = OPTION("--step", "--step", TDC_VALUE, "LIST", "steps of MindSpore kernel dumps"),
    [ARG26_CONSISTENT_CHECK] = OPTION("--consistent_check", "--consistent_check", TDC_FLAG, "",
                                      "training against inference; needs --backend"),
    [ARG26_BACKEND] = OPTION("--backend", "--backend", TDC_VALUE, "NAME", "fsdp or megatron"),
    [ARG26_CONFIG] = OPTION("--config", "--config", TDC_VALUE, "FILE",
                            "yaml of matrices to multiply tensors by before they are compared"),
    [ARG26_FUSION_RULE] =
        OPTION("-fr", "--fusion_rule_file", TDC_VALUE, "FILE", "mode offline_data"),
    [ARG26_QUANT_FUSION_RULE] =
        OPTION("-qfr", "--quant_fusion_rule_file", TDC_VALUE, "FILE", "mode offline_data"),
    [ARG26_CLOSE_FUSION_RULE] =
        OPTION("-cfr", "--close_fusion_rule_file", TDC_VALUE, "FILE", "mode offline_data"),
    [ARG26_INPUT_DATA] =
        OPTION("--input_data", "--input_data", TDC_VALUE, "LIST", "mode offline_model"),
    [ARG26_INPUT_SHAPE] =
        OPTION("--input_shape", "--input_shape", TDC_VALUE, "LIST", "mode offline_model"),
    [ARG26_OUTPUT_SIZE] =
        OPTION("--output_size", "--output_size", TDC_VALUE, "LIST", "mode offline_model"),
    [ARG26_DYM_SHAPE_RANGE] =
        OPTION("--dym_shape_range", "--dym_shape_range", TDC_VALUE, "LIST", "mode offline_model"),
    [ARG26_ONNX_FUSION] =
        OPTION("-ofs", "--onnx_fusion_switch", TDC_VALUE, "BOOL", "mode offline_model"),
    [ARG26_RULES] =
        OPTION("--rules", "--rules", TDC_VALUE, "NAME", "msprobe26 (default), msprobe or sound"),
    [ARG26_FORMAT] = OPTION("--format", "--format", TDC_VALUE, "LIST", "csv (default), xlsx, json"),
    [ARG26_THREADS] = OPTION("--threads", "--threads", TDC_VALUE, "N", "number of threads"),
    [ARG26_DEVICE] = OPTION("--device", "--device", TDC_VALUE, "NAME",
                            "auto, cpu, gpu, ascend, cuda, opencl, cuda:0,1 or cuda:all"),
    [ARG26_NO_FALLBACK] = OPTION("--no-fallback", "--no-fallback", TDC_FLAG, "",
                                 "what the device fails to do is an error"),
};

/* Which options a mode knows, in bits of tdc_compare26_argument. */
#define BIT(argument) (1u << (argument))
#define PATHS         (BIT(ARG26_MODE) | BIT(ARG26_TARGET) | BIT(ARG26_GOLDEN) | BIT(ARG26_OUTPUT))
#define OWN                                                                                        \
    (BIT(ARG26_RULES) | BIT(ARG26_FORMAT) | BIT(ARG26_THREADS) | BIT(ARG26_DEVICE) |               \
     BIT(ARG26_NO_FALLBACK))

static const struct mode {
    const char *name;
    unsigned options;
} modes[] = {
    {"auto", PATHS | OWN | BIT(ARG26_XLSX) | BIT(ARG26_FUZZY) | BIT(ARG26_CELL_MAPPING) |
                 BIT(ARG26_API_MAPPING) | BIT(ARG26_DATA_MAPPING) | BIT(ARG26_LAYER_MAPPING) |
                 BIT(ARG26_DIFF_ANALYZE) | BIT(ARG26_TENSOR_LOG) | BIT(ARG26_RANK) |
                 BIT(ARG26_STEP) | BIT(ARG26_CONSISTENT_CHECK) | BIT(ARG26_BACKEND) |
                 BIT(ARG26_CONFIG)},
    {"offline_data",
     PATHS | BIT(ARG26_FUSION_RULE) | BIT(ARG26_QUANT_FUSION_RULE) | BIT(ARG26_CLOSE_FUSION_RULE)},
    {"torchair", PATHS | BIT(ARG26_RANK)}, /* whose own list forgets the rank */
    {"offline_model", PATHS | BIT(ARG26_RANK) | BIT(ARG26_INPUT_DATA) | BIT(ARG26_INPUT_SHAPE) |
                          BIT(ARG26_OUTPUT_SIZE) | BIT(ARG26_DYM_SHAPE_RANGE) |
                          BIT(ARG26_ONNX_FUSION)},
    {"atb", PATHS},
};

static const struct mode *mode_of(const struct tdc_argument *argument)
{
    if (!argument->given)
        return &modes[0];
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (strcmp(modes[i].name, argument->value) == 0)
            return &modes[i];
    return NULL;
}

/* Our own options may be written as any program's; msprobe's only as it lists them. */
static bool known_word(const char *word, unsigned options)
{
    for (size_t i = 0; i < ARG26_COUNT; i++) {
        const struct tdc_argument *argument = &arguments_template[i];
        if ((options & BIT(i)) == 0)
            continue;
        if (strcmp(word, argument->brief) == 0 || strcmp(word, argument->full) == 0)
            return true;
        size_t length = strlen(argument->full);
        if ((OWN & BIT(i)) != 0 && strncmp(word, argument->full, length) == 0 &&
            word[length] == '=')
            return true;
    }
    return false;
}

static bool check_raw_words(int argc, char **argv, const struct mode *mode)
{
    for (int i = 0; i < argc; i++) {
        if (argv[i][0] != '-' || known_word(argv[i], mode->options))
            continue;
        char text[512];
        snprintf(text, sizeof text, "Invalid argument '%s' for mode '%s'", argv[i], mode->name);
        tdc_msprobe_log(NULL, TDC_MESSAGE_ERROR, text);
        return false;
    }
    return true;
}

int tdc_compare26_words(int argc, char **argv, struct tdc_argument arguments[ARG26_COUNT],
                        bool *helped)
{
    memcpy(arguments, arguments_template, sizeof arguments_template);
    int code = tdc_argparse(program, "-tp npu/step0 -gp gpu/step0 -o output", argc, argv, arguments,
                            ARG26_COUNT, helped);
    if (code != 0 || *helped)
        return code;
    static const size_t required[] = {ARG26_TARGET, ARG26_GOLDEN};
    code = tdc_argparse_require(program, arguments, ARG26_COUNT, required, 2);
    if (code == 0)
        code = tdc_argparse_choice(program, arguments, ARG26_COUNT, ARG26_MODE,
                                   "auto offline_data torchair offline_model atb");
    if (code == 0)
        code = tdc_argparse_choice(program, arguments, ARG26_COUNT, ARG26_BACKEND, "fsdp megatron");
    if (code != 0)
        return code;
    return check_raw_words(argc, argv, mode_of(&arguments[ARG26_MODE])) ? 0 : 1;
}
