"""A compared table of the library and its fields, as views of its memory."""

from __future__ import annotations

import ctypes
import weakref
from ctypes import byref, c_double, c_int64, c_uint8, c_uint64, c_void_p, sizeof
from typing import Any, Optional

from ._library import Cell, Summary, Task, call, lib, text
from ._optional import numpy

TEXT, INTEGER, NUMBER = 1, 2, 3


def _list_fields() -> dict[str, tuple[int, int]]:
    found: dict[str, tuple[int, int]] = {}
    number = 1
    while True:
        name = lib.tdc_field_name(number)
        if name is None:
            return found
        found[text(name)] = (number, lib.tdc_field_type_of(number))
        number += 1


FIELDS = _list_fields()  # name: number and type, as the library that is loaded has them


def view(owner: Any, address: Optional[int], element: Any, count: int) -> Any:
    """Elements of the owner's memory, which keep it alive: a numpy array, or a memoryview."""
    memory = (element * count).from_address(address) if address and count else (element * 0)()
    memory.owner = owner
    if numpy is not None:
        array = numpy.frombuffer(memory, dtype=element) if count else numpy.zeros(0, dtype=element)
        array.flags.writeable = False
        return array
    code: Any = {c_double: "d", c_int64: "q", c_uint64: "Q", c_uint8: "B"}[element]
    return memoryview(memory).cast("B").cast(code).toreadonly()


class _Freed:
    """Objects of the library, freed in the order given when the last user has gone."""

    def __init__(self) -> None:
        self._entries: list[tuple[Any, c_void_p]] = []
        weakref.finalize(self, _free_all, self._entries)

    def add(self, free: Any, pointer: c_void_p) -> c_void_p:
        self._entries.append((free, pointer))
        return pointer


def _free_all(entries: list[tuple[Any, c_void_p]]) -> None:
    while entries:
        free, pointer = entries.pop()
        free(pointer)


Freed = _Freed


class Table:
    """The rows of one rank."""

    def __init__(self, owner: _Freed, pointer: c_void_p, match: c_void_p, task: Any) -> None:
        self.owner = owner
        self.pointer = pointer
        self.match = match
        self.task = task  # POINTER(Task); belongs to the tasks, which the owner holds
        self.rank = text(task.contents.rank)
        self.step = text(task.contents.step)
        self.rows: int = lib.tdc_table_rows(pointer)
        self.mode: int = lib.tdc_table_mode(pointer)

    def summary(self) -> Summary:
        summary = Summary()
        lib.tdc_table_summary(self.pointer, byref(summary), sizeof(summary))
        return summary

    def _pair(self, function: Any, name: str) -> tuple[Optional[int], Optional[int]]:
        first, second = c_void_p(), c_void_p()
        call(function, self.pointer, FIELDS[name][0], byref(first), byref(second))
        return first.value, second.value

    def values(self, name: str) -> Any:
        """A field of numbers or integers, not copied."""
        kind = FIELDS[name][1]
        function = lib.tdc_table_integers if kind == INTEGER else lib.tdc_table_numbers
        address, _ = self._pair(function, name)
        return view(self.owner, address, c_int64 if kind == INTEGER else c_double, self.rows)

    def valid(self, name: str) -> Any:
        """Bytes that are 1 where the row has such a number."""
        kind = FIELDS[name][1]
        function = lib.tdc_table_integers if kind == INTEGER else lib.tdc_table_numbers
        _, address = self._pair(function, name)
        return view(self.owner, address, c_uint8, self.rows)

    def text_memory(self, name: str) -> tuple[int, int, Any]:
        """Addresses of the bytes of all rows and of their offsets, and a view of the latter."""
        texts, offsets = self._pair(lib.tdc_table_texts, name)
        return texts or 0, offsets or 0, view(self.owner, offsets, c_uint64, self.rows + 1)

    def texts(self, name: str) -> list[str]:
        address, _, offsets = self.text_memory(name)
        at = offsets.tolist()
        whole = ctypes.string_at(address, at[-1]) if at and at[-1] else b""
        if whole.isascii():
            decoded = whole.decode("ascii")
            return [decoded[a:b] for a, b in zip(at, at[1:])]
        return [whole[a:b].decode("utf-8", "replace") for a, b in zip(at, at[1:])]

    def headings(self) -> list[str]:
        count = lib.tdc_table_columns(self.pointer)
        return [text(lib.tdc_table_column(self.pointer, i)) for i in range(count)]

    def cells(self, column: int) -> list[Any]:
        """A column as files show it, row by row: what is no field."""
        room = (Cell * lib.tdc_table_columns(self.pointer))()
        found: list[Any] = []
        for row in range(self.rows):
            call(lib.tdc_table_row, self.pointer, row, room)
            cell = room[column]
            if cell.kind == 1:
                found.append(ctypes.string_at(cell.text, cell.length).decode("utf-8", "replace"))
            else:
                found.append({2: cell.number, 3: cell.truth}.get(cell.kind))
        return found


def task_of(tasks: c_void_p, index: int) -> Any:
    return ctypes.cast(lib.tdc_tasks_get(tasks, index), ctypes.POINTER(Task))
