#include "host/config/python_literal.h"

#include <string.h>

#include "io/text/pytext.h"

#define DEPTH_LIMIT 200

struct reading {
    const char *at, *end;
    struct tdc_arena *arena; /* NULL: nothing is built, and names are values */
    bool memory;
    int depth;
};

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static void skip_blanks(struct reading *reading)
{
    while (reading->at < reading->end && is_blank(*reading->at))
        reading->at++;
}

static bool take(struct reading *reading, char c)
{
    skip_blanks(reading);
    if (reading->at == reading->end || *reading->at != c)
        return false;
    reading->at++;
    return true;
}

/* A node without an arena is one that everybody shares and nobody reads. */
static struct tdc_json *make(struct reading *reading, enum tdc_json_kind kind)
{
    static struct tdc_json shared;
    if (reading->arena == NULL)
        return &shared;
    struct tdc_json *value = tdc_arena_zeroed(reading->arena, 1, sizeof *value);
    if (value != NULL)
        value->kind = kind;
    reading->memory |= value == NULL;
    return value;
}

/* ---- texts ----------------------------------------------------------------------------------- */

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* A code point as UTF-8; returns its length. */
static size_t put_point(char *to, unsigned long point)
{
    if (point < 0x80) {
        to[0] = (char)point;
        return 1;
    }
    size_t length = point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    static const unsigned char heads[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = length; i-- > 1; point >>= 6)
        to[i] = (char)(0x80 | (point & 0x3f));
    to[0] = (char)(heads[length] | point);
    return length;
}

/* What follows a backslash: at most 4 bytes to `to`. */
static bool take_escape(struct reading *reading, char *to, size_t *length)
{
    static const char names[] = "abfnrtv\\'\"", values[] = "\a\b\f\n\r\t\v\\'\"";
    char c = *reading->at++;
    const char *name = strchr(names, c);
    *length = 1;
    if (name != NULL && c != '\0') {
        to[0] = values[name - names];
        return true;
    }
    int digits = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
    if (digits == 0) { /* unknown escapes stand for themselves */
        to[0] = '\\';
        to[1] = c;
        *length = 2;
        return true;
    }
    unsigned long point = 0;
    for (; digits > 0 && reading->at < reading->end; digits--) {
        int digit = hex_digit(*reading->at++);
        if (digit < 0)
            return false;
        point = point * 16 + (unsigned long)digit;
    }
    if (digits != 0 || point == 0 || point > 0x10ffff)
        return false;
    *length = put_point(to, point);
    return true;
}

static struct tdc_json *read_text(struct reading *reading)
{
    char quote = *reading->at++;
    struct tdc_json *value = make(reading, TDC_JSON_STRING);
    const char *stop = reading->at;
    while (stop < reading->end && *stop != quote)
        stop += *stop == '\\' && stop + 1 < reading->end ? 2 : 1;
    if (stop >= reading->end || value == NULL)
        return NULL;
    char *room = NULL;
    if (reading->arena != NULL) {
        room = tdc_arena_take(reading->arena, (size_t)(stop - reading->at) * 2 + 1);
        reading->memory |= room == NULL;
        if (room == NULL)
            return NULL;
    }
    size_t used = 0;
    while (reading->at < stop) {
        char bytes[4];
        size_t length = 1;
        bytes[0] = *reading->at++;
        if (bytes[0] == '\n' || (bytes[0] == '\\' && !take_escape(reading, bytes, &length)))
            return NULL;
        if (room != NULL)
            memcpy(room + used, bytes, length);
        used += length;
    }
    reading->at = stop + 1;
    if (room != NULL) {
        room[used] = '\0';
        value->text = room;
        value->length = used;
    }
    return value;
}

/* Texts side by side are one. */
static struct tdc_json *read_texts(struct reading *reading)
{
    struct tdc_json *whole = read_text(reading);
    for (skip_blanks(reading); whole != NULL && reading->at < reading->end &&
                               (*reading->at == '\'' || *reading->at == '"');
         skip_blanks(reading)) {
        const struct tdc_json *more = read_text(reading);
        if (more == NULL)
            return NULL;
        if (reading->arena == NULL)
            continue;
        char *joined = tdc_arena_take(reading->arena, whole->length + more->length + 1);
        reading->memory |= joined == NULL;
        if (joined == NULL)
            return NULL;
        memcpy(joined, whole->text, whole->length);
        memcpy(joined + whole->length, more->text, more->length + 1);
        whole->text = joined;
        whole->length += more->length;
    }
    return whole;
}

/* ---- other values ---------------------------------------------------------------------------- */

static bool in_word(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           c == '.' || (unsigned char)c >= 0x80;
}

