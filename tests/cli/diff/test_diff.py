"""`tdcmp diff`: every format against every other, what is missing, wrong or in pieces, exit codes and the last line."""
import csv
import json
import os
import unittest

import harness
from tensor_files import Namespace, Tensor, gguf, index, npy, npz, safetensors, torch_file, write

W = Tensor([0.5 * i for i in range(12)], [3, 4])
B = Tensor([1.0, -2.0, 3.0])
N = Tensor([7, 8], dtype="I64")


class Diff(harness.Case):
    def diff(self, a, b, *words):
        self.out = self.path("output")
        return harness.run("diff", a, b, "-o", self.out, "-F", "csv", *words)

    def rows(self):
        rows = harness.read_csv(harness.only_file(self.out, "csv"))
        for name in os.listdir(self.out):
            os.remove(os.path.join(self.out, name))
        return rows

    def forms(self, w=W):
        """The same three tensors in every form."""
        tensors = {"w": w, "b": B, "n": N}
        yield safetensors(self.path("s/model.safetensors"), tensors)
        yield safetensors(self.path("odd.safetensors"), tensors, before=b"xyz")
        yield npz(self.path("a.npz"), tensors)
        yield npz(self.path("c.npz"), tensors, compressed=True)
        yield torch_file(self.path("a.pt"), tensors)
        yield torch_file(self.path("m/pytorch_model.bin"), {"args": Namespace(x=1), "model": tensors, "rng": [3]})
        yield torch_file(self.path("l.ckpt"), {"state_dict": tensors, "other": {"w": B}})
        for name, tensor in tensors.items():
            npy(self.path("folder/%s.npy" % name), tensor)
        yield self.path("folder")
        for number, (name, tensor) in enumerate(tensors.items()):
            safetensors(self.path("shards/part-%d.safetensors" % number), {name: tensor, "unlisted": B})
        index(self.path("shards/model.safetensors.index.json"),
              {name: "part-%d.safetensors" % number for number, name in enumerate(tensors)})
        yield self.path("shards")
        torch_file(self.path("mcore/iter_0000002/mp_rank_00/model_optim_rng.pt"), {"model": tensors, "iteration": 2})
        torch_file(self.path("mcore/iter_0000001/mp_rank_00/model_optim_rng.pt"), {"model": {"w": B}})
        write(self.path("mcore/latest_checkpointed_iteration.txt"), b"2\n")
        yield self.path("mcore")

    def test_all_forms_are_equal(self):
        forms = list(self.forms())
        for form in forms:
            with self.subTest(form=form):
                run = self.diff(form, forms[0])
                self.assertEqual(run.code, 0, run)
                self.assertIn("3 tensors equal, 0 different, 0 unmatched", run.out)
                rows = {r["NPU Name"]: r for r in self.rows()}
                self.assertEqual(set(rows), {"w", "b", "n"})
                self.assertEqual(rows["w"]["Elements"], "12")

    def test_one_element_is_found_in_every_form(self):
        reference = safetensors(self.path("ref.safetensors"), {"w": W, "b": B, "n": N})
        for form in self.forms(W.changed(6, 3.5)):
            with self.subTest(form=form):
                run = self.diff(form, reference)
                self.assertEqual(run.code, 1, run)
                row = [r for r in self.rows() if r["NPU Name"] == "w"][0]
                self.assertEqual((row["MaxAbsErr"], row["Worst Abs At"]), ("0.5", "[1, 2]"))

    def test_key(self):
        a = torch_file(self.path("a.pt"), {"x": {"y.z": [W, {"b": B}]}, "n": N})
        b = npz(self.path("b.npz"), {"0": W, "1.b": B})
        self.assertEqual(self.diff(a, b, "--key", "x.y.z").code, 0)
        run = self.diff(a, b, "--key", "x.q")
        self.assertEqual(run.code, 2, run)
        self.assertIn("no key 'x.q'", run.err)

    def test_missing_extra_and_other_shapes(self):
        a = npz(self.path("a.npz"), {"w": W, "s": B, "only_a": B})
        b = npz(self.path("b.npz"), {"only_b": B, "s": N, "w": W})
        run = self.diff(a, b)
        self.assertEqual(run.code, 1, run)
        rows = self.rows()
        self.assertEqual([r["NPU Name"] for r in rows], ["w", "s", "only_a", "N/A"])
        self.assertEqual(rows[3]["Bench Name"], "only_b")
        self.assertEqual([r["Accuracy Reached or Not"] for r in rows],
                         ["identical", "unmatched", "unmatched", "unmatched"])
        self.assertEqual(self.diff(a, b, "--allow-unmatched").code, 0)

    def test_what_cannot_be_read_is_a_row(self):
        a = self.path("a")
        safetensors(self.path("a/good.safetensors"), {"w": W})
        write(self.path("a/bad.safetensors"), b"\xff" * 40)
        write(self.path("a/empty.npy"), b"")
        safetensors(self.path("a/f4.safetensors"), {}, header=b'{"q":{"dtype":"F4","shape":[2],"data_offsets":[0,1]}}',
                    before=b"\0" * 8)
        b = safetensors(self.path("b.safetensors"), {"w": W, "q": B})
        run = self.diff(a, b)
        self.assertEqual(run.code, 2, run)
        rows = {r["NPU Name"]: r for r in self.rows()}
        self.assertEqual(rows["w"]["Accuracy Reached or Not"], "identical")
        for name, text in (("bad", "bad.safetensors: not a safetensors file"), ("empty", "empty.npy: the file is empty"),
                           ("q", "q: dtype F4 is not supported")):
            self.assertEqual(rows[name]["Accuracy Reached or Not"], "error")
            self.assertIn(text, rows[name]["Err_message"])

    def test_index_and_its_files(self):
        safetensors(self.path("a/1.safetensors"), {"w": W})
        index(self.path("a/model.safetensors.index.json"),
              {"w": "1.safetensors", "b": "1.safetensors", "n": "2.safetensors"})
        b = npz(self.path("b.npz"), {"w": W, "b": B, "n": N})
        run = self.diff(self.path("a"), b)
        self.assertEqual(run.code, 2, run)
        rows = {r["NPU Name"]: r for r in self.rows()}
        self.assertEqual(rows["b"]["Err_message"], "1.safetensors: no tensor b")
        self.assertIn("2.safetensors", rows["n"]["Err_message"])
        self.assertEqual(rows["w"]["Accuracy Reached or Not"], "identical")
        index(self.path("a/model.safetensors.index.json"), {"w": "../b.npz"})
        run = self.diff(self.path("a"), b)
        self.assertEqual(run.code, 2, run)
        self.assertIn("no name of a file beside it", run.err)

    def test_gguf(self):
        tensors = {"blk.0.weight": Tensor(range(6), [2, 3]), "norm": Tensor([1.5, 2.5], dtype="F64"), "n": Tensor([7], [1], "I32")}
        a = gguf(self.path("a.gguf"), dict(tensors, q=([32], "Q4_0")))
        b = safetensors(self.path("b.safetensors"), dict(tensors, q=Tensor([0.0] * 32)))
        run = self.diff(a, b)
        rows = {row["NPU Name"]: row for row in self.rows()}
        self.assertEqual(run.code, 2, run)
        self.assertEqual("error", rows["q"]["Accuracy Reached or Not"])
        self.assertIn("q: dtype Q4_0 is not supported", rows["q"]["Err_message"])
        self.assertEqual({"identical"}, {rows[name]["Accuracy Reached or Not"] for name in tensors})
        self.assertEqual("[2, 3]", rows["blk.0.weight"]["NPU Tensor Shape"])
        with open(a, "rb") as file:
            whole = file.read()
        for size in (3, 20, 60, 200, len(whole) - 100):
            write(self.path("cut.gguf"), whole[:size])
            run = self.diff(self.path("cut.gguf"), b)
            self.assertEqual(run.code, 2, (size, run))
            self.assertIn("GGUF", run.err)
        self.assertIn("GGUF of version 7", self.diff(gguf(self.path("v.gguf"), tensors, version=7), b).err)

    def test_places_and_formats(self):
        """The words of compare: streams, files by their ending, rows and limits of one's own, paths alone."""
        a = safetensors(self.path("a.safetensors"), {"w": W.changed(6, 3.5), "b": B})
        b = safetensors(self.path("b.safetensors"), {"w": W, "b": B})
        shown = harness.run("diff", a, b, "--json")
        self.assertEqual((1, ["w", "b"]), (shown.code, [row["name"] for row in json.loads(shown.out)["rows"]]))
        self.assertEqual(["tdcmp", "diff"], json.loads(shown.out)["command"][:2])
        shown = harness.run("diff", a, b, "-o", "-", "--only", "different")
        self.assertEqual(["w"], [row["NPU Name"] for row in csv.DictReader(shown.out.splitlines())])
        for ending in ("csv", "xlsx", "json", "jsonl", "html"):
            place = self.path("one." + ending)
            shown = harness.run("diff", a, b, "-o", place, "-q")
            self.assertEqual((1, [place]), (shown.code, shown.out.split()), shown)
            self.assertTrue(os.path.getsize(place))
        self.assertEqual(0, harness.run("diff", a, b, "-o", self.path("out"), "--atol", "0.5", "-q").code)
        self.assertEqual(2, harness.run("diff", a, b, "-o", self.path("out"), "--series", "x").code)
        self.assertEqual(2, harness.run("diff", a, b, "-o", self.path("one.csv"), "-F", "json").code)

    def test_nothing_to_compare(self):
        os.makedirs(self.path("none"))
        b = npz(self.path("b.npz"), {"w": W})
        run = self.diff(self.path("none"), b)
        self.assertEqual(run.code, 2, run)
        self.assertIn("none: no tensors found", run.err)
        self.assertEqual(self.diff(self.path("absent.npz"), b).code, 2)
        safetensors(self.path("two/a.safetensors"), {"w": W})
        safetensors(self.path("two/b.safetensors"), {"w": W})
        run = self.diff(self.path("two"), b)
        self.assertEqual(run.code, 2, run)
        self.assertIn("w is in a.safetensors and in b.safetensors", run.err)
        self.assertEqual(harness.files_below(self.path("output")), [])

    def test_reading(self):
        big = Tensor(range(300000), [300, 1000], "I32")
        a = safetensors(self.path("a.safetensors"), {"x": B, "w": big}, before=b"1")
        b = npz(self.path("b.npz"), {"x": B, "w": big.changed(299999, -1)})
        results = set()
        for words in ([], ["--io", "mmap"], ["--io", "pread"], ["--io", "direct"], ["-t", "1"]):
            run = self.diff(a, b, *words)
            self.assertEqual(run.code, 1, run)
            results.add(str(self.rows()))
        self.assertEqual(len(results), 1)
        self.assertIn("[299, 999]", results.pop())


if __name__ == "__main__":
    unittest.main()
