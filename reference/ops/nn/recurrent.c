/* Recurrent layers and cells: LSTM, GRU and the plain kind. */
#include <string.h>

#include "reference/arguments.h"
#include "reference/operators.h"
#include "reference/primitives/elementwise/binary.h"
#include "reference/primitives/elementwise/unary.h"
#include "reference/primitives/gather.h"
#include "reference/primitives/matrix/product.h"
#include "reference/primitives/move.h"

enum kind {
    LSTM,
    GRU,
    TANH,
    RELU
};

/* Gates of each kind, rows of the weights in units of the hidden width. */
static int64_t gates_of(enum kind kind)
{
    return kind == LSTM ? 4 : kind == GRU ? 3 : 1;
}

/* Weights of one layer in one direction; biases and projection may be NULL. */
struct weights {
    tdc_array *input, *hidden, *input_bias, *hidden_bias, *projection;
};

struct state {
    tdc_array *h, *c; /* [rows, width]; c of LSTM alone */
};

static tdc_array *gate(tdc_evaluation *e, tdc_array *x, int64_t width, int64_t which)
{
    return tdc_slice(e, x, 1, which * width, width, 1);
}

/* One step: x is the input already times its weights. */
static struct state step(tdc_evaluation *e, enum kind kind, tdc_array *x, struct state s,
                         const struct weights *w)
{
    tdc_array *h = tdc_linear(e, s.h, w->hidden, w->hidden_bias);
    int64_t width = x->shape[1] / gates_of(kind);
    if (kind == TANH || kind == RELU)
        return (struct state){tdc_apply(e, kind == TANH ? TDC_TANH : TDC_RELU, tdc_add(e, x, h)),
                              NULL};
    if (kind == GRU) {
        tdc_array *sum =
            tdc_add(e, tdc_slice(e, x, 1, 0, 2 * width, 1), tdc_slice(e, h, 1, 0, 2 * width, 1));
        tdc_array *both = tdc_apply(e, TDC_SIGMOID, sum);
        tdc_array *fresh =
            tdc_apply(e, TDC_TANH,
                      tdc_add(e, gate(e, x, width, 2),
                              tdc_mul(e, gate(e, both, width, 0), gate(e, h, width, 2))));
        tdc_array *kept = tdc_mul(e, gate(e, both, width, 1), tdc_sub(e, s.h, fresh));
        return (struct state){tdc_add(e, fresh, kept), NULL};
    }
    tdc_array *sum = tdc_add(e, x, h);
    tdc_array *in = tdc_apply(e, TDC_SIGMOID, gate(e, sum, width, 0));
    tdc_array *forget = tdc_apply(e, TDC_SIGMOID, gate(e, sum, width, 1));
    tdc_array *fresh = tdc_apply(e, TDC_TANH, gate(e, sum, width, 2));
    tdc_array *out = tdc_apply(e, TDC_SIGMOID, gate(e, sum, width, 3));
    struct state next;
    next.c = tdc_add(e, tdc_mul(e, forget, s.c), tdc_mul(e, in, fresh));
    next.h = tdc_mul(e, out, tdc_apply(e, TDC_TANH, next.c));
    if (w->projection != NULL)
        next.h = tdc_linear(e, next.h, w->projection, NULL);
    return next;
}

static void check_weights(tdc_evaluation *e, enum kind kind, const struct weights *w,
                          const struct state *s, int64_t columns)
{
    int64_t gates = gates_of(kind);
    bool fit = w->input->rank == 2 && w->hidden->rank == 2 && w->input->shape[1] == columns &&
               w->input->shape[0] % gates == 0 && w->hidden->shape[0] == w->input->shape[0] &&
               s->h->rank == 2 && s->h->shape[1] == w->hidden->shape[1];
    int64_t width = fit ? w->input->shape[0] / gates : 0;
    if (fit && w->projection == NULL)
        fit = s->h->shape[1] == width;
    else if (fit)
        fit = w->projection->rank == 2 && w->projection->shape[1] == width &&
              w->projection->shape[0] == s->h->shape[1];
    if (fit && kind == LSTM)
        fit = s->c != NULL && s->c->rank == 2 && s->c->shape[0] == s->h->shape[0] &&
              s->c->shape[1] == width;
    if (!fit)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "weights and states of the layer do not fit");
}

/* ---- sequences: rows of step t are [starts[t], starts[t] + sizes[t]), sizes falling -----------
 */

struct sequence {
    int64_t steps, batch;
    const int64_t *sizes, *starts;
};

