"""The collector on a small network of MindSpore. Skipped, and said so, where mindspore cannot be imported: its wheels
want a numpy before 2, so it is in an environment of its own or nowhere. The expected entries are those that msprobe's
collector writes for the same network."""

import json
import os
import shutil
import sys
import tempfile
import unittest
import zlib

import tdcmp

try:
    import numpy as np
    import mindspore
    from mindspore import mint, nn, ops

    mindspore.set_context(mode=mindspore.PYNATIVE_MODE)
    mindspore.set_device("CPU")
    ops.add(mindspore.Tensor([1.0]), 1.0).asnumpy()
except Exception as error:  # with another numpy the import itself succeeds
    print(f"left out: mindspore cannot be used ({type(error).__name__}), so its collector was not run")
    sys.exit(0)


class Inner(nn.Cell):
    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(3, 3, weight_init="ones")

    def construct(self, x, *, scale=1.0):
        return mint.nn.functional.silu(self.dense(x)) * scale, [x]


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(4, 3, embedding_table="ones")
        self.inner = Inner()

    def construct(self, ids):
        first, (second,) = self.inner(self.embedding(ids))
        first, _ = self.inner(second + first, scale=0.5)
        return mint.sum(first)


IDS = [[0, 3]]


def run(net, fail=False):
    def forward(ids):
        result = net(ids)
        if fail:
            raise RuntimeError("in the middle")
        return result

    weights = net.trainable_params()
    value, gradients = mindspore.value_and_grad(forward, None, weights)(mindspore.Tensor(IDS, mindspore.int32))
    value.asnumpy()
    return gradients


# Entries in their order, behind the module that they are in; '-': the nesting does not tell.
EXPECTED = [
    ("Cell.embedding.Embedding.forward.0", "Primitive.get_shp.Shape.0.forward Primitive.reshape_flat.Reshape.0.forward "
        "Primitive.gather.Gather.0.forward Primitive.reshape.Reshape.0.forward"),
    (None, "Cell.embedding.Embedding.forward.0"),
    ("Cell.inner.dense.Dense.forward.0", "Primitive.shape_op.Shape.0.forward Primitive.reshape.Reshape.1.forward "
        "Primitive.matmul.MatMul.0.forward Primitive.bias_add.BiasAdd.0.forward Functional.shape.0.forward "
        "Primitive.reshape.Reshape.2.forward"),
    ("Cell.inner.Inner.forward.0", "Cell.inner.dense.Dense.forward.0 MintFunctional.silu.0.forward Tensor.__mul__.0.forward"),
    (None, "Cell.inner.Inner.forward.0 Tensor.__add__.0.forward"),
    ("Cell.inner.dense.Dense.forward.1", "Primitive.shape_op.Shape.1.forward Primitive.reshape.Reshape.3.forward "
        "Primitive.matmul.MatMul.1.forward Primitive.bias_add.BiasAdd.1.forward Functional.shape.1.forward "
        "Primitive.reshape.Reshape.4.forward"),
    ("Cell.inner.Inner.forward.1", "Cell.inner.dense.Dense.forward.1 MintFunctional.silu.1.forward Tensor.__mul__.1.forward"),
    (None, "Cell.inner.Inner.forward.1 Mint.sum.0.forward Mint.sum.0.backward"),
    ("Cell.inner.Inner.backward.1", "Tensor.__mul__.1.backward MintFunctional.silu.1.backward"),
    ("Cell.inner.dense.Dense.backward.1", "Primitive.reshape.Reshape.4.backward Primitive.bias_add.BiasAdd.1.backward "
        "Primitive.matmul.MatMul.1.backward Primitive.reshape.Reshape.3.backward"),
    ("Cell.inner.Inner.backward.1", "Cell.inner.dense.Dense.backward.1"),
    (None, "Cell.inner.Inner.backward.1 Tensor.__add__.0.backward"),
    ("Cell.inner.Inner.backward.0", "Tensor.__mul__.0.backward MintFunctional.silu.0.backward"),
    ("Cell.inner.dense.Dense.backward.0", "Primitive.reshape.Reshape.2.backward Primitive.bias_add.BiasAdd.0.backward "
        "Primitive.matmul.MatMul.0.backward"),
    ("-", "Cell.inner.dense.Dense.parameters_grad.0"),
    ("Cell.inner.dense.Dense.backward.0", "Primitive.reshape.Reshape.1.backward"),
    ("Cell.inner.Inner.backward.0", "Cell.inner.dense.Dense.backward.0"),
    (None, "Cell.inner.Inner.backward.0 Cell.embedding.Embedding.backward.0 Primitive.reshape.Reshape.0.backward "
        "Primitive.gather.Gather.0.backward"),
    ("-", "Cell.embedding.Embedding.parameters_grad.0"),
]
ENTRIES = [(name, module) for module, names in EXPECTED for name in names.split()]


