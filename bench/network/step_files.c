/* step_files.c - dump.json and the tensors it names. */
#include "bench/network/step_files.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <sys/stat.h>

#include "bench/network/step_order.h"
#include "bench/synthetic/json_printer.h"
#include "host/precheck/files/saved_tensor.h"
#include "io/base/error.h"
#include "io/text/pytext.h"
#include "kernels/dtype.h"

#define INDENT 1
#define PATH   4096

struct writer {
    const struct tdc_step_files *files;
    const char *data; /* folder of the tensors */
    struct tdc_json_printer printer;
    tdc_status status;
    struct tdc_error *error;
};

/* ---- tensors --------------------------------------------------------------------------------- */

static void write_tensor(struct writer *w, const struct tdc_reference_tensor *tensor,
                         const char *stem, const char *file)
{
    char path[PATH];
    int length = snprintf(path, sizeof path, "%s/%s", w->data, file);
    if (w->status != TDC_OK)
        return;
    if (length < 0 || (size_t)length >= sizeof path) {
        w->status = tdc_fail(w->error, TDC_ERR_ARGUMENT, "%s: path too long", w->data);
        return;
    }
    FILE *out = fopen(path, "wxe");
    bool written =
        out != NULL && (w->files->layout == TDC_LAYOUT_PT ? tdc_write_pt(out, tensor, stem)
                                                          : tdc_write_npy(out, tensor));
    int failure = errno;
    if (out != NULL && fclose(out) != 0 && written) {
        failure = errno;
        written = false;
    }
    if (!written)
        w->status = tdc_fail_errno(w->error, TDC_ERR_WRITE, failure, "%s", path);
}

static void put_statistics(struct writer *w, const struct tdc_reference_tensor *t)
{
    double low = INFINITY, high = -INFINITY, sum = 0, squares = 0;
    bool floating = tdc_dtype_is_floating(t->dtype), nan = false;
    for (int64_t i = 0; i < t->count; i++) {
        double value = floating ? t->real[i] : (double)t->whole[i];
        nan |= isnan(value);
        low = value < low ? value : low;
        high = value > high ? value : high;
        sum += value;
        squares += value * value;
    }
    if (floating) {
        tdc_json_float(&w->printer, "Max", nan ? NAN : high);
        tdc_json_float(&w->printer, "Min", nan ? NAN : low);
        tdc_json_float(&w->printer, "Mean", sum / (double)t->count);
        tdc_json_float(&w->printer, "Norm", sqrt(squares));
        return;
    }
    char text[2][32];
    for (int i = 0; i < 2; i++) {
        double value = i == 0 ? high : low;
        if (t->dtype == TDC_BOOL)
            snprintf(text[i], sizeof text[i], "%s", value != 0 ? "true" : "false");
        else
            snprintf(text[i], sizeof text[i], "%.0f", value);
    }
    tdc_json_raw(&w->printer, "Max", text[0]);
    tdc_json_raw(&w->printer, "Min", text[1]);
    tdc_json_raw(&w->printer, "Mean", "null");
    tdc_json_raw(&w->printer, "Norm", "null");
}

static void put_tensor(struct writer *w, const char *key, const struct tdc_reference_tensor *t,
                       bool tracked, const char *stem)
{
    char text[TDC_STEP_NAME + 80];
    if (t == NULL) {
        tdc_json_raw(&w->printer, key, "null");
        return;
    }
    tdc_json_open(&w->printer, key, '{');
    tdc_json_string(&w->printer, "type", "torch.Tensor");
    tdc_json_string(&w->printer, "dtype", tdc_dtype_entry(t->dtype)->torch);
    tdc_json_open(&w->printer, "shape", '[');
    for (unsigned d = 0; d < t->rank; d++) {
        snprintf(text, sizeof text, "%" PRId64, t->shape[d]);
        tdc_json_raw(&w->printer, NULL, text);
    }
    tdc_json_close(&w->printer, ']');
    put_statistics(w, t);
    tdc_json_raw(&w->printer, "requires_grad", tracked ? "true" : "false");
    if (w->files->task == TDC_MODE_DIGEST) {
        snprintf(text, sizeof text, "%08" PRIx32, tdc_tensor_crc(t));
        tdc_json_string(&w->printer, "md5", text);
    } else if (w->files->task == TDC_MODE_TENSOR) {
        snprintf(text, sizeof text, "%s.%s", stem,
                 w->files->layout == TDC_LAYOUT_PT ? "pt" : "npy");
        tdc_json_string(&w->printer, "data_name", text);
        write_tensor(w, t, stem, text);
    }
    tdc_json_close(&w->printer, '}');
}

