/*
 * reference.h - the frameworks' operators in float64: from a call's recorded inputs to the outputs
 * and gradients it ought to have.
 *
 * One table (registry.c) says which names mean the same function, which arguments it takes and how
 * it is computed; files in ops/ hold the definitions by family. A definition is written once, out
 * of primitives that know their derivative (primitives/), and serves both directions.
 *
 * Dtypes. Floating tensors are float64 here, whatever they were recorded as; integer and bool
 * tensors keep their dtype and are computed exactly, wrapping at its width. Only the conversion
 * operators (tdc_reference_is_conversion) read and give the recorded dtypes: their values are
 * rounded to that dtype and carry its name.
 *
 * Memory. Everything a call makes lies in the arena it is given, which bounds it; nothing is freed
 * one by one. Inputs are read only and must outlive the outputs, which may share their elements.
 *
 * Threads. The functions hold no state: several calls may run at once, each with an arena of its
 * own. Large loops use OpenMP; sums have a fixed order, so that the results do not depend on the
 * number of threads.
 */
#ifndef TDC_REFERENCE_REFERENCE_H
#define TDC_REFERENCE_REFERENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/base/arena.h"
#include "kernels/dtype.h"
#include "tdcmp.h"

#define TDC_REFERENCE_RANK      16   /* dimensions of a tensor at most */
#define TDC_REFERENCE_ARGUMENTS 4096 /* values of a call at most, lists included */
#define TDC_REFERENCE_DEPTH     4    /* lists inside lists */

/*
 * A dense tensor in row-major order. Elements take eight bytes: `real` for floating dtypes (values
 * of float16, bfloat16 and float32 are exact in it), `whole` for integers and for bool (0 or 1).
 * uint64 is kept as the int64 of the same bits. dtype is one of TDC_BOOL, the integers, TDC_F16,
 * TDC_BF16, TDC_F32, TDC_F64.
 */
struct tdc_reference_tensor {
    tdc_dtype dtype;
    unsigned rank;
    int64_t shape[TDC_REFERENCE_RANK];
    int64_t count; /* product of shape */
    union {
        double *real;
        int64_t *whole;
    };
    bool wants_gradient; /* input of a backward: a leaf whose gradient is asked for */
    /* Of a result for which bounds were asked: how far a correct implementation may be from each
     * element before its last rounding, in units of tdc_reference_unit. NULL: not at all. */
    double *error;
    /* complex numbers: the last dimension, of two, holds their parts (complex_parts.h) */
    bool complex;
    /* inner use; zero in inputs */
    bool number;                /* came from a Python number: does not promote tensors */
    bool bounded;               /* `error` is what it is to be, NULL included */
    tdc_dtype recorded;         /* dtype before it was widened */
    struct tdc_tape_node *made; /* how it was computed, when a gradient may pass through it */
};

/* Elements are uninitialised. NULL when the shape is impossible or the arena is full. */
struct tdc_reference_tensor *tdc_reference_tensor_new(struct tdc_arena *arena, tdc_dtype dtype,
                                                      unsigned rank, const int64_t *shape);
bool tdc_same_shape(const struct tdc_reference_tensor *a, const struct tdc_reference_tensor *b);

/* value rounded to dtype (nearest, ties to even; overflow gives infinity); any floating dtype. */
double tdc_reference_round(double value, tdc_dtype dtype);
/* value as torch converts it: to the 16-bit dtypes by way of float32, which rounds twice. */
double tdc_reference_cast(double value, tdc_dtype dtype);

/* Half a unit in the last place of 1: f64 2^-53, f32 2^-24, f16 2^-11, bf16 2^-8. */
double tdc_reference_roundoff(tdc_dtype dtype);
/* In which errors are counted: the roundoff of what a result of that dtype is accumulated in. */
double tdc_reference_unit(tdc_dtype dtype);

enum tdc_reference_kind {
    TDC_VALUE_NULL,
    TDC_VALUE_BOOL,  /* whole: 0 or 1 */
    TDC_VALUE_INT,   /* whole */
    TDC_VALUE_FLOAT, /* real */
    TDC_VALUE_TEXT,  /* text */
    TDC_VALUE_DTYPE, /* dtype */
    TDC_VALUE_LIST,  /* list: list or tuple */
    TDC_VALUE_SLICE, /* list: three values, each null or int */
    TDC_VALUE_ELLIPSIS,
    TDC_VALUE_TENSOR, /* tensor */
    TDC_VALUE_UNKNOWN /* a positional dtype or device of a PyTorch dump: the value is lost */
};

struct tdc_reference_value {
    enum tdc_reference_kind kind;
    union {
        int64_t whole;
        double real;
        const char *text;
        tdc_dtype dtype;
        struct {
            struct tdc_reference_value *values;
            size_t count;
        } list;
        struct tdc_reference_tensor *tensor;
    };
};

