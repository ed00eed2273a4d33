/* vis_ranks.c - communications of one rank and those of other ranks that belong to them. */
#include <stdlib.h>
#include <string.h>

#include "host/dump/python_value.h"
#include "host/visual/vis_graph.h"
#include "io/text/json_write.h"
#include "io/text/pytext.h"

#define LINK_LIMIT ((size_t)1 << 24)

/* Calls with one sender or one receiver; all others exchange with everybody of their group. */
struct exchange {
    const char *api, *partner; /* of the other side */
    const char *argument;      /* that names the rank: the other one, or that of the one side */
    const char *type, *opposite;
    bool point_to_point;
};

static const struct exchange exchanges[] = {
    {"send", "recv", "dst", "send", "receive", true},
    {"isend", "irecv", "dst", "send", "receive", true},
    {"recv", "send", "src", "receive", "send", true},
    {"irecv", "isend", "src", "receive", "send", true},
    {"broadcast", "broadcast", "1", "send", "receive", false},
    {"scatter", "scatter", "src", "send", "receive", false},
    {"gather", "gather", "dst", "receive", "send", false},
    {"reduce", "reduce", "1", "receive", "send", false},
};

static const struct exchange *exchange_of(const char *api, size_t length)
{
    for (size_t i = 0; i < sizeof exchanges / sizeof *exchanges; i++)
        if (strlen(exchanges[i].api) == length && strncmp(exchanges[i].api, api, length) == 0)
            return &exchanges[i];
    return NULL;
}

/* One rank: its communications by a key that their partners have, too. */
struct rank {
    struct tdc_vis_graph *graph;
    int64_t number;
    struct tdc_name_table counts; /* keys without the number of the call */
    uint32_t *times;
    size_t times_capacity;
    struct tdc_name_table keys; /* with it */
    uint32_t *nodes;            /* by number of the key */
    size_t nodes_capacity;
    struct key_range {
        uint32_t first, count;
    } * keys_of; /* by node: a batch of operations has a key for each */
};

struct linking {
    struct rank *ranks;
    size_t count;
    bool level;
    struct tdc_text text;
    bool failed;
};

/* ---- what a call says ------------------------------------------------------------------------ */

static bool is_communication(const struct tdc_vis_node *node)
{
    return strncmp(node->name, "Distributed", 11) == 0 && strchr(node->name, '.') != NULL &&
           node->call != NULL;
}

static const char *api_of(const struct tdc_vis_node *node, size_t *length)
{
    const char *api = strchr(node->name, '.') + 1;
    *length = strcspn(api, ".");
    return api;
}

/* A member of an input of the call. */
static const struct tdc_json *argument_of(const struct tdc_vis_node *node, const char *argument,
                                          const char *member)
{
    size_t length = strlen(node->name);
    static const char middle[] = ".input.";
    for (size_t i = 0; i < node->call->inputs.count; i++) {
        const struct tdc_vis_item *item = &node->call->inputs.items[i];
        if (strncmp(item->name, node->name, length) == 0 &&
            strncmp(item->name + length, middle, sizeof middle - 1) == 0 &&
            strcmp(item->name + length + sizeof middle - 1, argument) == 0)
            return tdc_json_get(&item->fields, member);
    }
    return NULL;
}

/* The rank that an argument names; false when it names none. */
static bool rank_argument(const struct tdc_vis_node *node, const char *argument, int64_t *rank)
{
    const struct tdc_json *value = argument_of(node, argument, "value");
    if (value == NULL || value->kind != TDC_JSON_INTEGER || value->number < -1e9 ||
        value->number > 1e9)
        return false;
    *rank = (int64_t)value->number;
    return true;
}

/* Ranks and id of its group; false when it does not say. */
static bool group_of(const struct tdc_vis_node *node, const struct tdc_json **ranks,
                     const struct tdc_json **id)
{
    *ranks = argument_of(node, "group", "group_ranks");
    *id = argument_of(node, "group", "group_id");
    return tdc_json_truthy(*ranks) && (*ranks)->kind == TDC_JSON_LIST && tdc_json_truthy(*id) &&
           (*id)->kind == TDC_JSON_STRING;
}

/* ---- keys ------------------------------------------------------------------------------------ */

static bool grow(void **array, size_t *capacity, size_t number, size_t size)
{
    if (number < *capacity)
        return true;
    size_t larger = *capacity == 0 ? 64 : *capacity * 2;
    void *grown = realloc(*array, larger * size);
    if (grown == NULL)
        return false;
    *array = grown;
    *capacity = larger;
    return true;
}

