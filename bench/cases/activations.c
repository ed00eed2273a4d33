#include "bench/cases/activations.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#include "bench/synthetic/synthetic_file.h"
#include "io/base/arena.h"
#include "io/base/error.h"
#include "io/base/text.h"
#include "reference/reference.h"

#define MEMORY   ((size_t)1 << 30)
#define ROWS     512
#define WIDTH    4096
#define ELEMENTS ((size_t)ROWS * WIDTH)

static const struct kind {
    const char *api;
    int tensors;
    bool dim; /* a keyword, -1 */
} kinds[] = {{"Torch.add", 2, false},
             {"Functional.gelu", 1, false},
             {"Torch.mul", 2, false},
             {"Functional.softmax", 1, true}};
#define KINDS (sizeof kinds / sizeof *kinds)

/* The tensors of a kind of call, two inputs at most and the result, as files have them. */
struct content {
    uint16_t *halves[3];
    uint32_t crc[3];
};

struct writer {
    const char *folder; /* of the tensors */
    struct tdc_text json;
    struct tdc_error *error;
};

static uint16_t upper_half(double value)
{
    float narrow = (float)tdc_reference_round(value, TDC_BF16);
    uint32_t bits;
    memcpy(&bits, &narrow, sizeof bits);
    return (uint16_t)(bits >> 16);
}

