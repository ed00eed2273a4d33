"""The page of `tdcmp compare`: its form, that it never wraps, and that it agrees with exit code and sheet."""
import json
import os
import re
import tarfile

import dumps
import harness
import xlsx

GOOD = [0.5, 1.5, -2.0, 3.25]
WIDTH = 80


def columns(line):
    """Columns of a line; none of the tests has wide signs but Han."""
    return sum(2 if "\u2e80" <= sign <= "\ua4cf" else 1 for sign in line)


class Page(harness.Case):
    def side(self, name, tensors, **more):
        """tensors: (call, role, values) in the order of the dump."""
        dump = dumps.Dump(self.path(name), **more)
        for call, role, values in tensors:
            dump.call(call, role, values)
        return dump.write()

    def page(self, code, *words, out="out"):
        result = self.run_code(code, "compare", *words, "-o", self.path(out), "--no-advice")
        for line in result.out.splitlines():
            self.assertLessEqual(columns(line), WIDTH, line)
        self.assertNotIn("\x1b", result.out)
        return result.out.replace(self.folder, "T")

    def shown(self, page):
        """Counts of the page by word."""
        block = page.split("\n\n")[1]
        return {word.strip(): int(number) for word, number in re.findall(r"([a-z ]+?) (\d+)(?=   |\n|$)", block)}

    def test_a_fault(self):
        calls = [("a", "input", GOOD), ("a", "output", GOOD), ("b", "input", GOOD), ("b", "output", GOOD),
                 ("c", "input", GOOD), ("c", "output", GOOD)]
        wrong = [*calls[:3], ("b", "output", [0.5, 1.5, -2.0, 4.25]), ("c", "input", [0.5, 1.5, -2.0, 4.25]),
                 ("c", "output", [0.5, 1.5, -2.0, 4.25])]
        page = self.page(1, self.side("npu", wrong), self.side("bench", calls), "-F", "csv")
        name = os.path.basename(harness.only_file(self.path("out"), "csv"))
        self.assertEqual(page, """\
DIFFERENT   3 of 6 tensors, 2 calls; 1 call starts it
test  T/npu     tensor
ref   T/bench   tensor

  identical 3   rounding 0   close 0   different 3
  unmatched 0   errors 0   no data 0

Where it starts (inputs agree, outputs do not):
   row   call                                       cosine   max abs    explains
     5   Functional.b.0.forward                     0.9922         1      3 rows
         inputs identical; worst at [3]: 4.25 against 3.25

Wrote T/out/%s
next: tdcmp show T/out Functional.b.0
""" % name)

    def test_advice_on_a_mask(self):
        """Another mask is no computation error, whatever went before it."""
        for number, first in enumerate((GOOD, [0.5, 1.5, -2.0, 9.25])):
            test = self.side("npu%d" % number, [("dropout", "input", first), ("dropout", "output", [1.0, 3.0, 0.0, 0.0])])
            ref = self.side("bench%d" % number, [("dropout", "input", GOOD), ("dropout", "output", [0.0, 3.0, -4.0, 0.0])])
            out = self.path("out%d" % number)
            self.run_code(1, "compare", test, ref, "-o", out)
            with open(harness.only_file(out, "txt", "advisor")) as file:
                self.assertNotIn("computation error. Check", file.read())

    def one_judgement(self, page, test, ref, out):
        """Counts of the page, verdicts of the rows and colours of the sheet are the same."""
        found = json.loads(harness.run("compare", test, ref, "--json", "--allow-unmatched").out)
        verdicts = [row["verdict"] for row in found["rows"]]
        for word, number in self.shown(page).items():
            if word in ("identical", "rounding", "close", "different", "unmatched"):
                self.assertEqual(verdicts.count(word), number, word)
        red = [row for row in found["rows"] if row["verdict"] == "different" or row["origin"] is not None]

        def reddish(fill):
            r, g, b = (int(fill[-6:][i:i + 2], 16) for i in (0, 2, 4))
            return r >= 0xC0 and g <= r - 0x20 and b <= r - 0x20
        fills = [row for sheet in xlsx.Workbook(harness.only_file(self.path(out), "xlsx")).sheets for row in sheet.fills[1:]
                 if any(len(fill) >= 6 and reddish(fill) for fill in row)]
        self.assertEqual(len(fills), len(red))

    def test_words(self):
        """The first word, the exit code and the colours of the sheet agree."""
        near = [value * (1 + 1e-4) for value in GOOD]
        tiny = [value * (1 + 1e-7) for value in GOOD]
        for number, (word, code, npu, options) in enumerate((
                ("IDENTICAL", 0, GOOD, ()), ("SAME", 0, tiny, ()), ("CLOSE", 0, near, ()),
                ("DIFFERENT", 1, [9.0, 1.0, 1.0, 1.0], ()), ("UNMATCHED", 1, None, ()),
                ("IDENTICAL", 0, None, ("--allow-unmatched",)))):
            with self.subTest(word=word, options=options):
                more = [("x", "input", GOOD)] if npu is None else []
                test = self.side("npu%d" % number, [("f", "input", npu or GOOD)] + more)
                ref = self.side("bench%d" % number, [("f", "input", GOOD)])
                out = "out%d" % number
                page = self.page(code, test, ref, *options, out=out)
                self.assertEqual(page.split()[0], word)
                fills = [fill for sheet in xlsx.Workbook(harness.only_file(self.path(out), "xlsx")).sheets
                         for row in sheet.fills[1:] for fill in row]
                red = sum(1 for fill in set(fills) if fill.upper() in ("FFFF0000", "FFFFC7CE"))
                self.assertEqual(red != 0, word == "DIFFERENT", set(fills))

    def test_nan(self):
        bad = [[0.5, float("nan"), -2.0, 3.25], GOOD]
        dump = [[("f", "input", GOOD), ("f", "output", values)] for values in bad]
        page = self.page(1, self.side("npu", dump[0]), self.side("bench", dump[1]))
        self.assertIn("1 NaN of 4, first at [1]: nan against 1.5", page)
        page = self.page(1, self.side("npu", dump[1]), self.side("bench", dump[0]), out="other")
        self.assertIn("ref has 1 NaN of 4, first at [1]: 1.5 against nan", page)
        both = [("f", "input", GOOD), ("f", "output", [float("nan"), float("inf"), float("nan"), 1.0])]
        page = self.page(1, self.side("npu", both), self.side("bench", dump[0]), out="both")
        self.assertIn("2 NaN and 1 Inf (ref 1 NaN) of 4, first apart at [0]", page)

    def test_random(self):
        calls = [("dropout", "input", GOOD), ("dropout", "output", [1.0, 3.0, 0.0, 0.0])]
        other = [calls[0], ("dropout", "output", [0.0, 3.0, -4.0, 0.0])]
        words = self.side("npu", calls), self.side("bench", other)
        self.assertIn("random operator: masks differ; fix the seed or set p=0", self.page(1, *words))
        out = self.path("advised")
        self.run_code(1, "compare", *words, "-o", out)
        advice = harness.read_text(harness.only_file(out, "txt", "advisor"))
        self.assertIn("random", advice)
        self.assertNotIn("computation error", advice)

    def test_top(self):
        calls = [("f%d" % i, role, GOOD) for i in range(12) for role in ("input", "output")]
        wrong = [(name, role, [1.0, 2.0, 3.0, float(i)] if role == "output" else values)
                 for i, (name, role, values) in enumerate(calls)]
        words = self.side("npu", wrong), self.side("bench", calls)
        page = self.page(1, *words)
        self.assertIn("; 12 calls start it\n", page)
        self.assertEqual(len(re.findall(r"(?m)^ +\d+   Functional", page)), 5)
        self.assertIn("   ...   7 more: --top 20\n", page)
        page = self.page(1, *words, "--top", "20")
        self.assertEqual(len(re.findall(r"(?m)^ +\d+   Functional", page)), 12)
        self.assertNotIn("more:", page)
        # row numbers are those of the sheet
        out = self.path("out")
        for path in harness.files_below(out):
            os.remove(os.path.join(out, path))
        rows = [int(row) for row in re.findall(r"(?m)^ +(\d+)   Functional", self.page(1, *words, "-F", "csv"))]
        table = harness.read_csv(harness.only_file(out, "csv"))
        self.assertEqual([table[row - 2]["NPU Name"] for row in rows],
                         ["Functional.f%d.0.forward.output.0" % i for i in range(5)])

    def test_ranks_together(self):
        calls = [("a", "input", GOOD), ("a", "output", GOOD), ("b", "input", GOOD), ("b", "output", GOOD)]
        off = [9.0, 1.0, 1.0, 1.0]
        for rank in range(8):
            wrong = list(calls)
            if rank in (0, 1, 2, 5):
                wrong[1] = ("a", "output", off)
            elif rank == 7:
                wrong[3] = ("b", "output", off)
            self.side(os.path.join("npu", "rank%d" % rank), wrong)
            self.side(os.path.join("bench", "rank%d" % rank), calls)
        page = self.page(1, self.path("npu"), self.path("bench"))
        self.assertRegex(page, r"(?m)^ranks 0-2, 5 start at the same call\n +3   Functional\.a\.0\.forward ")
        self.assertRegex(page, r"(?m)^rank 7\n +5   Functional\.b\.0\.forward ")
        self.assertIn("Wrote 8 files to T/out/\n", page)
        self.assertRegex(page, r"next: tdcmp show \S+ Functional\.a\.0\n")

    def test_long_names(self):
        """Nothing wraps, whatever the names; what tells them apart stays."""
        name = "model.decoder.layers.11.self_attention.core_attention.flash_attention.out_projection"
        calls = [("Module.%s.RowParallelLinear" % name, GOOD), ("Functional." + "x" * 200, GOOD),
                 ("Module.模型.解码器." + "层" * 60, GOOD)]
        for side, wrong in (("npu", True), ("bench", False)):
            dump = dumps.Dump(self.path("folder" * 12, side))
            for number, (call, values) in enumerate(calls):
                entry = call + ".0.forward" if call.startswith("Functional") else call + ".forward.0"
                row = entry + ".output.0"
                file = "%d.pt" % number
                dump.file(file, dumps.pt_bytes("f32", [4], dumps.pack("f32", [9.0, 1, 1, 1] if wrong else values)))
                dump.entry(entry, input_args=[], output=[dumps.item("f32", [4], file)])
            dump.write()
        folder = self.path("folder" * 12)
        page = self.page(1, os.path.join(folder, "npu"), os.path.join(folder, "bench"), out="out" * 30)
        self.assertIn("Module.model.decoder.layers.11", page)
        self.assertIn("RowParallelLinear.forward.0\n", page)
        self.assertIn("next: tdcmp show RESULT ", page)

    def test_counts_are_those_of_the_rows(self):
        calls = [("f%d" % i, "input", GOOD) for i in range(4)]
        wrong = [("f0", "input", GOOD), ("f1", "input", [v * (1 + 1e-4) for v in GOOD]),
                 ("f2", "input", [9.0, 9.0, 9.0, 9.0]), ("g", "input", GOOD), ("f3", "input", GOOD)]
        npu, bench = self.side("npu", wrong), self.side("bench", calls)
        os.remove(self.path("bench", "dump_tensor_data", "Functional.f3.0.forward.input.0.pt"))
        page = self.page(2, npu, bench, "-F", "csv")
        self.assertEqual(page.splitlines()[0].split()[0], "DIFFERENT")
        self.assertEqual(page.splitlines()[1], "INCOMPLETE  1 row could not be compared")
        rows = harness.read_csv(harness.only_file(self.path("out"), "csv"))
        verdicts = [row["Accuracy Reached or Not"] for row in rows]
        shown = self.shown(page)
        for word, verdict in (("identical", "identical"), ("rounding", "rounding"), ("close", "close"),
                              ("different", "different"), ("unmatched", "unmatched"), ("errors", "error")):
            self.assertEqual(shown[word], verdicts.count(verdict), word)
        self.assertIn("Unmatched (1): Functional.g.0.forward.input.0 (only in test)\n", page)

    def test_real_runs(self):
        """Correct runs and planted faults of the table in docs/verdicts.md."""
        with tarfile.open(os.environ["TDC_VERDICTS"]) as archive:
            archive.extractall(self.folder)
        at = lambda mode, name: self.path("verdicts", mode, name)
        for name, mode, ref, words in (
                ("mlp_fault_scale", "tensor", "mlp", "inputs identical"),
                ("mlp_fault_nan", "tensor", "mlp", "1 NaN of "),
                ("mlp_fault_weight", "tensor", "mlp", "worst at ["),
                ("bert_drop_fault_seed", "statistics", "bert_drop", "random operator: masks differ"),
                ("mlp_as_eps", "tensor", "mlp", None)):
            with self.subTest(name=name):
                page = self.page(0 if words is None else 1, at(mode, name), at(mode, ref), "--allow-unmatched",
                                 out="out_" + name)
                self.one_judgement(page, at(mode, name), at(mode, ref), out="out_" + name)
                if words is None:
                    self.assertIn(page.split()[0], ("IDENTICAL", "SAME", "CLOSE"))
                    self.assertNotIn("next:", page)
                else:
                    self.assertEqual(page.split()[0], "DIFFERENT")
                    self.assertIn(words, page.split("Where it starts")[1].split("\n\n")[0])


if __name__ == "__main__":
    harness.main()
