/* torchair26.c - `tdcmp compare -m torchair -tp TARGET -gp GOLDEN`: dumps of GE and FX. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/cli/msprobe/msprobe_log.h"
#include "host/cli/msprobe26/compare26.h"
#include "io/storage/looking.h"

static void log_line(tdc_message_level level, const char *text)
{
    tdc_msprobe_log(NULL, level, text);
}

/* -1: not given. False after a message. */
static bool take_rank(const struct tdc_argument *argument, long *rank)
{
    *rank = -1;
    if (!argument->given)
        return true;
    size_t length = strlen(argument->value);
    if (length == 0 || length > 9 || strspn(argument->value, "0123456789") != length) {
        log_line(TDC_MESSAGE_ERROR,
                 "Argument --rank only supports a single integer when mode=='torchair'.");
        return false;
    }
    *rank = strtol(argument->value, NULL, 10);
    return true;
}

static void log_start(const char *target, const char *golden)
{
    char text[2 * PATH_MAX + 128];
    snprintf(text, sizeof text,
             "[compare_torchair] start comparing, golden_path: %.4096s, target_path: %.4096s",
             golden, target);
    log_line(TDC_MESSAGE_INFO, text);
}

int tdc_compare26_torchair(const struct tdc_argument arguments[ARG26_COUNT])
{
    const char *target = arguments[ARG26_TARGET].value, *golden = arguments[ARG26_GOLDEN].value;
    const char *output = arguments[ARG26_OUTPUT].value;
    struct tdc_options options;
    struct tdc_error error = {0};
    long rank;
    if (!take_rank(&arguments[ARG26_RANK], &rank))
        return 1;
    tdc_options_init(&options, sizeof options, TDC_RULES_COMPAT26);
    options.message = tdc_msprobe_log;
    tdc_status status;
    if (tdc_is_file(target) && tdc_is_file(golden)) {
        char line[2048] = "Compared results: ";
        size_t used = strlen(line);
        status = tdc_torchair_compare_files(target, golden, &options, line + used,
                                            sizeof line - used, &error);
        if (status == TDC_OK)
            log_line(TDC_MESSAGE_INFO, line);
    } else {
        char *target_real = tdc_real_path(target), *golden_real = tdc_real_path(golden);
        log_start(target_real != NULL ? target_real : target,
                  golden_real != NULL ? golden_real : golden);
        free(target_real);
        free(golden_real);
        status = tdc_torchair_compare(target, golden, output != NULL ? output : "./output",
                                      TDC_TORCHAIR_MSPROBE, rank, &options, &error);
    }
    if (status != TDC_OK)
        log_line(TDC_MESSAGE_ERROR, error.message);
    return status == TDC_OK ? 0 : 1;
}
