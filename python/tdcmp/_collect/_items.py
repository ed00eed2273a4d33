"""Values of a call as a dump tells them: containers, arguments, tensors."""

from __future__ import annotations

from typing import Any, Optional

from .._arrays import Tensor
from .._library import TensorStatistics
from .._optional import numpy

_DEPTH = 400  # of nested arguments
_TYPED_KEYS = ("device", "dtype", "output_dtype")  # keywords that the framework describes, whatever they hold
_AFTER_STATISTICS = ("requires_grad", "device_mesh", "placements", "layout", "hsdp_shard_size")
_WHOLE = ("int", "uint")


def _whole(value: Any) -> Optional[int]:
    try:
        return None if value is None else int(value)
    except (TypeError, ValueError):
        return None


def _plain(value: Any, key: Any) -> Any:
    """The item of what belongs to no framework; NotImplemented for all else."""
    if key in _TYPED_KEYS:
        return NotImplemented
    if isinstance(value, (bool, int, float, str)):
        return {"type": type(value).__name__, "value": value}
    if isinstance(value, slice):
        return {"type": "slice", "value": [_whole(end) for end in (value.start, value.stop, value.step)]}
    if value is Ellipsis:
        return {"type": "ellipsis", "value": "..."}
    if numpy is not None and isinstance(value, numpy.generic):
        return {"type": type(value).__name__, "value": value.item()}
    return NotImplemented


def statistics_of(found: TensorStatistics, tensor: Tensor, whole_numbers: bool) -> tuple[Any, ...]:
    """Max, Min, Mean and Norm as collectors write them. whole_numbers: of integers the first two only, as
    integers; otherwise all four, as numbers."""
    dtype = tensor.dtype
    if not tensor.count or dtype.startswith("float8"):
        return None, None, None, None
    if dtype == "bool":
        return bool(found.max), bool(found.min), None, None
    whole = dtype.startswith(_WHOLE)
    if not tensor.shape and not dtype.startswith("complex"):
        return (int(found.max) if whole else found.max,) * 4
    if whole and whole_numbers:
        return int(found.max), int(found.min), None, None
    if dtype.startswith("complex") and whole_numbers:
        return found.max, found.min, found.mean, None
    return found.max, found.min, found.mean, found.norm


class Items:
    """The framework's part says what its own values are (memory, describe) and how a tensor looks
    (tensor_item)."""

    tensor_type: Any = ()

    def memory(self, value: Any) -> Any:
        """The elements of a tensor; its item where there are none."""
        raise NotImplementedError

    def describe(self, value: Any, key: Any) -> Any:
        """The item of a value that is neither tensor nor container, the memory of one that is an array;
        NotImplemented for all else."""
        raise NotImplementedError

    def tensor_item(self, value: Any) -> dict[str, Any]:
        """Type, dtype, shape and what else a dump tells of a tensor beside its statistics."""
        raise NotImplementedError

    def tensor(self, tensor: Tensor, item: dict[str, Any], name: str) -> None:
        """Completes the item of a tensor: statistics, the name of its file."""
        raise NotImplementedError

    def empty_item(self, value: Any) -> dict[str, Any]:
        item = self.tensor_item(value)
        tail = {key: item.pop(key) for key in _AFTER_STATISTICS if key in item}
        item.update(Max=None, Min=None, Mean=None, Norm=None, **tail)
        return item

    def items(self, value: Any, name: str, key: Any = None, depth: int = 0) -> Any:
        """name: that of the value's tensor file."""
        if value is None or depth > _DEPTH:
            return None
        if isinstance(value, self.tensor_type) and key not in _TYPED_KEYS:
            found = self.memory(value)
        else:
            found = _plain(value, key)
            if found is NotImplemented:
                found = self.describe(value, key)
        if isinstance(found, Tensor):
            item = self.empty_item(value)
            self.tensor(found, item, name)
            return item
        if found is not NotImplemented:
            return found
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            value = {field: getattr(value, field) for field in value._fields}
        elif hasattr(value, "__dataclass_fields__"):
            value = {field: getattr(value, field, None) for field in value.__dataclass_fields__}
        if isinstance(value, (list, tuple)):
            return [self.items(one, f"{name}.{i}", i, depth + 1) for i, one in enumerate(value)]
        if isinstance(value, dict):
            return {str(k): self.items(v, f"{name}.{k}", k, depth + 1) for k, v in value.items()}
        return None