def _compiled(x):
    return mint.abs(x) + 1.0


def load(folder, step=0):
    place = os.path.join(folder, f"step{step}", f"proc{os.getpid()}")
    found = []
    for name in ("dump", "stack", "construct"):
        with open(os.path.join(place, name + ".json"), encoding="utf-8") as file:
            found.append(json.load(file))
    return place, *found


class Collecting(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.net = Net()

    def tearDown(self):
        shutil.rmtree(self.folder)

    def place(self, name="dump"):
        return os.path.join(self.folder, name)

    def collect(self, **options):
        with tdcmp.collect(self.net, self.place(), **options) as collector:
            self.gradients = run(self.net)
        return collector

    def test_names_order_and_nesting(self):
        self.collect(level="mix", task="tensor")
        _, dump, stack, construct = load(self.place())
        self.assertEqual([(name, construct.get(name, "-")) for name in dump["data"]], ENTRIES)
        self.assertEqual((dump["task"], dump["level"], dump["framework"]), ("tensor", "mix", "mindspore"))
        lines = [lines for names, lines in stack.values() if "MintFunctional.silu.0.forward" in names][0]
        self.assertIn("in construct, \n return mint.nn.functional.silu(self.dense(x)) * scale, [x]", lines[0])

    def test_levels(self):
        self.collect(level="L0")
        self.assertEqual(list(load(self.place())[1]["data"]), [n for n, _ in ENTRIES if n.startswith("Cell.")])
        shutil.rmtree(self.place())
        self.collect(level="L1")
        _, dump, _, construct = load(self.place())
        self.assertEqual(list(dump["data"]), [n for n, _ in ENTRIES if not n.startswith("Cell.")])
        self.assertEqual(construct, {})

    def test_files_hold_the_values(self):
        self.collect(level="mix", task="tensor")
        place, dump, _, _ = load(self.place())
        data = os.path.join(place, "dump_tensor_data")
        gradients = dict(zip((p.name for p in self.net.trainable_params()), self.gradients))
        found = np.load(os.path.join(data, "Cell.inner.dense.Dense.parameters_grad.0.weight.npy"))
        np.testing.assert_array_equal(found, gradients["inner.dense.weight"].asnumpy())
        weight = np.load(os.path.join(data, "Cell.inner.dense.Dense.forward.1.parameters.weight.npy"))
        np.testing.assert_array_equal(weight, self.net.inner.dense.weight.asnumpy())
        text = json.dumps(dump["data"])
        self.assertEqual(text.count("data_name"), len(os.listdir(data)))
        inner = dump["data"]["Cell.inner.Inner.forward.1"]
        self.assertEqual(inner["input_kwargs"], {"scale": {"type": "float", "value": 0.5}})
        self.assertEqual(tdcmp.compare(place, place).summary.answer, "IDENTICAL")

    def test_statistics_and_checksums(self):
        self.collect(level="mix", task="md5")
        _, dump, _, _ = load(self.place())
        item = dump["data"]["Primitive.get_shp.Shape.0.forward"]["input_args"][0]
        raw = np.array(IDS, np.int32).tobytes()
        expected = {"type": "mindspore.Tensor", "dtype": "Int32", "shape": [1, 2], "Max": 3.0, "Min": 0.0, "Mean": 1.5,
                    "Norm": 3.0, "md5": f"{zlib.crc32(raw):08x}"}
        self.assertEqual(item, expected)
        self.assertIsInstance(item["Max"], float)

    def test_types_of_values(self):
        with tdcmp.collect(self.net, self.place(), level="L1", task="tensor"):
            x = mindspore.Tensor(np.linspace(0, 1, 6), mindspore.float32)
            x.to(mindspore.bfloat16)
            mint.cat([x, x], dim=0)
            mint.reshape(x, (2, 3))
        place, dump, _, _ = load(self.place())
        data = dump["data"]
        wide = data["Tensor.to.0.forward"]
        self.assertEqual(wide["input_args"][1], {"type": "mindspore.dtype", "value": "BFloat16"})
        self.assertEqual(wide["output"][0]["dtype"], "BFloat16")
        stored = np.load(os.path.join(place, "dump_tensor_data", wide["output"][0]["data_name"]))
        self.assertEqual((stored.dtype, float(stored[1])), (np.dtype(np.float32), 0.2001953125))
        self.assertEqual([one["shape"] for one in data["Mint.cat.0.forward"]["input_args"][0]], [[6], [6]])
        self.assertEqual(data["Mint.reshape.0.forward"]["input_args"][1][1], {"type": "int", "value": 3})

    def test_everything_is_put_back(self):
        owners = (ops, mindspore.Tensor, mint, mint.nn.functional)
        before = [dict(vars(owner)) for owner in owners]
        kind = type(self.net.embedding.gather)
        collector = self.collect(level="mix")
        for owner, names in zip(owners, before):
            self.assertEqual([name for name, value in vars(owner).items() if names.get(name) is not value], [])
        self.assertIs(type(self.net.embedding.gather), kind)
        self.assertFalse(self.net.inner._forward_hook or self.net.inner._forward_pre_hook)
        run(self.net)
        with collector:
            run(self.net)
        self.assertEqual(list(load(self.place(), 1)[1]["data"]), [name for name, _ in ENTRIES])

    def test_results_are_not_changed(self):
        alone = [one.asnumpy() for one in run(self.net)]
        self.collect(level="mix", task="tensor")
        for one, other in zip(alone, self.gradients):
            np.testing.assert_array_equal(one, other.asnumpy())

    def test_compiled_functions_run(self):
        compiled = mindspore.jit(_compiled)
        with tdcmp.collect(self.net, self.place(), level="L1"):
            found = compiled(mindspore.Tensor([-2.0, 2.0])).asnumpy()
            mint.abs(mindspore.Tensor([-2.0]))
        self.assertEqual(found.tolist(), [3.0, 3.0])
        self.assertEqual(list(load(self.place())[1]["data"]), ["Mint.abs.0.forward"])

    def test_an_exception_leaves_a_whole_dump(self):
        with self.assertRaisesRegex(RuntimeError, "in the middle"):
            with tdcmp.collect(self.net, self.place(), level="mix", task="tensor"):
                run(self.net, fail=True)
        place, dump, _, _ = load(self.place())
        self.assertEqual(list(dump["data"]), [n for n, _ in ENTRIES if "forward" in n])
        self.assertEqual(tdcmp.compare(place, place).summary.answer, "IDENTICAL")

    def test_against(self):
        with tdcmp.collect(self.net, self.place("reference"), level="mix", task="tensor"):
            run(self.net)
        same = self.collect(level="mix", against=self.place("reference"))
        self.assertEqual(same.differences, [])
        self.assertGreater(same.compared, 50)
        place = load(self.place())[0]
        self.assertEqual(os.listdir(os.path.join(place, "dump_tensor_data")), [])
        shutil.rmtree(self.place())
        self.net.inner.dense.bias.set_data(mindspore.Tensor([0.0, 0.5, 0.0], mindspore.float32))
        off = self.collect(level="mix", against=self.place("reference"))
        names = {name for name, _ in off.differences}
        self.assertIn("Primitive.bias_add.BiasAdd.0.forward.output.0", names)
        self.assertNotIn("Primitive.matmul.MatMul.0.forward.output.0", names)
        stored = set(os.listdir(os.path.join(place, "dump_tensor_data")))
        self.assertEqual(stored, {name + ".npy" for name in names})


if __name__ == "__main__":
    print("mindspore", mindspore.__version__)
    unittest.main(verbosity=1)
