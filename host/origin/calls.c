/* calls.c - finding the calls of a table, and judging by them what is known beforehand. */
#include "host/origin/calls.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/judge/rules.h"

/* ---- what the records say -------------------------------------------------------------------- */

/* What the texts of the records before mean: those of a dump are kept once, so that most records
 * have the same as their neighbours. */
struct recent_texts {
    const char *dtype, *shape; /* NULL: none yet */
    enum tdc_precision precision;
    double root; /* of the number of elements */
};

static double root_of(struct recent_texts *recent, const struct tdc_record *record)
{
    if (recent->shape != record->shape) {
        recent->shape = record->shape;
        recent->root = sqrt(tdc_shape_elements(record->shape));
    }
    return recent->root;
}

/* Values of float8 do not make the rest of the network one of float8: products are wider. */
static void note_precision(struct tdc_call *call, struct recent_texts *recent,
                           const struct tdc_record *record)
{
    if (record == NULL || record->scalar)
        return;
    if (recent->dtype != record->dtype) {
        recent->dtype = record->dtype;
        recent->precision = tdc_precision_of(record->dtype);
    }
    enum tdc_precision precision = recent->precision;
    if (precision > TDC_PRECISION_BF16)
        precision = TDC_PRECISION_BF16;
    if (precision > call->precision)
        call->precision = (uint8_t)precision;
}

/* tdc_record_rms; *root is that of the number of elements. */
static bool rms_of(struct recent_texts *recent, const struct tdc_record *record, double *rms,
                   double *root)
{
    double norm;
    if (record == NULL || record->scalar || !tdc_stat_number(record, TDC_NORM, &norm) ||
        !isfinite(norm))
        return false;
    *root = root_of(recent, record);
    *rms = *root > 0 ? norm / *root : 0;
    return true;
}

static void note_input(struct tdc_call *call, struct recent_texts *recent,
                       const struct tdc_record *record)
{
    double rms, root;
    if (!rms_of(recent, record, &rms, &root))
        return;
    double norm = rms * root;
    call->input_rms = fmax(call->input_rms, rms);
    call->input_norm = fmax(call->input_norm, norm);
}

static void note_output(struct tdc_call *call, struct recent_texts *recent,
                        const struct tdc_record *record)
{
    double rms, root;
    if (rms_of(recent, record, &rms, &root))
        call->output_rms = fmax(call->output_rms, rms);
}

/* Attention and recurrent layers drop elements themselves when told so. */
static bool drops(const struct tdc_call_name *name, const struct tdc_record *record)
{
    double value;
    if (record == NULL || !record->scalar || record->stat_kinds[TDC_MAX] != TDC_STAT_FLOAT)
        return false;
    value = record->stats[TDC_MAX].number;
    if (!(value > 0 && value < 1))
        return false;
    const char *last = strrchr(record->name, '.');
    if (last != NULL && strstr(last, "dropout") != NULL)
        return true;
    static const char attention[] = "scaled_dot_product_attention";
    bool by_place = name->operation_length == sizeof attention - 1 &&
                    memcmp(name->operation, attention, sizeof attention - 1) == 0 && last != NULL &&
                    strcmp(last, ".4") == 0;
    bool recurrent = (name->operation_length == 4 && memcmp(name->operation, "lstm", 4) == 0) ||
                     (name->operation_length == 3 && memcmp(name->operation, "gru", 3) == 0);
    return !name->module && (by_place || recurrent);
}

static void note_rows(const struct tdc_rows *rows, const struct tdc_call_name *name,
                      struct recent_texts *recent, struct tdc_call *call)
{
    /* what updates a parameter in place does so where no gradients are kept */
    bool in_place = !name->module && name->operation_length != 0 &&
                    name->operation[name->operation_length - 1] == '_';
    for (uint32_t i = call->first; i < call->end; i++) {
        const struct tdc_record *npu = tdc_npu_record(rows->match, &rows->rows[i]);
        const struct tdc_record *bench = tdc_bench_record(rows->match, &rows->rows[i]);
        const struct tdc_record *any = npu != NULL ? npu : bench;
        note_precision(call, recent, npu);
        note_precision(call, recent, bench);
        if (tdc_state_is_output(any->state)) {
            note_output(call, recent, npu);
            note_output(call, recent, bench);
            continue;
        }
        note_input(call, recent, npu);
        note_input(call, recent, bench);
        call->update &= in_place || strcmp(any->requires_grad, "True") != 0;
        call->random |= call->direction == TDC_CALL_FORWARD && drops(name, any);
    }
}

