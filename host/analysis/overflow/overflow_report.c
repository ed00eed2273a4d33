#include "host/analysis/overflow/overflow_report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/analysis/beginning.h"
#include "host/analysis/module_path.h"
#include "host/dump/dump.h"
#include "host/dump/members.h"
#include "host/find/folders.h"
#include "io/base/error.h"
#include "io/text/json_write.h"

#define REPORT_LIMIT ((size_t)4 << 30)

/* The findings of one rank, with what is written behind the name of each. */
struct reporting {
    const struct tdc_comm_finding *findings;
    size_t count;
    struct tdc_text *data;   /* "data_info" of each */
    struct tdc_text *stacks; /* "stack_info" of each, empty while there is none */
    size_t call;
};

/* Level of the members of a finding: object, list of a rank, finding. */
#define MEMBER_DEPTH 3

static void put_member(struct tdc_text *out, const struct tdc_json *call, const char *name,
                       const char *otherwise, bool last)
{
    tdc_json_put_line(out, 2, MEMBER_DEPTH + 1);
    tdc_text_addf(out, "\"%s\": ", name);
    const struct tdc_json *value = tdc_json_get(call, name);
    if (value != NULL)
        tdc_json_put_tree(out, value, 2, MEMBER_DEPTH + 1);
    else
        tdc_text_adds(out, otherwise);
    if (!last)
        tdc_text_addc(out, ',');
}

static tdc_status note_call(void *context, const char *name, size_t length,
                            const struct tdc_json *call)
{
    (void)length;
    struct reporting *reporting = context;
    size_t number = reporting->call++;
    for (size_t i = 0; i < reporting->count; i++) {
        if (reporting->findings[i].call != number)
            continue;
        struct tdc_text *out = &reporting->data[i];
        tdc_text_addc(out, '{');
        if (strstr(name, "forward") != NULL) {
            put_member(out, call, "input_args", "[]", false);
            put_member(out, call, "input_kwargs", "{}", false);
        } else {
            put_member(out, call, "input", "[]", false);
        }
        put_member(out, call, "output", "{}", true);
        tdc_json_put_line(out, 2, MEMBER_DEPTH);
        tdc_text_addc(out, '}');
    }
    return TDC_OK;
}

static tdc_status note_stack(void *context, const char *entry, size_t length,
                             const struct tdc_json *lines, long position)
{
    struct reporting *reporting = context;
    for (size_t i = 0; i < reporting->count && position >= 0; i++) {
        const char *name = reporting->findings[i].name;
        if (reporting->stacks[i].length == 0 && strlen(name) == length &&
            memcmp(name, entry, length) == 0)
            tdc_json_put_tree(&reporting->stacks[i], lines, 2, MEMBER_DEPTH);
    }
    return TDC_OK;
}

static void put_path(struct tdc_text *out, const struct tdc_module_paths *paths, const char *name,
                     const struct tdc_options *options)
{
    const char *parents[TDC_MODULE_DEPTH];
    bool cycle = false;
    size_t count = paths != NULL ? tdc_module_path(paths, name, parents, &cycle) : 0;
    if (cycle)
        tdc_analysis_say(options, TDC_MESSAGE_WARNING,
                         "construct.json goes in a circle above %s: its path is cut there", name);
    tdc_text_addc(out, '[');
    for (size_t i = count; i-- > 0;) {
        tdc_json_put_line(out, 2, MEMBER_DEPTH + 1);
        tdc_json_put_text(out, parents[i], strlen(parents[i]));
        tdc_text_addc(out, ',');
    }
    tdc_json_put_line(out, 2, MEMBER_DEPTH + 1);
    tdc_json_put_text(out, name, strlen(name));
    tdc_json_put_line(out, 2, MEMBER_DEPTH);
    tdc_text_addc(out, ']');
}

static void put_finding(struct tdc_text *out, const struct reporting *reporting, size_t i,
                        const struct tdc_module_paths *paths, const struct tdc_options *options)
{
    const char *name = reporting->findings[i].name;
    tdc_json_put_line(out, 2, MEMBER_DEPTH - 1);
    tdc_text_addc(out, '{');
    tdc_json_put_line(out, 2, MEMBER_DEPTH);
    tdc_text_adds(out, "\"op_name\": ");
    tdc_json_put_text(out, name, strlen(name));
    tdc_text_addc(out, ',');
    tdc_json_put_line(out, 2, MEMBER_DEPTH);
    tdc_text_adds(out, "\"data_info\": ");
    tdc_text_adds(out, tdc_text_get(&reporting->data[i]));
    tdc_text_addc(out, ',');
    tdc_json_put_line(out, 2, MEMBER_DEPTH);
    tdc_text_adds(out, "\"construct_info\": ");
    put_path(out, paths, name, options);
    tdc_text_addc(out, ',');
    tdc_json_put_line(out, 2, MEMBER_DEPTH);
    tdc_text_adds(out, "\"stack_info\": ");
    tdc_text_adds(out,
                  reporting->stacks[i].length != 0 ? tdc_text_get(&reporting->stacks[i]) : "{}");
    tdc_json_put_line(out, 2, MEMBER_DEPTH - 1);
    tdc_text_addc(out, '}');
}

