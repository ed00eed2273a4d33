/* llama.c - a transformer with rotary positions, root mean square norms and fused attention. */
#include <math.h>
#include <stdio.h>

#include "bench/network/networks.h"
#include "bench/network/step_calls.h"

#define NO_KEYWORDS 0, NULL
#define PATH        64

static bool is_narrow(const struct tdc_step *step)
{
    return step->dtype == TDC_F16 || step->dtype == TDC_BF16;
}

static struct tdc_step_variable *back_to(struct tdc_step *step, struct tdc_step_variable *x,
                                         const char *source)
{
    return is_narrow(step) ? tdc_step_call_api(step, "Tensor.to", source, TDC_VALUES(TDC_V(x)),
                                               TDC_KEYWORDS({"dtype", TDC_TYPE(step->dtype)}))
                           : x;
}

static struct tdc_step_variable *rms_norm(struct tdc_step *step, const char *path,
                                          struct tdc_step_variable *x, int64_t width)
{
    struct tdc_step_variable *weight = tdc_step_parameter(step, 1, &width, 1, 0.1);
    x = tdc_step_enter(step, "RMSNorm", x, "%s", path);
    tdc_step_own(step, "weight", weight);
    if (is_narrow(step))
        x = tdc_step_call_api(step, "Tensor.float", "x = x.float()", TDC_VALUES(TDC_V(x)),
                              NO_KEYWORDS);
    struct tdc_step_variable *y = tdc_step_call_api(step, "Tensor.pow", "variance = x.pow(2)",
                                                    TDC_VALUES(TDC_V(x), TDC_INT(2)), NO_KEYWORDS);
    y = tdc_step_call_api(step, "Tensor.mean", "variance = variance.mean(-1, keepdim=True)",
                          TDC_VALUES(TDC_V(y), TDC_INT(-1)),
                          TDC_KEYWORDS({"keepdim", TDC_FLAG(1)}));
    y = tdc_step_call_api(step, "Tensor.__add__", "variance = variance + self.eps",
                          TDC_VALUES(TDC_V(y), TDC_REAL(1e-6)), NO_KEYWORDS);
    y = tdc_step_call_api(step, "Torch.rsqrt", "x = x * torch.rsqrt(variance)",
                          TDC_VALUES(TDC_V(y)), NO_KEYWORDS);
    x = tdc_step_call_api(step, "Tensor.__mul__", "x = x * torch.rsqrt(variance)",
                          TDC_VALUES(TDC_V(x), TDC_V(y)), NO_KEYWORDS);
    x = back_to(step, x, "x = x.to(dtype=input_dtype)");
    return tdc_step_leave(step,
                          tdc_step_call_api(step, "Tensor.__mul__", "return self.weight * x",
                                            TDC_VALUES(TDC_V(weight), TDC_V(x)), NO_KEYWORDS));
}

/* ---- rotary positions ------------------------------------------------------------------------ */

struct angles {
    struct tdc_step_variable *cosine, *sine;
};

