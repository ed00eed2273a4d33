/*
 * evaluation.h - one call being computed: its arguments, its memory, its tape.
 *
 * A definition that meets something it cannot compute calls tdc_refuse, which leaves the whole
 * evaluation by longjmp: all memory is the arena's, so nothing is lost, and the formulas stay free
 * of error handling. tdc_refuse must not be called inside an OpenMP region.
 *
 * The tape: while gradients are asked for, every primitive that computes an array out of tracked
 * ones notes how to pull a gradient back through itself. Nodes are walked in reverse order of their
 * making, which is a topological order.
 */
#ifndef TDC_REFERENCE_EVALUATION_H
#define TDC_REFERENCE_EVALUATION_H

#include <setjmp.h>

#include "reference/reference.h"

typedef struct tdc_reference_tensor array;
typedef struct tdc_reference_value value;
typedef struct tdc_evaluation evaluation;
struct tdc_tape_node;

/* Gives each tracked input its share of `gradient`, which has the shape of node->output. */
typedef void tdc_pull(evaluation *e, struct tdc_tape_node *node, array *gradient);

struct tdc_tape_node {
    struct tdc_tape_node *previous;
    tdc_pull *pull; /* NULL for leaves */
    array **inputs;
    size_t input_count;
    array *output;
    const void *detail; /* what pull needs besides */
    array *gradient;    /* collected so far, NULL is zero */
    bool owned;         /* gradient belongs to this node alone and may be added to */
    bool leaf;
};

#define TDC_MAX_PARAMETERS 40
#define TDC_MAX_OUTPUTS    ((size_t)1 << 16)

/* Record prefixes under which an operator is known. */
enum {
    TDC_IN_MINT = 1,              /* Mint. */
    TDC_IN_MINT_FUNCTIONAL = 2,   /* MintFunctional. */
    TDC_IN_TENSOR = 4,            /* Tensor. */
    TDC_IN_TORCH = 8,             /* Torch. */
    TDC_IN_TORCH_FUNCTIONAL = 16, /* Functional. */
    TDC_IN_NPU = 32,              /* NPU. */
    TDC_IN_VF = 64,               /* VF., torch._VF */
    TDC_IN_METHODS = TDC_IN_MINT | TDC_IN_TENSOR | TDC_IN_TORCH,
    TDC_IN_FUNCTIONALS = TDC_IN_MINT | TDC_IN_MINT_FUNCTIONAL | TDC_IN_TORCH_FUNCTIONAL,
    TDC_IN_BOTH = TDC_IN_METHODS | TDC_IN_FUNCTIONALS
};
enum {
    TDC_IS_RANDOM = 1,
    TDC_IS_CONVERSION = 2,
    TDC_NO_GRADIENT = 4,
    TDC_TAKES_COMPLEX = 8, /* its definition reads complex arrays (complex.h) */
    TDC_TAKES_RECORD = 16  /* its result is not unique: what was recorded settles it */
};

struct tdc_operator {
    const char *names; /* separated by blanks; names that mean the same function */
    unsigned prefixes;
    const char *signature;
    void (*compute)(evaluation *e);
    int variant; /* for definitions that serve several rows */
    unsigned flags;
};
struct tdc_operator_family {
    const char *name;
    const struct tdc_operator *operators;
    size_t count;
};
#define TDC_FAMILY(name, rows)                                                                     \
    {                                                                                              \
        name, rows, sizeof(rows) / sizeof *(rows)                                                  \
    }
extern const struct tdc_operator_family tdc_elementwise_family, tdc_activation_family,
    tdc_comparison_family, tdc_reduction_family, tdc_cumulative_family, tdc_sorting_family,
    tdc_product_family, tdc_shape_family, tdc_indexing_family, tdc_creation_family,
    tdc_normalisation_family, tdc_attention_family, tdc_convolution_family, tdc_sampling_family,
    tdc_loss_family, tdc_conversion_family, tdc_fused_family, tdc_statistics_family,
    tdc_grid_family, tdc_padding_family, tdc_embedding_family, tdc_einsum_family, tdc_pieces_family,
    tdc_pair_loss_family, tdc_subscript_family, tdc_pooling_family, tdc_unique_family,
    tdc_quantile_family, tdc_ctc_family, tdc_class_margin_family, tdc_diagonal_family,
    tdc_rare_family, tdc_algebra_family, tdc_arrangement_family, tdc_counting_family,
    tdc_optimiser_family, tdc_multi_head_family, tdc_foreach_family, tdc_complex_family,
    tdc_fourier_family, tdc_recurrent_family, tdc_factor_family, tdc_equation_family,
    tdc_selection_family, tdc_window_family, tdc_covariance_family, tdc_fractional_family;

