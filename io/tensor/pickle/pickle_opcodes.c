#include "io/tensor/pickle/pickle_opcodes.h"

#include <string.h>

#include "io/base/little_endian.h"

/* What follows an opcode. */
enum operand {
    FIXED,    /* nothing; the number is the entry's */
    UNSIGNED, /* a number of `width` bytes */
    SIGNED,   /* the same, of 4 */
    LONG,     /* a length of `width` bytes and as many of a number */
    SIZED,    /* a length of `width` bytes and as many of a text */
    REAL,
    LINES,
    PROTOCOL,
    FRAME
};

struct entry {
    bool known, objects; /* objects: not in a tensor's pickle */
    enum tdc_pickle_action action;
    enum operand operand;
    unsigned width;
    int number;
};

static const struct entry entries[256] = {
    ['('] = {true, .action = TDC_DOES_MARK},
    ['N'] = {true, .action = TDC_DOES_NONE},
    [0x88] = {true, .action = TDC_DOES_BOOL, .number = 1}, /* NEWTRUE */
    [0x89] = {true, .action = TDC_DOES_BOOL},
    ['J'] = {true, .action = TDC_DOES_INTEGER, .operand = SIGNED, .width = 4},
    ['K'] = {true, .action = TDC_DOES_INTEGER, .operand = UNSIGNED, .width = 1},
    ['M'] = {true, .action = TDC_DOES_INTEGER, .operand = UNSIGNED, .width = 2},
    [0x8a] = {true, .action = TDC_DOES_LONG, .operand = LONG, .width = 1},
    [0x8b] = {true, .action = TDC_DOES_LONG, .operand = LONG, .width = 4},
    ['G'] = {true, .action = TDC_DOES_FLOAT, .operand = REAL},
    ['X'] = {true, .action = TDC_DOES_TEXT, .operand = SIZED, .width = 4},
    [0x8c] = {true, .action = TDC_DOES_TEXT, .operand = SIZED, .width = 1},
    [0x8d] = {true, .action = TDC_DOES_TEXT, .operand = SIZED, .width = 8},
    ['U'] = {true, .action = TDC_DOES_TEXT, .operand = SIZED, .width = 1},
    ['T'] = {true, .action = TDC_DOES_TEXT, .operand = SIZED, .width = 4},
    ['C'] = {true, .action = TDC_DOES_BYTES, .operand = SIZED, .width = 1},
    ['B'] = {true, .action = TDC_DOES_BYTES, .operand = SIZED, .width = 4},
    [0x8e] = {true, true, .action = TDC_DOES_BYTES, .operand = SIZED, .width = 8}, /* BINBYTES8 */
    [0x96] = {true, true, .action = TDC_DOES_BYTES, .operand = SIZED, .width = 8}, /* BYTEARRAY8 */
    [0x80] = {true, .operand = PROTOCOL, .width = 1},
    [0x95] = {true, .operand = FRAME, .width = 8},
    [0x94] = {true, .action = TDC_DOES_PUT, .number = TDC_PICKLE_NEXT}, /* MEMOIZE */
    ['q'] = {true, .action = TDC_DOES_PUT, .operand = UNSIGNED, .width = 1},
    ['r'] = {true, .action = TDC_DOES_PUT, .operand = UNSIGNED, .width = 4},
    ['h'] = {true, .action = TDC_DOES_GET, .operand = UNSIGNED, .width = 1},
    ['j'] = {true, .action = TDC_DOES_GET, .operand = UNSIGNED, .width = 4},
    ['t'] = {true, .action = TDC_DOES_TUPLE, .number = TDC_PICKLE_TO_MARK},
    [')'] = {true, .action = TDC_DOES_TUPLE},
    [0x85] = {true, .action = TDC_DOES_TUPLE, .number = 1},
    [0x86] = {true, .action = TDC_DOES_TUPLE, .number = 2},
    [0x87] = {true, .action = TDC_DOES_TUPLE, .number = 3},
    [0x91] = {true, true, .action = TDC_DOES_TUPLE, .number = TDC_PICKLE_TO_MARK}, /* FROZENSET */
    ['}'] = {true, .action = TDC_DOES_DICT},
    [']'] = {true, .action = TDC_DOES_LIST},
    [0x8f] = {true, true, .action = TDC_DOES_LIST}, /* EMPTY_SET */
    ['a'] = {true, .action = TDC_DOES_APPEND, .number = 1},
    ['e'] = {true, .action = TDC_DOES_APPEND, .number = TDC_PICKLE_TO_MARK},
    [0x90] = {true, true, .action = TDC_DOES_APPEND, .number = TDC_PICKLE_TO_MARK}, /* ADDITEMS */
    ['s'] = {true, .action = TDC_DOES_SET, .number = 2},
    ['u'] = {true, .action = TDC_DOES_SET, .number = TDC_PICKLE_TO_MARK},
    ['0'] = {true, .action = TDC_DOES_POP, .number = 1},
    ['1'] = {true, .action = TDC_DOES_POP, .number = TDC_PICKLE_TO_MARK},
    ['2'] = {true, true, .action = TDC_DOES_REPEAT}, /* DUP */
    ['c'] = {true, .action = TDC_DOES_NAME, .operand = LINES},
    [0x93] = {true, .action = TDC_DOES_STACKED_NAME},
    ['R'] = {true, .action = TDC_DOES_CALL},
    [0x81] = {true, .action = TDC_DOES_CALL},               /* NEWOBJ */
    [0x92] = {true, true, .action = TDC_DOES_CALL_BY_NAME}, /* NEWOBJ_EX */
    ['Q'] = {true, .action = TDC_DOES_PERSISTENT},
    ['b'] = {true, .action = TDC_DOES_BUILD},
    ['.'] = {true, .action = TDC_DOES_STOP},
};

