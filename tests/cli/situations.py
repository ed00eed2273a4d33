"""Makes the runs of docs/align.md: five pairs that are laid out differently, each with its align.yaml.

    python3 situations.py FOLDER

Python's standard library alone. Values are small and exact; one element of each pair is off by 0.5.
"""
import json
import os
import struct
import sys


class Array:
    """A tensor of float32 in row-major order."""

    def __init__(self, shape, values):
        self.shape, self.values = tuple(shape), list(values)

    def at(self, index):
        flat = 0
        for size, i in zip(self.shape, index):
            flat = flat * size + i
        return self.values[flat]

    def moved(self, index, by):
        copy = Array(self.shape, self.values)
        flat = 0
        for size, i in zip(self.shape, index):
            flat = flat * size + i
        copy.values[flat] += by
        return copy


def every(shape):
    if not shape:
        yield ()
        return
    for i in range(shape[0]):
        for rest in every(shape[1:]):
            yield (i,) + rest


def made(shape, function):
    return Array(shape, (function(*index) for index in every(shape)))


def numbers(shape):
    """Multiples of 1/64 that look like noise."""
    count = 1
    for size in shape:
        count *= size
    return Array(shape, (((i * 7919 + 13) % 257 - 128) / 64 for i in range(count)))


def npy(array, code="f4", letter="f"):
    head = "{'descr': '<%s', 'fortran_order': False, 'shape': (%s), }" % (
        code, "".join("%d, " % size for size in array.shape))
    head += " " * (63 - (len(head) + 10) % 64) + "\n"
    return (b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() +
            struct.pack("<%d%s" % (len(array.values), letter), *array.values))


def dump(folder, tensors, dtype="torch.float32", code="f4", letter="f"):
    """A dump of one rank: tensors by row name; further calls add to it."""
    data = os.path.join(folder, "dump_tensor_data")
    os.makedirs(data, exist_ok=True)
    path, calls = os.path.join(folder, "dump.json"), {}
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            calls = json.load(file)["data"]
    for name, array in tensors.items():
        words = name.split(".")
        cut = max(i for i, word in enumerate(words) if word in ("input", "output", "parameters"))
        call = calls.setdefault(".".join(words[:cut]),
                                {"input_args": [], "input_kwargs": {}, "output": [], "parameters": {}})
        leaf = {"type": "torch.Tensor", "dtype": dtype, "shape": list(array.shape), "Max": max(array.values),
                "Min": min(array.values), "Mean": sum(array.values) / len(array.values),
                "Norm": sum(v * v for v in array.values) ** 0.5, "requires_grad": False, "data_name": name + ".npy"}
        if words[cut] == "parameters":
            call["parameters"][".".join(words[cut + 1:])] = leaf
        else:
            call["input_args" if words[cut] == "input" else "output"].append(leaf)
        with open(os.path.join(data, name + ".npy"), "wb") as file:
            file.write(npy(array, code, letter))
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"task": "tensor", "level": "L0", "framework": "pytorch", "dump_data_dir": "./dump_tensor_data",
                   "data": calls}, file)


