/*
 * explain.c - which rows follow from which origin.
 *
 * A dump does not say where an input comes from, but a tensor that is handed on keeps its
 * statistics: what goes into a call was produced by the last call whose output had the same. A call
 * that is no origin passes on the cause of its worst input; where nothing tells the producer
 * (operators that were not recorded) it is the cause that was met last. One walk in network order.
 */
#include "host/origin/explain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/judge/record_numbers.h"
#include "io/base/arena.h"
#include "io/base/name_table.h"

/* Statistics and size of a tensor, or its checksum: what it is recognised by. */
#define FACE_ROOM   ((size_t)96)
#define FACES_LIMIT ((size_t)4 << 30)

#define NO_CAUSE UINT32_MAX

struct explaining {
    const struct tdc_calls *calls;
    const struct tdc_rows *rows;
    struct tdc_origin *origins;
    size_t count;
    size_t next; /* the first origin whose call has not been met */
    struct tdc_arena arena;
    struct tdc_name_table faces; /* of outputs that are not identical */
    uint32_t *cause_of_face;     /* by number */
    uint32_t *cause_of_call;
    uint32_t latest; /* the cause that was met last */
};

/* False for tensors that many others look like: constants, and those nothing is known of. */
static bool face_of(const struct tdc_rows *rows, const struct tdc_row *row, char face[FACE_ROOM],
                    size_t *length)
{
    const struct tdc_record *record = tdc_npu_record(rows->match, row);
    if (record == NULL || record->scalar)
        return false;
    if (rows->mode == TDC_MODE_DIGEST) {
        *length = strlen(record->digest);
        if (*length == 0 || *length >= FACE_ROOM || strcmp(record->digest, "N/A") == 0)
            return false;
        memcpy(face, record->digest, *length);
        return true;
    }
    double numbers[1 + TDC_STATISTICS] = {tdc_shape_elements(record->shape)};
    for (int i = 0; i < TDC_STATISTICS; i++)
        if (!tdc_stat_number(record, (enum tdc_statistic)i, &numbers[1 + i]))
            numbers[1 + i] = 0;
    if (!(numbers[1 + TDC_MAX] != numbers[1 + TDC_MIN]))
        return false;
    *length = sizeof numbers;
    memcpy(face, numbers, sizeof numbers);
    return true;
}

static uint32_t cause_by_face(const struct explaining *explaining, const struct tdc_row *row)
{
    char face[FACE_ROOM];
    size_t length;
    if (!face_of(explaining->rows, row, face, &length))
        return NO_CAUSE;
    uint32_t number = tdc_names_find(&explaining->faces, face, length);
    return number == TDC_NAME_NONE ? NO_CAUSE : explaining->cause_of_face[number];
}

/* False when out of memory. */
static bool note_face(struct explaining *explaining, const struct tdc_row *row, uint32_t cause)
{
    char face[FACE_ROOM];
    size_t length;
    if (!face_of(explaining->rows, row, face, &length))
        return true;
    uint32_t number = tdc_names_find(&explaining->faces, face, length);
    if (number == TDC_NAME_NONE) {
        const char *kept = tdc_arena_text(&explaining->arena, face, length);
        bool fresh;
        if (kept == NULL)
            return false;
        number = tdc_names_put(&explaining->faces, kept, length, &fresh);
    }
    if (number == TDC_NAME_NONE)
        return false;
    explaining->cause_of_face[number] = cause;
    return true;
}

static bool is_output(const struct explaining *explaining, const struct tdc_row *row)
{
    const struct tdc_record *record = tdc_npu_record(explaining->rows->match, row);
    return record != NULL && tdc_state_is_output(record->state);
}

static bool differs(const struct tdc_row *row)
{
    return row->row_class >= TDC_ROW_ROUNDING && row->row_class <= TDC_ROW_DIFFERENT;
}

static uint32_t cause_of_input(const struct explaining *explaining, const struct tdc_row *row)
{
    uint32_t cause = cause_by_face(explaining, row);
    return cause != NO_CAUSE ? cause : explaining->latest;
}

/* Of a call that is no origin: that of its worst input, of the calls it belongs to, or the last. */
static uint32_t inherited_cause(const struct explaining *explaining, const struct tdc_call *call,
                                size_t index)
{
    uint32_t cause = NO_CAUSE;
    double most = 0;
    for (uint32_t i = call->first; i < call->end; i++) {
        const struct tdc_row *row = &explaining->rows->rows[i];
        if (is_output(explaining, row) || !differs(row) || !(row->r > most))
            continue;
        most = row->r;
        cause = cause_of_input(explaining, row);
    }
    const uint32_t related[] = {call->backward, call->forward, call->earlier};
    for (size_t i = 0; i < sizeof related / sizeof *related && cause == NO_CAUSE; i++)
        if (related[i] != TDC_NO_CALL && related[i] < index)
            cause = explaining->cause_of_call[related[i]];
    return cause != NO_CAUSE ? cause : explaining->latest;
}

static void count_row(struct explaining *explaining, const struct tdc_row *row, uint32_t cause)
{
    bool counts = row->row_class == TDC_ROW_DIFFERENT || row->origin != TDC_ORIGIN_NONE;
    if (cause != NO_CAUSE && counts)
        explaining->origins[cause].explains++;
}

static bool explain_call(struct explaining *explaining, size_t index)
{
    const struct tdc_call *call = &explaining->calls->calls[index];
    bool begins = explaining->next < explaining->count &&
                  explaining->origins[explaining->next].row < call->end;
    uint32_t own = begins ? (uint32_t)explaining->next++ : NO_CAUSE;
    uint32_t cause = begins ? own : inherited_cause(explaining, call, index);
    for (uint32_t i = call->first; i < call->end; i++) {
        const struct tdc_row *row = &explaining->rows->rows[i];
        if (!differs(row))
            continue;
        /* what a module hands out has been told of the operator inside it */
        uint32_t known = own == NO_CAUSE ? cause_by_face(explaining, row) : NO_CAUSE;
        bool output = is_output(explaining, row);
        uint32_t of_row = row->origin != TDC_ORIGIN_NONE ? own
                          : known != NO_CAUSE            ? known
                          : output                       ? cause
                                                         : cause_of_input(explaining, row);
        count_row(explaining, row, of_row);
        if (output && of_row != NO_CAUSE && !note_face(explaining, row, of_row))
            return false;
    }
    explaining->cause_of_call[index] = cause;
    if (begins)
        explaining->latest = own;
    return true;
}

tdc_status tdc_origins_explain(const struct tdc_calls *calls, struct tdc_origin *origins,
                               size_t count)
{
    struct explaining explaining = {
        .calls = calls, .rows = &calls->rows, .origins = origins, .count = count};
    explaining.latest = NO_CAUSE;
    if (count == 0)
        return TDC_OK;
    for (size_t i = 0; i < count; i++)
        origins[i].explains = 0;
    tdc_arena_init(&explaining.arena, FACES_LIMIT);
    tdc_names_init(&explaining.faces);
    explaining.cause_of_face = malloc((calls->rows.count + 1) * sizeof(uint32_t));
    explaining.cause_of_call = malloc((calls->count + 1) * sizeof(uint32_t));
    bool ok = explaining.cause_of_face != NULL && explaining.cause_of_call != NULL;
    for (size_t i = 0; i < calls->count && ok; i++)
        ok = explain_call(&explaining, i);
    free(explaining.cause_of_face);
    free(explaining.cause_of_call);
    tdc_names_free(&explaining.faces);
    tdc_arena_free(&explaining.arena);
    return ok ? TDC_OK : TDC_ERR_MEMORY;
}
