"""acc_check and multi_acc_check: the precheck in the words of msprobe 26."""
import json
import os

import harness
import precheck_case
from precheck_case import PrecheckCase, golden, read_rows

METRICS = {name: 4 + i for i, name in enumerate(
    ("cosine", "max_abs", "hundredth", "thousandth", "ten_thousandth", "error_rate", "balance", "rmse", "small",
     "max_relative", "mean_relative", "inf_nan", "relative", "absolute", "max_ulp", "mean_ulp", "ulp_share"))}


class AccCheck(PrecheckCase):
    def run_check(self, *words):
        out = self.path("out")
        result = self.run_code(0, *words, "-o", out)
        names = {name.split("_")[2]: os.path.join(out, name) for name in os.listdir(out) if name.endswith(".csv")}
        return read_rows(names["details"])[1], result

    def test_standards_of_pytorch(self):
        """Floats have the benchmark's metrics whatever the API; where 2025 had them too, they are the same."""
        dump = golden("pt_tensor", "dump.json")
        rows, result = self.run_check("acc_check", "-api_info", dump)
        self.assertIn("[INFO] start acc_check test", result.out)
        self.assertIn("[INFO] Successfully completed acc_check/multi_acc_check.", result.out)
        self.assertIn("[INFO] acc_check task completed.", result.out)
        folder = self.path("older")
        self.run_code(0, "-f", "pytorch", "run_ut", "-api_info", dump, "--standard", "pytorch", "-o", folder)
        older = [os.path.join(folder, name) for name in os.listdir(folder) if "details" in name]
        older = {row[0]: row for row in read_rows(older[0])[1]}
        floats = benchmark = whole = 0
        for row in rows:
            if row[2] in ("torch.float16", "torch.bfloat16", "torch.float32") and row[-2] != "SKIP" and row[4] != " ":
                floats += 1
                self.assertNotEqual(row[METRICS["rmse"]], " ", row)
                for metric in ("relative", "absolute", "inf_nan", "mean_ulp", "error_rate"):
                    self.assertEqual(row[METRICS[metric]], " ", row)
                if older[row[0]][METRICS["rmse"]] != " ":
                    benchmark += 1
                    self.assertEqual(row, older[row[0]])
            elif row[METRICS["error_rate"]] != " " and row[2].startswith("torch.int"):
                whole += 1
                self.assertEqual(row[-1], "Current %s data, only perform binary comparison." % row[1][6:])
        self.assertTrue(floats > benchmark > 10 and whole > 0, (floats, benchmark, whole))

    def test_framework_of_the_dump(self):
        with open(golden("pt_tensor", "dump.json")) as file:
            dump = json.load(file)
        for framework, text in ((None, 'Key "framework" not found in '), ("jax", "Unsupported framework in api_info: jax")):
            dump.pop("framework", None)
            if framework:
                dump["framework"] = framework
            path = harness.write_bytes(self.path("dump.json"), json.dumps(dump).encode())
            result = self.run_code(1, "acc_check", "-api_info", path, "-o", self.path("out"))
            self.assertIn("[ERROR] " + text, result.out)
        result = self.run_code(1, "acc_check", "-api_info", self.path("nowhere.json"))
        self.assertIn("nowhere.json does not exist.", result.out)

    def test_words(self):
        dump = golden("pt_tensor", "dump.json")
        for words, text in (((), "the following arguments are required: -api_info/--api_info_file"),
                            (("-api", dump), "unrecognized arguments: -api"),
                            (("--api_info", dump), "unrecognized arguments: --api_info"),
                            (("-o", "out"), "unrecognized arguments: -o out"),
                            (("-api_info", dump, "--out", "x"), "unrecognized arguments: --out"),
                            (("-api_info", dump, "--nothing"), "unrecognized arguments: --nothing"),
                            (("-api_info", dump, "-d", "0", "0"), "device id must be unique")):
            for command in ("acc_check", "multi_acc_check"):
                result = self.run_code(2, command, *words)
                self.assertIn("tdcmp %s: error: %s" % (command, text), result.err)
        self.assertIn("--api_info_file", self.run_code(0, "acc_check", "-h").out)
        result = self.run_code(1, "acc_check", "-api_info", dump, "-csv_path", self.path("other.csv"), "-o", self.path("out"))
        self.assertIn("When continue acc_check, please do not modify the result csv name.", result.out)

    def test_config_section(self):
        """The lists are under acc_check, and those of run_ut are another's."""
        config = harness.write_bytes(self.path("config.json"), json.dumps(
            {"acc_check": {"white_list": ["add"]}, "run_ut": {"white_list": ["mul"]}}).encode())
        rows, _ = self.run_check("acc_check", "-api_info", golden("pt_tensor", "dump.json"), "-config", config)
        done = {row[0].split(".")[1] for row in rows if row[-2] != "SKIP"}
        self.assertEqual(done, {"add"})


if __name__ == "__main__":
    precheck_case.main()
