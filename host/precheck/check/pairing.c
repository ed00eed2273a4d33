/* pairing.c - which tested output faces which reference output. */
#include <stdio.h>
#include <string.h>

#include "host/precheck/check/backward.h"

static bool by_position(const struct tdc_call_check *check)
{
    return check->checker->options->profile == TDC_PROFILE_EXTENDED ||
           check->checker->calls->recorder == TDC_RECORDER_PYTORCH;
}

void tdc_drop_nulls(struct tdc_values *values)
{
    size_t kept = 0;
    for (size_t i = 0; i < values->count; i++)
        if (values->list[i].kind != TDC_VALUE_NULL)
            values->list[kept++] = values->list[i];
    values->count = kept;
}

static void drop_all_but_floating(struct tdc_values *values)
{
    size_t kept = 0;
    for (size_t i = 0; i < values->count; i++)
        if (tdc_value_is_floating(&values->list[i]))
            values->list[kept++] = values->list[i];
    values->count = kept;
}

static void warn_of_counts(struct tdc_call_check *check, enum tdc_direction direction,
                           size_t tested, size_t bench)
{
    if (tested != bench)
        tdc_text_addf(&check->log,
                      "ApiAccuracyChecker.run_and_compare_helper: api: %s.%s, number of bench "
                      "outputs and tested outputs is different, comparing result can be wrong. "
                      "tested outputs: %zu, bench outputs: %zu\n",
                      check->call->name, tdc_direction_name[direction], tested, bench);
}

bool tdc_pair_values(struct tdc_call_check *check, enum tdc_direction direction,
                     const struct tdc_values *bench, const struct tdc_values *tested,
                     struct tdc_reason *reason)
{
    size_t count = bench->count < tested->count ? bench->count : tested->count;
    if (!tdc_take_slots(check, direction, count, reason))
        return false;
    for (size_t i = 0; i < count; i++)
        if (bench->list[i].kind != TDC_VALUE_NULL && tested->list[i].kind != TDC_VALUE_NULL)
            tdc_add_slot(check, direction, i, &bench->list[i], &tested->list[i]);
    return true;
}

/* ---- forward --------------------------------------------------------------------------------- */

static bool executed(struct tdc_call_check *check, tdc_status status,
                     const struct tdc_reference_results *results, struct tdc_values *values,
                     struct tdc_reason *reason)
{
    *values = (struct tdc_values){results->values, results->count};
    return status == TDC_OK ||
           tdc_give_reason(reason, "%s: %s", check->checker->executor->name,
                           results->reason[0] != '\0' ? results->reason : tdc_status_text(status));
}

static bool tested_outputs(struct tdc_call_check *check, struct tdc_values *values,
                           struct tdc_reason *reason)
{
    struct tdc_checker *checker = check->checker;
    if (checker->executor == NULL)
        return tdc_recorded_outputs(check, TDC_FORWARD, values, reason);
    struct tdc_reference_call call = tdc_check_reference_call(check, TDC_FORWARD);
    struct tdc_reference_results *results = tdc_arena_zeroed(&checker->arena, 1, sizeof *results);
    if (results == NULL)
        return tdc_give_reason(reason, "out of memory");
    tdc_status status =
        checker->executor->forward(checker->executor->state, &call, &checker->arena, results);
    return executed(check, status, results, values, reason);
}

