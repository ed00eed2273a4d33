"""`tdcmp bench`: every command on tiny sizes. No timing is judged: what is checked is that the figures are
there, that the json is what docs/bench.md says, and that nothing is left behind.
"""
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import unittest

from harness import TDCMP, Case, environment, run

MACHINE = {"cpu", "processors", "memory_bytes", "system", "load", "device", "cpu_variant"}
SETTINGS = {"threads", "repeat", "rules", "io", "folder", "file_system", "file_state"}
COMPARED = {"case", "files", "threads", "rows", "gigabytes", "gigabytes_per_second",
            "bare_gigabytes_per_second", "share", "memory_gigabytes_per_second", "memory_share", "rows_per_second",
            "peak_megabytes", "seconds", "written"}
BESIDE = {"beside", "ratio", "target"}
REFERENCE = {"work", "threads", "milliseconds", "rate", "unit", "share", "of", "target"}
KERNELS = {"dtype", "rule", "variant", "cache_gigabytes_per_second", "cache_share",
           "memory_gigabytes_per_second", "memory_share", "memcmp_gigabytes_per_second", "memcmp_share",
           "error", "exact"}
ALIGN = {"case", "dtype", "run_bytes", "gigabytes", "seconds", "processor_seconds", "gigabytes_per_second",
         "megabytes_taken", "beside", "beside_seconds", "beside_processor_seconds", "ratio", "target"}
READ = {"way", "files", "threads", "gigabytes", "gigabytes_per_second", "seconds"}
COLD = ("cold", "cold (unchecked)", "not cold")


class Bench(Case):
    def bench(self, *words, code=0, **settings):
        """Runs `tdcmp bench words` with a temporary folder of its own, which must be empty afterwards."""
        scratch = self.path("scratch")
        os.makedirs(scratch, exist_ok=True)
        result = run("bench", *words, env={"TMPDIR": scratch}, **settings)
        self.assertEqual(result.code, code, str(result))
        self.assertNotIn("Sanitizer", result.err, str(result))
        self.assertEqual(os.listdir(scratch), [], "left behind")
        return result

    def report(self, *words):
        """The object --json prints, its head checked."""
        result = self.bench(*words, "--json", "--repeat", "1")
        self.assertEqual(result.err, "", str(result))

        def refuse(word):
            raise AssertionError("bare word " + word)

        report = json.loads(result.out, parse_constant=refuse)
        self.assertEqual(set(report), {"program", "version", "command", "machine", "settings", "rows", "notes"})
        self.assertEqual(report["program"], "tdcmp")
        self.assertEqual(set(report["machine"]), MACHINE)
        self.assertEqual(set(report["settings"]), SETTINGS)
        self.assertEqual(report["machine"]["device"], "cpu")
        self.assertGreater(report["machine"]["processors"], 0)
        self.assertGreater(report["machine"]["memory_bytes"], 1 << 20)
        self.assertEqual(report["settings"]["repeat"], 1)
        self.assertTrue(all(isinstance(note, str) for note in report["notes"]))
        self.assertTrue(report["rows"])
        return report

    def check_rows(self, report, keys):
        for row in report["rows"]:
            self.assertEqual(set(row), keys, row)

    def make(self, *words):
        """A pair of synthetic dumps; returns their folders."""
        folder = self.path("dumps")
        self.run_code(0, "bench", "make", folder, *words)
        return os.path.join(folder, "npu"), os.path.join(folder, "bench")


