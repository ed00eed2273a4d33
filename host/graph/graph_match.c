#include "host/graph/graph_match.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/graph/files/arena_list.h"
#include "host/graph/files/say.h"
#include "io/base/error.h"
#include "io/base/text.h"

#define MOST_PARTS  ((size_t)256) /* of a fused operator: no name is longer */
#define TEXT_LIMIT  ((size_t)1 << 16)
#define FUSION_TYPE "AutomaticBufferFusionOp"

/* A tensor of the golden side in the place where it faces something. */
struct golden_tensor {
    const char *name; /* NULL: never dumped */
};

struct golden_list {
    struct golden_tensor *tensors;
    size_t count, room;
};

struct matching {
    struct tdc_arena *arena;
    const struct tdc_graph_sides *sides;
    const struct tdc_options *options;
    struct tdc_graph_pairs *pairs;
    struct tdc_error *error;
    struct tdc_name_table used; /* golden tensors that face something; with `complete` alone */
    struct tdc_text text;
    bool failed; /* out of memory */
};

/* An operator of my side under way. */
struct subject {
    const struct tdc_op_file *file;
    uint64_t counts[2];
    const struct tdc_graph_op *parts[MOST_PARTS];
    size_t part_count;
    const char *rest; /* of its name, behind the parts */
};

static const char *keep_text(struct matching *matching)
{
    const struct tdc_text *text = &matching->text;
    const char *kept =
        text->failed ? NULL : tdc_arena_text(matching->arena, tdc_text_get(text), text->length);
    matching->failed |= kept == NULL;
    return kept;
}

