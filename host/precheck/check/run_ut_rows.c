/*
 * run_ut_rows.c - a call of a PyTorch dump as msprobe's own PyTorch run_ut treats it.
 *
 * That program executes the API one precision up, back-propagates into output 0 alone and lists a
 * gradient for every tensor argument, None included. Whatever raises skips the whole call. Here the
 * device side is what was recorded.
 */
#include "host/precheck/check/run_ut_rows.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const never_run[] = {"to",
                                        "empty",
                                        "empty_like",
                                        "empty_strided",
                                        "new_empty",
                                        "new_empty_strided",
                                        "empty_with_format",
                                        NULL};

static const char *const bench_functions[] = {"npu_apply_adam",
                                              "npu_apply_adam_w",
                                              "npu_confusion_transpose",
                                              "npu_fast_gelu",
                                              "npu_layer_norm_eval",
                                              "npu_linear",
                                              "npu_fusion_attention",
                                              "npu_rms_norm",
                                              "npu_rotary_mul",
                                              "npu_scaled_masked_softmax",
                                              "npu_swiglu",
                                              "npu_group_norm_silu",
                                              "npu_mish",
                                              "npu_moe_gating_top_k_softmax",
                                              "npu_sort_v2",
                                              NULL};

static const char *const no_backward[] = {"repeat_interleave", "masked_select", NULL};
static const char *const first_output_only[] = {"topk", "npu_fusion_attention", NULL};
static const char *const always_tuple[] = {"chunk",        "split",  "split_with_sizes",
                                           "tensor_split", "unbind", "hsplit",
                                           "vsplit",       "dsplit", NULL};
static const char *const in_hf32[] = {"conv1d", "conv2d", NULL};

bool tdc_is_run_ut(const struct tdc_checker *checker)
{
    return checker->options->standard == TDC_STANDARD_PYTORCH &&
           checker->options->profile == TDC_PROFILE_COMPAT &&
           checker->calls->recorder == TDC_RECORDER_PYTORCH && checker->executor == NULL;
}

/* ---- one precision up ------------------------------------------------------------------------ */

/* Floating dtypes of the inputs, as bits 1 << dtype; each tensor is visited by `change` too. */
static unsigned long visit(struct tdc_reference_value *value, int depth,
                           void (*change)(struct tdc_reference_tensor *, tdc_dtype), tdc_dtype to)
{
    if (value->kind == TDC_VALUE_LIST && depth < TDC_REFERENCE_DEPTH) {
        unsigned long dtypes = 0;
        for (size_t i = 0; i < value->list.count; i++)
            dtypes |= visit(&value->list.values[i], depth + 1, change, to);
        return dtypes;
    }
    if (!tdc_value_is_floating(value))
        return 0;
    unsigned long bit = 1ul << value->tensor->dtype;
    if (change != NULL)
        change(value->tensor, to);
    return bit;
}

static unsigned long visit_inputs(struct tdc_call_check *check,
                                  void (*change)(struct tdc_reference_tensor *, tdc_dtype),
                                  tdc_dtype to)
{
    unsigned long dtypes = 0;
    for (size_t i = 0; i < check->arguments.count; i++)
        dtypes |= visit(&check->arguments.list[i], 0, change, to);
    for (size_t i = 0; i < check->keyword_count; i++)
        dtypes |= visit(&check->keywords[i].value, 0, change, to);
    return dtypes;
}

static void relabel(struct tdc_reference_tensor *tensor, tdc_dtype to)
{
    if (tensor->dtype != TDC_F64)
        tensor->dtype = to;
}

/* Half of a float32's significand, as the NPU's convolutions read it. */
static void to_hf32(struct tdc_reference_tensor *tensor, tdc_dtype to)
{
    (void)to;
    for (int64_t i = 0; tensor->dtype == TDC_F32 && i < tensor->count; i++) {
        float value = (float)tensor->real[i];
        int32_t bits;
        memcpy(&bits, &value, sizeof bits);
        bits = (int32_t)((uint32_t)(((bits >> 11) + 1) >> 1) << 12);
        memcpy(&value, &bits, sizeof bits);
        tensor->real[i] = value;
    }
}