static tdc_array *some_rows(tdc_evaluation *e, tdc_array *x, int64_t from, int64_t count)
{
    if (x == NULL || (from == 0 && count == x->shape[0]))
        return x;
    return tdc_slice(e, x, 0, from, count, 1);
}

static tdc_array *rows_joined(tdc_evaluation *e, tdc_array *first, tdc_array *second)
{
    if (first == NULL || second == NULL)
        return first;
    return tdc_concatenate(e, (tdc_array *const[]){first, second}, 2, 0);
}

/* One layer in one direction. Gives the outputs of all steps in the order of the rows, and the last
 * state of each sequence. */
static tdc_array *run_direction(tdc_evaluation *e, enum kind kind, tdc_array *x,
                                const struct sequence *q, const struct weights *w,
                                struct state first, bool backward, struct state *last)
{
    check_weights(e, kind, w, &first, x->shape[1]);
    tdc_array *all = tdc_linear(e, x, w->input, w->input_bias);
    tdc_array **outputs = tdc_take(e, q->steps, sizeof(tdc_array *));
    struct state s = {NULL, NULL}, ended = {NULL, NULL};
    int64_t rows = backward ? 0 : q->batch;
    if (!backward)
        s = first;
    for (int64_t i = 0; i < q->steps; i++) {
        int64_t t = backward ? q->steps - 1 - i : i, size = q->sizes[t];
        if (size > rows) { /* sequences that begin here */
            struct state more = {some_rows(e, first.h, rows, size - rows),
                                 some_rows(e, first.c, rows, size - rows)};
            s.h = rows == 0 ? more.h : rows_joined(e, s.h, more.h);
            s.c = rows == 0 ? more.c : rows_joined(e, s.c, more.c);
        } else if (size < rows) { /* that end here, the shortest last */
            struct state done = {some_rows(e, s.h, size, rows - size),
                                 some_rows(e, s.c, size, rows - size)};
            ended.h = ended.h == NULL ? done.h : rows_joined(e, done.h, ended.h);
            ended.c = ended.c == NULL ? done.c : rows_joined(e, done.c, ended.c);
            s = (struct state){some_rows(e, s.h, 0, size), some_rows(e, s.c, 0, size)};
        }
        rows = size;
        s = step(e, kind, some_rows(e, all, q->starts[t], size), s, w);
        outputs[t] = s.h;
    }
    *last = (struct state){rows_joined(e, s.h, ended.h), rows_joined(e, s.c, ended.c)};
    return tdc_concatenate(e, outputs, (size_t)q->steps, 0);
}

/* ---- layers ---------------------------------------------------------------------------------- */

struct layers {
    enum kind kind;
    tdc_array **weights;
    size_t weight_count;
    int64_t count, directions, per_direction; /* per_direction: arrays of weights */
    bool biases;
    tdc_array *h, *c; /* first states [count * directions, batch, width] */
};

static struct weights weights_of(const struct layers *l, int64_t which)
{
    tdc_array **at = l->weights + which * l->per_direction;
    struct weights w = {.input = at[0], .hidden = at[1]};
    if (l->biases) {
        w.input_bias = at[2];
        w.hidden_bias = at[3];
    }
    if (l->per_direction == (l->biases ? 5 : 3))
        w.projection = at[l->per_direction - 1];
    return w;
}

static void read_layers(tdc_evaluation *e, struct layers *l)
{
    l->kind = (enum kind)e->definition->variant;
    l->biases = tdc_bool_argument(e, "has_biases");
    l->count = tdc_int_argument(e, "num_layers");
    l->directions = tdc_bool_argument(e, "bidirectional") ? 2 : 1;
    l->weight_count = tdc_arrays_argument(e, "params", &l->weights);
    for (size_t i = 0; i < l->weight_count; i++)
        l->weights[i] = tdc_to_real(e, l->weights[i]);
    if (l->count < 1 || l->count > 4096 ||
        l->weight_count % (size_t)(l->count * l->directions) != 0)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "the weights are not those of the layers");
    l->per_direction = (int64_t)l->weight_count / (l->count * l->directions);
    int64_t plain = l->biases ? 4 : 2;
    if (l->per_direction != plain && !(l->kind == LSTM && l->per_direction == plain + 1))
        tdc_refuse(e, TDC_ERR_ARGUMENT, "the weights are not those of the layers");
    if (tdc_bool_argument(e, "train") && tdc_real_argument(e, "dropout") > 0 && l->count > 1)
        tdc_refuse(e, TDC_ERR_UNSUPPORTED, "random api, output is not reproducible");
    const tdc_call_value *hx = tdc_argument(e, "hx");
    if (l->kind == LSTM) {
        tdc_array **states;
        if (tdc_arrays_argument(e, "hx", &states) != 2)
            tdc_refuse(e, TDC_ERR_ARGUMENT, "hx must be two states");
        l->h = tdc_to_real(e, states[0]);
        l->c = tdc_to_real(e, states[1]);
    } else {
        l->h = tdc_to_real(e, tdc_array_of(e, hx, "hx"));
    }
    if (l->h->rank != 3 || l->h->shape[0] != l->count * l->directions ||
        (l->c != NULL && (l->c->rank != 3 || l->c->shape[0] != l->h->shape[0])))
        tdc_refuse(e, TDC_ERR_ARGUMENT, "the first states are not those of the layers");
}

