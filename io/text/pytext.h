/*
 * pytext.h - values as Python writes them: the tables to be reproduced are full of `str` and
 * `repr`.
 */
#ifndef TDC_IO_PYTEXT_H
#define TDC_IO_PYTEXT_H

#include "io/text/json.h"
#include "io/base/text.h"

/* Room for any result of tdc_float_repr and tdc_float_g16, terminator included. */
#define TDC_FLOAT_TEXT 40

/* repr of a float: shortest text that reads back as the same double: "1.0", "1e-07", "1e+16",
 * "nan", "inf". Returns the length. */
size_t tdc_float_repr(double value, char text[TDC_FLOAT_TEXT]);

/* "%.16g": "1", "0.1", "1e-07", "-0", "nan", "inf". Independent of the locale. */
size_t tdc_float_g16(double value, char text[TDC_FLOAT_TEXT]);

/* Nearest double of a decimal number text (digits, point, exponent; no blanks); independent of the
 * locale. False if the text is not completely a finite-syntax number. Overflow gives infinity. */
bool tdc_float_parse(const char *text, size_t length, double *value);

/* What Python's float() makes of a text: as tdc_float_parse, and inf, infinity, nan in any case,
 * blanks around the number, single underscores between digits. */
bool tdc_python_float(const char *text, size_t length, double *value);

/* str of a JSON value: True, None, 3, 2.5, nan, strings unchanged, [0, 5, None], {'a': 1}. */
void tdc_pytext_str(struct tdc_text *out, const struct tdc_json *value);
/* repr of a string: quotes chosen and characters escaped as Python 3 does. */
void tdc_pytext_repr_string(struct tdc_text *out, const char *text, size_t length);

#endif
