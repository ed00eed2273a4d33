"""The numbers of the sound form against numbers computed here, element by element, from the same files."""
import cmath
import math
import random

import dumps
import harness

INF, NAN = math.inf, math.nan


def finite(value):
    return cmath.isfinite(value)


def has_nan(value):
    return cmath.isnan(value)


def index_text(shape, index):
    parts = []
    for size in reversed(shape):
        parts.insert(0, index % size)
        index //= size
    return "[%s]" % ", ".join(map(str, parts))


def relative(n, b):
    """Sound rule: exact difference, 0 where equal, 1 where only the reference is 0."""
    if n == b:
        return 0.0
    if b == 0:
        return 1.0
    return abs(n - b) / abs(b)


def expected_values(ns, bs, shape):
    """The columns of a row, from exact element values (Python integers, floats, complex numbers)."""
    pairs = [(i, n, b) for i, (n, b) in enumerate(zip(ns, bs)) if finite(n) and finite(b)]
    # what is not finite on either side and the same on both counts as agreement
    alike = sum(1 for n, b in zip(ns, bs) if not (finite(n) and finite(b)) and
                ((has_nan(n) and has_nan(b)) or (not has_nan(n) and not has_nan(b) and n == b)))
    errors = [(float(abs(n - b)), relative(n, b), i, n, b) for i, n, b in pairs]
    worst_abs = max(errors, key=lambda e: (e[0], -e[2]))
    worst_rel = max(errors, key=lambda e: (e[1], -e[2]))
    count = len(ns)
    squares = [math.fsum(abs(complex(x)) ** 2 for x in side) for side in zip(*((n, b) for _, n, b in pairs))]
    product = math.fsum((complex(n) * complex(b).conjugate()).real for _, n, b in pairs)
    distance = math.fsum(e[0] ** 2 for e in errors)

    def below(limit):
        return (sum(1 for e in errors if e[1] < limit) + alike) / count

    return {
        "Cosine": product / math.sqrt(squares[0]) / math.sqrt(squares[1]),
        "EucDist": math.sqrt(distance),
        "MaxAbsErr": worst_abs[0], "MaxRelativeErr": worst_rel[1],
        "One Thousandth Err Ratio": below(0.001), "Five Thousandths Err Ratio": below(0.005),
        "Rel Err Below 1%": below(0.01), "Rel Err Below 10%": below(0.1),
        "Mean Abs Err": math.fsum(e[0] for e in errors) / len(errors),
        "RMSE": math.sqrt(distance / len(errors)),
        "Worst Abs At": index_text(shape, worst_abs[2]),
        "Worst Abs NPU": worst_abs[3], "Worst Abs Bench": worst_abs[4],
        "Worst Rel At": index_text(shape, worst_rel[2]),
        "Worst Rel NPU": worst_rel[3], "Worst Rel Bench": worst_rel[4],
        "NPU NaN": sum(map(has_nan, ns)), "Bench NaN": sum(map(has_nan, bs)),
        "NPU Inf": sum(1 for n in ns if cmath.isinf(n) and not has_nan(n)),
        "Bench Inf": sum(1 for b in bs if cmath.isinf(b) and not has_nan(b)),
        "Elements": count,
    }


SUMMED = ("Cosine", "EucDist", "Mean Abs Err", "RMSE")


