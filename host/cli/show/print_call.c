/*
 * print_call.c - a call on the terminal: its stack, its tensors side by side, where they are off.
 *
 * Rows that agree take one line, unless asked for.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/cli/show/show.h"
#include "host/terminal/page.h"

typedef unsigned long long count;

enum {
    TITLE_COLUMNS = 12,
    VALUE_COLUMNS = 26
};

/* ---- the stack ------------------------------------------------------------------------------- */

/* Innermost frames that are shown. */
#define FRAMES ((size_t)4)

/* The end of a path that tells it from others. */
static const char *path_end(const char *path)
{
    const char *at = path + strlen(path);
    for (int parts = 0; at > path; at--)
        if (at[-1] == '/' && ++parts == 3)
            return at;
    return path;
}

/* "File /a/b.py, line 7, in f, code" -> "/a/b.py:7 in f   code" */
static void print_frame(const struct tdc_shown_call *call, char *line)
{
    char *file = strstr(line, "File "), *number = strstr(line, ", line ");
    char *where = number != NULL ? strstr(number, ", in ") : NULL;
    if (file != line || number == NULL || where == NULL) {
        printf("  %s\n", tdc_fit(line, call->width - 2));
        return;
    }
    *number = *where = '\0';
    where += strlen(", in ");
    char *code = strchr(where, ',');
    if (code != NULL)
        *code++ = '\0';
    while (code != NULL && (*code == ' ' || *code == '\n'))
        code++;
    char place[1200];
    snprintf(place, sizeof place, "%.1000s:%.20s in %.150s", path_end(file + strlen("File ")),
             number + strlen(", line "), where);
    size_t room = call->width - 2;
    const char *text = tdc_fit(place, room < 60 ? room : 60);
    size_t used = tdc_columns_of(text);
    printf("  %s", text);
    if (code != NULL && *code != '\0' && used + 3 + 8 <= room)
        printf("   %s", tdc_fit(code, room - used - 3));
    printf("\n");
}

/* The frames of the framework are the same for every call: those of others come first. */
static bool is_plumbing(const char *line)
{
    return strstr(line, "/torch/nn/modules/module.py") != NULL ||
           strstr(line, "/mindspore/nn/cell.py") != NULL || strstr(line, ", in wrapper,") != NULL;
}

static void print_stack(const struct tdc_shown_call *call)
{
    char *stack = NULL;
    for (size_t i = 0; i < call->count && call->test != NULL && stack == NULL; i++) {
        const char *name = tdc_result_text(call->result, call->rows[i], TDC_RESULT_TEST_NAME);
        size_t record = tdc_dump_find_record(call->test, name);
        stack = record != TDC_NO_RECORD ? tdc_dump_record_stack(call->test, record) : NULL;
    }
    if (stack == NULL || stack[0] == '\0') {
        free(stack);
        return;
    }
    printf("Called from (innermost first):\n");
    size_t shown = 0, left = 0;
    char *rest = NULL;
    for (char *line = strtok_r(stack, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        if (!call->verbose && (shown == FRAMES || is_plumbing(line))) {
            left++;
            continue;
        }
        print_frame(call, line);
        shown++;
    }
    if (left != 0)
        printf("  ... %zu more: -v\n", left);
    printf("\n");
    free(stack);
}

/* Lines of whole words, the first of which may be cut when it is longer than a line. */
static void print_wrapped(const struct tdc_shown_call *call, const char *text)
{
    char *copy = strdup(text), *rest = NULL;
    size_t used = 0;
    for (char *word = copy != NULL ? strtok_r(copy, " \n", &rest) : NULL; word != NULL;
         word = strtok_r(NULL, " \n", &rest)) {
        const char *shown = tdc_fit(word, call->width - 4);
        size_t columns = tdc_columns_of(shown);
        if (used != 0 && used + 1 + columns > call->width) {
            printf("\n");
            used = 0;
        }
        printf(used == 0 ? "    %s" : " %s", shown);
        used += columns + (used == 0 ? 4 : 1);
    }
    if (used != 0)
        printf("\n");
    free(copy);
}

/* ---- one row --------------------------------------------------------------------------------- */

/* Texts that stand for nothing, in whichever format, are nothing. */
static const char *text_of(const struct tdc_shown_call *call, size_t row, tdc_result_field field)
{
    static const char *const nothing[] = {"None", "N/A", "unsupported", "shape unmatched"};
    const char *text = tdc_result_text(call->result, row, field);
    for (size_t i = 0; i < sizeof nothing / sizeof *nothing; i++)
        if (strcmp(text, nothing[i]) == 0)
            return "";
    return text;
}

/* Numbers with as many digits as a person compares. */
static const char *short_number(const char *text, char *room, size_t size)
{
    char *end;
    double number = strtod(text, &end);
    if (end == text || *end != '\0')
        return text;
    snprintf(room, size, "%.7g", number);
    return room;
}

static void print_sides(const struct tdc_shown_call *call, size_t row)
{
    static const struct {
        const char *title;
        tdc_result_field test, ref;
        bool number;
    } lines[] = {
        {"dtype", TDC_RESULT_TEST_DTYPE, TDC_RESULT_REF_DTYPE, false},
        {"shape", TDC_RESULT_TEST_SHAPE, TDC_RESULT_REF_SHAPE, false},
        {"max", TDC_RESULT_TEST_MAX, TDC_RESULT_REF_MAX, true},
        {"min", TDC_RESULT_TEST_MIN, TDC_RESULT_REF_MIN, true},
        {"mean", TDC_RESULT_TEST_MEAN, TDC_RESULT_REF_MEAN, true},
        {"l2norm", TDC_RESULT_TEST_NORM, TDC_RESULT_REF_NORM, true},
        {"md5", TDC_RESULT_TEST_DIGEST, TDC_RESULT_REF_DIGEST, false},
    };
    bool headed = false;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        const char *test = text_of(call, row, lines[i].test),
                   *ref = text_of(call, row, lines[i].ref);
        char rooms[2][40];
        if (test[0] == '\0' && ref[0] == '\0')
            continue;
        if (!headed)
            printf("    %-*s%-*sref\n", TITLE_COLUMNS, "", VALUE_COLUMNS, "test");
        headed = true;
        if (lines[i].number) {
            test = short_number(test, rooms[0], sizeof rooms[0]);
            ref = short_number(ref, rooms[1], sizeof rooms[1]);
        }
        printf("    %-*s", TITLE_COLUMNS, lines[i].title);
        tdc_put_padded(stdout, tdc_fit(test, VALUE_COLUMNS - 2), VALUE_COLUMNS);
        printf("%s\n", tdc_fit(ref, VALUE_COLUMNS));
    }
}

