"""Every record of a dump is in a row or in a counted remark, in both forms and for every dump the tests have."""
import json
import os
import re
import tarfile
import tempfile

import dumps
import harness
import records

REMARK = re.compile(r"(\S+): (\d+) of (\d+) records (?:are of a kind|without a partner are in no row)")


def tensor(**more):
    return dumps.item("f32", [2, 3], **more)


class Accounting(harness.Case):
    """Runs the program and adds up."""

    def remarks(self, result):
        """{path: records that the messages count as left out}"""
        found = {}
        for path, left, _ in REMARK.findall(result.err):
            found[path] = found.get(path, 0) + int(left)
        return found

    def account(self, npu, bench, *options):
        """Rows and remarks against the walker's count, for both sides."""
        expected = [records.count(npu), records.count(bench)]
        out = tempfile.mkdtemp(prefix="account-", dir=self.folder)
        result = harness.run("compare", npu, bench, "-o", out, "-F", "csv", "--no-advice", "--no-highlight",
                             "--no-stack", *options)
        tables = [os.path.join(out, n) for n in harness.files_below(out) if n.endswith(".csv")]
        if result.code == 2 and not tables:
            # said to be trouble, by name
            self.assertIn("tdcmp: ", result.err)
            return False
        self.assertIn(result.code, (0, 1, 2), str(result))
        self.assertEqual(len(tables), 1, str(result))
        rows = harness.read_csv(tables[0])
        remarks = self.remarks(result)
        for path, column, wanted in ((npu, "NPU Name", expected[0]), (bench, "Bench Name", expected[1])):
            names = [row[column] for row in rows if row[column] != "N/A"]
            if "compat" in options and len(set(names)) != len(names):
                continue  # msprobe's cross product of repeated names
            self.assertEqual(len(names) + remarks.get(path, 0), wanted, "%s %s\n%s" % (path, options, result.err[-2000:]))
        return True

    def account_pairs(self, pairs):
        """The number of pairs that were compared."""
        done = 0
        for npu, bench in pairs:
            for rules in ("sound", "compat"):
                with self.subTest(npu=npu, bench=bench, rules=rules):
                    done += self.account(npu, bench, "--rules", rules)
        return done


def counterparts(paths):
    """Each file with its counterpart on the other side of a case, and with itself."""
    pairs = [(path, path) for path in paths]
    for path in paths:
        other = path.replace("/npu/", "/bench/")
        if other != path and os.path.exists(other):
            pairs.append((path, other))
    return pairs


class Archives(Accounting):
    def unpack(self, path):
        with tarfile.open(path) as archive:
            if hasattr(tarfile, "data_filter"):
                archive.extraction_filter = tarfile.data_filter
            archive.extractall(self.folder)
        return counterparts(records.find(self.folder))

    def test_golden(self):
        self.assertGreater(self.account_pairs(self.unpack(harness.GOLDEN)), 100)

    def test_precheck(self):
        for name in ("TDC_PRECHECK_GOLDEN", "TDC_PRECHECK_MORE"):
            self.assertGreater(self.account_pairs(self.unpack(os.environ[name])), 0)

    def test_real(self):
        folder = os.path.join(harness.DATA, "real")
        for name in sorted(os.listdir(folder)):
            self.assertGreater(self.account_pairs(self.unpack(os.path.join(folder, name))), 0)


