#include "host/precheck/run/call_writer.h"

#include <string.h>

#include "io/base/error.h"

static void tell(const struct tdc_precheck *precheck, tdc_message_level level, char *lines)
{
    if (precheck->options->message == NULL)
        return;
    char *rest;
    for (char *line = strtok_r(lines, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest))
        precheck->options->message(precheck->options->context, level, line);
}

static void count(struct tdc_precheck_summary *summary, const struct tdc_call_outcome *outcome)
{
    summary->calls++;
    summary->verdicts[tdc_call_verdict(outcome->statuses)]++;
    for (int d = 0; d < TDC_DIRECTIONS; d++) {
        struct tdc_precheck_counts *counts =
            d == TDC_FORWARD ? &summary->forward : &summary->backward;
        counts->records += outcome->recorded[d];
        counts->skipped += outcome->statuses[d] == TDC_CHECK_SKIP;
        counts->failing += outcome->statuses[d] == TDC_CHECK_ERROR;
        counts->checked +=
            outcome->statuses[d] != TDC_CHECK_SKIP && outcome->statuses[d] != TDC_CHECK_NONE;
    }
    summary->unsupported += outcome->unsupported;
    summary->unreadable += outcome->unreadable;
    summary->bytes += outcome->bytes;
    summary->slots += outcome->slots;
    summary->failed_slots += outcome->failed_slots;
}

tdc_status tdc_write_call(struct tdc_precheck *precheck, const struct tdc_call *call,
                          struct tdc_call_outcome *outcome, struct tdc_error *error)
{
    if (outcome->log.data != NULL)
        tell(precheck, TDC_MESSAGE_WARNING, outcome->log.data);
    count(&precheck->summary, outcome);
    if (!tdc_api_summary_add(&precheck->apis, outcome, call->name) ||
        !tdc_gaps_add(&precheck->gaps, outcome, call->name))
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
    tdc_json_details_add(&precheck->json, tdc_text_get(&outcome->json), outcome->json.length);
    if (outcome->result.length == 0)
        return TDC_OK;
    bool first;
    tdc_status status = tdc_journal_append(&precheck->journal, tdc_text_get(&outcome->details),
                                           outcome->details.length, tdc_text_get(&outcome->result),
                                           outcome->result.length, &first, error);
    char text[] = "Writing CSV headers for the first time.";
    if (status == TDC_OK && first && precheck->options->result_csv == NULL)
        tell(precheck, TDC_MESSAGE_INFO, text);
    return status;
}