static void print_metrics(const struct tdc_shown_call *call, size_t row)
{
    static const struct {
        const char *title;
        tdc_result_field field;
    } metrics[] = {
        {"cosine", TDC_RESULT_COSINE},
        {"max abs", TDC_RESULT_MAX_ABS},
        {"max rel", TDC_RESULT_MAX_REL},
        {"mean abs", TDC_RESULT_MEAN_ABS},
        {"rmse", TDC_RESULT_RMSE},
        {"distance", TDC_RESULT_DISTANCE},
        {"worst to largest", TDC_RESULT_WORST},
    };
    size_t used = 0;
    for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++) {
        char room[40], part[100];
        const char *text = text_of(call, row, metrics[i].field);
        if (text[0] == '\0')
            continue;
        snprintf(part, sizeof part, "%s %.40s", metrics[i].title,
                 short_number(text, room, sizeof room));
        size_t columns = tdc_columns_of(tdc_shown(part));
        if (used != 0 && used + 3 + columns > call->width) {
            printf("\n");
            used = 0;
        }
        printf(used == 0 ? "    %s" : "   %s", tdc_shown(part));
        used += columns + (used == 0 ? 4 : 3);
    }
    if (used != 0)
        printf("\n");
}

/* ---- closely --------------------------------------------------------------------------------- */

static void print_worst(const struct tdc_shown_call *call, const struct tdc_closeup *closeup)
{
    size_t place = call->width - 4 - 2 * 17 - 2 * 12;
    printf("    ");
    tdc_put_padded(stdout, "worst at", place);
    printf("%16s %16s %11s %11s\n", "test", "ref", "difference", "relative");
    for (size_t i = 0; i < closeup->worst; i++) {
        const struct tdc_closeup_element *element = &closeup->element[i];
        printf("    ");
        tdc_put_padded(stdout, tdc_fit(element->position, place), place);
        printf("%16s %16s %11.4g %11.4g\n", tdc_fit(element->test, 16), tdc_fit(element->ref, 16),
               element->difference, element->relative);
    }
}

static void print_histogram(const struct tdc_shown_call *call, const struct tdc_closeup *closeup)
{
    uint64_t most = closeup->equal;
    size_t room = call->width - 4 - 12 - 13;
    for (size_t i = 0; i < TDC_CLOSEUP_BINS; i++)
        most = closeup->bins[i] > most ? closeup->bins[i] : most;
    printf("    relative error of %llu element%s:\n", (count)closeup->elements,
           closeup->elements == 1 ? "" : "s");
    for (size_t i = 0; i <= TDC_CLOSEUP_BINS; i++) {
        uint64_t number = i == 0 ? closeup->equal : closeup->bins[i - 1];
        if (number == 0)
            continue;
        size_t bar = (size_t)ceil((double)room * ((double)number / (double)most));
        printf("    %-12s%11llu  ", i == 0 ? "equal" : tdc_closeup_bin(i - 1), (count)number);
        for (size_t k = 0; k < bar && k < room; k++)
            putchar('#');
        printf("\n");
    }
}

