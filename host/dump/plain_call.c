#include "host/dump/plain_call.h"

#include <string.h>

#include "host/dump/plain_leaf.h"
#include "io/text/json_scan.h"

/* Calls in a row that had to be read once more: then it is given up. */
#define MOST_IN_VAIN 64

struct reading {
    struct tdc_record_builder *builder;
    struct tdc_json_cursor *cursor;
    struct tdc_arena *scratch;
    const char *entry;
};

/* The next byte but blanks; '\0' at the end. */
static char next_byte(struct tdc_json_cursor *cursor)
{
    tdc_json_pass_space(cursor);
    return cursor->at < cursor->end ? *cursor->at : '\0';
}

static bool take_byte(struct tdc_json_cursor *cursor, char byte)
{
    bool there = next_byte(cursor) == byte;
    cursor->at += there;
    return there;
}

/* A plain key and its colon. */
static bool take_key(struct tdc_json_cursor *cursor, const char **key, size_t *length)
{
    if (!take_byte(cursor, '"'))
        return false;
    *key = cursor->at;
    cursor->at = tdc_json_pass_plain(cursor->at, cursor->end);
    *length = (size_t)(cursor->at - *key);
    return cursor->at < cursor->end && *cursor->at++ == '"' && take_byte(cursor, ':');
}

/* The value at the cursor as a tree, which msprobe does not refuse. */
static bool read_value(const struct reading *reading, bool checked, struct tdc_json **value)
{
    struct tdc_error ignored; /* the entry is read again, and says it then */
    tdc_arena_reset(reading->scratch);
    if (tdc_json_read(reading->cursor, reading->scratch, value, &ignored) != TDC_OK)
        return false;
    return !checked || !tdc_value_refused(*value);
}

/* One of a list, under the name in the builder. */
static bool read_item(const struct reading *reading, const struct tdc_call_member *part)
{
    struct tdc_json_cursor *cursor = reading->cursor;
    struct tdc_record_builder *builder = reading->builder;
    struct tdc_json_taken taken;
    if (next_byte(cursor) == '{' && tdc_json_layout_take(cursor, &taken) &&
        tdc_plain_leaf_add(builder, &taken, part->state)) {
        cursor->at = taken.end;
        return true;
    }
    struct tdc_json *item;
    if (!read_value(reading, true, &item))
        return false;
    builder->dump->digests |= tdc_json_get(item, "md5") != NULL;
    tdc_records_expand(builder, item, part->state);
    return true;
}

static bool read_list(const struct reading *reading, const struct tdc_call_member *part)
{
    struct tdc_json_cursor *cursor = reading->cursor;
    struct tdc_record_builder *builder = reading->builder;
    tdc_records_start_name(builder, reading->entry, part->suffix);
    builder->keyword = NULL;
    cursor->at++;
    if (take_byte(cursor, ']'))
        return true;
    size_t before = builder->name.length;
    for (size_t index = 0; !builder->failed; index++) {
        tdc_text_addc(&builder->name, '.');
        tdc_text_add_number(&builder->name, index);
        builder->failed |= builder->name.failed;
        if (builder->failed || !read_item(reading, part))
            return false;
        builder->name.length = before;
        builder->name.data[before] = '\0';
        if (take_byte(cursor, ']'))
            return true;
        if (!take_byte(cursor, ','))
            return false;
    }
    return false;
}

/* Whatever is no list; most often nothing at all. */
static bool read_other(const struct reading *reading, const struct tdc_call_member *part)
{
    struct tdc_json_cursor *cursor = reading->cursor;
    if (*cursor->at == '{') {
        const char *inside = tdc_json_past_space(cursor->at + 1, cursor->end);
        if (inside < cursor->end && *inside == '}') {
            cursor->at = inside + 1;
            return true;
        }
    }
    struct tdc_json *value;
    if (!read_value(reading, part->state != TDC_STATE_PARAMETERS, &value))
        return false;
    reading->builder->dump->digests |= tdc_member_has_digest(value);
    tdc_records_add_member(reading->builder, reading->entry, part, value);
    return !reading->builder->failed;
}

/* What no record is made of: a word. */
static bool pass_note(struct tdc_json_cursor *cursor)
{
    static const char *const words[] = {"false", "true", "null"};
    tdc_json_pass_space(cursor);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t length = strlen(words[i]);
        if ((size_t)(cursor->end - cursor->at) >= length &&
            memcmp(cursor->at, words[i], length) == 0) {
            cursor->at += length;
            return true;
        }
    }
    return false;
}

/* From the brace of a call on: parts in the order of their rows, none twice. */
static bool read_parts(const struct reading *reading)
{
    struct tdc_json_cursor *cursor = reading->cursor;
    unsigned next_place = 0;
    bool noted = false;
    do {
        const char *key;
        size_t length;
        if (!take_key(cursor, &key, &length))
            return false;
        const struct tdc_call_member *part = tdc_call_member_of(key, length);
        if (part == NULL) {
            if (noted || length != sizeof TDC_CALL_NOTE - 1 ||
                memcmp(key, TDC_CALL_NOTE, length) != 0 || !pass_note(cursor))
                return false;
            noted = true;
            continue;
        }
        char first = next_byte(cursor);
        if (part->place < next_place || first == '\0' ||
            !(first == '[' ? read_list(reading, part) : read_other(reading, part)))
            return false;
        next_place = part->place + 1;
    } while (take_byte(cursor, ','));
    return take_byte(cursor, '}');
}

/* Entries that are calls, by their names. */
static bool names_a_call(const char *entry)
{
    return !tdc_ends_in_part(entry, "debug") && !tdc_has_gradient_part(entry) &&
           !tdc_runs_as_formula(entry, strlen(entry));
}

bool tdc_plain_call_read(struct tdc_record_builder *builder, struct tdc_json_cursor *cursor,
                         struct tdc_arena *scratch, uint32_t entry)
{
    struct tdc_dump *dump = builder->dump;
    const struct reading reading = {builder, cursor, scratch, dump->entries[entry].name};
    if (dump->kind != TDC_DUMP_JSON || builder->calls_in_vain >= MOST_IN_VAIN ||
        cursor->depth > TDC_JSON_MAX_DEPTH / 2 || !names_a_call(reading.entry))
        return false;
    const char *start = cursor->at, *framework = dump->seen_framework;
    size_t first = dump->record_count, repeated = cursor->repeated;
    bool digests = dump->digests, digest_records = dump->digest_records;
    builder->entry = entry;
    cursor->depth += 2; /* of items: nesting beyond the limit is told by the other reader */
    bool read = take_byte(cursor, '{') && read_parts(&reading);
    cursor->depth -= 2;
    if (read && !builder->failed) {
        builder->calls_in_vain = 0;
        tdc_records_end_entry(dump, entry, first);
        return true;
    }
    builder->calls_in_vain++;
    cursor->at = start;
    cursor->repeated = repeated;
    dump->record_count = first;
    dump->digests = digests;
    dump->digest_records = digest_records;
    dump->seen_framework = framework;
    return false;
}