/* ---- arguments ------------------------------------------------------------------------------- */

static void put_typed(struct writer *w, const char *key, const char *type, const char *value,
                      bool text)
{
    tdc_json_open(&w->printer, key, '{');
    tdc_json_string(&w->printer, "type", type);
    if (text)
        tdc_json_string(&w->printer, "value", value);
    else
        tdc_json_raw(&w->printer, "value", value);
    tdc_json_close(&w->printer, '}');
}

static void put_value(struct writer *w, const char *key, const struct tdc_step_value *value,
                      const char *stem)
{
    char text[TDC_STEP_NAME + 64];
    switch (value->kind) {
    case TDC_STEP_NULL:
        tdc_json_raw(&w->printer, key, "null");
        break;
    case TDC_STEP_VARIABLE:
        put_tensor(w, key, value->variable->values, value->variable->tracked, stem);
        break;
    case TDC_STEP_VARIABLES:
        tdc_json_open(&w->printer, key, '[');
        snprintf(text, sizeof text, "%s.0", stem);
        put_tensor(w, NULL, value->variable->values, value->variable->tracked, text);
        snprintf(text, sizeof text, "%s.1", stem);
        put_tensor(w, NULL, value->second->values, value->second->tracked, text);
        tdc_json_close(&w->printer, ']');
        break;
    case TDC_STEP_INTS:
    case TDC_STEP_INT:
        if (value->kind == TDC_STEP_INTS)
            tdc_json_open(&w->printer, key, '[');
        snprintf(text, sizeof text, "%" PRId64, value->whole);
        put_typed(w, value->kind == TDC_STEP_INTS ? NULL : key, "int", text, false);
        if (value->kind == TDC_STEP_INTS)
            tdc_json_close(&w->printer, ']');
        break;
    case TDC_STEP_BOOL:
        put_typed(w, key, "bool", value->whole != 0 ? "true" : "false", false);
        break;
    case TDC_STEP_FLOAT:
        text[tdc_float_repr(value->real, text)] = 0;
        put_typed(w, key, "float", text, false);
        break;
    case TDC_STEP_TEXT:
        put_typed(w, key, "str", value->text, true);
        break;
    case TDC_STEP_DTYPE:
        put_typed(w, key, "torch.dtype", tdc_dtype_entry(value->dtype)->torch, true);
        break;
    }
}

/* ---- records --------------------------------------------------------------------------------- */

static void put_call_forward(struct writer *w, const struct tdc_step_call *call)
{
    char stem[TDC_STEP_NAME + 48];
    tdc_json_open(&w->printer, "input_args", '[');
    for (size_t i = 0; i < call->argument_count; i++) {
        snprintf(stem, sizeof stem, "%s.forward.input.%zu", call->name, i);
        put_value(w, NULL, &call->arguments[i], stem);
    }
    tdc_json_close(&w->printer, ']');
    tdc_json_open(&w->printer, "input_kwargs", '{');
    for (size_t i = 0; i < call->keyword_count; i++) {
        snprintf(stem, sizeof stem, "%s.forward.input.%s", call->name, call->keywords[i].name);
        put_value(w, call->keywords[i].name, &call->keywords[i].value, stem);
    }
    tdc_json_close(&w->printer, '}');
    tdc_json_open(&w->printer, "output", '[');
    for (size_t i = 0; i < call->output_count; i++) {
        snprintf(stem, sizeof stem, "%s.forward.output.%zu", call->name, i);
        put_tensor(w, NULL, call->outputs[i]->values, call->outputs[i]->tracked, stem);
    }
    tdc_json_close(&w->printer, ']');
}

static void put_list(struct writer *w, const char *key, const char *record,
                     struct tdc_reference_tensor *const *tensors, size_t count)
{
    char stem[TDC_STEP_NAME + 48];
    tdc_json_open(&w->printer, key, '[');
    for (size_t i = 0; i < count; i++) {
        snprintf(stem, sizeof stem, "%s.%s.%zu", record, key, i);
        put_tensor(w, NULL, tensors[i], false, stem);
    }
    tdc_json_close(&w->printer, ']');
}