/* Sizes of the steps, which must not rise, and where each step's rows start. */
static void read_sizes(tdc_evaluation *e, struct sequence *q, const tdc_array *sizes, int64_t rows)
{
    if (sizes->rank != 1 || sizes->count < 1 || tdc_dtype_is_floating(sizes->dtype))
        tdc_refuse(e, TDC_ERR_ARGUMENT, "batch_sizes must be integers");
    int64_t *starts = tdc_take(e, sizes->count, sizeof *starts), sum = 0;
    for (int64_t t = 0; t < sizes->count; t++) {
        int64_t size = sizes->whole[t];
        if (size < 1 || size > rows || (t > 0 && size > sizes->whole[t - 1]))
            tdc_refuse(e, TDC_ERR_ARGUMENT, "batch_sizes must fall");
        starts[t] = sum;
        sum += size;
    }
    if (sum != rows)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "batch_sizes do not add up to the rows");
    *q = (struct sequence){sizes->count, sizes->whole[0], sizes->whole, starts};
}

static void even_sizes(tdc_evaluation *e, struct sequence *q, int64_t steps, int64_t batch)
{
    int64_t *sizes = tdc_take(e, 2 * steps, sizeof *sizes);
    for (int64_t t = 0; t < steps; t++) {
        sizes[t] = batch;
        sizes[steps + t] = t * batch;
    }
    *q = (struct sequence){steps, batch, sizes, sizes + steps};
}

static tdc_array *one_state(tdc_evaluation *e, tdc_array *states, int64_t which)
{
    return states == NULL ? NULL : tdc_squeeze(e, tdc_slice(e, states, 0, which, 1, 1), 0);
}

/* All layers; the last states are stacked into *h and *c. */
static tdc_array *run_layers(tdc_evaluation *e, const struct layers *l, tdc_array *x,
                             const struct sequence *q, tdc_array **h, tdc_array **c)
{
    int64_t total = l->count * l->directions;
    tdc_array **hs = tdc_take(e, 2 * total, sizeof(tdc_array *)), **cs = hs + total;
    if (l->h->shape[1] != q->batch || (l->c != NULL && l->c->shape[1] != q->batch))
        tdc_refuse(e, TDC_ERR_ARGUMENT, "the first states have not the size of the batch");
    for (int64_t i = 0; i < l->count; i++) {
        tdc_array *sides[2];
        for (int64_t d = 0; d < l->directions; d++) {
            int64_t which = i * l->directions + d;
            struct weights w = weights_of(l, which);
            struct state last, first = {one_state(e, l->h, which), one_state(e, l->c, which)};
            sides[d] = run_direction(e, l->kind, x, q, &w, first, d == 1, &last);
            hs[which] = tdc_unsqueeze(e, last.h, 0);
            cs[which] = last.c == NULL ? NULL : tdc_unsqueeze(e, last.c, 0);
        }
        x = l->directions == 1 ? sides[0] : tdc_concatenate(e, sides, 2, 1);
    }
    *h = tdc_concatenate(e, hs, (size_t)total, 0);
    *c = l->kind == LSTM ? tdc_concatenate(e, cs, (size_t)total, 0) : NULL;
    return x;
}

static tdc_array *rows_of_steps(tdc_evaluation *e, tdc_array *x)
{
    return tdc_reshape(e, x, 2, (const int64_t[]){x->shape[0] * x->shape[1], x->shape[2]});
}

/* lstm(input, hx, params, ...) of tensors, lstm(data, batch_sizes, hx, params, ...) of sequences of
 * different lengths: the third argument tells. */
