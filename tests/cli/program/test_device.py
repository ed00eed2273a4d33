"""Comparisons on a device: the stand-in for AscendCL (tests/twin/acl), which is stricter than a card.

Tables are compared byte by byte with those of the CPU. That is possible although the sums of a device
may differ in their last digits: the tensors of these tests hold small multiples of 1/8, so that every
sum is exact in any order, and whatever part of a tensor the CPU redoes changes nothing.
"""
import csv
import io
import math
import os
import random
import re
import tempfile

import dumps
import harness

TWIN = {"TDC_ACL_LIBRARY": os.environ.get("TDC_TWIN", ""), "TDC_KERNELS": os.environ.get("TDC_TWIN_KERNELS", ""),
        "TDC_DEVICE_LEAST": "1", "ACL_TWIN_PINNED": "1", "ACL_TWIN_CORES": "2"}
NONE = {"TDC_ACL_LIBRARY": "/nonexistent/libacl_rt.so"}
TILE = 4096
# Launches before the first tensor: the probe of the arithmetic, and two of the self-test of a kernel.
TESTS = 3
# The first launch with tensors of small_tensors(): those of f32 wait for company while the kernel of f16 is tested.
FIRST = TESTS + 3

# Calls whose failure costs nothing: what they would have told is assumed, what they release is gone.
HARMLESS = ("aclrtSetOpExecuteTimeOut", "aclrtSetOpExecuteTimeOutV2", "aclrtQueryEventStatus", "aclrtGetDeviceInfo", "aclrtGetMemInfo", "aclrtResetDevice", "aclrtFree", "aclrtFreeHost",
            "aclrtDestroyStream", "aclrtDestroyEvent", "aclrtBinaryUnLoad", "aclFinalize")
ASYNCHRONOUS = ("aclrtMemcpyAsync", "aclrtLaunchKernelWithHostArgs", "aclrtRecordEvent")


def twin(**changes):
    return dict(TWIN, **changes)


def exact_values(count, seed, faults=()):
    source = random.Random(seed)
    values = [source.randrange(-64, 65) / 8 for _ in range(count)]
    for at, value in faults:
        values[at] = value
    return values


class Compared(harness.Case):
    def make_sides(self, tensors):
        """{name: (dtypes, npu values, bench values)} as two dumps."""
        self.sides = []
        for side in (0, 1):
            dump = dumps.Dump(self.path(("npu", "bench")[side]))
            for name, (dtypes, *values) in tensors.items():
                dump.call(name, "input", values[side], dtype=dtypes[side])
            dump.write()
            self.sides.append(dump.folder)

    def table(self, *options, env=None, code=None):
        """The bytes of the csv, and the run."""
        out = tempfile.mkdtemp(prefix="out-", dir=self.folder)
        result = harness.run("compare", *self.sides, "-q", "-F", "csv", "--no-advice", "-o", out, *options, env=env)
        self.assertNotIn("Sanitizer", result.err, str(result))
        self.assertNotIn("acl_twin:", result.err, str(result))
        if code is not None:
            self.assertEqual(result.code, code, str(result))
        if result.code == 2:
            self.assertEqual(harness.files_below(out), [])
            return b"", result
        return harness.read_bytes(harness.only_file(out, "csv")), result


def lines_of(table):
    """The rows of a csv: a cell may hold several lines."""
    return list(csv.reader(io.StringIO(table.decode("utf-8-sig"), newline="")))


def warnings_of(result):
    return [line for line in result.err.splitlines() if line.startswith("tdcmp: warning:")]


def small_tensors():
    return {
        "f32": (("f32", "f32"), exact_values(2 * TILE + 77, 1), exact_values(2 * TILE + 77, 2)),
        "f16": (("f16", "f16"), exact_values(TILE, 3), exact_values(TILE, 3, [(9, 1.0)])),
        "tiny": (("f32", "f32"), exact_values(50, 4), exact_values(50, 4)),
    }


