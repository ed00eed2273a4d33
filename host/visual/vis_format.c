/* vis_format.c - items as the texts that the plugin shows. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "host/visual/vis_item.h"
#include "io/text/json_write.h"
#include "io/text/pytext.h"

#define VALUE_LIMIT ((size_t)1 << 24)
#define DECIMALS    6

/* Digits, a point, digits and perhaps a percent sign, and nothing else: *decimals are those behind
 * the point. */
static bool is_plain_decimal(const char *text, size_t length, size_t *decimals, bool *percent)
{
    size_t whole = strspn(text, "0123456789");
    if (whole == 0 || whole > 20 || text[whole] != '.')
        return false;
    *decimals = strspn(text + whole + 1, "0123456789");
    size_t end = whole + 1 + *decimals;
    *percent = text[end] == '%';
    return *decimals != 0 && *decimals <= 20 && end + *percent == length;
}

/* A text without single quotes, None as null, long decimals cut. */
static void add_text(struct tdc_text *out, const char *text, size_t length)
{
    size_t decimals;
    bool percent;
    if (is_plain_decimal(text, length, &decimals, &percent) && decimals > DECIMALS) {
        double number = 0;
        tdc_float_parse(text, length - percent, &number);
        tdc_text_addf(out, "%.*f%s", DECIMALS, number, percent ? "%" : "");
        return;
    }
    for (const char *at = text; at < text + length; at++) {
        /* quotes go first: what they held apart may become None */
        if (*at != '\'')
            tdc_text_addc(out, *at);
    }
}

/* Every None of the text that begins at `start` becomes null: both have four letters. */
static void replace_none(struct tdc_text *out, size_t start)
{
    if (out->failed || out->data == NULL)
        return;
    for (char *at = strstr(out->data + start, "None"); at != NULL; at = strstr(at + 4, "None"))
        memcpy(at, "null", 4);
}

static void add_float(struct tdc_text *out, double number)
{
    char repr[TDC_FLOAT_TEXT];
    size_t length = tdc_float_repr(number, repr);
    if (isfinite(number) && memchr(repr, 'e', length) != NULL) {
        tdc_text_addf(out, "%.*e", DECIMALS, number);
        return;
    }
    if (isfinite(number)) {
        char rounded[400]; /* below 1e16, as it has no exponent */
        int rounded_length = snprintf(rounded, sizeof rounded, "%.*f", DECIMALS, number);
        double value = number;
        tdc_float_parse(rounded, (size_t)rounded_length, &value);
        length = tdc_float_repr(value, repr);
    }
    tdc_text_add(out, repr, length);
}

static void add_value(struct tdc_text *out, const struct tdc_json *value)
{
    size_t start = out->length;
    if (value->kind == TDC_JSON_STRING) {
        add_text(out, value->text, value->length);
        replace_none(out, start);
    } else if (value->kind == TDC_JSON_NULL) {
        tdc_text_adds(out, "null");
    } else if (value->kind == TDC_JSON_FLOAT) {
        add_float(out, value->number);
    } else {
        tdc_pytext_str(out, value);
    }
}

static bool is_one_of(const char *key, const char *const *keys, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(key, keys[i]) == 0)
            return true;
    return false;
}

/* Whether a member is shown: of process groups four of them. */
static bool is_shown(const char *key, bool group, bool digests, bool operation)
{
    static const char *const never[] = {"state", "full_op_name"};
    static const char *const exchange[] = {"op", "peer", "tag", "group_id"};
    static const char *const of_group[] = {"type", "group_ranks", "group_id", "data_name"};
    if (is_one_of(key, never, 2) || (!digests && strcmp(key, "md5") == 0))
        return false;
    if (operation && is_one_of(key, exchange, 4))
        return false;
    return !group || is_one_of(key, of_group, 4);
}

static void add_item(struct tdc_text *out, struct tdc_text *text, const struct tdc_vis_item *item,
                     bool digests, bool operation)
{
    bool group = tdc_json_is_text(tdc_json_get(&item->fields, "type"), "torch.ProcessGroup");
    const struct tdc_json *most = tdc_json_get(&item->fields, "Max");
    if (!group && most != NULL) {
        tdc_text_clear(text);
        add_value(text, most);
        if (!text->failed && strcmp(tdc_text_get(text), "null") == 0) {
            tdc_text_adds(out, "{\"value\": \"null\"}");
            return;
        }
    }
    tdc_text_addc(out, '{');
    bool first = true;
    for (const struct tdc_json *field = item->fields.child; field != NULL; field = field->next) {
        if (!is_shown(field->key, group, digests, operation))
            continue;
        tdc_text_adds(out, first ? "" : ", ");
        first = false;
        tdc_json_put_text(out, field->key, field->key_length);
        tdc_text_adds(out, ": ");
        tdc_text_clear(text);
        add_value(text, field);
        out->failed |= text->failed;
        tdc_json_put_text(out, tdc_text_get(text), text->length);
    }
    tdc_text_addc(out, '}');
}

void tdc_vis_items_text(struct tdc_text *out, const struct tdc_vis_items *items, bool digests,
                        bool operation)
{
    struct tdc_text text;
    tdc_text_init(&text, VALUE_LIMIT);
    tdc_text_addc(out, '{');
    for (size_t i = 0; i < items->count; i++) {
        const struct tdc_vis_item *item = &items->items[i];
        tdc_text_adds(out, i == 0 ? "" : ", ");
        tdc_json_put_text(out, item->name, strlen(item->name));
        tdc_text_adds(out, ": ");
        add_item(out, &text, item, digests, operation);
    }
    tdc_text_addc(out, '}');
    tdc_text_free(&text);
}
