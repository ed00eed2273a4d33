"""Dumps of networks as MindSpore and as PyTorch write them, and layer mapping
(docs/msprobe.md#layer-mapping) done once more, directly."""
import json
import os
import re
import zlib

import dumps

FRAMEWORKS = {"mindspore": ("Cell", "mindspore.Tensor", "npy"), "pytorch": ("Module", "torch.Tensor", "pt")}
TEXTS = {"f32": ("Float32", "torch.float32"), "f16": ("Float16", "torch.float16"),
         "bf16": ("BFloat16", "torch.bfloat16"), "f64": ("Float64", "torch.float64"),
         "i32": ("Int32", "torch.int32"), "i64": ("Int64", "torch.int64"), "bool": ("Bool", "torch.bool")}


class Tensor:
    def __init__(self, values, shape=None, dtype="f32"):
        self.values, self.dtype = list(values), dtype
        self.shape = [len(self.values)] if shape is None else list(shape)


def tensor(*values, **more):
    return Tensor(values, **more)


class Side:
    """One side: call() adds an entry, write() makes dump.json, stack.json and construct.json."""

    def __init__(self, folder, framework, mode="statistics"):
        self.folder, self.framework, self.mode = folder, framework, mode
        self.data, self.stack, self.construct = {}, {}, {}
        os.makedirs(os.path.join(folder, "dump_tensor_data"), exist_ok=True)

    def item(self, row, found):
        mindspore = self.framework == "mindspore"
        stored = dumps.stored(found.dtype, found.values)
        item = {"type": FRAMEWORKS[self.framework][1], "dtype": TEXTS[found.dtype][not mindspore],
                "shape": found.shape, "Max": max(stored), "Min": min(stored), "Mean": sum(stored) / len(stored),
                "Norm": sum(float(v) * v for v in stored) ** 0.5}
        # MindSpore has no bfloat16 on disk: the files and the digests are of float32
        wide = mindspore and found.dtype == "bf16"
        data = dumps.pack("f32" if wide else found.dtype, stored)
        if not mindspore:
            item["requires_grad"] = False
        if self.mode == "md5":
            item["md5"] = "%08x" % zlib.crc32(data)
        if self.mode == "tensor":
            suffix = FRAMEWORKS[self.framework][2]
            item["data_name"] = "%s.%s" % (row, suffix)
            dtype = "f32" if wide else found.dtype
            content = (dumps.npy_bytes(dumps.DTYPES[dtype][2], found.shape, data) if mindspore else
                       dumps.pt_bytes(dtype, found.shape, data))
            with open(os.path.join(self.folder, "dump_tensor_data", item["data_name"]), "wb") as file:
                file.write(content)
        return item

    def call(self, entry, inputs=(), outputs=(), parameters=None, parent=None, stack=None):
        found = {}
        if entry.endswith(".parameters_grad"):
            found = {name: [self.item("%s.%s" % (entry, name), value)] for name, value in parameters.items()}
        else:
            kind = "input" if "backward" in entry.split(".")[-2:] else "input_args"
            found[kind] = [self.item("%s.input.%d" % (entry, i), t) for i, t in enumerate(inputs)]
            found["output"] = [self.item("%s.output.%d" % (entry, i), t) for i, t in enumerate(outputs)]
            if parameters:
                found["parameters"] = {name: self.item("%s.parameters.%s" % (entry, name), value)
                                       for name, value in parameters.items()}
        self.data[entry] = found
        self.construct[entry] = parent
        if stack is not None:
            self.stack[entry] = stack
        return self

    def rows(self):
        """(row, entry) in the order of the result table."""
        for entry, found in self.data.items():
            for row in rows_of(entry, found):
                yield row, entry

    def write(self, stack=True, construct=True):
        whole = {"task": "tensor" if self.mode == "tensor" else "statistics", "level": "mix",
                 "framework": self.framework, "dump_data_dir": None, "data": self.data}
        for name, content in (("dump.json", whole), ("stack.json", self.stack if stack is True else stack),
                              ("construct.json", self.construct if construct is True else construct)):
            path = os.path.join(self.folder, name)
            if content is False:
                if os.path.exists(path):
                    os.remove(path)
                continue
            with open(path, "w", encoding="utf-8") as file:
                json.dump(content, file)
        return self.folder


def rows_of(entry, found):
    if entry.endswith(".parameters_grad"):
        return ["%s.%s" % (entry, name) for name in found]
    inputs = found.get("input_args", found.get("input", []))
    return (["%s.input.%d" % (entry, i) for i in range(len(inputs))] +
            ["%s.parameters.%s" % (entry, name) for name in found.get("parameters", {})] +
            ["%s.output.%d" % (entry, i) for i in range(len(found.get("output", [])))])


