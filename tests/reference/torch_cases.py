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


def complex_numbers():
    def z(*shape):
        return complex_grid(*shape)
    T = torch.Tensor
    case("Torch.polar", torch.polar, positive(3, 4), grid(3, 4))
    case("Torch.complex", torch.complex, grid(3, 4), grid(3, 4))
    case("Torch.view_as_complex", torch.view_as_complex, grid(3, 4, 2))
    case("Torch.view_as_real", torch.view_as_real, z(3, 4))
    case("Torch.real", torch.real, z(3, 4))
    case("Torch.imag", torch.imag, z(3, 4))
    case("Tensor.isreal", T.isreal, torch.complex(grid(6), torch.tensor([0, 1, 0, 2, 0, 0]).double()), gradient=False)
    case("Tensor.is_complex", T.is_complex, z(2), gradient=False)
    for name in "abs angle sgn exp log square reciprocal neg conj_physical".split():
        case("Torch." + name, getattr(torch, name), z(3, 4))
    case("Tensor.abs", T.abs, torch.complex(torch.tensor([0, 3.0, 0]).double(), torch.tensor([0, 4.0, -2]).double()))
    for name in "add sub mul div".split():
        f = getattr(torch, name)
        case("Torch." + name, f, z(3, 4), z(4))
        case("Torch." + name, f, z(3, 1), positive(4))
        case("Torch." + name, f, grid(3, 4), z(3, 4))
        case("Tensor." + name, getattr(T, name), z(3, 4), 1.5)
    case("Tensor.__mul__", T.__mul__, z(2, 3, 1, 4), z(3, 2, 4))
    case("Tensor.__rsub__", T.__rsub__, z(3), 2)
    case("Tensor.__pow__", T.__pow__, z(3, 4), 3)
    case("Tensor.pow", T.pow, z(3, 4), -2)
    case("Torch.matmul", torch.matmul, z(3, 4), z(4, 2))
    case("Torch.matmul", torch.matmul, z(2, 3, 4), z(4, 2))
    case("Tensor.__eq__", T.__eq__, z(3, 4), z(3, 4), gradient=False)
    case("Tensor.reshape", T.reshape, z(3, 4), 2, 6)
    case("Tensor.transpose", T.transpose, z(3, 4), 0, 1)
    case("Tensor.unsqueeze", T.unsqueeze, z(3, 4), -1)
    case("Tensor.flatten", T.flatten, z(2, 3, 4), 1)
    case("Tensor.sum", T.sum, z(3, 4), 0)
    case("Tensor.mean", T.mean, z(3, 4))
    case("Torch.cat", torch.cat, [z(2, 3), z(2, 1)], 1)
    case("Torch.stack", torch.stack, [z(2, 3), z(2, 3)])
    case("Tensor.split", T.split, z(5, 3), 2)
    case("Tensor.index_select", T.index_select, z(5, 3), 0, torch.tensor([1, 1, 4]))
    case("Torch.where", torch.where, grid(3, 4) > 0, z(3, 4), z(3, 4))
    case("Tensor.to", T.to, z(3), torch.complex128)
    case("Tensor.to", T.to, grid(3), torch.complex128)
    case("Tensor.to", T.to, z(3), torch.float64)
    case("Tensor.cdouble", T.cdouble, grid(3))


