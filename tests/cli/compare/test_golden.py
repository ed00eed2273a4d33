"""The tables of the real tool, cell by cell, and the same bits whatever threads and kernels are used."""
import csv
import json
import os
import re
import shutil
import stat
import tarfile
import tempfile
import unittest

import dumps
import harness
import xlsx

# Cases of the archive that are run, by how their names begin.
PREFIXES = ("pt_", "ms_", "errors")
# The first-difference search is another command.
LEFT_OUT_OPTIONS = ("-da",)
# Runs that must be there: an archive that lost its cases must not pass.
LEAST_RUNS = 49
# Where the tables are compared; empty: where the program likes.
DEVICE = os.environ.get("TDC_TEST_DEVICE", "")


def load_runs(root):
    """(case, run) of every run to be made."""
    for case in sorted(os.listdir(root)):
        path = os.path.join(root, case, "case.json")
        if not case.startswith(PREFIXES) or not os.path.exists(path):
            continue
        with open(path, encoding="utf-8") as file:
            for run in json.load(file)["runs"]:
                if not any(option in run["command"].split() for option in LEFT_OUT_OPTIONS):
                    yield case, run


def rows_of(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


class Golden(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.root = tempfile.mkdtemp(prefix="tdcmp-golden-")
        cls.addClassCleanup(shutil.rmtree, cls.root)
        for name in (harness.GOLDEN, os.path.join(os.path.dirname(harness.GOLDEN), "tiles.tar.xz")):
            with tarfile.open(name) as archive:
                archive.extractall(cls.root)
        cls.runs = list(load_runs(cls.root))

    def start(self, case, run, out, *more, **settings):
        words = run["command"].split()[1:]
        words[words.index("./output")] = out
        if DEVICE:
            more = more + ("--device", DEVICE, "--no-fallback")
        return harness.run(*words, *more, cwd=os.path.join(self.root, case), **settings)

    def each_run(self, refused, check):
        """check(case, run, out) for every run that ends well, or for every one that is refused."""
        count = 0
        for case, run in self.runs:
            if any("exit_code" in output for output in run["outputs"]) != refused:
                continue
            count += 1
            with self.subTest(case=case, run=run["dir"]), tempfile.TemporaryDirectory(dir=self.root) as parent:
                check(case, run, os.path.join(parent, "output"))
        return count

    def test_there_are_runs(self):
        self.assertGreaterEqual(len(self.runs), LEAST_RUNS)

    def test_tables(self):
        self.each_run(False, self.check_run)

    def test_refusals(self):
        self.assertGreaterEqual(self.each_run(True, self.check_refusal), 8)

    @unittest.skipUnless(DEVICE == "ascend", "the stand-in for AscendCL keeps a list of calls")
    def test_the_device_computes(self):
        """The large tensors are computed there, not only brought there."""
        log = os.path.join(self.root, "calls")
        run = next(run for case, run in self.runs if case == "pt_tiles")
        with tempfile.TemporaryDirectory(dir=self.root) as parent:
            result = self.start("pt_tiles", run, os.path.join(parent, "output"),
                                env=dict(os.environ, ACL_TWIN_LOG=log))
        self.assertEqual(result.code, 0, str(result))
        # the probe, two launches for the self-test of each of four kernels, and the nine tensors, which may share some
        launches = harness.read_text(log).split().count("aclrtLaunchKernelWithHostArgs")
        self.assertIn(launches, range(1 + 2 * 4 + 4, 1 + 2 * 4 + 9 + 1))

    # -- one run

    def check_run(self, case, run, out):
        result = self.start(case, run, out)
        self.assertEqual(result.code, 0, str(result))
        self.check_files(run, out)
        for output in run["outputs"]:
            if "table" in output:
                self.check_table(case, run, out, output)
            else:
                self.check_text(case, run, out, output)

    def check_refusal(self, case, run, out):
        for output in run["outputs"]:
            result = self.start(case, run, out)
            self.assertEqual(result.code, output["exit_code"], str(result))
            for line in output["error_log"]:
                self.assertIn(line, result.err)
            self.assertEqual(harness.files_below(out), [])

    def produced(self, out, output):
        pattern = re.escape(output["file"]).replace(r"\{timestamp\}", r"\d{14}")
        found = [name for name in harness.files_below(out) if re.fullmatch(pattern, name)]
        self.assertEqual(len(found), 1, "%s in %s" % (output["file"], harness.files_below(out)))
        return os.path.join(out, found[0])

    def check_files(self, run, out):
        """Exactly the files of the case, none half-written, all 0640."""
        expected = sorted({output["file"].replace("{timestamp}", "STAMP") for output in run["outputs"]})
        self.assertEqual(sorted(re.sub(r"\d{14}", "STAMP", n) for n in harness.files_below(out)), expected)
        for name in harness.files_below(out):
            self.assertEqual(stat.S_IMODE(os.stat(os.path.join(out, name)).st_mode), 0o640, name)

    def check_text(self, case, run, out, output):
        """The advice, or the data mapping that a layer mapping led to."""
        # two advisors of one rank share a name; the later one stays
        texts = [harness.read_text(os.path.join(self.root, case, run["dir"], o["text"]))
                 for o in run["outputs"] if o["file"] == output["file"]]
        self.assertIn(harness.read_text(self.produced(out, output)), texts)

    def check_table(self, case, run, out, output):
        sheets = xlsx.Workbook(self.produced(out, output)).sheets
        self.assertEqual([sheet.name for sheet in sheets], [output["sheet"]])
        sheet = sheets[0]
        base = os.path.join(self.root, case, run["dir"], output["table"])
        texts, types = rows_of(base), rows_of(base.replace(".csv", "_types.csv"))
        colours = base.replace(".csv", "_colors.csv")
        fills = rows_of(colours) if os.path.exists(colours) else [[""] * len(texts[0]) for _ in texts]
        self.assertEqual(len(sheet.texts) - 1, output["rows"])
        self.assertEqual(len(sheet.texts), len(texts))
        self.assertEqual(sheet.texts[0], texts[0])
        wrong = []
        for i, row in enumerate(texts):
            self.assertEqual(len(sheet.texts[i]), len(row))
            for k, text in enumerate(row):
                if not harness.same_cell(texts[0][k], text, sheet.texts[i][k]):
                    wrong.append((i, texts[0][k], "text", sheet.texts[i][k], "expected", text))
                if sheet.types[i][k] != types[i][k]:
                    wrong.append((i, texts[0][k], "type", sheet.types[i][k], "expected", types[i][k]))
                if sheet.fills[i][k] != fills[i][k]:
                    wrong.append((i, texts[0][k], "fill", sheet.fills[i][k], "expected", fills[i][k]))
        self.assertEqual(wrong[:5], [], "%d cells differ" % len(wrong))


class SameBits(harness.Case):
    """One result for every number of threads and every set of kernels the machine can run."""

    @classmethod
    def setUpClass(cls):
        cls.variants = []
        for name in ("baseline", "x86-64-v3", "x86-64-v4"):
            if "(%s kernels)" % name in harness.run("--version", env={"TDC_CPU": name}).out:
                cls.variants.append(name)

    def test_baseline_is_always_there(self):
        self.assertIn("baseline", self.variants)

    def test_golden_cases(self):
        Golden.setUpClass()
        self.addCleanup(Golden.doClassCleanups)
        settings = [("1", name) for name in self.variants] + [("2", self.variants[-1])]
        compared = 0
        for number, (case, run) in enumerate(Golden.runs):
            if any("exit_code" in output for output in run["outputs"]):
                continue
            tables = []
            for threads, variant in settings:
                out = self.path("%d-%s-%s" % (number, threads, variant))
                result = Golden.start(Golden(), case, run, out, "--format", "csv", "--threads", threads,
                                      env={"TDC_CPU": variant})
                self.assertEqual(result.code, 0, str(result))
                tables.append({harness.stampless(n): harness.read_bytes(os.path.join(out, n))
                               for n in harness.files_below(out) if n.endswith((".csv", ".yaml"))})
            self.assertNotEqual(tables[0], {})
            compared += 1
            for table in tables[1:]:
                self.assertEqual(table, tables[0], (case, run["dir"]))
        self.assertGreaterEqual(compared, LEAST_RUNS - 8)

    def test_tensors_of_several_chunks(self):
        count = 700001
        state, values = 12345, []
        for _ in range(count):
            state = (state * 1103515245 + 12345) & 0x7FFFFFFF
            values.append((state - 2**30) / 2**26)
        worse = [v * (1 + (i % 7) * 1e-3) for i, v in enumerate(values)]
        sides = []
        for name, elements in (("npu", worse), ("bench", values)):
            dump = dumps.Dump(self.path(name))
            for dtype in ("f32", "f64"):
                dump.call(dtype, "input", elements, dtype=dtype)
            half = [max(-60000.0, min(60000.0, v)) for v in elements]
            dump.call("f16", "input", half, dtype="f16")
            dump.call("bf16", "input", half, dtype="bf16")
            dump.call("i64", "input", [int(v * 1000) for v in elements], dtype="i64")
            # a transposed view and an expanded one: elements are gathered
            data = dumps.pack("f32", elements[:699000])
            dump.call("view", "input", dumps.pt_bytes("f32", [699, 1000], data, strides=[1, 699]), shape=[699, 1000])
            dump.call("expanded", "input", dumps.pt_bytes("f32", [700, 1000], data[:4000], strides=[0, 1]),
                      shape=[700, 1000])
            dump.write()
            sides.append(dump.folder)
        for rules in ("sound", "compat"):
            tables = set()
            for variant in self.variants:
                for threads in ("1", "2", "3"):
                    out = self.path("-".join((rules, variant, threads)))
                    self.run_code(1, "compare", *sides, "--rules", rules, "--format", "csv", "-t", threads, "-q", "-o",
                                  out, env={"TDC_CPU": variant})
                    tables.add(harness.read_bytes(harness.only_file(out, "csv")))
            self.assertEqual(len(tables), 1, rules)


if __name__ == "__main__":
    harness.main()