static void put_module_forward(struct writer *w, const struct tdc_step_module *module)
{
    char stem[TDC_STEP_NAME + 80];
    tdc_json_open(&w->printer, "input_args", '[');
    if (module->input != NULL) {
        snprintf(stem, sizeof stem, "%s.forward.0.input.0", module->name);
        put_tensor(w, NULL, module->input->values, module->input->tracked, stem);
    }
    tdc_json_close(&w->printer, ']');
    tdc_json_open(&w->printer, "input_kwargs", '{');
    tdc_json_close(&w->printer, '}');
    tdc_json_open(&w->printer, "output", '[');
    snprintf(stem, sizeof stem, "%s.forward.0.output.0", module->name);
    put_tensor(w, NULL, module->output->values, module->output->tracked, stem);
    tdc_json_close(&w->printer, ']');
    tdc_json_open(&w->printer, "parameters", '{');
    for (size_t i = 0; i < module->parameter_count; i++) {
        snprintf(stem, sizeof stem, "%s.forward.0.parameters.%s", module->name,
                 module->parameters[i].name);
        put_tensor(w, module->parameters[i].name, module->parameters[i].variable->values, true,
                   stem);
    }
    tdc_json_close(&w->printer, '}');
}

static void put_parameter_gradients(struct writer *w, const struct tdc_step_module *module)
{
    char stem[TDC_STEP_NAME + 80];
    for (size_t i = 0; i < module->parameter_count; i++) {
        tdc_json_open(&w->printer, module->parameters[i].name, '[');
        snprintf(stem, sizeof stem, "%s.parameters_grad.0.%s", module->name,
                 module->parameters[i].name);
        put_tensor(w, NULL, module->parameters[i].variable->gradient, false, stem);
        tdc_json_close(&w->printer, ']');
    }
}

static bool put_record(void *context, const struct tdc_step_record *record)
{
    struct writer *w = context;
    if ((w->files->level & (record->call != NULL ? TDC_STEP_L1 : TDC_STEP_L0)) == 0)
        return true;
    tdc_json_open(&w->printer, record->name, '{');
    switch (record->kind) {
    case TDC_RECORD_FORWARD:
        if (record->call != NULL)
            put_call_forward(w, record->call);
        else
            put_module_forward(w, record->module);
        break;
    case TDC_RECORD_BACKWARD:
        if (record->call != NULL) {
            put_list(w, "input", record->name, record->call->arriving, record->call->output_count);
            put_list(w, "output", record->name, record->call->leaving, record->call->leaving_count);
        } else {
            put_list(w, "input", record->name, &record->module->arriving, 1);
            put_list(w, "output", record->name, &record->module->leaving,
                     record->module->leaving != NULL);
        }
        break;
    case TDC_RECORD_GRADIENTS:
        put_parameter_gradients(w, record->module);
        break;
    }
    tdc_json_close(&w->printer, '}');
    return w->status == TDC_OK;
}

static tdc_status write_dump(const struct tdc_step *step, const struct tdc_step_files *files,
                             const char *folder, struct tdc_error *error)
{
    static const char *const levels[] = {"", "L0", "L1", "mix"};
    char data[PATH];
    int length = snprintf(data, sizeof data, "%s/dump_tensor_data", folder);
    if (length < 0 || (size_t)length >= sizeof data)
        return tdc_fail(error, TDC_ERR_ARGUMENT, "%s: path too long", folder);
    if (files->task == TDC_MODE_TENSOR && mkdir(data, 0750) != 0)
        return tdc_fail_errno(error, TDC_ERR_WRITE, errno, "%s", data);
    struct writer w = {.files = files, .data = data, .error = error};
    tdc_status status = tdc_json_printer_open(&w.printer, INDENT, folder, "dump.json", error);
    if (status != TDC_OK)
        return status;
    /* md5 is a kind of statistics to the collector */
    tdc_json_string(&w.printer, "task", files->task == TDC_MODE_TENSOR ? "tensor" : "statistics");
    tdc_json_string(&w.printer, "level", levels[files->level]);
    tdc_json_string(&w.printer, "framework", "pytorch");
    tdc_json_string(&w.printer, "dump_data_dir", "./dump_tensor_data");
    tdc_json_open(&w.printer, "data", '{');
    tdc_step_visit(step, put_record, &w);
    tdc_json_close(&w.printer, '}');
    status = tdc_json_printer_close(&w.printer, folder, "dump.json", error);
    return w.status != TDC_OK ? w.status : status;
}

tdc_status tdc_step_write(const struct tdc_step *step, const struct tdc_step_files *files,
                          const char *folder, struct tdc_error *error)
{
    tdc_status status = write_dump(step, files, folder, error);
    if (status == TDC_OK)
        status = tdc_step_write_stack(step, files->level, folder, error);
    return status == TDC_OK ? tdc_step_write_construct(step, files->level, folder, error) : status;
}
