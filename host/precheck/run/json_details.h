/* json_details.h - the details of a run as one JSON file. */
#ifndef TDC_PRECHECK_JSON_DETAILS_H
#define TDC_PRECHECK_JSON_DETAILS_H

#include "host/precheck/run/api_summary.h"
#include "host/precheck/run/gaps.h"
#include "io/file/byte_writer.h"
#include "io/file/out_file.h"

struct tdc_json_details {
    struct tdc_out_file file;
    struct tdc_byte_writer writer;
    bool open, first;
};

/* The file appears with tdc_json_details_end. executor: NULL for recorded outputs. */
tdc_status tdc_json_details_start(struct tdc_json_details *details, const char *path,
                                  const char *dump, const char *executor,
                                  const struct tdc_precheck_options *options,
                                  struct tdc_error *error);
/* Rows as tdc_details_json makes them. */
void tdc_json_details_add(struct tdc_json_details *details, const char *rows, size_t length);
/* Ends the rows and adds how many records were checked, why the others were not, and the API kinds,
 * worst first. */
tdc_status tdc_json_details_end(struct tdc_json_details *details,
                                const struct tdc_precheck_summary *summary,
                                const struct tdc_gaps *gaps, const struct tdc_api_summary *apis,
                                struct tdc_error *error);
/* Nothing is left of an unfinished file. */
void tdc_json_details_discard(struct tdc_json_details *details);

#endif
