/* A whole attention layer: projections in, heads, projection out. */
#include <math.h>
#include <string.h>

#include "reference/arguments.h"
#include "reference/operators.h"
#include "reference/primitives/elementwise/binary.h"
#include "reference/primitives/elementwise/unary.h"
#include "reference/primitives/gather.h"
#include "reference/primitives/attention/attention.h"
#include "reference/primitives/matrix/product.h"
#include "reference/primitives/move.h"
#include "reference/primitives/reduce.h"
#include "reference/primitives/scan.h"

/* What the layer works on: query [L, N, E], key and value [S, N, *]; masks are terms of the scores.
 */
struct layer {
    tdc_array *q, *k, *v;
    int64_t batch, heads, depth, queries, keys;
    tdc_array *mask;    /* of the scores, [L, S] or [N, heads, L, S]; NULL: none */
    tdc_array *padding; /* of the keys, [N, 1, 1, S]; NULL: none */
    bool batched;
};

/* Weights as three matrices, from one packed matrix or from three arguments. */
static void projection(tdc_evaluation *e, int64_t width, tdc_array *weights[3],
                       tdc_array *biases[3])
{
    bool separate = tdc_bool_argument(e, "use_separate_proj_weight");
    static const char *const names[] = {"q_proj_weight", "k_proj_weight", "v_proj_weight"};
    tdc_array *packed = separate ? NULL : tdc_real_array_argument(e, "in_proj_weight");
    tdc_array *bias = tdc_optional_real_array(e, "in_proj_bias");
    if ((packed != NULL && (packed->rank != 2 || packed->shape[0] != 3 * width)) ||
        (bias != NULL && (bias->rank != 1 || bias->shape[0] != 3 * width)))
        tdc_refuse(e, TDC_ERR_ARGUMENT, "in_proj does not fit the width");
    for (int i = 0; i < 3; i++) {
        weights[i] = separate ? tdc_real_array_argument(e, names[i])
                              : tdc_slice(e, packed, 0, i * width, width, 1);
        biases[i] = bias == NULL ? NULL : tdc_slice(e, bias, 0, i * width, width, 1);
    }
}

static tdc_array *batched_argument(tdc_evaluation *e, const char *name, bool *batched)
{
    tdc_array *x = tdc_real_array_argument(e, name);
    *batched = x->rank == 3;
    if (x->rank != 3 && x->rank != 2)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "%s must have two or three dimensions", name);
    return *batched ? x : tdc_unsqueeze(e, x, 1);
}

/* -inf where a mask of bools is true; a mask of numbers as it is. */
static tdc_array *term_of(tdc_evaluation *e, tdc_array *mask)
{
    if (tdc_dtype_is_floating(mask->dtype))
        return mask;
    return tdc_select(e, mask, tdc_number(e, -(double)INFINITY), tdc_number(e, 0));
}

static void read_masks(tdc_evaluation *e, struct layer *a)
{
    if (tdc_given(e, "attn_mask")) {
        a->mask = term_of(e, tdc_array_argument(e, "attn_mask"));
        if (a->mask->rank == 3 && a->mask->shape[0] == a->batch * a->heads)
            a->mask = tdc_reshape(
                e, a->mask, 4,
                (const int64_t[]){a->batch, a->heads, a->mask->shape[1], a->mask->shape[2]});
        else if (a->mask->rank != 2 && !(a->mask->rank == 3 && a->mask->shape[0] == 1))
            tdc_refuse(e, TDC_ERR_ARGUMENT, "attn_mask does not fit the heads");
    }
    if (tdc_given(e, "key_padding_mask")) {
        tdc_array *m = term_of(e, tdc_array_argument(e, "key_padding_mask"));
        if (m->count != a->batch * a->keys)
            tdc_refuse(e, TDC_ERR_ARGUMENT, "key_padding_mask does not fit the keys");
        a->padding = tdc_reshape(e, m, 4, (const int64_t[]){a->batch, 1, 1, a->keys});
    }
}

/* x with a piece of `count` along dim: zeros, or `more` spread over the other dimensions. */
static tdc_array *extended(tdc_evaluation *e, tdc_array *x, unsigned dim, tdc_array *more)
{
    int64_t shape[TDC_REFERENCE_RANK];
    if (x == NULL)
        return NULL;
    memcpy(shape, x->shape, sizeof shape);
    shape[dim] = 1;
    tdc_array *piece =
        more != NULL ? tdc_expand(e, more, x->rank, shape) : tdc_zeros(e, TDC_F64, x->rank, shape);
    return tdc_concatenate(e, (tdc_array *const[]){x, piece}, 2, dim);
}

/* One key more, which every query sees: bias_k and bias_v, or zeros. */
static void add_key(tdc_evaluation *e, struct layer *a, unsigned dim, tdc_array *key,
                    tdc_array *content)
{
    a->k = extended(e, a->k, dim, key);
    a->v = extended(e, a->v, dim, content);
    a->mask = a->mask == NULL ? NULL : extended(e, a->mask, a->mask->rank - 1, NULL);
    a->padding = extended(e, a->padding, 3, NULL);
    a->keys++;
}

/* [S, N, heads * depth] to [N, heads, S, depth] */
static tdc_array *to_heads(tdc_evaluation *e, tdc_array *x, const struct layer *a)
{
    if (x->shape[1] != a->batch || x->shape[2] != a->heads * a->depth)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "a projection does not fit the heads");
    x = tdc_reshape(e, x, 4, (const int64_t[]){x->shape[0], a->batch, a->heads, a->depth});
    return tdc_permute(e, x, (const unsigned[]){1, 2, 0, 3});
}

