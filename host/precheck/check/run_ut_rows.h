/* run_ut_rows.h - a call of a PyTorch dump as msprobe's own PyTorch run_ut treats it. */
#ifndef TDC_PRECHECK_RUN_UT_ROWS_H
#define TDC_PRECHECK_RUN_UT_ROWS_H

#include "host/precheck/check/check.h"

/* The rows of that program are asked for: its standards, compat profile, recorded tensors. */
bool tdc_is_run_ut(const struct tdc_checker *checker);
/* Both directions of a call whose inputs were read, or could not be. */
void tdc_check_like_run_ut(struct tdc_call_check *check);

#endif
