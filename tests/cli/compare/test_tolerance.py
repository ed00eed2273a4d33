"""--atol, --rtol, --cos: elements against |test - ref| <= atol + rtol * |ref|, counted exactly."""
import json
import random

import dumps
import harness


class Tolerance(harness.Case):
    def pair(self, test, ref, dtype="f32"):
        paths = []
        for name, values in (("npu", test), ("bench", ref)):
            dump = dumps.Dump(self.path(name))
            dump.call("f", "input", [1.0, 2.0], dtype="f32")
            dump.call("f", "output", values, dtype=dtype)
            paths.append(dump.write())
        return paths

    def row(self, code, sides, *words):
        result = self.run_code(code, "compare", *sides, "--json", *words)
        found = json.loads(result.out)
        return found, found["rows"][1]

    def test_against_plain_arithmetic(self):
        """Counts of the program are those of a loop, at every dtype and limit."""
        source = random.Random(7)
        for dtype in ("f32", "f16", "bf16", "f64", "i64"):
            ref = [source.uniform(-3, 3) for _ in range(5000)]
            test = [value * (1 + source.uniform(-1e-2, 1e-2)) + source.uniform(-1e-3, 1e-3) for value in ref]
            if dtype == "i64":
                ref = [2**60 + round(1000 * value) for value in ref]
                test = [value + source.randrange(-9, 10) for value in ref]
            sides = self.pair(test, ref, dtype)
            test, ref = dumps.stored(dtype, test), dumps.stored(dtype, ref)
            for atol, rtol in ((1e-3, 1e-2), (0.0, 5e-3), (2e-3, 0.0), (4.0, 0.0), (0.0, 3e-18)):
                with self.subTest(dtype=dtype, atol=atol, rtol=rtol):
                    beyond = sum(1 for t, r in zip(test, ref) if not abs(t - r) <= atol + rtol * abs(r))
                    found, row = self.row(1 if beyond else 0, sides, "--atol", atol, "--rtol", rtol)
                    self.assertEqual(found["tolerance"], {"by": "given", "atol": atol, "rtol": rtol})
                    if beyond:
                        self.assertEqual(row["verdict"], "different")
                        self.assertIn("%d of 5000 elements beyond %g + %g * |ref|." % (beyond, atol, rtol), row["message"])
                        self.assertIn("elements_beyond_tolerance", row["reasons"])
                    else:
                        self.assertNotEqual(row["verdict"], "different")

    def run_code(self, code, *words, **settings):
        return super().run_code(code, *[str(word) for word in words], **settings)

    def test_it_replaces_the_limits(self):
        sides = self.pair([1.0, 2.5], [1.0, 2.0])
        self.assertEqual(self.row(1, sides)[1]["verdict"], "different")
        found, row = self.row(0, sides, "--atol", 0.5)
        self.assertEqual(row["verdict"], "close")
        self.assertEqual(found["origins"], [])
        sides = self.pair([1.0, 2.0000002], [1.0, 2.0])
        self.assertEqual(self.row(0, sides)[1]["verdict"], "rounding")
        self.assertEqual(self.row(1, sides, "--rtol", 0)[1]["verdict"], "different")

    def test_cosine(self):
        sides = self.pair([1.0, 2.5], [1.0, 2.0])
        self.assertEqual(self.row(0, sides, "--cos", 0.9)[1]["verdict"], "close")
        row = self.row(1, sides, "--cos", 0.9999)[1]
        self.assertEqual((row["verdict"], row["reasons"]), ("different", ["cosine_below_limit"]))

    def test_not_finite(self):
        nan, inf = float("nan"), float("inf")
        self.row(0, self.pair([nan, inf, 1.0], [nan, inf, 1.5]), "--atol", 0.5)
        for test in ([nan, 1.0], [inf, 1.0]):
            row = self.row(1, self.pair(test, [1.0, 1.0]), "--atol", 1e30)[1]
            self.assertIn("1 of 2 elements beyond", row["message"])

    def test_the_page_says_it(self):
        sides = self.pair([1.0, 2.5], [1.0, 2.0])
        page = self.run_code(0, "compare", *sides, "-o", self.path("out"), "--atol", 0.5, "--rtol", 0.01, "--cos", 0.9).out
        self.assertIn("  tolerance |test - ref| <= 0.5 + 0.01 * |ref|, cosine >= 0.9\n", page)

    def test_what_cannot_be(self):
        sides = self.pair([1.0], [1.0])
        self.assertIn("not negative", self.run_code(2, "compare", *sides, "--atol", "-1").err)
        self.assertIn("from -1 to 1", self.run_code(2, "compare", *sides, "--cos", "2").err)
        self.assertIn("rules sound", self.run_code(2, "compare", *sides, "--atol", "1", "--rules", "msprobe").err)
        for name in ("s", "t"):
            dump = dumps.Dump(self.path(name), task="statistics")
            dump.call("f", "input", [1.0])
            dump.write()
        self.assertIn("these dumps have statistics",
                      self.run_code(2, "compare", self.path("s"), self.path("t"), "--atol", "1").err)


if __name__ == "__main__":
    harness.main()
