#include "reference/tape.h"

#include <string.h>

#include "reference/arithmetic.h"
#include "reference/bounds.h"

static struct tdc_tape_node *new_node(tdc_evaluation *e, tdc_array *output)
{
    struct tdc_tape_node *node = tdc_take(e, 1, sizeof *node);
    memset(node, 0, sizeof *node);
    node->output = output;
    node->previous = e->newest;
    e->newest = node;
    output->made = node;
    return node;
}

void tdc_track_leaf(tdc_evaluation *e, tdc_array *leaf)
{
    new_node(e, leaf)->leaf = true;
}

void tdc_note(tdc_evaluation *e, tdc_array *output, tdc_pull *pull, const void *detail,
              size_t input_count, tdc_array *const *inputs)
{
    if (tdc_is_narrow(e) && tdc_dtype_is_floating(output->dtype))
        tdc_round_array(output, input_count == 1 && inputs[0]->number ? TDC_F32 : e->arithmetic);
    if (tdc_is_bounded(e) && !output->bounded && tdc_dtype_is_floating(output->dtype))
        tdc_bound_crudely(e, output, input_count, inputs);
    if (!e->recording || !tdc_dtype_is_floating(output->dtype))
        return;
    bool tracked = false;
    for (size_t i = 0; i < input_count; i++)
        tracked |= tdc_tracked(inputs[i]);
    if (!tracked)
        return;
    struct tdc_tape_node *node = new_node(e, output);
    node->pull = pull;
    node->detail = detail;
    node->input_count = input_count;
    node->inputs = tdc_take(e, (int64_t)input_count, sizeof *node->inputs);
    memcpy(node->inputs, inputs, input_count * sizeof *inputs);
}

/* Of two gradients about to be added: nothing is lost where one of them is zero. */
static void bound_sum(tdc_evaluation *e, tdc_array *sum, const tdc_array *gradient)
{
    const double *before = sum->error;
    double *errors = tdc_new_errors(e, sum);
    for (int64_t i = 0; i < sum->count; i++) {
        double a = sum->real[i], b = gradient->real[i];
        errors[i] = (before == NULL ? 0 : before[i]) + tdc_error_at(gradient, i);
        if (a != 0 && b != 0)
            errors[i] += tdc_own_error(e, TDC_BASIC, a + b);
    }
}

void tdc_collect(tdc_evaluation *e, const tdc_array *input, tdc_array *gradient)
{
    struct tdc_tape_node *node = input->made;
    if (node == NULL)
        return;
    if (tdc_is_narrow(e))
        gradient = tdc_rounded(e, gradient);
    if (tdc_is_bounded(e) && !gradient->bounded)
        tdc_bound_crudely(e, gradient, 0, NULL);
    if (node->gradient == NULL) {
        node->gradient = gradient;
        return;
    }
    tdc_array *sum = tdc_gradient_of(e, input);
    if (tdc_is_bounded(e))
        bound_sum(e, sum, gradient);
    TDC_SPREAD(sum->count, i, sum->count, { sum->real[i] += gradient->real[i]; });
    if (tdc_is_narrow(e))
        tdc_round_array(sum, e->arithmetic);
}

tdc_array *tdc_gradient_of(tdc_evaluation *e, const tdc_array *input)
{
    struct tdc_tape_node *node = input->made;
    if (node->owned)
        return node->gradient;
    tdc_array *own = tdc_new_like(e, TDC_F64, input);
    size_t bytes = (size_t)own->count * sizeof *own->real;
    if (node->gradient == NULL)
        memset(own->real, 0, bytes);
    else
        memcpy(own->real, node->gradient->real, bytes);
    if (node->gradient != NULL)
        own->error = node->gradient->error; /* never written, a sum gets its own */
    tdc_bound_exactly(own);
    node->gradient = own;
    node->owned = true;
    return own;
}

void tdc_pull_all(tdc_evaluation *e)
{
    e->recording = false;
    for (struct tdc_tape_node *node = e->newest; node != NULL; node = node->previous) {
        if (node->gradient == NULL)
            continue;
        /* what was added to in place is not rounded yet */
        if (tdc_is_narrow(e))
            node->gradient = tdc_rounded(e, node->gradient);
        if (node->pull != NULL)
            node->pull(e, node, node->gradient);
    }
}
