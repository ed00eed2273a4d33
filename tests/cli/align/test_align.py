"""Runs that are laid out differently: golden tables, rules that are wrong, tensors put together against files."""
import csv
import glob
import json
import os
import re
import shutil
import tarfile

import harness
import situations
from tensor_files import Tensor, torch_file

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


# With the library of tests/fault, a descriptor that is closed twice ends the process.
WATCHED = {"LD_PRELOAD": os.environ["TDC_FAULT"]} if os.environ.get("TDC_FAULT") else None


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
                                   cwd=folder, env=WATCHED)
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
        shown = harness.run("compare", "test", "ref", "--align", "align.yaml", "-F", "csv", "-o", "out2", cwd=folder)
        self.assertRegex(shown.out, r"final_norm: largest RMSE [0-9.]+ at t=5; above ten times the median \(0\) from t=5 on")


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


class Statistics(harness.Case):
    """Dumps of task statistics: joined parts have a maximum, a minimum, a mean and a norm."""

    def dumped(self, folder, name, array):
        situations.dump(folder, {name: array})
        path = os.path.join(folder, "dump.json")
        with open(path, encoding="utf-8") as file:
            text = json.load(file)
        text["task"] = "statistics"
        for call in text["data"].values():
            for leaf in call["output"]:
                leaf.pop("data_name", None)
        with open(path, "w", encoding="utf-8") as file:
            json.dump(text, file)

    def test_joined_parts_and_what_cannot_be_told(self):
        whole = situations.numbers((8, 6))
        for name, off in (("fc", 0), ("bad", 4), ("cut", 0), ("added", 0)):
            record = "Module.%s.Linear.forward.0.output.0" % name
            self.dumped(self.folder + "/b/step0/rank0", record, whole)
            for rank in range(2):
                part = situations.made((4, 6), lambda r, c: whole.at((rank * 4 + r, c)) +
                                       (off if (rank, r, c) == (1, 2, 3) else 0))
                self.dumped(self.folder + "/a/step0/rank%d" % rank, record, part)
        lines = ["version: 1", "a: {mesh: \"tp=2\"}", "tensors:"]
        for name, dims in (("fc", "r[tp] c"), ("bad", "r[tp] c"), ("cut", "r[tp]{0..4} c"), ("added", "r c ; tp=sum")):
            lines.append("  - {name: %s, a: {match: \"Module.%s.**\", dims: \"%s\"}, b: {match: \"Module.%s.**\", "
                         "dims: \"r%s c\"}}" % (name, name, dims, name, {"cut": "{0..4}", "added": "{0..4}"}.get(name, "")))
        harness.write_text(self.folder + "/align.yaml", "\n".join(lines) + "\n")
        done = harness.run("compare", self.folder + "/a", self.folder + "/b", "--align", self.folder + "/align.yaml",
                           "-F", "csv", "-q", "-o", self.folder + "/out")
        self.assertEqual(1, done.code, done)
        rows = {row["NPU Name"]: row for row in rows_of(self.folder + "/out", "compare_result")}
        values = whole.values
        wanted = {"max": max(values), "min": min(values), "mean": sum(values) / 48,
                  "l2norm": sum(v * v for v in values) ** 0.5}
        for side in ("NPU", "Bench"):
            for word, value in wanted.items():
                self.assertAlmostEqual(float(rows["fc"][side + " " + word]), value, delta=1e-10, msg=(side, word))
        self.assertEqual("identical", rows["fc"]["Verdict"])
        self.assertEqual("different", rows["bad"]["Verdict"])
        for name in ("cut", "added"):
            self.assertEqual("not judged", rows[name]["Verdict"])
            self.assertIn("A: what ranges, tokens or sums leave cannot be told from statistics",
                          rows[name]["Err_message"].split("\n"))


