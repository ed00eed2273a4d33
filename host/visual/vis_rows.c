/* vis_rows.c - which item of a node faces which, and what statistics and checksums say of them. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/visual/vis_compare.h"
#include "io/text/pytext.h"

/* ---- rows of a pair of nodes ------------------------------------------------------------------
 */

static const struct tdc_vis_items no_items;

/* The items of a node: inputs and what is with them, then outputs. */
struct side {
    const struct tdc_vis_items *inputs, *outputs;
    size_t counts[TDC_STATE_PARAMETERS_GRAD + 1]; /* by state */
};

static struct side side_of(const struct tdc_vis_node *node)
{
    struct side side = {.inputs = node->call != NULL ? &node->call->inputs : &no_items,
                        .outputs = node->call != NULL ? &node->call->outputs : &no_items};
    for (size_t i = 0; i < side.inputs->count; i++)
        side.counts[side.inputs->items[i].state]++;
    for (size_t i = 0; i < side.outputs->count; i++)
        side.counts[side.outputs->items[i].state]++;
    return side;
}

static struct tdc_vis_item *item_at(const struct side *side, size_t index)
{
    return index < side->inputs->count ? &side->inputs->items[index]
                                       : &side->outputs->items[index - side->inputs->count];
}

/* The item of that state that has `index` of them before it. *from is where the one before it was
 * found, as they are asked for in order. */
static const struct tdc_vis_item *next_of_state(const struct side *side, enum tdc_state state,
                                                size_t *from)
{
    size_t all = side->inputs->count + side->outputs->count;
    for (; *from < all; (*from)++) {
        const struct tdc_vis_item *item = item_at(side, *from);
        if (item->state == state) {
            (*from)++;
            return item;
        }
    }
    return NULL;
}

static bool add_row(struct tdc_vis_comparison *comparison, const struct tdc_vis_row *row)
{
    if (comparison->count == comparison->capacity) {
        size_t capacity = comparison->capacity == 0 ? 256 : comparison->capacity * 2, bytes;
        if (__builtin_mul_overflow(capacity, sizeof *comparison->rows, &bytes))
            return false;
        struct tdc_vis_row *grown = realloc(comparison->rows, bytes);
        if (grown == NULL)
            return false;
        comparison->rows = grown;
        comparison->capacity = capacity;
    }
    comparison->rows[comparison->count++] = *row;
    return true;
}

/* Items of one state by their position; those that the npu has more of face nothing. Where they
 * begin is counted as if parameters came behind outputs, which they do not: their checksums are
 * looked up by state and do not share that. */
static bool add_state(struct tdc_vis_comparison *comparison, const struct side *npu,
                      size_t npu_start, const struct side *bench, size_t bench_start,
                      enum tdc_state state)
{
    size_t npu_at = 0, bench_at = 0;
    for (size_t i = 0; i < npu->counts[state]; i++) {
        bool paired = i < bench->counts[state];
        const struct tdc_vis_row row = {.npu = item_at(npu, npu_start + i),
                                        .bench = paired ? item_at(bench, bench_start + i) : NULL,
                                        .npu_digest = next_of_state(npu, state, &npu_at),
                                        .bench_digest =
                                            paired ? next_of_state(bench, state, &bench_at) : NULL};
        if (!add_row(comparison, &row))
            return false;
    }
    return true;
}

bool tdc_vis_add_rows(struct tdc_vis_comparison *comparison, uint32_t npu, uint32_t bench)
{
    struct side n = side_of(&comparison->npu->nodes[npu]);
    struct side b = side_of(&comparison->bench->nodes[bench]);
    size_t n_in = n.counts[TDC_STATE_INPUT], n_out = n.counts[TDC_STATE_OUTPUT];
    size_t b_in = b.counts[TDC_STATE_INPUT], b_out = b.counts[TDC_STATE_OUTPUT];
    size_t n_rest = n_in + n_out + n.counts[TDC_STATE_PARAMETERS];
    size_t b_rest = b_in + b_out + b.counts[TDC_STATE_PARAMETERS];
    if (n.counts[TDC_STATE_DEBUG] + b.counts[TDC_STATE_DEBUG] != 0)
        return true;
    return add_state(comparison, &n, 0, &b, 0, TDC_STATE_INPUT) &&
           add_state(comparison, &n, n_in + n_out, &b, b_in + b_out, TDC_STATE_PARAMETERS) &&
           add_state(comparison, &n, n_in, &b, b_in, TDC_STATE_OUTPUT) &&
           add_state(comparison, &n, n_rest, &b, b_rest, TDC_STATE_PARAMETERS_GRAD);
}

