#include "host/analysis/first_difference/rank_calls.h"

#include <string.h>

#include "host/analysis/call_partners.h"
#include "host/analysis/first_difference/row_cells.h"
#include "host/analysis/first_difference/stack_lines.h"
#include "io/base/error.h"
#include "io/base/text.h"
#include "io/text/json_write.h"
#include "io/text/pytext.h"

/* A statistic that differs by more than this part of the bench's makes a row differ. */
#define LARGEST_PERCENTAGE 50.0

/* One call while its rows come. */
struct call {
    const char *name;
    size_t number; /* of calls given to the graph */
    bool written;  /* in the file */
    bool different;
    uint32_t entry;
    long output; /* number of the current output, -1: none yet */
    bool fused;  /* outputs 4 and 5 are never looked at */
};

struct writing {
    struct tdc_rank_calls *calls;
    struct tdc_comm_graph *graph;
    struct tdc_text *out;
    struct tdc_row_cells cells;
    struct call call;
    struct tdc_call_partners partners;
    bool first_call, first_row;
    bool failed;
};

/* ---- is a call the same ---------------------------------------------------------------------- */

static bool is_too_far(const struct tdc_cell *cell)
{
    double percentage;
    return cell->kind == TDC_CELL_TEXT && cell->length != 0 &&
           cell->text[cell->length - 1] == '%' &&
           tdc_python_float(cell->text, cell->length - 1, &percentage) &&
           percentage > LARGEST_PERCENTAGE;
}

static bool cell_is(const struct tdc_cell *cell, const char *text)
{
    return cell->kind == TDC_CELL_TEXT && cell->length == strlen(text) &&
           memcmp(cell->text, text, cell->length) == 0;
}

/* A statistic that is NaN, or no number, on one side alone never makes a percentage. */
static bool lone_nan(const struct tdc_record *npu, const struct tdc_record *bench)
{
    if (bench == NULL || npu->scalar)
        return false;
    for (int i = 0; i < TDC_STATISTICS; i++) {
        bool ours = npu->stat_kinds[i] == TDC_STAT_TEXT && strcmp(npu->stats[i].text, "Nan") == 0;
        bool theirs =
            bench->stat_kinds[i] == TDC_STAT_TEXT && strcmp(bench->stats[i].text, "Nan") == 0;
        if (ours != theirs)
            return true;
    }
    return false;
}

static bool row_differs(struct writing *writing, const struct tdc_record *npu,
                        const struct tdc_record *bench)
{
    struct tdc_rank_calls *calls = writing->calls;
    const struct tdc_row_cells *cells = &writing->cells;
    if (calls->table->mode == TDC_MODE_DIGEST)
        return cell_is(&cells->cells[cells->result], "Different");
    if (lone_nan(npu, bench)) {
        if (calls->nan_rows++ == 0)
            calls->nan_name = npu->name;
        if (calls->rules.nan_counts)
            return true;
    }
    for (int i = 0; i < TDC_STATISTICS; i++)
        if (is_too_far(&cells->cells[cells->relative[i]]))
            return true;
    return false;
}

