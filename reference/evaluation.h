/*
 * evaluation.h - one call being computed: its state, its memory.
 *
 * A definition that meets something it cannot compute calls tdc_refuse, which leaves the whole
 * evaluation by longjmp: all memory is the arena's, so nothing is lost, and the formulas stay free
 * of error handling. tdc_refuse must not be called inside an OpenMP region.
 */
#ifndef TDC_REFERENCE_EVALUATION_H
#define TDC_REFERENCE_EVALUATION_H

#include <setjmp.h>

#include "reference/reference.h"
#include "reference/spread.h"

typedef struct tdc_reference_tensor tdc_array;
typedef struct tdc_reference_value tdc_call_value;
typedef struct tdc_evaluation tdc_evaluation;
struct tdc_operator;
struct tdc_tape_node;

#define TDC_MAX_PARAMETERS 40
#define TDC_MAX_OUTPUTS    ((size_t)1 << 16)

struct tdc_evaluation {
    struct tdc_arena *arena;
    const struct tdc_operator *definition;
    jmp_buf leave;
    tdc_status status;
    char *reason;
    size_t reason_size;
    tdc_dtype recorded_output;
    bool recorded_plain;          /* the recorded output has dimensions */
    const tdc_call_value *record; /* outputs, for TDC_TAKES_RECORD */
    size_t record_count;
    tdc_dtype arithmetic; /* TDC_F64: the reference; else see arithmetic.h */
    bool recording;
    /* errors are carried along (bounds.h) */
    struct {
        bool on;
        tdc_dtype tested;
        double unit;    /* of the errors */
        double narrow;  /* a rounding to the tested dtype, in units */
        double step;    /* of it what each operation's result costs; 0: kernels keep float32 */
        double quantum; /* the same for the smallest numbers of float16 */
        double inner;   /* the same inside primitives of several operations */
        double spread;  /* a rounding at each addition over broadcast dimensions */
        double sums;    /* a rounding at each addition of a sum */
    } bounds;
    struct tdc_tape_node *newest;
    /* parameters of the signature, by position */
    struct {
        const char *name;
        size_t length;
        tdc_call_value bound;
    } parameters[TDC_MAX_PARAMETERS];
    size_t parameter_count;
    tdc_call_value *outputs;
    size_t output_count, output_room;
};

_Noreturn void tdc_refuse(tdc_evaluation *e, tdc_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* One that tensors of the reference can have. */
static inline bool tdc_dtype_is_known(tdc_dtype dtype)
{
    return (dtype >= TDC_BOOL && dtype <= TDC_U64) || tdc_dtype_is_floating(dtype);
}

/* Memory of the arena or no return. */
void *tdc_take(tdc_evaluation *e, int64_t count, size_t size);
tdc_array *tdc_new(tdc_evaluation *e, tdc_dtype dtype, unsigned rank, const int64_t *shape);
tdc_array *tdc_new_like(tdc_evaluation *e, tdc_dtype dtype, const tdc_array *shape);
tdc_array *tdc_zeros(tdc_evaluation *e, tdc_dtype dtype, unsigned rank, const int64_t *shape);
tdc_array *tdc_number(tdc_evaluation *e, double constant);
/* The value without its history: no gradient passes. */
tdc_array *tdc_constant(tdc_evaluation *e, tdc_array *x);
/* Any dtype to float64; floating arrays are returned as they are. */
tdc_array *tdc_to_real(tdc_evaluation *e, tdc_array *x);

/* Of the block of count elements that begins at start. */
static inline size_t tdc_block_size(int64_t count, int64_t start)
{
    return (size_t)(count - start < TDC_BLOCK ? count - start : TDC_BLOCK);
}

static inline double tdc_element(const tdc_array *a, int64_t i)
{
    return tdc_dtype_is_floating(a->dtype) ? a->real[i] : (double)a->whole[i];
}

#endif