/* ---- statistics -------------------------------------------------------------------------------
 */

static const char *const statistics[] = {"Max", "Min", "Mean", "Norm"};
static const char *const differences[] = {"Max diff", "Min diff", "Mean diff", "L2norm diff"};
static const char *const relatives[] = {"MaxRelativeErr", "MinRelativeErr", "MeanRelativeErr",
                                        "NormRelativeErr"};

static bool is_missing(const struct tdc_json *value)
{
    return value == NULL || value->kind == TDC_JSON_NULL;
}

static bool is_number(const struct tdc_json *value)
{
    return value != NULL && (value->kind == TDC_JSON_INTEGER || value->kind == TDC_JSON_FLOAT);
}

/* The difference of two integers is one; NULL when they do not fit 64 bits or memory is out. */
static const char *integer_difference(struct tdc_arena *arena, const struct tdc_json *n,
                                      const struct tdc_json *b)
{
    errno = 0;
    long long left = strtoll(n->text, NULL, 10), right = strtoll(b->text, NULL, 10);
    if (errno != 0)
        return NULL;
    unsigned long long distance = left > right
                                      ? (unsigned long long)left - (unsigned long long)right
                                      : (unsigned long long)right - (unsigned long long)left;
    char text[32];
    int length = snprintf(text, sizeof text, "%s%llu", left < right ? "-" : "", distance);
    return tdc_arena_text(arena, text, (size_t)length);
}

static bool compare_statistic(struct tdc_arena *arena, struct tdc_vis_item *item, int which,
                              const struct tdc_json *n, const struct tdc_json *b)
{
    const char *difference = differences[which], *relative = relatives[which];
    if (!is_number(n) || !is_number(b))
        return tdc_vis_set_text(arena, item, difference, "N/A") &&
               tdc_vis_set_text(arena, item, relative, "N/A");
    double d = n->number - b->number;
    if (isnan(d))
        return tdc_vis_set_text(arena, item, difference, "Nan") &&
               tdc_vis_set_text(arena, item, relative, "Nan");
    const char *digits = n->kind == TDC_JSON_INTEGER && b->kind == TDC_JSON_INTEGER
                             ? integer_difference(arena, n, b)
                             : NULL;
    bool good = isinf(d) ? tdc_vis_set_text(arena, item, difference, d > 0 ? "inf\t" : "-inf\t")
                : digits != NULL ? tdc_vis_set_integer(arena, item, difference, digits)
                                 : tdc_vis_set_float(arena, item, difference, d);
    if (!good || b->number == 0)
        return good && tdc_vis_set_text(arena, item, relative, "N/A");
    char text[TDC_FLOAT_TEXT + 1];
    size_t length = tdc_float_repr(fabs(d / b->number * 100), text);
    text[length++] = '%';
    const char *kept = tdc_arena_text(arena, text, length);
    return kept != NULL && tdc_vis_set_text(arena, item, relative, kept);
}

static bool set_consistent(struct tdc_arena *arena, const struct tdc_vis_row *row)
{
    bool consistent =
        row->bench != NULL && tdc_vis_equal(tdc_json_get(&row->npu->fields, "requires_grad"),
                                            tdc_json_get(&row->bench->fields, "requires_grad"));
    return tdc_vis_set_text(arena, row->npu, "Requires_grad Consistent",
                            consistent ? "True" : "False");
}

/* Of an item that faces nothing msprobe shows cells that stand two columns away. */
static bool set_alone(struct tdc_arena *arena, struct tdc_vis_item *item)
{
    bool good = true;
    for (int i = 0; i < TDC_STATISTICS; i++)
        good &= tdc_vis_set_text(arena, item, differences[i], " ");
    for (int i = 0; i < TDC_STATISTICS && good; i++) {
        struct tdc_json *field = tdc_vis_field(arena, item, relatives[i]);
        const struct tdc_json *shown =
            i >= 2 ? tdc_json_get(&item->fields, statistics[i - 2]) : NULL;
        good = field != NULL;
        if (!good)
            break;
        if (is_missing(shown)) {
            field->kind = TDC_JSON_STRING;
            field->text = i >= 2 ? "None" : " ";
            field->length = strlen(field->text);
            continue;
        }
        field->kind = shown->kind;
        field->text = shown->text;
        field->length = shown->length;
        field->number = shown->number;
        field->child = shown->child;
        field->children = shown->children;
    }
    return good && tdc_vis_set_text(arena, item, "Requires_grad Consistent", "");
}

