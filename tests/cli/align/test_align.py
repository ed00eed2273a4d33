"""Runs that are laid out differently: golden tables, rules that are wrong, tensors put together against files."""
import csv
import glob
import json
import os
import re
import tarfile

import harness
import situations

ARCHIVE = os.path.join(os.path.dirname(harness.GOLDEN), "align.tar.xz")

# column of the expected table -> column of the result
COLUMNS = {"shape": "NPU Tensor Shape", "elements": "Elements", "cosine": "Cosine", "max_abs_err": "MaxAbsErr",
           "max_rel_err": "MaxRelativeErr", "worst_abs_at": "Worst Abs At", "worst_rel_at": "Worst Rel At",
           "rmse": "RMSE"}


def rows_of(folder, start):
    with open(sorted(glob.glob(os.path.join(folder, start + "_*.csv")))[-1], newline="", encoding="utf-8-sig") as file:
        return list(csv.DictReader(file))


def table(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def agree(column, got, want):
    if got == want:
        return True
    try:
        got, want = float(got), float(want)
    except (TypeError, ValueError):
        return False
    if column == "cosine":
        return abs(got - want) <= 2e-12
    return abs(got - want) <= (1e-9 * abs(want) if column == "rmse" else 0)


class Golden(harness.Case):
    def unpacked(self):
        with tarfile.open(ARCHIVE) as archive:
            archive.extractall(self.folder)
        return self.folder

    def test_tables(self):
        root = self.unpacked()
        for case in sorted(os.listdir(root)):
            folder = os.path.join(root, case)
            if not os.path.exists(os.path.join(folder, "expected.csv")):
                continue
            with self.subTest(case=case):
                out = os.path.join(root, "out_" + case)
                done = harness.run("compare", "a", "b", "--align", "align.yaml", "-F", "csv", "-q", "-o", out, cwd=folder)
                self.assertIn(done.code, (0, 1, 2), done)
                self.check_rows(table(os.path.join(folder, "expected.csv")), rows_of(out, "compare_result"))
                axis = os.path.join(folder, "expected_axis.csv")
                if os.path.exists(axis):
                    self.check_series(table(axis), rows_of(out, "compare_axis"))

    def check_rows(self, want, got):
        self.assertEqual(len(want), len(got))
        for expected, row in zip(want, got):
            name = row["NPU Name"] if row["NPU Name"] != "N/A" else row["Bench Name"]
            self.assertEqual(expected["name"], name)
            if expected["message"]:
                self.assertIn(expected["message"], row["Err_message"].split("\n"))
            for column, title in COLUMNS.items():
                if expected["elements"]:
                    self.assertTrue(agree(column, row[title], expected[column]),
                                    (name, column, row[title], expected[column]))

    def check_series(self, want, got):
        self.assertEqual(len(want), len(got))
        for expected, row in zip(want, got):
            for column, value in expected.items():
                self.assertTrue(agree(column, row[column], value), (expected, row))

    def test_wrong_rules(self):
        folder = os.path.join(self.unpacked(), "file_errors")
        for case in table(os.path.join(folder, "expected_errors.csv")):
            with self.subTest(file=case["file"]):
                done = harness.run("compare", "a", "b", "--align", case["file"], "-o", "out", cwd=folder)
                self.assertEqual((int(case["exit"]), case["stderr"]), (done.code, done.err.strip()), done)
                self.assertFalse(os.path.exists(os.path.join(folder, "out")))


class Situations(harness.Case):
    """The five of docs/align.md: each finds the one element that is off."""

    def test_each(self):
        worst = {"megatron_one_card": ("layers.0.core_attention", "[0, 5, 2, 1]"),
                 "fsdp_tp": ("fc.weight", "[4, 3]"),
                 "hf_megatron_checkpoint": ("model.layers.0.mlp.up_proj.weight", "[4, 0]"),
                 "training_decode": ("final_norm", "[5, 2]"),
                 "moe_experts": ("layers.0.experts.w13", "[2, 0, 1, 1]")}
        situations.main(self.folder)
        for case, (name, place) in worst.items():
            with self.subTest(case=case):
                folder = os.path.join(self.folder, case)
                done = harness.run("compare", "test", "ref", "--align", "align.yaml", "-F", "csv,json", "-q", "-o", "out",
                                   cwd=folder)
                self.assertEqual(1, done.code, done)
                rows = {row["NPU Name"]: row for row in rows_of(os.path.join(folder, "out"), "compare_result")}
                self.assertEqual((place, "0.5"), (rows[name]["Worst Abs At"], rows[name]["MaxAbsErr"]))
                for other in set(rows) - {name}:
                    self.assertEqual(0, float(rows[other]["MaxAbsErr"]), other)
                shown = harness.run("match", "test", "ref", "--align", "align.yaml", cwd=folder)
                self.assertEqual(0, shown.code, shown)
                self.assertEqual(list(rows), [line.split("\t")[0] for line in shown.out.splitlines()])

    def test_series_in_json(self):
        folder = os.path.join(self.folder, "steps")
        situations.training_decode(folder)
        done = harness.run("compare", "test", "ref", "--align", "align.yaml", "-F", "json", "-q", "-o", "out", cwd=folder)
        self.assertEqual(1, done.code, done)
        with open(glob.glob(os.path.join(folder, "out", "compare_result_*.json"))[0], encoding="utf-8") as file:
            row = json.load(file)["rows"][0]
        self.assertEqual("t", row["series"][0]["axis"])
        self.assertEqual([0, 0, 0, 0, 0, 0.5, 0], row["series"][0]["max_abs_err"])


class Assembled(harness.Case):
    """Numbers of a tensor put together are those of a file that holds it, to the last digit."""

    def test_equal(self):
        rows, columns = 96, 1100  # more than one span of both sides
        whole = situations.Array((rows, columns), (((i * 2654435761) % 1000003) / 977 for i in range(rows * columns)))
        other = situations.Array(whole.shape, (v * (1 + (i % 7) * 1e-4) for i, v in enumerate(whole.values)))
        name = "Module.fc.Linear.forward.0.output.0"
        situations.dump(self.folder + "/one/step0/rank0", {name: whole})
        situations.dump(self.folder + "/ref/step0/rank0", {name: other})
        for rank in range(4):
            tp, cp = rank % 2, rank // 2
            lines = [i for c in (cp, 3 - cp) for i in range(24 * c, 24 * c + 24)]
            situations.dump(self.folder + "/many/step0/rank%d" % rank, {
                name: situations.made((550, 48), lambda c, r: whole.at((lines[r], tp * 550 + c)))})
        one = "version: 1\ntensors:\n  - {name: x, a: \"Module.fc.**\", b: \"Module.fc.**\"}\n"
        many = ("version: 1\na: {mesh: \"tp=2 cp=2\"}\ntensors:\n  - {name: x, a: {match: \"Module.fc.**\", dims: "
                "\"c[tp] r[cp:zigzag]\"}, b: {match: \"Module.fc.**\", dims: \"r c\"}}\n")
        harness.write_text(self.folder + "/one.yaml", one)
        harness.write_text(self.folder + "/many.yaml", many)
        results = []
        for case in ("one", "many"):
            for threads in ("1", "2"):
                out = os.path.join(self.folder, "out", case + threads)
                done = harness.run("compare", self.folder + "/" + case, self.folder + "/ref", "--align",
                                   self.folder + "/" + case + ".yaml", "-F", "csv", "-q", "-t", threads, "-o", out)
                self.assertIn(done.code, (0, 1), done)
                row = rows_of(out, "compare_result")[0]
                results.append({k: v for k, v in row.items() if k not in ("Axes", "NPU Parts", "Bench Parts")})
        for result in results[1:]:
            self.assertEqual(results[0], result)


class Words(harness.Case):
    def test_presets(self):
        listed = harness.run("align", "--list")
        self.assertEqual(["llama", "moe", "transformer", "verl"], listed.out.split())
        for name in listed.out.split():
            shown = harness.run("align", "--show", name)
            self.assertEqual(0, shown.code)
            self.assertTrue(re.search(r"^tensors:", shown.out, re.M), name)
        self.assertEqual(2, harness.run("align", "--show", "nothing").code)

    def test_wrong_company(self):
        for words in (("--rules", "msprobe"), ("--fuzzy",)):
            done = harness.run("compare", "a", "b", "--align", "x.yaml", *words)
            self.assertEqual(2, done.code)
            self.assertIn("--align needs the rules sound", done.err)


if __name__ == "__main__":
    harness.main()
