/*
 * proto_reader.h - the wire form of a protobuf message, read in place.
 *
 * A message is a run of fields: a key (number and form), then a number or a length and bytes. The
 * reader goes over memory that belongs to someone else, allocates nothing, recurses nowhere and
 * never leaves its bytes: a length that does is the end of the reading, with `broken` set. Fields
 * that the caller does not know are passed over by asking for the next one.
 */
#ifndef TDC_IO_PROTO_READER_H
#define TDC_IO_PROTO_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tdc_proto {
    const unsigned char *at, *end;
    bool broken; /* what followed is no field, or reaches beyond the end */
};

enum tdc_proto_form {
    TDC_PROTO_NUMBER, /* varints, and fixed numbers of 4 and 8 bytes as their bits */
    TDC_PROTO_BYTES   /* a text, a message or packed numbers */
};

struct tdc_proto_field {
    uint32_t number;
    enum tdc_proto_form form;
    uint64_t value;          /* TDC_PROTO_NUMBER */
    struct tdc_proto inside; /* TDC_PROTO_BYTES: not copied */
};

static inline struct tdc_proto tdc_proto_over(const unsigned char *bytes, size_t size)
{
    return (struct tdc_proto){bytes, bytes + size, false};
}

/* False at the end, and where the message is broken. */
bool tdc_proto_next(struct tdc_proto *message, struct tdc_proto_field *field);

/* The next of packed numbers; likewise. */
bool tdc_proto_number(struct tdc_proto *numbers, uint64_t *value);

#endif