static bool compare_statistics(struct tdc_arena *arena, const struct tdc_vis_row *row)
{
    if (is_missing(tdc_json_get(&row->npu->fields, "Max")))
        return true;
    if (row->bench == NULL)
        return set_alone(arena, row->npu);
    /* all differences come before all relative errors */
    for (int i = 0; i < TDC_STATISTICS; i++)
        if (tdc_vis_field(arena, row->npu, differences[i]) == NULL)
            return false;
    for (int i = 0; i < TDC_STATISTICS; i++)
        if (!compare_statistic(arena, row->npu, i, tdc_json_get(&row->npu->fields, statistics[i]),
                               tdc_json_get(&row->bench->fields, statistics[i])))
            return false;
    return set_consistent(arena, row);
}

/* ---- checksums, structure ---------------------------------------------------------------------
 */

static bool compare_digests(struct tdc_arena *arena, const struct tdc_vis_row *row)
{
    const struct tdc_json *n = tdc_json_get(&row->npu_digest->fields, "md5");
    const char *result = "Nan";
    if (row->bench != NULL)
        result = tdc_vis_equal(n, tdc_json_get(&row->bench_digest->fields, "md5")) ? "pass"
                                                                                   : "Different";
    return tdc_vis_set_text(arena, row->npu, "Result", result) && set_consistent(arena, row);
}

static bool compare_structure(struct tdc_arena *arena, const struct tdc_vis_row *row)
{
    static const char *const columns[] = {"Cosine",
                                          "EucDist",
                                          "MaxAbsErr",
                                          "MaxRelativeErr",
                                          "One Thousandth Err Ratio",
                                          "Five Thousandths Err Ratio"};
    if (is_missing(tdc_json_get(&row->npu->fields, "Max")))
        return true;
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        if (!tdc_vis_set_text(arena, row->npu, columns[i], " "))
            return false;
    return set_consistent(arena, row);
}

/* msprobe looks for what it found of a name with ".output." among the outputs alone; the inputs of
 * a module that is called output get nothing. */
static bool is_lost(const struct tdc_vis_comparison *comparison, const struct tdc_vis_item *item)
{
    return !comparison->whole && strstr(item->name, ".output.") != NULL &&
           strstr(item->name, ".input.") != NULL;
}

bool tdc_vis_compare_items(struct tdc_vis_comparison *comparison)
{
    struct tdc_arena *arena = &comparison->npu->arena;
    bool good = true;
    for (size_t i = 0; i < comparison->count && good; i++) {
        const struct tdc_vis_row *row = &comparison->rows[i];
        if (is_lost(comparison, row->npu))
            continue;
        if (comparison->mode == TDC_VIS_STATISTICS)
            good = compare_statistics(arena, row);
        else if (comparison->mode == TDC_VIS_DIGESTS)
            good = compare_digests(arena, row);
        else if (comparison->mode == TDC_VIS_STRUCTURE)
            good = compare_structure(arena, row);
    }
    return good;
}

/* ---- the number of a node ---------------------------------------------------------------------
 */

/* "30.5%" as 0.305; what is no such text is 0. */
static double percentage(const struct tdc_json *value)
{
    double number;
    if (value == NULL || value->kind != TDC_JSON_STRING)
        return 0;
    size_t length = value->length;
    while (length > 0 && value->text[length - 1] == '%')
        length--;
    return tdc_python_float(value->text, length, &number) ? number / 100 : 0;
}

static bool is_abnormal(const struct tdc_json *value)
{
    return value != NULL && value->kind == TDC_JSON_FLOAT && !isfinite(value->number);
}

static bool is_abnormal_item(const struct tdc_vis_item *item)
{
    return is_abnormal(tdc_json_get(&item->fields, "Max")) ||
           is_abnormal(tdc_json_get(&item->fields, "Min"));
}

