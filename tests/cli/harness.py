"""What the end-to-end tests share: running the program, temporary folders, reading results.

The tests need Python's standard library and nothing else. CMake passes the places in the environment:
TDCMP (the program), TDC_GOLDEN (the archive of golden cases), TDC_TEST_DATA (tests/data) and TDC_SANITIZE
(empty, address, undefined or thread).
"""
import csv
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

import schema

TDCMP = os.environ.get("TDCMP", "tdcmp")
GOLDEN = os.environ.get("TDC_GOLDEN", "")
DATA = os.environ.get("TDC_TEST_DATA", "")
SANITIZE = os.environ.get("TDC_SANITIZE", "")
LEAN = "TDC_TEST_LEAN" in os.environ  # some of what another build repeats in full

csv.field_size_limit(1 << 30)

# A stamp of the kind compare_result_20260102030405.xlsx
STAMP = re.compile(r"_\d{14}\.")


class Result:
    """A finished run of the program."""

    def __init__(self, words, code, out, err):
        self.words, self.code, self.out, self.err = words, code, out, err

    def __str__(self):
        return "%s\nexit code %s\n--- stdout\n%s\n--- stderr\n%s" % (
            " ".join(self.words), self.code, self.out[-3000:], self.err[-3000:])


def environment(**changes):
    """The environment of the program: nothing inherited may change its results."""
    env = {k: v for k, v in os.environ.items()
           if not k.startswith(("TDC_CPU", "OMP_")) or k == "OMP_TOOL_LIBRARIES"}
    # on a busy machine any run may last long enough to begin a journal
    env.update({"LC_ALL": "C.UTF-8", "TDC_JOURNAL": "1000000"}, **changes)
    return env


