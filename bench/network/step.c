/* step.c - what a step is made of: variables, modules, the order of things. */
#include "bench/network/step.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "bench/network/step_calls.h"

#define MEMORY ((size_t)8 << 30)

void tdc_step_init(struct tdc_step *step, tdc_dtype dtype, uint64_t seed)
{
    *step = (struct tdc_step){.dtype = dtype, .seed = seed};
    tdc_arena_init(&step->arena, MEMORY);
    tdc_arena_init(&step->scratch, MEMORY);
}

void tdc_step_free(struct tdc_step *step)
{
    tdc_arena_free(&step->arena);
    tdc_arena_free(&step->scratch);
}

void tdc_step_fail(struct tdc_step *step, tdc_status status, const char *format, ...)
{
    if (step->status != TDC_OK)
        return;
    va_list list;
    va_start(list, format);
    vsnprintf(step->reason, sizeof step->reason, format, list);
    va_end(list);
    step->status = status;
}

void *tdc_step_take(struct tdc_step *step, size_t size)
{
    void *memory = step->status == TDC_OK ? tdc_arena_zeroed(&step->arena, 1, size) : NULL;
    if (memory == NULL)
        tdc_step_fail(step, TDC_ERR_MEMORY, "out of memory");
    return memory;
}

/* ---- variables ------------------------------------------------------------------------------- */

struct tdc_step_variable *tdc_step_variable(struct tdc_step *step, tdc_dtype dtype, unsigned rank,
                                            const int64_t *shape)
{
    struct tdc_step_variable *variable = tdc_step_take(step, sizeof *variable);
    if (variable == NULL)
        return NULL;
    variable->values = tdc_reference_tensor_new(&step->arena, dtype, rank, shape);
    if (variable->values == NULL) {
        tdc_step_fail(step, TDC_ERR_MEMORY, "out of memory");
        return NULL;
    }
    return variable;
}

/* splitmix64 */
static uint64_t next_word(struct tdc_step *step)
{
    uint64_t z = step->seed += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static double next_share(struct tdc_step *step)
{
    return ((double)(next_word(step) >> 11) + 0.5) * 0x1p-53;
}

struct tdc_step_variable *tdc_step_parameter(struct tdc_step *step, unsigned rank,
                                             const int64_t *shape, double mean, double deviation)
{
    struct tdc_step_variable *variable = tdc_step_variable(step, step->dtype, rank, shape);
    if (variable == NULL)
        return NULL;
    variable->tracked = true;
    for (int64_t i = 0; i < variable->values->count; i++) {
        double normal =
            sqrt(-2 * log(next_share(step))) * cos(2 * 3.14159265358979323846 * next_share(step));
        variable->values->real[i] = tdc_reference_round(mean + deviation * normal, step->dtype);
    }
    return variable;
}

struct tdc_step_variable *tdc_step_indices(struct tdc_step *step, unsigned rank,
                                           const int64_t *shape, int64_t below)
{
    struct tdc_step_variable *variable = tdc_step_variable(step, TDC_I64, rank, shape);
    for (int64_t i = 0; variable != NULL && i < variable->values->count; i++)
        variable->values->whole[i] = (int64_t)(next_share(step) * (double)below);
    return variable;
}

/* ---- the order of things --------------------------------------------------------------------- */

void tdc_step_note(struct tdc_step *step, struct tdc_step_event event)
{
    if (step->event_count == step->event_room) {
        size_t room = step->event_room * 2 + 256;
        struct tdc_step_event *grown = tdc_step_take(step, room * sizeof *grown);
        if (grown == NULL)
            return;
        if (step->event_count != 0)
            memcpy(grown, step->events, step->event_count * sizeof *grown);
        step->events = grown;
        step->event_room = room;
    }
    step->events[step->event_count++] = event;
}

struct tdc_step_variable *tdc_step_enter(struct tdc_step *step, const char *type,
                                         struct tdc_step_variable *input, const char *path, ...)
{
    struct tdc_step_module *module = tdc_step_take(step, sizeof *module);
    if (module == NULL)
        return NULL;
    char where[TDC_STEP_NAME - 64];
    va_list list;
    va_start(list, path);
    vsnprintf(where, sizeof where, path, list);
    va_end(list);
    snprintf(module->name, sizeof module->name, "Module.%s.%.48s", where, type);
    module->parent = step->module;
    module->place = module->parent != NULL ? module->parent->made++ : 0;
    if (input != NULL) {
        /* another name of the same values, so that what comes back through this module is known */
        module->outside = input;
        module->input = tdc_step_take(step, sizeof *module->input);
        if (module->input == NULL)
            return NULL;
        *module->input =
            (struct tdc_step_variable){.values = input->values, .tracked = input->tracked};
    }
    tdc_step_note(step, (struct tdc_step_event){TDC_MODULE_BEGINS, module, NULL});
    step->module = module;
    return module->input;
}

void tdc_step_own(struct tdc_step *step, const char *name, struct tdc_step_variable *parameter)
{
    struct tdc_step_module *module = step->module;
    if (step->status != TDC_OK)
        return;
    module->parameters[module->parameter_count].name = name;
    module->parameters[module->parameter_count++].variable = parameter;
}

struct tdc_step_variable *tdc_step_leave(struct tdc_step *step, struct tdc_step_variable *output)
{
    if (step->status != TDC_OK)
        return NULL;
    step->module->output = output;
    tdc_step_note(step, (struct tdc_step_event){TDC_MODULE_ENDS, step->module, NULL});
    step->module = step->module->parent;
    return output;
}