static const char *texted(struct matching *matching, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static const char *texted(struct matching *matching, const char *format, ...)
{
    char text[4096];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    tdc_text_clear(&matching->text);
    tdc_text_adds(&matching->text, text);
    return keep_text(matching);
}

static const char *tensor_name(struct matching *matching, const char *path, bool output,
                               uint64_t index)
{
    tdc_text_clear(&matching->text);
    tdc_text_adds(&matching->text, path);
    tdc_text_addf(&matching->text, ",%s,%llu", output ? "outputs" : "inputs",
                  (unsigned long long)index);
    return keep_text(matching);
}

/* Without memory there is no table; what else is wrong with a file is its own matter. */
static bool count_tensors(struct matching *matching, const struct tdc_op_file *file,
                          uint64_t counts[2], struct tdc_error *error)
{
    tdc_status status = tdc_op_file_count(file, counts, error);
    matching->failed |= status == TDC_ERR_MEMORY;
    return status == TDC_OK;
}

static void add(struct matching *matching, const struct tdc_graph_pair *pair)
{
    struct tdc_graph_pairs *pairs = matching->pairs;
    bool fresh;
    if (!tdc_arena_grow(matching->arena, (void **)&pairs->pairs, pairs->count, sizeof *pair,
                        &pairs->room)) {
        matching->failed = true;
        return;
    }
    pairs->pairs[pairs->count] = *pair;
    pairs->pairs[pairs->count++].token = matching->sides->mine->token;
    if (matching->sides->complete && pair->golden != NULL &&
        tdc_names_put(&matching->used, pair->golden, strlen(pair->golden), &fresh) == TDC_NAME_NONE)
        matching->failed = true;
}

/* A list of my operator against one of the golden side, by position. What is left of mine is a row
 * by itself if all are asked for. */
static void add_list(struct matching *matching, const struct subject *subject, bool output,
                     const struct golden_list *golden, const char *how, const char *why_not)
{
    for (uint64_t i = 0; i < subject->counts[output] && !matching->failed; i++) {
        bool faced = i < golden->count;
        const char *name = faced ? golden->tensors[i].name : NULL;
        if (!faced && !matching->sides->complete)
            return;
        struct tdc_graph_pair pair = {.mine = tensor_name(matching, subject->file->path, output, i),
                                      .golden = name,
                                      .file = subject->file,
                                      .output = output,
                                      .index = i,
                                      .how = name != NULL ? how : why_not,
                                      .blank = faced && name == NULL};
        add(matching, &pair);
    }
}

static void add_golden(struct matching *matching, struct golden_list *list, const char *name)
{
    if (!tdc_arena_grow(matching->arena, (void **)&list->tensors, list->count,
                        sizeof *list->tensors, &list->room)) {
        matching->failed = true;
        return;
    }
    list->tensors[list->count++].name = name;
}

/* Tensors that nothing can face. */
static void add_lonely(struct matching *matching, const struct subject *subject, const char *why)
{
    static const struct golden_list none = {0};
    add_list(matching, subject, false, &none, NULL, why);
    add_list(matching, subject, true, &none, NULL, why);
}

/* ---- names of fused operators ---------------------------------------------------------------- */

/* The longest operator of the graph that a text begins with; NULL when there is none, or when one
 * that was dumped and is not in the graph comes first. */
static const struct tdc_graph_op *longest_part(const struct matching *matching, const char *text)
{
    const struct tdc_graph_sides *sides = matching->sides;
    size_t whole = strlen(text);
    for (size_t length = whole; length > 0; length--) {
        const struct tdc_graph_op *op = tdc_graph_find(sides->graph, text, length);
        if (op != NULL)
            return op;
        if (length != whole &&
            (tdc_ge_token_find(sides->mine, text, length) != NULL ||
             (sides->golden != NULL && tdc_ge_token_find(sides->golden, text, length) != NULL)))
            return NULL;
    }
    return NULL;
}

static void split_name(const struct matching *matching, struct subject *subject)
{
    subject->part_count = 0;
    subject->rest = subject->file->name.op;
    while (*subject->rest != '\0' && subject->part_count < MOST_PARTS) {
        const struct tdc_graph_op *op = longest_part(matching, subject->rest);
        if (op == NULL)
            return;
        subject->parts[subject->part_count++] = op;
        subject->rest += strlen(op->name);
    }
}

static const char *parts_text(struct matching *matching, const struct subject *subject)
{
    tdc_text_clear(&matching->text);
    tdc_text_adds(&matching->text, "fused of ");
    for (size_t i = 0; i < subject->part_count; i++)
        tdc_text_addf(&matching->text, "%s%s", i != 0 ? " + " : "", subject->parts[i]->name);
    return keep_text(matching);
}

/* ---- against FX ------------------------------------------------------------------------------ */

static void list_of_node(struct matching *matching, const struct tdc_fx_node *node, bool output,
                         struct golden_list *list)
{
    for (size_t i = 0; i < node->counts[output]; i++)
        if (!node->arrays[output][i].repeated || !matching->sides->complete)
            add_golden(matching, list, node->arrays[output][i].path);
}

/* The last node with data that an operator is named after; others are told. */
static const struct tdc_fx_node *node_of(struct matching *matching, const struct subject *subject,
                                         const struct tdc_graph_op *op)
{
    const struct tdc_fx_node *found = NULL;
    for (size_t i = 0; i < op->node_count; i++) {
        const struct tdc_fx_node *node = tdc_fx_token_find(matching->sides->fx, op->nodes[i]);
        if (node != NULL)
            found = node;
        else
            tdc_say(matching->options, TDC_MESSAGE_WARNING,
                    "FX data missing, GE tensor name: %s, FX tensor name: %s",
                    subject->file->name.op, op->nodes[i]);
    }
    return found;
}

static const char *why_no_node(struct matching *matching, const struct tdc_graph_op *op)
{
    return op->node_count == 0
               ? texted(matching, "%s is not named after an FX node: part of a larger one",
                        op->name)
               : texted(matching, "FX has no data of %s", op->nodes[op->node_count - 1]);
}

/* One list of an operator against that of the node a part is named after. */
static void face_node(struct matching *matching, const struct subject *subject, bool output,
                      const struct tdc_graph_op *part, const struct tdc_fx_node *node)
{
    struct golden_list list = {0};
    const char *how = NULL, *why_not;
    if (node != NULL) {
        list_of_node(matching, node, output, &list);
        how = subject->part_count == 1
                  ? texted(matching, "FX node %s", node->name)
                  : texted(matching, "%s: FX node %s", parts_text(matching, subject), node->name);
        why_not = texted(matching, "FX node %s has %zu %s", node->name, list.count,
                         output ? "outputs" : "inputs");
    } else {
        why_not = why_no_node(matching, part);
    }
    add_list(matching, subject, output, &list, how, why_not);
}

static void match_single(struct matching *matching, const struct subject *subject)
{
    const struct tdc_graph_op *op = subject->parts[0];
    const struct tdc_fx_node *node = node_of(matching, subject, op);
    face_node(matching, subject, false, op, node);
    face_node(matching, subject, true, op, node);
}

static void match_fused(struct matching *matching, const struct subject *subject)
{
    const struct tdc_graph_op *first = subject->parts[0];
    const struct tdc_graph_op *last = subject->parts[subject->part_count - 1];
    face_node(matching, subject, false, first, node_of(matching, subject, first));
    face_node(matching, subject, true, last, node_of(matching, subject, last));
}

/* Casts and changes of formats that GE has put in: the output against the input. */
static void match_itself(struct matching *matching, const struct subject *subject)
{
    struct golden_list inputs = {0};
    for (uint64_t i = 0; i < subject->counts[0] && !matching->failed; i++)
        add_golden(matching, &inputs, tensor_name(matching, subject->file->path, false, i));
    add_list(matching, subject, true, &inputs, "its own input: put in by GE",
             "put in by GE, with fewer inputs than outputs");
}

static bool changes_form(const struct tdc_op_file *file)
{
    return strstr(file->name.type, "Cast") != NULL || strstr(file->name.type, "TransData") != NULL;
}

static void match_with_fx(struct matching *matching, struct subject *subject)
{
    split_name(matching, subject);
    if (subject->part_count == 1)
        match_single(matching, subject);
    else if (subject->part_count > 1)
        match_fused(matching, subject);
    else if (changes_form(subject->file))
        match_itself(matching, subject);
    else
        add_lonely(matching, subject,
                   texted(matching, "%s is not in the graph text", subject->file->name.op));
}

/* ---- against GE ------------------------------------------------------------------------------ */

static bool count_golden(struct matching *matching, const struct tdc_op_file *file,
                         uint64_t counts[2])
{
    struct tdc_error error = {0};
    if (count_tensors(matching, file, counts, &error))
        return true;
    tdc_say(matching->options, TDC_MESSAGE_WARNING, "%s", error.message);
    return false;
}

static bool is_part(const struct subject *subject, const char *op)
{
    for (size_t i = 0; i < subject->part_count; i++)
        if (strcmp(subject->parts[i]->name, op) == 0)
            return true;
    return false;
}

/* The inputs of a part that come from outside the fused operator; *outputs becomes its own. */
static void gather_part(struct matching *matching, const struct subject *subject,
                        const struct tdc_graph_op *part, struct golden_list *inputs,
                        struct golden_list *outputs)
{
    const struct tdc_op_file *file =
        tdc_ge_token_find(matching->sides->golden, part->name, strlen(part->name));
    uint64_t counts[2] = {part->input_count, 0};
    outputs->count = 0;
    if (file == NULL)
        tdc_say(matching->options, TDC_MESSAGE_WARNING,
                "No dump data for op: %s. Seldom should this happen. Input data matching may be "
                "incorrect.",
                part->name);
    else if (!count_golden(matching, file, counts))
        file = NULL;
    for (uint64_t i = 0; i < part->input_count && i < counts[0] && !matching->failed; i++)
        if (!is_part(subject, part->inputs[i]))
            add_golden(matching, inputs,
                       file != NULL ? tensor_name(matching, file->path, false, i) : NULL);
    for (uint64_t i = 0; i < counts[1] && file != NULL && !matching->failed; i++)
        add_golden(matching, outputs, tensor_name(matching, file->path, true, i));
}

static void match_parts(struct matching *matching, struct subject *subject)
{
    struct golden_list inputs = {0}, outputs = {0};
    split_name(matching, subject);
    if (*subject->rest != '\0')
        tdc_say(matching->options, TDC_MESSAGE_WARNING,
                "Failed parsing fused op name: %s. Compare manually if required.", subject->rest);
    for (size_t i = 0; i < subject->part_count; i++)
        gather_part(matching, subject, subject->parts[i], &inputs, &outputs);
    const char *how = parts_text(matching, subject);
    add_list(matching, subject, false, &inputs, how, "no such input of its parts was dumped");
    add_list(matching, subject, true, &outputs, how, "no such output of its last part was dumped");
}

static void match_same(struct matching *matching, const struct subject *subject,
                       const struct tdc_op_file *golden)
{
    uint64_t counts[2];
    struct tdc_error error = {0};
    struct tdc_graph_pair bad = {
        .mine = subject->file->path, .golden = golden->path, .file = subject->file};
    if (!count_tensors(matching, golden, counts, &error)) {
        bad.error = texted(matching, "%s", error.message);
        add(matching, &bad);
        return;
    }
    for (int list = 0; list < 2; list++) {
        struct golden_list tensors = {0};
        for (uint64_t i = 0; i < counts[list] && !matching->failed; i++)
            add_golden(matching, &tensors, tensor_name(matching, golden->path, list == 1, i));
        add_list(matching, subject, list == 1, &tensors, "same operator",
                 list == 1 ? "the reference has fewer outputs" : "the reference has fewer inputs");
    }
}

static void match_with_ge(struct matching *matching, struct subject *subject)
{
    const char *op = subject->file->name.op;
    const struct tdc_op_file *golden = tdc_ge_token_find(matching->sides->golden, op, strlen(op));
    if (strncmp(subject->file->name.type, FUSION_TYPE, strlen(FUSION_TYPE)) == 0) {
        match_parts(matching, subject);
    } else if (golden != NULL) {
        match_same(matching, subject, golden);
    } else {
        tdc_say(matching->options, TDC_MESSAGE_WARNING, "Golden data missing, My tensor name: %s",
                op);
        add_lonely(matching, subject, "the reference has no such operator");
    }
}

/* ---- what nothing faces ---------------------------------------------------------------------- */

static void add_unused(struct matching *matching, const char *name, const char *node, bool output,
                       uint64_t index)
{
    if (name == NULL || tdc_names_find(&matching->used, name, strlen(name)) != TDC_NAME_NONE)
        return;
    struct tdc_graph_pair pair = {.golden = name,
                                  .output = output,
                                  .index = index,
                                  .node = node,
                                  .how = "nothing of the test faces it"};
    add(matching, &pair);
}

static void add_unused_fx(struct matching *matching)
{
    const struct tdc_fx_token *fx = matching->sides->fx;
    for (size_t i = 0; i < fx->count; i++)
        for (int list = 0; list < 2; list++)
            for (size_t k = 0; k < fx->nodes[i].counts[list] && !matching->failed; k++)
                add_unused(matching, fx->nodes[i].arrays[list][k].path, fx->nodes[i].name,
                           list == 1, k);
}

static void add_unused_ge(struct matching *matching)
{
    const struct tdc_ge_token *golden = matching->sides->golden;
    for (size_t i = 0; i < golden->count && !matching->failed; i++) {
        const struct tdc_op_file *file = &golden->files[i];
        uint64_t counts[2];
        if (!count_tensors(matching, file, counts, &(struct tdc_error){0}))
            continue; /* a row or a line says so already, or the file has none */
        for (int list = 0; list < 2; list++)
            for (uint64_t k = 0; k < counts[list] && !matching->failed; k++)
                add_unused(matching, tensor_name(matching, file->path, list == 1, k), file->name.op,
                           list == 1, k);
    }
}

/* ---- a token --------------------------------------------------------------------------------- */

/* In the order of the graph, operators that are not in it first, as their files lie; or, with
 * `complete`, in the order in which they ran. */
struct place {
    uint64_t graph; /* position + 1; 0: not in it. Or the time */
    uint32_t file;
};

static int by_place(const void *left, const void *right)
{
    const struct place *a = left, *b = right;
    if (a->graph != b->graph)
        return a->graph < b->graph ? -1 : 1;
    return a->file < b->file ? -1 : a->file > b->file;
}

static void match_file(struct matching *matching, const struct tdc_op_file *file)
{
    struct subject subject = {.file = file};
    struct tdc_error error = {0};
    if (!count_tensors(matching, file, subject.counts, &error)) {
        struct tdc_graph_pair bad = {.mine = file->path, .file = file};
        bad.error = texted(matching, "%s", error.message);
        add(matching, &bad);
        return;
    }
    if (subject.counts[0] + subject.counts[1] == 0)
        tdc_say(matching->options, TDC_MESSAGE_WARNING, "%s: no tensor in %llu bytes", file->path,
                (unsigned long long)file->size);
    if (matching->sides->fx != NULL)
        match_with_fx(matching, &subject);
    else
        match_with_ge(matching, &subject);
}

tdc_status tdc_graph_match(struct tdc_arena *arena, const struct tdc_graph_sides *sides,
                           const struct tdc_options *options, struct tdc_graph_pairs *pairs,
                           struct tdc_error *error)
{
    const struct tdc_ge_token *mine = sides->mine;
    struct matching matching = {
        .arena = arena, .sides = sides, .options = options, .pairs = pairs, .error = error};
    struct place *places = tdc_arena_zeroed(arena, mine->count, sizeof *places);
    tdc_names_init(&matching.used);
    tdc_text_init(&matching.text, TEXT_LIMIT);
    matching.failed = places == NULL;
    for (size_t i = 0; i < mine->count && !matching.failed; i++) {
        const char *op = mine->files[i].name.op;
        uint32_t number = tdc_names_find(&sides->graph->names, op, strlen(op));
        places[i] = (struct place){sides->complete           ? mine->files[i].name.time
                                   : number != TDC_NAME_NONE ? (uint64_t)number + 1
                                                             : 0,
                                   (uint32_t)i};
    }
    if (!matching.failed && mine->count > 1)
        qsort(places, mine->count, sizeof *places, by_place);
    for (size_t i = 0; i < mine->count && !matching.failed; i++)
        match_file(&matching, &mine->files[places[i].file]);
    if (sides->complete && sides->fx != NULL)
        add_unused_fx(&matching);
    else if (sides->complete)
        add_unused_ge(&matching);
    tdc_text_free(&matching.text);
    tdc_names_free(&matching.used);
    return matching.failed ? tdc_fail(error, TDC_ERR_MEMORY, "out of memory for the pairs")
                           : TDC_OK;
}
