"""`--format html`: what the page holds, read without a browser."""
import json
import os
import unittest

import dumps
import harness
import pages

HOSTILE = ["</script><script>alert(1)</script>", "<img src=x onerror=alert(1)>", "\"'`&amp;", "a\u0000\u001b[31m\u202eb",
           "<!--", "]]>", "\\u003c", "\U0001f600"]


def pair(case, last=-400.0):
    """Two small dumps that differ in their last element, with stacks."""
    sides = []
    for side, value in (("npu", 3.0), ("bench", last)):
        dump = dumps.Dump(case.path(side))
        for number in range(3):
            dump.call("f%d" % number, "output", [1.0, 2.0, value])
        dump.entry("Module.layers.0.Linear.forward.0", input_args=[dumps.item("f32", [3], None)])
        sides.append(dump.write())
        harness.write_text(os.path.join(case.path(side), "stack.json"),
                           json.dumps({"Functional.f0.0.forward": ["File a.py, line 1, in f"]}))
    return sides


class Content(harness.Case):
    def page(self, code, *words):
        self.run_code(code, *words, "-o", self.path("out"), "--format", "html,csv")
        path = harness.only_file(self.path("out"), "html", "compare_report")
        return pages.Page(harness.read_bytes(path))

    def test_cells_are_those_of_the_csv(self):
        page = self.page(1, "compare", *pair(self))
        table = harness.read_csv(harness.only_file(self.path("out"), "csv"))
        self.assertEqual(page.rows.rows, len(table))
        self.assertEqual([name for name in page.rows.names if not name.startswith("#")], list(table[0]))
        for number, row in enumerate(table):
            for name, shown in row.items():
                cell = page.rows.columns[name][number]
                self.assertTrue(pages.same_number(shown, cell), (number, name, shown, cell))

    def test_facts(self):
        page = self.page(1, "compare", *pair(self))
        facts = page.facts
        self.assertEqual((facts["answer"], facts["rows"], facts["chosen"]), ("DIFFERENT", page.rows.rows, page.rows.rows))
        self.assertEqual(sum(facts["classes"]), facts["rows"])
        self.assertTrue(facts["command"].startswith("tdcmp compare "), facts["command"])
        self.assertEqual(facts["sources"][0]["test"], self.path("npu", "dump.json"))
        self.assertEqual((facts["sources"][0]["level"], facts["sources"][0]["refLevel"]), ("L1", "L1"))
        self.assertTrue(facts["sources"][0]["csv"].endswith(".csv"))
        for origin in facts["origins"]:
            self.assertIn(origin["name"], page.rows.columns["NPU Name"])
        self.assertIn("layers.0", page.rows.columns["#module"])

    def test_nothing_can_be_requested_or_run(self):
        page = self.page(1, "compare", *pair(self))
        policy = page.policy()
        self.assertEqual(policy["default-src"], ["'none'"])
        self.assertEqual(sorted(policy["script-src"]), sorted(page.digests("script")))
        self.assertEqual(sorted(policy["style-src"]), sorted(page.digests("style")))
        for element in page.markup.elements:
            self.assertFalse({"src", "href", "style"} & set(element), element)
            self.assertFalse([name for name in element if name.startswith("on")], element)

    def test_names_are_no_markup(self):
        sides = []
        for side in ("npu", "bench"):
            dump = dumps.Dump(self.path(side), "statistics")
            for number, name in enumerate(HOSTILE):
                dump.entry("Functional.%s.%d.forward" % (name, number),
                           output=[dumps.item("f32", [1], None, stats=(1.0 if side == "npu" else 2.0, 0.0, 0.0, 1.0))])
            sides.append(dump.write())
        page = self.page(1, "compare", *sides)
        for element in page.markup.of("script"):
            self.assertNotIn("alert", element["text"])
        self.assertNotIn("<img", page.text)
        shown = "\n".join(page.rows.columns["NPU Name"])
        for name in HOSTILE:
            self.assertIn(name, shown)

    def test_one_page_of_all_ranks_and_one_that_cannot_be_read(self):
        for side, value in (("npu", 1.0), ("bench", 5.0)):
            for rank in range(3):
                dump = dumps.Dump(self.path(side, "rank%d" % rank))
                dump.call("f", "output", [1.0, 2.0, value if rank == 1 else 0.5])
                dump.write()
        harness.write_text(self.path("npu", "rank2", "dump.json"), "{")
        page = self.page(2, "compare", self.path("npu"), self.path("bench"))
        self.assertEqual([source["rank"] for source in page.facts["sources"]], ["rank0", "rank1"])
        self.assertEqual(set(page.rows.columns["#source"]), {0.0, 1.0})
        self.assertIn("dump.json", page.facts["failures"][0]["reason"])

    def test_one_file_and_some_levels(self):
        sides = pair(self)
        path = self.path("made", "a.html")
        self.run_code(1, "compare", *sides, "-o", path, "--only", "different")
        page = pages.Page(harness.read_bytes(path))
        self.assertEqual(harness.files_below(self.path("made")), ["a.html"])
        self.assertLess(page.facts["chosen"], page.facts["rows"])
        self.assertEqual(set(page.rows.columns["#class"]), {6.0})
        result = harness.run("compare", *sides, "-o", "-", "--format", "html")
        self.assertEqual((result.code, result.out), (2, ""))

    def test_other_rules_have_their_columns(self):
        for rules in ("msprobe", "msprobe26"):
            result = harness.run("compare", *pair(self), "-o", self.path(rules), "--format", "html", "--rules", rules)
            self.assertIn(result.code, (0, 1), str(result))
            page = pages.Page(harness.read_bytes(harness.only_file(self.path(rules), "html", "compare_report")))
            self.assertIn("NPU Name", page.rows.names)
            self.assertTrue(page.facts["compat"])

    def test_the_same_bytes_with_any_number_of_threads(self):
        sides, found = pair(self), set()
        for threads in ("1", "2", "5"):
            path = self.path("t%s.html" % threads)
            self.run_code(1, "compare", *sides, "-o", path, "-t", threads)
            found.add(pages.Page(harness.read_bytes(path)).lasting())
        self.assertEqual(len(found), 1)


