"""`tdcmp match`: pairs, reasons and suggestions."""
import os
import re

import harness
import networks
from mapping_case import MappingCase
from networks import Side, tensor


class Match(MappingCase):
    """`tdcmp match`: the pairing alone."""

    def test_rules_and_reasons(self):
        npu, bench = self.sides()
        calls = (("Tensor.same.0", "Tensor.same.0", {}, {}), ("Functional.abs.0", "Torch.abs.0", {}, {}),
                 ("Functional.lonely.0", None, {}, {}), (None, "Torch.left.0", {}, {}),
                 ("Tensor.shape.0", "Tensor.shape.0", {"shape": [2, 1]}, {}),
                 ("Tensor.type.0", "Tensor.type.0", {"dtype": "i32"}, {}))
        for old, new, npu_more, bench_more in calls:
            for side, name, more in ((npu, old, npu_more), (bench, new, bench_more)):
                if name:
                    side.call(name + ".forward", [tensor(1, 2, **more)])
        npu, bench = npu.write(), bench.write()
        end = ".0.forward.input.0"
        pairs, result = self.match(1, npu, bench)
        self.assertEqual(pairs, [
            ("Tensor.same" + end, "Tensor.same" + end, "equal name"),
            ("Functional.abs" + end, "Torch.abs" + end, "built-in API table"),
            ("Functional.lonely" + end, "-", "no ref row is called 'Functional.lonely%s'" % end),
            ("Tensor.shape" + end, "Tensor.shape" + end, "equal name; shape [2, 1] against [2]"),
            ("Tensor.type" + end, "Tensor.type" + end, "equal name; type Int32 against torch.float32"),
            ("-", "Torch.left" + end, "no test row leads here")])
        self.assertEqual(result.err, "tdcmp: matched by API and cell mapping: 6 rows, 2 without a partner\n")
        self.assertEqual(self.match(1, npu, bench, "-u")[0], [pairs[2], pairs[5]])
        self.assertEqual(self.match(1, npu, bench, "--unmatched")[0], [pairs[2], pairs[5]])
        # compat translates no name unasked
        pairs, _ = self.match(1, npu, bench, "--rules", "compat", "-u")
        self.assertEqual(pairs[0], ("Functional.abs" + end, "-", "no ref row is called 'Functional.abs%s'" % end))
        pairs, _ = self.match(1, npu, bench, "--rules", "compat", "--api-mapping", "-u")
        self.assertEqual(pairs, [
            ("Functional.lonely" + end, "-", "no ref row is called 'Functional.lonely%s'" % end),
            ("Tensor.shape" + end, "-", "'Tensor.shape%s' has shape [2], not [2, 1]" % end),
            ("Tensor.type" + end, "-", "'Tensor.type%s' has type torch.float32, not Int32" % end)])

    def test_files_and_cells(self):
        npu, bench = self.sides()
        npu.call("Cell.a.Dense.forward.0", [tensor(1.0)])
        bench.call("Module.a.Linear.forward.0", [tensor(1.0)])
        npu.call("Functional.x.0.forward", [tensor(1.0), tensor(1.0)])
        bench.call("Torch.y.0.forward", [tensor(1.0)])
        npu, bench = npu.write(), bench.write()
        cells = self.file("a.Dense: a.Linear\n", "cells.yaml")
        apis = self.file("- ms_api: Functional.x\n  pt_api: Torch.y\n  ms_args: [0]\n  pt_args: [0]\n", "apis.yaml")
        pairs, _ = self.match(1, npu, bench, "--cell-mapping=" + cells, "--api-mapping=" + apis)
        self.assertEqual([p[2] for p in pairs], ["cell mapping", "API mapping file",
                                                 "no ref row is called 'Torch.y.0.forward.input.1abandoned'"])
        rows = self.file("Functional.x.0.forward.input.1: Torch.y.0.forward.input.0\n", "rows.yaml")
        pairs, _ = self.match(1, npu, bench, "-m", rows)
        self.assertEqual([p[2] for p in pairs][:3], ["no ref row is called 'Cell.a.Dense.forward.0.input.0'",
                                                     "no ref row is called 'Functional.x.0.forward.input.0'",
                                                     "data mapping"])

    def test_fuzzy(self):
        npu, bench = self.sides(bench="mindspore")
        npu.call("Mint.add.4.forward", [tensor(1.0)])
        npu.call("Mint.extra.0.forward", [tensor(1.0)])
        bench.call("Mint.add.0.forward", [tensor(1.0)])
        pairs, result = self.match(1, npu.write(), bench.write(), "--fuzzy")
        self.assertEqual([p[1:] for p in pairs], [
            ("Mint.add.0.forward.input.0", "fuzzy name"),
            ("-", "no ref row that follows has this name without its call number, and this shape")])
        self.assertIn("matched by fuzzy names", result.err)

    def test_several_ranks(self):
        for side, framework in (("npu", "mindspore"), ("bench", "mindspore")):
            for rank in range(2):
                made = Side(self.path(side, "step0", "rank%d" % rank), framework)
                made.call("Mint.add.0.forward", [tensor(1.0)])
                made.write()
        result = self.run_code(0, "match", self.path("npu"), self.path("bench"), "--step", "0")
        self.assertEqual([line for line in result.out.splitlines() if line.startswith("#")],
                         ["# %s against %s" % (self.path("npu", "step0", rank, "dump.json"),
                                               self.path("bench", "step0", rank, "dump.json"))
                          for rank in ("rank0", "rank1")])
        result = self.run_code(2, "match", self.path("npu"), self.path("bench"), "-l", "--save", self.path("x.yaml"))
        self.assert_one_line(result.err, "--save", "2 ranks or steps")
        self.assertFalse(os.path.exists(self.path("x.yaml")))

    def test_suggest(self):
        npu, bench = self.guide(3, first=7)
        suggested = self.run_code(0, "match", npu.folder, bench.folder, "--suggest")
        lines = {(section, old, new) for section, rules in networks.GUIDE.items() for old, new in rules.items()}
        found = set()
        for line in suggested.out.splitlines():
            if line and not line.startswith(" "):
                section = line.rstrip(":")
            elif line:
                found.add((section, *line.strip().split(": ")))
        self.assertEqual(found, lines)
        file = self.file(suggested.out)
        pairs, result = self.match(0, npu.folder, bench.folder, "--layer-mapping=" + file)
        self.assertEqual({reason for _, _, reason in pairs}, {"layer mapping"})
        self.assertIn("0 without a partner", result.err)
        # auto applies the same and says so
        for words in (("match",), ("compare", "-o", self.path("auto.csv"))):
            applied = harness.run(words[0], npu.folder, bench.folder, *words[1:], "--layer-mapping=auto")
            self.assertRegex(applied.err, r"--layer-mapping=auto: \d+ names? paired by shape and place")
        self.assertEqual(harness.run("match", npu.folder, bench.folder, "--layer-mapping", "auto").out,
                         harness.run("match", npu.folder, bench.folder, "--layer-mapping=" + file).out)
        # nothing is left to be suggested
        result = self.run_code(0, "match", npu.folder, bench.folder, "--layer-mapping=" + file, "--suggest")
        self.assertEqual(result.out, "")
        self.assertIn("no name could be suggested", result.err)

    def test_suggest_with_part_of_a_file(self):
        """The rest of a file is proposed, keys with dots are followed."""
        npu, bench = self.guide(2)
        file = self.file("TopLayer:\n  network_with_loss.embedding.dropout: module.embedding.embedding_dropout\n"
                         "  network_with_loss: module\nParallelTransformerLayer:\n  attention: self_attention\n")
        result = self.run_code(0, "match", npu.folder, bench.folder, "--layer-mapping=" + file, "--suggest")
        self.assertEqual(result.out, "ParallelAttention:\n  qkv_proj: query_key_value\n  out_proj: dense\n\n"
                                     "ParallelMLP:\n  mapping: dense_h_to_4h\n  projection: dense_4h_to_h\n")

    def test_suggest_prefers_the_same_class(self):
        npu, bench = self.sides()
        for side, top, names in ((npu, "Cell", (("drop", "Dropout"), ("proj", "Dense"))),
                                 (bench, "Module", (("out", "Dense"),))):
            side.call(top + ".net.Net.forward.0", [tensor(1.0)])
            for name, kind in names:
                side.call("%s.net.%s.%s.forward.0" % (top, name, kind), [tensor(1.0, 2.0)])
            side.write(stack={"x": []})
        result = self.run_code(0, "match", npu.folder, bench.folder, "--suggest")
        self.assertEqual(result.out, "Net:\n  proj: out\n")

    def test_suggest_needs_equal_shapes(self):
        npu, bench = self.sides()
        for side, top, name, size in ((npu, "Cell", "a", 2), (bench, "Module", "b", 3)):
            side.call(top + ".net.Net.forward.0", [tensor(1.0)])
            side.call("%s.net.%s.Dense.forward.0" % (top, name), [tensor(*range(size))])
            side.write(stack={"x": []})
        result = self.run_code(0, "match", npu.folder, bench.folder, "--suggest")
        self.assertEqual(result.out, "")

    def test_suggest_for_several_ranks(self):
        """One file for all: each section once."""
        for rank, kind in enumerate((("embed", "embedding"), ("head", "lm_head"))):
            for side, top, framework, number in (("npu", "Cell", "mindspore", 0), ("bench", "Module", "pytorch", 1)):
                made = Side(self.path(side, "rank%d" % rank), framework)
                made.call("%s.%s.Net.forward.0" % (top, ("net", "module")[number]), [tensor(1.0)])
                made.call("%s.%s.%s.Dense.forward.0" % (top, ("net", "module")[number], kind[number]),
                          [tensor(1.0, 2.0)])
                made.write(stack={"x": []})
        result = self.run_code(0, "match", self.path("npu"), self.path("bench"), "--suggest")
        self.assertEqual(result.out, "Net:\n  embed: embedding\n  head: lm_head\n\nTopLayer:\n  net: module\n")
        self.match(0, self.path("npu"), self.path("bench"), "--layer-mapping=" + self.file(result.out))

    def test_suggest_without_places(self):
        npu, bench = self.guide(1)
        npu.write(stack=False, construct=False)
        result = self.run_code(2, "match", npu.folder, bench.folder, "--suggest")
        self.assertIn("suggestions need stack.json and construct.json beside both dumps", result.err)
        self.assertEqual(result.out, "")

    def test_odd_names(self):
        """Names in yaml and on the terminal cannot break out."""
        npu, bench = self.sides()
        odd = "it's: a #\"b\\\x1b[31m"
        for side, top, name in ((npu, "Cell", odd), (bench, "Module", "null")):
            side.call(top + ".net.Net.forward.0", [tensor(1.0)])
            side.call("%s.net.%s.Dense.forward.0" % (top, name), [tensor(1.0, 2.0)])
            side.write(stack={"x": []})
        result = self.run_code(0, "match", npu.folder, bench.folder, "--suggest")
        self.assertEqual(result.out, "Net:\n  \"it's: a #\\\"b\\\\\\x1B[31m\": 'null'\n\nTopLayer:\n"
                         .split("\n\nTopLayer")[0] + "\n")
        self.match(0, npu.folder, bench.folder, "--layer-mapping=" + self.file(result.out))
        result = self.run_code(1, "match", npu.folder, bench.folder, "-l")
        self.assertNotIn("\x1b", result.out)
        self.assertIn("\\x1b[31m.Dense.forward.0.input.0\t-\tref layer 'net' has no", result.out)

    def test_exit_codes_and_save(self):
        npu, bench = self.sides()
        result = self.run_code(2, "match", npu.write(), bench.write())
        self.assertIn("neither dump has a row", result.err)
        npu, bench = self.guide(1)
        result = self.run_code(2, "match", npu.folder, bench.folder, "--api-mapping", "--save", self.path("x.yaml"))
        self.assertIn("there is no layer mapping to write", result.err)
        result = self.run_code(2, "match", npu.folder, bench.folder, "-l", "--save", self.path("none", "x.yaml"))
        self.assertIn(self.path("none", "x.yaml"), result.err)
        self.run_code(2, "match", npu.folder, self.path("nowhere"))
        self.run_code(2, "match", npu.folder)
        for words in (["--rules", "mine"], ["--step", "x"], ["--nonsense"]):
            self.run_code(2, "match", npu.folder, bench.folder, *words)
        with open("/dev/full", "w") as full:
            code = harness.subprocess.run([harness.TDCMP, "match", npu.folder, bench.folder], stdout=full,
                                          stderr=harness.subprocess.DEVNULL).returncode
        self.assertEqual(code, 2)

    def test_help(self):
        result = self.run_code(0, "match", "--help")
        self.assertIn("usage: tdcmp match", result.out)
        self.assertEqual(result.err, "")


class Bench(MappingCase):
    """`tdcmp bench match`: its numbers are not tested, that it makes and matches dumps is."""

    def test_table(self):
        result = self.run_code(0, "bench", "match", "--records", "300,2k", "--repeat", "1", "--dir", self.folder)
        self.assertRegex(result.out, r"network +records +load +exact +fuzzy +names +layers +suggest")
        rows = re.findall(r"(?m)^(layers|place) +(\d+)(?: +\d+){6} +[\d.]+$", result.out)
        self.assertEqual([name for name, _ in rows], ["layers"] * 2 + ["place"] * 2)
        for (_, records), least in zip(rows, (300, 2000) * 2):
            self.assertTrue(least <= int(records) < least + 60)
        self.assertEqual(os.listdir(self.folder), [])
        self.run_code(0, "bench", "match", "--records", "300", "--repeat", "1", "--rules", "compat")

    def test_mistakes(self):
        for words in (["--records", "0"], ["--records", "1,x"], ["--records", ""], ["--repeat", "0"], ["extra"],
                      ["--rules", "mine"], ["--dir", self.path("none")]):
            result = self.run_code(2, "bench", "match", *words)
            self.assertEqual(result.out.count("records"), 0, words)


if __name__ == "__main__":
    harness.main()
