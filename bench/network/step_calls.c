/* step_calls.c - calls computed, and their gradients pulled back. */
#include "bench/network/step_calls.h"

#include <stdio.h>
#include <string.h>

/* ---- from the step's values to the reference's ----------------------------------------------- */

/* One call as the reference takes it. Tensors are copies of the heads: marks of one call are not
 * those of another, and a fault may exchange their elements. */
struct rebuilt {
    struct tdc_reference_value arguments[TDC_STEP_ARGUMENTS];
    struct tdc_reference_keyword keywords[TDC_STEP_KEYWORDS];
    struct tdc_reference_value pairs[TDC_STEP_ARGUMENTS][2];
    struct tdc_reference_tensor tensors[TDC_STEP_TENSORS];
    struct tdc_step_variable *variables[TDC_STEP_TENSORS]; /* whose heads these are */
    size_t tensor_count;
    struct tdc_reference_call call;
};

static struct tdc_reference_value tensor_value(struct rebuilt *r, struct tdc_step_variable *of)
{
    size_t at = r->tensor_count++;
    r->tensors[at] = *of->values;
    r->tensors[at].wants_gradient = of->tracked;
    r->variables[at] = of;
    return (struct tdc_reference_value){.kind = TDC_VALUE_TENSOR, .tensor = &r->tensors[at]};
}

/* `room`: for the elements of a list. */
static struct tdc_reference_value rebuild(struct rebuilt *r, const struct tdc_step_value *value,
                                          struct tdc_reference_value room[2])
{
    struct tdc_reference_value to = {.kind = TDC_VALUE_NULL};
    switch (value->kind) {
    case TDC_STEP_VARIABLE:
        return tensor_value(r, value->variable);
    case TDC_STEP_VARIABLES:
        room[0] = tensor_value(r, value->variable);
        room[1] = tensor_value(r, value->second);
        to.kind = TDC_VALUE_LIST;
        to.list.values = room;
        to.list.count = 2;
        break;
    case TDC_STEP_INTS:
        room[0] = (struct tdc_reference_value){.kind = TDC_VALUE_INT, .whole = value->whole};
        to.kind = TDC_VALUE_LIST;
        to.list.values = room;
        to.list.count = 1;
        break;
    case TDC_STEP_INT:
        to.kind = TDC_VALUE_INT;
        to.whole = value->whole;
        break;
    case TDC_STEP_BOOL:
        to.kind = TDC_VALUE_BOOL;
        to.whole = value->whole;
        break;
    case TDC_STEP_FLOAT:
        to.kind = TDC_VALUE_FLOAT;
        to.real = value->real;
        break;
    case TDC_STEP_TEXT:
        to.kind = TDC_VALUE_TEXT;
        to.text = value->text;
        break;
    case TDC_STEP_DTYPE:
        to.kind = TDC_VALUE_DTYPE;
        to.dtype = value->dtype;
        break;
    case TDC_STEP_NULL:
        break;
    }
    return to;
}

static void rebuild_call(const struct tdc_step *step, const struct tdc_step_call *call,
                         const struct tdc_operator *definition, struct rebuilt *r)
{
    r->tensor_count = 0;
    for (size_t i = 0; i < call->argument_count; i++)
        r->arguments[i] = rebuild(r, &call->arguments[i], r->pairs[i]);
    for (size_t i = 0; i < call->keyword_count; i++) {
        r->keywords[i].name = call->keywords[i].name;
        r->keywords[i].value = rebuild(r, &call->keywords[i].value, NULL);
    }
    r->call = (struct tdc_reference_call){.definition = definition,
                                          .arguments = r->arguments,
                                          .argument_count = call->argument_count,
                                          .keywords = r->keywords,
                                          .keyword_count = call->keyword_count,
                                          .arithmetic = step->exact ? TDC_F64 : TDC_F32};
}

static const struct tdc_operator *definition_of(const struct tdc_step_call *call)
{
    char api[TDC_STEP_NAME];
    snprintf(api, sizeof api, "%s", call->name);
    char *number = strrchr(api, '.');
    if (number != NULL)
        *number = 0;
    return tdc_reference_find(api);
}

/* ---- faults ---------------------------------------------------------------------------------- */

static bool is_faulty(const struct tdc_step *step, const struct tdc_step_call *call,
                      const char *direction)
{
    size_t length = strlen(call->name);
    return step->fault != NULL && strncmp(step->fault->call, call->name, length) == 0 &&
           strcmp(step->fault->call + length, direction) == 0;
}

static void fault_before(struct tdc_step *step, struct rebuilt *r)
{
    const char *why = tdc_fault_before(step->fault, &r->call, &step->scratch);
    if (why != NULL)
        tdc_step_fail(step, TDC_ERR_ARGUMENT, "%s:%s: %s", step->fault->call,
                      tdc_fault_kind_name((int)step->fault->kind), why);
}

