#include "io/text/pytext.h"
#include "io/text/unicode_printable.h"

#include <stdint.h>
#include <string.h>

static bool is_continuation(unsigned char c)
{
    return (c & 0xc0) == 0x80;
}

/*
 * Decodes one character, lone surrogates in their 3-byte form and the NUL of TDC_UTF8_NUL included;
 * returns its length. A byte
 * that begins no character is taken as Python's surrogateescape does: 0xdc00 + byte.
 */
static size_t decode(const char *text, size_t left, uint32_t *code)
{
    uint32_t first = (unsigned char)text[0];
    if (first < 0x80) {
        *code = first;
        return 1;
    }
    unsigned char bytes[4] = {0};
    memcpy(bytes, text, left < 4 ? left : 4);
    bool nul = first == 0xc0 && bytes[1] == 0x80;
    if (nul || (first >= 0xc2 && first < 0xe0 && is_continuation(bytes[1]))) {
        *code = (first & 0x1f) << 6 | (bytes[1] & 0x3fu);
        return 2;
    }
    if (first >= 0xe0 && first < 0xf0 && is_continuation(bytes[1]) && is_continuation(bytes[2])) {
        *code = (first & 0x0f) << 12 | (bytes[1] & 0x3fu) << 6 | (bytes[2] & 0x3fu);
        if (*code >= 0x800)
            return 3;
    }
    if (first >= 0xf0 && first < 0xf5 && is_continuation(bytes[1]) && is_continuation(bytes[2]) &&
        is_continuation(bytes[3])) {
        *code = (first & 0x07) << 18 | (bytes[1] & 0x3fu) << 12 | (bytes[2] & 0x3fu) << 6 |
                (bytes[3] & 0x3fu);
        if (*code >= 0x10000 && *code <= 0x10ffff)
            return 4;
    }
    *code = 0xdc00 + first;
    return 1;
}

static void add_escape(struct tdc_text *out, uint32_t code)
{
    static const char letters[] = "\n\t\r", names[] = "ntr";
    const char *letter = code != 0 && code < 0x80 ? strchr(letters, (int)code) : NULL;
    if (letter != NULL)
        tdc_text_addf(out, "\\%c", names[letter - letters]);
    else if (code < 0x100)
        tdc_text_addf(out, "\\x%02x", (unsigned)code);
    else if (code < 0x10000)
        tdc_text_addf(out, "\\u%04x", (unsigned)code);
    else
        tdc_text_addf(out, "\\U%08x", (unsigned)code);
}

static bool stays_as_it_is(uint32_t code, char quote)
{
    return code != '\\' && code != (unsigned char)quote && tdc_unicode_printable(code);
}

void tdc_pytext_repr_string(struct tdc_text *out, const char *text, size_t length)
{
    bool single_inside = length != 0 && memchr(text, '\'', length) != NULL;
    bool double_inside = length != 0 && memchr(text, '"', length) != NULL;
    char quote = single_inside && !double_inside ? '"' : '\'';
    tdc_text_addc(out, quote);
    size_t at = 0, plain_from = 0;
    while (at < length && !out->failed) {
        uint32_t code;
        size_t size = decode(text + at, length - at, &code);
        if (!stays_as_it_is(code, quote)) {
            tdc_text_add(out, text + plain_from, at - plain_from);
            if (code == '\\' || code == (unsigned char)quote)
                tdc_text_addf(out, "\\%c", (char)code);
            else
                add_escape(out, code);
            plain_from = at + size;
        }
        at += size;
    }
    if (plain_from < length)
        tdc_text_add(out, text + plain_from, length - plain_from);
    tdc_text_addc(out, quote);
}

static void add_scalar(struct tdc_text *out, const struct tdc_json *value)
{
    char number[TDC_FLOAT_TEXT];
    switch (value->kind) {
    case TDC_JSON_NULL:
        tdc_text_adds(out, "None");
        break;
    case TDC_JSON_FALSE:
        tdc_text_adds(out, "False");
        break;
    case TDC_JSON_TRUE:
        tdc_text_adds(out, "True");
        break;
    case TDC_JSON_INTEGER:
        tdc_text_add(out, value->text, value->length);
        break;
    case TDC_JSON_FLOAT:
        tdc_text_add(out, number, tdc_float_repr(value->number, number));
        break;
    case TDC_JSON_STRING:
        tdc_pytext_repr_string(out, value->text, value->length);
        break;
    case TDC_JSON_LIST:
    case TDC_JSON_OBJECT:
        break;
    }
}

static bool is_container(const struct tdc_json *value)
{
    return value->kind == TDC_JSON_LIST || value->kind == TDC_JSON_OBJECT;
}

/* The way back up is kept beside the tree, whose nodes do not know their parents: 8 kB of stack. */
static void add_container(struct tdc_text *out, const struct tdc_json *root)
{
    const struct tdc_json *open[TDC_JSON_MAX_DEPTH];
    size_t depth = 0;
    const struct tdc_json *value = root;
    while (!out->failed) {
        const struct tdc_json *down = NULL;
        if (is_container(value)) {
            tdc_text_addc(out, value->kind == TDC_JSON_OBJECT ? '{' : '[');
            if (depth == TDC_JSON_MAX_DEPTH) {
                out->failed = true; /* no tree of tdc_json_read is that deep */
                return;
            }
            open[depth++] = value;
            down = value->child;
        } else {
            add_scalar(out, value);
            down = depth > 0 ? value->next : NULL;
            if (down != NULL)
                tdc_text_add(out, ", ", 2);
        }
        while (down == NULL) {
            if (depth == 0)
                return;
            const struct tdc_json *closed = open[--depth];
            tdc_text_addc(out, closed->kind == TDC_JSON_OBJECT ? '}' : ']');
            down = depth > 0 ? closed->next : NULL;
            if (down != NULL)
                tdc_text_add(out, ", ", 2);
        }
        if (open[depth - 1]->kind == TDC_JSON_OBJECT) {
            tdc_pytext_repr_string(out, down->key, down->key_length);
            tdc_text_add(out, ": ", 2);
        }
        value = down;
    }
}

void tdc_pytext_str(struct tdc_text *out, const struct tdc_json *value)
{
    if (value->kind == TDC_JSON_STRING)
        tdc_text_add(out, value->text, value->length);
    else if (is_container(value))
        add_container(out, value);
    else
        add_scalar(out, value);
}
