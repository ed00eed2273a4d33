"""Hostile names: never cut, never obeyed by a terminal, never beyond UTF-8 in a file."""
import json
import os

import dumps
import harness
from harness import Case
from precheck_case import golden

# What a terminal would obey or a reader not see: ESC, DEL, a C1 control, a change of direction, a line end of yaml.
HOSTILE = "Torch.a\x1b]0;owned\x07\x7f\u009b31m\u202e\u2028\u0085\ufeff\U000e0041.0.forward"
UNSAFE = "\x1b\x07\x7f\u009b\u202e\u2028\u0085\ufeff\U000e0041"


class Names(Case):
    def side(self, name, entries, **more):
        folder = self.path(name)
        os.makedirs(folder, exist_ok=True)
        whole = {"task": "statistics", "level": "L1", "framework": "pytorch", "dump_data_dir": None, "data": entries}
        whole.update(more)
        # ensure_ascii: surrogates and controls as the escapes a collector would write
        harness.write_text(os.path.join(folder, "dump.json"), json.dumps(whole))
        return folder

    def entry(self, *stats):
        return {"input_args": [], "output": [dumps.item("f32", [2], stats=stats or (1.0, 1.0, 1.0, 1.0))]}

    def assert_safe(self, result):
        for text in (result.out, result.err):
            for character in UNSAFE:
                self.assertNotIn(character, text, repr(text))

    def test_no_escape_reaches_the_terminal(self):
        npu = self.side("npu", {HOSTILE: self.entry(5.0, 1.0, 3.0, 9.0), HOSTILE + "x": self.entry()})
        bench = self.side("bench", {HOSTILE: self.entry()})
        rows, result = self.compare(1, npu, bench)
        self.assert_safe(result)
        self.assertIn("\\x1b]0;owned", result.out)
        self.assertIn(HOSTILE + ".output.0", [row["NPU Name"] for row in rows], "files keep the names")
        self.assert_safe(self.run_code(1, "match", npu, bench))
        # a mapping that names what is not there, and a folder that is not
        name = "".join(c if c.isalnum() else "\\U%08x" % ord(c) for c in "gone" + HOSTILE)
        bad = harness.write_text(self.path("map.yaml"), '"%s": x\n' % name)
        result = self.run_code(1, "match", npu, bench, "-m", bad)
        self.assertIn("\\u202e", result.err)
        self.assert_safe(result)
        self.assert_safe(self.run_code(2, "compare", self.path("no\x1b[31m\u202e"), bench))
        self.assert_safe(self.msprobe(0, os.path.join(npu, "dump.json"), os.path.join(bench, "dump.json"))[1])
        self.assert_safe(self.run_code(1, "-f", "pytorch", "run_ut", "-api_info", self.path("no\x1b[31m\u202e.json")))
        self.assert_safe(self.run_code(2, "precheck", npu, "--explain", "no" + HOSTILE))

    def test_precheck_summary(self):
        call = "Torch.abs\x1b[2J\u009b\u202e.0.forward"
        npu = self.side("npu", {call: {"input_args": [dumps.item("f32", [2])], "input_kwargs": {},
                                       "output": [dumps.item("f32", [2])]}})
        result = harness.run("precheck", npu, "-o", self.path("out"))
        self.assertIn("Torch.abs\\x1b[2J\\u009b\\u202e", result.out, str(result))
        self.assert_safe(result)

    def test_nul_does_not_cut_a_name(self):
        for side, first in (("npu", 1.0), ("bench", 1.0)):
            dump = dumps.Dump(self.path(side))
            dump.file("ok.pt", dumps.pt_bytes("f32", [2], dumps.pack("f32", [first, 2.0])))
            item = dumps.item("f32", [2], "ok.pt\0x")
            dump.entry("Torch.a\0b.0.forward", input_args=[item], output=[dumps.item("f32", [2], "ok.pt")])
            dump.write()
        rows, result = self.compare(2, self.path("npu"), self.path("bench"), rows_of="json")
        self.assertEqual([row["NPU Name"] for row in rows], ["ok", "ok"])
        self.assertIn("error", rows[0].values())
        self.assertIn("ok.pt\0x: no file name holds a NUL", rows[0]["Err_message"])
        self.assertNotIn("\0", result.out)
        rows, _ = self.compare(0, self.side("npu2", {"Torch.a\0b.0.forward": self.entry()}),
                               self.side("bench2", {"Torch.a\0b.0.forward": self.entry()}), rows_of="json")
        self.assertEqual([row["NPU Name"] for row in rows], ["Torch.a\0b.0.forward.output.0"])
        # another end behind the NUL is another name
        self.compare(1, self.side("npu3", {"Torch.a\0b.0.forward": self.entry()}),
                     self.side("bench3", {"Torch.a\0c.0.forward": self.entry()}), rows_of="json")

    def test_nul_in_precheck(self):
        dump = dumps.Dump(self.path("npu"))
        dump.file("ok.pt", dumps.pt_bytes("f32", [2], dumps.pack("f32", [1.0, 2.0])))
        dump.entry("Torch.abs.0.forward", input_args=[dumps.item("f32", [2], "ok.pt\0x")], input_kwargs={},
                   output=[dumps.item("f32", [2], "ok.pt")])
        dump.write()
        result = harness.run("precheck", self.path("npu"), "-o", self.path("out"))
        self.assertIn("data_name with a NUL", result.out, str(result))

    def test_a_reason_is_given_once(self):
        tensor = dumps.item("f32", [2])
        npu = self.side("npu", {
            "Functional.dropout.0.forward": {"input_args": [tensor], "input_kwargs": {}, "output": [tensor]},
            "Functional.dropout.0.backward": {"input": [tensor], "output": [tensor]},
            "Torch.rand_like.0.forward": {"input_args": [tensor], "input_kwargs": {}, "output": [tensor]},
            "Torch.rand_like.0.backward": {"input": [tensor], "output": [tensor]}})
        harness.run("precheck", npu, "-o", self.path("out"))
        rows = harness.read_csv(harness.only_file(self.path("out"), "csv", "accuracy_checking_result"))
        self.assertEqual(len(rows), 2)
        for row in rows:
            self.assertLessEqual(row["Message"].count("not reproducible"), 1, row)
            self.assertIn("random api, output is not reproducible", row["Message"])

    def test_lone_surrogates_leave_valid_files(self):
        name = "Torch.a\ud800b\udfff.0.forward"
        npu = self.side("npu", {name: self.entry(5.0, 1.0, 3.0, 9.0)})
        bench = self.side("bench", {name: self.entry()})
        self.run_code(1, "compare", npu, bench, "-o", self.path("out"), "--format", "csv,json")
        found = harness.files_below(self.path("out"))
        self.assertEqual(len(found), 3, found)
        for file in found:
            harness.read_bytes(self.path("out", file)).decode("utf-8", "strict")
        self.assertIn("Suspect Nodes: Torch.a\ufffd",
                      harness.read_text(self.path("out", [n for n in found if n.startswith("advisor")][0])))

    def test_rules_decide_after_all_options(self):
        npu = self.side("npu", {"Functional.abs.0.forward": self.entry()}, framework="mindspore")
        bench = self.side("bench", {"Torch.abs.0.forward": self.entry()})
        self.run_code(0, "match", npu, bench)
        for words in (("--rules", "compat"), ("--rules", "sound", "--rules", "compat")):
            result = self.run_code(1, "match", npu, bench, *words)
            self.assertIn("matched by equal names", result.err)
        self.run_code(0, "match", npu, bench, "--rules", "compat", "--api-mapping")
        self.run_code(0, "match", npu, bench, "--rules", "compat", "--rules", "sound")
        rows, _ = self.compare(1, npu, bench, "--rules", "compat")
        self.assertEqual([row["Bench Name"] for row in rows], ["N/A"])

    def test_profile_decides_after_all_options(self):
        for words, json_written in ((("--profile", "compat"), False), ((), True), (("--no-json",), False),
                                    (("--profile", "compat", "--profile", "extended"), True)):
            out = self.path("out%d" % len(os.listdir(self.folder)))
            harness.run("precheck", golden("ms_edge"), "-o", out, *words)
            self.assertEqual(any(n.endswith(".json") for n in harness.files_below(out)), json_written, words)

    def test_explain_takes_the_names_of_the_tables(self):
        plain = self.run_code(0, "precheck", golden("ms_edge"), "--explain", "Mint.abs.4").out
        for name in ("Mint.abs.4.forward", "Mint.abs.4.forward.output.0", "Mint.abs.4.forward.input.0",
                     "Mint.abs.4.backward"):
            self.assertEqual(self.run_code(0, "precheck", golden("ms_edge"), "--explain", name).out, plain)
        for name in ("Mint.abs.4.", "Mint.abs.4.other", "Mint.abs.44.forward", "Mint.abs.4.forwards"):
            self.run_code(2, "precheck", golden("ms_edge"), "--explain", name)

    def test_help_names_every_bench(self):
        self.assertIn("\n  bench ", self.run_code(0, "--help").out)
        text = self.run_code(0, "bench").out
        for name in ("matrix", "compare", "kernels", "io", "match", "make", "device", "reference"):
            self.assertIn("\n  %s " % name, text)


if __name__ == "__main__":
    harness.main()
