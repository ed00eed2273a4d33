/*
 * text.h - a growable text with a limit.
 *
 * Every append fails, and leaves the text marked as failed, when the limit would be passed; a
 * failed text stays failed until cleared, so that a caller may append many times and ask once.
 */
#ifndef TDC_IO_TEXT_H
#define TDC_IO_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct tdc_text {
    char *data; /* terminated; NULL while nothing was appended */
    size_t length;
    size_t capacity;
    size_t limit;
    bool failed;
};

void tdc_text_init(struct tdc_text *text, size_t limit);
void tdc_text_free(struct tdc_text *text);
void tdc_text_clear(struct tdc_text *text);
/* Room for so many more bytes: adding them cannot fail. */
bool tdc_text_reserve(struct tdc_text *text, size_t more);
/* Appending where there may be no room yet. */
bool tdc_text_add_more(struct tdc_text *text, const char *data, size_t length);

static inline bool tdc_text_add(struct tdc_text *text, const char *data, size_t length)
{
    /* a text that has failed goes there, too: its capacity says nothing */
    if (text->failed || length >= text->capacity - text->length ||
        length > text->limit - text->length)
        return tdc_text_add_more(text, data, length);
    if (length != 0)
        memcpy(text->data + text->length, data, length);
    text->length += length;
    text->data[text->length] = '\0';
    return true;
}

static inline bool tdc_text_adds(struct tdc_text *text, const char *terminated)
{
    return tdc_text_add(text, terminated, strlen(terminated));
}

static inline bool tdc_text_addc(struct tdc_text *text, char c)
{
    return tdc_text_add(text, &c, 1);
}

bool tdc_text_addf(struct tdc_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Its decimal digits. */
bool tdc_text_add_number(struct tdc_text *text, uint64_t number);
/* "2, 3, 4" with what stands between; nothing for no sizes. */
bool tdc_text_add_sizes(struct tdc_text *text, const uint64_t *sizes, size_t count,
                        const char *between);
/* The terminated content, "" when empty. */
const char *tdc_text_get(const struct tdc_text *text);

/* Whether a text ends in another. */
static inline bool tdc_ends_in(const char *text, const char *tail)
{
    size_t length = strlen(text), tail_length = strlen(tail);
    return length >= tail_length && memcmp(text + length - tail_length, tail, tail_length) == 0;
}

#endif
