/* last_step.c - which autograd node an API of several nodes ends in. */
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "host/precheck/check/backward.h"

struct ending {
    struct tdc_call_check *check;
    const struct tdc_values *recorded;
    const struct tdc_reference_tensor *output; /* shape of the call's output */
    struct tdc_last_step *steps;
    size_t count;
};

static struct tdc_reference_value absent(void)
{
    return (struct tdc_reference_value){.kind = TDC_VALUE_NULL};
}

static struct tdc_reference_value number(double real)
{
    return (struct tdc_reference_value){.kind = TDC_VALUE_FLOAT, .real = real};
}

/* A tensor of which only the shape matters. */
static struct tdc_reference_value zeros(struct ending *ending,
                                        const struct tdc_reference_tensor *like)
{
    struct tdc_reference_tensor *made =
        tdc_reference_tensor_new(&ending->check->checker->arena, TDC_F64, like->rank, like->shape);
    if (made == NULL)
        return absent();
    if (made->count != 0)
        memset(made->real, 0, (size_t)made->count * sizeof *made->real);
    return (struct tdc_reference_value){.kind = TDC_VALUE_TENSOR, .tensor = made};
}

static struct tdc_reference_value sizes_of(struct ending *ending,
                                           const struct tdc_reference_tensor *tensor)
{
    struct tdc_reference_value sizes = {.kind = TDC_VALUE_LIST};
    sizes.list.values = tdc_arena_zeroed(&ending->check->checker->arena, tensor->rank + 1,
                                         sizeof *sizes.list.values);
    if (sizes.list.values == NULL)
        return absent();
    sizes.list.count = tensor->rank;
    for (unsigned d = 0; d < tensor->rank; d++)
        sizes.list.values[d] =
            (struct tdc_reference_value){.kind = TDC_VALUE_INT, .whole = tensor->shape[d]};
    return sizes;
}

/* A copy that can be marked without marking the call's own argument. */
static struct tdc_reference_value operand(struct ending *ending,
                                          const struct tdc_reference_tensor *tensor)
{
    struct tdc_reference_tensor *copy =
        tdc_arena_zeroed(&ending->check->checker->arena, 1, sizeof *copy);
    if (copy == NULL || tensor == NULL)
        return absent();
    *copy = *tensor;
    return (struct tdc_reference_value){.kind = TDC_VALUE_TENSOR, .tensor = copy};
}

static struct tdc_reference_value transposed(struct ending *ending,
                                             const struct tdc_reference_tensor *a)
{
    int64_t rows = a->shape[0], columns = a->shape[1];
    struct tdc_reference_tensor *t = tdc_reference_tensor_new(
        &ending->check->checker->arena, a->dtype, 2, (const int64_t[]){columns, rows});
    if (t == NULL)
        return absent();
    for (int64_t i = 0; i < a->count; i++)
        t->real[i % columns * rows + i / columns] = a->real[i];
    return (struct tdc_reference_value){.kind = TDC_VALUE_TENSOR, .tensor = t};
}

static void may_end_in(struct ending *ending, const char *api, size_t count, ...)
{
    if (ending->count == TDC_LAST_STEPS || count > TDC_STEP_ARGUMENTS)
        return;
    struct tdc_last_step *step = &ending->steps[ending->count++];
    *step = (struct tdc_last_step){.api = api, .count = count};
    va_list values;
    va_start(values, count);
    for (size_t i = 0; i < count; i++)
        step->arguments[i] = va_arg(values, struct tdc_reference_value);
    va_end(values);
}

/* The only gradient of the record; NULL when there are none or several. */
static const struct tdc_reference_tensor *only_gradient(const struct ending *ending)
{
    const struct tdc_reference_tensor *only = NULL;
    for (size_t i = 0; i < ending->recorded->count; i++) {
        const struct tdc_reference_value *value = &ending->recorded->list[i];
        if (value->kind == TDC_VALUE_NULL)
            continue;
        if (only != NULL || !tdc_value_is_floating(value))
            return NULL;
        only = value->tensor;
    }
    return only;
}

static const struct tdc_reference_tensor *tensor_argument(const struct ending *ending, size_t at,
                                                          const char *name)
{
    const struct tdc_reference_value *value = tdc_call_argument(ending->check, at, name);
    return value != NULL && value->kind == TDC_VALUE_TENSOR ? value->tensor : NULL;
}

/* ---- endings ----------------------------------------------------------------------------------
 */

