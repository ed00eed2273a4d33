#include "host/align/rules/pattern.h"

#include <ctype.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

/* Pieces of a pattern: more is no pattern for a name. */
#define MOST_PIECES 256
/* Steps of one match: a pattern of many `**` or of repeated captures ends here. */
#define MOST_STEPS 2000000u
/* Bounded repetitions of a regular expression multiply its size: two give 65025 at most. */
#define MOST_REPETITIONS 2

struct piece {
    enum {
        LETTERS,
        STAR,    /* a run without a dot */
        STARS,   /* any run */
        CAPTURE, /* a run without a dot, at least one character */
        AGAIN    /* what a capture took */
    } kind;
    const char *text;
    size_t length;
    unsigned capture;
};

struct tdc_pattern {
    const char *text;
    bool regular;
    regex_t expression;
    struct piece *pieces;
    size_t count;
    const char *captures[TDC_MOST_CAPTURES];
    size_t capture_count;
};

static size_t name_length(const char *text)
{
    if (isalpha((unsigned char)text[0]) == 0 && text[0] != '_')
        return 0;
    size_t length = 1;
    while (isalnum((unsigned char)text[length]) != 0 || text[length] == '_')
        length++;
    return length;
}

/* The capture of that name, a new one if there is none; TDC_MOST_CAPTURES: too many. */
static unsigned capture_named(struct tdc_pattern *pattern, const char *name, bool *again)
{
    for (unsigned i = 0; i < pattern->capture_count; i++)
        if (strcmp(pattern->captures[i], name) == 0) {
            *again = true;
            return i;
        }
    *again = false;
    if (pattern->capture_count == TDC_MOST_CAPTURES)
        return TDC_MOST_CAPTURES;
    pattern->captures[pattern->capture_count] = name;
    return (unsigned)pattern->capture_count++;
}

static bool add_capture(struct tdc_pattern *pattern, struct tdc_arena *arena, const char *name,
                        size_t length, struct piece *piece)
{
    bool again;
    const char *kept = tdc_arena_text(arena, name, length);
    if (kept == NULL)
        return false;
    piece->capture = capture_named(pattern, kept, &again);
    piece->kind = again ? AGAIN : CAPTURE;
    return piece->capture != TDC_MOST_CAPTURES;
}

static bool compile_pieces(struct tdc_pattern *pattern, struct tdc_arena *arena,
                           const char **problem)
{
    const char *at = pattern->text;
    pattern->pieces = tdc_arena_zeroed(arena, MOST_PIECES, sizeof *pattern->pieces);
    if (pattern->pieces == NULL)
        return false;
    while (*at != '\0') {
        size_t length = at[0] == '{' ? name_length(at + 1) : 0;
        if (pattern->count == MOST_PIECES) {
            *problem = "cannot read the pattern";
            return false;
        }
        struct piece *piece = &pattern->pieces[pattern->count];
        if (at[0] == '*') {
            piece->kind = at[1] == '*' ? STARS : STAR;
            at += at[1] == '*' ? 2 : 1;
        } else if (length != 0 && at[length + 1] == '}') {
            if (!add_capture(pattern, arena, at + 1, length, piece)) {
                *problem = arena->refused ? NULL : "cannot read the pattern";
                return false;
            }
            at += length + 2;
        } else if (pattern->count != 0 && piece[-1].kind == LETTERS) {
            piece[-1].length++;
            at++;
            continue;
        } else {
            *piece = (struct piece){.kind = LETTERS, .text = at++, .length = 1};
        }
        pattern->count++;
    }
    return true;
}

static bool compile_regular(struct tdc_pattern *pattern, struct tdc_arena *arena,
                            const char **problem)
{
    static const char *const numbers[] = {"1", "2", "3", "4", "5", "6", "7", "8", "9"};
    size_t length = strlen(pattern->text), repetitions = 0;
    for (size_t i = 0; i < length; i++)
        repetitions += pattern->text[i] == '{';
    char *whole = tdc_arena_take(arena, length + 8);
    if (whole == NULL)
        return false;
    *problem = "cannot read the pattern";
    if (length > 1000 || repetitions > MOST_REPETITIONS)
        return false;
    char *end = mempcpy(whole, "^(", 2);
    end = mempcpy(end, pattern->text + 1, length - 1);
    memcpy(end, ")$", 3);
    if (regcomp(&pattern->expression, whole, REG_EXTENDED) != 0)
        return false;
    pattern->regular = true;
    for (size_t i = 1; i < pattern->expression.re_nsub && i <= 9; i++)
        pattern->captures[pattern->capture_count++] = numbers[i - 1];
    *problem = NULL;
    return true;
}

