#include <stdio.h>
#include <string.h>

#include "reference/arguments.h"
#include "reference/arithmetic.h"
#include "reference/bounds.h"
#include "reference/operators.h"
#include "reference/primitives/complex_parts.h"
#include "reference/tape.h"

static const struct tdc_operator_family *const families[] = {
    &tdc_elementwise_family, &tdc_activation_family,  &tdc_comparison_family,
    &tdc_reduction_family,   &tdc_statistics_family,  &tdc_cumulative_family,
    &tdc_sorting_family,     &tdc_product_family,     &tdc_shape_family,
    &tdc_indexing_family,    &tdc_creation_family,    &tdc_normalisation_family,
    &tdc_attention_family,   &tdc_convolution_family, &tdc_sampling_family,
    &tdc_loss_family,        &tdc_conversion_family,  &tdc_fused_family,
    &tdc_grid_family,        &tdc_padding_family,     &tdc_embedding_family,
    &tdc_einsum_family,      &tdc_pieces_family,      &tdc_pair_loss_family,
    &tdc_subscript_family,   &tdc_pooling_family,     &tdc_unique_family,
    &tdc_quantile_family,    &tdc_ctc_family,         &tdc_class_margin_family,
    &tdc_diagonal_family,    &tdc_rare_family,        &tdc_algebra_family,
    &tdc_arrangement_family, &tdc_counting_family,    &tdc_optimiser_family,
    &tdc_multi_head_family,  &tdc_foreach_family,     &tdc_complex_family,
    &tdc_fourier_family,     &tdc_recurrent_family,   &tdc_factor_family,
    &tdc_equation_family,    &tdc_selection_family,   &tdc_window_family,
    &tdc_covariance_family,  &tdc_fractional_family};
#define FAMILIES (sizeof families / sizeof *families)

static const struct {
    const char *text;
    unsigned bit;
} prefixes[] = {{"Mint", TDC_IN_MINT},     {"MintFunctional", TDC_IN_MINT_FUNCTIONAL},
                {"Tensor", TDC_IN_TENSOR}, {"Torch", TDC_IN_TORCH},
                {"NPU", TDC_IN_NPU},       {"Functional", TDC_IN_TORCH_FUNCTIONAL},
                {"VF", TDC_IN_VF}};
#define PREFIXES (sizeof prefixes / sizeof *prefixes)

static bool has_word(const char *words, const char *word, size_t length)
{
    while (*words != 0) {
        size_t size = strcspn(words, " ");
        if (size == length && memcmp(words, word, length) == 0)
            return true;
        words += size;
        words += strspn(words, " ");
    }
    return false;
}

static const struct tdc_operator *find_word(unsigned bit, const char *name, size_t length)
{
    for (size_t f = 0; f < FAMILIES; f++)
        for (size_t i = 0; i < families[f]->count; i++) {
            const struct tdc_operator *definition = &families[f]->operators[i];
            if ((definition->prefixes & bit) != 0 && has_word(definition->names, name, length))
                return definition;
        }
    return NULL;
}

/* A record keeps the last part of a dotted name: torch.linalg.inv is Torch.inv. In ATen's names an
 * underscore stands for the dot. */
static const struct tdc_operator *find_in_modules(unsigned bit, const char *name, size_t size)
{
    static const char *const modules[] = {"linalg", "fft"};
    for (size_t m = 0; m < sizeof modules / sizeof *modules; m++) {
        char whole[80];
        size_t length = strlen(modules[m]);
        bool named = size > length && memcmp(name, modules[m], length) == 0 && name[length] == '_';
        const char *last = named ? name + length + 1 : name;
        int written = snprintf(whole, sizeof whole, "%s.%s", modules[m], last);
        const struct tdc_operator *found =
            written < (int)sizeof whole ? find_word(bit, whole, (size_t)written) : NULL;
        if (found != NULL)
            return found;
    }
    return NULL;
}

