/*
 * expression.h - whole numbers, names, lists, + - * / and parentheses, in 64 bits.
 *
 * Nothing is rounded: a quotient that is not whole and a number that does not fit are errors.
 */
#ifndef TDC_ALIGN_EXPRESSION_H
#define TDC_ALIGN_EXPRESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tdc_scope_value {
    enum {
        TDC_VALUE_NUMBER,
        TDC_VALUE_TEXT, /* a capture: a number if it is all digits */
        TDC_VALUE_LIST
    } kind;
    int64_t number;
    const char *text;
    const int64_t *list;
    size_t count;
};

/* What names mean. */
struct tdc_scope {
    bool (*find)(const void *context, const char *name, size_t length,
                 struct tdc_scope_value *value);
    const void *context;
};

#define TDC_EXPRESSION_TEXT 512

/* False with the reason in problem. scope NULL: the syntax alone is checked, *value is 0. */
bool tdc_expression_value(const char *text, size_t length, const struct tdc_scope *scope,
                          int64_t *value, char problem[TDC_EXPRESSION_TEXT]);

/* A text of digits alone as a number; false for others, and for one that does not fit. */
bool tdc_digits_value(const char *text, size_t length, int64_t *number);

#endif
