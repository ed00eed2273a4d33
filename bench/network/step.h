/*
 * step.h - one training step being computed: calls of a network, run by the reference in the dtype
 * of the dump, noted as a collector would, and their gradients pulled back.
 *
 * A network is a function that opens modules and makes calls. Each call is computed at once, so
 * that an error put into one of them is an input of the next; tdc_step_backward then walks all
 * calls in reverse. What is noted (`events`) is written by step_files.h.
 *
 * All memory is the step's arena. The first failure stays in `status` with its reason, and whatever
 * follows does nothing: a network is written without looking at results, and asked once at its end.
 */
#ifndef TDC_BENCH_NETWORK_STEP_H
#define TDC_BENCH_NETWORK_STEP_H

#include "bench/network/fault.h"
#include "io/base/arena.h"
#include "reference/reference.h"

#define TDC_STEP_ARGUMENTS 8
#define TDC_STEP_KEYWORDS  6
#define TDC_STEP_OUTPUTS   3
#define TDC_STEP_TENSORS   8 /* of a call's arguments */
#define TDC_STEP_NAME      160

struct tdc_step_variable {
    struct tdc_reference_tensor *values;   /* of the recorded dtype and exact in it */
    bool tracked;                          /* wants a gradient */
    struct tdc_reference_tensor *gradient; /* collected so far; NULL: none */
};

enum tdc_step_kind {
    TDC_STEP_NULL,
    TDC_STEP_VARIABLE,
    TDC_STEP_VARIABLES, /* a list of two: `variable` and `second` */
    TDC_STEP_INT,
    TDC_STEP_INTS, /* a list of one: `whole` */
    TDC_STEP_FLOAT,
    TDC_STEP_BOOL,
    TDC_STEP_TEXT,
    TDC_STEP_DTYPE
};

struct tdc_step_value {
    enum tdc_step_kind kind;
    struct tdc_step_variable *variable, *second;
    int64_t whole;
    double real;
    const char *text;
    tdc_dtype dtype;
};

#define TDC_V(x)    ((struct tdc_step_value){.kind = TDC_STEP_VARIABLE, .variable = (x)})
#define TDC_NONE    ((struct tdc_step_value){.kind = TDC_STEP_NULL})
#define TDC_INT(x)  ((struct tdc_step_value){.kind = TDC_STEP_INT, .whole = (x)})
#define TDC_INTS(x) ((struct tdc_step_value){.kind = TDC_STEP_INTS, .whole = (x)})
#define TDC_REAL(x) ((struct tdc_step_value){.kind = TDC_STEP_FLOAT, .real = (x)})
#define TDC_FLAG(x) ((struct tdc_step_value){.kind = TDC_STEP_BOOL, .whole = (x)})
#define TDC_WORD(x) ((struct tdc_step_value){.kind = TDC_STEP_TEXT, .text = (x)})
#define TDC_TYPE(x) ((struct tdc_step_value){.kind = TDC_STEP_DTYPE, .dtype = (x)})
#define TDC_PAIR(a, b)                                                                             \
    ((struct tdc_step_value){.kind = TDC_STEP_VARIABLES, .variable = (a), .second = (b)})

struct tdc_step_keyword {
    const char *name;
    struct tdc_step_value value;
};

struct tdc_step_call {
    char name[TDC_STEP_NAME]; /* "Functional.linear.3" */
    const char *source;       /* its line in the program that was traced */
    struct tdc_step_module *module;
    unsigned place; /* among what its module does */
    struct tdc_step_value arguments[TDC_STEP_ARGUMENTS];
    size_t argument_count;
    struct tdc_step_keyword keywords[TDC_STEP_KEYWORDS];
    size_t keyword_count;
    struct tdc_step_variable *outputs[TDC_STEP_OUTPUTS];
    size_t output_count;
    /* of the backward, which took place when `pulled` */
    bool pulled;
    struct tdc_reference_tensor *arriving[TDC_STEP_OUTPUTS]; /* NULL: no gradient came */
    struct tdc_reference_tensor *leaving[TDC_STEP_TENSORS];  /* one per tensor argument, or NULL */
    size_t leaving_count;
};

