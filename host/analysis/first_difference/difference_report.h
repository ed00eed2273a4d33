/* difference_report.h - diff_analyze_*.json: the calls found, from the files of their ranks. */
#ifndef TDC_ANALYSIS_DIFFERENCE_REPORT_H
#define TDC_ANALYSIS_DIFFERENCE_REPORT_H

#include "host/analysis/communication/comm_graph.h"
#include "io/base/text.h"

/* Appends the findings of one rank as a member of the report; file is that rank's
 * compare_result_*.json. */
tdc_status tdc_difference_report_rank(const char *file, const struct tdc_comm_finding *findings,
                                      size_t count, struct tdc_text *out, struct tdc_error *error);

#endif
