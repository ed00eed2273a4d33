"""`tdcmp trace`: the planted fault comes first, with the side that is off; correct runs are silent."""
import json
import os
import shutil
import sys
import tarfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import harness
import schema
from golden_case import GoldenCase, load, save

ARCHIVE = os.environ["TDC_VERDICTS"]
LINEAR = "Functional.linear.1.forward.output.0"

# fault: mode, reference, kind, start of the row's name, words of the judge
TRUTH = ["truth", "elements", "rmse_a", "rmse_b", "noise_a", "noise_b", "a_nearer", "b_nearer", "equal", "nearer"]
FAULTS = {
    "mlp_fault_scale": ("tensor", "mlp", "operator", LINEAR, "test is off"),
    "mlp_fault_elem": ("tensor", "mlp", "operator", LINEAR, "test is off"),
    "mlp_fault_row": ("tensor", "mlp", "operator", LINEAR, "test is off"),
    "mlp_fault_nan": ("tensor", "mlp", "operator", LINEAR, "test is off"),
    "mlp_fault_gh": ("tensor", "mlp", "operator", "Module.m.3.Linear.", "no reference"),
    "mlp_fault_weight": ("tensor", "mlp", "entry", "Functional.linear.", "not judged"),
    "llama_fault_swapqk": ("statistics", "llama", "operator", "Functional.scaled_dot_product_attention.1.forward.",
                           "no reference"),
    "llama_fault_epsset": ("statistics", "llama", "argument", "Tensor.__add__.", "not judged"),
    "bert_drop_fault_seed": ("statistics", "bert_drop", "random", "Functional.dropout.0.forward.output.0", "not judged"),
}
CORRECT = {"mlp_as_amp": "tensor", "mlp_as_bf16": "tensor", "llama_as_amp": "statistics", "cnn_as_nomk": "statistics"}