struct tdc_step_module {
    char name[TDC_STEP_NAME]; /* "Module.model.layers.0.mlp.Mlp" */
    struct tdc_step_module *parent;
    unsigned place, made; /* within its parent; what it has done so far */
    struct tdc_step_variable *outside, *input, *output; /* input: what outside is called inside */
    struct {
        const char *name;
        struct tdc_step_variable *variable;
    } parameters[2];
    size_t parameter_count;
    struct tdc_reference_tensor *arriving, *leaving; /* of the backward; NULL: none */
};

struct tdc_step_event {
    enum {
        TDC_MODULE_BEGINS,
        TDC_CALL_HAPPENS,
        TDC_MODULE_ENDS
    } kind;
    struct tdc_step_module *module;
    struct tdc_step_call *call;
};

struct tdc_step {
    struct tdc_arena arena;
    struct tdc_arena scratch; /* of one call */
    tdc_dtype dtype;          /* of weights and activations */
    /* Computed in float64 and rounded at the end of each call; otherwise in float32, every
     * operation inside a call rounded: two correct machines. */
    bool exact;
    const struct tdc_fault *fault; /* NULL: none */
    bool faulted;                  /* it took place */
    uint64_t seed;
    struct tdc_step_event *events;
    size_t event_count, event_room;
    struct tdc_step_module *module; /* innermost open one */
    struct {
        const char *api;
        unsigned count;
    } counters[64];
    size_t counter_count;
    tdc_status status;
    char reason[512];
};

void tdc_step_init(struct tdc_step *step, tdc_dtype dtype, uint64_t seed);
void tdc_step_free(struct tdc_step *step);
/* Keeps the first failure. */
void tdc_step_fail(struct tdc_step *step, tdc_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A parameter of normal numbers of that deviation around a mean; tracked. */
struct tdc_step_variable *tdc_step_parameter(struct tdc_step *step, unsigned rank,
                                             const int64_t *shape, double mean, double deviation);
/* Whole numbers from 0 to below; never tracked. */
struct tdc_step_variable *tdc_step_indices(struct tdc_step *step, unsigned rank,
                                           const int64_t *shape, int64_t below);
/* Opens Module.PATH.TYPE; `input` (or NULL) goes in, and what it is called inside is returned. */
struct tdc_step_variable *tdc_step_enter(struct tdc_step *step, const char *type,
                                         struct tdc_step_variable *input, const char *path, ...)
    __attribute__((format(printf, 4, 5)));
void tdc_step_own(struct tdc_step *step, const char *name, struct tdc_step_variable *parameter);
/* Closes the innermost module; returns output. */
struct tdc_step_variable *tdc_step_leave(struct tdc_step *step, struct tdc_step_variable *output);

/* Computes the next call of an API. Arguments as the framework takes them; `source` is the line of
 * the program that stands in its stack. */
struct tdc_step_variable *tdc_step_call_api(struct tdc_step *step, const char *api,
                                            const char *source, size_t argument_count,
                                            const struct tdc_step_value *arguments,
                                            size_t keyword_count,
                                            const struct tdc_step_keyword *keywords);
#define TDC_VALUES(...)                                                                            \
    sizeof((struct tdc_step_value[]){__VA_ARGS__}) / sizeof(struct tdc_step_value),                \
        (struct tdc_step_value[])                                                                  \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
#define TDC_KEYWORDS(...)                                                                          \
    sizeof((struct tdc_step_keyword[]){__VA_ARGS__}) / sizeof(struct tdc_step_keyword),            \
        (struct tdc_step_keyword[])                                                                \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

/* Pulls a gradient of ones back from the loss, whose factor is in it, through all that was noted.
 */
void tdc_step_backward(struct tdc_step *step, struct tdc_step_variable *loss);

#endif
