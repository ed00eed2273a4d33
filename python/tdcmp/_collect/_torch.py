"""The collector for PyTorch: hooks of modules, and functions that are replaced while a step runs."""

from __future__ import annotations

import functools
from importlib import resources
from typing import Any, Callable, Optional

from .._arrays import DTYPES, Tensor, take
from .._optional import numpy, package, package_or_none
from ._session import Session, wrapped_names

torch: Any = package("torch")
dist: Any = package("torch.distributed")

_NEW = int(torch.__version__.split(".")[0]) >= 2  # hooks with keywords, of optimizers, before gradients
_DROPOUTS = ("dropout", "dropout1d", "dropout2d", "dropout3d")
_FORMATS = {
    getattr(torch, name): name
    for name in ("contiguous_format", "channels_last", "channels_last_3d", "preserve_format")
}
# Arguments that a call only writes to: their values before it mean nothing.
_UNREAD: dict[str, tuple[Any, ...]] = {
    "recv": (0,), "irecv": (0, "tensor"), "gather": (1,), "scatter": (0,), "all_gather": (0,),
    "reduce_scatter": (0,), "_reduce_scatter_base": (0,), "_all_gather_base": (0,), "all_to_all": (0,),
    "all_to_all_single": (0,), "all_gather_into_tensor": (0,), "reduce_scatter_tensor": (0,),
}


def _first_tensor(value: Any) -> Any:
    """The tensor whose gradient stands for a call; None where there is none."""
    while not isinstance(value, torch.Tensor):
        if isinstance(value, dict):
            value = next((v for v in value.values() if isinstance(v, torch.Tensor)), None)
        elif isinstance(value, (list, tuple)) and value:
            value = value[0]
        else:
            return None
        if value is None:
            return None
    return value


class _Flat:
    """The tensors in nested values that gradients flow through, taken out and put back."""

    def __init__(self) -> None:
        self.found: list[Any] = []

    def _hooked(self, value: Any) -> bool:
        there = isinstance(value, torch.Tensor) and torch.is_grad_enabled()
        return bool(there and value.requires_grad)

    def gather(self, value: Any) -> None:
        if self._hooked(value):
            self.found.append(value)
        elif isinstance(value, (list, tuple)):
            for one in value:
                self.gather(one)
        elif isinstance(value, dict):
            for one in value.values():
                self.gather(one)

    def replace(self, value: Any, tensors: Any) -> Any:
        if self._hooked(value):
            return next(tensors)
        if isinstance(value, list):
            value[:] = [self.replace(one, tensors) for one in value]
        elif isinstance(value, dict):
            for key, one in list(value.items()):
                value[key] = self.replace(one, tensors)
        elif isinstance(value, tuple):
            parts = [self.replace(one, tensors) for one in value]
            return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
        return value


def _changeable(tensor: Any) -> Any:
    """What a hook of gradients hands on is a view that a custom function made, and those may not be
    changed in place. This one is the tensor itself: a module may change it as it could before."""
    autograd = torch._C._autograd
    if tensor._base is not None and hasattr(autograd, "_set_creation_meta"):
        autograd._set_creation_meta(tensor, autograd.CreationMeta.DEFAULT)
    return tensor


def _through(setup: Callable[[Any], Any], value: Any) -> Any:
    """Values with their tensors led through a hook of gradients."""
    flat = _Flat()
    flat.gather(value)
    hooked = setup(tuple(flat.found))
    return flat.replace(value, map(_changeable, hooked)) if flat.found else value


