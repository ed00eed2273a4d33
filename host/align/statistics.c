/* statistics.c - Max, Min, Mean and Norm of a joined tensor from those of its parts. */
#include <math.h>

#include "host/align/align.h"

struct totals {
    double max, min, sum, squares, count;
    bool known[TDC_STATISTICS];
};

static bool number_of(const struct tdc_record *record, int which, double *number)
{
    if (record == NULL || (record->stat_kinds[which] != TDC_STAT_FLOAT &&
                           record->stat_kinds[which] != TDC_STAT_INTEGER))
        return false;
    *number = record->stats[which].number;
    return isfinite(*number);
}

static void add_part(struct totals *totals, const struct tdc_side_record *record)
{
    double count = 1, value;
    for (unsigned i = 0; i < record->dimensions; i++)
        count *= (double)record->shape[i];
    if (count == 0)
        return;
    totals->count += count;
    totals->known[TDC_MAX] &= number_of(record->dumped, TDC_MAX, &value);
    if (totals->known[TDC_MAX])
        totals->max = fmax(totals->max, value);
    totals->known[TDC_MIN] &= number_of(record->dumped, TDC_MIN, &value);
    if (totals->known[TDC_MIN])
        totals->min = fmin(totals->min, value);
    totals->known[TDC_MEAN] &= number_of(record->dumped, TDC_MEAN, &value);
    if (totals->known[TDC_MEAN])
        totals->sum += value * count;
    totals->known[TDC_NORM] &= number_of(record->dumped, TDC_NORM, &value);
    if (totals->known[TDC_NORM])
        totals->squares += value * value;
}

bool tdc_row_statistics(const struct tdc_placed *placed, size_t count, bool joined,
                        double statistics[TDC_STATISTICS])
{
    struct totals totals = {
        .max = -(double)INFINITY, .min = (double)INFINITY, .known = {true, true, true, true}};
    for (size_t i = 0; i < count; i++) {
        if (!placed[i].all_elements || !joined)
            return false;
        /* replicas stand behind the parts that are used */
        for (size_t k = 0; k < placed[i].part_count - placed[i].twin_count; k++)
            add_part(&totals, placed[i].parts[k].record);
    }
    bool some = totals.count != 0;
    statistics[TDC_MAX] = some && totals.known[TDC_MAX] ? totals.max : (double)NAN;
    statistics[TDC_MIN] = some && totals.known[TDC_MIN] ? totals.min : (double)NAN;
    statistics[TDC_MEAN] = some && totals.known[TDC_MEAN] ? totals.sum / totals.count : (double)NAN;
    statistics[TDC_NORM] = some && totals.known[TDC_NORM] ? sqrt(totals.squares) : (double)NAN;
    return true;
}