static tdc_status keep(struct content *content, int at, const struct tdc_reference_tensor *t,
                       struct tdc_error *error)
{
    content->halves[at] = malloc(ELEMENTS * sizeof **content->halves);
    if (content->halves[at] == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory for activations");
    for (size_t i = 0; i < ELEMENTS; i++)
        content->halves[at][i] = upper_half(t->real[i]);
    content->crc[at] = (uint32_t)crc32(0, (const unsigned char *)content->halves[at],
                                       (uInt)(ELEMENTS * sizeof **content->halves));
    return TDC_OK;
}

static struct tdc_reference_value drawn(struct tdc_arena *arena, uint64_t seed)
{
    struct tdc_reference_tensor *t =
        tdc_reference_tensor_new(arena, TDC_BF16, 2, (const int64_t[]){ROWS, WIDTH});
    for (int64_t i = 0; t != NULL && i < t->count; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        t->real[i] = tdc_reference_round((double)(seed >> 40) / (double)(1 << 23) - 1, TDC_BF16);
    }
    return (struct tdc_reference_value){.kind = TDC_VALUE_TENSOR, .tensor = t};
}

static tdc_status compute(const struct kind *kind, struct content *content, struct tdc_error *error)
{
    struct tdc_arena arena;
    tdc_arena_init(&arena, MEMORY);
    struct tdc_reference_value arguments[2];
    struct tdc_reference_keyword keyword = {"dim", {.kind = TDC_VALUE_INT, .whole = -1}};
    struct tdc_reference_results results;
    struct tdc_reference_call call = {.definition = tdc_reference_find(kind->api),
                                      .arguments = arguments,
                                      .argument_count = (size_t)kind->tensors,
                                      .keywords = &keyword,
                                      .keyword_count = kind->dim};
    tdc_status status = TDC_OK;
    for (int i = 0; i < kind->tensors && status == TDC_OK; i++) {
        arguments[i] = drawn(&arena, (uint64_t)i + 1);
        status = arguments[i].tensor != NULL
                     ? keep(content, i, arguments[i].tensor, error)
                     : tdc_fail(error, TDC_ERR_MEMORY, "out of memory for activations");
    }
    if (status == TDC_OK) {
        status = tdc_reference_forward(&call, &arena, &results);
        if (status != TDC_OK)
            tdc_fail(error, status, "%s: %s", kind->api, results.reason);
    }
    if (status == TDC_OK)
        status = keep(content, kind->tensors, results.values[0].tensor, error);
    tdc_arena_free(&arena);
    return status;
}

/* Writes the tensor and its element of the json. */
static tdc_status add_tensor(struct writer *w, const struct content *content, int at,
                             const char *stem)
{
    struct tdc_synthetic_shape shape = {.dtype = TDC_BF16, .dimensions = 2, .sizes = {ROWS, WIDTH}};
    struct tdc_synthetic_file file;
    tdc_status status =
        tdc_synthetic_file_open(&file, w->folder, stem, TDC_LAYOUT_PT, &shape, w->error);
    if (status != TDC_OK)
        return status;
    status = tdc_synthetic_file_add(&file, content->halves[at], ELEMENTS * sizeof **content->halves,
                                    content->crc[at], w->error);
    if (status != TDC_OK) {
        tdc_synthetic_file_drop(&file);
        return status;
    }
    tdc_text_addf(&w->json,
                  "{\"type\":\"torch.Tensor\",\"dtype\":\"torch.bfloat16\",\"shape\":[%d,%d],"
                  "\"Max\":1,\"Min\":-1,\"Mean\":0,\"Norm\":1,\"requires_grad\":false,"
                  "\"data_name\":\"%s.pt\"}",
                  ROWS, WIDTH, stem);
    return tdc_synthetic_file_close(&file, w->error);
}

static tdc_status add_call(struct writer *w, const struct kind *kind, const struct content *content,
                           int number)
{
    char stem[128];
    tdc_status status = TDC_OK;
    tdc_text_addf(&w->json, "%s\"%s.%d.forward\":{\"input_args\":[", number == 0 ? "" : ",",
                  kind->api, number);
    for (int i = 0; i < kind->tensors && status == TDC_OK; i++) {
        snprintf(stem, sizeof stem, "%s.%d.forward.input.%d", kind->api, number, i);
        tdc_text_addf(&w->json, i == 0 ? "" : ",");
        status = add_tensor(w, content, i, stem);
    }
    tdc_text_addf(&w->json, "],\"input_kwargs\":{%s},\"output\":[",
                  kind->dim ? "\"dim\":{\"type\":\"int\",\"value\":-1}" : "");
    snprintf(stem, sizeof stem, "%s.%d.forward.output.0", kind->api, number);
    if (status == TDC_OK)
        status = add_tensor(w, content, kind->tensors, stem);
    tdc_text_addf(&w->json, "]}");
    return status;
}

static tdc_status write_json(const char *folder, const struct tdc_text *calls,
                             struct tdc_error *error)
{
    char path[4096 + 32];
    snprintf(path, sizeof path, "%s/dump.json", folder);
    if (calls->failed)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory for %s", path);
    FILE *file = fopen(path, "we");
    if (file == NULL)
        return tdc_fail_errno(error, TDC_ERR_WRITE, errno, "%s", path);
    fprintf(file,
            "{\"task\":\"tensor\",\"level\":\"L1\",\"framework\":\"pytorch\","
            "\"dump_data_dir\":\"dump_tensor_data\",\"data\":{%s}}",
            tdc_text_get(calls));
    bool written = ferror(file) == 0;
    return fclose(file) == 0 && written ? TDC_OK
                                        : tdc_fail_errno(error, TDC_ERR_WRITE, errno, "%s", path);
}

tdc_status tdc_activations_make(const char *folder, uint64_t bytes, int *calls,
                                struct tdc_error *error)
{
    char data[4096 + 32];
    snprintf(data, sizeof data, "%s/dump_tensor_data", folder);
    if (mkdir(data, 0700) != 0)
        return tdc_fail_errno(error, TDC_ERR_WRITE, errno, "%s", data);
    struct writer w = {.folder = data, .error = error};
    struct content contents[KINDS] = {{{NULL}, {0}}};
    tdc_text_init(&w.json, (size_t)1 << 30);
    tdc_status status = TDC_OK;
    for (size_t k = 0; k < KINDS && status == TDC_OK; k++)
        status = compute(&kinds[k], &contents[k], error);
    uint64_t written = 0;
    for (*calls = 0; written < bytes && status == TDC_OK; ++*calls) {
        size_t k = (size_t)*calls % KINDS;
        status = add_call(&w, &kinds[k], &contents[k], *calls);
        written += (uint64_t)(kinds[k].tensors + 1) * ELEMENTS * 2;
    }
    if (status == TDC_OK)
        status = write_json(folder, &w.json, error);
    for (size_t k = 0; k < KINDS; k++)
        for (int i = 0; i < 3; i++)
            free(contents[k].halves[i]);
    tdc_text_free(&w.json);
    return status;
}
