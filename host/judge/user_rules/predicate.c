#include "host/judge/user_rules/predicate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/base/error.h"
#include "io/text/pytext.h"

#define DEPTH_LIMIT 64u /* of parentheses and `not`; a text may be long, not deep */

static const char *const metric_names[TDC_METRICS] = {"cosine",   "max_abs",  "max_rel",
                                                      "mean_abs", "rmse",     "rel_l2",
                                                      "rel_diff", "elements", "nonfinite_apart"};

enum kind {
    AND,
    OR,
    NOT,
    LESS,
    LESS_EQUAL,
    GREATER,
    GREATER_EQUAL,
    EQUAL,
    NOT_EQUAL,
    NUMBER,
    METRIC
};

struct tdc_predicate {
    enum kind kind;
    const struct tdc_predicate *left, *right;
    double number;
    enum tdc_metric metric;
};

struct reading {
    const char *text, *at;
    struct tdc_arena *arena;
    struct tdc_error *error;
    unsigned depth;
    bool failed;
};

static struct tdc_predicate *fail(struct reading *reading)
{
    if (!reading->failed)
        tdc_fail(reading->error, TDC_ERR_ARGUMENT, "cannot read the predicate '%s'", reading->text);
    reading->failed = true;
    return NULL;
}

static struct tdc_predicate *make(struct reading *reading, enum kind kind,
                                  const struct tdc_predicate *left,
                                  const struct tdc_predicate *right)
{
    if (reading->failed)
        return NULL;
    struct tdc_predicate *made = tdc_arena_zeroed(reading->arena, 1, sizeof *made);
    if (made == NULL) {
        tdc_fail(reading->error, TDC_ERR_MEMORY, "out of memory");
        reading->failed = true;
        return NULL;
    }
    *made = (struct tdc_predicate){.kind = kind, .left = left, .right = right};
    return made;
}