class Engine(harness.Case):
    """Folders of SGLang's dumper say their ranks, steps and axes themselves."""

    def save(self, side, step, rank, number, name, tensor, meta, **tags):
        words = ["step=%d" % step, "rank=%d" % rank, "dump_index=%d" % number, "name=" + name]
        words += ["%s=%s" % item for item in tags.items()]
        torch_file(self.path(os.path.join(side, "___".join(words) + ".pt")), {"value": tensor, "meta": meta})

    def made(self):
        for step in (0, 1):
            x = [float(step * 100 + i) for i in range(12)]
            for rank in range(2):
                info = {"tp_rank": rank, "tp_size": 2, "pp_rank": 0, "pp_size": 1, "attn": "fa3"}
                part = [x[r * 4 + rank * 2 + c] for r in range(3) for c in range(2)]
                if (step, rank) == (1, 1):
                    part[3] += 0.5
                self.save("a", step, rank, 0, "hidden", Tensor(part, [3, 2]),
                          {"dims": "t h[tp]", "sglang_parallel_info": info}, layer_id=3)
                self.save("a", step, rank, 1, "out", Tensor([v * rank for v in x], [3, 4]),
                          {"dims": "t h[tp:partial]", "sglang_parallel_info": info}, recompute_status="disabled")
            info = {"tp_rank": 0, "tp_size": 1}
            self.save("b", step, 0, 0, "hidden", Tensor(x, [3, 4]), {"dims": "t h", "megatron_parallel_info": info},
                      layer_id=3)
            self.save("b", step, 0, 1, "out", Tensor(x, [3, 4]), {"dims": "t h", "megatron_parallel_info": info})
        torch_file(self.path("a/step=0___rank=0___dump_index=2___name=batch_size.pt"), {"value": 3, "meta": {}})

    def check(self, *words, code=1):
        done = harness.run(words[0], self.path("a"), self.path("b"), *words[1:], "-F", "csv", "-q", "-o", self.path("out"))
        self.assertEqual(code, done.code, done)
        return {row["NPU Name"]: row for row in rows_of(self.path("out"), "compare_result")}

    def test_without_rules(self):
        self.made()
        for command in ("compare", "diff"):
            rows = self.check(command)
            self.assertEqual(["hidden.layer_id=3 @step=0", "out @step=0", "hidden.layer_id=3 @step=1", "out @step=1"],
                             sorted(rows, key=lambda name: (name[-1], name)))
            off = rows["hidden.layer_id=3 @step=1"]
            self.assertEqual(("[1, 3]", "0.5"), (off["Worst Abs At"], off["MaxAbsErr"]))
            self.assertEqual({"0"}, {rows[name]["MaxAbsErr"] for name in rows if name != "hidden.layer_id=3 @step=1"})
            self.assertEqual("2 parts: step1/rank0 step1/rank1; t h[tp]", off["NPU Parts"])
            shutil.rmtree(self.path("out"))

    def test_with_rules(self):
        self.made()
        harness.write_text(self.path("align.yaml"),
                           "version: 1\ntensors:\n  - {name: \"h{l}\", a: \"hidden.layer_id={l}\", b: \"hidden.layer_id={l}\"}\n")
        rows = self.check("compare", "--align", self.path("align.yaml"), "--step", "1")
        self.assertEqual(["h3"], list(rows))
        self.assertEqual("0.5", rows["h3"]["MaxAbsErr"])
        self.assertEqual("2 parts: rank0 rank1; t h[tp]", rows["h3"]["NPU Parts"])

    def test_a_missing_rank_and_a_broken_file(self):
        self.made()
        os.remove(self.path("a/step=0___rank=1___dump_index=0___name=hidden___layer_id=3.pt"))
        harness.write_text(self.path("a/step=1___rank=0___dump_index=1___name=out___recompute_status=disabled.pt"), "no")
        rows = self.check("compare", code=2)
        self.assertIn("A: no part for tp=1 (1 of 2 found)", rows["hidden.layer_id=3 @step=0"]["Err_message"])
        self.assertEqual("error", rows["out @step=1"]["Verdict"])


