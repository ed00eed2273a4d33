/* dtype_names.h - dtypes as dump.json and the result files write them. */
#ifndef TDC_PRECHECK_DTYPE_NAMES_H
#define TDC_PRECHECK_DTYPE_NAMES_H

#include "tdcmp.h"

/* "Float32" or "torch.float32"; Int4 reads as int8. TDC_DTYPE_NONE for anything else. */
tdc_dtype tdc_recorded_dtype(const char *text);
/* "Float32"; "Complex64" and the like are never asked for. */
const char *tdc_shown_dtype(tdc_dtype dtype);

#endif
