#include "host/precheck/calls/filter.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/base/name_table.h"
#include "io/base/error.h"
#include "io/base/text.h"
#include "reference/reference.h"

#define RECORD_LIMIT ((size_t)1 << 30) /* JSON tree of one record */
#define KEYS_LIMIT   ((size_t)8 << 30) /* arguments of all calls that stay */
#define KEY_LIMIT    ((size_t)1 << 28) /* arguments of one call */

/* ---- by name --------------------------------------------------------------------------------- */

static bool in_list(const char *const *list, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i], name) == 0)
            return true;
    return false;
}

bool tdc_filter_leaves_out(const struct tdc_precheck_options *options, const char *name)
{
    return in_list(options->black_list, options->black_count, name) ||
           (options->white_count != 0 && !in_list(options->white_list, options->white_count, name));
}

/* Is "Torch.add.0" a call of "add"? */
static bool is_call_of(const char *call, const char *name)
{
    const char *first = strchr(call, '.'), *last = strrchr(call, '.');
    size_t length = strlen(name);
    return first != NULL && first != last && (size_t)(last - first - 1) == length &&
           memcmp(first + 1, name, length) == 0;
}

static bool is_known(const struct tdc_calls *calls, const char *name)
{
    static const char *const prefixes[] = {"Torch", "Tensor", "Functional", "NPU"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        char api[160];
        snprintf(api, sizeof api, "%s.%.120s", prefixes[i], name);
        if (tdc_reference_find(api) != NULL)
            return true;
    }
    for (size_t i = 0; i < calls->count; i++)
        if (is_call_of(calls->calls[i].name, name))
            return true;
    return false;
}

static tdc_status check_list(const struct tdc_calls *calls, const char *title,
                             const char *const *list, size_t count, struct tdc_error *error)
{
    struct tdc_text unknown;
    tdc_text_init(&unknown, 4096);
    for (size_t i = 0; i < count; i++)
        if (!is_known(calls, list[i]))
            tdc_text_addf(&unknown, "%s'%.60s'", unknown.length != 0 ? ", " : "", list[i]);
    tdc_status status = TDC_OK;
    if (unknown.length != 0)
        status = tdc_fail(error, TDC_ERR_REFUSED, "Invalid api in %s: [%.400s]", title,
                          tdc_text_get(&unknown));
    tdc_text_free(&unknown);
    return status;
}

tdc_status tdc_filter_names_check(const struct tdc_calls *calls,
                                  const struct tdc_precheck_options *options,
                                  struct tdc_error *error)
{
    tdc_status status =
        check_list(calls, "white_list", options->white_list, options->white_count, error);
    return status == TDC_OK
               ? check_list(calls, "black_list", options->black_list, options->black_count, error)
               : status;
}

/* ---- by arguments ---------------------------------------------------------------------------- */

struct key {
    struct tdc_text text;
    bool unequal; /* holds a NaN, which equals nothing */
};

static void add_value(struct key *key, const struct tdc_json *value, bool whole);

/* Strings carry their length, so that no content can be taken for structure. */
static void add_string(struct key *key, const char *text, size_t length)
{
    tdc_text_addf(&key->text, "%zu:", length);
    tdc_text_add(&key->text, text, length);
}

static void add_members(struct key *key, const struct tdc_json *object, bool whole)
{
    for (const struct tdc_json *member = object->child; member != NULL; member = member->next) {
        if (!whole && (strcmp(member->key, "Max") == 0 || strcmp(member->key, "Min") == 0))
            continue;
        add_string(key, member->key, member->key_length);
        add_value(key, member, true);
    }
}

