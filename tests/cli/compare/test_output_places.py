"""Where results go and which rows they have: -o, --json, --only, --quiet; what is said of dumps that are not found."""
import csv
import io
import json
import os
import tempfile

import dumps
import harness
import xlsx

GOOD = [0.5, 1.5, -2.0, 3.25]
WRONG = [0.5, 1.5, -2.0, 4.25]


class Sides(harness.Case):
    def side(self, name, wrong=False, task="tensor"):
        dump = dumps.Dump(self.path(name), task=task)
        for call in "abc":
            for role in ("input", "output"):
                values = WRONG if wrong and (call, role) not in (("a", "input"), ("a", "output"), ("b", "input")) else GOOD
                dump.call(call, role, values)
        return dump.write()

    def pair(self):
        return self.side("npu", wrong=True), self.side("bench")


class Places(Sides):
    def rows(self, text):
        return list(csv.DictReader(io.StringIO(text)))

    def test_a_file_by_its_ending(self):
        sides = self.pair()
        for ending in ("csv", "xlsx", "json"):
            with self.subTest(ending=ending):
                path = self.path("deep/er/result." + ending)
                result = self.run_code(1, "compare", *sides, "-o", path)
                self.assertIn("DIFFERENT", result.out)
                self.assertIn("Wrote " + path, result.out)
                self.assertIn(os.path.basename(path), os.listdir(self.path("deep/er")))
                before = os.stat(path).st_ino
                self.run_code(1, "compare", *sides, "-o", path)
                self.assertNotEqual(before, os.stat(path).st_ino)
        self.assertEqual(sorted(os.listdir(self.path("deep/er"))), ["result.csv", "result.json", "result.xlsx"])

    def test_a_folder_with_an_ending(self):
        os.mkdir(self.path("folder.csv"))
        self.run_code(1, "compare", *self.pair(), "-o", self.path("folder.csv"))
        self.assertTrue(harness.only_file(self.path("folder.csv"), "xlsx"))

    def test_formats_that_contradict(self):
        sides = self.pair()
        self.assertIn("--format asks for another",
                      self.run_code(2, "compare", *sides, "-o", self.path("a.csv"), "-F", "xlsx").err)
        self.assertIn("takes one format", self.run_code(2, "compare", *sides, "-o", "-", "-F", "csv,json").err)
        self.assertFalse(os.path.exists(self.path("a.csv")))

    def test_the_standard_output(self):
        sides = self.pair()
        with tempfile.TemporaryDirectory() as folder:
            place = {"TMPDIR": folder}
            streamed = self.run_code(1, "compare", *sides, "-o", "-", env=place)
            self.assertEqual(len(self.rows(streamed.out)), 6)
            found = json.loads(self.run_code(1, "compare", *sides, "--json", env=place).out)
            self.assertEqual(len(found["rows"]), 6)
            same = json.loads(self.run_code(1, "compare", *sides, "-o", "-", "-F", "json", env=place).out)
            self.assertEqual(len(same["rows"]), 6)
            self.assertEqual(os.listdir(folder), [])
        path = self.path("file.csv")
        self.run_code(1, "compare", *sides, "-o", path)
        with open(path, encoding="utf-8-sig") as file:
            self.assertEqual(self.rows(file.read()), self.rows(streamed.out.lstrip("\ufeff")))
        self.run_code(1, "compare", *sides, "--json", "-o", self.path("both"))
        self.assertTrue(harness.only_file(self.path("both"), "xlsx"))

    def test_one_result_for_one_place(self):
        for side in ("npu", "bench"):
            for rank in (0, 1):
                self.side("%s/step0/rank%d" % (side, rank))
        for words in (["-o", self.path("a.csv")], ["-o", "-"], ["--json"]):
            self.assertIn("there are 2 ranks or steps",
                          self.run_code(2, "compare", self.path("npu"), self.path("bench"), *words).err)

    def test_only(self):
        sides = self.pair()
        levels = {"different": 3, "identical": 3, "different,identical": 6, "unmatched": 0, "no-data": 0}
        for words, count in levels.items():
            with self.subTest(only=words):
                result = self.run_code(1, "compare", *sides, "-o", "-", "--only", words)
                self.assertEqual(len(self.rows(result.out)), count)
        page = self.run_code(1, "compare", *sides, "-o", self.path("only.xlsx"), "--only", "different").out
        self.assertIn("identical 3   rounding 0   close 0   different 3", page)
        self.assertIn("\n     2   Functional.b.0.forward", page)
        book = xlsx.Workbook(self.path("only.xlsx"))
        self.assertTrue(any(len(sheet.texts) == 4 for sheet in book.sheets))
        self.assertIn("expected different, close", self.run_code(2, "compare", *sides, "--only", "red").err)

    def test_quiet_prints_paths(self):
        result = self.run_code(1, "compare", *self.pair(), "-q", "-o", self.path("out"), "-F", "csv,json", "--no-advice")
        lines = result.out.splitlines()
        self.assertEqual(len(lines), 2)
        for line in lines:
            self.assertTrue(os.path.isfile(line), line)
        self.assertEqual(result.err, "")

    def test_what_cannot_be_written(self):
        sides = self.pair()
        open(self.path("taken"), "w").close()
        for place in (self.path("taken"), self.path("taken/a.csv")):
            result = self.run_code(2, "compare", *sides, "-o", place)
            self.assertIn("DIFFERENT   3 of 6 tensors", result.out)
            self.assertNotIn("Wrote", result.out)
            self.assertIn("taken", result.err)


class Messages(Sides):
    def said(self, *words):
        result = self.run_code(2, *words)
        self.assertEqual(result.out, "")
        return result.err

    def test_step_on_a_rank(self):
        root, other = self.side("npu/step0/rank0"), self.side("bench/step0/rank0")
        for test in (self.path("npu/step0/rank0"), self.path("npu/step0"), root):
            self.assertIn("step 0 cannot be chosen",
                          self.said("compare", test, self.path("bench"), "--step", "0"))
        self.run_code(0, "compare", self.path("npu"), self.path("bench"), "--step", "0", "-o", self.path("out"))
        self.assertTrue(other)

    def test_did_you_mean(self):
        self.side("npu/step0/rank0")
        self.side("ref/step0/rank0")
        self.side("ref/step1/rank0")
        npu, ref = self.path("npu"), self.path("ref")
        self.assertIn("ref: %s: No such file or directory; did you mean %s?" % (self.path("rfe/step0"), ref + "/step0"),
                      self.said("compare", npu, self.path("rfe/step0")))
        self.assertIn("test: %s" % self.path("nup"), self.said("match", self.path("nup"), ref))
        self.assertIn("did you mean %s?" % (npu + "/step0/rank0"), self.said("precheck", npu + "/step0/rnk0"))
        self.assertIn("did you mean %s?" % (ref + "/step0/rank0"), self.said("compare", npu + "/step0/rank0", ref))
        os.mkdir(self.path("outer"))
        os.rename(npu, self.path("outer/npu"))
        self.assertIn("did you mean %s?" % self.path("outer/npu"), self.said("compare", self.path("outer"), ref))

    def test_which_side_has_which_task(self):
        said = self.said("compare", self.side("npu"), self.side("bench", task="statistics"))
        self.assertIn("test was dumped with task tensor, ref with task statistics", said)


if __name__ == "__main__":
    harness.main()
