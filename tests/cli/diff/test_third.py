"""A truth and the noise of the reference: every verdict once, numbers by hand, what is left out, exit codes."""
import math
import os
import shutil
import struct
import unittest

import dumps
import harness
from tensor_files import Tensor, npz

C = [0.1 * (i + 1) for i in range(16)]


def single(values):
    return [struct.unpack("f", struct.pack("f", v))[0] for v in values]


def rms(values):
    return math.sqrt(sum(v * v for v in values) / len(values))


def ulp(value, bits, least):
    exponent = math.frexp(abs(value))[1] - 1 if value != 0 else least
    return 2.0 ** (max(exponent, least) - bits + 1)


class Third(harness.Case):
    def diff(self, a, b, c, *words):
        paths = [npz(self.path(name + ".npz"), tensors) for name, tensors in (("a", a), ("b", b), ("c", c))]
        shutil.rmtree(self.path("out"), ignore_errors=True)
        run = harness.run("diff", paths[0], paths[1], words[0], paths[2], "-o", self.path("out"), "-F", "csv", *words[1:])
        return run

    def rows(self, start):
        return {row.get("name", row.get("NPU Name")): row
                for row in harness.read_csv(harness.only_file(self.path("out"), "csv", start))}

    def test_verdicts(self):
        def moved(step, start=0.0):
            return Tensor([v + step * (-1) ** i + start for i, v in enumerate(C)], dtype="F64")

        c = Tensor(C, dtype="F64")
        nan = Tensor(C[:3] + [math.nan] + C[4:], dtype="F64")
        rounded = Tensor(single(C))
        cases = {"exact": (c, c, "tie (exact)"), "rounding": (rounded, rounded, "tie (rounding)"),
                 "a": (moved(1e-6), moved(1e-3), "A"), "b": (moved(1e-3), moved(1e-6), "B"),
                 "close": (moved(1.05e-3), moved(1e-3), "tie"), "lost_a": (nan, moved(1.0), "B"),
                 "lost_b": (moved(1.0), nan, "A"), "lost": (nan, nan, "neither")}
        a = {name: case[0] for name, case in cases.items()}
        b = {name: case[1] for name, case in cases.items()}
        third = {name: c for name in cases}
        a["shape"], b["shape"], third["shape"] = c, c, Tensor(C[:8], dtype="F64")
        a["absent"], b["absent"] = c, c
        run = self.diff(a, b, third, "--truth")
        self.assertEqual(run.code, 1, run)
        self.assertIn("nearer the truth: A 2, B 2, tie 3 (1 rounding), neither 1", run.out)
        truth = self.rows("compare_truth")
        self.assertEqual({name: row["nearer"] for name, row in truth.items()},
                         {name: case[2] for name, case in cases.items()})
        table = self.rows("compare_result")
        self.assertEqual(table["a"]["Nearer The Truth"], "A")
        self.assertEqual(table["shape"]["Nearer The Truth"], "")
        row = truth["rounding"]
        self.assertEqual(row["elements"], "16")
        self.assertAlmostEqual(float(row["rmse_a"]), rms([x - y for x, y in zip(single(C), C)]), delta=1e-20)
        noise = rms([ulp(v, 24, -126) for v in C]) / math.sqrt(12)
        self.assertAlmostEqual(float(row["noise_a"]) / noise, 1, delta=1e-12)
        self.assertEqual((truth["a"]["a_nearer"], truth["a"]["b_nearer"], truth["a"]["equal"]), ("16", "0", "0"))

    def test_a_large_row_is_the_same_for_any_number_of_threads(self):
        count = (1 << 20) + 5000  # more than a span
        c = [((i * 7919) % 65536) / 4096 for i in range(count)]
        sides = [npz(self.path(name + ".npz"), {"w": Tensor(values, dtype=dtype)}) for name, values, dtype in (
            ("a", c[:-1] + [c[-1] + 0.5], "F32"), ("b", [v + 0.25 if i % 1000 == 0 else v for i, v in enumerate(c)], "F32"),
            ("c", c, "F64"))]
        seen = []
        for threads in ("1", "2", "3"):
            out = self.path("out" + threads)
            run = harness.run("diff", sides[0], sides[1], "--truth", sides[2], "-t", threads, "-o", out, "-F", "csv", "-q")
            self.assertIn(run.code, (0, 1), run)
            seen.append(harness.read_csv(harness.only_file(out, "csv", "compare_truth"))[0])
        self.assertEqual(seen[0], seen[1])
        self.assertEqual(seen[0], seen[2])
        self.assertAlmostEqual(float(seen[0]["rmse_a"]), 0.5 / math.sqrt(count), delta=1e-12)
        self.assertEqual((str(count), "A", "1", str(len(range(0, count, 1000)))),
                         (seen[0]["elements"], seen[0]["nearer"], seen[0]["b_nearer"], seen[0]["a_nearer"]))

    def test_json(self):
        b = Tensor(C, dtype="F64")
        near = Tensor([v * 1.5 for v in C], dtype="F64")
        a = npz(self.path("a.npz"), {"w": near, "v": b})
        ref = npz(self.path("b.npz"), {"w": b, "v": b})
        truth = npz(self.path("c.npz"), {"w": b})
        run = harness.run("diff", a, ref, "--truth", truth, "--noise", truth, "-o", self.path("out"), "-F", "json", "-q")
        self.assertEqual(run.code, 1, run)
        rows = {row["name"]: row for row in harness.read_json(harness.only_file(self.path("out"), "json"))["rows"]}
        self.assertEqual(("B", None), (rows["w"]["nearer"], rows["v"]["nearer"]))
        self.assertIsNone(rows["v"]["factor"])
        self.assertGreater(rows["w"]["factor"], 1)

    def test_noise(self):
        b = Tensor(C, dtype="F64")
        near = Tensor([v * (1 + 0.1 * (-1) ** i) for i, v in enumerate(C)], dtype="F64")
        far = Tensor([v * (1 + 0.2 * (-1) ** (i // 2)) for i, v in enumerate(C)], dtype="F64")
        a, ref = {"w": far, "v": far}, {"w": b, "v": b}
        self.assertEqual(self.diff(a, ref, {"w": b, "v": b}, "--noise").code, 1)
        run = self.diff(a, ref, {"w": near, "v": b}, "--noise")
        self.assertEqual(run.code, 1, run)
        rows = self.rows("compare_result")
        self.assertEqual(rows["w"]["Accuracy Reached or Not"], "same")
        self.assertEqual(rows["v"]["Accuracy Reached or Not"], "different")
        self.assertAlmostEqual(float(rows["w"]["Noise Factor"]), 2, delta=1e-9)
        self.assertIn("2 times what the reference differs from itself", rows["w"]["Err_message"])
        self.assertIn("1 differences are within it", run.out)
        self.assertEqual(self.diff({"w": far}, {"w": b}, {"w": near}, "--noise").code, 0)

    def test_dumps_of_ranks(self):
        for side, step in (("a", 0.5), ("b", 0.25), ("c", 0.0)):
            for rank in ("rank0", "rank1"):
                dump = dumps.Dump(self.path(os.path.join(side, "step0", rank)))
                dump.call("f", "output", [1.0 + step, 2.0, 3.0])
                dump.write()
        run = harness.run("compare", self.path("a"), self.path("b"), "--truth", self.path("c"), "-o", self.path("out"),
                          "-F", "csv")
        self.assertEqual(run.code, 1, run)
        self.assertIn("nearer the truth: A 0, B 2, tie 0 (0 rounding)", run.out)
        files = [name for name in harness.files_below(self.path("out")) if name.startswith("compare_truth")]
        self.assertEqual(len(files), 2)

    def test_missing_truth(self):
        w = npz(self.path("w.npz"), {"w": Tensor(C)})
        run = harness.run("diff", w, w, "--truth", self.path("none"), "-o", self.path("out"))
        self.assertEqual(run.code, 2, run)
        self.assertIn("none", run.err)


if __name__ == "__main__":
    unittest.main()
