/* step_order.h - the records of a step in the order a collector writes them, and their places. */
#ifndef TDC_BENCH_NETWORK_STEP_ORDER_H
#define TDC_BENCH_NETWORK_STEP_ORDER_H

#include "bench/network/step_files.h"

struct tdc_step_record {
    enum {
        TDC_RECORD_FORWARD,
        TDC_RECORD_BACKWARD,
        TDC_RECORD_GRADIENTS /* of a module's parameters */
    } kind;
    const char *name;
    const struct tdc_step_call *call;     /* NULL: a module's */
    const struct tdc_step_module *module; /* the record's own, or the one that holds the call */
};

/* All records, until visit gives false. */
void tdc_step_visit(const struct tdc_step *step,
                    bool (*visit)(void *context, const struct tdc_step_record *record),
                    void *context);

tdc_status tdc_step_write_stack(const struct tdc_step *step, enum tdc_step_level level,
                                const char *folder, struct tdc_error *error);
tdc_status tdc_step_write_construct(const struct tdc_step *step, enum tdc_step_level level,
                                    const char *folder, struct tdc_error *error);

#endif
