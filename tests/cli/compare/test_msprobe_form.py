"""`tdcmp -f pytorch compare ...`: the words, files and exit codes of msprobe, so that an alias works."""
import json
import os
import shutil

import dumps
import harness
import xlsx

GOOD = [0.5, 1.5, -2.0, 3.25]
REFUSED = "Compare failed. Please check the arguments and do it again!"


class Form(harness.Case):
    def setUp(self):
        super().setUp()
        for side in ("npu", "bench"):
            dump = dumps.Dump(self.path(side))
            dump.call("f", "input", GOOD)
            dump.write()
        self.config(npu_path="npu/dump.json", bench_path="bench/dump.json")

    def config(self, **members):
        harness.write_text(self.path("compare.json"), json.dumps(members))

    def start(self, code, *words, form="pytorch"):
        """The command in the folder of compare.json, whose paths are relative."""
        return self.run_code(code, "-f", form, "compare", *words, cwd=self.folder)

    def produced(self, folder="output"):
        found = sorted(harness.stampless(n) for n in harness.files_below(self.path(folder)))
        shutil.rmtree(self.path(folder), ignore_errors=True)
        return found


BOTH = ["advisor_STAMP.txt", "compare_result_STAMP.xlsx"]
TABLE = ["compare_result_STAMP.xlsx"]


