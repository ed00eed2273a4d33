#include "host/precheck/check/check.h"

#include <stdio.h>
#include <string.h>

#include "host/precheck/rebuild/dtype_names.h"
#include "host/precheck/calls/filter.h"
#include "host/precheck/check/run_ut_rows.h"
#include "io/base/clock.h"

#define LOG_LIMIT ((size_t)1 << 16)

const struct tdc_executor *tdc_executor_for(const struct tdc_calls *calls,
                                            const struct tdc_precheck_options *options)
{
    return calls->statistics || options->tested == TDC_TESTED_EXECUTED ? &tdc_executor_native
                                                                       : NULL;
}

bool tdc_checker_start(struct tdc_checker *checker, const struct tdc_calls *calls,
                       const struct tdc_precheck_options *options, size_t memory)
{
    *checker = (struct tdc_checker){
        .calls = calls, .options = options, .executor = tdc_executor_for(calls, options)};
    tdc_arena_init(&checker->arena, memory);
    checker->scratch = tdc_tensor_scratch_new();
    return checker->scratch != NULL;
}

void tdc_checker_end(struct tdc_checker *checker)
{
    tdc_arena_free(&checker->arena);
    tdc_tensor_scratch_free(checker->scratch);
    tdc_open_folder_close(&checker->folder);
}

/* ---- helpers of the parts -------------------------------------------------------------------- */

bool tdc_value_is_floating(const struct tdc_reference_value *value)
{
    return value->kind == TDC_VALUE_TENSOR && tdc_dtype_is_floating(value->tensor->dtype);
}

bool tdc_has_keyword(const struct tdc_call_check *check, const char *name)
{
    for (size_t i = 0; i < check->keyword_count; i++)
        if (strcmp(check->keywords[i].name, name) == 0)
            return true;
    return false;
}

const struct tdc_reference_value *tdc_call_argument(const struct tdc_call_check *check, size_t at,
                                                    const char *name)
{
    if (at < check->arguments.count)
        return &check->arguments.list[at];
    for (size_t i = 0; i < check->keyword_count; i++)
        if (strcmp(check->keywords[i].name, name) == 0)
            return &check->keywords[i].value;
    return NULL;
}

bool tdc_take_slots(struct tdc_call_check *check, enum tdc_direction direction, size_t count,
                    struct tdc_reason *reason)
{
    struct tdc_direction_check *checked = &check->directions[direction];
    struct tdc_arena *arena = &check->checker->arena;
    checked->count = 0;
    checked->slots = tdc_arena_zeroed(arena, count + 1, sizeof *checked->slots);
    checked->rows = tdc_arena_zeroed(arena, count + 1, sizeof *checked->rows);
    return (checked->slots != NULL && checked->rows != NULL) ||
           tdc_give_reason(reason, "out of memory");
}

void tdc_add_slot(struct tdc_call_check *check, enum tdc_direction direction, size_t number,
                  const struct tdc_reference_value *reference,
                  const struct tdc_reference_value *tested)
{
    struct tdc_direction_check *checked = &check->directions[direction];
    checked->slots[checked->count++] = (struct tdc_slot){number, *reference, *tested};
}

/* What the record says of its first output helps where an argument was lost. */
static void hint_of_record(const struct tdc_call_check *check, struct tdc_reference_call *call)
{
    const struct tdc_json *outputs = tdc_json_get(check->records[TDC_FORWARD], "output");
    const struct tdc_json *first =
        outputs != NULL && outputs->kind == TDC_JSON_LIST ? outputs->child : NULL;
    const struct tdc_json *shape = first != NULL ? tdc_json_get(first, "shape") : NULL;
    const struct tdc_json *dtype = first != NULL ? tdc_json_get(first, "dtype") : NULL;
    if (shape != NULL && shape->kind == TDC_JSON_LIST && shape->children <= TDC_REFERENCE_RANK) {
        call->recorded_rank_known = true;
        call->recorded_rank = (unsigned)shape->children;
    }
    if (dtype != NULL && dtype->kind == TDC_JSON_STRING &&
        check->checker->options->profile == TDC_PROFILE_EXTENDED)
        call->recorded_output = tdc_recorded_dtype(dtype->text);
}

static void narrow_to(tdc_dtype *narrowest, const struct tdc_reference_value *value, int depth)
{
    if (value->kind == TDC_VALUE_LIST && depth < TDC_REFERENCE_DEPTH)
        for (size_t i = 0; i < value->list.count; i++)
            narrow_to(narrowest, &value->list.values[i], depth + 1);
    if (tdc_value_is_floating(value) &&
        (*narrowest == TDC_DTYPE_NONE ||
         tdc_reference_roundoff(value->tensor->dtype) > tdc_reference_roundoff(*narrowest)))
        *narrowest = value->tensor->dtype;
}

