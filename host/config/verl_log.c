/*
 * verl_log.c - the settings in a log of verl.
 *
 * The dict is printed by many processes at once: each line has a prefix (of Ray), lines of other
 * processes come in between, keys and values may be torn apart. Lines are kept that look like a
 * part of the dict; brackets tell where it ends.
 */
#include <stdio.h>
#include <string.h>

#include "host/config/python_literal.h"
#include "host/config/training_log.h"
#include "io/base/error.h"
#include "io/base/text.h"

#define LINE_LIMIT  ((size_t)1 << 20) /* settings' lines are short; longer ones are other output */
#define BLOCK_LIMIT 256
#define CHECKED     3 /* lines that must have the prefix */

static const char single_key[] = "{'actor_rollout_ref':", double_key[] = "{\"actor_rollout_ref\":";

struct piece {
    const char *at;
    size_t length;
};

struct dict {
    struct tdc_text text; /* the lines kept, each with its end */
    size_t last;          /* where the last line begins; lines: how many */
    size_t lines;
    long depth, squares; /* open brackets */
    bool in_text;
    char quote;
};

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static struct piece trimmed(struct piece piece)
{
    while (piece.length > 0 && is_blank(*piece.at)) {
        piece.at++;
        piece.length--;
    }
    while (piece.length > 0 && is_blank(piece.at[piece.length - 1]))
        piece.length--;
    return piece;
}

static bool ends_with(struct piece piece, char c)
{
    return piece.length > 0 && piece.at[piece.length - 1] == c;
}

/* ---- shapes of lines ------------------------------------------------------------------------- */

/* 'text', -1.5 or, with words, None, True, False, [] and {}; its length, 0 for anything else. */
static size_t value_length(struct piece piece, bool words, bool exponent)
{
    static const char *const known[] = {"None", "True", "False", "[]", "{}"};
    const char *at = piece.at, *end = at + piece.length;
    if (at < end && *at == '\'') {
        const char *stop = memchr(at + 1, '\'', (size_t)(end - at - 1));
        return stop != NULL ? (size_t)(stop + 1 - at) : 0;
    }
    for (size_t i = 0; words && i < sizeof known / sizeof *known; i++)
        if (piece.length >= strlen(known[i]) && memcmp(at, known[i], strlen(known[i])) == 0)
            return strlen(known[i]);
    const char *digits = at + (at < end && *at == '-'), *stop = digits;
    while (stop < end && *stop >= '0' && *stop <= '9')
        stop++;
    if (stop == digits)
        return 0;
    const char *fraction = stop + 1;
    while (stop < end && *stop == '.' && fraction < end && *fraction >= '0' && *fraction <= '9')
        fraction++;
    if (stop < end && *stop == '.' && fraction > stop + 1)
        stop = fraction;
    if (exponent && stop < end && (*stop == 'e' || *stop == 'E')) {
        const char *power = stop + 1 + (stop + 1 < end && (stop[1] == '-' || stop[1] == '+'));
        const char *first = power;
        while (power < end && *power >= '0' && *power <= '9')
            power++;
        stop = power > first ? power : stop;
    }
    return (size_t)(stop - at);
}

/* A value whose key stood on the line before: a comma behind it, or brackets that close. */
static bool is_torn_value(struct piece piece, long depth)
{
    if (depth != 0 && !ends_with(piece, ','))
        return false;
    size_t value = value_length(piece, true, false);
    struct piece rest = {piece.at + value, piece.length - value};
    if (value == 0 || rest.length == 0)
        return false;
    size_t closed = 0;
    while (closed < rest.length && (rest.at[closed] == '}' || rest.at[closed] == ']'))
        closed++;
    size_t comma = closed < rest.length && rest.at[closed] == ',';
    return (closed + comma == rest.length) && (closed != 0 || comma != 0);
}

/* The last value of a list: 'text']]}, */
static bool ends_list(struct piece piece, long closed)
{
    size_t value = value_length(piece, false, true), at = value, squares = 0;
    while (at < piece.length && piece.at[at] == ']') {
        at++;
        squares++;
    }
    while (at < piece.length && piece.at[at] == '}')
        at++;
    long all = 0;
    for (size_t i = 0; i < piece.length; i++)
        all += piece.at[i] == ']';
    return value != 0 && squares != 0 && at + 1 == piece.length && piece.at[at] == ',' &&
           all == closed;
}

/* 'text' or "text" and nothing else, without quotes inside. */
static bool is_quoted(struct piece piece)
{
    if (piece.length < 3 || (piece.at[0] != '\'' && piece.at[0] != '"') ||
        piece.at[piece.length - 1] != piece.at[0])
        return false;
    for (size_t i = 1; i + 1 < piece.length; i++)
        if (piece.at[i] == '\'' || piece.at[i] == '"')
            return false;
    return true;
}

/* ---- what belongs to a line ------------------------------------------------------------------ */

