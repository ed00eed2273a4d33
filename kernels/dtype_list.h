/*
 * dtype_list.h - the element types that torch has, as lists for a macro: what every format calls
 * them. kernels/dtype.c makes its table of them and io/tensor/pickle/pt_names.c the names of a
 * pickle; nothing else holds such a list.
 *
 * row(id, name, size, kind, digits, least, largest, mindspore, stem, numpy, brief), see
 * kernels/dtype.h; stem is that of torch's classes: "Half" of HalfStorage and torch.HalfTensor.
 */
#ifndef TDC_DTYPE_LIST_H
#define TDC_DTYPE_LIST_H

/* clang-format off */

/* Those with a storage class in torch. */
#define TDC_CLASSED_DTYPES(row) \
    row(TDC_BOOL, "bool",       1,  TRUTH,    0,  0,     0, "Bool",       "Bool",          "|b1",  "bool") \
    row(TDC_I8,   "int8",       1,  WHOLE,    0,  0,     0, "Int8",       "Char",          "|i1",  "i8")   \
    row(TDC_I16,  "int16",      2,  WHOLE,    0,  0,     0, "Int16",      "Short",         "<i2",  "i16")  \
    row(TDC_I32,  "int32",      4,  WHOLE,    0,  0,     0, "Int32",      "Int",           "<i4",  "i32")  \
    row(TDC_I64,  "int64",      8,  WHOLE,    0,  0,     0, "Int64",      "Long",          "<i8",  "i64")  \
    row(TDC_U8,   "uint8",      1,  WHOLE,    0,  0,     0, "UInt8",      "Byte",          "|u1",  "u8")   \
    row(TDC_F16,  "float16",    2,  FLOATING, 10, -14,   65504, "Float16", "Half",         "<f2",  "f16")  \
    row(TDC_BF16, "bfloat16",   2,  FLOATING, 7,  -126,  0x1.fep127, "BFloat16", "BFloat16", NULL, "bf16") \
    row(TDC_F32,  "float32",    4,  FLOATING, 23, -126,  0x1.fffffep127, "Float32", "Float", "<f4", "f32") \
    row(TDC_F64,  "float64",    8,  FLOATING, 52, -1022, 0x1.fffffffffffffp1023, "Float64", "Double", "<f8", "f64") \
    row(TDC_C64,  "complex64",  8,  COMPLEX,  23, -126,  0x1.fffffep127, "Complex64", "ComplexFloat", "<c8", "c64") \
    row(TDC_C128, "complex128", 16, COMPLEX,  52, -1022, 0x1.fffffffffffffp1023, "Complex128", "ComplexDouble", "<c16", "c128")

/* Those without: their tensors lie in a storage of bytes. */
#define TDC_CLASSLESS_DTYPES(row) \
    row(TDC_U16,  "uint16",     2,  WHOLE,    0,  0,     0, "UInt16",     NULL,            "<u2",  "u16")  \
    row(TDC_U32,  "uint32",     4,  WHOLE,    0,  0,     0, "UInt32",     NULL,            "<u4",  "u32")  \
    row(TDC_U64,  "uint64",     8,  WHOLE,    0,  0,     0, "UInt64",     NULL,            "<u8",  "u64")  \
    row(TDC_F8_E4M3, "float8_e4m3fn", 1, FLOATING, 3, -6,  448,   NULL,   NULL,            NULL,   "f8_e4m3") \
    row(TDC_F8_E5M2, "float8_e5m2",   1, FLOATING, 2, -14, 57344, NULL,   NULL,            NULL,   "f8_e5m2")

/* clang-format on */

#endif
