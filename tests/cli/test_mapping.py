"""MindSpore dumps, and names of one framework as names of the other: every mapping in both forms and all modes."""
import json
import os
import random
import re

import dumps
import harness
import networks
from networks import Side, frames, tensor

MODES = ("tensor", "statistics", "md5")


class MappingCase(harness.Case):
    def sides(self, mode="statistics", npu="mindspore", bench="pytorch"):
        return Side(self.path("npu"), npu, mode), Side(self.path("bench"), bench, mode)

    def guide(self, layers=2, mode="statistics", first=0, change=None):
        npu, bench = self.sides(mode)
        networks.Guide(npu, bench, layers, first, change)
        npu.write()
        bench.write()
        return npu, bench

    def file(self, text, name="map.yaml"):
        return harness.write_text(self.path(name), text)

    def mindspore(self, code, npu, bench, *options, **settings):
        """msprobe's form; a folder with a dump.json stands for it."""
        npu, bench = (os.path.join(path, "dump.json") if os.path.exists(os.path.join(path, "dump.json")) else path
                      for path in (npu, bench))
        return self.msprobe(code, npu, bench, *options, framework="mindspore", **settings)

    def match(self, code, *words):
        """[(NPU name, bench name, reason)] of `tdcmp match`, and the run."""
        result = self.run_code(code, "match", *words)
        return [tuple(line.split("\t")) for line in result.out.splitlines() if not line.startswith("#")], result

    def both_forms(self, npu, bench, friendly, msprobe, expected):
        """The pairs of each form; expected: {NPU row: bench row or "N/A"}. Rows of friendly and msprobe's form."""
        _, result, folder = self.mindspore(0, npu, bench, *msprobe)
        found = harness.read_csv(harness.only_file(folder, "csv"))
        self.assertEqual({row["NPU Name"]: row["Bench Name"] for row in found}, expected)
        lonely = "N/A" in expected.values()
        rows, result = self.compare(1 if lonely else 0, npu, bench, *friendly)
        self.assertEqual({row["NPU Name"]: row["Bench Name"] for row in rows if row["NPU Name"] != "N/A"}, expected)
        return rows, found, result


