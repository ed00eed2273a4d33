/* compat_statistics.c - statistics and md5 mode as msprobe judges them
 * (docs/msprobe.md#statistics-mode, docs/msprobe.md#md5-mode, docs/msprobe.md#messages). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "host/judge/compat/compat.h"
#include "host/judge/rules.h"
#include "io/text/pytext.h"

/* One statistic of one side: as pandas reads its text, and exactly. */
struct reading {
    bool numeric;
    double read, exact;
    bool integer; /* of an array of integers; then: */
    bool is_unsigned;
    uint64_t bits;
};

static struct reading read_text(const char *text)
{
    struct reading reading = {0};
    reading.numeric = tdc_compat_read(text, strlen(text), &reading.read);
    if (reading.numeric && !tdc_python_float(text, strlen(text), &reading.exact))
        reading.exact = reading.read;
    return reading;
}

static struct reading read_number(double number)
{
    char text[TDC_FLOAT_TEXT];
    size_t length = tdc_float_repr(number, text);
    struct reading reading = {.exact = number};
    reading.numeric = tdc_compat_read(text, length, &reading.read);
    return reading;
}

static struct reading read_integer(const struct tdc_record *record, int which,
                                   const struct tdc_stat_column *column)
{
    char digits[32];
    const char *text = record->stats[which].text;
    if (record->stat_kinds[which] == TDC_STAT_INTEGER) {
        snprintf(digits, sizeof digits, "%.0f", record->stats[which].number);
        text = digits;
    }
    struct reading reading = read_text(text);
    if (column->integers_as_floats)
        return read_number(reading.exact);
    __int128 value;
    if (column->integers && tdc_stat_integer(record, which, &value)) {
        reading.integer = true;
        reading.is_unsigned = column->is_unsigned;
        reading.bits = (uint64_t)value;
        reading.read = reading.exact = (double)value;
    }
    return reading;
}

static struct reading read_stat(const struct tdc_record *record, int which,
                                const struct tdc_stat_column *column)
{
    switch ((enum tdc_stat_kind)record->stat_kinds[which]) {
    case TDC_STAT_FLOAT:
        return read_number(record->stats[which].number);
    case TDC_STAT_INTEGER:
    case TDC_STAT_BIG_INTEGER:
        return read_integer(record, which, column);
    case TDC_STAT_TEXT:
        return read_text(record->stats[which].text);
    case TDC_STAT_FALSE:
    case TDC_STAT_TRUE:
        break;
    }
    return (struct reading){0};
}

/*
 * NPU minus bench, and its magnitude as it is read back. Arrays of the same integers wrap around;
 * the least int64 has no magnitude and stays negative.
 */
static double subtract(const struct reading *x, const struct reading *y, double *magnitude)
{
    if (x->integer && y->integer && x->is_unsigned == y->is_unsigned) {
        uint64_t bits = x->bits - y->bits;
        double d = x->is_unsigned ? (double)bits : (double)(int64_t)bits;
        *magnitude = (int64_t)bits == INT64_MIN && !x->is_unsigned ? d : fabs(d);
        return d;
    }
    double d = x->read - y->read;
    *magnitude = fabs(read_number(d).read);
    return d;
}

/* Fills difference and relative error; true when they make the row suspicious. */
static bool compare_stat(const struct tdc_case *row_case, int which, struct tdc_row *row)
{
    struct tdc_value *difference = &row->values[TDC_DIFF + which];
    struct tdc_value *relative = &row->values[TDC_RELATIVE + which];
    *difference = *relative = tdc_value_of(TDC_HOLDS_NA);
    if (row_case->bench == NULL)
        return false;
    static const struct tdc_stat_column any = {0};
    const struct tdc_stat_column(*columns)[TDC_STATISTICS] = row_case->stat_columns;
    struct reading x = read_stat(row_case->npu, which, columns != NULL ? &columns[0][which] : &any);
    struct reading y =
        read_stat(row_case->bench, which, columns != NULL ? &columns[1][which] : &any);
    if (!x.numeric || !y.numeric)
        return false;
    double magnitude, d = subtract(&x, &y, &magnitude);
    if (isnan(d)) {
        *difference = *relative = tdc_value_of(TDC_HOLDS_NAN);
        return false;
    }
    *difference = tdc_value_number(d);
    if (y.read != 0)
        *relative =
            (struct tdc_value){.number = fabs(d / y.exact * 100), .form = TDC_HOLDS_PERCENT};
    double larger = x.read > y.read ? x.read : y.read;
    return magnitude / (fabs(larger) + 1e-10) > 0.5;
}

void tdc_compat_statistics(const struct tdc_case *row_case, struct tdc_row *row,
                           struct tdc_text *message)
{
    bool suspicious = false;
    for (int i = 0; i < TDC_STATISTICS; i++)
        suspicious |= compare_stat(row_case, i, row);
    if (row_case->bench == NULL) {
        row->verdict = TDC_VERDICT_NA;
        row->row_class = TDC_ROW_UNMATCHED;
        tdc_text_adds(message, "No bench data matched.");
    } else {
        row->verdict = suspicious ? TDC_VERDICT_WARNING : TDC_VERDICT_EMPTY;
        row->row_class = suspicious ? TDC_ROW_DIFFERENT : TDC_ROW_SAME;
        if (suspicious)
            tdc_text_adds(message, "Need double check api accuracy. ");
    }
    if (strcmp(tdc_requires_grad(row_case->npu), tdc_requires_grad(row_case->bench)) != 0)
        tdc_text_adds(message, "Requires_grad inconsistent. ");
}

void tdc_compat_digest(const struct tdc_case *row_case, struct tdc_row *row,
                       struct tdc_text *message)
{
    (void)message; /* md5 tables have no such column */
    const char *bench = row_case->bench != NULL ? row_case->bench->digest : "N/A";
    row->row_class = TDC_ROW_UNMATCHED;
    /* equality comes first: an unmatched null item passes */
    if (strcmp(row_case->npu->digest, bench) == 0)
        row->verdict = TDC_VERDICT_PASS;
    else
        row->verdict = row_case->bench != NULL ? TDC_VERDICT_DIFFERENT : TDC_VERDICT_NA;
    if (row_case->bench != NULL)
        row->row_class = row->verdict == TDC_VERDICT_PASS ? TDC_ROW_SAME : TDC_ROW_DIFFERENT;
}