class Trace(harness.Case):
    def test_origins_with_their_judge(self):
        sides = pair(self)
        self.run_code(1, "trace", *sides, "-o", self.path("out"), "--format", "html")
        page = pages.Page(harness.read_bytes(harness.only_file(self.path("out"), "html", "trace_report")))
        self.assertEqual(page.facts["answer"], "DIFFERENT")
        origins = page.facts["trace"]
        self.assertTrue(origins)
        self.assertTrue(origins[0]["judge"].startswith("no reference: "), origins[0])
        row = page.rows.columns["#row"].index(float(origins[0]["row"]))
        self.assertEqual(page.rows.columns["NPU Name"][row], origins[0]["name"])
        self.assertTrue(page.facts["command"].startswith("tdcmp trace "))

    def test_only_html(self):
        result = harness.run("trace", "a", "b", "--format", "csv")
        self.assertEqual(result.code, 2)
        self.assertIn("html", result.err)


class Precheck(harness.Case):
    def test_apis_and_slots(self):
        dump = dumps.Dump(self.path("dump"))
        x = [1.0, 2.0, 4.0]
        for number, result in ((0, [2.0, 3.0, 5.0]), (1, [2.0, 3.0, 9.0])):
            files = [dump.file("%s%d.npy" % (word, number), dumps.npy_bytes("<f4", [3], dumps.pack("f32", values)))
                     for word, values in (("x", x), ("y", [1.0, 1.0, 1.0]), ("o", result))]
            items = [dumps.item("f32", [3], os.path.basename(name)) for name in files]
            dump.entry("Torch.add.%d.forward" % number, input_args=items[:2], input_kwargs={}, output=items[2:])
        path = dump.write()
        self.run_code(1, "precheck", path, "-o", self.path("out"), "--format", "html")
        page = pages.Page(harness.read_bytes(harness.only_file(self.path("out"), "html", "precheck_report")))
        self.assertIsNone(page.facts["answer"])
        precheck = page.facts["prechecks"][0]
        self.assertEqual((precheck["pass"], precheck["error"]), (1, 1))
        self.assertEqual([(api["name"], api["calls"], api["failing"]) for api in precheck["apis"]], [("Torch.add", 2, 1)])
        slots = page.sheets["slots"]
        self.assertEqual(slots.columns["Call"], ["Torch.add.1", "Torch.add.0"])
        self.assertEqual(slots.columns["Verdict"], ["error", "pass"])
        self.assertGreater(slots.columns["Max ULP"][0], slots.columns["Max ULP"][1])


if __name__ == "__main__":
    unittest.main()
