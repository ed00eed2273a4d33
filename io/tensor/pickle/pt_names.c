#include "io/tensor/pickle/pt_names.h"
#include "kernels/dtype_list.h"

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

#define OWN_STORAGE(id, text, bytes, kind, digits, least, largest, mindspore, stem, numpy, brief)  \
    STORAGE(stem "Storage", id),
#define OWN_DTYPE(id, text, bytes, kind, digits, least, largest, mindspore, stem, numpy, brief)    \
    DTYPE(text, id),

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

    TDC_CLASSED_DTYPES(OWN_STORAGE) PLAIN("torch.storage", "UntypedStorage", TDC_PT_STORAGE_CLASS),
    PLAIN("torch.storage", "TypedStorage", TDC_PT_STORAGE_CLASS),
    CODED("QInt8Storage", TDC_PT_STORAGE_CLASS, TDC_I8, TDC_CODING_AFFINE),
    CODED("QUInt8Storage", TDC_PT_STORAGE_CLASS, TDC_U8, TDC_CODING_AFFINE),
    CODED("QInt32Storage", TDC_PT_STORAGE_CLASS, TDC_I32, TDC_CODING_AFFINE),
    /* of tensors whose elements are never looked at */
    STORAGE("QUInt4x2Storage", TDC_DTYPE_NONE),
    STORAGE("QUInt2x4Storage", TDC_DTYPE_NONE),

    TDC_CLASSED_DTYPES(OWN_DTYPE) TDC_CLASSLESS_DTYPES(OWN_DTYPE)
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