class Arguments(Form):
    def test_fewer_than_three_words(self):
        for words in (["-f"], ["-f", "pytorch"], ["--framework", "pytorch"], ["-f", "pytorch", "-h"]):
            result = self.run_code(0, *words)
            self.assertIn("usage", result.out)
            self.assertEqual(result.err, "")

    def test_wrong_words(self):
        for words in (["-f", "pytorch", "nonsense"], ["-f", "tensorflow", "compare", "-i", "compare.json"],
                      ["-f", "pytorch", "compare"], ["-f", "pytorch", "compare", "-o", "out"],
                      ["-f", "pytorch", "compare", "-i"], ["-f", "pytorch", "compare", "-i", "compare.json", "-z"],
                      ["-f", "pytorch", "compare", "-i", "compare.json", "--nonsense"],
                      ["-f", "pytorch", "compare", "-i", "compare.json", "word"],
                      ["-f", "pytorch", "compare", "-i", "compare.json", "-dm"],
                      ["-f", "pytorch", "compare", "-i", "compare.json", "--stack_mode=1"],
                      ["-f", "pytorch", "compare", "-i", "compare.json", "-d"],
                      ["-f", "pytorch", "compare", "--i"], ["-f", "pytorch", "compare", "-i", "compare.json", "--c"],
                      ["-f", "pytorch", "compare", "-i", "compare.json", "--rules", "mine"],
                      ["-f", "pytorch", "compare", "-i", "compare.json", "--format", "pdf"],
                      ["-f", "pytorch", "compare", "-i", "compare.json", "--threads", "0"]):
            with self.subTest(words=words):
                result = self.run_code(2, *words, cwd=self.folder)
                self.assertNotEqual(result.err, "")
                self.assertEqual(result.out, "")
                self.assertFalse(os.path.exists(self.path("output")))

    def test_short_and_long(self):
        for words, files in ((["-i", "compare.json"], BOTH), (["--input_path", "compare.json"], BOTH),
                             (["--input_path=compare.json"], BOTH), (["-icompare.json"], BOTH),
                             (["-i=compare.json"], BOTH), (["--input", "compare.json"], BOTH),
                             (["--in=compare.json"], BOTH), (["-i", "compare.json", "-c"], TABLE),
                             (["-i", "compare.json", "--compare_only"], TABLE), (["-i", "compare.json", "--comp"], TABLE),
                             (["-i", "compare.json", "-sc"], TABLE), (["-cs", "-i", "compare.json"], TABLE),
                             (["-csfi", "compare.json"], TABLE), (["-ci", "compare.json"], TABLE),
                             (["-i", "compare.json", "-hl", "-c", "-f", "-s"], TABLE),
                             (["-i", "compare.json", "--high", "--fuzzy", "--stack"], BOTH),
                             (["-i", "compare.json", "-o"], BOTH), (["-o", "-i", "compare.json"], BOTH),
                             (["-o", "./output", "-i", "compare.json"], BOTH),
                             (["-i", "nowhere.json", "-i", "compare.json"], BOTH),
                             (["-i", "compare.json", "-da"], BOTH), (["-i", "compare.json", "-lm"], BOTH),
                             (["-i", "compare.json", "-lm", "nowhere.yaml"], BOTH),
                             (["-i", "compare.json", "-l"], BOTH), (["-l", "x.yaml", "-ci", "compare.json"], TABLE)):
            with self.subTest(words=words):
                self.start(0, *words)
                self.assertEqual(self.produced(), files)

    def test_configuration_is_read_as_python_reads_it(self):
        whole = '{"npu_path": "nowhere", "npu_path": "npu/dump.json", "bench_path": "bench/dump.json", "x": NaN}'
        harness.write_text(self.path("compare.json"), whole)
        self.start(0, "-i", "compare.json")
        self.assertEqual(self.produced(), BOTH)
        harness.write_text(self.path("compare.json"), whole + "\n}")
        self.assertIn("compare.json: line 2", self.start(1, "-i", "compare.json").err)
        self.assertEqual(self.produced(), [])

    def test_output_elsewhere(self):
        self.start(0, "-i", "compare.json", "-o", "deep/er/out")
        self.assertEqual(self.produced("deep/er/out"), BOTH)
        self.start(0, "-i", "compare.json", "--output_path=" + self.path("absolute"))
        self.assertEqual(self.produced("absolute"), BOTH)
        self.assertEqual(os.stat(self.path("deep")).st_mode & 0o777, 0o750)

    def test_framework_comes_first(self):
        """-f before `compare` is the framework, behind it the fuzzy flag."""
        self.run_code(0, "--framework", "pytorch", "compare", "-i", "compare.json", "-f", cwd=self.folder)
        self.assertEqual(self.produced(), BOTH)

    def test_mappings_of_mindspore(self):
        for words in (["-cm"], ["-am"], ["-a"], ["-cm", "x.yaml"], ["--api_mapping", "x.yaml"], ["--cell_mapping=x"]):
            with self.subTest(words=words):
                result = self.start(1, "-i", "compare.json", *words)
                self.assertIn("Argument -cm or -am is not supported in PyTorch framework", result.err)
                self.assertEqual(self.produced(), [])

    def test_highlight_changes_the_sheet(self):
        for words, name in ((["-hl"], "Sheet"), ([], "Sheet1")):
            self.start(0, "-i", "compare.json", *words)
            book = xlsx.Workbook(harness.only_file(self.path("output"), "xlsx"))
            self.assertEqual(book.sheets[0].name, name)
            self.assertEqual((book.sheets[0].frozen_rows, book.sheets[0].filter), (0, None))
            self.produced()

    def test_data_mapping(self):
        harness.write_text(self.path("map.yaml"), "Functional.f.0.forward.input.0: nobody\n")
        self.start(0, "-i", "compare.json", "-dm", "map.yaml", "--format", "csv")
        rows = harness.read_csv(harness.only_file(self.path("output"), "csv"))
        self.assertEqual(rows[0]["Bench Name"], "N/A")
        self.assertIn("Bench api/module unmatched.", rows[0]["Err_message"])
        self.produced()
        result = self.start(1, "-i", "compare.json", "-dm", "none.yaml")
        self.assertIn("none.yaml", result.err)


