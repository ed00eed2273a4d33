/*
 * compat_columns.c - what pandas makes of the statistics of a side before it reads them
 * (docs/msprobe.md#statistics-mode).
 *
 * A column of a table is an array: of integers if it holds nothing else, of floats if it holds
 * numbers only, of objects otherwise; and the four columns of a side are joined into one array
 * first. An integer of 16 digits and more shows which it was: as "9007199254740993" or as
 * "9007199254740992.0" the reader makes different numbers of it, and an integer array is not read
 * through text at all. One pass over the rows, before the first is judged.
 */
#include "host/judge/compat/compat.h"

bool tdc_stat_integer(const struct tdc_record *record, int which, __int128 *value)
{
    const __int128 limit = (__int128)1 << 66; /* further digits cannot bring it back in range */
    if (record->stat_kinds[which] == TDC_STAT_INTEGER) {
        *value = (__int128)record->stats[which].number;
        return true;
    }
    if (record->stat_kinds[which] != TDC_STAT_BIG_INTEGER)
        return false;
    const char *at = record->stats[which].text;
    bool negative = *at == '-';
    *value = 0;
    for (at += negative; *at >= '0' && *at <= '9' && *value < limit; at++)
        *value = *value * 10 + (*at - '0');
    if (negative)
        *value = -*value;
    return true;
}

/* What was seen in a column. */
struct seen {
    bool object, floats, negative, beyond_int64;
};

static void see(struct seen *seen, const struct tdc_record *record, int which)
{
    __int128 value;
    if (record == NULL) {
        seen->object = true;
    } else if (record->stat_kinds[which] == TDC_STAT_FLOAT) {
        seen->floats = true;
    } else if (tdc_stat_integer(record, which, &value)) {
        if (value < INT64_MIN || value > UINT64_MAX)
            seen->object = true;
        seen->negative |= value < 0;
        seen->beyond_int64 |= value > INT64_MAX;
    } else {
        seen->object = true;
    }
}

static void settle(struct seen seen[TDC_STATISTICS], struct tdc_stat_column column[TDC_STATISTICS])
{
    bool object = false, floats = false;
    int wide = 0;
    for (int i = 0; i < TDC_STATISTICS; i++) {
        seen[i].object |= seen[i].negative && seen[i].beyond_int64;
        object |= seen[i].object;
        floats |= seen[i].floats;
        wide += seen[i].beyond_int64;
    }
    floats |= wide != 0 && wide != TDC_STATISTICS; /* int64 beside uint64 */
    for (int i = 0; i < TDC_STATISTICS; i++) {
        bool as_floats = object ? !seen[i].object && seen[i].floats : floats;
        column[i].integers_as_floats = as_floats;
        column[i].integers = !seen[i].object && !as_floats;
        column[i].is_unsigned = column[i].integers && seen[i].beyond_int64;
    }
}

void tdc_compat_survey(const struct tdc_rows *rows,
                       struct tdc_stat_column columns[2][TDC_STATISTICS])
{
    struct seen seen[2][TDC_STATISTICS] = {0};
    for (size_t row = 0; row < rows->count; row++) {
        const struct tdc_record *npu = tdc_npu_record(rows->match, &rows->rows[row]);
        const struct tdc_record *bench = tdc_bench_record(rows->match, &rows->rows[row]);
        for (int i = 0; i < TDC_STATISTICS; i++) {
            see(&seen[0][i], npu, i);
            see(&seen[1][i], bench, i);
        }
    }
    settle(seen[0], columns[0]);
    settle(seen[1], columns[1]);
}
