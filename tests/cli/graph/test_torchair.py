"""TorchAir's dumps in the words of msit and of msprobe 26: the tables of the real tools, cell by cell.

Sums are float64 here and float32 there, so means and distances agree to the digits that float32 has.
"""
import ast
import csv
import json
import os
import tarfile
import tempfile

import harness

ARCHIVE = os.environ["TDC_TORCHAIR_GOLDEN"]
EXACT = ("max_value", "min_value", "max_relative_error", "max_absolute_error")
NEAR = ("mean_relative_error", "mean_absolute_error", "relative_euclidean_distance")


def agrees(column, expected, got, row):
    if expected == got or column == "data_id":
        return True
    try:
        a, b = float(expected), float(got)
    except ValueError:
        return False
    if column.endswith(EXACT):
        return a == b
    if column in NEAR:
        return abs(a - b) <= 1e-5 * abs(a)
    if column.endswith("mean_value"):
        side = column[:-len("mean_value")]
        return abs(a - b) <= 1e-6 * max(1, abs(float(row[side + "max_value"])), abs(float(row[side + "min_value"])))
    if column == "cosine_similarity":
        return abs(a - b) <= 2e-10
    return column == "kl_divergence" and abs(a - b) <= max(5e-6, 1e-4 * abs(a))


class Golden(harness.Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        folder = tempfile.TemporaryDirectory(prefix="tdcmp-test-")
        cls.addClassCleanup(folder.cleanup)
        cls.cases = folder.name
        with tarfile.open(ARCHIVE) as archive:
            archive.extractall(cls.cases)
        cls.cases = os.path.realpath(os.path.join(cls.cases, "torchair"))

    def compare(self, tool, case, mine, golden, *more):
        """The tables in the order of their names, and all that was said."""
        folder, out = os.path.join(self.cases, case), self.path("out_" + tool)
        words = {"msit": ("llm", "compare", "--my-path", os.path.join(folder, mine), "--golden-path",
                          os.path.join(folder, golden), "--output", out),
                 "msprobe": ("compare", "-m", "torchair", "-tp", os.path.join(folder, mine), "-gp",
                             os.path.join(folder, golden), "-o", out)}[tool]
        result = self.run_code(0, *words, *more)
        tables = []
        for name in harness.files_below(out):
            self.assertRegex(name, r"^%s_cmp_report_(rank\d+_)?(graph\d+_)?\d{14}\.csv$" % tool)
            with open(os.path.join(out, name), newline="") as file:
                tables.append(list(csv.DictReader(file)))
            os.remove(os.path.join(out, name))
        return tables, result.out + result.err

    def check_table(self, case, expected, table, skipped=()):
        with open(os.path.join(self.cases, case, "expected", expected), newline="") as file:
            wanted = list(csv.DictReader(file))
        self.assertEqual(list(table[0]), list(wanted[0]))
        self.assertEqual([row["my_data_path"].split("/")[-1] for row in table],
                         [row["my_data_path"].split("/")[-1] for row in wanted])
        for want, row in zip(wanted, table):
            for column, value in want.items():
                got = row[column].replace(os.path.join(self.cases, case) + "/", "")
                self.assertTrue(column in skipped or agrees(column, value, got, want),
                                f"{case}: {column} of {want['my_data_path']}: {got!r}, expected {value!r}")
        ids = sorted(int(row["data_id"]) for row in table)
        self.assertEqual(ids, list(range(ids[0], ids[0] + len(table))))

    def check_log(self, case, said):
        """Each line of the old tool is said, whatever stands in front of it."""
        with open(os.path.join(self.cases, case, "expected", "log.msit.txt")) as file:
            for line in file.read().splitlines():
                text = line.split(" - ", 2)[2]
                if not text.startswith(("Saved comparing", "[compare_torchair]", "invalid file name")):
                    self.assertIn(text, said)

    def both(self, case, mine, golden, expected, skipped=()):
        for tool in ("msit", "msprobe"):
            tables, said = self.compare(tool, case, mine, golden)
            self.assertEqual(len(tables), len(expected))
            for table, name in zip(tables, expected):
                self.check_table(case, name.replace("TOOL", tool), table, skipped)
            self.check_log(case, said)

    def test_fx_old_layout(self):
        self.both("fx_old_layout", "ge", "fx/data_dump", ["cmp_report.numeric_order.csv"])

    def test_fx_ranks(self):
        names = ["cmp_report_rank0.numeric_order.csv", "cmp_report_rank1.numeric_order.csv"]
        self.both("fx_new_layout_2ranks", "ge", "fx", names)
        for tool in ("msit", "msprobe"):
            tables, _ = self.compare(tool, "fx_new_layout_2ranks", "ge", "fx", "--rank", "1")
            self.assertEqual(len(tables), 1)
            self.check_table("fx_new_layout_2ranks", names[1], tables[0])

    def test_two_graphs(self):
        """The old tools give both tables one name."""
        self.both("fx_two_graphs", "ge", "fx/data_dump",
                  ["cmp_report_0.numeric_order.csv", "cmp_report_1.numeric_order.csv"])

    def test_ge_against_ge(self):
        self.both("ge_vs_ge", "ge_fused", "ge_fusion_off", ["cmp_report.csv"], ("golden_data_path",))
        tables, _ = self.compare("msit", "ge_vs_ge", "ge_fused", "ge_fusion_off")
        for row in tables[0]:
            self.assertRegex(row["golden_data_path"], r"ge_fusion_off/.*,(in|out)puts,\d+$")

    def test_dtypes(self):
        """Of two int8 rows in a row msit forgets to drop the second: it is dropped here."""
        for tool in ("msit", "msprobe"):
            tables, _ = self.compare(tool, "dtypes", "ge", "fx/data_dump")
            self.check_table("dtypes", "cmp_report.msprobe.csv", tables[0], ("my_dtype",) if tool == "msit" else ())
            dtypes = {row["my_dtype"] for row in tables[0] if "Identity.U" in row["my_data_path"] and "Undef" not in
                      row["my_data_path"]}
            self.assertEqual(dtypes, {"torch.float64"} if tool == "msit" else {"torch.int32", "torch.int64"})

    def test_empty_tensors(self):
        """Where msit ends with an exception, both give the row of msprobe."""
        for tool in ("msit", "msprobe"):
            tables, said = self.compare(tool, "empty_tensors", "ge", "fx/data_dump")
            self.check_table("empty_tensors", "cmp_report.msprobe.csv", tables[0])
            self.assertIn("no tensor in 8 bytes", said)

    def test_single_files(self):
        folder = os.path.join(self.cases, "file_vs_file")
        with open(os.path.join(folder, "expected.json")) as file:
            cases = json.load(file)
        for name, case in cases.items():
            mine, golden = os.path.join(folder, case["my"]), os.path.join(folder, case["golden"])
            result = self.run_code(0, "llm", "compare", "--golden-path", golden, "--my-path", mine, cwd=self.path())
            head, text = result.out.strip().split("Compared results: ")
            self.assertRegex(head, r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} - \d+ - msit_llm_logger - INFO - $")
            got = ast.literal_eval(text.replace(": inf", ": 1e999"))
            self.assertEqual(list(got), list(case["result"]), name)
            for column, value in case["result"].items():
                self.assertTrue(agrees(column, str(value), str(got[column]), {}), (name, column, value, got[column]))
            self.assertEqual(harness.files_below(self.path()), [])


if __name__ == "__main__":
    harness.main()
