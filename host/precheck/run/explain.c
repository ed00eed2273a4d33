/* explain.c - everything about one call, for a person to read. */
#include <ctype.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "host/precheck/run/precheck.h"
#include "host/precheck/standards/verdict.h"
#include "io/base/error.h"
#include "io/text/pytext.h"

/* Elements shown of each slot. */
#define WORST          8
#define WORST_IN_UNITS 3
#define PROPOSED       5 /* calls named when one is not there */
#define EXPLAIN_MEMORY ((size_t)16 << 30)

static void add_number(struct tdc_text *text, double number)
{
    char digits[TDC_FLOAT_TEXT];
    tdc_text_add(text, digits, tdc_float_repr(number, digits));
}

/* ---- inputs ---------------------------------------------------------------------------------- */

static void describe_tensor(struct tdc_text *text, struct tdc_arena *arena,
                            const struct tdc_reference_value *value)
{
    const struct tdc_reference_tensor *tensor = value->tensor;
    char shape[TDC_SHAPE_TEXT];
    tdc_shape_text(tensor, shape);
    tdc_text_addf(text, "%s %s", tdc_value_type(value), shape);
    const double *values = tdc_as_doubles(arena, tensor);
    double low = DBL_MAX, high = -DBL_MAX, sum = 0, squares = 0;
    int64_t finite = 0;
    for (int64_t i = 0; values != NULL && i < tensor->count; i++) {
        if (!isfinite(values[i]))
            continue;
        finite++;
        low = fmin(low, values[i]);
        high = fmax(high, values[i]);
        sum += values[i];
        squares += values[i] * values[i];
    }
    if (values == NULL || finite == 0) {
        tdc_text_adds(text, tensor->count == 0 ? ", empty" : ", no finite element");
        return;
    }
    tdc_text_addf(text, ", min %.6g, max %.6g, mean %.6g, norm %.6g", low, high,
                  sum / (double)finite, sqrt(squares));
    if (finite != tensor->count)
        tdc_text_addf(text, ", %lld not finite", (long long)(tensor->count - finite));
}

static void describe(struct tdc_text *text, struct tdc_arena *arena,
                     const struct tdc_reference_value *value, int depth)
{
    switch (value->kind) {
    case TDC_VALUE_TENSOR:
        describe_tensor(text, arena, value);
        return;
    case TDC_VALUE_NULL:
        tdc_text_adds(text, "None");
        return;
    case TDC_VALUE_BOOL:
        tdc_text_adds(text, value->whole != 0 ? "True" : "False");
        return;
    case TDC_VALUE_INT:
        tdc_text_addf(text, "%lld", (long long)value->whole);
        return;
    case TDC_VALUE_FLOAT:
        add_number(text, value->real);
        return;
    case TDC_VALUE_TEXT:
        tdc_text_addf(text, "'%s'", value->text);
        return;
    case TDC_VALUE_DTYPE:
        tdc_text_adds(text, tdc_dtype_name(value->dtype));
        return;
    case TDC_VALUE_LIST:
    case TDC_VALUE_SLICE:
        tdc_text_adds(text, value->kind == TDC_VALUE_SLICE ? "slice(" : "(");
        for (size_t i = 0; i < value->list.count && depth < TDC_REFERENCE_DEPTH; i++) {
            tdc_text_adds(text, i != 0 ? ", " : "");
            describe(text, arena, &value->list.values[i], depth + 1);
        }
        tdc_text_addc(text, ')');
        return;
    default:
        tdc_text_adds(text, tdc_value_type(value));
    }
}

static void describe_list(struct tdc_text *text, struct tdc_arena *arena, const char *label,
                          const struct tdc_values *values)
{
    for (size_t i = 0; i < values->count; i++) {
        tdc_text_addf(text, "  %s %zu: ", label, i);
        describe(text, arena, &values->list[i], 0);
        tdc_text_addc(text, '\n');
    }
}

