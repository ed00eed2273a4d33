/*
 * pack.h - what a page holds as packed blocks: columns, dictionaries, texts.
 *
 * A block is deflated (zlib's form) and written in base64. Columns are laid out for deflating:
 * places of texts as differences from the row above, then the first byte of all rows, the second of
 * all rows and so on, little end first.
 */
#ifndef TDC_IO_HTML_PACK_H
#define TDC_IO_HTML_PACK_H

#include "io/file/byte_writer.h"
#include "io/html/sheet.h"

struct tdc_html_block {
    /* what is packed: a column, texts [first, end) of a dictionary as a JSON list, or a text */
    const struct tdc_html_sheet *sheet;
    const struct tdc_html_column *column;
    uint32_t first, end;
    const char *text;
    size_t length;
    /* the outcome */
    unsigned char *bytes;
    size_t size;
    bool failed; /* out of memory */
};

/* Packs all blocks on up to so many threads; false when out of memory. */
bool tdc_html_pack(struct tdc_html_block *blocks, size_t count, int threads);
void tdc_html_blocks_free(struct tdc_html_block *blocks, size_t count);

/* The first text behind those of `first` that make about a block. */
uint32_t tdc_html_texts_end(const struct tdc_html_sheet *sheet, uint32_t first);

void tdc_html_put_base64(struct tdc_byte_writer *writer, const unsigned char *bytes, size_t size);

#endif
