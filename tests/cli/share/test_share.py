"""Shards and merging: the bytes of one process, whoever did the work."""
import os
import re
import shutil
import subprocess
import unittest

import harness
import shares
import situations


class Shards(shares.ShareCase):
    def test_equal_bytes(self):
        expected, printed = self.whole()
        self.assertEqual(len(expected), 6 * 3 + 1)  # csv, json and advice of each rank, and the page
        for count in (3,) if harness.LEAN else (1, 2, 3, 7):
            self.forget()
            for index in range(count):
                self.shard(index, count)
            self.assertEqual(shares.results(self.path("out")), {})
            self.assertEqual(len(shares.parts(self.path("out"))), count)
            found, said = self.merged()
            self.assertEqual(found.keys(), expected.keys())
            for name in expected:
                self.assertEqual(found[name], expected[name], "%s with %d" % (name, count))
            self.assertEqual(said, printed)

    def test_more_processes_than_units(self):
        self.words[1:3] = ["d/npu/step0/rank0", "d/bench/step0/rank0"]
        expected, _ = self.whole()
        for index in range(9):
            self.shard(index, 9)
        self.assertEqual(self.merged()[0], expected)

    def test_one_file(self):
        self.words = ["compare", "d/npu/step0/rank0", "d/bench/step0/rank0", "-o", "out/one.csv"]
        expected, _ = self.whole()
        for index in range(2):
            self.shard(index, 2)
        self.assertEqual(self.merged()[0], expected)
        self.assertEqual(list(expected), ["one.csv"])

    def test_other_forms(self):
        forms = (["--rules", "msprobe"], ["--atol", "0.001", "--rtol", "0.01"], ["--only", "different"])
        for options in forms[:1] if harness.LEAN else forms:
            with self.subTest(options=options):
                self.words = ["compare", "d/npu", "d/bench", "-o", "out", "-F", "csv"] + options
                self.forget()
                done = harness.run(*self.words, cwd=self.folder)
                expected = shares.results(self.path("out"))
                self.forget()
                for index in range(3):
                    self.shard(index, 3)
                self.assertEqual(self.merged(done.code)[0], expected)

    def test_missing(self):
        self.shard(0, 4)
        self.shard(2, 4)
        done = self.run_code(2, "merge", "out", cwd=self.folder)
        self.assertIn("1/4, 3/4", done.err)
        self.assertEqual(shares.results(self.path("out")), {})
        name = shares.parts(self.path("out"))[0]
        harness.write_bytes(self.path("out", name), b"")  # killed at its very beginning
        self.assertIn("0/4, 1/4, 3/4", self.run_code(2, "merge", "out", cwd=self.folder).err)
        self.shard(0, 4)
        self.assertIn(" 1/4, 3/4", self.run_code(2, "merge", "out", cwd=self.folder).err)
        self.run_code(2, "merge", "d", cwd=self.folder)
        self.run_code(2, "merge", "nowhere", cwd=self.folder)

    def test_two_merges_at_once(self):
        expected, _ = self.whole()
        for index in range(2):
            self.shard(index, 2)
        both = [subprocess.Popen([harness.TDCMP, "merge", "out"], cwd=self.folder, env=harness.environment(),
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) for _ in range(2)]
        errors = [process.communicate()[1] for process in both]
        self.assertEqual([process.returncode for process in both], [1, 1], errors)
        names = [name for name in harness.files_below(self.path("out")) if not name.endswith(".part")]
        self.assertEqual(len(names), 2 * len(expected))
        self.assertEqual(shares.results(self.path("out")), expected)

    def test_places(self):
        cases = ({"TDC_SHARD": "1/3"}, {"SLURM_ARRAY_TASK_ID": "5", "SLURM_ARRAY_TASK_MIN": "4",
                                        "SLURM_ARRAY_TASK_COUNT": "3"},
                 {"SLURM_PROCID": "1", "SLURM_STEP_ID": "0", "SLURM_STEP_NUM_TASKS": "3"},
                 {"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "3"}, {"PMI_RANK": "1", "PMI_SIZE": "3"})
        for env in cases:
            self.forget()
            self.run_code(0, *self.words, "--shard", cwd=self.folder, env=env)
            self.assertTrue(shares.parts(self.path("out"))[0].endswith("_1_of_3.part"), env)
        self.forget()
        self.run_code(0, *self.words, "--shard", cwd=self.folder,
                      env={"SLURM_ARRAY_TASK_ID": "1", "SLURM_ARRAY_TASK_COUNT": "2", "PMI_RANK": "1", "PMI_SIZE": "3"})
        self.assertTrue(shares.parts(self.path("out"))[0].endswith("_4_of_6.part"))
        for wrong in ([], ["--shard=3/3"], ["--shard=x"]):
            self.run_code(2, *self.words, *(wrong or ["--shard"]), cwd=self.folder)
        self.run_code(2, *self.words, "--shard", cwd=self.folder, env={"TDC_SHARD": "3/2"})


class Forms(harness.Case):
    """Whatever is asked for: the bytes, the page and the exit code of one process."""

    COUNTS = (3,) if harness.LEAN else (1, 2, 3, 7)

    def equal(self, *words, folder="."):
        cwd = self.path(folder)
        out = os.path.join(cwd, "out")
        shutil.rmtree(out, ignore_errors=True)
        done = harness.run(*words, "-o", "out", cwd=cwd)
        expected = shares.results(out)
        self.assertTrue(expected, str(done))
        for count in self.COUNTS:
            shutil.rmtree(out)
            for index in range(count):
                self.run_code(0, *words, "-o", "out", "--shard", "%d/%d" % (index, count), cwd=cwd)
            self.assertEqual(shares.results(out), {})
            merged = self.run_code(done.code, "merge", "out", cwd=cwd)
            found = shares.results(out)
            self.assertEqual(found.keys(), expected.keys())
            for name in expected:
                self.assertEqual(found[name], expected[name], "%s with %d" % (name, count))
            self.assertEqual(harness.stampless(merged.out), harness.stampless(done.out))
        return done

    def test_xlsx_and_third_runs(self):
        """Tables of Excel, a truth, and the reference once more: these are read by the merge."""
        for name, seed in (("d", "1"), ("e", "2")):
            self.run_code(0, "bench", "make", self.path(name), "--tensors", "12", "--ranks", "2", "--elements", "2000",
                          "--share", "0.2", "--seed", seed)
        self.equal("compare", "d/npu", "d/bench", "-F", "xlsx")
        for option in ("--truth", "--noise"):
            done = self.equal("compare", "d/npu", "d/bench", "-F", "csv,json,html", option, "e/bench")
            self.assertIn("truth" if option == "--truth" else "noise", done.out)

    def test_align(self):
        """Logical tensors, put together from the parts of many ranks."""
        for name, make in (("megatron", situations.megatron_one_card), ("decode", situations.training_decode),
                           ("experts", situations.moe_experts)):
            with self.subTest(situation=name):
                os.mkdir(self.path(name))
                make(self.path(name))
                self.equal("compare", "test", "ref", "--align", "align.yaml", "-F", "csv,json", folder=name)

    def test_trace(self):
        """The comparisons are shared, the trace and its page are the merge's."""
        self.run_code(0, "bench", "make", self.path("d"), "--tensors", "20", "--ranks", "3", "--steps", "2", "--elements",
                      "2000", "--share", "0.1")
        done = self.equal("trace", "d/npu", "d/bench", "-F", "html", "--json", "out/trace.json")
        self.assertIn("first origin: step0 rank0", done.out)
        self.assertEqual(len(shares.results(self.path("out"))), 2)
        self.run_code(2, "trace", "d/npu", "d/bench", "-o", "out", "--shard", "0/2", cwd=self.folder)  # another command

    def test_work_of_all(self):
        """A merge tells what all processes did; a shared precheck reads as many bytes as one process."""
        self.run_code(0, "bench", "make", self.path("d"), "--tensors", "20", "--ranks", "2", "--elements", "2000")
        words = ["compare", "d/npu", "d/bench", "-o", "out", "-F", "csv", "-v"]
        bytes_of = re.compile(r"([\d.]+ [MG]B) of tensors")
        expected = bytes_of.search(self.run_code(1, *words, cwd=self.folder).out)[1]
        shutil.rmtree(self.path("out"))
        for index in range(3):
            self.run_code(0, *words, "--shard", "%d/3" % index, cwd=self.folder)
        done = self.run_code(1, "merge", "out", cwd=self.folder)
        self.assertEqual(bytes_of.search(done.out)[1], expected)
        self.assertRegex(done.err, r"3 processes: 40 done, [\d.]+ MB in [\d.]+ s of all, [\d.]+ s of the longest")
        self.run_code(0, "bench", "network", self.path("net"))
        words = ["precheck", "net/test", "-o", "checked", "-v"]
        expected = bytes_of.search(self.run_code(0, *words, cwd=self.folder).out)[1]
        shutil.rmtree(self.path("checked"))
        for index in range(2):
            self.run_code(0, *words, "--shard", "%d/2" % index, cwd=self.folder)
        done = self.run_code(0, "merge", "checked", cwd=self.folder)
        self.assertEqual(bytes_of.search(done.out)[1], expected)
        self.assertIn("2 processes: 115 done", done.err)
        self.assertRegex(done.out, r"compute [1-9]\d*%")  # by the shards: the merge computes nothing


class Precheck(harness.Case):
    def test_equal_bytes(self):
        self.run_code(0, "bench", "network", self.path("net"))
        words = ["precheck", "net/test", "-o", "out", "-F", "html"]
        self.run_code(0, *words, cwd=self.folder)
        expected = shares.results(self.path("out"))
        self.assertEqual(len(expected), 4)  # two csv, json, page
        for count in (2,) if harness.LEAN else (2, 3):
            shutil.rmtree(self.path("out"))
            for index in range(count):
                self.run_code(0, *words, "--shard", "%d/%d" % (index, count), cwd=self.folder)
            self.assertEqual(shares.results(self.path("out")), {})
            self.run_code(0, "merge", "out", cwd=self.folder)
            self.assertEqual(shares.results(self.path("out")), expected)
        folder = self.path("net", "test")
        for at, _, names in os.walk(folder):
            for name in sorted(names)[:1] if at.endswith("dump_tensor_data") else []:
                os.utime(os.path.join(at, name), (1, 1))
        self.assertIn("changed since", self.run_code(2, "merge", "out", cwd=self.folder).err)


class Refusals(shares.ShareCase):
    FORMATS = "csv"

    def refused(self, code, *words, text):
        done = self.run_code(code, *words, cwd=self.folder)
        self.assertIn(text, done.err)

    def test_other_command(self):
        self.shard(0, 2)
        self.words += ["--cos", "0.5"]
        self.refused(2, *self.words, "--shard", "1/2", text="another command line")
        self.run_code(0, *self.words, "--shard", "1/2", "--restart", cwd=self.folder)
        self.refused(2, "merge", "out", text="another command line")

    def test_other_input(self):
        for index in range(2):
            self.shard(index, 2)
        path = self.path("d", "npu", "step0", "rank1", "dump.json")
        os.utime(path, (1, 1))
        self.refused(2, "merge", "out", text="before this input changed: d/npu/step0/rank1/dump.json")
        self.refused(2, *self.words, "--shard", "0/2", text="changed")

    def test_other_tensor(self):
        for index in range(2):
            self.shard(index, 2)
        folder = self.path("d", "bench", "step1", "rank0", "dump_tensor_data")
        name = sorted(os.listdir(folder))[3]
        os.utime(os.path.join(folder, name), (1, 1))
        self.refused(2, "merge", "out", text=name)
        for index in range(2):  # what has changed is done again, and nothing else
            self.shard(index, 2)
        self.run_code(1, "merge", "out", cwd=self.folder)

    def test_other_version(self):
        self.shard(0, 1)
        path = self.path("out", shares.parts(self.path("out"))[0])
        data = harness.read_bytes(path)
        version = harness.run("--version").out.split()[1].encode()
        self.assertEqual(data.count(version), 1)
        import struct
        import zlib
        size, _ = struct.unpack_from("<II", data, 8)
        body = data[16:16 + size].replace(version, b"9" * len(version))
        harness.write_bytes(path, data[:8] + struct.pack("<II", size, zlib.crc32(body)) + body + data[16 + size:])
        self.refused(2, "merge", "out", text="another version")

    def test_damaged(self):
        self.shard(0, 1)
        path = self.path("out", shares.parts(self.path("out"))[0])
        data = harness.read_bytes(path)
        for at in (0, 9, 30, 16 + 200, len(data) // 2, len(data) - 5):
            harness.write_bytes(path, data[:at] + bytes([data[at] ^ 0x40]) + data[at + 1:])
            self.run_code(2, "merge", "out", cwd=self.folder)
            self.assertEqual(shares.results(self.path("out")), {})


class Huge(harness.Case):
    def test_cut_pair(self):
        """A pair of 160 MB is cut between processes; its sums are those of one."""
        shares.make_huge(self.folder)
        words = ["compare", "npu", "bench", "-o", "out/one.json"]
        done = harness.run(*words, cwd=self.folder)
        expected = shares.results(self.path("out"))
        shutil.rmtree(self.path("out"))
        for index in range(3):
            said = self.run_code(0, *words, "--shard", "%d/3" % index, cwd=self.folder).err
            self.assertIn("shard %d of 3" % index, said)
        data = [harness.read_bytes(self.path("out", name)) for name in shares.parts(self.path("out"))]
        self.assertTrue(all(len(part) > 1500 for part in data), "all three have some of it")
        self.run_code(done.code, "merge", "out", cwd=self.folder)
        self.assertEqual(shares.results(self.path("out")), expected)


if __name__ == "__main__":
    unittest.main()
