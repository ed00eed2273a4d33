"""Dumps of graphs: what is found, what faces what, bad input; the words of the old tools and the friendly form."""
import csv
import os

import ge_dumps as ge
import harness

TIME = 1743588000000000
GRAPH = "dynamo_original_graph_%d_rank_%d_pid_77_ts_20250402100000000000.txt"
FX = "20240125031118787351"


def one(*values):
    return ge.tensor("f32", [len(values)], values)


class Tree(harness.Case):
    def setUp(self):
        super().setUp()
        self.clock = TIME

    def text(self, ops, graph=1, rank=0, head='name: "g"\n'):
        ge.write(self.path("ge", GRAPH % (graph, rank)), ge.graph_text(ops, head).encode())

    def op(self, kind, name, inputs, outputs, token=0, root="ge", place="20250402100001/0/graph_1/1", data=None, tail=""):
        self.clock += 100
        path = self.path(root, *place.split("/"), str(token), "%s.%s.1.2.%d%s" % (kind, name, self.clock, tail))
        return ge.write(path, data if data is not None else ge.ge_bytes(inputs, outputs))

    def node(self, name, inputs, outputs, folder="fx/1/gm_1_dump"):
        for word, lists in (("INPUT", inputs), ("OUTPUT", outputs)):
            for i, values in enumerate(lists):
                ge.write_npy(self.path(*folder.split("/"), "%s.%s.%d.%s.npy" % (name, word, i, FX)), "f32",
                             [len(values)], values)

    def plain(self):
        """One operator that both sides have."""
        self.text([("Add", "Add", ["a:0", "b:0"], ["add-aten.add.OUTPUT.0"])])
        self.op("Add", "Add", [one(1, 2), one(3, 4)], [one(4, 6)])
        self.node("add-aten.add", [[1, 2], [3, 4]], [[4, 6]])

    def msit(self, code=0, golden="fx", *more, **settings):
        """Rows by the last part of my path, and what was said."""
        out = self.path("out")
        result = self.run_code(code, "llm", "compare", "-mp", self.path("ge"), "-gp", self.path(golden), "-o", out, *more,
                               **settings)
        rows = []
        for name in harness.files_below(out):
            with open(os.path.join(out, name), newline="") as file:
                rows += list(csv.DictReader(file))
            os.remove(os.path.join(out, name))
        for row in rows:
            row["mine"] = os.path.basename(row["my_data_path"])
            row["golden"] = os.path.basename(row["golden_data_path"])
        return rows, result.err

    def friendly(self, code, golden="fx", *more):
        rows, result = self.compare(code, self.path("ge"), self.path(golden), *more)
        return {row["NPU Name"] if row["NPU Name"] != "N/A" else row["Bench Name"]: row for row in rows}, result