class Config(Form):
    """compare.json and what it names."""

    def refuse(self, *parts):
        result = self.start(1, "-i", "compare.json")
        for part in parts:
            self.assertIn(part, result.err)
        self.assertEqual(self.produced(), [])

    def test_missing_members(self):
        self.config(bench_path="bench/dump.json")
        self.refuse("Missing npu_path in input configuration file, please check!")
        self.config(npu_path="npu/dump.json")
        self.refuse("Missing bench_path in input configuration file, please check!")
        for value in ("", None, 3, []):
            self.config(npu_path=value, bench_path="bench/dump.json")
            self.refuse("Missing npu_path in input configuration file, please check!")

    def test_repeated_members(self):
        """The last one counts, as in Python; null is as good as absent for what is not required."""
        harness.write_text(self.path("compare.json"),
                           '{"npu_path": "nothing", "npu_path": "npu/dump.json", "bench_path": "bench/dump.json"}')
        self.start(0, "-i", "compare.json")
        self.assertEqual(self.produced(), BOTH)
        self.config(npu_path="npu", bench_path="bench", rank_id=None)
        self.refuse("Expected 'rank'.")

    def test_log_switch(self):
        for value in (True, False):
            self.config(npu_path="npu/dump.json", bench_path="bench/dump.json", is_print_compare_log=value)
            self.start(0, "-i", "compare.json")
            self.assertEqual(self.produced(), BOTH)
        for value in (1, "true", None, []):
            self.config(npu_path="npu/dump.json", bench_path="bench/dump.json", is_print_compare_log=value)
            self.refuse("Invalid input parameter, is_print_compare_log which should be only bool type.", REFUSED)

    def test_not_json(self):
        for text in ("", "{", "[]", "3", "{\"npu_path\": }"):
            harness.write_text(self.path("compare.json"), text)
            self.refuse("")
        os.remove(self.path("compare.json"))
        self.refuse("compare.json", "No such file")
        os.mkdir(self.path("compare.json"))
        self.refuse("compare.json")

    def test_paths(self):
        self.config(npu_path="nowhere/dump.json", bench_path="bench/dump.json")
        self.refuse("nowhere/dump.json")
        self.config(npu_path="npu", bench_path="bench/dump.json")
        self.refuse("The npu_path and bench_path need to be of the same type.")
        shutil.copy(self.path("npu", "dump.json"), self.path("npu", "mydump.json"))
        shutil.copy(self.path("npu", "dump.json"), self.path("npu", "debug.json"))
        self.config(npu_path="npu/mydump.json", bench_path="bench/dump.json")
        self.refuse("neither dump.json nor debug.json", REFUSED)
        self.config(npu_path="npu/debug.json", bench_path="bench/dump.json")
        self.refuse("Please check the json path is valid", REFUSED)

    def test_relative_to_the_working_directory(self):
        os.mkdir(self.path("elsewhere"))
        os.rename(self.path("compare.json"), self.path("elsewhere", "compare.json"))
        self.start(0, "-i", "elsewhere/compare.json")
        self.assertEqual(self.produced(), BOTH)
        result = self.run_code(1, "-f", "pytorch", "compare", "-i", "compare.json", cwd=self.path("elsewhere"))
        self.assertIn("npu/dump.json", result.err)

    def test_stack_path(self):
        lines = {"Functional.f.0.forward": ["File a.py, line 1, in f"]}
        harness.write_text(self.path("my_stack.json"), json.dumps(lines))
        paths = {"npu_path": "npu/dump.json", "bench_path": "bench/dump.json"}
        for stack_path, words, expected in (("my_stack.json", ["-s"], "['File a.py, line 1, in f']"),
                                            ("my_stack.json", [], None), (None, ["-s"], None)):
            self.config(**dict(paths, **({"stack_path": stack_path} if stack_path else {})))
            self.start(0, "-i", "compare.json", "--format", "csv", *words)
            rows = harness.read_csv(harness.only_file(self.path("output"), "csv"))
            self.assertEqual(rows[0].get("NPU_Stack_Info"), expected)
            self.produced()
        harness.write_text(self.path("npu", "stack.json"), json.dumps({}))
        self.config(**paths)
        self.start(0, "-i", "compare.json", "--format", "csv")
        self.assertEqual(harness.read_csv(harness.only_file(self.path("output"), "csv"))[0]["NPU_Stack_Info"], "N/A")
        self.produced()
        self.config(stack_path="nowhere.json", **paths)
        result = self.start(1, "-i", "compare.json", "-s")
        self.assertIn("nowhere.json", result.err)

    def test_empty_data(self):
        harness.write_text(self.path("npu", "dump.json"), json.dumps({"task": "tensor", "data": {}}))
        result = self.start(0, "-i", "compare.json")
        self.assertIn("Can`t match any op. No compare result file generated.", result.err)
        self.assertEqual(self.produced(), [])
        result = self.run_code(2, "compare", self.path("npu"), self.path("npu"), "-o", self.path("empty"))
        self.assert_one_line(result.err, self.path("npu", "dump.json") + ": no data in it")
        self.assertEqual(self.produced("empty"), [])
        dump = dumps.Dump(self.path("npu"))
        dump.call("f", "input", GOOD)
        dump.write()
        harness.write_text(self.path("bench", "dump.json"), json.dumps({"task": "tensor", "data": {}}))
        self.start(0, "-i", "compare.json", "--format", "csv")
        rows = harness.read_csv(harness.only_file(self.path("output"), "csv"))
        self.assertEqual([row["Bench Name"] for row in rows], ["N/A"])


