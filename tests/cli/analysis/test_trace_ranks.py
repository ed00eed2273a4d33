"""`tdcmp trace` over ranks that communicate: the first origin in their common time, and what others sent is no origin."""
import json
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import harness
import schema
from rank_dumps import call, group, number, write

LINEAR = "Functional.linear.%d.forward"
REDUCE = "Distributed.all_reduce.%d.forward"


class Steps(harness.Case):

    def trace(self, code, test, ref, *words, parents=None):
        sides = [write(os.path.join(self.folder, side), ranks, parents) for side, ranks in (("test", test), ("ref", ref))]
        self.run_of = harness.run("trace", *sides, "--json", "-", *words)
        self.assertEqual(self.run_of.code, code, self.run_of)
        if code == 2:
            return None
        report = json.loads(self.run_of.out)
        self.assertEqual(schema.errors(report), [])
        return report

    def own(self, report):
        return [(origin["rank"], origin["call"]) for origin in report["origins"]
                if not origin["from_another_rank"] and not origin["repeats_another_rank"]]

    def brought(self, report):
        """Calls that differ by what others sent, with the origin this is counted under."""
        origins = report["origins"]
        return {(origin["rank"], origin["call"]):
                None if origin["cause"] is None else (origins[origin["cause"]]["rank"], origins[origin["cause"]]["call"])
                for origin in origins if origin["from_another_rank"]}


def parallel(faults, ranks=4, layers=3):
    """Tensor parallel: on every rank a product and an all-reduce in each layer. faults: (rank, layer) -> factor."""
    dumps = {rank: {} for rank in range(ranks)}
    state = 1.0
    for layer in range(layers):
        parts = {rank: state * faults.get((rank, layer), 1.0) for rank in range(ranks)}
        total = sum(parts.values()) / ranks
        for rank in range(ranks):
            dumps[rank][LINEAR % layer] = call([state], [parts[rank]])
            dumps[rank][REDUCE % layer] = call([parts[rank]], [total], group=group(*range(ranks)))
        state = total
    return dumps


def pipeline(fault_stage=None, stages=3, by_name=True):
    """Stage by stage forward, then back: send and recv, whose buffers are not recorded behind."""
    dumps = {stage: {} for stage in range(stages)}
    state = 1.0
    for stage in range(stages):
        calls = dumps[stage]
        if stage > 0:
            place = {"src": number(stage - 1)} if by_name else {}
            calls["Distributed.recv.0.forward"] = call([7.0 + stage], [], **place)
            if not by_name:
                calls["Distributed.recv.0.forward"]["input_args"].append(number(stage - 1))
        out = state * (1.2 if stage == fault_stage else 1.0)
        calls["Functional.linear.0.forward"] = call([state], [out])
        state = out
        if stage + 1 < stages:
            place = {"dst": number(stage + 1)} if by_name else {}
            calls["Distributed.send.0.forward"] = call([state], [], **place)
            if not by_name:
                calls["Distributed.send.0.forward"]["input_args"].append(number(stage + 1))
    return dumps


