"""`tdcmp compare NPU BENCH` as a person uses it: what it finds, what it says, where it says it."""
import json
import os
import pty
import re
import select
import stat
import subprocess

import dumps
import harness
import xlsx

GOOD = [0.5, 1.5, -2.0, 3.25]


class Places(harness.Case):
    """Files, rank folders, step folders and dump roots on either side."""

    def place(self, side, *parts, values=None, name="dump.json"):
        dump = dumps.Dump(self.path(side, *parts), name=name)
        if name == "debug.json":
            dump.file("x.0.debug.pt", dumps.pt_bytes("f32", [4], dumps.pack("f32", values or GOOD)))
            dump.data["x.0.debug"] = dumps.item("f32", [4], "x.0.debug.pt")
        else:
            dump.call("f", "input", values or GOOD)
        return dump.write()

    def results(self, code, npu, bench, *options):
        """{name of a csv without its stamp: rows}, and the run."""
        out = self.path("out-%d" % len(os.listdir(self.folder)))
        result = self.run_code(code, "compare", npu, bench, "-o", out, "-F", "csv", "--no-advice", *options)
        return {harness.stampless(n): harness.read_csv(os.path.join(out, n)) for n in harness.files_below(out)}, result

    def test_two_files(self):
        found, _ = self.results(0, self.place("npu"), self.place("bench"))
        self.assertEqual(list(found), ["compare_result_STAMP.csv"])

    def test_rank_folders(self):
        self.place("npu")
        self.place("bench")
        found, _ = self.results(0, self.path("npu"), self.path("bench"))
        self.assertEqual(list(found), ["compare_result_STAMP.csv"])

    def test_a_folder_and_a_file(self):
        npu, bench = self.place("npu"), self.place("bench")
        self.assertEqual(len(self.results(0, self.path("npu"), bench)[0]), 1)
        self.assertEqual(len(self.results(0, npu, self.path("bench"))[0]), 1)
        os.remove(npu)
        _, result = self.results(2, self.path("npu"), bench)
        self.assert_one_line(result.err, self.path("npu"))

    def make_steps(self):
        for side in ("npu", "bench"):
            for step in (0, 7):
                for rank in (0, 1, 10):
                    # rank10 of step7 differs
                    changed = side == "npu" and step == 7 and rank == 10
                    self.place(side, "step%d" % step, "rank%d" % rank, values=[9.0, 1, 1, 1] if changed else GOOD)

    def test_step_folders(self):
        self.make_steps()
        found, result = self.results(0, self.path("npu", "step0"), self.path("bench", "step0"))
        self.assertEqual(set(found), {"compare_result_rank%d_STAMP.csv" % r for r in (0, 1, 10)})
        self.assertEqual(result.out.splitlines()[0], "IDENTICAL   3 tensors, 3 calls")
        found, result = self.results(1, self.path("npu", "step7"), self.path("bench", "step7"))
        self.assertEqual(found["compare_result_rank10_STAMP.csv"][0]["Accuracy Reached or Not"], "different")
        self.assertEqual(found["compare_result_rank1_STAMP.csv"][0]["Accuracy Reached or Not"], "identical")
        self.assertRegex(result.out, r"(?m)^rank 10\n +2 +Functional\.f\.0\.forward\.input\.0 ")

    def test_roots(self):
        self.make_steps()
        found, _ = self.results(1, self.path("npu"), self.path("bench"))
        self.assertEqual(sorted(found), sorted("compare_result_step%d_rank%d_STAMP.csv" % (s, r)
                                               for s in (0, 7) for r in (0, 1, 10)))
        found, _ = self.results(0, self.path("npu"), self.path("bench"), "--step", "0")
        self.assertEqual(set(found), {"compare_result_step0_rank%d_STAMP.csv" % r for r in (0, 1, 10)})
        found, _ = self.results(1, self.path("npu"), self.path("bench"), "--step=7")
        self.assertEqual(len(found), 3)
        _, result = self.results(2, self.path("npu"), self.path("bench"), "--step", "3")
        self.assert_one_line(result.err, self.path("npu"), "step 3")

    def test_different_ranks(self):
        for rank in (0, 1, 2):
            self.place("npu", "step0", "rank%d" % rank)
        for rank in (1, 2, 5):
            self.place("bench", "step0", "rank%d" % rank)
        found, result = self.results(1, self.path("npu", "step0"), self.path("bench", "step0"))
        self.assertEqual(sorted(found), ["compare_result_rank1_STAMP.csv", "compare_result_rank2_STAMP.csv"])
        self.results(0, self.path("npu", "step0"), self.path("bench", "step0"), "--allow-unmatched")
        self.assertIn(self.path("npu", "step0", "rank0"), result.err)
        self.assertIn(self.path("bench", "step0", "rank5"), result.err)

    def test_no_rank_in_common(self):
        for side, ranks in (("npu", (4, 5)), ("bench", (0, 1))):
            for rank in ranks:
                self.place(side, "rank%d" % rank, values=[float(rank % 4)] * 4)
        found, result = self.results(0, self.path("npu"), self.path("bench"))
        self.assertEqual(sorted(found), ["compare_result_rank4_STAMP.csv", "compare_result_rank5_STAMP.csv"])
        self.assertIn("by position", result.err)

    def test_one_bad_rank_does_not_stop_the_others(self):
        for side in ("npu", "bench"):
            for rank in range(3):
                path = self.place(side, "rank%d" % rank)
                if side == "npu" and rank == 1:
                    harness.write_text(path, "{")
        found, result = self.results(2, self.path("npu"), self.path("bench"))
        self.assertEqual(sorted(found), ["compare_result_rank0_STAMP.csv", "compare_result_rank2_STAMP.csv"])
        self.assertRegex(result.out, r"\AIDENTICAL .*\nINCOMPLETE  1 dump could not be compared\n")
        self.assertRegex(result.out, r"(?m)^Not compared:\n  rank1   test: ")

    def test_single_point(self):
        for side in ("npu", "bench"):
            self.place(side, "rank0", name="debug.json")
        found, _ = self.results(0, self.path("npu", "rank0", "debug.json"), self.path("bench", "rank0", "debug.json"))
        self.assertEqual(list(found), ["debug_compare_result_STAMP.csv"])
        self.assertEqual(found["debug_compare_result_STAMP.csv"][0]["NPU Name"], "x.0.debug")
        # ranks that hold nothing but a debug.json, which the original cannot do
        found, _ = self.results(0, self.path("npu"), self.path("bench"))
        self.assertEqual(list(found), ["debug_compare_result_rank0_STAMP.csv"])
        self.place("npu", "rank0")
        self.place("bench", "rank0")
        found, _ = self.results(0, self.path("npu"), self.path("bench"))
        self.assertEqual(sorted(found), ["compare_result_rank0_STAMP.csv", "debug_compare_result_rank0_STAMP.csv"])

    def test_places_that_are_not_there(self):
        self.place("npu")
        os.makedirs(self.path("empty"))
        _, result = self.results(2, self.path("npu"), self.path("nowhere"))
        self.assert_one_line(result.err, self.path("nowhere"), "No such file or directory")
        _, result = self.results(2, self.path("npu"), self.path("empty"))
        self.assert_one_line(result.err, self.path("empty"), "no dump.json")

    def test_unusual_names(self):
        for number, name in enumerate(("with space", "a+b", "größe 模型", "quote'\"", "-dash", "semi;colon", "per%cent")):
            with self.subTest(name=name):
                for side in ("npu", "bench"):
                    self.place("%d" % number, name, side)
                parent = self.path("%d" % number, name)
                found, result = self.results(0, os.path.join(parent, "npu"), os.path.join(parent, "bench"))
                self.assertEqual(len(found), 1)
                out = os.path.join(parent, "out put+")
                result = self.run_code(0, "compare", os.path.join(parent, "npu"), os.path.join(parent, "bench"), "-o", out)
                self.assertRegex(result.out, r"(?m)^Wrote ")
                self.assertIn("Wrote %s/compare_result" % out,
                              self.run_code(0, "compare", os.path.join(parent, "npu"), os.path.join(parent, "bench"),
                                            "-v", "-o", out).out)
                self.assertEqual(len(harness.files_below(out)), 4)
                config = {"npu_path": os.path.join(parent, "npu", "dump.json"),
                          "bench_path": os.path.join(parent, "bench", "dump.json")}
                path = harness.write_text(os.path.join(parent, "my compare.json"), json.dumps(config, ensure_ascii=False))
                self.run_code(0, "-f", "pytorch", "compare", "-i", path, "-o", out + "2")
                self.assertEqual(len(harness.files_below(out + "2")), 2)

    def test_symbolic_links(self):
        self.place("real_npu")
        self.place("bench")
        os.symlink(self.path("real_npu"), self.path("npu"))
        found, _ = self.results(0, self.path("npu"), self.path("bench"))
        self.assertEqual(len(found), 1)
        os.makedirs(self.path("linked"))
        os.symlink(self.path("real_npu", "dump.json"), self.path("linked", "dump.json"))
        os.makedirs(self.path("linked", "dump_tensor_data"))
        name = "Functional.f.0.forward.input.0.pt"
        os.symlink(self.path("real_npu", "dump_tensor_data", name), self.path("linked", "dump_tensor_data", name))
        found, _ = self.results(0, self.path("linked"), self.path("bench"))
        self.assertEqual(found["compare_result_STAMP.csv"][0]["Accuracy Reached or Not"], "identical")
        rows, _, _ = self.msprobe(0, self.path("linked", "dump.json"), self.path("bench", "dump.json"))
        self.assertEqual(rows[0]["Accuracy Reached or Not"], "Yes")

    def test_read_only_dumps(self):
        for side in ("npu", "bench"):
            self.place(side)
            before = self.listing(self.path(side))
            for at, _, names in os.walk(self.path(side)):
                for name in names:
                    os.chmod(os.path.join(at, name), 0o400)
                os.chmod(at, 0o500)
        found, _ = self.results(0, self.path("npu"), self.path("bench"))
        self.assertEqual(len(found), 1)
        rows, _, _ = self.msprobe(0, self.path("npu", "dump.json"), self.path("bench", "dump.json"))
        self.assertEqual(len(rows), 1)
        # and nothing was put into them, which root could have done
        self.assertEqual(self.listing(self.path("bench")), before)

    def listing(self, folder):
        return sorted(os.path.join(at, n) for at, _, names in os.walk(folder) for n in names)