def safetensors(path, tensors):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    head, data = {}, b""
    for name, array in tensors.items():
        raw = struct.pack("<%df" % len(array.values), *array.values)
        head[name] = {"dtype": "F32", "shape": list(array.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(head).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def rules(folder, text):
    with open(os.path.join(folder, "align.yaml"), "w", encoding="utf-8") as file:
        file.write(text)


def megatron_one_card(folder):
    """tp=2, cp=2 with sequence parallelism against one process."""
    s, b, heads, d = 8, 1, 4, 3
    hidden, attention = numbers((b, s, 6)), numbers((b, s, heads * d))
    dump(folder + "/ref/step0/rank0", {"Module.model.layers.0.Layer.forward.0.input.0": hidden,
                                       "Module.model.layers.0.self_attn.attn.Attention.forward.0.output.0": attention})
    off = attention.moved((0, 5, 7), 0.5)
    for rank in range(4):
        tp, cp = rank % 2, rank // 2
        tokens = [i for c in (cp, 3 - cp) for i in range(2 * c, 2 * c + 2)]
        mine = tokens[2 * tp:2 * tp + 2]
        dump(folder + "/test/step0/rank%d" % rank, {
            "Module.module.decoder.layers.0.TransformerLayer.forward.0.input.0":
                made((2, b, 6), lambda i, k, h: hidden.at((k, mine[i], h))),
            "Module.module.decoder.layers.0.self_attention.core_attention.DotProductAttention.forward.0.output.0":
                made((4, b, 2 * d), lambda i, k, x: off.at((k, tokens[i], tp * 2 * d + x)))})
    rules(folder, '''version: 1
let: {head_dim: 3}
a: {mesh: "tp=2 cp=2 sp=tp"}
tensors:
  - name: "layers.{l}.input"
    a: {match: "**.layers.{l}.TransformerLayer.forward.0.input.0", dims: "s[cp:zigzag,sp] b h"}
    b: {match: "**.layers.{l}.Layer.forward.0.input.0", dims: "b s h"}
  - name: "layers.{l}.core_attention"
    series: head
    a: {match: "**.layers.{l}.self_attention.core_attention.*.forward.0.output.0", dims: "s[cp:zigzag] b (head[tp] d=head_dim)"}
    b: {match: "**.layers.{l}.self_attn.attn.*.forward.0.output.0", dims: "b s (head d=head_dim)"}
''')


def fsdp_tp(folder):
    """Weights sharded by rows over four ranks against a tensor-parallel run."""
    weight = numbers((6, 4))
    name = "Module.model.fc.Linear.forward.0.parameters.weight"
    rows, first = (2, 2, 2, 0), 0
    for rank, count in enumerate(rows):
        start = first
        part = made((count, 4), lambda i, k: weight.at((start + i, k)))
        first += count
        if count:
            dump(folder + "/test/step0/rank%d" % rank, {name: part})
    for rank in range(2):
        dump(folder + "/ref/step0/rank%d" % rank, {
            name: made((6, 2), lambda i, k: weight.moved((4, 3), 0.5).at((i, 2 * rank + k)))})
    rules(folder, '''version: 1
a: {mesh: "fsdp=3"}
b: {mesh: "tp=2"}
tensors:
  - name: "{m}.weight"
    a: {match: "Module.model.{m}.Linear.forward.0.parameters.weight", dims: "o[fsdp] i"}
    b: {match: "Module.model.{m}.Linear.forward.0.parameters.weight", dims: "o i[tp]"}
''')


def hf_megatron_checkpoint(folder):
    """A Megatron checkpoint with fused weights, tp=2, against Hugging Face's names: preset llama."""
    h, groups, queries, d, f, vocab = 8, 2, 2, 4, 6, 10
    q, k, v = numbers((groups * queries * d, h)), numbers((groups * d, h)), numbers((groups * d, h))
    gate, up, embed = numbers((f, h)), numbers((f, h)), numbers((vocab, h))
    layer = "model.layers.0."
    safetensors(folder + "/ref/model.safetensors", {
        "model.embed_tokens.weight": embed, layer + "self_attn.q_proj.weight": q,
        layer + "self_attn.k_proj.weight": k, layer + "self_attn.v_proj.weight": v,
        layer + "mlp.gate_proj.weight": gate, layer + "mlp.up_proj.weight": up.moved((4, 0), 0.5)})

    def fused(rank):
        def element(row, column):
            if row < queries * d:
                return q.at((rank * queries * d + row, column))
            row -= queries * d
            return (k if row < d else v).at((rank * d + row % d, column))
        return made(((queries + 2) * d, h), element)

    for rank in range(2):
        safetensors(folder + "/test/rank%d/model.safetensors" % rank, {
            "embedding.word_embeddings.weight":
                made((8, h), lambda i, c: embed.at((8 * rank + i, c)) if 8 * rank + i < vocab else 0.0),
            "decoder.layers.0.self_attention.linear_qkv.weight": fused(rank),
            "decoder.layers.0.mlp.linear_fc1.weight":
                made((f, h), lambda i, c: (gate if i < 3 else up).at((3 * rank + i % 3, c)))})
    rules(folder, '''version: 1
use: [llama]
let: {queries: 2, head_dim: 4, vocab: 10}
a: {form: megatron, mesh: "tp=2"}
b: {form: hf}
''')


def training_decode(folder):
    """One training pass against chunked prefill and decode steps of an engine."""
    t, h = 7, 4
    hidden = numbers((1, t, h))
    name = "Module.model.norm.RMSNorm.forward.0.output.0"
    dump(folder + "/ref/step0/rank0", {name: hidden})
    off, first = hidden.moved((0, 5, 2), 0.5), 0
    for step, count in enumerate((3, 2, 1, 1)):
        start = first
        dump(folder + "/test/step%d/rank0" % step,
             {name: made((count, h), lambda i, c: off.at((0, start + i, c)))})
        first += count
    rules(folder, '''version: 1
tensors:
  - name: final_norm
    series: t
    a: {match: "Module.model.norm.*.forward.0.output.0", dims: "t[step] h"}
    b: {match: "Module.model.norm.*.forward.0.output.0", dims: "1 t h"}
''')


def moe_experts(folder):
    """Experts one by one on two ranks against a stacked weight."""
    experts, f, h = 4, 3, 2
    stacked = numbers((experts, 2 * f, h))
    dump(folder + "/ref/step0/rank0", {
        "Module.model.layers.0.mlp.experts.FusedMoE.forward.0.parameters.w13_weight": stacked.moved((2, 1, 1), 0.5)})
    for rank in range(2):
        dump(folder + "/test/step0/rank%d" % rank, {
            "Module.module.decoder.layers.0.mlp.experts.GroupedMLP.forward.0.parameters.linear_fc1.weight%d" % e:
                made((2 * f, h), lambda i, c: stacked.at((2 * rank + e, i, c))) for e in range(2)})
    rules(folder, '''version: 1
a: {mesh: "ep=2"}
tensors:
  - name: "layers.{l}.experts.w13"
    series: E
    a: {match: "**.layers.{l}.mlp.experts.*.forward.0.parameters.linear_fc1.weight{e}", dims: "+E[ep,e] (w=2 f) h"}
    b: {match: "**.layers.{l}.mlp.experts.*.forward.0.parameters.w13_weight", dims: "E (w=2 f) h"}
''')


SITUATIONS = (megatron_one_card, fsdp_tp, hf_megatron_checkpoint, training_decode, moe_experts)


def main(folder):
    for make in SITUATIONS:
        os.makedirs(os.path.join(folder, make.__name__), exist_ok=True)
        make(os.path.join(folder, make.__name__))


if __name__ == "__main__":
    main(sys.argv[1])
