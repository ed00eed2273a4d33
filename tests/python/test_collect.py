"""The collector on a small network of PyTorch: names, call numbers, nesting, values, files, steps, scope, failures.
Skipped, and said so, where torch is not installed. The expected entries are those that msprobe's collector writes for
the same network."""

import functools
import importlib.util
import inspect
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

import tdcmp

if importlib.util.find_spec("torch") is None:
    print("left out: torch is not installed, so the collector was not run")
    sys.exit(0)

import torch
import torch.nn.functional as F

ALWAYS = "always_call" in inspect.signature(torch.nn.Module.register_forward_hook).parameters
NEW = int(torch.__version__.split(".")[0]) >= 2


class Inner(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.linspace(-1, 1, 12).reshape(4, 3))

    def forward(self, x):
        return torch.relu(F.linear(x, self.weight)), [x * 2]


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()
        self.out = torch.nn.Linear(4, 2)
        with torch.no_grad():
            self.out.weight.copy_(torch.linspace(0, 1, 8).reshape(2, 4))
            self.out.bias.zero_()

    def forward(self, x):
        first, (second,) = self.inner(x)
        first, _ = self.inner(second)
        return self.out(first)


INPUT = torch.linspace(0, 1, 6).reshape(2, 3)


def run(net, fail=False):
    result = net(INPUT)
    if fail:
        raise RuntimeError("in the middle")
    result.sum().backward()


def load(folder, step=0):
    place = os.path.join(folder, f"step{step}", f"proc{os.getpid()}")
    found = {}
    for name in ("dump", "stack", "construct"):
        with open(os.path.join(place, name + ".json"), encoding="utf-8") as file:
            found[name] = json.load(file)
    return place, found["dump"], found["stack"], found["construct"]