/* ---- worst elements -------------------------------------------------------------------------- */

struct element {
    int64_t at;
    double error; /* infinite when one side alone is not finite */
};

/* What is compared: the reference may be rounded to the tested dtype first. */
struct comparison {
    const double *bench, *tested;
    int64_t count;
    tdc_dtype dtype; /* of the tested side */
    bool rounded;
};

static double bench_at(const struct comparison *pair, int64_t at)
{
    return pair->rounded ? tdc_reference_cast(pair->bench[at], pair->dtype) : pair->bench[at];
}

static double error_at(const struct comparison *pair, int64_t at, bool in_units)
{
    double bench = bench_at(pair, at), tested = pair->tested[at];
    if (bench == tested || (isnan(bench) && isnan(tested)))
        return 0;
    double error = in_units ? tdc_units_apart(bench, tested, pair->dtype) : fabs(bench - tested);
    return isnan(error) ? (double)INFINITY : error;
}

static bool is_among(const struct element *elements, size_t count, int64_t at)
{
    for (size_t i = 0; i < count; i++)
        if (elements[i].at == at)
            return true;
    return false;
}

/* Adds up to `most` of the largest errors behind those that are there, largest first; the first of
 * equal ones. Gives their number. */
static size_t find_worst(const struct comparison *pair, bool in_units, struct element *worst,
                         size_t there, size_t most)
{
    struct element *added = worst + there;
    size_t kept = 0;
    for (int64_t i = 0; i < pair->count; i++) {
        double error = error_at(pair, i, in_units);
        if (error == 0 || (kept == most && error <= added[most - 1].error) ||
            is_among(worst, there, i))
            continue;
        size_t place = kept < most ? kept++ : most - 1;
        for (; place > 0 && added[place - 1].error < error; place--)
            added[place] = added[place - 1];
        added[place] = (struct element){i, error};
    }
    return kept;
}

static void index_text(struct tdc_text *text, const struct tdc_reference_tensor *tensor, int64_t at)
{
    int64_t index[TDC_REFERENCE_RANK] = {0};
    for (unsigned d = tensor->rank; d-- > 0;) {
        index[d] = at % tensor->shape[d];
        at /= tensor->shape[d];
    }
    tdc_text_addc(text, '[');
    for (unsigned d = 0; d < tensor->rank; d++)
        tdc_text_addf(text, "%s%lld", d != 0 ? ", " : "", (long long)index[d]);
    tdc_text_addc(text, ']');
}

static void show_element(struct tdc_text *text, const struct tdc_slot *slot,
                         const struct comparison *pair, int64_t at)
{
    tdc_text_adds(text, "      ");
    index_text(text, slot->reference.tensor, at);
    tdc_text_adds(text, " tested ");
    add_number(text, pair->tested[at]);
    tdc_text_adds(text, ", reference ");
    add_number(text, pair->bench[at]);
    if (tdc_dtype_is_floating(pair->dtype)) {
        tdc_text_addf(text, ", as %s ", tdc_value_type(&slot->tested));
        add_number(text, tdc_reference_cast(pair->bench[at], pair->dtype));
        tdc_text_addf(text, ", %.3g ULP",
                      tdc_units_apart(pair->bench[at], pair->tested[at], pair->dtype));
    }
    tdc_text_addc(text, '\n');
}

