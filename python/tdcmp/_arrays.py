"""Tensors in memory as buffers of the library: numpy arrays, torch tensors, whatever has DLPack or
the buffer protocol. Nothing is copied unless it lies on a device or in another byte order."""

from __future__ import annotations

import ctypes
from ctypes import Structure, byref, c_int32, c_int64, c_uint8, c_uint16, c_uint64, c_void_p, sizeof
from functools import lru_cache
from math import prod
from typing import Any, Optional

from ._library import (
    Buffer,
    DifferenceNumbers,
    PathLike,
    TensorStatistics,
    call,
    lib,
    path_bytes,
    run_long,
    text,
)
from ._optional import numpy
from ._options import Settings
from ._result import LEVELS

# Numbers of tdc_dtype.
DTYPES = {
    name: number
    for number, name in enumerate(
        "none bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float8_e4m3fn float8_e5m2 "
        "float16 bfloat16 float32 float64 longdouble complex64 complex128".split()
    )
}
SIZES = [0, 1, 1, 2, 4, 8, 1, 2, 4, 8, 1, 1, 2, 2, 4, 8, 16, 8, 16]

# Below this a call takes less time than the thread that would watch for Ctrl-C.
_LONG_BYTES = 64 << 20


_BUFFER_SIZE = sizeof(Buffer)


@lru_cache
def _axes(rank: int) -> Any:
    return c_int64 * rank


class _DLTensor(Structure):
    _fields_ = [
        ("data", c_void_p),
        ("device_type", c_int32),
        ("device_id", c_int32),
        ("ndim", c_int32),
        ("code", c_uint8),
        ("bits", c_uint8),
        ("lanes", c_uint16),
        ("shape", ctypes.POINTER(c_int64)),
        ("strides", ctypes.POINTER(c_int64)),
        ("byte_offset", c_uint64),
    ]


_CODES = {0: "int", 1: "uint", 2: "float", 4: "bfloat", 5: "complex", 6: "bool"}
_FLOAT8 = {10: "float8_e4m3fn", 12: "float8_e5m2"}
_ON_HOST = (1, 3, 11)  # CPU, and host memory of CUDA and ROCm


class Tensor:
    """A buffer with all that must outlive it."""

    def __init__(
        self, keep: Any, data: int, dtype: str, shape: tuple[int, ...], strides: Any = None
    ) -> None:
        if dtype not in DTYPES:
            raise TypeError(f"tensors of {dtype} cannot be compared")
        self.keep = keep
        self.own = False  # a copy that nobody else has
        self.strides = strides
        self.data = data
        self.shape = shape
        self.dtype = dtype
        number, rank = DTYPES[dtype], len(shape)
        kind = _axes(rank)
        self._shape = kind(*shape)
        self._strides = None if strides is None else kind(*strides)
        self.buffer = Buffer()
        lib.tdc_buffer_init(byref(self.buffer), _BUFFER_SIZE, data, number, rank, self._shape, self._strides)
        self.count = prod(shape)
        self.bytes = self.count * SIZES[number]

    def has_gaps(self) -> bool:
        """Whether other elements lie between those of the tensor, or some of it in one place."""
        expected = 1
        for stride, length in sorted(zip(self.strides or (), self.shape)):
            if length != 1:
                if stride != expected:
                    return True
                expected *= length
        return False

    def statistics(self, settings: Settings, crc: bool = False) -> TensorStatistics:
        found = TensorStatistics()
        options = byref(settings.options)
        call(
            lib.tdc_buffer_statistics,
            byref(self.buffer),
            1 if crc else 0,
            options,
            byref(found),
            sizeof(found),
        )
        return found

    def write(self, path: PathLike) -> None:
        call(lib.tdc_buffer_write, byref(self.buffer), path_bytes(path))


def _dlpack_dtype(tensor: _DLTensor) -> str:
    if tensor.lanes == 1 and tensor.code in _FLOAT8:
        return _FLOAT8[tensor.code]
    word = _CODES.get(tensor.code, "unknown")
    if tensor.lanes != 1 or word == "unknown":
        return f"DLPack type {tensor.code} of {tensor.bits} bits"
    return "bool" if word == "bool" else f"{word}{tensor.bits}".replace("bfloat16", "bfloat16")


