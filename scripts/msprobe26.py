#!/usr/bin/env python3
"""Runs the real msprobe 26 beside tdcmp and compares their tables cell by cell. For maintainers: it needs a Python with
mindstudio-probe 26.2 and torch, and is no part of the tests.

  scripts/msprobe26.py TDCMP --python PYTHON                     on dumps made on the spot
  scripts/msprobe26.py TDCMP --python PYTHON --pair A B [...]    on two dumps of yours (files or folders)
  ... --words "-fm"                                              further words for both

Prints a line per pair; exit code 1 when a table differs.
"""
import argparse
import csv
import glob
import itertools
import json
import math
import os
import re
import subprocess
import sys
import tempfile

csv.field_size_limit(1 << 30)

# Runs in the Python of msprobe: takes (words, folder) lists from a json file and answers each with its exit code.
DRIVER = r"""
import json, os, sys, traceback
jobs = json.load(open(sys.argv[1]))
sys.argv = ["msprobe"]
from msprobe import msprobe
answers = []
for words, folder in jobs:
    os.chdir(folder)
    sys.argv = ["msprobe"] + words
    try:
        msprobe.main()
        answers.append([0, ""])
    except SystemExit as ended:
        answers.append([ended.code or 0, ""])
    except BaseException as failed:
        answers.append([1, repr(failed)])
json.dump(answers, open(os.environ["ANSWERS"], "w"))
"""

# Runs in the Python of msprobe: dumps of one small network with slightly other weights each, one process a dump, since
# a debugger lasts as long as its process.
MAKER = r"""
import json, os, sys
import torch
from msprobe.pytorch import PrecisionDebugger
torch.set_num_threads(1)


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(1, 4, 3)
        self.norm = torch.nn.BatchNorm2d(4)
        self.head = torch.nn.Linear(4 * 36, 5)

    def forward(self, x):
        y = torch.relu(self.norm(self.conv(x)))
        y = torch.nn.functional.dropout(y, 0.0)
        z = self.head(y.flatten(1))
        return z + z.mean(dim=1, keepdim=True) * torch.tensor(2)


def make(out, task, level, summary, noise):
    torch.manual_seed(1)
    network = Block()
    x = torch.randn(2, 1, 8, 8)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter += float(noise) * torch.randn_like(parameter)
    config = {"task": task, "dump_path": out, "rank": [], "step": [], "level": level, "async_dump": False, "risk_level": "ALL",
              task: {"scope": [], "list": [], "data_mode": ["all"]}}
    if task == "statistics":
        config[task]["summary_mode"] = summary
    os.makedirs(out, exist_ok=True)
    path = os.path.join(out, "config.json")
    json.dump(config, open(path, "w"))
    debugger = PrecisionDebugger(config_path=path)
    debugger.start(network)
    loss = torch.nn.functional.cross_entropy(network(x), torch.tensor([1, 3]))
    loss.backward()
    debugger.stop()
    debugger.step()
    os.remove(path)


for job in json.load(open(sys.argv[1])):
    child = os.fork()
    if child == 0:
        make(*job)
        os._exit(0)
    os.waitpid(child, 0)
"""


def number(text):
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and not text.startswith(" ") else None


def same_cell(column, want, text):
    if want == text:
        return True
    x, y = number(want), number(text)
    if x is None or y is None:
        return False
    if column == "EucDist":  # the order of a sum shows in its last digits
        return abs(x - y) <= 1e-9 * max(abs(x), abs(y))
    return column == "Cosine" and abs(x - y) <= 2e-12


def tables(folder):
    found = {}
    for path in glob.glob(os.path.join(folder, "**", "*.csv"), recursive=True):
        with open(path, encoding="utf-8", newline="") as file:
            name = re.sub(r"_\d{14}", "", os.path.relpath(path, folder))
            found[name] = list(csv.reader(file))
    return found


def differences(want, got):
    """Texts about what differs between two folders of results."""
    if sorted(want) != sorted(got):
        return ["files %s, expected %s" % (sorted(got), sorted(want))]
    told = []
    for name, right in want.items():
        rows = got[name]
        if rows[:1] != right[:1] or len(rows) != len(right):
            told.append("%s: %d rows, expected %d, or another header" % (name, len(rows) - 1, len(right) - 1))
            continue
        for line, expected in zip(rows[1:], right[1:]):
            for column, cell, text in zip(right[0], expected, line):
                if not same_cell(column, cell, text):
                    told.append("%s, %s, %s: %r, expected %r" % (name, expected[0], column, text, cell))
    return told


def make_dumps(python, folder):
    """Pairs of fresh dumps: every task and level."""
    kinds = [("tensor", level, "statistics") for level in ("L0", "L1", "mix")]
    kinds += [("statistics", level, summary) for level, summary in
              itertools.product(("L0", "L1", "mix"), ("statistics", "md5", "xor"))]
    jobs, pairs = [], []
    for task, level, summary in kinds:
        place = os.path.join(folder, "%s_%s_%s" % (task, level, summary))
        for side, noise in (("target", "0.001"), ("golden", "0")):
            jobs.append((os.path.join(place, side), task, level, summary, noise))
        pairs.append([os.path.join(place, side, "step0") for side in ("target", "golden")])
    path = os.path.join(folder, "dumps.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(jobs, file)
    subprocess.run([python, "-c", MAKER, path], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return pairs


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("tdcmp")
    options.add_argument("--python", required=True, help="with mindstudio-probe 26.2 and torch")
    options.add_argument("--pair", nargs=2, action="append", default=[], metavar=("TARGET", "GOLDEN"))
    options.add_argument("--words", default="", help="further words of compare, for both")
    given = options.parse_args()
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        pairs = [[os.path.abspath(path) for path in pair] for pair in given.pair] or make_dumps(given.python, folder)
        jobs = []
        for i, (target, golden) in enumerate(pairs):
            words = ["compare", "-tp", target, "-gp", golden, *given.words.split(), "-o"]
            jobs.append((words + [os.path.join(folder, "real%d" % i)], os.getcwd()))
        with open(os.path.join(folder, "jobs.json"), "w", encoding="utf-8") as file:
            json.dump(jobs, file)
        answers = os.path.join(folder, "answers.json")
        subprocess.run([given.python, "-c", DRIVER, file.name], check=True, env=dict(os.environ, ANSWERS=answers),
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with open(answers, encoding="utf-8") as file:
            codes = json.load(file)
        for i, ((words, _), (code, reason)) in enumerate(zip(jobs, codes)):
            ours = os.path.join(folder, "ours%d" % i)
            done = subprocess.run([os.path.abspath(given.tdcmp), *words[:-1], ours], stdout=subprocess.PIPE, text=True)
            told = []
            if (done.returncode != 0) != (code != 0):
                told.append("exit code %d, expected %d %s: %s" % (done.returncode, code, reason, done.stdout[-300:]))
            want = tables(os.path.join(folder, "real%d" % i))
            told += differences(want, tables(ours))
            cells = sum(len(row) for rows in want.values() for row in rows[1:])
            print("%s: %d cells, %s" % (" against ".join(os.path.relpath(p, folder) if p.startswith(folder) else p
                                                         for p in pairs[i]), cells,
                                        "equal" if not told else "%d differences" % len(told)), flush=True)
            for line in told[:10]:
                print("   ", line, flush=True)
            wrong += bool(told)
    print("%d of %d pairs equal" % (len(jobs) - wrong, len(jobs)))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
