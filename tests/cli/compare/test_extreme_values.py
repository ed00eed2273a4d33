"""Numbers at the ends of their types: squares beyond float64, integers beyond 2^53, longdouble beyond float64."""
import math
import struct

import dumps
import harness
from harness import Case

LONG = 2 ** 53


def extended(value, exponent=0):
    """x87 extended of value * 2^exponent in the 16 bytes numpy gives it."""
    if value == 0:
        return bytes(16)
    fraction, power = math.frexp(abs(value))
    mantissa = int(fraction * 2 ** 53) << 11
    head = power + exponent - 1 + 16383
    assert 0 < head < 0x7FFF
    return struct.pack("<QH6x", mantissa, head | (0x8000 if value < 0 else 0))


class Extremes(Case):
    def pair(self, npu, bench, dtype="f64", bench_dtype=None):
        """Two dumps of one tensor each; values, or the bytes of a longdouble array."""
        sides = []
        for name, values, kind in (("npu", npu, dtype), ("bench", bench, bench_dtype or dtype)):
            dump = dumps.Dump(self.path("%s%d" % (name, self.turn())))
            if isinstance(values, bytes):
                dump.call("add", "output", dumps.npy_bytes("<f16", [len(values) // 16], values),
                          [len(values) // 16], "f64", "npy")
            else:
                dump.call("add", "output", values, None, kind)
            dump.write()
            sides.append(dump.folder)
        return sides

    def turn(self):
        self.turns = getattr(self, "turns", 0) + 1
        return self.turns

    def row(self, npu, bench, *kinds, **settings):
        sides = self.pair(npu, bench, *kinds)
        out = self.path("out%d" % self.turn())
        result = harness.run("compare", *sides, "-o", out, "--format", "json", "-t", settings.get("threads", "1"),
                             env=settings.get("env"))
        self.assertIn(result.code, (0, 1), str(result))
        return harness.json_rows(harness.only_file(out, "json"))[0], result

    def close(self, found, expected):
        self.assertTrue(abs(found - expected) <= 1e-14 * abs(expected), (found, expected))

    def test_squares_that_vanish(self):
        row, result = self.row([1e-170, 2e-170, -3e-170], [-1e-170, -2e-170, 3e-170])
        self.close(row["Cosine"], -1)
        self.close(row["EucDist"], 2e-170 * math.sqrt(14))
        self.close(row["RMSE"], 2e-170 * math.sqrt(14 / 3))
        self.assertEqual(result.code, 1)
        # one difference far below the rest, and sides at opposite ends
        row, _ = self.row([1.0, 1e-200], [1.0, 3e-200])
        self.close(row["EucDist"], 2e-200)
        row, _ = self.row([1e200, 1e200], [1e-200, 1e-200])
        self.close(row["Cosine"], 1)
        row, _ = self.row([5e-324, 5e-324], [-5e-324, 5e-324])
        self.close(row["EucDist"], 1e-323)
        self.assertEqual(row["Cosine"], 0)

    def test_squares_that_overflow(self):
        row, result = self.row([1e200, 2e200], [2e200, -1e200])
        self.assertEqual(row["Cosine"], 0)
        self.close(row["EucDist"], 1e200 * math.sqrt(10))
        row, _ = self.row([1.5e308] * 3, [1.5e308] * 2 + [1.4e308])
        self.close(row["EucDist"], 1e307)
        self.assertTrue(0.99 < row["Cosine"] < 1)
        # a distance beyond float64 is the largest there is, no infinity
        row, _ = self.row([1.7e308, 1.0], [-1.7e308, 1.0])
        self.close(row["Cosine"], -1)

    def test_complex(self):
        row, _ = self.row([1e-170, 1e-170, 2e-170, 0.0], [-1e-170, -1e-170, -2e-170, 0.0], "c128")
        self.close(row["Cosine"], -1)

    def test_one_answer_for_all(self):
        npu = [math.ldexp(math.sin(i), -600) for i in range(5000)]
        bench = [math.ldexp(math.cos(i), -600) for i in range(5000)]
        cells = {str(sorted(self.row(npu, bench, threads=threads, env={"TDC_CPU": variant})[0].items()))
                 for threads in "14" for variant in ("baseline", "x86-64-v3")}
        self.assertEqual(len(cells), 1)

    def test_integers_beyond_the_digits_of_float64(self):
        for npu, bench, apart in ((LONG, LONG + 1, 1), (2 ** 63 - 1, 2 ** 63 - 2, 1), (-2 ** 63, -2 ** 63 + 1, 1),
                                  (2 ** 63 - 1, -2 ** 63, 2 ** 64)):
            row, _ = self.row([npu, 1], [bench, 1], "i64")
            self.assertEqual(row["MaxAbsErr"], apart)
            if abs(npu) > LONG:
                self.assertEqual((row["Worst Abs NPU"], row["Worst Abs Bench"]), (npu, bench))
        # against a float, too
        row, _ = self.row([LONG + 1, 1], [float(LONG), 1.0], "i64", "f64")
        self.assertEqual(row["MaxAbsErr"], 1)

    def statistics(self, npu, bench, tensor=True):
        sides = []
        for name, value in (("npu", npu), ("bench", bench)):
            dump = dumps.Dump(self.path("%s%d" % (name, self.turn())), "statistics")
            item = dumps.item("i64", [1], stats=(value, value, value, value)) if tensor else {"type": "int",
                                                                                              "value": value}
            dump.entry("Torch.add.0.forward", input_args=[item], output=[])
            dump.write()
            sides.append(dump.folder)
        out = self.path("out%d" % self.turn())
        result = harness.run("compare", *sides, "-o", out, "--format", "json")
        self.assertIn(result.code, (0, 1), str(result))
        if not tensor:
            self.assertEqual(result.code, npu != bench, str(result))
        return harness.json_rows(harness.only_file(out, "json"))[0]

    def test_integer_arguments_and_statistics(self):
        for npu, bench in ((LONG, LONG + 1), (LONG + 1, LONG + 2), (10 ** 30, 10 ** 30 + 1), (10 ** 50, 10 ** 50 + 1),
                           (-LONG - 1, -LONG), (LONG + 1, float(LONG))):
            self.assertIn("Argument values differ.", self.statistics(npu, bench, False)["Err_message"])
            self.statistics(npu, npu, False)
        for npu, bench, apart in ((LONG, LONG + 1, -1), (2 ** 64 - 1, 2 ** 64 - 3, 2), (10 ** 30, 10 ** 30, 0)):
            row = self.statistics(npu, bench)
            self.assertEqual([row[name] for name in row if name.startswith("Max diff")], [apart])

    def test_longdouble_beyond_float64(self):
        huge = extended(1.0, 2000) + extended(-1.5, 3000)
        row, result = self.row(huge, huge)
        self.assertEqual((result.code, row["Cosine"], row["EucDist"], row["MaxAbsErr"]), (0, 1, 0, 0))
        row, result = self.row(huge, extended(2.0, 2000) + extended(-1.5, 3000))
        self.assertEqual(result.code, 1)
        self.assertEqual(row["MaxRelativeErr"], 0.5)
        self.assertEqual(row["MaxAbsErr"], 1.7976931348623157e308)
        self.assertEqual((row["NPU Inf"], row["Bench Inf"]), (0, 0))
        self.assertEqual(row["Worst Abs NPU"], float("inf"))
        row, result = self.row(extended(1.0, -3000) + extended(1.0, -3000), extended(-1.0, -3000) * 2)
        self.close(row["Cosine"], -1)
        self.assertEqual(row["MaxRelativeErr"], 2)
        self.assertNotIn(row["MaxAbsErr"], (0, "Infinity"))
        self.assertEqual(result.code, 1)


if __name__ == "__main__":
    harness.main()
