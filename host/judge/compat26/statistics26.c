/*
 * statistics26.c - differences and relative errors of statistics as msprobe 26 has them.
 *
 * Equal texts are no difference. Numbers are subtracted; for everything else a table of kinds says
 * which word stands in both cells.
 */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "host/judge/compat/compat.h"
#include "host/judge/compat26/compat26.h"
#include "io/text/pytext.h"

enum kind {
    NUM,
    NOT_A_NUMBER,
    INF,
    NEG_INF,
    DEVICE,
    NA,
    OTHER
};

/* One statistic as its column holds it. */
struct reading {
    enum kind kind;
    double number; /* NUM */
    bool integer;  /* of a column of integers; then: */
    bool is_unsigned;
    uint64_t bits;
    const char *text; /* what Python prints */
    char digits[TDC_FLOAT_TEXT];
};

/* pandas reads decimal numbers with blanks around, and the words for infinity without. */
static bool read_text(const char *text, double *number)
{
    const char *word = text + (*text == '-' || *text == '+');
    if (strcasecmp(word, "inf") == 0 || strcasecmp(word, "infinity") == 0) {
        *number = *text == '-' ? -HUGE_VAL : HUGE_VAL;
        return true;
    }
    size_t length = strlen(text);
    while (length != 0 && isspace((unsigned char)text[length - 1]))
        length--;
    while (length != 0 && isspace((unsigned char)*text)) {
        text++;
        length--;
    }
    bool digits = length != 0 && strcspn(text, "0123456789") < length;
    return digits && memchr(text, '_', length) == NULL && tdc_python_float(text, length, number);
}

static bool names_a_device(const char *text)
{
    for (; *text != '\0'; text++)
        if (strncasecmp(text, "npu", 3) == 0 || strncasecmp(text, "cpu", 3) == 0 ||
            strncasecmp(text, "cuda", 4) == 0)
            return true;
    return false;
}

static void classify_text(struct reading *reading)
{
    const char *text = reading->text;
    if (strcasecmp(text, "nan") == 0)
        reading->kind = NOT_A_NUMBER;
    else if (strcasecmp(text, "inf") == 0)
        reading->kind = INF;
    else if (strcasecmp(text, "-inf") == 0)
        reading->kind = NEG_INF;
    else if (read_text(text, &reading->number))
        reading->kind = NUM;
    else if (names_a_device(text))
        reading->kind = DEVICE;
    else
        reading->kind = strcmp(text, "N/A") == 0 ? NA : OTHER;
}

static void read_float(struct reading *reading, double number)
{
    reading->number = number;
    reading->kind = isinf(number) ? (number > 0 ? INF : NEG_INF) : NUM;
    tdc_float_repr(number, reading->digits);
    reading->text = reading->digits;
}

static void read_integer(struct reading *reading, const struct tdc_record *record, int which,
                         const struct tdc_stat_column *column)
{
    bool big = record->stat_kinds[which] == TDC_STAT_BIG_INTEGER;
    double number = 0;
    if (big)
        tdc_float_parse(record->stats[which].text, strlen(record->stats[which].text), &number);
    else
        number = record->stats[which].number;
    if (column->integers_as_floats) {
        read_float(reading, number);
        return;
    }
    reading->kind = NUM;
    reading->number = number;
    reading->text = big ? record->stats[which].text : reading->digits;
    if (!big)
        snprintf(reading->digits, sizeof reading->digits, "%.0f", number);
    __int128 value;
    if (column->integers && tdc_stat_integer(record, which, &value)) {
        reading->integer = true;
        reading->is_unsigned = column->is_unsigned;
        reading->bits = (uint64_t)value;
    }
}

