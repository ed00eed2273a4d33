/* checkpoint_compare.c - two checkpoints parameter by parameter, and the JSON file about them. */
#include <math.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/checkpoint/checkpoint.h"
#include "io/base/error.h"
#include "io/base/sized.h"
#include "io/base/team.h"
#include "io/base/text.h"
#include "io/file/byte_writer.h"
#include "io/file/mapping_guard.h"
#include "io/file/out_file.h"
#include "io/storage/looking.h"
#include "io/table/json_object.h"
#include "io/text/pytext.h"

#define TEXT_LIMIT ((size_t)1 << 30)

enum {
    BLOCK = 4096
};

struct pair {
    const struct tdc_parameter *a, *b;
    bool same_shape, gone; /* a file shrank while it was read */
    double difference, product, a_squares, b_squares;
    bool different;
};

struct comparison {
    struct tdc_checkpoint sides[2];
    struct pair *pairs; /* sorted by name */
    size_t count;
    atomic_size_t next;
};

/* ---- numbers --------------------------------------------------------------------------------- */

struct buffers {
    double a[BLOCK], b[BLOCK];
    unsigned char scratch[BLOCK * 16];
    struct pair *pair;
};

/* Sums in order, so that they do not depend on the number of threads. */
static void reduce(void *argument)
{
    struct buffers *buffers = argument;
    struct pair *pair = buffers->pair;
    for (uint64_t first = 0; first < pair->a->count; first += BLOCK) {
        uint64_t left = pair->a->count - first;
        size_t count = left < BLOCK ? (size_t)left : BLOCK;
        tdc_parameter_read(pair->a, first, count, buffers->a, buffers->scratch);
        tdc_parameter_read(pair->b, first, count, buffers->b, buffers->scratch);
        double difference = 0, product = 0, a_squares = 0, b_squares = 0;
        for (size_t i = 0; i < count; i++) {
            double a = buffers->a[i], b = buffers->b[i];
            difference += (a - b) * (a - b);
            product += a * b;
            a_squares += a * a;
            b_squares += b * b;
            pair->different |= !(a == b || (isnan(a) && isnan(b)));
        }
        pair->difference += difference;
        pair->product += product;
        pair->a_squares += a_squares;
        pair->b_squares += b_squares;
    }
}

static void work(void *argument, int thread)
{
    (void)thread;
    struct comparison *comparison = argument;
    struct buffers *buffers = malloc(sizeof *buffers);
    if (buffers == NULL)
        return; /* whoever has buffers does the work; tdc_checkpoint_compare looks */
    for (size_t i; (i = atomic_fetch_add(&comparison->next, 1)) < comparison->count;) {
        struct pair *pair = &comparison->pairs[i];
        buffers->pair = pair;
        if (pair->same_shape)
            pair->gone = !tdc_guarded_read(reduce, buffers);
    }
    free(buffers);
}

/* ---- the file -------------------------------------------------------------------------------- */

static void add_number(struct tdc_text *out, double value)
{
    char text[TDC_FLOAT_TEXT];
    if (isnan(value))
        tdc_text_adds(out, "NaN");
    else if (isinf(value))
        tdc_text_adds(out, value > 0 ? "Infinity" : "-Infinity");
    else
        tdc_text_add(out, text, tdc_float_repr(value, text));
}

static void add_shape(struct tdc_text *out, const struct tdc_parameter *parameter, int indent)
{
    if (parameter->dimensions == 0) {
        tdc_text_adds(out, "[]");
        return;
    }
    tdc_text_addc(out, '[');
    for (unsigned d = 0; d < parameter->dimensions; d++)
        tdc_text_addf(out, "%s\n%*s%llu", d == 0 ? "" : ",", indent + 4, "",
                      (unsigned long long)parameter->shape[d]);
    tdc_text_addf(out, "\n%*s]", indent, "");
}

