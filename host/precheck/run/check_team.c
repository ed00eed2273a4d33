#include "host/precheck/run/check_team.h"

#include <ctype.h>
#include <omp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "host/precheck/files/error_data.h"
#include "host/precheck/run/read_ahead.h"
#include "io/base/clock.h"
#include "io/base/error.h"
#include "io/file/mapping_guard.h"
#include "io/base/memory_limit.h"
#include "io/base/team.h"

/* Recorded elements of a call from which on it is worth all threads. */
#define LARGE_CALL ((uint64_t)1 << 18)
/* What a recorded element costs while its call is computed with bounds and gradients, about; a call
 * that needs more is tried again with all memory. */
#define BYTES_OF_ELEMENT 256

tdc_status tdc_check_team_start(struct tdc_check_team *team, const struct tdc_calls *calls,
                                const struct tdc_precheck_options *options,
                                const char *error_folder, struct tdc_error *error)
{
    int threads = tdc_team_size(options->threads);
    int lanes = options->lanes > 1 ? options->lanes : 1;
    *team = (struct tdc_check_team){.calls = calls,
                                    .options = options,
                                    .error_folder = error_folder,
                                    .threads = threads,
                                    .lanes = lanes,
                                    .memory = tdc_memory_limit() / 4 * 3};
    int count = lanes > 1 ? lanes : threads;
    team->checkers = calloc((size_t)count, sizeof *team->checkers);
    if (team->checkers == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
    for (int i = 0; i < count; i++) {
        team->checker_count = i + 1;
        if (!tdc_checker_start(&team->checkers[i], calls, options, team->memory / (size_t)count))
            return tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
    }
    return TDC_OK;
}

void tdc_check_team_end(struct tdc_check_team *team)
{
    for (int i = 0; i < team->checker_count; i++)
        tdc_checker_end(&team->checkers[i]);
    free(team->checkers);
    memset(team, 0, sizeof *team);
}

int tdc_check_team_threads(const struct tdc_check_team *team)
{
    int threads = team->threads;
    if (team->apart != 0 && team->apart < threads)
        threads = team->apart;
    return team->together != 0 && team->together < threads ? team->together : threads;
}

void tdc_check_team_add_work(const struct tdc_check_team *team, double *work)
{
    for (int i = 0; i < team->checker_count; i++)
        for (int w = 0; w < TDC_WORKS; w++)
            work[w] += team->checkers[i].work[w];
}

static void write_behind(const struct tdc_check_behind *behind)
{
    if (behind != NULL)
        behind->write(behind->context);
}

/* False: the call needs more memory than the checker has, and may be tried again with more. */
static bool check_one(const struct tdc_check_team *team, struct tdc_checker *checker,
                      const struct tdc_call *call, bool last_try, struct tdc_call_outcome *outcome)
{
    struct tdc_call_check check;
    tdc_check_call(checker, call, &check);
    double checked = tdc_seconds();
    if ((checker->arena.refused || checker->arena.exhausted) && !last_try) {
        tdc_call_check_end(&check);
        tdc_arena_free(&checker->arena);
        return false;
    }
    if (team->error_folder != NULL)
        tdc_save_error_data(&check, team->error_folder);
    tdc_call_outcome_take(outcome, &check);
    tdc_call_tell_rows(&check);
    tdc_call_check_end(&check);
    checker->work[TDC_WORK_WRITING] += tdc_seconds() - checked;
    return true;
}

/* ---- how large a call is --------------------------------------------------------------------- */

struct sizing {
    const struct tdc_record_place *place;
    uint64_t elements, limit; /* not counted further than this */
};

/* The product of the numbers in the list at `at`, up to about the limit. */
static uint64_t product(const char *at, const char *end, uint64_t limit)
{
    uint64_t all = 1;
    while (at < end && *at != ']') {
        uint64_t number = 0;
        bool digits = false;
        for (; at < end && isdigit((unsigned char)*at); at++, digits = true)
            number = number > limit ? number : number * 10 + (uint64_t)(*at - '0');
        if (digits)
            all = number == 0 || all > limit ? all : all * number;
        else
            at++;
    }
    return all;
}

static void add_shapes(void *argument)
{
    struct sizing *sizing = argument;
    static const char key[] = "\"shape\"";
    const char *at = sizing->place->bytes, *end = at + sizing->place->size;
    while (sizing->elements < sizing->limit &&
           (at = memmem(at, (size_t)(end - at), key, sizeof key - 1)) != NULL) {
        at += sizeof key - 1;
        sizing->elements += product(at, end, sizing->limit);
    }
}

static uint64_t elements_of(const struct tdc_call *call, uint64_t limit)
{
    struct sizing sizing = {.limit = limit};
    for (int d = 0; d < TDC_DIRECTIONS; d++) {
        sizing.place = &call->records[d];
        if (sizing.place->size != 0 && !tdc_guarded_read(add_shapes, &sizing))
            return 0;
    }
    return sizing.elements;
}

uint64_t tdc_call_elements(const struct tdc_call *call)
{
    return elements_of(call, LARGE_CALL);
}

/* ---- threads --------------------------------------------------------------------------------- */

struct spread {
    struct tdc_check_team *team;
    const struct tdc_call *const *calls;
    struct tdc_call_outcome *outcomes;
    size_t count;
    bool large[TDC_CALLS_AT_ONCE]; /* left to all threads together */
    bool ahead[TDC_CALLS_AT_ONCE]; /* files worth asking for before their turn */
    const struct tdc_check_behind *behind;
    atomic_size_t next;
};

static void check_small(void *argument, int member)
{
    struct spread *spread = argument;
    struct tdc_checker *checker = &spread->team->checkers[member];
    int before = omp_get_max_threads();
    omp_set_num_threads(1);
    if (member == 0)
        write_behind(spread->behind);
    for (size_t i; (i = atomic_fetch_add(&spread->next, 1)) < spread->count;) {
        size_t later = i + (size_t)spread->team->threads;
        if (later < spread->count && spread->ahead[later])
            tdc_read_ahead(spread->team->calls, spread->calls[later]);
        if (!spread->large[i])
            spread->large[i] =
                !check_one(spread->team, checker, spread->calls[i], false, &spread->outcomes[i]);
    }
    omp_set_num_threads(before);
}

/* One after another, with the threads and the memory of all. OpenMP's runtime ends the process when
 * it cannot start a thread: how many it can have is tried before. */
static void check_large(struct spread *spread)
{
    struct tdc_check_team *team = spread->team;
    struct tdc_checker *checker = &team->checkers[0];
    size_t share = checker->arena.limit;
    int before = omp_get_max_threads();
    if (team->together == 0)
        team->together = tdc_team_probe(team->threads);
    omp_set_num_threads(team->together);
    for (int i = 0; i < team->checker_count; i++)
        tdc_arena_free(&team->checkers[i].arena); /* what they kept is part of the memory */
    checker->arena.limit = team->memory;
    for (size_t i = 0; i < spread->count; i++) {
        if (!spread->large[i])
            continue;
        if (i + 1 < spread->count && spread->large[i + 1])
            tdc_read_ahead(team->calls, spread->calls[i + 1]);
        check_one(team, checker, spread->calls[i], true, &spread->outcomes[i]);
    }
    tdc_arena_free(&checker->arena);
    checker->arena.limit = share;
    omp_set_num_threads(before);
}

/* Large calls take turns with all threads, unless there are enough of them to keep every thread
 * busy with one of its own, and memory for that: then reading, computing and judging of several
 * overlap.
 */
static size_t divide(struct spread *spread)
{
    const struct tdc_check_team *team = spread->team;
    uint64_t room = team->memory / (size_t)team->threads / BYTES_OF_ELEMENT;
    size_t fitting = 0, small = 0;
    for (size_t i = 0; i < spread->count; i++) {
        uint64_t elements = elements_of(spread->calls[i], room > LARGE_CALL ? room : LARGE_CALL);
        spread->large[i] = elements >= LARGE_CALL;
        spread->ahead[i] = spread->large[i] && elements < room;
        fitting += spread->ahead[i];
    }
    for (size_t i = 0; i < spread->count; i++) {
        if (spread->ahead[i] && fitting >= 2 * (size_t)team->threads)
            spread->large[i] = false;
        small += !spread->large[i];
    }
    return small;
}

static void run_threads(struct tdc_check_team *team, const struct tdc_call *const *calls,
                        size_t count, struct tdc_call_outcome *outcomes,
                        const struct tdc_check_behind *behind)
{
    struct spread spread = {
        .team = team, .calls = calls, .outcomes = outcomes, .count = count, .behind = behind};
    size_t small = divide(&spread), large = 0;
    int wanted = small < (size_t)team->threads ? (int)small : team->threads;
    if (small == 0)
        write_behind(behind);
    int started = tdc_team_run(wanted, check_small, &spread);
    if (started < wanted)
        team->apart = started;
    for (size_t i = 0; i < count; i++)
        large += spread.large[i];
    if (large != 0)
        check_large(&spread);
}

/* ---- lanes ----------------------------------------------------------------------------------- */

struct lane {
    struct tdc_check_team *team;
    const struct tdc_call *const *calls;
    size_t count;
    struct tdc_call_outcome *outcomes;
    int number;
};

static void *run_lane(void *argument)
{
    const struct lane *lane = argument;
    const struct tdc_check_team *team = lane->team;
    int share = team->together / team->lanes;
    omp_set_num_threads(share > 0 ? share : 1);
    for (size_t i = 0; i < lane->count; i++)
        if (lane->calls[i]->position % (size_t)team->lanes == (size_t)lane->number)
            check_one(team, &team->checkers[lane->number], lane->calls[i], true,
                      &lane->outcomes[i]);
    return NULL;
}

static tdc_status run_lanes(struct tdc_check_team *team, const struct tdc_call *const *calls,
                            size_t count, struct tdc_call_outcome *outcomes,
                            struct tdc_error *error)
{
    size_t lanes = (size_t)team->lanes, started = 0;
    if (team->together == 0)
        team->together = tdc_team_probe(team->threads);
    pthread_t *threads = calloc(lanes, sizeof *threads);
    struct lane *work = calloc(lanes, sizeof *work);
    if (threads == NULL || work == NULL) {
        free(threads);
        free(work);
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
    }
    tdc_status status = TDC_OK;
    for (; started < lanes; started++) {
        work[started] = (struct lane){team, calls, count, outcomes, (int)started};
        int failure = pthread_create(&threads[started], NULL, run_lane, &work[started]);
        if (failure != 0) {
            status = tdc_fail_errno(error, TDC_ERR_SYSTEM, failure, "cannot start a lane");
            break;
        }
    }
    for (size_t i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    free(threads);
    free(work);
    return status;
}

tdc_status tdc_check_team_run(struct tdc_check_team *team, const struct tdc_call *const *calls,
                              size_t count, struct tdc_call_outcome *outcomes,
                              const struct tdc_check_behind *behind, struct tdc_error *error)
{
    if (!tdc_guard_begin())
        return tdc_fail(error, TDC_ERR_SYSTEM, "cannot install a signal handler");
    tdc_status status = TDC_OK;
    if (team->lanes > 1) {
        write_behind(behind);
        status = run_lanes(team, calls, count, outcomes, error);
    } else {
        run_threads(team, calls, count, outcomes, behind);
    }
    tdc_guard_end();
    for (size_t i = 0; status == TDC_OK && i < count; i++)
        if (outcomes[i].no_memory)
            status = tdc_fail(error, TDC_ERR_MEMORY, "%s: rows too large or out of memory",
                              calls[i]->name);
    return status;
}
