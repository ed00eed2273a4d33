"""The cases of make_torch_values.py, by family."""
import torch
import torch.nn.functional as F

from make_torch_values import case, complex_grid, definite, grid, positive, well


def norms():
    for p in (2, 1, 0.5, 3.0, float("inf"), -float("inf"), 0):
        case("Torch.vector_norm", torch.linalg.vector_norm, grid(3, 4), p, gradient=p != 0)
    case("Torch.vector_norm", torch.linalg.vector_norm, grid(2, 3, 4), 2, (0, 2), True)
    case("Torch.linalg_vector_norm", torch.linalg.vector_norm, grid(2, 3, 4), dim=-1)
    case("Torch.where", torch.where, grid(3, 4) > 0)
    case("Torch.where", torch.where, torch.tensor(True))
    case("Torch.where", torch.where, grid(3, 4) > 0, grid(3, 4), grid(4))
    case("Tensor.where", torch.Tensor.where, grid(3, 4), grid(3, 4) > 0, grid(4))


def lists():
    a, b, c = ([grid(2, 3), grid(4)] for _ in range(3))
    p = [positive(2, 3), positive(4)]
    for name in "abs acos ceil cos cosh erf erfc exp expm1 floor frac lgamma log log10 log1p log2 reciprocal round " \
                "sigmoid sign sin sinh sqrt tan tanh trunc neg asin atan rsqrt".split():
        x = [t / 64 for t in p] if name in ("acos", "asin") else p
        case("Torch._foreach_" + name, getattr(torch, "_foreach_" + name), [t.clone() for t in x])
    for name in "add sub mul div maximum minimum".split():
        f = getattr(torch, "_foreach_" + name)
        case("Torch._foreach_" + name, f, a, p)
        case("Torch._foreach_" + name, f, b, 1.5)
        case("Torch._foreach_" + name, f, c, [0.5, 2.0])
    case("Torch._foreach_add", torch._foreach_add, a, b, alpha=0.5)
    case("Torch._foreach_mul", torch._foreach_mul, a, torch.tensor(0.25, dtype=torch.float64))
    case("Torch._foreach_clamp_min", torch._foreach_clamp_min, a, 0.25)
    case("Torch._foreach_clamp_max", torch._foreach_clamp_max, a, b)
    case("Torch._foreach_pow", torch._foreach_pow, p, 2.5)
    case("Torch._foreach_pow", torch._foreach_pow, 2.5, a)
    case("Torch._foreach_pow", torch._foreach_pow, p, b)
    for name in "addcmul addcdiv".split():
        f = getattr(torch, "_foreach_" + name)
        case("Torch._foreach_" + name, f, a, b, p)
        case("Torch._foreach_" + name, f, a, b, p, 0.5)
        case("Torch._foreach_" + name, f, a, b, p, value=-0.5)
        case("Torch._foreach_" + name, f, a, b, p, [0.5, -2.0])
        case("Torch._foreach_" + name, f, a, b, p, torch.tensor([0.5, -2.0], dtype=torch.float64), gradient=False)
    case("Torch._foreach_lerp", torch._foreach_lerp, a, b, 0.25)
    case("Torch._foreach_lerp", torch._foreach_lerp, a, b, c)
    case("Torch._foreach_max", torch._foreach_max, a)
    case("Torch._foreach_norm", torch._foreach_norm, a)


def bags():
    i = torch.tensor([[1, 2, 4], [3, 0, 1]])
    flat, offsets = torch.tensor([1, 2, 4, 3, 0, 1, 1]), torch.tensor([0, 3, 3])
    for mode in ("sum", "mean", "max"):
        case("Functional.embedding_bag", F.embedding_bag, i, grid(5, 4), mode=mode)
        case("Functional.embedding_bag", F.embedding_bag, flat, grid(5, 4), offsets, mode=mode)
        case("Functional.embedding_bag", F.embedding_bag, i, grid(5, 4), mode=mode, padding_idx=-4)
    case("Functional.embedding_bag", F.embedding_bag, i, grid(5, 4), mode="sum", per_sample_weights=grid(2, 3))
    case("Functional.embedding_bag", F.embedding_bag, flat, grid(5, 4), torch.tensor([0, 2, 7]), mode="sum",
         include_last_offset=True, scale_grad_by_freq=True)
    case("Functional.embedding_bag", F.embedding_bag, i, grid(5, 4), max_norm=1.0, gradient=False)
    case("Torch.embedding_bag", torch.embedding_bag, grid(5, 4), flat, offsets, False, 1, outputs=1)


def attention_layers():
    def layer(q, k, v, e=8, h=2, **more):
        shape = dict(in_proj_weight=grid(3 * e, e), in_proj_bias=grid(3 * e), bias_k=None, bias_v=None)
        shape.update({n: more.pop(n) for n in list(more) if n in shape})
        case("Functional.multi_head_attention_forward", F.multi_head_attention_forward, q / 4, k / 4, v / 4, e, h,
             shape["in_proj_weight"] / 4, shape["in_proj_bias"], shape["bias_k"], shape["bias_v"],
             more.pop("add_zero_attn", False), 0.0, grid(e, e) / 4, grid(e), **more)
    causal = torch.triu(torch.ones(3, 3, dtype=torch.bool), 1)
    padding = torch.tensor([[False, False, True], [False, True, True]])
    layer(grid(3, 2, 8), grid(5, 2, 8), grid(5, 2, 8))
    layer(grid(3, 8), grid(5, 8), grid(5, 8))
    layer(grid(3, 2, 8), grid(3, 2, 8), grid(3, 2, 8), need_weights=False)
    layer(grid(3, 2, 8), grid(3, 2, 8), grid(3, 2, 8), need_weights=False, attn_mask=causal, is_causal=True)
    layer(grid(3, 2, 8), grid(3, 2, 8), grid(3, 2, 8), need_weights=False, attn_mask=causal, is_causal=True,
          key_padding_mask=padding)
    layer(grid(3, 2, 8), grid(3, 2, 8), grid(3, 2, 8), key_padding_mask=padding, average_attn_weights=False)
    layer(grid(3, 2, 8), grid(3, 2, 8), grid(3, 2, 8), attn_mask=grid(4, 3, 3), add_zero_attn=True)
    layer(grid(3, 2, 8), grid(3, 2, 8), grid(3, 2, 8), attn_mask=causal, bias_k=grid(1, 1, 8), bias_v=grid(1, 1, 8),
          key_padding_mask=torch.zeros(2, 3).double())
    case("Functional.multi_head_attention_forward", F.multi_head_attention_forward, grid(3, 2, 8) / 4, grid(4, 2, 6) / 4,
         grid(4, 2, 5) / 4, 8, 2, None, grid(24), None, None, False, 0.5, grid(8, 8) / 4, grid(8), training=False,
         use_separate_proj_weight=True, q_proj_weight=grid(8, 8) / 4, k_proj_weight=grid(8, 6) / 4,
         v_proj_weight=grid(8, 5) / 4)


ALL = [norms, lists, bags, attention_layers]
