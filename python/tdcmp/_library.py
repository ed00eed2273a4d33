"""libtdcmp through ctypes: where it is found, its structs and functions, failures as exceptions.

ctypes lets go of the interpreter's lock while a function of the library runs. A long one runs on a
thread of its own, so that the main thread keeps noticing Ctrl-C.
"""

from __future__ import annotations

import ctypes
import os
import threading
from ctypes import (
    CFUNCTYPE,
    POINTER,
    Structure,
    byref,
    c_bool,
    c_char,
    c_char_p,
    c_double,
    c_int,
    c_int64,
    c_size_t,
    c_uint,
    c_uint8,
    c_uint32,
    c_uint64,
    c_void_p,
)
from pathlib import Path
from typing import Any, Callable, Optional, Union

PathLike = Union[str, "os.PathLike[str]"]

# ---- failures ------------------------------------------------------------------------------------

STATUS_NAMES = {
    0: "OK",
    1: "MEMORY",
    2: "ARGUMENT",
    10: "NOT_FOUND",
    11: "READ",
    12: "CHANGED",
    13: "WRITE",
    20: "FORMAT",
    21: "UNSUPPORTED",
    22: "REFUSED",
    30: "MISMATCH",
    31: "NOTHING",
    40: "INTERRUPTED",
    50: "SYSTEM",
    51: "DEVICE",
}


