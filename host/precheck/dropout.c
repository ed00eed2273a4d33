/* dropout.c - an API whose output is drawn, but that recorders often replace by the identity. */
#include <math.h>
#include <string.h>

#include "host/precheck/check.h"

/* Fewer elements say nothing about a share. */
#define FEWEST_TO_JUDGE 100
#define SHARE_TOLERANCE 0.1
#define DEFAULT_SHARE   0.5

struct dropout {
    const struct tdc_reference_tensor *input; /* of the direction; NULL: none found */
    double share;                             /* of zeros to expect */
    bool identity;                            /* nothing is dropped */
};

static struct dropout describe(const struct tdc_call_check *check, enum tdc_direction direction)
{
    struct dropout dropout = {.share = DEFAULT_SHARE};
    const struct tdc_reference_value *input = tdc_call_argument(check, 0, "input");
    const struct tdc_reference_value *share = tdc_call_argument(check, 1, "p");
    const struct tdc_reference_value *training = tdc_call_argument(check, 2, "training");
    if (direction == TDC_BACKWARD)
        input = check->gradients.count != 0 ? &check->gradients.list[0] : NULL;
    if (input != NULL && tdc_value_is_floating(input))
        dropout.input = input->tensor;
    if (share != NULL && share->kind == TDC_VALUE_FLOAT)
        dropout.share = share->real;
    else if (share != NULL && share->kind == TDC_VALUE_INT)
        dropout.share = (double)share->whole;
    dropout.identity =
        dropout.share == 0 ||
        (training != NULL && training->kind == TDC_VALUE_BOOL && training->whole == 0);
    return dropout;
}

static bool equal(const struct tdc_reference_tensor *a, const struct tdc_reference_tensor *b)
{
    if (!tdc_shapes_agree(a, b))
        return false;
    for (int64_t i = 0; i < a->count; i++)
        if (a->real[i] != b->real[i] && !(isnan(a->real[i]) && isnan(b->real[i])))
            return false;
    return true;
}

static bool likely(const struct tdc_reference_tensor *tested, double share)
{
    int64_t zeros = 0;
    for (int64_t i = 0; i < tested->count; i++)
        zeros += tested->real[i] == 0;
    return tested->count < FEWEST_TO_JUDGE ||
           fabs((double)zeros / (double)tested->count - share) < SHARE_TOLERANCE;
}

/* The input itself is the reference. */
static bool compare_with_input(struct tdc_call_check *check, enum tdc_direction direction,
                               const struct tdc_reference_tensor *input,
                               const struct tdc_reference_value *tested, struct tdc_reason *reason)
{
    struct tdc_reference_tensor *wide = tdc_arena_zeroed(&check->checker->arena, 1, sizeof *wide);
    if (wide == NULL)
        return tdc_give_reason(reason, "out of memory");
    *wide = *input;
    wide->dtype = TDC_F64;
    struct tdc_reference_value reference = {.kind = TDC_VALUE_TENSOR, .tensor = wide};
    tdc_add_slot(check, direction, 0, &reference, tested);
    return true;
}

static bool judge(struct tdc_call_check *check, enum tdc_direction direction,
                  const struct dropout *dropout, struct tdc_reason *reason)
{
    struct tdc_values tested;
    if (!tdc_recorded_outputs(check, direction, &tested, reason) ||
        !tdc_take_slots(check, direction, 1, reason))
        return false;
    if (tested.count == 0 || !tdc_value_is_floating(&tested.list[0]))
        return true;
    if (dropout->input == NULL)
        return tdc_give_reason(reason, "random api, output is not reproducible");
    const struct tdc_reference_tensor *output = tested.list[0].tensor;
    if (dropout->identity || equal(dropout->input, output))
        return compare_with_input(check, direction, dropout->input, &tested.list[0], reason);
    tdc_add_slot(check, direction, 0, &tested.list[0], &tested.list[0]);
    struct tdc_slot_row *row = &check->directions[direction].rows[0];
    row->bench_dtype = "Float64";
    row->tested_dtype = tdc_value_type(&tested.list[0]);
    tdc_shape_text(output, row->shape);
    row->status = likely(output, dropout->share) ? TDC_CHECK_PASS : TDC_CHECK_ERROR;
    return true;
}

bool tdc_check_dropout(struct tdc_call_check *check, enum tdc_direction direction, bool *done,
                       struct tdc_reason *reason)
{
    if (strstr(check->name, "dropout") == NULL)
        return false;
    struct dropout dropout = describe(check, direction);
    if (dropout.identity && check->checker->executor != NULL)
        return false;
    /* msprobe draws a mask of its own and compares with that */
    if (check->checker->executor == NULL &&
        check->checker->options->profile == TDC_PROFILE_COMPAT &&
        check->checker->calls->recorder != TDC_RECORDER_PYTORCH)
        return false;
    bool drawn = check->checker->executor != NULL ||
                 (direction == TDC_BACKWARD && !dropout.identity &&
                  check->checker->calls->recorder == TDC_RECORDER_PYTORCH);
    *done = drawn ? tdc_give_reason(reason, "random api, output is not reproducible")
                  : judge(check, direction, &dropout, reason);
    return true;
}
