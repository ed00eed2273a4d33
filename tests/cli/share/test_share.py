"""Shards and merging: the bytes of one process, whoever did the work."""
import json
import os
import shutil
import subprocess
import unittest

import harness
import shares


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
        count, header = 10 << 20, b"\x93NUMPY\x01\x00\x76\x00"
        text = "{'descr': '<f8', 'fortran_order': False, 'shape': (%d,), }" % count
        for side, value in (("npu", 1), ("bench", 2)):
            folder = self.path(side, "dump_tensor_data")
            os.makedirs(folder)
            with open(os.path.join(folder, "Torch.add.0.forward.output.0.npy"), "wb") as file:
                file.write(header + text.encode().ljust(0x75) + b"\n")
                for at in range(0, count, 1 << 20):  # holes between some numbers
                    file.seek(128 + 8 * at)
                    file.write(bytes(range(value, value + 32)))
                file.truncate(128 + 8 * count)
            entry = {"type": "torch.Tensor", "dtype": "torch.float64", "shape": [count], "Max": 1, "Min": 0, "Mean": 0,
                     "Norm": 1, "requires_grad": False, "data_name": "Torch.add.0.forward.output.0.npy"}
            harness.write_text(self.path(side, "dump.json"), json.dumps(
                {"task": "tensor", "level": "L1", "framework": "pytorch", "dump_data_dir": folder,
                 "data": {"Torch.add.0.forward": {"input_args": [], "input_kwargs": {}, "output": [entry]}}}))
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