struct tdc_evaluation {
    struct tdc_arena *arena;
    const struct tdc_operator *definition;
    jmp_buf leave;
    tdc_status status;
    char *reason;
    size_t reason_size;
    tdc_dtype recorded_output;
    bool recorded_plain; /* the recorded output has dimensions */
    const value *record; /* outputs, for TDC_TAKES_RECORD */
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
        value bound;
    } parameters[TDC_MAX_PARAMETERS];
    size_t parameter_count;
    value *outputs;
    size_t output_count, output_room;
};

_Noreturn void tdc_refuse(evaluation *e, tdc_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* One that tensors of the reference can have. */
static inline bool tdc_dtype_is_known(tdc_dtype dtype)
{
    return (dtype >= TDC_BOOL && dtype <= TDC_U64) || tdc_dtype_is_floating(dtype);
}

/* Memory of the arena or no return. */
void *tdc_take(evaluation *e, int64_t count, size_t size);
array *tdc_new(evaluation *e, tdc_dtype dtype, unsigned rank, const int64_t *shape);
array *tdc_new_like(evaluation *e, tdc_dtype dtype, const array *shape);
array *tdc_zeros(evaluation *e, tdc_dtype dtype, unsigned rank, const int64_t *shape);
array *tdc_number(evaluation *e, double constant);

/* Notes how output came about; does nothing unless recording and some input is tracked. */
void tdc_note(evaluation *e, array *output, tdc_pull *pull, const void *detail, size_t input_count,
              array *const *inputs);
static inline bool tdc_tracked(const array *a)
{
    return a->made != NULL;
}
/* Adds to what `input` has collected. The gradient array may be shared, it is never written. */
void tdc_collect(evaluation *e, const array *input, array *gradient);
/* What the tracked `input` has collected, to add to in place: a view's share costs no more than the
 * view. */
array *tdc_gradient_of(evaluation *e, const array *input);
void tdc_track_leaf(evaluation *e, array *leaf);
void tdc_pull_all(evaluation *e);

/* ---- arguments, by their names in the signature ------------------------------------------ */

void tdc_bind(evaluation *e, const value *arguments, size_t argument_count,
              const struct tdc_reference_keyword *keywords, size_t keyword_count);
const value *tdc_argument(evaluation *e, const char *name);
bool tdc_given(evaluation *e, const char *name); /* present and not None */
/* A tensor, or a number as a tensor of rank 0 that does not promote others. */
array *tdc_array_of(evaluation *e, const value *v, const char *name);
array *tdc_array_argument(evaluation *e, const char *name);
/* The same converted to float64, for functions that have no integer form. */
array *tdc_real_array_argument(evaluation *e, const char *name);
array *tdc_optional_real_array(evaluation *e, const char *name); /* NULL for None */
double tdc_real_argument(evaluation *e, const char *name);
int64_t tdc_int_argument(evaluation *e, const char *name);
bool tdc_bool_argument(evaluation *e, const char *name);
const char *tdc_text_argument(evaluation *e, const char *name);
tdc_dtype tdc_dtype_argument(evaluation *e, const char *name, tdc_dtype otherwise);
/* A list of ints, or one int. Gives their number, at most limit. */
size_t tdc_ints_argument(evaluation *e, const char *name, int64_t *ints, size_t limit);
/* The tensors of a list argument. */
size_t tdc_arrays_argument(evaluation *e, const char *name, array ***arrays);
/* A dimension of `rank` from a possibly negative number. */
unsigned tdc_dimension(evaluation *e, int64_t dim, unsigned rank);
unsigned tdc_dim_argument(evaluation *e, const char *name, unsigned rank);
/* Which dimensions are reduced: None or an empty list means all. */
void tdc_dims_argument(evaluation *e, const char *name, unsigned rank,
                       bool reduced[TDC_REFERENCE_RANK]);

/* ---- results ------------------------------------------------------------------------------ */

void tdc_give(evaluation *e, array *output);
void tdc_give_value(evaluation *e, value output);

#endif
