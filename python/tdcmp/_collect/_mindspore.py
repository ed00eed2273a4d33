"""The collector for MindSpore in PyNative mode: hooks of cells, and functions and primitives that are replaced
while a step runs."""

from __future__ import annotations

import inspect
import zlib
from collections import OrderedDict
from typing import Any, Callable, Iterator, Optional

from .._arrays import Tensor, take
from .._optional import numpy, package, package_or_none
from ._calls import silent
from ._session import Session

mindspore: Any = package("mindspore")
mint: Any = package("mindspore.mint")
_inner: Any = package("mindspore.ops.operations._inner_ops")
_api: Any = package_or_none("mindspore.graph.api") or package("mindspore.common.api")
_expression: Any = package("mindspore._c_expression")
_Dtype: Any = package("mindspore._c_expression.typing").Number

if list(inspect.signature(_inner.CellBackwardHook.__call__).parameters) != ["self", "args"]:
    raise ImportError(f"MindSpore {mindspore.__version__} is too old: 2.7 or newer can be collected")

_WITHOUT_GRADIENT = {
    getattr(mindspore, name)
    for name in "bool_ int8 uint8 int16 uint16 int32 uint32 int64 uint64".split()
}
# Element types that numpy does not have are stored as float32.
_WIDENED = ("BFloat16", "Float8E5M2", "Float8E4M3FN", "HiFloat8")


def _walk(cell: Any, path: str, seen: set[int]) -> Iterator[tuple[str, Any]]:
    """A cell and those in it, by their paths; not what a compiled one runs, nor one a second time."""
    if id(cell) in seen or getattr(cell.construct, "__wrapped_by_jit__", False):
        return
    seen.add(id(cell))
    yield path, cell
    for name, child in cell._cells.items():
        if child is not None:
            yield from _walk(child, f"{path}.{name}" if path else name, seen)


def _changeable(value: Any) -> Any:
    """What a hook of gradients hands on may be changed in place, as it could be before."""
    for one in value if isinstance(value, tuple) else (value,):
        if isinstance(one, mindspore.Tensor) and hasattr(_api._pynative_executor, "set_creation_type"):
            _api._pynative_executor.set_creation_type(one, _expression.CreationType.DEFAULT)
    return value


def _differentiable(args: Any) -> bool:
    return any(isinstance(one, mindspore.Tensor) and one.dtype not in _WITHOUT_GRADIENT for one in args)


