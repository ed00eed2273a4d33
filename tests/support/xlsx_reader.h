/*
 * xlsx_reader.h - reads an xlsx straight from its XML, for cmocka programs. Shares no code with the
 * writer, and understands only what such files hold.
 */
#ifndef TDC_TESTS_XLSX_READER_H
#define TDC_TESTS_XLSX_READER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "tests/support/temporary_folder.h"

static inline uint32_t zip_number(const char *at, size_t bytes)
{
    uint32_t value = 0;
    for (size_t i = 0; i < bytes; i++)
        value |= (uint32_t)(unsigned char)at[i] << (8 * i);
    return value;
}

/* Decompressed and checked against its CRC-32; terminated; the caller frees it. */
static inline char *zip_inflate(const char *zip, size_t offset, size_t compressed, size_t size,
                                uint32_t crc)
{
    assert_int_equal(zip_number(zip + offset, 4), 0x04034b50);
    assert_int_equal(zip_number(zip + offset + 14, 4), crc);
    assert_int_equal(zip_number(zip + offset + 18, 4), compressed);
    size_t content =
        offset + 30 + zip_number(zip + offset + 26, 2) + zip_number(zip + offset + 28, 2);
    char *out = malloc(size + 1);
    assert_non_null(out);
    z_stream stream = {0};
    assert_int_equal(inflateInit2(&stream, -MAX_WBITS), Z_OK);
    stream.next_in = (unsigned char *)(uintptr_t)(zip + content);
    stream.avail_in = (uInt)compressed;
    stream.next_out = (unsigned char *)out;
    stream.avail_out = (uInt)size + 1;
    assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
    assert_int_equal(stream.total_out, size);
    inflateEnd(&stream);
    assert_int_equal(crc32(0, (const unsigned char *)out, (uInt)size), crc);
    out[size] = '\0';
    return out;
}

/* A member by name, NULL if there is none. Also checks that members follow each other without a
 * gap up to the directory, and that the directory ends the file. */
static inline char *zip_member(const char *path, const char *name)
{
    size_t length = 0;
    char *zip = file_content(path, &length);
    assert_non_null(zip);
    assert_true(length > 22);
    const char *end = zip + length - 22;
    assert_int_equal(zip_number(end, 4), 0x06054b50);
    size_t at = zip_number(end + 16, 4);
    assert_int_equal(at + zip_number(end + 12, 4), length - 22);
    size_t expected_offset = 0;
    char *found = NULL;
    for (uint32_t i = 0; i < zip_number(end + 10, 2); i++) {
        const char *record = zip + at;
        assert_int_equal(zip_number(record, 4), 0x02014b50);
        size_t name_length = zip_number(record + 28, 2);
        size_t offset = zip_number(record + 42, 4);
        size_t compressed = zip_number(record + 20, 4);
        assert_int_equal(offset, expected_offset);
        expected_offset = offset + 30 + zip_number(zip + offset + 26, 2) +
                          zip_number(zip + offset + 28, 2) + compressed;
        if (name_length == strlen(name) && memcmp(record + 46, name, name_length) == 0)
            found = zip_inflate(zip, offset, compressed, zip_number(record + 24, 4),
                                zip_number(record + 16, 4));
        at += 46 + name_length + zip_number(record + 30, 2) + zip_number(record + 32, 2);
    }
    assert_int_equal(expected_offset, zip_number(end + 16, 4));
    free(zip);
    return found;
}

/* ---- cells ---------------------------------------------------------------------------------- */

struct seen_cell {
    char type; /* n number, s text, b boolean, - absent */
    int style;
    size_t length;
    char text[70000];
};

/* Turns XML's and Excel's escapes back. */
static inline void decode_text(const char *from, const char *end, struct seen_cell *cell)
{
    static const struct {
        const char *escape;
        char character;
    } names[] = {{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}};
    cell->length = 0;
    while (from < end) {
        char c = *from;
        size_t taken = 1;
        unsigned code;
        for (size_t i = 0; c == '&' && i < 3; i++) {
            if (strncmp(from, names[i].escape, strlen(names[i].escape)) == 0) {
                taken = strlen(names[i].escape);
                c = names[i].character;
                break;
            }
        }
        if (c == '_' && end - from >= 7 && from[6] == '_' && sscanf(from, "_x%4x_", &code) == 1) {
            assert_true(code < 0x80); /* the tests use no other */
            c = (char)code;
            taken = 7;
        }
        assert_true(cell->length + 1 < sizeof cell->text);
        cell->text[cell->length++] = c;
        from += taken;
    }
    cell->text[cell->length] = '\0';
}

/* The cell at "B3" of a sheet's XML. */
static inline struct seen_cell *read_cell(const char *sheet, const char *place)
{
    static struct seen_cell cell;
    char head[32];
    snprintf(head, sizeof head, "<c r=\"%s\"", place);
    cell = (struct seen_cell){.type = '-'};
    const char *at = strstr(sheet, head);
    if (at == NULL)
        return &cell;
    at += strlen(head);
    const char *close = strchr(at, '>');
    const char *end = strstr(at, "</c>");
    assert_non_null(close);
    assert_non_null(end);
    if (strncmp(at, " s=\"", 4) == 0) {
        cell.style = atoi(at + 4);
        at = strchr(at + 4, '"') + 1;
    }
    const char *inner = close + 1;
    if (strncmp(at, " t=\"inlineStr\"><is><t", 21) == 0) {
        cell.type = 's';
        inner = strchr(at + 21, '>') + 1;
        decode_text(inner, strstr(inner, "</t>"), &cell);
        return &cell;
    }
    assert_memory_equal(inner, "<v>", 3);
    cell.type = strncmp(at, " t=\"b\"", 6) == 0 ? 'b' : 'n';
    decode_text(inner + 3, strstr(inner, "</v>"), &cell);
    return &cell;
}

/* Start of the n-th `tag` behind `from`. */
static inline const char *nth(const char *from, const char *tag, int n)
{
    for (from = strstr(from, tag); from != NULL && n > 0; n--)
        from = strstr(from + 1, tag);
    return from;
}

/* ARGB of the solid fill of a cell format, "" when there is none. */
static inline const char *fill_of(const char *styles, int style)
{
    static char colour[16];
    const char *format = nth(strstr(styles, "<cellXfs"), "<xf ", style);
    assert_non_null(format);
    int fill = atoi(strstr(format, "fillId=\"") + 8);
    const char *pattern = nth(strstr(styles, "<fills"), "<fill>", fill);
    assert_non_null(pattern);
    const char *end = strstr(pattern, "</fill>");
    const char *rgb = strstr(pattern, "<fgColor rgb=\"");
    colour[0] = '\0';
    if (rgb != NULL && rgb < end)
        snprintf(colour, sizeof colour, "%.8s", rgb + 14);
    return colour;
}

#endif
