/* refused.c - content that msprobe refuses (docs/msprobe.md#refused-content). Only the compat rules
 * care. */
#include <stdio.h>
#include <string.h>

#include "host/dump/record_builder.h"

/* + - = % @ or their full-width forms at the start of the text; returns their length in bytes. */
static bool formula_sign(const char *text, size_t length)
{
    if (length >= 1 && memchr("+-=%@", text[0], 5) != NULL)
        return true;
    if (length < 3 || (unsigned char)text[0] != 0xef || (unsigned char)text[1] != 0xbc)
        return false;
    unsigned char last = (unsigned char)text[2];
    /* U+FF0B + U+FF0D - U+FF1D = U+FF05 % U+FF20 @ are EF BC 8B, 8D, 9D, 85, A0 */
    return last == 0x8b || last == 0x8d || last == 0x9d || last == 0x85 || last == 0xa0;
}

bool tdc_runs_as_formula(const char *text, size_t length)
{
    for (const char *end = text + length; !formula_sign(text, length);) {
        const char *parted = length != 0 ? memchr(text, ';', length) : NULL;
        if (parted == NULL)
            return false;
        text = parted + 1;
        length = (size_t)(end - text);
    }
    return true;
}

enum refusal {
    ACCEPTED,
    SPECIAL_TEXT,
    SHAPE_NOT_LIST,
    REQUIRES_GRAD_NOT_BOOL
};

static bool has_key(const struct tdc_json *member, const char *key, size_t length)
{
    return member->key_length == length && memcmp(member->key, key, length) == 0;
}

static enum refusal check_member(const struct tdc_json *member)
{
    if (has_key(member, "shape", 5) && member->kind != TDC_JSON_LIST)
        return SHAPE_NOT_LIST;
    if (has_key(member, "requires_grad", 13) && member->kind != TDC_JSON_TRUE &&
        member->kind != TDC_JSON_FALSE)
        return REQUIRES_GRAD_NOT_BOOL;
    if (member->kind == TDC_JSON_STRING && tdc_runs_as_formula(member->text, member->length))
        return SPECIAL_TEXT;
    return ACCEPTED;
}

/* Lists inside lists are entered, lists that are members of objects are not. Depth is bounded by
 * the reader. */
static enum refusal check_value(const struct tdc_json *value)
{
    enum refusal refusal = ACCEPTED;
    if (value->kind != TDC_JSON_LIST && value->kind != TDC_JSON_OBJECT)
        return ACCEPTED;
    for (const struct tdc_json *child = value->child; child != NULL && refusal == ACCEPTED;
         child = child->next) {
        if (value->kind == TDC_JSON_LIST || child->kind == TDC_JSON_OBJECT)
            refusal = check_value(child);
        else
            refusal = check_member(child);
    }
    return refusal;
}

bool tdc_value_refused(const struct tdc_json *value)
{
    return check_value(value) != ACCEPTED;
}

const char *tdc_entry_refusal(struct tdc_arena *arena, const char *entry,
                              const struct tdc_json *value)
{
    if (tdc_runs_as_formula(entry, strlen(entry)))
        return "api name contains special characters, please check!";
    const struct tdc_json *arguments = tdc_json_get(value, "input_args");
    if (arguments == NULL || arguments->children == 0)
        arguments = tdc_json_get(value, "input");
    const struct tdc_json *parts[] = {arguments, tdc_json_get(value, "input_kwargs"),
                                      tdc_json_get(value, "output")};
    enum refusal refusal = ACCEPTED;
    for (size_t i = 0; i < sizeof parts / sizeof *parts && refusal == ACCEPTED; i++)
        if (parts[i] != NULL)
            refusal = check_value(parts[i]);
    static const char *const formats[] = {
        [SPECIAL_TEXT] = "data info of %s contains special characters, please check!",
        [SHAPE_NOT_LIST] = "shape of input or output of %s is not list or tuple, please check!",
        [REQUIRES_GRAD_NOT_BOOL] =
            "requires_grad of input or output of %s is not bool, please check!",
    };
    if (refusal == ACCEPTED)
        return NULL;
    char message[1024];
    /* one of our own three formats */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(message, sizeof message, formats[refusal], entry);
#pragma GCC diagnostic pop
    const char *copy = tdc_arena_text(arena, message, strlen(message));
    return copy != NULL ? copy : "content refused";
}
