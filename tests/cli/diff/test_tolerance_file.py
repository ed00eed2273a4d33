"""Rules of the user: golden tables, what decides which row, counts, mistakes of the file; and golden tables of diff."""
import csv
import os
import shlex
import shutil
import tarfile
import unittest

import dumps
import harness
from tensor_files import Tensor, npz

ARCHIVE = os.path.join(os.path.dirname(harness.GOLDEN), "align_checkpoints.tar.xz")

COLUMNS = {"shape": "NPU Tensor Shape", "elements": "Elements", "cosine": "Cosine", "max_abs_err": "MaxAbsErr",
           "max_rel_err": "MaxRelativeErr", "worst_abs_at": "Worst Abs At", "worst_rel_at": "Worst Rel At", "rmse": "RMSE"}
# which of today's verdicts an old one may be; the levels themselves are tested elsewhere
RESULTS = {"No": {"different"}, "Unmatched": {"unmatched"}, "Ignored": {"ignored"}, "Allowed": {"allowed"}}
WITHIN = {"identical", "rounding", "close", "same"}


def same(column, got, want):
    if got == want or (got == "" and want in ("Nan", "unsupported")):  # numbers or nothing
        return True
    try:
        x, y = float(got), float(want)
    except ValueError:
        return False
    if column == "cosine":
        return abs(x - y) <= 2e-12
    return abs(x - y) <= 1e-9 * abs(y) if column == "rmse" else x == y


class Golden(harness.Case):
    def check(self, name, judged):
        """judged: the results of the rows are told by rules of the file, not by levels."""
        with tarfile.open(ARCHIVE) as archive:
            archive.extractall(self.path("golden"), [m for m in archive if m.name.split("/")[0] == name])
        case = self.path("golden/" + name)
        with open(os.path.join(case, "cmd.txt"), encoding="utf-8") as file:
            words = shlex.split(file.read())[1:]
        run = harness.run(*words, cwd=case)
        self.assertIn(run.code, (0, 1), run)
        rows = harness.read_csv(harness.only_file(os.path.join(case, "output"), "csv"))
        with open(os.path.join(case, "expected.csv"), newline="", encoding="utf-8") as file:
            expected = list(csv.DictReader(file))
        self.assertEqual(len(rows), len(expected))
        for got, want in zip(rows, expected):
            name = got["NPU Name"] if got["NPU Name"] != "N/A" else got["Bench Name"]
            self.assertEqual(name, want["name"])
            for column, title in COLUMNS.items():
                if want["elements"] != "":
                    self.assertTrue(same(column, got[title], want[column]), (name, column, got[title], want[column]))
            if want["message"]:
                self.assertIn(want["message"], got["Err_message"].split("\n"), name)
            allowed = RESULTS.get(want["result"], WITHIN if judged else WITHIN | {"different"})
            self.assertIn(got["Accuracy Reached or Not"], allowed, name)

    def test_arrays(self):
        self.check("diff_arrays", False)

    def test_index(self):
        self.check("ckpt_index_vs_single", False)

    def test_tolerance(self):
        self.check("tolerance", True)


class Distributed(harness.Case):
    def test_pieces_of_two_processes(self):
        """Tensors in several pieces, a replicated one, something that is no tensor."""
        with tarfile.open(ARCHIVE) as archive:
            archive.extractall(self.path("golden"), [m for m in archive if m.name.split("/")[0] == "distributed"])
        case = self.path("golden/distributed")
        run = harness.run("diff", "a", "b.npz", "-F", "csv", cwd=case)
        self.assertEqual(run.code, 0, run)
        self.assertIn("3 tensors equal, 0 different, 0 unmatched", run.out)
        os.remove(os.path.join(case, "a/__1_0.distcp"))
        shutil.rmtree(os.path.join(case, "output"))
        run = harness.run("diff", "a", "b.npz", "-F", "csv", cwd=case)
        self.assertEqual(run.code, 2, run)
        self.assertIn("__1_0.distcp", run.out)