class TorchSession(Session):
    framework = "pytorch"
    suffix = ".pt"

    # ---- values ----------------------------------------------------------------------------------

    def rank(self) -> Optional[int]:
        there = dist.is_available() and dist.is_initialized()
        return int(dist.get_rank()) if there else None

    def describe(self, value: Any, key: Any) -> Any:
        if key == "device":
            if isinstance(value, torch.device):
                return {"type": "torch.device", "value": f"{value.type}:{value.index}"}
            return {"type": "torch.device", "value": value} if isinstance(value, (int, str)) else {}
        if key in ("dtype", "output_dtype"):
            return {"type": "torch.dtype", "value": str(value)}
        if isinstance(value, torch.Tensor):
            return self._take(value)
        if isinstance(value, torch.Size):
            return {"type": "torch.Size", "value": [int(length) for length in value]}
        if isinstance(value, (torch.device, torch.dtype)):
            return {}
        if isinstance(value, torch.memory_format):
            return {"type": "torch.memory_format", "format": _FORMATS.get(value)}
        if dist.is_available():
            if isinstance(value, dist.ProcessGroup):
                return self._group(value)
            if isinstance(value, dist.ReduceOp):
                return {"type": "torch.distributed.ReduceOp", "value": str(value)}
        if numpy is not None and isinstance(value, numpy.ndarray) and value.dtype.kind in "biufc":
            return take(value)
        return NotImplemented

    def _group(self, group: Any) -> dict[str, Any]:
        import zlib

        ranks = dist.get_process_group_ranks(group) if hasattr(dist, "get_process_group_ranks") else []
        number = zlib.crc32(str(ranks).encode())
        return {"type": "torch.ProcessGroup", "group_ranks": ranks, "group_id": f"{number:08x}"}

    def _take(self, value: Any) -> Any:
        """The elements; a tensor without any (meta, fake) is described and no more."""
        local = value.to_local() if hasattr(value, "to_local") else value
        if local.is_meta or local.layout != torch.strided or hasattr(local, "fake_mode"):
            return dict(self.tensor_item(value), Max=None, Min=None, Mean=None, Norm=None)
        local = local.detach()
        if str(local.dtype).replace("torch.", "") not in DTYPES:  # quantised, packed
            return dict(self.tensor_item(value), Max=None, Min=None, Mean=None, Norm=None)
        return take(local)

    def tensor_item(self, value: Any) -> dict[str, Any]:
        if not isinstance(value, torch.Tensor):
            return {"type": "numpy.ndarray", "dtype": str(value.dtype), "shape": list(value.shape)}
        item: dict[str, Any] = {"type": "torch.Tensor", "dtype": str(value.dtype)}
        shape = value.shape
        if hasattr(value, "to_local"):
            item["type"] = "torch.distributed.tensor.DTensor"
            shape = value.to_local().shape
            item["device_mesh"] = value.device_mesh.mesh.tolist()
            item["placements"] = [self._placement(one) for one in value.placements]
        elif hasattr(value, "fake_mode"):
            item["type"] = "torch._subclasses.fake_tensor.FakeTensor"
        item["shape"] = [int(length) for length in shape]
        item["requires_grad"] = value.requires_grad
        return item

    @staticmethod
    def _placement(placement: Any) -> dict[str, Any]:
        if placement.is_shard():
            return {"Shard": {"dim": placement.dim}}
        if placement.is_replicate():
            return {"Replicate": {}}
        return {"Partial": {"reduce_op": str(getattr(placement, "reduce_op", ""))}}

    def own_copy(self, tensor: Tensor, value: Any) -> Tensor:
        kept = tensor.keep
        if isinstance(kept, torch.Tensor):
            # what came from a device is a copy already
            moved = isinstance(value, torch.Tensor) and value.device.type != "cpu"
            return tensor if moved else take(kept.clone(memory_format=torch.contiguous_format))
        return take(kept.copy())

    # ---- attaching -------------------------------------------------------------------------------

    def attach(self) -> None:
        self._handles: list[Any] = []
        self._restored: list[tuple[Any, str, bool, Any]] = []
        self._backward: dict[str, Any] = {}
        self._pending: dict[int, Any] = {}
        self._grad_calls: dict[str, list[Any]] = {}
        if self.level != "L1":
            self._attach_modules()
        if self.level != "L0":
            self._attach_functions()
        if self.level == "mix":
            self._attach_phases()

    def detach(self) -> None:
        for handle in self._handles:
            handle.remove()
        for owner, name, own, original in reversed(self._restored):
            if own:
                setattr(owner, name, original)
            else:
                delattr(owner, name)
        self._handles, self._restored = [], []
        self._backward.clear()
        self._pending.clear()

    def _replace(self, owner: Any, name: str, function: Any) -> None:
        own = name in vars(owner)
        self._restored.append((owner, name, own, vars(owner).get(name)))
        setattr(owner, name, function)

    def _attach_phases(self) -> None:
        """Calls of an optimizer or of clipping belong to it and to no module."""

        def enter(word: str) -> Callable[..., None]:
            def hook(*_: Any) -> None:
                self.phase = word

            return hook

        if _NEW:
            optimizer = package("torch.optim.optimizer")
            self._handles.append(optimizer.register_optimizer_step_pre_hook(enter("optimizer")))
            self._handles.append(optimizer.register_optimizer_step_post_hook(enter("")))
        for name in ("clip_grad_norm_", "clip_grad_value_"):
            original = getattr(torch.nn.utils, name)

            def clip(*args: Any, _original: Any = original, **kwargs: Any) -> Any:
                self.phase = "clip_grad"
                try:
                    return _original(*args, **kwargs)
                finally:
                    self.phase = ""

            self._replace(torch.nn.utils, name, functools.wraps(original)(clip))

    # ---- functions -------------------------------------------------------------------------------

    def _attach_functions(self) -> None:
        words = (resources.files(__package__) / "torch_apis.txt").read_text()
        places: list[tuple[str, Any, list[Any]]] = [
            ("Functional", torch.nn.functional, [torch.nn.functional]),
            ("Tensor", torch.Tensor, [torch.Tensor]),
            ("Torch", torch, [torch]),
            ("VF", torch._C._VariableFunctionsClass, [torch._VF]),
        ]
        if dist.is_available():
            places.append(("Distributed", dist, [dist, dist.distributed_c10d]))
            self._replace(dist.Work, "wait", self._waited(dist.Work.wait))
        npu = package_or_none("torch_npu")
        if npu is not None:
            places.append(("NPU", npu, [npu]))
        for head, source, owners in places:
            for name in wrapped_names(words, head):
                *path, last = name.split(".")
                origin = functools.reduce(lambda at, part: getattr(at, part, None), path, source)
                original = getattr(origin, last, None)
                if not callable(original):
                    continue
                function = self._recorded(original, f"{head}.{last}")
                for owner in owners:
                    owner = functools.reduce(lambda at, part: getattr(at, part, None), path, owner)
                    if hasattr(owner, last):
                        self._replace(owner, last, function)

    def _recorded(self, original: Any, api: str) -> Any:
        """The function, which also records its calls, but not those that it makes itself."""

        def call(*args: Any, **kwargs: Any) -> Any:
            local = self.local
            if not self.running or local.busy:
                return original(*args, **kwargs)
            local.depth += 1
            try:
                if local.depth != 1:
                    return original(*args, **kwargs)
                stem = f"{api}.{self.count(api)}"
                self._before(stem, api, args, kwargs)
                result = original(*args, **kwargs)
                self._after(stem, api, args, kwargs, result)
                return result
            finally:
                local.depth -= 1

        try:
            return functools.wraps(original)(call)
        except (AttributeError, TypeError):
            return call

    def _before(self, stem: str, api: str, args: Any, kwargs: Any) -> None:
        name = f"{stem}.forward"
        if not self.wants(name):
            return
        self.local.busy = True
        try:
            if api.startswith("Distributed."):
                unread = _UNREAD.get(api.split(".")[1], ())
                args = tuple(None if i in unread else one for i, one in enumerate(args))
                kwargs = {key: None if key in unread else one for key, one in kwargs.items()}
            inputs = self.items(tuple(args), f"{name}.input")
            self.add_stack(name)
            keywords = self.items(kwargs, f"{name}.kwargs") or {}
            self.add(name, {"input_args": inputs, "input_kwargs": keywords})
        finally:
            self.local.busy = False

    def _after(self, stem: str, api: str, args: Any, kwargs: Any, result: Any) -> None:
        name = f"{stem}.forward"
        self.local.busy = True
        try:
            self._watch_gradient(stem, api, args, kwargs, result)
            self.add_call(name)
            if api.startswith("Distributed."):
                if hasattr(result, "wait"):
                    self._pending[id(result)] = (result, name, args, kwargs)
                result = tuple(args) + tuple(kwargs.values())
            if self.wants(name):
                output = result if isinstance(result, tuple) else (result,)
                self.add(name, {"output": self.items(output, f"{name}.output")})
            with self.lock:
                self.counts[api] = self.count(api) + 1
        finally:
            self.local.busy = False

    def _waited(self, original: Any) -> Any:
        """The outputs of calls that went on in the background, when they have arrived."""

        def wait(work: Any, *args: Any, **kwargs: Any) -> Any:
            done = original(work, *args, **kwargs)
            entry = self._pending.pop(id(work), None)
            if entry is not None and self.running and self.wants(entry[1]):
                _, name, given, named = entry
                output = tuple(given) + tuple(named.values())
                self.local.busy = True
                try:
                    self.add(name, {"output": self.items(output, f"{name}.output")})
                finally:
                    self.local.busy = False
            return done

        return wait

    def _watch_gradient(self, stem: str, api: str, args: Any, kwargs: Any, result: Any) -> None:
        if api.split(".")[-1] in _DROPOUTS and api.startswith("Functional."):
            if (args[1] if len(args) > 1 else kwargs.get("p", 0.5)) == 0:
                return
        tensor = _first_tensor(result)
        if tensor is None or not (tensor.requires_grad and torch.is_grad_enabled()):
            return
        if tensor.grad_fn is not None:
            step = self.number

            def hook(grad_input: Any, grad_output: Any) -> None:
                if self.running and self.number == step:
                    self._gradients(f"{stem}.backward", grad_output, grad_input, True)

            tensor.grad_fn.register_hook(hook)

    def _gradients(self, name: str, given: Any, found: Any, api: bool) -> None:
        local = self.local
        if local.busy:
            return
        local.busy = True
        try:
            if api:
                self.add_call(name)
            if not self.wants(name):
                return
            inputs = self.items(given if isinstance(given, tuple) else (given,), f"{name}.input")
            outputs = self.items(found if isinstance(found, tuple) else (found,), f"{name}.output")
            self.add(name, {"input": inputs, "output": outputs})
        finally:
            local.busy = False

    # ---- modules ---------------------------------------------------------------------------------

    def _attach_modules(self) -> None:
        several = isinstance(self.model, (list, tuple))
        for number, root in enumerate(self.model if several else [self.model]):
            for path, module in root.named_modules():
                if module is root or type(module).__name__ == "FullyShardedDataParallel":
                    continue
                place = f"{number}.{path}" if several else path
                self._attach_module(module, f"Module.{place}.{type(module).__name__}")

    def _attach_module(self, module: Any, stem: str) -> None:
        def before(_module: Any, args: Any, kwargs: Any = None) -> Any:
            if not self.running or self.local.busy:
                return None
            return self._module_begins(module, stem, args, kwargs or {})

        def after(_module: Any, args: Any, *rest: Any) -> Any:
            if not self.running or self.local.busy:
                return None
            return self._module_ends(module, stem, rest[-1])

        if _NEW:
            self._handles.append(module.register_forward_pre_hook(before, with_kwargs=True))
            self._handles.append(module.register_forward_hook(after, with_kwargs=True, prepend=True))
        else:
            self._handles.append(module.register_forward_pre_hook(before))
            self._handles.append(module.register_forward_hook(after))

    def _module_begins(self, module: Any, stem: str, args: Any, kwargs: Any) -> Any:
        with self.lock:
            index = self.counts[stem] = self.counts.get(stem, -1) + 1
        name = f"{stem}.forward.{index}"
        self.begin_module(name)
        self.local.busy = True
        try:
            if self.wants(name):
                inputs = self.items(tuple(args), f"{name}.input")
                self.add_stack(name)
                keywords = self.items(kwargs, f"{name}.kwargs") or {}
                self.add(name, {"input_args": inputs, "input_kwargs": keywords})
            if module._backward_hooks and module._is_full_backward_hook is False:
                return None  # old hooks of the module's own: the two kinds exclude each other
            backward = f"{stem}.backward.{index}"

            def gradients(_module: Any, grad_input: Any, grad_output: Any) -> None:
                if self.running:
                    if not _NEW:
                        self.begin_module(backward)
                    self._gradients(backward, grad_output, grad_input, False)
                    self.end_module(backward)

            def gradients_begin(_module: Any, _grad_output: Any) -> None:
                if self.running:
                    self.begin_module(backward)

            hooks: Any = ([gradients], [gradients_begin]) if _NEW else ([gradients],)
            hook = package("torch.utils.hooks").BackwardHook(module, *hooks)
            self._backward[name] = hook
            args = _through(hook.setup_input_hook, args)
            return (args, kwargs) if _NEW else args
        finally:
            self.local.busy = False

    def _module_ends(self, module: Any, stem: str, result: Any) -> Any:
        name = f"{stem}.forward.{self.counts.get(stem)}"
        self.local.busy = True
        try:
            parameters = dict(module.named_parameters(recurse=False))
            self._watch_parameters(stem, parameters)
            if self.wants(name):
                output = result if isinstance(result, tuple) else (result,)
                members = {"output": self.items(output, f"{name}.output")}
                members["parameters"] = self.items(parameters, f"{name}.parameters") or {}
                self.add(name, members)
            self.end_module(name)
            hook = self._backward.get(name)
            return result if hook is None else _through(hook.setup_output_hook, result)
        finally:
            self.local.busy = False

    def _watch_parameters(self, stem: str, parameters: dict[str, Any]) -> None:
        for key, parameter in parameters.items():
            if not parameter.requires_grad or f"{stem}.{key}" in self._grad_calls:
                continue
            view = parameter.expand_as(parameter)
            if view.grad_fn is None:
                continue
            node = view.grad_fn.next_functions[0][0]

            def hook(*_: Any, _key: str = key, _parameter: Any = parameter) -> None:
                self._parameter_gradient(stem, _key, _parameter)

            self._handles.append(node.register_hook(hook))
            self._grad_calls[f"{stem}.{key}"] = [node]  # the node lives as long as its hook

    def _parameter_gradient(self, stem: str, key: str, parameter: Any) -> None:
        if not self.running or self.local.busy:
            return
        self.local.busy = True
        try:
            with self.lock:
                # the parameter that comes first counts the turns of all of its module
                turn = self._grad_calls.setdefault(stem, [0, key])
                if turn[1] == key and len(turn) == 3:
                    turn[0] += 1
                elif turn[1] == key:
                    turn.append(True)
            name = f"{stem}.parameters_grad.{turn[0]}"
            if self.wants(stem):
                self.add(name, {key: [self.items(parameter.grad, f"{name}.{key}")]})
        finally:
            self.local.busy = False