class Graph(Tree):
    # ---- what faces what

    def test_friendly(self):
        """Each row says how it was found; what nothing faces is a row as well."""
        self.text([("scope/Add.1", "Add", ["a:0", "b:0"], ["add-aten.add.OUTPUT.0"]),
                   ("Mul_1", "Mul", ["scope/Add.1:0", "c:0"], ["mul-aten.mul.OUTPUT.0"]),
                   ("Relu", "Relu", ["Mul_1:0"], ["relu-aten.relu.OUTPUT.0"]), ("Inner", "Shape", [], [None])])
        self.op("Add", "scope_Add_1", [one(1, 2), one(3, 4)], [ge.tensor("f32", [1, 2], [4, 6])])
        self.op("FusedMulRelu", "Mul_1Relu", [one(4, 6), one(2, 2), one(9, 9)], [one(8, 12.5)])
        self.op("Cast", "trans_Cast_9", [one(8, 12)], [ge.tensor("f16", [2], [8, 12])])
        self.op("Shape", "Inner", [one(1, 1)], [])
        self.op("Other", "stranger", [one(1, 1)], [])
        self.node("add-aten.add", [[1, 2], [3, 4]], [[4, 6]])
        self.node("mul-aten.mul", [[4, 6], [2, 2]], [[8, 12]])
        self.node("relu-aten.relu", [[8, 12]], [[8, 12]])
        rows, result = self.friendly(1)
        found = {name: (row["Accuracy Reached or Not"], row["Paired_by"]) for name, row in rows.items()}
        fused = "fused of Mul_1 + Relu: FX node "
        self.assertEqual(found, {
            "scope_Add_1.input.0": ("identical", "FX node add-aten.add"),
            "scope_Add_1.input.1": ("identical", "FX node add-aten.add"),
            "scope_Add_1.output.0": ("identical", "FX node add-aten.add"),
            "Mul_1Relu.input.0": ("identical", fused + "mul-aten.mul"),
            "Mul_1Relu.input.1": ("identical", fused + "mul-aten.mul"),
            "Mul_1Relu.input.2": ("unmatched", "FX node mul-aten.mul has 2 inputs"),
            "Mul_1Relu.output.0": ("different", fused + "relu-aten.relu"),
            "trans_Cast_9.output.0": ("identical", "its own input: put in by GE"),
            "Inner.input.0": ("unmatched", "Inner is not named after an FX node: part of a larger one"),
            "stranger.input.0": ("unmatched", "stranger is not in the graph text"),
            "mul-aten.mul.output.0": ("unmatched", "nothing of the test faces it"),
            "relu-aten.relu.input.0": ("unmatched", "nothing of the test faces it")})
        self.assertEqual((rows["Mul_1Relu.output.0"]["Worst Abs At"], rows["Mul_1Relu.output.0"]["MaxAbsErr"]), ("[1]", "0.5"))
        self.assertIn("Mul_1Relu.output.0", result.out)
        listed = self.run_code(1, "match", self.path("ge"), self.path("fx")).out
        self.assertIn("its own input: put in by GE", listed)

    def test_tokens(self):
        """--token chooses one; those without a counterpart are told and count."""
        self.plain()
        self.op("Add", "Add", [one(1, 2), one(3, 4)], [one(4, 7)], token=1)
        self.node("add-aten.add", [[1, 2], [3, 4]], [[4, 6]], "fx/2/gm_1_dump")
        self.op("Add", "Add", [one(1, 2)], [], token=5)
        rows, result = self.friendly(0, "fx", "--token", "0")
        self.assertEqual(rows["Add.output.0"]["Accuracy Reached or Not"], "identical")
        rows, _ = self.friendly(1, "fx", "--token", "1")
        self.assertEqual(rows["Add.output.0"]["Accuracy Reached or Not"], "different")
        result = self.run_code(1, "compare", self.path("ge"), self.path("fx"), "-o", self.path("all"), "--format", "csv")
        self.assertIn("token 5 of graph 0 has no counterpart", result.err)
        self.assertEqual([n for n in map(harness.stampless, harness.files_below(self.path("all"))) if n.endswith("csv")],
                         ["compare_result_token0_STAMP.csv", "compare_result_token1_STAMP.csv"])
        result = self.run_code(2, "compare", self.path("ge"), self.path("fx"), "--token", "9", "-o", self.path("none"))
        self.assertIn("no token in common", result.err)
        rows, said = self.msit()
        self.assertEqual({row["token_id"] for row in rows}, {"0", "1"})
        self.assertIn("My token_id 5 not found in golden dump data", said)

    def test_sides_swapped(self):
        self.plain()
        result = self.run_code(2, "compare", self.path("fx"), self.path("ge"), "-o", self.path("out"))
        self.assert_one_line(result.err, "the dump of GE is the test")

    def test_ranks_and_graphs(self):
        """The layout with ranks, two graphs each; a rank of one side alone is left out."""
        for rank in (0, 1, 3):
            world = "worldsize4_global_rank%d" % rank
            for graph in (1, 2):
                self.text([("Add", "Add", [], ["add-aten.add.OUTPUT.0"])], graph, rank)
                self.op("Add", "Add", [], [one(rank, graph)], place=world + "/20250402100001/0/graph_%d/%d" % (graph, graph))
                if rank != 3:
                    self.node("add-aten.add", [], [[rank, graph]], "fx/%s/graph_%d/0" % (world, graph))
        result = self.run_code(0, "compare", self.path("ge"), self.path("fx"), "-o", self.path("all"), "--format", "csv")
        names = [harness.stampless(n) for n in harness.files_below(self.path("all")) if n.endswith("csv")]
        self.assertEqual(names, ["compare_result_token0_rank%d_graph%d_STAMP.csv" % (r, g) for r in (0, 1) for g in (0, 1)])
        self.assertIn("worldsize4_global_rank3 has no counterpart", result.err)
        rows, _ = self.msit()
        self.assertEqual([(row["golden_max_value"], row["cosine_similarity"]) for row in rows],
                         [("1.0", "1.0"), ("2.0", "1.0"), ("1.0", "1.0"), ("2.0", "1.0")])
        for rank, text in (("3", "Can not get golden data in rank 3"), ("x", "rank id:x is illegal. Please check.")):
            _, said = self.msit(1, "fx", "--rank", rank)
            self.assertIn(text, said)

    def test_older_fx(self):
        """npy files without a folder of tokens are token 0."""
        self.plain()
        os.rename(self.path("fx", "1", "gm_1_dump"), self.path("old"))
        self.assertEqual(len(self.msit(0, "old")[0]), 3)

    def test_order_of_inputs(self):
        """By number: the tenth does not come before the second, and lists keep their order."""
        self.text([("Cat", "Concat", [], ["cat-aten.cat.OUTPUT.0"])])
        self.op("Concat", "Cat", [one(i) for i in range(13)], [one(1)])
        for i in range(12):
            ge.write_npy(self.path("fx", "1", "gm", "cat-aten.cat.INPUT.0.%d.%s.npy" % (i, FX)), "f32", [1], [i])
        ge.write_npy(self.path("fx", "1", "gm", "cat-aten.cat.INPUT.1.%s.npy" % FX), "f32", [1], [12])
        rows, _ = self.msit()
        self.assertEqual([row["my_max_value"] for row in rows], [row["golden_max_value"] for row in rows])
        self.assertEqual([row["mine"].split(",")[-1] for row in rows], [str(i) for i in range(13)])

    def test_fusion(self):
        """GE against GE: inputs that come from inside the fused operator have no place of their own."""
        ops = [("Mul", "Mul", ["a:0", "b:0"], [None]), ("Add", "Add", ["Mul:0", "c:0"], [None]),
               ("Lost", "Abs", ["Add:0", "d:0"], [None])]
        self.text(ops)
        ge.write(self.path("off", GRAPH % (1, 0)), ge.graph_text(ops).encode())
        self.op("AutomaticBufferFusionOp", "MulAdd", [one(1), one(2), one(3)], [one(5)])
        self.op("AutomaticBufferFusionOp", "MulLosttail", [one(1), one(2), one(7)], [one(2)])
        self.op("Neg", "NegOnly", [one(1)], [one(-1)])
        self.op("Mul", "Mul", [one(1), one(2)], [one(2)], root="off")
        self.op("Add", "Add", [one(2), one(3)], [one(5)], root="off")
        rows, said = self.msit(0, "off")
        self.assertEqual([(row["mine"].split(".")[1], row["mine"].split(",", 1)[1],
                           row["golden"].split(".")[0] + "," + row["golden"].split(",", 1)[1]) for row in rows],
                         [("MulAdd", "inputs,0", "Mul,inputs,0"), ("MulAdd", "inputs,1", "Mul,inputs,1"),
                          ("MulAdd", "inputs,2", "Add,inputs,1"), ("MulAdd", "outputs,0", "Add,outputs,0"),
                          ("MulLosttail", "inputs,0", "Mul,inputs,0"), ("MulLosttail", "inputs,1", "Mul,inputs,1")])
        for text in ("Failed parsing fused op name: tail. Compare manually if required.",
                     "No dump data for op: Lost. Seldom should this happen. Input data matching may be incorrect.",
                     "Golden data missing, My tensor name: NegOnly"):
            self.assertIn(text, said)
        rows, _ = self.friendly(1, "off")
        self.assertEqual(rows["MulAdd.input.2"]["Paired_by"], "fused of Mul + Add")
        self.assertEqual(rows["NegOnly.input.0"]["Paired_by"], "the reference has no such operator")
        self.assertEqual(rows["Mul.output.0"]["Paired_by"], "nothing of the test faces it")

    # ---- bad input

    def test_bad_files(self):
        """Each is one row with the reason; all others are compared."""
        self.plain()
        whole = ge.ge_bytes([one(1, 2)], [one(1, 2)])
        ops = [("Add", "Add", [], ["add-aten.add.OUTPUT.0"])]
        bad = {"Empty": b"", "Cut_header": whole[:20], "Cut_data": whole[:-1], "Long_header": b"\xff" * 7 + b"\x7f" + whole[8:],
               "Garbage": whole[:8] + b"\xff" * (len(whole) - 8)}
        for name, data in bad.items():
            ops.append((name, "Abs", [], [name + "-aten.abs.OUTPUT.0"]))
            self.op("Abs", name, None, None, data=data)
            self.node(name + "-aten.abs", [[1, 2]], [[1, 2]])
        ops.append(("Text", "Abs", [], ["text-aten.abs.OUTPUT.0"]))
        self.op("Abs", "Text", [ge.tensor("string", [2], data=b"ab")], [one(1, 2)])
        self.node("text-aten.abs", [[1, 2]], [[1, 2]])
        ops.append(("Object", "Abs", [], ["object-aten.abs.OUTPUT.0"]))
        self.op("Abs", "Object", [one(1, 2)], [one(1, 2)])
        self.node("object-aten.abs", [], [[1, 2]])
        ge.write(self.path("fx", "1", "gm_1_dump", "object-aten.abs.INPUT.0.%s.npy" % FX),
                 ge.npy_bytes("f32", [2], [1, 2]).replace(b"<f4", b"|O8"))
        self.text(ops)
        rows, said = self.msit()
        reasons = {row["mine"].split(".")[1] + row["mine"].partition(",")[2]: row["cmp_fail_reason"] for row in rows
                   if row["cmp_fail_reason"]}
        self.assertEqual(set(reasons), set(bad) | {"Textinputs,0", "Objectinputs,0"})
        for name in bad:
            self.assertIn(".%s." % name, reasons[name])
        self.assertIn("the file is empty", reasons["Empty"])
        self.assertIn("GE data type 13 cannot be read", reasons["Textinputs,0"])
        self.assertEqual(reasons["Objectinputs,0"], "unsupported npy dtype")
        self.assertEqual(sum(row["cosine_similarity"] == "1.0" for row in rows), 5)
        self.assertIn("5 dump files cannot be read", said)
        found, _ = self.friendly(2)
        for name in bad:
            self.assertEqual(found[name + ".file"]["Accuracy Reached or Not"], "error", name)
            self.assertIn(".%s." % name, found[name + ".file"]["Err_message"])
        self.assertEqual(found["Text.input.0"]["Accuracy Reached or Not"], "error")
        self.assertEqual(found["Object.input.0"]["Accuracy Reached or Not"], "error")
        self.assertEqual(found["Add.output.0"]["Accuracy Reached or Not"], "identical")

    def test_two_files(self):
        """Of two files of one operator the larger stays; two of one input are told."""
        self.plain()
        self.op("Add", "Add", [one(7, 7), one(7, 7), one(7, 7)], [one(4, 6)])
        self.node("add-aten.add", [[1, 2], [3, 4]], [[4, 6]], "fx/1/gm_1_dump")
        os.rename(self.path("fx", "1", "gm_1_dump", "add-aten.add.INPUT.1.%s.npy" % FX),
                  self.path("fx", "1", "gm_1_dump", "add-aten.add.INPUT.0.%s9.npy" % FX))
        rows, said = self.msit()
        self.assertEqual({row["my_max_value"] for row in rows if "inputs" in row["mine"]}, {"7.0"})
        self.assertIn("duplicated op name: Add.", said)
        self.assertIn("two files of one input", said)

    def test_graph_text(self):
        """Strings may hold anything; a text that is none costs its graph alone."""
        self.text([('Add', "Add", [], ["add-aten.add.OUTPUT.0"])],
                  head='name: "a { b: \\"c\\" }"\nattr { key: "x" value { list { s: "op {" s: "}" } } }\n# comment {\n')
        self.op("Add", "Add", [one(1, 2), one(3, 4)], [one(4, 6)])
        self.node("add-aten.add", [[1, 2], [3, 4]], [[4, 6]])
        self.assertEqual(len(self.msit()[0]), 3)
        ge.write(self.path("ge", GRAPH % (1, 0)), b'op {\n  name: "Add\n}\n')
        rows, said = self.msit(1)
        self.assertIn("bad graph text, line 2: a string without an end", said)
        self.assertIn("nothing was compared", said)
        result = self.run_code(2, "compare", self.path("ge"), self.path("fx"), "-o", self.path("none"))
        self.assertIn("bad graph text", result.err)
        os.remove(self.path("ge", GRAPH % (1, 0)))
        self.msit(1)

    def test_long_names(self):
        self.text([("Very_long", "Add", [], ["add-aten.add.OUTPUT.0"])])
        path = self.op("Add", "x", [one(1)], [one(2)])
        os.rename(path, os.path.join(os.path.dirname(path), "4711"))
        ge.write(os.path.join(os.path.dirname(path), "mapping.csv"), b"4711,Add.Very_long.1.2.%d\n" % TIME)
        self.node("add-aten.add", [[1]], [[2]])
        self.assertEqual(len(self.msit()[0]), 2)

    def test_words(self):
        self.plain()
        result = self.run_code(2, "llm", "compare", "--my-path", self.path("ge"))
        self.assertIn("the following arguments are required", result.err)
        self.run_code(2, "llm", "compare", "-mp", "a", "-gp", "b", "-l", "loud")
        self.run_code(2, "llm", "dump")
        self.assertIn("--golden-path", self.run_code(0, "llm", "compare", "-h").out)
        self.run_code(1, "llm", "compare", "-mp", self.path("absent"), "-gp", self.path("fx"))
        result = self.run_code(1, "llm", "compare", "-mp", self.path("fx"), "-gp", self.path("fx"))
        self.assertIn("no graph of GE below it", result.err)
        quiet = self.run_code(0, "llm", "compare", "-mp", self.path("ge"), "-gp", self.path("fx"), "-o", self.path("o"),
                              "-l", "error")
        self.assertEqual(quiet.err + quiet.out, "")

    def test_threads(self):
        """A tensor of several pieces gives the same table whatever takes them."""
        count = (1 << 20) + 12345
        self.text([("Big", "Abs", [], ["big-aten.abs.OUTPUT.0"])])
        values = [((i * 2654435761) % 2000 - 1000) / 256 for i in range(count)]
        self.op("Abs", "Big", [], [ge.tensor("f16", [count], values)])
        self.node("big-aten.abs", [], [[value * 1.01 for value in values]])
        tables = []
        for processors in (os.sched_getaffinity(0), {min(os.sched_getaffinity(0))}):
            rows, _ = self.msit(before=lambda chosen=processors: os.sched_setaffinity(0, chosen))
            tables.append(rows[0])
        self.assertEqual(tables[0], tables[1])
        self.assertAlmostEqual(float(tables[0]["relative_euclidean_distance"]), 0.01 / 1.01, 5)


