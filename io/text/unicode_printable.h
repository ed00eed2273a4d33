/* unicode_printable.h - which characters Python's repr shows as they are. */
#ifndef TDC_IO_UNICODE_PRINTABLE_H
#define TDC_IO_UNICODE_PRINTABLE_H

#include <stdbool.h>
#include <stdint.h>

/* str.isprintable of one character: everything but controls, formats, surrogates, private use,
 * unassigned, separators other than the blank. Codes above 0x10ffff are not printable. */
bool tdc_unicode_printable(uint32_t code);

#endif
