/* gradient.c - similarities of the gradients of two runs: table, JSON and plots for each rank. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/analysis/analysis.h"
#include "host/analysis/gradient/gradient_tree.h"
#include "host/analysis/gradient/similarity_plot.h"
#include "host/find/folders.h"
#include "io/base/error.h"
#include "io/text/json_write.h"
#include "io/text/pytext.h"

#define FILE_LIMIT ((size_t)1 << 30)

/* The guide's rule of thumb. */
#define LEAST_AT_FIRST 0.97
#define LARGEST_DROP   0.03

/* One rank while it is compared. */
struct rank {
    char *npu, *bench, *output; /* its folders */
    struct tdc_common_numbers steps;
    struct tdc_parameter_names names; /* and one row more, the summary */
    double *values;                   /* row by row */
};

static tdc_status no_memory(struct tdc_error *error)
{
    return tdc_fail(error, TDC_ERR_MEMORY, "out of memory for similarities");
}

static double ratio(uint64_t equal, uint64_t elements)
{
    return elements != 0 ? (double)equal / (double)elements : 0;
}

static const char *row_name(const struct rank *rank, size_t row)
{
    return row < rank->names.count ? rank->names.names[row] : "summary";
}

/* ---- comparing ------------------------------------------------------------------------------- */

static tdc_status compare_step(struct rank *rank, size_t step, struct tdc_error *error)
{
    char name[32];
    snprintf(name, sizeof name, "step%ld", rank->steps.numbers[step]);
    char *npu = tdc_path_join(rank->npu, name), *bench = tdc_path_join(rank->bench, name);
    tdc_status status = npu != NULL && bench != NULL ? TDC_OK : no_memory(error);
    struct tdc_similarity all = {0};
    for (size_t i = 0; i < rank->names.count && status == TDC_OK; i++) {
        struct tdc_similarity one;
        status = tdc_similarity_of(npu, bench, rank->names.names[i], &one, error);
        rank->values[i * rank->steps.count + step] = ratio(one.equal, one.elements);
        all.equal += one.equal;
        all.elements += one.elements;
    }
    rank->values[rank->names.count * rank->steps.count + step] = ratio(all.equal, all.elements);
    free(npu);
    free(bench);
    return status;
}

static tdc_status compare_rank(struct rank *rank, struct tdc_error *error)
{
    tdc_status status =
        tdc_common_numbers_find(rank->npu, rank->bench, "step", &rank->steps, error);
    if (status == TDC_OK && rank->steps.count == 0)
        status = tdc_fail(error, TDC_ERR_NOTHING,
                          "no matched steps for comparison, please dump data in same "
                          "configuration");
    if (status == TDC_OK)
        status = tdc_parameter_names_read(rank->npu, rank->bench, &rank->names, error);
    if (status != TDC_OK)
        return status;
    rank->values = calloc((rank->names.count + 1) * rank->steps.count, sizeof *rank->values);
    if (rank->values == NULL)
        return no_memory(error);
    for (size_t i = 0; i < rank->steps.count && status == TDC_OK; i++)
        status = compare_step(rank, i, error);
    return status;
}

/* ---- files ----------------------------------------------------------------------------------- */

static void add_field(struct tdc_text *out, const char *text)
{
    if (strpbrk(text, ",\"\r\n") == NULL) {
        tdc_text_adds(out, text);
        return;
    }
    tdc_text_addc(out, '"');
    for (; *text != '\0'; text++) {
        if (*text == '"')
            tdc_text_addc(out, '"');
        tdc_text_addc(out, *text);
    }
    tdc_text_addc(out, '"');
}

static void add_table(struct tdc_text *out, const struct rank *rank)
{
    tdc_text_adds(out, "\xef\xbb\xbfstep");
    for (size_t i = 0; i < rank->steps.count; i++)
        tdc_text_addf(out, ",%ld", rank->steps.numbers[i]);
    for (size_t row = 0; row <= rank->names.count; row++) {
        tdc_text_adds(out, "\r\n");
        add_field(out, row_name(rank, row));
        for (size_t i = 0; i < rank->steps.count; i++) {
            char number[TDC_FLOAT_TEXT];
            tdc_text_addc(out, ',');
            tdc_text_add(out, number,
                         tdc_float_repr(rank->values[row * rank->steps.count + i], number));
        }
    }
    tdc_text_adds(out, "\r\n");
}

static void add_json(struct tdc_text *out, const struct rank *rank)
{
    tdc_text_addc(out, '{');
    for (size_t row = 0; row <= rank->names.count; row++) {
        const char *name = row_name(rank, row);
        tdc_text_adds(out, row != 0 ? "," : "");
        tdc_json_put_line(out, 4, 1);
        tdc_json_put_text(out, name, strlen(name));
        tdc_text_adds(out, ": {");
        for (size_t i = 0; i < rank->steps.count; i++) {
            tdc_text_adds(out, i != 0 ? "," : "");
            tdc_json_put_line(out, 4, 2);
            tdc_text_addf(out, "\"%ld\": ", rank->steps.numbers[i]);
            tdc_json_put_float(out, rank->values[row * rank->steps.count + i]);
        }
        tdc_json_put_line(out, 4, 1);
        tdc_text_addc(out, '}');
    }
    tdc_text_adds(out, "\n}\n");
}

