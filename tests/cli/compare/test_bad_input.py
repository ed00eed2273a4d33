"""One bad tensor is one row; a bad json or yaml is one clear line. Nothing of it is a crash."""
import json
import os
import re
import shutil

import dumps
import harness

GOOD = [0.5, 1.5, -2.0, 3.25, 0.125, 7.0]
SHAPE = [2, 3]
PLAIN = dumps.pt_bytes("f32", SHAPE, dumps.pack("f32", GOOD))
PICKLE = dumps.tensor_pickle("FloatStorage", SHAPE, 6)
STORAGE = dumps.pack("f32", GOOD)


def at(data):
    """A fault that is a file of these bytes."""
    return lambda path: harness.write_bytes(path, data)


def copied(name):
    return lambda path: shutil.copyfile(os.path.join(harness.DATA, "tensors", name), path)


def dangling(path):
    os.symlink(path + ".nowhere", path)


# (name of the fault, how the file is made, what the sound form must say besides the name of the file)
FAULTS = [
    ("cut_%d" % length, at(PLAIN[:length]), "")
    for length in (1, 3, 4, 29, 64, 200, len(PLAIN) // 2, len(PLAIN) - 22, len(PLAIN) - 1)
] + [
    ("empty_file", at(b""), "the file is empty"),
    ("a_folder", os.mkdir, "not a regular file"),
    ("dangling_link", dangling, "No such file or directory"),
    ("missing", lambda path: None, "No such file or directory"),
    ("wrong_magic", at(b"this is no tensor at all" * 20), "not a torch file"),
    ("storage_too_short", at(dumps.torch_zip(PICKLE, STORAGE[:-1])), "wrong tensor"),
    ("storage_count_lies", at(dumps.torch_zip(dumps.tensor_pickle("FloatStorage", SHAPE, 2**40), STORAGE)), "wrong tensor"),
    ("shape_lies", at(dumps.torch_zip(dumps.tensor_pickle("FloatStorage", [2**31, 2**31], 6), STORAGE)), "wrong tensor"),
    ("stride_lies", at(dumps.torch_zip(dumps.tensor_pickle("FloatStorage", SHAPE, 6, [2**62, 1]), STORAGE)), "wrong tensor"),
    ("offset_lies", at(dumps.torch_zip(dumps.tensor_pickle("FloatStorage", SHAPE, 6, offset=1), STORAGE)), "wrong tensor"),
    ("zip_bomb", at(dumps.torch_zip(dumps.tensor_pickle("FloatStorage", SHAPE, 2**22), bytes(2**24), deflate=True)),
     "compressed member (method 8)"),
    ("unknown_opcode", at(dumps.torch_zip(b"\x80\x02\xfe.", STORAGE)), "unknown pickle opcode 0xfe"),
    ("unknown_global", at(dumps.torch_zip(b"\x80\x02cos\nsystem\n" + b"(X\x04\0\0\0true" + b"tR.", STORAGE)),
     "unknown pickle name os.system"),
    ("cut_pickle", at(dumps.torch_zip(PICKLE[:-10], STORAGE)), "malformed pickle"),
    ("no_storage", at(dumps.torch_zip(PICKLE.replace(b"X\x01\0\0\x000", b"X\x01\0\0\x009"), STORAGE)), "no storage"),
    ("a_text", at(dumps.torch_zip(b"\x80\x02X\x05\0\0\0words.", STORAGE)), "not a tensor"),
    ("sparse", copied("torch26_sparse_coo.pt"), "sparse tensor"),
    ("sparse_rows", copied("torch26_sparse_csr.pt"), "sparse tensor"),
    ("a_model", copied("torch26_module.pt"), "pickle"),
]


class OneBadTensor(harness.Case):
    def make(self, bad_side):
        """Every fault between good rows; returns the two json files and the names of the rows."""
        sides, self.good, self.bad = [], [], {}
        for side in ("npu", "bench"):
            dump = dumps.Dump(self.path(side))
            for number, (fault, make, reason) in enumerate(FAULTS):
                good = dump.call("good%d" % number, "input", GOOD, SHAPE)
                row = dump.call(fault, "input", PLAIN, SHAPE)
                if side == bad_side:
                    os.remove(dump.tensor_path(row))
                    make(dump.tensor_path(row))
                    self.bad[row] = reason
                    self.good.append(good)
            last = dump.call("last", "output", [v + (0.5 if side == "npu" else 0) for v in GOOD], SHAPE)
            sides.append(dump.write())
        self.good.append(last)
        return sides

    def check_good_rows(self, rows, verdict="identical"):
        self.assertEqual(len(rows), len(self.good) + len(self.bad))
        for name in self.good[:-1]:
            self.assertEqual(rows[name]["Accuracy Reached or Not"], verdict)
            self.assertEqual((rows[name]["MaxAbsErr"], rows[name]["Cosine"]), ("0", "1"))
            self.assertEqual(rows[name]["Err_message"], "")
        self.assertEqual(rows[self.good[-1]]["MaxAbsErr"], "0.5")

    def test_sound(self):
        for side in ("npu", "bench"):
            with self.subTest(side=side):
                npu, bench = self.make(side)
                rows, result = self.compare(2, npu, bench)
                rows = harness.by_name(rows)
                self.check_good_rows(rows)
                for name, reason in self.bad.items():
                    row = rows[name]
                    self.assertEqual(row["Accuracy Reached or Not"], "error", row)
                    self.assertEqual((row["Cosine"], row["MaxAbsErr"], row["Elements"]),
                                     ("", "", ""))
                    message = row["Err_message"]
                    self.assertTrue(message.startswith(self.path(side, "dump_tensor_data", name + ".pt: ")), message)
                    self.assertIn(reason, message)
                    self.assertGreater(len(message.split(".pt: ", 1)[1].split("\n")[0]), 5, message)
                self.assertIn("Could not be compared", result.out)
            shutil.rmtree(self.path("npu"))
            shutil.rmtree(self.path("bench"))

    def test_compat(self):
        npu, bench = self.make("npu")
        rows, _, _ = self.msprobe(0, npu, bench)
        rows = harness.by_name(rows)
        self.check_good_rows(rows, "Yes")
        for name in self.bad:
            self.assertEqual(rows[name]["Err_message"],
                             "Dump file: ['%s.pt', '%s.pt'] not found or read failed." % (name, name))
            self.assertEqual(rows[name]["Accuracy Reached or Not"], "None")
            self.assertEqual(rows[name]["EucDist"], "unsupported")

    def test_nothing_of_a_pickle_is_run(self):
        npu, bench = self.make("npu")
        marker = self.path("marker")
        row = "Functional.unknown_global.0.forward.input.0"
        word = ("touch " + marker).encode()
        harness.write_bytes(self.path("npu", "dump_tensor_data", row + ".pt"),
                            dumps.torch_zip(b"\x80\x02cos\nsystem\n(X" + bytes([len(word), 0, 0, 0]) + word + b"tR.", b""))
        self.compare(2, npu, bench)
        self.assertFalse(os.path.exists(marker))

    def test_zero_d_against_several_dimensions(self):
        """The json says [3] on both sides, the file of one side holds a single number."""
        sides = []
        scalar = dumps.pt_bytes("f32", [], dumps.pack("f32", [1.5]))
        vector = dumps.pt_bytes("f32", [3], dumps.pack("f32", [1.5, 2, 3]))
        for side, first, second in (("npu", scalar, vector), ("bench", vector, scalar)):
            dump = dumps.Dump(self.path(side))
            dump.call("good", "input", GOOD)
            dump.call("first", "input", first, [3])
            dump.call("second", "input", second, [3])
            sides.append(dump.write())
        rows = harness.by_name(self.compare(1, *sides)[0])
        compat = harness.by_name(self.msprobe(0, *sides)[0])
        for api in ("first", "second"):
            row = rows["Functional.%s.0.forward.input.0" % api]
            self.assertEqual(row["Err_message"].split("\n")[0], "Shape of test and ref tensor do not match. Skipped.")
            self.assertEqual((row["Cosine"], row["Accuracy Reached or Not"]), ("", "unmatched"))
            row = compat["Functional.%s.0.forward.input.0" % api]
            self.assertEqual(row["Err_message"], "Shape of NPU and bench tensor do not match. Skipped.")
        self.assertEqual(rows["Functional.good.0.forward.input.0"]["Accuracy Reached or Not"], "identical")

    def test_npy_files(self):
        data = dumps.pack("f32", GOOD)
        good = dumps.npy_bytes("<f4", SHAPE, data)
        faults = {
            "cut": (good[:-1], "data ends after 23 of 24 bytes"),
            "magic": (b"\x93NUMPX" + good[6:], "not an npy file"),
            "version": (good[:6] + b"\x09" + good[7:], "npy version 9.0"),
            "objects": (dumps.npy_bytes("|O", SHAPE, data), ""),
            "header": (good.replace(b"'shape'", b"'shale'"), "malformed npy header"),
            "lies": (dumps.npy_bytes("<f4", [2**40, 2**40], data), ""),
        }
        sides = []
        for side in ("npu", "bench"):
            dump = dumps.Dump(self.path(side))
            for name, (content, _) in faults.items():
                dump.call(name, "input", content if side == "npu" else good, SHAPE, suffix="npy")
                dump.call("good_" + name, "input", good, SHAPE, suffix="npy")
            sides.append(dump.write())
        rows = harness.by_name(self.compare(2, *sides)[0])
        for name, (_, reason) in faults.items():
            row = rows["Functional.%s.0.forward.input.0" % name]
            self.assertEqual(row["Accuracy Reached or Not"], "error", row)
            self.assertIn("%s.npy: " % row["NPU Name"], row["Err_message"])
            self.assertIn(reason, row["Err_message"])
            self.assertEqual(rows["Functional.good_%s.0.forward.input.0" % name]["Accuracy Reached or Not"], "identical")

    def test_text_arrays(self):
        """Texts that are numbers are compared as such; others are one unreadable row."""
        sides = []
        for side in ("npu", "bench"):
            dump = dumps.Dump(self.path(side))
            for name, words in (("numbers", "1.5 2.0 "), ("words", "abcd2.0 ")):
                dump.call(name, "input", dumps.npy_bytes("<U4", [2], words.encode("utf-32-le")), [2], suffix="npy")
            sides.append(dump.write())
        rows = harness.by_name(self.compare(2, *sides)[0])
        self.assertEqual(rows["Functional.numbers.0.forward.input.0"]["Accuracy Reached or Not"], "identical")
        row = rows["Functional.words.0.forward.input.0"]
        self.assertEqual((row["Accuracy Reached or Not"], row["Err_message"].split("\n")[0]),
                         ("error", "Data is unreadable."))

    def test_a_data_name_cannot_leave_its_folder(self):
        sides = []
        for side in ("npu", "bench"):
            dump = dumps.Dump(self.path(side))
            harness.write_bytes(self.path(side, "outside.pt"), PLAIN)
            dump.entry("Functional.f.0.forward", input_args=[dumps.item("f32", SHAPE, "../outside.pt")])
            dump.call("good", "input", GOOD)
            sides.append(dump.write())
        rows = self.compare(2, *sides)[0]
        self.assertEqual(rows[0]["Accuracy Reached or Not"], "error")
        self.assertIn("must not leave its folder", rows[0]["Err_message"])
        self.assertEqual(rows[1]["Accuracy Reached or Not"], "identical")


class BadJson(harness.Case):
    """A dump.json that cannot be used ends the run with one line, and nothing is written."""

    def setUp(self):
        super().setUp()
        self.npu, self.bench = dumps.Dump(self.path("npu")), dumps.Dump(self.path("bench"))
        for dump in (self.npu, self.bench):
            for number in range(6):
                dump.call("f%d" % number, "input", GOOD, SHAPE)
                dump.call("f%d" % number, "output", GOOD, SHAPE)
            dump.write()

    def friendly(self, code, *parts):
        out = self.path("output")
        result = self.run_code(code, "compare", self.path("npu"), self.path("bench"), "-o", out)
        self.assert_one_line(result.err, *parts)
        self.assertEqual(result.out, "")
        self.assert_nothing_left(out)

    def strict(self, code, *parts):
        _, result, out = self.msprobe(code, self.path("npu", "dump.json"), self.path("bench", "dump.json"))
        for part in parts:
            self.assertEqual([line for line in result.err.splitlines() if part in line][1:], [], result.err)
            self.assertIn(part, result.err)
        self.assert_nothing_left(out)

    def test_cut_anywhere(self):
        path = self.path("npu", "dump.json")
        whole = harness.read_bytes(path)
        self.assertGreater(len(whole), 2000)
        for length in list(range(0, len(whole), 97)) + [len(whole) - 1]:
            with self.subTest(length=length):
                harness.write_bytes(path, whole[:length])
                self.friendly(2, path)
                self.strict(1, path)

    def test_cut_bench(self):
        path = self.path("bench", "dump.json")
        harness.write_bytes(path, harness.read_bytes(path)[:1000])
        self.friendly(2, path)
        self.strict(1, path)

    def test_not_json(self):
        path = self.path("npu", "dump.json")
        for text in ("[]", "3", "\"data\"", "null", "{\"task\": \"tensor\", \"data\": {}} x", "{'task': 1}", "{,}",
                     "{\"task\": \"tensor\", \"data\": " + "[" * 5000 + "]" * 5000 + "}",
                     "{\"task\": \"tensor\", \"data\": {\"a\": " + "{\"b\":" * 5000 + "1" + "}" * 5001 + "}"):
            with self.subTest(text=text[:40]):
                harness.write_text(path, text)
                self.friendly(2, path)
                self.strict(1, path)
        harness.write_bytes(path, b"{\"task\": \"tens\xffor\", \"data\": {}}")
        self.friendly(2, path)
        os.remove(path)
        os.mkdir(path)
        self.friendly(2, "npu")

    def test_task_and_data(self):
        """Members that are missing or of the wrong type; the line says which side."""
        path = self.path("npu", "dump.json")
        none = path + ": no data in it: nothing was dumped, or it is still being written"
        other = "Please check the dump task is consistent."
        entry = {"Functional.f0.0.forward": {"input_args": [None]}}
        wrong = "Invalid type for 'data': expected a dict. Please check dump.json of npu."
        for whole, text, strict in (
                ({"data": {}}, none, "Task for npu is empty, please check."),
                ({"data": entry}, path + ": it does not say its task", "Task for npu is empty, please check."),
                ({"task": None, "data": {}}, none, "Task for npu is empty, please check."),
                ({"task": "", "data": {}}, none, "Task for npu is empty, please check."),
                ({"task": "tensor"}, none, "Missing 'data' in dump.json, please check dump.json of npu."),
                ({"task": "tensor", "data": None}, none, "Missing 'data' in dump.json, please check dump.json of npu."),
                ({"task": "tensor", "data": []}, path, wrong),
                ({"task": "tensor", "data": "x"}, path, wrong),
                ({"task": "statistics", "data": {}}, none, other),
                ({"task": "statistics", "data": entry}, "test was dumped with task statistics, ref with task tensor", other),
                ({"task": "structure", "data": {}}, path + ": no data in it: a dump of the structure alone", other)):
            with self.subTest(whole=whole):
                harness.write_text(path, json.dumps(whole))
                self.friendly(2, text)
                self.strict(1, strict)

    def test_broken_off(self):
        """A file that ends too early is said to be that, on either side and in both forms."""
        for side in ("npu", "bench"):
            path = self.path(side, "dump.json")
            whole = harness.read_bytes(path)
            for length, text in ((0, "an empty file"), (1, "it ends too early"), (len(whole) // 2, "it ends too early"),
                                 (len(whole) - 1, "it ends too early")):
                with self.subTest(side=side, length=length):
                    harness.write_bytes(path, whole[:length])
                    said = "%s: %s: still being written, or broken off" % (path, text)
                    self.friendly(2, said)
                    self.strict(1, said)
            harness.write_bytes(path, whole)

    def test_entries_of_odd_types(self):
        """Whatever stands in the place of an item is a row; msprobe's form counts what it leaves out."""
        odd = {"Functional.a.0.forward": 3, "Functional.b.0.forward": [], "Functional.c.0.forward": None,
               "Functional.d.0.forward": "text", "Functional.e.0.forward": {"input_args": 3, "output": "x"},
               "Functional.g.0.forward": {"input_args": [1, "x", 2.5, True], "output": {}},
               "Functional.h.0.forward": {"input_args": [{"type": 3}, {"type": "torch.Tensor"}]},
               "Functional.i.0.forward": {"input_args": [{"type": "torch.Tensor", "dtype": 5, "shape": "x",
                                                          "data_name": 7, "Max": {}, "Min": []}]}}
        for dump in (self.npu, self.bench):
            dump.data = dict(odd, **dump.data)
            dump.write()
        rows = harness.by_name(self.compare(0, self.path("npu"), self.path("bench"))[0])
        for number in range(4):
            self.assertEqual(rows["Functional.f%d.0.forward.output.0" % number]["Accuracy Reached or Not"], "identical")
        self.assertIn("Functional.h.0.forward.input.1", rows)
        odd = [n for n in rows if n.startswith(tuple("Functional.%s." % entry for entry in "abcdeg"))]
        self.assertEqual(odd, ["Functional.a.0.forward", "Functional.c.0.forward", "Functional.d.0.forward",
                               "Functional.e.0.forward.input", "Functional.e.0.forward.output"] +
                         ["Functional.g.0.forward.input.%d" % number for number in range(4)])
        self.assertEqual(rows["Functional.g.0.forward.input.2"]["NPU max"], "2.5")

    def test_stack(self):
        path = self.path("npu", "stack.json")
        for text in ("{", "[]", "", "{\"Functional.f0.0.forward\": [\"a\"", "{\"0\": [[\"a\"]"):
            with self.subTest(text=text):
                harness.write_text(path, text)
                self.friendly(2, path)
                self.strict(1, path)
        harness.write_text(path, json.dumps({"Functional.f0.0.forward": ["=cmd()"]}))
        self.strict(1, "stack info of Functional.f0.0.forward contains special characters, please check!")
        rows = self.compare(0, self.path("npu"), self.path("bench"))[0]
        self.assertEqual([row["NPU_Stack_Info"] for row in rows[:2]], ["['=cmd()']", "N/A"])


class BadMapping(harness.Case):
    """Mistakes in a mapping file: one line with file and line number."""

    def test_mistakes(self):
        sides = []
        for side in ("npu", "bench"):
            dump = dumps.Dump(self.path(side))
            row = dump.call("f", "input", GOOD)
            sides.append(dump.write())
        path = self.path("map.yaml")
        for text, line in (("a: b\nc: [x, y]\n", 2), ("a: b\nc: d\na: e\n", 3), ("- a\n- b\n", 1), ("a: b\nc\n", 2),
                           ("a: b\n  c: d\n", 2), ("a: 'b\n", 1), ("%s: &x y\n" % row, 1), ("a: b\nc:\n", 2),
                           ("a: b\n\tc: d\n", 2), ("a: b\n---\nc: d\n", 2)):
            with self.subTest(text=text):
                harness.write_text(path, text)
                result = self.run_code(2, "compare", *sides, "-m", path, "-o", self.path("out"))
                self.assert_one_line(result.err, path)
                found = re.search(re.escape(path) + r":(?: line )?(\d+)", result.err)
                self.assertIsNotNone(found, result.err)
                # a quote that is never closed is noticed on the line after the last
                self.assertIn(int(found.group(1)), (line, line + 1), result.err)
                self.assert_nothing_left(self.path("out"))
                _, result, out = self.msprobe(1, *sides, "-dm", path)
                self.assertIn(path + ":", result.err)
                self.assert_nothing_left(out)
        result = self.run_code(2, "compare", *sides, "-m", self.path("none.yaml"), "-o", self.path("out"))
        self.assert_one_line(result.err, self.path("none.yaml"), "No such file")

    def test_unknown_names_are_reported(self):
        sides = []
        for side in ("npu", "bench"):
            dump = dumps.Dump(self.path(side))
            row = dump.call("f", "input", GOOD)
            sides.append(dump.write())
        path = harness.write_text(self.path("map.yaml"), "%s: %s\nnobody: anybody\n" % (row, row))
        rows, result = self.compare(0, *sides, "-m", path)
        self.assertIn("%s:2: no test row is called 'nobody'" % path, result.err)
        self.assertEqual(rows[0]["Accuracy Reached or Not"], "identical")


if __name__ == "__main__":
    harness.main()
