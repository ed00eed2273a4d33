/* vis_compare.c - pairing the nodes of two trees. */
#include "host/visual/vis_compare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/base/error.h"

tdc_status tdc_vis_find_mode(const struct tdc_vis_graph *npu, const struct tdc_vis_graph *bench,
                             enum tdc_vis_mode *mode, struct tdc_error *error)
{
    const char *task = npu->task != NULL ? npu->task : "";
    const char *other = bench->task != NULL ? bench->task : "";
    if (strcmp(task, other) != 0)
        return tdc_fail(error, TDC_ERR_MISMATCH, "%s is of task '%s', %s of '%s'", npu->path, task,
                        bench->path, other);
    bool statistics = strcmp(task, "statistics") == 0;
    if (statistics && npu->digests != bench->digests)
        return tdc_fail(error, TDC_ERR_MISMATCH, "only %s has md5 values",
                        npu->digests ? npu->path : bench->path);
    if (!statistics && strcmp(task, "tensor") != 0 && strcmp(task, "structure") != 0)
        return tdc_fail(error, TDC_ERR_MISMATCH, "%s: a graph cannot be made of task '%s'",
                        npu->path, task);
    *mode = !statistics    ? (task[0] == 't' ? TDC_VIS_TENSORS : TDC_VIS_STRUCTURE)
            : npu->digests ? TDC_VIS_DIGESTS
                           : TDC_VIS_STATISTICS;
    return TDC_OK;
}

/* ---- do two nodes agree ---------------------------------------------------------------------- */

static const struct tdc_vis_items no_items;

static const struct tdc_vis_items *inputs_of(const struct tdc_vis_node *node)
{
    return node->call != NULL ? &node->call->inputs : &no_items;
}

static const struct tdc_vis_items *outputs_of(const struct tdc_vis_node *node)
{
    return node->call != NULL ? &node->call->outputs : &no_items;
}

/* Item by item: types and shapes, or shapes alone as far as both have items. */
static bool items_agree(const struct tdc_vis_items *npu, const struct tdc_vis_items *bench,
                        bool shapes_alone)
{
    if (!shapes_alone && npu->count != bench->count)
        return false;
    for (size_t i = 0; i < npu->count && i < bench->count; i++) {
        const struct tdc_json *one = &npu->items[i].fields, *other = &bench->items[i].fields;
        if (!tdc_vis_equal(tdc_json_get(one, "shape"), tdc_json_get(other, "shape")))
            return false;
        if (!shapes_alone && !tdc_vis_equal(tdc_json_get(one, "type"), tdc_json_get(other, "type")))
            return false;
    }
    return true;
}

static bool nodes_agree(const struct tdc_vis_node *npu, const struct tdc_vis_node *bench,
                        bool shapes_alone)
{
    return items_agree(inputs_of(npu), inputs_of(bench), shapes_alone) &&
           items_agree(outputs_of(npu), outputs_of(bench), shapes_alone);
}

/* Whether the ways to the root have the same names. */
static bool same_ancestors(const struct tdc_vis_comparison *comparison, uint32_t npu,
                           uint32_t bench)
{
    const struct tdc_vis_node *left = comparison->npu->nodes, *right = comparison->bench->nodes;
    for (;;) {
        npu = left[npu].up;
        bench = right[bench].up;
        if (npu == TDC_VIS_NONE || bench == TDC_VIS_NONE)
            return npu == bench;
        if (strcmp(left[npu].name, right[bench].name) != 0)
            return false;
    }
}

/* ---- pairs ----------------------------------------------------------------------------------- */

static bool pair(struct tdc_vis_comparison *comparison, uint32_t npu, uint32_t bench)
{
    comparison->npu->nodes[npu].partner = bench;
    comparison->bench->nodes[bench].partner = npu;
    size_t before = comparison->count;
    if (!tdc_vis_add_rows(comparison, npu, bench))
        return false;
    if (comparison->count != before)
        comparison->compared[comparison->compared_count++] = npu;
    return true;
}

