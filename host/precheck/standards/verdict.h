/* verdict.h - one output slot: tested value against reference value. */
#ifndef TDC_PRECHECK_VERDICT_H
#define TDC_PRECHECK_VERDICT_H

#include "host/precheck/standards/metrics.h"
#include "host/precheck/rebuild/rebuild.h"
#include "host/precheck/standards/slot_bound.h"

#define TDC_SHAPE_TEXT 384

/* A row of the details file. */
struct tdc_slot_row {
    size_t number;
    const char *bench_dtype, *tested_dtype;
    char shape[TDC_SHAPE_TEXT]; /* as Python writes the reference's: "(3, 4)" */
    bool measured;              /* the metrics are set */
    struct tdc_metrics metrics;
    bool floating; /* metrics.max_ulp counts units of the tested dtype */
    bool bounded;  /* judged by its bound */
    struct tdc_bound_check bound;
    tdc_check status;
    char message[512];
};

/* A slot with both its values. */
struct tdc_slot {
    size_t number;
    struct tdc_reference_value reference, tested;
};

/* Fills the row. False, with the reason, when msprobe would give up the whole direction. */
bool tdc_judge_slot(const struct tdc_precheck_options *options, struct tdc_arena *arena,
                    const struct tdc_slot *slot, struct tdc_slot_row *row,
                    struct tdc_reason *reason);

/* True when slots are judged by their bounds, not by thresholds. */
bool tdc_judges_by_bound(const struct tdc_precheck_options *options);

/* "pass", "error", ...; "" for TDC_CHECK_NONE. */
const char *tdc_check_text(tdc_check check);

/* The elements as float64: the tensor's own when it is floating, else a copy. NULL: no memory. */
const double *tdc_as_doubles(struct tdc_arena *arena, const struct tdc_reference_tensor *tensor);
/* A copy rounded to the dtype. NULL: no memory. */
const double *tdc_rounded_copy(struct tdc_arena *arena, const double *values, uint64_t count,
                               tdc_dtype dtype);
/* True when the slot's reference is rounded to the tested dtype before it is compared. */
bool tdc_rounds_bench(tdc_bench_round rounding, const struct tdc_reference_tensor *bench,
                      const struct tdc_reference_tensor *tested);
void tdc_shape_text(const struct tdc_reference_tensor *tensor, char text[TDC_SHAPE_TEXT]);
/* "Float32", "int", "tuple", ... */
const char *tdc_value_type(const struct tdc_reference_value *value);

#endif
