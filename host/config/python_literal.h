/*
 * python_literal.h - dicts, lists and values as Python prints them, as a JSON tree.
 *
 * Nothing is evaluated: dicts, lists, tuples, texts in any quotes, numbers, True, False and None.
 */
#ifndef TDC_CONFIG_PYTHON_LITERAL_H
#define TDC_CONFIG_PYTHON_LITERAL_H

#include "io/text/json.h"

/* The value that is all of the text but for blanks; NULL if it is none (*memory: or there was no
 * memory for it). */
struct tdc_json *tdc_python_literal(const char *text, size_t length, struct tdc_arena *arena,
                                    bool *memory);

/* Could Python read the text as an expression made of brackets, texts, numbers and names? */
bool tdc_python_readable(const char *text, size_t length);

#endif
