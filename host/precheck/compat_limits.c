/* compat_limits.c - where msprobe's own bench gives up although the API is well defined. */
#include <string.h>

#include "host/precheck/check.h"

bool tdc_is_in_place(const char *name)
{
    size_t length = strlen(name);
    return length > 1 && name[length - 1] == '_' && name[length - 2] != '_';
}

static bool is_one_of(const char *text, const char *const *names)
{
    for (; *names != NULL; names++)
        if (strcmp(text, *names) == 0)
            return true;
    return false;
}

const char *tdc_compat_refusal(const struct tdc_call_check *check, enum tdc_direction direction)
{
    /* no such function in torch's namespaces, or one with other arguments */
    static const char *const without_namesake[] = {
        "Mint.avg_pool2d",
        "Mint.fold",
        "Mint.gelu",
        "Mint.grid_sample",
        "Mint.interpolate",
        "Mint.leaky_relu",
        "Mint.linear",
        "Mint.one_hot",
        "Mint.pad",
        "Mint.silu",
        "Mint.softplus",
        "Mint.unfold",
        "Mint.item",
        "Mint.embedding",
        "Mint.batch_norm",
        "MintFunctional.bce_with_logits",
        "MintFunctional.dense",
        "MintFunctional.normal",
        "MintFunctional.one_hot_ext",
        NULL,
    };
    if (check->checker->options->profile != TDC_PROFILE_COMPAT)
        return NULL;
    if (is_one_of(check->api, without_namesake))
        return "[msprobe] Api Accuracy Checker something wrong with api: ";
    if (direction == TDC_BACKWARD && tdc_is_in_place(check->name) &&
        check->checker->calls->recorder != TDC_RECORDER_PYTORCH)
        return "a leaf Variable that requires grad is being used in an in-place operation.";
    return NULL;
}
