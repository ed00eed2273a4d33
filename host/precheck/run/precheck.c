/* precheck.c - a whole run: calls in batches, rows in order. */
#include "host/precheck/run/precheck.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "host/precheck/calls/filter.h"
#include "host/precheck/rebuild/input_file.h"
#include "host/precheck/files/row_text.h"
#include "host/precheck/run/call_record.h"
#include "host/precheck/run/call_writer.h"
#include "host/precheck/run/check_team.h"
#include "io/base/clock.h"
#include "io/base/error.h"
#include "io/base/sized.h"
#include "io/base/team.h"
#include "io/file/mapping_guard.h"
#include "io/file/out_file.h"

#define EXPLANATION_LIMIT ((size_t)16 << 20)
#define CALL_MEMORY       ((size_t)16 << 30) /* of a call that is checked alone */

static void set_defaults(struct tdc_precheck_options *options, tdc_profile profile)
{
    *options = (struct tdc_precheck_options){.size = sizeof *options,
                                             .profile = profile,
                                             .standard = TDC_STANDARD_COSINE,
                                             .max_abs_err = 0.0001,
                                             .cosine = 0.99,
                                             .output = "./"};
    if (profile == TDC_PROFILE_EXTENDED)
        options->flags = TDC_PRECHECK_JSON | TDC_PRECHECK_ANY_FRAMEWORK;
    else if (profile == TDC_PROFILE_COMPAT)
        options->flags = TDC_PRECHECK_CHECK_FILES;
}

void tdc_precheck_options_init(struct tdc_precheck_options *options, size_t size,
                               tdc_profile profile)
{
    struct tdc_precheck_options defaults;
    set_defaults(&defaults, profile);
    defaults.size = size;
    tdc_sized_init(options, size, &defaults, sizeof defaults);
}

static tdc_status read_options(const struct tdc_precheck_options *given,
                               struct tdc_precheck_options *whole, struct tdc_error *error)
{
    const size_t least = offsetof(struct tdc_precheck_options, flags);
    set_defaults(whole, given->size >= least ? given->profile : TDC_PROFILE_NONE);
    tdc_status status =
        tdc_sized_read(given, least, whole, sizeof *whole, "tdc_precheck_options_init", error);
    if (status == TDC_OK &&
        (whole->profile == TDC_PROFILE_NONE || whole->standard == TDC_STANDARD_NONE))
        status = tdc_fail(error, TDC_ERR_ARGUMENT, "the options name no profile or no standard");
    return status;
}

