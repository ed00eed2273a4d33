"""The collector for PyTorch: hooks of modules, and functions that are replaced while a step runs."""

from __future__ import annotations

import functools
import sys
from inspect import signature
from typing import Any, Callable, Optional, Sequence

from .._optional import package, package_or_none
from ._calls import silent
from ._torch_values import TorchValues, dist, torch

_NEW = int(torch.__version__.split(".")[0]) >= 2  # hooks with keywords, of optimizers, before gradients
# Hooks that are called of a module that fails, too: it has ended. One that a checkpoint computes again is stopped by
# an exception as soon as everything is there.
_ALWAYS = {"always_call": True} if "always_call" in signature(torch.nn.Module.register_forward_hook).parameters else {}
_STOPPED = "_StopRecomputationError"
_DROPOUTS = tuple(f"Functional.{name}" for name in ("dropout", "dropout1d", "dropout2d", "dropout3d"))
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
    return value


def _hooked(value: Any) -> bool:
    """Whether gradients flow through a value."""
    return isinstance(value, torch.Tensor) and torch.is_grad_enabled() and bool(value.requires_grad)


def _gather(value: Any, found: list[Any]) -> None:
    if _hooked(value):
        found.append(value)
    elif isinstance(value, (list, tuple)):
        for one in value:
            _gather(one, found)
    elif isinstance(value, dict):
        for one in value.values():
            _gather(one, found)


def _put_back(value: Any, tensors: Any) -> Any:
    if _hooked(value):
        return next(tensors)
    if isinstance(value, list):
        value[:] = [_put_back(one, tensors) for one in value]
    elif isinstance(value, dict):
        for key, one in list(value.items()):
            value[key] = _put_back(one, tensors)
    elif isinstance(value, tuple):
        parts = [_put_back(one, tensors) for one in value]
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
    """Values with their tensors led through a hook of gradients, however nested."""
    found: list[Any] = []
    _gather(value, found)
    hooked = setup(tuple(found))
    return _put_back(value, map(_changeable, hooked)) if found else value