const struct tdc_operator *tdc_reference_find(const char *api)
{
    size_t length = strcspn(api, ".");
    if (api[length] == 0)
        return NULL;
    for (size_t p = 0; p < PREFIXES; p++) {
        if (strlen(prefixes[p].text) != length || memcmp(prefixes[p].text, api, length) != 0)
            continue;
        const char *name = api + length + 1;
        size_t size = strlen(name);
        const struct tdc_operator *found = find_word(prefixes[p].bit, name, size);
        if (found == NULL && size > 1 && name[size - 1] == '_')
            found = find_word(prefixes[p].bit, name, size - 1);
        return found != NULL ? found : find_in_modules(prefixes[p].bit, name, size);
    }
    return NULL;
}

bool tdc_reference_is_random(const struct tdc_operator *definition)
{
    return (definition->flags & TDC_IS_RANDOM) != 0;
}

bool tdc_reference_is_conversion(const struct tdc_operator *definition)
{
    return (definition->flags & TDC_IS_CONVERSION) != 0;
}

bool tdc_reference_has_gradient(const struct tdc_operator *definition)
{
    return (definition->flags & (TDC_NO_GRADIENT | TDC_IS_RANDOM)) == 0;
}

bool tdc_reference_takes_record(const struct tdc_operator *definition)
{
    return (definition->flags & TDC_TAKES_RECORD) != 0;
}

const char *tdc_reference_signature(const struct tdc_operator *definition)
{
    return definition->signature;
}

void tdc_reference_list(bool (*visit)(void *context, const char *api, const char *family,
                                      const struct tdc_operator *definition),
                        void *context)
{
    char api[128];
    for (size_t f = 0; f < FAMILIES; f++)
        for (size_t i = 0; i < families[f]->count; i++) {
            const struct tdc_operator *definition = &families[f]->operators[i];
            for (const char *name = definition->names; *name != 0;) {
                size_t size = strcspn(name, " ");
                for (size_t p = 0; p < PREFIXES; p++) {
                    if ((definition->prefixes & prefixes[p].bit) == 0)
                        continue;
                    snprintf(api, sizeof api, "%s.%.*s", prefixes[p].text, (int)size, name);
                    if (!visit(context, api, families[f]->name, definition))
                        return;
                }
                name += size;
                name += strspn(name, " ");
            }
        }
}

/* ---- one call ---------------------------------------------------------------------------------
 */

struct leaves {
    tdc_array **arrays;
    size_t count;
};

/* The evaluation's own copy of a value: floating tensors become float64, leaves are tracked. */
static tdc_call_value adopt(tdc_evaluation *e, const tdc_call_value *v, struct leaves *leaves,
                            size_t *left, unsigned depth)
{
    tdc_call_value copy = *v;
    if (*left == 0 || depth > TDC_REFERENCE_DEPTH)
        tdc_refuse(e, TDC_ERR_UNSUPPORTED, "too many values, or lists too deep");
    --*left;
    if (v->kind == TDC_VALUE_LIST || v->kind == TDC_VALUE_SLICE) {
        copy.list.values = tdc_take(e, (int64_t)v->list.count, sizeof *copy.list.values);
        for (size_t i = 0; i < v->list.count; i++)
            copy.list.values[i] = adopt(e, &v->list.values[i], leaves, left, depth + 1);
    } else if (v->kind == TDC_VALUE_TENSOR) {
        tdc_array *a = tdc_take(e, 1, sizeof *a);
        if (!tdc_dtype_is_known(v->tensor->dtype))
            tdc_refuse(e, TDC_ERR_UNSUPPORTED, "dtype %s", tdc_dtype_name(v->tensor->dtype));
        *a = *v->tensor;
        a->number = false;
        a->made = NULL;
        a->recorded = a->dtype;
        a->error = NULL;
        tdc_bound_exactly(a);
        if (tdc_dtype_is_floating(a->dtype) && (e->definition->flags & TDC_IS_CONVERSION) == 0)
            a->dtype = TDC_F64;
        if (tdc_is_narrow(e) && a->dtype == TDC_F64)
            a->real = tdc_rounded(e, a)->real;
        if (a->wants_gradient && e->recording) {
            if (!tdc_dtype_is_floating(a->dtype))
                tdc_refuse(e, TDC_ERR_ARGUMENT, "a leaf is not floating");
            tdc_track_leaf(e, a);
            leaves->arrays[leaves->count++] = a;
        }
        copy.tensor = a;
    }
    return copy;
}

