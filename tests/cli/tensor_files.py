"""Files of tensors made by hand: safetensors, npz, npy, state dicts of torch; for tests of `tdcmp diff`."""
import io
import json
import os
import struct
import zipfile

SIZES = {"F64": ("d", 8), "F32": ("f", 4), "I32": ("i", 4), "I64": ("q", 8), "U8": ("B", 1)}
NUMPY = {"F64": "<f8", "F32": "<f4", "I32": "<i4", "I64": "<i8", "U8": "|u1"}
STORAGE = {"F64": "Double", "F32": "Float", "I32": "Int", "I64": "Long", "U8": "Byte"}


def packed(values, dtype):
    return struct.pack("<%d%s" % (len(values), SIZES[dtype][0]), *values)


class Tensor:
    def __init__(self, values, shape=None, dtype="F32"):
        self.values, self.dtype = list(values), dtype
        self.shape = list(shape) if shape is not None else [len(self.values)]

    def changed(self, at, value):
        values = list(self.values)
        values[at] = value
        return Tensor(values, self.shape, self.dtype)


def write(path, data):
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)
    return path


def safetensors(path, tensors, before=b"", header=None):
    """before: bytes between header and the first tensor."""
    entries, data = {"__metadata__": {"format": "pt"}}, before
    for name, tensor in tensors.items():
        raw = packed(tensor.values, tensor.dtype)
        entries[name] = {"dtype": tensor.dtype, "shape": tensor.shape, "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = header if header is not None else json.dumps(entries).encode()
    return write(path, struct.pack("<Q", len(text)) + text + data)


GGML = {"F32": 0, "F64": 28, "I32": 26, "I64": 27, "Q4_0": 2}


def gguf(path, tensors, version=3, alignment=32):
    """quantised: (name, shape, type) in place of a tensor."""
    def text(value):
        return struct.pack("<Q", len(value)) + value.encode()

    settings = [text("general.name") + struct.pack("<I", 8) + text("test"),
                text("general.alignment") + struct.pack("<II", 4, alignment),
                text("tokens") + struct.pack("<IIQ", 9, 8, 2) + text("a") + text("bc"),
                text("scores") + struct.pack("<IIQ", 9, 6, 3) + struct.pack("<3f", 1, 2, 3)]
    infos, data = b"", b""
    for name, tensor in tensors.items():
        raw = packed(tensor.values, tensor.dtype) if isinstance(tensor, Tensor) else b"\0" * 18
        shape, kind = (tensor.shape, tensor.dtype) if isinstance(tensor, Tensor) else tensor
        infos += text(name) + struct.pack("<I", len(shape)) + struct.pack("<%dQ" % len(shape), *reversed(shape))
        infos += struct.pack("<IQ", GGML[kind], len(data))
        data += raw + b"\0" * (-len(raw) % alignment)
    head = b"GGUF" + struct.pack("<IQQ", version, len(tensors), len(settings)) + b"".join(settings) + infos
    return write(path, head + b"\0" * (-len(head) % alignment) + data)


def npy_bytes(tensor):
    shape = "(%s)" % "".join("%d, " % n for n in tensor.shape)
    head = ("{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (NUMPY[tensor.dtype], shape)).encode()
    head += b" " * (-(len(head) + 11) % 64) + b"\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head + packed(tensor.values, tensor.dtype)


def npy(path, tensor):
    return write(path, npy_bytes(tensor))


def npz(path, tensors, compressed=False):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED) as archive:
        for name, tensor in tensors.items():
            archive.writestr(name + ".npy", npy_bytes(tensor))
    return write(path, data.getvalue())


# ---- torch.save, protocol 2 ------------------------------------------------------------------------------------


def _text(text):
    raw = text.encode()
    return b"X" + struct.pack("<I", len(raw)) + raw


def _number(value):
    return b"J" + struct.pack("<i", value)


def _strides(shape):
    strides, step = [], 1
    for size in reversed(shape):
        strides.insert(0, step)
        step *= size
    return strides


def _pickle(value, storages):
    if isinstance(value, Tensor):
        key = str(len(storages))
        storages.append(packed(value.values, value.dtype))
        storage = b"(" + _text("storage") + b"ctorch\n%sStorage\n" % STORAGE[value.dtype].encode() + _text(key) \
            + _text("cpu") + _number(len(value.values)) + b"tQ"
        sizes = b"(" + b"".join(map(_number, value.shape)) + b"t"
        strides = b"(" + b"".join(map(_number, _strides(value.shape))) + b"t"
        return b"ctorch._utils\n_rebuild_tensor_v2\n(" + storage + _number(0) + sizes + strides + b"\x89}tR"
    if isinstance(value, dict):
        return b"}(" + b"".join(_pickle(k, storages) + _pickle(v, storages) for k, v in value.items()) + b"u"
    if isinstance(value, (list, tuple)):
        return b"](" + b"".join(_pickle(v, storages) for v in value) + b"e"
    if isinstance(value, Namespace):
        return b"cargparse\nNamespace\n)\x81" + _pickle(value.members, storages) + b"b"
    return _text(value) if isinstance(value, str) else _number(value)


class Namespace:
    """An object of a class that no reader may build."""

    def __init__(self, **members):
        self.members = members


def torch_file(path, value):
    storages, data = [], io.BytesIO()
    pickle = b"\x80\x02" + _pickle(value, storages) + b"."
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("archive/data.pkl", pickle)
        archive.writestr("archive/byteorder", "little")
        for number, raw in enumerate(storages):
            archive.writestr("archive/data/%d" % number, raw)
    return write(path, data.getvalue())


def index(path, weight_map):
    return write(path, json.dumps({"metadata": {}, "weight_map": weight_map}).encode())
