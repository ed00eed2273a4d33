"""The precheck against golden dumps, cell by cell; the same files from any number of threads and lanes."""
import os

import harness
import precheck_case
from precheck_case import PrecheckCase, files_of, golden, read_rows


class Golden(PrecheckCase):
    def test_msprobe_tensor(self):
        out, _ = self.run_ut(golden("ms_tensor"), "--max-abs-err", "0.001", "--bench-round", "none")
        self.check_golden(out, "ms_tensor", ".")

    def test_msprobe_tensor_documented_threshold(self):
        out, _ = self.run_ut(golden("ms_tensor"), "--bench-round", "none")
        self.check_golden(out, "ms_tensor", "expected_doc_threshold")

    def test_msprobe_tensor_rounded(self):
        out, _ = self.run_ut(golden("ms_tensor"), "--max-abs-err", "0.001", "--bench-round", "tested")
        self.check_golden(out, "ms_tensor", "expected_round")

    def test_edge_compat(self):
        out, _ = self.run_ut(golden("ms_edge"), "--max-abs-err", "0.001", "--bench-round", "none")
        self.check_golden(out, "ms_edge", ".")

    def test_edge_documented_threshold(self):
        out, _ = self.run_ut(golden("ms_edge"), "--bench-round", "none")
        self.check_golden(out, "ms_edge", "expected_doc_threshold")

    def test_edge_extended(self):
        out, _ = self.run_ut(golden("ms_edge"), "--max-abs-err", "0.001", "--bench-round", "none", "--profile",
                             "extended")
        self.check_golden(out, "ms_edge", "expected_ext")

    def test_pytorch(self):
        out, _ = self.run_ut(golden("pt_tensor"), "--max-abs-err", "0.001", "--bench-round", "none",
                             framework="pytorch")
        self.check_golden(out, "pt_tensor", ".")

    def test_records_written_by_hand(self):
        out, _ = self.run_ut(golden("ms_records"), "--max-abs-err", "0.001", "--bench-round", "none")
        self.check_golden(out, "ms_records", ".")

    def test_variants(self):
        out, _ = self.run_ut(golden("ms_variants"), "--max-abs-err", "0.001", "--bench-round", "none")
        self.check_golden(out, "ms_variants", ".")

    def test_variants_rounded(self):
        out, _ = self.run_ut(golden("ms_variants"), "--max-abs-err", "0.001", "--bench-round", "tested")
        self.check_golden(out, "ms_variants", "expected_round")

    def test_pytorch_variants(self):
        out, _ = self.run_ut(golden("pt_variants"), "--max-abs-err", "0.001", "--bench-round", "none",
                             framework="pytorch")
        self.check_golden(out, "pt_variants", ".")

    def test_linear_layers_of_pytorch(self):
        """The extended profile knows what the recorder kept of a linear layer's backward."""
        out, _ = self.run_ut(golden("pt_tensor"), "--profile", "extended", framework="pytorch")
        rows = {r[0]: r for r in read_rows(files_of(out)[1])[1]}
        self.assertEqual([rows["Functional.linear.0.backward.output.%d" % i][3] for i in range(3)],
                         ["(5,)", "(3, 8)", "(8, 5)"])
        for name in ("linear.0.backward.output.0", "linear.0.backward.output.1", "linear.0.backward.output.2",
                     "linear.3.backward.output.0", "linear.3.backward.output.1"):
            self.assertEqual(rows["Functional." + name][7], "pass")
        # of an input of three dimensions the reshape at the end was recorded; here it was tampered with
        self.assertEqual(rows["Functional.linear.2.backward.output.0"][3], "(12, 5)")
        self.assertEqual(rows["Functional.linear.2.backward.output.0"][7], "error")

    def test_dropout_that_drops_nothing(self):
        out, _ = self.run_ut(golden("ms_tensor"), "--profile", "extended")
        rows = {r[0]: r for r in read_rows(files_of(out)[0])[1]}
        for call in ("Mint.dropout.0", "MintFunctional.dropout.0"):
            self.assertEqual(rows[call][1:3], ["pass", "pass"], call)

    def test_last_nodes_of_pytorch(self):
        """APIs of several autograd nodes are judged by the last one, which alone was recorded."""
        out, _ = self.run_ut(golden("pt_tensor"), "--profile", "extended", framework="pytorch")
        rows = {r[0]: r for r in read_rows(files_of(out)[1])[1]}
        for name, shape in (("Functional.cross_entropy.1.backward.output.0", "(12,)"),
                            ("Torch.outer.0.backward.output.0", "(3, 1)"),
                            ("Functional.softsign.0.backward.output.1", "(3, 4)"),
                            ("Functional.tanhshrink.0.backward.output.1", "(3, 4)")):
            self.assertEqual((rows[name][3], rows[name][7]), (shape, "pass"), name)
        for name in ("Functional.cross_entropy.0", "Functional.kl_div.0"):  # tampered with
            self.assertEqual(rows[name + ".backward.output.0"][7], "error", name)

    def test_rounding_auto_is_tested_for_short_floats(self):
        auto, _ = self.run_ut(golden("ms_tensor"))
        tested, _ = self.run_ut(golden("ms_tensor"), "--bench-round", "tested")
        none, _ = self.run_ut(golden("ms_tensor"), "--bench-round", "none")
        rows = [{r[0]: r for r in read_rows(files_of(out)[1])[1]} for out in (auto, tested, none)]
        self.assertEqual(rows[0].keys(), rows[1].keys())
        short = 0
        for name, row in rows[0].items():
            is_short = row[2] in ("Float16", "BFloat16")
            short += is_short
            self.assertEqual(row, rows[1 if is_short else 2][name])
        self.assertGreater(short, 20)


class SameFiles(PrecheckCase):
    def bytes_of(self, out):
        return [harness.read_bytes(path) for path in files_of(out)]

    def test_lanes_and_threads(self):
        one, _ = self.run_ut(golden("ms_tensor"), "--threads", "1")
        expected = self.bytes_of(one)
        for options, command in ((["--threads", "4"], "run_ut"), (["-d", "0", "1", "2"], "multi_run_ut"),
                                 (["-d", "7"], "multi_run_ut"), ([], "multi_run_ut")):
            out, _ = self.run_ut(golden("ms_tensor"), *options, command=command)
            self.assertEqual(self.bytes_of(out), expected, options)

    def test_form_of_the_files(self):
        out, result = self.run_ut(golden("ms_edge"))
        for path in files_of(out):
            data = harness.read_bytes(path)
            self.assertTrue(data.startswith(b"\xef\xbb\xbfAPI Name,"))
            self.assertEqual(data.count(b"\xef\xbb\xbf"), 1)
            self.assertTrue(data.endswith(b"\r\n"))
            self.assertEqual(os.stat(path).st_mode & 0o777 & ~0o640, 0)
        self.assertRegex(result.out, r"(?m)^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \(\d+\) \[INFO\] Writing CSV headers for the "
                                     r"first time\.$")
        self.assertEqual(result.out.count("Writing CSV headers"), 1)


if __name__ == "__main__":
    precheck_case.main()
