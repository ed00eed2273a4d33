/* parameters.c - tensors of several ranks as one, and its elements. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/checkpoint/checkpoint.h"
#include "host/engine/source.h"
#include "io/base/error.h"
#include "io/file/mapping_guard.h"
#include "kernels/dtype.h"
#include "kernels/pair.h"

void tdc_checkpoint_say(const struct tdc_checkpoint_options *options, tdc_message_level level,
                        const char *format, ...)
{
    char text[2048];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (options->message != NULL)
        options->message(options->context, level, text);
}

/* ---- elements -------------------------------------------------------------------------------- */

/* `count` elements of one part as float32. */
static void read_part(const struct tdc_tensor *part, uint64_t first, size_t count, double *values,
                      unsigned char *scratch)
{
    size_t size = tdc_dtype_size(part->dtype);
    const unsigned char *elements = scratch;
    if (part->dense && !part->swapped)
        elements = part->data + first * size;
    else
        tdc_gather_elements(part, first, count, scratch);
    if (part->dtype == TDC_F32) {
        for (size_t i = 0; i < count; i++) {
            float value;
            memcpy(&value, elements + i * sizeof value, sizeof value);
            values[i] = (double)value;
        }
        return;
    }
    for (size_t i = 0; i < count; i++) {
        double imaginary;
        values[i] = (double)(float)tdc_element_value(part->dtype, elements + i * size, &imaginary);
    }
}

/* Elements of a row of the whole that lie behind the axis, for a part. */
static uint64_t run_length(const struct tdc_parameter *parameter, const struct tdc_tensor *part)
{
    uint64_t length = 1;
    for (unsigned d = parameter->axis; d < parameter->dimensions; d++)
        length *= part->shape[d];
    return length;
}

void tdc_parameter_read(const struct tdc_parameter *parameter, uint64_t first, size_t count,
                        double *values, void *scratch)
{
    uint64_t row_length = 0;
    for (size_t p = 0; p < parameter->part_count; p++)
        row_length += run_length(parameter, &parameter->parts[p]);
    while (count > 0 && row_length > 0) {
        uint64_t row = first / row_length, column = first % row_length;
        size_t p = 0;
        uint64_t length = run_length(parameter, &parameter->parts[0]);
        for (; column >= length; length = run_length(parameter, &parameter->parts[++p]))
            column -= length;
        uint64_t left = length - column;
        size_t now = left < count ? (size_t)left : count;
        read_part(&parameter->parts[p], row * length + column, now, values, scratch);
        first += now;
        values += now;
        count -= now;
    }
}

/* ---- joining --------------------------------------------------------------------------------- */

enum {
    BLOCK = 4096
};

struct agreement {
    const struct tdc_tensor *a, *b;
    double values[2][BLOCK];
    unsigned char scratch[BLOCK * 16];
    bool agree;
};

/* numpy's allclose: |a - b| <= 1e-8 + 1e-5 |b| everywhere. */
static void check_agreement(void *argument)
{
    struct agreement *agreement = argument;
    agreement->agree = true;
    for (uint64_t first = 0; first < agreement->a->count && agreement->agree; first += BLOCK) {
        uint64_t left = agreement->a->count - first;
        size_t count = left < BLOCK ? (size_t)left : BLOCK;
        read_part(agreement->a, first, count, agreement->values[0], agreement->scratch);
        read_part(agreement->b, first, count, agreement->values[1], agreement->scratch);
        for (size_t i = 0; i < count; i++) {
            double a = agreement->values[0][i], b = agreement->values[1][i];
            if (!(a == b || fabs(a - b) <= 1e-8 + 1e-5 * fabs(b)) || isinf(a) != isinf(b))
                agreement->agree = false;
        }
    }
}