static void note_operation(const struct tdc_call_name *name, struct tdc_call *call)
{
    call->conversion = tdc_operation_converts(name);
    call->kink = tdc_operation_has_kink(name);
    call->exponential = tdc_operation_is_exponential(name);
    call->random = call->random_operation = tdc_operation_is_random(name);
    call->overwrites = tdc_operation_overwrites(name);
    call->keeps_rest = tdc_operation_overwrites_part(name);
    call->undefined = tdc_operation_leaves_undefined(name);
}

/* A network has few operations and many calls of each: so many are asked about once. */
#define MOST_KINDS 256

struct operation_kinds {
    struct tdc_name_table names[2]; /* of functions and of modules */
    uint32_t first[2][MOST_KINDS];  /* call of the operation with that number */
};

/* False when out of memory. */
static bool note_name(struct operation_kinds *kinds, const struct tdc_call_name *name,
                      struct tdc_call *calls, uint32_t index)
{
    struct tdc_call *call = &calls[index];
    struct tdc_name_table *names = &kinds->names[name->module];
    call->direction = (uint8_t)name->direction;
    call->module = name->module;
    bool fresh = false;
    uint32_t number = names->count < MOST_KINDS
                          ? tdc_names_put(names, name->operation, name->operation_length, &fresh)
                          : tdc_names_find(names, name->operation, name->operation_length);
    if (number == TDC_NAME_NONE) {
        note_operation(name, call);
        return names->count >= MOST_KINDS;
    }
    if (fresh) {
        note_operation(name, call);
        kinds->first[name->module][number] = index;
        return true;
    }
    const struct tdc_call *like = &calls[kinds->first[name->module][number]];
    call->conversion = like->conversion;
    call->kink = like->kink;
    call->exponential = like->exponential;
    call->random = call->random_operation = like->random_operation;
    call->overwrites = like->overwrites;
    call->keeps_rest = like->keeps_rest;
    call->undefined = like->undefined;
    return true;
}

/* ---- how calls belong together --------------------------------------------------------------- */

/* Gradients and backward calls of one module, as far as the dump has been walked. */
struct module_calls {
    uint32_t gradients; /* the last ones */
    bool waiting;       /* for their backward call */
    uint32_t backward;  /* one that no gradients have taken yet */
};

struct building {
    const struct tdc_rows *rows;
    struct tdc_calls *calls;
    uint32_t *of_entry; /* NPU entries: their call */
    struct tdc_name_table parents;
    struct tdc_name_table modules;
    struct module_calls *of_module; /* by number in modules */
    struct tdc_text name;
    struct recent_texts recent;
    struct operation_kinds kinds;
};

/* The call of the entry with the same stem and another direction. */
static uint32_t sibling(struct building *building, const struct tdc_call_name *name,
                        const char *direction, const char *rest)
{
    tdc_text_clear(&building->name);
    tdc_text_add(&building->name, name->stem, name->stem_length);
    tdc_text_addc(&building->name, '.');
    tdc_text_adds(&building->name, direction);
    tdc_text_adds(&building->name, rest);
    if (building->name.failed)
        return TDC_NO_CALL;
    uint32_t entry = tdc_names_find(&building->rows->match->npu->entry_names, building->name.data,
                                    building->name.length);
    return entry == TDC_NAME_NONE ? TDC_NO_CALL : building->of_entry[entry];
}

/* All modules this one lies in. Deeper than a few hundred levels is no network. */
static bool note_parents(struct building *building, const struct tdc_call_name *name)
{
    size_t length = name->place_length;
    for (int depth = 0; depth < 256; depth++) {
        while (length > 0 && name->place[length - 1] != '.')
            length--;
        if (length == 0)
            return true;
        bool fresh;
        if (tdc_names_put(&building->parents, name->place, --length, &fresh) == TDC_NAME_NONE)
            return false;
        if (!fresh)
            return true;
    }
    return true;
}

/* The name of a call; *of_npu is false for rows that the bench alone has. */
static const char *entry_of(const struct tdc_rows *rows, const struct tdc_call *call, bool *of_npu)
{
    const struct tdc_row *row = &rows->rows[call->first];
    const struct tdc_record *npu = tdc_npu_record(rows->match, row),
                            *bench = tdc_bench_record(rows->match, row);
    *of_npu = npu != NULL;
    return npu != NULL ? rows->match->npu->entries[npu->entry].name
                       : rows->match->bench->entries[bench->entry].name;
}

