#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "kernels/dtype.h"
#include "reference/arguments.h"
#include "reference/arithmetic.h"
#include "reference/bounds.h"

struct tdc_reference_tensor *tdc_reference_tensor_new(struct tdc_arena *arena, tdc_dtype dtype,
                                                      unsigned rank, const int64_t *shape)
{
    if (rank > TDC_REFERENCE_RANK)
        return NULL;
    int64_t count = 1, bytes;
    bool empty = false;
    for (unsigned d = 0; d < rank; d++) {
        if (shape[d] < 0)
            return NULL;
        empty |= shape[d] == 0;
    }
    /* an empty tensor's other sizes must not overflow either: products of some are formed */
    for (unsigned d = 0; d < rank; d++)
        if (shape[d] != 0 && __builtin_mul_overflow(count, shape[d], &count))
            return NULL;
    if (empty)
        count = 0;
    if (__builtin_mul_overflow(count, (int64_t)sizeof(double), &bytes))
        return NULL;
    tdc_array *a = tdc_arena_zeroed(arena, 1, sizeof *a);
    if (a == NULL)
        return NULL;
    a->dtype = dtype;
    a->recorded = dtype;
    a->rank = rank;
    if (rank > 0)
        memcpy(a->shape, shape, rank * sizeof *shape);
    a->count = count;
    a->real = tdc_arena_take(arena, (size_t)bytes);
    return a->real == NULL ? NULL : a;
}

/* Drops all but `kept` bits of the significand of a double, to nearest even. */
static double keep_bits(double v, int kept)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    int dropped = 52 - kept;
    uint64_t half = (uint64_t)1 << (dropped - 1);
    uint64_t odd = bits >> dropped & 1;
    bits = (bits + half - 1 + odd) & ~(((uint64_t)1 << dropped) - 1);
    memcpy(&v, &bits, sizeof v);
    return v;
}

double tdc_reference_round(double v, tdc_dtype dtype)
{
    if (dtype == TDC_F32)
        return (double)(float)v;
    if ((dtype != TDC_F16 && dtype != TDC_BF16) || !isfinite(v) || v == 0)
        return v;
    const struct tdc_dtype_entry *entry = tdc_dtype_entry(dtype);
    int least = entry->least, kept = entry->digits;
    int exponent = ilogb(v);
    if (exponent < least) {
        double unit = ldexp(1.0, least - kept);
        return copysign(rint(v / unit) * unit, v);
    }
    double rounded = keep_bits(v, kept);
    return fabs(rounded) > entry->largest ? copysign((double)INFINITY, v) : rounded;
}

double tdc_reference_cast(double v, tdc_dtype dtype)
{
    return tdc_reference_round(dtype == TDC_F64 ? v : (double)(float)v, dtype);
}

_Noreturn void tdc_refuse(tdc_evaluation *e, tdc_status status, const char *format, ...)
{
    e->status = status;
    va_list list;
    va_start(list, format);
    vsnprintf(e->reason, e->reason_size, format, list);
    va_end(list);
    longjmp(e->leave, 1);
}

void *tdc_take(tdc_evaluation *e, int64_t count, size_t size)
{
    size_t bytes;
    if (count < 0 || __builtin_mul_overflow((size_t)count, size, &bytes))
        tdc_refuse(e, TDC_ERR_MEMORY, "a size overflows");
    void *memory = tdc_arena_take(e->arena, bytes);
    if (memory == NULL)
        tdc_refuse(e, TDC_ERR_MEMORY, "the memory limit is reached");
    return memory;
}

tdc_array *tdc_new(tdc_evaluation *e, tdc_dtype dtype, unsigned rank, const int64_t *shape)
{
    if (rank > TDC_REFERENCE_RANK)
        tdc_refuse(e, TDC_ERR_UNSUPPORTED, "more than %d dimensions", TDC_REFERENCE_RANK);
    for (unsigned d = 0; d < rank; d++)
        if (shape[d] < 0)
            tdc_refuse(e, TDC_ERR_ARGUMENT, "a dimension is negative");
    tdc_array *a = tdc_reference_tensor_new(e->arena, dtype, rank, shape);
    if (a == NULL)
        tdc_refuse(e, TDC_ERR_MEMORY, "the memory limit is reached");
    return a;
}

tdc_array *tdc_new_like(tdc_evaluation *e, tdc_dtype dtype, const tdc_array *like)
{
    return tdc_new(e, dtype, like->rank, like->shape);
}

tdc_array *tdc_zeros(tdc_evaluation *e, tdc_dtype dtype, unsigned rank, const int64_t *shape)
{
    tdc_array *a = tdc_new(e, dtype, rank, shape);
    memset(a->real, 0, (size_t)a->count * sizeof *a->real);
    return a;
}

tdc_array *tdc_number(tdc_evaluation *e, double constant)
{
    tdc_array *a = tdc_new(e, TDC_F64, 0, NULL);
    a->real[0] = tdc_partial(e, constant);
    a->number = true;
    a->bounded = true;
    return a;
}

void tdc_give_value(tdc_evaluation *e, tdc_call_value output)
{
    if (e->output_count == e->output_room) {
        size_t room = e->output_room == 0 ? 8 : 2 * e->output_room;
        if (room > TDC_MAX_OUTPUTS)
            tdc_refuse(e, TDC_ERR_UNSUPPORTED, "too many outputs");
        tdc_call_value *grown = tdc_take(e, (int64_t)room, sizeof *grown);
        if (e->output_count > 0)
            memcpy(grown, e->outputs, e->output_count * sizeof *grown);
        e->outputs = grown;
        e->output_room = room;
    }
    e->outputs[e->output_count++] = output;
}

void tdc_give(tdc_evaluation *e, tdc_array *output)
{
    tdc_give_value(e, (tdc_call_value){.kind = TDC_VALUE_TENSOR, .tensor = output});
}

tdc_array *tdc_constant(tdc_evaluation *e, tdc_array *x)
{
    tdc_array *copy = tdc_take(e, 1, sizeof *copy);
    *copy = *x;
    copy->made = NULL;
    copy->number = false;
    return copy;
}

tdc_array *tdc_to_real(tdc_evaluation *e, tdc_array *x)
{
    if (tdc_dtype_is_floating(x->dtype))
        return x;
    tdc_array *y = tdc_new_like(e, TDC_F64, x);
    y->number = x->number;
    TDC_SPREAD(x->count, i, x->count, {
        y->real[i] = x->dtype == TDC_U64 ? (double)(uint64_t)x->whole[i] : (double)x->whole[i];
    });
    if (tdc_is_narrow(e))
        tdc_round_array(y, x->number ? TDC_F32 : e->arithmetic);
    if (tdc_is_bounded(e))
        tdc_bound_given(e, y);
    return y;
}

bool tdc_same_shape(const tdc_array *a, const tdc_array *b)
{
    return a->rank == b->rank && memcmp(a->shape, b->shape, a->rank * sizeof *a->shape) == 0;
}
