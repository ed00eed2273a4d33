#include "host/graph/graph_statistics.h"

#include <math.h>
#include <string.h>

#include "host/graph/files/tensor_statistics.h"
#include "host/graph/files/ge_statistics.h"
#include "io/base/text.h"
#include "io/file/mapping_guard.h"
#include "io/tensor/tensor_file.h"
#include "kernels/dtype.h"

static const char *shape_text(struct tdc_arena *arena, const uint64_t *sizes, size_t count)
{
    struct tdc_text text;
    tdc_text_init(&text, (size_t)1 << 12);
    tdc_text_addc(&text, '[');
    tdc_text_add_sizes(&text, sizes, count, ", ");
    tdc_text_addc(&text, ']');
    const char *kept = text.failed ? NULL : tdc_arena_text(arena, tdc_text_get(&text), text.length);
    tdc_text_free(&text);
    return kept;
}

/* NaN: not told. */
static void put(struct tdc_record *record, enum tdc_statistic which, double value)
{
    if (isnan(value))
        return;
    record->stat_kinds[which] = TDC_STAT_FLOAT;
    record->stats[which].number = value;
}

static void put_nan(struct tdc_record *record, enum tdc_statistic which)
{
    record->stat_kinds[which] = TDC_STAT_TEXT;
    record->stats[which].text = "Nan";
}

/* ---- as GE has written them --------------------------------------------------------------------
 */

/* GE counts what is not finite beside its values; here the values tell it, as in other dumps. */
static void put_written(const struct tdc_ge_statistic *from, struct tdc_record *record)
{
    put(record, TDC_MAX, from->positive != 0 ? (double)INFINITY : from->most);
    put(record, TDC_MIN, from->negative != 0 ? -(double)INFINITY : from->least);
    put(record, TDC_MEAN, from->mean);
    put(record, TDC_NORM, from->norm);
    if (from->positive != 0 || from->negative != 0) {
        if (from->positive != 0 && from->negative != 0)
            put_nan(record, TDC_MEAN);
        else
            put(record, TDC_MEAN, from->positive != 0 ? (double)INFINITY : -(double)INFINITY);
        if (!isnan(from->norm))
            put(record, TDC_NORM, (double)INFINITY);
    }
    for (int i = 0; i < TDC_STATISTICS && from->nan != 0; i++)
        if (record->stat_kinds[i] != TDC_STAT_TEXT || i != TDC_NORM)
            put_nan(record, (enum tdc_statistic)i);
}

static bool take_written(struct tdc_arena *arena, const char *name, struct tdc_record *record)
{
    const struct tdc_ge_statistic *statistic;
    struct tdc_error error = {0};
    uint64_t sizes[TDC_MAX_DIMENSIONS];
    size_t count;
    tdc_status status = tdc_ge_statistic_read(arena, name, &statistic, &error);
    if (status != TDC_OK)
        return status != TDC_ERR_MEMORY;
    put_written(statistic, record);
    record->dtype = tdc_ge_statistic_dtype(statistic);
    record->shape = tdc_ge_statistic_shape(statistic, sizes, TDC_MAX_DIMENSIONS, &count)
                        ? shape_text(arena, sizes, count)
                        : statistic->shape;
    return record->shape != NULL;
}

/* ---- computed -----------------------------------------------------------------------------------
 */

/* Which statistics the other side has; all where that is not known. */
static void told_by(struct tdc_arena *arena, const char *other, bool told[TDC_STATISTICS])
{
    const struct tdc_ge_statistic *statistic;
    struct tdc_error error = {0};
    for (int i = 0; i < TDC_STATISTICS; i++)
        told[i] = true;
    if (other == NULL || !tdc_is_ge_statistic(other) ||
        tdc_ge_statistic_read(arena, other, &statistic, &error) != TDC_OK)
        return;
    told[TDC_MAX] = !isnan(statistic->most) || statistic->positive + statistic->nan != 0;
    told[TDC_MIN] = !isnan(statistic->least) || statistic->negative + statistic->nan != 0;
    told[TDC_MEAN] = !isnan(statistic->mean) || statistic->nan != 0;
    told[TDC_NORM] = !isnan(statistic->norm);
}

static void put_computed(const struct tdc_tensor_statistics *all, uint64_t count,
                         const bool told[TDC_STATISTICS], struct tdc_record *record)
{
    const double values[TDC_STATISTICS] = {[TDC_MAX] = all->most,
                                           [TDC_MIN] = all->least,
                                           [TDC_MEAN] = all->sum / (double)count,
                                           [TDC_NORM] = sqrt(all->squares)};
    for (int i = 0; i < TDC_STATISTICS; i++) {
        if (!told[i])
            continue;
        if (all->nan || isnan(values[i]))
            put_nan(record, (enum tdc_statistic)i);
        else
            put(record, (enum tdc_statistic)i, values[i]);
    }
}

static bool compute(struct tdc_arena *arena, const char *name, const char *other,
                    struct tdc_record *record)
{
    struct tdc_tensor tensor;
    struct tdc_error error;
    struct tdc_tensor_statistics all;
    bool told[TDC_STATISTICS];
    if (tdc_tensor_open(name, TDC_TENSOR_BY_SUFFIX, &tensor, &error) != TDC_OK)
        return error.status != TDC_ERR_MEMORY;
    tdc_dtype dtype = tensor.coding == TDC_CODING_PLAIN ? tensor.dtype : TDC_F64;
    const char *torch = tdc_dtype_entry(dtype)->torch;
    record->dtype = torch != NULL ? torch : tdc_dtype_entry(dtype)->name;
    record->shape = shape_text(arena, tensor.shape, tensor.dimensions);
    if (tensor.count != 0 && tensor.dtype != TDC_TEXT && tdc_guard_begin()) {
        if (tdc_tensor_statistics(&tensor, &all)) {
            told_by(arena, other, told);
            put_computed(&all, tensor.count, told, record);
        }
        tdc_guard_end();
    }
    tdc_tensor_close(&tensor);
    return record->shape != NULL;
}

bool tdc_graph_statistics(struct tdc_arena *arena, const char *name, const char *other,
                          struct tdc_record *record)
{
    return tdc_is_ge_statistic(name) ? take_written(arena, name, record)
                                     : compute(arena, name, other, record);
}
