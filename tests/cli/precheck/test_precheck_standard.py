"""msprobe's PyTorch standards and api_precision_compare against golden tables."""
import os
import re
import sys
import tempfile

import harness
import precheck_case
from precheck_case import PrecheckCase, close, files_of, golden, read_rows


# Bench functions with float32 inside, and hardsigmoid, whose float64 gradient has a float32 1/6 in torch 1.13: of these
# only what is not a number is compared.
ROUNDED_INSIDE = {"npu_swiglu", "npu_scaled_masked_softmax", "npu_moe_gating_top_k_softmax", "hardsigmoid"}


def is_number(cell):
    return re.match(r"^-?(\d|nan|inf)", cell) is not None


def form(cell):
    """How a number is written: integer 0, 14 decimals or the shortest text."""
    return "0" if cell == "0" else "fixed" if re.match(r"^-?\d+\.\d{14}$", cell) else "shortest"


def same_cell(cell, expected, exact):
    if cell == expected:
        return True
    if not is_number(cell) or not is_number(expected) or form(cell) != form(expected):
        return False
    # msprobe computes the bench of short floats and of convolutions in float32: its rounding shows in the numbers
    return close(float(cell), float(expected), 1e-8, 1e-6 if exact else 2e-3)


class PytorchStandard(PrecheckCase):
    def compare_tables(self, dump):
        out, _ = self.run_ut(dump, "--standard", "pytorch", framework="pytorch")
        result, details = files_of(out)
        header, want = read_rows(os.path.join(dump, "pt_standard", "npu_details.csv"))
        got_header, got = read_rows(details)
        self.assertEqual(got_header, header)
        self.assertEqual([r[0] for r in got], [r[0] for r in want])
        bad, compared = [], 0
        for row, found in zip(want, got):
            rounded = row[0].split(".")[1] in ROUNDED_INSIDE
            compared += not rounded
            for column, cell, expected in zip(header, found, row):
                # the reason of a SKIP is free where it is not a text of msprobe's own
                free = column == "Message" and row[-2] == "SKIP" and not row[-1].startswith(("Bench", "Multiple", "There"))
                free |= rounded and is_number(cell) and is_number(expected)
                if not free and not same_cell(cell, expected, row[1] == "torch.float64"):
                    bad.append("%s: %s: got %r, expected %r" % (row[0], column, cell, expected))
        want, got = (read_rows(path)[1] for path in (os.path.join(dump, "pt_standard", "npu_result.csv"), result))
        self.assertEqual(read_rows(result)[0], ["API name", "Forward Test Success", "Backward Test Success", "Message"])
        self.assertEqual([r[0] for r in got], [r[0] for r in want])
        bad += ["%s: got %s" % (row, found) for row, found in zip(want, got)
                if row[:3] != found[:3]]
        print("pt_standard: %d rows of %d compared" % (compared, len(got)), file=sys.stderr)
        self.assertEqual(bad, [])
        return compared

    def test_rows(self):
        self.assertGreater(self.compare_tables(golden("pt_tensor")), 480)

    def test_rows_of_variants(self):
        self.assertGreater(self.compare_tables(golden("pt_variants")), 650)

    def test_more_is_judged_in_the_extended_profile(self):
        out, _ = self.run_ut(golden("pt_tensor"), "--standard", "pytorch", "--profile", "extended", framework="pytorch")
        rows = {r[0]: r for r in read_rows(files_of(out)[1])[1]}
        self.assertEqual(rows["Tensor.chunk.0.backward.output.0"][1:3], ["torch.float64", "torch.float32"])
        self.assertIn("do not belong", rows["Functional.normalize.0.backward.output.0"][-1])

    def test_resume(self):
        out, _ = self.run_ut(golden("pt_tensor"), "--standard", "pytorch", framework="pytorch")
        result, details = files_of(out)
        before = harness.read_bytes(result), harness.read_bytes(details)
        for share in (0.1, 0.5, 0.9):
            harness.write_bytes(result, before[0][:int(len(before[0]) * share)])
            self.run_code(0, "-f", "pytorch", "run_ut", "-api_info", golden("pt_tensor", "dump.json"), "--standard",
                          "pytorch", "-csv_path", result)
            self.assertEqual((harness.read_bytes(result), harness.read_bytes(details)), before)


class PrecisionCompare(PrecheckCase):
    def files(self):
        return golden("pt_tensor", "pt_standard", "npu_details.csv"), golden("pt_tensor", "pt_standard",
                                                                             "gpu_details.csv")

    def compare_csv(self, code, npu, gpu):
        self.last = out = tempfile.mkdtemp(prefix="out-", dir=self.folder)
        result = self.run_code(code, "-f", "pytorch", "api_precision_compare", "-npu", npu, "-gpu", gpu, "-o", out)
        return {re.sub(r"_\d{14}", "", name): harness.read_bytes(os.path.join(out, name))
                for name in os.listdir(out)}, result

    def test_golden_to_the_byte(self):
        found, _ = self.compare_csv(0, *self.files())
        for name in ("api_precision_compare_details.csv", "api_precision_compare_result.csv"):
            self.assertEqual(found[name], harness.read_bytes(golden("pt_tensor", "pt_standard", name)), name)

    def test_variants(self):
        """float64, blanks where numbers belong, NaN and infinities, values that are no tensors"""
        folder = golden("pt_variants", "pt_standard")
        self.compare_csv(0, os.path.join(folder, "npu_details.csv"), os.path.join(folder, "gpu_details.csv"))
        for name in ("api_precision_compare_details", "api_precision_compare_result"):
            found = [n for n in os.listdir(self.last) if n.startswith(name)]
            got, want = read_rows(os.path.join(self.last, found[0])), read_rows(os.path.join(folder, name + ".csv"))
            # the archive holds a part of the calls: a skipped row may stand before the call it interrupted
            self.assertEqual((got[0], sorted(got[1])), (want[0], sorted(want[1])))

    def test_missing_and_repeated_rows(self):
        npu, gpu = self.files()
        lines = harness.read_bytes(gpu).split(b"\r\n")
        starts = [i for i, line in enumerate(lines) if line.startswith(b"Tensor.__add__.0.forward")]
        fewer = harness.write_bytes(self.path("fewer.csv"), b"\r\n".join(lines[:starts[0]] + lines[starts[0] + 1:]))
        found, result = self.compare_csv(0, npu, fewer)
        self.assertIn("[WARNING]", result.out)
        self.assertNotIn(b"Tensor.__add__.0.forward.output.0,", found["api_precision_compare_details.csv"])
        twice = harness.write_bytes(self.path("twice.csv"), b"\r\n".join(lines[:-1] + [lines[starts[0]], b""]))
        found, result = self.compare_csv(1, npu, twice)
        self.assertIn("occurs twice", result.out)
        self.assertEqual(found, {})
        self.compare_csv(1, npu, self.path("nowhere.csv"))
        self.run_code(2, "-f", "pytorch", "api_precision_compare", "-npu", npu)


if __name__ == "__main__":
    precheck_case.main()
