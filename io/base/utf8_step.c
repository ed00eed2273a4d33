#include "io/base/utf8_step.h"

/* The range the second byte must lie in; it is narrower after some first bytes. */
static void second_byte_range(unsigned char first, unsigned char *low, unsigned char *high)
{
    *low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    *high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
}

uint32_t tdc_utf8_step(const char *text, size_t length, size_t *taken)
{
    const unsigned char *bytes = (const unsigned char *)text;
    unsigned char first = bytes[0];
    *taken = 1;
    if (first < 0x80)
        return first;
    if (first == 0xc0 && length > 1 && bytes[1] == 0x80) {
        *taken = 2;
        return 0;
    }
    size_t need = first >= 0xc2 && first <= 0xdf   ? 2
                  : (first & 0xf0) == 0xe0         ? 3
                  : first >= 0xf0 && first <= 0xf4 ? 4
                                                   : 0;
    if (need == 0)
        return TDC_UTF8_REPLACEMENT;
    unsigned char low;
    unsigned char high;
    second_byte_range(first, &low, &high);
    uint32_t character = first & (0xffu >> (need + 1));
    for (size_t i = 1; i < need; i++) {
        if (i >= length || bytes[i] < low || bytes[i] > high)
            return TDC_UTF8_REPLACEMENT;
        character = character << 6 | (bytes[i] & 0x3fu);
        *taken = i + 1;
        low = 0x80;
        high = 0xbf;
    }
    return character;
}

void tdc_utf8_add(struct tdc_text *out, const char *text, size_t length)
{
    size_t plain_from = 0;
    for (size_t at = 0; at < length;) {
        size_t taken;
        uint32_t character = tdc_utf8_step(text + at, length - at, &taken);
        if (character == 0 || character == TDC_UTF8_REPLACEMENT) {
            tdc_text_add(out, text + plain_from, at - plain_from);
            tdc_text_adds(out, TDC_UTF8_REPLACEMENT_TEXT);
            plain_from = at + taken;
        }
        at += taken;
    }
    tdc_text_add(out, text + plain_from, length - plain_from);
}

size_t tdc_utf16_prefix(const char *text, size_t length, size_t units)
{
    if (length <= units) /* no character takes more units than bytes */
        return length;
    size_t at = 0;
    while (at < length) {
        size_t taken;
        uint32_t character = tdc_utf8_step(text + at, length - at, &taken);
        size_t takes = character > 0xffff ? 2 : 1;
        if (takes > units)
            break;
        units -= takes;
        at += taken;
    }
    return at;
}
