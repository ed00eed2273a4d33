#include "host/judge/user_rules/user_rules.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "host/judge/user_rules/rules_read.h"
#include "kernels/dtype.h"

/* ---- what a row is --------------------------------------------------------------------------- */

static enum tdc_row_kind kind_of(const struct tdc_user_row *judged)
{
    static const struct {
        const char *part;
        enum tdc_row_kind kind;
    } parts[] = {{".parameters.", TDC_KIND_PARAMETER},
                 {".parameters_grad.", TDC_KIND_GRADIENT},
                 {".input.", TDC_KIND_INPUT},
                 {".kwargs.", TDC_KIND_INPUT},
                 {".output.", TDC_KIND_OUTPUT}};
    const char *name = judged->kind_name != NULL ? judged->kind_name : judged->name;
    if (judged->parameter)
        return TDC_KIND_PARAMETER;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strstr(name, parts[i].part) != NULL)
            return parts[i].kind;
    return TDC_KIND_OTHER;
}

/* "torch.float32", "Float32", "float32", "F32": a bit of enum tdc_row_type, 0 for others. */
static unsigned type_bit(const char *text)
{
    static const struct {
        const char *start;
        enum tdc_row_type type;
    } names[] = {
        {"bfloat16", TDC_TYPE_BF16}, {"float64", TDC_TYPE_F64}, {"double", TDC_TYPE_F64},
        {"float32", TDC_TYPE_F32},   {"float16", TDC_TYPE_F16}, {"half", TDC_TYPE_F16},
        {"float8", TDC_TYPE_F8},     {"f8", TDC_TYPE_F8},       {"uint8", TDC_TYPE_U8},
        {"uint16", TDC_TYPE_U16},    {"uint32", TDC_TYPE_U32},  {"uint64", TDC_TYPE_U64},
        {"int8", TDC_TYPE_I8},       {"int16", TDC_TYPE_I16},   {"int32", TDC_TYPE_I32},
        {"int64", TDC_TYPE_I64},     {"bool", TDC_TYPE_BOOL},   {"complex", TDC_TYPE_COMPLEX},
    };
    char lower[32];
    size_t length = 0;
    const char *dot = text != NULL ? strrchr(text, '.') : NULL;
    const char *from = dot != NULL ? dot + 1 : text;
    for (; from != NULL && from[length] != '\0' && length + 1 < sizeof lower; length++)
        lower[length] = (char)tolower((unsigned char)from[length]);
    lower[length] = '\0';
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(lower, names[i].start, strlen(names[i].start)) == 0)
            return 1u << names[i].type;
    for (int i = 0; i < TDC_ROW_TYPES; i++)
        if (strcmp(lower, tdc_row_type_names[i]) == 0)
            return 1u << i;
    return 0;
}

/* ---- metrics --------------------------------------------------------------------------------- */

static double sign_of(tdc_dtype dtype, const struct tdc_element *element)
{
    double imaginary, real = tdc_element_value(dtype, element->bytes, &imaginary);
    return real > 0 ? 1 : real < 0 ? -1 : 0;
}

/* Where the table has none: both sides zero, one side zero, a single element. */
static double cosine_of(const struct tdc_outcome *outcome)
{
    const struct tdc_pair_norms *norms = &outcome->norms;
    if (norms->n == 0 || norms->b == 0)
        return norms->n == norms->b ? 1 : 0;
    if (outcome->sums.count == 1)
        return sign_of(outcome->n_dtype, &outcome->abs_n) *
               sign_of(outcome->b_dtype, &outcome->abs_b);
    if (norms->d == 0)
        return 1;
    return fmax(-1, fmin(1, norms->cosine));
}

static double rel_l2(const struct tdc_pair_norms *norms)
{
    return norms->b > 0 ? norms->d / norms->b : norms->d > 0 ? HUGE_VAL : 0;
}

