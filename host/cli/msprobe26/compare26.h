/* compare26.h - the words of `compare -tp TARGET -gp GOLDEN`. */
#ifndef TDC_CLI_COMPARE26_H
#define TDC_CLI_COMPARE26_H

#include "host/cli/msprobe/argparse.h"

enum tdc_compare26_argument {
    ARG26_MODE,
    ARG26_TARGET,
    ARG26_GOLDEN,
    ARG26_OUTPUT,
    ARG26_XLSX,
    ARG26_FUZZY,
    ARG26_CELL_MAPPING,
    ARG26_API_MAPPING,
    ARG26_DATA_MAPPING,
    ARG26_LAYER_MAPPING,
    ARG26_DIFF_ANALYZE,
    ARG26_TENSOR_LOG,
    ARG26_RANK,
    ARG26_STEP,
    ARG26_CONSISTENT_CHECK,
    ARG26_BACKEND,
    ARG26_CONFIG,
    ARG26_FUSION_RULE,
    ARG26_QUANT_FUSION_RULE,
    ARG26_CLOSE_FUSION_RULE,
    ARG26_INPUT_DATA,
    ARG26_INPUT_SHAPE,
    ARG26_OUTPUT_SIZE,
    ARG26_DYM_SHAPE_RANGE,
    ARG26_ONNX_FUSION,
    /* ours, absent from msprobe */
    ARG26_RULES,
    ARG26_FORMAT,
    ARG26_THREADS,
    ARG26_DEVICE,
    ARG26_NO_FALLBACK,
    ARG26_COUNT
};

/*
 * Takes the words after `compare` as argparse does, then checks each against the options of the
 * mode as msprobe does. Returns the exit code of a mistake, or 0; *helped when help was asked for.
 */
int tdc_compare26_words(int argc, char **argv, struct tdc_argument arguments[ARG26_COUNT],
                        bool *helped);

/* The modes but auto. */
int tdc_compare26_torchair(const struct tdc_argument arguments[ARG26_COUNT]);
int tdc_compare26_offline(const struct tdc_argument arguments[ARG26_COUNT]);
int tdc_compare26_atb(const struct tdc_argument arguments[ARG26_COUNT]);

#endif
