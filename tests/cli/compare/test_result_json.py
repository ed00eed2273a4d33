"""JSON of the sound rules: what docs/schema says, to the member, whatever the dumps hold."""
import json
import os
import re
import unittest

import dumps
import harness
import schema

NAN, INF = float("nan"), float("inf")
SOURCE = os.environ.get("TDC_SOURCE", "")


class ResultJson(harness.Case):
    def results(self, code, npu, bench, *options):
        """The object of the json, checked against its schema, and the lines of the jsonl against it."""
        out = self.path("out%d" % len(os.listdir(self.folder)))
        self.run_code(code, "compare", npu, bench, "-o", out, "-F", "json,jsonl", *options)
        whole = harness.read_json(harness.only_file(out, "json"))
        self.assertEqual(schema.errors(whole), [])
        text = harness.read_text(harness.only_file(out, "jsonl"))
        self.assertTrue(text.endswith("\n"))
        head, *rows = [json.loads(line) for line in text[:-1].split("\n")]
        self.assertEqual(head, {name: value for name, value in whole.items() if name != "rows"})
        self.assertEqual(rows, whole["rows"])
        return whole

    def both(self, make):
        for side in ("npu", "bench"):
            dump = dumps.Dump(self.path(side))
            make(dump, side == "npu")
            dump.write()
        return self.path("npu"), self.path("bench")

    def test_tensors(self):
        def make(dump, npu):
            dump.call("same", "input", [1.0, 2.0])
            dump.call("same", "output", [1.0, 2.5 if npu else 2.0, 3.0, 4.0], [2, 2], requires_grad=npu)
            dump.call("apart", "output", [NAN if npu else 1.0, -INF, 3.0])
            dump.call("complex", "output", [1 + 2j, 3 + 1j if npu else 3 - 1j], dtype="c64")
            dump.call("big", "output", [2**60 + npu], dtype="i64")
            dump.call("mine" if npu else "yours", "output", [1.0])
            dump.call("broken", "output", b"nothing" if npu else [1.0], [1])
            dump.entry("Functional.arguments.0.forward", input_args=[
                {"type": "int", "value": 3}, {"type": "bool", "value": npu}, {"type": "str", "value": "=\"\\\n\0"},
                {"type": "float", "value": 0.5}], input_kwargs={"scale": {"type": "float", "value": 2.0}})
            dump.entry("Functional.none.0.forward", input_args=[dumps.item("f32", [2], stats=(NAN, INF, None, 1.0))])
            dump.entry("Module.layer.Linear.parameters_grad", weight=[dumps.item("f32", [3])])

        npu, bench = self.both(make)
        whole = self.results(2, npu, bench)
        rows = {row["name"]: row for row in whole["rows"]}
        self.assertEqual((whole["mode"], whole["answer"], whole["rules"]), ("tensor", "different", "sound"))
        self.assertEqual(whole["command"][:4], ["tdcmp", "compare", npu, bench])
        self.assertEqual(whole["test"]["dump"], os.path.join(npu, "dump.json"))
        self.assertEqual((whole["test"]["framework"], whole["test"]["task"], whole["test"]["level"]),
                         ("pytorch", "tensor", "L1"))
        self.assertEqual(whole["counts"]["rows"], len(rows))

        row = rows["Functional.same.0.forward.output.0"]
        self.assertEqual((row["direction"], row["role"], row["tensor"], row["verdict"], row["severity"], row["origin"]),
                         ("forward", "output", True, "different", 3, "operator"))
        self.assertEqual(row["reasons"], ["requires_grad_differs", "distance_above_limit"])
        self.assertEqual(row["test"]["shape"], [2, 2])
        self.assertEqual((row["test"]["requires_grad"], row["ref"]["requires_grad"]), (True, False))
        self.assertEqual(row["worst_abs"], {"index": [0, 1], "test": 2.5, "ref": 2})
        self.assertIsNone(row["first_apart"])
        # the tensor can be found again
        self.assertTrue(os.path.isfile(os.path.join(whole["folder"], whole["ref"]["data"], row["ref"]["file"])))

        row = rows["Functional.apart.0.forward.output.0"]
        self.assertEqual(row["reasons"], ["not_finite_on_one_side"])
        self.assertEqual(row["first_apart"], {"index": [0], "test": None, "ref": 1, "not_finite": {"test": "NaN"}})
        self.assertEqual((row["metrics"]["test_nan"], row["metrics"]["test_inf"], row["metrics"]["ref_inf"]), (1, 1, 1))
        self.assertIsNone(row["metrics"]["relative_distance"])
        self.assertEqual(row["metrics"]["not_finite"]["relative_distance"], "Infinity")

        self.assertEqual(rows["Functional.complex.0.forward.output.0"]["worst_abs"],
                         {"index": [1], "test": [3, 1], "ref": [3, -1]})
        self.assertEqual(rows["Functional.big.0.forward.output.0"]["worst_abs"]["test"], 2**60 + 1)
        self.assertEqual(rows["Functional.big.0.forward.output.0"]["reasons"], ["values_differ"])
        self.assertEqual((rows["Functional.mine.0.forward.output.0"]["ref"],
                          rows["Functional.mine.0.forward.output.0"]["reasons"]), (None, ["no_ref_record"]))
        self.assertEqual(rows["Functional.yours.0.forward.output.0"]["reasons"], ["no_test_record"])
        self.assertEqual((rows["Functional.broken.0.forward.output.0"]["verdict"],
                          rows["Functional.broken.0.forward.output.0"]["reasons"]), ("error", ["unreadable_file"]))
        row = rows["Functional.arguments.0.forward.input.1"]
        self.assertEqual((row["tensor"], row["test"]["value"], row["ref"]["value"], row["test"]["shape"]),
                         (False, True, False, None))
        self.assertEqual(rows["Functional.arguments.0.forward.input.2"]["test"]["value"], "=\"\\\n\0")
        row = rows["Functional.none.0.forward.input.0"]
        self.assertEqual((row["verdict"], row["reasons"]), ("no data", ["no_test_file", "no_ref_file"]))
        self.assertEqual(row["test"]["not_finite"], {"max": "NaN", "min": "Infinity"})
        self.assertEqual((row["test"]["mean"], row["test"]["norm"]), (None, 1))
        row = rows["Module.layer.Linear.parameters_grad.weight"]
        self.assertEqual((row["direction"], row["role"]), ("backward", "parameter_grad"))

    def test_statistics_and_checksums(self):
        whole = self.results(1, dumps.statistics_dump(self.path("a"), {"x": (1.25, NAN, 0.5, 2.0)}),
                             dumps.statistics_dump(self.path("b"), {"x": (1.0, NAN, 0.5, 2.0)}))
        self.assertEqual((whole["mode"], whole["rows"][0]["metrics"]["max_relative"]), ("statistics", 0.25))
        self.assertNotIn("worst_abs", whole["rows"][0])
        for side, digest in (("c", "0badc0de"), ("d", "12345678")):
            dump = dumps.Dump(self.path(side), "statistics")
            dump.entry("Functional.a.0.forward", input_args=[dumps.item("f32", [2], md5=digest)])
            dump.write()
        whole = self.results(1, self.path("c"), self.path("d"))
        self.assertEqual((whole["mode"], whole["rows"][0]["reasons"], whole["rows"][0]["test"]["md5"]),
                         ("md5", ["bits_differ", "run_input_not_identical"], "0badc0de"))

    def test_nothing_but_a_partner_missing(self):
        def make(dump, npu):
            dump.call("a", "output", [1.0])
            if npu:
                dump.call("b", "output", [1.0])

        sides = self.both(make)
        self.assertEqual(self.results(1, *sides)["answer"], "unmatched")
        self.assertEqual(self.results(0, *sides, "--allow-unmatched")["answer"], "identical")

    def test_lines_of_other_rules(self):
        """msprobe's tables have no head: the objects of the list, one a line."""
        sides = self.both(lambda dump, npu: dump.call("a", "output", [1.0, 2.0]))
        out = self.path("lines")
        self.run_code(0, "compare", *sides, "-o", out, "-F", "json,jsonl", "--rules", "msprobe")
        lines = harness.read_text(harness.only_file(out, "jsonl")).splitlines()
        self.assertEqual([json.loads(line) for line in lines], harness.read_json(harness.only_file(out, "json")))

    @unittest.skipUnless(SOURCE, "the source is not at hand")
    def test_codes_are_those_of_the_schema(self):
        """A new reason asks for its code in the schema; one that goes, for another number of it."""
        source = harness.read_text(os.path.join(SOURCE, "host", "judge", "reason.c"))
        codes = re.findall(r'\[TDC_REASON_\w+\] =\s*\{\s*"(\w+)"', source)
        self.assertEqual(codes, schema.of("tdcmp.compare/1")["$defs"]["reason"]["enum"])


class Validator(unittest.TestCase):
    """The validator of these tests refuses what it should."""

    def test_refusals(self):
        whole = {"type": "object", "properties": {"a": {"type": ["integer", "null"], "minimum": 0},
                                                  "b": {"type": "array", "items": {"enum": ["x", 1]}},
                                                  "c": {"$ref": "#/$defs/text"}},
                 "required": ["a"], "additionalProperties": False, "$defs": {"text": {"pattern": "^t"}}}
        for value in ({"a": 1}, {"a": None, "b": ["x", 1]}, {"a": 0, "c": "text"}):
            self.assertEqual(schema.errors(value, whole), [])
        for value in ({}, {"a": True}, {"a": 1.5}, {"a": -1}, {"a": 1, "b": [True]}, {"a": 1, "c": "other"},
                      {"a": 1, "d": 0}, []):
            self.assertEqual(len(schema.errors(value, whole)), 1, value)
        with self.assertRaises(ValueError):
            schema.errors(1, {"maximum": 3})


if __name__ == "__main__":
    harness.main()
