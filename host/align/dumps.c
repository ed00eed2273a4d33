/* dumps.c - the rows of a side as the records of a dump: what matching and tables know. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/align/align.h"

/* No row compares itself by the files of its records. */
static const char no_file[] = "-1";

static void set_statistic(struct tdc_record *record, int which, double number)
{
    bool known = isfinite(number);
    record->stat_kinds[which] = known ? TDC_STAT_FLOAT : TDC_STAT_TEXT;
    if (known)
        record->stats[which].number = number;
    else
        record->stats[which].text = "None";
}

static struct tdc_record record_of(const struct tdc_alignment *alignment,
                                   const struct tdc_aligned_row *row, int side, uint32_t entry)
{
    const struct tdc_side_record *first = row->first[side];
    const struct tdc_record *dumped = first->dumped;
    struct tdc_record record = {
        .name = row->name,
        .dtype = row->dtypes[side] != NULL ? row->dtypes[side] : first->dtype,
        .shape = row->shapes[side] != NULL ? row->shapes[side] : "N/A",
        .requires_grad = dumped != NULL ? dumped->requires_grad : "N/A",
        .data_name = no_file,
        .digest = "N/A",
        .state = TDC_STATE_DEBUG,
        .first_of_entry = true,
        .entry = entry,
    };
    for (int i = 0; i < TDC_STATISTICS; i++)
        set_statistic(&record, i,
                      alignment->from_statistics && row->settled == 0 ? row->statistics[side][i]
                                                                      : (double)NAN);
    return record;
}

bool tdc_alignment_dumps(struct tdc_alignment *alignment)
{
    for (int side = 0; side < 2; side++) {
        struct tdc_dump *dump = &alignment->dumps[side];
        tdc_arena_init(&dump->arena, (size_t)1 << 20);
        tdc_names_init(&dump->entry_names);
        dump->records = calloc(alignment->count + 1, sizeof *dump->records);
        dump->entries = calloc(alignment->count + 1, sizeof *dump->entries);
        if (dump->records == NULL || dump->entries == NULL)
            return false;
        for (size_t i = 0; i < alignment->count; i++) {
            const struct tdc_aligned_row *row = &alignment->rows[i];
            bool fresh;
            if (row->first[side] == NULL)
                continue;
            uint32_t at = (uint32_t)dump->record_count;
            dump->records[dump->record_count++] = record_of(alignment, row, side, at);
            dump->entries[dump->entry_count++] =
                (struct tdc_dump_entry){.name = row->name, .first = at, .count = 1};
            if (tdc_names_put(&dump->entry_names, row->name, strlen(row->name), &fresh) ==
                TDC_NAME_NONE)
                return false;
        }
    }
    return true;
}
