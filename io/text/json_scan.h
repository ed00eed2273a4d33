/*
 * json_scan.h - the tokens of JSON text, shared by the cursor and the tree.
 *
 * Every function starts at cursor->at, moves it behind what it took and on failure leaves it where
 * the text is wrong. Text is checked completely here, escapes and UTF-8 included.
 */
#ifndef TDC_IO_JSON_SCAN_H
#define TDC_IO_JSON_SCAN_H

#include "io/text/decimal.h"
#include "io/text/json.h"

#include <string.h>

/* A value that is no container, as written. */
struct tdc_json_scalar {
    enum tdc_json_kind kind;
    bool escaped;    /* STRING: raw contains escapes */
    bool word;       /* FLOAT: NaN or an infinity; the number is in word_number */
    const char *raw; /* in the input: digits, word, or what stands between the quotes */
    size_t length;
    struct tdc_decimal decimal; /* numbers but words */
    double word_number;
};

/* Eight bytes, the first in the lowest byte. */
static inline uint64_t tdc_json_load(const char *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

/* Dumps are indented: one line feed and many blanks is what stands between most tokens, one blank
 * or nothing between the others. */
static inline const char *tdc_json_past_space(const char *at, const char *end)
{
    if (end - at >= 2) {
        bool blank = *at == ' ';
        if ((unsigned char)at[blank] > ' ')
            return at + blank;
    }
    while (at < end && (unsigned char)*at <= ' ') {
        if (*at != ' ' && *at != '\n' && *at != '\r' && *at != '\t')
            break;
        at++;
        while (end - at >= 8) {
            uint64_t other = tdc_json_load(at) ^ 0x2020202020202020u;
            if (other != 0) {
                at += __builtin_ctzll(other) / 8;
                break;
            }
            at += 8;
        }
    }
    return at;
}

static inline void tdc_json_pass_space(struct tdc_json_cursor *cursor)
{
    cursor->at = tdc_json_past_space(cursor->at, cursor->end);
}

/* The first byte that is not plain ASCII text: quote, backslash, control or beyond ASCII. */
const char *tdc_json_pass_plain(const char *at, const char *end);

/* "name: line 3 column 7: what", at the cursor. */
tdc_status tdc_json_wrong(struct tdc_json_cursor *cursor, const char *what,
                          struct tdc_error *error);
/* The input ends in the middle of `what`. */
tdc_status tdc_json_ended(struct tdc_json_cursor *cursor, const char *what,
                          struct tdc_error *error);
tdc_status tdc_json_no_memory(const struct tdc_json_cursor *cursor, struct tdc_error *error);

/* White space is not passed before any of these, unless said otherwise. */
tdc_status tdc_json_scan_scalar(struct tdc_json_cursor *cursor, struct tdc_json_scalar *scalar,
                                struct tdc_error *error);
/* White space, a key, white space, the colon. */
tdc_status tdc_json_scan_key(struct tdc_json_cursor *cursor, struct tdc_json_scalar *key,
                             struct tdc_error *error);
/* A string's text after escapes, never longer than scalar->length; returns the length. */
size_t tdc_json_unescape(const struct tdc_json_scalar *scalar, char *text);

/* On an opening bracket at nesting `depth`: passes it, and the closing one if nothing is between.
 */
tdc_status tdc_json_scan_open(struct tdc_json_cursor *cursor, size_t depth, bool *empty,
                              struct tdc_error *error);
/* Behind an element: white space, then a comma (*more) or `closing`. */
tdc_status tdc_json_scan_next(struct tdc_json_cursor *cursor, char closing, bool *more,
                              struct tdc_error *error);

#endif