/* 1 - 2 sum(n b) / (sum n^2 + sum b^2), at a scale where squares neither over- nor underflow. */
static double rel_diff(const struct tdc_outcome *outcome)
{
    const struct tdc_pair_sums *sums = &outcome->sums;
    const struct tdc_pair_norms *norms = &outcome->norms;
    double squares = sums->nn + sums->bb;
    if (squares > 0x1p-900 && isfinite(squares))
        return 1 - 2 * sums->nb / squares;
    double most = fmax(norms->n, norms->b);
    if (!(most > 0))
        return 0;
    double n = norms->n / most, b = norms->b / most;
    return 1 - 2 * norms->cosine * n * b / (n * n + b * b);
}

void tdc_user_rules_metrics(const struct tdc_outcome *outcome, double metrics[TDC_METRICS])
{
    const struct tdc_pair_sums *sums = &outcome->sums;
    bool finite = sums->finite != 0;
    metrics[TDC_METRIC_COSINE] = cosine_of(outcome);
    metrics[TDC_METRIC_MAX_ABS] = finite ? sums->abs_max : 0;
    metrics[TDC_METRIC_MAX_REL] = finite ? sums->rel_max : 0;
    metrics[TDC_METRIC_MEAN_ABS] = outcome->norms.mean_abs;
    metrics[TDC_METRIC_RMSE] = outcome->norms.d_rms;
    metrics[TDC_METRIC_REL_L2] = rel_l2(&outcome->norms);
    metrics[TDC_METRIC_REL_DIFF] = rel_diff(outcome);
    metrics[TDC_METRIC_ELEMENTS] = (double)sums->count;
    metrics[TDC_METRIC_NONFINITE_APART] =
        (double)(sums->count - sums->finite - sums->nonfinite_equal);
}

/* ---- judging --------------------------------------------------------------------------------- */

const char *tdc_patterns_find(const struct tdc_patterns *patterns, const char *name)
{
    struct tdc_captured captured;
    for (size_t i = 0; i < patterns->count; i++)
        if (tdc_pattern_fits(patterns->list[i], name, &captured)) {
            if (patterns->used != NULL)
                atomic_fetch_add(&patterns->used[i], 1);
            return tdc_pattern_text(patterns->list[i]);
        }
    return NULL;
}

static void begin_line(struct tdc_text *message)
{
    if (message->length != 0)
        tdc_text_addc(message, '\n');
}

static bool rule_fits(const struct tdc_user_rule *rule, const struct tdc_user_row *judged,
                      enum tdc_row_kind kind, unsigned types)
{
    return (rule->kinds == 0 || (rule->kinds & 1u << kind) != 0) &&
           (rule->types == 0 || (rule->types & types) != 0) &&
           (rule->names.count == 0 || tdc_patterns_find(&rule->names, judged->name) != NULL);
}

/* The first rule that fits decides; NULL: none does. */
static struct tdc_user_rule *find_rule(struct tdc_user_rules *tolerance,
                                       const struct tdc_user_row *judged)
{
    enum tdc_row_kind kind = kind_of(judged);
    unsigned types = type_bit(judged->dtypes[0]) | type_bit(judged->dtypes[1]);
    for (size_t i = 0; i < tolerance->count; i++)
        if (rule_fits(&tolerance->rules[i], judged, kind, types))
            return &tolerance->rules[i];
    return NULL;
}

/* Appends what the rule says to `line`; the verdict it gives. */
static bool rule_passes(const struct tdc_user_rules *tolerance, struct tdc_user_rule *rule,
                        const struct tdc_outcome *outcome, struct tdc_text *line)
{
    double metrics[TDC_METRICS];
    tdc_user_rules_metrics(outcome, metrics);
    double apart = metrics[TDC_METRIC_NONFINITE_APART];
    tdc_text_addf(line, "tolerance rule %zu", (size_t)(rule - tolerance->rules) + 1);
    atomic_fetch_add(&rule->judged, 1);
    if (apart != 0 && !tdc_predicate_uses(rule->pass, TDC_METRIC_NONFINITE_APART))
        tdc_text_addf(line, ": nonfinite_apart is %.0f", apart);
    else if (!tdc_predicate_holds(rule->pass, metrics))
        tdc_text_addf(line, ": %s", rule->text);
    else
        return true;
    atomic_fetch_add(&rule->failed, 1);
    return false;
}