static void fault_after(struct tdc_step *step, struct tdc_reference_tensor **results, size_t count)
{
    const char *why = tdc_fault_after(step->fault, results, count);
    if (why != NULL)
        tdc_step_fail(step, TDC_ERR_ARGUMENT, "%s:%s: %s", step->fault->call,
                      tdc_fault_kind_name((int)step->fault->kind), why);
    step->faulted = true;
}

/* ---- forward --------------------------------------------------------------------------------- */

/* A copy that outlives the call, rounded to dtype when the reference left it in float64. */
static struct tdc_reference_tensor *keep(struct tdc_step *step,
                                         const struct tdc_reference_tensor *from, tdc_dtype dtype)
{
    bool narrow = from->dtype == TDC_F64;
    struct tdc_reference_tensor *to = tdc_reference_tensor_new(
        &step->arena, narrow ? dtype : from->dtype, from->rank, from->shape);
    if (to == NULL) {
        tdc_step_fail(step, TDC_ERR_MEMORY, "out of memory");
        return NULL;
    }
    for (int64_t i = 0; i < from->count; i++)
        if (narrow)
            to->real[i] = tdc_reference_round(from->real[i], dtype);
        else
            to->whole[i] = from->whole[i];
    return to;
}

/* Of the floating tensors that went in; the step's own where there is none. */
static tdc_dtype result_dtype(const struct tdc_step *step, const struct rebuilt *r)
{
    tdc_dtype dtype = TDC_DTYPE_NONE;
    for (size_t i = 0; i < r->tensor_count; i++)
        if (tdc_dtype_is_floating(r->tensors[i].dtype) &&
            (dtype == TDC_DTYPE_NONE ||
             tdc_dtype_size(r->tensors[i].dtype) > tdc_dtype_size(dtype)))
            dtype = r->tensors[i].dtype;
    return dtype == TDC_DTYPE_NONE ? step->dtype : dtype;
}

static void compute(struct tdc_step *step, struct tdc_step_call *call)
{
    struct rebuilt r;
    const struct tdc_operator *definition = definition_of(call);
    if (definition == NULL) {
        tdc_step_fail(step, TDC_ERR_UNSUPPORTED, "no reference for %s", call->name);
        return;
    }
    rebuild_call(step, call, definition, &r);
    bool faulty = is_faulty(step, call, ".forward"), tracked = false;
    if (faulty)
        fault_before(step, &r);
    for (size_t i = 0; i < r.tensor_count; i++) {
        tracked |= r.tensors[i].wants_gradient;
        r.tensors[i].wants_gradient = false;
    }
    struct tdc_reference_results results = {0};
    tdc_status status = tdc_reference_forward(&r.call, &step->scratch, &results);
    if (status != TDC_OK || results.count > TDC_STEP_OUTPUTS) {
        tdc_step_fail(step, status != TDC_OK ? status : TDC_ERR_UNSUPPORTED, "%s: %s", call->name,
                      status != TDC_OK ? results.reason : "too many outputs");
        return;
    }
    struct tdc_reference_tensor *made[TDC_STEP_OUTPUTS] = {NULL};
    for (size_t i = 0; i < results.count && step->status == TDC_OK; i++) {
        struct tdc_step_variable *output = tdc_step_take(step, sizeof *output);
        if (output == NULL)
            return;
        made[i] = output->values = keep(step, results.values[i].tensor, result_dtype(step, &r));
        if (output->values == NULL)
            return;
        output->tracked = tracked && tdc_reference_has_gradient(definition) &&
                          tdc_dtype_is_floating(output->values->dtype);
        call->outputs[call->output_count++] = output;
    }
    if (faulty)
        fault_after(step, made, call->output_count);
}

static unsigned next_number(struct tdc_step *step, const char *api)
{
    for (size_t i = 0; i < step->counter_count; i++)
        if (strcmp(step->counters[i].api, api) == 0)
            return step->counters[i].count++;
    if (step->counter_count == sizeof step->counters / sizeof *step->counters) {
        tdc_step_fail(step, TDC_ERR_UNSUPPORTED, "too many different APIs");
        return 0;
    }
    step->counters[step->counter_count].api = api;
    step->counters[step->counter_count++].count = 1;
    return 0;
}

