"""The graph database of the TensorBoard plugin: msprobe's tables, cell by cell, and whole trees."""
import csv
import glob
import json
import os
import shutil
import sqlite3
import tarfile

import dumps
import harness

ARCHIVE = os.path.join(os.path.dirname(harness.GOLDEN), "visual.tar.xz")
TABLES = ("tb_nodes", "tb_stack", "tb_config")


def tensor(value, shape=(2, 3), **more):
    return {"type": "torch.Tensor", "dtype": "torch.float32", "shape": list(shape), "Max": value, "Min": -value,
            "Mean": value / 4, "Norm": value * 2, "requires_grad": False, **more}


def call(value, shape=(2, 3), **more):
    return {"input_args": [tensor(1.0)], "input_kwargs": {}, "output": [tensor(value, shape)], **more}


def write_dump(folder, data, construct, stack=None, **head):
    os.makedirs(folder, exist_ok=True)
    top = {"task": "statistics", "level": "mix", "framework": "pytorch", "dump_data_dir": None, **head, "data": data}
    harness.write_text(os.path.join(folder, "dump.json"), json.dumps(top))
    harness.write_text(os.path.join(folder, "construct.json"), json.dumps(construct))
    harness.write_text(os.path.join(folder, "stack.json"), json.dumps(stack if stack is not None else {}))
    return folder


class Database:
    def __init__(self, folder, start="compare"):
        found = glob.glob(os.path.join(folder, start + "_*.vis.db"))
        assert len(found) == 1, os.listdir(folder)
        connection = sqlite3.connect(found[0])
        connection.row_factory = sqlite3.Row
        self.check = connection.execute("pragma integrity_check").fetchone()[0]
        self.schema = [row[0] for row in connection.execute("select sql from sqlite_master where sql is not null")]
        self.tables = {name: [dict(row) for row in connection.execute("select * from " + name)] for name in TABLES}
        connection.close()

    def node(self, name, source="NPU", **place):
        found = [row for row in self.tables["tb_nodes"] if row["node_name"] == name and row["data_source"] == source and
                 all(row[key] == value for key, value in place.items())]
        assert len(found) == 1, (name, len(found))
        return found[0]

    def names(self, source="NPU"):
        return [row["node_name"] for row in self.tables["tb_nodes"] if row["data_source"] == source]


class Visual(harness.Case):

    def graph(self, npu, bench, *words, code=0):
        """msprobe's words."""
        paths = {"npu_path": npu, **({"bench_path": bench} if bench else {})}
        config = harness.write_text(self.path("compare.json"), json.dumps(paths))
        shutil.rmtree(self.path("out"), ignore_errors=True)
        result = self.run_code(code, "-f", "pytorch", "graph", "-i", config, "-o", self.path("out"), *words)
        if code != 0:
            self.assertFalse(os.path.exists(self.path("out")) and os.listdir(self.path("out")))
            return result.out + result.err
        return Database(self.path("out"), "compare" if bench else "build")

    def friendly(self, npu, bench, *words, code=0):
        shutil.rmtree(self.path("out"), ignore_errors=True)
        self.result = self.run_code(code, "compare", npu, bench, "-o", self.path("out"), "--format", "vis", *words)
        return Database(self.path("out"))

    def pair(self, npu, bench, construct, **head):
        return (write_dump(self.path("npu"), npu, construct, **head),
                write_dump(self.path("bench"), bench, construct, **head))


class Golden(Visual):

    def test_tables(self):
        with tarfile.open(ARCHIVE) as archive:
            archive.extractall(self.folder)
        for case in ("statistics", "md5"):
            found = self.graph(self.path(case, "npu"), self.path(case, "bench"), "-oc")
            self.assertEqual(found.check, "ok")
            wanted = harness.read_text(self.path(case, "expected", "schema.sql"))
            self.assertEqual("".join(found.schema).replace("\n", ""), wanted.replace("\n", "").replace(";", ""))
            csv.field_size_limit(1 << 30)
            for table in TABLES:
                with open(self.path(case, "expected", table + ".csv"), newline="", encoding="utf-8") as file:
                    expected = list(csv.DictReader(file))
                shown = [{key: "" if value is None else str(value) for key, value in row.items()}
                         for row in found.tables[table]]
                self.assertEqual(len(shown), len(expected))
                for one, other in zip(shown, expected):
                    self.assertEqual(one, other)


