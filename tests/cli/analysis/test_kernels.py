"""`tdcmp kernels`: trees of npy files of single kernels."""
import csv
import glob
import os
import struct
import unittest

import harness


def write_npy(path, values, descr="<f4", code="f"):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    head = "{'descr': '%s', 'fortran_order': False, 'shape': (%d,), }" % (descr, len(values))
    head += " " * (63 - (len(head) + 10) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode())
        file.write(struct.pack("<%d%s" % (len(values), code), *values))


class Kernels(harness.Case):

    def setUp(self):
        super().setUp()
        self.sides = [os.path.join(self.folder, side) for side in ("test", "ref")]

    def put(self, side, operator, time, name, values, **settings):
        write_npy(os.path.join(self.sides[side], operator, time, name), values, **settings)

    def run_it(self, code):
        out = os.path.join(self.folder, "out")
        run = harness.run("kernels", *self.sides, "-o", out)
        self.assertEqual(run.code, code, run)
        found = glob.glob(os.path.join(out, "batch_compare_*.csv"))
        if not found:
            return run, None
        with open(found[0], encoding="utf-8", newline="") as file:
            return run, list(csv.reader(file))

    def test_a_row_for_each_pair(self):
        for side, last in enumerate((4.0, 5.0)):
            self.put(side, "Add", "10%d" % side, "b.output.%d.npy" % side, [1.0, 2.0, last])
            self.put(side, "Add", "10%d" % side, "a.input.0.npy", [1.0, -0.0 if side else 0.0])
            self.put(side, "Mul", "200", "x.npy", [1.0, 3.0])
        run, table = self.run_it(1)
        self.assertEqual(table[0], ["NPU File Name", "Bench File Name", "Mean", "Bench Mean", "Md5 Consistency",
                                    "Max Abs Error", "Max Relative Error"])
        rows = [[row[0], row[1], float(row[2]), float(row[3]), row[4], float(row[5]), round(float(row[6]), 6)]
                for row in table[1:]]
        self.assertEqual(rows, [["Add/100/a.input.0.npy", "Add/101/a.input.0.npy", 0.5, 0.5, "False", 0.0, 0.0],
                                ["Add/100/b.output.0.npy", "Add/101/b.output.1.npy", 7 / 3, 8 / 3, "False", 1.0, 0.2],
                                ["Mul/200/x.npy", "Mul/200/x.npy", 2.0, 2.0, "True", 0.0, 0.0]])
        self.assertIn("3 pairs of 2 operators: 1 hold the same bytes", run.out)

    def test_what_cannot_be_compared(self):
        for side in (0, 1):
            self.put(side, "Add", "1", "a.npy", [1.0] * (2 + side))
            self.put(side, "Add", "1", "b.npy", [1.0, 2.0])
            self.put(side, "Add", "1", "c.npy", [1, 2], descr="<i4" if side else "<f4", code="i" if side else "f")
        run, table = self.run_it(2)
        self.assertEqual([row[4] for row in table[1:]], ["N/A", "True", "N/A"])
        self.assertIn("Shape or dtype between two npy files is inconsistent. Please check the two files.File 1: "
                      "Add/1/a.npy, file 2: Add/1/a.npy", run.err)

    def test_trees_that_do_not_fit(self):
        for side in (0, 1):
            self.put(side, "Add", "1", "a.npy", [1.0])
        self.put(0, "Add", "1", "b.npy", [1.0])
        run, _ = self.run_it(1)
        self.assertIn("1 of its 2 entries have no partner (first: b.npy)", run.err)
        self.put(1, "Sub", "1", "a.npy", [1.0])
        run, _ = self.run_it(2)
        self.assertIn("the operators of the two are not the same: Sub", run.err)
        self.assertEqual(harness.run("kernels", self.sides[0], os.path.join(self.folder, "none")).code, 2)


if __name__ == "__main__":
    unittest.main()
