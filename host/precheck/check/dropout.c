/* dropout.c - an API whose output is drawn, but that recorders often replace by the identity. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "host/precheck/check/check.h"

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
    if (training == NULL)
        training = tdc_call_argument(check, 2, "train");
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
    if (!tdc_same_shape(a, b))
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

/* What was recorded, with a slot for it; none when it is not floating. */
static bool read_tested(struct tdc_call_check *check, enum tdc_direction direction,
                        struct tdc_values *tested, struct tdc_reason *reason)
{
    if (!tdc_recorded_outputs(check, direction, tested, reason) ||
        !tdc_take_slots(check, direction, 1, reason))
        return false;
    if (tested->count != 0 && !tdc_value_is_floating(&tested->list[0]))
        tested->count = 0;
    return true;
}

static bool judge(struct tdc_call_check *check, enum tdc_direction direction,
                  const struct dropout *dropout, struct tdc_reason *reason)
{
    struct tdc_values tested;
    if (!read_tested(check, direction, &tested, reason))
        return false;
    if (tested.count == 0)
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

/* ---- extended profile: the mask is what the outputs show ----------------------------------------
 */

/* Standard deviations by which the share of dropped draws may differ from p. */
#define DEVIATIONS 6.0

/* Whole channels are drawn by dropout1d, 2d and 3d. */
static int64_t draws_of(const struct tdc_call_check *check,
                        const struct tdc_reference_tensor *input)
{
    size_t length = strlen(check->name);
    bool channels =
        strstr(check->name, "feature") != NULL || (length > 2 && check->name[length - 1] == 'd' &&
                                                   strchr("123", check->name[length - 2]) != NULL);
    if (!channels || input->rank < 2)
        return input->count;
    return input->shape[0] * (input->rank > 2 ? input->shape[1] : 1);
}

/* The factor of kept elements: 1 / (1 - p), or that rounded, where the mask is a tensor of the
 * dtype. Which of them it was the kept elements show. */
static double factor_of(const struct dropout *dropout, const struct tdc_reference_tensor *input,
                        const struct tdc_reference_tensor *output)
{
    double exact = dropout->share < 1 ? 1 / (1 - dropout->share) : 0;
    double rounded = tdc_reference_cast(exact, output->dtype);
    double nearer = 0; /* positive: the rounded one is */
    for (int64_t i = 0; i < input->count; i++) {
        double x = input->real[i], y = output->real[i];
        if (y != 0 && isfinite(x) && isfinite(y))
            nearer += fabs(y - tdc_reference_cast(x * exact, output->dtype)) -
                      fabs(y - tdc_reference_cast(x * rounded, output->dtype));
    }
    return nearer > 0 ? rounded : exact;
}

static struct tdc_slot_row *add_reference(struct tdc_call_check *check,
                                          enum tdc_direction direction,
                                          struct tdc_reference_tensor *bench,
                                          const struct tdc_reference_value *tested)
{
    struct tdc_reference_value reference = {.kind = TDC_VALUE_TENSOR, .tensor = bench};
    /* the product of a kept element may be made in more than one rounding */
    bench->error =
        tdc_arena_zeroed(&check->checker->arena, (size_t)bench->count, sizeof *bench->error);
    for (int64_t i = 0; bench->error != NULL && i < bench->count; i++)
        bench->error[i] = fabs(bench->real[i]);
    tdc_add_slot(check, direction, 0, &reference, tested);
    return &check->directions[direction].rows[0];
}

/* Of a whole row that was dropped by chance, in any of the rows; what is rarer was zeroed. */
#define CHANCE 1e-9

static bool has_zeroed_row(const struct dropout *dropout, const struct tdc_reference_tensor *output)
{
    const struct tdc_reference_tensor *input = dropout->input;
    int64_t width = input->rank > 0 ? input->shape[input->rank - 1] : 1;
    int64_t rows = width > 0 ? input->count / width : 0;
    for (int64_t r = 0; r < rows; r++) {
        int64_t told = 0, kept = 0;
        for (int64_t i = r * width; i < (r + 1) * width; i++) {
            told += input->real[i] != 0;
            kept += output->real[i] != 0;
        }
        if (kept == 0 && (double)rows * pow(dropout->share, (double)told) < CHANCE)
            return true;
    }
    return false;
}

/* A zero whose input is not zero was dropped, everything else was kept. */
static bool judge_forward(struct tdc_call_check *check, const struct dropout *dropout,
                          const struct tdc_reference_value *tested, struct tdc_reason *reason)
{
    const struct tdc_reference_tensor *input = dropout->input, *output = tested->tensor;
    struct tdc_reference_tensor *bench =
        tdc_reference_tensor_new(&check->checker->arena, TDC_F64, input->rank, input->shape);
    if (bench == NULL)
        return tdc_give_reason(reason, "out of memory");
    double factor = factor_of(dropout, input, output);
    int64_t dropped = 0, told = 0;
    for (int64_t i = 0; i < input->count; i++) {
        double x = input->real[i], y = output->real[i];
        bool drop = x != 0 && (y == 0 || (!isfinite(x) && isnan(y)));
        bench->real[i] = drop ? x * 0 : x * factor;
        dropped += drop;
        told += x != 0;
    }
    struct tdc_slot_row *row = add_reference(check, TDC_FORWARD, bench, tested);
    double draws = (double)draws_of(check, input) * (double)told / (double)(input->count + !told);
    double share = told != 0 ? (double)dropped / (double)told : dropout->share;
    double spread = sqrt(dropout->share * (1 - dropout->share) / (draws > 1 ? draws : 1));
    bool zeroed = draws_of(check, input) == input->count && has_zeroed_row(dropout, output);
    if (fabs(share - dropout->share) <= DEVIATIONS * spread && !zeroed)
        return true;
    row->bench_dtype = "Float64";
    row->tested_dtype = tdc_value_type(tested);
    tdc_shape_text(output, row->shape);
    row->status = TDC_CHECK_ERROR;
    if (zeroed)
        snprintf(row->message, sizeof row->message, "a whole row is dropped, p is %.4g ",
                 dropout->share);
    else
        snprintf(row->message, sizeof row->message, "share of dropped elements is %.4g, p is %.4g ",
                 share, dropout->share);
    return true;
}

static bool is_zero(const struct tdc_reference_tensor *tensor)
{
    for (int64_t i = 0; i < tensor->count; i++)
        if (tensor->real[i] != 0)
            return false;
    return true;
}

/* Kept elements pass their gradient on, times the factor. Where the input was zero the output does
 * not tell: either is right. */
static bool judge_backward(struct tdc_call_check *check, const struct dropout *dropout,
                           const struct tdc_reference_value *tested, struct tdc_reason *reason)
{
    struct tdc_values outputs;
    const struct tdc_reference_value *gradient =
        check->gradients.count != 0 ? &check->gradients.list[0] : NULL;
    if (!tdc_recorded_outputs(check, TDC_FORWARD, &outputs, reason))
        return false;
    if (gradient == NULL || !tdc_value_is_floating(gradient) || outputs.count == 0 ||
        !tdc_value_is_floating(&outputs.list[0]) ||
        !tdc_same_shape(outputs.list[0].tensor, dropout->input) ||
        !tdc_same_shape(gradient->tensor, dropout->input) ||
        !tdc_same_shape(tested->tensor, dropout->input))
        return tdc_give_reason(reason, "recorded gradients do not belong to the api inputs");
    const struct tdc_reference_tensor *input = dropout->input, *output = outputs.list[0].tensor;
    struct tdc_reference_tensor *bench =
        tdc_reference_tensor_new(&check->checker->arena, TDC_F64, input->rank, input->shape);
    if (bench == NULL)
        return tdc_give_reason(reason, "out of memory");
    /* an input of zeros says nothing of the factor */
    double factor = is_zero(input)         ? factor_of(dropout, gradient->tensor, tested->tensor)
                    : equal(input, output) ? 1
                                           : factor_of(dropout, input, output);
    for (int64_t i = 0; i < input->count; i++) {
        double kept = gradient->tensor->real[i] * factor, found = tested->tensor->real[i];
        bool told = input->real[i] != 0 && isfinite(input->real[i]);
        bool drop = told ? output->real[i] == 0 : fabs(found) < fabs(found - kept);
        bench->real[i] = drop ? 0 : kept;
    }
    add_reference(check, TDC_BACKWARD, bench, tested);
    return true;
}

static bool judge_by_mask(struct tdc_call_check *check, enum tdc_direction direction,
                          const struct dropout *dropout, struct tdc_reason *reason)
{
    struct tdc_values tested;
    if (!read_tested(check, direction, &tested, reason))
        return false;
    if (tested.count == 0)
        return true;
    if (dropout->input == NULL || strstr(check->name, "alpha") != NULL)
        return tdc_give_reason(reason, "random api, output is not reproducible");
    if (direction == TDC_BACKWARD)
        return judge_backward(check, dropout, &tested.list[0], reason);
    if (!tdc_same_shape(dropout->input, tested.list[0].tensor) ||
        equal(dropout->input, tested.list[0].tensor))
        return compare_with_input(check, direction, dropout->input, &tested.list[0], reason);
    return judge_forward(check, dropout, &tested.list[0], reason);
}

bool tdc_check_dropout(struct tdc_call_check *check, enum tdc_direction direction, bool *done,
                       struct tdc_reason *reason)
{
    if (strstr(check->name, "dropout") == NULL)
        return false;
    bool compat = check->checker->options->profile == TDC_PROFILE_COMPAT;
    bool executed = check->checker->executor != NULL;
    bool pytorch = check->checker->calls->recorder == TDC_RECORDER_PYTORCH;
    struct dropout dropout = describe(check, direction);
    if (dropout.identity && executed)
        return false;
    /* msprobe draws a mask of its own and compares with that */
    if (!executed && compat && !pytorch)
        return false;
    if (executed || (compat && direction == TDC_BACKWARD && !dropout.identity))
        *done = tdc_give_reason(reason, "random api, output is not reproducible");
    else if (compat)
        *done = judge(check, direction, &dropout, reason);
    else if (dropout.identity && direction == TDC_BACKWARD && pytorch)
        *done = tdc_give_reason(reason, TDC_RETURNS_INPUT);
    else if (dropout.identity)
        *done = judge(check, direction, &dropout, reason);
    else {
        dropout = describe(check, TDC_FORWARD);
        *done = judge_by_mask(check, direction, &dropout, reason);
    }
    return true;
}