class Modes(MappingCase):
    """Each mapping, in both forms, on tensors, statistics and digests."""

    def apis(self, mode):
        """Calls of both frameworks with the built-in table's renamings; {NPU row: bench row}."""
        npu, bench = self.sides(mode)
        expected = {}
        for old, new in (("Functional.abs", "Torch.abs"), ("Functional.equal", "Torch.eq"),
                         ("Functional.dense", "Functional.linear"), ("Tensor.swapaxes", "Tensor.transpose"),
                         ("Mint.add", "Torch.add"), ("MintFunctional.gelu", "Functional.gelu"),
                         ("Tensor.reshape", "Tensor.reshape")):
            for side, api in ((npu, old), (bench, new)):
                side.call(api + ".0.forward", [tensor(0.5, -1.5)], [tensor(1.0, 2.0, 3.0)])
            for end in (".0.forward.input.0", ".0.forward.output.0"):
                expected[old + end] = new + end
        npu.call("Functional.unknown.0.forward", [tensor(1.0)])
        expected["Functional.unknown.0.forward.input.0"] = "N/A"
        return npu.write(), bench.write(), expected

    def test_api_table(self):
        for mode in MODES:
            with self.subTest(mode=mode):
                npu, bench, expected = self.apis(mode)
                rows, found, result = self.both_forms(npu, bench, ["--api-mapping"], ["-am"], expected)
                self.assertIn("names matched by API mapping, 1 rows without a partner", result.out)
                if mode == "tensor":
                    self.assertEqual({r["Accuracy Reached or Not"] for r in rows}, {"Yes", "Unmatched"})
                else:
                    self.assertEqual({r["Result"] for r in found if r["Bench Name"] != "N/A"},
                                     {"pass" if mode == "md5" else ""})

    def test_whole_api_table(self):
        """Every entry of the table, by what it is called on the other side."""
        with open(os.path.join(os.path.dirname(__file__), "..", "..", "host", "match", "api_table.yaml")) as file:
            table = dict(re.findall(r"(?m)^(\w+\.\w+): (\w+\.\w+)$", file.read()))
        self.assertEqual(len(table), 167 + 10)
        npu, bench = self.sides()
        for old, new in table.items():
            npu.call(old + ".0.forward", [tensor(1.0)])
            bench.call(new + ".0.forward", [tensor(1.0)])
        pairs, _ = self.match(0, npu.write(), bench.write(), "--api-mapping")
        self.assertEqual({a.rsplit(".", 4)[0]: b.rsplit(".", 4)[0] for a, b, _ in pairs},
                         {k: v for k, v in table.items()})
        self.assertEqual({reason for _, _, reason in pairs}, {"built-in API table"})

    def test_api_file(self):
        file = self.file("- ms_api: Functional.flash_attention_score\n  pt_api: NPU.npu_fusion_attention\n"
                         "  ms_args: [0, 1, 2]\n  pt_args: [0, 2, 1]\n  ms_output: [3]\n  pt_output: [0]\n")
        for mode in MODES:
            with self.subTest(mode=mode):
                npu, bench = self.sides(mode)
                npu.call("Functional.flash_attention_score.0.forward", [tensor(float(i)) for i in (0, 1, 2, 3)],
                         [tensor(float(i)) for i in (7, 8, 9, 4)])
                bench.call("NPU.npu_fusion_attention.0.forward", [tensor(float(i)) for i in (0, 2, 1, 3)],
                           [tensor(4.0)])
                old, new = "Functional.flash_attention_score.0.forward.", "NPU.npu_fusion_attention.0.forward."
                expected = {old + "input.%d" % i: "N/A" for i in range(4)}
                expected.update({old + "output.%d" % i: "N/A" for i in range(4)})
                expected.update({old + "input.0": new + "input.0", old + "input.1": new + "input.2",
                                 old + "input.2": new + "input.1", old + "output.3": new + "output.0"})
                rows, _, _ = self.both_forms(npu.write(), bench.write(), ["--api-mapping=" + file], ["-am", file],
                                             expected)
                # crossed arguments have equal values, row by row
                paired = [row for row in rows if "N/A" not in (row["NPU Name"], row["Bench Name"])]
                self.assertEqual([row["NPU max"] for row in paired if "NPU max" in row],
                                 [row["Bench max"] for row in paired if "NPU max" in row])
                # the bench row nobody leads to is listed under the sound rules
                self.assertEqual([row["Bench Name"] for row in rows if row["NPU Name"] == "N/A"], [new + "input.3"])

    def test_api_file_as_the_documentation_has_it(self):
        """One entry without a list around it, and ms_outputs."""
        npu, bench = self.sides()
        npu.call("Functional.a.0.forward", [tensor(1.0)], [tensor(2.0)])
        bench.call("Torch.b.0.forward", [tensor(1.0)], [tensor(2.0)])
        npu, bench = npu.write(), bench.write()
        single = "ms_api: Functional.a\npt_api: Torch.b\nms_args: [0]\npt_args: [0]\n"
        for text in (single + "ms_outputs: [0]\npt_outputs: [0]\n", single + "ms_output: [0]\npt_output: [0]\n", single):
            pairs, _ = self.match(0, npu, bench, "--api-mapping=" + self.file(text))
            self.assertEqual([p[2] for p in pairs], ["API mapping file"] * 2)

    def cells(self, mode):
        npu, bench = self.sides(mode)
        for side, top, kind in ((npu, "Cell", "Dense"), (bench, "Module", "Linear")):
            for name, classed in (("fc1", "Norm"), ("fc2", kind), ("block.0.fc2", kind)):
                entry = "%s.%s.%s" % (top, name, classed)
                side.call(entry + ".forward.0", [tensor(1.0, 2.0)], [tensor(3.0)], {"weight": tensor(1.5, 2.5)})
                side.call(entry + ".backward.0", [tensor(3.0)], [tensor(1.0, 2.0)])
                side.call(entry + ".parameters_grad", parameters={"weight": tensor(0.5, 0.25)})
            side.call("Tensor.add.0.forward", [tensor(4.0)])
        return npu, bench

    def test_cells(self):
        file = self.file("fc2.Dense: fc2.Linear\nblock.0.fc2.Dense: block.0.fc2.Linear\n")
        for mode in MODES:
            with self.subTest(mode=mode):
                npu, bench = self.cells(mode)
                plain = {row: row.replace("Cell", "Module") for row, _ in npu.rows()}
                mapped = {row: name.replace("Dense", "Linear") for row, name in plain.items()}
                unmapped = {row: "N/A" if "Dense" in row else name for row, name in plain.items()}
                npu, bench = npu.write(), bench.write()
                self.both_forms(npu, bench, ["--cell-mapping=" + file], ["-cm", file], mapped)
                self.both_forms(npu, bench, ["--cell-mapping"], ["-cm"], unmapped)

    def test_data_mapping(self):
        for mode in MODES:
            with self.subTest(mode=mode):
                npu, bench = self.sides(mode)
                npu.call("Functional.a.0.forward", [tensor(1.0), tensor(2.0)])
                bench.call("Torch.z.9.forward", [tensor(2.0), tensor(1.0)])
                file = self.file("Functional.a.0.forward.input.0: Torch.z.9.forward.input.1\n"
                                 "Functional.a.0.forward.input.1: Torch.z.9.forward.input.0\n")
                expected = {"Functional.a.0.forward.input.%d" % i: "Torch.z.9.forward.input.%d" % (1 - i)
                            for i in range(2)}
                self.both_forms(npu.write(), bench.write(), ["-m", file], ["-dm", file], expected)

    def test_layers(self):
        file = self.file(networks.yaml_of(networks.GUIDE))
        for mode in MODES:
            with self.subTest(mode=mode):
                npu, bench = self.guide(2, mode)
                expected = networks.row_mapping(npu, bench, networks.GUIDE)
                self.assertNotIn("N/A", expected.values())
                rows, found, _ = self.both_forms(npu.folder, bench.folder, ["--layer-mapping=" + file], ["-lm", file],
                                                 expected)
                self.assertEqual(len(rows), len(found))
                nothing = networks.row_mapping(npu, bench, {})
                self.assertIn("N/A", nothing.values())
                self.both_forms(npu.folder, bench.folder, ["--layer-mapping"], ["-lm"], nothing)
                self.both_forms(npu.folder, bench.folder, ["-l"], ["--layer_mapping"], nothing)

    def test_the_data_mapping_of_a_layer_mapping(self):
        npu, bench = self.guide(1)
        expected = networks.row_mapping(npu, bench, networks.GUIDE)
        file = self.file(networks.yaml_of(networks.GUIDE))
        _, _, folder = self.mindspore(0, npu.folder, bench.folder, "-lm", file)
        path = harness.only_file(folder, "yaml", "data_mapping")
        text = harness.read_text(path)
        lines = re.sub(r"\? (.*)\n: ", r"\1: ", text).splitlines()
        self.assertEqual([tuple(line.split(": ")) for line in lines], list(expected.items()))
        # it can be used as it is
        rows, _ = self.compare(0, npu.folder, bench.folder, "-m", path)
        self.assertEqual({row["NPU Name"]: row["Bench Name"] for row in rows}, expected)
        save = self.path("saved.yaml")
        self.match(0, npu.folder, bench.folder, "--layer-mapping=" + file, "--save", save)
        self.assertEqual(harness.read_text(save), text)

    def test_where_the_networks_first_differ(self):
        """The question of the guide: which module differs first?"""
        def change(npu, entry, values):
            return [v + 1 for v in values] if npu and ".layers.1.attention.out_proj" in entry else values

        npu, bench = self.guide(3, "tensor", change=change)
        rows, result = self.compare(1, npu.folder, bench.folder, "--layer-mapping=" +
                                    self.file(networks.yaml_of(networks.GUIDE)))
        different = [row["NPU Name"] for row in rows if row["Accuracy Reached or Not"] == "No"]
        self.assertEqual(different[0], "Cell.network_with_loss.encoder.layers.1.attention.out_proj.RowParallelLinear."
                                       "forward.0.input.0")
        self.assertIn(different[0], result.out.split("First differences")[1].split("\n\n")[0])

    def test_same_framework(self):
        """MindSpore against MindSpore: equal names, data mapping, layers with other names."""
        for mode in MODES:
            with self.subTest(mode=mode):
                npu, bench = self.sides(mode, bench="mindspore")
                for side, name in ((npu, "old"), (bench, "new")):
                    side.call("Cell.net.Net.forward.0", [tensor(1.0)], [tensor(2.0)])
                    side.call("Cell.net.%s.Dense.forward.0" % name, [tensor(1.0)], [tensor(2.0)],
                              parent="Cell.net.Net.forward.0")
                    side.call("Mint.add.0.forward", [tensor(3.0)], parent="Cell.net.%s.Dense.forward.0" % name,
                              stack=frames("mindspore", "add_impl"))
                npu_folder, bench_folder = npu.write(), bench.write()
                names = {row: row for row, _ in npu.rows()}
                plain = {row: "N/A" if "old" in row else name for row, name in names.items()}
                self.both_forms(npu_folder, bench_folder, [], [], plain)
                renamed = {row: row.replace("old", "new") for row in names}
                layers = self.file("Net:\n  old: new\n")
                self.both_forms(npu_folder, bench_folder, ["--layer-mapping=" + layers], ["-lm", layers], renamed)

    def test_bfloat16(self):
        """MindSpore stores bfloat16 as float32; PyTorch in two bytes."""
        values = [1.0, 0.1, -3.3, 250.0]
        npu, bench = self.sides("tensor")
        for side in (npu, bench):
            side.call("Tensor.add.0.forward", [tensor(*values, dtype="bf16"), tensor(1.0, 2.0, dtype="f16")],
                      [tensor(*values, dtype="f32")])
            side.call("Tensor.mul.0.forward", [tensor(*values, dtype="bf16" if side is npu else "f32")])
        npu, bench = npu.write(), bench.write()
        for rows in (self.compare(0, npu, bench)[0], self.mindspore(0, npu, bench)[0]):
            self.assertEqual([row["Accuracy Reached or Not"] for row in rows], ["Yes"] * 4)
            self.assertEqual([row["NPU Dtype"] for row in rows], ["BFloat16", "Float16", "Float32", "BFloat16"])
            self.assertEqual([float(row["MaxAbsErr"]) for row in rows][:3], [0.0] * 3)

    def test_type_classes(self):
        """Across frameworks the class of the type counts; within one the type."""
        pairs = (("f32", "f64", True), ("i32", "i64", True), ("bool", "bool", True), ("f32", "i32", False),
                 ("bool", "i64", False), ("bf16", "f32", True))
        for bench_framework in ("pytorch", "mindspore"):
            npu, bench = self.sides("statistics", bench=bench_framework)
            for number, (a, b, _) in enumerate(pairs):
                npu.call("Tensor.t%d.0.forward" % number, [tensor(1, 0, dtype=a)])
                bench.call("Tensor.t%d.0.forward" % number, [tensor(1, 0, dtype=b)])
            rows, _, _ = self.mindspore(0, npu.write(), bench.write())
            kept = [row["Bench Name"] != "N/A" for row in rows]
            within = [a == b or {a, b} <= {"f16", "bf16", "f32"} for a, b, _ in pairs]
            self.assertEqual(kept, [agree for _, _, agree in pairs] if bench_framework == "pytorch" else within)


