/* mapping_text.c - what a mapping found, as yaml: names, lines, and the file of a data mapping. */
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "host/match/match.h"
#include "io/base/error.h"
#include "io/file/out_file.h"
#include "io/text/unicode_printable.h"
#include "io/base/utf8_step.h"

/* Text is written to the file whenever so much has gathered. */
#define PIECE ((size_t)1 << 20)

/* Words that yaml reads as something else than a text, in any case. */
static bool is_yaml_word(const char *text)
{
    static const char *const words[] = {"null", "true", "false", "yes", "no",
                                        "on",   "off",  "y",     "n"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcasecmp(text, words[i]) == 0)
            return true;
    return false;
}

/* Names of collectors are plain yaml: letters, digits and dots. */
static bool is_plain(const char *text)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-";
    bool letter_first = (text[0] >= 'a' && text[0] <= 'z') || (text[0] >= 'A' && text[0] <= 'Z');
    return letter_first && strspn(text, plain) == strlen(text) && !is_yaml_word(text);
}

/* Bytes that are no character, as opposed to a true U+FFFD. */
static bool is_flaw(const char *text, uint32_t character, size_t taken)
{
    return character == TDC_UTF8_REPLACEMENT &&
           strncmp(text, TDC_UTF8_REPLACEMENT_TEXT, taken) != 0;
}

/* Whether all of it can be seen: what cannot has no place in a single-quoted text (yaml takes some
 * of it for the end of a line), nor on a terminal. */
static bool is_printable(const char *text)
{
    size_t length = strlen(text), taken;
    for (; length > 0; text += taken, length -= taken) {
        uint32_t character = tdc_utf8_step(text, length, &taken);
        if (!tdc_unicode_printable(character) || is_flaw(text, character, taken))
            return false;
    }
    return true;
}

static void put_escaped(struct tdc_text *out, const char *text)
{
    tdc_text_addc(out, '"');
    size_t length = strlen(text), taken;
    for (; length > 0; text += taken, length -= taken) {
        uint32_t character = tdc_utf8_step(text, length, &taken);
        if (character == '"' || character == '\\')
            tdc_text_addf(out, "\\%c", (char)character);
        else if (tdc_unicode_printable(character))
            tdc_utf8_add(out, text, taken);
        else if (character < 0x100)
            tdc_text_addf(out, "\\x%02X", (unsigned)character);
        else if (character < 0x10000)
            tdc_text_addf(out, "\\u%04X", (unsigned)character);
        else
            tdc_text_addf(out, "\\U%08X", (unsigned)character);
    }
    tdc_text_addc(out, '"');
}

/* Half of a surrogate pair is no character, and yaml has no other way to write it. */
static bool holds_name(const char *text)
{
    size_t length = strlen(text), taken;
    for (; length > 0; text += taken, length -= taken) {
        uint32_t character = tdc_utf8_step(text, length, &taken);
        if (is_flaw(text, character, taken))
            return false;
    }
    return true;
}

void tdc_yaml_put_name(struct tdc_text *out, const char *text)
{
    if (is_plain(text)) {
        tdc_text_adds(out, text);
        return;
    }
    if (!is_printable(text)) {
        put_escaped(out, text);
        return;
    }
    tdc_text_addc(out, '\'');
    for (; *text != '\0'; text++) {
        if (*text == '\'')
            tdc_text_addc(out, '\'');
        tdc_text_addc(out, *text);
    }
    tdc_text_addc(out, '\'');
}

/* A key of 128 characters or more takes the long form, as PyYAML writes it. A name that yaml cannot
 * hold is left out, with a line that says so. */
static void put_line(struct tdc_text *out, const char *key, const char *value)
{
    if (!holds_name(key) || !holds_name(value)) {
        tdc_text_adds(out, "# left out, yaml cannot hold half of a surrogate pair: ");
        put_escaped(out, key);
        tdc_text_addc(out, '\n');
        return;
    }
    bool is_long = strlen(key) >= 128;
    if (is_long)
        tdc_text_adds(out, "? ");
    tdc_yaml_put_name(out, key);
    tdc_text_adds(out, is_long ? "\n: " : ": ");
    tdc_yaml_put_name(out, value);
    tdc_text_addc(out, '\n');
}

static bool write_piece(FILE *stream, struct tdc_text *piece)
{
    bool ok = !piece->failed && fwrite(piece->data, 1, piece->length, stream) == piece->length;
    tdc_text_clear(piece);
    return ok;
}

static bool put_mapping(FILE *stream, const struct tdc_match *match)
{
    struct tdc_name_table written;
    struct tdc_text piece;
    tdc_names_init(&written);
    tdc_text_init(&piece, (size_t)1 << 30);
    bool ok = true, fresh;
    for (size_t i = 0; ok && match->layer_used && i < match->npu->record_count; i++) {
        const char *name = match->npu->records[i].name;
        ok = tdc_names_put(&written, name, strlen(name), &fresh) != TDC_NAME_NONE;
        if (ok && fresh)
            put_line(&piece, name, match->layer_keys[i]);
        if (piece.length >= PIECE)
            ok = write_piece(stream, &piece);
    }
    if (written.count == 0)
        tdc_text_adds(&piece, "{}\n");
    ok = ok && !piece.failed && (piece.length == 0 || write_piece(stream, &piece));
    tdc_names_free(&written);
    tdc_text_free(&piece);
    return ok && fflush(stream) == 0 && ferror(stream) == 0;
}

tdc_status tdc_match_write_mapping(const tdc_match *match, const char *path,
                                   struct tdc_error *error)
{
    if (!match->layer_used && !match->layer_asked)
        return tdc_fail(error, TDC_ERR_NOTHING, "%s: there is no layer mapping to write", path);
    struct tdc_out_file file;
    tdc_status status = tdc_out_file_open(path, &file, error);
    if (status != TDC_OK)
        return status;
    int copy = dup(file.fd);
    FILE *stream = copy >= 0 ? fdopen(copy, "w") : NULL;
    bool ok = stream != NULL && put_mapping(stream, match);
    if (stream == NULL && copy >= 0)
        close(copy);
    if (stream != NULL && fclose(stream) != 0)
        ok = false;
    if (!ok) {
        tdc_out_file_discard(&file);
        return tdc_fail(error, TDC_ERR_WRITE, "%s: cannot be written", path);
    }
    return tdc_out_file_commit(&file, error);
}
