/* layers.c - what the networks share. */
#include <math.h>

#include "bench/network/networks.h"

/* Of a float16 run: gradients of a mean over some dozen tokens are small. */
#define LOSS_FACTOR 1024.0

#define NO_KEYWORDS 0, NULL

struct tdc_step_variable *tdc_layer_embedding(struct tdc_step *step, const char *path,
                                              struct tdc_step_variable *indices, int64_t rows,
                                              int64_t width)
{
    struct tdc_step_variable *weight =
        tdc_step_parameter(step, 2, (int64_t[]){rows, width}, 0, 0.7);
    indices = tdc_step_enter(step, "Embedding", indices, "%s", path);
    tdc_step_own(step, "weight", weight);
    return tdc_step_leave(
        step, tdc_step_call_api(step, "Functional.embedding", "return F.embedding(",
                                TDC_VALUES(TDC_V(indices), TDC_V(weight), TDC_NONE, TDC_NONE,
                                           TDC_REAL(2.0), TDC_FLAG(0), TDC_FLAG(0)),
                                NO_KEYWORDS));
}

struct tdc_step_variable *tdc_layer_linear(struct tdc_step *step, const char *path,
                                           struct tdc_step_variable *x, int64_t from, int64_t to,
                                           bool bias)
{
    struct tdc_step_variable *weight =
        tdc_step_parameter(step, 2, (int64_t[]){to, from}, 0, 1 / sqrt((double)from));
    struct tdc_step_variable *offset =
        bias ? tdc_step_parameter(step, 1, (int64_t[]){to}, 0, 0.1) : NULL;
    x = tdc_step_enter(step, "Linear", x, "%s", path);
    tdc_step_own(step, "weight", weight);
    if (bias)
        tdc_step_own(step, "bias", offset);
    return tdc_step_leave(step, tdc_step_call_api(step, "Functional.linear",
                                                  "return F.linear(input, self.weight, self.bias)",
                                                  TDC_VALUES(TDC_V(x), TDC_V(weight),
                                                             bias ? TDC_V(offset) : TDC_NONE),
                                                  NO_KEYWORDS));
}

struct tdc_step_variable *tdc_layer_add(struct tdc_step *step, struct tdc_step_variable *a,
                                        struct tdc_step_variable *b, const char *source)
{
    return tdc_step_call_api(step, "Tensor.__add__", source, TDC_VALUES(TDC_V(a), TDC_V(b)),
                             NO_KEYWORDS);
}

struct tdc_step_variable *tdc_layer_split_heads(struct tdc_step *step, struct tdc_step_variable *x,
                                                const struct tdc_network_size *size)
{
    x = tdc_step_call_api(step, "Tensor.view", "x = x.view(batch, tokens, self.heads, -1)",
                          TDC_VALUES(TDC_V(x), TDC_INT(size->batch), TDC_INT(size->tokens),
                                     TDC_INT(size->heads), TDC_INT(-1)),
                          NO_KEYWORDS);
    return tdc_step_call_api(step, "Tensor.transpose", "return x.transpose(1, 2)",
                             TDC_VALUES(TDC_V(x), TDC_INT(1), TDC_INT(2)), NO_KEYWORDS);
}

struct tdc_step_variable *tdc_layer_join_heads(struct tdc_step *step, struct tdc_step_variable *x,
                                               const struct tdc_network_size *size)
{
    x = tdc_step_call_api(step, "Tensor.transpose", "x = x.transpose(1, 2)",
                          TDC_VALUES(TDC_V(x), TDC_INT(1), TDC_INT(2)), NO_KEYWORDS);
    return tdc_step_call_api(
        step, "Tensor.reshape", "return x.reshape(batch, tokens, -1)",
        TDC_VALUES(TDC_V(x), TDC_INT(size->batch), TDC_INT(size->tokens), TDC_INT(-1)),
        NO_KEYWORDS);
}

struct tdc_step_variable *tdc_layer_loss(struct tdc_step *step, struct tdc_step_variable *x,
                                         const struct tdc_network_size *size)
{
    struct tdc_step_variable *targets =
        tdc_step_indices(step, 1, (int64_t[]){size->batch * size->tokens}, size->vocabulary);
    if (step->dtype != TDC_F32 && step->dtype != TDC_F64)
        x = tdc_step_call_api(step, "Tensor.float", "logits = logits.float()", TDC_VALUES(TDC_V(x)),
                              NO_KEYWORDS);
    x = tdc_step_call_api(step, "Tensor.view", "logits = logits.view(-1, vocabulary)",
                          TDC_VALUES(TDC_V(x), TDC_INT(-1), TDC_INT(size->vocabulary)),
                          NO_KEYWORDS);
    x = tdc_step_call_api(
        step, "Functional.cross_entropy", "loss = F.cross_entropy(logits, targets)",
        TDC_VALUES(TDC_V(x), TDC_V(targets)),
        TDC_KEYWORDS({"ignore_index", TDC_INT(-100)}, {"reduction", TDC_WORD("mean")}));
    if (step->dtype == TDC_F16)
        x = tdc_step_call_api(step, "Tensor.__mul__", "loss = loss * scaler.get_scale()",
                              TDC_VALUES(TDC_V(x), TDC_REAL(LOSS_FACTOR)), NO_KEYWORDS);
    return x;
}
