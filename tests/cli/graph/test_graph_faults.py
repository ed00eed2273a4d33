"""Every call of the system fails while dumps of graphs are read: faults.py says what is asked then."""
import csv
import io
import json
import unittest

import ge_dumps as ge
import harness
from faults import FAULT, Faults

TIME = 1743588000000000


def one(*values):
    return ge.tensor("f32", [len(values)], values)


@unittest.skipIf(FAULT == "", "the library to be preloaded is not built here")
class Graphs(Faults):
    reason = "Err_message"  # the column that says why a row is none

    def setUp(self):
        super().setUp()
        for root in ("ge", "off"):
            ge.write(self.path(root, "dynamo_original_graph_1_rank_0_pid_7_ts_20250402100000000000.txt"), ge.graph_text(
                [("Mul", "Mul", ["a:0", "b:0"], ["mul-aten.mul.OUTPUT.0"]),
                 ("Add", "Add", ["Mul:0", "c:0"], ["add-aten.add.OUTPUT.0"])]).encode())
        self.dump("ge", "Mul", "Mul", [one(1), one(2)], [one(2)])
        self.dump("ge", "AutomaticBufferFusionOp", "MulAdd", [one(1), one(2), one(3)], [one(5)])
        self.dump("off", "Mul", "Mul", [one(1), one(2)], [one(2)])
        self.dump("off", "Add", "Add", [one(2), one(3)], [one(5)])
        for node, way, values in (("mul-aten.mul", "INPUT", [1]), ("mul-aten.mul", "OUTPUT", [2]),
                                  ("add-aten.add", "OUTPUT", [5])):
            ge.write_npy(self.path("fx", "1", "gm_1_dump", "%s.%s.0.20240125031118787351.npy" % (node, way)), "f32", [1],
                         values)

    def dump(self, root, kind, name, inputs, outputs):
        return ge.write_ge(self.path(root, "20250402100001", "0", "graph_1", "1", "0",
                                     "%s.%s.1.2.%d" % (kind, name, TIME + len(name))), inputs, outputs)

    def said(self, expected, found):
        return "[ERROR]" in found.out

    def acceptable(self, name, content, expected, kind):
        """A file that cannot be read is a row with the reason."""
        found = list(csv.DictReader(io.StringIO(content.decode())))
        return kind in ("o", "m", "r") and any(row[self.reason] or "cannot be read" in row.get("Paired_by", "")
                                               for row in found)

    def fault_of(self, expected, found, mode, kind):
        """Of files that cannot be read the exit code may say nothing, as in the old tools; a row or a line does."""
        fault = super().fault_of(expected, found, mode, kind)
        told = kind in ("o", "m", "r") and (found.err + found.out).count("WARN") > (expected.err + expected.out).count("WARN")
        same = found.code == expected.code and found.files.keys() == expected.files.keys()
        if fault is not None and same and mode != "interrupt" and all(
                content == expected.files[name] or told or self.acceptable(name, content, expected.files[name], kind)
                for name, content in found.files.items()):
            return None
        return fault


class Friendly(Graphs):
    def test_csv(self):
        self.check("compare", self.path("ge"), self.path("fx"), "-o", "OUT", "--format", "csv", "-q", "--no-advice",
                   "--allow-unmatched", "-t", "1", modes=("once",))


class Words(Graphs):
    """The old words: exit code 1 when nothing could be done."""
    reason = "cmp_fail_reason"
    failure_codes = (1, 2)  # 2: the standard output cannot be written

    def test_msprobe(self):
        self.check("compare", "-m", "torchair", "-tp", self.path("ge"), "-gp", self.path("off"), "-o", "OUT",
                   modes=("once",))


class Offline(Graphs):
    reason = "CompareFailReason"
    failure_codes = (1, 2)  # 2: the standard output cannot be written

    def test_rule(self):
        ge.write_npy(self.path("gold", "mul.0.%d.npy" % TIME), "f32", [1], [2])
        names = {"key": "_datadump_original_op_names", "value": {"list": {"s": ["mul"]}}}
        rule = harness.write_text(self.path("rule.json"), json.dumps({"graph": [{"op": [
            {"name": "Mul", "type": "Mul", "input": ["a:0"], "output_desc": [{"attr": []}], "attr": [names]}]}]}))
        self.check("compare", "-m", "offline_data", "-tp", self.path("ge/20250402100001/0/graph_1/1/0"), "-gp",
                   self.path("gold"), "-fr", rule, "-o", "OUT", modes=("once",))


if __name__ == "__main__":
    harness.main()
