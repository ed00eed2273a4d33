"""`tdcmp compare a.npy b.pt`: two tensor files in the place of dumps."""
import dumps
import harness

GOOD = [0.5 + i for i in range(15)]


class TensorFiles(harness.Case):
    """Two tensor files in the place of dumps."""

    def file(self, name, values, shape=None, dtype="f32"):
        data = dumps.pack(dtype, values)
        shape = shape or [len(values)]
        whole = (dumps.npy_bytes(dumps.DTYPES[dtype][2], shape, data) if name.endswith(".npy") else
                 dumps.pt_bytes(dtype, shape, data))
        return harness.write_bytes(self.path(name), whole)

    def test_two_files(self):
        changed = GOOD[:-1] + [99.0]
        for suffix in ("npy", "pt"):
            for other in ("npy", "pt"):
                with self.subTest(suffix=suffix, other=other):
                    a, b = self.file("a." + suffix, GOOD), self.file("b." + other, GOOD)
                    rows, _ = self.compare(0, a, b)
                    self.assertEqual([(r["NPU Name"], r["Bench Name"], r["NPU Tensor Shape"], r["MaxAbsErr"],
                                       r["Err_message"]) for r in rows], [("a", "b", "[15]", "0", "")])
                    self.file("b." + other, changed)
                    rows, _ = self.compare(1, a, b)
                    self.assertEqual(rows[0]["MaxAbsErr"], "84.5")
                    self.compare(1, a, b, rows_of="json")
        self.assertEqual(self.run_code(0, "match", a, b).out.split("\t")[:2], ["a", "b"])

    def test_in_this_folder(self):
        self.file("a.npy", GOOD)
        self.run_code(0, "compare", "a.npy", "a.npy", "-o", "out", cwd=self.folder)

    def test_what_does_not_fit(self):
        a = self.file("a.npy", GOOD)
        self.compare(1, a, self.file("b.npy", GOOD, [3, 5]))
        rows, _ = self.compare(0, a, self.file("c.npy", GOOD, dtype="f64"))
        self.assertIn("Dtype of test and ref tensor do not match.", rows[0]["Err_message"])
        broken = harness.write_bytes(self.path("broken.npy"), b"\x93NUMPY")
        for other in (broken, self.path("nowhere.npy")):
            result = self.run_code(2, "compare", a, other, "-o", self.path("none"))
            self.assert_one_line(result.err, other)
        dump = dumps.Dump(self.path("npu"))
        dump.call("f", "input", GOOD)
        path = dump.write()
        result = self.run_code(2, "compare", a, path, "-o", self.path("none"))
        self.assert_one_line(result.err, "a tensor file has to face another one")


if __name__ == "__main__":
    harness.main()
