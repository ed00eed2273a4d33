/* layer_function.c - which function of the framework a call went through, from its stack
 * (docs/msprobe.md#layer-mapping). */
#include <string.h>

#include "host/match/layer/layer.h"
#include "io/text/json.h"

static bool contains_any(const char *text, size_t length, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (memmem(text, length, words[i], strlen(words[i])) != NULL)
            return true;
    return false;
}

/* A field of a line between commas; NULL if the line has fewer. */
static const char *field(const char *line, size_t line_length, int index, size_t *length)
{
    const char *end = line + line_length;
    for (; index > 0; index--) {
        line = memchr(line, ',', (size_t)(end - line));
        if (line == NULL)
            return NULL;
        line++;
    }
    const char *comma = memchr(line, ',', (size_t)(end - line));
    *length = (size_t)((comma != NULL ? comma : end) - line);
    return line;
}

static bool ends_scope(const struct tdc_json *line, bool mindspore)
{
    if (mindspore)
        return strstr(line->text, "construct") != NULL;
    return strstr(line->text, "in forward,") != NULL || strstr(line->text, "in backward,") != NULL;
}

/* The lines after the last "Template" up to the end sign that follows it; all lines without one. */
static void regard(const struct tdc_json *lines, bool mindspore, const struct tdc_json **first,
                   const struct tdc_json **end)
{
    bool started = false;
    *first = lines->child;
    *end = NULL;
    for (const struct tdc_json *line = lines->child; line != NULL; line = line->next) {
        if (line->kind != TDC_JSON_STRING)
            continue;
        if (strstr(line->text, "Template") != NULL) {
            started = true;
            *first = line->next;
        } else if (started && ends_scope(line, mindspore)) {
            *end = line;
            break;
        }
    }
}

/* The name in "in NAME" of a frame's third field. */
static const char *second_word(struct tdc_arena *arena, const char *text, size_t length)
{
    size_t at = 0;
    for (int word = 0;; word++) {
        while (at < length && strchr(" \t\n\r\v\f", text[at]) != NULL)
            at++;
        size_t start = at;
        while (at < length && strchr(" \t\n\r\v\f", text[at]) == NULL)
            at++;
        if (at == start)
            return NULL;
        if (word == 1)
            return tdc_arena_text(arena, text + start, at - start);
    }
}

const char *tdc_framework_function(struct tdc_arena *arena, const struct tdc_json *lines,
                                   bool mindspore)
{
    static const char *const frame_files[] = {"site-packages/torch", "package/torch",
                                              "site-packages/mindspore", "package/mindspore"};
    static const char *const skipped_files[] = {"msprobe", "MindSpeed"};
    static const char *const skipped_functions[] = {"construct", "__call__"};
    if (lines->kind != TDC_JSON_LIST)
        return NULL;
    const struct tdc_json *first, *end, *entrance = NULL;
    regard(lines, mindspore, &first, &end);
    for (const struct tdc_json *line = first; line != end && line != NULL; line = line->next) {
        size_t length;
        const char *file =
            line->kind == TDC_JSON_STRING ? field(line->text, line->length, 0, &length) : NULL;
        if (file == NULL || !contains_any(file, length, frame_files, 4))
            break;
        entrance = line;
    }
    if (entrance == NULL)
        return NULL;
    size_t file_length, function_length;
    const char *file = field(entrance->text, entrance->length, 0, &file_length);
    const char *function = field(entrance->text, entrance->length, 2, &function_length);
    if (function == NULL || contains_any(file, file_length, skipped_files, 2) ||
        contains_any(function, function_length, skipped_functions, 2))
        return NULL;
    return second_word(arena, function, function_length);
}
