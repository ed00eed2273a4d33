"""Tensors that lie on a CUDA card, compared there: nothing but a few elements is copied."""

from __future__ import annotations

import threading
from ctypes import byref, c_void_p, sizeof
from typing import Any, Optional

from ._arrays import Difference, Tensor, dlpack_tensor
from ._library import DifferenceNumbers, TdcmpError, call, lib, made
from ._options import Settings

_CUDA = 2  # kDLCUDA
_here = threading.local()  # objects of the library by card: contexts belong to threads


def _card_of(given: Any) -> Optional[int]:
    if isinstance(given, Tensor) or not hasattr(given, "__dlpack_device__"):
        return None
    try:
        kind, number = given.__dlpack_device__()
    except (BufferError, TypeError, ValueError):  # a device that DLPack has no name for
        return None
    return int(number) if int(kind) == _CUDA else None


def _opened(card: int) -> c_void_p:
    cards: dict[int, c_void_p] = _here.__dict__.setdefault("cards", {})
    if card not in cards:
        cards[card] = made(lib.tdc_device_of, b"cuda")
    return cards[card]


def compare_on_card(a: Any, b: Any, settings: Settings) -> Optional[Difference]:
    """What both hold, found by the card they lie on. None: they are to be copied, because they lie
    elsewhere, the thread has no context of the card, or the library wants to see all elements."""
    card = _card_of(a)
    if card is None or card != _card_of(b):
        return None
    try:
        # Without a stream the owner lets the default one, which the comparison uses, wait for it.
        first, second = (
            dlpack_tensor(side.detach() if hasattr(side, "detach") else side) for side in (a, b)
        )
        numbers = DifferenceNumbers()
        call(
            lib.tdc_compare_device_buffers,
            _opened(card),
            byref(first.buffer),
            byref(second.buffer),
            byref(settings.options),
            None,
            byref(numbers),
            sizeof(numbers),
        )
    except (TdcmpError, TypeError, BufferError) as error:
        if isinstance(error, TdcmpError) and error.name == "DEVICE":
            _here.__dict__.get("cards", {}).pop(card, None)  # of no use any more
        return None
    return Difference(numbers, first.shape)
