"""tdcmp-mpi by the Open MPI and the MPICH of the distribution: the bytes of one process."""
import os
import re
import shutil
import subprocess
import sys
import time
import unittest

import harness
import shares

PROGRAMS = [path for path in os.environ.get("TDC_MPI_PROGRAMS", "").split(":") if path]


def launcher(program):
    """mpirun of the implementation that the program was built with, and what it wants of the environment."""
    kind = program.rsplit("-", 1)[1]
    words = [shutil.which("mpirun." + kind) or "mpirun." + kind]
    if kind == "openmpi":  # one machine, and perhaps fewer processors than processes
        words += ["--allow-run-as-root", "--oversubscribe", "--mca", "btl", "self,vader", "--mca", "plm", "isolated"]
    return words


class Mpi(shares.ShareCase):
    FORMATS = "csv,json"

    def setUp(self):
        super().setUp()
        self.words += ["--color", "never"]  # processes of Open MPI have a terminal

    def mpi(self, program, count, *words, env=None, code=1):
        done = subprocess.run(launcher(program) + ["-n", str(count), program] + list(words), cwd=self.folder,
                              env=harness.environment(**(env or {})), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=300)
        result = harness.Result(words, done.returncode, done.stdout.decode(), done.stderr.decode())
        if code is not None:
            self.assertEqual(result.code, code, str(result))
        return result

    def test_equal_bytes(self):
        expected, printed = self.whole()
        for program in PROGRAMS:
            for count in (1, 3):
                with self.subTest(program=program, count=count):
                    self.forget()
                    done = self.mpi(program, count, *self.words)
                    self.assertEqual(shares.results(self.path("out")), expected)
                    self.assertTrue(harness.stampless(done.out).replace("\r", "").startswith(printed), str(done))
                    self.assertIn("%d processes: 240 done" % count, done.err)
                    self.assertEqual(shares.parts(self.path("out"), ".journal"), [])

    def test_cut_pair(self):
        """A pair larger than a piece is cut over processes; a table of Excel and the csv are those of one."""
        shares.make_huge(self.folder)
        words = ["compare", "npu", "bench", "-o", "out", "-F", "csv,xlsx", "--color", "never"]
        code = harness.run(*words, cwd=self.folder).code
        expected = shares.results(self.path("out"))
        self.assertEqual(len(expected), 3)
        for program in PROGRAMS:
            with self.subTest(program=program):
                self.forget()
                done = self.mpi(program, 3, *words, code=code)
                self.assertEqual(shares.results(self.path("out")), expected)
                self.assertRegex(done.err, r"3 processes: 1 done, 0 by earlier runs, 16\d(\.\d)? MB in [\d.]+ s")

    def test_precheck(self):
        """What all processes read is told by the one that writes."""
        self.run_code(0, "bench", "network", self.path("net"))
        words = ["precheck", "net/test", "-o", "out", "-v", "--color", "never"]
        said = re.search(r"[\d.]+ GB of tensors", self.run_code(0, *words, cwd=self.folder).out)[0]
        expected = shares.results(self.path("out"))
        for program in PROGRAMS:
            with self.subTest(program=program):
                self.forget()
                done = self.mpi(program, 2, *words, code=0)
                self.assertEqual(shares.results(self.path("out")), expected)
                self.assertIn(said, done.out)
                self.assertIn("2 processes: 115 done, 0 by earlier runs", done.err)

    def test_killed(self):
        """One of four dies, MPI ends the others; the next run takes up what they had done."""
        expected, _ = self.whole()
        program = PROGRAMS[0]
        for program in PROGRAMS:
            self.forget()
            process = subprocess.Popen(launcher(program) + ["-n", "4", program] + self.words, cwd=self.folder,
                                       env=harness.environment(TDC_JOURNAL="0"), start_new_session=True,
                                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            for _ in range(2000):  # until something is known
                journals = shares.parts(self.path("out"), ".journal")
                if journals or process.poll() is not None:
                    break
                time.sleep(0.005)
            found = subprocess.run(["pgrep", "-f", "-g", str(process.pid), os.path.basename(program) + " compare"],
                                   stdout=subprocess.PIPE).stdout.split()
            for pid in found[-1:]:
                try:
                    os.kill(int(pid), 9)
                except ProcessLookupError:
                    pass
            process.wait()
            self.mpi(program, 2, *self.words, env={"TDC_JOURNAL": "0"})
            found = shares.results(self.path("out"))
            self.assertEqual(found, expected)
            self.assertEqual(shares.parts(self.path("out"), ".journal"), [])

    def test_failure_ends_all(self):
        for program in PROGRAMS:
            done = self.mpi(program, 3, "compare", "d/npu", "nowhere", "-o", "out", code=None)
            self.assertNotEqual(done.code, 0)
            self.assertEqual(done.err.count("nowhere"), 1, str(done))
            done = self.mpi(program, 2, "--version", code=0)
            self.assertEqual(done.out.count("kernels"), 1)


def starts(program):
    """Whether its mpirun can start processes here at all, whatever they are."""
    words = launcher(program)
    if shutil.which(words[0]) is None:
        return False
    done = subprocess.run(words + ["-n", "2", "true"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=120)
    if done.returncode != 0:
        print("skipped: %s starts no processes here: %s" % (words[0], done.stdout.decode(errors="replace")[-500:]))
    return done.returncode == 0


if __name__ == "__main__":
    PROGRAMS = [program for program in PROGRAMS if starts(program)]
    if not PROGRAMS:
        print("skipped: neither Open MPI nor MPICH of the distribution is here")
        sys.exit(77)
    unittest.main()