/* The largest absolute errors, and of the others those with the most units in the last place. */
static void show_elements(struct tdc_text *text, struct tdc_arena *arena,
                          const struct tdc_slot *slot, bool rounded)
{
    const struct tdc_reference_tensor *bench = slot->reference.tensor;
    const struct tdc_reference_tensor *tested = slot->tested.tensor;
    struct comparison pair = {tdc_as_doubles(arena, bench), tdc_as_doubles(arena, tested),
                              bench->count, tested->dtype, rounded};
    if (!tdc_same_shape(bench, tested) || pair.bench == NULL || pair.tested == NULL)
        return;
    struct element worst[WORST + WORST_IN_UNITS];
    size_t count = find_worst(&pair, false, worst, 0, WORST), more = 0;
    if (tdc_dtype_is_floating(tested->dtype))
        more = find_worst(&pair, true, worst, count, WORST_IN_UNITS);
    if (count == 0 && pair.count != 0)
        tdc_text_addf(text, "      every element equals the reference%s%s\n",
                      rounded ? ", rounded to " : "", rounded ? tdc_value_type(&slot->tested) : "");
    for (size_t i = 0; i < count; i++)
        show_element(text, slot, &pair, worst[i].at);
    if (more != 0)
        tdc_text_adds(text, "      and of the others, most ULP:\n");
    for (size_t i = 0; i < more; i++)
        show_element(text, slot, &pair, worst[count + i].at);
}

static void show_slot(struct tdc_text *text, const struct tdc_call_check *check,
                      const struct tdc_slot *slot, const struct tdc_slot_row *row)
{
    struct tdc_arena *arena = &check->checker->arena;
    tdc_text_addf(text, "    output %zu: %s, tested %s, reference %s, shape %s", row->number,
                  tdc_check_text(row->status), row->tested_dtype, row->bench_dtype, row->shape);
    if (row->measured) {
        tdc_text_adds(text, "\n      Cosine ");
        add_number(text, row->metrics.cosine);
        tdc_text_adds(text, ", MaxAbsErr ");
        add_number(text, row->metrics.max_abs);
        tdc_text_adds(text, ", MaxRelativeErr ");
        add_number(text, row->metrics.max_relative);
        if (row->floating)
            tdc_text_addf(text, ", at most %.4g ULP", row->metrics.max_ulp);
    }
    if (row->bounded && row->bound.worst >= 0) {
        const struct tdc_reference_tensor *bench = slot->reference.tensor;
        tdc_text_addf(text,
                      "\n      nearest to its bound or farthest beyond: error %.4g, bound %.4g at ",
                      row->bound.error, row->bound.bound);
        index_text(text, bench, row->bound.worst);
        tdc_text_adds(text, ", tested ");
        add_number(text, slot->tested.tensor->real[row->bound.worst]);
        tdc_text_adds(text, ", reference ");
        add_number(text, bench->real[row->bound.worst]);
        if (row->bound.bound == 0)
            tdc_text_adds(text, " (an exact operation: the reference rounded)");
    }
    tdc_text_addc(text, '\n');
    if (row->message[0] != '\0')
        tdc_text_addf(text, "      %s\n", row->message);
    if (slot->reference.kind == TDC_VALUE_TENSOR && slot->tested.kind == TDC_VALUE_TENSOR) {
        show_elements(text, arena, slot,
                      tdc_rounds_bench(check->checker->options->bench_round, slot->reference.tensor,
                                       slot->tested.tensor));
        return;
    }
    tdc_text_adds(text, "      tested ");
    describe(text, arena, &slot->tested, 0);
    tdc_text_adds(text, ", reference ");
    describe(text, arena, &slot->reference, 0);
    tdc_text_addc(text, '\n');
}

static void show_direction(struct tdc_text *text, struct tdc_call_check *check,
                           enum tdc_direction direction)
{
    struct tdc_arena *arena = &check->checker->arena;
    const struct tdc_direction_check *checked = &check->directions[direction];
    if (check->call->records[direction].size == 0)
        return;
    tdc_text_addf(text, "%s: %s\n", tdc_direction_name[direction],
                  checked->status == TDC_CHECK_NONE ? "nothing to compare"
                                                    : tdc_check_text(checked->status));
    if (direction == TDC_FORWARD) {
        describe_list(text, arena, "input", &check->arguments);
        for (size_t i = 0; i < check->keyword_count; i++) {
            tdc_text_addf(text, "  %s: ", check->keywords[i].name);
            describe(text, arena, &check->keywords[i].value, 0);
            tdc_text_addc(text, '\n');
        }
    } else {
        describe_list(text, arena, "gradient", &check->gradients);
    }
    if (checked->status == TDC_CHECK_SKIP)
        tdc_text_addf(text, "  reason: %s\n", checked->reason.text);
    for (size_t i = 0; i < checked->count; i++)
        show_slot(text, check, &checked->slots[i], &checked->rows[i]);
}