static void read_layer(tdc_evaluation *e, struct layer *a)
{
    tdc_array *weights[3], *biases[3];
    tdc_array *x = batched_argument(e, "query", &a->batched);
    bool same;
    tdc_array *k = batched_argument(e, "key", &same), *v = batched_argument(e, "value", &same);
    a->heads = tdc_int_argument(e, "num_heads");
    int64_t width = x->shape[2];
    if (a->heads < 1 || width % a->heads != 0)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "the width is not divisible by the heads");
    a->batch = x->shape[1];
    a->depth = width / a->heads;
    a->queries = x->shape[0];
    a->keys = k->shape[0];
    projection(e, width, weights, biases);
    a->q = tdc_linear(e, x, weights[0], biases[0]);
    a->k = tdc_linear(e, k, weights[1], biases[1]);
    a->v = tdc_linear(e, v, weights[2], biases[2]);
    read_masks(e, a);
    if (tdc_given(e, "bias_k") && tdc_given(e, "bias_v"))
        add_key(e, a, 0, tdc_real_array_argument(e, "bias_k"),
                tdc_real_array_argument(e, "bias_v"));
    a->q = to_heads(e, a->q, a);
    a->k = to_heads(e, a->k, a);
    a->v = to_heads(e, a->v, a);
    if (tdc_bool_argument(e, "add_zero_attn"))
        add_key(e, a, 2, NULL, NULL);
}

/* Both masks as one term, or NULL. */
static tdc_array *joint_mask(tdc_evaluation *e, const struct layer *a)
{
    if (a->mask != NULL && a->padding != NULL)
        return tdc_add(e, a->mask, a->padding);
    return a->mask != NULL ? a->mask : a->padding;
}

/* The probabilities of all keys, for calls that ask for them. */
static tdc_array *probabilities(tdc_evaluation *e, const struct layer *a)
{
    tdc_array *scores =
        tdc_matmul(e, tdc_scale(e, a->q, 1 / sqrt((double)a->depth)), tdc_swap(e, a->k, 2, 3));
    tdc_array *term = joint_mask(e, a);
    return tdc_softmax_rows(e, term == NULL ? scores : tdc_add(e, scores, term));
}

/* [N, heads, L, depth] to [L, N, E] and through the last projection. */
static tdc_array *projected_out(tdc_evaluation *e, tdc_array *y, const struct layer *a)
{
    y = tdc_permute(e, y, (const unsigned[]){2, 0, 1, 3});
    y = tdc_reshape(e, y, 3, (const int64_t[]){a->queries, a->batch, a->heads * a->depth});
    y = tdc_linear(e, y, tdc_real_array_argument(e, "out_proj_weight"),
                   tdc_optional_real_array(e, "out_proj_bias"));
    return a->batched ? y : tdc_squeeze(e, y, 1);
}

static void multi_head_attention(tdc_evaluation *e)
{
    struct layer a = {0};
    if (tdc_bool_argument(e, "training") && tdc_real_argument(e, "dropout_p") > 0)
        tdc_refuse(e, TDC_ERR_UNSUPPORTED, "random api, output is not reproducible");
    if (tdc_given(e, "static_k") || tdc_given(e, "static_v"))
        tdc_refuse(e, TDC_ERR_UNSUPPORTED, "static keys or values");
    read_layer(e, &a);
    if (!tdc_bool_argument(e, "need_weights")) {
        struct tdc_attention core = {.q = a.q,
                                     .k = a.k,
                                     .v = a.v,
                                     .scale = 1 / sqrt((double)a.depth),
                                     .keep = 1,
                                     .safe = true,
                                     .hidden_term = -(double)INFINITY,
                                     .bias = joint_mask(e, &a)};
        /* the mask is only a hint for a causal band then */
        if (tdc_bool_argument(e, "is_causal") && a.padding == NULL) {
            core.bias = NULL;
            core.banded = true;
            core.pre = (double)INFINITY;
        }
        tdc_give(e, projected_out(e, tdc_attend(e, &core, NULL, NULL), &a));
        tdc_give_value(e, (tdc_call_value){.kind = TDC_VALUE_NULL});
        return;
    }
    tdc_array *p = probabilities(e, &a);
    tdc_give(e, projected_out(e, tdc_matmul(e, p, a.v), &a));
    if (tdc_bool_argument(e, "average_attn_weights"))
        p = tdc_mean_dim(e, p, 1, false);
    tdc_give(e, a.batched ? p : tdc_squeeze(e, p, 0));
}

static const struct tdc_operator rows[] = {
    {"multi_head_attention_forward", TDC_IN_TORCH_FUNCTIONAL,
     "query, key, value, embed_dim_to_check, num_heads, in_proj_weight, in_proj_bias, bias_k, "
     "bias_v, add_zero_attn, dropout_p, out_proj_weight, out_proj_bias, training=True, "
     "key_padding_mask=None, need_weights=True, attn_mask=None, use_separate_proj_weight=False, "
     "q_proj_weight=None, k_proj_weight=None, v_proj_weight=None, static_k=None, static_v=None, "
     "average_attn_weights=True, is_causal=False",
     multi_head_attention, 0, 0},
};
const struct tdc_operator_family tdc_multi_head_family = TDC_FAMILY("attention layers", rows);
