/*
 * check.h - one API call: rebuilt, computed, paired slot by slot and judged.
 *
 * A checker belongs to one thread. What tdc_check_call fills lies in the checker's arena and is
 * valid until its next call.
 */
#ifndef TDC_PRECHECK_CHECK_H
#define TDC_PRECHECK_CHECK_H

#include "host/precheck/check/executor.h"
#include "host/precheck/standards/slot_standard.h"
#include "host/precheck/standards/verdict.h"
#include "io/base/text.h"

struct tdc_checker {
    const struct tdc_calls *calls;
    const struct tdc_precheck_options *options;
    const struct tdc_executor *executor; /* of the tested side; NULL: it was recorded */
    struct tdc_arena arena;
    struct tdc_tensor_scratch *scratch;
    struct tdc_open_folder folder; /* of the tensors */
    double work[TDC_WORKS];        /* seconds so far */
};

/* Who runs the calls; NULL when their outputs were recorded and are to be judged. */
const struct tdc_executor *tdc_executor_for(const struct tdc_calls *calls,
                                            const struct tdc_precheck_options *options);

bool tdc_checker_start(struct tdc_checker *checker, const struct tdc_calls *calls,
                       const struct tdc_precheck_options *options, size_t memory);
void tdc_checker_end(struct tdc_checker *checker);

struct tdc_values {
    struct tdc_reference_value *list;
    size_t count;
};

struct tdc_direction_check {
    tdc_check status;
    struct tdc_slot *slots;            /* what was paired */
    struct tdc_slot_row *rows;         /* what was found, one per slot */
    struct tdc_standard_row *standard; /* the same by TDC_STANDARD_PYTORCH, else NULL */
    size_t count;
    struct tdc_reason reason; /* of a SKIP */
};

struct tdc_call_check {
    struct tdc_checker *checker;
    const struct tdc_call *call;
    struct tdc_json *records[TDC_DIRECTIONS];
    char api[128];    /* "Mint.add" */
    const char *name; /* "add", inside api */
    const struct tdc_operator *definition;
    bool unsupported; /* the reference has no such API */
    bool left_out;    /* on the user's wish */

    /* the inputs, if inputs_ready; else why not */
    bool inputs_ready;
    struct tdc_reason inputs_reason;
    struct tdc_values arguments;
    struct tdc_reference_keyword *keywords;
    size_t keyword_count;
    struct tdc_values gradients; /* inputs of the backward */

    tdc_dtype autocast; /* the inputs were rounded to it first; TDC_DTYPE_NONE: they were not */

    /* narrowest floating dtype of what is tested, for the reference's bounds */
    tdc_dtype tested[TDC_DIRECTIONS];

    /* the reference's forward, computed once for both directions */
    bool computed;
    tdc_status computed_status;
    struct tdc_reference_results outputs;
    struct tdc_values recorded; /* outputs that settle what is not unique in the reference's */
    /* the outputs that were last read, as the record lists them */
    struct tdc_values listed[TDC_DIRECTIONS];

    struct tdc_direction_check directions[TDC_DIRECTIONS];
    struct tdc_text log; /* lines of warnings */
    bool unreadable;     /* a tensor file exists and cannot be read */
    uint64_t bytes;      /* of tensor data that was read */
};

void tdc_check_call(struct tdc_checker *checker, const struct tdc_call *call,
                    struct tdc_call_check *check);
/* Frees the log; the rest belongs to the checker. */
void tdc_call_check_end(struct tdc_call_check *check);

/* ---- the parts ------------------------------------------------------------------------------- */

/* Fill check->directions[...].slots; false with the reason for a SKIP. */
bool tdc_pair_forward(struct tdc_call_check *check, struct tdc_reason *reason);
bool tdc_pair_backward(struct tdc_call_check *check, struct tdc_reason *reason);
/* The same for PyTorch's records, which hold what the last autograd node saw. */
bool tdc_pair_autograd(struct tdc_call_check *check, struct tdc_reason *reason);

/* autocast.c: rounds the inputs where the record tells that the operator did. */
bool tdc_autocast_inputs(struct tdc_call_check *check, struct tdc_reason *reason);
/* Before the reference is asked: these values are what it will be compared with. */
void tdc_note_tested(struct tdc_call_check *check, enum tdc_direction direction,
                     const struct tdc_values *values);

/* The reference's outputs, computed at the first call. */
bool tdc_check_outputs(struct tdc_call_check *check, struct tdc_reason *reason);
struct tdc_reference_call tdc_check_reference_call(const struct tdc_call_check *check,
                                                   enum tdc_direction direction);
/* Reads check->gradients, the inputs of the backward. */
bool tdc_check_gradients(struct tdc_call_check *check, struct tdc_reason *reason);
/* An API of several autograd nodes: PyTorch's recorder sees the last node alone. */
bool tdc_is_composite(const char *name);
/* The argument at a position or of a name; NULL when it was not given. */
const struct tdc_reference_value *tdc_call_argument(const struct tdc_call_check *check, size_t at,
                                                    const char *name);
bool tdc_has_keyword(const struct tdc_call_check *check, const char *name);
/* Room for `count` slots. */
bool tdc_take_slots(struct tdc_call_check *check, enum tdc_direction direction, size_t count,
                    struct tdc_reason *reason);
void tdc_add_slot(struct tdc_call_check *check, enum tdc_direction direction, size_t number,
                  const struct tdc_reference_value *reference,
                  const struct tdc_reference_value *tested);
/* The recorded outputs of a direction. */
bool tdc_recorded_outputs(struct tdc_call_check *check, enum tdc_direction direction,
                          struct tdc_values *values, struct tdc_reason *reason);
bool tdc_value_is_floating(const struct tdc_reference_value *value);

/* Why msprobe gives up where the mathematics is fine (compat profile); NULL: it does not. */
const char *tdc_compat_refusal(const struct tdc_call_check *check, enum tdc_direction direction);
bool tdc_is_in_place(const char *name);
/* Arguments that mean something else to msprobe (compat profile). */
void tdc_compat_arguments(struct tdc_call_check *check);

/* Why a backward record of PyTorch's is not judged. */
#define TDC_RETURNS_INPUT "the call returns its input: the record is of an earlier call"

/* dropout.c: recorded as the identity, or judged by its share of zeros. True when it is dropout;
 * then *done says whether slots or rows were made, and the reason is set when not. */
bool tdc_check_dropout(struct tdc_call_check *check, enum tdc_direction direction, bool *done,
                       struct tdc_reason *reason);

#endif
