"""What the functions of this package take, as the options of the library."""

from __future__ import annotations

import sys
import threading
import time
import warnings
from ctypes import POINTER, c_char_p, cast, pointer, sizeof
from typing import Any, Callable, Optional, Union

from ._library import (
    ArgumentError,
    Cancel,
    Mapping,
    MessageFunction,
    Options,
    PathLike,
    ProgressFunction,
    lib,
    optional_path,
    path_bytes,
    text,
)

RULES = {"compat": 1, "msprobe": 1, "sound": 2, "compat26": 3, "msprobe26": 3}
_IO = {"auto": 0, "mmap": 1, "pread": 2, "direct": 3}
FUZZY, AUTO_MAPPING, HIGHLIGHT, STATISTICS, ALLOW_UNMATCHED = 1, 2, 4, 16, 64

MappingArgument = Union[None, bool, PathLike]
ProgressCallback = Callable[[int, int, int, int], None]
ProgressArgument = Union[bool, ProgressCallback]


class TdcmpWarning(UserWarning):
    """What the library warns of: sides that were paired in order, steps left out, ..."""


def choice(name: str, value: str, known: dict[str, int]) -> int:
    if value not in known:
        raise ArgumentError(f"{name}: '{value}' is none of {', '.join(known)}", 2)
    return known[value]


def _mapping(argument: MappingArgument) -> Mapping:
    if argument is None or argument is False:
        return Mapping(False, None)
    return Mapping(True, None if argument is True else path_bytes(argument))


class Progress:
    """Counts what the threads of the library tell, and shows it ten times a second at most."""

    def __init__(self, argument: ProgressArgument) -> None:
        self._show: Optional[ProgressCallback] = None
        if callable(argument):
            self._show = argument
        elif argument:
            self._show = self._line
        self._lock = threading.Lock()
        self._rows = self._bytes = 0
        self.rows = self.bytes = 0
        self._next = time.monotonic() + 0.1
        self._shown = False
        self.failed: Optional[BaseException] = None

    def wanted(self) -> bool:
        return self._show is not None

    def add(self, _context: Any, rows: int, count: int) -> None:
        with self._lock:
            self._rows += rows
            self._bytes += count
            if time.monotonic() < self._next or self.failed is not None:
                return
            self._next = time.monotonic() + 0.1
            self._tell()

    def _tell(self) -> None:
        try:
            if self._show is not None:
                self._show(self._rows, self.rows, self._bytes, self.bytes)
        except BaseException as error:  # a callback of C cannot raise
            self.failed = error

    def _line(self, rows: int, all_rows: int, done: int, all_bytes: int) -> None:
        share = done / all_bytes if all_bytes else rows / all_rows if all_rows else 1.0
        sys.stderr.write(f"\rtdcmp: {rows} of {all_rows} rows, {share:.0%}")
        sys.stderr.flush()
        self._shown = True

    def end(self) -> None:
        """Tells the last numbers, whatever time has passed."""
        if self.failed is None:
            self._tell()
        if self._shown:
            sys.stderr.write("\n")
        if self.failed is not None:
            raise self.failed


class Settings:
    """The options of a run with what must outlive it: callbacks, texts, the flag that cancels it."""

    def __init__(
        self,
        rules: str = "sound",
        threads: int = 0,
        progress: ProgressArgument = False,
        *,
        quiet: bool = False,
        **more: Any,
    ) -> None:
        self.options = Options()
        self.cancel = Cancel()
        self.progress = Progress(progress)
        self.messages: list[tuple[int, str]] = []
        self._quiet = quiet
        lib.tdc_options_init(self.options, sizeof(Options), choice("rules", rules, RULES))
        self.options.threads = threads
        self.options.cancel = pointer(self.cancel)
        self._message = MessageFunction(self._keep)
        self.options.message = self._message
        if self.progress.wanted():
            self._progress = ProgressFunction(self.progress.add)
            self.options.progress = self._progress
        if more:
            self._take(**more)

    def _keep(self, _context: Any, level: int, line: bytes) -> None:
        self.messages.append((level, text(line)))

    def _take(
        self,
        *,
        layer_mapping: MappingArgument = None,
        api_mapping: MappingArgument = None,
        cell_mapping: MappingArgument = None,
        data_mapping: Optional[PathLike] = None,
        fuzzy: bool = False,
        statistics: bool = False,
        highlight: Optional[bool] = None,
        allow_unmatched: bool = False,
        io: str = "auto",
        device: str = "auto",
        atol: Optional[float] = None,
        rtol: Optional[float] = None,
        cos: Optional[float] = None,
        tolerance: Optional[PathLike] = None,
        framework: int = 0,
    ) -> None:
        options = self.options
        options.layer_mapping = _mapping(layer_mapping)
        options.api_mapping = _mapping(api_mapping)
        options.cell_mapping = _mapping(cell_mapping)
        options.data_mapping = optional_path(data_mapping)
        options.io = choice("io", io, _IO)
        options.device = device.encode()
        options.framework = framework
        for wanted, flag in (
            (fuzzy, FUZZY),
            (statistics, STATISTICS),
            (allow_unmatched, ALLOW_UNMATCHED),
        ):
            if wanted:
                options.flags |= flag
        if highlight is not None:
            options.flags = options.flags | HIGHLIGHT if highlight else options.flags & ~HIGHLIGHT
        if atol is not None or rtol is not None:
            options.tolerance.elements = True
            options.tolerance.atol = atol or 0.0
            options.tolerance.rtol = rtol or 0.0
        if cos is not None:
            options.tolerance.use_cosine = True
            options.tolerance.cosine = cos
        options.tolerance_file = optional_path(tolerance)

    def set_command(self, words: list[str]) -> None:
        """The words that head result files."""
        self._words = (c_char_p * len(words))(*[word.encode() for word in words])
        self.options.command = cast(self._words, POINTER(c_char_p))
        self.options.command_words = len(words)

    def warn(self) -> None:
        """What the library has warned of, as warnings of Python."""
        if not self._quiet:
            for level, line in self.messages:
                if level >= 2:
                    warnings.warn(line, TdcmpWarning, stacklevel=4)
        self.messages.clear()
