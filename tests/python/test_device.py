"""Tensors on a CUDA card, by DLPack: on the stand-in for the driver that the C tests use, skipped where that was not built."""

import ctypes
import math
import os
import struct
import unittest

PROGRAM = os.environ["TDCMP_PROGRAM"]
TWIN = os.path.join(os.path.dirname(os.path.dirname(PROGRAM)), "tests", "twin", "gpu", "libcuda_twin.so")
os.environ["TDC_CUDA_LIBRARY"] = os.environ["TDC_NVRTC_LIBRARY"] = TWIN

import tdcmp


class DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class OnCard:
    """float32 numbers on card 1."""

    copies = 0

    def __init__(self, driver, values, strides=None):
        self.values = values
        data, there = struct.pack(f"{len(values)}f", *values), ctypes.c_uint64()
        assert driver.cuMemAlloc_v2(ctypes.byref(there), ctypes.c_size_t(len(data))) == 0
        assert driver.cuMemcpyHtoDAsync_v2(there, data, ctypes.c_size_t(len(data)), None) == 0
        assert driver.cuStreamSynchronize(None) == 0
        self.shape = (ctypes.c_int64 * 2)(2, len(values) // 2)
        self.strides = (ctypes.c_int64 * 2)(*strides) if strides else None
        self.tensor = DLTensor(there.value, 2, 1, 2, 2, 32, 1, self.shape, self.strides, 0)

    def __dlpack_device__(self):
        return 2, 1

    def __dlpack__(self):
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return new(ctypes.addressof(self.tensor), b"dltensor", None)

    def cpu(self):
        OnCard.copies += 1
        view = memoryview(bytearray(struct.pack(f"{len(self.values)}f", *self.values)))
        return memoryview(view).cast("B").cast("f", (2, len(self.values) // 2))


@unittest.skipUnless(os.path.exists(TWIN), "no stand-in for the CUDA driver")
class Cards(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.driver = ctypes.CDLL(TWIN)
        context = ctypes.c_void_p()
        assert cls.driver.cuInit(0) == 0
        assert cls.driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 1) == 0
        cls.context = context
        assert cls.driver.cuCtxSetCurrent(context) == 0

    def setUp(self):
        OnCard.copies = 0
        self.values = [float(i % 97) / 8 - 5 for i in range(4000)]

    def compare(self, changed, **layout):
        a, b = OnCard(self.driver, changed, **layout), OnCard(self.driver, self.values)
        there = tdcmp.compare_arrays(a, b)
        copies = OnCard.copies
        return there, tdcmp.compare_arrays(a.cpu(), b.cpu()), copies

    def test_dense_tensors_stay_on_the_card(self):
        changed = list(self.values)
        changed[2777] += 0.5
        there, here, copies = self.compare(changed)
        self.assertEqual(copies, 0)
        self.assertEqual(there.max_abs_at, (1, 777))
        self.assertEqual(there.max_abs_values, (changed[2777], self.values[2777]))
        for name in ("level", "cosine", "max_abs", "max_rel", "rmse", "distance", "a_min", "b_max", "finite", "below_tenth"):
            self.assertEqual(getattr(there, name), getattr(here, name), name)
        self.assertFalse(there)

    def test_what_the_card_cannot_tell_is_copied(self):
        changed = list(self.values)
        changed[5] = math.nan
        there, here, copies = self.compare(changed)
        self.assertEqual(copies, 2)
        self.assertEqual((there.level, there.a_nan), (here.level, 1))


if __name__ == "__main__":
    unittest.main()