class Synthetic(Bench):
    def test_matrix(self):
        report = self.report("--dtype", "f32,bf16/f32,i64", "--size", "4K,16K", "--total", "64K", "-t", "2")
        self.check_rows(report, COMPARED)
        self.assertEqual(report["command"], "bench")
        self.assertEqual(report["settings"]["threads"], 2)
        self.assertEqual(report["settings"]["file_state"], "warm")
        self.assertEqual([row["case"] for row in report["rows"]],
                         ["f32, 16 x 4K", "f32, 4 x 16K", "bf16/f32, 16 x 4K", "bf16/f32, 4 x 16K",
                          "i64, 16 x 4K", "i64, 4 x 16K"])
        for row in report["rows"]:
            self.assertGreater(row["gigabytes_per_second"], 0)
            self.assertGreater(row["bare_gigabytes_per_second"], 0)
            self.assertGreater(row["memory_gigabytes_per_second"], 0)
            self.assertGreater(row["rows_per_second"], 0)
            self.assertGreaterEqual(row["peak_megabytes"], 0)
        # 64 KiB a side; the bench side of bf16/f32 takes twice as much
        self.assertAlmostEqual(report["rows"][0]["gigabytes"], 2 * 65536 / 1e9)
        self.assertAlmostEqual(report["rows"][2]["gigabytes"], 3 * 65536 / 1e9)

    def test_plot(self):
        out = self.bench("--dtype", "f16", "--size", "4K,64K", "--total", "128K", "-r", "1").out
        self.assertIn("GB/s by tensor size", out)
        self.assertRegex(out, r"f16 +4K [#. ]+ +[\d.]+ of [\d.]+\n +64K ")
        self.assertIn("device cpu", out)
        self.assertRegex(out, r"kernels, \d+ threads?, rules sound, io auto, fastest of 1\n")

    def test_rules_and_io(self):
        report = self.report("--dtype", "f32", "--size", "4K", "--total", "8K", "--rules", "compat", "--io", "pread")
        self.assertEqual(report["settings"]["rules"], "msprobe")
        self.assertEqual(report["settings"]["io"], "pread")

    def test_folder(self):
        place = self.path("place")
        os.mkdir(place)
        report = self.report("--dtype", "f32", "--size", "4K", "--total", "8K", "--dir", place)
        self.assertTrue(report["settings"]["folder"].startswith(place + "/"))
        self.assertEqual(os.listdir(place), [])

    def test_wrong_options(self):
        for words, text in ((["--size", "x"], "--size"), (["--size", "4K,"], "--size"), (["--dtype", "f33"], "--dtype"),
                            (["--dtype", "f32,"], "--dtype"), (["--dtype", "/f32"], "--dtype"),
                            (["--threads", "0"], "--threads"), (["--repeat", "0"], "--repeat"),
                            (["--state", "tepid"], "--state"), (["--io", "tape"], "--io"), (["--bogus"], "bogus"),
                            (["--total", "0"], "--total"), (["only_one"], "only_one"), (["a", "b", "c"], "two dumps")):
            with self.subTest(words=words):
                self.assertIn(text, self.bench(*words, code=2).err)
        self.assertIn("whole numbers", self.bench("--dtype", "f32/i32", "--size", "4K", code=2).err)

    def test_no_place(self):
        self.assertIn("/no/such/place", self.bench("--dir", "/no/such/place", code=2).err)


class Dumps(Bench):
    def test_files_folders_and_steps(self):
        npu, bench = self.make("--tensors", "12", "--ranks", "2")
        for words, count in (([npu, bench], 2), ([npu + "/step0", bench + "/step0"], 2),
                             ([npu + "/step0/rank0", bench + "/step0/rank0"], 1),
                             ([npu + "/step0/rank1/dump.json", bench + "/step0/rank1/dump.json"], 1)):
            with self.subTest(words=words):
                report = self.report(*words)
                self.check_rows(report, COMPARED)
                self.assertEqual([row["files"] for row in report["rows"]][0], "warm")
                self.assertIn(report["rows"][1]["files"], COLD)
                self.assertEqual(len(report["rows"]), 2)
                for row in report["rows"]:
                    self.assertAlmostEqual(row["gigabytes"], count * 12 * 2 * 4096 * 4 / 1e9)
                    self.assertTrue(row["case"].startswith(str(count)), row)
                self.assertIsNone(report["settings"]["file_state"])

    def test_state(self):
        npu, bench = self.make("--tensors", "5")
        self.assertEqual([row["files"] for row in self.report(npu, bench, "--state", "warm")["rows"]], ["warm"])
        rows = self.report("--state", "cold", npu, bench)["rows"]
        self.assertEqual(len(rows), 1)
        self.assertIn(rows[0]["files"], COLD)

    def test_statistics(self):
        report = self.report(*self.make("--tensors", "20", "--task", "statistics"))
        self.assertEqual(len(report["rows"]), 1)
        self.assertIsNone(report["rows"][0]["gigabytes_per_second"])
        self.assertIsNone(report["rows"][0]["files"])
        self.assertGreater(report["rows"][0]["rows_per_second"], 0)
        self.assertIn("no tensor files", " ".join(report["notes"]))

    def test_dumps_are_left_alone(self):
        npu, bench = self.make("--tensors", "5")
        before = sorted(os.listdir(npu) + os.listdir(bench))
        self.report(npu, bench)
        self.assertEqual(sorted(os.listdir(npu) + os.listdir(bench)), before)

    def test_missing(self):
        npu, bench = self.make("--tensors", "5")
        missing = self.path("missing")
        self.assertIn("missing", self.bench(missing, bench, code=2).err)
        self.assertIn("missing", self.bench(npu, missing, "--json", code=2).err)
        result = self.bench(npu, os.path.join(bench, "none.json"), "--json", code=2)
        self.assertEqual(result.out, "", "no half object")

    def test_broken(self):
        npu, bench = self.make("--tensors", "5")
        with open(os.path.join(bench, "dump.json"), "w", encoding="utf-8") as file:
            file.write("{")
        result = self.bench(npu, bench, "--json", code=2)
        self.assertIn("dump.json", result.err)
        self.assertEqual(result.out, "", "no half object")


