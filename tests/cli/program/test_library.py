"""The library as others use it: one header, what it exports, and a program of thirty lines."""
import glob
import os
import re
import shutil
import subprocess
import tarfile
import unittest

import dumps
import harness

HEADER = os.environ.get("TDC_HEADER", "")
PARTS = sorted(glob.glob(os.path.join(os.path.dirname(HEADER), "tdcmp", "*.h")))
LIBRARY = os.environ.get("TDC_LIBRARY", "")
EXAMPLE = os.environ.get("TDC_EXAMPLE", "")


class Example(harness.Case):
    def start(self, *words):
        return subprocess.run([EXAMPLE, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=300)

    def test_golden_case(self):
        """The rows that fail are those of the program, with the same words."""
        with tarfile.open(harness.GOLDEN) as archive:
            members = [m for m in archive.getmembers() if m.name.startswith("pt_highlight_tensor/")]
            archive.extractall(self.folder, members)
        sides = [self.path("pt_highlight_tensor", side, "dump.json") for side in ("npu", "bench")]
        rows, result = self.compare(1, *sides)
        failing = [row["NPU Name"] for row in rows if row["Accuracy Reached or Not"] == "different"]
        self.assertGreater(len(failing), 10)
        done = self.start(*sides)
        self.assertEqual((done.returncode, done.stderr), (1, ""))
        lines = done.stdout.splitlines()
        self.assertEqual([line.split(": ")[0] for line in lines], failing)
        where = re.search(r" at (\[.*)", lines[0]).group(1)
        self.assertIn("worst at " + where, result.out)

    def test_equal_dumps(self):
        for side in ("npu", "bench"):
            dump = dumps.Dump(self.path(side))
            dump.call("f", "input", [1.0, 2.0])
            dump.write()
        done = self.start(self.path("npu", "dump.json"), self.path("bench", "dump.json"))
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def test_missing_dump(self):
        done = self.start(self.path("none.json"), self.path("none.json"))
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assert_one_line(done.stderr, "none.json")


class Header(unittest.TestCase):
    @unittest.skipIf(shutil.which("nm") is None, "no nm")
    def test_exports_what_the_header_declares(self):
        text = ""
        for header in [HEADER, *PARTS]:
            with open(header, encoding="utf-8") as file:
                text += re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
        declared = set(re.findall(r"^(?:[a-z][\w ]*[\s*])?(tdc_\w+)\(", text, flags=re.M))
        self.assertGreater(len(declared), 30)
        listed = subprocess.run(["nm", "-D", "--defined-only", LIBRARY], stdout=subprocess.PIPE, text=True, check=True)
        # names that begin with an underscore are the linker's
        exported = {line.split()[-1].split("@")[0] for line in listed.stdout.splitlines()}
        exported = {name for name in exported if not name.startswith("_")}
        self.assertEqual(declared - exported, set())
        if harness.SANITIZE == "":
            self.assertEqual(exported - declared, set())

    def check_syntax(self, compiler, *words):
        for header in [HEADER, *PARTS]:
            done = subprocess.run([compiler, *words, "-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only",
                                   "-I", os.path.dirname(HEADER), header],
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            self.assertEqual((done.returncode, done.stdout), (0, ""))

    @unittest.skipIf(shutil.which("g++") is None, "no g++")
    def test_header_is_c_plus_plus(self):
        self.check_syntax("g++", "-std=c++11", "-x", "c++")

    @unittest.skipIf(shutil.which("cc") is None, "no cc")
    def test_header_stands_alone(self):
        self.check_syntax("cc", "-std=c11", "-x", "c")


if __name__ == "__main__":
    harness.main()
