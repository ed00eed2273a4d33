"""`tdcmp convert`: GE dump files to npy."""
import os
import unittest

import ge_dumps as ge
import harness


class Convert(harness.Case):
    def convert(self, code, path, *options):
        out = self.path("out")
        return self.run_code(code, "convert", path, "-o", out, *options), out

    def read(self, *parts):
        with open(self.path(*parts), "rb") as file:
            return file.read()

    def test_one_file(self):
        """Inputs and outputs, under the names of the old tool, as numpy would have written them."""
        path = ge.write_ge(self.path("Mul.Mul_1.7.2.1746144000000300"),
                           [ge.tensor("f32", [2, 3], range(6)), ge.tensor("i64", [], [-5])],
                           [ge.tensor("f16", [3], [1, 2.5, -3])])
        result, out = self.convert(0, path)
        stem = os.path.basename(path)
        self.assertEqual(harness.files_below(out),
                         [stem + ".input.0.npy", stem + ".input.1.npy", stem + ".output.0.npy"])
        self.assertEqual(self.read("out", stem + ".input.0.npy"), ge.npy_bytes("f32", [2, 3], range(6)))
        self.assertEqual(self.read("out", stem + ".input.1.npy"), ge.npy_bytes("i64", [], [-5]))
        self.assertEqual(self.read("out", stem + ".output.0.npy"), ge.npy_bytes("f16", [3], [1, 2.5, -3]))
        self.assertIn("3 tensors of 1 dump files", result.out)

    def test_types_that_numpy_lacks(self):
        path = ge.write_ge(self.path("A.B.1.2.3"), [
            ge.tensor("bf16", [2], data=b"\x80\x3f\x40\xc0"), ge.tensor("hif8", [2], data=b"\x08\x20"),
            ge.tensor("int4", [3], data=b"\x2f\x08"), ge.tensor("uint1", [5], data=b"\xa8"),
            ge.tensor("undefined", [9], data=b"\1\2")], [])
        self.convert(0, path, "--to", "npy", "-q")
        for i, (kind, shape, values) in enumerate([("f32", [2], [1, -3]), ("f64", [2], [1, 4]),
                                                   ("i8", [3], [-1, 2, -8]), ("u8", [5], [1, 0, 1, 0, 1]),
                                                   ("i8", [2], [1, 2])]):
            self.assertEqual(self.read("out", "A.B.1.2.3.input.%d.npy" % i), ge.npy_bytes(kind, shape, values))

    def test_storage_shape_is_kept(self):
        shape, values = ge.fractal_nz(3, 5, range(15))
        path = ge.write_ge(self.path("A.B.1.2.3"), [ge.tensor("i32", shape, values, "FRACTAL_NZ", [3, 5])], [])
        self.convert(0, path)
        self.assertEqual(self.read("out", "A.B.1.2.3.input.0.npy"), ge.npy_bytes("i32", shape, values))

    def test_folder(self):
        """All dump files below it; what is bad is told and listed, the rest is written."""
        ge.write_ge(self.path("dump", "0", "A.B.1.2.3"), [ge.tensor("f32", [1], [1])], [])
        ge.write_ge(self.path("dump", "1", "4711"), [ge.tensor("f32", [1], [2])], [])
        ge.write(self.path("dump", "1", "mapping.csv"), b"4711,A.Long_name.1.2.3\n")
        ge.write(self.path("dump", "1", "note.txt"), b"no dump")
        whole = ge.ge_bytes([ge.tensor("f32", [2], [1, 2])], [])
        bad = [ge.write(self.path("dump", "1", name), data) for name, data in (
            ("Cut.data.1.2.3", whole[:-1]), ("Cut.header.1.2.3", whole[:20]), ("Empty.file.1.2.3", b""),
            ("Long.header.1.2.3", b"\xff" * 16), ("Text.type.1.2.3", ge.ge_bytes([ge.tensor("string", [2], data=b"ab")], [])))]
        result, out = self.convert(1, self.path("dump"))
        self.assertEqual(harness.files_below(os.path.join(out, "0")), ["A.B.1.2.3.input.0.npy"])
        self.assertEqual(harness.files_below(os.path.join(out, "1")), ["A.Long_name.1.2.3.input.0.npy"])
        self.assertEqual(self.read("out", "convert_failed_file_list.txt").decode().split(), bad)
        lines = result.err.splitlines()
        self.assertEqual(len(lines), len(bad), result.err)
        for line, path in zip(lines, bad):
            self.assertIn(path, line)
        self.assertIn("data type 13 cannot be read", lines[-1])

    def test_nothing_to_do(self):
        os.makedirs(self.path("empty"))
        result, _ = self.convert(2, self.path("empty"))
        self.assert_one_line(result.err, "no GE dump file in it")
        result, _ = self.convert(2, self.path("absent"))
        self.assert_one_line(result.err, "absent: No such file")
        self.convert(2, self.path("empty"), "--to", "pt")
        self.run_code(2, "convert")


if __name__ == "__main__":
    unittest.main()