void tdc_note_tested(struct tdc_call_check *check, enum tdc_direction direction,
                     const struct tdc_values *values)
{
    if (!tdc_judges_by_bound(check->checker->options))
        return;
    for (size_t i = 0; i < values->count; i++)
        narrow_to(&check->tested[direction], &values->list[i], 0);
    for (size_t i = 0; direction == TDC_BACKWARD && i < check->gradients.count; i++)
        narrow_to(&check->tested[direction], &check->gradients.list[i], 0);
}

struct tdc_reference_call tdc_check_reference_call(const struct tdc_call_check *check,
                                                   enum tdc_direction direction)
{
    struct tdc_reference_call call = {.definition = check->definition,
                                      .arguments = check->arguments.list,
                                      .argument_count = check->arguments.count,
                                      .keywords = check->keywords,
                                      .keyword_count = check->keyword_count,
                                      .bounds_for = check->tested[direction],
                                      .bounds_for_steps = check->checker->executor != NULL,
                                      .record = check->recorded.list,
                                      .record_count = check->recorded.count};
    hint_of_record(check, &call);
    return call;
}

/* Signs of singular vectors and the like are taken from the record, when there is one. */
static void read_choice(struct tdc_call_check *check)
{
    struct tdc_reason ignored;
    struct tdc_values *values = &check->recorded;
    if (check->checker->executor != NULL || !tdc_reference_takes_record(check->definition))
        return;
    if (!tdc_recorded_outputs(check, TDC_FORWARD, values, &ignored))
        *values = (struct tdc_values){NULL, 0};
    else if (values->count == 1 && values->list[0].kind == TDC_VALUE_LIST)
        *values = (struct tdc_values){values->list[0].list.values, values->list[0].list.count};
}

bool tdc_check_outputs(struct tdc_call_check *check, struct tdc_reason *reason)
{
    if (!check->computed) {
        read_choice(check);
        struct tdc_reference_call call = tdc_check_reference_call(check, TDC_FORWARD);
        check->computed_status =
            tdc_reference_forward(&call, &check->checker->arena, &check->outputs);
        check->computed = true;
    }
    if (check->computed_status == TDC_OK)
        return true;
    return tdc_give_reason(reason, "%s",
                           check->outputs.reason[0] != '\0'
                               ? check->outputs.reason
                               : tdc_status_text(check->computed_status));
}

static struct tdc_rebuild rebuild_of(struct tdc_call_check *check, struct tdc_reason *reason)
{
    struct tdc_checker *checker = check->checker;
    return (struct tdc_rebuild){.calls = checker->calls,
                                .arena = &checker->arena,
                                .scratch = checker->scratch,
                                .folder = &checker->folder,
                                .check_files =
                                    (checker->options->flags & TDC_PRECHECK_CHECK_FILES) != 0,
                                .leaves = checker->calls->recorder == TDC_RECORDER_PYTORCH,
                                .reason = reason,
                                .unreadable = &check->unreadable,
                                .bytes = &check->bytes,
                                .work = checker->work};
}

bool tdc_recorded_outputs(struct tdc_call_check *check, enum tdc_direction direction,
                          struct tdc_values *values, struct tdc_reason *reason)
{
    char what[160];
    snprintf(what, sizeof what, "output field of %.80s %s api in api_info.json", check->call->name,
             tdc_direction_name[direction]);
    struct tdc_rebuild rebuild = rebuild_of(check, reason);
    if (!tdc_rebuild_list(&rebuild, tdc_json_get(check->records[direction], "output"), what,
                          &values->list, &values->count))
        return false;
    struct tdc_values *listed = &check->listed[direction];
    listed->count = values->count;
    listed->list =
        tdc_arena_zeroed(&check->checker->arena, values->count + 1, sizeof *listed->list);
    if (listed->list == NULL)
        return tdc_give_reason(reason, "out of memory");
    if (values->count != 0)
        memcpy(listed->list, values->list, values->count * sizeof *listed->list);
    return true;
}

/* ---- loading --------------------------------------------------------------------------------- */

/* "Mint.add.0" to "Mint.add" and "add". False: not a name of three parts (PyTorch: at least). */
static bool split_name(struct tdc_call_check *check)
{
    const char *name = check->call->name;
    const char *first = strchr(name, '.'), *last = strrchr(name, '.');
    if (first == NULL || first == last || (size_t)(last - name) >= sizeof check->api)
        return false;
    memcpy(check->api, name, (size_t)(last - name));
    check->api[last - name] = '\0';
    check->name = check->api + (first - name) + 1;
    return strchr(check->name, '.') == NULL ||
           check->checker->calls->recorder == TDC_RECORDER_PYTORCH;
}

