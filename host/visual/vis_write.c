#include "host/visual/vis_write.h"

#include <stdio.h>
#include <string.h>

#include "io/base/error.h"
#include "io/base/utf8_step.h"
#include "io/text/json_write.h"

/* Longest text of one cell: a node with all its items. SQLite takes 1,000,000,000 bytes. */
#define CELL_LIMIT ((size_t)900 << 20)

/* The texts of one row, reused by the next. */
struct cells {
    struct tdc_text id, name, up, children, link, input, output, stack_id;
};

static struct tdc_text *cell(struct cells *cells, size_t index)
{
    struct tdc_text *all[] = {&cells->id,   &cells->name,  &cells->up,     &cells->children,
                              &cells->link, &cells->input, &cells->output, &cells->stack_id};
    return index < sizeof all / sizeof *all ? all[index] : NULL;
}

static void put_name(struct tdc_text *out, const struct tdc_vis_node *node)
{
    tdc_json_put_text(out, node->name, strlen(node->name));
}

/* The way to a node from the root on, as a list of names; its depth is bounded by the tree. */
static void put_way(struct tdc_text *out, const struct tdc_vis_graph *graph, uint32_t node)
{
    uint32_t way[TDC_VIS_DEPTH + 2];
    size_t count = 0;
    for (; node != TDC_VIS_NONE && count < sizeof way / sizeof *way; node = graph->nodes[node].up)
        way[count++] = node;
    tdc_text_addc(out, '[');
    while (count-- > 0) {
        put_name(out, &graph->nodes[way[count]]);
        tdc_text_adds(out, count != 0 ? ", " : "");
    }
    tdc_text_addc(out, ']');
}

static void put_children(struct tdc_text *out, const struct tdc_vis_graph *graph,
                         const struct tdc_vis_node *node)
{
    if (node->first == TDC_VIS_NONE)
        return;
    tdc_text_addc(out, '[');
    for (uint32_t at = node->first; at != TDC_VIS_NONE; at = graph->nodes[at].next) {
        put_name(out, &graph->nodes[at]);
        tdc_text_adds(out, graph->nodes[at].next != TDC_VIS_NONE ? ", " : "");
    }
    tdc_text_addc(out, ']');
}

static void put_items(struct tdc_text *out, const struct tdc_vis_writing *writing,
                      const struct tdc_vis_node *node, bool outputs)
{
    static const struct tdc_vis_items none;
    const struct tdc_vis_items *items = node->call == NULL ? &none
                                        : outputs          ? &node->call->outputs
                                                           : &node->call->inputs;
    tdc_vis_items_text(out, items, writing->digests,
                       strstr(node->name, "batch_isend_irecv") != NULL);
}

static void fill(const struct tdc_vis_writing *writing, const struct tdc_vis_node *node,
                 const char *graph_id, uint32_t stack, struct cells *cells)
{
    const struct tdc_vis_graph *graph = writing->graph;
    for (size_t i = 0; cell(cells, i) != NULL; i++) {
        tdc_text_clear(cell(cells, i));
        tdc_text_adds(cell(cells, i), "");
    }
    tdc_utf8_add(&cells->name, node->name, strlen(node->name));
    tdc_text_addf(&cells->id, "%s_", graph_id);
    tdc_text_add(&cells->id, tdc_text_get(&cells->name), cells->name.length);
    if (node->up != TDC_VIS_NONE)
        tdc_utf8_add(&cells->up, graph->nodes[node->up].name, strlen(graph->nodes[node->up].name));
    put_children(&cells->children, graph, node);
    if (node->partner != TDC_VIS_NONE && writing->other != NULL)
        put_way(&cells->link, writing->other, node->partner);
    else
        tdc_text_adds(&cells->link, "[]");
    tdc_text_addf(&cells->stack_id, "%s_%u", graph_id, stack);
    put_items(&cells->input, writing, node, false);
    put_items(&cells->output, writing, node, true);
}

static tdc_status write_node(const struct tdc_vis_writing *writing, uint32_t order,
                             const char *graph_id, uint32_t stack, struct cells *cells,
                             struct tdc_error *error)
{
    const struct tdc_vis_graph *graph = writing->graph;
    const struct tdc_vis_node *node = &graph->nodes[graph->order[order]];
    fill(writing, node, graph_id, stack, cells);
    for (size_t i = 0; cell(cells, i) != NULL; i++)
        if (cell(cells, i)->failed)
            return tdc_fail(error, TDC_ERR_MEMORY, "%s: %s: out of memory or too large",
                            graph->path, node->name);
    char type[16];
    snprintf(type, sizeof type, "%d", (int)node->type);
    const struct tdc_vis_node_row row = {
        .id = tdc_text_get(&cells->id),
        .graph_id = graph_id,
        .order = order,
        .name = tdc_text_get(&cells->name),
        .type = type,
        .up_node = tdc_text_get(&cells->up),
        .sub_nodes = tdc_text_get(&cells->children),
        .has_precision = node->has_precision,
        .precision = node->precision,
        .overflow_level = writing->overflow && node->call != NULL ? node->call->overflow : NULL,
        .micro_step = node->has_micro_step ? node->micro_step : 0,
        .matched_link = tdc_text_get(&cells->link),
        .stack_id = tdc_text_get(&cells->stack_id),
        .distributed = node->distributed != NULL ? node->distributed : "{}",
        .input = tdc_text_get(&cells->input),
        .output = tdc_text_get(&cells->output),
        .source = writing->source,
        .data_folder = graph->data_folder,
        .step = writing->step,
        .rank = writing->rank,
    };
    return tdc_vis_db_node(writing->db, &row, error);
}

tdc_status tdc_vis_write_graph(const struct tdc_vis_writing *writing, struct tdc_error *error)
{
    const struct tdc_vis_graph *graph = writing->graph;
    struct tdc_name_table stacks; /* lines -> number */
    struct cells cells;
    char graph_id[80];
    tdc_status status = TDC_OK;
    tdc_names_init(&stacks);
    for (size_t i = 0; cell(&cells, i) != NULL; i++)
        tdc_text_init(cell(&cells, i), CELL_LIMIT);
    snprintf(graph_id, sizeof graph_id, "%s_%lld_%lld", writing->source, (long long)writing->step,
             (long long)writing->rank);
    for (uint32_t i = 0; i < graph->in_tree && status == TDC_OK; i++) {
        const char *lines = graph->nodes[graph->order[i]].stack;
        bool fresh;
        lines = lines != NULL ? lines : "[]";
        uint32_t stack = tdc_names_put(&stacks, lines, strlen(lines), &fresh);
        status = stack != TDC_NAME_NONE
                     ? write_node(writing, i, graph_id, stack, &cells, error)
                     : tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", graph->path);
    }
    for (uint32_t i = 0; i < stacks.count && status == TDC_OK; i++) {
        char id[100];
        snprintf(id, sizeof id, "%s_%u", graph_id, i);
        status = tdc_vis_db_stack(writing->db, id, stacks.keys[i].text, error);
    }
    for (size_t i = 0; cell(&cells, i) != NULL; i++)
        tdc_text_free(cell(&cells, i));
    tdc_names_free(&stacks);
    return status;
}
