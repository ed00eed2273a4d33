"""Comparisons on GPUs: the stand-in for the CUDA driver (tests/twin/gpu), which runs the very text of the kernels.

Tables are compared byte by byte with those of the CPU, whatever the numbers are: the bits are the same.
"""
import math
import os
import random

import dumps
import harness
from test_device import Compared, warnings_of

LIBRARY = os.environ.get("TDC_CUDA_TWIN", "")
TWIN = {"TDC_CUDA_LIBRARY": LIBRARY, "TDC_NVRTC_LIBRARY": LIBRARY, "TDC_DEVICE_LEAST": "1"}
NO_ASCEND = {"TDC_ACL_LIBRARY": "/nonexistent/libacl_rt.so"}


def twin(**changes):
    return dict(TWIN, **NO_ASCEND, **changes)


def values(count, seed, faults=()):
    source = random.Random(seed)
    found = [source.gauss(0, 1) * 10 ** source.randrange(-3, 4) for _ in range(count)]
    for at, value in faults:
        found[at] = value
    return found


def tensors():
    inf, nan = math.inf, math.nan
    found = {}
    for number, dtypes in enumerate((("f32", "f32"), ("f16", "f16"), ("bf16", "bf16"), ("bf16", "f32"), ("f64", "f64"),
                                     ("f16", "f64"))):
        base = values(3001, number)
        other = [value * (1 + (i % 7) * 1e-3) for i, value in enumerate(base)]
        found["_".join(dtypes)] = (dtypes, base, other)
    found["i64"] = (("i64", "i64"), [2**53 + i for i in range(3000)], [2**53 + 2 * i for i in range(3000)])
    found["i64_f32"] = (("i64", "f32"), list(range(3000)), [float(2 * i) for i in range(3000)])
    found["wide"] = (("i64", "f64"), [2**60 + i for i in range(3000)], [float(2**60)] * 3000)
    found["nan"] = (("f32", "f32"), values(2048, 11, [(500, nan), (501, inf)]), values(2048, 11, [(500, nan), (9, -inf)]))
    found["zeros"] = (("f16", "f16"), [0.0] * 1024, values(1024, 12))
    found["same"] = (("f32", "f32"), values(1024, 13), values(1024, 13))
    return found


class SameTable(Compared):
    def setUp(self):
        super().setUp()
        self.make_sides(tensors())

    def test_every_rule_and_card(self):
        for rules in ("sound", "compat", "msprobe26"):
            cpu, first = self.table("--device", "cpu", "--rules", rules)
            for device in ("cuda", "cuda:1", "cuda:0,1", "cuda:all", "gpu"):
                with self.subTest(rules=rules, device=device):
                    table, result = self.table("--device", device, "--no-fallback", "--rules", rules, "-t", "3",
                                               code=first.code, env=twin())
                    self.assertEqual((table, result.err), (cpu, first.err))

    def test_failures_cost_a_warning(self):
        cpu, first = self.table("--device", "cpu")
        for fail in ("25:2", "60:700", "90:1", "120:719", "150:2"):
            with self.subTest(fail=fail):
                table, result = self.table("--device", "cuda", "-t", "1", code=first.code,
                                           env=twin(CUDA_TWIN_FAIL=fail))
                self.assertEqual(table, cpu)
                self.assertLessEqual(len(warnings_of(result)), 1, str(result))
        _, result = self.table("--device", "cuda", "-t", "1", "--no-fallback", code=2, env=twin(CUDA_TWIN_FAIL="60:700"))
        self.assert_one_line(result.err, "CUDA_ERROR_TWIN")


class Choice(Compared):
    def setUp(self):
        super().setUp()
        self.make_sides({"f32": (("f32", "f32"), values(5000, 1), values(5000, 2))})
        self.cpu, self.first = self.table("--device", "cpu")

    def test_asking_for_what_is_not_there(self):
        for device, env, text in (("cuda", {}, "no such file"), ("opencl", {}, "no such file"), ("gpu", {}, "OpenCL"),
                                  ("cuda:5", twin(), "there is no device 5"), ("cuda:", {}, "expected auto"),
                                  ("opencl:x", {}, "expected auto"), ("cuda0", {}, "expected auto"),
                                  ("cuda", twin(CUDA_TWIN_FAIL="1:100"), "cuInit: 100")):
            with self.subTest(device=device, text=text):
                _, result = self.table("--device", device, code=2, env=env)
                self.assert_one_line(result.err, text)

    def test_auto_measures(self):
        table, result = self.table("--device", "auto", env=twin(TDC_AUTO_LEAST="0"), code=self.first.code)
        self.assertEqual(table, self.cpu)
        self.assert_one_line(result.err, "device auto: Twin 0", "GB/s", "using the")
        table, result = self.table("--device", "auto", code=self.first.code,
                                   env=twin(TDC_AUTO_LEAST="0", TDC_AUTO_CPU_RATE="1e-9"))
        self.assertEqual(table, self.cpu)
        self.assert_one_line(result.err, "device auto: Twin 0", "using the device")

    def test_wrong_cards_are_not_used(self):
        table, result = self.table("--device", "auto", code=self.first.code,
                                   env=twin(TDC_AUTO_LEAST="0", CUDA_TWIN_WRONG="1"))
        self.assertEqual(table, self.cpu)
        self.assertEqual(len(warnings_of(result)), 1, str(result))
        self.assertIn("self-test of float32 against float32 on cuda:0 (Twin 0)", result.err)


class Devices(harness.Case):
    def test_cards_are_listed_with_their_tests(self):
        result = self.run_code(0, "devices", env=twin())
        for text in ("cuda:0 Twin 0, 2 units, 8.0 GiB\n", "cuda:1 Twin 1", "self-tests passed", "no device of opencl: "):
            self.assertIn(text, result.out)
        result = self.run_code(1, "devices", env=twin(CUDA_TWIN_WRONG="1"))
        self.assertIn("the result differs from the CPU's", result.out)

    def test_libraries_that_are_none(self):
        broken = harness.write_text(self.path("libcuda.so.1"), "not a library")
        other = os.environ.get("TDC_LIBRARY", "")
        for library, text in ((broken, "file too short"), (other, "has no function cuInit")):
            result = self.run_code(1, "devices", env=dict(NO_ASCEND, TDC_CUDA_LIBRARY=library))
            self.assertIn(text, result.out)


class Bench(harness.Case):
    def test_hops(self):
        result = self.run_code(0, "bench", "device", "--device", "cuda:1", "--size", "3M", env=twin())
        for hop in ("read", "H2D", "kernel", "D2H", "all, one thread", "CPU, one thread"):
            self.assertRegex(result.out, r"\n  %s[^\n]* \d+\.\d\d GB/s\n" % hop)
        self.assertRegex(result.out, r"overlap +\d+\.\d\d hops")


if __name__ == "__main__":
    harness.main()