static void add_metrics(struct tdc_text *out, const struct pair *pair,
                        const struct tdc_checkpoint_options *options)
{
    tdc_text_adds(out, "        \"l2\": ");
    if (pair->same_shape)
        add_number(out, sqrt(pair->difference));
    else
        tdc_text_adds(out, "null");
    tdc_text_adds(out, ",\n        \"cos\": ");
    double norms = sqrt(pair->a_squares) * sqrt(pair->b_squares);
    if (!pair->same_shape)
        tdc_text_adds(out, "null");
    else if (pair->a_squares == 0 && pair->b_squares == 0)
        tdc_text_adds(out, "1.0");
    else if (pair->a_squares == 0 || pair->b_squares == 0)
        tdc_text_adds(out, "null");
    else
        add_number(out, pair->product / norms);
    if (pair->same_shape && (pair->a_squares == 0) != (pair->b_squares == 0))
        tdc_checkpoint_say(options, TDC_MESSAGE_WARNING, "One tensor norm is zero.");
    tdc_text_adds(out, ",\n        \"numel\": ");
    if (pair->a->count == pair->b->count)
        tdc_text_addf(out, "%llu", (unsigned long long)pair->a->count);
    else
        tdc_text_addf(out, "[\n            %llu,\n            %llu\n        ]",
                      (unsigned long long)pair->a->count, (unsigned long long)pair->b->count);
    tdc_text_adds(out, ",\n        \"shape\": ");
    if (pair->same_shape) {
        add_shape(out, pair->a, 8);
    } else {
        tdc_text_adds(out, "[\n            ");
        add_shape(out, pair->a, 12);
        tdc_text_adds(out, ",\n            ");
        add_shape(out, pair->b, 12);
        tdc_text_adds(out, "\n        ]");
    }
    tdc_text_addc(out, '\n');
}

static tdc_status write_file(const struct comparison *comparison, const char *path,
                             const struct tdc_checkpoint_options *options, struct tdc_error *error)
{
    struct tdc_text text;
    tdc_text_init(&text, TEXT_LIMIT);
    tdc_text_adds(&text, "{");
    for (size_t i = 0; i < comparison->count; i++) {
        const char *name = comparison->pairs[i].a->name;
        tdc_text_adds(&text, i == 0 ? "\n    " : ",\n    ");
        tdc_json_add_string(&text, name, strlen(name));
        tdc_text_adds(&text, ": {\n");
        add_metrics(&text, &comparison->pairs[i], options);
        tdc_text_adds(&text, "    }");
    }
    tdc_text_adds(&text, comparison->count == 0 ? "}" : "\n}");
    struct tdc_out_file file = TDC_OUT_FILE_NONE;
    tdc_status status = text.failed ? tdc_fail(error, TDC_ERR_MEMORY, "out of memory")
                                    : tdc_out_file_open(path, &file, error);
    if (status == TDC_OK) {
        int failure = tdc_write_fully(file.fd, tdc_text_get(&text), text.length);
        status = failure == 0 ? tdc_out_file_commit_new(&file, error)
                              : tdc_fail_errno(error, TDC_ERR_WRITE, failure, "%s", path);
        tdc_out_file_discard(&file);
    }
    tdc_text_free(&text);
    return status;
}

/* ---- pairs ----------------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct pair *)a)->a->name, ((const struct pair *)b)->a->name);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Names of one side that the other has not, as Python prints a set, sorted. Their number, or -1. */
static int64_t tell_missing(const struct comparison *comparison, int side,
                            const struct tdc_checkpoint_options *options)
{
    const struct tdc_checkpoint *own = &comparison->sides[side],
                                *other = &comparison->sides[1 - side];
    const char **names = calloc(own->count + 1, sizeof *names);
    size_t count = 0;
    if (names == NULL)
        return -1;
    for (size_t i = 0; i < own->count; i++) {
        const char *name = own->parameters[i].name;
        if (tdc_names_find(&other->names, name, strlen(name)) == TDC_NAME_NONE)
            names[count++] = name;
    }
    qsort(names, count, sizeof *names, by_text);
    struct tdc_text text;
    tdc_text_init(&text, TEXT_LIMIT);
    tdc_text_addf(&text, "Parameters not in ckpt%d: %s", 2 - side, count == 0 ? "set()" : "{");
    for (size_t i = 0; i < count; i++) {
        tdc_text_adds(&text, i == 0 ? "" : ", ");
        tdc_pytext_repr_string(&text, names[i], strlen(names[i]));
    }
    tdc_text_adds(&text, count == 0 ? "" : "}");
    if (options->message != NULL)
        options->message(options->context, TDC_MESSAGE_WARNING, tdc_text_get(&text));
    tdc_text_free(&text);
    free(names);
    return (int64_t)count;
}