class MindSporeSession(Session):
    framework = "mindspore"
    suffix = ".npy"
    module_word = "Cell."
    tensor_type = mindspore.Tensor
    whole_numbers = False

    def rank(self) -> Optional[int]:
        communication = package("mindspore.communication")
        return int(communication.get_rank()) if communication.GlobalComm.INITED else None

    # ---- values ----------------------------------------------------------------------------------

    def memory(self, value: Any) -> Any:
        return take(value.to(mindspore.float32) if str(value.dtype) in _WIDENED else value)

    def describe(self, value: Any, key: Any) -> Any:
        if key == "dtype" or isinstance(value, _Dtype):
            return {"type": "mindspore.dtype", "value": str(value)}
        if isinstance(value, mint.distributed.P2POp):
            return self._message(value)
        if numpy is not None and isinstance(value, numpy.ndarray) and value.dtype.kind in "biufc":
            return take(value)
        return NotImplemented

    def _message(self, value: Any) -> dict[str, Any]:
        ranks = mint.distributed.get_process_group_ranks(value.group) if value.group else None
        return {
            "class_type": "mindspore.mint.distributed.P2POp",
            "tensor": self.items(value.tensor, ""),
            "op": value.op,
            "peer": value.peer,
            "tag": value.tag,
            "group_id": None if ranks is None else f"{zlib.crc32(str(ranks).encode()):08x}",
        }

    def tensor_item(self, value: Any) -> dict[str, Any]:
        if not isinstance(value, mindspore.Tensor):
            return {"type": "numpy.ndarray", "dtype": str(value.dtype), "shape": list(value.shape)}
        return {"type": "mindspore.Tensor", "dtype": str(value.dtype), "shape": list(value.shape)}

    def own_copy(self, tensor: Tensor) -> Tensor:
        return take(tensor.keep.copy())

    # ---- attaching -------------------------------------------------------------------------------

    def attach(self) -> None:
        self._undo: list[Callable[[], None]] = []
        self._gradient_hooks: dict[str, Any] = {}
        self._kept: list[Any] = []  # what hooks of gradients refer to and do not own
        if self.level != "L1":
            self._attach_cells()
        if self.level != "L0":
            ops, tensor = package("mindspore.ops"), mindspore.Tensor
            places = {
                "Functional": [ops],
                "Tensor": [tensor],
                "Mint": [mint],
                "MintFunctional": [mint.nn.functional],
                "Distributed": [package("mindspore.communication.comm_func")],
                "MintDistributed": [mint.distributed],
            }
            self.replace_functions("mindspore_apis.txt", places)
            self.replace_kept(cell for _, cell in self._cells())
            self._attach_primitives()
            self.replaced.put(_api._JitExecutor, "__call__", self._compiled(_api._JitExecutor.__call__))

    def detach(self) -> None:
        self.replaced.restore()
        while self._undo:
            self._undo.pop()()
        self._gradient_hooks.clear()

    def _cells(self) -> Iterator[tuple[str, Any]]:
        """All cells with their paths, those of several models behind a number; the models have none."""
        for head, root in self.roots():
            for path, cell in _walk(root, "", set()):
                yield (head + path if path else path), cell

    # ---- gradients -------------------------------------------------------------------------------

    def _led(self, name: str, hook: Callable[..., None], before: bool) -> Any:
        """A primitive that leads tensors through a hook of gradients: one that is called with those of what
        came in and went out, or `before` with those of what went out alone. It returns None: gradients stay
        what they are."""
        hooks = OrderedDict({name: hook})
        self._kept.append(hooks)
        led = _inner.CellBackwardHook(name, None, hooks)
        if before:
            led.register_backward_pre_hook()
        else:
            led.register_backward_hook()
        return lambda value: _changeable(led(value))

    def _watch(self, name: str, args: Any, ends: Callable[[Any, Any], None]) -> Any:
        """Arguments that tell the gradients of a call; `ends` gets those of its output and of its input."""
        if not _differentiable(args):
            return args
        led = self._led(name, lambda _cell, found, given: ends(given, found), False)
        self._gradient_hooks[name] = led
        return led(args)

    # ---- functions -------------------------------------------------------------------------------

    def gained(self, name: str, api: str, args: Any, kwargs: Any, result: Any) -> Any:
        if api.startswith(("Distributed.", "MintDistributed.")):
            parts = result if isinstance(result, (list, tuple)) else [result]
            for one in parts:
                if hasattr(one, "wait"):
                    one.wait()
        if api.startswith("MintDistributed."):
            return tuple(args) + tuple(kwargs.values())
        return result

    def watch_inputs(self, stem: str, args: Any) -> Any:
        if not _api._pynative_executor.requires_grad():
            return args
        return self._watch(f"{stem}.backward", args, self._function_ends(f"{stem}.backward"))

    def watch_output(self, stem: str, api: str, args: Any, kwargs: Any, result: Any) -> Any:
        if not _api._pynative_executor.requires_grad():
            return result
        name = f"{stem}.backward"
        led = self._gradient_hooks.pop(name, None)
        if led is not None:
            return led(result)
        ends = self._function_ends(name)
        return self._led(name, lambda _cell, given: ends(given, ()), True)(result)

    def _function_ends(self, name: str) -> Callable[[Any, Any], None]:
        step = self.number

        def ends(given: Any, found: Any) -> None:
            if self.running and self.number == step and not self.local.busy:
                self.gradients(name, given, found)

        return ends

    def _compiled(self, original: Any) -> Any:
        """Compiled functions read the source of what they call: the originals stand there meanwhile."""

        def call(executor: Any, *args: Any, **kwargs: Any) -> Any:
            if not self.running or self.local.busy:
                return original(executor, *args, **kwargs)
            with self.replaced.suspended():
                return original(executor, *args, **kwargs)

        return call

    # ---- primitives ------------------------------------------------------------------------------

    def _attach_primitives(self) -> None:
        """Those that cells hold as attributes; which attribute, is in their names."""
        seen: set[int] = set()
        for _, cell in self._cells():
            for attribute, value in vars(cell).items():
                if isinstance(value, mindspore.ops.Primitive) and id(value) not in seen:
                    seen.add(id(value))
                    self._attach_primitive(value, f"Primitive.{attribute}.{type(value).__name__}")

    def _attach_primitive(self, primitive: Any, stem: str) -> None:
        kind = type(primitive)

        def call(this: Any, *args: Any, **kwargs: Any) -> Any:
            if not self.running or self.local.busy:
                return kind.__call__(this, *args, **kwargs)
            index = self.number_of_call(stem)
            name = f"{stem}.{index}"
            args = self._primitive_begins(name, args, kwargs)
            return self._primitive_ends(name, kind.__call__(this, *args, **kwargs))

        primitive.__class__ = type(kind.__name__, (kind,), {"__call__": call})
        self._undo.append(lambda: setattr(primitive, "__class__", kind))

    @silent
    def _primitive_begins(self, stem: str, args: Any, kwargs: Any) -> Any:
        name = f"{stem}.forward"
        if self.scope.wants(name):
            self.add_inputs(name, args, kwargs)
        return self._each_gradient(f"{stem}.backward", args, "output")

    @silent
    def _primitive_ends(self, stem: str, result: Any) -> Any:
        name = f"{stem}.forward"
        self.add_call(name)
        if self.scope.wants_end(name):
            self.add_output(name, result)
        if isinstance(result, tuple):
            return self._each_gradient(f"{stem}.backward", result, "input")
        return self._each_gradient(f"{stem}.backward", (result,), "input")[0]

    def _each_gradient(self, name: str, values: Any, member: str) -> Any:
        """Values whose gradients are told one by one, in the order in which they come."""
        found: list[Any] = []
        step = self.number

        def hook(gradient: Any) -> None:
            if self.running and self.number == step and not self.local.busy:
                found.extend(gradient)
                self._primitive_gradients(name, member, tuple(found))

        led = mindspore.ops.HookBackward(hook)
        return tuple(led(one) if isinstance(one, mindspore.Tensor) else one for one in values)

    @silent
    def _primitive_gradients(self, name: str, member: str, found: Any) -> None:
        self.add_call(name)
        if self.scope.wants(name):
            self.add(name, {member: self.items(found, f"{name}.{member}")})

    # ---- cells -----------------------------------------------------------------------------------

    def _attach_cells(self) -> None:
        for path, cell in self._cells():
            if path:
                self._attach_cell(cell, f"Cell.{path}.{type(cell).__name__}")

    def _attach_cell(self, cell: Any, stem: str) -> None:
        def before(_cell: Any, args: Any, kwargs: Any) -> Any:
            if not self.running or self.local.busy:
                return None
            return self._cell_begins(stem, args, kwargs)

        def after(_cell: Any, _args: Any, _kwargs: Any, output: Any) -> Any:
            if not self.running or self.local.busy:
                return None
            return self._cell_ends(cell, stem, output)

        handle = cell.register_forward_pre_hook(before, with_kwargs=True)
        self._undo.append(handle.remove)
        # Cells with a bprop of their own take no hook of this kind by register_forward_hook.
        key = f"tdcmp {id(self)}"
        cell._forward_hook[key] = after
        cell._forward_hook.move_to_end(key, last=False)
        cell._forward_hook_with_kwargs[key] = True
        self._undo.append(lambda: cell._forward_hook.pop(key, None))
        self._undo.append(lambda: cell._forward_hook_with_kwargs.pop(key, None))

    @silent
    def _cell_begins(self, stem: str, args: Any, kwargs: Any) -> Any:
        index = self.number_of_call(stem)
        name, backward = f"{stem}.forward.{index}", f"{stem}.backward.{index}"
        self.begin_module(name)
        if self.scope.wants(name):
            self.add_inputs(name, args, kwargs)

        def ends(given: Any, found: Any) -> None:
            if self.running:
                self._cell_gradients(backward, given, found)

        return self._watch(backward, args, ends), kwargs

    @silent
    def _cell_ends(self, cell: Any, stem: str, output: Any) -> Any:
        index = self.counts.get(stem)
        name, backward = f"{stem}.forward.{index}", f"{stem}.backward.{index}"
        parameters = {key.split(".")[-1]: one for key, one in cell.parameters_dict(recurse=False).items()}
        self._watch_parameters(stem, parameters)
        if self.scope.wants(name):
            self.add_output(name, output)
            self.add(name, {"parameters": self.items(parameters, f"{name}.parameters") or {}})
        self.end_module(name)
        led = self._gradient_hooks.pop(backward, None)

        def begins(_cell: Any, given: Any) -> None:
            if self.running:
                self.begin_module(backward)
                if led is None:
                    self._cell_gradients(backward, given, ())

        output = output if led is None else led(output)
        return self._led(backward, begins, True)(output)

    @silent
    def _cell_gradients(self, name: str, given: Any, found: Any) -> None:
        if self.scope.wants(name):
            self.add_gradients(name, given, found)
        self.end_module(name)

    def _watch_parameters(self, stem: str, parameters: dict[str, Any]) -> None:
        for key, parameter in parameters.items():
            mark = f"{stem}.{key}"
            if not parameter.requires_grad or mark in self._gradient_hooks:
                continue

            def hook(gradient: Any, _key: str = key) -> None:
                if self.running and not self.local.busy:
                    self.add_parameter_gradient(stem, _key, gradient)

            self._gradient_hooks[mark] = True
            self._undo.append(parameter.register_hook(hook).remove)
