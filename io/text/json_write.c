#include "io/text/json_write.h"

#include <math.h>
#include <string.h>

#include "io/base/utf8_step.h"
#include "io/text/pytext.h"

static void put_unit(struct tdc_text *out, unsigned unit)
{
    tdc_text_addf(out, "\\u%04x", unit);
}

/* A surrogate that came alone is kept by the reader as three bytes, which are no UTF-8. */
static bool lone_surrogate(const char *text, size_t length, unsigned *unit)
{
    const unsigned char *bytes = (const unsigned char *)text;
    if (length < 3 || bytes[0] != 0xed || (bytes[1] & 0xe0) != 0xa0 || (bytes[2] & 0xc0) != 0x80)
        return false;
    *unit = 0xd000u | (unsigned)(bytes[1] & 0x3f) << 6 | (bytes[2] & 0x3fu);
    return true;
}

static size_t put_other(struct tdc_text *out, const char *text, size_t length)
{
    unsigned unit;
    if (lone_surrogate(text, length, &unit)) {
        put_unit(out, unit);
        return 3;
    }
    size_t taken;
    uint32_t character = tdc_utf8_step(text, length, &taken);
    if (character >= 0x10000) {
        put_unit(out, 0xd800u | (character - 0x10000) >> 10);
        put_unit(out, 0xdc00u | (character & 0x3ff));
    } else {
        put_unit(out, character);
    }
    return taken;
}

void tdc_json_put_text(struct tdc_text *out, const char *text, size_t length)
{
    static const char marks[] = "\"\\\n\r\t\b\f", letters[] = "\"\\nrtbf";
    tdc_text_addc(out, '"');
    for (size_t at = 0; at < length;) {
        size_t plain = at;
        while (plain < length && text[plain] >= ' ' && text[plain] < 0x7f && text[plain] != '"' &&
               text[plain] != '\\')
            plain++;
        tdc_text_add(out, text + at, plain - at);
        at = plain;
        if (at == length)
            break;
        const char *mark = text[at] != '\0' ? strchr(marks, text[at]) : NULL;
        if (mark != NULL) {
            tdc_text_addc(out, '\\');
            tdc_text_addc(out, letters[mark - marks]);
            at++;
        } else if (text[at] == 0x7f) {
            tdc_text_addc(out, text[at++]);
        } else {
            at += put_other(out, text + at, length - at);
        }
    }
    tdc_text_addc(out, '"');
}

void tdc_json_put_float(struct tdc_text *out, double value)
{
    char text[TDC_FLOAT_TEXT];
    if (isfinite(value))
        tdc_text_add(out, text, tdc_float_repr(value, text));
    else
        tdc_text_adds(out, isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity");
}

void tdc_json_put_line(struct tdc_text *out, int indent, int depth)
{
    static const char blanks[] = "                                ";
    tdc_text_addc(out, '\n');
    for (int left = indent * depth; left > 0; left -= (int)sizeof blanks - 1) {
        size_t some = left < (int)sizeof blanks - 1 ? (size_t)left : sizeof blanks - 1;
        tdc_text_add(out, blanks, some);
    }
}

static void put_children(struct tdc_text *out, const struct tdc_json *value, int indent, int depth)
{
    bool object = value->kind == TDC_JSON_OBJECT;
    tdc_text_addc(out, object ? '{' : '[');
    for (const struct tdc_json *child = value->child; child != NULL; child = child->next) {
        if (child != value->child)
            tdc_text_adds(out, indent < 0 ? ", " : ",");
        if (indent >= 0)
            tdc_json_put_line(out, indent, depth + 1);
        if (object) {
            tdc_json_put_text(out, child->key, child->key_length);
            tdc_text_adds(out, ": ");
        }
        tdc_json_put_tree(out, child, indent, depth + 1);
    }
    if (value->child != NULL && indent >= 0)
        tdc_json_put_line(out, indent, depth);
    tdc_text_addc(out, object ? '}' : ']');
}

void tdc_json_put_tree(struct tdc_text *out, const struct tdc_json *value, int indent, int depth)
{
    switch (value->kind) {
    case TDC_JSON_NULL:
        tdc_text_adds(out, "null");
        break;
    case TDC_JSON_FALSE:
    case TDC_JSON_TRUE:
        tdc_text_adds(out, value->kind == TDC_JSON_TRUE ? "true" : "false");
        break;
    case TDC_JSON_INTEGER:
        tdc_text_add(out, value->text, value->length);
        break;
    case TDC_JSON_FLOAT:
        tdc_json_put_float(out, value->number);
        break;
    case TDC_JSON_STRING:
        tdc_json_put_text(out, value->text, value->length);
        break;
    case TDC_JSON_LIST:
    case TDC_JSON_OBJECT:
        put_children(out, value, indent, depth);
        break;
    }
}
