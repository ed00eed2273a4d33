"""Packages that are used when they are there."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def package(name: str) -> Any:
    """A package that is needed now; ImportError says which one is missing."""
    return import_module(name)


def package_or_none(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        return None


numpy: Any = package_or_none("numpy")