/* Reads what the report shows of the rank's files. A stack or construct file that is not there, or
 * cannot be read, costs its part of the report alone. */
static tdc_status read_rank(const struct tdc_rank_dump *rank, struct reporting *reporting,
                            struct tdc_module_paths **paths, const struct tdc_options *options,
                            struct tdc_error *error)
{
    *paths = NULL;
    char *dump = tdc_path_join(rank->folder, "dump.json");
    char *construct = tdc_path_join(rank->folder, "construct.json");
    char *stack = tdc_path_join(rank->folder, "stack.json");
    const struct tdc_members members = {.inside = "data", .visit = note_call, .context = reporting};
    struct tdc_error reason = {0};
    tdc_status status = TDC_ERR_MEMORY;
    if (dump != NULL && construct != NULL && stack != NULL)
        status = tdc_members_walk(dump, &members, error);
    else
        tdc_fail(error, status, "out of memory for names");
    if (status == TDC_OK && tdc_module_paths_load(construct, paths, &reason) != TDC_OK)
        tdc_analysis_say(options, TDC_MESSAGE_WARNING,
                         "%s: the place in the network is not shown for rank %ld", reason.message,
                         rank->number);
    if (status == TDC_OK && tdc_stacks_walk(stack, note_stack, reporting, &reason) != TDC_OK)
        tdc_analysis_say(options, TDC_MESSAGE_WARNING, "%s: call stacks are not shown for rank %ld",
                         reason.message, rank->number);
    free(dump);
    free(construct);
    free(stack);
    return status;
}

static tdc_status report_rank(const struct tdc_rank_dump *rank,
                              const struct tdc_comm_finding *findings, size_t count,
                              struct tdc_text *out, const struct tdc_options *options,
                              struct tdc_error *error)
{
    struct reporting reporting = {.findings = findings, .count = count};
    reporting.data = calloc(count, sizeof *reporting.data);
    reporting.stacks = calloc(count, sizeof *reporting.stacks);
    if (reporting.data == NULL || reporting.stacks == NULL) {
        free(reporting.data);
        free(reporting.stacks);
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory for the report");
    }
    for (size_t i = 0; i < count; i++) {
        tdc_text_init(&reporting.data[i], REPORT_LIMIT);
        tdc_text_init(&reporting.stacks[i], REPORT_LIMIT);
    }
    struct tdc_module_paths *paths = NULL;
    tdc_status status = read_rank(rank, &reporting, &paths, options, error);
    tdc_json_put_line(out, 2, MEMBER_DEPTH - 2);
    tdc_text_addf(out, "\"rank_%ld\": [", rank->number);
    for (size_t i = 0; i < count; i++) {
        out->failed |= reporting.data[i].failed || reporting.stacks[i].failed;
        put_finding(out, &reporting, i, paths, options);
        if (i + 1 < count)
            tdc_text_addc(out, ',');
        tdc_text_free(&reporting.data[i]);
        tdc_text_free(&reporting.stacks[i]);
    }
    tdc_json_put_line(out, 2, MEMBER_DEPTH - 2);
    tdc_text_addc(out, ']');
    tdc_module_paths_free(paths);
    free(reporting.data);
    free(reporting.stacks);
    return status;
}

static const struct tdc_rank_dump *find_rank(const struct tdc_rank_dumps *ranks, long number)
{
    for (size_t i = 0; i < ranks->count; i++)
        if (ranks->ranks[i].number == number)
            return &ranks->ranks[i];
    return NULL;
}

tdc_status tdc_overflow_report(const struct tdc_rank_dumps *ranks,
                               const struct tdc_comm_result *result, const char *output,
                               const struct tdc_options *options, tdc_beginning *beginning,
                               struct tdc_error *error)
{
    struct tdc_text out;
    tdc_text_init(&out, REPORT_LIMIT);
    tdc_text_addc(&out, '{');
    tdc_status status = TDC_OK;
    for (size_t i = 0; i < result->count && status == TDC_OK;) {
        size_t end = i;
        while (end < result->count && result->findings[end].rank == result->findings[i].rank)
            end++;
        if (i != 0)
            tdc_text_addc(&out, ',');
        status = report_rank(find_rank(ranks, result->findings[i].rank), &result->findings[i],
                             end - i, &out, options, error);
        i = end;
    }
    tdc_text_adds(&out, "\n}");
    beginning->file = tdc_analysis_path(output, "anomaly_analyze_");
    if (status == TDC_OK)
        status = tdc_analysis_write(output, beginning->file, &out, error);
    tdc_text_free(&out);
    return status;
}
