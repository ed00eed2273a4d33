"""The package on small dumps: columns, rows, arrays, files, failures, Ctrl-C. numpy, pandas, pyarrow,
polars, duckdb and torch where they are installed; what is not is skipped, and said so."""

import array
import csv
import gc
import importlib.util
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import warnings

import tdcmp
import tdcmp.msprobe

PROGRAM = os.environ["TDCMP_PROGRAM"]


def has(*names):
    missing = [name for name in names if importlib.util.find_spec(name) is None]
    return unittest.skipIf(missing, "not installed: " + ", ".join(missing))


def make(folder, *options):
    subprocess.run([PROGRAM, "bench", "make", *options, folder], check=True, stdout=subprocess.DEVNULL)
    return os.path.join(folder, "npu"), os.path.join(folder, "bench")


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        cls.sides = make(os.path.join(cls.folder, "tensors"), "-n", "120", "-e", "64")
        cls.ranks = make(os.path.join(cls.folder, "ranks"), "-n", "40", "-e", "64", "--ranks", "2")
        cls.statistics = make(os.path.join(cls.folder, "stat"), "-n", "90", "-t", "statistics")

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def place(self, name):
        return os.path.join(self.folder, name)


class Results(Case):
    def setUp(self):
        self.result = tdcmp.compare(*self.sides)

    def test_summary_is_that_of_the_program(self):
        done = subprocess.run(
            [PROGRAM, "compare", *self.sides, "--json"], capture_output=True, text=True
        )
        counts = json.loads(done.stdout)["counts"]
        summary = self.result.summary
        self.assertEqual(summary.answer, "DIFFERENT")
        self.assertFalse(summary)
        self.assertEqual(summary.rows, len(self.result))
        self.assertEqual(summary["different"], counts["different"])
        self.assertEqual(summary["identical"], counts["identical"])
        self.assertIn("DIFFERENT", repr(self.result))

    def test_columns_are_those_of_the_csv(self):
        path = self.place("r.csv")
        self.assertEqual(self.result.to_csv(path), [path])
        with open(path, newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len(rows), len(self.result))
        self.assertEqual(list(rows[0]), self.result.columns)
        for heading in ("Cosine", "MaxAbsErr", "RMSE"):
            for row, number in zip(rows, self.result[heading]):
                if row[heading] == "":
                    self.assertTrue(math.isnan(number))
                else:
                    self.assertEqual(float(row[heading]), number)
        self.assertEqual([row["NPU Name"] for row in rows], list(self.result["npu_name"]))
        self.assertEqual([row["Verdict"] for row in rows], list(self.result["Verdict"]))
        self.assertEqual([row["Severity"] for row in rows], [str(int(x)) for x in self.result["Severity"]])
        with self.assertRaises(KeyError):
            self.result["no such column"]

    def test_rows(self):
        shown = self.result.first(3)
        self.assertEqual(len(shown), 3)
        self.assertEqual(shown[0].level, "different")
        self.assertEqual(shown[0].cosine, self.result["cosine"][shown[0].row])
        self.assertIn(shown[0].call, shown[0].npu_name)
        self.assertIn("<table>", shown._repr_html_())
        self.assertIn("DIFFERENT", self.result._repr_html_())
        self.assertEqual(self.result.row(-1).row, len(self.result) - 1)
        with self.assertRaises(IndexError):
            self.result.row(len(self.result))
        self.assertEqual(sum(1 for _ in self.result), len(self.result))

    def test_arrays_outlive_the_result(self):
        cosine = self.result["cosine"]
        kept = list(cosine)
        del self.result
        gc.collect()
        self.assertEqual([repr(x) for x in cosine], [repr(x) for x in kept])

    def test_files(self):
        for name, write in (("r.html", "to_html"), ("r.xlsx", "to_xlsx"), ("r.json", "to_json")):
            getattr(self.result, write)(self.place(name))
            self.assertGreater(os.path.getsize(self.place(name)), 1000)
        with self.assertRaises(tdcmp.TdcmpError) as caught:
            self.result.to_csv("/no/such/folder/r.csv")
        self.assertEqual((caught.exception.status, caught.exception.name), (13, "WRITE"))

    def test_ranks_are_parts(self):
        result = tdcmp.compare(*self.ranks)
        self.assertEqual([part.name for part in result.parts], ["step0/rank0", "step0/rank1"])
        self.assertEqual(sum(len(part) for part in result.parts), len(result))
        self.assertEqual(len(result["cosine"]), len(result))
        names = result.to_csv(self.place("ranks.csv"))
        self.assertEqual([os.path.basename(n) for n in names], ["ranks_step0_rank0.csv", "ranks_step0_rank1.csv"])
        self.assertEqual(result.row(len(result) - 1).rank, "rank1")

    def test_progress(self):
        told = []
        tdcmp.compare(*self.sides, progress=lambda *numbers: told.append(numbers))
        for rows, all_rows, done, all_bytes in told:
            self.assertTrue(rows <= all_rows and done <= all_bytes)
        self.assertEqual(told[-1][0], told[-1][1])

        def fail(*numbers):
            raise RuntimeError("stop")

        with self.assertRaisesRegex(RuntimeError, "stop"):
            tdcmp.compare(*self.sides, progress=fail)