class SameTable(Compared):
    def tensors(self):
        inf, nan = math.inf, math.nan
        found = dict(small_tensors())
        found["bf16"] = (("bf16", "bf16"), exact_values(TILE + 1, 5), exact_values(TILE + 1, 6))
        found["mixed"] = (("bf16", "f32"), exact_values(TILE, 7), exact_values(TILE, 8))
        found["mixed_too"] = (("f32", "bf16"), exact_values(TILE, 7), exact_values(TILE, 8))
        found["f64"] = (("f64", "f64"), exact_values(TILE, 9), exact_values(TILE, 10))
        found["i32"] = (("i32", "i32"), list(range(TILE)), list(range(TILE)))
        found["nan"] = (("f32", "f32"), exact_values(3 * TILE, 11, [(5000, nan), (5001, inf)]),
                        exact_values(3 * TILE, 11, [(5000, nan), (9000, -inf)]))
        found["zeros"] = (("f16", "f16"), [0.0] * TILE, exact_values(TILE, 12))
        found["same"] = (("f32", "f32"), exact_values(2 * TILE, 13), exact_values(2 * TILE, 13))
        return found

    def test_every_type_and_schedule(self):
        self.make_sides(self.tensors())
        for rules in ("sound", "compat"):
            cpu, first = self.table("--device", "cpu", "--rules", rules)
            for schedule in ("eager", "lazy", "random:1", "random:2"):
                with self.subTest(rules=rules, schedule=schedule):
                    table, result = self.table("--device", "ascend", "--rules", rules, "-t", "2", code=first.code,
                                               env=twin(ACL_TWIN_SCHEDULE=schedule))
                    self.assertEqual(result.err, "")
                    self.assertEqual(table, cpu)

    def test_several_cards(self):
        self.make_sides(self.tensors())
        cpu, first = self.table("--device", "cpu")
        for device in ("ascend:0,2", "ascend:all", "ascend:1"):
            table, result = self.table("--device", device, "-t", "4", code=first.code,
                                       env=twin(ACL_TWIN_DEVICES="3"))
            self.assertEqual((table, result.err), (cpu, ""))

    def test_little_memory(self):
        """One slot where four do not fit."""
        self.make_sides(self.tensors())
        cpu, first = self.table("--device", "cpu")
        table, result = self.table("--device", "ascend", "-t", "1", code=first.code,
                                   env=twin(ACL_TWIN_MEMORY="20000000"))
        self.assertEqual((table, result.err), (cpu, ""))

    def test_several_chunks(self):
        count = 2**18 + 3 * TILE + 5
        worse = exact_values(count, 21)
        worse[2**18 + 7] += 64
        self.make_sides({"large": (("f32", "f32"), worse, exact_values(count, 21))})
        cpu, first = self.table("--device", "cpu")
        table, result = self.table("--device", "ascend", "-t", "1", code=first.code, env=twin(TDC_DEVICE_LEAST="65536"))
        self.assertEqual((table, result.err), (cpu, ""))

    def test_dump_full_of_nan(self):
        values = [math.nan] * (2 * TILE)
        self.make_sides({"nan": (("f32", "f32"), values, values)})
        cpu, first = self.table("--device", "cpu")
        table, _ = self.table("--device", "ascend", code=first.code, env=twin())
        self.assertEqual(table, cpu)


