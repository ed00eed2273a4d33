/* trace_growth.c - how differences grow: call by call, and layer by layer. */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "host/analysis/module_path.h"
#include "host/analysis/trace/trace_origins.h"
#include "host/judge/record_numbers.h"
#include "host/origin/call_name.h"
#include "host/table/table.h"
#include "io/base/name_table.h"

/* A piece of a name. */
struct place {
    const char *text;
    size_t length;
};

/* ---- calls ----------------------------------------------------------------------------------- */

static tdc_status note_calls(struct tdc_trace *trace, struct trace_task *task,
                             const struct tdc_table *table, struct tdc_error *error)
{
    const struct tdc_dump *npu = table->match->npu;
    task->growth = tdc_arena_zeroed(&trace->arena, npu->entry_count + 1, sizeof *task->growth);
    if (task->growth == NULL)
        return trace_no_memory(error);
    uint32_t last = UINT32_MAX;
    for (size_t row = 0; row < table->row_count; row++) {
        const struct tdc_row *shown = &table->rows[row];
        const struct tdc_record *record = tdc_row_npu(table, shown);
        if (record == NULL || record->scalar || !tdc_state_is_output(record->state) ||
            shown->excused || shown->row_class < TDC_ROW_IDENTICAL ||
            shown->row_class > TDC_ROW_DIFFERENT)
            continue;
        if (record->entry != last) {
            if (task->growth_count == npu->entry_count)
                break;
            last = record->entry;
            struct tdc_call_name name = tdc_call_name_parse(npu->entries[last].name);
            struct trace_growth *growth = &task->growth[task->growth_count++];
            growth->call = trace_keep(trace, npu->entries[last].name);
            growth->backward =
                name.direction == TDC_CALL_BACKWARD || name.direction == TDC_CALL_GRADIENTS;
            growth->update = table->calls.calls[shown->call].update;
            if (growth->call == NULL)
                return trace_no_memory(error);
        }
        struct trace_growth *growth = &task->growth[task->growth_count - 1];
        if (isfinite(shown->r) && shown->r > growth->distance)
            growth->distance = shown->r;
    }
    return TDC_OK;
}

/* ---- places in the network ------------------------------------------------------------------- */

/* The innermost module among the parents of a call; no text: none. */
static struct place module_around(const struct tdc_module_paths *paths, const char *call)
{
    const char *parents[TDC_MODULE_DEPTH];
    bool cycle;
    size_t count = tdc_module_path(paths, call, parents, &cycle);
    for (size_t i = 0; i < count; i++) {
        struct tdc_call_name name = tdc_call_name_parse(parents[i]);
        if (name.module)
            return (struct place){name.place, name.place_length};
    }
    return (struct place){0};
}

/* Where a call stands: a module where it is, an operator where its module is. Backward calls are
 * found by their forward call, whose parents the collector knows for sure. */
static struct place place_of(const struct tdc_module_paths *paths, const char *call,
                             struct tdc_text *scratch)
{
    struct tdc_call_name name = tdc_call_name_parse(call);
    struct place place = {0};
    if (name.module)
        return (struct place){name.place, name.place_length};
    if (paths != NULL && name.direction == TDC_CALL_BACKWARD) {
        tdc_text_clear(scratch);
        tdc_text_add(scratch, name.stem, name.stem_length);
        tdc_text_adds(scratch, ".forward");
        tdc_text_adds(scratch, name.rest);
        place = module_around(paths, tdc_text_get(scratch));
    }
    if (paths != NULL && place.text == NULL)
        place = module_around(paths, call);
    return place;
}

static size_t component_end(struct place place, size_t start)
{
    const char *dot = memchr(place.text + start, '.', place.length - start);
    return dot != NULL ? (size_t)(dot - place.text) : place.length;
}

/* How much of two places is the same, in whole components. */
static size_t shared_length(struct place a, size_t length, struct place b)
{
    size_t same = 0;
    for (size_t i = 0; i <= length && i <= b.length; i++) {
        bool a_ends = i == length || a.text[i] == '.', b_ends = i == b.length || b.text[i] == '.';
        if (a_ends && b_ends)
            same = i;
        if (i == length || i == b.length || a.text[i] != b.text[i])
            break;
    }
    return same;
}

static bool is_number(struct place place, size_t start, size_t end)
{
    for (size_t i = start; i < end; i++)
        if (!isdigit((unsigned char)place.text[i]))
            return false;
    return start < end;
}

/*
 * A layer is a place up to its first number, "model.layers.3", since repeated parts of networks are
 * numbered; a place without one is a layer itself. Numbers that all places have in common
 * ("stage.0") tell nothing apart.
 */
static struct place layer_of(struct place place, size_t shared, bool *numbered)
{
    *numbered = false;
    for (size_t start = 0; start <= place.length;) {
        size_t end = component_end(place, start);
        if (end > shared && is_number(place, start, end)) {
            *numbered = true;
            return (struct place){place.text, end};
        }
        start = end + 1;
    }
    return place;
}

/* ---- layers ---------------------------------------------------------------------------------- */

struct layering {
    struct tdc_trace *trace;
    struct trace_task *task;
    const struct tdc_module_paths *paths;
    struct place *places;                /* by call of the growth */
    struct tdc_name_table inner;         /* places that others lie in */
    struct tdc_name_table directions[2]; /* names of layers, forward and backward */
    struct trace_layer *layers[2];
    size_t shared;
    struct tdc_text scratch;
    bool any; /* place */
};

