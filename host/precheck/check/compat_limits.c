/* compat_limits.c - where msprobe's own bench gives up although the API is well defined. */
#include <string.h>

#include "host/precheck/check/check.h"

bool tdc_is_in_place(const char *name)
{
    size_t length = strlen(name);
    return length > 1 && name[length - 1] == '_' && name[length - 2] != '_';
}

static bool argument_is(const struct tdc_call_check *check, size_t at, enum tdc_reference_kind kind)
{
    return at < check->arguments.count && check->arguments.list[at].kind == kind;
}

/* Arguments of mint that torch's function of the same name does not take. */
static const char *refused_arguments(const struct tdc_call_check *check,
                                     enum tdc_direction direction)
{
    const char *api = check->api;
    size_t count = check->arguments.count;
    if (strcmp(api, "Tensor.numpy") == 0)
        return "[msprobe] Api Accuracy Checker get unsupported type: ";
    if (strcmp(api, "Mint.dropout") == 0 && ((count < 2 && !tdc_has_keyword(check, "p")) ||
                                             (count < 3 && !tdc_has_keyword(check, "train"))))
        return "dropout() missing required positional arguments";
    if (strcmp(api, "Mint.eye") == 0 && argument_is(check, 1, TDC_VALUE_NULL))
        return "eye() received an invalid combination of arguments";
    if (strcmp(api, "Mint.binary_cross_entropy_with_logits") == 0 &&
        argument_is(check, 3, TDC_VALUE_TEXT))
        return "binary_cross_entropy_with_logits(): argument 'pos_weight' (position 4) must be "
               "Tensor, not str";
    if (direction == TDC_BACKWARD && strcmp(api, "MintFunctional.batch_norm") == 0 &&
        (argument_is(check, 1, TDC_VALUE_TENSOR) || argument_is(check, 2, TDC_VALUE_TENSOR)))
        return "The function 'native_batch_norm' is not differentiable with respect to argument "
               "'running_mean'. This input cannot have requires_grad True.";
    return NULL;
}

/*
 * torch's functional has two old parameters where mint has the reduction: a text there counts as
 * true and means the mean.
 */
void tdc_compat_arguments(struct tdc_call_check *check)
{
    if (check->checker->options->profile == TDC_PROFILE_COMPAT &&
        strcmp(check->api, "MintFunctional.binary_cross_entropy_with_logits") == 0 &&
        argument_is(check, 3, TDC_VALUE_TEXT))
        check->arguments.list[3].text = "mean";
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
    if (tdc_name_is_among(check->api, without_namesake))
        return "[msprobe] Api Accuracy Checker something wrong with api: ";
    const char *refusal = refused_arguments(check, direction);
    if (refusal != NULL)
        return refusal;
    if (direction == TDC_BACKWARD && tdc_is_in_place(check->name) &&
        check->checker->calls->recorder != TDC_RECORDER_PYTORCH)
        return "a leaf Variable that requires grad is being used in an in-place operation.";
    return NULL;
}
