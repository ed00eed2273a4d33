/* run_third.c - a truth or a second run of the reference beside the two sides, and what is said. */
#include <stdio.h>
#include <string.h>

#include "host/cli/shared/command.h"

static tdc_status take(const struct tdc_run_request *request, struct tdc_run_comparison *comparison,
                       tdc_third kind, const char *path, struct tdc_error *error)
{
    struct tdc_run_third *third = &comparison->third[kind];
    struct tdc_aligned aligned;
    if (tdc_match_aligned(comparison->match, 0, &aligned, sizeof aligned))
        return tdc_table_third(comparison->table, kind, NULL, &request->options, error);
    tdc_status status =
        request->tensors
            ? tdc_tensors_load(path, request->key, &third->dump, error)
            : tdc_task_load_third(comparison->task, path, &request->options, &third->dump, error);
    if (status == TDC_OK)
        status =
            tdc_match_new(comparison->npu, third->dump, &request->options, &third->match, error);
    if (status == TDC_OK)
        status = tdc_table_third(comparison->table, kind, third->match, &request->options, error);
    return status;
}

tdc_status tdc_run_take_third(const struct tdc_run_request *request,
                              struct tdc_run_comparison *comparison, struct tdc_error *error)
{
    tdc_status status = TDC_OK;
    struct tdc_aligned aligned;
    if (request->truth != NULL && request->noise != NULL &&
        tdc_match_aligned(comparison->match, 0, &aligned, sizeof aligned)) {
        snprintf(error->message, sizeof error->message,
                 "tensors that are put together take --truth or --noise, not both");
        return error->status = TDC_ERR_ARGUMENT;
    }
    if (request->truth != NULL)
        status = take(request, comparison, TDC_THIRD_TRUTH, request->truth, error);
    if (status == TDC_OK && request->noise != NULL)
        status = take(request, comparison, TDC_THIRD_NOISE, request->noise, error);
    return status;
}

void tdc_run_third_free(struct tdc_run_comparison *comparison)
{
    for (size_t i = 0; i < 3; i++) {
        tdc_match_free(comparison->third[i].match);
        tdc_dump_free(comparison->third[i].dump);
    }
}

/* ---- the page -------------------------------------------------------------------------------- */

enum {
    SHOWN = 5
};

/* A row that is far off on one side. */
struct extreme {
    double ratio;
    const struct tdc_run_comparison *comparison;
    size_t row;
};

static void note(struct extreme list[SHOWN], double ratio,
                 const struct tdc_run_comparison *comparison, size_t row)
{
    if (!(ratio > list[SHOWN - 1].ratio))
        return;
    size_t at = SHOWN - 1;
    for (; at > 0 && list[at - 1].ratio < ratio; at--)
        list[at] = list[at - 1];
    list[at] = (struct extreme){ratio, comparison, row};
}

static double ratio_of(double x, double y)
{
    return y > 0 ? x / y : x > 0 ? 1e308 : 0;
}

static void print_extremes(const char *title, const struct extreme list[SHOWN])
{
    for (size_t i = 0; i < SHOWN && list[i].comparison != NULL; i++)
        printf("  %s %.3g times: row %zu, %s\n", title, list[i].ratio, tdc_sheet_row(list[i].row),
               tdc_shown(tdc_table_call(list[i].comparison->table, list[i].row)));
}

static void print_truth(const struct tdc_run *run)
{
    uint64_t counts[TDC_NEARER_NEITHER + 1] = {0};
    char line[200];
    struct extreme a[SHOWN] = {{0}}, b[SHOWN] = {{0}};
    for (size_t i = 0; i < run->count; i++) {
        const struct tdc_run_comparison *comparison = &run->comparisons[i];
        size_t rows = comparison->table != NULL ? tdc_table_rows(comparison->table) : 0;
        for (size_t row = 0; row < rows; row++) {
            struct tdc_third_row third;
            if (!tdc_table_third_row(comparison->table, TDC_THIRD_TRUTH, row, &third))
                continue;
            counts[third.nearer]++;
            double a_over_b = ratio_of(third.rmse_a, third.rmse_b);
            double b_over_a = ratio_of(third.rmse_b, third.rmse_a);
            note(a, a_over_b > 1 ? a_over_b : 0, comparison, row);
            note(b, b_over_a > 1 ? b_over_a : 0, comparison, row);
        }
    }
    tdc_nearer_summary(counts, line, sizeof line);
    printf("\n%s\n", line);
    print_extremes("A is further off by", a);
    print_extremes("B is further off by", b);
}

