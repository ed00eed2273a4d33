"""tdcmp precheck: summary, JSON, --explain, exit codes."""
import json
import os
import re
import tempfile

import harness
import precheck_case
from precheck_case import PrecheckCase, files_of, golden, read_rows


class Friendly(PrecheckCase):
    def precheck(self, code, *words):
        out = tempfile.mkdtemp(prefix="out-", dir=self.folder)
        return out, self.run_code(code, "precheck", *words, "-o", out)

    def test_summary_and_json(self):
        out, result = self.precheck(1, golden("ms_edge"))
        self.assert_page(result.out)
        self.assertRegex(result.out, r"\AFAIL   \d+ of \d+ calls fail, \d+ of \d+ slots\n")
        self.assertRegex(result.out, r"(?m)^  API that fails +calls +max error +limit$")
        self.assertRegex(result.out, r"(?m)^next: tdcmp precheck \S+ --explain \S+\n\Z")
        for error, limit in re.findall(r"(?m)^  \S+ +\d+ of \d+ +(\S+) +(\S+)$", result.out):
            if limit not in ("-", "0"):
                self.assertGreater(float(error), float(limit))
        names = [n for n in os.listdir(out) if n.endswith(".json")]
        self.assertEqual(len(names), 1)
        details = harness.read_json(os.path.join(out, names[0]))
        rows = [r for r in details["rows"] if r["status"] != "SKIP"]
        table = read_rows(files_of(out)[1])[1]
        self.assertEqual(["%s.%s.output.%d" % (r["call"], r["direction"], r["slot"]) for r in rows],
                         [r[0] for r in table])
        self.assertEqual([r["status"] for r in rows], [r[7] for r in table])
        self.assertEqual(details["profile"], "extended")
        shares = [int(failing) / int(calls) for failing, calls in
                  re.findall(r"(?m)^  \S+ +(\d+) of (\d+) +\S+ +\S+$", result.out)]
        self.assertNotEqual(shares, [])
        self.assertEqual(shares, sorted(shares, reverse=True))

    def assert_page(self, page):
        for line in page.splitlines():
            if not line.startswith(("Wrote ", "next: ")):
                self.assertLessEqual(len(line), 80, line)

    def test_speed(self):
        out, result = self.precheck(1, golden("ms_edge"), "-v")
        self.assert_page(result.out)
        seconds = float(re.search(r"(?m)^([\d.]+) s, \d+ threads?, \S+ kernels$", result.out)[1])
        calls, gigabytes, speed = re.search(
            r"(?m)^(\S+) calls/s, (\S+) GB of tensors, (\S+) GB/s$", result.out).groups()
        self.assertGreater(float(calls), 0)
        self.assertGreater(float(gigabytes), 0)
        self.assertAlmostEqual(float(gigabytes) / float(speed), seconds, delta=0.02 + 0.01 * seconds)
        parts = {"reading": "read", "widening": "widen", "computing": "compute", "judging": "judge", "writing": "write"}
        slowest, shares = re.search(r"(?m)^slowest is (\w+): (.*)$", result.out).groups()
        shares = dict((part, int(share[:-1])) for part, share in (word.split() for word in shares.split(", ")))
        self.assertEqual(list(shares), list(parts.values()))
        self.assertAlmostEqual(sum(shares.values()), 100, delta=3)
        self.assertEqual(shares[parts[slowest]], max(shares.values()))

    def test_quiet_prints_paths(self):
        out, result = self.precheck(1, golden("ms_edge"), "-q")
        self.assertEqual(sorted(result.out.splitlines()), sorted(os.path.join(out, n) for n in os.listdir(out)))

    def test_why_there_are_no_calls(self):
        folder = tempfile.mkdtemp(dir=self.folder)
        record = {"input_args": [], "input_kwargs": {}, "output": []}
        path = harness.write_text(os.path.join(folder, "dump.json"), json.dumps(
            {"task": "statistics", "framework": "mindspore", "level": "L0", "data": {"Cell.net.Net.forward.0": record}}))
        said = self.run_code(2, "precheck", path, "-o", folder).err
        self.assertIn("records of Cell are of modules, not of one operator (Cell.net.Net.forward.0)", said)
        self.assertIn("level L1 or mix records the API calls", said)

    def test_exit_codes(self):
        folder = tempfile.mkdtemp(dir=self.folder)
        path = harness.write_text(os.path.join(folder, "dump.json"), json.dumps({"task": "statistics", "data": {}}))
        self.assertIn("no API calls", self.run_code(2, "precheck", path, "-o", folder).err)
        self.assert_one_line(self.run_code(2, "precheck", self.path("nowhere")).err, "nowhere")
        harness.write_text(path, "{")
        self.assert_one_line(self.run_code(2, "precheck", path).err, "dump.json")
        harness.write_text(path, json.dumps({"task": "statistics", "framework": "mindspore", "data": {
            "Mint.no_such_api.0.forward": {"input_args": [], "input_kwargs": {}, "output": []}}}))
        out, result = self.precheck(2, path)
        self.assertIn("unsupported api", result.out)
        self.assertIn("nothing could be checked", result.err)
        self.assertEqual(read_rows(files_of(out)[0])[1], [["Mint.no_such_api.0", "SKIP", "", "unsupported api"]])
        for wrong in (["--cos", "x"], ["--bench-round", "up"], ["--threads", "0"], ["--max-abs-err", "nan"], []):
            self.run_code(2, "precheck", *wrong)

    def test_what_was_not_checked_is_counted(self):
        tensor = {"type": "mindspore.Tensor", "dtype": "Float32", "shape": [2], "Max": 1.0, "Min": 0.0, "Mean": 0.5,
                  "Norm": 1.0}
        record = {"input_args": [tensor], "input_kwargs": {}, "output": [tensor]}
        gradient = {"input": [tensor], "output": [tensor]}
        folder = tempfile.mkdtemp(dir=self.folder)
        path = harness.write_text(os.path.join(folder, "dump.json"), json.dumps(
            {"task": "statistics", "framework": "mindspore", "data": {
                "Mint.abs.0.forward": record, "Mint.abs.0.backward": gradient, "Mint.no_such_api.0.forward": record,
                "Primitive.net.Abs.0.forward": record, "Primitive.net.Abs.0.backward": gradient,
                "Primitive.net.Abs.1.forward": record, "Cell.net.Net.forward.0": record,
                "Cell.net.Net.parameters_grad": {"weight": [tensor]}}}))
        out, result = self.precheck(0, path)
        self.assertIn("  forward   1 of 4 checked, 0 fail\n  backward  1 of 2 checked, 0 fail\n", result.out)
        # the verdict is about our own arithmetic
        self.assertTrue(result.out.startswith(
            "NOT CHECKED   what the device computed: the dump has statistics alone\n"), result.out)
        self.assert_page(result.out)
        (name,) = [n for n in os.listdir(out) if n.endswith(".json")]
        details = harness.read_json(os.path.join(out, name))
        self.assertEqual(details["forward"], {"records": 4, "checked": 1, "failing": 0})
        self.assertEqual(details["backward"], {"records": 2, "checked": 1, "failing": 0})
        gaps = {gap["first"]: (gap["forward"], gap["backward"], gap["modules"]) for gap in details["not_checked"]}
        self.assertEqual(gaps, {"Primitive.net.Abs.0": (2, 1, False), "Mint.no_such_api.0": (1, 0, False),
                                "Cell.net.Net.forward.0": (1, 0, True)})

    def test_a_recorded_run_is_judged_itself(self):
        _, result = self.precheck(1, golden("ms_edge"))
        self.assertNotIn("NOT CHECKED", result.out)
        _, result = self.precheck(0, golden("ms_edge"), "--mode", "execute", "--max-abs-err", "1e300", "--cos", "-2")
        self.assertTrue(result.out.startswith("NOT CHECKED   what the device computed: its outputs were not read"))

    def test_explain(self):
        text = self.run_code(0, "precheck", golden("ms_edge"), "--explain", "Mint.abs.4").out
        self.assertIn("forward: error", text)
        self.assertTrue(text.startswith("limits: each element within its bound"))
        for line in text.splitlines():
            self.assertLessEqual(len(line), 100, line)
        text = self.run_code(0, "precheck", golden("ms_edge"), "--explain", "Mint.abs.4", "--max-abs-err", "0.5").out
        self.assertTrue(text.startswith("limits: MaxAbsErr below 0.5, Cosine above 0.99\n"))
        self.assertRegex(text, r"\[\d+, \d+\] tested 0\.0, reference [\d.]+, as Float32 [\d.]+, \S+ ULP")
        result = self.run_code(2, "precheck", golden("ms_edge"), "--explain", "Mint.abs.77")
        self.assert_one_line(result.err, "Mint.abs.77", "no such call")

    def test_ranks_and_steps(self):
        root = tempfile.mkdtemp(dir=self.folder)
        for place in ("step0/rank0", "step0/rank1", "step1/rank0"):
            os.makedirs(os.path.join(root, place))
            harness.write_text(os.path.join(root, place, "dump.json"), json.dumps(
                {"task": "statistics", "framework": "mindspore", "data": {
                    "Mint.no_such_api.0.forward": {"input_args": [], "input_kwargs": {}, "output": []}}}))
        out, _ = self.precheck(2, root)
        for place in ("step0/rank0", "step0/rank1", "step1/rank0"):
            files_of(os.path.join(out, place))

    def test_pytorch_dump(self):
        _, result = self.precheck(1, golden("pt_tensor"))
        self.assertRegex(result.out, r"forward +[1-9]\d* of \d+ checked")

    def test_list(self):
        out = self.run_code(0, "precheck", "--list-apis").out
        self.assertIn("Mint.add(", out)


if __name__ == "__main__":
    precheck_case.main()
