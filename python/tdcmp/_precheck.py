"""The operators of one dump against the same calls in float64."""

from __future__ import annotations

import tempfile
from ctypes import byref, c_char_p, cast, POINTER, pointer, sizeof
from typing import Any, Optional, Sequence

from ._library import (
    Cancel,
    MessageFunction,
    PathLike,
    PrecheckOptions,
    PrecheckRowFunction,
    PrecheckSummary,
    call,
    lib,
    made,
    path_bytes,
    run_long,
    text,
)
from ._optional import package
from ._options import Settings, choice
from ._result import Row, Rows
from ._table import Freed

_PROFILES = {"compat": 1, "msprobe": 1, "extended": 2}
_TESTED = {"auto": 0, "recorded": 1, "executed": 2}
_VERDICTS = ("nothing", "pass", "warning", "error", "skip")


class PrecheckRows(Rows):
    _SHOWN = ("call", "direction", "slot", "verdict", "max_ulp", "max_abs", "message")


class Precheck:
    """What a precheck has found: `rows` for every slot that was judged, `counts` by direction,
    `messages` about what was skipped."""

    def __init__(self, rows: PrecheckRows, counts: dict[str, dict[str, int]], files: list[str],
                 messages: list[str]) -> None:
        self.rows = rows
        self.messages = messages
        self.counts = counts
        self.files = files

    @property
    def failing(self) -> PrecheckRows:
        return PrecheckRows(row for row in self.rows if row["verdict"] == "error")

    def __bool__(self) -> bool:
        """Whether no operator is off."""
        return not self.failing

    def to_pandas(self) -> Any:
        return package("pandas").DataFrame([dict(row) for row in self.rows])

    def _repr_html_(self) -> str:
        return f"<p>{self!r}</p>".replace("<tdcmp", "&lt;tdcmp") + self.failing._repr_html_()

    def __repr__(self) -> str:
        checked = sum(direction["checked"] for direction in self.counts.values())
        return f"<tdcmp.Precheck: {checked} records checked, {len(self.failing)} slots off>"


def _list(names: Optional[Sequence[str]]) -> tuple[Any, int]:
    if not names:
        return None, 0
    words = (c_char_p * len(names))(*[name.encode() for name in names])
    return cast(words, POINTER(c_char_p)), len(names)


def precheck(
    dump: PathLike,
    output: Optional[PathLike] = None,
    *,
    profile: str = "extended",
    tested: str = "auto",
    white_list: Optional[Sequence[str]] = None,
    black_list: Optional[Sequence[str]] = None,
    threads: int = 0,
) -> Precheck:
    """Checks every API call of a dump (a dump.json, a rank, a step, a root) against float64.

    output: folder for the result files; without one they are made and dropped.
    """
    owner = Freed()
    settings = Settings("sound", threads)
    files = made(lib.tdc_dump_files_find, path_bytes(dump), byref(settings.options))
    owner.add(lib.tdc_dump_files_free, files)
    rows = PrecheckRows()
    counts: dict[str, dict[str, int]] = {"forward": {}, "backward": {}}
    written: list[str] = []
    cancel = Cancel()
    options = PrecheckOptions()
    lib.tdc_precheck_options_init(
        byref(options), sizeof(options), choice("profile", profile, _PROFILES)
    )
    options.tested = choice("tested", tested, _TESTED)
    options.threads = threads
    options.cancel = pointer(cancel)
    options.white_list, options.white_count = _list(white_list)
    options.black_list, options.black_count = _list(black_list)

    def take(_context: Any, given: Any) -> None:
        row = given.contents
        found = Row(
            call=text(row.call),
            api=text(row.api),
            direction="backward" if row.backward else "forward",
            slot=row.slot,
            verdict=_VERDICTS[row.verdict],
            dtype=text(row.tested_dtype),
            shape=text(row.shape),
            message=text(row.message),
        )
        if row.measured:
            found.update(
                cosine=row.cosine,
                max_abs=row.max_abs,
                max_relative=row.max_relative,
                max_ulp=row.max_ulp,
                max_abs_at=row.max_abs_at,
            )
        rows.append(found)

    def keep(_context: Any, level: int, line: bytes) -> None:
        settings.messages.append((level, text(line)))

    row_function, message_function = PrecheckRowFunction(take), MessageFunction(keep)
    options.row, options.message = row_function, message_function

    def work() -> None:
        for index in range(lib.tdc_dump_files_count(files)):
            path = lib.tdc_dump_files_get(files, index).contents.path
            check = made(lib.tdc_precheck_open, path, byref(options))
            try:
                call(lib.tdc_precheck_run, check)
                summary = PrecheckSummary()
                lib.tdc_precheck_summary(check, byref(summary), sizeof(summary))
                for direction, sums in counts.items():
                    numbers = getattr(summary, direction)
                    for name in (field[0] for field in type(numbers)._fields_):
                        sums[name] = sums.get(name, 0) + getattr(numbers, name)
                if output is not None:
                    names = [text(lib.tdc_precheck_file(check, kind)) for kind in (1, 2, 3)]
                    written.extend(filter(None, names))
            finally:
                lib.tdc_precheck_free(check)

    with tempfile.TemporaryDirectory() as scratch:
        options.output = path_bytes(output if output is not None else scratch)
        run_long(work, cancel)
    return Precheck(rows, counts, written, [line for _, line in settings.messages])
