/*
 * pickle_opcodes.h - a pickle taken apart into what its opcodes say; both readers of torch files go
 * by it: the one of single tensors (pt_pickle.h), and the one of whole states (saved_pickle.h).
 * What becomes of the values is theirs. Nothing is allocated; texts stay where they are.
 */
#ifndef TDC_IO_PICKLE_OPCODES_H
#define TDC_IO_PICKLE_OPCODES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tdc_pickle_action {
    TDC_DOES_NOTHING, /* protocols and frames, once they are checked */
    TDC_DOES_MARK,
    TDC_DOES_NONE,
    TDC_DOES_BOOL,    /* number */
    TDC_DOES_INTEGER, /* number */
    TDC_DOES_LONG,    /* bytes: more than 64 bits, little-endian two's complement */
    TDC_DOES_FLOAT,   /* bytes: 8 of a float64, big-endian */
    TDC_DOES_TEXT,    /* bytes */
    TDC_DOES_BYTES,   /* bytes */
    TDC_DOES_PUT,     /* number: of the memo; TDC_PICKLE_NEXT: behind the last */
    TDC_DOES_GET,     /* number */
    TDC_DOES_TUPLE,   /* number: of values; TDC_PICKLE_TO_MARK: those above the mark */
    TDC_DOES_LIST,
    TDC_DOES_DICT,
    TDC_DOES_APPEND, /* number, as of a tuple */
    TDC_DOES_SET,    /* number: 2, or TDC_PICKLE_TO_MARK; keys and values in turn */
    TDC_DOES_POP,    /* number: 1, or TDC_PICKLE_TO_MARK */
    TDC_DOES_REPEAT, /* the topmost value once more */
    TDC_DOES_NAME,   /* bytes: module, name */
    TDC_DOES_STACKED_NAME,
    TDC_DOES_CALL,         /* a function or class, and a tuple */
    TDC_DOES_CALL_BY_NAME, /* and a dict of arguments by name */
    TDC_DOES_PERSISTENT,
    TDC_DOES_BUILD,
    TDC_DOES_STOP,
    TDC_PICKLE_ACTIONS
};

/* Bytes of a number in a tensor's pickle; more are a length without bytes. */
#define TDC_PICKLE_LONGEST 64
#define TDC_PICKLE_NEXT    (-1)
#define TDC_PICKLE_TO_MARK (-1)

struct tdc_pickle_opcode {
    enum tdc_pickle_action action;
    unsigned char byte;
    int64_t number;
    const unsigned char *bytes, *name;
    size_t length, name_length;
};

struct tdc_pickle_input {
    const unsigned char *at, *end;
    bool objects; /* opcodes that a tensor's pickle has no use for: sets, long bytes, keywords */
};

enum tdc_pickle_found {
    TDC_PICKLE_FOUND,
    TDC_PICKLE_ENDS,    /* before the opcode or its operand does */
    TDC_PICKLE_UNKNOWN, /* opcode->byte is on no list */
    TDC_PICKLE_TOO_NEW  /* a protocol above 5 */
};

enum tdc_pickle_found tdc_pickle_next(struct tdc_pickle_input *input,
                                      struct tdc_pickle_opcode *opcode);

#endif
