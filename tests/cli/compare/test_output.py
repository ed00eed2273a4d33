"""Results among other runs: several at once, one after the other in a second, killed ones, closed descriptors."""
import fcntl
import itertools
import os
import re
import signal
import subprocess
import tempfile
import time
import unittest

import dumps
import harness
import precheck_case

NAME = re.compile(r"^(compare_result|advisor|accuracy_checking_(result|details))_\d{14}\.(csv|json|xlsx|txt)$")


def hidden(folder):
    return [name for name in harness.files_below(folder) if name.startswith(".")]


class Together(harness.Case):
    def sides(self):
        made = []
        for side, last in (("npu", 3.0), ("bench", -400.0)):
            dump = dumps.Dump(self.path(side))
            for number in range(20):
                dump.call("f%d" % number, "output", [1.0, 2.0, last])
            made.append(dump.write())
        return made

    def assert_runs_apart(self, folder, runs, files):
        """As many files of each kind as runs, with msprobe's names, equal but for the name, nothing else."""
        names = harness.files_below(folder)
        for name in names:
            self.assertRegex(name, NAME)
        self.assertEqual(len(names), runs * files, names)
        kinds = {}
        for name in names:
            kinds.setdefault(harness.stampless(name), set()).add(harness.read_bytes(os.path.join(folder, name)))
        self.assertEqual(len(kinds), files)
        self.assertEqual({kind: len(contents) for kind, contents in kinds.items()}, dict.fromkeys(kinds, 1))

    def test_comparisons_at_once(self):
        sides, out = self.sides(), self.path("out")
        running = [harness.Running("compare", *sides, "-o", out, "--format", "csv,json,xlsx", "-t", "1")
                   for _ in range(6)]
        for one in running:
            result = one.finish()
            self.assertEqual(result.code, 1, str(result))
        self.assert_runs_apart(out, 6, 4)

    def test_comparisons_in_one_second(self):
        sides, out = self.sides(), self.path("out")
        for _ in range(4):
            self.run_code(1, "compare", *sides, "-o", out, "--format", "csv", "-t", "1")
        self.assert_runs_apart(out, 4, 2)

    def test_prechecks_at_once(self):
        dump, out = precheck_case.golden("ms_edge", "dump.json"), self.path("out")
        running = [harness.Running("-f", "mindspore", "run_ut", "-api_info", dump, "-o", out) for _ in range(4)]
        for one in running:
            result = one.finish()
            self.assertEqual(result.code, 0, str(result))
        self.assert_runs_apart(out, 4, 2)

    def test_second_writer_of_a_journal_is_refused(self):
        dump, out = precheck_case.golden("ms_edge", "dump.json"), self.path("out")
        self.run_code(0, "-f", "mindspore", "run_ut", "-api_info", dump, "-o", out)
        result, details = precheck_case.files_of(out)
        contents = [harness.read_bytes(path) for path in (result, details)]
        harness.write_bytes(result, contents[0][:-20])
        cut = harness.read_bytes(result)
        with open(result, "r+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            run = self.run_code(2, "precheck", dump, "--resume", result, "-o", self.path("other"))
            self.assert_one_line(run.err, result, "another run is writing")
            self.assertEqual(harness.read_bytes(result), cut)
            self.assertEqual(harness.read_bytes(details), contents[1])
        self.run_code(0, "-f", "mindspore", "run_ut", "-api_info", dump, "-csv_path", result, "-o", out)
        self.assertEqual([harness.read_bytes(path) for path in (result, details)], contents)


class Killed(harness.Case):
    def large(self):
        made = []
        for side in ("npu", "bench"):
            dump = dumps.Dump(self.path(side))
            name = os.path.basename(dump.file("x.npy", dumps.npy_bytes("<f4", [1 << 20], bytes(4 << 20))))
            for number in range(400):
                dump.entry("Functional.f.%d.forward" % number, input_args=[dumps.item("f32", [1 << 20], name)])
            made.append(dump.write())
        return made

    def started(self, sides, out, count):
        """A run that has begun to write."""
        running = harness.Running("compare", *sides, "-o", out, "--format", "csv,json,xlsx", "-t", "2")
        while running.process.poll() is None and len(hidden(out)) < count:
            time.sleep(0.001)
        return running

    def test_temporaries_of_the_dead_are_swept(self):
        sides, out = self.large(), self.path("out")
        for _ in range(20):
            running = self.started(sides, out, 4)
            running.process.kill()
            if running.finish().code == -signal.SIGKILL and len(hidden(out)) >= 4:
                break
        self.assertGreaterEqual(len(hidden(out)), 4)
        # what another machine may be writing is left alone
        foreign = harness.write_text(os.path.join(out, ".tdcmp-0123456789abcdef-0123456789abcdef.tmp"), "")
        small = Together.sides(self)
        self.run_code(1, "compare", *small, "-o", out, "--format", "csv", "-t", "1")
        self.assertEqual(hidden(out), [os.path.basename(foreign)])

    def test_temporaries_of_the_living_stay(self):
        sides, out = self.large(), self.path("out")
        running = self.started(sides, out, 4)
        time.sleep(0.02)  # the newest has its lock by now; without it another run takes it for dead, and it is made anew
        running.process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, running.process.pid, os.WSTOPPED | os.WNOWAIT)  # the signal is taken a moment later
        before = hidden(out)
        self.assertEqual(len(before), 4, before)
        self.run_code(1, "compare", *Together.sides(self), "-o", out, "--format", "csv", "-t", "1")
        self.assertEqual(hidden(out), before)
        running.process.send_signal(signal.SIGCONT)
        result = running.finish()
        self.assertEqual(result.code, 0, str(result))
        self.assertEqual(hidden(out), [])
        self.assertEqual(len(harness.files_below(out)), 6)