static void read_stat(struct reading *reading, const struct tdc_record *record, int which,
                      const struct tdc_stat_column *column)
{
    reading->kind = NA;
    reading->text = "N/A";
    reading->integer = false;
    if (record == NULL)
        return;
    switch ((enum tdc_stat_kind)record->stat_kinds[which]) {
    case TDC_STAT_FLOAT:
        read_float(reading, record->stats[which].number);
        break;
    case TDC_STAT_INTEGER:
    case TDC_STAT_BIG_INTEGER:
        read_integer(reading, record, which, column);
        break;
    case TDC_STAT_TEXT:
        reading->text = record->stats[which].text;
        classify_text(reading);
        break;
    case TDC_STAT_FALSE:
    case TDC_STAT_TRUE:
        reading->kind = OTHER;
        reading->text = record->stat_kinds[which] == TDC_STAT_TRUE ? "True" : "False";
        break;
    }
}

/* The word for two statistics that are not both numbers. */
static enum tdc_value_form word_for(enum kind x, enum kind y)
{
    if (x == NA || y == NA || (x == DEVICE && y == DEVICE))
        return TDC_HOLDS_NA;
    if (x >= DEVICE || y >= DEVICE)
        return TDC_HOLDS_DIFF;
    if (x == NOT_A_NUMBER || y == NOT_A_NUMBER)
        return TDC_HOLDS_NAN;
    if (x == y)
        return TDC_HOLDS_ZERO;
    return x == INF || (x == NUM && y == NEG_INF) ? TDC_HOLDS_INF : TDC_HOLDS_NEG_INF;
}

static double as_double(const struct reading *reading)
{
    if (!reading->integer)
        return reading->number;
    return reading->is_unsigned ? (double)reading->bits : (double)(int64_t)reading->bits;
}

static void subtract(const struct reading *x, const struct reading *y, struct tdc_value *difference,
                     struct tdc_value *relative)
{
    double d = as_double(x) - as_double(y), divisor = as_double(y);
    if (x->integer && y->integer && x->is_unsigned == y->is_unsigned) {
        uint64_t bits = x->bits - y->bits; /* columns of integers wrap around */
        *difference =
            (struct tdc_value){.integer = (int64_t)bits,
                               .form = x->is_unsigned ? TDC_HOLDS_UNSIGNED : TDC_HOLDS_INTEGER};
        d = x->is_unsigned ? (double)bits : (double)(int64_t)bits;
    } else if (isnan(d)) { /* pandas takes it for a missing cell */
        *difference = *relative = tdc_value_of(TDC_HOLDS_EMPTY);
        return;
    } else {
        *difference = (struct tdc_value){.number = d, .form = TDC_HOLDS_FLOAT};
    }
    if (divisor == 0)
        *relative = tdc_value_of(TDC_HOLDS_INF);
    else
        *relative =
            (struct tdc_value){.number = fabs(d / divisor * 100), .form = TDC_HOLDS_PERCENT};
}

void tdc_compat26_statistics(const struct tdc_case *row_case, struct tdc_row *row,
                             struct tdc_text *message)
{
    (void)message;
    static const struct tdc_stat_column any = {0};
    const struct tdc_stat_column(*columns)[TDC_STATISTICS] = row_case->stat_columns;
    row->row_class =
        row_case->bench == NULL || row_case->npu == NULL ? TDC_ROW_UNMATCHED : TDC_ROW_SAME;
    for (int i = 0; i < TDC_STATISTICS; i++) {
        struct reading x, y;
        read_stat(&x, row_case->npu, i, columns != NULL ? &columns[0][i] : &any);
        read_stat(&y, row_case->bench, i, columns != NULL ? &columns[1][i] : &any);
        struct tdc_value *difference = &row->values[TDC_DIFF + i];
        struct tdc_value *relative = &row->values[TDC_RELATIVE + i];
        if (strcmp(x.text, y.text) == 0)
            *difference = *relative = tdc_value_of(TDC_HOLDS_ZERO);
        else if (x.kind == NUM && y.kind == NUM)
            subtract(&x, &y, difference, relative);
        else
            *difference = *relative = tdc_value_of(word_for(x.kind, y.kind));
    }
}
