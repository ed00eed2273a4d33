/* number_text.h - numbers as the result files spell them. Independent of the locale. */
#ifndef TDC_IO_NUMBER_TEXT_H
#define TDC_IO_NUMBER_TEXT_H

#include <stddef.h>

#define TDC_NUMBER_TEXT 32

/* "%.16g", and nan, inf, -inf. Terminated; returns the length. */
size_t tdc_number_text_g16(double value, char text[TDC_NUMBER_TEXT]);
/* Of a finite number: the shortest text that reads back as the same double. A negative zero is
 * "-0.0", so that readers do not take it for the integer 0. */
size_t tdc_number_text_shortest(double value, char text[TDC_NUMBER_TEXT]);

#endif