static void ends_in_reshape(struct ending *ending)
{
    const struct tdc_reference_tensor *only = only_gradient(ending);
    if (only != NULL && only->count == ending->output->count)
        may_end_in(ending, "Tensor.reshape", 2, zeros(ending, only),
                   sizes_of(ending, ending->output));
}

/* A dimension of size one added or removed, no two dimensions exchanged: sure only while the sizes
 * differ from each other. */
static void ends_in_squeeze(struct ending *ending)
{
    const struct tdc_reference_tensor *only = only_gradient(ending), *output = ending->output;
    if (only == NULL || only->rank == output->rank)
        return;
    unsigned next = 0;
    for (unsigned d = 0; d < only->rank; d++) {
        if (only->shape[d] == 1)
            continue;
        while (next < output->rank && output->shape[next] == 1)
            next++;
        if (next == output->rank || output->shape[next++] != only->shape[d])
            return;
        for (unsigned other = d + 1; other < only->rank; other++)
            if (only->shape[other] == only->shape[d])
                return;
    }
    ends_in_reshape(ending);
}

static void end_of_linear(struct ending *ending)
{
    const struct tdc_reference_tensor *input = tensor_argument(ending, 0, "input");
    const struct tdc_reference_tensor *weight = tensor_argument(ending, 1, "weight");
    const struct tdc_reference_tensor *bias = tensor_argument(ending, 2, "bias");
    size_t count = ending->recorded->count;
    ends_in_reshape(ending);
    if (input == NULL || weight == NULL || weight->rank != 2)
        return;
    if (bias != NULL && count == 3 && input->rank == 2)
        may_end_in(ending, "Torch.addmm", 3, operand(ending, bias), operand(ending, input),
                   transposed(ending, weight));
    if (bias == NULL && count == 2 && input->rank == 2)
        may_end_in(ending, "Torch.mm", 2, operand(ending, input), transposed(ending, weight));
    if (bias != NULL && count == 2)
        may_end_in(ending, "Torch.add", 2, zeros(ending, ending->output), operand(ending, bias));
}

static const char *reduction_of(const struct ending *ending, size_t at)
{
    const struct tdc_reference_value *value = tdc_call_argument(ending->check, at, "reduction");
    return value != NULL && value->kind == TDC_VALUE_TEXT ? value->text : "mean";
}

/* A sum or mean over everything, of whatever shape. */
static void ends_in_reduction(struct ending *ending)
{
    const struct tdc_reference_tensor *only = only_gradient(ending);
    if (only == NULL || ending->output->count != 1)
        return;
    may_end_in(ending, "Torch.mean", 1, zeros(ending, only));
    may_end_in(ending, "Torch.sum", 1, zeros(ending, only));
}

static void ends_in_division(struct ending *ending, double by)
{
    const struct tdc_reference_tensor *only = only_gradient(ending);
    if (only != NULL && by != 0 && tdc_same_shape(only, ending->output))
        may_end_in(ending, "Torch.div", 2, zeros(ending, only), number(by));
}

/* log_softmax and then: the class's share (nll_loss), a sum of two losses (label smoothing), or the
 * sum over probabilities with its sign and divisor. */
static void end_of_cross_entropy(struct ending *ending)
{
    const struct tdc_reference_tensor *input = tensor_argument(ending, 0, "input");
    const struct tdc_reference_tensor *target = tensor_argument(ending, 1, "target");
    const struct tdc_reference_value *weight = tdc_call_argument(ending->check, 2, "weight");
    const struct tdc_reference_value *ignored = tdc_call_argument(ending->check, 4, "ignore_index");
    struct tdc_reference_value reduction = {.kind = TDC_VALUE_TEXT,
                                            .text = reduction_of(ending, 6)};
    const struct tdc_reference_tensor *only = only_gradient(ending);
    if (input == NULL || target == NULL)
        return;
    if (tdc_dtype_is_floating(target->dtype)) {
        int64_t classes = input->rank > 1    ? input->shape[1]
                          : input->rank == 1 ? input->shape[0]
                                             : 0;
        if (only != NULL && tdc_same_shape(only, ending->output))
            may_end_in(ending, "Torch.neg", 1, zeros(ending, only));
        int64_t per_class = classes != 0 ? input->count / classes : 0;
        if (classes != 0)
            ends_in_division(ending, (double)per_class);
        return;
    }
    if (only != NULL && only->count == input->count) {
        may_end_in(ending, "Functional.nll_loss", 7, zeros(ending, input), operand(ending, target),
                   weight != NULL ? *weight : absent(), absent(),
                   ignored != NULL
                       ? *ignored
                       : (struct tdc_reference_value){.kind = TDC_VALUE_INT, .whole = -100},
                   absent(), reduction);
        ending->steps[ending->count - 1].reshaped = true;
    }
    if (ending->recorded->count == 2)
        may_end_in(ending, "Torch.add", 2, zeros(ending, ending->output),
                   zeros(ending, ending->output));
    ends_in_reshape(ending);
}

