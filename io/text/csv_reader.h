/*
 * csv_reader.h - fields and rows of CSV text in memory; nothing is copied or allocated.
 *
 * Fields are separated by commas, rows by line feeds with or without a carriage return before.
 * Every quote opens or closes a quotation, inside of which commas and line ends are content; a
 * field that begins with a quote is quoted, and two quotes inside it stand for one.
 */
#ifndef TDC_IO_CSV_READER_H
#define TDC_IO_CSV_READER_H

#include <stdbool.h>
#include <stddef.h>

struct tdc_csv_reader {
    const char *at, *end;
    bool owed; /* a comma was the last: an empty field follows even at the end */
};

/* The bytes of a field, quotes included. */
struct tdc_csv_span {
    const char *start, *stop;
    bool last; /* of its row */
    bool torn; /* the text ends in it, without a line end */
};

/* A byte order mark is skipped. bytes may be NULL when size is 0. May also start in the middle of a
 * text, where a row begins. */
void tdc_csv_start(struct tdc_csv_reader *reader, const char *bytes, size_t size);
static inline bool tdc_csv_at_end(const struct tdc_csv_reader *reader)
{
    return reader->at == reader->end && !reader->owed;
}
/* The next field; a row ends with its field that is `last`. Not at the end. */
struct tdc_csv_span tdc_csv_next(struct tdc_csv_reader *reader);
/* Copies what the field says, not terminated; at most stop - start bytes, whose number is
 * returned. */
size_t tdc_csv_content(const struct tdc_csv_span *span, char *to);
/* Is that its content? */
bool tdc_csv_is(const struct tdc_csv_span *span, const char *text, size_t length);

#endif