/* The dtype floating results of the bench have. Conversions get their inputs in it as well. */
static tdc_dtype raise_inputs(struct tdc_call_check *check)
{
    const unsigned long half = 1ul << TDC_F16, brain = 1ul << TDC_BF16, single = 1ul << TDC_F32;
    if (tdc_name_is_among(check->name, in_hf32))
        visit_inputs(check, to_hf32, TDC_F32);
    unsigned long dtypes = visit_inputs(check, NULL, TDC_F64);
    unsigned long raised = dtypes & (half | brain | single);
    tdc_dtype bench = raised == 0        ? ((dtypes >> TDC_F64 & 1) != 0 ? TDC_F64 : TDC_F32)
                      : raised != single ? TDC_F32
                                         : TDC_F64;
    if (raised == single && tdc_name_is_among(check->name, in_hf32))
        bench = TDC_F32;
    if (strcmp(check->name, "type_as") != 0)
        visit_inputs(check, relabel, bench);
    return bench;
}

/* The reference as the bench would have it: in the bench's dtype. */
static bool as_bench(struct tdc_call_check *check, struct tdc_reference_value *value,
                     tdc_dtype bench, struct tdc_reason *reason)
{
    if (value->kind == TDC_VALUE_TENSOR && value->tensor->dtype == TDC_I32 && bench == TDC_I64)
        value->tensor->dtype = TDC_I64;
    if (!tdc_value_is_floating(value) || value->tensor->dtype != TDC_F64 || bench == TDC_F64 ||
        tdc_reference_is_conversion(check->definition))
        return true;
    const struct tdc_reference_tensor *wide = value->tensor;
    struct tdc_reference_tensor *copy =
        tdc_reference_tensor_new(&check->checker->arena, bench, wide->rank, wide->shape);
    if (copy == NULL)
        return tdc_give_reason(reason, "the call needs more memory than a call may take");
    for (int64_t i = 0; i < wide->count; i++)
        copy->real[i] = tdc_reference_cast(wide->real[i], bench);
    value->tensor = copy;
    return true;
}

/* ---- bench functions that are not the operator ----------------------------------------------- */

/* msprobe's own layer_norm_eval looks at nothing but data and shape, its rms_norm has another
 * default. */
static void change_arguments(struct tdc_call_check *check)
{
    if (strcmp(check->name, "npu_layer_norm_eval") == 0) {
        check->arguments.count = check->arguments.count < 2 ? check->arguments.count : 2;
        check->keyword_count = 0;
    }
    if (strcmp(check->name, "npu_rms_norm") == 0 && check->arguments.count < 3 &&
        !tdc_has_keyword(check, "epsilon")) {
        /* the list has room for one more than was read */
        check->keywords[check->keyword_count++] =
            (struct tdc_reference_keyword){"epsilon", {.kind = TDC_VALUE_FLOAT, .real = 1e-5}};
    }
}

/* They also give the standard deviation in float32 and the indices in int64. */
static tdc_dtype output_dtype(const struct tdc_call_check *check, size_t slot, tdc_dtype otherwise)
{
    if (strcmp(check->name, "npu_rms_norm") == 0 && slot == 1)
        return TDC_F32;
    if (strcmp(check->name, "npu_moe_gating_top_k_softmax") == 0 && slot > 0)
        return TDC_I64;
    return otherwise;
}

/* ---- judging --------------------------------------------------------------------------------- */