/* The mean over the batch alone is a sum divided by its size. */
static void end_of_kl_div(struct ending *ending)
{
    const struct tdc_reference_tensor *input = tensor_argument(ending, 0, "input");
    ends_in_reduction(ending);
    if (input != NULL && input->rank != 0)
        ends_in_division(ending, (double)input->shape[0]);
}

/* A column times a row. */
static void end_of_outer(struct ending *ending)
{
    const struct tdc_reference_tensor *first = tensor_argument(ending, 0, "input");
    const struct tdc_reference_tensor *second = tensor_argument(ending, 1, "vec2");
    if (first == NULL || second == NULL || first->rank != 1)
        return;
    struct tdc_reference_value column = operand(ending, first);
    if (column.kind != TDC_VALUE_TENSOR)
        return;
    column.tensor->rank = 2;
    column.tensor->shape[1] = 1;
    may_end_in(ending, "Torch.mul", 2, column, operand(ending, second));
}

/* x / (1 + |x|), the divisor rounded as a tensor of the input's dtype is. */
static void end_of_softsign(struct ending *ending)
{
    const struct tdc_reference_tensor *input = tensor_argument(ending, 0, "input");
    if (input == NULL || !tdc_dtype_is_floating(input->dtype))
        return;
    struct tdc_reference_value divisor = zeros(ending, input);
    if (divisor.kind != TDC_VALUE_TENSOR)
        return;
    for (int64_t i = 0; i < input->count; i++)
        divisor.tensor->real[i] = tdc_reference_cast(1 + fabs(input->real[i]), input->dtype);
    may_end_in(ending, "Torch.div", 2, operand(ending, input), divisor);
}

/* x - tanh(x): the gradient of a difference does not depend on its operands. */
static void end_of_tanhshrink(struct ending *ending)
{
    may_end_in(ending, "Torch.sub", 2, zeros(ending, ending->output),
               zeros(ending, ending->output));
}

static const struct {
    const char *name;
    void (*describe)(struct ending *ending);
} endings[] = {
    {"linear", end_of_linear},
    {"cross_entropy", end_of_cross_entropy},
    {"kl_div", end_of_kl_div},
    {"outer", end_of_outer},
    {"softsign", end_of_softsign},
    {"tanhshrink", end_of_tanhshrink},
    {"einsum", ends_in_squeeze},
    {"matmul", ends_in_reshape},
    {"__matmul__", ends_in_reshape},
    {"__rmatmul__", ends_in_reshape},
    {"inner", ends_in_reshape},
    {"tensordot", ends_in_reshape},
    {"chain_matmul", ends_in_reshape},
    {"bilinear", ends_in_reshape},
    {"scaled_dot_product_attention", ends_in_reshape},
    {"multi_head_attention_forward", ends_in_reshape},
    {"instance_norm", ends_in_reshape},
    {"nll_loss", ends_in_reshape},
    {"avg_pool1d", ends_in_reshape},
    {"max_pool1d", ends_in_reshape},
    {"adaptive_avg_pool1d", ends_in_reshape},
    {"adaptive_avg_pool2d", ends_in_reshape},
    {"adaptive_avg_pool3d", ends_in_reshape},
    {"adaptive_max_pool1d", ends_in_reshape},
    {"l1_loss", ends_in_reduction},
    {"ctc_loss", ends_in_reduction},
    {"margin_ranking_loss", ends_in_reduction},
    {"hinge_embedding_loss", ends_in_reduction},
    {"cosine_embedding_loss", ends_in_reduction},
    {"triplet_margin_loss", ends_in_reduction},
    {"poisson_nll_loss", ends_in_reduction},
    {"gaussian_nll_loss", ends_in_reduction},
    {"multilabel_soft_margin_loss", ends_in_reduction},
};

size_t tdc_last_steps(struct tdc_call_check *check, const struct tdc_values *recorded,
                      struct tdc_last_step steps[TDC_LAST_STEPS])
{
    struct ending ending = {.check = check,
                            .recorded = recorded,
                            .output = check->gradients.list[0].tensor,
                            .steps = steps};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (strcmp(check->name, endings[i].name) == 0)
            endings[i].describe(&ending);
    return ending.count;
}
