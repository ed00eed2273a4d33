/* Which operators' frameworks round between their operations. Found by experiment with torch. */
#include <string.h>

#include "reference/bounds.h"
#include "reference/operators.h"

static bool names(const char *words, const struct tdc_operator *definition)
{
    for (const char *name = definition->names; *name != 0;) {
        size_t size = strcspn(name, " ");
        for (const char *word = words; *word != 0;) {
            size_t length = strcspn(word, " ");
            if (length == size && memcmp(word, name, size) == 0)
                return true;
            word += length;
            word += strspn(word, " ");
        }
        name += size;
        name += strspn(name, " ");
    }
    return false;
}

static bool is_of(const struct tdc_operator_family *family, const struct tdc_operator *definition)
{
    return definition >= family->operators && definition < family->operators + family->count;
}

/* One kernel each that keeps float32 until it stores. */
static bool is_fused(const struct tdc_operator *definition)
{
    static const struct tdc_operator_family *const families[] = {
        &tdc_elementwise_family, &tdc_activation_family,    &tdc_reduction_family,
        &tdc_cumulative_family,  &tdc_product_family,       &tdc_shape_family,
        &tdc_indexing_family,    &tdc_normalisation_family, &tdc_attention_family,
        &tdc_convolution_family, &tdc_embedding_family,     &tdc_padding_family,
        &tdc_pooling_family,     &tdc_creation_family,      &tdc_sorting_family};
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (is_of(families[i], definition))
            return true;
    return false;
}

double tdc_bound_rules(const struct tdc_operator *definition, bool backward)
{
    static const char contractions[] = "linear matmul mm bmm addmm baddbmm addbmm mv dot vdot "
                                       "inner __matmul__ __rmatmul__ conv1d conv2d conv3d";
    static const char rounding[] =
        "addcmul addcdiv lerp logsumexp prod cumprod batch_norm instance_norm log_softmax "
        "softsign tanhshrink logcumsumexp pow __pow__ __rpow__ float_power normalize "
        "local_response_norm std var std_mean var_mean";
    /* a factor, on the gradient or on the product, is one more operation */
    if (backward && names("addmm baddbmm addbmm addmv addr", definition))
        return 1;
    if (names(contractions, definition))
        return 0;
    if (backward)
        return 2;
    return is_fused(definition) && !names(rounding, definition) ? 0 : 2;
}

double tdc_chained_sums(const struct tdc_operator *definition, double narrow)
{
    return is_of(&tdc_normalisation_family, definition) ? narrow
           : is_of(&tdc_convolution_family, definition) ? 1
                                                        : 0;
}