tdc_status tdc_precheck_open(const char *dump_json, const struct tdc_precheck_options *given,
                             tdc_precheck **precheck, struct tdc_error *error)
{
    *precheck = NULL;
    struct tdc_precheck *made = calloc(1, sizeof *made);
    if (made == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
    tdc_status status = read_options(given, &made->own_options, error);
    const struct tdc_precheck_options *options = made->options = &made->own_options;
    tdc_api_summary_init(&made->apis);
    tdc_gaps_init(&made->gaps);
    tdc_text_init(&made->explanation, EXPLANATION_LIMIT);
    struct tdc_calls_rules rules = {(options->flags & TDC_PRECHECK_ANY_FRAMEWORK) != 0,
                                    options->message, options->context};
    if (status == TDC_OK && (options->flags & TDC_PRECHECK_CHECK_FILES) != 0)
        status = tdc_input_file_check(dump_json, error);
    if (status == TDC_OK)
        status = tdc_calls_load(dump_json, &rules, &made->calls, error);
    if (status == TDC_OK && made->calls.statistics && options->tested == TDC_TESTED_RECORDED)
        status = tdc_fail(error, TDC_ERR_REFUSED,
                          "%s: task statistics has no recorded outputs (mode recorded)", dump_json);
    if (status == TDC_OK)
        status = tdc_filter_names_check(&made->calls, options, error);
    if (status == TDC_OK && (options->flags & TDC_PRECHECK_DISTINCT) != 0)
        status = tdc_filter_repeated(&made->calls, error);
    if (status != TDC_OK) {
        tdc_precheck_free(made);
        return status;
    }
    *precheck = made;
    return TDC_OK;
}

void tdc_precheck_free(tdc_precheck *precheck)
{
    if (precheck == NULL)
        return;
    tdc_json_details_discard(&precheck->json);
    if (precheck->journal_open)
        tdc_journal_close(&precheck->journal);
    tdc_calls_free(&precheck->calls);
    tdc_api_summary_free(&precheck->apis);
    tdc_gaps_free(&precheck->gaps);
    tdc_text_free(&precheck->explanation);
    free(precheck->json_path);
    free(precheck->error_folder);
    free(precheck);
}

size_t tdc_precheck_calls(const tdc_precheck *precheck)
{
    return precheck->calls.count;
}

/* NULL: the tested side was recorded. */
static const char *executor_name(const struct tdc_precheck *precheck)
{
    const struct tdc_executor *executor = tdc_executor_for(&precheck->calls, precheck->options);
    return executor != NULL ? executor->name : NULL;
}

/* ---- files ----------------------------------------------------------------------------------- */

static const struct tdc_call *call_named(const struct tdc_calls *calls, const char *name)
{
    for (size_t i = 0; i < calls->count; i++)
        if (strcmp(calls->calls[i].name, name) == 0)
            return &calls->calls[i];
    return NULL;
}

static size_t count_rows(const char *text)
{
    size_t rows = 0;
    for (bool quoted = false; *text != '\0'; text++) {
        quoted ^= *text == '"';
        rows += *text == '\n' && !quoted;
    }
    return rows;
}

/* By checking the call again. */
static size_t rows_of_call(void *context, const char *name)
{
    struct tdc_precheck *precheck = context;
    const struct tdc_call *call = call_named(&precheck->calls, name);
    struct tdc_checker checker;
    size_t rows = TDC_ROWS_UNKNOWN;
    if (call == NULL)
        return rows;
    if (tdc_checker_start(&checker, &precheck->calls, precheck->options, CALL_MEMORY)) {
        struct tdc_call_check check;
        struct tdc_call_outcome outcome;
        tdc_call_outcome_init(&outcome);
        tdc_check_call(&checker, call, &check);
        tdc_call_outcome_take(&outcome, &check);
        rows = count_rows(tdc_text_get(&outcome.details));
        tdc_call_check_end(&check);
        tdc_call_outcome_free(&outcome);
    }
    tdc_checker_end(&checker);
    return rows;
}

static tdc_status open_journal(struct tdc_precheck *precheck, struct tdc_error *error)
{
    const struct tdc_precheck_options *options = precheck->options;
    const char *resumed = options->result_csv;
    tdc_status status = TDC_OK;
    if (resumed == NULL)
        status = tdc_make_folders(options->output, error);
    else if ((options->flags & TDC_PRECHECK_CHECK_FILES) != 0)
        status = tdc_input_file_check(resumed, error);
    if (status != TDC_OK)
        return status;
    bool pytorch = options->standard == TDC_STANDARD_PYTORCH;
    const char *result = pytorch ? tdc_standard_result_header : tdc_result_header;
    const char *details = pytorch ? tdc_standard_header : tdc_details_header;
    precheck->journal_open = true;
    return resumed != NULL
               ? tdc_journal_resume(&precheck->journal, resumed, result, details, rows_of_call,
                                    precheck, error)
               : tdc_journal_start(&precheck->journal, options->output, result, details, error);
}

static tdc_status open_json(struct tdc_precheck *precheck, struct tdc_error *error)
{
    if ((precheck->options->flags & TDC_PRECHECK_JSON) == 0)
        return TDC_OK;
    const char *details = precheck->journal.details_path;
    size_t length = strlen(details);
    if (length > 4 && strcmp(details + length - 4, ".csv") == 0)
        length -= 4;
    if (asprintf(&precheck->json_path, "%.*s.json", (int)length, details) < 0) {
        precheck->json_path = NULL;
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
    }
    return tdc_json_details_start(&precheck->json, precheck->json_path, precheck->calls.path,
                                  executor_name(precheck), precheck->options, error);
}

/* The stamp of "..._20260102030405.csv". */
static const char *stamp_of(const char *result_path, int *length)
{
    const char *line = strrchr(result_path, '_');
    const char *stamp = line != NULL ? line + 1 : "";
    *length = (int)strcspn(stamp, ".");
    return stamp;
}

static tdc_status name_error_folder(struct tdc_precheck *precheck, struct tdc_error *error)
{
    const struct tdc_precheck_options *options = precheck->options;
    if ((options->flags & TDC_PRECHECK_KEEP_ERRORS) == 0 || executor_name(precheck) == NULL)
        return TDC_OK;
    int length = 0, made;
    const char *stamp =
        precheck->journal_open ? stamp_of(precheck->journal.result_path, &length) : "";
    if (options->error_data != NULL)
        made = asprintf(&precheck->error_folder, "%s/ut_error_data%.*s", options->error_data,
                        length, stamp);
    else
        made = asprintf(&precheck->error_folder, "%s/error_data", options->output);
    if (made >= 0)
        return TDC_OK;
    precheck->error_folder = NULL;
    return tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
}

static void announce(const struct tdc_precheck *precheck, const char *what, const char *path)
{
    char text[4352];
    snprintf(text, sizeof text, "UT task %s will be saved in %.4200s", what, path);
    if (precheck->options->message != NULL)
        precheck->options->message(precheck->options->context, TDC_MESSAGE_INFO, text);
}

/* What msprobe says of PyTorch dumps, and not of others. */
static void announce_files(const struct tdc_precheck *precheck)
{
    if (precheck->calls.recorder != TDC_RECORDER_PYTORCH)
        return;
    announce(precheck, "result", precheck->journal.result_path);
    announce(precheck, "details", precheck->journal.details_path);
    if (precheck->error_folder != NULL)
        announce(precheck, "error_data", precheck->error_folder);
}

static tdc_status prepare(struct tdc_precheck *precheck, struct tdc_error *error)
{
    tdc_status status = open_journal(precheck, error);
    if (status == TDC_OK)
        status = name_error_folder(precheck, error);
    if (status == TDC_OK)
        announce_files(precheck);
    return status == TDC_OK ? open_json(precheck, error) : status;
}

/* ---- results --------------------------------------------------------------------------------- */

static void advance(const struct tdc_precheck *precheck, uint64_t calls)
{
    if (precheck->options->progress != NULL && calls != 0)
        precheck->options->progress(precheck->options->context, calls);
}

/* The next calls to check from *next on; those an earlier run has done are passed over. */
static size_t gather(struct tdc_precheck *precheck, size_t *next, const struct tdc_call **calls)
{
    size_t taken = 0, resumed = 0;
    for (; *next < precheck->calls.count && taken < TDC_CALLS_AT_ONCE; ++*next) {
        const struct tdc_call *call = &precheck->calls.calls[*next];
        if (tdc_journal_has(&precheck->journal, call->name))
            resumed++;
        else
            calls[taken++] = call;
    }
    precheck->summary.resumed += resumed;
    advance(precheck, resumed);
    return taken;
}

static bool cancelled(const struct tdc_precheck *precheck)
{
    return tdc_cancel_is_set(precheck->options->cancel);
}

/* The calls that are not known, checked; `checked` has room for as many outcomes again. */
static tdc_status check_unknown(struct tdc_precheck *precheck, struct tdc_check_team *team,
                                const struct tdc_call *const *calls, size_t count,
                                struct tdc_call_outcome *outcomes, struct tdc_error *error)
{
    const struct tdc_call *unknown[TDC_CALLS_AT_ONCE];
    size_t places[TDC_CALLS_AT_ONCE], left = 0;
    struct tdc_shared_calls *shared = &precheck->shared;
    tdc_status status = TDC_OK;
    for (size_t i = 0; i < count && status == TDC_OK; i++) {
        if (tdc_shared_call_known(shared, calls[i], &outcomes[i])) {
            if (!tdc_call_rows_tell(&outcomes[i].rows, calls[i]->name, outcomes[i].api,
                                    precheck->options))
                status = tdc_fail(error, TDC_ERR_FORMAT, "%s: its rows in a part are damaged",
                                  calls[i]->name);
            continue;
        }
        status = tdc_shared_call_check(shared, calls[i], error);
        places[left] = i;
        unknown[left++] = calls[i];
    }
    struct tdc_call_outcome *found = calloc(left + 1, sizeof *found);
    if (found == NULL && status == TDC_OK)
        status = tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
    for (size_t i = 0; i < left && found != NULL; i++)
        tdc_call_outcome_init(&found[i]);
    if (status == TDC_OK)
        status = tdc_check_team_run(team, unknown, left, found, NULL, error);
    for (size_t i = 0; i < left && found != NULL; i++) {
        if (status == TDC_OK)
            tdc_shared_call_note(shared, unknown[i], &found[i]);
        tdc_call_outcome_free(&outcomes[places[i]]);
        outcomes[places[i]] = found[i];
    }
    free(found);
    return status;
}

/* This process's share of the calls, for a part: nothing is written beside it. */
static tdc_status run_share(struct tdc_precheck *precheck, struct tdc_check_team *team,
                            struct tdc_call_outcome *outcomes, struct tdc_error *error)
{
    size_t first, count;
    struct tdc_error failure = {0};
    tdc_status status = TDC_OK;
    while (status == TDC_OK && tdc_shared_calls_next(&precheck->shared, &first, &count, &failure)) {
        for (size_t done = 0, taken; done < count && status == TDC_OK; done += taken) {
            const struct tdc_call *calls[TDC_CALLS_AT_ONCE];
            taken = count - done < TDC_CALLS_AT_ONCE ? count - done : TDC_CALLS_AT_ONCE;
            for (size_t i = 0; i < taken; i++) {
                calls[i] = &precheck->calls.calls[first + done + i];
                tdc_call_outcome_init(&outcomes[i]);
            }
            status = cancelled(precheck)
                         ? tdc_fail(error, TDC_ERR_INTERRUPTED, "interrupted")
                         : check_unknown(precheck, team, calls, taken, outcomes, error);
            for (size_t i = 0; i < taken; i++)
                tdc_call_outcome_free(&outcomes[i]);
            advance(precheck, taken);
        }
    }
    if (status == TDC_OK && failure.status != TDC_OK) {
        status = failure.status;
        if (error != NULL)
            *error = failure;
    }
    double work[TDC_WORKS] = {0};
    tdc_check_team_add_work(team, work);
    return status == TDC_OK ? tdc_shared_calls_gather(&precheck->shared, work, error) : status;
}

/* Outcomes of a stretch of calls, which are written while the next one is checked. */
struct stretch {
    struct tdc_precheck *precheck;
    const struct tdc_call *calls[TDC_CALLS_AT_ONCE];
    struct tdc_call_outcome outcomes[TDC_CALLS_AT_ONCE];
    size_t count;
    tdc_status status; /* of writing */
    struct tdc_error error;
};

static void write_stretch(void *context)
{
    struct stretch *s = context;
    double start = tdc_seconds();
    for (size_t i = 0; i < s->count; i++) {
        if (s->status == TDC_OK)
            s->status = tdc_write_call(s->precheck, s->calls[i], &s->outcomes[i], &s->error);
        tdc_call_outcome_free(&s->outcomes[i]);
    }
    if (s->status == TDC_OK)
        s->status = tdc_journal_flush(&s->precheck->journal, &s->error);
    s->precheck->summary.work[TDC_WORK_WRITING] += tdc_seconds() - start;
    advance(s->precheck, s->count);
    s->count = 0;
}

static tdc_status check_stretch(struct stretch *s, struct tdc_check_team *team,
                                struct stretch *before, struct tdc_error *error)
{
    struct tdc_precheck *precheck = s->precheck;
    struct tdc_check_behind behind = {write_stretch, before};
    for (size_t i = 0; i < s->count; i++)
        tdc_call_outcome_init(&s->outcomes[i]);
    if (precheck->shared.share == NULL)
        return tdc_check_team_run(team, s->calls, s->count, s->outcomes, &behind, error);
    write_stretch(before);
    return check_unknown(precheck, team, s->calls, s->count, s->outcomes, error);
}

static tdc_status first_failure(tdc_status status, const struct stretch *written,
                                struct tdc_error *error)
{
    if (status != TDC_OK || written->status == TDC_OK)
        return status;
    if (error != NULL)
        *error = written->error;
    return written->status;
}

static tdc_status run_in_batches(struct tdc_precheck *precheck, struct tdc_check_team *team,
                                 struct tdc_error *error)
{
    struct stretch *stretches = calloc(2, sizeof *stretches);
    if (stretches == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
    stretches[0].precheck = stretches[1].precheck = precheck;
    tdc_status status = TDC_OK;
    struct stretch *before = &stretches[1];
    for (size_t next = 0; status == TDC_OK && next < precheck->calls.count;) {
        struct stretch *s = before == &stretches[0] ? &stretches[1] : &stretches[0];
        if (cancelled(precheck)) {
            status = tdc_fail(error, TDC_ERR_INTERRUPTED, "interrupted");
            break;
        }
        s->count = gather(precheck, &next, s->calls);
        status = check_stretch(s, team, before, error);
        status = first_failure(status, before, error);
        s->status = status; /* nothing is written after a failure */
        before = s;
    }
    write_stretch(before);
    status = first_failure(status, before, error);
    free(stretches);
    return status;
}

static tdc_status finish_gaps(struct tdc_precheck *precheck, struct tdc_error *error)
{
    for (size_t i = 0; i < precheck->calls.left_out_count; i++) {
        const struct tdc_left_out *kind = &precheck->calls.left_out[i];
        if (!tdc_is_module(kind)) {
            precheck->summary.forward.records += kind->records[TDC_FORWARD];
            precheck->summary.backward.records += kind->records[TDC_BACKWARD];
        }
        if (!tdc_gaps_add_kind(&precheck->gaps, kind))
            return tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
    }
    tdc_gaps_sort(&precheck->gaps);
    return TDC_OK;
}

void tdc_precheck_share(tdc_precheck *precheck, tdc_share *share)
{
    precheck->share = share;
}

tdc_status tdc_precheck_run(tdc_precheck *precheck, struct tdc_error *error)
{
    double start = tdc_seconds();
    bool guarded = false;
    struct tdc_check_team team = {0};
    struct tdc_call_outcome *outcomes = calloc(TDC_CALLS_AT_ONCE, sizeof *outcomes);
    tdc_status status =
        outcomes != NULL ? TDC_OK : tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
    if (status == TDC_OK && !tdc_guard_begin())
        status = tdc_fail(error, TDC_ERR_SYSTEM, "cannot install a signal handler");
    if (status == TDC_OK) {
        status =
            tdc_shared_calls_start(&precheck->shared, precheck->share, &precheck->calls, error);
        guarded = true;
    }
    bool delivers = tdc_shared_calls_delivers(&precheck->shared);
    if (status == TDC_OK && precheck->calls.count != 0)
        status = delivers ? prepare(precheck, error) : name_error_folder(precheck, error);
    if (status == TDC_OK)
        status = tdc_check_team_start(&team, &precheck->calls, precheck->options,
                                      precheck->error_folder, error);
    if (status == TDC_OK && tdc_shared_calls_divided(&precheck->shared))
        status = run_share(precheck, &team, outcomes, error);
    if (status == TDC_OK && delivers)
        status = run_in_batches(precheck, &team, error);
    if (guarded)
        tdc_guard_end();
    tdc_api_summary_sort(&precheck->apis);
    if (status == TDC_OK)
        status = finish_gaps(precheck, error);
    if (status == TDC_OK && precheck->json.open) {
        status = tdc_json_details_end(&precheck->json, &precheck->summary, &precheck->gaps,
                                      &precheck->apis, error);
        precheck->json_written = status == TDC_OK;
    }
    tdc_check_team_add_work(&team, precheck->summary.work);
    precheck->summary.threads = tdc_check_team_threads(&team);
    tdc_team_say(precheck->options->message, precheck->options->context, precheck->options->threads,
                 precheck->summary.threads);
    tdc_check_team_end(&team);
    free(outcomes);
    precheck->summary.seconds = tdc_seconds() - start;
    tdc_shared_calls_add_work(&precheck->shared, &precheck->summary);
    tdc_shared_calls_end(&precheck->shared);
    return status;
}

void tdc_precheck_summary(const tdc_precheck *precheck, struct tdc_precheck_summary *summary,
                          size_t size)
{
    struct tdc_precheck_summary whole = precheck->summary;
    whole.executor = executor_name(precheck);
    whole.drawn = precheck->calls.statistics;
    tdc_sized_give(summary, size, &whole, sizeof whole);
}

size_t tdc_precheck_apis(const tdc_precheck *precheck)
{
    return precheck->apis.count;
}

const struct tdc_precheck_api *tdc_precheck_api(const tdc_precheck *precheck, size_t index)
{
    return &precheck->apis.apis[index].api;
}

size_t tdc_precheck_gaps(const tdc_precheck *precheck)
{
    return precheck->gaps.count;
}

const struct tdc_precheck_gap *tdc_precheck_gap(const tdc_precheck *precheck, size_t index)
{
    return &precheck->gaps.gaps[index];
}

const char *tdc_precheck_file(const tdc_precheck *precheck, tdc_precheck_file_kind kind)
{
    const struct tdc_journal *journal = &precheck->journal;
    bool written =
        precheck->journal_open && (journal->result >= 0 || precheck->options->result_csv != NULL);
    if (kind == TDC_FILE_JSON)
        return precheck->json_written ? precheck->json_path : NULL;
    if (kind == TDC_FILE_RESULT && written)
        return journal->result_path;
    return kind == TDC_FILE_DETAILS && written ? journal->details_path : NULL;
}

struct listing {
    bool (*visit)(void *context, const char *api, const char *family, const char *arguments);
    void *context;
};

static bool list_one(void *context, const char *api, const char *family,
                     const struct tdc_operator *definition)
{
    const struct listing *listing = context;
    return listing->visit(listing->context, api, family, tdc_reference_signature(definition));
}

void tdc_precheck_list(bool (*visit)(void *context, const char *api, const char *family,
                                     const char *arguments),
                       void *context)
{
    struct listing listing = {visit, context};
    tdc_reference_list(list_one, &listing);
}
