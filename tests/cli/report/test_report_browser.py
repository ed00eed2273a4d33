"""The page in a real browser: headless Chromium, driven over the DevTools protocol (browser.py).

Without Chromium the test says that it was skipped (exit code 77).
"""
import json
import os
import sys
import unittest

import browser
import dumps
import harness
import pages

HOSTILE = "</script><script>window.stolen = 1</script><img src=x onerror='window.stolen = 2'>\"'\u202e\u0007"
SHOWN = "document.querySelector('#shown').textContent"
SELECTED = "(document.querySelector('.row[aria-selected=true]')?.dataset.row ?? '')"


def item(value):
    return dumps.item("f32", [2, 3], stats=(value, -value, 0.5, 2 * value))


def sides(case, ranks=0, steps=0):
    """Statistics of a little network whose third layer differs; a call on one side only, one with NaN, a hostile one."""
    for side, wrong in (("npu", 1.5), ("bench", 1.0)):
        places = [("step%d" % step, "rank%d" % rank) for step in range(steps) for rank in range(ranks)] or [()]
        for place in places:
            dump = dumps.Dump(case.path(side, *place), "statistics")
            for layer in range(6):
                value = wrong if layer == 3 else 1.0
                dump.entry("Module.model.layers.%d.Linear.forward.0" % layer, input_args=[item(1.0)], output=[item(value)])
                dump.entry("Functional.relu.%d.forward" % layer, input_args=[item(value)], output=[item(value)])
            dump.entry("Functional.%s_only.0.forward" % side, input_args=[item(1.0)])
            dump.entry("Functional.nan.0.forward", output=[item(float("nan"))])
            dump.entry("Functional.%s.0.forward" % HOSTILE, output=[item(wrong)])
            for layer in reversed(range(6)):
                dump.entry("Functional.relu.%d.backward" % layer, input=[item(1.0)], output=[item(1.0)])
            dump.write()
    return case.path("npu"), case.path("bench")