class Faults(Compared):
    """Whatever a device does, the table is that of the CPU, with one warning and nothing leaked."""

    def setUp(self):
        super().setUp()
        self.make_sides(small_tensors())
        self.cpu, self.first = self.table("--device", "cpu")

    def calls(self, *options, **env):
        log = self.path("calls")
        table, _ = self.table("--device", "ascend", *options, code=self.first.code, env=twin(ACL_TWIN_LOG=log, **env))
        self.assertEqual(table, self.cpu)
        return harness.read_text(log).split()

    def check(self, harmless, *options, **env):
        table, result = self.table("--device", "ascend", *options, code=self.first.code, env=twin(**env))
        self.assertEqual(table, self.cpu, str(result))
        self.assertEqual(len(warnings_of(result)), 0 if harmless else 1, str(result))
        self.assertEqual(len(result.err.splitlines()), len(warnings_of(result)), str(result))

    def test_every_call(self):
        names = self.calls("-t", "1", ACL_TWIN_SCHEDULE="lazy")
        self.assertGreater(len(names), 60)
        # after the last wait nothing but cleaning up is left
        last = max(i for i, name in enumerate(names, 1) if name.startswith("aclrtSynchronize"))
        for number, name in enumerate(names, 1):
            # the device itself, and a resource; where the same is done once more, a third of the calls, in turns
            codes = ("507035", "207005")
            for code in codes if not harness.LEAN else codes[number % 2:][:number % 3 == 0]:
                with self.subTest(call=number, name=name, code=code):
                    self.check(name in HARMLESS or number > last, "-t", "1", ACL_TWIN_SCHEDULE="lazy",
                               ACL_TWIN_FAIL="%d:%s" % (number, code))

    def test_every_deferred_error(self):
        names = self.calls("-t", "1")
        tried = 0
        for number, name in enumerate(names, 1):
            if name in ASYNCHRONOUS:
                tried += 1
                if harness.LEAN and tried % 3:
                    continue
                with self.subTest(call=number, name=name):
                    self.check(False, "-t", "1", ACL_TWIN_SCHEDULE=("eager", "lazy", "random")[number % 3],
                               ACL_TWIN_FAIL="%d:507035:deferred" % number)
        self.assertGreaterEqual(tried, 20)

    def test_lost_device(self):
        names = self.calls("-t", "2")
        for number in range(1, len(names), 7):
            with self.subTest(call=number, name=names[number - 1]):
                table, result = self.table("--device", "ascend", "-t", "2", code=self.first.code,
                                           env=twin(ACL_TWIN_LOST="%d:507010" % number))
                self.assertEqual(table, self.cpu, str(result))
                self.assertLessEqual(len(warnings_of(result)), 1, str(result))

    def test_out_of_memory(self):
        self.check(False, ACL_TWIN_MEMORY="1000")

    def test_kernel_that_hangs(self):
        """Ended by the operator timeout; never, but its stream by force; never, and not by force either. What waits
        for unfinished work as documented ends the process here."""
        old = os.environ.get("TDC_TWIN_OLD", "")
        for kernel in ("1", str(FIRST)):
            for schedule in ("eager", "lazy"):
                for runtime in ({}, {"ACL_TWIN_STUCK": "1"}, {"TDC_ACL_LIBRARY": old},
                                {"ACL_TWIN_STUCK": "1", "TDC_ACL_LIBRARY": old}):
                    with self.subTest(kernel=kernel, schedule=schedule, **runtime):
                        self.check(False, "-t", "1", ACL_TWIN_HANG=kernel, ACL_TWIN_SCHEDULE=schedule, **runtime)

    def test_operator_timeout_ends_a_kernel(self):
        for runtime, name in (({}, "507034 VECTOR_CORE_TIMEOUT"), ({"ACL_TWIN_STUCK": "1"}, "507046 STREAM_SYNC_TIMEOUT")):
            _, result = self.table("--device", "ascend", "-t", "1", env=twin(ACL_TWIN_HANG=str(FIRST), **runtime))
            self.assert_one_line(result.err, name, "the twin says so", "f32", "CPU did")

    def test_records_left_unwritten(self):
        # the self-test notices the first; a poisoned record later is rescued like any odd tile
        self.check(False, "-t", "1", ACL_TWIN_POISON="1")
        self.check(True, "-t", "1", ACL_TWIN_POISON=str(FIRST))

    def test_wrong_kernel(self):
        self.check(False, ACL_TWIN_WRONG="1")

    def test_no_fallback(self):
        for env in ({"ACL_TWIN_HANG": str(FIRST)}, {"ACL_TWIN_WRONG": "1"}, {"ACL_TWIN_MEMORY": "1000"}):
            _, result = self.table("--device", "ascend", "--no-fallback", code=2, env=twin(**env))
            self.assert_one_line(result.err, "tdcmp: ")
            self.assertNotIn("warning", result.err)

    def test_no_kernels(self):
        self.check(False, TDC_KERNELS=self.path("empty"))


