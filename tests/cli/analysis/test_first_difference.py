"""The first difference over all ranks: `compare -da`."""
import glob
import os
import re
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import harness
from golden_case import GoldenCase, load, save


class FirstDifference(GoldenCase):

    def search(self, case, *more):
        self.clear()
        return harness.run("-f", "pytorch", "compare", "-i", "compare.json", "-o", self.out, "-da", *more, cwd=case)

    def expect(self, expected):
        """Files of the real tool against those written, by name without the time."""
        got = {re.sub(r"_\d{14,}(?=\.json)", "", name): name for name in harness.files_below(self.out)}
        wanted = {re.sub(r"^expected_|_TS(?=\.json)", "", os.path.basename(path)): path for path in expected}
        wanted = {"compare_result_" + name if name.startswith("rank") else name: path
                  for name, path in wanted.items()}
        self.assertEqual(sorted(got), sorted(wanted))
        for name, path in wanted.items():
            text, other = harness.read_text(os.path.join(self.out, got[name])), harness.read_text(path)
            # the order of the ranks in the report is arbitrary in the original
            if name == "diff_analyze.json":
                self.assertEqual(load(os.path.join(self.out, got[name])), load(path))
            else:
                self.assertEqual(text, other)

    def test_answers_of_2025(self):
        cases = self.cases("diff_analyze") + [os.path.join(self.root, "compare", "pt_diff_analyze")]
        for case in cases:
            with self.subTest(case=case):
                run = self.search(case)
                self.assertEqual(run.code, 0, run)
                self.expect(glob.glob(os.path.join(case, "expected", "*.json")) or
                            glob.glob(os.path.join(case, "expected_*.json")))
                if "no_diff" in case:
                    self.assertIn("Cannot find any diff node", run.out)

    def test_answers_of_26(self):
        root = os.path.join(self.root, "compare2026", "diff_analyze")
        for wanted in load(os.path.join(root, "case.json"))["runs"]:
            with self.subTest(command=wanted["command"]):
                self.clear()
                words = [self.out if word == "./output" else word for word in wanted["command"].split()[1:]]
                run = harness.run(*words, cwd=root)
                self.assertEqual(run.code, wanted["exit_code"], run)
                self.expect(glob.glob(os.path.join(root, wanted["dir"], "expected_*.json")))

    def test_nan_on_one_side(self):
        case = self.copy("diff_analyze", "no_diff")
        path = os.path.join(case, "npu", "step0", "rank1", "dump.json")
        dump = load(path)
        name = "Functional.linear.0.forward"
        for statistic in ("Max", "Min", "Mean", "Norm"):
            dump["data"][name]["output"][0][statistic] = float("nan")
        save(path, dump)
        run = self.search(case)
        self.assertEqual(run.code, 0, run)
        self.assertIsNone(self.written("diff_analyze_"))
        self.assertIn("1 rows are NaN on one side alone (first: %s.output.0)" % name, run.out)
        run = self.search(case, "--nan-is-diff")
        self.assertEqual(load(self.written("diff_analyze_"))["rank_1"][0]["op_name"], name)

    def test_without_stacks(self):
        case = self.copy("diff_analyze", "before_first_comm")
        for path in glob.glob(os.path.join(case, "*", "step0", "rank*", "stack.json")):
            os.remove(path)
        self.assertEqual(self.search(case).code, 0)
        for calls in load(self.written("diff_analyze_")).values():
            self.assertIsNone(calls[0]["stack_info"])

    def test_a_rank_that_cannot_be_read(self):
        case = self.copy("diff_analyze", "during_comm")
        harness.write_text(os.path.join(case, "bench", "step0", "rank0", "dump.json"), "{")
        run = self.search(case)
        self.assertEqual(run.code, 0, run)
        self.assertIn("[ERROR] rank0: ", run.out)
        self.assertIsNotNone(self.written("compare_result_rank1"))
        self.assertIsNone(self.written("compare_result_rank0"))


if __name__ == "__main__":
    unittest.main()
