"""Execution rounds of ATB: the words and table of msprobe 26, and the friendly form."""
import os

import dumps
import harness
import xlsx

HEAD = ("Device and PID,Execution Count,Op Name,Op Type,Op Id,Input/Output,Index,Dtype,Format,Shape,Max,Min,Mean,Norm,"
        "Tensor Path\n")
NUMBERS = {"f32": 0, "f16": 1, "i8": 2, "i32": 3, "i64": 9, "bool": 12, "bf16": 27}
WORDS = {"f32": "float", "f16": "float16", "i8": "int8", "i32": "int32", "i64": "int64", "bool": "bool", "bf16": "bf16"}


class Round:
    """An execution round that is being written."""

    def __init__(self, folder, device):
        self.folder, self.device, self.lines = os.path.join(folder, "atb_dump_data", "data", device, "0"), device, []

    def tensor(self, name, ids, slot, dtype, shape, values, head=None):
        place = "/".join(f"{i}_{part}" for i, part in zip(ids.split("_"), name.split("/")))
        lines = head if head is not None else f"format=2\ndtype={NUMBERS[dtype]}\ndims={','.join(map(str, shape))}\n"
        data = f"$Version=1.0\n{lines}$Object.data=0,1\n$End=1\n".encode() + dumps.pack(dtype, values)
        os.makedirs(os.path.join(self.folder, place), exist_ok=True)
        harness.write_bytes(os.path.join(self.folder, place, slot + ".bin"), data)
        path = f"/elsewhere/atb_dump_data/data/{self.device}/0/{place}/{slot}.bin"
        self.line(name, ids, slot, dtype, shape, ["N/A"] * 4, path)

    def line(self, name, ids, slot, dtype, shape, stats, path="N/A"):
        direction, index = slot.split(".")
        sizes = ",".join(map(str, shape))
        self.lines.append(f'{self.device},0,{name},Linear,{ids},{direction},{index},{WORDS[dtype]},nd,"{sizes}",'
                          f'{",".join(map(str, stats))},{path}\n')

    def write(self):
        os.makedirs(self.folder, exist_ok=True)
        harness.write_text(os.path.join(self.folder, "statistic.csv"), HEAD + "".join(self.lines))
        return self.folder


