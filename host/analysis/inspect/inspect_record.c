/* inspect_record.c - what is wrong, or odd, with one tensor of a dump. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "host/analysis/inspect/inspection.h"
#include "kernels/dtype.h"

/*
 * The json's extremes are of the tensor before it was saved: equal, but for how their text was
 * rounded. A file that belongs to another run is off by far more.
 */
#define STATISTICS_SLACK 0.01
/* Beyond it a float64 is no longer the integer that the json has. */
#define EXACT_INTEGER 9007199254740992.0

/* Collectors save what numpy has no type for in a wider one. */
static bool widened(tdc_dtype said, tdc_dtype stored)
{
    bool narrow = said == TDC_BF16 || said == TDC_F8_E4M3 || said == TDC_F8_E5M2;
    return narrow && (stored == TDC_F32 || stored == TDC_F16 || stored == TDC_BF16);
}

static void check_dtype(struct tdc_inspection *inspection, size_t index,
                        const struct tdc_inspected *file)
{
    const struct tdc_record *record = &inspection->dump->records[index];
    tdc_dtype said = tdc_dtype_at_end(record->dtype);
    if (said == TDC_DTYPE_NONE || file->coded || said == file->dtype || widened(said, file->dtype))
        return;
    tdc_inspection_note(inspection, TDC_FINDING_DTYPE, record->name,
                        "%s in the json, %s in the file", record->dtype,
                        tdc_dtype_name(file->dtype));
}

static void check_shape(struct tdc_inspection *inspection, size_t index,
                        const struct tdc_inspected *file)
{
    const struct tdc_record *record = &inspection->dump->records[index];
    if (record->shape[0] != '[' || strcmp(record->shape, file->shape) == 0)
        return;
    tdc_inspection_note(inspection, TDC_FINDING_SHAPE, record->name,
                        "%s in the json, %s in the file", record->shape, file->shape);
}

static bool statistic(const struct tdc_record *record, enum tdc_statistic which, double *number)
{
    switch (record->stat_kinds[which]) {
    case TDC_STAT_FLOAT:
    case TDC_STAT_INTEGER:
        *number = record->stats[which].number;
        return true;
    case TDC_STAT_FALSE:
    case TDC_STAT_TRUE:
        *number = record->stat_kinds[which] == TDC_STAT_TRUE;
        return true;
    default:
        return false;
    }
}

static bool said_nan(const struct tdc_record *record, enum tdc_statistic which)
{
    return record->stat_kinds[which] == TDC_STAT_TEXT &&
           strcasecmp(record->stats[which].text, "nan") == 0;
}

/* Only where both know the same thing: all elements finite, and numbers that a double holds. */
static void check_statistics(struct tdc_inspection *inspection, size_t index,
                             const struct tdc_inspected *file)
{
    const struct tdc_record *record = &inspection->dump->records[index];
    double max, min;
    if (!file->has_values || file->nan != 0 || file->inf != 0 || file->coded ||
        tdc_dtype_is_complex(file->dtype) || !statistic(record, TDC_MAX, &max) ||
        !statistic(record, TDC_MIN, &min))
        return;
    double scale = fmax(fabs(file->max), fabs(file->min));
    if (scale >= EXACT_INTEGER && !tdc_dtype_is_floating(file->dtype))
        return;
    if (fabs(max - file->max) <= STATISTICS_SLACK * scale &&
        fabs(min - file->min) <= STATISTICS_SLACK * scale)
        return;
    tdc_inspection_note(inspection, TDC_FINDING_STATISTICS, record->name,
                        "%.6g to %.6g in the json, %.6g to %.6g in the file", min, max, file->min,
                        file->max);
}

static void note_values(struct tdc_inspection *inspection, const char *name, uint64_t count,
                        double min, double max)
{
    if (count < 2 || min != max)
        return;
    if (max == 0)
        tdc_inspection_note(inspection, TDC_FINDING_ZERO, name, "%llu elements",
                            (unsigned long long)count);
    else
        tdc_inspection_note(inspection, TDC_FINDING_CONSTANT, name, "%llu elements of %.6g",
                            (unsigned long long)count, max);
}

