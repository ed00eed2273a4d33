"""Every call of the system fails: once, from then on, or interrupted by a signal.

A preloaded library (tests/fault) counts allocations, files opened, mapped, read, written, flushed and renamed, and
threads started, and lets one of them fail. Whatever fails: the results are complete and right, with the exit code of
the undisturbed run, or the exit code is 2, and what is there is complete and right all the same. No crash, no hang,
no temporary left.
"""
import concurrent.futures
import itertools
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest

import dumps
import harness
import pages
import precheck_case
import xlsx

FAULT = os.environ.get("TDC_FAULT", "")
LIMIT = 30  # seconds of a run; undisturbed it takes a fraction of one
# Figures of the run itself, which differ from one to the next
CLOCK = re.compile(r"[\d.e+-]+ MB of tensors compared at .*|[\d.]+ s\b|\d{14}")


def table_rows(path):
    """Rows of a table in any format, as tuples of texts, the header first."""
    if path.endswith(".csv"):
        return [tuple(row.items()) for row in harness.read_csv(path)]
    if path.endswith(".html"):
        return [tuple((key, str(value)) for key, value in row.items() if not key.startswith("#"))
                for row in json.loads(harness.read_bytes(path))[1]["rows"]]
    if path.endswith(".json"):
        return [tuple((key, str(value)) for key, value in row.items()) for row in harness.json_rows(path)]
    texts = xlsx.Workbook(path).sheets[0].texts
    return [tuple(zip(texts[0], row)) for row in texts[1:]]


def read_below(folder):
    """Contents by name without stamp, of all files below."""
    found = {}
    for at, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(at, name)
            content = harness.read_bytes(path)
            if name.endswith(".html"):  # its moment apart
                content = pages.Page(content).lasting()
            found[harness.stampless(os.path.relpath(path, folder))] = content
    return found


class Outcome:
    def __init__(self, code, out, err, folder, kinds):
        self.code, self.err, self.kinds = code, err, kinds
        self.out = CLOCK.sub("", out.replace(folder, "FOLDER"))
        # the json says where it was to be written
        self.files = {name: content.replace(folder.encode(), b"FOLDER") if name.endswith(".json") else content
                      for name, content in read_below(folder).items()}


class Faults(harness.Case):
    failure_code = 2

    def start(self, words, at, mode):
        """One run into a fresh folder."""
        folder = tempfile.mkdtemp(prefix="out-", dir=self.folder)
        report = os.path.join(tempfile.mkdtemp(prefix="report-", dir=self.folder), "kinds")
        changes = {"LD_PRELOAD": FAULT, "TDC_FAULT_AT": str(at), "TDC_FAULT_MODE": mode, "TDC_FAULT_REPORT": report}
        words = [harness.TDCMP] + [folder if word == "OUT" else word for word in words]
        try:
            done = subprocess.run(words, env=harness.environment(**changes), stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=LIMIT)
            kinds = harness.read_text(report) if os.path.exists(report) else ""
            return Outcome(done.returncode, done.stdout.decode(errors="replace"),
                           done.stderr.decode(errors="replace"), folder, kinds)
        except subprocess.TimeoutExpired:
            return Outcome("hung", "", "", folder, "")
        finally:
            shutil.rmtree(folder)

    def files_fault(self, expected, found, kind):
        """What is wrong with the files of a run that failed, or None."""
        for name, content in found.files.items():
            if name not in expected.files:
                return "left %s" % name
            if content != expected.files[name] and not self.acceptable(name, content, expected.files[name], kind):
                return "%s is wrong (%d bytes of %d)" % (name, len(content), len(expected.files[name]))
        return None

    def acceptable(self, name, content, expected, kind):
        return False

    def fault_of(self, expected, found, mode, kind):
        if found.code == expected.code:
            if found.files != expected.files:
                return "exit %s, but not all files" % found.code
            return None if found.out == expected.out else "exit %s, but prints something else" % found.code
        if found.code != self.failure_code or mode == "interrupt":
            return "exit %s" % found.code
        if found.err == "" and not found.files:  # else a row says it
            return "says nothing"
        return self.files_fault(expected, found, kind)

    def check(self, *words, modes=("once", "ever", "interrupt")):
        faults = []
        for mode in modes:
            expected = self.start(words, 0, mode)
            self.assertIn(expected.code, (0, 1), expected.err)
            self.assertEqual(self.start(words, 0, mode).files, expected.files)
            calls = len(expected.kinds)
            self.assertGreater(calls, 2)
            with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
                runs = pool.map(lambda at: self.start(words, at, mode), range(1, calls + 3))
                for at, found in zip(itertools.count(1), runs):
                    kind = found.kinds[at - 1:at]  # of the call that failed; threads change the order
                    fault = self.fault_of(expected, found, mode, kind)
                    if fault is not None:
                        faults.append("%s %d (%s): %s: %s" % (mode, at, kind, fault, found.err[:200].strip()))
        if faults:
            self.fail("%d faults\n%s" % (len(faults), "\n".join(faults)))