/*
 * The numbers of gradients count micro batches, those of backward calls count forward calls, of
 * which a recomputed module has two for each: the order in the dump tells which belong together.
 * Collectors write the gradients right before the backward call of their module, or after it.
 */
static bool link_gradients(struct building *building, const struct tdc_call_name *name,
                           uint32_t index)
{
    struct tdc_call *calls = building->calls->calls;
    bool fresh;
    uint32_t number = tdc_names_put(&building->modules, name->stem, name->stem_length, &fresh);
    if (number == TDC_NAME_NONE)
        return false;
    struct module_calls *module = &building->of_module[number];
    if (fresh)
        *module = (struct module_calls){TDC_NO_CALL, false, TDC_NO_CALL};
    if (name->direction == TDC_CALL_GRADIENTS) {
        calls[index].earlier = module->gradients;
        calls[index].backward = module->backward;
        module->waiting = module->backward == TDC_NO_CALL;
        module->gradients = index;
        module->backward = TDC_NO_CALL;
    } else if (module->waiting) {
        calls[module->gradients].backward = index;
        module->waiting = false;
    } else {
        module->backward = index;
    }
    return true;
}

static bool link_call(struct building *building, uint32_t index)
{
    struct tdc_call *call = &building->calls->calls[index];
    bool of_npu;
    struct tdc_call_name name = tdc_call_name_parse(entry_of(building->rows, call, &of_npu));
    if (!of_npu)
        return true;
    if (name.direction == TDC_CALL_BACKWARD)
        call->forward = sibling(building, &name, "forward", name.rest);
    call->container = name.module && tdc_names_find(&building->parents, name.place,
                                                    name.place_length) != TDC_NAME_NONE;
    bool gradient = name.direction == TDC_CALL_BACKWARD || name.direction == TDC_CALL_GRADIENTS;
    return !gradient || !name.module || link_gradients(building, &name, index);
}

/* ---- all ------------------------------------------------------------------------------------- */

/* Rows of one NPU entry that are neighbours; rows of the bench alone are calls of one row. */
static void group_rows(struct building *building)
{
    const struct tdc_rows *rows = building->rows;
    struct tdc_calls *calls = building->calls;
    uint32_t entry = UINT32_MAX;
    for (size_t i = 0; i < rows->count; i++) {
        const struct tdc_record *npu = tdc_npu_record(rows->match, &rows->rows[i]);
        if (npu == NULL || npu->entry != entry) {
            entry = npu != NULL ? npu->entry : UINT32_MAX;
            if (npu != NULL)
                building->of_entry[entry] = (uint32_t)calls->count;
            calls->calls[calls->count++] = (struct tdc_call){.first = (uint32_t)i,
                                                             .forward = TDC_NO_CALL,
                                                             .backward = TDC_NO_CALL,
                                                             .earlier = TDC_NO_CALL};
        }
        calls->calls[calls->count - 1].end = (uint32_t)i + 1;
        rows->rows[i].call = (uint32_t)calls->count - 1;
    }
}

static bool describe_calls(struct building *building)
{
    struct tdc_calls *calls = building->calls;
    uint8_t precision = TDC_PRECISION_EXACT;
    bool backward = false; /* has begun */
    for (size_t i = 0; i < calls->count; i++) {
        struct tdc_call *call = &calls->calls[i];
        bool of_npu;
        struct tdc_call_name name = tdc_call_name_parse(entry_of(building->rows, call, &of_npu));
        call->precision = precision;
        if (!note_name(&building->kinds, &name, calls->calls, (uint32_t)i))
            return false;
        backward |= call->direction == TDC_CALL_BACKWARD || call->direction == TDC_CALL_GRADIENTS;
        call->update = backward && call->direction == TDC_CALL_FORWARD;
        note_rows(building->rows, &name, &building->recent, call);
        /* what the bench has in other places came at an unknown time */
        if (of_npu)
            precision = call->precision;
        if (name.module && !note_parents(building, &name))
            return false;
    }
    for (size_t i = 0; i < calls->count; i++)
        if (!link_call(building, (uint32_t)i))
            return false;
    for (size_t i = 0; i < calls->count; i++) {
        struct tdc_call *call = &calls->calls[i];
        if (call->direction == TDC_CALL_GRADIENTS && call->backward != TDC_NO_CALL)
            call->forward = calls->calls[call->backward].forward;
    }
    return true;
}

