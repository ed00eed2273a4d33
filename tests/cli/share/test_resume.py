"""Runs that are killed and started again: the bytes of one that was not."""
import os
import struct
import time
import unittest

import harness
import shares

AT_ONCE = {"TDC_JOURNAL": "0"}
# Kills in this run; by hand the whole of the promise is tried: TDC_KILLS=50
KILLS = int(os.environ.get("TDC_KILLS", "4" if harness.LEAN else "8"))


class Journal(shares.ShareCase):
    FORMATS = "csv,json"

    def journal(self):
        names = shares.parts(self.path("out"), ".journal")
        self.assertLessEqual(len(names), 1)
        return self.path("out", names[0]) if names else None

    def test_small_runs_have_none(self):
        self.run_code(1, *self.words, cwd=self.folder, env={"TDC_JOURNAL": "2"})
        self.assertIsNone(self.journal())

    def test_killed(self):
        expected, printed = self.whole()
        start = time.monotonic()
        self.whole()
        lasts = time.monotonic() - start
        for _ in range(KILLS // 2):
            self.forget()
            shares.kill_after(self.random.uniform(0, lasts), self.words, self.folder, AT_ONCE)
            before = shares.results(self.path("out"))
            for name in before:  # what is there is whole
                self.assertEqual(before[name], expected[name])
            done = self.run_code(1, *self.words, cwd=self.folder, env=AT_ONCE)
            found = shares.results(self.path("out"))
            self.assertEqual(found, expected)
            self.assertEqual(harness.stampless(done.out), printed)
            self.assertIsNone(self.journal())

    def torn(self):
        """The name of a journal, and what is in one of a run that was killed at its end."""
        self.forget()
        self.shard(0, 1)
        part = self.path("out", shares.parts(self.path("out"))[0])
        data = harness.read_bytes(part)
        journal = part.replace(".part", ".journal")
        os.remove(part)
        return journal, data

    def test_torn_at_every_place(self):
        self.words = ["compare", "d/npu/step0/rank0", "d/bench/step0/rank0", "-o", "out", "-F", "csv"]
        expected, _ = self.whole()
        journal, data = self.torn()
        frames, at = [], 8
        while at < len(data):
            frames.append(at)
            at += 8 + struct.unpack_from("<I", data, at)[0]
        cuts = [0, 1, 7, 8, 12] + [frames[1] + k for k in (-1, 0, 1, 8, 60)] + [frames[20] + 5, len(data) - 1, len(data)]
        known = []
        for cut in cuts:
            self.forget()
            os.mkdir(self.path("out"))
            harness.write_bytes(journal, data[:cut])
            done = self.run_code(1, *self.words, cwd=self.folder)
            self.assertEqual(shares.results(self.path("out")), expected, cut)
            words = done.err.split()
            known.append(int(words[words.index("were") - 1]) if "were" in words else 0)
        self.assertEqual(known[:8], [0] * 8)
        self.assertEqual(known[-3:], [19, 40, 40])

    def test_restart(self):
        journal, data = self.torn()
        harness.write_bytes(journal, data)
        done = self.run_code(1, *self.words, "--restart", cwd=self.folder)
        self.assertNotIn("earlier run", done.err)
        self.assertIsNone(self.journal())
        harness.write_bytes(journal, data)
        done = self.run_code(1, *self.words, cwd=self.folder)
        self.assertIn("240 were done by an earlier run, 0 by this one", done.err)

    def test_changed_since(self):
        expected, _ = self.whole()
        journal, data = self.torn()
        harness.write_bytes(journal, data)
        folder = self.path("d", "bench", "step1", "rank0", "dump_tensor_data")
        os.utime(os.path.join(folder, sorted(os.listdir(folder))[3]), (1, 1))
        done = self.run_code(1, *self.words, cwd=self.folder)
        self.assertIn("1 were done by an earlier run, but their files have changed", done.err)
        self.assertEqual(shares.results(self.path("out")), expected)
        self.forget()
        os.mkdir(self.path("out"))
        harness.write_bytes(journal, data)
        os.utime(self.path("d", "npu", "step0", "rank1", "dump.json"), (1, 1))
        done = self.run_code(1, *self.words, cwd=self.folder)
        self.assertIn("it is not used", done.err)
        self.assertEqual(shares.results(self.path("out")), expected)


class Shards(shares.ShareCase):
    FORMATS = "csv"

    def test_one_of_four_killed(self):
        expected, _ = self.whole()
        start = time.monotonic()
        self.shard(0, 4)
        lasts = time.monotonic() - start
        for _ in range(KILLS - KILLS // 2):
            self.forget()
            victim = self.random.randrange(4)
            for index in range(4):
                if index == victim:
                    shares.kill_after(self.random.uniform(0, lasts), self.words + ["--shard", "%d/4" % index],
                                      self.folder, AT_ONCE)
                else:
                    self.shard(index, 4)
            merged = harness.run("merge", "out", cwd=self.folder)
            if merged.code != 1:  # it was killed before its end
                self.assertEqual(merged.code, 2, str(merged))
                self.assertIn("%d/4" % victim, merged.err)
                self.assertEqual(shares.results(self.path("out")), {})
                self.shard(victim, 4)
                self.merged()
            self.assertEqual(shares.results(self.path("out")), expected)

    def test_part_is_locked(self):
        """Two processes of one number do not write one part."""
        self.shard(0, 2)
        path = self.path("out", shares.parts(self.path("out"))[0])
        import fcntl
        with open(path, "rb+") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            done = self.run_code(2, *self.words, "--shard", "0/2", cwd=self.folder)
        self.assertIn("another process is writing it", done.err)


if __name__ == "__main__":
    unittest.main()