/* Adds the text, with a number for each time it comes, to the keys of the node. False when out of
 * memory. */
static bool add_key(struct linking *linking, struct rank *rank, uint32_t node)
{
    struct tdc_text *text = &linking->text;
    struct tdc_arena *arena = &rank->graph->arena;
    bool fresh;
    const char *base = tdc_arena_text(arena, tdc_text_get(text), text->length);
    uint32_t number = base != NULL && !text->failed
                          ? tdc_names_put(&rank->counts, base, text->length, &fresh)
                          : TDC_NAME_NONE;
    if (number == TDC_NAME_NONE ||
        !grow((void **)&rank->times, &rank->times_capacity, number, sizeof *rank->times))
        return false;
    if (fresh)
        rank->times[number] = 0;
    tdc_text_addf(text, "_%u", ++rank->times[number]);
    const char *key = tdc_arena_text(arena, tdc_text_get(text), text->length);
    number = key != NULL && !text->failed ? tdc_names_put(&rank->keys, key, text->length, &fresh)
                                          : TDC_NAME_NONE;
    if (number == TDC_NAME_NONE ||
        !grow((void **)&rank->nodes, &rank->nodes_capacity, number, sizeof *rank->nodes))
        return false;
    rank->nodes[number] = node;
    if (rank->keys_of[node].count++ == 0)
        rank->keys_of[node].first = number;
    return true;
}

static const char *key_of(const struct rank *rank, uint32_t node)
{
    return rank->keys_of[node].count != 0 ? rank->keys.keys[rank->keys_of[node].first].text : NULL;
}

/* The key of one operation of a batch: false when it does not say with whom. */
static bool operation_key(struct tdc_text *text, const struct tdc_json *operation,
                          const struct exchange **exchange, int64_t *peer)
{
    const struct tdc_json *op = tdc_json_get(operation, "op");
    const struct tdc_json *other = tdc_json_get(operation, "peer");
    const struct tdc_json *group = tdc_json_get(operation, "group_id");
    tdc_text_clear(text);
    if (op == NULL || op->kind != TDC_JSON_STRING || other == NULL ||
        other->kind != TDC_JSON_INTEGER || other->number < -1e9 || other->number > 1e9)
        return false;
    *exchange = exchange_of(op->text, op->length);
    *peer = (int64_t)other->number;
    tdc_text_addf(text, "%s_rank%lld_%s", op->text, (long long)*peer,
                  group != NULL && group->kind == TDC_JSON_STRING ? group->text : "");
    return true;
}

static bool add_keys(struct linking *linking, struct rank *rank, uint32_t number)
{
    const struct tdc_vis_node *node = &rank->graph->nodes[number];
    struct tdc_text *text = &linking->text;
    size_t length;
    const char *api = api_of(node, &length);
    const struct exchange *exchange = exchange_of(api, length);
    const struct tdc_json *ranks, *id;
    int64_t other;
    tdc_text_clear(text);
    if (length == strlen("batch_isend_irecv") && strncmp(api, "batch_isend_irecv", length) == 0) {
        const struct tdc_json *at = node->call->operations;
        for (at = at != NULL ? at->child : NULL; at != NULL; at = at->next)
            if (operation_key(text, at, &exchange, &other) && !add_key(linking, rank, number))
                return false;
        return true;
    }
    if (exchange != NULL && exchange->point_to_point) {
        if (!rank_argument(node, exchange->argument, &other))
            return true;
        tdc_text_addf(text, "%srank%lld", exchange->api, (long long)other);
    } else {
        if (!group_of(node, &ranks, &id))
            return true;
        tdc_text_add(text, id->text, id->length);
        tdc_text_add(text, api, length);
    }
    return add_key(linking, rank, number);
}

static bool prepare_rank(struct linking *linking, struct rank *rank)
{
    tdc_names_init(&rank->counts);
    tdc_names_init(&rank->keys);
    rank->keys_of = calloc(rank->graph->count, sizeof *rank->keys_of);
    bool good = rank->keys_of != NULL;
    for (uint32_t i = 0; i < rank->graph->count && good; i++)
        if (is_communication(&rank->graph->nodes[i]))
            good = add_keys(linking, rank, i);
    return good;
}

/* ---- links ----------------------------------------------------------------------------------- */

static struct rank *find_rank(const struct linking *linking, int64_t number)
{
    for (size_t i = 0; i < linking->count; i++)
        if (linking->ranks[i].number == number)
            return &linking->ranks[i];
    return NULL;
}