/* A bench node that no way leads to is not shown, and faces nobody. */
static bool in_tree(const struct tdc_vis_graph *graph, uint32_t node)
{
    return node == TDC_VIS_ROOT || graph->nodes[node].up != TDC_VIS_NONE;
}

static bool match_node(struct tdc_vis_comparison *comparison, uint32_t npu)
{
    const struct tdc_vis_node *node = &comparison->npu->nodes[npu];
    if (comparison->mapping != NULL) {
        uint32_t mapped = comparison->mapping[npu];
        return mapped == TDC_VIS_NONE || !in_tree(comparison->bench, mapped) ||
               pair(comparison, npu, mapped);
    }
    uint32_t bench = tdc_vis_find(comparison->bench, node->name);
    if (bench == TDC_VIS_NONE || !nodes_agree(node, &comparison->bench->nodes[bench], false) ||
        !same_ancestors(comparison, npu, bench))
        return true;
    return pair(comparison, npu, bench);
}

/* ---- fuzzy: calls of a module by name and order -----------------------------------------------
 */

/* The name without the numbers between its dots. */
static void add_unnumbered(struct tdc_text *out, const char *name)
{
    for (const char *at = name; *at != '\0';) {
        size_t digits = *at == '.' ? strspn(at + 1, "0123456789") : 0;
        if (digits != 0 && at[1 + digits] == '.')
            at += 1 + digits;
        else
            tdc_text_addc(out, *at++);
        if (digits != 0 && *at == '.')
            tdc_text_addc(out, *at++); /* a dot ends one number and begins no other */
    }
}

/* Calls of functions right below a node by name and how many of it came before. */
struct counted {
    struct tdc_name_table names, keys;
    uint32_t *times; /* by number of names */
    uint32_t *nodes; /* by number of keys */
    struct tdc_arena arena;
};

static void free_counted(struct counted *counted)
{
    tdc_names_free(&counted->names);
    tdc_names_free(&counted->keys);
    tdc_arena_free(&counted->arena);
}

static bool count_calls(const struct tdc_vis_graph *graph, uint32_t module, struct counted *counted)
{
    struct tdc_text text;
    size_t calls = 0;
    for (uint32_t at = graph->nodes[module].first; at != TDC_VIS_NONE; at = graph->nodes[at].next)
        calls++;
    tdc_names_init(&counted->names);
    tdc_names_init(&counted->keys);
    tdc_arena_init(&counted->arena, (size_t)1 << 32);
    tdc_text_init(&text, (size_t)1 << 17);
    counted->times = tdc_arena_zeroed(&counted->arena, calls + 1, sizeof *counted->times);
    counted->nodes = tdc_arena_zeroed(&counted->arena, calls + 1, sizeof *counted->nodes);
    bool good = counted->times != NULL && counted->nodes != NULL;
    for (uint32_t at = graph->nodes[module].first; good && at != TDC_VIS_NONE;
         at = graph->nodes[at].next) {
        if (graph->nodes[at].type != TDC_VIS_API)
            continue;
        bool fresh;
        tdc_text_clear(&text);
        add_unnumbered(&text, graph->nodes[at].name);
        const char *name = tdc_arena_text(&counted->arena, tdc_text_get(&text), text.length);
        uint32_t number = name != NULL ? tdc_names_put(&counted->names, name, text.length, &fresh)
                                       : TDC_NAME_NONE;
        good = number != TDC_NAME_NONE && !text.failed;
        if (!good)
            break;
        tdc_text_addf(&text, "%u", ++counted->times[number]);
        const char *key = tdc_arena_text(&counted->arena, tdc_text_get(&text), text.length);
        number =
            key != NULL ? tdc_names_put(&counted->keys, key, text.length, &fresh) : TDC_NAME_NONE;
        good = number != TDC_NAME_NONE && !text.failed;
        if (good)
            counted->nodes[number] = at;
    }
    tdc_text_free(&text);
    return good;
}

