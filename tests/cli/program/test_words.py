"""Words of the program: commands, options, help, and what is said about wrong ones."""

import harness

COMMANDS = ("compare", "show", "precheck", "trace", "match", "inspect", "ranks", "overflow", "gradients", "merge",
            "config_check", "devices", "bench")


class Words(harness.Case):
    def refused(self, *words):
        result = self.run_code(2, *words)
        self.assertEqual(result.out, "")
        for line in result.err.splitlines():
            self.assertTrue(line.startswith("tdcmp: "), result)
        return result.err

    def test_nearest_command(self):
        self.assertIn("there is no command 'comapre'; did you mean 'compare'?", self.refused("comapre"))
        self.assertIn("did you mean 'precheck'?", self.refused("help", "prechek"))
        self.assertNotIn("did you mean", self.refused("xyzzy"))

    def test_wrong_options_have_one_prefix(self):
        for command in COMMANDS[:-2] + ("bench", "bench make", "bench match", "bench compare", "bench kernels",
                                        "bench io", "bench reference", "bench device", "bench network", "bench trace", "bench align"):
            with self.subTest(command=command):
                words = command.split() + (["a", "b"] if command == "config_check" else [])
                self.assertIn("there is no option '--hepl'; did you mean '--help'?", self.refused(*words, "--hepl"))
                self.assertIn("there is no option '-Z'", self.refused(*words, "-Z"))

    def test_nearest_option(self):
        self.assertIn("did you mean '--threads'?", self.refused("compare", "--treads", "3"))
        self.assertIn("'--no' may be --noise, --no-fallback, --no-highlight, --no-stack", self.refused("compare", "--no"))
        self.assertIn("--format needs a value", self.refused("compare", "--format"))
        self.assertIn("-o needs a value", self.refused("compare", "-o"))
        self.assertIn("--fuzzy takes no value", self.refused("compare", "--fuzzy=3"))

    def test_fuzzy_has_no_letter(self):
        for command in ("compare", "match", "bench"):
            self.assertIn("there is no option '-f'", self.refused(command, "-f", "a", "b"))

    def test_help(self):
        for command in COMMANDS:
            with self.subTest(command=command):
                named = self.run_code(0, "help", command)
                asked = self.run_code(0, command, "--help") if command != "config_check" else named
                self.assertEqual(named.out, asked.out)
                self.assertIn("tdcmp " + command, named.out)
                for line in named.out.splitlines():
                    self.assertLessEqual(len(line), 100, line)
        self.assertEqual(self.run_code(0, "help", "bench", "make").out, self.run_code(0, "bench", "make", "--help").out)
        self.assertEqual(self.run_code(0, "help").out, self.run_code(0, "--help").out)
        self.assertEqual(self.run_code(0, "bench").out, self.run_code(0, "bench", "--help").out)

    def test_sides(self):
        for command in ("compare", "match", "trace", "gradients"):
            text = self.run_code(0, "help", command).out
            self.assertIn("TEST REF", text)
            self.assertNotIn("NPU", text)
            self.assertIn("TEST and REF", self.refused(command, "one"))

    def test_advanced_options_stand_apart(self):
        text = self.run_code(0, "compare", "--help").out
        self.assertLess(text.index("--output"), text.index("\nadvanced:"))
        self.assertLess(text.index("\nadvanced:"), text.index("--io HOW"))

    def test_version(self):
        version = self.run_code(0, "--version").out
        for words in (["-V"], ["compare", "-V"], ["precheck", "--version"]):
            self.assertEqual(self.run_code(0, *words).out, version)

    def test_values(self):
        for words, expected in ((["compare", "--color", "blue"], "auto, always or never"),
                                (["compare", "--rules", "soud"], "sound, msprobe or msprobe26"),
                                (["precheck", "--rules", "soud"], "sound, msprobe or msprobe26"),
                                (["compare", "--top", "0"], "a number of rows")):
            self.assertIn("expected " + expected, self.refused(*words, "a"))


if __name__ == "__main__":
    harness.main()