class Kinds(Accounting):
    """Kinds of entries and items, one by one."""

    def side(self, name, data, task="statistics", file="dump.json"):
        dump = dumps.Dump(self.path(name), task, file)
        dump.data = data
        return dump.write()

    def both(self, npu, bench, code, **settings):
        paths = self.side("npu", npu, **settings), self.side("bench", bench, **settings)
        self.account(*paths)
        self.account(*paths, "--rules", "compat")
        if paths[0].endswith("debug.json"):
            rows = self.debug_rows(code, *paths)
            return harness.by_name(rows), None
        rows, result = self.compare(code, *paths)
        return harness.by_name(rows), result

    def debug_rows(self, code, npu, bench):
        out = tempfile.mkdtemp(prefix="out-", dir=self.folder)
        self.run_code(code, "compare", npu, bench, "-o", out, "-F", "csv")
        return harness.read_csv(harness.only_file(out, "csv", "debug_compare_result"))

    def gradients(self, kind, value, number="0"):
        return {"%s.a.Linear.forward.0" % kind: {"input_args": [tensor()], "output": [tensor()],
                                                 "parameters": {"weight": tensor()}},
                "%s.a.Linear.parameters_grad%s" % (kind, "." + number if number else ""):
                    {"weight": [tensor(stats=(value, -1.0, 0.1, 2.0))], "bias": [tensor()]}}

    def test_weight_gradients(self):
        """With and without the number of the micro batch, of Modules and Cells."""
        for kind in ("Module", "Cell"):
            for number in ("", "0", "1"):
                with self.subTest(kind=kind, number=number):
                    name = "%s.a.Linear.parameters_grad%s.weight" % (kind, "." + number if number else "")
                    rows, _ = self.both(self.gradients(kind, 1.0, number), self.gradients(kind, 9.0, number), 1)
                    self.assertEqual(rows[name]["Result"], "different")
                    rows, _ = self.both(self.gradients(kind, 1.0, number), self.gradients(kind, 1.0, number), 0)
                    self.assertEqual(len(rows), 5)

    def test_msprobe_counts_what_it_leaves_out(self):
        paths = [self.side(side, self.gradients("Module", 1.0)) for side in ("npu", "bench")]
        rows, result, _ = self.msprobe(0, *paths)
        self.assertEqual(len(rows), 3)
        for path in paths:
            self.assertIn("%s: 2 of 5 records are of a kind that msprobe makes no row of (first: "
                          "'Module.a.Linear.parameters_grad.0.weight')" % path, result.err)

    def test_bench_rows_without_a_partner(self):
        bench = self.gradients("Module", 1.0, "")
        npu = {k: v for k, v in bench.items() if "parameters_grad" not in k}
        paths = self.side("npu", npu), self.side("bench", bench)
        _, result, _ = self.msprobe(0, *paths)
        self.assertIn("%s: 2 of 5 records without a partner are in no row, as with msprobe (first: "
                      "'Module.a.Linear.parameters_grad.weight')" % paths[1], result.err)

    def test_entries_of_other_kinds(self):
        """Members that no collector of today writes, odd names, items in the place of calls."""
        odd = {"Functional.a.0.forward": {"input_args": [tensor()], "workspace": [tensor(), {"k": tensor()}],
                                          "is_recompute": False, "note": "text"},
               "nameless": {"x": tensor(), "y": [1, 2.5, "z", True, None]},
               "Torch.b.0.forward": tensor(), "Torch.c.0.forward": None, "Torch.d.0.forward": 7,
               "Torch.e.0.forward": [tensor(), [], {}, None], "Torch.f.0.forward": {}, "Torch.g.0.forward": []}
        rows, _ = self.both(odd, odd, 0)
        self.assertEqual(list(rows), [
            "Functional.a.0.forward.input.0", "Functional.a.0.forward.workspace.0",
            "Functional.a.0.forward.workspace.1.k", "Functional.a.0.forward.note", "nameless.x", "nameless.y.0",
            "nameless.y.1", "nameless.y.2", "nameless.y.3", "nameless.y.4", "Torch.b.0.forward", "Torch.c.0.forward",
            "Torch.d.0.forward", "Torch.e.0.forward.0", "Torch.e.0.forward.3"])
        changed = json.loads(json.dumps(odd).replace("2.5", "2.75"))
        rows, _ = self.both(odd, changed, 1)
        self.assertIn("Argument values differ.", rows["nameless.y.1"]["Err_message"])

    def test_debug(self):
        data = {"x.0.debug": tensor(), "y.0.debug": {"a": [tensor(), 3, "t", None, True], "b": {}},
                "z_grad.1.debug": None}
        rows, _ = self.both(data, data, 0, file="debug.json")
        self.assertEqual(len(rows), 7)

    def test_point_to_point(self):
        def operation(peer):
            return {"Distributed.batch_isend_irecv.0.forward": {"input_args": [[{
                "class_type": "torch.distributed.P2POp", "op": "isend", "tensor": tensor(), "peer": peer,
                "group_id": "x"}]]}}
        rows, _ = self.both(operation(1), operation(3), 1)
        self.assertIn("Argument values differ.",
                      rows["Distributed.batch_isend_irecv.0.forward.input.0.0.peer"]["Err_message"])

    def test_names_given_twice(self):
        text = json.dumps({"task": "statistics", "data": {"A.a.0.forward": {"input_args": [tensor()]}}})
        twice = text.replace('"A.a.0.forward"', '"A.a.0.forward": {"output": [null, null]}, "A.a.0.forward"')
        inner = text.replace('"input_args"', '"input_args": [null], "input_args"')
        for changed in (twice, inner):
            os.makedirs(self.path("twice"), exist_ok=True)
            path = harness.write_text(self.path("twice", "dump.json"), changed)
            rows, result = self.compare(0, path, path)
            self.assertEqual(len(rows), 1)
            self.assertIn("%s: 1 names are given twice, the last value counts (first: 'A.a.0.forward')" % path,
                          result.err)

    def test_digests_below_lists(self):
        """Checksums decide the mode wherever they stand."""
        def side(md5):
            item = {"type": "torch.Tensor", "dtype": "torch.float32", "shape": [2], "requires_grad": False, "md5": md5}
            return {"Module.a.Linear.parameters_grad.0": {"weight": [[item]]}}
        rows, _ = self.both(side("0x0000000000000001"), side("0x0000000000000002"), 1)
        self.assertEqual([row["Result"] for row in rows.values()], ["different"])


if __name__ == "__main__":
    harness.main()
