"""Tensors whose elements stand for other numbers: quantised, e8m0, e2m1. The files are torch's own."""
import math
import os

import dumps
import harness
from harness import Case


def file(name):
    return harness.read_bytes(os.path.join(harness.DATA, "tensors", "torch215_%s.pt" % name))


QUINT8 = [(q - 3) * 0.1 for q in (0, 1, 5, 8, 11, 15)]
TENTH = 0.10000000149011612  # torch keeps the scales of channels as it got them, in float32
CHANNELS = [v for a, b in ((-4, 0), (-1, 1), (3, 3)) for v in ((a - 1) * TENTH, (b + 2) * 0.25)]
QINT32 = [(q + 7) * 0.001 for q in (-507, -174, 160, 493, 826, 1160)]
E8M0 = [2.0 ** -127, 2.0 ** -126, 1.0, 2.0, 2.0 ** 127, math.nan]
E2M1 = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, -0.0, -0.5, -4.0, -6.0]


class Codes(Case):
    def dump(self, name, data, shape):
        dump = dumps.Dump(self.path(name))
        dump.call("add", "output", data, shape, "f64")
        dump.write()
        return dump.folder

    def row(self, npu, bench, shape, *options):
        """The row of two files, and the exit code."""
        self.turn = getattr(self, "turn", 0) + 1
        sides = [self.dump("%s%d" % (name, self.turn), data, shape) for name, data in (("npu", npu), ("bench", bench))]
        out = self.path("out%d" % self.turn)
        result = harness.run("compare", *sides, "-o", out, "--format", "json", *options)
        return harness.json_rows(harness.only_file(out, "json"))[0], result.code

    def plain(self, values, shape):
        return dumps.pt_bytes("f64", shape, dumps.pack("f64", values))

    def test_values(self):
        for name, values, shape in (("quint8", QUINT8, [2, 3]), ("qint8_channel", CHANNELS, [3, 2]),
                                    ("qint32", QINT32, [2, 3]), ("e8m0", E8M0, [6]), ("e2m1", E2M1, [2, 3, 2]),
                                    ("legacy_quint8", QUINT8, [2, 3])):
            row, code = self.row(file(name), self.plain(values, shape), shape)
            self.assertEqual((code, row["MaxAbsErr"], row["Bench NaN"]), (0, 0, int(name == "e8m0")), (name, row))
            changed = list(values)
            changed[2] += 1
            row, _ = self.row(file(name), self.plain(changed, shape), shape)
            self.assertAlmostEqual(row["MaxRelativeErr"], 1 / abs(changed[2]), 12, (name, row))
            self.assertTrue(row["MaxAbsErr"] > 0)

    def test_other_scale_same_values(self):
        row, code = self.row(file("quint8"), file("quint8").replace(b"G?\xb9\x99\x99\x99\x99\x99\x9a",
                                                                    b"G?\xc9\x99\x99\x99\x99\x99\x9a"), [2, 3])
        self.assertEqual(row["MaxRelativeErr"], 0.5)  # all codes alike, the scale doubled

    def test_position_is_of_the_byte(self):
        changed = bytearray(file("e2m1"))
        at = changed.index(b"\x10\x32\x54\x76\x98\xfe")
        changed[at + 3] ^= 0x10  # the upper half of element [1, 0]: 6 becomes 4
        row, _ = self.row(bytes(changed), file("e2m1"), [2, 3])
        self.assertEqual((row["Worst Abs At"], row["Worst Abs NPU"], row["Worst Abs Bench"]), ("[1, 0]", 4, 6))

    def test_compat_reads_none(self):
        for name in ("quint8", "e8m0", "e2m1"):
            row, code = self.row(file(name), file(name), [6], "--rules", "compat")
            self.assertIn("not found or read failed", row["Err_message"])
            self.assertEqual(code, 2)

    def test_lies_are_errors_of_the_row(self):
        channel = file("qint8_channel")
        axis = channel.index(b"K\x01tq", channel.index(b"LongStorage"))
        for name, data in (("axis", channel[:axis] + b"K\x02tq" + channel[axis + 4:]),
                           ("too few scales", channel[:axis] + b"K\x00tq" + channel[axis + 4:]),
                           ("scales of another type", channel.replace(b"DoubleStorage", b"LongStorage\x00\x00")),
                           ("no such storage", channel.replace(b"X\x01\x00\x00\x002", b"X\x01\x00\x00\x009")),
                           ("no quantiser", file("quint8").replace(b"per_tensor_affine", b"per_tensor_afffne"))):
            self.assertNotIn(data, (channel, file("quint8")), name)
            row, code = self.row(data, data, [2, 3])
            self.assertEqual(code, 2, (name, row))


if __name__ == "__main__":
    harness.main()
