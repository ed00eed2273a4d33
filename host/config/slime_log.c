/* slime_log.c - the table of arguments in a log of slime. */
#include <string.h>

#include "host/config/training_log.h"
#include "io/base/error.h"
#include "io/text/pytext.h"

static const char opening[] = "------------------------ arguments ------------------------";
static const char closing[] = "-------------------- end of arguments ---------------------";

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static void trim(const char **from, const char **to)
{
    while (*from < *to && is_blank(**from))
        ++*from;
    while (*to > *from && is_blank((*to)[-1]))
        --*to;
}

/* The value of a text: truths and numbers are such. */
static struct tdc_json *value_of(struct tdc_arena *arena, const char *from, const char *to)
{
    struct tdc_json *value = tdc_arena_zeroed(arena, 1, sizeof *value);
    if (value == NULL)
        return NULL;
    value->length = (size_t)(to - from);
    value->text = tdc_arena_text(arena, from, value->length);
    if (value->text == NULL)
        return NULL;
    const char *digits = value->text + (*value->text == '-');
    bool whole = *digits != '\0' && digits[strspn(digits, "0123456789")] == '\0';
    const char *number = value->text + (*value->text == '+');
    bool point = number[strspn(number, "+-.0123456789eE")] == '\0';
    value->kind = TDC_JSON_STRING;
    if (strcmp(value->text, "True") == 0)
        value->kind = TDC_JSON_TRUE;
    else if (strcmp(value->text, "False") == 0)
        value->kind = TDC_JSON_FALSE;
    else if (whole && tdc_float_parse(value->text, value->length, &value->number))
        value->kind = TDC_JSON_INTEGER;
    else if (point && *number != '\0' && tdc_float_parse(number, strlen(number), &value->number))
        value->kind = TDC_JSON_FLOAT;
    if (value->kind == TDC_JSON_INTEGER) { /* as Python prints it: no zeros in front */
        size_t zeros = strspn(digits, "0");
        zeros -= digits[zeros] == '\0';
        bool minus = digits != value->text && digits[zeros] != '0';
        size_t left = strlen(digits + zeros);
        char *text = tdc_arena_take(arena, left + 2);
        if (text == NULL)
            return NULL;
        text[0] = '-';
        memcpy(text + minus, digits + zeros, left + 1);
        value->text = text;
        value->length = left + minus;
    }
    return value;
}

/* "  name ..... value": blanks, a name, blanks, dots, blanks, the rest. */
static bool split_line(const char *line, const char *end, const char **name, const char **name_end,
                       const char **value)
{
    if (line == end || !is_blank(*line))
        return false;
    for (const char *at = line + 1; at + 2 < end; at++) {
        if (!is_blank(at[0]) || at[1] != '.')
            continue;
        const char *dots = at + 1;
        while (dots < end && *dots == '.')
            dots++;
        if (dots == end || !is_blank(*dots))
            continue;
        *name = line;
        *name_end = at;
        *value = dots;
        return true;
    }
    return false;
}

static tdc_status add_line(const char *line, const char *end, struct tdc_arena *arena,
                           struct tdc_json *settings, struct tdc_json **last,
                           struct tdc_error *error)
{
    const char *name, *name_end, *value;
    if (!split_line(line, end, &name, &name_end, &value))
        return TDC_OK;
    trim(&name, &name_end);
    const char *to = end;
    trim(&value, &to);
    struct tdc_json *member = value_of(arena, value, to);
    char *key = tdc_arena_text(arena, name, (size_t)(name_end - name));
    if (member == NULL || key == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
    struct tdc_json *known = (struct tdc_json *)tdc_json_get(settings, key);
    if (known != NULL) { /* the last one counts, in the place of the first */
        struct tdc_json *next = known->next;
        member->key = known->key;
        member->key_length = known->key_length;
        *known = *member;
        known->next = next;
        return TDC_OK;
    }
    member->key = key;
    member->key_length = strlen(key);
    if (*last == NULL)
        settings->child = member;
    else
        (*last)->next = member;
    *last = member;
    settings->children++;
    return TDC_OK;
}

tdc_status tdc_slime_settings(const char *path, const char *log, size_t size,
                              struct tdc_arena *arena, struct tdc_json **settings,
                              struct tdc_error *error)
{
    const char *end = log + size;
    const char *from = memmem(log, size, opening, sizeof opening - 1);
    if (from == NULL)
        return tdc_fail(error, TDC_ERR_FORMAT, "Start arguments marker not found");
    from += sizeof opening - 1;
    const char *to = memmem(from, (size_t)(end - from), closing, sizeof closing - 1);
    if (to == NULL)
        return tdc_fail(error, TDC_ERR_FORMAT, "End arguments marker not found");
    const char *first = from, *last_character = to;
    trim(&first, &last_character);
    if (first == last_character)
        return tdc_fail(error, TDC_ERR_FORMAT,
                        "Failed extract config from %s: Extracted argument string is empty", path);
    *settings = tdc_arena_zeroed(arena, 1, sizeof **settings);
    if (*settings == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
    (*settings)->kind = TDC_JSON_OBJECT;
    struct tdc_json *last = NULL;
    tdc_status status = TDC_OK;
    while (from < to && status == TDC_OK) {
        const char *line_end = memchr(from, '\n', (size_t)(to - from));
        const char *next = line_end != NULL ? line_end + 1 : to;
        line_end = line_end != NULL ? line_end : to;
        while (line_end > from && is_blank(line_end[-1]))
            line_end--;
        status = add_line(from, line_end, arena, *settings, &last, error);
        from = next;
    }
    return status;
}
