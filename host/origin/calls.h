/*
 * calls.h - the rows of a table as the calls of a network.
 *
 * What can be said of a call before any data is read: its direction, what its name tells, the
 * precision in force at its end and how large its inputs are. The sound rules judge a row in the
 * light of its call; compat tables have none of this.
 */
#ifndef TDC_HOST_CALLS_H
#define TDC_HOST_CALLS_H

#include "host/judge/row.h"
#include "host/judge/scene.h"
#include "host/origin/call_name.h"

#define TDC_NO_CALL UINT32_MAX

struct tdc_call {
    uint32_t first, end;   /* rows */
    uint32_t forward;      /* of a backward call and of gradients: their forward call */
    uint32_t backward;     /* of gradients: the backward call of their module */
    uint32_t earlier;      /* of gradients: those of the micro batch before, which they add to */
    uint8_t direction;     /* enum tdc_direction */
    uint8_t precision;     /* enum tdc_precision: the coarsest from the start of the dump to here */
    bool module;           /* not an API */
    bool container;        /* a module that has modules of its own */
    bool conversion;       /* changes type or layout only */
    bool kink;             /* a small change of the input may change the output wholly */
    bool exponential;      /* an absolute change of the input is a relative one of the output */
    bool random;           /* by its operation, or because it drops elements */
    bool random_operation; /* by its operation */
    bool overwrites;       /* the old content of its first input does not matter */
    bool keeps_rest;       /* but in the part it does not overwrite */
    bool undefined;        /* makes memory that nobody has written */
    bool update;       /* after a backward and without gradients itself: clipping, the optimiser */
    double input_rms;  /* largest of its inputs and parameters, of either side */
    double input_norm; /* the same for the norm */
    double output_rms;
};

struct tdc_calls {
    struct tdc_rows rows; /* of the table */
    struct tdc_call *calls;
    size_t count;
};

/* Rows of a call are neighbours; row->call of all rows is set. calls->calls is to be freed in any
 * case. False when out of memory. */
bool tdc_calls_make(const struct tdc_rows *rows, struct tdc_calls *calls);

/* Calls that were never made say nothing of a row. */
struct tdc_scene tdc_calls_scene(const struct tdc_calls *calls, const struct tdc_row *row);

#endif
