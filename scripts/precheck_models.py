#!/usr/bin/env python3
"""Measures `tdcmp precheck` on correct runs of many models and on planted faults. For maintainers, not for CI.

    PYTHON scripts/precheck_models.py --tdcmp build/release/host/tdcmp [--work DIR] [--models NAME ...]
                                      [--precisions f32 bf16 autocast f16] [--faults N] [--runs RUNS.json]

PYTHON needs torch, torchvision, transformers and mindstudio-probe; nothing is installed. Dumps take some GB in DIR
(default: a temporary folder, removed at the end); --runs takes those of an earlier run, DIR/dumps/runs.json.

Prints a line per dump: calls; the share with a reference; backward records, the share judged, and the share of those
that are of the call itself (a call that returns its input has no record of its own); false alarms, by name at the end.
Then, by kind, the faults found of those planted, large ones and all. Exit code 1 when a target is missed: no false alarm,
every large fault found, references for 99.9 % of calls, 85 % of backward records judged.
"""
import argparse
import collections
import csv
import glob
import json
import os
import signal
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "precheck"))
RETURNED = "the call returns its input"
WITHOUT_REFERENCE = "unsupported api"


def precheck(tdcmp, dump_json):
    """{(call, direction): (status, message)} of every record."""
    with tempfile.TemporaryDirectory() as out:
        done = subprocess.run([tdcmp, "precheck", dump_json, "-o", out, "-q", "--no-json"], stderr=subprocess.PIPE,
                              text=True)
        if done.returncode not in (0, 1):
            sys.exit(f"{dump_json}: {done.stderr}")
        (result,) = glob.glob(os.path.join(out, "*result*.csv"))
        with open(result, encoding="utf-8-sig", newline="") as file:
            rows = list(csv.reader(file))[1:]
    with open(dump_json) as file:
        data = json.load(file)["data"]
    return {(row[0], direction): (row[place], row[3]) for row in rows
            for place, direction in ((1, "forward"), (2, "backward")) if f"{row[0]}.{direction}" in data}


def share(part, whole):
    return 100.0 * part / whole if whole else 100.0


def measure(found):
    count = collections.Counter()
    for (_, direction), (status, message) in found.items():
        count[direction] += 1
        count[direction + " judged"] += status in ("pass", "error")
        count["alarms"] += status == "error"
        count["unsupported"] += direction == "forward" and status == "SKIP" and WITHOUT_REFERENCE in message
        count["returned"] += direction == "backward" and status == "SKIP" and RETURNED in message
    return count


def line(name, count):
    backward = count["backward"]
    print(f"{name:24} {count['forward']:7} {share(count['forward'] - count['unsupported'], count['forward']):10.2f} "
          f"{backward:9} {share(count['backward judged'], backward):8.1f} "
          f"{share(count['backward judged'], backward - count['returned']):7.1f} {count['alarms']:7}", flush=True)


def measure_runs(tdcmp, runs, faults):
    from faults import planted
    total, alarms = collections.Counter(), collections.Counter()
    seen = collections.defaultdict(collections.Counter)
    missed = []
    print(f"{'run':24} {'calls':>7} {'reference%':>10} {'backward':>9} {'judged%':>8} {'own%':>7} {'alarms':>7}")
    for number, (name, path) in enumerate(runs.items()):
        found = precheck(tdcmp, path)
        count = measure(found)
        line(name, count)
        total.update(count)
        precision = name.split()[-1]
        for (call, direction), (status, message) in found.items():
            if status == "error":
                alarms[(precision, direction, call.rsplit(".", 1)[0])] += 1
        judged = [record for record, (status, _) in found.items() if status == "pass"]
        with planted(path, judged, faults, number) as done:
            after = precheck(tdcmp, path) if done else {}
        for fault, call, direction, large in done:
            hit = after[call, direction][0] == "error"
            seen[fault].update({"all": 1, "all found": hit, "large": large, "large found": large and hit})
            if large and not hit:
                missed.append(f"{name}: {call} {direction}: {fault}")
    line("all", total)
    return total, alarms, seen, missed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tdcmp", required=True)
    parser.add_argument("--work")
    parser.add_argument("--models", nargs="*")
    parser.add_argument("--precisions", nargs="*")
    parser.add_argument("--faults", type=int, default=10, help="faults planted per dump")
    parser.add_argument("--runs", help="runs.json of an earlier collection")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # planted faults are taken back
    with tempfile.TemporaryDirectory() as scratch:
        runs = options.runs
        if runs is None:
            folder = os.path.join(options.work or scratch, "dumps")
            words = [sys.executable, os.path.join(HERE, "precheck", "collect.py"), folder]
            words += ["--models", *options.models] if options.models else []
            words += ["--precisions", *options.precisions] if options.precisions else []
            subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
            runs = os.path.join(folder, "runs.json")
        with open(runs) as file:
            collected = json.load(file)
        chosen = {name: path for name, path in collected["runs"].items()
                  if (not options.models or name.split()[0] in options.models)
                  and (not options.precisions or name.split()[1] in options.precisions)}
        total, alarms, seen, missed = measure_runs(options.tdcmp, chosen, options.faults)
    for name, reason in collected["refused"].items():
        print(f"not run: {name}: {reason}")
    print(f"\n{'false alarms':>12}")
    for (precision, direction, api), number in alarms.most_common():
        print(f"{number:12}  {precision:9} {direction:9} {api}")
    print(f"\n{'fault':30} {'large':>7} {'found':>7} {'all':>7} {'found':>7}")
    for fault, count in seen.items():
        print(f"{fault:30} {count['large']:7} {count['large found']:7} {count['all']:7} {count['all found']:7}")
    for text in missed:
        print("missed:", text)
    references = share(total["forward"] - total["unsupported"], total["forward"])
    judged = share(total["backward judged"], total["backward"])
    good = total["alarms"] == 0 and not missed and references >= 99.9 and judged >= 85
    print(f"\n{'targets met' if good else 'targets missed'}: false alarms {total['alarms']} (0), large faults missed "
          f"{len(missed)} (0), references {references:.2f} % (99.9), backward judged {judged:.1f} % (85)")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