static void check_values(struct tdc_inspection *inspection, const char *name,
                         const struct tdc_inspected *file)
{
    if (file->nan != 0)
        tdc_inspection_note(inspection, TDC_FINDING_NAN, name, "%llu of %llu elements",
                            (unsigned long long)file->nan, (unsigned long long)file->count);
    if (file->inf != 0)
        tdc_inspection_note(inspection, TDC_FINDING_INF, name, "%llu of %llu elements",
                            (unsigned long long)file->inf, (unsigned long long)file->count);
    /* the extremes of complex numbers are those of their real parts */
    if (file->nan == 0 && file->inf == 0 && file->has_values && !tdc_dtype_is_complex(file->dtype))
        note_values(inspection, name, file->count, file->min, file->max);
}

/* A dump of statistics knows the extremes alone. */
static void check_recorded_values(struct tdc_inspection *inspection, size_t index)
{
    const struct tdc_record *record = &inspection->dump->records[index];
    double max, min;
    if (said_nan(record, TDC_MAX) || said_nan(record, TDC_MIN)) {
        tdc_inspection_note(inspection, TDC_FINDING_NAN, record->name, "by its statistics");
        return;
    }
    if (!statistic(record, TDC_MAX, &max) || !statistic(record, TDC_MIN, &min))
        return;
    if (isinf(max) || isinf(min))
        tdc_inspection_note(inspection, TDC_FINDING_INF, record->name, "by its statistics");
    else
        note_values(inspection, record->name, tdc_record_elements(record), min, max);
}

static bool of_tensors(const struct tdc_dump *dump)
{
    return dump->task != NULL && strcmp(dump->task, "tensor") == 0;
}

void tdc_inspect_record(struct tdc_inspection *inspection, size_t index,
                        const struct tdc_inspected *file)
{
    const struct tdc_record *record = &inspection->dump->records[index];
    if (record->scalar)
        return;
    if (file == NULL) {
        if (of_tensors(inspection->dump) && tdc_record_elements(record) != 0)
            tdc_inspection_note(inspection, TDC_FINDING_NO_FILE, record->name, "%s %s",
                                record->dtype, record->shape);
        check_recorded_values(inspection, index);
        return;
    }
    if (file->status != TDC_OK) {
        tdc_inspection_note(inspection,
                            file->status == TDC_ERR_NOT_FOUND ? TDC_FINDING_FILE_MISSING
                                                              : TDC_FINDING_FILE_UNREADABLE,
                            record->name, "%s", file->reason != NULL ? file->reason : "");
        check_recorded_values(inspection, index);
        return;
    }
    check_dtype(inspection, index, file);
    if (file->shape != NULL)
        check_shape(inspection, index, file);
    if (file->numbers) {
        check_statistics(inspection, index, file);
        check_values(inspection, record->name, file);
    }
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* Parameters' gradients, saved tensors and the like are no calls: they have no direction. */
static bool is_call(const char *name)
{
    return strstr(name, ".forward") != NULL || strstr(name, ".backward") != NULL;
}

void tdc_inspect_calls(struct tdc_inspection *inspection)
{
    const struct tdc_dump *dump = inspection->dump;
    struct tdc_inspection_counts *counts = &inspection->counts;
    if (dump->record_count == 0)
        tdc_inspection_note(inspection, TDC_FINDING_NO_RECORDS, dump->path, "%s",
                            dump->data_missing || dump->data_wrong_type ? "there is no \"data\""
                                                                        : "\"data\" is empty");
    if (dump->repeated != 0)
        tdc_inspection_note(inspection, TDC_FINDING_REPEATED, dump->first_repeated, "%zu in all",
                            dump->repeated);
    for (size_t i = 0; i < dump->entry_count; i++) {
        const struct tdc_dump_entry *entry = &dump->entries[i];
        if (dump->kind != TDC_DUMP_JSON || !is_call(entry->name))
            continue;
        counts->calls++;
        counts->backward += strstr(entry->name, ".backward") != NULL;
        bool output = false;
        for (size_t k = entry->first; k < entry->first + entry->count; k++)
            output |= dump->records[k].state == TDC_STATE_OUTPUT;
        if (!output)
            tdc_inspection_note(inspection, TDC_FINDING_NO_OUTPUT, entry->name, "%zu records",
                                entry->count);
    }
    counts->forward = counts->calls - counts->backward;
}
