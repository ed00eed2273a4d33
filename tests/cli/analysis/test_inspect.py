"""`tdcmp inspect`: sound dumps are silent, each planted fault is named, nothing of a dump is lost."""
import json
import os

from dumps import Dump, item, npy_bytes, pack, statistics_dump
from harness import Case, main

VALUES = [0.5, -1.5, 2.0, 0.25, 3.0, -0.125]
STATS = (3.0, -1.5, 0.6875, 3.9)


class Inspect(Case):
    def dump(self, folder="rank0"):
        dump = Dump(self.path(folder))
        dump.call("linear", "input", VALUES, shape=[2, 3], stats=STATS)
        dump.call("linear", "output", VALUES, shape=[3, 2], stats=STATS)
        return dump

    def findings(self, path, code):
        result = self.run_code(code, "inspect", path, "--json", "-q")
        whole = json.loads(result.out)
        self.assertEqual(whole["schema"], "tdcmp.inspect/1")
        found = [(f["kind"], f["name"], f["text"]) for dump in whole["dumps"] for f in dump["findings"]]
        for dump in whole["dumps"]:
            for kind, count in dump["counts"].items():
                self.assertEqual(count, sum(f["kind"] == kind for f in dump["findings"]), kind)
        return found

    def the_finding(self, path, code, kind, name, *texts):
        found = self.findings(path, code)
        self.assertEqual([(k, n) for k, n, _ in found], [(kind, name)], found)
        for text in texts:
            self.assertIn(text, found[0][2])

    def test_a_sound_dump(self):
        path = self.dump().write()
        self.assertEqual(self.findings(path, 0), [])
        out = self.run_code(0, "inspect", path, "-q").out
        for text in ("task tensor, level L1, framework pytorch", "1 calls (1 forward, 0 backward)", "2 files, 48 B",
                     "nothing to remark", "Functional.linear (2 tensors)"):
            self.assertIn(text, out)

    def test_a_missing_file(self):
        dump = self.dump()
        path = dump.write()
        os.remove(dump.tensor_path("Functional.linear.0.forward.output.0"))
        self.the_finding(path, 1, "file_missing", "Functional.linear.0.forward.output.0", "No such file")

    def test_a_truncated_file(self):
        dump = self.dump()
        path = dump.write()
        file = dump.tensor_path("Functional.linear.0.forward.input.0")
        os.truncate(file, os.path.getsize(file) // 2)
        self.the_finding(path, 1, "file_unreadable", "Functional.linear.0.forward.input.0")

    def test_another_dtype(self):
        dump = self.dump()
        dump.data["Functional.linear.0.forward"]["output"][0]["dtype"] = "torch.float16"
        self.the_finding(dump.write(), 1, "dtype", "Functional.linear.0.forward.output.0",
                         "torch.float16 in the json, float32 in the file")

    def test_a_wider_file_of_a_type_that_numpy_lacks(self):
        dump = Dump(self.path("rank0"))
        row = dump.call("linear", "output", npy_bytes("<f4", (6,), pack("f32", VALUES)), shape=[6], suffix="npy",
                        stats=STATS)
        dump.data["Functional.linear.0.forward"]["output"][0]["dtype"] = "BFloat16"
        self.assertEqual(self.findings(dump.write(), 0), [], row)

    def test_another_shape_of_as_many_elements(self):
        dump = self.dump()
        dump.data["Functional.linear.0.forward"]["output"][0]["shape"] = [2, 3]
        self.the_finding(dump.write(), 1, "shape", "Functional.linear.0.forward.output.0",
                         "[2, 3] in the json, [3, 2] in the file")

    def test_values_of_another_run(self):
        dump = Dump(self.path("rank0"))
        row = dump.call("linear", "output", [v * 2 for v in VALUES], stats=STATS)
        self.the_finding(dump.write(), 1, "statistics", row, "-1.5 to 3 in the json, -3 to 6 in the file")

    def test_a_large_tensor_of_many_chunks(self):
        values = [0.0] * 300000
        values[299999] = 7.0
        dump = Dump(self.path("rank0"))
        dump.call("linear", "output", values, stats=(7.0, 0.0, 0.0, 7.0))
        self.assertEqual(self.findings(dump.write(), 0), [])

    def test_nan_inf_zero_and_constant(self):
        dump = Dump(self.path("rank0"))
        nan, inf = float("nan"), float("inf")
        rows = [dump.call("a", "output", [1.0, nan, nan], stats=(nan, nan, nan, nan)),
                dump.call("b", "output", [1.0, inf, -inf], stats=(inf, -inf, nan, nan)),
                dump.call("c", "output", [0.0, -0.0], stats=(0.0, 0.0, 0.0, 0.0)),
                dump.call("d", "output", [2.5, 2.5, 2.5], stats=(2.5, 2.5, 2.5, 4.3)),
                dump.call("e", "output", [2.5], stats=(2.5, 2.5, 2.5, 2.5))]
        self.assertEqual(self.findings(dump.write(), 0),
                         [("nan", rows[0], "2 of 3 elements"), ("inf", rows[1], "2 of 3 elements"),
                          ("zero", rows[2], "2 elements"), ("constant", rows[3], "3 elements of 2.5")])

    def test_statistics_alone(self):
        path = statistics_dump(self.path("rank0"), {
            "a": (float("nan"), 1.0, 1.0, 1.0), "b": (float("inf"), 0.0, 1.0, 1.0), "c": (0.0, 0.0, 0.0, 0.0),
            "d": (1.0, -1.0, 0.0, 1.0)})
        found = [(kind, name.split(".")[1]) for kind, name, _ in self.findings(path, 0) if kind != "no_output"]
        self.assertEqual(found, [("nan", "a"), ("inf", "b"), ("zero", "c")])

    def test_calls_without_outputs_and_tensors_without_files(self):
        dump = Dump(self.path("rank0"))
        dump.entry("Functional.relu.0.forward", input_args=[item("f32", [2, 2])])
        found = self.findings(dump.write(), 0)
        self.assertEqual([(k, n) for k, n, _ in found],
                         [("no_output", "Functional.relu.0.forward"), ("no_file", "Functional.relu.0.forward.input.0")])

    def test_an_empty_dump_and_an_empty_rank(self):
        path = Dump(self.path("step0", "rank0")).write()
        self.assertEqual([k for k, _, _ in self.findings(path, 1)], ["no_records"])
        self.dump(os.path.join("step1", "rank0")).write()
        os.makedirs(self.path("step1", "rank1"))
        result = self.run_code(1, "inspect", self.path("step1"), "-q")
        self.assert_one_line(result.err, "rank1", "no dump.json in it")

    def test_a_name_given_twice(self):
        path = self.dump().write()
        with open(path, encoding="utf-8") as file:
            text = file.read()
        entry = '"Functional.linear.0.forward": {"input_args": [], "output": []}, '
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace('"data": {', '"data": {' + entry))
        self.the_finding(path, 1, "repeated", "Functional.linear.0.forward", "1 in all")

    def test_all_ranks_of_a_step(self):
        self.dump(os.path.join("step0", "rank0")).write()
        broken = self.dump(os.path.join("step0", "rank1"))
        broken.write()
        os.remove(broken.tensor_path("Functional.linear.0.forward.input.0"))
        self.the_finding(self.path("step0"), 1, "file_missing", "Functional.linear.0.forward.input.0")

    def test_a_json_that_breaks_off(self):
        path = self.dump().write()
        os.truncate(path, os.path.getsize(path) - 20)
        result = self.run_code(2, "inspect", path, "-q")
        self.assert_one_line(result.err, "dump.json", "broken off")

    def test_top_and_words(self):
        dump = Dump(self.path("rank0"))
        for i in range(9):
            dump.call("z%d" % i, "output", [0.0, 0.0], stats=(0.0, 0.0, 0.0, 0.0))
        path = dump.write()
        out = self.run_code(0, "inspect", path, "--top", "2", "-q").out
        self.assertIn("all zero (9)", out)
        self.assertIn("and 7 more", out)
        self.assert_one_line(self.run_code(2, "inspect").err, "takes one dump")
        self.assertIn("usage", self.run_code(0, "inspect", "--help").out)

    def test_threads_change_nothing(self):
        path = self.dump().write()
        texts = {self.run_code(0, "inspect", path, "--json", "-q", "-t", str(n)).out for n in (1, 2, 5)}
        self.assertEqual(len(texts), 1)


if __name__ == "__main__":
    main()