static bool find_operator(struct tdc_call_check *check, struct tdc_reason *reason)
{
    bool named = split_name(check);
    if (!named && check->checker->options->profile == TDC_PROFILE_COMPAT) {
        check->unsupported = true;
        return tdc_give_reason(reason, "[msprobe] Api Accuracy Checker get wrong value: ");
    }
    if (named && tdc_filter_leaves_out(check->checker->options, check->name)) {
        check->left_out = true;
        return tdc_give_reason(reason, "API %s in black list or not in white list. SKIP.",
                               check->name);
    }
    check->definition = named ? tdc_reference_find(check->api) : NULL;
    check->unsupported = check->definition == NULL;
    if (check->unsupported)
        return tdc_give_reason(reason, "unsupported api");
    if (tdc_reference_is_random(check->definition))
        return tdc_give_reason(reason, "random api, output is not reproducible");
    return true;
}

static bool read_records(struct tdc_call_check *check, struct tdc_reason *reason)
{
    struct tdc_error error = {0};
    for (int i = 0; i < TDC_DIRECTIONS; i++)
        if (tdc_call_record(check->checker->calls, check->call, (enum tdc_direction)i,
                            &check->checker->arena, &check->records[i], &error) != TDC_OK)
            return tdc_give_reason(reason, "%.500s", error.message);
    return true;
}

static bool read_inputs(struct tdc_call_check *check, struct tdc_reason *reason)
{
    const struct tdc_json *forward = check->records[TDC_FORWARD];
    if (forward == NULL)
        return tdc_give_reason(reason, check->checker->options->profile == TDC_PROFILE_COMPAT
                                           ? TDC_JSON_PARSE_FAILED "input is not a dict"
                                           : "forward record is missing");
    if (forward->kind != TDC_JSON_OBJECT)
        return tdc_give_reason(reason, TDC_JSON_PARSE_FAILED "input is not a dict");
    struct tdc_rebuild rebuild = rebuild_of(check, reason);
    const struct tdc_json *positional = tdc_json_get(forward, "input_args");
    if (strcmp(check->name, "cross_entropy") == 0 && positional != NULL &&
        positional->kind == TDC_JSON_LIST && positional->children > 1)
        rebuild.classes = positional->child->next;
    char what[160];
    snprintf(what, sizeof what, "input_args field of %.80s forward api in api_info.json",
             check->call->name);
    return tdc_rebuild_list(&rebuild, positional, what, &check->arguments.list,
                            &check->arguments.count) &&
           tdc_rebuild_keywords(&rebuild, tdc_json_get(forward, "input_kwargs"), &check->keywords,
                                &check->keyword_count) &&
           tdc_autocast_inputs(check, reason);
}

bool tdc_check_gradients(struct tdc_call_check *check, struct tdc_reason *reason)
{
    struct tdc_rebuild rebuild = rebuild_of(check, reason);
    rebuild.leaves = false;
    char what[160];
    snprintf(what, sizeof what, "input field of %.80s backward api in api_info.json",
             check->call->name);
    return tdc_rebuild_list(&rebuild, tdc_json_get(check->records[TDC_BACKWARD], "input"), what,
                            &check->gradients.list, &check->gradients.count);
}

/* ---- judging --------------------------------------------------------------------------------- */

static void log_line(struct tdc_call_check *check, const char *text)
{
    tdc_text_adds(&check->log, text);
    tdc_text_addc(&check->log, '\n');
}

/* The verdict by the standard stands in the row too, for the summaries. */
static bool judge_by_standard(struct tdc_call_check *check, struct tdc_direction_check *checked,
                              size_t at, struct tdc_reason *reason)
{
    struct tdc_arena *arena = &check->checker->arena;
    struct tdc_slot_row *row = &checked->rows[at];
    if (checked->standard == NULL)
        checked->standard = tdc_arena_zeroed(arena, checked->count, sizeof *checked->standard);
    struct tdc_standard_row *standard = checked->standard != NULL ? &checked->standard[at] : NULL;
    if (standard == NULL ||
        !tdc_judge_by_standard(arena, check->name,
                               (check->checker->options->flags & TDC_PRECHECK_STANDARDS26) != 0,
                               &checked->slots[at], standard))
        return tdc_give_reason(reason, "the call needs more memory than a call may take");
    row->status = standard->status;
    snprintf(row->message, sizeof row->message, "%s",
             standard->status == TDC_CHECK_PASS ? "" : standard->message);
    return true;
}