class Tables(Case):
    @has("numpy")
    def test_numpy_shares_the_memory(self):
        import numpy

        result = tdcmp.compare(*self.sides)
        first, second = result["cosine"], result["Cosine"]
        self.assertEqual(first.ctypes.data, second.ctypes.data)
        self.assertFalse(first.flags.writeable)
        self.assertEqual(first.dtype, numpy.float64)
        self.assertEqual(result["elements"].dtype, numpy.int64)
        self.assertEqual(int(result.valid("elements").sum()), int((result["elements"] > 0).sum()))

    def check_table(self, result, columns):
        self.assertEqual(list(columns["npu_name"]), list(result["npu_name"]))
        self.assertEqual(list(columns["npu_record"]), list(result["npu_record"]))
        for name in ("cosine", "max_abs"):
            for mine, theirs in zip(result[name], columns[name]):
                self.assertTrue(mine == theirs or (math.isnan(mine) and (theirs is None or math.isnan(theirs))))

    @has("numpy", "pandas")
    def test_pandas(self):
        for sides in (self.sides, self.ranks):
            result = tdcmp.compare(*sides)
            self.check_table(result, result.to_pandas())
        self.assertEqual(list(tdcmp.compare(*self.ranks).to_pandas()["rank"])[-1], "rank1")

    @has("pyarrow")
    def test_arrow(self):
        import pyarrow

        for sides in (self.sides, self.ranks, self.statistics):
            result = tdcmp.compare(*sides)
            table = pyarrow.table(result)
            table.validate(full=True)
            self.assertEqual(table.num_rows, len(result))
            self.assertEqual([n for n in table.column_names if n not in ("step", "rank")], result.fields)
            if sides is not self.statistics:
                self.check_table(result, table.to_pydict())
            del result
            gc.collect()
            table.validate(full=True)

    def test_a_stream_that_nobody_reads(self):
        from tdcmp import _arrow

        before = len(_arrow._held)
        capsule = tdcmp.compare(*self.sides).__arrow_c_stream__()
        self.assertEqual(len(_arrow._held), before + 1)
        del capsule
        gc.collect()
        self.assertEqual(len(_arrow._held), before)

    @has("polars")
    def test_polars(self):
        import polars

        result = tdcmp.compare(*self.sides)
        frame = polars.DataFrame(result)
        self.check_table(result, {name: frame[name].to_list() for name in frame.columns})

    @has("duckdb")
    def test_duckdb(self):
        import duckdb

        result = tdcmp.compare(*self.sides)
        count = duckdb.sql("select count(*) from result where cosine < 0.99").fetchall()[0][0]
        self.assertEqual(count, sum(1 for x in result["cosine"] if x < 0.99))