/* Slots by msprobe's rules; what comes last decides, as it does there. */
static bool judge(struct tdc_call_check *check, enum tdc_direction direction, tdc_dtype bench,
                  struct tdc_reason *reason)
{
    struct tdc_checker *checker = check->checker;
    struct tdc_direction_check *checked = &check->directions[direction];
    struct tdc_precheck_options lenient = *checker->options;
    lenient.profile = TDC_PROFILE_EXTENDED;
    checked->standard =
        tdc_arena_zeroed(&checker->arena, checked->count + 1, sizeof *checked->standard);
    if (checked->standard == NULL)
        return tdc_give_reason(reason, "the call needs more memory than a call may take");
    if (checked->count != 0)
        checked->status = TDC_CHECK_PASS;
    for (size_t i = 0; i < checked->count; i++) {
        struct tdc_slot *slot = &checked->slots[i];
        struct tdc_slot_row *row = &checked->rows[i];
        struct tdc_standard_row *standard = &checked->standard[i];
        tdc_dtype dtype =
            direction == TDC_FORWARD ? output_dtype(check, slot->number, bench) : bench;
        if (!as_bench(check, &slot->reference, dtype, reason) ||
            !tdc_judge_slot(&lenient, &checker->arena, slot, row, reason))
            return false;
        if (!tdc_judge_by_standard(&checker->arena, check->name,
                                   (checker->options->flags & TDC_PRECHECK_STANDARDS26) != 0, slot,
                                   standard))
            return tdc_give_reason(reason, "the call needs more memory than a call may take");
        row->status = standard->status;
        snprintf(row->message, sizeof row->message, "%s",
                 standard->status == TDC_CHECK_PASS ? "" : standard->message);
        if (standard->status == TDC_CHECK_ERROR || standard->status == TDC_CHECK_WARNING)
            checked->status = standard->status;
    }
    return true;
}

/* dropout has a verdict and no rows. */
static void judge_zeros(struct tdc_direction_check *checked,
                        const struct tdc_reference_tensor *bench,
                        const struct tdc_reference_tensor *device)
{
    int64_t zeros = 0;
    for (int64_t i = 0; i < bench->count; i++)
        zeros += bench->real[i] == 0;
    for (int64_t i = 0; i < device->count; i++)
        zeros -= device->real[i] == 0;
    bool near = bench->count < 100 || fabs((double)zeros) / (double)bench->count < 0.1;
    checked->status = near ? TDC_CHECK_PASS : TDC_CHECK_ERROR;
    checked->count = 0;
}

static bool is_dropout(const struct tdc_call_check *check)
{
    return strstr(check->call->name, "dropout") != NULL;
}

/* ---- forward --------------------------------------------------------------------------------- */

static bool check_forward(struct tdc_call_check *check, tdc_dtype bench, struct tdc_reason *reason)
{
    struct tdc_values tested;
    if (!tdc_recorded_outputs(check, TDC_FORWARD, &tested, reason) ||
        !tdc_check_outputs(check, reason))
        return false;
    if (tested.count == 1 && tested.list[0].kind == TDC_VALUE_LIST && check->outputs.count > 1)
        tested = (struct tdc_values){tested.list[0].list.values, tested.list[0].list.count};
    size_t count = check->outputs.count;
    if (strcmp(check->name, "npu_fusion_attention") == 0 && count > 1)
        count = 1;
    if (tested.count < count)
        return tdc_give_reason(reason, "list index out of range");
    if (!tdc_take_slots(check, TDC_FORWARD, count, reason))
        return false;
    if (is_dropout(check) && count == 1 && tdc_value_is_floating(&check->outputs.values[0]) &&
        tdc_value_is_floating(&tested.list[0])) {
        judge_zeros(&check->directions[TDC_FORWARD], check->outputs.values[0].tensor,
                    tested.list[0].tensor);
        return true;
    }
    for (size_t i = 0; i < count; i++)
        tdc_add_slot(check, TDC_FORWARD, i, &check->outputs.values[i], &tested.list[i]);
    return judge(check, TDC_FORWARD, bench, reason);
}

/* ---- backward -------------------------------------------------------------------------------- */

