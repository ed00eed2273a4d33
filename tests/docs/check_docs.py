"""The documents against the program.

    check_docs.py TDCMP SOURCE_DIR

Every option that a help text lists must stand in the man page, in the completions and in the user
page; every option these mention must exist; links between the documents must lead to files; status
codes and environment variables of the code must be described.
"""
import os
import re
import subprocess
import sys

OPTION = re.compile(r"(?<![\w-])(--[a-z][a-z_-]*[a-z]|-[A-Za-z]{1,2})(?![\w-])")

failures = []


def check(condition, text):
    if not condition:
        failures.append(text)


def help_options(program, words):
    """Options of a help text: those at the beginning of its lines."""
    run = subprocess.run([program, *words], capture_output=True, text=True, check=True)
    found = set()
    for line in run.stdout.splitlines():
        match = re.match(r"\s{2,6}(-[^\s,]+(?:, -[^\s,]+)*)", line)
        if match:
            found.update(re.sub(r"\[.*", "", option) for option in match.group(1).split(", "))
    check(len(found) >= 5, f"'{' '.join(words)}' lists no options")
    return found


def read(source, *path):
    with open(os.path.join(source, *path), encoding="utf-8") as file:
        return file.read()


def section(text, start, end):
    begin = text.index(start)
    return text[begin:text.index(end, begin + len(start))]


def mentions(text):
    return set(OPTION.findall(text))


