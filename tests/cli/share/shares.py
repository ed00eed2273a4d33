"""What the tests of shared work have in common: made dumps, results without their stamps, processes that are killed."""
import json
import os
import random
import re
import shutil
import signal
import subprocess
import time

import harness
import pages


def make_dumps(folder, *options):
    """Two dumps of three ranks in two steps; each call differs from its neighbours in size."""
    done = harness.run("bench", "make", folder, "--tensors", "40", "--ranks", "3", "--steps", "2", "--elements", "3000",
                       "--share", "0.1", *options)
    assert done.code == 0, str(done)
    return os.path.join(folder, "npu"), os.path.join(folder, "bench")


def make_huge(folder):
    """A pair of 160 MB with holes, larger than what is cut between processes."""
    count, header = 10 << 20, b"\x93NUMPY\x01\x00\x76\x00"
    text = "{'descr': '<f8', 'fortran_order': False, 'shape': (%d,), }" % count
    for side, value in (("npu", 1), ("bench", 2)):
        place = os.path.join(folder, side, "dump_tensor_data")
        os.makedirs(place)
        with open(os.path.join(place, "Torch.add.0.forward.output.0.npy"), "wb") as file:
            file.write(header + text.encode().ljust(0x75) + b"\n")
            for at in range(0, count, 1 << 20):  # holes between some numbers
                file.seek(128 + 8 * at)
                file.write(bytes(range(value, value + 32)))
            file.truncate(128 + 8 * count)
        entry = {"type": "torch.Tensor", "dtype": "torch.float64", "shape": [count], "Max": 1, "Min": 0, "Mean": 0,
                 "Norm": 1, "requires_grad": False, "data_name": "Torch.add.0.forward.output.0.npy"}
        harness.write_text(os.path.join(folder, side, "dump.json"), json.dumps(
            {"task": "tensor", "level": "L1", "framework": "pytorch", "dump_data_dir": place,
             "data": {"Torch.add.0.forward": {"input_args": [], "input_kwargs": {}, "output": [entry]}}}))


def results(folder):
    """What a run has written, by name: everything but parts and what a killed one had begun, without stamps."""
    found = {}
    for at, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(at, name)
            key = harness.stampless(os.path.relpath(path, folder))
            if name.endswith(".html"):
                found[key] = pages.Page(harness.read_bytes(path)).lasting()
            elif not name.endswith((".part", ".journal", ".tmp")):
                found[key] = re.sub(rb"_\d{14}\.", b"_STAMP.", harness.read_bytes(path))
    return found


def parts(folder, ending=".part"):
    return sorted(name for name in harness.files_below(folder) if name.endswith(ending))


def kill_after(seconds, words, cwd, env):
    """Starts the program and kills it; whether it was still running."""
    process = subprocess.Popen([harness.TDCMP] + words, cwd=cwd, env=harness.environment(**env),
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(seconds)
    running = process.poll() is None
    process.send_signal(signal.SIGKILL)
    process.wait()
    return running


class ShareCase(harness.Case):
    """Runs in one working folder, so that the words of all commands are the same."""

    FORMATS = "csv,json,html"

    def setUp(self):
        super().setUp()
        make_dumps(self.path("d"))
        self.words = ["compare", "d/npu", "d/bench", "-o", "out", "-F", self.FORMATS]
        self.random = random.Random(20)

    def whole(self, *options, code=1):
        """The results of one process and what it printed; the folder is empty again."""
        done = self.run_code(code, *self.words, *options, cwd=self.folder)
        found = results(self.path("out"))
        shutil.rmtree(self.path("out"))
        return found, harness.stampless(done.out)

    def shard(self, index, count, *options, code=0, **settings):
        return self.run_code(code, *self.words, *options, "--shard", "%d/%d" % (index, count), cwd=self.folder, **settings)

    def merged(self, code=1):
        done = self.run_code(code, "merge", "out", cwd=self.folder)
        return results(self.path("out")), harness.stampless(done.out)

    def forget(self):
        shutil.rmtree(self.path("out"), ignore_errors=True)
