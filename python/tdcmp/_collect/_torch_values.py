"""Values of PyTorch as a dump tells them."""

from __future__ import annotations

import zlib
from typing import Any

from .._arrays import DTYPES, Tensor, from_torch, take
from .._optional import numpy, package
from ._session import Session

torch: Any = package("torch")
dist: Any = package("torch.distributed")

_FORMATS = {
    getattr(torch, name): name
    for name in ("contiguous_format", "channels_last", "channels_last_3d", "preserve_format")
}
_DTYPES = {getattr(torch, name): name for name in DTYPES if hasattr(torch, name)}


def _group(group: Any) -> dict[str, Any]:
    ranks = dist.get_process_group_ranks(group) if hasattr(dist, "get_process_group_ranks") else []
    return {"type": "torch.ProcessGroup", "group_ranks": ranks, "group_id": f"{zlib.crc32(str(ranks).encode()):08x}"}


def _placement(placement: Any) -> dict[str, Any]:
    if placement.is_shard():
        return {"Shard": {"dim": placement.dim}}
    if placement.is_replicate():
        return {"Replicate": {}}
    return {"Partial": {"reduce_op": str(getattr(placement, "reduce_op", ""))}}


class TorchValues(Session):
    framework = "pytorch"
    suffix = ".pt"
    module_word = "Module."
    tensor_type = torch.Tensor

    def describe(self, value: Any, key: Any) -> Any:
        if key == "device":
            if isinstance(value, torch.device):
                return {"type": "torch.device", "value": f"{value.type}:{value.index}"}
            return {"type": "torch.device", "value": value} if isinstance(value, (int, str)) else {}
        if key in ("dtype", "output_dtype"):
            return {"type": "torch.dtype", "value": str(value)}
        if isinstance(value, torch.Size):
            return {"type": "torch.Size", "value": [int(length) for length in value]}
        if isinstance(value, (torch.device, torch.dtype)):
            return {}
        if isinstance(value, torch.memory_format):
            return {"type": "torch.memory_format", "format": _FORMATS.get(value)}
        if dist.is_available():
            if isinstance(value, dist.ProcessGroup):
                return _group(value)
            if isinstance(value, dist.ReduceOp):
                return {"type": "torch.distributed.ReduceOp", "value": str(value)}
        if numpy is not None and isinstance(value, numpy.ndarray) and value.dtype.kind in "biufc":
            return take(value)
        return NotImplemented

    def memory(self, value: Any) -> Any:
        """A tensor without elements here (meta, fake, quantised, packed) is described and no more."""
        local = value.to_local() if hasattr(value, "to_local") else value
        if local.layout != torch.strided or local.is_meta or local.dtype not in _DTYPES or hasattr(local, "fake_mode"):
            return self.empty_item(value)
        return from_torch(local)

    def tensor_item(self, value: Any) -> dict[str, Any]:
        if not isinstance(value, torch.Tensor):
            return {"type": "numpy.ndarray", "dtype": str(value.dtype), "shape": list(value.shape)}
        item: dict[str, Any] = {"type": "torch.Tensor", "dtype": str(value.dtype)}
        shape = value.shape
        if hasattr(value, "to_local"):
            item["type"] = "torch.distributed.tensor.DTensor"
            shape = value.to_local().shape
            item["device_mesh"] = value.device_mesh.mesh.tolist()
            item["placements"] = [_placement(one) for one in value.placements]
        elif hasattr(value, "fake_mode"):
            item["type"] = "torch._subclasses.fake_tensor.FakeTensor"
        item["shape"] = list(shape)
        item["requires_grad"] = value.requires_grad
        return item

    def own_copy(self, tensor: Tensor) -> Tensor:
        if isinstance(tensor.keep, torch.Tensor):
            return from_torch(tensor.keep.clone(memory_format=torch.contiguous_format))
        return take(tensor.keep.copy())