class TdcmpError(Exception):
    """A function of the library failed; `status` is its code, `name` that in words ("NOT_FOUND")."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.name = STATUS_NAMES.get(status, str(status))

    def __str__(self) -> str:
        return self.message


class ArgumentError(TdcmpError, ValueError):
    """A wrong option or combination of options."""


class NotFoundError(TdcmpError, FileNotFoundError):
    """No such file or folder."""


class InterruptedRun(TdcmpError):
    """The run was cancelled."""


_KINDS: dict[int, type[TdcmpError]] = {2: ArgumentError, 10: NotFoundError, 40: InterruptedRun}


def failure(message: str, status: int) -> TdcmpError:
    return _KINDS.get(status, TdcmpError)(message, status)


# ---- structs of the header -----------------------------------------------------------------------


class Error(Structure):
    _fields_ = [("status", c_int), ("message", c_char * 1024)]


class Cancel(Structure):
    _fields_ = [("state", c_uint32)]


class Mapping(Structure):
    _fields_ = [("use", c_bool), ("file", c_char_p)]


class Tolerance(Structure):
    _fields_ = [
        ("elements", c_bool),
        ("atol", c_double),
        ("rtol", c_double),
        ("use_cosine", c_bool),
        ("cosine", c_double),
    ]


MessageFunction = CFUNCTYPE(None, c_void_p, c_int, c_char_p)
ProgressFunction = CFUNCTYPE(None, c_void_p, c_uint64, c_uint64)
CallsFunction = CFUNCTYPE(None, c_void_p, c_uint64)
RowFunction = CFUNCTYPE(None, c_void_p, c_void_p, c_size_t)


class Options(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("rules", c_int),
        ("flags", c_uint),
        ("framework", c_int),
        ("threads", c_int),
        ("io", c_int),
        ("data_mapping", c_char_p),
        ("api_mapping", Mapping),
        ("cell_mapping", Mapping),
        ("layer_mapping", Mapping),
        ("device", c_char_p),
        ("context", c_void_p),
        ("message", MessageFunction),
        ("progress", ProgressFunction),
        ("row", RowFunction),
        ("cancel", POINTER(Cancel)),
        ("products", c_char_p),
        ("consistent", c_int),
        ("command", POINTER(c_char_p)),
        ("command_words", c_size_t),
        ("tolerance", Tolerance),
        ("tolerance_file", c_char_p),
    ]


class Task(Structure):
    _fields_ = [
        ("npu", c_char_p),
        ("bench", c_char_p),
        ("stack", c_char_p),
        ("rank", c_char_p),
        ("step", c_char_p),
        ("folder", c_char_p),
        ("debug", c_bool),
        ("graph", c_void_p),
    ]


class Summary(Structure):
    _fields_ = [
        ("rows", c_uint64),
        ("origins", c_uint64),
        ("entering", c_uint64),
        ("tensors", c_uint64),
        ("no_data", c_uint64),
        ("bytes", c_uint64),
        ("seconds", c_double),
        ("classes", c_uint64 * 32),
        ("coloured", c_uint64 * 8),
        ("calls", c_uint64),
        ("different_calls", c_uint64),
        ("different_arguments", c_uint64),
    ]


class Cell(Structure):
    _fields_ = [
        ("kind", c_int),
        ("truth", c_bool),
        ("number", c_double),
        ("text", c_void_p),
        ("length", c_size_t),
    ]


class Buffer(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("dtype", c_int),
        ("dimensions", c_uint),
        ("data", c_void_p),
        ("shape", POINTER(c_int64)),
        ("strides", POINTER(c_int64)),
    ]


_COUNTS = ("n_nan", "n_inf", "b_nan", "b_inf")
_SHARES = ("below_thousandth", "below_five_thousandths", "below_hundredth", "below_tenth")


class DifferenceNumbers(Structure):
    _fields_ = [
        ("row_class", c_int),
        ("computed", c_bool),
        ("located", c_bool),
        ("elements", c_uint64),
        ("finite", c_uint64),
        *[(name, c_uint64) for name in _COUNTS],
        *[(name, c_double) for name in ("cosine", "euclidean", "max_abs", "max_rel", *_SHARES)],
        *[(name, c_double) for name in ("mean_abs", "rmse", "distance", "worst")],
        *[(name, c_double) for name in ("n_min", "n_max", "b_min", "b_max")],
        ("max_abs_at", c_uint64),
        ("max_rel_at", c_uint64),
        *[(name, c_double) for name in ("max_abs_n", "max_abs_b", "max_rel_n", "max_rel_b")],
        ("message", c_char * 1024),
    ]


class TensorStatistics(Structure):
    _fields_ = [
        ("elements", c_uint64),
        ("nan", c_uint64),
        ("inf", c_uint64),
        ("max", c_double),
        ("min", c_double),
        ("mean", c_double),
        ("norm", c_double),
        ("crc", c_uint32),
    ]


class DumpSource(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("name", c_char_p),
        ("json", c_char_p),
        ("json_length", c_size_t),
        ("stack", c_char_p),
        ("stack_length", c_size_t),
        ("construct", c_char_p),
        ("construct_length", c_size_t),
        ("tensors", c_char_p),
    ]


class HtmlOptions(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("flags", c_uint),
        ("threads", c_int),
        ("rows", c_size_t),
        ("classes", c_uint),
        ("command", c_char_p),
        ("time", c_char_p),
    ]


class PrecheckRow(Structure):
    _fields_ = [
        ("call", c_char_p),
        ("api", c_char_p),
        ("backward", c_bool),
        ("measured", c_bool),
        ("slot", c_size_t),
        ("verdict", c_int),
        ("bench_dtype", c_char_p),
        ("tested_dtype", c_char_p),
        ("shape", c_char_p),
        ("message", c_char_p),
        ("cosine", c_double),
        ("max_abs", c_double),
        ("max_relative", c_double),
        ("max_ulp", c_double),
        ("max_abs_at", c_uint64),
    ]


PrecheckRowFunction = CFUNCTYPE(None, c_void_p, POINTER(PrecheckRow))


class PrecheckOptions(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("profile", c_int),
        ("flags", c_uint),
        ("bench_round", c_int),
        ("standard", c_int),
        ("tested", c_int),
        ("threads", c_int),
        ("lanes", c_int),
        ("max_abs_err", c_double),
        ("cosine", c_double),
        ("output", c_char_p),
        ("result_csv", c_char_p),
        ("error_data", c_char_p),
        ("white_list", POINTER(c_char_p)),
        ("black_list", POINTER(c_char_p)),
        ("white_count", c_size_t),
        ("black_count", c_size_t),
        ("context", c_void_p),
        ("message", MessageFunction),
        ("progress", CallsFunction),
        ("cancel", POINTER(Cancel)),
        ("row", PrecheckRowFunction),
    ]


class PrecheckCounts(Structure):
    _fields_ = [(name, c_uint64) for name in ("records", "checked", "failing", "skipped")]


class PrecheckSummary(Structure):
    _fields_ = [
        ("calls", c_uint64),
        ("forward", PrecheckCounts),
        ("backward", PrecheckCounts),
        ("unsupported", c_uint64),
        ("unreadable", c_uint64),
    ]


class DumpFile(Structure):
    _fields_ = [("path", c_char_p), ("folder", c_char_p)]


# ---- functions -----------------------------------------------------------------------------------

_E = POINTER(Error)
_O = POINTER(Options)
_P = c_void_p
_PP = POINTER(c_void_p)
_B = POINTER(Buffer)

# name: (result, arguments). Results of type c_int are statuses unless the name is in _PLAIN.
_FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "tdc_version": (c_char_p, []),
    "tdc_cpu_name": (c_char_p, []),
    "tdc_cancel_set": (None, [POINTER(Cancel)]),
    "tdc_options_init": (None, [_O, c_size_t, c_int]),
    "tdc_tasks_find": (c_int, [c_char_p, c_char_p, c_int, _O, _PP, _E]),
    "tdc_tasks_strict": (c_int, [c_char_p, c_char_p, _PP, _E]),
    "tdc_tasks_pair": (c_int, [c_char_p, c_char_p, _PP, _E]),
    "tdc_tasks_free": (None, [_P]),
    "tdc_tasks_count": (c_size_t, [_P]),
    "tdc_tasks_get": (POINTER(Task), [_P, c_size_t]),
    "tdc_tasks_left_out": (c_size_t, [_P]),
    "tdc_task_load": (c_int, [POINTER(Task), _PP, _PP, _E]),
    "tdc_tensors_load": (c_int, [c_char_p, c_char_p, _PP, _E]),
    "tdc_path_holds_dump": (c_bool, [c_char_p]),
    "tdc_dump_load": (c_int, [c_char_p, _PP, _E]),
    "tdc_dump_source_init": (None, [POINTER(DumpSource), c_size_t, c_char_p, c_size_t]),
    "tdc_dump_load_memory": (c_int, [POINTER(DumpSource), _PP, _E]),
    "tdc_dump_free": (None, [_P]),
    "tdc_dump_records": (c_size_t, [_P]),
    "tdc_dump_record_name": (c_char_p, [_P, c_size_t]),
    "tdc_dump_find_record": (c_size_t, [_P, c_char_p]),
    "tdc_dump_task": (c_char_p, [_P]),
    "tdc_match_new": (c_int, [_P, _P, _O, _PP, _E]),
    "tdc_match_free": (None, [_P]),
    "tdc_match_mode": (c_int, [_P]),
    "tdc_match_pairs": (c_size_t, [_P]),
    "tdc_match_method": (c_char_p, [_P]),
    "tdc_match_reason": (c_char_p, [_P, c_size_t]),
    "tdc_match_suggest": (c_char_p, [_P, _E]),
    "tdc_match_pair": (None, [_P, c_size_t, POINTER(c_size_t), POINTER(c_size_t)]),
    "tdc_table_new": (c_int, [_P, _O, c_char_p, _PP, _E]),
    "tdc_table_free": (None, [_P]),
    "tdc_table_work": (None, [_P, POINTER(c_uint64), POINTER(c_uint64)]),
    "tdc_compare": (c_int, [_PP, c_size_t, _O, _E]),
    "tdc_table_rows": (c_size_t, [_P]),
    "tdc_table_mode": (c_int, [_P]),
    "tdc_table_class": (c_int, [_P, c_size_t]),
    "tdc_table_severity": (c_int, [_P, c_size_t]),
    "tdc_table_summary": (None, [_P, POINTER(Summary), c_size_t]),
    "tdc_table_compared": (c_bool, [_P]),
    "tdc_table_call": (c_char_p, [_P, c_size_t]),
    "tdc_table_worst": (c_char_p, [_P, c_size_t]),
    "tdc_table_columns": (c_size_t, [_P]),
    "tdc_table_column": (c_char_p, [_P, c_size_t]),
    "tdc_table_row": (c_int, [_P, c_size_t, POINTER(Cell), _E]),
    "tdc_table_write": (c_int, [_P, c_int, c_char_p, _E]),
    "tdc_advice_write": (c_int, [_P, c_char_p, _E]),
    "tdc_summary_answer": (c_int, [POINTER(Summary), c_bool]),
    "tdc_answer_text": (c_char_p, [c_int]),
    "tdc_level_text": (c_char_p, [c_int]),
    "tdc_field_type_of": (c_int, [c_int]),
    "tdc_field_name": (c_char_p, [c_int]),
    "tdc_table_numbers": (c_int, [_P, c_int, _PP, _PP, _E]),
    "tdc_table_integers": (c_int, [_P, c_int, _PP, _PP, _E]),
    "tdc_table_texts": (c_int, [_P, c_int, _PP, _PP, _E]),
    "tdc_buffer_init": (
        None,
        [_B, c_size_t, c_void_p, c_int, c_uint, POINTER(c_int64), POINTER(c_int64)],
    ),
    "tdc_compare_buffers": (c_int, [_B, _B, _O, POINTER(DifferenceNumbers), c_size_t, _E]),
    "tdc_device_of": (c_int, [c_char_p, _PP, _E]),
    "tdc_compare_device_buffers": (
        c_int,
        [_P, _B, _B, _O, _P, POINTER(DifferenceNumbers), c_size_t, _E],
    ),
    "tdc_compare_record": (
        c_int,
        [_B, _P, c_size_t, _O, POINTER(DifferenceNumbers), c_size_t, _E],
    ),
    "tdc_buffer_statistics": (c_int, [_B, c_uint, _O, POINTER(TensorStatistics), c_size_t, _E]),
    "tdc_buffer_write": (c_int, [_B, c_char_p, _E]),
    "tdc_html_report_options_init": (None, [POINTER(HtmlOptions), c_size_t]),
    "tdc_html_report_new": (c_int, [POINTER(HtmlOptions), _PP, _E]),
    "tdc_html_report_free": (None, [_P]),
    "tdc_html_report_add_table": (c_int, [_P, POINTER(Task), _P, c_char_p, _E]),
    "tdc_html_report_write": (c_int, [_P, c_char_p, c_uint, _E]),
    "tdc_trace_truth": (c_int, [_P, c_char_p, c_size_t, c_char_p, _O, _P, _PP, _E]),
    "tdc_trace_free": (None, [_P]),
    "tdc_trace_origins": (c_size_t, [_P]),
    "tdc_trace_missing": (c_uint64, [_P]),
    "tdc_trace_text": (c_char_p, [_P]),
    "tdc_trace_json": (c_char_p, [_P]),
    "tdc_dump_files_find": (c_int, [c_char_p, _O, _PP, _E]),
    "tdc_dump_files_free": (None, [_P]),
    "tdc_dump_files_count": (c_size_t, [_P]),
    "tdc_dump_files_get": (POINTER(DumpFile), [_P, c_size_t]),
    "tdc_precheck_options_init": (None, [POINTER(PrecheckOptions), c_size_t, c_int]),
    "tdc_precheck_open": (c_int, [c_char_p, POINTER(PrecheckOptions), _PP, _E]),
    "tdc_precheck_free": (None, [_P]),
    "tdc_precheck_calls": (c_size_t, [_P]),
    "tdc_precheck_run": (c_int, [_P, _E]),
    "tdc_precheck_summary": (None, [_P, POINTER(PrecheckSummary), c_size_t]),
    "tdc_precheck_file": (c_char_p, [_P, c_int]),
    "tdc_stamp_new": (c_int, [c_char_p, _PP, _E]),
    "tdc_stamp_text": (c_char_p, [_P]),
    "tdc_stamp_free": (None, [_P]),
}


def _candidates() -> list[str]:
    named = os.environ.get("TDCMP_LIBRARY")
    if named:
        return [named]
    beside = Path(__file__).resolve().parent / "libtdcmp.so"
    return [str(beside)] if beside.exists() else ["libtdcmp.so.1", "libtdcmp.so"]


def _open() -> ctypes.CDLL:
    reasons = []
    for name in _candidates():
        try:
            library = ctypes.CDLL(name)
            for function, (result, arguments) in _FUNCTIONS.items():
                entry = getattr(library, function)
                entry.restype, entry.argtypes = result, arguments
            return library
        except (OSError, AttributeError) as error:
            reasons.append(f"{name}: {error}")
    raise ImportError("libtdcmp cannot be loaded: " + "; ".join(reasons))


lib: Any = _open()


def text(value: Optional[bytes]) -> str:
    return "" if value is None else value.decode("utf-8", "replace")


def path_bytes(path: PathLike) -> bytes:
    return os.fsencode(os.fspath(path))


def optional_path(path: Optional[PathLike]) -> Optional[bytes]:
    return None if path is None else path_bytes(path)


def check(status: int, error: Error) -> None:
    if status != 0:
        raise failure(text(error.message), status)


def call(function: Any, *arguments: Any) -> None:
    """Calls a function whose last parameter is the error; raises what it says."""
    error = Error()
    check(function(*arguments, byref(error)), error)


def made(function: Any, *arguments: Any) -> c_void_p:
    """Likewise for functions that give an object back through the parameter before the error."""
    pointer = c_void_p()
    call(function, *arguments, byref(pointer))
    return pointer


def run_long(work: Callable[[], None], cancel: Cancel) -> None:
    """Runs work on a thread of its own; Ctrl-C, or anything else raised here, cancels it."""
    if threading.current_thread() is not threading.main_thread():
        work()
        return
    raised: list[BaseException] = []
    ended = threading.Event()

    def body() -> None:
        try:
            work()
        except BaseException as error:  # handed to the caller's thread
            raised.append(error)
        finally:
            ended.set()

    thread = threading.Thread(target=body, name="tdcmp", daemon=True)
    try:
        thread.start()  # an interrupt may come in here, too
        ended.wait()
    except BaseException as error:
        lib.tdc_cancel_set(byref(cancel))
        if not isinstance(error, RuntimeError):  # no thread could be started
            ended.wait()
        raise
    if raised:
        raise raised[0]


__version__: str = text(lib.tdc_version())
