"""The functions of msprobe's own Python interface: the same arguments, the same tables.

    from tdcmp.msprobe import compare, compare_distributed
"""

from __future__ import annotations

import json
import os
from ctypes import byref
from typing import Any, Optional, Union

from ._compare import compare_tasks
from ._library import ArgumentError, PathLike, call, lib, made, path_bytes, text
from ._options import Settings
from ._table import Freed, task_of

_PATHS = {
    "npu": ("npu_path", "npu_json_path"),
    "bench": ("bench_path", "bench_json_path"),
    "stack": ("stack_path", "stack_json_path"),
}


def _path_of(input_param: dict[str, Any], side: str) -> Optional[str]:
    for name in _PATHS[side]:
        if input_param.get(name):
            return str(input_param[name])
    return None


def _framework(npu: str) -> int:
    """As the first lines of the json say: 1 is PyTorch, 2 MindSpore."""
    try:
        with open(npu, "rb") as file:
            return 2 if b'"mindspore"' in file.read(4096) else 1
    except OSError:
        return 1


def _settings(npu: str, kwargs: dict[str, Any]) -> Settings:
    return Settings(
        kwargs.get("rules", "msprobe"),
        quiet=not kwargs.get("is_print_compare_log", True),
        fuzzy=bool(kwargs.get("fuzzy_match", False)),
        highlight=bool(kwargs.get("highlight", False)),
        data_mapping=kwargs.get("data_mapping"),
        cell_mapping=kwargs.get("cell_mapping"),
        api_mapping=kwargs.get("api_mapping"),
        layer_mapping=kwargs.get("layer_mapping"),
        framework=_framework(npu),
    )


def _run(npu: str, bench: str, output: PathLike, stack: Any, kwargs: dict[str, Any]) -> list[str]:
    settings = _settings(npu, kwargs)
    owner = Freed()
    tasks = made(lib.tdc_tasks_strict, path_bytes(npu), path_bytes(bench))
    owner.add(lib.tdc_tasks_free, tasks)
    if stack is not True:
        for index in range(lib.tdc_tasks_count(tasks)):
            task_of(tasks, index).contents.stack = None if stack is None else path_bytes(stack)
    folder = os.fspath(output)
    stamp = made(lib.tdc_stamp_new, path_bytes(folder))
    owner.add(lib.tdc_stamp_free, stamp)
    time = text(lib.tdc_stamp_text(stamp))
    result = compare_tasks(owner, tasks, settings, stack is not None, False)
    settings.warn()
    written = []
    suffix = kwargs.get("suffix", "")
    for table in result._tables:
        label = suffix or (f"_{table.rank}" if table.rank else "")
        stem = "debug_compare_result" if table.task.contents.debug else "compare_result"
        path = os.path.join(folder, f"{stem}{label}_{time}.xlsx")
        call(lib.tdc_table_write, table.pointer, 1, path_bytes(path))
        written.append(path)
        if kwargs.get("auto_analyze", True):
            advice = os.path.join(folder, f"advisor{label}_{time}.txt")
            call(lib.tdc_advice_write, table.pointer, path_bytes(advice))
            written.append(advice)
    return written


def compare(
    input_param: Union[dict[str, Any], PathLike],
    output_path: PathLike,
    stack_mode: bool = False,
    auto_analyze: bool = True,
    fuzzy_match: bool = False,
    highlight: bool = False,
    data_mapping: Optional[PathLike] = None,
    **kwargs: Any,
) -> list[str]:
    """Two dumps into OUTPUT/compare_result_TIME.xlsx and advisor_TIME.txt; returns their names.

    input_param: npu_path, bench_path, stack_path and is_print_compare_log (or npu_json_path and so
    on, as older versions call them), as a dict or as a json file. MindSpore: cell_mapping,
    api_mapping and layer_mapping are True or a yaml file. rules="msprobe26" is the table of 2026.
    """
    if not isinstance(input_param, dict):
        with open(input_param, encoding="utf-8") as file:
            input_param = json.load(file)
    if not isinstance(input_param, dict):
        raise ArgumentError("input_param should be dict, please check!", 2)
    npu, bench = _path_of(input_param, "npu"), _path_of(input_param, "bench")
    for name, path in (("npu_path", npu), ("bench_path", bench)):
        if path is None:
            raise ArgumentError(f"Missing {name} in input configuration file, please check!", 2)
    assert npu is not None and bench is not None
    printed = input_param.get("is_print_compare_log", True)
    if not isinstance(printed, bool):
        line = "Invalid input parameter, is_print_compare_log which should be only bool type."
        raise ArgumentError(line, 2)
    # Without a stack_path the stack.json beside the dump decides; with one stack_mode does.
    stack: Any = True
    if any(name in input_param for name in _PATHS["stack"]):
        stack = _path_of(input_param, "stack") if stack_mode else None
    kwargs.update(
        auto_analyze=auto_analyze,
        fuzzy_match=fuzzy_match,
        highlight=highlight,
        data_mapping=data_mapping,
        is_print_compare_log=printed,
    )
    return _run(npu, bench, output_path, stack, kwargs)


def compare_distributed(
    npu_dump_dir: PathLike, bench_dump_dir: PathLike, output_path: PathLike, **kwargs: Any
) -> list[str]:
    """All ranks of two step folders, each into compare_result_RANK_TIME.xlsx."""
    if kwargs.get("suffix"):
        raise ArgumentError("Argument 'suffix' is not supported for compare_distributed.", 2)
    return _run(os.fspath(npu_dump_dir), os.fspath(bench_dump_dir), output_path, True, kwargs)


__all__ = ["compare", "compare_distributed"]
