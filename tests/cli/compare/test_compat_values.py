"""Values of msprobe's tables that hang on how numpy and pandas hold the numbers."""
import dumps
import harness

INT_A, INT_B = 9007199254740993, 9007199254740996


class Statistics(harness.Case):
    """Integers of 16 digits: what the column around them makes of them."""

    def rows(self, npu, bench):
        sides = [dumps.statistics_dump(self.path(side), rows) for side, rows in (("npu", npu), ("bench", bench))]
        return self.msprobe(0, *sides)[0]

    def differences(self, npu, bench):
        return [row["Max diff"] for row in self.rows(npu, bench)]

    def test_columns_of_integers_are_exact(self):
        self.assertEqual(self.differences({"a": [INT_A] * 4}, {"a": [INT_B] * 4}), ["-3"])
        # int64 wraps around, and so does uint64
        row = self.rows({"a": [2**63 - 1] * 4}, {"a": [-1] * 4})[0]
        self.assertEqual((row["Max diff"], row["Result"]), ("-9.223372036854776e+18", ""))
        self.assertEqual(self.differences({"a": [2**64 - 3] * 4}, {"a": [2**64 - 1] * 4}), ["1.844674407370955e+19"])

    def test_integers_beside_texts_are_read_digit_by_digit(self):
        npu = {"a": [INT_A] * 4, "b": [None] * 4}
        self.assertEqual(self.differences(npu, {"a": [INT_B] * 4, "b": [1] * 4}), ["-4", "N/A"])
        # sixteen digits below 2^53 are exact that way, and were not with ".0" behind them
        npu = {"a": [7804693926422052] * 4, "b": [None] * 4}
        self.assertEqual(self.differences(npu, {"a": [7804693926422051] * 4, "b": [1] * 4}), ["1", "N/A"])

    def test_integers_beside_floats_are_floats(self):
        npu, bench = {"a": [7804693926422052] * 4, "b": [0.5] * 4}, {"a": [7804693926422051] * 4, "b": [0.25] * 4}
        self.assertEqual(self.differences(npu, bench), ["0", "0.25"])
        # a float in one column is enough: the four of a side are one array
        npu = {"a": [7804693926422052, 1, 1, 0.5]}
        self.assertEqual(self.differences(npu, {"a": [7804693926422051, 1, 1, 0.5]}), ["0"])

    def test_texts_that_are_no_numbers(self):
        for text in ("1e400", " nan", "inf "):
            row = self.rows({"a": [text] * 4}, {"a": [1.0] * 4})[0]
            self.assertEqual((row["Max diff"], row["MaxRelativeErr"]), ("N/A", "N/A"), text)


class Arrays(harness.Case):
    """.npy files as MindSpore dumps hold them."""

    def pair(self, npu, bench, shape, dtype="f32", bench_suffix="npy"):
        sides = []
        for side, data, suffix in (("npu", npu, "npy"), ("bench", bench, bench_suffix)):
            dump = dumps.Dump(self.path(side))
            dump.call("f", "input", data, shape, dtype=dtype, suffix=suffix)
            sides.append(dump.write(framework="mindspore" if suffix == "npy" else "pytorch"))
        rows, _, _ = self.msprobe(0, *sides, framework="mindspore")
        return rows[0]

    def test_other_byte_order_counts_as_float64(self):
        little = dumps.pack("f32", [1.1, 0.0])
        big = b"".join(little[i:i + 4][::-1] for i in (0, 4))
        other = dumps.pack("f32", [1.3, 0.0])
        row = self.pair(dumps.npy_bytes(">f4", [2], big), dumps.npy_bytes("<f4", [2], other), [2])
        self.assertEqual(row["MaxRelativeErr"], "0.15384610447")
        self.assertEqual(row["Err_message"], "Dtype of NPU and bench tensor do not match.")
        row = self.pair(dumps.npy_bytes("<f4", [2], little), dumps.npy_bytes("<f4", [2], other), [2])
        self.assertEqual(row["MaxRelativeErr"], "0.153846099973")

    def test_texts_of_equal_width_are_of_one_type(self):
        for descr, words, message in (("|S3", b"1.52.0", ""),
                                      ("|S4", b"1.5\0" b"2.0\0", "Dtype of NPU and bench tensor do not match.")):
            row = self.pair(dumps.npy_bytes("|S3", [2], b"1.52.0"), dumps.npy_bytes(descr, [2], words), [2])
            self.assertEqual((row["Err_message"], row["Cosine"]), (message, "1"))

    def test_raw_bytes_are_unreadable(self):
        raw, shape = dumps.npy_bytes("|V3", [2], b"1.02.0"), [2]
        for bench, suffix in ((raw, "npy"), (dumps.pt_bytes("f32", shape, dumps.pack("f32", [1, 2])), "pt")):
            row = self.pair(raw, bench, shape, bench_suffix=suffix)
            self.assertTrue(row["Err_message"].endswith("Data is unreadable."), row["Err_message"])
        # shapes are looked at before
        row = self.pair(raw, dumps.npy_bytes("<f4", [3], bytes(12)), shape)
        self.assertEqual(row["Err_message"], "Shape of NPU and bench tensor do not match. Skipped.")

    def test_files_of_the_other_framework_are_not_read(self):
        data = dumps.npy_bytes("<f4", [2], dumps.pack("f32", [1, 2]))
        sides = []
        for side in ("npu", "bench"):
            dump = dumps.Dump(self.path(side))
            row = dump.call("f", "input", data, [2], suffix="npy")
            sides.append(dump.write())
        message = "Dump file: ['%s.npy', '%s.npy'] not found or read failed." % (row, row)
        for framework in ("pytorch", "mindspore"):
            found, _, _ = self.msprobe(0, *sides, framework=framework)
            self.assertEqual((found[0]["Err_message"], found[0]["Cosine"]), (message, "unsupported"))
        # the friendly form takes what is there
        self.assertEqual(self.compare(0, *sides, "--rules", "compat")[0][0]["Cosine"], "1")


class ZeroDimensions(harness.Case):
    """One element each: the difference in numpy's common type."""

    def maxima(self, npu, bench, dtypes):
        sides = []
        for side, value, dtype in (("npu", npu, dtypes[0]), ("bench", bench, dtypes[1])):
            dump = dumps.Dump(self.path(side))
            dump.call("f", "input", [value], [], dtype=dtype)
            dump.data["Functional.f.0.forward"]["input_args"][0]["dtype"] = "torch.float32"
            sides.append(dump.write())
        row = self.msprobe(0, *sides)[0][0]
        return row["MaxAbsErr"], row["MaxRelativeErr"]

    def test_bool_on_one_side(self):
        self.assertEqual(self.maxima(0, True, ("u8", "bool")), ("255", "1"))
        self.assertEqual(self.maxima(-128, True, ("i8", "bool")), ("127", "129"))
        self.assertEqual(self.maxima(0.1, True, ("f32", "bool")), ("0.899999976158", "0.89999999851"))
        # a bool on the NPU side makes both float64
        self.assertEqual(self.maxima(True, 3, ("bool", "u8")), ("2", "0.666666666667"))

    def test_modulus_of_complex_numbers(self):
        self.assertEqual(self.maxima(complex(0.3, 0.7), 0j, ("c64", "c64"))[0], "0.761577308178")
        self.assertEqual(self.maxima(0j, 0j, ("c64", "c64"))[0], "0")


if __name__ == "__main__":
    harness.main()