static bool judge_slots(struct tdc_call_check *check, struct tdc_direction_check *checked,
                        struct tdc_reason *reason)
{
    const struct tdc_checker *checker = check->checker;
    for (size_t i = 0; i < checked->count; i++) {
        struct tdc_slot_row *row = &checked->rows[i];
        if (row->status == TDC_CHECK_NONE &&
            !tdc_judge_slot(checker->options, &check->checker->arena, &checked->slots[i], row,
                            reason))
            return false;
        if (checker->options->standard == TDC_STANDARD_PYTORCH &&
            !judge_by_standard(check, checked, i, reason))
            return false;
        if (row->status == TDC_CHECK_ERROR && !row->measured && strstr(row->message, "not valid")) {
            log_line(check, "not suitable for computing Cosine, skip this.");
            log_line(check, "not suitable for computing MaxAbsErr, skip this.");
            log_line(check, "not suitable for computing MaxRelativeErr, skip this.");
        }
        if (row->status > checked->status)
            checked->status = row->status;
    }
    return true;
}

static bool check_direction(struct tdc_call_check *check, enum tdc_direction direction,
                            struct tdc_reason *reason)
{
    struct tdc_direction_check *checked = &check->directions[direction];
    if (!check->inputs_ready)
        return tdc_give_reason(reason, "%s", check->inputs_reason.text);
    const char *refusal = tdc_compat_refusal(check, direction);
    if (refusal != NULL)
        return tdc_give_reason(reason, "%s", refusal);
    if (direction == TDC_BACKWARD && !tdc_check_gradients(check, reason))
        return false;
    bool done = false;
    if (tdc_check_dropout(check, direction, &done, reason)) {
        if (!done)
            return false;
    } else if (!(direction == TDC_FORWARD ? tdc_pair_forward(check, reason)
                                          : tdc_pair_backward(check, reason))) {
        return false;
    }
    double start = tdc_seconds();
    bool judged = judge_slots(check, checked, reason);
    check->checker->work[TDC_WORK_JUDGING] += tdc_seconds() - start;
    return judged;
}

static void run_direction(struct tdc_call_check *check, enum tdc_direction direction)
{
    struct tdc_direction_check *checked = &check->directions[direction];
    if (check_direction(check, direction, &checked->reason))
        return;
    checked->status = TDC_CHECK_SKIP;
    checked->count = 0;
    char text[800];
    if (check->left_out)
        return;
    if (check->inputs_ready)
        snprintf(text, sizeof text,
                 "Exception occurs when running and comparing %.120s %s api. Detailed exception "
                 "information: %s.",
                 check->call->name, tdc_direction_name[direction], checked->reason.text);
    else
        snprintf(text, sizeof text,
                 "Exception occurs when getting inputs for %.120s %s api. Skipping %s check. "
                 "Detailed exception information: %s.",
                 check->call->name, tdc_direction_name[direction], tdc_direction_name[direction],
                 checked->reason.text);
    log_line(check, text);
}

static void check_directions(struct tdc_call_check *check)
{
    struct tdc_reason *reason = &check->inputs_reason;
    check->inputs_ready =
        find_operator(check, reason) && read_records(check, reason) && read_inputs(check, reason);
    if (check->inputs_ready)
        tdc_compat_arguments(check);
    if (tdc_is_run_ut(check->checker)) {
        tdc_check_like_run_ut(check);
        return;
    }
    for (int i = 0; i < TDC_DIRECTIONS; i++)
        if (check->call->records[i].size != 0)
            run_direction(check, (enum tdc_direction)i);
}

/* Of the parts that are measured where they are done. */
static double measured(const struct tdc_checker *checker)
{
    return checker->work[TDC_WORK_READING] + checker->work[TDC_WORK_WIDENING] +
           checker->work[TDC_WORK_JUDGING];
}

void tdc_check_call(struct tdc_checker *checker, const struct tdc_call *call,
                    struct tdc_call_check *check)
{
    double start = tdc_seconds() - measured(checker);
    memset(check, 0, sizeof *check);
    check->checker = checker;
    check->call = call;
    tdc_text_init(&check->log, LOG_LIMIT);
    tdc_arena_reset(&checker->arena);
    check_directions(check);
    checker->work[TDC_WORK_COMPUTING] += tdc_seconds() - measured(checker) - start;
}

void tdc_call_check_end(struct tdc_call_check *check)
{
    tdc_text_free(&check->log);
}