class Parts(Bench):
    def test_kernels(self):
        report = self.report("kernels", "--dtype", "f32,bf16,f16,f64,i32,i64,bf16/f32,f16/f32,f32/f64", "--size", "1M")
        self.check_rows(report, KERNELS)
        self.assertEqual(report["command"], "bench kernels")
        self.assertEqual(report["settings"]["threads"], 1)
        variants = {row["variant"] for row in report["rows"]}
        self.assertIn("baseline", variants)
        self.assertEqual(len(report["rows"]), 9 * 2 * len(variants))
        for row in report["rows"]:
            self.assertEqual(row["exact"], "yes", row)
            self.assertLess(row["error"], 1e-12, row)
            self.assertGreater(row["cache_gigabytes_per_second"], 0)
            self.assertGreater(row["memory_gigabytes_per_second"], 0)

    def test_kernels_chosen(self):
        rows = self.report("kernels", "--dtype", "f64", "--variant", "baseline", "--rule", "native", "--size", "1M",
                           "-t", "2", "--extremes")["rows"]
        self.assertEqual([(row["dtype"], row["rule"], row["variant"]) for row in rows], [("f64", "native", "baseline")])
        for words in (["--variant", "z80"], ["--rule", "thumb"], ["--dtype", "i32/f32"], ["--size", "-1"], ["file"]):
            self.bench("kernels", *words, code=2)

    def test_io(self):
        report = self.report("io", "--size", "256K", "--files", "4", "--threads", "2")
        self.check_rows(report, READ)
        self.assertEqual(report["command"], "bench io")
        self.assertEqual([(row["way"], row["threads"]) for row in report["rows"]],
                         [(way, threads) for way in ("mapped", "pread") for threads in (1, 2)] +
                         [(way, threads) for way in ("mapped", "pread", "direct") for threads in (1, 2)])
        self.assertEqual([row["files"] for row in report["rows"][:4]], ["warm"] * 4)
        # all ways read the same bytes; npy heads come on top of the data
        sizes = {row["gigabytes"] for row in report["rows"] if row["gigabytes"] is not None}
        self.assertEqual(len(sizes), 1)
        self.assertAlmostEqual(sizes.pop(), (262144 + 4 * 128) / 1e9, places=9)
        self.bench("io", "--size", "1", code=2)
        self.bench("io", "somewhere", code=2)

    def test_compare(self):
        report = self.report("compare", "--dtype", "f32,f64,i32,bf16/f32", "--size", "64K", "--tensors", "2",
                             "--rows", "30", "--threads", "2")
        self.check_rows(report, COMPARED | BESIDE)
        beside = [row["beside"] for row in report["rows"]]
        python = "json.load" if shutil.which("python3") else None
        self.assertEqual(beside, ["bare read"] * 8 + [python, "libxlsxwriter", "csv", "direct read", "1 thread"])
        self.assertEqual(report["rows"][8]["written"], "csv")
        self.assertEqual(report["rows"][9]["written"], "xlsx")
        self.assertEqual(report["rows"][10]["written"], "html")
        self.assertIn(report["rows"][11]["files"], COLD)
        for row in report["rows"]:
            self.assertGreater(row["rows"], 0)
            if row["beside"] not in (None, "direct read"):
                self.assertGreater(row["ratio"], 0, row)
        self.assertEqual(report["rows"][0]["target"], ">= 0.85")

    def test_compare_cases(self):
        rows = self.report("compare", "--case", "small", "--rows", "10")["rows"]
        self.assertEqual([row["case"] for row in rows], ["f32, 10 x 4 KiB"])
        for words in (["--case", "huge"], ["--case", "small,"], ["--rows", "no"], ["what"]):
            self.bench("compare", *words, code=2)

    def test_without_python(self):
        empty = self.path("empty")
        os.mkdir(empty)
        scratch = self.path("scratch")
        os.mkdir(scratch)
        result = run("bench", "compare", "--case", "statistics", "--rows", "10", "-r", "1", "--json",
                     env={"PATH": empty, "TMPDIR": scratch})
        self.assertEqual(result.code, 0, str(result))
        report = json.loads(result.out)
        self.assertIsNone(report["rows"][0]["ratio"])
        self.assertIn("python3", " ".join(report["notes"]))

    def test_reference(self):
        report = self.report("reference", "--size", "48", "--elements", "8192", "--calls", "24", "--activations", "9M", "--threads", "2")
        self.check_rows(report, REFERENCE)
        self.assertEqual(report["command"], "bench reference")
        rows = {(row["work"], row["threads"]): row for row in report["rows"]}
        peak = [row for row in report["rows"] if row["work"].startswith("multiply-adds")]
        self.assertEqual([row["threads"] for row in peak], [1, 2])
        for row in report["rows"]:
            self.assertGreater(row["rate"], 0, row)
            self.assertEqual(row["share"] is None, row["of"] is None, row)
        product = [row for (work, threads), row in rows.items() if work.startswith("matmul 48^3") and threads == 2]
        self.assertEqual([(row["of"], row["target"]) for row in product], [("peak", ">= 0.5")])
        self.assertEqual(rows["Torch.exp", 2]["of"], "SLEEF")
        self.assertEqual(rows["precheck, 24 small calls", 2]["unit"], "calls/min")
        large, *parts = [row for row in report["rows"] if row["work"].startswith("precheck, ")][1:]
        self.assertEqual((large["work"], large["unit"]), ("precheck, 0.0126 GB of bf16", "GB/s"))
        self.assertEqual([row["work"].split(", ")[1].split(":")[0] for row in parts],
                         ["reading", "widening", "computing", "judging", "writing"])
        slowest = [row for row in parts if row["work"].endswith(": slowest")]
        self.assertEqual([row["share"] for row in slowest], [max(row["share"] for row in parts)])
        self.assertAlmostEqual(sum(row["share"] for row in parts), 1, delta=0.01)
        for words in (["--size", "1"], ["--elements", "7"], ["--calls", "-1"], ["--activations", "x"], ["what"]):
            self.bench("reference", *words, code=2)

    def test_align(self):
        report = self.report("align", "--size", "1M", "--threads", "2")
        self.check_rows(report, ALIGN)
        for dtype in ("f32", "bf16"):
            rows = [row for row in report["rows"] if row["dtype"] == dtype]
            self.assertEqual([row["case"] for row in rows],
                             ["rows", "zigzag", "columns", "columns", "columns", "both sides", "columns", "columns",
                              "columns", "turned", "sum", "cast", "shards"])
            for row in rows:
                self.assertGreater(row["ratio"], 0, row)
                aimed = row["case"] == "shards" or (row["run_bytes"] >= 256 and row["case"] not in ("sum", "cast"))
                self.assertEqual(row["target"] is not None, aimed, row)
        for words in (["--dtype", "f16"], ["--size", "1K"], ["what"]):
            self.bench("align", *words, code=2)

    def test_help(self):
        for words in ([], ["align"], ["compare"], ["kernels"], ["io"], ["make"], ["reference"]):
            out = self.bench(*words, "--help").out
            self.assertIn("example", out)
            self.assertIn("usage: tdcmp bench", out)


