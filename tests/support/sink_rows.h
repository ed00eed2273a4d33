/* sink_rows.h - opening, filling and closing sinks in cmocka programs. */
#ifndef TDC_TESTS_SINK_ROWS_H
#define TDC_TESTS_SINK_ROWS_H

#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>

#include "io/table/sink.h"

static inline struct tdc_cell text_of(const char *text)
{
    return (struct tdc_cell){.kind = TDC_CELL_TEXT, .text = text, .length = strlen(text)};
}

static inline struct tdc_cell number_of(double number)
{
    return (struct tdc_cell){.kind = TDC_CELL_NUMBER, .number = number};
}

static inline struct tdc_cell truth_of(bool truth)
{
    return (struct tdc_cell){.kind = TDC_CELL_BOOL, .truth = truth};
}

static const char *const three[] = {"NPU Name", "Cosine", "Result, \"final\""};
static const char *const one[] = {"only"};

static inline struct tdc_sink *opened(tdc_format format, const struct tdc_sink_spec *spec)
{
    struct tdc_sink *sink;
    struct tdc_error error;
    if (tdc_sink_open(format, spec, &sink, &error) != TDC_OK)
        fail_msg("%s", error.message);
    return sink;
}

static inline void put(struct tdc_sink *sink, struct tdc_cell a, struct tdc_cell b,
                       struct tdc_cell c, tdc_colour colour)
{
    struct tdc_cell cells[] = {a, b, c};
    assert_int_equal(tdc_sink_row(sink, cells, colour, NULL), TDC_OK);
}

static inline void closed(struct tdc_sink *sink)
{
    struct tdc_error error;
    if (tdc_sink_close(sink, &error) != TDC_OK)
        fail_msg("%s", error.message);
}

/* Writes rows until the file may not grow any more; digits hardly compress. */
static inline tdc_status write_under_limit(const char *path, tdc_format format, rlim_t limit,
                                           size_t rows, struct tdc_error *error)
{
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit before;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    struct tdc_sink_spec spec = {
        .path = path, .columns = three, .column_count = 3, .rows = rows, .sheet = "Sheet1"};
    struct tdc_sink *sink = opened(format, &spec);
    struct rlimit small = {limit, before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    uint64_t random = 88172645463325252u;
    tdc_status row_status = TDC_OK;
    for (size_t i = 0; i < rows && row_status == TDC_OK; i++) {
        struct tdc_cell cells[3];
        for (size_t j = 0; j < 3; j++) {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            cells[j] = number_of((double)random / 3e19);
        }
        row_status = tdc_sink_row(sink, cells, TDC_COLOUR_NONE, error);
    }
    tdc_status status = tdc_sink_close(sink, error);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_true(row_status == TDC_OK || row_status == status);
    return status;
}

#endif
