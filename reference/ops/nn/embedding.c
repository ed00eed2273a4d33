#include <math.h>
#include <string.h>

#include "reference/arguments.h"
#include "reference/arithmetic.h"
#include "reference/bounds.h"
#include "reference/operators.h"
#include "reference/primitives/elementwise/binary.h"
#include "reference/primitives/gather.h"
#include "reference/primitives/move.h"
#include "reference/tape.h"

struct embedding_detail {
    const tdc_array *index;
    int64_t padding; /* row without gradient, -1 for none */
    bool by_count;
};

static void bound_rows(tdc_evaluation *e, const struct embedding_detail *d,
                       const tdc_array *gradient, const int64_t *uses, tdc_array *g)
{
    int64_t width = g->shape[1];
    double *errors = tdc_new_errors(e, g), each = e->bounds.narrow > 1 ? e->bounds.narrow : 0;
    memset(errors, 0, (size_t)g->count * sizeof *errors);
    for (int64_t i = 0; i < d->index->count; i++) {
        int64_t row = d->index->whole[i];
        double n = (double)uses[row], by = d->by_count ? n : 1;
        double weight = n > 1 ? tdc_sum_weight(n) + each * (1 + sqrt(n)) : 0;
        for (int64_t k = 0; row != d->padding && k < width; k++)
            errors[row * width + k] += (weight * fabs(gradient->real[i * width + k]) +
                                        tdc_error_at(gradient, i * width + k)) /
                                       by;
    }
}

static void pull_embedding(tdc_evaluation *e, struct tdc_tape_node *node, tdc_array *gradient)
{
    const struct embedding_detail *d = node->detail;
    tdc_array *weight = node->inputs[0];
    tdc_array *g = tdc_zeros(e, TDC_F64, 2, weight->shape);
    int64_t width = weight->shape[1];
    int64_t *uses = tdc_take(e, weight->shape[0], sizeof *uses);
    memset(uses, 0, (size_t)weight->shape[0] * sizeof *uses);
    for (int64_t i = 0; i < d->index->count; i++)
        uses[d->index->whole[i]]++;
    for (int64_t i = 0; i < d->index->count; i++) {
        int64_t row = d->index->whole[i];
        if (row == d->padding)
            continue;
        double by = d->by_count ? (double)uses[row] : 1;
        for (int64_t k = 0; k < width; k++)
            g->real[row * width + k] =
                tdc_step(e, g->real[row * width + k] + gradient->real[i * width + k] / by);
    }
    if (tdc_is_bounded(e))
        bound_rows(e, d, gradient, uses, g);
    tdc_collect(e, weight, g);
}

/* Rows that are looked up and longer than max_norm are shortened to it. */
static tdc_array *renormalised(tdc_evaluation *e, tdc_array *weight, const tdc_array *index)
{
    double limit = tdc_real_argument(e, "max_norm"), p = tdc_real_argument(e, "norm_type");
    int64_t width = weight->shape[1];
    tdc_array *w = tdc_new_like(e, TDC_F64, weight);
    memcpy(w->real, weight->real, (size_t)w->count * sizeof *w->real);
    double *errors = tdc_is_bounded(e) ? tdc_new_errors(e, w) : NULL;
    if (errors != NULL)
        memset(errors, 0, (size_t)w->count * sizeof *errors);
    for (int64_t i = 0; i < index->count; i++) {
        double *row = w->real + index->whole[i] * width, sum = 0;
        const double *old = weight->real + index->whole[i] * width;
        for (int64_t k = 0; k < width; k++)
            sum += pow(fabs(old[k]), p);
        double norm = pow(sum, 1 / p);
        for (int64_t k = 0; norm > limit && k < width; k++)
            row[k] = old[k] * (limit / (norm + 1e-7));
        for (int64_t k = 0; errors != NULL && norm > limit && k < width; k++)
            errors[index->whole[i] * width + k] =
                tdc_own_error(e, TDC_ELEMENTARY * (1 + tdc_sum_weight((double)width)), row[k]);
    }
    w->made = weight->made;
    return w;
}

