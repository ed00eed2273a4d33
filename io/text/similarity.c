#include "io/text/similarity.h"

#include <stdint.h>
#include <string.h>

#define POPULAR_LENGTH 200u

struct side {
    uint32_t text[TDC_SIMILARITY_CHARACTERS];
    size_t length;
};

struct pairing {
    struct side a, b;
    bool popular[TDC_SIMILARITY_CHARACTERS]; /* characters of b that begin nothing */
    unsigned runs[2][TDC_SIMILARITY_CHARACTERS + 1];
};

/* Characters of a text; false when there are too many. Bytes that are no UTF-8 count one each. */
static bool decode(const char *text, size_t length, bool fold, struct side *side)
{
    side->length = 0;
    for (size_t at = 0; at < length;) {
        const unsigned char *byte = (const unsigned char *)text + at;
        size_t step = 1;
        uint32_t point = *byte;
        if (*byte >= 0x80) {
            size_t more = *byte >= 0xf0 ? 3 : *byte >= 0xe0 ? 2 : *byte >= 0xc0 ? 1 : 0;
            for (; step <= more && at + step < length && (byte[step] & 0xc0) == 0x80; step++)
                point = point << 8 | byte[step];
        } else if (fold && point >= 'A' && point <= 'Z') {
            point += 'a' - 'A';
        }
        if (side->length == TDC_SIMILARITY_CHARACTERS)
            return false;
        side->text[side->length++] = point;
        at += step;
    }
    return true;
}

static void find_popular(struct pairing *pairing)
{
    const struct side *b = &pairing->b;
    memset(pairing->popular, 0, sizeof pairing->popular);
    if (b->length < POPULAR_LENGTH)
        return;
    for (size_t i = 0; i < b->length; i++) {
        size_t count = 0;
        for (size_t j = 0; j < b->length; j++)
            count += b->text[j] == b->text[i];
        pairing->popular[i] = count > b->length / 100 + 1;
    }
}

struct range {
    size_t a_first, a_end, b_first, b_end;
};

struct piece {
    size_t a, b, length;
};

/* The first of the longest pieces, widened over popular characters. */
static struct piece longest(struct pairing *pairing, const struct range *range)
{
    const uint32_t *a = pairing->a.text, *b = pairing->b.text;
    struct piece best = {range->a_first, range->b_first, 0};
    unsigned *before = pairing->runs[0], *now = pairing->runs[1];
    /* runs[j + 1]: length of the piece that ends at b[j] */
    memset(before, 0, sizeof pairing->runs[0]);
    for (size_t i = range->a_first; i < range->a_end; i++) {
        now[range->b_first] = 0;
        for (size_t j = range->b_first; j < range->b_end; j++) {
            bool same = a[i] == b[j] && !pairing->popular[j];
            now[j + 1] = same ? before[j] + 1 : 0;
            if (now[j + 1] > best.length)
                best = (struct piece){i + 1 - now[j + 1], j + 1 - now[j + 1], now[j + 1]};
        }
        unsigned *other = before;
        before = now;
        now = other;
    }
    while (best.a > range->a_first && best.b > range->b_first && a[best.a - 1] == b[best.b - 1]) {
        best.a--;
        best.b--;
        best.length++;
    }
    while (best.a + best.length < range->a_end && best.b + best.length < range->b_end &&
           a[best.a + best.length] == b[best.b + best.length])
        best.length++;
    return best;
}

static size_t matching(struct pairing *pairing)
{
    /* every piece found parts one range into two and takes a character at least */
    struct range waiting[TDC_SIMILARITY_CHARACTERS + 2];
    size_t count = 1, found = 0;
    waiting[0] = (struct range){0, pairing->a.length, 0, pairing->b.length};
    while (count > 0) {
        struct range range = waiting[--count];
        struct piece piece = longest(pairing, &range);
        if (piece.length == 0)
            continue;
        found += piece.length;
        if (range.a_first < piece.a && range.b_first < piece.b)
            waiting[count++] = (struct range){range.a_first, piece.a, range.b_first, piece.b};
        size_t a_end = piece.a + piece.length, b_end = piece.b + piece.length;
        if (a_end < range.a_end && b_end < range.b_end)
            waiting[count++] = (struct range){a_end, range.a_end, b_end, range.b_end};
    }
    return found;
}

double tdc_similarity(const char *a, size_t a_length, const char *b, size_t b_length, bool fold)
{
    struct pairing pairing;
    if (!decode(a, a_length, fold, &pairing.a) || !decode(b, b_length, fold, &pairing.b))
        return a_length == b_length && memcmp(a, b, a_length) == 0 ? 1 : 0;
    size_t total = pairing.a.length + pairing.b.length;
    if (total == 0)
        return 1;
    find_popular(&pairing);
    return 2.0 * (double)matching(&pairing) / (double)total;
}