FUNCTIONS = [
    "Functional.linear.0.forward",
    "Torch.relu.0.forward",
    "Tensor.__mul__.0.forward",
    "Functional.linear.1.forward",
    "Torch.relu.1.forward",
    "Tensor.__mul__.1.forward",
    "Functional.linear.2.forward",
    "Tensor.sum.0.forward",
    "Tensor.sum.0.backward",
    "Functional.linear.2.backward",
    "Torch.relu.1.backward",
    "Functional.linear.1.backward",
]
MODULES = [
    "Module.inner.Inner.forward.0",
    "Module.inner.Inner.forward.1",
    "Module.out.Linear.forward.0",
    "Module.out.Linear.backward.0",
    "Module.out.Linear.parameters_grad.0",
    "Module.inner.Inner.backward.1",
    "Module.inner.Inner.parameters_grad.0",
]


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
            run(self.net)
        return collector

    def test_functions(self):
        self.collect(level="L1", task="statistics")
        _, dump, stack, construct = load(self.place())
        self.assertEqual(list(dump["data"]), FUNCTIONS)
        self.assertEqual((dump["task"], dump["level"], dump["framework"]), ("statistics", "L1", "pytorch"))
        self.assertEqual(construct, {})
        linear = dump["data"]["Functional.linear.0.forward"]
        self.assertEqual(list(linear), ["input_args", "input_kwargs", "output"])
        item = linear["input_args"][1]
        self.assertEqual(list(item), ["type", "dtype", "shape", "Max", "Min", "Mean", "Norm", "requires_grad"])
        self.assertEqual((item["type"], item["dtype"], item["shape"]), ("torch.Tensor", "torch.float32", [4, 3]))
        self.assertEqual((item["Max"], item["Min"], item["requires_grad"]), (1.0, -1.0, True))
        self.assertAlmostEqual(item["Norm"], float(self.net.inner.weight.norm()), 6)
        scalar = dump["data"]["Tensor.__mul__.0.forward"]["input_args"][1]
        self.assertEqual(scalar, {"type": "int", "value": 2})
        lines = [lines for names, lines in stack.values() if "Torch.relu.0.forward" in names][0]
        self.assertIn("in forward, \n return torch.relu(F.linear(x, self.weight)), [x * 2]", lines[0])

    def test_modules(self):
        self.collect(level="L0", task="statistics")
        _, dump, _, construct = load(self.place())
        self.assertEqual(sorted(dump["data"]), sorted(MODULES))
        self.assertEqual(list(dump["data"])[:3], MODULES[:3])
        inner = dump["data"]["Module.inner.Inner.forward.0"]
        self.assertEqual(list(inner), ["input_args", "input_kwargs", "output", "parameters"])
        self.assertEqual(inner["output"][1][0]["shape"], [2, 3])
        self.assertEqual(inner["parameters"]["weight"]["shape"], [4, 3])
        grad = dump["data"]["Module.inner.Inner.parameters_grad.0"]["weight"][0]
        self.assertAlmostEqual(grad["Norm"], float(self.net.inner.weight.grad.norm()), 5)
        backward = dump["data"]["Module.out.Linear.backward.0"]
        self.assertEqual([item["shape"] for item in backward["input"]], [[2, 2]])
        self.assertEqual(construct["Module.out.Linear.forward.0"], None)

    def test_nesting(self):
        self.collect(level="mix", task="statistics")
        _, dump, _, construct = load(self.place())
        self.assertEqual(sorted(dump["data"]), sorted(FUNCTIONS + MODULES))
        self.assertEqual(construct["Functional.linear.0.forward"], "Module.inner.Inner.forward.0")
        self.assertEqual(construct["Functional.linear.2.forward"], "Module.out.Linear.forward.0")
        self.assertIsNone(construct["Tensor.sum.0.forward"])
        names = list(dump["data"])
        self.assertLess(names.index("Tensor.__mul__.0.forward"), names.index("Module.inner.Inner.forward.0"))
        if NEW:
            self.assertEqual(construct["Functional.linear.2.backward"], "Module.out.Linear.backward.0")

    def test_files_hold_the_values(self):
        self.collect(level="mix", task="tensor")
        place, dump, _, _ = load(self.place())
        data = os.path.join(place, "dump_tensor_data")
        weight = torch.load(os.path.join(data, "Functional.linear.0.forward.input.1.pt"))
        self.assertTrue(torch.equal(weight, self.net.inner.weight.detach()))
        grad = torch.load(os.path.join(data, "Module.out.Linear.parameters_grad.0.weight.pt"))
        self.assertTrue(torch.equal(grad, self.net.out.weight.grad))
        text = json.dumps(dump["data"])
        for name in os.listdir(data):
            self.assertIn(f'"data_name": "{name}"', text)
        self.assertEqual(text.count("data_name"), len(os.listdir(data)))
        again = tdcmp.compare(place, place).summary
        self.assertEqual((again.answer, again["error"]), ("IDENTICAL", 0))

    def test_checksums(self):
        import zlib

        self.collect(level="L1", task="md5")
        _, dump, _, _ = load(self.place())
        item = dump["data"]["Functional.linear.0.forward"]["input_args"][1]
        raw = bytes(self.net.inner.weight.detach().numpy().tobytes())
        self.assertEqual(item["md5"], f"{zlib.crc32(raw):08x}")

    def test_in_place_changes_come_too_late(self):
        values = torch.ones(1000, 1000)
        with tdcmp.collect(None, self.place(), level="L1", task="tensor"):
            for _ in range(20):
                torch.add(values, 0)
                values.zero_()
                values += 1
        place, dump, _, _ = load(self.place())
        for number in range(20):
            item = dump["data"][f"Torch.add.{number}.forward"]["input_args"][0]
            self.assertEqual((item["Max"], item["Min"]), (1.0, 1.0))

    def test_everything_is_put_back(self):
        before = (torch.relu, torch.Tensor.__mul__, "sum" in vars(torch.Tensor), F.linear)
        collector = self.collect(level="mix")
        self.assertEqual(before, (torch.relu, torch.Tensor.__mul__, "sum" in vars(torch.Tensor), F.linear))
        self.assertFalse(self.net.inner._forward_hooks or self.net.inner._forward_pre_hooks)
        run(self.net)
        with collector:
            run(self.net)
        self.assertEqual(sorted(load(self.place(), 1)[1]["data"]), sorted(FUNCTIONS + MODULES))

    def test_results_are_not_changed(self):
        other = Net()
        run(other)
        self.collect(level="mix", task="tensor")
        self.assertTrue(torch.equal(other.inner.weight.grad, self.net.inner.weight.grad))

    @unittest.skipUnless(hasattr(torch._C._autograd, "_set_creation_meta"), "this torch forbids it")
    def test_modules_that_change_their_input(self):
        net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(inplace=True), torch.nn.Linear(4, 2))
        alone = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(inplace=True), torch.nn.Linear(4, 2))
        alone.load_state_dict(net.state_dict())
        run(alone)
        with tdcmp.collect(net, self.place(), level="mix", task="tensor"):
            run(net)
        self.assertTrue(torch.equal(net[0].weight.grad, alone[0].weight.grad))
        self.assertIn("Module.1.ReLU.forward.0", load(self.place())[1]["data"])

    def test_an_exception_leaves_a_whole_dump(self):
        with self.assertRaisesRegex(RuntimeError, "in the middle"):
            with tdcmp.collect(self.net, self.place(), level="mix", task="tensor"):
                run(self.net, fail=True)
        place, dump, _, _ = load(self.place())
        self.assertEqual(set(dump["data"]), {n for n in FUNCTIONS + MODULES if "forward" in n and "sum" not in n})
        self.assertEqual(tdcmp.compare(place, place).summary.answer, "IDENTICAL")
        self.assertFalse([n for n in os.listdir(place) if n.endswith("tmp")])

    def test_steps_and_ranks(self):
        collector = tdcmp.collect(self.net, self.place(), level="L0", steps=[1, 2])
        for _ in range(4):
            with collector:
                run(self.net)
        self.assertEqual(sorted(os.listdir(self.place())), ["step1", "step2"])
        with tdcmp.collect(self.net, self.place("loop"), level="L0") as collector:
            run(self.net)
            collector.step()
            run(self.net)
        self.assertEqual(sorted(os.listdir(self.place("loop"))), ["step0", "step1"])
        with tdcmp.collect(self.net, self.place("rank"), level="L0", ranks=[3]):
            run(self.net)
        self.assertFalse(os.path.exists(self.place("rank")))

    def test_scope_and_list(self):
        self.collect(level="L1", scope=["Torch.relu.0.forward", "Torch.relu.1.forward"])
        data = load(self.place())[1]["data"]
        self.assertEqual(list(data), FUNCTIONS[1:5])
        self.assertEqual(data[FUNCTIONS[4]]["output"][0]["shape"], [2, 4])
        shutil.rmtree(self.place())
        self.collect(level="L1", list=["relu"])
        self.assertEqual(list(load(self.place())[1]["data"]), [n for n in FUNCTIONS if "relu" in n])
        shutil.rmtree(self.place())
        self.collect(level="mix", list=["Module.inner.Inner.forward.0"])
        self.assertEqual(sorted(load(self.place())[1]["data"]), sorted([*FUNCTIONS[:3], MODULES[0]]))
        with self.assertRaises(ValueError):
            tdcmp.collect(self.net, self.place(), scope=["a"])
        with self.assertRaises(ValueError):
            tdcmp.collect(self.net, self.place(), level="L2")

    def test_functions_that_modules_keep(self):
        class Keeps(torch.nn.Module):
            def __init__(self, other=F.relu):
                super().__init__()
                self.act, self.other = F.gelu, other
                self.part = functools.partial(F.softmax, dim=0)

            def forward(self, x):
                return self.part(self.other(self.act(x)))

        net = Keeps()
        with tdcmp.collect(net, self.place(), level="L1"):
            net(INPUT)
        # msprobe stands in the places of functions before a model is made, but after its defaults were
        names = ["Functional.gelu.0.forward", "Torch.relu.0.forward", "Functional.softmax.0.forward"]
        self.assertEqual(list(load(self.place())[1]["data"]), names)
        self.assertIs(net.act, F.gelu)
        self.assertIs(net.part.func, F.softmax)

    @unittest.skipUnless(ALWAYS, "this torch does not tell that a module failed")
    def test_checkpoints(self):
        from torch.utils.checkpoint import checkpoint

        class Again(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.a, self.b = torch.nn.Linear(3, 3), torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.GELU())

            def forward(self, x):
                return checkpoint(self.b, self.a(x), use_reentrant=False)

        net = Again()
        with tdcmp.collect(net, self.place(), level="mix"):
            run(net)
        _, dump, _, construct = load(self.place())
        names = list(dump["data"])
        # computed again in the backward pass, and stopped before its end
        self.assertLess(names.index("Tensor.sum.0.backward"), names.index("Module.b.Sequential.forward.1"))
        self.assertEqual(dump["data"]["Module.b.Sequential.forward.1"]["output"], [None])
        self.assertEqual(construct["Module.b.0.Linear.forward.1"], "Module.b.Sequential.forward.1")
        self.assertEqual(construct["Module.b.0.Linear.backward.0"], "Module.b.Sequential.backward.0")
        self.assertIsNone(construct["Module.a.Linear.backward.0"])

    def test_a_function_that_fails_has_its_number(self):
        with tdcmp.collect(None, self.place(), level="L1"):
            with self.assertRaises(RuntimeError):
                torch.matmul(torch.ones(2, 3), torch.ones(2, 3))
            torch.matmul(torch.ones(2, 3), torch.ones(3, 2))
        _, dump, stack, _ = load(self.place())
        failed, done = (dump["data"][f"Torch.matmul.{i}.forward"] for i in range(2))
        self.assertEqual([list(failed), list(done)], [["input_args", "input_kwargs"], ["input_args", "input_kwargs", "output"]])
        named = [name for names, _ in stack.values() for name in names]
        self.assertEqual(sorted(named), sorted(dump["data"]))

    @unittest.skipUnless(ALWAYS, "this torch does not tell that a module failed")
    def test_a_module_that_fails_has_ended(self):
        class Fails(torch.nn.Module):
            def forward(self, x):
                raise ValueError("not this way")

        class Tries(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.one, self.two = Fails(), torch.nn.Linear(3, 2)

            def forward(self, x):
                try:
                    return self.one(x)
                except ValueError:
                    return self.two(x)

        net = Tries()
        with tdcmp.collect(net, self.place(), level="mix"):
            net(INPUT)
        construct = load(self.place())[3]
        self.assertIsNone(construct["Module.two.Linear.forward.0"])
        self.assertEqual(construct["Functional.linear.0.forward"], "Module.two.Linear.forward.0")

    @unittest.skipUnless(NEW, "this torch has no hooks of optimizers")
    def test_optimizers_and_clipping(self):
        optimizer = torch.optim.SGD(self.net.parameters(), 0.1, momentum=0.9, foreach=False)
        collector = tdcmp.collect(self.net, self.place(), level="mix")
        for _ in range(2):
            with collector:
                run(self.net)
                torch.nn.utils.clip_grad_norm_(self.net.parameters(), 1.0)
                optimizer.step()
        first, second = load(self.place(), 0)[3], load(self.place(), 1)[3]
        self.assertNotIn("Tensor.mul_.0.forward", [name for name, where in first.items() if where == "optimizer"])
        self.assertIn("optimizer", second.values())
        self.assertIn("clip_grad", second.values())
        self.assertIsNone(second["optimizer"])

    def test_ranks_of_processes(self):
        if not (torch.distributed.is_available() and torch.distributed.is_gloo_available()):
            self.skipTest("this torch has no gloo")
        program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "collect_rank.py")
        ranks = [subprocess.Popen([sys.executable, program, self.folder, str(rank)]) for rank in range(2)]
        self.assertEqual([rank.wait(120) for rank in ranks], [0, 0])
        self.assertEqual(sorted(os.listdir(os.path.join(self.folder, "all", "step0"))), ["rank0", "rank1"])
        self.assertEqual(os.listdir(os.path.join(self.folder, "one", "step0")), ["rank1"])
        for rank in range(2):
            with open(os.path.join(self.folder, "all", "step0", f"rank{rank}", "dump.json"), encoding="utf-8") as file:
                data = json.load(file)["data"]
            reduced = data["Distributed.all_reduce.0.forward"]
            self.assertEqual((reduced["input_args"][0]["Max"], reduced["output"][0]["Max"]), (rank, 1.0))
            self.assertEqual(data["Distributed.broadcast.0.forward"]["output"][0]["Max"], 0.0)

    def test_what_waits_is_bounded(self):
        from tdcmp._collect._writer import Writer

        writer, waiting = Writer(10, 2), []
        for _ in range(200):
            writer.put(4, lambda: waiting.append(writer._waiting))
        writer.put(50, lambda: waiting.append(writer._waiting))  # too large for any room: alone
        self.assertIsNone(writer.drain())
        writer.end()
        self.assertEqual(len(waiting), 201)
        self.assertLessEqual(max(waiting[:-1]), 10)
        self.assertEqual(waiting[-1], 50)

    def check_against(self, task, where):
        reference = self.place(task)
        with tdcmp.collect(self.net, reference, level="mix", task=task):
            run(self.net)
        self.net.zero_grad()
        same = self.collect(level="mix", against=reference)
        self.assertEqual(same.differences, [])
        self.assertGreater(same.compared, 30)
        place = load(self.place())[0]
        self.assertEqual(os.listdir(os.path.join(place, "dump_tensor_data")), [])
        shutil.rmtree(self.place())
        self.net.zero_grad()
        with torch.no_grad():
            self.net.out.weight[1, 2] += 0.5
        off = self.collect(level="mix", against=reference)
        names = {name for name, _ in off.differences}
        self.assertIn(f"Functional.linear.2.forward.{where}", names)
        self.assertNotIn("Functional.linear.0.forward.output.0", names)
        stored = set(os.listdir(os.path.join(place, "dump_tensor_data")))
        self.assertEqual(stored, {name + ".pt" for name in names})
        with open(os.path.join(place, "against.json"), encoding="utf-8") as file:
            self.assertEqual({d["name"] for d in json.load(file)["differences"]}, names)

    def test_against_tensors(self):
        self.check_against("tensor", "input.1")

    def test_against_checksums(self):
        self.check_against("md5", "input.1")

    def test_against_statistics(self):
        self.check_against("statistics", "input.1")

    def test_a_disk_that_fails_is_told(self):
        collector = tdcmp.collect(self.net, self.place(), level="L1", task="tensor")
        with self.assertRaises(tdcmp.TdcmpError) as caught:
            with collector:
                run(self.net)
                collector._writer.drain()
                shutil.rmtree(os.path.join(self.place(), "step0", f"proc{os.getpid()}", "dump_tensor_data"))
                run(self.net)
        self.assertEqual(caught.exception.name, "WRITE")
        _, dump, _, _ = load(self.place())
        self.assertIn("Functional.linear.5.forward", dump["data"])

    def test_a_json_that_cannot_be_written(self):
        collector = tdcmp.collect(self.net, self.place(), level="L1")
        folder = os.path.join(self.place(), "step0", f"proc{os.getpid()}")
        with self.assertRaisesRegex(OSError, "stack.json"):
            with collector:
                run(self.net)
                os.mkdir(os.path.join(folder, "stack.json"))
        self.assertEqual(sorted(os.listdir(folder)), ["construct.json", "dump.json", "stack.json"])

    def test_types_of_values(self):
        with tdcmp.collect(None, self.place(), level="L1", task="tensor"):
            x = torch.arange(6)
            x.to(dtype=torch.bfloat16)
            x.reshape(torch.Size([2, 3]))
            torch.max(x.reshape(2, 3).float(), dim=1)
            torch.add(torch.tensor(True), torch.tensor([1 + 2j]))
            torch.zeros(0).sum()
        _, dump, _, _ = load(self.place())
        data = dump["data"]
        self.assertEqual(data["Tensor.to.0.forward"]["input_kwargs"], {"dtype": {"type": "torch.dtype", "value": "torch.bfloat16"}})
        self.assertEqual(data["Tensor.reshape.0.forward"]["input_args"][1], {"type": "torch.Size", "value": [2, 3]})
        self.assertEqual(len(data["Torch.max.0.forward"]["output"]), 2)
        truth, turned = data["Torch.add.0.forward"]["input_args"]
        self.assertEqual((truth["Max"], truth["Min"], truth["Mean"]), (True, True, None))
        self.assertAlmostEqual(turned["Max"], 5**0.5)
        self.assertIsNone(data["Tensor.sum.0.forward"]["input_args"][0]["Max"])


if __name__ == "__main__":
    print("torch", torch.__version__)
    unittest.main(verbosity=1)
