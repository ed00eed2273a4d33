/* origins.c - the rule for origins; docs/verdicts.md has the experiments behind its numbers. */
#include "host/origin/origins.h"

#include <math.h>
#include <stdlib.h>

#include "host/judge/record_numbers.h"
#include "host/origin/explain.h"

/* A run with more is not explained by listing them. */
#define MOST_ORIGINS ((size_t)1 << 16)

/* The largest distances of some rows. */
struct reach {
    double r, s;
    double absolute; /* largest difference of an element */
    bool unknown;    /* a tensor that could not be compared */
};

struct tdc_origins {
    struct reach *inputs, *all; /* by call: of its inputs and parameters, of all its rows */
    struct tdc_origin *found;
    size_t count, capacity;
    uint8_t outputs_level; /* the worst of all outputs so far */
    uint8_t entry_level;   /* the worst that was told as an entry */
    bool random_told;
    const struct tdc_calls *calls;
    const struct tdc_rows *rows; /* of the calls */
    const struct tdc_row_waiter *waiter;
};

struct tdc_origins *tdc_origins_new(const struct tdc_calls *calls,
                                    const struct tdc_row_waiter *waiter)
{
    struct tdc_origins *origins = calloc(1, sizeof *origins);
    if (origins == NULL)
        return NULL;
    origins->calls = calls;
    origins->rows = &calls->rows;
    origins->waiter = waiter;
    origins->inputs = calloc(calls->count + 1, sizeof *origins->inputs);
    origins->all = calloc(calls->count + 1, sizeof *origins->all);
    if (origins->inputs == NULL || origins->all == NULL) {
        tdc_origins_free(origins);
        return NULL;
    }
    return origins;
}

void tdc_origins_free(struct tdc_origins *origins)
{
    if (origins == NULL)
        return;
    free(origins->inputs);
    free(origins->all);
    free(origins->found);
    free(origins);
}

/* ---- reach ----------------------------------------------------------------------------------- */

static const struct tdc_record *any_record(const struct tdc_origins *origins,
                                           const struct tdc_row *row)
{
    const struct tdc_record *npu = tdc_npu_record(origins->rows->match, row);
    return npu != NULL ? npu : tdc_bench_record(origins->rows->match, row);
}

static void join(struct reach *reach, const struct reach *other)
{
    reach->r = fmax(reach->r, other->r);
    reach->s = fmax(reach->s, other->s);
    reach->absolute = fmax(reach->absolute, other->absolute);
    reach->unknown |= other->unknown;
}

/* s is relative to the largest element of the bench. */
static double absolute_difference(const struct tdc_origins *origins, const struct tdc_row *row)
{
    const struct tdc_record *bench = tdc_bench_record(origins->rows->match, row);
    double high, low;
    if (bench == NULL || row->s == 0 || !tdc_stat_number(bench, TDC_MAX, &high) ||
        !tdc_stat_number(bench, TDC_MIN, &low))
        return 0;
    double largest = row->s * fmax(fabs(high), fabs(low));
    return isfinite(largest) ? largest : 0;
}

static void join_row(struct reach *reach, const struct tdc_origins *origins,
                     const struct tdc_row *row)
{
    const struct tdc_record *record = any_record(origins, row);
    if (record->scalar)
        return;
    /* extremes of integers do not tell whether they are the same: not once something has moved */
    if (origins->rows->mode == TDC_MODE_STATISTICS && origins->outputs_level > TDC_ROW_IDENTICAL &&
        tdc_precision_of(record->dtype) == TDC_PRECISION_EXACT)
        reach->unknown = true;
    switch ((tdc_row_class)row->row_class) {
    case TDC_ROW_UNMATCHED:
    case TDC_ROW_ERROR:
        reach->unknown = true;
        break;
    case TDC_ROW_SHOWN:
        /* memory that nobody has written stays where it is not overwritten */
        if (!origins->calls->calls[row->call].keeps_rest)
            break;
        /* fallthrough */
    default:
        join(reach, &(struct reach){
                        .r = row->r, .s = row->s, .absolute = absolute_difference(origins, row)});
        break;
    }
}