bool tdc_pair_forward(struct tdc_call_check *check, struct tdc_reason *reason)
{
    struct tdc_values tested;
    if (!tested_outputs(check, &tested, reason))
        return false;
    tdc_note_tested(check, TDC_FORWARD, &tested);
    if (!tdc_check_outputs(check, reason))
        return false;
    /* recorded as one list, computed as several outputs */
    if (by_position(check) && tested.count == 1 && tested.list[0].kind == TDC_VALUE_LIST &&
        check->outputs.count > 1)
        tested = (struct tdc_values){tested.list[0].list.values, tested.list[0].list.count};
    struct tdc_values bench = {check->outputs.values, check->outputs.count};
    if (strcmp(check->name, "npu_fusion_attention") == 0 && tested.count > 1)
        tested.count = 1;
    /* the list of outputs stays whole for the backward */
    bench.list = tdc_arena_zeroed(&check->checker->arena, bench.count + 1, sizeof *bench.list);
    if (bench.list == NULL)
        return tdc_give_reason(reason, "out of memory");
    if (bench.count != 0)
        memcpy(bench.list, check->outputs.values, bench.count * sizeof *bench.list);
    if (!by_position(check)) {
        tdc_drop_nulls(&bench);
        tdc_drop_nulls(&tested);
        warn_of_counts(check, TDC_FORWARD, tested.count, bench.count);
    }
    if (!tdc_forgive_ties(check, &bench, &tested, reason))
        return false;
    return tdc_pair_values(check, TDC_FORWARD, &bench, &tested, reason);
}

/* ---- backward -------------------------------------------------------------------------------- */

/* msprobe's leaves: floating tensors among the positional arguments, lists not searched. */
static size_t mark_positional_leaves(struct tdc_call_check *check)
{
    size_t leaves = 0;
    for (size_t i = 0; i < check->arguments.count; i++) {
        struct tdc_reference_value *value = &check->arguments.list[i];
        if (!tdc_value_is_floating(value))
            continue;
        value->tensor->wants_gradient = true;
        leaves++;
    }
    return leaves;
}

/* 1 for an output of one element, as autograd has it; NULL for any other. */
static struct tdc_reference_tensor *implied_gradient(struct tdc_call_check *check,
                                                     const struct tdc_reference_value *output)
{
    if (!tdc_value_is_floating(output) || output->tensor->count != 1)
        return NULL;
    struct tdc_reference_tensor *one = tdc_reference_tensor_new(
        &check->checker->arena, TDC_F64, output->tensor->rank, output->tensor->shape);
    if (one != NULL)
        one->real[0] = 1;
    return one;
}

static bool strict_gradients(struct tdc_call_check *check, struct tdc_gradient_work *work,
                             struct tdc_reason *reason)
{
    for (size_t i = 0; i < work->count; i++) {
        const struct tdc_reference_value *value = &check->gradients.list[i];
        if (value->kind == TDC_VALUE_NULL)
            work->gradients[i] = implied_gradient(check, &check->outputs.values[i]);
        else if (value->kind == TDC_VALUE_TENSOR)
            work->gradients[i] = value->tensor;
        else
            return tdc_give_reason(reason, "gradients can be either Tensors or None");
        if (work->gradients[i] == NULL)
            return tdc_give_reason(reason,
                                   "grad can be implicitly created only for scalar outputs");
        work->given++;
    }
    if (work->leaves == 0)
        return tdc_give_reason(reason,
                               "element 0 of tensors does not require grad and does not have a "
                               "grad_fn");
    return true;
}

static bool lenient_gradients(struct tdc_call_check *check, struct tdc_gradient_work *work,
                              struct tdc_reason *reason)
{
    for (size_t i = 0; i < work->count; i++) {
        const struct tdc_reference_value *output = &check->outputs.values[i];
        const struct tdc_reference_value *value = &check->gradients.list[i];
        if (!tdc_value_is_floating(output) || value->kind != TDC_VALUE_TENSOR)
            continue;
        if (!tdc_same_shape(output->tensor, value->tensor))
            return tdc_give_reason(reason, "gradient shape does not fit the output");
        work->gradients[i] = value->tensor;
        work->given++;
    }
    return true;
}

/* Gradients go in as float64, so that what only moves them gives float64 back. */
static bool widen(struct tdc_call_check *check, struct tdc_gradient_work *work,
                  struct tdc_reason *reason)
{
    if (tdc_reference_is_conversion(check->definition))
        return true;
    for (size_t i = 0; i < work->count; i++) {
        const struct tdc_reference_tensor *given = work->gradients[i];
        if (given == NULL)
            continue;
        struct tdc_reference_tensor *wide =
            tdc_arena_zeroed(&check->checker->arena, 1, sizeof *wide);
        if (wide == NULL)
            return tdc_give_reason(reason, "out of memory");
        *wide = *given;
        wide->dtype = TDC_F64;
        wide->real = (double *)tdc_as_doubles(&check->checker->arena, given);
        if (wide->real == NULL && given->count != 0)
            return tdc_give_reason(reason, "out of memory");
        work->gradients[i] = wide;
    }
    return true;
}

