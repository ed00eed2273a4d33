/* gpt.c - a transformer with learned positions, layer norms and attention spelled out. */
#include <math.h>
#include <stdio.h>

#include "bench/network/networks.h"

#define NO_KEYWORDS 0, NULL
#define PATH        64

static struct tdc_step_variable *layer_norm(struct tdc_step *step, const char *path,
                                            struct tdc_step_variable *x, int64_t width)
{
    struct tdc_step_variable *weight = tdc_step_parameter(step, 1, &width, 1, 0.1);
    struct tdc_step_variable *bias = tdc_step_parameter(step, 1, &width, 0, 0.1);
    x = tdc_step_enter(step, "LayerNorm", x, "%s", path);
    tdc_step_own(step, "weight", weight);
    tdc_step_own(step, "bias", bias);
    return tdc_step_leave(step,
                          tdc_step_call_api(step, "Functional.layer_norm", "return F.layer_norm(",
                                            TDC_VALUES(TDC_V(x), TDC_INTS(width), TDC_V(weight),
                                                       TDC_V(bias), TDC_REAL(1e-5)),
                                            NO_KEYWORDS));
}

static struct tdc_step_variable *dropout(struct tdc_step *step, const char *path,
                                         struct tdc_step_variable *x)
{
    x = tdc_step_enter(step, "Dropout", x, "%s", path);
    return tdc_step_leave(
        step, tdc_step_call_api(step, "Functional.dropout",
                                "return F.dropout(input, self.p, self.training, self.inplace)",
                                TDC_VALUES(TDC_V(x), TDC_REAL(0.0), TDC_FLAG(1), TDC_FLAG(0)),
                                NO_KEYWORDS));
}

/* True above the diagonal: a token does not see later ones. */
static struct tdc_step_variable *causal_mask(struct tdc_step *step, int64_t tokens)
{
    struct tdc_step_variable *ones = tdc_step_call_api(
        step, "Torch.ones", "mask = torch.ones(tokens, tokens, dtype=torch.bool)",
        TDC_VALUES(TDC_INT(tokens), TDC_INT(tokens)), TDC_KEYWORDS({"dtype", TDC_TYPE(TDC_BOOL)}));
    return tdc_step_call_api(step, "Tensor.triu", "mask = mask.triu(1)",
                             TDC_VALUES(TDC_V(ones), TDC_INT(1)), NO_KEYWORDS);
}

static struct tdc_step_variable *attention(struct tdc_step *step, const char *path,
                                           struct tdc_step_variable *x,
                                           const struct tdc_network_size *size,
                                           struct tdc_step_variable *mask)
{
    char inner[PATH + 16];
    struct tdc_step_variable *parts[3];
    static const char *const names[3] = {"q_proj", "k_proj", "v_proj"};
    x = tdc_step_enter(step, "Attention", x, "%s", path);
    for (int i = 0; i < 3; i++) {
        snprintf(inner, sizeof inner, "%s.%s", path, names[i]);
        parts[i] = tdc_layer_linear(step, inner, x, size->width, size->width, true);
        parts[i] = tdc_layer_split_heads(step, parts[i], size);
    }
    struct tdc_step_variable *turned =
        tdc_step_call_api(step, "Tensor.transpose", "k = k.transpose(-2, -1)",
                          TDC_VALUES(TDC_V(parts[1]), TDC_INT(-2), TDC_INT(-1)), NO_KEYWORDS);
    struct tdc_step_variable *scores =
        tdc_step_call_api(step, "Torch.matmul", "scores = torch.matmul(q, k)",
                          TDC_VALUES(TDC_V(parts[0]), TDC_V(turned)), NO_KEYWORDS);
    scores = tdc_step_call_api(
        step, "Tensor.__truediv__", "scores = scores / math.sqrt(self.head_width)",
        TDC_VALUES(TDC_V(scores), TDC_REAL(sqrt((double)(size->width / size->heads)))),
        NO_KEYWORDS);
    scores =
        tdc_step_call_api(step, "Tensor.masked_fill", "scores = scores.masked_fill(mask, -10000.0)",
                          TDC_VALUES(TDC_V(scores), TDC_V(mask), TDC_REAL(-10000.0)), NO_KEYWORDS);
    scores = tdc_step_call_api(step, "Functional.softmax", "weights = F.softmax(scores, dim=-1)",
                               TDC_VALUES(TDC_V(scores)), TDC_KEYWORDS({"dim", TDC_INT(-1)}));
    x = tdc_step_call_api(step, "Torch.matmul", "x = torch.matmul(weights, v)",
                          TDC_VALUES(TDC_V(scores), TDC_V(parts[2])), NO_KEYWORDS);
    x = tdc_layer_join_heads(step, x, size);
    snprintf(inner, sizeof inner, "%s.o_proj", path);
    x = tdc_layer_linear(step, inner, x, size->width, size->width, true);
    snprintf(inner, sizeof inner, "%s.dropout", path);
    return tdc_step_leave(step, dropout(step, inner, x));
}

