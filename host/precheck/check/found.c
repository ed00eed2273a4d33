#include "host/precheck/check/found.h"

#include <stdio.h>
#include <string.h>

#include "host/precheck/files/row_text.h"

/* Rows of one call: thousands of slots fit. */
#define ROWS_LIMIT ((size_t)64 << 20)

void tdc_found_init(struct tdc_found *found)
{
    memset(found, 0, sizeof *found);
    found->worst_ulp = found->worst_abs = -1;
    tdc_text_init(&found->details, ROWS_LIMIT);
    tdc_text_init(&found->result, ROWS_LIMIT);
    tdc_text_init(&found->json, ROWS_LIMIT);
    tdc_text_init(&found->log, ROWS_LIMIT);
}

void tdc_found_free(struct tdc_found *found)
{
    tdc_text_free(&found->details);
    tdc_text_free(&found->result);
    tdc_text_free(&found->json);
    tdc_text_free(&found->log);
}

static void take_slot(struct tdc_found *found, const struct tdc_slot_row *row)
{
    found->slots++;
    found->failed_slots += row->status == TDC_CHECK_ERROR;
    if (row->measured && row->floating && row->metrics.max_ulp > found->worst_ulp)
        found->worst_ulp = row->metrics.max_ulp;
    if (row->measured && row->metrics.max_abs > found->worst_abs)
        found->worst_abs = row->metrics.max_abs;
}

void tdc_found_take(struct tdc_found *found, const struct tdc_call_check *check)
{
    tdc_details_rows(&found->details, check);
    tdc_result_row(&found->result, check);
    if (check->checker->options->json)
        tdc_details_json(&found->json, check);
    tdc_text_adds(&found->log, tdc_text_get(&check->log));
    memcpy(found->api, check->api, sizeof found->api);
    found->unsupported = check->unsupported;
    for (int d = 0; d < TDC_DIRECTIONS; d++) {
        const struct tdc_direction_check *direction = &check->directions[d];
        found->statuses[d] = direction->status;
        for (size_t i = 0; i < direction->count; i++)
            take_slot(found, &direction->rows[i]);
        if (direction->status == TDC_CHECK_SKIP)
            found->reasons[d] = direction->reason;
        found->recorded[d] = check->call->records[d].size != 0;
    }
    found->unreadable = check->unreadable;
    found->no_memory = found->details.failed || found->result.failed || found->json.failed ||
                       found->log.failed || check->log.failed || check->checker->arena.exhausted;
}

tdc_check tdc_call_verdict(const tdc_check statuses[TDC_DIRECTIONS])
{
    tdc_check worst = TDC_CHECK_NONE;
    bool skipped = false;
    for (int d = 0; d < TDC_DIRECTIONS; d++) {
        skipped |= statuses[d] == TDC_CHECK_SKIP;
        if (statuses[d] != TDC_CHECK_SKIP && statuses[d] > worst)
            worst = statuses[d];
    }
    return worst == TDC_CHECK_NONE && skipped ? TDC_CHECK_SKIP : worst;
}
