"""A dump being made: its steps, folders and files, whatever the framework."""

from __future__ import annotations

import os
from typing import Any, Iterator, Optional, Sequence

from .._arrays import Tensor
from .._library import ArgumentError, PathLike
from .._options import Settings
from ._calls import Calls
from ._items import statistics_of
from ._reference import Reference, agrees
from ._scope import Scope
from ._writer import Writer, put_json

LEVELS = ("L0", "L1", "mix")
TASKS = ("statistics", "tensor", "md5")


class Session(Calls):
    """One dump over some steps. The framework's part subclasses it."""

    framework = ""
    suffix = ""  # of tensor files
    whole_numbers = True  # statistics of integers are integers

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
        if model is None and level != "L1":
            raise ArgumentError(f"model: level '{level}' needs one", 2)
        super().__init__(level, Scope(scope, list), stacks)
        self.model = model
        self.task = task
        self.number = 0
        self.differences: Any = []  # of the last step: (name, numbers) of what differs
        self.compared = 0  # tensors of the last step that faced a reference
        self._path = os.fspath(path)
        self._steps = None if steps is None else set(steps)
        self._ranks = None if ranks is None else set(ranks)
        self._against = against
        self._settings = Settings(rules, 1)
        self._room, self._thread_count = queue_bytes, max(1, threads)
        self._writer: Optional[Writer] = None
        self._reference: Optional[Reference] = None

    # ---- for the framework -----------------------------------------------------------------------

    def rank(self) -> Optional[int]:
        """None outside of a group of processes."""
        raise NotImplementedError

    def attach(self) -> None:
        raise NotImplementedError

    def detach(self) -> None:
        raise NotImplementedError

    def own_copy(self, tensor: Tensor) -> Tensor:
        """A copy that nobody changes while it waits."""
        raise NotImplementedError

    def roots(self) -> Iterator[tuple[str, Any]]:
        """The models; several of them have their number in front of the names in them."""
        if isinstance(self.model, (list, tuple)):
            yield from ((f"{number}.", root) for number, root in enumerate(self.model))
        elif self.model is not None:
            yield "", self.model

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
        self._reference = None
        if self._against is not None:
            self._reference = Reference(self._against, self.number, label, self._settings)
        keeps = self.task == "tensor" or self._reference is not None
        os.makedirs(self._tensors if keeps else self._folder, mode=0o750, exist_ok=True)
        self.begin_step()
        self.differences, self.compared = [], 0
        self._writer = Writer(self._room, self._thread_count)
        try:
            self.attach()
        except BaseException:
            self.detach()
            self._writer.end()
            raise
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
            "data": self.data,
        }
        stacks = {i: [names, lines] for i, (lines, names) in enumerate(self.stacks.items())}
        for name, content in (("dump", head), ("stack", stacks), ("construct", self.construct)):
            failure = self._put(name, content) or failure
        if self._reference is not None:
            report = {
                "against": os.fspath(self._against or ""),
                "compared": self.compared,
                "differences": [dict(name=name, **found) for name, found in self.differences],
            }
            failure = self._put("against", report) or failure
        self.begin_step()  # the entries may hold much memory, and are in the files
        if failure is not None:
            raise failure

    def _put(self, name: str, content: Any) -> Optional[OSError]:
        """What failed; the other files are written all the same."""
        try:
            put_json(os.path.join(self._folder, f"{name}.json"), content)
        except OSError as error:
            return error
        return None

    # ---- tensors ---------------------------------------------------------------------------------

    def tensor(self, tensor: Tensor, item: dict[str, Any], name: str) -> None:
        """What is to be kept or compared waits for the background; the item is complete when that is
        drained."""
        # A tensor without memory has no file.
        if not tensor.data or (self.task != "tensor" and self._reference is None):
            crc = self.task == "md5"
            # Views are put in order by the framework at the speed of memory.
            scattered = tensor.strides is not None and (crc or tensor.has_gaps())
            self._fill(item, self.own_copy(tensor) if scattered else tensor, crc)
            return
        assert self._writer is not None
        kept = tensor if tensor.own else self.own_copy(tensor)
        self._writer.put(kept.bytes, lambda: self._store(item, kept, name))

    def _fill(self, item: dict[str, Any], tensor: Tensor, crc: bool) -> None:
        """Statistics by the library; md5 is the CRC-32."""
        found = tensor.statistics(self._settings, crc)
        item["Max"], item["Min"], item["Mean"], item["Norm"] = statistics_of(found, tensor, self.whole_numbers)
        if crc:
            item["md5"] = f"{found.crc:08x}"

    def _store(self, item: dict[str, Any], tensor: Tensor, name: str) -> None:
        """In the background: describes a tensor, compares it with the reference, writes it."""
        reference = self._reference
        self._fill(item, tensor, self.task == "md5" or (reference is not None and reference.digests))
        if reference is not None:
            found = reference.compare(name, tensor, item)
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