class Results(harness.Case):
    """The files of a run, the summary, the exit code."""

    def make(self, npu=None, bench=None):
        sides = []
        for side, tensors in (("npu", npu), ("bench", bench)):
            dump = dumps.Dump(self.path(side))
            for name, values in (tensors or {"f": GOOD}).items():
                dump.call(name, "input", values)
            sides.append(dump)
        return sides

    def write(self, sides):
        return [side.write() for side in sides]

    def test_formats(self):
        sides = self.write(self.make({"f": GOOD, "g": [float("inf"), float("nan")]}, {"f": GOOD, "g": [1.0, 2.0]}))
        out = self.path("out")
        self.run_code(1, "compare", *sides, "-o", out, "--format", "csv,json,xlsx")
        self.assertEqual([harness.stampless(n) for n in harness.files_below(out)],
                         ["advisor_STAMP.txt", "compare_result_STAMP.csv", "compare_result_STAMP.json",
                          "compare_result_STAMP.xlsx"])
        for name in harness.files_below(out):
            self.assertEqual(stat.S_IMODE(os.stat(os.path.join(out, name)).st_mode), 0o640)
        self.assertEqual(stat.S_IMODE(os.stat(out).st_mode), 0o750)
        table = harness.read_csv(harness.only_file(out, "csv"))
        objects = harness.json_rows(harness.only_file(out, "json"))
        sheet = xlsx.Workbook(harness.only_file(out, "xlsx")).sheets[0]
        self.assertEqual(list(table[0]), sheet.texts[0])
        self.assertEqual(len(objects), 2)
        for row, (found, cells) in enumerate(zip(objects, sheet.texts[1:])):
            self.assertEqual(list(table[row].values()), [cell for cell in cells])
            self.assertEqual(found["NPU Name"], table[row]["NPU Name"])
        # the default is xlsx alone
        self.run_code(1, "compare", *sides, "-o", self.path("default"))
        self.assertEqual([harness.stampless(n) for n in harness.files_below(self.path("default"))],
                         ["advisor_STAMP.txt", "compare_result_STAMP.xlsx"])

    def test_polished_sheet(self):
        sides = self.write(self.make({"f": GOOD, "g": [5.0, 5.0]}, {"f": GOOD, "g": [1.0, 2.0]}))
        out = self.path("out")
        self.run_code(1, "compare", *sides, "-o", out)
        sheet = xlsx.Workbook(harness.only_file(out, "xlsx")).sheets[0]
        self.assertEqual(sheet.frozen_rows, 1)
        self.assertTrue(sheet.bold_header)
        self.assertEqual(xlsx.column_number(sheet.filter.split(":")[1]) + 1, len(sheet.texts[0]))
        self.assertTrue(sheet.filter.startswith("A1:"))
        self.assertTrue(sheet.filter.endswith("3"))
        widths = dict(zip(sheet.texts[0], (sheet.widths.get(k, 0) for k in range(len(sheet.texts[0])))))
        self.assertGreater(widths["NPU Name"], widths["Cosine"])
        self.assertGreater(widths["Err_message"], widths["Cosine"])

    def test_formulas_are_escaped(self):
        """Texts that a spreadsheet would run; the original refuses them or writes formulas."""
        texts = ["=1+1", "+cmd", "-cmd|' /C calc'!A0", "@SUM(A1)", "plain"]
        for dump in self.make():
            dump.entry("Functional.t.0.forward", input_args=[{"type": "str", "value": text} for text in texts])
            dump.write()
        sides = self.path("npu"), self.path("bench")
        out = self.path("out")
        self.run_code(0, "compare", *sides, "-o", out, "--format", "csv,xlsx,json")
        rows = harness.by_name(harness.read_csv(harness.only_file(out, "csv")))
        objects = harness.by_name(harness.json_rows(harness.only_file(out, "json")))
        for number, text in enumerate(texts):
            name = "Functional.t.0.forward.input.%d" % number
            self.assertEqual(rows[name]["NPU max"], text if text == "plain" else "'" + text)
            self.assertEqual(objects[name]["NPU max"], text)
        sheet = xlsx.Workbook(harness.only_file(out, "xlsx")).sheets[0]
        self.assertEqual({kind for row in sheet.types for kind in row} - {"s", "n", "b", "-"}, set())
        # negative numbers stay numbers
        self.assertEqual(rows["Functional.f.0.forward.input.0"]["NPU min"], "-1")

    def test_bench_only_rows_follow_at_the_end(self):
        sides = self.write(self.make({"a": GOOD, "b": GOOD, "d": GOOD}, {"x": GOOD, "a": GOOD, "y": GOOD, "d": GOOD}))
        rows, _ = self.compare(1, *sides)
        pairs = [(row["NPU Name"].split(".")[1:2], row["Bench Name"].split(".")[1:2]) for row in rows]
        self.assertEqual(pairs, [(["a"], ["a"]), (["b"], []), (["d"], ["d"]), ([], ["x"]), ([], ["y"])])
        self.assertEqual([row["NPU Name"] for row in rows[3:]], ["N/A", "N/A"])
        self.assertEqual(rows[1]["Bench Name"], "N/A")
        self.assertEqual([row["Accuracy Reached or Not"] for row in rows],
                         ["identical", "unmatched", "identical", "unmatched", "unmatched"])
        self.assertEqual(rows[1]["Err_message"].split("\n")[0], "No ref data matched.")
        self.assertEqual(rows[3]["Err_message"].split("\n")[0], "No test data matched.")
        self.compare(0, *sides, "--allow-unmatched")
        rows, _, _ = self.msprobe(0, *sides)
        self.assertEqual(len(rows), 3)

    def test_messages_once(self):
        """Sixteen times in the original for single numbers, once per input for colours."""
        npu, bench = self.make()
        for dump, wrong in ((npu, True), (bench, False)):
            for name in ("a", "b", "c"):
                dump.call("big", "input", [1.0, 2.0, 3.0])
            dump.call("big", "output", [9e11, 1.0, 1.0] if wrong else [1.0, 1.0, 1.0], requires_grad=wrong)
            dump.call("number", "input", [1.0], [])
            dump.write()
        rows, _ = self.compare(1, npu.folder, bench.folder)
        for row in rows:
            for line in row["Err_message"].split("\n"):
                sentences = [s for s in re.split(r"(?<=\.) ", line) if s]
                self.assertEqual(len(sentences), len(set(sentences)), row["Err_message"])
            lines = row["Err_message"].split("\n")
            self.assertEqual(len(lines), len(set(lines)), row["Err_message"])
        row = harness.by_name(rows)["Functional.big.0.forward.output.0"]
        self.assertIn("Relative distance above 0.002 (float32).", row["Err_message"])
        self.assertIn("Requires_grad inconsistent.", row["Err_message"])

    def test_colours(self):
        """Red is what makes the exit code 1, yellow worth a look: one judgement."""
        near = [value * (1 + 1e-4) for value in GOOD]
        paths = self.write(self.make({"good": GOOD, "bad": [5.0] * 4, "near": near},
                                     {"good": GOOD, "bad": GOOD, "near": GOOD}))
        out = self.path("out")
        self.run_code(1, "compare", *paths, "-o", out)
        sheet = xlsx.Workbook(harness.only_file(out, "xlsx")).sheets[0]
        self.assertEqual([set(row) for row in sheet.fills[1:]], [{""}, {"FFFF0000"}, {"FFFFFF00"}])
        self.run_code(1, "compare", *paths, "-o", out + "2", "--no-highlight")
        sheet = xlsx.Workbook(harness.only_file(out + "2", "xlsx")).sheets[0]
        self.assertEqual([set(row) for row in sheet.fills[1:]], [{""}] * 3)

    def test_exit_codes(self):
        sides = self.write(self.make())
        self.compare(0, *sides)
        sides = self.write(self.make({"f": [0.5, 1.5, 2.0, 3.25]}, {"f": GOOD}))
        self.compare(1, *sides)
        os.remove(self.path("npu", "dump_tensor_data", "Functional.f.0.forward.input.0.pt"))
        self.compare(2, *sides)

    def test_summary(self):
        values = {"f%d" % i: [1.0, 2.0, 3.0, 4.0] for i in range(15)}
        wrong = dict(values)
        for i in range(2, 14):
            wrong["f%d" % i] = [1.0, 2.0, 3.0 + i, 4.0]
        sides = self.write(self.make(wrong, values))
        _, result = self.compare(1, *sides)
        out = result.out
        lines = out.splitlines()
        self.assertEqual(lines[0], "DIFFERENT   12 of 15 tensors, 12 calls; 1 call starts it")
        self.assertRegex(lines[1], r"^test  \S+/npu +tensor$")
        self.assertRegex(lines[2], r"^ref   \S+/bench +tensor$")
        self.assertEqual(lines[4:6], ["  identical 3   rounding 0   close 0   different 12",
                                      "  unmatched 0   errors 0   no data 0"])
        # the first that enters; those behind it may follow from it
        named = re.findall(r"(?m)^ +(\d+)   Functional\.f(\d+)\.0\.forward\.input\.0 ", out)
        self.assertEqual(named, [("4", "2")])
        self.assertIn("no recorded call made it; worst at [2]: 5 against 3", out)
        self.assertNotIn("GB/s", out)
        written = re.findall(r"(?m)^Wrote (\S+)", out)
        self.assertEqual(len(written), 1)
        self.assertNotIn("Wrote", result.err)
        self.assertRegex(out, r"next: tdcmp show \S+ Functional\.f2\.0\n\Z")
        wordy = self.compare(1, *sides, "-v")[1].out
        self.assertRegex(wordy, r"(?m)^[0-9.]+ [KMG]?B of tensors compared at [0-9.]+ GB/s")
        self.assertTrue(all(os.path.isfile(path) for path in re.findall(r"(?m)^Wrote (.*)$", wordy)))

    def test_quiet(self):
        sides = self.write(self.make())
        out = self.path("out")
        result = self.run_code(0, "compare", *sides, "-o", out, "--quiet")
        self.assertEqual(result.err, "")
        self.assertEqual(sorted(result.out.splitlines()), [os.path.join(out, name) for name in harness.files_below(out)])
        self.assertEqual(len(harness.files_below(out)), 2)

    def on_terminal(self, words, **env):
        """stdout of the program when it is a terminal."""
        leader, follower = pty.openpty()
        process = subprocess.Popen([harness.TDCMP] + words, stdout=follower, stderr=subprocess.DEVNULL,
                                   env=harness.environment(TERM="xterm", **env))
        os.close(follower)
        text = b""
        while select.select([leader], [], [], 60)[0]:
            try:
                piece = os.read(leader, 65536)
            except OSError:
                break
            if not piece:
                break
            text += piece
        os.close(leader)
        process.wait()
        return text.decode()

    def test_colour_on_terminals_only(self):
        sides = self.write(self.make({"f": [9.0, 9.0]}, {"f": [1.0, 2.0]}))
        words = ["compare", *sides, "-o", self.path("out")]
        self.assertNotIn("\x1b", self.run_code(1, *words).out)
        self.assertIn("\x1b[", self.on_terminal(words))
        self.assertNotIn("\x1b", self.on_terminal(words, NO_COLOR="1"))

    def test_stacks(self):
        sides = self.make()
        paths = self.write(sides)
        self.assertNotIn("NPU_Stack_Info", self.compare(0, *paths)[0][0])
        harness.write_text(self.path("npu", "stack.json"), json.dumps({"Functional.f.0.forward": ["File a.py, line 1"]}))
        self.assertEqual(self.compare(0, *paths)[0][0]["NPU_Stack_Info"], "['File a.py, line 1']")
        self.assertNotIn("NPU_Stack_Info", self.compare(0, *paths, "--no-stack")[0][0])
        other = harness.write_text(self.path("other.json"),
                                   json.dumps({"0": [["Functional.f.0.forward"], ["File b.py"]]}))
        self.assertEqual(self.compare(0, *paths, "--stack", other)[0][0]["NPU_Stack_Info"], "['File b.py']")

    def test_matching_options(self):
        npu, bench = self.make()
        for dump, number in ((npu, 1), (bench, 0)):
            row = "Functional.conv2d.%d.forward.input.0" % number
            dump.file(row + ".pt", dumps.pt_bytes("f32", [4], dumps.pack("f32", GOOD)))
            dump.entry("Functional.conv2d.%d.forward" % number, input_args=[dumps.item("f32", [4], row + ".pt")])
            dump.write()
        sides = npu.folder, bench.folder
        self.compare(1, *sides)
        rows, _ = self.compare(0, *sides, "--fuzzy")
        self.assertEqual(rows[1]["Bench Name"], "Functional.conv2d.0.forward.input.0")
        self.assertIn("Fuzzy matching data", rows[1]["Err_message"])
        path = harness.write_text(self.path("map.yaml"),
                                  "Functional.conv2d.1.forward.input.0: Functional.conv2d.0.forward.input.0\n")
        rows, _ = self.compare(0, *sides, "--data-mapping", path)
        self.assertEqual(rows[1]["Bench Name"], "Functional.conv2d.0.forward.input.0")
        self.assertEqual(rows[1]["Accuracy Reached or Not"], "identical")

    def test_rules(self):
        """Either rule set from either form."""
        sides = self.write(self.make())
        sound, _ = self.compare(0, *sides)
        compat, _ = self.compare(0, *sides, "--rules", "compat", "--no-highlight")
        self.assertIn("RMSE", sound[0])
        self.assertNotIn("RMSE", compat[0])
        self.assertEqual(self.msprobe(0, *sides)[0], compat)
        rows, _, _ = self.msprobe(0, *sides, "--rules", "sound")
        self.assertEqual(rows, sound)