/* NaN is larger than nothing. */
static double largest_relative(const struct tdc_vis_items *items)
{
    double largest = 0;
    for (size_t i = 0; i < items->count; i++) {
        const struct tdc_vis_item *item = &items->items[i];
        if (is_missing(tdc_json_get(&item->fields, "Max")))
            continue;
        for (int k = 0; k < TDC_STATISTICS; k++) {
            double relative = percentage(tdc_json_get(&item->fields, relatives[k]));
            largest = relative > largest ? relative : largest;
        }
        if (is_abnormal_item(item))
            largest = 1;
    }
    return largest > 1 ? 1 : largest;
}

static bool all_pass(const struct tdc_vis_items *items)
{
    for (size_t i = 0; i < items->count; i++) {
        const struct tdc_json *result = tdc_json_get(&items->items[i].fields, "Result");
        if (result != NULL && !tdc_json_is_text(result, "pass"))
            return false;
    }
    return true;
}

/* The smallest share of elements with a relative error below a thousandth. */
enum shares {
    SHARE_NONE,
    SHARE_ABNORMAL, /* there is a NaN or an infinity */
    SHARE_KNOWN
};

static enum shares smallest_share(const struct tdc_vis_items *items, double *smallest)
{
    bool known = false, abnormal = false;
    for (size_t i = 0; i < items->count; i++) {
        const struct tdc_vis_item *item = &items->items[i];
        const struct tdc_json *share = tdc_json_get(&item->fields, "One Thousandth Err Ratio");
        const struct tdc_json *shape = tdc_json_get(&item->fields, "shape");
        if (is_missing(tdc_json_get(&item->fields, "Max")))
            continue;
        if (share != NULL &&
            (is_missing(shape) || (shape->kind == TDC_JSON_LIST && shape->children == 0)))
            continue; /* no dimension: the share means nothing */
        double number = NAN;
        bool is = share != NULL && (share->kind == TDC_JSON_FLOAT ||
                                    (share->kind == TDC_JSON_STRING &&
                                     tdc_python_float(share->text, share->length, &number)));
        if (is && share->kind == TDC_JSON_FLOAT)
            number = share->number;
        /* as Python's min: the first one stays when a comparison with NaN fails */
        if (is && (!known || number < *smallest))
            *smallest = number;
        known |= is;
        abnormal |= is_abnormal_item(item);
    }
    if (known && 1 < *smallest)
        *smallest = 1;
    return abnormal ? SHARE_ABNORMAL : known ? SHARE_KNOWN : SHARE_NONE;
}

static double share_lost(const struct tdc_vis_call *call, bool *is_float)
{
    double in = 0, out = 0;
    enum shares inputs = smallest_share(&call->inputs, &in);
    enum shares outputs = smallest_share(&call->outputs, &out);
    if (outputs == SHARE_ABNORMAL)
        return 1;
    bool known = inputs == SHARE_KNOWN && outputs == SHARE_KNOWN;
    double lost = known ? in - out : 0;
    *is_float = known && !(lost < 0);
    return lost < 0 ? 0 : lost > 1 ? 1 : lost;
}

/* Calls that hand out memory as it is. */
static bool gives_memory(const char *name)
{
    static const char *const calls[] = {"empty",     "empty_like",        "empty_with_format",
                                        "new_empty", "new_empty_strided", "empty_strided"};
    const char *dot = strchr(name, '.');
    size_t length = dot != NULL ? strcspn(dot + 1, ".") : 0;
    for (size_t i = 0; i < sizeof calls / sizeof *calls && dot != NULL; i++)
        if (strlen(calls[i]) == length && strncmp(dot + 1, calls[i], length) == 0)
            return true;
    return false;
}

double tdc_vis_precision(const struct tdc_vis_comparison *comparison,
                         const struct tdc_vis_node *node, bool *is_float)
{
    *is_float = false;
    bool digests = comparison->mode == TDC_VIS_DIGESTS;
    if (node->call == NULL || gives_memory(node->name))
        return digests ? 1 : 0;
    if (digests)
        return all_pass(&node->call->inputs) && all_pass(&node->call->outputs) ? 1 : 0;
    if (comparison->mode == TDC_VIS_TENSORS)
        return share_lost(node->call, is_float);
    double largest =
        comparison->mode == TDC_VIS_STATISTICS ? largest_relative(&node->call->outputs) : 0;
    *is_float = largest != 0 && largest != 1;
    return largest;
}
