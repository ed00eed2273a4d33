"""Layer mapping (docs/msprobe.md#layer-mapping) against the same rules done once more in Python."""
import random

import harness
import networks
from mapping_case import MappingCase
from networks import frames, tensor


class Layers(MappingCase):
    """How the place of a call is found and translated (docs/msprobe.md#layer-mapping)."""

    def pair(self, npu, bench, mapping, *options, code=None):
        """{NPU row: bench row} under msprobe's rules, which must be what docs/msprobe.md says."""
        file = self.file(networks.yaml_of(mapping), "layers.yaml")
        result = harness.run("match", npu.folder, bench.folder, "--rules", "compat", "--layer-mapping=" + file,
                             *options)
        self.assertIn(result.code, (0, 1), str(result))
        found = dict(line.split("\t")[:2] for line in result.out.splitlines())
        found = {a: "N/A" if b == "-" else b for a, b in found.items()}
        self.assertEqual(found, networks.row_mapping(npu, bench, mapping))
        return found

    def one_call(self, npu_entry, bench_entry, npu_parent=None, bench_parent=None, **stacks):
        npu, bench = self.sides()
        npu.call(npu_entry, [tensor(1.0)], parent=npu_parent, stack=stacks.get("npu", ["File a, line 1, in f, x"]))
        bench.call(bench_entry, [tensor(1.0)], parent=bench_parent,
                   stack=stacks.get("bench", ["File a, line 1, in f, x"]))
        npu.write()
        bench.write()
        return npu, bench

    def test_functions_in_scopes(self):
        """Calls through different functions of the framework stand in different places."""
        for npu_stack, bench_stack, same in (
                (frames("mindspore", "impl"), frames("pytorch", "impl"), True),
                (frames("mindspore", "impl"), frames("pytorch", "other"), False),
                (frames("mindspore", "impl"), frames("pytorch", None), False),
                # a wrapper of msprobe or MindSpeed, and a frame called __call__, do not count
                (["File site-packages/mindspore/msprobe/x.py, line 1, in impl, \n x"], frames("pytorch", None), True),
                (["File site-packages/mindspore/nn/cell.py, line 1, in __call__, \n x"], frames("pytorch", None), True),
                # the last frame of the framework before the user's code counts
                (frames("mindspore", "inner")[:1] + frames("mindspore", "impl"), frames("pytorch", "impl"), True),
                # lines up to Template do not
                (["File site-packages/mindspore/a.py, line 1, in no, \n x", "File Template.py, line 1, in no, \n x"] +
                 frames("mindspore", "impl"), frames("pytorch", "impl"), True)):
            with self.subTest(npu=npu_stack, bench=bench_stack):
                npu, bench = self.one_call("Functional.add.0.forward", "Torch.add.7.forward", npu=npu_stack,
                                           bench=bench_stack)
                found = self.pair(npu, bench, {})
                self.assertEqual("N/A" not in found.values(), same)

    def test_primitives_have_no_function(self):
        npu, bench = self.one_call("Primitive.Add.0.forward", "Torch.Add.0.forward", npu=frames("mindspore", "impl"),
                                   bench=frames("pytorch", None))
        self.assertNotIn("N/A", self.pair(npu, bench, {}).values())

    def test_grouped_stacks(self):
        """Not understood by the original; the sound rules read them."""
        npu, bench = self.one_call("Functional.add.0.forward", "Torch.add.0.forward", npu=frames("mindspore", "a"),
                                   bench=frames("pytorch", "b"))
        for side in (npu, bench):
            entry, lines = next(iter(side.stack.items()))
            side.write(stack={"0": [[entry], lines]})
        self.assertEqual(self.match(0, npu.folder, bench.folder, "-l", "--rules", "compat")[0][0][2], "layer mapping")
        pairs, _ = self.match(1, npu.folder, bench.folder, "-l")
        self.assertEqual(pairs[0][1:], ("-", "the ref network has no 'a'"))
        file = self.file("TopLayer:\n  a: b\n")
        self.match(0, npu.folder, bench.folder, "--layer-mapping=" + file)

    def test_backward(self):
        """A backward call has no stack and takes the place of its forward call."""
        npu, bench = self.one_call("Functional.add.3.forward", "Torch.add.1.forward", "Cell.net.Net.forward.0",
                                   "Module.net.Net.forward.0", npu=frames("mindspore", "impl"),
                                   bench=frames("pytorch", "impl"))
        npu.call("Functional.add.3.backward", [tensor(1.0)], [tensor(2.0)])
        bench.call("Torch.add.1.backward", [tensor(1.0)], [tensor(2.0)])
        npu.call("Functional.add.4.backward", [tensor(1.0)], parent="Cell.net.Net.backward.0")
        bench.call("Torch.add.2.backward", [tensor(1.0)], parent="Module.net.Net.backward.0")
        for top, side in (("Cell", npu), ("Module", bench)):
            side.call(top + ".net.fc.Dense.forward.0", [tensor(1.0)])
            side.call(top + ".net.fc.Dense.backward.0", [tensor(1.0)])
            side.call(top + ".net.fc.Dense.parameters_grad", parameters={"weight": tensor(1.0)})
            side.write()
        self.assertNotIn("N/A", self.pair(npu, bench, {}).values())

    def test_global_layer_numbers(self):
        """Stages of a pipeline number their layers from the first of all or from their own."""
        for first in (0, 1, 9, 12):
            npu, bench = self.guide(3, first=first)
            self.assertNotIn("N/A", self.pair(npu, bench, networks.GUIDE).values(), first)

    def test_several_transformers(self):
        npu, bench = self.sides()
        for side, top, first in ((npu, "Cell", (5, 20)), (bench, "Module", (0, 0))):
            for block, start in zip(("encoder", "decoder"), first):
                side.call("%s.%s.ParallelTransformer.forward.0" % (top, block), [tensor(1.0)])
                for layer in range(3):
                    side.call("%s.%s.layers.%d.Layer.forward.0" % (top, block, layer + start), [tensor(1.0)])
                # names without a number, and numbers elsewhere, stay
                side.call("%s.%s.layers.final.Norm.forward.0" % (top, block), [tensor(1.0)])
                side.call("%s.%s.other.7.Norm.forward.0" % (top, block), [tensor(1.0)])
            side.write(stack={"x": []})
        self.assertNotIn("N/A", self.pair(npu, bench, {}).values())
        # only the last digits of a name count
        for side, top, names in ((npu, "Cell", ("l1_8", "l1_9")), (bench, "Module", ("0", "1"))):
            side.data.clear()
            side.call(top + ".net.ParallelTransformer.forward.0", [tensor(1.0)])
            for name in names:
                side.call("%s.net.layers.%s.Layer.forward.0" % (top, name), [tensor(1.0)])
            side.write(stack={"x": []})
        self.assertNotIn("N/A", self.pair(npu, bench, {}).values())

    def test_transformer_in_a_transformer(self):
        npu, bench = self.sides()
        for side, top, outer, inner in ((npu, "Cell", 0, 4), (bench, "Module", 0, 0)):
            side.call(top + ".net.ParallelTransformer.forward.0", [tensor(1.0)])
            for layer in range(2):
                path = "%s.net.layers.%d.inner" % (top, layer + outer)
                side.call(path + ".ParallelTransformer.forward.0", [tensor(1.0)])
                for number in range(2):
                    side.call("%s.layers.%d.Layer.forward.0" % (path, number + inner), [tensor(1.0)])
            side.write(stack={"x": []})
        self.assertNotIn("N/A", self.pair(npu, bench, {}).values())

    def test_dots_in_rules(self):
        npu, bench = self.sides()
        for side, top, paths in ((npu, "Cell", ("a.b.c.d", "a.b.x", "a.y", "z")),
                                 (bench, "Module", ("p.q.d", "r.x", "a.y", "s.t.u"))):
            side.call(top + ".net.Net.forward.0", [tensor(1.0)])
            for path in paths:
                side.call("%s.net.%s.Dense.forward.0" % (top, path), [tensor(1.0)])
            side.write(stack={"x": []})
        rules = {"Net": {"a.b.c": "p.q", "a.b": "r", "z": "s.t.u"}}
        self.assertNotIn("N/A", self.pair(npu, bench, rules).values())
        # the longest key comes first whatever the order of the lines
        rules = {"Net": {"z": "s.t.u(any remark)", "a.b": "r", "a.b.c": "p.q(2)"}}
        self.assertNotIn("N/A", self.pair(npu, bench, rules).values())

    def test_cell_is_the_top_layer(self):
        npu, bench = self.one_call("Cell.old.Net.forward.0", "Module.new.Net.forward.0")
        for section in ("Cell", "TopLayer"):
            self.assertNotIn("N/A", self.pair(npu, bench, {section: {"old": "new"}}).values())
        both = {"Cell": {"old": "new"}, "TopLayer": {"old": "wrong"}}
        self.assertNotIn("N/A", self.pair(npu, bench, both).values())
        result = self.run_code(0, "match", npu.folder, bench.folder, "--layer-mapping=" +
                               self.file(networks.yaml_of(both)))
        self.assertIn("map.yaml:4: 'Cell' and 'TopLayer' are the same layer, first in line 1", result.err)

    def test_micro_steps(self):
        npu, bench = self.one_call("Functional.add.0.forward", "Torch.add.0.forward",
                                   ["Cell.net.Net.forward.0", 0], ["Module.net.Net.forward.0", 1])
        for side in (npu, bench):
            side.write(construct=dict(side.construct, megatron_micro_step_number=2))
        found = self.pair(npu, bench, {})
        self.assertNotIn("N/A", found.values())

    def test_calls_of_one_place(self):
        """The k-th call faces the k-th; calls the other side does not make have no partner."""
        npu, bench = self.sides()
        for side, api, calls in ((npu, "Mint", 5), (bench, "Torch", 3)):
            for call in range(calls):
                side.call("%s.add.%d.forward" % (api, call * 2), [tensor(1.0)], stack=frames(side.framework, None))
            side.write()
        found = self.pair(npu, bench, {})
        self.assertEqual(found["Mint.add.4.forward.input.0"], "Torch.add.4.forward.input.0")
        self.assertEqual(found["Mint.add.6.forward.input.0"], "N/A")
        pairs, _ = self.match(1, npu.folder, bench.folder, "-l", "-u")
        self.assertEqual({p[2] for p in pairs}, {"ref layer 'add' has no further forward call"})

    def test_entries_with_many_rows(self):
        npu, bench = self.one_call("Cell.net.Net.forward.0", "Module.net.Net.forward.0")
        for side, entry, count in ((npu, "Cell.net.Net.forward.0", 40), (bench, "Module.net.Net.forward.0", 30)):
            side.call(entry, [tensor(float(i)) for i in range(count)])
            side.write(stack={"x": []})
        found = self.pair(npu, bench, {})
        self.assertEqual(sum(name == "N/A" for name in found.values()), 10)
        pairs, _ = self.match(1, npu.folder, bench.folder, "-l", "-u")
        self.assertEqual(pairs[0], ("Cell.net.Net.forward.0.input.30", "-",
                                    "'Module.net.Net.forward.0' has no such row"))

    def test_names_of_no_network(self):
        """Debug names and names with fewer than four parts have no place."""
        npu, bench = self.one_call("Functional.add.0.forward", "Torch.add.0.forward")
        for side in (npu, bench):
            side.call("a.b.forward", [tensor(1.0)])
            side.write()
        pairs, _ = self.match(1, npu.folder, bench.folder, "-l", "-u")
        self.assertEqual(pairs[0], ("a.b.forward.input.0", "-", "the name has no place in a network"))

    def test_random_networks(self):
        """Any network and any rules: what the program finds is what docs/msprobe.md says."""
        chance = random.Random(20260801)
        for number in range(150):
            npu, bench = self.random_network(chance)
            mapping = self.random_rules(chance)
            with self.subTest(number=number, mapping=mapping):
                self.pair(npu, bench, mapping)

    def random_network(self, chance):
        npu, bench = self.sides()
        for side, top, api in ((npu, "Cell", "Functional"), (bench, "Module", "Torch")):
            modules = []
            for _ in range(chance.randrange(2, 14)):
                path = [chance.choice("abc") for _ in range(chance.randrange(1, 4))]
                if chance.random() < 0.4:
                    path.insert(chance.randrange(len(path) + 1), "layers.%d" % chance.randrange(4))
                kind = chance.choice(("Net", "Block", "ParallelTransformer"))
                name = ".".join([top] + path + [kind])
                call = "%s.forward.%d" % (name, chance.randrange(3))
                side.call(call, [tensor(1.0)] * chance.randrange(1, 3), [tensor(1.0)])
                modules.append(call)
                if chance.random() < 0.3:
                    side.call(call.replace("forward", "backward"), [tensor(1.0)])
                if chance.random() < 0.2:
                    side.call(name + ".parameters_grad", parameters={"w": tensor(1.0)})
            for call in range(chance.randrange(0, 8)):
                entry = "%s.%s.%d.forward" % (api, chance.choice(("add", "mul")), call)
                parent = chance.choice(modules + [None])
                side.call(entry, [tensor(1.0)] * chance.randrange(1, 3), parent=parent,
                          stack=chance.choice((None, frames(side.framework, "f"), frames(side.framework, None))))
                if chance.random() < 0.3:
                    side.call(entry.replace("forward", "backward"), [tensor(1.0)], parent=parent)
            side.stack.setdefault("nobody", [])
            side.write()
        return npu, bench

    def random_rules(self, chance):
        mapping = {}
        for section in ("TopLayer", "Net", "Block", "ParallelTransformer", "a", "layers", "f"):
            if chance.random() < 0.5:
                name = lambda: ".".join(chance.choice("abc") for _ in range(chance.choice((1, 1, 1, 2, 3))))
                mapping[section] = {name(): name() + chance.choice(("", "", "(b)")) for _ in range(2)}
        return mapping