static struct angles rotary(struct tdc_step *step, const struct tdc_network_size *size)
{
    int64_t half = size->width / size->heads / 2;
    struct tdc_step_variable *frequencies =
        tdc_step_variable(step, TDC_F32, 2, (int64_t[]){1, half});
    for (int64_t i = 0; frequencies != NULL && i < half; i++)
        frequencies->values->real[i] =
            tdc_reference_round(pow(10000, -(double)i / (double)half), TDC_F32);
    struct tdc_step_variable *places =
        tdc_step_call_api(step, "Torch.arange", "places = torch.arange(tokens)",
                          TDC_VALUES(TDC_INT(size->tokens)), NO_KEYWORDS);
    places = tdc_step_call_api(step, "Tensor.float", "places = places.float()",
                               TDC_VALUES(TDC_V(places)), NO_KEYWORDS);
    places = tdc_step_call_api(step, "Tensor.unsqueeze", "places = places.unsqueeze(1)",
                               TDC_VALUES(TDC_V(places), TDC_INT(1)), NO_KEYWORDS);
    struct tdc_step_variable *half_angles =
        tdc_step_call_api(step, "Tensor.__mul__", "angles = places * frequencies",
                          TDC_VALUES(TDC_V(places), TDC_V(frequencies)), NO_KEYWORDS);
    struct tdc_step_variable *all = tdc_step_call_api(
        step, "Torch.cat", "angles = torch.cat((angles, angles), dim=-1)",
        TDC_VALUES(TDC_PAIR(half_angles, half_angles)), TDC_KEYWORDS({"dim", TDC_INT(-1)}));
    struct angles made;
    made.cosine = tdc_step_call_api(step, "Tensor.cos", "cos = angles.cos()",
                                    TDC_VALUES(TDC_V(all)), NO_KEYWORDS);
    made.sine = tdc_step_call_api(step, "Tensor.sin", "sin = angles.sin()", TDC_VALUES(TDC_V(all)),
                                  NO_KEYWORDS);
    made.cosine = back_to(step, made.cosine, "cos = cos.to(dtype=x.dtype)");
    made.sine = back_to(step, made.sine, "sin = sin.to(dtype=x.dtype)");
    return made;
}

static struct tdc_step_variable *turn(struct tdc_step *step, struct tdc_step_variable *x,
                                      int64_t half, struct angles angles)
{
    struct tdc_step_variable *first = tdc_step_call_api(
        step, "Tensor.narrow", "first = x.narrow(-1, 0, half)",
        TDC_VALUES(TDC_V(x), TDC_INT(-1), TDC_INT(0), TDC_INT(half)), NO_KEYWORDS);
    struct tdc_step_variable *second = tdc_step_call_api(
        step, "Tensor.narrow", "second = x.narrow(-1, half, half)",
        TDC_VALUES(TDC_V(x), TDC_INT(-1), TDC_INT(half), TDC_INT(half)), NO_KEYWORDS);
    second = tdc_step_call_api(step, "Tensor.__neg__", "second = -second",
                               TDC_VALUES(TDC_V(second)), NO_KEYWORDS);
    struct tdc_step_variable *turned =
        tdc_step_call_api(step, "Torch.cat", "turned = torch.cat((second, first), dim=-1)",
                          TDC_VALUES(TDC_PAIR(second, first)), TDC_KEYWORDS({"dim", TDC_INT(-1)}));
    struct tdc_step_variable *straight =
        tdc_step_call_api(step, "Tensor.__mul__", "return x * cos + turned * sin",
                          TDC_VALUES(TDC_V(x), TDC_V(angles.cosine)), NO_KEYWORDS);
    turned = tdc_step_call_api(step, "Tensor.__mul__", "return x * cos + turned * sin",
                               TDC_VALUES(TDC_V(turned), TDC_V(angles.sine)), NO_KEYWORDS);
    return tdc_layer_add(step, straight, turned, "return x * cos + turned * sin");
}

/* ---- layers ---------------------------------------------------------------------------------- */

static struct tdc_step_variable *attention(struct tdc_step *step, const char *path,
                                           struct tdc_step_variable *x,
                                           const struct tdc_network_size *size,
                                           struct angles angles)
{
    char inner[PATH + 16];
    struct tdc_step_variable *parts[3];
    static const char *const names[3] = {"q_proj", "k_proj", "v_proj"};
    int64_t head = size->width / size->heads;
    x = tdc_step_enter(step, "Attention", x, "%s", path);
    for (int i = 0; i < 3; i++) {
        snprintf(inner, sizeof inner, "%s.%s", path, names[i]);
        parts[i] = tdc_layer_linear(step, inner, x, size->width, size->width, false);
        parts[i] = tdc_layer_split_heads(step, parts[i], size);
        if (i < 2)
            parts[i] = turn(step, parts[i], head / 2, angles);
    }
    x = tdc_step_call_api(step, "Functional.scaled_dot_product_attention",
                          "x = F.scaled_dot_product_attention(q, k, v, is_causal=True)",
                          TDC_VALUES(TDC_V(parts[0]), TDC_V(parts[1]), TDC_V(parts[2])),
                          TDC_KEYWORDS({"attn_mask", TDC_NONE}, {"dropout_p", TDC_REAL(0.0)},
                                       {"scale", TDC_REAL(1 / sqrt((double)head))},
                                       {"is_causal", TDC_FLAG(1)}));
    x = tdc_layer_join_heads(step, x, size);
    snprintf(inner, sizeof inner, "%s.o_proj", path);
    return tdc_step_leave(step, tdc_layer_linear(step, inner, x, size->width, size->width, false));
}

