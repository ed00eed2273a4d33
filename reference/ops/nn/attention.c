#include <math.h>
#include <string.h>

#include "reference/arguments.h"
#include "reference/operators.h"
#include "reference/primitives/elementwise/promote.h"
#include "reference/primitives/elementwise/unary.h"
#include "reference/primitives/gather.h"
#include "reference/primitives/attention/attention.h"
#include "reference/primitives/move.h"
#include "reference/primitives/scan.h"

/* ---- layouts: [B, N, S, D] inside
 * ---------------------------------------------------------------- */

enum layout {
    BSH,
    SBH,
    BSND,
    BNSD
};

static enum layout layout_argument(tdc_evaluation *e)
{
    const char *text = tdc_text_argument(e, "input_layout");
    static const char *const names[] = {"BSH", "SBH", "BSND", "BNSD"};
    for (int i = 0; i < 4; i++)
        if (strcmp(text, names[i]) == 0)
            return (enum layout)i;
    tdc_refuse(e, TDC_ERR_UNSUPPORTED, "input_layout %.12s", text);
}

static tdc_array *to_heads(tdc_evaluation *e, tdc_array *x, enum layout layout, int64_t depth)
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

static tdc_array *from_heads(tdc_evaluation *e, tdc_array *y, enum layout layout)
{
    if (layout == BNSD)
        return y;
    y = layout == SBH ? tdc_permute(e, y, (const unsigned[]){2, 0, 1, 3}) : tdc_swap(e, y, 1, 2);
    if (layout == BSND)
        return y;
    return tdc_reshape(e, y, 3,
                       (const int64_t[]){y->shape[0], y->shape[1], y->shape[2] * y->shape[3]});
}

/* ---- masks: true where a key is hidden
 * ------------------------------------------------------------ */

/* j > i + next or j < i - pre */
static tdc_array *band(tdc_evaluation *e, int64_t rows, int64_t columns, double pre, double next)
{
    tdc_array *mask = tdc_new(e, TDC_BOOL, 2, (const int64_t[]){rows, columns});
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++)
            mask->whole[i * columns + j] =
                (double)j > (double)i + next || (double)j < (double)i - pre;
    return mask;
}

/* ---- the operators
 * --------------------------------------------------------------------------------- */

/* Row maxima or sums, repeated eight times as the operator stores them. */
static void give_eightfold(tdc_evaluation *e, tdc_array *x)
{
    int64_t shape[4] = {x->shape[0], x->shape[1], x->shape[2], 8};
    tdc_give(e, tdc_expand(e, tdc_unsqueeze(e, x, 3), 4, shape));
}

struct names {
    const char *mask, *shift, *scale, *drop; /* drop: NULL when the operator has none */
};

/* sparse_mode 0: the mask or a band; 1: the mask; 2, 3, 4: bands, their compressed mask ignored */
static void read_mask(tdc_evaluation *e, const char *name, struct tdc_attention *a, int64_t rows,
                      int64_t columns)
{
    int64_t mode = tdc_int_argument(e, "sparse_mode");
    if (mode < 0 || mode > 4)
        tdc_refuse(e, TDC_ERR_UNSUPPORTED, "sparse_mode %lld", (long long)mode);
    if (tdc_given(e, name) && mode < 2)
        a->hidden = tdc_truth(e, tdc_array_argument(e, name));
    a->banded = a->hidden == NULL && mode != 1;
    a->pre = mode == 2 || mode == 3 ? (double)INFINITY : tdc_real_argument(e, "pre_tokens");
    a->next = mode == 2   ? 0
              : mode == 3 ? (double)(columns - rows)
                          : tdc_real_argument(e, "next_tokens");
    a->banded &= !(a->pre >= (double)rows && a->next >= (double)columns);
}

static struct tdc_attention read_attention(tdc_evaluation *e, const struct names *names)
{
    struct tdc_attention a = {.scale = tdc_real_argument(e, names->scale), .hidden_term = -40000};
    a.keep = tdc_real_argument(e, "keep_prob");
    a.shift = tdc_optional_real_array(e, names->shift);
    if (names->drop != NULL && tdc_given(e, names->drop))
        a.kept = tdc_truth(e, tdc_array_argument(e, names->drop));
    else if (a.keep != 1)
        tdc_refuse(e, TDC_ERR_UNSUPPORTED, "random api, output is not reproducible");
    return a;
}