def fourier():
    for n in (1, 2, 3, 8, 12, 13):
        x = complex_grid(2, n)
        case("Torch.fft", torch.fft.fft, x)
        case("Torch.ifft", torch.fft.ifft, complex_grid(2, n), norm="ortho")
        case("Torch.rfft", torch.fft.rfft, grid(2, n))
        case("Torch.ihfft", torch.fft.ihfft, grid(2, n), norm="forward")
        case("Torch.irfft", torch.fft.irfft, complex_grid(2, n // 2 + 1), n)
        case("Torch.hfft", torch.fft.hfft, complex_grid(2, n // 2 + 1), n)
    case("Torch.irfft", torch.fft.irfft, complex_grid(2, 5))
    case("Torch.fft", torch.fft.fft, complex_grid(6, 3), 4, 0)
    case("Torch.fft", torch.fft.fft, grid(6, 3), 8, dim=0, norm="forward")
    case("Torch.fft2", torch.fft.fft2, complex_grid(2, 3, 4))
    case("Torch.ifft2", torch.fft.ifft2, complex_grid(2, 3, 4), [4, 4])
    case("Torch.rfft2", torch.fft.rfft2, grid(2, 3, 4))
    case("Torch.irfft2", torch.fft.irfft2, complex_grid(2, 3, 4))
    case("Torch.fftn", torch.fft.fftn, complex_grid(2, 3, 4))
    case("Torch.ifftn", torch.fft.ifftn, complex_grid(2, 3, 4), dim=(0, 2))
    case("Torch.rfftn", torch.fft.rfftn, grid(2, 3, 4), norm="ortho")
    case("Torch.irfftn", torch.fft.irfftn, complex_grid(2, 3, 4), s=(3, 5))
    case("Torch.fftshift", torch.fft.fftshift, grid(5, 4))
    case("Torch.ifftshift", torch.fft.ifftshift, complex_grid(5, 4), 0)
    window = positive(8)
    for more in (dict(return_complex=True), dict(hop_length=3, return_complex=True, normalized=True),
                 dict(window=window, return_complex=True, center=False),
                 dict(win_length=6, window=positive(6), return_complex=True, pad_mode="constant", onesided=False),
                 dict(return_complex=True, pad_mode="replicate")):
        case("Torch.stft", torch.stft, grid(2, 24), 8, **more)
        case("Tensor.stft", torch.Tensor.stft, grid(24), 8, **more)
    case("Torch.stft", torch.stft, complex_grid(24), 8, return_complex=True)
    case("Torch.istft", torch.istft, complex_grid(2, 5, 7), 8)
    case("Torch.istft", torch.istft, complex_grid(5, 7), 8, 4, window=window, length=22)
    case("Torch.istft", torch.istft, complex_grid(5, 7), 8, 2, 6, positive(6), normalized=True)


def recurrent():
    def weights(gates, width, inputs, layers, both, biases, project=0):
        out, seen = [], project or width
        for i in range(layers):
            for _ in range(1 + both):
                w = inputs if i == 0 else seen * (1 + both)
                out += [grid(gates * width, w) / 4, grid(gates * width, seen) / 4]
                out += [grid(gates * width), grid(gates * width)] if biases else []
                out += [grid(project, width)] if project else []
        return out
    for name, gates in (("lstm", 4), ("gru", 3), ("rnn_tanh", 1), ("rnn_relu", 1)):
        f = getattr(torch, name)
        for layers, both, biases, first in ((1, False, True, False), (2, True, True, True), (2, False, False, True)):
            n = layers * (1 + both)
            state = [grid(n, 2, 3), grid(n, 2, 3)] if name == "lstm" else grid(n, 2, 3)
            case("Torch." + name, f, grid(2, 4, 5) if first else grid(4, 2, 5), state,
                 weights(gates, 3, 5, layers, both, biases), biases, layers, 0.0, False, both, first)
        state = [grid(2, 3, 3), grid(2, 3, 3)] if name == "lstm" else grid(2, 3, 3)
        case("Torch." + name, f, grid(7, 5), torch.tensor([3, 2, 1, 1]), state, weights(gates, 3, 5, 1, True, True),
             True, 1, 0.0, True, True)
        cell = getattr(torch, name + "_cell")
        state = [grid(2, 3), grid(2, 3)] if name == "lstm" else grid(2, 3)
        case("Torch." + name + "_cell", cell, grid(2, 5), state, *weights(gates, 3, 5, 1, False, True))
        case("Torch." + name + "_cell", cell, grid(2, 5), state, *weights(gates, 3, 5, 1, False, False))
    case("VF.lstm", torch.lstm, grid(4, 2, 5), [grid(2, 2, 2), grid(2, 2, 3)], weights(4, 3, 5, 2, False, True, 2), True, 2,
         0.5, False, False, False)


def decompositions():
    L = torch.linalg
    for shape in ((4, 4), (5, 3), (3, 5), (2, 4, 3)):
        x = grid(*shape)
        case("Torch.svd", L.svd, x, full_matrices=False, record=True)
        case("Torch.svd", torch.svd, x.clone(), record=True)
        case("Torch.svdvals", L.svdvals, x.clone())
        case("Torch.qr", L.qr, x.clone())
        case("Tensor.qr", L.qr, x.clone(), record=True)
        case("Torch.pinv", L.pinv, x.clone())
    case("Torch.svd", L.svd, grid(5, 3), gradient=False, record=True)
    case("Torch.svd", L.svd, grid(4, 4), gradient=False, record=True)
    case("Torch.svd", L.svd, torch.eye(3).double() * 2, gradient=False, record=True)
    case("Torch.svd", L.svd, torch.diag(torch.tensor([3.0, 2, 2, 0, 0]).double()), gradient=False, record=True)
    case("Torch.svd", torch.svd, grid(3, 5), False, gradient=False, record=True)
    case("Torch.svdvals", L.svdvals, torch.tensor([[1.0, 1e-9], [0, 1e-12]]).double(), gradient=False)
    case("Torch.qr", L.qr, grid(5, 3), "complete", gradient=False)
    case("Torch.qr", L.qr, grid(5, 3), mode="r", gradient=False)
    case("Torch.eigh", L.eigh, definite(4), record=True)
    case("Torch.eigh", L.eigh, definite(3, 2), UPLO="U", record=True)
    case("Torch.eigh", L.eigh, torch.diag(torch.tensor([2.0, 2, -1]).double()), gradient=False, record=True)
    case("Torch.eigvalsh", L.eigvalsh, definite(4))
    case("Torch.cholesky_ex", L.cholesky_ex, definite(4))
    case("Torch.cholesky_ex", L.cholesky_ex, definite(3, 2), upper=True)
    case("Tensor.cholesky", L.cholesky, definite(4))
    case("Torch.lu_factor", L.lu_factor, well(4))
    case("Torch.lu_factor", L.lu_factor, grid(5, 3), gradient=False)
    case("Torch.lu_factor_ex", L.lu_factor_ex, grid(2, 3, 3))
    case("Torch.linalg.lu", L.lu, grid(4, 4))
    case("Torch.linalg.lu", L.lu, grid(3, 5), gradient=False)
    case("Torch.lu_unpack", torch.lu_unpack, grid(4, 4), torch.tensor([3, 2, 4, 4], dtype=torch.int32))
    case("Torch.geqrf", torch.geqrf, grid(5, 3), gradient=False)
    case("Torch.geqrf", torch.geqrf, grid(3, 5), gradient=False)
    a, tau = torch.geqrf(grid(5, 3))
    case("Torch.householder_product", L.householder_product, a, tau)
    for left in (True, False):
        for turned in (True, False):
            case("Tensor.ormqr", torch.ormqr, a.clone(), tau.clone(), grid(5, 2) if left else grid(2, 5), left, turned)


def equations():
    L = torch.linalg
    case("Torch.solve", L.solve, well(3), grid(3, 2))
    case("Torch.solve", L.solve, well(3), grid(3))
    case("Torch.solve", L.solve, well(3, 2), grid(2, 3))
    case("Torch.solve", L.solve, well(3, 2), grid(2, 4, 3), left=False)
    case("Torch.solve_ex", L.solve_ex, well(3), grid(3, 2))
    case("Torch.inv", L.inv, well(3, 2))
    case("Torch.inv_ex", L.inv_ex, well(3, 2))
    case("Torch.tensorsolve", L.tensorsolve, well(6).reshape(2, 3, 6), grid(2, 3))
    case("Torch.solve_triangular", L.solve_triangular, well(3), grid(3, 2), upper=True)
    case("Torch.solve_triangular", L.solve_triangular, well(3), grid(2, 3), upper=False, left=False, unitriangular=True)
    case("Torch.triangular_solve", lambda b, a, u, t: (L.solve_triangular(a.mT if t else a, b, upper=u != t), a),
         grid(3, 2), well(3), False, True, gradient=False)
    case("Torch.cholesky_inverse", torch.cholesky_inverse, well(3).tril())
    case("Torch.cholesky_inverse", torch.cholesky_inverse, well(3).triu(), upper=True)
    case("Torch.cholesky_solve", torch.cholesky_solve, grid(3, 2), well(3).tril())
    case("Torch.cholesky_solve", torch.cholesky_solve, grid(3, 2), well(3).triu(), True)
    case("Tensor.lu_solve", torch.lu_solve, grid(4, 2), well(4), torch.tensor([3, 2, 4, 4], dtype=torch.int32))
    case("Torch.linalg_lu_solve", L.lu_solve, well(4), torch.tensor([3, 2, 4, 4], dtype=torch.int32), grid(4, 2))
    case("Torch.matrix_rank", L.matrix_rank, grid(4, 3), gradient=False)
    case("Torch.matrix_rank", L.matrix_rank, torch.ones(2, 3, 3).double(), gradient=False)
    case("Torch.matrix_rank", L.matrix_rank, torch.diag(torch.tensor([1, 1e-3]).double()), atol=1e-2, gradient=False)
    case("Torch.pinv", L.pinv, torch.ones(4, 3).double(), gradient=False)
    case("Torch.lstsq", L.lstsq, grid(5, 3), grid(5, 2), outputs=1)
    case("Torch.lstsq", L.lstsq, well(3), grid(3, 2), outputs=1)
    for p in ("fro", "nuc", 1, -1, 2, -2, float("inf"), -float("inf")):
        case("Torch.matrix_norm", L.matrix_norm, grid(2, 4, 3), p)
        case("Torch.cond", L.cond, well(3), p)
    case("Torch.matrix_norm", L.matrix_norm, grid(4, 2, 3), dim=(2, 0), keepdim=True)
    case("Torch.matrix_norm", L.matrix_norm, grid(4, 2, 3), 2, (1, 0))
    case("Torch.cond", L.cond, grid(4, 3))
    case("Torch.nuclear_norm", torch.nuclear_norm, grid(4, 3))
    case("Torch.nuclear_norm", torch.nuclear_norm, grid(4, 2, 3), (0, 2), True)
    case("Torch.matrix_exp", torch.matrix_exp, grid(4, 4))
    case("Torch.matrix_exp", torch.matrix_exp, grid(2, 3, 3) * 8)
    case("Torch.matrix_exp", torch.matrix_exp, torch.zeros(2, 2).double())
    case("Torch.multi_dot", L.multi_dot, [grid(2, 3), grid(3, 4), grid(4)])


def choices():
    case("Torch.combinations", torch.combinations, grid(5))
    case("Torch.combinations", torch.combinations, grid(4), 3)
    case("Torch.combinations", torch.combinations, grid(3), 2, True)
    case("Torch.combinations", torch.combinations, torch.arange(4), 4)
    case("Torch.cartesian_prod", torch.cartesian_prod, grid(2), grid(3), grid(2))
    case("Torch.cartesian_prod", torch.cartesian_prod, grid(3))
    case("Torch.vander", torch.vander, grid(3), record=True)
    case("Torch.vander", torch.linalg.vander, grid(2, 3), N=4, record=True)
    case("Torch.cov", torch.cov, grid(3, 5))
    case("Torch.cov", torch.cov, grid(5), correction=0)
    case("Torch.cov", torch.cov, grid(3, 5), fweights=torch.tensor([1, 2, 1, 3, 1]), aweights=positive(5), gradient=False)
    case("Tensor.corrcoef", torch.corrcoef, grid(3, 5))
    case("Torch.norm_except_dim", torch.norm_except_dim, grid(3, 4, 2), 2, 0)
    case("Torch.norm_except_dim", torch.norm_except_dim, grid(3, 4), 2, -1)
    case("Torch.mvlgamma", torch.mvlgamma, positive(4) + 2, 3)
    case("Torch.frexp", torch.frexp, grid(6))
    case("Tensor.fill_diagonal_", lambda x, v: x.clone().fill_diagonal_(v), grid(3, 4), 2.5)
    case("Tensor.fill_diagonal_", lambda x, v, w: x.clone().fill_diagonal_(v, w), grid(7, 3), 2.5, True)
    case("Tensor.fill_diagonal_", lambda x, v: x.clone().fill_diagonal_(v), grid(3, 3, 3), 2)
    for name in "hann hamming blackman bartlett kaiser".split():
        f = getattr(torch, name + "_window")
        for n, periodic in ((1, True), (6, True), (7, False)):
            case("Torch." + name + "_window", lambda n, p, f=f: f(n, p, dtype=torch.float64), n, periodic)
    case("Torch.conv_tbc", torch.conv_tbc, grid(5, 2, 3), grid(2, 3, 4), grid(4), 1)
    case("Torch.convolution", torch.convolution, grid(2, 4, 6, 5), grid(6, 2, 3, 2), grid(6), [2, 1], [1, 0], [1, 2], False,
         [0, 0], 2)
    case("Torch.convolution", torch.convolution, grid(2, 4, 6), grid(4, 3, 2), None, [2], [1], [1], True, [1], 1)
    draws = torch.rand(2, 3, 2).double()
    case("Functional.fractional_max_pool2d", F.fractional_max_pool2d_with_indices, grid(2, 3, 8, 9, low=-4000, high=4000),
         2, (4, 3), _random_samples=draws)
    case("Functional.fractional_max_pool3d", F.fractional_max_pool3d_with_indices, grid(1, 2, 5, 6, 7, low=-4000, high=4000),
         (2, 2, 3), (3, 3, 2), _random_samples=torch.rand(1, 2, 3).double())


ALL = [norms, lists, bags, attention_layers, complex_numbers, fourier, recurrent, decompositions, equations, choices]
