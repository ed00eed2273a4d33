"""Signs of gradients: `tdcmp gradients`, msprobe's GradComparator."""
import os
import shutil
import sys
import unittest
import xml.dom.minidom

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import harness
from golden_case import GoldenCase, load


class Gradients(GoldenCase):

    def compare(self, case, **settings):
        self.clear()
        return harness.run("gradients", os.path.join(case, "npu"), os.path.join(case, "bench"), "-o", self.out,
                           **settings)

    def test_tables_of_the_original(self):
        for name in ("l1_one_rank", "l2_two_ranks"):
            case = os.path.join(self.root, "grad", name)
            with self.subTest(case=name):
                run = self.compare(case)
                self.assertIn(run.code, (0, 1), run)
                for path in harness.read_text(os.path.join(case, "expected", "file_list.txt")).split():
                    ours = os.path.join(self.out, path.replace(".png", ".svg"))
                    self.assertTrue(os.path.exists(ours), ours)
                    if ours.endswith(".svg"):
                        xml.dom.minidom.parse(ours)
                for rank in harness.files_below(self.out):
                    with open(os.path.join(self.out, rank, "similarities.csv"), "rb") as file:
                        ours = file.read()
                    with open(os.path.join(case, "expected", rank + ".similarities.csv"), "rb") as file:
                        self.assertEqual(ours, file.read())
                    table = [line.split(",") for line in ours.decode("utf-8-sig").splitlines()]
                    values = load(os.path.join(self.out, rank, "similarities.json"))
                    self.assertEqual({row[0]: dict(zip(table[0][1:], map(float, row[1:]))) for row in table[1:]}, values)

    def test_the_first_step_that_is_unlike(self):
        run = self.compare(os.path.join(self.root, "grad", "l2_two_ranks"))
        self.assertEqual(run.code, 1, run)
        self.assertIn("rank 0: the first gradient that is unlike is that of model.norm.weight at step 0", run.err)
        same = self.copy("grad", "l1_one_rank")
        shutil.rmtree(os.path.join(same, "bench"))
        shutil.copytree(os.path.join(same, "npu"), os.path.join(same, "bench"))
        run = self.compare(same)
        self.assertEqual((run.code, run.out), (0, "gradients are alike\n"), run)

    def test_what_is_missing(self):
        run = self.compare(os.path.join(self.root, "grad", "l0_stats_only"))
        self.assertEqual(run.code, 2)
        self.assertIn("no matched steps for comparison, please dump data in same configuration", run.err)
        case = self.copy("grad", "l1_one_rank")
        step = os.path.join(case, "bench", "rank0", "step1")
        os.remove(os.path.join(step, os.listdir(step)[0]))
        run = self.compare(case)
        self.assertEqual(run.code, 2)
        self.assertIn("no matched grad_file for comparison", run.err)
        run = self.compare(self.folder)
        self.assertEqual(run.code, 2)

    def test_names_that_lead_elsewhere(self):
        case = self.copy("grad", "l1_one_rank")
        path = os.path.join(case, "npu", "rank0", "grad_summary_0.csv")
        text = harness.read_text(path)
        harness.write_text(path, text.replace("model.norm.weight", "../../escape", 1))
        run = self.compare(case)
        self.assertEqual(run.code, 2, run)
        self.assertIn("no matched grad_file for comparison", run.err)


if __name__ == "__main__":
    unittest.main()
