/*
 * pack.h - what a page holds as packed blocks: columns, dictionaries, texts.
 *
 * A block is deflated (zlib's form) and written in base64. Columns are laid out for deflating, and
 * so that little has to be deflated:
 *   words    places of texts, and numbers of a column that has only whole ones from 0 to 2^32 - 1,
 *            are differences from the row above, of four bytes: 0, -1, 1, -2, ... as 0, 1, 2, 3,
 * ...; all other numbers are doubles head     a byte that says which planes there are (the first:
 * 1); for each of them the byte that all rows have if it is not there, else 0; of doubles, 1 or 0
 * and, for 1, a word that many rows have and a bit for each row, set for those: the planes are of
 * the others planes   the first byte of all rows, the second of all rows and so on, little end
 * first
 */
#ifndef TDC_IO_HTML_PACK_H
#define TDC_IO_HTML_PACK_H

#include "io/file/byte_writer.h"
#include "io/html/sheet.h"

struct tdc_html_block {
    /* what is packed: a column, texts [first, end) of a dictionary as a JSON list, or a text */
    const struct tdc_html_sheet *sheet;
    const struct tdc_html_column *column;
    bool whole; /* the column's numbers are whole */
    const struct tdc_html_column
        *base; /* the other one, to which most of them are close; or NULL */
    uint32_t first, end;
    const char *text;
    size_t length;
    /* the outcome */
    unsigned char *bytes;
    size_t size;
    bool failed; /* out of memory */
};

/* Whether a column has only whole numbers from 0 to 2^32 - 1. */
bool tdc_html_all_whole(const struct tdc_html_column *column, size_t rows);
/* Whether two columns have the same content. */
bool tdc_html_same_column(const struct tdc_html_column *a, const struct tdc_html_column *b,
                          size_t rows);

/* Whether two columns of numbers have the same size in most rows. */
bool tdc_html_alike(const struct tdc_html_column *a, const struct tdc_html_column *b, size_t rows);

/* Packs all blocks on up to so many threads; false when out of memory. */
bool tdc_html_pack(struct tdc_html_block *blocks, size_t count, int threads);
void tdc_html_blocks_free(struct tdc_html_block *blocks, size_t count);

/* The first text behind those of `first` that make about a block. */
uint32_t tdc_html_texts_end(const struct tdc_html_sheet *sheet, uint32_t first);

void tdc_html_put_base64(struct tdc_byte_writer *writer, const unsigned char *bytes, size_t size);

#endif