class Ranks(Form):
    """Step folders, paired by position."""

    def make(self, side, ranks, task="tensor", debug=()):
        shutil.rmtree(self.path(side))
        for rank in ranks:
            dump = dumps.Dump(self.path(side, rank), task)
            dump.call("f", "input", GOOD)
            dump.write()
            if rank in debug:
                shutil.copy(self.path(side, rank, "dump.json"), self.path(side, rank, "debug.json"))

    def run_ranks(self, code, *words):
        self.config(npu_path="npu", bench_path="bench")
        return self.start(code, "-i", "compare.json", *words)

    def test_by_position(self):
        self.make("npu", ("rank2", "rank10"))
        self.make("bench", ("rank0", "rank1"))
        self.run_ranks(0, "-c")
        self.assertEqual(self.produced(), ["compare_result_rank10_STAMP.xlsx", "compare_result_rank2_STAMP.xlsx"])

    def test_debug_of_tensor_dumps_only(self):
        for task, files in (("tensor", ["compare_result_rank0_STAMP.xlsx", "debug_compare_result_rank0_STAMP.xlsx"]),
                            ("statistics", ["compare_result_rank0_STAMP.xlsx"])):
            for side in ("npu", "bench"):
                self.make(side, ("rank0",), task, ("rank0",))
            self.run_ranks(0, "-c")
            self.assertEqual(self.produced(), files)

    def test_strangers(self):
        for side in ("npu", "bench"):
            self.make(side, ("rank0",))
        for name in ("rank01", "rankx", "readme.txt", "Rank1"):
            os.mkdir(self.path("npu", name))
            result = self.run_ranks(1)
            self.assertIn("dump_dir contains '%s'. Expected 'rank'." % name, result.err)
            self.assertEqual(self.produced(), [])
            os.rmdir(self.path("npu", name))

    def test_different_counts(self):
        self.make("npu", ("rank0", "rank1"))
        self.make("bench", ("rank0",))
        result = self.run_ranks(1)
        self.assertIn("The number of ranks in the two runs are different.", result.err)

    def test_one_bad_rank(self):
        for side in ("npu", "bench"):
            self.make(side, ("rank0", "rank1", "rank2"))
        harness.write_text(self.path("npu", "rank1", "dump.json"), "{")
        result = self.run_ranks(0, "-c")
        self.assertIn("rank1", result.err)
        self.assertEqual(self.produced(), ["compare_result_rank0_STAMP.xlsx", "compare_result_rank2_STAMP.xlsx"])

    def test_only_rank_refused(self):
        """What msprobe refuses of a pair of ranks does not end the run, even if there is no other pair."""
        for side in ("npu", "bench"):
            self.make(side, ("rank0",))
        for change, line in (({"task": "statistics"}, "Please check the dump task is consistent."),
                             ({"data": []}, "Invalid type for 'data': expected a dict."),
                             ({"data": {"-x.0.forward": {}}}, "api name contains special characters")):
            whole = json.loads(harness.read_text(self.path("bench", "rank0", "dump.json")))
            harness.write_text(self.path("npu", "rank0", "dump.json"), json.dumps(dict(whole, **change)))
            result = self.run_ranks(0)
            self.assertIn(line, result.err)
            self.assertEqual(self.produced(), [])
        harness.write_text(self.path("npu", "rank0", "dump.json"), "{")
        self.run_ranks(1)


if __name__ == "__main__":
    harness.main()