class Unfinished(Compared):
    """Sums of a device differ from the CPU's in their last digits. A tensor has those of the one or of the other,
    never a mixture: what a device began and did not finish the CPU does from the start."""

    CHUNK = 2**18

    def test_every_tensor_is_of_one_kind(self):
        source = random.Random(31)
        small = [[source.uniform(-3, 3) for _ in range(2 * TILE + 9)] for _ in range(2)]
        large = [[value for _ in range(13) for value in side] for side in small]
        large = [(side * 3)[:self.CHUNK + 2 * TILE + 5] for side in large]
        self.make_sides({"large": (("f32", "f32"), *large), "next": (("f32", "f32"), *small),
                         "last": (("f32", "f32"), *small)})
        log = self.path("calls")
        cpu = lines_of(self.table("--device", "cpu")[0])
        env = twin(ACL_TWIN_SCHEDULE="lazy", ACL_TWIN_LOG=log)
        device = lines_of(self.table("--device", "ascend", "-t", "1", env=env)[0])
        self.assertEqual(sum(x != y for x, y in zip(cpu, device)), 3)
        names = harness.read_text(log).split()
        launches = [i for i, name in enumerate(names, 1) if name == "aclrtLaunchKernelWithHostArgs"]
        # after the self-tests: the first chunk of large, as the card is idle; its second one with both others
        self.assertEqual(len(launches), TESTS + 2)
        kinds = []
        for number, code in ((launches[-2], "207005"), (launches[-2], "507035:deferred"), (launches[-1], "207005"),
                             (launches[-1], "507035")):
            with self.subTest(number=number, code=code):
                table, result = self.table("--device", "ascend", "-t", "1",
                                           env=twin(ACL_TWIN_SCHEDULE="lazy", ACL_TWIN_FAIL="%d:%s" % (number, code)))
                rows = lines_of(table)
                self.assertEqual(len(rows), len(cpu))
                for row, one, other in zip(rows, cpu, device):
                    self.assertIn(row, (one, other))
                kinds.append(tuple(row == one for row, one in zip(rows[1:], cpu[1:])))
                self.assertEqual(len(warnings_of(result)), 1, str(result))
        # by the CPU: large alone; all of them
        self.assertEqual(kinds, [(True, False, False)] * 2 + [(True, True, True)] * 2)


class Choice(Compared):
    def setUp(self):
        super().setUp()
        self.make_sides(small_tensors())
        self.cpu, self.first = self.table("--device", "cpu")

    def test_asking_for_what_is_not_there(self):
        for device, env, text in (("ascend", NONE, "no such file"),
                                  ("ascend:5", twin(), "there is no device 5"),
                                  ("ascend:all", twin(ACL_TWIN_DEVICES="0"), "no device"),
                                  ("ascend", twin(ACL_TWIN_STUB="1"), "stub"),
                                  ("tpu", {}, "expected auto, cpu, gpu, ascend"),
                                  ("ascend:", {}, "expected auto"),
                                  ("ascend:1,1", {}, "expected auto")):
            with self.subTest(device=device, text=text):
                _, result = self.table("--device", device, code=2, env=env)
                self.assert_one_line(result.err, text)

    def test_auto_without_device_is_silent(self):
        for env in (NONE, dict(NONE, TDC_AUTO_LEAST="0"), twin(ACL_TWIN_STUB="1", TDC_AUTO_LEAST="0")):
            table, result = self.table(env=env, code=self.first.code)
            self.assertEqual((table, result.err), (self.cpu, ""))

    def test_auto_measures_and_says_so(self):
        table, result = self.table("--device", "auto", env=twin(TDC_AUTO_LEAST="0"), code=self.first.code)
        self.assertEqual(table, self.cpu)
        # the twin is slower than any CPU
        self.assert_one_line(result.err, "device auto: Ascend910B3", "GB/s", "using the CPU")

    def test_auto_takes_a_faster_device(self):
        log = self.path("calls")
        table, result = self.table("--device", "auto", code=self.first.code,
                                   env=twin(TDC_AUTO_LEAST="0", TDC_AUTO_CPU_RATE="1e-9", ACL_TWIN_LOG=log))
        self.assertEqual(table, self.cpu)
        self.assert_one_line(result.err, "device auto: Ascend910B3", "using the device and the CPU")
        # the self-tests of two kernels, two rounds over eight chunks that may share launches, two tensors
        self.assertGreaterEqual(harness.read_text(log).split().count("aclrtLaunchKernelWithHostArgs"), TESTS + 2 + 4)

    def test_auto_with_a_broken_device(self):
        table, result = self.table(env=twin(TDC_AUTO_LEAST="0", ACL_TWIN_WRONG="1"), code=self.first.code)
        self.assertEqual(table, self.cpu)
        self.assertEqual(len(warnings_of(result)), 1, str(result))

    def test_msprobe_form(self):
        for device, code in (("ascend", 0), ("cpu", 0), ("nothing", 2)):
            self.msprobe(code, os.path.join(self.sides[0], "dump.json"), os.path.join(self.sides[1], "dump.json"),
                         "--device", device, env=twin())