static uint32_t find_key(const struct rank *rank, const char *key)
{
    uint32_t number = tdc_names_find(&rank->keys, key, strlen(key));
    return number == TDC_NAME_NONE ? TDC_VIS_NONE : rank->nodes[number];
}

/* `"1": ["0.5", "name"]` */
static void add_partner(const struct linking *linking, struct tdc_text *out, int64_t rank,
                        const struct tdc_vis_node *node)
{
    char number[TDC_FLOAT_TEXT] = "Nan";
    const char *shown = number;
    if (linking->level)
        shown = node->call->overflow != NULL ? node->call->overflow : "Nan";
    else if (node->has_precision && node->precision_is_float)
        tdc_float_repr(node->precision, number);
    else if (node->has_precision)
        strcpy(number, node->precision == 0 ? "0" : "1");
    tdc_text_addf(out, "\"%lld\": [\"%s\", ", (long long)rank, shown);
    tdc_json_put_text(out, node->name, strlen(node->name));
    tdc_text_addc(out, ']');
}

static void set_link(struct linking *linking, struct rank *rank, uint32_t node,
                     const struct tdc_text *link)
{
    const char *kept =
        link->failed ? NULL : tdc_arena_text(&rank->graph->arena, tdc_text_get(link), link->length);
    linking->failed |= kept == NULL;
    rank->graph->nodes[node].distributed = kept;
}

static void start_link(struct tdc_text *out, const char *type)
{
    tdc_text_addf(out, "{\"communications_type\": \"%s\", \"nodes_info\": {", type);
}

static void link_one(struct linking *linking, struct rank *rank, uint32_t node, const char *type,
                     const struct rank *other, uint32_t partner)
{
    struct tdc_text link;
    tdc_text_init(&link, LINK_LIMIT);
    start_link(&link, type);
    add_partner(linking, &link, other->number, &other->graph->nodes[partner]);
    tdc_text_adds(&link, "}}");
    set_link(linking, rank, node, &link);
    tdc_text_free(&link);
}

/* The first output of both says the same. */
static bool outputs_agree(const struct tdc_vis_node *one, const struct tdc_vis_node *other)
{
    static const char *const keys[] = {"dtype", "shape", "Max", "Min", "Mean", "Norm"};
    if (one->call->outputs.count == 0 || other->call->outputs.count == 0)
        return false;
    const struct tdc_json *left = &one->call->outputs.items[0].fields;
    const struct tdc_json *right = &other->call->outputs.items[0].fields;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (!tdc_vis_equal(tdc_json_get(left, keys[i]), tdc_json_get(right, keys[i])))
            return false;
    return true;
}

/* The key that the other side of an exchange has: its own name, and our rank. */
static const char *partner_key(struct tdc_text *text, const struct exchange *exchange,
                               const char *key, const char *between, int64_t rank)
{
    const char *number = key + strlen(exchange->api) + strlen(between);
    tdc_text_clear(text);
    tdc_text_addf(text, "%s%s%lld%s", exchange->partner, between, (long long)rank,
                  number + strspn(number, "-0123456789"));
    return tdc_text_get(text);
}

static void link_point(struct linking *linking, struct rank *rank, uint32_t number,
                       const struct exchange *exchange)
{
    const struct tdc_vis_node *node = &rank->graph->nodes[number];
    int64_t target, source;
    const char *own = key_of(rank, number);
    if (own == NULL || !rank_argument(node, exchange->argument, &target))
        return;
    struct rank *other = find_rank(linking, target);
    const char *key = partner_key(&linking->text, exchange, own, "rank", rank->number);
    uint32_t partner = other != NULL ? find_key(other, key) : TDC_VIS_NONE;
    if (partner == TDC_VIS_NONE)
        return;
    const struct tdc_vis_node *facing = &other->graph->nodes[partner];
    const struct exchange *back = exchange_of(exchange->partner, strlen(exchange->partner));
    if (!rank_argument(facing, back->argument, &source) || source != rank->number ||
        !outputs_agree(node, facing))
        return;
    link_one(linking, rank, number, exchange->type, other, partner);
    link_one(linking, other, partner, back->type, rank, number);
}

