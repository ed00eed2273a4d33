/*
 * Computes calls that it reads as words and writes the results the same way; the Python tests
 * speak with it. A call:
 *
 *   call NAME RECORDED_DTYPE RECORDED_RANK ARGUMENTS KEYWORDS GRADIENTS, then that many values
 *   (each keyword's name comes before its value; GRADIENTS -1 asks for the forward; a last keyword
 *   RECORD is the list of recorded outputs)
 *
 * A value: null | bool N | int N | float HEX | text WORD | dtype N | list N values | unknown |
 * slice 3 values | ellipsis |
 * tensor DTYPE WANTED RANK SHAPE... HEX (eight bytes an element, little-endian; complex numbers
 * take two).
 * The answer: "ok N" and N values, or "status REASON"; or for the word `list` all names.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reference/reference.h"

static char *word;
static size_t room;

static const char *next(void)
{
    size_t length = 0;
    int c;
    while ((c = getchar_unlocked()) == ' ' || c == '\n')
        ;
    for (; c != ' ' && c != '\n' && c != EOF; c = getchar_unlocked()) {
        if (length + 1 >= room) {
            room = room == 0 ? 4096 : 2 * room;
            word = realloc(word, room);
            if (word == NULL)
                exit(2);
        }
        word[length++] = (char)c;
    }
    if (length == 0)
        return NULL;
    word[length] = 0;
    return word;
}

static int64_t next_int(void)
{
    const char *text = next();
    return text == NULL ? 0 : strtoll(text, NULL, 10);
}

static uint64_t digit(char c)
{
    return (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
}

static struct tdc_reference_tensor *next_tensor(struct tdc_arena *arena)
{
    int64_t shape[TDC_REFERENCE_RANK] = {0};
    tdc_dtype dtype = (tdc_dtype)next_int();
    bool wanted = next_int() != 0;
    unsigned rank = (unsigned)next_int();
    for (unsigned d = 0; d < rank; d++)
        shape[d] = next_int();
    bool complex = dtype == TDC_C128;
    if (complex) {
        dtype = TDC_F64;
        shape[rank++] = 2;
    }
    struct tdc_reference_tensor *t = tdc_reference_tensor_new(arena, dtype, rank, shape);
    if (t == NULL)
        exit(2);
    t->complex = complex;
    t->wants_gradient = wanted;
    const char *hex = t->count == 0 ? "" : next();
    for (int64_t i = 0; i < t->count; i++) {
        uint64_t bits = 0;
        for (int b = 0; b < 8; b++, hex += 2)
            bits |= (digit(hex[0]) << 4 | digit(hex[1])) << 8 * b;
        memcpy(&t->whole[i], &bits, sizeof bits);
    }
    return t;
}

static struct tdc_reference_value next_value(struct tdc_arena *arena)
{
    struct tdc_reference_value v = {.kind = TDC_VALUE_NULL};
    const char *kind = next();
    if (kind == NULL)
        exit(2);
    if (strcmp(kind, "bool") == 0 || strcmp(kind, "int") == 0) {
        v.kind = kind[0] == 'b' ? TDC_VALUE_BOOL : TDC_VALUE_INT;
        v.whole = next_int();
    } else if (strcmp(kind, "float") == 0) {
        v.kind = TDC_VALUE_FLOAT;
        v.real = strtod(next(), NULL);
    } else if (strcmp(kind, "text") == 0) {
        v.kind = TDC_VALUE_TEXT;
        const char *text = next();
        v.text = tdc_arena_text(arena, text, strlen(text));
    } else if (strcmp(kind, "dtype") == 0) {
        v.kind = TDC_VALUE_DTYPE;
        v.dtype = (tdc_dtype)next_int();
    } else if (strcmp(kind, "ellipsis") == 0) {
        v.kind = TDC_VALUE_ELLIPSIS;
    } else if (strcmp(kind, "unknown") == 0) {
        v.kind = TDC_VALUE_UNKNOWN;
    } else if (strcmp(kind, "list") == 0 || strcmp(kind, "slice") == 0) {
        v.kind = kind[0] == 'l' ? TDC_VALUE_LIST : TDC_VALUE_SLICE;
        v.list.count = (size_t)next_int();
        v.list.values = tdc_arena_zeroed(arena, v.list.count, sizeof *v.list.values);
        for (size_t i = 0; i < v.list.count; i++)
            v.list.values[i] = next_value(arena);
    } else if (strcmp(kind, "tensor") == 0) {
        v.kind = TDC_VALUE_TENSOR;
        v.tensor = next_tensor(arena);
    }
    return v;
}

static void write_value(const struct tdc_reference_value *v)
{
    unsigned rank;
    switch (v->kind) {
    case TDC_VALUE_BOOL:
        printf("bool %" PRId64 "\n", v->whole);
        break;
    case TDC_VALUE_INT:
        printf("int %" PRId64 "\n", v->whole);
        break;
    case TDC_VALUE_FLOAT:
        printf("float %a\n", v->real);
        break;
    case TDC_VALUE_TENSOR:
        rank = v->tensor->rank - v->tensor->complex;
        printf("tensor %d %u", (int)(v->tensor->complex ? TDC_C128 : v->tensor->dtype), rank);
        for (unsigned d = 0; d < rank; d++)
            printf(" %" PRId64, v->tensor->shape[d]);
        printf(" ");
        for (int64_t i = 0; i < v->tensor->count; i++)
            for (int b = 0; b < 8; b++)
                printf("%02x", (unsigned)((uint64_t)v->tensor->whole[i] >> 8 * b & 0xff));
        printf("\n");
        break;
    default:
        printf("null\n");
    }
}

static bool write_name(void *context, const char *api, const char *family,
                       const struct tdc_operator *definition)
{
    (void)context;
    printf("%s\t%s\t%d\t%s\n", api, family, tdc_reference_has_gradient(definition),
           tdc_reference_signature(definition));
    return true;
}

static void answer(struct tdc_arena *arena)
{
    struct tdc_reference_call call = {.definition = tdc_reference_find(next())};
    struct tdc_reference_results results;
    call.recorded_output = (tdc_dtype)next_int();
    int64_t rank = next_int();
    call.recorded_rank_known = rank >= 0;
    call.recorded_rank = rank > 0 ? (unsigned)rank : 0;
    call.argument_count = (size_t)next_int();
    call.keyword_count = (size_t)next_int();
    int64_t gradients = next_int();
    struct tdc_reference_value *arguments =
        tdc_arena_zeroed(arena, call.argument_count, sizeof *arguments);
    struct tdc_reference_keyword *keywords =
        tdc_arena_zeroed(arena, call.keyword_count, sizeof *keywords);
    for (size_t i = 0; i < call.argument_count; i++)
        arguments[i] = next_value(arena);
    for (size_t i = 0; i < call.keyword_count; i++) {
        const char *name = next();
        keywords[i].name = tdc_arena_text(arena, name, strlen(name));
        keywords[i].value = next_value(arena);
        if (strcmp(keywords[i].name, "RECORD") == 0) {
            call.record = keywords[i].value.list.values;
            call.record_count = keywords[i].value.list.count;
            call.keyword_count = i; /* it comes last */
            break;
        }
    }
    call.arguments = arguments;
    call.keywords = keywords;
    size_t count = gradients < 0 ? 0 : (size_t)gradients;
    struct tdc_reference_tensor **given = tdc_arena_zeroed(arena, count + 1, sizeof *given);
    for (size_t i = 0; i < count; i++) {
        struct tdc_reference_value v = next_value(arena);
        given[i] = v.kind == TDC_VALUE_TENSOR ? v.tensor : NULL;
    }
    if (call.definition == NULL) {
        printf("unknown\n");
        return;
    }
    tdc_status status = gradients < 0
                            ? tdc_reference_forward(&call, arena, &results)
                            : tdc_reference_backward(&call, given, count, arena, &results);
    if (status != TDC_OK) {
        printf("status %s\n", results.reason);
        return;
    }
    printf("ok %zu\n", results.count);
    for (size_t i = 0; i < results.count; i++)
        write_value(&results.values[i]);
}

int main(void)
{
    struct tdc_arena arena;
    tdc_arena_init(&arena, (size_t)1 << 30);
    const char *command;
    while ((command = next()) != NULL) {
        if (strcmp(command, "list") == 0)
            tdc_reference_list(write_name, NULL);
        else
            answer(&arena);
        fflush(stdout);
        tdc_arena_reset(&arena);
    }
    tdc_arena_free(&arena);
    free(word);
    return 0;
}
