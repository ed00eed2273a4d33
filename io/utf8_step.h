/* utf8_step.h - texts of unknown origin, read as UTF-8 with every flaw replaced. */
#ifndef TDC_IO_UTF8_STEP_H
#define TDC_IO_UTF8_STEP_H

#include <stddef.h>
#include <stdint.h>

#define TDC_UTF8_REPLACEMENT      0xfffdu
#define TDC_UTF8_REPLACEMENT_TEXT "\xef\xbf\xbd"

/* The character at the start of a text of length > 0 bytes, and the bytes it takes. Overlong forms,
 * surrogates and cut sequences give U+FFFD and take the longest piece that could have begun a
 * character (as the Unicode standard advises), at least one byte. */
uint32_t tdc_utf8_step(const char *text, size_t length, size_t *taken);

/* Bytes of the longest beginning that takes at most `units` UTF-16 units and cuts no character. */
size_t tdc_utf16_prefix(const char *text, size_t length, size_t units);

#endif
