"""The tables of msprobe 26, cell by cell: files, texts, types, exit codes and error lines."""
import csv
import json
import os
import re
import shutil
import tarfile
import tempfile
import unittest

import harness
import xlsx

ARCHIVE = os.path.join(os.path.dirname(harness.GOLDEN), "compare2026.tar.xz")
# Runs that must be there: an archive that lost its cases must not pass.
LEAST_RUNS = 80
LEAST_REFUSALS = 20


def load_runs(root):
    """(case, run) of every run whose answer is no defect of the real tool."""
    for case in sorted(os.listdir(root)):
        with open(os.path.join(root, case, "case.json"), encoding="utf-8") as file:
            for run in json.load(file)["runs"]:
                if "defect" not in run:
                    yield case, run


def rows_of(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def number(text):
    try:
        value = float(text)
    except ValueError:
        return None
    # " inf" and "inf" are different texts
    return value if abs(value) < float("inf") else None


def same_cell(column, expected, text):
    """The same text, or the same number where the order of a sum may show."""
    if expected == text:
        return True
    x, y = number(expected), number(text)
    if x is None or y is None:
        return False
    if column == "EucDist":
        return abs(x - y) <= 1e-9 * max(abs(x), abs(y))
    if column == "Cosine":
        return abs(x - y) <= 2e-12
    return False


def files_below(folder):
    """All files, named from the folder."""
    return sorted(os.path.relpath(os.path.join(place, name), folder)
                  for place, _, names in os.walk(folder) for name in names)


class Golden26(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.root = tempfile.mkdtemp(prefix="tdcmp-golden26-")
        cls.addClassCleanup(shutil.rmtree, cls.root)
        with tarfile.open(ARCHIVE) as archive:
            archive.extractall(cls.root)
        cls.runs = list(load_runs(cls.root))

    def each_run(self, refused):
        """(case, run, result, folder of the output) of the runs that are refused, or of the others."""
        for case, run in self.runs:
            if (run["exit_code"] != 0) != refused:
                continue
            with self.subTest(case=case, run=run["dir"]), tempfile.TemporaryDirectory(dir=self.root) as parent:
                out = os.path.join(parent, "output")
                words = [out if word == "./output" else word for word in run["command"].split()[1:]]
                yield case, run, harness.run(*words, cwd=os.path.join(self.root, case)), out

    def test_tables(self):
        count = 0
        for case, run, result, out in self.each_run(False):
            count += 1
            self.assertEqual(result.code, 0, str(result))
            for line in run.get("log", ()):
                self.assertIn(line, result.out)
            self.check_files(run, out)
            for output in run["outputs"]:
                base = os.path.join(self.root, case, run["dir"])
                if "table" in output:
                    self.check_table(base, out, output)
                else:
                    self.assertEqual(harness.read_text(self.produced(out, output)),
                                     harness.read_text(os.path.join(base, output["text"])))
        self.assertGreaterEqual(count + LEAST_REFUSALS, LEAST_RUNS)

    def test_refusals(self):
        count = 0
        for _, run, result, out in self.each_run(True):
            count += 1
            if "-f" in run["command"].split():  # the form of 2025, which this program takes as well
                self.assertNotEqual(result.code, 0, str(result))
                continue
            self.assertEqual(result.code, run["exit_code"], str(result))
            for line in run["error_log"]:
                self.assertIn("[ERROR] " + line, result.out)
            self.assertEqual(files_below(out), [])
        self.assertGreaterEqual(count, LEAST_REFUSALS)

    def produced(self, out, output):
        pattern = re.escape(output["file"]).replace(r"\{timestamp\}", r"\d{14}")
        found = [name for name in files_below(out) if re.fullmatch(pattern, name)]
        self.assertEqual(len(found), 1, "%s in %s" % (output["file"], files_below(out)))
        return os.path.join(out, found[0])

    def check_files(self, run, out):
        expected = sorted(output["file"].replace("{timestamp}", "STAMP") for output in run["outputs"])
        found = files_below(out)
        self.assertEqual(sorted(re.sub(r"\d{14}", "STAMP", name) for name in found), expected)

    def check_table(self, base, out, output):
        path = self.produced(out, output)
        expected = rows_of(os.path.join(base, output["table"]))
        types = None
        if path.endswith(".xlsx"):
            sheets = xlsx.Workbook(path).sheets
            self.assertEqual([sheet.name for sheet in sheets], [output["sheet"]])
            rows, types = sheets[0].texts, sheets[0].types
        else:
            rows = rows_of(path)
        self.assertEqual(len(rows), len(expected))
        self.assertEqual(rows[0], expected[0])
        wrong = []
        for line, want in zip(rows[1:], expected[1:]):
            self.assertEqual(len(line), len(want))
            wrong += [(want[0], column, "is", text, "expected", right)
                      for column, right, text in zip(expected[0], want, line) if not same_cell(column, right, text)]
        self.assertEqual(wrong[:5], [], "%d cells differ" % len(wrong))
        right_types = os.path.join(base, output["table"].replace(".csv", "_types.csv"))
        if types is not None and os.path.exists(right_types):
            wrong = [(texts[0], column) for texts, line, want in zip(expected[1:], types[1:], rows_of(right_types)[1:])
                     for column, text, kind, right in zip(expected[0], texts, line, want) if text and kind != right]
            self.assertEqual(wrong[:5], [], "%d types differ" % len(wrong))


class Forms(harness.Case):
    """Which form of compare the words ask for."""

    def setUp(self):
        super().setUp()
        with tarfile.open(ARCHIVE) as archive:
            archive.extractall(self.path("cases"))
        self.case = self.path("cases", "errors")

    def run_in(self, code, *words):
        result = harness.run(*words, cwd=self.case)
        self.assertEqual(result.code, code, str(result))
        return result

    def test_version(self):
        self.assertEqual(self.run_in(0, "-V").out, self.run_in(0, "--version").out)

    def test_abbreviations_are_of_2026_and_refused(self):
        for words in (("--tar", "ok/dump.json", "--gold", "ok/dump.json"), ("-tp=ok/dump.json", "-gp", "ok/dump.json")):
            result = self.run_in(1, "compare", *words)
            self.assertIn("Invalid argument '%s' for mode 'auto'" % words[0], result.out)

    def test_friendly_form_with_the_rules_of_2026(self):
        out = self.path("friendly")
        self.run_in(0, "compare", "ok/dump.json", "ok/dump.json", "--rules", "compat26", "--format", "csv", "-o", out)
        self.assertIn("Result,Err_message", harness.read_text(harness.only_file(out, "csv")).splitlines()[0])

    def test_friendly_form_takes_roots_of_steps(self):
        self.run_in(1, "compare", "-tp", "roots", "-gp", "roots", "-o", self.path("strict"))
        self.run_in(0, "compare", "roots", "roots", "--rules", "compat26", "-o", self.path("roots"))

    def test_bare_name_of_a_dump(self):
        result = harness.run("compare", "-tp", "dump.json", "-gp", "dump.json", "-o", self.path("bare"),
                             cwd=os.path.join(self.case, "ok"))
        self.assertEqual(result.code, 0, str(result))
        self.assertEqual(len(files_below(self.path("bare"))), 1)


if __name__ == "__main__":
    harness.main()