def frames(framework, function, user="train/model.py", where=None):
    """A call stack: a function of the framework, then the code of the user."""
    place = {"mindspore": "site-packages/mindspore/ops/function/math_func.py",
             "pytorch": "site-packages/torch/functional.py"}[framework]
    where = where or {"mindspore": "construct", "pytorch": "forward"}[framework]
    lines = ["File %s, line 5, in %s, \n return f(x)" % (place, function)] if function else []
    return lines + ["File %s, line 33, in %s, \n h = f(h)" % (user, where)]


# ---- layer mapping ------------------------------------------------------------------------------------------------

def framework_function(lines, framework):
    start, end = -1, len(lines)
    sign = "construct" if framework == "mindspore" else "in (for|back)ward,"
    for number, line in enumerate(lines):
        if "Template" in line:
            start = number
        elif start >= 0 and re.search(sign, line):
            end = number
            break
    entrance = None
    for line in lines[start + 1:end]:
        if not re.search("(site-packages|package)/(torch|mindspore)", line.split(",")[0]):
            break
        entrance = line
    if entrance is None:
        return None
    fields = entrance.split(",")
    if re.search("msprobe|MindSpeed", fields[0]) or re.search("construct|__call__", fields[2]):
        return None
    return fields[2].split()[1]


def scopes(side):
    """{entry: [scope, type, state]}"""
    found = {}
    for entry in side.data:
        parts = entry.split(".")
        if parts[-1] == "parameters_grad":
            found[entry] = [".".join(parts[:-3] + [parts[-3]]), parts[-2], parts[-1]]
        elif parts[0] in ("Cell", "Module"):
            found[entry] = [".".join(parts[:-4] + [parts[-4]]), parts[-3], parts[-2]]
        else:
            parent = side.construct.get(entry)
            if isinstance(parent, list):
                parent = parent[0]
            path = parent.split(".")[:-3] if parent else ["TopLayer"]
            function = None
            if parts[0] not in ("Primitive", "Jit") and side.stack.get(entry):
                function = framework_function(side.stack[entry], side.framework)
            found[entry] = [".".join(path + ([function] if function else []) + [parts[-3]]), parts[-3], parts[-1]]
    for entry in side.data:
        parts = entry.split(".")
        for at in (-2, -1):
            if parts[at] == "backward":
                parts[at] = "forward"
                if ".".join(parts) in found:
                    found[entry][0] = found[".".join(parts)][0]
                break
    renumber(found)
    return found


def renumber(found):
    prefixes = {}
    for scope, kind, _ in found.values():
        if kind == "ParallelTransformer":
            prefixes[scope + ".layers"] = None

    def number(scope, prefix):
        if not scope.startswith(prefix + "."):
            return None
        digits = re.findall(r"\d+", scope[len(prefix) + 1:].split(".")[0])
        return int(digits[-1]) if digits else None

    for prefix in prefixes:
        numbers = [number(item[0], prefix) for item in found.values()]
        prefixes[prefix] = min((n for n in numbers if n is not None), default=None)
    for prefix, least in prefixes.items():
        for item in found.values():
            at = number(item[0], prefix)
            if at is not None:
                rest = item[0][len(prefix) + 1:].split(".")
                item[0] = ".".join([prefix, str(at - least)] + rest[1:])


class Node:
    def __init__(self, kind):
        self.kind, self.children, self.lists = kind, {}, {}


def tree(found):
    root = Node("TopLayer")
    for entry, (scope, kind, state) in found.items():
        node = root
        for name in scope.split(".")[1:]:
            node = node.children.setdefault(name, Node(name))
        node.lists.setdefault(state, []).append(entry)
        node.kind = kind
    return root


def entry_mapping(npu, bench, mapping):
    """{NPU entry: bench entry or None}"""
    sections = dict(mapping)
    if "Cell" in sections:
        sections["TopLayer"] = sections.pop("Cell")
    npu_scopes = scopes(npu)
    npu_tree, bench_tree = tree(npu_scopes), tree(scopes(bench))
    result = {}
    for entry, (scope, _, state) in npu_scopes.items():
        names, here, there = scope.split(".")[1:], npu_tree, []
        while names:
            rules = [(key.split("."), value) for key, value in sections.get(here.kind, {}).items()]
            rules = sorted((rule for rule in rules if rule[0][0] == names[0]), key=lambda rule: -len(rule[0]))
            for key, value in rules + [([names[0]], names[0])]:
                if names[:len(key)] == key:
                    there += value.split("(")[0].split(".")
                    break
            for name in key:
                here = here.children[name]
            names = names[len(key):]
        position = here.lists[state].index(entry)
        node = bench_tree
        for name in there:
            node = node.children.get(name) if node else None
        others = node.lists.get(state, []) if node else []
        result[entry] = others[position] if position < len(others) else None
    return result


def row_mapping(npu, bench, mapping):
    """{NPU row: bench row or "N/A"}, as data_mapping_*.yaml holds it."""
    result = {}
    for entry, other in entry_mapping(npu, bench, mapping).items():
        ends = {row[len(other):]: row for row in rows_of(other, bench.data[other])} if other else {}
        for row in rows_of(entry, npu.data[entry]):
            result[row] = ends.get(row[len(entry):], "N/A")
    return result