static bool find_places(struct layering *layering)
{
    const struct trace_task *task = layering->task;
    struct place first = {0};
    for (size_t i = 0; i < task->growth_count; i++) {
        struct place place = place_of(layering->paths, task->growth[i].call, &layering->scratch);
        /* the scratch text is used again: names of forward calls are found in the paths, where they
         * stay */
        layering->places[i] = place;
        if (place.text == NULL)
            continue;
        if (!layering->any) {
            first = place;
            layering->shared = place.length;
        }
        layering->any = true;
        layering->shared = shared_length(first, layering->shared, place);
        for (size_t length = place.length; length > 0;) {
            while (length > 0 && place.text[length - 1] != '.')
                length--;
            bool fresh = false;
            if (length > 0 &&
                tdc_names_put(&layering->inner, place.text, --length, &fresh) == TDC_NAME_NONE)
                return false;
            if (!fresh)
                break;
        }
    }
    return true;
}

static bool add_to_layer(struct layering *layering, struct trace_growth *growth, struct place name)
{
    struct tdc_name_table *names = &layering->directions[growth->backward];
    bool fresh;
    uint32_t number = tdc_names_find(names, name.text, name.length);
    if (number == TDC_NAME_NONE) {
        char *kept = tdc_arena_text(&layering->trace->arena, name.text, name.length);
        number = kept != NULL ? tdc_names_put(names, kept, name.length, &fresh) : TDC_NAME_NONE;
        if (number == TDC_NAME_NONE)
            return false;
        layering->layers[growth->backward][number] =
            (struct trace_layer){.name = kept, .backward = growth->backward};
    }
    struct trace_layer *layer = &layering->layers[growth->backward][number];
    layer->calls++;
    layer->distance = fmax(layer->distance, growth->distance);
    growth->layer = layer->name;
    return true;
}

/* Operators outside of all modules that follow each other are one layer, called after the first. */
static struct place layer_outside(const struct layering *layering, size_t index)
{
    const struct trace_growth *growth = &layering->task->growth[index];
    struct tdc_call_name name = tdc_call_name_parse(growth->call);
    bool follows = index != 0 && layering->places[index - 1].text == NULL &&
                   growth[-1].layer != NULL && growth[-1].backward == growth->backward;
    return follows ? (struct place){growth[-1].layer, strlen(growth[-1].layer)}
                   : (struct place){name.stem, name.stem_length};
}

static bool fill_layers(struct layering *layering)
{
    for (size_t i = 0; i < layering->task->growth_count; i++) {
        struct trace_growth *growth = &layering->task->growth[i];
        struct place place = layering->places[i];
        struct tdc_call_name name = tdc_call_name_parse(growth->call);
        bool numbered = false;
        if (growth->update)
            continue;
        if (place.text == NULL)
            place = layer_outside(layering, i);
        else
            place = layer_of(place, layering->shared, &numbered);
        /* the record of what holds layers repeats the last of them */
        if (name.module && !numbered &&
            tdc_names_find(&layering->inner, place.text, place.length) != TDC_NAME_NONE)
            continue;
        if (place.length != 0 && !add_to_layer(layering, growth, place))
            return false;
    }
    return true;
}

static bool make_layers(struct layering *layering)
{
    struct trace_task *task = layering->task;
    struct tdc_arena *arena = &layering->trace->arena;
    layering->places = tdc_arena_zeroed(arena, task->growth_count + 1, sizeof *layering->places);
    if (layering->places == NULL || !find_places(layering))
        return false;
    if (!layering->any)
        return true;
    for (int i = 0; i < 2; i++) {
        layering->layers[i] =
            tdc_arena_zeroed(arena, task->growth_count + 1, sizeof *layering->layers[i]);
        if (layering->layers[i] == NULL)
            return false;
    }
    if (!fill_layers(layering))
        return false;
    size_t forward = layering->directions[0].count, backward = layering->directions[1].count;
    task->layers = tdc_arena_zeroed(arena, forward + backward + 1, sizeof *task->layers);
    if (task->layers == NULL)
        return false;
    memcpy(task->layers, layering->layers[0], forward * sizeof *task->layers);
    memcpy(task->layers + forward, layering->layers[1], backward * sizeof *task->layers);
    task->layer_count = forward + backward;
    return true;
}

tdc_status trace_note_growth(struct tdc_trace *trace, struct trace_task *task,
                             const struct tdc_table *table, const struct tdc_module_paths *paths,
                             struct tdc_error *error)
{
    tdc_status status = note_calls(trace, task, table, error);
    if (status != TDC_OK)
        return status;
    struct layering layering = {.trace = trace, .task = task, .paths = paths};
    tdc_names_init(&layering.inner);
    tdc_names_init(&layering.directions[0]);
    tdc_names_init(&layering.directions[1]);
    tdc_text_init(&layering.scratch, (size_t)1 << 20);
    bool done = make_layers(&layering);
    tdc_text_free(&layering.scratch);
    tdc_names_free(&layering.inner);
    tdc_names_free(&layering.directions[0]);
    tdc_names_free(&layering.directions[1]);
    return done ? TDC_OK : trace_no_memory(error);
}