bool tdc_calls_make(const struct tdc_rows *rows, struct tdc_calls *calls)
{
    struct building building = {.rows = rows, .calls = calls};
    size_t entries = rows->match->npu->entry_count;
    *calls = (struct tdc_calls){.rows = *rows};
    calls->calls = malloc((rows->count + 1) * sizeof *calls->calls);
    building.of_entry = malloc((entries + 1) * sizeof *building.of_entry);
    building.of_module = malloc((entries + 1) * sizeof *building.of_module);
    tdc_names_init(&building.parents);
    tdc_names_init(&building.modules);
    tdc_names_init(&building.kinds.names[0]);
    tdc_names_init(&building.kinds.names[1]);
    tdc_text_init(&building.name, (size_t)1 << 20);
    bool ok = calls->calls != NULL && building.of_entry != NULL && building.of_module != NULL;
    if (ok) {
        memset(building.of_entry, 0xff, (entries + 1) * sizeof *building.of_entry);
        group_rows(&building);
        ok = describe_calls(&building);
    }
    tdc_text_free(&building.name);
    tdc_names_free(&building.parents);
    tdc_names_free(&building.modules);
    tdc_names_free(&building.kinds.names[0]);
    tdc_names_free(&building.kinds.names[1]);
    free(building.of_module);
    free(building.of_entry);
    return ok;
}

/* ---- scenes ---------------------------------------------------------------------------------- */

/*
 * What a sum over the inputs may leave where the true result is zero: the unit roundoff times the
 * size of what was summed. Examples are the gradient of a bias before a normalisation and that of
 * the bias of a key projection: zero in theory, noise in fact.
 */
static double zero_of(const struct tdc_calls *calls, const struct tdc_call *call,
                      const struct tdc_record *record, bool output, bool gradient)
{
    double u = tdc_unit_roundoff((enum tdc_precision)call->precision);
    if (!output)
        return 16 * u * call->input_rms;
    if (!gradient && tdc_precision_half((enum tdc_precision)call->precision))
        return 0;
    double factor = tdc_precision_half((enum tdc_precision)call->precision) ? 2 : 32;
    const struct tdc_call *source = call;
    double others = 0;
    if (call->direction == TDC_CALL_GRADIENTS) {
        others = 16 * u * call->output_rms;
        if (call->backward == TDC_NO_CALL)
            return others;
        source = &calls->calls[call->backward];
    }
    double elements = fmax(1, tdc_shape_elements(record->shape));
    return fmax(others, factor * u * fmax(source->input_rms, source->input_norm / sqrt(elements)));
}

struct tdc_scene tdc_calls_scene(const struct tdc_calls *calls, const struct tdc_row *row)
{
    struct tdc_scene scene = {.precision = TDC_PRECISION_F32};
    if (calls->count == 0)
        return scene;
    const struct tdc_rows *rows = &calls->rows;
    const struct tdc_record *npu = tdc_npu_record(rows->match, row);
    const struct tdc_record *bench = tdc_bench_record(rows->match, row);
    const struct tdc_call *call = &calls->calls[row->call];
    scene.unjudged = call->conversion && call->direction == TDC_CALL_BACKWARD;
    if (npu == NULL || bench == NULL)
        return scene;
    bool output = tdc_state_is_output(npu->state);
    scene.update = call->update;
    scene.gradient = call->direction == TDC_CALL_BACKWARD ||
                     call->direction == TDC_CALL_GRADIENTS || call->update ||
                     (call->direction == TDC_CALL_OTHER && strstr(npu->name, "_grad") != NULL);
    enum tdc_precision n = tdc_precision_of(npu->dtype), b = tdc_precision_of(bench->dtype);
    scene.precision = n > b ? n : b;
    if (scene.precision != TDC_PRECISION_EXACT && scene.precision < call->precision)
        scene.precision = (enum tdc_precision)call->precision;
    scene.enters = npu->state == TDC_STATE_PARAMETERS || (row->call == 0 && !output);
    scene.unjudged |= (call->undefined && output) ||
                      (call->overwrites && !output && &rows->rows[call->first] == row);
    if (npu->scalar)
        scene.precision = (enum tdc_precision)call->precision;
    else
        scene.zero = zero_of(calls, call, npu, output, scene.gradient);
    return scene;
}
