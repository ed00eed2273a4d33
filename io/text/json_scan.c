#include "io/text/json_scan.h"
#include "io/base/error.h"

#include <math.h>
#include <stdio.h>

#define ONES  UINT64_C(0x0101010101010101)
#define HIGHS UINT64_C(0x8080808080808080)

tdc_status tdc_json_wrong(struct tdc_json_cursor *cursor, const char *what, struct tdc_error *error)
{
    size_t line = 1, column = 1;
    const char *line_start = cursor->start;
    cursor->ended = cursor->at == cursor->end;
    for (;;) {
        size_t left = (size_t)(cursor->at - line_start);
        const char *feed = left == 0 ? NULL : memchr(line_start, '\n', left);
        if (feed == NULL)
            break;
        line++;
        line_start = feed + 1;
    }
    for (const char *at = line_start; at < cursor->at; at++)
        column += ((unsigned char)*at & 0xc0) != 0x80;
    return tdc_fail(error, TDC_ERR_FORMAT, "%s: line %zu column %zu: %s", cursor->name, line,
                    column, what);
}

tdc_status tdc_json_ended(struct tdc_json_cursor *cursor, const char *what, struct tdc_error *error)
{
    char text[80];
    struct tdc_json_cursor end = *cursor;
    end.at = end.end;
    snprintf(text, sizeof text, "ends in the middle of %s (truncated?)", what);
    cursor->ended = true;
    return tdc_json_wrong(&end, text, error);
}

tdc_status tdc_json_no_memory(const struct tdc_json_cursor *cursor, struct tdc_error *error)
{
    return tdc_fail(error, TDC_ERR_MEMORY, "%s: too large for the memory limit (at byte %zu)",
                    cursor->name, (size_t)(cursor->at - cursor->start));
}

/* High bit set in the lowest byte of word that equals c; bytes above a hit may be marked, too. */
static uint64_t bytes_equal(uint64_t word, char c)
{
    uint64_t difference = word ^ (ONES * (unsigned char)c);
    return (difference - ONES) & ~difference & HIGHS;
}

const char *tdc_json_pass_plain(const char *at, const char *end)
{
    for (; end - at >= 8; at += 8) {
        uint64_t word = tdc_json_load(at);
        uint64_t special = bytes_equal(word, '"') | bytes_equal(word, '\\') |
                           ((word - ONES * 0x20) & ~word & HIGHS) | (word & HIGHS);
        if (special != 0)
            return at + __builtin_ctzll(special) / 8;
    }
    while (at < end && *at != '"' && *at != '\\' && (unsigned char)(*at - 0x20) < 0x60)
        at++;
    return at;
}

static bool is_continuation(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

/* Length of the UTF-8 character at a byte beyond ASCII: 0 if it is not one, -1 if the input ends
 * inside of it. */
static int character_length(const char *at, const char *end)
{
    unsigned char first = (unsigned char)at[0];
    int length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4)
        return 0;
    int available = end - at < length ? (int)(end - at) : length;
    if (available > 1) {
        unsigned char second = (unsigned char)at[1];
        /* overlong forms, surrogates, beyond U+10FFFF */
        if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
            (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f))
            return 0;
    }
    for (int i = 1; i < available; i++)
        if (!is_continuation(at[i]))
            return 0;
    return available < length ? -1 : length;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static tdc_status scan_escape(struct tdc_json_cursor *cursor, struct tdc_error *error)
{
    const char *at = cursor->at + 1;
    if (at == cursor->end)
        return tdc_json_ended(cursor, "a string", error);
    if (*at != 'u') {
        if (*at == '\0' || strchr("\"\\/bfnrt", *at) == NULL)
            return tdc_json_wrong(cursor, "unknown escape in a string", error);
        cursor->at = at + 1;
        return TDC_OK;
    }
    for (int i = 1; i <= 4; i++) {
        if (at + i == cursor->end)
            return tdc_json_ended(cursor, "a string", error);
        if (hex_digit(at[i]) < 0)
            return tdc_json_wrong(cursor, "malformed \\u escape in a string", error);
    }
    cursor->at = at + 5;
    return TDC_OK;
}