static void measure_call(const struct tdc_origins *origins, const struct tdc_call *call,
                         struct reach *inputs, struct reach *all)
{
    for (uint32_t i = call->first; i < call->end; i++) {
        const struct tdc_row *row = &origins->rows->rows[i];
        join_row(all, origins, row);
        if (!tdc_state_is_output(any_record(origins, row)->state))
            join_row(inputs, origins, row);
    }
}

/* Everything that went into a call. */
static tdc_status reach_of(struct tdc_origins *origins, size_t index, struct reach *reach)
{
    const struct tdc_call *call = &origins->calls->calls[index];
    *reach = origins->inputs[index];
    if (call->forward != TDC_NO_CALL && call->forward < index)
        join(reach, &origins->all[call->forward]);
    if (call->earlier != TDC_NO_CALL)
        join(reach, &origins->all[call->earlier]);
    if (call->backward == TDC_NO_CALL) {
        /* nothing tells what went into gradients whose module has no backward record */
        reach->unknown |=
            call->direction == TDC_CALL_GRADIENTS && origins->outputs_level > TDC_ROW_IDENTICAL;
        return TDC_OK;
    }
    const struct tdc_call *backward = &origins->calls->calls[call->backward];
    for (uint32_t i = backward->first; i < backward->end; i++)
        if (!origins->waiter->await(origins->waiter->context, i))
            return TDC_ERR_INTERRUPTED;
    struct reach ignored = {0};
    measure_call(origins, backward, reach, &ignored);
    return TDC_OK;
}

/* ---- the rule -------------------------------------------------------------------------------- */

struct allowance {
    double floor, growth;
};

/* Statistics know the distance of the inputs only from below: more is explained by it. */
#define STATISTICS_GROWTH 4

static struct allowance allowance_of(const struct tdc_origins *origins, const struct tdc_call *call,
                                     enum tdc_precision precision, bool exact_inputs)
{
    bool half = tdc_precision_half(precision);
    bool gradient = call->direction != TDC_CALL_FORWARD;
    double u = tdc_unit_roundoff(precision);
    struct allowance allowance;
    if (half) {
        allowance.floor = gradient ? 8 * u : exact_inputs ? u : 2 * u;
        allowance.growth = gradient ? 16 : 8;
    } else {
        allowance.floor = gradient ? 256 * u : 64 * u;
        allowance.growth = gradient ? 64 : 32;
    }
    if (call->kink)
        allowance.growth *= 8;
    if (origins->rows->mode != TDC_MODE_TENSOR)
        allowance.growth *= STATISTICS_GROWTH;
    return allowance;
}

/* How many times an output is beyond what its inputs explain; at most 1: it is explained. */
static double excess_of(const struct tdc_origins *origins, const struct tdc_call *call,
                        const struct tdc_row *row, const struct reach *in)
{
    const struct tdc_record *npu = tdc_npu_record(origins->rows->match, row),
                            *bench = tdc_bench_record(origins->rows->match, row);
    if (npu == NULL || bench == NULL || npu->scalar || row->excused || in->unknown ||
        row->row_class < TDC_ROW_ROUNDING || row->row_class > TDC_ROW_DIFFERENT)
        return 0;
    bool exact_inputs = in->r == 0 && in->s == 0;
    struct tdc_scene scene = tdc_calls_scene(origins->calls, row);
    if (scene.precision == TDC_PRECISION_EXACT) /* a changed choice follows from changed inputs */
        return exact_inputs ? HUGE_VAL : 0;
    bool same_type = tdc_precision_of(npu->dtype) == tdc_precision_of(bench->dtype);
    struct allowance allowance =
        allowance_of(origins, call, scene.precision, exact_inputs && same_type);
    double r_in = origins->rows->mode == TDC_MODE_TENSOR ? in->r : fmax(in->r, in->s);
    double s_in = fmax(in->r, in->s);
    if (call->exponential) {
        /* relative distances of scores say nothing where masked ones are filled with a constant */
        r_in = fmax(r_in, in->absolute);
        s_in = fmax(s_in, in->absolute);
    }
    double r_limit = fmax(allowance.floor, allowance.growth * r_in);
    double s_limit = fmax(4 * allowance.floor, allowance.growth * s_in);
    double r_excess = isinf(r_limit) ? 0 : row->r / r_limit;
    /* an element on the other side of a kink has a wholly different gradient, and what cancels in a
     * gradient is not seen in statistics of what went in */
    bool flips =
        (call->kink || origins->rows->mode != TDC_MODE_TENSOR) && scene.gradient && !exact_inputs;
    double s_excess = isinf(s_limit) || flips ? 0 : row->s / s_limit;
    return fmax(r_excess, s_excess);
}

