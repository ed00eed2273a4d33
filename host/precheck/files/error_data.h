/* error_data.h - tensors of failing calls, kept for a second look (-save_error_data). */
#ifndef TDC_PRECHECK_ERROR_DATA_H
#define TDC_PRECHECK_ERROR_DATA_H

#include "host/precheck/check/check.h"

/*
 * Writes inputs, tested outputs and reference of each direction with an error slot into the folder,
 * which is created: .npy files, or with options.error_data .pt files, and then of both directions,
 * as msprobe's two prechecks do. A failure is a line in the check's log.
 */
void tdc_save_error_data(struct tdc_call_check *check, const char *folder);

#endif
