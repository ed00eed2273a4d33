/* call_name.c - names of calls taken apart, and kinds of operators by name. */
#include "host/origin/call_name.h"

#include <ctype.h>
#include <string.h>

/* The last ".part" of the name that is a whole component; NULL when there is none. */
static const char *find_part(const char *name, const char *part)
{
    size_t length = strlen(part);
    const char *found = NULL;
    for (const char *at = strstr(name, part); at != NULL; at = strstr(at + 1, part))
        if (at != name && at[-1] == '.' && (at[length] == '.' || at[length] == '\0'))
            found = at - 1;
    return found;
}

/* Where the last component of [text, text + length) begins. */
static size_t last_component(const char *text, size_t length)
{
    while (length > 0 && text[length - 1] != '.')
        length--;
    return length;
}

static bool is_number(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (!isdigit((unsigned char)text[i]))
            return false;
    return length != 0;
}

static void find_operation(struct tdc_call_name *name)
{
    size_t end = name->stem_length, start = last_component(name->stem, end);
    if (!name->module && start > 0 && is_number(name->stem + start, end - start)) {
        end = start - 1;
        start = last_component(name->stem, end);
    }
    name->operation = name->stem + start;
    name->operation_length = end - start;
    if (!name->module)
        return;
    const char *dot = memchr(name->stem, '.', name->stem_length);
    size_t skip = dot != NULL ? (size_t)(dot - name->stem) + 1 : 0;
    name->place = name->stem + skip;
    name->place_length = start > skip ? start - 1 - skip : 0;
}

struct tdc_call_name tdc_call_name_parse(const char *text)
{
    static const struct {
        const char *part;
        enum tdc_direction direction;
    } directions[] = {{"forward", TDC_CALL_FORWARD},
                      {"backward", TDC_CALL_BACKWARD},
                      {"parameters_grad", TDC_CALL_GRADIENTS}};
    struct tdc_call_name name = {.stem = text, .rest = ""};
    name.module = strncmp(text, "Module.", 7) == 0 || strncmp(text, "Cell.", 5) == 0;
    name.stem_length = strlen(text);
    for (size_t i = 0; i < sizeof directions / sizeof *directions; i++) {
        const char *at = find_part(text, directions[i].part);
        if (at == NULL || (name.direction != TDC_CALL_OTHER && at < text + name.stem_length))
            continue; /* the last one counts: modules may have such names */
        name.direction = directions[i].direction;
        name.stem_length = (size_t)(at - text);
        name.rest = at + 1 + strlen(directions[i].part);
    }
    find_operation(&name);
    return name;
}

/* ---- kinds of operators ---------------------------------------------------------------------- */

/* Lower case without underscores inside, so that max_pool2d and MaxPool2d are one; a trailing
 * underscore (in place) stays. */
static void fold(const struct tdc_call_name *name, char folded[64])
{
    size_t used = 0;
    for (size_t i = 0; i < name->operation_length && used < 63; i++) {
        char c = name->operation[i];
        if (c == '_' && i + 1 < name->operation_length)
            continue;
        folded[used++] = (char)tolower((unsigned char)c);
    }
    folded[used] = '\0';
}

static bool is_one_of(const struct tdc_call_name *name, const char *const *words, size_t count,
                      bool whole)
{
    char folded[64];
    fold(name, folded);
    for (size_t i = 0; i < count; i++)
        if (whole ? strcmp(folded, words[i]) == 0 : strstr(folded, words[i]) != NULL)
            return true;
    return false;
}

#define IS_ONE_OF(name, words, whole) is_one_of(name, words, sizeof(words) / sizeof *(words), whole)

bool tdc_operation_converts(const struct tdc_call_name *name)
{
    static const char *const words[] = {
        "to",   "float", "half", "double", "bfloat16",   "type",     "typeas", "astype",
        "cast", "int",   "long", "bool",   "contiguous", "tensorto", "copy",   "astensor"};
    return !name->module && IS_ONE_OF(name, words, true);
}

bool tdc_operation_has_kink(const struct tdc_call_name *name)
{
    static const char *const parts[] = {"relu",      "hardtanh", "hardswish", "hardsigmoid",
                                        "clamp",     "maxpool",  "maximum",   "minimum",
                                        "threshold", "addcdiv"};
    static const char *const words[] = {"abs", "abs_", "clip"};
    return IS_ONE_OF(name, parts, false) || IS_ONE_OF(name, words, true);
}

bool tdc_operation_is_exponential(const struct tdc_call_name *name)
{
    static const char *const parts[] = {"softmax", "softmin", "logsumexp", "crossentropy"};
    static const char *const words[] = {"exp", "exp_", "exp2", "expm1"};
    return IS_ONE_OF(name, parts, false) || IS_ONE_OF(name, words, true);
}

bool tdc_operation_is_random(const struct tdc_call_name *name)
{
    static const char *const parts[] = {"dropout",  "rand",     "bernoulli",    "multinomial",
                                        "normal_",  "uniform_", "exponential_", "random_",
                                        "randperm", "rrelu"};
    static const char *const words[] = {"normal", "droppath", "stochasticdepth", "poisson"};
    return IS_ONE_OF(name, parts, false) || IS_ONE_OF(name, words, true);
}

bool tdc_operation_overwrites(const struct tdc_call_name *name)
{
    static const char *const words[] = {"setitem_", "copy_",        "fill_",
                                        "zero_",    "normal_",      "uniform_",
                                        "random_",  "exponential_", "bernoulli_"};
    return !name->module && IS_ONE_OF(name, words, true);
}

bool tdc_operation_overwrites_part(const struct tdc_call_name *name)
{
    static const char *const words[] = {"setitem_"};
    return !name->module && IS_ONE_OF(name, words, true);
}

bool tdc_operation_leaves_undefined(const struct tdc_call_name *name)
{
    static const char *const words[] = {"empty", "emptylike", "newempty", "emptystrided"};
    return !name->module && IS_ONE_OF(name, words, true);
}
