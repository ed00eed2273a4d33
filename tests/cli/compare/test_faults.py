"""Every call of the system fails under the programs' main works; faults.py says what is asked then."""
import json
import os
import unittest

import dumps
import harness
import precheck_case
from faults import FAULT, Faults, table_rows


def tensor_dump(folder, last):
    """Both file formats, a scalar, a call stack, and a file that is not there."""
    dump = dumps.Dump(folder)
    for number in range(3):
        dump.call("f%d" % number, "output", [1.0, 2.0, last])
    name = os.path.basename(dump.file("y.npy", dumps.npy_bytes("<f4", [3], dumps.pack("f32", [1.0, 2.0, last]))))
    dump.entry("Functional.g.0.forward", input_args=[dumps.item("f32", [3], name)])
    path = dump.write()
    harness.write_text(os.path.join(folder, "stack.json"), json.dumps(
        {"Functional.f0.0.forward": ["File a.py, line 1, in f, \n x = f(y)"],
         "Functional.g.0.forward": ["File a.py, line 2, in g, \n x = g(y)"]}))
    return path


@unittest.skipIf(FAULT == "", "the library to be preloaded is not built here")
class Compare(Faults):
    def setUp(self):
        super().setUp()
        self.sides = tensor_dump(self.path("npu"), 3.0), tensor_dump(self.path("bench"), -400.0)

    def acceptable(self, name, content, expected, kind):
        """A tensor that cannot be read is one row with an error."""
        if kind not in ("o", "m", "r"):
            return False
        if name.startswith("advisor"):
            return content.startswith(b"Line: ")
        rows = []
        for data in (content, expected):
            rows.append(table_rows(harness.write_bytes(self.path("read_" + name), data)))
        if len(rows[0]) != len(rows[1]):
            return False
        for found, wanted in zip(*rows):
            was, now = dict(wanted), dict(found)
            if found != wanted and (was["NPU Name"] != now["NPU Name"] or was["Err_message"] == now["Err_message"]):
                return False
        return True

    def test_csv(self):
        self.check("compare", *self.sides, "-o", "OUT", "--format", "csv", "-t", "2")

    def test_json(self):
        self.check("compare", *self.sides, "-o", "OUT", "--format", "json", "-t", "1", modes=("once", "ever"))

    def test_xlsx(self):
        self.check("compare", *self.sides, "-o", "OUT", "--format", "xlsx", "-t", "2")

    def test_page(self):
        self.check("compare", *self.sides, "-o", "OUT", "--format", "html", "--no-advice", "-t", "1",
                   modes=("once", "ever"))

    def test_compat(self):
        self.check("compare", *self.sides, "-o", "OUT", "--format", "xlsx", "-t", "1", "--rules", "compat",
                   modes=("once",))


@unittest.skipIf(FAULT == "", "the library to be preloaded is not built here")
class Match(Faults):
    def setUp(self):
        super().setUp()
        self.sides = tensor_dump(self.path("npu"), 3.0), tensor_dump(self.path("bench"), -400.0)

    def test_match(self):
        self.check("match", *self.sides)


@unittest.skipIf(FAULT == "", "the library to be preloaded is not built here")
class Visual(Faults):
    def test_graph(self):
        """The graph database: SQLite's calls fail as well."""
        sides = []
        for side, value in (("npu", 1.0), ("bench", 2.0)):
            dump = dumps.Dump(self.path(side), task="statistics")
            for name in ("Torch.f.0.forward", "Torch.g.0.forward", "Module.m.M.forward.0"):
                dump.entry(name, output=[dumps.item("f32", [2], stats=(value, -1.0, 0.0, 2.0))])
            sides.append(dump.write())
            for name, content in (("construct", {name: None for name in dump.data}), ("stack", {})):
                harness.write_text(self.path(side, name + ".json"), json.dumps(content))
        self.check("compare", *sides, "-o", "OUT", "--format", "vis", "-q", "-t", "1", modes=("once",))


@unittest.skipIf(FAULT == "", "the library to be preloaded is not built here")
class Precheck(Faults):
    def acceptable(self, name, content, expected, kind):
        """The csv files are a journal: whole calls from the beginning. A tensor that cannot be read is told in the
        row of its call."""
        if name.endswith(".csv") and content.endswith(b"\r\n") and expected.startswith(content):
            return True
        if kind not in ("o", "m", "r"):
            return False
        rows = [data.decode().split("\r\n") for data in (content, expected)]
        return "result" not in name or (len(rows[0]) == len(rows[1]) and all(
            found == wanted or "SKIP" in found for found, wanted in zip(*rows)))

    def small(self, source, calls):
        """The first calls of a golden dump."""
        folder = self.path("dump")
        os.mkdir(folder)
        dump = json.loads(harness.read_text(precheck_case.golden(source, "dump.json")))
        dump["data"] = dict(list(dump["data"].items())[:calls])
        if dump.get("dump_data_dir"):
            dump["dump_data_dir"] = precheck_case.golden(source, "dump_tensor_data")
        return harness.write_text(os.path.join(folder, "dump.json"), json.dumps(dump))

    def test_recorded(self):
        self.check("precheck", self.small("ms_edge", 6), "-o", "OUT", "-t", "2")


if __name__ == "__main__":
    harness.main()
