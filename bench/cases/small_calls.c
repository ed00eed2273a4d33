#include "bench/cases/small_calls.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "bench/synthetic/synthetic_file.h"
#include "io/base/arena.h"
#include "io/base/error.h"
#include "reference/reference.h"

#define MEMORY ((size_t)64 << 20)
#define ROWS   16
#define MIDDLE 24
#define WIDTH  12

/* The shapes of a call's tensors; further arguments are none. */
static const struct kind {
    const char *api;
    int64_t shapes[2][2];
    int tensors;
    int dim; /* a keyword, when not negative */
} kinds[] = {
    {"Mint.add", {{ROWS, MIDDLE}, {ROWS, MIDDLE}}, 2, -1},
    {"Mint.matmul", {{ROWS, MIDDLE}, {MIDDLE, WIDTH}}, 2, -1},
    {"Mint.mul", {{ROWS, MIDDLE}, {1, MIDDLE}}, 2, -1},
    {"MintFunctional.softmax", {{ROWS, MIDDLE}, {0, 0}}, 1, 1},
    {"Mint.exp", {{ROWS, MIDDLE}, {0, 0}}, 1, -1},
    {"MintFunctional.gelu", {{ROWS, MIDDLE}, {0, 0}}, 1, -1},
    {"Mint.sum", {{ROWS, MIDDLE}, {0, 0}}, 1, 1},
    {"MintFunctional.linear", {{ROWS, MIDDLE}, {WIDTH, MIDDLE}}, 2, -1},
};
#define KINDS (sizeof kinds / sizeof *kinds)

struct writer {
    const char *folder; /* of the tensors */
    struct tdc_text json;
    struct tdc_arena arena;
    uint64_t seed;
    const char *call;
    struct tdc_error *error;
};

static double next_value(struct writer *w)
{
    w->seed = w->seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(float)((double)(w->seed >> 40) / (double)(1 << 23) - 1);
}

/* Writes the tensor as float32 and its element of the json. */
static tdc_status add_tensor(struct writer *w, const struct tdc_reference_tensor *t,
                             const char *place)
{
    char stem[160];
    float values[ROWS * MIDDLE * 4];
    double low = 0, high = 0, sum = 0;
    snprintf(stem, sizeof stem, "%s.%s", w->call, place);
    for (int64_t i = 0; i < t->count; i++) {
        values[i] = (float)t->real[i];
        low = i == 0 || t->real[i] < low ? t->real[i] : low;
        high = i == 0 || t->real[i] > high ? t->real[i] : high;
        sum += t->real[i];
    }
    struct tdc_synthetic_shape shape = {.dtype = TDC_F32, .dimensions = t->rank};
    for (unsigned d = 0; d < t->rank; d++)
        shape.sizes[d] = (uint64_t)t->shape[d];
    struct tdc_synthetic_file file;
    tdc_status status =
        tdc_synthetic_file_open(&file, w->folder, stem, TDC_LAYOUT_NPY, &shape, w->error);
    if (status != TDC_OK)
        return status;
    status = tdc_synthetic_file_add(&file, values, (size_t)t->count * sizeof *values, 0, w->error);
    if (status != TDC_OK) {
        tdc_synthetic_file_drop(&file);
        return status;
    }
    tdc_text_addf(&w->json, "{\"type\":\"mindspore.Tensor\",\"dtype\":\"Float32\",\"shape\":[%lld",
                  (long long)t->shape[0]);
    if (t->rank > 1)
        tdc_text_addf(&w->json, ",%lld", (long long)t->shape[1]);
    tdc_text_addf(
        &w->json,
        "],\"Max\":%.9g,\"Min\":%.9g,\"Mean\":%.9g,\"Norm\":%.9g,\"data_name\":\"%s.npy\"}", high,
        low, t->count > 0 ? sum / (double)t->count : 0, high - low, stem);
    return tdc_synthetic_file_close(&file, w->error);
}

static tdc_status add_list(struct writer *w, const struct tdc_reference_value *values, size_t count,
                           const char *prefix)
{
    char place[64];
    tdc_status status = TDC_OK;
    tdc_text_addf(&w->json, "[");
    for (size_t i = 0; i < count && status == TDC_OK; i++) {
        snprintf(place, sizeof place, "%s.%zu", prefix, i);
        tdc_text_addf(&w->json, i == 0 ? "" : ",");
        status = add_tensor(w, values[i].tensor, place);
    }
    tdc_text_addf(&w->json, "]");
    return status;
}

static struct tdc_reference_value drawn(struct writer *w, unsigned rank, const int64_t *shape)
{
    struct tdc_reference_tensor *t = tdc_reference_tensor_new(&w->arena, TDC_F32, rank, shape);
    for (int64_t i = 0; t != NULL && i < t->count; i++)
        t->real[i] = next_value(w);
    if (t != NULL)
        t->wants_gradient = true;
    return (struct tdc_reference_value){.kind = TDC_VALUE_TENSOR, .tensor = t};
}

