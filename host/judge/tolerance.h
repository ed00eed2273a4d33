/*
 * tolerance.h - limits that a person gives in place of those of the sound rules.
 *
 * An element is within when |test - ref| <= atol + rtol * |ref|, as torch.testing has it, in
 * float64; NaN faces NaN and an infinity its like. A row is `different` when an element is not, or
 * when its cosine is below the limit, and for no other reason: what the rules would call
 * `different` is `close` then. Rows without data of both sides are judged as ever.
 */
#ifndef TDC_HOST_TOLERANCE_H
#define TDC_HOST_TOLERANCE_H

#include "host/engine/engine.h"
#include "host/judge/row.h"
#include "io/base/text.h"

/* The class of a row that was judged by its distance, with its cosine among its values. */
void tdc_tolerance_judge(const struct tdc_tolerance *tolerance, const struct tdc_outcome *outcome,
                         struct tdc_row *row, struct tdc_text *message);

#endif
