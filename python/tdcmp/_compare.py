"""Comparing dumps; which record faces which; where differences begin."""

from __future__ import annotations

import json
from ctypes import byref, c_size_t, c_uint64, c_void_p
from typing import Any, Optional

from ._library import PathLike, call, lib, made, optional_path, path_bytes, run_long, text
from ._optional import package
from ._options import MappingArgument, ProgressArgument, Settings
from ._result import Result
from ._table import Freed, Table, task_of

_NO_RECORD = c_size_t(-1).value


class _Pair:
    """One pair of dumps, loaded and matched."""

    def __init__(self, owner: Freed, tasks: c_void_p, index: int, settings: Settings) -> None:
        self.task = task_of(tasks, index)
        npu, bench = c_void_p(), c_void_p()
        call(lib.tdc_task_load, self.task, byref(npu), byref(bench))
        self.npu = owner.add(lib.tdc_dump_free, npu)
        self.bench = owner.add(lib.tdc_dump_free, bench)
        found = made(lib.tdc_match_new, npu, bench, byref(settings.options))
        self.match = owner.add(lib.tdc_match_free, found)


def _find(
    owner: Freed, test: PathLike, ref: PathLike, step: Optional[int], settings: Settings
) -> c_void_p:
    tasks = made(
        lib.tdc_tasks_find,
        path_bytes(test),
        path_bytes(ref),
        -1 if step is None else step,
        byref(settings.options),
    )
    return owner.add(lib.tdc_tasks_free, tasks)


def compare_tasks(
    owner: Freed, tasks: c_void_p, settings: Settings, stacks: bool, allow_unmatched: bool
) -> Result:
    """Compares all tasks in one run over all threads."""
    tables: list[Table] = []

    def work() -> None:
        for index in range(lib.tdc_tasks_count(tasks)):
            pair = _Pair(owner, tasks, index, settings)
            stack = pair.task.contents.stack if stacks else None
            pointer = made(lib.tdc_table_new, pair.match, byref(settings.options), stack)
            owner.add(lib.tdc_table_free, pointer)
            tables.append(Table(owner, pointer, pair.match, pair.task))
            rows, size = c_uint64(), c_uint64()
            lib.tdc_table_work(pointer, byref(rows), byref(size))
            settings.progress.rows += rows.value
            settings.progress.bytes += size.value
        pointers = (c_void_p * len(tables))(*[table.pointer for table in tables])
        call(lib.tdc_compare, pointers, len(tables), byref(settings.options))

    run_long(work, settings.cancel)
    settings.progress.end()
    return Result(owner, tables, allow_unmatched, lib.tdc_tasks_left_out(tasks))


def compare(
    test: PathLike,
    ref: PathLike,
    rules: str = "sound",
    layer_mapping: MappingArgument = None,
    progress: ProgressArgument = False,
    *,
    step: Optional[int] = None,
    api_mapping: MappingArgument = None,
    cell_mapping: MappingArgument = None,
    data_mapping: Optional[PathLike] = None,
    fuzzy: bool = False,
    statistics: bool = False,
    highlight: Optional[bool] = None,
    stacks: bool = True,
    allow_unmatched: bool = False,
    atol: Optional[float] = None,
    rtol: Optional[float] = None,
    cos: Optional[float] = None,
    tolerance: Optional[PathLike] = None,
    threads: int = 0,
    io: str = "auto",
    device: str = "auto",
) -> Result:
    """Compares two dumps: files, ranks, steps or dump roots, as `tdcmp compare` does.

    rules: "sound", "msprobe" or "msprobe26". Mappings: True for the rules that are built in, or a
    yaml file. progress: True for a line on stderr, or a function of the rows done, all rows, the
    bytes done and all bytes.
    """
    settings = Settings(
        rules,
        threads,
        progress,
        layer_mapping=layer_mapping,
        api_mapping=api_mapping,
        cell_mapping=cell_mapping,
        data_mapping=data_mapping,
        fuzzy=fuzzy,
        statistics=statistics,
        highlight=highlight,
        allow_unmatched=allow_unmatched,
        atol=atol,
        rtol=rtol,
        cos=cos,
        tolerance=tolerance,
        io=io,
        device=device,
    )
    owner = Freed()
    tasks = _find(owner, test, ref, step, settings)
    result = compare_tasks(owner, tasks, settings, stacks, allow_unmatched)
    settings.warn()
    return result


