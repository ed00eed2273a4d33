/* fault.c - one call computed wrongly. */
#include "bench/network/fault.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SCALE   1.05
#define OFF_RMS 3.0
#define FACTOR  100.0

static const char *const kind_names[TDC_FAULT_KINDS] = {
    "scale", "element", "row", "nan", "inf", "argument", "inputs", "accumulate", "swap"};

const char *tdc_fault_kind_name(int kind)
{
    return kind >= 0 && kind < TDC_FAULT_KINDS ? kind_names[kind] : NULL;
}

static bool ends_with(const char *text, const char *tail)
{
    size_t length = strlen(text), size = strlen(tail);
    return length >= size && strcmp(text + length - size, tail) == 0;
}

bool tdc_fault_parse(const char *text, struct tdc_fault *fault)
{
    size_t length = strcspn(text, ":");
    fault->kind = TDC_FAULT_SCALE;
    if (text[length] == ':') {
        int kind = 0;
        while (kind < TDC_FAULT_KINDS && strcmp(text + length + 1, kind_names[kind]) != 0)
            kind++;
        if (kind == TDC_FAULT_KINDS)
            return false;
        fault->kind = (enum tdc_fault_kind)kind;
    }
    if (length == 0 || length + sizeof ".forward" > sizeof fault->call)
        return false;
    snprintf(fault->call, sizeof fault->call, "%.*s", (int)length, text);
    if (!ends_with(fault->call, ".forward") && !ends_with(fault->call, ".backward"))
        memcpy(fault->call + length, ".forward", sizeof ".forward");
    return true;
}

/* ---- before ---------------------------------------------------------------------------------- */

static const char *change_number(struct tdc_reference_call *call, struct tdc_arena *arena)
{
    struct tdc_reference_value *arguments =
        tdc_arena_zeroed(arena, call->argument_count + 1, sizeof *arguments);
    struct tdc_reference_keyword *keywords =
        tdc_arena_zeroed(arena, call->keyword_count + 1, sizeof *keywords);
    if (arguments == NULL || keywords == NULL)
        return "out of memory";
    memcpy(arguments, call->arguments, call->argument_count * sizeof *arguments);
    memcpy(keywords, call->keywords, call->keyword_count * sizeof *keywords);
    call->arguments = arguments;
    call->keywords = keywords;
    for (size_t i = call->keyword_count; i-- > 0;)
        if (keywords[i].value.kind == TDC_VALUE_FLOAT && keywords[i].value.real != 0) {
            keywords[i].value.real *= FACTOR;
            return NULL;
        }
    for (size_t i = call->argument_count; i-- > 0;)
        if (arguments[i].kind == TDC_VALUE_FLOAT && arguments[i].real != 0) {
            arguments[i].real *= FACTOR;
            return NULL;
        }
    return "it has no number among its arguments";
}

/* value with that many bits of fraction, cut. */
static double cut(double value, int bits)
{
    int exponent;
    double fraction = frexp(value, &exponent);
    return isfinite(value) ? ldexp(trunc(ldexp(fraction, bits + 1)), exponent - bits - 1) : value;
}

static const char *narrow_inputs(struct tdc_reference_call *call, struct tdc_arena *arena)
{
    bool any = false;
    for (size_t i = 0; i < call->argument_count; i++) {
        if (call->arguments[i].kind != TDC_VALUE_TENSOR ||
            !tdc_dtype_is_floating(call->arguments[i].tensor->dtype))
            continue;
        struct tdc_reference_tensor *tensor = call->arguments[i].tensor;
        struct tdc_reference_tensor *copy =
            tdc_reference_tensor_new(arena, tensor->dtype, tensor->rank, tensor->shape);
        if (copy == NULL)
            return "out of memory";
        int bits = tensor->dtype == TDC_F32 || tensor->dtype == TDC_F64 ? 7 : 3;
        for (int64_t k = 0; k < tensor->count; k++)
            copy->real[k] = cut(tensor->real[k], bits);
        tensor->real = copy->real;
        any = true;
    }
    return any ? NULL : "it has no floating input";
}

static const char *exchange(const struct tdc_reference_call *call)
{
    for (size_t i = 0; i < call->argument_count; i++)
        for (size_t k = i + 1; k < call->argument_count; k++) {
            const struct tdc_reference_value *a = &call->arguments[i], *b = &call->arguments[k];
            if (a->kind != TDC_VALUE_TENSOR || b->kind != TDC_VALUE_TENSOR ||
                a->tensor->dtype != b->tensor->dtype || !tdc_same_shape(a->tensor, b->tensor))
                continue;
            double *first = a->tensor->real;
            a->tensor->real = b->tensor->real;
            b->tensor->real = first;
            return NULL;
        }
    return "it has no two tensors of one shape";
}

const char *tdc_fault_before(const struct tdc_fault *fault, struct tdc_reference_call *call,
                             struct tdc_arena *arena)
{
    switch (fault->kind) {
    case TDC_FAULT_ARGUMENT:
        return change_number(call, arena);
    case TDC_FAULT_INPUTS:
        return narrow_inputs(call, arena);
    case TDC_FAULT_ACCUMULATE:
        call->arithmetic = TDC_BF16;
        for (size_t i = 0; i < call->argument_count; i++)
            if (call->arguments[i].kind == TDC_VALUE_TENSOR &&
                call->arguments[i].tensor->dtype == TDC_F16)
                call->arithmetic = TDC_F16;
        return NULL;
    case TDC_FAULT_SWAP:
        return exchange(call);
    default:
        return NULL;
    }
}

/* ---- after ----------------------------------------------------------------------------------- */

static double root_mean_square(const struct tdc_reference_tensor *t)
{
    double sum = 0;
    for (int64_t i = 0; i < t->count; i++)
        sum += t->real[i] * t->real[i];
    return sqrt(sum / (double)t->count);
}

const char *tdc_fault_after(const struct tdc_fault *fault, struct tdc_reference_tensor **results,
                            size_t count)
{
    struct tdc_reference_tensor *t = NULL;
    for (size_t i = 0; i < count && t == NULL; i++)
        if (results[i] != NULL && results[i]->count > 0 && tdc_dtype_is_floating(results[i]->dtype))
            t = results[i];
    if (t == NULL)
        return "it has no floating result";
    int64_t at = t->count / 3;
    int64_t width = t->rank > 0 ? t->shape[t->rank - 1] : 1;
    switch (fault->kind) {
    case TDC_FAULT_SCALE:
        for (int64_t i = 0; i < t->count; i++)
            t->real[i] = tdc_reference_round(t->real[i] * SCALE, t->dtype);
        break;
    case TDC_FAULT_ELEMENT:
        t->real[at] = tdc_reference_round(t->real[at] + OFF_RMS * root_mean_square(t), t->dtype);
        break;
    case TDC_FAULT_ROW:
        memset(t->real + at / width * width, 0, (size_t)width * sizeof *t->real);
        break;
    case TDC_FAULT_NAN:
        t->real[at] = NAN;
        break;
    case TDC_FAULT_INF:
        t->real[at] = INFINITY;
        break;
    default:
        break;
    }
    return NULL;
}
