/* synthetic_json.c - Python's json.dump(..., indent=n) of what a collector has gathered. */
#include "bench/synthetic/synthetic_json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "bench/synthetic/json_printer.h"
#include "bench/synthetic/synthetic_network.h"
#include "kernels/dtype.h"

/* ---- dump.json ------------------------------------------------------------------------------- */

static void put_shape(struct tdc_json_printer *printer, const struct tdc_synthetic_shape *shape)
{
    tdc_json_open(printer, "shape", '[');
    for (unsigned i = 0; i < shape->dimensions; i++) {
        char number[24];
        snprintf(number, sizeof number, "%" PRIu64, shape->sizes[i]);
        tdc_json_raw(printer, NULL, number);
    }
    tdc_json_close(printer, ']');
}

static void put_tensor(struct tdc_json_printer *printer, const struct tdc_synthetic_json *json,
                       const struct tdc_synthetic_record *record, bool requires_grad,
                       const char *file)
{
    const struct tdc_values_statistics *statistics = &record->statistics;
    tdc_json_open(printer, NULL, '{');
    tdc_json_string(printer, "type", "torch.Tensor");
    tdc_json_string(printer, "dtype", tdc_dtype_entry(json->shape.dtype)->torch);
    put_shape(printer, &json->shape);
    tdc_json_float(printer, "Max", statistics->max);
    tdc_json_float(printer, "Min", statistics->min);
    tdc_json_float(printer, "Mean", statistics->sum / (double)statistics->count);
    tdc_json_float(printer, "Norm", sqrt(statistics->squares));
    tdc_json_raw(printer, "requires_grad", requires_grad ? "true" : "false");
    if (json->task == TDC_MODE_DIGEST) {
        char digest[16];
        snprintf(digest, sizeof digest, "%08" PRIx32, record->crc);
        tdc_json_string(printer, "md5", digest);
    } else if (json->task == TDC_MODE_TENSOR) {
        tdc_json_string(printer, "data_name", file);
    }
    tdc_json_close(printer, '}');
}

static void put_tensors(struct tdc_json_printer *printer, const struct tdc_synthetic_json *json,
                        const struct tdc_network_call *call, bool output)
{
    unsigned count = output ? call->outputs : call->inputs;
    uint64_t first = call->first + (output ? call->inputs : 0);
    bool floats = tdc_values_rounds(json->shape.dtype);
    for (unsigned i = 0; i < count; i++) {
        char file[TDC_NETWORK_NAME + 32];
        snprintf(file, sizeof file, "%s.%s.%u.%s", call->name, output ? "output" : "input", i,
                 json->suffix);
        put_tensor(printer, json, &json->records[first + i], floats, file);
    }
}

static void put_scalar(struct tdc_json_printer *printer, const char *key, const char *type,
                       const char *value)
{
    tdc_json_open(printer, key, '{');
    tdc_json_string(printer, "type", type);
    tdc_json_raw(printer, "value", value);
    tdc_json_close(printer, '}');
}

/* Returns the rows a comparison makes of the call. */
static uint64_t put_call(struct tdc_json_printer *printer, const struct tdc_synthetic_json *json,
                         const struct tdc_network_call *call)
{
    uint64_t rows = call->inputs + call->outputs;
    tdc_json_open(printer, call->name, '{');
    tdc_json_open(printer, "input_args", '[');
    put_tensors(printer, json, call, false);
    for (const struct tdc_network_scalar *scalar = call->scalars; scalar->type != NULL; scalar++) {
        put_scalar(printer, NULL, scalar->type, scalar->value);
        rows++;
    }
    tdc_json_close(printer, ']');
    tdc_json_open(printer, "input_kwargs", '{');
    if (call->axis != NULL) {
        put_scalar(printer, "dim", "int", call->axis);
        rows++;
    }
    tdc_json_close(printer, '}');
    if (!call->module)
        tdc_json_raw(printer, "is_recompute", "false");
    tdc_json_open(printer, "output", '[');
    put_tensors(printer, json, call, true);
    tdc_json_close(printer, ']');
    tdc_json_close(printer, '}');
    return rows;
}

tdc_status tdc_synthetic_dump_json(const struct tdc_synthetic_json *json, const char *folder,
                                   uint64_t *rows, uint64_t *bytes, struct tdc_error *error)
{
    struct tdc_json_printer printer;
    tdc_status status = tdc_json_printer_open(&printer, json->indent, folder, "dump.json", error);
    if (status != TDC_OK)
        return status;
    /* md5 is a kind of statistics to the collector */
    tdc_json_string(&printer, "task", json->task == TDC_MODE_TENSOR ? "tensor" : "statistics");
    tdc_json_string(&printer, "level", "mix");
    tdc_json_string(&printer, "framework", "pytorch");
    tdc_json_string(&printer, "dump_data_dir", "./dump_tensor_data");
    tdc_json_open(&printer, "data", '{');
    uint64_t calls = tdc_network_calls(json->tensors);
    *rows = 0;
    for (uint64_t i = 0; i < calls; i++) {
        struct tdc_network_call call;
        tdc_network_call(json->tensors, i, &call);
        *rows += put_call(&printer, json, &call);
    }
    tdc_json_close(&printer, '}');
    *bytes = printer.out.position + printer.out.used + 2;
    return tdc_json_printer_close(&printer, folder, "dump.json", error);
}

/* ---- stack.json ------------------------------------------------------------------------------ */

/* All calls of one source line, over all layers. */
static void put_stack(struct tdc_json_printer *printer, uint64_t tensors, size_t stack,
                      const char *const *frames)
{
    char key[24];
    snprintf(key, sizeof key, "%zu", stack);
    tdc_json_open(printer, key, '[');
    tdc_json_open(printer, NULL, '[');
    uint64_t calls = tdc_network_calls(tensors);
    for (uint64_t i = 0; i < calls; i++) {
        struct tdc_network_call call;
        tdc_network_call(tensors, i, &call);
        if (call.stack == stack)
            tdc_json_string(printer, NULL, call.name);
    }
    tdc_json_close(printer, ']');
    tdc_json_open(printer, NULL, '[');
    for (size_t i = 0; i < TDC_NETWORK_FRAMES; i++)
        tdc_json_string(printer, NULL, frames[i]);
    tdc_json_close(printer, ']');
    tdc_json_close(printer, ']');
}

tdc_status tdc_synthetic_stack_json(uint64_t tensors, unsigned indent, const char *folder,
                                    struct tdc_error *error)
{
    struct tdc_json_printer printer;
    tdc_status status = tdc_json_printer_open(&printer, indent, folder, "stack.json", error);
    if (status != TDC_OK)
        return status;
    const char *frames[TDC_NETWORK_FRAMES];
    for (size_t stack = 0; tdc_network_stack(stack, frames); stack++)
        put_stack(&printer, tensors, stack, frames);
    return tdc_json_printer_close(&printer, folder, "stack.json", error);
}
