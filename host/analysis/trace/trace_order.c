/* trace_order.c - the origins of all ranks in one order, and which of them another rank brought. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/analysis/analysis.h"
#include "host/analysis/trace/trace_origins.h"

/* What a communication may make of the distance of what was sent: sums cancel. */
#define EXCHANGE_GROWTH 32

/* ---- time ------------------------------------------------------------------------------------ */

bool trace_earlier(const struct trace_time *a, const struct trace_time *b)
{
    if (a->step != b->step)
        return a->step < b->step;
    return a->event != b->event ? a->event < b->event : a->position < b->position;
}

/* When an entry of a rank came, once its communications have their times. */
static struct trace_time time_of(const struct trace_task *task, size_t entry)
{
    size_t low = 0, high = task->exchange_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (task->exchanges[middle].entry <= entry)
            low = middle + 1;
        else
            high = middle;
    }
    struct trace_time time = {.step = task->step, .event = 1, .position = entry};
    if (low != 0) {
        const struct trace_exchange *last = &task->exchanges[low - 1];
        time.event = 2 * (uint64_t)last->time + (last->entry != entry);
        time.position = entry - last->entry;
    }
    return time;
}

/* ---- what came from another rank ------------------------------------------------------------- */

/* A rank while the communications of its step are walked through. */
struct rank_state {
    size_t next;  /* of its origins, in the order of time */
    size_t cause; /* the first origin that anything of it may come from */
    size_t from;  /* the same of another rank, by a communication */
};

struct walking {
    struct tdc_trace *trace;
    const size_t *places; /* by rank of the graph: the task */
    struct rank_state *ranks;
};

static size_t earlier_origin(const struct tdc_trace *trace, size_t a, size_t b)
{
    if (a == TRACE_NO_ORIGIN || b == TRACE_NO_ORIGIN)
        return a == TRACE_NO_ORIGIN ? b : a;
    const struct trace_origin *x = &trace->origins[a], *y = &trace->origins[b];
    if (trace_earlier(&x->time, &y->time))
        return a;
    return trace_earlier(&y->time, &x->time) || b < a ? b : a;
}

static void arrives(struct tdc_trace *trace, struct trace_origin *origin, size_t cause)
{
    origin->arrived = true;
    origin->cause = cause;
    trace->arrived++;
}

/* Goes over the origins of a rank up to an entry. What enters a rank that has got something from
 * another one, and was made by no recorded call, was sent. */
static void pass(struct walking *walking, size_t rank, size_t entry)
{
    struct tdc_trace *trace = walking->trace;
    const struct trace_task *task = &trace->tasks[walking->places[rank]];
    struct rank_state *state = &walking->ranks[rank];
    for (; state->next < task->first_origin + task->origin_count; state->next++) {
        struct trace_origin *origin = &trace->origins[state->next];
        if (origin->entry >= entry)
            break;
        origin->time = time_of(task, origin->entry);
        if (origin->kind == TDC_ORIGIN_ENTRY && !origin->parameter &&
            state->from != TRACE_NO_ORIGIN)
            arrives(trace, origin, state->from);
        else
            state->cause = earlier_origin(trace, state->cause, state->next);
    }
}

/* The origin at a communication call itself. */
static size_t own_origin(const struct walking *walking, size_t rank, size_t entry)
{
    const struct trace_task *task = &walking->trace->tasks[walking->places[rank]];
    size_t next = walking->ranks[rank].next;
    bool here = next < task->first_origin + task->origin_count &&
                walking->trace->origins[next].entry == entry;
    return here ? next : TRACE_NO_ORIGIN;
}

/* What the members of a communication send; each is asked for the best of the others. */
struct sent {
    size_t causes[2]; /* the earliest, and that of the other members */
    double distances[2];
    size_t cause_by, distance_by; /* the member that has the first of each */
};

static struct sent look_at_senders(const struct walking *walking,
                                   const struct tdc_comm_event *event)
{
    const struct tdc_trace *trace = walking->trace;
    struct sent sent = {{TRACE_NO_ORIGIN, TRACE_NO_ORIGIN}, {0, 0}, SIZE_MAX, SIZE_MAX};
    for (size_t i = 0; i < event->count; i++) {
        const struct tdc_comm_member *member = &event->members[i];
        const struct trace_exchange *exchange =
            &trace->tasks[walking->places[member->rank]].exchanges[member->call];
        if (member->end == TDC_COMM_DST || !exchange->differs)
            continue;
        size_t cause = walking->ranks[member->rank].cause;
        size_t first = earlier_origin(trace, sent.causes[0], cause);
        if (first != sent.causes[0]) {
            sent.causes[1] = sent.causes[0];
            sent.cause_by = i;
            sent.causes[0] = first;
        } else {
            sent.causes[1] = earlier_origin(trace, sent.causes[1], cause);
        }
        if (exchange->input_distance > sent.distances[0]) {
            sent.distances[1] = sent.distances[0];
            sent.distances[0] = exchange->input_distance;
            sent.distance_by = i;
        } else {
            sent.distances[1] = fmax(sent.distances[1], exchange->input_distance);
        }
    }
    return sent;
}

