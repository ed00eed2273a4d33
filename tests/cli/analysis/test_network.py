"""`tdcmp bench network`: correct runs are silent; a fault is found where it was put, on the side it was put."""
import json
import os
import shutil
import tempfile
import unittest

import harness

# of every kind of operator one call that comes in the middle of the network, and a fault it can have
SMALL = ("--layers", "2", "--width", "16", "--heads", "2", "--tokens", "6", "--vocabulary", "20")
SIDES = ("test", "ref")
FAULTS = {
    ("gpt", "f32"): ("Functional.layer_norm.1:argument", "Functional.linear.6:accumulate", "Torch.matmul.2:inputs",
                     "Functional.gelu.0.backward:element", "Functional.softmax.1.backward:scale",
                     "Functional.cross_entropy.0:scale", "Functional.embedding.0.backward:scale"),
    ("gpt", "bf16"): ("Functional.softmax.1:scale", "Functional.linear.9:row", "Tensor.masked_fill.0:nan",
                      "Functional.layer_norm.2.backward:element", "Functional.embedding.0:element"),
    ("gpt", "f16"): ("Tensor.__truediv__.0:argument", "Functional.gelu.1:element", "Torch.matmul.1.backward:inf"),
    ("llama", "f32"): ("Torch.rsqrt.2:scale", "Tensor.mean.1:inputs", "Functional.silu.0:element",
                       "Tensor.cos.0:scale", "Tensor.pow.2.backward:element",
                       "Functional.scaled_dot_product_attention.1:swap"),
    ("llama", "bf16"): ("Functional.scaled_dot_product_attention.0:argument", "Tensor.__mul__.6:scale",
                        "Functional.linear.8.backward:nan", "Torch.cat.2:element"),
    ("llama", "f16"): ("Functional.linear.4:inputs", "Tensor.__add__.3:row",
                       "Functional.scaled_dot_product_attention.1.backward:scale"),
}
NETWORKS = tuple(FAULTS)


# dumps are many small files, which some disks are slow to make
MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


class Network(harness.Case):

    def setUp(self):
        super().setUp()
        dumps = tempfile.TemporaryDirectory(prefix="tdcmp-test-", dir=MEMORY)
        self.addCleanup(dumps.cleanup)
        self.dumps = dumps.name

    def made(self, network, dtype, *words):
        folder = os.path.join(self.dumps, "made")
        shutil.rmtree(folder, ignore_errors=True)
        run = harness.run("bench", "network", folder, "--network", network, "--dtype", dtype, *SMALL, *words)
        self.assertEqual(run.code, 0, run)
        return [os.path.join(folder, side) for side in SIDES]

    def trace(self, code, *words):
        run = harness.run("trace", *words, "--json", "-")
        self.assertEqual(run.code, code, run)
        return json.loads(run.out)["origins"]

    def precheck(self, side):
        return harness.run("precheck", side, "-o", os.path.join(self.folder, "precheck"))

    def test_correct_runs_are_silent(self):
        for network, dtype in NETWORKS:
            with self.subTest(network=network, dtype=dtype):
                sides = self.made(network, dtype)
                self.assertEqual(self.trace(0, *sides), [])
                run = harness.run("compare", *sides, "-o", os.path.join(self.folder, "result"), "--format", "csv")
                self.assertEqual(run.code, 0, run)
                for side in sides:
                    run = self.precheck(side)
                    self.assertEqual(run.code, 0, run)

    def test_faults_are_found(self):
        number = 0
        for (network, dtype), faults in FAULTS.items():
            for fault in faults:
                side = SIDES[number % 2]
                number += 1
                with self.subTest(network=network, dtype=dtype, fault=fault, side=side):
                    sides = self.made(network, dtype, "--fault", fault, "--fault-side", side, "--level", "L1")
                    first = self.trace(1, *sides)[0]
                    call = fault.split(":")[0]
                    if not call.endswith("ward"):
                        call += ".forward"
                    self.assertEqual((first["call"], first["judge"]), (call, side + " is off"), first)
                    self.assertEqual((first["truth"], first["nearer"]), ("reference", "B" if side == "test" else "A"), first)
                    run = self.precheck(sides[SIDES.index(side)])
                    self.assertEqual(run.code, 1, run)
                    self.assertIn(call.rsplit(".", 1)[0], run.out)

    def test_a_side_that_is_nearer(self):
        """Five percent are within what bfloat16 may do to a norm's gradient, and still the inputs were the same."""
        sides = self.made("gpt", "bf16", "--exact", "--fault", "Functional.layer_norm.2.backward:scale",
                          "--fault-side", "ref")
        first = self.trace(1, *sides)[0]
        self.assertEqual((first["call"], first["judge"], first["nearer"]),
                         ("Functional.layer_norm.2.backward", "rounding", "A"), first)

    def test_errors_travel(self):
        """What follows a fault differs, what precedes it does not, and statistics and checksums see it too."""
        sides = self.made("gpt", "f32", "--exact", "--fault", "Functional.layer_norm.2:scale")
        run = harness.run("compare", *sides, "-o", os.path.join(self.folder, "result"), "--format", "csv")
        self.assertEqual(run.code, 1, run)
        for task in ("statistics", "md5"):
            sides = self.made("gpt", "f32", "--exact", "--task", task, "--fault", "Functional.layer_norm.2:scale")
            first = self.trace(1, *sides)[0]
            self.assertEqual(first["call"], "Functional.layer_norm.2.forward", first)
            with open(os.path.join(sides[0], "dump.json"), encoding="utf-8") as file:
                test = json.load(file)
            with open(os.path.join(sides[1], "dump.json"), encoding="utf-8") as file:
                ref = json.load(file)
            names = list(test["data"])
            equal = [test["data"][name] == ref["data"][name] for name in names]
            start = names.index("Functional.layer_norm.2.forward")
            self.assertTrue(all(equal[:start]))
            later = [name for name, same in zip(names[start:], equal[start:]) if same]
            self.assertLess(len(later), len(names) / 10, later)

    def test_levels(self):
        for level, calls, modules in (("L0", False, True), ("L1", True, False), ("mix", True, True)):
            test = self.made("llama", "f32", "--level", level, "--npy")[0]
            with open(os.path.join(test, "dump.json"), encoding="utf-8") as file:
                names = list(json.load(file)["data"])
            self.assertEqual(any(name.startswith("Functional.") for name in names), calls)
            self.assertEqual(any(name.startswith("Module.") for name in names), modules)

    def test_wrong_words(self):
        folder = os.path.join(self.folder, "wrong")
        for words, said in ((("--fault", "Functional.linear.999"), "no call Functional.linear.999.forward"),
                            (("--fault", "Functional.linear.0:melted"), "CALL or CALL:KIND"),
                            (("--fault", "Tensor.view.0:argument"), "no number among its arguments"),
                            (("--fault", "Torch.arange.0"), "no floating result"),
                            (("--width", "30"), "multiple of twice the number of heads"),
                            (("--dtype", "bf16", "--npy"), "npy has no bf16"),
                            (("--dtype", "i32"), "f32, f16 or bf16"),
                            (("--layers", "100000"), "of such a size")):
            shutil.rmtree(folder, ignore_errors=True)
            run = harness.run("bench", "network", folder, *words)
            self.assertEqual(run.code, 2, run)
            self.assertIn(said, run.err)


if __name__ == "__main__":
    unittest.main()
