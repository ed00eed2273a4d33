#include "io/tensor/ge/proto_reader.h"

#include "io/base/little_endian.h"

enum {
    WIRE_VARINT = 0,
    WIRE_FIXED_64 = 1,
    WIRE_BYTES = 2,
    WIRE_FIXED_32 = 5
};

#define MOST_VARINT_BYTES 10

static bool broken(struct tdc_proto *message)
{
    message->broken = true;
    message->at = message->end;
    return false;
}

bool tdc_proto_number(struct tdc_proto *numbers, uint64_t *value)
{
    *value = 0;
    if (numbers->at == numbers->end)
        return false;
    for (unsigned i = 0; i < MOST_VARINT_BYTES && numbers->at != numbers->end; i++) {
        unsigned char byte = *numbers->at++;
        *value |= (uint64_t)(byte & 0x7fu) << (7 * i);
        if (byte < 0x80)
            return true;
    }
    return broken(numbers);
}

static bool take_fixed(struct tdc_proto *message, size_t size, uint64_t *value)
{
    if ((size_t)(message->end - message->at) < size)
        return broken(message);
    *value = size == 8 ? tdc_le64(message->at) : tdc_le32(message->at);
    message->at += size;
    return true;
}

static bool take_bytes(struct tdc_proto *message, struct tdc_proto *inside)
{
    uint64_t length;
    if (!tdc_proto_number(message, &length) || length > (uint64_t)(message->end - message->at))
        return broken(message);
    *inside = tdc_proto_over(message->at, (size_t)length);
    message->at += length;
    return true;
}

bool tdc_proto_next(struct tdc_proto *message, struct tdc_proto_field *field)
{
    uint64_t key;
    if (!tdc_proto_number(message, &key))
        return false;
    if (key >> 3 == 0 || key >> 3 > UINT32_MAX)
        return broken(message);
    *field = (struct tdc_proto_field){.number = (uint32_t)(key >> 3)};
    switch (key & 7) {
    case WIRE_VARINT:
        return tdc_proto_number(message, &field->value) || broken(message);
    case WIRE_FIXED_64:
        return take_fixed(message, 8, &field->value);
    case WIRE_FIXED_32:
        return take_fixed(message, 4, &field->value);
    case WIRE_BYTES:
        field->form = TDC_PROTO_BYTES;
        return take_bytes(message, &field->inside);
    default:
        return broken(message);
    }
}
