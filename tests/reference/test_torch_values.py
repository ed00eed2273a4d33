"""Operators that the golden dumps lack, against values that torch computed in float64.

The files torch_values*.txt.xz hold questions to the driver and the answers: a call's line, the number of results, one
line for each. Inputs have few bits, so that the files are small. make_torch_values.py made the second one."""
import array
import glob
import lzma
import os
import subprocess
import sys
import unittest

DRIVER = os.environ["TDC_OPERATOR_DRIVER"]
VALUES = sorted(glob.glob(os.path.join(os.path.dirname(os.environ["TDC_TORCH_VALUES"]), "torch_values*.txt.xz")))
TOLERANCE = 1e-12
# A file that lost its content must not pass.
LEAST_ANSWERS, LEAST_NAMES = 1390, 360


def read_value(line):
    words = line.split()
    if words[0] == "null":
        return None
    if words[0] != "tensor":
        return words[0], float.fromhex(words[1])
    dtype, rank = int(words[1]), int(words[2])
    shape = tuple(int(word) for word in words[3:3 + rank])
    data = bytes.fromhex(words[3 + rank]) if len(words) > 3 + rank else b""
    return dtype, shape, array.array("d" if dtype >= 12 else "q", data)


def agree(expected, got):
    if expected is None or got is None:
        other = got if expected is None else expected
        # a gradient that is zero everywhere is as good as none
        return other is None or (isinstance(other[0], int) and not any(other[2]))
    if len(expected) == 2 or len(got) == 2:
        return expected == got
    if expected[:2] != got[:2]:
        return False
    finite = [abs(v) for v in expected[2] if v == v and abs(v) != float("inf")]
    top = max(finite, default=0.0)
    return all(a == b or (a != a and b != b) or abs(a - b) <= TOLERANCE * top for a, b in zip(expected[2], got[2]))


class TorchValues(unittest.TestCase):
    def test_every_answer(self):
        lines = []
        for path in VALUES:
            with lzma.open(path, "rt", encoding="ascii") as file:
                lines += file.read().splitlines()
        questions, at = [], 0
        while at < len(lines):
            count = int(lines[at + 1])
            questions.append((lines[at], lines[at + 2:at + 2 + count]))
            at += 2 + count
        self.assertGreater(len(questions), LEAST_ANSWERS)
        self.assertGreater(len({call.split()[1] for call, _ in questions}), LEAST_NAMES)
        answers = subprocess.run([DRIVER], input="\n".join(call for call, _ in questions) + "\n", text=True, check=True,
                                 stdout=subprocess.PIPE).stdout.splitlines()
        wrong, at = [], 0
        for call, expected in questions:
            head = answers[at].split(" ", 1)
            count = int(head[1]) if head[0] == "ok" else 0
            got = answers[at + 1:at + 1 + count]
            at += 1 + count
            if head[0] != "ok" or len(got) != len(expected) or not all(
                    agree(read_value(a), read_value(b)) for a, b in zip(expected, got)):
                wrong.append("%s...: %s" % (call[:60], " ".join(head) if head[0] != "ok" else "another value"))
        print("%d of %d answers are torch's" % (len(questions) - len(wrong), len(questions)), file=sys.stderr)
        self.assertFalse(wrong, "\n".join(wrong))


if __name__ == "__main__":
    unittest.main()
