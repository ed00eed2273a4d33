/*
 * json_object.h - JSON (RFC 8259) made member by member in a text: what the result files of this
 * program hold.
 *
 * Numbers are the shortest text that reads back the same, whole ones without ".0". JSON has no word
 * for NaN and infinities: such a number is null, and a last member "not_finite" of its object says
 * which: {"max": null, "not_finite": {"max": "-Infinity"}}. Running out of memory marks the text.
 */
#ifndef TDC_IO_JSON_OBJECT_H
#define TDC_IO_JSON_OBJECT_H

#include <stdint.h>

#include "io/base/text.h"

/* Numbers of one object that can be told apart when they are not finite. */
#define TDC_OBJECT_NUMBERS 32

/* An object that is open. Objects within it are begun after tdc_object_key and end before it. */
struct tdc_json_object {
    struct tdc_text *out;
    bool begun;
    unsigned char not_finite; /* how many of these there are */
    struct {
        const char *name;
        const char *word;
    } others[TDC_OBJECT_NUMBERS];
};

void tdc_object_begin(struct tdc_json_object *object, struct tdc_text *out);
void tdc_object_end(struct tdc_json_object *object);
/* The members of an object without its braces: for files that are written piece by piece. */
void tdc_object_begin_bare(struct tdc_json_object *object, struct tdc_text *out);
void tdc_object_end_bare(struct tdc_json_object *object);

/* `"name": ` and the comma before it; the value is up to the caller. Names are plain ASCII that
 * needs no escaping and outlives the object. */
void tdc_object_key(struct tdc_json_object *object, const char *name);
void tdc_object_null(struct tdc_json_object *object, const char *name);
/* text may be NULL: null */
void tdc_object_text(struct tdc_json_object *object, const char *name, const char *text);
void tdc_object_truth(struct tdc_json_object *object, const char *name, bool value);
void tdc_object_whole(struct tdc_json_object *object, const char *name, uint64_t number);
void tdc_object_number(struct tdc_json_object *object, const char *name, double number);

/* A text in quotes. Bytes that are not UTF-8 become U+FFFD. */
void tdc_json_add_string(struct tdc_text *out, const char *text, size_t length);
/* A finite number. */
void tdc_json_add_finite(struct tdc_text *out, double value);
/* "NaN", "Infinity" or "-Infinity": the word for a number that is not finite. */
const char *tdc_json_word(double value);

#endif