static tdc_status add(struct tdc_origins *origins, const struct tdc_call *call, size_t row,
                      tdc_origin_kind kind, const struct reach *in)
{
    if (origins->rows->toleranced && origins->rows->rows[row].row_class != TDC_ROW_DIFFERENT)
        return TDC_OK;
    origins->rows->rows[row].origin = (uint8_t)kind;
    if (origins->count == MOST_ORIGINS)
        return TDC_OK;
    if (origins->count == origins->capacity) {
        size_t capacity = origins->capacity == 0 ? 16 : 2 * origins->capacity;
        struct tdc_origin *found = realloc(origins->found, capacity * sizeof *found);
        if (found == NULL)
            return TDC_ERR_MEMORY;
        origins->found = found;
        origins->capacity = capacity;
    }
    origins->found[origins->count++] = (struct tdc_origin){
        .kind = kind,
        .row = row,
        .backward = call->direction == TDC_CALL_BACKWARD || call->direction == TDC_CALL_GRADIENTS,
        .consequence =
            origins->rows->mode != TDC_MODE_TENSOR && origins->outputs_level == TDC_ROW_DIFFERENT,
        .distance = origins->rows->rows[row].r,
        .worst = origins->rows->rows[row].s,
        .input_distance = in->r,
        .input_worst = in->s,
    };
    return TDC_OK;
}

/* ---- kinds ----------------------------------------------------------------------------------- */

/* An argument that is not a tensor and differs; SIZE_MAX: none. */
static size_t find_argument(const struct tdc_origins *origins, const struct tdc_call *call)
{
    for (size_t i = call->first; i < call->end; i++) {
        const struct tdc_record *record = any_record(origins, &origins->rows->rows[i]);
        if (record->scalar && !tdc_state_is_output(record->state) &&
            origins->rows->rows[i].row_class == TDC_ROW_DIFFERENT)
            return i;
    }
    return SIZE_MAX;
}

static bool is_level(uint8_t row_class)
{
    return row_class >= TDC_ROW_IDENTICAL && row_class <= TDC_ROW_DIFFERENT;
}

/* Noise in a weight is not the same bits, which is remarked, but no place where something begins.
 */
static bool is_noise(const struct tdc_origins *origins, const struct tdc_row *row)
{
    struct tdc_scene scene = tdc_calls_scene(origins->calls, row);
    struct tdc_level_limits limits = tdc_level_limits(scene.precision, scene.gradient);
    double limit = fmax(2 * limits.rounding, limits.close / 20);
    return row->row_class == TDC_ROW_CLOSE && row->r <= limit && row->s <= 4 * limit;
}

/* The worst input or parameter, if it is worse than every output so far. */
static size_t find_entry(const struct tdc_origins *origins, const struct tdc_call *call)
{
    size_t worst = SIZE_MAX;
    uint8_t least = origins->outputs_level > origins->entry_level ? origins->outputs_level
                                                                  : origins->entry_level;
    if (least < TDC_ROW_ROUNDING)
        least = TDC_ROW_ROUNDING;
    for (size_t i = call->first; i < call->end; i++) {
        const struct tdc_row *row = &origins->rows->rows[i];
        const struct tdc_record *record = any_record(origins, row);
        if (record->scalar || tdc_state_is_output(record->state) || !is_level(row->row_class) ||
            row->row_class <= least || is_noise(origins, row))
            continue;
        if (worst == SIZE_MAX || row->row_class > origins->rows->rows[worst].row_class ||
            (row->row_class == origins->rows->rows[worst].row_class &&
             row->r > origins->rows->rows[worst].r))
            worst = i;
    }
    return worst;
}

