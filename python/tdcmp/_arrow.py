"""Tables as a stream of Arrow's C data interface: numbers and texts lie where the library has them."""

from __future__ import annotations

import ctypes
from ctypes import CFUNCTYPE, POINTER, Structure, c_char_p, c_int, c_int64, c_void_p, pointer
from typing import Any, Optional

from ._optional import numpy
from ._table import INTEGER, NUMBER, TEXT, Table


class Schema(Structure):
    pass


class Array(Structure):
    pass


class Stream(Structure):
    pass


_ReleaseSchema = CFUNCTYPE(None, POINTER(Schema))
_ReleaseArray = CFUNCTYPE(None, POINTER(Array))
_ReleaseStream = CFUNCTYPE(None, POINTER(Stream))
_GetSchema = CFUNCTYPE(c_int, POINTER(Stream), POINTER(Schema))
_GetNext = CFUNCTYPE(c_int, POINTER(Stream), POINTER(Array))
# The address of a text, or none: a result of type c_char_p is not possible for a callback.
_GetLastError = CFUNCTYPE(c_void_p, POINTER(Stream))

Schema._fields_ = [
    ("format", c_char_p),
    ("name", c_char_p),
    ("metadata", c_char_p),
    ("flags", c_int64),
    ("n_children", c_int64),
    ("children", POINTER(POINTER(Schema))),
    ("dictionary", c_void_p),
    ("release", _ReleaseSchema),
    ("private_data", c_void_p),
]
Array._fields_ = [
    ("length", c_int64),
    ("null_count", c_int64),
    ("offset", c_int64),
    ("n_buffers", c_int64),
    ("n_children", c_int64),
    ("buffers", POINTER(c_void_p)),
    ("children", POINTER(POINTER(Array))),
    ("dictionary", c_void_p),
    ("release", _ReleaseArray),
    ("private_data", c_void_p),
]
Stream._fields_ = [
    ("get_schema", _GetSchema),
    ("get_next", _GetNext),
    ("get_last_error", _GetLastError),
    ("release", _ReleaseStream),
    ("private_data", c_void_p),
]

_FORMATS = {TEXT: b"U", INTEGER: b"l", NUMBER: b"g"}
_NULLABLE = 2

# What has been handed out and not been released yet.
_held: dict[int, Any] = {}
_number = 0


def _hold(thing: Any) -> int:
    global _number
    _number += 1
    _held[_number] = thing
    return _number


def _drop_schema(schema: Any) -> None:
    for i in range(schema.contents.n_children):
        child = schema.contents.children[i]
        if child.contents.release:
            child.contents.release(child)
    _held.pop(schema.contents.private_data, None)
    ctypes.memset(ctypes.byref(schema.contents, Schema.release.offset), 0, ctypes.sizeof(c_void_p))


def _drop_array(array: Any) -> None:
    for i in range(array.contents.n_children):
        child = array.contents.children[i]
        if child.contents.release:
            child.contents.release(child)
    _held.pop(array.contents.private_data, None)
    ctypes.memset(ctypes.byref(array.contents, Array.release.offset), 0, ctypes.sizeof(c_void_p))


_release_schema = _ReleaseSchema(_drop_schema)
_release_array = _ReleaseArray(_drop_array)


def _fill_schema(schema: Any, form: bytes, name: bytes, children: list[Any]) -> None:
    pointers = (POINTER(Schema) * len(children))(*[pointer(child) for child in children])
    schema.format, schema.name, schema.metadata, schema.flags = form, name, None, _NULLABLE
    schema.n_children = len(children)
    schema.children = ctypes.cast(pointers, POINTER(POINTER(Schema))) if children else None
    schema.dictionary = None
    schema.release = _release_schema
    schema.private_data = _hold((form, name, children, pointers))


def _fill_array(
    array: Any, length: int, nulls: int, buffers: list[Optional[int]], children: list[Any], kept: Any
) -> None:
    addresses = (c_void_p * len(buffers))(*buffers)
    pointers = (POINTER(Array) * len(children))(*[pointer(child) for child in children])
    array.length, array.null_count, array.offset = length, nulls, 0
    array.n_buffers, array.n_children = len(buffers), len(children)
    array.buffers = ctypes.cast(addresses, POINTER(c_void_p))
    array.children = ctypes.cast(pointers, POINTER(POINTER(Array))) if children else None
    array.dictionary = None
    array.release = _release_array
    array.private_data = _hold((addresses, children, pointers, kept))


