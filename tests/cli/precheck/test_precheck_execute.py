"""Prechecks that run the calls themselves, and the flags of msprobe's two run_ut commands."""
import json
import os
import re
import struct
import tempfile
import unittest
import zipfile

import harness
from harness import Case


def drawn(dtype="Float32", shape=(4,), low=0.0, high=1.0, **more):
    """A tensor element of a MindSpore dump with statistics alone."""
    return dict({"type": "mindspore.Tensor", "dtype": dtype, "shape": list(shape), "Max": high, "Min": low,
                 "Mean": 0.5, "Norm": 1.0}, **more)


def torch(dtype="float32", shape=(4,), low=0.0, high=1.0, grad=False):
    return {"type": "torch.Tensor", "dtype": "torch." + dtype, "shape": list(shape), "Max": high, "Min": low,
            "Mean": 0.5, "Norm": 1.0, "requires_grad": grad}


def forward(*arguments, **keywords):
    return {"input_args": list(arguments), "input_kwargs": keywords, "output": []}


def npy(values, shape):
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': %s, }" % (shape,)
    header += " " * (117 - len(header)) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(
        "<%df" % len(values), *values)


def floats(data, code="f"):
    """The elements of a .npy file."""
    start = 10 + struct.unpack("<H", data[8:10])[0]
    return list(struct.unpack("<%d%s" % ((len(data) - start) // struct.calcsize(code), code), data[start:]))


class ExecuteCase(Case):
    def dump(self, data, framework="mindspore", task="statistics", files=()):
        folder = tempfile.mkdtemp(prefix="dump-", dir=self.folder)
        harness.write_text(os.path.join(folder, "dump.json"), json.dumps(
            {"task": task, "level": "L1", "framework": framework, "dump_data_dir": folder, "data": data}))
        for name, content in files:
            harness.write_bytes(os.path.join(folder, name), content)
        return os.path.join(folder, "dump.json")

    def run_ut(self, dump, *options, code=0, command="run_ut", framework="mindspore"):
        out = tempfile.mkdtemp(prefix="out-", dir=self.folder)
        result = self.run_code(code, "-f", framework, command, "-api_info", dump, "-o", out, *options)
        return out, result

    def csv(self, out, which="result"):
        path = harness.only_file(out, "csv", "accuracy_checking_" + which)
        return harness.read_text(path).lstrip("\ufeff").split("\r\n")[1:-1]


class Execute(ExecuteCase):
    def test_each_dtype_in_its_own_arithmetic(self):
        # 1 - tanh(x)^2 near 1: float16 loses most of it, float32 some, float64 is the reference; all of it is what
        # rounding explains, and beyond a threshold
        data = {}
        for i, dtype in enumerate(("Float64", "Float32", "Float16", "BFloat16")):
            data["Mint.tanh.%d.forward" % i] = forward(drawn(dtype, [64], 2.0, 4.0))
            data["Mint.tanh.%d.backward" % i] = {"input": [drawn(dtype, [64], 1.0, 2.0)], "output": []}
        out = tempfile.mkdtemp(dir=self.folder)
        dump = self.dump(data)
        self.run_code(1, "precheck", dump, "-o", self.folder, "--max-abs-err", "0.0001")
        self.run_code(0, "precheck", dump, "-o", out)
        details = harness.read_json(harness.only_file(out, "json", "accuracy_checking_details"))
        rows = {(r["call"], r["direction"]): r for r in details["rows"]}
        for row in rows.values():
            self.assertLessEqual(row["error"], row["bound"], row)
        ulps = [rows[("Mint.tanh.%d" % i, "backward")]["max_ulp"] for i in range(4)]
        self.assertEqual(ulps[0], 0)
        for i in range(1, 4):
            self.assertGreater(ulps[i], 20, i)
            self.assertLess(rows[("Mint.tanh.%d" % i, "forward")]["max_ulp"], 1.0, "one rounding")

    def test_sums_accumulate_in_float32(self):
        # 4000 ones in float16: an accumulator of that dtype would stop at 2048
        out, _ = self.run_ut(self.dump({"Mint.sum.0.forward": forward(drawn("Float16", [4000], 1.0, 1.0))}))
        self.assertEqual(self.csv(out), ["Mint.sum.0,pass,,"])

    def tensor_dump(self):
        tensor = drawn("Float32", [2, 2], data_name="in.npy")
        record = forward(tensor)
        record["output"] = [dict(tensor, data_name="out.npy")]
        return self.dump({"Mint.exp.0.forward": record}, task="tensor",
                         files=[("in.npy", npy([0, 1, 2, 3], (2, 2))), ("out.npy", npy([9, 9, 9, 9], (2, 2)))])

    def verdict_of(self, api, inputs, outputs):
        tensor = drawn("Float32", [len(inputs)], data_name="in.npy")
        record = forward(tensor)
        record["output"] = [dict(tensor, data_name="out.npy")]
        dump = self.dump({"Mint.%s.0.forward" % api: record}, task="tensor",
                         files=[("in.npy", npy(inputs, (len(inputs),))), ("out.npy", npy(outputs, (len(inputs),)))])
        out, _ = self.run_ut(dump, "--profile", "extended")
        return self.csv(out)[0].split(",")[1]

    def test_bound_of_elements(self):
        """A scale error of 2e-6 hides at no magnitude; an exact operation has no tolerance at all."""
        for unit in (1e-20, 1.0, 1e20):
            inputs = [unit * (1 + i / 8) for i in range(8)]
            roots = [x ** 0.5 for x in inputs]
            self.assertEqual(self.verdict_of("sqrt", inputs, roots), "pass", unit)
            self.assertEqual(self.verdict_of("sqrt", inputs, [y * (1 + 2e-6) for y in roots]), "error", unit)
            self.assertEqual(self.verdict_of("relu", inputs, inputs), "pass", unit)
            self.assertEqual(self.verdict_of("relu", inputs, [x * (1 + 1.3e-7) for x in inputs]), "error", unit)
        self.assertEqual(self.verdict_of("log", [0, 1], [float("-inf"), 0]), "pass")

    def test_mode(self):
        dump = self.tensor_dump()
        for words, status in (([], "error"), (["--mode", "auto"], "error"), (["--mode", "recorded"], "error"),
                              (["--mode", "execute"], "pass")):
            out, _ = self.run_ut(dump, *words)
            self.assertEqual(self.csv(out)[0].split(",")[1], status, words)
        self.run_code(0, "precheck", dump, "--mode", "execute", "-o", self.folder)
        self.run_code(2, "precheck", dump, "--mode", "sometimes", "-o", self.folder)
        self.run_ut(dump, "--mode", "sometimes", code=2)

    def test_recorded_outputs_are_not_in_statistics(self):
        dump = self.dump({"Mint.exp.0.forward": forward(drawn())})
        result = self.run_code(2, "precheck", dump, "--mode", "recorded", "-o", self.folder)
        self.assert_one_line(result.err, "no recorded outputs")
        _, result = self.run_ut(dump, "--mode", "recorded", code=1)
        self.assertIn("no recorded outputs", result.out)

    def test_error_data_of_executed_calls_alone(self):
        dump = self.tensor_dump()
        out, _ = self.run_ut(dump, "-save_error_data")
        self.assertFalse(os.path.exists(os.path.join(out, "error_data")))
        out, _ = self.run_ut(dump, "-save_error_data", "--mode", "execute", "--max-abs-err", "-1")
        names = ["Mint.exp.0.forward.%s.npy" % n for n in ("input.0", "output.0", "output.bench.0")]
        self.assertEqual(harness.files_below(os.path.join(out, "error_data")), names)
        got = floats(harness.read_bytes(os.path.join(out, "error_data", names[0])))
        self.assertEqual(got, [0, 1, 2, 3])

    def test_error_data_of_failing_directions_alone(self):
        record = {"Mint.mul.0.forward": forward(drawn("Float32", [3]), drawn("Float32", [3], 1, 2)),
                  "Mint.mul.0.backward": {"input": [drawn("Float32", [3], 1e9, 2e9)], "output": []},
                  "Mint.mul.1.forward": forward(drawn("Float32", [3]), other=drawn("Float32", [3], 1, 2))}
        out, _ = self.run_ut(self.dump(record), "-save_error_data")
        names = harness.files_below(os.path.join(out, "error_data"))
        self.assertEqual(names, ["Mint.mul.0.backward.input.0.npy"] + [
            "Mint.mul.0.backward.output.%s.npy" % n for n in ("0", "1", "bench.0", "bench.1")])
        out, _ = self.run_ut(self.dump(record), "-save_error_data", "--max-abs-err", "-1")
        self.assertIn("Mint.mul.1.forward.kwargs.other.npy", harness.files_below(os.path.join(out, "error_data")))

    def test_explain(self):
        dump = self.dump({"Mint.tanh.0.forward": forward(drawn("Float16", [64], -4.0, 4.0))})
        text = self.run_code(0, "precheck", dump, "--explain", "Mint.tanh.0").out
        self.assertIn("executed by native", text)
        for wrong in ("mint.tanh", "Mint.tanh.7", "MINT.TANH.0"):
            result = self.run_code(2, "precheck", dump, "--explain", wrong)
            self.assert_one_line(result.err, wrong + ": no such call", "there are Mint.tanh.0")
        self.assertNotIn("there are", self.run_code(2, "precheck", dump, "--explain", "Mint.tan.0").err)


class PytorchDraws(ExecuteCase):
    def inputs(self, *tensors):
        data = {"Torch.square.%d.forward" % i: forward(t) for i, t in enumerate(tensors)}
        out = tempfile.mkdtemp(dir=self.folder)
        self.run_code(1, "precheck", self.dump(data, "pytorch"), "-o", out, "--save-error-data", "--max-abs-err", "-1")
        folder = os.path.join(out, "error_data")
        return [harness.read_bytes(os.path.join(folder, "Torch.square.%d.forward.input.0.npy" % i))
                for i in range(len(tensors))]

    def test_as_torch_after_manual_seed_1234(self):
        single, double, half, whole, low = self.inputs(
            torch("float32", [4], -1.7, 1.6), torch("float64", [3], -2.0, 5.0), torch("float16", [4], -1.7, 1.6),
            torch("int64", [6], -3, 9), torch("float32", [3], float("-inf"), 2.0))
        self.assertEqual(floats(single)[1:3], [-0.37373483180999756, -0.8425142765045166])
        self.assertEqual(floats(single)[0::3], floats(npy([-1.7, 1.6], (2,))))
        self.assertEqual(floats(double, "d"), [-2.0, -1.4487229705481055, 5.0])
        self.assertEqual(floats(half, "e")[1:3], [-0.3740234375, -0.8427734375])
        self.assertEqual(floats(whole, "q"), [-3, -3, 3, 9, 9, 9])
        self.assertEqual(floats(low)[0::2], [float("-inf"), 2.0])

    def test_class_numbers_start_at_zero(self):
        data = {"Functional.cross_entropy.0.forward": forward(torch("float32", [50, 10]), torch("int64", [50], -100, 9))}
        out, _ = self.run_ut(self.dump(data, "pytorch"), framework="pytorch")
        self.assertEqual(self.csv(out), ["Functional.cross_entropy.0,pass,,"])

    def test_empty_and_impossible_tensors(self):
        data = {"Torch.square.0.forward": forward(torch("float32", [0, 3], None, None)),
                "Torch.square.1.forward": forward(torch("float32", [3], None, None)),
                "Torch.square.2.forward": forward(torch("int64", [3], 5, 1)),
                "Torch.square.3.forward": forward(torch("int64", [3], 0, float("inf"))),
                "Torch.square.4.forward": forward(torch("float32", [], 1.0, float("inf")))}
        out = tempfile.mkdtemp(dir=self.folder)
        self.run_code(0, "precheck", self.dump(data, "pytorch"), "-o", out)
        self.assertEqual([r.split(",")[1] for r in self.csv(out)], ["pass", "SKIP", "SKIP", "SKIP", "SKIP"])


class PytorchFlags(ExecuteCase):
    def setUp(self):
        super().setUp()
        self.path_of_dump = self.dump({
            "Torch.add.0.forward": forward(torch(high=2.0), torch()),
            "Torch.add.1.forward": forward(torch(high=3.0), torch()),
            "Torch.add.2.forward": forward(torch(shape=[5]), torch(shape=[5])),
            "Torch.add.3.forward": forward(torch(high=4.0), torch(), alpha={"type": "int", "value": 2}),
            "Tensor.add.0.forward": forward(torch(), torch()),
            "Torch.exp.0.forward": forward(torch(grad=True)),
            "Torch.exp.0.backward": {"input": [torch()], "output": []}}, "pytorch")

    def run_pt(self, *options, code=0, command="run_ut"):
        return self.run_ut(self.path_of_dump, *options, code=code, command=command, framework="pytorch")

    def names(self, out):
        return [row.split(",")[0] for row in self.csv(out)]

    def config(self, **section):
        return harness.write_text(os.path.join(self.folder, "config.json"), json.dumps(
            {"task": "run_ut", "run_ut": section}))

    def test_every_flag_is_taken(self):
        out, result = self.run_pt("-j", "-d", "3", "-save_error_data", "--jit_compile", "--device", "1", "2")
        self.assertEqual(len(self.names(out)), 6)
        for text in ("start UT test", "UT task result will be saved in ", "UT task details will be saved in ",
                     "UT task result csv is saved in ", "Successfully completed run_ut/multi_run_ut.",
                     "UT task completed."):
            self.assertIn("[INFO] " + text, result.out)

    def test_filter(self):
        for word in ("-f", "--filter_api"):
            out, result = self.run_pt(word)
            self.assertEqual(self.names(out), ["Torch.add.0", "Torch.add.2", "Torch.add.3", "Tensor.add.0", "Torch.exp.0"])
            self.assertIn("Finish filtering the api in the api_info_file.", result.out)

    def test_lists_of_names(self):
        text = "API %s in black list or not in white list. SKIP."
        out, _ = self.run_pt("-config", self.config(white_list=["exp"]))
        self.assertEqual(self.csv(out)[0], "Torch.add.0,SKIP,," + text % "add")
        self.assertEqual(self.csv(out)[5], "Torch.exp.0,pass,pass,")
        out, _ = self.run_pt("--config_path", self.config(black_list=["exp"], white_list=["exp", "add"]))
        self.assertEqual([r.split(",")[1] for r in self.csv(out)], ["pass"] * 5 + ["SKIP"])

    def test_wrong_configs(self):
        for section, text in (({"white_list": "add"}, "white_list must be a list type"),
                              ({"black_list": [1]}, "All elements in black_list must be string type"),
                              ({"white_list": ["add", "nothing"]}, "Invalid api in white_list: ['nothing']"),
                              ({"error_data_path": "/nowhere"}, "error_data_path: /nowhere does not exist")):
            _, result = self.run_pt("-config", self.config(**section), code=1)
            self.assertIn("[ERROR] " + text, result.out)
        self.run_pt("-config", self.path("missing.json"), code=1)
        _, result = self.run_pt("-config", self.path("config.yaml"), code=1)
        self.assertIn("should be a .json file", result.out)

    def test_usage_errors(self):
        for options, command, text in (
                (["-d", "1", "1"], "run_ut", "device id must be unique"),
                (["-d", "-1"], "run_ut", "device id must be greater than or equal to 0"),
                (["-d", "x"], "run_ut", "argument -d/--device: invalid int value: 'x'"),
                (["-n", "8"], "run_ut", "unrecognized arguments: -n"),
                (["-n", "0"], "multi_run_ut", "argument -n/--num_splits: invalid choice: 0 (choose from 1, 2, "),
                (["-n", "65"], "multi_run_ut", "argument -n/--num_splits: invalid choice: 65 "),
                (["-n", "many"], "multi_run_ut", "argument -n/--num_splits: invalid int value: 'many'")):
            out, result = self.run_pt(*options, code=2, command=command)
            self.assertIn("usage: tdcmp -f pytorch %s [-h]" % command, result.err)
            self.assertIn("tdcmp -f pytorch %s: error: " % command + text, result.err)
            self.assertEqual(os.listdir(out), [])
        result = self.run_code(1, "-f", "pytorch", "run_ut", "-o", self.folder)
        self.assertIn("Please provide api_info_file for offline run ut.", result.out)
        self.run_code(2, "-f", "mindspore", "run_ut", "-api_info", self.path_of_dump, "-f")

    def test_resumed_file_keeps_its_name(self):
        out, _ = self.run_pt()
        path = harness.only_file(out, "csv", "accuracy_checking_result")
        before = harness.read_bytes(path)
        self.run_pt("-csv_path", path)
        self.assertEqual(harness.read_bytes(path), before)
        other = os.path.join(out, "accuracy_checking_result_1.csv")
        os.rename(path, other)
        _, result = self.run_pt("-csv_path", other, code=1)
        self.assertIn("When continue run ut, please do not modify the result csv name.", result.out)

    def test_splits_give_the_same_files(self):
        files = []
        for command, words in (("run_ut", []), ("multi_run_ut", []), ("multi_run_ut", ["-n", "1"]),
                               ("multi_run_ut", ["-n", "64", "-d", "0", "1"]), ("multi_run_ut", ["-n", "4"])):
            out, _ = self.run_pt(*words, command=command)
            files.append((self.csv(out), self.csv(out, "details")))
        self.assertTrue(all(f == files[0] for f in files))

    def test_error_data_as_torch_saves_it(self):
        place = tempfile.mkdtemp(dir=self.folder)
        out, _ = self.run_pt("-save_error_data", "--max-abs-err", "-1", "-config",
                             self.config(error_data_path=place, white_list=["exp"]))
        stamp = re.search(r"_(\d{14})\.csv", harness.only_file(out, "csv", "accuracy_checking_result")).group(1)
        folder = os.path.join(place, "ut_error_data" + stamp)
        names = ["Torch.exp.0.%s.%s.0.pt" % (d, k) for d in ("backward", "forward")
                 for k in ("input", "output.bench", "output.device")]
        self.assertEqual(harness.files_below(folder), names)
        with zipfile.ZipFile(os.path.join(folder, names[3])) as archive:
            self.assertIsNone(archive.testzip())
            stem = names[3][:-3]
            self.assertEqual(sorted(archive.namelist()),
                             [stem + "/" + n for n in ("byteorder", "data.pkl", "data/0", "version")])
            self.assertEqual(struct.unpack("<4f", archive.read(stem + "/data/0"))[0::3], (0.0, 1.0))
            self.assertIn(b"ctorch\nFloatStorage\n", archive.read(stem + "/data.pkl"))
            for info in archive.infolist():
                with open(archive.filename, "rb") as file:
                    file.seek(info.header_offset + 26)
                    name, extra = struct.unpack("<2H", file.read(4))
                self.assertEqual((info.header_offset + 30 + name + extra) % 64, 0, info.filename)


class MindsporeFlags(ExecuteCase):
    def test_usage_is_shown(self):
        dump = self.dump({"Mint.exp.0.forward": forward(drawn())})
        for words, text in ((["multi_run_ut", "-api_info", dump, "-d", "1", "1"], "device id must be unique"),
                            (["run_ut", "-o", self.folder], "the following arguments are required: "
                                                            "-api_info/--api_info_file")):
            result = self.run_code(2, "-f", "mindspore", *words)
            self.assertIn("usage: tdcmp -f mindspore %s [-h]" % words[0], result.err)
            self.assertIn(text, result.err)

    def test_lanes_give_the_same_files(self):
        data = {"Mint.exp.%d.forward" % i: forward(drawn("Float16", [i + 1], -4.0, 8.0)) for i in range(150)}
        dump, files = self.dump(data), []
        for command, words in (("run_ut", []), ("multi_run_ut", ["-d", "0", "1", "2", "3"]), ("multi_run_ut", [])):
            out, _ = self.run_ut(dump, *words, command=command)
            files.append((self.csv(out), self.csv(out, "details")))
        self.assertTrue(all(f == files[0] for f in files))


class Resume(ExecuteCase):
    def test_details_that_end_inside_a_call(self):
        data = {"Mint.%s.0.forward" % name: forward(drawn("Float32", [6])) for name in ("sort", "exp", "max_pool2d")}
        data["Mint.sort.1.forward"] = forward(drawn("Float32", [6]))
        dump = self.dump(data)
        out, _ = self.run_ut(dump)
        paths = [harness.only_file(out, "csv", "accuracy_checking_" + kind) for kind in ("result", "details")]
        before = [harness.read_bytes(path) for path in paths]
        rows = before[1].split(b"\r\n")
        self.assertIn(b"Mint.sort.1.forward.output.1", rows[-2])
        for kept in range(len(rows)):
            harness.write_bytes(paths[1], b"".join(row + b"\r\n" for row in rows[:kept]))
            harness.write_bytes(paths[0], before[0])
            self.run_ut(dump, "-csv_path", paths[0])
            self.assertEqual([harness.read_bytes(path) for path in paths], before, kept)


if __name__ == "__main__":
    harness.main()