class Links(Steps):

    def test_correct_runs_are_silent(self):
        for made in (parallel({}), pipeline()):
            report = self.trace(0, made, made)
            self.assertEqual(report["origins"], [])

    def test_a_fault_on_one_rank(self):
        for rank in range(4):
            for layer in range(3):
                report = self.trace(1, parallel({(rank, layer): 1.2}), parallel({}))
                where = ("rank%d" % rank, LINEAR % layer)
                self.assertEqual(self.own(report), [where])
                # the other ranks see it in the sum, which is counted under it
                self.assertEqual(self.brought(report), {("rank%d" % other, REDUCE % layer): where
                                                        for other in range(4) if other != rank})
                self.assertEqual(report["origins"][0]["reaches_ranks"], 3)

    def test_faults_on_several_ranks_stand_in_the_order_of_time(self):
        report = self.trace(1, parallel({(0, 2): 1.5, (3, 0): 1.2, (1, 1): 1.4}), parallel({}))
        self.assertEqual(self.own(report)[0], ("rank3", LINEAR % 0))
        times = [origin["time"] for origin in report["origins"] if not origin["from_another_rank"]]
        self.assertEqual(times, sorted(times))

    def test_the_same_operator_on_all_ranks(self):
        report = self.trace(1, parallel({(rank, 1): 1.2 for rank in range(4)}), parallel({}))
        self.assertEqual(self.own(report), [("rank0", LINEAR % 1)])
        self.assertEqual(report["origins"][0]["alike_ranks"], 3)
        text = harness.run("trace", os.path.join(self.folder, "test"), os.path.join(self.folder, "ref")).out
        self.assertIn("the same on 3 other ranks", text)

    def test_a_communication_that_is_off_itself(self):
        test, ref = parallel({}), parallel({})
        for rank in range(4):
            test[rank][REDUCE % 1]["output"] = call([], [1.3])["output"]
        report = self.trace(1, test, ref)
        self.assertEqual(self.own(report)[0], ("rank0", REDUCE % 1))
        self.assertNotIn(("rank1", REDUCE % 1), self.own(report))

    def test_along_a_pipeline(self):
        """Rank 2 has fewer communications before its calls than rank 0 before none: links and not counts order them."""
        for by_name in (True, False):
            for stage in range(3):
                report = self.trace(1, pipeline(stage, by_name=by_name), pipeline(by_name=by_name))
                where = ("rank%d" % stage, LINEAR % 0)
                self.assertEqual(self.own(report), [where], report["origins"])
                # what was received is in no record: the next stage's input comes from there
                self.assertEqual(set(self.brought(report).values()) - {where}, set())
                self.assertEqual(len(self.brought(report)), 2 - stage)

    def test_the_last_stage_is_earlier_than_a_later_call_of_the_first(self):
        """Rank 0 has made no more communications than rank 2, but its second fault comes after what rank 2 sent back."""
        def back(faults):
            dumps = pipeline(stages=2)
            dumps[1]["Functional.gelu.0.forward"] = call([1.0], [1.0 * faults.get(1, 1.0)])
            dumps[1]["Distributed.send.1.forward"] = call([1.0 * faults.get(1, 1.0)], [], dst=number(0))
            dumps[0]["Distributed.recv.1.forward"] = call([3.0], [], src=number(1))
            dumps[0]["Functional.silu.0.forward"] = call([1.0], [1.0 * faults.get(0, 1.0)])
            return dumps
        report = self.trace(1, back({0: 1.2, 1: 1.3}), back({}))
        self.assertEqual(self.own(report), [("rank1", "Functional.gelu.0.forward"), ("rank0", "Functional.silu.0.forward")])

    def test_what_rounding_sends_is_no_fault_of_the_communication(self):
        """Inputs of rank 1 are identical; the sum moves by what rank 0's differ, which its own rounding explains."""
        test, ref = parallel({}), parallel({})
        noise = 1 + 2e-6
        test[0][LINEAR % 0] = call([1.0], [noise])
        test[0][REDUCE % 0] = call([noise], [1 + 7e-6], group=group(0, 1, 2, 3))
        for rank in (1, 2, 3):
            test[rank][REDUCE % 0] = call([1.0], [1 + 7e-6], group=group(0, 1, 2, 3))
        report = self.trace(0, test, ref)
        self.assertEqual(self.own(report), [])

    def test_a_weight_is_not_sent(self):
        """A parameter that differs on rank 1 is its own, though rank 0 has sent it something."""
        test, ref = pipeline(0, stages=2), pipeline(stages=2)
        for dumps, weight in ((test, 1.7), (ref, 1.0)):
            made = dumps[1].pop(LINEAR % 0)
            made["parameters"] = {"weight": call([], [weight])["output"][0]}
            dumps[1]["Module.out.Linear.forward.0"] = made
        report = self.trace(1, test, ref)
        self.assertEqual(self.own(report), [("rank0", LINEAR % 0), ("rank1", "Module.out.Linear.forward.0")])
        self.assertEqual(report["origins"][1]["name"], "Module.out.Linear.forward.0.parameters.weight")

    def test_steps_come_in_their_order(self):
        for side, faults in (("test", ({(0, 2): 1.2}, {(0, 0): 1.2})), ("ref", ({}, {}))):
            for step, fault in enumerate(faults):
                write(os.path.join(self.folder, side), parallel(fault, ranks=2), step="step%d" % step)
        run = harness.run("trace", os.path.join(self.folder, "test"), os.path.join(self.folder, "ref"), "--json", "-")
        first = json.loads(run.out)["origins"][0]
        self.assertEqual((first["step"], first["call"]), ("step0", LINEAR % 2))


