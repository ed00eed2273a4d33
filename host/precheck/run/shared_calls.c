#include "host/precheck/run/shared_calls.h"

#include <stdlib.h>

#include "host/precheck/run/call_record.h"
#include "host/precheck/run/check_team.h"
#include "host/share/share.h"
#include "host/precheck/calls/data_names.h"
#include "io/base/error.h"
#include "io/file/mapping_guard.h"

#define RECORD_LIMIT ((size_t)1 << 30)
#define PATH_LIMIT   ((size_t)1 << 16)

tdc_status tdc_shared_calls_start(struct tdc_shared_calls *shared, struct tdc_share *share,
                                  const struct tdc_calls *calls, struct tdc_error *error)
{
    *shared = (struct tdc_shared_calls){.share = share, .calls = calls};
    if (share == NULL)
        return TDC_OK;
    tdc_share_round(share);
    if (!tdc_shared_calls_divided(shared))
        return TDC_OK;
    struct tdc_share_item *items = calloc(calls->count + 1, sizeof *items);
    bool made = items != NULL;
    for (size_t i = 0; made && i < calls->count; i++)
        items[i] = (struct tdc_share_item){.bytes = tdc_call_elements(&calls->calls[i]) * 4,
                                           .may_start = true};
    made = made && tdc_pieces_make(items, calls->count, share->options.count, &shared->pieces);
    free(items);
    shared->stage = share->stage++;
    share->sums.units += shared->pieces.units;
    share->sums.pieces += shared->pieces.count;
    return made ? TDC_OK : tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
}

void tdc_shared_calls_end(struct tdc_shared_calls *shared)
{
    tdc_pieces_free(&shared->pieces);
}

bool tdc_shared_calls_divided(const struct tdc_shared_calls *shared)
{
    return shared->share != NULL && (shared->share->options.kind == TDC_SHARE_PART ||
                                     shared->share->options.kind == TDC_SHARE_TEAM);
}

bool tdc_shared_calls_delivers(const struct tdc_shared_calls *shared)
{
    return shared->share == NULL || tdc_share_delivers(shared->share);
}

void tdc_shared_calls_add_work(const struct tdc_shared_calls *shared,
                               struct tdc_precheck_summary *summary)
{
    if (shared->share == NULL)
        return;
    struct tdc_work_sums others = tdc_share_others(shared->share);
    for (int i = 0; i < TDC_WORKS; i++)
        summary->work[i] += others.times[i];
    /* those of a team worked while this one did */
    if (shared->share->options.kind == TDC_SHARE_MERGE)
        summary->seconds += others.longest;
}

bool tdc_shared_calls_next(struct tdc_shared_calls *shared, size_t *first, size_t *count,
                           struct tdc_error *error)
{
    const struct tdc_share_options *options = &shared->share->options;
    const struct tdc_pieces *pieces = &shared->pieces;
    size_t number = shared->next;
    if (options->kind == TDC_SHARE_TEAM) {
        uint64_t claimed;
        if (!options->team->claim(options->team->context, shared->stage, &claimed)) {
            tdc_fail(error, TDC_ERR_SYSTEM, "the other processes cannot be reached");
            return false;
        }
        number = claimed < pieces->count ? (size_t)claimed : pieces->count;
    } else {
        while (number < pieces->count && pieces->owners[number] != options->index)
            number++;
        shared->next = number + 1;
    }
    if (number >= pieces->count)
        return false;
    *first = pieces->pieces[number].first;
    *count = pieces->pieces[number].count;
    return true;
}

tdc_status tdc_shared_calls_gather(struct tdc_shared_calls *shared, const double work[TDC_WORKS],
                                   struct tdc_error *error)
{
    _Static_assert((int)TDC_WORKS <= TDC_SHARE_TIMES, "a share keeps the times of all");
    tdc_share_times(shared->share, work, TDC_WORKS);
    shared->gathered = true;
    return shared->share->options.kind == TDC_SHARE_TEAM ? tdc_share_gather(shared->share, error)
                                                         : TDC_OK;
}

/* ---- records --------------------------------------------------------------------------------- */

