#include "io/text/json.h"
#include "io/text/json_scan.h"
#include "io/base/error.h"

void tdc_json_start(struct tdc_json_cursor *cursor, const char *name, const char *bytes,
                    size_t size)
{
    if (bytes == NULL)
        bytes = "";
    *cursor = (struct tdc_json_cursor){.start = bytes, .at = bytes, .end = bytes + size};
    cursor->name = name;
    if (size >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0)
        cursor->at += 3;
}

static enum tdc_json_kind number_kind(const char *at, const char *end)
{
    for (; at < end; at++) {
        if (*at == '.' || *at == 'e' || *at == 'E' || *at == 'I')
            return TDC_JSON_FLOAT;
        if (*at != '-' && (*at < '0' || *at > '9'))
            break;
    }
    return TDC_JSON_INTEGER;
}

enum tdc_json_kind tdc_json_peek(struct tdc_json_cursor *cursor)
{
    tdc_json_pass_space(cursor);
    if (cursor->at == cursor->end)
        return TDC_JSON_NULL;
    switch (*cursor->at) {
    case '{':
        return TDC_JSON_OBJECT;
    case '[':
        return TDC_JSON_LIST;
    case '"':
        return TDC_JSON_STRING;
    case 't':
        return TDC_JSON_TRUE;
    case 'f':
        return TDC_JSON_FALSE;
    case 'N':
    case 'I':
        return TDC_JSON_FLOAT;
    default:
        if (*cursor->at == '-' || (*cursor->at >= '0' && *cursor->at <= '9'))
            return number_kind(cursor->at, cursor->end);
        return TDC_JSON_NULL;
    }
}

tdc_status tdc_json_enter(struct tdc_json_cursor *cursor, struct tdc_error *error)
{
    tdc_json_pass_space(cursor);
    if (cursor->at == cursor->end)
        return tdc_json_wrong(cursor, "ends where an object is expected (truncated?)", error);
    if (*cursor->at != '{')
        return tdc_json_wrong(cursor, "expected an object", error);
    if (cursor->depth >= TDC_JSON_MAX_DEPTH)
        return tdc_fail(error, TDC_ERR_UNSUPPORTED, "%s: byte %zu: nested deeper than %d",
                        cursor->name, (size_t)(cursor->at - cursor->start), TDC_JSON_MAX_DEPTH);
    cursor->at++;
    cursor->depth++;
    return TDC_OK;
}

tdc_status tdc_json_member(struct tdc_json_cursor *cursor, bool *first, struct tdc_arena *arena,
                           const char **key, size_t *key_length, struct tdc_error *error)
{
    bool more = true;
    *key = NULL;
    *key_length = 0;
    if (*first) {
        tdc_json_pass_space(cursor);
        more = cursor->at == cursor->end || *cursor->at != '}';
        cursor->at += !more;
        *first = false;
    } else {
        tdc_status status = tdc_json_scan_next(cursor, '}', &more, error);
        if (status != TDC_OK)
            return status;
    }
    if (!more) {
        cursor->depth--;
        return TDC_OK;
    }
    struct tdc_json_scalar scalar;
    tdc_status status = tdc_json_scan_key(cursor, &scalar, error);
    if (status != TDC_OK)
        return status;
    char *text = tdc_arena_text(arena, scalar.raw, scalar.length);
    if (text == NULL)
        return tdc_json_no_memory(cursor, error);
    *key_length = scalar.length;
    if (scalar.escaped) {
        *key_length = tdc_json_unescape(&scalar, text);
        text[*key_length] = '\0';
    }
    *key = text;
    return TDC_OK;
}

tdc_status tdc_json_skip(struct tdc_json_cursor *cursor, struct tdc_error *error)
{
    char closing[TDC_JSON_MAX_DEPTH];
    size_t depth = 0;
    struct tdc_json_scalar scalar;
    tdc_status status;
    do {
        tdc_json_pass_space(cursor);
        char c = cursor->at < cursor->end ? *cursor->at : '\0';
        if (c == '{' || c == '[') {
            bool empty;
            status = tdc_json_scan_open(cursor, cursor->depth + depth, &empty, error);
            if (status == TDC_OK && !empty) {
                closing[depth++] = c == '{' ? '}' : ']';
                if (c == '{')
                    status = tdc_json_scan_key(cursor, &scalar, error);
                if (status == TDC_OK)
                    continue;
            }
        } else {
            status = tdc_json_scan_scalar(cursor, &scalar, error);
        }
        bool more = false;
        while (status == TDC_OK && depth > 0 && !more) {
            status = tdc_json_scan_next(cursor, closing[depth - 1], &more, error);
            depth -= !more;
        }
        if (status == TDC_OK && more && closing[depth - 1] == '}')
            status = tdc_json_scan_key(cursor, &scalar, error);
        if (status != TDC_OK)
            return status;
    } while (depth > 0);
    return TDC_OK;
}

tdc_status tdc_json_finish(struct tdc_json_cursor *cursor, struct tdc_error *error)
{
    tdc_json_pass_space(cursor);
    if (cursor->at != cursor->end)
        return tdc_json_wrong(cursor, "expected the end of the file", error);
    return TDC_OK;
}
