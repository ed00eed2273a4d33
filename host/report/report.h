/*
 * report.h - what a page knows of a run, beyond its public interface.
 *
 * Rows go to a sheet (io/html/sheet.h) as they come; everything else is JSON. Beyond the public
 * columns a row has hidden ones, whose names begin with '#': its source, call, module, class,
 * colour, origin and number in its own table.
 */
#ifndef TDC_HOST_REPORT_H
#define TDC_HOST_REPORT_H

#include <pthread.h>

#include "host/table/table.h"
#include "io/base/text.h"
#include "io/html/sheet.h"
#include "io/table/json_object.h"

/* Rows of a module that are not on the page. */
struct tdc_left_out {
    uint64_t classes[TDC_ROW_CLASSES];
};

struct tdc_html_report {
    struct tdc_html_report_options options; /* its texts are in the arena */
    struct tdc_arena arena;

    struct tdc_html_sheet rows;
    /* by row of the sheet, as long as it can be left out */
    struct tdc_html_report_mark {
        uint32_t module; /* of modules */
        uint8_t row_class;
    } * marks;
    size_t mark_capacity;
    uint64_t seen; /* rows, those left out included */
    struct tdc_name_table modules;
    struct tdc_left_out *left_out; /* by module; NULL: nothing was left out */

    struct tdc_summary total;
    size_t tables, failures;
    size_t origins; /* that are told */
    bool compat;    /* a table by rules without levels */

    /* JSON: elements of lists, with commas between */
    struct tdc_text sources, failed, starts, suggestions, trace;

    struct tdc_html_sheet slots; /* of prechecks */
    pthread_mutex_t lock;        /* of the sheet while a precheck runs */
    struct tdc_slot {
        char *texts[6]; /* call, api, dtypes, shape, message */
        struct tdc_precheck_row row;
    } * waiting;
    size_t waiting_count, waiting_capacity;
    bool out_of_memory; /* while rows came */
    struct tdc_text prechecks;
    size_t precheck_count;
};

/* The rows of a table into the sheet, and what is too much out of it. */
tdc_status tdc_html_report_take_rows(struct tdc_html_report *report, tdc_table *table,
                                     size_t source, struct tdc_error *error);
/* Leaves rows out until the page can hold the others; false when out of memory. */
bool tdc_html_report_trim(struct tdc_html_report *report);
/* The slots that have come, in order, into their sheet; false when out of memory. */
bool tdc_html_report_take_slots(struct tdc_html_report *report, size_t precheck);
void tdc_html_report_forget_slots(struct tdc_html_report *report);

/* What a trace adds: elements of the list of origins, each with what the reference says. False when
 * out of memory. */
bool tdc_html_report_set_trace(struct tdc_html_report *report, const char *elements);

/* An element that is an object, behind those that a list has. */
void tdc_html_report_begin(struct tdc_json_object *object, struct tdc_text *list);

#endif