static size_t find_output(const struct tdc_origins *origins, const struct tdc_call *call,
                          const struct reach *in)
{
    size_t worst = SIZE_MAX;
    double most = 1;
    for (size_t i = call->first; i < call->end; i++) {
        if (!tdc_state_is_output(any_record(origins, &origins->rows->rows[i])->state))
            continue;
        double excess = excess_of(origins, call, &origins->rows->rows[i], in);
        if (excess > most) {
            most = excess;
            worst = i;
        }
    }
    return worst;
}

/* The record of a module repeats what the operator inside it has shown. */
static bool repeated(const struct tdc_origins *origins, const struct tdc_call *call, size_t row)
{
    if (!call->module)
        return false;
    size_t first = origins->count > 4 ? origins->count - 4 : 0;
    for (size_t i = first; i < origins->count; i++)
        if (origins->found[i].distance == origins->rows->rows[row].r &&
            origins->found[i].worst == origins->rows->rows[row].s)
            return true;
    return false;
}

static tdc_status find_in_call(struct tdc_origins *origins, size_t index)
{
    const struct tdc_call *call = &origins->calls->calls[index];
    struct reach in;
    tdc_status status = reach_of(origins, index, &in);
    if (status != TDC_OK)
        return status;
    size_t row = find_argument(origins, call);
    if (row != SIZE_MAX && !origins->inputs[index].unknown)
        return add(origins, call, row, TDC_ORIGIN_ARGUMENT, &in);
    row = find_entry(origins, call);
    if (row != SIZE_MAX) {
        origins->entry_level = origins->rows->rows[row].row_class;
        return add(origins, call, row, TDC_ORIGIN_ENTRY, &in);
    }
    if (call->container || call->direction == TDC_CALL_OTHER)
        return TDC_OK;
    row = find_output(origins, call, &in);
    if (row == SIZE_MAX || repeated(origins, call, row))
        return TDC_OK;
    if (!call->random)
        return add(origins, call, row, TDC_ORIGIN_OPERATOR, &in);
    if (origins->random_told)
        return TDC_OK;
    origins->random_told = true;
    return add(origins, call, row, TDC_ORIGIN_RANDOM, &in);
}

tdc_status tdc_origins_take(struct tdc_origins *origins, size_t start, size_t end)
{
    size_t index = origins->rows->rows[start].call;
    const struct tdc_call *call = &origins->calls->calls[index];
    measure_call(origins, call, &origins->inputs[index], &origins->all[index]);
    tdc_status status = find_in_call(origins, index);
    if (status != TDC_OK)
        return status;
    for (size_t i = start; i < end; i++) {
        const struct tdc_row *row = &origins->rows->rows[i];
        uint8_t state = any_record(origins, row)->state;
        if ((tdc_state_is_output(state) || state == TDC_STATE_DEBUG) && is_level(row->row_class) &&
            row->row_class > origins->outputs_level)
            origins->outputs_level = row->row_class;
    }
    return TDC_OK;
}

tdc_status tdc_origins_finish(struct tdc_origins *origins)
{
    return tdc_origins_explain(origins->calls, origins->found, origins->count);
}

/* ---- reading --------------------------------------------------------------------------------- */

size_t tdc_origins_count(const struct tdc_origins *origins)
{
    return origins != NULL ? origins->count : 0;
}

const struct tdc_origin *tdc_origins_get(const struct tdc_origins *origins, size_t index)
{
    return &origins->found[index];
}

const char *tdc_origin_text(tdc_origin_kind kind)
{
    static const char *const texts[] = {
        [TDC_ORIGIN_NONE] = "",         [TDC_ORIGIN_OPERATOR] = "operator",
        [TDC_ORIGIN_ENTRY] = "entry",   [TDC_ORIGIN_ARGUMENT] = "argument",
        [TDC_ORIGIN_RANDOM] = "random",
    };
    return texts[kind];
}
