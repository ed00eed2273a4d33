"""csv and sheet of the sound rules: columns of numbers hold numbers or nothing, in every mode, for pandas without options."""
import unittest

import dumps
import harness
import xlsx

try:
    import pandas
except ImportError:
    pandas = None

NAN, INF = float("nan"), float("inf")
TEXTS = {"Verdict", "NPU Name", "Bench Name", "Err_message", "NPU Dtype", "Bench Dtype", "NPU Tensor Shape",
         "Bench Tensor Shape", "NPU Requires_grad", "Bench Requires_grad", "Worst Abs At", "Worst Rel At", "NPU MD5",
         "BENCH MD5", "NPU Value", "Bench Value", "Requires_grad Consistent", "Accuracy Reached or Not", "Result",
         "NPU_Stack_Info", "Data_name"}
VERDICTS = {"identical", "rounding", "close", "different", "unmatched", "error", "no data", "not judged"}


class Numbers(harness.Case):
    def both(self, task, make):
        for side in ("npu", "bench"):
            dump = dumps.Dump(self.path(task, side), "tensor" if task == "tensor" else "statistics")
            make(dump, side == "npu")
            dump.write()
        return self.path(task, "npu"), self.path(task, "bench")

    def tensors(self, dump, npu):
        dump.call("one", "output", [1.0])
        dump.call("zero", "output", [0.0, 0.0] if npu else [1.0, 2.0])
        dump.call("nan", "output", [NAN, 1.0] if npu else [1.0, 1.0])
        dump.call("inf", "output", [1.0, 2.0], stats=(INF, -INF, NAN, None))
        dump.call("complex", "output", [1 + 2j, 3.0], dtype="c64")
        dump.call("big", "output", [2**60 + npu], dtype="i64")
        dump.call("shape", "output", [1.0, 2.0], [1, 2] if npu else [2, 1])
        dump.call("mine" if npu else "yours", "output", [1.0])
        dump.call("broken", "output", b"nothing" if npu else [1.0], [1])
        dump.entry("Functional.arguments.0.forward", input_args=[
            {"type": "int", "value": 3}, {"type": "bool", "value": npu}, {"type": "str", "value": "text"},
            {"type": "float", "value": NAN}, {"type": "slice", "value": [None, 1, None]}])

    def statistics(self, dump, npu):
        for name, stats in (("a", (1.0 + npu, 0.0, 0.5, 2.0)), ("b", (NAN, INF, -INF, 1.0)), ("c", (None,) * 4),
                            ("d", (1.0, 0.0, None, None) if npu else (1.0, 0.0, 0.5, 0.5))):
            dump.entry("Functional.%s.0.forward" % name, input_args=[dumps.item("f32", [2], stats=stats)])
        dump.entry("Functional.mine%d.0.forward" % npu, input_args=[dumps.item("f32", [2])])

    def digests(self, dump, npu):
        for name, md5 in (("a", "12345678"), ("b", "0badc0de" if npu else "1e5")):
            dump.entry("Functional.%s.0.forward" % name, input_args=[dumps.item("f32", [2], md5=md5)])

    def results(self):
        for task, make, code in (("tensor", self.tensors, 2), ("statistics", self.statistics, 1), ("md5", self.digests, 1)):
            out = self.path("out_" + task)
            self.run_code(code, "compare", *self.both(task, make), "-o", out, "-F", "csv,xlsx")
            yield task, harness.only_file(out, "csv"), harness.only_file(out, "xlsx")

    def test_cells(self):
        for task, table, book in self.results():
            with self.subTest(task=task):
                rows, sheet = harness.read_csv(table), xlsx.Workbook(book).sheet("Rows")
                self.assertEqual(list(rows[0])[:2], ["Verdict", "Severity"])
                for row in rows:
                    self.assertIn(row["Verdict"], VERDICTS)
                    self.assertIn(row["Severity"], ("0", "1", "2", "3"))
                    for column in set(row) - TEXTS:
                        if column.split()[-1] not in ("max", "min", "mean", "l2norm"):  # as they were recorded
                            self.assertNotEqual(row[column], "nan")
                        if row[column] != "":
                            float(row[column])
                self.assertIn("different", {row["Verdict"] for row in rows})
                for types in sheet.types[1:]:
                    for column, kind in zip(sheet.texts[0], types):
                        self.assertIn(kind, "sb-" if column in TEXTS else "n-", column)

    @unittest.skipIf(pandas is None, "pandas is not installed")
    def test_pandas(self):
        for task, table, book in self.results():
            frames = [pandas.read_csv(table)]
            try:
                frames.append(pandas.read_excel(book, sheet_name="Rows"))
            except ImportError:
                print("openpyxl is not installed: the sheet is not read with pandas")
            for frame in frames:
                for column in set(frame.columns) - TEXTS:
                    self.assertTrue(pandas.api.types.is_numeric_dtype(frame[column]), (task, column))
                self.assertTrue((frame[frame.Verdict == "different"].Severity >= 2).all())

    def test_other_sheets(self):
        _, _, book = next(self.results())
        read = xlsx.Workbook(book)
        self.assertEqual([sheet.name for sheet in read.sheets], ["Summary", "Rows"])
        summary = {row[0]: row[1] for row in read.sheet("Summary").texts if row}
        self.assertEqual(summary["test"], self.path("tensor", "npu", "dump.json"))
        rows = read.sheet("Rows").texts[1:]
        for verdict in VERDICTS:
            self.assertEqual(int(summary[verdict]), sum(row[0] == verdict for row in rows), verdict)

    def test_stacks_once(self):
        npu, bench = self.both("tensor", lambda dump, npu: dump.call("f", "input", [1.0]) and
                               dump.call("f", "output", [1.0]))
        harness.write_text(self.path("tensor", "npu", "stack.json"), '{"Functional.f.0.forward": ["File a.py, line 1"]}')
        self.run_code(0, "compare", npu, bench, "-o", self.path("out"))
        stacks = xlsx.Workbook(harness.only_file(self.path("out"), "xlsx")).sheet("Stacks").texts
        self.assertEqual(stacks, [["Call", "Stack"], ["Functional.f.0.forward", "['File a.py, line 1']"]])


if __name__ == "__main__":
    harness.main()
