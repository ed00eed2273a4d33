"""What a comparison yields: rows as columns of values by field."""

from __future__ import annotations

import ctypes
import html
import os
import re
from ctypes import byref, c_void_p
from typing import Any, Iterator

from ._arrow import make_stream
from ._library import (
    HtmlOptions,
    PathLike,
    Summary as SummaryNumbers,
    call,
    lib,
    made,
    path_bytes,
    text,
)
from ._optional import numpy, package, package_or_none
from ._table import FIELDS, INTEGER, NUMBER, TEXT, Freed, Table

_FORMATS = {"xlsx": 1, "csv": 2, "json": 4, "jsonl": 8}
_MODES = {1: "tensor", 2: "statistics", 3: "digest"}
LEVELS = (
    "not judged",
    "shown",
    "same",
    "identical",
    "rounding",
    "close",
    "different",
    "unmatched",
    "error",
    "ignored",
    "allowed",
)
_ORIGINS = {1: "operator", 2: "entry", 3: "argument", 4: "random"}

# What files call a field. The sides are TEST and REF, in msprobe's words NPU and BENCH.
_HEADINGS = {
    "cosine": "cosine",
    "eucdist": "euclidean",
    "maxabserr": "max_abs",
    "maxrelativeerr": "max_rel",
    "maxrelerr": "max_rel",
    "onethousandtherrratio": "below_thousandth",
    "fivethousandthserrratio": "below_five_thousandths",
    "name": "npu_name",
    "testname": "npu_name",
    "refname": "bench_name",
    "dtype": "npu_dtype",
    "shape": "npu_shape",
    "result": "verdict",
    "accuracyreachedornot": "verdict",
    "errmessage": "message",
    "maxdiff": "max_diff",
    "mindiff": "min_diff",
    "meandiff": "mean_diff",
    "l2normdiff": "norm_diff",
    "normdiff": "norm_diff",
}


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _named() -> dict[str, str]:
    found = {_plain(name): name for name in FIELDS}
    for name in FIELDS:
        for old, new in (("npu_", "test"), ("bench_", "ref")):
            if name.startswith(old):
                found[new + _plain(name[len(old) :])] = name
    for heading, field in _HEADINGS.items():
        if field in FIELDS:
            found.setdefault(heading, field)
    return found


_BY_NAME = _named()


class Summary:
    """The counts of a comparison. `answer` is the whole in one word: IDENTICAL, SAME, CLOSE,
    UNMATCHED, DIFFERENT or NOTHING COMPARED."""

    def __init__(self, numbers: SummaryNumbers, allow_unmatched: bool, left_out: int) -> None:
        self.answer = text(lib.tdc_answer_text(lib.tdc_summary_answer(numbers, allow_unmatched)))
        self.rows: int = numbers.rows
        self.tensors: int = numbers.tensors
        self.calls: int = numbers.calls
        self.different_calls: int = numbers.different_calls
        self.origins: int = numbers.origins
        self.no_data: int = numbers.no_data
        self.bytes: int = numbers.bytes
        self.seconds: float = numbers.seconds
        self.left_out = left_out  # dumps of one side that have no counterpart
        self.levels: dict[str, int] = {
            name: numbers.classes[i] for i, name in enumerate(LEVELS) if numbers.classes[i]
        }

    def __getitem__(self, level: str) -> int:
        return self.levels.get(level, 0)

    def __bool__(self) -> bool:
        """Whether the two agree."""
        return self.answer in ("IDENTICAL", "SAME", "CLOSE") and not self.levels.get("error")

    def __repr__(self) -> str:
        counts = ", ".join(f"{count} {name}" for name, count in self.levels.items())
        return f"<{self.answer}: {self.rows} rows ({counts})>"


