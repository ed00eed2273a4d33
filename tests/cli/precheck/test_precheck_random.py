"""Dumps with statistics alone: inputs drawn to the bit, the reference of what was drawn; calls run in their dtype."""
import json
import math
import os
import re
import sys
import tempfile
import zipfile

import harness
import precheck_case
from precheck_case import PrecheckCase, close, files_of, floats, golden, npy, read_rows

RANDOM = {"rand", "rand_like", "normal", "bernoulli", "multinomial", "randn", "randint", "randperm", "dropout"}


class Statistics(PrecheckCase):
    def test_random_inputs_and_reference(self):
        # a threshold nothing passes keeps the tensors of every call
        out, _ = self.run_ut(golden("ms_statistics"), "-save_error_data", "--max-abs-err", "-1")
        folder = os.path.join(out, "error_data")
        _, plan = read_rows(golden("ms_statistics", "expected_run.csv"))
        result = {r[0]: r for r in read_rows(files_of(out)[0])[1]}
        runs = {(r[0], r[1]) for r in plan if r[2] == "ok"}
        bad, inputs, outputs = [], 0, 0
        for call, direction in sorted(runs):
            status = result.get(call, ["", "", ""])[1 if direction == "forward" else 2]
            # an empty output is a SKIP of this profile, not of the reference
            empty = "zero-size array" in result.get(call, ["", "", "", ""])[3]
            if status == "SKIP" and not empty and call.split(".")[1] not in RANDOM:
                bad.append("%s.%s: skipped: %s" % (call, direction, result[call][3]))
        for call, direction, reference, _, message in plan:
            if reference == "SKIP" and message.startswith(("Range", "[msprobe]")):
                self.assertEqual(result[call][1], "SKIP", call)
                self.assertIn(message, result[call][3])
        with zipfile.ZipFile(golden("ms_statistics", "expected_inputs.npz")) as archive:
            for name in archive.namelist():
                path = os.path.join(folder, name)
                if os.path.exists(path):
                    inputs += 1
                    if npy(archive.read(name)) != npy(harness.read_bytes(path)):
                        bad.append("%s: drawn differently" % name)
        with zipfile.ZipFile(golden("ms_statistics", "bench_f64.npz")) as archive:
            for name in archive.namelist():
                path = os.path.join(folder, re.sub(r"\.output\.(\d+)\.npy$", r".output.bench.\1.npy", name))
                if os.path.exists(path):
                    outputs += 1
                    bad += self.reference_differs(name, npy(archive.read(name)), npy(harness.read_bytes(path)))
        print("ms_statistics: %d inputs, %d reference outputs compared" % (inputs, outputs), file=sys.stderr)
        self.assertEqual(bad, [])
        self.assertGreater(inputs, 300)
        self.assertGreater(outputs, 200)

    def reference_differs(self, name, want, got):
        if want[1] != got[1]:
            return ["%s: shape %s, expected %s" % (name, got[1], want[1])]
        if want[0] != "<f8" or got[0] != "<f8":
            return [] if want == got or want[0] != got[0] else ["%s: differs" % name]
        expected, values = floats(want[0], want[2]), floats(got[0], got[2])
        largest = max([abs(x) for x in expected if math.isfinite(x)], default=0.0)
        for x, y in zip(expected, values):
            if not close(y, x, 1e-12 * largest, 1e-12):
                return ["%s: %r, expected %r" % (name, y, x)]
        return []

    def test_every_dtype_draws_the_same_prefix(self):
        first = "0.3745401188473625"
        dump = {"task": "statistics", "level": "L1", "framework": "mindspore", "dump_data_dir": None, "data": {
            "Mint.abs.0.forward": {"input_args": [
                {"type": "mindspore.Tensor", "dtype": "Float64", "shape": [4], "Max": 1.0, "Min": 0.0, "Mean": 0.5,
                 "Norm": 1.0}], "input_kwargs": {}, "output": []}}}
        folder = tempfile.mkdtemp(dir=self.folder)
        harness.write_text(os.path.join(folder, "dump.json"), json.dumps(dump))
        out, _ = self.run_ut(folder, "-save_error_data", "--max-abs-err", "-1")
        data = npy(harness.read_bytes(os.path.join(out, "error_data", "Mint.abs.0.forward.input.0.npy")))
        self.assertEqual([repr(x) for x in floats(data[0], data[2])],
                         [first, "0.9507143064099162", "0.7319939418114051", "0.5986584841970366"])


class Executed(PrecheckCase):
    def test_every_call_in_its_dtype(self):
        """Rounded at every step in its own dtype, each call of the golden dumps stays within its bound."""
        bad, seen = [], {}
        for name in ("ms_tensor", "pt_tensor", "ms_statistics", "ms_variants", "pt_variants"):
            out = tempfile.mkdtemp(dir=self.folder)
            self.run_code(0, "precheck", golden(name), "--mode", "execute", "-q", "-o", out)
            for row in harness.read_json(harness.only_file(out, "json", "accuracy_checking_details"))["rows"]:
                dtype = row.get("tested_dtype")
                if row["status"] == "SKIP":
                    if not row["message"].startswith(("random", "Range", "gradient shape", "[msprobe]", "recorded grad")):
                        bad.append("%s: %s" % (row["call"], row["message"]))
                    continue
                seen[dtype] = seen.get(dtype, 0) + 1
                if row["status"] != "pass":
                    bad.append("%(call)s %(direction)s %(slot)d, %(tested_dtype)s: %(message)s" % row)
                if row["cosine"] is not None and row["cosine"] < 0.9999:
                    bad.append("%(call)s %(direction)s %(slot)d: cosine %(cosine)r" % row)
        self.assertEqual(bad, [])
        self.assertGreater(seen["Float32"], 1400)
        self.assertGreater(min(seen["Float16"], seen["BFloat16"]), 250)


if __name__ == "__main__":
    precheck_case.main()