class Values(harness.Case):
    def rows_for(self, code, tensors):
        """tensors: {name: (dtype, shape, npu elements, bench elements)}"""
        sides = []
        for side in (0, 1):
            dump = dumps.Dump(self.path(("npu", "bench")[side]))
            for name, (dtype, shape, *elements) in tensors.items():
                dump.call(name, "input", elements[side], shape, dtype)
            sides.append(dump.write())
        rows = harness.by_name(self.compare(code, *sides, rows_of="json")[0])
        return {name: rows["Functional.%s.0.forward.input.0" % name] for name in tensors}

    def check_row(self, row, dtype, shape, ns, bs):
        expected = expected_values(dumps.stored(dtype, ns), dumps.stored(dtype, bs), shape)
        for column, value in expected.items():
            found = row[column]
            if column in SUMMED:
                self.assertAlmostEqual(found, value, delta=1e-12 * max(1.0, abs(value)), msg=column)
            elif isinstance(value, complex):
                self.assertLessEqual(abs(complex(found) - value), 2e-15 * abs(value), column)
            elif dtype in ("c64", "c128") and isinstance(value, float):
                self.assertAlmostEqual(found, value, delta=4e-16 * abs(value), msg=column)
            else:
                self.assertEqual(found, value, column)

    def test_every_type(self):
        numbers = random.Random(7)

        def noise(count, scale=4.0):
            return [numbers.uniform(-scale, scale) for _ in range(count)]

        tensors = {}
        for dtype in ("f32", "f64", "f16", "bf16"):
            b = noise(1234)
            n = [v * (1 + numbers.choice((0, 0, 1e-4, 3e-3, 8e-3, 0.05, -0.3))) for v in b]
            b[17], n[17] = 0.0, 0.0
            b[18], n[18] = 0.0, 0.25
            tensors[dtype] = (dtype, [2, 617], n, b)
        for dtype, most in (("i8", 127), ("u8", 255), ("i16", 30000), ("i32", 2**31 - 1), ("i64", 2**53)):
            least = 0 if dtype == "u8" else -most
            b = [numbers.randint(least, most) for _ in range(300)]
            n = [numbers.randint(least, most) if i % 5 == 0 else v for i, v in enumerate(b)]
            tensors[dtype] = (dtype, [3, 10, 10], n, b)
        tensors["bool"] = ("bool", [8], [True, False] * 4, [True, True, False, False] * 2)
        for dtype in ("c64", "c128"):
            b = [complex(x, y) for x, y in zip(noise(50), noise(50))]
            n = [v * complex(1.001, 0.002) if i % 3 else v.conjugate() for i, v in enumerate(b)]
            tensors[dtype] = (dtype, [5, 10], n, b)
        for name, row in self.rows_for(1, tensors).items():
            with self.subTest(dtype=name):
                self.check_row(row, *tensors[name])

    def test_integers_beyond_two_to_the_53(self):
        b = [2**53, 2**62, -2**63, 2**63 - 1, 5]
        n = [2**53 + 1, 2**62 + 1, -2**63, 2**63 - 1, 5]
        far = ([2**63 - 1, 0], [-2**63, 0])
        rows = self.rows_for(1, {"near": ("i64", [5], n, b), "far": ("i64", [2], *far)})
        self.assertEqual(rows["near"]["MaxAbsErr"], 1)
        self.assertEqual(rows["near"]["Mean Abs Err"], 0.4)
        self.assertEqual(rows["near"]["Worst Abs At"], "[0]")
        self.assertEqual((rows["near"]["Worst Abs NPU"], rows["near"]["Worst Abs Bench"]), (2**53 + 1, 2**53))
        self.assertEqual(rows["far"]["MaxAbsErr"], 2.0**64)
        self.assertEqual(rows["far"]["Worst Abs NPU"], 2**63 - 1)

    def test_imaginary_parts_count(self):
        rows = self.rows_for(1, {"c": ("c64", [2], [complex(1, 5), 1], [complex(1, 2), 1])})
        self.assertEqual(rows["c"]["MaxAbsErr"], 3)
        self.assertEqual(rows["c"]["Verdict"], "different")

    def test_nan_and_infinities(self):
        b = [INF, -INF, NAN, 1.0, 2.0, INF, NAN, 3.0, INF]
        n = [INF, -INF, NAN, 1.0, 2.5, 7.0, 8.0, NAN, -INF]
        for dtype in ("f32", "f64", "f16", "bf16", "c64"):
            with self.subTest(dtype=dtype):
                row = self.rows_for(1, {"x": (dtype, [9], n, b)})["x"]
                self.check_row(row, dtype, [9], n, b)
                self.assertEqual((row["NPU NaN"], row["NPU Inf"], row["Bench NaN"], row["Bench Inf"]), (2, 3, 2, 4))
                self.assertEqual(row["Verdict"], "different")
                self.assertIn("The position of inf or nan in test and ref tensor do not match.", row["Err_message"])

    def test_infinity_of_the_other_sign_differs(self):
        rows = self.rows_for(1, {"signs": ("f32", [3], [INF, 1, 2], [-INF, 1, 2]),
                                 "same": ("f32", [3], [INF, 1, NAN], [INF, 1, NAN])})
        self.assertEqual(rows["signs"]["Verdict"], "different")
        self.assertEqual(rows["same"]["Verdict"], "identical")
        self.assertEqual(rows["same"]["One Thousandth Err Ratio"], 1)

    def test_zeros_in_half_precision(self):
        """The original calls every exact zero of float16 an error."""
        rows = self.rows_for(0, {"f16": ("f16", [3], [0, 1, 2], [0, 1, 2])})
        self.assertEqual((rows["f16"]["MaxRelativeErr"], rows["f16"]["One Thousandth Err Ratio"]), (0, 1))

    def test_nothing_vanishes_by_rounding(self):
        rows = self.rows_for(0, {"tiny": ("f64", [2], [1e-13, 1], [2e-13, 1])})
        self.assertEqual(rows["tiny"]["MaxAbsErr"], 2e-13 - 1e-13)
        self.assertEqual(rows["tiny"]["Verdict"], "close")

    def test_single_elements(self):
        rows = self.rows_for(1, {"zero_d": ("f32", [], [1.5], [1.25]), "one": ("f32", [1], [1.5], [1.5]),
                                 "u8": ("u8", [], [3], [5])})
        self.assertEqual((rows["zero_d"]["MaxAbsErr"], rows["zero_d"]["MaxRelativeErr"]), (0.25, 0.2))
        self.assertEqual(rows["zero_d"]["Verdict"], "different")
        self.assertEqual(rows["one"]["Verdict"], "identical")
        self.assertEqual(rows["u8"]["MaxAbsErr"], 2)

    def test_different_types_are_compared(self):
        """float64 against float32 is no reason not to look; the message says so."""
        for side, dtype in (("npu", "f64"), ("bench", "f32")):
            dump = dumps.Dump(self.path(side))
            dump.call("x", "input", [0.5, 0.25, 1.0], dtype=dtype)
            dump.write()
        rows, _ = self.compare(0, self.path("npu"), self.path("bench"), rows_of="json")
        self.assertEqual(rows[0]["MaxAbsErr"], 0)
        self.assertIn("Dtype of test and ref tensor do not match.", rows[0]["Err_message"])

    def test_views_and_byte_orders(self):
        """The same numbers, stored in five ways, are the same tensor."""
        values = [float(i * i % 97) for i in range(24)]
        across = [values[r * 6 + c] for c in range(6) for r in range(4)]
        plain = dumps.pt_bytes("f32", [4, 6], dumps.pack("f32", values))
        swapped = b"".join(dumps.pack("f32", [v])[::-1] for v in values)
        views = {
            "transposed": dumps.pt_bytes("f32", [4, 6], dumps.pack("f32", across), strides=[1, 4]),
            "offset": dumps.pt_bytes("f32", [4, 6], dumps.pack("f32", [9.0] * 5 + values), offset=5),
            "gaps": dumps.pt_bytes("f32", [4, 6], dumps.pack("f32", [x for v in values for x in (v, -1)]), [12, 2]),
        }
        arrays = {
            "big_endian": dumps.npy_bytes(">f4", [4, 6], swapped),
            "fortran": dumps.npy_bytes("<f4", [4, 6], dumps.pack("f32", across), fortran=True),
            "version_2": dumps.npy_bytes("<f4", [4, 6], dumps.pack("f32", values), version=(2, 0)),
            "version_3": dumps.npy_bytes("<f4", [4, 6], dumps.pack("f32", values), version=(3, 0)),
        }
        npu, bench = dumps.Dump(self.path("npu")), dumps.Dump(self.path("bench"))
        for name, data in views.items():
            npu.call(name, "input", data, [4, 6])
            bench.call(name, "input", plain, [4, 6])
        for name, data in arrays.items():
            npu.call(name, "input", data, [4, 6], suffix="npy")
            bench.call(name, "input", dumps.npy_bytes("<f4", [4, 6], dumps.pack("f32", values)), [4, 6], suffix="npy")
        npu.write()
        bench.write()
        rows, _ = self.compare(0, npu.folder, bench.folder, rows_of="json")
        self.assertEqual(len(rows), len(views) + len(arrays))
        for row in rows:
            self.assertEqual((row["EucDist"], row["Cosine"], row["Elements"]), (0, 1, 24), row)