class Others(Case):
    def test_match(self):
        found = tdcmp.match(*self.sides)
        self.assertEqual(found.method, "equal names")
        self.assertEqual(found.unmatched, [])
        self.assertEqual(found.pairs[0][0], found.pairs[0][1])

    def test_trace_and_precheck(self):
        folder = self.place("network")
        subprocess.run([PROGRAM, "bench", "network", folder, "--fault", "Functional.softmax.2:scale"], check=True, stdout=subprocess.DEVNULL)
        found = tdcmp.trace(os.path.join(folder, "test"), os.path.join(folder, "ref"))
        self.assertTrue(found)
        self.assertEqual(len(found.origins), 1)
        self.assertIn("first origin", found.text)
        check = tdcmp.precheck(os.path.join(folder, "test"), self.place("precheck"))
        self.assertFalse(check)
        self.assertEqual({row.call for row in check.failing}, {"Functional.softmax.2"})
        self.assertTrue(all(os.path.exists(name) for name in check.files))
        self.assertGreater(check.counts["backward"]["checked"], 0)

    def test_msprobe_functions(self):
        files = [os.path.join(side, "dump.json") for side in self.sides]
        names = tdcmp.msprobe.compare(
            {"npu_path": files[0], "bench_path": files[1], "is_print_compare_log": False},
            self.place("output"), stack_mode=False, auto_analyze=True, fuzzy_match=False,
        )
        self.assertEqual([os.path.basename(n).split("_")[0] for n in names], ["compare", "advisor"])
        with open(self.place("c.json"), "w", encoding="utf-8") as file:
            json.dump({"npu_path": files[0], "bench_path": files[1]}, file)
        subprocess.run([PROGRAM, "-f", "pytorch", "compare", "-i", self.place("c.json"), "-o", self.place("program")],
                       check=True, capture_output=True)
        theirs = [n for n in os.listdir(self.place("program")) if n.endswith("xlsx")]
        self.assertEqual(os.path.getsize(names[0]), os.path.getsize(os.path.join(self.place("program"), theirs[0])))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", tdcmp.TdcmpWarning)
            ranks = tdcmp.msprobe.compare_distributed(
                os.path.join(self.ranks[0], "step0"), os.path.join(self.ranks[1], "step0"), self.place("output"))
        self.assertEqual([os.path.basename(n).split("_")[2] for n in ranks if "compare" in n], ["rank0", "rank1"])
        with self.assertRaisesRegex(ValueError, "Missing bench_path"):
            tdcmp.msprobe.compare({"npu_path": files[0]}, self.place("output"))

    def test_failures(self):
        with self.assertRaises(FileNotFoundError) as caught:
            tdcmp.compare(self.place("none"), self.sides[1])
        self.assertEqual(caught.exception.status, 10)
        self.assertIsInstance(caught.exception, tdcmp.TdcmpError)
        self.assertIn("none", str(caught.exception))
        with self.assertRaises(ValueError):
            tdcmp.compare(*self.sides, rules="strict")
        with open(self.place("dump.json"), "w", encoding="utf-8") as file:
            file.write("{")
        with self.assertRaises(tdcmp.TdcmpError) as caught:
            tdcmp.compare(self.place("dump.json"), self.place("dump.json"))
        self.assertEqual(caught.exception.name, "FORMAT")

    def test_interrupted(self):
        """Ctrl-C reaches a run that is under way, and Python's other threads go on meanwhile."""
        sides = make(self.place("long"), "-n", "3000", "-e", "65536", "--distinct", "4")
        ticks = []
        threading.Timer(0.2, lambda: (ticks.append(1), os.kill(os.getpid(), signal.SIGINT))).start()
        with self.assertRaises(KeyboardInterrupt):
            for _ in range(1000):
                tdcmp.compare(*sides, threads=1)
        self.assertEqual(ticks, [1])
        self.assertGreater(len(tdcmp.compare(*self.sides)), 0)


class Interrupts(unittest.TestCase):
    def test_a_signal_cancels_the_run_that_is_under_way(self):
        from tdcmp._library import Cancel, run_long

        cancel, seen = Cancel(), []

        def work():
            os.kill(os.getpid(), signal.SIGINT)
            end = time.monotonic() + 60
            while cancel.state == 0 and time.monotonic() < end:
                time.sleep(0.001)
            seen.append(cancel.state)

        with self.assertRaises(KeyboardInterrupt):
            run_long(work, cancel)
        self.assertEqual(len(seen), 1)  # the run has ended before the interrupt is raised
        self.assertNotEqual(seen[0], 0)

    def test_the_library_is_called_without_the_interpreter(self):
        from ctypes import PyDLL

        from tdcmp._library import lib

        self.assertNotIsInstance(lib, PyDLL)  # which would keep the lock of the interpreter

    @unittest.skipIf("TDCMP_LIBRARY" in os.environ, "the library is not that of a wheel")
    def test_a_wheel_brings_its_libraries(self):
        package = os.path.dirname(tdcmp.__file__)
        with open("/proc/self/maps", encoding="utf-8") as file:
            mapped = {line.split()[-1] for line in file if "libsleef" in line or "libyaml" in line}
        self.assertEqual({os.path.dirname(path) for path in mapped}, {package})


