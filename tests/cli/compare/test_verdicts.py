"""Planted faults are named first, correct runs are silent: pairs of dumps of small real networks.

The archive holds an MLP with its tensors and language models, a CNN as statistics, each as it is (`mlp`), run in
another correct way (`mlp_as_amp`: autocast; `_as_eps`: noise of 1e-7 in all weights; ...) and with one planted
fault (`mlp_fault_scale`). docs/verdicts.md has the whole table.
"""
import re
import os
import tarfile

import dumps
import harness
import xlsx

ARCHIVE = os.environ["TDC_VERDICTS"]

LINEAR = "Functional.linear.1.forward.output.0"

# fault: mode, reference, kind of the first origin, start of its row's name, its level
FAULTS = {
    # tensors: an MLP
    "mlp_fault_scale": ("tensor", "mlp", "operator", LINEAR, "different"),  # output x 1.05
    "mlp_fault_s0005": ("tensor", "mlp", "operator", LINEAR, "close"),  # output x 1.0005
    "mlp_fault_elem": ("tensor", "mlp", "operator", LINEAR, "different"),  # one element + 3 rms
    "mlp_fault_nan": ("tensor", "mlp", "operator", LINEAR, "different"),
    "mlp_fault_row": ("tensor", "mlp", "operator", LINEAR, "different"),  # a row of zeros
    "mlp_fault_inround": ("tensor", "mlp", "operator", LINEAR, None),  # inputs rounded to bfloat16
    "mlp_fault_gh": ("tensor", "mlp", "operator", "Module.m.3.Linear.", "different"),  # gradient x 0.5
    "mlp_fault_weight": ("tensor", "mlp", "entry", "Functional.linear.", "different"),  # weight x 1.5
    "mlp_fault_welem": ("tensor", "mlp", "entry", "Functional.linear.", "different"),
    # statistics
    "llama_fault_scale": ("statistics", "llama", "operator", "Functional.linear.5.forward.output.0", "different"),
    "llama_fault_s0005": ("statistics", "llama", "operator", "Functional.linear.3.forward.output.0", "close"),
    "llama_as_bf16_fault_s005": ("statistics", "llama_as_bf16", "operator", "Functional.linear.3.forward.output.0",
                                 "rounding"),
    "llama_fault_swapqk": ("statistics", "llama", "operator", "Functional.scaled_dot_product_attention.1.forward.", None),
    "llama_fault_gh": ("statistics", "llama", "operator", "Module.model.layers.0.", "different"),
    "llama_fault_weight": ("statistics", "llama", "entry", "Functional.linear.", "different"),
    "llama_fault_epsset": ("statistics", "llama", "argument", "Tensor.__add__.", "different"),
    "llama_fault_pos": ("statistics", "llama", "entry", "", None),
    "bert_drop_fault_seed": ("statistics", "bert_drop", "random", "Functional.dropout.0.forward.output.0", None),
    "gpt2_fault_scale": ("statistics", "gpt2", "operator", "Torch.addmm.5.forward.output.0", "different"),
    "cnn_fault_scale": ("statistics", "cnn", "operator", "Functional.conv2d.1.forward.output.0", "different"),
    "cnn_fault_gh": ("statistics", "cnn", "operator", "Module.m.3.Conv2d.", "different"),
}

CORRECT = {
    "mlp": "tensor", "mlp_as_amp": "tensor", "mlp_as_bf16": "tensor", "mlp_as_eps": "tensor",
    "mlp_as_nomk": "tensor", "llama_as_amp": "statistics", "llama_as_bf16": "statistics", "llama_as_eps": "statistics",
    "llama_as_t2": "statistics", "gpt2_as_amp": "statistics", "gpt2_as_f16": "statistics", "cnn_as_nomk": "statistics",
}