static void print_noise(const struct tdc_run *run)
{
    unsigned long long known = 0, within = 0;
    struct extreme far[SHOWN] = {{0}};
    for (size_t i = 0; i < run->count; i++) {
        const struct tdc_run_comparison *comparison = &run->comparisons[i];
        size_t rows = comparison->table != NULL ? tdc_table_rows(comparison->table) : 0;
        for (size_t row = 0; row < rows; row++) {
            struct tdc_third_row third;
            if (!tdc_table_third_row(comparison->table, TDC_THIRD_NOISE, row, &third))
                continue;
            known++;
            within += tdc_table_class(comparison->table, row) == TDC_ROW_SAME;
            note(far, third.factor > 1 ? third.factor : 0, comparison, row);
        }
    }
    printf("\nnoise of the reference: known of %llu rows; %llu differences are within it\n", known,
           within);
    print_extremes("beyond the noise by", far);
}

/* The rows whose series are worst, and where. */
static void print_series(const struct tdc_run *run)
{
    struct extreme far[SHOWN] = {{0}};
    struct tdc_series_worst worst;
    for (size_t i = 0; i < run->count; i++) {
        const struct tdc_run_comparison *comparison = &run->comparisons[i];
        size_t rows = comparison->table != NULL ? tdc_table_rows(comparison->table) : 0;
        for (size_t row = 0; row < rows; row++)
            if (tdc_table_series_worst(comparison->table, row, &worst, sizeof worst) &&
                worst.rmse > 0)
                note(far, worst.rmse, comparison, row);
    }
    for (size_t i = 0; i < SHOWN && far[i].comparison != NULL; i++) {
        tdc_table_series_worst(far[i].comparison->table, far[i].row, &worst, sizeof worst);
        printf("%s  %s: largest RMSE %.3g at %s=%llu", i == 0 ? "\nalong axes\n" : "",
               tdc_shown(tdc_table_call(far[i].comparison->table, far[i].row)), worst.rmse,
               worst.axis, (unsigned long long)worst.index);
        if (worst.stands_out)
            printf("; above ten times the median (%.3g) from %s=%llu on", worst.median, worst.axis,
                   (unsigned long long)worst.first_outlier);
        printf("\n");
    }
}

static void print_tolerance(const struct tdc_run *run)
{
    const tdc_table *first = NULL;
    for (size_t i = 0; i < run->count && first == NULL; i++)
        first = run->comparisons[i].table;
    size_t count = first != NULL ? tdc_table_tolerances(first) : 0;
    if (count != 0)
        printf("\n");
    for (size_t k = 0; k < count; k++) {
        struct tdc_tolerance_use total, use;
        tdc_table_tolerance(first, k, &total);
        total.rows = total.failed = 0;
        for (size_t i = 0; i < run->count; i++)
            if (run->comparisons[i].table != NULL) {
                tdc_table_tolerance(run->comparisons[i].table, k, &use);
                total.rows += use.rows;
                total.failed += use.failed;
            }
        if (strcmp(total.what, "rule") == 0)
            printf("tolerance rule %zu judged %llu rows, %llu failed: %s\n", k + 1,
                   (unsigned long long)total.rows, (unsigned long long)total.failed,
                   tdc_shown(total.text));
        else
            printf("tolerance %s '%s': %llu rows\n", total.what, tdc_shown(total.text),
                   (unsigned long long)total.rows);
    }
}

void tdc_print_rest(const struct tdc_run *run)
{
    for (size_t i = 0; i < run->count; i++) {
        size_t test = 0, ref = 0;
        if (run->comparisons[i].match != NULL)
            tdc_match_rest(run->comparisons[i].match, &test, &ref);
        if (test != 0)
            printf("%zu records of A are in no rule\n", test);
        if (ref != 0)
            printf("%zu records of B are in no rule\n", ref);
    }
}

void tdc_print_third(const struct tdc_run_request *request, const struct tdc_run *run)
{
    print_series(run);
    print_tolerance(run);
    if (request->truth != NULL)
        print_truth(run);
    if (request->noise != NULL)
        print_noise(run);
}
