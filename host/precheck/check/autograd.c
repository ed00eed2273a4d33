/*
 * autograd.c - the gradients that PyTorch's recorder keeps.
 *
 * The recorder listens to the autograd node that made a call's first output. For most APIs that
 * node is the API itself and its gradients are those of the tensor arguments. An API of several
 * nodes is recorded by the last of them (last_step.c says which it may be); a call that returns its
 * own input has no node, what was recorded is that of some earlier call.
 */
#include <math.h>
#include <string.h>

#include "host/precheck/check/backward.h"

static const char foreign[] = "recorded gradients do not belong to the api inputs";

bool tdc_is_composite(const char *name)
{
    static const char *const names[] = {
        "matmul",     "einsum",        "outer",   "linear", "softsign",
        "tanhshrink", "cross_entropy", "l1_loss", "kl_div", "cosine_similarity",
        "normalize",  "cdist"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* ---- the tensors of a call ------------------------------------------------------------------- */

/* Tensors in the order autograd numbers them: arguments, lists in depth, then keywords. */
struct tensors {
    struct tdc_reference_tensor **list;
    size_t count, capacity;
};

static void gather(struct tensors *tensors, const struct tdc_reference_value *value, int depth)
{
    if (value->kind == TDC_VALUE_LIST && depth < TDC_REFERENCE_DEPTH)
        for (size_t i = 0; i < value->list.count; i++)
            gather(tensors, &value->list.values[i], depth + 1);
    else if (value->kind == TDC_VALUE_TENSOR && tensors->count < tensors->capacity)
        tensors->list[tensors->count++] = value->tensor;
}

static bool tensors_of(struct tdc_call_check *check, struct tensors *tensors)
{
    tensors->capacity = TDC_REFERENCE_ARGUMENTS;
    tensors->list =
        tdc_arena_zeroed(&check->checker->arena, tensors->capacity, sizeof *tensors->list);
    for (size_t i = 0; tensors->list != NULL && i < check->arguments.count; i++)
        gather(tensors, &check->arguments.list[i], 0);
    for (size_t i = 0; tensors->list != NULL && i < check->keyword_count; i++)
        gather(tensors, &check->keywords[i].value, 0);
    return tensors->list != NULL;
}

/* ---- ways to read a record ------------------------------------------------------------------- */

/* What a record faces when its node is taken for one particular function. */
struct reading {
    struct tdc_values bench, tested;
    double distance; /* between the two, relative */
};

static double square(double x)
{
    return x * x;
}

/* The largest relative distance of a pair; elements that are not finite say nothing. */
static double distance_of(struct tdc_call_check *check, const struct reading *reading)
{
    double largest = 0;
    for (size_t i = 0; i < reading->bench.count; i++) {
        const struct tdc_reference_tensor *bench = reading->bench.list[i].tensor;
        const double *b = tdc_as_doubles(&check->checker->arena, bench);
        const double *t = tdc_as_doubles(&check->checker->arena, reading->tested.list[i].tensor);
        double apart = 0, size = 0;
        for (int64_t k = 0; b != NULL && t != NULL && k < bench->count; k++)
            if (isfinite(b[k]) && isfinite(t[k])) {
                apart += square(b[k] - t[k]);
                size += square(b[k]);
            }
        double distance = apart == 0 ? 0 : sqrt(apart) / (sqrt(size) + 1e-300);
        largest = distance > largest ? distance : largest;
    }
    return largest;
}

/* Every pair is of two floating tensors of one shape. */
static bool fits(const struct reading *reading)
{
    if (reading->bench.count != reading->tested.count)
        return false;
    for (size_t i = 0; i < reading->bench.count; i++)
        if (!tdc_value_is_floating(&reading->bench.list[i]) ||
            reading->tested.list[i].kind != TDC_VALUE_TENSOR ||
            !tdc_same_shape(reading->bench.list[i].tensor, reading->tested.list[i].tensor))
            return false;
    return true;
}

static bool copy_values(struct tdc_call_check *check, const struct tdc_values *from,
                        struct tdc_values *to)
{
    to->list = tdc_arena_zeroed(&check->checker->arena, from->count + 1, sizeof *to->list);
    to->count = from->count;
    if (to->list != NULL && from->count != 0)
        memcpy(to->list, from->list, from->count * sizeof *to->list);
    return to->list != NULL;
}

static size_t leaves_of(const struct tensors *tensors)
{
    size_t leaves = 0;
    for (size_t i = 0; i < tensors->count; i++)
        leaves += tensors->list[i]->wants_gradient;
    return leaves;
}

/* Recorded gradients of the tensors that ask for one: those that are not null; when some tensor got
 * a gradient it did not ask for, those at the places of the others. */
static bool of_leaves(struct tdc_call_check *check, const struct tensors *tensors,
                      const struct tdc_values *recorded, struct tdc_values *tested)
{
    if (!copy_values(check, recorded, tested))
        return false;
    tdc_drop_nulls(tested);
    if (tested->count <= leaves_of(tensors))
        return tested->count != 0;
    if (recorded->count != tensors->count)
        return false;
    tested->count = 0;
    for (size_t i = 0; i < tensors->count; i++)
        if (tensors->list[i]->wants_gradient)
            tested->list[tested->count++] = recorded->list[i];
    return true;
}

/* The shapes are compared before anything is computed. Fewer gradients than leaves: of some of them
 * only the dtype or shape was used, which the reference will tell. */
static bool leaves_may_fit(const struct tensors *tensors, const struct tdc_values *tested)
{
    bool all = tested->count == leaves_of(tensors);
    size_t next = 0;
    for (size_t i = 0; i < tensors->count && next < tested->count; i++) {
        if (!tensors->list[i]->wants_gradient)
            continue;
        if (tested->list[next].kind == TDC_VALUE_TENSOR &&
            tdc_same_shape(tensors->list[i], tested->list[next].tensor))
            next++;
        else if (all)
            return false;
    }
    return next == tested->count;
}

/* The node is the API: gradients of its own arguments. */
static bool read_whole(struct tdc_call_check *check, const struct tdc_gradient_work *work,
                       const struct tdc_values *recorded, struct reading *reading,
                       struct tdc_reason *reason)
{
    struct tensors tensors = {0};
    if (!tensors_of(check, &tensors))
        return tdc_give_reason(reason, "out of memory");
    if (!of_leaves(check, &tensors, recorded, &reading->tested) ||
        !leaves_may_fit(&tensors, &reading->tested))
        return tdc_give_reason(reason, foreign);
    if (!tdc_reference_gradients(check, work, &reading->bench, reason))
        return false;
    if (reading->tested.count < reading->bench.count)
        tdc_drop_nulls(&reading->bench);
    return fits(reading) || tdc_give_reason(reason, foreign);
}

/* Gives tested tensors the shapes of the reference's where the number of elements agrees. */
static void reshape_as(struct tdc_call_check *check, struct tdc_values *tested,
                       const struct tdc_values *bench)
{
    for (size_t i = 0; i < tested->count && i < bench->count; i++) {
        const struct tdc_reference_value *wanted = &bench->list[i];
        struct tdc_reference_tensor *copy =
            tdc_arena_zeroed(&check->checker->arena, 1, sizeof *copy);
        if (copy == NULL || wanted->kind != TDC_VALUE_TENSOR ||
            tested->list[i].kind != TDC_VALUE_TENSOR ||
            tested->list[i].tensor->count != wanted->tensor->count)
            continue;
        *copy = *tested->list[i].tensor;
        copy->rank = wanted->tensor->rank;
        memcpy(copy->shape, wanted->tensor->shape, sizeof copy->shape);
        tested->list[i].tensor = copy;
    }
}

/* The node is a function the call ends in. Its tensors have their gradients in order; one without a
 * gradient is null in the record. */
static bool read_step(struct tdc_call_check *check, const struct tdc_gradient_work *work,
                      const struct tdc_values *recorded, const struct tdc_last_step *step,
                      struct reading *reading)
{
    struct tdc_reference_call call = tdc_check_reference_call(check, TDC_BACKWARD);
    struct tdc_reference_results results = {0};
    call.definition = tdc_reference_find(step->api);
    call.arguments = step->arguments;
    call.argument_count = step->count;
    call.keyword_count = 0;
    if (call.definition == NULL || !copy_values(check, recorded, &reading->tested))
        return false;
    size_t at = 0;
    for (size_t i = 0; i < step->count; i++)
        if (step->arguments[i].kind == TDC_VALUE_TENSOR && at < recorded->count)
            step->arguments[i].tensor->wants_gradient =
                recorded->list[at++].kind == TDC_VALUE_TENSOR;
    tdc_drop_nulls(&reading->tested);
    if (tdc_reference_backward(&call, work->gradients, 1, &check->checker->arena, &results) !=
        TDC_OK)
        return false;
    reading->bench = (struct tdc_values){results.values, results.count};
    if (step->reshaped)
        reshape_as(check, &reading->tested, &reading->bench);
    return fits(reading);
}

/* ---- calls that return their input ------------------------------------------------------------
 */

static const struct tdc_json *first_of(const struct tdc_json *record, const char *member)
{
    const struct tdc_json *list = tdc_json_get(record, member);
    return list != NULL && list->kind == TDC_JSON_LIST ? list->child : NULL;
}

static bool same_dtype(const struct tdc_json *a, const struct tdc_json *b)
{
    const struct tdc_json *first = a != NULL ? tdc_json_get(a, "dtype") : NULL;
    const struct tdc_json *second = b != NULL ? tdc_json_get(b, "dtype") : NULL;
    return first != NULL && second != NULL && first->kind == TDC_JSON_STRING &&
           second->kind == TDC_JSON_STRING && strcmp(first->text, second->text) == 0;
}

/* A conversion to the dtype its input has; torch returns the input unless a copy is asked for. */
static bool converts_nothing(const struct tdc_call_check *check)
{
    const struct tdc_json *forward = check->records[TDC_FORWARD];
    return tdc_reference_is_conversion(check->definition) &&
           same_dtype(first_of(forward, "input_args"), first_of(forward, "output"));
}

/* Returns its input or a copy of it, which the record does not tell. */
static bool may_return_input(const char *name)
{
    static const char *const names[] = {"contiguous",   "flatten",     "cpu",        "cuda",
                                        "npu",          "positive",    "__pos__",    "real",
                                        "conj",         "atleast_1d",  "atleast_2d", "atleast_3d",
                                        "resolve_conj", "resolve_neg", NULL};
    return tdc_name_is_among(name, names);
}

/* ---- pairing ----------------------------------------------------------------------------------
 */

/* msprobe's profile, and results computed here: the API's own gradients or none. */
static bool pair_strictly(struct tdc_call_check *check, struct tdc_reason *reason)
{
    bool recorded = check->checker->executor == NULL;
    struct reading reading = {0};
    struct tdc_gradient_work work = {0};
    if (recorded && !tdc_recorded_outputs(check, TDC_BACKWARD, &reading.tested, reason))
        return false;
    if (recorded && tdc_is_composite(check->name))
        return tdc_give_reason(reason, foreign);
    if (!tdc_prepare_gradients(check, &work, reason))
        return false;
    if (work.given == 0)
        return true;
    if (!recorded && !tdc_executed_gradients(check, &work, &reading.tested, reason))
        return false;
    tdc_note_tested(check, TDC_BACKWARD, &reading.tested);
    if (!tdc_reference_gradients(check, &work, &reading.bench, reason))
        return false;
    if (recorded)
        tdc_drop_nulls(&reading.tested);
    if (!fits(&reading))
        return tdc_give_reason(reason, foreign);
    return tdc_pair_values(check, TDC_BACKWARD, &reading.bench, &reading.tested, reason);
}

/* The gradient of the first output, for nodes that have one output. */
static bool first_gradient(struct tdc_call_check *check, struct tdc_gradient_work *work)
{
    struct tdc_arena *arena = &check->checker->arena;
    if (check->gradients.count != 1 || !tdc_value_is_floating(&check->gradients.list[0]))
        return false;
    struct tdc_reference_tensor *wide = tdc_arena_zeroed(arena, 1, sizeof *wide);
    work->gradients = tdc_arena_zeroed(arena, 1, sizeof *work->gradients);
    if (wide == NULL || work->gradients == NULL)
        return false;
    *wide = *check->gradients.list[0].tensor;
    wide->dtype = TDC_F64;
    work->gradients[0] = wide;
    work->count = work->given = 1;
    return true;
}

/* The gradient of chosen elements, by the positions the forward recorded. */
static bool read_chosen(struct tdc_call_check *check, const struct tdc_values *recorded,
                        struct reading *reading)
{
    struct tdc_reference_value *made = tdc_arena_zeroed(&check->checker->arena, 1, sizeof *made);
    if (made == NULL || !tdc_gradient_of_chosen(check, made) ||
        !copy_values(check, recorded, &reading->tested))
        return false;
    tdc_drop_nulls(&reading->tested);
    reading->bench = (struct tdc_values){made, 1};
    return fits(reading);
}

/* Of all ways to read the record that fit its shapes, the one it is nearest to: a fault may move
 * the numbers far, but not onto those of another function. */
static bool nearest_reading(struct tdc_call_check *check, const struct tdc_values *recorded,
                            struct reading *nearest, struct tdc_reason *reason)
{
    if (read_chosen(check, recorded, nearest)) {
        nearest->distance = distance_of(check, nearest);
        return true;
    }
    struct tdc_last_step steps[TDC_LAST_STEPS];
    struct tdc_gradient_work work = {0};
    size_t count = first_gradient(check, &work) ? tdc_last_steps(check, recorded, steps) : 0;
    bool found = false;
    for (size_t i = 0; i < count; i++) {
        struct reading reading = {0};
        if (!read_step(check, &work, recorded, &steps[i], &reading))
            continue;
        reading.distance = distance_of(check, &reading);
        if (!found || reading.distance < nearest->distance)
            *nearest = reading;
        found = true;
    }
    struct tdc_gradient_work whole_work = {0};
    struct tdc_reason unread;
    struct reading whole = {0};
    if (tdc_prepare_gradients(check, &whole_work, &unread) && whole_work.given == 0 && !found)
        return true; /* nothing to compare */
    if (whole_work.given == 0 || !read_whole(check, &whole_work, recorded, &whole, &unread))
        return found || tdc_give_reason(reason, "%s", unread.text);
    whole.distance = distance_of(check, &whole);
    if (!found || whole.distance < nearest->distance)
        *nearest = whole;
    return true;
}

bool tdc_pair_autograd(struct tdc_call_check *check, struct tdc_reason *reason)
{
    if (check->checker->executor != NULL || check->checker->options->profile == TDC_PROFILE_COMPAT)
        return pair_strictly(check, reason);
    struct tdc_values recorded;
    struct reading reading = {0};
    if (!tdc_recorded_outputs(check, TDC_BACKWARD, &recorded, reason))
        return false;
    tdc_note_tested(check, TDC_BACKWARD, &recorded);
    if (converts_nothing(check))
        return tdc_give_reason(reason, TDC_RETURNS_INPUT);
    bool uncertain = may_return_input(check->name);
    if (!nearest_reading(check, &recorded, &reading, reason))
        return uncertain ? tdc_give_reason(reason, TDC_RETURNS_INPUT) : false;
    if (uncertain && reading.distance != 0)
        return tdc_give_reason(reason, TDC_RETURNS_INPUT);
    return tdc_pair_values(check, TDC_BACKWARD, &reading.bench, &reading.tested, reason);
}