class Places(MappingCase):
    """Several cards, mixed dumps, and dumps that do not say what they are."""

    def small(self, folder, framework, mode="statistics", kind=None, **more):
        side = Side(folder, framework, mode)
        top = {"mindspore": "Cell", "pytorch": "Module"}[framework]
        name, kind = {"mindspore": ("old", "Dense"), "pytorch": ("new", "Dense")}[framework]
        side.call("%s.net.Net.forward.0" % top, [tensor(1.0)])
        side.call("%s.net.%s.%s.forward.0" % (top, name, kind), [tensor(1.0)], [tensor(2.0)],
                  parent="%s.net.Net.forward.0" % top)
        side.call("%s.add.0.forward" % {"mindspore": "Mint", "pytorch": "Torch"}[framework], [tensor(3.0)],
                  parent="%s.net.Net.forward.0" % top, stack=frames(framework, None))
        side.write(**more)

    def make_ranks(self, mode="statistics", *parts):
        for rank in range(2):
            self.small(self.path("npu", *parts, "rank%d" % rank), "mindspore", mode)
            self.small(self.path("bench", *parts, "rank%d" % rank), "pytorch", mode)
        return self.path("npu"), self.path("bench")

    def test_ranks(self):
        for mode in MODES:
            with self.subTest(mode=mode):
                npu, bench = self.make_ranks(mode)
                layers = self.file("Net:\n  old: new\n")
                names = self.file("net.old.Dense: net.new.Dense\n", "cells.yaml")
                for options, paired in ((["-lm", layers], 4), (["-cm", names], 3), (["-am"], 1)):
                    _, result, folder = self.mindspore(0, npu, bench, *options)
                    for rank in range(2):
                        rows = harness.read_csv(harness.only_file(folder, "csv", "compare_result_rank%d" % rank))
                        self.assertEqual(sum(row["Bench Name"] != "N/A" for row in rows), paired, options)
                        mapping = [n for n in harness.files_below(folder)
                                   if n.startswith("data_mapping_rank%d_" % rank)]
                        self.assertEqual(len(mapping), "-lm" in options)
                out = self.path("out-" + mode)
                result = self.run_code(0, "compare", npu, bench, "-o", out, "-F", "csv", "--layer-mapping=" + layers)
                self.assertIn("rank1: names matched by layer mapping, 0 rows without a partner", result.out)

    def test_mixed_dumps(self):
        for folder in ("graph", "pynative"):
            npu, bench = self.make_ranks("statistics", folder, "step0")
        _, _, results = self.mindspore(0, npu, bench, "-lm", self.file("Net:\n  old: new\n"))
        for folder in ("graph", "pynative"):
            place = os.path.join(results, folder, "step0")
            self.assertEqual(sorted(map(harness.stampless, harness.files_below(place))),
                             sorted("%s_rank%d_STAMP.%s" % (stem, rank, end) for rank in range(2) for stem, end in
                                    (("advisor", "txt"), ("compare_result", "csv"), ("data_mapping", "yaml"))))
            rows = harness.read_csv(harness.only_file(place, "csv", "compare_result_rank1"))
            self.assertEqual([row["Bench Name"] != "N/A" for row in rows], [True] * 4)

    def test_frameworks_are_told_by_types(self):
        npu, bench = self.sides()
        for side in (npu, bench):
            side.call("Tensor.add.0.forward", [tensor(1.0)])
            side.framework = None
        rows, result = self.compare(0, npu.write(), bench.write())
        self.assertEqual(len(rows), 1)
        self.assertIn("names matched by", result.out)

    def test_missing_files(self):
        """One of stack.json and construct.json is an error, none of them plain matching."""
        layers = self.file("Net:\n  old: new\n")
        for side in ("npu", "bench"):
            for missing in ("stack", "construct"):
                self.small(self.path("npu"), "mindspore")
                self.small(self.path("bench"), "pytorch")
                os.remove(self.path(side, missing + ".json"))
                _, result, folder = self.mindspore(1, self.path("npu"), self.path("bench"), "-lm", layers)
                self.assertIn("stack.json or construct.json not found, please check.", result.err)
                self.assert_nothing_left(folder)
                result = self.run_code(2, "match", self.path("npu"), self.path("bench"), "--layer-mapping=" + layers)
                self.assert_one_line(result.err, self.path(side, missing + ".json"))

    def test_nothing_to_find_places_from(self):
        for npu_files, bench_files in ((dict(stack=False, construct=False), {}), (dict(stack={}), {}),
                                       (dict(construct={}), {}), ({}, dict(stack=False, construct=False)),
                                       ({}, dict(construct={}))):
            with self.subTest(npu=npu_files, bench=bench_files):
                self.small(self.path("npu"), "mindspore", **npu_files)
                self.small(self.path("bench"), "mindspore", **bench_files)
                side = "npu" if npu_files else "bench"
                rows, result, folder = self.mindspore(0, self.path("npu"), self.path("bench"), "-lm")
                # NPU side: equal names; bench side: nothing
                self.assertEqual([row["Bench Name"] != "N/A" for row in rows], [side == "npu"] * 4)
                self.assertIn(self.path(side, "dump.json"), result.err)
                self.assertIn("is missing or empty", result.err)
                mapping = harness.read_text(harness.only_file(folder, "yaml", "data_mapping"))
                self.assertEqual(mapping == "{}\n", side == "npu")


