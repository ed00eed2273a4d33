#include "host/align/rules/dims.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "host/align/rules/expression.h"

/* Of one axis, join or step list: more is no layout. */
#define MOST  64
#define SHOWN 300

struct parsing {
    struct tdc_arena *arena;
    const char *text;            /* all of it */
    const char *body, *at, *end; /* before the declarations */
    char *problem;
    struct tdc_dims *dims;
};

static bool fail(struct parsing *parsing, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static bool fail(struct parsing *parsing, const char *format, ...)
{
    va_list arguments;
    int used = snprintf(parsing->problem, TDC_DIMS_TEXT, "dims '%.*s'", SHOWN, parsing->text);
    va_start(arguments, format);
    vsnprintf(parsing->problem + used, TDC_DIMS_TEXT - (size_t)used, format, arguments);
    va_end(arguments);
    return false;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* What is left from the place that cannot be read; at the very end all of it. */
static bool unreadable(struct parsing *parsing, const char *from)
{
    const char *start = from, *end = parsing->end;
    while (start < end && isspace((unsigned char)*start) != 0)
        start++;
    while (end > start && isspace((unsigned char)end[-1]) != 0)
        end--;
    if (start == end) {
        start = parsing->body;
        end = parsing->end;
    }
    int length = (int)(end - start < SHOWN ? end - start : SHOWN);
    return fail(parsing, ": cannot read '%.*s'", length, start);
}

static bool no_memory(struct parsing *parsing)
{
    parsing->problem[0] = '\0';
    return false;
}

static void *room(struct parsing *parsing, size_t size)
{
    void *taken = tdc_arena_zeroed(parsing->arena, MOST, size);
    if (taken == NULL)
        no_memory(parsing);
    return taken;
}

static char now(const struct parsing *parsing)
{
    return parsing->at < parsing->end ? *parsing->at : '\0';
}

/* Blanks, and the `*` that SGLang writes between leaves. */
static void skip_blanks(struct parsing *parsing)
{
    while (is_blank(now(parsing)) || now(parsing) == '*')
        parsing->at++;
}

static struct tdc_written trimmed(const char *start, const char *end)
{
    while (start < end && isspace((unsigned char)*start) != 0)
        start++;
    while (end > start && isspace((unsigned char)end[-1]) != 0)
        end--;
    return (struct tdc_written){start, (size_t)(end - start)};
}

static bool check_expression(struct parsing *parsing, struct tdc_written written)
{
    int64_t value;
    return tdc_expression_value(written.text, written.length, NULL, &value, parsing->problem);
}

static size_t word_length(const char *at, const char *end)
{
    size_t length = 0;
    while (at + length < end && (isalnum((unsigned char)at[length]) != 0 || at[length] == '_'))
        length++;
    return length;
}

static const char *keep(struct parsing *parsing, const char *text, size_t length)
{
    const char *kept = tdc_arena_text(parsing->arena, text, length);
    if (kept == NULL)
        no_memory(parsing);
    return kept;
}

/* ---- ranges ---------------------------------------------------------------------------------- */

static const char *find_dots(struct tdc_written item)
{
    for (size_t i = 0; i + 1 < item.length; i++)
        if (item.text[i] == '.' && item.text[i + 1] == '.')
            return item.text + i;
    return NULL;
}

static bool take_item(struct parsing *parsing, struct tdc_written text, struct tdc_range_item *item)
{
    const char *dots = find_dots(text);
    item->single = dots == NULL;
    item->from = dots == NULL ? text : trimmed(text.text, dots);
    if (dots != NULL)
        item->to = trimmed(dots + 2, text.text + text.length);
    if ((item->single || item->from.length != 0) && !check_expression(parsing, item->from))
        return false;
    return item->to.length == 0 || check_expression(parsing, item->to);
}

static bool take_range(struct parsing *parsing, const struct tdc_range **range)
{
    const char *open = parsing->at;
    const char *close = memchr(open, '}', (size_t)(parsing->end - open));
    if (close == NULL)
        return unreadable(parsing, open);
    struct tdc_range *made = tdc_arena_zeroed(parsing->arena, 1, sizeof *made);
    if (made == NULL)
        return no_memory(parsing);
    made->text = keep(parsing, open + 1, (size_t)(close - open - 1));
    if (made->text == NULL)
        return false;
    const char *at = made->text, *end = at + strlen(at);
    /* as many as are written: a permutation names every index of its axis */
    size_t most = 1;
    for (const char *c = at; c < end; c++)
        most += *c == ',';
    made->items = tdc_arena_zeroed(parsing->arena, most, sizeof *made->items);
    if (made->items == NULL)
        return no_memory(parsing);
    for (;;) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        if (!take_item(parsing, trimmed(at, comma != NULL ? comma : end),
                       &made->items[made->count++]))
            return false;
        if (comma == NULL)
            break;
        at = comma + 1;
    }
    parsing->at = close + 1;
    *range = made;
    return true;
}

/* ---- joins ----------------------------------------------------------------------------------- */

static bool declare(struct parsing *parsing, const char *name, enum tdc_declared how)
{
    struct tdc_dims *dims = parsing->dims;
    for (size_t i = 0; i < dims->declaration_count; i++)
        if (strcmp(dims->declarations[i].name, name) == 0) {
            dims->declarations[i].how = how;
            return true;
        }
    if (dims->declaration_count == MOST)
        return fail(parsing, ": cannot read '%.100s'", name);
    dims->declarations[dims->declaration_count++] = (struct tdc_declaration){name, how};
    return true;
}

static bool is_word(struct tdc_written word, const char *text)
{
    return word.length == strlen(text) && memcmp(word.text, text, word.length) == 0;
}

static bool take_word(struct parsing *parsing, struct tdc_written word, struct tdc_join_part *part,
                      bool *partial)
{
    if (is_word(word, "zigzag"))
        part->zigzag = true;
    else if (is_word(word, "seq"))
        part->seq = true;
    else if (is_word(word, "whole"))
        part->whole = true;
    else if (is_word(word, "partial"))
        *partial = true;
    else if (word.length > 7 && memcmp(word.text, "repeat=", 7) == 0) {
        part->repeat = (struct tdc_written){word.text + 7, word.length - 7};
        return check_expression(parsing, part->repeat);
    } else if (!is_word(word, "natural") && !is_word(word, "sharded"))
        return fail(parsing, ": '%.*s' is not known",
                    (int)(word.length < SHOWN ? word.length : SHOWN), word.text);
    return true;
}

/* The end of a word: `:` or `+`, which belongs to the expression behind `repeat=`. */
static const char *word_end(const char *at, const char *end)
{
    bool repeat = end - at > 7 && memcmp(at, "repeat=", 7) == 0;
    while (at < end && *at != ':' && (repeat || *at != '+'))
        at++;
    return at;
}

static bool take_part(struct parsing *parsing, const char *open, const char *at, const char *end,
                      struct tdc_join_list *join)
{
    const char *stop = word_end(at, end);
    struct tdc_written name = trimmed(at, stop);
    struct tdc_join_part part = {0};
    bool partial = false;
    if (name.length == 0 || word_length(name.text, name.text + name.length) != name.length ||
        join->count == MOST)
        return unreadable(parsing, open);
    part.name = keep(parsing, name.text, name.length);
    if (part.name == NULL)
        return false;
    while (stop < end) {
        const char *start = stop + 1;
        while (start < end && is_blank(*start))
            start++;
        stop = word_end(start, end);
        if (!take_word(parsing, trimmed(start, stop), &part, &partial))
            return false;
    }
    if (partial)
        return declare(parsing, part.name, TDC_DECLARED_SUM);
    join->parts[join->count++] = part;
    return true;
}

static bool take_join(struct parsing *parsing, struct tdc_join_list *join)
{
    const char *open = parsing->at;
    const char *close = memchr(open, ']', (size_t)(parsing->end - open));
    if (close == NULL)
        return unreadable(parsing, open);
    if (join->parts == NULL)
        join->parts = room(parsing, sizeof *join->parts);
    if (join->parts == NULL)
        return false;
    for (const char *at = open + 1;;) {
        const char *comma = memchr(at, ',', (size_t)(close - at));
        if (!take_part(parsing, open, at, comma != NULL ? comma : close, join))
            return false;
        if (comma == NULL)
            break;
        at = comma + 1;
    }
    parsing->at = close + 1;
    return true;
}

/* ---- axes ------------------------------------------------------------------------------------ */

static bool take_size(struct parsing *parsing, struct tdc_written *size)
{
    const char *from = parsing->at++;
    const char *start = parsing->at;
    if (now(parsing) == '(') {
        unsigned depth = 0;
        for (; parsing->at < parsing->end; parsing->at++) {
            depth += *parsing->at == '(';
            depth -= *parsing->at == ')';
            if (depth == 0)
                break;
        }
        if (parsing->at == parsing->end)
            return unreadable(parsing, from);
        *size = trimmed(start + 1, parsing->at++);
    } else {
        while (isalnum((unsigned char)now(parsing)) != 0 ||
               (now(parsing) != '\0' && strchr("_.+-*/", now(parsing)) != NULL))
            parsing->at++;
        *size = (struct tdc_written){start, (size_t)(parsing->at - start)};
    }
    if (size->length == 0)
        return unreadable(parsing, from);
    return check_expression(parsing, *size);
}

static bool take_step(struct parsing *parsing, struct tdc_leaf *leaf)
{
    if (leaf->steps == NULL)
        leaf->steps = room(parsing, sizeof *leaf->steps);
    if (leaf->steps == NULL)
        return false;
    if (leaf->step_count == MOST)
        return unreadable(parsing, parsing->at);
    struct tdc_leaf_step *step = &leaf->steps[leaf->step_count];
    bool ok =
        now(parsing) == '{' ? take_range(parsing, &step->range) : take_join(parsing, &step->join);
    /* what only declares partial values joins nothing */
    leaf->step_count += step->range != NULL || step->join.count != 0;
    return ok;
}

static bool take_leaf(struct parsing *parsing, struct tdc_dims_axis *axis)
{
    if (axis->leaf_count == TDC_MOST_LEAVES)
        return unreadable(parsing, parsing->at);
    struct tdc_leaf *leaf = &axis->leaves[axis->leaf_count++];
    if (now(parsing) == '+') {
        leaf->fresh = true;
        parsing->at++;
    }
    size_t length = word_length(parsing->at, parsing->end);
    if (length == 0 || isdigit((unsigned char)*parsing->at) != 0)
        return unreadable(parsing, parsing->at);
    leaf->name = keep(parsing, parsing->at, length);
    parsing->at += length;
    if (leaf->name == NULL || (now(parsing) == '=' && !take_size(parsing, &leaf->size)))
        return false;
    while (now(parsing) == '[' || now(parsing) == '{')
        if (!take_step(parsing, leaf))
            return false;
    return true;
}

static bool take_product(struct parsing *parsing, struct tdc_dims_axis *axis)
{
    const char *open = parsing->at++;
    for (;;) {
        skip_blanks(parsing);
        if (parsing->at == parsing->end)
            return unreadable(parsing, parsing->at);
        if (now(parsing) == ')')
            break;
        if (!take_leaf(parsing, axis))
            return false;
    }
    parsing->at++;
    if (axis->leaf_count == 0)
        return unreadable(parsing, open);
    while (now(parsing) == '[' || now(parsing) == '{') {
        if (now(parsing) == '{')
            return fail(parsing, ": a slice after ')' has no meaning");
        if (!take_join(parsing, &axis->whole))
            return false;
    }
    return true;
}

static bool take_axis(struct parsing *parsing, struct tdc_dims_axis *axis)
{
    const char *start = parsing->at;
    axis->leaves = tdc_arena_zeroed(parsing->arena, TDC_MOST_LEAVES, sizeof *axis->leaves);
    if (axis->leaves == NULL)
        return no_memory(parsing);
    if (now(parsing) == '{' && !take_range(parsing, &axis->before))
        return false;
    bool one = now(parsing) == '1' && (parsing->at + 1 == parsing->end || is_blank(parsing->at[1]));
    if (one) {
        axis->one = true;
        parsing->at++;
    } else if (now(parsing) == '(') {
        if (!take_product(parsing, axis))
            return false;
    } else if (!take_leaf(parsing, axis)) {
        return false;
    }
    axis->text = keep(parsing, start, (size_t)(parsing->at - start));
    if (axis->text == NULL)
        return false;
    if (parsing->at < parsing->end && !is_blank(now(parsing)) && now(parsing) != '*')
        return unreadable(parsing, parsing->at);
    return true;
}

/* ---- declarations and checks ----------------------------------------------------------------- */

static bool take_declaration(struct parsing *parsing, struct tdc_written token)
{
    static const struct {
        const char *word;
        enum tdc_declared how;
    } words[] = {{"same", TDC_DECLARED_SAME},
                 {"sum", TDC_DECLARED_SUM},
                 {"first", TDC_DECLARED_FIRST},
                 {"each", TDC_DECLARED_EACH},
                 {"replicated", TDC_DECLARED_SAME}};
    size_t length = word_length(token.text, token.text + token.length);
    if (length != 0 && length < token.length &&
        (token.text[length] == '=' || token.text[length] == ':')) {
        struct tdc_written value = {token.text + length + 1, token.length - length - 1};
        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
            if (is_word(value, words[i].word)) {
                const char *name = keep(parsing, token.text, length);
                return name != NULL && declare(parsing, name, words[i].how);
            }
    }
    return fail(parsing, ": cannot read '%.*s'", (int)(token.length < SHOWN ? token.length : SHOWN),
                token.text);
}

static bool take_declarations(struct parsing *parsing, const char *at)
{
    while (*at != '\0') {
        const char *start = at;
        while (*at != '\0' && isspace((unsigned char)*at) == 0)
            at++;
        if (at != start && !take_declaration(parsing, trimmed(start, at)))
            return false;
        while (isspace((unsigned char)*at) != 0)
            at++;
    }
    return true;
}

static bool check_names(struct parsing *parsing)
{
    const char *names[TDC_MOST_LEAVES];
    size_t count = 0;
    const struct tdc_dims *dims = parsing->dims;
    for (size_t i = 0; i < dims->axis_count; i++)
        for (size_t k = 0; k < dims->axes[i].leaf_count; k++) {
            const char *name = dims->axes[i].leaves[k].name;
            for (size_t j = 0; j < count; j++)
                if (strcmp(names[j], name) == 0)
                    return fail(parsing, ": axis '%.100s' is named twice", name);
            if (count == TDC_MOST_LEAVES)
                return fail(parsing, ": more than %d axes", TDC_MOST_LEAVES);
            names[count++] = name;
        }
    return true;
}

struct join_check {
    struct parsing *parsing;
    const struct tdc_join_part *part;
    unsigned found;
};

static bool count_name(void *context, const struct tdc_join_part *part)
{
    struct join_check *check = context;
    check->found += strcmp(part->name, check->part->name) == 0;
    return true;
}

static bool check_join(void *context, const struct tdc_join_part *part)
{
    struct parsing *parsing = context;
    struct join_check check = {parsing, part, 0};
    tdc_dims_each_join(parsing->dims, count_name, &check);
    if (check.found > 1)
        return fail(parsing, ": '%.100s' is joined twice", part->name);
    for (size_t i = 0; i < parsing->dims->declaration_count; i++)
        if (strcmp(parsing->dims->declarations[i].name, part->name) == 0)
            return fail(parsing, ": '%.100s' is both joined and declared", part->name);
    return true;
}

static bool parse(struct parsing *parsing)
{
    struct tdc_dims *dims = parsing->dims;
    dims->axes = room(parsing, sizeof *dims->axes);
    dims->declarations = room(parsing, sizeof *dims->declarations);
    if (dims->axes == NULL || dims->declarations == NULL)
        return false;
    for (;;) {
        skip_blanks(parsing);
        if (parsing->at == parsing->end)
            break;
        if (dims->axis_count == MOST)
            return unreadable(parsing, parsing->at);
        struct tdc_dims_axis *axis = &dims->axes[dims->axis_count++];
        if (!take_axis(parsing, axis))
            return false;
        dims->stored_count += tdc_dims_is_stored(axis);
    }
    if (dims->axis_count == 0)
        return fail(parsing, " has no axis");
    const char *rest = parsing->end;
    return check_names(parsing) && (*rest == '\0' || take_declarations(parsing, rest + 1)) &&
           tdc_dims_each_join(dims, check_join, parsing);
}

struct tdc_dims *tdc_dims_parse(struct tdc_arena *arena, const char *text,
                                char problem[TDC_DIMS_TEXT])
{
    struct tdc_dims *dims = tdc_arena_zeroed(arena, 1, sizeof *dims);
    problem[0] = '\0';
    if (dims == NULL || (dims->text = tdc_arena_text(arena, text, strlen(text))) == NULL)
        return NULL;
    const char *body = dims->text;
    struct parsing parsing = {
        .arena = arena,
        .text = body,
        .body = body,
        .at = body,
        .end = body + strcspn(body, ";#"),
        .problem = problem,
        .dims = dims,
    };
    return parse(&parsing) ? dims : NULL;
}
