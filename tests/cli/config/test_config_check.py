"""config_check: two packs, two checkpoints, in msprobe's words and in ours; api_precision_compare of 26.2.

The expected tables were written by msprobe 26.2.
"""
import csv
import io
import json
import os
import re
import tarfile
import tempfile
import zipfile

import harness
import xlsx
from harness import Case

_unpacked = None


def golden(*parts):
    global _unpacked
    if _unpacked is None:
        _unpacked = tempfile.TemporaryDirectory(prefix="tdcmp-golden-")
        with tarfile.open(os.environ["TDC_CHECK26"]) as packed:
            packed.extractall(_unpacked.name)
    return os.path.join(_unpacked.name, *parts)


def rows_of(path):
    with open(path, encoding="utf-8-sig", newline="") as file:
        return list(csv.reader(file))


def number(text):
    try:
        return float(text)
    except ValueError:
        return text


def sheets(path):
    return {sheet.name: [row for row in sheet.texts] for sheet in xlsx.Workbook(path).sheets}


def pack(path, **members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in members.items():
            made.writestr(name.replace("__", "/"), content if isinstance(content, str) else json.dumps(content))
    return path


class Packs(Case):
    def compare(self, code, *words):
        out = tempfile.mkdtemp(prefix="out-", dir=self.folder)
        result = harness.run(*words, "-o", out)
        self.assertEqual(result.code, code, result)
        return out, result

    def check_sheets(self, out, swapped):
        found = sheets(os.path.join(out, "result.xlsx"))
        self.assertEqual(list(found), ["summary", "env", "pip", "dataset", "weights", "hyperparameters", "random"])
        for name, rows in found.items():
            want = rows_of(golden("config_check", "expected_result.%s.csv" % name))
            if name == "env" and not swapped:
                continue
            got = [[number(cell) for cell in row] for row in rows]
            want = [[number(cell) for cell in row] for row in want]
            if name == "weights":  # the order within a rank is that of a Python set there
                got[1:], want[1:] = sorted(got[1:], key=str), sorted(want[1:], key=str)
            self.assertEqual(got, want, name)
        return found

    def test_golden(self):
        packs = golden("config_check", "bench.zip"), golden("config_check", "cmp.zip")
        out, result = self.compare(0, "config_check", "-c", *packs)
        self.check_sheets(out, swapped=True)
        self.assertIn("[INFO] The input paths is zip files, comparing packed config.", result.out)
        with zipfile.ZipFile(packs[1]) as original:
            for name in original.namelist():
                self.assertEqual(harness.read_bytes(os.path.join(out, "cmp", name)), original.read(name))

    def test_words_of_2025_and_friendly(self):
        """The sheet of the environment has its sides where they belong."""
        packs = golden("config_check", "bench.zip"), golden("config_check", "cmp.zip")
        for code, words in ((0, ("-f", "pytorch", "config_check", "-c")), (1, ("config_check",))):
            out, _ = self.compare(code, *words, *packs)
            found = self.check_sheets(out, swapped=False)
            self.assertIn(["CUDA_LAUNCH_BLOCKING", "ASCEND_LAUNCH_BLOCKING", "1", "0", "error"], found["env"])

    def test_similar_names(self):
        """difflib's ratio decides, and a partner is given away once."""
        bench = pack(self.path("a.zip"), hyperparameters__hyperparameters_static_json={})
        bench = pack(self.path("a.zip"), **{"hyperparameters__hyperparameters_static.json":
                                            {"model.hidden-size": 8, "ffn_hidden_size": 32, "warmup_steps": 5, "flag": True}})
        cmp = pack(self.path("b.zip"), **{"hyperparameters__hyperparameters_static.json":
                                          {"hidden_size": 16, "warmup_step": 5.0, "flag": "True", "list": [1, None]}})
        out, _ = self.compare(0, "config_check", "-c", bench, cmp)
        rows = sheets(os.path.join(out, "result.xlsx"))["hyperparameters"][1:]
        name = "hyperparameters_static.json"
        self.assertEqual(rows, [
            [name, "Only in comparison", "list", "", "[1, None]", "", "warning"],
            [name, "ffn_hidden_size", "Only in benchmark", "32", "", "", "warning"],
            [name, "model.hidden-size", "hidden_size", "8", "16", "pure name", "error"],
            [name, "warmup_steps", "warmup_step", "5", "5.0", "similarity:0.9565217391304348", "error"]])

    def test_random_stacks(self):
        def calls(code, count, path="/x/train.py"):
            return {"torch.rand": [{"count": count, "stack": ["File %s, line 1, in main, %s" % (path, code)]}]}
        code = "noise = torch.rand(batch, width, device=device)"
        a = pack(self.path("a.zip"), **{"random__rank0.json": calls(code, 2), "random__rank1.json": calls(code, 1)})
        b = pack(self.path("b.zip"), **{"random__rank0.json": calls(code.replace("width", "hidden"), 2, "/y/train.py"),
                                        "random__rank2.json": calls(code, 1)})
        out, _ = self.compare(0, "config_check", "-c", a, b)
        rows = sheets(os.path.join(out, "result.xlsx"))["random"][1:]
        self.assertEqual([(row[1], row[4], row[5], row[6]) for row in rows],
                         [("0", "2", "2", "True"), ("1", "1", "0", "False"), ("2", "0", "1", "False")])

    def test_same_packs_pass(self):
        one = golden("config_check", "bench.zip")
        out, _ = self.compare(0, "config_check", one, one)
        self.assertEqual(sheets(os.path.join(out, "result.xlsx"))["summary"][1:],
                         [[name, "pass"] for name in ("env", "pip", "dataset", "weights", "hyperparameters", "random")])

    def test_refused(self):
        good = golden("config_check", "bench.zip")
        _, result = self.compare(1, "config_check", "-c", good, self.path("nowhere.zip"))
        self.assertIn("[ERROR] The file path %s does not exist." % self.path("nowhere.zip"), result.out)
        broken = harness.write_bytes(self.path("broken.zip"), harness.read_bytes(good)[:-200])
        self.compare(1, "config_check", "-c", broken, good)
        with zipfile.ZipFile(self.path("leaves.zip"), "w") as made:
            made.writestr("../outside", "x")
        out, result = self.compare(1, "config_check", "-c", self.path("leaves.zip"), good)
        self.assertIn("leads out of its folder", result.out)
        self.assertFalse(os.path.exists(os.path.join(out, "outside")))
        formula = pack(self.path("formula.zip"), pip="numpy==1\ntorch=@cmd\n")
        out, result = self.compare(1, "config_check", "-c", formula, good)
        self.assertIn('[ERROR] Save excel file "result.xlsx" failed.', result.out)
        self.assertFalse(os.path.exists(os.path.join(out, "result.xlsx")))
        nothing = pack(self.path("nothing.zip"), other="x")
        self.compare(2, "config_check", nothing, good)

    def test_words(self):
        cases = (("-c", "a", "-d", "x"), "expected 2 arguments"), (("-c", "a", "b", "-d", "x"),
                                                                   "argument -d/--dump: not allowed with argument -c/--compare")
        for words, text in cases:
            result = harness.run("config_check", *words)
            self.assertEqual(result.code, 2, result)
            self.assertIn("config_check: error: ", result.err)
            self.assertIn(text, result.err)
        result = harness.run("config_check")
        self.assertEqual(result.code, 1)
        self.assertIn("[ERROR] The param is not correct, you need to give '-d' for dump", result.out)


class Checkpoints(Case):
    def compare(self, code, *words):
        out = self.path("similarity.json")
        result = harness.run(*words, "-o", out)
        self.assertEqual(result.code, code, result)
        return out, result

    def check(self, path):
        with open(path) as file:
            found = json.load(file)
        with open(golden("checkpoint", "expected", "ckpt_similarity.sorted.json")) as file:
            want = json.load(file)
        self.assertEqual(list(found), list(want))
        for name, metrics in want.items():
            self.assertEqual(list(found[name]), list(metrics))
            for key, value in metrics.items():
                if isinstance(value, float):
                    self.assertAlmostEqual(found[name][key], value, delta=1e-5 * max(1, abs(value)), msg=name)
                else:
                    self.assertEqual(found[name][key], value, name)

    def test_golden(self):
        folders = golden("checkpoint", "ckpt1"), golden("checkpoint", "ckpt2")
        out, result = self.compare(0, "config_check", "-c", *folders)
        self.check(out)
        for text in ("[INFO] Comparing model checkpoint.", "[INFO] Loaded checkpoint from iteration 5",
                     "[INFO] Found 23 total parameters across all ranks", "[WARNING] Parameters not in ckpt1: {'extra.bias'}"):
            self.assertIn(text, result.out)
        _, result = self.compare(1, "config_check", "-c", *folders)  # the file is there already
        self.assertIn("similarity.json already exist.", result.out)

    def test_friendly_and_iteration_folders(self):
        one = golden("checkpoint", "ckpt1", "iter_0000005")
        out, result = self.compare(1, "config_check", one, golden("checkpoint", "ckpt2"), "--threads", "3")
        self.check(out)
        os.remove(out)
        _, result = self.compare(0, "config_check", one, one)
        self.assertIn("23 parameters compared, 0 differ", result.out)

    def test_virtual_stages_and_experts(self):
        """Two by two by two ranks with two virtual stages each against one rank in bfloat16; bounds by float64."""
        out, _ = self.compare(0, "config_check", "-c", golden("checkpoint_virtual", "A"), golden("checkpoint_virtual", "B"))
        with open(out) as file, open(golden("checkpoint_virtual", "want.json")) as wanted:
            found, want = json.load(file), json.load(wanted)
        self.assertEqual(set(found), set(want))
        for name, metrics in want.items():
            self.assertEqual(found[name]["shape"], metrics["shape"])
            for key in ("l2", "cos"):
                self.assertAlmostEqual(found[name][key], metrics[key], delta=1e-12, msg=name)

    def test_refused(self):
        one = golden("checkpoint", "ckpt1")
        _, result = self.compare(1, "config_check", "-c", one, self.folder)
        self.assertIn("No checkpoint rank directories found in", result.out)
        rank = os.path.join(self.folder, "linked", "mp_rank_00_000")
        os.makedirs(rank)
        os.symlink(os.path.join(one, "iter_0000005", "mp_rank_00_000", "model_optim_rng.pt"),
                   os.path.join(rank, "model_optim_rng.pt"))
        _, result = self.compare(1, "config_check", "-c", one, os.path.join(self.folder, "linked"))
        self.assertIn("is a soft link", result.out)
        cut = os.path.join(self.folder, "cut", "mp_rank_00_000")
        os.makedirs(cut)
        whole = harness.read_bytes(os.path.join(one, "iter_0000005", "mp_rank_00_000", "model_optim_rng.pt"))
        harness.write_bytes(os.path.join(cut, "model_optim_rng.pt"), whole[:3000])
        self.compare(1, "config_check", "-c", os.path.join(self.folder, "cut"), one)


class Logs(Case):
    CASES = (("-vc", "npu.log", "bench.txt"), ("-sc", "s1.log", "s2.log"), ("-vv", "v.yaml", "npu.log"), ("-vv", "npu.log"))

    def test_golden_to_the_byte(self):
        for number, (word, *files) in enumerate(self.CASES, 1):
            out = self.path("out%d" % number)
            result = harness.run("config_check", word, *[golden("logs", name) for name in files], "-o", out)
            self.assertEqual(result.code, 0, result)
            expected = golden("logs", "expected%d" % number)
            self.assertEqual(harness.files_below(out), harness.files_below(expected))
            for name in os.listdir(expected):
                self.assertEqual(harness.read_bytes(os.path.join(out, name)),
                                 harness.read_bytes(os.path.join(expected, name)), name)

    def test_refused(self):
        log, yaml, out = golden("logs", "npu.log"), golden("logs", "v.yaml"), self.path("out")
        torn = harness.write_bytes(self.path("torn.log"), harness.read_bytes(log)[:600])
        for words, text in ((("-vc", yaml, log), "The param of verl-compare require two log files"),
                            (("-sc", log, yaml), "The param of slime-compare require two log files"),
                            (("-vv", log, yaml), "verl-verify parameter order error"),
                            (("-vv", yaml), "it must be a log or txt file, not yaml."),
                            (("-vv", yaml, log, log), "verl-verify supports up to two files, but received 3 files"),
                            (("-vc", log, golden("logs", "s1.log")), "Not found the start with 'actor_rollout_ref' dict in log."),
                            (("-sc", log, log), "Start arguments marker not found"),
                            (("-vv", torn), "Unclosed dictionary, mismatched brackets of"),
                            (("-d", "run.sh"), "config_check -d packs")):
            result = harness.run("config_check", *words, "-o", out)
            self.assertEqual(result.code, 1, result)
            self.assertIn(text, result.out)


class PrecisionCompare26(Case):
    def check(self, folder):
        out = tempfile.mkdtemp(prefix="out-", dir=self.folder)
        result = harness.run("api_precision_compare", "-npu", os.path.join(folder, "npu_details.csv"), "-gpu",
                             os.path.join(folder, "gpu_details.csv"), "-o", out)
        self.assertEqual(result.code, 0, result)
        found = {re.sub(r"_\d{14}", "", name): harness.read_bytes(os.path.join(out, name)) for name in os.listdir(out)}
        for name in ("api_precision_compare_details.csv", "api_precision_compare_result.csv"):
            self.assertEqual(found[name], harness.read_bytes(os.path.join(folder, "expected_" + name)), name)
        return result

    def test_golden_to_the_byte(self):
        result = self.check(golden("precision26", "golden"))
        self.assertIn("[INFO] Start compare task", result.out)

    def test_odd_cells(self):
        """Levels, Float8, blanks, NaN, names of other lengths, columns that pandas takes for numbers."""
        for name in sorted(os.listdir(golden("precision26", "odd"))):
            self.check(golden("precision26", "odd", name))

    def test_refused(self):
        folder = golden("precision26", "odd", "case4")
        npu = os.path.join(folder, "npu_details.csv")
        lines = harness.read_bytes(npu).split(b"\r\n")
        twice = harness.write_bytes(self.path("twice.csv"), b"\r\n".join(lines[:-1] + [lines[1], b""]))
        out = self.path("out")
        result = harness.run("api_precision_compare", "-npu", npu, "-gpu", twice, "-o", out)
        self.assertEqual(result.code, 1)
        self.assertIn("has multiple records in the GPU data.", result.out)
        self.assertEqual(harness.files_below(out), [])
        fewer = harness.write_bytes(self.path("fewer.csv"), "API Name,Shape\n".encode())
        result = harness.run("api_precision_compare", "-npu", fewer, "-gpu", npu, "-o", out)
        self.assertIn("[ERROR] The following columns DEVICE Dtype,", result.out)
        self.assertEqual(harness.run("api_precision_compare", "-npu", npu).code, 2)
        text = harness.write_bytes(self.path("details.txt"), harness.read_bytes(npu))
        result = harness.run("api_precision_compare", "-npu", text, "-gpu", npu, "-o", out)
        self.assertEqual(result.code, 1)
        self.assertIn("details.txt should be one of the following types of files: ['.csv']!", result.out)


if __name__ == "__main__":
    harness.main()
