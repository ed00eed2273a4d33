"""Makes dumps: tensor files as torch.save and numpy.save write them, and dump.json around them."""
import array
import io
import json
import os
import struct
import zipfile

# name -> (torch dtype, storage class, npy descr, struct letter)
DTYPES = {
    "f16": ("torch.float16", "HalfStorage", "<f2", "e"),
    "bf16": ("torch.bfloat16", "BFloat16Storage", None, None),
    "f32": ("torch.float32", "FloatStorage", "<f4", "f"),
    "f64": ("torch.float64", "DoubleStorage", "<f8", "d"),
    "i8": ("torch.int8", "CharStorage", "|i1", "b"),
    "u8": ("torch.uint8", "ByteStorage", "|u1", "B"),
    "i16": ("torch.int16", "ShortStorage", "<i2", "h"),
    "i32": ("torch.int32", "IntStorage", "<i4", "i"),
    "i64": ("torch.int64", "LongStorage", "<i8", "q"),
    "bool": ("torch.bool", "BoolStorage", "|b1", "?"),
    "c64": ("torch.complex64", "ComplexFloatStorage", "<c8", "f"),
    "c128": ("torch.complex128", "ComplexDoubleStorage", "<c16", "d"),
}
ELEMENT_SIZE = {"f16": 2, "bf16": 2, "f32": 4, "f64": 8, "i8": 1, "u8": 1, "i16": 2, "i32": 4, "i64": 8, "bool": 1,
                "c64": 8, "c128": 16}


def bf16_bits(value):
    """The bfloat16 nearest to a float, ties to even."""
    bits = struct.unpack("<I", struct.pack("<f", value))[0]
    if bits & 0x7FFFFFFF > 0x7F800000:
        return (bits >> 16) | 0x40
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16) & 0xFFFF


def pack(dtype, values):
    """The bytes of the elements, little-endian."""
    values = list(values)
    if dtype == "bf16":
        return b"".join(struct.pack("<H", bf16_bits(v)) for v in values)
    letter = DTYPES[dtype][3]
    if dtype in ("c64", "c128"):
        values = [part for v in values for part in (complex(v).real, complex(v).imag)]
    if letter in "fdbBhiq" and struct.calcsize(letter) == array.array(letter).itemsize:
        packed = array.array(letter, values)
        return packed.tobytes()
    return struct.pack("<%d%s" % (len(values), letter), *values)


