/* synthetic_json.c - Python's json.dump(..., indent=n) of what a collector has gathered. */
#include "bench/synthetic/synthetic_json.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench/synthetic/synthetic_network.h"
#include "io/file/byte_writer.h"
#include "io/base/error.h"
#include "io/text/pytext.h"
#include "kernels/dtype.h"

/* An open file and where in the tree the next line stands. */
struct printer {
    struct tdc_byte_writer out;
    unsigned depth, indent;
    bool follows; /* something of the same level was written: a comma is due */
};

static void put_text(struct printer *printer, const char *text)
{
    tdc_put(&printer->out, text, strlen(text));
}

static void start_line(struct printer *printer)
{
    TDC_PUT_LITERAL(&printer->out, "\n");
    for (unsigned i = 0; i < printer->depth * printer->indent; i++)
        tdc_putc(&printer->out, ' ');
}

/* A comma if due, a new line, and the key if there is one. */
static void put_key(struct printer *printer, const char *key)
{
    if (printer->follows)
        tdc_putc(&printer->out, ',');
    start_line(printer);
    printer->follows = true;
    if (key == NULL)
        return;
    tdc_putc(&printer->out, '"');
    put_text(printer, key);
    TDC_PUT_LITERAL(&printer->out, "\": ");
}

static void open_level(struct printer *printer, const char *key, char bracket)
{
    put_key(printer, key);
    tdc_putc(&printer->out, bracket);
    printer->depth++;
    printer->follows = false;
}

static void close_level(struct printer *printer, char bracket)
{
    printer->depth--;
    if (printer->follows) /* an empty level stays on its line */
        start_line(printer);
    tdc_putc(&printer->out, bracket);
    printer->follows = true;
}

static void put_raw(struct printer *printer, const char *key, const char *value)
{
    put_key(printer, key);
    put_text(printer, value);
}

static void put_string(struct printer *printer, const char *key, const char *value)
{
    put_key(printer, key);
    tdc_putc(&printer->out, '"');
    put_text(printer, value);
    tdc_putc(&printer->out, '"');
}

/* Collectors take statistics in float32 and print them as Python's float. */
static void put_float(struct printer *printer, const char *key, double value)
{
    char text[TDC_FLOAT_TEXT];
    put_key(printer, key);
    tdc_put(&printer->out, text, tdc_float_repr((double)(float)value, text));
}

/* ---- dump.json ------------------------------------------------------------------------------- */

static void put_shape(struct printer *printer, const struct tdc_synthetic_shape *shape)
{
    open_level(printer, "shape", '[');
    for (unsigned i = 0; i < shape->dimensions; i++) {
        char number[24];
        snprintf(number, sizeof number, "%" PRIu64, shape->sizes[i]);
        put_raw(printer, NULL, number);
    }
    close_level(printer, ']');
}

static void put_tensor(struct printer *printer, const struct tdc_synthetic_json *json,
                       const struct tdc_synthetic_record *record, bool requires_grad,
                       const char *file)
{
    const struct tdc_values_statistics *statistics = &record->statistics;
    open_level(printer, NULL, '{');
    put_string(printer, "type", "torch.Tensor");
    put_string(printer, "dtype", tdc_dtype_entry(json->shape.dtype)->torch);
    put_shape(printer, &json->shape);
    put_float(printer, "Max", statistics->max);
    put_float(printer, "Min", statistics->min);
    put_float(printer, "Mean", statistics->sum / (double)statistics->count);
    put_float(printer, "Norm", sqrt(statistics->squares));
    put_raw(printer, "requires_grad", requires_grad ? "true" : "false");
    if (json->task == TDC_MODE_DIGEST) {
        char digest[16];
        snprintf(digest, sizeof digest, "%08" PRIx32, record->crc);
        put_string(printer, "md5", digest);
    } else if (json->task == TDC_MODE_TENSOR) {
        put_string(printer, "data_name", file);
    }
    close_level(printer, '}');
}

