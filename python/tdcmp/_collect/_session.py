"""A dump being made: its folders, entries, call stacks and nesting, whatever the framework."""

from __future__ import annotations

import linecache
import os
import sys
import threading
from typing import Any, Iterator, Optional, Sequence

from .._arrays import Tensor
from .._library import ArgumentError, PathLike
from .._optional import numpy
from .._options import Settings
from ._scope import Scope
from ._writer import Reference, Writer, agrees, fill_statistics, put_json

LEVELS = ("L0", "L1", "mix")
TASKS = ("statistics", "tensor", "md5")
_OWN = os.path.dirname(os.path.abspath(__file__))
_DEPTH = 400  # of nested arguments


class Local(threading.local):
    """What a thread is doing."""

    def __init__(self) -> None:
        self.busy = False  # in the collector itself: its calls are not recorded
        self.depth = 0  # of recorded APIs that call each other: the outermost counts
        self.modules: list[str] = []


class Session:
    """One dump over some steps. The framework's part subclasses it (attach, detach, describe)."""

    framework = ""
    suffix = ".pt"
    module_word = "Module"

    def __init__(
        self,
        model: Any,
        path: PathLike,
        level: str = "mix",
        task: str = "statistics",
        *,
        steps: Optional[Sequence[int]] = None,
        ranks: Optional[Sequence[int]] = None,
        scope: Optional[Sequence[str]] = None,
        list: Optional[Sequence[str]] = None,
        against: Optional[PathLike] = None,
        rules: str = "sound",
        stacks: bool = True,
        queue_bytes: int = 1 << 29,
        threads: int = 2,
    ) -> None:
        for name, value, known in (("level", level, LEVELS), ("task", task, TASKS)):
            if value not in known:
                raise ArgumentError(f"{name}: '{value}' is none of {', '.join(known)}", 2)
        self.model = model
        self.level, self.task = level, task
        self.number = 0
        self.differences: Any = []  # of the last step: (name, numbers) of what differs
        self.compared = 0  # tensors of the last step that faced a reference
        self._path = os.fspath(path)
        self._steps = None if steps is None else set(steps)
        self._ranks = None if ranks is None else set(ranks)
        self._scope = Scope(scope, list)
        self._against = against
        self._settings = Settings(rules, 1)
        self._stacks_wanted = stacks
        self._room, self._thread_count = queue_bytes, max(1, threads)
        self.running = False
        self.local = Local()
        self.lock = threading.RLock()
        self._writer: Optional[Writer] = None
        self._reference: Optional[Reference] = None

    # ---- steps -----------------------------------------------------------------------------------

    def __enter__(self) -> "Session":
        self.start()
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        try:
            self.stop()
        except Exception:
            if error is None:  # otherwise the error of the run is the one to be seen
                raise
        finally:
            self.number += 1

    def step(self) -> None:
        """Ends a step and begins the next one, for loops inside of one `with`."""
        self.stop()
        self.number += 1
        self.start()

    def start(self) -> None:
        if self.running or (self._steps is not None and self.number not in self._steps):
            return
        rank = self.rank()
        if self._ranks is not None and rank not in self._ranks:
            return
        label = f"proc{os.getpid()}" if rank is None else f"rank{rank}"
        self._folder = os.path.join(self._path, f"step{self.number}", label)
        self._tensors = os.path.join(self._folder, "dump_tensor_data")
        keeps = self.task == "tensor" or self._against is not None
        os.makedirs(self._tensors if keeps else self._folder, mode=0o750, exist_ok=True)
        self._reference = None
        if self._against is not None:
            self._reference = Reference(self._against, self.number, label, self._settings)
        self.counts: dict[str, int] = {}
        self._data: dict[str, Any] = {}
        self._stacks: dict[Any, Any] = {}
        self.construct: dict[str, Any] = {}
        self._open: dict[str, bool] = {}
        self.phase = ""
        self.differences, self.compared = [], 0
        self._writer = Writer(self._room, self._thread_count, self._settings)
        self.local = Local()
        self.attach()
        self.running = True

    def stop(self) -> None:
        """Ends the step: everything that was recorded is in its files, whatever has failed."""
        if not self.running:
            return
        self.running = False
        self.detach()
        assert self._writer is not None
        failure = self._writer.drain()
        self._writer.end()
        head = {
            "task": "tensor" if self.task == "tensor" else "statistics",
            "level": self.level,
            "framework": self.framework,
            "dump_data_dir": self._tensors if self.task == "tensor" else None,
            "data": self._data,
        }
        put_json(os.path.join(self._folder, "dump.json"), head)
        stacks = {i: [names, lines] for i, (lines, names) in enumerate(self._stacks.items())}
        put_json(os.path.join(self._folder, "stack.json"), stacks)
        put_json(os.path.join(self._folder, "construct.json"), self.construct)
        if self._reference is not None:
            report = {"against": os.fspath(self._against or ""), "compared": self.compared,
                      "differences": [dict(name=name, **found) for name, found in self.differences]}
            put_json(os.path.join(self._folder, "against.json"), report)
        if failure is not None:
            raise failure

    # ---- for the framework -----------------------------------------------------------------------

    def rank(self) -> Optional[int]:
        return None

    def attach(self) -> None:
        raise NotImplementedError

    def detach(self) -> None:
        raise NotImplementedError

    def describe(self, value: Any, key: Any) -> Any:
        """The item of a value that is no container, NotImplemented where it is one; a tensor is
        described by self.tensor."""
        raise NotImplementedError

    # ---- calls -----------------------------------------------------------------------------------

    def wants(self, name: str) -> bool:
        return self._scope.wants(name)

    def count(self, name: str) -> int:
        return self.counts.get(name, 0)

    def add(self, name: str, members: dict[str, Any]) -> None:
        """Adds members to an entry; that of a module stands where it ended."""
        with self.lock:
            entry = self._data.get(name)
            if entry is None:
                self._data[name] = members
                return
            entry.update(members)
            if name.startswith(self.module_word + "."):
                self._data[name] = self._data.pop(name)

    def add_stack(self, name: str) -> None:
        if not self._stacks_wanted:
            return
        frame: Any = sys._getframe(1)
        lines = []
        while frame is not None:
            code = frame.f_code
            if not code.co_filename.startswith(_OWN):
                source = linecache.getline(code.co_filename, frame.f_lineno).strip()
                if source:
                    place = f"File {code.co_filename}, line {frame.f_lineno}, in {code.co_name}"
                    lines.append(f"{place}, \n {source}")
            frame = frame.f_back
        with self.lock:
            self._stacks.setdefault(tuple(lines), []).append(name)

    def begin_module(self, name: str) -> None:
        """Keeps which module is in which: by what this thread is in, or else by names."""
        with self.lock:
            stack = self.local.modules
            self.construct[name] = stack[-1] if stack else self._parent_by_name(name)
            self._open[name] = True
            stack.append(name)
            self._scope.begin(name)

    def _parent_by_name(self, name: str) -> Optional[str]:
        parts = name.split(".")
        path = ".".join(parts[:-4])
        if len(parts) < 5 or path == self.module_word:
            return None
        for other in reversed(self._open):
            if ".".join(other.split(".")[:-3]) == path:
                return other
        return None

    def end_module(self, name: str) -> None:
        with self.lock:
            self._open.pop(name, None)
            if self.local.modules:
                self.local.modules.pop()
            self._scope.end(name)

    def add_call(self, name: str) -> None:
        """Where a call of an API belongs; dumps of level L1 do not tell."""
        if self.level != "mix":
            return
        with self.lock:
            if self.phase:
                self.construct.setdefault(self.phase, None)
                self.construct[name] = self.phase
            else:
                self.construct[name] = self.local.modules[-1] if self.local.modules else None

    # ---- values ----------------------------------------------------------------------------------

    def items(self, value: Any, name: str, key: Any = None, depth: int = 0) -> Any:
        """A value as dumps have it: containers, tensors, arguments. name: that of the tensor file."""
        if value is None or depth > _DEPTH:
            return None
        found = self._plain(value, key)
        if found is NotImplemented:
            found = self.describe(value, key)
        if isinstance(found, Tensor):
            return self.tensor(found, value, name)
        if found is not NotImplemented:
            return found
        members: Any = None
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            members = {field: getattr(value, field) for field in value._fields}
        elif hasattr(value, "__dataclass_fields__"):
            members = {field: getattr(value, field, None) for field in value.__dataclass_fields__}
        elif isinstance(value, (list, tuple)):
            return [self.items(one, f"{name}.{i}", i, depth + 1) for i, one in enumerate(value)]
        elif isinstance(value, dict):
            members = value
        if members is None:
            return None
        return {str(k): self.items(v, f"{name}.{k}", k, depth + 1) for k, v in members.items()}

    def _plain(self, value: Any, key: Any) -> Any:
        if key in ("device", "dtype", "output_dtype"):
            return NotImplemented
        if isinstance(value, slice):
            ends = [None if end is None else self._whole(end) for end in (value.start, value.stop, value.step)]
            return {"type": "slice", "value": ends}
        if value is Ellipsis:
            return {"type": "ellipsis", "value": "..."}
        if isinstance(value, (bool, int, float, str)):
            return {"type": type(value).__name__, "value": value}
        if numpy is not None and isinstance(value, numpy.generic):
            return {"type": type(value).__name__, "value": value.item()}
        return NotImplemented

    @staticmethod
    def _whole(value: Any) -> Optional[int]:
        try:
            return int(value)
        except (TypeError, ValueError):
            return None

    def tensor_item(self, value: Any) -> dict[str, Any]:
        """Type, dtype, shape and what stands before the statistics."""
        raise NotImplementedError

    def own_copy(self, tensor: Tensor, value: Any) -> Tensor:
        """A copy that nobody changes while it waits."""
        raise NotImplementedError

    def tensor(self, tensor: Tensor, value: Any, name: str) -> dict[str, Any]:
        """Describes a tensor. What is to be kept or compared waits for the background; the item is
        complete when that is drained."""
        item = self.tensor_item(value)
        tail = {key: item.pop(key) for key in ("requires_grad", "device_mesh", "placements") if key in item}
        item.update(Max=None, Min=None, Mean=None, Norm=None, **tail)
        # A tensor without memory has no file.
        if not tensor.data or (self.task != "tensor" and self._reference is None):
            fill_statistics(item, tensor, self._settings, self.task == "md5")
            return item
        assert self._writer is not None
        kept = self.own_copy(tensor, value)
        self._writer.put(kept.bytes, lambda: self._store(item, kept, name))
        return item

    def _store(self, item: dict[str, Any], tensor: Tensor, name: str) -> None:
        digests = self._reference is not None and self._reference.digests
        fill_statistics(item, tensor, self._settings, digests or self.task == "md5")
        if self._reference is not None:
            found = self._reference.compare(name, tensor, item)
            if self.task != "md5":
                item.pop("md5", None)
            with self.lock:
                self.compared += 1
                if not agrees(found):
                    self.differences.append((name, found))
            if agrees(found):
                return
        file = name + self.suffix
        tensor.write(os.path.join(self._tensors, file))
        item["data_name"] = file


def wrapped_names(words: str, head: str) -> Iterator[str]:
    """Names below a head of a list of APIs."""
    inside = False
    for line in words.splitlines():
        if line.startswith(("[", "#")):
            inside = line == f"[{head}]"
        elif inside:
            yield from line.split()