static bool is_complex(const tdc_call_value *v)
{
    if (v->kind == TDC_VALUE_LIST)
        for (size_t i = 0; i < v->list.count; i++)
            if (is_complex(&v->list.values[i]))
                return true;
    return (v->kind == TDC_VALUE_TENSOR && v->tensor->complex) ||
           (v->kind == TDC_VALUE_DTYPE && tdc_dtype_is_complex(v->dtype));
}

static bool meets_complex(const tdc_evaluation *e, const tdc_call_value *arguments,
                          size_t argument_count, const struct tdc_reference_keyword *keywords,
                          size_t keyword_count)
{
    bool found =
        (e->definition->flags & TDC_IS_CONVERSION) != 0 && tdc_dtype_is_complex(e->recorded_output);
    for (size_t i = 0; i < argument_count; i++)
        found |= is_complex(&arguments[i]);
    for (size_t i = 0; i < keyword_count; i++)
        found |= is_complex(&keywords[i].value);
    return found;
}

/* The real or the imaginary part of all that is floating. */
static tdc_call_value part_of(tdc_evaluation *e, const tdc_call_value *v, int which)
{
    tdc_call_value copy = *v;
    if (v->kind == TDC_VALUE_LIST) {
        copy.list.values = tdc_take(e, (int64_t)v->list.count, sizeof *copy.list.values);
        for (size_t i = 0; i < v->list.count; i++)
            copy.list.values[i] = part_of(e, &v->list.values[i], which);
    } else if (v->kind == TDC_VALUE_FLOAT && which == 1) {
        copy.real = 0;
    } else if (v->kind == TDC_VALUE_TENSOR && tdc_dtype_is_floating(v->tensor->dtype)) {
        struct tdc_parts parts = tdc_split(e, v->tensor);
        copy.tensor = which == 0         ? parts.re
                      : parts.im != NULL ? parts.im
                                         : tdc_zeros(e, TDC_F64, parts.re->rank, parts.re->shape);
    }
    return copy;
}

/* f(a + i b) = f(a) + i f(b) */
static void compute_by_parts(tdc_evaluation *e, const tdc_call_value *arguments,
                             size_t argument_count, const struct tdc_reference_keyword *keywords,
                             size_t keyword_count)
{
    tdc_call_value *outputs[2] = {NULL, NULL};
    size_t counts[2];
    for (int which = 0; which < 2; which++) {
        tdc_call_value *list = tdc_take(e, (int64_t)argument_count, sizeof *list);
        struct tdc_reference_keyword *named = tdc_take(e, (int64_t)keyword_count, sizeof *named);
        for (size_t i = 0; i < argument_count; i++)
            list[i] = part_of(e, &arguments[i], which);
        for (size_t i = 0; i < keyword_count; i++)
            named[i] = (struct tdc_reference_keyword){keywords[i].name,
                                                      part_of(e, &keywords[i].value, which)};
        e->parameter_count = e->output_count = e->output_room = 0;
        tdc_bind(e, list, argument_count, named, keyword_count);
        e->definition->compute(e);
        outputs[which] = e->outputs;
        counts[which] = e->output_count;
    }
    if (counts[0] != counts[1])
        tdc_refuse(e, TDC_ERR_UNSUPPORTED, "complex tensors");
    e->output_count = e->output_room = 0;
    for (size_t i = 0; i < counts[0]; i++) {
        bool joint = outputs[0][i].kind == TDC_VALUE_TENSOR &&
                     tdc_dtype_is_floating(outputs[0][i].tensor->dtype);
        if (joint)
            tdc_give_parts(e, (struct tdc_parts){outputs[0][i].tensor, outputs[1][i].tensor});
        else
            tdc_give_value(e, outputs[0][i]);
    }
}

