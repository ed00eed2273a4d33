/* error_data.h - tensors of failing calls, kept for a second look (-save_error_data). */
#ifndef TDC_PRECHECK_ERROR_DATA_H
#define TDC_PRECHECK_ERROR_DATA_H

#include "host/precheck/check.h"

/* Writes inputs, tested outputs and reference of each direction with an error slot as .npy files
 * into the folder, which is created. A failure is a line in the check's log. */
void tdc_save_error_data(struct tdc_call_check *check, const char *folder);

#endif