def tensor_dump(folder, last):
    """Both file formats, a scalar, a call stack, and a file that is not there."""
    dump = dumps.Dump(folder)
    for number in range(3):
        dump.call("f%d" % number, "output", [1.0, 2.0, last])
    name = os.path.basename(dump.file("y.npy", dumps.npy_bytes("<f4", [3], dumps.pack("f32", [1.0, 2.0, last]))))
    dump.entry("Functional.g.0.forward", input_args=[dumps.item("f32", [3], name)])
    path = dump.write()
    harness.write_text(os.path.join(folder, "stack.json"), json.dumps(
        {"Functional.f0.0.forward": ["File a.py, line 1, in f, \n x = f(y)"],
         "Functional.g.0.forward": ["File a.py, line 2, in g, \n x = g(y)"]}))
    return path


@unittest.skipIf(FAULT == "", "the library to be preloaded is not built here")
class Compare(Faults):
    def setUp(self):
        super().setUp()
        self.sides = tensor_dump(self.path("npu"), 3.0), tensor_dump(self.path("bench"), -400.0)

    def acceptable(self, name, content, expected, kind):
        """A tensor that cannot be read is one row with an error."""
        if kind not in ("o", "m", "r"):
            return False
        if name.startswith("advisor"):
            return content.startswith(b"Line: ")
        rows = []
        for data in (content, expected):
            rows.append(table_rows(harness.write_bytes(self.path("read_" + name), data)))
        if len(rows[0]) != len(rows[1]):
            return False
        for found, wanted in zip(*rows):
            was, now = dict(wanted), dict(found)
            if found != wanted and (was["NPU Name"] != now["NPU Name"] or was["Err_message"] == now["Err_message"]):
                return False
        return True

    def test_csv(self):
        self.check("compare", *self.sides, "-o", "OUT", "--format", "csv", "-t", "2")

    def test_json(self):
        self.check("compare", *self.sides, "-o", "OUT", "--format", "json", "-t", "1", modes=("once", "ever"))

    def test_xlsx(self):
        self.check("compare", *self.sides, "-o", "OUT", "--format", "xlsx", "-t", "2")

    def test_page(self):
        self.check("compare", *self.sides, "-o", "OUT", "--format", "html", "--no-advice", "-t", "1",
                   modes=("once", "ever"))

    def test_compat(self):
        self.check("compare", *self.sides, "-o", "OUT", "--format", "xlsx", "-t", "1", "--rules", "compat",
                   modes=("once",))


@unittest.skipIf(FAULT == "", "the library to be preloaded is not built here")
class Match(Faults):
    def setUp(self):
        super().setUp()
        self.sides = tensor_dump(self.path("npu"), 3.0), tensor_dump(self.path("bench"), -400.0)

    def test_match(self):
        self.check("match", *self.sides)


@unittest.skipIf(FAULT == "", "the library to be preloaded is not built here")
class Visual(Faults):
    def test_graph(self):
        """The graph database: SQLite's calls fail as well."""
        sides = []
        for side, value in (("npu", 1.0), ("bench", 2.0)):
            dump = dumps.Dump(self.path(side), task="statistics")
            for name in ("Torch.f.0.forward", "Torch.g.0.forward", "Module.m.M.forward.0"):
                dump.entry(name, output=[dumps.item("f32", [2], stats=(value, -1.0, 0.0, 2.0))])
            sides.append(dump.write())
            for name, content in (("construct", {name: None for name in dump.data}), ("stack", {})):
                harness.write_text(self.path(side, name + ".json"), json.dumps(content))
        self.check("compare", *sides, "-o", "OUT", "--format", "vis", "-q", "-t", "1", modes=("once",))


@unittest.skipIf(FAULT == "", "the library to be preloaded is not built here")
class Precheck(Faults):
    def acceptable(self, name, content, expected, kind):
        """The csv files are a journal: whole calls from the beginning. A tensor that cannot be read is told in the
        row of its call."""
        if name.endswith(".csv") and content.endswith(b"\r\n") and expected.startswith(content):
            return True
        if kind not in ("o", "m", "r"):
            return False
        rows = [data.decode().split("\r\n") for data in (content, expected)]
        return "result" not in name or (len(rows[0]) == len(rows[1]) and all(
            found == wanted or "SKIP" in found for found, wanted in zip(*rows)))

    def small(self, source, calls):
        """The first calls of a golden dump."""
        folder = self.path("dump")
        os.mkdir(folder)
        dump = json.loads(harness.read_text(precheck_case.golden(source, "dump.json")))
        dump["data"] = dict(list(dump["data"].items())[:calls])
        if dump.get("dump_data_dir"):
            dump["dump_data_dir"] = precheck_case.golden(source, "dump_tensor_data")
        return harness.write_text(os.path.join(folder, "dump.json"), json.dumps(dump))

    def test_recorded(self):
        self.check("precheck", self.small("ms_edge", 6), "-o", "OUT", "-t", "2")


if __name__ == "__main__":
    harness.main()
