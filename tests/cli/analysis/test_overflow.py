"""The first NaN or infinity: nan_analyze, overflow_check and `tdcmp overflow`."""
import os
import shutil
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import harness
from golden_case import GoldenCase, load, save


class Overflow(GoldenCase):

    def find(self, *words, **settings):
        self.clear()
        return harness.run(*words, "-o", self.out, **settings)

    def test_answers_of_2025(self):
        for case in self.cases("nan_analyze"):
            for framework in ("pytorch", "mindspore"):
                with self.subTest(case=case, framework=framework):
                    run = self.find("-f", framework, "nan_analyze", "-i", os.path.join(case, "step0"))
                    self.assertEqual(run.code, 0, run)
                    # of two answers that are as good the first names the lower rank
                    expected = sorted(name for name in os.listdir(os.path.join(case, "expected"))
                                      if name.endswith(".json"))
                    got = self.written("anomaly_analyze_")
                    self.assertEqual(got is None, not expected, run)
                    if expected:
                        self.assertEqual(harness.read_text(got),
                                         harness.read_text(os.path.join(case, "expected", expected[0])))
                        self.assertIn("The analyze result is saved in: " + got, run.out)

    def test_answers_of_26(self):
        root = os.path.join(self.root, "compare2026", "overflow_check")
        for wanted in load(os.path.join(root, "case.json"))["runs"]:
            with self.subTest(command=wanted["command"]):
                words = wanted["command"].split()[1:-2]
                run = self.find(*words, cwd=root)
                self.assertEqual(run.code, wanted["exit_code"], run)
                got = self.written("anomaly_analyze_")
                if not wanted["outputs"]:
                    self.assertIsNone(got)
                    continue
                self.assertEqual(harness.read_text(got), harness.read_text(
                    os.path.join(root, wanted["dir"], wanted["outputs"][0]["text"])))

    def test_friendly_form(self):
        step = os.path.join(self.root, "nan_analyze", "p2p", "step0")
        run = self.find("overflow", step)
        self.assertEqual(run.code, 1, run)
        self.assertEqual(run.out.splitlines()[0], "first NaN or infinity: rank 0, Functional.linear.0.forward")
        self.assertEqual(self.find("overflow", os.path.join(self.root, "nan_analyze", "clean", "step0")).code, 0)
        self.assertEqual(self.find("overflow", os.path.join(self.folder, "nowhere")).code, 2)

    def test_mindspore(self):
        step = self.copy("nan_analyze", "p2p", "step0")
        for rank in ("rank0", "rank1"):
            path = os.path.join(step, rank, "dump.json")
            dump = load(path)
            dump["framework"] = "mindspore"
            dump["data"] = {name.replace("Distributed.", "MintDistributed."): call
                            for name, call in dump["data"].items()}
            save(path, dump)
        run = self.find("overflow_check", "-i", step)
        self.assertEqual(run.code, 0, run)
        self.assertEqual(list(load(self.written("anomaly_analyze_"))), ["rank_0"])

    def test_parents_with_a_micro_step(self):
        step = self.copy("nan_analyze", "before_first_comm", "step0")
        self.find("overflow", step)
        plain = load(self.written("anomaly_analyze_"))
        for rank in ("rank0", "rank1"):
            path = os.path.join(step, rank, "construct.json")
            save(path, {name: [parent, 0] for name, parent in load(path).items()})
        self.assertEqual(self.find("overflow", step).code, 1)
        self.assertEqual(load(self.written("anomaly_analyze_")), plain)

    def test_files_that_are_missing(self):
        step = self.copy("nan_analyze", "before_first_comm", "step0")
        for rank in ("rank0", "rank1"):
            os.remove(os.path.join(step, rank, "construct.json"))
            os.remove(os.path.join(step, rank, "stack.json"))
        run = self.find("overflow", step)
        self.assertEqual(run.code, 1, run)
        self.assertIn("the place in the network is not shown", run.err)
        self.assertIn("call stacks are not shown", run.err)
        for calls in load(self.written("anomaly_analyze_")).values():
            self.assertEqual(calls[0]["construct_info"], [calls[0]["op_name"]])
            self.assertEqual(calls[0]["stack_info"], {})
        os.remove(os.path.join(step, "rank0", "dump.json"))
        run = self.find("overflow", step)
        self.assertIn("no dump.json in it, left out", run.err)

    def test_a_circle_of_parents(self):
        step = self.copy("nan_analyze", "before_first_comm", "step0")
        self.find("overflow", step)
        name = list(load(self.written("anomaly_analyze_")).values())[0][0]["op_name"]
        for rank in ("rank0", "rank1"):
            save(os.path.join(step, rank, "construct.json"), {name: "A", "A": "B", "B": "A"})
        run = self.find("overflow", step, timeout=20)
        self.assertEqual(run.code, 1, run)
        self.assertIn("goes in a circle", run.err)
        self.assertEqual(list(load(self.written("anomaly_analyze_")).values())[0][0]["construct_info"],
                         ["B", "A", name])

    def test_ranks_that_are_absent_and_calls_that_are_not_made(self):
        step = self.copy("nan_analyze", "during_comm", "step0")
        path = os.path.join(step, "rank0", "dump.json")
        dump = load(path)
        for name, call in dump["data"].items():
            if name.startswith("Distributed."):
                call["input_kwargs"]["group"]["group_ranks"] = [0, 1, 7]
        save(path, dump)
        run = self.find("overflow", step)
        self.assertEqual(run.code, 1, run)
        self.assertRegex(run.err, r"lead to ranks that were not dumped \(first: rank 7")
        last = [name for name in dump["data"] if name.startswith("Distributed.")][-1]
        other = os.path.join(step, "rank1", "dump.json")
        fewer = load(other)
        fewer["data"].pop(last)
        save(other, fewer)
        run = self.find("overflow", step)
        self.assertEqual(run.code, 1, run)
        self.assertIn("have no partner on another rank", run.err)

    def test_a_set_without_a_link_to_the_lowest_rank(self):
        # ranks 2 and 3 talk to each other alone; the overflow there is found as well
        step = self.copy("nan_analyze", "during_comm", "step0")
        clean = os.path.join(self.root, "nan_analyze", "clean", "step0")
        for number in (0, 1):
            shutil.move(os.path.join(step, "rank%d" % number), os.path.join(step, "rank%d" % (number + 2)))
            shutil.copytree(os.path.join(clean, "rank%d" % number), os.path.join(step, "rank%d" % number))
        for number in (2, 3):
            path = os.path.join(step, "rank%d" % number, "dump.json")
            dump = load(path)
            for name, call in dump["data"].items():
                if name.startswith("Distributed."):
                    call["input_kwargs"]["group"]["group_ranks"] = [2, 3]
            save(path, dump)
        run = self.find("overflow", step)
        self.assertEqual(run.code, 1, run)
        self.assertIn(list(load(self.written("anomaly_analyze_")))[0], ("rank_2", "rank_3"))


if __name__ == "__main__":
    unittest.main()