/* True is 1 and 2 is 2.0, as Python compares. The parser bounds the depth. */
static void add_value(struct key *key, const struct tdc_json *value, bool whole)
{
    switch (value->kind) {
    case TDC_JSON_NULL:
        tdc_text_addc(&key->text, 'n');
        return;
    case TDC_JSON_TRUE:
    case TDC_JSON_FALSE:
        tdc_text_addf(&key->text, "%.17g;", (double)(value->kind == TDC_JSON_TRUE));
        return;
    case TDC_JSON_INTEGER:
    case TDC_JSON_FLOAT:
        key->unequal |= isnan(value->number);
        tdc_text_addf(&key->text, "%.17g;", value->number);
        return;
    case TDC_JSON_STRING:
        tdc_text_addc(&key->text, 's');
        add_string(key, value->text, value->length);
        return;
    case TDC_JSON_LIST:
        tdc_text_addf(&key->text, "[%zu", value->children);
        for (const struct tdc_json *item = value->child; item != NULL; item = item->next)
            add_value(key, item, true);
        return;
    case TDC_JSON_OBJECT:
        tdc_text_addc(&key->text, '{');
        add_members(key, value, whole);
        tdc_text_addc(&key->text, '}');
        return;
    }
}

/* False: no forward record of the usual form, such a call stays. */
static bool describe(const struct tdc_call *call, const struct tdc_json *forward, struct key *key)
{
    const struct tdc_json *arguments = tdc_json_get(forward, "input_args");
    const struct tdc_json *keywords = tdc_json_get(forward, "input_kwargs");
    const char *number = strrchr(call->name, '.');
    if (arguments == NULL || arguments->kind != TDC_JSON_LIST || keywords == NULL || number == NULL)
        return false;
    add_string(key, call->name, (size_t)(number - call->name));
    for (const struct tdc_json *item = arguments->child; item != NULL; item = item->next)
        if (item->kind == TDC_JSON_OBJECT)
            add_value(key, item, false);
    tdc_text_addc(&key->text, '|');
    add_value(key, keywords, true);
    return !key->unequal;
}

struct repetition {
    struct tdc_arena record, keys;
    struct tdc_name_table seen;
};

static tdc_status is_repeated(struct repetition *repetition, const struct tdc_calls *calls,
                              const struct tdc_call *call, bool *repeated, struct tdc_error *error)
{
    struct tdc_json *forward;
    tdc_arena_reset(&repetition->record);
    *repeated = false;
    tdc_status status =
        tdc_call_record(calls, call, TDC_FORWARD, &repetition->record, &forward, error);
    if (status != TDC_OK || forward == NULL || forward->kind != TDC_JSON_OBJECT)
        return status == TDC_ERR_FORMAT ? TDC_OK : status;
    struct key key = {0};
    tdc_text_init(&key.text, KEY_LIMIT);
    bool comparable = describe(call, forward, &key) && !key.text.failed;
    if (comparable) {
        const char *kept =
            tdc_arena_text(&repetition->keys, tdc_text_get(&key.text), key.text.length);
        bool fresh = false;
        if (kept == NULL ||
            tdc_names_put(&repetition->seen, kept, key.text.length, &fresh) == TDC_NAME_NONE)
            status = tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
        *repeated = !fresh;
    }
    tdc_text_free(&key.text);
    return status;
}

tdc_status tdc_filter_repeated(struct tdc_calls *calls, struct tdc_error *error)
{
    struct repetition repetition;
    tdc_arena_init(&repetition.record, RECORD_LIMIT);
    tdc_arena_init(&repetition.keys, KEYS_LIMIT);
    tdc_names_init(&repetition.seen);
    tdc_status status = TDC_OK;
    size_t kept = 0;
    for (size_t i = 0; status == TDC_OK && i < calls->count; i++) {
        bool repeated;
        status = is_repeated(&repetition, calls, &calls->calls[i], &repeated, error);
        if (repeated)
            continue;
        calls->calls[kept] = calls->calls[i];
        calls->calls[kept].position = kept;
        kept++;
    }
    if (status == TDC_OK)
        calls->count = kept;
    tdc_names_free(&repetition.seen);
    tdc_arena_free(&repetition.keys);
    tdc_arena_free(&repetition.record);
    return status;
}
