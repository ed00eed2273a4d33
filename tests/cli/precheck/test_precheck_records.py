"""Which records of a PyTorch dump are judged, and by what: a real run of calls that are easily misread, as it was and
with single elements changed."""
import json
import math
import os
import random
import shutil
import struct
import tarfile
import tempfile
import zipfile

import harness
from dumps import Dump, item, pack, pt_bytes
from precheck_case import PrecheckCase, files_of, read_rows

ARCHIVE = os.environ.get("TDC_PRECHECK_RECORDS", "")
RETURNED = "the call returns its input: the record is of an earlier call"


class Records(PrecheckCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.dumps = tempfile.TemporaryDirectory(prefix="tdcmp-records-")
        with tarfile.open(ARCHIVE) as packed:
            packed.extractall(cls.dumps.name)
        cls.dump = os.path.join(cls.dumps.name, "edges_f32")
        cls.records = json.loads(harness.read_text(os.path.join(cls.dump, "dump.json")))["data"]

    @classmethod
    def tearDownClass(cls):
        cls.dumps.cleanup()
        super().tearDownClass()

    def statuses(self, dump, code):
        """{call: (forward, backward, message)} of the extended profile."""
        out = tempfile.mkdtemp(prefix="out-", dir=self.folder)
        self.run_code(code, "precheck", dump, "-o", out, "-q")
        return {row[0]: tuple(row[1:]) for row in read_rows(files_of(out)[0])[1]}

    def with_changes(self, changes):
        """A copy of the dump; changes: {file: function from a list of elements to another}."""
        copy = os.path.join(tempfile.mkdtemp(dir=self.folder), "dump")
        shutil.copytree(self.dump, copy)
        for name, change in changes.items():
            self.rewrite(os.path.join(copy, "dump_tensor_data", name), change)
        return copy

    def rewrite(self, path, change):
        with zipfile.ZipFile(path) as archive:
            parts = {info.filename: archive.read(info) for info in archive.infolist()}
        (data,) = [name for name in parts if name.endswith("/data/0")]
        kind = "q" if b"LongStorage" in next(parts[n] for n in parts if n.endswith("data.pkl")) else "f"
        format = "<%d%s" % (len(parts[data]) // struct.calcsize(kind), kind)
        parts[data] = struct.pack(format, *change(list(struct.unpack(format, parts[data]))))
        with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
            for name, content in parts.items():
                archive.writestr(name, content)

    def read(self, name):
        values = []
        path = os.path.join(tempfile.mkdtemp(dir=self.folder), name)
        shutil.copy(os.path.join(self.dump, "dump_tensor_data", name), path)
        self.rewrite(path, lambda elements: values.extend(elements) or elements)
        return values

    def test_a_correct_run_is_silent(self):
        found = self.statuses(self.dump, 0)
        self.assertEqual([call for call, row in found.items() if "error" in row[:2]], [])
        backward = [row[1] for call, row in found.items() if call + ".backward" in self.records]
        self.assertGreater(backward.count("pass"), 100)
        for call in ("Tensor.to.0", "Tensor.type_as.0", "Tensor.flatten.0", "Functional.dropout.1", "Tensor.float.0"):
            self.assertEqual(found[call], ("pass", "SKIP", RETURNED), call)
        for call in ("Functional.linear.0", "Functional.linear.1", "Torch.matmul.0", "Tensor.__matmul__.0", "Torch.cat.0",
                     "Functional.cross_entropy.0", "Functional.cross_entropy.1", "Functional.cross_entropy.2",
                     "Functional.cross_entropy.3", "Functional.l1_loss.0", "Functional.kl_div.0", "Torch.einsum.0",
                     "Functional.instance_norm.0", "Functional.avg_pool1d.0", "Functional.max_pool1d.0", "Torch.outer.0",
                     "Functional.softsign.0", "Functional.tanhshrink.0", "Functional.dropout.0",
                     "Functional.dropout2d.0", "Tensor.sort.0", "Torch.topk.0", "Torch.kthvalue.0", "Torch.mode.0",
                     "Torch.median.0", "Torch.max.0"):
            self.assertEqual(found[call][:2], ("pass", "pass"), call)
        # drawn inside: the forward cannot be told, of the backward the reshape at the end was recorded
        self.assertEqual(found["Functional.scaled_dot_product_attention.0"][:2], ("SKIP", "pass"))

    def test_one_wrong_element_of_a_gradient(self):
        calls = ("Functional.linear.0", "Functional.linear.1", "Torch.matmul.0", "Torch.cat.0", "Functional.cross_entropy.0",
                 "Functional.cross_entropy.3", "Functional.l1_loss.0", "Functional.kl_div.0", "Torch.einsum.0",
                 "Functional.instance_norm.0", "Functional.scaled_dot_product_attention.0", "Torch.outer.0",
                 "Functional.softsign.0", "Functional.dropout.0", "Tensor.sort.0", "Torch.topk.0", "Torch.max.0")
        changes = {}
        for call in calls:
            outputs = self.records[call + ".backward"]["output"]
            name = next(o["data_name"] for o in reversed(outputs) if o is not None and "data_name" in o)
            changes[name] = lambda elements: [elements[0] + 1] + elements[1:]
        found = self.statuses(self.with_changes(changes), 1)
        self.assertEqual(sorted(call for call, row in found.items() if row[1] == "error"), sorted(calls))
        self.assertEqual([call for call, row in found.items() if row[0] == "error"], [])

    def test_positions_of_equal_elements(self):
        values = self.read("Torch.argsort.0.forward.input.0.pt")
        order = self.read("Torch.argsort.0.forward.output.0.pt")
        # (2, 3, 6) along dimension 1
        lines = [(b, f) for b in range(2) for f in range(6)]

        def line(data, b, f):
            return [data[(b * 3 + s) * 6 + f] for s in range(3)]

        def exchanged(equal):
            for b, f in lines:
                chosen, column = line(order, b, f), line(values, b, f)
                for s in range(2):
                    if (column[chosen[s]] == column[chosen[s + 1]]) == equal:
                        at, other = (b * 3 + s) * 6 + f, (b * 3 + s + 1) * 6 + f
                        return {at: order[other], other: order[at]}
            raise AssertionError("no such pair")

        def change(places):
            return {"Torch.argsort.0.forward.output.0.pt":
                    lambda elements: [places.get(i, e) for i, e in enumerate(elements)]}

        self.assertEqual(self.statuses(self.with_changes(change(exchanged(True))), 0)["Torch.argsort.0"][0], "pass")
        self.assertEqual(self.statuses(self.with_changes(change(exchanged(False))), 1)["Torch.argsort.0"][0], "error")
        at = next(iter(exchanged(True)))
        other = exchanged(True)
        twice = {at: order[[k for k in other if k != at][0]]}
        self.assertEqual(self.statuses(self.with_changes(change(twice)), 1)["Torch.argsort.0"][0], "error")

    def test_stable_order_is_a_promise(self):
        record = self.records["Torch.argsort.1.forward"]
        self.assertTrue(record["input_kwargs"]["stable"]["value"])
        name = record["output"][0]["data_name"]
        values, order = self.read(record["input_args"][0]["data_name"]), self.read(name)
        for base in (b * 18 + f for b in range(2) for f in range(6)):
            for at, other in ((base, base + 6), (base + 6, base + 12)):
                if values[base + 6 * order[at]] != values[base + 6 * order[other]]:
                    continue
                places = {at: order[other], other: order[at]}
                change = {name: lambda elements: [places.get(k, e) for k, e in enumerate(elements)]}
                self.assertEqual(self.statuses(self.with_changes(change), 1)["Torch.argsort.1"][0], "error")
                return
        self.fail("no equal elements")

    def test_dropout(self):
        name = "Functional.dropout.0.forward.%s.0.pt"
        inputs, outputs = self.read(name % "input"), self.read(name % "output")
        self.assertIn((0.0, 0.0), list(zip(inputs, outputs)))
        zero = inputs.index(0.0)
        kept = next(i for i, y in enumerate(outputs) if y != 0)
        gradient = "Functional.dropout.0.backward.output.0.pt"
        wrong = {
            "a zero that became something": {name % "output": lambda e: e[:zero] + [1.0] + e[zero + 1:]},
            "not scaled": {name % "output": lambda e: e[:kept] + [inputs[kept]] + e[kept + 1:]},
            "a mask of its own": {gradient: lambda e: e[:kept] + [0.0] + e[kept + 1:]},
            "nearly nothing kept": {name % "output": lambda e: [y if i == kept else 0.0 for i, y in enumerate(e)]},
        }
        for what, change in wrong.items():
            self.assertIn("error", self.statuses(self.with_changes(change), 1)["Functional.dropout.0"][:2], what)
        # of an input of zero nobody can tell whether it was dropped
        unknown = {gradient: lambda e: e[:zero] + [0.0 if e[zero] != 0 else 1 / 0.6] + e[zero + 1:]}
        self.assertEqual(self.statuses(self.with_changes(unknown), 0)["Functional.dropout.0"][:2], ("pass", "pass"))

    def dropout_forward(self, shape, zeroed, api="dropout"):
        """The row of a dropout with p = 0.4 whose first `zeroed` elements are zero, whatever was drawn."""
        draw = random.Random(5)
        dump = Dump(tempfile.mkdtemp(dir=self.folder))
        count, inner = math.prod(shape), shape[-1] if api != "dropout" else 1
        inputs = [float(draw.randint(1, 64)) for _ in range(count)]
        kept = [draw.random() >= 0.4 for _ in range(count // inner)]
        outputs = [x * (5 / 3) * kept[i // inner] * (i >= zeroed) for i, x in enumerate(inputs)]
        dump.call(api, "input", inputs, shape)
        entry = dump.data["Functional.%s.0.forward" % api]
        entry["input_args"].append({"type": "float", "value": 0.4})
        entry["input_kwargs"] = {}
        dump.call(api, "output", outputs, shape)
        dump.write()
        out = tempfile.mkdtemp(prefix="out-", dir=self.folder)
        result = harness.run("precheck", dump.folder, "-o", out, "-q")
        (row,) = read_rows(files_of(out)[0])[1]
        self.assertEqual(result.code, 1 if row[1] == "error" else 0)
        return row

    def test_a_dropped_row_that_no_chance_explains(self):
        self.assertEqual(self.dropout_forward([64, 32], 0)[1], "pass")
        row = self.dropout_forward([64, 32], 32)
        self.assertEqual(row[1], "error")
        self.assertIn("a whole row is dropped, p is 0.4", row[3])
        # eight elements of one in 64 rows: 4 percent of all dropouts
        self.assertEqual(self.dropout_forward([64, 8], 8)[1], "pass")
        # channels are dropped as a whole
        self.assertEqual(self.dropout_forward([4, 16, 32], 0, "dropout1d")[1], "pass")

    def test_dropout_of_zeros(self):
        """An input of zeros says nothing of the factor, which the gradient has all the same."""
        draw = random.Random(6)
        dump, shape = Dump(tempfile.mkdtemp(dir=self.folder)), [16, 16]
        gradient = [float(draw.randint(1, 64)) for _ in range(256)]
        passed_on = [g * (5 / 3) * (draw.random() >= 0.4) for g in gradient]
        dump.call("dropout", "input", [0.0] * 256, shape)
        entry = dump.data["Functional.dropout.0.forward"]
        entry["input_args"].append({"type": "float", "value": 0.4})
        entry["input_kwargs"] = {}
        dump.call("dropout", "output", [0.0] * 256, shape)
        backward = {}
        for part, values in (("input", gradient), ("output", passed_on)):
            name = "Functional.dropout.0.backward.%s.0.pt" % part
            dump.file(name, pt_bytes("f32", shape, pack("f32", values)))
            backward[part] = [item("f32", shape, name)]
        backward["output"].append(None)
        dump.entry("Functional.dropout.0.backward", **backward)
        dump.write()
        self.assertEqual(self.statuses(dump.folder, 0)["Functional.dropout.0"][:2], ("pass", "pass"))
        name = "Functional.dropout.0.backward.output.0.pt"
        dump.file(name, pt_bytes("f32", shape, pack("f32", [0.6 * g for g in passed_on])))
        self.assertEqual(self.statuses(dump.folder, 1)["Functional.dropout.0"][:2], ("pass", "error"))

    def test_compat_is_as_before(self):
        out = tempfile.mkdtemp(prefix="out-", dir=self.folder)
        self.run_code(1, "precheck", self.dump, "-o", out, "-q", "--profile", "compat")
        found = {row[0]: row for row in read_rows(files_of(out)[0])[1]}
        self.assertEqual(found["Functional.linear.0"][2], "SKIP")
        self.assertIn("do not belong", found["Functional.linear.0"][3])


if __name__ == "__main__":
    harness.main()
