#include "host/precheck/run/call_outcome.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "host/precheck/files/row_text.h"
#include "host/precheck/run/call_record.h"

/* Rows of one call: thousands of slots fit. */
#define ROWS_LIMIT ((size_t)64 << 20)

void tdc_call_outcome_init(struct tdc_call_outcome *outcome)
{
    memset(outcome, 0, sizeof *outcome);
    outcome->worst_ulp = outcome->worst_abs = -1;
    outcome->error = outcome->limit = -1;
    tdc_text_init(&outcome->details, ROWS_LIMIT);
    tdc_text_init(&outcome->result, ROWS_LIMIT);
    tdc_text_init(&outcome->json, ROWS_LIMIT);
    tdc_text_init(&outcome->log, ROWS_LIMIT);
    tdc_text_init(&outcome->rows, ROWS_LIMIT);
}

void tdc_call_outcome_free(struct tdc_call_outcome *outcome)
{
    tdc_text_free(&outcome->details);
    tdc_text_free(&outcome->result);
    tdc_text_free(&outcome->json);
    tdc_text_free(&outcome->log);
    tdc_text_free(&outcome->rows);
}

static void take_slot(struct tdc_call_outcome *outcome, const struct tdc_slot_row *row)
{
    outcome->slots++;
    outcome->failed_slots += row->status == TDC_CHECK_ERROR;
    if (row->measured && row->floating && row->metrics.max_ulp > outcome->worst_ulp)
        outcome->worst_ulp = row->metrics.max_ulp;
    if (row->measured && row->metrics.max_abs > outcome->worst_abs)
        outcome->worst_abs = row->metrics.max_abs;
    const struct tdc_bound_check *bound = &row->bound;
    if (row->status == TDC_CHECK_ERROR && row->bounded && bound->beyond != 0 &&
        bound->error > outcome->error) {
        outcome->error = bound->error;
        outcome->limit = bound->bound;
    }
}

static void take_check(struct tdc_call_outcome *outcome, const struct tdc_call_check *check)
{
    tdc_details_rows(&outcome->details, check);
    tdc_result_row(&outcome->result, check);
    if ((check->checker->options->flags & TDC_PRECHECK_JSON) != 0)
        tdc_details_json(&outcome->json, check);
    tdc_text_adds(&outcome->log, tdc_text_get(&check->log));
    memcpy(outcome->api, check->api, sizeof outcome->api);
    outcome->unsupported = check->unsupported;
    for (int d = 0; d < TDC_DIRECTIONS; d++) {
        const struct tdc_direction_check *direction = &check->directions[d];
        outcome->statuses[d] = direction->status;
        for (size_t i = 0; i < direction->count; i++)
            take_slot(outcome, &direction->rows[i]);
        if (direction->status == TDC_CHECK_SKIP)
            outcome->reasons[d] = direction->reason;
        outcome->recorded[d] = check->call->records[d].size != 0;
    }
    outcome->unreadable = check->unreadable;
    outcome->no_memory = outcome->details.failed || outcome->result.failed ||
                         outcome->json.failed || outcome->log.failed || outcome->rows.failed ||
                         check->log.failed || check->checker->arena.exhausted;
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

static struct tdc_precheck_row public_row(const struct tdc_call_check *check,
                                          const struct tdc_slot_row *row, bool backward)
{
    const struct tdc_metrics *metrics = &row->metrics;
    bool measured = row->measured;
    return (struct tdc_precheck_row){
        .call = check->call->name,
        .api = check->api,
        .backward = backward,
        .measured = measured,
        .slot = row->number,
        .verdict = row->status,
        .bench_dtype = row->bench_dtype,
        .tested_dtype = row->tested_dtype,
        .shape = row->shape,
        .message = row->message,
        .cosine = measured ? metrics->cosine : (double)NAN,
        .max_abs = measured ? metrics->max_abs : (double)NAN,
        .max_relative = measured ? metrics->max_relative : (double)NAN,
        .max_ulp = measured && row->floating ? metrics->max_ulp : (double)NAN,
        .max_abs_at = measured ? metrics->worst : 0,
    };
}

static void keep_rows(struct tdc_text *rows, const struct tdc_call_check *check)
{
    for (int d = 0; d < TDC_DIRECTIONS; d++) {
        const struct tdc_direction_check *direction = &check->directions[d];
        for (size_t i = 0; i < direction->count; i++) {
            struct tdc_precheck_row row = public_row(check, &direction->rows[i], d == TDC_BACKWARD);
            tdc_call_row_put(rows, &row);
        }
    }
}

void tdc_call_outcome_take(struct tdc_call_outcome *outcome, const struct tdc_call_check *check)
{
    const struct tdc_precheck_options *options = check->checker->options;
    if (options->row != NULL)
        keep_rows(&outcome->rows, check);
    take_check(outcome, check);
}

void tdc_call_tell_rows(const struct tdc_call_check *check)
{
    const struct tdc_precheck_options *options = check->checker->options;
    if (options->row == NULL)
        return;
    for (int d = 0; d < TDC_DIRECTIONS; d++) {
        const struct tdc_direction_check *direction = &check->directions[d];
        for (size_t i = 0; i < direction->count; i++) {
            struct tdc_precheck_row row = public_row(check, &direction->rows[i], d == TDC_BACKWARD);
            options->row(options->context, &row);
        }
    }
}