class Statistics(Tree):
    HEAD = ("Input/Output,Index,Data Size,Data Type,Format,Shape,Max Value,Min Value,Avg Value,Count,Nan Count,"
            "Negative Inf Count,Positive Inf Count\n")

    def csv(self, kind, name, lines, **more):
        self.op(kind, name, [], [], data=(self.HEAD + "".join(line + "\n" for line in lines)).encode(), tail=".csv", **more)

    def line(self, way, index, values, kind="DT_FLOAT", shape=None, nan=0, minus=0, plus=0):
        return '%s,%d,8,%s,ND,"%s",%s,%s,%s,%d,%d,%d,%d' % (
            way, index, kind, shape or "[%d]" % len(values), max(values), min(values), sum(values) / len(values),
            len(values), nan, minus, plus)

    def test_against_arrays(self):
        """What GE tells of a tensor against what an array holds."""
        self.text([("Add", "Add", ["a:0", "b:0"], ["add-aten.add.OUTPUT.0"]),
                   ("Mul", "Mul", ["a:0"], ["mul-aten.mul.OUTPUT.0"])])
        self.csv("Add", "Add", [self.line("Input", 0, [1, 2]), self.line("Input", 1, [3, 4]),
                                self.line("Output", 0, [4, 7])])
        self.csv("Mul", "Mul", [self.line("Input", 0, [1, 2]), self.line("Output", 0, [1, 2], nan=1)])
        self.node("add-aten.add", [[1, 2], [3, 4]], [[4, 6]])
        self.node("mul-aten.mul", [[1, 2]], [[1, float("inf")]])
        rows, _ = self.friendly(1)
        self.assertEqual({name: row["Result"] for name, row in rows.items()},
                         {"Add.input.0": "identical", "Add.input.1": "identical", "Add.output.0": "different",
                          "Mul.input.0": "identical", "Mul.output.0": "different"})
        row = rows["Add.output.0"]
        self.assertEqual((row["NPU max"], row["Bench max"], row["Max diff"], row["NPU Tensor Shape"], row["NPU Dtype"]),
                         ("7", "6", "1", "[2]", "torch.float32"))
        self.assertEqual(row["Paired_by"], "FX node add-aten.add")
        rows, said = self.msit()
        found = {row["mine"].split(".csv", 1)[1]: row for row in rows if "Add.Add" in row["mine"]}
        row = found[",outputs,0"]
        self.assertEqual([row[name] for name in ("my_dtype", "my_shape", "my_max_value", "my_min_value", "my_mean_value",
                                                 "golden_max_value", "golden_mean_value", "cosine_similarity")],
                         ["torch.float32", "[2]", "7.0", "4.0", "5.5", "6.0", "5.0", ""])
        self.assertIn("statistics were dumped", row["cmp_fail_reason"])

    def test_against_each_other(self):
        self.text([("Add", "Add", [], []), ("Mul", "Mul", [], [])])
        ge.write(self.path("other", GRAPH % (1, 0)), ge.graph_text([("Add", "Add", [], [])]).encode())
        self.csv("Add", "Add", [self.line("Output", 0, [4, 6], "DT_BF16", "1 2"), self.line("Output", 1, [1, 1])])
        self.csv("Add", "Add", [self.line("Output", 0, [4, 6], "DT_BF16", "1 2"), self.line("Output", 1, [1, 2])],
                 root="other")
        self.csv("Mul", "Mul", [self.line("Output", 0, [4, 6])])
        self.op("Mul", "Mul", [], [one(4, 6)], root="other", place="20250402100001/0/graph_1/1", token=1)
        self.csv("Mul", "Mul", [self.line("Output", 0, [4, 6])], token=1)
        rows, _ = self.friendly(1, "other", "--token", "0")
        self.assertEqual({name: row["Result"] for name, row in rows.items()},
                         {"Add.output.0": "identical", "Add.output.1": "different", "Mul.output.0": "unmatched"})
        self.assertEqual(rows["Add.output.0"]["NPU Tensor Shape"], "[1, 2]")
        rows, _ = self.friendly(0, "other", "--token", "1")  # statistics against tensors
        self.assertEqual(rows["Mul.output.0"]["Result"], "identical")

    def test_bad_files(self):
        """A csv file that says nothing is one row; dumps beside csv files win."""
        self.plain()
        self.csv("Add", "Add", [self.line("Output", 0, [4, 6])])
        rows, result = self.friendly(0)
        self.assertIn("1 csv files of statistics beside the dumps of token 0 are left out", result.err)
        self.clock += 1
        self.text([("Add", "Add", [], ["add-aten.add.OUTPUT.0"]), ("Bad", "Bad", [], ["bad-aten.bad.OUTPUT.0"]),
                   ("Worse", "Bad", [], ["bad-aten.bad.OUTPUT.0"])])
        for name in os.listdir(self.path("ge/20250402100001/0/graph_1/1/0")):
            if not name.endswith(".csv"):
                os.remove(self.path("ge/20250402100001/0/graph_1/1/0", name))
        self.op("Bad", "Bad", [], [], data=b"no,names\n1,2\n", tail=".csv")
        self.op("Bad", "Worse", [], [], data=(self.HEAD + "Output,x,8\n").encode(), tail=".csv")
        rows, _ = self.friendly(1)
        self.assertEqual(rows["Add.output.0"]["Result"], "identical")
        self.assertIn("its first line has no Input/Output", rows["Bad.file"]["Paired_by"])
        self.assertIn("a line has no index", rows["Worse.file"]["Paired_by"])
        rows, _ = self.msit()
        self.assertEqual(len([row for row in rows if "no statistics of GE" in row["cmp_fail_reason"]]), 2)


if __name__ == "__main__":
    harness.main()
