/* python_value.h - what Python thinks of a JSON value: its truth, its class, the checksum msprobe
 * gives it. */
#ifndef TDC_HOST_PYTHON_VALUE_H
#define TDC_HOST_PYTHON_VALUE_H

#include "io/base/text.h"
#include "io/text/json.h"

/* False for null, false, 0, "", [], {} and a missing one (NULL). */
bool tdc_json_truthy(const struct tdc_json *value);

/* "<class 'int'>"; a missing value is None. */
const char *tdc_python_class(const struct tdc_json *value);

#define TDC_VALUE_DIGEST 16
/* CRC-32 of the value's text in eight digits, of the empty text without a value. False when the
 * scratch text has no room for it. */
bool tdc_value_digest(struct tdc_text *scratch, const struct tdc_json *value,
                      char digits[TDC_VALUE_DIGEST]);

#endif
