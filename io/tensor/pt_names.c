#include "io/tensor/pt_names.h"

#include <string.h>

#define STORAGE(name, dtype)                                                                       \
    {                                                                                              \
        "torch", name, TDC_PT_STORAGE_CLASS, dtype, 0, NULL, TDC_CODING_PLAIN                      \
    }
#define DTYPE(name, dtype)                                                                         \
    {                                                                                              \
        "torch", name, TDC_PT_DTYPE, dtype, 0, NULL, TDC_CODING_PLAIN                              \
    }
#define OPAQUE(module, name)                                                                       \
    {                                                                                              \
        module, name, TDC_PT_OPAQUE, TDC_DTYPE_NONE, 0, NULL, TDC_CODING_PLAIN                     \
    }
#define REFUSED(name, reason)                                                                      \
    {                                                                                              \
        "torch._utils", name, TDC_PT_REFUSED, TDC_DTYPE_NONE, 0, reason, TDC_CODING_PLAIN          \
    }
#define PLAIN(module, name, role)                                                                  \
    {                                                                                              \
        module, name, role, TDC_DTYPE_NONE, 0, NULL, TDC_CODING_PLAIN                              \
    }
#define CALL(module, name, role, least)                                                            \
    {                                                                                              \
        module, name, role, TDC_DTYPE_NONE, least, NULL, TDC_CODING_PLAIN                          \
    }

#define CODED(name, role, dtype, coding)                                                           \
    {                                                                                              \
        "torch", name, role, dtype, 0, NULL, coding                                                \
    }

static const struct tdc_pt_name names[] = {
    CALL("torch._utils", "_rebuild_tensor_v2", TDC_PT_REBUILD_TENSOR, 6),
    CALL("torch._utils", "_rebuild_tensor", TDC_PT_REBUILD_TENSOR, 4),
    CALL("torch._utils", "_rebuild_tensor_v3", TDC_PT_REBUILD_TYPED, 7),
    CALL("torch_npu.utils.storage", "_rebuild_npu_tensor", TDC_PT_REBUILD_TENSOR, 6),
    CALL("torch._utils", "_rebuild_qtensor", TDC_PT_REBUILD_QUANTISED, 5),
    CALL("torch._utils", "_rebuild_parameter", TDC_PT_WRAP_TENSOR, 1),
    CALL("torch._utils", "_rebuild_parameter_with_state", TDC_PT_WRAP_TENSOR, 1),
    CALL("torch._utils", "_rebuild_device_tensor_from_cpu_tensor", TDC_PT_WRAP_TENSOR, 1),
    CALL("torch._tensor", "_rebuild_from_type_v2", TDC_PT_REBUILD_SUBTYPE, 4),
    PLAIN("torch", "Tensor", TDC_PT_TENSOR_CLASS),
    PLAIN("torch.nn.parameter", "Parameter", TDC_PT_TENSOR_CLASS),
    PLAIN("torch.nn.parameter", "Buffer", TDC_PT_TENSOR_CLASS),
    PLAIN("collections", "OrderedDict", TDC_PT_DICT),
    PLAIN("torch", "Size", TDC_PT_SIZE),

    STORAGE("FloatStorage", TDC_F32),
    STORAGE("DoubleStorage", TDC_F64),
    STORAGE("HalfStorage", TDC_F16),
    STORAGE("BFloat16Storage", TDC_BF16),
    STORAGE("LongStorage", TDC_I64),
    STORAGE("IntStorage", TDC_I32),
    STORAGE("ShortStorage", TDC_I16),
    STORAGE("CharStorage", TDC_I8),
    STORAGE("ByteStorage", TDC_U8),
    STORAGE("BoolStorage", TDC_BOOL),
    STORAGE("ComplexFloatStorage", TDC_C64),
    STORAGE("ComplexDoubleStorage", TDC_C128),
    PLAIN("torch.storage", "UntypedStorage", TDC_PT_STORAGE_CLASS),
    PLAIN("torch.storage", "TypedStorage", TDC_PT_STORAGE_CLASS),
    CODED("QInt8Storage", TDC_PT_STORAGE_CLASS, TDC_I8, TDC_CODING_AFFINE),
    CODED("QUInt8Storage", TDC_PT_STORAGE_CLASS, TDC_U8, TDC_CODING_AFFINE),
    CODED("QInt32Storage", TDC_PT_STORAGE_CLASS, TDC_I32, TDC_CODING_AFFINE),
    /* of tensors whose elements are never looked at */
    STORAGE("QUInt4x2Storage", TDC_DTYPE_NONE),
    STORAGE("QUInt2x4Storage", TDC_DTYPE_NONE),

    DTYPE("bool", TDC_BOOL),
    DTYPE("int8", TDC_I8),
    DTYPE("int16", TDC_I16),
    DTYPE("int32", TDC_I32),
    DTYPE("int64", TDC_I64),
    DTYPE("uint8", TDC_U8),
    DTYPE("uint16", TDC_U16),
    DTYPE("uint32", TDC_U32),
    DTYPE("uint64", TDC_U64),
    DTYPE("float8_e4m3fn", TDC_F8_E4M3),
    DTYPE("float8_e5m2", TDC_F8_E5M2),
    DTYPE("float16", TDC_F16),
    DTYPE("bfloat16", TDC_BF16),
    DTYPE("float32", TDC_F32),
    DTYPE("float64", TDC_F64),
    DTYPE("complex64", TDC_C64),
    DTYPE("complex128", TDC_C128),
    DTYPE("complex32", TDC_DTYPE_NONE),
    DTYPE("float8_e4m3fnuz", TDC_DTYPE_NONE),
    DTYPE("float8_e5m2fnuz", TDC_DTYPE_NONE),
    CODED("float8_e8m0fnu", TDC_PT_DTYPE, TDC_U8, TDC_CODING_E8M0),
    CODED("float4_e2m1fn_x2", TDC_PT_DTYPE, TDC_U8, TDC_CODING_E2M1),
    DTYPE("quint8", TDC_DTYPE_NONE),
    DTYPE("qint8", TDC_DTYPE_NONE),
    DTYPE("qint32", TDC_DTYPE_NONE),

    OPAQUE("torch.serialization", "_get_layout"),
    OPAQUE("torch", "device"),
    OPAQUE("torch", "per_tensor_affine"),
    OPAQUE("torch", "per_channel_affine"),
    OPAQUE("torch", "per_channel_affine_float_qparams"),
    REFUSED("_rebuild_sparse_tensor", "sparse tensor"),
    REFUSED("_rebuild_sparse_csr_tensor", "sparse tensor"),
    REFUSED("_rebuild_nested_tensor", "nested tensor"),
    REFUSED("_rebuild_meta_tensor_no_storage", "meta tensor without data"),
};

static bool is(const char *text, const unsigned char *bytes, size_t length)
{
    return strlen(text) == length && memcmp(text, bytes, length) == 0;
}

const struct tdc_pt_name *tdc_pt_name_find(const unsigned char *module, size_t module_length,
                                           const unsigned char *name, size_t name_length)
{
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (is(names[i].name, name, name_length) && is(names[i].module, module, module_length))
            return &names[i];
    return NULL;
}