static struct tdc_share_key key_of(const struct tdc_shared_calls *shared,
                                   const struct tdc_call *call)
{
    struct tdc_share_key key = tdc_share_key_start;
    tdc_share_key_text(&key, shared->calls->path);
    tdc_share_key_text(&key, call->name);
    return key;
}

/* The files that the records of a call name, as they are now. */
struct marking {
    const struct tdc_shared_calls *shared;
    const struct tdc_record_place *place;
    struct tdc_share_key key;
    struct tdc_text path;
    bool changed;
};

static void mark_file(void *context, const char *name, size_t length)
{
    struct marking *marking = context;
    tdc_text_clear(&marking->path);
    tdc_text_addf(&marking->path, "%s/%.*s", marking->shared->calls->data_folder, (int)length,
                  name);
    struct tdc_file_mark mark =
        tdc_share_mark(marking->shared->share, tdc_text_get(&marking->path));
    marking->changed |= mark.changed == 0;
    tdc_share_key_number(&marking->key, mark.size);
    tdc_share_key_number(&marking->key, mark.changed);
}

static void mark_files(void *argument)
{
    struct marking *marking = argument;
    tdc_each_data_name(marking->place, mark_file, marking);
}

static void mark_call(const struct tdc_shared_calls *shared, const struct tdc_call *call,
                      struct tdc_file_mark marks[2])
{
    struct marking marking = {.shared = shared, .key = tdc_share_key_start};
    tdc_text_init(&marking.path, PATH_LIMIT);
    for (int d = 0; d < TDC_DIRECTIONS; d++) {
        marking.place = &call->records[d];
        if (marking.place->size != 0 && !tdc_guarded_read(mark_files, &marking))
            marking.changed = true;
    }
    marks[0] = marks[1] = (struct tdc_file_mark){marking.key.halves[0], marking.key.halves[1] | 1};
    if (marking.changed)
        marks[0].changed = 0;
    tdc_text_free(&marking.path);
}

bool tdc_shared_call_known(struct tdc_shared_calls *shared, const struct tdc_call *call,
                           struct tdc_call_outcome *outcome)
{
    if (shared->share == NULL || shared->share->known.count == 0)
        return false;
    struct tdc_share_key key = key_of(shared, call);
    const struct tdc_part_record *record =
        tdc_known_find(&shared->share->known, TDC_PART_CALL, &key);
    struct tdc_file_mark marks[2];
    if (record == NULL)
        return false;
    mark_call(shared, call, marks);
    bool fresh = tdc_marks_equal(&marks[0], &record->marks[0]);
    bool taken = fresh && tdc_call_take(record->content, record->size, outcome);
    if (!taken) {
        tdc_call_outcome_free(outcome);
        tdc_call_outcome_init(outcome);
    }
    /* what a team has gathered was counted by who did it */
    if (!shared->gathered)
        tdc_share_count(shared->share, taken, !taken, 0, 0);
    return taken;
}

void tdc_shared_call_note(struct tdc_shared_calls *shared, const struct tdc_call *call,
                          const struct tdc_call_outcome *outcome)
{
    if (shared->share == NULL)
        return;
    tdc_share_count(shared->share, 0, 0, 1, outcome->bytes);
    if (!tdc_share_wants(shared->share))
        return;
    struct tdc_text content;
    tdc_text_init(&content, RECORD_LIMIT);
    tdc_call_put(&content, outcome);
    struct tdc_part_record record = {.kind = TDC_PART_CALL,
                                     .key = key_of(shared, call),
                                     .content = (const unsigned char *)content.data,
                                     .size = content.length};
    mark_call(shared, call, record.marks);
    if (!content.failed)
        tdc_share_add(shared->share, &record);
    tdc_text_free(&content);
}

tdc_status tdc_shared_call_check(const struct tdc_shared_calls *shared, const struct tdc_call *call,
                                 struct tdc_error *error)
{
    if (shared->share == NULL || shared->share->options.kind != TDC_SHARE_MERGE)
        return TDC_OK;
    return tdc_fail(error, TDC_ERR_REFUSED,
                    "%s is in no part, or its files have changed since: run the shards again with "
                    "--restart",
                    call->name);
}