class Arrays(unittest.TestCase):
    def test_buffers(self):
        found = tdcmp.compare_arrays(array.array("f", [1, 2, 3]), array.array("d", [1, 2, 4]))
        self.assertEqual((found.max_abs, found.max_abs_at, found.max_abs_values), (1.0, (2,), (3.0, 4.0)))
        self.assertEqual(found.level, "different")
        self.assertFalse(found)
        same = tdcmp.compare_arrays(b"\1\2", bytearray(b"\1\2"))
        self.assertTrue(same)
        self.assertEqual((same.max_abs, same.rmse, same.worst), (0, 0, 0))
        self.assertTrue(math.isnan(tdcmp.compare_arrays(array.array("d"), array.array("d")).cosine))
        with self.assertRaises(TypeError):
            tdcmp.compare_arrays(object(), object())

    @has("numpy")
    def test_numpy(self):
        import numpy

        a = numpy.arange(24.0).reshape(2, 3, 4)
        b = a.copy()
        b[1, 2, 1] += 0.5
        found = tdcmp.compare_arrays(a, b)
        self.assertEqual((found.max_abs, found.max_abs_at), (0.5, (1, 2, 1)))
        self.assertEqual(tdcmp.compare_arrays(a.transpose(2, 0, 1), b.transpose(2, 0, 1)).max_abs_at, (1, 1, 2))
        self.assertEqual(tdcmp.compare_arrays(a[::-1, ::2], b[::-1, ::2]).max_abs_at, (0, 1, 1))
        self.assertEqual(tdcmp.compare_arrays(a.astype(">f4"), b.astype("f2")).max_abs, 0.5)
        cosine = (a * b).sum() / numpy.linalg.norm(a) / numpy.linalg.norm(b)
        self.assertAlmostEqual(found.cosine, cosine, 14)
        self.assertEqual(tdcmp.compare_arrays(a, b[:1]).level, "unmatched")
        self.assertEqual(tdcmp.compare_arrays(numpy.float32(2), 2).max_abs, 0)
        self.assertEqual(tdcmp.compare_arrays(a + 1j, a).max_abs, 1)
        with self.assertRaises(TypeError):
            tdcmp.compare_arrays(numpy.array(["x"]), numpy.array(["x"]))

    @has("numpy")
    def test_files(self):
        import numpy

        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.npy")
            a = numpy.arange(6, dtype=numpy.int32).reshape(2, 3).T
            tdcmp.save_tensor(a, path)
            self.assertEqual(numpy.load(path).tolist(), a.tolist())
            self.assertEqual(os.listdir(folder), ["a.npy"])

    @has("torch")
    def test_torch(self):
        import torch

        from tdcmp import _arrays

        a = torch.arange(12, dtype=torch.float32).reshape(3, 4).requires_grad_()
        b = a.detach().clone()
        b[2, 1] = 10
        self.assertEqual(tdcmp.compare_arrays(a, b).max_abs_at, (2, 1))
        self.assertEqual(tdcmp.compare_arrays(a.t(), b.t()).max_abs_at, (1, 2))
        for elsewhere in (torch.eye(3).to_sparse(), torch.empty(3, device="meta")):
            with self.assertRaisesRegex(TypeError, "no elements"):
                tdcmp.compare_arrays(elsewhere, b)
        half, other = a.detach().to(torch.bfloat16), b.to(torch.bfloat16)
        for tested, reference in ((half, other), tuple(map(_arrays._from_dlpack, (half, other)))):
            found = tdcmp.compare_arrays(tested, reference)
            self.assertEqual((found.max_abs, found.max_abs_values), (1.0, (9.0, 10.0)))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.pt")
            tdcmp.save_tensor(half, path)
            self.assertTrue(torch.equal(torch.load(path), half))


if __name__ == "__main__":
    # a shell starts what runs in the background without it, and Python keeps that
    signal.signal(signal.SIGINT, signal.default_int_handler)
    print("python", sys.version.split()[0], "with", ", ".join(
        name for name in ("numpy", "pandas", "pyarrow", "polars", "duckdb", "torch") if importlib.util.find_spec(name)))
    unittest.main(verbosity=1)