struct tdc_pattern *tdc_pattern_new(struct tdc_arena *arena, const char *text, const char **problem)
{
    *problem = NULL;
    struct tdc_pattern *pattern = tdc_arena_zeroed(arena, 1, sizeof *pattern);
    if (pattern == NULL)
        return NULL;
    pattern->text = tdc_arena_text(arena, text, strlen(text));
    if (pattern->text == NULL)
        return NULL;
    bool ok = text[0] == '~' ? compile_regular(pattern, arena, problem)
                             : compile_pieces(pattern, arena, problem);
    return ok ? pattern : NULL;
}

void tdc_pattern_free(struct tdc_pattern *pattern)
{
    if (pattern != NULL && pattern->regular)
        regfree(&pattern->expression);
}

const char *tdc_pattern_text(const struct tdc_pattern *pattern)
{
    return pattern->text;
}

const char *tdc_pattern_capture(const struct tdc_pattern *pattern, size_t index)
{
    return index < pattern->capture_count ? pattern->captures[index] : NULL;
}

/* ---- fitting --------------------------------------------------------------------------------- */

struct fitting {
    const struct tdc_pattern *pattern;
    const char *end;
    struct tdc_captured *captured;
    unsigned steps;
};

static bool fits_from(struct fitting *fitting, size_t index, const char *at);

/* Each length of a run from `least` on, the shortest first. */
static bool fits_run(struct fitting *fitting, size_t index, const char *at, size_t least)
{
    const struct piece *piece = &fitting->pattern->pieces[index];
    for (size_t length = 0;; length++) {
        if (length >= least) {
            if (piece->kind == CAPTURE)
                fitting->captured->captures[piece->capture] =
                    (struct tdc_capture){fitting->pattern->captures[piece->capture], at, length};
            if (fits_from(fitting, index + 1, at + length))
                return true;
        }
        if (at + length == fitting->end || (piece->kind != STARS && at[length] == '.') ||
            fitting->steps >= MOST_STEPS)
            return false;
    }
}

static bool fits_from(struct fitting *fitting, size_t index, const char *at)
{
    size_t left = (size_t)(fitting->end - at);
    if (++fitting->steps >= MOST_STEPS)
        return false;
    if (index == fitting->pattern->count)
        return left == 0;
    const struct piece *piece = &fitting->pattern->pieces[index];
    const struct tdc_capture *taken;
    switch (piece->kind) {
    case LETTERS:
        return piece->length <= left && memcmp(piece->text, at, piece->length) == 0 &&
               fits_from(fitting, index + 1, at + piece->length);
    case AGAIN:
        taken = &fitting->captured->captures[piece->capture];
        return taken->length <= left && memcmp(taken->text, at, taken->length) == 0 &&
               fits_from(fitting, index + 1, at + taken->length);
    case STAR:
    case STARS:
        return fits_run(fitting, index, at, 0);
    case CAPTURE:
        return fits_run(fitting, index, at, 1);
    }
    return false;
}

static bool fits_regular(const struct tdc_pattern *pattern, const char *name,
                         struct tdc_captured *captured)
{
    regmatch_t groups[11];
    if (regexec(&pattern->expression, name, 11, groups, 0) != 0)
        return false;
    for (size_t i = 0; i < pattern->capture_count; i++) {
        const regmatch_t *group = &groups[i + 2];
        captured->captures[i] = (struct tdc_capture){
            pattern->captures[i], group->rm_so < 0 ? NULL : name + group->rm_so,
            group->rm_so < 0 ? 0 : (size_t)(group->rm_eo - group->rm_so)};
    }
    return true;
}

bool tdc_pattern_fits(const struct tdc_pattern *pattern, const char *name,
                      struct tdc_captured *captured)
{
    captured->count = pattern->capture_count;
    if (pattern->regular)
        return fits_regular(pattern, name, captured);
    struct fitting fitting = {pattern, name + strlen(name), captured, 0};
    return fits_from(&fitting, 0, name);
}