static bool match_calls(struct tdc_vis_comparison *comparison, uint32_t npu, uint32_t bench)
{
    struct counted left, right;
    bool good = count_calls(comparison->npu, npu, &left);
    good = count_calls(comparison->bench, bench, &right) && good;
    for (uint32_t i = 0; good && i < left.keys.count; i++) {
        const struct tdc_name_key *key = &left.keys.keys[i];
        uint32_t found = tdc_names_find(&right.keys, key->text, key->length);
        if (found != TDC_NAME_NONE &&
            nodes_agree(&comparison->npu->nodes[left.nodes[i]],
                        &comparison->bench->nodes[right.nodes[found]], true))
            good = pair(comparison, left.nodes[i], right.nodes[found]);
    }
    free_counted(&left);
    free_counted(&right);
    return good;
}

static bool match_fuzzy(struct tdc_vis_comparison *comparison, uint32_t npu)
{
    const struct tdc_vis_node *node = &comparison->npu->nodes[npu];
    if (node->type == TDC_VIS_API)
        return true;
    uint32_t bench = tdc_vis_find(comparison->bench, node->name);
    if (bench == TDC_VIS_NONE || !in_tree(comparison->bench, bench) ||
        !nodes_agree(node, &comparison->bench->nodes[bench], true))
        return true;
    return pair(comparison, npu, bench) && match_calls(comparison, npu, bench);
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* Level by level from the root: a call may find its partner only once its module has. */
static bool match_all(struct tdc_vis_comparison *comparison)
{
    const struct tdc_vis_graph *npu = comparison->npu;
    uint32_t *queue = malloc((size_t)npu->in_tree * sizeof *queue);
    if (queue == NULL)
        return false;
    uint32_t end = 0;
    queue[end++] = TDC_VIS_ROOT;
    bool good = true;
    for (uint32_t at = 0; at < end && good; at++) {
        good = comparison->fuzzy ? match_fuzzy(comparison, queue[at])
                                 : match_node(comparison, queue[at]);
        for (uint32_t child = npu->nodes[queue[at]].first; child != TDC_VIS_NONE;
             child = npu->nodes[child].next)
            queue[end++] = child;
    }
    free(queue);
    return good;
}

/* A collection is as bad as its worst call. */
static void judge_collections(const struct tdc_vis_comparison *comparison)
{
    struct tdc_vis_node *nodes = comparison->npu->nodes;
    bool digests = comparison->mode == TDC_VIS_DIGESTS;
    for (uint32_t at = nodes[TDC_VIS_ROOT].first; at != TDC_VIS_NONE; at = nodes[at].next) {
        if (nodes[at].type != TDC_VIS_COLLECTION)
            continue;
        double worst = digests ? 1 : 0;
        for (uint32_t call = nodes[at].first; call != TDC_VIS_NONE; call = nodes[call].next)
            if (nodes[call].has_precision &&
                (digests ? nodes[call].precision < worst : nodes[call].precision > worst))
                worst = nodes[call].precision;
        nodes[at].has_precision = true;
        nodes[at].precision = worst;
    }
}

tdc_status tdc_vis_compare(struct tdc_vis_comparison *comparison, struct tdc_error *error)
{
    struct tdc_vis_graph *npu = comparison->npu;
    comparison->compared = malloc((size_t)npu->in_tree * 2 * sizeof *comparison->compared);
    tdc_status status = TDC_OK;
    if (comparison->compared == NULL || !match_all(comparison) ||
        !tdc_vis_compare_items(comparison))
        status = tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", npu->path);
    if (status == TDC_OK && comparison->mode == TDC_VIS_TENSORS) {
        if (!comparison->whole)
            judge_collections(comparison);
        status = tdc_vis_compare_tensors(comparison, error);
    }
    for (size_t i = 0; i < comparison->compared_count && status == TDC_OK; i++) {
        struct tdc_vis_node *node = &npu->nodes[comparison->compared[i]];
        node->has_precision = true;
        node->precision = tdc_vis_precision(comparison, node, &node->precision_is_float);
    }
    if (status == TDC_OK && (comparison->mode != TDC_VIS_TENSORS || comparison->whole))
        judge_collections(comparison);
    free(comparison->rows);
    free(comparison->compared);
    comparison->rows = NULL;
    comparison->compared = NULL;
    comparison->count = comparison->capacity = comparison->compared_count = 0;
    return status;
}