/* An origin at the call of one member: brought by the others, the same as that of a lower rank, or
 * the communication's own. */
static void settle(struct walking *walking, size_t number, size_t cause, double distance,
                   size_t *common)
{
    struct tdc_trace *trace = walking->trace;
    struct trace_origin *origin = &trace->origins[number];
    if (cause != TRACE_NO_ORIGIN)
        arrives(trace, origin, cause);
    else if (distance > 0 && origin->distance <= EXCHANGE_GROWTH * distance)
        arrives(trace, origin, TRACE_NO_ORIGIN);
    else if (*common != TRACE_NO_ORIGIN)
        arrives(trace, origin, *common);
    else
        *common = number;
}

static void look_at_event(void *context, const struct tdc_comm_event *event)
{
    struct walking *walking = context;
    struct tdc_trace *trace = walking->trace;
    for (size_t i = 0; i < event->count; i++) {
        const struct tdc_comm_member *member = &event->members[i];
        struct trace_exchange *exchange =
            &trace->tasks[walking->places[member->rank]].exchanges[member->call];
        pass(walking, member->rank, exchange->entry);
        exchange->time = event->time;
    }
    struct sent sent = look_at_senders(walking, event);
    size_t common = TRACE_NO_ORIGIN;
    for (size_t i = 0; i < event->count; i++) {
        const struct tdc_comm_member *member = &event->members[i];
        struct rank_state *state = &walking->ranks[member->rank];
        const struct trace_task *task = &trace->tasks[walking->places[member->rank]];
        size_t entry = task->exchanges[member->call].entry;
        bool receives = member->end != TDC_COMM_SRC;
        size_t cause = receives ? sent.causes[i == sent.cause_by] : TRACE_NO_ORIGIN;
        double distance = receives ? sent.distances[i == sent.distance_by] : 0;
        size_t own = own_origin(walking, member->rank, entry);
        if (own != TRACE_NO_ORIGIN) {
            trace->origins[own].time = time_of(task, entry);
            settle(walking, own, cause, distance, &common);
            state->next++;
            size_t source = trace->origins[own].arrived ? trace->origins[own].cause : own;
            state->cause = earlier_origin(trace, state->cause, source);
        }
        state->from = earlier_origin(trace, state->from, cause);
        state->cause = earlier_origin(trace, state->cause, cause);
    }
}

static tdc_status walk_step(struct tdc_trace *trace, const struct trace_step *step,
                            const struct tdc_options *options, struct tdc_error *error)
{
    struct walking walking = {.trace = trace};
    size_t *places = malloc((step->task_count + 1) * sizeof *places), ranks = 0;
    walking.ranks = malloc((step->task_count + 1) * sizeof *walking.ranks);
    walking.places = places;
    bool done = places != NULL && walking.ranks != NULL;
    for (size_t i = 0; i < step->task_count && done; i++) {
        size_t task = step->first_task + i;
        if (!trace->tasks[task].in_graph)
            continue;
        places[ranks] = task;
        walking.ranks[ranks++] =
            (struct rank_state){trace->tasks[task].first_origin, TRACE_NO_ORIGIN, TRACE_NO_ORIGIN};
    }
    struct tdc_comm_result result;
    done = done && tdc_comm_graph_events(step->graph, look_at_event, &walking, &result);
    if (done) {
        for (size_t i = 0; i < ranks; i++)
            pass(&walking, i, SIZE_MAX);
        tdc_analysis_say_links(&result, options);
    }
    free(places);
    free(walking.ranks);
    return done ? TDC_OK : trace_no_memory(error);
}

/* ---- the order ------------------------------------------------------------------------------- */

