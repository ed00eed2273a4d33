"""The float64 reference against the golden values: every slot of the archive's bench files, forward and backward."""
import array
import io
import json
import os
import subprocess
import struct
import sys
import tarfile
import unittest
import zipfile

DRIVER = os.environ["TDC_OPERATOR_DRIVER"]
ARCHIVE = os.environ["TDC_PRECHECK"]
GAPS = os.environ["TDC_GAPS"]
TOLERANCE = 1e-12
# An archive or a list that lost its content must not pass.
LEAST_SLOTS = 2000

# Numbers of tdc_dtype.
DTYPES = {"Bool": 1, "Int8": 2, "Int16": 3, "Int32": 4, "Int64": 5, "UInt8": 6, "UInt16": 7, "UInt32": 8,
          "UInt64": 9, "Float16": 12, "BFloat16": 13, "Float32": 14, "Float64": 15}
TORCH = {"bool": "Bool", "int8": "Int8", "int16": "Int16", "int32": "Int32", "int64": "Int64", "uint8": "UInt8",
         "float16": "Float16", "bfloat16": "BFloat16", "float32": "Float32", "float64": "Float64"}
FLOATING = {"Float16", "BFloat16", "Float32", "Float64"}
CODES = {"Bool": "?", "Int8": "b", "Int16": "h", "Int32": "i", "Int64": "q", "UInt8": "B", "UInt16": "H",
         "UInt32": "I", "UInt64": "Q", "Float16": "e", "Float32": "f", "Float64": "d"}
NUMPY = {"|b1": "?", "|i1": "b", "<i2": "h", "<i4": "i", "<i8": "q", "|u1": "B", "<u2": "H", "<u4": "I", "<u8": "Q",
         "<f2": "e", "<f4": "f", "<f8": "d"}


def dtype_of(text):
    return TORCH.get(text.replace("torch.", ""), text)


def read_npy(data):
    """(shape, list of numbers) of a .npy file's bytes."""
    size = struct.unpack_from("<H", data, 8)[0] if data[6] == 1 else struct.unpack_from("<I", data, 8)[0]
    start = (10 if data[6] == 1 else 12)
    header = eval(data[start:start + size].decode(), {"__builtins__": {}})
    code = NUMPY[header["descr"]]
    assert not header["fortran_order"]
    body = data[start + size:]
    count = len(body) // struct.calcsize(code)
    return list(header["shape"]), list(struct.unpack("<%d%s" % (count, code), body))


