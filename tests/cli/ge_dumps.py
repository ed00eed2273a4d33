"""GE dump files, graph texts and npy files of FX, written by plain Python.

A tensor is (type, format, shape, original shape, bytes); FORMATS and TYPES have the numbers of the file format.
"""
import os
import struct

TYPES = {"undefined": 0, "f32": 1, "f16": 2, "i8": 3, "u8": 4, "i16": 5, "u16": 6, "i32": 7, "i64": 8, "u32": 9,
         "u64": 10, "bool": 11, "f64": 12, "string": 13, "bf16": 27, "int4": 28, "uint1": 29, "hif8": 33, "e5m2": 34,
         "e4m3": 35}
FORMATS = {"NCHW": 0, "NHWC": 1, "ND": 2, "NC1HWC0": 3, "FRACTAL_Z": 4, "HWCN": 16, "FRACTAL_NZ": 29, "NDC1HWC0": 32}
CODES = {"f32": "f", "f16": "e", "i8": "b", "u8": "B", "i16": "h", "u16": "H", "i32": "i", "i64": "q", "u32": "I",
         "u64": "Q", "bool": "?", "f64": "d"}
NUMPY = {"f32": "<f4", "f16": "<f2", "i8": "|i1", "u8": "|u1", "i16": "<i2", "i32": "<i4", "i64": "<i8", "bool": "|b1",
         "f64": "<f8", "u16": "<u2", "u32": "<u4", "u64": "<u8"}


def varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7f | 0x80)
        value >>= 7
    return bytes(out) + bytes([value])


def number(field, value):
    return varint(field << 3) + varint(value) if value else b""


def message(field, inside):
    return varint(field << 3 | 2) + varint(len(inside)) + inside


def shape_message(field, dims):
    return message(field, message(1, b"".join(map(varint, dims))))


def packed(kind, values):
    return struct.pack("<%d%s" % (len(values), CODES[kind]), *values)


def tensor(kind, shape, values=None, layout="ND", original=None, data=None):
    if data is None:
        data = packed(kind, values)
    return TYPES[kind], FORMATS[layout], list(shape), list(shape if original is None else original), data


def item(one, output):
    kind, layout, shape, original, data = one
    return (number(1, kind) + number(2, layout) + shape_message(3, shape) + number(6 if output else 5, len(data)) +
            shape_message(7 if output else 6, original))


def ge_bytes(inputs, outputs, name="op"):
    header = message(1, b"2.0") + number(2, 1743588000000000)
    header += b"".join(message(3, item(one, True)) for one in outputs)
    header += b"".join(message(4, item(one, False)) for one in inputs)
    header += message(6, name.encode())
    return struct.pack("<Q", len(header)) + header + b"".join(one[4] for one in list(inputs) + list(outputs))


def write(path, data):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)
    return path


def write_ge(path, inputs, outputs):
    return write(path, ge_bytes(inputs, outputs))


def npy_bytes(kind, shape, values):
    text = "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }" % (
        NUMPY[kind], ", ".join(map(str, shape)) + ("," if len(shape) == 1 else ""))
    text += " " * (-(len(text) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\0" + struct.pack("<H", len(text)) + text.encode() + packed(kind, values)


def write_npy(path, kind, shape, values):
    return write(path, npy_bytes(kind, shape, values))


def fractal_nz(rows, columns, values, size=16):
    """Values in C order as a matrix of blocks, (C1, N1, N0, C0); padding is 99."""
    c1, n1 = -(-columns // size), -(-rows // size)
    out = [99] * (c1 * n1 * size * size)
    for r in range(rows):
        for c in range(columns):
            out[(c // size * n1 * size + r) * size + c % size] = values[r * columns + c]
    return [c1, n1, size, size], out


def graph_text(ops, head='name: "graph_1"\n'):
    """ops: (name, type, inputs, [FX names of its outputs or None])."""
    lines = [head]
    for name, kind, inputs, outputs in ops:
        lines.append('op {\n  name: "%s"\n  type: "%s"\n' % (name, kind))
        lines += ['  input: "%s"\n' % source for source in inputs]
        for fx in outputs:
            lines.append('  output_desc {\n    name: "y"\n    dtype: DT_FLOAT\n')
            if fx is not None:
                lines.append('    attr {\n      key: "_fx_tensor_name"\n      value {\n        s: "%s"\n      }\n    }\n' % fx)
            lines.append("  }\n")
        lines.append("}\n")
    return "".join(lines)
