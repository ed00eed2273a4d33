#include "io/base/text.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void tdc_text_init(struct tdc_text *text, size_t limit)
{
    *text = (struct tdc_text){.limit = limit};
}

void tdc_text_free(struct tdc_text *text)
{
    free(text->data);
    tdc_text_init(text, text->limit);
}

void tdc_text_clear(struct tdc_text *text)
{
    text->length = 0;
    text->failed = false;
    if (text->data != NULL)
        text->data[0] = '\0';
}

bool tdc_text_reserve(struct tdc_text *text, size_t more)
{
    size_t need;
    if (text->failed || __builtin_add_overflow(text->length, more, &need) || need > text->limit ||
        __builtin_add_overflow(need, (size_t)1, &need)) {
        text->failed = true;
        return false;
    }
    if (need <= text->capacity)
        return true;
    size_t capacity = text->capacity < 64 ? 64 : text->capacity;
    while (capacity < need)
        capacity = capacity > SIZE_MAX / 2 ? need : capacity * 2;
    char *data = realloc(text->data, capacity);
    if (data == NULL) {
        text->failed = true;
        return false;
    }
    data[text->length] = '\0';
    text->data = data;
    text->capacity = capacity;
    return true;
}

bool tdc_text_add_more(struct tdc_text *text, const char *data, size_t length)
{
    if (!tdc_text_reserve(text, length))
        return false;
    if (length != 0)
        memcpy(text->data + text->length, data, length);
    text->length += length;
    text->data[text->length] = '\0';
    return true;
}

bool tdc_text_addf(struct tdc_text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (length < 0 || !tdc_text_reserve(text, (size_t)length)) {
        text->failed = true;
        return false;
    }
    va_start(arguments, format);
    vsnprintf(text->data + text->length, (size_t)length + 1, format, arguments);
    va_end(arguments);
    text->length += (size_t)length;
    return true;
}

bool tdc_text_add_number(struct tdc_text *text, uint64_t number)
{
    char digits[20], *first = digits + sizeof digits;
    do
        *--first = (char)('0' + number % 10);
    while ((number /= 10) != 0);
    return tdc_text_add(text, first, (size_t)(digits + sizeof digits - first));
}

bool tdc_text_add_sizes(struct tdc_text *text, const uint64_t *sizes, size_t count,
                        const char *between)
{
    for (size_t i = 0; i < count; i++) {
        tdc_text_adds(text, i != 0 ? between : "");
        tdc_text_add_number(text, sizes[i]);
    }
    return !text->failed;
}

const char *tdc_text_get(const struct tdc_text *text)
{
    return text->data == NULL ? "" : text->data;
}
