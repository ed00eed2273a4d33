#include "host/analysis/first_difference/row_cells.h"

#include <stdlib.h>
#include <string.h>

#include "io/text/json_write.h"

static size_t place_of(const struct tdc_table *table, const char *name)
{
    for (size_t i = 0; i < table->column_count; i++)
        if (strcmp(tdc_table_column(table, i), name) == 0)
            return i;
    return SIZE_MAX;
}

void tdc_row_cells_init(struct tdc_row_cells *cells, struct tdc_table *table, bool plain_result)
{
    static const char *const relative[] = {"MaxRelativeErr", "MinRelativeErr", "MeanRelativeErr",
                                           "NormRelativeErr"};
    *cells = (struct tdc_row_cells){.table = table, .plain_result = plain_result};
    cells->npu_stats = place_of(table, "NPU max");
    cells->bench_stats = place_of(table, "Bench max");
    cells->diffs = place_of(table, "Max diff");
    cells->result = place_of(table, "Result");
    cells->message = place_of(table, "Err_message");
    cells->stack = place_of(table, "NPU_Stack_Info");
    for (int i = 0; i < TDC_STATISTICS; i++)
        cells->relative[i] = place_of(table, relative[i]);
}

/* ---- point-to-point operations --------------------------------------------------------------- */

/* The member of the operation whose tensor is the record: it follows as a record of its own. */
static struct tdc_peer peer_of(const struct tdc_dump *dump, size_t record, const char *member)
{
    struct tdc_peer peer = {0};
    uint32_t entry = dump->records[record].entry;
    for (size_t i = record + 1; i < dump->record_count && dump->records[i].sound_only; i++) {
        const struct tdc_record *next = &dump->records[i];
        const char *dot = strrchr(next->name, '.');
        if (next->entry != entry || dot == NULL || strcmp(dot + 1, member) != 0)
            continue;
        uint8_t kind = next->stat_kinds[TDC_MAX];
        peer.given = true;
        peer.integer = kind == TDC_STAT_INTEGER;
        peer.number = peer.integer ? next->stats[TDC_MAX].number : 0;
        peer.text = kind == TDC_STAT_TEXT || kind == TDC_STAT_BIG_INTEGER
                        ? next->stats[TDC_MAX].text
                        : "None";
        /* scalars are kept as texts; a peer is a number in the file */
        if (kind == TDC_STAT_TEXT && strcmp(member, "peer") == 0) {
            char *end;
            long number = strtol(peer.text, &end, 10);
            peer.integer = end != peer.text && *end == '\0';
            peer.number = (double)number;
        }
        break;
    }
    return peer;
}

/* msprobe shows the operation that stands in the same place of the bench, paired or not. */
static void find_peers(struct tdc_row_cells *cells, const struct tdc_row *row)
{
    const struct tdc_match *match = cells->table->match;
    cells->npu_op = peer_of(match->npu, row->npu, "op");
    cells->npu_peer = peer_of(match->npu, row->npu, "peer");
    const struct tdc_dump *bench = match->bench;
    while (cells->bench_at < bench->record_count && bench->records[cells->bench_at].sound_only)
        cells->bench_at++;
    cells->bench_ended = cells->bench_at >= bench->record_count;
    cells->bench_op = cells->bench_peer = (struct tdc_peer){0};
    if (cells->bench_ended)
        return;
    cells->bench_op = peer_of(bench, cells->bench_at, "op");
    cells->bench_peer = peer_of(bench, cells->bench_at, "peer");
    cells->bench_at++;
}

