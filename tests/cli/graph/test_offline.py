"""Folders of dump files without a graph text, as CANN's tools compare them: compare -m offline_data."""
import csv
import json
import os
import struct
import tarfile
import tempfile

import ge_dumps
import harness

ARCHIVE = os.environ["TDC_TORCHAIR_GOLDEN"]
TIME = 1743588000000000


def attribute(key, value):
    return {"key": key, "value": value}


def origin(name, index=0, layout="ND"):
    return {"attr": [attribute("_datadump_origin_name", {"s": name}),
                     attribute("_datadump_origin_output_index", {"i": index}),
                     attribute("_datadump_origin_format", {"s": layout})]}


def rule_op(name, kind, inputs=(), outputs=(), originals=None, **more):
    attributes = [attribute("_" + key, value) for key, value in more.items()]
    if originals is not None:
        attributes.append(attribute("_datadump_original_op_names", {"list": {"s": originals} if originals else {}}))
    return {"name": name, "type": kind, "input": list(inputs), "output_desc": list(outputs), "attr": attributes}


class Golden(harness.Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        folder = tempfile.TemporaryDirectory(prefix="tdcmp-test-")
        cls.addClassCleanup(folder.cleanup)
        with tarfile.open(ARCHIVE) as archive:
            archive.extractall(folder.name)
        cls.cases = os.path.join(folder.name, "torchair")

    def test_folders(self):
        case, out = os.path.join(self.cases, "ge_vs_ge"), self.path("out")
        said = self.run_code(0, "compare", "-m", "offline_data", "-tp",
                             os.path.join(case, "ge_fused/20250402100001/0/graph_1/1/0"), "-gp",
                             os.path.join(case, "ge_fusion_off/20250402100106/0/graph_1/1/0"), "-o", out).out
        self.assertIn("The shape does not match ((1, 1, 16, 16) vs (6, 12)) for MatMulV2_1:output:0.", said)
        (name,) = harness.files_below(out)
        self.assertRegex(name, r"^result_\d{14}\.csv$")
        with open(os.path.join(out, name), newline="") as file:
            got = list(csv.reader(file))
        with open(os.path.join(case, "expected", "msaccucmp_token0.csv"), newline="") as file:
            self.assertEqual(got, list(csv.reader(file)))

    def test_files(self):
        folder = os.path.join(self.cases, "file_vs_file")
        with open(os.path.join(folder, "expected_msaccucmp_file_compare.json")) as file:
            cases = json.load(file)
        here = [name for name in cases if os.path.exists(os.path.join(folder, cases[name]["my"]))]
        self.assertGreater(len(here), 8)  # all but the large ones
        for name in here:
            case = cases[name]
            with self.subTest(name):
                words = ("compare", "-m", "offline_data", "-tp", os.path.join(folder, case["my"]), "-gp",
                         os.path.join(folder, case["golden"]))
                if case["result"] is None:
                    self.assertIn("differ in their shapes", self.run_code(1, *words).out)
                    continue
                lines = [line.split("] ", 1)[1].split() for line in self.run_code(0, *words).out.splitlines()]
                got = dict(zip(*lines))
                self.assertEqual({"%s: %s" % pair for pair in got.items()} & set(case["result"]), set(case["result"]))


class Rules(harness.Case):
    def setUp(self):
        super().setUp()
        self.made = 0

    def dump(self, side, kind, name, inputs=(), outputs=()):
        self.made += 1
        return ge_dumps.write_ge(self.path(side, "%s.%s.1.2.%d" % (kind, name, TIME + self.made)), inputs, outputs)

    def array(self, name, values, shape=None, output=0):
        return ge_dumps.write_npy(self.path("gold", "%s.%d.%d.npy" % (name, output, TIME)), "f32",
                                  shape or [len(values)], values)

    def rule(self, name, *ops):
        harness.write_text(self.path(name), json.dumps({"graph": [{"name": "g", "op": list(ops)}]}))
        return self.path(name)

    def table(self, code, *more, side="gold"):
        result = self.run_code(code, "compare", "-m", "offline_data", "-tp", self.path("mine"), "-gp", self.path(side),
                               "-o", self.path("out"), *more)
        self.said = result.out
        if code != 0:
            return []
        (name,) = harness.files_below(self.path("out"))
        with open(self.path("out", name), newline="") as file:
            rows = list(csv.reader(file))
        self.head = rows[0]
        return rows[1:]

    def cell(self, rows, tensor, column):
        (row,) = [row for row in rows if tensor in row]
        return row[self.head.index(column)]

    def test_original_operators(self):
        f32 = lambda *values: ge_dumps.tensor("f32", [len(values)], values)
        self.dump("mine", "Conv", "conv_relu", [f32(1, 2)], [f32(3, 4)])
        self.dump("mine", "Cast", "cast", [f32(3, 4)], [ge_dumps.tensor("f16", [2], [3, 4])])
        self.dump("mine", "Add", "a_add", [f32(3, 4)], [f32(5, 6.5)])
        self.array("data", [1, 2])
        self.array("relu", [3, 4])
        self.array("a_add", [5, 6])
        rule = self.rule("rule.json", rule_op("data", "Data", outputs=[origin("")]),
                         rule_op("conv_relu", "Conv", ["data:0"], [origin("relu")], ["conv", "relu"]),
                         rule_op("cast", "Cast", ["conv_relu:0", "x:-1"], [origin("")], []),
                         rule_op("a/add", "Add", ["cast:0"], [origin("", 0)]),
                         rule_op("lost", "Mul", ["a/add:0"], [origin("mul")], ["mul"]))
        rows = self.table(0, "-fr", rule)
        self.assertEqual(self.head.count("Address"), 1)
        self.assertEqual([row[:3] for row in rows if row[2] not in ("data", "lost")],
                         [["1", "Conv", "conv_relu"]] * 2 + [["2", "Cast", "cast"]] * 2 + [["3", "Add", "a/add"]] * 2)
        self.assertEqual(rows[1][4 + 0], "NaN")
        self.assertEqual(self.cell(rows, "conv_relu:input:0", "MaxAbsoluteError"), "0.000000")
        self.assertEqual(self.cell(rows, "conv_relu:output:0", "GroundTruth"), "conv,relu")
        self.assertEqual(self.cell(rows, "cast:output:0", "MaxAbsoluteError"), "0.000000")  # against relu
        self.assertEqual(self.cell(rows, "a/add:input:0", "MaxAbsoluteError"), "0.000000")
        self.assertEqual(self.cell(rows, "a/add:output:0", "MaxAbsoluteError"), "0.500000")
        self.assertIn('There is no dump file for my output operator "lost". The type is Mul.',
                      self.cell(rows, "lost", "CompareFailReason"))

    def test_formats(self):
        values = [float(i) for i in range(2 * 3 * 2 * 4)]  # NCHW
        index = lambda n, c, h, w: ((n * 3 + c) * 2 + h) * 4 + w
        stored = [values[index(n, c, h, w)] if c < 3 else -1.0 for n in range(2) for h in range(2) for w in range(4)
                  for c in range(16)]
        self.dump("mine", "Conv", "conv", [], [ge_dumps.tensor("f32", [2, 1, 2, 4, 16], stored, "NC1HWC0",
                                                               [2, 3, 2, 4])])
        nhwc = [values[index(n, c, h, w)] for n in range(2) for h in range(2) for w in range(4) for c in range(3)]
        self.array("src", nhwc, [2, 2, 4, 3])
        rows = self.table(0, "-fr", self.rule("r.json", rule_op("conv", "Conv", [], [origin("src", 0, "NHWC")],
                                                                ["src"])))
        self.assertEqual(self.cell(rows, "conv:output:0", "MaxAbsoluteError"), "0.000000")
        self.assertEqual(self.cell(rows, "conv:output:0", "Shape"), "[2,2,4,3]")

    def test_several_operators_of_one(self):
        one = [ge_dumps.tensor("f32", [2], [1, 2])]
        self.dump("mine", "Mul", "part_1", one, one)
        self.dump("mine", "Mul", "part_2", one, one)
        self.dump("mine", "L1", "early", one, one)
        self.dump("mine", "L1", "middle", one, one)
        self.dump("mine", "L1", "late", one, one)
        self.array("whole", [1, 2])
        flag, graph = {"datadump_is_multiop": {"b": True}}, {"L1_fusion_sub_graph_no": {"s": "7"}}
        rows = self.table(0, "-fr", self.rule(
            "r.json", rule_op("part_1", "Mul", [], [origin("")], ["whole"], **flag),
            rule_op("part_2", "Mul", [], [origin("whole")], ["whole"], **flag),
            rule_op("early", "L1", [], [origin("whole")], ["a"], **graph),
            rule_op("middle", "L1", [], [origin("whole")], ["b"], **graph),
            rule_op("late", "L1", [], [origin("whole")], ["c"], **graph)))
        self.assertEqual([row[7] for row in rows], ["part_2:input:0", "part_2:output:0", "early:input:0",
                                                    "early:output:0", "late:input:0", "late:output:0"])
        self.assertEqual({(row[0], row[2], row[5]) for row in rows},
                         {("0", "part_1,part_2", "whole"), ("1", "early,middle,late", "a,b,c")})

    def test_two_compiled_models(self):
        one, other = [ge_dumps.tensor("f32", [2], [1, 2])], [ge_dumps.tensor("f32", [2], [1, 3])]
        self.dump("mine", "Fused", "fused", one, one)
        self.dump("plain", "Mul", "mul_op", one, one)
        self.dump("plain", "Add", "add_op", one, other)
        fused = self.rule("f.json", rule_op("fused", "Fused", [], [origin("add")], ["mul", "add"]))
        plain = self.rule("p.json", rule_op("mul_op", "Mul", [], [origin("mul")], ["mul"]),
                          rule_op("add_op", "Add", ["mul_op:0"], [origin("add")], ["add"]))
        rows = self.table(0, "-fr", fused, "-cfr", plain, side="plain")
        self.assertEqual(self.cell(rows, "fused:output:0", "GroundTruth"), "mul_op,add_op")
        self.assertEqual(self.cell(rows, "fused:output:0", "MaxAbsoluteError"), "1.000000")
        self.assertEqual(self.head.count("Address"), 2)

    def test_quantised(self):
        one = [ge_dumps.tensor("f32", [2], [1, 2])]
        self.dump("mine", "Conv", "conv_dequant", one, one)
        self.array("conv", [1, 2.5])
        compiled = self.rule("f.json", rule_op("conv_dequant", "Conv", [], [origin("conv_q")], ["conv_q"]))
        quantised = self.rule("q.json", rule_op("conv_q", "Conv", [], [origin("conv")], ["conv"]))
        rows = self.table(0, "-fr", compiled, "-qfr", quantised)
        self.assertEqual([row[7] for row in rows], ["conv_dequant:output:0"])
        self.assertEqual(self.cell(rows, "conv_dequant:output:0", "MaxAbsoluteError"), "0.500000")

    def test_rules_that_do_not_suit(self):
        one = [ge_dumps.tensor("f32", [2], [1, 2])]
        self.dump("mine", "Mul", "mul", one, one)
        self.dump("plain", "Mul", "mul", one, one)
        self.array("mul", [1, 2])
        self.table(1)
        self.assertIn("need the fusion rule (-fr)", self.said)
        rule = self.rule("r.json", rule_op("mul", "Mul", [], [origin("mul")], ["mul"]))
        self.table(1, "-fr", rule, side="plain")
        self.assertIn("-fr and -cfr", self.said)
        harness.write_text(self.path("bad.json"), '{"graph": {}}')
        self.table(1, "-fr", self.path("bad.json"))
        self.assertIn('no list "graph"', self.said)
        harness.write_text(self.path("bad.json"), '{"graph": [')
        self.table(1, "-fr", self.path("bad.json"))
        self.assertIn("bad.json", self.said)
        self.table(1, "-fr", self.path("none.json"))
        self.assertIn("none.json", self.said)

    def test_bad_files_are_rows(self):
        good = [ge_dumps.tensor("f32", [2], [1, 2])]
        for name, data in (("cut", ge_dumps.ge_bytes(good, good)[:-3]), ("short", b"\x05"), ("empty", b""),
                           ("long", struct.pack("<Q", 1 << 40) + b"x"), ("text", ge_dumps.ge_bytes(
                               [], [ge_dumps.tensor("string", [1], data=b"x")]))):
            self.made += 1
            ge_dumps.write(self.path("mine", "Mul.%s.1.2.%d" % (name, TIME + self.made)), data)
            self.dump("gold", "Mul", name, good, good)
        self.dump("mine", "Mul", "fine", good, good)
        self.dump("gold", "Mul", "fine", good, good)
        harness.write_text(self.path("mine", "notes"), "")
        rows = self.table(0)
        reasons = {row[2]: row[-1] for row in rows}
        self.assertIn("ends early", reasons["cut"])
        self.assertIn("The number of input does not match (0 vs 1).", reasons["short"])
        self.assertIn("is empty", reasons["empty"])
        self.assertIn("a header of", reasons["long"])
        self.assertIn("does not match", reasons["text"])
        self.assertEqual(len([row for row in rows if row[2] == "fine"]), 2)
        self.assertIn('"notes"', self.said)


if __name__ == "__main__":
    harness.main()