static void link_group(struct linking *linking, struct rank *rank, uint32_t number,
                       const struct exchange *exchange)
{
    const struct tdc_vis_node *node = &rank->graph->nodes[number];
    const struct tdc_json *ranks, *id, *other_ranks, *other_id;
    int64_t source;
    if (exchange != NULL &&
        (!rank_argument(node, exchange->argument, &source) || source != rank->number))
        return;
    const char *key = key_of(rank, number);
    if (!group_of(node, &ranks, &id) || key == NULL)
        return;
    struct tdc_text link;
    bool any = false;
    tdc_text_init(&link, LINK_LIMIT);
    start_link(&link, exchange != NULL ? exchange->type : "send_receive");
    for (const struct tdc_json *at = ranks->child; at != NULL; at = at->next) {
        if (at->kind != TDC_JSON_INTEGER || at->number == (double)rank->number ||
            at->number < -1e9 || at->number > 1e9)
            continue;
        struct rank *other = find_rank(linking, (int64_t)at->number);
        uint32_t partner = other != NULL ? find_key(other, key) : TDC_VIS_NONE;
        if (partner == TDC_VIS_NONE ||
            !group_of(&other->graph->nodes[partner], &other_ranks, &other_id) ||
            !tdc_vis_equal(id, other_id))
            continue;
        tdc_text_adds(&link, any ? ", " : "");
        any = true;
        add_partner(linking, &link, other->number, &other->graph->nodes[partner]);
        if (exchange != NULL)
            link_one(linking, other, partner, exchange->opposite, rank, number);
    }
    tdc_text_adds(&link, "}}");
    if (any)
        set_link(linking, rank, number, &link);
    tdc_text_free(&link);
}

/* Each operation of a batch; msprobe makes a list of them unless there is one alone. */
static void link_batch(struct linking *linking, struct rank *rank, uint32_t number)
{
    const struct key_range *range = &rank->keys_of[number];
    struct tdc_text link;
    bool any = false;
    tdc_text_init(&link, LINK_LIMIT);
    tdc_text_adds(&link, range->count > 1 ? "[" : "");
    for (uint32_t i = range->first; i < range->first + range->count; i++) {
        const char *key = rank->keys.keys[i].text;
        const struct exchange *exchange = exchange_of(key, strcspn(key, "_"));
        if (exchange == NULL || !exchange->point_to_point)
            continue;
        struct rank *other =
            find_rank(linking, strtoll(key + strlen(exchange->api) + strlen("_rank"), NULL, 10));
        const char *facing = partner_key(&linking->text, exchange, key, "_rank", rank->number);
        uint32_t partner = other != NULL ? find_key(other, facing) : TDC_VIS_NONE;
        if (partner == TDC_VIS_NONE)
            continue;
        tdc_text_adds(&link, any ? ", " : "");
        any = true;
        start_link(&link, exchange->type);
        add_partner(linking, &link, other->number, &other->graph->nodes[partner]);
        tdc_text_adds(&link, "}}");
    }
    tdc_text_adds(&link, range->count > 1 ? "]" : "");
    if (any)
        set_link(linking, rank, number, &link);
    tdc_text_free(&link);
}

static void link_node(struct linking *linking, struct rank *rank, uint32_t number)
{
    const struct tdc_vis_node *node = &rank->graph->nodes[number];
    if (!is_communication(node) || node->distributed != NULL)
        return;
    size_t length;
    const char *api = api_of(node, &length);
    const struct exchange *exchange = exchange_of(api, length);
    if (length == strlen("batch_isend_irecv") && strncmp(api, "batch_isend_irecv", length) == 0)
        link_batch(linking, rank, number);
    else if (exchange != NULL && exchange->point_to_point)
        link_point(linking, rank, number, exchange);
    else
        link_group(linking, rank, number, exchange);
}

bool tdc_vis_link_ranks(struct tdc_vis_graph *const *graphs, const int64_t *ranks, size_t count,
                        bool level)
{
    struct linking linking = {.count = count, .level = level};
    linking.ranks = calloc(count, sizeof *linking.ranks);
    if (linking.ranks == NULL)
        return false;
    tdc_text_init(&linking.text, (size_t)1 << 17);
    for (size_t i = 0; i < count; i++) {
        linking.ranks[i].graph = graphs[i];
        linking.ranks[i].number = ranks[i];
        linking.failed |= !prepare_rank(&linking, &linking.ranks[i]);
    }
    for (size_t i = 0; i < count; i++)
        for (uint32_t node = 0; node < graphs[i]->count && !linking.failed; node++)
            link_node(&linking, &linking.ranks[i], node);
    for (size_t i = 0; i < count; i++) {
        struct rank *rank = &linking.ranks[i];
        tdc_names_free(&rank->counts);
        tdc_names_free(&rank->keys);
        free(rank->times);
        free(rank->nodes);
        free(rank->keys_of);
    }
    free(linking.ranks);
    tdc_text_free(&linking.text);
    return !linking.failed;
}
