/* trace_report.c - what a trace has found, for a page. */
#include "host/analysis/trace/trace_origins.h"
#include "host/report/report.h"

#define ELEMENTS_LIMIT ((size_t)256 << 20)
/* Origins that a page tells; the JSON has all. */
#define MOST_ORIGINS 5000u

static void put_origin(struct tdc_text *out, const struct trace_origin *origin)
{
    struct tdc_text judge, nearer;
    tdc_text_init(&judge, ELEMENTS_LIMIT);
    tdc_text_init(&nearer, ELEMENTS_LIMIT);
    trace_add_verdict(&judge, origin);
    trace_add_nearer(&nearer, origin);
    struct tdc_json_object object;
    tdc_html_report_begin(&object, out);
    tdc_object_whole(&object, "source", origin->task);
    tdc_object_whole(&object, "row", origin->place);
    tdc_object_text(&object, "name", origin->row);
    tdc_object_text(&object, "call", origin->call);
    tdc_object_text(&object, "kind", tdc_origin_text(origin->kind));
    tdc_object_truth(&object, "backward", origin->backward);
    tdc_object_truth(&object, "consequence", origin->consequence);
    tdc_object_truth(&object, "arrived", origin->arrived);
    tdc_object_number(&object, "distance", origin->distance);
    tdc_object_number(&object, "worst", origin->element);
    tdc_object_number(&object, "inputDistance", origin->input_distance);
    tdc_object_whole(&object, "explains", origin->explains);
    tdc_object_whole(&object, "ranks", origin->ranks);
    tdc_object_whole(&object, "alike", origin->alike);
    tdc_object_text(&object, "element", origin->worst);
    /* what stands nearest to the call */
    tdc_object_text(&object, "stack", origin->stack_count != 0 ? origin->stack[0] : NULL);
    tdc_object_text(&object, "module", origin->module_count != 0 ? origin->modules[0] : NULL);
    tdc_object_text(&object, "judge", tdc_text_get(&judge));
    tdc_object_text(&object, "nearer", tdc_text_get(&nearer));
    tdc_object_end(&object);
    out->failed |= judge.failed || nearer.failed;
    tdc_text_free(&judge);
    tdc_text_free(&nearer);
}

tdc_status trace_put_report(const struct tdc_trace *trace, struct tdc_error *error)
{
    if (trace->report == NULL)
        return TDC_OK;
    struct tdc_text elements;
    tdc_text_init(&elements, ELEMENTS_LIMIT);
    for (size_t i = 0; i < trace->origin_count && i < MOST_ORIGINS; i++)
        if (!trace->origins[i].repeated)
            put_origin(&elements, &trace->origins[i]);
    bool whole =
        !elements.failed && tdc_html_report_set_trace(trace->report, tdc_text_get(&elements));
    tdc_text_free(&elements);
    return whole ? TDC_OK : trace_no_memory(error);
}