static void layers(tdc_evaluation *e)
{
    struct layers l = {0};
    struct sequence q;
    tdc_array *h, *c, *x = tdc_real_array_argument(e, "input");
    read_layers(e, &l);
    if (tdc_given(e, "batch_sizes")) {
        if (x->rank != 2)
            tdc_refuse(e, TDC_ERR_ARGUMENT, "rows of all steps expected");
        read_sizes(e, &q, tdc_array_argument(e, "batch_sizes"), x->shape[0]);
        x = run_layers(e, &l, x, &q, &h, &c);
    } else {
        bool first = tdc_bool_argument(e, "batch_first");
        if (x->rank != 3 || x->count == 0)
            tdc_refuse(e, TDC_ERR_ARGUMENT, "a sequence of batches expected");
        x = first ? tdc_swap(e, x, 0, 1) : x;
        int64_t steps = x->shape[0], batch = x->shape[1];
        even_sizes(e, &q, steps, batch);
        x = run_layers(e, &l, rows_of_steps(e, x), &q, &h, &c);
        x = tdc_reshape(e, x, 3, (const int64_t[]){steps, batch, x->shape[1]});
        x = first ? tdc_swap(e, x, 0, 1) : x;
    }
    tdc_give(e, x);
    tdc_give(e, h);
    if (c != NULL)
        tdc_give(e, c);
}

/* The positional arguments in their packed order, told by a second that is a vector of integers. */
static void any_layers(tdc_evaluation *e)
{
    const tdc_call_value *second = tdc_argument(e, "hx");
    bool packed = second->kind == TDC_VALUE_TENSOR && !tdc_dtype_is_floating(second->tensor->dtype);
    if (packed) {
        /* input, batch_sizes, hx, params, has_biases, num_layers, dropout, train, bidirectional */
        tdc_call_value sizes = e->parameters[1].bound;
        for (size_t i = 1; i + 1 < 9; i++)
            e->parameters[i].bound = e->parameters[i + 1].bound;
        e->parameters[8].bound = (tdc_call_value){.kind = TDC_VALUE_BOOL};
        e->parameters[9].bound = sizes;
    }
    layers(e);
}

static void cell(tdc_evaluation *e)
{
    enum kind kind = (enum kind)e->definition->variant;
    tdc_array *x = tdc_real_array_argument(e, "input");
    struct weights w = {.input = tdc_real_array_argument(e, "w_ih"),
                        .hidden = tdc_real_array_argument(e, "w_hh"),
                        .input_bias = tdc_optional_real_array(e, "b_ih"),
                        .hidden_bias = tdc_optional_real_array(e, "b_hh")};
    struct state s = {NULL, NULL};
    if (kind == LSTM) {
        tdc_array **states;
        if (tdc_arrays_argument(e, "hx", &states) != 2)
            tdc_refuse(e, TDC_ERR_ARGUMENT, "hx must be two states");
        s = (struct state){tdc_to_real(e, states[0]), tdc_to_real(e, states[1])};
    } else {
        s.h = tdc_real_array_argument(e, "hx");
    }
    bool single = x->rank == 1;
    if (single) {
        x = tdc_unsqueeze(e, x, 0);
        s.h = tdc_unsqueeze(e, s.h, 0);
        s.c = s.c == NULL ? NULL : tdc_unsqueeze(e, s.c, 0);
    }
    if (x->rank != 2)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "a batch of vectors expected");
    check_weights(e, kind, &w, &s, x->shape[1]);
    s = step(e, kind, tdc_linear(e, x, w.input, w.input_bias), s, &w);
    tdc_give(e, single ? tdc_squeeze(e, s.h, 0) : s.h);
    if (s.c != NULL)
        tdc_give(e, single ? tdc_squeeze(e, s.c, 0) : s.c);
}

#define LAYERS                                                                                     \
    "input, hx, params, has_biases, num_layers, dropout, train, bidirectional, "                   \
    "batch_first=False, batch_sizes=None"
#define CELL           "input, hx, w_ih, w_hh, b_ih=None, b_hh=None"
#define LAYER_PREFIXES (TDC_IN_TORCH | TDC_IN_VF)
static const struct tdc_operator rows[] = {
    {"lstm", LAYER_PREFIXES, LAYERS, any_layers, LSTM, 0},
    {"gru", LAYER_PREFIXES, LAYERS, any_layers, GRU, 0},
    {"rnn_tanh", LAYER_PREFIXES, LAYERS, any_layers, TANH, 0},
    {"rnn_relu", LAYER_PREFIXES, LAYERS, any_layers, RELU, 0},
    {"lstm_cell", TDC_IN_TORCH, CELL, cell, LSTM, 0},
    {"gru_cell", TDC_IN_TORCH, CELL, cell, GRU, 0},
    {"rnn_tanh_cell", TDC_IN_TORCH, CELL, cell, TANH, 0},
    {"rnn_relu_cell", TDC_IN_TORCH, CELL, cell, RELU, 0},
};
const struct tdc_operator_family tdc_recurrent_family = TDC_FAMILY("recurrent layers", rows);