def check_options(program, source):
    friendly = help_options(program, ["compare", "--help"])
    msprobe = help_options(program, ["-f", "pytorch", "compare", "-h"])
    match = help_options(program, ["match", "--help"])
    growth = help_options(program, ["bench", "match", "--help"])
    searches = help_options(program, ["bench", "trace", "--help"])
    cut = help_options(program, ["bench", "align", "--help"])
    make = help_options(program, ["bench", "make", "--help"])
    network = help_options(program, ["bench", "network", "--help"])
    measure = help_options(program, ["bench", "compare", "--help"])
    precheck = help_options(program, ["precheck", "--help"])
    run_ut = help_options(program, ["-f", "mindspore", "multi_run_ut", "-h"])
    page = read(source, "docs", "precheck.md")
    plain = help_options(program, ["bench", "--help"])
    kernels = help_options(program, ["bench", "kernels", "--help"])
    reading = help_options(program, ["bench", "io", "--help"])
    reference = help_options(program, ["bench", "reference", "--help"])
    man = read(source, "host", "cli", "man", "tdcmp.1").replace("\\-", "-").replace("\\fI", " ").replace("\\fR", "")
    places = {
        "man/tdcmp.1, COMPARE": (section(man, ".SH COMPARE", ".SH MATCH"), friendly),
        "man/tdcmp.1, MATCH": (section(man, ".SH MATCH", ".SH MSPROBE"), match),
        "man/tdcmp.1, MSPROBE'S FORM": (section(man, ".SH MSPROBE", ".SH BENCH"), msprobe),
        "man/tdcmp.1, bench make": (section(man, ".SH BENCH", ".B tdcmp bench network\n.RI"), make),
        "man/tdcmp.1, bench network": (
            section(man, ".B tdcmp bench network\n.RI", ".B tdcmp bench match\n.RI"), network),
        "man/tdcmp.1, bench match": (
            section(man, ".B tdcmp bench match\n.RI", ".B tdcmp bench trace"), growth),
        "man/tdcmp.1, bench trace": (
            section(man, ".B tdcmp bench trace\n.RI", ".B tdcmp bench align"), searches),
        "man/tdcmp.1, bench align": (
            section(man, ".B tdcmp bench align\n.RI", ".B tdcmp bench compare"), cut),
        "man/tdcmp.1, bench compare": (
            section(man, ".B tdcmp bench compare\n.RI", ".B tdcmp bench\n.RI"), measure),
        "man/tdcmp.1, bench": (
            section(man, ".B tdcmp bench\n.RI", ".B tdcmp bench kernels"), plain),
        "man/tdcmp.1, bench kernels": (
            section(man, ".B tdcmp bench kernels", ".B tdcmp bench io"), kernels),
        "man/tdcmp.1, bench io": (
            section(man, ".B tdcmp bench io", ".B tdcmp bench reference"), reading),
        "man/tdcmp.1, bench reference": (
            section(man, ".B tdcmp bench reference", ".SH FILES"), reference),
        "docs/compare.md, friendly form": (
            section(read(source, "docs", "compare.md"), "## Options", "## The page"), friendly),
        "docs/mapping.md": (
            section(read(source, "docs", "mapping.md"), "## Options of match", "## Mistakes"), match),
        "docs/from_msprobe.md": (
            section(read(source, "docs", "from_msprobe.md"), "## msprobe's form", "## Verdicts"), msprobe),
        "completion/_tdcmp, friendly form": (
            section(read(source, "host", "cli", "completion", "_tdcmp"), "_tdcmp_compare()", "_tdcmp_match()"),
            friendly),
        "completion/_tdcmp, match": (
            section(read(source, "host", "cli", "completion", "_tdcmp"), "_tdcmp_match()", "_tdcmp_msprobe()"), match),
        "completion/_tdcmp, msprobe's form": (
            section(read(source, "host", "cli", "completion", "_tdcmp"), "_tdcmp_msprobe()", "_tdcmp() {"), msprobe),
    }
    places["man/tdcmp.1, PRECHECK"] = (section(man, ".SH PRECHECK", ".SH BENCH"), precheck)
    config = help_options(program, ["config_check", "a", "b", "--help"])
    places["man/tdcmp.1, CONFIG_CHECK"] = (section(man, ".SH CONFIG_CHECK", ".SH INSPECT"), config)
    places["docs/config_check.md"] = (section(read(source, "docs", "config_check.md"), "## Options", "Exit code"), config)
    places["completion/_tdcmp, config_check"] = (
        section(read(source, "host", "cli", "completion", "_tdcmp"), "_tdcmp_config_check()", "_tdcmp_inspect()"), config)
    diff = help_options(program, ["diff", "--help"])
    places["man/tdcmp.1, DIFF"] = (section(man, ".SH DIFF", ".SH INSPECT"), diff)
    places["docs/diff.md"] = (section(read(source, "docs", "diff.md"), "## Options", "## Formats"), diff)
    places["completion/_tdcmp, diff"] = (
        section(read(source, "host", "cli", "completion", "_tdcmp"), "_tdcmp_diff()", "_tdcmp_ranks()"), diff)
    ranks = help_options(program, ["ranks", "--help"])
    places["man/tdcmp.1, RANKS"] = (section(man, ".SH RANKS", ".SH FILES"), ranks)
    places["docs/ranks.md"] = (section(read(source, "docs", "ranks.md"), "## Options", "Exit code"), ranks)
    places["completion/_tdcmp, ranks"] = (
        section(read(source, "host", "cli", "completion", "_tdcmp"), "_tdcmp_ranks()", "_tdcmp_inspect()"), ranks)
    convert = help_options(program, ["convert", "--help"])
    places["man/tdcmp.1, CONVERT"] = (section(man, ".SH CONVERT", ".SH FILES"), convert)
    places["docs/torchair.md, convert"] = (
        section(read(source, "docs", "torchair.md"), "## GE dump files to npy", "Exit code"), convert)
    places["completion/_tdcmp, convert"] = (
        section(read(source, "host", "cli", "completion", "_tdcmp"), "_tdcmp_convert()", "_tdcmp_inspect()"), convert)
    inspect = help_options(program, ["inspect", "--help"])
    places["man/tdcmp.1, INSPECT"] = (section(man, ".SH INSPECT", ".SH FILES"), inspect)
    show = help_options(program, ["show", "--help"])
    places["man/tdcmp.1, SHOW"] = (section(man, ".SH SHOW", ".SH MATCH"), show)
    places["docs/compare.md, show"] = (
        section(read(source, "docs", "compare.md"), "## One call, closely", "## Columns"), show)
    places["completion/_tdcmp, show"] = (
        section(read(source, "host", "cli", "completion", "_tdcmp"), "$words[2] == show", "$words[2] == compare"), show)
    merge = help_options(program, ["merge", "--help"])
    trace = help_options(program, ["trace", "--help"])
    places["docs/trace.md"] = (section(read(source, "docs", "trace.md"), "## Options", "## Origins"), trace)
    places["man/tdcmp.1, TRACE"] = (section(man, ".SH TRACE", ".SH MERGE"), trace)
    places["docs/analysis.md, merge"] = (
        section(read(source, "docs", "analysis.md"), "## Metrics of all ranks", "## Signs of gradients"), merge)
    places["man/tdcmp.1, MERGE"] = (section(man, ".SH MERGE", ".SH GRADIENTS"), merge)
    places["docs/inspect.md"] = (section(read(source, "docs", "inspect.md"), "## Options", "Exit code"), inspect)
    places["completion/_tdcmp, inspect"] = (
        section(read(source, "host", "cli", "completion", "_tdcmp"), "_tdcmp_inspect()", "_tdcmp_run_ut()"), inspect)
    places["docs/precheck.md"] = (section(page, "## Options", "## msprobe's form"), precheck)
    places["completion/_tdcmp, precheck"] = (
        section(read(source, "host", "cli", "completion", "_tdcmp"), "_tdcmp_precheck()", "_tdcmp_run_ut()"), precheck)
    for place, text in (("man/tdcmp.1, run_ut", section(man, ".SH PRECHECK", ".SH BENCH")),
                        ("docs/precheck.md, msprobe's form",
                         section(page, "## msprobe's form", "## Files")),
                        ("completion/_tdcmp, run_ut",
                         section(read(source, "host", "cli", "completion", "_tdcmp"), "_tdcmp_run_ut()",
                                 "_tdcmp_msprobe()"))):
        for option in sorted(run_ut):
            check(option in text, f"{place}: {option} is missing")
    for place, (text, options) in places.items():
        for option in sorted(options - mentions(text)):
            failures.append(f"{place}: {option} is missing")
    bash = read(source, "host", "cli", "completion", "tdcmp.bash")
    for name, options in (("friendly", friendly), ("show", show), ("match", match), ("msprobe", msprobe),
                          ("make", make), ("growth", growth),
                          ("measure", measure), ("plain", plain), ("kernels", kernels),
                          ("reading", reading), ("operators", reference), ("precheck", precheck), ("inspect", inspect), ("ranks", ranks), ("convert", convert), ("config_check", config)):
        listed = mentions(re.search(rf'local {name}="([^"]*)"', bash).group(1))
        wanted = {option for option in options if option.startswith("--")}
        check(listed == wanted,
              f"completion/tdcmp.bash, {name}: {sorted(listed ^ wanted)} missing or unknown")
    fish = set(re.findall(r"-l ([a-z-]+)", read(source, "host", "cli", "completion", "tdcmp.fish")))
    for option in sorted(friendly | match):
        check(not option.startswith("--") or option[2:] in fish,
              f"completion/tdcmp.fish: {option} is missing")
    known = convert | show | merge | trace | config | inspect | precheck | friendly | match | growth | msprobe | make | measure | plain | kernels | reading | {"--version", "--framework"}
    cmake = {"--preset", "--build", "--prefix", "--install"}
    for option in sorted(mentions(read(source, "README.md"))):
        check(not option.startswith("--") or option in known | cmake,
              f"README.md: there is no option {option}")


