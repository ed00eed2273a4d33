/* rule_rows.c - rows by a fusion rule: tensors of compiled operators against original ones. */
#include <stdlib.h>
#include <string.h>

#include "host/graph/files/ge_file.h"
#include "host/graph/files/say.h"
#include "host/offline/offline_rows.h"
#include "io/base/error.h"
#include "io/base/text.h"

#define NAMES_LIMIT ((size_t)1 << 20)
#define MOST_STEPS  64 /* of casts in a row; also the end of circles */

struct matching {
    struct tdc_offline_matching base;
    const struct tdc_fusion_rule *rule;
};

/* ---- where a tensor comes from ----------------------------------------------------------------
 */

/* Casts and changes of format: what the original model has is before them. */
static bool changes_form(const struct tdc_rule_op *op)
{
    return strcmp(op->type, "Cast") == 0 || strcmp(op->type, "TransData") == 0;
}

/* The operator and output that an input is. False: the rule does not say. */
static bool step_back(const struct tdc_fusion_rule *rule, const struct tdc_rule_op **op,
                      uint64_t *place)
{
    if (*place >= (*op)->input_count)
        return false;
    const char *input = (*op)->inputs[*place], *colon = strrchr(input, ':');
    if (colon == NULL || colon[1] == '\0' || !tdc_all_digits(colon + 1, strlen(colon + 1)))
        return false;
    *op = tdc_fusion_rule_find(rule, input, (size_t)(colon - input));
    *place = tdc_folder_number(colon + 1, strlen(colon + 1));
    return *op != NULL;
}

/* What faces a tensor of an operator; NULL: nothing does. */
static const struct tdc_rule_output *origin_of(const struct tdc_fusion_rule *rule,
                                               const struct tdc_rule_op *op, bool output,
                                               uint64_t *place)
{
    if (!output && !step_back(rule, &op, place))
        return NULL;
    for (int i = 0; i < MOST_STEPS && changes_form(op); i++)
        if (!step_back(rule, &op, place))
            return NULL;
    if (op->output_count == 0)
        return NULL;
    const struct tdc_rule_output *origin =
        &op->outputs[*place < op->output_count ? (size_t)*place : 0];
    if (origin->index >= 0)
        *place = (uint64_t)origin->index;
    return origin->name[0] != '\0' ? origin : NULL;
}

/* ---- rows of an operator -----------------------------------------------------------------------
 */

struct names {
    const char *mine, *golden; /* of the rows of a group */
};

static void add_tensor(struct matching *matching, const struct tdc_rule_op *op,
                       const struct tdc_offline_file *file, const struct names *names, bool output,
                       uint64_t place)
{
    struct tdc_offline_matching *base = &matching->base;
    uint64_t origin_place = place;
    const struct tdc_rule_output *origin = origin_of(matching->rule, op, output, &origin_place);
    struct tdc_offline_row row = {.index = op->group,
                                  .type = op->type,
                                  .mine = names->mine,
                                  .golden = names->golden,
                                  .op = op->name,
                                  .tensors = {{file, output, place}},
                                  .format = origin != NULL ? origin->format : ""};
    row.tensor = tdc_offline_text(base, "%s:%s:%llu", op->name, output ? "output" : "input",
                                  (unsigned long long)place);
    const struct tdc_offline_file *golden =
        origin != NULL ? tdc_offline_find(base->golden, origin->name, origin_place) : NULL;
    if (golden != NULL) {
        row.tensors[1] = (struct tdc_offline_tensor){golden, true, origin_place};
    } else if (row.tensor != NULL) {
        row.reason = tdc_offline_text(base, "[%s] There is no the ground truth dump file for %s.",
                                      op->name, row.tensor);
        if (row.reason != NULL)
            tdc_say(base->options, TDC_MESSAGE_WARNING, "%s", row.reason);
    }
    tdc_offline_add(base, &row);
}

static void add_about(struct matching *matching, const struct tdc_rule_op *op,
                      const struct names *names, const char *reason)
{
    struct tdc_offline_row row = {.index = op->group,
                                  .type = op->type,
                                  .mine = names->mine,
                                  .golden = names->golden,
                                  .op = op->name,
                                  .reason = reason};
    tdc_offline_add(&matching->base, &row);
}

static const char *no_file(struct matching *matching, const struct tdc_rule_op *op)
{
    const char *reason = tdc_offline_text(
        &matching->base,
        "[%s] There is no dump file for my output operator \"%s\". The type is %s.", op->name,
        op->name, op->type);
    if (reason != NULL)
        tdc_say(matching->base.options, TDC_MESSAGE_WARNING, "%s", reason);
    return reason;
}

/* All tensors of an operator that was dumped. */
static void add_op(struct matching *matching, const struct tdc_rule_op *op,
                   const struct tdc_offline_file *file, const struct names *names)
{
    static const char *const dequantisers[] = {"_dequant_layer", "AscendDequant", "_dequant"};
    bool inputs = strcmp(op->type, "AscendDequant") != 0;
    uint64_t counts[2];
    struct tdc_error error = {0};
    matching->base.rows->matched++;
    for (size_t i = 0; i < sizeof dequantisers / sizeof *dequantisers; i++)
        inputs &= !tdc_ends_in(op->name, dequantisers[i]);
    if (tdc_ge_file_counts(file->path, counts, &error) != TDC_OK) {
        add_about(matching, op, names, tdc_offline_text(&matching->base, "%s", error.message));
        return;
    }
    for (uint64_t i = 0; inputs && i < counts[0] && !matching->base.failed; i++)
        add_tensor(matching, op, file, names, false, i);
    bool outputs = strcmp(op->type, "AscendQuant") != 0;
    for (uint64_t i = 0; outputs && i < counts[1] && !matching->base.failed; i++)
        add_tensor(matching, op, file, names, true, i);
}