class Layers(MappingCase):
    """How the place of a call is found and translated (spec 4.8)."""

    def pair(self, npu, bench, mapping, *options, code=None):
        """{NPU row: bench row} under msprobe's rules, which must be what the spec says."""
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
        self.assertEqual(pairs[0][1:], ("-", "the bench network has no 'a'"))
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
        self.assertEqual({p[2] for p in pairs}, {"bench layer 'add' has no further forward call"})

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
        """Any network and any rules: what the program finds is what the spec says."""
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


class Combinations(MappingCase):
    """Several mappings at once (spec 4.1, 4.9)."""

    def make(self):
        """An API that the built-in table renames, a cell, and both in one network."""
        npu, bench = self.sides()
        npu.call("Functional.abs.0.forward", [tensor(1.0, 2.0)])
        bench.call("Torch.abs.0.forward", [tensor(1.0, 2.0, 3.0)])
        npu.call("Cell.fc.Dense.forward.0", [tensor(1.0)])
        bench.call("Module.fc.Dense.forward.0", [tensor(1.0)])
        npu.call("Functional.mine.0.forward", [tensor(1.0)])
        bench.call("Torch.yours.0.forward", [tensor(1.0)])
        return npu.write(), bench.write()

    def found(self, rows):
        return {row["NPU Name"].split(".forward")[0]: row["Bench Name"].split(".forward")[0] for row in rows
                if row["NPU Name"] != "N/A"}

    def test_api_and_data_mapping(self):
        """Keys of the API mapping, joined by name alone: the shape may differ. The file is not looked at."""
        npu, bench = self.make()
        file = self.file("Functional.mine.0.forward.input.0: Torch.yours.0.forward.input.0\n")
        rows, _, _ = self.mindspore(0, npu, bench, "-am")
        self.assertEqual(self.found(rows)["Functional.abs.0"], "N/A")
        rows, _, _ = self.mindspore(0, npu, bench, "-am", "-dm", file)
        self.assertEqual(self.found(rows), {"Functional.abs.0": "Torch.abs.0", "Cell.fc.Dense": "N/A",
                                            "Functional.mine.0": "N/A"})
        # under the sound rules both count
        rows, result = self.compare(1, npu, bench, "--api-mapping", "-m", file)
        self.assertEqual(self.found(rows), {"Functional.abs.0": "Torch.abs.0", "Cell.fc.Dense": "N/A",
                                            "Functional.mine.0": "Torch.yours.0"})
        self.assertIn("names matched by API and data mapping", result.out)

    def test_api_and_cell_mapping(self):
        npu, bench = self.make()
        rows, _, _ = self.mindspore(0, npu, bench, "-am", "-cm")
        self.assertEqual(self.found(rows)["Cell.fc.Dense"], "N/A")
        rows, result = self.compare(1, npu, bench, "--api-mapping", "--cell-mapping")
        self.assertEqual(self.found(rows), {"Functional.abs.0": "Torch.abs.0", "Cell.fc.Dense": "Module.fc.Dense",
                                            "Functional.mine.0": "N/A"})
        self.assertIn("names matched by API and cell mapping", result.out)

    def test_api_and_layer_mapping(self):
        """msprobe takes the names of the API mapping and still writes what the layer mapping found."""
        npu, bench = self.guide(1)
        npu.call("Functional.abs.0.forward", [tensor(1.0)], parent="Cell.nowhere.Net.forward.0")
        bench.call("Torch.abs.0.forward", [tensor(1.0)])
        file = self.file(networks.yaml_of(networks.GUIDE))
        npu.write(), bench.write()
        expected = networks.row_mapping(npu, bench, networks.GUIDE)
        rows, _, folder = self.mindspore(0, npu.folder, bench.folder, "-am", "-lm", file)
        self.assertEqual({row["Bench Name"] for row in rows if row["NPU Name"].startswith("Cell.")}, {"N/A"})
        text = harness.read_text(harness.only_file(folder, "yaml", "data_mapping"))
        self.assertEqual(len(re.findall(r"(?m)^(?:\? )?(?:Cell|Functional)\.", text)), len(expected))
        self.assertIn("Functional.abs.0.forward.input.0: N/A\n", text)
        # under the sound rules places come first, and names where there is no place
        rows, result = self.compare(0, npu.folder, bench.folder, "--api-mapping", "--layer-mapping=" + file)
        expected["Functional.abs.0.forward.input.0"] = "Torch.abs.0.forward.input.0"
        self.assertEqual({row["NPU Name"]: row["Bench Name"] for row in rows}, expected)
        self.assertIn("names matched by layer and API mapping", result.out)

    def test_layer_and_data_mapping(self):
        npu, bench = self.guide(1)
        layers = self.file(networks.yaml_of(networks.GUIDE), "layers.yaml")
        expected = networks.row_mapping(npu, bench, networks.GUIDE)
        first = next(iter(expected))
        file = self.file("%s: %s\n" % (first, "Module.module.GPTModel.forward.0.output.0"))
        rows, _, _ = self.mindspore(0, npu.folder, bench.folder, "-dm", file, "-lm", layers)
        self.assertEqual({row["NPU Name"]: row["Bench Name"] for row in rows}, expected)
        pairs, _ = self.match(1, npu.folder, bench.folder, "-m", file, "--layer-mapping=" + layers)
        self.assertEqual(pairs[0], (first, "Module.module.GPTModel.forward.0.output.0", "data mapping"))
        self.assertEqual(pairs[1][2], "layer mapping")

    def test_two_apis_with_one_name(self):
        """msprobe pairs both with it; the sound rules say that it is taken."""
        npu, bench = self.sides()
        for api in ("Functional.add", "Mint.add"):
            npu.call(api + ".0.forward", [tensor(1.0)])
        bench.call("Torch.add.0.forward", [tensor(1.0)])
        npu, bench = npu.write(), bench.write()
        rows, _, _ = self.mindspore(0, npu, bench, "-am")
        self.assertEqual([row["Bench Name"] for row in rows], ["Torch.add.0.forward.input.0"] * 2)
        pairs, _ = self.match(1, npu, bench, "--api-mapping")
        self.assertEqual([p[2] for p in pairs],
                         ["built-in API table", "'Torch.add.0.forward.input.0' already has a partner"])