static bool back_propagates(const struct tdc_call_check *check)
{
    return check->records[TDC_BACKWARD] != NULL && !tdc_has_keyword(check, "out") &&
           !tdc_name_is_among(check->name, no_backward) && !tdc_is_composite(check->name);
}

/* The gradient of output 0; msprobe leaves it out for a single element alone. */
static bool gradient_of_output(struct tdc_call_check *check, struct tdc_reference_tensor **gradient,
                               struct tdc_reason *reason)
{
    const struct tdc_reference_value *output = &check->outputs.values[0];
    if (!tdc_value_is_floating(output))
        return tdc_give_reason(reason, "element 0 of tensors does not require grad and does not "
                                       "have a grad_fn");
    if (check->gradients.count == 0 || check->gradients.list[0].kind == TDC_VALUE_NULL) {
        *gradient = tdc_reference_tensor_new(&check->checker->arena, TDC_F64, output->tensor->rank,
                                             output->tensor->shape);
        if (output->tensor->count != 1)
            return tdc_give_reason(reason,
                                   "grad can be implicitly created only for scalar outputs");
        if (*gradient == NULL)
            return tdc_give_reason(reason, "out of memory");
        (*gradient)->real[0] = 1;
        return true;
    }
    if (!tdc_value_is_floating(&check->gradients.list[0]))
        return tdc_give_reason(reason, "gradients can be either Tensors or None");
    *gradient = check->gradients.list[0].tensor;
    if (tdc_name_is_among(check->name, in_hf32))
        to_hf32(*gradient, TDC_F32);
    if (!tdc_reference_is_conversion(check->definition))
        (*gradient)->dtype = TDC_F64;
    return true;
}

/* Gradients come for the leaves alone; msprobe lists one for each positional tensor. */
struct listing {
    const struct tdc_values *gradients;
    const struct tdc_values *recorded;
    size_t next_gradient, next_recorded;
    bool fits;
};

static void list_tensors(struct tdc_call_check *check, const struct tdc_reference_value *value,
                         int depth, struct listing *listing)
{
    static const struct tdc_reference_value none = {.kind = TDC_VALUE_NULL};
    if (value->kind == TDC_VALUE_LIST && depth < TDC_REFERENCE_DEPTH)
        for (size_t i = 0; i < value->list.count; i++)
            list_tensors(check, &value->list.values[i], depth + 1, listing);
    if (value->kind != TDC_VALUE_TENSOR)
        return;
    const struct tdc_reference_value *gradient = &none, *recorded = &none;
    if (value->tensor->wants_gradient && listing->next_gradient < listing->gradients->count)
        gradient = &listing->gradients->list[listing->next_gradient++];
    if (gradient->kind == TDC_VALUE_TENSOR) {
        if (listing->next_recorded < listing->recorded->count)
            recorded = &listing->recorded->list[listing->next_recorded++];
        listing->fits &= recorded->kind == TDC_VALUE_TENSOR &&
                         tdc_same_shape(gradient->tensor, recorded->tensor);
    }
    tdc_add_slot(check, TDC_BACKWARD, check->directions[TDC_BACKWARD].count, gradient, recorded);
}

static size_t tensors_in(const struct tdc_reference_value *value, int depth)
{
    size_t count = value->kind == TDC_VALUE_TENSOR;
    if (value->kind == TDC_VALUE_LIST && depth < TDC_REFERENCE_DEPTH)
        for (size_t i = 0; i < value->list.count; i++)
            count += tensors_in(&value->list.values[i], depth + 1);
    return count;
}