static tdc_status save(const char *folder, const char *name, const struct tdc_text *text,
                       struct tdc_error *error)
{
    char *path = tdc_path_join(folder, name);
    tdc_status status = tdc_analysis_replace(folder, path, text, error);
    free(path);
    return status;
}

static tdc_status save_plots(const struct rank *rank, struct tdc_text *text,
                             struct tdc_error *error)
{
    char *folder = tdc_path_join(rank->output, "similarities_picture");
    tdc_status status = folder != NULL ? TDC_OK : no_memory(error);
    for (size_t row = 0; row <= rank->names.count && status == TDC_OK; row++) {
        char name[600];
        const char *shown = row_name(rank, row);
        snprintf(name, sizeof name, "%s_similarities.svg", shown);
        tdc_text_clear(text);
        tdc_similarity_plot(text, shown, rank->steps.numbers,
                            rank->values + row * rank->steps.count, rank->steps.count);
        status = save(folder, name, text, error);
    }
    free(folder);
    return status;
}

static tdc_status save_rank(const struct rank *rank, struct tdc_error *error)
{
    struct tdc_text text;
    tdc_text_init(&text, FILE_LIMIT);
    add_table(&text, rank);
    tdc_status status = save(rank->output, "similarities.csv", &text, error);
    tdc_text_clear(&text);
    add_json(&text, rank);
    if (status == TDC_OK)
        status = save(rank->output, "similarities.json", &text, error);
    if (status == TDC_OK)
        status = save_plots(rank, &text, error);
    tdc_text_free(&text);
    return status;
}

/* ---- what is unlike -------------------------------------------------------------------------- */

static bool is_suspicious(const double *values, size_t step)
{
    return step == 0 ? values[0] < LEAST_AT_FIRST : values[step] < values[step - 1] - LARGEST_DROP;
}

/* Parameters with a suspicious step; the earliest step, of the first parameter, is told. */
static size_t look_at(const struct rank *rank, long number, const struct tdc_options *options)
{
    size_t count = 0, first_row = 0, first_step = SIZE_MAX;
    for (size_t row = 0; row < rank->names.count; row++) {
        const double *values = rank->values + row * rank->steps.count;
        size_t step = 0;
        while (step < rank->steps.count && !is_suspicious(values, step))
            step++;
        if (step == rank->steps.count)
            continue;
        count++;
        if (step < first_step) {
            first_step = step;
            first_row = row;
        }
    }
    if (count != 0)
        tdc_analysis_say(options, TDC_MESSAGE_WARNING,
                         "rank %ld: the first gradient that is unlike is that of %s at step %ld, "
                         "similarity %.6g (%zu of %zu parameters have such a step)",
                         number, row_name(rank, first_row), rank->steps.numbers[first_step],
                         rank->values[first_row * rank->steps.count + first_step], count,
                         rank->names.count);
    return count;
}

static tdc_status do_rank(const char *npu, const char *bench, const char *output, long number,
                          const struct tdc_options *options, size_t *suspicious,
                          struct tdc_error *error)
{
    char name[32];
    snprintf(name, sizeof name, "rank%ld", number);
    struct rank rank = {.npu = tdc_path_join(npu, name),
                        .bench = tdc_path_join(bench, name),
                        .output = tdc_path_join(output, name)};
    tdc_status status = rank.npu != NULL && rank.bench != NULL && rank.output != NULL
                            ? compare_rank(&rank, error)
                            : no_memory(error);
    if (status == TDC_OK)
        status = save_rank(&rank, error);
    if (status == TDC_OK)
        *suspicious += look_at(&rank, number, options);
    free(rank.npu);
    free(rank.bench);
    free(rank.output);
    free(rank.values);
    tdc_common_numbers_free(&rank.steps);
    tdc_parameter_names_free(&rank.names);
    return status;
}

tdc_status tdc_gradients_compare(const char *npu, const char *bench, const char *output,
                                 const struct tdc_options *options, size_t *suspicious,
                                 struct tdc_error *error)
{
    *suspicious = 0;
    struct tdc_common_numbers ranks;
    tdc_status status = tdc_common_numbers_find(npu, bench, "rank", &ranks, error);
    if (status == TDC_OK && ranks.count == 0)
        status = tdc_fail(error, TDC_ERR_NOTHING,
                          "no matched ranks for comparison, please dump data in same "
                          "configuration");
    for (size_t i = 0; i < ranks.count && status == TDC_OK; i++)
        status = tdc_cancel_is_set(options->cancel)
                     ? tdc_fail(error, TDC_ERR_INTERRUPTED, "interrupted")
                     : do_rank(npu, bench, output, ranks.numbers[i], options, suspicious, error);
    tdc_common_numbers_free(&ranks);
    return status;
}
