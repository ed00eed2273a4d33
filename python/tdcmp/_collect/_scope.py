"""Which calls are wanted: a range of names, and names that contain a text."""

from __future__ import annotations

from typing import Optional, Sequence


class Scope:
    """`scope` is the first and the last call of a range, `names` texts of which a name holds one; a
    module that is named so brings all calls in it."""

    def __init__(self, scope: Optional[Sequence[str]], names: Optional[Sequence[str]]) -> None:
        if scope is not None and len(scope) != 2:
            raise ValueError("scope: the names of a first and a last call")
        self._first: Optional[str] = scope[0] if scope else None
        self._last: Optional[str] = scope[1] if scope else None
        self._names = list(names or ())
        self.reset()

    def reset(self) -> None:
        """Before another step, where all names come again."""
        self._inside = False
        self._open: set[str] = set()  # modules that are named and have not ended

    def begin(self, module: str) -> None:
        if module == self._first:
            self._inside = True
        if any(name in module for name in self._names):
            self._open.add(module)

    def end(self, module: str) -> None:
        if module == self._last:
            self._inside = False
        self._open.discard(module)

    def wants(self, name: str) -> bool:
        if name == self._first:
            self._inside = True
        wanted = self._first is None or self._inside
        if wanted and self._names and not self._open:
            wanted = any(part in name for part in self._names)
        return wanted

    def wants_end(self, function: str) -> bool:
        """Likewise, of a function that has returned: the range ends with it if it is the last."""
        wanted = self.wants(function)
        if function == self._last:
            self._inside = False
        return wanted