/* Whatever tdc_json_pass_plain stopped at but the closing quote. */
static tdc_status scan_special(struct tdc_json_cursor *cursor, struct tdc_error *error)
{
    if (cursor->at == cursor->end)
        return tdc_json_ended(cursor, "a string", error);
    if (*cursor->at == '\\')
        return scan_escape(cursor, error);
    if ((unsigned char)*cursor->at < 0x20)
        return tdc_json_wrong(cursor, "control character in a string", error);
    int length = character_length(cursor->at, cursor->end);
    if (length < 0)
        return tdc_json_ended(cursor, "a string", error);
    if (length == 0)
        return tdc_fail(error, TDC_ERR_FORMAT, "%s: byte %zu: not valid UTF-8", cursor->name,
                        (size_t)(cursor->at - cursor->start));
    cursor->at += length;
    return TDC_OK;
}

static tdc_status scan_string(struct tdc_json_cursor *cursor, struct tdc_json_scalar *scalar,
                              struct tdc_error *error)
{
    scalar->kind = TDC_JSON_STRING;
    scalar->escaped = false;
    scalar->raw = ++cursor->at;
    for (;;) {
        cursor->at = tdc_json_pass_plain(cursor->at, cursor->end);
        if (cursor->at < cursor->end && *cursor->at == '"')
            break;
        scalar->escaped |= cursor->at < cursor->end && *cursor->at == '\\';
        tdc_status status = scan_special(cursor, error);
        if (status != TDC_OK)
            return status;
    }
    scalar->length = (size_t)(cursor->at - scalar->raw);
    cursor->at++;
    return TDC_OK;
}

static tdc_status scan_number(struct tdc_json_cursor *cursor, struct tdc_json_scalar *scalar,
                              struct tdc_error *error)
{
    const char *first = cursor->at;
    const char *end = tdc_decimal_scan(first, cursor->end, &scalar->decimal);
    const struct tdc_decimal *decimal = &scalar->decimal;
    bool whole = decimal->whole_digits != 0;
    bool leading_zero = decimal->whole_digits > 1 && first[decimal->negative] == '0';
    bool fraction = !decimal->point || decimal->fraction_digits != 0;
    bool power = !decimal->power || decimal->power_digits != 0;
    if (!whole || leading_zero || !fraction || !power) {
        bool last_part_missing = decimal->power   ? whole && fraction
                                 : decimal->point ? whole
                                                  : !whole;
        if (end == cursor->end && last_part_missing && !leading_zero)
            return tdc_json_ended(cursor, "a number", error);
        return tdc_json_wrong(cursor, "malformed number", error);
    }
    scalar->kind = decimal->point || decimal->power ? TDC_JSON_FLOAT : TDC_JSON_INTEGER;
    scalar->word = false;
    scalar->raw = first;
    scalar->length = (size_t)(end - first);
    cursor->at = end;
    return TDC_OK;
}

static tdc_status scan_word(struct tdc_json_cursor *cursor, struct tdc_json_scalar *scalar,
                            struct tdc_error *error)
{
    static const struct {
        const char *text;
        unsigned char length;
        enum tdc_json_kind kind;
        double number;
    } words[] = {
        {"null", 4, TDC_JSON_NULL, 0},
        {"true", 4, TDC_JSON_TRUE, 0},
        {"false", 5, TDC_JSON_FALSE, 0},
        {"NaN", 3, TDC_JSON_FLOAT, NAN},
        {"Infinity", 8, TDC_JSON_FLOAT, HUGE_VAL},
        {"-Infinity", 9, TDC_JSON_FLOAT, -HUGE_VAL},
    };
    size_t left = (size_t)(cursor->end - cursor->at);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t length = words[i].length;
        if (memcmp(cursor->at, words[i].text, left < length ? left : length) != 0)
            continue;
        if (left < length)
            return tdc_json_ended(cursor, "a word", error);
        scalar->kind = words[i].kind;
        scalar->word = true;
        scalar->word_number = words[i].number;
        scalar->raw = cursor->at;
        scalar->length = length;
        cursor->at += length;
        return TDC_OK;
    }
    return tdc_json_wrong(cursor, "expected a value", error);
}

tdc_status tdc_json_scan_scalar(struct tdc_json_cursor *cursor, struct tdc_json_scalar *scalar,
                                struct tdc_error *error)
{
    if (cursor->at == cursor->end)
        return tdc_json_wrong(cursor, "ends where a value is expected (truncated?)", error);
    char c = *cursor->at;
    if (c == '"')
        return scan_string(cursor, scalar, error);
    bool minus_infinity = c == '-' && cursor->end - cursor->at > 1 && cursor->at[1] == 'I';
    if ((c >= '0' && c <= '9') || (c == '-' && !minus_infinity))
        return scan_number(cursor, scalar, error);
    return scan_word(cursor, scalar, error);
}