static void compute(tdc_evaluation *e, const struct tdc_reference_call *call, struct leaves *leaves)
{
    size_t left = TDC_REFERENCE_ARGUMENTS;
    if (call->argument_count > left || call->keyword_count > left)
        tdc_refuse(e, TDC_ERR_UNSUPPORTED, "too many arguments");
    if ((e->definition->flags & TDC_IS_RANDOM) != 0)
        tdc_refuse(e, TDC_ERR_UNSUPPORTED, "random api, output is not reproducible");
    leaves->arrays = tdc_take(e, TDC_REFERENCE_ARGUMENTS, sizeof *leaves->arrays);
    tdc_call_value *arguments = tdc_take(e, (int64_t)call->argument_count, sizeof *arguments);
    for (size_t i = 0; i < call->argument_count; i++)
        arguments[i] = adopt(e, &call->arguments[i], leaves, &left, 0);
    struct tdc_reference_keyword *keywords =
        tdc_take(e, (int64_t)call->keyword_count, sizeof *keywords);
    for (size_t i = 0; i < call->keyword_count; i++)
        keywords[i] = (struct tdc_reference_keyword){
            call->keywords[i].name, adopt(e, &call->keywords[i].value, leaves, &left, 0)};
    if ((e->definition->flags & TDC_TAKES_COMPLEX) != 0 ||
        !meets_complex(e, arguments, call->argument_count, keywords, call->keyword_count)) {
        tdc_bind(e, arguments, call->argument_count, keywords, call->keyword_count);
        e->definition->compute(e);
        return;
    }
    const struct tdc_operator *variant = tdc_complex_variant(e->definition);
    if (variant == NULL)
        tdc_refuse(e, TDC_ERR_UNSUPPORTED, "complex tensors");
    if (variant->compute == NULL) {
        compute_by_parts(e, arguments, call->argument_count, keywords, call->keyword_count);
        return;
    }
    e->definition = variant;
    tdc_bind(e, arguments, call->argument_count, keywords, call->keyword_count);
    variant->compute(e);
}

/* A view in PyTorch's sense: an output that is an input itself keeps no inner marks. */
static void finish_outputs(tdc_evaluation *e)
{
    for (size_t i = 0; i < e->output_count; i++)
        if (e->outputs[i].kind == TDC_VALUE_TENSOR) {
            tdc_array *copy = tdc_constant(e, e->outputs[i].tensor);
            if (tdc_is_bounded(e) && !copy->bounded && tdc_dtype_is_floating(copy->dtype))
                tdc_bound_crudely(e, copy, 0, NULL);
            copy->wants_gradient = false;
            e->outputs[i].tensor = copy;
        }
}

static void pull_back(tdc_evaluation *e, struct tdc_reference_tensor *const *gradients,
                      size_t count)
{
    for (size_t i = 0; i < count && i < e->output_count; i++) {
        if (gradients[i] == NULL)
            continue;
        tdc_array *output = e->outputs[i].kind == TDC_VALUE_TENSOR ? e->outputs[i].tensor : NULL;
        if (output == NULL || !tdc_tracked(output))
            tdc_refuse(e, TDC_ERR_ARGUMENT, "output %zu does not require a gradient", i);
        tdc_array *g = tdc_take(e, 1, sizeof *g);
        *g = *gradients[i];
        g->made = NULL;
        g->error = NULL;
        tdc_bound_exactly(g);
        g->complex = false;
        if (g->rank != output->rank ||
            memcmp(g->shape, output->shape, g->rank * sizeof *g->shape) != 0)
            tdc_refuse(e, TDC_ERR_ARGUMENT, "gradient %zu has not the shape of its output", i);
        if (!tdc_dtype_is_floating(g->dtype))
            tdc_refuse(e, TDC_ERR_ARGUMENT, "gradient %zu is not floating", i);
        tdc_collect(e, output, g);
    }
    tdc_pull_all(e);
}