def stored(dtype, values):
    """The values as the file holds them: rounded to the type."""
    data = pack(dtype, values)
    if dtype == "bf16":
        return [struct.unpack("<f", b"\0\0" + data[i:i + 2])[0] for i in range(0, len(data), 2)]
    letter = DTYPES[dtype][3]
    numbers = list(struct.unpack("<%d%s" % (len(data) // struct.calcsize(letter), letter), data))
    if dtype in ("c64", "c128"):
        return [complex(numbers[i], numbers[i + 1]) for i in range(0, len(numbers), 2)]
    return numbers


# ---- pickle by hand ----------------------------------------------------------------------------------------

def pickle_int(value):
    if 0 <= value < 256:
        return b"K" + bytes([value])
    if -2**31 <= value < 2**31:
        return b"J" + struct.pack("<i", value)
    return b"\x8a\x08" + struct.pack("<q", value)


def pickle_text(text):
    data = text.encode()
    return b"X" + struct.pack("<I", len(data)) + data


def pickle_tuple(values):
    return b"(" + b"".join(pickle_int(v) for v in values) + b"t"


def c_strides(shape):
    strides, step = [], 1
    for size in reversed(shape):
        strides.insert(0, step)
        step *= size
    return strides


def tensor_pickle(storage_class, shape, count, strides=None, offset=0, rebuild=b"ctorch._utils\n_rebuild_tensor_v2\n"):
    storage = (b"(" + pickle_text("storage") + b"ctorch\n" + storage_class.encode() + b"\n" + pickle_text("0") +
               pickle_text("cpu") + pickle_int(count) + b"tQ")
    return (b"\x80\x02" + rebuild + b"(" + storage + pickle_int(offset) + pickle_tuple(shape) +
            pickle_tuple(c_strides(shape) if strides is None else strides) + b"\x89ccollections\nOrderedDict\n)RtR.")


def torch_zip(pickle, storage, stem="archive", deflate=False, storage_length=None):
    """torch.save's archive: stored members, data at multiples of 64 by padding in the extra field.

    storage_length: a storage of so many zero bytes, left as a hole where the file system can.
    """
    out = io.BytesIO()
    method = zipfile.ZIP_DEFLATED if deflate else zipfile.ZIP_STORED
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, data in (("data.pkl", pickle), ("data/0", storage), ("version", b"3\n")):
            info = zipfile.ZipInfo("%s/%s" % (stem, name), (1980, 0 + 1, 1, 0, 0, 0))
            info.compress_type = method
            start = out.tell() + 30 + len(info.filename)
            padding = (64 - (start + 4) % 64) % 64
            info.extra = struct.pack("<HH", 0x4246, padding) + b"Z" * padding
            archive.writestr(info, data)
    return out.getvalue()


def pt_bytes(dtype, shape, data, strides=None, offset=0, deflate=False):
    """A .pt file; data are the bytes of the whole storage."""
    count = len(data) // ELEMENT_SIZE[dtype]
    return torch_zip(tensor_pickle(DTYPES[dtype][1], shape, count, strides, offset), data, deflate=deflate)


def npy_bytes(descr, shape, data, fortran=False, version=(1, 0)):
    shape_text = "(%s)" % ("".join("%d, " % s for s in shape).rstrip() if len(shape) > 1 else
                           "".join("%d," % s for s in shape))
    header = "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }" % (descr, fortran, shape_text)
    length = struct.Struct("<H" if version[0] == 1 else "<I")
    total = 8 + length.size + len(header) + 1
    header += " " * ((64 - total % 64) % 64) + "\n"
    return b"\x93NUMPY" + bytes(version) + length.pack(len(header)) + header.encode() + data


# ---- dump.json ---------------------------------------------------------------------------------------------

def item(dtype, shape, data_name=None, stats=(1.0, -1.0, 0.0, 2.0), requires_grad=False, **more):
    """A tensor as dump.json describes it."""
    found = {"type": "torch.Tensor", "dtype": DTYPES[dtype][0], "shape": list(shape)}
    found.update(zip(("Max", "Min", "Mean", "Norm"), stats))
    found["requires_grad"] = requires_grad
    if data_name is not None:
        found["data_name"] = data_name
    found.update(more)
    return found


class Dump:
    """One side. Entries keep their order; write() makes dump.json."""

    def __init__(self, folder, task="tensor", name="dump.json"):
        self.folder, self.task, self.name, self.data = folder, task, name, {}
        os.makedirs(os.path.join(folder, "dump_tensor_data"), exist_ok=True)

    def file(self, name, data):
        path = os.path.join(self.folder, "dump_tensor_data", name)
        with open(path, "wb") as file:
            file.write(data)
        return path

    def tensor_path(self, row):
        return os.path.join(self.folder, "dump_tensor_data", row + ".pt")

    def entry(self, name, **members):
        self.data[name] = members
        return self

    def call(self, api, part, found, shape=None, dtype="f32", suffix="pt", **more):
        """Adds a tensor to input_args or output of Functional.<api>.0.forward; returns its row name.

        found: the elements, or the bytes of a whole file.
        """
        entry = self.data.setdefault("Functional.%s.0.forward" % api, {})
        members = entry.setdefault({"input": "input_args"}.get(part, part), [])
        row = "Functional.%s.0.forward.%s.%d" % (api, part, len(members))
        if isinstance(found, bytes):
            data = found
        else:
            found = list(found)
            shape = [len(found)] if shape is None else shape
            data = pt_bytes(dtype, shape, pack(dtype, found))
        self.file("%s.%s" % (row, suffix), data)
        members.append(item(dtype, shape, "%s.%s" % (row, suffix), **more))
        return row

    def write(self, **more):
        whole = {"task": self.task, "level": "L1", "framework": "pytorch", "dump_data_dir": None, "data": self.data}
        whole.update(more)
        path = os.path.join(self.folder, self.name)
        with open(path, "w", encoding="utf-8") as file:
            json.dump(whole, file, ensure_ascii=False)
        return path


def statistics_dump(folder, rows, task="statistics"):
    """rows: {api: (Max, Min, Mean, Norm)}, one input each."""
    dump = Dump(folder, task)
    for api, stats in rows.items():
        dump.entry("Functional.%s.0.forward" % api, input_args=[item("f32", [2, 3], stats=stats)])
    return dump.write()