tdc_status tdc_json_scan_key(struct tdc_json_cursor *cursor, struct tdc_json_scalar *key,
                             struct tdc_error *error)
{
    tdc_json_pass_space(cursor);
    if (cursor->at == cursor->end)
        return tdc_json_ended(cursor, "an object", error);
    if (*cursor->at != '"')
        return tdc_json_wrong(cursor, "expected a key in double quotes", error);
    tdc_status status = scan_string(cursor, key, error);
    if (status != TDC_OK)
        return status;
    tdc_json_pass_space(cursor);
    if (cursor->at == cursor->end)
        return tdc_json_ended(cursor, "an object", error);
    if (*cursor->at != ':')
        return tdc_json_wrong(cursor, "expected a colon", error);
    cursor->at++;
    return TDC_OK;
}

tdc_status tdc_json_scan_open(struct tdc_json_cursor *cursor, size_t depth, bool *empty,
                              struct tdc_error *error)
{
    char closing = *cursor->at == '{' ? '}' : ']';
    if (depth >= TDC_JSON_MAX_DEPTH)
        return tdc_fail(error, TDC_ERR_UNSUPPORTED, "%s: byte %zu: nested deeper than %d",
                        cursor->name, (size_t)(cursor->at - cursor->start), TDC_JSON_MAX_DEPTH);
    cursor->at++;
    tdc_json_pass_space(cursor);
    if (cursor->at == cursor->end)
        return tdc_json_ended(cursor, closing == '}' ? "an object" : "a list", error);
    *empty = *cursor->at == closing;
    if (*empty)
        cursor->at++;
    return TDC_OK;
}

tdc_status tdc_json_scan_next(struct tdc_json_cursor *cursor, char closing, bool *more,
                              struct tdc_error *error)
{
    tdc_json_pass_space(cursor);
    bool object = closing == '}';
    if (cursor->at == cursor->end)
        return tdc_json_ended(cursor, object ? "an object" : "a list", error);
    *more = *cursor->at == ',';
    if (!*more && *cursor->at != closing)
        return tdc_json_wrong(cursor,
                              object ? "expected a comma or a closing brace"
                                     : "expected a comma or a closing bracket",
                              error);
    cursor->at++;
    return TDC_OK;
}

static uint32_t four_hex_digits(const char *at)
{
    uint32_t code = 0;
    for (int i = 0; i < 4; i++)
        code = code << 4 | (uint32_t)hex_digit(at[i]);
    return code;
}

/* NUL takes the two bytes that TDC_UTF8_NUL is, so that no name ends before its time. */
static char *write_character(char *to, uint32_t code)
{
    if (code != 0 && code < 0x80) {
        *to++ = (char)code;
    } else if (code < 0x800) {
        *to++ = (char)(0xc0 | code >> 6);
        *to++ = (char)(0x80 | (code & 0x3f));
    } else if (code < 0x10000) {
        *to++ = (char)(0xe0 | code >> 12);
        *to++ = (char)(0x80 | (code >> 6 & 0x3f));
        *to++ = (char)(0x80 | (code & 0x3f));
    } else {
        *to++ = (char)(0xf0 | code >> 18);
        *to++ = (char)(0x80 | (code >> 12 & 0x3f));
        *to++ = (char)(0x80 | (code >> 6 & 0x3f));
        *to++ = (char)(0x80 | (code & 0x3f));
    }
    return to;
}

size_t tdc_json_unescape(const struct tdc_json_scalar *scalar, char *text)
{
    static const char letters[] = "bfnrt", meanings[] = "\b\f\n\r\t";
    const char *at = scalar->raw, *end = scalar->raw + scalar->length;
    char *to = text;
    while (at < end) {
        if (*at != '\\') {
            *to++ = *at++;
            continue;
        }
        char c = at[1];
        at += 2;
        if (c != 'u') {
            const char *letter = strchr(letters, c);
            *to++ = letter == NULL ? c : meanings[letter - letters];
            continue;
        }
        uint32_t code = four_hex_digits(at);
        at += 4;
        if ((code & 0xfc00) == 0xd800 && end - at >= 6 && at[0] == '\\' && at[1] == 'u') {
            uint32_t low = four_hex_digits(at + 2);
            if ((low & 0xfc00) == 0xdc00) {
                code = 0x10000 + ((code & 0x3ff) << 10) + (low & 0x3ff);
                at += 6;
            }
        }
        to = write_character(to, code);
    }
    return (size_t)(to - text);
}