class Atb(harness.Case):

    def setUp(self):
        super().setUp()
        self.target, self.golden = Round(self.path("target"), "0_11"), Round(self.path("golden"), "1_22")

    def both(self, *tensor):
        self.target.tensor(*tensor)
        self.golden.tensor(*tensor)

    def table(self, code=0):
        """The table of msprobe's words: a dict a row."""
        result = self.run_code(code, "compare", "-m", "atb", "-tp", self.target.write(), "-gp", self.golden.write(), "-o",
                               self.path("out"))
        if code != 0:
            self.assertFalse(os.path.exists(self.path("out")) and os.listdir(self.path("out")))
            return result.out + result.err
        kind = "tensor" if "N/A,N/A" in self.target.lines[0] else "stats"
        path = harness.only_file(self.path("out"), "xlsx", f"atb_{kind}_compare_result_")
        sheet = xlsx.Workbook(path).sheets[0]
        self.assertEqual({kind for row in sheet.types for kind in row}, {"s"})
        head, *rows = sheet.texts
        return [dict(zip(head, row)) for row in rows]

    def test_tensors(self):
        self.both("Word", "0", "input.0", "f16", [2, 2], [1.0, 2.0, 3.0, 4.0])
        self.target.tensor("Layer/Mlp", "1_0", "output.0", "f32", [4], [1.0, 2.0, 3.0, 8.0])
        self.golden.tensor("Layer/Mlp", "1_0", "output.0", "f32", [4], [1.0, 2.0, 3.0, 4.0])
        self.both("Layer", "1", "output.0", "bool", [3], [1, 0, 1])
        self.both("Head", "2", "input.0", "i64", [2], [-7, 9])
        self.golden.tensor("Only", "3", "input.0", "f32", [1], [1.0])
        rows = self.table()
        self.assertEqual([row["Target Data Name"] for row in rows],
                         ["0_Word/input.0", "1_Layer/0_Mlp/output.0", "1_Layer/output.0", "2_Head/input.0"])
        self.assertEqual((rows[0]["Cosine"], rows[0]["Target Norm"], rows[0]["Golden Device and PID"]),
                         ("1.0", "5.4765625", "1_22"))
        self.assertEqual((rows[1]["Max Absolute Err"], rows[1]["Max Relative Err"], rows[1]["One Thousandth Err Ratio"],
                          rows[1]["Target Max"], rows[1]["Golden Mean"]), ("4.0", "1.0", "0.75", "8.0", "2.5"))
        self.assertEqual([rows[2]["Target " + stat] for stat in ("Max", "Min", "Mean", "Norm")],
                         ["tensor(True)", "tensor(False)", "N/A", "N/A"])
        self.assertEqual(rows[3]["Target Min"], "-7.0")

    def test_what_cannot_be_compared(self):
        inf = float("inf")
        self.target.tensor("A", "0", "input.0", "f32", [3], [1.0, 2.0, 3.0])
        self.golden.tensor("A", "0", "input.0", "f32", [4], [1.0, 2.0, 3.0, 4.0])
        self.target.tensor("B", "1", "input.0", "f32", [2], [float("nan"), 2.0])
        self.golden.tensor("B", "1", "input.0", "f32", [2], [1.0, 2.0])
        self.both("C", "2", "input.0", "bf16", [2], [-inf, 2.0])
        self.target.tensor("D", "3", "input.0", "f32", [2], [1.0, 2.0], "dtype=77\ndims=2\n")
        self.golden.tensor("D", "3", "input.0", "f32", [2], [1.0, 2.0])
        rows = self.table()
        self.assertEqual([row["Cosine"] for row in rows], ["N/A", "N/A", "1.0", "N/A"])
        self.assertEqual([row["Target Max"] for row in rows], ["3.0", "N/A", "2.0", "N/A"])
        self.assertEqual((rows[0]["Golden Max"], rows[2]["Target Min"], rows[2]["Golden Norm"], rows[3]["Golden Norm"]),
                         ("4.0", "-inf", "inf", "2.2360680103302"))

    def test_statistics(self):
        self.target.line("A", "0", "input.0", "f32", [2], [3.0, 0.5, "nothing", 1])
        self.golden.line("A", "0", "input.0", "f32", [2], [2.0, 0, 1.0, 1])
        row = self.table()[0]
        self.assertEqual([row[stat + " Diff"] for stat in ("Max", "Min", "Mean", "Norm")], ["1.0", "0.5", "N/A", "0.0"])
        self.assertEqual([row[f"Relative Err of {stat}(%)"] for stat in ("Max", "Min", "Mean", "Norm")],
                         ["50.0", "N/A", "N/A", "0.0"])

    def test_sides_that_do_not_fit(self):
        self.target.line("A", "0", "input.0", "f32", [2], [1, 1, 1, 1])
        self.golden.tensor("A", "0", "input.0", "f32", [2], [1.0, 2.0])
        self.assertIn("Unvalid ATB dump data", self.table(1))
        self.golden.lines.clear()
        self.assertIn("lists no tensor", self.table(1))
        self.golden.line("B", "0", "input.0", "f32", [2], [1, 1, 1, 1])
        self.assertIn("no data name is on both sides", self.table(1))

    def test_friendly(self):
        self.both("Layer/Linear", "0_0", "input.0", "f32", [4], [1.0, 2.0, 3.0, 4.0])
        self.target.tensor("Layer/Linear", "0_0", "output.0", "f32", [4], [1.0, 2.0, 3.0, 8.0])
        self.golden.tensor("Layer/Linear", "0_0", "output.0", "f32", [4], [1.0, 2.0, 3.0, 4.0])
        self.both("Layer", "0", "input.0", "f32", [4], [1.0, 2.0, 3.0, 4.0])
        self.target.lines += ["a,line,of,another,width\n", self.target.lines[0]]
        rows, result = self.compare(1, self.target.write(), self.golden.write())
        self.assertEqual([row["NPU Name"] for row in rows], ["Module.0_Layer.0_Linear.Linear.forward.0.input.0",
                                                             "Module.0_Layer.0_Linear.Linear.forward.0.output.0",
                                                             "Module.0_Layer.Linear.forward.0.input.0"])
        self.assertIn("1 lines name no tensor", result.err)
        self.assertIn("1 names are given twice", result.err)
        worst = harness.by_name(rows)["Module.0_Layer.0_Linear.Linear.forward.0.output.0"]
        self.assertEqual(worst["MaxAbsErr"], "4")
        self.compare(0, self.golden.write(), self.golden.write())

    def test_no_way_out_of_the_folder(self):
        self.both("A", "0", "input.0", "f32", [2], [1.0, 2.0])
        harness.write_bytes(self.path("secret.bin"), b"$End=1\n" + dumps.pack("f32", [1.0]))
        self.target.lines = [line.replace("0_A/input.0.bin", "../../../../../secret.bin") for line in self.target.lines]
        self.assertEqual(self.table()[0]["Cosine"], "N/A")
        rows, _ = self.compare(2, self.target.write(), self.golden.write())
        self.assertIn("must not leave its folder", rows[0]["Err_message"])


if __name__ == "__main__":
    harness.main()
