#include "io/text/csv_reader.h"

#include <string.h>

void tdc_csv_start(struct tdc_csv_reader *reader, const char *bytes, size_t size)
{
    bool marked = size >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0;
    reader->at = size == 0 ? NULL : bytes + (marked ? 3 : 0);
    reader->end = size == 0 ? NULL : bytes + size;
    reader->owed = false;
}

struct tdc_csv_span tdc_csv_next(struct tdc_csv_reader *reader)
{
    const char *at = reader->at, *end = reader->end;
    bool quoted = false;
    for (; at < end && (quoted || (*at != ',' && *at != '\n')); at++)
        quoted ^= *at == '"';
    bool torn = at == end, last = torn || *at == '\n';
    struct tdc_csv_span span = {reader->at, at, last, torn};
    if (last && span.start < at && at[-1] == '\r')
        span.stop--;
    reader->at = torn ? end : at + 1;
    reader->owed = !last;
    return span;
}

struct content {
    const char *at, *stop;
    bool quoted;
};

static struct content begin(const struct tdc_csv_span *span)
{
    bool quoted = span->start < span->stop && *span->start == '"';
    return (struct content){span->start + quoted, span->stop, quoted};
}

/* -1 at the end. */
static int next_byte(struct content *content)
{
    if (content->quoted && content->at < content->stop && *content->at == '"') {
        content->at++; /* doubled: once; else the rest is as it stands */
        content->quoted = content->at < content->stop && *content->at == '"';
    }
    return content->at < content->stop ? (unsigned char)*content->at++ : -1;
}

size_t tdc_csv_content(const struct tdc_csv_span *span, char *to)
{
    struct content content = begin(span);
    size_t length = 0;
    for (int byte; (byte = next_byte(&content)) >= 0;)
        to[length++] = (char)byte;
    return length;
}

bool tdc_csv_is(const struct tdc_csv_span *span, const char *text, size_t length)
{
    struct content content = begin(span);
    for (size_t i = 0; i < length; i++)
        if (next_byte(&content) != (unsigned char)text[i])
            return false;
    return next_byte(&content) < 0;
}