tdc_status tdc_row_cells_fill(struct tdc_row_cells *cells, size_t row, struct tdc_error *error)
{
    tdc_status status = tdc_table_row(cells->table, row, cells->cells, error);
    if (status == TDC_OK)
        find_peers(cells, &cells->table->rows[row]);
    return status;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

/* Statistics and their differences are whole numbers where pandas keeps them as such. */
static bool shown_as_integer(const struct tdc_row_cells *cells, const struct tdc_row *row,
                             size_t column)
{
    const struct tdc_table *table = cells->table;
    for (size_t i = 0; i < TDC_STATISTICS; i++) {
        const struct tdc_record *records[] = {tdc_row_npu(table, row), tdc_row_bench(table, row)};
        const size_t starts[] = {cells->npu_stats, cells->bench_stats};
        for (int side = 0; side < 2; side++)
            if (starts[side] != SIZE_MAX && column == starts[side] + i)
                return records[side] != NULL &&
                       (records[side]->stat_kinds[i] == TDC_STAT_INTEGER ||
                        records[side]->stat_kinds[i] == TDC_STAT_BIG_INTEGER) &&
                       !table->stat_columns[side][i].integers_as_floats;
        if (cells->diffs != SIZE_MAX && column == cells->diffs + i)
            return table->stat_columns[0][i].integers && table->stat_columns[1][i].integers;
    }
    return false;
}

static void put_cell(const struct tdc_row_cells *cells, const struct tdc_row *row, size_t column,
                     struct tdc_text *out)
{
    const struct tdc_cell *cell = &cells->cells[column];
    if (cell->kind == TDC_CELL_TEXT)
        tdc_json_put_text(out, cell->text, cell->length);
    else if (cell->kind == TDC_CELL_BOOL)
        tdc_text_adds(out, cell->truth ? "true" : "false");
    else if (shown_as_integer(cells, row, column))
        tdc_text_addf(out, "%.0f", cell->number);
    else
        tdc_json_put_float(out, cell->number);
}

/* The verdicts of msprobe 26 are made after this table would have been written. */
static void put_plain_result(const struct tdc_row_cells *cells, const struct tdc_row *row,
                             bool message, struct tdc_text *out)
{
    const struct tdc_table *table = cells->table;
    const struct tdc_record *npu = tdc_row_npu(table, row), *bench = tdc_row_bench(table, row);
    bool digest = table->mode == TDC_MODE_DIGEST, matched = bench != NULL;
    const char *text;
    if (!message) {
        bool equal = digest && strcmp(npu->digest, matched ? bench->digest : "N/A") == 0;
        text = equal ? "pass" : !matched ? "N/A" : digest ? "Different" : "";
    } else if (digest) {
        text = matched ? NULL : "No bench data matched.";
    } else {
        bool consistent = strcmp(npu->requires_grad, matched ? bench->requires_grad : "N/A") == 0;
        text = matched      ? consistent ? "" : "Requires_grad inconsistent. "
               : consistent ? "No bench data matched."
                            : "No bench data matched.Requires_grad inconsistent. ";
    }
    if (text != NULL)
        tdc_json_put_text(out, text, strlen(text));
    else
        tdc_text_adds(out, "NaN");
}

static void put_peer(const struct tdc_peer *peer, bool ended, struct tdc_text *out)
{
    if (ended)
        tdc_text_adds(out, "NaN");
    else if (!peer->given)
        tdc_text_adds(out, "\"None\"");
    else if (peer->integer)
        tdc_text_addf(out, "%.0f", peer->number);
    else
        tdc_json_put_text(out, peer->text, strlen(peer->text));
}

#define ROW_DEPTH 3

static void put_name(const char *name, struct tdc_text *out)
{
    tdc_json_put_line(out, 4, ROW_DEPTH + 1);
    tdc_json_put_text(out, name, strlen(name));
    tdc_text_adds(out, ": ");
}

static void put_tail(const struct tdc_row_cells *cells, const struct tdc_record *npu,
                     const char *call, struct tdc_text *out)
{
    static const char *const states[] = {[TDC_STATE_INPUT] = "input",
                                         [TDC_STATE_DEBUG] = "debug",
                                         [TDC_STATE_PARAMETERS] = "parameters",
                                         [TDC_STATE_OUTPUT] = "output",
                                         [TDC_STATE_PARAMETERS_GRAD] = "parameters_grad"};
    const struct {
        const char *name;
        const struct tdc_peer *peer;
        bool ended;
    } peers[] = {{"NPU P2POp op", &cells->npu_op, false},
                 {"Bench P2POp op", &cells->bench_op, cells->bench_ended},
                 {"NPU P2POp peer", &cells->npu_peer, false},
                 {"Bench P2POp peer", &cells->bench_peer, cells->bench_ended}};
    put_name("state", out);
    tdc_json_put_text(out, states[npu->state], strlen(states[npu->state]));
    tdc_text_addc(out, ',');
    put_name("api_origin_name", out);
    tdc_json_put_text(out, call, strlen(call));
    for (size_t i = 0; i < sizeof peers / sizeof *peers; i++) {
        tdc_text_addc(out, ',');
        put_name(peers[i].name, out);
        put_peer(peers[i].peer, peers[i].ended, out);
    }
}

void tdc_row_cells_put(const struct tdc_row_cells *cells, size_t row, const char *call,
                       const char *stack, struct tdc_text *out)
{
    struct tdc_table *table = cells->table;
    const struct tdc_row *shown = &table->rows[row];
    tdc_json_put_line(out, 4, ROW_DEPTH);
    tdc_text_addc(out, '{');
    for (size_t i = 0; i < table->column_count; i++) {
        put_name(tdc_table_column(table, i), out);
        if (i == cells->stack)
            tdc_text_adds(out, stack != NULL ? stack : "\"N/A\"");
        else if (cells->plain_result && (i == cells->result || i == cells->message))
            put_plain_result(cells, shown, i == cells->message, out);
        else
            put_cell(cells, shown, i, out);
        tdc_text_addc(out, ',');
    }
    put_tail(cells, tdc_row_npu(table, shown), call, out);
    tdc_json_put_line(out, 4, ROW_DEPTH);
    tdc_text_addc(out, '}');
}