class Descriptors(harness.Case):
    def closed(self, which):
        def close():
            for number in which:
                os.close(number)
        return close

    def test_closed(self):
        """Nothing printed ends up in a file."""
        sides = Together.sides(self)
        expected = None
        for which in itertools.chain.from_iterable(itertools.combinations(range(3), n) for n in range(4)):
            with self.subTest(closed=which):
                out = tempfile.mkdtemp(dir=self.folder)
                self.run_code(1, "compare", *sides, "-o", out, "--format", "csv,json,xlsx", before=self.closed(which))
                # the json has the name of the folder
                found = {harness.stampless(name): harness.read_bytes(os.path.join(out, name)).replace(out.encode(), b"")
                         for name in harness.files_below(out)}
                expected = expected or found
                self.assertEqual(len(found), 4)
                self.assertEqual(found, expected)

    def test_closed_in_a_precheck(self):
        """Messages about calls that cannot be checked are many."""
        dump, expected = precheck_case.golden("ms_edge", "dump.json"), None
        for which in ((), (0,), (1,), (2,), (0, 1, 2)):
            with self.subTest(closed=which):
                out = tempfile.mkdtemp(dir=self.folder)
                self.run_code(0, "-f", "mindspore", "run_ut", "-api_info", dump, "-o", out, before=self.closed(which))
                found = {harness.stampless(name): harness.read_bytes(os.path.join(out, name))
                         for name in harness.files_below(out)}
                expected = expected or found
                self.assertEqual(found, expected)

    @unittest.skipUnless(os.path.exists("/dev/full"), "no /dev/full")
    def test_full_output(self):
        sides = Together.sides(self)
        dump = precheck_case.golden("ms_edge", "dump.json")
        for words in (["--help"], ["--version"], ["compare", "--help"], ["match", "--help"], ["precheck", "--help"],
                      ["bench", "--help"], ["precheck", "--list-apis"], ["devices"], ["match", *sides],
                      ["compare", *sides, "-o", self.path("out")], ["precheck", dump, "-o", self.path("out")],
                      ["-f", "pytorch", "compare", "--help"]):
            with self.subTest(words=words), open("/dev/full", "wb") as full:
                done = subprocess.run([harness.TDCMP, *words], stdout=full, stderr=subprocess.PIPE, timeout=300,
                                      env=harness.environment())
                self.assertEqual(done.returncode, 2)
                self.assertIn(b"the standard output cannot be written", done.stderr)

    def test_reader_of_the_output_goes_away(self):
        """A broken pipe ends the run as a signal does: nothing unfinished stays."""
        sides, out = Together.sides(self), self.path("out")
        read, write = os.pipe()
        os.close(read)
        done = subprocess.run([harness.TDCMP, "compare", *sides, "-o", out], stdout=write, stderr=subprocess.PIPE,
                              env=harness.environment(), timeout=300)
        os.close(write)
        self.assertEqual(done.returncode, 128 + signal.SIGPIPE)
        self.assertEqual(hidden(out), [])


if __name__ == "__main__":
    harness.main()
