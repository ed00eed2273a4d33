"""Kernel dumps and folders of npy files in the friendly form: recognised, compared, and what is left out told."""
import os

import dumps
import harness

HEAD = ("Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape,Max Value,Min Value,Avg Value,"
        "L2Norm Value\n")


class Folders(harness.Case):
    def file(self, side, name, values, place=("rank_0", "net", "0", "3")):
        os.makedirs(self.path(side, *place), exist_ok=True)
        return harness.write_bytes(self.path(side, *place, name),
                                   dumps.npy_bytes("<f4", [len(values)], dumps.pack("f32", values)))

    def rows(self, code, *more, column="Accuracy Reached or Not"):
        rows, self.result = self.compare(code, self.path("npu"), self.path("bench"), *more)
        return {row["NPU Name"] if row["NPU Name"] != "N/A" else row["Bench Name"]: (row[column], row["Paired_by"])
                for row in rows}

    def test_kernels(self):
        """Equal names are numbered by time; what one side alone has is a row, a step of one side is told."""
        for side, times in (("npu", (20, 10)), ("bench", (7, 3))):
            for number, time in enumerate(times):
                self.file(side, "Add.op.1.2.%d.input.0.ND.npy" % time, [1.0, 2.0 + number])
        self.file("npu", "Add.op.1.2.30.output.0.ND.npy", [1.0])
        self.file("bench", "Add.op.1.2.8.output.0.ND.npy", [1.5])
        self.file("npu", "Mul.only.1.2.9.output.0.ND.npy", [1.0])
        self.file("npu", "Add.op.1.2.30.output.0.ND.npy", [1.0], ("rank_0", "net", "0", "9"))
        found = self.rows(1)
        self.assertEqual(found, {"op.1.input.0": ("identical", "same name, number 0 in time"),
                                 "op.1.input.0.1": ("identical", "same name, number 1 in time"),
                                 "op.1.output.0": ("different", "same name, number 0 in time"),
                                 "only.1.output.0": ("unmatched", "the other side has no such tensor")})
        self.assertIn("has no counterpart and is left out", self.result.err)
        self.assertIn("/9", self.result.err)

    def test_statistics(self):
        for side, most in (("npu", "3.0"), ("bench", "1.0")):
            folder = self.path(side, "rank_1", "net", "0", "2")
            os.makedirs(folder)
            harness.write_text(os.path.join(folder, "statistic.csv"), HEAD +
                               'Add,op,1,2,9,output,0,8,float32,"(2,)",%s,0.5,1.0,2.0\n'
                               'Add,same,1,2,9,output,0,8,float32,"(2,)",1.0,0.5,1.0,2.0\n' % most)
        self.assertEqual({name: row[0] for name, row in self.rows(1, column="Result").items()},
                         {"op.1.output.0": "different", "same.1.output.0": "identical"})

    def test_arrays(self):
        """Files NAME_DTYPE_INDEX.npy face each other by name and order, others by their names, folder by folder."""
        self.file("npu", "out_float32_0.npy", [1.0, 2.0], ("layer",))
        self.file("npu", "out_float32_1.npy", [3.0, 4.0], ("layer",))
        self.file("bench", "out_float16_4.npy", [1.0, 2.0], ("layer",))
        self.file("bench", "out_float16_5.npy", [3.0, 5.0], ("layer",))
        self.file("npu", "plain.npy", [1.0], ())
        self.file("bench", "plain.npy", [1.0], ())
        self.file("bench", "more.npy", [1.0], ())
        found = self.rows(1)
        self.assertEqual({name: row[0] for name, row in found.items()},
                         {"layer/out": "identical", "layer/out.1": "different", "plain": "identical",
                          "more": "unmatched"})

    def test_bad_files(self):
        """A file that cannot be read is a row; folders without anything stay the error they were."""
        self.file("npu", "Add.op.1.2.20.input.0.ND.npy", [1.0])
        self.file("bench", "Add.op.1.2.20.input.0.ND.npy", [1.0])
        bad = self.file("npu", "Add.bad.1.2.20.input.0.ND.npy", [1.0])
        self.file("bench", "Add.bad.1.2.20.input.0.ND.npy", [1.0])
        harness.write_bytes(bad, b"\x93NUMPY")
        found = self.rows(2)
        self.assertEqual({name: row[0] for name, row in found.items()}, {"op.1.input.0": "identical",
                                                                          "bad.1.input.0": "error"})
        os.makedirs(self.path("empty"))
        result = self.run_code(2, "compare", self.path("empty"), self.path("bench"), "-o", self.path("out2"))
        self.assertIn("dump.json", result.err)


if __name__ == "__main__":
    harness.main()