static void pass_blanks(struct reading *reading)
{
    reading->at += strspn(reading->at, " \t\r\n");
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* Takes a word if it is the next one. */
static bool take_word(struct reading *reading, const char *word)
{
    size_t length = strlen(word);
    pass_blanks(reading);
    if (strncmp(reading->at, word, length) != 0 || is_word(reading->at[length]))
        return false;
    reading->at += length;
    return true;
}

static bool take_sign(struct reading *reading, const char *sign)
{
    pass_blanks(reading);
    if (strncmp(reading->at, sign, strlen(sign)) != 0)
        return false;
    reading->at += strlen(sign);
    return true;
}

/* Digits, a point, an exponent. */
static size_t number_length(const char *at)
{
    static const char digits[] = "0123456789";
    size_t length = strspn(at, digits), whole = length;
    if (at[length] == '.') {
        size_t fraction = strspn(at + length + 1, digits);
        if (whole == 0 && fraction == 0)
            return 0;
        length += 1 + fraction;
    }
    if (length != 0 && (at[length] == 'e' || at[length] == 'E')) {
        size_t sign = at[length + 1] == '-' || at[length + 1] == '+' ? 1 : 0;
        size_t exponent = strspn(at + length + 1 + sign, digits);
        length += exponent != 0 ? 1 + sign + exponent : 0;
    }
    return length;
}

static struct tdc_predicate *read_metric(struct reading *reading, size_t length)
{
    for (int i = 0; i < TDC_METRICS; i++)
        if (strlen(metric_names[i]) == length &&
            memcmp(metric_names[i], reading->at, length) == 0) {
            struct tdc_predicate *made = make(reading, METRIC, NULL, NULL);
            reading->at += length;
            if (made != NULL)
                made->metric = (enum tdc_metric)i;
            return made;
        }
    tdc_fail(reading->error, TDC_ERR_ARGUMENT, "'%.*s' in the predicate '%s' is not known",
             (int)(length < 100 ? length : 100), reading->at, reading->text);
    reading->failed = true;
    return NULL;
}

static struct tdc_predicate *read_value(struct reading *reading)
{
    pass_blanks(reading);
    size_t length = number_length(reading->at), word = 0;
    double number;
    if (length != 0 && !is_word(reading->at[length])) {
        struct tdc_predicate *made = make(reading, NUMBER, NULL, NULL);
        if (made == NULL || !tdc_float_parse(reading->at, length, &number))
            return fail(reading);
        made->number = number;
        reading->at += length;
        return made;
    }
    while (is_word(reading->at[word]))
        word++;
    if (word == 0 || length != 0)
        return fail(reading);
    return read_metric(reading, word);
}

static struct tdc_predicate *read_comparison(struct reading *reading)
{
    static const struct {
        const char *sign;
        enum kind kind;
    } signs[] = {{"<=", LESS_EQUAL}, {">=", GREATER_EQUAL}, {"==", EQUAL},
                 {"!=", NOT_EQUAL},  {"<", LESS},           {">", GREATER}};
    const struct tdc_predicate *left = read_value(reading);
    for (size_t i = 0; left != NULL && i < sizeof signs / sizeof *signs; i++)
        if (take_sign(reading, signs[i].sign)) {
            const struct tdc_predicate *right = read_value(reading);
            return right != NULL ? make(reading, signs[i].kind, left, right) : NULL;
        }
    return left != NULL ? fail(reading) : NULL;
}

static struct tdc_predicate *read_or(struct reading *reading);

/* NOLINTNEXTLINE(misc-no-recursion): bounded by DEPTH_LIMIT */
static struct tdc_predicate *read_not(struct reading *reading)
{
    struct tdc_predicate *made = NULL;
    if (++reading->depth > DEPTH_LIMIT)
        return fail(reading);
    if (take_word(reading, "not")) {
        const struct tdc_predicate *left = read_not(reading);
        made = left != NULL ? make(reading, NOT, left, NULL) : NULL;
    } else if (take_sign(reading, "(")) {
        made = read_or(reading);
        if (made != NULL && !take_sign(reading, ")"))
            made = fail(reading);
    } else {
        made = read_comparison(reading);
    }
    reading->depth--;
    return made;
}

/* NOLINTNEXTLINE(misc-no-recursion): bounded by DEPTH_LIMIT */
static struct tdc_predicate *read_and(struct reading *reading)
{
    struct tdc_predicate *made = read_not(reading);
    while (made != NULL && take_word(reading, "and")) {
        const struct tdc_predicate *right = read_not(reading);
        made = right != NULL ? make(reading, AND, made, right) : NULL;
    }
    return made;
}

/* NOLINTNEXTLINE(misc-no-recursion): bounded by DEPTH_LIMIT */
static struct tdc_predicate *read_or(struct reading *reading)
{
    struct tdc_predicate *made = read_and(reading);
    while (made != NULL && take_word(reading, "or")) {
        const struct tdc_predicate *right = read_and(reading);
        made = right != NULL ? make(reading, OR, made, right) : NULL;
    }
    return made;
}

const struct tdc_predicate *tdc_predicate_read(const char *text, struct tdc_arena *arena,
                                               struct tdc_error *error)
{
    struct reading reading = {.text = text, .at = text, .arena = arena, .error = error};
    struct tdc_predicate *made = read_or(&reading);
    pass_blanks(&reading);
    return made != NULL && *reading.at != '\0' ? fail(&reading) : made;
}

static double value_of(const struct tdc_predicate *value, const double metrics[TDC_METRICS])
{
    return value->kind == NUMBER ? value->number : metrics[value->metric];
}

/* Chains of `and` and `or` lean to the left and are as deep as they are long: the left arm is a
 * loop, the right one is bounded by the parentheses.
 * NOLINTNEXTLINE(misc-no-recursion) */
bool tdc_predicate_holds(const struct tdc_predicate *predicate, const double metrics[TDC_METRICS])
{
    if (predicate->kind == NOT)
        return !tdc_predicate_holds(predicate->left, metrics);
    if (predicate->kind == AND || predicate->kind == OR) {
        enum kind kind = predicate->kind;
        bool stops = kind == OR;
        const struct tdc_predicate *at = predicate;
        for (; at->kind == kind; at = at->left)
            if (tdc_predicate_holds(at->right, metrics) == stops)
                return stops;
        return tdc_predicate_holds(at, metrics);
    }
    double left = value_of(predicate->left, metrics), right = value_of(predicate->right, metrics);
    if (isnan(left) || isnan(right))
        return false;
    switch (predicate->kind) {
    case LESS:
        return left < right;
    case LESS_EQUAL:
        return left <= right;
    case GREATER:
        return left > right;
    case GREATER_EQUAL:
        return left >= right;
    case EQUAL:
        return left == right;
    default:
        return left != right;
    }
}

/* NOLINTNEXTLINE(misc-no-recursion): as above */
bool tdc_predicate_uses(const struct tdc_predicate *predicate, enum tdc_metric metric)
{
    for (; predicate != NULL; predicate = predicate->left) {
        if (predicate->kind == METRIC)
            return predicate->metric == metric;
        if (predicate->right != NULL && tdc_predicate_uses(predicate->right, metric))
            return true;
    }
    return false;
}