def read_pt(data, dtype):
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        name = [n for n in archive.namelist() if n.endswith("/data/0")][0]
        body = archive.read(name)
    if dtype == "BFloat16":
        halves = struct.unpack("<%dH" % (len(body) // 2), body)
        return [struct.unpack("<f", struct.pack("<I", h << 16))[0] for h in halves]
    code = CODES[dtype]
    return list(struct.unpack("<%d%s" % (len(body) // struct.calcsize(code), code), body))


class Dump:
    def __init__(self, files, folder):
        self.files, self.folder = files, folder
        self.data = json.loads(files[folder + "/dump.json"])["data"]
        self.bench = {}
        with zipfile.ZipFile(io.BytesIO(files[folder + "/bench_f64.npz"])) as archive:
            for name in archive.namelist():
                self.bench[name[:-4]] = archive.read(name)
        self.drawn = None
        if folder + "/expected_inputs.npz" in files:
            self.drawn = zipfile.ZipFile(io.BytesIO(files[folder + "/expected_inputs.npz"]))

    def elements(self, element, place):
        dtype = dtype_of(element["dtype"])
        if self.drawn is not None:
            return read_npy(self.drawn.read(place + ".npy"))[1]
        if 0 in element["shape"]:
            return []
        data = self.files["%s/dump_tensor_data/%s" % (self.folder, element["data_name"])]
        return read_pt(data, dtype) if element["data_name"].endswith(".pt") else read_npy(data)[1]

    def tensor_words(self, element, place, wanted):
        dtype = dtype_of(element["dtype"])
        values = self.elements(element, place)
        kind = "d" if dtype in FLOATING else "q"
        if dtype == "UInt64":
            kind = "Q"
        words = ["tensor", DTYPES[dtype], int(wanted and dtype in FLOATING), len(element["shape"]), *element["shape"]]
        if values:
            words.append(array.array(kind, values if kind == "d" else [int(v) for v in values]).tobytes().hex())
        return words

    def words(self, element, place, wanted):
        """wanted(element, top): is the gradient of this tensor asked for?"""
        if element is None:
            return ["null"]
        if isinstance(element, list):
            words = ["list", len(element)]
            for i, item in enumerate(element):
                words += self.words(item, "%s.%d" % (place, i), lambda e, top: wanted(e, False))
            return words
        kind = element.get("type")
        if kind is None:
            return ["unknown"]
        if kind in ("mindspore.Tensor", "torch.Tensor"):
            return self.tensor_words(element, place, wanted(element, True))
        value = element["value"]
        if kind == "bool":
            return ["bool", int(value)]
        if kind == "int":
            return ["int", value]
        if kind == "float":
            return ["float", value.hex()]
        if kind == "str":
            return ["text", value]
        if kind in ("mindspore.dtype", "torch.dtype"):
            return ["dtype", DTYPES[dtype_of(value)]]
        raise ValueError(kind)

    def call_words(self, call, backward):
        forward = self.data[call + ".forward"]
        torch = self.folder.startswith("pt")

        def wanted(element, top):
            return backward and (element.get("requires_grad", False) if torch else top)
        first = forward["output"][0] if forward["output"] else None
        recorded = DTYPES.get(dtype_of(first["dtype"]), 0) if isinstance(first, dict) and "dtype" in first else 0
        rank = len(first["shape"]) if isinstance(first, dict) and "shape" in first else -1
        gradients = self.data[call + ".backward"]["input"] if backward else []
        words = ["call", call.rsplit(".", 1)[0], recorded, rank, len(forward["input_args"]), len(forward["input_kwargs"]),
                 len(gradients) if backward else -1]
        for i, element in enumerate(forward["input_args"]):
            words += self.words(element, "%s.forward.input.%d" % (call, i), wanted)
        for name, element in forward["input_kwargs"].items():
            words.append(name)
            words += self.words(element, "%s.forward.kwargs.%s" % (call, name),
                                wanted if torch else lambda e, top: False)
        for i, element in enumerate(gradients):
            words += self.words(element, "%s.backward.input.%d" % (call, i), lambda e, top: False)
        return words


class Driver:
    def __init__(self):
        self.process = subprocess.Popen([DRIVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, words):
        """(list of results, None) or (None, reason)"""
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        head = self.process.stdout.readline().split(" ", 1)
        if head[0] != "ok\n" and head[0] != "ok":
            return None, " ".join(head).strip() or "the driver died"
        return [self.read_value(self.process.stdout.readline().split()) for _ in range(int(head[1]))], None

    @staticmethod
    def read_value(words):
        if words[0] != "tensor":
            return None if words[0] == "null" else (words[0], float.fromhex(words[1]))
        dtype, rank = int(words[1]), int(words[2])
        shape = [int(w) for w in words[3:3 + rank]]
        data = bytes.fromhex(words[3 + rank]) if len(words) > 3 + rank else b""
        return shape, list(array.array("d" if dtype >= 12 else "q", data))

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        return self.process.wait()


def difference(expected, got):
    """Largest error in units of the slot's largest magnitude; None when they cannot be compared."""
    if not isinstance(got, tuple) or isinstance(got[0], str) or expected[0] != got[0]:
        return None
    top = max((abs(v) for v in expected[1] if v == v and abs(v) != float("inf")), default=0.0)
    worst = 0.0
    for a, b in zip(expected[1], got[1]):
        if a == b or (a != a and b != b):
            continue
        if a != a or b != b:
            return float("inf")
        worst = max(worst, abs(a - b) / top if top else float("inf"))
    return worst


def check(dump, driver, report):
    calls = {}
    for name in dump.bench:
        call, direction, _, slot = name.rsplit(".", 3)
        calls.setdefault((call, direction), []).append(int(slot))
    for (call, direction), slots in sorted(calls.items()):
        try:
            results, reason = driver.ask(dump.call_words(call, direction == "backward"))
        except ValueError as error:
            results, reason = None, "argument of type %s" % error
        results = [r for r in results or [] if r is not None]
        for slot in sorted(slots):
            name = "%s.%s.output.%d" % (call, direction, slot)
            error, why = None, reason
            if reason is None:
                if slot < len(results):
                    error = difference(read_npy(dump.bench[name]), results[slot])
                why = "another shape or no result" if error is None else "error %.3g" % error
            report["%s/%s" % (dump.folder, name)] = (error, why)


class Operators(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.report = {}
        with tarfile.open(ARCHIVE) as archive:
            files = {m.name: archive.extractfile(m).read() for m in archive if m.isfile()}
        driver = Driver()
        for folder in ("ms_tensor", "ms_edge", "ms_statistics", "pt_tensor"):
            check(Dump(files, folder), driver, cls.report)
        cls.exit = driver.close()
        with open(GAPS, encoding="utf-8") as file:
            cls.gaps = {line.split("#")[0].strip() for line in file} - {""}

    def test_every_slot_but_the_known_gaps(self):
        self.assertEqual(self.exit, 0)
        failed = {name: why for name, (error, why) in self.report.items()
                  if (error is None or not error <= TOLERANCE) and name not in self.gaps}
        good = [error for error, _ in self.report.values() if error is not None and error <= TOLERANCE]
        print("%d of %d slots within %g, worst %.3g" % (len(good), len(self.report), TOLERANCE, max(good)),
              file=sys.stderr)
        self.assertGreater(len(self.report), LEAST_SLOTS)
        self.assertFalse(failed, "\n".join("%s: %s" % item for item in sorted(failed.items())))

    def test_gaps_are_real(self):
        """A gap that was closed must leave the list, so that it stays closed."""
        closed = [name for name in self.gaps
                  if name not in self.report or (self.report[name][0] or 0) <= TOLERANCE
                  and self.report[name][0] is not None]
        self.assertFalse(closed)


if __name__ == "__main__":
    unittest.main()
