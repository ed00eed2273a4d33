/* dtype_rule.c - types that may face each other (spec 4.3). */
#include <string.h>

#include "host/match/match.h"

/* Floats of a framework, float64 last. */
#define FLOATS 4

static bool among(const char *dtype, const char *const group[FLOATS], bool any_float)
{
    for (int i = 0; i < (any_float ? FLOATS : FLOATS - 1); i++)
        if (strcmp(dtype, group[i]) == 0)
            return true;
    return false;
}

/* Across frameworks only the class counts: "int", "float", "bool", "complex"; others stay
 * themselves. */
static const char *class_of(const char *dtype)
{
    static const struct {
        const char *mindspore, *torch, *name;
    } classes[] = {
        {"Int8", "torch.int8", "int"},
        {"UInt8", "torch.uint8", "int"},
        {"Int16", "torch.int16", "int"},
        {"UInt16", "torch.uint16", "int"},
        {"Int32", "torch.int32", "int"},
        {"UInt32", "torch.uint32", "int"},
        {"Int64", "torch.int64", "int"},
        {"UInt64", "torch.uint64", "int"},
        {"Float16", "torch.float16", "float"},
        {"Float32", "torch.float32", "float"},
        {"Float64", "torch.float64", "float"},
        {"BFloat16", "torch.bfloat16", "float"},
        {"Bool", "torch.bool", "bool"},
        {"Complex64", "torch.complex64", "complex"},
        {"Complex128", "torch.complex128", "complex"},
    };
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (strcmp(dtype, classes[i].mindspore) == 0 || strcmp(dtype, classes[i].torch) == 0)
            return classes[i].name;
    return dtype;
}

bool tdc_dtypes_agree(const char *npu, const char *bench, bool cross, bool any_float)
{
    static const char *const mindspore[FLOATS] = {"Float16", "Float32", "BFloat16", "Float64"};
    static const char *const torch[FLOATS] = {"torch.float16", "torch.float32", "torch.bfloat16",
                                              "torch.float64"};
    if (cross)
        return strcmp(class_of(npu), class_of(bench)) == 0;
    return strcmp(npu, bench) == 0 ||
           (among(npu, mindspore, any_float) && among(bench, mindspore, any_float)) ||
           (among(npu, torch, any_float) && among(bench, torch, any_float));
}

bool tdc_match_dtypes_agree(const struct tdc_match *match, uint32_t npu, uint32_t bench)
{
    return tdc_dtypes_agree(match->npu->records[npu].dtype, match->bench->records[bench].dtype,
                            match->cross, match->rules->any_float);
}
