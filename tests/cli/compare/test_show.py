"""`tdcmp show`: one call of a finished result, in every format, with and without its tensors."""
import glob
import json
import os
import shutil

import dumps
import harness

GOOD = [0.5, 1.5, -2.0, 3.25, 0.0, 100.0]
WRONG = [0.5, 1.5, -2.0, 4.25, 0.5, 100.00001]


class Show(harness.Case):
    def side(self, name, wrong=None):
        dump = dumps.Dump(self.path(name))
        for call in ("linear", "relu"):
            dump.call(call, "input", GOOD, shape=[2, 3])
            dump.call(call, "output", wrong if wrong and call == "relu" else GOOD, shape=[2, 3])
        path = dump.write()
        with open(self.path(name, "stack.json"), "w") as file:
            json.dump({"Functional.relu.0.forward": [
                "File /usr/lib/python3/site-packages/model/net.py, line 12, in forward, \n return relu(x)",
                "File /usr/lib/torch/nn/modules/module.py, line 1, in inner, \n x",
                "File train.py, line 7, in main, \n loss = model(x)"]}, file)
        return path

    def make(self, wrong=WRONG, formats="xlsx,csv,json"):
        sides = self.side("npu", wrong), self.side("bench")
        self.run_code(1, "compare", *sides, "-o", self.path("out"), "-F", formats, "--no-advice")
        return sides

    def shown(self, result, call, *words, code=0):
        found = self.run_code(code, "show", result, call, *words)
        for line in found.out.splitlines():
            self.assertLessEqual(len(line), 80, line)
        return found

    def test_every_format(self):
        test, ref = self.make()
        for ending in ("xlsx", "csv", "json"):
            with self.subTest(ending=ending):
                path = harness.only_file(self.path("out"), ending)
                for name in ("Functional.relu.0", "Functional.relu.0.forward"):
                    page = self.shown(path, name, "--test", test, "--ref", ref).out
                    self.assertRegex(page, r"\A%s   different\nin .*%s\n" % (name, ending))
                    self.assertRegex(page, r"(?m)^ +4  \S*input\.0 +identical$")
                    self.assertRegex(page, r"(?m)^ +5  \S*output\.0 +different$")
                    self.assertIn("model/net.py:12 in forward   return relu(x)", page)
                    self.assertNotIn("module.py", page)
                    self.assertRegex(page, r"(?m)^    \[1, 0\] +4\.25 +3\.25 +1 +0\.3077$")
                    self.assertRegex(page, r"(?m)^    \[1, 1\] +0\.5 +0 +0\.5 +inf$")
                    self.assertIn("relative error of 6 elements:", page)
                    self.assertRegex(page, r"(?m)^    equal +3  #+$")
                    self.assertRegex(page, r"(?m)^    < 1e-07 +1  #+$")
                    self.assertRegex(page, r"(?m)^    < 1 +1  #+$")
                    self.assertRegex(page, r"(?m)^    >= 1 +1  #+$")
                row = self.shown(path, "5", "--test", test, "--ref", ref).out
                self.assertIn("[1, 0]", row)
                self.assertNotIn("input.0", row)

    def test_the_folder(self):
        test, ref = self.make()
        page = self.shown(self.path("out"), "Functional.relu.0", "--test", test, "--ref", ref).out
        self.assertIn("[1, 0]", page)

    def test_verbose(self):
        test, ref = self.make()
        page = self.shown(self.path("out"), "Functional.relu.0", "-v", "--test", test, "--ref", ref).out
        self.assertIn("module.py:1 in inner", page)
        self.assertEqual(page.count("dtype "), 2)

    def test_not_finite(self):
        test, ref = self.make([float("nan"), 1.5, -2.0, 3.25, float("inf"), 100.0])
        page = self.shown(self.path("out"), "Functional.relu.0", "--test", test, "--ref", ref).out
        self.assertRegex(page, r"(?m)^    \[0, 0\] +nan +0\.5 +inf +inf$")
        self.assertRegex(page, r"(?m)^    not finite +2  #+$")

    def test_without_tensors(self):
        """What the result has is shown when the dumps are gone."""
        self.make(formats="csv")
        shutil.rmtree(self.path("npu"))
        page = self.shown(self.path("out"), "Functional.relu.0").out
        self.assertIn("--test DUMP --ref DUMP", page)
        self.assertRegex(page, r"(?m)^    worst at \[1, 0\]: 4\.25 against 3\.25$")
        self.assertNotIn("relative error of", page)
        self.assertIn("No such file", self.shown(self.path("out"), "Functional.relu.0", "--test", self.path("npu"),
                                                 "--ref", self.path("bench"), code=2).err)

    def test_a_tensor_is_gone(self):
        test, ref = self.make()
        for path in glob.glob(self.path("npu", "dump_tensor_data", "*relu*output*")):
            os.remove(path)
        page = self.shown(self.path("out"), "Functional.relu.0", "--test", test, "--ref", ref).out
        self.assertIn("not to be looked at: ", page)
        self.assertIn("worst at [1, 0]", page)

    def test_near_misses(self):
        self.make()
        for name in ("Functional.rleu.0", "relu.0", "functional.RELU"):
            said = self.shown(self.path("out"), name, code=2)
            self.assertIn("did you mean one of these?\ntdcmp:   Functional.relu.0", said.err)
            self.assertEqual(said.out, "")
        self.assertNotIn("did you mean", self.shown(self.path("out"), "xyzzy", code=2).err)
        self.assertIn("did you mean " + self.path("out") + "?", self.shown(self.path("uot"), "x", code=2).err)

    def test_many_ranks(self):
        for rank in range(3):
            self.side("npu/step0/rank%d" % rank, WRONG if rank == 1 else None)
            self.side("bench/step0/rank%d" % rank)
        self.run_code(1, "compare", self.path("npu/step0"), self.path("bench/step0"), "-o", self.path("out"), "-F", "csv")
        page = self.shown(self.path("out"), "Functional.relu.0", "--test", self.path("npu/step0/rank1"),
                          "--ref", self.path("bench/step0/rank1")).out
        self.assertIn("in 3 results", page)
        self.assertEqual(page.count("identical  "), 2)
        self.assertRegex(page, r"(?m)^in \S*rank1")
        self.assertIn("[1, 0]", page)

    def test_what_is_no_result(self):
        with open(self.path("a.csv"), "w") as file:
            file.write("x,y\n1,2\n")
        with open(self.path("a.json"), "w") as file:
            file.write('{"rows": [{"x": 1}]}')
        for name in ("a.csv", "a.json"):
            self.assertIn("no result of a comparison", self.shown(self.path(name), "x", code=2).err)
        for content in ('{"rows": [', '{"rows": [{}{}]}', '[1', "", '{"rows": [[[[', "{"):
            with open(self.path("b.json"), "w") as file:
                file.write(content)
            self.assertIn("b.json", self.shown(self.path("b.json"), "x", code=2).err)
        os.mkdir(self.path("empty"))
        self.assertIn("no compare_result_*", self.shown(self.path("empty"), "x", code=2).err)
        self.assertIn("takes a result and a call", self.run_code(2, "show", "a").err)


if __name__ == "__main__":
    harness.main()
