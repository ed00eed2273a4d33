/* A whole dump.json: its records must be complete, and a table of it against itself must be
 * readable to the last cell. The same bytes as stack.json must be accepted or refused in peace. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "host/dump/dump.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Repeated names multiply: tables of larger dumps would only be slow. */
#define TABLE_RECORDS 200

static void require(bool fact)
{
    if (!fact)
        abort();
}

static void check_record(const struct tdc_dump *dump, const struct tdc_record *record)
{
    require(record->name != NULL && record->dtype != NULL && record->shape != NULL);
    require(record->requires_grad != NULL && record->data_name != NULL && record->digest != NULL);
    require(record->entry < dump->entry_count);
    for (int i = 0; i < TDC_STATISTICS; i++) {
        bool text =
            record->stat_kinds[i] == TDC_STAT_TEXT || record->stat_kinds[i] == TDC_STAT_BIG_INTEGER;
        require(!text || record->stats[i].text != NULL);
        /* NaN is a text */
        require(record->stat_kinds[i] != TDC_STAT_FLOAT ||
                record->stats[i].number == record->stats[i].number);
    }
}

static void check_dump(const struct tdc_dump *dump)
{
    size_t records = 0;
    for (size_t i = 0; i < dump->entry_count; i++) {
        const struct tdc_dump_entry *entry = &dump->entries[i];
        require(entry->first == records && entry->name != NULL);
        bool leading = true; /* only records that msprobe has no row for came before */
        for (size_t k = 0; k < entry->count; k++) {
            const struct tdc_record *record = &dump->records[entry->first + k];
            require(record->entry == i);
            require(record->first_of_entry == (k == 0 || (leading && !record->sound_only)));
            leading &= record->sound_only;
        }
        records += entry->count;
    }
    require(records == dump->record_count);
    for (size_t i = 0; i < records; i++)
        check_record(dump, &dump->records[i]);
}

static void check_cells(tdc_table *table)
{
    struct tdc_cell cells[64];
    require(tdc_table_columns(table) <= 64);
    for (size_t row = 0; row < tdc_table_rows(table); row++) {
        require(tdc_table_row(table, row, cells, NULL) == TDC_OK);
        for (size_t i = 0; i < tdc_table_columns(table); i++)
            require(cells[i].kind != TDC_CELL_TEXT ||
                    memchr(cells[i].text, '\0', cells[i].length) == NULL);
        require(tdc_table_worst(table, row) != NULL);
    }
    require(tdc_advice_text(table) != NULL);
}

static void check_table(const tdc_dump *dump, tdc_rules_id rules, bool fuzzy)
{
    struct tdc_options options;
    struct tdc_error error = {0};
    tdc_match *match = NULL;
    tdc_table *table = NULL;
    tdc_options_init(&options, sizeof options, rules);
    options.flags |= TDC_OPTION_HIGHLIGHT;
    if (fuzzy)
        options.flags |= TDC_OPTION_FUZZY;
    options.threads = 1;
    tdc_status status = tdc_match_new(dump, dump, &options, &match, &error);
    if (status == TDC_OK)
        status = tdc_table_new(match, &options, NULL, &table, &error);
    if (status == TDC_OK)
        status = tdc_compare(&table, 1, &options, &error);
    if (status == TDC_OK)
        check_cells(table);
    else
        require(error.status == status && error.message[0] != '\0');
    tdc_table_free(table);
    tdc_match_free(match);
}

/* A new file each time: what was mapped before must not change. */
static int fresh_file(const uint8_t *data, size_t size, char path[64])
{
    int fd = memfd_create("dump", MFD_CLOEXEC);
    require(fd >= 0);
    require(size == 0 || write(fd, data, size) == (ssize_t)size);
    snprintf(path, 64, "/proc/self/fd/%d", fd);
    return fd;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    int fd = fresh_file(data, size, path);
    struct tdc_error error = {0};
    tdc_dump *dump = NULL;
    tdc_status status = tdc_dump_load(path, &dump, &error);
    require((status == TDC_OK) == (dump != NULL));
    if (dump != NULL) {
        check_dump(dump);
        if (dump->record_count <= TABLE_RECORDS) {
            check_table(dump, TDC_RULES_COMPAT, false);
            check_table(dump, TDC_RULES_COMPAT26, false);
            check_table(dump, TDC_RULES_SOUND, false);
            check_table(dump, TDC_RULES_SOUND, true);
        }
    } else {
        require(error.status == status && strstr(error.message, path) != NULL);
    }
    tdc_dump_free(dump);
    struct tdc_stacks *stacks = NULL;
    if (tdc_stacks_load(path, &stacks, &error) == TDC_OK)
        for (uint32_t i = 0; i < stacks->names.count; i++)
            require(tdc_stacks_find(stacks, stacks->names.keys[i].text) != NULL);
    tdc_stacks_free(stacks);
    close(fd);
    return 0;
}