static void judge_row(struct writing *writing, const struct tdc_record *npu,
                      const struct tdc_record *bench)
{
    struct call *call = &writing->call;
    bool output = npu->state == TDC_STATE_OUTPUT;
    if (output)
        call->output++;
    /* the running maximum and sum of a softmax: some kernels leave them unset on purpose */
    bool unset = call->fused && output && (call->output == 4 || call->output == 5);
    if (unset || (writing->calls->rules.outputs_only && !output))
        return;
    if (row_differs(writing, npu, bench))
        call->different = true;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static size_t parts_of(const char *name)
{
    size_t parts = 1;
    for (; *name != '\0'; name++)
        parts += *name == '.';
    return parts;
}

static void begin_call(struct writing *writing, uint32_t entry, const char *name)
{
    struct call *call = &writing->call;
    struct tdc_comm_api api = tdc_comm_api_of(name);
    static const char fused[] = "npu_fusion_attention";
    call->name = name;
    call->entry = entry;
    call->written = !writing->calls->rules.outputs_only || parts_of(name) >= 4;
    call->different = false;
    call->fused = api.length == strlen(fused) && memcmp(api.text, fused, api.length) == 0;
    call->output = -1;
    writing->first_row = true;
}

/* The rows are written before it is known whether the call differs: the word goes in front. */
static void end_call(struct writing *writing, struct tdc_text *rows)
{
    struct call *call = &writing->call;
    struct tdc_text *out = writing->out;
    if (call->name == NULL || !call->written)
        return;
    tdc_text_adds(out, writing->first_call ? "\n    " : ",\n    ");
    writing->first_call = false;
    tdc_json_put_text(out, call->name, strlen(call->name));
    tdc_text_addf(out, ": {\n        \"is_same\": %s,\n        \"op_items\": [",
                  call->different ? "false" : "true");
    tdc_text_add(out, tdc_text_get(rows), rows->length);
    tdc_text_adds(out, "\n        ]\n    }");
    writing->failed |= rows->failed;
    static const char *const ignored[] = {"Torch.empty", "Torch.fill", "Tensor.__setitem__"};
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
        if (strstr(call->name, ignored[i]) != NULL)
            return;
    size_t number = call->number++;
    bool added;
    if (tdc_comm_is_call(call->name)) {
        const struct tdc_rank_calls *calls = writing->calls;
        struct tdc_call_partners *partners = &writing->partners;
        tdc_call_partners_read(partners, calls->table->match->npu, call->entry, calls->rank, false);
        writing->failed |= partners->failed;
        const struct tdc_comm_call details = {
            .end = partners->end,
            .has_partners = partners->count != 0,
            .partners = partners->ranks,
            .partner_count = partners->count,
            .suspicious = call->different,
            .suspicious_input = call->different,
            .culprit = call->different,
        };
        added = tdc_comm_graph_communication(writing->graph, number, call->name, &details);
    } else {
        added = tdc_comm_graph_compute(writing->graph, number, call->name, call->different);
    }
    writing->failed |= !added;
}

static tdc_status write_row(struct writing *writing, struct tdc_text *rows, size_t row,
                            struct tdc_error *error)
{
    struct tdc_rank_calls *calls = writing->calls;
    struct tdc_table *table = calls->table;
    const struct tdc_record *npu = tdc_row_npu(table, &table->rows[row]);
    const struct tdc_record *bench = tdc_row_bench(table, &table->rows[row]);
    const char *name = table->match->npu->entries[npu->entry].name;
    if (writing->call.name != name) {
        end_call(writing, rows);
        tdc_text_clear(rows);
        begin_call(writing, npu->entry, name);
    }
    tdc_status status = tdc_row_cells_fill(&writing->cells, row, error);
    if (status != TDC_OK)
        return status;
    judge_row(writing, npu, bench);
    const char *stack = calls->lines != NULL && npu->first_of_entry
                            ? tdc_stack_lines_find(calls->lines, name)
                            : NULL;
    tdc_text_adds(rows, writing->first_row ? "" : ",");
    writing->first_row = false;
    tdc_row_cells_put(&writing->cells, row, name, stack, rows);
    return TDC_OK;
}

tdc_status tdc_rank_calls_write(struct tdc_rank_calls *calls, struct tdc_comm_graph *graph,
                                struct tdc_text *out, struct tdc_error *error)
{
    struct writing writing = {.calls = calls, .graph = graph, .out = out, .first_call = true};
    struct tdc_text rows;
    tdc_text_init(&rows, out->limit);
    tdc_row_cells_init(&writing.cells, calls->table, calls->rules.outputs_only);
    tdc_text_addc(out, '{');
    tdc_status status = TDC_OK;
    for (size_t row = 0; row < calls->table->row_count && status == TDC_OK && !writing.failed;
         row++)
        status = write_row(&writing, &rows, row, error);
    if (status == TDC_OK)
        end_call(&writing, &rows);
    tdc_text_adds(out, writing.first_call ? "}" : "\n}");
    if (status == TDC_OK && (writing.failed || out->failed))
        status =
            tdc_fail(error, TDC_ERR_MEMORY, "out of memory for the calls of rank %ld", calls->rank);
    tdc_text_free(&rows);
    tdc_call_partners_free(&writing.partners);
    return status;
}
