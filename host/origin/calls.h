/*
 * calls.h - the rows of a table as the calls of a network.
 *
 * What can be said of a call before any data is read: its direction, what its name tells, the
 * precision in force at its end and how large its inputs are. The sound rules judge a row in the
 * light of its call; compat tables have none of this.
 */
#ifndef TDC_HOST_CALLS_H
#define TDC_HOST_CALLS_H

#include "host/origin/call_name.h"
#include "host/judge/sound/precision.h"
#include "host/judge/row.h"

struct tdc_table;

#define TDC_NO_CALL UINT32_MAX

struct tdc_call {
    uint32_t first, end; /* rows */
    uint32_t forward;    /* of a backward call and of gradients: their forward call */
    uint32_t backward;   /* of gradients: the backward call of their module */
    uint32_t earlier;    /* of gradients: those of the micro batch before, which they add to */
    uint8_t direction;   /* enum tdc_direction */
    uint8_t precision;   /* enum tdc_precision: the coarsest from the start of the dump to here */
    bool module;         /* not an API */
    bool container;      /* a module that has modules of its own */
    bool conversion;     /* changes type or layout only */
    bool kink;           /* a small change of the input may change the output wholly */
    bool random;
    bool overwrites;   /* the old content of its first input does not matter */
    bool undefined;    /* makes memory that nobody has written */
    bool update;       /* after a backward and without gradients itself: clipping, the optimiser */
    double input_rms;  /* largest of its inputs and parameters, of either side */
    double input_norm; /* the same for the norm */
    double output_rms;
};

struct tdc_calls {
    struct tdc_call *calls;
    size_t count;
};

/* What the rules need to know of a row's call. */
struct tdc_scene {
    enum tdc_precision precision; /* in force */
    bool gradient;
    bool update;   /* gradients and parameters meet: judged as gradients, noise as in parameters */
    bool enters;   /* a parameter, or an input of the first call */
    bool unjudged; /* its numbers mean nothing */
    double zero;   /* values up to this (root mean square) are zero but for rounding */
};

/* Rows of a call are neighbours; row->call of all rows is set. False when out of memory. */
bool tdc_calls_make(struct tdc_table *table);

struct tdc_scene tdc_calls_scene(const struct tdc_table *table, const struct tdc_row *row);

/* Elements of a shape text: 1 for "[]". */
double tdc_shape_elements(const char *shape);

/* Root mean square by the record's Norm; false when it has none. */
bool tdc_record_rms(const struct tdc_record *record, double *rms);

static inline bool tdc_state_is_output(uint8_t state)
{
    return state == TDC_STATE_OUTPUT || state == TDC_STATE_PARAMETERS_GRAD;
}

#endif