struct block {
    size_t start, end;
    bool readable;
};

/* Brackets that close inside the line, and whether Python could read what is between them. */
static size_t find_blocks(struct piece line, struct block blocks[BLOCK_LIMIT])
{
    struct {
        char bracket;
        size_t at;
    } open[BLOCK_LIMIT];
    size_t depth = 0, count = 0;
    bool single = false, twofold = false;
    for (size_t i = 0; i < line.length; i++) {
        char c = line.at[i];
        single ^= c == '\'' && !twofold;
        twofold ^= c == '"' && !single;
        if (single || twofold)
            continue;
        if ((c == '{' || c == '[') && depth < BLOCK_LIMIT) {
            open[depth].bracket = c;
            open[depth++].at = i;
        } else if ((c == '}' || c == ']') && depth > 0 && count < BLOCK_LIMIT &&
                   open[depth - 1].bracket == (c == '}' ? '{' : '[')) {
            size_t start = open[--depth].at;
            blocks[count++] =
                (struct block){start, i, tdc_python_readable(line.at + start, i + 1 - start)};
        }
    }
    return count;
}

/* Up to the first comma that no readable block holds: what follows was printed by others. */
static struct piece first_item(struct piece line)
{
    size_t commas = 0;
    for (size_t i = 0; i < line.length; i++)
        commas += line.at[i] == ',';
    if (commas == 0 || (commas == 1 && ends_with(line, ',')))
        return line;
    struct block blocks[BLOCK_LIMIT];
    size_t count = find_blocks(line, blocks);
    bool single = false, twofold = false;
    for (size_t i = 0; i < line.length; i++) {
        char c = line.at[i];
        single ^= c == '\'' && !twofold;
        twofold ^= c == '"' && !single;
        bool inside = single || twofold || c != ',';
        for (size_t b = 0; b < count && !inside; b++)
            inside = blocks[b].readable && i > blocks[b].start && i < blocks[b].end;
        if (!inside)
            return (struct piece){line.at, i + 1};
    }
    return line;
}

/* Counts brackets; the line ends where the dict does. */
static struct piece count_brackets(struct dict *dict, struct piece line)
{
    for (size_t i = 0; i < line.length; i++) {
        char c = line.at[i];
        if (c == '\'' || c == '"') {
            if (!dict->in_text)
                dict->quote = c;
            if (dict->quote == c)
                dict->in_text = !dict->in_text;
            continue;
        }
        if (!dict->in_text) {
            dict->depth += (c == '{') - (c == '}');
            dict->squares += c == '[';
            dict->squares -= c == ']' && dict->squares > 0;
        }
        if (dict->depth == 0)
            return (struct piece){line.at, i + 1};
    }
    return line;
}

/* ---- the dict -------------------------------------------------------------------------------- */

static struct piece last_line(const struct dict *dict)
{
    return (struct piece){dict->text.data + dict->last, dict->text.length - dict->last};
}

static bool contains(struct piece piece, const char *text)
{
    return memmem(piece.at, piece.length, text, strlen(text)) != NULL;
}

/* Whether the line is a part of the dict. May complete or drop the line before. */
static bool belongs(struct dict *dict, struct piece line)
{
    if (contains(line, "':") || (dict->squares > 0 && ends_with(line, ',') && line.at[0] == '\'' &&
                                 value_length(line, false, false) + 1 == line.length))
        return true;
    if (dict->lines == 0)
        return false;
    struct piece last = last_line(dict);
    bool waits = ends_with(last, ':') ||
                 (ends_with(last, ' ') && last.length > 1 && last.at[last.length - 2] == ':');
    if (waits && is_torn_value(line, dict->depth)) {
        if (ends_with(last, ':'))
            tdc_text_addc(&dict->text, ' ');
        return true;
    }
    if ((!ends_with(last, ',') && ends_with(line, ',')) || is_quoted(line))
        return true;
    if (ends_with(last, '\'') && line.length > 0 && line.at[0] == ':') {
        if (line.length > 2 &&
            is_torn_value((struct piece){line.at + 2, line.length - 2}, dict->depth))
            return true;
        dict->text.length = dict->last; /* a key without a value */
        dict->lines--;
    }
    return false;
}

static void keep(struct dict *dict, struct piece line)
{
    if (dict->text.length != 0)
        tdc_text_addc(&dict->text, '\n');
    dict->last = dict->text.length;
    dict->lines++;
    tdc_text_add(&dict->text, line.at, line.length);
}

static void take_part(struct dict *dict, struct piece part)
{
    long depth = dict->depth, squares = dict->squares;
    struct piece line = count_brackets(dict, first_item(part));
    if (belongs(dict, line)) {
        keep(dict, line);
    } else if (dict->squares != squares) {
        if (ends_list(line, squares - dict->squares)) {
            keep(dict, line);
        } else {
            dict->squares = squares;
            dict->depth = depth;
        }
    }
}