static struct tdc_json *read_number(struct reading *reading, const char *start)
{
    size_t length = (size_t)(reading->at - start);
    const char *digits = start + (*start == '-' || *start == '+');
    size_t whole = 0;
    while (digits + whole < reading->at && digits[whole] >= '0' && digits[whole] <= '9')
        whole++;
    bool integer = whole != 0 && digits + whole == reading->at;
    struct tdc_json *value = make(reading, integer ? TDC_JSON_INTEGER : TDC_JSON_FLOAT);
    double number;
    const char *from = *start == '+' ? start + 1 : start;
    if (value == NULL || whole + (*digits == '.') == 0 ||
        !tdc_float_parse(from, length - (size_t)(from - start), &number))
        return NULL;
    if (reading->arena == NULL)
        return value;
    while (integer && digits[0] == '0' && digits + 1 < reading->at)
        digits++;
    bool negative = *start == '-' && !(integer && digits[0] == '0');
    size_t shown = integer ? (size_t)(reading->at - digits) : length - (size_t)(from - start);
    char *text = tdc_arena_take(reading->arena, shown + 2);
    reading->memory |= text == NULL;
    if (text == NULL)
        return NULL;
    size_t sign = integer && negative;
    text[0] = '-';
    memcpy(text + sign, integer ? digits : from, shown);
    text[sign + shown] = '\0';
    value->text = text;
    value->length = sign + shown;
    value->number = number;
    return value;
}

static struct tdc_json *read_word(struct reading *reading)
{
    const char *start = reading->at;
    reading->at += *start == '-' || *start == '+';
    while (reading->at < reading->end &&
           (in_word(*reading->at) ||
            ((*reading->at == '-' || *reading->at == '+') &&
             (reading->at[-1] == 'e' || reading->at[-1] == 'E') && *start <= '9')))
        reading->at++;
    size_t length = (size_t)(reading->at - start);
    if (length == 4 && memcmp(start, "None", 4) == 0)
        return make(reading, TDC_JSON_NULL);
    if (length == 4 && memcmp(start, "True", 4) == 0)
        return make(reading, TDC_JSON_TRUE);
    if (length == 5 && memcmp(start, "False", 5) == 0)
        return make(reading, TDC_JSON_FALSE);
    if (length == 0)
        return NULL;
    bool name = (*start >= 'a' && *start <= 'z') || (*start >= 'A' && *start <= 'Z') ||
                *start == '_' || (unsigned char)*start >= 0x80;
    if (name)
        return reading->arena == NULL ? make(reading, TDC_JSON_NULL) : NULL;
    return read_number(reading, start);
}

static struct tdc_json *read_value(struct reading *reading);

/* The elements up to the closing bracket; of a dict each with its key. */
static bool read_items(struct reading *reading, struct tdc_json *into, char close, bool dict)
{
    struct tdc_json **end = &into->child;
    while (!take(reading, close)) {
        struct tdc_json *key = dict ? read_value(reading) : NULL;
        if (dict && (key == NULL || !take(reading, ':')))
            return false;
        struct tdc_json *item = read_value(reading);
        if (item == NULL)
            return false;
        skip_blanks(reading);
        bool more = take(reading, ',');
        if (!more && (reading->at == reading->end || *reading->at != close))
            return false;
        if (reading->arena == NULL)
            continue;
        if (dict && key->text == NULL && key->kind != TDC_JSON_STRING)
            return false; /* a key that is no text and no number */
        item->key = dict ? key->text : NULL;
        item->key_length = dict ? key->length : 0;
        *end = item;
        end = &item->next;
        into->children++;
    }
    return true;
}

static struct tdc_json *read_value(struct reading *reading)
{
    skip_blanks(reading);
    if (reading->at == reading->end || reading->depth > DEPTH_LIMIT)
        return NULL;
    char first = *reading->at;
    if (first == '\'' || first == '"')
        return read_texts(reading);
    if (first != '{' && first != '[' && first != '(')
        return read_word(reading);
    reading->at++;
    struct tdc_json *value = make(reading, first == '{' ? TDC_JSON_OBJECT : TDC_JSON_LIST);
    if (value == NULL)
        return NULL;
    reading->depth++;
    bool good = read_items(reading, value,
                           first == '{'   ? '}'
                           : first == '[' ? ']'
                                          : ')',
                           first == '{');
    reading->depth--;
    return good ? value : NULL;
}

struct tdc_json *tdc_python_literal(const char *text, size_t length, struct tdc_arena *arena,
                                    bool *memory)
{
    struct reading reading = {.at = text, .end = text + length, .arena = arena};
    struct tdc_json *value = read_value(&reading);
    skip_blanks(&reading);
    *memory = reading.memory;
    return value != NULL && reading.at == reading.end ? value : NULL;
}

bool tdc_python_readable(const char *text, size_t length)
{
    struct reading reading = {.at = text, .end = text + length};
    const struct tdc_json *value = read_value(&reading);
    skip_blanks(&reading);
    return value != NULL && reading.at == reading.end;
}
