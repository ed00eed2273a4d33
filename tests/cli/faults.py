"""Every call of the system fails: once, from then on, or interrupted by a signal.

A preloaded library (tests/fault) counts allocations, files opened, mapped, read, written, flushed and renamed, and
threads started, and lets one of them fail. Whatever fails: the results are complete and right, with the exit code of
the undisturbed run, or the exit code is that of a failure, and what is there is complete and right all the same. No
crash, no hang, no temporary left.
"""
import concurrent.futures
import itertools
import json
import os
import re
import shutil
import subprocess
import tempfile

import harness
import pages
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
    book = xlsx.Workbook(path)
    texts = next((sheet for sheet in book.sheets if sheet.name == "Rows"), book.sheets[0]).texts
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
    failure_codes = (2,)

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

    def said(self, expected, found):
        """Whether standard output tells of a failure."""
        return False

    def fault_of(self, expected, found, mode, kind):
        if found.code == expected.code:
            if found.files != expected.files:
                return "exit %s, but not all files" % found.code
            return None if found.out == expected.out else "exit %s, but prints something else" % found.code
        if found.code not in self.failure_codes or mode == "interrupt":
            return "exit %s" % found.code
        if found.err == "" and not self.said(expected, found) and not found.files:  # else a row says it
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