class BadInput(Steps):

    def test_groups_of_absent_ranks(self):
        dumps = [parallel(fault) for fault in ({(0, 0): 1.2}, {})]
        for made in dumps:
            for rank in (2, 3):
                del made[rank]
        report = self.trace(1, *dumps)
        self.assertEqual(self.own(report), [("rank0", LINEAR % 0)])
        self.assertRegex(self.run_of.err, r"lead to ranks that were not dumped \(first: rank 2")

    def test_unequal_numbers_of_communications(self):
        dumps = [parallel(fault, ranks=2) for fault in ({(0, 1): 1.2}, {})]
        for made in dumps:
            del made[1][REDUCE % 2]
        report = self.trace(1, *dumps)
        self.assertEqual(self.own(report)[0], ("rank0", LINEAR % 1))
        self.assertIn("have no partner on another rank", self.run_of.err)

    def test_communications_that_wait_for_each_other(self):
        """Rank 0 receives before it sends, and so does rank 1: no run could do it, and no search may wait for it."""
        def crossed(factor):
            dumps = {}
            for rank in (0, 1):
                dumps[rank] = {"Distributed.recv.0.forward": call([5.0], [], src=number(1 - rank)),
                               LINEAR % 0: call([1.0], [factor if rank == 0 else 1.0]),
                               "Distributed.send.0.forward": call([1.0], [], dst=number(1 - rank))}
            return dumps
        report = self.trace(1, crossed(1.2), crossed(1.0))
        self.assertEqual(self.own(report), [("rank0", LINEAR % 0)])
        self.assertIn("wait for each other", self.run_of.err)

    def test_a_circle_of_parents_and_ranks_without_parents(self):
        parents = {LINEAR % 0: "Module.a.A.forward.0", "Module.a.A.forward.0": "Module.b.B.forward.0",
                   "Module.b.B.forward.0": "Module.a.A.forward.0"}
        report = self.trace(1, parallel({(0, 0): 1.2}), parallel({}), parents=parents)
        self.assertEqual(report["origins"][0]["modules"], ["Module.a.A.forward.0", "Module.b.B.forward.0"])
        os.remove(os.path.join(self.folder, "test", "step0", "rank1", "construct.json"))
        harness.write_text(os.path.join(self.folder, "test", "step0", "rank2", "construct.json"), "[")
        run = harness.run("trace", os.path.join(self.folder, "test"), os.path.join(self.folder, "ref"))
        self.assertEqual(run.code, 1, run)
        self.assertIn("places in the network are not shown", run.err)

    def test_what_could_not_be_compared_is_no_agreement(self):
        made = parallel({})
        self.trace(0, made, made)
        harness.write_text(os.path.join(self.folder, "test", "step0", "rank1", "dump.json"), "{")
        run = harness.run("trace", os.path.join(self.folder, "test"), os.path.join(self.folder, "ref"))
        self.assertEqual(run.code, 2, run)
        self.assertIn("1 dump left out", run.out)
        self.assertIn("incomplete", run.out)

    def test_tensors_without_files(self):
        """A tensor dump that was moved without its data is traced by the statistics in its json."""
        for side, faults in (("test", {(1, 1): 1.2}), ("ref", {})):
            step = write(os.path.join(self.folder, side), parallel(faults))
            for rank in range(4):
                path = os.path.join(step, "rank%d" % rank, "dump.json")
                dump = json.loads(harness.read_text(path))
                dump["task"] = "tensor"
                dump["dump_data_dir"] = "gone"
                for name, made in dump["data"].items():
                    for place, tensor in enumerate(made["output"]):
                        tensor["data_name"] = "%s.output.%d.pt" % (name, place)
                    for place, tensor in enumerate(made["input_args"]):
                        tensor["data_name"] = "%s.input.%d.pt" % (name, place)
                harness.write_text(path, json.dumps(dump))
        run = harness.run("trace", os.path.join(self.folder, "test"), os.path.join(self.folder, "ref"))
        self.assertEqual(run.code, 1, run)
        self.assertEqual(run.out.splitlines()[0], "first origin: step0 rank1 " + LINEAR % 1 + ".output.0")
        self.assertIn("traced by the statistics", run.err)