static int by_entry(const void *a, const void *b)
{
    const struct trace_origin *x = a, *y = b;
    if (x->entry != y->entry)
        return x->entry < y->entry ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

static int by_time(const void *a, const void *b)
{
    const struct trace_origin *x = a, *y = b;
    if (x->arrived != y->arrived)
        return x->arrived - y->arrived;
    if (x->repeated != y->repeated)
        return x->repeated - y->repeated;
    if (x->consequence != y->consequence)
        return x->consequence - y->consequence;
    if (trace_earlier(&x->time, &y->time))
        return -1;
    if (trace_earlier(&y->time, &x->time))
        return 1;
    return (x->number > y->number) - (x->number < y->number);
}

/* An operator that is off is so on every rank that calls it: the earliest is told, the others are
 * counted with it. */
static bool find_repeated(struct tdc_trace *trace)
{
    struct tdc_name_table rows;
    size_t *first = malloc((trace->origin_count + 1) * sizeof *first);
    tdc_names_init(&rows);
    bool room = first != NULL;
    for (size_t i = 0; i < trace->origin_count && room; i++) {
        struct trace_origin *origin = &trace->origins[i];
        bool fresh;
        if (origin->arrived)
            continue;
        uint32_t name = tdc_names_put(&rows, origin->row, strlen(origin->row), &fresh);
        room = name != TDC_NAME_NONE;
        if (!room)
            break;
        if (fresh || trace->origins[first[name]].time.step != origin->time.step) {
            first[name] = i;
            continue;
        }
        struct trace_origin *told = &trace->origins[first[name]];
        if (told->kind != origin->kind || told->task == origin->task)
            continue;
        /* origins stand rank by rank here: a later rank may be the earlier one in time */
        origin->repeated = true;
        origin->cause = first[name];
        told->alike++;
        told->explains += origin->explains;
        if (trace_earlier(&origin->time, &told->time))
            told->time = origin->time;
        trace->repeated++;
    }
    tdc_names_free(&rows);
    free(first);
    return room;
}

/* What was brought counts for what brought it, which was not brought itself. */
static void count_under_causes(struct tdc_trace *trace)
{
    for (size_t i = 0; i < trace->origin_count; i++) {
        const struct trace_origin *origin = &trace->origins[i];
        if (!origin->arrived || origin->cause == TRACE_NO_ORIGIN)
            continue;
        struct trace_origin *source = &trace->origins[origin->cause];
        source->explains += origin->explains;
        /* origins still stand rank by rank */
        source->ranks += source->last_task != origin->task;
        source->last_task = origin->task;
    }
}

/* Causes name origins by their numbers; after sorting numbers are places. */
static bool renumber(struct tdc_trace *trace)
{
    size_t *place = malloc((trace->origin_count + 1) * sizeof *place);
    if (place == NULL)
        return false;
    for (size_t i = 0; i < trace->origin_count; i++)
        place[trace->origins[i].number] = i;
    for (size_t i = 0; i < trace->origin_count; i++) {
        struct trace_origin *origin = &trace->origins[i];
        origin->number = i;
        if (origin->cause != TRACE_NO_ORIGIN)
            origin->cause = place[origin->cause];
    }
    free(place);
    return true;
}

tdc_status trace_order(struct tdc_trace *trace, const struct tdc_options *options,
                       struct tdc_error *error)
{
    for (size_t i = 0; i < trace->task_count; i++) {
        struct trace_task *task = &trace->tasks[i];
        struct trace_origin *own = trace->origins + task->first_origin;
        if (task->origin_count != 0)
            qsort(own, task->origin_count, sizeof *own, by_entry);
        for (size_t k = 0; k < task->origin_count; k++) {
            own[k].number = task->first_origin + k;
            own[k].cause = TRACE_NO_ORIGIN;
            own[k].last_task = i;
            own[k].time = time_of(task, own[k].entry);
        }
    }
    tdc_status status = TDC_OK;
    for (size_t i = 0; i < trace->step_count && status == TDC_OK; i++)
        status = walk_step(trace, &trace->steps[i], options, error);
    if (status != TDC_OK)
        return status;
    for (size_t i = 0; i < trace->task_count; i++)
        for (int side = 0; side < 2; side++) {
            struct trace_abnormal *abnormal = &trace->tasks[i].abnormal[side];
            abnormal->time = time_of(&trace->tasks[i], abnormal->entry);
        }
    count_under_causes(trace);
    if (!find_repeated(trace))
        return trace_no_memory(error);
    if (trace->origin_count != 0)
        qsort(trace->origins, trace->origin_count, sizeof *trace->origins, by_time);
    return renumber(trace) ? TDC_OK : trace_no_memory(error);
}