class Mixed(Bench):
    def test_sides_of_two_types(self):
        npu, bench = self.make("--tensors", "10", "--dtype", "bf16", "--bench-dtype", "f32", "--share", "0")
        for folder, dtype in ((npu, "torch.bfloat16"), (bench, "torch.float32")):
            with open(os.path.join(folder, "dump.json"), encoding="utf-8") as file:
                text = file.read()
            self.assertIn(dtype, text)
        sizes = [sum(entry.stat().st_size for entry in os.scandir(os.path.join(folder, "dump_tensor_data")))
                 for folder in (npu, bench)]
        self.assertAlmostEqual(sizes[1] - sizes[0], 10 * 4096 * 2, delta=10 * 64)
        # the same values, rounded: the largest relative error is half a unit of bf16
        self.run_code(0, "compare", npu, bench, "-o", self.path("out"), "--format", "csv", "-q")

    def test_kinds_do_not_mix(self):
        result = self.run_code(2, "bench", "make", self.path("no"), "--dtype", "i32", "--bench-dtype", "f32")
        self.assertIn("whole numbers", result.err)


class Interrupt(Bench):
    def test_a_reader_that_leaves(self):
        """`tdcmp bench ... | head -1`: no folder stays behind."""
        scratch = self.path("head")
        os.mkdir(scratch)
        child = subprocess.Popen([TDCMP, "bench", "matrix", "--dtype", "f32,f16,bf16,f64", "--size", "64K", "--total", "8M"],
                                 env=environment(TMPDIR=scratch), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        child.stdout.read(1)
        child.stdout.close()
        child.wait(120)
        self.assertEqual(os.listdir(scratch), [])

    def test_nothing_is_left(self):
        scratch = self.path("scratch")
        os.mkdir(scratch)
        child = subprocess.Popen([TDCMP, "bench", "compare", "--case", "large,small", "--size", "64M"],
                                 env=environment(TMPDIR=scratch), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 30
        while not os.listdir(scratch) and time.monotonic() < deadline:
            time.sleep(0.01)
        child.send_signal(signal.SIGINT)
        code = child.wait(timeout=120)
        self.assertIn(code, (-signal.SIGINT, 128 + signal.SIGINT))
        # a sanitizer's runtime has a file of its own for a moment
        self.assertEqual([name for name in os.listdir(scratch) if not name.startswith("tsan.")], [])


if __name__ == "__main__":
    sys.exit(unittest.main())