class Words(harness.Case):
    """Help, mistakes, and which stream they go to."""

    def check_help(self, *commands):
        for words in commands:
            with self.subTest(words=words):
                result = self.run_code(0, *words)
                self.assertEqual(result.err, "")
                self.assertIn("usage: ", result.out)
                self.assertRegex(result.out, r"(?m)^examples?: +tdcmp ")

    def test_help(self):
        self.check_help(["--help"], ["-h"], ["help"], ["compare", "--help"], ["compare", "-h"],
                        ["-f", "pytorch", "compare", "-h"], ["-f", "pytorch", "compare", "--help"])

    def test_help_of_bench(self):
        self.check_help(["bench", "--help"], ["bench", "compare", "--help"])

    def test_version(self):
        result = self.run_code(0, "--version")
        self.assertRegex(result.out, r"^tdcmp \d+\.\d+\.\d+ ")

    def test_mistakes(self):
        for words, part in (([], "usage"), (["nonsense"], "'nonsense'"), (["compare"], "two dumps"),
                            (["compare", "a"], "two dumps"), (["compare", "a", "b", "c"], "two dumps"),
                            (["compare", "a", "b", "--nonsense"], "nonsense"), (["compare", "a", "b", "-Z"], "Z"),
                            (["compare", "a", "b", "--format", "pdf"], "pdf"),
                            (["compare", "a", "b", "--format", ""], "--format"),
                            (["compare", "a", "b", "--rules", "mine"], "mine"),
                            (["compare", "a", "b", "--threads", "0"], "--threads"),
                            (["compare", "a", "b", "--threads", "two"], "two"),
                            (["compare", "a", "b", "--step", "-1"], "--step"),
                            (["compare", "a", "b", "--step", "x"], "--step"),
                            (["compare", "a", "b", "-o"], "o")):
            with self.subTest(words=words):
                result = self.run_code(2, *words, cwd=self.folder)
                self.assertEqual(result.out, "")
                self.assertIn(part, result.err)
                self.assertEqual(os.listdir(self.folder), [])


if __name__ == "__main__":
    harness.main()
