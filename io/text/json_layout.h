/*
 * json_layout.h - objects that are written like others before them.
 *
 * The leaves of a dump have the same keys in the same order with the same blanks between; what
 * changes are the values. A layout is what stands before each value of such an object, learnt from
 * one that the reader of all JSON has read. Where the bytes of another object agree with it, only
 * the values are looked at. Whatever does not agree, or is not plain, is left to that reader, which
 * finds every mistake: a layout takes only what it would take, too, and makes the same of it.
 */
#ifndef TDC_IO_JSON_LAYOUT_H
#define TDC_IO_JSON_LAYOUT_H

#include "io/text/json.h"

/* Values of one object that have been taken, before there are nodes for them. */
struct tdc_json_value {
    enum tdc_json_kind kind;
    const char *text; /* in the input, not terminated; of strings, numbers and lists */
    size_t length;
    double number;
    unsigned first, count; /* LIST: its elements, in `elements` */
};

#define TDC_LAYOUT_ELEMENTS 64

struct tdc_json_taken {
    struct tdc_json_layout *layout;
    struct tdc_json_value values[TDC_LAYOUT_MEMBERS]; /* as many as the layout has members */
    struct tdc_json_value elements[TDC_LAYOUT_ELEMENTS];
    unsigned element_count;
    const char *end; /* behind the closing brace */
};

/* Takes the object at the cursor, which stays there, if a layout fits. */
bool tdc_json_layout_take(struct tdc_json_cursor *cursor, struct tdc_json_taken *taken);

/* Learns from the object at `at`, which has been read, unless its members are not plain values or
 * lists of such, or learning has been of no use. */
void tdc_json_layout_learn(struct tdc_json_cursor *cursor, const char *at);

#endif
