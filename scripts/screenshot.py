#!/usr/bin/env python3
"""Takes the picture of a report: two computed training steps with a fault in one operator, compared, in Chromium.

    scripts/screenshot.py docs/images/report.png [--dark] [--report FILE.html] [--address WORDS] [--size 1360x1000]

Needs Chromium and a built program (TDCMP, else build/release/host/tdcmp). --report: this page in place of the computed
one; --address: what stands behind '#' in its address.
"""
import argparse
import glob
import os
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tests", "cli"))
import browser  # noqa: E402

TDCMP = os.environ.get("TDCMP", os.path.join(ROOT, "build", "release", "host", "tdcmp"))


def make_report(folder):
    """A page about a network with a fault, below a folder; paths on it are short."""
    subprocess.run([TDCMP, "bench", "network", ".", "--network", "gpt", "--fault", "Functional.softmax.2:scale",
                    "--fault-side", "test"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    done = subprocess.run([TDCMP, "trace", "test", "ref", "--format", "html", "-o", "result"], cwd=folder,
                          stdout=subprocess.DEVNULL)
    if done.returncode not in (0, 1):
        sys.exit("tdcmp failed")
    return glob.glob(os.path.join(folder, "result", "*.html"))[0]


def take(page, path, settings):
    width, height = map(int, settings.size.split("x"))
    with browser.Browser(width, height) as chromium:
        chromium.media("dark" if settings.dark else "light")
        chromium.open(page, settings.address)
        chromium.ready("all")
        if settings.next:
            chromium.key("n")
        time.sleep(0.5)  # the strip is drawn with the next frame
        chromium.screenshot(path)
        if chromium.console:
            sys.exit("\n".join(chromium.console))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path")
    parser.add_argument("--dark", action="store_true")
    parser.add_argument("--next", action="store_true", help="go to the first difference")
    parser.add_argument("--report")
    parser.add_argument("--address", default="")
    parser.add_argument("--size", default="1360x1000")
    settings = parser.parse_args()
    if browser.find_chromium() is None:
        sys.exit("there is no Chromium here: scripts/install_deps.sh installs it")
    with tempfile.TemporaryDirectory() as folder:
        take(settings.report or make_report(folder), settings.path, settings)


if __name__ == "__main__":
    main()
