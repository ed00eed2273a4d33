#!/usr/bin/env python3
"""Commands that README and the pages show exist, with the options they show.

    check_commands.py PROGRAM SOURCE

A command is what begins with `tdcmp` in a code span or in an indented line; msprobe's words (`tdcmp -f ...`, -tp) are
tested by running them elsewhere.
"""
import glob
import os
import re
import subprocess
import sys

OTHER_WORDS = {"-f", "COMMAND", "help", "--version", "-V", "--help"}


def shown(text):
    """The commands of a page."""
    for line in text.split("\n"):
        spans = re.findall(r"`(tdcmp [^`]+)`", line)
        if line.startswith("    "):
            spans += re.findall(r"^    (?:\$ |next: )?(tdcmp .*)", line)
        for span in spans:
            # a comment, a pipe or the explanation beside it ends it
            yield re.split(r"\s{2,}|[|;#>]", span)[0].split()


def helps(program):
    """{command: its help}, asked for when a page names it."""
    found = {}

    def of(*command):
        if command not in found:
            done = subprocess.run([program, *command, "--help"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True, timeout=60)
            found[command] = done.stdout if done.returncode == 0 else None
        return found[command]

    return of


def main():
    program, source = sys.argv[1:3]
    help_of, failures, seen = helps(program), [], 0
    for path in [os.path.join(source, "README.md")] + sorted(glob.glob(os.path.join(source, "docs", "*.md"))):
        name = os.path.relpath(path, source)
        with open(path, encoding="utf-8") as file:
            commands = list(shown(file.read()))
        for words in commands:
            if len(words) < 2 or words[1] in OTHER_WORDS or "-tp" in words or not re.fullmatch(r"[a-z_]+", words[1]):
                continue
            seen += 1
            text = help_of(words[1])
            if words[1] == "bench" and len(words) > 2 and re.fullmatch("[a-z]+", words[2]):
                text = help_of(words[1], words[2])
            if text is None:
                failures.append("%s: there is no command 'tdcmp %s'" % (name, words[1]))
                continue
            for word in words[2:]:
                option = re.match(r"--[a-z][a-z-]*", word)
                if option and not re.search(re.escape(option.group()) + r"(?![a-z-])", text):
                    failures.append("%s: tdcmp %s has no option %s" % (name, words[1], option.group()))
    if seen < 40:
        failures.append("only %d commands were found" % seen)
    for failure in failures:
        print(failure)
    print("%d failures in %d commands" % (len(failures), seen))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
