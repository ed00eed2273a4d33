"""tdcmp.collect: makes dumps of a network that runs, as msprobe makes them.

    with tdcmp.collect(model, "dump", level="mix", task="tensor", steps=[0]):
        train_step()
"""

from __future__ import annotations

from typing import Any

from .._library import PathLike
from ._session import Session


def collect(model: Any, path: PathLike, level: str = "mix", task: str = "statistics", **options: Any) -> Session:
    """A collector; each `with` of it is a step, counted from 0.

    model: a module of PyTorch, a cell of MindSpore, or a list of them; None for functions of PyTorch
    (level "L1").
    level: "L0" (modules), "L1" (functions) or "mix". task: "statistics", "tensor" or "md5".
    steps, ranks: only these. scope: names of the first and the last call. list: texts of which a
    name holds one. against: a dump that every tensor is compared with as it appears; only what
    differs is stored, and `differences` and against.json name it.
    """
    kinds = [type(one) for one in (model if isinstance(model, (list, tuple)) else [model])]
    modules = {base.__module__.split(".")[0] for kind in kinds for base in kind.__mro__}
    if "mindspore" in modules:
        from ._mindspore import MindSporeSession

        return MindSporeSession(model, path, level, task, **options)
    from ._torch import TorchSession

    return TorchSession(model, path, level, task, **options)


__all__ = ["Session", "collect"]