static void embedding(tdc_evaluation *e)
{
    tdc_array *index = tdc_array_argument(e, "input"),
              *weight = tdc_real_array_argument(e, "weight");
    if (weight->rank != 2 || tdc_dtype_is_floating(index->dtype) ||
        index->rank + 1 > TDC_REFERENCE_RANK)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "integers and a matrix expected");
    int64_t lines = weight->shape[0], width = weight->shape[1], shape[TDC_REFERENCE_RANK];
    for (int64_t i = 0; i < index->count; i++)
        if (index->whole[i] < 0 || index->whole[i] >= lines)
            tdc_refuse(e, TDC_ERR_ARGUMENT, "index out of range");
    if (tdc_given(e, "max_norm"))
        weight = renormalised(e, weight, index);
    memcpy(shape, index->shape, sizeof shape);
    shape[index->rank] = width;
    tdc_array *y = tdc_new(e, TDC_F64, index->rank + 1, shape);
    for (int64_t i = 0; i < index->count; i++)
        memcpy(y->real + i * width, weight->real + index->whole[i] * width,
               (size_t)width * sizeof *y->real);
    double *errors = weight->error != NULL ? tdc_new_errors(e, y) : NULL;
    for (int64_t i = 0; errors != NULL && i < index->count; i++)
        memcpy(errors + i * width, weight->error + index->whole[i] * width,
               (size_t)width * sizeof *errors);
    tdc_bound_exactly(y);
    struct embedding_detail *d = tdc_take(e, 1, sizeof *d);
    *d = (struct embedding_detail){index, -1, tdc_bool_argument(e, "scale_grad_by_freq")};
    if (tdc_given(e, "padding_idx")) {
        d->padding = tdc_int_argument(e, "padding_idx");
        /* -1 is torch.embedding's word for none */
        d->padding += d->padding < 0 && e->definition->variant == 0 ? lines : 0;
    }
    tdc_note(e, y, pull_embedding, d, 1, &weight);
    tdc_give(e, y);
}

/* ---- bags: sums, means or maxima of the rows of each list of indices ------------------------- */

struct bags {
    tdc_array *index; /* one dimension */
    int64_t *ends;    /* of each bag */
    int64_t count, padding;
    tdc_array *weights; /* of the samples, NULL for none */
};

static void check_indices(tdc_evaluation *e, const tdc_array *index, int64_t lines)
{
    if (tdc_dtype_is_floating(index->dtype))
        tdc_refuse(e, TDC_ERR_ARGUMENT, "integers expected");
    for (int64_t i = 0; i < index->count; i++)
        if (index->whole[i] < 0 || index->whole[i] >= lines)
            tdc_refuse(e, TDC_ERR_ARGUMENT, "index out of range");
}

/* A matrix of indices has a bag in each row; a vector comes with the bags' first places. */
static void read_bags(tdc_evaluation *e, struct bags *b, int64_t lines)
{
    tdc_array *index = tdc_array_argument(e, "input");
    check_indices(e, index, lines);
    b->weights = tdc_optional_real_array(e, "per_sample_weights");
    if (b->weights != NULL && b->weights->count != index->count)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "per_sample_weights has not the shape of the indices");
    if (index->rank == 2) {
        b->count = index->shape[0];
        b->ends = tdc_take(e, b->count, sizeof *b->ends);
        for (int64_t i = 0; i < b->count; i++)
            b->ends[i] = (i + 1) * index->shape[1];
    } else {
        tdc_array *offsets = tdc_array_argument(e, "offsets");
        bool last = tdc_bool_argument(e, "include_last_offset");
        if (index->rank != 1 || offsets->rank != 1 || tdc_dtype_is_floating(offsets->dtype) ||
            offsets->count < 1)
            tdc_refuse(e, TDC_ERR_ARGUMENT, "indices and the offsets of their bags expected");
        b->count = offsets->count - last;
        b->ends = tdc_take(e, offsets->count, sizeof *b->ends);
        for (int64_t i = 0; i < b->count; i++) {
            b->ends[i] = i + 1 < offsets->count ? offsets->whole[i + 1] : index->count;
            if (offsets->whole[i] > b->ends[i] || b->ends[i] > index->count ||
                offsets->whole[i] < 0)
                tdc_refuse(e, TDC_ERR_ARGUMENT, "offsets must rise up to the number of indices");
        }
    }
    b->index = tdc_reshape(e, index, 1, &index->count);
    b->padding = -1;
    if (tdc_given(e, "padding_idx")) {
        b->padding = tdc_int_argument(e, "padding_idx");
        b->padding += b->padding < 0 && e->definition->variant == 0 ? lines : 0;
    }
}