class Devices(harness.Case):
    def test_cards_are_listed_with_their_kernels(self):
        result = self.run_code(0, "devices", env=twin(ACL_TWIN_DEVICES="2", ACL_TWIN_SOC="Ascend910B4-1", ACL_TWIN_CORES="40"))
        self.assertIn("ascend:1 Ascend910B4-1, 40 vector cores", result.out)
        self.assertEqual(result.out.count("self-test passed"), 20)

    def test_why_there_is_none(self):
        broken = harness.write_text(self.path("libacl_rt.so"), "not a library")
        for env, text in ((NONE, "/nonexistent/libacl_rt.so"),
                          ({"TDC_ACL_LIBRARY": broken}, "driver is missing"),
                          ({"TDC_ACL_LIBRARY": os.environ.get("TDC_LIBRARY", "")}, "needs CANN 8.5"),
                          (twin(ACL_TWIN_STUB="1"), "stub for building"),
                          (twin(ACL_TWIN_DEVICES="0"), "there is no device"),
                          (twin(ACL_TWIN_FAIL="1:507000"), "aclInit: 507000")):
            with self.subTest(text=text):
                self.assertIn(text, self.run_code(1, "devices", env=env).out)

    def test_flaws_of_a_card_are_noticed(self):
        """By every kernel: rounding to zero, flushed subnormals, division by 4 units off, buffers that are not filled
        again. Whether a multiply-add rounds once is not a flaw."""
        for flaw, text in (("zero", "Add is off"), ("flush", "subnormal numbers are flushed"), ("divide", "Div is off"),
                           ("stale", "self-test of tdc_pair_f16 ")):
            with self.subTest(flaw=flaw):
                result = self.run_code(1, "devices", env=twin(ACL_TWIN_FLAW=flaw, ACL_TWIN_CORES="3"))
                self.assertIn(text, result.out)
                self.assertNotIn("passed", result.out)
        result = self.run_code(0, "devices", env=twin(ACL_TWIN_FLAW="fused", ACL_TWIN_CORES="3"))
        self.assertEqual(result.out.count("passed"), 10)

    def test_places_are_named(self):
        result = self.run_code(1, "devices", env={"ASCEND_HOME_PATH": self.path("cann"), "TDC_ACL_LIBRARY": ""})
        self.assertIn(self.path("cann/lib64/libacl_rt.so"), result.out)
        self.assertIn("set_env.sh", result.out)

    def test_wrong_soc_has_no_kernels(self):
        result = self.run_code(1, "devices", env=twin(ACL_TWIN_SOC="Ascend310P3"))
        self.assertIn("no kernel tdc_probe for Ascend310P3", result.out)