/* Leaves no slot when the recorded gradients are not those of the API's inputs. */
static bool pair_gradients(struct tdc_call_check *check, const struct tdc_values *gradients,
                           struct tdc_reason *reason)
{
    struct tdc_values recorded;
    size_t count = 0, kept = 0;
    if (!tdc_recorded_outputs(check, TDC_BACKWARD, &recorded, reason))
        return false;
    for (size_t i = 0; i < recorded.count; i++)
        if (recorded.list[i].kind != TDC_VALUE_NULL)
            recorded.list[kept++] = recorded.list[i];
    recorded.count = kept;
    for (size_t i = 0; i < check->arguments.count; i++)
        count += tensors_in(&check->arguments.list[i], 0);
    if (!tdc_take_slots(check, TDC_BACKWARD, count, reason))
        return false;
    struct listing listing = {.gradients = gradients, .recorded = &recorded, .fits = true};
    for (size_t i = 0; i < check->arguments.count; i++)
        list_tensors(check, &check->arguments.list[i], 0, &listing);
    if (!listing.fits || listing.next_recorded != recorded.count)
        check->directions[TDC_BACKWARD].count = 0;
    return true;
}

static bool check_backward(struct tdc_call_check *check, tdc_dtype bench, struct tdc_reason *reason)
{
    struct tdc_direction_check *checked = &check->directions[TDC_BACKWARD];
    bool tuple = check->outputs.count > 1 || tdc_name_is_among(check->name, always_tuple);
    if (tuple && !tdc_name_is_among(check->name, first_output_only)) {
        checked->status = TDC_CHECK_SKIP;
        tdc_give_reason(&checked->reason, "Multiple backward is not supported.");
        return true;
    }
    struct tdc_reference_tensor *gradient;
    if (!tdc_check_gradients(check, reason) || !gradient_of_output(check, &gradient, reason))
        return false;
    struct tdc_reference_call call = tdc_check_reference_call(check, TDC_FORWARD);
    struct tdc_reference_results results = {0};
    tdc_status status =
        tdc_reference_backward(&call, &gradient, 1, &check->checker->arena, &results);
    if (status != TDC_OK)
        return tdc_give_reason(
            reason, "%s", results.reason[0] != '\0' ? results.reason : tdc_status_text(status));
    struct tdc_values gradients = {results.values, results.count};
    if (!pair_gradients(check, &gradients, reason))
        return false;
    if (is_dropout(check) && checked->count != 0 &&
        checked->slots[0].reference.kind == TDC_VALUE_TENSOR) {
        judge_zeros(checked, checked->slots[0].reference.tensor, checked->slots[0].tested.tensor);
        return true;
    }
    return judge(check, TDC_BACKWARD, bench, reason);
}

/* ---- the call -------------------------------------------------------------------------------- */

/* Both directions, with one row that says why. */
static void skip_call(struct tdc_call_check *check, const struct tdc_reason *reason)
{
    for (int d = 0; d < TDC_DIRECTIONS; d++) {
        check->directions[d].status = TDC_CHECK_SKIP;
        check->directions[d].count = 0;
        check->directions[d].reason.text[0] = '\0';
    }
    check->directions[TDC_FORWARD].reason = *reason;
    tdc_text_addf(&check->log,
                  "Exception occurs when running and comparing %s forward api. Detailed exception "
                  "information: %s.\n",
                  check->call->name, reason->text);
}

void tdc_check_like_run_ut(struct tdc_call_check *check)
{
    struct tdc_reason reason = {{0}};
    if (check->call->records[TDC_FORWARD].size == 0 ||
        (check->name != NULL && tdc_name_is_among(check->name, never_run)))
        return;
    bool can = check->inputs_ready || tdc_give_reason(&reason, "%s", check->inputs_reason.text);
    if (can && strncmp(check->api, "NPU.", 4) == 0 &&
        !tdc_name_is_among(check->name, bench_functions))
        can = tdc_give_reason(&reason, "There is not bench function %s", check->name);
    if (can) {
        tdc_dtype bench = raise_inputs(check);
        change_arguments(check);
        can = check_forward(check, bench, &reason) &&
              (!back_propagates(check) || check_backward(check, bench, &reason));
    }
    if (!can)
        skip_call(check, &reason);
}