def run(*words, cwd=None, env=None, before=None, timeout=300):
    """Runs `tdcmp words...`; env holds changes to the environment, before runs in the child."""
    words = [TDCMP] + [os.fspath(word) for word in words]
    done = subprocess.run(words, cwd=cwd, env=environment(**(env or {})), preexec_fn=before, timeout=timeout,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return Result(words, done.returncode, done.stdout.decode(errors="replace"),
                  done.stderr.decode(errors="replace"))


def files_below(folder):
    return sorted(os.listdir(folder)) if os.path.isdir(folder) else []


def stampless(name):
    return STAMP.sub("_STAMP.", name)


def only_file(folder, extension, start="compare_result"):
    found = [n for n in files_below(folder) if n.startswith(start) and n.endswith("." + extension)]
    if len(found) != 1:
        raise AssertionError("expected one %s*.%s in %s, found %s" % (start, extension, folder, files_below(folder)))
    return os.path.join(folder, found[0])


def read_text(path):
    with open(path, encoding="utf-8", newline="") as file:
        return file.read()


def write_text(path, text):
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write(text)
    return path


def read_bytes(path):
    with open(path, "rb") as file:
        return file.read()


def write_bytes(path, data):
    with open(path, "wb") as file:
        file.write(data)
    return path


def read_csv(path):
    """Rows as dicts by column, in file order."""
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    return [dict(zip(rows[0], row)) for row in rows[1:]]


def read_json(path):
    """Python's reader without its extensions: NaN and Infinity as bare words are refused."""

    def refuse(word):
        raise AssertionError("%s holds the bare word %s" % (path, word))

    with open(path, encoding="utf-8") as file:
        found = json.load(file, parse_constant=refuse)
    # a result says by which schema it can be read
    if isinstance(found, dict) and found.get("schema") in ("tdcmp.compare/1", "tdcmp.precheck/1"):
        wrong = schema.errors(found)
        if wrong:
            raise AssertionError("%s: %s" % (path, "\n".join(wrong[:5])))
    return found


METRIC_COLUMNS = {
    "Cosine": "cosine", "EucDist": "euclidean", "MaxAbsErr": "max_abs", "MaxRelativeErr": "max_rel",
    "One Thousandth Err Ratio": "below_thousandth", "Five Thousandths Err Ratio": "below_five_thousandths",
    "Rel Err Below 1%": "below_hundredth", "Rel Err Below 10%": "below_tenth", "Mean Abs Err": "mean_abs", "RMSE": "rmse",
    "NPU NaN": "test_nan", "NPU Inf": "test_inf", "Bench NaN": "ref_nan", "Bench Inf": "ref_inf", "Elements": "elements",
    "Relative Distance": "relative_distance", "Worst To Largest": "worst_to_largest",
    "Max diff": "max_diff", "Min diff": "min_diff", "Mean diff": "mean_diff", "L2norm diff": "norm_diff"}
RELATIVE_COLUMNS = {"MaxRelativeErr": "max_relative", "MinRelativeErr": "min_relative",
                    "MeanRelativeErr": "mean_relative", "NormRelativeErr": "norm_relative"}


def json_number(held, name):
    """A number of an object; NaN and infinities as words."""
    return held.get("not_finite", {}).get(name, held[name])


def json_cells(row):
    """A row of a JSON result by the headings of the csv, as far as it has them; an element that is complex as such."""
    cells = {"Verdict": row["verdict"], "Severity": row["severity"], "Err_message": row["message"]}
    for side, name in (("NPU", "test"), ("Bench", "ref")):
        held = row[name]
        cells[side + " Name"] = held["name"] if held else "N/A"
        if held and "value" in held:
            cells[side + " max"] = json_number(held, "value")
        elif held:
            for statistic in ("max", "min", "mean", "norm"):
                cells["%s %s" % (side, statistic.replace("norm", "l2norm"))] = json_number(held, statistic)
    for column, name in list(METRIC_COLUMNS.items()) + list(RELATIVE_COLUMNS.items()):
        if name in row["metrics"]:
            cells[column] = json_number(row["metrics"], name)
    for column, name in (("Worst Abs", "worst_abs"), ("Worst Rel", "worst_rel")):
        place = row.get(name)
        if place:
            cells[column + " At"] = str(place["index"])
            for side, which in (("NPU", "test"), ("Bench", "ref")):
                value = json_number(place, which)
                cells["%s %s" % (column, side)] = complex(*value) if isinstance(value, list) else value
    if row["severity"]:
        cells["colour"] = ("yellow", "red", "red")[row["severity"] - 1]
    return cells


def json_rows(path):
    """The rows of a result by column: as they are in the compat rules, whose file is a list."""
    found = read_json(path)
    return [json_cells(row) for row in found["rows"]] if isinstance(found, dict) else found


def by_name(rows, column="NPU Name"):
    return {row[column]: row for row in rows}


def same_cell(column, expected, actual):
    """Equal text, but for the two columns that depend on the order of summation."""
    if expected == actual:
        return True
    limits = {"EucDist": lambda x, y: abs(x - y) <= 1e-9 * max(abs(x), abs(y)),
              "Cosine": lambda x, y: abs(x - y) <= 2e-12}
    if column not in limits:
        return False
    try:
        return limits[column](float(expected), float(actual))
    except ValueError:
        return False


class Case(unittest.TestCase):
    """A test with a temporary folder, gone afterwards."""

    maxDiff = None

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="tdcmp-test-")
        self.addCleanup(self.remove_folder)

    def remove_folder(self):
        # read-only folders of a test must not stay behind
        for at, folders, _ in os.walk(self.folder):
            os.chmod(at, 0o700)
        shutil.rmtree(self.folder)

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def run_code(self, code, *words, **settings):
        """Runs and requires the exit code."""
        result = run(*words, **settings)
        self.assertEqual(result.code, code, str(result))
        self.assertNotIn("Sanitizer", result.err, str(result))
        return result

    def compare(self, code, npu, bench, *options, rows_of="csv", **settings):
        """`tdcmp compare` into a fresh folder; the rows of its one csv file, and the run."""
        out = tempfile.mkdtemp(prefix="out-", dir=self.folder)
        result = self.run_code(code, "compare", npu, bench, "-o", out, "--format", rows_of, *options, **settings)
        read = {"csv": read_csv, "json": json_rows}[rows_of]
        return read(only_file(out, rows_of)), result

    def msprobe(self, code, npu, bench, *options, extra=None, framework="pytorch", **settings):
        """msprobe's form with a fresh compare.json; (rows of its one csv file or None, run, folder)."""
        out = tempfile.mkdtemp(prefix="out-", dir=self.folder)
        config = dict({"npu_path": npu, "bench_path": bench}, **(extra or {}))
        write_text(os.path.join(out, "compare.json"), json.dumps(config))
        results = os.path.join(out, "results")
        result = self.run_code(code, "-f", framework, "compare", "-i", os.path.join(out, "compare.json"), "-o",
                               results, "--format", "csv", *options, **settings)
        tables = [n for n in files_below(results) if n.endswith(".csv")]
        rows = read_csv(os.path.join(results, tables[0])) if len(tables) == 1 else None
        return rows, result, results

    def assert_one_line(self, text, *parts):
        """One line a person can act on, holding all the parts."""
        self.assertEqual(text.count("\n"), 1, repr(text))
        for part in parts:
            self.assertIn(part, text)

    def assert_nothing_left(self, folder):
        """Neither results nor temporaries."""
        self.assertEqual([n for n in files_below(folder) if n != "compare.json"], [])


def forget_openmp(pid):
    """LLVM's OpenMP keeps a file named after the process, which stays when a signal ends it; a later process of
    the same number would trip over it."""
    try:
        os.unlink("/dev/shm/__KMP_REGISTERED_LIB_%d_%d" % (pid, os.getuid()))
    except OSError:
        pass


class Running:
    """A run in the background, for signals and for watching its memory."""

    def __init__(self, *words, env=None, before=None):
        self.process = subprocess.Popen([TDCMP] + [os.fspath(w) for w in words], env=environment(**(env or {})),
                                        preexec_fn=before, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE)

    def status(self, field):
        """A field of /proc/PID/status in bytes; 0 when the process has gone."""
        try:
            with open("/proc/%d/status" % self.process.pid) as file:
                for line in file:
                    if line.startswith(field + ":"):
                        return int(line.split()[1]) * 1024
        except (OSError, ValueError):
            pass
        return 0

    def interrupt(self):
        self.process.send_signal(signal.SIGINT)

    def finish(self, timeout=300):
        out, err = self.process.communicate(timeout=timeout)
        forget_openmp(self.process.pid)
        return Result(self.process.args, self.process.returncode, out.decode(errors="replace"),
                      err.decode(errors="replace"))


def main():
    if not os.access(TDCMP, os.X_OK) and shutil.which(TDCMP) is None:
        sys.exit("TDCMP=%s is not a program" % TDCMP)
    unittest.main(verbosity=2 if "-v" in sys.argv else 1)