class Texts(harness.Case):
    """What the golden tables have no row for."""

    def check(self, rules, code):
        harness.write_text(self.path("align.yaml"), rules)
        done = harness.run("compare", self.path("a"), self.path("b"), "--align", self.path("align.yaml"), "-F", "csv", "-q",
                           "-o", self.path("out"))
        self.assertEqual(code, done.code, done)
        return rows_of(self.path("out"), "compare_result")

    def test_a_range_names_every_index(self):
        whole = situations.numbers((200,))
        order = [(i * 77 + 5) % 200 for i in range(200)]
        name = "Module.x.Op.forward.0.output.0"
        situations.dump(self.path("a/rank0"), {name: whole})
        situations.dump(self.path("b/rank0"), {name: situations.made((200,), lambda i: whole.at((order[i],)))})
        row, = self.check("version: 1\ntensors:\n  - {name: x, a: {match: \"**\", dims: \"n{%s}\"}, b: {match: \"**\", dims: n}}\n"
                          % ",".join(map(str, order)), 0)
        self.assertEqual(("200", "0"), (row["Elements"], row["MaxAbsErr"]))

    def test_what_one_side_has(self):
        """Its logical shape and parts stand in the row; where it cannot be put together there is no shape."""
        part, name = situations.numbers((2, 3)), "Module.%s.Op.forward.0.output.0"
        for rank in range(2):
            situations.dump(self.path("a/rank%d" % rank), {name % "x": part, name % "same": part})
        situations.dump(self.path("a/rank0"), {name % "y": part})
        situations.dump(self.path("b/rank0"), {name % "same": part, name % "z": part})
        rows = self.check("version: 1\na: {mesh: \"tp=2\"}\ntensors:\n" + "".join(
            "  - {name: %s, a: {match: \"**.%s.Op.**\", dims: \"n%s m\"}, b: {match: \"**.%s.Op.**\", dims: \"n m\"}}\n"
            % (x, x, "" if x == "same" else "[tp]", x) for x in ("same", "x", "y", "z")), 1)
        self.assertEqual([("[2, 3]", "[2, 3]"), ("[4, 3]", "N/A"), ("N/A", "N/A"), ("N/A", "[2, 3]")],
                         [(row["NPU Tensor Shape"], row["Bench Tensor Shape"]) for row in rows])
        self.assertEqual("2 parts: rank0 rank1; n[tp] m", rows[1]["NPU Parts"])

    def test_replicas_of_both_sides_share_a_line(self):
        x, name = situations.numbers((2, 3)), "Module.x.Op.forward.0.output.0"
        for side, by in (("a", 0.5), ("b", 2)):
            situations.dump(self.path(side + "/rank0"), {name: x})
            situations.dump(self.path(side + "/rank1"), {name: x.moved((1, 2), by)})
        row, = self.check("version: 1\ntensors:\n  - {name: x, a: \"**\", b: \"**\"}\n", 2)
        self.assertIn("A: replicas rank0 and rank1 differ, max abs err 0.5 at [1, 2]; B: replicas rank0 and rank1 differ, max "
                      "abs err 2 at [1, 2]", row["Err_message"].split("\n"))

    def test_placements_are_named_by_axis(self):
        name = "Module.x.Op.forward.0.output.0"
        situations.dump(self.path("b/rank0"), {name: situations.numbers((2, 3))})
        for rank in (0, 1, 2, 4, 5):
            folder = self.path("a/rank%d" % rank)
            situations.dump(folder, {name: situations.numbers((1, 1))})
            path = os.path.join(folder, "dump.json")
            with open(path, encoding="utf-8") as file:
                text = json.load(file)
            for call in text["data"].values():
                call["output"][0].update(device_mesh=[[0, 1], [2, 3], [4, 5]],
                                         placements=[{"Shard": {"dim": 1}}, {"Shard": {"dim": 0}}])
            with open(path, "w", encoding="utf-8") as file:
                json.dump(text, file)
        row, = self.check("version: 1\na: {mesh: dtensor}\ntensors:\n  - {name: x, a: \"**\", b: \"**\"}\n", 2)
        self.assertIn("A: no part for m1=1 m0=1 (5 of 6 found)", row["Err_message"].split("\n"))


    def test_mistakes_of_files(self):
        name = "Module.x.Op.forward.0.output.0"
        for place in ("a/rank0", "a/rank1", "b/rank0"):
            situations.dump(self.path(place), {name: situations.numbers((2, 3))})
        rule = "tensors: [{name: x, a: \"**\", b: \"**\"}]\n"
        harness.write_text(self.path("used.yaml"), "use: [align.yaml]\n")
        for text, said in (("use: [./used.yaml]\n" + rule, "./used.yaml:1: preset 'align.yaml' uses itself"),
                           ("a: {mesh: \"tp=2 tp=2\"}\n" + rule, "align.yaml:1: mesh 'tp=2 tp=2': cannot read 'tp=2'"),
                           ("rest: compare\n" + rule, "align.yaml:1: rest: compare needs the same ranks on both sides")):
            harness.write_text(self.path("align.yaml"), text)
            done = harness.run("compare", "a", "b", "--align", "align.yaml", "-o", "out", cwd=self.folder)
            self.assertEqual((2, said), (done.code, done.err.strip()))


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