class Mistakes(MappingCase):
    """One line with file and line number, whatever is wrong with a mapping file."""

    def setUp(self):
        super().setUp()
        npu, bench = self.guide(1)
        self.npu, self.bench = npu.folder, bench.folder

    FRIENDLY = {"-dm": "--data-mapping", "-cm": "--cell-mapping", "-am": "--api-mapping", "-lm": "--layer-mapping"}

    def refused(self, option, text, *parts):
        file = self.file(text)
        with self.subTest(option=option, text=text):
            result = self.run_code(2, "match", self.npu, self.bench, self.FRIENDLY[option] + "=" + file)
            self.assert_one_line(result.err, *parts)
            self.assertEqual(result.out, "")
            out = self.path("out")
            result = self.run_code(2, "compare", self.npu, self.bench, "-o", out, self.FRIENDLY[option] + "=" + file)
            self.assert_one_line(result.err, *parts)
            _, result, folder = self.mindspore(1, self.npu, self.bench, option, file)
            for part in parts:
                self.assertIn(part, result.err)
            self.assert_nothing_left(folder)
            self.assert_nothing_left(out)

    def warned(self, option, text, *lines, code=1):
        """Each of the lines is a warning of its own, in this order."""
        file = self.file(text)
        with self.subTest(option=option, text=text):
            result = self.run_code(code, "match", self.npu, self.bench, self.FRIENDLY[option] + "=" + file)
            found = re.findall(r"(?m)^tdcmp: warning: (.*)$", result.err)
            self.assertEqual(found, ["%s%s" % (file, line) for line in lines])
            _, result, _ = self.mindspore(0, self.npu, self.bench, option, file)
            for line in lines:
                self.assertIn("[WARNING] %s%s\n" % (file, line), result.err)

    def test_duplicate_keys(self):
        for option, text in (("-dm", "a: b\nc: d\na: e\n"), ("-cm", "a: b\nc: d\na: e\n"),
                             ("-lm", "A:\n  a: b\nB:\n  c: d\nA:\n  e: f\n"),
                             ("-am", "- ms_api: A.b\n  pt_api: C.d\n  ms_api: E.f\n")):
            lines = {"-dm": (":3:", "line 1"), "-cm": (":3:", "line 1"), "-lm": (":5:", "line 1"),
                     "-am": (":3:", "line 1")}[option]
            self.refused(option, text, "map.yaml" + lines[0], lines[1])
        self.refused("-lm", "A:\n  a: b\n  x: y\n  a: c\n", "map.yaml:4:", "line 2")

    def test_types(self):
        for option, text, place, part in (
                ("-dm", "- a\n- b\n", ":1:", "NPU row name: bench row name"),
                ("-dm", "a\n", ":1:", "NPU row name: bench row name"),
                ("-dm", "x: y\na: [b]\n", ":2:", "'a' must be mapped to one name"),
                ("-dm", "x: y\na:\n  b: c\n", ":3:", "'a' must be mapped to one name"),
                ("-dm", "a:\nb: c\n", ":1:", "'a' must be mapped to one name"),
                ("-cm", "- a: b\n", ":1:", "cell.Class: module.Class"),
                ("-cm", "a: [b]\n", ":1:", "'a' must be mapped to one name"),
                ("-lm", "- a\n", ":1:", "sections 'LayerType:'"),
                ("-lm", "word\n", ":1:", "sections 'LayerType:'"),
                ("-lm", "A:\n  a: b\nB: c\n", ":3:", "section 'B'"),
                ("-lm", "A:\n  a: b\nB: [c]\n", ":3:", "section 'B'"),
                ("-lm", "A:\nB:\n  a: b\n", ":1:", "section 'A'"),
                ("-lm", "A:\n  a: [b]\n", ":2:", "'a' must be mapped to one name"),
                ("-lm", "A:\n  x: y\n  a: {b: c}\n", ":3:", "'a' must be mapped to one name"),
                ("-lm", "A:\n  x: y\n  a:\n", ":3:", "'a' must be mapped to one name"),
                ("-am", "word\n", ":1:", "an api mapping is a list of entries"),
                ("-am", "- ms_api: A.b\n  pt_api: C.d\n- word\n", ":3:", "an api mapping is a list of entries"),
                ("-am", "- - ms_api: A.b\n", ":1:", "an api mapping is a list of entries"),
                ("-am", "- ms_api: A.b\n", ":1:", "both ms_api and pt_api"),
                ("-am", "- pt_api: A.b\n  ms_api:\n", ":1:", "both ms_api and pt_api"),
                ("-am", "- ms_api: [A.b]\n  pt_api: C.d\n", ":1:", "both ms_api and pt_api"),
                ("-am", "ms_api: A.b\npt_api: C.d\nms_args: 0\n", ":3:", "'ms_args' must be a list of indices"),
                ("-am", "ms_api: A.b\npt_api: C.d\nms_args:\n", ":3:", "'ms_args' must be a list of indices"),
                ("-am", "ms_api: A.b\npt_api: C.d\npt_output: {a: b}\n", ":3:", "'pt_output' must be a list"),
                ("-am", "ms_api: A.b\npt_api: C.d\nms_args: [0,\n [1]]\n", ":4:", "'ms_args' must hold indices"),
                ("-am", "ms_api: A.b\npt_api: C.d\nms_args: [~]\n", ":3:", "'ms_args' must hold indices")):
            self.refused(option, text, "map.yaml" + place, part)

    def test_not_yaml(self):
        for option in self.FRIENDLY:
            self.refused(option, "a: [b\n", "map.yaml:")
            self.refused(option, "a: &x b\nc: *x\n", "map.yaml:")
            result = self.run_code(2, "match", self.npu, self.bench, self.FRIENDLY[option] + "=" + self.path("none"))
            self.assert_one_line(result.err, self.path("none"), "No such file")

    def test_empty_files(self):
        for option in self.FRIENDLY:
            for text in ("", "# nothing\n", "---\n"):
                self.warned(option, text)

    def test_unknown_layers(self):
        self.warned("-lm", "TopLayer:\n  network_with_loss: module\nParalelAttention:\n  qkv_proj: query_key_value\n",
                    ":3: the NPU network has no layer of type 'ParalelAttention'",
                    ":4: no layer is called 'qkv_proj' there; the line has no effect")
        self.warned("-lm", "TopLayer:\n  network: module\n",
                    ":2: no layer is called 'network' there; the line has no effect")

    def test_names_used_twice(self):
        self.warned("-lm", "ParallelAttention:\n  qkv_proj: dense\n  out_proj: dense\nTopLayer:\n"
                    "  network_with_loss: module\nParallelTransformerLayer:\n  attention: self_attention\n",
                    ":3: 'dense' is used twice in 'ParallelAttention', first in line 2")
        cells = ("network_with_loss.embedding.Embedding", "network_with_loss.embedding.dropout.Dropout")
        self.warned("-cm", "%s: x.Y\n%s: x.Y\n" % cells, ":2: 'x.Y' is used twice, first in line 1")
        rows = ["Cell.network_with_loss.GPTModel.forward.0.%s.0" % end for end in ("input", "output")]
        self.warned("-dm", "%s: a\n%s: a\n" % tuple(rows), ":2: 'a' is used twice, first in line 1")
        self.warned("-dm", "%s: N/A\n%s: N/A\n" % tuple(rows))

    def test_names_of_nobody(self):
        self.warned("-dm", "nobody: x\n", ":1: no NPU row is called 'nobody'")
        self.warned("-cm", "nobody.Cell: x\n", ":1: no cell of the NPU dump is called 'nobody.Cell'")
        self.warned("-am", "- ms_api: Functional.nobody\n  pt_api: Torch.add\n",
                    ":1: the NPU dump has no API 'Functional.nobody'")
        self.warned("-am", "- ms_api: Functional.add\n  pt_api: Torch.nobody\n",
                    ":1: the bench dump has no API 'Torch.nobody'")

    def test_api_entries(self):
        head = "- ms_api: Functional.add\n  pt_api: Torch.add\n"
        self.warned("-am", head + "  ms_args: [0, 1]\n  pt_args: [0]\n",
                    ":1: ms_args and pt_args differ in length; the entry is passed over")
        self.warned("-am", head + "  ms_args: [0]\n",
                    ":1: ms_args and pt_args differ in length; the entry is passed over")
        self.warned("-am", head + "  ms_arg: [0]\n  pt_args: []\n", ":3: 'ms_arg' is not known and has no effect")
        self.warned("-am", head + "  ms_args: []\n")
        self.warned("-am", head + head, ":3: 'Functional.add' has an entry already; the later one counts")

    def test_many_mistakes_are_summed_up(self):
        lines = "".join("nobody%d: x%d\n" % (i, i) for i in range(25))
        result = self.run_code(1, "match", self.npu, self.bench, "-m", self.file(lines))
        self.assertEqual(result.err.count("no NPU row is called"), 10)
        self.assertIn(":25: the last of 15 more names that fit no NPU row", result.err)
        result = self.run_code(1, "match", self.npu, self.bench, "--layer-mapping=" + self.file(
            "TopLayer:\n" + "".join("  nobody%d: x%d\n" % (i, i) for i in range(25))))
        self.assertEqual(result.err.count("the line has no effect"), 10)
        self.assertIn("the last of 15 more lines without effect", result.err)

    def test_pytorch_has_no_such_mappings(self):
        for option in ("-cm", "-am"):
            _, result, _ = self.msprobe(1, self.npu, self.bench, option)
            self.assertIn("Argument -cm or -am is not supported in PyTorch framework", result.err)