static bool find_pairs(struct comparison *comparison)
{
    const struct tdc_checkpoint *a = &comparison->sides[0], *b = &comparison->sides[1];
    comparison->pairs = calloc(a->count + 1, sizeof *comparison->pairs);
    if (comparison->pairs == NULL)
        return false;
    for (size_t i = 0; i < a->count; i++) {
        const char *name = a->parameters[i].name;
        uint32_t number = tdc_names_find(&b->names, name, strlen(name));
        if (number == TDC_NAME_NONE)
            continue;
        struct pair *pair = &comparison->pairs[comparison->count++];
        *pair = (struct pair){.a = &a->parameters[i], .b = &b->parameters[number]};
        pair->same_shape = pair->a->dimensions == pair->b->dimensions &&
                           memcmp(pair->a->shape, pair->b->shape,
                                  pair->a->dimensions * sizeof pair->a->shape[0]) == 0;
    }
    qsort(comparison->pairs, comparison->count, sizeof *comparison->pairs, by_name);
    return true;
}

static tdc_status compare_pairs(struct comparison *comparison,
                                const struct tdc_checkpoint_options *options,
                                struct tdc_checkpoint_summary *summary, struct tdc_error *error)
{
    tdc_team_run(tdc_team_size(options->threads), work, comparison);
    if (atomic_load(&comparison->next) < comparison->count)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
    for (size_t i = 0; i < comparison->count; i++) {
        const struct pair *pair = &comparison->pairs[i];
        if (pair->gone)
            return tdc_fail(error, TDC_ERR_CHANGED, "%s: changed while being read", pair->a->file);
        summary->different += pair->different || !pair->same_shape;
        if (!pair->same_shape)
            tdc_checkpoint_say(options, TDC_MESSAGE_WARNING, "a, b are in different shape: %s",
                               pair->a->name);
    }
    summary->common = comparison->count;
    return TDC_OK;
}

void tdc_checkpoint_options_init(struct tdc_checkpoint_options *options, size_t size)
{
    struct tdc_checkpoint_options defaults = {.size = size};
    tdc_sized_init(options, size, &defaults, sizeof defaults);
}

tdc_status tdc_checkpoint_compare(const char *first, const char *second, const char *json,
                                  const struct tdc_checkpoint_options *given,
                                  struct tdc_checkpoint_summary *summary, size_t size,
                                  struct tdc_error *error)
{
    struct comparison comparison = {0};
    struct tdc_checkpoint_options whole;
    struct tdc_checkpoint_summary found = {0};
    tdc_checkpoint_options_init(&whole, sizeof whole);
    tdc_status status = tdc_sized_read(given, offsetof(struct tdc_checkpoint_options, context),
                                       &whole, sizeof whole, "tdc_checkpoint_options_init", error);
    const struct tdc_checkpoint_options *options = &whole;
    if (status == TDC_OK && tdc_is_there(json))
        status = tdc_fail(error, TDC_ERR_WRITE, "The file path %s already exists.", json);
    if (status == TDC_OK)
        status = tdc_checkpoint_load(first, options, &comparison.sides[0], error);
    if (status == TDC_OK)
        status = tdc_checkpoint_load(second, options, &comparison.sides[1], error);
    for (int side = 0; side < 2 && status == TDC_OK; side++) {
        int64_t missing = tell_missing(&comparison, side, options);
        if (missing < 0)
            status = tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
        else
            *(side == 0 ? &found.only_first : &found.only_second) = (uint64_t)missing;
    }
    if (status == TDC_OK && !find_pairs(&comparison))
        status = tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
    if (status == TDC_OK)
        status = compare_pairs(&comparison, options, &found, error);
    if (status == TDC_OK)
        status = write_file(&comparison, json, options, error);
    if (status == TDC_OK)
        tdc_checkpoint_say(options, TDC_MESSAGE_INFO, "Comparison results written to %s", json);
    tdc_sized_give(summary, size, &found, sizeof found);
    tdc_checkpoint_free(&comparison.sides[0]);
    tdc_checkpoint_free(&comparison.sides[1]);
    free(comparison.pairs);
    return status;
}