def documents(source):
    for name in sorted(os.listdir(source)):
        if name.endswith(".md"):
            yield name
    for name in sorted(os.listdir(os.path.join(source, "docs"))):
        if name.endswith(".md"):
            yield os.path.join("docs", name)


def check_links(source):
    for name in documents(source):
        folder = os.path.dirname(os.path.join(source, name))
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", read(source, name)):
            if not re.match(r"[a-z]+:", target):
                check(os.path.exists(os.path.join(folder, target)), f"{name}: no such file {target}")


def check_paths(source):
    """Files that the documents name in backquotes exist."""
    rooms = ("kernels/", "io/", "host/", "reference/", "bench/", "tests/", "scripts/", "docs/", "cmake/", "include/")
    for name in documents(source):
        for path in re.findall(r"`([\w./-]+)`", read(source, name)):
            if path.startswith(rooms):
                check(os.path.exists(os.path.join(source, path)), f"{name}: no such file {path}")


def check_codes(source):
    header = read(source, "include", "tdcmp.h") + read(source, "include", "tdcmp", "base.h")
    errors = read(source, "docs", "errors.md")
    codes = re.findall(r"(TDC_ERR_[A-Z_]+) = (\d+)", header)
    check(len(codes) > 10, "the codes were not found")
    for code, number in codes:
        check(re.search(rf"`{code}` *\| *{number} *\|", errors),
              f"docs/errors.md: {code} = {number} is missing")
    version = ".".join(re.findall(r"#define TDC_VERSION_(?:MAJOR|MINOR) (\d+)", header))
    patch = re.search(r"#define TDC_VERSION_PATCH (\d+)", header).group(1)
    check(re.search(rf"^## {re.escape(version)}\.{patch}\b", read(source, "CHANGELOG.md"), re.M),
          f"CHANGELOG.md: version {version}.{patch} is missing")
    check(f'"tdcmp {version}"' in read(source, "host", "cli", "man", "tdcmp.1"),
          f"man/tdcmp.1: the title does not say tdcmp {version}")


def check_columns(source):
    """Every column of the tables is explained."""
    code = read(source, "host", "table", "columns.c")
    page = read(source, "docs", "compare.md")
    names = re.findall(r'\{[A-Z_0-9 +]+, "([^"]+)", \d+[,}]', code)
    names += re.findall(r'= \{[A-Z_]+, "([^"]+)", \d+[,}]', code)
    check(len(set(names)) > 40, "columns.c: the columns were not found")
    for name in sorted(set(names)):
        check(name in page, f"docs/compare.md: column '{name}' is not explained")


def main():
    program, source = sys.argv[1:3]
    check_options(program, source)
    check_links(source)
    check_paths(source)
    check_codes(source)
    check_columns(source)
    for failure in failures:
        print(failure)
    print(f"{len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