static void give_gradients(tdc_evaluation *e, const struct leaves *leaves)
{
    e->output_count = 0;
    for (size_t i = 0; i < leaves->count; i++) {
        tdc_array *g = leaves->arrays[i]->made->gradient;
        if (g == NULL) {
            tdc_give_value(e, (tdc_call_value){.kind = TDC_VALUE_NULL});
            continue;
        }
        if (leaves->arrays[i]->complex) {
            g = tdc_constant(e, g);
            g->complex = true;
        }
        tdc_give(e, g);
    }
}

static void start(tdc_evaluation *e, const struct tdc_reference_call *call, struct tdc_arena *arena,
                  struct tdc_reference_results *results)
{
    memset(e, 0, sizeof *e);
    e->arena = arena;
    e->definition = call->definition;
    e->recorded_output = call->recorded_output;
    bool narrow =
        call->arithmetic == TDC_F32 || call->arithmetic == TDC_F16 || call->arithmetic == TDC_BF16;
    e->arithmetic =
        narrow && (call->definition->flags & TDC_IS_CONVERSION) == 0 ? call->arithmetic : TDC_F64;
    e->recorded_plain = call->recorded_rank_known && call->recorded_rank > 0;
    e->record = call->record;
    e->record_count = call->record_count;
    e->reason = results->reason;
    e->reason_size = sizeof results->reason;
    results->reason[0] = 0;
    results->values = NULL;
    results->count = 0;
}

/* All that is used after a longjmp is reached through e, which the callers own. */
static tdc_status run(tdc_evaluation *e, const struct tdc_reference_call *call,
                      struct tdc_reference_tensor *const *gradients, size_t gradient_count)
{
    if (setjmp(e->leave) != 0)
        return e->status;
    struct leaves leaves = {NULL, 0};
    compute(e, call, &leaves);
    if (e->recording) {
        pull_back(e, gradients, gradient_count);
        give_gradients(e, &leaves);
    }
    finish_outputs(e);
    return TDC_OK;
}

static tdc_status evaluate(const struct tdc_reference_call *call, bool recording,
                           struct tdc_reference_tensor *const *gradients, size_t gradient_count,
                           struct tdc_arena *arena, struct tdc_reference_results *results)
{
    tdc_evaluation *e = tdc_arena_take(arena, sizeof *e);
    if (e == NULL) {
        snprintf(results->reason, sizeof results->reason, "the memory limit is reached");
        results->count = 0;
        return TDC_ERR_MEMORY;
    }
    start(e, call, arena, results);
    e->recording = recording;
    tdc_bounds_start(e, call, recording);
    tdc_status status = run(e, call, gradients, gradient_count);
    if (status == TDC_OK) {
        results->values = e->outputs;
        results->count = e->output_count;
    }
    return status;
}

tdc_status tdc_reference_forward(const struct tdc_reference_call *call, struct tdc_arena *arena,
                                 struct tdc_reference_results *outputs)
{
    return evaluate(call, false, NULL, 0, arena, outputs);
}

tdc_status tdc_reference_backward(const struct tdc_reference_call *call,
                                  struct tdc_reference_tensor *const *gradients,
                                  size_t gradient_count, struct tdc_arena *arena,
                                  struct tdc_reference_results *results)
{
    return evaluate(call, true, gradients, gradient_count, arena, results);
}