class Match(MappingCase):
    """`tdcmp match`: the pairing alone."""

    def test_rules_and_reasons(self):
        npu, bench = self.sides()
        calls = (("Tensor.same.0", "Tensor.same.0", {}, {}), ("Functional.abs.0", "Torch.abs.0", {}, {}),
                 ("Functional.lonely.0", None, {}, {}), (None, "Torch.left.0", {}, {}),
                 ("Tensor.shape.0", "Tensor.shape.0", {"shape": [2, 1]}, {}),
                 ("Tensor.type.0", "Tensor.type.0", {"dtype": "i32"}, {}))
        for old, new, npu_more, bench_more in calls:
            for side, name, more in ((npu, old, npu_more), (bench, new, bench_more)):
                if name:
                    side.call(name + ".forward", [tensor(1, 2, **more)])
        npu, bench = npu.write(), bench.write()
        end = ".0.forward.input.0"
        pairs, result = self.match(1, npu, bench)
        self.assertEqual(pairs, [
            ("Tensor.same" + end, "Tensor.same" + end, "equal name"),
            ("Functional.abs" + end, "Torch.abs" + end, "built-in API table"),
            ("Functional.lonely" + end, "-", "no bench row is called 'Functional.lonely%s'" % end),
            ("Tensor.shape" + end, "Tensor.shape" + end, "equal name; shape [2, 1] against [2]"),
            ("Tensor.type" + end, "Tensor.type" + end, "equal name; type Int32 against torch.float32"),
            ("-", "Torch.left" + end, "no NPU row leads here")])
        self.assertEqual(result.err, "tdcmp: matched by API and cell mapping: 6 rows, 2 without a partner\n")
        self.assertEqual(self.match(1, npu, bench, "-u")[0], [pairs[2], pairs[5]])
        self.assertEqual(self.match(1, npu, bench, "--unmatched")[0], [pairs[2], pairs[5]])
        pairs, _ = self.match(1, npu, bench, "--rules", "compat", "-u")
        self.assertEqual(pairs, [
            ("Functional.lonely" + end, "-", "no bench row is called 'Functional.lonely%s'" % end),
            ("Tensor.shape" + end, "-", "'Tensor.shape%s' has shape [2], not [2, 1]" % end),
            ("Tensor.type" + end, "-", "'Tensor.type%s' has type torch.float32, not Int32" % end)])

    def test_files_and_cells(self):
        npu, bench = self.sides()
        npu.call("Cell.a.Dense.forward.0", [tensor(1.0)])
        bench.call("Module.a.Linear.forward.0", [tensor(1.0)])
        npu.call("Functional.x.0.forward", [tensor(1.0), tensor(1.0)])
        bench.call("Torch.y.0.forward", [tensor(1.0)])
        npu, bench = npu.write(), bench.write()
        cells = self.file("a.Dense: a.Linear\n", "cells.yaml")
        apis = self.file("- ms_api: Functional.x\n  pt_api: Torch.y\n  ms_args: [0]\n  pt_args: [0]\n", "apis.yaml")
        pairs, _ = self.match(1, npu, bench, "--cell-mapping=" + cells, "--api-mapping=" + apis)
        self.assertEqual([p[2] for p in pairs], ["cell mapping", "API mapping file",
                                                 "no bench row is called 'Torch.y.0.forward.input.1abandoned'"])
        rows = self.file("Functional.x.0.forward.input.1: Torch.y.0.forward.input.0\n", "rows.yaml")
        pairs, _ = self.match(1, npu, bench, "-m", rows)
        self.assertEqual([p[2] for p in pairs][:3], ["no bench row is called 'Cell.a.Dense.forward.0.input.0'",
                                                     "no bench row is called 'Functional.x.0.forward.input.0'",
                                                     "data mapping"])

    def test_fuzzy(self):
        npu, bench = self.sides(bench="mindspore")
        npu.call("Mint.add.4.forward", [tensor(1.0)])
        npu.call("Mint.extra.0.forward", [tensor(1.0)])
        bench.call("Mint.add.0.forward", [tensor(1.0)])
        pairs, result = self.match(1, npu.write(), bench.write(), "--fuzzy")
        self.assertEqual([p[1:] for p in pairs], [
            ("Mint.add.0.forward.input.0", "fuzzy name"),
            ("-", "no bench row that follows has this name without its call number, and this shape")])
        self.assertIn("matched by fuzzy names", result.err)

    def test_several_ranks(self):
        for side, framework in (("npu", "mindspore"), ("bench", "mindspore")):
            for rank in range(2):
                made = Side(self.path(side, "step0", "rank%d" % rank), framework)
                made.call("Mint.add.0.forward", [tensor(1.0)])
                made.write()
        result = self.run_code(0, "match", self.path("npu"), self.path("bench"), "--step", "0")
        self.assertEqual([line for line in result.out.splitlines() if line.startswith("#")],
                         ["# %s against %s" % (self.path("npu", "step0", rank, "dump.json"),
                                               self.path("bench", "step0", rank, "dump.json"))
                          for rank in ("rank0", "rank1")])
        result = self.run_code(2, "match", self.path("npu"), self.path("bench"), "-l", "--save", self.path("x.yaml"))
        self.assert_one_line(result.err, "--save", "2 ranks or steps")
        self.assertFalse(os.path.exists(self.path("x.yaml")))

    def test_suggest(self):
        npu, bench = self.guide(3, first=7)
        suggested = self.run_code(1, "match", npu.folder, bench.folder, "--suggest")
        lines = {(section, old, new) for section, rules in networks.GUIDE.items() for old, new in rules.items()}
        found = set()
        for line in suggested.out.splitlines():
            if line and not line.startswith(" "):
                section = line.rstrip(":")
            elif line:
                found.add((section, *line.strip().split(": ")))
        self.assertEqual(found, lines)
        file = self.file(suggested.out)
        pairs, result = self.match(0, npu.folder, bench.folder, "--layer-mapping=" + file)
        self.assertEqual({reason for _, _, reason in pairs}, {"layer mapping"})
        self.assertIn("0 without a partner", result.err)
        # nothing is left to be suggested
        result = self.run_code(0, "match", npu.folder, bench.folder, "--layer-mapping=" + file, "--suggest")
        self.assertEqual(result.out, "")
        self.assertIn("no name could be suggested", result.err)

    def test_suggest_with_part_of_a_file(self):
        """The rest of a file is proposed, keys with dots are followed."""
        npu, bench = self.guide(2)
        file = self.file("TopLayer:\n  network_with_loss.embedding.dropout: module.embedding.embedding_dropout\n"
                         "  network_with_loss: module\nParallelTransformerLayer:\n  attention: self_attention\n")
        result = self.run_code(1, "match", npu.folder, bench.folder, "--layer-mapping=" + file, "--suggest")
        self.assertEqual(result.out, "ParallelAttention:\n  qkv_proj: query_key_value\n  out_proj: dense\n\n"
                                     "ParallelMLP:\n  mapping: dense_h_to_4h\n  projection: dense_4h_to_h\n")

    def test_suggest_prefers_the_same_class(self):
        npu, bench = self.sides()
        for side, top, names in ((npu, "Cell", (("drop", "Dropout"), ("proj", "Dense"))),
                                 (bench, "Module", (("out", "Dense"),))):
            side.call(top + ".net.Net.forward.0", [tensor(1.0)])
            for name, kind in names:
                side.call("%s.net.%s.%s.forward.0" % (top, name, kind), [tensor(1.0, 2.0)])
            side.write(stack={"x": []})
        result = self.run_code(1, "match", npu.folder, bench.folder, "--suggest")
        self.assertEqual(result.out, "Net:\n  proj: out\n")

    def test_suggest_needs_equal_shapes(self):
        npu, bench = self.sides()
        for side, top, name, size in ((npu, "Cell", "a", 2), (bench, "Module", "b", 3)):
            side.call(top + ".net.Net.forward.0", [tensor(1.0)])
            side.call("%s.net.%s.Dense.forward.0" % (top, name), [tensor(*range(size))])
            side.write(stack={"x": []})
        result = self.run_code(1, "match", npu.folder, bench.folder, "--suggest")
        self.assertEqual(result.out, "")

    def test_suggest_for_several_ranks(self):
        """One file for all: each section once."""
        for rank, kind in enumerate((("embed", "embedding"), ("head", "lm_head"))):
            for side, top, framework, number in (("npu", "Cell", "mindspore", 0), ("bench", "Module", "pytorch", 1)):
                made = Side(self.path(side, "rank%d" % rank), framework)
                made.call("%s.%s.Net.forward.0" % (top, ("net", "module")[number]), [tensor(1.0)])
                made.call("%s.%s.%s.Dense.forward.0" % (top, ("net", "module")[number], kind[number]),
                          [tensor(1.0, 2.0)])
                made.write(stack={"x": []})
        result = self.run_code(1, "match", self.path("npu"), self.path("bench"), "--suggest")
        self.assertEqual(result.out, "Net:\n  embed: embedding\n  head: lm_head\n\nTopLayer:\n  net: module\n")
        self.match(0, self.path("npu"), self.path("bench"), "--layer-mapping=" + self.file(result.out))

    def test_suggest_without_places(self):
        npu, bench = self.guide(1)
        npu.write(stack=False, construct=False)
        result = self.run_code(2, "match", npu.folder, bench.folder, "--suggest")
        self.assertIn("suggestions need stack.json and construct.json beside both dumps", result.err)
        self.assertEqual(result.out, "")

    def test_odd_names(self):
        """Names in yaml and on the terminal cannot break out."""
        npu, bench = self.sides()
        odd = "it's: a #\"b\\\x1b[31m"
        for side, top, name in ((npu, "Cell", odd), (bench, "Module", "null")):
            side.call(top + ".net.Net.forward.0", [tensor(1.0)])
            side.call("%s.net.%s.Dense.forward.0" % (top, name), [tensor(1.0, 2.0)])
            side.write(stack={"x": []})
        result = self.run_code(1, "match", npu.folder, bench.folder, "--suggest")
        self.assertEqual(result.out, "Net:\n  \"it's: a #\\\"b\\\\\\x1B[31m\": 'null'\n\nTopLayer:\n"
                         .split("\n\nTopLayer")[0] + "\n")
        self.match(0, npu.folder, bench.folder, "--layer-mapping=" + self.file(result.out))
        result = self.run_code(1, "match", npu.folder, bench.folder, "-l")
        self.assertNotIn("\x1b", result.out)
        self.assertIn("\\x1b[31m.Dense.forward.0.input.0\t-\tbench layer 'net' has no", result.out)

    def test_exit_codes_and_save(self):
        npu, bench = self.sides()
        result = self.run_code(2, "match", npu.write(), bench.write())
        self.assertIn("neither dump has a row", result.err)
        npu, bench = self.guide(1)
        result = self.run_code(2, "match", npu.folder, bench.folder, "--api-mapping", "--save", self.path("x.yaml"))
        self.assertIn("there is no layer mapping to write", result.err)
        result = self.run_code(2, "match", npu.folder, bench.folder, "-l", "--save", self.path("none", "x.yaml"))
        self.assertIn(self.path("none", "x.yaml"), result.err)
        self.run_code(2, "match", npu.folder, self.path("nowhere"))
        self.run_code(2, "match", npu.folder)
        for words in (["--rules", "mine"], ["--step", "x"], ["--nonsense"]):
            self.run_code(2, "match", npu.folder, bench.folder, *words)
        with open("/dev/full", "w") as full:
            code = harness.subprocess.run([harness.TDCMP, "match", npu.folder, bench.folder], stdout=full,
                                          stderr=harness.subprocess.DEVNULL).returncode
        self.assertEqual(code, 2)

    def test_help(self):
        result = self.run_code(0, "match", "--help")
        self.assertIn("usage: tdcmp match", result.out)
        self.assertEqual(result.err, "")


