"""What the tests of the precheck share: golden dumps, a run of run_ut, rows and cells compared.

The golden tables were written by msprobe's own checker with a float64 bench.
"""
import array
import ast
import csv
import math
import os
import re
import sys
import tarfile
import tempfile

import harness
from harness import Case

ARCHIVE = os.environ.get("TDC_PRECHECK_GOLDEN", "")
# Records written for what is easy to get wrong, other dtypes, forms of arguments and shapes; made the same way.
MORE = os.environ.get("TDC_PRECHECK_MORE", "")
STAMPED = re.compile(r"^accuracy_checking_(result|details)_\d{14}\.(csv|json)$")

_unpacked = {}


def golden(*parts):
    archive = MORE if parts[0] in ("ms_records", "ms_variants", "pt_variants") else ARCHIVE
    if archive not in _unpacked:
        _unpacked[archive] = tempfile.TemporaryDirectory(prefix="tdcmp-golden-")
        with tarfile.open(archive) as packed:
            packed.extractall(_unpacked[archive].name)
    return os.path.join(_unpacked[archive].name, *parts)


def read_rows(path):
    with open(path, encoding="utf-8-sig", newline="") as file:
        rows = list(csv.reader(file))
    return rows[0], rows[1:]


def files_of(folder):
    """The result and details files of the only run in a folder."""
    names = [n for n in os.listdir(folder) if STAMPED.match(n) and n.endswith(".csv")]
    result = [n for n in names if "result" in n]
    details = [n for n in names if "details" in n]
    assert len(result) == len(details) == 1, names
    return os.path.join(folder, result[0]), os.path.join(folder, details[0])


def number(text):
    return None if text.strip() == "" else float(text)


def close(got, want, absolute, relative):
    if got is None or want is None:
        return got is want
    if math.isnan(got) or math.isnan(want):
        return math.isnan(got) and math.isnan(want)
    if math.isinf(got) or math.isinf(want):
        return got == want
    return abs(got - want) <= absolute + relative * abs(want)


def cell_differs(column, got, want):
    if column == "Cosine":
        return not close(number(got), number(want), 1e-9, 0)
    if column == "MaxAbsErr":
        return not close(number(got), number(want), 1e-11, 1e-4)
    if column == "MaxRelativeErr":
        expected = number(want)
        return not (expected is not None and expected > 100) and not close(number(got), expected, 1e-9, 1e-3)
    return got != want


def npy(data):
    """(descr, shape, raw bytes) of a .npy file."""
    assert data[:6] == b"\x93NUMPY", data[:8]
    length = int.from_bytes(data[8:10], "little")
    header = ast.literal_eval(data[10:10 + length].decode("latin1"))
    assert not header["fortran_order"]
    return header["descr"], header["shape"], data[10 + length:]


def floats(descr, raw):
    values = array.array({"<f8": "d", "<f4": "f"}[descr])
    values.frombytes(raw)
    return values


class PrecheckCase(Case):
    def run_ut(self, dump, *options, code=0, command="run_ut", framework="mindspore"):
        out = tempfile.mkdtemp(prefix="out-", dir=self.folder)
        result = self.run_code(code, "-f", framework, command, "-api_info", os.path.join(dump, "dump.json"), "-o", out,
                               *options)
        return out, result

    def check_details(self, want_path, got_path):
        header, want = read_rows(want_path)
        got_header, got = read_rows(got_path)
        self.assertEqual(got_header, header)
        self.assertEqual([r[0] for r in got], [r[0] for r in want])
        bad = []
        for row, found in zip(want, got):
            for column, cell, expected in zip(header, found, row):
                if cell_differs(column, cell, expected):
                    bad.append("%s: %s: got %r, expected %r" % (row[0], column, cell, expected))
        return bad, len(want)

    def check_result(self, want_path, got_path):
        header, want = read_rows(want_path)
        got_header, got = read_rows(got_path)
        self.assertEqual(got_header, header)
        self.assertEqual([r[0] for r in got], [r[0] for r in want])
        bad = []
        for row, found in zip(want, got):
            if found[1:3] != row[1:3]:
                bad.append("%s: got %s (%s), expected %s" % (row[0], found[1:3], found[3], row[1:3]))
            elif "SKIP" not in row[1:3] and found[3] != row[3]:
                bad.append("%s: message %r, expected %r" % (row[0], found[3], row[3]))
        return bad, len(want)

    def check_golden(self, out, case, expected):
        """Every row and cell of msprobe's two tables; only the reasons of a SKIP are free."""
        result, details = files_of(out)
        folder = golden(case, expected)
        bad, slots = self.check_details(os.path.join(folder, "expected_details.csv"), details)
        more, calls = self.check_result(os.path.join(folder, "expected_result.csv"), result)
        print("%s/%s: %d calls and %d slots compared" % (case, expected, calls, slots), file=sys.stderr)
        self.assertEqual(bad + more, [])


def main():
    for archive in (ARCHIVE, MORE):
        if not os.path.exists(archive):
            sys.exit("golden archive %r is not there" % archive)
    harness.main()
