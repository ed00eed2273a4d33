"""tdcmp: compare two dumps of a neural network, tensor by tensor, and make dumps.

    r = tdcmp.compare("npu", "gpu")
    r.summary; r.first(10); r["cosine"]; r.to_pandas()
    tdcmp.compare_arrays(a, b).max_abs
    with tdcmp.collect(model, "dump", level="mix", task="tensor"): train_step()

docs/python.md has all of it.
"""

from ._arrays import Difference, compare_arrays, save_tensor
from ._collect import Session, collect
from ._compare import Match, Trace, compare, match, trace
from ._library import (
    ArgumentError,
    InterruptedRun,
    NotFoundError,
    TdcmpError,
    __version__,
)
from ._options import TdcmpWarning
from ._precheck import Precheck, precheck
from ._result import Result, Row, Rows, Summary

__all__ = [
    "ArgumentError",
    "Difference",
    "InterruptedRun",
    "Match",
    "NotFoundError",
    "Precheck",
    "Result",
    "Row",
    "Rows",
    "Session",
    "Summary",
    "TdcmpError",
    "TdcmpWarning",
    "Trace",
    "__version__",
    "collect",
    "compare",
    "compare_arrays",
    "match",
    "precheck",
    "save_tensor",
    "trace",
]