struct tdc_reference_keyword {
    const char *name;
    struct tdc_reference_value value;
};

/* An entry of the table. */
struct tdc_operator;

/*
 * The operator of an API's record prefix and name: "Mint.add", "MintFunctional.softmax",
 * "Tensor.clamp_", "Torch.add", "Functional.linear", "NPU.npu_rms_norm". A trailing `_` is the
 * in-place form of the same function. NULL when there is none.
 */
const struct tdc_operator *tdc_reference_find(const char *api);
/* Its output is drawn, not computed (rand, normal, bernoulli, ...; dropout is not among them). */
bool tdc_reference_is_random(const struct tdc_operator *definition);
/* Computed with the recorded dtypes: to, type, type_as, float, half, int, long, bool, byte, ... */
bool tdc_reference_is_conversion(const struct tdc_operator *definition);
/* False: every result is an integer, a bool or no tensor. */
bool tdc_reference_has_gradient(const struct tdc_operator *definition);
/* Its results are not unique (signs of singular vectors): `record` of the call settles them. */
bool tdc_reference_takes_record(const struct tdc_operator *definition);
/* "input, other, *, alpha=1" */
const char *tdc_reference_signature(const struct tdc_operator *definition);

/*
 * Calls `visit` once for each API name the table knows, family by family: the name as it is looked
 * up ("Mint.add"), the operator and the family ("elementwise", ...). Stops when visit gives false.
 */
void tdc_reference_list(bool (*visit)(void *context, const char *api, const char *family,
                                      const struct tdc_operator *definition),
                        void *context);

struct tdc_reference_call {
    const struct tdc_operator *definition;
    const struct tdc_reference_value *arguments;
    size_t argument_count;
    const struct tdc_reference_keyword *keywords;
    size_t keyword_count;
    /* dtype of the first recorded output: what Tensor.to takes for a dtype that was lost.
     * TDC_DTYPE_NONE when unknown: such a call cannot be rebuilt. */
    tdc_dtype recorded_output;
    /* Rank of the first recorded output. Only mint's binary_cross_entropy_with_logits without a
     * reduction looks at it: torch's function of that name, which the old tool takes, does not
     * reduce, mint's takes the mean. */
    bool recorded_rank_known;
    unsigned recorded_rank;
    /* Dtype of the tested result for which the results get their `error` (bounds.h);
     * TDC_DTYPE_NONE: they get none. Of the float64 reference alone. */
    tdc_dtype bounds_for;
    /* Each operation's result counts as rounded to that dtype, as `arithmetic` does it. */
    bool bounds_for_steps;
    /* The recorded outputs, one value each; asked for by tdc_reference_takes_record. Of all results
     * that are equally right, the nearest to these are given. NULL: any. */
    const struct tdc_reference_value *record;
    size_t record_count;
    /* TDC_F32, TDC_F16, TDC_BF16: computed as a device of that dtype would, each operation's result
     * rounded to it (arithmetic.h); results are exact in it and still carry TDC_F64. Any other
     * value, and conversions: the float64 reference. */
    tdc_dtype arithmetic;
};

struct tdc_reference_results {
    struct tdc_reference_value
        *values; /* in the arena; kinds tensor, bool, int, float, list, null */
    size_t count;
    char reason[256]; /* one line, when the status is not TDC_OK */
};

/*
 * Computes the call's outputs: tuples and lists are spread, one value per output. TDC_ERR_ARGUMENT:
 * the arguments do not fit the function (the framework would raise); TDC_ERR_UNSUPPORTED: a valid
 * call this reference cannot rebuild (random, a mode it lacks); TDC_ERR_MEMORY: the arena is full.
 */
tdc_status tdc_reference_forward(const struct tdc_reference_call *call, struct tdc_arena *arena,
                                 struct tdc_reference_results *outputs);

/*
 * The gradients of all input tensors with `wants_gradient` set, found in the order: arguments left
 * to right, lists in depth, then keywords. One value per such tensor: a tensor of its shape, or
 * null when no gradient reaches it (the framework's None). The leaves must be floating.
 *
 * gradients[i] belongs to output i of the forward; the shorter list decides. NULL stands for zeros.
 * TDC_ERR_ARGUMENT also when a gradient's shape is not its output's, or its output is not floating
 * or does not depend on any leaf.
 * A conversion's gradient is rounded to the leaf's dtype and carries it.
 */
tdc_status tdc_reference_backward(const struct tdc_reference_call *call,
                                  struct tdc_reference_tensor *const *gradients,
                                  size_t gradient_count, struct tdc_arena *arena,
                                  struct tdc_reference_results *results);

#endif