class TorchSession(TorchValues):
    def rank(self) -> Optional[int]:
        there = dist.is_available() and dist.is_initialized()
        return int(dist.get_rank()) if there else None

    def attach(self) -> None:
        self._handles: list[Any] = []
        self._backward: dict[str, Any] = {}  # hooks of the gradients of modules
        self._pending: dict[int, Any] = {}  # communication that goes on in the background
        self._watched: dict[str, Any] = {}  # what leads to the gradients of parameters
        if self.level != "L1":
            self._attach_modules()
        if self.level != "L0":
            self._attach_functions()
        if self.level == "mix":
            self._attach_phases()

    def detach(self) -> None:
        for handle in self._handles:
            handle.remove()
        self.replaced.restore()
        for kept in (self._handles, self._backward, self._pending, self._watched):
            kept.clear()

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

            self.replaced.put(torch.nn.utils, name, functools.wraps(original)(clip))

    # ---- functions -------------------------------------------------------------------------------

    def _attach_functions(self) -> None:
        places: dict[str, Sequence[Any]] = {
            "Functional": [torch.nn.functional],
            "Tensor": [torch.Tensor],
            "Torch": [torch],
        }
        if dist.is_available():
            places["Distributed"] = [dist, dist.distributed_c10d]
            self.replaced.put(dist.Work, "wait", self._waited(dist.Work.wait))
        npu = package_or_none("torch_npu")
        if npu is not None:
            places["NPU"] = [npu]
        self.replace_functions("torch_apis.txt", places)
        self.replace_kept(module for _, root in self.roots() for module in root.modules())

    def given(self, api: str, args: Any, kwargs: Any) -> tuple[Any, Any]:
        unread = _UNREAD.get(api.split(".")[1], ()) if api.startswith("Distributed.") else ()
        if not unread:
            return args, kwargs
        return (
            tuple(None if i in unread else one for i, one in enumerate(args)),
            {key: None if key in unread else one for key, one in kwargs.items()},
        )

    def gained(self, name: str, api: str, args: Any, kwargs: Any, result: Any) -> Any:
        if not api.startswith("Distributed."):
            return result
        if hasattr(result, "wait"):
            self._pending[id(result)] = (result, name, args, kwargs)
        return tuple(args) + tuple(kwargs.values())

    def _waited(self, original: Any) -> Any:
        """The outputs of calls that went on in the background, when they have arrived."""

        def wait(work: Any, *args: Any, **kwargs: Any) -> Any:
            done = original(work, *args, **kwargs)
            entry = self._pending.pop(id(work), None)
            if entry is not None and self.running:
                self._arrived(*entry[1:])
            return done

        return wait

    @silent
    def _arrived(self, name: str, args: Any, kwargs: Any) -> None:
        self.add_output(name, tuple(args) + tuple(kwargs.values()))

    def watch_output(self, stem: str, api: str, args: Any, kwargs: Any, result: Any) -> Any:
        if api in _DROPOUTS and (args[1] if len(args) > 1 else kwargs.get("p", 0.5)) == 0:
            return result
        tensor = _first_tensor(result)
        if _hooked(tensor) and tensor.grad_fn is not None:
            step = self.number

            def hook(grad_input: Any, grad_output: Any) -> None:
                if self.running and self.number == step and not self.local.busy:
                    self.gradients(f"{stem}.backward", grad_output, grad_input)

            tensor.grad_fn.register_hook(hook)
        return result

    # ---- modules ---------------------------------------------------------------------------------

    def _attach_modules(self) -> None:
        for head, root in self.roots():
            for path, module in root.named_modules():
                if module is not root and type(module).__name__ != "FullyShardedDataParallel":
                    self._attach_module(module, f"Module.{head}{path}.{type(module).__name__}")

    def _attach_module(self, module: Any, stem: str) -> None:
        def before(_module: Any, args: Any, kwargs: Any = None) -> Any:
            if not self.running or self.local.busy:
                return None
            return self._module_begins(module, stem, args, kwargs or {})

        def after(_module: Any, args: Any, *rest: Any) -> Any:
            if not self.running or self.local.busy:
                return None
            failure = sys.exc_info()[0] if rest[-1] is None else None
            if failure is not None and failure.__name__ != _STOPPED:
                return self.end_module(f"{stem}.forward.{self.counts.get(stem)}")
            return self._module_ends(module, stem, rest[-1])

        if _NEW:
            self._handles.append(module.register_forward_pre_hook(before, with_kwargs=True))
            self._handles.append(module.register_forward_hook(after, with_kwargs=True, prepend=True, **_ALWAYS))
        else:
            self._handles.append(module.register_forward_pre_hook(before))
            self._handles.append(module.register_forward_hook(after))

    @silent
    def _module_begins(self, module: Any, stem: str, args: Any, kwargs: Any) -> Any:
        index = self.number_of_call(stem)
        name = f"{stem}.forward.{index}"
        self.begin_module(name)
        if self.scope.wants(name):
            self.add_inputs(name, args, kwargs)
        if module._backward_hooks and module._is_full_backward_hook is False:
            return None  # old hooks of the module's own: the two kinds exclude each other
        backward = f"{stem}.backward.{index}"

        def begins(_module: Any, _grad_output: Any) -> None:
            if self.running:
                self.begin_module(backward)

        def ends(_module: Any, grad_input: Any, grad_output: Any) -> None:
            if self.running:
                self._module_gradients(backward, grad_output, grad_input)

        hooks: Any = ([ends], [begins]) if _NEW else ([ends],)
        hook = package("torch.utils.hooks").BackwardHook(module, *hooks)
        self._backward[name] = hook
        args = _through(hook.setup_input_hook, args)
        return (args, kwargs) if _NEW else args

    @silent
    def _module_ends(self, module: Any, stem: str, result: Any) -> Any:
        name = f"{stem}.forward.{self.counts.get(stem)}"
        parameters = dict(module.named_parameters(recurse=False))
        self._watch_parameters(stem, parameters)
        if self.scope.wants(name):
            self.add_output(name, result)
            self.add(name, {"parameters": self.items(parameters, f"{name}.parameters") or {}})
        self.end_module(name)
        hook = self._backward.get(name)
        return result if hook is None else _through(hook.setup_output_hook, result)

    @silent
    def _module_gradients(self, name: str, given: Any, found: Any) -> None:
        if not _NEW:
            self.begin_module(name)
        if self.scope.wants(name):
            self.add_gradients(name, given, found)
        self.end_module(name)

    def _watch_parameters(self, stem: str, parameters: dict[str, Any]) -> None:
        for key, parameter in parameters.items():
            if not parameter.requires_grad or f"{stem}.{key}" in self._watched:
                continue
            view = parameter.expand_as(parameter)
            if view.grad_fn is None:
                continue
            node = view.grad_fn.next_functions[0][0]

            def hook(*_: Any, _key: str = key, _parameter: Any = parameter) -> None:
                if self.running and not self.local.busy:
                    self.add_parameter_gradient(stem, _key, _parameter.grad)

            self._handles.append(node.register_hook(hook))
            self._watched[f"{stem}.{key}"] = node  # the node lives as long as its hook
