#include <math.h>
#include <string.h>

#include "reference/primitives/primitives.h"

/* ---- layouts: [B, N, S, D] inside
 * ---------------------------------------------------------------- */

enum layout {
    BSH,
    SBH,
    BSND,
    BNSD
};

static enum layout layout_argument(evaluation *e)
{
    const char *text = tdc_text_argument(e, "input_layout");
    static const char *const names[] = {"BSH", "SBH", "BSND", "BNSD"};
    for (int i = 0; i < 4; i++)
        if (strcmp(text, names[i]) == 0)
            return (enum layout)i;
    tdc_refuse(e, TDC_ERR_UNSUPPORTED, "input_layout %.12s", text);
}

static array *to_heads(evaluation *e, array *x, enum layout layout, int64_t depth)
{
    if (x->rank != (layout <= SBH ? 3 : 4))
        tdc_refuse(e, TDC_ERR_ARGUMENT, "rank does not fit the layout");
    if (layout == BNSD)
        return x;
    if (layout == BSND)
        return tdc_swap(e, x, 1, 2);
    if (depth < 1 || x->shape[2] % depth != 0)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "hidden size is not divisible by the heads");
    x = tdc_reshape(e, x, 4,
                    (const int64_t[]){x->shape[0], x->shape[1], x->shape[2] / depth, depth});
    return layout == BSH ? tdc_swap(e, x, 1, 2) : tdc_permute(e, x, (const unsigned[]){1, 2, 0, 3});
}

static array *from_heads(evaluation *e, array *y, enum layout layout)
{
    if (layout == BNSD)
        return y;
    y = layout == SBH ? tdc_permute(e, y, (const unsigned[]){2, 0, 1, 3}) : tdc_swap(e, y, 1, 2);
    if (layout == BSND)
        return y;
    return tdc_reshape(e, y, 3,
                       (const int64_t[]){y->shape[0], y->shape[1], y->shape[2] * y->shape[3]});
}

/* Key and value heads shared by groups of query heads. */
static array *repeat_heads(evaluation *e, array *x, int64_t heads)
{
    int64_t own = x->shape[1];
    if (own == heads)
        return x;
    if (own < 1 || heads % own != 0)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "query heads are no multiple of key heads");
    x = tdc_unsqueeze(e, x, 2);
    x = tdc_expand(e, x, 5,
                   (const int64_t[]){x->shape[0], own, heads / own, x->shape[3], x->shape[4]});
    return tdc_reshape(e, x, 4, (const int64_t[]){x->shape[0], heads, x->shape[3], x->shape[4]});
}

static array *swap_last(evaluation *e, array *x)
{
    return tdc_swap(e, x, x->rank - 1, x->rank - 2);
}

/* ---- masks: true where a key is hidden
 * ------------------------------------------------------------ */

/* j > i + next or j < i - pre */
static array *band(evaluation *e, int64_t rows, int64_t columns, double pre, double next)
{
    array *mask = tdc_new(e, TDC_BOOL, 2, (const int64_t[]){rows, columns});
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++)
            mask->whole[i * columns + j] =
                (double)j > (double)i + next || (double)j < (double)i - pre;
    return mask;
}

static array *attention_mask(evaluation *e, const char *name, int64_t rows, int64_t columns)
{
    int64_t mode = tdc_int_argument(e, "sparse_mode");
    double pre = tdc_real_argument(e, "pre_tokens"), next = tdc_real_argument(e, "next_tokens");
    double open = (double)INFINITY;
    bool given = tdc_given(e, name);
    if (mode < 0 || mode > 4)
        tdc_refuse(e, TDC_ERR_UNSUPPORTED, "sparse_mode %lld", (long long)mode);
    if (given && mode < 2)
        return tdc_truth(e, tdc_array_argument(e, name));
    if (mode == 1)
        return NULL;
    if (mode == 2)
        return band(e, rows, columns, open, 0);
    if (mode == 3)
        return band(e, rows, columns, open, (double)(columns - rows));
    return pre >= (double)rows && next >= (double)columns ? NULL
                                                          : band(e, rows, columns, pre, next);
}

/* ---- the operators
 * --------------------------------------------------------------------------------- */

/* Row maxima and sums of exponentials, repeated eight times as the operator stores them. */
static void give_statistics(evaluation *e, array *scores)
{
    array *top = tdc_constant(e, tdc_extreme_shared(e, scores, true));
    array *shifted = tdc_sub(e, tdc_constant(e, scores), tdc_unsqueeze(e, top, 3));
    array *total = tdc_sum_rows(e, tdc_apply(e, TDC_EXP, shifted));
    int64_t shape[4] = {top->shape[0], top->shape[1], top->shape[2], 8};
    tdc_give(e, tdc_expand(e, tdc_unsqueeze(e, top, 3), 4, shape));
    tdc_give(e, tdc_expand(e, tdc_unsqueeze(e, total, 3), 4, shape));
}

struct names {
    const char *mask, *shift, *scale, *drop; /* drop: NULL when the operator has none */
};