class Verdicts(harness.Case):
    def setUp(self):
        super().setUp()
        with tarfile.open(ARCHIVE) as archive:
            archive.extractall(self.path("."), filter="data") if hasattr(tarfile, "data_filter") else \
                archive.extractall(self.path("."))

    def report(self, code, mode, npu, bench, **settings):
        out = self.path("out_" + npu)
        result = self.run_code(code, "compare", self.path("verdicts", mode, npu), self.path("verdicts", mode, bench),
                               "-o", out, "--format", "json,xlsx", "--allow-unmatched", **settings)
        return harness.read_json(harness.only_file(out, "json")), result, out

    def test_faults_are_named_first(self):
        for name, (mode, bench, kind, row, level) in FAULTS.items():
            with self.subTest(fault=name):
                report, result, _ = self.report(1, mode, name, bench)
                first = report["origins"][0]
                self.assertEqual(first["kind"], kind, first)
                self.assertTrue(first["name"].startswith(row), first)
                if level is not None:
                    self.assertEqual(first["verdict"], level, first)
                self.assertFalse(first["may_be_consequence"])
                self.assertEqual(report["rows"][first["row"]]["verdict"], first["verdict"])
                self.assertEqual(report["rows"][first["row"]]["severity"], 3)
                # the terminal names it before anything else
                listed = result.out[result.out.index("Where it starts"):].split("\n")[2].split()
                self.assertEqual(listed[0], str(first["row"] + 2))
                self.assertTrue(first["name"].startswith(listed[1].split("...")[0]), listed)

    def test_correct_runs_are_silent(self):
        for name, mode in CORRECT.items():
            with self.subTest(run=name):
                report, result, out = self.report(0, mode, name, name.split("_as_")[0])
                self.assertEqual(report["origins"], [])
                self.assertEqual(report["counts"]["different"], 0)
                self.assertNotIn("Where it starts", result.out)
                self.assertIn(result.out.split()[0], ("IDENTICAL", "SAME", "CLOSE"))
                # no red in the sheet when the terminal is content
                sheet = xlsx.Workbook(harness.only_file(out, "xlsx")).sheets[0]
                self.assertNotIn("FFFF0000", {fill for row in sheet.fills for fill in row})

    def test_counts(self):
        report, result, _ = self.report(1, "tensor", "mlp_fault_scale", "mlp")
        counts, rows = report["counts"], report["rows"]
        self.assertEqual(counts["rows"], len(rows))
        levels = ("identical", "rounding", "close", "different", "unmatched", "error", "no_data", "not_judged")
        self.assertEqual(sum(counts[level] for level in levels), len(rows))
        for level in levels:
            self.assertEqual(sum(row["verdict"] == level.replace("_", " ") for row in rows), counts[level], level)
        shown = dict(re.findall(r"([a-z ]+?) (\d+)(?=   |\n)", result.out.split("\n\n")[1] + "\n"))
        shown = {name.strip(): int(number) for name, number in shown.items()}
        for level, word in zip(levels, levels[:5] + ("errors", "no data", "not judged")):
            self.assertEqual(shown.get(word, 0), counts[level], result.out)

    def test_a_table_alone_is_the_same(self):
        """Origins are found while rows are written; one thread writes them afterwards."""
        several, _, _ = self.report(1, "tensor", "mlp_fault_gh", "mlp")
        for threads in ("1", "2"):
            out = self.path("threads" + threads)
            self.run_code(1, "compare", self.path("verdicts", "tensor", "mlp_fault_gh"),
                          self.path("verdicts", "tensor", "mlp"), "-o", out, "--format", "json", "-t", threads,
                          "--allow-unmatched")
            report = harness.read_json(harness.only_file(out, "json"))
            self.assertIn("-t", report.pop("command"))
            self.assertEqual(report, {name: value for name, value in several.items() if name != "command"})

    def test_weights_that_are_not_identical_are_remarked(self):
        report, result, _ = self.report(0, "tensor", "mlp_as_eps", "mlp")
        self.assertGreater(report["counts"]["entering_not_identical"], 0)
        self.assertIn("parameters or inputs of the runs are not identical", result.out)
        remarked = [row for row in report["rows"] if "Parameters of the two runs are not identical." in row["message"]]
        self.assertTrue(remarked)
        self.assertEqual({row["severity"] for row in remarked}, {1})


def scaled(factor, norm=2.0, **more):
    """Statistics of a tensor of which another run has `factor` times the values."""
    return dumps.item("f32", [4, 4], stats=(factor, -factor, 0.25 * factor, norm * factor), **more)


class Order(harness.Case):
    """What belongs together by its place in the dump and not by its number."""

    def recomputed(self, side, factor, gradient=1.0):
        """A module run twice for each of two micro batches, forward and again before the backward."""
        dump = dumps.Dump(self.path(side), "statistics")
        stem = "Module.a.Linear"
        for batch in range(2):
            for forward in (2 * batch, 2 * batch + 1):
                dump.entry("%s.forward.%d" % (stem, forward), input_args=[scaled(1)],
                           parameters={"weight": scaled(1)}, output=[scaled(1)])
            moved = factor if batch == 1 else 1.0  # the second backward is off behind the module
            dump.entry("Functional.g.%d.backward" % batch, input=[scaled(1)], output=[scaled(moved)])
            dump.entry("%s.parameters_grad.%d" % (stem, batch), weight=[scaled(moved * gradient)])
            dump.entry("%s.backward.%d" % (stem, 2 * batch), input=[scaled(moved)], output=[scaled(moved)])
        return dump.write()

    def origins(self, code, npu, bench):
        out = self.path("out")
        self.run_code(code, "compare", npu, bench, "-o", out, "--format", "json")
        return [origin["name"] for origin in harness.read_json(harness.only_file(out, "json"))["origins"]]

    def test_gradients_of_a_recomputed_module_follow_from_its_backward(self):
        named = self.origins(1, self.recomputed("npu", 1.5), self.recomputed("bench", 1.0))
        self.assertEqual(named, ["Functional.g.1.backward.output.0"])

    def test_gradients_alone_are_an_origin(self):
        named = self.origins(1, self.recomputed("npu", 1.0, 0.5), self.recomputed("bench", 1.0))
        self.assertEqual(named[0], "Module.a.Linear.parameters_grad.0.weight")

    def updated(self, side, factor, after=True):
        """The optimiser's calls after a backward: they hold gradients under the names of forward calls."""
        dump = dumps.Dump(self.path(side), "statistics")
        dump.entry("Functional.f.0.forward", input_args=[scaled(1)], output=[scaled(1, requires_grad=True)])
        if after:
            dump.entry("Functional.f.0.backward", input=[scaled(1)], output=[scaled(1)])
        dump.entry("Tensor.lerp_.0.forward", input_args=[scaled(1), scaled(factor)], output=[scaled(1 + factor)])
        return dump.write()

    def test_updates_are_judged_as_gradients(self):
        verdicts = {}
        for after in (True, False):
            out = self.path("out%d" % after)
            self.run_code(1, "compare", self.updated("npu%d" % after, 1.005, after),
                          self.updated("bench%d" % after, 1, after), "-o", out, "--format", "json")
            rows = harness.read_json(harness.only_file(out, "json"))["rows"]
            verdicts[after] = [row["verdict"] for row in rows if row["name"] == "Tensor.lerp_.0.forward.input.1"]
        self.assertEqual(verdicts, {True: ["close"], False: ["different"]})


if __name__ == "__main__":
    harness.main()
