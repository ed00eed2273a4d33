#include "host/align/rules/expression.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define MOST_DEPTH 64
/* Of a name or an expression in a message. */
#define SHOWN 120

struct reading {
    const char *text, *at, *end;
    const struct tdc_scope *scope;
    unsigned depth;
    char *problem;
};

bool tdc_digits_value(const char *text, size_t length, int64_t *number)
{
    *number = 0;
    for (size_t i = 0; i < length; i++)
        if (text[i] < '0' || text[i] > '9' || __builtin_mul_overflow(*number, 10, number) ||
            __builtin_add_overflow(*number, text[i] - '0', number))
            return false;
    return length != 0;
}

static int shown(size_t length)
{
    return (int)(length < SHOWN ? length : SHOWN);
}

static bool unreadable(const struct reading *reading)
{
    size_t length = (size_t)(reading->end - reading->text);
    snprintf(reading->problem, TDC_EXPRESSION_TEXT, "cannot read the expression '%.*s'",
             shown(length), reading->text);
    return false;
}

static char peek(struct reading *reading)
{
    while (reading->at < reading->end && isspace((unsigned char)*reading->at))
        reading->at++;
    return reading->at < reading->end ? *reading->at : '\0';
}

static bool sum(struct reading *reading, int64_t *value);

static bool take(struct reading *reading, char wanted)
{
    if (peek(reading) != wanted)
        return unreadable(reading);
    reading->at++;
    return true;
}

static bool element_of(struct reading *reading, const struct tdc_scope_value *found, int64_t *value)
{
    int64_t index;
    if (!take(reading, '[') || !sum(reading, &index) || !take(reading, ']'))
        return false;
    *value = 0;
    if (reading->scope == NULL)
        return true;
    if (found->kind != TDC_VALUE_LIST || index < 0 || (uint64_t)index >= found->count)
        return unreadable(reading);
    *value = found->list[index];
    return true;
}

static bool named(struct reading *reading, int64_t *value)
{
    const char *name = reading->at;
    while (reading->at < reading->end &&
           (isalnum((unsigned char)*reading->at) != 0 || *reading->at == '_'))
        reading->at++;
    if (reading->end - reading->at >= 5 && memcmp(reading->at, ".size", 5) == 0)
        reading->at += 5;
    size_t length = (size_t)(reading->at - name);
    size_t whole = (size_t)(reading->end - reading->text);
    struct tdc_scope_value found = {.kind = TDC_VALUE_NUMBER};
    const struct tdc_scope *scope = reading->scope;
    if (scope != NULL && !scope->find(scope->context, name, length, &found)) {
        snprintf(reading->problem, TDC_EXPRESSION_TEXT, "'%.*s' in '%.*s' is not known",
                 shown(length), name, shown(whole), reading->text);
        return false;
    }
    if (peek(reading) == '[')
        return element_of(reading, &found, value);
    *value = found.number;
    if (found.kind == TDC_VALUE_TEXT && !tdc_digits_value(found.text, strlen(found.text), value)) {
        snprintf(reading->problem, TDC_EXPRESSION_TEXT, "'%.*s' is '%.*s', not a number",
                 shown(length), name, shown(strlen(found.text)), found.text);
        return false;
    }
    if (found.kind == TDC_VALUE_LIST) {
        snprintf(reading->problem, TDC_EXPRESSION_TEXT, "'%.*s' in '%.*s' is a list", shown(length),
                 name, shown(whole), reading->text);
        return false;
    }
    return true;
}

static bool digits(struct reading *reading, int64_t *value)
{
    const char *start = reading->at;
    while (reading->at < reading->end && isdigit((unsigned char)*reading->at) != 0)
        reading->at++;
    bool followed = reading->at < reading->end &&
                    (isalpha((unsigned char)*reading->at) != 0 || *reading->at == '_');
    return (!followed && tdc_digits_value(start, (size_t)(reading->at - start), value)) ||
           unreadable(reading);
}

static bool primary(struct reading *reading, int64_t *value)
{
    char c = peek(reading);
    if (reading->depth == MOST_DEPTH)
        return unreadable(reading);
    if (c == '(') {
        reading->at++;
        reading->depth++;
        bool ok = sum(reading, value) && take(reading, ')');
        reading->depth--;
        return ok;
    }
    if (c == '-') {
        reading->at++;
        reading->depth++;
        bool ok = primary(reading, value);
        reading->depth--;
        return ok && (!__builtin_sub_overflow(0, *value, value) || unreadable(reading));
    }
    if (isdigit((unsigned char)c) != 0)
        return digits(reading, value);
    if (isalpha((unsigned char)c) != 0 || c == '_')
        return named(reading, value);
    return unreadable(reading);
}

static bool divide(struct reading *reading, int64_t *value, int64_t by)
{
    if (reading->scope == NULL)
        return true;
    if (by == 0 || (by == -1 && *value == INT64_MIN) || *value % by != 0) {
        size_t whole = (size_t)(reading->end - reading->text);
        snprintf(reading->problem, TDC_EXPRESSION_TEXT, "%lld is not a multiple of %lld in '%.*s'",
                 (long long)*value, (long long)by, shown(whole), reading->text);
        return false;
    }
    *value /= by;
    return true;
}

static bool product(struct reading *reading, int64_t *value)
{
    if (!primary(reading, value))
        return false;
    for (char c; (c = peek(reading)) == '*' || c == '/';) {
        int64_t other;
        reading->at++;
        if (!primary(reading, &other))
            return false;
        if (c == '/' ? !divide(reading, value, other)
                     : __builtin_mul_overflow(*value, other, value) && !unreadable(reading))
            return false;
    }
    return true;
}

static bool sum(struct reading *reading, int64_t *value)
{
    if (!product(reading, value))
        return false;
    for (char c; (c = peek(reading)) == '+' || c == '-';) {
        int64_t other;
        reading->at++;
        if (!product(reading, &other))
            return false;
        if (c == '+' ? __builtin_add_overflow(*value, other, value)
                     : __builtin_sub_overflow(*value, other, value))
            return unreadable(reading);
    }
    return true;
}

bool tdc_expression_value(const char *text, size_t length, const struct tdc_scope *scope,
                          int64_t *value, char problem[TDC_EXPRESSION_TEXT])
{
    struct reading reading = {
        .text = text, .at = text, .end = text + length, .scope = scope, .problem = problem};
    *value = 0;
    if (!sum(&reading, value))
        return false;
    return peek(&reading) == '\0' && reading.at == reading.end ? true : unreadable(&reading);
}
