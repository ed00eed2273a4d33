"""Files of a dump: jsons, and tensors by threads of their own."""

from __future__ import annotations

import json
import os
import threading
from collections import deque
from typing import Any, Callable, Iterator, Optional


def _lines(data: dict[Any, Any]) -> Iterator[str]:
    """A line for each member, and for each member of one called "data"."""
    encode = json.JSONEncoder(check_circular=False).encode
    opening = "{"
    for key, value in data.items():
        if key == "data" and value:
            yield f'{opening}\n "data": '
            yield from _lines(value)
        else:
            yield f"{opening}\n {encode(str(key))}: {encode(value)}"
        opening = ","
    yield "\n}" if data else "{}"


def put_json(path: str, data: Any) -> None:
    """The file is complete or absent."""
    temporary = f"{path}.{os.getpid()}.tmp"
    try:
        with open(temporary, "w", encoding="utf-8") as file:
            file.writelines(_lines(data))
        os.replace(temporary, path)
    except BaseException as error:
        if os.path.exists(temporary):
            os.unlink(temporary)
        if isinstance(error, OSError) and error.filename is None:
            error.filename = path
        raise


class Writer:
    """Works off tensors in the background. At most `room` bytes wait or are being written; who brings
    more waits, too, unless it is alone. A failure is kept and raised by drain."""

    def __init__(self, room: int, threads: int) -> None:
        self._room = room
        self._jobs: deque[tuple[int, Callable[[], None]]] = deque()
        self._waiting = self._running = 0
        self._change = threading.Condition()
        self._failure: Optional[BaseException] = None
        self._ended = False
        self._threads = [
            threading.Thread(target=self._work, name="tdcmp writer", daemon=True)
            for _ in range(threads)
        ]
        for thread in self._threads:
            thread.start()

    def put(self, size: int, job: Callable[[], None]) -> None:
        with self._change:
            while self._waiting and self._waiting + size > self._room:
                self._change.wait()
            self._jobs.append((size, job))
            self._waiting += size
            self._change.notify_all()

    def _work(self) -> None:
        while True:
            with self._change:
                while not self._jobs and not self._ended:
                    self._change.wait()
                if not self._jobs:
                    return
                size, job = self._jobs.popleft()
                self._running += 1
            try:
                job()
            except BaseException as error:  # raised where the run can see it
                with self._change:
                    self._failure = self._failure or error
            finally:
                del job
                with self._change:
                    self._waiting -= size
                    self._running -= 1
                    self._change.notify_all()

    def drain(self) -> Optional[BaseException]:
        """Waits until all is done; what has failed since the last time."""
        with self._change:
            while self._jobs or self._running:
                self._change.wait()
            failure, self._failure = self._failure, None
            return failure

    def end(self) -> None:
        with self._change:
            self._ended = True
            self._change.notify_all()
        for thread in self._threads:
            thread.join()