static void put_tensors(struct printer *printer, const struct tdc_synthetic_json *json,
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

static void put_scalar(struct printer *printer, const char *key, const char *type,
                       const char *value)
{
    open_level(printer, key, '{');
    put_string(printer, "type", type);
    put_raw(printer, "value", value);
    close_level(printer, '}');
}

/* Returns the rows a comparison makes of the call. */
static uint64_t put_call(struct printer *printer, const struct tdc_synthetic_json *json,
                         const struct tdc_network_call *call)
{
    uint64_t rows = call->inputs + call->outputs;
    open_level(printer, call->name, '{');
    open_level(printer, "input_args", '[');
    put_tensors(printer, json, call, false);
    for (const struct tdc_network_scalar *scalar = call->scalars; scalar->type != NULL; scalar++) {
        put_scalar(printer, NULL, scalar->type, scalar->value);
        rows++;
    }
    close_level(printer, ']');
    open_level(printer, "input_kwargs", '{');
    if (call->axis != NULL) {
        put_scalar(printer, "dim", "int", call->axis);
        rows++;
    }
    close_level(printer, '}');
    if (!call->module)
        put_raw(printer, "is_recompute", "false");
    open_level(printer, "output", '[');
    put_tensors(printer, json, call, true);
    close_level(printer, ']');
    close_level(printer, '}');
    return rows;
}

static tdc_status printer_open(struct printer *printer, unsigned indent, const char *folder,
                               const char *name, struct tdc_error *error)
{
    char path[4096];
    int length = snprintf(path, sizeof path, "%s/%s", folder, name);
    if (length < 0 || (size_t)length >= sizeof path)
        return tdc_fail(error, TDC_ERR_ARGUMENT, "%s: path too long", folder);
    *printer = (struct printer){.indent = indent};
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
    if (fd < 0)
        return tdc_fail_errno(error, TDC_ERR_WRITE, errno, "%s", path);
    if (!tdc_byte_writer_start(&printer->out, fd)) {
        close(fd);
        return tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", path);
    }
    tdc_putc(&printer->out, '{');
    printer->depth = 1;
    return TDC_OK;
}

static tdc_status printer_close(struct printer *printer, const char *folder, const char *name,
                                struct tdc_error *error)
{
    close_level(printer, '}');
    tdc_byte_writer_flush(&printer->out);
    int failure = printer->out.failure;
    if (close(printer->out.fd) != 0 && failure == 0)
        failure = errno;
    tdc_byte_writer_free(&printer->out);
    if (failure != 0)
        return tdc_fail_errno(error, TDC_ERR_WRITE, failure, "%s/%s", folder, name);
    return TDC_OK;
}

tdc_status tdc_synthetic_dump_json(const struct tdc_synthetic_json *json, const char *folder,
                                   uint64_t *rows, uint64_t *bytes, struct tdc_error *error)
{
    struct printer printer;
    tdc_status status = printer_open(&printer, json->indent, folder, "dump.json", error);
    if (status != TDC_OK)
        return status;
    /* md5 is a kind of statistics to the collector */
    put_string(&printer, "task", json->task == TDC_MODE_TENSOR ? "tensor" : "statistics");
    put_string(&printer, "level", "mix");
    put_string(&printer, "framework", "pytorch");
    put_string(&printer, "dump_data_dir", "./dump_tensor_data");
    open_level(&printer, "data", '{');
    uint64_t calls = tdc_network_calls(json->tensors);
    *rows = 0;
    for (uint64_t i = 0; i < calls; i++) {
        struct tdc_network_call call;
        tdc_network_call(json->tensors, i, &call);
        *rows += put_call(&printer, json, &call);
    }
    close_level(&printer, '}');
    *bytes = printer.out.position + printer.out.used + 2;
    return printer_close(&printer, folder, "dump.json", error);
}

/* ---- stack.json ------------------------------------------------------------------------------ */

/* All calls of one source line, over all layers. */
static void put_stack(struct printer *printer, uint64_t tensors, size_t stack,
                      const char *const *frames)
{
    char key[24];
    snprintf(key, sizeof key, "%zu", stack);
    open_level(printer, key, '[');
    open_level(printer, NULL, '[');
    uint64_t calls = tdc_network_calls(tensors);
    for (uint64_t i = 0; i < calls; i++) {
        struct tdc_network_call call;
        tdc_network_call(tensors, i, &call);
        if (call.stack == stack)
            put_string(printer, NULL, call.name);
    }
    close_level(printer, ']');
    open_level(printer, NULL, '[');
    for (size_t i = 0; i < TDC_NETWORK_FRAMES; i++)
        put_string(printer, NULL, frames[i]);
    close_level(printer, ']');
    close_level(printer, ']');
}

tdc_status tdc_synthetic_stack_json(uint64_t tensors, unsigned indent, const char *folder,
                                    struct tdc_error *error)
{
    struct printer printer;
    tdc_status status = printer_open(&printer, indent, folder, "stack.json", error);
    if (status != TDC_OK)
        return status;
    const char *frames[TDC_NETWORK_FRAMES];
    for (size_t stack = 0; tdc_network_stack(stack, frames); stack++)
        put_stack(&printer, tensors, stack, frames);
    return printer_close(&printer, folder, "stack.json", error);
}
