/* trace_stacks.c - where in the code the origins of a rank are. */
#include <string.h>

#include "host/analysis/analysis.h"
#include "host/analysis/trace/trace_origins.h"
#include "io/text/json.h"

/* A stack is shown up to here. */
#define MOST_LINES 64

/* The lines of one call. */
struct stack_lines {
    const char **lines;
    size_t count;
};

struct stack_search {
    struct tdc_trace *trace;
    struct tdc_name_table calls; /* that are origins */
    struct stack_lines *stacks;  /* by number of the call */
};

/* A line up to the source text it quotes. */
static size_t line_length(const struct tdc_json *line)
{
    static const char quoting[] = ", \n";
    for (size_t i = 0; i + 2 < line->length; i++)
        if (memcmp(line->text + i, quoting, sizeof quoting - 1) == 0)
            return i;
    return line->length;
}

static tdc_status keep_lines(struct stack_search *search, const struct tdc_json *lines,
                             struct stack_lines *stack)
{
    stack->lines = tdc_arena_zeroed(&search->trace->arena, MOST_LINES, sizeof *stack->lines);
    stack->count = 0;
    if (stack->lines == NULL)
        return TDC_ERR_MEMORY;
    for (const struct tdc_json *line = lines->child; line != NULL && stack->count < MOST_LINES;
         line = line->next) {
        if (line->kind != TDC_JSON_STRING)
            continue;
        char *kept = tdc_arena_text(&search->trace->arena, line->text, line_length(line));
        if (kept == NULL)
            return TDC_ERR_MEMORY;
        stack->lines[stack->count++] = kept;
    }
    return TDC_OK;
}

static tdc_status look_at_stack(void *context, const char *entry, size_t length,
                                const struct tdc_json *lines, long position)
{
    (void)position;
    struct stack_search *search = context;
    uint32_t call = tdc_names_find(&search->calls, entry, length);
    if (call == TDC_NAME_NONE || lines->kind != TDC_JSON_LIST)
        return TDC_OK;
    return keep_lines(search, lines, &search->stacks[call]);
}

tdc_status trace_note_stacks(struct tdc_trace *trace, const struct trace_task *task,
                             const struct tdc_options *options, struct tdc_error *error)
{
    if (task->origin_count == 0 || task->task->stack == NULL)
        return TDC_OK;
    struct trace_origin *origins = trace->origins + task->first_origin;
    struct stack_search search = {.trace = trace};
    tdc_names_init(&search.calls);
    search.stacks = tdc_arena_zeroed(&trace->arena, task->origin_count, sizeof *search.stacks);
    bool fresh, room = search.stacks != NULL;
    for (size_t i = 0; i < task->origin_count && room; i++)
        room = tdc_names_put(&search.calls, origins[i].call, strlen(origins[i].call), &fresh) !=
               TDC_NAME_NONE;
    struct tdc_error reason = {0};
    tdc_status status =
        room ? tdc_stacks_walk(task->task->stack, look_at_stack, &search, &reason) : TDC_ERR_MEMORY;
    for (size_t i = 0; i < task->origin_count && status == TDC_OK; i++) {
        uint32_t call = tdc_names_find(&search.calls, origins[i].call, strlen(origins[i].call));
        origins[i].stack = search.stacks[call].lines;
        origins[i].stack_count = search.stacks[call].count;
    }
    tdc_names_free(&search.calls);
    if (status == TDC_ERR_MEMORY)
        return trace_no_memory(error);
    if (status != TDC_OK)
        tdc_analysis_say(options, TDC_MESSAGE_WARNING, "%s: stacks are not shown", reason.message);
    return TDC_OK;
}