# ---- the network of the guide --------------------------------------------------------------------------------

GUIDE = {"TopLayer": {"network_with_loss": "module"},
         "Embedding": {"dropout": "embedding_dropout"},
         "ParallelTransformerLayer": {"attention": "self_attention"},
         "ParallelAttention": {"qkv_proj": "query_key_value", "out_proj": "dense"},
         "ParallelMLP": {"mapping": "dense_h_to_4h", "projection": "dense_4h_to_h"}}


def yaml_of(mapping):
    return "\n".join("%s:\n%s" % (section, "".join("  %s: %s\n" % line for line in lines.items()))
                     for section, lines in mapping.items())


class Guide:
    """Both sides of a GPT, called alike. first: number of the first layer on the NPU (pipeline stage)."""

    def __init__(self, npu, bench, layers, first=0, change=None):
        self.change = change or (lambda npu, entry, values: values)
        self.counts = {"mindspore": {}, "pytorch": {}}
        self.sides = [(npu, "Cell.network_with_loss"), (bench, "Module.module")]
        names = {old: new for lines in GUIDE.values() for old, new in lines.items()}
        self.names = [{}, names]
        self.first = (first, 0)
        self.backward = []
        top = self.module("", "GPTModel", None, 3)
        embedding = self.module("embedding", "Embedding", top, 4, weights=1)
        self.module("embedding.dropout", "Dropout", embedding, 4)
        encoder = self.module("encoder", "ParallelTransformer", top, 4)
        for layer in range(layers):
            self.layer("encoder.layers.%d" % layer, encoder)
        self.function("cross_entropy", top, 4)
        for repeat in reversed(self.backward):
            repeat()

    def both(self, make):
        return [make(number, *side) for number, side in enumerate(self.sides)]

    def path(self, number, path):
        parts = [self.names[number].get(part, part) for part in path.split(".")] if path else []
        if "layers" in parts:
            at = parts.index("layers") + 1
            parts[at] = str(int(parts[at]) + self.first[number])
        return parts

    def values(self, number, entry, size):
        return tensor(*self.change(number == 0, entry, [((i * 7 + size) % 5) / 4 - 0.5 for i in range(size)]))

    def module(self, path, kind, parents, size, weights=0, backward=False):
        def make(number, side, root):
            entry = ".".join([root] + self.path(number, path) + [kind, "forward.0"])
            value = self.values(number, entry, size)
            side.call(entry, [value], [value], {"weight": tensor(1.0, 2.0, shape=[1, 2])} if weights else None,
                      parent=parents[number] if parents else None)
            return entry

        entries = self.both(make)
        if backward:
            self.backward.append(lambda: self.both(
                lambda number, side, root: self.gradients(number, side, entries[number], size, parents)))
        return entries

    def gradients(self, number, side, entry, size, parents):
        name = entry.replace(".forward.0", ".backward.0")
        value = self.values(number, name, size)
        side.call(name, [value], [value], parent=parents[number].replace(".forward.", ".backward."))
        side.call(entry.replace(".forward.0", ".parameters_grad"), parameters={"weight": tensor(1.0, 2.0)})

    def function(self, api, parents, size, backward=False):
        def make(number, side, root):
            count = self.counts[side.framework].setdefault(api, 3 if number == 0 else 0)
            self.counts[side.framework][api] = count + 1
            # calls are not numbered alike on both sides
            entry = "%s.%s.%d.forward" % ("Functional" if number == 0 else "Torch", api, count)
            value = self.values(number, "Functional.%s" % api, size)
            side.call(entry, [value, value], [value], parent=parents[number],
                      stack=frames(side.framework, api + "_impl"))
            return entry

        entries = self.both(make)
        if backward:
            self.backward.append(lambda: self.both(
                lambda number, side, root: side.call(
                    entries[number].replace(".forward", ".backward"), [self.values(number, "b", size)],
                    [self.values(number, "b", size)])))

    def layer(self, path, encoder):
        layer = self.module(path, "ParallelTransformerLayer", encoder, 4)
        self.module(path + ".input_norm", "FusedRMSNorm", layer, 4, weights=1)
        attention = self.module(path + ".attention", "ParallelAttention", layer, 4)
        self.module(path + ".attention.qkv_proj", "ColumnParallelLinear", attention, 5, weights=1, backward=True)
        self.function("matmul", attention, 5, backward=True)
        self.module(path + ".attention.out_proj", "RowParallelLinear", attention, 6, weights=1, backward=True)
        self.function("add", layer, 4, backward=True)
        mlp = self.module(path + ".mlp", "ParallelMLP", layer, 4)
        self.module(path + ".mlp.mapping", "ColumnParallelLinear", mlp, 7, weights=1, backward=True)
        self.function("gelu", mlp, 7)
        self.module(path + ".mlp.projection", "RowParallelLinear", mlp, 8, weights=1, backward=True)