/* One piece of a sequence list: lines [from, to) of [T, N, D] as [1, N, S, D]. */
static tdc_array *piece(tdc_evaluation *e, tdc_array *x, int64_t from, int64_t to)
{
    return tdc_unsqueeze(e, tdc_swap(e, tdc_slice(e, x, 0, from, to - from, 1), 0, 1), 0);
}

#define MOST_SEQUENCES 4096

/* Ends of the sequences, counted up; a single one when they are not given. */
static size_t read_ends(tdc_evaluation *e, const char *name, int64_t *ends, int64_t lines)
{
    size_t count = 1;
    ends[0] = lines;
    if (tdc_given(e, name))
        count = tdc_ints_argument(e, name, ends, MOST_SEQUENCES);
    for (size_t i = 0; i < count; i++)
        if (ends[i] < (i == 0 ? 0 : ends[i - 1]) || ends[i] > lines)
            tdc_refuse(e, TDC_ERR_ARGUMENT, "%s must rise up to the length", name);
    if (count > 0 && ends[count - 1] != lines)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "%s must end with the length", name);
    return count;
}

/* Layout TND: sequences of different lengths one after the other, each attends to its own. */
static void fused_packed(tdc_evaluation *e, const struct names *names)
{
    tdc_array *q = tdc_real_array_argument(e, "query"), *k = tdc_real_array_argument(e, "key");
    tdc_array *v = tdc_real_array_argument(e, "value");
    if (q->rank != 3 || k->rank != 3 || v->rank != 3)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "rank does not fit the layout");
    int64_t *rows = tdc_take(e, MOST_SEQUENCES, sizeof *rows);
    int64_t *columns = tdc_take(e, MOST_SEQUENCES, sizeof *columns);
    size_t count = read_ends(e, "actual_seq_qlen", rows, q->shape[0]);
    if (count == 0 || count != read_ends(e, "actual_seq_kvlen", columns, k->shape[0]))
        tdc_refuse(e, TDC_ERR_ARGUMENT, "sequences of query and key differ in number");
    tdc_array **out = tdc_take(e, 3 * (int64_t)count, sizeof *out);
    tdc_array **most = out + count, **sums = out + 2 * count;
    for (size_t i = 0; i < count; i++) {
        int64_t from = i == 0 ? 0 : rows[i - 1], first = i == 0 ? 0 : columns[i - 1];
        struct tdc_attention a = read_attention(e, names);
        if (a.shift != NULL || a.kept != NULL)
            tdc_refuse(e, TDC_ERR_UNSUPPORTED, "pse or dropout with layout TND");
        a.q = piece(e, q, from, rows[i]);
        a.k = piece(e, k, first, columns[i]);
        a.v = piece(e, v, first, columns[i]);
        read_mask(e, names->mask, &a, rows[i] - from, columns[i] - first);
        tdc_array *y = tdc_attend(e, &a, &most[i], &sums[i]);
        out[i] = tdc_swap(e, tdc_squeeze(e, y, 0), 0, 1);
        most[i] = tdc_swap(e, tdc_squeeze(e, most[i], 0), 0, 1);
        sums[i] = tdc_swap(e, tdc_squeeze(e, sums[i], 0), 0, 1);
    }
    tdc_give(e, tdc_concatenate(e, out, count, 0));
    for (int which = 0; which < 2; which++) {
        tdc_array *x = tdc_concatenate(e, which == 0 ? most : sums, count, 0);
        int64_t shape[3] = {x->shape[0], x->shape[1], 8};
        tdc_give(e, tdc_expand(e, tdc_unsqueeze(e, x, 2), 3, shape));
    }
}

static void fused(tdc_evaluation *e, const struct names *names)
{
    if (strcmp(tdc_text_argument(e, "input_layout"), "TND") == 0) {
        fused_packed(e, names);
        return;
    }
    enum layout layout = layout_argument(e);
    tdc_array *q = tdc_real_array_argument(e, "query"), *most, *sums;
    int64_t heads = tdc_int_argument(e, "head_num");
    int64_t depth = layout <= SBH && heads > 0 && q->rank == 3 ? q->shape[2] / heads : 0;
    struct tdc_attention a = read_attention(e, names);
    a.q = to_heads(e, q, layout, depth);
    a.k = to_heads(e, tdc_real_array_argument(e, "key"), layout, depth);
    a.v = to_heads(e, tdc_real_array_argument(e, "value"), layout, depth);
    read_mask(e, names->mask, &a, a.q->shape[2], a.k->shape[2]);
    tdc_give(e, from_heads(e, tdc_attend(e, &a, &most, &sums), layout));
    give_eightfold(e, most);
    give_eightfold(e, sums);
}