class Growth(Steps):

    def layered(self, fault=1.0):
        """Two blocks of a module and an operator each, and back through them; what holds them is recorded, too."""
        calls, parents, state = {}, {}, 1.0
        for block in (0, 1):
            module, operator = "Module.net.h.%d.fc.Linear" % block, "Functional.linear.%d" % block
            out = state * (fault if block == 1 else 1.0)
            calls[operator + ".forward"] = call([state], [out])
            calls[module + ".forward.0"] = call([state], [out])
            parents[operator + ".forward"] = module + ".forward.0"
            parents[module + ".forward.0"] = "Module.net.Net.forward.0"
            state = out
        calls["Module.net.Net.forward.0"] = call([1.0], [state])
        parents["Module.net.Net.forward.0"] = None
        calls["Functional.mse_loss.0.forward"] = call([state], [state])
        for block in (1, 0):
            calls["Functional.linear.%d.backward" % block] = {"input": call([state], [])["input_args"],
                                                              "output": call([state], [])["input_args"]}
        return {0: calls}, parents

    def test_by_layer(self):
        test, parents = self.layered(1.1)
        ref, _ = self.layered()
        report = self.trace(1, test, ref, parents=parents)
        layers = [(layer["layer"], layer["direction"], layer["calls"], round(layer["relative_distance"], 6))
                  for layer in report["dumps"][0]["layers"]]
        # backward calls belong to the layer of their forward call, which alone has parents here
        self.assertEqual(layers, [("net.h.0", "forward", 2, 0.0), ("net.h.1", "forward", 2, 0.1),
                                  ("Functional.mse_loss.0", "forward", 1, 0.1),
                                  ("net.h.1", "backward", 1, 0.1), ("net.h.0", "backward", 1, 0.1)])
        calls = {made["call"]: made["layer"] for made in report["dumps"][0]["calls"]}
        self.assertEqual(calls["Functional.linear.1.backward"], "net.h.1")
        self.assertIsNone(calls["Module.net.Net.forward.0"])
        text = harness.run("trace", os.path.join(self.folder, "test"), os.path.join(self.folder, "ref")).out
        self.assertRegex(text, r"growth forward  \[ %%\] 3 layers, net.h.0 to Functional.mse_loss.0; "
                               r"grows most in net.h.1, from 0 to 0.1")

    def test_by_call_without_places(self):
        report = self.trace(1, parallel({(0, 1): 1.2}, ranks=1), parallel({}, ranks=1))
        self.assertEqual(report["dumps"][0]["layers"], [])
        self.assertEqual(len(report["dumps"][0]["calls"]), 6)
        text = harness.run("trace", os.path.join(self.folder, "test"), os.path.join(self.folder, "ref")).out
        self.assertIn("6 calls in order", text)


if __name__ == "__main__":
    unittest.main()