def _bits(valid: Any, rows: int) -> tuple[int, Any, Optional[int]]:
    """How many rows have none, and the bitmap of the others with its address."""
    if numpy is not None:
        nulls = rows - int(numpy.count_nonzero(valid))
        if nulls == 0:
            return 0, None, None
        packed = numpy.packbits(valid, bitorder="little")
        return nulls, packed, packed.ctypes.data
    raw = bytes(valid)
    nulls = raw.count(0)
    if nulls == 0:
        return 0, None, None
    room = bytearray((rows + 7) // 8)
    for row, flag in enumerate(raw):
        if flag:
            room[row >> 3] |= 1 << (row & 7)
    memory = (ctypes.c_ubyte * len(room)).from_buffer(room)
    return nulls, memory, ctypes.addressof(memory)


def _numbers(array: Any, table: Table, name: str) -> None:
    values = table.values(name)
    nulls, kept, bitmap = _bits(table.valid(name), table.rows)
    address = values.ctypes.data if numpy is not None else None
    if address is None:
        memory = values.obj
        address = ctypes.addressof(memory)
    _fill_array(array, table.rows, nulls, [bitmap, address], [], (table.owner, values, kept))


def _texts(array: Any, table: Table, name: str) -> None:
    address, offsets, _ = table.text_memory(name)
    _fill_array(array, table.rows, 0, [None, offsets, address], [], table.owner)


def _repeated(array: Any, value: str, rows: int) -> None:
    encoded = value.encode()
    memory = ctypes.create_string_buffer(encoded * rows)
    offsets = (c_int64 * (rows + 1))(*range(0, len(encoded) * rows + 1, max(len(encoded), 1)))
    if not encoded:
        offsets = (c_int64 * (rows + 1))()
    buffers: list[Optional[int]] = [None, ctypes.addressof(offsets), ctypes.addressof(memory)]
    _fill_array(array, rows, 0, buffers, [], (memory, offsets))


class Export:
    """A stream of some fields of tables, a batch for each table."""

    def __init__(self, tables: list[Table], fields: list[tuple[str, int]], labels: bool) -> None:
        self.tables = tables
        self.fields = fields
        self.labels = ["step", "rank"] if labels else []
        self.next = 0
        self.callbacks: list[Any] = []

    def schema(self, schema: Any) -> None:
        children = []
        for label in self.labels:
            children.append(Schema())
            _fill_schema(children[-1], b"U", label.encode(), [])
        for name, kind in self.fields:
            children.append(Schema())
            _fill_schema(children[-1], _FORMATS[kind], name.encode(), [])
        _fill_schema(schema, b"+s", b"", children)

    def batch(self, array: Any) -> None:
        table = self.tables[self.next]
        self.next += 1
        children = []
        for label in self.labels:
            children.append(Array())
            _repeated(children[-1], getattr(table, label), table.rows)
        for name, kind in self.fields:
            children.append(Array())
            (_texts if kind == TEXT else _numbers)(children[-1], table, name)
        _fill_array(array, table.rows, 0, [None], children, table.owner)


def make_stream(tables: list[Table], fields: list[tuple[str, int]], labels: bool) -> Any:
    """A capsule with the stream, as __arrow_c_stream__ returns it."""
    export = Export(tables, fields, labels)
    stream = Stream()
    failure: list[Any] = []

    def guarded(work: Any, argument: Any) -> int:
        try:
            work(argument)
            return 0
        except Exception as error:  # Arrow asks for the text
            failure.append(ctypes.create_string_buffer(str(error).encode()))
            return 5

    def get_schema(_stream: Any, schema: Any) -> int:
        return guarded(export.schema, schema.contents)

    def get_next(_stream: Any, array: Any) -> int:
        if export.next >= len(export.tables):
            ctypes.memset(array, 0, ctypes.sizeof(Array))
            return 0
        return guarded(export.batch, array.contents)

    def last_error(_stream: Any) -> Optional[int]:
        return ctypes.addressof(failure[-1]) if failure else None

    def release(given: Any) -> None:
        _held.pop(given.contents.private_data, None)
        ctypes.memset(
            ctypes.byref(given.contents, Stream.release.offset), 0, ctypes.sizeof(c_void_p)
        )

    stream.get_schema = _GetSchema(get_schema)
    stream.get_next = _GetNext(get_next)
    stream.get_last_error = _GetLastError(last_error)
    stream.release = _ReleaseStream(release)
    callbacks = [stream.get_schema, stream.get_next, stream.get_last_error, stream.release]
    stream.private_data = _hold((stream, export, callbacks, failure))
    return _capsule(stream)


_NAME = b"arrow_array_stream"
_CapsuleDestructor = CFUNCTYPE(None, c_void_p)
_get_pointer = ctypes.PYFUNCTYPE(c_void_p, c_void_p, c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


def _drop_stream(capsule: Any) -> None:
    """Of a capsule that nobody has taken the stream from."""
    address = _get_pointer(capsule, _NAME)
    if address:
        stream = ctypes.cast(address, POINTER(Stream))
        if stream.contents.release:
            stream.contents.release(stream)


_destroy = _CapsuleDestructor(_drop_stream)


def _capsule(stream: Stream) -> Any:
    new = ctypes.pythonapi.PyCapsule_New
    new.restype = ctypes.py_object
    new.argtypes = [c_void_p, c_char_p, _CapsuleDestructor]
    return new(ctypes.addressof(stream), _NAME, _destroy)
