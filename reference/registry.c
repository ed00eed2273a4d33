#include <stdio.h>
#include <string.h>

#include "reference/arithmetic.h"
#include "reference/bounds.h"

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
    &tdc_arrangement_family, &tdc_counting_family,    &tdc_optimiser_family};
#define FAMILIES (sizeof families / sizeof *families)

static const struct {
    const char *text;
    unsigned bit;
} prefixes[] = {{"Mint", TDC_IN_MINT},     {"MintFunctional", TDC_IN_MINT_FUNCTIONAL},
                {"Tensor", TDC_IN_TENSOR}, {"Torch", TDC_IN_TORCH},
                {"NPU", TDC_IN_NPU},       {"Functional", TDC_IN_TORCH_FUNCTIONAL}};
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
            const struct tdc_operator *operator= & families[f]->operators[i];
            if ((operator->prefixes & bit) != 0 && has_word(operator->names, name, length))
                return operator;
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
        return found;
    }
    return NULL;
}

bool tdc_reference_is_random(const struct tdc_operator *operator)
{
    return (operator->flags & TDC_IS_RANDOM) != 0;
}

bool tdc_reference_is_conversion(const struct tdc_operator *operator)
{
    return (operator->flags & TDC_IS_CONVERSION) != 0;
}

bool tdc_reference_has_gradient(const struct tdc_operator *operator)
{
    return (operator->flags &(TDC_NO_GRADIENT | TDC_IS_RANDOM)) == 0;
}

const char *tdc_reference_signature(const struct tdc_operator *operator)
{
    return operator->signature;
}

