/* operators.h - the table of operators: names, signatures, definitions. */
#ifndef TDC_REFERENCE_OPERATORS_H
#define TDC_REFERENCE_OPERATORS_H

#include "reference/evaluation.h"

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
    TDC_TAKES_COMPLEX = 8, /* its definition reads complex arrays (primitives/complex_parts.h) */
    TDC_TAKES_RECORD = 16  /* its result is not unique: what was recorded settles it */
};

struct tdc_operator {
    const char *names; /* separated by blanks; names that mean the same function */
    unsigned prefixes;
    const char *signature;
    void (*compute)(tdc_evaluation *e);
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

/* The row of the same name for complex arguments, NULL when there is none. A row without `compute`
 * moves or adds elements: f(a + i b) = f(a) + i f(b). */
const struct tdc_operator *tdc_complex_variant(const struct tdc_operator *definition);

#endif
