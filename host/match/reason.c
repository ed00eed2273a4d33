/* reason.c - why two records face each other, or why one has no partner. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "host/match/match.h"
#include "io/error.h"
#include "io/out_file.h"

static const char *rule_text(const struct tdc_match *match, enum tdc_key_rule rule)
{
    switch (rule) {
    case TDC_KEY_NAME:
        return match->fuzzy_used ? "fuzzy name" : "equal name";
    case TDC_KEY_API_TABLE:
        return "built-in API table";
    case TDC_KEY_API_FILE:
        return "API mapping file";
    case TDC_KEY_CELL:
        return "cell mapping";
    case TDC_KEY_DATA:
        return "data mapping";
    case TDC_KEY_LAYER:
        return "layer mapping";
    }
    return "";
}

/* The first bench record of that name, NULL if there is none. The table is made on the first call.
 */
static const struct tdc_record *find_bench(struct tdc_match *match, const char *name)
{
    size_t count = match->bench->record_count;
    if (match->bench_first == NULL) {
        match->bench_first = tdc_arena_zeroed(&match->arena, count + 1, sizeof(uint32_t));
        for (size_t i = 0; i < count && match->bench_first != NULL; i++) {
            const char *record = match->bench->records[i].name;
            bool fresh;
            uint32_t number = tdc_names_put(&match->bench_names, record, strlen(record), &fresh);
            if (number == TDC_NAME_NONE)
                return NULL;
            if (fresh)
                match->bench_first[number] = (uint32_t)i;
        }
    }
    uint32_t found = tdc_names_find(&match->bench_names, name, strlen(name));
    return found == TDC_NAME_NONE ? NULL : &match->bench->records[match->bench_first[found]];
}

static void explain_lonely(struct tdc_match *match, uint32_t npu)
{
    const struct tdc_record *record = &match->npu->records[npu];
    const char *key = match->keys[npu];
    if (strcmp(key, "N/A") == 0) {
        tdc_text_adds(&match->reason, match->layer_used
                                          ? "no call at this place of the bench network"
                                          : "not a cell");
        return;
    }
    const struct tdc_record *other = find_bench(match, key);
    if (other == NULL)
        tdc_text_addf(&match->reason, "no bench row is called '%s'", key);
    else if (strcmp(record->shape, other->shape) != 0)
        tdc_text_addf(&match->reason, "'%s' has shape %s, not %s", key, other->shape,
                      record->shape);
    else if (!tdc_dtypes_agree(record->dtype, other->dtype, match->cross))
        tdc_text_addf(&match->reason, "'%s' has type %s, not %s", key, other->dtype, record->dtype);
    else
        tdc_text_addf(&match->reason, "'%s' already has a partner", key);
}

const char *tdc_match_reason(tdc_match *match, size_t pair)
{
    struct tdc_pairing pairing = match->pairs[pair];
    tdc_text_clear(&match->reason);
    if (pairing.npu == TDC_UNPAIRED)
        tdc_text_adds(&match->reason, "no NPU row leads here");
    else if (pairing.bench == TDC_UNPAIRED)
        explain_lonely(match, pairing.npu);
    else
        tdc_text_adds(&match->reason,
                      rule_text(match, (enum tdc_key_rule)match->key_rules[pairing.npu]));
    return tdc_text_get(&match->reason);
}

/* ---- the mapping as a file ------------------------------------------------------------------- */

/* Names of collectors are plain yaml; anything else is quoted. */
static void put_scalar(FILE *stream, const char *text)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-";
    bool letter_first = (text[0] >= 'a' && text[0] <= 'z') || (text[0] >= 'A' && text[0] <= 'Z');
    if (letter_first && strspn(text, plain) == strlen(text)) {
        fputs(text, stream);
        return;
    }
    fputc('\'', stream);
    for (; *text != '\0'; text++) {
        if (*text == '\'')
            fputc('\'', stream);
        fputc(*text, stream);
    }
    fputc('\'', stream);
}

/* A key of 128 characters or more takes the long form, as PyYAML writes it. */
static void put_line(FILE *stream, const char *key, const char *value)
{
    bool is_long = strlen(key) >= 128;
    if (is_long)
        fputs("? ", stream);
    put_scalar(stream, key);
    fputs(is_long ? "\n: " : ": ", stream);
    put_scalar(stream, value);
    fputc('\n', stream);
}

static bool put_mapping(FILE *stream, const struct tdc_match *match)
{
    struct tdc_name_table written;
    tdc_names_init(&written);
    bool ok = true, fresh;
    for (size_t i = 0; ok && i < match->npu->record_count; i++) {
        const char *name = match->npu->records[i].name;
        ok = tdc_names_put(&written, name, strlen(name), &fresh) != TDC_NAME_NONE;
        if (ok && fresh)
            put_line(stream, name, match->keys[i]);
    }
    tdc_names_free(&written);
    if (match->npu->record_count == 0)
        fputs("{}\n", stream);
    return ok && fflush(stream) == 0 && ferror(stream) == 0;
}

tdc_status tdc_match_write_mapping(const tdc_match *match, const char *path,
                                   struct tdc_error *error)
{
    if (!match->layer_used)
        return tdc_fail(error, TDC_ERR_NOTHING, "%s: there is no layer mapping to write", path);
    struct tdc_out_file file;
    tdc_status status = tdc_out_file_open(path, &file, error);
    if (status != TDC_OK)
        return status;
    int copy = dup(file.fd);
    FILE *stream = copy >= 0 ? fdopen(copy, "w") : NULL;
    bool ok = stream != NULL && put_mapping(stream, match);
    if (stream != NULL && fclose(stream) != 0)
        ok = false;
    if (!ok) {
        tdc_out_file_discard(&file);
        return tdc_fail(error, TDC_ERR_WRITE, "%s: cannot be written", path);
    }
    return tdc_out_file_commit(&file, error);
}