/* What stands behind each prefix of a line. */
static void take_line(struct dict *dict, struct piece line, struct piece prefix)
{
    const char *end = line.at + line.length;
    const char *at =
        prefix.length == 0 ? line.at : memmem(line.at, line.length, prefix.at, prefix.length);
    while (at != NULL) {
        const char *start = at + prefix.length;
        const char *next = prefix.length == 0
                               ? NULL
                               : memmem(start, (size_t)(end - start), prefix.at, prefix.length);
        struct piece part =
            trimmed((struct piece){start, (size_t)((next != NULL ? next : end) - start)});
        if (part.length != 0 && part.length < LINE_LIMIT)
            take_part(dict, part);
        at = next;
    }
}

/* ---- the log --------------------------------------------------------------------------------- */

static struct piece line_at(const char *at, const char *end)
{
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    struct piece line = {at, (size_t)((stop != NULL ? stop : end) - at)};
    line.length -= line.length != 0 && at[line.length - 1] == '\r';
    return line;
}

static const char *next_line(const char *at, const char *end)
{
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    return stop != NULL ? stop + 1 : end;
}

/* The last line with a beginning of the settings; which key it has. */
static const char *find_start(const char *log, const char *end, const char **key, size_t *found)
{
    const char *start = NULL;
    *key = single_key;
    *found = 0;
    for (const char *at = log; at < end; at = next_line(at, end)) {
        struct piece line = line_at(at, end);
        bool here = contains(line, *key);
        if (!here && contains(line, double_key)) {
            *key = double_key;
            here = true;
        }
        *found += here;
        start = here ? at : start;
    }
    return start;
}

static tdc_status check_prefix(const char *start, const char *end, struct piece prefix,
                               struct tdc_error *error)
{
    const char *at = start;
    for (int i = 0; i < CHECKED && at < end; i++, at = next_line(at, end)) {
        struct piece line = line_at(at, end);
        if (line.length < prefix.length || memcmp(line.at, prefix.at, prefix.length) != 0)
            return tdc_fail(error, TDC_ERR_FORMAT, "The prefix of line %.*s does not match %.*s.",
                            (int)(line.length < 300 ? line.length : 300), line.at,
                            (int)(prefix.length < 300 ? prefix.length : 300), prefix.at);
    }
    return TDC_OK;
}

static tdc_status parse(const char *path, const struct dict *dict, struct tdc_arena *arena,
                        struct tdc_json **settings, struct tdc_error *error)
{
    const char *text = tdc_arena_text(arena, tdc_text_get(&dict->text), dict->text.length);
    if (text == NULL || dict->text.failed)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
    struct tdc_json_cursor cursor;
    struct tdc_error ignored;
    tdc_json_start(&cursor, path, text, dict->text.length);
    if (tdc_json_read(&cursor, arena, settings, &ignored) == TDC_OK &&
        tdc_json_finish(&cursor, &ignored) == TDC_OK)
        return TDC_OK;
    bool memory;
    *settings = tdc_python_literal(text, dict->text.length, arena, &memory);
    if (*settings != NULL)
        return TDC_OK;
    return memory ? tdc_fail(error, TDC_ERR_MEMORY, "out of memory")
                  : tdc_fail(error, TDC_ERR_FORMAT,
                             "Failed analysis the config of %s, err_msg:malformed dict.", path);
}

tdc_status tdc_verl_settings(const char *path, const char *log, size_t size,
                             struct tdc_arena *arena, struct tdc_json **settings, size_t *found,
                             struct tdc_error *error)
{
    const char *end = log + size, *key;
    const char *start = find_start(log, end, &key, found);
    if (start == NULL)
        return tdc_fail(error, TDC_ERR_FORMAT,
                        "Not found the start with 'actor_rollout_ref' dict in log.");
    struct piece first = line_at(start, end);
    const char *brace = memmem(first.at, first.length, key, strlen(key));
    if (brace == NULL)
        return tdc_fail(error, TDC_ERR_FORMAT, "Target key not found in the first line.");
    struct piece prefix = {start, (size_t)(brace - start)};
    tdc_status status = check_prefix(start, end, prefix, error);
    if (status != TDC_OK)
        return status;
    struct dict dict = {0};
    tdc_text_init(&dict.text, size + 1024);
    bool closed = false;
    for (const char *at = start; at < end && !closed; at = next_line(at, end)) {
        take_line(&dict, line_at(at, end), prefix);
        closed = dict.depth == 0;
    }
    if (!closed)
        status = tdc_fail(error, TDC_ERR_FORMAT,
                          "Failed extract config from %s:Unclosed dictionary, mismatched brackets "
                          "of %ld.",
                          path, dict.depth);
    else
        status = parse(path, &dict, arena, settings, error);
    tdc_text_free(&dict.text);
    return status;
}