/* What the result has of it, where the tensors are not to be had. */
static void print_known_worst(const struct tdc_shown_call *call, size_t row)
{
    const char *at = text_of(call, row, TDC_RESULT_MAX_ABS_AT);
    char test[40], ref[40];
    if (at[0] == '\0')
        return;
    printf("    worst at %s: %s against %s\n", tdc_fit(at, 30),
           tdc_shown(short_number(text_of(call, row, TDC_RESULT_MAX_ABS_TEST), test, sizeof test)),
           tdc_shown(short_number(text_of(call, row, TDC_RESULT_MAX_ABS_REF), ref, sizeof ref)));
}

static void print_closeup(const struct tdc_shown_call *call, size_t row)
{
    struct tdc_closeup closeup;
    struct tdc_error error = {0};
    if (call->test == NULL || call->ref == NULL) {
        print_known_worst(call, row);
        return;
    }
    size_t test = tdc_dump_find_record(call->test, text_of(call, row, TDC_RESULT_TEST_NAME));
    size_t ref = tdc_dump_find_record(call->ref, text_of(call, row, TDC_RESULT_REF_NAME));
    if (test == TDC_NO_RECORD || ref == TDC_NO_RECORD) {
        printf("    %s\n", "one side has no such tensor");
        return;
    }
    tdc_status status =
        tdc_closeup_make(call->test, test, call->ref, ref, &closeup, sizeof closeup, &error);
    if (status == TDC_ERR_NOTHING)
        return; /* statistics, or an argument: all there is was shown */
    if (status != TDC_OK) {
        printf("    not to be looked at: %s\n", tdc_fit(error.message, call->width - 25));
        print_known_worst(call, row);
        return;
    }
    if (closeup.worst != 0)
        print_worst(call, &closeup);
    if (closeup.elements != 0)
        print_histogram(call, &closeup);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static const char *row_name(const struct tdc_shown_call *call, size_t row)
{
    const char *name = text_of(call, row, TDC_RESULT_TEST_NAME);
    return name[0] != '\0' ? name : text_of(call, row, TDC_RESULT_REF_NAME);
}

/* "forward.output.0": behind the call. */
static const char *slot_of(const struct tdc_shown_call *call, size_t row)
{
    const char *name = row_name(call, row);
    size_t length = strlen(call->name);
    return strncmp(name, call->name, length) == 0 && name[length] == '.' ? name + length + 1 : name;
}

static void print_brief(const struct tdc_shown_call *call, size_t row)
{
    char text[400], room[40];
    const char *max = text_of(call, row, TDC_RESULT_TEST_MAX);
    const char *shape = text_of(call, row, TDC_RESULT_TEST_SHAPE);
    const char *digest = text_of(call, row, TDC_RESULT_TEST_DIGEST);
    snprintf(text, sizeof text, "%.60s %.120s%s%.60s%s%.20s",
             text_of(call, row, TDC_RESULT_TEST_DTYPE), shape, max[0] != '\0' ? "  max " : "",
             short_number(max, room, sizeof room), digest[0] != '\0' ? "  md5 " : "", digest);
    if (strspn(text, " ") != strlen(text))
        printf("    %s\n", tdc_fit(text, call->width - 4));
}

static void print_row(const struct tdc_shown_call *call, size_t row)
{
    const char *verdict = text_of(call, row, TDC_RESULT_VERDICT);
    const char *reason = text_of(call, row, TDC_RESULT_REASON);
    const char *ref = text_of(call, row, TDC_RESULT_REF_NAME);
    bool identical = strcmp(verdict, "identical") == 0;
    size_t room = call->width - 6 - 2 - 14;
    printf("%6zu  ", tdc_sheet_row(row));
    tdc_put_padded(stdout, tdc_fit(slot_of(call, row), room), room);
    printf(" %s\n", tdc_shown(verdict));
    if (ref[0] != '\0' && strcmp(ref, row_name(call, row)) != 0)
        printf("    faces %s\n", tdc_fit(ref, call->width - 10));
    print_wrapped(call, reason);
    if (identical && !call->verbose) {
        print_brief(call, row);
        return;
    }
    print_sides(call, row);
    print_metrics(call, row);
    if (!identical)
        print_closeup(call, row);
    printf("\n");
}

void tdc_print_call(const struct tdc_shown_call *call)
{
    print_stack(call);
    for (size_t i = 0; i < call->count; i++)
        print_row(call, call->rows[i]);
}
