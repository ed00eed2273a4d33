#include "host/analysis/first_difference/difference_report.h"

#include <stdlib.h>
#include <string.h>

#include "host/dump/members.h"
#include "io/base/error.h"
#include "io/text/json_write.h"

/* Level of the members of a finding: object, list of a rank, finding. */
#define MEMBER_DEPTH 3

struct reporting {
    const struct tdc_comm_finding *findings;
    size_t count;
    struct tdc_text *texts; /* of each finding */
};

static void put_columns(const struct tdc_json *row, struct tdc_text *out)
{
    static const char *const statistics[] = {"NPU max", "NPU min", "NPU mean", "NPU l2norm",
                                             "NPU P2POp peer"};
    static const char *const digests[] = {"NPU MD5", "NPU P2POp peer"};
    bool digest = tdc_json_get(row, "NPU max") == NULL;
    size_t count = digest ? 2 : 5;
    tdc_text_addc(out, '{');
    for (size_t i = 0; i < count; i++) {
        const char *name = digest ? digests[i] : statistics[i];
        const struct tdc_json *value = tdc_json_get(row, name);
        tdc_text_adds(out, i != 0 ? "," : "");
        tdc_json_put_line(out, 2, MEMBER_DEPTH + 3);
        tdc_json_put_text(out, name, strlen(name));
        tdc_text_adds(out, ": ");
        if (value != NULL)
            tdc_json_put_tree(out, value, 2, MEMBER_DEPTH + 3);
        else
            tdc_text_adds(out, "null");
    }
    tdc_json_put_line(out, 2, MEMBER_DEPTH + 2);
    tdc_text_addc(out, '}');
}

static void put_state(const struct tdc_json *rows, const char *state, struct tdc_text *out)
{
    bool first = true;
    tdc_json_put_line(out, 2, MEMBER_DEPTH + 1);
    tdc_text_addf(out, "\"%s\": {", state);
    for (const struct tdc_json *row = rows->child; row != NULL; row = row->next) {
        const struct tdc_json *name = tdc_json_get(row, "NPU Name");
        if (!tdc_json_is_text(tdc_json_get(row, "state"), state) || name == NULL ||
            name->kind != TDC_JSON_STRING)
            continue;
        tdc_text_adds(out, first ? "" : ",");
        first = false;
        tdc_json_put_line(out, 2, MEMBER_DEPTH + 2);
        tdc_json_put_text(out, name->text, name->length);
        tdc_text_adds(out, ": ");
        put_columns(row, out);
    }
    if (!first)
        tdc_json_put_line(out, 2, MEMBER_DEPTH + 1);
    tdc_text_addc(out, '}');
}

static void put_stack(const struct tdc_json *rows, struct tdc_text *out)
{
    const struct tdc_json *stack = NULL;
    for (const struct tdc_json *row = rows->child; row != NULL && stack == NULL; row = row->next) {
        const struct tdc_json *lines = tdc_json_get(row, "NPU_Stack_Info");
        if (lines != NULL && lines->kind == TDC_JSON_LIST && lines->children != 0)
            stack = lines;
    }
    if (stack != NULL)
        tdc_json_put_tree(out, stack, 2, MEMBER_DEPTH);
    else
        tdc_text_adds(out, "null");
}

static void put_finding(const char *name, const struct tdc_json *rows, struct tdc_text *out)
{
    tdc_json_put_line(out, 2, MEMBER_DEPTH - 1);
    tdc_text_addc(out, '{');
    tdc_json_put_line(out, 2, MEMBER_DEPTH);
    tdc_text_adds(out, "\"op_name\": ");
    tdc_json_put_text(out, name, strlen(name));
    tdc_text_addc(out, ',');
    tdc_json_put_line(out, 2, MEMBER_DEPTH);
    tdc_text_adds(out, "\"data_info\": {");
    put_state(rows, "input", out);
    tdc_text_addc(out, ',');
    put_state(rows, "output", out);
    tdc_json_put_line(out, 2, MEMBER_DEPTH);
    tdc_text_adds(out, "},");
    tdc_json_put_line(out, 2, MEMBER_DEPTH);
    tdc_text_adds(out, "\"stack_info\": ");
    put_stack(rows, out);
    tdc_json_put_line(out, 2, MEMBER_DEPTH - 1);
    tdc_text_addc(out, '}');
}

static tdc_status note_call(void *context, const char *name, size_t length,
                            const struct tdc_json *call)
{
    struct reporting *reporting = context;
    const struct tdc_json *rows = tdc_json_get(call, "op_items");
    for (size_t i = 0; i < reporting->count && rows != NULL; i++) {
        const char *wanted = reporting->findings[i].name;
        if (strlen(wanted) == length && memcmp(wanted, name, length) == 0 &&
            reporting->texts[i].length == 0)
            put_finding(name, rows, &reporting->texts[i]);
    }
    return TDC_OK;
}

tdc_status tdc_difference_report_rank(const char *file, const struct tdc_comm_finding *findings,
                                      size_t count, struct tdc_text *out, struct tdc_error *error)
{
    struct reporting reporting = {.findings = findings, .count = count};
    reporting.texts = calloc(count, sizeof *reporting.texts);
    if (reporting.texts == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory for the report");
    for (size_t i = 0; i < count; i++)
        tdc_text_init(&reporting.texts[i], out->limit);
    const struct tdc_members members = {.visit = note_call, .context = &reporting};
    tdc_status status = tdc_members_walk(file, &members, error);
    tdc_json_put_line(out, 2, MEMBER_DEPTH - 2);
    tdc_text_addf(out, "\"rank_%ld\": [", findings[0].rank);
    for (size_t i = 0; i < count; i++) {
        tdc_text_adds(out, i != 0 ? "," : "");
        tdc_text_add(out, tdc_text_get(&reporting.texts[i]), reporting.texts[i].length);
        out->failed |= reporting.texts[i].failed;
        tdc_text_free(&reporting.texts[i]);
    }
    tdc_json_put_line(out, 2, MEMBER_DEPTH - 2);
    tdc_text_addc(out, ']');
    free(reporting.texts);
    return status;
}