class Rules(harness.Case):
    def setUp(self):
        super().setUp()
        w = Tensor([1.0, 2.0, 3.0, 4.0])
        self.a = npz(self.path("a.npz"), {"x": w.changed(0, 1.5), "y": w, "z": w.changed(1, 9.0), "only": w})
        self.b = npz(self.path("b.npz"), {"x": w, "y": w, "z": w})

    def diff(self, text, *words):
        file = harness.write_text(self.path("t.yaml"), text)
        shutil.rmtree(self.path("out"), ignore_errors=True)
        run = harness.run("diff", self.a, self.b, "-o", self.path("out"), "-F", "csv", "--tolerance", file, *words)
        rows = {}
        if os.path.isdir(self.path("out")) and run.code != 2:
            for row in harness.read_csv(harness.only_file(self.path("out"), "csv")):
                rows[row["NPU Name"]] = (row["Accuracy Reached or Not"], row["Err_message"].split("\n")[-1])
        return run, rows

    def test_verdicts_and_counts(self):
        run, rows = self.diff("""
rules:
  - {name: x, kind: parameter, dtype: f32, pass: "max_abs <= 0.5 and not elements > 4"}
  - {name: x, pass: "max_abs == 0"}
  - {name: [q, z], pass: "max_abs < 1 or rel_l2 < 1e-3"}
may_fail: "z"
may_miss: ["onl*"]
ignore: [nothing]
""")
        self.assertEqual(run.code, 0, run)
        self.assertEqual(rows["x"], ("same", "tolerance rule 1"))
        self.assertEqual(rows["y"][0], "identical")
        self.assertEqual(rows["z"], ("allowed", "tolerance: may fail by 'z'; tolerance rule 3: max_abs < 1 or rel_l2 < 1e-3"))
        self.assertEqual(rows["only"], ("ignored", "tolerance: may be missing by 'onl*'"))
        for line in ("tolerance rule 1 judged 1 rows, 0 failed: max_abs <= 0.5 and not elements > 4",
                     "tolerance rule 2 judged 0 rows, 0 failed: max_abs == 0",
                     "tolerance rule 3 judged 1 rows, 1 failed: max_abs < 1 or rel_l2 < 1e-3",
                     "tolerance may_fail 'z': 1 rows", "tolerance ignore 'nothing': 0 rows"):
            self.assertIn(line, run.out)

    def test_a_rule_may_be_stricter(self):
        run, rows = self.diff("rules: [{name: 'y', pass: 'max_abs > 0'}]\nignore: [x, z, only]\n")
        self.assertEqual(run.code, 1, run)
        self.assertEqual(rows["y"], ("different", "tolerance rule 1: max_abs > 0"))
        self.assertEqual(rows["x"][0], "ignored")

    def test_mistakes(self):
        for text, message in (
                ("version: 2\n", "t.yaml:1: version 2 is not known"),
                ("rules:\n  - pass: 'cosine >'\n", "t.yaml:2: cannot read the predicate 'cosine >'"),
                ("rules:\n  - pass: 'cosine > 0.9 max_abs'\n", "t.yaml:2: cannot read the predicate"),
                ("rules:\n  - pass: '(cosine > 0.9'\n", "t.yaml:2: cannot read the predicate"),
                ("rules:\n  - pass: '%s'\n" % ("(" * 200), "t.yaml:2: cannot read the predicate"),
                ("rules:\n  - name: x\n    pass: 'cos > 0.9'\n", "t.yaml:3: 'cos' in the predicate 'cos > 0.9' is not known"),
                ("rules:\n  - name: x\n", "t.yaml:2: this rule needs 'pass'"),
                ("rules:\n  - pass: 'rmse < 1'\n    kinds: input\n", "t.yaml:3: 'kinds' is not known"),
                ("rules:\n  - pass: 'rmse < 1'\n    dtype: f31\n", "t.yaml:3: 'f31' is not known"),
                ("ignored: [x]\n", "t.yaml:1: 'ignored' is not known")):
            run, _ = self.diff(text)
            self.assertEqual(run.code, 2, (text, run))
            self.assertIn(message, run.err)
            self.assertEqual(harness.files_below(self.path("out")), [])

    def test_rules_of_msprobe_have_none(self):
        dump = dumps.Dump(self.path("d"))
        dump.call("f", "output", [1.0, 2.0])
        json = dump.write()
        file = harness.write_text(self.path("t.yaml"), "rules: [{pass: 'rmse < 1'}]\n")
        run = harness.run("compare", json, json, "-o", self.path("o"), "--rules", "msprobe", "--tolerance", file)
        self.assertEqual(run.code, 2, run)
        self.assertIn("sound", run.err)


if __name__ == "__main__":
    unittest.main()
