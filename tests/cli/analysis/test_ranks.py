"""`tdcmp ranks`: equal replicas are silent, a rank that deviates is named, split models are told apart."""
import json
import os

from dumps import Dump, item, pack, pt_bytes
from harness import Case, main


class Ranks(Case):
    def rank(self, number, weight=(1.0, 2.0, 3.0, 4.0), norm=(1.0, 1.0), reduced=(5.0, 6.0), task="tensor",
             group=(0, 1, 2), reduced_call="all_reduce", async_op=False):
        dump = Dump(self.path("step0", "rank%d" % number), task)
        dump.entry("Module.a.Linear.forward.0", input_args=[item("f32", [2])],
                   parameters={"weight": self.tensor(dump, "Module.a.Linear.forward.0.parameters.weight", weight)},
                   output=[item("f32", [2])])
        dump.entry("Module.n.Norm.forward.0", input_args=[item("f32", [2])],
                   parameters={"weight": self.tensor(dump, "Module.n.Norm.forward.0.parameters.weight", norm)},
                   output=[item("f32", [2])])
        name = "Distributed.%s.0.forward" % reduced_call
        keywords = {"group": {"type": "torch.ProcessGroup", "group_ranks": list(group), "group_id": "7"}}
        if async_op:
            keywords["async_op"] = {"type": "bool", "value": True}
        dump.entry(name, input_args=[item("f32", [2], stats=(number, number, number, number))], input_kwargs=keywords,
                   output=[self.tensor(dump, name + ".output.0", reduced)])
        return dump.write()

    def tensor(self, dump, row, values):
        stats = (max(values), min(values), sum(values) / len(values), sum(v * v for v in values) ** 0.5)
        if dump.task != "tensor":
            return item("f32", [len(values)], stats=stats)
        dump.file(row + ".pt", pt_bytes("f32", [len(values)], pack("f32", values)))
        return item("f32", [len(values)], row + ".pt", stats=stats)

    def result(self, code, *options):
        return json.loads(self.run_code(code, "ranks", self.path("step0"), "--json", *options).out)

    def deviations(self, code):
        whole = self.result(code)
        self.assertEqual(whole["schema"], "tdcmp.ranks/1")
        return [(d["kind"], d["name"], d["deviating"]) for d in whole["deviations"]]

    def test_equal_ranks_are_silent(self):
        for task in ("tensor", "statistics"):
            for number in range(3):
                self.rank(number, task=task)
            whole = self.result(0)
            self.assertEqual((whole["deviations"], whole["groups"]), ([], ["0-2"]))
            self.assertEqual((whole["counts"]["parameters"], whole["counts"]["collectives"]), (2, 1))
        self.assertIn("EQUAL   3 ranks share 2 parameters and 1 outputs", self.run_code(0, "ranks", self.path("step0")).out)

    def test_a_damaged_parameter(self):
        for task in ("tensor", "statistics"):
            for number in range(3):
                self.rank(number, task=task, norm=(1.0, 1.0 + 1e-6 * (number == 1)))
            self.assertEqual(self.deviations(1), [("parameter", "Module.n.Norm.forward.0.parameters.weight", "1")])

    def test_elements_that_changed_places(self):
        for number in range(3):
            self.rank(number, norm=(1.0, 2.0) if number != 2 else (2.0, 1.0))
        self.assertEqual(self.deviations(1), [("parameter", "Module.n.Norm.forward.0.parameters.weight", "2")])

    def test_a_reduction_that_differs(self):
        for number in range(3):
            self.rank(number, reduced=(5.0, 6.0 + (number == 0)))
        self.assertEqual(self.deviations(1), [("collective", "Distributed.all_reduce.0.forward.output.0", "0")])

    def test_deviations_come_in_network_order(self):
        for number in range(3):
            self.rank(number, norm=(1.0, 1.0 + (number == 2)), reduced=(5.0, 6.0 + (number == 1)))
        self.assertEqual([name.split(".")[0] for _, name, _ in self.deviations(1)], ["Module", "Distributed"])
        out = self.run_code(1, "ranks", self.path("step0"), "--top", "1").out
        self.assertIn("first: Module.n.Norm", out)
        self.assertIn("and 1 more", out)

    def test_a_split_model_with_replicas(self):
        """Ranks 0, 2 and 1, 3 hold the halves of a weight; the norm is the same on all."""
        for number in range(4):
            self.rank(number, weight=[v + number % 2 for v in (1.0, 2.0, 3.0, 4.0)], group=range(4))
        whole = self.result(0)
        self.assertEqual(whole["groups"], ["0,2", "1,3"])
        self.rank(3, weight=(2.0, 3.0, 4.0, 5.0), norm=(1.0, 7.0), group=range(4))
        self.assertEqual(self.deviations(1), [("parameter", "Module.n.Norm.forward.0.parameters.weight", "3")])

    def test_groups_of_their_own(self):
        for number in range(4):
            self.rank(number, reduced=(5.0 + number // 2, 6.0), group=(number // 2 * 2, number // 2 * 2 + 1))
        self.assertEqual(self.deviations(0), [])

    def test_what_scatters_is_not_compared(self):
        for number in range(2):
            self.rank(number, reduced=(5.0 + number, 6.0), group=(0, 1), reduced_call="reduce_scatter_tensor")
        self.assertEqual(self.deviations(0), [])

    def test_calls_that_had_not_ended(self):
        for number in range(2):
            self.rank(number, reduced=(5.0 + number, 6.0), group=(0, 1), async_op=True)
        whole = self.result(0)
        self.assertEqual((whole["deviations"], whole["counts"]["async"]), ([], 2))

    def test_one_rank_and_unreadable_files(self):
        self.rank(0)
        self.assert_one_line(self.run_code(2, "ranks", self.path("step0")).err, "one rank")
        self.rank(1)
        os.remove(self.path("step0", "rank1", "dump_tensor_data", "Module.n.Norm.forward.0.parameters.weight.pt"))
        self.assert_one_line(self.run_code(2, "ranks", self.path("step0")).err, "1 files could not be read")
        self.assert_one_line(self.run_code(2, "ranks", self.path("nowhere")).err, "nowhere")

    def test_nothing_shared(self):
        for number in range(2):
            dump = Dump(self.path("step0", "rank%d" % number), "statistics")
            dump.entry("Torch.relu.0.forward", input_args=[item("f32", [2])], output=[item("f32", [2])])
            dump.write()
        self.assert_one_line(self.run_code(2, "ranks", self.path("step0")).err, "nothing that ranks share")

    def test_threads_change_nothing(self):
        for number in range(3):
            self.rank(number, norm=(1.0, 1.0 + (number == 1)))
        texts = {self.run_code(1, "ranks", self.path("step0"), "--json", "-t", str(n)).out for n in (1, 2, 5)}
        self.assertEqual(len(texts), 1)


if __name__ == "__main__":
    main()
