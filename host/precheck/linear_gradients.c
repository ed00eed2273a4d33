/*
 * linear_gradients.c - what PyTorch's recorder keeps of a linear layer's backward.
 *
 * For a matrix as input the last autograd node is that of addmm (with a bias) or mm, whose inputs
 * are bias, input and the transposed weight. Other inputs pass through a reshape, of which only the
 * gradient was recorded.
 */
#include <string.h>

#include "host/precheck/check.h"

enum {
    INPUT,
    WEIGHT,
    BIAS,
    OPERANDS
};

static struct tdc_reference_tensor *operand(const struct tdc_call_check *check, size_t at)
{
    static const char *const names[OPERANDS] = {"input", "weight", "bias"};
    const struct tdc_reference_value *found =
        at < check->arguments.count ? &check->arguments.list[at] : NULL;
    for (size_t i = 0; found == NULL && i < check->keyword_count; i++)
        if (strcmp(check->keywords[i].name, names[at]) == 0)
            found = &check->keywords[i].value;
    return found != NULL && found->kind == TDC_VALUE_TENSOR ? found->tensor : NULL;
}

static struct tdc_reference_tensor *transposed(struct tdc_arena *arena,
                                               const struct tdc_reference_tensor *a)
{
    if (a->rank != 2)
        return NULL;
    int64_t rows = a->shape[0], columns = a->shape[1];
    struct tdc_reference_tensor *t =
        tdc_reference_tensor_new(arena, a->dtype, 2, (const int64_t[]){columns, rows});
    for (int64_t i = 0; t != NULL && i < a->count; i++)
        t->real[i % columns * rows + i / columns] = a->real[i];
    return t;
}

bool tdc_linear_gradients(struct tdc_call_check *check, struct tdc_values *recorded)
{
    if (check->checker->options->profile != TDC_PROFILE_EXTENDED ||
        strcmp(check->name, "linear") != 0)
        return false;
    struct tdc_reference_tensor *operands[OPERANDS];
    for (size_t i = 0; i < OPERANDS; i++)
        operands[i] = operand(check, i);
    bool bias = operands[BIAS] != NULL;
    if (operands[INPUT] == NULL || operands[WEIGHT] == NULL || operands[INPUT]->rank != 2 ||
        operands[WEIGHT]->rank != 2 || recorded->count != (bias ? 3 : 2))
        return false;
    const size_t places[OPERANDS] = {bias ? 1 : 0, bias ? 2 : 1, 0};
    struct tdc_reference_value found[OPERANDS];
    size_t count = 0;
    for (size_t i = 0; i < (bias ? OPERANDS : BIAS); i++) {
        struct tdc_reference_value value = recorded->list[places[i]];
        if (!operands[i]->wants_gradient)
            continue;
        if (!tdc_value_is_floating(&value))
            return false;
        if (i == WEIGHT)
            value.tensor = transposed(&check->checker->arena, value.tensor);
        if (value.tensor == NULL)
            return false;
        found[count++] = value;
    }
    memcpy(recorded->list, found, count * sizeof *found);
    recorded->count = count;
    return true;
}
