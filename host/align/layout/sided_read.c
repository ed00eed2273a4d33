/* sided_read.c - whole numbers that rules look for in records: lengths, owners, masks, ids. */
#include <math.h>
#include <string.h>

#include "host/align/layout/sided.h"
#include "host/engine/source.h"
#include "io/base/error.h"
#include "io/file/mapping_guard.h"

/* Numbers of one such record: a token id for each token of a batch. */
#define MOST_NUMBERS ((uint64_t)1 << 28)

static bool fits(const struct tdc_patterns *patterns, const char *name)
{
    struct tdc_captured captured;
    for (size_t i = 0; i < patterns->count; i++)
        if (tdc_pattern_fits(patterns->list[i], name, &captured))
            return true;
    return false;
}

size_t tdc_sided_find(const struct tdc_sided *sided, const struct tdc_patterns *patterns)
{
    for (size_t i = 0; i < sided->side->count; i++)
        if (!sided->excluded[i] && fits(patterns, sided->names[i]))
            return i;
    return SIZE_MAX;
}

struct reading {
    const struct tdc_tensor *tensor;
    int64_t *numbers;
    bool whole;
};

static void read_numbers(void *argument)
{
    struct reading *reading = argument;
    const struct tdc_tensor *tensor = reading->tensor;
    tdc_dtype dtype = tdc_source_dtype(tensor);
    for (uint64_t i = 0; i < tensor->count && reading->whole; i++) {
        unsigned char element[16];
        double imaginary;
        reading->whole = tdc_gather_elements(tensor, i, 1, element);
        if (!reading->whole)
            return;
        if (dtype == TDC_I64 || dtype == TDC_U64) {
            memcpy(&reading->numbers[i], element, sizeof *reading->numbers);
            continue;
        }
        double value = tdc_element_value(dtype, element, &imaginary);
        reading->whole = value == floor(value) && fabs(value) < 0x1p62;
        if (reading->whole)
            reading->numbers[i] = (int64_t)value;
    }
}

tdc_status tdc_sided_read(const struct tdc_sided *sided, size_t record, struct tdc_arena *arena,
                          int64_t **numbers, size_t *count, struct tdc_error *error)
{
    const struct tdc_side_record *given = &sided->side->records[record];
    struct tdc_tensor tensor;
    sided->used[record] = true;
    tdc_status status = sided->side->open(sided->side, given, 0, &tensor, error);
    if (status != TDC_OK)
        return status;
    struct reading reading = {&tensor, NULL, tensor.count <= MOST_NUMBERS};
    if (reading.whole)
        reading.numbers = tdc_arena_zeroed(arena, (size_t)tensor.count + 1, sizeof(int64_t));
    if (reading.whole && reading.numbers == NULL)
        status = tdc_fail(error, TDC_ERR_MEMORY, "out of memory for %s", given->name);
    else if (!tdc_guard_begin())
        status = tdc_fail(error, TDC_ERR_SYSTEM, "cannot install a signal handler");
    else {
        if (!tdc_guarded_read(read_numbers, &reading))
            status = tdc_fail(error, TDC_ERR_CHANGED, "%s: changed while being read", given->name);
        tdc_guard_end();
    }
    if (status == TDC_OK && !reading.whole)
        status = tdc_fail(error, TDC_ERR_MISMATCH, "%c: '%.300s' of %s holds no whole numbers",
                          sided->letter, given->name, given->where);
    *numbers = reading.numbers;
    *count = (size_t)tensor.count;
    tdc_tensor_close(&tensor);
    return status;
}

/* Differences of cumulative numbers, in place. */
static size_t differences(int64_t *numbers, size_t count)
{
    for (size_t i = 0; i + 1 < count; i++)
        if (__builtin_sub_overflow(numbers[i + 1], numbers[i], &numbers[i]))
            numbers[i] = -1;
    return count != 0 ? count - 1 : 0;
}

tdc_status tdc_sided_integers(const struct tdc_sided *sided, const struct tdc_lengths *lengths,
                              bool cumulative, struct tdc_arena *arena, const int64_t **numbers,
                              size_t *count, struct tdc_error *error)
{
    int64_t *all = NULL, last_step = -1;
    size_t used = 0;
    bool found = false;
    for (size_t i = 0; i < sided->side->count; i++) {
        const struct tdc_side_record *record = &sided->side->records[i];
        if (sided->excluded[i] || !fits(&lengths->patterns, sided->names[i]))
            continue;
        sided->used[i] = true;
        if (found && record->step == last_step)
            continue;
        int64_t *read;
        size_t more;
        tdc_status status = tdc_sided_read(sided, i, arena, &read, &more, error);
        if (status != TDC_OK)
            return status;
        if (cumulative)
            more = differences(read, more);
        int64_t *grown = tdc_arena_zeroed(arena, used + more + 1, sizeof *grown);
        if (grown == NULL)
            return tdc_fail(error, TDC_ERR_MEMORY, "out of memory for lengths");
        if (used != 0)
            memcpy(grown, all, used * sizeof *grown);
        memcpy(grown + used, read, more * sizeof *grown);
        all = grown;
        used += more;
        found = true;
        last_step = record->step;
    }
    *numbers = all;
    *count = used;
    if (found)
        return TDC_OK;
    return tdc_fail(error, TDC_ERR_MISMATCH, "%c: no record matches '%.500s'", sided->letter,
                    lengths->written);
}

tdc_status tdc_sided_lengths(const struct tdc_sided *sided, const struct tdc_lengths *written,
                             const struct tdc_lengths **lengths, struct tdc_error *error)
{
    *lengths = written;
    for (size_t i = 0; i < sided->rule->length_count && written->kind == TDC_LENGTHS_NAME; i++)
        if (strcmp(sided->rule->lengths[i].name, written->name) == 0) {
            *lengths = &sided->rule->lengths[i];
            break;
        }
    if ((*lengths)->kind == TDC_LENGTHS_NAME || (*lengths)->kind == TDC_LENGTHS_NONE)
        return tdc_rule_fail(error, written->place, "lengths are not known");
    return TDC_OK;
}
