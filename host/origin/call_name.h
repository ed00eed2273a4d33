/* call_name.h - what the name of a call says: "Functional.linear.0.forward" and its kin. */
#ifndef TDC_HOST_CALL_NAME_H
#define TDC_HOST_CALL_NAME_H

#include <stdbool.h>
#include <stddef.h>

enum tdc_direction {
    TDC_CALL_OTHER, /* single points, and names that say nothing */
    TDC_CALL_FORWARD,
    TDC_CALL_BACKWARD,
    TDC_CALL_GRADIENTS /* parameters_grad */
};

/* Pieces of the name they were parsed from. */
struct tdc_call_name {
    enum tdc_direction direction;
    const char *stem; /* all before the direction */
    size_t stem_length;
    const char *rest; /* what follows the direction: "" or ".0" */
    bool module;
    /* of a module: its place in the network, "model.layers.0" */
    const char *place;
    size_t place_length;
    /* of a module its class, else the operator, without its number: "linear" */
    const char *operation;
    size_t operation_length;
};

struct tdc_call_name tdc_call_name_parse(const char *name);

/* What kind of operator it is, by name; letter case and underscores in between do not matter. */
bool tdc_operation_converts(const struct tdc_call_name *name);
bool tdc_operation_has_kink(const struct tdc_call_name *name);
/* Its outputs change relatively by as much as its inputs change absolutely. */
bool tdc_operation_is_exponential(const struct tdc_call_name *name);
bool tdc_operation_is_random(const struct tdc_call_name *name);
bool tdc_operation_overwrites(const struct tdc_call_name *name);
/* Keeps what it does not overwrite. */
bool tdc_operation_overwrites_part(const struct tdc_call_name *name);
bool tdc_operation_leaves_undefined(const struct tdc_call_name *name);

#endif
