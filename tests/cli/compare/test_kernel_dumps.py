"""Kernel dumps of MindSpore and flat npy folders in msprobe's words."""
import json
import os

import dumps
import harness
import xlsx

HEAD = ("Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape,Max Value,Min Value,Avg Value,"
        "L2Norm Value\n")


class Kernels(harness.Case):

    def file(self, side, name, values, descr="<f4", dtype="f32", place=("rank_0", "net", "0", "3")):
        os.makedirs(self.path(side, *place), exist_ok=True)
        return harness.write_bytes(self.path(side, *place, name),
                                   dumps.npy_bytes(descr, [len(values)], dumps.pack(dtype, values)))

    def compare(self, code=0, **more):
        config = harness.write_text(self.path("compare.json"), json.dumps(
            {"npu_path": self.path("npu"), "bench_path": self.path("bench"), **more}))
        return self.run_code(code, "-f", "mindspore", "compare", "-i", config, "-o", self.path("out"))

    def rows(self, start):
        texts = xlsx.Workbook(harness.only_file(self.path("out"), "xlsx", start)).sheets[0].texts
        return [dict(zip(texts[0], row)) for row in texts[1:]]

    def test_files(self):
        for side, last, times in (("npu", 4.0, (20, 10)), ("bench", 5.0, (7, 3))):
            for number, time in enumerate(times):
                self.file(side, f"Add.op.1.2.{time}.input.0.ND.npy", [1.0, 2.0, 3.0, last + number])
        self.file("npu", "Add.only.1.2.9.output.0.ND.npy", [1.0])
        self.file("npu", "no kernel.npy", [1.0])
        self.file("npu", "Add.types.1.2.9.output.0.ND.npy", [1.0, 2.0])
        self.file("bench", "Add.types.1.2.9.output.0.ND.npy", [1, 2], "<i4", "i32")
        self.compare(rank_id=[0], step_id=[])
        rows = self.rows("compare_result_0_3_")
        self.assertEqual([os.path.basename(row["NPU Name"]) for row in rows],
                         ["Add.only.1.2.9.output.0.ND.npy", "Add.op.1.2.10.input.0.ND.npy",
                          "Add.op.1.2.20.input.0.ND.npy", "Add.types.1.2.9.output.0.ND.npy"])
        self.assertEqual([os.path.basename(row["Bench Name"]) for row in rows[1:3]],
                         ["Add.op.1.2.3.input.0.ND.npy", "Add.op.1.2.7.input.0.ND.npy"])
        self.assertEqual(rows[1]["MaxAbsErr"], "1")
        self.assertEqual((rows[1]["NPU max"], rows[1]["NPU mean"], rows[1]["NPU Tensor Shape"]), ("5", "2.75", "(4,)"))
        self.assertEqual(rows[1]["Accuracy Reached or Not"], "Yes")
        self.assertEqual((rows[0]["Err_message"], rows[0]["Cosine"]), ("Dump file is not ndarray.\n", ""))
        self.assertEqual(rows[3]["Err_message"], "Dtype of NPU and bench Tensor do not match. Skipped.\n")

    def test_statistics(self):
        for side, most in (("npu", "3.0"), ("bench", "1.0")):
            folder = self.path(side, "rank_1", "net", "0", "2")
            os.makedirs(folder)
            harness.write_text(os.path.join(folder, "statistic.csv"), HEAD +
                               f'Add,op,1,2,9,output,0,8,float32,"(2,)",{most},0.5,null,2.0\nshort,line\n')
        self.compare(rank_id=[])
        row, = self.rows("compare_result_1_2_")
        self.assertEqual([row[name] for name in ("NPU Name", "NPU max", "Max diff", "MaxRelativeErr", "MeanRelativeErr",
                                                 "Accuracy Reached or Not")],
                         ["op.1.output.0", "3", "2", "200.0%", "N/A", "No"])

    def test_words_of_26(self):
        for side in ("npu", "bench"):
            self.file(side, "Add.op.1.2.20.input.0.ND.npy", [1.0, 2.0])
        words = ["compare", "-tp", self.path("npu"), "-gp", self.path("bench"), "-o", self.path("out"), "--rank"]
        self.run_code(0, *words, "0,1", "--step", "3")
        row, = harness.read_csv(harness.only_file(self.path("out"), "csv", "compare_result_0_3_"))
        self.assertEqual((row["NPU Tensor Shape"], row["Accuracy Reached or Not"]), ("[2]", "Yes"))
        self.run_code(1, *words, "5")
        self.run_code(1, *words, "x")

    def test_common(self):
        for side in ("npu", "bench"):
            self.file(side, "a_b_float32_0.npy", [1.0, 2.0], place=())
            self.file(side, "w_float32_0.npy" if side == "npu" else "v_float32_0.npy", [1.0, 2.0, 3.0], place=("sub",))
        self.compare(common=True, map_dict={"w": "v"})
        top = harness.read_csv(self.path("out", "result.csv"))
        self.assertEqual([row["Name"] for row in top], ["a_b_0", "w_0"])
        below, = harness.read_csv(self.path("out", "sub", "result.csv"))
        self.assertEqual((below["Name"], below["NPU Tensor Shape"], below["Cosine"], below["Accuracy Reached or Not"]),
                         ("w_0", "(3,)", "1.0", "Yes"))

    def test_bad(self):
        """A broken file is a row; nothing in common, or no list, is a failure."""
        harness.write_bytes(self.file("npu", "Add.op.1.2.1.input.0.ND.npy", [1.0]), b"broken")
        self.file("bench", "Add.op.1.2.1.input.0.ND.npy", [1.0])
        self.compare(rank_id=[0])
        self.assertEqual(self.rows("compare_result_0_3_")[0]["Err_message"], "Dump file is not ndarray.\n")
        self.assertIn("should both be lists", self.compare(1, rank_id=0).out)
        self.assertIn("in common", self.compare(1, rank_id=[7]).out)


if __name__ == "__main__":
    harness.main()
