/* overflow_report.h - anomaly_analyze_*.json: the calls found, with their place in the network. */
#ifndef TDC_ANALYSIS_OVERFLOW_REPORT_H
#define TDC_ANALYSIS_OVERFLOW_REPORT_H

#include "host/analysis/analysis.h"
#include "host/analysis/communication/comm_graph.h"

/* Writes the file and gives its name to *beginning. Reads the dumps of the ranks found once
 * more. */
tdc_status tdc_overflow_report(const struct tdc_rank_dumps *ranks,
                               const struct tdc_comm_result *result, const char *output,
                               const struct tdc_options *options, tdc_beginning *beginning,
                               struct tdc_error *error);

#endif
