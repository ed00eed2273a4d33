/*
 * pack.h - what a page holds as packed blocks: columns, dictionaries, texts.
 *
 * A block is deflated (zlib's form) and written in base64. Columns are laid out for deflating, and
 * so that little has to be deflated:
 *
 * Dictionaries: a JSON list of two elements for each text, the number of letters that it has in
 * common with the text before, and the rest of it. The first text of a block has none in common.
 *
 * Words: places of texts, and numbers of a column that has only whole ones from 0 to 2^32 - 1, are
 * differences from the row above, of four bytes (0, -1, 1, -2 and so on as 0, 1, 2, 3). All other
 * numbers are doubles, which a column that is mostly close to another one has as the exclusive or
 * with that.
 *
 * Head: a byte that says which planes there are (the first: 1); for each of them the byte that all
 * rows have if it is not there, else 0; of doubles, 1 or 0 and, for 1, a word that many rows have
 * and a bit for each row, set for those: the planes are of the others.
 *
 * Planes: the first byte of all rows, the second of all rows and so on, little end first.
 */
#ifndef TDC_IO_HTML_PACK_H
#define TDC_IO_HTML_PACK_H

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
    char *letters; /* base64 */
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

/* Letters that so many bytes take, and the letters; how many they are. */
#define TDC_HTML_BASE64(size) (((size) + 2) / 3 * 4)
size_t tdc_html_base64(const unsigned char *bytes, size_t size, char *letters);

#endif
