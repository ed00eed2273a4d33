"""A module around all modules of one side: recognised by itself, and never where there is doubt."""
import json

import dumps
import harness


class Wrappers(harness.Case):
    """A module around all modules of one side."""

    LAYERS = ["embed.Embedding", "layers.0.attention.Attention", "layers.0.mlp.Linear", "layers.1.attention.Attention",
              "layers.1.mlp.Linear", "head.Linear"]

    def side(self, name, prefix="", layers=None, shapes=None, kind="Module"):
        dump = dumps.Dump(self.path(name), "statistics")
        for number, layer in enumerate(layers or self.LAYERS):
            shape = (shapes or {}).get(layer, [number + 2])
            base = "%s.%s%s" % (kind, prefix, layer)
            dump.entry(base + ".forward.0", input_args=[dumps.item("f32", shape)], output=[dumps.item("f32", shape)])
            dump.data[base + ".parameters_grad.0"] = {"weight": [dumps.item("f32", shape)]}
        dump.entry("Functional.relu.0.forward", input_args=[dumps.item("f32", [2])])
        return dump.write()

    def matched(self, code, npu, bench):
        result = self.run_code(code, "match", npu, bench)
        return sum("\t-\t" not in line and not line.startswith("-\t") for line in result.out.splitlines()), result

    def test_a_prefix_on_either_side(self):
        for prefix in ("module.", "backbone.", "module.backbone."):
            for npu, bench in (("", prefix), (prefix, "")):
                with self.subTest(npu=npu, bench=bench):
                    for kind in ("Module", "Cell"):
                        count, result = self.matched(0, self.side("npu", npu, kind=kind),
                                                     self.side("bench", bench, kind=kind))
                        self.assertEqual(count, 19)
                        self.assertIn("have '%s' in front of their names" % prefix, result.err)
                        self.assertIn("equal name but for the prefix", result.out)

    def test_the_wrapper_says_so(self):
        rows, result = self.compare(0, self.side("npu"), self.side("bench", "module."))
        self.assertEqual(rows[0]["Bench Name"], "Module.module.embed.Embedding.forward.0.input.0")
        self.assertIn("names matched by equal names without the ref's 'module.'", result.out)

    def test_no_false_recognition(self):
        other = [layer.replace("layers", "blocks") for layer in self.LAYERS]
        cases = {
            "equal names": (self.side("npu"), self.side("bench"), 0),
            "another network": (self.side("npu"), self.side("bench2", layers=other), 1),
            "other shapes": (self.side("npu"), self.side("bench3", "module.",
                                                         shapes={n: [99] for n in self.LAYERS[:2]}), 1),
            "one module": (self.side("npu4", layers=["fc.Linear"]), self.side("bench4", "m.", layers=["fc.Linear"]), 1),
            "half of it": (self.side("npu5"), self.side("bench5", "m.", layers=self.LAYERS[:2]), 1),
            "two of them": (self.side("npu6"), self.two_towers("bench6"), 1),
        }
        for name, (npu, bench, code) in cases.items():
            with self.subTest(name):
                _, result = self.matched(code, npu, bench)
                self.assertNotIn("in front of their names", result.err)

    def two_towers(self, name):
        """Which of the two would it be?"""
        path = self.side(name, "actor.")
        with open(path, encoding="utf-8") as file:
            whole = json.load(file)
        for entry in [e for e in whole["data"] if ".actor." in e]:
            whole["data"][entry.replace(".actor.", ".critic.")] = whole["data"][entry]
        harness.write_text(path, json.dumps(whole))
        return path

    def test_not_where_a_mapping_was_asked_for(self):
        mapping = harness.write_text(self.path("map.yaml"), "a: b\n")
        npu, bench = self.side("npu"), self.side("bench", "module.")
        for options in (["--fuzzy"], ["--data-mapping", mapping], ["--rules", "compat"]):
            with self.subTest(options=options):
                result = self.run_code(1, "match", npu, bench, *options)
                self.assertNotIn("in front of their names", result.err)


if __name__ == "__main__":
    harness.main()