struct tdc_step_variable *tdc_step_call_api(struct tdc_step *step, const char *api,
                                            const char *source, size_t argument_count,
                                            const struct tdc_step_value *arguments,
                                            size_t keyword_count,
                                            const struct tdc_step_keyword *keywords)
{
    struct tdc_step_call *call = tdc_step_take(step, sizeof *call);
    if (call == NULL)
        return NULL;
    snprintf(call->name, sizeof call->name, "%.100s.%u", api, next_number(step, api));
    call->source = source;
    call->module = step->module;
    call->place = step->module != NULL ? step->module->made++ : 0;
    memcpy(call->arguments, arguments, argument_count * sizeof *arguments);
    call->argument_count = argument_count;
    if (keyword_count != 0)
        memcpy(call->keywords, keywords, keyword_count * sizeof *keywords);
    call->keyword_count = keyword_count;
    compute(step, call);
    tdc_arena_reset(&step->scratch);
    tdc_step_note(step, (struct tdc_step_event){TDC_CALL_HAPPENS, step->module, call});
    return step->status == TDC_OK ? call->outputs[0] : NULL;
}

/* ---- backward -------------------------------------------------------------------------------- */

/* What came back along one way is added to what came along others, in the variable's dtype. */
static void collect(struct tdc_step *step, struct tdc_step_variable *variable,
                    struct tdc_reference_tensor *gradient)
{
    if (variable->gradient == NULL) {
        variable->gradient = gradient;
        return;
    }
    struct tdc_reference_tensor *sum =
        tdc_reference_tensor_new(&step->arena, gradient->dtype, gradient->rank, gradient->shape);
    if (sum == NULL) {
        tdc_step_fail(step, TDC_ERR_MEMORY, "out of memory");
        return;
    }
    for (int64_t i = 0; i < sum->count; i++)
        sum->real[i] =
            tdc_reference_round(variable->gradient->real[i] + gradient->real[i], sum->dtype);
    variable->gradient = sum;
}

static bool gradient_arrives(struct tdc_step_call *call)
{
    bool any = false;
    for (size_t i = 0; i < call->output_count; i++) {
        call->arriving[i] = call->outputs[i]->tracked ? call->outputs[i]->gradient : NULL;
        any |= call->arriving[i] != NULL;
    }
    return any;
}

static void pull(struct tdc_step *step, struct tdc_step_call *call)
{
    struct rebuilt r;
    if (!gradient_arrives(call))
        return;
    const struct tdc_operator *definition = definition_of(call);
    rebuild_call(step, call, definition, &r);
    /* only conversions have gradients of the recorded dtypes */
    struct tdc_reference_tensor heads[TDC_STEP_OUTPUTS], *arriving[TDC_STEP_OUTPUTS] = {NULL};
    for (size_t i = 0; i < call->output_count; i++)
        if (call->arriving[i] != NULL) {
            heads[i] = *call->arriving[i];
            if (!tdc_reference_is_conversion(definition))
                heads[i].dtype = TDC_F64;
            arriving[i] = &heads[i];
        }
    bool faulty = is_faulty(step, call, ".backward");
    if (faulty)
        fault_before(step, &r);
    struct tdc_reference_results results = {0};
    tdc_status status =
        tdc_reference_backward(&r.call, arriving, call->output_count, &step->scratch, &results);
    if (status != TDC_OK) {
        tdc_step_fail(step, status, "%s.backward: %s", call->name, results.reason);
        return;
    }
    size_t next = 0;
    call->leaving_count = r.tensor_count;
    for (size_t i = 0; i < r.tensor_count && step->status == TDC_OK; i++)
        if (r.tensors[i].wants_gradient && next < results.count) {
            const struct tdc_reference_value *gradient = &results.values[next++];
            if (gradient->kind == TDC_VALUE_TENSOR)
                call->leaving[i] = keep(step, gradient->tensor, r.tensors[i].dtype);
        }
    if (faulty)
        fault_after(step, call->leaving, call->leaving_count);
    for (size_t i = 0; i < r.tensor_count && step->status == TDC_OK; i++)
        if (call->leaving[i] != NULL)
            collect(step, r.variables[i], call->leaving[i]);
    call->pulled = true;
}

void tdc_step_backward(struct tdc_step *step, struct tdc_step_variable *loss)
{
    if (step->status != TDC_OK)
        return;
    loss->gradient = tdc_reference_tensor_new(&step->arena, loss->values->dtype, loss->values->rank,
                                              loss->values->shape);
    if (loss->gradient == NULL) {
        tdc_step_fail(step, TDC_ERR_MEMORY, "out of memory");
        return;
    }
    for (int64_t i = 0; i < loss->gradient->count; i++)
        loss->gradient->real[i] = 1;
    for (size_t i = step->event_count; i-- > 0 && step->status == TDC_OK;) {
        const struct tdc_step_event *event = &step->events[i];
        struct tdc_step_module *module = event->module;
        if (event->kind == TDC_CALL_HAPPENS) {
            pull(step, event->call);
            tdc_arena_reset(&step->scratch);
        } else if (event->kind == TDC_MODULE_ENDS) {
            module->arriving = module->output->gradient;
        } else if (module->input != NULL && module->input->gradient != NULL) {
            module->leaving = module->input->gradient;
            collect(step, module->outside, module->leaving);
        }
    }
}