class Trace(GoldenCase):

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        with tarfile.open(ARCHIVE) as archive:
            archive.extractall(cls.root)

    def pair(self, mode, npu, bench):
        return [os.path.join(self.root, "verdicts", mode, name) for name in (npu, bench)]

    def report(self, code, *words):
        path = os.path.join(self.folder, "trace.json")
        run = harness.run("trace", *words, "--json", path)
        self.assertEqual(run.code, code, run)
        report = load(path)
        self.assertEqual(schema.errors(report), [])
        return run, report

    def test_faults(self):
        for name, (mode, bench, kind, row, judge) in FAULTS.items():
            with self.subTest(fault=name):
                run, report = self.report(1, *self.pair(mode, name, bench))
                first = report["origins"][0]
                self.assertEqual((first["kind"], first["judge"]), (kind, judge), first)
                self.assertTrue(first["name"].startswith(row), first)
                self.assertEqual(run.out.splitlines()[0], "first origin: " + first["name"])
                if judge == "test is off" and name != "mlp_fault_nan":
                    self.assertGreater(first["test_ulp"], 4 * first["ref_ulp"])
                if judge == "test is off":
                    self.assertEqual((first["nearer"], first["truth"]), ("B", "reference"), first)
                    self.assertIn("nearer the truth, the call in float64: B; rmse_a ", run.out)
                elif mode != "tensor":
                    self.assertEqual([first[name] for name in TRUTH], [None] * len(TRUTH), first)

    def test_the_other_side(self):
        _, report = self.report(1, *self.pair("tensor", "mlp", "mlp_fault_scale"))
        first = report["origins"][0]
        self.assertEqual((first["judge"], first["nearer"]), ("ref is off", "A"))
        self.assertGreater(first["rmse_b"], 100 * first["rmse_a"])
        self.assertEqual(first["a_nearer"] + first["b_nearer"] + first["equal"], first["elements"])

    def test_a_third_run(self):
        """The columns are those that a comparison with the same truth writes; where the third has no tensor the call
        in float64 takes its place."""
        npu, bench = self.pair("tensor", "mlp_fault_scale", "mlp")
        third = os.path.join(self.folder, "third")
        shutil.copytree(bench, third)
        run, report = self.report(1, npu, bench, "--truth", third)
        first = report["origins"][0]
        self.assertIn("nearer the truth, the third run: B; rmse_a ", run.out)
        self.assertEqual((first["truth"], first["nearer"], first["rmse_b"]), ("run", "B", 0))
        out = os.path.join(self.folder, "out")
        harness.run("compare", npu, bench, "--truth", third, "-o", out, "-F", "csv")
        rows = {row["name"]: row for row in harness.read_csv(harness.only_file(out, "csv", "compare_truth"))}
        row = rows[first["name"]]
        self.assertEqual(list(row)[1:], TRUTH[1:])
        for name in TRUTH[1:-1]:
            self.assertEqual(float(row[name]), first[name], name)
        for folder, _, files in os.walk(third):
            for name in files:
                if name.startswith(first["name"]):
                    os.remove(os.path.join(folder, name))
        _, report = self.report(1, npu, bench, "--truth", third)
        self.assertEqual((report["origins"][0]["truth"], report["origins"][0]["nearer"]), ("reference", "B"))
        run = harness.run("trace", npu, bench, "--truth", os.path.join(self.folder, "nowhere"))
        self.assertEqual(run.code, 2, run)

    def test_correct_runs(self):
        for name, mode in CORRECT.items():
            with self.subTest(run=name):
                run, report = self.report(0, *self.pair(mode, name, name.split("_as_")[0]))
                self.assertEqual(report["origins"], [])
                self.assertTrue(run.out.startswith("no origin"), run)

    def test_nan_of_a_side(self):
        run, report = self.report(1, *self.pair("tensor", "mlp_fault_nan", "mlp"))
        found = report["dumps"][0]
        self.assertEqual(found["test_first_nan"], {"call": "Functional.linear.1.forward", "made": True})
        self.assertIsNone(found["ref_first_nan"])
        self.assertIn("first NaN or infinity: test, made by Functional.linear.1.forward", run.out)

    def test_random_is_no_error(self):
        run, _ = self.report(1, *self.pair("statistics", "bert_drop_fault_seed", "bert_drop"))
        self.assertIn("random: a random operator, not an error: fix the seed", run.out)

    def test_from_and_top(self):
        npu, bench = self.pair("statistics", "llama_fault_scale", "llama")
        _, report = self.report(1, npu, bench)
        first = report["origins"][0]
        run = harness.run("trace", npu, bench, "--from", first["call"], "--json", "-")
        self.assertEqual(json.loads(run.out)["origins"][0]["name"], first["name"])
        run = harness.run("trace", npu, bench, "--from", "No.such.call")
        self.assertEqual(run.code, 2, run)
        self.assertEqual(harness.run("trace", npu, bench, "--top", "none").code, 2)

    def test_what_a_communication_brings(self):
        """Rank 0 has a fault before its all_reduce; rank 1 sees it in the output of that call."""
        case = self.copy("diff_analyze", "during_comm")
        run, report = self.report(1, os.path.join(case, "npu", "step0"), os.path.join(case, "bench", "step0"))
        first = report["origins"][0]
        self.assertFalse(first["call"].startswith("Distributed."), first)
        brought = [origin for origin in report["origins"] if origin["from_another_rank"]]
        self.assertTrue(all(origin["call"].startswith("Distributed.") for origin in brought))
        self.assertTrue(all(origin["rank"] != first["rank"] for origin in brought))

    def test_bad_input(self):
        case = self.copy("diff_analyze", "during_comm")
        npu, bench = os.path.join(case, "npu", "step0"), os.path.join(case, "bench", "step0")
        for side in (npu, bench):
            for rank in ("rank0", "rank1"):
                os.remove(os.path.join(side, rank, "stack.json"))
        save(os.path.join(npu, "rank0", "construct.json"), {"A": "B", "B": "A", "Functional.linear.0.forward": "A"})
        self.report(1, npu, bench)
        harness.write_text(os.path.join(npu, "rank1", "dump.json"), "{")
        run = harness.run("trace", npu, bench)
        self.assertIn("left out", run.err)
        shutil.rmtree(os.path.join(npu, "rank0"))
        self.assertEqual(harness.run("trace", npu, bench).code, 2)


if __name__ == "__main__":
    unittest.main()