static void flash_attention_score(tdc_evaluation *e)
{
    fused(e, &(const struct names){"attn_mask", "real_shift", "scalar_value", "drop_mask"});
}

static void fusion_attention(tdc_evaluation *e)
{
    fused(e, &(const struct names){"atten_mask", "pse", "scale", NULL});
}

/* x with the outer dimensions of `shape`, the last two its own. */
static tdc_array *with_outer(tdc_evaluation *e, tdc_array *x, unsigned rank, const int64_t *shape)
{
    int64_t wide[TDC_REFERENCE_RANK];
    if (x->rank < 2)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "at least two dimensions expected");
    memcpy(wide, shape, sizeof wide);
    wide[rank - 2] = x->shape[x->rank - 2];
    wide[rank - 1] = x->shape[x->rank - 1];
    return tdc_expand(e, x, rank, wide);
}

static tdc_array *not_of(tdc_evaluation *e, tdc_array *mask)
{
    tdc_array *y = tdc_new_like(e, TDC_BOOL, mask);
    for (int64_t i = 0; i < y->count; i++)
        y->whole[i] = mask->whole[i] == 0;
    return y;
}

static void scaled_dot_product(tdc_evaluation *e)
{
    tdc_array *q = tdc_real_array_argument(e, "query"), *k = tdc_real_array_argument(e, "key");
    tdc_array *v = tdc_real_array_argument(e, "value");
    if (tdc_real_argument(e, "dropout_p") != 0)
        tdc_refuse(e, TDC_ERR_UNSUPPORTED, "random api, output is not reproducible");
    if (q->rank < 2 || k->rank < 2 || v->rank < 2)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "at least two dimensions expected");
    struct tdc_attention a = {.hidden_term = -(double)INFINITY, .keep = 1, .safe = true};
    a.scale = tdc_given(e, "scale") ? tdc_real_argument(e, "scale")
                                    : 1 / sqrt((double)q->shape[q->rank - 1]);
    if (!tdc_bool_argument(e, "enable_gqa")) {
        unsigned rank;
        int64_t shape[TDC_REFERENCE_RANK];
        tdc_array outer_q = *q, outer_k = *k, both = *q;
        outer_q.shape[q->rank - 1] = outer_q.shape[q->rank - 2] = 1;
        outer_k.shape[k->rank - 1] = outer_k.shape[k->rank - 2] = 1;
        tdc_broadcast_shape(e, &outer_q, &outer_k, &both.rank, both.shape);
        outer_k = *v;
        outer_k.shape[v->rank - 1] = outer_k.shape[v->rank - 2] = 1;
        tdc_broadcast_shape(e, &both, &outer_k, &rank, shape);
        q = with_outer(e, q, rank, shape);
        k = with_outer(e, k, rank, shape);
        v = with_outer(e, v, rank, shape);
    }
    a.q = q;
    a.k = k;
    a.v = v;
    if (tdc_bool_argument(e, "is_causal")) {
        a.banded = true;
        a.pre = (double)INFINITY;
    }
    if (tdc_given(e, "attn_mask")) {
        tdc_array *mask = tdc_array_argument(e, "attn_mask");
        if (mask->dtype == TDC_BOOL)
            a.hidden = not_of(e, mask);
        else
            a.bias = tdc_to_real(e, mask);
    }
    tdc_give(e, tdc_attend(e, &a, NULL, NULL));
}

static void scaled_masked_softmax(tdc_evaluation *e)
{
    tdc_array *x = tdc_real_array_argument(e, "input");
    x = tdc_scale(e, x, tdc_real_argument(e, "scale"));
    tdc_array *mask = tdc_array_argument(e, "mask");
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
     "query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, *, scale=None, "
     "enable_gqa=False",
     scaled_dot_product, 0, 0},
    {"npu_scaled_masked_softmax", TDC_IN_NPU, "input, mask, scale=1, fixed_triu_mask=False",
     scaled_masked_softmax, 0, 0},
};
const struct tdc_operator_family tdc_attention_family = TDC_FAMILY("attention", rows);