/* The rows of all indices; a gradient is divided by the number of an index's uses when asked. */
static tdc_array *looked_up(tdc_evaluation *e, tdc_array *weight, const struct bags *b)
{
    int64_t n = b->index->count, width = weight->shape[1];
    tdc_array *y = tdc_new(e, TDC_F64, 2, (const int64_t[]){n, width});
    for (int64_t i = 0; i < n; i++)
        memcpy(y->real + i * width, weight->real + b->index->whole[i] * width,
               (size_t)width * sizeof *y->real);
    struct embedding_detail *d = tdc_take(e, 1, sizeof *d);
    *d =
        (struct embedding_detail){b->index, b->padding, tdc_bool_argument(e, "scale_grad_by_freq")};
    tdc_bound_exactly(y);
    tdc_note(e, y, pull_embedding, d, 1, &weight);
    if (b->weights == NULL)
        return y;
    return tdc_mul(e, y, tdc_reshape(e, b->weights, 2, (const int64_t[]){n, 1}));
}

/* Of each bag and column the place of the first largest among the rows looked up, -1 for none. */
static tdc_array *bag_maxima(tdc_evaluation *e, tdc_array *entries, const struct bags *b)
{
    int64_t width = entries->shape[1];
    tdc_array *place = tdc_new(e, TDC_I64, 2, (const int64_t[]){b->count, width});
    for (int64_t bag = 0, from = 0; bag < b->count; from = b->ends[bag++])
        for (int64_t c = 0; c < width; c++) {
            int64_t best = -1;
            for (int64_t i = from; i < b->ends[bag]; i++)
                if (b->index->whole[i] != b->padding &&
                    (best < 0 || entries->real[i * width + c] > entries->real[best]))
                    best = i * width + c;
            place->whole[bag * width + c] = best;
        }
    return tdc_mapped(e, entries, place->whole, 2, place->shape, 0);
}

static tdc_array *bag_sums(tdc_evaluation *e, tdc_array *entries, const struct bags *b, bool mean)
{
    int64_t n = entries->shape[0], width = entries->shape[1];
    int64_t *map = tdc_take(e, entries->count, sizeof *map);
    tdc_array *share = tdc_zeros(e, TDC_F64, 2, (const int64_t[]){b->count, 1});
    for (int64_t i = 0; i < n * width; i++)
        map[i] = -1;
    for (int64_t bag = 0, from = 0; bag < b->count; from = b->ends[bag++]) {
        for (int64_t i = from; i < b->ends[bag]; i++) {
            bool used = b->index->whole[i] != b->padding;
            share->real[bag] += used;
            for (int64_t c = 0; used && c < width; c++)
                map[i * width + c] = bag * width + c;
        }
        share->real[bag] = share->real[bag] > 0 ? share->real[bag] : 1;
    }
    tdc_array *y = tdc_scatter_add(e, entries, map, 2, (const int64_t[]){b->count, width});
    return mean ? tdc_div(e, y, share) : y;
}

static void embedding_bag(tdc_evaluation *e)
{
    static const char *const modes[] = {"sum", "mean", "max"};
    tdc_array *weight = tdc_real_array_argument(e, "weight");
    const tdc_call_value *wanted = tdc_argument(e, "mode");
    int mode = wanted->kind == TDC_VALUE_INT ? (int)wanted->whole : 0;
    for (int i = 0; wanted->kind == TDC_VALUE_TEXT && i < 3; i++)
        mode = strcmp(wanted->text, modes[i]) == 0 ? i : mode;
    if (weight->rank != 2)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "a matrix of weights expected");
    struct bags b;
    read_bags(e, &b, weight->shape[0]);
    if (e->definition->variant == 0 && tdc_given(e, "max_norm"))
        weight = renormalised(e, weight, b.index);
    tdc_array *entries = looked_up(e, weight, &b);
    tdc_give(e, mode == 2 ? bag_maxima(e, entries, &b) : bag_sums(e, entries, &b, mode == 1));
}

static const struct tdc_operator rows[] = {
    {"embedding_bag", TDC_IN_TORCH_FUNCTIONAL,
     "input, weight, offsets=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, "
     "mode='mean', sparse=False, per_sample_weights=None, include_last_offset=False, "
     "padding_idx=None",
     embedding_bag, 0, 0},
    /* its other outputs tell how the first came about */
    {"embedding_bag _embedding_bag _embedding_bag_forward_only", TDC_IN_TORCH,
     "weight, input, offsets, scale_grad_by_freq=False, mode=0, sparse=False, "
     "per_sample_weights=None, include_last_offset=False, padding_idx=-1",
     embedding_bag, 1, 0},
    {"embedding", TDC_IN_FUNCTIONALS,
     "input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, "
     "sparse=False",
     embedding, 0, 0},
    {"embedding", TDC_IN_TORCH,
     "weight, input, padding_idx=-1, scale_grad_by_freq=False, sparse=False, max_norm=None, "
     "norm_type=2.0",
     embedding, 1, 0},
};
const struct tdc_operator_family tdc_embedding_family = TDC_FAMILY("embedding", rows);
