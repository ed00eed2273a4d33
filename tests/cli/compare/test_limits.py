"""Memory, interruption, full disks: what a large dump and a small machine must not break."""
import json
import os
import resource
import signal
import tempfile
import time
import unittest

import dumps
import harness

MB = 1 << 20


def limited(kind, amount):
    """For the child: a resource limit."""
    return lambda: resource.setrlimit(kind, (amount, amount))


class LargeDump(harness.Case):
    """Many tensors, each file a hard link to one of a few, so that the disk does not have to hold them all."""

    ELEMENTS = 4 * MB  # of float32: 16 MB

    def make(self, tensors):
        sides = []
        for side, factor in (("npu", 3), ("bench", 2)):
            dump = dumps.Dump(self.path(side))
            block = dumps.pack("f32", [(i * factor % 1013) / 1013 for i in range(4096)])
            dense = dump.file("dense", dumps.npy_bytes("<f4", [self.ELEMENTS], block * (self.ELEMENTS // 4096)))
            # big-endian: every element goes through a buffer
            swapped = dump.file("swapped", dumps.npy_bytes(">f4", [self.ELEMENTS], block * (self.ELEMENTS // 4096)))
            for number in range(tensors):
                name = "Functional.f.%d.forward.input.0.npy" % number
                os.link(swapped if number % 8 == 7 else dense, os.path.join(dump.folder, "dump_tensor_data", name))
                dump.entry("Functional.f.%d.forward" % number,
                           input_args=[dumps.item("f32", [self.ELEMENTS], name)])
            sides.append(dump.write())
        return sides

    @unittest.skipIf("address" in harness.SANITIZE or harness.SANITIZE == "thread", "the sanitizer itself reserves terabytes")
    def test_address_space_smaller_than_the_dump(self):
        limit = 400 * MB
        tensors = 40
        self.assertGreater(2 * tensors * self.ELEMENTS * 4, 3 * limit)
        sides = self.make(tensors)
        out = self.path("out")
        running = harness.Running("compare", *sides, "-o", out, "--format", "csv", "-t", "2",
                                  env={"OMP_NUM_THREADS": "2"}, before=limited(resource.RLIMIT_AS, limit))
        anonymous, samples = 0, 0
        while running.process.poll() is None:
            now = running.status("RssAnon")
            anonymous, samples = max(anonymous, now), samples + (now != 0)
            time.sleep(0.002)
        result = running.finish()
        self.assertEqual(result.code, 1, str(result))
        rows = harness.read_csv(harness.only_file(out, "csv"))
        self.assertEqual(len(rows), tensors)
        self.assertEqual({row["Accuracy Reached or Not"] for row in rows}, {"different"})
        self.assertEqual({row["Elements"] for row in rows}, {str(self.ELEMENTS)})
        self.assertGreater(samples, 5)
        self.assertLess(anonymous, 100 * MB)

    @unittest.skipIf(harness.SANITIZE, "a sanitizer's own memory is larger")
    def test_resident_memory_does_not_grow_with_a_tensor(self):
        """Mapped pages count as resident until they are given up; the files are holes, which cost no disk."""
        size = 160 * MB
        sides = []
        for side in ("npu", "bench"):
            dump = dumps.Dump(self.path(side))
            path = dump.file("large.npy", dumps.npy_bytes("<f4", [size // 4], b""))
            os.truncate(path, os.path.getsize(path) + size)
            dump.entry("Functional.f.0.forward",
                       input_args=[dumps.item("f32", [size // 4], os.path.basename(path))])
            sides.append(dump.write())
        running = harness.Running("compare", *sides, "-o", self.path("out"), "--format", "csv", "-t", "2", "--io", "mmap")
        peak = 0
        while running.process.poll() is None:
            peak = max(peak, running.status("VmHWM"))
            time.sleep(0.001)
        result = running.finish()
        self.assertEqual(result.code, 0, str(result))
        self.assertGreater(peak, 10 * MB)
        self.assertLess(peak, 120 * MB)

    def test_interrupted_while_comparing(self):
        sides = self.make(400)
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            with self.subTest(signal=number):
                out = self.path("out-%d" % number)
                running = harness.Running("compare", *sides, "-o", out, "--format", "csv,json,xlsx")
                # the results' folder is made just before the tensors are read
                while running.process.poll() is None and not os.path.isdir(out):
                    time.sleep(0.001)
                time.sleep(0.05)
                running.process.send_signal(number)
                result = running.finish(60)
                self.assertEqual(result.code, code, str(result))
                self.assertEqual(harness.files_below(out), [])


class ManyRows(harness.Case):
    """Results large enough to be caught while they are written."""

    def make(self, rows):
        data = {}
        for number in range(rows):
            data["Functional.layer%d_abcdefgh.%d.forward" % (number * 7919 % rows, number)] = {
                "input_args": [dumps.item("f32", [number], stats=(number / 7, -number / 3, 0.1, number * 1.7))]}
        sides = []
        for side in ("npu", "bench"):
            dump = dumps.Dump(self.path(side), "statistics")
            dump.data = data
            sides.append(dump.write())
        return sides

    def test_interrupted_while_writing(self):
        sides = self.make(20000)
        scratch = self.path("scratch")
        os.mkdir(scratch)
        for form in ("csv", "json", "xlsx"):
            with self.subTest(format=form):
                caught = False
                for attempt in range(20):
                    out = self.path("%s-%d" % (form, attempt))
                    running = harness.Running("compare", *sides, "-o", out, "--format", form, "--no-advice",
                                              env={"TMPDIR": scratch})
                    while running.process.poll() is None and not harness.files_below(out):
                        pass
                    running.interrupt()
                    result = running.finish(60)
                    self.assertIn(result.code, (0, 130), str(result))
                    self.assertEqual([n for n in harness.files_below(out) if n.startswith(".")], [])
                    self.assertEqual(len(harness.files_below(out)), 1 if result.code == 0 else 0,
                                     "%s after %s" % (harness.files_below(out), result))
                    self.assertEqual(os.listdir(scratch), [])
                    if result.code == 130:
                        caught = True
                        break
                self.assertTrue(caught)

    @unittest.skipIf(harness.SANITIZE == "thread", "the runtime itself keeps its books in shared memory files")
    def test_disk_full(self):
        sides = self.make(400)
        # LLVM's OpenMP runtime needs a small file in shared memory to start at all
        limits = (4096,) if b"libomp.so" in harness.read_bytes(harness.TDCMP) else (0, 100, 4096)
        config = harness.write_text(self.path("compare.json"), json.dumps({"npu_path": sides[0], "bench_path": sides[1]}))
        scratch = self.path("scratch")
        os.mkdir(scratch)
        for form in ("csv", "json", "xlsx"):
            for limit in limits:
                with self.subTest(format=form, limit=limit):
                    out = tempfile.mkdtemp(dir=self.folder)
                    settings = {"before": limited(resource.RLIMIT_FSIZE, limit), "env": {"TMPDIR": scratch}}
                    result = self.run_code(2, "compare", *sides, "-o", out, "--format", form, **settings)
                    self.assert_one_line(result.err, out + "/compare_result_", "." + form)
                    self.assertTrue(result.out.startswith("IDENTICAL   400 tensors"), result.out)
                    self.assertNotIn("Wrote", result.out)
                    self.assertEqual(harness.files_below(out), [])
                    result = self.run_code(1, "-f", "pytorch", "compare", "-i", config, "-o", out, "--format", form,
                                           **settings)
                    self.assertIn(out + "/compare_result_", result.err)
                    self.assertEqual(harness.files_below(out), [])
                    self.assertEqual(os.listdir(scratch), [])

    def test_folder_that_cannot_be_made(self):
        sides = self.make(3)
        blocked = harness.write_text(self.path("blocked"), "a file")
        for out in (blocked, os.path.join(blocked, "below")):
            with self.subTest(out=out):
                result = self.run_code(2, "compare", *sides, "-o", out)
                self.assertIn("tdcmp: warning: the results cannot be written; comparing all the same\n", result.err)
                self.assert_one_line(result.err.split("\n", 1)[1], blocked)
                self.assertEqual(harness.read_text(blocked), "a file")
                config = harness.write_text(self.path("compare.json"),
                                            json.dumps({"npu_path": sides[0], "bench_path": sides[1]}))
                result = self.run_code(1, "-f", "pytorch", "compare", "-i", config, "-o", out)
                self.assertIn(blocked, result.err)

    @unittest.skipIf(os.geteuid() == 0, "root may write everywhere")
    def test_folder_without_permission(self):
        sides = self.make(3)
        out = self.path("closed")
        os.mkdir(out, 0o500)
        result = self.run_code(2, "compare", *sides, "-o", out)
        self.assert_one_line(result.err, out, "Permission denied")


if __name__ == "__main__":
    harness.main()