/* "; there are Mint.abs.0, Mint.abs.1" for what was meant with "mint.abs" or "Mint.abs.77". */
static void propose(const struct tdc_calls *calls, const char *call, struct tdc_text *text)
{
    size_t length = strlen(call), count = 0;
    while (length > 0 && isdigit((unsigned char)call[length - 1]))
        length--;
    if (length > 0 && length < strlen(call) && call[length - 1] == '.')
        length--;
    else
        length = strlen(call);
    for (size_t i = 0; length > 0 && i < calls->count && count < PROPOSED; i++) {
        const char *name = calls->calls[i].name;
        if (strncasecmp(name, call, length) == 0 && (name[length] == '.' || name[length] == '\0'))
            tdc_text_addf(text, "%s%.100s", count++ == 0 ? "; there are " : ", ", name);
    }
}

static const char *refuse(const struct tdc_calls *calls, const char *call, struct tdc_error *error)
{
    struct tdc_text proposal;
    tdc_text_init(&proposal, 1024);
    propose(calls, call, &proposal);
    tdc_fail(error, TDC_ERR_NOT_FOUND, "%.100s: no such call in %s, or one that is not checked%s",
             call, calls->path, tdc_text_get(&proposal));
    tdc_text_free(&proposal);
    return NULL;
}

static bool names_call(const char *name, const char *call)
{
    size_t length = strlen(call);
    if (strncmp(name, call, length) != 0)
        return false;
    if (name[length] == '\0')
        return true;
    for (int d = 0; d < TDC_DIRECTIONS && name[length] == '.'; d++) {
        const char *rest = name + length + 1, *direction = tdc_direction_name[d];
        size_t taken = strlen(direction);
        if (strncmp(rest, direction, taken) == 0 && (rest[taken] == '\0' || rest[taken] == '.'))
            return true;
    }
    return false;
}

const struct tdc_call *tdc_precheck_find(const struct tdc_precheck *precheck, const char *name)
{
    const struct tdc_calls *calls = &precheck->calls;
    for (size_t i = 0; i < calls->count; i++)
        if (names_call(name, calls->calls[i].name))
            return &calls->calls[i];
    return NULL;
}

const char *tdc_precheck_explain(tdc_precheck *precheck, const char *call, struct tdc_error *error)
{
    const struct tdc_call *wanted = tdc_precheck_find(precheck, call);
    if (wanted == NULL)
        return refuse(&precheck->calls, call, error);
    struct tdc_text *text = &precheck->explanation;
    tdc_text_clear(text);
    struct tdc_checker checker;
    if (!tdc_checker_start(&checker, &precheck->calls, precheck->options, EXPLAIN_MEMORY)) {
        tdc_checker_end(&checker);
        tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
        return NULL;
    }
    struct tdc_call_check check;
    tdc_check_call(&checker, wanted, &check);
    tdc_text_addf(text, "%s\n", wanted->name);
    if (check.definition != NULL)
        tdc_text_addf(text, "%s(%s)\n", check.api, tdc_reference_signature(check.definition));
    if (checker.executor == NULL)
        tdc_text_adds(text, "tested side: as recorded\n");
    else
        tdc_text_addf(text, "tested side: executed by %s%s\n", checker.executor->name,
                      precheck->calls.statistics ? ", inputs drawn from Max and Min" : "");
    for (int d = 0; d < TDC_DIRECTIONS; d++)
        show_direction(text, &check, (enum tdc_direction)d);
    tdc_call_check_end(&check);
    tdc_checker_end(&checker);
    return tdc_text_get(text);
}