class Match:
    """Which record faces which. `pairs` has the two names, None where there is no partner, and the
    reason of each; `suggestion` a layer mapping that would pair more (yaml)."""

    def __init__(self, method: str, pairs: list[tuple[Any, Any, str]], suggestion: str) -> None:
        self.method = method
        self.pairs = pairs
        self.suggestion = suggestion

    def __len__(self) -> int:
        return len(self.pairs)

    @property
    def unmatched(self) -> list[tuple[Any, Any, str]]:
        return [pair for pair in self.pairs if pair[0] is None or pair[1] is None]

    def to_pandas(self) -> Any:
        return package("pandas").DataFrame(self.pairs, columns=["test", "ref", "reason"])

    def __repr__(self) -> str:
        return f"<tdcmp.Match by {self.method}: {len(self)} rows, {len(self.unmatched)} alone>"


def _names(pair: _Pair) -> list[tuple[Any, Any, str]]:
    found = []
    npu, bench = c_size_t(), c_size_t()
    for row in range(lib.tdc_match_pairs(pair.match)):
        lib.tdc_match_pair(pair.match, row, byref(npu), byref(bench))
        names = [
            None if record.value == _NO_RECORD else text(lib.tdc_dump_record_name(dump, record))
            for dump, record in ((pair.npu, npu), (pair.bench, bench))
        ]
        found.append((names[0], names[1], text(lib.tdc_match_reason(pair.match, row))))
    return found


def match(
    test: PathLike,
    ref: PathLike,
    rules: str = "sound",
    layer_mapping: MappingArgument = None,
    *,
    step: Optional[int] = None,
    api_mapping: MappingArgument = None,
    cell_mapping: MappingArgument = None,
    data_mapping: Optional[PathLike] = None,
    fuzzy: bool = False,
) -> Match:
    """Which row of one dump faces which of the other, and why; nothing is compared."""
    settings = Settings(
        rules,
        layer_mapping=layer_mapping,
        api_mapping=api_mapping,
        cell_mapping=cell_mapping,
        data_mapping=data_mapping,
        fuzzy=fuzzy,
    )
    owner = Freed()
    tasks = _find(owner, test, ref, step, settings)
    methods, pairs, suggestions = [], [], []
    for index in range(lib.tdc_tasks_count(tasks)):
        pair = _Pair(owner, tasks, index, settings)
        methods.append(text(lib.tdc_match_method(pair.match)))
        pairs.extend(_names(pair))
        suggestions.append(text(lib.tdc_match_suggest(pair.match, None)))
    settings.warn()
    return Match(methods[0] if methods else "", pairs, "".join(dict.fromkeys(suggestions)))


class Trace:
    """Where two runs begin to differ: `data` is the JSON of `tdcmp trace`, `text` the same for a
    person, `origins` the calls that start it, `missing` how much could not be read."""

    def __init__(self, written: str, data: Any, origins: int, missing: int) -> None:
        self.text = written
        self.data = data
        self.count = origins
        self.missing = missing

    @property
    def origins(self) -> list[Any]:
        found = self.data.get("origins", [])
        return list(found)

    def __bool__(self) -> bool:
        return self.count != 0

    def __repr__(self) -> str:
        return self.text


def trace(
    test: PathLike,
    ref: PathLike,
    *,
    step: Optional[int] = None,
    start: Optional[str] = None,
    top: int = 5,
    truth: Optional[PathLike] = None,
    layer_mapping: MappingArgument = None,
    data_mapping: Optional[PathLike] = None,
    fuzzy: bool = False,
    threads: int = 0,
    progress: ProgressArgument = False,
) -> Trace:
    """Finds the calls with which differences begin, over all ranks, and judges the first `top` of
    them by the float64 reference. start: only calls from this one on. truth: a third, more exact
    run, which settles what side is nearer where it has the tensor."""
    settings = Settings(
        "sound",
        threads,
        progress,
        layer_mapping=layer_mapping,
        data_mapping=data_mapping,
        fuzzy=fuzzy,
    )
    owner = Freed()
    tasks = _find(owner, test, ref, step, settings)
    found = c_void_p()

    def work() -> None:
        first = None if start is None else start.encode()
        third = optional_path(truth)
        call(
            lib.tdc_trace_truth, tasks, first, top, third, byref(settings.options), None, byref(found)
        )

    run_long(work, settings.cancel)
    settings.progress.end()
    owner.add(lib.tdc_trace_free, found)
    settings.warn()
    data = json.loads(text(lib.tdc_trace_json(found)) or "{}")
    written = text(lib.tdc_trace_text(found))
    return Trace(written, data, lib.tdc_trace_origins(found), lib.tdc_trace_missing(found))