static struct tdc_step_variable *mlp(struct tdc_step *step, const char *path,
                                     struct tdc_step_variable *x, int64_t width)
{
    char inner[PATH + 16];
    x = tdc_step_enter(step, "Mlp", x, "%s", path);
    snprintf(inner, sizeof inner, "%s.fc_in", path);
    x = tdc_layer_linear(step, inner, x, width, 4 * width, true);
    snprintf(inner, sizeof inner, "%s.act", path);
    x = tdc_step_enter(step, "GELU", x, "%s", inner);
    x = tdc_step_leave(step, tdc_step_call_api(step, "Functional.gelu",
                                               "return F.gelu(input, approximate='tanh')",
                                               TDC_VALUES(TDC_V(x)),
                                               TDC_KEYWORDS({"approximate", TDC_WORD("tanh")})));
    snprintf(inner, sizeof inner, "%s.fc_out", path);
    return tdc_step_leave(step, tdc_layer_linear(step, inner, x, 4 * width, width, true));
}

static struct tdc_step_variable *block(struct tdc_step *step, int64_t layer,
                                       struct tdc_step_variable *x,
                                       const struct tdc_network_size *size,
                                       struct tdc_step_variable *mask)
{
    char path[PATH];
    x = tdc_step_enter(step, "Block", x, "transformer.h.%lld", (long long)layer);
    snprintf(path, sizeof path, "transformer.h.%lld.ln_1", (long long)layer);
    struct tdc_step_variable *y = layer_norm(step, path, x, size->width);
    snprintf(path, sizeof path, "transformer.h.%lld.attn", (long long)layer);
    x = tdc_layer_add(step, x, attention(step, path, y, size, mask),
                      "x = x + self.attn(self.ln_1(x))");
    snprintf(path, sizeof path, "transformer.h.%lld.ln_2", (long long)layer);
    y = layer_norm(step, path, x, size->width);
    snprintf(path, sizeof path, "transformer.h.%lld.mlp", (long long)layer);
    return tdc_step_leave(step, tdc_layer_add(step, x, mlp(step, path, y, size->width),
                                              "x = x + self.mlp(self.ln_2(x))"));
}

struct tdc_step_variable *tdc_network_gpt(struct tdc_step *step,
                                          const struct tdc_network_size *size)
{
    struct tdc_step_variable *ids =
        tdc_step_indices(step, 2, (int64_t[]){size->batch, size->tokens}, size->vocabulary);
    ids = tdc_step_enter(step, "Transformer", ids, "transformer");
    struct tdc_step_variable *x =
        tdc_layer_embedding(step, "transformer.wte", ids, size->vocabulary, size->width);
    struct tdc_step_variable *places =
        tdc_step_call_api(step, "Torch.arange", "places = torch.arange(tokens)",
                          TDC_VALUES(TDC_INT(size->tokens)), NO_KEYWORDS);
    struct tdc_step_variable *y =
        tdc_layer_embedding(step, "transformer.wpe", places, size->tokens, size->width);
    struct tdc_step_variable *mask = causal_mask(step, size->tokens);
    x = tdc_layer_add(step, x, y, "x = self.wte(ids) + self.wpe(places)");
    x = dropout(step, "transformer.drop", x);
    for (int64_t i = 0; i < size->layers; i++)
        x = block(step, i, x, size, mask);
    x = tdc_step_leave(step, layer_norm(step, "transformer.ln_f", x, size->width));
    x = tdc_layer_linear(step, "lm_head", x, size->width, size->vocabulary, false);
    return tdc_layer_loss(step, x, size);
}
