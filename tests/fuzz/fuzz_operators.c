/* Calls of the reference's operators made of bytes: which one, arguments, keywords of its
 * signature; the forward, then the backward. Whatever they are, a call ends with a status. */
#include <math.h>
#include <omp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "reference/reference.h"

#define MOST_NAMES 4096
#define MEMORY     ((size_t)32 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
    const uint8_t *data;
    size_t left;
    struct tdc_arena *arena;
};

static uint8_t next(struct input *in)
{
    if (in->left == 0)
        return 0;
    in->left--;
    return *in->data++;
}

static const struct tdc_operator *operators[MOST_NAMES];
static size_t operator_count;

static bool list_operator(void *context, const char *api, const char *family,
                          const struct tdc_operator *definition)
{
    (void)context;
    (void)api;
    (void)family;
    if (operator_count == 0 || operators[operator_count - 1] != definition)
        operators[operator_count++] = definition;
    return operator_count < MOST_NAMES;
}

static double real_of(uint8_t b)
{
    static const double odd[] = {NAN, INFINITY, -INFINITY, 1e300, -1e300, 1e-300, 0.0, -0.0};
    return b < 8 ? odd[b] : (double)(int8_t)b / 16;
}

static int64_t int_of(struct input *in)
{
    static const int64_t odd[] = {INT64_MAX,        INT64_MIN,           INT32_MAX, INT32_MIN,
                                  (int64_t)1 << 40, -((int64_t)1 << 40), 65536,     -100};
    uint8_t b = next(in);
    return b >= 248 ? odd[b - 248] : (int64_t)(b % 16) - 5;
}

static struct tdc_reference_value tensor(struct input *in)
{
    static const tdc_dtype dtypes[] = {TDC_F64,  TDC_F32, TDC_F16, TDC_BF16, TDC_I64, TDC_I32,
                                       TDC_BOOL, TDC_U8,  TDC_F64, TDC_F32,  TDC_I64, TDC_F64};
    uint8_t head = next(in);
    tdc_dtype dtype = dtypes[head % 12];
    int64_t shape[6];
    unsigned rank = head / 12 % 6;
    for (unsigned d = 0; d < rank; d++)
        shape[d] = next(in) % 6;
    struct tdc_reference_tensor *t = tdc_reference_tensor_new(in->arena, dtype, rank, shape);
    if (t == NULL)
        return (struct tdc_reference_value){.kind = TDC_VALUE_NULL};
    uint8_t seed = next(in);
    for (int64_t i = 0; i < t->count; i++) {
        uint8_t b = seed < 128 ? (uint8_t)(seed * 7 + i * 29) : next(in);
        if (tdc_dtype_is_floating(dtype))
            t->real[i] = tdc_reference_round(real_of(b), dtype);
        else
            t->whole[i] = dtype == TDC_BOOL ? b & 1 : dtype == TDC_U8 ? b : (int64_t)(b % 9) - 2;
    }
    t->wants_gradient = tdc_dtype_is_floating(dtype) && (seed & 3) != 0;
    return (struct tdc_reference_value){.kind = TDC_VALUE_TENSOR, .tensor = t};
}

