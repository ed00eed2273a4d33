/* step_order.c - which record follows which; stack.json and construct.json. */
#include "bench/network/step_order.h"

#include <stdio.h>
#include <string.h>

#include "bench/synthetic/json_printer.h"

#define INDENT 1
#define NAME   (TDC_STEP_NAME + 32)

/* ---- order ----------------------------------------------------------------------------------- */

static bool visit_forward(const struct tdc_step_event *event,
                          bool (*visit)(void *, const struct tdc_step_record *), void *context)
{
    char name[NAME];
    if (event->kind == TDC_MODULE_BEGINS)
        return true;
    if (event->kind == TDC_CALL_HAPPENS)
        snprintf(name, sizeof name, "%s.forward", event->call->name);
    else
        snprintf(name, sizeof name, "%s.forward.0", event->module->name);
    struct tdc_step_record record = {TDC_RECORD_FORWARD, name, event->call, event->module};
    return visit(context, &record);
}

/* A module's backward is over when that of its first call is. */
static bool visit_backward(const struct tdc_step_event *event,
                           bool (*visit)(void *, const struct tdc_step_record *), void *context)
{
    char name[NAME];
    if (event->kind == TDC_CALL_HAPPENS && event->call->pulled) {
        snprintf(name, sizeof name, "%s.backward", event->call->name);
        struct tdc_step_record record = {TDC_RECORD_BACKWARD, name, event->call, event->module};
        return visit(context, &record);
    }
    if (event->kind != TDC_MODULE_BEGINS || event->module->arriving == NULL)
        return true;
    if (event->module->parameter_count > 0) {
        snprintf(name, sizeof name, "%s.parameters_grad.0", event->module->name);
        struct tdc_step_record record = {TDC_RECORD_GRADIENTS, name, NULL, event->module};
        if (!visit(context, &record))
            return false;
    }
    snprintf(name, sizeof name, "%s.backward.0", event->module->name);
    struct tdc_step_record record = {TDC_RECORD_BACKWARD, name, NULL, event->module};
    return visit(context, &record);
}

void tdc_step_visit(const struct tdc_step *step,
                    bool (*visit)(void *context, const struct tdc_step_record *record),
                    void *context)
{
    for (size_t i = 0; i < step->event_count; i++)
        if (!visit_forward(&step->events[i], visit, context))
            return;
    for (size_t i = step->event_count; i-- > 0;)
        if (!visit_backward(&step->events[i], visit, context))
            return;
}

/* ---- stack.json and construct.json ----------------------------------------------------------- */

struct places {
    enum tdc_step_level level;
    struct tdc_json_printer printer;
    unsigned stacks;
};

static bool is_wanted(const struct places *places, const struct tdc_step_record *record)
{
    return record->kind != TDC_RECORD_GRADIENTS &&
           (places->level & (record->call != NULL ? TDC_STEP_L1 : TDC_STEP_L0)) != 0;
}

/* The last part of a module's path: Module.model.layers.0.mlp.Mlp is called as self.mlp. */
static void put_frame(struct places *places, const struct tdc_step_module *called)
{
    char frame[NAME + 80];
    const char *type = strrchr(called->name, '.');
    const char *part = type;
    while (part > called->name && part[-1] != '.')
        part--;
    snprintf(frame, sizeof frame, "File network.py, line %u, in forward, \\n x = self.%.*s(x)",
             10 + called->place, (int)(type - part), part);
    tdc_json_string(&places->printer, NULL, frame);
}

static bool put_stack(void *context, const struct tdc_step_record *record)
{
    struct places *places = context;
    char text[NAME + 128];
    if (record->kind != TDC_RECORD_FORWARD || !is_wanted(places, record))
        return true;
    snprintf(text, sizeof text, "%u", places->stacks++);
    tdc_json_open(&places->printer, text, '[');
    tdc_json_open(&places->printer, NULL, '[');
    tdc_json_string(&places->printer, NULL, record->name);
    tdc_json_close(&places->printer, ']');
    tdc_json_open(&places->printer, NULL, '[');
    if (record->call != NULL) {
        snprintf(text, sizeof text, "File network.py, line %u, in forward, \\n %s",
                 10 + record->call->place, record->call->source);
        tdc_json_string(&places->printer, NULL, text);
    }
    for (const struct tdc_step_module *m = record->module; m != NULL; m = m->parent)
        put_frame(places, m);
    tdc_json_string(&places->printer, NULL,
                    "File train.py, line 42, in <module>, \\n loss = model(ids, targets)");
    tdc_json_close(&places->printer, ']');
    tdc_json_close(&places->printer, ']');
    return true;
}

static bool put_parent(void *context, const struct tdc_step_record *record)
{
    struct places *places = context;
    char text[NAME];
    const struct tdc_step_module *parent =
        record->call != NULL ? record->module : record->module->parent;
    if (!is_wanted(places, record))
        return true;
    if (parent == NULL) {
        tdc_json_raw(&places->printer, record->name, "null");
        return true;
    }
    snprintf(text, sizeof text, "%s.%s.0", parent->name,
             record->kind == TDC_RECORD_FORWARD ? "forward" : "backward");
    tdc_json_string(&places->printer, record->name, text);
    return true;
}

tdc_status tdc_step_write_stack(const struct tdc_step *step, enum tdc_step_level level,
                                const char *folder, struct tdc_error *error)
{
    struct places places = {.level = level};
    tdc_status status = tdc_json_printer_open(&places.printer, INDENT, folder, "stack.json", error);
    if (status != TDC_OK)
        return status;
    tdc_step_visit(step, put_stack, &places);
    return tdc_json_printer_close(&places.printer, folder, "stack.json", error);
}

tdc_status tdc_step_write_construct(const struct tdc_step *step, enum tdc_step_level level,
                                    const char *folder, struct tdc_error *error)
{
    struct places places = {.level = level};
    tdc_status status =
        tdc_json_printer_open(&places.printer, INDENT, folder, "construct.json", error);
    if (status != TDC_OK)
        return status;
    if (level != TDC_STEP_L1) /* without modules nothing has a place */
        tdc_step_visit(step, put_parent, &places);
    return tdc_json_printer_close(&places.printer, folder, "construct.json", error);
}
