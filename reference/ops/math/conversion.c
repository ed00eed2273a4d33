#include <string.h>

#include "kernels/dtype.h"
#include "reference/arguments.h"
#include "reference/operators.h"
#include "reference/primitives/elementwise/promote.h"

static void fixed(tdc_evaluation *e)
{
    tdc_give(e, tdc_convert(e, tdc_array_argument(e, "input"), (tdc_dtype)e->definition->variant));
}

/* to(dtype), to(device), to(other), to(device, dtype), dtype given as text too */
static void to(tdc_evaluation *e)
{
    tdc_array *x = tdc_array_argument(e, "input");
    const char *const names[] = {"to", "second"};
    for (int i = 0; i < 2; i++) {
        const tdc_call_value *v = tdc_argument(e, names[i]);
        if (v->kind == TDC_VALUE_DTYPE || v->kind == TDC_VALUE_UNKNOWN) {
            if (v->kind == TDC_VALUE_UNKNOWN && e->recorded_output == TDC_DTYPE_NONE)
                tdc_refuse(e, TDC_ERR_UNSUPPORTED, "the dtype was not recorded");
            tdc_give(e, tdc_convert(e, x, tdc_dtype_argument(e, names[i], x->dtype)));
            return;
        }
        if (v->kind == TDC_VALUE_TENSOR) {
            tdc_give(e, tdc_convert(e, x, v->tensor->dtype));
            return;
        }
    }
    tdc_give(e, x);
}

/* type() without a dtype names the tensor's class. */
static void type(tdc_evaluation *e)
{
    const char *name = tdc_dtype_entry(tdc_array_argument(e, "input")->dtype)->tensor;
    if (tdc_given(e, "to") || name == NULL)
        to(e);
    else
        tdc_give_value(e, (tdc_call_value){.kind = TDC_VALUE_TEXT, .text = name});
}

static void type_as(tdc_evaluation *e)
{
    tdc_give(e,
             tdc_convert(e, tdc_array_argument(e, "input"), tdc_array_argument(e, "other")->dtype));
}

#define CAST(names, dtype)                                                                         \
    {                                                                                              \
        names, TDC_IN_TENSOR, "input, memory_format=None", fixed, dtype, TDC_IS_CONVERSION         \
    }
static const struct tdc_operator rows[] = {
    CAST("float", TDC_F32),
    CAST("half", TDC_F16),
    CAST("bfloat16", TDC_BF16),
    CAST("double", TDC_F64),
    CAST("int", TDC_I32),
    CAST("long", TDC_I64),
    CAST("short", TDC_I16),
    CAST("byte", TDC_U8),
    CAST("char", TDC_I8),
    CAST("bool", TDC_BOOL),
    {"type", TDC_IN_TENSOR, "input, to=None, second=None, non_blocking=False", type, 0,
     TDC_IS_CONVERSION},
    {"to astype cast", TDC_IN_TENSOR,
     "input, to=None, second=None, non_blocking=False, copy=False, *, memory_format=None", to, 0,
     TDC_IS_CONVERSION},
    {"npu_dtype_cast", TDC_IN_NPU, "input, to, second=None", to, 0, TDC_IS_CONVERSION},
    {"type_as", TDC_IN_TENSOR, "input, other", type_as, 0, TDC_IS_CONVERSION},
};
const struct tdc_operator_family tdc_conversion_family = TDC_FAMILY("conversions", rows);
