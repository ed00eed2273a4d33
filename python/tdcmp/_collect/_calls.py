"""Calls of functions and modules as entries of a dump: names and numbers, which is in which, call stacks."""

from __future__ import annotations

import functools
import linecache
import os
import sys
import threading
from typing import Any, Callable, Iterable, Iterator, Mapping, Optional, Sequence, TypeVar

from ._items import Items
from ._replaced import Replaced, follow, listed
from ._scope import Scope

_OWN = os.path.dirname(os.path.abspath(__file__))
_Method = TypeVar("_Method", bound=Callable[..., Any])


def silent(method: _Method) -> _Method:
    """A method of the collector during which calls are its own and are not recorded."""

    @functools.wraps(method)
    def run(self: Any, *args: Any) -> Any:
        local = self.local
        before, local.busy = local.busy, True
        try:
            return method(self, *args)
        finally:
            local.busy = before

    return run  # type: ignore[return-value]


def _defaults(kind: type) -> Iterator[Any]:
    """Of the arguments of a constructor, those of its bases as well."""
    for base in kind.__mro__:
        made = vars(base).get("__init__")
        yield from getattr(made, "__defaults__", None) or ()
        yield from (getattr(made, "__kwdefaults__", None) or {}).values()


class Local(threading.local):
    """What a thread is doing."""

    def __init__(self) -> None:
        self.busy = False  # in the collector itself
        self.depth = 0  # of recorded functions that call each other: the outermost counts
        self.modules: list[str] = []


