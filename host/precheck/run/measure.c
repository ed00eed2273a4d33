#include "host/precheck/run/measure.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/precheck/check/check.h"
#include "host/precheck/run/precheck.h"

#define MEASURE_MEMORY ((size_t)16 << 30)

static void skip(struct tdc_measure *measure, const char *reason)
{
    measure->status = TDC_CHECK_SKIP;
    snprintf(measure->reason, sizeof measure->reason, "%s", reason);
}

static void take_direction(const struct tdc_direction_check *checked, struct tdc_measure *measure)
{
    measure->status = checked->status;
    if (checked->status == TDC_CHECK_SKIP || checked->status == TDC_CHECK_NONE) {
        skip(measure,
             checked->reason.text[0] != '\0' ? checked->reason.text : "nothing to compare with it");
        return;
    }
    for (size_t i = 0; i < checked->count; i++) {
        const struct tdc_slot_row *row = &checked->rows[i];
        if (row->measured && row->floating && row->metrics.max_ulp > measure->ulp)
            measure->ulp = row->metrics.max_ulp;
    }
}

/* ---- the output that was named --------------------------------------------------------------- */

/* The tensor that a row ".output.0.1" shows, in what was recorded; NULL: it shows none. */
static const struct tdc_reference_tensor *tensor_of_row(const struct tdc_values *listed,
                                                        const char *name)
{
    static const char word[] = ".output.";
    const char *place = strstr(name, word);
    const struct tdc_reference_value *list = listed->list;
    size_t count = listed->count;
    for (place = place != NULL ? place + strlen(word) : ""; isdigit((unsigned char)*place);) {
        char *end;
        unsigned long index = strtoul(place, &end, 10);
        if (index >= count || (*end != '\0' && *end != '.'))
            return NULL;
        const struct tdc_reference_value *value = &list[index];
        if (*end == '\0')
            return value->kind == TDC_VALUE_TENSOR ? value->tensor : NULL;
        if (value->kind != TDC_VALUE_LIST)
            return NULL;
        list = value->list.values;
        count = value->list.count;
        place = end + 1;
    }
    return NULL;
}

static double *copy_of(const double *values, size_t count)
{
    double *copy = values != NULL ? malloc((count + 1) * sizeof *copy) : NULL;
    if (copy != NULL && count != 0)
        memcpy(copy, values, count * sizeof *copy);
    return copy;
}

static void keep_slot(struct tdc_arena *arena, const struct tdc_slot *slot,
                      struct tdc_measured_output *output)
{
    const struct tdc_reference_tensor *tested = slot->tested.tensor;
    const struct tdc_reference_tensor *truth = slot->reference.tensor;
    if (slot->reference.kind != TDC_VALUE_TENSOR || !tdc_same_shape(tested, truth))
        return;
    output->count = (size_t)tested->count;
    output->dtype = tested->dtype;
    output->values = copy_of(tdc_as_doubles(arena, tested), output->count);
    output->truth = copy_of(tdc_as_doubles(arena, truth), output->count);
}

/* Outputs are paired with what they should be in an order of their own: a tensor is known by where
 * its elements lie, which no rearrangement or new shape changes. */
static void keep_output(struct tdc_checker *checker, const struct tdc_call_check *check,
                        enum tdc_direction direction, const char *name,
                        struct tdc_measured_output *output)
{
    const struct tdc_direction_check *checked = &check->directions[direction];
    const struct tdc_reference_tensor *wanted = tensor_of_row(&check->listed[direction], name);
    for (size_t i = 0; wanted != NULL && i < checked->count; i++) {
        const struct tdc_slot *slot = &checked->slots[i];
        if (slot->tested.kind == TDC_VALUE_TENSOR && slot->tested.tensor->real == wanted->real)
            keep_slot(&checker->arena, slot, output);
        if (output->values != NULL)
            return;
    }
}

void tdc_measure_free(struct tdc_measure *measure)
{
    free(measure->output.values);
    free(measure->output.truth);
    measure->output = (struct tdc_measured_output){0};
}

void tdc_precheck_measure(tdc_precheck *precheck, const char *name, struct tdc_measure *measure)
{
    *measure = (struct tdc_measure){.ulp = -1};
    const struct tdc_call *call = tdc_precheck_find(precheck, name);
    if (call == NULL) {
        skip(measure, "it is no call of an API");
        return;
    }
    struct tdc_checker checker;
    if (!tdc_checker_start(&checker, &precheck->calls, precheck->options, MEASURE_MEMORY)) {
        skip(measure, "out of memory");
    } else {
        struct tdc_call_check check;
        bool backward = strstr(name + strlen(call->name), ".backward") != NULL;
        tdc_check_call(&checker, call, &check);
        if (check.unsupported)
            skip(measure, "no reference for this API");
        else {
            enum tdc_direction direction = backward ? TDC_BACKWARD : TDC_FORWARD;
            take_direction(&check.directions[direction], measure);
            keep_output(&checker, &check, direction, name, &measure->output);
        }
        tdc_call_check_end(&check);
    }
    tdc_checker_end(&checker);
}
