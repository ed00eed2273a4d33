"""Threads and memory that cannot be had: fewer threads do the same work, what cannot do with fewer ends with 2, and
a call that needs more memory than the process may use is a row that says so."""
import json
import os
import resource
import unittest

import dumps
import harness


def stacks_too_large():
    """For the child: no thread can be started, because its stack would be larger than the address space."""
    resource.setrlimit(resource.RLIMIT_STACK, (1 << 56, resource.RLIM_INFINITY))


def statistics_of(shape):
    return {"type": "torch.Tensor", "dtype": "torch.float32", "shape": list(shape), "Max": 1.0, "Min": -1.0, "Mean": 0.0,
            "Norm": 1.0, "requires_grad": False}


def statistics_dump(path, shapes):
    data = {"Torch.add.%d.forward" % number: {"input_args": [statistics_of(shape)] * 2, "input_kwargs": {},
                                              "output": [statistics_of(shape)]}
            for number, shape in enumerate(shapes)}
    content = {"task": "statistics", "level": "L1", "framework": "pytorch", "dump_data_dir": None, "data": data}
    return harness.write_text(path, json.dumps(content))


class Memory(harness.Case):
    def check(self, out, **settings):
        path = statistics_dump(self.path("dump.json"), [(3, 4), (65536, 32768), (5,)])
        self.run_code(0, "precheck", path, "-o", out, "-t", "2", **settings)
        rows = harness.read_csv(harness.only_file(out, "csv", "accuracy_checking_result"))
        self.assertEqual([row["Forward Test Success"] for row in rows], ["pass", "SKIP", "pass"])
        self.assertIn("more memory than a call may take", rows[1]["Message"])

    def test_as_the_environment_says(self):
        self.check(self.path("out"), env={"TDC_MEMORY": "256M"})

    @unittest.skipIf(harness.SANITIZE, "the sanitizer itself reserves terabytes")
    def test_as_the_process_may_have(self):
        for kind in (resource.RLIMIT_AS, resource.RLIMIT_DATA):
            with self.subTest(limit=kind):
                self.check(self.path("out-%d" % kind),
                           before=lambda: resource.setrlimit(kind, (1 << 30, 1 << 30)))


class Threads(harness.Case):
    def dump(self, side):
        dump = dumps.Dump(self.path(side))
        for number in range(40):
            name = "Functional.f.%d.forward.input.0.npy" % number
            dump.file(name, dumps.npy_bytes("<f4", [50], dumps.pack("f32", [number + i / 64 for i in range(50)])))
            dump.entry("Functional.f.%d.forward" % number, input_args=[dumps.item("f32", [50], name)])
        return dump.write()

    def statistics(self, rows, columns):
        return statistics_dump(self.path("statistics.json"), [(rows, columns)] * 4)

    def compare(self, out, threads, **settings):
        if not os.path.isdir(self.path("npu")):
            self.sides = [self.dump("npu"), self.dump("bench")]
        result = self.run_code(0, "compare", *self.sides, "-o", out, "--format", "csv", "-t", threads, **settings)
        return result, harness.read_text(harness.only_file(out, "csv"))

    def precheck(self, path, out, threads, **settings):
        result = self.run_code(0, "precheck", path, "-o", out, "-t", threads, **settings)
        return result, harness.read_text(harness.only_file(out, "csv", "accuracy_checking_details"))

    def test_more_than_any_machine_has(self):
        few, table = self.compare(self.path("few"), "1")
        self.assertEqual(few.err, "")
        many, same = self.compare(self.path("many"), "70000")
        self.assertEqual(same, table)
        self.assert_one_line(many.err, "warning", "threads of the 70000 asked for")
        path = self.statistics(7, 9)
        few, table = self.precheck(path, self.path("few"), "1")
        self.assertEqual(few.err, "")
        many, same = self.precheck(path, self.path("many"), "70000")
        self.assertEqual(same, table)
        self.assert_one_line(many.err, "warning", "of the 70000 threads asked for")

    def test_more_than_files_can_be_opened_for(self):
        """A thread that gets no descriptor would make an error of a row."""
        few, table = self.compare(self.path("few"), "1")
        many, same = self.compare(self.path("many"), "64",
                                  before=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (48, 48)))
        self.assertEqual(same, table)
        self.assert_one_line(many.err, "warning", "of the 64 asked for")

    def test_more_than_a_bench_can_have(self):
        result = self.run_code(0, "bench", "make", self.path("made"), "-n", "2", "-e", "10", "--threads", "70000")
        self.assert_one_line(result.err, "warning", "threads of the 70000 asked for")

    @unittest.skipIf(harness.SANITIZE, "a sanitizer starts anew when the stack is so large")
    def test_none_can_be_started(self):
        alone, table = self.compare(self.path("alone"), "1")
        result, same = self.compare(self.path("none"), "4", before=stacks_too_large)
        self.assertEqual(same, table)
        self.assert_one_line(result.err, "warning", "1 thread of the 4 asked for")
        for shape in ((7, 9), (600, 600)):  # small calls by many threads, a large one by all
            path = self.statistics(*shape)
            alone, table = self.precheck(path, self.path("alone-%d" % shape[0]), "1")
            result, same = self.precheck(path, self.path("none-%d" % shape[0]), "4", before=stacks_too_large)
            self.assertEqual(same, table)
            self.assert_one_line(result.err, "warning", "1 of the 4 threads asked for")

    @unittest.skipIf(harness.SANITIZE, "a sanitizer ends in its own way")
    def test_openmp_cannot_start_one(self):
        """Its threads have stacks of their own size: others can be started, these cannot."""
        out = self.path("out")
        result = self.run_code(2, "precheck", self.statistics(600, 600), "-o", out, "-t", "4",
                               env={"OMP_STACKSIZE": "100000000G"})
        self.assertIn("ended by the OpenMP runtime", result.err)
        self.assertEqual(result.out, "")
        self.assertEqual([name for name in harness.files_below(out) if name.startswith(".")], [])


if __name__ == "__main__":
    harness.main()