class Trees(Visual):
    CONSTRUCT = {"Tensor.add.0.forward": "Module.net.Net.forward.0", "Module.net.Net.forward.0": None,
                 "Tensor.sum.0.forward": None, "Tensor.sum.0.backward": None,
                 "Tensor.add.0.backward": "Module.net.Net.backward.0", "Module.net.Net.backward.0": None}

    def data(self, value=2.0):
        return {name: call(value) for name in self.CONSTRUCT}

    def test_one_side(self):
        found = self.graph(write_dump(self.path("npu"), self.data(), self.CONSTRUCT), None)
        self.assertEqual(found.names(), ["Tensor.add.0.forward", "Module.net.Net.forward.0", "Tensor.sum.0.forward",
                                         "Tensor.sum.0.backward", "Apis_Between_Modules.0", "Tensor.add.0.backward",
                                         "Module.net.Net.backward.0", "DefaultModel"])
        config = found.tables["tb_config"][0]
        self.assertEqual([config[key] for key in ("graph_type", "task", "tool_tip", "node_colors", "rank_list")],
                         ["build", "", None, "null", "[0]"])
        self.assertEqual(found.node("Tensor.add.0.forward")["precision_index"], None)

    def test_everything_is_a_node(self):
        """Calls that construct.json forgets, whose parent it does not place, or that are each other's parents."""
        construct = {**self.CONSTRUCT, "Tensor.mul.0.forward": "Module.gone.Gone.forward.0",
                     "Module.a.A.forward.0": "Module.b.B.forward.0", "Module.b.B.forward.0": "Module.a.A.forward.0"}
        data = {**self.data(), "Tensor.mul.0.forward": call(1.0), "Torch.stray.0.forward": call(1.0),
                "Module.a.A.forward.0": call(1.0), "Module.b.B.forward.0": call(1.0)}
        sides = self.pair(data, data, construct)
        found = self.friendly(*sides)
        self.assertEqual(set(data) - set(found.names()), set())
        reached, todo = set(), ["DefaultModel"]
        while todo:
            name = todo.pop()
            reached.add(name)
            for child in json.loads(found.node(name)["sub_nodes"] or "[]"):
                self.assertEqual(found.node(child)["up_node"], name)
                todo.append(child)
        self.assertEqual(reached, set(found.names()))
        self.assertEqual([row["node_name"] for row in found.tables["tb_nodes"] if row["matched_node_link"] == "[]"], [])
        strict = self.graph(*sides)
        self.assertEqual(set(data) - set(strict.names()), {"Tensor.mul.0.forward", "Torch.stray.0.forward",
                                                           "Module.a.A.forward.0", "Module.b.B.forward.0"})

    def test_lost_backward_parents(self):
        """A module above that was told too late, and calls without a parent."""
        construct = {"Module.n.N.forward.0": None, "Module.n.relu.ReLU.forward.0": "Module.n.N.forward.0",
                     "Module.n.fc.Linear.forward.0": "Module.n.N.forward.0",
                     "Module.n.fc.Linear.backward.0": "Module.n.relu.ReLU.backward.0",
                     "Module.n.relu.ReLU.backward.0": None, "Module.n.N.backward.0": None,
                     "Tensor.add.0.forward": "Module.n.N.forward.0", "Tensor.add.0.backward": None}
        found = self.graph(write_dump(self.path("npu"), {name: call(1.0) for name in construct}, construct), None)
        for child in ("Module.n.fc.Linear.backward.0", "Module.n.relu.ReLU.backward.0", "Tensor.add.0.backward"):
            self.assertEqual(found.node(child)["up_node"], "Module.n.N.backward.0")

    def test_micro_steps(self):
        construct = {f"Module.net.Net.{way}.{n}": None for n in range(2) for way in ("forward", "backward")}
        data = {name: call(1.0) for name in construct}
        found = self.graph(write_dump(self.path("npu"), data, construct), None)
        self.assertEqual([row["micro_step_id"] for row in found.tables["tb_nodes"]], [0, 0, 1, 1, 0])
        self.assertEqual(found.tables["tb_config"][0]["micro_steps"], 2)
        counted = {**{name: [None, int(name[-1])] for name in construct}, "megatron_micro_step_number": 1}
        found = self.graph(write_dump(self.path("npu"), data, counted), None)
        self.assertEqual(found.node("Module.net.Net.backward.1")["micro_step_id"], 1)
        self.assertEqual(found.tables["tb_config"][0]["micro_steps"], 2)

    def test_fuzzy(self):
        npu = {"Tensor.add.0.forward": "Module.m.M.forward.0", "Tensor.add.1.forward": "Module.m.M.forward.0",
               "Module.m.M.forward.0": None}
        bench = {"Tensor.add.7.forward": "Module.m.M.forward.0", "Tensor.add.9.forward": "Module.m.M.forward.0",
                 "Module.m.M.forward.0": None}
        sides = (write_dump(self.path("npu"), {name: call(2.0) for name in npu}, npu),
                 write_dump(self.path("bench"), {name: call(1.0) for name in bench}, bench))
        self.assertEqual(self.graph(*sides).node("Tensor.add.1.forward")["matched_node_link"], "[]")
        found = self.graph(*sides, "-f").node("Tensor.add.1.forward")
        self.assertEqual(json.loads(found["matched_node_link"]),
                         ["DefaultModel", "Module.m.M.forward.0", "Tensor.add.9.forward"])
        self.assertEqual(found["precision_index"], 1)

    def test_words_of_26(self):
        sides = self.pair(self.data(2.0), self.data(2.1), self.CONSTRUCT)
        self.run_code(0, "graph_visualize", "-tp", sides[0], "-gp", sides[1], "-o", self.path("out"), "-oc")
        self.assertAlmostEqual(Database(self.path("out")).node("Tensor.add.0.forward")["precision_index"], 0.1 / 2.1)

    def test_tensors(self):
        """Shares of small relative errors, and a collection that takes its worst call."""
        construct = {"Torch.f.0.forward": None, "Torch.g.0.forward": None}
        for side, last in (("npu", 3.0), ("bench", 4.0)):
            dump = dumps.Dump(self.path(side))
            for name in ("f", "g"):
                parts = {}
                for part, values in (("input", [1, 2, 3, 4]), ("output", [1, 2, 2, last])):
                    file = f"Torch.{name}.0.forward.{part}.0.pt"
                    dump.file(file, dumps.pt_bytes("f32", [4], dumps.pack("f32", values)))
                    parts[part] = [dumps.item("f32", [4], file)]
                dump.entry(f"Torch.{name}.0.forward", input_args=parts["input"], output=parts["output"])
            dump.write()
            harness.write_text(self.path(side, "construct.json"), json.dumps(construct))
        found = self.friendly(self.path("npu"), self.path("bench"), code=1)
        self.assertEqual(found.tables["tb_config"][0]["task"], "all")
        node = found.node("Torch.f.0.forward")
        self.assertEqual(node["precision_index"], 0.25)
        self.assertEqual(list(json.loads(node["output_data"]).values())[0]["One Thousandth Err Ratio"], "0.75")
        self.assertEqual(found.node("Apis_Between_Modules.0")["precision_index"], 0.25)
        strict = self.graph(self.path("npu"), self.path("bench"))
        self.assertEqual(strict.node("Torch.f.0.forward")["precision_index"], 0.25)
        self.assertEqual(strict.node("Apis_Between_Modules.0")["precision_index"], 0)

    def test_steps_and_ranks(self):
        """One database, and links between the ranks of a step."""
        group = {"type": "torch.ProcessGroup", "group_ranks": [0, 1], "group_id": "g"}
        for side in ("npu", "bench"):
            for step in (0, 3):
                for rank in (0, 1):
                    data = {"Distributed.all_reduce.0.forward": call(1.0, input_kwargs={"group": group}),
                            "Distributed.%s.0.forward" % ("isend", "irecv")[rank]: call(1.0, input_kwargs={
                                ("dst", "src")[rank]: {"type": "int", "value": 1 - rank}}),
                            "Distributed.broadcast.0.forward": {
                                "input_args": [tensor(1.0), {"type": "int", "value": 0}],
                                "input_kwargs": {"group": group}, "output": [tensor(1.0)]},
                            "Distributed.batch_isend_irecv.0.forward": {
                                "input_args": [], "input_kwargs": {}, "output": [[
                                    {"class_type": "torch.distributed.P2POp", "op": ("isend", "irecv")[rank],
                                     "peer": 1 - rank, "tag": 0, "group_id": "g", "tensor": tensor(1.0)}]]}}
                    write_dump(self.path(side, f"step{step}", f"rank{rank}"), data, {name: None for name in data})
        found = self.graph(self.path("npu"), self.path("bench"))
        config = found.tables["tb_config"][0]
        self.assertEqual((config["rank_list"], config["step_list"]), ("[0, 1]", "[0, 3]"))

        def link(name, rank):
            return json.loads(found.node(f"Distributed.{name}.0.forward", rank=rank, step=3)["matched_distributed"])

        self.assertEqual(link("all_reduce", 1), {"communications_type": "send_receive", "nodes_info": {
            "0": ["0", "Distributed.all_reduce.0.forward"]}})
        self.assertEqual(link("isend", 0), {"communications_type": "send", "nodes_info": {
            "1": ["0", "Distributed.irecv.0.forward"]}})
        self.assertEqual(link("irecv", 1)["communications_type"], "receive")
        self.assertEqual(link("broadcast", 0)["communications_type"], "send")
        self.assertEqual(link("broadcast", 1)["communications_type"], "receive")
        self.assertEqual(link("batch_isend_irecv", 0)["nodes_info"]["1"][1], "Distributed.batch_isend_irecv.0.forward")
        data = json.loads(found.node("Distributed.batch_isend_irecv.0.forward", rank=0, step=0)["output_data"])
        self.assertNotIn("peer", list(data.values())[0])