static void fused(evaluation *e, const struct names *names)
{
    enum layout layout = layout_argument(e);
    array *q = tdc_real_array_argument(e, "query");
    int64_t heads = tdc_int_argument(e, "head_num");
    int64_t depth = layout <= SBH && heads > 0 && q->rank == 3 ? q->shape[2] / heads : 0;
    q = to_heads(e, q, layout, depth);
    array *k = to_heads(e, tdc_real_array_argument(e, "key"), layout, depth);
    array *v = to_heads(e, tdc_real_array_argument(e, "value"), layout, depth);
    k = repeat_heads(e, k, q->shape[1]);
    v = repeat_heads(e, v, q->shape[1]);
    array *scores = tdc_matmul(e, q, swap_last(e, k));
    if (tdc_given(e, names->shift))
        scores = tdc_add(e, scores, tdc_real_array_argument(e, names->shift));
    scores = tdc_scale(e, scores, tdc_real_argument(e, names->scale));
    array *mask = attention_mask(e, names->mask, q->shape[2], k->shape[2]);
    if (mask != NULL)
        scores = tdc_add(e, scores, tdc_scale(e, mask, -40000));
    array *weights = tdc_softmax_rows(e, scores);
    double keep = tdc_real_argument(e, "keep_prob");
    if (names->drop != NULL && tdc_given(e, names->drop))
        weights = tdc_scale(
            e, tdc_mul(e, weights, tdc_truth(e, tdc_array_argument(e, names->drop))), 1 / keep);
    else if (keep != 1)
        tdc_refuse(e, TDC_ERR_UNSUPPORTED, "random api, output is not reproducible");
    tdc_give(e, from_heads(e, tdc_matmul(e, weights, v), layout));
    give_statistics(e, scores);
}

static void flash_attention_score(evaluation *e)
{
    fused(e, &(const struct names){"attn_mask", "real_shift", "scalar_value", "drop_mask"});
}

static void fusion_attention(evaluation *e)
{
    fused(e, &(const struct names){"atten_mask", "pse", "scale", NULL});
}

static void scaled_dot_product(evaluation *e)
{
    array *q = tdc_real_array_argument(e, "query"), *k = tdc_real_array_argument(e, "key");
    array *v = tdc_real_array_argument(e, "value");
    if (tdc_real_argument(e, "dropout_p") != 0)
        tdc_refuse(e, TDC_ERR_UNSUPPORTED, "random api, output is not reproducible");
    if (q->rank < 2 || k->rank < 2 || v->rank < 2)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "at least two dimensions expected");
    double scale = tdc_given(e, "scale") ? tdc_real_argument(e, "scale")
                                         : 1 / sqrt((double)q->shape[q->rank - 1]);
    array *scores = tdc_scale(e, tdc_matmul(e, q, swap_last(e, k)), scale);
    array *hidden = tdc_number(e, -(double)INFINITY);
    if (tdc_bool_argument(e, "is_causal")) {
        int64_t rows = q->shape[q->rank - 2], columns = k->shape[k->rank - 2];
        scores = tdc_select(e, band(e, rows, columns, (double)INFINITY, 0), hidden, scores);
    }
    if (tdc_given(e, "attn_mask")) {
        array *mask = tdc_array_argument(e, "attn_mask");
        scores = mask->dtype == TDC_BOOL ? tdc_select(e, mask, scores, hidden)
                                         : tdc_add(e, scores, mask);
    }
    tdc_give(e, tdc_matmul(e, tdc_softmax_rows(e, scores), v));
}

static void scaled_masked_softmax(evaluation *e)
{
    array *x = tdc_real_array_argument(e, "input");
    x = tdc_scale(e, x, tdc_real_argument(e, "scale"));
    array *mask = tdc_array_argument(e, "mask");
    if (x->rank < 2)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "at least two dimensions expected");
    if (tdc_bool_argument(e, "fixed_triu_mask"))
        mask = band(e, x->shape[x->rank - 2], x->shape[x->rank - 1], (double)INFINITY, 0);
    x = tdc_select(e, mask, tdc_number(e, -10000), x);
    tdc_give(e, tdc_softmax_rows(e, x));
}

static const struct tdc_operator rows[] = {
    {"flash_attention_score", TDC_IN_TORCH_FUNCTIONAL | TDC_IN_MINT,
     "query, key, value, head_num, real_shift=None, drop_mask=None, padding_mask=None, "
     "attn_mask=None, prefix=None, actual_seq_qlen=None, actual_seq_kvlen=None, keep_prob=1.0, "
     "scalar_value=1.0, pre_tokens=2147483647, next_tokens=2147483647, inner_precise=0, "
     "input_layout='BSH', sparse_mode=0",
     flash_attention_score, 0, 0},
    {"npu_fusion_attention", TDC_IN_NPU,
     "query, key, value, head_num, input_layout, pse=None, padding_mask=None, atten_mask=None, "
     "scale=1.0, keep_prob=1.0, pre_tokens=2147483647, next_tokens=2147483647, inner_precise=0, "
     "prefix=None, actual_seq_qlen=None, actual_seq_kvlen=None, sparse_mode=0, "
     "gen_mask_parallel=True, sync=False",
     fusion_attention, 0, 0},
    {"scaled_dot_product_attention", TDC_IN_TORCH_FUNCTIONAL | TDC_IN_MINT_FUNCTIONAL,
     "query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, *, scale=None",
     scaled_dot_product, 0, 0},
    {"npu_scaled_masked_softmax", TDC_IN_NPU, "input, mask, scale=1, fixed_triu_mask=False",
     scaled_masked_softmax, 0, 0},
};
const struct tdc_operator_family tdc_attention_family = TDC_FAMILY("attention", rows);
