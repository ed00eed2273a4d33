"""Going on with the files of a run that was interrupted, at any byte."""
import os
import random
import re
import signal
import subprocess
import tempfile
import time

import harness
import precheck_case
from precheck_case import PrecheckCase, files_of, golden


# Bytes between two cuts: unit.test_journal cuts at every one
STEP = 409


class Resume(PrecheckCase):
    def setUp(self):
        super().setUp()
        out, _ = self.run_ut(golden("ms_edge"))
        self.result, self.details = (harness.read_bytes(path) for path in files_of(out))

    def resume(self, result, details, code=0):
        """A run that goes on with these contents; the contents afterwards, and the run."""
        folder = tempfile.mkdtemp(prefix="resume-", dir=self.folder)
        path = os.path.join(folder, "accuracy_checking_result_20260102030405.csv")
        beside = os.path.join(folder, "accuracy_checking_details_20260102030405.csv")
        harness.write_bytes(path, result)
        if details is not None:
            harness.write_bytes(beside, details)
        done = self.run_code(code, "-f", "mindspore", "run_ut", "-api_info", golden("ms_edge", "dump.json"), "-csv_path",
                             path, "-o", os.path.join(folder, "unused"))
        self.assertEqual(sorted(n for n in os.listdir(folder) if n != "unused"),
                         sorted([os.path.basename(path), os.path.basename(beside)]))
        return harness.read_bytes(path), harness.read_bytes(beside), done

    def stream(self):
        """The bytes in the order in which a run writes them: (file, byte) by call."""
        pieces = []
        details = self.details.decode("utf-8-sig").split("\r\n")[1:-1]
        pieces.append(("details", self.details[:self.details.index(b"\r\n") + 2]))
        pieces.append(("result", self.result[:self.result.index(b"\r\n") + 2]))
        for row in self.result.decode("utf-8-sig").split("\r\n")[1:-1]:
            call = row.split(",")[0]
            mine = [d for d in details if d.split(",")[0].rsplit(".", 3)[0] == call]
            pieces.append(("details", "".join(d + "\r\n" for d in mine).encode()))
            pieces.append(("result", (row + "\r\n").encode()))
        return pieces

    def test_killed_at_any_byte(self):
        pieces = self.stream()
        total = sum(len(data) for _, data in pieces)
        self.assertEqual(total, len(self.result) + len(self.details))
        for cut in list(range(0, total, STEP)) + [total - 1, total]:
            left = {"result": b"", "details": b""}
            rest = cut
            for name, data in pieces:
                left[name] += data[:max(rest, 0)]
                rest -= len(data)
            result, details, _ = self.resume(left["result"], left["details"])
            self.assertEqual((result, details), (self.result, self.details), "cut at %d" % cut)

    def test_result_torn_alone(self):
        for cut in range(0, len(self.result), STEP):
            result, details, _ = self.resume(self.result[:cut], self.details)
            self.assertEqual((result, details), (self.result, self.details), "cut at %d" % cut)

    def test_details_torn_alone(self):
        ends = [m.end() for m in re.finditer(b"\r\n", self.details)]
        for cut in list(range(0, len(self.details), STEP)) + ends[::9]:
            result, details, _ = self.resume(self.result, self.details[:cut])
            self.assertEqual((result, details), (self.result, self.details), "cut at %d" % cut)

    def test_details_missing(self):
        result, details, _ = self.resume(self.result, None)
        self.assertEqual((result, details), (self.result, self.details))

    def test_finished_run_changes_nothing(self):
        result, details, done = self.resume(self.result, self.details)
        self.assertEqual((result, details), (self.result, self.details))
        self.assertNotIn("Writing CSV headers", done.out)

    def test_finished_calls_are_not_run(self):
        # a verdict no run would give stays as it is
        marked = self.result.replace(b"Mint.abs.2,pass,,", b"Mint.abs.2,pass,,kept")
        result, _, _ = self.resume(marked, self.details)
        self.assertEqual(result, marked)

    def test_foreign_file_is_refused(self):
        for text in (b"a,b,c\r\n1,2,3\r\n", b"\xef\xbb\xbfAPI Name,Message\r\n", b"nonsense"):
            folder = tempfile.mkdtemp(prefix="foreign-", dir=self.folder)
            path = harness.write_bytes(os.path.join(folder, "accuracy_checking_result_1.csv"), text)
            self.run_code(1, "-f", "mindspore", "run_ut", "-api_info", golden("ms_edge", "dump.json"), "-csv_path", path)
            self.assertEqual(harness.read_bytes(path), text)

    def test_kill_9(self):
        dump = golden("ms_tensor", "dump.json")
        whole, _ = self.run_ut(golden("ms_tensor"))
        expected = [harness.read_bytes(path) for path in files_of(whole)]
        chance = random.Random(20260101)
        for _ in range(4):
            out = tempfile.mkdtemp(prefix="killed-", dir=self.folder)
            words, kills = ["-o", out], 0
            while True:
                process = subprocess.Popen([harness.TDCMP, "-f", "mindspore", "run_ut", "-api_info", dump, "--threads",
                                            "1"] + words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                           env=harness.environment())
                limit = time.monotonic() + chance.uniform(0.005, 0.15) * (1 + kills)
                while process.poll() is None and time.monotonic() < limit:
                    time.sleep(0.002)
                if process.poll() is None:
                    process.send_signal(signal.SIGKILL)
                    kills += 1
                process.wait()
                harness.forget_openmp(process.pid)
                found = [n for n in os.listdir(out) if n.startswith("accuracy_checking_result")]
                if found:
                    words = ["-csv_path", os.path.join(out, found[0])]
                if process.returncode == 0:
                    break
            self.assertEqual([harness.read_bytes(path) for path in files_of(out)], expected)


if __name__ == "__main__":
    precheck_case.main()