class Bad(Visual):

    def test_no_structure(self):
        sides = self.pair({"Torch.f.0.forward": call(1.0)}, {"Torch.f.0.forward": call(1.0)}, {})
        self.assertIn("level L0 or mix", self.graph(*sides, code=1))
        result = self.run_code(2, "compare", *sides, "-o", self.path("vis"), "--format", "vis,csv")
        self.assertIn("level L0 or mix", result.err)
        self.assertEqual([name for name in os.listdir(self.path("vis")) if name.endswith(".db")], [])

    def test_hostile_names(self):
        names = ["Torch.\u0000.0.forward", "Torch.\ud800.0.forward", "Torch.\"'); drop table tb_nodes;--.0.forward",
                 "DefaultModel", "Apis_Between_Modules.0", ""]
        data = {name: call(float("nan")) for name in names}
        sides = self.pair(data, data, {name: name for name in names})
        found = self.friendly(*sides, code=0)
        self.assertEqual(found.check, "ok")
        self.assertIn("Torch.\"'); drop table tb_nodes;--.0.forward", found.names())
        self.assertEqual(len(found.names()), len(set(found.names())))

    def test_too_deep(self):
        construct = {f"Module.m{i}.M.forward.0": f"Module.m{i + 1}.M.forward.0" for i in range(1500)}
        construct["Module.m1500.M.forward.0"] = None
        data = {"Module.m0.M.forward.0": call(1.0)}
        sides = self.pair(data, data, construct)
        self.assertIn("levels deep", self.graph(*sides, code=1))
        result = self.run_code(2, "compare", *sides, "-o", self.path("out"), "--format", "vis")
        self.assertIn("levels deep", result.err)

    def test_bad_rank(self):
        """One rank that cannot be read is told; the others are there."""
        construct = {"Torch.f.0.forward": None}
        for side in ("npu", "bench"):
            for rank in (0, 1):
                write_dump(self.path(side, f"rank{rank}"), {"Torch.f.0.forward": call(1.0)}, construct)
        harness.write_text(self.path("npu", "rank1", "construct.json"), '{"a": ')
        result = self.run_code(2, "compare", self.path("npu"), self.path("bench"), "-o", self.path("out"), "-F", "vis")
        self.assertIn("rank1/construct.json", result.err)
        self.assertEqual({row["rank"] for row in Database(self.path("out")).tables["tb_nodes"]}, {0})

    def test_words(self):
        sides = self.pair({"Torch.f.0.forward": call(1.0)}, {"Torch.f.0.forward": call(1.0)}, {"Torch.f.0.forward": None})
        result = self.run_code(2, "compare", *sides, "--format", "vis", "-o", "-")
        self.assert_one_line(result.err, "--format vis", "folder")
        self.run_code(2, "-f", "pytorch", "graph", "-i", "x.json")


if __name__ == "__main__":
    harness.main()