void tdc_reference_list(bool (*visit)(void *context, const char *api, const char *family,
                                      const struct tdc_operator *operator),
                        void *context)
{
    char api[128];
    for (size_t f = 0; f < FAMILIES; f++)
        for (size_t i = 0; i < families[f]->count; i++) {
            const struct tdc_operator *operator= & families[f]->operators[i];
            for (const char *name = operator->names; *name != 0;) {
                size_t size = strcspn(name, " ");
                for (size_t p = 0; p < PREFIXES; p++) {
                    if ((operator->prefixes & prefixes[p].bit) == 0)
                        continue;
                    snprintf(api, sizeof api, "%s.%.*s", prefixes[p].text, (int)size, name);
                    if (!visit(context, api, families[f]->name, operator))
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
    array **items;
    size_t count;
};

/* The evaluation's own copy of a value: floating tensors become float64, leaves are tracked. */
static value adopt(evaluation *e, const value *v, struct leaves *leaves, size_t *left,
                   unsigned depth)
{
    value copy = *v;
    if (*left == 0 || depth > TDC_REFERENCE_DEPTH)
        tdc_refuse(e, TDC_ERR_UNSUPPORTED, "too many values, or lists too deep");
    --*left;
    if (v->kind == TDC_VALUE_LIST || v->kind == TDC_VALUE_SLICE) {
        copy.items.values = tdc_take(e, (int64_t)v->items.count, sizeof *copy.items.values);
        for (size_t i = 0; i < v->items.count; i++)
            copy.items.values[i] = adopt(e, &v->items.values[i], leaves, left, depth + 1);
    } else if (v->kind == TDC_VALUE_TENSOR) {
        array *a = tdc_take(e, 1, sizeof *a);
        if (!tdc_dtype_is_known(v->tensor->dtype))
            tdc_refuse(e, TDC_ERR_UNSUPPORTED, "dtype %s", tdc_dtype_name(v->tensor->dtype));
        *a = *v->tensor;
        a->number = false;
        a->made = NULL;
        a->recorded = a->dtype;
        a->error = NULL;
        tdc_bound_exactly(a);
        if (tdc_dtype_is_floating(a->dtype) && (e->operator->flags & TDC_IS_CONVERSION) == 0)
            a->dtype = TDC_F64;
        if (tdc_is_narrow(e) && a->dtype == TDC_F64)
            a->real = tdc_rounded(e, a)->real;
        if (a->wants_gradient && e->recording) {
            if (!tdc_dtype_is_floating(a->dtype))
                tdc_refuse(e, TDC_ERR_ARGUMENT, "a leaf is not floating");
            tdc_track_leaf(e, a);
            leaves->items[leaves->count++] = a;
        }
        copy.tensor = a;
    }
    return copy;
}

static void compute(evaluation *e, const struct tdc_reference_call *call, struct leaves *leaves)
{
    size_t left = TDC_REFERENCE_ARGUMENTS;
    if (call->argument_count > left || call->keyword_count > left)
        tdc_refuse(e, TDC_ERR_UNSUPPORTED, "too many arguments");
    if ((e->operator->flags & TDC_IS_RANDOM) != 0)
        tdc_refuse(e, TDC_ERR_UNSUPPORTED, "random api, output is not reproducible");
    leaves->items = tdc_take(e, TDC_REFERENCE_ARGUMENTS, sizeof *leaves->items);
    value *arguments = tdc_take(e, (int64_t)call->argument_count, sizeof *arguments);
    for (size_t i = 0; i < call->argument_count; i++)
        arguments[i] = adopt(e, &call->arguments[i], leaves, &left, 0);
    struct tdc_reference_keyword *keywords =
        tdc_take(e, (int64_t)call->keyword_count, sizeof *keywords);
    for (size_t i = 0; i < call->keyword_count; i++)
        keywords[i] = (struct tdc_reference_keyword){
            call->keywords[i].name, adopt(e, &call->keywords[i].value, leaves, &left, 0)};
    tdc_bind(e, arguments, call->argument_count, keywords, call->keyword_count);
    e->operator->compute(e);
}

/* A view in PyTorch's sense: an output that is an input itself keeps no inner marks. */
static void finish_outputs(evaluation *e)
{
    for (size_t i = 0; i < e->output_count; i++)
        if (e->outputs[i].kind == TDC_VALUE_TENSOR) {
            array *copy = tdc_constant(e, e->outputs[i].tensor);
            if (tdc_is_bounded(e) && !copy->bounded && tdc_dtype_is_floating(copy->dtype))
                tdc_bound_crudely(e, copy, 0, NULL);
            copy->wants_gradient = false;
            e->outputs[i].tensor = copy;
        }
}

static void pull_back(evaluation *e, struct tdc_reference_tensor *const *gradients, size_t count)
{
    for (size_t i = 0; i < count && i < e->output_count; i++) {
        if (gradients[i] == NULL)
            continue;
        array *output = e->outputs[i].kind == TDC_VALUE_TENSOR ? e->outputs[i].tensor : NULL;
        if (output == NULL || !tdc_tracked(output))
            tdc_refuse(e, TDC_ERR_ARGUMENT, "output %zu does not require a gradient", i);
        array *g = tdc_take(e, 1, sizeof *g);
        *g = *gradients[i];
        g->made = NULL;
        g->error = NULL;
        tdc_bound_exactly(g);
        if (g->rank != output->rank ||
            memcmp(g->shape, output->shape, g->rank * sizeof *g->shape) != 0)
            tdc_refuse(e, TDC_ERR_ARGUMENT, "gradient %zu has not the shape of its output", i);
        if (!tdc_dtype_is_floating(g->dtype))
            tdc_refuse(e, TDC_ERR_ARGUMENT, "gradient %zu is not floating", i);
        tdc_collect(e, output, g);
    }
    tdc_pull_all(e);
}

static void give_gradients(evaluation *e, const struct leaves *leaves)
{
    e->output_count = 0;
    for (size_t i = 0; i < leaves->count; i++) {
        array *g = leaves->items[i]->made->gradient;
        if (g == NULL)
            tdc_give_value(e, (value){.kind = TDC_VALUE_NULL});
        else
            tdc_give(e, g);
    }
}

static void start(evaluation *e, const struct tdc_reference_call *call, struct tdc_arena *arena,
                  struct tdc_reference_results *results)
{
    memset(e, 0, sizeof *e);
    e->arena = arena;
    e->operator= call->operator;
    e->recorded_output = call->recorded_output;
    bool narrow =
        call->arithmetic == TDC_F32 || call->arithmetic == TDC_F16 || call->arithmetic == TDC_BF16;
    e->arithmetic =
        narrow && (call->operator->flags & TDC_IS_CONVERSION) == 0 ? call->arithmetic : TDC_F64;
    e->recorded_plain = call->recorded_rank_known && call->recorded_rank > 0;
    e->reason = results->reason;
    e->reason_size = sizeof results->reason;
    results->reason[0] = 0;
    results->values = NULL;
    results->count = 0;
}

/* All that is used after a longjmp is reached through e, which the callers own. */
static tdc_status run(evaluation *e, const struct tdc_reference_call *call,
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
    evaluation *e = tdc_arena_take(arena, sizeof *e);
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