class Calls(Items):
    """The entries of one step."""

    module_word = ""  # in front of the names of modules

    def __init__(self, level: str, scope: Scope, stacks: bool) -> None:
        self.level = level
        self.scope = scope
        self.running = False
        self.lock = threading.RLock()
        self.replaced = Replaced()
        self._stacks_wanted = stacks
        self._lines: dict[tuple[Any, int], str] = {}
        self._functions: dict[str, tuple[Any, Any]] = {}  # originals and recording functions, by API
        self.begin_step()

    def begin_step(self) -> None:
        self.scope.reset()
        self.local = Local()
        self.counts: dict[str, int] = {}
        self.data: dict[str, Any] = {}
        self.stacks: dict[tuple[str, ...], list[str]] = {}
        self.construct: dict[str, Optional[str]] = {}
        self.phase = ""  # calls outside of modules that belong together: "optimizer"
        self._open: dict[str, bool] = {}  # modules that have begun and not ended, in any thread
        self._stand_ins: dict[int, Any] = {}  # recording functions, by their originals
        self._turns: dict[str, list[Any]] = {}  # of the gradients of a module's parameters

    def number_of_call(self, stem: str) -> int:
        """Those of one name are counted from 0, also those that fail."""
        with self.lock:
            index = self.counts[stem] = self.counts.get(stem, -1) + 1
        return index

    # ---- entries ---------------------------------------------------------------------------------

    def add(self, name: str, members: dict[str, Any]) -> None:
        """Adds members to an entry; that of a module stands where it ended."""
        with self.lock:
            entry = self.data.get(name)
            if entry is None:
                self.data[name] = members
                return
            entry.update(members)
            if name.startswith(self.module_word):
                self.data[name] = self.data.pop(name)

    def add_inputs(self, name: str, args: Any, kwargs: Any) -> None:
        inputs = self.items(tuple(args), f"{name}.input")
        self._add_stack(name)
        self.add(name, {"input_args": inputs, "input_kwargs": self.items(kwargs, f"{name}.kwargs") or {}})

    def add_output(self, name: str, result: Any) -> None:
        output = result if isinstance(result, tuple) else (result,)
        self.add(name, {"output": self.items(output, f"{name}.output")})

    def add_gradients(self, name: str, given: Any, found: Any) -> None:
        inputs = self.items(given if isinstance(given, tuple) else (given,), f"{name}.input")
        outputs = self.items(found if isinstance(found, tuple) else (found,), f"{name}.output")
        self.add(name, {"input": inputs, "output": outputs})

    @silent
    def add_parameter_gradient(self, stem: str, key: str, gradient: Any) -> None:
        """The parameter of a module whose gradient comes first counts the turns of all of them."""
        with self.lock:
            turn = self._turns.get(stem)
            if turn is None:
                turn = self._turns[stem] = [0, key]
            elif turn[1] == key:
                turn[0] += 1
        name = f"{stem}.parameters_grad.{turn[0]}"
        if self.scope.wants(stem):
            self.add(name, {key: [self.items(gradient, f"{name}.{key}")]})

    def _add_stack(self, name: str) -> None:
        if not self._stacks_wanted:
            return
        frame: Any = sys._getframe(2)
        lines = []
        known = self._lines
        while frame is not None:
            place = (frame.f_code, frame.f_lineno)
            line = known.get(place)
            if line is None:
                line = known[place] = self._line(*place)
            if line:
                lines.append(line)
            frame = frame.f_back
        with self.lock:
            self.stacks.setdefault(tuple(lines), []).append(name)

    @staticmethod
    def _line(code: Any, number: int) -> str:
        """A line of a call stack; empty for those of the collector and where there is no source."""
        file = code.co_filename
        source = "" if file.startswith(_OWN) else linecache.getline(file, number).strip()
        return f"File {file}, line {number}, in {code.co_name}, \n {source}" if source else ""

    # ---- which is in which -----------------------------------------------------------------------

    def begin_module(self, name: str) -> None:
        """By what this thread is in, or else by names."""
        with self.lock:
            inside = self.local.modules
            self.construct[name] = inside[-1] if inside else self._parent_by_name(name)
            self._open[name] = True
            inside.append(name)
            self.scope.begin(name)

    def _parent_by_name(self, name: str) -> Optional[str]:
        parts = name.split(".")
        path = ".".join(parts[:-4])
        if len(parts) < 5 or path + "." == self.module_word:
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
            self.scope.end(name)

    def add_call(self, name: str) -> None:
        """Where the call of a function belongs; dumps of level L1 do not tell."""
        if self.level != "mix":
            return
        with self.lock:
            if self.phase:
                self.construct.setdefault(self.phase, None)
                self.construct[name] = self.phase
            else:
                self.construct[name] = self.local.modules[-1] if self.local.modules else None

    # ---- functions -------------------------------------------------------------------------------

    def replace_functions(self, file: str, places: Mapping[str, Sequence[Any]]) -> None:
        """Puts recording functions in the places of those that a file lists. places: by head, the owner
        that has the originals first, then others that have them as well."""
        for head, listed_name in listed(file):
            owners = places.get(head, ())
            *path, name = listed_name.split(".")
            original = getattr(follow(owners[0], path), name, None) if owners else None
            if not callable(original):
                continue
            function = self._stand_in(original, f"{head}.{name}")
            for owner in owners:
                if hasattr(follow(owner, path), name):
                    self.replaced.put(follow(owner, path), name, function)

    def _stand_in(self, original: Any, api: str) -> Any:
        """A function of an earlier step serves again as long as the original is the same."""
        known = self._functions.get(api)
        if known is None or known[0] is not original:
            known = self._functions[api] = (original, self.recorded(original, api))
        self._stand_ins.setdefault(id(original), known[1])
        return known[1]

    def replace_kept(self, modules: Iterable[Any]) -> None:
        """Likewise for functions that modules have as attributes of their own (`self.act = F.gelu`, also with some
        arguments given by functools.partial), unless these are defaults of their constructors: msprobe replaces
        functions before a model is made, but after the defaults were."""
        for module in modules:
            for name, value in list(vars(module).items()):
                partial = isinstance(value, functools.partial)
                function = self._stand_ins.get(id(value.func if partial else value))
                if function is None or any(value is one for one in _defaults(type(module))):
                    continue
                if partial:
                    function = functools.partial(function, *value.args, **value.keywords)
                self.replaced.put(module, name, function)

    def recorded(self, original: Any, api: str) -> Any:
        """The function, which also records its calls, but not those that it makes itself."""

        def call(*args: Any, **kwargs: Any) -> Any:
            local = self.local
            if not self.running or local.busy:
                return original(*args, **kwargs)
            local.depth += 1
            try:
                if local.depth != 1:
                    return original(*args, **kwargs)
                stem = f"{api}.{self.number_of_call(api)}"
                args = self._begin_call(stem, api, args, kwargs)
                return self._end_call(stem, api, args, kwargs, original(*args, **kwargs))
            finally:
                local.depth -= 1

        try:
            return functools.wraps(original)(call)
        except (AttributeError, TypeError):
            return call

    @silent
    def _begin_call(self, stem: str, api: str, args: Any, kwargs: Any) -> Any:
        name = f"{stem}.forward"
        if self.scope.wants(name):
            self.add_inputs(name, *self.given(api, args, kwargs))
        return self.watch_inputs(stem, args)

    @silent
    def _end_call(self, stem: str, api: str, args: Any, kwargs: Any, result: Any) -> Any:
        name = f"{stem}.forward"
        self.add_call(name)
        if self.scope.wants_end(name):
            self.add_output(name, self.gained(name, api, args, kwargs, result))
        return self.watch_output(stem, api, args, kwargs, result)

    @silent
    def gradients(self, name: str, given: Any, found: Any) -> None:
        """Of a function."""
        self.add_call(name)
        if self.scope.wants_end(name):
            self.add_gradients(name, given, found)

    # What the framework's part may add to a call of a function.

    def given(self, api: str, args: Any, kwargs: Any) -> tuple[Any, Any]:
        """Arguments as they are recorded."""
        return args, kwargs

    def gained(self, name: str, api: str, args: Any, kwargs: Any, result: Any) -> Any:
        """The result as it is recorded."""
        return result

    def watch_inputs(self, stem: str, args: Any) -> Any:
        """Asks for the gradients of a call; the arguments to go on with."""
        return args

    def watch_output(self, stem: str, api: str, args: Any, kwargs: Any, result: Any) -> Any:
        """Likewise; the result to go on with."""
        return result
