"""Where dumps lie: process folders, mixed dumps, ranks without data, ranks on one side; in compare, match and
precheck."""
import json
import os
import shutil

import dumps
import harness

GOOD = [0.5, 1.5, -2.0, 3.25]


class Places(harness.Case):
    def place(self, *parts, values=None):
        dump = dumps.Dump(self.path(*parts))
        dump.call("relu", "input", values or GOOD)
        dump.call("relu", "output", [max(v, 0.0) for v in values or GOOD])
        dump.data["Functional.relu.0.forward"]["input_kwargs"] = {}
        return dump.write()

    def results(self, code, npu, bench, *options):
        """Paths of the tables below the output folder without their stamps, and the run."""
        out = self.path("out-%d" % len(os.listdir(self.folder)))
        result = self.run_code(code, "compare", self.path(npu), self.path(bench), "-o", out, "-F", "csv",
                               "--no-advice", *options)
        found = sorted(os.path.relpath(os.path.join(at, name), out) for at, _, names in os.walk(out) for name in names)
        return [harness.stampless(name) for name in found], result

    def test_processes(self):
        """The folder of a process has another number on each side."""
        for step in (0, 3):
            self.place("npu", "step%d" % step, "proc4711")
            self.place("bench", "step%d" % step, "proc815")
        found, result = self.results(0, "npu", "bench")
        self.assertEqual(found, ["compare_result_step0_proc4711_STAMP.csv", "compare_result_step3_proc4711_STAMP.csv"])
        for step in (0, 3):
            self.assertIn("%s is compared with %s" % (self.path("npu", "step%d" % step, "proc4711"),
                                                      self.path("bench", "step%d" % step, "proc815")), result.err)
        found, _ = self.results(0, "npu", "bench", "--step", "3")
        self.assertEqual(found, ["compare_result_step3_proc4711_STAMP.csv"])
        found, result = self.results(0, os.path.join("npu", "step0"), os.path.join("bench", "step3"))
        self.assertEqual(found, ["compare_result_proc4711_STAMP.csv"])
        result = self.run_code(0, "match", self.path("npu"), self.path("bench"))
        self.assertEqual(result.out.count("equal name"), 4)
        self.assertIn("is compared with", result.err)

    def test_a_process_and_a_rank(self):
        self.place("npu", "step0", "proc4711")
        self.place("bench", "step0", "rank0")
        found, result = self.results(0, "npu", "bench")
        self.assertEqual(found, ["compare_result_step0_proc4711_STAMP.csv"])
        self.assertIn("is compared with", result.err)

    def test_several_processes(self):
        """In order, with a warning; not at all when the numbers differ."""
        for number, value in ((12, 1.0), (9, 2.0)):
            self.place("npu", "step0", "proc%d" % number, values=[value] * 4)
        for number, value in ((100, 1.0), (99, 2.0)):
            self.place("bench", "step0", "proc%d" % number, values=[value] * 4)
        found, result = self.results(0, "npu", "bench")
        self.assertEqual(found, ["compare_result_step0_proc12_STAMP.csv", "compare_result_step0_proc9_STAMP.csv"])
        self.assertEqual(result.err.count("paired by position"), 2)
        self.place("bench", "step0", "proc101")
        result = self.run_code(2, "compare", self.path("npu"), self.path("bench"), "-o", self.path("none"))
        self.assertEqual(result.err.count("has no counterpart and is left out"), 5)

    def test_names_that_are_no_places(self):
        for name in ("process", "proc", "proc1x", "rank_0", "stepwise", "graphs"):
            self.place("npu", name)
        for words in (("compare", self.path("npu"), self.path("npu")), ("precheck", self.path("npu"))):
            result = self.run_code(2, *words, "-o", self.path("none"))
            self.assert_one_line(result.err, self.path("npu") + ": no dump.json in it")

    def test_mixed_dumps(self):
        """graph and pynative around the steps, each with its own results."""
        for side in ("npu", "bench"):
            self.place(side, "graph", "step0", "rank0")
            self.place(side, "graph", "step0", "rank1")
            self.place(side, "pynative", "step0", "proc%d" % len(side))
        found, result = self.results(0, "npu", "bench")
        self.assertEqual(found, ["graph/compare_result_step0_rank0_STAMP.csv",
                                 "graph/compare_result_step0_rank1_STAMP.csv",
                                 "pynative/compare_result_step0_proc3_STAMP.csv"])
        self.assertRegex(result.out, r"\AIDENTICAL   6 tensors, 3 calls\n")
        self.assertIn("Wrote 3 files to ", result.out)
        found, _ = self.results(0, os.path.join("npu", "graph"), os.path.join("bench", "graph", "step0"))
        self.assertEqual(len(found), 2)
        shutil.rmtree(self.path("bench", "pynative"))
        found, result = self.results(1, "npu", "bench")
        self.assertEqual(len(found), 2)
        self.assertIn("%s has no counterpart" % self.path("npu", "pynative", "step0", "proc3"), result.err)

    def test_nothing_beside_another_is_passed_over(self):
        """Steps beside a folder `graph`, and steps below ranks: compare and precheck find the same."""
        for side in ("npu", "bench"):
            self.place(side, "step0", "rank0")
            self.place(side, "graph", "step0", "rank0")
            self.place(side, "rank3", "step2")
        found, _ = self.results(0, "npu", "bench")
        self.assertEqual(found, ["compare_result_step0_rank0_STAMP.csv", "compare_result_step2_rank3_STAMP.csv",
                                 "graph/compare_result_step0_rank0_STAMP.csv"])
        out = self.path("checked")
        self.run_code(0, "precheck", self.path("npu"), "-o", out)
        self.assertEqual(sorted(os.listdir(out)), ["graph", "step0", "step2"])
        self.assertEqual(os.listdir(os.path.join(out, "graph", "step0")), ["rank0"])

    def test_one_family_each(self):
        self.place("npu", "pynative", "step0", "rank0")
        self.place("bench", "step0", "rank0")
        found, _ = self.results(0, "npu", "bench")
        self.assertEqual(found, ["pynative/compare_result_step0_rank0_STAMP.csv"])

    def test_ranks_without_data(self):
        """Each is named with what it lacks; the others are compared; the exit code is 2."""
        for side in ("npu", "bench"):
            for rank in range(5):
                self.place(side, "step0", "rank%d" % rank)
        bad = {1: "", 2: json.dumps({"task": "tensor", "data": {}}), 3: '{"task": "tensor", "data": {"A.b.0.forward": {'}
        for rank, text in bad.items():
            harness.write_text(self.path("npu", "step0", "rank%d" % rank, "dump.json"), text)
        os.remove(self.path("bench", "step0", "rank4", "dump.json"))
        found, result = self.results(2, "npu", "bench")
        self.assertEqual(found, ["compare_result_step0_rank0_STAMP.csv"])
        said = {1: "an empty file: still being written, or broken off",
                2: "no data in it: nothing was dumped, or it is still being written",
                3: "it ends too early: still being written, or broken off"}
        for rank, text in said.items():
            self.assertRegex(result.out, r"step0 rank%d\s+test: %s" % (rank, text))
        self.assertIn("%s: neither dump.json nor debug.json in it" % self.path("bench", "step0", "rank4"), result.err)
        self.assertIn("%s has no counterpart" % self.path("npu", "step0", "rank4"), result.err)

    def test_a_step_without_ranks(self):
        for side in ("npu", "bench"):
            self.place(side, "step0", "rank0")
        os.makedirs(self.path("npu", "step1"))
        _, result = self.results(2, "npu", "bench")
        self.assertIn(self.path("npu", "step1"), result.err)

    def test_precheck(self):
        self.place("npu", "step0", "proc4711")
        self.place("npu", "step1", "proc4711")
        out = self.path("checked")
        self.run_code(0, "precheck", self.path("npu"), "-o", out)
        self.assertEqual(sorted(os.listdir(out)), ["step0", "step1"])
        self.assertEqual(os.listdir(os.path.join(out, "step0")), ["proc4711"])
        self.place("ms", "pynative", "step0", "rank0")
        self.run_code(0, "precheck", self.path("ms"), "-o", self.path("checked-ms"))
        os.makedirs(self.path("npu", "step0", "proc12"))
        result = self.run_code(2, "precheck", self.path("npu"), "-o", self.path("checked-again"))
        self.assertIn("%s: no dump.json in it" % self.path("npu", "step0", "proc12"), result.err)


if __name__ == "__main__":
    harness.main()
