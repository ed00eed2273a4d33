"""What README.md shows of the program's output is what the program prints.

    check_samples.py TDCMP SOURCE_DIR

Runs a comparison and a precheck of a golden dump; every line of the samples must be printed, but for times,
speeds and names of files.
"""
import os
import re
import subprocess
import sys
import tarfile
import tempfile

VARIES = re.compile(r"^(\.\.\.$|Wrote |next: |written: |.* GB/s)")


def sample(text, before):
    """The indented lines after a line that ends with `before`."""
    block = re.search(re.escape(before) + r"\n\n((?:    .*\n|\n)+)", text).group(1)
    lines = [" ".join(line.split()) for line in block.splitlines()]
    return [line for line in lines if line and not VARIES.match(line)]


def printed(words, folder):
    run = subprocess.run(words, cwd=folder, capture_output=True, text=True)
    if run.returncode > 1:
        sys.exit(f"{' '.join(words)}: exit code {run.returncode}\n{run.stderr}")
    return {" ".join(line.split()) for line in run.stdout.splitlines()}


# the dumps of README.md's sample
MADE = ("bench", "network", ".", "--network", "gpt", "--fault", "Functional.softmax.2:scale", "--fault-side", "test")


def main():
    program, source = map(os.path.abspath, sys.argv[1:3])

    def read(*path):
        with open(os.path.join(source, *path), encoding="utf-8") as file:
            return file.read()

    readme, missing = read("README.md"), []
    with tempfile.TemporaryDirectory() as folder:
        printed([program, *MADE], folder)
        with tarfile.open(os.path.join(source, "tests", "golden", "precheck.tar.xz")) as packed:
            packed.extractall(folder)
        for before, words in (("On the terminal, after the run:", ["compare", "test", "ref", "-o", "result"]),
                              ("whose fault it is:", ["trace", "test", "ref"]),
                              ("and judges what was recorded:", ["precheck", "ms_tensor", "-o", "result"])):
            shown = sample(readme, before)
            if len(shown) < 4:
                sys.exit(f"README.md: no sample after '{before}'")
            lines = printed([program, *words], folder)
            missing += [line for line in shown if line not in lines]
    for line in missing:
        print(f"README.md: not printed: {line}")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
