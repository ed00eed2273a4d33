"""Metrics of all ranks side by side: merge_result and `tdcmp merge`."""
import csv
import glob
import os
import shutil
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import harness
import xlsx
from golden_case import GoldenCase, load


def rounded(text):
    try:
        return "%.15g" % float(text)
    except ValueError:
        return text


class Merge(GoldenCase):

    def merge(self, *words, **settings):
        self.clear()
        return harness.run(*words, **settings)

    def sheets(self):
        return {sheet.name: sheet for sheet in xlsx.Workbook(self.written("multi_ranks_compare_merge_")).sheets}

    def compare_sheet(self, sheet, path):
        with open(path, encoding="utf-8", newline="") as file:
            wanted = list(csv.reader(file))
        self.assertEqual([[rounded(cell) for cell in row] for row in sheet.texts],
                         [[rounded(cell) for cell in row] for row in wanted])

    def test_answers_of_2025(self):
        for case in self.cases("merge"):
            name = os.path.basename(case)
            with self.subTest(case=name):
                wanted = load(os.path.join(case, "expected", "result.json"))
                run = self.merge("-f", "pytorch", "merge_result", "-i", "input_dir", "-o", self.out,
                                 "-config", "config.yaml", cwd=case)
                if name == "mixed_modes":
                    # msprobe loses every rank that was given to one process; here the good one stays
                    self.assertEqual(run.code, 0, run)
                    self.assertIn("Only one compare result gets merge data.", run.out)
                    continue
                self.assertEqual(run.code, wanted["exit_code"], run)
                log = harness.read_text(os.path.join(case, "expected", "log.txt")).splitlines()
                for line in log:
                    if "<timestamp>" not in line and "invalid compare indexes" not in line:
                        self.assertIn(line, run.out)
                if not wanted["output_file"]:
                    self.assertIsNone(self.written("multi_ranks_compare_merge_"))
                    continue
                sheets = self.sheets()
                self.assertEqual(list(sheets), wanted["sheets_in_order"])
                for title, sheet in sheets.items():
                    self.compare_sheet(sheet, os.path.join(case, "expected", "merge.%s.csv" % title.replace(" ", "_")))

    def test_answers_of_26(self):
        root = os.path.join(self.root, "compare2026", "merge")
        for wanted in load(os.path.join(root, "case.json"))["runs"]:
            with self.subTest(command=wanted["command"]):
                words = [self.out if word == "./output" else word for word in wanted["command"].split()[1:]]
                run = self.merge(*words, cwd=root)
                self.assertEqual(run.code, wanted["exit_code"], run)
                folder = os.path.join(root, wanted["dir"], "expected_multi_ranks_compare_merge")
                for title, sheet in self.sheets().items():
                    path = folder + "." + title + ".csv"
                    path = path if os.path.exists(path) else folder + ".csv"
                    self.compare_sheet(sheet, path)
                    with open(path[:-4] + "_types.csv", encoding="utf-8", newline="") as file:
                        types = list(csv.reader(file))
                    self.assertEqual(sheet.types, types)

    def test_tables_of_ours(self):
        """Results of the friendly form, with more columns, as workbooks and as csv, beside a foreign file."""
        npu = os.path.join(self.root, "diff_analyze", "during_comm", "npu", "step0")
        bench = os.path.join(self.root, "diff_analyze", "during_comm", "bench", "step0")
        config = harness.write_text(os.path.join(self.folder, "merge.yaml"), "api:\n- Distributed.all_reduce\n"
                                    "compare_index:\n- Max diff\n- NormRelativeErr\n")
        books = {}
        for kind in ("xlsx", "csv"):
            folder = os.path.join(self.folder, kind)
            harness.run("compare", npu, bench, "--format", kind, "-o", folder)
            for path in glob.glob(os.path.join(folder, "*_step0_*")):
                shutil.move(path, path.replace("_step0_", "_"))
            harness.write_text(os.path.join(folder, "notes.xlsx"), "not a workbook")
            run = self.merge("merge", folder, "--config", config, "-o", self.out)
            self.assertEqual(run.code, 0, run)
            self.assertIn("notes.xlsx: not the name of a rank's compare result", run.err)
            books[kind] = {name: sheet.texts for name, sheet in self.sheets().items()}
        self.assertEqual(list(books["xlsx"]), ["Max diff", "NormRelativeErr"])
        self.assertEqual(books["xlsx"]["Max diff"][0], ["NPU Name", "rank0", "rank1"])
        self.assertGreater(len(books["xlsx"]["Max diff"]), 3)
        self.assertEqual([[rounded(cell) for cell in row] for row in books["xlsx"]["Max diff"]],
                         [[rounded(cell) for cell in row] for row in books["csv"]["Max diff"]])

    def test_what_a_spreadsheet_would_run(self):
        root = os.path.join(self.root, "compare2026", "merge", "results_stats")
        folder = os.path.join(self.folder, "tables")
        os.mkdir(folder)
        for rank in (0, 1):
            header, rows = self.first_sheet(os.path.join(root, "compare_result_rank%d_20260101000000.xlsx" % rank))
            place = header.index("Max diff")
            for row in rows:
                if row[0].startswith("Distributed."):
                    row[place] = "=1+1"
            with open(os.path.join(folder, "compare_result_rank%d_20260101000000.csv" % rank), "w",
                      encoding="utf-8", newline="") as file:
                csv.writer(file).writerows([header] + rows)
        run = self.merge("merge_result", "-i", folder, "-o", self.out, "-config",
                         os.path.join(self.root, "compare2026", "merge", "all.yaml"))
        self.assertEqual(run.code, 1, run)
        self.assertIn("Malicious value [=1+1] is not allowed", run.out)

    def first_sheet(self, path):
        rows = xlsx.Workbook(path).sheets[0].texts
        return rows[0], rows[1:]


if __name__ == "__main__":
    unittest.main()