class Large(MappingCase):
    """A network of 1,000 layers with the renamings of the guide."""

    LAYERS = 1000 if not harness.SANITIZE else 200

    def test_guide(self):
        npu, bench = self.guide(self.LAYERS, first=3)
        expected = networks.row_mapping(npu, bench, networks.GUIDE)
        self.assertGreater(len(expected), 45 * self.LAYERS)
        self.assertNotIn("N/A", expected.values())
        file = self.file(networks.yaml_of(networks.GUIDE))
        pairs, result = self.match(0, npu.folder, bench.folder, "--layer-mapping=" + file)
        self.assertEqual([(a, b) for a, b, _ in pairs], list(expected.items()))
        self.assertIn("%d rows, 0 without a partner" % len(expected), result.err)
        pairs, _ = self.match(0, npu.folder, bench.folder, "--layer-mapping=" + file, "--rules", "compat")
        self.assertEqual({a: b for a, b, _ in pairs}, expected)
        # without the file some rows have partners, and the same ones
        pairs, _ = self.match(1, npu.folder, bench.folder, "-l", "--rules", "compat")
        self.assertEqual({a: "N/A" if b == "-" else b for a, b, _ in pairs}, networks.row_mapping(npu, bench, {}))
        # and the file can be found by the program
        suggested = self.run_code(0, "match", npu.folder, bench.folder, "--suggest").out
        pairs, _ = self.match(0, npu.folder, bench.folder, "--layer-mapping=" + self.file(suggested))
        self.assertEqual([(a, b) for a, b, _ in pairs], list(expected.items()))


if __name__ == "__main__":
    harness.main()