/* A call's records; the backward ones go to `later`, as a dump has them behind all forward ones. */
static tdc_status add_call(struct writer *w, const struct kind *kind, bool backward,
                           struct tdc_text *later, bool first)
{
    struct tdc_reference_value arguments[2], gradient;
    struct tdc_reference_keyword keyword = {"dim", {.kind = TDC_VALUE_INT, .whole = kind->dim}};
    struct tdc_reference_results results;
    for (int i = 0; i < kind->tensors; i++) {
        arguments[i] = drawn(w, 2, kind->shapes[i]);
        if (arguments[i].tensor == NULL)
            return tdc_fail(w->error, TDC_ERR_MEMORY, "out of memory");
    }
    struct tdc_reference_call call = {.definition = tdc_reference_find(kind->api),
                                      .arguments = arguments,
                                      .argument_count = (size_t)kind->tensors,
                                      .keywords = &keyword,
                                      .keyword_count = kind->dim >= 0};
    tdc_status status = tdc_reference_forward(&call, &w->arena, &results);
    if (status != TDC_OK)
        return tdc_fail(w->error, status, "%s: %s", kind->api, results.reason);
    tdc_text_addf(&w->json, "%s\"%s.forward\":{\"input_args\":", first ? "" : ",", w->call);
    status = add_list(w, arguments, (size_t)kind->tensors, "forward.input");
    tdc_text_addf(&w->json, ",\"input_kwargs\":{");
    if (kind->dim >= 0)
        tdc_text_addf(&w->json, "\"dim\":{\"type\":\"int\",\"value\":%d}", kind->dim);
    tdc_text_addf(&w->json, "},\"output\":");
    if (status == TDC_OK)
        status = add_list(w, results.values, 1, "forward.output");
    tdc_text_addf(&w->json, "}");
    if (!backward || status != TDC_OK)
        return status;
    gradient = drawn(w, results.values[0].tensor->rank, results.values[0].tensor->shape);
    if (gradient.tensor == NULL)
        return tdc_fail(w->error, TDC_ERR_MEMORY, "out of memory");
    status = tdc_reference_backward(&call, &gradient.tensor, 1, &w->arena, &results);
    if (status != TDC_OK)
        return tdc_fail(w->error, status, "%s: %s", kind->api, results.reason);
    struct tdc_text forward = w->json;
    w->json = *later;
    tdc_text_addf(&w->json, ",\"%s.backward\":{\"input\":", w->call);
    status = add_list(w, &gradient, 1, "backward.input");
    tdc_text_addf(&w->json, ",\"output\":");
    if (status == TDC_OK)
        status = add_list(w, results.values, results.count, "backward.output");
    tdc_text_addf(&w->json, "}");
    *later = w->json;
    w->json = forward;
    return status;
}

static tdc_status write_json(const char *path, const struct tdc_text *forward,
                             const struct tdc_text *backward, struct tdc_error *error)
{
    if (forward->failed || backward->failed)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory for %s", path);
    FILE *file = fopen(path, "we");
    if (file == NULL)
        return tdc_fail_errno(error, TDC_ERR_WRITE, errno, "%s", path);
    fprintf(file,
            "{\"task\":\"tensor\",\"level\":\"L1\",\"framework\":\"mindspore\","
            "\"dump_data_dir\":\"dump_tensor_data\",\"data\":{%s%s}}",
            tdc_text_get(forward), tdc_text_get(backward));
    bool written = ferror(file) == 0;
    return fclose(file) == 0 && written ? TDC_OK
                                        : tdc_fail_errno(error, TDC_ERR_WRITE, errno, "%s", path);
}

tdc_status tdc_small_calls_make(const char *folder, int calls, struct tdc_error *error)
{
    char data[4096 + 32], path[4096 + 32], name[64];
    snprintf(data, sizeof data, "%s/dump_tensor_data", folder);
    snprintf(path, sizeof path, "%s/dump.json", folder);
    if (mkdir(data, 0700) != 0)
        return tdc_fail_errno(error, TDC_ERR_WRITE, errno, "%s", data);
    struct writer w = {.folder = data, .seed = 1, .call = name, .error = error};
    struct tdc_text later;
    tdc_text_init(&w.json, (size_t)1 << 30);
    tdc_text_init(&later, (size_t)1 << 30);
    tdc_arena_init(&w.arena, MEMORY);
    tdc_status status = TDC_OK;
    for (int i = 0; i < calls && status == TDC_OK; i++) {
        const struct kind *kind = &kinds[(size_t)i % KINDS];
        snprintf(name, sizeof name, "%s.%d", kind->api, i / (int)KINDS);
        status = add_call(&w, kind, i / (int)KINDS % 2 == 0, &later, i == 0);
        tdc_arena_reset(&w.arena);
    }
    if (status == TDC_OK)
        status = write_json(path, &w.json, &later, error);
    tdc_arena_free(&w.arena);
    tdc_text_free(&w.json);
    tdc_text_free(&later);
    return status;
}
