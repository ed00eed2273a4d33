#include "reference/primitives/matrix/settle.h"

#include <math.h>
#include <string.h>

#include "reference/primitives/matrix/decompose.h"

static void overlap(const struct tdc_side *side, int64_t from, int64_t count, double *to)
{
    for (int64_t i = 0; i < count; i++)
        for (int64_t j = 0; j < count; j++)
            for (int64_t r = 0; r < side->rows; r++)
                to[i * count + j] += side->x[r * side->columns + from + i] *
                                     side->recorded[r * side->recorded_columns + from + j];
}

static void turn(tdc_evaluation *e, const struct tdc_side *side, int64_t from, int64_t count,
                 const double *by)
{
    double *line = tdc_take(e, count, sizeof *line);
    for (int64_t r = 0; r < side->rows; r++) {
        double *x = side->x + r * side->columns + from;
        for (int64_t j = 0; j < count; j++) {
            line[j] = 0;
            for (int64_t i = 0; i < count; i++)
                line[j] += x[i] * by[i * count + j];
        }
        memcpy(x, line, (size_t)count * sizeof *line);
    }
}

static bool has_columns(const struct tdc_side *side, int64_t to)
{
    return side->recorded != NULL && to <= side->recorded_columns;
}

void tdc_settle(tdc_evaluation *e, const struct tdc_side *a, const struct tdc_side *b, int64_t from,
                int64_t to)
{
    int64_t count = to - from;
    double *by = tdc_take(e, count * count, sizeof *by);
    memset(by, 0, (size_t)(count * count) * sizeof *by);
    if (has_columns(a, to))
        overlap(a, from, count, by);
    if (b != NULL && has_columns(b, to))
        overlap(b, from, count, by);
    for (int64_t i = 0; i < count * count; i++)
        if (!isfinite(by[i]))
            return;
    if (!has_columns(a, to) && (b == NULL || !has_columns(b, to)))
        return;
    if (count == 1)
        by[0] = by[0] < 0 ? -1 : 1;
    else
        tdc_nearest_orthogonal(e, by, count);
    turn(e, a, from, count, by);
    if (b != NULL)
        turn(e, b, from, count, by);
}

int64_t tdc_end_of_equals(const double *values, int64_t from, int64_t count, double scale)
{
    int64_t to = from + 1;
    while (to < count && fabs(values[to] - values[to - 1]) <= TDC_EQUAL_VALUES * scale)
        to++;
    return to;
}
