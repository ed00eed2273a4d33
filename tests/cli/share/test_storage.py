"""Storage that does not answer, or slowly: the fault library plays a network file system over a folder."""
import os
import re
import shutil
import subprocess
import unittest

import harness
import shares

FAULT = os.environ.get("TDC_FAULT", "")
SECONDS = 2  # that an answer may take, counted in eight waits: a machine that stands still loses one of them
LIMIT = 120  # seconds that no run may take: it hangs then


@unittest.skipIf(FAULT == "", "the library to be preloaded is not built here")
class Storage(harness.Case):
    def setUp(self):
        super().setUp()
        shares.make_dumps(self.path("far/d"))
        with open(self.path("mounts"), "w", encoding="utf-8") as file:
            file.write("21 1 8:1 / / rw - ext4 /dev/sda rw\n"
                       "36 21 0:50 / %s rw,relatime shared:7 - nfs4 server:/export rw,hard\n" % os.path.realpath(self.path("far")))
        self.tensor = sorted(os.listdir(self.path("far/d/npu/step0/rank0/dump_tensor_data")))[4]

    def begin(self, *words, silent="", timeout=SECONDS, **settings):
        """Starts with a table of mounts in which `far` is NFS; some calls there never return."""
        env = harness.environment(LD_PRELOAD=FAULT, TDC_FAULT_AT="0", TDC_FAULT_MOUNTS=self.path("mounts"),
                                  TDC_FAULT_SILENT=silent, TDC_IO_TIMEOUT=str(timeout), **settings)
        return subprocess.Popen([harness.TDCMP, *words], cwd=self.folder, env=env, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def end(self, process, code=None):
        """What it printed; it must not hang."""
        out, err = (text.decode() for text in process.communicate(timeout=LIMIT))
        if code is not None:
            self.assertEqual(process.returncode, code, err + out)
        return harness.Result(process.args, process.returncode, out, err)

    def start(self, *words, code=None, **settings):
        return self.end(self.begin(*words, **settings), code)

    def rows(self):
        """All rows of the tables that were written."""
        return [row for name in sorted(harness.files_below(self.path("out"))) if name.endswith(".csv")
                for row in harness.read_csv(self.path("out", name))]

    def compare(self, *options, **settings):
        return self.start("compare", "far/d/npu", "far/d/bench", "-o", "out", "-F", "csv", *options, **settings)

    def errors(self):
        return sorted({row["Err_message"] for row in self.rows() if row["Verdict"] == "error"})

    def test_answers(self):
        """Nothing is silent: the tables of a local file system, whatever the way of reading."""
        self.run_code(1, "compare", "far/d/npu", "far/d/bench", "-o", "out", "-F", "csv", cwd=self.folder)
        expected = shares.results(self.path("out"))
        for how in ("auto", "mmap", "pread"):
            with self.subTest(io=how):
                shutil.rmtree(self.path("out"))
                self.compare("--io", how, timeout=LIMIT, code=1)
                self.assertEqual(shares.results(self.path("out")), expected)

    def test_one_file(self):
        """A tensor that is not answered is a row, and no other."""
        self.compare(silent="read npu/step0/rank0/dump_tensor_data/" + self.tensor, code=2)
        self.assertEqual(len(self.errors()), 1, self.errors())
        self.assertIn(self.tensor + f": no answer from storage in {SECONDS} s", self.errors()[0])

    def test_all_files(self):
        """Of a dead server some calls are waited for; the rest fails without being tried."""
        self.compare(silent="open dump_tensor_data", code=2)
        texts = self.errors()
        self.assertTrue(any(f"no answer from storage in {SECONDS} s" in text for text in texts), texts)
        self.assertTrue(any("not tried: its storage has not answered 4 calls" in text for text in texts), texts)
        self.assertEqual(len([row for row in self.rows() if row["Verdict"] == "error"]), 6 * 40)

    def test_dump_json(self):
        """A dump.json that is not answered costs its rank; the others are compared."""
        for kind in ("open", "read"):
            with self.subTest(kind=kind):
                shutil.rmtree(self.path("out"), ignore_errors=True)
                done = self.compare(silent="%s npu/step0/rank1/dump.json" % kind, code=2)
                self.assertIn(f"no answer from storage in {SECONDS} s", done.out)
                self.assertEqual(len([name for name in os.listdir(self.path("out")) if name.endswith(".csv")]), 5)

    def test_together(self):
        """Small files are opened, and read, many at a time, by however few threads, and the result is the same."""
        self.run_code(1, "compare", "far/d/npu", "far/d/bench", "-o", "out", "-F", "csv", cwd=self.folder)
        expected = shares.results(self.path("out"))
        for threads in ("1", "3"):
            shutil.rmtree(self.path("out"))
            done = self.compare("--threads", threads, timeout=LIMIT, code=1, TDC_FAULT_TOGETHER="16",
                                TDC_FAULT_REMOTE="dump_tensor_data")
            self.assertGreaterEqual(int(re.search(r"fault: (\d+) calls at once", done.err)[1]), 16)
            self.assertEqual(shares.results(self.path("out")), expected)

    def test_every_reader(self):
        """Whatever a command reads, and whichever call is not answered: it ends, and says why."""
        self.run_code(1, "compare", "far/d/npu", "far/d/bench", "-o", "far/out", "-F", "csv", cwd=self.folder)
        tensors = ["far/d/%s/step0/rank0/dump_tensor_data" % side for side in ("npu", "bench")]
        compare = ["compare", "far/d/npu", "far/d/bench", "-o", "out", "-F", "csv"]
        os.makedirs(self.path("far/saved/iter_0000005/mp_rank_00"))
        harness.write_text(self.path("far/saved/latest_checkpointed_iteration.txt"), "5\n")
        harness.write_text(self.path("far/map.yaml"), "a: b\n")
        cases = (
            ("list " + tensors[0], ["diff", *tensors]),
            ("open %s/%s" % (tensors[1], self.tensor), ["diff", *tensors]),
            ("open latest_checkpointed", ["diff", "far/saved", "far/saved"]),
            ("open latest_checkpointed", ["config_check", "far/saved", "far/saved", "-o", "checked"]),
            ("open far/map.yaml", [*compare, "--data-mapping", "far/map.yaml"]),
            ("stat far/map.yaml", [*compare, "--data-mapping", "far/map.yaml"]),
            ("open far/map.yaml", [*compare, "--align", "far/map.yaml"]),
            ("open far/map.yaml", [*compare, "--tolerance", "far/map.yaml"]),
            ("list far/out", ["show", "far/out", "x"]),
            ("open far/out/compare_result", ["show", "far/out", "x"]),
            ("list far/out", ["merge", "far/out"]),
            ("stat far/new", [*compare[:3], "-o", "far/new", "-F", "csv"]),
            ("open far/d/npu/step0/rank1/dump.json", ["inspect", "far/d/npu"]),
            ("open far/d/npu/step0/rank1/dump.json", ["trace", "far/d/npu", "far/d/bench", "-o", "traced"]),
        )
        begun = [(case, self.begin(*case[1], silent=case[0])) for case in cases]
        for (silent, words), process in begun:
            with self.subTest(silent=silent, words=words):
                done = self.end(process, 1 if words[0] == "trace" else 2)  # other ranks differ
                self.assertIn(f"from storage in {SECONDS} s", done.err + done.out)

    def test_search(self):
        """A path that does not answer when it is looked at first."""
        done = self.compare(silent="any far/d/npu", code=2)
        self.assertIn(f"far/d/npu: no answer from storage in {SECONDS} s", done.err)

    def test_precheck(self):
        done = self.start("precheck", "far/d/npu/step0/rank0", "-o", "checked", silent="any npu/step0/rank0/dump.json", code=2)
        self.assertIn(f"no answer from storage in {SECONDS} s", done.err)

    def test_shard(self):
        """A part without all answers is not complete; the next run asks again."""
        words = ["compare", "far/d/npu", "far/d/bench", "-o", "out", "-F", "csv"]
        self.start(*words, code=1)
        expected = shares.results(self.path("out"))
        shutil.rmtree(self.path("out"), ignore_errors=True)
        done = self.start(*words, "--shard", "0/1", silent="open dump_tensor_data/" + self.tensor, code=2)
        self.assertIn("had no answer from storage and are left to the next run", done.err)
        self.run_code(2, "merge", "out", cwd=self.folder)
        self.start(*words, "--shard", "0/1", code=0)
        self.start("merge", "out", code=1)
        self.assertEqual(shares.results(self.path("out")), expected)


if __name__ == "__main__":
    harness.main()