static struct tdc_reference_value value(struct input *in, int depth)
{
    static const char *const texts[] = {
        "mean",     "sum",     "none",       "batchmean", "bilinear", "nearest",  "bicubic",
        "constant", "reflect", "replicate",  "circular",  "same",     "valid",    "BSH",
        "SBH",      "BNSD",    "BSND",       "TND",       "fro",      "inf",      "nuc",
        "floor",    "trunc",   "tanh",       "linear",    "amax",     "prod",     "ij,jk->ik",
        "...i,i",   "ii->i",   "i...,...->", "a->aa",     "zeros",    "border",   "reflection",
        "area",     "right",   "midpoint",   "xy",        "add",      "multiply", ""};
    struct tdc_reference_value v = {.kind = TDC_VALUE_NULL};
    switch (next(in) % 16) {
    case 0:
        return v;
    case 1:
        v.kind = TDC_VALUE_BOOL;
        v.whole = next(in) & 1;
        return v;
    case 2:
    case 3:
    case 4:
        v.kind = TDC_VALUE_INT;
        v.whole = int_of(in);
        return v;
    case 5:
        v.kind = TDC_VALUE_FLOAT;
        v.real = real_of(next(in));
        return v;
    case 6:
        v.kind = TDC_VALUE_TEXT;
        v.text = texts[next(in) % (sizeof texts / sizeof *texts)];
        return v;
    case 7:
        v.kind = TDC_VALUE_DTYPE;
        v.dtype = (tdc_dtype)(next(in) % (TDC_F64 + 1));
        return v;
    case 8:
        v.kind = TDC_VALUE_ELLIPSIS;
        return v;
    case 9:
    case 10: {
        bool slice = next(in) % 4 == 0;
        v.kind = slice ? TDC_VALUE_SLICE : TDC_VALUE_LIST;
        v.list.count = slice ? 3 : next(in) % 5;
        v.list.values = tdc_arena_zeroed(in->arena, v.list.count, sizeof *v.list.values);
        if (v.list.values == NULL)
            return (struct tdc_reference_value){.kind = TDC_VALUE_NULL};
        for (size_t i = 0; i < v.list.count; i++) {
            if (slice || depth > 2) {
                v.list.values[i].kind = next(in) % 3 == 0 ? TDC_VALUE_NULL : TDC_VALUE_INT;
                v.list.values[i].whole = int_of(in);
            } else {
                v.list.values[i] = value(in, depth + 1);
            }
        }
        return v;
    }
    default:
        return tensor(in);
    }
}

/* The n-th parameter of a signature. */
static const char *parameter(struct input *in, const char *signature)
{
    for (unsigned n = next(in) % 20; n > 0; n--) {
        const char *comma = strchr(signature, ',');
        if (comma == NULL)
            break;
        signature = comma + 1 + strspn(comma + 1, " *,");
    }
    size_t length = strcspn(signature, ",= ");
    return tdc_arena_text(in->arena, signature, length);
}

static void backward(struct input *in, const struct tdc_reference_call *call,
                     const struct tdc_reference_results *forward)
{
    struct tdc_reference_results results;
    struct tdc_reference_tensor *gradients[4] = {NULL, NULL, NULL, NULL};
    for (size_t i = 0; i < 4 && i < forward->count; i++) {
        const struct tdc_reference_value *v = &forward->values[i];
        if (v->kind != TDC_VALUE_TENSOR || !tdc_dtype_is_floating(v->tensor->dtype))
            continue;
        gradients[i] =
            tdc_reference_tensor_new(in->arena, TDC_F64, v->tensor->rank, v->tensor->shape);
        for (int64_t k = 0; gradients[i] != NULL && k < gradients[i]->count; k++)
            gradients[i]->real[k] = (double)(k % 5) - 1.5;
    }
    (void)tdc_reference_backward(call, gradients, 4, in->arena, &results);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tdc_arena arena;
    struct input in = {data, size, &arena};
    struct tdc_reference_value arguments[6];
    struct tdc_reference_keyword keywords[3];
    struct tdc_reference_results results;
    if (operator_count == 0) {
        omp_set_num_threads(1);
        tdc_reference_list(list_operator, NULL);
    }
    tdc_arena_init(&arena, MEMORY);
    size_t which = (size_t)next(&in) << 8;
    which |= next(&in);
    struct tdc_reference_call call = {.definition = operators[which % operator_count],
                                      .arguments = arguments,
                                      .keywords = keywords,
                                      .recorded_output = TDC_F32};
    uint8_t head = next(&in);
    call.argument_count = head % 7;
    call.keyword_count = head / 8 % 4;
    call.arithmetic = head >= 224 ? TDC_F16 : TDC_F64;
    for (size_t i = 0; i < call.argument_count; i++)
        arguments[i] = i == 0 && head % 2 == 0 ? tensor(&in) : value(&in, 0);
    for (size_t i = 0; i < call.keyword_count; i++) {
        keywords[i].name = parameter(&in, tdc_reference_signature(call.definition));
        keywords[i].value = value(&in, 0);
        if (keywords[i].name == NULL)
            call.keyword_count = i;
    }
    if (tdc_reference_forward(&call, &arena, &results) == TDC_OK)
        backward(&in, &call, &results);
    tdc_arena_free(&arena);
    return 0;
}
