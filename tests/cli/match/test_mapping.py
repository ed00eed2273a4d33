"""Names of one framework as names of the other: every mapping in both forms and all modes."""
import os
import re

import harness
import networks
from mapping_case import MappingCase
from networks import Side, frames, tensor

MODES = ("tensor", "statistics", "md5")


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
                self.assertIn("names matched by API mapping, 1 unmatched", result.out)
                if mode == "tensor":
                    self.assertEqual({r["Accuracy Reached or Not"] for r in rows}, {"identical", "unmatched"})
                else:
                    self.assertEqual({r["Result"] for r in found if r["Bench Name"] != "N/A"},
                                     {"pass" if mode == "md5" else ""})

    def test_whole_api_table(self):
        """Every entry of the table, by what it is called on the other side."""
        with open(os.path.join(os.environ["TDC_SOURCE"], "host", "match", "map", "api_table.yaml")) as file:
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
        different = [row["NPU Name"] for row in rows if row["Accuracy Reached or Not"] == "different"]
        self.assertEqual(different[0], "Cell.network_with_loss.encoder.layers.1.attention.out_proj.RowParallelLinear."
                                       "forward.0.input.0")
        listed = result.out.split("Where it starts")[1].split("\n")[2].split()
        self.assertEqual(listed[0], str([row["NPU Name"] for row in rows].index(different[0]) + 2))
        head, tail = listed[1].split("...")
        self.assertTrue(different[0].startswith(head) and different[0].endswith(tail), listed)

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
        for rows, verdicts in ((self.compare(0, npu, bench)[0], ["identical"] * 3 + ["rounding"]),
                               (self.mindspore(0, npu, bench)[0], ["Yes"] * 4)):
            self.assertEqual([row["Accuracy Reached or Not"] for row in rows], verdicts)
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
                self.assertEqual(result.out.count("names matched by layer mapping, 0 unmatched"), 1)

    def test_mistakes_are_said_once_for_all_ranks(self):
        npu, bench = self.make_ranks()
        layers = self.file("Net:\n  old: new\n  nobody: x\n")
        text = "map.yaml:3: no layer is called 'nobody' there; the line has no effect"
        for result in (self.run_code(0, "match", npu, bench, "--layer-mapping=" + layers),
                       self.run_code(0, "compare", npu, bench, "-o", self.path("out"), "--layer-mapping=" + layers),
                       self.mindspore(0, npu, bench, "-lm", layers)[1]):
            self.assertEqual(result.err.count(text), 1, str(result))

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


class Combinations(MappingCase):
    """Several mappings at once (docs/msprobe.md#mapped-names, docs/msprobe.md#several-mappings)."""

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
        self.assertIn("names matched by layer mapping, 0 unmatched\n", result.out)
        self.assertEqual(len(rows), 4)

    def test_names(self):
        npu, bench = self.guide(1)
        result = self.compare(1, npu.folder, bench.folder)[1]
        lonely = int(re.search(r"names matched by API and cell mapping, (\d+) unmatched",
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


if __name__ == "__main__":
    harness.main()
