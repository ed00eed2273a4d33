"""A dump that tensors are compared with as they appear."""

from __future__ import annotations

import json
import math
from ctypes import byref, c_void_p, sizeof
from typing import Any

from .._arrays import Difference, Tensor, compare_taken
from .._library import DumpSource, PathLike, TdcmpError, call, lib, made, path_bytes, text
from .._options import Settings
from .._result import LEVELS
from .._table import Freed

_AGREE = ("same", "identical", "rounding", "close", "shown", "ignored", "allowed")


def agrees(found: dict[str, Any]) -> bool:
    return found["level"] in _AGREE


class Reference:
    """A dump that tensors are compared with as they appear."""

    def __init__(self, path: PathLike, step: int, rank: str, settings: Settings) -> None:
        self._settings = settings
        self._owner = Freed()
        files = made(lib.tdc_dump_files_find, path_bytes(path), byref(settings.options))
        self._owner.add(lib.tdc_dump_files_free, files)
        found = [lib.tdc_dump_files_get(files, i).contents for i in range(lib.tdc_dump_files_count(files))]
        place = self._choose([(text(f.path), text(f.folder)) for f in found], step, rank)
        dump = made(lib.tdc_dump_load, path_bytes(place))
        self._dump = self._owner.add(lib.tdc_dump_free, dump)
        self._tensors = text(lib.tdc_dump_task(dump)) == "tensor"
        self._records = {
            text(lib.tdc_dump_record_name(dump, i)): i for i in range(lib.tdc_dump_records(dump))
        }
        self._items: dict[str, Any] = {}
        self.digests = False  # it has checksums
        if not self._tensors:
            with open(place, encoding="utf-8") as file:
                self._walk_entries(json.load(file).get("data", {}))

    @staticmethod
    def _choose(found: list[tuple[str, str]], step: int, rank: str) -> str:
        """The dump of this step and rank; the only one there is does for any."""
        folders = [(path, folder.split("/")) for path, folder in found]
        for wanted in ({f"step{step}", rank}, {f"step{step}"}, {rank}):
            some = [path for path, folder in folders if wanted <= set(folder)]
            if len(some) == 1:
                return some[0]
        if len(folders) == 1:
            return folders[0][0]
        raise ValueError(f"against: {len(folders)} dumps, none of them for step{step}/{rank}")

    def _walk_entries(self, data: dict[str, Any]) -> None:
        words = {"input_args": "input", "input_kwargs": "kwargs", "parameters": "parameters"}
        for entry, members in data.items():
            for member, item in members.items() if isinstance(members, dict) else ():
                if "parameters_grad" in entry:
                    self._walk(f"{entry}.{member}", item[0] if isinstance(item, list) else item)
                else:
                    self._walk(f"{entry}.{words.get(member, member)}", item)

    def _walk(self, name: str, item: Any) -> None:
        if isinstance(item, dict) and isinstance(item.get("type"), str):
            self._items[name] = item
            self.digests = self.digests or "md5" in item
        elif isinstance(item, (dict, list)):
            pairs = item.items() if isinstance(item, dict) else enumerate(item)
            for key, value in pairs:
                self._walk(f"{name}.{key}", value)

    def compare(self, name: str, tensor: Tensor, item: dict[str, Any]) -> dict[str, Any]:
        """How the tensor differs: its level, and the numbers that there are."""
        if self._tensors:
            record = self._records.get(name)
            if record is None:
                return {"level": "unmatched"}
            try:
                found = compare_taken(tensor, self._settings, None, self._dump, record)
            except TdcmpError as error:
                return {"level": "error", "message": str(error)}
            return self._numbers(found)
        if name not in self._items:
            return {"level": "unmatched"}
        return {"level": self._by_statistics(item, self._items[name])}

    @staticmethod
    def _numbers(found: Difference) -> dict[str, Any]:
        numbers: dict[str, Any] = {"level": found.level}
        for name in ("cosine", "max_abs", "max_rel", "rmse", "distance", "worst"):
            value = getattr(found, name)
            numbers[name] = None if math.isnan(value) else value
        if found.message:
            numbers["message"] = found.message
        return numbers

    def _by_statistics(self, item: dict[str, Any], reference: dict[str, Any]) -> str:
        """The two as dumps of one call: the rules of statistics and checksums are the library's."""
        owner = Freed()
        sides: list[c_void_p] = []
        for one in (item, reference):
            one = {key: value for key, value in one.items() if key != "data_name"}
            data = {"task": "statistics", "data": {"Torch.tensor.0.forward": {"output": [one]}}}
            source, encoded = DumpSource(), json.dumps(data).encode()
            lib.tdc_dump_source_init(byref(source), sizeof(source), encoded, len(encoded))
            sides.append(owner.add(lib.tdc_dump_free, made(lib.tdc_dump_load_memory, byref(source))))
        options = byref(self._settings.options)
        match = owner.add(lib.tdc_match_free, made(lib.tdc_match_new, *sides, options))
        table = owner.add(lib.tdc_table_free, made(lib.tdc_table_new, match, options, None))
        call(lib.tdc_compare, (c_void_p * 1)(table), 1, options)
        return LEVELS[lib.tdc_table_class(table, 0)] if lib.tdc_table_rows(table) == 1 else "unmatched"
