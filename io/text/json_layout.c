#include "io/text/json_layout.h"

#include "io/text/decimal.h"
#include "io/text/json_scan.h"

/* Objects that were learnt from since the last one that fitted: then it is given up. */
#define MOST_IN_VAIN 256

/* ---- taking ---------------------------------------------------------------------------------- */

static bool take_word(const char *at, const char *end, const char *word, size_t length)
{
    return (size_t)(end - at) >= length && memcmp(at, word, length) == 0;
}

/* A value that is no container; its end, NULL if it is not of a plain kind. */
static const char *take_scalar(const char *at, const char *end, struct tdc_json_value *value)
{
    if (at == end)
        return NULL;
    if (*at == '"') {
        const char *close = tdc_json_pass_plain(at + 1, end);
        if (close == end || *close != '"')
            return NULL;
        value->kind = TDC_JSON_STRING;
        value->text = at + 1;
        value->length = (size_t)(close - at - 1);
        return close + 1;
    }
    if (*at == 't' && take_word(at, end, "true", 4)) {
        value->kind = TDC_JSON_TRUE;
        return at + 4;
    }
    if (*at == 'f' && take_word(at, end, "false", 5)) {
        value->kind = TDC_JSON_FALSE;
        return at + 5;
    }
    if (*at == 'n' && take_word(at, end, "null", 4)) {
        value->kind = TDC_JSON_NULL;
        return at + 4;
    }
    struct tdc_plain_number number;
    const char *behind = tdc_plain_number_read(at, end, &number);
    if (behind == NULL || (number.whole && number.negative && number.value == 0))
        return NULL; /* Python has no integer -0: the other reader knows */
    value->kind = number.whole ? TDC_JSON_INTEGER : TDC_JSON_FLOAT;
    value->number = number.value;
    value->text = at;
    value->length = (size_t)(behind - at);
    return behind;
}

/* At an opening bracket. */
static const char *take_list(const char *at, const char *end, struct tdc_json_taken *taken,
                             struct tdc_json_value *list)
{
    list->kind = TDC_JSON_LIST;
    list->text = at;
    list->first = taken->element_count;
    list->count = 0;
    at = tdc_json_past_space(at + 1, end);
    if (at < end && *at == ']') {
        list->length = (size_t)(at + 1 - list->text);
        return at + 1;
    }
    for (;; at = tdc_json_past_space(at, end)) {
        if (taken->element_count == TDC_LAYOUT_ELEMENTS)
            return NULL;
        at = take_scalar(at, end, &taken->elements[taken->element_count++]);
        list->count++;
        if (at == NULL)
            return NULL;
        at = tdc_json_past_space(at, end);
        if (at == end || (*at != ',' && *at != ']'))
            return NULL;
        if (*at++ == ']') {
            list->length = (size_t)(at - list->text);
            return at;
        }
    }
}

static bool fits(const char *at, const char *end, struct tdc_json_layout *layout,
                 struct tdc_json_taken *taken)
{
    taken->layout = layout;
    taken->element_count = 0;
    for (unsigned i = 0; i < layout->count; i++) {
        const struct tdc_layout_member *member = &layout->members[i];
        if (!take_word(at, end, member->before, member->before_length))
            return false;
        at += member->before_length;
        struct tdc_json_value *value = &taken->values[i];
        at =
            at < end && *at == '[' ? take_list(at, end, taken, value) : take_scalar(at, end, value);
        if (at == NULL)
            return false;
    }
    if (!take_word(at, end, layout->last, layout->last_length))
        return false;
    taken->end = at + layout->last_length;
    return true;
}

bool tdc_json_layout_take(struct tdc_json_cursor *cursor, struct tdc_json_taken *taken)
{
    struct tdc_json_layouts *layouts = &cursor->layouts;
    for (unsigned i = 0; i < layouts->count; i++) {
        /* where the last one was found: leaves alike follow each other */
        unsigned at = (layouts->latest + i) % layouts->count;
        if (!fits(cursor->at, cursor->end, &layouts->known[at], taken))
            continue;
        layouts->latest = at;
        layouts->in_vain = 0;
        return true;
    }
    return false;
}

/* ---- learning -------------------------------------------------------------------------------- */

/* What stands before the next value, from the brace or comma at `at` on; the start of the value,
 * NULL where no plain key is there. The text has been read as JSON before. */
static const char *learn_before(const char *at, const char *end, struct tdc_layout_member *member)
{
    member->before = at;
    const char *key = tdc_json_past_space(at + 1, end) + 1;
    const char *close = tdc_json_pass_plain(key, end);
    if (close == end || *close != '"')
        return NULL;
    at = tdc_json_past_space(close + 1, end); /* the colon */
    at = tdc_json_past_space(at + 1, end);
    member->before_length = (size_t)(at - member->before);
    member->key = key;
    member->key_length = (size_t)(close - key);
    return at;
}

static bool is_repeated(const struct tdc_json_layout *layout,
                        const struct tdc_layout_member *member)
{
    for (unsigned i = 0; i < layout->count; i++)
        if (layout->members[i].key_length == member->key_length &&
            memcmp(layout->members[i].key, member->key, member->key_length) == 0)
            return true;
    return false;
}

/* True if all of it is plain. */
static bool learn(const char *at, const char *end, struct tdc_json_layout *layout)
{
    struct tdc_json_taken taken;
    layout->count = 0;
    layout->form = 0;
    for (;;) {
        struct tdc_layout_member *member = &layout->members[layout->count];
        struct tdc_json_value value;
        at = learn_before(at, end, member);
        if (at == NULL || is_repeated(layout, member))
            return false;
        taken.element_count = 0;
        at = *at == '[' ? take_list(at, end, &taken, &value) : take_scalar(at, end, &value);
        if (at == NULL)
            return false;
        layout->count++;
        const char *next = tdc_json_past_space(at, end);
        if (*next == '}') {
            layout->last = at;
            layout->last_length = (size_t)(next + 1 - at);
            return true;
        }
        if (*at != ',' || layout->count == TDC_LAYOUT_MEMBERS)
            return false;
    }
}

void tdc_json_layout_learn(struct tdc_json_cursor *cursor, const char *at)
{
    struct tdc_json_layouts *layouts = &cursor->layouts;
    if (layouts->in_vain >= MOST_IN_VAIN)
        return;
    layouts->in_vain++;
    unsigned place = layouts->count < TDC_LAYOUTS ? layouts->count : layouts->next;
    if (!learn(at, cursor->end, &layouts->learning))
        return;
    layouts->known[place] = layouts->learning;
    layouts->next = (place + 1) % TDC_LAYOUTS;
    layouts->count += layouts->count < TDC_LAYOUTS;
}