bool tdc_prepare_gradients(struct tdc_call_check *check, struct tdc_gradient_work *work,
                           struct tdc_reason *reason)
{
    if (!tdc_check_outputs(check, reason))
        return false;
    work->count = check->outputs.count < check->gradients.count ? check->outputs.count
                                                                : check->gradients.count;
    work->gradients = tdc_arena_zeroed(&check->checker->arena, work->count + 1, sizeof(void *));
    if (work->gradients == NULL)
        return tdc_give_reason(reason, "out of memory");
    return (by_position(check) ? lenient_gradients(check, work, reason)
                               : strict_gradients(check, work, reason)) &&
           widen(check, work, reason);
}

bool tdc_reference_gradients(struct tdc_call_check *check, const struct tdc_gradient_work *work,
                             struct tdc_values *values, struct tdc_reason *reason)
{
    struct tdc_reference_call call = tdc_check_reference_call(check, TDC_BACKWARD);
    struct tdc_reference_results results = {0};
    tdc_status status = tdc_reference_backward(&call, work->gradients, work->count,
                                               &check->checker->arena, &results);
    *values = (struct tdc_values){results.values, results.count};
    return status == TDC_OK ||
           tdc_give_reason(reason, "%s",
                           results.reason[0] != '\0' ? results.reason : tdc_status_text(status));
}

bool tdc_executed_gradients(struct tdc_call_check *check, const struct tdc_gradient_work *work,
                            struct tdc_values *values, struct tdc_reason *reason)
{
    struct tdc_checker *checker = check->checker;
    struct tdc_reference_call call = tdc_check_reference_call(check, TDC_BACKWARD);
    struct tdc_reference_results results = {0};
    tdc_status status = checker->executor->backward(
        checker->executor->state, &call, work->gradients, work->count, &checker->arena, &results);
    return executed(check, status, &results, values, reason);
}

/* Recorded gradient k belongs to positional argument k: keep those of the leaves. */
static void align_with_leaves(const struct tdc_call_check *check, struct tdc_values *tested)
{
    size_t kept = 0;
    for (size_t i = 0; i < check->arguments.count && i < tested->count; i++)
        if (tdc_value_is_floating(&check->arguments.list[i]))
            tested->list[kept++] = tested->list[i];
    tested->count = kept;
}

bool tdc_pair_backward(struct tdc_call_check *check, struct tdc_reason *reason)
{
    if (check->checker->calls->recorder == TDC_RECORDER_PYTORCH)
        return tdc_pair_autograd(check, reason);
    bool recorded = check->checker->executor == NULL;
    struct tdc_values bench, tested;
    struct tdc_gradient_work work = {.leaves = mark_positional_leaves(check)};
    if ((recorded && !tdc_recorded_outputs(check, TDC_BACKWARD, &tested, reason)) ||
        !tdc_prepare_gradients(check, &work, reason))
        return false;
    if (work.leaves == 0 || work.given == 0)
        return true;
    if (!recorded && !tdc_executed_gradients(check, &work, &tested, reason))
        return false;
    tdc_note_tested(check, TDC_BACKWARD, &tested);
    if (!tdc_reference_gradients(check, &work, &bench, reason))
        return false;
    if (!by_position(check)) {
        tdc_drop_nulls(&bench);
        drop_all_but_floating(&bench);
        drop_all_but_floating(&tested);
        warn_of_counts(check, TDC_BACKWARD, tested.count, bench.count);
    } else if (recorded) {
        align_with_leaves(check, &tested);
    }
    return tdc_pair_values(check, TDC_BACKWARD, &bench, &tested, reason);
}
