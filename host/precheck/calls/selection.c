/* selection.c - which records of a dump are API calls to check. */
#include <string.h>

#include "host/precheck/calls/calls.h"

/* The Tensor methods that msprobe checks in MindSpore dumps, in its order. */
static const char *const tensor_methods[] = {
    "add_",
    "add",
    "addmm_",
    "all",
    "allclose",
    "any",
    "bool",
    "byte",
    "ceil",
    "clamp",
    "contiguous",
    "copy_",
    "cos",
    "clone",
    "cumprod",
    "expand_as",
    "flatten",
    "float",
    "half",
    "int",
    "is_contiguous",
    "isnan",
    "item",
    "log",
    "log2",
    "long",
    "masked_fill",
    "max",
    "mean",
    "min",
    "numel",
    "numpy",
    "repeat",
    "repeat_interleave",
    "reshape",
    "round",
    "select",
    "sin",
    "size",
    "split",
    "sqrt",
    "square",
    "sub",
    "swapaxes",
    "to",
    "t",
    "tolist",
    "topk",
    "transpose",
    "trunc",
    "type",
    "unsqueeze",
    "view",
    "view_as",
    "fill_",
    "floor_",
    "clamp_",
    "type_as",
    "zero_",
};

static bool is_one_of(const char *text, size_t length, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strlen(names[i]) == length && memcmp(names[i], text, length) == 0)
            return true;
    return false;
}

static bool mindspore_checkable(const char *prefix, size_t prefix_length, const char *name,
                                size_t name_length)
{
    static const char *const whole[] = {"Mint", "MintFunctional"};
    static const char *const tensor[] = {"Tensor"}, *const functional[] = {"Functional"};
    static const char *const attention[] = {"flash_attention_score"};
    if (is_one_of(prefix, prefix_length, whole, 2))
        return true;
    if (is_one_of(prefix, prefix_length, tensor, 1))
        return is_one_of(name, name_length, tensor_methods,
                         sizeof tensor_methods / sizeof *tensor_methods);
    return is_one_of(prefix, prefix_length, functional, 1) &&
           is_one_of(name, name_length, attention, 1);
}

bool tdc_key_checkable(enum tdc_recorder recorder, const char *key, size_t length)
{
    static const char *const torch_prefixes[] = {"Torch", "Functional", "Tensor", "VF", "NPU"};
    const char *end = key + length;
    const char *first = memchr(key, '.', length);
    const char *last = memrchr(key, '.', length);
    if (first == NULL || first == last)
        return false;
    const char *number = memrchr(key, '.', (size_t)(last - key));
    if (number == NULL || number == first || last + 1 > end)
        return false;
    size_t prefix_length = (size_t)(first - key);
    if (recorder != TDC_RECORDER_MINDSPORE)
        return is_one_of(key, prefix_length, torch_prefixes,
                         recorder == TDC_RECORDER_PYTORCH ? 5 : 3);
    return mindspore_checkable(key, prefix_length, first + 1, (size_t)(number - first - 1));
}

bool tdc_name_is_among(const char *name, const char *const *names)
{
    for (; *names != NULL; names++)
        if (strcmp(name, *names) == 0)
            return true;
    return false;
}