static bool take_number(struct tdc_pickle_input *input, unsigned width, uint64_t *number)
{
    const unsigned char *at = input->at;
    if ((size_t)(input->end - at) < width)
        return false;
    *number = width == 1   ? at[0]
              : width == 2 ? tdc_le16(at)
              : width == 4 ? tdc_le32(at)
                           : tdc_le64(at);
    input->at += width;
    return true;
}

static bool take_bytes(struct tdc_pickle_input *input, uint64_t length,
                       struct tdc_pickle_opcode *opcode)
{
    if (length > (uint64_t)(input->end - input->at))
        return false;
    opcode->bytes = input->at;
    opcode->length = (size_t)length;
    input->at += length;
    return true;
}

static bool take_line(struct tdc_pickle_input *input, const unsigned char **line, size_t *length)
{
    const unsigned char *end = memchr(input->at, '\n', (size_t)(input->end - input->at));
    if (end == NULL)
        return false;
    *line = input->at;
    *length = (size_t)(end - input->at);
    input->at = end + 1;
    return true;
}

/* Up to 64 bits are a plain integer. */
static void shorten(struct tdc_pickle_opcode *opcode)
{
    if (opcode->length > 8)
        return;
    const unsigned char *at = opcode->bytes;
    uint64_t bits = opcode->length > 0 && at[opcode->length - 1] >= 0x80 ? UINT64_MAX : 0;
    for (size_t i = opcode->length; i-- > 0;)
        bits = bits << 8 | at[i];
    opcode->action = TDC_DOES_INTEGER;
    opcode->number = (int64_t)bits;
}

static bool take_operand(struct tdc_pickle_input *input, const struct entry *entry,
                         struct tdc_pickle_opcode *opcode)
{
    uint64_t number = 0;
    switch (entry->operand) {
    case FIXED:
        return true;
    case REAL:
        return take_bytes(input, 8, opcode);
    case LINES:
        return take_line(input, &opcode->bytes, &opcode->length) &&
               take_line(input, &opcode->name, &opcode->name_length);
    default:
        if (!take_number(input, entry->width, &number))
            return false;
    }
    opcode->number = entry->operand == SIGNED ? (int32_t)(uint32_t)number : (int64_t)number;
    if (entry->operand == FRAME)
        return number <= (uint64_t)(input->end - input->at);
    if (entry->operand != LONG && entry->operand != SIZED)
        return true;
    if (entry->operand == LONG && number > TDC_PICKLE_LONGEST && !input->objects) {
        opcode->length = (size_t)number; /* refused by its reader, whatever follows */
        return true;
    }
    if (!take_bytes(input, number, opcode))
        return false;
    if (entry->operand == LONG)
        shorten(opcode);
    return true;
}

enum tdc_pickle_found tdc_pickle_next(struct tdc_pickle_input *input,
                                      struct tdc_pickle_opcode *opcode)
{
    if (input->at == input->end)
        return TDC_PICKLE_ENDS;
    unsigned char byte = *input->at++;
    const struct entry *entry = &entries[byte];
    *opcode =
        (struct tdc_pickle_opcode){.action = entry->action, .byte = byte, .number = entry->number};
    if (!entry->known || (entry->objects && !input->objects))
        return TDC_PICKLE_UNKNOWN;
    if (!take_operand(input, entry, opcode))
        return TDC_PICKLE_ENDS;
    return entry->operand == PROTOCOL && opcode->number > 5 ? TDC_PICKLE_TOO_NEW : TDC_PICKLE_FOUND;
}