class Statistics(harness.Case):
    def compare_stats(self, code, npu, bench, **settings):
        paths = [dumps.statistics_dump(self.path(side), rows) for side, rows in (("npu", npu), ("bench", bench))]
        rows, result = self.compare(code, *paths, rows_of="json", **settings)
        return {row["NPU Name"].split(".")[1]: row for row in rows}, result

    def test_differences_are_exact(self):
        rows, _ = self.compare_stats(1, {"a": (1.1, 0.0, 0.0012345678901234567, 3.0), "b": (1.0, 1.0, 1.0, 1.0),
                                         "c": (2.0, 0.5, 1e-12, 1.0)},
                                     {"a": (1.0, 0.0, 0.0012345678901234565, 2.5), "b": (1.0, 1.0, 1.0, 4.0),
                                      "c": (2.0, 0.5, 0.0, 1.0)})
        self.assertEqual(rows["a"]["Max diff"], 1.1 - 1.0)
        self.assertEqual(rows["a"]["Mean diff"], 0.0012345678901234567 - 0.0012345678901234565)
        self.assertEqual(rows["a"]["MaxRelativeErr"], abs((1.1 - 1.0) / 1.0) * 100 / 100)
        self.assertEqual(rows["a"]["MinRelativeErr"], 0)
        self.assertEqual(rows["a"]["NormRelativeErr"], 0.2)
        self.assertEqual((rows["a"]["Verdict"], rows["b"]["Verdict"], rows["c"]["Verdict"]), ("different", "different", "rounding"))
        self.assertEqual(rows["b"]["NormRelativeErr"], 0.75)

    def test_nan_and_infinity(self):
        rows, _ = self.compare_stats(1, {"both": (NAN, INF, -INF, 1.0), "npu": (NAN, 0.0, 0.0, 0.0),
                                         "bench": (1.0, 0.0, 0.0, 0.0), "sign": (INF, 0.0, 0.0, 0.0)},
                                     {"both": (NAN, INF, -INF, 1.0), "npu": (1.0, 0.0, 0.0, 0.0),
                                      "bench": (INF, 0.0, 0.0, 0.0), "sign": (-INF, 0.0, 0.0, 0.0)})
        self.assertEqual({name: row["Verdict"] for name, row in rows.items()},
                         {"both": "identical", "npu": "different", "bench": "different", "sign": "different"})
        self.assertIn("NaN or infinity in test statistics.", rows["npu"]["Err_message"])
        self.assertIn("NaN or infinity in ref statistics.", rows["bench"]["Err_message"])
        self.assertEqual(rows["npu"]["colour"], "red")
        self.assertNotIn("colour", rows["both"])

    def test_digests(self):
        for side, digest in (("npu", "0badc0de"), ("bench", "12345678")):
            dump = dumps.Dump(self.path(side), "statistics")
            dump.entry("Functional.a.0.forward", input_args=[dumps.item("f32", [2], md5="aabbccdd")])
            dump.entry("Functional.b.0.forward", input_args=[dumps.item("f32", [2], md5=digest)])
            dump.write()
        rows, result = self.compare(1, self.path("npu"), self.path("bench"))
        self.assertEqual([row["Result"] for row in rows], ["identical", "different"])
        self.assertEqual((rows[1]["NPU MD5"], rows[1]["BENCH MD5"]), ("0badc0de", "12345678"))
        self.assertIn("0badc0de against 12345678", result.out)
        rows, _, _ = self.msprobe(0, self.path("npu", "dump.json"), self.path("bench", "dump.json"))
        self.assertEqual([row["Result"] for row in rows], ["pass", "Different"])


if __name__ == "__main__":
    harness.main()