class Row(dict[str, Any]):
    """One row: fields that it has, by name; and `row`, its number, `level`, `call`,
    `finding`, the worst of it in words, and `origin` where differences begin."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


class Rows(list[Row]):
    """Some rows, which a notebook shows as a table."""

    _SHOWN = ("row", "npu_name", "level", "origin", "finding", "npu_dtype", "npu_shape")

    def _repr_html_(self) -> str:
        heads = [name for name in self._SHOWN if any(name in row for row in self)]
        lines = ["<table><thead><tr>"]
        lines += [f"<th>{name.replace('npu_', '')}</th>" for name in heads]
        lines.append("</tr></thead><tbody>")
        for row in self:
            cells = "".join(f"<td>{html.escape(str(row.get(name, '')))}</td>" for name in heads)
            lines.append(f"<tr>{cells}</tr>")
        return "".join(lines) + "</tbody></table>"


class Result:
    """Rows of a comparison, of all ranks one after the other (`parts` has them one by one).

    `result["cosine"]` is a field as an array: the memory of the library itself where there is one
    rank. Names are those of `fields`; those of the columns in files do as well ("Cosine",
    "MaxAbsErr"). With numpy arrays are its arrays, otherwise memoryviews.
    """

    def __init__(
        self, owner: Freed, tables: list[Table], allow_unmatched: bool = False, left_out: int = 0
    ) -> None:
        self._owner = owner
        self._tables = tables
        self._allow_unmatched = allow_unmatched
        self._left_out = left_out

    # ---- the whole ----

    def __len__(self) -> int:
        return sum(table.rows for table in self._tables)

    @property
    def summary(self) -> Summary:
        whole = SummaryNumbers()
        for table in self._tables:
            part = table.summary()
            for name in (field[0] for field in SummaryNumbers._fields_):
                old, new = getattr(whole, name), getattr(part, name)
                if name in ("classes", "coloured"):
                    for i, count in enumerate(new):
                        old[i] += count
                else:
                    setattr(whole, name, old + new)
        return Summary(whole, self._allow_unmatched, self._left_out)

    @property
    def mode(self) -> str:
        """What was compared: "tensor", "statistics" or "digest"."""
        return _MODES.get(self._tables[0].mode, "") if self._tables else ""

    @property
    def parts(self) -> list["Result"]:
        """A result for each pair of dumps: for each rank of each step."""
        return [Result(self._owner, [table], self._allow_unmatched) for table in self._tables]

    @property
    def name(self) -> str:
        """Step and rank of a part: "step0/rank3"; "" for single files."""
        table = self._tables[0] if len(self._tables) == 1 else None
        return "/".join(filter(None, (table.step, table.rank))) if table else ""

    # ---- columns ----

    @property
    def fields(self) -> list[str]:
        """Names of the fields that some row has a value of."""
        return [name for name, _ in self._present()]

    def _present(self) -> list[tuple[str, int]]:
        found = []
        for name, (_, kind) in FIELDS.items():
            for table in self._tables:
                if kind == TEXT:
                    offsets = table.text_memory(name)[2]
                    some = len(offsets) != 0 and offsets[-1] != 0
                else:
                    valid = table.valid(name)
                    some = bool(valid.any()) if numpy is not None else 1 in valid
                if some:
                    found.append((name, kind))
                    break
        return found

    def _join(self, pieces: list[Any]) -> Any:
        if len(pieces) == 1:
            return pieces[0]
        if numpy is not None:
            return numpy.concatenate(pieces) if pieces else numpy.zeros(0)
        return [value for piece in pieces for value in piece]

    def __getitem__(self, name: str) -> Any:
        field = _BY_NAME.get(_plain(name))
        if field is None:
            return self._column(name)
        if FIELDS[field][1] != TEXT:
            return self._join([table.values(field) for table in self._tables])
        texts = [value for table in self._tables for value in table.texts(field)]
        return texts if numpy is None else numpy.array(texts, dtype=object)

    def _column(self, heading: str) -> Any:
        found = []
        for table in self._tables:
            headings = table.headings()
            if heading not in headings:
                raise KeyError(f"{heading}: neither a field nor a column; see fields and columns")
            found.extend(table.cells(headings.index(heading)))
        return found if numpy is None else numpy.array(found, dtype=object)

    @property
    def columns(self) -> list[str]:
        """Headings of the columns in result files."""
        return self._tables[0].headings() if self._tables else []

    def valid(self, name: str) -> Any:
        """Which rows have a value of a field of numbers: bytes of 1 and 0."""
        field = _BY_NAME.get(_plain(name))
        if field is None or FIELDS[field][1] == TEXT:
            raise KeyError(f"{name}: no field of numbers")
        return self._join([table.valid(field) for table in self._tables])

    # ---- rows ----

    def _locate(self, row: int) -> tuple[Table, int]:
        for table in self._tables:
            if row < table.rows:
                return table, row
            row -= table.rows
        raise IndexError("no such row")

    def row(self, number: int) -> Row:
        """One row; the first is 0."""
        if number < 0:
            number += len(self)
        table, at = self._locate(number)
        found = Row(row=number)
        for name, (_, kind) in FIELDS.items():
            if kind == TEXT:
                address, _, offsets = table.text_memory(name)
                if offsets[at] != offsets[at + 1]:
                    found[name] = _string(address, int(offsets[at]), int(offsets[at + 1]))
            elif table.valid(name)[at]:
                found[name] = table.values(name)[at]
                if kind == NUMBER:
                    found[name] = float(found[name])
                else:
                    found[name] = int(found[name])
        found["level"] = LEVELS[lib.tdc_table_class(table.pointer, at)]
        found["call"] = text(lib.tdc_table_call(table.pointer, at))
        found["finding"] = text(lib.tdc_table_worst(table.pointer, at))
        if len(self._tables) > 1:
            found["step"], found["rank"] = table.step, table.rank
        origin = found.pop("origin", 0)
        if origin:
            found["origin"] = _ORIGINS.get(origin, "")
        return found

    def __iter__(self) -> Iterator[Row]:
        return (self.row(number) for number in range(len(self)))

    def first(self, count: int = 10) -> Rows:
        """The first rows, in the order of the network, that are different or start a difference,
        or have no partner or could not be read."""
        found = Rows()
        base = 0
        for table in self._tables:
            classes = table.values("class")
            origins = table.values("origin")
            for at in range(table.rows):
                if len(found) >= count:
                    return found
                if classes[at] in (6, 7, 8) or origins[at] != 0:
                    found.append(self.row(base + at))
            base += table.rows
        return found

    # ---- to others ----

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """All fields that some row has, as Arrow's C stream: for pyarrow, polars, duckdb, pandas."""
        return make_stream(self._tables, self._present(), len(self._tables) > 1)

    def to_arrow(self) -> Any:
        """A table of pyarrow, which shares the memory of the result."""
        return package("pyarrow").table(self)

    def to_pandas(self) -> Any:
        """A DataFrame of all fields that some row has; rows without a number have NaN."""
        pandas, pyarrow = package("pandas"), package_or_none("pyarrow")
        if pyarrow is not None and int(pandas.__version__.split(".")[0]) >= 3:
            return pyarrow.table(self).to_pandas()
        columns: dict[str, Any] = {}
        if len(self._tables) > 1:
            for label in ("step", "rank"):
                columns[label] = [getattr(t, label) for t in self._tables for _ in range(t.rows)]
        for name, kind in self._present():
            column = self[name]
            if kind == INTEGER:
                valid = self.valid(name).astype(bool)
                if not valid.all():
                    column = numpy.where(valid, column.astype(float), numpy.nan)
            columns[name] = column
        return pandas.DataFrame(columns, copy=False)

    def _write(self, form: str, path: PathLike) -> list[str]:
        stem, ending = os.path.splitext(os.fspath(path))
        written = []
        for table in self._tables:
            place = os.fspath(path)
            if len(self._tables) > 1:
                label = "_".join(filter(None, (table.step, table.rank)))
                place = f"{stem}_{label}{ending}"
            call(lib.tdc_table_write, table.pointer, _FORMATS[form], path_bytes(place))
            written.append(place)
        return written

    def to_csv(self, path: PathLike) -> list[str]:
        """The table as tdcmp writes it; of several ranks each a file, NAME_step0_rank0.csv. Returns
        the names."""
        return self._write("csv", path)

    def to_xlsx(self, path: PathLike) -> list[str]:
        return self._write("xlsx", path)

    def to_json(self, path: PathLike) -> list[str]:
        return self._write("json", path)

    def to_html(self, path: PathLike) -> str:
        """One page of all ranks, for a browser."""
        options = HtmlOptions()
        lib.tdc_html_report_options_init(byref(options), ctypes.sizeof(options))
        options.flags = 1 if self._allow_unmatched else 0
        report: c_void_p = made(lib.tdc_html_report_new, byref(options))
        try:
            for table in self._tables:
                call(lib.tdc_html_report_add_table, report, table.task, table.pointer, None)
            call(lib.tdc_html_report_write, report, path_bytes(path), 0)
        finally:
            lib.tdc_html_report_free(report)
        return os.fspath(path)

    def __repr__(self) -> str:
        return f"<tdcmp.Result {self.summary!r}>"

    def _repr_html_(self) -> str:
        summary = self.summary
        counts = ", ".join(f"{count} {name}" for name, count in summary.levels.items())
        shown = self.first(20)
        line = f"<p><b>{summary.answer}</b> &nbsp; {summary.rows} rows: {counts}</p>"
        return line + (shown._repr_html_() if shown else "")


def _string(address: int, first: int, end: int) -> str:
    return ctypes.string_at(address + first, end - first).decode("utf-8", "replace")
