/*
 * json_printer.h - a json file written value by value, laid out as Python's json.dump does.
 *
 * A key is NULL inside lists. Texts are written as they are: the caller escapes what needs it.
 */
#ifndef TDC_BENCH_JSON_PRINTER_H
#define TDC_BENCH_JSON_PRINTER_H

#include "io/file/byte_writer.h"
#include "tdcmp.h"

/* An open file and where in the tree the next line stands. */
struct tdc_json_printer {
    struct tdc_byte_writer out;
    unsigned depth, indent;
    bool follows; /* something of the same level was written: a comma is due */
};

/* Creates folder/name, which must not exist, and opens its outermost object. */
tdc_status tdc_json_printer_open(struct tdc_json_printer *printer, unsigned indent,
                                 const char *folder, const char *name, struct tdc_error *error);
/* Closes that object and the file, on failure too. */
tdc_status tdc_json_printer_close(struct tdc_json_printer *printer, const char *folder,
                                  const char *name, struct tdc_error *error);

/* bracket: '{' or '[', closed by its counterpart. */
void tdc_json_open(struct tdc_json_printer *printer, const char *key, char bracket);
void tdc_json_close(struct tdc_json_printer *printer, char bracket);
/* A value that is json already. */
void tdc_json_raw(struct tdc_json_printer *printer, const char *key, const char *value);
void tdc_json_string(struct tdc_json_printer *printer, const char *key, const char *value);
/* Collectors take statistics in float32 and print them as Python's float. */
void tdc_json_float(struct tdc_json_printer *printer, const char *key, double value);

#endif