def dlpack_tensor(given: Any) -> Tensor:
    """Where it lies, which may be a device."""
    capsule = given.__dlpack__()
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = c_void_p, [ctypes.py_object, ctypes.c_char_p]
    tensor = _DLTensor.from_address(get(capsule, b"dltensor"))
    shape = tuple(tensor.shape[i] for i in range(tensor.ndim))
    strides = [tensor.strides[i] for i in range(tensor.ndim)] if tensor.strides else None
    data = (tensor.data or 0) + tensor.byte_offset
    # The capsule stays unused: its owner frees the tensor with it.
    return Tensor((capsule, given), data, _dlpack_dtype(tensor), shape, strides)


def _from_dlpack(given: Any) -> Tensor:
    if hasattr(given, "__dlpack_device__") and given.__dlpack_device__()[0] not in _ON_HOST:
        raise TypeError("the tensor lies on a device and has no cpu()")
    return dlpack_tensor(given)


def _from_numpy(array: Any) -> Tensor:
    name = array.dtype.name
    if array.dtype.kind not in "biufcV" or (array.dtype.kind == "V" and name not in DTYPES):
        raise TypeError(f"arrays of {array.dtype} cannot be compared")
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    if array.dtype == numpy.longdouble and array.dtype.itemsize == 16:
        name = "longdouble"
    size = array.dtype.itemsize
    if any(step % size for step in array.strides):
        array = numpy.ascontiguousarray(array)
    strides = None if array.flags.c_contiguous else [step // size for step in array.strides]
    return Tensor(array, array.ctypes.data, name, array.shape, strides)


_BUFFER_CODES = {
    "?": "bool",
    "b": "int8",
    "h": "int16",
    "i": "int32",
    "q": "int64",
    "l": "int64",
    "B": "uint8",
    "H": "uint16",
    "I": "uint32",
    "Q": "uint64",
    "L": "uint64",
    "e": "float16",
    "f": "float32",
    "d": "float64",
}


def _from_buffer(given: Any) -> Tensor:
    view = memoryview(given)
    if not view.c_contiguous or view.format not in _BUFFER_CODES:
        raise TypeError("a buffer that is not contiguous or of unknown elements")
    shape = tuple(view.shape or ())
    address = 0
    if view.nbytes:
        if view.readonly:
            keep = ctypes.create_string_buffer(view.tobytes(), view.nbytes)
            return Tensor(keep, ctypes.addressof(keep), _BUFFER_CODES[view.format], shape)
        memory = (ctypes.c_char * view.nbytes).from_buffer(view)
        address = ctypes.addressof(memory)
        return Tensor((view, memory), address, _BUFFER_CODES[view.format], shape)
    return Tensor(view, address, _BUFFER_CODES[view.format], shape)


def from_torch(tensor: Any) -> Tensor:
    tensor = tensor.detach()
    if tensor.is_meta or tensor.is_quantized or str(tensor.layout) != "torch.strided":
        raise TypeError(f"{tensor.layout}, {tensor.dtype} on {tensor.device}: no elements to compare")
    moved = tensor.device.type != "cpu"
    if moved:
        tensor = tensor.cpu()
    if tensor.is_conj() or tensor.is_neg():
        tensor = tensor.resolve_conj().resolve_neg()
    dtype = str(tensor.dtype)[6:]  # "torch.float32"
    if dtype not in DTYPES:
        return _from_dlpack(tensor)
    strides = None if tensor.is_contiguous() else tensor.stride()
    taken = Tensor(tensor, tensor.data_ptr(), dtype, tuple(tensor.shape), strides)
    taken.own = moved
    return taken


def take(given: Any) -> Tensor:
    """Whatever is a tensor, as a buffer of the library."""
    if isinstance(given, Tensor):
        return given
    kind = type(given)
    if numpy is not None and isinstance(given, (numpy.ndarray, numpy.generic)):
        return _from_numpy(numpy.asarray(given))
    if any(base.__module__.split(".")[0] == "torch" for base in kind.__mro__):
        return from_torch(given)
    if hasattr(given, "asnumpy"):  # MindSpore
        return _from_numpy(given.asnumpy())
    if hasattr(given, "__dlpack__"):
        device = given.__dlpack_device__()[0] if hasattr(given, "__dlpack_device__") else 1
        if device not in _ON_HOST and hasattr(given, "cpu"):
            return take(given.cpu())
        return _from_dlpack(given)
    if numpy is not None and (
        hasattr(given, "__array__") or isinstance(given, (list, tuple, int, float))
    ):
        return _from_numpy(numpy.asarray(given))
    return _from_buffer(given)


class Difference:
    """What a comparison of two tensors yields; numbers that do not exist are NaN.

    level, cosine, euclidean, max_abs, max_rel, mean_abs, rmse, distance (||a-b|| / ||b||), worst
    (max|a-b| / max|b|), below_thousandth and its kin (shares by relative error), elements, finite,
    a_nan, a_inf, b_nan, b_inf, a_min, a_max, b_min, b_max; max_abs_at and max_rel_at are the
    positions of the largest errors, max_abs_values and max_rel_values the two elements there.
    """

    def __init__(self, numbers: DifferenceNumbers, shape: tuple[int, ...]) -> None:
        self.level: str = LEVELS[numbers.row_class]
        self.message = text(numbers.message)
        self.computed: bool = numbers.computed
        self.shape = shape
        for name in (field[0] for field in DifferenceNumbers._fields_):
            if name in ("row_class", "message", "computed", "located"):
                continue
            public = "a_" + name[2:] if name.startswith("n_") else name
            setattr(self, public, getattr(numbers, name))
        self.max_abs_at = self._index(numbers.max_abs_at) if numbers.located else None
        self.max_rel_at = self._index(numbers.max_rel_at) if numbers.located else None
        self.max_abs_values = (numbers.max_abs_n, numbers.max_abs_b)
        self.max_rel_values = (numbers.max_rel_n, numbers.max_rel_b)

    cosine: float
    euclidean: float
    max_abs: float
    max_rel: float
    mean_abs: float
    rmse: float
    distance: float
    worst: float
    below_thousandth: float
    below_five_thousandths: float
    below_hundredth: float
    below_tenth: float
    elements: int
    finite: int
    a_nan: int
    a_inf: int
    b_nan: int
    b_inf: int
    a_min: float
    a_max: float
    b_min: float
    b_max: float

    def _index(self, flat: int) -> tuple[int, ...]:
        found = []
        for length in reversed(self.shape):
            flat, at = divmod(flat, length)
            found.append(at)
        return tuple(reversed(found))

    def __bool__(self) -> bool:
        """Whether the two agree."""
        return self.level in ("same", "identical", "rounding", "close")

    def __repr__(self) -> str:
        return (
            f"<{self.level}: cosine {self.cosine:.9g}, max_abs {self.max_abs:.6g} at "
            f"{self.max_abs_at}, max_rel {self.max_rel:.6g}, rmse {self.rmse:.6g}>"
        )


def compare_taken(
    a: Tensor, settings: Settings, b: Optional[Tensor], dump: Any = None, record: int = 0
) -> Difference:
    """Against another tensor, or against a record of a dump."""
    numbers = DifferenceNumbers()
    options = byref(settings.options)

    def work() -> None:
        if b is not None:
            call(
                lib.tdc_compare_buffers,
                byref(a.buffer),
                byref(b.buffer),
                options,
                byref(numbers),
                sizeof(numbers),
            )
        else:
            call(
                lib.tdc_compare_record,
                byref(a.buffer),
                dump,
                record,
                options,
                byref(numbers),
                sizeof(numbers),
            )

    if a.bytes < _LONG_BYTES:
        work()
    else:
        run_long(work, settings.cancel)
    return Difference(numbers, a.shape)


def compare_arrays(a: Any, b: Any, rules: str = "sound", threads: int = 0) -> Difference:
    """Compares a tensor under test with its reference, both in memory: numpy arrays, torch tensors
    (bfloat16 and float8 too), anything with DLPack or a buffer. Dense tensors on one CUDA card are
    compared there; what else lies on a device is copied."""
    from ._device import compare_on_card

    settings = Settings(rules, threads)
    found = compare_on_card(a, b, settings)
    return compare_taken(take(a), settings, take(b)) if found is None else found


def save_tensor(tensor: Any, path: PathLike) -> None:
    """Writes a tensor as .npy or .pt, by the ending of the path; the file appears when complete."""
    take(tensor).write(path)
