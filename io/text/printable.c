/* printable.c - texts of unknown origin, for a terminal. */
#include <stdio.h>
#include <string.h>

#include "io/text/unicode_printable.h"
#include "io/base/utf8_step.h"
#include "tdcmp.h"

/* Room for the longest escape, \U0010ffff, and its end. */
#define ESCAPE_ROOM 16

/* The escape of what must not reach a terminal; 0 when the character may stand as it is. A byte
 * that belongs to no character is \xNN, as is a control of ASCII; all others are told by their
 * code. */
static size_t escape(const char *text, uint32_t character, size_t taken, char room[ESCAPE_ROOM])
{
    bool flaw = character == TDC_UTF8_REPLACEMENT && (unsigned char)text[0] != 0xef;
    if (flaw) {
        size_t length = 0; /* at most three bytes make one flaw */
        for (size_t i = 0; i < taken && length + 5 < ESCAPE_ROOM; i++)
            length += (size_t)snprintf(room + length, ESCAPE_ROOM - length, "\\x%02x",
                                       (unsigned char)text[i]);
        return length;
    }
    if ((character >= 0x20 && character < 0x7f) || tdc_unicode_printable(character))
        return 0;
    const char *form = character < 0x80 ? "\\x%02x" : character < 0x10000 ? "\\u%04x" : "\\U%08x";
    return (size_t)snprintf(room, ESCAPE_ROOM, form, (unsigned)character);
}

size_t tdc_printable(const char *text, char *room, size_t size)
{
    size_t length = strlen(text), needed = 0, written = 0;
    bool full = false;
    for (size_t at = 0; at < length;) {
        char escaped[ESCAPE_ROOM];
        size_t taken;
        uint32_t character = tdc_utf8_step(text + at, length - at, &taken);
        size_t piece_length = escape(text + at, character, taken, escaped);
        const char *piece = piece_length != 0 ? escaped : text + at;
        piece_length = piece_length != 0 ? piece_length : taken;
        needed += piece_length;
        full = full || needed >= size;
        if (!full) {
            memcpy(room + written, piece, piece_length);
            written = needed;
        }
        at += taken;
    }
    if (size != 0)
        room[written] = '\0';
    return needed;
}
