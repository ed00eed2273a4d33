"""Attributes that stand for others while a step runs, and the lists of functions that are replaced."""

from __future__ import annotations

from contextlib import contextmanager
from functools import lru_cache, reduce
from importlib import resources
from typing import Any, Iterator, Sequence


class Replaced:
    def __init__(self) -> None:
        self._entries: list[tuple[Any, str, bool, Any]] = []

    def put(self, owner: Any, name: str, value: Any) -> None:
        own = name in vars(owner)
        self._entries.append((owner, name, own, vars(owner).get(name)))
        setattr(owner, name, value)

    def restore(self) -> None:
        """Puts everything back."""
        while self._entries:
            owner, name, own, original = self._entries.pop()
            if own:
                setattr(owner, name, original)
            else:
                delattr(owner, name)

    @contextmanager
    def suspended(self) -> Iterator[None]:
        """The originals are in their places for a while."""
        replacements = [(owner, name, vars(owner)[name]) for owner, name, _, _ in self._entries]
        self.restore()
        try:
            yield
        finally:
            for owner, name, value in replacements:
                self.put(owner, name, value)


def follow(owner: Any, path: Sequence[str]) -> Any:
    """What attributes lead to; None where one is missing."""
    return reduce(lambda at, part: getattr(at, part, None), path, owner)


@lru_cache
def listed(file: str) -> list[tuple[str, str]]:
    """Heads and names of a list of functions: `[head]` lines, and below each the names."""
    head, found = "", []
    for line in (resources.files(__package__) / file).read_text().splitlines():
        if line.startswith("["):
            head = line.strip("[]")
        elif not line.startswith("#"):
            found += [(head, name) for name in line.split()]
    return found
