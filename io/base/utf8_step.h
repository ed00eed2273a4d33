/* utf8_step.h - texts of unknown origin, read as UTF-8 with every flaw replaced. */
#ifndef TDC_IO_UTF8_STEP_H
#define TDC_IO_UTF8_STEP_H

#include <stddef.h>
#include <stdint.h>

#include "io/base/text.h"

#define TDC_UTF8_REPLACEMENT      0xfffdu
#define TDC_UTF8_REPLACEMENT_TEXT "\xef\xbf\xbd"

/* How a NUL inside a text is kept: terminated texts carry it, and no valid UTF-8 has these bytes.
 */
#define TDC_UTF8_NUL "\xc0\x80"

/* The character at the start of a text of length > 0 bytes, and the bytes it takes. TDC_UTF8_NUL is
 * character 0; other overlong forms, surrogates and cut sequences give U+FFFD and take the longest
 * piece that could have begun a character (as the Unicode standard advises), at least one byte. */
uint32_t tdc_utf8_step(const char *text, size_t length, size_t *taken);

/* Appends the text as valid UTF-8: its flaws and NUL become U+FFFD. */
void tdc_utf8_add(struct tdc_text *out, const char *text, size_t length);

/* Bytes of the longest beginning that takes at most `units` UTF-16 units and cuts no character. */
size_t tdc_utf16_prefix(const char *text, size_t length, size_t units);

#endif
