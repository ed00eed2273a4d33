/* element_text.h - single elements and where they are, for people. */
#ifndef TDC_HOST_ELEMENT_TEXT_H
#define TDC_HOST_ELEMENT_TEXT_H

#include "host/engine/engine.h"
#include "io/base/text.h"

/* A number where a double holds it exactly; false for complex numbers and large integers, whose
 * text is appended to out instead. */
bool tdc_element_number(tdc_dtype dtype, const struct tdc_element *element, double *number,
                        struct tdc_text *out);

/* "[3, 7]": a flat index as position in a tensor of that shape text. */
void tdc_index_text(struct tdc_text *out, const char *shape, uint64_t index);

#endif