/* Tensors that every rank holds should be the same. */
static tdc_status check_copies(const char *name, const struct tdc_tensor *parts, size_t count,
                               const char *file, const struct tdc_checkpoint_options *options,
                               struct tdc_error *error)
{
    struct agreement *agreement = malloc(sizeof *agreement);
    if (agreement == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
    bool agree = true;
    tdc_status status = TDC_OK;
    for (size_t i = 1; i < count && agree && status == TDC_OK; i++) {
        agree = parts[i].dimensions == parts[0].dimensions &&
                memcmp(parts[i].shape, parts[0].shape,
                       parts[0].dimensions * sizeof parts[0].shape[0]) == 0;
        if (!agree)
            break;
        agreement->a = &parts[0];
        agreement->b = &parts[i];
        if (!tdc_guarded_read(check_agreement, agreement))
            status = tdc_fail(error, TDC_ERR_CHANGED, "%s: changed while being read", file);
        agree = agreement->agree;
    }
    if (status == TDC_OK && !agree)
        tdc_checkpoint_say(options, TDC_MESSAGE_WARNING,
                           "Inconsistent values for %s across TP ranks", name);
    free(agreement);
    return status;
}

static bool contains_one_of(const char *name, const char *const *words)
{
    for (; *words != NULL; words++)
        if (strstr(name, *words) != NULL)
            return true;
    return false;
}

/* Along which axis the ranks of tensor parallelism have parts of it; -1: all have all of it. */
static int axis_of(const char *name)
{
    static const char *const columns[] = {"linear_qkv", "linear_fc1", "word_embeddings.weight",
                                          "output_layer.weight", NULL};
    static const char *const rows[] = {"linear_fc2.weight", "linear_proj.weight", NULL};
    return contains_one_of(name, columns) ? 0 : contains_one_of(name, rows) ? 1 : -1;
}

/* The shape of all parts along the axis; false if they do not fit together. */
static bool join_shapes(struct tdc_parameter *parameter)
{
    const struct tdc_tensor *first = &parameter->parts[0];
    parameter->dimensions = first->dimensions;
    memcpy(parameter->shape, first->shape, sizeof parameter->shape);
    parameter->count = first->count;
    if (parameter->part_count == 1)
        return true;
    if (parameter->axis >= first->dimensions)
        return false;
    for (size_t i = 1; i < parameter->part_count; i++) {
        const struct tdc_tensor *part = &parameter->parts[i];
        if (part->dimensions != first->dimensions)
            return false;
        for (unsigned d = 0; d < first->dimensions; d++)
            if (d != parameter->axis && part->shape[d] != first->shape[d])
                return false;
        if (__builtin_add_overflow(parameter->shape[parameter->axis], part->shape[parameter->axis],
                                   &parameter->shape[parameter->axis]) ||
            __builtin_add_overflow(parameter->count, part->count, &parameter->count))
            return false;
    }
    return true;
}

/* Where the parameter goes: its old place if the name is known. */
static struct tdc_parameter *place(struct tdc_checkpoint *checkpoint, const char *name)
{
    bool fresh;
    uint32_t number = tdc_names_put(&checkpoint->names, name, strlen(name), &fresh);
    if (number == TDC_NAME_NONE)
        return NULL;
    if (checkpoint->count == checkpoint->room && fresh) {
        size_t room = checkpoint->room == 0 ? 256 : checkpoint->room * 2;
        struct tdc_parameter *grown =
            reallocarray(checkpoint->parameters, room, sizeof *checkpoint->parameters);
        if (grown == NULL)
            return NULL;
        checkpoint->parameters = grown;
        checkpoint->room = room;
    }
    checkpoint->count += fresh;
    return &checkpoint->parameters[number];
}

tdc_status tdc_checkpoint_add(struct tdc_checkpoint *checkpoint, const char *name,
                              const struct tdc_tensor *parts, size_t count, const char *file,
                              const struct tdc_checkpoint_options *options, struct tdc_error *error)
{
    int axis = axis_of(name);
    if (axis < 0 && count > 1) {
        tdc_status status = check_copies(name, parts, count, file, options, error);
        if (status != TDC_OK)
            return status;
    }
    struct tdc_parameter parameter = {.name = name, .file = file};
    parameter.axis = axis > 0 ? (unsigned)axis : 0;
    parameter.part_count = axis < 0 ? 1 : count;
    parameter.parts =
        tdc_arena_zeroed(&checkpoint->arena, parameter.part_count, sizeof *parameter.parts);
    if (parameter.parts == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
    memcpy(parameter.parts, parts, parameter.part_count * sizeof *parts);
    if (!join_shapes(&parameter))
        return tdc_fail(error, TDC_ERR_FORMAT, "%s: the parts of %s do not fit together", file,
                        name);
    struct tdc_parameter *place_of = place(checkpoint, name);
    if (place_of == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
    *place_of = parameter;
    return TDC_OK;
}
