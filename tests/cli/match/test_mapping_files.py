"""Mistakes in mapping files: one line with file and line number each."""
import re

import harness
from mapping_case import MappingCase


class Mistakes(MappingCase):
    """One line with file and line number, whatever is wrong with a mapping file."""

    def setUp(self):
        super().setUp()
        npu, bench = self.guide(1)
        self.npu, self.bench = npu.folder, bench.folder

    FRIENDLY = {"-dm": "--data-mapping", "-cm": "--cell-mapping", "-am": "--api-mapping", "-lm": "--layer-mapping"}

    def refused(self, option, text, *parts):
        file = self.file(text)
        with self.subTest(option=option, text=text):
            result = self.run_code(2, "match", self.npu, self.bench, self.FRIENDLY[option] + "=" + file)
            self.assert_one_line(result.err, *parts)
            self.assertEqual(result.out, "")
            out = self.path("out")
            result = self.run_code(2, "compare", self.npu, self.bench, "-o", out, self.FRIENDLY[option] + "=" + file)
            self.assert_one_line(result.err, *parts)
            _, result, folder = self.mindspore(1, self.npu, self.bench, option, file)
            for part in parts:
                self.assertIn(part, result.err)
            self.assert_nothing_left(folder)
            self.assert_nothing_left(out)

    def warned(self, option, text, *lines, code=1):
        """Each of the lines is a warning of its own, in this order."""
        file = self.file(text)
        with self.subTest(option=option, text=text):
            result = self.run_code(code, "match", self.npu, self.bench, self.FRIENDLY[option] + "=" + file)
            found = re.findall(r"(?m)^tdcmp: warning: (.*)$", result.err)
            self.assertEqual(found, ["%s%s" % (file, line) for line in lines])
            _, result, _ = self.mindspore(0, self.npu, self.bench, option, file)
            for line in lines:
                self.assertIn("[WARNING] %s%s\n" % (file, line), result.err)

    def test_duplicate_keys(self):
        for option, text in (("-dm", "a: b\nc: d\na: e\n"), ("-cm", "a: b\nc: d\na: e\n"),
                             ("-lm", "A:\n  a: b\nB:\n  c: d\nA:\n  e: f\n"),
                             ("-am", "- ms_api: A.b\n  pt_api: C.d\n  ms_api: E.f\n")):
            lines = {"-dm": (":3:", "line 1"), "-cm": (":3:", "line 1"), "-lm": (":5:", "line 1"),
                     "-am": (":3:", "line 1")}[option]
            self.refused(option, text, "map.yaml" + lines[0], lines[1])
        self.refused("-lm", "A:\n  a: b\n  x: y\n  a: c\n", "map.yaml:4:", "line 2")

    def test_types(self):
        for option, text, place, part in (
                ("-dm", "- a\n- b\n", ":1:", "test row name: ref row name"),
                ("-dm", "a\n", ":1:", "test row name: ref row name"),
                ("-dm", "x: y\na: [b]\n", ":2:", "'a' must be mapped to one name"),
                ("-dm", "x: y\na:\n  b: c\n", ":3:", "'a' must be mapped to one name"),
                ("-dm", "a:\nb: c\n", ":1:", "'a' must be mapped to one name"),
                ("-cm", "- a: b\n", ":1:", "cell.Class: module.Class"),
                ("-cm", "a: [b]\n", ":1:", "'a' must be mapped to one name"),
                ("-lm", "- a\n", ":1:", "sections 'LayerType:'"),
                ("-lm", "word\n", ":1:", "sections 'LayerType:'"),
                ("-lm", "A:\n  a: b\nB: c\n", ":3:", "section 'B'"),
                ("-lm", "A:\n  a: b\nB: [c]\n", ":3:", "section 'B'"),
                ("-lm", "A:\nB:\n  a: b\n", ":1:", "section 'A'"),
                ("-lm", "A:\n  a: [b]\n", ":2:", "'a' must be mapped to one name"),
                ("-lm", "A:\n  x: y\n  a: {b: c}\n", ":3:", "'a' must be mapped to one name"),
                ("-lm", "A:\n  x: y\n  a:\n", ":3:", "'a' must be mapped to one name"),
                ("-am", "word\n", ":1:", "an api mapping is a list of entries"),
                ("-am", "- ms_api: A.b\n  pt_api: C.d\n- word\n", ":3:", "an api mapping is a list of entries"),
                ("-am", "- - ms_api: A.b\n", ":1:", "an api mapping is a list of entries"),
                ("-am", "- ms_api: A.b\n", ":1:", "both ms_api and pt_api"),
                ("-am", "- pt_api: A.b\n  ms_api:\n", ":1:", "both ms_api and pt_api"),
                ("-am", "- ms_api: [A.b]\n  pt_api: C.d\n", ":1:", "both ms_api and pt_api"),
                ("-am", "ms_api: A.b\npt_api: C.d\nms_args: 0\n", ":3:", "'ms_args' must be a list of indices"),
                ("-am", "ms_api: A.b\npt_api: C.d\nms_args:\n", ":3:", "'ms_args' must be a list of indices"),
                ("-am", "ms_api: A.b\npt_api: C.d\npt_output: {a: b}\n", ":3:", "'pt_output' must be a list"),
                ("-am", "ms_api: A.b\npt_api: C.d\nms_args: [0,\n [1]]\n", ":4:", "'ms_args' must hold indices"),
                ("-am", "ms_api: A.b\npt_api: C.d\nms_args: [~]\n", ":3:", "'ms_args' must hold indices")):
            self.refused(option, text, "map.yaml" + place, part)

    def test_not_yaml(self):
        for option in self.FRIENDLY:
            self.refused(option, "a: [b\n", "map.yaml:")
            self.refused(option, "a: &x b\nc: *x\n", "map.yaml:")
            result = self.run_code(2, "match", self.npu, self.bench, self.FRIENDLY[option] + "=" + self.path("none"))
            self.assert_one_line(result.err, self.path("none"), "No such file")

    def test_empty_files(self):
        for option in self.FRIENDLY:
            for text in ("", "# nothing\n", "---\n"):
                self.warned(option, text)

    def test_unknown_layers(self):
        self.warned("-lm", "TopLayer:\n  network_with_loss: module\nParalelAttention:\n  qkv_proj: query_key_value\n",
                    ":3: the test network has no layer of type 'ParalelAttention'",
                    ":4: no layer is called 'qkv_proj' there; the line has no effect")
        self.warned("-lm", "TopLayer:\n  network: module\n",
                    ":2: no layer is called 'network' there; the line has no effect")

    def test_names_used_twice(self):
        self.warned("-lm", "ParallelAttention:\n  qkv_proj: dense\n  out_proj: dense\nTopLayer:\n"
                    "  network_with_loss: module\nParallelTransformerLayer:\n  attention: self_attention\n",
                    ":3: 'dense' is used twice in 'ParallelAttention', first in line 2")
        cells = ("network_with_loss.embedding.Embedding", "network_with_loss.embedding.dropout.Dropout")
        self.warned("-cm", "%s: x.Y\n%s: x.Y\n" % cells, ":2: 'x.Y' is used twice, first in line 1")
        rows = ["Cell.network_with_loss.GPTModel.forward.0.%s.0" % end for end in ("input", "output")]
        self.warned("-dm", "%s: a\n%s: a\n" % tuple(rows), ":2: 'a' is used twice, first in line 1")
        self.warned("-dm", "%s: N/A\n%s: N/A\n" % tuple(rows))

    def test_names_of_nobody(self):
        self.warned("-dm", "nobody: x\n", ":1: no test row is called 'nobody'")
        self.warned("-cm", "nobody.Cell: x\n", ":1: no cell of the test dump is called 'nobody.Cell'")
        self.warned("-am", "- ms_api: Functional.nobody\n  pt_api: Torch.add\n",
                    ":1: the test dump has no API 'Functional.nobody'")
        self.warned("-am", "- ms_api: Functional.add\n  pt_api: Torch.nobody\n",
                    ":1: the ref dump has no API 'Torch.nobody'")

    def test_api_entries(self):
        head = "- ms_api: Functional.add\n  pt_api: Torch.add\n"
        self.warned("-am", head + "  ms_args: [0, 1]\n  pt_args: [0]\n",
                    ":1: ms_args and pt_args differ in length; the entry is passed over")
        self.warned("-am", head + "  ms_args: [0]\n",
                    ":1: ms_args and pt_args differ in length; the entry is passed over")
        self.warned("-am", head + "  ms_arg: [0]\n  pt_args: []\n", ":3: 'ms_arg' is not known and has no effect")
        self.warned("-am", head + "  ms_args: []\n")
        self.warned("-am", head + head, ":3: 'Functional.add' has an entry already; the later one counts")

    def test_many_mistakes_are_summed_up(self):
        lines = "".join("nobody%d: x%d\n" % (i, i) for i in range(25))
        result = self.run_code(1, "match", self.npu, self.bench, "-m", self.file(lines))
        self.assertEqual(result.err.count("no test row is called"), 10)
        self.assertIn(":25: the last of 15 more names that fit no test row", result.err)
        result = self.run_code(1, "match", self.npu, self.bench, "--layer-mapping=" + self.file(
            "TopLayer:\n" + "".join("  nobody%d: x%d\n" % (i, i) for i in range(25))))
        self.assertEqual(result.err.count("the line has no effect"), 10)
        self.assertIn("the last of 15 more lines without effect", result.err)

    def test_pytorch_has_no_such_mappings(self):
        for option in ("-cm", "-am"):
            _, result, _ = self.msprobe(1, self.npu, self.bench, option)
            self.assertIn("Argument -cm or -am is not supported in PyTorch framework", result.err)


if __name__ == "__main__":
    harness.main()