class Page(harness.Case):
    @classmethod
    def setUpClass(cls):
        cls.browser = browser.Browser()

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()

    def tearDown(self):
        self.assertEqual(self.browser.console, [])
        self.assertEqual([url[:300] for url in self.browser.requests if not url.startswith(("file://" + self.folder, "about:"))], [])
        super().tearDown()

    def make(self, *words, start="compare_report"):
        result = harness.run(*words, "-o", self.path("out"), "--format", "html", "-q")
        self.assertIn(result.code, (0, 1), str(result))
        return harness.only_file(self.path("out"), "html", start)

    def open(self, address="", **settings):
        page = self.make("compare", *sides(self, **settings))
        self.browser.open(page, address)
        self.browser.ready("all")
        return page

    def run_js(self, expression):
        return self.browser.run(expression)

    def wait_for(self, expression, value):
        self.browser.wait("JSON.stringify(%s) === %s" % (expression, json.dumps(json.dumps(value))), 20)

    def choose(self, name, value):
        self.run_js("(() => { const e = document.querySelector('[data-filter=%s]'); e.value = %s;"
                    " e.dispatchEvent(new Event('change')); })()" % (name, json.dumps(value)))

    # ---- what it shows

    def test_banner(self):
        self.open()
        self.assertEqual(self.run_js("document.querySelector('h1').textContent"), "DIFFERENT")
        first = self.run_js("document.querySelector('#first button').textContent")
        self.assertEqual(first, "Module.model.layers.3.Linear.forward.0.output.0")
        self.assertIn("tdcmp compare", self.run_js("document.querySelector('#facts').textContent"))
        self.browser.click("#first button")
        self.browser.wait(SELECTED + " !== ''")
        self.assertIn(first, self.run_js("document.querySelector('#details').textContent"))

    def test_hostile_names_do_nothing(self):
        self.open("q=stolen")
        self.browser.wait(SHOWN + ".startsWith('1 of')")
        self.assertIn("</script>", self.run_js("document.querySelector('.row').textContent"))
        self.browser.click(".row .cell:nth-child(2)")
        self.browser.wait(SELECTED + " !== ''")
        self.browser.run("document.querySelector('#tab-origins').click()")
        self.assertIsNone(self.run_js("window.stolen ?? null"))
        self.assertEqual(self.run_js("document.images.length"), 0)
        self.assertIn("\\u202e", self.run_js("document.querySelector('#details h2').textContent"))

    def test_policy_stops_what_is_not_its_own(self):
        self.open()
        self.run_js("new Promise((done) => { const s = document.createElement('script'); s.textContent = 'window.mine = 1';"
                    " document.body.append(s); setTimeout(done, 50); })")
        self.assertIsNone(self.run_js("window.mine ?? null"))
        self.assertTrue(any("Content Security Policy" in line for line in self.browser.console))
        self.browser.console.clear()

    # ---- rows

    def test_filters(self):
        self.open()
        whole = self.run_js(SHOWN)
        self.browser.click("[data-level=different]")
        self.browser.wait(SHOWN + " !== " + json.dumps(whole))
        self.assertEqual(self.run_js("[...new Set([...document.querySelectorAll('.row .badge')].map(b => b.title))].join()"), "different")
        self.browser.click("[data-level=different]")
        for name, value, word in (("state", "output", ".output."), ("direction", "backward", ".backward."), ("only", "odd", "nan"),
                                  ("only", "test", "npu_only"), ("only", "ref", "bench_only")):
            self.run_js("document.querySelector('#filters-clear').click()")
            self.wait_for(SHOWN, whole)
            self.choose(name, value)
            self.browser.wait(SHOWN + " !== " + json.dumps(whole))
            names = self.run_js("[...document.querySelectorAll('.row .cell:nth-child(2)')].map(c => c.textContent)")
            self.assertTrue(names and all(word in one for one in names), (value, names))
        self.choose("only", "")
        self.choose("dtype", "differ")
        self.wait_for(SHOWN, "No row passes these filters.")

    def test_filters_by_colour_and_dtype(self):
        page = self.open()
        facts = json.loads(pages.Page(harness.read_bytes(page)).unpack(0))
        self.assertGreater(facts["red"], 0)
        self.choose("colour", "red")
        self.browser.wait(SHOWN + ".startsWith('%d of')" % facts["red"])
        self.choose("dtype", "torch.float32")
        self.browser.wait(SHOWN + ".startsWith('%d of')" % facts["red"])
        self.assertIn("colour=red", self.run_js("location.hash"))
        self.choose("colour", "")
        self.choose("dtype", "torch.float32")
        self.browser.wait("!" + SHOWN + ".startsWith('%d of')" % facts["red"])

    def test_six_digits_and_the_name_copied(self):
        self.open("q=layers.3+output")
        self.assertEqual(self.run_js("[1234567, 999999, 1 / 3, -1e-9 / 3, 0, 2 ** 40, NaN, -Infinity].map(shortNumber)"),
                         ["1.23457e6", "999999", "0.333333", "-3.33333e-10", "0", "1.09951e12", "NaN", "-inf"])
        self.assertEqual(self.run_js("fullNumber(1 / 3)"), "0.3333333333333333")
        self.browser.wait(SHOWN + ".startsWith('1 of')")
        self.browser.click(".row .cell:nth-child(2)")
        self.browser.wait(SELECTED + " !== ''")
        self.run_js("Object.defineProperty(navigator, 'clipboard', { value: { writeText: async (text) => { window.copied = text; } } }); 0")
        self.run_js("document.querySelector('#copy-name').click()")
        self.wait_for("window.copied ?? ''", "Module.model.layers.3.Linear.forward.0.output.0")

    def test_search_and_its_key(self):
        self.open()
        self.browser.key("/", "")
        self.wait_for("document.activeElement.id", "search")
        self.browser.type("layers.3 output")
        self.browser.wait(SHOWN + ".startsWith('1 of')")
        self.assertIn("q=layers.3+output", self.run_js("location.hash"))

    def test_sort(self):
        self.open()
        column = "Relative Distance"
        take = ("[...document.querySelectorAll('.row')].sort((a, b) => parseFloat(a.style.top) - parseFloat(b.style.top))"
                ".slice(0, 5).map(r => Number(r.children[%d].textContent))")
        at = self.run_js("[...document.querySelectorAll('[role=columnheader]')].findIndex(c => c.dataset.column === '%s')" % column)
        self.run_js("document.querySelectorAll('[role=columnheader] button')[%d].click()" % at)
        self.wait_for("document.querySelector('[aria-sort=descending]')?.dataset.column ?? ''", column)
        self.browser.wait("(%s)[0] > 0.1" % (take % at))
        values = self.run_js(take % at)
        self.assertEqual(values, sorted(values, reverse=True))
        self.run_js("document.querySelectorAll('[role=columnheader] button')[%d].click()" % at)
        self.wait_for("(%s)[0]" % (take % at), 0)

    def test_next_and_previous_difference(self):
        self.open()
        seen = []
        for key in "nnnp":
            before = self.run_js(SELECTED)
            self.browser.key(key)
            self.browser.wait(SELECTED + " !== " + json.dumps(before))
            seen.append(int(self.run_js(SELECTED)))
            self.assertEqual(self.run_js("document.querySelector('.row[aria-selected=true] .badge').title"), "different")
        self.assertEqual(seen[:3], sorted(set(seen[:3])))
        self.assertEqual(seen[3], seen[1])
        self.browser.key("Escape")
        self.wait_for(SELECTED, "")

    def test_selection_is_everywhere(self):
        self.open()
        self.browser.key("n")
        self.browser.wait(SELECTED + " !== ''")
        name = self.run_js("document.querySelector('.row[aria-selected=true] .cell:nth-child(2)').textContent")
        self.wait_for("document.querySelector('#details h2')?.textContent ?? ''", name)
        path = self.run_js("document.querySelector('[role=treeitem][aria-selected=true]').dataset.path")
        self.assertTrue(name.startswith(path.split("/")[-1]), (path, name))
        # a point of the strip: the arrow goes to the next call
        self.run_js("document.querySelector('#strip').focus()")
        self.browser.key("ArrowRight")
        self.browser.wait("document.querySelector('#details h2').textContent !== " + json.dumps(name))
        # a node of the tree
        self.run_js("document.querySelector('[role=treeitem][data-path=\"model\"] > .node').click()")
        self.browser.wait("location.hash.includes('module=model')")
        self.browser.wait(SHOWN + ".includes(' of ')")

    def test_strip_along_layers(self):
        """Six layers and the operators after them; the worst call of a layer stands for it."""
        self.open("along=layers")
        self.browser.wait("document.querySelector('#strip-text').textContent.includes('each layer')")
        self.assertRegex(self.run_js("document.querySelector('#strip-text').textContent"),
                         r"Forward: \d+ layers, the largest [\d.]+ at .*, the first difference at model\.layers\.3\.")
        self.browser.click("#first button")
        self.browser.wait(SELECTED + " !== ''")
        self.choose_along("")
        self.browser.wait("document.querySelector('#strip-text').textContent.includes('each call')")
        self.assertNotIn("along", self.run_js("location.hash"))

    def choose_along(self, value):
        self.run_js("(() => { const e = document.querySelector('#along'); e.value = %s;"
                    " e.dispatchEvent(new Event('change')); })()" % json.dumps(value))

    def test_link(self):
        page = self.open()
        self.browser.click("[data-level=different]")
        self.browser.key("n")
        self.browser.wait(SELECTED + " !== ''")
        address, shown, row = self.run_js("location.hash.slice(1)"), self.run_js(SHOWN), self.run_js(SELECTED)
        self.browser.open(page, address)
        self.browser.ready("all")
        self.wait_for(SHOWN, shown)
        self.wait_for(SELECTED, row)
        self.browser.run("location.hash = 'row=99999999&levels=nonsense&sort=nothing&source=12'")
        self.wait_for(SHOWN, "No row passes these filters.")

    def test_exports(self):
        self.open()
        self.run_js("window.saved = []; URL.createObjectURL = (blob) => { saved.push(blob); return 'data:,'; };"
                    "HTMLAnchorElement.prototype.click = function () { saved.push(this.download); }; 0")
        self.browser.click("[data-level=different]")
        self.browser.wait(SHOWN + ".includes(' of ')")
        self.run_js("document.querySelector('#export-csv').click(); document.querySelector('#export-map').click()")
        self.browser.wait("saved.length === 4")
        table, mapping = self.run_js("saved[0].text()"), self.run_js("saved[2].text()")
        path = harness.write_text(self.path("saved.csv"), table)
        rows = harness.read_csv(path)
        self.assertEqual({row["Level"] for row in rows}, {"different"})
        self.assertTrue(any("stolen" in row["NPU Name"] for row in rows))
        self.assertEqual(self.run_js("['-inf', '-1.5e-7', '-x', '=1', 'a\"b'].map(csvCell)"), ["-inf", "-1.5e-7", "'-x", "'=1", '"a""b"'])
        mapped = harness.write_text(self.path("map.yaml"), mapping)
        self.assertIn("Functional.relu.3.forward.input.0: Functional.relu.3.forward.input.0\n", mapping)
        result = harness.run("compare", self.path("npu"), self.path("bench"), "-o", self.path("again"), "--data-mapping", mapped)
        self.assertIn(result.code, (0, 1), str(result))

    # ---- other views

    def test_ranks_and_steps(self):
        self.open("view=heat", ranks=3, steps=2)
        self.browser.wait("document.querySelector('#heat-text').textContent.includes('3 comparisons')")
        self.run_js("document.querySelector('#view-heat canvas').focus()")
        for _ in range(3):
            self.browser.key("ArrowRight")
        self.browser.key("ArrowDown")
        self.browser.wait("document.querySelector('.reading').textContent.includes('rank1')")
        self.browser.wait("location.hash.includes('row=')")
        self.run_js("(() => { const e = document.querySelector('#view-heat select'); e.value = 'steps';"
                    " e.dispatchEvent(new Event('change')); })()")
        self.browser.wait("document.querySelector('#heat-text').textContent.includes('2 comparisons')")
        self.run_js("(() => { const e = document.querySelector('#source'); e.value = '1';"
                    " e.dispatchEvent(new Event('change')); })()")
        self.run_js("document.querySelector('#tab-table').click()")
        self.browser.wait(SHOWN + ".includes(' of ')")

    def test_unmatched(self):
        self.open("view=unmatched")
        text = self.run_js("document.querySelector('#view-unmatched').textContent")
        self.assertIn("Test only: 1 call", text)
        self.assertIn("Functional.bench_only.0.forward", text)

    def test_small_screens_dark_and_paper(self):
        self.open()
        try:
            self.browser.resize(390, 800, 2, True)
            self.browser.media("dark")
            self.assertLessEqual(self.run_js("document.documentElement.scrollWidth"), 390)
            self.browser.media("light", "print")
            self.run_js("window.dispatchEvent(new Event('beforeprint'))")
            self.assertIn("Where differences begin", self.run_js("document.querySelector('#paper').textContent"))
            self.assertEqual(self.run_js("getComputedStyle(document.querySelector('main')).display"), "none")
        finally:
            self.browser.resize(1280, 900)
            self.browser.media()

    def test_names_for_everything(self):
        """Every control has a name, every id is there once, what is referred to exists."""
        self.open()
        for address in ("", "view=origins", "view=unmatched", "view=help"):
            self.run_js("location.hash = '%s'" % address)
            unnamed = self.run_js("""[...document.querySelectorAll('button, select, input, [role=grid], [role=tree], canvas[tabindex]')]
                .filter(e => e.offsetParent !== null)
                .filter(e => !(e.textContent.trim() || e.getAttribute('aria-label') || e.getAttribute('aria-labelledby') || e.closest('label')))
                .map(e => e.outerHTML.slice(0, 80))""")
            self.assertEqual(unnamed, [])
        ids = self.run_js("[...document.querySelectorAll('[id]')].map(e => e.id)")
        self.assertEqual(len(ids), len(set(ids)))
        missing = self.run_js("""[...document.querySelectorAll('[aria-controls], [aria-labelledby], [aria-describedby]')].flatMap(e =>
            ['aria-controls', 'aria-labelledby', 'aria-describedby'].map(n => e.getAttribute(n)).filter(v => v)).filter(v => !document.getElementById(v))""")
        missing = [name for name in missing if not name.startswith("tab-")]
        self.assertEqual(missing, [])

    def test_contrast(self):
        """Letters on what they stand on: 4.5 to 1, in light and dark."""
        self.open()
        pairs = [("--text", "--ground"), ("--quiet", "--ground"), ("--quiet", "--raised"), ("--text", "--red-row"),
                 ("--text", "--yellow-row"), ("--accent", "--sheet"), ("--bad", "--ground"), ("--good", "--ground"),
                 ("--middling", "--ground")] + [("--c-" + word, "--sheet") for word in
                                                ("identical", "rounding", "close", "different", "unmatched", "error", "none")]
        try:
            for scheme in ("light", "dark"):
                self.browser.media(scheme)
                for front, back in pairs:
                    self.assertGreaterEqual(ratio(self.colour(front), self.colour(back)), 4.5, (scheme, front, back))
        finally:
            self.browser.media()

    def colour(self, name):
        value = self.run_js("styleColour('%s')" % name).lstrip("#")
        value = "".join(2 * digit for digit in value) if len(value) == 3 else value
        return [int(value[at:at + 2], 16) / 255 for at in (0, 2, 4)]

    # ---- scale

    def test_two_hundred_thousand_rows(self):
        harness.run("bench", "make", self.path("large"), "-n", "179000", "-t", "statistics", "--exact", "--no-stack")
        page = self.make("compare", self.path("large", "npu"), self.path("large", "bench"))
        self.assertLess(os.path.getsize(page), 30 << 20)
        self.browser.open(page)
        self.browser.ready("all")
        count = int(self.run_js(SHOWN).split()[0].replace(",", ""))
        self.assertGreater(count, 195000)
        self.run_js("document.querySelector('#grid').scrollTop = 1e9")
        self.browser.wait("[...document.querySelectorAll('.row')].some(r => r.getAttribute('aria-rowindex') === '%d')" % (count + 1))
        self.assertLess(self.run_js("document.querySelectorAll('.row').length"), 100)
        self.browser.key("n")
        self.browser.wait(SELECTED + " !== ''")
        self.browser.key("/", "")
        self.browser.type("linear.777.")
        self.browser.wait(SHOWN + ".includes(' of ')")

    def test_more_rows_than_a_page_holds(self):
        harness.run("bench", "make", self.path("large"), "-n", "190000", "-t", "statistics", "--exact", "--no-stack", "--share", "0.001")
        page = self.make("compare", self.path("large", "npu"), self.path("large", "bench"), "--no-advice")
        self.browser.open(page)
        self.browser.ready("all")
        table = harness.only_file(self.path("out"), "csv")
        notice = self.run_js("document.querySelector('#notice').textContent")
        self.assertIn(os.path.basename(table), notice)
        self.assertIn("of 211,", notice)
        self.assertEqual(self.run_js("[...new Set(document.querySelectorAll('.row .badge').values().map(b => b.title))].includes('identical')"), False)
        tallies = self.run_js("[...document.querySelectorAll('#tree > li .tally')].map(t => t.textContent.split(' ').pop())")
        rows = notice.split(" rows:")[0].split()[-1]
        self.assertEqual(sum(int(tally.replace(",", "")) for tally in tallies), int(rows.replace(",", "")))


def ratio(front, back):
    def light(colour):
        parts = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in colour]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
    high, low = sorted((light(front), light(back)), reverse=True)
    return (high + 0.05) / (low + 0.05)


if __name__ == "__main__":
    if browser.find_chromium() is None:
        print("skipped: there is no Chromium here (scripts/install_deps.sh installs it)")
        sys.exit(77)
    unittest.main()