static struct tdc_step_variable *mlp(struct tdc_step *step, const char *path,
                                     struct tdc_step_variable *x, int64_t width)
{
    char inner[PATH + 16];
    x = tdc_step_enter(step, "Mlp", x, "%s", path);
    snprintf(inner, sizeof inner, "%s.gate_proj", path);
    struct tdc_step_variable *gate = tdc_layer_linear(step, inner, x, width, 3 * width, false);
    snprintf(inner, sizeof inner, "%s.act_fn", path);
    gate = tdc_step_enter(step, "SiLU", gate, "%s", inner);
    gate = tdc_step_leave(step, tdc_step_call_api(step, "Functional.silu",
                                                  "return F.silu(input, inplace=self.inplace)",
                                                  TDC_VALUES(TDC_V(gate)),
                                                  TDC_KEYWORDS({"inplace", TDC_FLAG(0)})));
    snprintf(inner, sizeof inner, "%s.up_proj", path);
    x = tdc_layer_linear(step, inner, x, width, 3 * width, false);
    x = tdc_step_call_api(step, "Tensor.__mul__",
                          "x = self.act_fn(self.gate_proj(x)) * self.up_proj(x)",
                          TDC_VALUES(TDC_V(gate), TDC_V(x)), NO_KEYWORDS);
    snprintf(inner, sizeof inner, "%s.down_proj", path);
    return tdc_step_leave(step, tdc_layer_linear(step, inner, x, 3 * width, width, false));
}

static struct tdc_step_variable *layer(struct tdc_step *step, int64_t number,
                                       struct tdc_step_variable *x,
                                       const struct tdc_network_size *size, struct angles angles)
{
    char path[PATH];
    x = tdc_step_enter(step, "DecoderLayer", x, "model.layers.%lld", (long long)number);
    snprintf(path, sizeof path, "model.layers.%lld.input_layernorm", (long long)number);
    struct tdc_step_variable *y = rms_norm(step, path, x, size->width);
    snprintf(path, sizeof path, "model.layers.%lld.self_attn", (long long)number);
    x = tdc_layer_add(step, x, attention(step, path, y, size, angles), "x = residual + x");
    snprintf(path, sizeof path, "model.layers.%lld.post_attention_layernorm", (long long)number);
    y = rms_norm(step, path, x, size->width);
    snprintf(path, sizeof path, "model.layers.%lld.mlp", (long long)number);
    return tdc_step_leave(
        step, tdc_layer_add(step, x, mlp(step, path, y, size->width), "x = residual + x"));
}

struct tdc_step_variable *tdc_network_llama(struct tdc_step *step,
                                            const struct tdc_network_size *size)
{
    struct tdc_step_variable *ids =
        tdc_step_indices(step, 2, (int64_t[]){size->batch, size->tokens}, size->vocabulary);
    ids = tdc_step_enter(step, "Decoder", ids, "model");
    struct tdc_step_variable *x =
        tdc_layer_embedding(step, "model.embed_tokens", ids, size->vocabulary, size->width);
    struct angles angles = rotary(step, size);
    for (int64_t i = 0; i < size->layers; i++)
        x = layer(step, i, x, size, angles);
    x = tdc_step_leave(step, rms_norm(step, "model.norm", x, size->width));
    x = tdc_layer_linear(step, "lm_head", x, size->width, size->vocabulary, false);
    return tdc_layer_loss(step, x, size);
}
