#include "io/table/xlsx_markup.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void tdc_markup_start(struct tdc_markup *markup, const char *text, size_t length)
{
    *markup = (struct tdc_markup){.at = text, .end = text + length};
}

static const char *find(const char *at, const char *end, char wanted)
{
    return at < end ? memchr(at, wanted, (size_t)(end - at)) : NULL;
}

/* The end of a tag: a > inside of quotes is content. */
static const char *tag_end(const char *at, const char *end)
{
    for (char quote = '\0'; at < end; at++) {
        if (quote != '\0')
            quote = *at == quote ? '\0' : quote;
        else if (*at == '"' || *at == '\'')
            quote = *at;
        else if (*at == '>')
            return at;
    }
    return NULL;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

bool tdc_markup_next(struct tdc_markup *markup)
{
    for (;;) {
        const char *open = find(markup->at, markup->end, '<');
        const char *close = open != NULL ? tag_end(open + 1, markup->end) : NULL;
        if (close == NULL)
            return false;
        markup->at = close + 1;
        if (open[1] == '?' || open[1] == '!')
            continue;
        const char *name = open + 1, *stop = close;
        markup->closes = *name == '/';
        name += markup->closes;
        markup->empty = stop > name && stop[-1] == '/';
        stop -= markup->empty;
        const char *after = name;
        while (after < stop && !is_blank(*after))
            after++;
        const char *colon = find(name, after, ':');
        markup->name = colon != NULL ? colon + 1 : name;
        markup->name_length = (size_t)(after - markup->name);
        markup->attributes = after;
        markup->attributes_end = stop;
        markup->text = close + 1;
        markup->text_end = find(markup->at, markup->end, '<');
        if (markup->text_end == NULL)
            markup->text_end = markup->end;
        return true;
    }
}

bool tdc_markup_is(const struct tdc_markup *markup, const char *name)
{
    return strlen(name) == markup->name_length && memcmp(markup->name, name, strlen(name)) == 0;
}

bool tdc_markup_attribute(const struct tdc_markup *markup, const char *name, const char **value,
                          size_t *length)
{
    const char *at = markup->attributes, *end = markup->attributes_end;
    while (at < end) {
        while (at < end && is_blank(*at))
            at++;
        const char *equals = find(at, end, '=');
        if (equals == NULL || end - equals < 2)
            return false;
        const char *stop = find(equals + 2, end, equals[1]);
        if (stop == NULL)
            return false;
        if ((size_t)(equals - at) == strlen(name) && memcmp(at, name, strlen(name)) == 0) {
            *value = equals + 2;
            *length = (size_t)(stop - equals - 2);
            return true;
        }
        at = stop + 1;
    }
    return false;
}

/* ---- text ------------------------------------------------------------------------------------ */

static void add_character(struct tdc_text *out, uint32_t c)
{
    char bytes[4];
    size_t count = 0;
    if (c < 0x80) {
        bytes[count++] = (char)c;
    } else if (c < 0x800) {
        bytes[count++] = (char)(0xc0 | c >> 6);
        bytes[count++] = (char)(0x80 | (c & 0x3f));
    } else if (c < 0x10000) {
        bytes[count++] = (char)(0xe0 | c >> 12);
        bytes[count++] = (char)(0x80 | (c >> 6 & 0x3f));
        bytes[count++] = (char)(0x80 | (c & 0x3f));
    } else if (c < 0x110000) {
        bytes[count++] = (char)(0xf0 | c >> 18);
        bytes[count++] = (char)(0x80 | (c >> 12 & 0x3f));
        bytes[count++] = (char)(0x80 | (c >> 6 & 0x3f));
        bytes[count++] = (char)(0x80 | (c & 0x3f));
    }
    if (c != 0)
        tdc_text_add(out, bytes, count);
}

/* The entity at an ampersand and the bytes it takes; 0: none. */
static size_t entity_at(const char *at, size_t length, uint32_t *character)
{
    static const struct {
        const char *text;
        uint32_t character;
    } named[] = {{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}};
    for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
        size_t taken = strlen(named[i].text);
        if (length >= taken && memcmp(at, named[i].text, taken) == 0) {
            *character = named[i].character;
            return taken;
        }
    }
    const char *end = memchr(at, ';', length < 12 ? length : 12);
    if (end == NULL || length < 4 || at[1] != '#')
        return 0;
    bool hexadecimal = at[2] == 'x';
    char digits[12] = "";
    memcpy(digits, at + 2 + hexadecimal, (size_t)(end - at) - 2 - hexadecimal);
    *character = (uint32_t)strtoul(digits, NULL, hexadecimal ? 16 : 10);
    return (size_t)(end - at) + 1;
}

/* _xHHHH_ */
static bool escape_at(const char *at, size_t length, uint32_t *character)
{
    if (length < 7 || at[1] != 'x' || at[6] != '_')
        return false;
    char digits[5] = {at[2], at[3], at[4], at[5], '\0'}, *end;
    *character = (uint32_t)strtoul(digits, &end, 16);
    return *end == '\0' && digits[0] != '-' && digits[0] != '+' && !is_blank(digits[0]);
}

void tdc_markup_add_text(struct tdc_text *out, const char *text, size_t length)
{
    for (size_t at = 0; at < length;) {
        size_t plain = at;
        while (plain < length && text[plain] != '&' && text[plain] != '_')
            plain++;
        tdc_text_add(out, text + at, plain - at);
        at = plain;
        if (at == length)
            break;
        uint32_t character;
        size_t taken = text[at] == '&' ? entity_at(text + at, length - at, &character)
                                       : 7u * escape_at(text + at, length - at, &character);
        if (taken != 0)
            add_character(out, character);
        else
            tdc_text_addc(out, text[at]);
        at += taken != 0 ? taken : 1;
    }
}
