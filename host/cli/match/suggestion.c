#include "host/cli/match/suggestion.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Length up to the colon that ends the name; quotes of yaml are stepped over. */
static size_t key_length(const char *line)
{
    char quote = '\0';
    for (const char *at = line; *at != '\0'; at++) {
        if (quote == '"' && *at == '\\' && at[1] != '\0')
            at++;
        else if (quote != '\0')
            quote = *at == quote ? '\0' : quote;
        else if (*at == '\'' || *at == '"')
            quote = *at;
        else if (*at == ':')
            return (size_t)(at - line);
    }
    return strlen(line);
}

static bool add_line(struct tdc_suggestion *suggestion, const char *section, size_t section_length,
                     const char *line, size_t length)
{
    if (suggestion->count == suggestion->capacity) {
        size_t capacity = suggestion->capacity == 0 ? 64 : suggestion->capacity * 2;
        struct tdc_suggested *lines = realloc(suggestion->lines, capacity * sizeof *lines);
        if (lines == NULL)
            return false;
        suggestion->lines = lines;
        suggestion->capacity = capacity;
    }
    struct tdc_suggested *added = &suggestion->lines[suggestion->count];
    added->section = strndup(section, section_length);
    added->line = strndup(line, length);
    if (added->section == NULL || added->line == NULL) {
        free(added->section);
        free(added->line);
        return false;
    }
    added->key_length = key_length(added->line);
    added->order = suggestion->count++;
    return true;
}

bool tdc_suggestion_add(struct tdc_suggestion *suggestion, const char *yaml)
{
    const char *section = yaml;
    size_t section_length = 0;
    while (*yaml != '\0') {
        size_t length = strcspn(yaml, "\n");
        if (length != 0 && yaml[0] != ' ') {
            section = yaml;
            section_length = length;
        } else if (length != 0 && !add_line(suggestion, section, section_length, yaml, length)) {
            return false;
        }
        yaml += length + (yaml[length] == '\n');
    }
    return true;
}

static int by_order(const struct tdc_suggested *a, const struct tdc_suggested *b)
{
    return (a->order > b->order) - (a->order < b->order);
}

static int compare_keys(const struct tdc_suggested *a, const struct tdc_suggested *b)
{
    size_t shorter = a->key_length < b->key_length ? a->key_length : b->key_length;
    int keys = memcmp(a->line, b->line, shorter);
    return keys != 0 ? keys : (a->key_length > b->key_length) - (a->key_length < b->key_length);
}

static int by_section_and_key(const void *left, const void *right)
{
    const struct tdc_suggested *a = left, *b = right;
    int sections = strcmp(a->section, b->section);
    int keys = sections != 0 ? sections : compare_keys(a, b);
    return keys != 0 ? keys : by_order(a, b);
}

static int by_section_and_order(const void *left, const void *right)
{
    const struct tdc_suggested *a = left, *b = right;
    int sections = strcmp(a->section, b->section);
    return sections != 0 ? sections : by_order(a, b);
}

static void drop_repeated(struct tdc_suggestion *suggestion)
{
    size_t kept = 0;
    for (size_t i = 0; i < suggestion->count; i++) {
        struct tdc_suggested *line = &suggestion->lines[i];
        const struct tdc_suggested *last = kept > 0 ? &suggestion->lines[kept - 1] : NULL;
        if (last != NULL && strcmp(last->section, line->section) == 0 &&
            compare_keys(last, line) == 0) {
            free(line->section);
            free(line->line);
        } else {
            suggestion->lines[kept++] = *line;
        }
    }
    suggestion->count = kept;
}

void tdc_suggestion_print(struct tdc_suggestion *suggestion)
{
    if (suggestion->count == 0)
        return;
    qsort(suggestion->lines, suggestion->count, sizeof *suggestion->lines, by_section_and_key);
    drop_repeated(suggestion);
    qsort(suggestion->lines, suggestion->count, sizeof *suggestion->lines, by_section_and_order);
    for (size_t i = 0; i < suggestion->count; i++) {
        const struct tdc_suggested *line = &suggestion->lines[i];
        if (i == 0 || strcmp(line->section, suggestion->lines[i - 1].section) != 0)
            printf("%s%s\n", i == 0 ? "" : "\n", line->section);
        printf("%s\n", line->line);
    }
}

void tdc_suggestion_free(struct tdc_suggestion *suggestion)
{
    for (size_t i = 0; i < suggestion->count; i++) {
        free(suggestion->lines[i].section);
        free(suggestion->lines[i].line);
    }
    free(suggestion->lines);
    *suggestion = (struct tdc_suggestion){0};
}