class Bench(harness.Case):
    def test_hops_and_the_table_of_the_documentation(self):
        result = self.run_code(0, "bench", "device", "--size", "3M", env=TWIN)
        for hop in ("read", "H2D", "kernel", "D2H", "all, one thread", "CPU, one thread"):
            self.assertRegex(result.out, r"\n  %s[^\n]* \d+\.\d\d GB/s\n" % hop)
        # of each chunk the tile with the maxima
        self.assertRegex(result.out, r"tiles 128, rescued 2, fallbacks 0\n")
        self.assertIn("  sums: those of the CPU\n", result.out)
        counted = [line for line in result.out.splitlines() if line.startswith("| `tdc_pair_")]
        self.assertEqual(len(counted), 10)
        page = harness.read_text(os.path.join(os.environ["TDC_DOCS"], "ascend.md"))
        self.assertEqual([line for line in page.splitlines() if line.startswith("| `tdc_pair_")], counted)
        # what a vector core has without the part that belongs to the interface
        self.assertTrue(all(int(line.split("|")[-2]) <= 188160 for line in counted))

    def test_the_link_is_in_use(self):
        """By the clock of the stand-in: what the pipeline leaves of the link's time, not what a card does."""
        result = self.run_code(0, "bench", "device", "--size", "48M",
                               env=twin(ACL_TWIN_SCHEDULE="lazy", TDC_DEVICE_LEAST="8192"))
        found = dict(re.findall(r"link utilisation, (large|64 KiB) tensors +(\d\.\d\d)", result.out))
        self.assertGreaterEqual(float(found["large"]), 0.95, result.out)
        self.assertGreaterEqual(float(found["64 KiB"]), 0.8, result.out)
        self.assertRegex(result.out, r"kernel utilisation, large tensors +0\.[1-9]\d")

    def test_verify(self):
        env = twin(ACL_TWIN_CORES="8", ACL_TWIN_DEVICES="1")
        size = "1" if harness.LEAN else "4M"
        result = self.run_code(0, "bench", "device", "--verify", "--size", size, env=env)
        self.assertIn("0 answers are wrong", result.out)
        self.assertEqual(result.out.count("every chunk agrees with the CPU                      yes"), 10)
        self.assertEqual(result.out.count("records of 1, 7 and all cores are equal to the bit   yes"), 10)
        self.assertEqual(len(re.findall(r"tdc_compare_device, \d+ bytes off: .* yes", result.out)), 3)
        self.assertIn("rounds twice", result.out)
        result = self.run_code(1, "bench", "device", "--verify", "--size", "1", env=dict(env, ACL_TWIN_FLAW="divide"))
        self.assertRegex(result.out, r"Div +\d+ +\d+ +[1-9]\d* +[1-9]\d* +0 ")
        self.run_code(2, "bench", "device", "--verify", env=NONE)

    def test_wrong_answers_are_told(self):
        """A kernel that passes its tests and then miscounts in one tile."""
        # the list of cards tests all kernels, the run its own once more
        first = 1 + 2 * 10 + TESTS + 1
        result = self.run_code(1, "bench", "device", "--size", "1M", env=twin(ACL_TWIN_WRONG=str(first)))
        self.assertIn("  sums: NOT those of the CPU\n", result.out)
        env = twin(ACL_TWIN_CORES="8", ACL_TWIN_DEVICES="1")
        # behind the probe, which is run once more: the first kernel on all cores, then on one
        for number, text in ((TESTS + 2, "every chunk agrees with the CPU                      NO"),
                             (TESTS + 3, "records of 1, 7 and all cores are equal to the bit   NO"))[harness.LEAN:]:
            result = self.run_code(1, "bench", "device", "--verify", "--size", "1",
                                   env=dict(env, ACL_TWIN_WRONG=str(number)))
            self.assertEqual(result.out.count(text), 1, result.out)

    def test_without_a_card(self):
        self.run_code(2, "bench", "device", env=NONE)
        self.run_code(2, "bench", "device", "--device", "cpu", env=TWIN)


if __name__ == "__main__":
    harness.main()
