"""Options, messages and exit codes of the precheck."""
import json
import os
import tempfile

import harness
import precheck_case
from precheck_case import PrecheckCase, files_of, golden, read_rows


class Words(PrecheckCase):
    def test_usage_errors(self):
        result = self.run_code(2, "-f", "mindspore", "run_ut", "-o", self.folder)
        self.assertIn("the following arguments are required: -api_info/--api_info_file", result.err)
        dump = golden("ms_edge", "dump.json")
        result = self.run_code(2, "-f", "mindspore", "multi_run_ut", "-api_info", dump, "-d", "1", "2", "1")
        self.assertIn("device id must be unique", result.err)
        for wrong in ("4096", "-1"):
            result = self.run_code(2, "-f", "mindspore", "multi_run_ut", "-api_info", dump, "-d", wrong)
            self.assertIn("the argument 'device_id' must be in range [0, 4095], but got %s" % wrong, result.err)
        result = self.run_code(2, "-f", "mindspore", "multi_run_ut", "-api_info", dump, "-d")
        self.assertIn("expected at least one argument", result.err)
        self.run_code(2, "-f", "mindspore", "run_ut", "-api_info", dump, "-d", "0")
        self.run_code(2, "-f", "mindspore", "run_ut", "-api_info", dump, "--profile", "other")
        result = self.run_code(0, "-f", "mindspore", "run_ut", "-h")
        self.assertIn("-api_info, --api_info_file", result.out)

    def test_malformed_dumps(self):
        start = "[msprobe] Api Accuracy Checker parse json failed: check_and_get_from_json_dict failed: "
        for content, text in (
                ({}, start + "task field in api_info.json is missing"),
                ({"task": 3}, start + "task field in api_info.json is not accepted type"),
                ({"task": "other"}, start + "task field in api_info.json is not accepted value"),
                ({"task": "tensor"}, start + "dump_data_dir field in api_info.json is missing"),
                ({"task": "statistics"}, start + "data field in api_info.json is missing"),
                ({"task": "statistics", "data": []}, start + "data field in api_info.json is not accepted type")):
            folder = tempfile.mkdtemp(dir=self.folder)
            harness.write_text(os.path.join(folder, "dump.json"), json.dumps(content))
            out, result = self.run_ut(folder, code=1)
            self.assertIn(text, result.out)
            self.assertEqual(os.listdir(out), [])

    def test_files_msprobe_refuses(self):
        link = self.path("link.json")
        os.symlink(golden("ms_edge", "dump.json"), link)
        result = self.run_code(1, "-f", "mindspore", "run_ut", "-api_info", link, "-o", self.folder)
        self.assertIn("is a soft link", result.out)
        result = self.run_code(1, "-f", "mindspore", "run_ut", "-api_info", self.path("missing.json"))
        self.assertIn("does not exist", result.out)

    def test_nothing_selected_writes_nothing(self):
        folder = tempfile.mkdtemp(dir=self.folder)
        harness.write_text(os.path.join(folder, "dump.json"), json.dumps(
            {"task": "statistics", "framework": "mindspore", "data": {"Cell.net.Net.forward.0": {},
                                                                        "Functional.relu.0.forward": {}}}))
        out, _ = self.run_ut(folder)
        self.assertEqual(os.listdir(out), [])

    def test_log_level_and_odd_records(self):
        folder = tempfile.mkdtemp(dir=self.folder)
        harness.write_text(os.path.join(folder, "dump.json"), json.dumps(
            {"task": "statistics", "framework": "other", "data": {
                "Mint.add.0.sideways": {}, "Mint.add.1.forward": 5, "Mint.add.2.forward": {"input_args": 3},
                "Mint.add.3.forward": {"input_args": [{"type": "int", "value": None}], "input_kwargs": {}},
                "Mint.add.4.forward": {"input_args": [[[[[[1]]]]]], "input_kwargs": {}},
                "Mint.add.5.backward": None, "Mint.t\n.6.forward": []}}))
        out, result = self.run_ut(folder)
        self.assertIn("JSON parsing error in framework field: ", result.out)
        self.assertIn("api: Mint.add.0.sideways is not recognized as forward api or backward api, skip this.", result.out)
        rows = read_rows(files_of(out)[0])[1]
        self.assertEqual([r[0] for r in rows][:4], ["Mint.add.1", "Mint.add.2", "Mint.add.3", "Mint.add.4"])
        self.assertTrue(all("SKIP" in r[1:3] for r in rows), rows)
        before = [harness.read_bytes(path) for path in files_of(out)]
        self.run_code(0, "-f", "mindspore", "run_ut", "-api_info", os.path.join(folder, "dump.json"), "-csv_path",
                      files_of(out)[0])
        self.assertEqual([harness.read_bytes(path) for path in files_of(out)], before)
        silent = self.run_code(0, "-f", "mindspore", "run_ut", "-api_info", os.path.join(folder, "dump.json"), "-o", out,
                               env={"MSPROBE_LOG_LEVEL": "4"})
        self.assertEqual(silent.out, "")


if __name__ == "__main__":
    precheck_case.main()