class Automatic(MappingCase):
    """`tdcmp compare MS PT` sees that the frameworks differ."""

    def test_layers_with_equal_names(self):
        npu, bench = self.sides()
        for side, top, api, start in ((npu, "Cell", "Functional", 5), (bench, "Module", "Torch", 0)):
            side.call(top + ".net.Net.forward.0", [tensor(1.0)])
            for call in range(3):
                side.call("%s.myop.%d.forward" % (api, call + start), [tensor(1.0)],
                          parent=top + ".net.Net.forward.0", stack=frames(side.framework, None))
            side.write()
        rows, result = self.compare(0, npu.folder, bench.folder)
        self.assertIn("names matched by layer mapping, 0 rows without a partner\n", result.out)
        self.assertEqual(len(rows), 4)

    def test_names(self):
        npu, bench = self.guide(1)
        result = self.compare(1, npu.folder, bench.folder)[1]
        lonely = int(re.search(r"names matched by API and cell mapping, (\d+) rows without a partner "
                               r"\(tdcmp match -u lists them, tdcmp match --suggest proposes names\)",
                               result.out).group(1))
        listed, _ = self.match(1, npu.folder, bench.folder, "-u")
        self.assertEqual(len(listed), lonely)

    def test_no_row_is_lost(self):
        """Every row of both dumps is in the table once, whatever the mapping."""
        npu, bench = self.guide(2)
        file = self.file(networks.yaml_of({"TopLayer": networks.GUIDE["TopLayer"]}))
        for options in ([], ["--api-mapping"], ["--cell-mapping"], ["-l"], ["--layer-mapping=" + file], ["--fuzzy"]):
            rows, _ = self.compare(1, npu.folder, bench.folder, *options)
            self.assertEqual(sorted(row["NPU Name"] for row in rows if row["NPU Name"] != "N/A"),
                             sorted(row for row, _ in npu.rows()), options)
            self.assertEqual(sorted(row["Bench Name"] for row in rows if row["Bench Name"] != "N/A"),
                             sorted(row for row, _ in bench.rows()), options)
            # msprobe's table has the NPU rows
            names = {"--api-mapping": "-am", "--cell-mapping": "-cm", "-l": "-lm", "--fuzzy": "-f"}
            if options[:1] in ([name] for name in names):
                rows, _, _ = self.mindspore(0, npu.folder, bench.folder, names[options[0]])
                if options != ["--fuzzy"]:
                    self.assertEqual([row["NPU Name"] for row in rows], [row for row, _ in npu.rows()], options)

    def test_same_framework_says_nothing(self):
        npu, bench = self.sides(bench="mindspore")
        for side in (npu, bench):
            side.call("Mint.add.0.forward", [tensor(1.0)])
        self.assertNotIn("names matched by", self.compare(0, npu.write(), bench.write())[1].out)


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
        suggested = self.run_code(1, "match", npu.folder, bench.folder, "--suggest").out
        pairs, _ = self.match(0, npu.folder, bench.folder, "--layer-mapping=" + self.file(suggested))
        self.assertEqual([(a, b) for a, b, _ in pairs], list(expected.items()))


if __name__ == "__main__":
    harness.main()
