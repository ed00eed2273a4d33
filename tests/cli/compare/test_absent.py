"""Runs that compare nothing are never a success: data that is missing on one side or on both."""
import os
import shutil

import dumps
import harness

GOOD = [0.5 + i for i in range(15)]


def empty_file():
    return dumps.pt_bytes("f32", [0], b"")


class Tensors(harness.Case):
    def sides(self, change, others=0):
        """Two equal dumps of one tensor (and others), the NPU's and the bench's changed by change(side, dump, row)."""
        for side in ("npu", "bench"):
            dump = dumps.Dump(self.path(side))
            row = dump.call("f", "input", GOOD)
            for number in range(others):
                dump.call("g%d" % number, "input", GOOD)
            change(side, dump, row)
            dump.write()
        return self.path("npu"), self.path("bench")

    def check(self, code, change, text=None, others=0, *options):
        rows, result = self.compare(code, *self.sides(change, others), *options)
        if text is not None:
            self.assertIn(text, rows[0]["Err_message"])
        return result

    def test_files_without_elements(self):
        def npu_empty(side, dump, row):
            if side == "npu":
                dump.file(row + ".pt", empty_file())

        def bench_empty(side, dump, row):
            if side == "bench":
                dump.file(row + ".pt", empty_file())

        def both_empty(side, dump, row):
            dump.file(row + ".pt", empty_file())

        for others in (0, 1):
            self.check(2, npu_empty, "The test file has no elements, the ref file 15.", others)
            self.check(1, bench_empty, None, others)
            self.check(2, both_empty, "The files have no elements, the dump says [15].", others)
        self.check(2, bench_empty, None, 0, "--allow-unmatched")

    def test_empty_tensors(self):
        """Truly empty ones are fine beside others; alone they are nothing that was compared."""
        def empty(side, dump, row):
            dump.file(row + ".pt", empty_file())
            dump.data["Functional.f.0.forward"]["input_args"][0]["shape"] = [0]
        self.check(0, empty, "This is empty data, can not compare.", 1)
        self.assertIn("nothing was compared", self.check(2, empty).err)

    def test_no_data_kept(self):
        def forget(sides):
            def change(side, dump, row):
                if side in sides:
                    del dump.data["Functional.f.0.forward"]["input_args"][0]["data_name"]
            return change
        self.check(2, forget(["npu"]), "The test side has no data file.", 1)
        self.check(2, forget(["bench"]), "The ref side has no data file.", 1)
        self.check(0, forget(["npu", "bench"]), "The ref side has no data file.", 1)
        result = self.check(2, forget(["npu", "bench"]), "The test side has no data file.")
        self.assertIn("%s against %s: nothing was compared" % (self.path("npu", "dump.json"),
                                                              self.path("bench", "dump.json")), result.err)

    def test_arguments_alone(self):
        """Equal arguments do not make up for tensors without data."""
        def forget(side, dump, row):
            members = dump.data["Functional.f.0.forward"]["input_args"]
            del members[0]["data_name"]
            members.append({"type": "int", "value": 3})
        self.check(2, forget)

        def replace(side, dump, row):
            dump.data["Functional.f.0.forward"]["input_args"] = [{"type": "int", "value": 3}]
        self.check(0, replace)

    def test_nothing_has_a_partner(self):
        def rename(side, dump, row):
            dump.data = {"Functional.%s.0.forward" % side: dump.data["Functional.f.0.forward"]}
            dump.data["Functional.%s.0.forward" % side]["input_args"][0].pop("data_name")
        paths = self.sides(rename)
        self.compare(1, *paths)
        _, result = self.compare(2, *paths, "--allow-unmatched")
        self.assertIn("nothing was compared", result.err)

    def test_one_rank_without_data(self):
        for side in ("npu", "bench"):
            for rank in (0, 1):
                dump = dumps.Dump(self.path(side, "rank%d" % rank))
                dump.call("f", "input", GOOD)
                if rank == 1:
                    del dump.data["Functional.f.0.forward"]["input_args"][0]["data_name"]
                dump.write()
        result = self.run_code(2, "compare", self.path("npu"), self.path("bench"), "-o", self.path("out"))
        self.assertIn("rank1", result.err)
        self.assertNotIn("rank0", result.err)


class Statistics(harness.Case):
    def check(self, code, npu, bench, text=None, more=None, task="statistics"):
        """Statistics (or items) of one tensor; more: those of another one, the same on both sides."""
        paths = []
        for side, stats in (("npu", npu), ("bench", bench)):
            dump = dumps.Dump(self.path(side), task)
            for name, found in (("f", stats), ("g", more)):
                if found is not None:
                    one = found if isinstance(found, dict) else dumps.item("f32", [2, 3], stats=found)
                    dump.entry("Functional.%s.0.forward" % name, input_args=[one])
            paths.append(dump.write())
        rows, result = self.compare(code, *paths)
        if text is not None:
            self.assertIn(text, rows[0]["Err_message"])
        return result

    def test_one_side_only(self):
        number = (5.0, -1.0, 0.0, 2.0)
        for other in (None, "text", True, [1], {}):
            with self.subTest(other=other):
                for more in (None, number):
                    self.check(1, (other,) + number[1:], number, "Statistics on one side only.", more)
                    self.check(1, number, (other,) + number[1:], "Statistics on one side only.", more)
        self.check(1, (None,) * 4, number)
        # float64 has no mean and norm in some dumps: both are left out, the others are judged
        self.check(0, number[:2] + (None, None), number)
        self.check(1, (6.0, -1.0, None, None), number)
        self.check(1, number[:3] + (None,), number, "Statistics on one side only.")
        self.check(0, number, number)

    def test_neither_side(self):
        none = (None,) * 4
        self.check(0, none, none, "No statistics on either side.", (1.0, 1.0, 1.0, 1.0))
        self.assertIn("nothing was compared", self.check(2, none, none, "No statistics on either side.").err)

    def test_booleans(self):
        self.check(0, (True, False, None, None), (True, False, None, None))

    def test_digests(self):
        def tensor(**more):
            return dict({"type": "torch.Tensor", "dtype": "torch.float32", "shape": [2], "requires_grad": False}, **more)
        self.check(0, tensor(md5="01234567"), tensor(md5="01234567"))
        self.check(1, tensor(), tensor(md5="01234567"), more=tensor(md5="01234567"))
        self.check(0, tensor(), tensor(), "No md5 on either side.", tensor(md5="01234567"))


class Precheck(harness.Case):
    def test_all_files_missing(self):
        dump = dumps.Dump(self.path("npu"))
        dump.call("relu", "input", GOOD)
        dump.call("relu", "output", GOOD)
        dump.data["Functional.relu.0.forward"]["input_kwargs"] = {}
        dump.write()
        self.run_code(0, "precheck", self.path("npu"), "-o", self.path("out"))
        shutil.rmtree(self.path("npu", "dump_tensor_data"))
        os.mkdir(self.path("npu", "dump_tensor_data"))
        result = self.run_code(2, "precheck", self.path("npu"), "-o", self.path("again"))
        self.assertIn("nothing could be checked", result.err)


if __name__ == "__main__":
    harness.main()