/* ---- groups ------------------------------------------------------------------------------------
 */

static const struct tdc_offline_file *my_file(const struct matching *matching,
                                              const struct tdc_rule_op *op)
{
    return tdc_offline_find(matching->base.mine, op->name, 0);
}

static void join_originals(const struct tdc_rule_op *op, struct tdc_text *text)
{
    for (size_t i = 0; i < op->original_count; i++)
        tdc_text_addf(text, "%s%s", text->length != 0 ? "," : "", op->originals[i]);
}

static bool same_originals(const struct tdc_rule_op *a, const struct tdc_rule_op *b)
{
    bool same = a->original_count == b->original_count;
    for (size_t i = 0; i < a->original_count && same; i++)
        same = strcmp(a->originals[i], b->originals[i]) == 0;
    return same;
}

/* All operators of a group in one text, and all their originals, each list of these once. */
static bool join_names(struct matching *matching, const struct tdc_rule_op *first,
                       struct names *names)
{
    struct tdc_text mine, golden;
    tdc_text_init(&mine, NAMES_LIMIT);
    tdc_text_init(&golden, NAMES_LIMIT);
    for (const struct tdc_rule_op *op = first; op != NULL; op = op->next) {
        const struct tdc_rule_op *before = first;
        while (before != op && !same_originals(before, op))
            before = before->next;
        tdc_text_addf(&mine, "%s%s", op != first ? "," : "", op->name);
        if (before == op)
            join_originals(op, &golden);
    }
    names->mine = tdc_arena_text(matching->base.arena, tdc_text_get(&mine), mine.length);
    names->golden = golden.length != 0
                        ? tdc_arena_text(matching->base.arena, tdc_text_get(&golden), golden.length)
                        : "*";
    bool joined = !mine.failed && !golden.failed && names->mine != NULL && names->golden != NULL;
    tdc_text_free(&mine);
    tdc_text_free(&golden);
    return joined;
}

/* Nothing of it is in the original model: part of what several operators became. */
static bool is_inner(const struct tdc_rule_op *op)
{
    if (!op->multiple)
        return false;
    for (size_t i = 0; i < op->output_count; i++)
        if (op->outputs[i].name[0] != '\0')
            return false;
    return true;
}

/* Operators that ran together: the first and the last of them in time are whole. */
static void add_sub_graph(struct matching *matching, const struct tdc_rule_op *first,
                          const struct names *names)
{
    const struct tdc_rule_op *early = NULL, *late = NULL;
    const struct tdc_offline_file *early_file = NULL, *late_file = NULL;
    const struct tdc_rule_op *op = first; /* a group has one at least */
    do {
        const struct tdc_offline_file *file = my_file(matching, op);
        if (file == NULL)
            continue;
        if (early_file == NULL || file->time < early_file->time) {
            early = op;
            early_file = file;
        }
        if (late_file == NULL || file->time >= late_file->time) {
            late = op;
            late_file = file;
        }
    } while ((op = op->next) != NULL);
    if (early == NULL) {
        matching->base.rows->lonely++;
        add_about(matching, first, names, "The fusion operator list is empty");
        return;
    }
    if (!same_originals(early, late))
        add_op(matching, early, early_file, names);
    add_op(matching, late, late_file, names);
}

static void add_several(struct matching *matching, const struct tdc_rule_op *first,
                        const struct names *names)
{
    struct tdc_text why;
    bool any = false;
    tdc_text_init(&why, NAMES_LIMIT);
    const struct tdc_rule_op *op = first;
    do {
        const struct tdc_offline_file *file = my_file(matching, op);
        const char *reason = NULL;
        if (is_inner(op))
            reason = tdc_offline_text(
                &matching->base,
                "[%s] The op is inner node for multi to multi relation.Skip the op.", op->name);
        else if (file == NULL)
            reason = no_file(matching, op);
        else
            add_op(matching, op, file, names);
        any |= reason == NULL;
        if (reason != NULL)
            tdc_text_addf(&why, "%s%s", why.length != 0 ? "," : "", reason);
    } while ((op = op->next) != NULL);
    if (!any) {
        matching->base.rows->lonely++;
        add_about(matching, first, names,
                  tdc_offline_text(&matching->base, "%s", tdc_text_get(&why)));
    }
    tdc_text_free(&why);
}

static void add_group(struct matching *matching, const struct tdc_rule_op *first)
{
    struct names names;
    if (!join_names(matching, first, &names)) {
        matching->base.failed = true;
    } else if (first->next == NULL) {
        const struct tdc_offline_file *file = my_file(matching, first);
        if (file != NULL) {
            add_op(matching, first, file, &names);
        } else {
            matching->base.rows->lonely++;
            add_about(matching, first, &names, no_file(matching, first));
        }
    } else if (first->sub_graph[0] != '\0') {
        add_sub_graph(matching, first, &names);
    } else {
        add_several(matching, first, &names);
    }
}

tdc_status tdc_offline_match_by_rule(struct tdc_arena *arena, const struct tdc_fusion_rule *rule,
                                     const struct tdc_offline_side *mine,
                                     const struct tdc_offline_side *golden,
                                     const struct tdc_options *options,
                                     struct tdc_offline_rows *rows, struct tdc_error *error)
{
    struct matching matching = {{arena, mine, golden, options, rows, false}, rule};
    for (size_t i = 0; i < rule->group_count && !matching.base.failed; i++)
        add_group(&matching, rule->groups[i]);
    return matching.base.failed ? tdc_fail(error, TDC_ERR_MEMORY, "out of memory for the rows")
                                : TDC_OK;
}