/* A row that passes keeps the level it has if that is no difference. */
static void judge_compared(struct tdc_user_rules *tolerance, const struct tdc_user_row *judged,
                           struct tdc_row *row, struct tdc_text *message)
{
    struct tdc_user_rule *rule = find_rule(tolerance, judged);
    struct tdc_text line;
    tdc_text_init(&line, (size_t)1 << 20);
    if (rule != NULL && row->row_class != TDC_ROW_ERROR) {
        if (!rule_passes(tolerance, rule, judged->outcome, &line))
            row->row_class = TDC_ROW_DIFFERENT;
        else if (row->row_class == TDC_ROW_DIFFERENT || row->row_class == TDC_ROW_SHOWN ||
                 row->row_class == TDC_ROW_NONE)
            row->row_class = TDC_ROW_SAME;
    }
    const char *allowed =
        row->row_class == TDC_ROW_DIFFERENT
            ? tdc_patterns_find(&tolerance->lists[TDC_LIST_MAY_FAIL], judged->name)
            : NULL;
    if (allowed != NULL || line.length != 0)
        begin_line(message);
    if (allowed != NULL) {
        row->row_class = TDC_ROW_ALLOWED;
        tdc_text_addf(message, "tolerance: may fail by '%s'%s", allowed,
                      line.length != 0 ? "; " : "");
    }
    tdc_text_add(message, tdc_text_get(&line), line.length);
    if (line.failed)
        message->failed = true;
    tdc_text_free(&line);
}

void tdc_user_rules_judge(struct tdc_user_rules *tolerance, const struct tdc_user_row *judged,
                          struct tdc_row *row, struct tdc_text *message)
{
    const char *ignored = tdc_patterns_find(&tolerance->lists[TDC_LIST_IGNORE], judged->name);
    if (ignored != NULL) {
        begin_line(message);
        tdc_text_addf(message, "tolerance: ignored by '%s'", ignored);
        row->row_class = TDC_ROW_IGNORED;
        return;
    }
    if (judged->outcome != NULL && judged->outcome->code == TDC_OUTCOME_COMPARED) {
        judge_compared(tolerance, judged, row, message);
        return;
    }
    const char *missing =
        row->row_class == TDC_ROW_UNMATCHED
            ? tdc_patterns_find(&tolerance->lists[TDC_LIST_MAY_MISS], judged->name)
            : NULL;
    if (missing != NULL) {
        begin_line(message);
        tdc_text_addf(message, "tolerance: may be missing by '%s'", missing);
        row->row_class = TDC_ROW_IGNORED;
    }
}

/* ---- counts ---------------------------------------------------------------------------------- */

size_t tdc_user_rules_count(const struct tdc_user_rules *tolerance)
{
    size_t count = tolerance->count;
    for (int i = 0; i < TDC_TOLERANCE_LISTS; i++)
        count += tolerance->lists[i].count;
    return count;
}

void tdc_user_rules_tell(const struct tdc_user_rules *tolerance, size_t index, const char **title,
                         const char **text, uint64_t *rows, uint64_t *failed)
{
    if (index < tolerance->count) {
        const struct tdc_user_rule *rule = &tolerance->rules[index];
        *title = "rule";
        *text = rule->text;
        *rows = atomic_load(&rule->judged);
        *failed = atomic_load(&rule->failed);
        return;
    }
    index -= tolerance->count;
    *failed = 0;
    for (int i = 0; i < TDC_TOLERANCE_LISTS; i++) {
        const struct tdc_patterns *list = &tolerance->lists[i];
        if (index < list->count) {
            *title = tdc_tolerance_list_names[i];
            *text = tdc_pattern_text(list->list[index]);
            *rows = atomic_load(&list->used[index]);
            return;
        }
        index -= list->count;
    }
    *title = *text = "";
    *rows = 0;
}
